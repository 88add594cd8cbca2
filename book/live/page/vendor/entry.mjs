/* What a cell's editor takes from CodeMirror 6: `make vendor` bundles it into codemirror.js. */
export { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
export { StreamLanguage, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { python } from "@codemirror/legacy-modes/mode/python";
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { Decoration, EditorView, keymap, lineNumbers } from "@codemirror/view";
export { tagHighlighter, tags } from "@lezer/highlight";

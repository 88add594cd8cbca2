/* The editor of a cell: CodeMirror (vendor/), in the colours and the size of the page's listings. Loaded with the first Edit. */
import {
  Decoration,
  EditorState,
  EditorView,
  StateEffect,
  StateField,
  StreamLanguage,
  defaultKeymap,
  history,
  historyKeymap,
  indentLess,
  indentMore,
  indentUnit,
  keymap,
  lineNumbers,
  python,
  syntaxHighlighting,
  tagHighlighter,
  tags,
} from "./vendor/codemirror.js";

const INDENT = "    ";
/* The classes that Pygments gives a listing: book.css colours both alike. */
const COLOURS = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], class: "k" },
  { tag: tags.string, class: "s" },
  { tag: tags.number, class: "m" },
  { tag: tags.meta, class: "nd" },
  { tag: tags.comment, class: "c" },
]);
const MARK = StateEffect.define();
const marked = StateField.define({
  create: () => Decoration.none,
  update(now, transaction) {
    for (const effect of transaction.effects) if (effect.is(MARK)) return effect.value;
    return now.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Four spaces at the cursor, or the lines of a selection further in. */
function tab(view) {
  if (!view.state.selection.main.empty) return indentMore(view);
  view.dispatch(view.state.replaceSelection(INDENT), { userEvent: "input" });
  return true;
}

/** A new line as far in as the last, or one step further behind a colon. */
function enter(view) {
  const { state } = view;
  const { from } = state.selection.main;
  const line = state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from);
  const further = before.trimEnd().endsWith(":") ? INDENT : "";
  view.dispatch(state.replaceSelection(`\n${before.match(/^ */)[0]}${further}`), {
    scrollIntoView: true,
    userEvent: "input",
  });
  return true;
}

/** An editor with a text; `changed` hears each new text, `run` and `leave` that the reader wants to. */
export function edit(text, { label, changed, run, leave }) {
  const act = (work) => () => {
    work();
    return true;
  };
  const keys = [
    { key: "Shift-Enter", run: act(run) },
    { key: "Mod-Enter", run: act(run) },
    { key: "Escape", run: act(leave) },
    { key: "Tab", run: tab, shift: indentLess },
    { key: "Enter", run: enter },
  ];
  const view = new EditorView({
    doc: text,
    extensions: [
      keymap.of([...keys, ...historyKeymap, ...defaultKeymap]),
      history(),
      lineNumbers(),
      indentUnit.of(INDENT),
      EditorState.tabSize.of(4),
      StreamLanguage.define(python),
      syntaxHighlighting(COLOURS),
      marked,
      EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", spellcheck: "false" }),
      EditorView.updateListener.of(({ docChanged, state }) => docChanged && changed(state.doc.toString())),
    ],
  });
  view.dom.addEventListener("keydown", (event) => event.stopPropagation()); // the theme has keys of its own
  return {
    element: view.dom,
    focus: () => view.contentDOM.focus({ preventScroll: true }),
    write: (other) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } }),
    /** Mark lines. */
    mark(...numbers) {
      const { doc } = view.state;
      const lines = numbers.filter((number) => number <= doc.lines).map((number) => doc.line(number).from);
      const found = lines.map((from) => Decoration.line({ class: "run-line" }).range(from));
      view.dispatch({ effects: MARK.of(Decoration.set(found, true)) });
    },
    /** Select a line, in view. */
    select(number) {
      const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
      view.dispatch({ selection: { anchor: line.from, head: line.to }, scrollIntoView: true });
    },
    remove: () => view.destroy(),
  };
}

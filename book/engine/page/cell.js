/* One code cell of a page: its text, to be changed where it stands, and what it shows when it runs. */
import { make, show } from "./output.js";

const INDENT = "    ";

export class Cell {
  /** The `number`th code cell of the page, from 1. */
  constructor(element, number) {
    this.element = element;
    this.number = number;
    this.code = element.querySelector(".cell_input pre");
    this.recorded = element.querySelector(".cell_output");
    this.text = this.code.textContent.replace(/\n$/, "");
  }

  get source() {
    return this.editor ? this.editor.value : this.text;
  }

  get changed() {
    return this.source !== this.text;
  }

  /** Let the reader change the text: in a plain text area, which every browser and screen reader knows. */
  edit() {
    const fold = this.element.querySelector("details.hide");
    if (fold) fold.open = true;
    if (!this.editor) this.open(this.text);
    this.editor.focus({ preventScroll: true });
  }

  /** Put an editor with a text in place of the page's own. */
  open(text) {
    this.editor = make("textarea", { className: "engine-editor", value: text, spellcheck: false, wrap: "off" });
    this.editor.setAttribute("aria-label", "Python code. Shift and Enter run it; Escape leaves it.");
    this.editor.autocapitalize = "off";
    this.editor.addEventListener("input", () => this.fit());
    this.editor.addEventListener("keydown", (event) => this.type(event));
    this.code.hidden = true;
    this.code.after(this.editor);
    this.fit();
  }

  fit() {
    this.editor.rows = this.editor.value.split("\n").length;
  }

  type(event) {
    event.stopPropagation(); // the theme has keys of its own
    const { selectionStart: start, value } = this.editor;
    if (event.key === "Enter" && (event.shiftKey || event.ctrlKey)) {
      event.preventDefault();
      this.element.querySelector("[data-do=run]").click();
    } else if (event.key === "Escape") {
      this.element.querySelector("[data-do=run]").focus();
    } else if (event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      this.insert(INDENT);
    } else if (event.key === "Enter") {
      const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
      event.preventDefault();
      this.insert(`\n${line.match(/^ */)[0]}${line.trimEnd().endsWith(":") ? INDENT : ""}`);
    }
  }

  insert(text) {
    const { selectionStart, selectionEnd } = this.editor;
    // The old command alone keeps what was typed undoable.
    if (!document.execCommand("insertText", false, text))
      this.editor.setRangeText(text, selectionStart, selectionEnd, "end");
    this.fit();
  }

  /** Show a line of the text, selected. */
  goTo(line) {
    this.edit();
    const lines = this.editor.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    this.editor.setSelectionRange(before, before + lines[line - 1].length);
    this.editor.scrollIntoView({ block: "nearest" });
  }

  /** Where the live output stands; made when there is something to show. */
  get area() {
    if (!this.live) {
      this.live = make("div", { className: "cell_output engine-output" });
      this.live.setAttribute("role", "region");
      this.live.setAttribute("aria-label", "Output of your run");
      this.element.append(this.live);
    }
    return this.live;
  }

  /** The recorded output stays until there is another. */
  begin() {
    this.messages = [];
    this.element.dataset.engine = "running";
  }

  hear(message, context) {
    if (!this.messages.length) {
      this.area.replaceChildren();
      this.hideRecorded(true);
    }
    this.messages.push(message);
    show(this.area, message, context);
  }

  /** The end of a run; an `absent` package leaves the recorded output of an unchanged cell in its place. */
  end(done) {
    this.element.dataset.engine = done.right ? "done" : "failed";
    const last = this.messages.at(-1);
    if (last?.type === "absent") this.stay(last.what);
    else if (!this.messages.length) {
      this.live?.replaceChildren();
      this.hideRecorded(!done.stopped && !done.died);
    }
  }

  stay(what) {
    const kept = this.recorded && !this.changed;
    this.note(
      `This cell needs ${what}, which Python in a page does not have.${kept ? " Its recorded output stands." : ""}`,
    );
    if (kept) this.hideRecorded(false);
  }

  /** Say something in place of the live output. */
  note(...said) {
    this.area.replaceChildren(make("p", { className: "engine-note" }, ...said));
  }

  /** Bring what the cell shows into view. */
  look() {
    const fold = this.element.querySelector("details.hide");
    if (fold) fold.open = true;
    this.area.scrollIntoView({ block: "center" });
  }

  /** Tick the exercise that the cell belongs to. */
  tick() {
    const box = this.element.closest("section")?.querySelector(".tick input:not(:checked)");
    box?.click();
  }

  hideRecorded(hidden) {
    if (this.recorded) this.recorded.hidden = hidden;
  }

  /** As the page was built. */
  reset() {
    this.editor?.remove();
    this.editor = null;
    this.code.hidden = false;
    this.live?.remove();
    this.live = null;
    this.hideRecorded(false);
    delete this.element.dataset.engine;
  }
}

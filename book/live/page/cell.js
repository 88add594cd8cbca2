/* One code cell of a page: its text, to be changed where it stands, and what it shows when it runs. */
import { keep } from "./edits.js";
import { make, show } from "./output.js";

const KEYS = matchMedia("(hover: none)").matches ? "" : " Shift and Enter run it; Escape leaves it.";

export class Cell {
  /** The `number`th code cell of the page, from 1; `changed` hears that its text is another. */
  constructor(element, number, changed) {
    this.element = element;
    this.number = number;
    this.changed = changed;
    this.code = element.querySelector(".cell_input pre");
    this.tools = element.querySelector(".cell-tools");
    this.recorded = element.querySelector(".cell_output");
    this.coloured = [...this.code.childNodes];
    this.text = this.code.textContent.replace(/\n$/, "");
    this.source = this.text;
    this.marked = []; // lines
    this.bands = [];
    this.marking = new Set(); // cells that hold a line which this one's messages name
  }

  get edited() {
    return this.source !== this.text;
  }

  /** Let the reader change the text; the editor comes with the first. */
  async edit() {
    this.unfold();
    if (!this.editor) {
      const { edit } = await import("./editor.js").catch(() => {
        throw new Error("The editor did not load: is the network gone? Try again.");
      });
      this.editor ??= edit(this.source, {
        label: `Python code.${KEYS}`,
        changed: (text) => this.take(text),
        run: () => this.element.querySelector("[data-do=run]").click(),
        leave: () => this.element.querySelector("[data-do=run]").focus(),
      });
      this.code.hidden = true;
      this.code.after(this.editor.element);
      this.mark(...this.marked);
    }
    this.editor.focus();
  }

  /** Take a text that the reader wrote. The listing has it too, for paper and for the button that copies. */
  take(text) {
    this.source = text;
    delete this.before;
    if (this.edited) this.code.textContent = text;
    else this.code.replaceChildren(...this.coloured);
    keep(this);
    this.changed(this);
  }

  /** Write a text into the cell, in the editor if it is open. */
  write(text) {
    if (this.editor) this.editor.write(text);
    else this.take(text);
  }

  /** The page's own text again; the reader's waits for `undo`. */
  reset() {
    const { source } = this;
    this.write(this.text);
    this.close();
    this.before = source;
    this.changed(this);
  }

  undo() {
    this.write(this.before);
  }

  close() {
    this.editor?.remove();
    this.editor = null;
    this.code.hidden = false;
    this.mark();
  }

  /** Say how the text and what it shows stand to each other; "" where they agree. */
  tell(said) {
    this.state ??= this.tools.insertAdjacentElement("afterbegin", make("span", { role: "status" }));
    if (this.state.textContent !== said) this.state.textContent = said;
    this.element.toggleAttribute("data-stale", Boolean(said));
    this.recorded?.toggleAttribute("data-recorded", this.edited && !this.live); // it belongs to the page's own text
    this.offer(this.edited ? "reset" : this.before === undefined ? "" : "undo");
  }

  /** Offer to reset the cell, or to undo that, beside the buttons that are always there. */
  offer(way) {
    if (!way) {
      this.way?.remove();
      delete this.way;
      return;
    }
    this.way ??= this.state.insertAdjacentElement("afterend", make("button", { type: "button" }));
    this.way.dataset.do = way;
    this.way.textContent = way === "undo" ? "Undo" : "Reset";
    this.way.title = way === "undo" ? "Bring your text back" : "The page’s own text for this cell";
  }

  /** Mark these lines of the text, and no others. */
  mark(...lines) {
    this.marked = lines;
    for (const band of this.bands) band.remove();
    this.editor?.mark(...lines);
    this.bands = this.editor ? [] : lines.map((line) => this.band(line));
    this.code.after(...this.bands);
  }

  band(line) {
    const band = make("span", { className: "run-band", textContent: line });
    band.setAttribute("aria-hidden", "true");
    const { top, height } = this.box(line);
    Object.assign(band.style, { top: `${top}px`, height: `${height}px` });
    return band;
  }

  /** Where a line stands in the listing: it may be broken, on a narrow screen. */
  box(line) {
    const starts = [0, ...[...this.source.matchAll(/\n/g)].map(({ index }) => index + 1)];
    const range = document.createRange();
    const walker = document.createTreeWalker(this.code, NodeFilter.SHOW_TEXT);
    const find = (place, end) => {
      walker.currentNode = this.code;
      for (let node, past = 0; (node = walker.nextNode()); past += node.length)
        if (place <= past + node.length) return range[end ? "setEnd" : "setStart"](node, place - past);
      return null;
    };
    find(starts[line - 1] ?? 0);
    find(Math.max(starts[line - 1] ?? 0, (starts[line] ?? this.source.length + 1) - 1), true);
    const pre = this.code.getBoundingClientRect();
    const { top, bottom } = range.getBoundingClientRect();
    return { top: this.code.offsetTop + top - pre.top, height: Math.max(bottom - top, 16) };
  }

  /** Show a line of the text, selected. */
  async goTo(line) {
    await this.edit();
    this.editor.select(line);
    this.element.scrollIntoView({ block: "nearest" });
  }

  /** Where the live output stands; made when there is something to show. */
  get area() {
    if (!this.live) {
      this.live = make("div", { className: "cell_output run-output" });
      this.live.setAttribute("role", "region");
      this.live.setAttribute("aria-label", "Output of your run");
      this.element.append(this.live);
    }
    return this.live;
  }

  /** The recorded output stays until there is another. */
  begin() {
    this.messages = [];
    this.element.dataset.run = "running";
    for (const cell of this.marking) cell.mark();
    this.marking.clear();
  }

  hear(message, context) {
    if (!this.messages.length) {
      this.area.replaceChildren();
      this.hideRecorded(true);
    }
    this.messages.push(message);
    show(this, message, context);
  }

  /** The end of a run; an `absent` package leaves the recorded output of an unchanged cell in its place. */
  end(done) {
    this.element.dataset.run = done.right ? "done" : "failed";
    const last = this.messages.at(-1);
    if (last?.type === "absent") this.stay(last.what);
    else if (!this.messages.length) {
      this.live?.replaceChildren();
      this.hideRecorded(!done.stopped && !done.died);
    }
  }

  stay(what) {
    const kept = this.recorded && !this.edited;
    this.note(
      `This cell needs ${what}, which Python in a page does not have.${kept ? " Its recorded output stands." : ""}`,
    );
    if (kept) this.hideRecorded(false);
  }

  /** Say something in place of the live output. */
  note(...said) {
    this.area.replaceChildren(make("p", { className: "run-note" }, ...said));
  }

  unfold() {
    const folds = [this.element.querySelector("details.hide"), this.element.closest("details.terms")];
    for (const fold of folds) if (fold) fold.open = true;
  }

  /** Bring what the cell shows into view. */
  look() {
    this.unfold();
    this.area.scrollIntoView({ block: "center" });
  }

  /** Whether the cell hands in an answer, and it is right. */
  get solves() {
    const said = this.live?.querySelector(".exercise strong")?.textContent ?? "";
    return /\bexercises\.check\(/.test(this.source) && said.endsWith(": right");
  }

  /** A picture that the page has already looks as it does there, its letters larger. */
  dressed(picture) {
    const name = picture.querySelector("[id]")?.id.split("-")[0]; // made of all that is drawn
    const there = name && this.recorded?.querySelector(`figure.drawn [id^="${name}-"]`);
    return (there?.closest("figure") ?? picture).outerHTML;
  }

  /** Tick the exercise that the cell belongs to. */
  tick() {
    const box = this.element.closest("section")?.querySelector(".tick input:not(:checked)");
    box?.click();
  }

  hideRecorded(hidden) {
    if (this.recorded) this.recorded.hidden = hidden;
  }

  /** What the cell shows as the page was built. */
  forget() {
    this.live?.remove();
    this.live = this.tried = null;
    this.mark();
    this.hideRecorded(false);
    delete this.element.dataset.run;
  }
}

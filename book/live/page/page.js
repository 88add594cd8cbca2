/* A page whose reader has asked to run it: which cells run, in which order and on which backend, and what the bar says of it. */
import { Cell } from "./cell.js";
import { forget } from "./edits.js";
import { Kernel } from "./kernel.js";
import { make } from "./output.js";
import { Python } from "./python.js";

const LARGE = 200 * 2 ** 20; // bytes of memory that are worth a word
const ADVICE = matchMedia("(hover: none)").matches
  ? "Change a cell and run it."
  : "Change a cell and run it (Shift + Enter).";
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export class Page {
  /** `bar` has the elements with data-part: stop, reset, above, undo, state; `live` is what a `Kernel` needs to know. */
  constructor(manifest, base, bar, live) {
    const elements = [...document.querySelectorAll(".bd-article div.cell")];
    this.cells = elements
      .filter((each) => each.querySelector(".cell_input pre"))
      .map((each, i) => new Cell(each, i + 1, (cell) => this.changed(cell)));
    this.bar = bar;
    const tell = (name, details) => this.hear(name, details);
    this.backends = { page: new Python(manifest, base, tell), server: new Kernel(base, live, tell) };
    for (const backend of Object.values(this.backends)) backend.hears = (message) => this.running?.hear(message, this);
    this.loading = { done: 0, total: 0, seconds: 0 };
    this.queue = Promise.resolve();
    this.outdated = new Set(); // cells that ran before one that they use changed
    this.part("undo").onclick = () => this.undoAll();
  }

  /** Bring back what the reader had changed: in the cells that still have the text she changed. */
  restore(found) {
    let count = 0;
    const lost = [];
    for (const [name, { was, now }] of Object.entries(found)) {
      const cell = [this.cells[name - 1], ...this.cells].find((each) => each?.text === was && !each.edited);
      if (!cell) {
        lost.push([name, now]);
        continue;
      }
      count += 1;
      cell.take(now);
      if (String(cell.number) !== name) forget(name);
    }
    if (count) this.say("ready", "Your changes are back. They have not run yet.");
    if (lost.length) this.showLost(lost);
  }

  /** Texts of the reader's whose cells have changed with the page: hers to copy, and to throw away. */
  showLost(lost) {
    const box = make("details", { className: "run-lost" });
    const count = lost.length > 1 ? `${lost.length} of your changes belong` : "A change of yours belongs";
    box.append(make("summary", {}, `${count} to cells that this page no longer has`));
    for (const [name, text] of lost) {
      const away = make("button", { type: "button", textContent: "Throw away" });
      const entry = make("div", {}, make("pre", { textContent: text, tabIndex: 0 }), away);
      away.onclick = () => {
        forget(name);
        (box.children.length > 2 ? entry : box).remove();
      };
      box.append(entry);
    }
    this.bar.after(box);
  }

  /** Run cells from now on in the page's own Python ("page") or in a kernel ("server"). */
  use(way) {
    if (!this.busy) this.backend = this.backends[way];
  }

  get busy() {
    return !this.part("stop").hidden;
  }

  cellOf(element) {
    return this.cells.find((cell) => cell.element === element);
  }

  /** What led to a line of a cell; `mark` marks lines there until `from` runs again. */
  goTo = (number, line) => this.cells[number - 1]?.goTo(line);

  mark = (from, number, ...lines) => {
    const cell = this.cells[number - 1];
    if (!cell) return;
    cell.mark(...lines);
    from.marking.add(cell);
  };

  /** The cell at or above another whose `line` has this text. */
  holding(line, text, from) {
    const above = this.cells.slice(0, from.number).toReversed();
    return above.find(({ source }) => source.split("\n")[line - 1]?.trim() === text)?.number;
  }

  /** The place of a kernel's line: in the nearest cell at or above another that defines a kernel which that one names. */
  launched(from, line) {
    const defines = ({ source }) =>
      [...source.matchAll(/@cuda\.jit[^\n]*\n\s*def (\w+)/g)].some(([, name]) => from.source.includes(name));
    const found = line && this.cells.slice(0, from.number).toReversed().find(defines);
    return found ? [found.number, line] : null;
  }

  /** Whether a cell's text is another than the one that ran last, or, before that, than the page's. */
  unrun(cell) {
    const ran = this.backend?.ran.get(cell.number);
    return ran ? ran.text !== cell.source : cell.edited;
  }

  /** Say at a cell how its text and its output stand to each other. */
  changed(cell) {
    const unrun = this.unrun(cell) && cell.tried !== cell.source; // what failed has run
    cell.tell(unrun ? "Edited, not run" : this.outdated.has(cell.number) ? "Ran before a cell above changed" : "");
  }

  /** What tells which cells are stale: inpage/needs.py describes it. */
  told() {
    return this.cells.map((cell) => {
      const { at = 0, since = 0 } = this.backend.ran.get(cell.number) ?? {};
      return { source: cell.source, unrun: this.unrun(cell), at, since };
    });
  }

  note(cell, right) {
    const { ran } = this.backend;
    const before = ran.get(cell.number);
    const text = right ? cell.tried : null;
    const at = (this.runs = (this.runs ?? 0) + 1);
    // The same text gives something else where what it uses has changed.
    const same = before?.text === text && !this.outdated.delete(cell.number);
    ran.set(cell.number, { text, at, since: same ? before.since : at });
  }

  /** Note which cells are out of date, and return those to run before one. */
  async survey(cell = this.cells.at(-1)) {
    const { above, stale } = await this.backend.survey(this.told(), cell.number - 1);
    this.outdated = new Set(stale.map((i) => i + 1));
    return above.map((i) => this.cells[i]);
  }

  /** After a run. */
  async compare() {
    await this.survey();
    this.cells.forEach((cell) => this.changed(cell));
  }

  /** Say where things stand; `name` is one of loading, running, ready, wrong (a cell failed) and failed (Python did). */
  say(name, text, above = null) {
    this.bar.dataset.state = name;
    this.part("state").textContent = text;
    this.part("stop").hidden = name !== "running" && name !== "loading";
    for (const way of document.querySelectorAll("[data-way]")) way.disabled = this.busy;
    this.part("reset").hidden = false;
    this.part("undo").hidden = true;
    this.part("above").hidden = !above;
    this.part("above").onclick = () => this.runAbove(above);
  }

  part(name) {
    return this.bar.querySelector(`[data-part=${name}]`);
  }

  hear(name, details) {
    if (name === "loading") {
      Object.assign(this.loading, details);
      const { done, total, seconds } = this.loading;
      const bytes = total ? `${megabytes(done)} of ${megabytes(total)} MB, ` : "";
      const what = total && done >= total ? "Starting Python: " : "Loading Python: ";
      this.say("loading", `${what}${bytes}${Math.round(seconds)} s`);
    } else if (name === "starting") {
      this.say("loading", details.text);
    } else if (name === "gone") {
      this.say("failed", details.text);
    } else if (name === "forgetful") {
      this.forgetful = " This browser keeps no progress: it is forgotten when you leave.";
    }
  }

  /** Do one thing after the other; what is asked for while cells run waits for them. */
  inTurn(work) {
    this.queue = this.queue
      .then(work)
      .catch((error) => this.say("failed", error.message))
      .finally(() => {
        this.bar.dataset.done = Number(this.bar.dataset.done ?? 0) + 1; // by it tests know that a run has ended
      });
    return this.queue;
  }

  edit(cell) {
    return cell.edit();
  }

  reset(cell) {
    cell.reset();
  }

  undo(cell) {
    cell.undo();
  }

  /** Run a cell, and first those above that give it its names, or are stale and have to do with it. */
  run(cell) {
    return this.inTurn(async () => {
      await this.backend.start();
      await this.runAll([...(await this.survey(cell)), cell], cell);
    });
  }

  runPage() {
    return this.inTurn(async () => {
      await this.backend.start();
      await this.survey();
      await this.runAll(this.cells);
    });
  }

  runAbove(cell) {
    return this.inTurn(() => this.runAll(this.cells.slice(0, cell.number)));
  }

  /** Run cells in order, up to the first that fails: all for their own sake, or for one that needs the others. */
  async runAll(cells, asked = null) {
    const began = performance.now();
    this.leave = false;
    await this.backend.start();
    for (const [i, cell] of cells.entries()) {
      this.say("running", cells.length > 1 ? `Running: cell ${i + 1} of ${cells.length}` : "Running …");
      const done = await this.runOne(cell, !asked || cell === asked);
      if (done.reset) return;
      if (done.stopped || done.died) return this.stopped(cell, done);
      if (this.leave || (!done.right && !this.mayFail(cell))) {
        if (this.leave) return this.ready("Stopped. What the cells made is still there.");
        await this.compare();
        return this.failed(cell, asked);
      }
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    await this.compare();
    const more = asked && cells.length > 1 ? ` It ran with ${this.named(cells.length - 1)} above that it needs.` : "";
    this.ready(`Ready, after ${seconds} s.${more || ` ${ADVICE}`}`);
  }

  named(count) {
    return count > 1 ? `${count} cells` : "a cell";
  }

  mayFail(cell) {
    return cell.element.classList.contains("tag_raises-exception") || cell.messages.at(-1)?.type === "absent";
  }

  /** A cell failed; the one that needs it, if there is one, did not run. */
  failed(cell, asked) {
    const lead = () => {
      const link = make("a", { href: "", textContent: "see its error" });
      link.onclick = (event) => {
        event.preventDefault();
        cell.look();
      };
      return link;
    };
    this.ready("", "wrong");
    this.part("state").prepend("A cell failed: ", lead(), ".");
    if (asked && asked !== cell) asked.note("This cell did not run, because one that it needs failed: ", lead(), ".");
  }

  async runOne(cell, asked) {
    this.running = cell;
    cell.begin();
    cell.tried = cell.source;
    const done = await this.backend.run(cell.number, cell.source, asked);
    if (this.running !== cell) return { reset: true };
    cell.end(done);
    if (!done.stopped && !done.died) this.note(cell, done.right || this.mayFail(cell));
    if (cell.solves) cell.tick();
    this.running = null;
    this.heap = done.heap ?? 0;
    return done;
  }

  ready(text, name = "ready") {
    const memory =
      this.heap > LARGE ? ` Python holds ${Math.round(this.heap / 2 ** 20)} MB: “Reset page” frees them.` : "";
    this.say(name, text + memory + (this.forgetful ?? ""));
  }

  stopped(cell, { died }) {
    const why = died ? `Python ended: ${died}` : "Stopped.";
    this.say(died ? "failed" : "ready", `${why} What the cells made is gone.`, cell);
  }

  /** Stop what runs, within a second. */
  async stop() {
    this.leave = true;
    if (!this.running) {
      this.backend.end();
      this.say("ready", "Stopped.");
    } else if (await this.backend.stop()) this.leave = true; // the next in the queue may have begun meanwhile
  }

  /** Every cell as it was, and no Python: after a question, and to be taken back. */
  startOver() {
    const edited = this.cells.filter((cell) => cell.edited);
    const count = edited.length;
    const hers = count ? `Your changes in ${this.named(count)} go (Undo brings them back), and so does` : "It loses";
    const ask = make("dialog", { className: "run-ask" });
    const [keep, reset] = ["Keep everything", "Reset the page"].map((text) =>
      make("button", { value: text, textContent: text }),
    );
    keep.autofocus = true;
    const form = make("form", { method: "dialog" }, keep, reset);
    ask.append(make("p", {}, `${hers} what the cells have made.`), form);
    ask.onclose = () => {
      ask.remove();
      if (ask.returnValue === reset.value) this.clear(edited);
    };
    document.body.append(ask);
    ask.showModal();
  }

  clear(edited) {
    Object.values(this.backends).forEach((backend) => backend.end());
    this.queue = Promise.resolve();
    this.running = null;
    this.outdated.clear();
    edited.forEach((cell) => cell.reset());
    this.cells.forEach((cell) => {
      cell.forget();
      this.changed(cell);
    });
    this.say("ready", "The page is as it was.");
    this.part("reset").hidden = true;
    this.gone = edited;
    this.part("undo").hidden = !edited.length;
  }

  /** Bring back the texts that `clear` took. */
  undoAll() {
    for (const cell of this.gone) if (cell.before !== undefined) cell.undo();
    this.say("ready", "Your changes are back. They have not run yet.");
  }
}

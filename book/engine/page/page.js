/* A page whose reader has asked to run it: which cells run, in which order and on which backend, and what the bar says of it. */
import { Cell } from "./cell.js";
import { keep } from "./edits.js";
import { Kernel } from "./kernel.js";
import { make } from "./output.js";
import { solves } from "./progress.js";
import { Python } from "./python.js";

const LARGE = 200 * 2 ** 20; // bytes of memory that are worth a word
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export class Page {
  /** `bar` has the elements with data-part: stop, reset, above, state; `live` is what a `Kernel` needs to know. */
  constructor(manifest, base, bar, live) {
    const elements = [...document.querySelectorAll(".bd-article div.cell")];
    this.cells = elements
      .filter((each) => each.querySelector(".cell_input pre"))
      .map((each, i) => new Cell(each, i + 1));
    this.bar = bar;
    const tell = (name, details) => this.hear(name, details);
    this.backends = { page: new Python(manifest, base, tell), server: new Kernel(base, live, tell) };
    for (const backend of Object.values(this.backends)) backend.hears = (message) => this.running?.hear(message, this);
    this.loading = { done: 0, total: 0, seconds: 0 };
    this.queue = Promise.resolve();
    document.addEventListener("input", ({ target }) => {
      if (target.matches(".engine-editor")) keep(this.cells);
    });
  }

  /** Bring back what the reader had changed, where the page's own text is still the one she changed. */
  restore(found) {
    const changed = this.cells.filter((cell) => found[cell.number]?.was === cell.text);
    for (const cell of changed) cell.open(found[cell.number].now);
    if (changed.length) this.say("ready", "Your changes are back. Reset restores the page’s own text.");
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

  goTo = (number, line) => this.cells[number - 1]?.goTo(line);

  /** Say where things stand; `name` is one of loading, running, ready, wrong (a cell failed) and failed (Python did). */
  say(name, text, above = null) {
    this.bar.dataset.state = name;
    this.part("state").textContent = text;
    this.part("stop").hidden = name !== "running" && name !== "loading";
    for (const way of document.querySelectorAll("[data-way]")) way.disabled = this.busy;
    this.part("reset").hidden = false;
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
    cell.edit();
  }

  /** Run a cell, and first those above that give it its names. */
  run(cell) {
    return this.inTurn(async () => {
      await this.backend.start();
      const above = await this.backend.above(
        this.cells.map((each) => each.source),
        cell.number - 1,
      );
      await this.runAll([...above.map((i) => this.cells[i]), cell], cell);
    });
  }

  runPage() {
    return this.inTurn(() => this.runAll(this.cells));
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
        return this.failed(cell, asked);
      }
    }
    this.ready(
      `Ready, after ${((performance.now() - began) / 1000).toFixed(1)} s. Change a cell and run it (Shift + Enter).`,
    );
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
    const done = await this.backend.run(cell.number, cell.source, asked);
    if (this.running !== cell) return { reset: true };
    cell.end(done);
    if (done.kept && solves(done.kept)) cell.tick();
    this.running = null;
    this.heap = done.heap ?? 0;
    return done;
  }

  ready(text, name = "ready") {
    const memory = this.heap > LARGE ? ` Python holds ${Math.round(this.heap / 2 ** 20)} MB: Reset frees them.` : "";
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
    } else if (await this.backend.stop()) this.leave = true;
  }

  /** Every cell as it was, and no Python. */
  reset() {
    Object.values(this.backends).forEach((backend) => backend.end());
    this.queue = Promise.resolve();
    this.running = null;
    this.cells.forEach((cell) => cell.reset());
    keep(this.cells);
    this.say("ready", "");
    this.part("reset").hidden = true;
  }
}

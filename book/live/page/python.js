/* The page's side of its Python: a worker that starts when it is first asked, answers in order, and can be stopped. */
import { keep, progress } from "./progress.js";

const INTERRUPT = 2; // SIGINT, in Pyodide's interrupt buffer
const PATIENCE = 900; // milliseconds that Python has to obey it
const FORBIDDEN = "The worker that holds Python did not load, or is forbidden here: the recorded outputs stand.";

export class Python {
  /** The files of the page's Python are those of a manifest, at `base`; `tell` hears of the Python as a whole: (name, details). */
  constructor(manifest, base, tell) {
    this.manifest = manifest;
    this.base = base;
    this.tell = tell;
    this.hears = () => {}; // what a cell shows
    this.listeners = new Map(); // of widgets, by number
    this.forget();
  }

  forget() {
    this.worker = null;
    this.started = null;
    this.waiting = new Map();
    this.ran = new Map(); // by the number of a cell: the text that ran, in which turn, and since which it is that text
    this.listeners.clear();
  }

  /** Start, once; the same promise for everyone who asks. */
  start() {
    this.started ??= this.begin();
    return this.started;
  }

  async begin() {
    const began = performance.now();
    this.tell("loading", { done: 0, total: 0, seconds: 0 });
    const clock = setInterval(() => this.tell("loading", { seconds: (performance.now() - began) / 1000 }), 500);
    try {
      const marks = await this.launch();
      this.times = { ...marks, ready: Math.round(performance.now() - began) };
    } catch (error) {
      this.end();
      throw error;
    } finally {
      clearInterval(clock);
    }
  }

  launch() {
    this.flag = globalThis.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
    this.worker = this.hire();
    return new Promise((resolve, reject) => {
      this.abandon = reject;
      this.worker.onmessage = ({ data }) => {
        if (data.type === "ready") resolve(data.marks);
        else if (data.type === "failed") {
          reject(new Error(data.text));
          this.fail(data.text);
        } else this.receive(data);
      };
      this.worker.onerror = (event) => {
        const text = event.message || FORBIDDEN;
        reject(new Error(text));
        this.fail(text);
      };
      this.worker.postMessage({ type: "start", manifest: this.manifest, base: this.base, shared: this.flag });
    });
  }

  hire() {
    try {
      return new Worker(`${this.base}worker.js`, { type: "module" });
    } catch {
      throw new Error(FORBIDDEN);
    }
  }

  receive(data) {
    if (data.type === "progress") this.tell("loading", data);
    else if (data.type === "comm") this.listeners.get(data.id)?.(data);
    else if (data.type === "answer") {
      if (data.kept && !keep(data.kept)) this.tell("forgetful");
      this.waiting.get(data.id)?.resolve(data);
      this.waiting.delete(data.id);
    } else this.hears(data);
  }

  /** Python itself has died: of a stack too deep, or of a file that did not come. */
  fail(text) {
    const waiting = [...this.waiting.values()];
    this.end();
    waiting.forEach(({ resolve }) => resolve({ right: false, died: text }));
  }

  async ask(question) {
    await this.start();
    if (this.flag) this.flag[0] = 0;
    this.asked = (this.asked ?? 0) + 1;
    const id = this.asked;
    const answer = new Promise((resolve) => this.waiting.set(id, { resolve }));
    this.worker.postMessage({ ...question, id });
    return answer;
  }

  /** Run a cell that the reader asked for, or one that such a cell needs: resolves to { right, heap, milliseconds, kept },
      or with `died` or `stopped`. */
  run(number, source, asked = true) {
    return this.ask({ type: "run", number, source, asked, progress: progress() });
  }

  /** The numbers, from 0, of the cells to run before a cell, and of those that are out of date. */
  async survey(cells, number) {
    const { found = [[], []] } = await this.ask({ type: "survey", cells: JSON.stringify(cells), number });
    const [above, stale] = found;
    return { above, stale };
  }

  /** Tell a widget's other side. */
  send(message) {
    this.worker?.postMessage({ type: "comm", ...message });
  }

  /** Stop what runs; resolves to whether the names are still there. */
  async stop() {
    const [running] = this.waiting.values();
    if (this.flag && running) {
      this.flag[0] = INTERRUPT;
      const obeyed = new Promise((resolve) => {
        const { resolve: first } = running;
        running.resolve = (data) => {
          first(data);
          resolve(true);
        };
      });
      if (await Promise.race([obeyed, new Promise((late) => setTimeout(late, PATIENCE))])) return true;
    }
    this.end();
    return false;
  }

  end() {
    this.worker?.terminate();
    this.abandon?.(new Error("Stopped."));
    const waiting = [...this.waiting.values()];
    this.forget();
    waiting.forEach(({ resolve }) => resolve({ right: false, stopped: true }));
  }
}

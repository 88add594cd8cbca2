/* A kernel of a Jupyter server in place of the page's own Python: a session of its own over REST, and Jupyter's messages over
   one WebSocket, turned into those that inpage/cells.py sends. The server is that of `make serve`, or one that Binder lends. */
import { plain } from "./output.js";

const AGAIN = "Start it again with “make serve” and open the address that it prints.";
const PAUSES = [0, 1000, 3000]; // milliseconds before each try to reach a server again
const SET_UP = /^# set-up/; // how the cell begins that finds the course
const VIEW = "application/vnd.jupyter.widget-view+json";
const LINE = /Cell In\[(\d+)\], line (\d+)/g; // IPython's words for a place in a cell

export class Kernel {
  /** `live` has the `repository`, the name of this `page` and, on a server of its own, the `root` and the `token` of that;
      `tell` hears of the kernel as a whole: (name, details). */
  constructor(base, live, tell) {
    this.base = base;
    this.live = live;
    this.tell = tell;
    this.hears = () => {}; // what a cell shows
    this.listeners = new Map(); // of widgets, by their number
    this.forget();
    addEventListener("pagehide", () => this.end());
  }

  forget() {
    this.id = crypto.randomUUID(); // of this side, for the server
    this.started = this.session = this.link = this.waiting = null;
    this.fresh = true;
    this.ran = new Map(); // by the number of a cell: the text that ran, in which turn, and since which it is that text
    this.cells = new Map(); // their numbers, by the kernel's count of what it ran
    this.widgets = new Map(); // their states
    this.listeners.clear();
  }

  /** Start, once; the same promise for everyone who asks. */
  start() {
    this.started ??= this.begin();
    return this.started;
  }

  async begin() {
    const ended = new Promise((_, reject) => {
      this.abandon = () => reject(new Error("Stopped."));
    });
    try {
      await Promise.race([this.connect(this.id), ended]);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async connect(id) {
    this.server = this.live.root
      ? { url: location.origin + this.live.root, token: this.live.token }
      : await this.borrow();
    this.tell("starting", { text: "Starting a kernel …" });
    // A kernel starts in the folder of its page.
    const wanted = { path: `${this.live.page}-${id}.ipynb`, type: "notebook", name: "", kernel: { name: "python3" } };
    const session = await this.call("sessions", "POST", wanted);
    if (this.id !== id) return this.shutDown(session); // stopped meanwhile
    this.session = session;
    this.link = this.open();
    await this.link;
    const [code, needs] = await Promise.all(["kernel.py", "needs.py"].map((name) => this.text(name)));
    await this.execute(`exec(${JSON.stringify(code)}, {"NEEDS": ${JSON.stringify(needs)}})`, { silent: true });
  }

  async text(name) {
    const answer = await fetch(this.base + name);
    if (!answer.ok) throw new Error(`${name} did not load: is the network gone? Try again.`);
    return answer.text();
  }

  /** Binder's machine: it tells of its steps, at last of a server's address. */
  borrow() {
    this.tell("starting", { text: "Asking Binder for a machine: this can take minutes …" });
    const name = this.live.repository.replace("https://github.com/", "");
    return new Promise((resolve, reject) => {
      this.lender = new EventSource(`https://mybinder.org/build/gh/${name}/main`);
      const end = (act, value) => {
        this.lender.close();
        act(value);
      };
      this.lender.addEventListener("error", () =>
        end(reject, new Error("Binder does not answer: try again, or run the page elsewhere.")),
      );
      this.lender.addEventListener("message", ({ data }) => {
        const { phase, message = "", url, token } = JSON.parse(data);
        if (phase === "ready") end(resolve, { url, token });
        else if (phase === "failed") end(reject, new Error(`Binder gave no machine: ${message.trim()}`));
        else if (message.trim()) this.tell("starting", { text: `Binder: ${message.trim()}` });
      });
    });
  }

  /** Ask the server's REST interface. */
  async call(path, method = "GET", body = undefined) {
    const { url, token } = this.server;
    const headers = { Authorization: `token ${token}`, "Content-Type": "application/json" };
    const options = { method, headers, body: body && JSON.stringify(body), keepalive: method === "DELETE" };
    const answer = await fetch(`${url}api/${path}`, options).catch(() => {
      throw new Error(`No server answers at ${url}. ${AGAIN}`);
    });
    if (answer.status === 401 || answer.status === 403)
      throw new Error("The server refuses this page’s token. Open the address that “make serve” printed.");
    if (!answer.ok) throw new Error(`The server gave no kernel (${answer.status}). ${AGAIN}`);
    return answer.status === 204 ? null : answer.json();
  }

  /** Open the socket of the kernel's messages. */
  open() {
    const { url, token } = this.server;
    const query = new URLSearchParams({ session_id: this.id, token });
    const address = `${url.replace(/^http/, "ws")}api/kernels/${this.session.kernel.id}/channels?${query}`;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(address);
      const own = () => this.id === query.get("session_id");
      socket.addEventListener("open", () => resolve(socket));
      socket.addEventListener("message", ({ data }) => {
        if (own() && typeof data === "string") this.receive(JSON.parse(data));
      });
      socket.addEventListener("close", () => {
        reject(new Error(`No server answers at ${url}. ${AGAIN}`));
        if (own() && this.socket === socket) this.link = this.reopen();
      });
      this.socket = socket;
    });
  }

  /** After a break of the network: the server keeps a kernel, and for a while what it said. */
  async reopen() {
    const { id } = this;
    this.socket = null;
    for (const pause of PAUSES) {
      await new Promise((later) => setTimeout(later, pause));
      if (this.id !== id) return null;
      try {
        await this.call(`kernels/${this.session.kernel.id}`);
        return await this.open();
      } catch {
        // The next try, or the last.
      }
    }
    if (this.id === id) this.fail(`The server no longer answers. ${AGAIN}`);
    return null;
  }

  async post(type, content, id = crypto.randomUUID()) {
    const header = { msg_id: id, msg_type: type, session: this.id, username: "", date: new Date().toISOString() };
    const socket = await this.link;
    socket?.send(
      JSON.stringify({
        header: { ...header, version: "5.3" },
        parent_header: {},
        metadata: {},
        content,
        buffers: [],
        channel: "shell",
      }),
    );
  }

  /** Run code; resolves to the kernel's reply, or with `died` or `stopped`. */
  execute(code, options = {}, number = 0) {
    const id = crypto.randomUUID();
    return new Promise((resolve) => {
      this.waiting = { id, number, resolve, reply: null, idle: false };
      const whole = { code, silent: false, store_history: !options.silent, allow_stdin: false, ...options };
      this.post("execute_request", whole, id);
    });
  }

  receive({ header, parent_header: parent, content }) {
    const type = header.msg_type;
    if (type === "status" && ["restarting", "autorestarting", "dead"].includes(content.execution_state))
      return this.fail("The kernel died.");
    if (type.startsWith("comm_")) return this.talk(type, content);
    const { waiting } = this;
    if (!waiting || parent.msg_id !== waiting.id) return;
    if (type === "execute_reply") waiting.reply = content;
    else if (type === "status") waiting.idle = content.execution_state === "idle";
    else if (type === "execute_input") this.cells.set(content.execution_count, waiting.number);
    else if (waiting.number) this.show(type, content, waiting);
    if (!waiting.reply || !waiting.idle) return;
    this.waiting = null;
    waiting.resolve(waiting.reply);
  }

  show(type, content, waiting) {
    if (type === "clear_output" && content.wait) waiting.clears = true;
    else if (type === "clear_output") this.hears({ type: "clear" });
    const message = this.message(type, content, waiting.number);
    if (!message) return;
    if (waiting.clears) this.hears({ type: "clear" });
    waiting.clears = false;
    this.hears(message);
  }

  message(type, content, number) {
    if (type === "stream") return { type, name: content.name, text: content.text };
    if (type === "display_data" || type === "execute_result") return { type: "output", data: this.data(content.data) };
    if (type !== "error") return null;
    const traceback = plain(content.traceback.join("\n"));
    const places = [...traceback.matchAll(LINE)]
      .map(([, count, line]) => ({ cell: this.cells.get(Number(count)), line: Number(line) }))
      .filter(({ cell }) => cell);
    const place = places.findLast(({ cell }) => cell === number) ?? places.at(-1);
    const all = places.map((each) => [each.cell, each.line]);
    return { type, name: content.ename, value: content.evalue, traceback, places: all, ...place };
  }

  /** The forms of a value; of one of the course's widgets what its script takes. */
  data(forms) {
    const id = forms[VIEW]?.model_id;
    const whole = this.widgets.get(id);
    if (!whole?._anywidget_id) return forms;
    const state = Object.fromEntries(Object.entries(whole).filter(([name]) => !name.startsWith("_")));
    return { ...forms, widget: { id, kind: whole._anywidget_id.split(".").pop(), state } };
  }

  /** What the kernel's side of a widget says. */
  talk(type, { comm_id: id, data }) {
    if (type === "comm_open") this.widgets.set(id, data.state);
    else if (type === "comm_close") this.widgets.delete(id);
    else if (data.method === "update") {
      Object.assign(this.widgets.get(id) ?? {}, data.state);
      this.listeners.get(id)?.({ state: data.state });
    }
  }

  /** Tell a widget's other side. */
  send({ id, state }) {
    if (!this.session) return;
    this.post("comm_msg", { comm_id: id, data: { method: "update", state, buffer_paths: [] } });
  }

  /** Run a cell: resolves to whether it went right, or with `died` or `stopped`. */
  async run(number, source) {
    await this.start();
    const reply = await this.execute(source, {}, number);
    return { right: reply.status === "ok", died: reply.died, stopped: reply.stopped };
  }

  /** The numbers, from 0, of the cells to run before a cell, and of those that are out of date. In a new kernel the cell
      that finds the course runs first. */
  async survey(cells, number) {
    await this.start();
    const ask = `__import__("page_needs").survey(${JSON.stringify(JSON.stringify(cells))}, ${number}, globals())`;
    const reply = await this.execute("", { silent: true, user_expressions: { found: ask } });
    const [above, stale] = JSON.parse(reply.user_expressions?.found.data?.["text/plain"] ?? "[[], []]");
    const first = cells.slice(0, this.fresh ? number : 0).findIndex(({ source }) => SET_UP.test(source));
    this.fresh = false;
    return { above: first < 0 || above.includes(first) ? above : [first, ...above], stale };
  }

  /** Interrupt what runs; resolves to whether the names are still there. */
  async stop() {
    await this.call(`kernels/${this.session.kernel.id}/interrupt`, "POST").catch(({ message }) => this.fail(message));
    return true;
  }

  /** The kernel or its server is gone. */
  fail(text) {
    const { waiting } = this;
    this.waiting = null;
    this.end();
    if (waiting) waiting.resolve({ died: text });
    else this.tell("gone", { text });
  }

  /** End a session and its kernel: while the server starts another in the place of a dead one, it cannot yet. */
  async shutDown({ id }) {
    for (const pause of PAUSES) {
      await new Promise((later) => (pause ? setTimeout(later, pause) : later()));
      try {
        return await this.call(`sessions/${id}`, "DELETE");
      } catch {
        // It may be gone already.
      }
    }
    return null;
  }

  end() {
    const { session, socket, waiting } = this;
    this.lender?.close();
    this.abandon?.();
    this.forget();
    socket?.close();
    if (session) this.shutDown(session);
    waiting?.resolve({ stopped: true });
  }
}

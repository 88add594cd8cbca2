/* Live code: a way in the page's menu that makes the page's own cells editable and runs them, on the Jupyter server that `make serve`
   started or, on the published site, on Binder. thebe is loaded only when the reader asks for it. */
(() => {
  "use strict";

  const live = window.liveCode; // set by book/pages: the repository and this page's name
  live.vendor = new URL("../vendor/", document.currentScript.src).href; // thebe reads it
  const STORE = "tile-by-tile-token";
  const served = location.pathname.match(/^(.*\/)book\//); // the path under which serve.py serves the book
  const RESTART = "Start it again with “make serve” and open the address that it prints.";

  /** Keep the token out of the address bar, for every page of this server in this browser. */
  function keepToken() {
    const query = new URLSearchParams(location.search);
    if (!query.has("token")) return;
    localStorage.setItem(STORE, query.get("token"));
    query.delete("token");
    history.replaceState(null, "", location.pathname + (query.size ? `?${query}` : "") + location.hash);
  }

  const bar = document.querySelector(".live-bar"); // written by book/pages/ways.py, with a menu of links
  const menu = bar.querySelector(".ways");
  bar.insertAdjacentHTML(
    "beforeend",
    `<button type="button" class="live-again" hidden>Try again</button>
    <button type="button" class="live-all" hidden>Run all cells</button>
    <button type="button" class="live-restart" hidden>Restart the kernel</button>
    <span class="live-state" role="status"></span>`,
  );
  const [again, all, restart] = bar.querySelectorAll(":scope > button");
  const state = bar.querySelector(".live-state");

  /** Put a way to run the page first in the menu, which closes behind it; returns its button. */
  live.offer = (name, title, asks, act) => {
    const entry = document.createElement("li");
    entry.innerHTML = `<button type="button" class="live-start" data-way="${name}">${title}</button><small>${asks}</small>`;
    menu.querySelector("ul").prepend(entry);
    entry.firstChild.onclick = () => {
      menu.open = false;
      menu.firstElementChild.focus({ preventScroll: true });
      act();
    };
    return entry.firstChild;
  };
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.firstElementChild.focus({ preventScroll: true });
  });
  for (const leaving of ["pointerdown", "focusin"])
    addEventListener(leaving, ({ target }) => menu.contains(target) || (menu.open = false));

  /** Tell the reader where things stand; `name` is one of idle, connecting, ready, running and failed. */
  function show(name, text) {
    bar.dataset.state = name;
    state.textContent = text;
    again.hidden = name !== "failed";
    all.hidden = restart.hidden = name !== "ready" && name !== "running";
  }

  /** Where the code is to run: thebe's options. Throws an Error to be read when it cannot run at all. */
  async function findServer() {
    const path = `${live.page.replace(/[^/]*$/, "")}live.ipynb`; // a kernel starts in the folder of its page
    const kernelOptions = { kernelName: "python3", path };
    if (location.protocol === "file:") {
      throw new Error("A page opened as a file has no server. Type “make serve” in the course’s folder.");
    }
    if (!served) {
      const repo = live.repository.replace("https://github.com/", "");
      return { useBinder: true, binderOptions: { repo, ref: "main" }, kernelOptions };
    }
    const baseUrl = location.origin + served[1];
    const token = localStorage.getItem(STORE) ?? "";
    let answer;
    try {
      answer = await fetch(`${baseUrl}api/status`, { headers: { Authorization: `token ${token}` } });
    } catch {
      throw new Error(`No server answers at ${baseUrl}. ${RESTART}`);
    }
    if (!answer.ok)
      throw new Error(`The server refuses this page’s token. Open the address that “make serve” printed.`);
    const serverSettings = { baseUrl, wsUrl: baseUrl.replace(/^http/, "ws"), token, appendToken: true };
    return { useBinder: false, serverSettings, kernelOptions };
  }

  function load(tag, attributes) {
    return new Promise((resolve, reject) => {
      const element = Object.assign(document.createElement(tag), attributes);
      element.onload = resolve;
      element.onerror = () => reject(new Error(`${attributes.src ?? attributes.href} did not load. ${RESTART}`));
      document.head.append(element);
    });
  }

  /** Name each cell's code and output for thebe, which pairs the first with the first, and so on. */
  function markCells() {
    for (const cell of document.querySelectorAll(".bd-article div.cell")) {
      const code = cell.querySelector(".cell_input pre");
      if (!code) continue;
      code.dataset.executable = "true";
      code.dataset.language = "python";
      let output = cell.querySelector(".cell_output");
      if (!output) {
        output = document.createElement("div");
        output.className = "cell_output";
        cell.append(output);
      }
      const area = document.createElement("div");
      area.dataset.output = "true";
      output.append(area);
    }
  }

  /** The recorded output of a cell gives way to the live one when the cell first runs; scroll.js hears of each one. */
  function dropRecorded(area) {
    new MutationObserver(() => area.dispatchEvent(new Event("mounted", { bubbles: true }))).observe(area, {
      childList: true,
    });
    const observer = new MutationObserver(() => {
      if (!area.querySelector(".jp-OutputArea-child, .lm-Widget > *")) return;
      [...area.parentElement.children].forEach((child) => child !== area && child.remove());
      observer.disconnect();
    });
    observer.observe(area, { childList: true, subtree: true });
  }

  function watch(session) {
    const kernel = session.kernel;
    let died = false; // the server starts another kernel by itself, which knows nothing of the cells that ran
    kernel.statusChanged.connect((_, status) => {
      died ||= status === "dead" || status === "autorestarting";
      if (died) show("failed", "The kernel died. Reload the page to start a new one.");
      else if (status === "busy") show("running", "Running …");
      else if (status === "idle") show("ready", "Ready: change a cell and run it (Shift + Enter).");
    });
    kernel.connectionStatusChanged.connect((_, status) => {
      if (status !== "connected" && !died) show("failed", `The server no longer answers. ${RESTART}`);
    });
  }

  async function begin() {
    if (document.querySelector(".thebe-cell")) return location.reload();
    show("connecting", "Looking for a server …");
    try {
      const server = await findServer();
      await load("link", { rel: "stylesheet", href: `${live.vendor}thebe/thebe.css` });
      await load("script", { src: `${live.vendor}thebe/index.js` });
      show(
        "connecting",
        server.useBinder ? "Asking Binder for a machine: this can take minutes …" : "Starting a kernel …",
      );
      markCells();
      const { thebe } = window;
      thebe.on("status", (_, event) => {
        if (event.status === "error") show("failed", `${event.message} Reload the page to try again.`);
        else if (server.useBinder && bar.dataset.state === "connecting") state.textContent = event.message;
      });
      const options = { requestKernel: true, mountRunAllButton: false, mountRestartButton: false };
      const { session, notebook } = await thebe.bootstrap({
        ...options,
        mountRestartAllButton: false,
        codeMirrorConfig: { lineNumbers: false },
        ...server,
      });
      if (!session?.kernel) throw new Error(`The server gave no kernel. ${RESTART}`);
      document.querySelectorAll("[data-output]").forEach(dropRecorded);
      watch(session);
      all.onclick = () => notebook.executeAll();
      restart.onclick = () => session.kernel.restart();
      document.documentElement.dataset.live = "";
      show("ready", "Ready: change a cell and run it (Shift + Enter).");
      document.querySelectorAll(".tag_thebe-init .thebe-run-button").forEach((button) => button.click());
    } catch (error) {
      show("failed", error.message ?? String(error));
    }
  }

  keepToken();
  show("idle", "");
  again.onclick = begin;
  if (served)
    live.offer(
      "server",
      "Here, on this machine",
      "In a kernel that “make serve” started: with your GPU, if there is one.",
      begin,
    );
  else
    live.offer(
      "server",
      "Here, on Binder",
      "No account and no GPU. Its machine takes minutes to start; then the cells of this page run on it.",
      begin,
    );
})();

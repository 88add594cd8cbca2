/* Offers to run a page's code: Edit and Run at every cell, the ways in the menu, Stop and Reset page in the bar. Cells run where
   the reader chose to run them last: in the page's own Python, or in a kernel of a Jupyter server, which `make serve` or
   Binder starts. It loads nothing until she asks, or comes back to cells she changed: then book/live/page takes over. */
(() => {
  "use strict";

  const root = document.documentElement;
  const BASE = new URL("../live/", document.currentScript.src);
  const CHOICE = "tile-by-tile.backend";
  const EDITS = `tile-by-tile.edits:${location.pathname}`; // book/live/page/edits.js keeps them
  const SERVED = location.pathname.match(/^(.*\/)book\//)?.[1]; // the path under which book/serve.py serves the book
  const bar = document.querySelector(".live-bar"); // written by book/pages/ways.py, with a menu of links
  const menu = bar.querySelector(".ways");
  const { megabytes } = menu.dataset; // of the page's own Python; empty where the book was built without

  function read(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  function write(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Kept for this page alone.
    }
  }

  /** What the reader had changed in this page's cells when it was loaded; later, another tab may have changed it. */
  function kept() {
    try {
      return JSON.parse(read(EDITS));
    } catch {
      return null;
    }
  }
  const before = kept();

  const controls = document.createElement("div");
  controls.className = "run-bar";
  controls.innerHTML = `
    <button type="button" data-part="stop" hidden>Stop</button>
    <span class="live-state" data-part="state" role="status"></span>
    <button type="button" data-part="above" hidden>Run the cells above</button>
    <button type="button" data-part="undo" hidden>Undo</button>
    <button type="button" data-part="reset" hidden>Reset page</button>`;
  bar.append(controls);
  const part = (name) => controls.querySelector(`[data-part=${name}]`);

  /** Put a way to run the page first in the menu, which closes behind it. */
  function offer(way, title, asks) {
    const entry = document.createElement("li");
    entry.innerHTML = `<button type="button" data-way="${way}">${title}</button><small>${asks}</small>`;
    menu.querySelector("ul").prepend(entry);
    entry.firstChild.onclick = () => {
      menu.open = false;
      menu.firstElementChild.focus({ preventScroll: true });
      choose(way);
      withPage((there) => there.runPage());
    };
  }
  if (SERVED)
    offer("server", "Here, on this machine", "In a kernel that “make serve” started: with your GPU, if there is one.");
  else
    offer(
      "server",
      "Here, on Binder",
      "No account and no GPU. Its machine takes minutes to start; then the cells of this page run on it.",
    );
  if (megabytes)
    offer(
      "page",
      "Here, now",
      `In this page’s own Python: ${megabytes} MB on first use, and no account. Kernels run without a GPU, on the course’s interpreter.`,
    );
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.firstElementChild.focus({ preventScroll: true });
  });
  for (const leaving of ["pointerdown", "focusin"])
    addEventListener(leaving, ({ target }) => menu.contains(target) || (menu.open = false));

  /** Where cells run: what the reader chose last, or what is nearest. Without either, cells have no buttons yet. */
  function remembered() {
    const ways = [...menu.querySelectorAll("[data-way]")].map((each) => each.dataset.way);
    const choice = read(CHOICE);
    if (ways.includes(choice)) return choice;
    return SERVED ? "server" : megabytes && "page";
  }

  function choose(way) {
    write(CHOICE, way);
    root.dataset.backend = way;
  }

  /** What keeps this browser from running cells; empty when nothing does. */
  function lacks() {
    if (location.protocol === "file:")
      return "A page opened as a file cannot run Python. Type “make serve” in the course’s folder, or read it online.";
    if (root.dataset.backend !== "page") return "";
    if (!window.WebAssembly) return "This browser has no WebAssembly, or forbids it: the recorded outputs stand.";
    if (!window.Worker) return "This browser has no workers, or forbids them: the recorded outputs stand.";
    if (!window.DecompressionStream)
      return "This browser is too old to run Python in a page: the recorded outputs stand.";
    return "";
  }

  async function load() {
    let manifest;
    try {
      const answer = await fetch(new URL("manifest.json", BASE), { cache: "no-cache" });
      if (!answer.ok) throw new Error(answer.status);
      manifest = await answer.json();
    } catch {
      throw new Error("The site did not send what runs its cells: is the network gone? Try again.");
    }
    const folder = new URL(`${manifest.folder}/`, BASE).href;
    const { Page } = await import(`${folder}page.js`).catch(() => {
      throw new Error("The scripts that run cells did not load: reload the page.");
    });
    const loaded = new Page(manifest, folder, controls, { ...window.liveCode, root: SERVED, token: window.kept.token });
    if (before) loaded.restore(before);
    return loaded;
  }

  let page = null;

  /** The page that runs, loaded once; what fails is told, and may be tried again. */
  async function withPage(work) {
    try {
      const missing = lacks();
      if (missing) throw new Error(missing);
      page ??= load();
      const there = await page;
      there.use(root.dataset.backend);
      return await work(there);
    } catch (error) {
      page = null;
      controls.dataset.state = "failed";
      part("state").textContent = error.message;
      controls.dataset.done = Number(controls.dataset.done ?? 0) + 1;
    }
  }

  root.dataset.backend = remembered();
  part("stop").onclick = () => withPage((there) => there.stop());
  part("reset").onclick = () => withPage((there) => there.startOver());
  addEventListener("click", ({ target }) => {
    const action = target.closest?.(".cell-tools [data-do]")?.dataset.do;
    if (!action) return;
    const element = target.closest(".cell");
    withPage((there) => there[action](there.cellOf(element)));
  });
  if (root.dataset.backend && before && !lacks()) withPage(() => {});
  window.livePage = () => page; // for tests
})();

/* Offers the page's own Python: Edit and Run at every code cell, a way in the menu, Stop and Reset in the bar. Cells run
   where the reader chose to run them last. It loads nothing until a reader asks, or comes back to cells she changed: then book/engine/page takes over. */
(() => {
  "use strict";

  const root = document.documentElement;
  const BASE = new URL("../engine/", document.currentScript.src);
  const STORE = "tile-by-tile.engine";
  const served = /\/book\//.test(location.pathname); // by book/serve.py, which has kernels of its own
  const bar = document.querySelector(".live-bar");
  const controls = document.createElement("div");
  controls.className = "engine-bar";
  controls.innerHTML = `
    <button type="button" data-part="stop" hidden>Stop</button>
    <button type="button" data-part="reset" hidden>Reset</button>
    <span class="live-state" data-part="state" role="status"></span>
    <button type="button" data-part="above" hidden>Run the cells above</button>`;
  bar.append(controls);
  const menu = bar.querySelector(".ways");
  const asks = `In this page’s own Python: ${menu.dataset.megabytes} MB on first use, and no account. Kernels run without a GPU, on the course’s interpreter.`;
  const start = window.liveCode.offer("page", "Here, now", asks, () => withPage((there) => there.runPage()));
  const part = (name) => controls.querySelector(`[data-part=${name}]`);
  let page = null;

  /** Where cells run: what the reader chose last, or what is nearest. */
  function remembered() {
    let kept = null;
    try {
      kept = localStorage.getItem(STORE);
    } catch {
      // A browser that keeps nothing: the default.
    }
    return ["page", "server"].includes(kept) ? kept : served ? "server" : "page";
  }

  /** What the reader had changed in this page's cells when it was loaded: book/engine/page/edits.js kept it. */
  function kept() {
    try {
      return JSON.parse(localStorage.getItem(`tile-by-tile.edits:${location.pathname}`));
    } catch {
      return null;
    }
  }
  const before = kept(); // later, another tab may have changed it

  /** Remember where cells run. What thebe has made its own runs there until the page is loaded anew. */
  function choose(engine) {
    try {
      localStorage.setItem(STORE, engine);
    } catch {
      // Chosen for this page alone.
    }
    root.dataset.engine = engine;
  }

  function fail(text) {
    controls.dataset.state = "failed";
    part("state").textContent = text;
    start.disabled = false;
    controls.dataset.done = Number(controls.dataset.done ?? 0) + 1;
  }

  /** What keeps this browser from running Python in a page; empty when nothing does. */
  function lacks() {
    if (location.protocol === "file:")
      return "A page opened as a file cannot run Python. Type “make serve” in the course’s folder, or read it online.";
    if (!window.WebAssembly) return "This browser has no WebAssembly, or forbids it: the recorded outputs stand.";
    if (!window.Worker) return "This browser has no workers, or forbids them: the recorded outputs stand.";
    if (!window.DecompressionStream)
      return "This browser is too old to run Python in a page: the recorded outputs stand.";
    return "";
  }

  async function load() {
    const missing = lacks();
    if (missing) throw new Error(missing);
    let manifest;
    try {
      const answer = await fetch(new URL("manifest.json", BASE), { cache: "no-cache" });
      if (!answer.ok) throw new Error(answer.status);
      manifest = await answer.json();
    } catch {
      throw new Error("The site did not send its Python: is the network gone? Try again.");
    }
    const folder = new URL(`${manifest.folder}/`, BASE).href;
    const { Page } = await import(`${folder}page.js`).catch(() => {
      throw new Error("The scripts that run cells did not load: reload the page.");
    });
    const page = new Page(manifest, folder, controls);
    if (before) page.restore(before);
    return page;
  }

  /** The page that runs, loaded once; what fails is told, and may be tried again. */
  async function withPage(work) {
    page ??= load();
    try {
      return await work(await page);
    } catch (error) {
      page = null;
      fail(error.message);
    }
  }

  root.dataset.engine = remembered();
  menu.addEventListener(
    "click",
    (event) => {
      const way = event.target.dataset.way;
      if (!way) return;
      choose(way);
      if (way === "server" || root.dataset.live === undefined) return;
      event.stopPropagation();
      location.reload();
    },
    { capture: true },
  );
  part("stop").onclick = () => withPage((there) => there.stop());
  part("reset").onclick = () => withPage((there) => there.reset());
  addEventListener("click", ({ target }) => {
    const action = target.closest?.(".cell-tools [data-do]")?.dataset.do;
    if (!action) return;
    const element = target.closest(".cell");
    withPage((there) => there[action](there.cellOf(element)));
  });
  if (root.dataset.engine === "page" && !lacks() && before) withPage(() => {});
  window.pagePython = () => page; // for tests
})();

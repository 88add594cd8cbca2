/* A module worker that holds the page's Python. It gets { type: start | run | above | comm } and posts progress, ready,
   failed, answer { id }, and what inpage/cells.py sends. Nothing here runs before a reader runs a cell. */
const HOME = "/home/reader";
const KEPT = `${HOME}/progress.json`;
const ENVIRONMENT = {
  HOME,
  KERNELS_ENGINE: "cpu",
  KERNELS_EXERCISES: KEPT,
  KERNELS_TUNED: `${HOME}/tuned`,
};
/** What Python may take, in bytes: beyond it a cell gets a MemoryError, and the reader keeps her browser. */
const MEMORY = 1024 * 2 ** 20;
const PAGE = 65_536; // bytes of a page of WebAssembly's memory
const QUIET = { messageCallback() {}, errorCallback() {} };

let python, page, manifest, base;
let kept = null; // what the exercises have written, as the page told it or as it was told
const loaded = new Set();
let lose = () => {}; // hears of a file that did not come

/** Keep the memory of Python within its limit: Emscripten tells Python that there is no more. */
function limitMemory() {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * PAGE > MEMORY) throw new RangeError("this page's Python has its share");
    return grow.call(this, pages);
  };
}

/** Tell the page what has arrived, of the files whose sizes the manifest names. */
function follow(files) {
  const sizes = new Map(Object.entries(files));
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const began = performance.now();
  let done = 0;
  const tell = () => postMessage({ type: "progress", done, total, seconds: (performance.now() - began) / 1000 });
  const watch = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const name = new URL(entry.name).pathname.split("/").pop();
      done += sizes.get(name) ?? 0;
      sizes.delete(name);
    }
    tell();
  });
  watch.observe({ type: "resource", buffered: true });
  tell();
  return () => watch.disconnect();
}

/** Fetch each file by its checksum, Pyodide's own included: the browser then takes it whole and right, or not at all.
    What it had kept may be the wrong one: the second try goes to the network. */
function checkFiles() {
  const { fetch } = globalThis;
  globalThis.fetch = async (address, options) => {
    const name = new URL(address, base).pathname.split("/").pop();
    const checked = { ...options, integrity: manifest.integrity[name] ?? "" };
    try {
      return await fetch(address, checked).catch(() => fetch(address, { ...checked, cache: "reload" }));
    } catch {
      const error = new Error(`${name} did not arrive whole and unchanged: is the network gone? Try again.`);
      lose(error);
      throw error;
    }
  };
}

/** Pyodide only warns of a runtime that this browser cannot run, or that comes as another type, and waits for ever. */
function checkRuntime() {
  const { instantiateStreaming } = WebAssembly;
  WebAssembly.instantiateStreaming = (...what) =>
    instantiateStreaming(...what).catch((error) => {
      lose(new Error(`This browser cannot run Python here (${error.message}): the recorded outputs stand.`));
      throw error;
    });
}

/** Load something; fails with the first file that does not come. Pyodide itself goes on without it. */
function whole(load) {
  return new Promise((resolve, reject) => {
    lose = reject;
    load().then(resolve, reject);
  });
}

function imported(name) {
  return import(new URL(name, base).href).catch(() => {
    throw new Error(`${name} did not load: is the network gone? Try again.`);
  });
}

async function fetched(name) {
  return (await fetch(new URL(name, base))).arrayBuffer();
}

function unzipped(data) {
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** A content policy or a locked browser may forbid WebAssembly though its name is there: an empty module tells. */
function runsWebAssembly() {
  try {
    return Boolean(new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)));
  } catch {
    return false;
  }
}

async function start(told) {
  ({ manifest, base } = told);
  const began = performance.now();
  const marks = {};
  const mark = (name) => {
    marks[name] = Math.round(performance.now() - began);
  };
  if (!runsWebAssembly()) throw new Error("This site or this browser forbids WebAssembly: the recorded outputs stand.");
  limitMemory();
  checkFiles();
  checkRuntime();
  const unfollow = follow(manifest.first);
  const course = fetched("course.zip.gz").then(unzipped); // beside the runtime, not after it
  course.catch(() => {}); // lost, and told
  const [{ loadPyodide }] = await Promise.all(["pyodide.mjs", "pyodide.asm.js"].map(imported));
  const settings = { indexURL: base, packages: manifest.packages, env: ENVIRONMENT };
  python = await whole(() => loadPyodide(settings));
  mark("runtime");
  if (told.shared) python.setInterruptBuffer(told.shared);
  python.unpackArchive(await course, "zip", { extractDir: "/course" });
  python.FS.mkdirTree("/course/chapters");
  python.FS.chdir("/course/chapters");
  mark("unpacked");
  const cells = python.runPython('import sys; sys.path.insert(0, "/course"); from inpage import cells; cells');
  page = cells.Page((message) => postMessage(JSON.parse(message)));
  if (manifest.packages.length) cells.wait_with("kernels.lab.plots");
  mark("imported");
  unfollow();
  postMessage({ type: "ready", marks });
}

/** Load what waits for a word that a cell uses; returns whether it came. */
async function loadFor(source) {
  try {
    await loadWords(source);
    return true;
  } catch ({ message }) {
    postMessage({ type: "error", name: "Not loaded", value: message });
    return false;
  }
}

async function loadWords(source) {
  const words = new Set(JSON.parse(page.words(source)));
  for (const part of manifest.later) {
    if (loaded.has(part) || !part.words.some((word) => words.has(word))) continue;
    const unfollow = follow(part.files);
    for (const name of part.archives) python.unpackArchive(await fetched(name), "zip", { extractDir: "/course" });
    await whole(() => python.loadPackage(part.packages, QUIET));
    unfollow();
    loaded.add(part);
  }
}

function readKept() {
  return python.FS.analyzePath(KEPT).exists ? python.FS.readFile(KEPT, { encoding: "utf8" }) : null;
}

async function run({ number, source, progress }) {
  if (progress !== null && progress !== kept) {
    python.FS.mkdirTree(HOME);
    python.FS.writeFile(KEPT, progress);
  }
  const before = readKept();
  const began = performance.now();
  const right = (await loadFor(source)) && page.run(number, source);
  kept = readKept();
  return {
    right,
    kept: kept === before ? null : { before, after: kept },
    milliseconds: performance.now() - began,
    heap: python._module.HEAPU8.length,
  };
}

async function answer(told) {
  if (told.type === "start") return start(told);
  if (told.type === "comm") return page.hear(JSON.stringify(told));
  const work = told.type === "run" ? run(told) : { cells: JSON.parse(page.cells_above(told.sources, told.number)) };
  postMessage({ type: "answer", id: told.id, ...(await work) });
}

function fail(error) {
  const text = String(error?.message || error);
  postMessage({ type: "failed", text: text.trim().split("\n").pop() });
}

/* One after the other: a widget's message waits for the cell that runs. */
let last = Promise.resolve();
addEventListener("message", ({ data }) => {
  last = last.then(() => answer(data)).catch(fail);
});
/* What Pyodide does beside its promise: a runtime that does not come, or is none. */
addEventListener("unhandledrejection", ({ reason }) => fail(reason));

/* A module worker that holds the page's Python. It gets { type: start | run | survey | comm } and posts progress, ready,
   failed, answer { id }, and what inpage/cells.py sends. Nothing here runs before a reader runs a cell. */
import { checkFiles, checkRuntime, fetched, imported, telling, unzipped, whole } from "./files.js";

const HOME = "/home/reader";
const KEPT = `${HOME}/progress.json`;
const ENVIRONMENT = {
  HOME,
  KERNELS_BACKEND: "cpu",
  KERNELS_EXERCISES: KEPT,
  KERNELS_TUNED: `${HOME}/tuned`,
};
/** What Python may take, in bytes: beyond it a cell gets a MemoryError, and the reader keeps her browser. */
const MEMORY = 1024 * 2 ** 20;
const PAGE = 65_536; // bytes of a page of WebAssembly's memory
const QUIET = { messageCallback() {}, errorCallback() {} };

let python, page, manifest;
let kept = null; // what the exercises have written, as the page told it or as it was told
const loaded = new Set();

/** Keep the memory of Python within its limit: Emscripten tells Python that there is no more. */
function limitMemory() {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * PAGE > MEMORY) throw new RangeError("this page's Python has its share");
    return grow.call(this, pages);
  };
}

/** A content policy or a locked browser may forbid WebAssembly though its name is there: an empty module tells. */
function runsWebAssembly() {
  try {
    return Boolean(new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)));
  } catch {
    return false;
  }
}

async function start({ manifest: named, base, shared }) {
  manifest = named;
  const began = performance.now();
  const marks = {};
  const mark = (name) => {
    marks[name] = Math.round(performance.now() - began);
  };
  if (!runsWebAssembly()) throw new Error("This site or this browser forbids WebAssembly: the recorded outputs stand.");
  limitMemory();
  checkFiles(manifest.integrity, base);
  checkRuntime();
  const course = await telling(manifest.first, () => loadRuntime(base));
  mark("runtime");
  if (shared) python.setInterruptBuffer(shared);
  python.unpackArchive(course, "zip", { extractDir: "/course" });
  python.FS.mkdirTree("/course/chapters");
  python.FS.chdir("/course/chapters");
  mark("unpacked");
  const cells = python.runPython('import sys; sys.path.insert(0, "/course"); from inpage import cells; cells');
  page = cells.Page((message) => postMessage(JSON.parse(message)));
  if (manifest.packages.length) cells.wait_with_drawings();
  mark("imported");
  postMessage({ type: "ready", marks });
}

/** Start Python, and return the course, which comes beside it, not after it. */
async function loadRuntime(base) {
  const course = fetched("course.zip.gz").then(unzipped);
  course.catch(() => {}); // told below
  const [{ loadPyodide }] = await Promise.all(["pyodide.mjs", "pyodide.asm.js"].map(imported));
  python = await whole(() => loadPyodide({ indexURL: base, packages: manifest.packages, env: ENVIRONMENT }));
  return course;
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
    await telling(part.files, () => loadPart(part));
    loaded.add(part);
  }
}

async function loadPart({ archives, packages }) {
  for (const name of archives) python.unpackArchive(await fetched(name), "zip", { extractDir: "/course" });
  await whole(() => python.loadPackage(packages, QUIET));
}

function readKept() {
  return python.FS.analyzePath(KEPT).exists ? python.FS.readFile(KEPT, { encoding: "utf8" }) : null;
}

async function run({ number, source, asked, progress }) {
  if (progress !== null && progress !== kept) {
    python.FS.mkdirTree(HOME);
    python.FS.writeFile(KEPT, progress);
  }
  const before = readKept();
  const began = performance.now();
  const right = (await loadFor(source)) && page.run(number, source, asked);
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
  const work = told.type === "run" ? run(told) : { found: JSON.parse(page.survey(told.cells, told.number)) };
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

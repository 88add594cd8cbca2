/* The files of the page's Python on their way into the worker: each told of as it comes, checked, and named in a line if it is lost. */
let base;
let lose = () => {}; // hears of a file that did not come

/** Load something, and tell the page meanwhile what has arrived of the files whose sizes are named. */
export async function telling(files, load) {
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
  try {
    return await load();
  } finally {
    watch.disconnect();
  }
}

/** Fetch each file by its checksum, Pyodide's own included: the browser then takes it whole and right, or not at all.
    What it had kept may be the wrong one: the second try goes to the network. */
export function checkFiles(integrity, folder) {
  base = folder;
  const { fetch } = globalThis;
  globalThis.fetch = async (address, options) => {
    const name = new URL(address, base).pathname.split("/").pop();
    const checked = { ...options, integrity: integrity[name] ?? "" };
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
export function checkRuntime() {
  const { instantiateStreaming } = WebAssembly;
  WebAssembly.instantiateStreaming = (...what) =>
    instantiateStreaming(...what).catch((error) => {
      lose(new Error(`This browser cannot run Python here (${error.message}): the recorded outputs stand.`));
      throw error;
    });
}

/** Load something; fails with the first file that does not come. Pyodide itself goes on without it. */
export function whole(load) {
  return new Promise((resolve, reject) => {
    lose = reject;
    load().then(resolve, reject);
  });
}

export function imported(name) {
  return import(new URL(name, base).href).catch(() => {
    throw new Error(`${name} did not load: is the network gone? Try again.`);
  });
}

export async function fetched(name) {
  return (await fetch(new URL(name, base))).arrayBuffer();
}

export function unzipped(data) {
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

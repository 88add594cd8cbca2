/* GPUs side by side, in what they have in common: cycles per FMA, and shares of the highest ceiling that is known. Each is
   a record as `python -m kernels bench` writes it: what this page measured, a file, and those of the course. */
(() => {
  "use strict";

  const { make, makeTable, percent, quantity, short } = window.tileByTile.common;
  const { rungs, titles, recorded, counted } = JSON.parse(document.getElementById("gpu-rungs").textContent);

  const KEY = "tile-by-tile.gpus";
  const MOST = 6;
  const LANGUAGES = { wgsl: "WGSL", numba: "Numba", cpp: "CUDA C++" };
  const follows = Object.fromEntries(rungs.map(({ name, follows: rung }) => [name, rung]));
  const named = { ...titles, ...Object.fromEntries(rungs.map(({ name, title }) => [name, title])) };

  const rowsOf = ({ webgpu, timings }) =>
    [webgpu, timings]
      .filter(Array.isArray)
      .flat()
      .filter((row) => named[row?.rung] && LANGUAGES[row.engine] && row.correct !== false);
  const sizeOf = ({ M, N, K }) => (M === N && N === K ? M : 0);
  const speedOf = ({ M, N, K, seconds }) => (2 * M * N * K) / seconds.median;

  /** What an SM starts and delivers in a cycle: FMAs of warps, and wavefronts of 128 bytes; 0 where that isn't known. */
  function limits({ device = {}, levels = [] }) {
    const { sms, clock, fp32_peak: peak, lanes = sms && peak ? peak / (2 * sms * clock) : 0 } = device;
    const shared = levels.find(({ level }) => level === "shared")?.bytes_per_second;
    const rate = sms && shared ? 2 ** Math.round(Math.log2(shared / (128 * sms * clock))) : Number(lanes === 128);
    return { fp32: lanes / 32, wavefronts: rate };
  }

  /** Counts of the same rung with the same options: in its own language, or for WGSL what any compiler must load. */
  function countsOf({ rung, engine, options, dtype }) {
    if (dtype !== "float32") return {};
    const same = (each) =>
      each.rung === (follows[rung] ?? rung) &&
      Object.entries(options).every(([name, value]) => each.options[name] === value);
    const found = counted.filter(same);
    if (engine === "wgsl") return { wavefronts: (found.find((each) => each.engine === "cpp") ?? found[0])?.wavefronts };
    return found.find((each) => each.engine === engine) ?? {};
  }

  /** Cycles of one SM per FMA of a warp, and the share of them that the highest known ceiling explains; null if unknown. */
  function standing(record, row) {
    const { device = {} } = record,
      { fp32, wavefronts } = limits(record),
      speed = speedOf(row),
      fmas = speed / 64; // of warps, in a second
    const cycles = device.sms
      ? ((row.clock ?? device.clock) * device.sms) / fmas
      : fp32 && device.fp32_peak / speed / fp32;
    const peak = device.fp32_peak ? speed / device.fp32_peak : null;
    if (!cycles) return { speed, cycles: null, share: peak };
    const counts = countsOf(row);
    const ceilings = [
      fp32 && (counts.fp32 ?? 1) / fp32,
      wavefronts && (counts.wavefronts ?? 0) / wavefronts,
      (counts.instructions ?? 0) / 4,
    ];
    return { speed, cycles, share: Math.max(...ceilings) / cycles };
  }

  /** A standing in words. */
  const told = ({ speed, cycles, share }) =>
    [quantity(speed, "FLOP/s"), cycles ? short(cycles) : "–", share ? percent(share) : "–"].join(" · ");

  // -- What is kept, in this browser

  let results = [];
  try {
    results = JSON.parse(localStorage.getItem(KEY)) ?? [];
    results.forEach(check);
  } catch {
    results = []; // nothing kept, or nothing of ours
  }

  function keep(record) {
    const name = ({ provenance, webgpu }) => JSON.stringify([provenance.gpu, webgpu && sizeOf(webgpu[0])]);
    results = [record, ...results.filter((each) => name(each) !== name(record))].slice(0, MOST);
    store();
  }

  function store() {
    try {
      localStorage.setItem(KEY, JSON.stringify(results));
    } catch {
      // They're compared all the same, as long as the page is open.
    }
    show();
  }

  /** Throw an Error that says what keeps something from being a record with rows to show. */
  function check(record) {
    const whole = (row) =>
      [row.M, row.N, row.K, row.seconds?.median].every((value) => Number.isFinite(value) && value > 0) && row.options;
    if (typeof record?.provenance?.gpu !== "string") throw new Error("it names no GPU");
    const rows = rowsOf(record);
    if (!rows.length) throw new Error("it has no rung that was timed");
    if (!rows.every(whole)) throw new Error("a row has no sizes, options or seconds");
  }

  // -- The table

  const root = document.querySelector('[data-part="beside"]');
  const is = Object.fromEntries([...root.querySelectorAll("[data-is]")].map((each) => [each.dataset.is, each]));
  const say = (text) => {
    is.problem.textContent = text;
    is.problem.hidden = !text;
  };

  /** A column for each language of a record, at the size asked for or the largest it has below. */
  function columns(record, size) {
    return Object.keys(LANGUAGES).flatMap((engine) => {
      const rows = rowsOf(record).filter((row) => row.engine === engine && sizeOf(row));
      const sizes = [...new Set(rows.map(sizeOf))].sort((a, b) => a - b);
      const side = sizes.findLast((each) => each <= size) ?? sizes[0];
      const best = {};
      for (const row of rows.filter((each) => sizeOf(each) === side))
        if (!(speedOf(best[row.rung] ?? row) > speedOf(row))) best[row.rung] = row;
      const head = `${record.provenance.gpu}, ${LANGUAGES[engine]}, ${side}³`;
      return rows.length ? [{ head, record, best }] : [];
    });
  }

  function show() {
    const size = (results[0]?.webgpu && sizeOf(results[0].webgpu[0])) || 2048;
    const all = [...results, ...recorded].flatMap((record) => columns(record, size));
    const shown = Object.keys(named).filter((rung) => all.some(({ best }) => best[rung]));
    // A rung in WGSL alone stands behind the one that it follows.
    const place = (rung) => Object.keys(titles).indexOf(follows[rung] ?? rung);
    shown.sort((one, other) => place(one) - place(other));
    const rows = shown.map((rung) => [
      named[rung],
      ...all.map(({ record, best }) => [best[rung] ? told(standing(record, best[rung])) : "–"]),
    ]);
    is.results.replaceChildren(makeTable(["kernel", ...all.map(({ head }) => head)], rows));
    const unknown = results.filter((record) => !limits(record).fp32).map(({ provenance }) => provenance.gpu);
    is.status.textContent = unknown.length
      ? `The browser doesn't say how many FP32 lanes an SM of ${[...new Set(unknown)].join(", ")} has: no cycles, and shares of its multiply-adds alone.`
      : "";
    for (const button of [is.save, is.forget]) button.disabled = !results.length;
  }

  async function read(file) {
    say("");
    try {
      const record = JSON.parse(await file.text());
      check(record);
      keep(record);
    } catch (error) {
      const why = error instanceof SyntaxError ? "it isn't JSON" : error.message;
      say(`“${file.name}” can't be shown: ${why}. Choose a file that this page or “kernels bench” wrote.`);
    }
  }

  is.file.addEventListener("change", () => is.file.files[0] && read(is.file.files[0]));
  is.forget.addEventListener("click", () => {
    results = [];
    store();
  });
  is.save.addEventListener("click", () => {
    const href = URL.createObjectURL(new Blob([JSON.stringify(results[0], null, 1)], { type: "application/json" }));
    const slug = results[0].provenance.gpu.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    make("a", { href, download: `${slug}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  });
  is.file.disabled = false;
  show();

  Object.assign(window.yourGpu, { keep, standing });
})();

/* The tile player. First the formulas, which equal those of the Python models; then what is drawn. */

import {
  make,
  draw,
  unique,
  clamp,
  cdiv,
  integer,
  short,
  quantity,
  percent,
  stillness,
  frame,
  setUp,
  makeTable,
  slider,
  numberField,
  choice,
  check,
  button,
  hatches,
  put,
  follow,
} from "../../../../kernels/lab/widgets/common.js";

const WARP = 32,
  SECTOR = 8; // threads; float32 elements of 32 bytes
const MAX_THREADS = 1024,
  SMALLEST = 4,
  LARGEST = 64;

// ---- Traffic: kernels/host/model.py -------------------------------------------------------------

/** Rows of a side × side block that one warp covers; null if not whole ones. */
const rowsOfWarp = (side) => (WARP % side === 0 ? Math.min(side, WARP / side) : null);

/** Elements, requests and sectors of `sweeps` goes over a matrix, one request a piece of height × width. */
function access(rows, cols, readers, sweeps, height, width) {
  const elements = rows * cols * readers;
  if (sweeps === null || height === null || width === null) return { elements, requests: null, sectors: null };
  let sectors = 0;
  for (let left = 0; left < cols; left += width) {
    const wide = Math.min(width, cols - left);
    for (let row = 0, last = -1; row < rows; row++) {
      const first = Math.floor((row * cols + left) / SECTOR);
      const end = Math.floor((row * cols + left + wide - 1) / SECTOR);
      // Two rows of one piece may meet in a sector; it is touched once.
      sectors += end - first + 1 - (row % height && first === last ? 1 : 0);
      last = end;
    }
  }
  return { elements, requests: sweeps * cdiv(rows, height) * cdiv(cols, width), sectors: sweeps * sectors };
}

function modelOf(M, N, K, A, B, C) {
  const sum = (key, ...all) => (all.some((x) => x[key] === null) ? null : all.reduce((n, x) => n + x[key], 0));
  const flops = 2 * M * N * K;
  return {
    flops,
    loads: sum("elements", A, B),
    requests: sum("requests", A, B),
    sectors: sum("sectors", A, B),
    intensity: flops / (4 * sum("elements", A, B, C)),
  };
}

/** Global loads of the tiled kernel, and its intensity in FLOP a byte asked for. */
function tiledModel(M, N, K, T) {
  const rows = rowsOfWarp(T),
    across = cdiv(N, T),
    down = cdiv(M, T);
  return modelOf(
    M,
    N,
    K,
    access(M, K, across, across, rows, T),
    access(K, N, down, down, rows, T),
    access(M, N, 1, 1, rows, T),
  );
}

/** The same of the naive kernel in blocks of side × side threads. */
function naiveModel(M, N, K, side) {
  const rows = rowsOfWarp(side),
    down = rows && cdiv(M, rows);
  return modelOf(
    M,
    N,
    K,
    access(M, K, N, cdiv(N, side), rows, 1),
    access(K, N, M, down, 1, side),
    access(M, N, 1, 1, rows, side),
  );
}

// ---- Occupancy: kernels/measure/occupancy.py --------------------------------------------------------

/** Blocks that an SM of `gpu` (a data sheet) holds at once; throws an Error to be read where none fits. */
function occupancy(threads, registers, shared, gpu) {
  const roundUp = (amount, unit) => cdiv(amount, unit) * unit;
  const modern = parseInt(gpu.compute_capability, 10) >= 8;
  if (shared > gpu.shared_per_block_optin) {
    throw new Error(
      `${shared} bytes of shared memory per block: the ${gpu.name} allows ${gpu.shared_per_block_optin}; use a smaller tile`,
    );
  }
  const warps = cdiv(threads, WARP);
  const limits = { threads: Math.floor(gpu.warps_per_sm / warps), blocks: gpu.blocks_per_sm };
  if (registers) {
    const fitting = Math.floor(Math.floor(gpu.registers_per_sm / roundUp(registers * 32, 256)) / 4) * 4;
    limits.registers = Math.floor(fitting / warps);
  }
  if (shared) {
    limits["shared memory"] = Math.floor(
      gpu.shared_per_sm / (modern ? roundUp(shared + 1024, 128) : roundUp(shared, 256)),
    );
  }
  const limiter = Object.keys(limits).reduce((best, name) => (limits[name] < limits[best] ? name : best));
  const blocks = limits[limiter];
  return {
    blocks,
    warps: blocks * warps,
    threads: blocks * threads,
    fraction: (blocks * warps) / gpu.warps_per_sm,
    limits,
    limiter,
  };
}

/** What is wrong with a tile size, or "". */
function tileTrouble(T) {
  if (T * T > MAX_THREADS)
    return `tile ${T} needs ${T * T} threads per block; this GPU allows ${MAX_THREADS}: use 8, 16 or 32`;
  return T < SMALLEST ? `tile ${T}: the player shows tiles of ${SMALLEST} to 32` : "";
}

// ---- Races: microscope/races.py -----------------------------------------------------

/**
 * What the microscope says of the tiled kernel with these barriers, after `steps` turns of its loop.
 * An element of a tile has one writer and T readers; the lowest and the highest of them decide.
 */
function raceMessages(T, steps, barrier1, barrier2, line) {
  const late = barrier1 && !barrier2;
  if ((barrier1 && barrier2) || (late && steps < 2)) return [];
  const warp = (thread) => Math.floor(thread / WARP);
  return ["A", "B"].map((name) => {
    const pairs = [];
    for (let r = 0; r < T; r++) {
      for (let c = 0; c < T; c++) {
        const low = name === "A" ? r * T : c,
          high = name === "A" ? r * T + T - 1 : (T - 1) * T + c;
        const readers = late ? [low, high] : [high, low];
        pairs.push(...readers.map((reader) => ({ r, c, writer: r * T + c, reader })));
      }
    }
    const far = pairs.find((p) => warp(p.writer) !== warp(p.reader));
    const { r, c, writer, reader } = far ?? pairs.find((p) => p.writer !== p.reader);
    const place = (thread) => `(${thread % T}, ${Math.floor(thread / T)}, 0)`;
    const writes = { thread: writer, verb: "writes", line: line[`load ${name}`] };
    const reads = { thread: reader, verb: "reads", line: line.multiply };
    const [first, second] = late ? [reads, writes] : [writes, reads];
    const end = late && "at the end of that loop's body";
    const advice = far
      ? `no barrier lies between: put cuda.syncthreads() ${end || "between the two"}`
      : `nothing orders them: put cuda.syncwarp() or cuda.syncthreads() ${end || "between"}`;
    const next = late ? `, in the next iteration of the loop at line ${line.loop}` : "";
    return (
      `line ${second.line}: thread ${place(first.thread)} ${first.verb} s${name}[${r}, ${c}] at line ${first.line} and thread ` +
      `${place(second.thread)} of the same ${far ? "block" : "warp"} ${second.verb} it at line ${second.line}${next}; ${advice}`
    );
  });
}

// ---- The run, step by step ----------------------------------------------------------------------

/** Small whole numbers that follow no pattern a mistake could hide in; zero past the edges. */
const elementOf = (seed) => (row, col) => ((Math.imul(row * 67 + col * 131 + seed, 2654435761) >>> 12) % 9) - 4;
const elementA = elementOf(7),
  elementB = elementOf(40503);

/** The first `split` threads of a block are the quick ones; they and the others are the two groups that are played. */
function splitOf(T) {
  const warps = cdiv(T * T, WARP);
  return warps > 1 ? WARP * Math.ceil(warps / 2) : Math.ceil((T * T) / 2);
}

/**
 * All moments of one block: what the quick and the slow threads do, and which tile each part of shared memory holds.
 *
 * The slow threads are held up by one moment at the start and after each barrier, or, where the next barrier is missing,
 * long enough for the quick ones to get a whole tile ahead. A moment is `{ acts, held, tiles }`: `acts` has for each group
 * `{ do: "load" | "wait" | "open" | "multiply" | "store" | "held" | "done", t, k, barrier }`; `tiles` the tile that each
 * group's part of sA and sB holds when the moment begins, -1 before the first.
 */
function play(steps, T, barrier1, barrier2) {
  const program = [];
  for (let t = 0; t < steps; t++) {
    program.push({ do: "load", t, k: 0 });
    if (barrier1) program.push({ do: "wait", t, k: 0, barrier: 1 });
    for (let k = 0; k < T; k++) program.push({ do: "multiply", t, k });
    if (barrier2) program.push({ do: "wait", t, k: T - 1, barrier: 2 });
  }
  program.push({ do: "store", t: steps - 1, k: T - 1 });
  const lag = (barrierAhead) => (barrierAhead ? 1 : T + 1);
  const at = [0, 0],
    moments = [];
  let held = lag(barrier1),
    tiles = [-1, -1];
  while (at.some((place) => place < program.length)) {
    const now = at.map((place) => program[place] ?? { ...program.at(-1), do: "done" });
    const tilesNow = [...tiles];
    const met = now[0].do === "wait" && now[0] === now[1] && !held;
    const acts = now.map((act, group) => {
      if (met) {
        at[group]++;
        return { ...act, do: "open" };
      }
      if (group === 1 && held) {
        held--;
        return { ...act, do: "held" };
      }
      if (act.do === "wait" || act.do === "done") return act;
      if (act.do === "load") tiles = tiles.map((tile, g) => (g === group ? act.t : tile));
      at[group]++;
      return act;
    });
    if (met) held = lag(now[0].barrier === 1 ? barrier2 : barrier1);
    moments.push({ acts, tiles: tilesNow });
  }
  return moments;
}

/** What one thread of tile column tx and tile row ty adds up, moment by moment: its terms, and how many at each moment. */
function followThread(moments, { M, N, K, T, row, col }) {
  const tx = col % T,
    ty = row % T,
    split = splitOf(T);
  const group = (x, y) => (y * T + x < split ? 0 : 1);
  const own = group(tx, ty),
    terms = [],
    counts = [],
    sums = [];
  let sum = 0;
  const inShared = (t, value) => (t < 0 ? null : value(t * T));
  for (const { acts, tiles } of moments) {
    const act = acts[own];
    if (act.do === "multiply") {
      const { t, k } = act,
        fromA = tiles[group(k, ty)],
        fromB = tiles[group(tx, k)];
      const a = inShared(fromA, (k0) => (row < M && k0 + k < K ? elementA(row, k0 + k) : 0));
      const b = inShared(fromB, (k0) => (k0 + k < K && col < N ? elementB(k0 + k, col) : 0));
      sum += (a ?? 0) * (b ?? 0);
      terms.push({ t, k, a, b, fromA, fromB, padding: t * T + k >= K, wrong: fromA !== t || fromB !== t });
    }
    counts.push(terms.length);
    sums.push(sum);
  }
  return { own, terms, counts, sums };
}

/** The elements of C that come out wrong in the run that is played: `{ row, col }` each. */
function wrongElements(moments, { M, N, K, T }) {
  const split = splitOf(T),
    steps = cdiv(K, T);
  const tilesAt = [0, 1].map((group) =>
    moments.filter(({ acts }) => acts[group].do === "multiply").map(({ tiles }) => tiles),
  );
  const a = (row, t, k) => (t < 0 || t * T + k >= K ? 0 : elementA(row, t * T + k));
  const b = (t, k, col) => (t < 0 || t * T + k >= K ? 0 : elementB(t * T + k, col));
  const wrong = [];
  for (let row = 0; row < M; row++) {
    for (let col = 0; col < N; col++) {
      const tx = col % T,
        ty = row % T;
      const own = ty * T + tx < split ? 0 : 1;
      let got = 0,
        want = 0;
      for (let i = 0; i < steps * T; i++) {
        const k = i % T,
          t = Math.floor(i / T),
          tiles = tilesAt[own][i];
        got += a(row, tiles[ty * T + k < split ? 0 : 1], k) * b(tiles[k * T + tx < split ? 0 : 1], k, col);
        want += a(row, t, k) * b(t, k, col);
      }
      if (got !== want) wrong.push({ row, col });
    }
  }
  return wrong;
}

export const formulas = {
  access,
  tiledModel,
  naiveModel,
  occupancy,
  tileTrouble,
  raceMessages,
  play,
  followThread,
  wrongElements,
  staleCells,
  elementA,
  elementB,
  splitOf,
};

/** The elements of sA and sB that are read in a moment and hold another tile than they should: `{ r, c, from, t }` each. */
function staleCells({ acts, tiles }, T) {
  const split = splitOf(T),
    cells = { A: [], B: [] };
  acts.forEach(({ do: what, t, k }, group) => {
    if (what !== "multiply") return;
    for (let i = 0; i < T; i++) {
      const reads = group ? (i + 1) * T > split : i * T < split; // some thread of row i is in this group
      for (const [name, r, c, wanted] of [
        ["A", i, k, reads],
        ["B", k, i, true],
      ]) {
        const from = tiles[r * T + c < split ? 0 : 1];
        if (wanted && from !== t) cells[name].push({ r, c, from, t });
      }
    }
  });
  return cells;
}
const isSpoilt = (moment, T) => Object.values(staleCells(moment, T)).some((cells) => cells.length);

const signed = (value) => String(value).replace("-", "−");

// ---- Pictures -----------------------------------------------------------------------------------

const VIEW = 400;
const rect = (x, y, width, height, attributes) => draw("rect", { x, y, width, height, ...attributes });
const label = (x, y, text, attributes = {}) => draw("text", { x, y, "text-anchor": "middle", ...attributes }, text);

/** A grid of lines over a rectangle, as one path. */
function gridPath(x, y, width, height, step) {
  let d = "";
  for (let i = step; i < width - 0.01; i += step) d += `M${x + i} ${y}v${height}`;
  for (let i = step; i < height - 0.01; i += step) d += `M${x} ${y + i}h${width}`;
  return d;
}

/** A, B and C with the current tiles; returns the elements and where C lies. */
function drawMatrices({ M, N, K, T, t, k, row, col, doing, wrong, hatch }) {
  const gap = 26,
    left = 16,
    top = 20,
    room = VIEW - gap - left - 6;
  const down = cdiv(M, T) * T,
    across = cdiv(N, T) * T,
    deep = cdiv(K, T) * T;
  const u = Math.min(room / (deep + across), (VIEW - gap - top - 6) / (deep + down));
  const xC = left + deep * u + gap,
    yC = top + deep * u + gap;
  const parts = [];
  const matrix = (name, key, x, y, rows, cols, fullRows, fullCols) => {
    parts.push(
      rect(x, y, fullCols * u, fullRows * u, { class: "past" }),
      rect(x, y, cols * u, rows * u, { class: `matrix ${key}` }),
    );
    if (u >= 5) parts.push(draw("path", { class: "grid", d: gridPath(x, y, cols * u, rows * u, u) }));
    parts.push(draw("path", { class: "tiles", d: gridPath(x, y, fullCols * u, fullRows * u, T * u) }));
    const crossed = name === "C" && wrong.length ? "; ×: wrong" : "";
    parts.push(label(x, y - 6, `${name}: ${rows} × ${cols}${crossed}`, { "text-anchor": "start" }));
  };
  matrix("A", "a", left, yC, M, K, down, deep);
  matrix("B", "b", xC, top, K, N, deep, across);
  matrix("C", "c", xC, yC, M, N, down, across);
  const by = Math.floor(row / T),
    bx = Math.floor(col / T);
  const tile = (x, y, key) =>
    parts.push(rect(x, y, T * u, T * u, { fill: hatch.fill(key) }), rect(x, y, T * u, T * u, { class: `tile ${key}` }));
  tile(left + t * T * u, yC + by * T * u, "a");
  tile(xC + bx * T * u, top + t * T * u, "b");
  tile(xC + bx * T * u, yC + by * T * u, "c");
  const cell = (x, y) => parts.push(rect(x, y, Math.max(u, 3), Math.max(u, 3), { class: "element" }));
  const kA = t * T + (doing === "load" ? col % T : k),
    kB = t * T + (doing === "load" ? row % T : k);
  if (doing === "load" || doing === "multiply") {
    cell(left + kA * u, yC + row * u);
    cell(xC + col * u, top + kB * u);
  }
  cell(xC + col * u, yC + row * u);
  const cross = wrong.map(({ row, col }) => {
    const x = xC + (col + 0.2) * u,
      y = yC + (row + 0.2) * u,
      long = 0.6 * u;
    return `M${x} ${y}l${long} ${long}m0 ${-long}l${-long} ${long}`;
  });
  parts.push(draw("path", { class: "crossed", d: cross.join("") }));
  return { parts, u, xC, yC };
}

/** Shared memory and the two groups of threads on their way through one turn of the outer loop. */
function drawShared({ M, N, K, T, row, col, moment, own, barriers, names, hatch }) {
  const size = 178,
    cell = size / T,
    split = splitOf(T),
    act = moment.acts[own];
  const tx = col % T,
    ty = row % T,
    by = Math.floor(row / T),
    bx = Math.floor(col / T);
  const newest = Math.max(...moment.tiles),
    stale = staleCells(moment, T),
    parts = [];
  [
    ["A", "a", 10],
    ["B", "b", 212],
  ].forEach(([name, key, x0]) => {
    const y0 = 24,
      paths = { fresh: "", old: "", zero: "" },
      [first] = stale[name],
      boxAt = (r, c) => `M${x0 + c * cell} ${y0 + r * cell}h${cell}v${cell}h${-cell}z`;
    for (let r = 0; r < T; r++) {
      for (let c = 0; c < T; c++) {
        const held = moment.tiles[r * T + c < split ? 0 : 1];
        if (held < 0) continue;
        const inside = name === "A" ? by * T + r < M && held * T + c < K : held * T + r < K && bx * T + c < N;
        paths[held === newest ? "fresh" : "old"] += boxAt(r, c);
        if (!inside) paths.zero += boxAt(r, c);
        if (T <= 8) {
          const value = name === "A" ? elementA(by * T + r, held * T + c) : elementB(held * T + r, bx * T + c);
          parts.push(label(x0 + (c + 0.5) * cell, y0 + (r + 0.5) * cell + 5, signed(inside ? value : 0)));
        }
      }
    }
    parts.unshift(
      rect(x0, y0, size, size, { class: "empty" }),
      draw("path", { class: `fresh ${key}`, d: paths.fresh }),
      draw("path", { d: paths.fresh, fill: hatch.fill(key), opacity: T <= 8 ? 0.35 : 0.8 }),
      draw("path", { class: "old", d: paths.old }),
      draw("path", { class: "zero", d: paths.zero }),
      draw("path", { class: "grid", d: gridPath(x0, y0, size, size, cell) }),
      ...(first ? [draw("path", { class: "stale", d: stale[name].map(({ r, c }) => boxAt(r, c)).join("") })] : []),
      rect(x0, y0, size, size, { class: `tile ${key}` }),
    );
    if (paths.zero)
      parts.push(label(x0 + size / 2, y0 + size + 14, "pale: zero-fill past the edge", { class: "small" }));
    const part = moment.tiles[0] === moment.tiles[1] ? "" : " (part)";
    const holds = newest < 0 ? "nothing yet" : `tile ${newest} of ${name}${part}`;
    const told =
      first &&
      (first.from < 0
        ? "read before it’s there"
        : `read: ${first.from < first.t ? "still" : "already"} tile ${first.from}`);
    parts.push(label(x0 + size / 2, 16, `s${name}: ${told ?? holds}`, { class: told ? "strong stale-name" : null }));
    if (act.do === "multiply") {
      parts.push(
        name === "A"
          ? rect(x0, y0 + ty * cell, size, cell, { class: "line" })
          : rect(x0 + tx * cell, y0, cell, size, { class: "line" }),
        name === "A"
          ? rect(x0 + act.k * cell, y0 + ty * cell, cell, cell, { class: "element" })
          : rect(x0 + tx * cell, y0 + act.k * cell, cell, cell, { class: "element" }),
      );
    } else if (act.do === "load") parts.push(rect(x0 + tx * cell, y0 + ty * cell, cell, cell, { class: "element" }));
  });

  // The way through one turn: load, barrier 1, the inner loop, barrier 2.
  const gate = [112, 306],
    lanes = [276, 322],
    from = 20,
    to = 392;
  parts.push(label(62, 240, "load"), label(209, 240, `k = 0 … ${T - 1}`), label(350, 240, "next tile"));
  parts.push(draw("path", { class: "lane", d: lanes.map((y) => `M${from} ${y}H${to}`).join("") }));
  barriers.forEach((present, i) => {
    const x = gate[i],
      open = moment.acts.some((a) => a.do === "open" && a.barrier === i + 1);
    const d = open ? `M${x} 248v14M${x} 340v14` : `M${x} 248v106`;
    parts.push(draw("path", { class: present ? (open ? "gate open" : "gate") : "gate removed", d }));
    const closed = moment.acts.some((a) => a.do === "wait" && a.barrier === i + 1);
    const state = !present ? "removed" : open ? "opens" : closed ? "closed" : "";
    parts.push(label(x, 368, `barrier ${i + 1}`, { class: "small" }), label(x, 382, state, { class: "small strong" }));
  });
  const place = ({ do: what, k, barrier, resume }) => {
    if (what === "load") return 62;
    if (what === "wait") return gate[barrier - 1] - 14;
    if (what === "open") return gate[barrier - 1] + 14;
    if (what === "multiply") return 132 + ((k + 0.5) / T) * 156;
    return what === "held" ? resume : 350;
  };
  moment.acts.forEach((a, i) => {
    const next = barriers[0] && moment.heldAfter === 1 ? gate[0] + 14 : 30;
    const x = place({ ...a, resume: next }),
      y = lanes[i];
    parts.push(
      i
        ? rect(x - 9, y - 9, 18, 18, { class: "runner slow" })
        : draw("circle", { cx: x, cy: y, r: 9.5, class: "runner quick" }),
      label(x, y + 4.5, i ? "S" : "Q", { class: "runner-name" }),
      label((gate[0] + gate[1]) / 2, y - 16, `${i ? "slow" : "quick"}: ${names[i]}`, { class: "small halo" }),
    );
  });
  return parts;
}

/** Recorded speed against the tile size. */
function drawSpeeds(points, tile) {
  const width = 400,
    height = 190,
    left = 52,
    bottom = 150,
    top = 26;
  const most = Math.max(1, ...points.map((p) => p.gflops)) * 1.12;
  const x = (T) => left + ((T - 4) / 28) * (width - left - 26),
    y = (gflops) => bottom - (gflops / most) * (bottom - top);
  const parts = [
    draw("path", { class: "axis", d: `M${left} ${top}V${bottom}H${width - 8}` }),
    draw("path", { class: "now", d: `M${x(tile)} ${top}V${bottom}` }),
    label((left + width) / 2, height - 4, "tile size"),
    label(left - 5, top - 9, most >= 1000 ? "TFLOP/s" : "GFLOP/s", { class: "small" }),
  ];
  for (const T of [4, 8, 16, 24, 32]) parts.push(label(x(T), bottom + 17, String(T), { class: "small" }));
  const unit = 10 ** Math.floor(Math.log10(most)),
    step = [0.2, 0.5, 1, 2, 5].map((n) => n * unit).find((n) => most / n <= 5);
  for (let value = step; value < most; value += step) {
    parts.push(draw("path", { class: "rule", d: `M${left} ${y(value)}H${width - 8}` }));
    parts.push(
      label(left - 5, y(value) + 4, short(most >= 1000 ? value / 1000 : value), {
        "text-anchor": "end",
        class: "small",
      }),
    );
  }
  for (const p of points) {
    const px = x(p.tile),
      py = y(p.gflops),
      look = { class: `speed ${p.kind}` };
    const shape = {
      numba: () => draw("circle", { cx: px, cy: py, r: 6, ...look }),
      cpp: () => rect(px - 5.5, py - 5.5, 11, 11, look),
    }[p.kind]();
    shape.append(draw("title", {}, `tile ${p.tile}, ${p.what}: ${quantity(p.gflops * 1e9, "FLOP/s")}`));
    parts.push(shape);
  }
  return parts;
}

// ---- The widget ---------------------------------------------------------------------------------

const PACES = [
  ["700", "slow"],
  ["250", "medium"],
  ["60", "fast"],
];

const VIEWS = [
  ["shared", "Shared memory"],
  ["matrices", "Matrices"],
  ["code", "Code"],
];

function render({ model, el }) {
  const host = frame(el, "tile-player", "Tile player");
  const hatch = hatches();
  const get = (key) => model.get(key);
  let trouble = "",
    timer = null,
    cached = {};

  // -- Controls
  const warning = make("p", { class: "warning", role: "alert", hidden: true });
  const complain = (text) => {
    trouble = text;
    warning.textContent = text;
    warning.hidden = !text;
  };
  const restart = (settings) => {
    complain("");
    const { row, col } = { row: get("row"), col: get("col"), ...settings };
    const sizes = { M: get("M"), N: get("N"), tile: get("tile"), ...settings };
    put(model, {
      ...settings,
      step: 0,
      row: Math.min(row, cdiv(sizes.M, sizes.tile) * sizes.tile - 1),
      col: Math.min(col, cdiv(sizes.N, sizes.tile) * sizes.tile - 1),
    });
  };
  const setTile = (T) => {
    const found = tileTrouble(T);
    if (found) complain(found);
    else restart({ tile: T });
  };
  const setSize = (name) => (n) => {
    if (n < 1 || n > LARGEST) complain(`${name} = ${n}: the player shows sizes of 1 to ${LARGEST}`);
    else restart({ [name]: n });
  };
  const tileSlider = slider("Tile", { min: 4, max: 32, write: (T) => `${T} × ${T}`, change: setTile });
  const tileField = numberField("Tile size", { min: 4, max: 32, change: setTile });
  const sizes = ["M", "N", "K"].map((name) => [
    name,
    numberField(name, { min: 1, max: LARGEST, change: setSize(name) }),
  ]);
  const barriers = [1, 2].map((i) => check(`Barrier ${i}`, (on) => take(i, on)));
  const verdict = make("output", { class: "verdict" });

  const toStep = (step) => model.set("step", clamp(step, 0, cached.moments.length - 1));
  const settle = () => model.save_changes();
  /** Put a barrier in, or take it away and go to where that is seen first. */
  const take = (i, on) => {
    restart({ [`barrier${i}`]: on });
    const { moments } = compute(settings());
    const spoilt = moments.findIndex((moment) => isSpoilt(moment, get("tile")));
    if (!on && spoilt >= 0) toStep(spoilt);
    settle();
  };
  const turn = (direction) => {
    const t = (step) => cached.moments[step].acts[0].t;
    const now = get("step"),
      last = cached.moments.length - 1;
    let next = now;
    if (direction > 0) while (next < last && t(next) === t(now)) next++;
    else {
      while (next > 0 && t(next - 1) === t(now)) next--;
      if (next === now && next > 0) for (next--; next > 0 && t(next - 1) === t(next);) next--;
    }
    toStep(next);
    settle();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    playButton.textContent = "Play";
    settle();
  };
  const start = () => {
    if (get("step") >= cached.moments.length - 1) toStep(0);
    playButton.textContent = "Pause";
    timer = setInterval(() => {
      toStep(get("step") + 1);
      if (get("step") >= cached.moments.length - 1) stop();
    }, Number(pace.input.value));
  };
  const playButton = button("Play", { class: "play", onclick: () => (timer === null ? start() : stop()) });
  const pace = choice("Pace", PACES, () => {
    if (timer !== null) {
      clearInterval(timer);
      start();
    }
  });
  pace.show(stillness() ? "700" : "250");
  const nudge = (by) => () => {
    toStep(get("step") + by);
    settle();
  };
  const position = slider("Moment", {
    min: 0,
    max: 1,
    write: (n) => `${n + 1} of ${cached.moments?.length ?? 1}`,
    change: (n) => {
      toStep(n);
      settle();
    },
  });
  host.controls.append(
    playButton,
    button("«", { "aria-label": "Back to the tile before", onclick: () => turn(-1) }),
    button("‹", { "aria-label": "One moment back", onclick: nudge(-1) }),
    button("›", { "aria-label": "One moment on", onclick: nudge(1) }),
    button("»", { "aria-label": "On to the next tile", onclick: () => turn(1) }),
    position.element,
    tileSlider.element,
    ...barriers.map((b) => b.element),
  );
  const folded = setUp(host, tileField.element, ...sizes.map(([, field]) => field.element), pace.element);
  folded.element.append(warning);

  // A phone shows one of three views at a time.
  const view = (name) => {
    host.root.dataset.view = name;
  };
  const group = unique("view");
  const views = make(
    "div",
    { class: "views", role: "radiogroup", "aria-label": "View" },
    VIEWS.map(([name, text], i) =>
      make(
        "label",
        {},
        make("input", { type: "radio", name: group, checked: !i, onchange: () => view(name) }),
        make("span", {}, text),
      ),
    ),
  );
  view(VIEWS[0][0]);

  // -- Pictures: a thread is picked with the pointer or with the arrow keys
  const matrices = draw("svg", { viewBox: `0 0 ${VIEW} ${VIEW}`, "aria-hidden": "true" });
  const sharedView = draw("svg", { viewBox: `0 0 ${VIEW} ${VIEW}`, "aria-hidden": "true" });
  const hint = make(
    "span",
    { id: unique("hint") },
    "Pick a thread in C or in shared memory: press, or use the arrow keys.",
  );
  const stage = make(
    "div",
    {
      class: "stage",
      tabindex: "0",
      role: "group",
      "aria-label": "Matrices and shared memory",
      "aria-describedby": hint.id,
    },
    make("div", { class: "view-matrices" }, matrices),
    make("div", { class: "view-shared" }, sharedView),
    verdict,
  );
  const pick = (row, col) => {
    const T = get("tile"),
      down = cdiv(get("M"), T) * T,
      across = cdiv(get("N"), T) * T;
    put(model, { row: clamp(row, 0, down - 1), col: clamp(col, 0, across - 1) });
  };
  stage.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    pick(get("row") + move[0], get("col") + move[1]);
  });
  const at = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * VIEW, ((event.clientY - box.top) / box.height) * VIEW];
  };
  let layout = null;
  matrices.addEventListener("pointerdown", (event) => {
    const [x, y] = at(matrices, event);
    const col = Math.floor((x - layout.xC) / layout.u),
      row = Math.floor((y - layout.yC) / layout.u);
    const T = get("tile");
    if (row >= 0 && col >= 0 && row < cdiv(get("M"), T) * T && col < cdiv(get("N"), T) * T) pick(row, col);
  });
  sharedView.addEventListener("pointerdown", (event) => {
    const [x, y] = at(sharedView, event),
      T = get("tile"),
      cell = 178 / T;
    const tx = Math.floor((x - (x < 200 ? 10 : 212)) / cell),
      ty = Math.floor((y - 24) / cell);
    const corner = (n) => Math.floor(n / T) * T;
    if (tx >= 0 && ty >= 0 && tx < T && ty < T) pick(corner(get("row")) + ty, corner(get("col")) + tx);
  });
  const code = make("ol", { class: "code", tabindex: "0", "aria-label": "The loop of the kernel" });
  const sum = make("p", { class: "sum" });
  const found = make("summary");
  const race = make("details", { class: "race" }, found);
  const gpu = choice(
    "Occupancy and speeds on",
    Object.entries(get("gpus")).map(([key, sheet]) => [key, sheet.name]),
    (key) => put(model, { gpu: key }),
  );
  const block = make("div", { class: "scroll" }),
    product = make("div", { class: "scroll" });
  const speeds = draw("svg", { viewBox: "0 0 400 190", role: "img" });
  const speedText = make("p", { class: "source" });
  const yourGpu = make("a", {}, "Run on your GPU");
  host.picture.append(
    views,
    make(
      "div",
      { class: "board" },
      stage,
      make("div", { class: "side" }, make("div", { class: "view-code" }, code), sum),
    ),
    make("p", { class: "source" }, hint, model.widget_manager ? "" : [" ", yourGpu]),
  );
  host.root.append(make("div", { class: "folds" }, folded.element, host.details, race));
  host.details.querySelector("summary").textContent = "Loads, occupancy, speed";
  host.details.append(
    make(
      "div",
      { class: "columns" },
      make("div", {}, make("div", { class: "controls" }, gpu.element), block),
      make("div", {}, product, speeds, speedText),
    ),
  );
  host.root.prepend(draw("svg", { width: 0, height: 0, "aria-hidden": "true", class: "defs" }, hatch.element));

  // -- What is shown
  function settings() {
    const [M, N, K, T] = ["M", "N", "K", "tile"].map(get);
    return { M, N, K, T, row: get("row"), col: get("col"), barriers: [get("barrier1"), get("barrier2")] };
  }

  /** The run for the present settings; it is computed anew only when they change. */
  function compute(now) {
    const key = [now.K, now.T, ...now.barriers].join();
    if (cached.key !== key) cached = { key, moments: play(cdiv(now.K, now.T), now.T, ...now.barriers) };
    const thread = [now.M, now.N, now.row, now.col].join();
    if (cached.thread !== thread) Object.assign(cached, { thread, followed: followThread(cached.moments, now) });
    const sizes = [now.M, now.N].join();
    if (cached.sizes !== sizes)
      Object.assign(cached, { sizes, wrong: now.barriers.every(Boolean) ? [] : wrongElements(cached.moments, now) });
    return cached;
  }

  const groupNames = (T) => {
    const warps = cdiv(T * T, WARP),
      half = Math.ceil(warps / 2);
    const range = (a, b) => (a === b ? `warp ${a}` : `warps ${a} to ${b}`);
    const many =
      warps > 1 ? [range(0, half - 1), range(half, warps - 1)] : ["first half of the warp", "second half of the warp"];
    return many;
  };
  const deed = (act) =>
    ({
      load: `load tile ${act.t}`,
      wait: `wait at barrier ${act.barrier}`,
      open: `pass barrier ${act.barrier}`,
      multiply: `add term k = ${act.k} of tile ${act.t}`,
      store: "store to C",
      held: "are held up",
      done: "are done",
    })[act.do];

  function showSum(now, { followed }, step) {
    const { T, M, N, row, col } = now,
      { terms, counts, sums, own } = followed;
    const count = counts[step],
      last = terms[count - 1],
      t = last ? last.t : 0;
    const part = terms.slice(0, count).filter((term) => term.t === t);
    const before = sums[step] - part.reduce((n, term) => n + (term.a ?? 0) * (term.b ?? 0), 0);
    const owner = `Thread (${col % T}, ${row % T}) of block (${Math.floor(col / T)}, ${Math.floor(row / T)})`;
    const owns = row < M && col < N ? `owns C[${row}, ${col}]` : "owns no element of C, and loads all the same";
    const number = (value) => (value === null ? "?" : value < 0 ? `(${signed(value)})` : String(value));
    sum.replaceChildren(
      make("b", {}, `${owner} ${owns}. `),
      count
        ? `${before ? `${signed(before)} from the tiles before; tile ${t}: ` : `tile\u00a0${t}: `}`
        : "Nothing added yet.",
      ...part.flatMap((term, i) => [
        i ? " + " : "",
        make(
          "span",
          { class: term.wrong ? "wrong" : term.padding ? "padding" : null },
          `${number(term.a)}·${number(term.b)}`,
        ),
      ]),
      count ? make("b", {}, ` acc = ${signed(sums[step])}`) : "",
    );
    const act = cached.moments[step].acts[own];
    if (act.do === "store" || act.do === "done")
      sum.append(row < M && col < N ? ` goes to C[${row}, ${col}].` : " goes nowhere.");
  }

  function showCode(now, moment) {
    const [quick, slow] = moment.acts;
    const lines = {
      load: ["load A", "load B"],
      wait: (a) => [`barrier ${a.barrier}`],
      open: (a) => [`barrier ${a.barrier}`],
      multiply: ["multiply"],
      store: ["store"],
      held: [],
      done: [],
    };
    const at = (act) => {
      const found = lines[act.do];
      return typeof found === "function" ? found(act) : found;
    };
    code.replaceChildren(
      ...get("source").map(([name, number, text]) => {
        const removed = (name === "barrier 1" && !now.barriers[0]) || (name === "barrier 2" && !now.barriers[1]);
        const here = [at(quick).includes(name) ? "Q" : "", at(slow).includes(name) ? "S" : ""].join("");
        return make(
          "li",
          { class: `${here ? "here" : ""} ${removed ? "removed" : ""}` },
          make("span", { class: "number" }, `${number} `),
          make("span", { class: "who" }, here),
          make("code", {}, text),
        );
      }),
    );
  }

  function showRace(now, { followed, wrong }, step) {
    const line = Object.fromEntries(get("source").map(([name, number]) => [name, number]));
    const messages = raceMessages(now.T, cdiv(now.K, now.T), ...now.barriers, line);
    if (!messages.length) {
      found.textContent = now.barriers.every(Boolean)
        ? "The tracer finds nothing to complain of."
        : "One tile only: nobody comes back to overwrite it, and nothing goes wrong.";
      race.replaceChildren(found);
      return;
    }
    found.textContent = `The tracer finds ${messages.length} races. Where are they?`;
    const spoilt = followed.terms.slice(0, followed.counts[step]).filter((term) => term.wrong);
    const story = spoilt.at(-1);
    const held = (name, tile, t, x, y) => {
      if (tile === t) return "";
      const writer = `thread (${x}, ${y})`,
        cell = `s${name}[${y}, ${x}]`;
      if (tile < 0) return `${cell} before ${writer} has written anything there (? counts as 0)`;
      return tile < t
        ? `${cell} before ${writer} has written tile ${t}: it still holds tile ${tile}`
        : `${cell} after ${writer} has overwritten it with tile ${tile}`;
    };
    const T = now.T,
      tx = now.col % T,
      ty = now.row % T;
    const told =
      story &&
      [held("A", story.fromA, story.t, story.k, ty), held("B", story.fromB, story.t, tx, story.k)]
        .filter(Boolean)
        .join(", and ");
    race.replaceChildren(
      found,
      make(
        "p",
        { class: "warning" },
        messages.flatMap((text, i) => [i ? make("br") : "", text]),
      ),
      make(
        "p",
        {},
        told
          ? `In this run thread (${tx}, ${ty}) reads ${told}. `
          : "So far the thread you follow has read only what it should. ",
        `${wrong.length} of ${now.M * now.N} elements of C come out wrong when the slow warps are held up like this${wrong.length ? "" : ": a race may spare you"}.`,
      ),
    );
  }

  function showLedger(now) {
    const { M, N, K, T } = now,
      tiled = tiledModel(M, N, K, T),
      naive = naiveModel(M, N, K, T);
    const key = get("gpu"),
      sheet = get("gpus")[key],
      registers = get("registers")[key]?.[String(T)] ?? 0;
    const shared = 8 * T * T,
      fits = occupancy(T * T, registers, shared, sheet);
    const number = (n) => (n === null ? ["not alike"] : [integer(n)]);
    const factor = (old, now) => (old === null || now === null ? ["–"] : [`${short(old / now)}×`]);
    const row = (name, what) => [name, number(tiled[what]), number(naive[what]), factor(naive[what], tiled[what])];
    const rows = [
      row("global loads", "loads"),
      row("load requests", "requests"),
      row("sectors", "sectors"),
      [
        "FLOP per byte asked",
        [short(tiled.intensity)],
        [short(naive.intensity)],
        factor(tiled.intensity, naive.intensity),
      ],
    ];
    const one = [
      ["threads per block", [integer(T * T)]],
      ["warps per block", [integer(cdiv(T * T, WARP))]],
      ["blocks", [integer(cdiv(N, T) * cdiv(M, T))]],
      ["bytes of shared memory per block", [integer(shared)]],
      ["blocks per SM", [`${fits.blocks}, limited by ${fits.limiter}`]],
      ["occupancy", [percent(fits.fraction)]],
      ["loads per thread", [integer(2 * cdiv(K, T))]],
      ["intensity of the loads, T/4", [`${short(T / 4)} FLOP/byte`]],
    ];
    block.replaceChildren(
      makeTable(["one block", "tiled"], one),
      make(
        "p",
        { class: "source" },
        registers
          ? `With ${registers} registers per thread, as recorded.`
          : `Registers of tile ${T} on this GPU are not recorded and left out of account.`,
      ),
    );
    product.replaceChildren(
      makeTable(["the whole product", "tiled", "naive", "saved"], rows),
      make(
        "p",
        { class: "source" },
        `Predicted for M, N, K = ${M}, ${N}, ${K}; naive in blocks of the same size. `,
        tiled.requests === null && `A warp covers no whole rows of ${T} threads, so requests are not predicted.`,
      ),
    );
  }

  function showSpeeds(now) {
    const key = get("gpu"),
      source = get("recorded")[key] ?? `Nothing is recorded yet on the ${get("gpus")[key].name}.`;
    const points = (get("speeds")[key] ?? []).map((p) => ({
      ...p,
      kind: p.engine,
      what: `${p.engine === "cpp" ? "CUDA C++" : "Numba"} on ${p.gpu}, recorded`,
    }));
    speeds.toggleAttribute("hidden", !points.length);
    speeds.replaceChildren(...drawSpeeds(points, now.T));
    const told = (p) =>
      `${quantity(p.gflops * 1e9, "FLOP/s")} (${p.what}${p.size ? `, ${p.size}³` : ""}${p.cublas_gflops ? `, ${percent(p.gflops / p.cublas_gflops)} of cuBLAS` : ""})`;
    const at = points.filter((p) => p.tile === now.T);
    const kept = [...new Set(points.map((p) => p.tile))].sort((a, b) => a - b);
    const text = at.length
      ? `Tile ${now.T}: ${at.map(told).join("; ")}.`
      : kept.length
        ? `No speed is recorded for tile ${now.T}; recorded are ${kept.join(", ")}.`
        : "";
    speeds.setAttribute("aria-label", `Speed against tile size. ${text}`);
    const legend = points.length ? "Circle: Numba; square: CUDA C++. " : "";
    speedText.textContent = [text, legend + source].filter(Boolean).join(" ");
  }

  function show() {
    const now = settings(),
      run = compute(now);
    const step = clamp(get("step"), 0, run.moments.length - 1);
    const moment = { ...run.moments[step] };
    const { own, counts, sums } = run.followed,
      act = moment.acts[own];
    const before = run.moments.slice(0, step + 1).findLast?.(({ acts }) => acts[1].do === "open");
    moment.heldAfter = before?.acts[1].barrier;
    const names = groupNames(now.T);
    yourGpu.href = `your-gpu.html?rung=tiled&tile=${now.T}#choose-options-or-take-something-away`;
    layout = drawMatrices({ ...now, t: act.t, k: act.k, doing: act.do, wrong: run.wrong, hatch });
    matrices.replaceChildren(...layout.parts);
    sharedView.replaceChildren(...drawShared({ ...now, moment, own, names, hatch }));
    if (!trouble)
      [[tileField, now.T], ...sizes.map(([name, field]) => [field, now[name]])].forEach(([field, n]) => field.show(n));
    tileSlider.show(now.T);
    barriers.forEach((box, i) => box.show(now.barriers[i]));
    verdict.textContent = `${run.wrong.length} of ${now.M * now.N} wrong`;
    verdict.classList.toggle("bad", run.wrong.length > 0);
    folded.name(`Set-up: M, N, K = ${now.M}, ${now.N}, ${now.K}; tiles of ${now.T} × ${now.T}`);
    position.limit(run.moments.length - 1);
    position.show(step);
    gpu.show(get("gpu"));
    showCode(now, moment);
    showSum(now, run, step);
    showRace(now, run, step);
    const steps = cdiv(now.K, now.T);
    host.say(
      `Tile t = ${act.t} of ${steps}. The quick ones (${names[0]}) ${deed(moment.acts[0])}; the slow ones (${names[1]}) ${deed(moment.acts[1])}. ` +
        `The thread you follow, (${now.col % now.T}, ${now.row % now.T}), is a ${own ? "slow" : "quick"} one and has added ${counts[step]} of ${steps * now.T} terms: acc = ${signed(sums[step])}.`,
    );
    const static_ = JSON.stringify([now.M, now.N, now.K, now.T, get("gpu")]);
    if (cached.static !== static_) {
      cached.static = static_;
      showLedger(now);
      showSpeeds(now);
    }
    const tables = JSON.stringify([cached.key, cached.thread]);
    if (cached.tables !== tables) {
      cached.tables = tables;
      showTable(now, run);
    }
  }

  /** Tile by tile: what the thread carries and what it has. */
  function showTable(now, { followed }) {
    const { M, N, K, T, row, col } = now;
    const rows = Array.from({ length: cdiv(K, T) }, (_, t) => {
      const kA = t * T + (col % T),
        kB = t * T + (row % T),
        terms = followed.terms.filter((term) => term.t === t);
      const sum = followed.terms
        .filter((term) => term.t <= t)
        .reduce((n, term) => n + (term.a ?? 0) * (term.b ?? 0), 0);
      return [
        t,
        row < M && kA < K ? `A[${row}, ${kA}] = ${signed(elementA(row, kA))}` : "zero",
        kB < K && col < N ? `B[${kB}, ${col}] = ${signed(elementB(kB, col))}` : "zero",
        [integer(terms.length)],
        [integer(terms.filter((term) => term.wrong).length)],
        [signed(sum)],
      ];
    });
    host.table(
      ["tile", "loads to sA", "loads to sB", "terms added", "of them wrong", "acc after it"],
      rows,
      `Thread (${col % T}, ${row % T}) of block (${Math.floor(col / T)}, ${Math.floor(row / T)}), tile by tile`,
    );
  }

  host.onClose(() => {
    clearInterval(timer);
  });
  follow(model, ["M", "N", "K", "tile", "row", "col", "step", "barrier1", "barrier2", "gpu"], host, show);
  return () => host.close();
}

export default { render };

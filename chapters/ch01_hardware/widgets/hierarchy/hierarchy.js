/* Hierarchy: a grid on a GPU, a block on an SM, a warp at a scheduler, a thread on a core. */

import {
  make,
  draw,
  clamp,
  cdiv,
  integer,
  percent,
  frame,
  slider,
  numberField,
  numberFault,
  choice,
  hatches,
  warningLine,
  followSize,
  put,
  follow,
} from "../../../../kernels/lab/widgets/common.js";

const WARP = 32;
const SCHEDULERS = 4;
const MOST = { grid: [2147483647, 65535], block: [1024, 1024], threads: 1024 };

/** Blocks that an SM holds at once, as the occupancy calculator counts them without registers and shared memory. */
function occupancy(threads, gpu) {
  const warps = cdiv(threads, WARP);
  const byThreads = Math.floor(gpu.warps_per_sm / warps);
  const blocks = Math.min(byThreads, gpu.blocks_per_sm);
  return {
    blocks,
    warps: blocks * warps,
    threads: blocks * threads,
    fraction: (blocks * warps) / gpu.warps_per_sm,
    limiter: byThreads <= gpu.blocks_per_sm ? "threads" : "blocks",
  };
}

/** What becomes of a launch on a GPU, if all blocks take equally long. */
function placement(grid, block, gpu) {
  const blocks = grid[0] * grid[1];
  const threads = block[0] * block[1];
  const warps = cdiv(threads, WARP);
  const resident = occupancy(threads, gpu);
  const atOnce = gpu.sms * resident.blocks;
  const waves = cdiv(blocks, atOnce);
  const last = blocks - (waves - 1) * atOnce;
  return {
    blocks,
    threads,
    warps,
    resident,
    atOnce,
    waves,
    last,
    idleLanes: warps * WARP - threads,
    lastShare: last / atOnce,
    used: blocks / (waves * atOnce),
  };
}

/** Blocks on each SM in one wave (counted from 0), dealt one by one to the SMs in turn. */
function dealt(wave, { waves, last, atOnce }, sms) {
  const count = wave < waves - 1 ? atOnce : last;
  return Array.from({ length: sms }, (_, sm) => cdiv(count - sm, sms));
}

/** Where a thread of a block sits. */
function seat(thread, block) {
  const warp = Math.floor(thread / WARP);
  return {
    tx: thread % block[0],
    ty: Math.floor(thread / block[0]),
    warp,
    lane: thread % WARP,
    scheduler: warp % SCHEDULERS,
  };
}

/** What is wrong with the texts of the four fields, in one line; empty if nothing is. */
function fault(grid, block) {
  for (const [name, texts, most] of [
    ["grid", grid, MOST.grid],
    ["block", block, MOST.block],
  ]) {
    for (const [i, axis] of ["x", "y"].entries()) {
      const wrong = numberFault(`${name} ${axis}`, texts[i], most[i]);
      if (wrong) return wrong;
    }
  }
  const [x, y] = block.map(Number);
  if (x * y <= MOST.threads) return "";
  return `A block of ${x} × ${y} has ${integer(x * y)} threads and may have ${MOST.threads}: with x = ${x}, y goes up to ${Math.floor(MOST.threads / x)}.`;
}

/** Pixels that a letter of the small text takes, at most on average. */
const LETTER = 6;

function render({ model, el }) {
  const host = frame(el, "hierarchy", "Grid, blocks, warps and threads on a GPU");
  const gpus = model.get("gpus");
  const state = () => {
    const grid = model.get("grid"),
      block = model.get("block"),
      gpu = gpus[model.get("gpu")];
    const found = placement(grid, block, gpu);
    return {
      grid,
      block,
      gpu,
      ...found,
      wave: clamp(model.get("wave"), 0, found.waves - 1),
      thread: clamp(model.get("thread"), 0, found.threads - 1),
    };
  };

  // ---- Controls ----
  const machine = choice(
    "GPU",
    Object.entries(gpus).map(([key, gpu]) => [key, gpu.name]),
    (gpu) => put(model, { gpu }),
  );
  const warning = warningLine(host);
  const fields = ["grid x", "grid y", "block x", "block y"].map((name, i) =>
    numberField(name, { min: 1, max: [...MOST.grid, ...MOST.block][i], change() {} }),
  );
  const entered = () => {
    const texts = fields.map((field) => field.input.value);
    const wrong = fault(texts.slice(0, 2), texts.slice(2));
    warning.show(wrong);
    if (!wrong) put(model, { grid: texts.slice(0, 2).map(Number), block: texts.slice(2).map(Number) });
  };
  fields.forEach((field) => field.input.addEventListener("input", entered));
  const along = (name, index) => (value) => {
    warning.show("");
    put(model, { [name]: model.get(name).map((old, i) => (i === index ? value : old)) });
  };
  const sliders = {
    grid: slider("Blocks along x", { min: 1, max: 4000, write: integer, change: along("grid", 0) }),
    block: slider("Threads along x", { min: 1, max: 1024, write: integer, change: along("block", 0) }),
    wave: slider("Wave", { min: 1, max: 1, write: integer, change: (wave) => put(model, { wave: wave - 1 }) }),
    thread: slider("Thread of a block", { min: 0, max: 1, write: integer, change: (thread) => put(model, { thread }) }),
  };
  host.controls.append(
    machine.element,
    ...fields.map((f) => f.element),
    ...Object.values(sliders).map((s) => s.element),
  );

  // ---- Picture: drawn at the width it has, so that its text keeps its size ----
  const image = draw("svg", { role: "img" });
  host.picture.append(image);
  const marks = hatches();
  let seats = null; // where the cells of the block lie, for the pointer

  /** A heading and what belongs to it, in as many lines as its parts take: the elements, and where they end. */
  function heading(y, width, head, parts) {
    const lines = [];
    for (const part of parts) {
      const together = [lines.at(-1), part].filter(Boolean).join("; ");
      if (lines.length && together.length * LETTER < width) lines[lines.length - 1] = together;
      else lines.push(part);
    }
    const elements = [
      draw("text", { x: 0, y: y + 14, class: "head" }, head),
      lines.map((text, i) => draw("text", { x: 0, y: y + 30 + 14 * i, class: "small faint" }, text)),
    ];
    return [elements, y + 24 + 14 * lines.length];
  }
  // All cells of one look are one path: few elements are quick to draw.
  const cellAt = (x, y, width, height) => `M${x} ${y}h${width}v${height}h${-width}z`;
  const cells = (paths) => Object.entries(paths).map(([name, d]) => d && draw("path", { d, class: name }));
  const written = (x, y, text) => draw("text", { x, y, class: "small middle" }, text);

  /** All SMs in one wave: each is filled as high as it has resident blocks, and tells how many. */
  function drawChip(s, width, top) {
    const across = Math.min(s.gpu.sms, Math.floor(width / (width < 480 ? 19 : 27)));
    const step = width / across,
      high = 20;
    const paths = { block: "", room: "", "room chosen": cellAt(1, top, step - 3, high) };
    const numbers = dealt(s.wave, s, s.gpu.sms).map((blocks, sm) => {
      const x = (sm % across) * step + 1,
        y = top + Math.floor(sm / across) * (high + 2);
      const fill = (blocks / s.resident.blocks) * high;
      if (fill) paths.block += cellAt(x, y + high - fill, step - 3, fill);
      paths.room += cellAt(x, y, step - 3, high);
      return written(x + step / 2 - 1, y + 14, blocks || "–");
    });
    return [[cells(paths), numbers], top + cdiv(s.gpu.sms, across) * (high + 2)];
  }

  /** One bar a wave, as high as the share of places it uses; the middle is left out when there are too many. */
  function drawWaves(s, width, top) {
    const step = clamp(Math.floor(width / s.waves), 14, 56),
      room = Math.floor(width / step),
      high = 34;
    const half = Math.floor((room - 2) / 2);
    const range = (length, first) => Array.from({ length }, (_, i) => first + i);
    const shown = s.waves <= room ? range(s.waves, 0) : [...range(half, 0), null, ...range(half, s.waves - half)];
    const paths = { block: "", room: "", "room chosen": "" };
    shown.forEach((wave, i) => {
      if (wave === null) return;
      const fill = (wave === s.waves - 1 ? s.lastShare : 1) * high;
      paths.block += cellAt(i * step + 1, top + high - fill, step - 4, fill);
      paths[wave === s.wave ? "room chosen" : "room"] += cellAt(i * step + 1, top, step - 4, high);
    });
    const gap = shown.indexOf(null);
    return [[cells(paths), gap > 0 && draw("text", { x: gap * step + 1, y: top + high - 4 }, "…")], top + high];
  }

  /** The places for warps of the first SM, one row a scheduler; each tells which of the SM's blocks it belongs to. */
  function drawSm(s, width, top) {
    const label = 86,
      slots = s.gpu.warps_per_sm / SCHEDULERS,
      step = (width - label) / slots,
      high = 18;
    const blocks = dealt(s.wave, s, s.gpu.sms)[0],
      mine = seat(s.thread, s.block).warp;
    const paths = { block: "", "block odd": "", room: "", pick: "" },
      texts = [];
    for (let place = 0; place < s.gpu.warps_per_sm; place += 1) {
      const scheduler = place % SCHEDULERS,
        owner = Math.floor(place / s.warps);
      const x = label + Math.floor(place / SCHEDULERS) * step,
        y = top + scheduler * (high + 2);
      paths[owner >= blocks ? "room" : owner % 2 ? "block odd" : "block"] += cellAt(x, y, step - 1, high);
      if (owner < blocks) texts.push(written(x + step / 2, y + 13, owner));
      if (place === mine) paths.pick = cellAt(x - 1, y - 1, step + 1, high + 2);
    }
    for (let scheduler = 0; scheduler < SCHEDULERS; scheduler += 1) {
      texts.push(
        draw("text", { x: 0, y: top + scheduler * (high + 2) + 13, class: "small" }, `scheduler ${scheduler}`),
      );
    }
    return [[cells(paths), texts], top + SCHEDULERS * (high + 2)];
  }

  /** One block, a row per warp: its threads, and the lanes that have none. */
  function drawBlock(s, width, top) {
    const label = 62,
      cell = (width - label) / WARP,
      high = clamp(Math.floor(200 / s.warps), 7, 16);
    const path = { thread: "", odd: "", idle: "" };
    const at = (thread) => [label + (thread % WARP) * cell, top + Math.floor(thread / WARP) * high];
    for (let place = 0; place < s.warps * WARP; place += 1) {
      const [x, y] = at(place);
      const kind = place >= s.threads ? "idle" : seat(place, s.block).ty % 2 ? "odd" : "thread";
      path[kind] += cellAt(x, y, cell - 1, high - 1);
    }
    const [x, y] = at(s.thread);
    const rows = high < 12 ? [0, s.warps - 1] : Array.from({ length: s.warps }, (_, i) => i);
    seats = { top, label, cell, high };
    const parts = [
      [...new Set(rows)].map((warp) =>
        draw("text", { x: 0, y: top + (warp + 0.5) * high + 4, class: "small" }, `warp ${warp}`),
      ),
      draw("path", { d: path.thread, class: "lane" }),
      draw("path", { d: path.odd, class: "lane odd" }),
      path.idle && draw("path", { d: path.idle, class: "idle", fill: marks.fill("none") }),
      draw("rect", { x: x - 1, y: y - 1, width: cell + 1, height: high + 1, class: "pick" }),
    ];
    return [parts, top + s.warps * high];
  }

  function redraw() {
    const s = state(),
      width = Math.max(280, host.picture.clientWidth);
    const blocks = dealt(s.wave, s, s.gpu.sms)[0];
    const parts = [marks.element];
    let y = 0;
    for (const [drawing, left, right] of [
      [
        drawChip,
        `Grid on the GPU: wave ${integer(s.wave + 1)} of ${integer(s.waves)}`,
        [`${s.gpu.sms} SMs`, "the number is how many blocks each holds"],
      ],
      [
        drawWaves,
        "Waves: how much of the GPU each one fills",
        [`the last: ${integer(s.last)} of ${integer(s.atOnce)} places for blocks`],
      ],
      [
        drawSm,
        `Blocks on the first SM: ${blocks}`,
        [`four schedulers, ${s.gpu.cores_per_sm / SCHEDULERS} cores each`, "numbered by block"],
      ],
      [
        drawBlock,
        `One block: ${s.threads} threads in ${s.warps} ${s.warps === 1 ? "warp" : "warps"}`,
        [
          "32 lanes per warp",
          s.block[1] > 1 && "strong: odd rows of the block",
          s.idleLanes && "ruled: no thread",
        ].filter(Boolean),
      ],
    ]) {
      const [said, top] = heading(y, width, left, right);
      const [drawn, end] = drawing(s, width, top);
      parts.push(said, drawn);
      y = end + 18;
    }
    image.setAttribute("viewBox", `0 0 ${width} ${y}`);
    image.replaceChildren(...parts.flat(Infinity).filter(Boolean));

    machine.show(model.get("gpu"));
    [...s.grid, ...s.block].forEach((value, i) => {
      if (warning.quiet) fields[i].show(value);
    });
    sliders.grid.limit(Math.max(4000, s.grid[0]));
    sliders.block.limit(Math.floor(MOST.threads / s.block[1]));
    sliders.wave.limit(s.waves);
    sliders.thread.limit(s.threads - 1);
    sliders.grid.show(s.grid[0]);
    sliders.block.show(s.block[0]);
    sliders.wave.show(s.wave + 1);
    sliders.thread.show(s.thread);

    const me = seat(s.thread, s.block);
    image.setAttribute(
      "aria-label",
      `${integer(s.blocks)} blocks on ${s.gpu.sms} SMs in ${integer(s.waves)} waves; the text below says the rest.`,
    );
    host.say(
      `${integer(s.blocks)} blocks of ${s.threads} threads on the ${s.gpu.name}: ${s.resident.blocks} of them ${s.resident.blocks === 1 ? "fits" : "fit"} on an SM, limited by its places for ` +
        `${s.resident.limiter}, so ${integer(s.atOnce)} run at once. That takes ${s.waves === 1 ? "1 wave, which" : `${integer(s.waves)} waves; the last one`} fills ${percent(s.lastShare)} ` +
        `of the places. ${s.idleLanes ? `In the last warp of every block ${s.idleLanes} lanes have no thread.` : "Every lane has a thread."} ` +
        `Thread ${s.thread} (x ${me.tx}, y ${me.ty}) is lane ${me.lane} of warp ${me.warp}; in the first block that is a warp of scheduler ${me.scheduler}.`,
    );
    host.table(
      ["quantity", "value"],
      [
        ["blocks in the grid", [integer(s.blocks)]],
        ["threads per block", [integer(s.threads)]],
        ["warps per block", [integer(s.warps)]],
        ["lanes without a thread, per block", [integer(s.idleLanes)]],
        [`blocks on an SM at once (limit: places for ${s.resident.limiter})`, [integer(s.resident.blocks)]],
        ["threads on an SM at once", [integer(s.resident.threads)]],
        ["occupancy: places for warps taken on a full SM", [percent(s.resident.fraction)]],
        ["cores per scheduler", [integer(s.gpu.cores_per_sm / SCHEDULERS)]],
        ["blocks on the GPU at once", [integer(s.atOnce)]],
        ["waves", [integer(s.waves)]],
        ["blocks in the last wave", [integer(s.last)]],
        ["places the last wave fills", [percent(s.lastShare)]],
        ["places filled, all waves together", [percent(s.used)]],
      ],
      `Data sheet: ${s.gpu.name}, ${s.gpu.sms} SMs. Registers and shared memory are left out of account.`,
    );
  }

  const picked = (event) => {
    const box = image.getBoundingClientRect();
    const scale = image.viewBox.baseVal.width / box.width;
    const lane = Math.floor(((event.clientX - box.left) * scale - seats.label) / seats.cell);
    const warp = Math.floor(((event.clientY - box.top) * scale - seats.top) / seats.high);
    const thread = warp * WARP + lane;
    if (lane >= 0 && lane < WARP && warp >= 0 && thread < state().threads && thread !== model.get("thread"))
      put(model, { thread });
  };
  image.addEventListener("pointermove", picked);
  image.addEventListener("pointerdown", picked);

  host.notes.append(
    make(
      "p",
      { class: "source" },
      "Predicted, as if all blocks took equally long and were dealt out in turn. On a GPU a block starts wherever another one ends.",
    ),
  );
  followSize(host, redraw);
  follow(model, ["gpu", "grid", "block", "wave", "thread"], host, redraw);
  return host.close;
}

export const formulas = { occupancy, placement, dealt, seat, fault };
export default { render };

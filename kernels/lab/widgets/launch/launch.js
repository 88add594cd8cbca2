/* Launch: which thread adds which elements, which threads the guard stops, and which lanes have no thread at all. */

import {
  make,
  draw,
  unique,
  clamp,
  cdiv,
  integer,
  percent,
  frame,
  slider,
  numberField,
  numberFault,
  check,
  hatches,
  warningLine,
  followSize,
  put,
  follow,
  keys,
} from "../common.js";

const WARP = 32;
const SECTOR = 8; // float32 elements: 32 bytes
const MOST = { n: 100000, block: 1024 };

/** Who works and who does not when cdiv(n, block) blocks add two vectors of n elements. */
function count(n, block) {
  const blocks = cdiv(n, block);
  const warpsPerBlock = cdiv(block, WARP);
  let requests = 0,
    sectors = 0; // for one array, with the guard
  for (let b = 0; b < blocks; b += 1) {
    for (let w = 0; w < warpsPerBlock; w += 1) {
      const first = b * block + w * WARP;
      const end = Math.min(first + WARP, (b + 1) * block, n);
      if (end <= first) continue;
      requests += 1;
      sectors += Math.floor((end - 1) / SECTOR) - Math.floor(first / SECTOR) + 1;
    }
  }
  const threads = blocks * block,
    warps = blocks * warpsPerBlock;
  return { blocks, threads, warps, requests, sectors, beyond: threads - n, empty: warps * WARP - threads };
}

/** Where the thread with this number in the grid sits, and whether it has an element. */
function seat(i, n, block) {
  const threadIdx = i % block;
  return {
    blockIdx: Math.floor(i / block),
    threadIdx,
    warp: Math.floor(threadIdx / WARP),
    lane: threadIdx % WARP,
    works: i < n,
  };
}

/** The warps to draw, as pairs [block, warp]; null stands for those left out between the first and the last ones. */
function rowsToDraw(n, block, most) {
  const warpsPerBlock = cdiv(block, WARP),
    warps = cdiv(n, block) * warpsPerBlock;
  const row = (i) => [Math.floor(i / warpsPerBlock), i % warpsPerBlock];
  if (warps <= most) return Array.from({ length: warps }, (_, i) => row(i));
  const head = Math.floor((most - 1) / 2),
    tail = most - 1 - head;
  return [
    ...Array.from({ length: head }, (_, i) => row(i)),
    null,
    ...Array.from({ length: tail }, (_, i) => row(warps - tail + i)),
  ];
}

/** What is wrong with the texts of the two fields, in one line; empty if nothing is. */
function fault(n, block) {
  return numberFault("n", n, MOST.n) || numberFault("The block size", block, MOST.block);
}

function render({ model, el }) {
  const host = frame(el, "launch", "Threads of a vector add");
  const state = () => {
    const n = model.get("n"),
      block = model.get("block"),
      counted = count(n, block);
    return { n, block, guard: model.get("guard"), ...counted, i: clamp(model.get("thread"), 0, counted.threads - 1) };
  };

  // ---- Controls ----
  const warning = warningLine(host);
  const fields = {
    n: numberField("n, elements", { min: 1, max: MOST.n, change() {} }),
    block: numberField("threads per block", { min: 1, max: MOST.block, change() {} }),
  };
  const entered = () => {
    const wrong = fault(fields.n.input.value, fields.block.input.value);
    warning.show(wrong);
    if (!wrong) put(model, { n: Number(fields.n.input.value), block: Number(fields.block.input.value) });
  };
  const slide = (name) => (value) => {
    warning.show("");
    put(model, { [name]: value });
  };
  const sliders = {
    n: slider("Elements", { min: 1, max: 200, write: integer, change: slide("n") }),
    block: slider("Block", { min: 1, max: 128, write: integer, change: slide("block") }),
    thread: slider("Thread", { min: 0, max: 1, write: integer, change: slide("thread") }),
  };
  const guard = check("guard: if i < c.size", (on) => put(model, { guard: on }));
  Object.values(fields).forEach((field) => field.input.addEventListener("input", entered));
  host.controls.append(
    fields.n.element,
    sliders.n.element,
    fields.block.element,
    sliders.block.element,
    guard.element,
    sliders.thread.element,
  );

  // ---- Picture: one row per warp, drawn at the width it has ----
  const image = draw("svg", { role: "img" });
  const formula = make("p", { class: "formula" });
  host.picture.append(image, formula);
  const marks = hatches();
  const cross = unique("cross");
  let drawn = null; // where the cells lie, for the pointer

  function redraw() {
    const s = state(),
      width = Math.max(280, host.picture.clientWidth);
    const rows = rowsToDraw(s.n, s.block, 24);
    const label = 92,
      high = clamp(Math.floor(260 / rows.length), 11, 24),
      cell = (width - label) / WARP;
    const numbered = cell >= 16 && high >= 13 && s.threads <= 1000;
    const path = { works: "", beyond: "", empty: "" };
    const parts = [];
    let pick = null;
    rows.forEach((row, place) => {
      const y = place * high;
      if (row === null) {
        const left = s.warps - rows.length + 1;
        parts.push(
          draw(
            "text",
            { x: 0, y: y + high / 2 + 4, class: "small faint" },
            `… ${integer(left)} more ${left === 1 ? "warp" : "warps"}`,
          ),
        );
        return;
      }
      const [block, warp] = row;
      parts.push(draw("text", { x: 0, y: y + high / 2 + 4, class: "small" }, `block ${block}, warp ${warp}`));
      for (let lane = 0; lane < WARP; lane += 1) {
        const threadIdx = warp * WARP + lane,
          i = block * s.block + threadIdx,
          x = label + lane * cell;
        const kind = threadIdx >= s.block ? "empty" : i < s.n ? "works" : "beyond";
        path[kind] += `M${x} ${y}h${cell - 1.5}v${high - 1.5}h${1.5 - cell}z`;
        if (numbered && kind !== "empty")
          parts.push(draw("text", { x: x + cell / 2 - 0.75, y: y + high / 2 + 3.5, class: "number" }, i));
        if (kind !== "empty" && i === s.i) pick = [x, y];
      }
    });
    drawn = { rows, label, high, cell };
    const high0 = rows.length * high;
    image.setAttribute("viewBox", `0 0 ${width} ${high0 + 4}`);
    image.replaceChildren(
      marks.element,
      draw(
        "defs",
        {},
        draw(
          "pattern",
          { id: cross, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
          draw("path", { d: "M0 6L6 0", class: "stroke" }),
        ),
      ),
      draw("path", { d: path.works, class: "works" }),
      draw("path", { d: path.beyond, class: s.guard ? "beyond" : "beyond wrong", fill: `url(#${cross})` }),
      draw("path", { d: path.empty, class: "empty" }),
      ...parts,
      ...(pick
        ? [draw("rect", { x: pick[0] - 1.5, y: pick[1] - 1, width: cell + 1.5, height: high + 0.5, class: "pick" })]
        : []),
    );

    if (warning.quiet) {
      fields.n.show(s.n);
      fields.block.show(s.block);
    }
    sliders.n.limit(Math.max(200, s.n));
    sliders.block.limit(Math.max(128, s.block));
    sliders.thread.limit(s.threads - 1);
    sliders.n.show(s.n);
    sliders.block.show(s.block);
    sliders.thread.show(s.i);
    guard.show(s.guard);

    const me = seat(s.i, s.n, s.block);
    const does = me.works
      ? `c[${s.i}] = a[${s.i}] + b[${s.i}]`
      : s.guard
        ? "no element: the guard stops it"
        : `reads a[${s.i}] and b[${s.i}], writes c[${s.i}]: none of them exists`;
    formula.textContent =
      `i = blockIdx.x * blockDim.x + threadIdx.x = ${me.blockIdx} * ${s.block} + ${me.threadIdx} = ${s.i};  ` +
      `${s.i} < ${s.n} is ${me.works}:  ${does}`;
    sliders.thread.input.setAttribute(
      "aria-valuetext",
      `${s.i}: block ${me.blockIdx}, thread ${me.threadIdx}, warp ${me.warp}, lane ${me.lane}; ${does}`,
    );
    const idle = s.beyond
      ? s.guard
        ? `${integer(s.beyond)} have no element, and the guard stops them.`
        : `Without the guard ${integer(s.beyond)} reach past the end: elements ${integer(s.n)} to ${integer(s.threads - 1)} do not exist.`
      : "All have an element, so the guard stops nobody.";
    const seats = s.empty ? ` ${integer(s.empty)} lanes have no thread, since ${s.block} is not a multiple of 32.` : "";
    image.setAttribute("aria-label", `${integer(s.warps)} warps in rows of 32 lanes; the text below says who works.`);
    host.say(
      `cdiv(${s.n}, ${s.block}) = ${integer(s.blocks)} ${s.blocks === 1 ? "block" : "blocks"} of ${s.block}: ${integer(s.threads)} threads for ${integer(s.n)} elements. ${idle}${seats}`,
    );
    host.table(
      ["quantity", "value"],
      [
        ["elements n", [integer(s.n)]],
        ["blocks: cdiv(n, block)", [integer(s.blocks)]],
        ["threads started", [integer(s.threads)]],
        ["threads with an element", [integer(s.n)]],
        [s.guard ? "threads the guard stops" : "threads out of bounds", [integer(s.beyond)]],
        ["warps", [integer(s.warps)]],
        ["lanes without a thread", [integer(s.empty)]],
        ...(s.guard
          ? [
              ["requests for a, one per warp with work", [integer(s.requests)]],
              ["sectors of a that these touch", [integer(s.sectors)]],
            ]
          : []),
        ["lanes at work, of all lanes", [percent(s.n / (s.warps * WARP))]],
      ],
    );
  }

  const picked = (event) => {
    const box = image.getBoundingClientRect(),
      scale = image.viewBox.baseVal.width / box.width;
    const lane = Math.floor(((event.clientX - box.left) * scale - drawn.label) / drawn.cell);
    const row = drawn.rows[Math.floor(((event.clientY - box.top) * scale) / drawn.high)];
    if (!row || lane < 0 || lane >= WARP) return;
    const threadIdx = row[1] * WARP + lane,
      block = model.get("block");
    const thread = row[0] * block + threadIdx;
    if (threadIdx < block && thread !== model.get("thread")) put(model, { thread });
  };
  image.addEventListener("pointermove", picked);
  image.addEventListener("pointerdown", picked);

  host.notes.append(
    keys(
      ["works", "has an element"],
      ["beyond", "a thread without an element", { fill: `url(#${cross})` }],
      ["empty", "a lane without a thread"],
    ),
  );
  followSize(host, redraw);
  follow(model, ["n", "block", "guard", "thread"], host, redraw);
  return host.close;
}

export const formulas = { count, seat, rowsToDraw, fault };
export default { render };

/* The blocks that run at the same time, in row order and in groups of rows. The formulas equal those of __init__.py. */

import {
  draw,
  clamp,
  cdiv,
  short,
  integer,
  quantity,
  frame,
  slider,
  hatches,
  followSize,
  put,
  follow,
  keys,
} from "../../../../kernels/lab/widgets/common.js";

const MOST = { group: 32, running: 1024 };

/** Row and column of the tile of C that a block takes. */
function tileOf(number, { across, down, group }) {
  const top = Math.floor(number / (group * across)) * group,
    height = Math.min(group, down - top),
    within = number % (group * across);
  return [top + (within % height), Math.floor(within / height)];
}

const wavesOf = ({ across, down, running }) => cdiv(across * down, running);

/** The tiles of the blocks of a wave, and the strips of A and B that these need. */
function needed(s) {
  const wave = Math.min(s.wave, wavesOf(s) - 1),
    first = wave * s.running,
    last = Math.min(first + s.running, s.across * s.down);
  const tiles = Array.from({ length: last - first }, (_, i) => tileOf(first + i, s));
  const A = new Set(tiles.map(([row]) => row)),
    B = new Set(tiles.map(([, column]) => column));
  const bytes = 4 * s.K * (A.size * s.BM + B.size * s.BN);
  return { wave, tiles, A: [...A], B: [...B], bytes, intensity: (tiles.length * 2 * s.BM * s.BN * s.K) / bytes };
}

function render({ model, el }) {
  const host = frame(el, "block-order", "Blocks that run at the same time");
  const names = ["across", "down", "group", "running", "wave", "BM", "BN", "K"];
  const set = (name) => (value) => put(model, { [name]: value });
  const rows = (group) => (group === 1 ? "row order" : `${group} rows at a time`);
  let waves = 1;
  const sliders = {
    group: slider("Group", { min: 1, max: MOST.group, write: rows, change: set("group") }),
    running: slider("Running blocks", { min: 1, max: MOST.running, write: integer, change: set("running") }),
    wave: slider("Wave", {
      min: 0,
      max: 1,
      write: (wave) => `${wave + 1} of ${waves}`,
      change: set("wave"),
    }),
  };
  host.controls.append(...Object.values(sliders).map((each) => each.element));
  const image = draw("svg", { role: "img" });
  host.picture.append(image);
  const marks = hatches();

  host.notes.append(
    keys(
      ["c", "tiles of C whose blocks run"],
      ["a", "strips of A that they need"],
      ["b", "strips of B that they need"],
    ),
  );

  /** One grid of tiles of C, with the strips of A at its left and those of B above it. */
  function panel(s, found, left, side, title) {
    const band = 12,
      cell = (side - band - 4) / Math.max(s.across, s.down, 8),
      x = left + band + 4,
      y = 22 + band + 4;
    const [width, height] = [s.across * cell, s.down * cell];
    const box = (x0, y0, w, h) => `M${x0} ${y0}h${w}v${h}h${-w}z`;
    const shapes = {
      c: found.tiles.map(([row, column]) => box(x + column * cell, y + row * cell, cell, cell)).join(""),
      a: found.A.map((row) => box(left, y + row * cell, band, cell)).join(""),
      b: found.B.map((column) => box(x + column * cell, 22, cell, band)).join(""),
    };
    return [
      draw("text", { x, y: 14, class: "small" }, title),
      ...Object.entries(shapes).flatMap(([kind, d]) => [
        draw("path", { d, class: kind }),
        draw("path", { d, class: "hatch", fill: marks.fill(kind) }),
      ]),
      draw("path", {
        class: "edge",
        d: box(x, y, width, height) + box(left, y, band, height) + box(x, 22, width, band),
      }),
    ];
  }

  function redraw() {
    const s = Object.fromEntries(names.map((name) => [name, model.get(name)]));
    const plain = needed({ ...s, group: 1 }),
      grouped = needed(s);
    waves = wavesOf(s);
    const width = clamp(host.picture.clientWidth, 280, 640),
      gap = width < 480 ? 12 : 28,
      side = (width - gap) / 2;
    const tall = 22 + 16 + ((side - 16) * s.down) / Math.max(s.across, s.down, 8) + 2;
    image.setAttribute("viewBox", `0 0 ${width} ${tall}`);
    image.style.maxWidth = `${width}px`;
    image.replaceChildren(
      marks.element,
      ...panel(s, plain, 0, side - 1, "row order"),
      ...panel(s, grouped, side + gap, side - 1, rows(s.group)),
    );

    sliders.running.limit(Math.min(MOST.running, s.across * s.down));
    sliders.wave.limit(waves - 1);
    for (const [name, each] of Object.entries(sliders)) each.show(name === "wave" ? grouped.wave : s[name]);
    const count = ({ A, B }) => `${A.length} strips of A and ${B.length} of B`;
    const share = (found) => quantity(found.bytes, "B");
    const text =
      `${integer(grouped.tiles.length)} blocks run at the same time. In row order they need ${count(plain)}: ${share(plain)}. ` +
      (s.group === 1
        ? "Move the group: blocks that form a square need fewer."
        : `${s.group} rows at a time they need ${count(grouped)}: ${share(grouped)}, ${short(grouped.bytes / plain.bytes)} times as many bytes.`);
    image.setAttribute("aria-label", `Two grids of ${s.across} × ${s.down} tiles of C. ${text}`);
    host.say(text);
    const both = [plain, grouped];
    host.table(
      ["quantity", "row order", rows(s.group)],
      [
        ["strips of A, rows of tiles", ...both.map((found) => [String(found.A.length)])],
        ["strips of B, columns of tiles", ...both.map((found) => [String(found.B.length)])],
        ["strips in all", ...both.map((found) => [String(found.A.length + found.B.length)])],
        ["bytes of the strips", ...both.map((found) => [share(found)])],
        ["FLOP per byte of the strips", ...both.map((found) => [short(found.intensity)])],
      ],
      `Tiles of ${s.BM} × ${s.BN}, K is ${integer(s.K)}: a strip of A is ${quantity(4 * s.BM * s.K, "B")}, one of B ${quantity(4 * s.BN * s.K, "B")}.`,
    );
  }

  followSize(host, redraw);
  follow(model, names, host, redraw);
  return host.close;
}

export const formulas = { tileOf, needed };
export default { render };

/* Banks: which bank of shared memory each lane of a warp wants, and in which wavefront it gets its word. */

import {
  make,
  draw,
  integer,
  frame,
  slider,
  choice,
  check,
  followSize,
  put,
  follow,
} from "../../../../kernels/lab/widgets/common.js";

const BANKS = 32;
const LANES = 32;
const PAD_LIMIT = 8;
const STRIDE_LIMIT = 64;
const ACCESSES = [
  ["row", "a row: s[ty, tx]"],
  ["column", "a column: s[tx, ty]"],
  ["broadcast", "one of each row: s[ty, 0]"],
  ["stride", "a stride: s[stride · lane]"],
];

/** The word that each of the 32 lanes wants. */
function words({ access, side, pad, swizzle, stride }) {
  return Array.from({ length: LANES }, (_, lane) => {
    if (access === "stride") return stride * lane;
    const tx = lane % side,
      ty = Math.floor(lane / side);
    const [row, col] = { row: [ty, tx], column: [tx, ty], broadcast: [ty, 0] }[access];
    return row * (side + pad) + (swizzle ? col ^ row : col);
  });
}

/** The wavefront, from 0 on, in which each lane is served: each bank hands out one of its words after the other. */
function served(wanted) {
  const queues = Array.from({ length: BANKS }, () => []);
  return wanted.map((word) => {
    const queue = queues[word % BANKS];
    if (!queue.includes(word)) queue.push(word);
    return queue.indexOf(word);
  });
}

/** What a request costs: different words, banks in use, wavefronts. */
function cost(wanted) {
  return {
    words: new Set(wanted).size,
    banks: new Set(wanted.map((word) => word % BANKS)).size,
    wavefronts: Math.max(...served(wanted)) + 1,
  };
}

/** Rows and columns of what lies in memory: the tile with its padding, or, for a stride, rows of a word of each bank. */
function memory({ access, side, pad }, wanted) {
  if (access === "stride") return { rows: Math.floor(Math.max(...wanted) / BANKS) + 1, columns: BANKS, used: BANKS };
  return { rows: side, columns: side + pad, used: side };
}

/** A bank's colour. */
const colour = (bank) => `fill: hsl(${(bank * 360) / BANKS} 60% 60%)`;

/** Where things lie in the chart of wavefronts: its columns are the banks. */
function layout(width, narrow) {
  const left = 26;
  return { left, top: 34, cell: (width - left - 2) / BANKS, height: narrow ? 6 : 10, every: narrow ? 8 : 4 };
}

/** The words of memory as a picture: a colour for each bank, the words that the warp wants framed. */
function drawMemory(svg, s, wanted, narrow) {
  const { rows, columns, used } = memory(s, wanted);
  const cell = narrow ? 5.5 : 7,
    down = cell * Math.min(1, BANKS / rows),
    above = 16;
  const at = (word) => `M${(word % columns) * cell} ${above + Math.floor(word / columns) * down}`;
  const box = `h${cell}v${down}h${-cell}z`;
  const paths = Array.from({ length: BANKS }, () => ["", ""]);
  for (let word = 0; word < rows * columns; word += 1)
    paths[word % BANKS][word % columns < used ? 0 : 1] += at(word) + box;
  const told = s.access === "stride" ? "in memory, by bank" : `${rows} × ${columns} words, by bank`;
  svg.setAttribute("viewBox", `0 0 ${(BANKS + PAD_LIMIT) * cell} ${above + BANKS * cell + 2}`);
  svg.style.width = `${(BANKS + PAD_LIMIT) * cell}px`;
  svg.replaceChildren(
    draw("text", { x: 0, y: 10, class: "small" }, told),
    ...paths
      .flatMap(([inside, padding], bank) => [
        draw("path", { d: inside, style: colour(bank) }),
        padding && draw("path", { d: padding, class: "padding", style: colour(bank) }),
      ])
      .filter(Boolean),
    draw("path", { d: [...new Set(wanted)].map((word) => at(word) + box).join(""), class: "wanted" }),
    draw("path", { d: at(wanted[s.lane]) + box, class: "mine" }),
  );
}

function render({ model, el }) {
  const host = frame(el, "banks", "A warp's request to shared memory, by bank");
  const state = () =>
    Object.fromEntries(["access", "side", "pad", "swizzle", "stride", "lane"].map((name) => [name, model.get(name)]));

  const set = (name, number) => (value) => put(model, { [name]: number ? Number(value) : value });
  const access = choice("the warp reads", ACCESSES, set("access"));
  const side = choice(
    "tile",
    [8, 16, 32].map((n) => [n, `${n} × ${n}`]),
    set("side", true),
  );
  const swizzle = check("swizzle: column ^ row", set("swizzle"));
  const sliders = {
    pad: slider("Padding", {
      min: 0,
      max: PAD_LIMIT,
      write: (n) => `${n} ${n === 1 ? "word" : "words"}`,
      change: set("pad"),
    }),
    stride: slider("Stride", {
      min: 0,
      max: STRIDE_LIMIT,
      write: (n) => `${n} ${n === 1 ? "word" : "words"}`,
      change: set("stride"),
    }),
    lane: slider("Lane", { min: 0, max: LANES - 1, change: set("lane") }),
  };
  // A stride takes the place of the padding: only one of them means anything at a time.
  host.controls.append(
    access.element,
    side.element,
    sliders.pad.element,
    sliders.stride.element,
    sliders.lane.element,
    swizzle.element,
  );

  const tile = draw("svg", { class: "memory", "aria-hidden": "true" });
  const image = draw("svg", { role: "img" });
  const verdict = make("p", { class: "verdict", "aria-live": "polite" });
  const chart = make("div", { class: "chart" }, image);
  host.picture.append(make("div", { class: "tile" }, tile, verdict), chart);

  const narrow = () => host.picture.clientWidth < 480;
  const list = (lanes) => {
    const [first, last] = [lanes[0], lanes[lanes.length - 1]];
    if (lanes.length === 1) return String(first);
    return last - first === lanes.length - 1 ? `${first}–${last}` : lanes.join(", ");
  };

  function redraw() {
    const s = state(),
      wanted = words(s),
      turns = served(wanted),
      found = cost(wanted);
    const width = Math.max(240, chart.clientWidth),
      { left, top, cell, height, every } = layout(width, narrow());
    // One cell for each word that is handed out, with the lanes that wait for it.
    const cells = new Map();
    wanted.forEach((word, lane) => {
      if (!cells.has(word)) cells.set(word, { bank: word % BANKS, turn: turns[lane], lanes: [] });
      cells.get(word).lanes.push(lane);
    });
    const parts = [];
    for (let bank = 0; bank < BANKS; bank += 1) {
      const x = left + bank * cell;
      if (bank % 4 === 0)
        parts.push(draw("text", { x: x + cell / 2, y: top - 8, class: "small", "text-anchor": "middle" }, bank));
      parts.push(draw("rect", { x, y: top - 5, width: cell, height: 4, style: colour(bank) }));
    }
    parts.push(draw("text", { x: left, y: 10, class: "small" }, "wavefronts down, banks across"));
    for (let turn = 0; turn < found.wavefronts; turn += turn ? every : every - 1)
      parts.push(
        draw(
          "text",
          { x: left - 5, y: top + (turn + 0.5) * height + 4, class: "small", "text-anchor": "end" },
          turn + 1,
        ),
      );
    let grid = "";
    for (let bank = 0; bank <= BANKS; bank += 1) grid += `M${left + bank * cell} ${top}v${LANES * height}`;
    parts.push(draw("path", { d: grid, class: "grid" }));
    parts.push(
      draw("path", {
        d: `M${left} ${top}h${BANKS * cell}v${found.wavefronts * height}h${-BANKS * cell}z`,
        class: "frame",
      }),
    );
    for (const { bank, turn, lanes } of cells.values()) {
      const x = left + bank * cell,
        y = top + turn * height,
        mine = lanes.includes(s.lane);
      parts.push(
        draw("rect", {
          x: x + 0.5,
          y: y + 0.5,
          width: cell - 1,
          height: height - 1,
          class: mine ? "word mine" : "word",
          style: mine ? null : colour(bank),
        }),
      );
    }
    image.setAttribute("viewBox", `0 0 ${width} ${top + LANES * height + 4}`);
    image.setAttribute(
      "aria-label",
      `32 banks from left to right, ${found.wavefronts} wavefronts from top to bottom; the text below tells them.`,
    );
    image.replaceChildren(...parts);
    drawMemory(tile, s, wanted, narrow());

    access.show(s.access);
    side.show(String(s.side));
    swizzle.show(s.swizzle);
    for (const [name, one] of Object.entries(sliders)) one.show(s[name]);
    const strided = s.access === "stride";
    side.input.disabled = swizzle.input.disabled = strided;
    sliders.pad.element.hidden = strided;
    sliders.stride.element.hidden = !strided;

    const word = wanted[s.lane],
      same = cells.get(word).lanes,
      rivals = [...cells.values()].filter((one) => one.bank === word % BANKS).length;
    const together = same.length > 1 ? ` with lanes ${list(same)}, as a broadcast` : "";
    const waits =
      rivals > 1
        ? `its bank has ${rivals} different words to hand out, one per wavefront`
        : "no lane wants another word of this bank";
    host.say(
      `Lane ${s.lane} wants word ${integer(word)}, in bank ${word % BANKS}, and gets it in wavefront ${turns[s.lane] + 1}${together}; ${waits}.`,
    );
    const bytes = strided ? null : 4 * s.side * (s.side + s.pad);
    const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
    verdict.textContent =
      `${plural(found.words, "different word")} in ${plural(found.banks, "bank")}: ${plural(found.wavefronts, "wavefront")}` +
      (found.wavefronts === 1 ? ", no conflict." : `, ${plural(found.wavefronts - 1, "conflict")}.`) +
      (bytes === null ? "" : ` The tile takes ${integer(bytes)} bytes.`);
    host.table(
      ["lane", "word", "bank", "wavefront"],
      wanted.map((one, lane) => [String(lane), [integer(one)], [String(one % BANKS)], [String(turns[lane] + 1)]]),
      "One request of the first warp of a block, elements of 4 bytes.",
    );
  }

  const pointed = (event) => {
    const hit = image.getBoundingClientRect(),
      scale = image.viewBox.baseVal.width / hit.width;
    const { left, top, cell, height } = layout(Math.max(240, chart.clientWidth), narrow());
    const bank = Math.floor(((event.clientX - hit.left) * scale - left) / cell),
      turn = Math.floor(((event.clientY - hit.top) * scale - top) / height);
    const wanted = words(state()),
      turns = served(wanted);
    const lane = wanted.findIndex((word, i) => word % BANKS === bank && turns[i] === turn);
    if (lane >= 0 && lane !== model.get("lane")) put(model, { lane });
  };
  image.addEventListener("pointermove", pointed);
  image.addEventListener("pointerdown", pointed);

  host.notes.append(
    make(
      "p",
      { class: "source" },
      "Framed: words that the warp wants. In the chart, a filled cell is a word that a bank hands out in a wavefront. Without colour: this lane's.",
    ),
  );
  followSize(host, redraw);
  follow(model, ["access", "side", "pad", "swizzle", "stride", "lane"], host, redraw);
  return host.close;
}

export const formulas = { words, served, cost, memory };
export default { render };

/* Access: which elements of A and B the threads of the naive and of the swapped kernel ask for, and what moves for it. */

import {
  make,
  draw,
  cdiv,
  integer,
  short,
  frame,
  setUp,
  slider,
  numberField,
  numberFault,
  choice,
  check,
  button,
  warningLine,
  followSize,
  put,
  follow,
} from "../../../../kernels/lab/widgets/common.js";

const WARP = 32;
const SECTOR = 8; // float32 elements: 32 bytes
const LINE = 32; // 128 bytes
const MOST = 64;
const WIDEST = 420; // pixels of one picture
const KERNELS = ["naive", "swapped"];
const distinct = (items) => [...new Set(items)];

/** The thread that owns an element of C. In `naive` x is the column, in `swapped` it is the row. */
function owner(kernel, side, row, col) {
  const [x, y] = kernel === "naive" ? [col, row] : [row, col];
  const tx = x % side,
    ty = y % side,
    number = tx + ty * side;
  return {
    bx: Math.floor(x / side),
    by: Math.floor(y / side),
    tx,
    ty,
    warp: Math.floor(number / WARP),
    lane: number % WARP,
  };
}

/** Elements of C that the threads of one warp own, lane by lane, as [row, col]; the guard keeps out the others. */
function warpOwns(kernel, side, { bx, by, warp }, { M, N }) {
  const owned = [];
  for (let number = warp * WARP; number < Math.min((warp + 1) * WARP, side * side); number += 1) {
    const x = bx * side + (number % side),
      y = by * side + Math.floor(number / side);
    const [row, col] = kernel === "naive" ? [y, x] : [x, y];
    if (row < M && col < N) owned.push([row, col]);
  }
  return owned;
}

/** Elements of C that a scope owns, with [row, col] in it: its "thread", "warp", "block", or the "grid". */
function scopeOwns(kernel, side, scope, row, col, sizes) {
  if (scope === "thread") return [[row, col]];
  if (scope === "warp") return warpOwns(kernel, side, owner(kernel, side, row, col), sizes);
  const whole = scope === "grid",
    first = (i) => (whole ? 0 : i - (i % side));
  const owned = [];
  for (let r = first(row); r < Math.min(whole ? sizes.M : first(row) + side, sizes.M); r += 1) {
    for (let c = first(col); c < Math.min(whole ? sizes.N : first(col) + side, sizes.N); c += 1) owned.push([r, c]);
  }
  return owned;
}

/** How often the owners of some elements of C load each element of A and B: at one step k, or (k null) at all. */
function heat(owned, { M, N, K }, k) {
  const A = new Array(M * K).fill(0),
    B = new Array(K * N).fill(0);
  const rows = new Array(M).fill(0),
    cols = new Array(N).fill(0);
  for (const [row, col] of owned) {
    rows[row] += 1;
    cols[col] += 1;
  }
  for (let step = k ?? 0; step <= (k ?? K - 1); step += 1) {
    for (let row = 0; row < M; row += 1) A[row * K + step] = rows[row];
    for (let col = 0; col < N; col += 1) B[step * N + col] = cols[col];
  }
  return { A, B };
}

/** What one request touches. `places` are the elements its lanes ask for, counted from the start of the array. */
function cost(places) {
  return {
    lanes: places.length,
    elements: distinct(places).length,
    sectors: distinct(places.map((place) => Math.floor(place / SECTOR))),
    lines: distinct(places.map((place) => Math.floor(place / LINE))).length,
  };
}

/** The requests of one warp: its loads of A and B at step k, and its store to C. */
function requests(owned, { N, K }, k) {
  return {
    A: cost(owned.map(([row]) => row * K + k)),
    B: cost(owned.map(([, col]) => k * N + col)),
    C: cost(owned.map(([row, col]) => row * N + col)),
  };
}

/** Requests, sectors and elements of the whole launch, array by array. */
function totals(kernel, side, sizes) {
  const { M, N, K } = sizes;
  const [across, down] = kernel === "naive" ? [N, M] : [M, N];
  const sum = Object.fromEntries(["A", "B", "C"].map((name) => [name, { requests: 0, sectors: 0, elements: 0 }]));
  const add = (array, lanes, places) => {
    sum[array].requests += 1;
    sum[array].sectors += new Set(places.map((place) => Math.floor(place / SECTOR))).size;
    sum[array].elements += lanes;
  };
  for (let by = 0; by < cdiv(down, side); by += 1) {
    for (let bx = 0; bx < cdiv(across, side); bx += 1) {
      for (let warp = 0; warp < cdiv(side * side, WARP); warp += 1) {
        const owned = warpOwns(kernel, side, { bx, by, warp }, sizes);
        if (!owned.length) continue;
        // A request's address depends on the row alone (A) or on the column alone (B).
        const rows = distinct(owned.map(([row]) => row)),
          cols = distinct(owned.map(([, col]) => col));
        for (let k = 0; k < K; k += 1) {
          add(
            "A",
            owned.length,
            rows.map((row) => row * K + k),
          );
          add(
            "B",
            owned.length,
            cols.map((col) => k * N + col),
          );
        }
        add(
          "C",
          owned.length,
          owned.map(([row, col]) => row * N + col),
        );
      }
    }
  }
  return sum;
}

/** What is wrong with the texts of the size fields, in one line; empty if nothing is. */
function fault(texts) {
  return (
    Object.entries(texts)
      .map(([name, text]) => numberFault(name, text, MOST))
      .find(Boolean) ?? ""
  );
}

function render({ model, el }) {
  const host = frame(el, "access", "Loads of the naive and the swapped kernel");
  const state = () => {
    const sizes = Object.fromEntries(["M", "N", "K"].map((name) => [name, model.get(name)]));
    const at = {
      row: Math.min(model.get("row"), sizes.M - 1),
      col: Math.min(model.get("col"), sizes.N - 1),
      k: Math.min(model.get("k"), sizes.K - 1),
    };
    return {
      sizes,
      ...at,
      kernel: model.get("kernel"),
      side: model.get("side"),
      scope: model.get("scope"),
      allSteps: model.get("all_steps"),
    };
  };

  // ---- Controls ----
  const warning = warningLine(host);
  const chosen = (name, number) => (value) => put(model, { [name]: number ? Number(value) : value });
  const kernel = choice(
    "kernel",
    [
      ["naive", "naive: x is the column"],
      ["swapped", "swapped: x is the row"],
    ],
    chosen("kernel"),
  );
  const side = choice(
    "block",
    [8, 16, 32].map((n) => [n, `${n} × ${n}`]),
    chosen("side", true),
  );
  const scope = choice(
    "who loads",
    [
      ["thread", "one thread"],
      ["warp", "its warp"],
      ["block", "its block"],
      ["grid", "the whole grid"],
    ],
    chosen("scope"),
  );
  const steps = check("all steps of k", (on) => put(model, { all_steps: on }));
  const fields = Object.fromEntries(
    ["M", "N", "K"].map((name) => [name, numberField(name, { min: 1, max: MOST, change() {} })]),
  );
  const entered = () => {
    const texts = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.input.value]));
    const wrong = fault(texts);
    warning.show(wrong);
    if (!wrong) put(model, Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Number(text)])));
  };
  Object.values(fields).forEach((field) => field.input.addEventListener("input", entered));
  const sliders = {
    k: slider("Step k", { min: 0, max: 1, change: chosen("k") }),
    row: slider("Row of C", { min: 0, max: 1, change: chosen("row") }),
    col: slider("Column of C", { min: 0, max: 1, change: chosen("col") }),
  };
  const folded = setUp(host, kernel.element, ...Object.values(fields).map((f) => f.element), steps.element);
  host.controls.append(
    side.element,
    scope.element,
    button("Next k", { onclick: () => put(model, { k: (state().k + 1) % model.get("K"), all_steps: false }) }),
    ...Object.values(sliders).map(({ element }) => element),
  );

  // ---- Picture: both kernels, each with A left of C and B above it, in a frame whose size is the room's alone ----
  const panels = Object.fromEntries(
    KERNELS.map((name) => {
      const image = draw("svg", { role: "img" }),
        request = make("b"),
        launch = make("span");
      const element = make("div", { class: "panel" }, make("p", { class: "title" }, request, " ", launch), image);
      return [name, { image, request, launch, element }];
    }),
  );
  host.picture.append(...Object.values(panels).map(({ element }) => element));
  let known = { key: "", sums: null }; // the totals of a launch change with its sizes only
  const totalsOf = ({ side, sizes }) => {
    const key = [side, sizes.M, sizes.N, sizes.K].join();
    if (known.key !== key) known = { key, sums: KERNELS.map((name) => totals(name, side, sizes)) };
    return known.sums;
  };

  /** The elements of a matrix as an outline; neighbours in a row make one rectangle. */
  const squares = (indices, columns, x, y, cell) => {
    let d = "";
    for (let i = 0, long; i < indices.length; i += long) {
      const first = indices[i],
        row = Math.floor(first / columns),
        end = (row + 1) * columns;
      for (long = 1; first + long < end && indices[i + long] === first + long;) long += 1;
      d += `M${x + (first % columns) * cell} ${y + row * cell}h${long * cell}v${cell}h${-long * cell}z`;
    }
    return d;
  };
  /** The cells of one matrix by how often they are loaded: the stronger, the nearer to the `most` that the whole grid makes it. */
  function drawHeat(counts, columns, x, y, cell, name, most) {
    const groups = new Map();
    counts.forEach((loads, i) => {
      if (!groups.has(loads)) groups.set(loads, []);
      groups.get(loads).push(i);
    });
    groups.delete(0);
    return [...groups].map(([loads, indices]) =>
      draw("path", {
        d: squares(indices, columns, x, y, cell),
        class: name,
        "fill-opacity": 0.5 + 0.5 * (loads / most),
      }),
    );
  }
  /** The elements of the sectors that move, asked for or not. */
  const moved = (sectors, size) =>
    sectors.flatMap((s) => Array.from({ length: SECTOR }, (_, i) => s * SECTOR + i)).filter((i) => i < size);

  /** Where a sector begins in a matrix, as short lines between the elements. */
  const seamsOf = (size, columns, x, y, cell) => {
    let d = "";
    for (let i = 0; i < size; i += SECTOR)
      d += `M${x + (i % columns) * cell} ${y + Math.floor(i / columns) * cell}v${cell}`;
    return draw("path", { d, class: "sector" });
  };

  /** One kernel: what its threads load of A and B, the sectors that move, and the block on C. */
  function drawPanel(s, width) {
    const { image } = panels[s.kernel],
      { M, N, K } = s.sizes;
    const height = Math.round(0.87 * width),
      gap = 20,
      edge = 4;
    const room = { across: width - gap - 2 * edge, down: height - gap - 2 * edge };
    const cell = Math.min(room.across / (K + N), room.down / (K + M), 11);
    const left = edge + (room.across - (K + N) * cell) / 2;
    const at = {
      A: [left, edge + K * cell + gap],
      B: [left + K * cell + gap, edge],
      C: [left + K * cell + gap, edge + K * cell + gap],
    };
    const owned = scopeOwns(s.kernel, s.side, s.scope, s.row, s.col, s.sizes);
    const counts = heat(owned, s.sizes, s.allSteps ? null : s.k);
    const warp = warpOwns(s.kernel, s.side, owner(s.kernel, s.side, s.row, s.col), s.sizes);
    const asked = requests(warp, s.sizes, s.k);
    const oneRequest = s.scope === "warp" && !s.allSteps;
    panels[s.kernel].place = { x: at.C[0], y: at.C[1], cell };

    const shapes = { A: [M, K], B: [K, N], C: [M, N] };
    const parts = [];
    for (const name of ["A", "B", "C"]) {
      const [rows, columns] = shapes[name],
        [x, y] = at[name];
      if (oneRequest && name !== "C") {
        const all = moved(asked[name].sectors, rows * columns);
        parts.push(draw("path", { d: squares(all, columns, x, y, cell), class: "moved" }));
      }
      const cells = name === "C" ? shown(owned, N) : counts[name];
      parts.push(...drawHeat(cells, columns, x, y, cell, name.toLowerCase(), { A: N, B: M, C: 1 }[name]));
      if (name !== "C") parts.push(seamsOf(rows * columns, columns, x, y, cell));
      parts.push(draw("rect", { x, y, width: columns * cell, height: rows * cell, class: "frame" }));
      parts.push(draw("text", name === "B" ? { x: x - 14, y: y + 12 } : { x, y: y - 5 }, name));
    }
    for (let x = s.side; x < N; x += s.side) parts.push(line(at.C[0] + x * cell, at.C[1], 0, M * cell));
    for (let y = s.side; y < M; y += s.side) parts.push(line(at.C[0], at.C[1] + y * cell, N * cell, 0));
    const [x, y] = [s.col, s.row].map((i) => i - (i % s.side));
    parts.push(
      draw("rect", {
        x: at.C[0] + x * cell,
        y: at.C[1] + y * cell,
        width: Math.min(s.side, N - x) * cell,
        height: Math.min(s.side, M - y) * cell,
        class: "block",
      }),
      draw("rect", {
        x: at.C[0] + s.col * cell - 1,
        y: at.C[1] + s.row * cell - 1,
        width: cell + 2,
        height: cell + 2,
        class: "pick",
      }),
    );
    image.setAttribute("viewBox", `0 0 ${width} ${height}`);
    image.replaceChildren(...parts);
    return { counts, warp, asked, oneRequest };
  }

  function redraw() {
    const s = state(),
      { M, N, K } = s.sizes,
      room = Math.max(280, host.picture.clientWidth);
    const narrow = room < 480,
      width = narrow ? Math.round(0.62 * room) : Math.min((room - 20) / 2, WIDEST);
    host.picture.classList.toggle("narrow", narrow);
    const [one, other] = KERNELS.map((name) => drawPanel({ ...s, kernel: name }, width));
    const { counts, warp, asked, oneRequest } = s.kernel === KERNELS[0] ? one : other;

    kernel.show(s.kernel);
    side.show(String(s.side));
    scope.show(s.scope);
    steps.show(s.allSteps);
    if (warning.quiet) for (const [name, field] of Object.entries(fields)) field.show(s.sizes[name]);
    sliders.k.limit(K - 1);
    sliders.row.limit(M - 1);
    sliders.col.limit(N - 1);
    for (const name of ["k", "row", "col"]) sliders[name].show(s[name]);
    sliders.k.input.disabled = s.allSteps;

    const me = owner(s.kernel, s.side, s.row, s.col);
    const who = {
      thread: "this thread",
      warp: `its warp, ${warp.length} lanes at work,`,
      block: "its block",
      grid: "the whole grid",
    }[s.scope];
    const when = s.allSteps ? "At all steps of k" : `At k = ${s.k}`;
    const loads = ["A", "B"].map((name) => {
      const hot = counts[name].filter(Boolean);
      const sectors = oneRequest
        ? ` (${asked[name].sectors.length} ${asked[name].sectors.length === 1 ? "sector" : "sectors"})`
        : "";
      return `${integer(hot.length)} ${hot.length === 1 ? "element" : "elements"} of ${name}, ${times(hot)}${sectors}`;
    });
    host.say(
      `${s.kernel}: C[${s.row}, ${s.col}] belongs to thread (x ${me.tx}, y ${me.ty}) of block (${me.bx}, ${me.by}), warp ${me.warp}, lane ${me.lane}. ` +
        `${when}, ${who} loads ${loads.join(", and ")}.`,
    );
    const sums = totalsOf(s);
    const compared = KERNELS.map((name) =>
      requests(warpOwns(name, s.side, owner(name, s.side, s.row, s.col), s.sizes), s.sizes, s.k),
    );
    KERNELS.forEach((name, i) => {
      const { A, B } = compared[i],
        { element, image, request, launch } = panels[name];
      element.classList.toggle("chosen", name === s.kernel);
      request.replaceChildren(`${name}: `, make("span", {}, `${A.sectors.length} + ${B.sectors.length} sectors`));
      launch.textContent = `whole launch: ${integer(sums[i].A.sectors + sums[i].B.sectors)}`;
      image.setAttribute(
        "aria-label",
        `A left of C, B above it, with the loads of ${name} marked: its warp touches ${A.sectors.length} sectors of A and ${B.sectors.length} of B.`,
      );
    });
    folded.name(`Set-up: ${M} × ${N} × ${K}, ${s.kernel}, ${s.allSteps ? "all steps" : "one step"} of k`);
    const pair = (values) => values.map((value) => [typeof value === "string" ? value : integer(value)]);
    host.table(
      ["quantity", ...KERNELS],
      [
        ...["A", "B", "C"].map((name) => [
          `sectors, this warp's ${name === "C" ? "store to C" : `load of ${name} at k = ${s.k}`}`,
          ...pair(compared.map((found) => found[name].sectors.length)),
        ]),
        ...["A", "B"].map((name) => [
          `lines of 128 bytes, its load of ${name}`,
          ...pair(compared.map((found) => found[name].lines)),
        ]),
        ...["A", "B", "C"].map((name) => [
          `requests, whole launch, ${name}`,
          ...pair(sums.map((sum) => sum[name].requests)),
        ]),
        ...["A", "B", "C"].map((name) => [
          `sectors, whole launch, ${name}`,
          ...pair(sums.map((sum) => sum[name].sectors)),
        ]),
        ...["A", "B"].map((name) => [
          `sectors per request, whole launch, ${name}`,
          ...pair(sums.map((sum) => short(sum[name].sectors / sum[name].requests))),
        ]),
        ...["A", "B"].map((name) => [`loads of ${name}, whole launch`, ...pair(sums.map((sum) => sum[name].elements))]),
        ["loads of each element of A", ...pair([N, N])],
        ["loads of each element of B", ...pair([M, M])],
      ],
      "Counts of the kernels as written, every array starting on a sector of its own.",
    );
  }

  const shown = (owned, columns) => {
    const cells = [];
    for (const [row, col] of owned) cells[row * columns + col] = 1;
    return cells;
  };
  const times = (hot) => {
    const low = Math.min(...hot),
      high = Math.max(...hot);
    if (high === 1) return hot.length === 1 ? "once" : "once each";
    if (hot.length === 1) return `${integer(high)} times`;
    return low === high ? `${integer(high)} times each` : `${integer(low)} to ${integer(high)} times each`;
  };
  const line = (x, y, dx, dy) => draw("path", { d: `M${x} ${y}l${dx} ${dy}`, class: "seam" });

  const picked = (name) => (event) => {
    const { image, place } = panels[name];
    const box = image.getBoundingClientRect(),
      scale = image.viewBox.baseVal.width / box.width;
    const col = Math.floor(((event.clientX - box.left) * scale - place.x) / place.cell);
    const row = Math.floor(((event.clientY - box.top) * scale - place.y) / place.cell);
    const now = { kernel: name, row, col };
    if (
      row >= 0 &&
      col >= 0 &&
      row < model.get("M") &&
      col < model.get("N") &&
      Object.entries(now).some(([key, value]) => model.get(key) !== value)
    )
      put(model, now);
  };
  for (const name of KERNELS) {
    panels[name].image.addEventListener("pointermove", picked(name));
    panels[name].image.addEventListener("pointerdown", picked(name));
  }

  host.notes.append(
    make(
      "p",
      { class: "source" },
      "Sectors of A + B that a warp moves at this step. Coloured: requested, stronger where more often. Grey: moved, not requested. Short lines start a sector (32 bytes). In C: the blocks, and what these threads own.",
    ),
  );
  followSize(host, redraw);
  follow(model, ["kernel", "side", "M", "N", "K", "row", "col", "k", "scope", "all_steps"], host, redraw);
  return host.close;
}

export const formulas = { owner, warpOwns, scopeOwns, heat, cost, requests, totals, fault };
export default { render };

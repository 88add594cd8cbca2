/* The roofline. The formulas equal those of kernels/records/roofline.py. */

import {
  make,
  draw,
  clamp,
  short,
  quantity,
  percent,
  frame,
  slider,
  choice,
  followSize,
  put,
  follow,
} from "../common.js";

/** FLOP per byte from which arithmetic, no longer memory, is the limit. */
const ridge = (roof) => roof.compute / roof.bandwidth;
/** The most FLOP per second that a kernel of this intensity can reach. */
const attainable = (roof, intensity) => Math.min(roof.compute, intensity * roof.bandwidth);
/** What limits it. */
const limitOf = (roof, intensity) => (intensity < ridge(roof) ? "memory" : "compute");

/** Positions in rising order moved apart, each as little as can be, until none is nearer than `gap` to the next. */
function spread(wanted, gap, low, high) {
  const groups = []; // of neighbours that push each other: where the first of them would stand, less those before it
  wanted.forEach((at, i) => {
    let group = { mean: at - i * gap, size: 1 };
    while (groups.length && groups.at(-1).mean > group.mean) {
      const before = groups.pop(),
        size = before.size + group.size;
      group = { mean: (before.mean * before.size + group.mean * group.size) / size, size };
    }
    groups.push(group);
  });
  const last = (wanted.length - 1) * gap;
  return groups
    .flatMap(({ mean, size }) => Array(size).fill(clamp(mean, low, Math.max(low, high - last))))
    .map((start, i) => start + i * gap);
}

export const formulas = { ridge, attainable, limitOf, spread };

const ENGINES = { numba: "Numba", cpp: "CUDA C++", library: "library" };
const COUNTED = [
  ["asked", "asked for by the threads"],
  ["compulsory", "that must move once"],
];
const nameAndSpeed = ({ label, engine, flops }) =>
  `${label}${engine === "library" ? "" : `, ${ENGINES[engine]}`}: ${quantity(flops, "FLOP/s")}`;
const LEFT = 58,
  TOP = 24,
  MARGINS = { right: 12, bottom: 44 };
/** Pixels from line to line of the numbers, from a point to its number, and between points whose numbers would have no room. */
const LINE = 13,
  ASIDE = 15,
  TOGETHER = 40;
/** Pixels that a letter of a name takes, and that a number before it does. */
const LETTER = 6.5,
  WIDE = 22;
const X_DECADES = [-1, 3.7],
  FINEST = -4,
  COARSEST = 12;

/** Pixels from a point within which the pointer means it. */
const NEAR = 16;

function render({ model, el }) {
  let picked = null, // the number of the point that is named; the fastest one at first
    drawn = null; // how to read a place of the chart: its spots, and the intensity at an x
  const host = frame(el, "roofline", "Roofline");
  const get = (key) => model.get(key);
  const gpu = choice(
    "GPU",
    Object.entries(get("gpus")).map(([key, { name }]) => [key, name]),
    (key) => put(model, { gpu: key }),
  );
  const counted = choice("Bytes of the points", COUNTED, (value) => put(model, { counted: value }));
  const intensity = slider("Intensity", {
    min: FINEST,
    max: COARSEST,
    step: 0.25,
    write: (power) => `${short(2 ** power)} FLOP/byte`,
    change: (power) => put(model, { intensity: 2 ** power }),
  });
  const chart = draw("svg", { role: "img" });
  const legend = make("ol", { class: "legend", "aria-label": "The points" });
  const source = make("p", { class: "source" });
  host.controls.append(gpu.element, counted.element, intensity.element);
  host.picture.append(make("div", { class: "chart" }, chart));
  host.notes.append(legend, source);

  const text = (px, py, words, attributes = {}) =>
    draw("text", { x: px, y: py, "text-anchor": "middle", class: "small", ...attributes }, words);

  /** The number of a point, with its rung if that fits into so many pixels. */
  const titled = ({ number, label }, room) =>
    room > WIDE + label.length * LETTER ? `${number} ${label}` : String(number);

  /** Number the points, and name them where there is room: Numba's at the left and the others at the right of those that stand together, a line to each. */
  function numbersOf(spots, right, bottom) {
    const groups = [];
    for (const spot of [...spots].sort((a, b) => a.x - b.x)) {
      if (groups.length && spot.x - groups.at(-1).at(-1).x < TOGETHER) groups.at(-1).push(spot);
      else groups.push([spot]);
    }
    return groups.flatMap((group) =>
      [-1, 1].flatMap((side) => {
        const mine = group.filter((spot) => (spot.engine === "numba") === side < 0).sort((a, b) => a.y - b.y);
        const edge = (side < 0 ? group[0].x : group.at(-1).x) + side * ASIDE;
        const heights = spread(
          mine.map((spot) => spot.y),
          LINE,
          TOP,
          bottom - 4,
        );
        return mine.flatMap((spot, i) => [
          draw("path", { class: "leader", d: `M${spot.x + side * 6} ${spot.y}L${edge - 2 * side} ${heights[i]}` }),
          text(edge, heights[i] + 4, titled(spot, side > 0 ? right - edge : 0), {
            class: "small halo",
            "text-anchor": side < 0 ? "end" : "start",
          }),
        ]);
      }),
    );
  }

  /** A ring around a point, and its name above the chart. */
  const nameOf = (spot, right) => [
    draw("circle", { class: "ring", cx: spot.x, cy: spot.y, r: 10 }),
    text(right, 13, `${spot.number}. ${nameAndSpeed(spot)}`, { class: "name", "text-anchor": "end" }),
  ];

  function picture(shown, points, at) {
    const width = clamp(host.picture.clientWidth, 300, 704),
      height = width < 480 ? 350 : 500;
    const right = width - MARGINS.right,
      bottom = height - MARGINS.bottom;
    chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const x = (value) => LEFT + ((Math.log10(value) - X_DECADES[0]) / (X_DECADES[1] - X_DECADES[0])) * (right - LEFT);
    const speeds = [...shown.roofs.map((roof) => roof.compute), ...points.map((p) => p.flops)];
    const slopes = shown.roofs.map((roof) => attainable(roof, 10 ** X_DECADES[0]));
    const high = Math.log10(Math.max(...speeds)) + 0.35,
      low = Math.min(Math.log10(Math.min(...slopes, ...points.map((p) => p.flops))), high - 2) - 0.1;
    const y = (value) => bottom - ((Math.log10(value) - low) / (high - low)) * (bottom - TOP);
    const parts = [];
    for (let power = Math.ceil(low); power < high; power++) {
      parts.push(draw("path", { class: "rule", d: `M${LEFT} ${y(10 ** power)}H${right}` }));
      parts.push(text(LEFT - 6, y(10 ** power) + 4, quantity(10 ** power, "", 1).trim(), { "text-anchor": "end" }));
    }
    for (let power = X_DECADES[0]; power < X_DECADES[1]; power++) {
      parts.push(draw("path", { class: "rule", d: `M${x(10 ** power)} ${TOP}V${bottom}` }));
      parts.push(text(x(10 ** power), bottom + 18, String(10 ** power)));
    }
    parts.push(draw("path", { class: "axis", d: `M${LEFT} ${TOP}V${bottom}H${right}` }));
    parts.push(
      text((LEFT + right) / 2, height - 6, "intensity: FLOP per byte"),
      text(4, 12, "FLOP/s", { "text-anchor": "start" }),
    );
    shown.roofs.forEach((roof, i) => {
      const [from, to] = X_DECADES.map((power) => 10 ** power);
      const d = `M${x(from)} ${y(attainable(roof, from))}L${x(ridge(roof))} ${y(roof.compute)}H${x(to)}`;
      parts.push(draw("path", { class: i ? "roof recorded" : "roof", d }));
    });
    const roof = shown.roofs.at(-1);
    const px = x(at),
      py = y(attainable(roof, at));
    if (px >= LEFT && px <= right) {
      parts.push(
        draw("path", { class: "reading", d: `M${px} ${bottom}V${py}H${LEFT}` }),
        draw("circle", { class: "reading-point", cx: px, cy: py, r: 5 }),
      );
    }
    const spots = points.map((p) => ({ ...p, x: x(p.intensity), y: y(p.flops) }));
    parts.push(...numbersOf(spots, right, bottom));
    for (const { engine, x: cx, y: cy } of spots) {
      parts.push(
        engine === "cpp"
          ? draw("rect", { class: "point cpp", x: cx - 5, y: cy - 5, width: 10, height: 10 })
          : engine === "library"
            ? draw("path", { class: "point library", d: `M${cx} ${cy - 7}l7 7l-7 7l-7 -7z` })
            : draw("circle", { class: "point numba", cx, cy, r: 5.5 }),
      );
    }
    const spot = spots.find(({ number }) => number === picked);
    if (spot) parts.push(...nameOf(spot, right));
    drawn = {
      spots,
      width,
      intensity: (px) => 10 ** (X_DECADES[0] + ((px - LEFT) / (right - LEFT)) * (X_DECADES[1] - X_DECADES[0])),
    };
    return parts;
  }

  // The pointer names a point, or drags the intensity; the list of the points names them, too.
  const place = (event) => {
    const box = chart.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top].map((at) => (at * drawn.width) / box.width);
  };
  const drag = (event) => {
    const power = Math.round(4 * Math.log2(drawn.intensity(place(event)[0]))) / 4;
    put(model, { intensity: 2 ** clamp(power, FINEST, COARSEST) });
  };
  const pick = (number) => {
    if (number === picked) return;
    picked = number;
    show();
  };
  const under = (event) => {
    const [x, y] = place(event);
    const [near] = drawn.spots
      .map((spot) => ({ ...spot, far: Math.hypot(spot.x - x, spot.y - y) }))
      .filter(({ far }) => far < NEAR)
      .sort((a, b) => a.far - b.far);
    return near?.number;
  };
  chart.addEventListener("pointerdown", (event) => {
    const number = under(event);
    if (number) return pick(number);
    chart.setPointerCapture(event.pointerId);
    drag(event);
  });
  chart.addEventListener("pointermove", (event) => {
    if (chart.hasPointerCapture(event.pointerId)) return drag(event);
    const number = under(event);
    if (number) pick(number);
  });
  legend.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const all = [...legend.querySelectorAll("button")];
    const next = step && all[all.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  });

  function show() {
    const shown = get("gpus")[get("gpu")],
      which = get("counted"),
      at = get("intensity");
    const roof = shown.roofs.at(-1);
    const points = (shown.points ?? [])
      .map((p, i) => ({ ...p, number: i + 1, intensity: p[which] }))
      .filter((p) => p.intensity !== null);
    gpu.show(get("gpu"));
    counted.show(which);
    intensity.show(Math.log2(at));
    if (!points.some(({ number }) => number === picked))
      picked = points.reduce((most, p) => (p.flops > (most?.flops ?? 0) ? p : most), null)?.number ?? null;
    chart.replaceChildren(...picture(shown, points, at));
    const bytes = COUNTED.find(([key]) => key === which)[1];
    const reading = (r) =>
      `${quantity(attainable(r, at), "FLOP/s")} (${r.name}; limit: ${limitOf(r, at) === "memory" ? "memory" : "arithmetic"}, ridge at ${short(ridge(r))})`;
    const above = points.filter((p) => p.flops > attainable(roof, p.intensity));
    const text =
      `At ${short(at)} FLOP/byte the roof is ${shown.roofs.map(reading).join(", or ")}. ` +
      (above.length
        ? `${above.length} of ${points.length} points stand above the roof: not all the bytes they count came from DRAM.`
        : "");
    host.say(text);
    chart.setAttribute(
      "aria-label",
      `Roofline of the ${shown.name}, FLOP per second against FLOP per byte, both logarithmic. ${text}`,
    );
    list(points);
    legend.hidden = !points.length;
    source.textContent = points.length
      ? `Circle: Numba; square: CUDA C++; diamond: the library. Points: fp32 products of ${points[0].size}³, against the bytes ${bytes}. Solid: data sheet${shown.roofs.length > 1 ? "; dashed: recorded copy bandwidth" : ""}. ${shown.source}`
      : `Nothing is recorded on the ${shown.name}: this is the roof of its data sheet alone, and no kernel of the course was measured under it.`;
    host.table(
      ["kernel", "language", "FLOP/byte", "speed", "roof there", "share of the roof"],
      points.map((p) => [
        `${p.number}. ${p.label}`,
        ENGINES[p.engine],
        [short(p.intensity)],
        [quantity(p.flops, "FLOP/s")],
        [quantity(attainable(roof, p.intensity), "FLOP/s")],
        [percent(p.flops / attainable(roof, p.intensity))],
      ]),
      shown.roofs
        .map(
          (r) =>
            `${r.name}: ${quantity(r.bandwidth, "B/s")}, ${quantity(r.compute, "FLOP/s")}, ridge at ${short(ridge(r))} FLOP/byte`,
        )
        .join("; "),
    );
  }

  let listed = "";
  /** The points by name; one of them can be tabbed to, arrow keys lead to the others. */
  function list(points) {
    const now = JSON.stringify(points);
    if (now !== listed) {
      listed = now;
      legend.replaceChildren(
        ...points.map((p) => {
          const named = () => pick(p.number);
          return make(
            "li",
            { value: p.number },
            make("button", { type: "button", onfocus: named, onpointerenter: named, onclick: named }, nameAndSpeed(p)),
          );
        }),
      );
    }
    [...legend.children].forEach((item) => {
      const mine = item.value === picked;
      item.firstChild.tabIndex = mine ? 0 : -1;
      item.firstChild.setAttribute("aria-pressed", mine);
    });
  }

  followSize(host, show);
  follow(model, ["gpu", "intensity", "counted"], host, show);
  return () => host.close();
}

export default { render };

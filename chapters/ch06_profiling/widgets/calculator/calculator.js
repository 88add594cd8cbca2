/* Calculator: what a rung waits for, at any tile and size. Every number comes from Python; this script looks it up. */

import {
  make,
  draw,
  clamp,
  quantity,
  frame,
  slider,
  choice,
  followSize,
  put,
  follow,
} from "../../../../kernels/lab/widgets/common.js";

const ENGINES = { numba: "Numba", cpp: "CUDA C++" };
const NAMES = ["M", "N", "K"];
const DECADES = 3; // of the axis, from its low end in cycles per FMA
const ROW = 24;

/** The number of a state: K's values lie next to each other. */
const stateOf = (sizes, shape) => shape.reduce((number, size) => number * sizes.length + sizes.indexOf(size), 0);

/** The versions of a rung in one language, and the one of a tile; the other language where it isn't written in this. */
function chosen(versions, rung, engine, tile) {
  const of = (wanted) => versions.filter((v) => v.rung === rung && v.engine === wanted);
  const own = of(engine).length ? of(engine) : of(engine === "numba" ? "cpp" : "numba");
  return [own, own[clamp(tile, 0, own.length - 1)]];
}

/** The low end of the axis: tensor cores take a hundredth of the cycles. */
const lowEnd = (cycles) => (cycles < 0.1 ? 0.001 : 0.1);

/** Where a number of cycles lies on a logarithmic axis of some width. */
const along = (cycles, width, low) => (width * clamp(Math.log10(cycles / low), 0, DECADES)) / DECADES;

function render({ model, el }) {
  const host = frame(el, "calculator", "Budget calculator");
  const get = (name) => model.get(name);
  const sizes = get("sizes"),
    versions = get("versions");
  if (!versions.length) {
    host.say("Nothing is profiled here yet: `make record` on a GPU measures it.");
    return host.close;
  }
  const titles = [...new Map(versions.map((v) => [v.rung, v.title]))];
  const rung = choice("Rung", titles, (value) => put(model, { rung: value, tile: 0 }));
  const engine = choice("Language", Object.entries(ENGINES), (value) => put(model, { engine: value }));
  let own = [];
  const tile = slider("Tile", {
    min: 0,
    max: 2,
    write: (n) => own[n]?.tile ?? "",
    change: (n) => put(model, { tile: n }),
  });
  const shape = NAMES.map((name, axis) =>
    slider(name, {
      min: 0,
      max: sizes.length - 1,
      write: (n) => sizes[n],
      change: (n) => put(model, { shape: get("shape").map((was, other) => (other === axis ? sizes[n] : was)) }),
    }),
  );
  host.controls.append(rung.element, engine.element, tile.element, ...shape.map((each) => each.element));
  const chart = draw("svg", { role: "img" });
  const told = make("p", { class: "formula" });
  host.picture.append(make("div", { class: "chart" }, chart), told);
  host.notes.append(
    make(
      "p",
      { class: "source" },
      "Bars: cycles of one SM per FMA that each ceiling allows at least, the highest in colour. Red: predicted, with its range. " +
        `Dashed: recorded. ${get("source")}`,
    ),
  );

  function picture(shown, number) {
    const width = clamp(chart.parentNode.clientWidth || 640, 300, 704);
    const left = 150,
      room = width - left - 64,
      bottom = ROW * shown.ceilings.length + 4;
    const start = lowEnd(Number(shown.ceilings[0][3]));
    const x = (cycles) => left + along(cycles, room, start);
    const text = (at, y, content, more = {}) => draw("text", { x: at, y, class: "small", ...more }, content);
    const parts = [],
      values = []; // drawn last, over the lines
    for (let decade = 0; decade <= DECADES; decade += 1) {
      const mark = start * 10 ** decade;
      parts.push(draw("path", { class: "rule", d: `M${x(mark)} 0V${bottom}` }));
      parts.push(text(x(mark), bottom + 14, String(Number(mark.toPrecision(1))), { "text-anchor": "middle" }));
    }
    const [low, high] = [shown.low, shown.high].map((part) => x(part * shown.cycles[number]));
    parts.push(draw("rect", { class: "spread", x: low, y: 0, width: high - low, height: bottom }));
    shown.ceilings.forEach(([name, , , cycles], place) => {
      const y = ROW * place + 3,
        highest = place ? "" : " highest";
      parts.push(
        text(left - 6, y + 13, name, { "text-anchor": "end", class: `small${highest}` }),
        draw("rect", {
          class: `ceiling${highest}`,
          x: left,
          y,
          width: Math.max(0, x(cycles) - left),
          height: ROW - 7,
        }),
      );
      values.push(text(x(cycles) + 5, y + 13, cycles, { class: `small halo${highest}` }));
    });
    const line = (cycles, kind) => draw("path", { class: kind, d: `M${x(cycles)} 0V${bottom}` });
    parts.push(line(shown.cycles[number], "told"));
    if (shown.recorded[number]) parts.push(line(shown.recorded[number][1], "measured"));
    parts.push(draw("path", { class: "axis", d: `M${left} 0V${bottom}H${left + room}` }));
    parts.push(text(left + room / 2, bottom + 30, "cycles of one SM per FMA", { "text-anchor": "middle" }));
    chart.setAttribute("viewBox", `0 0 ${width} ${bottom + 36}`);
    return [...parts, ...values];
  }

  function show() {
    let shown;
    [own, shown] = chosen(versions, get("rung"), get("engine"), get("tile"));
    const number = stateOf(sizes, get("shape"));
    rung.show(get("rung"));
    engine.show(shown.engine);
    for (const option of engine.input.options)
      option.disabled = !versions.some((v) => v.rung === shown.rung && v.engine === option.value);
    tile.limit(own.length - 1);
    tile.input.disabled = own.length < 2;
    tile.show(own.indexOf(shown));
    shape.forEach((each, axis) => each.show(sizes.indexOf(get("shape")[axis])));
    chart.replaceChildren(...picture(shown, number));
    const us = shown.us[number],
      recorded = shown.recorded[number];
    const speed = (tflops) => quantity(1e12 * tflops, "FLOP/s");
    const time = (value) => quantity(1e-6 * value, "s");
    const rounds = shown.rounds[number];
    told.textContent =
      `Predicted: ${time(us)} (${time(shown.low * us)} to ${time(shown.high * us)}), ${speed(shown.tflops[number])}, ` +
      `${rounds} ${rounds === 1 ? "round" : "rounds"} of blocks. ` +
      (recorded ? `Recorded: ${time(recorded[0])}, ${speed(recorded[2])}.` : "Not recorded at this size.");
    const named = `${shown.title}, ${ENGINES[shown.engine]}, ${shown.tile}, ${get("shape").join("×")}`;
    host.say(shown.say);
    chart.setAttribute(
      "aria-label",
      `Ceilings of ${named}, in cycles of one SM per FMA. ${shown.say} ${told.textContent}`,
    );
    host.table(
      ["ceiling", "one FMA needs", "an SM has per cycle", "cycles"],
      [
        ...shown.ceilings.map(([name, needs, has, cycles]) => [name, [needs], [has], [cycles]]),
        ["predicted", [""], [""], [String(shown.cycles[number])]],
        ...(recorded ? [["recorded", [""], [""], [String(recorded[1])]]] : []),
      ],
      `${named}. Counts: ${shown.counts}.`,
    );
  }

  followSize(host, show);
  follow(model, ["rung", "engine", "tile", "shape"], host, show);
  return host.close;
}

export const formulas = { stateOf, chosen, along, lowEnd };
export default { render };

/* Loads and multiply-adds of a block over time. The formulas equal those of __init__.py. */

import { draw, integer, percent, frame, slider, check, hatches, followSize, put, follow, keys } from "../common.js";

const TILES = 8;

/** When each pair of tiles is asked for, has come, is multiplied, and is done with, in cycles. */
function schedule({ stages, load, compute, producer }, tiles = TILES) {
  const times = [];
  for (let tile = 0; tile < tiles; tile += 1) {
    const asked = producer || stages === 1 ? (times[tile - stages]?.done ?? 0) : (times[tile - stages + 1]?.begun ?? 0);
    const begun = Math.max(asked + load, times.at(-1)?.done ?? 0);
    times.push({ asked, come: asked + load, begun, done: begun + compute });
  }
  return times;
}

/** Cycles from one pair of tiles to the next, once the pipeline runs. */
const cyclesPerTile = ({ stages, load, compute, producer }) =>
  Math.max(compute, producer || stages === 1 ? (load + compute) / stages : load / (stages - 1));

/** A round number of cycles, so that at most five marks stand on an axis of this length. */
const markEvery = (total) => [1, 2, 5, 10, 20, 50, 100].map((n) => 100 * n).find((step) => total / step <= 5);

function render({ model, el }) {
  const host = frame(el, "pipeline", "Loads and multiply-adds over time");
  const set = (name) => (value) => put(model, { [name]: value });
  const cycles = (value) => `${integer(value)} cycles`;
  const sliders = {
    stages: slider("Stages", { min: 1, max: 4, change: set("stages") }),
    load: slider("Load", { min: 50, max: 1600, step: 50, write: cycles, change: set("load") }),
    compute: slider("Multiply-adds", { min: 50, max: 1600, step: 50, write: cycles, change: set("compute") }),
  };
  const producer = check("one warp only loads", set("producer"));
  host.controls.append(...Object.values(sliders).map((each) => each.element), producer.element);
  const image = draw("svg", { role: "img" });
  host.picture.append(image);
  const marks = hatches();

  host.notes.append(
    keys(["load", "on its way to shared memory"], ["compute", "multiplied"], ["wait", "the multiply-adds wait"]),
  );

  function redraw() {
    const settings = Object.fromEntries(
      ["stages", "load", "compute", "producer"].map((name) => [name, model.get(name)]),
    );
    const { stages, load, compute } = settings;
    const times = schedule(settings),
      inTurn = TILES * (load + compute),
      perTile = cyclesPerTile(settings);
    const width = Math.max(280, Math.min(640, host.picture.clientWidth)),
      left = 62,
      high = 26,
      bottom = (stages + 1) * high + 6;
    const x = (time) => left + (time / inTurn) * (width - left - 20);
    const parts = [];
    const bar = (row, from, to, name, text) => {
      if (to <= from) return;
      const y = row * high + (row === stages ? 6 : 0);
      const box = { x: x(from), y: y + 2, width: x(to) - x(from), height: high - 5, class: name };
      parts.push(draw("rect", box));
      if (name === "load") parts.push(draw("rect", { ...box, class: "hatch", fill: marks.fill("a") }));
      if (text !== undefined && box.width > 9)
        parts.push(draw("text", { x: (x(from) + x(to)) / 2, y: y + high / 2 + 4, class: "number" }, text));
    };
    const label = (row, text) =>
      parts.push(draw("text", { x: 0, y: row * high + (row === stages ? 6 : 0) + high / 2 + 4, class: "small" }, text));
    for (let stage = 0; stage < stages; stage += 1) label(stage, `stage ${stage}`);
    label(stages, "arithmetic");
    times.forEach(({ asked, come, begun, done }, tile) => {
      bar(tile % stages, asked, come, "load", tile);
      bar(tile % stages, begun, done, "compute", tile);
      bar(stages, tile ? times[tile - 1].done : 0, begun, "wait");
      bar(stages, begun, done, "compute", tile);
    });
    parts.push(draw("path", { class: "axis", d: `M${left} ${bottom}H${x(inTurn)}` }));
    for (let time = 0; time <= inTurn; time += markEvery(inTurn))
      parts.push(
        draw("path", { class: "axis", d: `M${x(time)} ${bottom}v4` }),
        draw("text", { x: x(time), y: bottom + 16, class: "number small" }, integer(time)),
      );
    parts.push(draw("text", { x: 0, y: bottom + 16, class: "small" }, "cycles"));
    if (x(times.at(-1).done) + 60 < x(inTurn)) {
      parts.push(
        draw("path", { class: "axis turn", d: `M${x(inTurn)} 2V${bottom}` }),
        draw("text", { x: x(inTurn) - 5, y: high / 2 + 4, class: "small faint", "text-anchor": "end" }, "in turn"),
      );
    }
    image.setAttribute("viewBox", `0 0 ${width} ${bottom + 22}`);
    image.style.maxWidth = `${width}px`;
    image.replaceChildren(marks.element, ...parts);

    for (const [name, each] of Object.entries(sliders)) each.show(settings[name]);
    producer.show(settings.producer);
    const waits = perTile - compute,
      total = times.at(-1).done,
      bytes = model.get("stage_bytes");
    const who = waits
      ? `The multiply-adds wait ${integer(waits)} of every ${integer(perTile)} cycles for their tile.`
      : "The multiply-adds never wait: all of the load is hidden, but for the first one.";
    const how = stages === 1 ? "In turn, one stage" : stages === 2 ? "Double buffer, 2 stages" : `${stages} stages`;
    const text = `${how}: ${integer(perTile)} cycles per tile, where in turn it takes ${integer(load + compute)}. ${who} Shared memory: ${stages} × ${integer(bytes)} = ${integer(stages * bytes)} bytes.`;
    image.setAttribute(
      "aria-label",
      `${TILES} tiles over time, a strip per stage and one for the arithmetic; they take ${integer(total)} cycles, and in turn ${integer(inTurn)}.`,
    );
    host.say(text);
    host.table(
      ["quantity", "value"],
      [
        ["cycles per tile, once the pipeline runs", [integer(perTile)]],
        ["cycles per tile in turn", [integer(load + compute)]],
        ["cycles per tile that the multiply-adds wait", [integer(waits)]],
        ["share of the time with multiply-adds", [percent(compute / perTile)]],
        [`cycles for ${TILES} tiles`, [integer(total)]],
        ["bytes of shared memory per stage", [integer(bytes)]],
        ["bytes of shared memory, all stages", [integer(stages * bytes)]],
      ],
    );
  }

  followSize(host, redraw);
  follow(model, ["stages", "load", "compute", "producer", "stage_bytes"], host, redraw);
  return host.close;
}

export const formulas = { schedule, cyclesPerTile };
export default { render };

/* A pipeline step by step: everything comes from Python with the state, and this script draws it. */

import { make, draw, clamp, frame, slider, makeTable, followSize, put, follow, keys } from "../common.js";

const HIGH = 20, // of a row
  GAP = 12; // between stages, roles and barriers

/** Phases of an mbarrier as [from, to, number], from the steps in which they end. */
function phases(ends, steps) {
  const found = [];
  let from = 0;
  ends.forEach((step, number) => {
    if (step + 1 > from) found.push([from, step + 1, number]);
    from = Math.max(from, step + 1);
  });
  if (from < steps) found.push([from, steps, ends.length]);
  return found;
}

/** The step at a place of the picture. */
const stepAt = (x, { left, across, steps }) => clamp(Math.floor((x - left) / across), 0, steps - 1);

function render({ model, el }) {
  const host = frame(el, "pipeline-player", `${model.get("kernel")}, step by step`);
  const data = (name) => model.get(name);
  const go = (at) => at !== data("at") && put(model, { at });
  const step = slider("Step", {
    min: 0,
    max: data("steps") - 1,
    write: (n) => `${n + 1} of ${data("steps")}`,
    change: go,
  });
  host.controls.append(step.element);
  host.picture.before(host.controls);
  const image = draw("svg", { role: "img" });
  host.picture.append(image);

  const now = make("div", { class: "now", "aria-live": "polite" });
  const wrong = make("div", { class: "wrong" });
  host.notes.append(
    keys(
      ["coming", "copies on their way"],
      ["full", "they have landed"],
      ["read", "products read it"],
      ["acts", "acts"],
      ["waits", "waits"],
      ["odd", "odd phase"],
    ),
    now,
    wrong,
  );

  let place = null;
  function lay() {
    const [stages, roles, barriers] = ["stages", "roles", "barriers"].map(data),
      steps = data("steps");
    const width = Math.max(280, host.picture.clientWidth || 640),
      left = width < 500 ? 82 : 176,
      across = (width - left - 6) / steps;
    const x = (n) => left + n * across;
    const parts = [];
    let y = 0;
    const row = (label, draws) => {
      parts.push(draw("text", { x: 0, y: y + HIGH / 2 + 4, class: "small" }, label));
      parts.push(draw("rect", { x: left, y: y + 2, width: across * steps, height: HIGH - 4, class: "strip" }));
      draws(y);
      y += HIGH;
    };
    const bars = (runs) => (top) => {
      for (const [from, to, state] of runs)
        parts.push(
          draw("rect", {
            x: x(from),
            y: top + 3,
            width: Math.max(1, (to - from) * across),
            height: HIGH - 6,
            class: state,
          }),
        );
    };
    const short = (label) => (width < 500 ? label.split(":")[0] : label);
    for (const [label, runs] of stages) row(label, bars(runs));
    y += GAP;
    for (const [label, runs] of roles) row(short(label), bars(runs));
    y += GAP;
    for (const [label, ends, arrivals] of barriers)
      row(label, (top) => {
        for (const [from, to, number] of phases(ends, steps)) {
          const box = { x: x(from), y: top + 3, width: (to - from) * across, height: HIGH - 6 };
          parts.push(draw("rect", { ...box, class: number % 2 ? "phase odd" : "phase" }));
          if (box.width > 14)
            parts.push(draw("text", { x: box.x + 3, y: top + HIGH / 2 + 4, class: "small faint" }, number));
        }
        for (const at of arrivals)
          parts.push(
            draw("circle", { cx: x(at + 0.5), cy: top + HIGH / 2, r: Math.min(3, across / 2 + 1), class: "arrival" }),
          );
      });
    if (data("stuck")) parts.push(draw("path", { d: `M${x(steps)} 0V${y}`, class: "stop" }));
    const cursor = draw("rect", { y: 0, height: y, width: Math.max(2, across), class: "cursor" });
    image.setAttribute("viewBox", `0 0 ${width} ${y}`);
    image.style.height = `${y}px`;
    image.setAttribute(
      "aria-label",
      `${stages.length} stages, ${roles.length} roles and ${barriers.length} mbarriers over ${steps} steps` +
        (data("stuck") ? "; then nothing can go on." : "."),
    );
    image.replaceChildren(...parts, cursor);
    place = { left, across, steps, cursor };
    show();
  }

  const rows = (n) => data("notes")[n].map(([who, what]) => [who, what]);
  const table = (n) => makeTable(["who", "what"], rows(n));
  // The longest step keeps its room.
  const longest = data("notes").reduce((most, notes, n) => {
    const size = (of) => of.reduce((sum, [, what]) => sum + 40 + what.length, 0);
    return size(notes) > size(data("notes")[most]) ? n : most;
  }, 0);
  const room = table(longest);
  room.style.visibility = "hidden";
  room.setAttribute("aria-hidden", "true");

  function show() {
    const at = data("at");
    place.cursor.setAttribute("x", place.left + at * place.across);
    step.show(at);
    now.replaceChildren(room, table(at));
    const waiting = rows(at).filter(([, what]) => what.includes("waits at line")).length;
    host.say(`Step ${at + 1} of ${data("steps")}: ${waiting} of ${data("roles").length} roles wait at its end.`);
  }

  host.table(
    ["who and what", "how often"],
    data("numbers").map(([name, number]) => [name, number]),
  );
  const problems = data("problems");
  if (data("stuck") || problems.length)
    wrong.append(...problems.slice(0, 3).map((text) => make("p", { class: "warning" }, text)));

  const lead = (event) => {
    const box = image.getBoundingClientRect();
    go(stepAt(event.clientX - box.left, place));
  };
  image.addEventListener("pointerdown", (event) => {
    image.setPointerCapture(event.pointerId);
    lead(event);
  });
  image.addEventListener("pointermove", (event) => image.hasPointerCapture(event.pointerId) && lead(event));

  followSize(host, lay);
  lay();
  follow(model, ["at"], host, show);
  return host.close;
}

export const formulas = { phases, stepAt };
export default { render };

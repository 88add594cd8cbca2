/* A small figure between two paragraphs: a picture of cells, its controls, and a sentence that follows them. Every
   frame comes from Python with the state; this script looks it up. */

import { make, draw, moveSliders, slider, put, follow } from "../common.js";

/** The nodes of a sentence: `*8*` is strong, `*a:8*` has the colour of A besides. */
const nodes = (sentence) =>
  sentence.split("*").map((text, i) => {
    if (i % 2 === 0) return text;
    const [, colour, strong] = /^(?:(\w):)?(.*)$/s.exec(text);
    return make("b", { class: colour }, strong);
  });

/** The kind of every cell: `a3b` is `aaab`. */
const unpacked = (kinds) => kinds.replace(/(\D)(\d+)/g, (_, kind, times) => kind.repeat(times));

/** The number of the frame for a setting of the controls, and the setting of a frame. */
const frameOf = (sizes, at) => at.reduce((number, value, axis) => number * sizes[axis] + value, 0);
function settingOf(sizes, frame) {
  const at = [];
  for (const size of [...sizes].reverse()) {
    at.unshift(frame % size);
    frame = Math.floor(frame / size);
  }
  return at;
}

/** The frame that has a hand nearest to a place. */
function nearest(frames, [x, y]) {
  let best = [Infinity, 0];
  frames.forEach(([, , hands], number) => {
    for (const [left, top] of hands) {
      const distance = (left - x) ** 2 + (top - y) ** 2;
      if (distance < best[0]) best = [distance, number];
    }
  });
  return best[1];
}

function render({ model, el }) {
  const [title, alt, [width, height], grids, labels, controls, frames] = [
    "title", "alt", "size", "grids", "labels", "controls", "frames",
  ].map((name) => model.get(name)); // prettier-ignore
  const sizes = controls.map(([, values]) => values.length);
  const undo = [];

  const cells = grids.map(([left, top, rows, columns, across, down]) =>
    Array.from({ length: rows * columns }, (_, n) =>
      draw("rect", {
        x: left + (n % columns) * across,
        y: top + Math.floor(n / columns) * down,
        width: across - (across > 4 ? 1 : 0),
        height: down - (down > 4 ? 1 : 0),
      }),
    ),
  );
  const grip = draw("circle", { class: "grip", r: 9 });
  const dragged = frames.every(([, , hands]) => hands.length === 1);
  const picture = draw(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": alt },
    cells.flat(),
    labels.map(([x, y, text]) => draw("text", { x, y }, text)),
    dragged && grip,
  );

  const set = (at) => put(model, { at });
  const sliders = controls.map(([name, values], axis) =>
    slider(name, {
      min: 0,
      max: values.length - 1,
      write: (n) => values[n],
      change: (n) => set(model.get("at").map((was, other) => (other === axis ? n : was))),
    }),
  );
  const longest = frames.reduce((most, [say]) => (say.length > most.length ? say : most), "");
  const say = make("p", { "aria-live": "polite", "aria-atomic": "true" });
  const root = make(
    "section",
    { class: "tile-widget micro", "aria-label": title, role: "group", "data-lm-suppress-shortcuts": "true" },
    picture,
    make(
      "div",
      { class: "words" },
      // The longest sentence keeps its room.
      make("div", { class: "say" }, say, make("p", { class: "room", "aria-hidden": "true" }, nodes(longest))),
      make(
        "div",
        { class: "hands" },
        sliders.map((each) => each.element),
      ),
    ),
  );
  el.append(root);
  moveSliders(root);

  if (frames.some(([, , hands]) => hands.length)) {
    const lead = (event) => {
      const box = picture.getBoundingClientRect();
      const place = [event.clientX - box.left, event.clientY - box.top].map((at) => (at * width) / box.width);
      const at = settingOf(sizes, nearest(frames, place));
      if (String(at) !== String(model.get("at"))) set(at);
    };
    picture.classList.add("led");
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      lead(event);
    });
    picture.addEventListener("pointermove", (event) => picture.hasPointerCapture(event.pointerId) && lead(event));
  }

  follow(model, ["at"], { onClose: (f) => undo.push(f) }, () => {
    const at = model.get("at");
    const [sentence, kinds, hands] = frames[frameOf(sizes, at)];
    cells.forEach((grid, g) => {
      const wanted = unpacked(kinds[g]);
      grid.forEach((cell, n) => {
        if (cell.dataset.is !== wanted[n]) cell.dataset.is = wanted[n];
      });
    });
    if (dragged) ["cx", "cy"].forEach((name, i) => grip.setAttribute(name, hands[0][i]));
    sliders.forEach((each, axis) => each.show(at[axis]));
    say.replaceChildren(...nodes(sentence));
  });
  return () => {
    undo.forEach((f) => f());
    root.remove();
  };
}

export const formulas = { unpacked, frameOf, settingOf, nearest };
export default { render };

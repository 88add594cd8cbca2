/* A thread tile: TM numbers of A times TN of B, added to TM·TN sums in registers, step by step of k. */

import {
  make,
  draw,
  short,
  frame,
  slider,
  followSize,
  put,
  follow,
  keys,
} from "../../../../kernels/lab/widgets/common.js";

const LARGEST = 8;
const MOST_REGISTERS = 255;

/** The sums of the thread after some steps of k: row by row. */
const sums = (A, B, TM, TN, step) =>
  Array.from({ length: TM }, (_, i) =>
    Array.from({ length: TN }, (_, j) => B.slice(0, step).reduce((sum, row, k) => sum + A[i][k] * row[j], 0)),
  );

/** What a step costs: loads from shared memory, multiply-adds, and the registers that hold it all. */
function cost(TM, TN) {
  const loads = TM + TN,
    multiplyAdds = TM * TN;
  return {
    loads,
    multiplyAdds,
    perMultiplyAdd: loads / multiplyAdds,
    intensity: (2 * multiplyAdds) / (4 * loads),
    registers: loads + multiplyAdds,
  };
}

function render({ model, el }) {
  const host = frame(el, "outer-product", "Thread tile: an outer product in registers");
  const steps = model.get("B").length;
  const set = (name) => (value) => put(model, { [name]: value });
  const sliders = {
    TM: slider("TM, rows", { min: 1, max: LARGEST, change: set("TM") }),
    TN: slider("TN, columns", { min: 1, max: LARGEST, change: set("TN") }),
    step: slider("Step", { min: 0, max: steps, write: (step) => `${step} of ${steps}`, change: set("step") }),
  };
  host.controls.append(...Object.values(sliders).map((each) => each.element));
  const image = draw("svg", { role: "img" });
  const formula = make("p", { class: "formula" });
  host.picture.append(image);

  host.notes.append(
    formula,
    keys(
      ["shared", "in shared memory"],
      ["a held", "a: read from A into registers"],
      ["b held", "b: read from B into registers"],
      ["c held", "sums, in registers"],
    ),
  );

  function redraw() {
    const [TM, TN, step, A, B] = ["TM", "TN", "step", "A", "B"].map((name) => model.get(name));
    const k = step - 1,
      sum = sums(A, B, TM, TN, step),
      per = cost(TM, TN);
    // Left to right: the rows of A, a, the sums; top to bottom: the columns of B, b, the sums.
    const cell = Math.min(28, (Math.max(280, host.picture.clientWidth) - 18) / (steps + 1 + LARGEST));
    const gap = cell / 3,
      held = steps * cell + gap,
      from = held + cell + gap;
    const parts = [];
    const square = (x, y, name, number) => {
      parts.push(draw("rect", { x: x + 1, y: y + 1, width: cell - 2, height: cell - 2, rx: 2, class: name }));
      if (number !== null)
        parts.push(draw("text", { x: x + cell / 2, y: y + cell / 2 + 4, class: "number" }, String(number)));
    };
    for (let i = 0; i < TM; i += 1) {
      for (let at = 0; at < steps; at += 1)
        square(at * cell, from + i * cell, at === k ? "shared a now" : "shared a", A[i][at]);
      square(held, from + i * cell, step ? "a held" : "a", step ? A[i][k] : null);
    }
    for (let j = 0; j < TN; j += 1) {
      for (let at = 0; at < steps; at += 1)
        square(from + j * cell, at * cell, at === k ? "shared b now" : "shared b", B[at][j]);
      square(from + j * cell, held, step ? "b held" : "b", step ? B[k][j] : null);
    }
    for (let i = 0; i < TM; i += 1)
      for (let j = 0; j < TN; j += 1) square(from + j * cell, from + i * cell, step ? "c held" : "c", sum[i][j]);
    const name = (x, y, text, anchor = "middle") =>
      parts.push(draw("text", { x, y, "text-anchor": anchor, class: "small" }, text));
    const at = (step ? k + 0.5 : steps / 2) * cell;
    name(Math.max(at, 20), from - gap, step ? `A[i, ${k}]` : "A");
    name(held + cell / 2, from - gap, "a");
    name(from - gap, at + 4, step ? `B[${k}, j]` : "B", "end");
    name(from - gap, held + cell / 2 + 4, "b", "end");
    image.setAttribute("viewBox", `0 0 ${from + LARGEST * cell + 2} ${from + LARGEST * cell + 2}`);
    image.style.maxWidth = `${from + LARGEST * cell + 2}px`;
    image.replaceChildren(...parts);

    for (const [name, each] of Object.entries(sliders)) each.show(model.get(name));
    const size = `${TM} × ${TN}`;
    const done = step
      ? `Step ${step} of ${steps}, k = ${k}: the thread reads ${TM} + ${TN} = ${per.loads} elements and adds ${per.multiplyAdds} products.`
      : `Before the first step all ${per.multiplyAdds} sums are 0.`;
    formula.textContent = step
      ? `acc[0, 0] += a[0] * b[0] = ${A[0][k]} * ${B[k][0]};  now ${sum[0][0]}`
      : "acc[i, j] = 0";
    const text = `${done} A thread tile of ${size} takes ${short(per.perMultiplyAdd)} loads per multiply-add, and ${per.registers} of at most ${MOST_REGISTERS} registers.`;
    image.setAttribute(
      "aria-label",
      `${TM} rows of A at the left, ${TN} columns of B above, ${per.multiplyAdds} sums between them. ${done}`,
    );
    host.say(text);
    host.table(
      ["quantity", "value"],
      [
        ["elements of A read per step", [String(TM)]],
        ["elements of B read per step", [String(TN)]],
        ["multiply-adds per step", [String(per.multiplyAdds)]],
        ["loads per multiply-add", [short(per.perMultiplyAdd)]],
        ["FLOP per byte read", [short(per.intensity)]],
        ["registers for the sums", [String(per.multiplyAdds)]],
        ["registers for the elements of A and B", [String(per.loads)]],
        ...sum.map((row, i) => [`row ${i} of the sums`, [row.join(" ")]]),
      ],
    );
  }

  followSize(host, redraw);
  follow(model, ["TM", "TN", "step"], host, redraw);
  return host.close;
}

export const formulas = { sums, cost };
export default { render };

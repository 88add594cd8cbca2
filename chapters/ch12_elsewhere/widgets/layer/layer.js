/* What limits a layer. The formulas equal those of kernels/basics/layer.py. */

import {
  make,
  draw,
  clamp,
  integer,
  short,
  quantity,
  frame,
  slider,
  choice,
  numberField,
  numberFault,
  warningLine,
  followSize,
  put,
  follow,
} from "../../../../kernels/lab/widgets/common.js";

const BYTES = { float32: 4, float16: 2, bfloat16: 2 };
const MOST = 65536;
const LIMITS = ["arithmetic", "memory", "launch"];

/** The work of a layer, the seconds of each limit, and the longest; `peak` and `bandwidth` are per second, `launch` in µs. */
function limits({ M, N, K, dtype, launch }, { peaks, bandwidth }) {
  const flop = 2 * M * N * K,
    bytes = BYTES[dtype] * (M * K + K * N + M * N),
    times = { arithmetic: flop / peaks[dtype], memory: bytes / bandwidth, launch: launch * 1e-6 };
  const limit = LIMITS.reduce((most, each) => (times[each] > times[most] ? each : most));
  return { flop, bytes, intensity: flop / bytes, times, limit };
}

/** The least M at which arithmetic takes as long as memory; null where no M reaches that. */
function turningPoint({ N, K, dtype }, { peaks, bandwidth }) {
  const bytesOfRidge = (peaks[dtype] / bandwidth) * BYTES[dtype],
    gain = 2 * N * K - bytesOfRidge * (N + K);
  return gain <= 0 ? null : Math.max(1, Math.ceil((bytesOfRidge * N * K) / gain));
}

const SAID = {
  arithmetic: "Arithmetic limits it: faster units would help, and more bandwidth wouldn't.",
  memory: "Memory limits it: fewer bytes would help, and faster units wouldn't.",
  launch: "The launch limits it: the GPU waits for the host, so put more work into each launch.",
};

function render({ model, el }) {
  const host = frame(el, "layer", "What limits a layer");
  const gpus = model.get("gpus");
  const set = (name) => (value) => put(model, { [name]: value });
  const gpu = choice(
    "GPU",
    Object.entries(gpus).map(([key, { name }]) => [key, name]),
    set("gpu"),
  );
  const dtype = choice(
    "Numbers",
    Object.keys(BYTES).map((name) => [name, name]),
    set("dtype"),
  );
  const fields = {};
  const check = (name) => () => {
    const faults = Object.entries(fields).map(([key, field]) => numberFault(key, field.input.value, MOST));
    warning.show(faults.find(Boolean) ?? "");
    const text = fields[name].input.value;
    if (!numberFault(name, text, MOST)) put(model, { [name]: Number(text) });
  };
  for (const [name, label] of [
    ["M", "M, inputs at once"],
    ["N", "N, outputs"],
    ["K", "K, numbers per input"],
  ]) {
    fields[name] = numberField(label, { min: 1, max: MOST, change: () => {} });
    fields[name].input.addEventListener("input", check(name));
  }
  const batch = slider("M in powers of 2", {
    min: 0,
    max: 16,
    write: (v) => integer(2 ** v),
    change: (v) => put(model, { M: 2 ** v }),
  });
  const launch = slider("Launch", {
    min: 0,
    max: 50,
    step: 0.5,
    write: (v) => `${v} µs`,
    change: set("launch"),
  });
  host.controls.append(
    gpu.element,
    dtype.element,
    ...Object.values(fields).map((field) => field.element),
    batch.element,
    launch.element,
  );
  const warning = warningLine(host);
  const image = draw("svg", { role: "img" });
  host.picture.append(image);
  host.notes.append(
    make(
      "p",
      { class: "source" },
      "Least times: dense peaks and bandwidth by the data sheet, every byte once, the launch as set. If they overlap, the longest decides.",
    ),
  );

  function picture(times, limit) {
    const width = clamp(host.picture.clientWidth, 280, 640),
      left = 82,
      high = 26,
      bottom = 3 * high + 6;
    // A logarithmic axis from 1 ns to 100 s.
    const at = (seconds) => left + clamp((Math.log10(seconds) + 9) / 11, 0, 1) * (width - left - 62);
    const parts = [];
    for (const [power, text] of [
      [-9, "1 ns"],
      [-6, "1 µs"],
      [-3, "1 ms"],
      [0, "1 s"],
    ]) {
      const x = at(10 ** power);
      parts.push(
        draw("path", { d: `M${x} 0V${bottom}`, class: "rule" }),
        draw("text", { x, y: bottom + 14, class: "number small" }, text),
      );
    }
    LIMITS.forEach((what, row) => {
      const y = row * high + 4,
        end = at(times[what]);
      parts.push(
        draw("text", { x: 0, y: y + 14, class: what === limit ? "limit" : null }, what),
        draw("rect", {
          x: left,
          y,
          width: Math.max(1, end - left),
          height: high - 8,
          class: `bar ${what}${what === limit ? " limit" : ""}`,
        }),
        draw("text", { x: end + 5, y: y + 14, class: "small" }, quantity(times[what], "s")),
      );
    });
    image.setAttribute("viewBox", `0 0 ${width} ${bottom + 20}`);
    image.style.maxWidth = `${width}px`;
    image.replaceChildren(...parts);
  }

  function redraw() {
    const names = ["M", "N", "K", "dtype", "gpu", "launch"];
    const settings = Object.fromEntries(names.map((name) => [name, model.get(name)]));
    const { M, N, K } = settings,
      sheet = gpus[settings.gpu];
    gpu.show(settings.gpu);
    dtype.show(settings.dtype);
    if (warning.quiet) for (const [name, field] of Object.entries(fields)) field.show(settings[name]);
    batch.show(Math.round(Math.log2(M)));
    launch.show(settings.launch);
    if (sheet.peaks[settings.dtype] === null) {
      const text = `The ${sheet.name} has no tensor cores for ${settings.dtype}: choose float16 or float32.`;
      image.replaceChildren();
      image.setAttribute("aria-label", text);
      host.say(text);
      host.table(["quantity", "value"], []);
      return;
    }
    const { flop, bytes, intensity, times, limit } = limits(settings, sheet),
      turn = turningPoint(settings, sheet);
    picture(times, limit);
    image.setAttribute(
      "aria-label",
      `Three bars, times on a logarithmic scale: ${LIMITS.map((what) => `${what} ${quantity(times[what], "s")}`).join(", ")}.`,
    );
    const later =
      turn === null
        ? "At these N and K, memory takes longer than arithmetic for every M."
        : `From M = ${integer(turn)} on, arithmetic takes longer than memory.`;
    host.say(`${SAID[limit]} ${later}`);
    host.table(
      ["quantity", "value"],
      [
        ["arithmetic to do", [quantity(flop, "FLOP")]],
        ["bytes to move", [quantity(bytes, "B")]],
        ["FLOP per byte", [short(intensity)]],
        ...LIMITS.map((what) => [`${what} takes`, [quantity(times[what], "s")]]),
        ["limited by", [limit]],
        ["M from which arithmetic exceeds memory", [turn === null ? "none" : integer(turn)]],
      ],
      `M, N, K = ${M}, ${N}, ${K}; ${settings.dtype}; ${sheet.name}, data sheet`,
    );
  }

  followSize(host, redraw);
  follow(model, ["M", "N", "K", "dtype", "gpu", "launch"], host, redraw);
  return host.close;
}

export const formulas = { limits, turningPoint };
export default { render };

/* A product on several GPUs, step by step. The formulas equal those of kernels/distributed. */

import {
  make,
  draw,
  clamp,
  integer,
  quantity,
  percent,
  stillness,
  frame,
  slider,
  choice,
  button,
  followSize,
  put,
  follow,
} from "../../../../kernels/lab/widgets/common.js";

/** A size in parts that differ by one at most: pairs of start and end. */
function cut(size, parts) {
  const end = (part) => Math.floor(size / parts) * part + Math.min(part, size % parts);
  return Array.from({ length: parts }, (_, part) => [end(part), end(part + 1)]);
}

const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const long = ([start, end]) => end - start;
const area = ({ rows, cols }) => long(rows) * long(cols);

/** By step: what each rank multiplies, and which of it came from whom. And what each rank holds. */
function schedule({ algorithm, p, q, size, pieces }) {
  const all = [0, size],
    ranks = Array.from({ length: p * q }, (_, rank) => rank);
  const tile = (matrix, rows, cols) => ({ matrix, rows, cols });
  if (algorithm !== "summa") {
    const parts = cut(size, ranks.length);
    const A = parts.map((part) => tile("A", part, all)),
      B = parts.map((part) => tile("B", all, part));
    const steps = ranks.map((ahead) =>
      ranks.map((r) => {
        const owner = (r + ahead) % ranks.length;
        const source = algorithm === "ring" ? (r + 1) % ranks.length : owner;
        return { a: A[r], b: B[owner], came: ahead ? [{ tile: B[owner], source }] : [] };
      }),
    );
    return { steps, holds: ranks.map((r) => [A[r], B[r]]) };
  }
  const rows = cut(size, p),
    cols = cut(size, q),
    panels = cut(size, ((p * q) / gcd(p, q)) * pieces);
  const holds = ranks.map(() => []);
  const steps = panels.map((panel, k) => {
    const column = Math.floor((k * q) / panels.length),
      row = Math.floor((k * p) / panels.length);
    return ranks.map((rank) => {
      const i = Math.floor(rank / q),
        j = rank % q;
      const a = tile("A", rows[i], panel),
        b = tile("B", panel, cols[j]);
      const owners = [
        { tile: a, source: i * q + column },
        { tile: b, source: row * q + j },
      ];
      for (const each of owners) if (each.source === rank) holds[rank].push(each.tile);
      return { a, b, came: owners.filter(({ source }) => source !== rank) };
    });
  });
  return { steps, holds };
}

/** Seconds of arithmetic, of traffic and of both, bytes that each rank receives, and when each step moves and multiplies. */
function times(settings) {
  const { steps } = schedule(settings),
    flops = settings.flops * 1e12,
    bandwidth = settings.link * 1e9;
  const received = Array(settings.p * settings.q).fill(0),
    moments = [];
  let arithmetic = 0,
    traffic = 0,
    link = 0,
    units = 0;
  for (const [number, ranks] of steps.entries()) {
    const bytes = ranks.map(() => [0, 0]),
      last = new Map(); // by tile: who passes it on
    ranks.forEach(({ came }, rank) => {
      for (const { tile, source } of came) {
        const key = JSON.stringify(tile);
        bytes[rank][0] += area(tile) * settings.itemsize;
        bytes[last.get(key) ?? source][1] += area(tile) * settings.itemsize;
        last.set(key, rank);
      }
      received[rank] += bytes[rank][0];
    });
    const most = Math.max(...bytes.flat()),
      moving = most / bandwidth,
      multiplying = Math.max(...ranks.map(({ a, b }) => 2 * area(a) * long(b.cols))) / flops;
    const begin = most ? Math.max(link, moments[number - 2]?.units[1] ?? 0) : link;
    link = begin + moving;
    const start = Math.max(units, most ? link : 0);
    units = start + multiplying;
    moments.push({ link: [begin, link], units: [start, units] });
    arithmetic += multiplying;
    traffic += moving;
  }
  return { arithmetic, traffic, seconds: Math.max(link, units), received, moments };
}

const NAMES = { summa: "SUMMA", rows: "Rows, B in parts", ring: "Rows, B round a ring" };

function render({ model, el }) {
  const host = frame(el, "many-gpus", "A product on several GPUs");
  const set = (name) => (value) => put(model, { [name]: value });
  const power = (name) => (value) => put(model, { [name]: 2 ** value });
  const algorithm = choice("Algorithm", Object.entries(NAMES), (value) => put(model, { algorithm: value, step: 0 }));
  const itemsize = choice(
    "Numbers",
    [
      [4, "4 bytes"],
      [2, "2 bytes"],
    ],
    (value) => put(model, { itemsize: Number(value) }),
  );
  const grid = (name) => (value) => put(model, { [name]: value, step: 0 });
  const sliders = {
    p: slider("Rows of GPUs", { min: 1, max: 4, change: grid("p") }),
    q: slider("Columns of GPUs", { min: 1, max: 4, change: grid("q") }),
    size: slider("Size", { min: 9, max: 16, write: (v) => integer(2 ** v), change: power("size") }),
    link: slider("Link", { min: 5, max: 1000, step: 5, write: (v) => `${v} GB/s`, change: set("link") }),
    flops: slider("Each GPU", { min: 5, max: 2000, step: 5, write: (v) => `${v} TFLOP/s`, change: set("flops") }),
    pieces: slider("Pieces per panel", { min: 1, max: 4, change: grid("pieces") }),
    step: slider("Step", { min: 0, max: 3, change: set("step") }),
  };
  let ticking = null;
  const play = button("Play");
  const stop = () => {
    clearInterval(ticking);
    ticking = null;
    play.textContent = "Play";
  };
  play.addEventListener("click", () => {
    if (ticking !== null) return stop();
    play.textContent = "Pause";
    ticking = setInterval(
      () => {
        const last = Number(sliders.step.input.max),
          next = Math.min(model.get("step"), last) + 1;
        put(model, { step: next > last ? 0 : next });
      },
      stillness() ? 2500 : 1200,
    );
  });
  host.onClose(stop);
  host.controls.append(
    algorithm.element,
    itemsize.element,
    ...Object.values(sliders).map((each) => each.element),
    play,
  );
  const image = draw("svg", { role: "img" });
  host.picture.append(image);
  host.notes.append(
    make(
      "p",
      { class: "source keys" },
      "Light: held from the start. Dark: multiplied in this step, and the block of C that it is added to. Dashed: came from another GPU.",
    ),
  );

  function matrix(x, y, side, name, size, held, used, came) {
    const box = ({ rows, cols }, kind) =>
      draw("rect", {
        x: x + (cols[0] / size) * side,
        y: y + (rows[0] / size) * side,
        width: Math.max(1, (long(cols) / size) * side),
        height: Math.max(1, (long(rows) / size) * side),
        class: kind,
      });
    return [
      ...held.map((tile) => box(tile, `held ${name}`)),
      box(used, `used ${name}`),
      ...came.map((tile) => box(tile, "came")),
      draw("rect", { x, y, width: side, height: side, class: "whole" }),
      draw("text", { x: x + side / 2, y: y - 4, class: "number small" }, name),
    ];
  }

  function redraw() {
    const settings = Object.fromEntries(
      ["algorithm", "p", "q", "size", "pieces", "link", "flops", "itemsize"].map((name) => [name, model.get(name)]),
    );
    const { p, q, size } = settings,
      { steps, holds } = schedule(settings),
      found = times(settings);
    const step = clamp(model.get("step"), 0, steps.length - 1);
    const width = Math.max(280, Math.min(720, host.picture.clientWidth)),
      wide = width / q,
      side = Math.min(64, (wide - 26) / 3),
      high = side + 48;
    const parts = [];
    steps[step].forEach(({ a, b, came }, rank) => {
      const x = (rank % q) * wide + 3,
        y = Math.floor(rank / q) * high + 2;
      const c = { matrix: "C", rows: a.rows, cols: b.cols };
      parts.push(
        draw("rect", { x, y, width: wide - 6, height: high - 6, rx: 4, class: "gpu" }),
        draw("text", { x: x + 5, y: y + 13, class: "small" }, `GPU ${rank}`),
      );
      for (const [place, used] of [a, b, c].entries()) {
        const name = used.matrix,
          of = (tiles) => tiles.filter((tile) => tile.matrix === name);
        parts.push(
          ...matrix(
            x + 5 + place * (side + 5),
            y + 33,
            side,
            name,
            size,
            of(holds[rank]),
            used,
            of(came.map(({ tile }) => tile)),
          ),
        );
      }
    });
    const top = p * high + 12,
      left = 74,
      strip = 24,
      most = Math.max(found.seconds, found.arithmetic + found.traffic);
    const at = (time) => left + (time / most) * (width - left - 12);
    for (const [row, [kind, label]] of [
      ["link", "link"],
      ["units", "arithmetic"],
    ].entries()) {
      parts.push(draw("text", { x: 0, y: top + row * strip + 15, class: "small" }, label));
      found.moments.forEach((moment, number) => {
        const [from, to] = moment[kind];
        if (to > from)
          parts.push(
            draw("rect", {
              x: at(from),
              y: top + row * strip,
              width: Math.max(1, at(to) - at(from)),
              height: strip - 5,
              class: `${kind}${number === step ? " now" : ""}`,
            }),
          );
      });
    }
    const bottom = top + 2 * strip;
    parts.push(
      draw("path", {
        class: "axis",
        d: `M${left} ${bottom}H${at(most)}M${at(found.seconds)} ${top - 4}V${bottom + 4}`,
      }),
      draw(
        "text",
        { x: clamp(at(found.seconds), left + 30, width - 34), y: bottom + 16, class: "number small" },
        quantity(found.seconds, "s"),
      ),
    );
    image.setAttribute("viewBox", `0 0 ${width} ${bottom + 22}`);
    image.style.maxWidth = `${width}px`;
    image.replaceChildren(...parts);

    algorithm.show(settings.algorithm);
    itemsize.show(settings.itemsize);
    for (const name of ["p", "q", "pieces", "link", "flops"]) sliders[name].show(settings[name]);
    sliders.size.show(Math.round(Math.log2(size)));
    sliders.step.limit(steps.length - 1);
    sliders.step.show(step);
    sliders.pieces.input.disabled = settings.algorithm !== "summa";
    const one = (2 * size ** 3) / (settings.flops * 1e12),
      gpus = p * q,
      speedup = one / found.seconds,
      exposed = found.seconds - found.arithmetic;
    const senders = steps[step][0].came.map(({ tile, source }) => `${tile.matrix} from GPU ${source}`);
    const first = senders.length ? `GPU 0 gets ${senders.join(" and ")}` : "GPU 0 has what it needs";
    image.setAttribute(
      "aria-label",
      `${gpus} GPUs in step ${step} of ${steps.length}, each with its tiles of A, B and C; below, link and arithmetic over time.`,
    );
    host.say(
      `${NAMES[settings.algorithm]}, step ${step + 1} of ${steps.length}: ${first}. ${quantity(found.arithmetic, "s")} of arithmetic and ${quantity(found.traffic, "s")} of traffic take ${quantity(found.seconds, "s")} together; ${quantity(Math.max(0, exposed), "s")} of the traffic is exposed. That's ${speedup.toFixed(2)} times one GPU.`,
    );
    host.table(
      ["quantity", "value"],
      [
        ["GPUs", [String(gpus)]],
        ["steps", [String(steps.length)]],
        ["received by one GPU", [quantity(Math.max(...found.received), "B")]],
        ["time of the arithmetic", [quantity(found.arithmetic, "s")]],
        ["time of the traffic", [quantity(found.traffic, "s")]],
        ["time of both, overlapped", [quantity(found.seconds, "s")]],
        ["speed-up over one GPU", [speedup.toFixed(2)]],
        ["efficiency", [percent(speedup / gpus)]],
      ],
    );
  }

  followSize(host, redraw);
  follow(model, ["algorithm", "p", "q", "size", "pieces", "link", "flops", "itemsize", "step"], host, redraw);
  return host.close;
}

export const formulas = { schedule, times };
export default { render };

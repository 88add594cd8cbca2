/* The roofline. The formulas equal those of kernels/lab/roofline.py. */

/** FLOP per byte from which arithmetic, no longer memory, is the limit. */
const ridge = (roof) => roof.compute / roof.bandwidth;
/** The most FLOP a second that a kernel of this intensity can reach. */
const attainable = (roof, intensity) => Math.min(roof.compute, intensity * roof.bandwidth);
/** What limits it. */
const limitOf = (roof, intensity) => (intensity < ridge(roof) ? "memory" : "compute");

const formulas = { ridge, attainable, limitOf };

const ENGINES = { numba: "Numba", cpp: "CUDA C++", library: "library" };
const COUNTED = [["asked", "asked for by the threads"], ["compulsory", "that must move once"]];
const WIDTH = 440, HEIGHT = 350, LEFT = 62, RIGHT = 430, TOP = 16, BOTTOM = 306;
/** Where the number of a point may stand, from the point, best first. */
const PLACES = [[13, 0], [-13, 0], [0, -13], [0, 13], [12, -10], [-12, 10], [12, 10], [-12, -10], [28, 0], [-28, 0], [28, 10], [-28, -10]];
const X_DECADES = [-1, 3.7], FINEST = -4, COARSEST = 12;

function render({ model, el }) {
  const host = frame(el, "roofline", "Roofline");
  const get = (key) => model.get(key);
  const gpu = choice("GPU", Object.entries(get("gpus")).map(([key, { name }]) => [key, name]), (key) => put(model, { gpu: key }));
  const counted = choice("Bytes of the points", COUNTED, (value) => put(model, { counted: value }));
  const intensity = slider("Intensity", {
    min: FINEST, max: COARSEST, step: 0.25,
    write: (power) => `${short(2 ** power)} FLOP/byte`,
    change: (power) => put(model, { intensity: 2 ** power }),
  });
  const chart = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const legend = make("ol", { class: "legend", "aria-label": "The points" });
  const source = make("p", { class: "source" });
  host.controls.append(gpu.element, counted.element, intensity.element);
  host.picture.append(make("div", { class: "chart" }, chart));
  host.notes.append(legend, source);

  const x = (value) => LEFT + ((Math.log10(value) - X_DECADES[0]) / (X_DECADES[1] - X_DECADES[0])) * (RIGHT - LEFT);
  const text = (px, py, words, attributes = {}) => draw("text", { x: px, y: py, "text-anchor": "middle", class: "small", ...attributes }, words);

  function picture(shown, points, at) {
    const speeds = [...shown.roofs.map((roof) => roof.compute), ...points.map((p) => p.flops)];
    const slopes = shown.roofs.map((roof) => attainable(roof, 10 ** X_DECADES[0]));
    const high = Math.log10(Math.max(...speeds)) + 0.35, low = Math.min(Math.log10(Math.min(...slopes, ...points.map((p) => p.flops))), high - 2) - 0.1;
    const y = (value) => BOTTOM - ((Math.log10(value) - low) / (high - low)) * (BOTTOM - TOP);
    const parts = [];
    for (let power = Math.ceil(low); power < high; power++) {
      parts.push(draw("path", { class: "rule", d: `M${LEFT} ${y(10 ** power)}H${RIGHT}` }));
      parts.push(text(LEFT - 6, y(10 ** power) + 4, quantity(10 ** power, "", 1).trim(), { "text-anchor": "end" }));
    }
    for (let power = X_DECADES[0]; power < X_DECADES[1]; power++) {
      parts.push(draw("path", { class: "rule", d: `M${x(10 ** power)} ${TOP}V${BOTTOM}` }));
      parts.push(text(x(10 ** power), BOTTOM + 16, String(10 ** power)));
    }
    parts.push(draw("path", { class: "axis", d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}` }));
    parts.push(text((LEFT + RIGHT) / 2, HEIGHT - 6, "intensity: FLOP per byte"), text(18, TOP + 2, "FLOP/s"));
    shown.roofs.forEach((roof, i) => {
      const [from, to] = X_DECADES.map((power) => 10 ** power);
      const d = `M${x(from)} ${y(attainable(roof, from))}L${x(ridge(roof))} ${y(roof.compute)}H${x(to)}`;
      parts.push(draw("path", { class: i ? "roof recorded" : "roof", d }));
    });
    const roof = shown.roofs.at(-1);
    const px = x(at), py = y(attainable(roof, at));
    if (px >= LEFT && px <= RIGHT) {
      parts.push(draw("path", { class: "reading", d: `M${px} ${BOTTOM}V${py}H${LEFT}` }), draw("circle", { class: "reading-point", cx: px, cy: py, r: 5 }));
    }
    const spots = points.map((p) => ({ x: x(p.intensity) - 6, y: y(p.flops) - 6, width: 12, height: 12 }));
    for (const p of points) {
      const cx = x(p.intensity), cy = y(p.flops);
      parts.push(
        p.engine === "cpp" ? draw("rect", { class: "point cpp", x: cx - 5, y: cy - 5, width: 10, height: 10 })
        : p.engine === "library" ? draw("path", { class: "point library", d: `M${cx} ${cy - 7}l7 7l-7 7l-7 -7z` })
        : draw("circle", { class: "point numba", cx, cy, r: 5.5 }),
      );
      const number = String(p.number), width = 7 * number.length;
      // The first place beside the point where its number hides nothing.
      const places = PLACES.map(([dx, dy]) => ({ x: cx + dx - width / 2, y: cy + dy - 5, width, height: 10 }));
      const free = places.find((a) => !spots.some((b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height));
      const place = free ?? places[0];
      spots.push(place);
      parts.push(text(place.x + width / 2, place.y + 9, number, { class: "small halo" }));
    }
    return parts;
  }

  function show() {
    const shown = get("gpus")[get("gpu")], which = get("counted"), at = get("intensity");
    const roof = shown.roofs.at(-1);
    const points = (shown.points ?? []).map((p, i) => ({ ...p, number: i + 1, intensity: p[which] })).filter((p) => p.intensity !== null);
    gpu.show(get("gpu"));
    counted.show(which);
    intensity.show(Math.log2(at));
    chart.replaceChildren(...picture(shown, points, at));
    const bytes = COUNTED.find(([key]) => key === which)[1];
    const reading = (r) => `${quantity(attainable(r, at), "FLOP/s")} (${r.name}; limit: ${limitOf(r, at) === "memory" ? "memory" : "arithmetic"}, ridge at ${short(ridge(r))})`;
    const above = points.filter((p) => p.flops > attainable(roof, p.intensity));
    const text = `At ${short(at)} FLOP/byte the roof is ${shown.roofs.map(reading).join(", or ")}. ` +
      (above.length ? `${above.length} of ${points.length} points stand above the roof: not all the bytes they count came from DRAM.` : "");
    host.say(text);
    chart.setAttribute("aria-label", `Roofline of the ${shown.name}, FLOP a second against FLOP per byte, both logarithmic. ${text}`);
    legend.replaceChildren(...points.map((p) =>
      make("li", { value: p.number }, `${p.label}${p.engine === "library" ? "" : `, ${ENGINES[p.engine]}`}: ${quantity(p.flops, "FLOP/s")}`)));
    legend.hidden = !points.length;
    source.textContent = points.length
      ? `Circle: Numba; square: CUDA C++; diamond: the library. Points: fp32 products of ${points[0].size}³, against the bytes ${bytes}. Solid: data sheet${shown.roofs.length > 1 ? "; dashed: recorded copy bandwidth" : ""}. ${shown.source}`
      : `Nothing is recorded on the ${shown.name}: this is the roof of its data sheet alone, and no kernel of the course was measured under it.`;
    host.table(
      ["kernel", "language", "FLOP/byte", "speed", "roof there", "share of the roof"],
      points.map((p) => [
        `${p.number}. ${p.label}`, ENGINES[p.engine], [short(p.intensity)], [quantity(p.flops, "FLOP/s")],
        [quantity(attainable(roof, p.intensity), "FLOP/s")], [percent(p.flops / attainable(roof, p.intensity))],
      ]),
      shown.roofs.map((r) => `${r.name}: ${quantity(r.bandwidth, "B/s")}, ${quantity(r.compute, "FLOP/s")}, ridge at ${short(ridge(r))} FLOP/byte`).join("; "),
    );
  }

  follow(model, ["gpu", "intensity", "counted"], host, show);
  return () => host.close();
}

export { formulas };
export default { render };

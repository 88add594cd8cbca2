/* The page *Your GPU*: two forms that run the rungs on the reader's GPU, and show what came of it. Guesses and
   results are kept in this browser's storage (beside.js), and nothing is sent. */
(() => {
  "use strict";

  const {
    Refusal,
    breathe,
    complete,
    fault,
    keep: keepResult,
    missing,
    open,
    standing,
    verdict,
    wording,
  } = window.yourGpu;
  const { clamp, draw, make, makeTable, numberFault, percent, quantity, short } = window.tileByTile.common;
  const { rungs, prologue, fma, copy } = JSON.parse(document.getElementById("gpu-rungs").textContent);

  const KEY = "tile-by-tile.gpu";
  const LARGEST = 16384;
  const GONE = "The GPU isn't in use.";

  // -- What both forms share

  /** One run at a time, in either form. */
  let running = null;

  /** The elements of a form by what they are, and its fields by their names. */
  function part(name) {
    const root = document.querySelector(`[data-part="${name}"]`);
    const is = Object.fromEntries([...root.querySelectorAll("[data-is]")].map((each) => [each.dataset.is, each]));
    const tell = (element) => (text) => {
      element.textContent = text;
      element.hidden = !text && element !== is.status;
    };
    return { root, ...is, fields: is.form.elements, say: tell(is.status), complain: tell(is.problem) };
  }

  /** Run `work(gpu, signal)` when the form is sent: with a Stop button, and with what goes wrong told in one line. */
  function runs(view, power, work) {
    view.form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (running) return view.complain("The GPU is at work for the other form: stop that first.");
      running = new AbortController();
      const { signal } = running,
        submit = view.form.querySelector("[type=submit]");
      const stop = () => {
        running?.abort();
        view.say("Stopping …");
      };
      const waiting = () =>
        document.hidden && view.say("Paused, because the page is hidden: it resumes when you come back.");
      view.complain("");
      view.stop.hidden = false;
      view.stop.addEventListener("click", stop);
      document.addEventListener("visibilitychange", waiting);
      submit.disabled = true;
      let gpu = null;
      try {
        view.say("Asking the browser for the GPU …");
        gpu = await open({ power: power() });
        await work(gpu, signal);
      } catch (error) {
        view.say(error.message === "Stopped." ? "Stopped." : GONE);
        if (error.message !== "Stopped.")
          view.complain(
            error instanceof Refusal ? error.message : `The browser's GPU failed (${error.message}): reload the page.`,
          );
      } finally {
        gpu?.release();
        gpu?.close();
        running = null;
        submit.disabled = false;
        // Whoever stopped with the keyboard stays where she was.
        if (document.activeElement === view.stop) submit.focus();
        view.stop.hidden = true;
        view.stop.removeEventListener("click", stop);
        document.removeEventListener("visibilitychange", waiting);
      }
    });
  }

  /** What the link to this page asks for: the rung of the reader's own kernel, and its options. */
  const asked = new URLSearchParams(location.search);
  const isAsked = (rung, { options }) =>
    rung.name === asked.get("rung") &&
    Object.entries(options).every(([name, value]) => asked.get(name) === String(value));
  const titled = ({ rung, choice }) => (isAsked(rung, choice) ? `${rung.title}: yours` : rung.title);

  /** What was asked for, or the first choice of a rung that a GPU can launch; the smallest where the CPU plays the GPU. */
  function chosen(rung, gpu) {
    const fitting = rung.choices.filter((choice) => !fault(rung, choice, gpu));
    if (!fitting.length) throw new Refusal(fault(rung, rung.choices.at(-1), gpu));
    return fitting.find((choice) => isAsked(rung, choice)) ?? (gpu.software ? fitting.at(-1) : fitting[0]);
  }

  const speed = (flops) => quantity(flops, "FLOP/s");
  const times = (ratio) => `${short(ratio, 2)} times`;
  const SOFTWARE =
    "This is a software adapter: the browser imitates a GPU on the processor. The kernels run and are checked, but these speeds say nothing about any GPU.";

  // -- The guess

  function kept() {
    try {
      const found = JSON.parse(localStorage.getItem(KEY)) ?? {};
      const number = (value) => (Number.isFinite(value) && value > 0 ? value : null);
      return { tiled: number(found.tiled), best: number(found.best) };
    } catch {
      return { tiled: null, best: null };
    }
  }

  function keep(guess) {
    try {
      localStorage.setItem(KEY, JSON.stringify(guess));
    } catch {
      // It's compared all the same, as long as the page is open.
    }
  }

  /** What was guessed beside what was measured. */
  function compared(guess, measured) {
    const line = (name, what) => {
      const found = measured[name],
        said = guess[name];
      const told = `${what} ran ${times(found)} as fast as naive`;
      return said ? `${told}; you said ${times(said)}.` : `${told}.`;
    };
    return [line("tiled", "Tiled"), line("best", measured.name)].join(" ");
  }

  // -- The ladder

  function ladder() {
    const view = part("ladder"),
      { tiled, best, size, power } = view.fields;
    const guess = kept();
    for (const field of [tiled, best]) {
      field.value = guess[field.name] ?? "";
      field.addEventListener("input", () => {
        const value = Number(field.value);
        guess[field.name] = value > 0 ? value : null;
        keep(guess);
      });
    }
    let shown = null;
    new ResizeObserver(() => shown && show(view, shown)).observe(view.root);
    runs(view, () => power.value, run);

    async function run(gpu, signal) {
      const steps = rungs.length + 3;
      let step = 0;
      const next = (text) => {
        view.progress.value = step++ / steps;
        view.say(text);
      };
      view.progress.hidden = false;
      try {
        next(`Multiply-adds alone on ${gpu.name} …`);
        const flops = await gpu.peakFlops(fma, signal);
        next("A copy …");
        const { rate } = await gpu.peakCopy(copy, signal);
        next("Looking for a size that suits this GPU …");
        const slow = rungs[0],
          first = { rung: slow, choice: chosen(slow, gpu), prologue, signal };
        const side = Number(size.value) || (await gpu.size(first)),
          sizes = { M: side, N: side, K: side };
        const found = { gpu, side, flops, rate, rows: [], refused: [], guess };
        for (const rung of rungs) {
          next(`${rung.title} …`);
          await breathe();
          try {
            const choice = chosen(rung, gpu);
            const progress = (what) => view.say(`${rung.title}: ${what} …`);
            const row = await gpu.measure({ rung, choice, sizes, prologue, signal, progress });
            found.rows.push({ rung, choice, ...row });
          } catch (error) {
            if (!(error instanceof Refusal) || gpu.leaving || signal.aborted) throw error;
            found.refused.push(error.message);
          }
        }
        found.record = recordOf(found);
        shown = found;
        show(view, found);
        if (!gpu.software && found.record.webgpu.length) keepResult(found.record);
        view.say(`Done: ${side} × ${side} × ${side} on ${gpu.name}, timed by ${gpu.clock}.`);
      } finally {
        view.progress.hidden = true;
      }
    }
  }

  /** What a ladder found, as a record has it. */
  function recordOf({ gpu, side, flops, rate, rows }) {
    const timed = rows.filter((row) => row.flops);
    return {
      provenance: { gpu: gpu.name, date: new Date().toISOString().slice(0, 10), clock: gpu.clock },
      device: { fp32_peak: flops, copy: rate, lanes: gpu.lanes },
      webgpu: timed.map(({ rung, choice, flops: speed, low, high }) => {
        const seconds = (value) => (2 * side ** 3) / value;
        return {
          rung: rung.name,
          engine: "wgsl",
          options: choice.options,
          dtype: "float32",
          M: side,
          N: side,
          K: side,
          seconds: { median: seconds(speed), q1: seconds(high), q3: seconds(low) },
          correct: true,
        };
      }),
    };
  }

  /** The results of a ladder: in words, as bars, as a table, under the roof. */
  function show(view, { gpu, side, flops, rate, rows: found, refused, guess, record }) {
    const rows = found.map((row, i) => ({ ...row, number: i + 1 })),
      timed = rows.filter((row) => row.flops),
      naive = timed.find((row) => row.rung.name === "naive"),
      tiled = timed.find((row) => row.rung.name === "tiled");
    const best = timed.reduce((a, b) => (a && a.flops >= b.flops ? a : b), null);
    // A clock that rises meanwhile, or a compiler that does better, may beat the kernel of multiply-adds alone.
    const peak = Math.max(flops, ...timed.map((row) => row.flops));
    const sentences = [];
    if (naive && tiled) {
      const measured = { tiled: tiled.flops / naive.flops, best: best.flops / naive.flops, name: best.rung.title };
      sentences.push(compared(guess, measured));
    }
    const wrong = rows.filter((row) => !row.flops);
    sentences.push(
      wrong.length
        ? `${wrong.map((row) => row.rung.title).join(", ")}: not right here, so not timed.`
        : `All ${rows.length} products are right.`,
    );
    const beside = (row) => (naive && row.flops ? `${short(row.flops / naive.flops)} ×` : "–");
    const stands = new Map(record.webgpu.map((row) => [row.rung, standing(record, row)]));
    const of = ({ rung }) => stands.get(rung.name) ?? {};
    const table = makeTable(
      [
        "kernel",
        "speed",
        "cycles per FMA",
        "of its ceiling",
        "beside naive",
        "FLOP/byte",
        "middle half",
        "options",
        "check",
      ],
      rows.map((row) => [
        `${row.number}. ${titled(row)}`,
        [row.flops ? speed(row.flops) : "–"],
        [of(row).cycles ? short(of(row).cycles) : "–"],
        [of(row).share ? percent(of(row).share) : "–"],
        [beside(row)],
        [row.intensity ? short(row.intensity) : "–"],
        [row.flops ? `${speed(row.low)} to ${speed(row.high)}` : "–"],
        wording(row.choice.options),
        verdict(row.large ?? row.small),
      ]),
    );
    view.results.replaceChildren(
      ...(gpu.software ? [make("p", { class: "warning" }, SOFTWARE)] : []),
      make("p", {}, sentences.join(" ")),
      bars(timed, peak),
      make(
        "p",
        { class: "source" },
        `${side} × ${side} × ${side}, measured here by ${gpu.clock}. A full bar is ${speed(peak)}; the bracket is the middle half of the samples. The peak is that of multiply-adds alone, ${speed(flops)}; a copy runs at ${quantity(rate, "B/s")}.`,
      ),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What was measured" }, table),
      make("p", { class: "source" }, ceilings(gpu)),
      roofline(timed, { flops, rate }, clamp(view.root.clientWidth - 26, 280, 640)),
      make(
        "p",
        { class: "source" },
        "Flat: multiply-adds alone. Slope: a copy, which goes to memory and back. A kernel above the slope gets part of its bytes from a cache.",
      ),
      ...refused.map((text) => make("p", { class: "source" }, `Not run: ${text}`)),
    );
    view.results.hidden = false;
  }

  /** Which limits the shares are of. */
  const ceilings = ({ lanes }) =>
    lanes
      ? `An SM of this architecture has ${lanes} FP32 lanes, so it starts ${lanes / 32} FMAs of warps in a cycle${lanes === 128 ? ", and delivers a wavefront of L1. The ceiling is the higher of the two, with the wavefronts of the CUDA kernel of the same options where they were counted" : ". That's the one ceiling known here"}.`
      : "The browser doesn't say how many FP32 lanes this GPU has, so its cycles aren't known. The one ceiling known here is that of multiply-adds alone.";

  const bars = (rows, peak) =>
    make(
      "div",
      { class: "bars", "aria-hidden": "true" },
      rows.map((row) => {
        const { number, flops, low, high } = row;
        const place = `left: ${(100 * low) / peak}%; width: ${Math.min(100 - (100 * low) / peak, (100 * (high - low)) / peak)}%`;
        return make(
          "div",
          {},
          make("div", { class: "head" }, make("span", {}, `${number}. ${titled(row)}`), make("b", {}, speed(flops))),
          make(
            "div",
            { class: "track" },
            make("div", { class: "fill", style: `width: ${(100 * flops) / peak}%` }),
            make("div", { class: "spread", style: place }),
          ),
        );
      }),
    );

  function roofline(rows, { flops, rate }, width) {
    const height = Math.min(320, 0.75 * width),
      [left, right, top, bottom] = [52, width - 10, 18, height - 40];
    const xs = rows.map((row) => row.intensity),
      ys = [...rows.map((row) => row.flops), flops];
    const log = Math.log10,
      [x0, x1] = [Math.floor(log(Math.min(...xs, 1))), Math.ceil(log(Math.max(...xs, (2 * flops) / rate)))],
      [y0, y1] = [Math.floor(log(Math.min(...ys))), log(Math.max(...ys)) + 0.2];
    const x = (value) => left + ((log(value) - x0) / (x1 - x0)) * (right - left),
      y = (value) => bottom - ((log(value) - y0) / (y1 - y0)) * (bottom - top);
    const text = (px, py, words, more = {}) => draw("text", { x: px, y: py, class: "small", ...more }, words);
    const parts = [];
    for (let power = x0; power <= x1; power++) {
      parts.push(draw("path", { class: "grid", d: `M${x(10 ** power)} ${top}V${bottom}` }));
      parts.push(text(x(10 ** power), bottom + 16, short(10 ** power), { "text-anchor": "middle" }));
    }
    for (let power = y0; power <= y1; power++) {
      parts.push(draw("path", { class: "grid", d: `M${left} ${y(10 ** power)}H${right}` }));
      parts.push(text(left - 5, y(10 ** power) + 4, quantity(10 ** power, "", 1).trim(), { "text-anchor": "end" }));
    }
    const ridge = flops / rate,
      start = Math.max(10 ** x0, 10 ** y0 / rate);
    parts.push(
      draw("path", { class: "roof", d: `M${x(start)} ${y(start * rate)}L${x(ridge)} ${y(flops)}H${right}` }),
      text((left + right) / 2, height - 6, "FLOP per byte asked for", { "text-anchor": "middle" }),
      text(4, 11, "FLOP/s"),
    );
    rows.forEach((row, i) => {
      const side = i % 2 ? { "text-anchor": "end", x: x(row.intensity) - 8 } : { x: x(row.intensity) + 8 };
      parts.push(draw("circle", { class: "point", cx: x(row.intensity), cy: y(row.flops), r: 5 }));
      parts.push(text(side.x, y(row.flops) + 4, String(row.number), side));
    });
    const label = rows.map(
      (row) => `${row.number}. ${row.rung.title}: ${speed(row.flops)} at ${short(row.intensity)} FLOP per byte`,
    );
    return draw(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        style: `max-width: ${width}px`,
        "aria-label": `Roofline of this GPU. ${label.join("; ")}.`,
      },
      parts,
    );
  }

  // -- One kernel

  function single() {
    const view = part("single"),
      { fields } = view,
      done = [];
    const rungNow = () => rungs.find((rung) => rung.name === fields.rung.value),
      choiceNow = () => rungNow().choices[Number(fields.choice.value)];
    const boxes = ["barrier 1", "barrier 2", "guard"].map((name) => fields[name]);
    const gone = () => boxes.filter((box) => !box.disabled && !box.checked).map((box) => box.name);
    const showText = () => {
      const { options } = choiceNow();
      view.text.textContent = complete({ rung: rungNow(), options, prologue, missing: gone() });
    };
    const showRung = () => {
      fields.choice.replaceChildren(
        ...rungNow().choices.map(({ options }, i) => make("option", { value: i }, wording(options))),
      );
      for (const box of boxes) box.disabled = !rungNow().text.includes(`// ${box.name}`);
      showText();
    };
    fields.rung.addEventListener("change", showRung);
    for (const field of [fields.choice, ...boxes]) field.addEventListener("change", showText);
    if (rungs.some(({ name }) => name === asked.get("rung"))) fields.rung.value = asked.get("rung");
    showRung();
    const wanted = rungNow().choices.findIndex((choice) => isAsked(rungNow(), choice));
    if (wanted >= 0) fields.choice.value = String(wanted);
    showText();

    runs(view, () => "high-performance", run);

    async function run(gpu, signal) {
      const sizes = {};
      for (const name of ["M", "N", "K"]) {
        const why = numberFault(name, fields[name].value, LARGEST);
        if (why) throw new Refusal(why);
        sizes[name] = Number(fields[name].value);
      }
      const rung = rungNow(),
        choice = choiceNow(),
        without = gone();
      const what = { rung, choice, sizes, prologue, signal };
      let row;
      if (without.length) {
        view.say(`${rung.title} without ${without.join(" and ")}, five times …`);
        const found = await gpu.broken({ ...what, missing: without });
        const worst = found.reduce((a, b) => (a.wrong >= b.wrong ? a : b));
        const each = found.map(({ wrong }) => wrong).join(", ");
        row = ["not timed", found.every(({ right }) => right) ? "right, this time" : verdict(worst)];
        view.say(
          found.every(({ right }) => right)
            ? "Right, all five times. That proves nothing: which thread runs ahead is up to the GPU. Try other sizes."
            : `Wrong elements in five launches: ${each} of ${worst.elements}.`,
        );
      } else {
        const found = await gpu.measure({ ...what, progress: (text) => view.say(`${rung.title}: ${text} …`) });
        row = [found.flops ? speed(found.flops) : "not timed", verdict(found.large ?? found.small)];
        view.say(
          `${rung.title}: ${found.flops ? `${speed(found.flops)} by ${gpu.clock}, and right` : row[1]}.${gpu.software ? " A software adapter: its speed says nothing about any GPU." : ""}`,
        );
      }
      const { M, N, K } = sizes;
      done.unshift([
        rung.title,
        wording(choice.options),
        `${M} × ${N} × ${K}`,
        without.join(", ") || "nothing",
        ...row,
      ]);
      view.results.replaceChildren(makeTable(["kernel", "options", "M × N × K", "taken away", "speed", "check"], done));
      view.results.hidden = false;
    }
  }

  const why = missing();
  for (const name of ["ladder", "single"]) {
    const view = part(name);
    if (why) view.complain(`${why} The recorded ladder is at the end of the page.`);
    else
      view.root.querySelectorAll("[disabled]").forEach((each) => {
        each.disabled = false;
      });
  }
  ladder();
  single();
})();

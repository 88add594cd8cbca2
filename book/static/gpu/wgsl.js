/* A rung's text in WGSL, complete: the same as kernels/rungs/webgpu/shader.py makes of the same file. And what follows from a
   choice of options: whether a GPU can launch it, and how much it asks global memory for. */
(() => {
  "use strict";

  const LOOP = /^( *)for \(var (\w+) = 0u; \2 < ([^;]+); \2(?:\+\+| \+= (\w+))\) \{ \/\/ unroll$/;
  const { cdiv, integer } = window.tileByTile.common;

  /** The value of `TM`, `4u` or `TM / 4`. */
  const valueOf = (expression, constants) =>
    expression
      .split(" / ")
      .map((each) => constants[each] ?? parseInt(each, 10))
      .reduce((whole, part) => Math.floor(whole / part));

  /** Write out the marked loops of some lines; those inside others, too. */
  function unrolled(lines, constants) {
    const written = [];
    for (let i = 0; i < lines.length; i++) {
      const loop = LOOP.exec(lines[i]);
      if (!loop) {
        written.push(lines[i]);
        continue;
      }
      const [, indent, name, end, step = "1"] = loop;
      const closing = lines.indexOf(`${indent}}`, i);
      const body = lines.slice(i + 1, closing);
      for (let n = 0; n < valueOf(end, constants); n += valueOf(step, constants)) {
        const here = body.map((line) => line.replace(new RegExp(`\\b${name}\\b`, "g"), `${n}u`));
        written.push(`${indent}{`, ...unrolled(here, constants), `${indent}}`);
      }
      i = closing;
    }
    return written;
  }

  /** A kernel without what its text calls "barrier 1", "barrier 2" or "guard". */
  const without = (text, missing) =>
    missing.reduce(
      (left, what) =>
        left
          .replaceAll(`workgroupBarrier(); // ${what}`, `// ${what} is gone`)
          .replaceAll(new RegExp(`if \\(.+\\) \\{ // ${what}$`, "gm"), `{ // the ${what} is gone`),
      text,
    );

  /** The text to compile: constants, prologue, and the rung with its loops written out. */
  function complete({ rung, options, prologue, missing = [] }) {
    const named = Object.fromEntries(Object.entries(options).map(([name, value]) => [name.toUpperCase(), value]));
    const constants = Object.entries(named).map(([name, value]) => `const ${name} = ${value}u;\n`);
    const lines = without(rung.text, missing).trimEnd().split("\n");
    return [constants.join("") + prologue, ...unrolled(lines, named), ""].join("\n");
  }

  const wording = (options) =>
    Object.entries(options)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ");

  /** Why a GPU cannot have this choice of a rung, in one line; empty if it can. */
  function fault(rung, choice, { limits }) {
    const which = `${rung.title} (${wording(choice.options)})`,
      [x, y] = choice.block;
    if (x * y > limits.maxComputeInvocationsPerWorkgroup)
      return `${which} needs ${x * y} threads per block; this GPU gives the browser ${limits.maxComputeInvocationsPerWorkgroup}: choose a smaller one.`;
    if (x > limits.maxComputeWorkgroupSizeX || y > limits.maxComputeWorkgroupSizeY)
      return `${which} needs blocks of ${x} × ${y} threads; here they end at ${limits.maxComputeWorkgroupSizeX} × ${limits.maxComputeWorkgroupSizeY}: choose a smaller one.`;
    if (choice.shared > limits.maxComputeWorkgroupStorageSize)
      return `${which} needs ${integer(choice.shared)} bytes of shared memory per block; this GPU gives the browser ${integer(limits.maxComputeWorkgroupStorageSize)}: choose a smaller one.`;
    return "";
  }

  /** Elements from row to row of a matrix with so many columns: rows begin at multiples of 16 bytes. */
  const pitch = (cols) => 4 * cdiv(cols, 4);

  /** Blocks along x and y of a product. */
  const grid = (rung, choice, M, N) => {
    const [rows, cols] = choice.tile;
    return rung.swapped ? [cdiv(M, rows), cdiv(N, cols)] : [cdiv(N, cols), cdiv(M, rows)];
  };

  /** Why a GPU cannot have a product of this size, in one line; empty if it can. */
  function sizeFault({ M, N, K }, rung, choice, { limits }) {
    const bytes = 4 * Math.max(M * pitch(K), K * pitch(N), M * pitch(N));
    const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    if (bytes > most)
      return `${M} × ${N} × ${K} needs a matrix of ${integer(bytes)} bytes; this GPU gives the browser ${integer(most)}: use smaller sizes.`;
    const blocks = Math.max(...grid(rung, choice, M, N));
    if (blocks > limits.maxComputeWorkgroupsPerDimension)
      return `${M} × ${N} × ${K} needs ${integer(blocks)} blocks in a row; this GPU launches ${integer(limits.maxComputeWorkgroupsPerDimension)}: use smaller sizes.`;
    return "";
  }

  /** FLOP, elements loaded and bytes that the threads ask global memory for, as `kernels.rungs.webgpu` counts them. */
  function model(rung, choice, { M, N, K }) {
    const [down, across] = choice.reuse;
    const loads = M * K * cdiv(N, across) + K * N * cdiv(M, down);
    const flops = 2 * M * N * K,
      bytes = 4 * (loads + M * N);
    return { flops, loads, bytes, intensity: flops / bytes };
  }

  window.yourGpu = { complete, fault, grid, model, pitch, sizeFault, unrolled, wording };
})();

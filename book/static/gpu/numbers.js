/* What is multiplied, and whether the product is right. An element of A or B follows from its place alone, so that
   nothing has to be kept to check a product. All loops come in pieces, which leave the page free to react. */
(() => {
  "use strict";

  /** What C holds before a launch: a NaN with a pattern of its own, since a wrong kernel may write NaNs, too. */
  const POISON = 0x7fdeadbe;
  const PIECE_MS = 20;
  const SEEDS = { A: 0x9e3779b9, B: 0x85ebca6b };

  /** Let the page react. */
  const breathe = () => new Promise((go) => setTimeout(go));

  /** Call `f` for every row, and let the page react every few milliseconds. */
  async function eachRow(rows, f) {
    let began = performance.now();
    for (let row = 0; row < rows; row++) {
      f(row);
      if (performance.now() - began > PIECE_MS) {
        await breathe();
        began = performance.now();
      }
    }
  }

  /** 32 bits that look random, the same for the same place. */
  function bitsOf(seed, row, col) {
    let x = (seed + Math.imul(row, 0x27d4eb2f) + Math.imul(col, 0x165667b1)) | 0;
    x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
    x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
    return (x ^ (x >>> 15)) >>> 0;
  }

  /** An element of A or B: `whole` from -4 to 4, or `single`, exact in 32 bits and in ±1. */
  const KINDS = {
    whole: (bits) => (bits % 9) - 4,
    single: (bits) => (bits >>> 8) / 8388608 - 1,
  };
  const elementOf = (kind, name, row, col) => KINDS[kind](bitsOf(SEEDS[name], row, col));

  /** Fill a matrix of zeros. Between its rows are NaNs, which must not get into the product, unless it's padded. */
  async function fill(buffer, name, { rows, cols, ld, kind, padded }) {
    const data = new Float32Array(buffer);
    await eachRow(rows, (row) => {
      const start = row * ld;
      for (let col = 0; col < cols; col++) data[start + col] = elementOf(kind, name, row, col);
      if (!padded) data.fill(NaN, start + cols, start + ld);
    });
  }

  /** The exact element of C, and the sum of the sizes of its terms. */
  function exact(kind, row, col, K) {
    let sum = 0,
      size = 0;
    for (let k = 0; k < K; k++) {
      const term = elementOf(kind, "A", row, k) * elementOf(kind, "B", k, col);
      sum += term;
      size += Math.abs(term);
    }
    return { sum, size };
  }

  /** Some elements of C: the corners, and others anywhere. */
  function samples(M, N, count) {
    const corners = [
      [0, 0],
      [0, N - 1],
      [M - 1, 0],
      [M - 1, N - 1],
    ];
    const places = Array.from({ length: count }, (_, i) => [bitsOf(1, i, 0) % M, bitsOf(2, i, 0) % N]);
    return [...corners, ...places];
  }

  /**
   * Compare C with sums in double precision: all elements where `all` is set, else some, and look everywhere for what
   * was not written and for what was written between the rows.
   *
   * `bound` is the share of the terms' sizes by which a sum may be off; it is 0 for whole numbers.
   */
  async function compare(C, { M, N, K, ld, kind, bound, all }) {
    const bits = new Uint32Array(C.buffer, C.byteOffset, C.length);
    const found = { elements: 0, wrong: 0, unwritten: 0, spilled: 0, first: null };
    const look = (row, col) => {
      const { sum, size } = exact(kind, row, col, K),
        value = C[row * ld + col];
      found.elements++;
      if (Math.abs(value - sum) <= bound * size) return;
      found.wrong++;
      found.first ??= { row, col, value, sum };
    };
    await eachRow(M, (row) => {
      for (let col = 0; col < ld; col++) {
        const untouched = bits[row * ld + col] === POISON;
        if (col < N && untouched) found.unwritten++;
        if (col >= N && !untouched) found.spilled++;
      }
    });
    if (all)
      await eachRow(M, (row) => {
        for (let col = 0; col < N; col++) look(row, col);
      });
    else {
      const places = samples(M, N, 200);
      await eachRow(places.length, (i) => look(...places[i]));
    }
    return { ...found, right: !(found.wrong || found.unwritten || found.spilled) };
  }

  /** What is wrong with a product, or that nothing is. */
  function verdict({ right, elements, wrong, unwritten, spilled, first }) {
    if (right) return "right";
    const said = [
      wrong &&
        `${wrong} of ${elements} elements wrong, the first C[${first.row}, ${first.col}]: ${Number(first.value.toPrecision(6))} for ${Number(first.sum.toPrecision(6))}`,
      unwritten && `${unwritten} never written`,
      spilled && `${spilled} written past the rows' ends`,
    ];
    return `wrong: ${said.filter(Boolean).join("; ")}`;
  }

  /** Median and quartiles. */
  function quartiles(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const at = (share) => {
      const place = share * (sorted.length - 1),
        low = Math.floor(place);
      return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
    };
    return { q1: at(0.25), median: at(0.5), q3: at(0.75), n: sorted.length };
  }

  Object.assign(window.yourGpu, { POISON, breathe, compare, fill, quartiles, verdict });
})();

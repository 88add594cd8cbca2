/* The reader's GPU: it compiles, launches, checks and times rungs. All of it comes in pieces of at most 60 ms, between
   which the page reacts, a run can be stopped, and one whose page is hidden waits. Nothing is sent or kept. */
(() => {
  "use strict";

  const { POISON, compare, complete, fault, fill, grid, model, pitch, quartiles, sizeFault } = window.yourGpu;
  const { cdiv, integer } = window.tileByTile.common;

  /** Milliseconds: of a submission; until a GPU counts as hung, or a compiler; of the longest product; of the slowest
   *  at a chosen size. */
  const PIECE = 60,
    PATIENCE = 15000,
    COMPILING = 60000,
    LONGEST = 5000,
    BEARABLE = 250;
  /** Milliseconds for the samples of a timing. */
  const BUDGET = 900;
  const BANDS = 64;
  const SIZES = [128, 256, 512, 1024, 2048];
  /** No tile divides these: every edge is met. */
  const ODD = { M: 133, N: 141, K: 37 };
  /** The largest product of a kernel that lacks a barrier or a guard. */
  const BROKEN = 128;
  const FEATURES = ["timestamp-query"];
  const LIMITS = [
    "maxBufferSize",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupSizeY",
    "maxComputeWorkgroupStorageSize",
    "maxComputeWorkgroupsPerDimension",
    "maxStorageBufferBindingSize",
  ];
  /** FP32 lanes of an SM, by the architecture that a browser names. An A100 or A30 has half of its generation's. */
  const LANES = {
    maxwell: 128,
    pascal: 128,
    volta: 64,
    turing: 64,
    ampere: 128,
    lovelace: 128,
    hopper: 128,
    blackwell: 128,
  };
  const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render|warp|software/i;

  /** A reason not to go on, in one line that says what to do. */
  class Refusal extends Error {}

  /** Why this browser can't compute on a GPU at all, in one line; empty if it may. */
  function missing() {
    if (!isSecureContext)
      return "WebGPU needs a page from https:// or localhost: open this page from there, for instance with make serve.";
    if (!navigator.gpu)
      return "This browser has no WebGPU: use Chrome or Edge from version 113, Safari from 26, or Firefox from 141 on Windows and 147 on a Mac.";
    return "";
  }

  /**
   * Open the GPU that the browser offers; throws a Refusal.
   *
   * `power` is "high-performance" or "low-power", where there are two; `timestamps: false` does without the GPU's clock.
   */
  async function open({ power = "high-performance", timestamps = true } = {}) {
    const why = missing();
    if (why) throw new Refusal(why);
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: power }).catch(() => null);
    if (!adapter)
      throw new Refusal(
        "This browser offers no GPU here: update it and the GPU's driver, or turn hardware acceleration on in its settings.",
      );
    const features = FEATURES.filter((name) => adapter.features.has(name));
    const limits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
    let device;
    try {
      device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits: limits });
    } catch (error) {
      throw new Refusal(`The browser can't open this GPU (${error.message}): reload the page, or restart the browser.`);
    }
    return new Gpu(device, adapter, { features, limits, timestamps });
  }

  class Gpu {
    constructor(device, adapter, { features, limits, timestamps }) {
      const info = adapter.info ?? {},
        words = [info.vendor, info.architecture, info.device, info.description].filter(Boolean);
      Object.assign(this, { device, features, limits, pipelines: new Map(), held: null, leaving: null });
      this.name = [...new Set(words)].join(" ") || "a GPU that the browser doesn't name";
      this.software = (info.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false) || SOFTWARE.test(this.name);
      const lanes = info.vendor === "nvidia" && LANES[info.architecture?.replace("ada-", "")];
      this.lanes = (/\bA(100|30)\b/.test(this.name) ? 64 : lanes) || 0;
      this.lost = device.lost.then(({ message }) => {
        this.leaving ??= new Refusal(
          `The browser lost the GPU (${message || "no reason given"}): reload the page, and try a smaller size.`,
        );
        throw this.leaving;
      });
      this.lost.catch(() => {});
      this.clocked = timestamps && features.includes("timestamp-query");
      this.clock = this.clocked ? "the GPU's clock" : "the page's clock";
      if (!this.clocked) return;
      const usage = GPUBufferUsage;
      this.queries = device.createQuerySet({ type: "timestamp", count: 2 });
      this.resolved = device.createBuffer({ size: 16, usage: usage.QUERY_RESOLVE | usage.COPY_SRC });
      this.stamps = device.createBuffer({ size: 16, usage: usage.MAP_READ | usage.COPY_DST });
    }

    close() {
      this.leaving ??= new Refusal("The GPU was released: start again.");
      this.device.destroy();
    }

    // -- Waiting

    /** Wait while the page is hidden; throw if the run was stopped or the GPU is gone. */
    async turn(signal) {
      if (this.leaving) throw this.leaving;
      if (signal?.aborted) throw new Refusal("Stopped.");
      if (!document.hidden) return;
      await new Promise((go) => {
        document.addEventListener("visibilitychange", go, { once: true });
        signal?.addEventListener("abort", go, { once: true });
      });
      await this.turn(signal);
    }

    /** Wait for the GPU or the compiler, but not for ever. */
    async answer(promise, what = "answered", patience = PATIENCE) {
      let timer;
      const late = new Promise((_, fail) => {
        timer = setTimeout(() => {
          this.leaving ??= new Refusal(
            `The GPU hasn't ${what} for ${patience / 1000} s, so it was released: reload the page, and try smaller sizes.`,
          );
          this.device.destroy();
          fail(this.leaving);
        }, patience);
      });
      try {
        return await Promise.race([promise, this.lost, late]);
      } catch (error) {
        // What was under way fails a moment before the loss is known; the loss is what to tell.
        if (!(error instanceof Refusal)) await Promise.race([this.lost, new Promise((go) => setTimeout(go, 300))]);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    }

    /** Do something on the GPU, and turn its errors into a Refusal. */
    async tried(what, work) {
      this.device.pushErrorScope("out-of-memory");
      this.device.pushErrorScope("validation");
      let made, thrown;
      try {
        made = await work();
      } catch (error) {
        thrown = error;
      }
      const invalid = await this.answer(this.device.popErrorScope()),
        full = await this.answer(this.device.popErrorScope());
      if (thrown instanceof Refusal) throw thrown;
      if (full || thrown instanceof RangeError)
        throw new Refusal(`${what} doesn't fit the GPU's memory: use smaller sizes.`);
      if (invalid || thrown)
        throw new Refusal(`${what} was refused: ${(invalid ?? thrown).message.split("\n")[0]}: choose another rung.`);
      return made;
    }

    // -- Kernels and launches

    async pipeline(code, what) {
      if (!this.pipelines.has(code)) {
        const module = this.device.createShaderModule({ code });
        const compute = { module, entryPoint: "main" };
        const made = await this.tried(what, () =>
          this.answer(
            this.device.createComputePipelineAsync({ layout: "auto", compute }),
            "compiled this kernel",
            COMPILING,
          ),
        );
        this.pipelines.set(code, made);
      }
      return this.pipelines.get(code);
    }

    /** A function that records launches of `blocks` blocks into a pass. */
    launcher(pipeline, buffers, blocks) {
      const entries = buffers.map((resource, binding) => ({ binding, resource }));
      const group = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
      return (pass, times = 1) => {
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        for (let n = 0; n < times; n++) pass.dispatchWorkgroups(...blocks);
      };
    }

    /** Submit what `record` records, and return its milliseconds. */
    async timed(record) {
      const { device, queries } = this;
      const encoder = device.createCommandEncoder();
      const timestampWrites = { querySet: queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
      const pass = encoder.beginComputePass(this.clocked ? { timestampWrites } : {});
      record(pass);
      pass.end();
      if (this.clocked) {
        encoder.resolveQuerySet(queries, 0, 2, this.resolved, 0);
        encoder.copyBufferToBuffer(this.resolved, 0, this.stamps, 0, 16);
      }
      const start = performance.now();
      device.queue.submit([encoder.finish()]);
      await this.answer(this.clocked ? this.stamps.mapAsync(GPUMapMode.READ) : device.queue.onSubmittedWorkDone());
      const wall = performance.now() - start;
      if (!this.clocked) return wall;
      const [first, last] = new BigUint64Array(this.stamps.getMappedRange());
      const told = Number(last - first) / 1e6;
      this.stamps.unmap();
      // Browsers round the clock to 0.1 ms, so a short submission may take 0; a clock that stands still, runs back or
      // claims more than has passed is none.
      if (last > 0n && told >= 0 && told <= wall + 1 && (told > 0 || wall < 20)) return told;
      this.clocked = false;
      this.clock = "the page's clock, since the GPU's made no sense";
      return wall;
    }

    /** One after the other, each a submission of its own: the milliseconds of all. */
    async inTurn(launches, times, signal) {
      let total = 0;
      for (const launch of launches) {
        await this.turn(signal);
        total += await this.timed((pass) => launch(pass, times));
      }
      return total;
    }

    /** Milliseconds of one launch (in bands, perhaps): median and quartiles. */
    async sampled(launches, signal, budget = BUDGET) {
      // As many launches per submission as make its time long beside the rounding of either clock.
      const wanted = this.clocked ? PIECE : 2 * PIECE;
      let ms = await this.inTurn(launches, 1, signal),
        times = 1;
      while (launches.length === 1 && ms < 0.6 * wanted && times < 4096) {
        times = Math.min(4096, 8 * times, Math.max(2 * times, Math.floor((wanted * times) / Math.max(ms, 0.1))));
        ms = await this.inTurn(launches, times, signal);
      }
      const found = [],
        end = performance.now() + budget;
      while (found.length < 3 || (found.length < 15 && performance.now() < end))
        found.push((await this.inTurn(launches, times, signal)) / times);
      return quartiles(found);
    }

    // -- Products

    /** A and B on the GPU, as a rung wants them; kept until others are asked for. */
    async matrices(rung, choice, { M, N, K }, kind) {
      const { padded } = rung,
        [BM, BN] = choice.tile,
        whole = (n, side) => side * cdiv(n, side);
      const rows = padded ? whole(M, BM) : M,
        steps = padded ? whole(K, choice.step) : K;
      const lda = padded ? steps : pitch(K),
        ldb = padded ? whole(N, BN) : pitch(N);
      const key = [M, N, K, kind, rows, lda, ldb].join();
      if (this.held?.key === key) return this.held;
      this.release();
      const made = async (name, height, shape) => {
        const usage = GPUBufferUsage.STORAGE,
          size = whole(4 * height * shape.ld, 16);
        const buffer = this.device.createBuffer({ size, usage, mappedAtCreation: true });
        await fill(buffer.getMappedRange(), name, { ...shape, kind, padded });
        buffer.unmap();
        return buffer;
      };
      this.held = await this.tried(`A product of ${M} × ${N} × ${K}`, async () => ({
        key,
        lda,
        ldb,
        A: await made("A", rows, { rows: M, cols: K, ld: lda }),
        B: await made("B", steps, { rows: K, cols: N, ld: ldb }),
      }));
      return this.held;
    }

    release() {
      this.held?.A.destroy();
      this.held?.B.destroy();
      this.held = null;
    }

    /** C on the GPU, with a pattern in every element that only a store removes. */
    poisoned(M, N) {
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
      const buffer = this.device.createBuffer({ size: 4 * M * pitch(N), usage, mappedAtCreation: true });
      new Uint32Array(buffer.getMappedRange()).fill(POISON);
      buffer.unmap();
      return buffer;
    }

    async read(buffer) {
      const { size } = buffer,
        usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
      const copy = this.device.createBuffer({ size, usage });
      const encoder = this.device.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, 0, copy, 0, size);
      this.device.queue.submit([encoder.finish()]);
      await this.answer(copy.mapAsync(GPUMapMode.READ));
      const data = new Float32Array(copy.getMappedRange()).slice();
      copy.destroy();
      return data;
    }

    /** Call `work` with the launches of a product, in as many bands of rows of blocks as asked for, and with its C. */
    async product({ rung, choice, sizes, kind, code, bands = 1 }, work) {
      const { M, N, K } = sizes;
      const pipeline = await this.pipeline(code, rung.title),
        { A, B, lda, ldb } = await this.matrices(rung, choice, sizes, kind);
      const [across, down] = grid(rung, choice, M, N);
      const high = cdiv(down, Math.min(bands, down, BANDS)),
        parts = cdiv(down, high);
      const told = new Uint32Array(64 * parts);
      for (let n = 0; n < parts; n++) told.set([M, N, K, lda, ldb, pitch(N), n * high], 64 * n);
      const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
      const { C, uniform } = await this.tried(`A product of ${M} × ${N} × ${K}`, async () => ({
        C: this.poisoned(M, N),
        uniform: this.device.createBuffer({ size: told.byteLength, usage }),
      }));
      try {
        this.device.queue.writeBuffer(uniform, 0, told);
        const launches = Array.from({ length: parts }, (_, n) =>
          this.launcher(
            pipeline,
            [{ buffer: A }, { buffer: B }, { buffer: C }, { buffer: uniform, offset: 256 * n, size: 32 }],
            [across, Math.min(high, down - n * high)],
          ),
        );
        return await work(launches, C);
      } finally {
        C.destroy();
        uniform.destroy();
      }
    }

    /** Launch a product once and compare it: with every element if `all`, else with some. */
    async checked(product, all, signal) {
      const { sizes, kind } = product;
      return this.product(product, async (launches, C) => {
        await this.inTurn(launches, 1, signal);
        const { M, N, K } = sizes;
        // A rung in 16 bits sums products that are exact, in 32 bits.
        const bound = kind === "whole" ? 0 : (K * 2 ** -24) / (1 - K * 2 ** -24);
        return compare(await this.read(C), { M, N, K, ld: pitch(N), kind, bound, all });
      });
    }

    /** About how many milliseconds a product takes: from smaller ones, which are over soon. */
    async expected(product, signal) {
      const { sizes } = product,
        enough = this.clocked ? 4 : 30; // the page's clock counts the way to the GPU and back, too
      for (let side = 64; ; side *= 2) {
        const tried = Object.fromEntries(Object.entries(sizes).map(([name, n]) => [name, Math.min(n, side)]));
        const all = Object.values(sizes).every((n) => n <= side);
        const ms = await this.product({ ...product, sizes: tried }, async (launches) => {
          await this.inTurn(launches, 1, signal);
          return Math.max(0.1, await this.inTurn(launches, 1, signal));
        });
        const work = ({ M, N, K }) => M * N * K;
        if (all || ms > enough) return (ms * work(sizes)) / work(tried);
      }
    }

    /** What this GPU can't do of what is asked, as a Refusal. */
    refuse(rung, choice, sizes) {
      const why = fault(rung, choice, this) || sizeFault(sizes, rung, choice, this);
      if (why) throw new Refusal(why);
    }

    /**
     * Check a rung, then time it: exactly with odd sizes, at samples with the sizes asked for.
     *
     * `progress(text)` hears what is being done. The result has `small` and `large`, what the checks found; and `ms`,
     * `flops` per second with quartiles, and `intensity`, unless a check failed.
     */
    async measure({ rung, choice, sizes, prologue, signal, progress = () => {} }) {
      this.refuse(rung, choice, sizes);
      await this.turn(signal);
      const code = complete({ rung, options: choice.options, prologue });
      progress("compiling");
      const small = await this.checked({ rung, choice, sizes: ODD, kind: "whole", code }, true, signal);
      if (!small.right) return { small };
      const product = { rung, choice, sizes, kind: "single", code };
      progress("trying");
      const ms = await this.expected(product, signal),
        { M, N, K } = sizes;
      if (ms > LONGEST)
        throw new Refusal(
          `${rung.title} at ${M} × ${N} × ${K} would take this GPU about ${integer(ms / 1000)} s per product: use smaller sizes.`,
        );
      product.bands = Math.ceil(ms / PIECE);
      progress("checking");
      const large = await this.checked(product, false, signal);
      if (!large.right) return { small, large };
      progress("timing");
      const time = await this.product(product, (launches) => this.sampled(launches, signal));
      const { flops, intensity } = model(rung, choice, sizes);
      const rate = (each) => (1000 * flops) / each;
      return { small, large, ms: time, flops: rate(time.median), low: rate(time.q3), high: rate(time.q1), intensity };
    }

    /** Launch a kernel without its barriers or its guard five times: what was wrong each time. */
    async broken({ rung, choice, sizes, prologue, missing: gone, signal }) {
      this.refuse(rung, choice, sizes);
      if (Math.max(...Object.values(sizes)) > BROKEN)
        throw new Refusal(
          `A kernel that lacks a part runs at ${BROKEN} × ${BROKEN} × ${BROKEN} at most, to keep this machine safe: use smaller sizes.`,
        );
      const code = complete({ rung, options: choice.options, prologue, missing: gone });
      const found = [];
      for (let n = 0; n < 5; n++) {
        await this.turn(signal);
        found.push(await this.checked({ rung, choice, sizes, kind: "whole", code }, true, signal));
      }
      return found;
    }

    /** The largest square size at which the slowest rung is bearable here. */
    async size({ rung, choice, prologue, signal }) {
      const code = complete({ rung, options: choice.options, prologue });
      let side = SIZES[0];
      for (const next of SIZES) {
        const sizes = { M: next, N: next, K: next };
        if (sizeFault(sizes, rung, choice, this)) break;
        if ((await this.expected({ rung, choice, sizes, kind: "single", code }, signal)) > BEARABLE) break;
        side = next;
      }
      return side;
    }

    // -- Peaks

    /** FLOP per second of multiply-adds alone. */
    async peakFlops(text, signal) {
      const { unrolled } = window.yourGpu,
        code = unrolled(text.trimEnd().split("\n"), {}).join("\n");
      const pipeline = await this.pipeline(code, "The kernel of multiply-adds"),
        most = 1024,
        usage = GPUBufferUsage;
      const sums = this.device.createBuffer({ size: 4 * 256 * most, usage: usage.STORAGE });
      const work = this.device.createBuffer({ size: 16, usage: usage.UNIFORM | usage.COPY_DST });
      try {
        // Few rounds and few blocks first: nobody knows how slow this GPU is.
        for (let rounds = 2, blocks = 16; ; blocks < most ? (blocks *= 4) : (rounds *= 4)) {
          const told = new DataView(new ArrayBuffer(16));
          told.setUint32(0, rounds, true);
          told.setFloat32(4, 0.999, true);
          told.setFloat32(8, 0.5, true);
          this.device.queue.writeBuffer(work, 0, told.buffer);
          const launch = this.launcher(pipeline, [{ buffer: sums }, { buffer: work }], [blocks, 1]);
          if ((await this.inTurn([launch], 1, signal)) < 6 && rounds < 65536) continue;
          const { median } = await this.sampled([launch], signal, BUDGET / 2);
          return (1000 * blocks * 256 * rounds * 16 * 16 * 2) / median;
        }
      } finally {
        sums.destroy();
        work.destroy();
      }
    }

    /** Bytes per second, read and written, of a copy that is too large for caches. */
    async peakCopy(code, signal) {
      const pipeline = await this.pipeline(code, "The kernel of a copy");
      const most = Math.min(this.limits.maxStorageBufferBindingSize, this.limits.maxBufferSize, 2 ** 27);
      for (let bytes = 2 ** 22; ; bytes = Math.min(4 * bytes, most)) {
        const usage = GPUBufferUsage.STORAGE;
        const [from, to] = await this.tried(`A copy of ${bytes} bytes`, async () =>
          [0, 1].map(() => this.device.createBuffer({ size: bytes, usage })),
        );
        try {
          const launch = this.launcher(pipeline, [{ buffer: from }, { buffer: to }], [bytes / 4096, 1]);
          await this.inTurn([launch], 1, signal); // the buffers are cleared at their first use
          if ((await this.inTurn([launch], 1, signal)) < 4 && bytes < most) continue;
          const { median } = await this.sampled([launch], signal, BUDGET / 2);
          return { bytes, rate: (2000 * bytes) / median };
        } finally {
          from.destroy();
          to.destroy();
        }
      }
    }
  }

  Object.assign(window.yourGpu, { Refusal, missing, open });
})();

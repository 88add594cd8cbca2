// Loads of 16 bytes: threads move four neighbours at once, between all memories.

alias Element = vec4f;

const ACROSS = BN / TN; // threads
const DOWN = BM / TM;
const THREADS = ACROSS * DOWN;

// The tile of A is stored transposed: then the elements that a thread needs for one k are
// neighbours, as those of B are.
var<workgroup> sA: array<array<vec4f, BM / 4>, BK>;
var<workgroup> sB: array<array<vec4f, BN / 4>, BK>;

// Four neighbours, with zeros for those past the end of their row.
fn kept(four: vec4f, first: u32, end: u32) -> vec4f {
  return select(vec4f(), four, first + vec4u(0, 1, 2, 3) < vec4u(end));
}

fn load_A(row: u32, k: u32) -> vec4f {
  if (row < p.M && k < p.K) { return kept(A[row * (p.lda / 4) + k / 4], k, p.K); }
  return vec4f();
}

fn load_B(k: u32, col: u32) -> vec4f {
  if (k < p.K && col < p.N) { return kept(B[k * (p.ldb / 4) + col / 4], col, p.N); }
  return vec4f();
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) t: u32) {
  // A thread's results are squares of 4 × 4 elements, 4·DOWN rows and 4·ACROSS columns apart.
  let tx = t % ACROSS;
  let ty = t / ACROSS;
  let row0 = (p.first + block.y) * BM;
  let col0 = block.x * BN;

  var acc: array<array<vec4f, TN / 4>, TM>;
  for (var k0 = 0u; k0 < p.K; k0 += BK) {
    // A thread turns a square of A. It stores whole vectors: two threads mustn't share one.
    for (var i = t; i < BM / 4 * (BK / 4); i += THREADS) {
      let row = i / (BK / 4);
      let k = i % (BK / 4);
      let r0 = load_A(row0 + row * 4, k0 + k * 4);
      let r1 = load_A(row0 + row * 4 + 1, k0 + k * 4);
      let r2 = load_A(row0 + row * 4 + 2, k0 + k * 4);
      let r3 = load_A(row0 + row * 4 + 3, k0 + k * 4);
      sA[k * 4][row] = vec4f(r0.x, r1.x, r2.x, r3.x);
      sA[k * 4 + 1][row] = vec4f(r0.y, r1.y, r2.y, r3.y);
      sA[k * 4 + 2][row] = vec4f(r0.z, r1.z, r2.z, r3.z);
      sA[k * 4 + 3][row] = vec4f(r0.w, r1.w, r2.w, r3.w);
    }
    for (var i = t; i < BK * (BN / 4); i += THREADS) {
      let k = i / (BN / 4);
      let col = i % (BN / 4);
      sB[k][col] = load_B(k0 + k, col0 + col * 4);
    }
    workgroupBarrier(); // barrier 1
    for (var k = 0u; k < BK; k++) { // unroll
      var a: array<vec4f, TM / 4>;
      var b: array<vec4f, TN / 4>;
      for (var i = 0u; i < TM / 4; i++) { // unroll
        a[i] = sA[k][ty + i * DOWN];
      }
      for (var j = 0u; j < TN / 4; j++) { // unroll
        b[j] = sB[k][tx + j * ACROSS];
      }
      for (var i = 0u; i < TM; i++) { // unroll
        for (var j = 0u; j < TN / 4; j++) { // unroll
          acc[i][j] = fma(vec4f(a[i / 4][i % 4]), b[j], acc[i][j]);
        }
      }
    }
    workgroupBarrier(); // barrier 2
  }

  for (var i = 0u; i < TM; i++) { // unroll
    for (var j = 0u; j < TN / 4; j++) { // unroll
      store_C(row0 + (ty + i / 4 * DOWN) * 4 + i % 4, col0 + (tx + j * ACROSS) * 4, acc[i][j]);
    }
  }
}

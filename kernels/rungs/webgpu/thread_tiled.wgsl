// Thread tiles in two dimensions: TM × TN results per thread, from TM + TN elements read.

alias Element = f32;
alias Result = f32;

const ACROSS = BN / TN; // threads
const DOWN = BM / TM;
const THREADS = ACROSS * DOWN;

var<workgroup> sA: array<array<f32, BK>, BM>;
var<workgroup> sB: array<array<f32, BN>, BK>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) t: u32) {
  // A thread's results lie DOWN rows and ACROSS columns apart, so that neighbours in a warp read
  // neighbours in shared memory and store neighbours in C.
  let tx = t % ACROSS;
  let ty = t / ACROSS;
  let row0 = (p.first + block.y) * BM;
  let col0 = block.x * BN;

  var acc: array<array<f32, TN>, TM>;
  for (var k0 = 0u; k0 < p.K; k0 += BK) {
    for (var i = t; i < BM * BK; i += THREADS) {
      let row = row0 + i / BK;
      let k = k0 + i % BK;
      var a = 0.0;
      if (row < p.M && k < p.K) { a = A[row * p.lda + k]; }
      sA[i / BK][i % BK] = a;
    }
    for (var i = t; i < BK * BN; i += THREADS) {
      let k = k0 + i / BN;
      let col = col0 + i % BN;
      var b = 0.0;
      if (k < p.K && col < p.N) { b = B[k * p.ldb + col]; }
      sB[i / BN][i % BN] = b;
    }
    workgroupBarrier(); // barrier 1
    for (var k = 0u; k < BK; k++) { // unroll
      // TM + TN elements into registers; they serve TM·TN multiplications.
      var a: array<f32, TM>;
      var b: array<f32, TN>;
      for (var i = 0u; i < TM; i++) { // unroll
        a[i] = sA[ty + i * DOWN][k];
      }
      for (var j = 0u; j < TN; j++) { // unroll
        b[j] = sB[k][tx + j * ACROSS];
      }
      for (var i = 0u; i < TM; i++) { // unroll
        for (var j = 0u; j < TN; j++) { // unroll
          acc[i][j] = fma(a[i], b[j], acc[i][j]);
        }
      }
    }
    workgroupBarrier(); // barrier 2
  }

  for (var i = 0u; i < TM; i++) { // unroll
    for (var j = 0u; j < TN; j++) { // unroll
      let row = row0 + ty + i * DOWN;
      let col = col0 + tx + j * ACROSS;
      if (row < p.M && col < p.N) { // guard
        C[row * p.ldc + col] = acc[i][j];
      }
    }
  }
}

// Thread tiles in one dimension: TM results per thread, served by one element of B.

alias Element = f32;
alias Result = f32;

const THREADS = BM / TM * BN;

var<workgroup> sA: array<array<f32, BK>, BM>;
var<workgroup> sB: array<array<f32, BN>, BK>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) t: u32) {
  // Neighbours in a warp own neighbours in a row of C.
  let tx = t % BN;
  let ty = t / BN;
  let row0 = (p.first + block.y) * BM;
  let col0 = block.x * BN;

  var acc: array<f32, TM>;
  for (var k0 = 0u; k0 < p.K; k0 += BK) {
    // All threads load, side by side, as many elements as it takes.
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
      // One element of B serves TM results.
      let b = sB[k][tx];
      for (var i = 0u; i < TM; i++) { // unroll
        acc[i] = fma(sA[ty * TM + i][k], b, acc[i]);
      }
    }
    workgroupBarrier(); // barrier 2
  }

  for (var i = 0u; i < TM; i++) { // unroll
    let row = row0 + ty * TM + i;
    if (row < p.M && col0 + tx < p.N) { // guard
      C[row * p.ldc + col0 + tx] = acc[i];
    }
  }
}

// Warp tiles, with A passed from thread to thread: a lane reads one vector of A's column from shared
// memory, and gets the others from the registers of its neighbours. Subgroups must have 32 threads.

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) t: u32) {
  let warp = t / 32;
  let lane = t % 32;
  // Where the thread's first square of 4 × 4 results lies in the block's tile of C.
  let tx = warp % (BN / WN) * (WN / 4) + lane % ACROSS;
  let ty = warp / (BN / WN) * (WM / 4) + lane / ACROSS;
  let row0 = (p.first + block.y) * BM;
  let col0 = block.x * BN;

  var acc: array<array<vec4f, TN / 4>, TM>;
  keep(t, 0, load(t, row0, col0, 0));
  workgroupBarrier();
  var now = 0u; // the tiles that are used; the others are filled
  for (var k0 = 0u; k0 < p.K; k0 += BK) {
    // Load the next tiles, and don't wait for them. (What comes after the last isn't used.)
    let next = load(t, row0, col0, k0 + BK);
    for (var k = 0u; k < BK; k++) { // unroll
      var a: array<vec4f, TM / 4>;
      var b: array<vec4f, TN / 4>;
      let mine = vec4f(sA[now][k][warp / (BN / WN) * (WM / 4) + lane % (WM / 4)]);
      for (var i = 0u; i < TM / 4; i++) { // unroll
        a[i] = subgroupShuffle(mine, lane / ACROSS + i * DOWN);
      }
      for (var j = 0u; j < TN / 4; j++) { // unroll
        b[j] = vec4f(sB[now][k][tx + j * ACROSS]);
      }
      for (var i = 0u; i < TM; i++) { // unroll
        for (var j = 0u; j < TN / 4; j++) { // unroll
          acc[i][j] = fma(vec4f(a[i / 4][i % 4]), b[j], acc[i][j]);
        }
      }
    }
    now = 1 - now;
    keep(t, now, next);
    workgroupBarrier(); // barrier 1
  }

  for (var i = 0u; i < TM; i++) { // unroll
    for (var j = 0u; j < TN / 4; j++) { // unroll
      store_C(row0 + (ty + i / 4 * DOWN) * 4 + i % 4, col0 + (tx + j * ACROSS) * 4, acc[i][j]);
    }
  }
}

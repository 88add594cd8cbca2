// Warp tiles, with A passed from thread to thread: a lane reads one vector of A's column from shared
// memory, and gets the others from the registers of its neighbours. Subgroups must have 32 threads.

alias Element = vec4f;
alias Result = vec4f;

const ACROSS = WN / TN; // threads of a warp
const DOWN = WM / TM;
const THREADS = BM / WM * (BN / WN) * 32;
const SQUARES = BM / 4 * (BK / 4); // of A's tile: each of the first threads loads one

// Two tiles of each: one is used while the other is filled.
var<workgroup> sA: array<array<array<vec4f, BM / 4>, BK>, 2>;
var<workgroup> sB: array<array<array<vec4f, BN / 4>, BK>, 2>;

// What a thread loads of the next tiles: four rows of a square of A, or four vectors of B. The
// matrices are filled up with zeros to whole tiles, so nothing has to be guarded.
fn load(t: u32, row0: u32, col0: u32, k0: u32) -> array<vec4f, 4> {
  var four: array<vec4f, 4>;
  if (t < SQUARES) {
    for (var i = 0u; i < 4u; i++) { // unroll
      let row = row0 + t / (BK / 4) * 4 + i;
      four[i] = A[row * (p.lda / 4) + k0 / 4 + t % (BK / 4)];
    }
  } else {
    for (var i = 0u; i < 4u; i++) { // unroll
      let n = t - SQUARES + i * (THREADS - SQUARES);
      four[i] = B[(k0 + n / (BN / 4)) * (p.ldb / 4) + col0 / 4 + n % (BN / 4)];
    }
  }
  return four;
}

fn keep(t: u32, now: u32, four: array<vec4f, 4>) {
  if (t < SQUARES) {
    // The square is turned on its side.
    for (var i = 0u; i < 4u; i++) { // unroll
      let column = vec4f(four[0][i], four[1][i], four[2][i], four[3][i]);
      sA[now][t % (BK / 4) * 4 + i][t / (BK / 4)] = column;
    }
  } else {
    for (var i = 0u; i < 4u; i++) { // unroll
      let n = t - SQUARES + i * (THREADS - SQUARES);
      sB[now][n / (BN / 4)][n % (BN / 4)] = four[i];
    }
  }
}

fn store_C(row: u32, col: u32, four: vec4f) {
  if (row < p.M && col < p.N) { // guard
    let at = row * (p.ldc / 4) + col / 4;
    if (col + 4 <= p.N) {
      C[at] = four;
    } else {
      C[at].x = four.x;
      if (col + 1 < p.N) { C[at].y = four.y; }
      if (col + 2 < p.N) { C[at].z = four.z; }
    }
  }
}

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
    // Ask for the next tiles, and don't wait for them. (After the last ones nobody uses them.)
    let next = load(t, row0, col0, k0 + BK);
    for (var k = 0u; k < BK; k++) { // unroll
      var a: array<vec4f, TM / 4>;
      var b: array<vec4f, TN / 4>;
      let mine = sA[now][k][warp / (BN / WN) * (WM / 4) + lane % (WM / 4)];
      for (var i = 0u; i < TM / 4; i++) { // unroll
        a[i] = subgroupShuffle(mine, lane / ACROSS + i * DOWN);
      }
      for (var j = 0u; j < TN / 4; j++) { // unroll
        b[j] = sB[now][k][tx + j * ACROSS];
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

// Warp tiles: 32 threads share a compact tile, and the next tiles are loaded while these are used.

alias Element = vec4f;

const ACROSS = WN / TN; // threads of a warp
const DOWN = WM / TM;
const THREADS = BM / WM * (BN / WN) * 32;
const SQUARES = BM / 4 * (BK / 4); // of A's tile: each of the first threads loads one

// Two tiles of each: one is used while the other is filled.
var<workgroup> sA: array<array<array<Element, BM / 4>, BK>, 2>;
var<workgroup> sB: array<array<array<Element, BN / 4>, BK>, 2>;

// What a thread loads of the next tiles: four rows of a square of A, or four vectors of B. The
// matrices are filled up with zeros to whole tiles, so nothing has to be guarded.
fn load(t: u32, row0: u32, col0: u32, k0: u32) -> array<Element, 4> {
  var four: array<Element, 4>;
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

fn keep(t: u32, now: u32, four: array<Element, 4>) {
  if (t < SQUARES) {
    // A is stored transposed: the elements that a thread needs for one k are neighbours.
    for (var i = 0u; i < 4u; i++) { // unroll
      let column = Element(four[0][i], four[1][i], four[2][i], four[3][i]);
      sA[now][t % (BK / 4) * 4 + i][t / (BK / 4)] = column;
    }
  } else {
    for (var i = 0u; i < 4u; i++) { // unroll
      let n = t - SQUARES + i * (THREADS - SQUARES);
      sB[now][n / (BN / 4)][n % (BN / 4)] = four[i];
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
    // Load the next tiles, and don't wait for them. (What comes after the last isn't used.)
    let next = load(t, row0, col0, k0 + BK);
    for (var k = 0u; k < BK; k++) { // unroll
      var a: array<vec4f, TM / 4>;
      var b: array<vec4f, TN / 4>;
      for (var i = 0u; i < TM / 4; i++) { // unroll
        a[i] = vec4f(sA[now][k][ty + i * DOWN]);
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

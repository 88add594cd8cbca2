// What the kernels with warp tiles share: 32 threads compute a compact tile, and two tiles of A and
// of B are in shared memory, of four numbers in fp32 or fp16.

alias Element = vec4<Number>;

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

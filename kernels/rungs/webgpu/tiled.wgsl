// Tiled matrix product: the threads of a block share tiles of A and B through shared memory.

alias Element = f32;
alias Result = f32;

var<workgroup> sA: array<array<f32, TILE>, TILE>;
var<workgroup> sB: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_id) thread: vec3u) {
  let tx = thread.x;
  let ty = thread.y;
  let col = block.x * TILE + tx;
  let row = (p.first + block.y) * TILE + ty;

  var acc = 0.0;
  // The tiles walk right along A and down along B; the last ones may reach past K.
  for (var k0 = 0u; k0 < p.K; k0 += TILE) {
    // Zeros beyond the edges add nothing to any dot product.
    var a = 0.0;
    var b = 0.0;
    if (row < p.M && k0 + tx < p.K) { a = A[row * p.lda + k0 + tx]; }
    if (k0 + ty < p.K && col < p.N) { b = B[(k0 + ty) * p.ldb + col]; }
    sA[ty][tx] = a;
    sB[ty][tx] = b;
    // No thread may read the tiles before every thread has written its part.
    workgroupBarrier(); // barrier 1
    for (var k = 0u; k < TILE; k++) { // unroll
      acc = fma(sA[ty][k], sB[k][tx], acc);
    }
    // No thread may overwrite the tiles before every thread has read them.
    workgroupBarrier(); // barrier 2
  }

  // Threads beyond the edges have helped to load, but own no element of C.
  if (row < p.M && col < p.N) { // guard
    C[row * p.ldc + col] = acc;
  }
}

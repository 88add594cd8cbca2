// Naive matrix product: one thread computes one element of C, straight from global memory.

alias Element = f32;
alias Result = f32;

@compute @workgroup_size(BLOCK, BLOCK)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_id) thread: vec3u) {
  let col = block.x * BLOCK + thread.x;
  let row = (p.first + block.y) * BLOCK + thread.y;
  // The last blocks reach past the edges of C.
  if (row < p.M && col < p.N) { // guard
    var acc = 0.0;
    for (var k = 0u; k < p.K; k++) {
      acc = fma(A[row * p.lda + k], B[k * p.ldb + col], acc);
    }
    C[row * p.ldc + col] = acc;
  }
}

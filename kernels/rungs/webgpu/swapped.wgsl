// The naive product with x and y swapped: x is the row. Neighbours no longer load neighbours.

alias Element = f32;
alias Result = f32;

@compute @workgroup_size(BLOCK, BLOCK)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_id) thread: vec3u) {
  let row = block.x * BLOCK + thread.x;
  let col = (p.first + block.y) * BLOCK + thread.y;
  if (row < p.M && col < p.N) { // guard
    var acc = 0.0;
    for (var k = 0u; k < p.K; k++) {
      acc = fma(A[row * p.lda + k], B[k * p.ldb + col], acc);
    }
    C[row * p.ldc + col] = acc;
  }
}

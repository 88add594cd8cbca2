// Multiply-adds and nothing else: sixteen chains per thread. They all begin differently, since a
// compiler may keep one of two that are the same.

struct Work { rounds: u32, a: f32, b: f32 }
@group(0) @binding(0) var<storage, read_write> sums: array<f32>;
@group(0) @binding(1) var<uniform> work: Work;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) at: vec3u) {
  let a = vec4f(work.a);
  let b = vec4f(work.b);
  var x0 = f32(at.x) + vec4f(0, 1, 2, 3);
  var x1 = x0 + 4;
  var x2 = x0 + 8;
  var x3 = x0 + 12;
  for (var round = 0u; round < work.rounds; round++) {
    for (var i = 0u; i < 16u; i++) { // unroll
      x0 = fma(x0, a, b);
      x1 = fma(x1, a, b);
      x2 = fma(x2, a, b);
      x3 = fma(x3, a, b);
    }
  }
  let x = x0 + x1 + x2 + x3;
  sums[at.x] = x.x + x.y + x.z + x.w;
}

// A copy: sixteen bytes read and written per thread.

@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4f>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) at: vec3u) {
  if (at.x < arrayLength(&copied)) {
    copied[at.x] = source[at.x];
  }
}

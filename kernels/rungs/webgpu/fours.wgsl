// Results of four neighbours each, stored at once; one by one where a row of C ends within the four.

alias Result = vec4f;

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

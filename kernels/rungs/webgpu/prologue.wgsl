struct Sizes {
  M: u32, N: u32, K: u32,
  lda: u32, ldb: u32, ldc: u32, // elements from row to row of A, B and C
  first: u32, // the first row of blocks of this launch
}
@group(0) @binding(0) var<storage, read> A: array<Element>;
@group(0) @binding(1) var<storage, read> B: array<Element>;
@group(0) @binding(2) var<storage, read_write> C: array<Result>;
@group(0) @binding(3) var<uniform> p: Sizes;

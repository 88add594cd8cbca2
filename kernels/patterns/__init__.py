"""Kernels beside the product: vector addition, copies, the transpose, shared-memory banks."""

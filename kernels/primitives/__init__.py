"""Kernels of other computations, each in steps: what the product's ideas do elsewhere."""

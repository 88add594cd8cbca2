"""Rungs of the ladder as operators of the frameworks that people train and serve models with.

Each file wraps `kernels.LADDER` for one framework, which is imported with it: without PyTorch,
``import kernels.frameworks.pytorch`` says in one line what is missing.

============  ==================================================================================
`pytorch`     ``torch.ops.tile_by_tile.matmul``, with gradients, inside ``torch.compile`` as well
`jax`         `kernels.frameworks.jax.matmul`, with gradients, on arrays that share memory
============  ==================================================================================
"""

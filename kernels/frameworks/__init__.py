"""Rungs of the ladder as operators of the frameworks that people train and serve models with.

Each file wraps `kernels.LADDER` for one framework, which is imported with it: without PyTorch,
``import kernels.frameworks.pytorch`` says in one line what is missing.

============  ==================================================================================
`pytorch`     ``torch.ops.tile_by_tile.matmul`` and ``.attention``, with gradients, inside
              ``torch.compile`` and CUDA graphs as well
`gpt`         a small GPT that trains and decodes with PyTorch's products or the course's
`jax`         `kernels.frameworks.jax.matmul`, with gradients, on arrays that share memory
============  ==================================================================================
"""

"""Kernels as learners write them, from the descriptions of public puzzles and tutorials.

They are clumsy on purpose: no line here is a model. Each runs against NumPy in the interpreter,
and is compiled by numba-cuda; on a GPU it runs there too (``tests/gpu/test_learners.py``).
"""

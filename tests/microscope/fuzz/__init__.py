"""Differential fuzzing: random kernels on the interpreter and on what Numba compiles.

`programs` writes kernels, `judges` runs them on each engine, `ptx` executes Numba's compiled code
without a GPU, `compare` says what differs. ``python -m tests.microscope.fuzz --help`` runs it all.
"""

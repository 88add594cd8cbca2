"""Differential fuzzing: random kernels in the interpreter, and on a GPU as Numba compiles them.

`programs` writes kernels, `judges` runs them, `worker` keeps processes busy with them.
``python -m tests.microscope.fuzz --help`` runs it all.
"""

"""What the interpreter runs: a row for each construct that Numba's CUDA target documents.

The rows are text, in ``*.txt`` beside this file. ``python -m tests.microscope.constructs`` judges
each here and by Numba's compiler, and writes ``chapters/interpreter.md``.
"""

"""The rungs of the ladder, one idea per file, beside its CUDA C++ counterpart; `order` lists them.

Kernels repeat each other on purpose: each file can be read alone, and the difference between two
neighbours (``diff unguarded.py serpentine.py``) is the idea. What launches have in common is in
`kernels.host`; what CUDA C++ kernels share below the level of their idea is in the headers.
"""

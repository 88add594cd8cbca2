"""numba-cuda's own tests, run against the microscope instead of a GPU.

``python -m tests.microscope.numba_suite`` runs those that are about the language: what a kernel may
say, what it means, and the host's side of a launch. Nothing of them is copied: they are part of the
installed package, and `shim` puts the microscope in the place of ``numba.cuda`` for one process.
"""

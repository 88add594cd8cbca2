"""The exercises, one idea a file; `kernels.lab.exercises.catalogue` lists them."""

"""The rungs of the ladder, one idea per file, beside its CUDA C++ twin; `order` lists them."""

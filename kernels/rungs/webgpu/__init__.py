"""The first rungs in WGSL, WebGPU's language: for the GPU of whoever reads the page.

A rung's text is in ``NAME.wgsl``, beside its twins in `kernels.rungs` in name, options and model.
`ladder` says which rungs and choices there are; ``book/static/gpu/wgsl.js`` completes a text.
"""

from kernels.rungs.webgpu.ladder import SHADERS, Shader, Variant

__all__ = ["SHADERS", "Variant", "Shader"]

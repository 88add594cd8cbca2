"""The ladder for JAX: `matmul` on arrays that the kernel and JAX share through DLPack.

On a GPU a rung's CUDA C++ counterpart runs on JAX's memory, and nothing is copied; without one, the
Numba kernel runs in the interpreter. JAX compiles functions by tracing them, and a traced value has
no memory that a kernel could read: call this outside of ``jax.jit``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

try:
    import jax
except ImportError:
    raise ImportError(
        "kernels.frameworks.jax needs JAX: .venv/bin/pip install jax, "
        "or pip install jax in your own environment"
    ) from None

from kernels.backend import cupy
from kernels.frameworks.operands import check_product, rung_for

__all__ = ["matmul"]


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def matmul(A: jax.Array, B: jax.Array, rung: str = "tiled") -> jax.Array:
    """Return A·B, computed by a rung of the ladder.

    Parameters
    ----------
    A, B : jax.Array of float32, shapes (M, K) and (K, N)
        On one device: a CUDA GPU, or the CPU.
    rung : str
        A rung that takes float32, such as ``"warp_tiled"``; on a CPU it needs a Numba kernel.

    Returns
    -------
    jax.Array of float32, shape (M, N)
        On the same device, with gradients for A and B by the same rung.

    Raises
    ------
    LookupError, TypeError, ValueError, RuntimeError
        One line that names the value and the way out.
    """
    if isinstance(A, jax.core.Tracer) or isinstance(B, jax.core.Tracer):
        raise TypeError("A or B is being traced: call this matmul outside of jax.jit and jax.vmap")
    check_product(A.shape, B.shape, str(A.dtype), str(B.dtype))
    (device,) = A.devices()
    if B.devices() != {device}:
        raise ValueError(f"A is on {device} and B isn't: move one, jax.device_put(B, A.device)")
    on_gpu = device.platform in ("gpu", "cuda")
    chosen = rung_for(rung, "cpp" if on_gpu else "numba")
    if not on_gpu:
        return jax.device_put(chosen.matmul(np.asarray(A), np.asarray(B)), device)
    # JAX has streams of its own: wait until it has written A and B, and until C is written.
    jax.block_until_ready((A, B))
    with cupy.cuda.Device(device.local_hardware_id):
        C = chosen.matmul(cupy.from_dlpack(A), cupy.from_dlpack(B), engine="cpp")
        cupy.cuda.get_current_stream().synchronize()
        return jax.dlpack.from_dlpack(C)


def _forward(A: jax.Array, B: jax.Array, rung: str) -> tuple[jax.Array, Any]:
    return matmul(A, B, rung), (A, B)


def _backward(rung: str, saved: Any, G: jax.Array) -> tuple[jax.Array, jax.Array]:
    """With C = A·B and G the gradient of C: the gradients G·Bᵀ of A and Aᵀ·G of B."""
    A, B = saved
    return matmul(G, B.T, rung), matmul(A.T, G, rung)


matmul.defvjp(_forward, _backward)

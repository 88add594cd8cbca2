"""The ladder on arrays of JAX: right and differentiable. With eighths, every sum is exact."""

import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")

from kernels import on_gpu  # noqa: E402
from kernels.basics.files import ROOT  # noqa: E402
from kernels.frameworks.jax import matmul  # noqa: E402


def missing() -> str:
    """Say what keeps JAX from running beside the kernels; empty if nothing does."""
    try:
        backend = jax.default_backend()
    except RuntimeError as error:
        return str(error)
    return "this JAX doesn't know the GPU" if on_gpu and backend == "cpu" else ""


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def eighths(*shape, seed=1):
    whole = np.random.default_rng(seed).integers(-8, 9, shape)
    return jax.numpy.asarray((whole / 8).astype(np.float32))


@pytest.mark.parametrize("rung", ("naive", "tiled", "warp_tiled"))
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 7, 3), (40, 33, 17)])
def test_it_multiplies(rung, sizes):
    M, N, K = sizes
    A, B = eighths(M, K), eighths(K, N, seed=2)
    C = matmul(A, B, rung)
    assert isinstance(C, jax.Array) and C.devices() == A.devices()
    assert (np.asarray(C) == np.asarray(A) @ np.asarray(B)).all()


def test_its_gradients_are_those_of_the_product():
    A, B = eighths(5, 7), eighths(7, 3, seed=2)

    def gradients(product):
        return jax.grad(lambda A, B: (product(A, B) ** 2).sum(), (0, 1))(A, B)

    for ours, theirs in zip(gradients(matmul), gradients(jax.numpy.matmul), strict=True):
        assert (ours == theirs).all()


@pytest.mark.parametrize("within", (jax.jit, jax.vmap))
def test_traced_values_are_refused(within):
    with pytest.raises(TypeError, match="call this matmul outside of jax.jit"):
        within(lambda A: matmul(A, A))(eighths(2, 4, 4))


@pytest.mark.parametrize(
    "A, B, dtype, rung, error, said",
    [
        ((2, 3), (4, 2), "float32", "tiled", ValueError, "A is 2×3 and B 4×2"),
        ((6,), (6, 2), "float32", "tiled", ValueError, r"A has shape \(6,\)"),
        ((2, 3), (3, 2), "bfloat16", "tiled", TypeError, "A holds bfloat16"),
        ((2, 3), (3, 2), "float32", "tilled", LookupError, "no rung 'tilled'"),
    ],
)
def test_what_cannot_be_multiplied_is_refused_in_one_line(A, B, dtype, rung, error, said):
    with pytest.raises(error, match=said) as caught:
        matmul(eighths(*A).astype(dtype), eighths(*B), rung)
    assert "\n" not in str(caught.value)


def test_without_jax_one_line_says_so():
    code = "import sys; sys.modules['jax'] = None; import kernels.frameworks.jax"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: kernels.frameworks.jax needs JAX: .venv/bin/pip install jax, "
        "or pip install jax in your own environment"
    )

"""Every version of every rung on the GPU: its products, its memory, and its repeatability."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from kernels import LADDER, cuda, cupy, lab
from kernels.lab import half
from kernels.lab.notebooks import ROOT
from kernels.vector_add import add, vector_add_grid_stride
from tests.rungs import (
    SHAPES,
    SMALL,
    VERSIONS,
    check_shapes,
    exact,
    label,
    random_shapes,
    shifted,
    strided_inputs,
)

pytestmark = pytest.mark.gpu
ENGINES = ("numba", "cpp")
FLOAT32 = [version for version in VERSIONS if version[2] == "float32"]


@pytest.fixture(autouse=True)
def only_where_it_runs(request):
    """Skip a version that this GPU cannot run, for the reason that the rung itself gives."""
    version = getattr(request.node, "callspec", None) and request.node.callspec.params.get(
        "version"
    )
    if version:
        name, _, dtype, _ = version
        missing = LADDER[name].missing(dtype)
        if missing:
            with pytest.raises(RuntimeError, match=re.escape(missing.split(":")[0])):
                operands = (half.cast(x, dtype) for x in lab.oracle.inputs(3, 5, 7))
                LADDER[name].matmul(*operands, engine="cpp")
            pytest.skip(missing)


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_200_random_shapes(version):
    _, engine, dtype, _ = version
    shapes = random_shapes(200, seed=VERSIONS.index(version))
    assert check_shapes(version, engine, shapes, dtype=dtype) == 200


@pytest.mark.parametrize("version", [v for v in FLOAT32 if v[0] in SMALL], ids=label)
def test_sizes_around_the_small_tiles(version):
    """The options of a rung take different thirds: together every shape."""
    third = VERSIONS.index(version) % 3
    assert check_shapes(version, version[1], SHAPES[third::3]) in (333, 334)


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_many_blocks_and_a_long_k(version):
    _, engine, dtype, _ = version
    shapes = [(1030, 519, 260), (516, 1032, 264), (130, 260, 4099), (2049, 136, 520)]
    assert check_shapes(version, engine, shapes, dtype=dtype) == 4


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_repeated_runs_are_the_same_to_the_last_bit(version):
    name, engine, dtype, options = version
    A, B = (half.cast(cupy.asarray(x), dtype) for x in lab.oracle.inputs(517, 389, 1033))
    first = LADDER[name].matmul(A, B, engine=engine, **options)
    for _ in range(5):
        C = cupy.full((517, 389), np.nan, np.float32)
        LADDER[name].matmul(A, B, out=C, engine=engine, **options)
        assert (C.view(np.uint32) == first.view(np.uint32)).all()


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_views_that_16_bytes_do_not_fit(version):
    name, engine, dtype, options = version
    for M, N, K in ((132, 136, 72), (129, 131, 70)):
        A, B = (half.cast(cupy.asarray(x), dtype) for x in lab.oracle.inputs(M, N, K, seed=3))
        C = shifted(cupy.full((M, N), np.nan, np.float32))
        LADDER[name].matmul(shifted(A), shifted(B), out=C, engine=engine, **options)
        lab.check(C, *exact(A, B))
        wide = cupy.full((M + 3, N + 5), np.nan, np.float32)
        # Where N + 5 is a multiple of four, the second of these has rows that 16 bytes fit, and an
        # end that they do not.
        for part in (wide[1 : M + 1, 3 : N + 3], wide[1 : M + 1, 4 : N + 4]):
            LADDER[name].matmul(cupy.asfortranarray(A), B, out=part, engine=engine, **options)
            lab.check(part, *exact(A, B))
            part[...] = np.nan
            assert bool(cupy.isnan(wide).all()), "something outside the view was written"


@pytest.mark.parametrize("version", FLOAT32, ids=label)
def test_any_strides(version):
    name, engine, _, options = version
    for case, A, B, C in strided_inputs(33, 47, 61):
        device_A, device_B = on_device(A), on_device(B)
        device_C = on_device(C)
        result = LADDER[name].matmul(device_A, device_B, out=device_C, engine=engine, **options)
        assert result is device_C, case
        lab.check(result, A, B)
        assert LADDER[name].matmul(A, B, out=C, engine=engine, **options) is C, case
        lab.check(C, A, B)


def on_device(array):
    """Return a CuPy array with the strides of `array` (its memory copied whole)."""
    base = array
    while base.base is not None:
        base = base.base
    flat = base.ravel(order="K") if base.flags.forc else base
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    memory = cupy.asarray(flat.view(np.uint8).reshape(-1))
    pointer = memory.data + offset
    return cupy.ndarray(array.shape, array.dtype, memptr=pointer, strides=array.strides)


@pytest.mark.parametrize("version", FLOAT32, ids=label)
def test_numba_arrays_stay_on_the_device(version):
    name, engine, _, options = version
    A, B = lab.oracle.inputs(33, 47, 61)
    C = LADDER[name].matmul(cuda.to_device(A), cuda.to_device(B), engine=engine, **options)
    assert cuda.is_cuda_array(C) and not isinstance(C, cupy.ndarray)
    lab.check(C, A, B)


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_a_prepared_launch_is_the_same_product(version):
    name, engine, dtype, options = version
    A, B = (half.cast(cupy.asarray(x), dtype) for x in lab.oracle.inputs(264, 136, 72))
    C = cupy.full((264, 136), np.nan, np.float32)
    launch = LADDER[name].prepare(A, B, C, engine, **options)
    assert bool(cupy.isnan(C).all()), "nothing is launched before it is asked for"
    launch()
    lab.check(C, *exact(A, B))


@pytest.mark.parametrize("version", [v for v in FLOAT32 if v[0] == "async_tiled"][:1], ids=label)
def test_the_last_steps_of_the_longest_k(version):
    """Copies are started for tiles beyond the end of K: what counts the steps must not overflow."""
    K = lab.host.LARGEST["cpp"] - 1
    if cupy.cuda.runtime.memGetInfo()[0] < 20 * 10**9:
        pytest.skip("A and B take 17 GB")
    A, B = cupy.zeros((1, K), np.float32), cupy.ones((K, 1), np.float32)
    A[0, 0], A[0, -40:] = 1000, cupy.arange(1, 41)
    C = LADDER[version[0]].matmul(A, B, engine="cpp", split=512)
    assert C.item() == 1000 + 40 * 41 // 2


def test_the_chooser_multiplies():
    from kernels import choose, matmul

    for M, N, K in ((1, 1, 1), (128, 2048, 2048), (2048, 128, 2048), (2048, 2048, 128), (513,) * 3):
        A, B = (cupy.asarray(x) for x in lab.oracle.inputs(M, N, K))
        lab.check(matmul(A, B), A, B)
        assert choose(M, N, K).rung in LADDER


def test_out_may_not_overlap_an_input():
    A = cupy.ones((32, 32), cupy.float32)
    for out in (A, A[::-1], A.T):
        with pytest.raises(ValueError, match="out shares memory with A"):
            LADDER["tiled"].matmul(A, A.copy(), out=out)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", (1, 31, 255, 256, 257, 100_003))
def test_vector_add(n, engine):
    rng = np.random.default_rng(n)
    a, b = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    for block in (1, 100, 256, 1024):
        assert np.array_equal(add(a, b, engine=engine, block=block), a + b)
    c = cupy.full(n, np.nan, np.float32)
    vector_add_grid_stride[3, 100](cupy.asarray(a), cupy.asarray(b), c)
    assert np.array_equal(cupy.asnumpy(c), a + b)


def test_a_full_gpu_is_one_clear_line():
    cols = 4 * lab.device().memory_bytes // (4 * 1024)
    thin = cupy.zeros((1, 1), cupy.float32)
    A, B = cupy.broadcast_to(thin, (1024, 1)), cupy.broadcast_to(thin, (1, cols))
    with pytest.raises(MemoryError, match="GB free: use smaller sizes") as caught:
        LADDER["naive"].matmul(A, B)
    assert "\n" not in str(caught.value)


# Under the sanitizer ----------------------------------------------------------------

#: Two blocks of the largest tiles in each direction, with edges; K in more than two steps.
SANITIZED = (264, 264, 72)
CLEAN = {
    "memcheck": "ERROR SUMMARY: 0 errors",
    "racecheck": "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
}


@pytest.mark.skipif(not shutil.which("compute-sanitizer"), reason="no compute-sanitizer here")
@pytest.mark.parametrize("tool", CLEAN)
def test_the_sanitizer_finds_nothing(tool):
    done = subprocess.run(
        ["compute-sanitizer", "--tool", tool, sys.executable, "-m", "tests.gpu.test_rungs"],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert CLEAN[tool] in said, said[-3000:]
    runs = [v for v in VERSIONS if not LADDER[v[0]].missing(v[2])]
    assert f"launched {len(runs)} versions" in said, said[-3000:]


def launch_all() -> None:
    """Launch each version once: what the sanitizer watches."""
    M, N, K = SANITIZED
    A, B = (cupy.asarray(x) for x in lab.oracle.inputs(M, N, K))
    C, count = cupy.empty((M, N), np.float32), 0
    for name, engine, dtype, options in VERSIONS:
        if not LADDER[name].missing(dtype):
            operands = (half.cast(x, dtype) for x in (A, B))
            LADDER[name].prepare(*operands, C, engine, **options)()
            count += 1
    cupy.cuda.Device().synchronize()
    print(f"launched {count} versions", flush=True)


if __name__ == "__main__":
    launch_all()

"""Every version of every rung on the GPU: its products, its memory, and its repeatability."""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

from kernels import LADDER, cuda, cupy, host, lab
from kernels.basics.files import ROOT
from kernels.measure import oracle
from kernels.patterns.vector_add import add, vector_add_grid_stride
from tests.rungs.cases import (
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
                LADDER[name].matmul(*oracle.inputs(3, 5, 7, dtype=dtype), engine="cpp")
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
    A, B = oracle.operands(517, 389, 1033, dtype=dtype)
    first = LADDER[name].matmul(A, B, engine=engine, **options)
    for _ in range(5):
        C = cupy.full((517, 389), np.nan, np.float32)
        LADDER[name].matmul(A, B, out=C, engine=engine, **options)
        assert (C.view(np.uint32) == first.view(np.uint32)).all()


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_views_that_16_bytes_do_not_fit(version):
    name, engine, dtype, options = version
    for M, N, K in ((132, 136, 72), (129, 131, 70)):
        A, B = oracle.operands(M, N, K, seed=3, dtype=dtype)
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
    A, B = oracle.inputs(33, 47, 61)
    C = LADDER[name].matmul(cuda.to_device(A), cuda.to_device(B), engine=engine, **options)
    assert cuda.is_cuda_array(C) and not isinstance(C, cupy.ndarray)
    lab.check(C, A, B)


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_a_prepared_launch_is_the_same_product(version):
    name, engine, dtype, options = version
    A, B = oracle.operands(264, 136, 80, dtype=dtype)
    C = cupy.full((264, 136), np.nan, np.float32)
    launch = LADDER[name].prepare(A, B, C, engine, **options)
    assert bool(cupy.isnan(C).all()), "nothing is launched before it is asked for"
    launch()
    lab.check(C, *exact(A, B))


@pytest.mark.parametrize("version", [v for v in FLOAT32 if v[0] == "async_tiled"][:1], ids=label)
def test_the_last_steps_of_the_longest_k(version):
    """Copies are started for tiles beyond the end of K: what counts the steps must not overflow."""
    K = host.LARGEST["cpp"] - 1
    if cupy.cuda.runtime.memGetInfo()[0] < 20 * 10**9:
        pytest.skip("A and B take 17 GB")
    A, B = cupy.zeros((1, K), np.float32), cupy.ones((K, 1), np.float32)
    A[0, 0], A[0, -40:] = 1000, cupy.arange(1, 41)
    C = LADDER[version[0]].matmul(A, B, engine="cpp", split=512)
    assert C.item() == 1000 + 40 * 41 // 2


def test_the_chooser_multiplies():
    from kernels import choose, matmul

    for M, N, K in ((1, 1, 1), (128, 2048, 2048), (2048, 128, 2048), (2048, 2048, 128), (513,) * 3):
        A, B = (cupy.asarray(x) for x in oracle.inputs(M, N, K))
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

#: Shapes (M, N, K) that no tile divides. The first has rows of whole 16 bytes, and K so long that
#: every ring of tiles (6 of BK = 64 at most) is used again, the second rows of odd lengths, the
#: third less than a tile of everything.
SANITIZED = ((264, 264, 584), (261, 259, 203), (3, 5, 7))
#: For tensor cores: more tiles of 256×256 than an H100 has pairs of SMs, so that blocks which stay
#: compute several.
MANY_TILES = (264, 8712, 136)
#: For `stream_k`: K so long that tiles are divided along it, and sums handed over.
DIVIDED = (129, 264, 8192)
CLEAN = {
    "memcheck": "ERROR SUMMARY: 0 errors",
    "racecheck": "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
}
#: What runs in processes of its own, so that a finding in one part hides nothing in the others.
PARTS = ("numba", "cpp", "tensor_cores")


def part_of(name, engine):
    return "tensor_cores" if LADDER[name].chapter.startswith("08") else engine


@pytest.fixture(scope="module")
def sanitized():
    """What each tool says of each part: all processes at once, for most of it is compiling."""

    def said(tool, part):
        program = [sys.executable, "-m", "tests.gpu.test_rungs", part]
        done = subprocess.run(
            ["compute-sanitizer", "--tool", tool, *program],
            cwd=ROOT, capture_output=True, text=True, timeout=400,
        )  # fmt: skip
        return done.stdout + done.stderr

    pairs = [(tool, part) for tool in CLEAN for part in PARTS]
    with ThreadPoolExecutor(len(pairs)) as pool:
        return {pair: pool.submit(said, *pair) for pair in pairs}


@pytest.mark.skipif(not shutil.which("compute-sanitizer"), reason="no compute-sanitizer here")
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("tool", CLEAN)
def test_the_sanitizer_finds_nothing(tool, part, sanitized):
    said = sanitized[tool, part].result()
    assert CLEAN[tool] in said, said[-3000:]
    assert f"launched {len(list(launches(part)))} times" in said, said[-3000:]


def launches(part):
    """Yield (version, format of C, shape) of all that the sanitizer watches in a part."""
    for version in VERSIONS:
        name, engine, dtype, _ = version
        if part_of(name, engine) == part and not LADDER[name].missing(dtype):
            formats = ["float32"] + [dtype] * (dtype in ("float16", "bfloat16"))
            shapes = SANITIZED + (MANY_TILES,) * (part == "tensor_cores")
            shapes += (DIVIDED,) * (name == "stream_k")
            yield from product([version], formats, shapes)


def launch_all(part) -> None:
    """Launch each version of a part: what the sanitizer watches."""
    # From a pool, an access beyond an array would land in the memory of another, unseen.
    cupy.cuda.set_allocator(None)
    count = 0
    for (name, engine, dtype, options), out_dtype, (M, N, K) in launches(part):
        A, B = oracle.operands(M, N, K, dtype=dtype)
        C = cupy.asarray(oracle.poisoned(M, N, out_dtype))
        LADDER[name].matmul(A, B, out=C, engine=engine, **options)
        count += 1
    cupy.cuda.Device().synchronize()
    print(f"launched {count} times", flush=True)


if __name__ == "__main__":
    launch_all(sys.argv[1])

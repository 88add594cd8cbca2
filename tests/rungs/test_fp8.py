"""Products of 8-bit numbers: launches, models, refusals, and what the kernel is given."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from kernels import LADDER, cupy
from kernels.backend import on_gpu
from kernels.host import checks, cpp, e4m3, half
from kernels.host import rung as rungs
from kernels.measure import oracle
from kernels.rungs import fp8

RUNG = LADDER["fp8"]
BYTES = np.ones((4, 4), np.uint8)
VERSIONS = [
    {"cluster": cluster, "promote": n, "stages": stages}
    for cluster, n, stages in ((1, 0, 4), (2, 0, 3), (1, 4, 3), (2, 4, 4))
]
cpu_only = pytest.mark.skipif(on_gpu, reason="about machines without a GPU")


# ----------------------------------------------------------------------------- launch and model


@cpu_only
@pytest.mark.parametrize("options", VERSIONS, ids=str)
@pytest.mark.parametrize("n", (1, 1000, 4096, 8192))
def test_blocks_stay_for_as_many_rounds_as_all_sms_would_need(n, options):
    (blocks,), block = RUNG.launch(n, n, **options)
    cluster, width = options["cluster"], 192 if options["promote"] else 256
    assert block == (384,) and blocks % cluster == 0 and 0 < blocks <= 132
    tiles = -(-n // (128 * cluster)) * -(-n // width)
    rounds = -(-tiles // (132 // cluster))
    assert -(-tiles // (blocks // cluster)) == rounds


@pytest.mark.parametrize("options", VERSIONS, ids=str)
def test_a_block_has_the_shared_memory_that_it_asks_for(options):
    chosen = fp8.Options(**options)
    macros = chosen.macros
    ring = macros["STAGES"] * 128 * (128 + macros["BN"])  # 128 bytes per row of A and column of B
    assert macros["STAGES"] == options["stages"] and macros["BOXES"] > 0
    assert chosen.shared_bytes == ring + 2 * macros["BOXES"] * 64 * 128
    assert chosen.shared_bytes <= 227 * 1024 - 1024  # and some for the barriers


def test_an_element_is_one_byte_and_one_of_c_four():
    M, N, K = 512, 1536, 256
    predicted = RUNG.model(M, N, K)
    assert predicted.loads == {"A": M * K * 6, "B": K * N * 2}
    assert predicted.bytes_requested == M * K * 6 + K * N * 2 + 4 * M * N
    assert predicted.bytes_compulsory == M * K + K * N + 4 * M * N
    assert RUNG.model(M, N, K, promote=4).loads["A"] == M * K * 8  # its tiles are narrower


def test_a_scale_makes_another_rung_and_leaves_this_one():
    scaled = RUNG.scaled(0.25)
    assert (scaled.scale, RUNG.scale) == (0.25, 1.0)
    assert (scaled.name, scaled.options, scaled.dtypes) == (RUNG.name, RUNG.options, ("e4m3",))


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "options, message",
    [
        ({"promote": -1}, "promote must be at least 0, got -1: use 0 or 4"),
        ({"promote": 0.5}, "promote must be a whole number"),
        ({"cluster": 4}, "not written for cluster=4: use 1 or 2"),
        ({"group": 33}, "group must be at most 32, got 33"),
        (
            {"BN": 128},
            "fp8 has no option 'BN': it takes group=4|8|16, cluster=1|2, promote=0|4, stages=3|4",
        ),
        ({"stages": 2}, "not written for stages=2: use 3 or 4"),
    ],
)
def test_options_that_cannot_be_are_one_line(options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        RUNG.launch(64, 64, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "A, B, out, error, message",
    [
        (BYTES.astype(np.float32), BYTES, None, TypeError,
         "A holds float32; expected e4m3 as uint8: use kernels.host.e4m3.quantised(A)"),
        (BYTES, BYTES.astype(np.float16), None, TypeError,
         "B holds float16; expected e4m3 as uint8: use kernels.host.e4m3.quantised(B)"),
        (BYTES, BYTES[:3], None, ValueError,
         "A is 4×4 and B is 3×4: B must have as many rows as A has columns"),
        (BYTES, BYTES, np.ones((4, 4), np.float64), TypeError,
         "out holds float64; expected float32 or float16 or bfloat16 or uint16: "
         "use out.astype(np.float32)"),
        ([1], BYTES, None, TypeError, "A must be an array, got list: "
         "use np.asarray(A, dtype=np.uint8)"),
        (BYTES, BYTES, np.ones((4, 5), np.float32), ValueError,
         "out has shape (4, 5); the result has (4, 4)"),
    ],
)  # fmt: skip
def test_operands_that_cannot_be_are_one_line(monkeypatch, A, B, out, error, message):
    as_if_on_hopper(monkeypatch)
    with pytest.raises(error) as caught:
        RUNG.matmul(A, B, out=out, engine="cpp")
    assert str(caught.value) == message


def test_a_gpu_that_is_no_hopper_is_told_so(monkeypatch):
    for capability, name in (((8, 9), "sm_89"), ((10, 0), "sm_100")):
        gpu = SimpleNamespace(name="a GPU", compute_capability=capability)
        monkeypatch.setattr(rungs, "device", lambda gpu=gpu: gpu)
        told = f"fp8 needs sm_90 (its instructions are Hopper's alone), this GPU is {name}: "
        with pytest.raises(RuntimeError) as caught:
            RUNG.matmul(BYTES, BYTES, engine="cpp")
        assert str(caught.value) == told + "use a rung of another number format"


@cpu_only
def test_without_a_gpu_it_says_what_to_use():
    with pytest.raises(RuntimeError, match="'cpp' needs an NVIDIA GPU .* in Numba"):
        RUNG.matmul(BYTES, BYTES, engine="cpp")


@cpu_only
@pytest.mark.parametrize("options", VERSIONS, ids=str)
def test_without_a_gpu_the_interpreter_is_exact(options):
    """One element; edges, and rows that are copied; sums of more than one piece."""
    for M, N, K in ((1, 1, 1), (130, 68, 70), (40, 60, 1100)):
        A, B = oracle.inputs(M, N, K, dtype="e4m3")
        exact = half.floats(A) @ half.floats(B)
        assert np.array_equal(2 * RUNG.scaled(0.5).matmul(A, B, **options), exact)
    for dtype in ("float16", "bfloat16"):
        C = oracle.poisoned(M, N, dtype)
        assert RUNG.matmul(A, B, out=C, **options) is C
        assert np.array_equal(half.floats(C), half.floats(half.cast(exact, dtype)))


# ------------------------------------------------------------- what the kernel is given, on a CPU


def as_if_on_hopper(monkeypatch):
    """Let products get as far as the launch, and arrays of the stand-in tell their addresses."""
    for module in (half, checks):
        monkeypatch.setattr(module, "on_gpu", True)
    hopper = SimpleNamespace(name="H100", compute_capability=(9, 0))
    monkeypatch.setattr(rungs, "device", lambda: hopper)
    monkeypatch.setattr(RUNG.Options, "grid_dim", lambda options, M, N: (1,))
    address = property(lambda array: SimpleNamespace(ptr=array.ctypes.data))
    monkeypatch.setattr(cupy.ndarray, "data", address, raising=False)


@pytest.fixture
def kernel(monkeypatch):
    """A kernel of NumPy that takes what the one in fp8.cu takes; it notes how it was loaded."""
    noted = {}

    def tensor_map(array, rows, cols, dtype):
        assert half.is_aligned(array), "the TMA unit wants rows on 16-byte boundaries"
        assert rows <= 256 and cols * array.itemsize == 128
        return array, rows

    def load(name, function="", shared_bytes=0, arch="", **macros):
        noted.update(name=name, arch=arch, macros=macros, shared=shared_bytes)

        def launch(grid, block, arguments, shared_mem):
            (A, _), (columns, share), (C, _), M, N, K, scale = arguments
            assert share * macros["CLUSTER"] == macros["BN"] and shared_mem == shared_bytes
            product = scale * (e4m3.floats(A[:, :K]) @ e4m3.floats(columns[:, :K]).T)
            bf16 = macros["BF16"] and macros["HALF_C"]
            C[:, :N] = half.bfloat16(product) if bf16 else product
            noted["copied"] = columns

        return launch

    def prepared(compiled, grid, block, arguments, asked):
        return partial(compiled, grid, block, arguments, shared_mem=asked)

    as_if_on_hopper(monkeypatch)
    monkeypatch.setattr(rungs, "prepared", prepared)
    monkeypatch.setattr(fp8, "tensor_map", tensor_map)
    monkeypatch.setattr("kernels.host.tensor_cores.tensor_map", tensor_map)
    monkeypatch.setattr(cpp, "load", load)
    return noted


@cpu_only
@pytest.mark.parametrize("options", VERSIONS, ids=str)
@pytest.mark.parametrize("shape", ((1, 1, 1), (17, 24, 31), (64, 96, 128), (130, 100, 80)))
def test_the_kernel_is_given_the_product(kernel, shape, options):
    A, B = oracle.inputs(*shape, dtype="e4m3")
    for columns in (B, np.asfortranarray(B), np.repeat(B, 2, 1)[:, ::2]):
        C = oracle.poisoned(*shape[:2])
        assert RUNG.scaled(0.5).matmul(A, columns, out=C, engine="cpp", **options) is C
        assert np.array_equal(2 * C, half.floats(A) @ half.floats(B))
    assert kernel["macros"] == fp8.Options(**options).macros | {"BF16": 0, "HALF_C": 0}
    assert (kernel["name"], kernel["arch"]) == ("fp8", "sm_90a")


@cpu_only
@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_c_may_have_16_bits_of_either_kind(kernel, dtype):
    A, B = oracle.inputs(33, 47, 61, dtype="e4m3")
    C = oracle.poisoned(33, 47, dtype)
    RUNG.matmul(A, B, out=C, engine="cpp")
    exact = half.floats(A) @ half.floats(B)
    assert np.array_equal(half.floats(C), half.floats(half.cast(exact, dtype)))
    assert kernel["macros"]["HALF_C"] and kernel["macros"]["BF16"] == (dtype == "bfloat16")


@cpu_only
def test_columns_of_whole_16_bytes_are_not_copied(kernel):
    A, B = (aligned(x) for x in oracle.operands(48, 64, 32, dtype="e4m3"))
    C = aligned(cupy.asarray(oracle.poisoned(48, 64)))
    RUNG.prepare(A, B, C, "cpp")()
    assert np.shares_memory(kernel["copied"], B)
    assert np.array_equal(C, half.floats(A) @ half.floats(B))


@cpu_only
@pytest.mark.parametrize("shape", ((17, 24, 31), (48, 60, 40)))
def test_what_is_copied_for_a_launch_is_copied_by_every_call(kernel, shape):
    A, B = map(cupy.asarray, oracle.inputs(*shape, dtype="e4m3"))
    C = cupy.asarray(oracle.poisoned(*shape[:2]))
    with pytest.raises(TypeError, match="C is a ndarray; expected a CuPy array"):
        RUNG.prepare(A, B, np.asarray(C), "cpp", strided=True)
    launch = RUNG.prepare(A, B, C, "cpp", strided=True)
    for _ in range(2):
        launch()
        assert np.array_equal(C, half.floats(A) @ half.floats(B))
        A[...], B[...] = A[::-1].copy(), B[:, ::-1].copy()
        C.fill(np.nan)


@cpu_only
@pytest.mark.parametrize(
    "shape, name, told",
    [((48, 64, 40), "A", "48×40"), ((48, 64, 24), "A", "48×24"), ((48, 60, 32), "C", "48×60")],
)
def test_a_launch_prepared_for_later_refuses_rows_of_no_whole_16_bytes(kernel, shape, name, told):
    A, B = (aligned(x) for x in oracle.operands(*shape, dtype="e4m3"))
    C = aligned(cupy.asarray(oracle.poisoned(*shape[:2])))
    with pytest.raises(ValueError) as caught:
        RUNG.prepare(A, B, C, "cpp")
    assert str(caught.value) == (
        f"{name} ({told}) has rows that start on no 16-byte boundary, or gaps between them:"
        " use matmul, which copies it"
    )


@cpu_only
def test_a_launch_prepared_for_later_refuses_a_b_by_rows(kernel):
    A, B = (aligned(x) for x in oracle.operands(48, 64, 32, dtype="e4m3"))
    rows = cupy.asarray(np.ascontiguousarray(B))
    with pytest.raises(ValueError, match=r"^B.T \(64×32\) has rows .*: use matmul"):
        RUNG.prepare(A, rows, aligned(cupy.asarray(oracle.poisoned(48, 64))), "cpp")


def aligned(array):
    """Return a copy that begins at a multiple of 16 bytes, as all arrays on a GPU do."""
    memory = np.empty(array.nbytes + 16, np.uint8)
    first = -memory.ctypes.data % 16
    order = "C" if array.flags.c_contiguous else "F"
    flat = memory[first : first + array.nbytes].view(array.dtype)
    copy = flat.reshape(array.shape, order=order).view(cupy.ndarray)
    copy[...] = array
    return copy


# ------------------------------------------------------------------------------------ the oracle


def test_inputs_are_whole_numbers_whose_sums_need_few_bits():
    A, B = oracle.inputs(20, 30, 8192, dtype="e4m3")
    assert A.dtype == B.dtype == np.uint8
    numbers = half.floats(A)
    assert set(np.unique(numbers)) == set(range(-4, 5))
    sums = np.cumsum(numbers[:8, None] * half.floats(B).T, axis=2)
    assert abs(sums).max() < 2**13


def test_the_oracle_takes_e4m3_and_sees_one_wrong_product():
    A, B = oracle.inputs(20, 30, 64, dtype="e4m3")
    C = half.floats(A) @ half.floats(B)
    assert repr(oracle.check(C, A, B)).endswith("within the e4m3 tolerance for K = 64")
    C[3, 7] += 1
    with pytest.raises(oracle.WrongResult, match=r"C\[3, 7\] .* 1 of 600 elements are wrong"):
        oracle.check(C, A, B)

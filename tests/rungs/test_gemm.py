"""The general product in the interpreter: layouts, epilogues, batches, groups and parts of K.

Elements are small whole numbers or quarters of them: every sum is exact, and so is the oracle.
"""

import math

import numpy as np
import pytest

import kernels
from kernels.backend import cupy, on_gpu
from kernels.host import half
from kernels.rungs.gemm import ACTIVATIONS, Epilogue, GemmProduct, apply
from kernels.rungs.order import GENERAL

pytestmark = pytest.mark.skipif(on_gpu, reason="is about the interpreter")
erf = np.vectorize(math.erf)
APPLIED = {
    "": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
    "silu": lambda x: x / (1 + np.exp(-x)),
}
#: By format: a rung and small tiles, and a shape that they don't divide.
SMALL = {
    "float32": ("gemm_f32", dict(BM=16, BN=32, BK=16, WM=16, WN=32, TM=4, TN=4, stages=4)),
    "float16": ("gemm_f16", dict(BM=64, BN=64, cluster=1)),
    "bfloat16": ("gemm_f16", dict(BM=64, BN=64, cluster=1)),
}
#: Other tiles of each rung that run here, and the largest: one block of it is long enough.
TILES = [
    ("float32", {}),
    ("float32", dict(BM=32, BN=64, BK=16, WM=16, WN=32, TM=4, TN=4, stages=2)),
    ("float32", dict(BM=16, BN=128, WM=16, WN=32, TM=4, TN=4, BK=16)),
    ("float32", dict(BM=128, BN=16, WM=32, WN=16, TM=4, TN=4, BK=16)),
    ("bfloat16", {}),
    ("float16", dict(BN=128, cluster=1)),
    ("bfloat16", dict(BM=64, cluster=1)),
    ("bfloat16", dict(BN=192, cluster=1)),
    ("bfloat16", dict(BM=64, BN=128, cluster=2)),
]


def whole(seed, *shape):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def laid(array, how):
    """The array with its last two axes as they are, or transposed in memory."""
    if how == "N":
        return array
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def product(
    A, B, dtype="float32", out=None, epilogue=None, sizes=None, layout="NN", rung="", **options
):  # fmt: skip
    """C by the general product of a format, or by a general kernel that is named, as float32."""
    name, tiles = SMALL[dtype]
    rung = GENERAL[rung or name]
    given = [laid(half.cast(x, dtype), how) for x, how in zip((A, B), layout, strict=True)]
    operands = GemmProduct(*given, out, epilogue, sizes)
    rung.launcher(operands, rung.Options(**(options or tiles)))()
    return half.floats(operands.result())


@pytest.mark.parametrize("dtype", ("float32", "float16", "bfloat16"))
@pytest.mark.parametrize("layout", ("NN", "NT", "TN", "TT"))
def test_every_layout_with_edges(layout, dtype):
    shapes = ((33, 12, 24), (7, 5, 3)) if dtype == "float32" else ((72, 80, 72), (67, 70, 75))
    for M, N, K in shapes:
        A, B = whole(1, M, K), whole(2, K, N)
        assert np.array_equal(product(A, B, dtype, layout=layout), A @ B), (M, N, K)


@pytest.mark.parametrize("dtype, options", TILES)
def test_other_tiles(dtype, options):
    M, N, K = (20, 18, 17) if dtype == "float32" else (136, 72, 136)
    A, B = whole(3, M, K), whole(4, K, N)
    options = options or GENERAL[SMALL[dtype][0]].defaults
    assert np.array_equal(product(A, B, dtype, layout="TN", **options), A @ B)


@pytest.mark.parametrize("dtype", ("float32", "bfloat16"))
@pytest.mark.parametrize("split", (1, 3))
def test_parts_of_k_batches_and_groups(dtype, split):
    """More parts than steps of K are fewer; one matrix goes with each of the other operand."""
    tiles = SMALL[dtype][1] | {"split": split}
    A, B = whole(5, 2, 18, 40), whole(6, 2, 40, 12)
    assert np.array_equal(product(A, B, dtype, layout="NT", **tiles), A @ B)
    assert np.array_equal(product(A, B[0], dtype, **tiles), A @ B[0])
    assert np.array_equal(product(A[0], B, dtype, layout="TN", **tiles), A[0] @ B)
    sizes, rows = (19, 2), whole(7, 21, 40)
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    expected = np.concatenate([a @ b for a, b in zip(parts, B, strict=True)])
    for layout in ("NN", "TN"):
        assert np.array_equal(product(rows, B, dtype, None, None, sizes, layout, **tiles), expected)


def test_many_parts_of_k_are_added_up_in_two_steps():
    A, B = whole(8, 5, 17 * 64 + 3), whole(9, 17 * 64 + 3, 9)
    tiles = SMALL["bfloat16"][1] | {"split": 18}  # sixteen, and two
    assert np.array_equal(product(A, B, "bfloat16", **tiles), A @ B)


def within(array, row, col, pitch):
    """The array as a part of a wider one, and all of that one: its rows start anywhere."""
    rows, cols = array.shape[-2:]
    around = np.full((*array.shape[:-2], rows + 8, pitch), 7, array.dtype)
    part = around[..., row : row + rows, col : col + cols]
    part[...] = array
    return part, around


@pytest.mark.parametrize("dtype, held", [("bfloat16", "bfloat16"), ("float16", "float32")])
@pytest.mark.parametrize("batch", ((), (2,)))
def test_rows_of_16_bits_that_start_anywhere_are_not_copied(dtype, held, batch):
    """Fewer than eight rows, parts of K, one odd operand, and nothing beside C is written."""
    tiles = [
        dict(BM=64, BN=64, cluster=1, split=2),
        dict(BM=128, BN=64, cluster=1),
        dict(BM=64, BN=128, cluster=1),
    ]
    shapes = [(3, 71, 9), (66, 5, 130), (130, 75, 72)]
    for (M, N, K), options, pitch in zip(shapes, tiles, (201, 204, 206), strict=True):
        A, B, C = whole(40, *batch, M, K), whole(41, *batch, K, N), whole(42, *batch, M, N)
        (left, _), (right, _) = (within(half.cast(x, dtype), 1, 3, pitch) for x in (A, B))
        out, around = within(half.cast(C, held), 2, 1, pitch)
        before = around.copy()
        operands = GemmProduct(left, right, out, Epilogue(None, "relu", 1.0, 2.0))
        rung = GENERAL["gemm_f16"]
        launch = rung.launcher(operands, rung.Options(**options))
        assert batch or not operands._copied
        operands.around(launch)()
        expected = half.cast(np.maximum(A @ B + 2 * C, 0), held)
        assert np.array_equal(half.floats(operands.result()), half.floats(expected)), (M, N, K)
        out[...] = before[..., 2 : 2 + M, 1 : 1 + N]
        assert np.array_equal(around, before)


@pytest.mark.parametrize("dtype", ("float32", "bfloat16"))
def test_an_epilogue_is_a_launch_of_its_own_behind_another_rung(dtype):
    A, B, C = whole(43, 9, 20), whole(44, 20, 35), whole(45, 9, 35)
    bias = whole(46, 35)
    given = [half.cast(x, dtype) for x in (A, B, C)]
    operands = GemmProduct(*given, Epilogue(half.cast(bias, dtype), "relu", 2.0, 3.0))
    apply(operands, (A @ B)[None])()
    expected = half.cast(np.maximum(2 * (A @ B) + 3 * C + bias, 0), dtype)
    assert np.array_equal(half.floats(operands.result()), half.floats(expected))


@pytest.mark.parametrize("dtype", ("float32", "float16", "bfloat16"))
@pytest.mark.parametrize("layout", ("NN", "NT", "TN", "TT"))
def test_a_thin_product_of_either_side(layout, dtype):
    """By 16 bytes and one by one, along k and along the long side, with parts of K and batches."""
    for M, N, K, options in (
        (3, 40, 72, dict(T=4, split=1)),
        (40, 2, 600, dict(T=8, split=2)),
        (5, 64, 300, dict(T=2, PER=2, split=3)),
        (33, 1, 17, dict(T=16, PER=8, split=2)),
    ):
        A, B, bias = whole(24, 2, M, K), whole(25, K, N), whole(26, N)
        epilogue = Epilogue(half.cast(bias, dtype), "relu", 2.0)
        found = product(A, B, dtype, None, epilogue, None, layout, "gemm_thin", **options)
        assert np.array_equal(found, np.maximum(2 * (A @ B) + bias, 0)), (M, N, K)


def test_the_last_block_of_a_tile_leaves_its_counter_at_zero():
    """So that a plan can be launched again."""
    A, B, out = map(cupy.asarray, (whole(27, 4, 900), whole(28, 900, 8), whole(29, 4, 8)))
    rung, operands = GENERAL["gemm_thin"], GemmProduct(A, B, out)
    launch = rung.launcher(operands, rung.Options(split=3))
    for _ in range(2):
        launch()
        assert np.array_equal(out, A @ B)
        A *= -2


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(
    "dtype, held", [("float32",) * 2, ("float16", "float32"), ("float16",) * 2, ("bfloat16",) * 2]
)
def test_an_epilogue_is_one_formula(dtype, held, activation):
    M, N, K = 10, 14, 20
    A, B = whole(8, M, K) / 4, whole(9, K, N) / 4
    C, bias = whole(10, M, N), whole(11, N) / 4
    before = 0.5 * (A.astype(float) @ B) + 0.25 * C + bias
    expected = APPLIED[activation](before)
    for split in (1, 2):
        out = half.cast(C, held)
        epilogue = Epilogue(half.cast(bias, dtype), activation, 0.5, 0.25)
        tiles = SMALL[dtype][1] | {"split": split}
        found = product(A, B, dtype, out, epilogue, **tiles)
        # A few roundings of float32 in the activation (1 + erf is near 0), and then that of C.
        inner = 0 if activation in ("", "relu") else 2**-21 * abs(before)
        outer = {"float32": 0, "float16": 2**-11, "bfloat16": 2**-8}[held] * abs(expected)
        assert np.all(abs(found - expected) <= inner + 1.01 * outer)


def test_c_is_not_read_without_beta_and_nan_stays_nan():
    A, B = whole(12, 6, 8), whole(13, 8, 4)
    out = np.full((6, 4), np.nan, np.float32)
    assert np.array_equal(product(A, B, out=out, epilogue=Epilogue(alpha=-1.0)), -(A @ B))
    A[1, 2], A[3, 0] = np.nan, np.inf
    for activation in ACTIVATIONS:
        found = product(A, B, epilogue=Epilogue(activation=activation))
        assert np.isnan(found[1]).all() and not np.isnan(np.delete(found, (1, 3), 0)).any()


def test_float32_of_any_strides():
    base = whole(14, 60, 60)
    for view in (base[::2, 1::2], base[::-1, ::3], base[5:, 7:], base.T[3:, ::2]):
        A, B = view[:17, :20], view[1:21, :9]
        assert np.array_equal(product(A, B), A @ B)


def test_what_is_transposed_is_not_copied():
    A, B = whole(15, 64, 72), whole(16, 72, 80)
    for layout in ("NN", "NT", "TN", "TT"):
        given = [laid(half.bfloat16(x), how) for x, how in zip((A, B), layout, strict=True)]
        operands = GemmProduct(*given)
        GENERAL["gemm_f16"].launcher(operands, GENERAL["gemm_f16"].Options())
        assert not operands._copied


def test_matmul_takes_an_epilogue_and_batches():
    A, B, bias = whole(17, 2, 9, 8), whole(18, 8, 6), whole(19, 6)
    found = kernels.matmul(A, B, bias=bias, activation="relu", alpha=2)
    assert np.array_equal(found, np.maximum(2 * (A @ B) + bias, 0))
    out = whole(20, 9, 6)
    expected = A[0] @ B + out
    assert kernels.matmul(A[0], B, out, beta=1) is out and np.array_equal(out, expected)
    rows = A.reshape(18, 8)
    assert np.array_equal(
        kernels.grouped_matmul(rows, np.stack([B, -B]), (4, 14)),
        np.concatenate([rows[:4] @ B, rows[4:] @ -B]),
    )


def test_a_plan_computes_an_epilogue_anew():
    A, B, out = map(cupy.asarray, (whole(21, 5, 8), whole(22, 8, 6), whole(23, 5, 6)))
    launch = kernels.plan(A, B, out, beta=1, alpha=0.5)
    for _ in range(2):
        expected = 0.5 * (A @ B) + out
        assert np.array_equal(launch(), expected) and launch.out is out
        A *= -2


ONES = np.ones((4, 4), np.float32)


@pytest.mark.parametrize(
    "call, error, told",
    [
        (lambda m: m(ONES, ONES, activation="tanh"), ValueError, "activation 'tanh': use one of"),
        (lambda m: m(ONES, ONES, alpha="2"), TypeError, "alpha is '2'; expected a number"),
        (lambda m: m(ONES, ONES, beta=1), ValueError, "beta is 1 and there is no C .* pass out"),
        (lambda m: m(ONES, ONES, bias=ONES), ValueError, "bias has shape .* expected 1 dimension"),
        (lambda m: m(ONES, ONES, bias=ONES[0, :3]), ValueError, "bias has shape .* has 4 columns"),
        (lambda m: m(ONES, ONES, bias=ONES[0].astype(int)), TypeError, "bias holds int64"),
        (lambda m: m(ONES, ONES, bias=[1.0]), TypeError, "bias must be an array, got list"),
        (lambda m: m(ONES[None], ONES[:3]), ValueError, "A is 1×4×4 and B is 3×4: B must have"),
        (lambda m: m(ONES[None, :0], ONES), ValueError, "every size must be at least 1"),
        (lambda m: m(np.stack([ONES] * 2), np.stack([ONES] * 3)), ValueError, "has 2 .* B 3"),
        (lambda m: m(ONES[None], ONES.astype("f2")), TypeError, "A holds float32 and B float16"),
        (lambda m: m(ONES[None], ONES, ONES), ValueError, "out has shape"),
        (lambda m: m(ONES, ONES, ONES.astype(float), beta=1), TypeError, "out holds float64"),
        (lambda m: m(ONES[None].astype(complex), ONES), TypeError, "A holds complex128; expected"),
    ],
)
def test_what_cannot_be_multiplied_is_one_line(call, error, told):
    with pytest.raises(error, match=told) as caught:
        call(kernels.matmul)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "A, B, sizes, told",
    [
        (ONES, ONES, [4], "a group has A of two dimensions, and B of three"),
        (ONES, ONES[None], [3], "1 sizes with the sum 3 for 4 rows of A and 1 matrices of B"),
        (ONES, ONES[None], [5, -1], "a size of the group must be at least 0, got -1"),
    ],
)
def test_a_group_that_cannot_be_is_one_line(A, B, sizes, told):
    with pytest.raises(ValueError, match=told) as caught:
        kernels.grouped_matmul(A, B, sizes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name, options, told",
    [
        ("gemm_f16", {"BM": 96}, "not written for BM=96: use 64 or 128"),
        ("gemm_f16", {"cluster": 4}, "not written for cluster=4: use 1 or 2"),
        ("gemm_f16", {"BN": 192}, "BN=192 is three panels, which two blocks can't share: use clus"),
        ("gemm_f32", {"WM": 32}, "32×64 has no 32 thread tiles of 8×16"),
        ("gemm_f32", {"BM": 96}, "a tile of 96×256 has no whole warp tiles of 64×64"),
        ("gemm_f32", {"stages": 1}, "stages=1 leaves nothing to copy ahead"),
        ("gemm_f32", {"stages": 5}, "bytes of shared memory per block; the limit is"),
    ],
)
def test_tiles_that_cannot_be_are_one_line(name, options, told):
    with pytest.raises(ValueError, match=told) as caught:
        GENERAL[name].launch(64, 64, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", GENERAL)
def test_every_measured_set_of_tiles_can_be(name):
    for options in GENERAL[name].chosen("numba"):
        grid, (threads,) = GENERAL[name].launch(1000, 1000, **options)
        assert min(grid) >= 1 and threads % 32 == 0

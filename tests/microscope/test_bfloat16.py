"""bfloat16: each rounding, against the float32 whose upper bits it has; and what other types do."""

import numpy as np
import pytest

from microscope import KernelError, bfloat16, trace
from microscope import api as cuda

EDGES = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 1.1754944e-38, 3.3895314e38, 3.4e38],
    np.float32,
)  # fmt: skip


def numbers() -> np.ndarray:
    """Floats of all sizes, halfway cases and edges."""
    bits = np.random.default_rng(5).integers(0, 2**32, 20_000, np.uint32)
    halves = (bits[:2000] & 0xFFFF0000) | 0x8000
    return np.concatenate([bits.view(np.float32), halves.view(np.float32), EDGES])


def neighbours(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest bfloat16 toward zero, and the next one away from it, as float32."""
    bits = v.view(np.uint32)
    cut = bits & np.uint32(0xFFFF0000)
    return cut.view(np.float32), np.where(bits == cut, cut, cut + 0x10000).astype(np.uint32).view(
        np.float32
    )


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
def test_rounding_takes_the_neighbour_that_its_mode_names(mode):
    v = numbers()
    v = v[~np.isnan(v)]
    inner, outer = neighbours(v)
    middle = (v.view(np.uint32) & 0xFFFF).astype(np.int64)
    odd = (inner.view(np.uint32) >> 16) & 1
    outward = {
        "rn": (middle > 0x8000) | (middle == 0x8000) & (odd == 1),
        "rz": np.zeros(v.size, bool),
        "rd": np.signbit(v),
        "ru": ~np.signbit(v),
    }[mode]
    want = np.where(outward, outer, inner)
    got = bfloat16.rounded(v, mode)
    np.testing.assert_array_equal(got.view(np.uint32), want.view(np.uint32))


def test_nan_stays():
    assert np.isnan(bfloat16.rounded(np.float32(np.nan)))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int16])
def test_an_integer_is_rounded_once(dtype):
    limits = np.iinfo(dtype)
    v = np.random.default_rng(2).integers(limits.min, limits.max, 3000, dtype, endpoint=True)
    v = np.concatenate([v, np.array([limits.min, limits.max, 0, 1, 257, 258, 259], dtype)])
    got = bfloat16.rounded(v)
    for number, one in zip(v.tolist(), got.tolist(), strict=True):
        shift = max(0, abs(number).bit_length() - 8)
        low, rest = divmod(abs(number), 1 << shift)
        half = (1 << shift) // 2
        up = shift and (rest > half or rest == half and low & 1)
        assert one == (-1 if number < 0 else 1) * ((low + bool(up)) << shift)


def test_a_value_halfway_by_more_bits_than_a_double_has_goes_up():
    assert bfloat16.rounded(np.int64((257 << 54) + 1)) == float(258 << 54)


@cuda.jit
def mixed(x, out):
    i = cuda.grid(1)
    a = cuda.bfloat16(x[i])
    b = a * a + a
    for _ in range(2):
        b = b / cuda.bfloat16(3)
    out[i, 0] = cuda.float32(b)
    out[i, 1] = a + 1.0
    c = a if x[i] > 0 else -a
    out[i, 2] = c


def test_each_operation_rounds_and_others_widen():
    x = np.linspace(-3, 3, 32, dtype=np.float32)
    out = np.zeros((32, 3))
    seen = trace(mixed, 1, 32, x, out)
    a = bfloat16.rounded(x)
    b = bfloat16.rounded(bfloat16.rounded(a * a) + a)
    for _ in range(2):
        b = bfloat16.rounded(b / np.float32(3))
    np.testing.assert_array_equal(seen.outputs["out"], np.stack([b, a + 1.0, np.abs(a)], 1))
    assert seen.problems == []
    assert seen.work.flops["bfloat16"] == 32 * 4


def refused(body) -> str:
    with pytest.raises(KernelError) as told:
        body[1, 1](np.zeros(3, np.float32))
    return str(told.value)


def test_what_numba_refuses_is_refused_with_a_way_out():
    @cuda.jit
    def small(x):
        x[0] = cuda.bfloat16(x[0]) * cuda.int8(1)

    @cuda.jit
    def whole(x):
        x[0] = cuda.float32(cuda.bf16.hadd(cuda.bfloat16(x[0]), 1))

    @cuda.jit
    def half(x):
        x[0] = np.float16(cuda.bfloat16(x[0]))

    @cuda.jit
    def tested(x):
        if cuda.bfloat16(x[0]):
            x[0] = 1

    assert "go by int16(...)" in refused(small)
    assert "write bfloat16(...) around it" in refused(whole)
    assert "go by float32(...)" in refused(half)
    assert "a condition is a number, not bfloat16" in refused(tested)

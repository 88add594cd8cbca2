"""Arithmetic of single instructions, beside NumPy's."""

import numpy as np

from kernels import cuda, ptx, uint32
from kernels.host.half import bfloat16
from microscope import trace


@cuda.jit
def worked_out(ints, floats, whole, real, packed):
    """Each lane stores what every instruction makes of its numbers."""
    lane = cuda.threadIdx.x
    a, b, c = ints[0, lane], ints[1, lane], ints[2, lane]
    x, y = floats[0, lane], floats[1, lane]
    whole[0, lane] = ptx.dp4a(a, b, c)
    whole[1, lane] = ptx.redux_sync_add(uint32(0xFFFFFFFF), c)
    whole[2, lane] = ptx.redux_sync_max(uint32(0xFFFFFFFF), c)
    whole[3, lane] = ptx.redux_sync_min(uint32(0xFFFFFFFF), c)
    packed[0, lane] = ptx.cvt_rn_bf16x2(x, y)
    packed[1, lane] = ptx.cvt_rn_f16x2(x, y)
    packed[2, lane] = ptx.float_as_uint(x)
    packed[3, lane] = ptx.prmt(uint32(a), uint32(b), uint32(0x7412))
    real[0, lane], real[1, lane] = ptx.cvt_f32_f16x2(packed[1, lane])
    real[2, lane] = ptx.uint_as_float(packed[2, lane])
    real[3, lane] = ptx.rcp_approx(x)
    real[4, lane] = ptx.ex2_approx(y)


def given():
    """What `worked_out` is called with."""
    rng = np.random.default_rng(26)
    ints = rng.integers(-(2**31), 2**31, (3, 32)).astype(np.int32)
    ints[2] //= 64  # whose sum is an int32
    floats = rng.uniform(-8, 8, (2, 32)).astype(np.float32)
    outs = np.zeros((4, 32), np.int32), np.zeros((5, 32), np.float32), np.zeros((4, 32), np.uint32)
    return ints, floats, *outs


def check(ints, floats, whole, real, packed):
    """Compare with NumPy: exactly, but for the two approximations."""
    c = ints[2].astype(np.int64)
    first, second = ints[:2].view(np.int8).reshape(2, 32, 4).astype(np.int64)
    dots = c + (first * second).sum(1)
    np.testing.assert_array_equal(whole, [dots, *(np.full(32, f(c)) for f in (np.sum, max, min))])
    x, y = floats
    half = [v.astype(np.float16) for v in (x, y)]
    pairs = ([bfloat16(v) for v in (x, y)], [v.view(np.uint16) for v in half])
    words = [first | second.astype(np.uint32) << 16 for first, second in pairs]
    eight = ints[:2].view(np.uint8).reshape(2, 32, 4).transpose(1, 0, 2).reshape(32, 8)
    bytes_ = np.ascontiguousarray(eight[:, [2, 1, 4, 7]]).view(np.uint32)[:, 0]
    np.testing.assert_array_equal(packed, [*words, x.view(np.uint32), bytes_])
    np.testing.assert_array_equal(real[:3], [*half, x])
    exact = 1 / x.astype(np.float64), np.exp2(y.astype(np.float64))
    np.testing.assert_allclose(real[3:], exact, rtol=2**-21)


def test_instructions_of_arithmetic_give_what_numpy_gives():
    seen = trace(worked_out, 1, 32, *given())
    assert not seen.problems
    check(*given()[:2], *(seen.outputs[name] for name in ("whole", "real", "packed")))

"""Kernels on which the interpreter and Numba once disagreed, against what a GPU gave."""

import warnings

import numpy as np
import pytest

from microscope import KernelError, trace, values
from tests.microscope import on_gpu
from tests.microscope.cases import from_source
from tests.microscope.numba_compiler import compiler, one_line, unmerged

THREADS, SLOTS = 16, 6  #: in one block, and values of each type that a thread may put out
INPUTS = 3  #: sets of arguments that a kernel runs with
SCHEDULES = ("lockstep", "warps", "warps-reversed")
ARGUMENTS = (
    "f4_16 f8_16 i1_16 i4_16 i8_16 u4_16 u8_16 scalar_pyi8 scalar_i4 "
    "out_f4 out_f8 out_i4 out_i8 out_u8"
).split()
HEADER = """\
import math

import numpy as np
from numpy import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
"""
#: What each puts into its slot of an output, after the statements in front.
VALUES = {
    "floats clamp to integers": """
        out_i8[i, 0] = int(f8_16[t])
        out_i8[i, 1] = int32(f4_16[t])
        out_i8[i, 2] = uint32(f8_16[t])
        out_i8[i, 3] = int16(f4_16[t])
        out_u8[i, 0] = uint64(f4_16[t])
        out_i4[i, 0] = f8_16[t]""",
    "min and max of NaN": """
        out_f4[i, 0] = min(f4_16[t], f4_16[-1 - t])
        out_f8[i, 1] = max(f8_16[t], f4_16[t])
        out_f8[i, 2] = min(f8_16[t], 0.0)
        out_f8[i, 3] = max(f8_16[t], 1.0, f8_16[-1 - t])
        out_f8[i, 4] = max(i4_16[t], f8_16[t])""",
    "powers": """
        n = i1_16[t] % 5 - 2
        out_f8[i, 0] = i8_16[t] ** n
        out_f8[i, 1] = i1_16[t] ** -1
        out_f8[i, 2] = (i1_16[t] % 3 - 1) ** n
        out_i8[i, 0] = u4_16[t] ** (t % 4)
        out_i8[i, 1] = i8_16[t] ** 2
        out_u8[i, 0] = u8_16[t] ** 2
        out_f8[i, 3] = f8_16[t] ** -1
        out_f4[i, 1] = f4_16[t] ** 3""",
    "round": """
        out_f4[i, 0] = round(float32(i1_16[t]) / float32(8.0), 2)
        out_f8[i, 1] = round(float64(i1_16[t]) / 1000.0, 1)
        out_f8[i, 2] = round(f8_16[t] * 0.001, -2)
        out_i8[i, 0] = round(float64(i1_16[t]) / 2.0)""",
    "stores wrap": """
        out_i4[i, 0] = i4_16[0] + 1
        out_i8[i, 0] = u4_16[1] - 1
        out_i4[0, 1] = i8_16[0] * 3
        out_u8[i, 0] = ~u8_16[t]
        out_u8[i, 1] = -i1_16[t]""",
    "quotients at the edges": """
        out_i8[i, 0] = i8_16[t] // (i1_16[t] % 3 - 1)
        out_i8[i, 1] = i8_16[t] % (i1_16[t] % 3 - 1)
        out_f8[i, 0] = f8_16[t] // 2.0
        out_f8[i, 1] = i8_16[t] / i4_16[t]""",
    "bits": """
        out_i8[i, 0] = cuda.clz(int32(i4_16[t]))
        out_i8[i, 1] = cuda.popc(i8_16[t])
        out_i8[i, 2] = cuda.brev(u4_16[t])
        out_i8[i, 3] = cuda.ffs(i4_16[t])
        out_i8[i, 4] = cuda.brev(u8_16[t])""",
    "a scalar brings its sign along": """
        out_i8[i, 0] = i8_16[t] % (scalar_i4 if t % 2 else 7)
        out_i8[i, 1] = scalar_i4""",
    "the lower half of a scalar": """
        out_i8[i, 0] = cuda.clz(int32(scalar_pyi8))
        out_i8[i, 1] = cuda.brev(uint32(scalar_pyi8 * 8589934593))""",
    "a first guess at a type leaves its mark": """
        v = uint8(i4_16[t] & 15)
        for k in range(5):
            v -= 0
        w = v
        w *= w
        out_f8[i, 0] = w / 3
        out_i8[i, 0] = w""",
    "a first guess that is no longer guessed leaves its mark all the same": """
        v = u4_16[t]
        for k in range(2):
            v ^= i1_16[t]
        out_f8[i, 0] = (v << 1) // 32
        out_f8[i, 1] = (v >> 1) / 3""",
    "powers of integers beyond 53 bits": """
        v = t ^ ~((t + 45) ** 3)
        out_i8[i, 0] = v**3
        out_i4[i, 0] = v ** (t % 4)
        out_u8[i, 0] = u4_16[t] ** 3""",
    "NaN is not even greater than or equal to nothing": """
        out_i8[i, 0] = math.fabs(f4_16[t]) >= -0.0
        out_i8[i, 1] = abs(f8_16[t]) < 0.0 or f8_16[t] != f8_16[t]""",
    "the index of a thread has 32 bits": """
        out_i8[i, 0] = cuda.clz(cuda.threadIdx.x) + 100 * cuda.ffs(cuda.blockDim.x)
        out_i8[i, 1] = cuda.brev(cuda.threadIdx.x) ^ cuda.popc(-cuda.laneid)
        out_i8[i, 2] = cuda.clz(cuda.threadIdx.x + 1) + 100 * cuda.clz(i)
        out_i8[i, 3] = min(cuda.threadIdx.x, cuda.warpsize) << 40
        out_f8[i, 0] = abs(cuda.blockIdx.x - cuda.threadIdx.x) / 3""",
    "a condition on a constant of a module is a condition": """
        if math.pi < 0.1:
            v = 2.5
        else:
            v = 1
        out_f8[i, 0] = v / 3""",
    "signed and unsigned meet": """
        v = u8_16[t]
        if t % 2:
            v = i8_16[t]
        out_f8[i, 0] = v
        out_f8[i, 1] = v * 2""",
    "a variable of the iteration before": """
        x = y = 0
        for k in range(5):
            if k > 0:
                y += x
            x = i4_16[k] + t
        out_i8[i, 0] = y""",
    "a branch that the compiler leaves out": """
        v = i4_16[t]
        flag = 3
        if flag == 4 or (t > 3 and 7 < 1.5):
            v = 2.5
        if t < 5 < 4:
            v = 0.5
        out_i8[i, 0] = v >> 1""",
    "a loop that surely runs once": """
        k = 0.5
        step = 16
        while step > 0:
            k = i4_16[step % 16]
            step //= 2
        out_i8[i, 0] = k << 1""",
    "a number that is known until it is assigned again": """
        n = 3
        if n > 2:
            n, k = t, 2
        else:
            k = 0.5
        out_i8[i, 0] = (k << 1) + n""",
    "numbers and results in one tuple": """
        total = 0
        for k in (0, abs(i1_16[t] + 4), t):
            total += k
        out_i8[i, 0] = total + (0, t)[t % 2]""",
    "a loop variable behind loops of different lengths": """
        for k in range(t % 3 + 1):
            if k == t // 4:
                break
        out_i8[i, 0] = k
        for x in i4_16[: t + 1]:
            out_i8[i, 1] = x
        else:
            out_i8[i, 2] = x""",
    "a number behind a loop that makes an integer of it": """
        k = u4_16[t]
        n = t % 5
        while n > 0:
            n -= 1
            k = int(k == 3)
        if t < 9:
            k //= k + 1
        out_i8[i, 0] = k >> 1""",
    "a loop that a constant keeps from running": """
        n = 14 % 7
        k = 2.5
        while n > 0:
            n -= 1
            k = u8_16[t] - n
        else:
            out_i8[i, 1] = n
        out_f8[i, 0] = k / 2""",
    "a variable of a loop that goes on to be another": """
        for j in range(2):
            for k in range(j):
                pass
        out_i8[i, 0] = k ^ 1
        k = f8_16[t]
        out_f8[i, 0] = k""",
    "a variable of a loop that becomes another in one branch": """
        for k in range(6, 1, -1):
            pass
        if t > 7:
            k = f4_16[t]
        elif k ^ 4:
            out_i8[i, 0] = k
        out_f8[i, 0] = k""",
    "a variable that is another before its loop ends": """
        for x in f4_16:
            k = 4.0
            k = t
        out_i8[i, 0] = k | 3""",
    "a variable whose only other assignment the compiler leaves out": """
        if t > 20:
            if 0.5 == 7:
                k = 0.5
            out_i8[i, 0] = k << 1
            k = i4_16[t]
            out_i8[i, 0] = k << 1""",
    "a variable that its own first value may be": """
        if 0.5 == 7:
            k = 0.5
        if t > 3:
            k = k if i < 0 else t
            out_i8[i, 0] = k << 1""",
    "a ternary of which the compiler knows the side": """
        k = 1
        if (4 if 1 < 20 else 31) > 5:
            k = 0.5
        n = 4 if 1 < 20 else 31
        if n > 5:
            k = 0.5
        out_i8[i, 0] = k << 1""",
    "a loop that a constant beside a known number keeps from running": """
        n = 14 % 7
        while n > 0 and 1 > 2:
            n -= 1
            k = 0.5
        if t > 3:
            k = t
            out_i8[i, 0] = k << 1
        if t > 20:
            out_i8[i, 1] = k << 1""",
    "a variable of a loop that the loop around it makes another": """
        y = 0.0
        for j in range(3):
            for k in range(t % 2 + 1):
                if k < 9:
                    x = f8_16[k]
            y += x
            x = i4_16[j]
        out_f8[i, 0] = y""",
    "a comparison of constants that is a condition later": """
        k, v = 1, 3
        v = 3 > 5
        if v or not t < 20 and v:
            k = 0.5
        n = 0.5 if v else k
        v = t > 3
        out_i8[i, 0] = (n << 1) + v""",
    "is, for numbers": """
        k = i4_16[t]
        out_i8[i, 0] = (k > 0) is True
        out_i8[i, 1] = k is i4_16[t]
        out_i8[i, 2] = k is i8_16[t]
        out_i8[i, 3] = (k, t) is not (k, i)
        out_i8[i, 4] = f8_16[t] is f8_16[t]""",
    "an array unpacked": """
        a, b, c = i4_16[t % 4 : t % 4 + 3]
        out_i8[i, 0] = a + 2 * b + 4 * c""",
    "parts of different lengths filled": """
        part = out_f8[i, : t % 4]
        part[:] = f8_16[t]
        out_i8[i, t % 3 : t % 3 + 2] = t""",
    "ternaries, and, or": """
        out_f8[i, 0] = i4_16[t] if t % 2 else 0.5
        out_f8[i, 1] = u8_16[t] if t % 3 else i1_16[t]
        out_i8[i, 0] = (t % 2 and 5) + (t % 3 or 7)""",
}


def kernel_of(body: str, cuda: str):
    """A kernel of 16 threads around some statements, by the `cuda` of a module."""
    head = f"def kernel({', '.join(ARGUMENTS)}):\n    t = i = cuda.grid(1)\n"
    lines = "\n".join(line[4:] for line in body.splitlines() if line)
    return from_source(f"{cuda}\n{HEADER}\n\n@cuda.jit\n{head}{lines}\n", "found").kernel


def here(body: str):
    return kernel_of(body, "from microscope import api as cuda")


def in_numba(body: str):
    return kernel_of(body, "from numba import cuda")


def arguments(inputs: int) -> list:
    """Fresh arguments, the same for the same `inputs`."""
    rng = np.random.default_rng([1, inputs])
    return [argument(name, rng) for name in ARGUMENTS]


def argument(name: str, rng: np.random.Generator):
    """What a name stands for: ``i4_16`` is an array of 16 int32."""
    kind, _, size = name.partition("_")
    if kind == "out":
        return np.full((THREADS, SLOTS), 77, size)
    if kind == "scalar":
        v = drawn(rng, size.removeprefix("py"), 8)[0]
        return v.item() if size.startswith("py") else v
    return drawn(rng, kind, int(size))


def drawn(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    """Small numbers, arbitrary ones, and the edges of a type."""
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        some = rng.integers(-64, 65, n) / 8
        full = rng.normal(size=n) * 10.0 ** rng.integers(-3, 12, n)
        edges = rng.choice([np.nan, np.inf, -np.inf, -0.0, 3e9, -3e9, 1e20, -1e20, 0.5, 2.5], n)
    else:
        limits = np.iinfo(dtype)
        some = rng.integers(max(limits.min, -9), 10, n)
        full = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
        edges = rng.choice(np.array([limits.min, limits.max, limits.max - 1, 0, 1], dtype), n)
    which = rng.choice(3, n, p=(0.6, 0.28, 0.12))
    with np.errstate(all="ignore"):
        return np.choose(which, [x.astype(dtype) for x in (some, full, edges)])


def compiled(body: str) -> str:
    """PTX by Numba's compiler."""
    from numba import typeof, types

    kinds = (
        types.Array(typeof(a).dtype, a.ndim, "C") if isinstance(a, np.ndarray) else typeof(a)
        for a in arguments(0)
    )
    with warnings.catch_warnings(), compiler() as ptx_of:
        warnings.simplefilter("ignore")
        return ptx_of(in_numba(body).py_func, types.void(*kinds))


def launched(name: str, inputs: int) -> list[np.ndarray]:
    """All arrays after a launch on this machine's GPU."""
    from numba import cuda

    given = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments(inputs)]
    with unmerged():
        in_numba(VALUES[name])[1, THREADS](*given)
        cuda.synchronize()
    return [a.copy_to_host() for a in given if hasattr(a, "copy_to_host")]


def bits(a: np.ndarray) -> bytes:
    """The bytes of an array in which all NaN are one."""
    return (
        np.where(np.isnan(a), np.nan, a).astype(a.dtype) if a.dtype.kind == "f" else a
    ).tobytes()


#: Where an H100 does otherwise than its PTX says: the assembler takes |NaN| for at least -0.0.
ASSEMBLER = {("NaN is not even greater than or equal to nothing", 1)}


@pytest.mark.parametrize("name", VALUES)
def test_values(name, monkeypatch):
    monkeypatch.setattr(values, "POWERS_ARE_FLOATS", False)  # the GPU's Python is new
    for inputs, schedule in enumerate(SCHEDULES):
        seen = trace(here(VALUES[name]), 1, THREADS, *arguments(inputs), schedule=schedule)
        theirs = on_gpu.outputs(f"{name}/{inputs}", on_gpu.arrays(arguments(inputs)))
        if (name, inputs) not in ASSEMBLER:
            assert [*map(bits, seen.outputs.values())] == [*map(bits, theirs)]


def test_numba_keeps_products_and_sums_apart_if_asked():
    pytest.importorskip("numba_cuda")
    text = compiled("\n        out_f8[i, 0] = f8_16[t] * f8_16[0] + f8_16[1]")
    assert "mul.rn.f64" in text and "add.rn.f64" in text and "fma" not in text


@pytest.mark.parametrize("floats, wanted", [(False, 313981979), (True, 313981980)])
def test_powers_of_integers_are_floats_under_an_old_python(monkeypatch, floats, wanted):
    monkeypatch.setattr(values, "POWERS_ARE_FLOATS", floats)
    with np.errstate(over="ignore"):
        found = values.power(np.int64(-216061), np.int64(3))
    assert found.astype(np.int32) == wanted


REFUSED = {
    "a variable whose first assignment comes later": """
        for k in range(5):
            if k > 0:
                out_i8[i, 0] = x
            x = k""",
    "a tuple of unlike numbers": """
        for k in (0, 0.5, i4_16[t]):
            out_f8[i, 0] = k""",
    "an index and other whole numbers in one tuple": """
        for k in (cuda.threadIdx.x, i, 3 - 8):
            out_i8[i, 0] = k""",
    "a variable of a loop that a constant keeps from running": """
        n = 14 % 7
        while n > 0:
            n -= 1
            k = n
        out_i8[i, 0] = k""",
    "a variable of a loop whose continue tests again": """
        n, k = 14 % 7, 1
        while n > 0:
            n -= 1
            k = 0.5
            continue
        out_i8[i, 0] = k << 1""",
    "a variable that only a loop assigns which a constant keeps from running": """
        for j in range(2):
            n = 2 ^ 2
            while n:
                n -= 1
                k = n
        if t > 3:
            k = t
        out_i8[i, 0] = k""",
    "a variable that only the side of a known ternary assigns": """
        if (4 if 1 < 20 else 31) > 5:
            k = 0.5
        if t > 20:
            k = 0.5
        out_f8[i, 0] = k""",
    "a comparison of constants that is compared itself": """
        k = 1
        v = 3 > 5
        if v == True:
            k = 0.5
        out_i8[i, 0] = k << 1""",
    "a variable whose first assignment reads it": """
        if 0.5 == 7:
            k = 0.5
        if t > 20:
            out_i8[i, 0] = k
            k += 1
            k = t""",
    "a variable that is assigned further down only": """
        if 0.5 == 7:
            k = 0.5
        out_f8[i, 0] = k
        k = 0.5
        out_f8[i, 1] = k""",
    "the least of a bool and numbers": """
        out_i8[i, 0] = min(t > 3, i4_16[t])""",
    "the least of a bool that the loop goes on to make a number": """
        k = t > 3
        for j in range(5):
            k = i4_16[j]
        out_i8[i, 0] = max(k, 3)""",
    "bits of a float that was an integer at first": """
        v = uint8(i4_16[t] & 15)
        for k in range(5):
            v -= 0
        v *= v
        out_i8[i, 0] = (v * v) >> 1""",
    "a function of NumPy that the CUDA target has not": """
        out_f8[i, 0] = np.sqrt(f8_16[t])""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    pytest.importorskip("numba_cuda")
    with pytest.raises(KernelError):
        trace(here(REFUSED[name]), 1, THREADS, *arguments(0))
    with pytest.raises(Exception) as refused:
        compiled(REFUSED[name])
    assert one_line(refused.value)

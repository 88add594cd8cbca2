"""The general product: C = act(alpha·A·B + beta·C + bias), in any layout, one or many at once.

What the kernels of both number formats share: their operands, what follows the sums before they are
stored (the *epilogue*), and the launch of its own that this takes behind another rung.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, uint32
from kernels.backend.vector import unrolled
from kernels.host import cdiv, half
from kernels.host.follow import prepared
from kernels.host.options import either

__all__ = ["ACTIVATIONS", "Epilogue", "GemmProduct", "apply", "epilogue_of", "put_of"]

#: What may be applied to every element of C, by name.
ACTIVATIONS = ("", "relu", "gelu", "silu")
FORMATS = ("float32", "float16", "bfloat16")
LOG2_E = float32(math.log2(math.e))
#: log2 Φ(-x) for x from 0 to 6 is about this polynomial: fitted so that the largest error of Φ
#: is least. From the constant up.
FAR = tuple(map(float32, (
    -0.9999997, -1.1511221, -0.45906025, -0.05296541, 0.00775441993, -0.000658608449, 1.91751757e-05
)))  # fmt: skip


@dataclass(frozen=True, eq=False)
class Epilogue:
    """What follows the sums: alpha times them, a bias per column, beta times C, an activation.

    Attributes
    ----------
    bias : array, shape (N,), optional
        One number for each column of C: float32, or the format of A and B.
    activation : {"", "relu", "gelu", "silu"}
        GELU is the exact one, with the error function.
    alpha, beta : float
        With beta = 0, C is not read: it may hold anything, NaN too.

    Raises
    ------
    TypeError, ValueError
        One line that names the value and the way out.
    """

    bias: Any = None
    activation: str = ""
    alpha: float = 1.0
    beta: float = 0.0

    def __post_init__(self):
        if self.activation not in ACTIVATIONS:
            names = ", ".join(map(repr, ACTIVATIONS[1:]))
            raise ValueError(f"activation {self.activation!r}: use one of {names}, or '' for none")
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
                raise TypeError(f"{name} is {value!r}; expected a number, such as 0.5")

    @property
    def plain(self) -> bool:
        """Whether C = A·B is all."""
        return self.bias is None and (self.activation, self.alpha, self.beta) == ("", 1, 0)


# ------------------------------------------------------------------------------------ operands


class GemmProduct(host.Operands):
    """The operands of a general product: one, a batch of equal ones, or a group of unequal ones.

    Parameters
    ----------
    A, B : array of float32, float16 or bfloat16, shapes (M, K) and (K, N)
        Any strides. With a third dimension in front they are batches; either may lack it, and is
        then multiplied with each matrix of the other.
    out : array, shape (M, N), or (batch, M, N), optional
        float32, or the format of A and B; a new array holds float32.
    epilogue : Epilogue
    sizes : sequence of int, optional
        Rows of A that belong to each matrix of B, in order: then A has two dimensions and B three.

    Raises
    ------
    TypeError, ValueError
        One line that names the value, the limit and the way out.
    """

    takes = (*FORMATS, "uint16")

    def __init__(
        self, A, B, out=None, epilogue: Epilogue | None = None, sizes: Sequence[int] | None = None
    ):
        for name, array in (("A", A), ("B", B)):
            three = len(getattr(array, "shape", ())) == 3
            host.check_array(array, name, 3 if three else 2, self.takes)
        self.epilogue = epilogue = epilogue or Epilogue()
        self.format = half.dtype_of(A)
        if half.dtype_of(B) != self.format:
            raise TypeError(f"A holds {self.format} and B {half.dtype_of(B)}: make them the same")
        *batch_A, self.M, self.K = A.shape
        *batch_B, rows, self.N = B.shape
        if rows != self.K:
            raise ValueError(
                f"A is {'×'.join(map(str, A.shape))} and B is {'×'.join(map(str, B.shape))}: "
                "B must have as many rows as A has columns"
            )
        self.sizes = None if sizes is None else self._checked(sizes, batch_A, batch_B)
        batch = [] if sizes is not None else batch_A or batch_B
        if sizes is None and batch_A and batch_B and batch_A != batch_B:
            raise ValueError(
                f"A has {batch_A[0]} matrices and B {batch_B[0]}: give as many, or one of them"
            )
        self.batch = batch[0] if batch else 1
        self._sizes = (self.M, self.N, self.K)
        inputs = {"A": half.bits(A), "B": half.bits(B)}
        if epilogue.bias is not None:
            inputs["bias"] = self._bias(epilogue.bias)
        if epilogue.beta and out is None:
            raise ValueError(f"beta is {epilogue.beta} and there is no C to multiply: pass out")
        self._given = out
        if out is not None:
            gives = tuple(dict.fromkeys(("float32", self.format)))
            if not hasattr(out, "dtype") or half.dtype_of(out) not in gives:
                holds = half.dtype_of(out) if hasattr(out, "dtype") else type(out).__name__
                raise TypeError(f"out holds {holds}; expected {either(gives)}")
            out = half.bits(out)
            self.dtype = np.dtype(out.dtype)
        super().__init__(inputs, out, (*batch, self.M, self.N), "numba")

    def _checked(self, sizes, batch_A, batch_B) -> tuple[int, ...]:
        """The sizes of a group, checked."""
        if batch_A or not batch_B:
            raise ValueError("a group has A of two dimensions, and B of three: one matrix per size")
        way_out = f"give {batch_B[0]} sizes with the sum {self.M}"
        sizes = tuple(host.check_whole(size, "a size of the group", way_out, 0) for size in sizes)
        if len(sizes) != batch_B[0] or sum(sizes) != self.M:
            raise ValueError(
                f"{len(sizes)} sizes with the sum {sum(sizes)} for {self.M} rows of A and "
                f"{batch_B[0]} matrices of B: {way_out}"
            )
        return sizes

    def _bias(self, bias):
        """The bias, checked."""
        formats = "float32", *(name for name, of in half.DTYPES.items() if of == self.format)
        host.check_array(bias, "bias", 1, formats)
        if bias.shape != (self.N,):
            raise ValueError(f"bias has shape {bias.shape}; C has {self.N} columns")
        return half.bits(bias)

    # What the kernels take.

    @cached_property
    def arrays(self) -> tuple:
        """A, B, bias and C on the device; matrices with a first axis that counts them."""
        *inputs, C = (cupy.asarray(array) for array in super().arguments())
        if self.epilogue.beta:
            if self._kind == "numpy":
                self._result[...] = cupy.asarray(self._out)
            if self._packed is not None:
                self._copied.append((self._packed, cupy.asarray(self._result)))
                self._packed[...] = cupy.asarray(self._result)
        A, B, *bias = inputs
        bias = bias[0] if bias else cupy.zeros(1, np.float32)
        return (
            *(x if x.ndim == 3 else x[None] for x in (A, B)),
            bias,
            (C if C.ndim == 3 else C[None]),
        )

    @property
    def formats(self) -> dict[str, Any]:
        """What the epilogue is compiled for."""
        bias = self.epilogue.bias
        return {
            "out_dtype": half.dtype_of(self),
            "activation": self.epilogue.activation,
            "bias": "" if bias is None else half.dtype_of(bias),
            "adds": bool(self.epilogue.beta),
        }

    @property
    def scales(self) -> tuple:
        """alpha and beta as the kernels take them."""
        return np.float32(self.epilogue.alpha), np.float32(self.epilogue.beta)

    def strips(self, height: int) -> tuple[Any, int]:
        """Strips of C so many rows high: a table on the device, and how many they are.

        Of a group, a row of the table is the first row of a strip, the row behind the last of its
        matrix, and the number of its B. Otherwise all follows from the number of the strip.
        """
        if self.sizes is None:
            return cupy.zeros((1, 3), np.int32), self.batch * cdiv(self.M, height)
        table, first = [], 0
        for number, size in enumerate(self.sizes):
            table += [(row, first + size, number) for row in range(first, first + size, height)]
            first += size
        return cupy.asarray(np.array(table, np.int32)), len(table)

    def step(self, which: int) -> int:
        """Whether the matrices of A (0) or B (1) change with those of C."""
        return int(self.arrays[which].shape[0] > 1)

    def result(self):
        """Return the output: `out` if there is one, else an array of the kind of the inputs."""
        result = super().result()
        return result if self._given is None else self._given


# ------------------------------------------------------------------------------------ epilogue


@cache
def reader(dtype: str):
    """The function of kernels that makes a float32 of a number as it lies in memory."""
    if dtype == "bfloat16":

        @cuda.jit(device=True)
        def number(bits):
            return ptx.uint_as_float(uint32(uint32(bits) << uint32(16)))

    else:

        @cuda.jit(device=True)
        def number(value):
            return float32(value)

    return number


@cache
def pair_of(dtype: str):
    """The function of kernels that makes two float32 of a word of 16-bit numbers."""
    if dtype == "float16":

        @cuda.jit(device=True)
        def pair(word):
            return ptx.cvt_f32_f16x2(word)

    else:

        @cuda.jit(device=True)
        def pair(word):
            low = ptx.uint_as_float(uint32(word << uint32(16)))
            return low, ptx.uint_as_float(uint32(word & uint32(0xFFFF0000)))

    return pair


@cache
def put_of(dtype: str):
    """The function of kernels that stores a float32 in a format: ``put(C, z, row, col, x)``."""
    if dtype == "bfloat16":

        @cuda.jit(device=True)
        def put(C, z, row, col, x):
            C[z, row, col] = ptx.cvt_rn_bf16x2(x, float32(0)) & uint32(0xFFFF)

    else:

        @cuda.jit(device=True)
        def put(C, z, row, col, x):
            C[z, row, col] = x

    return put


@cache
def activation_of(name: str):
    """The function of kernels for an activation; NaN stays NaN."""
    if name == "relu":

        @cuda.jit(device=True)
        def activation(x):
            return float32(0) if x < float32(0) else x

    elif name == "gelu":

        @cuda.jit(device=True)
        def activation(x):
            # x·Φ(x) is max(x, 0) - |x|·Φ(-|x|), and the logarithm of Φ(-|x|) is smooth: a
            # polynomial and one power of 2 are right to 1.4e-7, in half the instructions of erf.
            m = min(abs(x), float32(6))
            log = FAR[6]
            for i in range(5, -1, -1):
                log = log * m + FAR[i]
            unrolled()
            return (float32(0) if x < float32(0) else x) - m * ptx.ex2_approx(log)

    elif name == "silu":

        @cuda.jit(device=True)
        def activation(x):
            return x * ptx.rcp_approx(float32(1) + ptx.ex2_approx(-LOG2_E * x))

    else:

        @cuda.jit(device=True)
        def activation(x):
            return x

    return activation


@cache
def epilogue_of(activation: str, bias: str, adds: bool, out_dtype: str):
    """The functions of kernels between a sum and its store: ``(biased, before, finish)``.

    ``b = biased(biases, col, N)`` and ``c = before(C, z, row, col, end, N)`` read what a sum is
    added to, with the last column or row in place of those beyond it: so no read waits for a
    comparison, and many are on their way together. ``x = finish(x, alpha, beta, b, c)`` follows.

    Parameters
    ----------
    activation : str
    bias : str
        Number format of the bias; empty without one.
    adds : bool
        Whether beta is not 0.
    out_dtype : str
        Number format of C.
    """
    act, number, own, has_bias = (
        activation_of(activation),
        reader(bias),
        reader(out_dtype),
        bool(bias),
    )

    @cuda.jit(device=True)
    def biased(biases, col, N):
        return number(biases[min(col, N - 1)]) if has_bias else float32(0)

    @cuda.jit(device=True)
    def before(C, z, row, col, end, N):
        return own(C[z, min(row, end - 1), min(col, N - 1)]) if adds else float32(0)

    @cuda.jit(device=True)
    def finish(x, alpha, beta, b, c):
        x = alpha * x
        if has_bias:
            x += b
        if adds:
            x += beta * c
        return act(x)

    return biased, before, finish


ROWS, COLS = 8, 32


@cache
def make_apply(**formats):
    """The epilogue as a kernel: it takes finished sums, and stores C."""
    biased, before, finish = epilogue_of(**formats)
    put = put_of(formats["out_dtype"])

    @cuda.jit
    def apply(sums, C, bias, alpha, beta):
        col = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        M, N, batch = uint32(C.shape[1]), uint32(C.shape[2]), uint32(C.shape[0])
        first = uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
        if col < N:
            b = biased(bias, col, N)
            for place in range(first, uint32(batch * M), uint32(cuda.gridDim.y * cuda.blockDim.y)):
                z, row = uint32(place // M), uint32(place % M)
                c = before(C, z, row, col, M, N)
                put(C, z, row, col, finish(sums[z, row, col], alpha, beta, b, c))

    return apply


def apply(product: GemmProduct, sums):
    """Return the launch that makes C of its sums, (batch, M, N) in float32."""
    _, _, bias, C = product.arrays
    grid = cdiv(product.N, COLS), min(65535, cdiv(product.batch * product.M, ROWS))
    arguments = sums, C, bias, *product.scales
    return prepared(make_apply(**product.formats), grid, (COLS, ROWS), arguments)

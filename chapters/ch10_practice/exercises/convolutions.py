"""Convolutions as tiled products: the matrix of the windows is read, never built."""

import numpy as np

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned, wide
from kernels.lab.exercises.counts import barriers, global_count
from kernels.lab.exercises.exercise import (
    FINE,
    MULTIPLE,
    ODD,
    KernelExercise,
    Quota,
    Suspect,
    Trial,
)
from kernels.lab.exercises.flaws import Flaw
from kernels.lab.exercises.products import wrong_products

T = 16
S = 8


def signals(seed=0):
    sizes = ((75, 23, 5, ODD), (50, 17, 18, FINE), (63, 32, 16, MULTIPLE))
    return [_signal(*s, seed) for s in sizes]


def _signal(n, taps, filters, role, seed):
    numbers = Numbers(role, seed, n, taps, filters)
    x, F = numbers(n), numbers(taps, filters)
    windows = np.lib.stride_tricks.sliding_window_view(x, taps).copy()
    places = n - taps + 1

    def suspects():
        yield Suspect(Flaw.SWAPPED, "the filters run backward: out[i] takes x[i + k] times tap k",
                      windows @ F[::-1])  # fmt: skip
        yield from _wrong(windows, F, T)

    return Trial(
        f"{n} samples, {taps} taps, {filters} filters",
        (cdiv(filters, T), cdiv(places, T)),
        (T, T),
        {"x": x, "F": F, "out": poisoned(places, filters)},
        {"out": wide(windows) @ F},
        numbers.bounds("out", taps, abs(windows) @ abs(F)),
        suspects,
        role,
    )


def images(seed=0):
    sizes = ((11, 9, 5, ODD), (7, 12, 9, FINE), (10, 10, 8, MULTIPLE))
    return [_image(*s, seed) for s in sizes]


def _image(height, width, filters, role, seed):
    numbers = Numbers(role, seed, height, width, filters)
    image, F = numbers(height, width), numbers(9, filters)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    windows = windows.reshape(-1, 9).copy()

    def suspects():
        turned = F.reshape(3, 3, filters)
        yield Suspect(
            Flaw.SWAPPED,
            "the taps are read column by column: tap k is row k // 3, column k % 3",
            windows @ turned.transpose(1, 0, 2).reshape(9, filters),
        )
        yield Suspect(Flaw.SWAPPED, "the filters are turned round", windows @ F[::-1])
        yield from _wrong(windows, F, S)  # fmt: skip

    return Trial(
        f"{height} × {width} pixels, {filters} filters",
        (cdiv(filters, S), cdiv(len(windows), S)),
        (S, S),
        {"image": image, "F": F, "out": poisoned(len(windows), filters)},
        {"out": wide(windows) @ F},
        numbers.bounds("out", 9, abs(windows) @ abs(F)),
        suspects,
        role,
    )


def _wrong(windows, F, depth):
    for kind, sentence, product in wrong_products(windows, F, depth):
        if product.shape == (windows.shape[0], F.shape[1]):
            yield Suspect(kind, sentence, product)


CONV1D = KernelExercise(
    name="conv1d",
    title="a convolution of a signal as a tiled product",
    text="""
    @cuda.jit
    def conv1d(x, F, out):
        sA = cuda.shared.array((T, T), float32)
        sB = cuda.shared.array((T, T), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        M, N, K = out.shape[0], out.shape[1], F.shape[0]
        acc = float32(0)
        for t in range((K + T - 1) // T):
            ka, kb = t * T + tx, t * T + ty
            # --- yours, from here
            sA[ty, tx] = x[row + ka] if row < M and ka < K else float32(0)
            sB[ty, tx] = F[kb, col] if kb < K and col < N else float32(0)
            # --- to here
            cuda.syncthreads()
            for k in range(T):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        if row < M and col < N:
            out[row, col] = acc
    """,
    trials=signals,
    names={"T": T},
    hints=(
"The product has one row per position of the filter and one column per filter, "
"and K is the length of a filter. Which element of x is `A[row, k]`?",
"The window at position `row` begins at `x[row]`, so `A[row, k]` is `x[row + k]`."
" The matrix of windows needn't exist.",
"`sA[ty, tx] = x[row + ka] if row < M and ka < K else float32(0)`, and B is F.",
),
    after="The matrix would hold every sample up to K times. The loads compute its "
"addresses instead: a product whose A is never stored.",
    budgets=(
        Quota(
            "loads", 53 * 23 + 23 * 5 * 4, global_count("lanes", "load"),
            "each thread loads one element of each tile, where there is one",
        ),
        Quota("barriers", 2 * 2 * 4, barriers, "two per step are enough"),
    ),
)  # fmt: skip

CONV2D = KernelExercise(
    name="conv2d",
    title="a 3 × 3 convolution of an image as a tiled product",
    text="""
    @cuda.jit
    def conv2d(image, F, out):
        sA = cuda.shared.array((S, S), float32)
        sB = cuda.shared.array((S, S), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        M, N, K = out.shape[0], out.shape[1], F.shape[0]
        across = image.shape[1] - 2
        acc = float32(0)
        for t in range((K + S - 1) // S):
            ka, kb = t * S + tx, t * S + ty
            # --- yours, from here
            i, j = row // across + ka // 3, row % across + ka % 3
            sA[ty, tx] = image[i, j] if row < M and ka < K else float32(0)
            sB[ty, tx] = F[kb, col] if kb < K and col < N else float32(0)
            # --- to here
            cuda.syncthreads()
            for k in range(S):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        if row < M and col < N:
            out[row, col] = acc
    """,
    trials=images,
    names={"S": S},
    hints=(
"Row `row` of the product is one position of the filter. A line of the image has "
"`across` positions. In which line and column of the image does the window begin?",
"The window begins at (row // across, row % across). Element k of the filter is k"
" // 3 lines below and k % 3 columns to the right.",
"`i, j = row // across + ka // 3, row % across + ka % 3`, and then `image[i, j]` "
"with the guard of A; B is F.",
),
    after="Nine products per element, K = 9, and no size that a tile divides. The addresses"
" of its loads alone turn a product kernel into a convolution.",
    budgets=(
        Quota(
            "loads", 63 * 9 + 9 * 5 * 8, global_count("lanes", "load"),
            "each thread loads one element of each tile, where there is one",
        ),
        Quota("barriers", 2 * 2 * 8, barriers, "two per step are enough"),
    ),
)  # fmt: skip

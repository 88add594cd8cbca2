"""Loads and stores of 16 bytes profiled on real hardware: each pattern of addresses a rung uses."""

import numpy as np

from kernels.backend import cuda, float32
from kernels.backend.vector import aligned16, load4, load4_guarded, store4, store4_guarded
from tests.microscope.cases import Case, whole

LANES = np.arange(32)

#: Where each lane of a warp starts to read in shared memory: (row, col) of an 8 × 128 array.
PLACES = {
    "neighbours": (0 * LANES, 4 * LANES),
    "one_for_all": (0 * LANES, 0 * LANES),
    "two_halves": (0 * LANES, LANES // 16 * 4),
    "rows_of_a_warp_tile": (0 * LANES, LANES // 4 * 4),
    "columns_of_a_warp_tile": (0 * LANES, LANES % 4 * 4),
    "four_rows_of_eight": (0 * LANES, LANES // 8 * 4),
    "eight_columns": (0 * LANES, LANES % 8 * 4),
    "sixteen_columns": (0 * LANES, LANES % 16 * 4),
    "every_second": (LANES // 16, LANES % 16 * 8),
    "one_column": (LANES % 8, 0 * LANES),
    "a_column_of_four": (LANES % 4, LANES // 4 * 4),
}


@cuda.jit
def shared_load4(A, place, out):
    s = cuda.shared.array((8, 128), float32, alignment=16)
    t = cuda.threadIdx.x
    for row in range(8):
        for col in range(t, 128, 32):
            s[row, col] = A[row, col]
    cuda.syncthreads()
    a, b, c, d = load4(s, place[t, 0], place[t, 1])
    out[0, t] = a
    out[1, t] = b
    out[2, t] = c
    out[3, t] = d


@cuda.jit
def shared_store4(A, out):
    s = cuda.shared.array((8, 128), float32, alignment=16)
    t = cuda.threadIdx.x
    a, b, c, d = load4(A, t // 8, t % 8 * 4)
    store4(s, t // 8, t % 8 * 4, a, b, c, d)
    cuda.syncthreads()
    a, b, c, d = load4(s, t % 4, t // 4 * 4)
    store4(out, t, 0, a, b, c, d)


@cuda.jit
def copy4(A, C):
    row = cuda.blockIdx.x * 8 + cuda.threadIdx.x // 16
    col = cuda.blockIdx.y * 64 + cuda.threadIdx.x % 16 * 4
    a, b, c, d = load4_guarded(A, row, col, aligned16(A))
    store4_guarded(C, row, col, a, b, c, d, aligned16(C))


def _loaded(place):
    rows, cols = place

    def expect(A, place, out):
        return {2: np.stack([A[rows, cols + k] for k in range(4)])}

    return expect


def _stored(A, out):
    lanes = np.arange(32)
    first = np.stack([A[lanes % 4, lanes // 4 * 4 + k] for k in range(4)], axis=1)
    return {1: np.ascontiguousarray(first)}


def cases() -> list[Case]:
    """Every launch."""
    found = [
        Case(
            f"shared_load4_{name}",
            shared_load4,
            1,
            32,
            lambda place=place: (
                whole(8, 128),
                np.stack(place, 1).astype(np.int32),
                np.zeros((4, 32), np.float32),
            ),
            _loaded(place),
        )
        for name, place in PLACES.items()
    ]
    found.append(
        Case(
            "shared_store4",
            shared_store4,
            1,
            32,
            lambda: (whole(4, 32), np.zeros((32, 4), np.float32)),
            _stored,
        )
    )
    for M, N in ((20, 100), (20, 101), (9, 6)):
        found.append(
            Case(
                f"copy4_{M}x{N}",
                copy4,
                (3, 2),
                128,
                lambda M=M, N=N: (whole(M, N), np.zeros((M, N), np.float32)),
                lambda A, C: {1: A},
            )
        )
    return found

"""What a warp's request costs, against counting by hand: thousands of random warps."""

from collections import Counter

import numpy as np
import pytest

from kernels.lab import trace
from microscope.request_costs import global_cost, shared_cost
from tests.microscope.cases import from_source

WARPS = 200  # a batch; 4 sizes × 2 spaces × 10 batches make 16 000 requests


def random_warps(rng, itemsize, aligned=True):
    """Byte addresses and masks of warps that do what kernels do, and what they should not do."""
    lane = np.arange(32)
    rows, masks = [], []
    for _ in range(WARPS):
        stride = int(rng.integers(0, 40))
        pattern = [
            lane * stride,
            (31 - lane) * stride,
            np.full(32, rng.integers(1000)),
            rng.permutation(32),
            rng.integers(0, 40, 32),
            rng.integers(0, 5000, 32),
            lane // 16 * 50 + lane % 16,
            lane // 8 * stride + lane % 8 * 4,
            lane ^ stride,
            lane * 32 + lane // 2,
            (lane * stride) % 64,
        ][rng.integers(11)]
        start = int(rng.integers(0, 300)) * itemsize
        rows.append(pattern * itemsize + start + (0 if aligned else int(rng.integers(0, 8))))
        masks.append(
            [
                np.ones(32, bool),
                lane < rng.integers(1, 33),
                lane % 2 == 0,
                lane == rng.integers(32),
                rng.random(32) < rng.random(),
                np.zeros(32, bool),
            ][rng.integers(6)]
        )
    return np.array(rows, np.int64), np.array(masks)


def wavefronts(lanes: list[tuple[int, int]], size: int) -> int:
    """Passes over the banks that one request needs.

    Up to four bytes a lane, all lanes go together; eight bytes go as two half warps, sixteen as
    four quarters. Within a pass a bank delivers one word, to as many lanes as want it.
    """
    together = 32 // max(1, size // 4)
    passes = 0
    for part in {lane // together for lane, _ in lanes}:
        words = {
            (address + i) // 4
            for lane, address in lanes
            if lane // together == part
            for i in range(size)
        }
        passes += max(Counter(word % 32 for word in words).values())
    return passes


def by_hand(addresses, masks, itemsize, shared):
    """Requests, sectors, lines, wavefronts, conflicts, bytes, histogram: from the definitions."""
    total = np.zeros(6, int)
    histogram = {}
    parts = max(1, itemsize // 4)
    for row, mask in zip(addresses, masks, strict=True):
        if not mask.any():
            continue
        asked = [(lane, int(a)) for lane, a in enumerate(row) if mask[lane]]
        touched = {a + i for _, a in asked for i in range(itemsize)}
        passes = wavefronts(asked, itemsize)
        least = len({lane // (32 // parts) for lane, _ in asked})
        sectors, lines = len({b // 32 for b in touched}), len({b // 128 for b in touched})
        used = len({a for _, a in asked}) * itemsize
        total += (
            (1, 0, 0, passes, passes - least, used) if shared else (1, sectors, lines, 0, 0, used)
        )
        key = passes if shared else sectors
        histogram[key] = histogram.get(key, 0) + 1
    return (*total, tuple(sorted(histogram.items())))


@pytest.mark.parametrize("itemsize", (1, 2, 4, 8))
@pytest.mark.parametrize("shared", (False, True), ids=("global", "shared"))
def test_random_warps(itemsize, shared):
    rng = np.random.default_rng(itemsize)
    cost = shared_cost if shared else global_cost
    for _ in range(10):
        addresses, masks = random_warps(rng, itemsize)
        for mask in (masks, None):
            expected = by_hand(
                addresses, np.ones_like(masks) if mask is None else mask, itemsize, shared
            )
            assert tuple(cost(addresses, mask, itemsize)) == expected


@pytest.mark.parametrize("itemsize", (2, 4, 8))
def test_elements_that_straddle_sectors(itemsize):
    rng = np.random.default_rng(7)
    for _ in range(5):
        addresses, masks = random_warps(rng, itemsize, aligned=False)
        counted = global_cost(addresses, masks, itemsize)
        expected = by_hand(addresses, masks, itemsize, shared=False)
        assert tuple(counted) == expected


# ------------------------------------------------------------------------------- through a kernel
GATHER = """
from kernels.backend import cuda

@cuda.jit
def gather(a, rows, cols, on, out):
    i = cuda.grid(1)
    if on[i]:
        out[i] = a[rows[i], cols[i]]

@cuda.jit
def scatter(a, rows, cols, on, out):
    i = cuda.grid(1)
    if on[i]:
        a[rows[i], cols[i]] = out[i]
"""


def layouts(shape, dtype):
    """Arrays of one shape that lie in memory in different ways."""
    R, C = shape
    return {
        "row-major": np.zeros((R, C), dtype),
        "column-major": np.zeros((R, C), dtype, order="F"),
        "transposed": np.zeros((C, R), dtype).T,
        "every second column": np.zeros((R, 2 * C), dtype)[:, ::2],
        "inner part": np.zeros((R + 2, C + 3), dtype)[1:-1, 2:-1],
        "upside down": np.zeros((R, C), dtype)[::-1],
    }


def addresses_of(a, rows, cols):
    """Byte addresses of elements, from the first byte of the allocation."""
    root = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    start = a.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return start + rows * a.strides[0] + cols * a.strides[1]


@pytest.mark.parametrize("dtype", (np.int8, np.float16, np.float32, np.float64))
@pytest.mark.parametrize("name", ("gather", "scatter"))
def test_layouts(name, dtype):
    kernel = getattr(from_source(GATHER, "gather"), name)
    rng = np.random.default_rng(3)
    threads, blocks = 72, 4  # three warps, the last of them a quarter full
    n = threads * blocks
    for layout, a in layouts((13, 37), dtype).items():
        for _ in range(4):
            width = int(rng.integers(1, 37))
            cells = (
                np.arange(n) % (13 * width) if rng.random() < 0.5 else rng.integers(0, 13 * 37, n)
            )
            rows, cols = np.unravel_index(cells, (13, 37))
            on = rng.random(n) < rng.choice([0.2, 0.9, 1.0])
            seen = trace(kernel, blocks, threads, a, rows, cols, on, np.zeros(n, dtype))
            op = "load" if name == "gather" else "store"
            (site,) = (s for s in seen.sites if s.array == "a" and s.op == op)
            lanes = np.zeros((blocks, 96), np.int64)
            mask = np.zeros((blocks, 96), bool)
            lanes[:, :threads] = addresses_of(a, rows, cols).reshape(blocks, threads)
            mask[:, :threads] = on.reshape(blocks, threads)
            expected = by_hand(lanes.reshape(-1, 32), mask.reshape(-1, 32), a.itemsize, False)
            got = (
                site.requests,
                site.sectors,
                site.lines,
                site.wavefronts,
                site.conflicts,
                site.bytes_used,
                tuple(sorted(site.histogram.items())),
            )
            assert got == expected, layout
            assert site.lanes == on.sum()
            loads, stores = seen.heat("a")
            heat = np.zeros((13, 37), int)
            np.add.at(heat, (rows[on], cols[on]), 1)
            assert np.array_equal(loads if op == "load" else stores, heat), layout

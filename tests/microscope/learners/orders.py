"""Sorting, searching, neighbours."""

import numpy as np

from kernels import cuda, float32, int32
from tests.microscope.learners.cases import learner

N = 32


def shuffled(n: int = N) -> np.ndarray:
    return np.random.default_rng(n).permutation(n).astype(np.float32)


@learner(1, N)
def bitonic_sort():
    @cuda.jit
    def kernel(a):
        s = cuda.shared.array(N, float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncthreads()
        k = 2
        while k <= N:
            j = k // 2
            while j > 0:
                other = t ^ j
                if other > t:
                    up = (t & k) == 0
                    if (s[t] > s[other]) == up:
                        tmp = s[t]
                        s[t] = s[other]
                        s[other] = tmp
                cuda.syncthreads()
                j //= 2
            k *= 2
        a[t] = s[t]

    return kernel, [shuffled()], {0: np.arange(N)}


@learner(1, N // 2)
def odd_even_sort():
    @cuda.jit
    def kernel(a):
        t = cuda.threadIdx.x
        n = len(a)
        for phase in range(n):
            i = 2 * t + phase % 2
            if i + 1 < n:
                if a[i] > a[i + 1]:
                    a[i], a[i + 1] = a[i + 1], a[i]
            cuda.syncthreads()

    return kernel, [shuffled()], {0: np.arange(N)}


@learner(2, N)
def sort_by_rank():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            rank = 0
            for j in range(a.size):
                if a[j] < a[i] or (a[j] == a[i] and j < i):
                    rank += 1
            out[rank] = a[i]

    a = np.random.default_rng(1).integers(0, 9, 50).astype(np.float32)
    return kernel, [a, np.zeros_like(a)], {1: np.sort(a)}


@learner(2, 16)
def binary_search():
    @cuda.jit(device=True)
    def lower(a, v):
        lo, hi = 0, len(a)
        while lo < hi:
            mid = (lo + hi) // 2
            if a[mid] < v:
                lo = mid + 1
            else:
                hi = mid
        return lo

    @cuda.jit
    def kernel(a, wanted, place):
        i = cuda.grid(1)
        if i < wanted.shape[0]:
            place[i] = lower(a, wanted[i])

    a = np.arange(0, 90, 3, dtype=np.int32)
    wanted = np.random.default_rng(2).integers(-2, 95, 30).astype(np.int32)
    return kernel, [a, wanted, np.zeros(30, np.int32)], {2: np.searchsorted(a, wanted)}


@learner(2, 16)
def nearest_neighbour():
    @cuda.jit
    def kernel(points, nearest):
        i = cuda.grid(1)
        n = points.shape[0]
        if i < n:
            best = -1
            shortest = 1e30
            for j in range(n):
                if j != i:
                    d = 0.0
                    for axis in range(points.shape[1]):
                        diff = points[i, axis] - points[j, axis]
                        d += diff * diff
                    if d < shortest:
                        shortest = d
                        best = j
            nearest[i] = best

    p = np.random.default_rng(3).random((30, 3))
    d = ((p[:, None] - p[None]) ** 2).sum(axis=2) + np.eye(30) * 9
    return kernel, [p, np.zeros(30, np.int32)], {1: d.argmin(axis=1)}


@learner(2, 32)
def step_of_k_means():
    @cuda.jit
    def kernel(points, centres, sums, counts):
        i = cuda.grid(1)
        if i < points.shape[0]:
            best, at = np.inf, 0
            for c in range(centres.shape[0]):
                dx = points[i, 0] - centres[c, 0]
                dy = points[i, 1] - centres[c, 1]
                d = dx**2 + dy**2
                if d < best:
                    best, at = d, c
            cuda.atomic.add(sums, (at, 0), points[i, 0])
            cuda.atomic.add(sums, (at, 1), points[i, 1])
            cuda.atomic.add(counts, at, 1)

    p = np.random.default_rng(4).integers(0, 64, (50, 2)) / 4
    centres = np.array([[2.0, 2.0], [9.0, 5.0], [5.0, 12.0]])
    at = ((p[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    sums = np.array([p[at == c].sum(axis=0) for c in range(3)])
    given = [p, centres, np.zeros((3, 2)), np.zeros(3, np.int32)]
    return kernel, given, {2: sums, 3: np.bincount(at, minlength=3)}


@learner(1, 32)
def merge_of_two_sorted_halves():
    @cuda.jit
    def kernel(a, b, out):
        t = cuda.threadIdx.x
        if t < a.size:
            before = 0
            while before < b.size and b[before] < a[t]:
                before += 1
            out[t + before] = a[t]
        if t < b.size:
            before = 0
            while before < a.size and a[before] <= b[t]:
                before += 1
            out[t + before] = b[t]

    v = np.random.default_rng(5).integers(0, 40, 40).astype(np.int32)
    a, b = np.sort(v[:17]), np.sort(v[17:])
    return kernel, [a, b, np.zeros(40, np.int32)], {2: np.sort(v)}


@learner(1, 32)
def breadth_first_levels_of_a_graph():
    @cuda.jit
    def kernel(starts, targets, level):
        changed = cuda.shared.array(1, int32)
        v = cuda.threadIdx.x
        depth = 0
        while True:
            cuda.syncthreads()
            if v == 0:
                changed[0] = 0
            mine = level[v] if v < level.size else -1
            cuda.syncthreads()
            if mine == depth:
                for e in range(starts[v], starts[v + 1]):
                    old = cuda.atomic.cas(level, targets[e], -1, depth + 1)
                    if old == -1:
                        cuda.atomic.exch(changed, 0, 1)
            cuda.syncthreads()
            if changed[0] == 0:
                break
            depth += 1

    n = 20
    edges = [sorted({(2 * v) % n, (v + 5) % n}) for v in range(n)]
    level = {0: 0}
    queue = [0]
    for v in queue:
        for w in edges[v]:
            if w not in level:
                level[w] = level[v] + 1
                queue.append(w)
    starts = np.cumsum([0, *map(len, edges)]).astype(np.int32)
    first = np.full(n, -1, np.int32)
    first[0] = 0
    wanted = np.array([level.get(v, -1) for v in range(n)])
    return kernel, [starts, np.concatenate(edges).astype(np.int32), first], {2: wanted}

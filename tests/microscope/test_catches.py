"""What the microscope catches, with where and who; and what it refuses, in one line."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from microscope import (
    KernelError,
    Kind,
    Limits,
    OutOfBounds,
    Unsupported,
    launch,
    trace,
)
from microscope import api as cuda

F = np.float32
HERE = Path(__file__)


def line_of(text: str) -> int:
    """Line of this file that ends with the comment ``# text``."""
    lines = HERE.read_text(encoding="utf-8").splitlines()
    return next(k for k, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


def only(t, kind):
    """The one problem of a trace."""
    assert [p.kind for p in t.problems] == [kind], [str(p) for p in t.problems]
    return t.problems[0]


@cuda.jit
def unguarded(a, b, c):
    i = cuda.grid(1)
    c[i] = a[i] + b[i]  # unguarded


def test_out_of_bounds_counts_every_lane():
    a = np.zeros(1000, F)
    t = trace(unguarded, 4, 256, a, a.copy(), a.copy())
    assert [p.kind for p in t.problems] == [Kind.OUT_OF_BOUNDS] * 3
    assert {p.array for p in t.problems} == {"a", "b", "c"}
    p = t.problems[0]
    assert (p.line, p.count, p.block, p.thread) == (
        line_of("unguarded"),
        24,
        (3, 0, 0),
        (232, 0, 0),
    )
    assert p.element == (1000,)
    assert "thread (232, 0, 0) of block (3, 0, 0) reads a[1000], outside its shape (1000,)" in str(
        p
    )
    with pytest.raises(OutOfBounds, match=rf"line {p.line}: thread .* reads a\[1000\]"):
        unguarded[4, 256](a, a, a)
    assert issubclass(OutOfBounds, IndexError) and issubclass(OutOfBounds, KernelError)


@cuda.jit
def doubled(a):
    a[cuda.grid(1)] *= 2


def test_an_augmented_assignment_is_one_mistake():
    p = only(trace(doubled, 1, 32, np.zeros(30)), Kind.OUT_OF_BOUNDS)
    assert p.count == 2 and "writes a[30]" in p.message


@cuda.jit
def reverse_without_barrier(a, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = a[t]  # reverse writes
    out[t] = s[63 - t]  # reverse reads


def test_missing_barrier_is_a_read_after_write_race():
    a = np.arange(64, dtype=F)
    t = trace(reverse_without_barrier, 1, 64, a, a.copy())
    p = only(t, Kind.READ_AFTER_WRITE)
    assert (p.other_line, p.line) == (line_of("reverse writes"), line_of("reverse reads"))
    assert p.array == "s" and p.count == 64 and p.same_warp is False
    assert p.block == (0, 0, 0) and p.element == (63 - p.thread[0],) == p.other_thread[:1]
    assert "put cuda.syncthreads() between" in p.message
    np.testing.assert_array_equal(t.outputs["out"], a[::-1])  # lockstep hides it


def test_warp_order_shows_the_wrong_numbers_of_a_race():
    a = np.arange(64, dtype=F)
    for schedule, right in (("warps", slice(32, 64)), ("warps-reversed", slice(0, 32))):
        t = trace(reverse_without_barrier, 1, 64, a, a.copy(), schedule=schedule)
        good = t.outputs["out"] == a[::-1]
        assert good[right].all() and good.sum() == 32
        found = {p.kind: p.count for p in t.problems}
        assert found == {Kind.UNINITIALISED: 32, Kind.READ_AFTER_WRITE: 64}


@cuda.jit
def reuse(a, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    for k in range(2):
        s[t] = a[t] + k  # reuse writes
        cuda.syncthreads()
        out[t] += s[63 - t]  # reuse reads


def test_missing_second_barrier_is_a_write_after_read_race():
    p = only(trace(reuse, 1, 64, np.zeros(64, F), np.zeros(64, F)), Kind.WRITE_AFTER_READ)
    assert (p.other_line, p.line) == (line_of("reuse reads"), line_of("reuse writes"))


@cuda.jit
def everyone_writes(out):
    s = cuda.shared.array(1, np.int32)
    s[0] = cuda.threadIdx.x
    cuda.syncthreads()
    out[cuda.threadIdx.x] = s[0]


def test_two_writers():
    p = only(trace(everyone_writes, 1, 64, np.zeros(64)), Kind.WRITE_AFTER_WRITE)
    assert p.same_warp is False and p.line == p.other_line
    p = only(trace(everyone_writes, 1, 32, np.zeros(32)), Kind.WRITE_AFTER_WRITE)
    assert p.same_warp is True and "warp" in p.message


@cuda.jit
def warp_sum(a, out, sync):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncwarp()
    step = 16
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        if sync:
            cuda.syncwarp()
        step //= 2
    out[t] = s[0]


def test_syncwarp_orders_a_warp():
    a = np.arange(32, dtype=F)
    t = trace(warp_sum, 1, 32, a, a.copy(), True)
    assert not t.problems and (t.outputs["out"] == a.sum()).all()
    t = trace(warp_sum, 1, 32, a, a.copy(), False)
    assert t.problems and all(p.same_warp for p in t.problems)


@cuda.jit
def syncwarp_is_not_enough(a, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncwarp()
    out[t] = s[63 - t]


def test_syncwarp_does_not_order_other_warps():
    a = np.zeros(64, F)
    assert only(trace(syncwarp_is_not_enough, 1, 64, a, a.copy()), Kind.READ_AFTER_WRITE)


@cuda.jit
def counter(out, plain):
    s = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, 1)
    if plain and t == 40:
        s[0] = 5
    cuda.syncthreads()
    out[t] = s[0]


def test_atomics_do_not_race_with_each_other_but_with_plain_accesses():
    assert not trace(counter, 1, 64, np.zeros(64), False).problems
    p = only(trace(counter, 1, 64, np.zeros(64), True), Kind.WRITE_AFTER_WRITE)
    assert "updates atomically" in p.message


@cuda.jit
def shifted(a):
    i = cuda.grid(1)
    if i + 1 < a.size:
        a[i] = a[i + 1]


def test_races_between_blocks():
    t = trace(shifted, 4, 32, np.arange(128, dtype=F))
    far = [p for p in t.problems if p.block != p.other_block]
    assert far and "blocks run in any order" in far[0].message
    assert far[0].element[0] % 32 == 0


@cuda.jit
def sum_into_one(a, out):
    i = cuda.grid(1)
    out[0] += a[i]


def test_unprotected_sum():
    t = trace(sum_into_one, 2, 32, np.ones(64, F), np.zeros(1, F))
    assert {p.array for p in t.problems} == {"out"}
    assert any(p.other_block != p.block for p in t.problems)


@cuda.jit
def barrier_in_branch(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()  # divergent
    out[cuda.grid(1)] = t


def test_divergent_barrier():
    p = only(trace(barrier_in_branch, 3, 64, np.zeros(192)), Kind.DIVERGENT_BARRIER)
    assert (p.line, p.thread, p.block) == (line_of("divergent"), (16, 0, 0), (0, 0, 0))
    assert p.count == 3 * 48
    with pytest.raises(KernelError, match="must be reached by all threads of the block"):
        barrier_in_branch[3, 64](np.zeros(192))
    t = trace(barrier_in_branch, 1, 64, np.zeros(64), schedule="warps")
    assert Kind.DIVERGENT_BARRIER in {p.kind for p in t.problems}


@cuda.jit
def early_return(n, out):
    i = cuda.grid(1)
    if i >= n:
        return
    cuda.syncthreads()  # after return
    out[i] = i


def test_barrier_after_return():
    p = only(trace(early_return, 2, 64, 100, np.zeros(128)), Kind.BARRIER_AFTER_RETURN)
    assert (p.line, p.count, p.block) == (line_of("after return"), 28, (1, 0, 0))
    assert p.thread == (36, 0, 0) and "has already returned" in p.message
    assert not trace(early_return, 2, 64, 64, np.zeros(128)).problems  # whole blocks may return
    with pytest.raises(KernelError, match="has already returned"):
        early_return[2, 64](100, np.zeros(128))


@cuda.jit
def block_by_block(out):
    if cuda.blockIdx.x == 1:
        cuda.syncthreads()
    for _ in range(cuda.blockIdx.x):
        cuda.syncthreads()
    out[cuda.grid(1)] = 1


def test_barriers_that_whole_blocks_skip_are_sound():
    t = trace(block_by_block, 3, 40, np.zeros(120))
    assert not t.problems and list(t.barriers.values()) == [1, 0 + 1 + 2]
    block_by_block[3, 40](np.zeros(120))


@cuda.jit
def half_filled(out):
    s = cuda.shared.array((4, 16), np.float32)
    t = cuda.threadIdx.x
    if t < 30:
        s[t // 16, t % 16] = 1
    cuda.syncthreads()
    out[t] = s[t // 16, t % 16]  # blank


def test_uninitialised_shared_memory():
    t = trace(half_filled, 1, 64, np.zeros(64, F))
    p = only(t, Kind.UNINITIALISED)
    assert (p.line, p.element, p.count) == (line_of("blank"), (1, 14), 34)
    assert np.isnan(t.outputs["out"][30:]).all()
    out = np.zeros(64, F)
    half_filled[1, 64](out)
    assert np.isnan(out[30:]).all() and (out[:30] == 1).all()


@cuda.jit
def hungry(out):
    s = cuda.shared.array((128, 128), np.float32)  # hungry
    s[0, 0] = 1


def test_too_much_shared_memory():
    p = only(trace(hungry, 1, 32, np.zeros(1)), Kind.SHARED_LIMIT)
    assert p.line == line_of("hungry") and "65536 bytes" in p.message and "49152" in p.message
    with pytest.raises(KernelError, match="65536 bytes of shared memory; the limit is 49152"):
        hungry[1, 32](np.zeros(1))


@cuda.jit
def greedy():
    tile = cuda.shared.array((1 << 14, 1 << 14), np.float64)
    tile[0, 0] = 1


def test_no_memory_is_taken_for_what_is_refused():
    tracemalloc.start()
    p = only(trace(greedy, 1, 1), Kind.SHARED_LIMIT)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert f"a block asks for {1 << 31} bytes" in p.message and most < 1 << 24


def test_too_much_dynamic_shared_memory():
    p = only(trace(half_filled, 1, 64, np.zeros(64), shared_bytes=50_000), Kind.SHARED_LIMIT)
    assert "50000 bytes of dynamic shared memory a block; the limit is 49152" in p.message


def test_too_many_threads():
    p = only(trace(hungry, 1, (64, 64), np.zeros(1)), Kind.BLOCK_LIMIT)
    assert "4096 threads; the limit is 1024" in p.message


@cuda.jit
def forever(flag, out):
    i = cuda.grid(1)
    while flag[0] == i % 2:  # forever
        i += 2
    out[i] = 1


def test_endless_loop(monkeypatch):
    monkeypatch.setattr(launch, "LIMITS", Limits(trips=3000))
    p = only(trace(forever, 1, 4, np.zeros(1, int), np.zeros(9)), Kind.ENDLESS_LOOP)
    assert p.line == line_of("forever") and p.thread == (0, 0, 0)
    with pytest.raises(KernelError, match="has run 3000 times and thread"):
        forever[1, 4](np.zeros(1, int), np.zeros(9))


@cuda.jit
def left_neighbour(a, out):
    i = cuda.grid(1)
    out[i] = a[i - 1]  # wraps


def test_negative_index_is_noted():
    a = np.arange(32)
    t = trace(left_neighbour, 1, 32, a, np.zeros(32))
    p = only(t, Kind.NEGATIVE_INDEX)
    assert (p.line, p.element, p.count) == (line_of("wraps"), (-1,), 1)
    np.testing.assert_array_equal(t.outputs["out"], np.roll(a, 1))


def test_unsigned_indices_do_not_wrap():
    @cuda.jit
    def unsigned(a, out):
        i = np.uint32(cuda.threadIdx.x)
        out[i] = a[i - np.uint32(1)]

    t = trace(unsigned, 1, 8, np.arange(8), np.zeros(8))
    p = only(t, Kind.OUT_OF_BOUNDS)
    assert p.count == 1 and p.element == (2**64 - 1,)


@cuda.jit
def tiled(A, B, C):
    sA = cuda.shared.array((8, 8), np.float32)
    sB = cuda.shared.array((8, 8), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = np.float32(0)
    for t in range((A.shape[1] + 7) // 8):
        ka, kb = t * 8 + tx, t * 8 + ty
        sA[ty, tx] = A[row, ka] if row < A.shape[0] and ka < A.shape[1] else np.float32(0)
        sB[ty, tx] = B[kb, col] if kb < B.shape[0] and col < B.shape[1] else np.float32(0)
        cuda.syncthreads()
        for k in range(8):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "warps-reversed"])
def test_a_sound_kernel_raises_no_alarm(schedule):
    rng = np.random.default_rng(5)
    A, B = rng.integers(-4, 5, (19, 23)).astype(F), rng.integers(-4, 5, (23, 13)).astype(F)
    t = trace(tiled, (2, 3), (8, 8), A, B, np.full((19, 13), np.nan, F), schedule=schedule)
    assert not t.problems
    np.testing.assert_array_equal(t.outputs["C"], A @ B)
    assert t.work.flops == {"float32": 2 * 24 * 6 * 64}
    assert sum(t.barriers.values()) == 2 * 3 * 6
    assert t.shared_bytes == 512
    assert t.heat("C").stores.min() == t.heat("C").stores.max() == 1
    assert (t.heat("A").loads == 2).all() and (t.heat("B").loads == 3).all()
    assert t.work.bytes_unique == 4 * (A.size + B.size + 19 * 13)


# -- what is refused


@pytest.mark.parametrize(
    "body, message",
    [
        ("x = [i for i in range(3)]", "line 2: a list comprehension cannot be used in a kernel"),
        ("try:\n    a[0] = 1\nexcept ValueError:\n    pass", "line 2: try cannot be used"),
        ("raise ValueError", r"line 2: raise ValueError in thread \(0, 0, 0\) of block"),
        ("global b\nb = 1", "line 3: a kernel cannot change the global b"),
        ("x = [1, 2]", r"line 2: \[1, 2\]: a kernel has no lists"),
        ("a[0] = 10**30", "line 2: 1000000000000000000000000000000 does not fit into 64 bits"),
        ("d = {1: 2}", "line 2: a dict cannot be used"),
        (
            "def g():\n    nonlocal a\n    a = 1\ng()",
            "line 3: nonlocal cannot be used in a kernel",
        ),
        ("import math", "line 2: import cannot be used"),
        ("with a:\n    pass", "line 2: with cannot be used"),
        ("yield 1", "kernel is a generator or coroutine"),
        ("return 1", "line 2: a kernel returns nothing"),
        ("a[0, 0] = 1", r"line 2: a has 1 axes, got 2 indices: a\[0, 0\]"),
        ("a[0.5] = 1", r"line 2: an index must be an integer, not float64: a\[0.5\]"),
        ("a[0] = b", "line 2: the name 'b' is not defined"),
        ("syncthreads()", "the name 'syncthreads' is not defined: did you mean cuda.syncthreads?"),
        ("a[0] = np.zeros(3)", "line 2: a kernel cannot call np.zeros"),
        ("a[0] = open('x')", "line 2: a kernel cannot call open"),
        ("a[0] = cuda.no_such_thing(1)", "line 2: cuda.no_such_thing is not known"),
        ("a[0] = a.cumsum()[0]", "line 2: a.cumsum.*an array has no such method in a kernel"),
        ("a[0] = a.nothing", "line 2: a.nothing: an array has no .nothing"),
        ("x = y\ny = 1", "line 2: y is used before any thread gives it a value"),
        ("s = cuda.shared.array(a.size, np.float32)", "line 2: .*must be known when the kernel"),
        ("s = cuda.shared.array(4, a)", "line 2: .*the dtype must be a type"),
        ("s = cuda.shared.array(4)", "line 2: .*needs a shape and a dtype"),
        ("x = 1.5 << 2", "line 2: 1.5 << 2: no such operation on float64 and int64"),
        ("x = a + 1", r"line 2: a \+ 1: no such operation on the array a and int64"),
        ("for x in 3:\n    pass", r"line 2: for runs over range\(\), tuples, arrays"),
        ("for i in range(0.5):\n    pass", r"line 2: range\(\) takes integers"),
        ("for i in range(1, 5, 0):\n    pass", r"line 2: the step of range\(\) is 0"),
        ("x, y = 1, 2, 3", "line 2: 2 names on the left, but the right side is a tuple of 3"),
        ("assert a[0] > 5", r"line 2: assert a\[0\] > 5 fails in thread \(0, 0, 0\)"),
        ("x = f'{a}'", "line 2: an f-string cannot be used"),
        ("a[0] = min(1)", "line 2: .*takes two numbers or more"),
        ("cuda.atomic.add(1, 0, 1)", "line 2: .*the first argument must be an array"),
        ("cuda.grid(4)", "line 2: .*the argument is 1, 2 or 3"),
        (
            "x = cuda.local.array((1 << 29,), np.float64)",
            "line 2: .* takes 4294967296 bytes per thread; the limit is",
        ),
        ("kernel(a)", "line 2: a kernel cannot call kernel, a plain function: put @cuda.jit"),
        ("for i in range(10**9):\n    pass", "line 2: the loop has run 250000 times"),
        ("while True:\n    print(1)", "line 3: this launch has printed 10000 lines"),
        (f"print({'1, ' * 33})", r"line 2: print\(...\) of 33 values, and a GPU prints 32 at most"),
    ],
)
def test_refusals_are_one_clear_line(tmp_path, body, message, capsys):
    source = "def kernel(a):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    path = tmp_path / "refused.py"
    path.write_text(source, encoding="utf-8")
    namespace = {"np": np, "cuda": cuda}
    exec(compile(source, str(path), "exec"), namespace)
    with pytest.raises(KernelError, match=message) as error:
        cuda.jit(namespace["kernel"])[1, 4](np.zeros(8))
    assert "\n" not in str(error.value)


def test_nested_loops_have_one_budget(monkeypatch):
    @cuda.jit
    def nested(a):
        for _ in range(1000):
            for _ in range(1000):
                pass

    monkeypatch.setattr(launch, "LIMITS", Limits(all_trips=5000))
    with pytest.raises(KernelError, match="have run 5000 times together"):
        nested[1, 32](np.zeros(1))


def test_a_kernel_names_all_its_parameters():
    @cuda.jit
    def starred(*args):
        args[0][0] = 1

    with pytest.raises(KernelError, match="a kernel names all its parameters"):
        starred[1, 1](np.zeros(1))
    with pytest.raises(Unsupported, match="no parameters by keyword alone"):

        @cuda.jit
        def by_keyword(a, *, b):
            a[0] = b


def test_a_device_function_may_take_all_further_arguments():
    @cuda.jit(device=True)
    def total(first, *others):
        for x in others:
            first += x
        return first * len(others)

    @cuda.jit
    def kernel(a):
        a[0] = total(a[0], 2.0, a[1])

    a = np.array([1.0, 4.0])
    kernel[1, 1](a)
    np.testing.assert_array_equal(a, [14.0, 4.0])


def test_a_launch_that_is_too_large_is_refused_at_once():
    with pytest.raises(KernelError, match="threads; the interpreter takes"):
        unguarded[2**30, 1024](np.zeros(1), np.zeros(1), np.zeros(1))


def test_needs_numpy_alone():
    """Importing and running the interpreter must not import Numba, nor start a thread."""
    script = (
        "import sys, threading\n"
        "from microscope import trace, api\n"
        "assert 'numba' not in sys.modules and 'matplotlib' not in sys.modules\n"
        "assert threading.active_count() == 1\n"
    )
    root = HERE.parents[2]
    subprocess.run([sys.executable, "-c", script], cwd=root, check=True, timeout=60)


# -- fences, and warps that do not all come


def last_block(fence: str):
    """A sum in one launch: the block that comes last adds up what all blocks have left."""
    fenced, too_early = fence != "none", fence == "too early"

    @cuda.jit
    def kernel(a, partial, done, out):
        last = cuda.shared.array(1, np.bool_)
        t = cuda.threadIdx.x
        if t == 0:
            if not too_early:
                partial[cuda.blockIdx.x] = a[cuda.blockIdx.x]
            if fenced:
                cuda.threadfence()
            if too_early:
                partial[cuda.blockIdx.x] = a[cuda.blockIdx.x]
            last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0] and t == 0:
            total = 0
            for b in range(cuda.gridDim.x):
                total += partial[b]
            out[0] = total
            done[0] = 0

    return kernel


@pytest.mark.parametrize("schedule", ("lockstep", "warps", "warps-reversed"))
@pytest.mark.parametrize("fence", ("right", "none", "too early"))
def test_a_fence_and_an_atomic_order_blocks(fence, schedule):
    a = np.arange(7)
    t = trace(
        last_block(fence),
        7,
        64,
        a,
        np.zeros(7, int),
        np.zeros(1, np.int32),
        np.zeros(1, int),
        schedule=schedule,
    )
    assert t.outputs["out"][0] == 21
    racing = {p.array for p in t.problems}
    assert racing == (set() if fence == "right" else {"partial", "done"})


@cuda.jit
def part_of_a_warp(mask, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, np.int64)
    s[t] = t
    if t % 32 < 16:
        cuda.syncwarp(mask)
        out[t] = s[t // 32 * 32 + (t + 1) % 16]


@pytest.mark.parametrize("schedule", ("lockstep", "warps"))
def test_a_mask_names_the_threads_that_come(schedule):
    out = np.zeros(64, int)
    t = trace(part_of_a_warp, 1, 64, np.int64(0xFFFF), out, schedule=schedule)
    assert not t.problems
    t = trace(part_of_a_warp, 1, 64, np.int64(0xFFFFFFFF), out, schedule=schedule)
    (p,) = t.problems
    assert (p.kind, p.thread, p.count) == (Kind.DIVERGENT_BARRIER, (16, 0, 0), 32)
    assert "waits for thread (16, 0, 0)" in p.message


def test_syncwarp_orders_only_the_threads_that_call_it():
    """Lanes 16 to 31 have not waited for anybody: what they wrote still counts as pending."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        s = cuda.shared.array(32, np.int64)
        s[t] = t
        if t < 16:
            cuda.syncwarp(0xFFFF)
            out[t] = s[t + 16]

    (p,) = trace(kernel, 1, 32, np.zeros(32, int)).problems
    assert p.kind == Kind.READ_AFTER_WRITE and p.same_warp and p.element == (16,)


@cuda.jit
def shuffle_after_return(a, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    out[i] = cuda.shfl_down_sync(0xFFFFFFFF, a[i], 1)


@cuda.jit
def shuffle_in_a_branch(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = cuda.shfl_down_sync(0xFFFFFFFF, a[i], 1)


def test_a_shuffle_in_a_branch_that_part_of_a_warp_takes():
    a, out = np.arange(40), np.zeros(64, int)
    (p,) = trace(shuffle_in_a_branch, 1, 64, a, out).problems
    assert p.thread == (40, 0, 0) and p.kind == Kind.DIVERGENT_BARRIER
    assert not trace(shuffle_after_return, 1, 64, a, out).problems


def test_atomics_take_the_types_that_numba_takes():
    @cuda.jit
    def kernel(a):
        cuda.atomic.inc(a, 0, 1)

    kernel[1, 1](np.zeros(1, np.uint32))
    with pytest.raises(KernelError, match="takes arrays of uint32, uint64, not of int32"):
        kernel[1, 1](np.zeros(1, np.int32))


def test_tuples_do_not_grow_without_end():
    @cuda.jit
    def longer():
        t = (1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
        u = t + t + t + t + t + t + t + t + t + t
        v = u + u + u + u + u + u + u + u + u + u + u  # noqa: F841

    @cuda.jit
    def deeper():
        t = (1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
        u = (t, t, t, t, t, t, t, t, t, t)
        v = (u, u, u, u, u, u, u, u, u, u, u)  # noqa: F841

    for kernel in (longer, deeper):
        with pytest.raises(Unsupported, match="a tuple has at most 1000 parts"):
            kernel[1, 1]()


def test_a_tuple_keeps_its_length_in_a_loop():
    @cuda.jit
    def kernel():
        t = (1,)
        for _ in range(60):
            t = t + t

    with pytest.raises(Unsupported, match="t would be a tuple of 1 in some threads and a tuple"):
        kernel[1, 1]()


def test_recursion_has_an_end():
    @cuda.jit("int64(int64)", device=True)
    def down(n):
        if n < 0:
            return 0
        return down(n - 1)

    @cuda.jit
    def kernel(n):
        down(n)

    kernel[1, 1](30)
    with pytest.raises(KernelError, match="down calls itself more than 32 deep, and a GPU's stack"):
        kernel[1, 1](40)


def test_recursion_has_its_own_local_arrays_and_writes_what_it_is_given():
    @cuda.jit(device=True)
    def halves(a, low, high):
        if high - low == 1:
            return a[low]
        ends = cuda.local.array(2, np.int64)
        ends[0], ends[1] = low, high
        middle = (low + high) // 2
        total = halves(a, low, middle) + halves(a, middle, high)
        a[ends[1] - 1] += 100 * (ends[1] - ends[0])
        return total

    @cuda.jit
    def kernel(a, out):
        out[0] = halves(a, np.int64(0), a.size)

    a, out = np.arange(4.0), np.zeros(1)
    kernel[1, 1](a, out)
    assert (a.tolist(), out[0]) == ([0, 201, 2, 603], 6)


def test_a_function_with_a_signature_for_the_cpu_is_refused_as_numba_does():
    numba = pytest.importorskip("numba")

    @numba.njit("int64(int64)")
    def double(n):
        return 2 * n

    @cuda.jit
    def kernel(out):
        out[0] = double(3)

    with pytest.raises(
        KernelError, match="double has a signature, so Numba compiles it for the CPU"
    ):
        kernel[1, 1](np.zeros(1))


def test_recursion_of_another_type_is_refused_as_numba_does():
    @cuda.jit(device=True)
    def down(n, to=0):
        return to if n < 1 else down(n - 1, to)

    @cuda.jit
    def kernel(out, n, m):
        out[0] = down(n, m) if n > 2 else down(m, n)

    kernel[1, 1](np.zeros(1), 3, 2)
    with pytest.raises(KernelError, match=r"n is int64 here, int32 before: convert it"):
        kernel[1, 1](np.zeros(1), np.int32(3), 2)
    with pytest.raises(KernelError, match="to is left out here: pass it"):
        cuda.jit(lambda n: down(n))[1, 1](3)
    with pytest.raises(KernelError, match="n is a number of the source here: write int64"):
        cuda.jit(lambda n: down(3, n))[1, 1](3)


@pytest.mark.parametrize("schedule", ("lockstep", "warps", "warps-reversed"))
def test_a_lock_around_a_plain_update(schedule):
    @cuda.jit
    def kernel(total, lock):
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True

    t = trace(kernel, 3, 5, np.zeros(1, int), np.zeros(1, np.int32), schedule=schedule)
    assert t.outputs["total"][0] == 15 and not t.problems

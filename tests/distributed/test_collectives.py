"""Programs of several ranks: results, costs, what they are told, and the calls of NCCL."""

import ctypes
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from kernels.distributed import layers, machine, nccl, nccl_ranks
from kernels.distributed.collectives import Mismatch, Simulated
from kernels.distributed.cost import Machine, broadcast, collective, overlapped
from kernels.distributed.nccl_ranks import Nccl
from tests.distributed.fake_gpus import Array

RANKS = (1, 2, 3, 4)
TOKENS, WIDTH, HIDDEN, OUT = 24, 5, 36, 7


def eighths(*shape, seed=1):
    """Numbers whose sums are exact in any order."""
    rng = np.random.default_rng((seed, *shape))
    return (rng.integers(-16, 17, shape) / 8).astype(np.float32)


class Moved:
    """NCCL that is none: within a group, it moves and adds float32 in the host's memory."""

    NCCL_FLOAT32, NCCL_FLOAT16, NCCL_SUM = 7, 6, 0

    def __init__(self, ranks):
        self.queued, self.open = [], False
        self.NcclCommunicator = SimpleNamespace(
            initAll=lambda devices: [Communicator(self, rank) for rank in devices]
        )

    def groupStart(self):
        self.open = True

    def groupEnd(self):
        self.open = False
        queued, self.queued = self.queued, []
        sums = [each for each in queued if each[0] in ("allReduce", "reduceScatter", "allGather")]
        arrays = [memory(each[2], each[4]) for each in sums]
        for name, rank, _, there, count in sums:
            if name == "allReduce":
                memory(there, count)[:] = sum(arrays)
            elif name == "reduceScatter":
                whole = [memory(each[2], count * len(sums)) for each in sums]
                memory(there, count)[:] = sum(whole)[rank * count : (rank + 1) * count]
            else:
                memory(there, count * len(sums))[:] = np.concatenate(arrays)
        for name, rank, here, to, count in queued:
            if name == "send":
                at = next(
                    i
                    for i, each in enumerate(queued)
                    if each is not None and each[0] == "recv" and each[1] == to and each[3] == rank
                )
                _, _, there, _, expected = queued[at]
                queued[at] = ("received", *queued[at][1:])
                assert expected == count
                memory(there, count)[:] = memory(here, count)
        assert not [each for each in queued if each[0] == "recv"]


class Communicator:
    """One rank's end of it: the arguments are those of CuPy's."""

    def __init__(self, library, rank):
        self.library, self.rank = library, rank

    def _queue(self, name, *what):
        assert self.library.open, f"{name} outside a group would wait for ever"
        self.library.queued.append((name, self.rank, *what))

    def allReduce(self, here, there, count, kind, operation, stream):
        self._queue("allReduce", here, there, count)

    def reduceScatter(self, here, there, count, kind, operation, stream):
        self._queue("reduceScatter", here, there, count)

    def allGather(self, here, there, count, kind, stream):
        self._queue("allGather", here, there, count)

    def send(self, here, count, kind, to, stream):
        self._queue("send", here, to, count)

    def recv(self, there, count, kind, source, stream):
        self._queue("recv", there, source, count)

    def destroy(self):
        pass


def memory(address, count):
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (count,))


class Stream:
    """A stream that does at once what it is given; events remember on which rank they were made."""

    ptr = 0

    def record(self):
        return "mark"

    def wait_event(self, event):
        assert event == "mark"

    def synchronize(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class There(Array):
    """An array on a GPU that is none: NumPy keeps its class."""

    def __array_function__(self, function, types, args, kwargs):
        found = super().__array_function__(function, types, args, kwargs)
        if isinstance(found, list):
            return [each.view(There) for each in found]
        return found.view(There) if isinstance(found, np.ndarray) else found


@pytest.fixture
def over_nccl(monkeypatch):
    """A group of ranks whose NCCL moves the host's memory."""

    def make(ranks, **options):
        library = Moved(ranks)
        cuda = ModuleType("cupy.cuda")
        cuda.nccl = library
        monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
        fakes = SimpleNamespace(
            asarray=lambda x: x.copy().view(There),
            cuda=SimpleNamespace(
                Device=lambda rank: Stream(),
                Stream=lambda non_blocking: Stream(),
                runtime=SimpleNamespace(getDeviceCount=lambda: ranks),
            ),
        )
        for module in (machine, nccl_ranks):
            monkeypatch.setattr(module, "cupy", fakes)
        monkeypatch.setattr(machine, "on_gpu", True)
        monkeypatch.setattr(nccl, "check", lambda: None)
        monkeypatch.setenv("NCCL_NVLS_ENABLE", "1")
        return Nccl(ranks, **options)

    return make


@pytest.fixture(params=["simulated", "nccl"])
def group(request, over_nccl):
    return Simulated if request.param == "simulated" else over_nccl


def close(found, right):
    np.testing.assert_allclose(found, right, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("ranks", RANKS)
def test_column_then_row_is_the_perceptron_with_one_all_reduce(group, ranks):
    X, W1, W2 = eighths(TOKENS, WIDTH), eighths(WIDTH, HIDDEN), eighths(HIDDEN, OUT)
    team = group(ranks)
    found = team.run(
        layers.column_then_row, [X] * ranks, np.split(W1, ranks, 1), np.split(W2, ranks)
    )
    right = layers.gelu(X @ W1) @ W2
    for each in found:
        close(each, right)
    assert team.met == [("all_reduce", right.nbytes)]


@pytest.mark.parametrize("ranks", RANKS)
def test_sequence_parallelism_moves_as_much_and_keeps_a_part_of_the_rows(group, ranks):
    X, W1, W2 = eighths(TOKENS, WIDTH), eighths(WIDTH, HIDDEN), eighths(HIDDEN, WIDTH)
    team = group(ranks)
    rows = np.split(X, ranks)
    found = team.run(layers.sequence_parallel, rows, np.split(W1, ranks, 1), np.split(W2, ranks))
    close(np.concatenate(found), X + layers.gelu(layers.normed(X) @ W1) @ W2)
    assert team.met == [("all_gather", X.nbytes), ("reduce_scatter", X.nbytes)]
    link = Machine(1, 1e9)
    assert sum(collective(*each, ranks, link) for each in team.met) == pytest.approx(
        collective("all_reduce", X.nbytes, ranks, link)
    )


@pytest.mark.parametrize("ranks", RANKS)
def test_a_ring_adds_up_in_twice_p_minus_one_steps(group, ranks):
    xs = [eighths(12, 3, seed=rank) for rank in range(ranks)]
    team = group(ranks)
    for each in team.run(layers.ring_all_reduce, xs):
        np.testing.assert_array_equal(each, sum(xs))
    assert team.met == [("exchange", xs[0].nbytes // ranks)] * (2 * (ranks - 1))
    link = Machine(1, 1e9, 1e-6)
    assert sum(collective(*each, ranks, link) for each in team.met) == pytest.approx(
        collective("all_reduce", xs[0].nbytes, ranks, link)
    )


@pytest.mark.parametrize("chunks", [1, 2, 3, 5])
def test_chunks_give_the_same_product(group, chunks):
    hidden, W2 = eighths(TOKENS, HIDDEN), eighths(HIDDEN, OUT)
    team = group(3)
    found = team.run(layers.chunked, np.split(hidden, 3, 1), np.split(W2, 3), [chunks] * 3)
    close(found[1], hidden @ W2)
    assert len(team.met) == chunks


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_step_on_parts_of_the_batch_is_the_step_on_all_of_it(group, ranks):
    X, target = eighths(TOKENS, WIDTH), eighths(TOKENS, OUT, seed=3)
    weights = eighths(WIDTH, HIDDEN), eighths(HIDDEN, OUT)

    def step(ranks):
        each = [np.split(X, ranks), np.split(target, ranks)]
        return group(ranks).run(
            layers.training_step, *each, *([w] * ranks for w in weights), [0.125] * ranks
        )

    right = step(1)[0]
    assert np.abs(right[0] - weights[0]).max() > 0.1
    for found in step(ranks):
        for mine, theirs in zip(found, right, strict=True):
            close(mine, theirs)


@pytest.mark.parametrize("ranks", RANKS)
def test_each_token_comes_back_from_the_expert_it_chose(group, ranks):
    X = eighths(ranks * 12, WIDTH)
    rng = np.random.default_rng(ranks)
    choice = [rng.permutation(np.repeat(np.arange(ranks), 12 // ranks)) for _ in range(ranks)]
    W1 = [eighths(WIDTH, HIDDEN, seed=rank) for rank in range(ranks)]
    W2 = [eighths(HIDDEN, OUT, seed=9 + rank) for rank in range(ranks)]
    found = group(ranks).run(layers.experts, np.split(X, ranks), choice, W1, W2)
    for token, expert, output in zip(X, np.concatenate(choice), np.concatenate(found), strict=True):
        close(output, layers.gelu(token @ W1[expert]) @ W2[expert])


async def one_gathers(gpu, x):
    return await (gpu.all_gather(x) if gpu.rank else gpu.all_reduce(x))


async def one_is_shorter(gpu, x):
    return await gpu.all_reduce(x[gpu.rank :])


async def one_goes_home(gpu, x):
    return x if gpu.rank else await gpu.all_reduce(x)


async def nobody_waits(gpu, x):
    gpu.all_reduce(x)


async def all_send_to_one(gpu, x):
    return await gpu.exchange(x, to=0)


async def odd_rows(gpu, x):
    return await gpu.reduce_scatter(x[1:])


@pytest.mark.parametrize(
    "program, told",
    [
        (one_gathers, r"rank 0 is in all_reduce of \(4,\) in float32, rank 1 in all_gather"),
        (one_is_shorter, r"rank 0 is in all_reduce of \(4,\) .*, rank 1 in all_reduce of \(3,\)"),
        (one_goes_home, r"rank 0 waits in its all_reduce.*, rank 1 has ended after 0"),
        (nobody_waits, r"rank 0 ended without awaiting its all_reduce"),
        (all_send_to_one, "nobody sends to rank 1: each rank needs one sender"),
        (odd_rows, "reduce_scatter cuts rows evenly, and 3 rows are no multiple of 2 ranks"),
    ],
)
def test_ranks_that_do_not_meet_are_told(group, program, told):
    with pytest.raises((Mismatch, ValueError), match=f"^{told}[^\n]*$"):
        group(2).run(program, [np.ones(4, np.float32)] * 2)


def test_a_group_refuses_what_it_cannot_run():
    with pytest.raises(ValueError, match="^0 ranks are no group: use 1 or more$"):
        Simulated(0)
    with pytest.raises(ValueError, match="^1 arguments for 2 ranks: give one per rank$"):
        Simulated(2).run(nobody_waits, [1])


def test_multicast_is_off_before_nccl_starts(over_nccl):
    over_nccl(2)
    assert nccl_ranks.os.environ["NCCL_NVLS_ENABLE"] == "0"


def test_the_readers_own_calls_are_made(over_nccl):
    seen = []

    def mine(library, communicator, call, stream):
        seen.append(call.kind)
        nccl_ranks.queue(library, communicator, call, stream)

    over_nccl(2, queue=mine).run(layers.chunked, [eighths(4, 2)] * 2, [eighths(2, 3)] * 2, [2, 2])
    assert seen == ["all_reduce"] * 4


LINK = Machine(flops=1, bandwidth=1e9, latency=1e-5)


def test_a_collective_costs_its_steps():
    assert collective("all_reduce", 8000, 4, LINK) == pytest.approx(6 * (1e-5 + 2e-6))
    assert collective("all_gather", 8000, 4, LINK) == pytest.approx(3 * (1e-5 + 2e-6))
    assert collective("exchange", 8000, 4, LINK) == pytest.approx(1e-5 + 8e-6)
    assert collective("all_reduce", 8000, 1, LINK) == 0
    assert collective("all_gather", 8000, 4, replace(LINK, start=1e-3)) == pytest.approx(
        1e-3 + collective("all_gather", 8000, 4, LINK)
    )


@pytest.mark.parametrize("size", [100, 10**6, 10**9])
@pytest.mark.parametrize("receivers", [1, 2, 3, 7])
def test_no_number_of_pieces_passes_a_broadcast_on_faster(size, receivers):
    times = [
        (s + receivers - 1) * (LINK.latency + size / s / LINK.bandwidth) for s in range(1, 3000)
    ]
    found = broadcast(size, receivers, LINK)
    assert found <= min(times) * (1 + 1e-9)
    assert found == pytest.approx(min(times), rel=0.03)


def test_chunks_expose_the_last_transfer_or_what_the_link_lags_behind():
    assert overlapped([4, 4], [1, 1]).exposed == 1
    assert overlapped([1, 1], [4, 4]).exposed == 7
    found = overlapped([8], [2])
    assert (found.seconds, found.exposed, found.in_turn) == (10, 2, 10)

"""One process for each rank: results, and ends of every kind that leave no process behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from kernels.distributed import lock, processes
from kernels.distributed.grid import Grid
from kernels.distributed.worker import Job, carry_out, product
from kernels.measure import oracle


def own_rank(team, factor):
    team.tell(team.ranks)
    return factor * team.rank


def die(team, how):
    if team.rank == 1:
        os.kill(os.getpid(), how)
    time.sleep(600)


def fail(team):
    if team.rank == 1:
        raise MemoryError("too\nlittle")
    time.sleep(600)


def hang(team):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


@pytest.fixture(autouse=True)
def nothing_stays():
    yield
    assert not multiprocessing.active_children()


def test_each_rank_returns_and_tells():
    heard = []
    found = processes.together(
        own_rank, 3, 10, seconds=60, heard=lambda rank, told: heard.append((rank, told))
    )
    assert found == [0, 10, 20]
    assert sorted(heard) == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_rank_that_dies_ends_all(how):
    with pytest.raises(RuntimeError, match=rf"rank 1 of 2 died \(signal {how.value}\), and the"):
        processes.together(die, 2, how, seconds=60)


def test_a_rank_that_fails_says_why_in_one_line():
    with pytest.raises(RuntimeError, match=r"^rank 1 of 2: too little$"):
        processes.together(fail, 2, seconds=60)


def test_a_rank_that_hangs_is_ended_even_if_it_will_not(monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 0.5)
    with pytest.raises(TimeoutError, match="rank 0, 1 of 2 was not done within 3 s, and all were"):
        processes.together(hang, 2, seconds=3)


def test_ranks_end_when_their_caller_is_killed():
    code = (
        "import os, sys, time\n"
        "from kernels.distributed import processes\n"
        "from tests.distributed.orphans import wait\n"
        "if __name__ == '__main__':\n"
        "    processes.together(wait, 2, seconds=600,\n"
        "                       heard=lambda rank, pid: print(pid, flush=True))\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    ranks = [int(caller.stdout.readline()) for _ in range(2)]
    caller.kill()
    caller.wait()
    end = time.monotonic() + 30
    while any(alive(pid) for pid in ranks):
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(pid):
    """Whether a process runs: one that nobody has waited for yet does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_second_run_is_told_who_has_the_gpus(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "lock_file", lambda: tmp_path / "lock")
    with lock.alone():
        with lock.alone():  # what this process calls may use them
            pass
        code = (
            "from kernels.distributed import lock\n"
            f"lock.lock_file = lambda: {str(tmp_path / 'lock')!r}\n"
            "with lock.alone(): pass\n"
        )
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert f"another run uses the GPUs (process {os.getpid()}): wait" in second.stderr
    third = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert third.returncode == 0


@pytest.mark.parametrize(
    ("name", "grid", "pieces", "dtype"),
    [
        ("rows", Grid(3), 2, "float32"),
        ("ring", Grid(2), 1, "bfloat16"),
        ("summa", Grid(2, 2), 1, "float32"),
        ("split_k", Grid(2), 1, "float16"),
    ],
)
def test_ranks_in_processes_give_the_product(tmp_path, name, grid, pieces, dtype):
    A, B = oracle.inputs(37, 41, 53, dtype=dtype)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "B.npy", B)
    job = Job(name, grid, str(tmp_path), pieces, repeats=2)
    (found,) = carry_out([job], "mailbox", 60)
    oracle.check(product(job), A, B)
    assert sum(rank.sent for rank in found) == sum(rank.received for rank in found)
    assert all(len(rank.seconds) == 2 for rank in found)


def test_a_rank_that_cannot_says_so(tmp_path):
    A, B = oracle.inputs(1, 8, 8)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "B.npy", B)
    with pytest.raises(RuntimeError, match="of 2: M = 1 is too small for 2 parts"):
        carry_out([Job("rows", Grid(2), str(tmp_path))], "mailbox", 60)

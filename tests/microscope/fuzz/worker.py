"""Runs programs one after another in a process of its own, and says what came of each.

``python -m tests.microscope.fuzz.worker --judge gpu SEED…`` prints ``@begin SEED`` and then
``@end`` with one line of JSON. `hire` keeps several such processes busy, and replaces those that a
kernel brings down or keeps from ending.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from tests.microscope.fuzz import judges, ptx
from tests.microscope.fuzz.programs import Program, generate

REPOSITORY = Path(__file__).resolve().parents[3]
SCHEDULES = ("lockstep", "warps", "warps-reversed")
INPUTS = 3  #: sets of arguments that a program runs with
SHARE = 64  #: programs a process at most, which takes seconds to start
#: Seconds without a word after which a process is taken to hang; Python's executor of PTX is slow.
SILENCE = {"gpu": 60, "ptx": 600}
#: Reported by the microscope though the GPU does what Numba says: no reason for a difference.
HARMLESS = {"negative index"}
#: Refused by the interpreter on purpose: Numba cuts a float off where an integer belongs.
STRICTER = ("range() takes integers", "an index must be an integer")
#: Numba's compiler falls over its own code.
CRASHES = ("AssertionError", "nvvmError")


# ------------------------------------------------------------------------------- in the process
def examine(seed: int, judge: str) -> dict:
    """One program on both engines: a row with its class, and the details of a difference."""
    program = generate(seed)
    row = {"seed": seed, "sloppy": program.sloppy}
    try:
        mine = [judges.interpreted(program, k, SCHEDULES[k]) for k in range(INPUTS)]
    except Exception as error:
        return row | {"class": "interpreter fails", "what": f"{type(error).__name__}: {error}"}
    runner = judges.JUDGES[judge](program)
    refused = mine[0].refused
    if runner.refused or refused:
        both = "both refuse" if runner.refused and refused else ""
        row["class"] = both or ("interpreter refuses" if refused else "compiler refuses")
        if any(words in refused for words in STRICTER) and not both:
            row["class"] = "interpreter is stricter"
        elif runner.refused.startswith(CRASHES) and not both:
            row["class"] = "compiler crashes"
        row["what"] = {"interpreter": refused, "compiler": runner.refused}
        return row
    reported = sorted({k for v in mine for k in v.problems} - HARMLESS)
    names = [n for n in program.arguments if not n.startswith(("scalar", "pair"))]
    row["problems"] = reported
    if any(v.refused for v in mine):
        row["problems"].append(next(v.refused for v in mine if v.refused))
    differences = []
    for k, verdict in enumerate(mine):
        if verdict.refused:
            continue
        theirs = runner.run(k)
        found = judges.first_difference(names, verdict.outputs, theirs)
        if found:
            aside = runner.aside(k, theirs, names)
            cause = "assembler" if found == aside else "undefined" * verdict.undefined
            differences.append({"inputs": k, "first": found, "cause": cause})
    if differences:
        row["differences"] = differences
    if row["problems"]:
        row["class"] = "reported" if program.sloppy else "sound but reported"
    elif not differences:
        row["class"] = "same"
    else:
        causes = {d["cause"] for d in differences}
        row["class"] = "differs" if "" in causes else f"differs, {max(causes)}"
    return row


def work(seeds: Iterable[int], judge: str) -> None:
    """Examine programs until the judge itself breaks down."""
    for seed in seeds:
        print(f"@begin {seed}", flush=True)
        try:
            row = examine(seed, judge)
        except (ptx.Unknown, ptx.Endless) as error:
            row = {"seed": seed, "class": "unjudged", "what": f"{type(error).__name__}: {error}"}
        except Exception as error:
            row = {"seed": seed, "class": "judge fails", "what": f"{type(error).__name__}: {error}"}
            row["what"] = row["what"][:300]
            print(f"@end {json.dumps(row)}", flush=True)
            if judge == "gpu":
                return
            continue
        print(f"@end {json.dumps(row)}", flush=True)


# ------------------------------------------------------------------------------- outside
def hire(seeds: Iterable[int], judge: str, processes: int, deadline: float) -> Iterator[dict]:
    """Rows of all programs, as they come from several processes; none begins past the deadline."""
    seeds = list(seeds)
    size = max(1, min(SHARE, -(-len(seeds) // (2 * processes))))
    shares = [seeds[k : k + size] for k in range(0, len(seeds), size)]
    with ThreadPoolExecutor(processes) as pool:
        done = [pool.submit(lambda s: list(supervise(s, judge, deadline)), s) for s in shares]
        for rows in as_completed(done):
            yield from rows.result()


def supervise(share: list[int], judge: str, deadline: float) -> Iterator[dict]:
    """Rows of a share of programs; one that ends its process, or hangs, gets a row that says so."""
    left = list(share)
    while left and time.monotonic() < deadline:
        begun, line, before = None, "", len(left)
        for line in listen([*map(str, left)], judge, deadline):
            if line.startswith("@begin "):
                begun = int(line.split()[1])
            elif line.startswith("@end "):
                row = json.loads(line[5:])
                left.remove(row["seed"])
                begun = None
                yield row
            elif line.startswith("@hangs") and begun is not None:
                left.remove(begun)
                yield {"seed": begun, "class": "hangs", "sloppy": generate(begun).sloppy}
                begun = None
        if begun is not None:
            left.remove(begun)
            yield {"seed": begun, "class": "crashes", "sloppy": generate(begun).sloppy}
        elif len(left) == before:
            raise RuntimeError(f"no worker starts: {line}")


def listen(seeds: list[str], judge: str, deadline: float) -> Iterator[str]:
    """The lines that a worker prints, and ``@hangs`` if it falls silent for too long.

    The worker ends with the program that it is at when the deadline passes.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.microscope.fuzz.worker", "--judge", judge, *seeds],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"KERNELS_BACKEND": "cpu"},
    )
    heard = b""
    try:
        while True:
            ready, _, _ = select.select([process.stdout], [], [], SILENCE[judge])
            if not ready:
                yield "@hangs"
                return
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                return
            *lines, heard = (heard + piece).split(b"\n")
            for line in lines:
                yield line.decode(errors="replace")
                if line.startswith(b"@end") and time.monotonic() > deadline:
                    return
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def detailed(row: dict) -> dict:
    """A row with the program itself."""
    program: Program = generate(row["seed"])
    return row | {
        "grid": program.grid,
        "block": program.block,
        "arguments": program.arguments,
        "source": program.source,
    }


def values_text(a: np.ndarray) -> list:
    """Numbers as JSON takes them."""
    return [repr(v) for v in a.ravel()[:64]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", choices=tuple(judges.JUDGES), required=True)
    parser.add_argument("seeds", type=int, nargs="+")
    given = parser.parse_args()
    work(given.seeds, given.judge)

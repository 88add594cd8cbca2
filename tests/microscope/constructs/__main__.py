"""``python -m tests.microscope.constructs``: write ``chapters/interpreter.md``.

``--gpu FILE`` launches every row on a GPU instead, beside the interpreter, and writes down which
rows have another verdict there, or other values.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.microscope.constructs import page, rows, verdicts


def on_gpu(out: Path, processes: int, seconds: float) -> None:
    """Launch every row; write what differs, and print how many rows have which verdict.

    Rows that have not ended after so many seconds are taken to hang.
    """
    everything = rows.everything()
    context = multiprocessing.get_context("spawn")
    found = {}
    pool = ProcessPoolExecutor(processes, mp_context=context)
    waiting = {pool.submit(verdicts.beside_gpu, one): k for k, one in enumerate(everything)}
    try:
        for done in as_completed(waiting, timeout=seconds):
            found[waiting[done]] = done.result() if not done.exception() else (
                "process ends", repr(done.exception())[:200]
            )  # fmt: skip
    except TimeoutError:
        pass
    for process in pool._processes.values():
        process.kill()
    told = [
        {"row": f"{one.section}: {one.construct}", "verdict": word, "what": what}
        for k, one in enumerate(everything)
        for word, what in [found.get(k, ("hangs", ""))]
        if word not in ("same", "host agrees") and (word, bool(what)) != ("refused by both", True)
    ]
    counts = Counter(word for word, _ in found.values())
    counts["hangs"] = len(everything) - len(found)
    out.write_text(json.dumps({"counts": counts, "rows": told}, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(counts))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", type=Path, metavar="FILE")
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--seconds", type=float, default=130, help="of the launches on a GPU")
    given = parser.parse_args()
    if given.gpu:
        on_gpu(given.gpu, given.processes, given.seconds)
        return
    page.PAGE.write_text(page.text(), encoding="utf-8")
    print(f"wrote {page.PAGE.name}: {page.summary()}")


if __name__ == "__main__":
    main()

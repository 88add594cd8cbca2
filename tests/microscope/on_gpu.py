"""What a GPU gave: constructs and found kernels launched once, for machines without one.

``python -m tests.microscope.on_gpu`` launches them on this machine's GPU and writes the arrays that
each launch changed.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

RECORD = Path(__file__).with_suffix(".npz")


@cache
def _record() -> dict[str, np.ndarray]:
    with np.load(RECORD) as kept:
        return dict(kept)


def holds(name: str) -> bool:
    """Whether a launch of this name is recorded."""
    return f"{name}#" in _record()


def outputs(name: str, before: list[np.ndarray]) -> list[np.ndarray]:
    """All arrays after the launch, from those before it."""
    kept = _record()
    return [
        kept[f"{name}#{k}"].view(a.dtype).reshape(a.shape) if f"{name}#{k}" in kept else a
        for k, a in enumerate(before)
    ]


def written(name: str, before: list[np.ndarray], after: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The entries of the record for one launch: its name, and the bytes of what it changed."""
    pairs = enumerate(zip(before, after, strict=True))
    changed = {
        f"{name}#{k}": np.ascontiguousarray(b).reshape(-1).view(np.uint8)
        for k, (a, b) in pairs
        if a.tobytes() != b.tobytes()
    }
    return {f"{name}#": np.zeros(0, np.uint8)} | changed


def arrays(arguments: list) -> list[np.ndarray]:
    """The arrays among some arguments."""
    return [a for a in arguments if isinstance(a, np.ndarray)]


def launched(job: tuple[str, int]) -> dict[str, np.ndarray]:
    """The entries of one launch on the GPU: of a found kernel by name, or of a row by number."""
    from tests.microscope import test_found
    from tests.microscope.constructs import rows, verdicts

    name, number = job
    if name:
        before = arrays(test_found.arguments(number))
        return written(f"{name}/{number}", before, test_found.launched(name, number))
    row = rows.everything()[number]
    if row.on_host or verdicts.here(row).refused:
        return {}
    found = verdicts.on_gpu(row)
    if found.refused:
        raise RuntimeError(f"{row.construct}: {found.refused}")
    return written(verdicts.name(row), arrays(verdicts.arguments()), found.outputs)


def main() -> None:
    """Launch everything on the GPU."""
    from tests.microscope import test_found
    from tests.microscope.constructs import rows

    jobs = [(name, k) for name in test_found.VALUES for k in range(test_found.INPUTS)]
    jobs += [("", k) for k in range(len(rows.everything()))]
    kept: dict[str, np.ndarray] = {}
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for entries in pool.map(launched, jobs):
            kept |= entries
    np.savez_compressed(RECORD, **kept)
    print(f"{sum(key.endswith('#') for key in kept)} launches, {RECORD.stat().st_size} bytes")


if __name__ == "__main__":
    main()

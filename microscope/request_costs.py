"""What one memory instruction of a warp costs: sectors, lines, wavefronts.

Global memory moves 32-byte sectors, four to a 128-byte line. Shared memory has 32 banks of four
bytes; a pass over the banks (a wavefront) serves any number of lanes that want the same word, but
only one word of each bank. Elements of 8 bytes are served by half warps, of 16 bytes by quarters,
and by halves where the lanes access the same element in pairs.
Checked against the hardware's counters (Nsight Compute).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .sites import BANK_BYTES, BANKS, LINE, SECTOR


class Cost(NamedTuple):
    """Sums over the warps of one access, and how many requests needed how many passes."""

    requests: int
    sectors: int
    lines: int
    wavefronts: int
    conflicts: int
    bytes_used: int
    histogram: tuple[tuple[int, int], ...]


def ordered(items: np.ndarray, active: np.ndarray | None) -> np.ndarray:
    """Each row ascending, inactive lanes as -1 in front; not a copy where nothing is to do."""
    if active is not None:
        items = np.where(active, items, -1)
    if (items[:, 1:] >= items[:, :-1]).all():
        return items
    return np.sort(items, axis=1)


def firsts(rows: np.ndarray) -> np.ndarray:
    """Mark the first of each run of equal items in ascending rows; -1 does not count."""
    mark = np.empty(rows.shape, bool)
    mark[:, 0] = rows[:, 0] >= 0
    np.not_equal(rows[:, 1:], rows[:, :-1], out=mark[:, 1:])
    return mark


def global_cost(addresses: np.ndarray, active: np.ndarray | None, itemsize: int) -> Cost:
    """Count a global access.

    Parameters
    ----------
    addresses : ndarray of int64, shape (warps, 32)
        Byte addresses, not negative.
    active : ndarray of bool, shape (warps, 32), or None if all lanes are
    itemsize : int
    """
    rows = ordered(addresses, active)
    live = rows[:, -1] >= 0
    used = int(np.count_nonzero(firsts(rows))) * itemsize
    # Aligned elements never straddle a sector; unaligned ones (a record's field) may.
    ends = rows if not (addresses % itemsize).any() else None
    if ends is None:
        tail = np.where(rows >= 0, rows + itemsize - 1, -1)
        rows = np.sort(np.concatenate([rows, tail], axis=1), axis=1)
    negative = rows < 0
    per_row = []
    for size in (SECTOR, LINE):
        units = np.where(negative, -1, rows // size)
        per_row.append(firsts(units).sum(axis=1))
    sectors, lines = per_row
    return Cost(
        int(np.count_nonzero(live)),
        int(sectors.sum()),
        int(lines.sum()),
        0,
        0,
        used,
        _histogram(sectors[live]),
    )


def shared_cost(addresses: np.ndarray, active: np.ndarray | None, itemsize: int) -> Cost:
    """Count a shared access; parameters as `global_cost`."""
    on = np.ones(addresses.shape, bool) if active is None else active
    rows = ordered(addresses, active)
    live = rows[:, -1] >= 0
    used = int(np.count_nonzero(firsts(rows))) * itemsize
    parts = max(1, itemsize // BANK_BYTES)
    wavefronts, least = _wavefronts(addresses, on, parts, parts)
    if parts == 4:
        paired = _paired(addresses, on)
        merged = _wavefronts(addresses[paired], on[paired], parts, parts // 2)
        wavefronts[paired], least[paired] = merged
    return Cost(
        int(np.count_nonzero(live)),
        0,
        0,
        int(wavefronts.sum()),
        int((wavefronts - least).sum()),
        used,
        _histogram(wavefronts[live]),
    )


def _wavefronts(addresses: np.ndarray, on: np.ndarray, words: int, groups: int) -> tuple:
    """Passes that each warp needs, and the fewest for its active lanes.

    Parameters
    ----------
    addresses, on : ndarray, shape (warps, 32)
    words : int
        Of four bytes, that each lane asks for.
    groups : int
        In which the lanes of a warp are served, one after the other.
    """
    warps, lanes = addresses.shape
    each = lanes // groups
    asked = (addresses // BANK_BYTES).reshape(warps * groups, each)
    on = on.reshape(warps * groups, each)
    asked = (asked[:, :, None] + np.arange(words)).reshape(warps * groups, each * words)
    asked = ordered(asked, None if on.all() else np.repeat(on, words, axis=1))
    row, column = np.nonzero(firsts(asked))
    bank = asked[row, column] % BANKS
    passes = np.bincount((row * BANKS + bank).astype(np.intp), minlength=len(asked) * BANKS)
    wavefronts = passes.reshape(-1, BANKS).max(axis=1).reshape(warps, groups).sum(axis=1)
    return wavefronts, on.any(axis=1).reshape(warps, groups).sum(axis=1)


def _paired(addresses: np.ndarray, on: np.ndarray) -> np.ndarray:
    """Warps whose lanes access one element in pairs: neighbours, or each with the next but one.

    Of elements of 16 bytes they are served in halves, as those of 8 bytes are.
    """
    lane, paired = np.arange(addresses.shape[1]), np.zeros(len(addresses), bool)
    for distance in (1, 2):
        other = lane ^ distance
        same = (addresses == addresses[:, other]) | ~on | ~on[:, other]
        paired |= same.all(axis=1)
    return paired


def _histogram(passes: np.ndarray) -> tuple[tuple[int, int], ...]:
    counts = np.bincount(passes.astype(np.intp))
    return tuple((int(k), int(counts[k])) for k in np.nonzero(counts)[0])

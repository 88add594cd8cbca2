"""A warp's request to shared memory, lane by lane."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from chapters.ch05b_banks.widgets.banks import words
from kernels.lab.widgets.stills import StillTable
from microscope import BANKS, shared_cost


def still(state: dict[str, Any]) -> Iterable[StillTable]:
    wanted = words(**{name: state[name] for name in ("access", "side", "pad", "swizzle", "stride")})
    cost = shared_cost(4 * np.array([wanted]), None, 4)
    queues: dict[int, list[int]] = {}
    for word in wanted:
        queue = queues.setdefault(word % BANKS, [])
        if word not in queue:
            queue.append(word)
    yield StillTable(
        f"A warp's request to shared memory: {cost.wavefronts} wavefronts.",
        ("lane", "word", "bank", "wavefront"),
        [
            (str(lane), word, word % BANKS, queues[word % BANKS].index(word) + 1)
            for lane, word in enumerate(wanted)
        ],
    )

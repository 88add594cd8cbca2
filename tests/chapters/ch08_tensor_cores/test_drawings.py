"""Pictures of tensor cores: what they draw follows from what they are given."""

from itertools import pairwise

import numpy as np
import pytest

from chapters.ch08_tensor_cores import drawings
from chapters.ch08_tensor_cores.drawings.circular_buffer import schedule
from chapters.ch08_tensor_cores.drawings.phases import states
from chapters.ch08_tensor_cores.drawings.stream_k import SHARES, WAYS
from kernels.lab.plots.fragments import PLACES, holder


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in ax.texts]


def test_every_lane_holds_as_many_elements_as_every_other():
    for name, (rows, columns, _) in PLACES.items():
        lanes = [holder(name, row, col) for row in range(rows) for col in range(columns)]
        assert np.bincount(lanes).tolist() == [rows * columns // 32] * 32


@pytest.mark.parametrize("stages, flight, work", [(1, 3, 2), (2, 3, 2), (3, 3, 2), (4, 7, 1)])
def test_a_buffer_keeps_its_order(stages, flight, work):
    steps = schedule(stages, flight, work, 40)
    for number, step in enumerate(steps):
        assert step.arrived - step.requested == flight
        assert step.done - step.begun == work
        assert step.begun >= step.arrived
        if number >= stages:
            assert step.requested == steps[number - stages].done, "a stage holds one pair at a time"
    assert all(after.begun >= before.done for before, after in pairwise(steps))
    pauses = [after.begun - before.done for before, after in pairwise(steps)]
    assert max(pauses) == max(0, flight + work - stages * work)


def test_shares_are_equal_and_cover_every_tile():
    for way in WAYS.values():
        steps = [0] * 5
        for tile, count in (piece for pieces in way for piece in pieces):
            steps[tile] += count
        assert steps == [6] * 5
    assert {sum(count for _, count in pieces) for pieces in SHARES} == {10}
    assert [text for text in texts(drawings.stream_k()) if text.isdigit()].count("3") == 12


def test_a_phase_ends_when_no_arrival_and_no_byte_is_missing():
    spans = states()
    assert [span.phase for span in spans] == [0, 0, 0, 1, 1, 1, 2]
    assert [(span.arrivals, span.bytes) for span in spans[:4]] == [
        (1, 0), (0, 1024), (0, 512), (1, 0),
    ]  # fmt: skip
    # Bytes that come before they are announced hold the phase as well.
    early = states([(1, 0, -16), (2, 1, 16)])
    assert [(span.phase, span.bytes) for span in early] == [(0, 0), (0, -16), (1, 0)]
    two = states([(1, 1, 0), (2, 1, 0)], count=2)
    assert [(span.phase, span.arrivals) for span in two] == [(0, 2), (0, 1), (1, 2)]


def test_a_wait_holds_in_the_phase_of_its_parity_alone():
    ax = drawings.phases().axes[0]
    by_row = {row: [text.get_text() for text in ax.texts if text.get_position()[1] == row]
              for row in (0, 3, 4)}  # fmt: skip
    assert by_row[0] == ["phase 0, parity 0", "phase 1, parity 1", "phase 2, parity 0"]
    assert by_row[3] == ["waits", "goes on", "waits"]
    assert by_row[4] == ["goes on", "waits", "goes on"]

"""Pictures of tensor cores: what they draw follows from what they are given."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.text import Annotation

from chapters.ch08_tensor_cores import drawings
from chapters.ch08_tensor_cores.drawings.circular_buffer import schedule
from chapters.ch08_tensor_cores.drawings.copy_paths import PATHS
from chapters.ch08_tensor_cores.drawings.phases import states
from chapters.ch08_tensor_cores.drawings.significand import SIZES
from chapters.ch08_tensor_cores.drawings.stream_k import SHARES, WAYS
from kernels.lab import plots
from kernels.lab.plots.fragments import PLACES, holder


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in ax.texts]


def test_every_lane_holds_as_many_elements_as_every_other():
    for name, (rows, columns, _) in PLACES.items():
        lanes = [holder(name, row, col) for row in range(rows) for col in range(columns)]
        assert np.bincount(lanes).tolist() == [rows * columns // 32] * 32


@pytest.mark.parametrize("lane", [0, 21, 31])
def test_a_lane_s_eight_pairs_are_marked(lane):
    fig = plots.fragments(lane)
    assert texts(fig).count(str(lane)) == (8 + 4 + 4) / 2
    frames = [patch for patch in fig.axes[0].patches if patch.get_linewidth() == 2.2]
    assert [frame.get_width() * frame.get_height() for frame in frames] == [2] * 8


def test_one_product_has_the_sizes_of_its_fragments():
    told = [f"{rows} × {columns}" for rows, columns, _ in PLACES.values()]
    assert [text for text in texts(plots.one_product()) if "×" in text] == [told[2], *told[:2]]


def test_a_lane_that_no_warp_has_is_refused():
    with pytest.raises(ValueError, match="lane 32: a warp has the lanes 0 to 31"):
        plots.fragments(32)


def test_formats_align_where_the_fraction_begins():
    fig = drawings.bit_formats({"wide": (8, 23), "short": (5, 10)})
    boxes = [patch for patch in fig.axes[0].patches if patch.get_facecolor()[3] > 0]
    spans = [(patch.get_x(), patch.get_width()) for patch in boxes]
    assert spans == [(0, 1), (1, 8), (9, 23), (3, 1), (4, 5), (9, 10)]
    assert {"wide", "short", "8", "23", "5", "10"} <= set(texts(fig))


@pytest.mark.parametrize("paths", [list(PATHS), ["cp.async"]])
def test_a_path_has_an_arrow_for_each_move(paths):
    fig = drawings.copy_paths(paths)
    arrows = [text for text in fig.axes[0].texts if isinstance(text, Annotation)]
    assert len(arrows) == sum(len(PATHS[name][0]) - 1 for name in paths)


def test_what_exceeds_the_limit_looks_different():
    fig = drawings.demand({"more": 130, "just": 128, "less": 80}, limit=128)
    more, just, less = fig.axes[0].patches
    assert [bar.get_width() for bar in (more, just, less)] == [130, 128, 80]
    assert more.get_hatch() != just.get_hatch() == less.get_hatch()


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


def test_a_buffer_has_a_strip_per_stage_and_one_of_the_tensor_cores():
    fig = drawings.circular_buffer((1, 3))
    names = [[label.get_text() for label in ax.get_yticklabels()] for ax in fig.axes]
    assert names == [
        ["stage 0", "tensor cores"], ["stage 0", "stage 1", "stage 2", "tensor cores"],
    ]  # fmt: skip


def test_both_blocks_receive_both_halves():
    found = texts(drawings.multicast())
    assert found.count("half 0") == found.count("half 1") == 3  # in L2 and in two blocks
    assert found.count("A") == 2


def test_shares_are_equal_and_cover_every_tile():
    for way in WAYS.values():
        steps = [0] * 5
        for tile, count in (piece for pieces in way for piece in pieces):
            steps[tile] += count
        assert steps == [6] * 5
    assert {sum(count for _, count in pieces) for pieces in SHARES} == {10}
    assert [text for text in texts(drawings.stream_k()) if text.isdigit()].count("3") == 12


def test_pieces_hold_the_bits_and_the_largest_products_have_frames():
    fig = drawings.significand(np.pi)
    found = texts(fig)
    bits = "".join(text for text in found if text in ("0", "1"))
    assert int(bits[:24], 2) / 2**22 == np.float32(np.pi)
    assert [found.count(size) for size in SIZES[1:]] == [2, 3, 2, 1]
    frames = [patch for patch in fig.axes[0].patches if patch.get_linewidth() == 2.2]
    assert len(frames) == 6


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

"""Pictures of attention: what is drawn follows from the arguments."""

import pytest

from chapters.ch13_attention import drawings
from kernels.primitives.attention import KEYS, QUERIES, loads


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts if text.get_text()]


def test_the_tiles_under_a_mask_are_those_that_the_kernel_loads():
    told = texts(drawings.causal_tiles(256, QUERIES, KEYS))
    counts = dict(text.split(": ") for text in told if ": " in text)
    used = int(counts["whole"]) + int(counts["diagonal"])
    assert used * KEYS == loads(1, 256, 1, causal=True)["K"]
    assert used + int(counts["skipped"]) == (256 // QUERIES) * (256 // KEYS)
    assert int(counts["diagonal"]) == 256 // QUERIES


def test_each_step_of_a_running_softmax_is_a_line():
    steps = [
        {"end": 2, "largest": 3, "rescale": 0.0, "total": 1.25},
        {"end": 4, "largest": 5, "rescale": 0.135, "total": 1.5},
    ]
    told = texts(drawings.running_softmax((1, 3, 5, 2), steps))
    assert told[:3] == ["largest", "rescale", "total"]
    assert told[3:8] == ["1", "3", "3", "0", "1.25"]
    assert told[8:15] == ["1", "3", "5", "2", "5", "0.135", "1.5"]


def test_only_the_tile_in_use_of_the_scores_is_drawn():
    fig = drawings.attention_tiles((2, 1), (5, 1), 8)
    assert "only this tile exists" in " ".join(texts(fig))
    assert {"Q", "Kᵀ", "V", "out"} <= set(texts(fig))


def test_traffic_is_a_bar_for_each_way_as_long_as_its_bytes():
    ways = {"apart": {"Q": 1_000_000, "S": 3_000_000}, "fused": {"Q": 500_000}}
    bars = drawings.attention_traffic(ways).axes[0].patches
    ends = {}
    for bar in bars:
        y = round(bar.get_y() + bar.get_height() / 2)
        ends[y] = max(ends.get(y, 0), bar.get_x() + bar.get_width())
    assert ends == pytest.approx({0: 4.0, 1: 0.5})


def test_speeds_stand_beside_their_kernel_and_an_empty_record_says_so():
    row = {"kernel": "CUDA C++", "engine": "cpp", "flops": 3e14}
    told = texts(drawings.attention_speeds([row | {"causal": False}, row | {"causal": True}]))
    assert told == ["300", "300 causal"]
    assert texts(drawings.attention_speeds([])) == ["Nothing is recorded yet."]


def test_both_matrices_between_the_products_are_named():
    told = " ".join(texts(drawings.attention_matrices()))
    assert told.count("N × N") == 2

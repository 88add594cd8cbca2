"""Pictures of attention: what is drawn follows from the arguments."""

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

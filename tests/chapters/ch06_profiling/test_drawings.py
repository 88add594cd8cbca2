"""Pictures of what profilers and sanitizers report: what is drawn follows from the arguments."""

from chapters.ch06_profiling.drawings.hiding import issues


def test_a_warp_waits_for_its_own_last_result():
    assert issues(1, 1, 3, 7) == [0, None, None, 0, None, None, 0]
    assert issues(3, 1, 3, 6) == [0, 1, 2, 0, 1, 2]
    assert issues(1, 3, 3, 6) == [0] * 6, "three instructions that need nothing of each other"

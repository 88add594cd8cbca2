"""What holds of every widget: it fits and says nothing, redraws little, and prints its numbers."""

import pytest

from kernels.lab import widgets
from tests.lab.widgets import keys
from tests.lab.widgets.redraws import MOST, redraw_share

#: Those whose own tests say it, because they have no table or fold more away.
OWN = ("Calculator", "Micro", "Quiz", "Roofline", "TilePlayer")
TESTS = {kind: keys.tests_of(kind) for kind in widgets.__all__ if kind not in OWN}


@pytest.mark.parametrize(("width", "mode"), keys.PROFILES)
@pytest.mark.parametrize("kind", TESTS)
def test_it_is_silent_and_fits(mounted, kind, width, mode):
    shown = mounted(TESTS[kind].WIDEST, width=width, mode=mode)
    assert (shown.errors, shown.foreign) == ([], [])
    assert shown.overflow <= 0


@pytest.mark.parametrize(
    ("widget", "slider", "values"),
    [redraw for tests in TESTS.values() for redraw in tests.REDRAWS],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_redraw_costs_little_more_than_the_picture_itself(mounted, widget, slider, values):
    assert redraw_share(mounted(widget), slider, values) <= MOST


@pytest.mark.parametrize("kind", TESTS)
def test_the_numbers_are_printed_and_the_controls_are_not(mounted, kind):
    page = mounted(TESTS[kind].STILLS[0]).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details table").is_visible()
    assert not any(each.is_visible() for each in page.locator(".controls, .set-up").all())

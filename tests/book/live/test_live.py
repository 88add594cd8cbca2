"""With NumPy: kernels run in the page, widgets talk to its Python, pictures come when asked for."""

from __future__ import annotations

from tests.book.live.conftest import cell, run, shown, state, write

KERNEL = """import numpy as np
from kernels import cuda

@cuda.jit
def add(a):
    a[cuda.threadIdx.x] += 1

a = cuda.to_device(np.zeros(4, np.float32))
add[1, 4](a)
print(a.copy_to_host())"""
LAUNCH = "from kernels.lab.widgets import Launch\nshown = Launch()\nshown"
PICTURE = "fig, ax = plots.figure()\nplots.show(fig, alt='An empty chart')"


def test_a_kernel_runs_in_the_page(opened, small_live_book):
    page = opened(small_live_book, "page")
    write(page, 2, KERNEL)
    assert run(page, 2) == "[1. 1. 1. 1.]\n"


def test_a_widget_tells_python_what_the_reader_does(opened, small_live_book):
    page = opened(small_live_book, "page")
    write(page, 3, LAUNCH)
    run(page, 3)
    assert state(page).startswith("Ready")
    widget = cell(page, 3).locator(".run-output .widget")
    write(page, 4, "print(shown.state())")
    before = run(page, 4)
    widget.locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert run(page, 4) != before
    assert before and shown(page, 4)


def test_matplotlib_comes_with_the_first_picture(opened, small_live_book):
    page = opened(small_live_book, "page")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    write(page, 2, "from kernels.lab import plots\nprint('no picture yet')")
    assert run(page, 2) == "no picture yet\n"
    assert not [url for url in asked if "matplotlib" in url]
    write(page, 2, f"from kernels.lab import plots\n{PICTURE}")
    run(page, 2)
    assert [url for url in asked if "matplotlib" in url]
    assert cell(page, 2).locator("figure.drawn svg").get_attribute("aria-label") == "An empty chart"


def test_nothing_comes_from_another_host(opened, small_live_book):
    page = opened(small_live_book, "page")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    write(page, 2, KERNEL)
    run(page, 2)
    home = page.url.rpartition("/")[0]
    assert asked and not [url for url in asked if not url.startswith((home, "blob:", "data:"))]

"""What a live page says when its kernel ends in mid-run."""

from __future__ import annotations

from tests.site.test_browser import open_live, run_cell


def test_a_kernel_that_dies_in_mid_run_is_noticed(browser, served):
    page, _ = open_live(browser, served.page, "ready")
    run_cell(page, 1, "import os, time\ntime.sleep(0.5)\nos._exit(1)")
    page.wait_for_selector('.live-bar[data-state="running"]')
    page.wait_for_selector('.live-bar[data-state="failed"]', timeout=30_000)
    page.wait_for_timeout(1000)  # by then the server has started another kernel
    assert "The kernel died. Reload the page" in page.inner_text(".live-state")
    assert page.inner_text(".live-start") == "Try again"
    page.context.close()

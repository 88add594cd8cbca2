"""What a live page says when its kernel ends in mid-run."""

from __future__ import annotations

from tests.book.test_browser import open_live, run_cell

#: Whether the server has started another kernel in the place of the one that was busy.
STARTED = """async ([address, token]) => {
    const answer = await fetch(address, { headers: { Authorization: `token ${token}` } });
    return (await answer.json())[0].execution_state === "idle";
}"""


#: A cell that runs until a file is there, and ends its kernel then.
CELL = """import os, time
while not os.path.exists({path!r}):
    time.sleep(0.01)
os._exit(1)"""


def test_a_kernel_that_dies_in_mid_run_is_noticed(browser, served, tmp_path):
    page, _ = open_live(browser, served.page, "ready")
    run_cell(page, 1, CELL.format(path=str(tmp_path / "end")))
    page.wait_for_selector('.live-bar[data-state="running"]')
    (tmp_path / "end").touch()
    page.wait_for_selector('.live-bar[data-state="failed"]')
    page.wait_for_function(STARTED, arg=[f"{served.base}api/kernels", served.token])
    assert "The kernel died. Reload the page" in page.inner_text(".live-state")
    assert page.get_by_role("button", name="Try again").is_visible()
    page.context.close()

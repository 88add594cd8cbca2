"""Cells that run, in the page's own Python and in a server's kernel; what servers alone can do."""

from __future__ import annotations

import json
import re
import signal
import urllib.request

import pytest

from tests.book.live.conftest import after, cell, reset_page, run, shown, state, text, write
from tests.book.test_browser import Listener
from tests.conftest import PATIENCE

#: A cell that runs until a file is there, and ends its kernel then.
UNTIL = """import os, time
while not os.path.exists({path!r}):
    time.sleep(0.01)
os._exit(1)"""
MIMES = """from IPython.display import HTML, Markdown, clear_output, display
display(Markdown("| a | b |\\n|---|---|\\n| 1 | 2 |"))
print("\\033[31mred\\033[0m")
display(HTML("<b id=bold>bold</b>"))"""
PICTURE = (
    '<figure class="drawn"><svg><pattern id="{0}-0"/><rect fill="url(#{0}-0)"/></svg>'
    "<figcaption>{1}</figcaption></figure>"
)
DRAW = "from IPython.display import HTML\nHTML({!r})"


@pytest.fixture
def live(browser, served):
    """The page of cells, as `make serve` shows it."""
    page = browser.new_context(color_scheme="dark").new_page()
    page.listener = Listener(page)
    page.goto(served.page)
    yield page
    assert page.listener.foreign == []
    page.context.close()


@pytest.fixture(params=["page", "server"])
def running(request):
    """The page of cells, with each of the two that can run it."""
    if request.param == "server":
        return request.getfixturevalue("live")
    page = request.getfixturevalue("opened")(
        request.getfixturevalue("bare_book"), "page", color_scheme="dark"
    )
    page.listener = Listener(page)
    return page


def kernels(served) -> list[dict]:
    """What the server's kernels are doing."""
    address = urllib.request.Request(
        f"{served.base}api/kernels", headers={"Authorization": f"token {served.token}"}
    )
    return json.load(urllib.request.urlopen(address, timeout=120))


def wait_for_kernels(page, served, count: int) -> None:
    """Wait until the server has so many kernels, as long as a page waits for anything."""
    for _ in range(PATIENCE // 100):
        if len(kernels(served)) == count:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{kernels(served)} are not {count}")


def test_a_cell_runs_with_those_that_give_it_its_names(running):
    assert run(running, 2) == "48 elements\n"
    assert not cell(running, 2).locator(".cell_output:not(.run-output)").is_visible()
    assert state(running).startswith("Ready, after")
    colour = "(selector) => getComputedStyle(document.querySelector(selector)).color"
    colours = [running.evaluate(colour, each) for each in (".run-output pre", ".bd-article p")]
    assert colours[0] == colours[1]  # readable in the dark
    assert running.listener.errors == []


def test_the_token_leaves_the_address(live):
    assert "token" not in live.url


def test_the_first_page_takes_the_token(browser, served):
    page = browser.new_context().new_page()
    page.goto(f"{served.base}book/?token={served.token}")
    assert "token" not in page.url
    page.goto(f"{served.base}book/page.html")
    assert run(page, 2) == "48 elements\n"
    page.context.close()


def test_a_new_kernel_first_runs_the_cell_that_finds_the_course(live):
    write(live, 1, "# set-up\nprint('found')")
    write(live, 2, "1 + 1")
    assert run(live, 2).strip() == "2"
    assert shown(live, 1) == "found\n"
    write(live, 1, "# set-up\nprint('again')")
    run(live, 2)
    assert shown(live, 1) == "found\n", "it ran once"


def test_a_changed_cell_runs_as_it_is_then_and_reset_brings_it_back(running):
    write(running, 2, "tile = 8\nprint(scale * tile)")
    after(running, lambda: running.keyboard.press("Shift+Enter"))
    assert shown(running, 2) == "24\n"
    assert not running.locator("[data-stale]").count()
    cell(running, 2).locator("[data-do=reset]").click()
    assert cell(running, 2).locator(".cm-editor").count() == 0 and "tile = 16" in text(running, 2)
    assert cell(running, 2).get_attribute("data-stale") is not None, "24 is the other text's"
    assert run(running, 2) == "48 elements\n"
    assert not running.locator("[data-stale]").count()


def test_a_later_cell_runs_what_was_edited_before_it(running):
    assert run(running, 2) == "48 elements\n"
    write(running, 1, "scale = 5")
    assert cell(running, 1).locator(".cell-tools").inner_text().startswith("Edited, not run")
    write(running, 2, "print(scale)")
    assert run(running, 2) == "5\n"
    assert "It ran with a cell above" in state(running)
    assert not running.locator("[data-stale]").count()


def test_an_edited_cell_that_ran_says_what_is_out_of_date(running):
    run(running, 2)
    write(running, 1, "scale = 5")
    run(running, 1)
    assert "Ran before a cell above changed" in cell(running, 2).locator(".cell-tools").inner_text()
    assert run(running, 2) == "80 elements\n"
    assert not running.locator("[data-stale]").count()


def test_reset_ends_the_kernel(live, served):
    run(live, 2)
    reset_page(live)
    wait_for_kernels(live, served, 0)


def test_an_error_is_one_line_that_leads_to_its_own(running):
    write(running, 2, "def half(n):\n    return n / 0\n\nhalf(scale)")
    said = run(running, 2)
    assert said.startswith("ZeroDivisionError: division by zero")
    assert "A cell failed" in state(running)
    assert running.get_attribute(".run-bar", "data-state") == "wrong"
    cell(running, 2).locator(".run-error button").click()
    assert running.evaluate("getSelection().toString()") == "    return n / 0"
    assert cell(running, 2).locator(".run-line").inner_text() == "    return n / 0"
    write(running, 2, "scale = (")
    assert "SyntaxError" in run(running, 2)


def test_a_cell_whose_need_failed_says_so_and_leads_there(running):
    write(running, 1, "scale = 1 / 0")
    assert "did not run, because one that it needs failed" in run(running, 2)
    for link in (
        running.locator("[data-part=state] a"),
        cell(running, 2).locator(".run-note a"),
    ):
        running.evaluate("scrollTo(0, document.body.scrollHeight)")
        link.click()
        running.wait_for_function(
            "(() => { const { top, bottom } = document.querySelector('.run-error')"
            ".getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; })()"
        )


def test_every_form_of_an_output_is_shown(live):
    write(live, 2, MIMES)
    run(live, 2)
    output = cell(live, 2).locator(".run-output")
    assert output.locator("td").all_inner_texts() == ["1", "2"]
    assert output.locator("pre").inner_text() == "red\n"
    assert output.locator("#bold").inner_text() == "bold"
    write(live, 2, "print(1)\nclear_output(wait=True)\nprint(2)")
    assert run(live, 2) == "2\n"


def test_a_picture_that_the_page_has_looks_as_it_does_there(live):
    put = "(picture) => { document.querySelector('.cell_output').innerHTML = picture; }"
    live.evaluate(put, PICTURE.format("p01234567", "the page's"))
    picture = cell(live, 2).locator(".run-output figure")
    for name, said in (("p01234567", "the page's"), ("p89abcdef", "another")):
        write(live, 2, DRAW.format(PICTURE.format(name, "another")))
        run(live, 2)
        assert picture.inner_text() == said
        assert picture.locator("pattern").get_attribute("id") == f"live-{name}-0"
        assert picture.locator("rect").get_attribute("fill") == f"url(#live-{name}-0)"


def test_a_live_widget_is_that_of_the_kernel(live):
    live.evaluate("document.querySelectorAll('details.hide').forEach((d) => { d.open = true; })")
    run(live, 3)
    widget = cell(live, 3).locator(".run-output .launch")
    widget.locator(".formula", has_text="1 * 32 + 5 = 37").wait_for()
    widget.get_by_role("slider", name="Thread").fill("40")
    widget.locator(".formula", has_text="1 * 32 + 8 = 40").wait_for()
    write(live, 4, "shown = _\nprint('thread', shown.thread)\nshown.thread = 1")
    assert run(live, 4) == "thread 40\n"
    widget.locator(".formula", has_text="0 * 32 + 1 = 1").wait_for()
    assert live.listener.errors == []


def test_run_page_runs_all_of_it(live):
    live.click(".ways summary")
    after(live, lambda: live.click("[data-way=server]"))
    assert shown(live, 2) == "48 elements\n"
    assert cell(live, 3).locator(".run-output .launch").is_visible()
    assert "ZeroDivisionError" in shown(live, 4)


def test_a_run_is_stopped_and_keeps_its_names(live):
    run(live, 2)
    write(live, 4, "while True:\n    pass")
    cell(live, 4).locator("[data-do=run]").click()
    live.wait_for_selector('.run-bar[data-state="running"]')
    said = after(live, lambda: live.click("[data-part=stop]"))
    assert "still there" in said and "KeyboardInterrupt" in shown(live, 4)
    write(live, 4, "print(tile)")
    assert run(live, 4) == "16\n"


def test_a_kernel_that_dies_in_mid_run_is_noticed_and_another_starts(live, served, tmp_path):
    run(live, 2)
    write(live, 4, UNTIL.format(path=str(tmp_path / "end")))
    cell(live, 4).locator("[data-do=run]").click()
    live.wait_for_selector('.run-bar[data-state="running"]')
    (tmp_path / "end").touch()
    live.wait_for_selector('.run-bar[data-state="failed"]')
    assert "The kernel died. What the cells made is gone." in state(live)
    write(live, 4, "print(tile)")
    after(live, lambda: live.click("[data-part=above]"))
    assert shown(live, 4) == "16\n"
    wait_for_kernels(live, served, 1)  # not the one that the server started for the dead one


def test_a_page_that_is_left_leaves_no_kernel(live, served):
    run(live, 2)
    assert kernels(served)
    live.goto("about:blank")
    wait_for_kernels(live, served, 0)


def test_a_broken_connection_is_mended(live):
    live.add_init_script("""window.sockets = [];
        window.WebSocket = class extends WebSocket {
            constructor(...address) { super(...address); sockets.push(this); }
        };""")
    live.reload()
    run(live, 2)
    live.evaluate("sockets[0].close()")
    live.wait_for_function("sockets.length > 1 && sockets[1].readyState === 1")
    write(live, 4, "print(tile)")
    assert run(live, 4) == "16\n"


def test_a_wrong_token_says_what_to_do(browser, served):
    page = browser.new_context().new_page()
    page.goto(re.sub(r"token=.*", "token=wrong", served.page))
    run(page, 2)
    assert "Open the address that “make serve” printed" in state(page)
    page.context.close()


def test_a_page_opened_as_a_file_says_what_to_do(browser, small_book):
    page = browser.new_context().new_page()
    page.goto((small_book / "page.html").as_uri())
    page.click(".ways summary")
    page.click("[data-way=server]")
    page.wait_for_selector('.run-bar[data-state="failed"]')
    assert "Type “make serve”" in state(page)
    page.context.close()


@pytest.mark.parametrize("lends", [True, False])
def test_binder_lends_a_server(browser, served, lends):
    """What Binder tells is played; the server is that of `make serve`, under another address."""
    # Chromium does not know that a page from `fulfill` is of this machine.
    page = browser.new_context(permissions=["local-network-access"]).new_page()
    ready = {"phase": "ready", "url": served.base, "token": served.token}
    steps = [{"phase": "building", "message": "Step 1"}]
    steps += [ready if lends else {"phase": "failed", "message": "no room"}]
    body = "".join(f"data: {json.dumps(step)}\n\n" for step in steps)
    page.route(
        "https://mybinder.org/**",
        lambda route: route.fulfill(
            body=body,
            content_type="text/event-stream",
            headers={"Access-Control-Allow-Origin": "*"},
        ),
    )
    page.route(
        re.compile("/published/"),
        lambda route: route.fulfill(
            response=route.fetch(url=route.request.url.replace("/published/", "/book/"))
        ),
    )
    page.goto(f"{served.base}published/page.html")
    assert not cell(page, 2).locator(".cell-tools").is_visible(), "nobody chose Binder yet"
    page.click(".ways summary")
    assert "Binder" in page.inner_text(".ways li >> nth=0")
    said = after(page, lambda: page.click("[data-way=server]"))
    if lends:
        assert shown(page, 2) == "48 elements\n", said
    else:
        assert said == "Binder gave no machine: no room"
    page.context.close()


def test_a_server_that_ends_is_noticed(live, served):
    run(live, 2)
    served.process.send_signal(signal.SIGINT)
    served.process.wait(120)
    live.wait_for_selector('.run-bar[data-state="failed"]')
    assert "no longer answers. Start it again with “make serve”" in state(live)
    run(live, 2)
    assert "No server answers at" in state(live)

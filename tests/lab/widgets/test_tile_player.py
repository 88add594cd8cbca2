"""The tile player in a page: controls change the picture and the numbers, with any input."""

from __future__ import annotations

import math
import re

import pytest

from kernels import LADDER, records
from kernels.lab.widgets import TilePlayer
from tests.lab.widgets import keys
from tests.lab.widgets.redraws import MOST, redraw_share
from tests.records import synthetic

SLIDER = keys.Slider("Moment", "step", 1)
STILLS = [
    TilePlayer(M=13, N=7, K=19, tile=8, speeds={}),
    TilePlayer(M=13, N=7, K=19, tile=5, speeds={}),
]


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A made-up record in place of the course's own."""
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    records.write(synthetic.record("h200"))


def unfold(page) -> None:
    """Open the set-up, the numbers and what the microscope says."""
    folds = page.locator(".tile-player details")
    folds.evaluate_all("(all) => all.forEach((fold) => { fold.open = true })")


@pytest.fixture
def opened(mounted):
    """Mount a player and open what is folded."""

    def mount(*arguments, **options):
        shown = mounted(*arguments, **options)
        unfold(shown.page)
        return shown

    return mount


def rows(page, heading: str) -> dict[str, list[str]]:
    """A table of the ledger, by its first heading."""
    table = page.locator(".tile-player table", has=page.get_by_text(heading, exact=True))
    return {
        line.locator("th").text_content(): line.locator("td").all_text_contents()
        for line in table.locator("tbody tr").all()
    }


@pytest.mark.parametrize(("width", "mode"), keys.PROFILES)
def test_it_is_silent_fits_and_has_the_ledger(mounted, width, mode):
    widget = mounted(TilePlayer(M=13, N=11, K=21, tile=8), width=width, mode=mode)
    assert (widget.errors, widget.foreign, widget.overflow) == ([], [], 0)
    block, product = rows(widget.page, "one block"), rows(widget.page, "the whole product")
    assert block["threads per block"] == ["64"]
    assert block["bytes of shared memory per block"] == ["512"]
    assert block["intensity of the loads, T/4"] == ["2 FLOP/byte"]
    assert product["global loads"] == ["1,008", "6,006", "5.96×"]
    paper = widget.page.evaluate(
        "getComputedStyle(document.querySelector('.tile-widget')).backgroundColor"
    )
    assert paper == {"light": "rgb(253, 252, 249)", "dark": "rgb(20, 23, 28)"}[mode]


def test_the_tile_size_changes_everything(opened, recorded):
    widget = opened(TilePlayer(M=64, N=64, K=64, tile=8))
    page = widget.page
    assert "320 GFLOP/s (Numba on" in page.inner_text(".tile-player")
    page.get_by_label("Tile size", exact=True).fill("32")
    widget.settled()
    product = rows(page, "the whole product")
    assert product["global loads"] == ["16,384", "524,288", "32×"]
    assert product["load requests"] == ["512", "16,384", "32×"]
    assert product["sectors"] == ["2,048", "40,960", "20×"]
    assert rows(page, "one block")["threads per block"] == ["1,024"]
    assert "640 GFLOP/s (Numba on" in page.inner_text(".tile-player")
    assert page.locator("svg[role=img] circle").count() == 3
    page.get_by_label("Tile size", exact=True).fill("20")
    widget.settled()
    text = page.inner_text(".tile-player")
    assert "No speed is recorded for tile 20; recorded are 8, 16, 32." in text
    assert rows(page, "the whole product")["load requests"] == ["not alike", "not alike", "–"]


def test_each_gpu_has_its_own_speeds(opened, recorded):
    second = synthetic.record("h100-80gb-hbm3")
    second.provenance["gpu"] = "NVIDIA H100 80GB HBM3"
    records.write(second)
    widget = opened(TilePlayer())
    for gpu, name in (("h200", "H200"), ("h100", "NVIDIA H100 80GB HBM3")):
        widget.page.get_by_label("Occupancy and speeds on").select_option(gpu)
        widget.settled()
        assert f"Recorded on {name}," in widget.page.inner_text(".tile-player")
        assert widget.page.locator("svg[role=img] circle").count() == 3
    widget.page.get_by_label("Occupancy and speeds on").select_option("t4")
    widget.settled()
    assert "Nothing is recorded yet on the Tesla T4." in widget.page.inner_text(".tile-player")


def test_a_sum_is_written_out(opened, formulas):
    widget = opened(TilePlayer())
    page = widget.page
    page.get_by_label("Moment", exact=True).fill("37")
    widget.settled()
    said = page.inner_text(".sum")
    assert said.startswith("Thread (1, 2) of block (2, 1) owns C[6, 9].")
    products = "[...Array(16).keys()].map((k) => f.elementA(6, k) * f.elementB(k, 9))"
    want = int(sum(formulas(TilePlayer, products)))
    assert said.endswith(f"acc = {want} goes to C[6, 9].".replace("-", "−"))
    table = page.locator("table:has(caption) tbody tr")
    assert table.count() == 4
    assert table.last.locator("td").last.inner_text() == str(want).replace("-", "−")


def test_keys_alone_play_it(opened):
    widget = opened(TilePlayer())
    page = widget.page

    def press(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)
        widget.settled()

    page.get_by_label("Tile", exact=True).focus()
    press("ArrowRight")
    assert page.get_by_label("Tile size", exact=True).input_value() == "5"
    press("End")
    assert page.get_by_label("Tile size", exact=True).input_value() == "32"
    press("Home")
    page.get_by_role("button", name="One moment on").focus()
    press("Enter", "Enter", "Enter")
    said = page.locator(".summary")
    said.filter(has_text="The quick ones (first half of the warp) add term k = 0").wait_for()
    page.get_by_role("button", name="On to the next tile").focus()
    press("Enter")
    said.filter(has_text=re.compile(r"^Tile t = 1 of 4\. The quick ones .* load tile 1")).wait_for()
    page.locator(".stage").focus()
    press("ArrowRight", "ArrowDown")
    assert page.inner_text(".sum").startswith("Thread (2, 3) of block (2, 1) owns C[7, 10].")
    press("ArrowDown", "ArrowDown")
    assert page.inner_text(".sum").startswith("Thread (2, 3) of block (2, 1)")
    page.get_by_label("Barrier 1").focus()
    press("Space")
    assert "put cuda.syncthreads() between the two" not in page.inner_text(".race")
    assert "nothing orders them" in page.inner_text(".race")


def test_a_pointer_picks_a_thread(mounted):
    widget = mounted(TilePlayer(M=13, N=11, K=21, tile=8))
    page = widget.page
    bench = page.locator(".stage svg").nth(1)
    box = bench.bounding_box()
    scale = box["width"] / 400
    # The cell in row 6, column 2 of sB.
    x, y = (212 + 2.5 * 178 / 8) * scale, (24 + 6.5 * 178 / 8) * scale
    bench.click(position={"x": x, "y": y})
    widget.settled()
    said = page.inner_text(".sum")
    assert said.startswith("Thread (2, 6) of block (1, 0) owns C[6, 10].")
    x = (212 + 3.5 * 178 / 8) * scale
    bench.click(position={"x": x, "y": y})
    widget.settled()
    assert "owns no element of C, and loads all the same" in page.inner_text(".sum")


def test_it_plays_to_the_end_and_stops(opened):
    widget = opened(TilePlayer(M=3, N=2, K=5, tile=4))
    page = widget.page
    page.get_by_label("Pace").select_option("60")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("button", name="Play").wait_for()
    last = int(page.get_by_label("Moment", exact=True).get_attribute("max"))
    assert int(page.get_by_label("Moment", exact=True).input_value()) == last
    assert "acc = " in page.inner_text(".sum")


def test_without_the_first_barrier_a_thread_reads_too_early(opened):
    widget = opened(TilePlayer(M=13, N=11, K=21, tile=8, row=2, col=9))
    page = widget.page
    assert page.inner_text(".race") == "The tracer finds nothing to complain of."
    page.get_by_label("Barrier 1").uncheck()
    page.get_by_label("Moment", exact=True).fill("9")
    widget.settled()
    said = page.inner_text(".race")
    assert "thread (0, 0, 0) writes sB[0, 0] at line" in said
    assert "put cuda.syncthreads() between the two" in said
    assert "thread (1, 2) reads sB[7, 1] before thread (1, 7) has written anything there" in said
    assert page.locator(".sum .wrong").count() == 4
    assert page.get_by_text("removed", exact=True).count() == 1


def test_without_the_second_barrier_a_tile_is_overwritten(opened):
    widget = opened(TilePlayer(M=13, N=11, K=21, tile=8, row=6, col=9))
    page = widget.page
    page.get_by_label("Barrier 2").uncheck()
    page.get_by_label("Moment", exact=True).fill("14")
    widget.settled()
    said = page.inner_text(".race")
    assert "thread (0, 7, 0) reads sB[0, 0] at line" in said
    assert "has overwritten it with tile 1" in said
    page.get_by_label("K", exact=True).fill("8")
    widget.settled()
    assert "One tile only" in page.inner_text(".race")


def test_a_redraw_costs_little_more_than_the_picture_itself(mounted):
    shown = mounted(TilePlayer(M=64, N=64, K=64, tile=32, barrier1=False))
    assert redraw_share(shown, "Moment", range(60)) <= MOST


def test_what_is_folded_away_is_printed(mounted):
    page = mounted(TilePlayer()).page
    assert not page.locator("details table").first.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details table").first.is_visible()
    assert not page.get_by_role("button", name="Play").is_visible()


def test_a_static_page_has_no_button_for_a_kernel(mounted):
    page = mounted(TilePlayer()).page
    assert page.get_by_role("button", name="Run on this machine").count() == 0
    assert page.get_by_role("link", name="Run on your GPU").is_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_barrier_taken_away_shows_what_goes_wrong_and_moves_nothing(mounted, width):
    shown = mounted(TilePlayer(), width=width)
    page = shown.page
    parts = page.locator(".tile-player > *, .stage, .sum, .verdict")

    def places() -> list:
        return [
            (round(box["y"]), round(box["height"]))
            for box in (p.bounding_box() for p in parts.all())
            if box
        ]

    before = places()
    assert page.inner_text(".verdict") == "0 of 96 wrong"
    page.get_by_label("Barrier 1").uncheck()
    shown.settled()
    assert page.inner_text(".verdict") == "47 of 96 wrong"
    assert page.locator(".crossed").get_attribute("d").count("M") == 47, "each is marked in C"
    assert page.locator(".stale").get_attribute("d").count("M") == 4
    assert page.locator(".stale-name").text_content() == "sB: read before it’s there"
    assert places() == before


def test_stale_elements_are_those_that_a_thread_s_sum_is_spoilt_by(formulas):
    """Whoever reads a stale element, in any moment of the run, adds a wrong term then."""
    found = formulas(
        TilePlayer,
        """[[true, false], [false, true]].flatMap((barriers) => {
            const moments = f.play(4, 4, ...barriers), split = f.splitOf(4);
            const size = { M: 4, N: 4, K: 16, T: 4 };
            const threads = [...Array(16).keys()].map((thread) => ({
                own: thread < split ? 0 : 1, row: Math.floor(thread / 4), col: thread % 4,
            })).map((thread) => ({
                ...thread, ...f.followThread(moments, { ...size, ...thread }),
            }));
            return moments.map((moment, m) => {
                const { A, B } = f.staleCells(moment, 4);
                const spoilt = threads.filter(({ own, row, col }) => {
                    const { do: what, k } = moment.acts[own];
                    return what === "multiply" && (
                        A.some(({ r, c }) => r === row && c === k)
                        || B.some(({ r, c }) => r === k && c === col));
                });
                const wrong = threads.filter(({ own, terms, counts }) =>
                    moment.acts[own].do === "multiply" && terms[counts[m] - 1].wrong);
                return [spoilt.length, wrong.length];
            });
        })""",
    )
    assert any(wrong for _, wrong in found)
    assert all(spoilt == wrong for spoilt, wrong in found)


def test_a_phone_shows_one_view_at_a_time(mounted):
    page = mounted(TilePlayer(), width=390).page
    views = {"Shared memory": ".view-shared", "Matrices": ".view-matrices", "Code": ".view-code"}
    for name in views:
        page.get_by_role("radio", name=name).check(force=True)
        assert [n for n, view in views.items() if page.locator(view).is_visible()] == [name]
    page.set_viewport_size({"width": 1280, "height": 800})
    assert all(page.locator(view).is_visible() for view in views.values())


#: The widget's own sizes and element, and those of the pages that show it, by the loads at first.
SHOWN = {
    "768": ((8, 12, 16), "C[6, 9]"),
    "1536": ((16, 16, 24), "C[13, 10]"),
    "3072": ((16, 24, 32), "C[10, 17]"),
}


def by_keys(widget) -> None:
    unfold(widget.page)
    first = math.isqrt(int(keys.numbers(widget, "threads per block")[0]))
    loads = keys.numbers(widget, "global loads")[0]
    sizes, element = SHOWN[loads]
    for tile in (first, 12 - first):
        model = LADDER["tiled"].model(*sizes, tile=tile)
        assert keys.numbers(widget, "threads per block") == [str(tile * tile)]
        assert keys.numbers(widget, "global loads")[0] == str(sum(model.loads.values()))
        assert widget.locator("svg text", has_text=f"k = 0 … {tile - 1}").count() == 1
        if tile == first:
            key = "ArrowRight" if first == 4 else "ArrowLeft"
            keys.press(widget, "slider", "Tile", *[key] * 4)
    keys.press(widget, "slider", "Moment", "End")
    assert f"goes to {element}" in widget.locator(".sum").inner_text()
    keys.press(widget, "checkbox", "Barrier 1", "Space")
    assert "syncthreads()" in widget.locator(".race").inner_text()

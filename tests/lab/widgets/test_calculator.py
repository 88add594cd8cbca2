"""The calculator: every state it shows is the model's, and its sliders reach them."""

from __future__ import annotations

from itertools import product as every

import pytest

from chapters.ch06_profiling.widgets.calculator import SIZES, TILES
from kernels import records
from kernels.budget import product, versions
from kernels.host.rung import ENGINE_TITLES
from kernels.lab.widgets import Calculator
from kernels.rungs.order import LADDER
from tests.lab.widgets import keys
from tests.lab.widgets.redraws import MOST, redraw_share

SLIDER = keys.Slider("K", "shape", [2048, 2048, 4096], 3)
STILLS = [
    Calculator(),
    Calculator(rung="tiled", engine="cpp", tile=0, shape=[128, 8192, 8192]),
    Calculator(rung="async_tiled", tile=0),
    Calculator(rung="persistent", tile=0),
]


@pytest.fixture(scope="module")
def widget():
    return Calculator()


def test_every_rung_and_language_is_there(widget):
    there = {(version["rung"], version["engine"]) for version in widget.versions}
    profiled = {
        (row.get("rung"), row.get("engine"))
        for record in (records.load(), *versions.siblings(records.load()))
        for table in versions.PROFILES
        for row in record.tables.get(table, ())
    }
    written = {(name, engine) for name in TILES for engine in LADDER[name].engines}
    assert there == written & profiled and len(there) >= 23
    assert [v["tile"] for v in widget.versions if (v["rung"], v["engine"]) == ("tiled", "cpp")] == [
        "8 × 8", "16 × 16", "32 × 32",
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(2048, 2048, 2048), (128, 8192, 1024), (8192, 128, 4096)])
def test_a_state_is_what_the_model_says(widget, formulas, shape):
    number = formulas(Calculator, "f.stateOf(x[0], x[1])", [SIZES, shape])
    assert list(every(SIZES, repeat=3))[number] == shape
    record = records.load()
    for rung, engine, tile in (
        ("naive", "cpp", 1),
        ("tiled", "numba", 2),
        ("serpentine", "cpp", 0),
        ("wgmma", "cpp", 0),
    ):
        _, shown = formulas(Calculator, "f.chosen(...x)", [widget.versions, rung, engine, tile])
        options = LADDER[rung].default(engine) | TILES[rung][tile]
        like = (8192 if rung == "wgmma" else 4096,) * 3
        known = versions.version(LADDER[rung], engine, options, record, like)
        told = product.time(
            LADDER[rung].Options(**options), known.pace, versions.machine(record), known.resident,
            shape, LADDER[rung].dtypes[0],
        )  # fmt: skip
        assert shown["us"][number] == pytest.approx(1e6 * told.seconds, rel=0.005)
        assert shown["tflops"][number] == pytest.approx(
            2e-12 * shape[0] * shape[1] * shape[2] / told.seconds, rel=0.005
        )
        assert shown["rounds"][number] == told.rounds
        rows = record.rows("timings", rung=rung, engine=engine, options=options, M=shape[0],
                           N=shape[1], K=shape[2], dtype=LADDER[rung].dtypes[0])  # fmt: skip
        assert (str(number) in shown["recorded"]) == bool(rows)
        if rows:
            assert shown["recorded"][str(number)][0] == pytest.approx(
                1e6 * rows[0].median, rel=0.005
            )


def test_a_rung_in_one_language_is_shown_in_that(widget, formulas):
    own, shown = formulas(Calculator, "f.chosen(...x)", [widget.versions, "async_tiled", "cpp", 9])
    assert shown in own and shown["engine"] in ENGINE_TITLES


def test_the_axis_is_logarithmic(formulas):
    found = formulas(Calculator, "[0.01, 0.1, 1, 10, 100, 500].map((c) => f.along(c, 300, 0.1))")
    assert found == pytest.approx([0, 0, 100, 200, 300, 300])
    assert formulas(Calculator, "[1.9, 0.016].map(f.lowEnd)") == [0.1, 0.001]


@pytest.mark.parametrize(("width", "mode"), keys.PROFILES)
def test_it_is_silent_and_fits(mounted, widget, width, mode):
    shown = mounted(widget, width=width, mode=mode)
    shown.page.click("summary")
    assert (shown.errors, shown.foreign, shown.overflow) == ([], [], 0)
    assert shown.page.locator("rect.ceiling").count() == 7
    assert shown.page.locator("details tbody tr").count() == 9


def test_it_follows_rung_tile_and_size(mounted, widget):
    page = mounted(widget).page
    assert "25 instructions per FMA" in page.inner_text(".summary")
    page.get_by_label("Rung").select_option("tiled")
    page.locator(".summary", has_text="3.01 wavefronts").wait_for()
    page.get_by_role("slider", name="Tile").focus()
    page.keyboard.press("End")
    page.locator(".summary", has_text="1.64 wavefronts").wait_for()
    assert "Recorded:" in page.inner_text(".formula")
    page.get_by_role("slider", name="K", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.locator(".formula", has_text="Not recorded at this size").wait_for()


def test_without_any_record_it_says_so(tmp_path, monkeypatch, mounted):
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    assert "Nothing is profiled here yet" in mounted(Calculator()).page.inner_text(".calculator")


def test_a_redraw_costs_little_more_than_the_picture_itself(mounted, widget):
    assert redraw_share(mounted(widget), "M", [0, 1, 2, 3, 4]) <= MOST


def by_keys(widget) -> None:
    chart = widget.locator("svg[role=img]")
    before = chart.get_attribute("aria-label")
    keys.press(widget, "combobox", "Rung", "ArrowDown")
    keys.press(widget, "slider", "K", "Home")
    assert chart.get_attribute("aria-label") != before
    assert "×128," in chart.get_attribute("aria-label").replace("×128.", "×128,")

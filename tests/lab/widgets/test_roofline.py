"""The roofline widget: the same roofs as the Python arithmetic, and a reading that follows."""

from __future__ import annotations

import pytest

from kernels import records
from kernels.basics import data_sheets
from kernels.basics.units import quantity
from kernels.lab.widgets import Roofline
from kernels.records import roofline
from tests.lab.widgets import keys
from tests.lab.widgets.redraws import MOST, redraw_share
from tests.records import synthetic

SLIDER = keys.Slider("Intensity", "intensity", 2**-1.75, shown=-1.75)
STILLS = [
    Roofline(intensity=8.0),
    Roofline(counted="compulsory"),
]


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A made-up record in place of the course's own."""
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    records.write(synthetic.record("h200"))


def test_the_formulas_are_those_of_the_roofline_module(formulas):
    intensities = [2 ** (power / 4) for power in range(-16, 49)]
    for sheet in data_sheets.gpus().values():
        roof = roofline.data_sheet(sheet)
        told = formulas(
            Roofline,
            "x[1].map((i) => [f.attainable(x[0], i), f.limitOf(x[0], i), f.ridge(x[0])])",
            [vars(roof), intensities],
        )
        for intensity, (attainable, limit, ridge) in zip(intensities, told, strict=True):
            assert attainable == pytest.approx(roof.attainable(intensity), rel=1e-14)
            assert limit == roof.limit(intensity)
            assert ridge == pytest.approx(roof.ridge, rel=1e-14)


@pytest.mark.parametrize("counted", ["asked", "compulsory"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_number_of_every_recorded_point_can_be_read(mounted, width, counted):
    widget = mounted(Roofline(counted=counted), width=width)  # the course's own record
    boxes = """() => [".picture text.halo", ".picture .point"].map(
        (part) => [...document.querySelectorAll(part)].map((each) => {
            const { x, y, width, height } = each.getBoundingClientRect();
            return { text: each.textContent, x, y, width, height };
        }))"""
    page = widget.page
    numbers, points = page.evaluate(boxes)  # of one drawing, whatever is drawn meanwhile
    assert len(numbers) == len(points) == page.locator(".legend li").count() > 15
    listed = page.eval_on_selector_all(".legend li", "(all) => all.map((li) => String(li.value))")
    assert sorted(each["text"].split()[0] for each in numbers) == sorted(listed)
    assert min(each["height"] for each in numbers) >= 11

    def meet(a, b) -> bool:
        across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
        # The box of a text has room for accents and descenders, which figures have not.
        down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
        return across > 0.5 and down > 4

    met = [(a["text"], b["text"]) for a in numbers for b in numbers if a is not b and meet(a, b)]
    hidden = [a["text"] for a in numbers for point in points if meet(a, point)]
    assert (met, hidden) == ([], [])


@pytest.mark.parametrize(("width", "mode"), keys.PROFILES)
def test_it_is_silent_and_fits(mounted, recorded, width, mode):
    widget = mounted(Roofline(), width=width, mode=mode)
    widget.page.click("summary")
    assert (widget.errors, widget.foreign, widget.overflow) == ([], [], 0)
    assert widget.page.locator(".point").count() == 6
    assert widget.page.locator("details tbody tr").count() == 6


def test_the_reading_follows_the_intensity_by_keys(mounted, recorded):
    widget = mounted(Roofline(gpu="t4", intensity=1.0))
    page = widget.page
    assert page.inner_text(".summary").startswith("At 1 FLOP/byte the roof is 320 GFLOP/s")
    page.get_by_label("Intensity").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.locator(".summary", has_text="At 2 FLOP/byte the roof is 640 GFLOP/s").wait_for()
    page.keyboard.press("End")
    page.locator(".summary", has_text="limit: arithmetic").wait_for()


def test_points_are_named_by_pointer_and_by_keys(mounted, recorded):
    widget = mounted(Roofline())
    page = widget.page
    named, buttons = page.locator(".chart .name"), page.locator(".legend button")
    fastest = named.text_content()
    point = page.locator(".chart .point").first.bounding_box()
    page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    widget.settled()
    assert named.text_content() != fastest
    buttons.first.focus()
    assert named.text_content() == f"1. {buttons.first.inner_text()}"
    page.keyboard.press("ArrowDown")
    assert named.text_content() == f"2. {buttons.nth(1).inner_text()}"
    assert page.locator(".legend button[tabindex='0']").count() == 1


def test_the_intensity_is_dragged_in_the_chart(mounted, recorded):
    widget = mounted(Roofline())
    page = widget.page
    box = page.locator(".chart svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.8)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] * 0.8)
    page.mouse.up()
    page.locator(".summary", has_text="limit: arithmetic").wait_for()


def test_a_gpu_without_a_record_shows_its_data_sheet_and_says_so(mounted, recorded):
    widget = mounted(Roofline())
    page = widget.page
    page.get_by_label("GPU", exact=True).select_option("t4")
    widget.settled()
    assert page.locator(".point").count() == 0
    assert page.locator(".roof").count() == 1
    assert "Nothing is recorded on the Tesla T4" in page.inner_text(".roofline")


def test_a_record_stands_with_its_data_sheet(recorded):
    second = synthetic.record("h100-80gb-hbm3")
    second.provenance["gpu"] = "NVIDIA H100 80GB HBM3"
    records.write(second)
    widget = Roofline()
    assert set(widget.gpus) == set(data_sheets.gpus())
    assert all(len(widget.gpus[name]["roofs"]) == 2 for name in ("h100", "h200"))
    assert widget.gpu == "h200"


def test_a_redraw_costs_little_more_than_the_picture_itself(mounted, recorded):
    shown = mounted(Roofline())
    assert redraw_share(shown, "Intensity", [power / 4 for power in range(-16, 49, 2)]) <= MOST


def by_keys(widget) -> None:
    reading = widget.locator("path.reading")
    before = reading.get_attribute("d")
    keys.press(widget, "slider", "Intensity", "Home", *["ArrowRight"] * 9)
    intensity = 2**-1.75
    roof = Roofline().gpus[widget.get_by_label("GPU", exact=True).input_value()]["roofs"][0]
    speed = quantity(min(roof["compute"], intensity * roof["bandwidth"]), "FLOP/s")
    chart = widget.locator("svg[role=img]")
    assert f"At 0.297 FLOP/byte the roof is {speed}" in chart.get_attribute("aria-label")
    assert reading.get_attribute("d") != before
    keys.press(widget, "combobox", "Bytes of the points", "ArrowDown")
    assert "cuBLAS" in widget.locator(".legend").inner_text()

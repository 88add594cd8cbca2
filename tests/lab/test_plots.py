"""Pictures: readable in both themes and without colour, the same bytes each time."""

import re
import xml.etree.ElementTree as ElementTree
from functools import cache

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from chapters.ch01_hardware import drawings as ch01
from chapters.ch02_vector_add import drawings as ch02
from chapters.ch03_naive import drawings as ch03
from chapters.ch10_practice import drawings as ch10
from kernels.lab import plots
from kernels.records import Record, Row
from kernels.records.roofline import Point, Roof
from tests.colours import contrast
from tests.records import synthetic


@pytest.mark.parametrize("colour", sorted({*plots.PALETTE.values(), *plots.MEMORY.values()}))
def test_every_colour_stands_out_in_both_themes(colour):
    assert contrast(to_rgb(colour), to_rgb("#ffffff")) >= 3
    assert contrast(to_rgb(colour), to_rgb("#121212")) >= 3


def test_engines_and_matrices_differ_without_colour():
    for group in (("A", "B", "C", "tile"), ("numba", "cpp", "library")):
        assert len({plots.HATCH[name] for name in group}) == len(group)


RECORD = synthetic.record()
ROOF = Roof("made up", 2e12, 60e12)
FLAT = np.arange(12.0)
COUNTED = {"M": 8, "N": 9, "K": 7, "l2_read_bytes": 900, "dram_read_bytes": 300}
PROFILED = Record("x", tables={"profiles": [Row(rung="naive", engine="numba", **COUNTED)]})
PICTURES = {
    "ladder": lambda: plots.ladder(RECORD.ladder()),
    "climb": lambda: plots.climb({"fp32": RECORD.ladder()}, {"tiled": "Tiled"}),
    "roofline": lambda: plots.roofline(ROOF, [Point("x", 4.0, 1e12)], Roof("other", 3e12, 60e12)),
    "bandwidth": lambda: plots.bandwidth(RECORD),
    "transfers": lambda: plots.transfers(RECORD),
    "break_even": lambda: plots.break_even(RECORD),
    "latency": lambda: plots.latency(RECORD),
    "hierarchy": plots.hierarchy,
    "product": lambda: plots.product(5, 7, 3, tile=2, step=1, block=(3, 2), thread=(0, 0)),
    "absorbed": lambda: ch03.absorbed(PROFILED, "naive", "numba"),
    "flat_memory": lambda: plots.flat_memory(FLAT, {"x": FLAT.reshape(3, 4).T}),
    "overhang": lambda: ch03.overhang(5, 9, (4, 2)),
    "indices": lambda: ch02.indices(9, 4, row="iteration", thread=1),
    "overwritten": lambda: ch02.overwritten({"before": FLAT, "after": FLAT + 1}, 8, range(5, 12)),
    "six_steps": plots.six_steps,
    "one_call": plots.one_call,
    "one_element": ch02.one_element,
    "one_product": plots.one_product,
    "streams": lambda: plots.streams(3),
    "rereading": lambda: plots.rereading(3, 5, 4, row=2, columns=(0, 3, 4)),
    "heat": lambda: plots.heat({"A": np.arange(15).reshape(3, 5), "x": np.ones(4, int)}),
    "empty": lambda: plots.empty("nothing"),
    "dies": ch01.dies,
    "mapping": lambda: ch01.mapping(132),
    "kitchen": ch01.kitchen,
    "divergence": lambda: ch01.divergence({"by lane": [i % 2 for i in range(64)]}),
    "in_flight": ch01.in_flight,
    "rates": lambda: ch01.rates({("shared", "near"): 3e13, ("host", "far"): 9e9}),
}


@cache
def drawn(name):
    return plots.svg(PICTURES[name]())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_stable_whole_and_takes_the_page_s_ink(name):
    one = drawn(name)
    assert one == plots.svg(PICTURES[name]())
    ElementTree.fromstring(one)
    assert "currentColor" in one and plots.INK not in one
    assert "stroke: #000000" not in one and "fill: #000000" not in one
    assert "<metadata" not in one and "/tmp" not in one


@pytest.mark.parametrize("name", PICTURES)
def test_all_references_inside_a_picture_hold(name):
    text = drawn(name)
    ids = set(re.findall(r'\bid="([^"]*)"', text))
    used = set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', text))
    assert {one or other for one, other in used} <= ids


def test_coordinates_are_shortened_and_figures_are_not():
    fig, ax = plots.picture.figure()
    ax.text(0.123456, 0.5, "0.4991 and 12.3456")
    text = plots.svg(fig)
    assert ">0.4991 and 12.3456<" in text
    assert not re.search(r'[" ]\d+\.\d{3,}', re.sub(r">[^<]*<", "><", text))


def test_two_pictures_of_a_page_share_no_id():
    texts = [drawn(name) for name in PICTURES]
    ids = [name for text in texts for name in set(re.findall(r'\bid="([^"]*)"', text))]
    assert len(ids) == len(set(ids))


def test_the_ladder_says_speed_and_share_in_words():
    text = drawn("ladder")
    assert "640 GFLOP/s, 16 %" in text and "tiled 32" in text and "CUDA C++" in text
    assert "4.00 TFLOP/s" in text


def test_the_climb_says_speed_and_share_and_keeps_number_formats_apart():
    half = [row | {"dtype": "float16", "gflops": 8000.0} for row in RECORD.ladder()[-2:]]
    text = plots.svg(plots.climb({"fp32": RECORD.ladder(), "fp16": half, "int8": []}, {}))
    assert "0.64 (16 %)" in text and "Numba" in text and "CUDA C++" in text and "libraries" in text
    assert text.index("fp32") < text.index("fp16") and "int8" not in text
    assert float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1]) < 360, "points: a telephone's width"


@pytest.mark.parametrize(
    "draw", [plots.bandwidth, plots.transfers, plots.break_even, plots.latency]
)
def test_without_a_record_a_chart_says_so(draw):
    assert "Nothing is recorded yet" in plots.svg(draw(Record("")))


def test_without_rows_the_ladder_says_so():
    assert "Nothing is recorded yet" in plots.svg(plots.ladder([]))
    assert "Nothing is recorded yet" in plots.svg(plots.climb({"fp32": []}, {}))


def test_an_ink_of_one_s_own():
    text = plots.svg(PICTURES["ladder"](), ink="#123456")
    assert "#123456" in text and "currentColor" not in text


def test_a_picture_has_words_for_it():
    picture = plots.Picture(plots.empty("x"), 'alt with <i> and "quotes"', "See   this.")
    assert repr(picture) == '[figure: alt with <i> and "quotes"]\nSee this.'
    html = picture._repr_html_()
    assert 'role="img" aria-label="alt with &lt;i&gt; and &quot;quotes&quot;"' in html
    assert "<figcaption>See this.</figcaption>" in html
    assert re.search(r"<svg[^>]*max-width:\d+px;width:100%", html)


@pytest.mark.parametrize("inches", [4.6, 7.2])
def test_a_picture_says_how_narrow_it_may_become(inches):
    html = plots.Picture(plots.figure(inches)[0], "x")._repr_html_()
    width, least = map(int, re.search(r"max-width:(\d+)px.*--least:(\d+)px", html).groups())
    assert 0.69 * width < least < 0.71 * width


def test_show_displays_a_picture(capsys):
    plots.show(plots.empty("x"), alt="an empty figure")
    assert capsys.readouterr().out.strip() == "[figure: an empty figure]"


def test_product_marks_what_one_thread_needs():
    fig = plots.product(6, 4, 5, tile=2, step=2, block=(1, 2), thread=(1, 0))
    spots = {
        (patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height())
        for patch in fig.axes[0].patches
        if np.allclose(patch.get_edgecolor()[:3], to_rgb(plots.THREAD))
    }
    # A lies at (0, 6.6), B at (6.6, 0), C at (6.6, 6.6); the last step along K = 5 is one wide.
    found = {tuple(round(float(value), 2) for value in spot) for spot in spots}
    assert found == {(4, 10.6, 1, 1), (9.6, 4, 1, 1), (9.6, 10.6, 1, 1)}


def test_each_problem_stands_once_beside_its_idea_and_under_its_chapter():
    fig = ch10.problems({"barriers": {3: 4}, "sectors": {6: 3, 7: 5, 8: 5}})
    (ax,) = fig.axes
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["barriers", "sectors"]
    assert {number: y for number, (_, y) in places.items()} == {"3": 0, "6": 1, "7": 1, "8": 1}
    heads = {tick.get_text(): tick.get_position()[0] for tick in ax.get_xticklabels()}
    nearest = {
        number: min(heads, key=lambda head, x=x: abs(heads[head] - x))
        for number, (x, _) in places.items()
    }
    assert nearest == {"3": "4", "6": "3", "7": "5", "8": "5"}

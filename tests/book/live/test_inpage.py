"""What runs inside the page's Python, run here: messages, errors, names, widgets."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from book.live import pack
from book.live.inpage import needs
from kernels.lab.pages import paths
from tests.book.conftest import ROOT

RUN = """
import json, os, sys
from book.live.inpage import cells
page = cells.Page(lambda message: os.write(1, message.encode() + b"\\n"))
right = []
for i, told in enumerate(json.loads(sys.argv[1])):
    source, number, asked = told if isinstance(told, list) else (told, i + 1, True)
    right.append(page.run(number, source, asked))
for told in json.loads(sys.argv[2]):
    page.hear(json.dumps(told))
os.write(1, json.dumps(right).encode())
"""


def run(*sources: str | tuple[str, int, bool], hears: tuple = ()):
    """Run cells in a Python of their own; returns the messages, and which cells ended well.

    A cell is its source, or its source, its number and whether the reader asked for it.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KERNELS_BACKEND": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(sources), json.dumps(hears)],
        capture_output=True, text=True, env=environment, check=True,
    )  # fmt: skip
    *messages, right = map(json.loads, done.stdout.splitlines())
    return messages, right


def test_a_cell_prints_and_its_last_value_is_shown():
    messages, right = run("n = 3\nprint('n is', n)\nn + 1", "n;", "None")
    assert right == [True] * 3
    assert messages == [
        {"type": "stream", "name": "stdout", "text": "n is 3\n"},
        {"type": "output", "data": {"text/plain": "4"}},
    ]


@pytest.mark.parametrize(("asked", "n"), [(False, "7"), (True, "3")])
def test_a_cell_that_another_needs_leaves_later_names_alone(asked, n):
    """As if it had run in its place; where the reader asks for it, it binds as it says."""
    early = "def double(n):\n    return 2 * n\n\nfor n in (1, 2, 3):\n    pass"
    messages, right = run(("n = 7", 2, True), (early, 1, asked), ("print(double(1), n)", 3, True))
    assert right == [True] * 3
    assert messages[-1]["text"] == f"2 {n}\n"


def test_values_have_all_their_forms():
    messages, _ = run(
        "from IPython.display import HTML, Markdown, SVG, display",
        "display(HTML('<b>1</b>'), SVG('<svg/>'))\nMarkdown('a | b\\n--|--\\n1 | 2')",
    )
    data = [message["data"] for message in messages]
    assert data[0]["text/html"] == "<b>1</b>" and data[1]["image/svg+xml"] == "<svg/>"
    assert data[0]["text/plain"] == "<IPython.core.display.HTML object>"
    assert "<td>1</td>" in data[2]["text/html"]


@pytest.mark.parametrize(
    ("source", "name", "line"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError", 2),
        ("def f():\n    raise KeyError('k')\n\n\nf()", "KeyError", 2),
        ("ok = 1\nx = (", "SyntaxError", 2),
        ("import json\njson.loads('{')", "JSONDecodeError", 2),
        ("raise SystemExit(3)", "SystemExit", 1),
    ],
)
def test_an_error_names_the_line_of_its_cell(source, name, line):
    messages, right = run("before = 1", source, "before")
    error = messages[0]
    assert right == [True, False, True], "the page goes on"
    assert (error["type"], error["name"], error["cell"], error["line"]) == ("error", name, 2, line)
    assert "inpage" not in error["traceback"]


def test_an_error_in_another_cells_function_names_the_call():
    messages, _ = run("def half(n):\n    return n / 0", "\nhalf(1)")
    assert (messages[0]["cell"], messages[0]["line"]) == (2, 2)


def test_what_is_not_here_is_told_as_that():
    messages, right = run("import no_such_package.part")
    assert messages == [{"type": "absent", "what": "no_such_package"}] and right == [False]


def test_what_a_cell_prints_is_cut():
    messages, right = run("for i in range(60_000):\n    print('line', i)", "print('next')")
    text = "".join(message["text"] for message in messages)
    assert right == [True, True]
    assert text.count("cut here") == 1 and text.endswith("next\n") and len(text) < 201_000


def test_a_kernel_of_a_cell_runs():
    messages, right = run(
        "import numpy as np\nfrom kernels import cuda\n"
        "@cuda.jit\ndef add(a):\n    a[cuda.threadIdx.x] += 1\n",
        "a = cuda.to_device(np.zeros(4, np.float32))\nadd[1, 4](a)\nprint(a.copy_to_host())",
    )
    assert right == [True, True]
    assert messages[-1]["text"] == "[1. 1. 1. 1.]\n"


WIDGET = """
import anywidget, traitlets

class Dial(anywidget.AnyWidget):
    turn = traitlets.Int(1).tag(sync=True)
    own = traitlets.Int(5)

dial = Dial(turn=2)
dial.observe(lambda change: print("turned to", change.new), "turn")
dial
"""


def test_widgets_show_their_state_and_talk():
    hears = ({"id": 1, "state": {"turn": 7}}, {"id": 9, "state": {}})
    messages, right = run(WIDGET, "dial.turn = 3", hears=hears)
    assert right == [True, True]
    view = messages[0]["data"]["widget"]
    assert view == {"id": 1, "kind": "Dial", "state": {"turn": 2}}
    rest = [message for message in messages[1:] if message["type"] == "comm"]
    told = {"type": "comm", "id": 1, "state": {"turn": 3}}
    assert rest == [told], "the page's own change does not come back to it"
    assert "turned to 7\n" in [message.get("text") for message in messages]


def test_the_courses_widgets_show_themselves():
    messages, right = run("from kernels.lab.widgets import Launch\nLaunch()")
    assert right == [True]
    view = messages[0]["data"]["widget"]
    assert view["kind"] == "Launch" and view["state"]


def test_a_bad_value_from_the_page_is_an_error_of_one_line():
    messages, _ = run(WIDGET, hears=({"id": 1, "state": {"turn": "x"}},))
    assert messages[-1]["type"] == "error" and messages[-1]["name"] == "TraitError"


PAGE = [
    "import numpy as np\nn = 4",
    "def area(side):\n    unused = side\n    return side * scale",
    "scale = 2",
    "print([area(k) for k in range(n)])",
    "n = 5\nother = 1",
    "area(n)",
]


def told(sources, ran=(), unrun=(), since=()) -> list[dict]:
    """Cells as the page tells of them: those that ran, in this order; those edited and not run."""
    turns = {cell: turn for turn, cell in enumerate(ran, 1)}
    return [
        {"source": source, "unrun": i in unrun, "at": turns.get(i, 0),
         "since": dict(since).get(i, turns.get(i, 0))}
        for i, source in enumerate(sources)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "held", "cells"),
    [
        (0, (), []),
        (2, (), []),
        (3, (), [0, 1, 2]),
        (3, {"n"}, [1, 2]),
        (5, (), [1, 2, 4]),
        (5, {"area", "scale", "n"}, []),
    ],
)
def test_a_cell_asks_for_those_above_that_give_its_names(number, held, cells):
    assert needs.survey(json.dumps(told(PAGE)), number, held) == [cells, []]


LAUNCH = [
    "C = zeros(4)",
    "@cuda.jit\ndef fill(C):\n    C[0] = 1",
    "fill[1, 1](C)",
    "total = sum(C)",
    "other = 1",
    "print(total)",
    "def unfinished(",
]
NAMES = {"C", "fill", "total", "other", "zeros", "cuda"}
ALL = range(7)


@pytest.mark.parametrize(
    ("number", "state", "above", "stale"),
    [
        # The kernel was edited: what was launched with it, and what was summed, run again.
        (5, {"ran": ALL, "unrun": {1}}, [1, 2, 3], [2, 3, 5]),
        (4, {"ran": ALL, "unrun": {1}}, [], [2, 3, 5]),
        (5, {"ran": ALL, "unrun": {4}}, [], []),
        (5, {"ran": ALL, "unrun": {6}}, [], []),
        # The edited kernel ran, and nothing after it yet.
        (5, {"ran": (0, 2, 3, 4, 5, 1)}, [2, 3], [2, 3, 5]),
        # It ran again as it was.
        (5, {"ran": (0, 2, 3, 4, 5, 1), "since": {1: 0}}, [], []),
        # Only the launch, whose changes no name shows.
        (3, {"ran": ALL, "unrun": {2}}, [2], [3, 5]),
        # Nothing ran yet.
        (2, {"unrun": {1}}, [1], []),
    ],
)
def test_what_is_stale_runs_before_a_cell_that_it_has_to_do_with(number, state, above, stale):
    assert needs.survey(json.dumps(told(LAUNCH, **state)), number, NAMES) == [above, stale]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("n = 3\nprint(n, m)", {"m"}),
        ("n = n + 1", {"n"}),
        ("n += 1", {"n"}),
        ("[k * n for k in range(3)]", {"n"}),
        ("def f(a):\n    b = a + n\n    return b", {"n"}),
        ("import numpy as np\nnp.zeros(3)", set()),
        ("def f(:", set()),
    ],
)
def test_names_that_a_cell_binds_itself_are_not_asked_for(source, names):
    assert needs.wanted(source) - {"print", "range"} == names


@pytest.mark.parametrize(
    ("source", "word", "there"),
    [
        ("from kernels.lab import plots, records", "plots", False),
        ("from chapters.ch04_tiled import drawings", "drawings", False),
        ("plots.show(fig)", "plots", True),
        ("drawings.two_loads()", "drawings", True),
        ("from kernels.lab.plots import A", "plots", True),
        ("import matplotlib.pyplot as plt", "matplotlib", True),
        ("from kernels.lab import report", "report", True),
        ("print('plots')", "plots", False),
        ("x = (", "x", False),
    ],
)
def test_words_tell_what_a_cell_uses(source, word, there):
    assert (word in needs.words(source)) is there


DRAW = """
import sys
from book.live.inpage import cells
cells.wait_with_drawings()
from chapters.ch04_tiled import drawings
from kernels.lab import plots
assert "matplotlib" not in sys.modules
plots.svg(drawings.two_loads())
"""


def test_drawings_load_when_one_is_asked_for():
    done = subprocess.run([sys.executable, "-c", DRAW], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_what_sets_a_page_up_loads_nothing_to_draw_with(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    first = next(i for i, cell in enumerate(cells) if cell["id"] in ("imports", "helpers"))
    for cell in cells[: first + 1]:
        if cell["cell_type"] == "code":
            assert not needs.words("".join(cell["source"])) & {*pack.DRAWS}

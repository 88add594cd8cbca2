"""`make check`: which tests a change asks for, in which order, and what the time leaves."""

import subprocess
from types import SimpleNamespace

import pytest

from tests import check

FILES = {
    "kernels/__init__.py": "",
    "kernels/host/__init__.py": "from kernels.host.checks import cdiv",
    "kernels/host/checks.py": "def cdiv(a, b): ...",
    "kernels/host/tiles.py": "from kernels.host import checks",
    "kernels/rungs/tiled.py": "from kernels.host import cdiv",
    "kernels/rungs/tiled.cu": "",
    "chapters/ch02_add/exercises/sums.py": 'E = Exercise(\n    name="sum",\n)\n',
    "chapters/ch02_add/widgets/wall/wall.js": "",
    "tests/lab/widgets/test_wall.py": "",
    "kernels/lab/widgets/roof/__init__.py": "",
    "kernels/lab/widgets/roof/roof.js": "",
    "tests/host/test_checks.py": "",
    "tests/host/test_tiles.py": "",
    "tests/host/helper.py": "",
    "tests/rungs/test_tiled.py": "from kernels.host.checks import cdiv",
    "tests/rungs/test_other.py": "from kernels import host\nfrom tests.host.helper import x",
    "tests/lab/widgets/test_roof.py": "",
    "tests/book/test_pages.py": "text = 'places.toml'",
    "book/places.toml": "",
}


@pytest.fixture
def course(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "changed, expected",
    [
        ("kernels/host/checks.py", [
            "tests/host/test_checks.py", "tests/rungs/test_tiled.py", check.FLOORS,
            "tests/host", "tests/host/test_tiles.py", "tests/rungs/test_other.py",
        ]),
        ("kernels/rungs/tiled.cu", ["tests/rungs/test_tiled.py", "tests/rungs/test_other.py"]),
        ("kernels/lab/widgets/roof/roof.js", ["tests/lab/widgets/test_roof.py"]),
        ("chapters/ch02_add/widgets/wall/wall.js", ["tests/lab/widgets/test_wall.py"]),
        ("chapters/ch02_add/exercises/sums.py", [
            *(f"{test} sum" for test in check.OF_EXERCISES), check.FLOORS,
        ]),
        ("tests/chapters/ch02_add/answers/two_sums.py", [
            *(f"{test} two-sums" for test in check.OF_EXERCISES), check.FLOORS,
        ]),
        ("tests/host/helper.py", ["tests/rungs/test_other.py", check.FLOORS]),
        ("tests/host/test_tiles.py", ["tests/host/test_tiles.py", check.FLOORS]),
        ("book/places.toml", ["tests/book/test_pages.py"]),
        ("chapters/ch02_add/02-add.ipynb", [f"{test} 02-add" for test in check.OF_PAGES]),
        ("chapters/ch02_add/quiz.toml", [
            f"{test} 02-" for test in ("tests/lab/widgets/test_quiz.py", *check.OF_PAGES)
        ]),
        ("chapters/ch02_add/02-add.predict.toml", [
            f"{test} 02-add" for test in ("tests/book/test_predict.py", *check.OF_PAGES)
        ]),
    ],
)  # fmt: skip
def test_a_change_asks_for_its_own_tests_first(course, changed, expected):
    found = check.selected([changed], course)
    first = [check.STYLE, *[check.NAMES] * changed.endswith(".py")]
    assert found[: len(first)] == first and found[len(first) :] == expected


def test_what_is_committed_and_what_is_not_both_count(course):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=course,
                       check=True, capture_output=True)  # fmt: skip

    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "one")
    assert check.changed("main", course) == []
    git("checkout", "-b", "own")
    (course / "book/places.toml").write_text("a = 1")
    git("commit", "-am", "two")
    (course / "new.py").write_text("")
    assert check.changed("main", course) == ["book/places.toml", "new.py"]
    with pytest.raises(LookupError, match="git knows no 'elsewhere' here: name a commit"):
        check.changed("elsewhere", course)


def test_the_nearest_come_first_and_the_rest_is_left_when_the_time_is_up():
    ids = [
        "tests/b/test_far.py::x",
        "tests/c.py::f[02-add]",
        "tests/c.py::f[03-x]",
        "tests/a.py::y",
    ]
    items = [SimpleNamespace(nodeid=one) for one in ids]
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    budget = check.Budget(60, ["tests/a.py", "tests/c.py 02-add", "tests/b"])
    budget.pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
    assert [item.nodeid for item in items] == [ids[3], ids[1], ids[0]]
    assert budget.pytest_runtest_protocol(items[0]) is None and budget.left == 0
    budget.until = 1
    assert budget.pytest_runtest_protocol(items[0]) is True and budget.left == 1


def test_for_a_page_the_book_is_not_built():
    items = [SimpleNamespace(nodeid=f"tests/a.py::{n}", fixturenames=[n]) for n in ("book", "page")]
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    budget = check.Budget(check.PAGE, ["tests/a.py"])
    budget.pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
    assert [item.nodeid for item in items] == ["tests/a.py::page"]


def test_every_path_of_the_whole_check_is_there():
    for path in (
        check.STYLE,
        check.NAMES,
        check.FLOORS,
        *check.OF_PAGES,
        *check.BESIDE.values(),
        *check.ALL,
    ):
        assert (check.ROOT / path.removeprefix("--ignore=").partition("::")[0]).exists(), path


def test_the_time_begins_with_the_first_test():
    budget, spent = check.Budget(60, []), check.Budget(-1, [])
    assert budget.until is None
    assert budget.pytest_runtest_protocol(None) is None and budget.until
    assert spent.pytest_runtest_protocol(None) and spent.left == 1

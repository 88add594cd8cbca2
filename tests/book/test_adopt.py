"""One place names the repository: badges, set-up cells and pages follow it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from book import adopt

ROOT = Path(__file__).parents[2]
TOLD = "run `make adopt`: it writes each page's badges and set-up cell"
NAMED = "_config.yml pyproject.toml README.md CITATION.cff index.md binder chapters".split()


@pytest.fixture
def course(tmp_path) -> Path:
    """A copy of every file that names the repository."""
    for name in NAMED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    return tmp_path


def texts(course: Path) -> dict[str, str]:
    files = [path for path in course.rglob("*") if path.is_file() and "records" not in path.parts]
    return {path.relative_to(course).as_posix(): path.read_text() for path in files}


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [name for name, text in before.items() if after[name] != text]


def test_everything_agrees_with_the_adopted_repository(course):
    before = texts(course)
    adopt.adopt(root=course)
    assert changed(before, texts(course)) == [], TOLD


def test_adopting_renames_everywhere_and_back_again(course):
    before = texts(course)
    home = adopt.adopted(course)
    adopt.adopt("ada-l/notes.on-the-engine", root=course)
    after = texts(course)
    assert not [name for name, text in after.items() if home.name in text or home.site in text]
    assert "https://ada-l.github.io/notes.on-the-engine/" in after["_config.yml"]
    assert "https://github.com/ada-l/notes.on-the-engine" in after["README.md"]
    adopt.adopt(home.name, root=course)
    assert changed(before, texts(course)) == [], TOLD


def test_every_chapter_has_its_badges_and_its_set_up_cell():
    repository = adopt.adopted()
    chapters = sorted((ROOT / "chapters").glob("*/*.ipynb"))
    assert len(chapters) >= 4
    for chapter in chapters:
        title, *cells = json.loads(chapter.read_text())["cells"]
        setup = next(cell for cell in cells if cell["cell_type"] == "code")
        text = "".join(title["source"])
        path = chapter.relative_to(ROOT).as_posix()
        assert f"/{repository.name}/blob/main/{path}" in text, TOLD
        assert f"{repository.name}/main?labpath={path}" in text, TOLD
        assert setup["id"] == "set-up" and "".join(setup["source"]) == repository.set_up, TOLD


@pytest.mark.parametrize(
    "name", ["", "lovelace", "ada/", "/engine", "ada/the engine", "a/b/c", "-ada/engine"]
)
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(SystemExit, match="owner/name"):
        adopt.Repository(name)


def test_a_user_page_lives_at_the_root():
    assert adopt.Repository("Ada/ada.github.io").site == "https://ada.github.io/"


HERE = ROOT / "chapters" / "ch04_tiled"


def run_set_up(folder: Path, before: str = "", after: str = "") -> subprocess.CompletedProcess:
    code = "\n".join([before, adopt.adopted().set_up, after])
    command = [sys.executable, "-I", "-c", code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_at_home_the_cell_puts_the_course_first_and_says_nothing():
    done = run_set_up(HERE, after="assert sys.path[0] == str(home), sys.path[0]")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_another_package_of_the_name_is_named(tmp_path):
    other = tmp_path / "elsewhere" / "kernels"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    before = f"import sys; sys.path.insert(0, {str(other.parent)!r}); import kernels"
    done = run_set_up(HERE, before=before)
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith("ImportError: `kernels` comes from") and "restart the kernel" in said


COLAB = """
import subprocess, sys, types
sys.modules["google.colab"] = types.ModuleType("google.colab")
subprocess.call = lambda command: print(*command) or 128
"""


def test_on_colab_the_cell_clones_and_says_when_it_cannot(tmp_path):
    done = run_set_up(tmp_path, before=COLAB)
    url = adopt.adopted().url
    assert done.stdout.split() == ["git", "clone", "-q", "--depth=1", url, "/content/tile-by-tile"]
    said = f"RuntimeError: could not clone {url}: run this cell again once it answers"
    assert done.stderr.strip().endswith(said)

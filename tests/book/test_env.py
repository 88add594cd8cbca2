"""The environment: what is installed on which machine, once, and what is said when it cannot be."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from book import env

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "locks"
COLAB = sorted(path.name for path in FOLDER.glob("colab*.lock"))
LOCKS = sorted({path.name for path in FOLDER.glob("*.lock")} - {*COLAB})
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


@pytest.mark.parametrize(
    ("cuda", "test", "expected"),
    [
        (None, False, ["course.lock"]),
        (11, False, ["course.lock"]),
        (12, False, ["cuda12.lock"]),
        (13, False, ["cuda13.lock"]),
        (14, False, ["cuda13.lock"]),
        (None, True, ["test.lock"]),
        (13, True, ["cuda13.lock", "test.lock"]),
    ],
)
def test_the_driver_decides_between_the_locks(cuda, test, expected):
    assert env.locks(cuda, test) == expected


def test_a_cuda_12_driver_tests_on_the_interpreter(monkeypatch, capsys):
    monkeypatch.setenv("KERNELS_BACKEND", "gpu")
    assert env.locks(12, True) == ["test.lock"]
    assert env.os.environ["KERNELS_BACKEND"] == "cpu"
    assert "CUDA 13" in capsys.readouterr().out


@pytest.mark.parametrize("lock", [*LOCKS, *COLAB])
def test_a_lock_is_pinned_hashed_and_names_no_index(lock):
    text = (FOLDER / lock).read_text()
    pins = PIN.findall(text)
    assert len(pins) > 100
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    blocks = re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins)
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_locks_agree_on_every_version():
    """What the tests run is what the reader runs; CUDA 12 packages have their own versions."""
    pins = {lock: dict(PIN.findall((FOLDER / lock).read_text())) for lock in LOCKS}
    plain = pins["course.lock"]
    for lock in ("cuda13.lock", "test.lock"):
        assert {name: pins[lock][name] for name in plain} == plain
    both = [pins[lock]["numba-cuda"] for lock in LOCKS if "numba-cuda" in pins[lock]]
    assert len(both) == 3 and len(set(both)) == 1
    assert not any(name.startswith(("cupy", "nvidia", "cuda")) for name in plain)


def test_the_images_of_colab_differ_by_the_packages_for_a_gpu():
    locks = ("colab.lock", "colab-cpu.lock")
    image, cpu_image = (dict(PIN.findall((FOLDER / lock).read_text())) for lock in locks)
    assert (image["cupy-cuda12x"], image["numba-cuda"]) == ("14.0.1", "0.22.2")
    assert {name: image[name] for name in cpu_image} == cpu_image
    added = image.keys() - cpu_image
    assert all(name.startswith(("cuda", "cupy", "numba-cuda", "nvidia")) for name in added)
    versions = [cpu_image[name] for name in ("numba", "numpy", "ipywidgets", "anywidget")]
    assert versions == ["0.61.2", "2.1.3", "7.7.1", "0.9.21"]


def test_the_environment_is_made_once_and_holds_the_course(tmp_path, monkeypatch):
    course = tmp_path / "course"
    (course / "locks").mkdir(parents=True)
    (course / "locks" / "course.lock").write_text("")
    (course / "marker.py").write_text("WORD = 'tile'\n")
    monkeypatch.setattr(env, "ROOT", course)
    monkeypatch.setattr(env, "cuda_driver", lambda: None)
    python = env.prepare(tmp_path / "venv")
    assert subprocess.check_output([python, "-c", "import marker; print(marker.WORD)"]) == b"tile\n"

    def never(*_):
        raise AssertionError("the second call installs again")

    monkeypatch.setattr(env, "install", never)
    assert env.prepare(tmp_path / "venv") == python
    (course / "locks" / "course.lock").write_text("# changed\n")
    with pytest.raises(AssertionError, match="installs again"):
        env.prepare(tmp_path / "venv")


def test_an_environment_serves_the_course_that_calls_it_and_is_made_anew_where_it_is_moved(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(env, "cuda_driver", lambda: None)
    monkeypatch.setattr(env, "install", lambda *_: None)
    for number, name in enumerate(("first", "second")):
        course = tmp_path / name
        (course / "locks").mkdir(parents=True)
        (course / "locks" / "course.lock").write_text("")
        (course / "marker.py").write_text(f"NUMBER = {number}\n")
        monkeypatch.setattr(env, "ROOT", course)
        python = env.prepare(tmp_path / "venv")
        told = subprocess.check_output([python, "-c", "import marker; print(marker.NUMBER)"])
        assert int(told) == number
    (tmp_path / "venv").rename(tmp_path / "moved")
    env.prepare(tmp_path / "moved")
    pip = (tmp_path / "moved" / "bin" / "pip").read_text()
    assert str(tmp_path / "moved") in pip and str(tmp_path / "venv") not in pip


def one_line(message) -> str:
    assert str(message).count("\n") == 0
    return str(message)


def test_an_old_python_is_named_with_a_way_out(monkeypatch):
    monkeypatch.setattr(env, "version_of", lambda _: (3, 10))
    with pytest.raises(SystemExit) as stop:
        env.find_python(env.NEWEST)
    assert "needs 3.11 to 3.14" in one_line(stop.value)


def test_every_place_names_the_same_pythons():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    minors = range(env.OLDEST[1], env.NEWEST[1] + 1)
    assert project["requires-python"] == f">=3.{minors[0]},<3.{minors[-1] + 1}"
    named = re.findall(r":: Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert named == [f"3.{minor}" for minor in minors]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    matrix = workflow["jobs"]["suite"]["strategy"]["matrix"]
    tested = {*matrix["python"], *(one["python"] for one in matrix["include"])}
    assert tested == {f"3.{minor}" for minor in minors}
    for page in ("README.md", "index.md", "chapters/instructor-guide.md"):
        text = (ROOT / page).read_text()
        assert f"Python 3.{minors[0]} to 3.{minors[-1]}" in text, page


def test_help_names_every_target(run):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    said = run("make", "help").stdout
    assert {"serve", "test", "lab", "book", "bench", "record", "adopt"} <= set(targets)
    assert all(f"make {target} " in said for target in targets)

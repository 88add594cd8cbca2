"""The course in one of Colab's images: run by `make test-colab`, in an environment of that image.

What is as on Colab: the versions, the module ``google.colab``, an empty working folder, and the
set-up cell that clones the course there. Two things differ: the clone comes from this machine, and
``/content`` is a temporary folder. Nothing here needs the network or a GPU.
"""

import json
import os
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest

from authoring.notebooks import stored_widgets
from kernels import backend
from kernels.basics.files import ROOT
from kernels.lab import widgets
from kernels.lab.pages import paths
from kernels.lab.widgets.base import Widget
from tests.chapters.compare import compare

NOTEBOOKS = paths()
#: What anywidget asks of ``google.colab.output`` so that Colab shows a widget that is not its own.
START_UP = """\
import os, sys, types
output = types.ModuleType("google.colab.output")
output._widgets = types.SimpleNamespace(_installed_url=None)
def enable_custom_widget_manager(output=output):
    output._widgets._installed_url = "a widget manager"
    open({asked!r}, "w").close()
output.enable_custom_widget_manager = enable_custom_widget_manager
sys.modules["google.colab"] = types.ModuleType("google.colab")
sys.modules["google.colab.output"] = output
del output, enable_custom_widget_manager
os.chdir({content!r})
"""


def test_the_image_is_colabs():
    held = {name: version(name) for name in ("numba", "numpy", "ipywidgets", "anywidget")}
    assert held == {
        "numba": "0.61.2", "numpy": "2.1.3", "ipywidgets": "7.7.1", "anywidget": "0.9.21",
    }  # fmt: skip
    gpu_image = os.environ["COLAB_IMAGE"] == "gpu"
    assert bool(find_spec("numba_cuda")) == bool(find_spec("cupy")) == gpu_image
    if gpu_image:
        assert version("numba-cuda") == "0.22.2"
    else:
        assert "numba-cuda is not installed" in backend.why_cpu


@pytest.fixture(scope="session")
def origin(tmp_path_factory) -> Path:
    """A repository with one commit: the course as it lies here, with what is not yet committed."""
    folder = tmp_path_factory.mktemp("origin") / "course.git"
    git = ["git", f"--git-dir={folder}", f"--work-tree={ROOT}"]
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
    subprocess.run([*git, "add", "."], check=True, cwd=ROOT)
    subprocess.run([*git, *author, "commit", "-q", "-m", "The course"], check=True, cwd=ROOT)
    return folder


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_runs_from_its_set_up_cell(path, origin, tmp_path, record_property):
    content = tmp_path / "content"
    content.mkdir()
    notebook = nbformat.read(path, as_version=4)
    set_up = next(cell for cell in notebook.cells if cell.id == "set-up")
    assert set_up.source.count('Path("/content/') == 1
    set_up.source = set_up.source.replace('"/content/', f'"{content}/')
    nbformat.write(notebook, tmp_path / path.name)

    start = tmp_path / "ipython" / "profile_default" / "startup" / "colab.py"
    start.parent.mkdir(parents=True)
    asked = tmp_path / "asked-for-a-widget-manager"
    text = START_UP.format(content=str(content), asked=str(asked))
    start.write_text(text, encoding="utf-8")
    settings = tmp_path / "gitconfig"
    url = next(line.split('"')[1] for line in set_up.source.splitlines() if "url, home =" in line)
    settings.write_text(f'[url "{origin.as_uri()}"]\n\tinsteadOf = {url}\n', encoding="utf-8")
    environment = {
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_CONFIG_GLOBAL": str(settings),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PYTHONPATH": "",
    }
    found = compare(tmp_path / path.name, environment, root=tmp_path)
    backend = f"{os.environ['COLAB_IMAGE']} image"
    record_property("cells", {"chapter": path.stem, "backend": backend, **found.counts})
    assert found.right, found.told[-6000:]
    assert found.counts["compared"] > 0, (
        "nothing was compared: a chapter must print something exact"
    )
    assert (content / "tile-by-tile" / "kernels" / "__init__.py").is_file(), "nothing was cloned"
    assert asked.exists() == any(stored_widgets(notebook))


def stored_states():
    for path in NOTEBOOKS:
        for kind, state in stored_widgets(nbformat.read(path, as_version=4)):
            yield pytest.param(kind, state, id=f"{path.stem}-{kind}")


#: What a widget cannot do without.
NEEDED = {"Quiz": ("01-hardware",)}


def own(kind: type[Widget]) -> set[str]:
    """The traits that a class of the course adds to anywidget's."""
    return set(kind.class_trait_names(sync=True)) - set(Widget.class_trait_names(sync=True))


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_widget_gives_its_state(name):
    widget = getattr(widgets, name)(*NEEDED.get(name, ()))
    state = widget.get_state()
    assert own(type(widget)) <= state.keys()
    assert "export default" in state["_esm"] and "{" in state["_css"]
    assert json.loads(json.dumps({key: state[key] for key in own(type(widget))}))
    assert repr(widget).startswith(f"{name}(")


@pytest.mark.parametrize("name, stored", list(stored_states()))
def test_a_stored_widget_is_the_same_here(name, stored):
    kind = getattr(widgets, name)
    state = kind(**{key: stored[key] for key in own(kind)}).get_state()
    assert json.loads(json.dumps({key: state[key] for key in stored})) == stored

"""Every widget in JupyterLab: it shows, takes a key, and the kernel sees the new value."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from chapters.ch07_register_tiling import figures
from kernels.lab import widgets
from tests.lab.widgets import keys, traced_pipelines

ROOT = Path(__file__).parents[3]
TOKEN = "a-token-of-the-test"
SETUP = (
    f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
    "from chapters.ch07_register_tiling import figures\nfrom kernels.lab import widgets\n"
    "from tests.lab.widgets import traced_pipelines"
)
#: For each widget one of its sliders.
SLIDERS = {kind: keys.tests_of(kind).SLIDER for kind in widgets.__all__ if kind != "Quiz"}
#: What a widget draws, in itself.
DRAWN = ".picture, svg[role=img]"
#: How a notebook makes those that are nothing without settings.
MADE = {"Micro": "figures.thread_tile()", "PipelinePlayer": "traced_pipelines.player()"}
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},  # cells out of sight are drawn too
}


def notebook() -> nbformat.NotebookNode:
    """A notebook that makes and shows each widget, then says what the kernel knows of them."""
    shows = [f"{name} = {MADE.get(name, f'widgets.{name}()')}\n{name}" for name in SLIDERS]
    asks = ", ".join(f"{name}.{slider.trait}" for name, slider in SLIDERS.items())
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    shows.append("widgets.Quiz('01-hardware')")
    cells = [new_code_cell(source) for source in (SETUP, *shows, f"print([{asks}])")]
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture
def lab(tmp_path) -> Iterator[str]:
    """The address of the notebook in a JupyterLab that knows nothing of its user."""
    (tmp_path / "pages").mkdir()
    nbformat.write(notebook(), tmp_path / "pages" / "page.ipynb")
    for name, settings in SETTINGS.items():
        path = tmp_path / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(settings))
    own = {"JUPYTER_CONFIG_DIR": "config", "JUPYTERLAB_SETTINGS_DIR": "settings"}
    own |= {"JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython"}
    environment = {**os.environ, **{name: str(tmp_path / path) for name, path in own.items()}}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.root_dir={tmp_path / 'pages'}"]
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    base, end = f"http://127.0.0.1:{port}", monotonic() + 120
    while monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{base}/api", timeout=120)
            break
        except (urllib.error.URLError, OSError):
            sleep(0.2)
    yield f"{base}/lab/tree/page.ipynb?token={TOKEN}"
    process.terminate()
    process.wait(120)
    log.close()


def test_in_jupyterlab_every_widget_takes_a_key_and_the_kernel_sees_it(browser, lab):
    made = {"figures": figures, "traced_pipelines": traced_pipelines, "widgets": widgets}
    first = [
        getattr(eval(MADE.get(name, f"widgets.{name}()"), made), slider.trait)
        for name, slider in SLIDERS.items()
    ]
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(lab)
    page.locator("#jp-main-statusbar").get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    last = page.locator(".jp-CodeCell").last
    last.locator(".jp-OutputArea-output").get_by_text(str(first)).wait_for()
    for name, (label, _, value, shown) in SLIDERS.items():
        kind = keys.tests_of(name).__name__.rpartition("test_")[2].replace("_", "-")
        widget = page.locator(f".jp-OutputArea .tile-widget.{kind}")
        slider = widget.get_by_role("slider", name=label, exact=True)
        before = widget.locator(DRAWN).first.inner_html()
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "([kind, drawn, before]) => document.querySelector(`.jp-OutputArea .${kind}`)"
            ".querySelector(drawn).innerHTML !== before",
            arg=[kind, DRAWN, before],
        )
        assert slider.input_value() == str(value if shown is None else shown)
    quiz = page.locator(".jp-OutputArea .quiz")
    quiz.locator("summary").nth(1).focus()
    page.keyboard.press("Enter")
    quiz.get_by_role("status").get_by_text("This is kept in your browser").wait_for()
    marked = quiz.locator(".option[open]:is(.right, .wrong)")
    marked.wait_for()
    assert marked.count() == 1
    last.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    values = [slider.value for slider in SLIDERS.values()]
    last.locator(".jp-OutputArea-output").get_by_text(str(values)).wait_for()
    assert errors == []
    page.close()

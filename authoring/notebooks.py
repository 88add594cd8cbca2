"""Execute the chapters and keep their outputs: stable, free of machine paths, all or none."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from kernels.basics.files import ROOT, digest, replace_text
from kernels.lab import pages
from kernels.lab.pages import CHAPTERS

#: Cells with this tag need a GPU; on the interpreter they keep the outputs they have.
GPU_TAG = "gpu"
STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET = re.compile(
    r'<div class="widget" data-kind="(\w+)">.*?<script type="application/json">(.*?)</script>',
    re.DOTALL,
)
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
#: Where a cell's own code lives, as far as Python is concerned.
CELL_FILE = re.compile(r"[^\s\"'(<>]*ipykernel_\d+[/\\]\d+\.py")


class ChapterError(RuntimeError):
    """A chapter that does not exist or does not run."""


def chapters(only: str | None = None, folder: Path = CHAPTERS) -> list[Path]:
    """The chapters' notebooks in order; ``only="03"`` narrows them to one chapter's pages.

    Raises
    ------
    ChapterError
        When no chapter matches.
    """
    every = pages.paths(folder)
    found = [path for path in every if only is None or path.stem.startswith(only)]
    if not found:
        there = ", ".join(path.stem for path in every) or "none"
        raise ChapterError(f"no chapter {only or ''!r} in {folder.name}/: there are {there}")
    return found


def code_cells(path: Path) -> int:
    """How many code cells a chapter has."""
    cells = nbformat.read(path, as_version=4).cells
    return sum(cell.cell_type == "code" for cell in cells)


def origin(path: Path, shown: Path) -> str:
    """A hash of all that a chapter's outputs follow from, the machine apart.

    That is its own folder, the kernels, the microscope, and the records in the folder `shown`.
    """
    folders = (path.parent, ROOT / "kernels", ROOT / "microscope")
    code = (file for folder in folders for file in folder.rglob("*"))
    files = [path, *sorted(file for file in code if "__pycache__" not in file.parts)]
    files += sorted(shown.glob("*.json"))
    return digest(file for file in files if file.is_file())


def execute(
    path: Path,
    *,
    cpu: bool = False,
    environment: dict[str, str] | None = None,
    cell_done: Callable[[], None] = lambda: None,
) -> nbformat.NotebookNode:
    """Run a chapter from top to bottom in a fresh kernel and return it with its new outputs.

    Parameters
    ----------
    path : Path
        The notebook; the file itself is not changed.
    cpu : bool
        Skip the cells tagged ``gpu``.
    environment : dict, optional
        Environment variables for the kernel, beside the present ones.
    cell_done : callable
        Called after each cell.

    Raises
    ------
    ChapterError
        Names the chapter, the cell and the error.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=900,
        startup_timeout=600,
        kernel_name="python3",
        store_widget_state=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        skip_cells_with_tag=GPU_TAG if cpu else "",
        resources={"metadata": {"path": str(path.parent.resolve())}},
        on_cell_executed=lambda **_: cell_done(),
    )
    try:
        client.execute(env={**os.environ, **(environment or {})})
    except CellExecutionError as error:
        cell = next((c.id for c in notebook.cells if _failed(c, error.ename)), "?")
        told = " ".join(error.evalue.split())
        raise ChapterError(f"{path.stem}, cell {cell}: {error.ename}: {told}") from None
    return normalise(notebook)


def _failed(cell: Any, name: str) -> bool:
    tags = cell.metadata.get("tags", [])
    outputs = cell.get("outputs", ())
    errors = [out for out in outputs if out.output_type == "error" and out.ename == name]
    return bool(errors) and "raises-exception" not in tags


def normalise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Make a notebook's stored form depend on what it says alone (changed in place).

    Cells are counted 1 to n, chunks of one stream are joined, progress bars, machine paths,
    memory addresses and versions of the kernel are taken out, and of the course's widgets their
    state is kept.
    """
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
            **{k: v for k, v in notebook.metadata.items() if k not in _KERNEL},
        }
    )
    count = 0
    for cell in notebook.cells:
        for passing in ("execution", "ExecuteTime", "collapsed"):
            cell.metadata.pop(passing, None)
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = [_clean(output, count) for output in joined(cell.outputs)]
        cell.outputs = [output for output in cell.outputs if output is not None]
    return _store_widgets(notebook)


_KERNEL = ("kernelspec", "language_info", "varInspector", "toc")


def joined(outputs: list[Any]) -> Iterator[Any]:
    """Outputs with neighbouring chunks of one stream joined."""
    last = None
    for output in outputs:
        same = last is not None and last.output_type == output.output_type == "stream"
        if same and last.name == output.name:
            last.text += output.text
            continue
        if last is not None:
            yield last
        last = output
    if last is not None:
        yield last


def _clean(output: Any, count: int) -> Any:
    """One output without traces of the machine; None when nothing is left."""
    if output.output_type == "stream":
        output.text = portable(lasting(output.text))
        return output if output.text.strip() else None
    if output.output_type == "error":
        output.evalue = portable(output.evalue)
        # The frames are library lines and paths; the last line is what the page is about.
        output.traceback = [f"{output.ename}: {output.evalue}"]
        return output
    if "execution_count" in output:
        output.execution_count = count
    for kind, value in output.data.items():
        if kind.startswith("text/") and isinstance(value, str):
            output.data[kind] = portable(value)
    return output


def lasting(text: str) -> str:
    """The lines of a stream that are there to stay: a progress bar rewrites its own."""
    lines = ESCAPES.sub("", text).split("\n")
    return "\n".join(line for line in lines if "\r" not in line.rstrip("\r"))


def portable(text: str) -> str:
    """Text without this machine's paths and memory addresses."""
    text = CELL_FILE.sub("<cell>", text)
    for path, name in ((f"{ROOT}{os.sep}", ""), (str(ROOT), "."), (str(Path.home()), "~")):
        if len(path) > 2:
            text = text.replace(path, name)
    return ADDRESS.sub("at 0x…", text)


def _store_widgets(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Put the state of each of the course's widgets where its view was; others stay as text.

    Scripts and style sheets are left out: those of the day that shows the page are used.
    """
    models = notebook.metadata.pop("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            view = output.get("data", {}).pop(VIEW, None)
            state = models.get(view["model_id"], {}).get("state", {}) if view else {}
            package, _, kind = state.get("_anywidget_id", "").rpartition(".")
            if package.startswith(("kernels.", "chapters.")):
                output.data["text/html"] = widget_html(kind, state, output.data["text/plain"])
    return notebook


def widget_html(kind: str, state: dict[str, Any], text: str) -> str:
    """A widget as a notebook stores it: what to do to see it, and the traits that it starts with.

    Parameters
    ----------
    kind : str
        Name of the widget's class.
    state : dict
        Its traits by name; those of the notebook's own machinery are left out.
    text : str
        Its text form.
    """
    own = {key: state[key] for key in sorted(state) if key[0] != "_" and key not in _MACHINERY}
    traits = ",\n".join(
        f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in own.items()
    )
    traits = traits.replace("</", "<\\/")  # a string must not end the element
    return (
        f'<div class="widget" data-kind="{kind}">\n'
        f"<p>Run this cell to start it: <code>{escape(text, quote=False)}</code></p>\n"
        f'<script type="application/json">\n{{{traits}}}\n</script>\n</div>'
    )


_MACHINERY = ("layout", "tabbable", "tooltip")


def stored_widgets(notebook: nbformat.NotebookNode) -> Iterator[tuple[str, dict[str, Any]]]:
    """The widgets that a notebook stores, in their order: class and traits of each."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            for kind, traits in WIDGET.findall(output.get("data", {}).get("text/html", "")):
                yield kind, json.loads(traits)


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Store a notebook: keys sorted, indent 1, Unix newlines."""
    replace_text(path, nbformat.writes(notebook).rstrip("\n") + "\n")


def replace_all(staged: dict[Path, Path]) -> None:
    """Move finished files (values) to their places (keys), once all of them are there."""
    for source in staged.values():
        if not source.is_file():
            raise FileNotFoundError(f"{source.name} is not finished: nothing was replaced")
    for target, source in staged.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target.with_name(f".{target.name}.new"))
    for target in staged:
        os.replace(target.with_name(f".{target.name}.new"), target)

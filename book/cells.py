"""Copy kernels into the chapters: a kernel cell is the text of one function of one file.

A cell whose metadata has ``"kernel": "kernels/rungs/naive.py::naive"`` holds exactly that top-level
function, decorators included. ``python -m book.cells`` writes such cells anew;
``--check`` only says which of them differ.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[1]


class KernelNotFound(LookupError):
    """A cell names a file or a function that does not exist."""


def kernel_text(name: str, root: Path = ROOT) -> str:
    """The text of ``"path/of/file.py::function"``, decorators included.

    Raises
    ------
    KernelNotFound
        Says which functions the file has.
    """
    path, _, function = name.partition("::")
    if not (root / path).is_file():
        raise KernelNotFound(f"kernel {name!r}: there is no file {path}")
    source = (root / path).read_text(encoding="utf-8")
    functions = {
        node.name: node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if function not in functions:
        there = ", ".join(functions) or "none"
        raise KernelNotFound(f"kernel {name!r}: {path} has these functions: {there}")
    node = functions[function]
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(source.split("\n")[first - 1 : node.end_lineno])


def stale(notebook: Any, root: Path = ROOT) -> list[tuple[Any, str]]:
    """Kernel cells whose text is not their function's, each with the text it should have."""
    named = [cell for cell in notebook.cells if "kernel" in cell.metadata]
    wanted = [(cell, kernel_text(cell.metadata["kernel"], root)) for cell in named]
    return [(cell, text) for cell, text in wanted if cell.source != text]


def main() -> int:
    parser = argparse.ArgumentParser(description="Copy kernels into the chapters' kernel cells.")
    parser.add_argument("--check", action="store_true", help="only say which differ")
    check = parser.parse_args().check
    differing = 0
    for path in sorted((ROOT / "chapters").glob("*/*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        try:
            found = stale(notebook)
        except KernelNotFound as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            return 2
        for cell, text in found:
            print(f"{path.name}: cell {cell.id} {'differs from' if check else 'now is'} "
                  f"{cell.metadata['kernel']}")  # fmt: skip
            cell.source = text
        differing += len(found)
        if found and not check:
            text = nbformat.writes(notebook).rstrip("\n") + "\n"
            path.write_text(text, encoding="utf-8", newline="\n")
    if check and differing:
        print("run `make cells` to copy the kernels into the chapters", file=sys.stderr)
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())

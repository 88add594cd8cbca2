"""The files that a figure depends on: change one of them, and the figure is stale.

They are found by reading: from the module that measures, every import of `kernels` leads on. C++
and WGSL are loaded by name, so each folder that is reached counts with all of them. The microscope
does not run where figures are measured, so it does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kernels.basics.files import ROOT, digest


@cache
def key(module: str) -> str:
    """A short hash of every file that ``module`` (``"kernels.measure.bench.ladder"``) needs."""
    return digest(sources(module))


def sources(module: str) -> list[Path]:
    """Every file of the package that ``module`` needs, itself included, sorted."""
    found: set[Path] = set()
    todo = [file_of(module)]
    while todo:
        path = todo.pop()
        if path and path not in found:
            found.add(path)
            todo += map(file_of, imported(path))
    folders = {path.parent for path in found}
    kinds = ("*.cu*", "*.wgsl")
    return sorted(found.union(*(folder.glob(kind) for folder in folders for kind in kinds)))


def file_of(module: str) -> Path | None:
    """The file of a module of this package; None for a name that is no module of it."""
    if module.partition(".")[0] != "kernels":
        return None
    path = ROOT.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in candidates if file.is_file()), None)


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, at its top and inside its functions."""
    package = ".".join(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                # `from package import module` needs that module alone, any other name the package.
                inner = f"{module}.{alias.name}"
                yield inner if file_of(inner) else module

"""One kernel for Hopper in five languages: each text as it stands in its file."""

from __future__ import annotations

import ast
import json
import textwrap
from typing import Any

from kernels.basics.files import ROOT

#: The file of a language's kernel, in ``kernels/``, and its name there.
KERNELS = {
    "Numba": ("rungs/specialized.py", "specialized"),
    "CUDA C++": ("rungs/specialized.cu", "specialized"),
    "CuTe DSL": ("measure/cute_product.py", "product"),
    "Triton": ("measure/triton_product.py", "matmul"),
    "cuTile": ("measure/cutile_product.py", "product"),
}


def text(language: str) -> str:
    """The text of a language's kernel, from its first line to its last.

    Raises
    ------
    LookupError
        For another language: the message names those there are.
    """
    if language not in KERNELS:
        raise LookupError(f"no kernel in {language!r}: use one of {', '.join(KERNELS)}")
    file, name = KERNELS[language]
    whole = (ROOT / "kernels" / file).read_text(encoding="utf-8")
    lines = whole.splitlines()
    if file.endswith(".cu"):
        first = next(i for i, line in enumerate(lines) if line.startswith('extern "C" __global__'))
        last = next(i for i, line in enumerate(lines) if i > first and line == "}") + 1
    else:
        found = (node for node in ast.walk(ast.parse(whole)) if isinstance(node, ast.FunctionDef))
        kernel = next(node for node in found if node.name == name)
        first = min(node.lineno for node in (kernel, *kernel.decorator_list)) - 1
        last = kernel.end_lineno
    return textwrap.dedent("\n".join(lines[first:last]))


def lines_of_code(kernel: str) -> int:
    """How many lines of a kernel's text hold code: neither blank nor a comment alone."""
    lines = (line.strip() for line in kernel.splitlines())
    return sum(bool(line) and not line.startswith(("# ", "//")) for line in lines)


def compiled() -> dict[str, Any]:
    """What the compilers of the other languages made of their texts: ``measure/compiled.json``."""
    file = ROOT / "kernels" / "measure" / "compiled.json"
    return json.loads(file.read_text(encoding="utf-8"))

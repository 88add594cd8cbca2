"""Read the rows: a construct, and the few lines that use it.

In a file of rows a line that `=` signs underline opens a section. Any other line at the left margin
names a construct; the indented lines below it are the body of a kernel. What stands above a line
``---`` among them comes before the kernel.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
#: The files, in the order of the page.
FILES = ("language", "functions", "threads", "memory", "types", "libraries", "host")
KERNEL = """\
@cuda.jit
def kernel(out, x, y, k, m, g, n):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
"""


@dataclass(frozen=True)
class Row:
    """One construct.

    Attributes
    ----------
    section, construct : str
        Markdown.
    before, body : str
        Source before the kernel, and of it; of a row of the host all is `before`.
    on_host : bool
        The source stands outside kernels.
    """

    section: str
    construct: str
    before: str
    body: str
    on_host: bool = False

    @property
    def source(self) -> str:
        """The text of a module that needs only its imports."""
        if self.on_host:
            return self.before
        return f"{self.before}\n\n{KERNEL}{textwrap.indent(self.body, '    ')}"


def read(name: str) -> list[Row]:
    """The rows of a file."""
    rows, section, construct = [], "", ""
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    snippet: list[str] = []

    def close() -> None:
        text = textwrap.dedent("\n".join(snippet)).strip("\n") + "\n"
        if snippet:
            before, cut, body = text.partition("---\n")
            on_host = name == "host"
            before, body = (before, body) if cut or on_host else ("", before)
            rows.append(Row(section, construct, before, body, on_host))
        snippet.clear()

    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("    ") or not line:
            if line or snippet:
                snippet.append(line)
        elif not line.strip("="):
            continue
        else:
            close()
            if below and not below.strip("="):
                section = line
            else:
                construct = line
    close()
    return rows


def everything() -> list[Row]:
    """All rows, in the order of the page."""
    return [row for name in FILES for row in read(name)]

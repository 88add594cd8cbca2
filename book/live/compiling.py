"""Compiles what a start imports of Python's own library; runs inside the page's Python, under Node.

The library is written to ``/compiled.zip``: sources that the start imports give way to their byte
code, without docstrings. Others stay as they are.
"""

import contextlib
import importlib
import py_compile
import sys
import tempfile
import zipfile
from pathlib import Path

TRUSTED = py_compile.PycInvalidationMode.UNCHECKED_HASH  # right without a look at its source


def compiled(path: str, source: bytes) -> bytes:
    """The byte code of a module, without docstrings."""
    with tempfile.TemporaryDirectory() as folder:
        text, code = Path(folder, "text.py"), Path(folder, "code.pyc")
        text.write_bytes(source)
        py_compile.compile(text, code, path, doraise=True, optimize=2, invalidation_mode=TRUSTED)
        return code.read_bytes()


sys.path.insert(0, "/course")
for name in ("inpage.cells", "kernels"):
    with contextlib.suppress(ModuleNotFoundError):  # where the book is built without NumPy
        importlib.import_module(name)
library = next(path for path in sys.path if path.endswith(".zip"))
used = {getattr(module, "__file__", None) for module in sys.modules.values()}
with zipfile.ZipFile(library) as sources, zipfile.ZipFile("/compiled.zip", "w") as made:
    for name in sources.namelist():
        path, data = f"{library}/{name}", sources.read(name)
        if path in used and name.endswith(".py"):
            name, data = f"{name}c", compiled(path, data)
        made.writestr(name, data)

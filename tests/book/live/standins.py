"""A stand-in for Matplotlib's wheel, where Pyodide's distribution cannot be reached.

It draws nothing. It proves how the wheel is fetched, when it is loaded, and what cells do around
their pictures: a picture's text says what it would show.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

SOURCE = """
"Every name of Matplotlib, and nothing drawn."

import importlib.abc
import importlib.machinery
import sys
import types


class Anything:
    "Can be called, entered, looked into and compared; two of it come out of a loop."

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *_, **__):
        return Anything()

    def __iter__(self):
        return iter((Anything(), Anything()))

    def __getitem__(self, _):
        return Anything()

    def __setitem__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __float__(self, *_):
        return 1.0

    def __lt__(self, _):
        return False

    def __format__(self, _):
        return "anything"

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __float__
    __gt__ = __le__ = __ge__ = __lt__


class Figure(Anything):
    def savefig(self, file, **_):
        file.write('<svg viewBox="0 0 518 60"><text x="8" y="34">by a stand-in</text></svg>')

    def findobj(self, *_):
        return []

    def subplots(self, rows=1, columns=1, **options):
        import numpy as np

        if rows * columns == 1 and options.get("squeeze", True):
            return Anything()
        axes = np.empty((rows, columns), object)
        for place in np.ndindex(axes.shape):
            axes[place] = Anything()
        return np.squeeze(axes) if options.get("squeeze", True) else axes


class Names(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        known = {"Figure": Figure, "to_rgb": lambda *_: (0.5, 0.5, 0.5)}
        return known.get(name, Anything())


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.startswith("matplotlib."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Names(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
rc_context = Anything()
"""


def matplotlib(folder: Path) -> Path:
    """Write the stand-in's wheel into a folder."""
    wheel = folder / "matplotlib-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr("matplotlib/__init__.py", SOURCE)
        files.writestr("matplotlib-0.dist-info/METADATA", "Name: matplotlib\nVersion: 0\n")
        files.writestr("matplotlib-0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    return wheel

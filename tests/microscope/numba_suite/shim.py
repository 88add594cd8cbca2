"""Put the microscope in the place of ``numba.cuda``, for the rest of this process."""

from __future__ import annotations

import builtins
import linecache
import subprocess
import sys
import types
import warnings
from pathlib import Path
from unittest import mock

from microscope import api

ROOT = Path(__file__).parents[3]
KEPT = ("HAS_NUMBA", "config_default_cc", "numba_cuda_default_ptx_cc", "implementation")


def install() -> None:
    """Give ``numba.cuda`` the names of the microscope's `api`, and take away all others.

    Numba's types and submodules stay: tests name them in signatures. What tests ask of a GPU
    before they begin (its capability, the version of CUDA) is answered as by an H200.
    """
    for part in ("", ".matcher", ".options", ".parser", ".finput"):  # what reads machine code
        sys.modules.setdefault(f"filecheck{part}", mock.MagicMock())
    import numba.cuda
    import numba.cuda.bf16
    import numba.cuda.extending
    import numba.cuda.random
    import numba.cuda.testing
    from numba.cuda.cudadrv import devices
    from numba.cuda.cudadrv.runtime import runtime
    from numba.cuda.types import Type

    warnings.simplefilter("ignore")
    cuda = numba.cuda
    for name, theirs in list(vars(cuda).items()):
        if name.startswith("_") or isinstance(theirs, (types.ModuleType, Type)):
            continue
        if getattr(theirs, "__module__", "").startswith("numba.cuda.types"):
            continue
        if name not in vars(api) and name not in KEPT:
            delattr(cuda, name)
    for name, mine in vars(api).items():
        module = isinstance(mine, types.ModuleType) or isinstance(vars(cuda).get(name), Type)
        if not name.startswith("__") and not module:
            setattr(cuda, name, mine)
    cuda.__getattr__ = api.__getattr__
    gpu = types.SimpleNamespace(compute_capability=(9, 0), name=b"H200", id=0)
    context = types.SimpleNamespace(device=gpu)
    devices.get_context = cuda.current_context = lambda number=None: context
    type(runtime).get_version = lambda self: (13, 0)

    builtins.exec = execute
    subprocess.Popen.__init__ = _begin
    api.Kernel.inspect_asm = api.Kernel.inspect_llvm = _machine_code


class MachineCode(Exception):
    """A test has come to where it reads machine code, which is none of the interpreter's."""


def _machine_code(self, *signature):
    raise MachineCode


_execute, _popen = exec, subprocess.Popen.__init__


def execute(code, scope=None, names=None) -> None:
    """``exec``, whose text can be read afterwards: the interpreter runs text, not bytecode."""
    caller = sys._getframe(1)
    scope = caller.f_globals if scope is None else scope
    if isinstance(code, str):
        filename = f"<text {len(linecache.cache)}>"
        linecache.cache[filename] = len(code), None, code.splitlines(keepends=True), filename
        code = compile(code, filename, "exec")
    _execute(code, scope, *([] if names is None else [names]))


def _begin(self, args, *more, **options) -> None:
    """Begin a process; one of Python's that runs a text does so with the microscope in place."""
    args = list(args) if isinstance(args, (list, tuple)) else args
    if isinstance(args, list) and args[0] == sys.executable and "-c" in args:
        at = args.index("-c") + 1
        args[at] = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
            "from tests.microscope.numba_suite import shim\n"
            f"shim.install(); shim.execute({args[at]!r}, {{'__name__': '__main__'}})"
        )
    _popen(self, args, *more, **options)

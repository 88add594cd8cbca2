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

DRIVER: tuple = ()  #: errors of a driver that is not there
ROOT = Path(__file__).parents[3]
#: Names of ``numba.cuda`` that stay: of its compiler, which is another matter.
KEPT = """
    HAS_NUMBA config_default_cc numba_cuda_default_ptx_cc implementation compile compile_ptx
    bf16 compile_all compile_for_current_device compile_ptx_for_current_device CUSource PTXSource
    LTOIR Cubin Fatbin Archive Object LinkableCode
""".split()


def install() -> None:
    """Give ``numba.cuda`` the names of the microscope's `api`, and take away all others.

    Numba's types and submodules stay: tests name them in signatures. What tests ask of a GPU
    before they begin (its capability, the version of CUDA) is answered as by an H200.
    """
    for part in ("", ".matcher", ".options", ".parser", ".finput"):  # what reads machine code
        sys.modules.setdefault(f"filecheck{part}", mock.MagicMock())
    import numba
    import numba.cuda
    import numba.cuda.api
    import numba.cuda.bf16
    import numba.cuda.extending
    import numba.cuda.random
    import numba.cuda.testing
    from cuda.pathfinder import DynamicLibNotFoundError
    from numba.cuda.cudadrv import devices
    from numba.cuda.cudadrv.error import CudaSupportError
    from numba.cuda.cudadrv.runtime import runtime
    from numba.cuda.tests import support
    from numba.cuda.types import Type

    warnings.simplefilter("ignore")
    global DRIVER
    DRIVER = (Driver, CudaSupportError, DynamicLibNotFoundError)
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
        if not name.startswith("__") and not module and name not in KEPT:
            setattr(cuda, name, mine)
    cuda.__getattr__ = api.__getattr__
    devices.get_context = cuda.current_context = lambda number=None: Context()
    support.MemoryLeakMixin.setUp = support.MemoryLeakMixin.tearDown = lambda self: None
    numba.cuda.api.is_fp8_supported = lambda: True
    type(runtime).get_version = lambda self: (13, 0)

    builtins.exec = execute
    subprocess.Popen.__init__ = _begin
    api.Device.compute_capability = (9, 0)
    numba.vectorize = _for_target(numba.vectorize, api.vectorize)
    numba.guvectorize = _for_target(numba.guvectorize, api.guvectorize)
    for name in ("gpu_data", "device_ctypes_pointer"):
        setattr(api.DeviceArray, name, property(_driver))
    for name in ("overloads", "_compile_for_args", "extensions"):
        setattr(api.Kernel, name, property(_driver))
        setattr(api.DeviceFunction, name, property(_driver))
    api.DeviceArray._numba_type_ = property(_type_of)
    api.Kernel.inspect_asm = api.Kernel.inspect_llvm = _machine_code


def _for_target(theirs, mine):
    """A decorator of Numba's that is ours for ``target="cuda"``."""
    return lambda *args, **options: (mine if options.get("target") == "cuda" else theirs)(
        *args, **options
    )


def _type_of(a):
    """What Numba's `typeof` asks of a device array."""
    from numba.cuda.np import numpy_support
    from numba.cuda.types import Array

    spread = a.size and 0 in a.strides
    layout = "A" if spread else "C" if a.is_c_contiguous() else "F" if a.is_f_contiguous() else "A"
    return Array(numpy_support.from_dtype(a.dtype), a.ndim, layout)


class Driver(Exception):
    """A test asks for something of the driver, or of the compiler's inner life."""


class Context:
    """A context of the driver, of which no more is known than its device."""

    device = types.SimpleNamespace(compute_capability=(9, 0), name=b"H200", id=0)

    def __getattr__(self, name: str):
        raise Driver(f"the context's {name}")


def _driver(self):
    raise Driver("memory of the driver, or what the compiler has made")


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

"""``python -m microscope``: trace a kernel of a file, or every launch of a program."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import runpy
import sys
import traceback
from pathlib import Path

import numpy as np

from . import Trace, recording, stand_in_for_numba, trace
from .errors import KernelError
from .launch import SCHEDULES

ABOUT = """\
Run a Numba CUDA kernel without a GPU, and print what each of its memory accesses costs and what is
wrong with it.

  python -m microscope saxpy.py                      runs the program; traces each of its launches
  python -m microscope saxpy.py:saxpy --grid 8 --block 128 \\
      --args 2.5 float32[1000]:random float32[1000]:zeros
                                                     traces one launch of one kernel

In place of a file, a module's name may stand: package.module:kernel.
"""
ARGUMENTS = """\
arguments, in the kernel's order:
  float32[1000,300]:random   an array; after the colon: random (floats of 0 to 1, integers of 0 to
                             9, the same in every run), zeros, ones, arange, or a number
  data.npy                   an array from a file of NumPy's
  float32:2.5, int32:7       a number of a type
  3, 2.5, True, (1, 2)       what Python means by it: int64, float64

The exit status is 0 if no problem was found, 1 if one was, and 2 if the kernel could not be run.
"""


class Refused(Exception):
    """What was asked for cannot be done: one line says why."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str):
        raise Refused(f"{message}; --help says how")


def parser() -> Parser:
    """The options of the command line."""
    made = Parser(
        "python -m microscope",
        description=ABOUT,
        epilog=ARGUMENTS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("target", metavar="FILE.py[:KERNEL]")
    made.add_argument("--grid", type=sizes, help="blocks: 8, or 8,4 or 8,4,2, x first")
    made.add_argument("--block", type=sizes, help="threads of a block, likewise")
    made.add_argument("--args", nargs="*", default=[], metavar="ARG", help="see below")
    made.add_argument("--schedule", choices=SCHEDULES, default=SCHEDULES[0])
    made.add_argument("--shared-bytes", type=int, default=0, help="dynamic shared memory per block")
    made.add_argument("--save", metavar="FILE.npz", help="write the arrays as the kernel left them")
    made.add_argument("--traceback", action="store_true", help="show where an error comes from")
    return made


def sizes(text: str) -> tuple[int, ...]:
    """A grid or a block from its text."""
    return tuple(int(part) for part in text.split(","))


def argument(text: str):
    """A kernel's argument from its text.

    Raises
    ------
    Refused
    """
    try:
        if text.endswith(".npy"):
            return np.load(text)
        kind, colon, value = text.partition(":")
        if kind.endswith("]"):
            name, _, shape = kind.removesuffix("]").partition("[")
            return array(np.dtype(name), tuple(map(int, shape.split(","))), value or "random")
        if colon and not text.startswith(("(", "'", '"')):
            return np.dtype(kind).type(ast.literal_eval(value))
        return ast.literal_eval(text)
    except (OSError, SyntaxError, TypeError, ValueError) as error:
        raise Refused(
            f"argument {text!r} cannot be read ({str(error).partition(chr(10))[0]}): write "
            "float32[1000,300]:random, data.npy, float32:2.5 or a number"
        ) from None


def array(dtype: np.dtype, shape: tuple[int, ...], content: str) -> np.ndarray:
    """An array of a type and a shape, filled as a word or a number says."""
    random = np.random.default_rng(0)
    if content == "random":
        whole = dtype.kind in "iu"
        return (random.integers(0, 10, shape) if whole else random.random(shape)).astype(dtype)
    if content == "arange":
        return np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    number = {"zeros": "0", "ones": "1"}.get(content, content)
    return np.full(shape, complex(number) if dtype.kind == "c" else float(number)).astype(dtype)


def module_of(name: str):
    """The module of a file's path, or of a module's name, with the interpreter as its ``cuda``."""
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name).resolve()
    if not path.is_file():
        raise Refused(f"there is no file {name}")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def kernel_of(module, path: str):
    """A kernel by its name, or by ``Class.name``, in a module."""
    kernel = module
    for name in path.split("."):
        kernel = getattr(kernel, name, None)
    if kernel is None:
        there = [name for name, v in vars(module).items() if hasattr(v, "py_func")]
        raise Refused(
            f"{module.__name__} has no kernel {path}; it has: {', '.join(there) or 'none'}"
        )
    return kernel


def one_launch(options: argparse.Namespace, file: str, kernel: str) -> list[Trace]:
    """Trace the launch that the options describe."""
    if not (options.grid and options.block):
        raise Refused("a kernel needs --grid and --block: --help says how")
    given = [argument(text) for text in options.args]
    with stand_in_for_numba():
        found = kernel_of(module_of(file), kernel)
    seen = trace(
        found, options.grid, options.block, *given,
        schedule=options.schedule, shared_bytes=options.shared_bytes,
    )  # fmt: skip
    if options.save:
        np.savez(options.save, **seen.outputs)
    return [seen]


def every_launch(options: argparse.Namespace) -> list[Trace]:
    """Run a program, and trace what it launches."""
    given = (options.grid, options.block, options.args, options.save)
    if any(given):
        raise Refused("these options are for one kernel: name it, as in FILE.py:KERNEL")
    sys.argv = [options.target]
    with stand_in_for_numba(), recording(schedule=options.schedule) as traces:
        try:
            if options.target.endswith(".py"):
                sys.path.insert(0, str(Path(options.target).resolve().parent))
                runpy.run_path(options.target, run_name="__main__")
            else:
                runpy.run_module(options.target, run_name="__main__", alter_sys=True)
        except KernelError:
            if not (traces and traces[-1].problems):
                raise
    if not traces:
        raise Refused(f"{options.target} has launched no kernel: name one, as in FILE.py:KERNEL")
    return traces


def report(traces: list[Trace]) -> None:
    """Print the first launch of each kernel and size, and all that have problems."""
    launches: dict[tuple, int] = {}
    for seen in traces:
        key = seen.kernel, seen.grid, seen.block
        launches[key] = launches.get(key, 0) + 1
    shown = set()
    for seen in traces:
        key = seen.kernel, seen.grid, seen.block
        if key in shown and not seen.problems:
            continue
        print(*[""] * bool(shown), seen.table(), sep="\n")
        if key not in shown and launches[key] > 1:
            print(f"This is the first of {launches[key]} such launches.")
        shown.add(key)


def main(words: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    debug = "--traceback" in (sys.argv if words is None else words)
    try:
        options = parser().parse_args(words)
        file, colon, kernel = options.target.rpartition(":")
        traces = one_launch(options, file, kernel) if colon else every_launch(options)
    except (KernelError, Refused) as error:
        message = str(error)
    except Exception as error:  # of the program that was loaded
        last = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{last.filename}, line {last.lineno}: {type(error).__name__}: {error}"
        message = message.replace("\n", " ")
        if debug:
            raise
    else:
        report(traces)
        return int(any(seen.problems for seen in traces))
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

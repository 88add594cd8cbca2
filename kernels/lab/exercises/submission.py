"""What a learner hands in, read: a kernel, a function of Python, or the text of one."""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import math
import os
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path

from kernels import backend
from microscope import KernelError, code_of

from ..pages import CHAPTERS
from .exercise import KernelExercise
from .flaws import Flaw

_numbers = itertools.count(1)

#: How the files of the course's own solutions begin, and those of texts that were handed in.
HOMES = (str(Path(__file__).parent), *(f"{d}{os.sep}" for d in CHAPTERS.glob("ch*/exercises")))
ANSWER = "<answer "

UNTOUCHED = "this is still the beginning: write between the two marks, run the cell again"


class Refused(Exception):
    """An answer that cannot be judged.

    Attributes
    ----------
    kind : Flaw
    line : int or None
        Line of the answer.
    """

    def __init__(self, kind: Flaw, message: str, line: int | None = None):
        super().__init__(message)
        self.kind, self.line = kind, line


def function_of(answer, names: dict) -> types.FunctionType:
    """Return the plain function behind an answer: a kernel, a function, or the text of one.

    Parameters
    ----------
    answer : kernel, function or str
    names : dict
        What a text may use beside ``cuda``, ``math`` and the number types.

    Raises
    ------
    Refused
        If there is nothing, or it is no function.
    """
    if answer is None or answer is ... or (isinstance(answer, str) and not answer.strip()):
        raise Refused(Flaw.EMPTY, "there is nothing to check: pass your kernel, as in check(…, f)")
    if isinstance(answer, str):
        return _from_text(answer, names)
    function = getattr(answer, "py_func", answer)
    if not isinstance(function, types.FunctionType):
        raise Refused(
            Flaw.NO_KERNEL,
            f"got {type(answer).__name__}, no kernel: pass the kernel itself, without [grid, block]"
            " and without calling it",
        )
    return function


def _from_text(text: str, names: dict) -> types.FunctionType:
    text = textwrap.dedent(text).strip("\n") + "\n"
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise Refused(Flaw.SYNTAX, f"Python cannot read this: {error.msg}", error.lineno) from None
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not defined:
        raise Refused(Flaw.NO_KERNEL, "the text defines no function: begin with def")
    filename = f"{ANSWER}{next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    types_ = {name: getattr(backend, name) for name in ("float32", "float64", "int32", "uint32")}
    scope = {"cuda": backend.cuda, "math": math, "cdiv": _cdiv, **types_, **names}
    try:
        exec(compile(text, filename, "exec"), scope)
    except KernelError as error:
        raise not_compiled(error) from None
    except Exception as error:
        raise Refused(Flaw.NO_KERNEL, f"running the text failed: {error}") from None
    function = scope[defined[-1]]
    return getattr(function, "py_func", function)


def _cdiv(a, b):
    return -(-a // b)


def check_kernel(function: types.FunctionType, exercise: KernelExercise, answer=None) -> None:
    """Raise `Refused` for another signature, an untouched start, and what cannot be a kernel.

    `answer` is what was handed in: the kernel that ``cuda.jit`` made of the function, or its text.
    """
    try:
        code = code_of(function)
    except KernelError as error:
        raise not_compiled(error) from None
    if not (hasattr(answer, "py_func") or code.node.decorator_list):
        raise Refused(
            Flaw.NO_KERNEL,
            f"{function.__name__} is a plain function of Python: write @cuda.jit above its def",
            code.node.lineno,
        )
    if not exercise.mends and is_start(function, exercise):
        raise Refused(Flaw.UNTOUCHED, UNTOUCHED)
    given, wanted = parameters_of(function), exercise.parameters
    if len(given) != len(wanted) or (set(given) == set(wanted) and given != wanted):
        raise another_signature(function, exercise)
    check_own(function, answer)


def parameters_of(function: types.FunctionType) -> tuple[str, ...]:
    """The names of a kernel's parameters, in order."""
    return tuple(code_of(function).parameters)


def another_signature(
    function: types.FunctionType, exercise: KernelExercise, more: str = ""
) -> Refused:
    """What to raise for a kernel that takes other parameters, or the same in another order."""
    return Refused(
        Flaw.SIGNATURE,
        f"the kernel must take ({', '.join(exercise.parameters)}), in this order;"
        f" yours takes ({', '.join(parameters_of(function))}){more}",
        code_of(function).node.lineno,
    )


def check_own(function: Callable, answer=None) -> None:
    """Raise `Refused` if a function, or one that it names, is the course's own.

    Those are the functions of this package and what it has read from texts such as a solution's;
    only the text that was handed in itself is the learner's.
    """
    mine = function.__code__.co_filename if isinstance(answer, str) else ""
    for called in _with_called(function):
        file = called.__code__.co_filename
        if file != mine and file.startswith((*HOMES, ANSWER)):
            raise Refused(
                Flaw.BORROWED, f"{called.__name__} is the course's own solution: write yours"
            )


def _with_called(function: Callable) -> Iterator[types.FunctionType]:
    """A function and those that it names, followed as far as its own file goes."""
    waiting, known = [function], set()
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    while waiting:
        one = waiting.pop()
        one = getattr(one, "py_func", one)
        if not isinstance(one, types.FunctionType) or one in known:
            continue
        known.add(one)
        yield one
        if one.__code__.co_filename == file:
            waiting += _named_in(one)


def _named_in(function: types.FunctionType) -> list:
    """What the names in a function's text stand for, and the attributes of modules among it."""
    names = set(function.__code__.co_names)
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    closed = inspect.getclosurevars(function).nonlocals
    modules = [value for value in values if isinstance(value, types.ModuleType)]
    return values + [*closed.values()] + [getattr(m, n, None) for m in modules for n in names]


def is_start(function: types.FunctionType, exercise: KernelExercise) -> bool:
    """Say whether nothing has been written yet, comments aside."""
    return body_of(code_of(function).node) == body_of(_definition(exercise.start_text))


def is_body(function: Callable, text: str) -> bool:
    """Say whether a function of Python has this text, its own description aside."""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return False
    own = [ast.dump(s) for s in getattr(node, "body", []) if not _is_text(s)]
    return own == [ast.dump(s) for s in ast.parse(text).body]


def body_of(node: ast.FunctionDef) -> str:
    """A function without its name, comments and decorators, for comparison."""
    statements = [s for s in node.body if not _is_text(s)]
    return f"{ast.dump(node.args)} " + " ".join(ast.dump(s) for s in statements)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _definition(text: str) -> ast.FunctionDef:
    return next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))


def not_compiled(error: Exception) -> Refused:
    """What to raise where the microscope cannot read a kernel: its text, and the line."""
    start, _, rest = str(error).partition(": ")
    number = start.removeprefix("line ")
    if not number.isdigit():
        return Refused(Flaw.NOT_COMPILED, str(error))
    return Refused(Flaw.NOT_COMPILED, rest, int(number))

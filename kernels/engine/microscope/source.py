"""A kernel's source as a tree, with what has to be known before it runs."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types

from .errors import KernelError, Unsupported
from .names import Intrinsic, known
from .values import literal


class Code:
    """A function that the interpreter can run.

    Attributes
    ----------
    function : function
    node : ast.FunctionDef
        Its tree, with the line numbers of the file.
    source : list of str
        Its lines, decorators included; the first is line `first_line`.
    locals : frozenset of str
        Parameters and names assigned to.
    """

    def __init__(self, function):
        self.function = function
        self.name = function.__name__
        self.source, self.first_line, self.node = _parse(function.__code__)
        self.filename = function.__code__.co_filename
        self.locals = frozenset(function.__code__.co_varnames + function.__code__.co_cellvars)
        self.parameters = [a.arg for a in self.node.args.args]

    def outer(self, name: str):
        """Value of a name that is not local: from the closure, the module or the builtins.

        Raises
        ------
        KeyError
        """
        f = self.function
        if name in f.__code__.co_freevars:
            cell = f.__closure__[f.__code__.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise KeyError(name) from None
        if name in f.__globals__:
            return f.__globals__[name]
        builtins = f.__globals__.get("__builtins__", __builtins__)
        table = builtins if isinstance(builtins, dict) else vars(builtins)
        return table[name]

    def bind(self, arguments: list, call: str) -> dict:
        """Give the parameters their values, defaults included.

        Raises
        ------
        KernelError
            If there are too many arguments or too few.
        """
        if len(arguments) > len(self.parameters):
            raise KernelError(f"{call} takes {self._takes()}, got {len(arguments)} arguments")
        values = dict(zip(self.parameters, arguments, strict=False))
        defaults = self.function.__defaults__ or ()
        for name, value in zip(self.parameters[::-1], defaults[::-1], strict=False):
            values.setdefault(name, literal(value))
        missing = [p for p in self.parameters if p not in values]
        if missing:
            raise KernelError(
                f"{call} takes {self._takes()}, got {len(arguments)} arguments: "
                f"{', '.join(missing)} missing"
            )
        return values

    def constant_local(self, name: str) -> bool:
        """Say whether a local name only ever holds one written number."""
        written = [
            n.value
            for n in ast.walk(self.node)
            if isinstance(n, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
        ]
        return len(written) == 1 and isinstance(written[0], ast.Constant)

    def _takes(self) -> str:
        return f"({', '.join(self.parameters)})"


def code_of(function) -> Code:
    """The `Code` of a kernel: a function, or whatever holds one as ``py_func``.

    Raises
    ------
    KernelError
        If there is no source to read.
    """
    function = getattr(function, "py_func", function)
    if not isinstance(function, types.FunctionType):
        raise KernelError(f"{function!r} is no kernel: pass a function, or one made by cuda.jit")
    return Code(function)


@functools.lru_cache(maxsize=256)
def _parse(code: types.CodeType):
    name = code.co_name
    if name == "<lambda>":
        raise KernelError("a lambda cannot be a kernel: write it as a function with def")
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise KernelError(f"{name} is a generator or coroutine: a kernel must not yield or await")
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        raise KernelError(
            f"the source of {name} cannot be read: define it in a file or a notebook cell"
        ) from None
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError as error:
        raise KernelError(f"the source of {name} cannot be parsed: {error.msg}") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise KernelError(f"{name} is no function defined with def")
    ast.increment_lineno(tree, first - 1)
    _refuse(node)
    return [line.rstrip("\n") for line in lines], first, node


def _refuse(function: ast.FunctionDef) -> None:
    """Name the first thing of a function that cannot work, before anything runs."""
    a = function.args
    if a.vararg or a.kwarg or a.kwonlyargs:
        raise Unsupported(function.lineno, "a kernel takes plain parameters, no *args or keywords")
    for statement in function.body:
        for n in ast.walk(statement):
            if type(n) in REFUSED:
                raise Unsupported(n.lineno, f"{REFUSED[type(n)]} cannot be used in a kernel")


REFUSED = {
    ast.FunctionDef: "a nested function",
    ast.AsyncFunctionDef: "a nested function",
    ast.ClassDef: "a class",
    ast.Lambda: "a lambda",
    ast.Try: "try",
    ast.Raise: "raise",
    ast.With: "with",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Delete: "del",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Await: "await",
    ast.ListComp: "a list comprehension",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.GeneratorExp: "a generator expression",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.JoinedStr: "an f-string",
    ast.Starred: "unpacking with *",
    ast.NamedExpr: "the operator :=",
    ast.Match: "match",
}


def jumps(loop: ast.For | ast.While) -> bool:
    """Say whether lanes may leave an iteration early: break, continue or return."""
    return any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in ast.walk(loop))


def stored_names(code: Code) -> frozenset[str]:
    """Names through which the function may change an array.

    Stored to by index, passed to an atomic or a device function, or another name of such an
    array. An array outside this set is only read, so that no race can concern it.
    """
    stored: set[str] = set()
    aliases: list[tuple[str, str]] = []
    for n in ast.walk(code.node):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            stored.add(_root(n))
        elif isinstance(n, ast.Call) and not _only_reads(code, n.func):
            stored.update(_root(x) for x in n.args)
        elif isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None:
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            names = {x.id for t in targets for x in ast.walk(t) if _assigned(x)}
            sources = {x.id for x in ast.walk(n.value) if isinstance(x, ast.Name)}
            aliases += [(t, s) for t in names for s in sources]
    while True:
        more = {s for t, s in aliases if t in stored} - stored
        if not more:
            return frozenset(stored)
        stored |= more


def _only_reads(code: Code, called: ast.expr) -> bool:
    """Say whether a call surely changes no array: a type, a builtin, math; no atomic."""
    if isinstance(called, ast.Attribute):
        return _root(called) in ("math", "np", "numpy")
    try:
        target = known(code.outer(called.id))
    except (AttributeError, KeyError):
        return False
    if isinstance(target, Intrinsic):
        return not target.name.startswith("store")
    return not callable(getattr(target, "py_func", None)) and not isinstance(
        target, types.FunctionType
    )


def _assigned(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""

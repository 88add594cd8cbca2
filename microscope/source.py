"""A kernel's source as a tree, with what has to be known before it runs."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import operator
import textwrap
import types

from .errors import KernelError, Unsupported
from .flow import flow_of
from .values import OPERATORS, literal


class Code:
    """A function that the interpreter can run.

    Attributes
    ----------
    function : function
    node : ast.FunctionDef
        Its tree, with the line numbers of the file.
    source : list of str
        Its lines, decorators included; the first is line `first_line`.
    parameters : list of str
    rest : str or None
        The parameter that takes all further arguments, as a tuple.
    taken : tuple of str
        Variables of the function around this one, which each call passes by name.
    locals : frozenset of str
        Parameters and names assigned to.
    flow : Flow
        Where branches join, and which variables matter there.
    """

    def __init__(self, function):
        self.function = function
        self.name = function.__name__
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        self.taken = tuple(name for name, cell in cells if cell is TAKEN)
        self.source, self.first_line, self.node = _parse(code, self.taken)
        self.filename = code.co_filename
        self.locals = frozenset(code.co_varnames + code.co_cellvars + self.taken)
        self.parameters = [a.arg for a in self.node.args.args]
        rest = self.node.args.vararg
        self.rest = rest.arg if rest else None
        self.flow = flow_of(self.node)

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

    def bind(self, arguments: list, named: dict, call: str) -> dict:
        """Give the parameters their values, defaults included.

        Raises
        ------
        KernelError
            If there are too many arguments or too few, or unknown names among them.
        """
        count = len(self.parameters)
        if len(arguments) > count and self.rest is None:
            raise KernelError(f"{call} takes {self._takes()}, got {len(arguments)} arguments")
        values = dict(zip(self.parameters, arguments, strict=False))
        for name, value in named.items():
            if name not in (*self.parameters, *self.taken) or name in values:
                raise KernelError(f"{call} takes {self._takes()}, got {name}= as well")
            values[name] = value
        defaults = self.function.__defaults__ or ()
        for name, value in zip(self.parameters[::-1], defaults[::-1], strict=False):
            values.setdefault(name, literal(value))
        missing = [p for p in (*self.parameters, *self.taken) if p not in values]
        if missing and missing[0] in self.taken:
            raise KernelError(
                f"{call} uses {missing[0]}, a variable of the function around it: pass it as an "
                "argument"
            )
        if missing:
            raise KernelError(
                f"{call} takes {self._takes()}, got {len(arguments)} arguments: "
                f"{', '.join(missing)} missing"
            )
        return values if self.rest is None else values | {self.rest: tuple(arguments[count:])}

    def _takes(self) -> str:
        rest = [] if self.rest is None else [f"*{self.rest}"]
        return f"({', '.join([*self.parameters, *rest])})"


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
def _parse(code: types.CodeType, taken: tuple[str, ...] = ()):
    name = code.co_name
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise KernelError(
            f"{name} is a generator or coroutine: a kernel must not yield or await: "
            "store each value in an array"
        )
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        raise KernelError(
            f"the source of {name} cannot be read: define it in a file or a notebook cell"
        ) from None
    try:
        node = _lambda(code) if name == "<lambda>" else _function(lines, first, name)
    except SyntaxError as error:
        raise KernelError(f"the source of {name} cannot be parsed: {error.msg}") from None
    node = _Folded().visit(node)
    inside = _Nested(code, {*code.co_cellvars, *taken})
    node.body = [inside.visit(s) for s in node.body]
    inside.check_used(node)
    _refuse(node)
    return [line.rstrip("\n") for line in lines], first, node


def _function(lines: list[str], first: int, name: str) -> ast.FunctionDef:
    """The tree of a function, from its lines."""
    tree = ast.parse(textwrap.dedent("".join(lines)))
    if not isinstance(tree.body[0], ast.FunctionDef):
        raise KernelError(f"{name} is no function defined with def")
    ast.increment_lineno(tree, first - 1)
    return tree.body[0]


def _lambda(code: types.CodeType) -> ast.FunctionDef:
    """A lambda as a function, found in its file by its line and its parameters."""
    tree = ast.parse("".join(inspect.findsource(code)[0]))
    found = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Lambda)
        and n.lineno == code.co_firstlineno
        and [a.arg for a in n.args.args] == list(code.co_varnames[: code.co_argcount])
    ]
    if len(found) != 1:
        raise KernelError(
            f"line {code.co_firstlineno} holds {len(found)} lambdas that look alike: write one a "
            "line, or a function with def"
        )
    (n,) = found
    body = ast.copy_location(ast.Return(n.body), n.body)
    node = ast.FunctionDef(name="lambda", args=n.args, body=[body], decorator_list=[])
    return ast.copy_location(node, n)


def unrolled(code: Code, env: dict) -> Code:
    """A function whose loops over ``literal_unroll(...)`` are written out, item by item.

    Parameters
    ----------
    code : Code
    env : dict
        Its parameters.

    Raises
    ------
    Unsupported
        If it isn't known how many items there are, or if such a loop has a ``break``, a
        ``continue`` or an ``else``.
    """
    if not any(map(_unrolls(code), ast.walk(code.node))):
        return code
    made = copy.copy(code)
    made.node = _Unrolled(code, env).visit(copy.deepcopy(code.node))
    made.flow = flow_of(made.node)
    return made


def _unrolls(code: Code):
    """Whether a node is a loop over ``literal_unroll(...)``."""

    def unrolls(n: ast.AST) -> bool:
        if not isinstance(n, ast.For) or not isinstance(n.iter, ast.Call):
            return False
        target = n.iter.func
        if not isinstance(target, ast.Name):
            return False  # nor does Numba see it as an attribute
        try:
            return getattr(code.outer(target.id), "__name__", "") == UNROLL
        except KeyError:
            return False

    return unrolls


UNROLL = "literal_unroll"


class _Unrolled(ast.NodeTransformer):
    """Writes a loop's body once for each item."""

    def __init__(self, code: Code, env: dict):
        self.code, self.env, self.unrolls = code, env, _unrolls(code)

    def visit_For(self, n: ast.For):
        self.generic_visit(n)
        if not self.unrolls(n):
            return n
        home = getattr(self.code.outer(n.iter.func.id), "__module__", "")
        if not home.startswith("numba.cuda"):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n.iter)}: Numba knows another in kernels: from "
                "numba.cuda.misc.special import literal_unroll",
            )
        jumps = [x for s in n.body for x in _own_jumps(s)]
        if jumps or n.orelse or len(n.iter.args) != 1:
            raise Unsupported(
                n.lineno, f"{ast.unparse(n.iter)}: a loop without break, continue and else"
            )
        (items,) = n.iter.args
        written = []
        for k in range(self.length(items)):
            part = ast.Subscript(copy.deepcopy(items), ast.Constant(k), ast.Load())
            item = ast.Assign([copy.deepcopy(n.target)], part)
            written += [ast.fix_missing_locations(ast.copy_location(item, n))]
            written += map(copy.deepcopy, n.body)
        return written

    def length(self, items: ast.expr) -> int:
        """How many items a tuple has."""
        found = None
        if isinstance(items, ast.Name) and items.id in self.code.flow.once:
            items = self.code.flow.once[items.id]
        if isinstance(items, ast.Tuple):
            return len(items.elts)
        if isinstance(items, ast.Name):
            found = self.env.get(items.id)
            if items.id not in self.code.locals:
                found = self.code.outer(items.id)
        if not isinstance(found, tuple):
            raise Unsupported(
                items.lineno, f"{UNROLL}({ast.unparse(items)}): takes a tuple that is an argument"
            )
        return len(found)


def _own_jumps(n: ast.AST):
    """The statements that leave the loop around a statement, or begin it anew."""
    if isinstance(n, (ast.Break, ast.Continue)):
        yield n
    elif not isinstance(n, (ast.For, ast.While)):
        for inner in ast.iter_child_nodes(n):
            yield from _own_jumps(inner)


class Nested:
    """A function that a kernel defines inside itself, or a lambda in it."""

    def __init__(self, function: types.FunctionType):
        self.py_func = function
        self.__name__ = function.__name__

    def __repr__(self) -> str:
        return f"the function {self.__name__}"


#: In the closure of a function inside another: a variable of that one, which each call passes.
TAKEN = types.CellType()


class _Nested(ast.NodeTransformer):
    """Makes of each function inside a function an assignment of a lambda without contents.

    The lambda's `code` is what Python has compiled of the inner function. The variables around it
    that it uses are further arguments, in it and where it is called.

    Parameters
    ----------
    code : code
        Of the function around it.
    own : set of str
        Variables of that function which others inside it may use.
    """

    def __init__(self, code: types.CodeType, own: set[str]):
        self.inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
        self.own = own
        self.takes: dict[str, list[str]] = {}

    def visit_FunctionDef(self, n: ast.FunctionDef):
        target = ast.copy_location(ast.Name(n.name, ast.Store()), n)
        made = ast.Assign([target], self.empty(n, n.name))
        return self.visit_Assign(ast.copy_location(made, n))

    def visit_Lambda(self, n: ast.Lambda):
        return n if hasattr(n, "code") else self.empty(n, "<lambda>")

    def visit_Assign(self, n: ast.Assign):
        self.generic_visit(n)
        if isinstance(n.value, ast.Lambda) and isinstance(n.targets[0], ast.Name):
            self.takes[n.targets[0].id] = n.value.takes
        return n

    def visit_Call(self, n: ast.Call):
        self.generic_visit(n)
        takes = self.takes.get(n.func.id, []) if isinstance(n.func, ast.Name) else []
        for name in getattr(n.func, "takes", takes):
            value = ast.copy_location(ast.Name(name, ast.Load()), n)
            n.keywords.append(ast.copy_location(ast.keyword(name, value), n))
        return n

    def check_used(self, node: ast.FunctionDef) -> None:
        """Refuse a function that uses variables and is not called, which Numba can't leave out."""
        read = {
            x.id
            for x in ast.walk(node)
            if type(getattr(x, "ctx", None)) is ast.Load and isinstance(x, ast.Name)
        }
        for name, takes in self.takes.items():
            if takes and name not in read:
                what = f"{name} uses {takes[0]} and is never called: leave it out"
                raise Unsupported(node.lineno, what)

    def empty(self, n, name: str) -> ast.Lambda:
        found = [c for c in self.inner if (c.co_name, c.co_firstlineno) == (name, n.lineno)]
        if len(found) != 1 or getattr(n, "decorator_list", []):
            raise Unsupported(n.lineno, f"{name} in a kernel: write it above the kernel, {ABOVE}")
        if n.args.vararg:
            raise Unsupported(
                n.lineno, f"{name} in a kernel: takes plain parameters, no * among them"
            )
        none = ast.arguments([], [], None, [], [], None, [])
        made = ast.copy_location(ast.Lambda(none, ast.copy_location(ast.Constant(None), n)), n)
        made.code = found[0]
        made.takes = [x for x in made.code.co_freevars if x in self.own]
        if not all(isinstance(x, ast.Constant) for x in n.args.defaults):
            raise Unsupported(n.lineno, f"{name} in a kernel: a default must be a number")
        made.defaults = tuple(x.value for x in n.args.defaults)
        return made


def nested(outer: Code, n: ast.Lambda) -> Nested:
    """The function inside another that an empty lambda stands for."""
    names, scope = outer.function.__code__.co_freevars, outer.function.__globals__
    cells = tuple(
        TAKEN if x in n.takes else outer.function.__closure__[names.index(x)]
        for x in n.code.co_freevars
    )
    function = types.FunctionType(n.code, scope, n.code.co_name, n.defaults or None, cells or None)
    return Nested(function)


class _Folded(ast.NodeTransformer):
    """Computes what stands between written numbers, as Python does before Numba sees the code."""

    def visit_BinOp(self, n: ast.BinOp):
        self.generic_visit(n)
        operation = FOLDED.get(type(n.op))
        return n if operation is None else self.folded(n, operation, n.left, n.right)

    def visit_UnaryOp(self, n: ast.UnaryOp):
        self.generic_visit(n)
        return self.folded(n, FOLDED[type(n.op)], n.operand)

    @staticmethod
    def folded(n: ast.expr, operation, *operands: ast.expr) -> ast.expr:
        if not all(isinstance(x, ast.Constant) and _is_number(x.value) for x in operands):
            return n
        try:
            value = operation(*(x.value for x in operands))
        except (ArithmeticError, TypeError, ValueError):
            return n
        return ast.copy_location(ast.Constant(value), n)


def _is_number(v) -> bool:
    """Say whether a written number is small enough to be computed with."""
    return isinstance(v, (float, complex)) or isinstance(v, int) and v.bit_length() <= 128


FOLDED = OPERATORS | {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def _refuse(function: ast.FunctionDef) -> None:
    """Name the first thing of a function that cannot work, before anything runs."""
    a = function.args
    if a.kwarg or a.kwonlyargs:
        raise Unsupported(
            function.lineno, "a kernel takes no parameters by keyword alone: name them all"
        )
    taken = set()  # lists that Python itself makes tuples of
    for n in ast.walk(function):
        if isinstance(n, ast.For):
            taken.add(n.iter)
        elif isinstance(n, ast.Call):
            taken.update(x for x in n.args if isinstance(x, ast.Starred))
        elif isinstance(n, ast.Compare):
            taken.update(
                x
                for op, x in zip(n.ops, n.comparators, strict=True)
                if isinstance(op, (ast.In, ast.NotIn))
            )
    for statement in function.body:
        for n in ast.walk(statement):
            if type(n) in REFUSED and n not in taken:
                what, _, instead = REFUSED[type(n)].partition(": ")
                instead = instead and f": {instead}"
                raise Unsupported(n.lineno, f"{what} cannot be used in a kernel{instead}")
            if isinstance(n, ast.List) and isinstance(n.ctx, ast.Load) and n not in taken:
                raise Unsupported(
                    n.lineno, f"{ast.unparse(n)}: a kernel has no lists: use a tuple, or an array"
                )
            if isinstance(n, ast.Constant) and type(n.value) is int:
                if not -(2**63) <= n.value < 2**64:
                    raise Unsupported(n.lineno, f"{n.value} does not fit into 64 bits: use a float")


ABOVE = "with @cuda.jit(device=True)"
LOOP = "write a loop that stores each value in an array"
#: What a kernel cannot hold, and what to write instead.
REFUSED = {
    ast.AsyncFunctionDef: "a coroutine: write a function without async",
    ast.ClassDef: "a class: pass arrays and numbers",
    ast.Try: "try: test for what can go wrong with an if",
    ast.With: "with: open and close things around the launch",
    ast.Nonlocal: "nonlocal: use a variable of the kernel, or an array",
    ast.Import: "import: import it above the kernel",
    ast.ImportFrom: "import: import it above the kernel",
    ast.Delete: "del: leave the name alone",
    ast.Yield: "yield: store results in an array",
    ast.YieldFrom: "yield from: store results in an array",
    ast.Await: "await: store results in an array",
    ast.ListComp: f"a list comprehension: {LOOP}",
    ast.SetComp: f"a set comprehension: {LOOP}",
    ast.DictComp: f"a dict comprehension: {LOOP}",
    ast.GeneratorExp: "a generator expression: write a loop",
    ast.Dict: "a dict: use an array and an index",
    ast.Set: "a set: use a tuple, or an array",
    ast.JoinedStr: "an f-string: print the parts with commas between them",
    ast.Starred: "unpacking with * outside a call: name the items one by one",
    ast.NamedExpr: "the operator `:=`: assign on a line of its own",
    ast.Match: "match: use if and elif",
}

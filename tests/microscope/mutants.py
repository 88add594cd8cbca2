"""Every small way to get a rung wrong, made from its own source.

A mutant is the rung's module with one place replaced and every other line where it was, so that
reports of any tool name the same lines. `judge` runs one through the microscope and the oracle.
"""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from tests.microscope.cases import from_source, whole

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "vector_add": "kernels/patterns/vector_add.py",
    "vector_add_grid_stride": "kernels/patterns/vector_add.py",
    "naive": "kernels/rungs/naive.py",
    "swapped": "kernels/rungs/swapped.py",
    "tiled": "kernels/rungs/tiled.py",
}
TILE = 8
PAIRS = {
    "row": "col",
    "col": "row",
    "tx": "ty",
    "ty": "tx",
    "sA": "sB",
    "sB": "sA",
    "A": "B",
    "B": "A",
    "a": "b",
    "b": "a",
    "M": "N",
    "N": "M",
    "K": "M",
}
OTHER_AXIS = {"x": "y", "y": "x"}


@dataclass(frozen=True)
class Mutant:
    """One change of one rung.

    Attributes
    ----------
    number : int
        Position among all mutants.
    rung, kind : str
        Which kernel, and what sort of change.
    line : int
        Line of the change in the rung's file.
    before, after : str
        The source text replaced, and what stands there instead.
    source : str
        The whole mutated module.
    """

    number: int
    rung: str
    kind: str
    line: int
    before: str
    after: str
    source: str

    @property
    def label(self) -> str:
        """Rung, kind and change in one line."""
        return f"{self.rung}:{self.line} {self.kind}: {self.before} → {self.after}"

    @property
    def key(self) -> str:
        """What identifies the mutant when comments and lines change: a hash of its code."""
        code = ast.unparse(_functions(ast.parse(self.source))[self.rung])
        return f"{self.rung}-{hashlib.sha256(code.encode()).hexdigest()[:10]}"


# ------------------------------------------------------------------------------- where to change
def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any("cuda.jit" in ast.unparse(d) for d in node.decorator_list)
    }


def _is_dim(node: ast.AST) -> bool:
    """Is this ``array.shape[axis]``?"""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
    )


def _is_cast(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (node.func.id in ("float32", "float64", "uint32", "int32"))
    )


def _conditions(test: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """A guard removed, each of its parts removed, ``<`` made ``<=``, a name exchanged."""
    yield test, "True"
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield part, "True"
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
            right = ast.unparse(node.comparators[0])
            yield node, f"{ast.unparse(node.left)} <= {right}"
        elif isinstance(node, ast.Name) and node.id in PAIRS:
            yield node, PAIRS[node.id]


def _terms(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """An index off by one either way, with each operand dropped, with x and y swapped."""
    text = ast.unparse(value)
    yield value, f"({text} + 1)"
    yield value, f"({text} - 1)"
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp):
            yield node, f"({ast.unparse(node.left)})"
            yield node, f"({ast.unparse(node.right)})"
        elif isinstance(node, ast.Attribute) and node.attr in OTHER_AXIS:
            yield node, f"{ast.unparse(node.value)}.{OTHER_AXIS[node.attr]}"
        elif isinstance(node, ast.Name) and node.id in PAIRS:
            yield node, PAIRS[node.id]


def _zero(node: ast.expr) -> bool:
    return _is_cast(node) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0


def _changes(function: ast.FunctionDef) -> Iterator[tuple[str, ast.AST, str]]:
    """(kind, node, replacement) of every mutation of a kernel."""
    for node in ast.walk(function):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="syncthreads"))):
                yield "barrier", node, "pass"
            case ast.If(test=test) | ast.While(test=test):
                for where, text in _conditions(test):
                    yield "guard", where, text
            case ast.Assign(targets=[target], value=ast.IfExp() as choice):
                for where, text in _conditions(choice.test):
                    yield "guard", where, text
                if _zero(choice.orelse):
                    stored = f"{ast.unparse(target)} = {ast.unparse(choice.body)}"
                    yield "zero-fill", node, f"if {ast.unparse(choice.test)}: {stored}"
                    yield "zero-fill", choice.orelse, "float32(1)"
            case ast.Assign(targets=[ast.Name()], value=value) if _zero(value):
                yield "initial value", value, "float32(1)"
            case ast.Assign(targets=[ast.Name()], value=value) if not (
                isinstance(value, ast.Call)
                and not _is_cast(value)
                and "shared.array" in ast.unparse(value)
            ):
                for where, text in _terms(value):
                    yield "index", where, text
            case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=values)):
                for value in values:
                    for where, text in _terms(value):
                        yield "index", where, text
            case ast.AugAssign(op=ast.Add(), target=target, value=value):
                yield "accumulation", node, f"{ast.unparse(target)} = {ast.unparse(value)}"
                yield "accumulation", node, f"{ast.unparse(target)} -= {ast.unparse(value)}"
            case ast.For(iter=ast.Call(args=arguments)):
                for argument in arguments:
                    for where, text in _terms(argument):
                        yield "index", where, text
        if isinstance(node, ast.Subscript) and not _is_dim(node):
            index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if len(index) == 2:
                swapped = f"{ast.unparse(index[1])}, {ast.unparse(index[0])}"
                yield "index", node.slice, swapped
            for value in index:
                for where, text in _terms(value):
                    yield "index", where, text
            if isinstance(node.ctx, ast.Load) and ast.unparse(node.value) in PAIRS:
                yield "index", node.value, PAIRS[node.value.id]
        elif _is_dim(node):
            other = 1 - node.slice.value
            yield "index", node, f"{ast.unparse(node.value)}[{other}]"


# ------------------------------------------------------------------------------- making them
def _replaced(source: str, node: ast.AST, text: str) -> tuple[str, str]:
    """The source with a node's text exchanged, line numbers kept; and the text that stood there."""
    lines = source.splitlines(keepends=True)

    def offset(line, column):
        return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())

    start, end = offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)
    before = source[start:end]
    return source[:start] + text + source[end:], before


def _keep_lines(source: str, mutated: str, node: ast.AST) -> str:
    """Put back, behind the change, the line ends it swallowed."""
    lost = source.count("\n") - mutated.count("\n")
    if not lost:
        return mutated
    lines = mutated.splitlines(keepends=True)
    return "".join([*lines[: node.lineno], "\n" * lost, *lines[node.lineno :]])


@cache
def mutants() -> tuple[Mutant, ...]:
    """All mutants of all rungs, in the order of the source; each changed text once."""
    found: list[Mutant] = []
    for rung, path in FILES.items():
        source = (ROOT / path).read_text()
        function = _functions(ast.parse(source))[rung]
        seen = {source}
        for kind, node, text in _changes(function):
            mutated, before = _replaced(source, node, text)
            mutated = _keep_lines(source, mutated, node)
            if ast.dump(ast.parse(mutated)) == ast.dump(ast.parse(source)) or mutated in seen:
                continue
            seen.add(mutated)
            before, text = " ".join(before.split()), " ".join(text.split())
            found.append(Mutant(0, rung, kind, node.lineno, before, text, mutated))
    return tuple(replace(mutant, number=n) for n, mutant in enumerate(found))


def load(rung: str, source: str, name: str):
    """Import a module's text from a file of its own; returns the rung's kernel in it."""
    module = from_source(source, name)
    return module.make_tiled(TILE) if rung == "tiled" else getattr(module, rung)


def kernel(mutant: Mutant):
    """The mutant's kernel, as ``cuda.jit`` of this machine's engine returns it."""
    return load(mutant.rung, mutant.source, f"mutant_{mutant.number}")


def original(rung: str):
    """The rung's kernel, loaded the same way."""
    return load(rung, (ROOT / FILES[rung]).read_text(), f"original_{rung}")


# ------------------------------------------------------------------------------- running them
@dataclass(frozen=True)
class Trial:
    """One launch of a rung: block, grid, arguments with a poisoned output, the right answer."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[np.ndarray, ...]
    expected: np.ndarray


def _poisoned(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def trials(rung: str) -> Iterator[Trial]:
    """Launches that leave no part of a rung unused: sizes that divide and sizes that do not."""
    if rung.startswith("vector_add"):
        for n, grid in ((200, 4), (128, 2)) if rung == "vector_add" else ((300, 2), (130, 2)):
            a, b = whole(n, seed=7), whole(n, seed=8)
            yield Trial((grid,), (64,), (a, b, _poisoned(n)), a + b)
        return
    shapes = ((17, 13, 19), (8, 24, 16), (9, 30, 9), (3, 5, 6))
    for M, N, K in shapes:
        A, B = whole(M, K, seed=7), whole(K, N, seed=8)
        # A block that is not square tells its x from its y; a tile is square by its nature.
        x, y = (TILE, TILE) if rung == "tiled" else (16, 4)
        cols, rows = (M, N) if rung == "swapped" else (N, M)
        yield Trial((-(-cols // x), -(-rows // y)), (x, y), (A, B, _poisoned(M, N)), A @ B)


SCHEDULES = ("lockstep", "warps", "warps-reversed")


@dataclass(frozen=True)
class Verdict:
    """What was noticed about a kernel: kinds of problems, and whether a result was wrong."""

    problems: tuple[str, ...]
    wrong: bool

    @property
    def caught(self) -> bool:
        """Did the microscope or the oracle notice anything?"""
        return bool(self.problems) or self.wrong


def judge(rung: str, kernel) -> Verdict:
    """Trace a rung's kernel in every trial and every schedule, and check every result."""
    from kernels.lab import trace

    kinds: set[str] = set()
    wrong = False
    for trial in trials(rung):
        for schedule in SCHEDULES:
            try:
                seen = trace(kernel, trial.grid, trial.block, *trial.arguments, schedule=schedule)
            except Exception as error:
                kinds.add(f"error: {type(error).__name__}")
                continue
            kinds.update(problem.kind for problem in seen.problems)
            result = list(seen.outputs.values())[-1]
            wrong |= not np.array_equal(result, trial.expected)
    return Verdict(tuple(sorted(kinds)), bool(wrong))


@cache
def judged(mutant: Mutant) -> Verdict:
    """The verdict on a mutant, found once for all tests."""
    return judge(mutant.rung, kernel(mutant))

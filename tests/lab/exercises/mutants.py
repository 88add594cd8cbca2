"""Every small way to get an exercise wrong, made from its solution and handed to the grader.

``python -m tests.lab.exercises.mutants`` judges them all and prints a table with what survives;
names of exercises after it judge only those. It takes minutes; the tests judge a sample. A mutant
that the grader accepts is right (``equivalent.toml`` beside its answers says why) or shows a hole.
"""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from unittest.mock import patch

import numpy as np

os.environ["KERNELS_EXERCISES"] = "off"

from kernels.lab.exercises import Finding, Flaw, grading, judge  # noqa: E402 - no progress is kept
from tests.lab.exercises.answers import KERNELS, file, options  # noqa: E402

OTHER_NAME = dict(
    row="col", col="row", tx="ty", ty="tx", M="N", N="M", K="M", A="B", B="A", sA="sB", sB="sA",
    ka="kb", kb="ka", left="right", right="left", top="left", a="b", b="a", i="j", j="i", k="t",
    here="there", there="here", x="y", group="lane", lane="group", t="row", max="min", min="max",
    float32="float64",
)  # fmt: skip
OTHER_ATTRIBUTE = {
    "x": "y", "y": "x", "z": "x", "syncthreads": "syncwarp",
    "threadIdx": "blockIdx", "blockIdx": "threadIdx", "blockDim": "gridDim",
}  # fmt: skip
COMPARISONS = {ast.Lt: ("<=", ">="), ast.Gt: (">=", "<="), ast.GtE: (">", "<"), ast.Eq: ("!=",)}
OPERATORS = {
    ast.Add: ("-", "*"), ast.Sub: ("+",), ast.Mult: ("+",), ast.Div: ("*",),
    ast.FloorDiv: ("%", "*"), ast.Mod: ("//",),
}  # fmt: skip
SYMBOLS = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.FloorDiv: "//="}


@dataclass(frozen=True)
class Mutant:
    """One change of one solution.

    Attributes
    ----------
    exercise, kind : str
        Whose solution, and what sort of change.
    change : str
        Line and column, what stood there and what stands there now: it identifies the mutant.
    text : str
        The whole kernel.
    """

    exercise: str
    kind: str
    change: str
    text: str


@cache
def mutants(name: str) -> tuple[Mutant, ...]:
    """All different mutants of an exercise's solution."""
    text = KERNELS[name].solution_text
    found = {ast.dump(ast.parse(text)): None}
    for kind, node, new in _changes(name, ast.parse(text).body[-1]):
        mutant = _changed(name, kind, text, node, new)
        try:
            found.setdefault(ast.dump(ast.parse(mutant.text)), mutant)
        except SyntaxError:
            continue
    return tuple(mutant for mutant in found.values() if mutant)


def _changed(name: str, kind: str, text: str, node: ast.AST, new: str) -> Mutant:
    lines = text.encode().split(b"\n")
    first, last = lines[node.lineno - 1], lines[node.end_lineno - 1]
    lines[node.lineno - 1 : node.end_lineno] = [
        first[: node.col_offset] + new.encode() + last[node.end_col_offset :]
    ]
    mutated = b"\n".join(lines).decode()
    if "float16" in new:
        mutated = "from numpy import float16\n" + mutated
    was = ast.unparse(node).split("\n")[0]
    change = f"{node.lineno}:{node.col_offset + 1} {was} → {new}"
    return Mutant(name, kind, change, mutated)


# ------------------------------------------------------------------------------- what to change


def _changes(name: str, kernel: ast.FunctionDef) -> Iterator[tuple[str, ast.AST, str]]:
    """Kind, node and its new text, for every change of every node of a kernel's body."""
    literals = _literals(name)
    for statement in kernel.body:
        for node in ast.walk(statement):
            for kind, new in _new_texts(node, KERNELS[name].names, literals):
                yield kind, node, new


def _literals(name: str) -> dict[str, str]:
    """The sizes and numbers of the first launch, by the texts that stand for them in a kernel."""
    found = {}
    for argument, value in KERNELS[name].trials(**options(name))[0].arguments.items():
        if isinstance(value, np.ndarray):
            found[f"{argument}.size"] = str(value.size)
            found |= {f"{argument}.shape[{i}]": str(n) for i, n in enumerate(value.shape)}
        else:
            whole = np.issubdtype(type(value), np.integer)
            found[argument] = str(int(value)) if whole else f"float32({value})"
    return found


def _new_texts(node: ast.AST, constants: dict, literals: dict) -> Iterator[tuple[str, str]]:
    """What could stand in the place of a node, each with the kind of the change."""
    make = _MAKERS.get(type(node))
    if make:
        yield from make(node)
    loaded = isinstance(getattr(node, "ctx", None), ast.Load)
    said = ast.unparse(node) if isinstance(node, ast.expr) else ""
    if loaded and said in literals:
        yield "parameter hard-coded", literals[said]
    if loaded and said in constants:
        yield "constant", f"({said} - 1)"
        yield "constant", f"({said} + 1)"


def _subscript(node: ast.Subscript) -> Iterator[tuple[str, str]]:
    array = ast.unparse(node.value)
    if array.endswith(".shape"):
        yield "bound", f"{array}[{1 - node.slice.value}]"
        return
    index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    texts = [ast.unparse(e) for e in index]
    for one, two in combinations(range(len(texts)), 2):
        swapped = texts.copy()
        swapped[one], swapped[two] = texts[two], texts[one]
        yield "indices swapped", f"{array}[{', '.join(swapped)}]"
    for place, text in enumerate(texts):
        for shift in ("+ 1", "- 1"):
            shifted = [*texts[:place], f"{text} {shift}", *texts[place + 1 :]]
            yield "index shifted", f"{array}[{', '.join(shifted)}]"


def _name(node: ast.Name) -> Iterator[tuple[str, str]]:
    if isinstance(node.ctx, ast.Load) and node.id in OTHER_NAME:
        kind = "type" if node.id == "float32" else "another name"
        yield kind, OTHER_NAME[node.id]
    if node.id == "float32":
        yield "type", "int32"
        yield "type", "float16"


def _attribute(node: ast.Attribute) -> Iterator[tuple[str, str]]:
    if node.attr in OTHER_ATTRIBUTE:
        kind = "barrier" if node.attr == "syncthreads" else "another direction"
        yield kind, f"{ast.unparse(node.value)}.{OTHER_ATTRIBUTE[node.attr]}"


def _constant(node: ast.Constant) -> Iterator[tuple[str, str]]:
    if isinstance(node.value, int):
        yield "constant", str(node.value + 1)
        if node.value > 0:
            yield "constant", str(node.value - 1)


def _compare(node: ast.Compare) -> Iterator[tuple[str, str]]:
    left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
    for symbol in COMPARISONS.get(type(node.ops[0]), ()):
        yield "bound", f"{left} {symbol} {right}"
    yield "bound", f"{left} {_symbol(node)} {right} - 1"


def _symbol(node: ast.Compare) -> str:
    return ast.unparse(node).removeprefix(ast.unparse(node.left)).split()[0]


def _both(node: ast.BoolOp) -> Iterator[tuple[str, str]]:
    for kept in node.values:
        yield "guard dropped", ast.unparse(kept)
    word = "or" if isinstance(node.op, ast.And) else "and"
    yield "guard", f" {word} ".join(ast.unparse(v) for v in node.values)


def _choice(node: ast.IfExp) -> Iterator[tuple[str, str]]:
    yield "mask dropped", ast.unparse(node.body)
    yield "mask", ast.unparse(node.orelse)
    body, test, other = (ast.unparse(n) for n in (node.body, node.test, node.orelse))
    yield "mask", f"{other} if {test} else {body}"
    yield "mask", f"{body} if {test} else float32(1)"


def _operation(node: ast.BinOp) -> Iterator[tuple[str, str]]:
    left, right = (f"({ast.unparse(n)})" for n in (node.left, node.right))
    for symbol in OPERATORS.get(type(node.op), ()):
        yield "operator", f"({left} {symbol} {right})"
    yield "half an expression", left
    yield "half an expression", right


def _call(node: ast.Call) -> Iterator[tuple[str, str]]:
    function = ast.unparse(node.func)
    texts = [ast.unparse(a) for a in node.args]
    if function == "range":
        *before, end = texts if len(texts) < 3 else texts[:2]
        step = texts[2:]
        for shift in ("- 1", "+ 1"):
            yield "bound", f"range({', '.join([*before, f'{end} {shift}', *step])})"
        if not before:
            yield "bound", f"range(1, {end})"
        if step:
            yield "bound", f"range({before[0]}, {end}, 2 * ({step[0]}))"
    if function in ("max", "min"):
        yield from (("half an expression", text) for text in texts)
    if function == "cuda.syncthreads":
        yield "barrier", "cuda.syncthreads() if cuda.threadIdx.x else None"


def _store(node: ast.Assign) -> Iterator[tuple[str, str]]:
    yield from _dropped(node)
    target, value = ast.unparse(node.targets[0]), ast.unparse(node.value)
    if isinstance(node.targets[0], ast.Subscript):
        yield "operator", f"{target} += {value}"
        yield "type", f"{target} = int({value})"
        yield "type", f"{target} = float16({value})"


def _added(node: ast.AugAssign) -> Iterator[tuple[str, str]]:
    yield "line dropped", "pass"
    target, value = ast.unparse(node.target), ast.unparse(node.value)
    yield "operator", f"{target} = {value}"
    for symbol in set(SYMBOLS.values()) - {SYMBOLS[type(node.op)]}:
        yield "operator", f"{target} {symbol} {value}"
    if isinstance(node.op, ast.Add):
        yield "type", f"{target} += int({value})"
        yield "type", f"{target} = float16({target} + {value})"


def _guarded(node: ast.If) -> Iterator[tuple[str, str]]:
    yield "line dropped", "pass"


def _dropped(node: ast.stmt) -> Iterator[tuple[str, str]]:
    named = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Subscript)
    if not named:  # a name without a value does not compile: no test of a grader
        yield "line dropped", "pass"


_MAKERS = {
    ast.Subscript: _subscript,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Constant: _constant,
    ast.Compare: _compare,
    ast.BoolOp: _both,
    ast.IfExp: _choice,
    ast.BinOp: _operation,
    ast.Call: _call,
    ast.Assign: _store,
    ast.AugAssign: _added,
    ast.If: _guarded,
    ast.For: _dropped,
    ast.While: _dropped,
    ast.Expr: _dropped,
}


# ------------------------------------------------------------------------------------- judging


def equivalent(name: str) -> dict[str, str]:
    """The changes of a solution that leave it right, and the reason of each.

    The repaired kernels are `tiled` line for line.
    """
    name = "tiled" if name.startswith("repair-") else name
    table = file(name).with_name("equivalent.toml")
    return tomllib.loads(table.read_text(encoding="utf-8")).get(name, {}) if table.exists() else {}


def survives(mutant: Mutant) -> bool:
    """Does the grader accept it? What is wrong with it nobody asks, and finding out takes long."""
    with patch.object(grading, "diagnose", return_value=[Finding(Flaw.WRONG, "")]):
        return judge(mutant.exercise, mutant.text, **options(mutant.exercise)).right


def _survivors(name: str) -> list[Mutant]:
    return [mutant for mutant in mutants(name) if survives(mutant)]


def main(names: list[str]) -> None:
    """Judge all mutants and print what survives."""
    names = names or list(KERNELS)
    heads = ("exercise", "mutants", "rejected", "equivalent", "holes")
    total = np.zeros(4, int)
    print(f"{heads[0]:<16}" + "".join(f"{head:>12}" for head in heads[1:]))
    with ProcessPoolExecutor(2) as pool:
        for name, alive in zip(names, pool.map(_survivors, names), strict=True):
            known = equivalent(name)
            holes = [mutant for mutant in alive if mutant.change not in known]
            count = len(mutants(name))
            row = (count, count - len(alive), len(alive) - len(holes), len(holes))
            total += row
            print(f"{name:<16}" + "".join(f"{n:>12}" for n in row), flush=True)
            for mutant in holes:
                print(f"    {mutant.kind}: {mutant.change!r}")
            for change in set(known) - {mutant.change for mutant in alive}:
                print(f"    no survivor: {change!r}")
    print(f"{'all':<16}" + "".join(f"{n:>12}" for n in total))


if __name__ == "__main__":
    main(sys.argv[1:])

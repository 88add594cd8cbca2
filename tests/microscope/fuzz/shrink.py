"""``python -m tests.microscope.fuzz.shrink SEED…``: what of a program two engines disagree on.

Statements are left out and expressions replaced by their parts, as long as the verdict stays.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import replace

from tests.microscope.fuzz import judges, ptx
from tests.microscope.fuzz.programs import HEADER, Program, generate
from tests.microscope.fuzz.worker import HARMLESS


def verdict(program: Program, judge: str, inputs: int) -> str:
    """The kind of disagreement; empty if there is none."""
    try:
        mine = judges.interpreted(program, inputs)
        runner = judges.JUDGES[judge](program)
        if bool(runner.refused) != bool(mine.refused):
            return "interpreter refuses" if mine.refused else "compiler refuses"
        if runner.refused or mine.undefined or set(mine.problems) - HARMLESS:
            return ""
        names = [n for n in program.arguments if not n.startswith("scalar")]
        found = judges.first_difference(names, mine.outputs, runner.run(inputs))
    except (ptx.Unknown, ptx.Endless, SyntaxError):
        return ""
    except Exception as error:
        return type(error).__name__
    return "differs" if found else ""


class Sites(ast.NodeTransformer):
    """Applies the `k`-th of all possible cuts to a tree."""

    def __init__(self, k: int):
        self.k, self.done = k, False

    def hit(self) -> bool:
        self.k -= 1
        self.done = self.done or self.k == -1
        return self.k == -1

    def visit(self, n):
        if isinstance(n, ast.FunctionDef) or not isinstance(n, (ast.stmt, ast.expr)):
            return self.generic_visit(n)
        if isinstance(n, ast.stmt):
            if self.hit():
                return ast.Pass() if not isinstance(n, ast.Pass) else n
            for name in ("body", "orelse"):
                inner = getattr(n, name, None)
                if inner and self.hit():
                    return inner
                if name == "orelse" and inner and self.hit():
                    n.orelse = []
                    return n
        elif isinstance(getattr(n, "ctx", None), ast.Store):
            return n
        else:
            parts = [c for c in ast.iter_child_nodes(n) if isinstance(c, ast.expr)]
            if isinstance(n, (ast.Attribute, ast.Name, ast.Constant)):
                return n
            if isinstance(n, ast.Call):
                parts = n.args
            for part in parts:
                if self.hit():
                    return part
        return self.generic_visit(n)


def shrink(program: Program, judge: str = "ptx") -> Program:
    """The least program that gives the same kind of disagreement."""
    for inputs in range(3):
        wanted = verdict(program, judge, inputs)
        if wanted:
            break
    else:
        return program
    text = program.source.removeprefix(HEADER)
    before = ""
    while text != before:
        before, k = text, 0
        while (tried := cut(text, k)) is not None:
            less = replace(program, source=HEADER + tried)
            if len(tried) < len(text) and verdict(less, judge, inputs) == wanted:
                text = tried
            else:
                k += 1
    return replace(program, source=HEADER + text)


def cut(text: str, k: int) -> str | None:
    """A source with one thing less, the `k`-th; None if there are not so many."""
    sites = Sites(k)
    tree = sites.visit(ast.parse(text))
    return ast.unparse(ast.fix_missing_locations(tree)) if sites.done else None


def body(program: Program) -> str:
    """The text of a program behind what all of them share."""
    lines = program.source.removeprefix(HEADER).splitlines()
    return "\n".join(x for x in lines if x.strip() not in ("pass", ""))


if __name__ == "__main__":
    for seed in sys.argv[1:]:
        least = shrink(generate(int(seed)))
        print(f"## {seed} {least.grid} {least.block}\n{body(least)}", flush=True)

"""The words of the field where readers look things up: labels, tables, exercises, the glossary.

Which words are meant stands in `authoring.reading`. Running text is not searched: the command
``python -m kernels pages`` counts there.
"""

import ast
import json
import re

import pytest

from authoring.reading import HOUSE, RATE
from kernels.basics.files import ROOT
from kernels.lab.exercises import EXERCISES
from kernels.lab.pages import CHAPTERS, address_of, paths

#: The one picture of the course that stands for something else: chapter 1's kitchen,
#: and the list that names it.
ANALOGY = {CHAPTERS / "ch01_hardware" / "drawings" / name for name in ("kitchen.py", "__init__.py")}
KITCHEN = {
    "chapters/ch01_hardware/01-hardware.ipynb": {"chef", "kitchen", "pantry", "van", "workbench"}
}
TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]+>", re.DOTALL)
LABEL = re.compile(
    r'aria-label="([^"]*)"|<text\b[^>]*>(.*?)</text>|<t[hd]\b[^>]*>(.*?)</t[hd]>', re.DOTALL
)


def words(text):
    """The words of the house in a text."""
    text = re.sub(r"\s+", " ", text)
    return [found[0] for pattern in (HOUSE, RATE) for found in pattern.finditer(text)]


def labels(path):
    """What a page's figures, tables and exercises say, its outputs included."""
    exercises = False
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            for line in text.splitlines():
                if line.startswith("## "):
                    exercises = line.startswith("## Exercises")
                if exercises or line.startswith("|"):
                    yield line
        for output in cell.get("outputs", ()):
            yield "".join(output.get("text", ""))
            html = "".join(output.get("data", {}).get("text/html", ""))
            yield from (TAG.sub(" ", "".join(found)) for found in LABEL.findall(html))


def tables(path):
    """The headings and the tables of a page of reference, without quotations and addresses."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(("#", "|")):
            yield re.sub(r"“[^”]*”|\]\([^)]*\)", "", line)


def strings(path):
    """The strings of a program, its documentation apart."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        code = re.sub(r"^\s*(?://|\*|/\*).*$", "", text, flags=re.MULTILINE)
        return re.findall(r'"[^"\n]*"|`[^`]*`', code)
    every = [*ast.walk(ast.parse(text))]
    documentation = {node.value for node in every if isinstance(node, ast.Expr)}
    constants = {node for node in every if isinstance(node, ast.Constant)} - documentation
    return [node.value for node in constants if isinstance(node.value, str)]


def asked(path):
    """The lines of a quiz, but for the ids, by which readers' answers are kept."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("id = ")]


def set_tasks(chapter):
    """The titles, hints and conclusions of a chapter's exercises."""
    for exercise in EXERCISES.values():
        if exercise.chapter == chapter:
            yield from (exercise.title, *exercise.hints, exercise.after)


PLACES = {f"{address_of(path.stem)}.ipynb": labels(path) for path in paths()}
PLACES |= {f"chapters/{path.name}": tables(path) for path in sorted(CHAPTERS.glob("*.md"))}
PLACES |= {"index.md": tables(ROOT / "index.md"), "README.md": tables(ROOT / "README.md")}
PLACES |= {f"quiz {path.parent.name}": asked(path)
           for path in sorted(CHAPTERS.glob("*/quiz.toml"))}  # fmt: skip
PLACES |= {f"exercises {name}": set_tasks(name)
           for name in sorted({exercise.chapter for exercise in EXERCISES.values()})}  # fmt: skip
PLACES |= {
    f"labels of {path.relative_to(ROOT)}": strings(path)
    for folder in ("kernels/lab/plots", "kernels/lab/widgets", "kernels/records", "chapters")
    for path in sorted((ROOT / folder).rglob("*.*"))
    if path.suffix in (".py", ".js") and path not in ANALOGY
}


@pytest.mark.parametrize("place", PLACES)
def test_labels_tables_and_exercises_use_the_words_of_the_field(place):
    texts = [*PLACES[place]]
    assert texts or not place.startswith(("quiz", "exercises")), "nothing to search"
    found = {word for text in texts for word in words(text)} - KITCHEN.get(place, set())
    assert not found, f"{place} should say in the field's own terms: {', '.join(sorted(found))}"

"""The reference pages: words are used, messages are the code's, plans add up."""

import ast
import re
from collections import Counter
from functools import cache

import nbformat
import pytest

from kernels.basics import data_sheets
from kernels.basics.files import ROOT
from kernels.lab.pages import CHAPTERS, has_quiz, is_deeper, missing, path_of, paths
from kernels.records import counters
from microscope import LIMITS

CONTENTS = (ROOT / "_toc.yml").read_text(encoding="utf-8")
#: A word of the glossary: its name, what it is, and the page that introduces it.
ENTRY = re.compile(
    r"^### (.+)\n\n(.+) \*\[(Chapter (\d+)b?(?:, deeper)?)\]\(\w+/(\d\d\w?-[\w-]+)\.ipynb\)\*$",
    re.MULTILINE,
)
LINK = re.compile(r"\[([^\]]+)\]\(\.\./glossary\.md#([^)]+)\)")


def page(name):
    return (CHAPTERS / f"{name}.md").read_text(encoding="utf-8")


TERMS = ENTRY.findall(page("glossary"))


def place(heading):
    """The letters and digits of a heading, which its address in a page and in Markdown share."""
    return re.sub(r"[^a-z0-9]", "", heading.lower())


@cache
def prose(page):
    cells = nbformat.read(path_of(page), as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


# -------------------------------------------------------------------------------------- glossary


def test_the_glossary_is_long_and_in_order():
    names = [name for name, *_ in TERMS]
    assert len(names) >= 70
    assert names == sorted(names, key=str.lower)
    assert len({place(name) for name in names}) == len(names) == page("glossary").count("\n### ")


@pytest.mark.parametrize("name, text, said, number, page", TERMS, ids=[term[0] for term in TERMS])
def test_a_word_is_short_and_its_page_links_to_it(name, text, said, number, page):
    assert int(page[:2]) == int(number) and said.endswith("deeper") == is_deeper(page), (
        f"{name}: the link {said!r} leads to {page}"
    )
    sentences = re.findall(r"[.!?:;](?= |$)", re.sub(r"`[^`]*`", "code", text))
    assert 2 <= len(sentences) <= 5 and len(text.split()) <= 70
    linked = [found for found in LINK.findall(prose(page)) if place(found[1]) == place(name)]
    told = f"link the first use of {name!r} in {page}, and only that"
    assert len(linked) == 1, told


def test_counts_name_their_counter():
    told = {name: re.findall(r"`(\w+__\w+(?:\.\w+)+)`", text) for name, text, *_ in TERMS}
    named = {metric for metrics in told.values() for metric in metrics}
    assert named <= set(counters.METRICS), "kernels/records/counters.py reads no such counter"
    for name in ("Bank conflict", "DRAM", "Fused multiply-add", "Occupancy", "Request", "Sector",
                 "Shared memory", "Wavefront"):  # fmt: skip
        assert told[name], f"{name}: which counter of ncu is it?"


@pytest.mark.parametrize("page", [path.stem for path in paths()])
def test_links_to_the_glossary_find_their_word_and_stand_once(page):
    linked = [place(target) for _, target in LINK.findall(prose(page))]
    twice = sorted({word for word in linked if linked.count(word) > 1})
    assert not twice, f"{page}.ipynb should link only the first use of {twice}"
    assert linked or not has_quiz(page), (
        f"{page}.ipynb should link the words that it teaches: "
        "[word](../glossary.md#word), defined in chapters/glossary.md"
    )
    unknown = sorted(set(linked) - {place(name) for name, *_ in TERMS})
    assert not unknown, f"chapters/glossary.md has no entry for {unknown}"


# --------------------------------------------------------------------------------------- messages


def strings(tree):
    """The fixed parts of all strings of a module, without its docstrings."""
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documentation:
                yield from re.split(r"%[ds]|\{+\w[^{}]*\}+|[\"\n]", node.value)


@cache
def spoken():
    """What the course's own code may say."""
    roots = ("kernels", "microscope", "book")
    paths = [path for root in roots for path in ROOT.glob(f"{root}/**/*.py")]
    parts = {
        part.strip()
        for path in paths
        for part in strings(ast.parse(path.read_text(encoding="utf-8")))
    }
    return sorted((part for part in parts if len(part) >= 3), key=len, reverse=True)


def said_by_the_code(message):
    """The share of a message's letters that stand in the code's strings."""
    rest = re.sub(r"^[A-Za-z]+(?:Error|Result|Bounds|Unsupported): ", "", message)
    total = len(re.findall(r"[a-z]", rest))
    for part in spoken():
        if len(part) >= 6:
            rest = rest.replace(part, " ")
    return 1 - len(re.findall(r"[a-z]", rest)) / total


OWN = re.findall(r"^```text\n(.+)\n```$", page("troubleshooting"), re.MULTILINE)


@pytest.mark.parametrize("message", OWN, ids=lambda message: message[:40])
def test_the_messages_of_the_course_are_still_its_messages(message):
    assert said_by_the_code(message) >= 0.7


def test_a_message_that_changed_is_seen():
    assert len(OWN) >= 25
    changed = "KernelError: the grid of 1.5625 is broken, so divide by something and try it again"
    assert said_by_the_code(changed) < 0.3


# ----------------------------------------------------------------------------------- cheat sheet


def test_the_limits_of_the_cheat_sheet_are_those_of_the_sheets():
    text = page("cheat-sheet")
    table = text[text.index("## Limits") : text.index("## Memory")]
    cells = [cell.strip() for cell in re.findall(r"[^|\n]+(?=\|)", table)]
    row = dict(zip(cells[0::2], cells[1::2], strict=True))
    assert row["threads per warp"] == "32"
    assert row["threads per block"] == f"{LIMITS.threads}, and z at most {LIMITS.block[2]}"
    assert row["static shared memory per block"].startswith(f"{LIMITS.shared_bytes // 1024} KB")
    assert LIMITS.grid == (2**31 - 1, 65535, 65535)
    assert row["blocks per grid"] == "2³¹ − 1 in x, 65,535 in y and z"
    sheets = [data_sheets.gpu(name) for name in data_sheets.gpus()]
    assert {sheet.registers_per_sm for sheet in sheets} == {65_536}
    assert row["registers per thread, per SM"] == "255, 65,536"
    threads = sorted({sheet.threads_per_sm for sheet in sheets})
    assert row["threads per SM"] == f"{', '.join(map(str, threads[:-1]))} or {threads[-1]}"


# ------------------------------------------------------------------------------- instructor guide


def rows(first):
    found = re.findall(rf"^\| ({first}) \| (\d+) \|", page("instructor-guide"), re.MULTILINE)
    return [(start, int(minutes)) for start, minutes in found]


def test_the_day_adds_up():
    plan = rows(r"\d+:\d\d")
    assert len(plan) >= 10
    begins = [60 * int(start.split(":")[0]) + int(start.split(":")[1]) for start, _ in plan]
    ends = [begin + minutes for begin, (_, minutes) in zip(begins, plan, strict=True)]
    assert begins[1:] == ends[:-1]


def test_the_evenings_add_up():
    plan = rows(r"\d")
    for evening in "123":
        assert sum(minutes for which, minutes in plan if which == evening) == 150


# ------------------------------------------------------------------------------------ all of them


def test_every_page_is_in_the_contents():
    listed = set(re.findall(r"file: chapters/(\S+)", CONTENTS))
    written = {path.stem for path in CHAPTERS.glob("*.md")}
    assert not written - listed, f"list in _toc.yml: {sorted(written - listed)}"


def test_no_chapter_lacks_a_part():
    assert missing() == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "chapters/instructor-guide.md"])
def test_what_the_guides_name_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:kernels|tests|chapters)/[\w./-]+)`", text)
    named = [path for path in named if "name" not in path and "NN" not in path]
    assert named
    missing = [path for path in named if not (ROOT / path).exists()]
    assert not missing, f"{name} names {missing}"
    commands = set(re.findall(r"`make ([a-z]+)|^make ([a-z]+)", text, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = {first or second for first, second in commands}
    assert commands and all(f"\n{command}:" in makefile for command in commands)


def test_the_tally_counts_the_rows_of_the_fact_check():
    text = page("fact-check")
    rows = [line for line in text.splitlines() if line.startswith("| ") and " (line " in line]
    found = Counter(re.search(r"\| \*\*([a-z ]+)\*\* \|", row)[1] for row in rows)
    told = dict(re.findall(r"^\| \*\*([a-z ]+)\*\* \|.* (\d+) \|$", text, re.M))
    assert {verdict: str(number) for verdict, number in found.items()} == told

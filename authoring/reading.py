"""What each page asks of its reader: words, code, predictions, figures, exercises, and minutes.

It counts and judges nothing. The minutes follow from four counts by one formula, `minutes`; the
first page of the book shows them between its markers, where `write` puts them; the page itself
says them in its opening, where `say` does.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from kernels.basics.files import ROOT, replace_text
from kernels.lab.pages import (
    CHAPTERS,
    EXERCISE,
    PREDICT,
    address_of,
    is_deeper,
    path_of,
    paths,
    settings,
)

#: The pace of a reader who wants to learn the text, in words per minute (Carver, *Reading Rate*,
#: 1990: reading to learn; reading to understand is faster, 300).
WORDS = 200
#: Lines of code per minute: twice the rate at which reviewers search code for errors, because here
#: the text explains what is new.
LINES = 10
#: What marks a kernel of PTX instructions: of such lines half as many per minute, because each
#: names an instruction whose operands are addresses in bytes, phases or fragments.
CLOSE = re.compile(r"@cuda\.jit.*\bptx\.", re.DOTALL)
#: Minutes for a prediction: to find a number, run the cell, and see why it differs.
PREDICTION = 2
#: Minutes for an exercise: *Your turn* in the text, a question of numbers, one of code.
TURN, NUMBERS, CODE = 3, 6, 12

#: A sentence of more words than this is long.
LONG = 30

#: What a core page may hold at most, and of figures at least.
BUDGETS = {"words": 3000, "predictions": 8, "minutes": 45, "pictures": 5}
#: Pages with limits of their own.
OTHER_BUDGETS = {
    "00-climb": BUDGETS | {"minutes": 60},
    "10-practice": {"words": 3040},
}

#: Words of the house, where the field has a term; chapter 1 has one picture that is made of them.
HOUSE = re.compile(
    r"\b(?:the|a|its|this|that|same|own|each|two|shared) bench(?:es)?\b|\bbenches\b|\bworkbench\b"
    r"|\bcarr(?:y|ies|ied|ying)\b|\bpantr(?:y|ies)\b|\b(?:trays?|trolleys?|crates?|drawers?)\b"
    r"|\b(?:chefs?|crews?|kitchens?|corridors?|vans?|foreman|foremen)\b|\btrips?\b"
    r"|\bpatch(?:es)?\b|\bon its side\b|\bthe plug\b",
    re.IGNORECASE,
)
#: "An element a thread": a rate without *per*.
RATE = re.compile(
    r"\b(?:(?:\d[\d ]*(?:\.\d+)?|one|two|three|four|eight|sixteen|elements?|bytes?|threads?|blocks?"
    r"|registers?|outputs?|sectors?|wavefronts?|instructions?|lanes?) an?"
    r" (?:thread|block|warp|element|step|load|multiply-add|launch|second|tile|SM|byte|request"
    r"|kernel|file|page)"
    # A thread loads an element, but makes two loads a step.
    r"|(?:loads?|stores?|requests?) an? (?:thread|block|warp|step|multiply-add|launch|SM))\b",
    re.IGNORECASE,
)
#: How the opening of a deeper page begins; the front page lists what follows.
THIS_PAGE = re.compile(r"^(?:This page (?:adds|covers|explains|shows)|\*\*Adds:\*\*) ")
#: What of a Markdown text is no prose: code, formulas, comments, directives, links, tables.
MARKUP = re.compile(
    r"```.*?```|\$\$.*?\$\$|<!--.*?-->|^:::+[^\n]*$|^:[a-z-]+:[^\n]*$|\]\([^)\n]*\)|<[^>\n]+>"
    r"|`[^`\n]*`|^\|[^\n]*\|$",
    re.DOTALL | re.MULTILINE,
)
ASIDE = re.compile(
    r"^:::+\{(?:exercise|dropdown|hint|solution)[^\n]*\n.*?^:::+$", re.DOTALL | re.MULTILINE
)
WORD = re.compile(r"[A-Za-z0-9’'-]+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\n")
HEADING = re.compile(r"^### (.*)", re.MULTILINE)
#: What folds a cell, or takes it off the page.
HIDDEN = re.compile(r"hide|remove")
SAID = re.compile(r"\*\*Time:\*\* (\d+) minutes")


@dataclass(frozen=True)
class Page:
    """What one page holds.

    Attributes
    ----------
    name : str
        ``"04-tiled"``.
    words : int
        Of prose: without code, tables, exercises, hints and answers.
    code : int
        Lines of the cells that are not folded, blank ones and exercises apart.
    close : int
        Those of kernels of PTX instructions among them.
    predictions, turns, figures, widgets, exercises : int
        A quiz is no widget here, and an exercise has its predictions. A *turn* asks the reader to
        change a cell in the text.
    exercise_minutes : int
    long : int
        Sentences of more than 30 words.
    house : int
        Words of the house, and rates without *per*.
    said : int or None
        The minutes that the page itself names.
    title, opening : str
        Its title, and the first sentence of its text.
    """

    name: str
    words: int
    code: int
    close: int
    predictions: int
    turns: int
    figures: int
    widgets: int
    exercises: int
    exercise_minutes: int
    long: int
    house: int
    said: int | None
    title: str
    opening: str

    @property
    def minutes(self) -> int:
        """Minutes for the page without its exercises."""
        return minutes(self.words, self.code + self.close, self.predictions, self.turns)

    @property
    def pictures(self) -> int:
        """Figures and widgets."""
        return self.figures + self.widgets

    @property
    def budget(self) -> dict[str, int]:
        """The page's limits; none for a deeper page."""
        return {} if is_deeper(self.name) else OTHER_BUDGETS.get(self.name, BUDGETS)

    def beyond(self, what: str) -> bool:
        """Whether a count does not keep its limit."""
        limit, count = self.budget.get(what), getattr(self, what)
        return limit is not None and (count < limit if what == "pictures" else count > limit)


def minutes(words: int, code: int, predictions: int, turns: int) -> int:
    """Return a reader's time, exercises apart: the sum of four times, rounded up to 5 minutes."""
    exact = words / WORDS + code / LINES + PREDICTION * predictions + TURN * turns
    return 5 * ceil(exact / 5)


def read(path: Path) -> Page:
    """Count what a notebook holds."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join(_source(cell) for cell in cells if cell["cell_type"] == "markdown")
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    plain = MARKUP.sub(" ", ASIDE.sub(" ", text))
    every = "\n".join(map(_source, cells))
    drawn = [kind for cell in code for kind in map(_kind, cell.get("outputs", ()))]
    told = SAID.search(text)
    exercises = _exercises(cells)
    return Page(
        name=path.stem,
        words=len(WORD.findall(plain)),
        code=sum(map(_lines, code)),
        close=sum(_lines(cell) for cell in code if CLOSE.search(_source(cell))),
        predictions=text.partition("\n## Exercises")[0].count(PREDICT),
        turns=len(re.findall(r"\*\*(?:Your turn|Break it)\b", text)),
        figures=drawn.count("figure"),
        widgets=drawn.count("widget"),
        exercises=len(exercises),
        exercise_minutes=sum(exercises),
        long=sum(len(each.split()) > LONG for each in SENTENCE_END.split(plain)),
        house=len(HOUSE.findall(every)) + len(RATE.findall(every)),
        said=int(told[1]) if told else None,
        title=_source(cells[0]).partition("\n")[0].removeprefix("# "),
        opening=_opening(_source(cells[0])),
    )


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _opening(text: str) -> str:
    """The first sentence of a page's first cell, under the title and the badges, without links."""
    body = re.sub(r"<!-- badges -->.*?<!-- /badges -->", "", text, flags=re.DOTALL)
    body = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(body.partition("\n")[2].split()))
    return re.split(r"(?<=[.!?])\s", body, maxsplit=1)[0]


def _lines(cell: dict[str, Any]) -> int:
    """Lines of a cell that a reader sees and has to understand."""
    tags = cell["metadata"].get("tags", ())
    if any(map(HIDDEN.match, tags)) or "exercise" in cell["metadata"]:
        return 0
    return sum(bool(line.strip()) for line in _source(cell).splitlines())


def _kind(output: dict[str, Any]) -> str:
    """What an output shows: ``"figure"``, ``"widget"``, or something else."""
    data = output.get("data", {})
    html, plain = ("".join(data.get(f"text/{kind}", "")) for kind in ("html", "plain"))
    if "application/vnd.jupyter.widget-view+json" in data or "data-kind=" in html:
        return "" if plain.startswith("Quiz(") else "widget"
    pictured = {"image/png", "image/svg+xml"} & data.keys()
    return "figure" if pictured or "<svg" in html or "<img" in html else ""


def _exercises(cells: list[dict[str, Any]]) -> list[int]:
    """The minutes of each exercise: its tasks follow its heading, each in a marked cell."""
    found: list[list[int]] = []
    for cell in cells:
        if cell["cell_type"] == "markdown":
            found += [[] for heading in HEADING.findall(_source(cell)) if EXERCISE.match(heading)]
        elif cell["metadata"].get("exercise", "").endswith(".start"):
            found = found or [[]]
            found[-1].append(CODE if "def " in _source(cell) else NUMBERS)
    return [sum(tasks) or NUMBERS for tasks in found]


def report(folder: Path = CHAPTERS) -> list[Page]:
    """Return what every page of a folder holds, in reading order."""
    return [read(path) for path in paths(folder)]


def table(pages: list[Page]) -> str:
    """Return the report as text, with a mark at each count that does not keep its limit."""
    heads = {
        "words": "words", "code": "lines", "predictions": "predictions", "pictures": "figures",
        "long": "long", "house": "house", "minutes": "minutes", "said": "it says",
        "exercises": "exercises", "exercise_minutes": "minutes",
    }  # fmt: skip
    rows = [["page", *heads.values()]]
    for page in pages:
        counts = {name: getattr(page, name) for name in heads}
        shown = [f"{'–' if n is None else n}{'!' * page.beyond(it)}" for it, n in counts.items()]
        rows.append([page.name, *shown])
    sums = [sum(getattr(page, name) or 0 for page in pages) for name in heads]
    rows.append(["all", *map(str, sums)])
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(wide[0]), *map(str.rjust, row[1:], wide[1:])]) for row in rows]
    return "\n".join([*lines, "", EXPLAINED])


_MOST = ", ".join(f"{BUDGETS[name]} {name}" for name in ("words", "predictions", "minutes"))
EXPLAINED = f"""\
lines    of code, in cells that are not folded
long     sentences of more than {LONG} words
house    words where the field has a term, and rates without *per*
minutes  words / {WORDS} + lines / {LINES} (those of kernels of PTX instructions count twice)
         + {PREDICTION} per prediction + {TURN} per *Your turn*, rounded up to 5;
         an exercise takes {NUMBERS} for numbers, {CODE} for code
!        beyond what a core page may hold: {_MOST},
         and at least {BUDGETS["pictures"]} figures or widgets"""

# The first page of the book ------------------------------------------------------

#: The head of the table of core pages.
CORE = ("| page | afterwards you can | text, min | exercises, min |", "| --- | --- | ---: | ---: |")
MINUTES = re.compile(r"(?<=<!-- minutes -->\n).*?(?=<!-- /minutes -->)", re.DOTALL)
DEEPER = re.compile(r"(?<=<!-- deeper -->\n).*?(?=<!-- /deeper -->)", re.DOTALL)
ROUTES = re.compile(r"(?<=<!-- routes -->\n).*?(?=<!-- /routes -->)", re.DOTALL)
#: The chapters of the day, and the minutes for one exercise in each.
DAY, ONE = ("01", "02", "03", "04", "05", "07"), 10


def routes(pages: list[Page]) -> list[tuple[str, str, int]]:
    """The ways through the course: how much time there is, what to read in it, and the minutes."""
    core = [page for page in pages if not is_deeper(page.name)]
    climb = sum(p.minutes + p.exercise_minutes for p in core if p.name.startswith("00"))
    day = [page.minutes + ONE for page in core if page.name.startswith(DAY)]
    everything = sum(page.minutes + page.exercise_minutes for page in pages)
    return [
        ("an hour", "the climb, with its exercise", climb),
        ("a day", "the climb, then chapters 1 to 5 and 7 with one exercise each", climb + sum(day)),
        ("longer", "every page, the deeper ones too, and every exercise", everything),
    ]


def hours(minutes: int) -> str:
    """Minutes in hours, rounded up to 5 minutes: ``"6 h 20 min"``."""
    whole, rest = divmod(5 * ceil(minutes / 5), 60)
    return " ".join([f"{whole} h"] * bool(whole) + [f"{rest} min"] * bool(rest or not whole))


def say(folder: Path = CHAPTERS) -> list[Path]:
    """Bring the minutes that pages say of themselves up to date; return the pages that changed."""
    found = [page for page in report(folder) if page.said not in (None, page.minutes)]
    changed = {path_of(page.name, folder): page.minutes for page in found}
    for path, now in changed.items():
        text = path.read_text(encoding="utf-8")
        replace_text(path, SAID.sub(f"**Time:** {now} minutes", text, count=1))
    return [*changed]


def write(root: Path = ROOT, folder: Path = CHAPTERS) -> Path:
    """Bring the minutes and the list of deeper pages on the first page up to date; return it."""
    pages = report(folder)
    ways = ["| you have | read | it takes |", "| --- | --- | ---: |"]
    ways += [f"| {name} | {what} | {hours(time)} |" for name, what, time in routes(pages)]
    path = root / "index.md"
    text = path.read_text(encoding="utf-8")
    rows = [row(page, folder) for page in pages if not is_deeper(page.name)]
    text = MINUTES.sub(lambda _: "\n".join([*CORE, *rows, ""]), text)
    text = ROUTES.sub("\n".join([*ways, ""]), text)
    replace_text(path, DEEPER.sub(lambda _: deeper([p for p in pages if is_deeper(p.name)]), text))
    return path


def row(page: Page, folder: Path = CHAPTERS) -> str:
    """A chapter's row on the first page: what one can do after it stands in its settings."""
    told = settings(page.name, folder)
    return (
        f"| [{told['title']}]({address_of(page.name)}.ipynb) | {told['after']} | {page.minutes} "
        f"| {page.exercise_minutes or '–'} |"
    )


def deeper(pages: list[Page]) -> str:
    """The deeper pages as a folded table: what each shows, in the words that open it."""
    if not pages:
        return ""
    rows = [
        f"| [{page.title}]({address_of(page.name)}.ipynb) "
        f"| {THIS_PAGE.sub('', page.opening).rstrip('.')} | {page.minutes} "
        f"| {page.exercise_minutes or '–'} |"
        for page in pages
    ]
    head = [
        "| deeper page | it shows | text, min | exercises, min |",
        "| --- | --- | ---: | ---: |",
    ]
    return "\n".join([":::{dropdown} The deeper pages", *head, *rows, ":::", ""])

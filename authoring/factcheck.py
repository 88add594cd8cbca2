"""The fact-check: each claim of the course's sources, and what a record says to it.

The page ``chapters/fact-check.md`` holds a table for each source between markers; `write` makes
them from `authoring.claims` and from a record, so that no figure there is typed by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from authoring import claims
from authoring.findings import FINDINGS, Finding
from kernels.basics.files import ROOT, replace_text
from kernels.records import MissingField, Record, RecordError

__all__ = ["FINDINGS", "PAGE", "VERDICTS", "finding", "tables", "tally", "write"]

PAGE = ROOT / "chapters" / "fact-check.md"
HEAD = "| claim, and its source's words | verdict | what we found | try it |"
#: What Markdown would not print as it stands.
SPECIAL, ESCAPED = re.compile(r"[|*_~<>\[\]]"), r"\\\g<0>"
MARKERS = re.compile(r"(<!-- (claims|tally) ?(S\d)? -->).*?(<!-- /\2 -->)", re.S)
#: What each verdict means, in the order of the tally.
VERDICTS = {
    "right": "it holds as it is said",
    "half right": "it holds for one reading of its words, and not for another",
    "incomplete": "what it says holds; what it leaves out matters here",
    "depends": "it holds for some kernels, languages or machines and fails for others",
    "outdated": "it was right for older hardware or tools",
    "wrong": "it does not hold",
}
#: The verdicts that the page shows at once; the others are folded.
FAILING = ("half right", "outdated", "wrong")


def finding(claim: claims.Claim, record: Record) -> Finding | None:
    """What the record says to a claim; None if the claim needs no measurement.

    Raises
    ------
    RecordError
        When a row that decides the claim is not recorded.
    """
    found = FINDINGS.get(claim.id)
    try:
        return found(record) if found else None
    except MissingField as error:
        raise RecordError(f"the record {record.name!r} cannot judge {claim.id}: {error}") from None


def tables(source: str, record: Record) -> str:
    """The claims of one source: a table of those that fail somehow, and one of the others, folded.

    Both are Markdown.
    """
    every = claims.claims(source=source)
    failing = [claim for claim in every if claim.verdict in FAILING]
    others = [claim for claim in every if claim.verdict not in FAILING]
    told = f":::{{dropdown}} {len(others)} more: right, incomplete, or it depends"
    return f"{table(failing, record)}\n\n{told}\n{table(others, record)}\n:::"


def table(some: Iterable[claims.Claim], record: Record) -> str:
    """Some claims as a Markdown table."""
    lines = [HEAD, "| --- | --- | --- | --- |"]
    for claim in some:
        found = finding(claim, record)
        by = "" if found else f" *({claim.judged_by})*"
        told = " ".join(filter(None, (claim.fact, found.text if found else "")))
        link = f"[chapter {int(claim.where[2:4])}]({claim.where})"
        said = f"{claim.claim}: {quoted(claim)}"
        lines.append(f"| {said} | **{claim.verdict}** | {told}{by} | {link} |")
    return "\n".join(lines)


def quoted(claim: claims.Claim) -> str:
    """The source's own words, each with its line, for a cell of a Markdown table."""
    return ", ".join(
        f"“{SPECIAL.sub(ESCAPED, words)}” (line {line})" for line, words in claim.quotes
    )


def tally() -> str:
    """How many claims got each verdict, as a Markdown table, a column for each source."""
    every = claims.claims()
    count = Counter((claim.verdict, claim.source) for claim in every)
    sources = list(claims.sources())
    lines = [
        "| verdict | it means | " + " | ".join(sources) + " | all |",
        "| --- | --- |" + " ---: |" * (len(sources) + 1),
    ]
    for verdict, meaning in VERDICTS.items():
        numbers = [count[verdict, source] for source in sources]
        cells = [str(n) if n else "" for n in numbers] + [str(sum(numbers))]
        lines.append(f"| **{verdict}** | {meaning} | " + " | ".join(cells) + " |")
    totals = [sum(count[verdict, source] for verdict in VERDICTS) for source in sources]
    lines.append("| all | | " + " | ".join(map(str, [*totals, len(every)])) + " |")
    return "\n".join(lines)


def write(record: Record, page: Path = PAGE) -> Path:
    """Rewrite the tables between the page's markers.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    RecordError
        When nothing is recorded, or rows that a claim needs are not.
    """
    if not record:
        raise RecordError(record.caption())

    def new(found: re.Match[str]) -> str:
        start, what, source, end = found.groups()
        body = tally() if what == "tally" else tables(source, record)
        measured = any(claim.id in FINDINGS for claim in claims.claims(source=source))
        caption = f"\n\n{record.caption()}" if what == "claims" and measured else ""
        return f"{start}\n{body}{caption}\n{end}"

    replace_text(page, MARKERS.sub(new, page.read_text(encoding="utf-8")))
    return page

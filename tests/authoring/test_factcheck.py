"""The fact-check: every verdict follows from its figures, and the page from the record."""

import json
import re

import pytest

from authoring import claims, factcheck
from kernels import records
from kernels.records import Record, RecordError, Row

CHAPTERS = factcheck.PAGE.parent
RECORD = records.load(records.DEFAULT_GPU)
MEASURED = [claim for claim in claims.claims() if claim.id in factcheck.FINDINGS]
#: Those whose verdict is that of the figures, and not of a definition beside them.
JUDGED = [claim for claim in MEASURED if claim.judged_by == "record" and claim.low is not None]


def test_at_least_a_hundred_claims_are_judged():
    assert len(claims.claims()) >= 100
    assert {claim.verdict for claim in claims.claims()} == set(factcheck.VERDICTS)


def test_every_finding_belongs_to_a_claim():
    assert set(factcheck.FINDINGS) <= {claim.id for claim in claims.claims()}
    decided = {claim.id for claim in claims.claims() if claim.judged_by == "record"}
    assert decided <= set(factcheck.FINDINGS)


@pytest.mark.parametrize("claim", MEASURED, ids=lambda claim: claim.id)
def test_a_finding_has_figures(claim):
    found = factcheck.finding(claim, RECORD)
    assert re.search(r"\d", found.text) and found.text.endswith(".")
    assert found.values


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_the_verdict_follows_from_the_figures(claim):
    # A claim of one number is met by figures of about its size.
    values = factcheck.finding(claim, RECORD).values
    inside = [0.9 * claim.low <= value <= 1.1 * claim.high for value in values]
    assert {"right": any(inside), "wrong": not any(inside)}.get(claim.verdict, not all(inside))


@pytest.mark.parametrize(
    ("id", "higher"),
    [("s0-coalescing", 1.5), ("s1-one-element", 1.5), ("s1-wide-loads", 1.0),
     ("s1-larger-tiles", 1.0), ("s2-pcie-slowest", 10)],
)  # fmt: skip
def test_what_is_said_to_help_does(id, higher):
    assert min(factcheck.finding(claims.claim(id), RECORD).values) > higher


def test_a_wait_grows_with_the_distance():
    waits = factcheck.finding(claims.claim("s0-pyramid"), RECORD).values
    assert list(waits) == sorted(waits) and len(waits) == 4


def headings(page: str) -> set[str]:
    """The anchors of a chapter's headings, as GitHub and MyST make them."""
    cells = json.loads((CHAPTERS / page).read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    titles = re.findall(r"^#{1,3} (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda claim: claim.id)
def test_every_claim_leads_to_a_heading(claim):
    page, _, heading = claim.where.partition("#")
    assert (CHAPTERS / page).is_file()
    assert heading in headings(page)


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda claim: claim.id)
def test_every_row_says_something_and_names_the_chapter_it_leads_to(claim):
    assert claim.fact or claim.id in factcheck.FINDINGS
    (row,) = (
        line for line in factcheck.tables(claim.source, RECORD).splitlines()
        if line.startswith(f"| {claim.claim}: “")
    )  # fmt: skip
    assert f"[chapter {int(claim.where[2:4])}]({claim.where})" in row


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda claim: claim.id)
def test_every_row_quotes_a_few_words_with_their_line(claim):
    assert claim.quotes and claim.source in claims.sources()
    said = factcheck.tables(claim.source, RECORD)
    for line, words in claim.quotes:
        assert isinstance(line, int) and line >= 1
        assert 1 <= len(words.split()) <= 14, "a few words, not the text"
        shown = re.sub(r"([|*_~<>\[\]])", r"\\\1", words)
        assert f"“{shown}” (line {line})" in said


def test_the_page_names_each_source_by_its_title():
    page = " ".join(factcheck.PAGE.read_text(encoding="utf-8").split())
    for source, title in claims.sources().items():
        assert re.search(rf"## [^#()]+ \({source}\) \*{re.escape(title)}\*", page), source


@pytest.mark.parametrize("busy, verdict", [(0.04, "wrong"), (0.85, "right")])
def test_beyond_l2_decides_whether_dram_is_the_limit(busy, verdict):
    rows = [
        Row(rung="naive", engine=engine, options={}, M=8192, dram_throughput=busy,
            l1_throughput=0.7)
        for engine in ("numba", "cpp")
    ]  # fmt: skip
    record = Record("x", device={"l2_bytes": 60e6}, tables={"beyond_l2": rows})
    claim = claims.claim("s2-naive-dram")
    found = factcheck.finding(claim, record)
    assert found.text.startswith("At 8192³") and found.values == (busy, busy)
    assert (verdict == "right") == any(claim.low <= value <= claim.high for value in found.values)


def test_the_page_says_what_the_record_says(tmp_path):
    copy = tmp_path / "fact-check.md"
    text = factcheck.PAGE.read_text(encoding="utf-8")
    copy.write_text(text, encoding="utf-8")
    assert factcheck.write(RECORD, copy) == copy
    assert copy.read_text(encoding="utf-8") == text, "run `python -m kernels readme`"
    for source in claims.sources():
        assert f"<!-- claims {source} -->\n{factcheck.HEAD}" in text


def test_without_a_record_nothing_is_written(tmp_path):
    page = tmp_path / "fact-check.md"
    page.write_text("<!-- tally -->\n<!-- /tally -->\n", encoding="utf-8")
    with pytest.raises(RecordError, match="make record"):
        factcheck.write(Record(""), page)
    assert "|" not in page.read_text(encoding="utf-8")


def test_a_record_without_a_row_says_which():
    poor = Record("poor", tables={"profiles": [], "timings": [], "bandwidth": []})
    with pytest.raises(RecordError, match="copy"):
        factcheck.finding(claims.claim("s2-global-bandwidth"), poor)


def test_a_missing_field_cannot_judge_and_a_defect_is_no_missing_field(monkeypatch):
    claim = MEASURED[0]
    monkeypatch.setitem(factcheck.FINDINGS, claim.id, lambda record: Row(rung="naive").gflops)
    with pytest.raises(RecordError, match=f"cannot judge {claim.id}: this row has no 'gflops'"):
        factcheck.finding(claim, RECORD)
    monkeypatch.setitem(factcheck.FINDINGS, claim.id, lambda record: record.tabels)
    with pytest.raises(AttributeError, match="tabels"):
        factcheck.finding(claim, RECORD)

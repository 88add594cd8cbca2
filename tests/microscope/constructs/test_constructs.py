"""Every documented construct: what the interpreter refuses Numba refuses, or the row says so."""

import numpy as np
import pytest

from tests.microscope.constructs import page, rows, verdicts

IN_KERNELS = [row for row in rows.everything() if not row.on_host]
ON_HOST = [row for row in rows.everything() if row.on_host]


def ids(row: rows.Row) -> str:
    return f"{row.section}: {row.construct}"


@pytest.mark.parametrize("row", IN_KERNELS, ids=ids)
def test_what_runs_here_compiles_there_and_gives_the_same(row):
    pytest.importorskip("numba_cuda")
    mine, theirs = verdicts.here(row), verdicts.there(row)
    if mine.refused:
        assert "\n" not in mine.refused and len(mine.refused) < 250
        return
    assert theirs.refused == ""
    assert verdicts.difference(mine, theirs, near=verdicts.near(row)) == ""
    assert mine.problems == []


@pytest.mark.parametrize("row", ON_HOST, ids=ids)
def test_the_host_runs_or_refuses(row):
    refused = verdicts.here(row).refused
    assert "\n" not in refused and ("declare" in row.construct) == bool(refused)


def test_many_rows_are_judged_by_their_values():
    pytest.importorskip("numba_cuda")
    both = [
        row
        for row in IN_KERNELS
        if verdicts.there(row).outputs is not None and not verdicts.here(row).refused
    ]
    assert len(both) > 240


def test_the_page_is_what_the_command_writes():
    pytest.importorskip("numba_cuda")
    assert page.PAGE.read_text(encoding="utf-8") == page.text()


def test_a_difference_is_seen():
    outputs = [np.zeros(3) for _ in verdicts.NAMES]
    others = [a.copy() for a in outputs]
    others[1][2] = 1
    mine, theirs = verdicts.Verdict(outputs=outputs), verdicts.Verdict(outputs=others)
    assert verdicts.difference(mine, theirs) == "x[2]: np.float64(0.0) here, np.float64(1.0) there"


@pytest.mark.parametrize(
    "body, kind",
    [
        ("out[i] = n\n", "runs"),
        ("out[i] = [1][0]\n", "refused"),
        ("for a in x.flat:\n    out[i] = a\n", "GPU only"),
    ],
)
def test_a_verdict_says_who_refuses(body, kind):
    pytest.importorskip("numba_cuda")
    assert page.verdict(rows.Row("", "", "", body))[0] == kind

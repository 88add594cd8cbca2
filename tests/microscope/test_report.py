"""The report of a trace: numbers under the right lines, as text, as HTML and as a picture."""

import re

import numpy as np
import pytest

from kernels import cuda, float32
from kernels.lab import trace
from kernels.lab.plots.requests import describe, request_picture


@cuda.jit
def column(A, C):
    s = cuda.shared.array((32, 32), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    s[y, x] = A[y, x]
    cuda.syncthreads()
    if x < 0:
        C[0, 0] = s[0, 0]
    C[x, y] = s[x, y] + A[0, 0]


@pytest.fixture(scope="module")
def seen():
    A = np.ones((32, 32), np.float32)
    return trace(column, 1, (32, 32), A, A.copy())


def line_of(seen, words):
    return next(n for n, text in enumerate(seen.source, seen.first_line) if words in text)


def test_text_holds_every_access_under_its_line(seen):
    lines = str(seen.table()).splitlines()
    assert lines[0] == "column: grid 1, block 32 × 32, all blocks traced, lockstep"
    at = next(i for i, text in enumerate(lines) if text.strip().endswith("s[x, y] + A[0, 0]"))
    assert lines[at].split()[0] == str(line_of(seen, "+ A[0, 0]"))
    below = {text.split()[0] + " " + text.split()[1]: text for text in lines[at + 1 : at + 5]}
    assert below["store C[x,"].split()[3:8] == ["32", "32", "32", "sectors", "#" * 16]
    assert "12.5 % of what moves is used" in below["store C[x,"]
    assert "32 wavefronts" in below["load s[x,"] and "992 conflicts" in below["load s[x,"]
    assert "each byte serves 32 threads" in below["load A[0,"]
    assert "1,024 FLOPs" in "".join(lines[at:])


def test_text_aligns_its_columns(seen):
    rows = [text for text in str(seen.table()).splitlines() if re.match(r"\s+(load|store) ", text)]
    starts = {re.search(r"\d+ (sector|wavefront)", text).start() for text in rows}
    assert len(rows) == 5 and len(starts) == 1


def test_barriers_and_totals(seen):
    text = str(seen.table())
    assert re.search(r"barrier +1\n", text)
    assert "shared memory: 4,096 bytes per block, 1,056 wavefronts, 992 of them bank" in text
    assert text.endswith("No problem found.")
    asked = 4 * (1024 + 1024 + 1024)
    assert f"global bytes: {asked:,} asked" in text


def test_html_holds_the_same_numbers(seen):
    html = seen.table()._repr_html_()
    assert html.count("<tr") == html.count("</tr>") == len(seen.table().rows) + 1
    assert "992 conflicts" in html and "#" not in re.sub(r"&#\w+;", "", html)
    assert "width:8.00em" in html  # the longest bar: 32 sectors of 32


def test_problems_are_listed():
    @cuda.jit
    def outside(a):
        a[cuda.grid(1) + 1] = 1.0

    found = trace(outside, 1, 8, np.zeros(8, np.float32))
    assert str(found.table()).splitlines()[-1].startswith("out of bounds: line ")
    assert "<br>out of bounds: line " in found.table()._repr_html_()


def site(seen, op, expr):
    return next(s for s in seen.sites if (s.op, s.expr) == (op, expr))


def test_picture_shows_which_lane_asks_where(seen):
    texts = [t.get_text() for t in request_picture(site(seen, "load", "A[y, x]")).axes[0].texts]
    assert [t for t in texts if t.startswith("byte")] == ["byte 0", "byte 32", "byte 64", "byte 96"]
    assert [t for t in texts if t.isdigit()] == [str(n) for n in range(32)]


def test_picture_of_a_broadcast(seen):
    texts = [t.get_text() for t in request_picture(site(seen, "load", "A[0, 0]")).axes[0].texts]
    assert texts == ["0–31", "byte 0"]


def test_picture_of_a_bank_conflict(seen):
    conflict = site(seen, "load", "s[x, y]")
    labels = [t.get_text() for t in request_picture(conflict).axes[0].texts]
    banks, lanes = labels[:1], [t for t in labels if t.isdigit()]
    assert banks == ["0"] and sorted(map(int, lanes)) == sorted([*range(32), *range(32)])
    assert describe(conflict).endswith("the busiest bank holds 32 different words.")


def test_describe_counts_used_and_moved_bytes(seen):
    words = describe(site(seen, "store", "C[x, y]"))
    said = "32 lanes ask for 32 elements, 128 bytes, in 32 sectors: 1024 bytes move."
    assert words.endswith(said)


def test_local_memory_has_no_picture():
    @cuda.jit
    def private(a):
        mine = cuda.local.array(2, float32)
        mine[0] = 1
        a[cuda.grid(1)] = mine[0]

    found = trace(private, 1, 32, np.zeros(32, np.float32))
    assert "registers or local memory" in str(found.table())
    with pytest.raises(ValueError, match=r"mine\[0\] is local memory"):
        request_picture(site(found, "store", "mine[0]"))

"""Records: found, read, merged and written, with errors that say what there is."""

import json
import re
import subprocess
import sys

import pytest

from kernels import records
from kernels.basics import files
from kernels.basics.files import ROOT
from kernels.records import Record, RecordError, Row, Table
from tests.records import synthetic


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    return tmp_path


def test_a_written_record_reads_the_same(folder):
    record = synthetic.record()
    path = records.write(record)
    assert path == folder / "synthetic.json"
    assert records.read(path) == record
    assert [p.name for p in folder.iterdir()] == ["synthetic.json"]


def test_one_row_a_line(folder):
    text = records.write(synthetic.record()).read_text()
    rows = sum(len(table) for table in synthetic.record().tables.values())
    assert sum(line.startswith(' {"') for line in text.split("\n")) == rows
    assert text.endswith("}\n") and "\r" not in text


def test_nothing_recorded_is_an_empty_record(folder):
    record = records.load()
    assert not record
    assert record.caption() == (
        "Nothing is recorded yet: run `make record` on a machine with an NVIDIA GPU."
    )
    assert record.rows("timings") == record.ladder() == []
    with pytest.raises(RecordError, match="Nothing is recorded yet"):
        record.timing("tiled")


def test_an_unknown_gpu_is_told_what_is_recorded(folder):
    with pytest.raises(RecordError, match="no record of GPU 'h200': nothing is recorded"):
        records.load("h200")
    records.write(synthetic.record("t4"))
    with pytest.raises(RecordError, match="no record of GPU 'h300': recorded are t4"):
        records.load("h300")


def test_the_default_gpu_is_shown_before_others(folder, monkeypatch):
    for name in ("a100", "h200", "t4"):
        records.write(synthetic.record(name))
    monkeypatch.setattr(records.record, "_own_gpu", lambda: None)
    assert records.load().name == "h200"
    monkeypatch.setattr(records.record, "_own_gpu", lambda: "t4")
    assert records.load().name == "t4"
    monkeypatch.setattr(records.record, "_own_gpu", lambda: "rtx-9999")
    assert records.load().name == "h200"
    (folder / "h200.json").unlink()
    assert records.load().name == "a100"


def test_what_the_record_lacks_is_shown_of_another_gpu(folder, monkeypatch):
    monkeypatch.setattr(records.record, "_own_gpu", lambda: None)
    assert not records.holding("scans")
    for name in ("a100", "h200"):
        records.write(synthetic.record(name))
    assert records.holding("scans").name == "h200"  # nobody has any: the one that is shown anyway
    other = records.load("a100")
    other.tables["scans"] = [records.Row({"what": "shared", "engine": "numba", "n": 4})]
    records.write(other)
    assert records.holding("scans").name == "a100"
    assert records.holding("timings").name == "h200"


@pytest.mark.parametrize(
    "text, told", [('{"provenance": {"gpu"', "not whole JSON"), ("{}", "no provenance and no tim")]
)
def test_a_broken_file_is_named(folder, text, told):
    (folder / "h200.json").write_text(text)
    with pytest.raises(RecordError, match=f"h200.json .*{told}"):
        records.load("h200")


def test_a_timing_is_found_by_its_options():
    record = synthetic.record()
    row = record.timing("tiled", M=2048, tile=32)
    assert (row.gflops, row.share, row.options) == (320.0, 0.16, {"tile": 32})
    assert record.timing("tiled", engine="cpp", tile=32).gflops == 720.0
    assert record.timing("cublas", M=1024).share == 1.0
    assert record.timing("tiled") == record.timing("tiled", tile=16), "the rung's default"
    assert str(row) == (
        "K=2048 M=2048 N=2048 dtype=float32 engine=numba rung=tiled tile=32: "
        "320 GFLOP/s, 16 % of cuBLAS"
    )


@pytest.mark.parametrize(
    "asked, told",
    [
        (dict(rung="tiled", M=512), "M=512.*Recorded: .*M: 1024, 2048, 4096"),
        (dict(rung="tiled", tile=64), "tile=64.*tile: 16, 32, 8, None"),
        (dict(rung="warped"), "rung=warped.*rung: cublas, naive, swapped, tiled"),
    ],
)
def test_a_missing_row_says_what_is_recorded(asked, told):
    with pytest.raises(RecordError, match=told):
        synthetic.record().timing(**asked)


def test_the_ladder_has_the_fastest_version_of_each_rung_and_the_library_last():
    rows = synthetic.record().ladder(M=2048)
    assert [(row.rung, row.engine) for row in rows] == [
        ("swapped", "numba"), ("swapped", "cpp"), ("naive", "numba"), ("naive", "cpp"),
        ("tiled", "numba"), ("tiled", "cpp"), ("cublas", "library"),
    ]  # fmt: skip
    assert {row.options["tile"] for row in rows if row.rung == "tiled"} == {32}


def test_number_formats_are_kept_apart():
    record = synthetic.record()
    half = [Row(row | {"dtype": "float16", "gflops": 9e3}) for row in record.ladder(M=2048)[-2:]]
    half.append(Row(half[-1] | {"rung": "triton"}))
    record.tables["timings"] += half
    assert record.dtypes() == ["float32", "float16"]
    assert [row.rung for row in record.ladder(M=2048, dtype="float16")] == [
        "tiled", "triton", "cublas",
    ]  # fmt: skip
    assert record.ladder(M=2048)[-1].gflops == 2000.0
    assert record.timing("cublas", M=2048, dtype="float16").gflops == 9e3
    assert record.timing("triton", M=2048, dtype="float16").engine == "library"


def test_merging_keeps_old_rows_with_their_own_provenance():
    old = synthetic.record()
    row = synthetic.timing("tiled", "numba", 32, 4096, date="2002-02-02 00:00 UTC")
    row["gflops"] = 1234.0
    about = {**old.provenance, "driver": "9.9", "date": "2002-02-02 00:00 UTC"}
    merged = records.merge(old, Record(old.name, about, {}, {"timings": [row]}))
    assert merged.timing("tiled", tile=32).gflops == 1234.0
    assert len(merged.tables["timings"]) == len(old.tables["timings"])
    assert merged.earlier == [old.provenance]
    assert "driver 9.9" in merged.caption(merged.timing("tiled", tile=32))
    assert "2001-02-03 (driver 0.0" in merged.caption(merged.timing("tiled", tile=16))
    assert "2001-02-03 and 2002-02-02 (driver 0.0 and 9.9," in merged.caption()
    assert merged.device == old.device
    again = records.merge(merged, synthetic.record(date="2003-03-03 00:00 UTC"))
    assert again.earlier == [], "no row of the older runs is left"


def test_rows_that_only_findings_tell_apart_are_one_and_a_lost_row_is_told():
    row = synthetic.timing("tiled", "numba", 32, 4096)
    found = Row(row | {"share_of_best": 0.5, "a_new_count": 3})
    about = {"gpu": "a GPU", "date": synthetic.DATE}
    merged = records.merge(
        Record("a", about, {}, {"timings": [found]}),
        Record("a", about, {}, {"timings": [Row(found | {"a_new_count": 4})]}),
    )
    assert [row.a_new_count for row in merged.rows("timings")] == [4]
    twice = {"timings": [found, Row(found | {"a_new_setting": 1})]}
    with pytest.warns(UserWarning, match="timings holds .* tile=32 twice.* a_new_setting .*KEY"):
        records.merge(Record("a", about, {}, {}), Record("a", about, {}, twice))


def test_a_wrong_product_is_on_no_ladder():
    record = synthetic.record()
    right = record.ladder()
    best = max((row for row in right if row.rung == "tiled"), key=lambda row: row.gflops)
    wrong = Row(best | {"gflops": 1e9, "correct": False, "options": {"tile": 8}})
    record.tables["timings"].append(wrong)
    assert record.ladder() == right


@pytest.mark.parametrize(
    "gpu, name",
    [("NVIDIA H200", "h200"), ("Tesla T4", "t4"), ("NVIDIA GeForce RTX 3090", "rtx-3090")],
)
def test_file_names_of_gpus(gpu, name):
    assert files.slug(gpu) == name


def test_a_row_is_read_by_attribute_and_names_what_it_has():
    row = Row(rung="naive", seconds=synthetic.spread(2e-3))
    assert (row.rung, row.median, row.speed) == ("naive", 2e-3, "2.00 ms")
    used = Row(rung="naive", registers=40, occupancy=0.75, date="2001-01-01")
    assert str(used) == "rung=naive: registers 40, occupancy 0.75"
    with pytest.raises(AttributeError, match="no 'gflops'; it has rung, seconds"):
        row.gflops  # noqa: B018


@pytest.mark.parametrize(
    ("cells", "align"),
    [
        (["1.5 µs", "–"], "right"), (["+0.2 %", "−1.8 %"], "right"),
        (["504 µs to 505 µs"], "right"), (["498 GFLOP/s to 6.23 TFLOP/s"], "left"),
        (["12", "twelve"], "left"), (["–"], "left"),
    ],
)  # fmt: skip
def test_figures_are_set_right_and_words_left(cells, align):
    html = Table([(cell,) for cell in cells], ["measured"])._repr_html_()
    assert re.findall(r"<td style=\"text-align:(\w+)", html) == [align] * len(cells)
    assert ("nowrap" in html) is (align == "right")


def test_a_table_reads_as_text_and_escapes_html():
    rows = [Row(rung="a<b", options={"tile": 8}, n=1.5), Row(rung="c", n=None)]
    columns = {"rung": "rung", "tile": "tile", "twice": lambda r: r["n"] and 2 * r["n"], "n": "n"}
    table = Table(rows, columns, "From & to")
    assert repr(table).split("\n") == [
        "rung  tile  twice    n",
        "----  ----  -----  ---",
        "a<b      8      3  1.5",
        "c        –      –    –",
        "From & to",
    ]
    html = table._repr_html_()
    assert "a&lt;b" in html and "<figcaption>From &amp; to</figcaption>" in html
    assert repr(Table([(1, "x")], ["one", "two"])).startswith("one  two")


def test_stored_records_are_whole():
    for path in records.FOLDER.glob("*.json"):
        record = records.read(path)
        gpus, _, gpu = record.provenance["gpu"].rpartition(" × ")
        named = f"{files.slug(gpu)}{f'x{gpus}' if gpus else ''}.json"
        assert path.name == named, f"{path.name} holds the record that `bench` writes into {named}"
        missing = {"driver", "cuda", "versions", "date", "clocks"} - record.provenance.keys()
        assert not missing, f"{path.name}: its provenance has no {missing}"
        wrong = [row for row in record.tables["timings"] if not row.correct]
        assert not wrong, f"{path.name}: kernels with a wrong result: {wrong}"
        for table, rows in record.tables.items():
            assert len({records.key_of(row) for row in rows}) == len(rows), f"{path.name}: {table}"
        dates = {run["date"] for run in [record.provenance, *record.earlier]}
        other = {row["date"] for rows in record.tables.values() for row in rows} - dates
        assert not other, f"{path.name}: rows of {other}, when no run of its provenance was made"
        assert json.loads(path.read_text(encoding="utf-8"))


READ = """
import sys
from kernels import records
records.read(max(records.FOLDER.glob("*.json")))
shut = "kernels.rungs", "kernels.host", "kernels.backend", "microscope", "numba", "cupy"
sys.exit(", ".join(name for name in sys.modules if name.startswith(shut)) or 0)
"""


def test_whoever_reads_a_record_loads_no_kernel():
    done = subprocess.run([sys.executable, "-c", READ], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

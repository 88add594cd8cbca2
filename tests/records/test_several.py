"""Records of several GPUs: apart from those of one, and what predictions take from them."""

import pytest

from kernels import records
from kernels.distributed import cost
from kernels.records import distributed


def test_records_of_several_gpus_stand_apart(tmp_path, monkeypatch):
    for name in ("h200", "h200x2", "h200x16", "rtx-4090", "h100x2"):
        (tmp_path / f"{name}.json").write_text('{"provenance": {}, "timings": []}')
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    assert records.names() == ["h200", "rtx-4090"]
    assert distributed.recorded() == [2, 16]
    assert not distributed.load_gpus(4)
    assert distributed.load_gpus(2).name == "h200x2"


def test_a_prediction_takes_the_largest_product_and_the_longest_copy():
    pair = distributed.load_gpus(2)
    found = distributed.machine(pair, "bfloat16")
    alone = pair.rows("timings", rung="cublas", dtype="bfloat16", gpus=1, M=16384)
    assert found.flops == max(row.gflops for row in alone) * 1e9
    assert 0 < found.latency < 1e-4
    assert found.bandwidth == max(
        row.bytes_per_second for row in pair.rows("peer_copies", what="both ways")
    )


def collective(what, size, seconds, choice="Ring"):
    return {
        "what": what,
        "choice": choice,
        "gpus": 4,
        "bytes": size,
        "seconds": {"median": seconds},
    }


def test_a_ring_is_fitted_to_what_was_measured():
    """Start 4 µs, 1 µs a step, 100 GB/s: the shortest and the longest are met again."""
    pair = distributed.load_gpus(2)
    steps = lambda size: 1e-6 + size / 4 / 1e11  # noqa: E731
    rows = [collective("all_reduce", size, 4e-6 + 6 * steps(size)) for size in (4096, 2**20, 2**29)]
    rows.append(collective("reduce_scatter", 4096, 4e-6 + 3 * steps(4096), choice=""))
    tables = {**pair.tables, "collectives": [records.Row(row) for row in rows]}
    found = distributed.ring(records.Record("x", tables=tables))
    # What 1024 bytes take counts as latency.
    assert found.latency == pytest.approx(1e-6, rel=0.02)
    assert found.start == pytest.approx(4e-6, rel=0.01)
    assert found.bandwidth == pytest.approx(1e11, rel=0.01)
    for row in rows[0], rows[2]:
        assert cost.collective("all_reduce", row["bytes"], 4, found) == pytest.approx(
            row["seconds"]["median"], rel=0.01
        )
    assert distributed.ring(pair) == distributed.machine(pair, "bfloat16")


def test_the_record_that_holds_a_table_is_taken(tmp_path, monkeypatch):
    for name, rows in (("h200x2", ""), ("rtx-4090x2", ', "collectives": [{"what": "all_reduce"}]')):
        (tmp_path / f"{name}.json").write_text('{"provenance": {}, "timings": []' + rows + "}")
    (tmp_path / "rtx-4090.json").write_text('{"provenance": {}, "timings": []}')
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    assert distributed.load_gpus(2).name == "h200x2"
    assert distributed.load_gpus(2, "collectives").name == "rtx-4090x2"
    assert distributed.load_gpus(2, "chunked").name == "h200x2"


def test_what_links_counted_is_what_schedules_say():
    for row in distributed.load_gpus(2).rows("traffic"):
        assert row.counted == pytest.approx(row.received, rel=0.01), row


def test_every_fault_was_one_line_and_left_nothing():
    rows = distributed.load_gpus(2).rows("faults")
    assert len(rows) >= 8
    for row in rows:
        assert row.said and "\n" not in row.said
        assert row.left_processes == row.left_bytes == 0


def test_reads_are_measured_against_the_fastest_read():
    def record(**tables):
        rows = {name: [records.Row(row) for row in each] for name, each in tables.items()}
        return records.Record("x", tables=rows)

    copy = {"what": "copy", "bytes_per_second": 3.0}
    assert record(bandwidth=[copy]).reading() == ("copy", 3.0)
    read = {"what": "read", "bytes_per_second": 2.9}
    assert record(bandwidth=[copy, read]).reading() == ("read", 2.9)
    sums = [{"what": "tree", "bytes_per_second": 1.0}, {"what": "several", "bytes_per_second": 3.1}]
    assert record(bandwidth=[copy, read], sums=sums).reading() == ("read", 3.1)

"""Records of several GPUs: apart from those of one, and what predictions take from them."""

import pytest

from kernels import records
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


def test_what_links_counted_is_what_schedules_say():
    for row in distributed.load_gpus(2).rows("traffic"):
        assert row.counted == pytest.approx(row.received, rel=0.01), row


def test_every_fault_was_one_line_and_left_nothing():
    rows = distributed.load_gpus(2).rows("faults")
    assert len(rows) >= 8
    for row in rows:
        assert row.said and "\n" not in row.said
        assert row.left_processes == row.left_bytes == 0

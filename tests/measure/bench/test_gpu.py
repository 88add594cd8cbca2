"""Small steps of the benchmark on a GPU."""

import json
from importlib.util import find_spec

import pytest

from kernels.measure.bench import guards, ladder, provenance, resources, vectors
from kernels.rungs.order import LADDER

pytestmark = pytest.mark.gpu


def test_small_steps_on_the_gpu(tmp_path):
    for dtype in ("float32", "float16", "bfloat16", "e4m3"):
        if dtype == "e4m3" and (LADDER["fp8"].missing() or not find_spec("torch")):
            continue
        shape = (64, 48, 32) if dtype == "e4m3" else (70, 45, 33)
        rows = ladder.timings(*shape, list(LADDER.values()), dtype)["timings"]
        here = [r for r in LADDER.values() if dtype in r.dtypes and not r.missing(dtype)]
        versions = [row for row in rows if row["engine"] != "library"]
        assert len(versions) == sum(len(list(rung.versions())) for rung in here)
        assert all(row["correct"] and row["gflops"] > 0 for row in rows)
        assert {row["dtype"] for row in rows} == {dtype}
    used = resources.resources()["resources"]
    assert all(row["registers"] > 0 for row in used)
    assert [row for row in used if row["local_bytes"] > 64] == []
    assert all(row["correct"] for row in guards.guards(256)["guard"])
    tiled = [row for row in used if row["rung"] == "tiled"]
    assert all(row["shared_bytes"] == 8 * row["options"]["tile"] ** 2 for row in tiled)
    added = vectors.vector_lengths([1000, 4099])["vector_add"]
    assert all(row["correct"] for row in added) and len(added) == 8
    assert json.dumps(provenance.provenance())
    assert {"fp32_peak", "l2_bytes"} <= provenance.device_facts().keys()

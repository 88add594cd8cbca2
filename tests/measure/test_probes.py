"""Probes of the host, and of latency on a GPU."""

import numpy as np
import pytest

from kernels.measure import probes


def test_a_ring_visits_every_node_once():
    for nodes in (1, 2, 37, 1000):
        following = probes.ring(nodes)
        seen, place = set(), 0
        for _ in range(nodes):
            seen.add(place)
            place = int(following[place])
        assert (len(seen), place) == (nodes, 0)


@pytest.mark.parametrize("what", ["python loops", "numba", "numpy matmul"])
def test_cpu_products_name_the_size_that_ran(what):
    row = probes.cpu_product(what, 17)
    assert (row["M"], row["N"], row["K"]) == (17, 17, 17)
    assert row["gflops"] == pytest.approx(2 * 17**3 / row["seconds"]["median"] / 1e9, rel=1e-3)
    assert row["seconds"]["q1"] <= row["seconds"]["median"] <= row["seconds"]["q3"]
    assert row["cores"] == (probes.cores() if what == "numpy matmul" else 1)


def test_an_unknown_cpu_product_is_named():
    with pytest.raises(ValueError, match="no CPU product 'mkl': use one of python loops"):
        probes.cpu_product("mkl")


def test_python_and_numba_loops_are_right():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((3, 5)), rng.standard_normal((5, 7))
    assert np.allclose(probes.python_matmul(A.tolist(), B.tolist()), A @ B)
    C = np.empty((3, 7), np.float32)
    A, B = A.astype(np.float32), B.astype(np.float32)
    probes._numba_matmul(parallel=False)(A, B, C)
    assert np.allclose(C, A @ B, atol=1e-6)


def test_numpy_vector_add_rows():
    rows = probes.cpu_vector_add([1000, 3001])
    assert [row["n"] for row in rows] == [1000, 3001]
    assert all(row["bytes_per_second"] > 0 for row in rows)


@pytest.mark.gpu
def test_latency_grows_with_distance():
    rows = {(row["space"], row["bytes"]): row for row in probes.latency(2**28)}
    near, shared = rows["registers", 4], rows["shared", 16384]
    first, last = rows["global", 2**14], rows["global", 2**28]
    assert near["cycles"] < shared["cycles"] <= 1.2 * first["cycles"] < last["cycles"]
    assert 3 <= near["cycles"] <= 8


@pytest.mark.gpu
def test_transfers_and_launches_take_time():
    rows = [row for kind in ("pinned", "pageable") for row in probes.transfers(kind, [1000, 2**22])]
    assert len(rows) == 8 and all(row["bytes_per_second"] > 0 for row in rows)
    launches = {(row["engine"], row["arguments"]) for row in probes.launch_overhead()}
    assert launches == {(engine, n) for engine in ("numba", "cpp") for n in (0, 1, 3)}

"""The predictions of the rungs equal what the microscope counts, for odd sizes too."""

import numpy as np
import pytest

from kernels import LADDER, lab
from kernels.host.rung import made
from kernels.measure import oracle
from kernels.patterns import vector_add
from tests.rungs.cases import SAMPLED, label


@pytest.mark.parametrize("setting", SAMPLED, ids=label)
def test_trace_equals_model(setting):
    name, options = setting
    rung = LADDER[name]
    options = rung.defaults | options
    for M, N, K in ((1, 1, 1), (33, 3, 5), (7, 34, 2), (50, 45, 70), (64, 32, 16)):
        A, B = oracle.inputs(M, N, K)
        # Blocks that share K leave their parts below each other.
        chosen = rung.Options(**options)
        rows, _ = chosen.parts_shape(M, N) if chosen.split > 1 else (M, N)
        C = np.zeros((rows, N), np.float32)
        product = rung.operands(A, B, None, "numba")
        kernel = made(rung.make, chosen, **rung.formats(product))
        trace = lab.trace(kernel, *rung.launch(M, N, **options), A, B, C)
        model = rung.model(M, N, K, **options)
        for array, elements in {**model.loads, **model.stores}.items():
            sites = [s for s in trace.sites if s.space == "global" and s.array == array]
            assert sum(site.lanes * site.itemsize for site in sites) == 4 * elements
            if name == "async_tiled" and chosen.split > 1 and array == "C":
                assert model.requests["C"] is None and model.sectors["C"] is None
                continue
            assert sum(site.requests for site in sites) == model.requests[array]
            assert sum(site.sectors for site in sites) == model.sectors[array]
        assert trace.problems == []


@pytest.mark.parametrize("n", (1, 31, 33, 250, 1000))
def test_trace_of_vector_add_equals_its_model(n):
    a = np.arange(n, dtype=np.float32)
    trace = lab.trace(vector_add.vector_add, *vector_add.launch(n, block=64), a, a.copy(), a.copy())
    model = vector_add.model(n, block=64)
    sites = {site.array: site for site in trace.sites}
    assert {x: site.lanes for x, site in sites.items()} == {**model.loads, **model.stores}
    assert {x: site.requests for x, site in sites.items()} == model.requests
    assert {x: site.sectors for x, site in sites.items()} == model.sectors

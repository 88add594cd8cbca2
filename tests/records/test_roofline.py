"""The roofline's arithmetic."""

import pytest

from kernels.basics import data_sheets
from kernels.records import roofline
from kernels.records.roofline import Roof
from tests.records import synthetic


def test_ceilings_meet_at_the_ridge():
    roof = Roof("made up", bandwidth=2e12, compute=60e12)
    assert roof.ridge == 30
    assert roof.attainable(0.25) == 0.5e12
    assert roof.attainable(30) == roof.attainable(1e6) == 60e12
    assert [roof.limit(x) for x in (29.9, 30, 31)] == ["memory", "compute", "compute"]


def test_work_and_least_traffic_of_a_rectangular_product():
    assert roofline.product_flops(3, 5, 7) == 210
    assert roofline.compulsory_bytes(3, 5, 7) == 4 * (21 + 35 + 15)
    assert roofline.compulsory_bytes(3, 5, 7, itemsize=2) == 2 * 71


def test_roofs_of_a_data_sheet_and_of_a_record():
    sheet = roofline.data_sheet(data_sheets.gpu("h200"))
    assert (sheet.bandwidth, sheet.name) == (4.8e12, "H200 SXM, data sheet")
    roof = roofline.recorded(synthetic.record())
    assert (roof.bandwidth, roof.compute) == (2e12, 5e12)
    assert roof.name.endswith("recorded")
    with pytest.raises(LookupError, match="Nothing is recorded"):
        roofline.recorded(type(synthetic.record())(""))

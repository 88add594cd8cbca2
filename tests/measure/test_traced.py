"""The committed counts of the microscope are those that it counts today."""

import json

import pytest

from kernels.measure import profiler, traced
from kernels.records.side_by_side import traced as traced_rows


class Rows(dict):
    """Rows of the table by what was traced."""

    def __missing__(self, asked):
        pytest.fail(f"traced.json lacks {asked}: run `python -m kernels.measure.traced {asked[0]}`")


ROWS = Rows(
    ((row["rung"], json.dumps(row["options"], sort_keys=True), row["M"]), row)
    for row in traced_rows()
)
VERSIONS = [(rung, options) for rung, options in traced.versions()]


def key(rung, options, M):
    return rung.name, json.dumps(options, sort_keys=True), M


def test_every_version_is_there_at_every_size():
    wanted = {key(*version, M) for version in VERSIONS for M, _, _ in profiler.SMALL}
    gone = set(ROWS) - wanted
    assert not gone, f"the ladder lacks {gone}: run `python -m kernels.measure.traced`"
    for asked in wanted:
        assert ROWS[asked]


def sampled(version):
    """Leave the slowest kernel's other versions to those who name this file."""
    marks = pytest.mark.sampled(3) if version[0].name == "async_tiled" else ()
    return pytest.param(version, marks=marks, id=f"{version[0].name}-{version[1]}")


@pytest.mark.parametrize("version", [sampled(version) for version in VERSIONS])
def test_counts_are_up_to_date(version):
    shape = min(profiler.SMALL)
    assert traced.traced_row(*version, *shape) == ROWS[key(*version, shape[0])]


@pytest.mark.parametrize("shape", profiler.SMALL)
def test_they_are_what_the_model_predicts(shape):
    for rung, options in VERSIONS:
        row, model = ROWS[key(rung, options, shape[0])], rung.model(*shape, **options)
        assert row["loads"] == sum(model.loads.values()), (rung, options)
        for what in ("requests", "sectors"):
            predicted = [getattr(access, what) for access in model.reads.values()]
            if None not in predicted:
                assert row[what] == sum(predicted), (rung, options, what)

"""The microscope against the hardware's own counters, as recorded on a GPU."""

import json
from pathlib import Path

import numpy as np
import pytest

from kernels.lab import trace
from tests.microscope import hardware_kernels, rung_cases, vector_kernels
from tests.microscope.counters import digest
from tests.microscope.explained import EXPLAINED

FOLDER = Path(__file__).parent / "counters"
RECORDS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("h200*.json"))}
CASES = {
    case.name: case
    for case in (
        *hardware_kernels.cases(),
        *vector_kernels.cases(),
        *rung_cases.cases(),
    )
}
COMPARED = [(record, name) for record in RECORDS for name in RECORDS[record]["cases"]]
HASHED = [(record, name) for record in RECORDS for name in RECORDS[record].get("outputs", ())]


def seen_by_the_microscope(case):
    """A trace, and its counts under the names of the recorded figures."""
    seen = trace(case.kernel, case.grid, case.block, *case.make(), shared_bytes=case.shared_bytes)
    load, store = (seen.count(space="global", op=op) for op in ("load", "store"))
    s_load, s_store = (seen.count(space="shared", op=op) for op in ("load", "store"))
    atomic = seen.count(space="global", op="atomic")
    return seen, {
        "global_load_requests": load["requests"],
        "global_load_sectors": load["sectors"],
        "global_store_requests": store["requests"],
        "global_store_sectors": store["sectors"],
        "global_atomic_requests": atomic["requests"],
        "global_atomic_sectors": atomic["sectors"],
        "shared_load_instructions": s_load["requests"],
        "shared_load_wavefronts": s_load["wavefronts"],
        "shared_load_bank_conflicts": s_load["conflicts"],
        "shared_store_instructions": s_store["requests"],
        "shared_store_wavefronts": s_store["wavefronts"],
        "shared_store_bank_conflicts": s_store["conflicts"],
        "shared_atomic_instructions": seen.count(space="shared", op="atomic")["requests"],
        "flops_float32": seen.work.flops.get("float32", 0),
        "flops_float64": seen.work.flops.get("float64", 0),
    }


def counted(recorded: dict) -> dict:
    """Recorded figures; both ways of global atomics (with and without result) as one, and FLOPs."""
    found = dict(recorded)
    for kind, name in (("f", "float32"), ("d", "float64")):
        parts = [found.get(f"{kind}{op}_thread_instructions") for op in ("fma", "add", "mul")]
        if None not in parts:
            found[f"flops_{name}"] = 2 * parts[0] + parts[1] + parts[2]
    for unit in ("requests", "sectors"):
        parts = [found.pop(f"global_{way}_{unit}", None) for way in ("red", "atom")]
        if any(p is not None for p in parts):
            found[f"global_atomic_{unit}"] = sum(p or 0 for p in parts)
    return found


@pytest.mark.parametrize("record, name", COMPARED)
def test_counters(record, name):
    """Equal, or different in the way that the compiled code explains, to the last request."""
    case = CASES[name]
    seen, mine = seen_by_the_microscope(case)
    hardware = counted(RECORDS[record]["cases"][name])
    expected = dict(mine)
    if name in EXPLAINED:
        expected |= EXPLAINED[name].hardware(case, seen, mine)
    differing = {
        key: {"recorded": hardware[key], "expected": expected[key], "source": mine[key]}
        for key in expected
        if key in hardware and hardware[key] != expected[key]
    }
    assert not differing


@pytest.mark.parametrize("record, name", HASHED)
def test_outputs(record, name):
    """For whole numbers the interpreter's outputs are the GPU's, bit by bit."""
    case = CASES[name]
    seen = trace(case.kernel, case.grid, case.block, *case.make(), shared_bytes=case.shared_bytes)
    arguments = case.make()
    names = dict(
        zip(
            (i for i, a in enumerate(arguments) if isinstance(a, np.ndarray)),
            seen.outputs.values(),
            strict=True,
        )
    )
    for position, recorded in RECORDS[record]["outputs"][name].items():
        assert digest(names[int(position)]) == recorded


def test_explanations_are_needed():
    """Each explained difference is one that some record shows."""
    for name, explanation in EXPLAINED.items():
        seen, mine = seen_by_the_microscope(CASES[name])
        changed = explanation.hardware(CASES[name], seen, mine)
        assert explanation.reason
        assert any(
            counted(r["cases"][name]).get(key) == value != mine[key]
            for key, value in changed.items()
            for r in RECORDS.values()
            if name in r["cases"]
        ), name

"""Every chapter runs from top to bottom, and what it prints is what it stores: on both
backends, and whatever the processor adds up in which order."""

import platform
import re

import nbformat
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from authoring.notebooks import GPU_TAG
from kernels.lab.pages import paths
from tests.chapters.compare import compare

NOTEBOOKS = paths()
#: What NumPy leaves to the processor's own library, or adds up as wide as its registers are.
SUMS = re.compile(r" @ |\bnp\.(?:dot|einsum|linalg|matmul)\b|\.(?:dot|mean|std|var)\(")
ARM = platform.machine().lower() in ("arm64", "aarch64")
#: What makes OpenBLAS and NumPy compute as on the oldest processor, in one thread.
OLDEST = {
    "OPENBLAS_CORETYPE": "ARMV8" if ARM else "Prescott",
    "OPENBLAS_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": " ".join(n for n in __cpu_dispatch__ if __cpu_features__[n]),
}
ROUNDED = re.compile(r"\d\.\d|\de[-+]\d")


def prints_rounded_sums(path):
    """Whether a compared cell of a chapter uses such sums, and prints a rounded number."""
    for cell in nbformat.read(path, as_version=4).cells:
        ignored = {"nbval-ignore-output", GPU_TAG} & {*cell.metadata.get("tags", ())}
        if cell.cell_type == "code" and SUMS.search(cell.source) and not ignored:
            if any(ROUNDED.search(output.get("text", "")) for output in cell.outputs):
                return True
    return False


SENSITIVE = [path for path in NOTEBOOKS if prints_rounded_sums(path)]


@pytest.mark.parametrize("backend", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_those_stored(path, backend, record_property):
    found = compare(path, {"KERNELS_BACKEND": backend})
    record_property("cells", {"chapter": path.stem, "backend": backend, **found.counts})
    assert found.right, found.told[-6000:]
    assert found.counts["compared"] > 0, (
        "nothing was compared: a chapter must print something exact"
    )


@pytest.mark.parametrize("path", SENSITIVE, ids=lambda path: path.stem)
def test_outputs_do_not_depend_on_the_processor(path):
    """On the oldest: the test above ran on this one."""
    found = compare(path, OLDEST)
    assert found.right, f"{', '.join(found.cells)}: {found.told[-6000:]}"

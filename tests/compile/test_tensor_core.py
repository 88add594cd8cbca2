"""The kernels for tensor cores compile for the GPUs they are for, and nothing spills."""

import io
import re
from importlib.util import find_spec

import pytest

from kernels.host import cpp
from kernels.rungs import emulated, hopper, tensor_core

pytestmark = pytest.mark.skipif(
    not find_spec("cuda"), reason="this platform has no packages of the CUDA compilers"
)

FORMATS = [{"BF16": 0, "HALF_C": 0}, {"BF16": 1, "HALF_C": 1}]
#: Options of `mma`: those of the rung, less deep, smaller, and for GPUs with little shared memory.
TILES = [
    {"BM": 128, "BN": 256, "BK": 64, "WM": 64, "WN": 64, "stages": 4},
    {"BM": 128, "BN": 128, "BK": 64, "WM": 64, "WN": 32, "stages": 3},
    {"BM": 64, "BN": 64, "BK": 32, "WM": 32, "WN": 32, "stages": 2},
]


def cases():
    for macros in FORMATS:
        for arch in ("sm_75", "sm_80", "sm_90") if not macros["BF16"] else ():
            yield "mma_sm75", arch, macros
        for arch in ("sm_80", "sm_86", "sm_90"):
            for tile in TILES:
                as_macros = {name.upper(): value for name, value in tile.items()}
                yield "mma", arch, macros | as_macros
        yield "wgmma", "sm_90a", macros
        for BN, stages in hopper.STAGES.items():
            yield "specialized", "sm_90a", macros | {"BN": BN, "STAGES": stages}
        for cluster in (1, 2):
            yield (
                "persistent",
                "sm_90a",
                macros
                | {"CLUSTER": cluster, "GROUP": 8, "STAGES": hopper.STAGES[256]}
                | {"BOXES": hopper.BOXES},
            )
            for BN, stages in hopper.STAGES.items():
                shape = {"BN": BN, "STAGES": stages, "CLUSTER": cluster}
                yield "stream_k", "sm_90a", macros | shape | {"GROUP": 8, "BOXES": hopper.BOXES}
    for products in (6, 9):
        for BN in emulated.STAGES:
            yield "emulated", "sm_90a", emulated.macros(products, BN)


def name_of(case) -> str:
    stem, arch, macros = case
    return "-".join([stem, arch, *(f"{name}{value}" for name, value in macros.items())])


@pytest.mark.parametrize("case", list(cases()), ids=name_of)
def test_it_compiles_and_nothing_spills(case):
    from cuda.core import Program, ProgramOptions

    stem, arch, macros = case
    options = ProgramOptions(
        arch=arch,
        std="c++17",
        define_macro=[f"{name}={value}" for name, value in macros.items()],
        ptxas_options="-v",
    )
    log = io.StringIO()
    machine_code = Program(cpp.source(stem), "c++", options).compile("cubin", logs=log).code
    assert f".text.{stem}\0".encode() in machine_code
    said = log.getvalue()
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in said
    # ptxas warns of wgmma that it has to run one after the other, and of setmaxnreg it ignores.
    assert "warning" not in said.lower(), said
    if stem == "mma":
        tile = {name: macros[name.upper()] for name in TILES[0]}
        expected = tensor_core.footprint(**tile)
        assert expected["registers"] <= int(re.search(r"Used (\d+) registers", said)[1])


@pytest.mark.parametrize(
    "stem, macros",
    [
        ("wgmma", {"BF16": 1, "HALF_C": 0}),
        ("persistent", {"BF16": 1, "HALF_C": 0, "CLUSTER": 2, "GROUP": 8, "STAGES": 4, "BOXES": 2}),
    ],
)
def test_the_compiler_that_runs_on_a_gpu_makes_the_same(stem, macros):
    assert f".text.{stem}\0".encode() in cpp.compiled(stem, "sm_90a", **macros)


def test_headers_are_pasted_in():
    text = cpp.source("persistent")
    assert '#include "' not in text
    assert text.count("struct alignas(64) TensorMap") == 1

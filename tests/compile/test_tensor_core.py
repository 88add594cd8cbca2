"""The kernels for tensor cores compile for the GPUs they are for, and nothing spills."""

import io
import re
from importlib.util import find_spec

import pytest

from kernels import LADDER
from kernels.host import cpp, half
from kernels.host.rung import made
from kernels.measure import oracle
from kernels.measure.bench.ablation import STEPS
from kernels.measure.ptx import compile_kernel, with_numba
from microscope import TensorMap

pytestmark = pytest.mark.skipif(
    not find_spec("cuda"), reason="this platform has no packages of the CUDA compilers"
)

FORMATS = [{"BF16": 0, "HALF_C": 0}, {"BF16": 1, "HALF_C": 1}]
#: Options that each rung is compiled with beside its defaults.
OPTIONS = {
    # Those of the rung, less deep, smaller, and for GPUs with little shared memory.
    "mma": [
        {"stages": 4},
        {"BN": 128, "WN": 32, "stages": 3},
        {"BM": 64, "BN": 64, "BK": 32, "WM": 32, "WN": 32, "stages": 2},
    ],
    "specialized": [{"BN": BN} for BN in (128, 256)],
    "persistent": [{"cluster": cluster} for cluster in (1, 2)],
    "stream_k": [{"BN": BN, "cluster": cluster} for BN in (128, 256) for cluster in (1, 2)],
    "emulated": [{"products": products, "BN": BN} for products in (6, 9) for BN in (128, 192)],
    "fp8": [
        {"cluster": cluster, "promote": n, "stages": stages}
        for cluster, n, stages in ((1, 0, 4), (2, 0, 4), (2, 0, 3), (2, 1, 3), (1, 4, 3), (2, 4, 4))
    ],
}
ARCHS = {"mma_sm75": ("sm_75", "sm_80", "sm_90"), "mma": ("sm_80", "sm_89", "sm_90")}


def cases():
    for name, rung in LADDER.items():
        if not rung.chapter.startswith("08"):
            continue
        for options in OPTIONS.get(name, [{}]):
            for macros in FORMATS if "BF16" in rung.macros() else [{}]:
                if macros.get("BF16") and rung.dtypes == ("float16",):
                    continue
                for arch in ARCHS.get(name, (rung.arch,)):
                    yield name, arch, rung.Options(**options).macros | macros
    # What the host adds where two blocks of a cluster share each tile.
    pairs = LADDER["stream_k"].Options(BN=128, cluster=1).macros | {"PARTS": 2}
    yield from (("stream_k", "sm_90a", pairs | macros) for macros in FORMATS)


def name_of(case) -> str:
    stem, arch, macros = case
    return "-".join([stem, arch, *(f"{name}{value}" for name, value in macros.items())])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", list(cases()), ids=name_of)
def test_it_compiles_and_nothing_spills(case):
    stem, arch, macros = case
    log = io.StringIO()
    machine_code = cpp.compiled(stem, arch, log, **macros)
    assert f".text.{stem}\0".encode() in machine_code
    said = log.getvalue()
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in said
    # ptxas tells of wgmma that it has to run one after the other, and warns of what it ignores.
    assert "serialized" not in said and "warning" not in said.lower(), said
    if stem == "mma":
        tile = {name: macros[name.upper()] for name in LADDER["mma"].options}
        expected = LADDER["mma"].footprint(**tile)
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


# --------------------------------------------------------------------------------- Numba kernels

ROLES = ("setmaxnreg.dec", "setmaxnreg.inc")
TILES = ("mbarrier.try_wait", "cp.async.bulk.tensor.2d.shared", "wgmma.mma_async.sync")
#: What each kernel is written for.
EXPECTED = {
    "mma_sm75": ("ldmatrix.sync", "mma.sync.aligned.m16n8k8"),
    "mma": ("cp.async.cg", "ldmatrix.sync", "mma.sync.aligned.m16n8k16"),
    "wgmma": TILES,
    "specialized": (*TILES, *ROLES),
    "persistent": (*TILES, *ROLES, ".multicast::cluster", "cp.async.bulk.tensor.2d.global"),
    "fp8": (*TILES, *ROLES, ".multicast::cluster", "m64n", "k32.f32.e4m3.e4m3"),
    "emulated": (*TILES, *ROLES, ".multicast::cluster", "k16.f32.bf16.bf16"),
    "stream_k": (*TILES, *ROLES, ".multicast::cluster", "griddepcontrol.wait", "ld.acquire.gpu"),
}
NUMBA = [
    (rung, arch, options, dtype, out)
    for name, rung in LADDER.items()
    if name in EXPECTED
    for options in OPTIONS.get(name, [{}])
    for dtype in rung.dtypes
    for out in (dtype if dtype == "bfloat16" else "float32",)
    for arch in ARCHS.get(name, (rung.arch,))[:1]
]
#: One of each rung and format: tiles of other sizes are made of the same instructions.
ONE_OF_EACH = list(
    {(case[0], case[3]): case for case in NUMBA[::-1] if case[2].get("cluster") != 1}.values()
)
#: What lies between the rungs.
BETWEEN = [(rung, "sm_90a", options, "bfloat16", "float32") for _, rung, options in STEPS]


def told(case):
    """What a case is called; the same in every process of the tests."""
    rung, arch, options, dtype, _ = case
    chosen = (f"{name}{value}" for name, value in options.items())
    return "-".join([rung.name, arch, dtype, *chosen])


@pytest.fixture
def numba_kernel(request):
    """A Numba kernel for tensor cores, the GPU it is for, its rung, and its arguments' types."""
    if not find_spec("numba_cuda"):
        pytest.skip("numba-cuda is not installed")
    from numba.cuda import types

    rung, arch, options, dtype, out = request.param
    chosen = rung.Options(**options)
    A, B = oracle.inputs(64, 64, 64, dtype=dtype)
    C = half.cast(oracle.poisoned(64, 64), out) if out != "float32" else oracle.poisoned(64, 64)
    product = rung.operands(A, B, C, "numba")
    kernel = made(rung.make, chosen, **rung.formats(product))

    def type_of(argument):
        if isinstance(argument, TensorMap):
            return types.Array(types.uint8, 1, "C")
        what = getattr(types, str(argument.dtype))
        return types.Array(what, argument.ndim, "C") if argument.ndim else what

    arguments = rung.numba_arguments(product, chosen)
    return kernel, arch, rung.name, types.void(*map(type_of, arguments))


def capability(arch: str) -> tuple:
    """Return the compute capability of a GPU by its name: (9, 0, "a") for "sm_90a"."""
    major, minor, kind = re.fullmatch(r"sm_(\d+)(\d)(a?)", arch).groups()
    return (int(major), int(minor), kind) if kind else (int(major), int(minor))


@pytest.mark.parametrize("numba_kernel", ONE_OF_EACH, indirect=True, ids=told)
def test_numba_has_the_instructions_of_tensor_cores(numba_kernel):
    kernel, arch, name, signature = numba_kernel
    ptx = compile_kernel(kernel, capability=capability(arch), signature=signature)
    for instruction in EXPECTED[name]:
        assert instruction in ptx, instruction
    assert ".local" not in ptx, "an array spills from registers"
    assert "call" not in ptx and ".f64" not in ptx
    older = {"sm_90a": (8, 0), "sm_80": (7, 5)}.get(arch)
    if older:
        with pytest.raises(ValueError, match=f"needs {arch[:5]}a? and this GPU is sm_") as caught:
            compile_kernel(kernel, capability=older, signature=signature)
        assert "\n" not in str(caught.value)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("numba_kernel", NUMBA + BETWEEN, indirect=True, ids=told)
def test_numba_spills_nothing_and_its_products_overlap(numba_kernel):
    """Linked as numba-cuda does it on a GPU: the linker sees the whole program."""
    kernel, arch, name, signature = numba_kernel
    # Stream-K puts one number by, before its loops.
    put_by = 8 if name == "stream_k" else 0
    core = pytest.importorskip("cuda.core")
    from numba import cuda

    code, _ = cuda.compile(
        with_numba(kernel), signature, device=False, abi="numba", cc=capability(arch),
        output="ltoir", launch_bounds=kernel.targetoptions["launch_bounds"],
    )  # fmt: skip
    options = core.LinkerOptions(
        arch=arch, link_time_optimization=True, verbose=True, ptxas_options=["-v"]
    )
    linker = core.Linker(core.ObjectCode.from_ltoir(code), options=options)
    linker.link("cubin")
    said = linker.get_info_log()
    assert int(re.search(r"(\d+) bytes stack frame", said)[1]) <= put_by, said
    assert "serialized" not in said and "setmaxnreg" not in said, said

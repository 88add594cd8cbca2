"""Every PTX instruction compiles for the GPU it is for, and is refused in one line elsewhere."""

import re
from importlib.util import find_spec

import pytest

from kernels import ptx
from kernels.backend import on_gpu
from kernels.ptx.instruction import Instruction
from kernels.ptx.operands import Literal, RegisterList, Scalar, SharedArray, TensorMap

FAMILIES = {
    "mma": [(k, dtype) for dtype in ("float16", "bfloat16") for k in (8, 16)]
    + [(k, "tf32") for k in (4, 8)],
    "wgmma": [(64, "float16"), (192, "bfloat16"), (256, "bfloat16", "registers")]
    + [(128, "tf32", "shared", False), (256, "e4m3", "shared", False)],
    "cluster_dims": [(2,)],
}
CASES = [
    *((name, ()) for name in ptx.__all__ if name not in {*FAMILIES, "store_pair"}),
    *((name, choice) for name, choices in FAMILIES.items() for choice in choices),
]
LITERALS = {"pending": 1, "count": 128}
pytestmark = pytest.mark.skipif(on_gpu, reason="names the microscope's instructions")


def instruction(name: str, choice: tuple) -> Instruction:
    named = getattr(ptx, name)
    return named(*choice) if choice else named


def compiled(one: Instruction, capability) -> str:
    """The PTX of a kernel that calls an instruction, and stores what it gives."""
    from numba import cuda
    from numba.cuda import types

    makes, gives = [], []
    for name, kind in one.takes.items():
        if kind is Literal:
            gives.append(str(LITERALS[name]))
        elif isinstance(kind, Scalar):
            gives.append(f"types.{kind.name}(n)")
        elif isinstance(kind, RegisterList):
            count = LITERALS.get(kind.count, kind.count)
            makes += [f"{name} = cuda.local.array({count}, types.{kind.element.name})"]
            makes += [f"for i in range({count}): {name}[i] = types.{kind.element.name}(n)"]
            gives.append(name)
        else:
            gives.append("map" if kind is TensorMap else "shared")
    call = f"call({', '.join(gives)})"
    shared = SharedArray in one.takes.values()
    kept = {0: call, 1: f"out[0] = {call}"}.get(len(one.gives), f"out[0] = {call}[-1]")
    read = [f"out[1] = {n}[0]" for n, kind in one.takes.items() if isinstance(kind, RegisterList)]
    body = ["shared = cuda.shared.array(0, types.uint8)"] * shared + makes + [kept] + read
    scope = {"cuda": cuda, "types": types, "call": one.numba}
    exec("def kernel(map, out, n):\n    " + "\n    ".join(body), scope)
    array = types.Array(types.float32, 1, "C")
    signature = types.void(types.Array(types.uint8, 1, "C"), array, types.int64)
    return cuda.compile_ptx(scope["kernel"], signature, cc=capability, launch_bounds=(384, 1))[0]


@pytest.mark.skipif(not find_spec("numba_cuda"), reason="no compiler on this platform")
@pytest.mark.parametrize("name, choice", CASES, ids=str)
def test_it_compiles_for_its_gpu_and_for_no_older_one(name, choice):
    one = instruction(name, choice)
    newest = (*one.least, "a") if one.least == (9, 0) else one.least
    text = compiled(one, newest)
    opcode = re.match(r"(?:// )?[\w.:]+", one.text.split("\n")[-1].strip())
    assert (opcode[0] if opcode else ".reqnctapercluster 2, 1, 1") in text
    if one.least > (7, 5):
        with pytest.raises(ValueError, match=rf"^ptx.{name} needs sm_.*: use ") as caught:
            compiled(one, (7, 5))
        assert "\n" not in str(caught.value)
    if one.only:
        with pytest.raises(ValueError, match="needs sm_90a, and no other, and this GPU is sm_100"):
            compiled(one, (10, 0, "a"))


@pytest.mark.parametrize("name, choice", CASES, ids=str)
def test_a_docstring_says_what_it_does_and_where(name, choice):
    named = getattr(ptx, name)
    text = named.__doc__
    least = instruction(name, choice).least
    assert text and "\n\n" in text + "\n\n"
    if not choice and least > (7, 5):
        assert "sm_{}{}".format(*least) in text


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: ptx.wgmma(260, "bfloat16"), "wgmma has no 260 columns: use a multiple of 8"),
        (lambda: ptx.wgmma(264, "bfloat16"), "wgmma has no 264 columns: use a multiple of 8"),
        (lambda: ptx.wgmma(128, "float32"), "wgmma has no operands of float32: use float16"),
        (lambda: ptx.wgmma(128, "e4m3"), "wgmma transposes no e4m3: lay B by columns"),
        (lambda: ptx.wgmma(128, "float16", "local"), "A lies in 'local': use 'shared' or"),
        (lambda: ptx.mma(32, "float16"), "mma of float16 has no k=32: use 8 or 16"),
        (lambda: ptx.mma(16, "float32"), "mma has no operands of float32: use float16"),
        (lambda: ptx.cluster_dims(16), "a cluster of 16 blocks is more than every GPU has"),
    ],
)
def test_a_choice_that_cannot_be_is_one_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not find_spec("numba_cuda"), reason="no compiler on this platform")
@pytest.mark.parametrize(
    "name, literals, message",
    [
        ("setmaxnreg_inc", {"count": 236}, "a thread cannot have 236 registers: use a multiple of"),
        ("wgmma_wait_group", {"pending": 9}, "waits for all but 0 to 7 groups, got 9"),
        ("cp_async_wait_group", {"pending": 8}, "waits for all but 0 to 7 groups, got 8"),
    ],
)
def test_a_constant_out_of_range_is_one_line(name, literals, message, monkeypatch):
    for key, value in literals.items():
        monkeypatch.setitem(LITERALS, key, value)
    with pytest.raises(ValueError, match=message) as caught:
        compiled(getattr(ptx, name), (9, 0, "a"))
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not find_spec("numba_cuda"), reason="no compiler on this platform")
@pytest.mark.parametrize(
    "dtype, store",
    [("float32", "st.global.v2.f32"), ("float16", "cvt.rn.f16.f32"), ("uint16", "cvt.rn.bf16x2")],
)
def test_a_pair_is_one_store_in_each_format(dtype, store):
    from numba import cuda
    from numba.cuda import types

    store_pair = ptx.store_pair.numba

    def kernel(C):
        store_pair(C, cuda.threadIdx.y, 2 * cuda.threadIdx.x, 1.0, 2.0)

    matrix = types.Array(getattr(types, dtype), 2, "C")
    text = cuda.compile_ptx(kernel, types.void(matrix), cc=(9, 0))[0]
    assert store in text and text.count("st.") == 1


def test_outside_a_kernel_it_says_so():
    with pytest.raises(RuntimeError, match="ptx.wgmma_fence works inside a kernel only"):
        ptx.wgmma_fence()

"""The machine code of the register-tiled kernels, made without a GPU: what their loops hold.

It needs nvdisasm or cuobjdump of the CUDA toolkit on PATH.
"""

from importlib.util import find_spec

import pytest

from kernels import LADDER
from kernels.host import cpp
from kernels.measure import ptx, sass

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")) or bool(sass.missing()),
    reason=f"this platform has no packages of the CUDA compilers, or {sass.NO_TOOL}",
)

TILED = [
    name for name, rung in LADDER.items() if "BM" in rung.options and rung.dtypes[0][-2:] == "32"
]
WIDE = {name for name in TILED if LADDER[name].wide}


def loop_of(name: str, engine: str) -> sass.Loop:
    from cuda.core import Program, ProgramOptions

    rung = LADDER[name]
    options = rung.default(engine)
    if engine == "cpp":
        macros = rung.Options(**options).macros | rung.macros()
        code = cpp.compiled(name, "sm_90", **macros)
        return sass.inner_loop(sass.disassemble(code), name)
    text = ptx.compile_kernel(rung.kernel(**options))
    code = bytes(Program(text, "ptx", ProgramOptions(arch="sm_90")).compile("cubin").code)
    return sass.inner_loop(sass.disassemble(code))


@pytest.mark.parametrize(
    "name, engine", [(name, engine) for name in TILED for engine in LADDER[name].engines]
)
def test_the_loop_of_a_register_tiled_kernel(name, engine):
    options, counts = LADDER[name].default(engine), loop_of(name, engine).counts()
    assert counts["math"] == "FFMA"
    # All k of one tile are written out, in one copy or several.
    each = options["BK"] * options["TM"] * options.get("TN", 1)
    assert counts["multiply_adds"] % each == 0 < counts["multiply_adds"]
    assert counts["local"] == 0
    tiles = counts["multiply_adds"] // each
    # With two buffers or more one barrier per tile is enough.
    buffers = LADDER[name].Options(**options).buffers
    assert counts["barriers"] == tiles * (1 if buffers > 1 else 2)
    if name in WIDE:
        assert (
            counts["shared_loads"]["of_16"]
            >= tiles * options["BK"] * (options["TM"] + options["TN"]) // 4
        )
        assert counts["shared_loads"]["of_8"] == 0
    if name == "async_tiled":
        assert counts["copies"] and not any(counts["global_loads"].values())
        assert not any(counts["shared_stores"].values())
    elif name in WIDE:
        assert counts["global_loads"]["of_16"] and counts["shared_stores"]["of_16"]

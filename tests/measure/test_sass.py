"""Machine code: disassemblers are found and asked, loops are found and counted, lines explained.

The texts in ``sass/`` are what nvdisasm wrote of kernels of this package, compiled for sm_90.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from kernels.backend import on_gpu
from kernels.measure import sass
from kernels.measure.bench import machine_code
from kernels.measure.bench.case import Case

TEXTS = Path(__file__).parent / "sass"
#: A loop as cuobjdump writes it: addresses in the branches, the encoding at the right.
CUOBJDUMP = """
	code for sm_90
		Function : naive
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0680*/                   ULDC.64 UR12, c[0x0][0x218] ;            /* 0x00008600000c7ab9 */
                                                                            /* 0x000fcc0000000a00 */
        /*0710*/                   LDG.E R7, desc[UR6][R6.64] ;             /* 0x0000000606077981 */
                                                                            /* 0x000ea8000c1e1900 */
        /*0790*/                   FFMA R22, R7, R4, R22 ;                  /* 0x0000000407167223 */
                                                                            /* 0x004fe40000000016 */
        /*07a0*/               @P0 BRA 0x710 ;                              /* 0xfffffffc00b80947 */
                                                                            /* 0x000fea000383ffff */
        /*07b0*/                   BRA 0x7b0;                               /* 0xfffffffc00fc7947 */
"""


def text(name: str) -> str:
    return (TEXTS / f"{name}.sass").read_text(encoding="utf-8")


def test_every_function_of_a_file_is_read():
    bodies = sass.functions(text("naive_cpp"))
    assert list(bodies) == ["swapped", "naive"]
    for body in bodies.values():
        assert body[0].address == 0 and body[0].name == "LDC"
        assert sum(each.name == "EXIT" for each in body) == 2
        assert [each.address for each in body] == sorted({each.address for each in body})
        assert not any("`" in each.text or ";" in each.text for each in body)


def test_the_loop_that_does_most_is_chosen_and_not_the_one_for_the_rest_of_k():
    loop = sass.inner_loop(text("naive_cpp"), "naive")
    counts = loop.counts()
    assert (counts["math"], counts["multiply_adds"], counts["instructions"]) == ("FFMA", 8, 47)
    assert counts["share"] == round(8 / 47, 4)
    assert counts["global_loads"] == {"of_4": 16, "of_8": 0, "of_16": 0}
    assert counts["local"] == counts["barriers"] == counts["reuse"] == 0
    # By hand: the branch at 05c0 goes back to 02e0.
    assert (loop.instructions[0].address, loop.instructions[-1].address) == (0x2E0, 0x5C0)
    rest = sass.innermost(sass.functions(text("naive_cpp"))["naive"])
    assert sorted(each.counts()["multiply_adds"] for each in rest) == [1, 8]


def test_a_loop_with_tiles_is_counted():
    counts = sass.inner_loop(text("thread_tiled_1d_numba")).counts()
    # TM · BK = 8 · 8 multiply-adds, fed by TM + 1 narrow loads a k; two barriers a tile.
    assert counts["multiply_adds"] == 64 and counts["instructions"] == 169
    assert counts["shared_loads"] == {"of_4": 72, "of_8": 0, "of_16": 0}
    assert counts["shared_stores"] == {"of_4": 2, "of_8": 0, "of_16": 0}
    assert counts["global_loads"]["of_4"] == 2
    assert (counts["barriers"], counts["local"], counts["reuse"]) == (2, 0, 16)


def test_loops_that_only_wait_do_not_hide_the_one_around_them():
    loop = sass.inner_loop(text("wgmma_cpp_loop"), "wgmma")
    counts = loop.counts()
    assert (counts["math"], counts["multiply_adds"]) == ("HGMMA", 32)
    assert sum(each.name == "BRA" for each in loop.instructions) > 10
    assert counts["copies"] == sum("UTMALDG" in each.text for each in loop.instructions) > 0


def test_what_cuobjdump_writes_is_read_alike():
    loop = sass.inner_loop(CUOBJDUMP, "naive")
    assert [each.opcode for each in loop.instructions] == ["LDG.E", "FFMA", "BRA"]


@pytest.mark.parametrize(
    "found, function, told",
    [
        (CUOBJDUMP, "tiled", "no kernel 'tiled' in this code: it has naive"),
        (CUOBJDUMP.replace("@P0 BRA 0x710", "@P0 BRA 0x7b0"), "naive", "naive has no loop with"),
        ("", "", "this code has no loop with a multiply-add"),
    ],
)
def test_code_without_such_a_loop_is_told(found, function, told):
    with pytest.raises(sass.SassError, match=told):
        sass.inner_loop(found, function)


#: Warps that find nothing wait behind the end of the kernel, and jump back into the loop.
WAITING = """
.text.waits:
        /*0000*/                   MOV R1, R2 ;
.L_x_1:
        /*0010*/              @!P1 BRA `(.L_x_3) ;
.L_x_2:
        /*0020*/                   HGMMA.64x256x16.F32 R24, gdesc[UR12].tnspB, R24 ;
        /*0030*/               @P0 BRA `(.L_x_1) ;
        /*0040*/                   HGMMA.64x256x16.F32 R24, gdesc[UR12].tnspB, R24 ;
        /*0050*/                   HGMMA.64x256x16.F32 R24, gdesc[UR12].tnspB, R24 ;
        /*0060*/                   EXIT ;
.L_x_3:
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R2], R3 ;
        /*0080*/              @!P1 BRA `(.L_x_3) ;
        /*0090*/                   BRA `(.L_x_2) ;
.L_x_4:
        /*00a0*/                   BRA `(.L_x_4);
"""


@pytest.mark.parametrize("math", ("HGMMA.64x256x16.F32", "QGMMA.64x256x32.F32.E4M3.E4M3"))
def test_waiting_behind_the_end_belongs_to_the_loop_and_makes_none(math):
    loop = sass.inner_loop(WAITING.replace("HGMMA.64x256x16.F32", math))
    addresses = [each.address for each in loop.instructions]
    assert addresses == [0x10, 0x20, 0x30, 0x70, 0x80, 0x90]
    assert (loop.counts()["multiply_adds"], loop.counts()["math"]) == (1, math[:5])


def test_an_excerpt_begins_where_the_work_does():
    lines = sass.inner_loop(text("thread_tiled_1d_numba")).excerpt(20)
    opcodes = [sass.Instruction(0, line).name for line in lines]
    assert len(lines) == 20 and opcodes[0] == "LDS" and "FFMA" in opcodes
    lines = sass.inner_loop(text("naive_cpp"), "naive").excerpt()
    assert lines[0].startswith("FFMA"), "there is no shared memory in it"


@pytest.mark.parametrize(
    "line, told",
    [
        ("FFMA R12, R76.reuse, R80, R12", "R12 = R76 · R80 + R12, and R76 is kept for reuse"),
        ("FFMA R1, R2.reuse, R3.reuse, R4", "R1 = R2 · R3 + R4, and R2 and R3 are kept for reuse"),
        ("FFMA.FTZ R1, R2, R3, R4", "R1 = R2 · R3 + R4"),
        ("LDS.128 R76, [R98+0x210]", "16 bytes from shared memory into R76 to R79"),
        ("LDS R5, [R98]", "4 bytes from shared memory into R5"),
        ("LDG.E.64 R4, desc[UR4][R2.64]", "8 bytes from global memory into R4 to R5"),
        ("STS.128 [R7+0x10], R4", "16 bytes to shared memory from R4 to R7"),
        ("STL [R1], R5", "4 bytes to local memory from R5"),
        ("LDL R5, [R1]", "4 bytes from local memory into R5"),
        ("@!P1 BRA 0x330", "go on at 0x330, unless P1 says so"),
        ("ISETP.GE.AND P0, PT, R4, R5, PT", "a comparison: P0 says yes or no"),
        ("IMAD.MOV.U32 R4, RZ, RZ, R8", "a copy of a register"),
        ("UIADD3 UR4, UR4, 0x1, URZ", "arithmetic that is the same for all lanes of a warp"),
        ("MUFU.RCP R4, R5", ""),
        ("NOP", "nothing"),
        ("@!PT LDS RZ, [RZ]", "nothing: its predicate never holds"),
    ],
)
def test_lines_are_put_into_words(line, told):
    assert sass.meaning(line) == told


def test_every_line_that_a_loop_shows_has_words():
    for name in ("naive_cpp", "thread_tiled_1d_numba"):
        for each in sass.inner_loop(text(name)).instructions:
            assert sass.meaning(each.text), each.text


# From a kernel to text ---------------------------------------------------------------------


@pytest.fixture
def tool(monkeypatch):
    """A stand-in for the disassembler: `answer` gives its exit code, its output and its errors."""
    asked = []

    def install(answer, names=("nvdisasm",)):
        def run(command, **_):
            asked.append(command)
            code, out, said = answer(command)
            return SimpleNamespace(returncode=code, stdout=out, stderr=said)

        def which(name, path=None):
            return f"/bin/{name}" if name in names and path is None else None

        monkeypatch.setattr(sass.subprocess, "run", run)
        monkeypatch.setattr(sass.shutil, "which", which)
        return asked

    return install


def test_a_tool_that_cannot_read_the_code_makes_way_for_the_next(tool):
    asked = tool(
        lambda command: (0, CUOBJDUMP, "") if "cuobjdump" in command[0] else (255, "", "too new"),
        names=("nvdisasm", "cuobjdump"),
    )
    assert sass.disassemble(b"code") == CUOBJDUMP
    assert [command[:2] for command in asked] == [
        ["/bin/nvdisasm", "-c"], ["/bin/cuobjdump", "-sass"],
    ]  # fmt: skip


def test_the_code_of_a_numba_kernel_is_that_of_its_last_compilation():
    def compiled(code):
        library = SimpleNamespace(get_cubin=lambda: SimpleNamespace(code=code))
        return SimpleNamespace(_codelibrary=library)

    kernel = SimpleNamespace(overloads={"a": compiled(b"1"), "b": compiled(b"2")})
    assert sass.code_of(kernel) == b"2"
    with pytest.raises(sass.SassError, match="not compiled yet: launch it once"):
        sass.code_of(SimpleNamespace(overloads={}))


def test_the_code_of_a_twin_comes_from_its_file_or_is_compiled_as_cupy_does(tmp_path, monkeypatch):
    path = tmp_path / "kernel.cubin"
    path.write_bytes(b"from a file")
    assert sass.code_of(SimpleNamespace(file_path=str(path), code=None)) == b"from a file"

    class Nvrtc:
        open = set()

        def createProgram(self, text, name, headers, names):
            self.open.add(text)
            return text

        def compileProgram(self, program, options):
            if program == "wrong":
                raise RuntimeError("does not compile")
            self.options = options

        def getCUBIN(self, program):
            return b"compiled code: 23 bytes"

        def destroyProgram(self, program):
            self.open.remove(program)

    nvrtc = Nvrtc()
    monkeypatch.setattr(sass, "cupy", SimpleNamespace(cuda=SimpleNamespace(nvrtc=nvrtc)))
    monkeypatch.setattr(sass, "device", lambda: SimpleNamespace(compute_capability=(7, 5)))
    kernel = SimpleNamespace(file_path=None, code="text", options=("--std=c++17", "-DTILE=8"))
    assert sass.code_of(kernel) == b"compiled code: 23 bytes\0", "CuPy drops the last byte"
    assert nvrtc.options == ("--std=c++17", "-DTILE=8", "-ftz=true", "-arch=sm_75")
    kernel.code = "wrong"
    with pytest.raises(RuntimeError, match="does not compile"):
        sass.code_of(kernel)
    assert not nvrtc.open


@pytest.mark.skipif(on_gpu, reason="there is a GPU")
def test_a_kernel_of_the_interpreter_has_no_machine_code():
    from kernels import LADDER

    with pytest.raises(sass.SassError, match="it needs an NVIDIA GPU"):
        sass.code_of(LADDER["tiled"].kernel())


# The step of the benchmark -----------------------------------------------------------------


def small_ladder(monkeypatch):
    from kernels import LADDER

    kept = {name: LADDER[name] for name in ("naive", "tiled")}
    monkeypatch.setattr(machine_code, "LADDER", kept)
    monkeypatch.setattr(Case, "launch", lambda *_: lambda: None)
    return kept


def test_without_a_disassembler_the_benchmark_says_so_and_continues(tool, recwarn):
    tool(lambda _: None, names=())
    assert machine_code.machine_code() == {}
    assert [str(each.message) for each in recwarn] == [f"no machine code: {sass.NO_TOOL}"]


def test_the_benchmark_lists_what_it_can_read_and_names_the_others_in_one_line(
    tool, monkeypatch, recwarn
):
    tool(lambda _: (0, CUOBJDUMP, ""))
    small_ladder(monkeypatch)
    loop = sass.inner_loop(text("thread_tiled_1d_numba"))

    def code_of(rung, engine, options):
        if rung.name == "tiled" and engine == "cpp":
            raise sass.SassError("has no code")
        return b"code", "" if engine == "numba" else rung.name

    def loop_of(code, function):
        if function:
            raise sass.SassError("cannot read this code")
        return loop

    monkeypatch.setattr(machine_code, "code_of", code_of)
    monkeypatch.setattr(machine_code, "loop_of", loop_of)
    rows = machine_code.machine_code()["sass"]
    assert [(row["rung"], row["engine"]) for row in rows] == [
        ("naive", "numba"),
        ("tiled", "numba"),
    ]
    assert rows[1]["options"] == machine_code.LADDER["tiled"].default("numba")
    assert rows[0]["loop"] == loop.counts() and rows[0]["lines"] == loop.excerpt()
    (said,) = [str(each.message) for each in recwarn]
    assert said == "no machine code of tiled (cpp), naive (cpp): SassError: has no code"

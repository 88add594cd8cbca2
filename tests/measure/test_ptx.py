"""The stored inner loops are what the compilers make of today's kernels."""

import pytest

from kernels.measure import ptx

LOOP = """\
$L__BB0_1:
\tadd.s32 %r1, %r1, 1;
\t@%p1 bra $L__BB0_1;

$L__BB0_2:
\t.pragma "nounroll";
\tld.global.f32 \t%f1, [%rd1];
\tfma.rn.f32 \t%f2, %f1, %f1, %f2;
\t@%p2 bra \t$L__BB0_2;
"""


def test_the_loop_with_the_multiply_adds_is_found():
    loop = ptx.inner_loop(LOOP)
    assert loop.lines == (
        "ld.global.f32 %f1, [%rd1];",
        "fma.rn.f32 %f2, %f1, %f1, %f2;",
        "@%p2 bra $L__BB0_2;",
    )
    assert (loop.steps, loop.count("ld.global")) == (1, 1)


def test_straight_code_has_no_loop():
    with pytest.raises(ValueError, match="no loop"):
        ptx.inner_loop("\tfma.rn.f32 \t%f2, %f1, %f1, %f2;\n\tret;\n")


def test_an_unknown_loop_is_named_with_those_there_are():
    with pytest.raises(LookupError, match=r"naive \(numba\), naive \(while\), naive \(cpp\)"):
        ptx.load("naive", "rust")


@pytest.mark.parametrize("engine", ["numba", "while", "cpp"])
def test_a_step_loads_one_element_of_each_matrix(engine):
    loop = ptx.load("naive", engine)
    assert loop.count("ld.global.f32") == 2 * loop.steps
    assert loop.lines[-1].startswith("@")


def test_spelling_the_loop_as_while_saves_most_instructions():
    loops = {name: ptx.load("naive", name) for name in ("numba", "while", "cpp")}
    a_step = {name: loop.instructions_per_step for name, loop in loops.items()}
    assert a_step["numba"] > 2 * a_step["while"]
    assert a_step["cpp"] < a_step["while"] < 2 * a_step["cpp"]


@pytest.mark.parametrize(
    ("engine", "build"),
    [
        ("numba", ptx.compile_numba),
        ("while", lambda rung: ptx.compile_numba(rung, spell_while=True)),
        ("cpp", ptx.compile_cpp),
    ],
)
def test_stored_loops_agree_with_the_kernels(engine, build):
    pytest.importorskip("numba_cuda")
    pytest.importorskip("cuda.bindings.nvrtc")
    fresh, stored = ptx.inner_loop(build("naive")), ptx.load("naive", engine)
    # Register numbers are the compiler's business; the opcodes are what the chapter counts.
    assert [line.split()[0] for line in fresh.lines] == [line.split()[0] for line in stored.lines]

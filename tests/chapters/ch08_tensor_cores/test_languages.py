"""The product in five languages: each text is the whole kernel of its file, and nothing else."""

import ast

import pytest

from chapters.ch08_tensor_cores import languages
from kernels.basics.files import ROOT


@pytest.mark.parametrize("language", languages.KERNELS)
def test_a_text_is_one_whole_kernel_of_its_file(language):
    file, name = languages.KERNELS[language]
    kernel = languages.text(language)
    whole = (ROOT / "kernels" / file).read_text(encoding="utf-8")
    assert all(line.strip() in whole for line in kernel.splitlines())
    if language == "CUDA C++":
        assert kernel.startswith('extern "C" __global__ void') and kernel.endswith("\n}")
        assert f"\n{name}(" in kernel
        assert kernel.count("{") == kernel.count("}")
    else:
        (found,) = ast.parse(kernel).body
        assert isinstance(found, ast.FunctionDef) and found.name == name
        assert "return" not in kernel


def test_the_decorator_belongs_to_the_text():
    assert languages.text("Numba").startswith("@cuda.jit(launch_bounds=(THREADS, 1))\ndef ")
    assert languages.text("CuTe DSL").startswith("@cute.kernel\ndef product(")
    assert languages.text("Triton").startswith("@triton.jit\n")


def test_blank_lines_and_comments_are_no_code():
    text = "# a comment\n\n@jit\ndef f(A):  # with a comment\n    # one\n    A[0] = 1\n"
    assert languages.lines_of_code(text) == 3
    assert languages.lines_of_code("// one\n#pragma unroll 2\nfor (;;)\n\n    ;") == 3


def test_an_unknown_language_is_told_which_there_are():
    with pytest.raises(LookupError, match="no kernel in 'Mojo': use one of Numba, CUDA C"):
        languages.text("Mojo")


def test_the_compilers_make_other_code_for_every_gpu():
    multiply = {
        (language, gpu): {*code["instructions"]}
        for language, made in languages.compiled().items()
        for gpu, code in made["gpus"].items()
    }
    assert {language for language, _ in multiply} == {"CuTe DSL", "Triton", "cuTile"}
    for language in ("Triton", "cuTile"):
        assert "mma.sync" in multiply[language, "sm_80"]
    for language in ("CuTe DSL", "Triton", "cuTile"):
        assert "wgmma.mma_async" in multiply[language, "sm_90"]
    assert "tcgen05.mma" in multiply["cuTile", "sm_100"]

"""The product in four languages: each text is the whole kernel of its file, and nothing else."""

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
        assert kernel.startswith('extern "C" __global__ void tiled(') and kernel.endswith("\n}")
        assert kernel.count("{") == kernel.count("}")
    else:
        (found,) = ast.parse(kernel).body
        assert isinstance(found, ast.FunctionDef) and found.name == name
        assert "return" not in kernel


def test_the_decorator_belongs_to_the_text():
    assert languages.text("Numba").startswith("@cuda.jit\ndef tiled(")
    assert languages.text("Triton").startswith("@triton.jit\n")


def test_blank_lines_and_comments_are_no_code():
    text = "# a comment\n\n@jit\ndef f(A):  # with a comment\n    # one\n    A[0] = 1\n"
    assert languages.lines_of_code(text) == 3
    assert languages.lines_of_code("// one\n#pragma unroll 2\nfor (;;)\n\n    ;") == 3


def test_an_unknown_language_is_told_which_there_are():
    with pytest.raises(LookupError, match="no kernel in 'Mojo': use one of Numba, CUDA C"):
        languages.text("Mojo")


def test_cutile_makes_other_code_for_every_gpu():
    made = languages.made_by_cutile()
    multiply = {gpu: {*code["instructions"]} for gpu, code in made["gpus"].items()}
    assert "mma.sync" in multiply["sm_80"] and "cp.async.bulk.tensor" not in multiply["sm_80"]
    assert {"wgmma.mma_async", "cp.async.bulk.tensor"} <= multiply["sm_90"]
    assert "tcgen05.mma" in multiply["sm_100"] and {*made["made_by"]} >= {"cuda-tile"}

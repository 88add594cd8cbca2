"""The rungs in WGSL as texts: complete, in step with the ladder, and as large as they say."""

from __future__ import annotations

import re
from math import prod

import pytest

from kernels.rungs.order import LADDER
from kernels.rungs.webgpu import shader
from kernels.rungs.webgpu.ladder import SHADERS, Variant, described

CHOICES = [Variant(rung, options) for rung in SHADERS.values() for options in rung.choices]
NAMES = [f"{choice.rung.name}-{'-'.join(map(str, choice.options.values()))}" for choice in CHOICES]
SIZES = {"f32": 4, "vec4f": 16}


def constants(text: str) -> dict[str, int]:
    """The constants of a text, computed as WGSL computes them."""
    found: dict[str, int] = {}
    for name, expression in re.findall(r"^const (\w+) = ([^;]+);", text, re.MULTILINE):
        found[name] = value(expression, found)
    return found


def value(expression: str, names: dict[str, int]) -> int:
    return eval(re.sub(r"(\d)u\b", r"\1", expression).replace("/", "//"), {}, names)


@pytest.mark.parametrize("choice", CHOICES, ids=NAMES)
def test_threads_and_shared_memory_are_those_of_the_text(choice):
    text = choice.source()
    names = constants(text)
    threads = [value(part, names) for part in re.search(r"_size\((.+)\)", text)[1].split(",")]
    assert prod(threads) == prod(choice.block)
    declared = re.findall(r"var<workgroup> \w+: ((?:array<)+)(\w+)((?:, [^,>]+>)+);", text)
    sizes = SIZES | {"Element": 4 * choice.rung.bytes}
    held = sum(
        sizes[kind] * prod(value(each, names) for each in re.findall(r", ([^,>]+)>", sides))
        for _, kind, sides in declared
    )
    assert held == choice.shared_bytes and bool(declared) == (choice.rung.buffers > 0)


@pytest.mark.parametrize("choice", CHOICES, ids=NAMES)
def test_options_and_models_are_those_of_the_ladder(choice):
    counterpart = LADDER[choice.rung.follows]
    assert choice.options.keys() <= counterpart.options.keys() and choice.source()
    ours, theirs = choice.model(101, 83, 57), counterpart.model(101, 83, 57, **choice.options)
    assert (ours.flops, ours.loads, ours.stores) == (theirs.flops, theirs.loads, theirs.stores)
    if choice.rung.bytes == 4:
        assert choice.bytes_requested(101, 83, 57) == theirs.bytes_requested
    else:
        loads = sum(theirs.loads.values())
        assert choice.bytes_requested(101, 83, 57) == theirs.bytes_requested - 2 * loads


@pytest.mark.parametrize("choice", CHOICES, ids=NAMES)
def test_no_marked_loop_is_left(choice):
    assert "// unroll" in choice.rung.text or choice.rung.name in ("naive", "swapped")
    assert "// unroll" not in choice.source()


def test_every_option_of_the_course_that_a_page_names_is_there():
    assert {options["tile"] for options in SHADERS["tiled"].choices} == {4, 8, 16, 32}
    assert {*LADDER["tiled"].options["tile"]} <= {4, 8, 16, 32}
    assert list(SHADERS)[:6] == [name for name in LADDER if name in SHADERS][:6]


def test_loops_are_written_out_inside_each_other_and_in_steps():
    lines = [
        "for (var i = 0u; i < N / 2; i++) { // unroll",
        "  for (var j = 0u; j < N; j += TWO) { // unroll",
        "    f(i, j, ij);",
        "  }",
        "}",
        "for (var k = 0u; k < N; k++) {",
        "}",
    ]
    inner = [f"f({i}u, {j}u, ij);" for i in range(2) for j in (0, 2)]
    found = shader.unrolled(lines, {"N": 4, "TWO": 2})
    assert [line.strip() for line in found if "f(" in line] == inner
    assert found[-2:] == lines[-2:]


def test_a_choice_that_is_not_offered_is_refused():
    assert SHADERS["tiled"].choice(tile=4).tile == (4, 4)
    with pytest.raises(ValueError, match="tiled has no {'tile': 12}: use one of"):
        SHADERS["tiled"].choice(tile=12)


def test_what_the_page_is_told_holds_every_rung():
    told = described()
    assert [rung["name"] for rung in told["rungs"]] == list(SHADERS)
    assert all(rung["choices"] and rung["text"] for rung in told["rungs"])
    assert "@compute" in told["fma"] and "@compute" in told["copy"]

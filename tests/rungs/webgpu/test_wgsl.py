"""The rungs in WGSL as texts: complete, in step with the ladder, and as large as they say."""

from __future__ import annotations

import re
from math import prod

import pytest

from kernels.rungs.order import LADDER
from kernels.rungs.webgpu.ladder import SHADERS, Variant, described

CHOICES = [Variant(rung, options) for rung in SHADERS.values() for options in rung.choices]
NAMES = [f"{choice.rung.name}-{'-'.join(map(str, choice.options.values()))}" for choice in CHOICES]
SIZES = {"f32": 4, "vec4f": 16}


def constants(text: str, options: dict[str, int]) -> dict[str, int]:
    """The constants of a text, computed as WGSL computes them, and those of its options."""
    found = {name.upper(): value for name, value in options.items()}
    for name, expression in re.findall(r"^const (\w+) = ([^;]+);", text, re.MULTILINE):
        found[name] = value(expression, found)
    return found


def value(expression: str, names: dict[str, int]) -> int:
    return eval(re.sub(r"(\d)u\b", r"\1", expression).replace("/", "//"), {}, names)


@pytest.mark.parametrize("choice", CHOICES, ids=NAMES)
def test_threads_and_shared_memory_are_those_of_the_text(choice):
    text = choice.rung.text
    names = constants(text, choice.options)
    threads = [value(part, names) for part in re.search(r"_size\((.+)\)", text)[1].split(",")]
    assert prod(threads) == prod(choice.block)
    declared = re.findall(r"var<workgroup> \w+: ((?:array<)+)(\w+)((?:, [^,>]+>)+);", text)
    sizes = SIZES | {"Element": 16}
    held = sum(
        sizes[kind] * prod(value(each, names) for each in re.findall(r", ([^,>]+)>", sides))
        for _, kind, sides in declared
    )
    assert held == choice.shared_bytes and bool(declared) == (choice.rung.buffers > 0)


@pytest.mark.parametrize("choice", CHOICES, ids=NAMES)
def test_options_and_models_are_those_of_the_ladder(choice):
    twin = LADDER[choice.rung.follows]
    assert choice.options.keys() <= twin.options.keys() and choice.rung.text
    ours, theirs = choice.model(101, 83, 57), twin.model(101, 83, 57, **choice.options)
    assert (ours.flops, ours.loads, ours.stores) == (theirs.flops, theirs.loads, theirs.stores)


def test_every_option_of_the_course_that_a_page_names_is_there():
    assert {options["tile"] for options in SHADERS["tiled"].choices} == {4, 8, 16, 32}
    assert {*LADDER["tiled"].options["tile"]} <= {4, 8, 16, 32}
    assert list(SHADERS)[:6] == [name for name in LADDER if name in SHADERS][:6]


def test_what_the_page_is_told_holds_every_rung():
    told = described()
    assert [rung["name"] for rung in told["rungs"]] == list(SHADERS)
    assert all(rung["choices"] and rung["text"] for rung in told["rungs"])
    assert "@compute" in told["fma"] and "@compute" in told["copy"]

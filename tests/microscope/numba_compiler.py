"""Numba's compiler for a GPU that is not there, and what it says, in one line."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest import mock

CAPABILITY = (9, 0, "a")


@dataclass
class Device:
    """A GPU that is not there."""

    compute_capability: tuple = CAPABILITY


@contextmanager
def compiler():
    """Numba's compiler for a GPU that is not there: a function from a kernel and types to PTX.

    It is the code that a GPU would run, after all that Numba's linker changes in it. Afterwards
    Numba is as it was found: what else a test compiles has its multiply-adds.
    """
    import numba.cuda.compiler
    import numba.cuda.dispatcher
    from cuda.core import Linker, LinkerOptions, ObjectCode
    from numba import cuda

    def ptx_of(function, signature) -> str:
        code, _ = cuda.compile(
            function, signature, device=False, abi="numba", cc=CAPABILITY, output="ltoir"
        )
        options = LinkerOptions(
            arch="sm_{}{}{}".format(*CAPABILITY), ptx=True, link_time_optimization=True
        )
        return bytes(Linker(ObjectCode.from_ltoir(code), options=options).link("ptx").code).decode()

    with ExitStack() as changed:
        for module in (numba.cuda.dispatcher, numba.cuda.compiler):
            changed.enter_context(mock.patch.object(module, "get_current_device", Device))
        changed.enter_context(unmerged())
        yield ptx_of


def unmerged():
    """Have the linker leave products and sums apart: which ones it merges is its own choice."""
    from cuda.core import LinkerOptions

    written = LinkerOptions._prepare_nvjitlink_options

    def options(self, as_bytes: bool = False) -> list:
        kept = [x for x in written(self) if not x.startswith("-fma")]
        return [x.encode() if as_bytes else x for x in (*kept, "-fma=0")]

    return mock.patch.object(LinkerOptions, "_prepare_nvjitlink_options", options)


def one_line(error: Exception) -> str:
    """The line of Numba's report that says what is wrong."""
    text = re.sub(r"\x1b\[\d+m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = ("No implementation", "Cannot unify", "Invalid use", "Int value", "Type of variable",
               "cannot determine", "Unknown attribute", "Unsupported", "not supported")  # fmt: skip
    for k, line in enumerate(lines):
        if any(word in line for word in telling):
            rest = lines[k + 1] if line.endswith("signature:") and k + 1 < len(lines) else ""
            return f"{type(error).__name__}: {line} {rest}".strip()
    return f"{type(error).__name__}: {' '.join(lines)[:200]}"

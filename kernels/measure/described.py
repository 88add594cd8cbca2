"""What compilers make of a product: instructions counted in their PTX, in `compiled.json`.

The compilers of Triton, cuTile and CuTe DSL need no GPU. Each has an environment of its own, where
`python -m kernels.measure.NAME_product describe` writes its part.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("compiled.json")
#: What is counted: instructions that begin like this, the longer first.
OPCODES = (
    "bar.sync", "cp.async.bulk.tensor", "cp.async.ca", "cp.async.cg", "fma.rn.f32", "ldmatrix",
    "ld.global", "mbarrier", "mma.sync", "setmaxnreg", "tcgen05.mma", "wgmma.mma_async",
)  # fmt: skip


def described(ptx: str, shared_bytes: int) -> dict[str, Any]:
    """Say what a kernel's PTX holds.

    Returns
    -------
    dict
        ``threads`` of a block, ``shared_bytes``, and ``instructions``: how many of `OPCODES`.
    """
    found = Counter(
        opcode
        for line in re.findall(r"^\s*(?:@!?%p\d+\s+)?([a-z][\w.:]+)\s", ptx, re.M)
        for opcode in OPCODES
        if line.startswith(opcode)
    )
    (threads,) = re.findall(r"^\.reqntid (\d+)", ptx, re.M)
    return {
        "threads": int(threads),
        "shared_bytes": shared_bytes,
        "instructions": dict(sorted(found.items())),
    }


def store(language: str, packages: tuple[str, ...], gpus: dict[str, Any]) -> None:
    """Write what a language's compiler made for each GPU, and which versions of it, to `FILE`."""
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    stored[language] = {"made_by": {name: version(name) for name in packages}, "gpus": gpus}
    FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")

"""The steps from `mma` to `persistent`, each of one thing: versions that no reader needs.

What the rungs change from one to the next is more than one thing. Between their versions lie
these, in Numba, with one change each: the rungs themselves, with a line or two of their text
changed, and `without_roles`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kernels.host.rung import Rung
from kernels.host.tensor_cores import HopperRung
from kernels.measure.bench.case import LIMIT, REST
from kernels.measure.bench.case_of_bytes import case_of
from kernels.measure.bench.step import Step
from kernels.measure.bench.without_roles import RUNG as WITHOUT_ROLES
from kernels.measure.bench.without_roles import STAGES
from kernels.measure.changed import changed
from kernels.rungs import mma, persistent, specialized

__all__ = ["STEPS", "steps"]

SIZES, DTYPE = (4096, 8192), "bfloat16"


class WithoutBoxes(persistent.Options):
    """No shared memory for C."""

    boxes = 0


class Unboxed(persistent.Persistent):
    """The kernel takes C itself."""

    def arguments(self, product, options):
        return HopperRung.arguments(self, product, options)


#: What stands in `persistent` in place of its boxes: the stores of `specialized`.
STORES = """row = row0 + upper + warp * 16 + lane // 4
                for j in range(BN // 8):
                    col = col0 + 8 * j + lane % 4 * 2
                    if row < M and col < N:
                        ptx.store_pair(map_C, row, col, acc[4 * j], acc[4 * j + 1])
                    if row + 8 < M and col < N:
                        ptx.store_pair(map_C, row + 8, col, acc[4 * j + 2], acc[4 * j + 3])
                unrolled()
            """


def unboxed(make: Callable[..., Any]) -> Callable[..., Any]:
    """`persistent` with C straight from registers."""
    text = inspect.getsource(make)
    first = text.index("# C leaves box by box")
    last = text.index("if tid == 0:\n                ptx.cp_async_bulk_wait_group_read(0)")
    return changed(make, text[first:last], STORES)


equal_registers = changed(specialized.make_specialized, "ptx.setmaxnreg_dec(40)", "pass")
equal_registers = changed(equal_registers, "ptx.setmaxnreg_inc(232)", "pass")
ROLES = specialized.RUNG.with_kernel(equal_registers)
STORES_OF_SPECIALIZED = {"make": unboxed(persistent.make_persistent), "Options": WithoutBoxes}
STORED = Unboxed(**vars(persistent.RUNG) | STORES_OF_SPECIALIZED)

#: What a step adds, and the version that has it; each differs from the one before in that alone.
STEPS: tuple[tuple[str, Rung, dict[str, int]], ...] = (
    ("mma, cp.async, 128 × 128, four stages", mma.RUNG, {"BN": 128, "WN": 32, "stages": STAGES}),
    ("wgmma, not mma", WITHOUT_ROLES, {"BN": 128, "group": 8, "tma": 0}),
    ("TMA, not cp.async", WITHOUT_ROLES, {"BN": 128, "group": 8}),
    ("block swizzling by 16, not 8", WITHOUT_ROLES, {"BN": 128}),
    ("tile of 128 × 256", WITHOUT_ROLES, {}),
    ("warp specialisation", ROLES, {}),
    ("setmaxnreg", specialized.RUNG, {}),
    ("persistent blocks", STORED, {"group": 16, "cluster": 1}),
    ("C stored by TMA", persistent.RUNG, {"group": 16, "cluster": 1}),
    ("clusters of 2, multicast", persistent.RUNG, {}),
)


def steps() -> list[Step]:
    """The versions at each size, in turn with each other and with cuBLAS."""
    return [
        Step(f"ablation {n}³, {DTYPE}", lambda n=n: {"ablation": measured(n)})
        for n in SIZES
        if not STEPS[-1][1].missing(DTYPE)
    ]


def measured(n: int) -> list[dict[str, Any]]:
    """A row for each version of `STEPS` at n³, in their order."""
    case = case_of(n, n, n, DTYPE)
    versions = [(rung, rung.default("numba") | options) for _, rung, options in STEPS]
    launches = [case.launch(rung, "numba", options) for rung, options in versions]
    limit = LIMIT * len(launches) / 2
    cublas, *found = case.measure_in_turn([case.library(), *launches], limit, REST)
    return [
        {
            "what": what, "rung": rung.name, "engine": "numba", "options": options, **row,
            "cublas_gflops": cublas["gflops"],
        }
        for (what, _, _), (rung, options), row in zip(STEPS, versions, found, strict=True)
    ]  # fmt: skip

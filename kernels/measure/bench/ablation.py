"""The steps from `unguarded` to `async_tiled` and from `mma` to `persistent`, each of one thing.

What the rungs change from one to the next is more than one thing. Between their versions lie
these, which no reader needs, in Numba, with one change each: the rungs themselves, with a line or
two of their text changed, and `without_roles`.
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
from kernels.rungs import async_tiled, mma, persistent, serpentine, specialized, unguarded

__all__ = ["FP32_STEPS", "STEPS", "steps"]

SIZES = (4096, 8192)
#: Versions: what each adds to the one before, its rung, and its options beside the defaults.
Steps = tuple[tuple[str, Rung, dict[str, int]], ...]


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

#: On tensor cores, in bfloat16. Each version differs from the one before in what it adds alone.
STEPS: Steps = (
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

#: The end of `unguarded`, and of `serpentine`.
STORE = """store4_guarded(
                    C, row, col, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3], wide_C
                )"""
ADD_0 = """p, q = acc[i, j] + float32(0), acc[i, j + 1] + float32(0)
                r, s = acc[i, j + 2] + float32(0), acc[i, j + 3] + float32(0)
                store4_guarded(C, row, col, p, q, r, s, wide_C)"""
FREE_STORE = unguarded.RUNG.with_kernel(changed(unguarded.make_unguarded, STORE, ADD_0))
LARGE_TILE = {"BN": 256, "BK": 8, "TM": 8, "TN": 16}  # `async_tiled`'s

#: On the fp32 units.
FP32_STEPS: Steps = (
    ("no guards inside C", unguarded.RUNG, {}),
    ("0 added before the store", FREE_STORE, {}),
    ("serpentine order", serpentine.RUNG, {}),
    ("tiles of 128×256×8, 8×16", serpentine.RUNG, LARGE_TILE),
    ("cp.async, two stages", async_tiled.RUNG, {"stages": 2}),
    ("a third stage", async_tiled.RUNG, {}),
)


def steps() -> list[Step]:
    """The versions at each size, in turn with each other and with cuBLAS."""
    climbs = {"float32": FP32_STEPS, "bfloat16": STEPS}
    return [
        Step(
            f"ablation {n}³, {dtype}",
            lambda n=n, climb=climb, dtype=dtype: {"ablation": measured(n, climb, dtype)},
        )
        for dtype, climb in climbs.items()
        if not climb[-1][1].missing(dtype)
        for n in SIZES
    ]


def measured(n: int, climb: Steps, dtype: str) -> list[dict[str, Any]]:
    """A row for each version at n³, in their order."""
    case = case_of(n, n, n, dtype)
    versions = [(rung, rung.default("numba") | options) for _, rung, options in climb]
    launches = [case.launch(rung, "numba", options) for rung, options in versions]
    limit = LIMIT * len(launches) / 2
    cublas, *found = case.measure_in_turn([case.library(), *launches], limit, REST)
    return [
        {
            "what": what, "rung": rung.name, "engine": "numba", "options": options, **row,
            "cublas_gflops": cublas["gflops"],
        }
        for (what, _, _), (rung, options), row in zip(climb, versions, found, strict=True)
    ]  # fmt: skip

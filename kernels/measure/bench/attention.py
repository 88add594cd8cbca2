"""Softmax beside a copy, attention beside the framework's own, and its steps beside each other.

``python -m kernels.measure.bench.attention`` runs these steps alone, checks every kernel
against float64 first, and prints the rows that ``python -m kernels bench`` would record.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.backend.device import device
from kernels.host import half
from kernels.host.follow import prepared
from kernels.measure import ncu, probes
from kernels.measure.bench.step import Step, Tables, one_line
from kernels.measure.timing import time as time_launch
from kernels.primitives import attention as fused
from kernels.primitives import attention_backward as backward
from kernels.primitives import attention_decode as decoding
from kernels.primitives import attention_mma as ampere
from kernels.primitives import attention_wgmma as hopper
from kernels.primitives import softmax

#: Rows and columns: few long rows, and many of a head's length.
SOFTMAX_SHAPES = ((16384, 4096), (131072, 512), (1024, 65536))
#: Heads (of a batch of 4 with 16 each), positions and head size; the last is of an odd length.
SHAPES = ((64, 4096, 128), (64, 4096, 64), (64, 4001, 128))
#: The float32 kernel is for the idea: at this size it takes milliseconds.
SMALL = (16, 2048, 128)
#: What is timed of the C++ kernels: Hopper's, that for any GPU, and its best tiles under a mask.
OPTIONS = ({"wgmma": 1}, {"wgmma": 0}, {"tall": 1, "warps": 8, "keys": 128})
#: PyTorch's own kernels, by the name of their backend: first the one that it chooses itself.
BACKENDS = ("", "FLASH_ATTENTION", "CUDNN_ATTENTION")
#: Heads of Q, heads of K and V, keys, head size: alone, and four heads on one of K and V.
CACHES = ((32, 32, 32768, 128), (32, 8, 32768, 128))
SPLITS = (1, 4, 16, 64)
#: By head: the exact result, and how far each element may be off.
Truth = dict[int, tuple[np.ndarray, np.ndarray]]
#: What the profiler counts of each step.
COUNTED = (
    "instructions", "dram_read_bytes", "dram_write_bytes", "tensor_unit", "issue_slots",
    "registers",
)  # fmt: skip
#: The same of decoding's first launch, and of the four launches of a forward and backward pass.
OF_DECODING = ("issue_slots", "fma_unit", "dram_throughput", "occupancy_achieved", "registers",
               "instructions")  # fmt: skip
OF_GRADIENTS = ("issue_slots", "fma_unit", "ffma", "shared_load_instructions", "l1_wavefronts",
                "instructions", "registers")  # fmt: skip
#: Products of N × N × D in each of those launches.
PRODUCTS = {"forward": 2, "delta": 0, "dQ": 3, "dK, dV": 4}
MODULE = "kernels.measure.bench.attention"
UNITS = {"float32": 0.0, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def steps() -> list[Step]:
    """Five steps."""
    return [
        Step("softmax", softmaxes), Step("attention", attentions),
        Step("attention in steps", climbs), Step("decoding", caches), Step("gradients", backwards),
    ]  # fmt: skip


# -------------------------------------------------------------------------------- softmax


def softmaxes(shapes: tuple[tuple[int, int], ...] = SOFTMAX_SHAPES) -> Tables:
    """Each version in each language: bytes of one load and one store per element, a second."""
    copy = probes.copy_bandwidth(max(M * N for M, N in shapes))["bytes_per_second"]
    rows = []
    for M, N in shapes:
        A = cupy.random.default_rng(1).standard_normal((M, N), dtype=np.float32)
        P = cupy.empty_like(A)
        fitting = [softmax.Registers(N)] if N <= softmax.MOST_COLUMNS else []
        for version in (*softmax.VERSIONS.values(), *fitting):
            for engine in ("numba", "cpp"):
                P.fill(np.nan)
                launch = version.launcher(A, P, engine)
                found = time_launch(launch)
                speed = 8 * M * N / found.median
                rows.append({
                    "version": version.name, "engine": engine, "M": M, "N": N, "bytes": 8 * M * N,
                    "seconds": probes.timing(found), "bytes_per_second": speed,
                    "share_of_copy": round(speed / copy, 4), "correct": softmax_is_right(A, P),
                })  # fmt: skip
    return {"softmax": rows}


def softmax_is_right(A: Any, P: Any) -> bool:
    """Whether the first and the last rows are as near to float64 as rounding allows."""
    A, P = (cupy.asnumpy(cupy.concatenate([x[:8], x[-8:]])) for x in (A, P))
    exact = np.exp(A.astype(np.float64) - A.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    return bool((abs(P - exact) <= softmax.error_bound(A)).all())


# ------------------------------------------------------------------------------ attention


def attentions(shapes: tuple[tuple[int, int, int], ...] = SHAPES, small=SMALL) -> Tables:
    """Ours in both languages, and PyTorch's own on the same arrays, causal and not."""
    rows, capability = [], device().compute_capability
    for causal in (False, True):
        rows += ours(*small, "float32", causal, ({},))
        for shape in shapes:
            if capability >= fused.NEEDS:
                rows += ours(*shape, "bfloat16", causal, options())
                rows += ours(*shape, "float16", causal, options()[:1])
            if hopper.runs_on(capability):
                rows += ours(*shape, "bfloat16", causal, ({},), "numba")
            rows += library(*shape, causal)
    return {"attention": with_shares(rows)}


def given(heads: int, N: int, D: int, dtype: str) -> list[Any]:
    """Q, K and V on the GPU: random, the same for every kernel."""
    random = cupy.random.default_rng(1)
    return [
        half.cast(random.standard_normal((heads, N, D), dtype=np.float32), dtype) for _ in "QKV"
    ]


def options() -> list[dict[str, int]]:
    """Those of `OPTIONS` that this GPU takes, the default first."""
    capability = device().compute_capability
    return [one for one in OPTIONS if not one.get("wgmma") or hopper.runs_on(capability)]


def title(engine: str, options: dict[str, int], dtype: str) -> str:
    """What a row calls a kernel: its language, its instruction on tensor cores, its tiles."""
    if engine == "numba":
        return "Numba" if dtype == "float32" else "Numba, wgmma"
    tiles = [f"{name} {value}" for name, value in options.items() if name != "wgmma"]
    return ", ".join(["CUDA C++", "wgmma" if options.get("wgmma") else "mma", *tiles])


def ours(heads, N, D, dtype, causal, choices, engine="") -> Iterator[dict[str, Any]]:
    """Time our kernel with each of some options, and check it; of 16 bits that in C++."""
    engine = engine or ("numba" if dtype == "float32" else "cpp")
    arrays = given(heads, N, D, dtype)
    known = truth(arrays, dtype, causal)
    for chosen in choices:
        out = cupy.zeros_like(arrays[0])
        launch = fused.launcher(fused.Heads(*arrays, out, engine), causal, **chosen)
        yield row(title(engine, chosen, dtype), engine, launch, out, dtype, causal, known)


def library(heads, N, D, causal) -> Iterator[dict[str, Any]]:
    """Time PyTorch's own kernels, those that run here, in bfloat16."""
    try:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return
    arrays = given(heads, N, D, "bfloat16")
    Q, K, V = (torch.from_dlpack(x.view(np.int16)).view(torch.bfloat16)[None] for x in arrays)
    known = truth(arrays, "bfloat16", causal)
    product = torch.nn.functional.scaled_dot_product_attention
    for name in BACKENDS:
        try:
            with sdpa_kernel(getattr(SDPBackend, name)) if name else nullcontext():
                launch = partial(product, Q, K, V, is_causal=causal)
                result = launch()
                kernel = f"PyTorch, {name.split('_')[0].lower()}" if name else "PyTorch"
                out = cupy.from_dlpack(result[0].contiguous().view(torch.int16)).view(np.uint16)
                measured = row(kernel, "library", launch, out, "bfloat16", causal, known)
                yield measured | {"torch": torch.__version__}
        except (AttributeError, RuntimeError) as error:
            print(f"PyTorch's {name} is left out: {one_line(error)}")


def row(
    kernel: str, engine: str, launch: Callable[[], Any], out: Any, dtype: str, causal: bool,
    known: Truth,
) -> dict[str, Any]:  # fmt: skip
    """A row of a record; the check comes first, so that nothing wrong is timed."""
    launch()
    correct = is_right(out, known)
    found = time_launch(launch)
    heads, N, D = out.shape
    return {
        "kernel": kernel, "engine": engine, "dtype": dtype, "heads": heads, "N": N, "D": D,
        "causal": causal, "seconds": probes.timing(found),
        "flops": fused.flops(heads, N, D, causal) / found.median, "correct": correct,
    }  # fmt: skip


def truth(arrays: list[Any], dtype: str, causal: bool) -> Truth:
    """The first and the last head in float64, and how far rounding may take a result from it."""
    known = {}
    for head in (0, -1):
        Q, K, V = (half.floats(cupy.asnumpy(x[head]))[None] for x in arrays)
        bound = fused.error_bound(Q, K, V, causal, UNITS[dtype])
        known[head] = fused.exact(Q, K, V, causal)[0], bound[0]
    return known


def is_right(out: Any, known: Truth) -> bool:
    """Whether the heads of a result that are known are as near as rounding allows."""
    return all(
        bool((abs(half.floats(cupy.asnumpy(out[head])) - exact) <= bound).all())
        for head, (exact, bound) in known.items()
    )


# ---------------------------------------------------------------------- attention, step by step


def climbs(shape: tuple[int, int, int] = SHAPES[0], dtype: str = "bfloat16") -> Tables:
    """From three kernels to the overlapped one: one change a row, on the same arrays."""
    arrays, capability = given(*shape, dtype), device().compute_capability
    known, rows = truth(arrays, dtype, False), unfused(arrays, dtype)
    for name, takes, launch, out in in_numba(arrays, dtype):
        if capability is None or takes(capability):
            rows.append(row(name, "numba", launch, out, dtype, False, known))
    return {"attention_steps": ncu.add_counts(rows, MODULE, "attention_steps", COUNTED)}


def in_numba(arrays: list[Any], dtype: str) -> Iterator[tuple[str, Callable, Callable, Any]]:
    """Each step in Numba: its name, the GPUs that run it, what launches it, and its result."""
    heads, N, D = arrays[0].shape
    scale = np.float32(math.log2(math.e) / math.sqrt(D))

    def has_mma(capability):
        return capability >= fused.NEEDS

    out = cupy.zeros_like(arrays[0])
    flat = [array.reshape(-1, D) for array in (*arrays, out)]
    launch = prepared(
        ampere.make_attention_mma(D, False, dtype), fused.launch(heads, N, ampere.QUERIES),
        (ampere.THREADS,), (*flat, np.int32(N), scale), ampere.shared_bytes_of(D),
    )  # fmt: skip
    yield "Numba, mma", has_mma, launch, out
    for name, options in (
        ("Numba, wgmma", {"overlap": False, "pingpong": False}),
        ("Numba, wgmma, overlap", {"pingpong": False}),
        ("Numba, wgmma, overlap, ping-pong", {}),
    ):
        out = cupy.zeros_like(arrays[0])
        operands = fused.Heads(*arrays, out)
        yield name, hopper.runs_on, hopper.launcher(operands, False, **options), out


def unfused(arrays: list[Any], dtype: str) -> list[dict[str, Any]]:
    """Time PyTorch's product, softmax and product, each a launch: S and P go through memory."""
    try:
        import torch
    except ImportError:
        return []
    names = {"bfloat16": torch.bfloat16, "float16": torch.float16}
    Q, K, V = (torch.from_dlpack(x.view(np.int16)).view(names[dtype]) for x in arrays)
    heads, N, D = Q.shape
    S, P = (torch.empty((heads, N, N), dtype=Q.dtype, device=Q.device) for _ in "SP")
    O = torch.empty_like(Q)  # noqa: E741
    out = cupy.from_dlpack(O.view(torch.int16)).view(np.uint16)

    def launch():
        torch.baddbmm(S, Q, K.mT, beta=0, alpha=1 / math.sqrt(D), out=S)
        torch.softmax(S, -1, out=P)
        torch.bmm(P, V, out=O)

    # Scores are rounded to 16 bits here, which the fused kernels do not do.
    known = truth(arrays, dtype, False)
    known = {head: (exact, 16 * bound) for head, (exact, bound) in known.items()}
    timed = row("PyTorch, three kernels", "library", launch, out, dtype, False, known)
    return [timed | {"torch": torch.__version__}]


# --------------------------------------------------------------------------------- decoding


def caches(
    shapes: tuple[tuple[int, ...], ...] = CACHES, splits: tuple[int, ...] = SPLITS
) -> Tables:
    """One query per head over kept keys and values: bytes of these a second, by splits."""
    copy = probes.copy_bandwidth()["bytes_per_second"]
    rows = []
    for (heads, kv_heads, N, D), parts, launch, right in cached(shapes, splits):
        correct, found, nbytes = right(), time_launch(launch), 4 * 2 * kv_heads * N * D
        rows.append({
            "kernel": "Numba", "engine": "numba", "dtype": "float32", "heads": heads, "N": N,
            "D": D, "options": {"kv_heads": kv_heads, "splits": parts}, "bytes": nbytes,
            "seconds": probes.timing(found), "bytes_per_second": nbytes / found.median,
            "share_of_copy": round(nbytes / found.median / copy, 4), "correct": correct,
        })  # fmt: skip
    return {"decoding": ncu.add_counts(rows, MODULE, "decoding", OF_DECODING, "decode")}


def cached(
    shapes: tuple[tuple[int, ...], ...] = CACHES, splits: tuple[int, ...] = SPLITS
) -> Iterator[tuple[tuple[int, ...], int, Callable[[], object], Callable[[], bool]]]:
    """Each shape, its splits, both launches, and what makes them and says if they are right."""
    for shape in shapes:
        heads, kv_heads, N, D = shape
        random = cupy.random.default_rng(1)
        Q = random.standard_normal((heads, D), dtype=np.float32)
        K, V = (random.standard_normal((kv_heads, N, D), dtype=np.float32) for _ in "KV")
        out = cupy.empty_like(Q)
        known = decoding.truth(*map(cupy.asnumpy, (Q, K, V)))
        for parts in splits:
            launch = decoding.Cached(Q, K, V, out).launcher(parts)

            def right(launch=launch, out=out, known=known) -> bool:
                out.fill(np.nan)
                launch()
                return bool(np.allclose(cupy.asnumpy(out), known, rtol=0, atol=1e-5))

            yield shape, parts, launch, right


# -------------------------------------------------------------------------------- gradients


def backwards(heads: int = SMALL[0], N: int = SMALL[1], D: int = SMALL[2]) -> Tables:
    """Forward with the gradients, in float32, and each of its launches: what each takes."""
    rows = []
    for causal in (False, True):
        arrays = given(heads, N, D, "float32")
        operands = backward.Gradients(*arrays, arrays[0])
        launches = operands.launches(causal)
        for launch in launches.values():
            launch()
        found = cupy.asnumpy(operands.found[:, :1])
        first = [cupy.asnumpy(array[:1]) for array in arrays]
        known = backward.exact(*first, first[0], causal)
        correct = bool((abs(found - known) <= 1e-4 * abs(known).max()).all())
        for name, launch in launches.items():
            timed, products = time_launch(launch), PRODUCTS[name]
            rows.append({
                "kernel": name, "engine": "numba", "dtype": "float32", "heads": heads, "N": N,
                "D": D, "causal": causal, "products": products, "seconds": probes.timing(timed),
                "flops": products / 2 * fused.flops(heads, N, D, causal) / timed.median,
                "correct": correct,
            })  # fmt: skip
    return {"gradients": ncu.add_counts(rows, MODULE, "gradients", OF_GRADIENTS)}


def counted(table: str) -> Iterator[Callable[[], object]]:
    """What `ncu.add_counts` counts of a table, in the order of its rows."""
    if table == "decoding":
        yield from (launch for _, _, launch, _ in cached())
    elif table == "gradients":
        Q, K, V = given(*SMALL, "float32")
        for causal in (False, True):
            yield from backward.Gradients(Q, K, V, Q).launches(causal).values()
    else:
        for _, takes, launch, _ in in_numba(given(*SHAPES[0], "bfloat16"), "bfloat16"):
            if takes(device().compute_capability):
                yield launch


def with_shares(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each row its speed as a share of PyTorch's fastest and of its flash kernel."""

    def case(row):
        return row["heads"], row["N"], row["D"], row["causal"]

    peers: dict[tuple, dict[str, float]] = {}
    for one in rows:
        if one["engine"] == "library":
            peers.setdefault(case(one), {})[one["kernel"]] = one["flops"]
    for one in rows:
        found = peers.get(case(one), {})
        if found and one["engine"] != "library" and one["dtype"] != "float32":
            one["share_of_best"] = round(one["flops"] / max(found.values()), 4)
            if "PyTorch, flash" in found:
                one["share_of_flash"] = round(one["flops"] / found["PyTorch, flash"], 4)
    return rows


if __name__ == "__main__":
    if len(sys.argv) > 1:
        ncu.launch_marked(counted(sys.argv[1]))
        sys.exit()
    for step in steps():
        for name, rows in step.measure().items():
            for one in rows:
                print(name, json.dumps(one))

"""``wgmma``: products of a warpgroup, which read shared memory and write registers on their own.

A product is one operation of four warps: it begins when all have asked, and a warp that waits for
it waits for the shares of all. So does an H200: where one warp ran ahead by up to 100 µs, waited,
and overwrote B, the sums of those that asked later were right in each of 1200 blocks. Of another
warpgroup, a wait says nothing.
"""

from __future__ import annotations

import ast
from functools import lru_cache

import numpy as np

from ..sites import Kind
from .blocks import Block, Wait, Warp, here, spread, together
from .clocks import ClockedAccess, words_of
from .copies import CHUNK, SWIZZLE_BITS, swizzled
from .formats import SIZES, floats
from .fragments import count_products, matrix_of, registers, touched

ROWS, K_BYTES, WARPS = 64, 32, 4
SWIZZLES = (0, 128, 64, 32)  # by the two highest bits of a descriptor
WHO = "the 128 threads of a warpgroup"


class Warpgroup:
    """Four warps, and the products that they have asked for.

    Attributes
    ----------
    products : list of Product
    issued, committed, waited : list of int
        Of each warp: products, groups closed, groups known to be over.
    """

    def __init__(self, block: Block, index: int):
        self.block, self.index, self.actor = block, index, block.cluster.actor()
        self.products: list[WgmmaProduct] = []
        self.issued, self.committed, self.waited = ([0] * WARPS for _ in range(3))
        self.done = self.over = 0  # products computed, and those that somebody has waited for


class WgmmaProduct:
    """One product that a warpgroup asks for; parameters as `wgmma`."""

    def __init__(self, group, n, number: int, committed: int, choices: dict, a, b, add: bool):
        self.warpgroup, self.line, self.number = group, n.lineno, number
        self.group_number = committed
        self.choices, self.a, self.b, self.add = choices, a, b, add
        self.sums: list = [None] * WARPS
        self.left: list = [None] * WARPS

    def land(self) -> None:
        """Read both operands, and write the sums; those before it come first."""
        group = self.warpgroup
        while group.done <= self.number:
            product = group.products[group.done]
            group.done += 1
            if product in group.block.cluster.flying:
                group.block.cluster.flying.remove(product)
            product.compute()

    def compute(self) -> None:
        """The product, once."""
        block = self.warpgroup.block
        block.cluster.note("computed", block, self.line, of=self)
        memory, dtype = block.memory, self.choices["dtype"]
        columns = self.choices["columns"]
        if self.a is None:
            A = np.concatenate([matrix_of(w, dtype) for w in self.left])
        else:
            A = operand(memory, self.a, ROWS, self.choices["transposed_A"], dtype)
        B = operand(memory, self.b, columns, self.choices["transposed_B"], dtype)
        sums = (A @ B.T).reshape(WARPS, 2, 8, columns // 8, 4, 2)
        sums = sums.transpose(0, 3, 1, 5, 2, 4).reshape(WARPS, columns // 2, 32)
        for own, some in zip(self.sums, sums, strict=True):
            if self.add:
                own += some
            else:
                own[...] = some


def unpacked(descriptor: int) -> tuple[int, int, int, int]:
    """Start, leading and stride in bytes, and bytes of the swizzle of a descriptor."""
    start, leading, stride = ((descriptor >> bit & 0x3FFF) << 4 for bit in (0, 16, 32))
    return start, leading, stride, SWIZZLES[descriptor >> 62 & 3]


@lru_cache(maxsize=256)
def chunks_of(leading: int, stride: int, swizzle: int, rows: int, by_rows: bool) -> np.ndarray:
    """Where an operand's 16-byte pieces lie behind its start, before the swizzle.

    Parameters
    ----------
    rows : int
        Of A, or columns of B.
    by_rows : bool
        Whether the numbers of one value of k lie side by side: shape (16, rows // 8). Otherwise
        those of a row do: shape (rows, 2).
    """
    wide = max(swizzle, CHUNK)  # bytes of a row within the pattern
    if not by_rows:
        r, c = np.arange(rows)[:, None], np.arange(K_BYTES // CHUNK)
        step = CHUNK if swizzle else leading
        return r // 8 * stride + r % 8 * wide + c * step
    k, c = np.arange(16)[:, None], np.arange(rows // 8)
    if not swizzle:
        return c * stride + k // 8 * leading + k % 8 * CHUNK
    per_panel = swizzle // CHUNK
    return c // per_panel * leading + k // 8 * stride + k % 8 * wide + c % per_panel * CHUNK


def places(descriptor: int, rows: int, by_rows: bool) -> np.ndarray:
    """Addresses of an operand's 16-byte pieces."""
    start, leading, stride, swizzle = unpacked(descriptor)
    pieces = (start + chunks_of(leading, stride, swizzle, rows, by_rows)) & 0x3FFFF
    return swizzled(pieces, swizzle)


def operand(memory, descriptor: int, rows: int, by_rows: bool, dtype: str) -> np.ndarray:
    """An operand as float32, shape (rows, k)."""
    pieces = memory.reshape(-1, CHUNK)[places(descriptor, rows, by_rows) // CHUNK]
    numbers = floats(pieces.reshape(pieces.shape[0], -1), dtype)
    return numbers.T if by_rows else numbers


# -- what threads call


def wgmma(run, n, m, acc, a, b, add, **choices):
    """``wgmma(columns, dtype, a_in, transposed_B, transposed_A)(acc, a, b, add)``."""
    warp = here(run)
    block = warp.block
    together(run, n, m, WHO)
    group, w = _group(warp, n)
    if group is None:
        return
    columns, dtype = choices["columns"], choices["dtype"]
    in_shared = choices["a_in"] == "shared"
    a_bits = int(spread(run, a)[0]) if in_shared else None
    b_bits, adds = int(spread(run, b)[0]), bool(spread(run, add)[0])
    k = group.issued[w]
    group.issued[w] += 1
    if k == len(group.products):
        group.products.append(
            WgmmaProduct(group, n, k, group.committed[w], choices, a_bits, b_bits, adds)
        )
    product = group.products[k]
    if (product.a, product.b, product.add, product.choices) != (a_bits, b_bits, adds, choices):
        message = (
            f"{ast.unparse(n)}: the warps of warpgroup {group.index} of block {block.number} ask "
            f"for different products (line {product.line} and line {n.lineno}): all 128 threads "
            "pass the same descriptors"
        )
        block.cluster.problem(Kind.DESCRIPTOR, n.lineno, message, block.number, warp.thread(0))
    product.sums[w] = registers(run, acc, columns // 2, n)
    if not in_shared:
        product.left[w] = registers(run, a, 4, n).view(np.uint32).reshape(2, 2, 32)
        product.left[w] = product.left[w].transpose(1, 0, 2)
    if not warp.registers_fenced:
        message = (
            f"wgmma of thread {warp.thread(0)} of block {block.number} uses registers that other "
            "instructions may still write: call wgmma_fence() before it, and again wherever the "
            "sums have been touched"
        )
        block.cluster.problem(Kind.REGISTER_FENCE, n.lineno, message, block.number, warp.thread(0))
        warp.registers_fenced = True
    _sums(run, n, acc, columns // 2, adds)
    busy = run.memory.in_flight.setdefault(acc.buffer, _Busy(warp, group))
    busy.parts[int(acc.offset), columns // 2] = group.committed[w], n.lineno
    count_products(run, n, "wgmma", dtype, 16 * columns * K_BYTES // SIZES[dtype])
    if min(group.issued) > k:
        _issued(run, n, product, warp)


def _sums(run, n, acc, count: int, adds: bool) -> None:
    """Sums that are added to must hold something."""
    written = run.tracer.written.get(acc.buffer) if run.tracer is not None else None
    if written is None:
        return
    start = int(acc.offset) * run.lanes.count
    part = written[start : start + count * run.lanes.count]
    if adds and not part.all():
        warp = here(run)
        message = (
            f"wgmma adds to {acc.name}, of which thread {warp.thread(0)} of block "
            f"{warp.block.number} has set nothing yet: pass 0 as `add` the first time"
        )
        warp.block.cluster.problem(
            Kind.UNINITIALISED, n.lineno, message, warp.block.number, warp.thread(0)
        )
    part[:] = True


def _group(warp: Warp, n) -> tuple[Warpgroup | None, int]:
    block = warp.block
    if len(block.warps) % WARPS:
        message = (
            f"{ast.unparse(n.func)} is called by {WHO}, and a block of {len(block.warps)} warps "
            "has a part of one: use a multiple of 128 threads"
        )
        block.cluster.problem(Kind.DESCRIPTOR, n.lineno, message, block.number)
        return None, 0
    while len(block.warpgroups) * WARPS < len(block.warps):
        block.warpgroups.append(Warpgroup(block, len(block.warpgroups)))
    return warp.warpgroup, warp.index % WARPS


def _issued(run, n, product: WgmmaProduct, warp: Warp) -> None:
    """All four warps have asked: what it reads is checked, and it may happen from now on."""
    group, block = product.warpgroup, warp.block
    warps = block.warps[WARPS * group.index : WARPS * group.index + WARPS]
    clock = np.minimum.reduce([w.clock for w in warps])
    fenced = np.minimum.reduce([w.fenced for w in warps])
    step = group.committed[warp.index % WARPS] + 1
    choices = product.choices
    operands = [(product.b, choices["columns"], choices["transposed_B"], "B")]
    if product.a is not None:
        operands.append((product.a, ROWS, choices["transposed_A"], "A"))
    if block.cluster.timeline is not None:
        reads = [places(bits, rows, how) for bits, rows, how, _ in operands]
        stretches = [(int(r.min()), int(r.max()) + CHUNK) for r in reads]
        block.cluster.note("product", block, n.lineno, warp.index, where=stretches, of=product)
    for descriptor, rows, how, name in operands:
        if not _described(block, n, descriptor, rows, how, name, warp):
            continue
        if block.words is None:
            continue
        swizzle = unpacked(descriptor)[3]
        event = ClockedAccess(
            "wgmma", n.lineno, block.number, warp.thread(0), True, swizzle, reads=True
        )
        where = words_of(places(descriptor, rows, how).reshape(-1), CHUNK)
        _agrees(block, where, swizzle, event, name)
        block.reads(where, warp, event, group.actor, step, (clock, fenced))
    block.cluster.ask(product)


def _described(block: Block, n, descriptor: int, rows: int, by_rows, name: str, warp) -> bool:
    """Note descriptors that point to something else than a matrix of the block's own."""
    start, leading, stride, swizzle = unpacked(descriptor)
    pieces = places(descriptor, rows, by_rows)
    problem = None
    low, high = int(pieces.min()), int(pieces.max())
    if not (block.has(low, CHUNK) and block.has(high, CHUNK)):
        problem = (
            f"reads bytes {low} to {high + CHUNK} of shared memory, and the block's own end at "
            f"{block.end}"
        )
    elif swizzle and start >> 7 & SWIZZLE_BITS[swizzle]:
        problem = (
            f"starts at {start}, within the pattern of its swizzle: {swizzle} bytes repeat every "
            f"{8 * swizzle}, so start a tile on such a boundary"
        )
    if problem is None:
        return True
    message = (
        f"{ast.unparse(n.func)}: the descriptor of {name} (leading {leading}, stride {stride}, "
        f"swizzle {swizzle}) {problem}"
    )
    block.cluster.problem(
        Kind.DESCRIPTOR, n.lineno, message, block.number, warp.thread(0), key=(name,)
    )
    return problem.startswith("starts")


def _agrees(block: Block, where, swizzle: int, event: ClockedAccess, name: str) -> None:
    """Note a tile that was laid in one pattern, and is read in another."""
    words = block.words
    numbers = np.unique(words.write_events[where][words.written[where] > 0])
    for first in (words.events[k] for k in numbers):
        if first.swizzle is not None and first.swizzle != swizzle:
            message = (
                f"wgmma reads {name} with a swizzle of {swizzle} bytes, and the copy of line "
                f"{first.line} has laid it with one of {first.swizzle}: use the same in both"
            )
            block.cluster.problem(
                Kind.SWIZZLE, event.line, message, block.number, event.thread,
                key=(name, first.line), other_line=first.line,
            )  # fmt: skip
            return


class _Busy:
    """A local array of sums, called where ordinary code touches some of its elements.

    `parts` holds the group and the line of the last product that writes some elements, by the
    first of them and how many they are.
    """

    def __init__(self, warp: Warp, group: Warpgroup):
        self.warp, self.group = warp, group
        self.parts: dict[tuple[int, int], tuple[int, int]] = {}

    def __call__(self, n, elements) -> None:
        self.warp.registers_fenced = False
        low, high = int(np.min(elements)), int(np.max(elements))
        for (start, count), (number, line) in self.parts.items():
            if start <= high and low < start + count:
                self.check(n, number, line)

    def check(self, n, number: int, line: int) -> None:
        """Note sums that the products of a group may still write."""
        group, w = self.group, self.warp.index % WARPS
        if number < group.waited[w]:
            return
        block = self.warp.block
        if number >= group.committed[w]:
            kind = Kind.COMMIT
            why = "whose group is not closed, so no wait is for it: call wgmma_commit_group()"
        else:
            kind, why = Kind.ACCUMULATORS, "which may still write them: call wgmma_wait_group first"
        message = (
            f"thread {self.warp.thread(0)} of block {block.number} touches the sums of wgmma of "
            f"line {line}, {why}"
        )
        block.cluster.problem(
            kind, n.lineno, message, block.number, self.warp.thread(0), other_line=line
        )


def matrix_descriptor(run, n, m, start, leading):
    """``matrix_descriptor(start, leading)``: 64 bits, with a stride of 1024 and 128 swizzled."""
    start, leading = (v.astype(np.uint64) for v in (start, leading))
    four, sixteen = np.uint64(4), np.uint64(16)
    low = start >> four & np.uint64(0x3FFF) | leading >> four << sixteen & np.uint64(0xFFFFFFFF)
    return low | np.uint64(1 << 62 | 1024 // 16 << 32)


def settle(run, n, m, numbers, count):
    """``settle(numbers, count)``: they are used here."""
    touched(run, numbers, int(count), n, "load")


def fence(run, n, m):
    """``wgmma_fence()``."""
    together(run, n, m, WHO)
    here(run).registers_fenced = True


def commit(run, n, m):
    """``wgmma_commit_group()``."""
    together(run, n, m, WHO)
    warp = here(run)
    group, w = _group(warp, n)
    if group is not None:
        group.committed[w] += 1


def wait_group(run, n, m, pending, *sums):
    """``wgmma_wait_group(pending, acc, count)`` (a generator)."""
    together(run, n, m, WHO)
    warp = here(run)
    group, w = _group(warp, n)
    if group is None:
        return
    wanted = group.committed[w] - int(pending)
    if wanted <= group.waited[w]:
        return

    def missing() -> str:
        behind = [WARPS * group.index + k for k in range(WARPS) if group.committed[k] < wanted]
        return f"warps {behind} to close group {wanted} of the products of warpgroup {group.index}"

    yield Wait(n.lineno, lambda: min(group.committed) >= wanted, missing)
    group.waited[w] = max(group.waited[w], wanted)
    last = group.waited[w]
    # What lies behind the last product of these groups may go on.
    for product in group.products[group.done :]:
        if product.group_number >= last:
            break
        product.land()
    for product in group.products[group.over :]:
        if product.group_number >= last:
            break
        group.over += 1
        warp.block.cluster.note("over", warp.block, n.lineno, warp.index, of=product)
    warp.clock[group.actor] = max(int(warp.clock[group.actor]), last)


FUNCTIONS = {
    "matrix_descriptor": matrix_descriptor,
    "settle": settle,
    "wgmma": wgmma,
    "wgmma_fence": fence,
    "wgmma_commit_group": commit,
}
WAITS = {"wgmma_wait_group": wait_group}

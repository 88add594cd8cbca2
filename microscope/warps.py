"""The functions of ``cuda`` by which the threads of a warp talk: shuffles, votes, ``syncwarp``.

Each gets the runner, the call's node and the mask of active lanes. Values come as rows of 32 lanes.
"""

from __future__ import annotations

import ast

import numpy as np

from . import values
from .errors import Unsupported
from .sites import WARP, Kind, Problem

LANES = np.arange(WARP, dtype=np.int64)


def _gather(run, n, m, members) -> None:
    """Note threads that a call's mask names, and that do not come to it."""
    if not values.is_value(members) or members.dtype.kind not in "iu":
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the first argument is a mask of lanes")
    if m.array is None:
        return
    lanes = run.lanes
    here = lanes.rows(lanes.full(m.array), False)
    names = lanes.rows(lanes.full(members.astype(np.int64)), 0)
    named = np.bitwise_or.reduce(np.where(here, names, 0), axis=2)[:, :, None] >> LANES & 1 == 1
    gone = np.zeros((1, 1, 1, 1), bool) if run.exited is None else run.array_of(run.exited)
    missing = lanes.from_rows(named & ~here) & ~gone
    if not missing.any():
        return
    block, thread, _ = lanes.first(missing)
    message = (
        f"{ast.unparse(n)} waits for thread {thread} of block {block}, which its mask names and "
        "which takes another way: call it where all threads named come by, or name fewer"
    )
    problem = Problem(
        Kind.DIVERGENT_BARRIER, line=n.lineno, block=block, thread=thread, message=message
    )
    run.problem((Kind.DIVERGENT_BARRIER, n), problem, run.lane_count(missing))


def syncwarp(run, n, m):
    """``cuda.syncwarp()``, or with a mask."""
    members = run.arguments(n, m) or [np.int64(0xFFFFFFFF)]
    _gather(run, n, m, members[0])
    if run.tracer is None:
        return
    lanes, threads = run.lanes, None
    if m.array is not None or lanes.warp is not None:
        number = lanes.block_number.reshape(-1, 1, 1, 1) * run.session.padded_threads
        threads = lanes.full(number + lanes.thread)[lanes.full(run.array_of(m))]
    for races in run.tracer.races.values():
        races.sync_warps(threads)


def _shuffle(source):
    def shuffle(run, n, m):
        members, v, lane = run.exactly(n, m, 3)
        _gather(run, n, m, members)
        lanes = run.lanes
        rows = lanes.rows(lanes.full(v), 0)
        wanted = source(LANES, lanes.rows(lanes.full(lane).astype(np.int64), 0))
        own = np.broadcast_to(LANES, rows.shape)
        exists = lanes.rows(lanes.full(np.bool_(True)), False)
        inside = (wanted >= 0) & (wanted < WARP)
        inside &= np.take_along_axis(exists, wanted % WARP, axis=2)
        wanted = np.where(inside, wanted, own)
        return lanes.from_rows(np.take_along_axis(rows, wanted, axis=2))

    return shuffle


def _vote(decide):
    """Make an intrinsic out of a function of (predicate, active), both (blocks, warps, 32)."""

    def vote(run, n, m):
        members, predicate = run.exactly(n, m, 2)
        if not values.is_value(predicate) or predicate.dtype.kind not in "biu":
            raise Unsupported(
                n.lineno, f"{ast.unparse(n)}: takes a condition or an integer: compare the float"
            )
        _gather(run, n, m, members)
        lanes = run.lanes
        active = lanes.rows(lanes.full(run.array_of(m)), False)
        chosen = lanes.rows(lanes.full(values.truth(predicate)), False)
        answer = decide(chosen, active)
        return lanes.from_rows(np.broadcast_to(answer[:, :, None], chosen.shape))

    return vote


def _bits(chosen: np.ndarray) -> np.ndarray:
    """Lanes of each warp as the bits of an int32."""
    return (
        (chosen.astype(np.uint32) << LANES.astype(np.uint32))
        .sum(axis=2, dtype=np.uint32)
        .view(np.int32)
    )


def match_any(run, n, m):
    """``cuda.match_any_sync(mask, v)``: the lanes that hold the same value."""
    members, v = run.exactly(n, m, 2)
    _gather(run, n, m, members)
    lanes = run.lanes
    rows = lanes.rows(lanes.full(v), 0)
    active = lanes.rows(lanes.full(run.array_of(m)), False)
    same = (rows[:, :, :, None] == rows[:, :, None, :]) & active[:, :, None, :]
    bits = (same.astype(np.uint32) << LANES.astype(np.uint32)).sum(axis=3, dtype=np.uint32)
    return lanes.from_rows(bits.view(np.int32))


def match_all(run, n, m):
    """``cuda.match_all_sync(mask, v)``: all lanes if all hold the same value, and whether so."""
    members, v = run.exactly(n, m, 2)
    _gather(run, n, m, members)
    lanes = run.lanes
    rows = lanes.rows(lanes.full(v), 0)
    active = lanes.rows(lanes.full(run.array_of(m)), False)
    first = np.take_along_axis(rows, np.argmax(active, axis=2)[:, :, None], axis=2)
    same = ((rows == first) | ~active).all(axis=2)
    bits = np.where(same, _bits(np.broadcast_to(active, rows.shape)), np.int32(0))
    return tuple(
        lanes.from_rows(np.broadcast_to(part[:, :, None], rows.shape)) for part in (bits, same)
    )


def activemask(run, n, m):
    """``cuda.activemask()``: the lanes that run this together."""
    rows = run.lanes.rows(run.lanes.full(run.array_of(m)), False)
    bits = _bits(rows).astype(np.uint32)
    return run.lanes.from_rows(np.broadcast_to(bits[:, :, None], rows.shape))


def lanemask_lt(run, n, m):
    """``cuda.lanemask_lt()``: the bits of all lanes below one's own."""
    return ((np.int64(1) << (run.lanes.thread % WARP)) - 1).astype(np.uint32)


FUNCTIONS = {
    "syncwarp": syncwarp,
    "shfl_sync": _shuffle(lambda own, lane: lane % WARP),
    "shfl_up_sync": _shuffle(lambda own, delta: own - delta),
    "shfl_down_sync": _shuffle(lambda own, delta: own + delta),
    "shfl_xor_sync": _shuffle(lambda own, mask: own ^ mask),
    "ballot_sync": _vote(lambda p, active: _bits(p & active)),
    "all_sync": _vote(lambda p, active: (p | ~active).all(axis=2)),
    "any_sync": _vote(lambda p, active: (p & active).any(axis=2)),
    "eq_sync": _vote(lambda p, active: (p | ~active).all(axis=2) | ~(p & active).any(axis=2)),
    "match_any_sync": match_any,
    "match_all_sync": match_all,
    "activemask": activemask,
    "lanemask_lt": lanemask_lt,
}

"""A pipeline of copies and products, step by step, as a trace of the reader's kernel has it."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import traitlets

from kernels.lab.widgets.base import Widget
from kernels.lab.widgets.micro.words import count

MOST_STEPS = 160  #: of a picture
WARPGROUP = 4  # warps
DEADLOCK = "deadlock"
DOES = {"request": "copies", "product": "products", "store": "stores"}


class PipelinePlayer(Widget):
    """What happens when in one block; `pipeline_player` makes it of a trace.

    Attributes
    ----------
    kernel : str
    steps : int
        How many the picture has.
    stages, roles : list
        ``[label, [[from, to, state], …]]`` each, by step, `to` not included. A stage is "coming"
        from the request to the arrival of its last copy, then "full", and "read" from the first
        product that reads it until somebody has waited for the last. A role "acts", "waits" or
        "runs".
    barriers : list
        ``[label, [step, …], [step, …]]`` each: when a phase ended, and when somebody arrived.
    notes : list
        For every step, ``[[label, what it does and waits for], …]``: each role that has not ended,
        and the copies and phases that come to their end.
    numbers : list
        ``[what, how often]`` each.
    problems : list of str
        What the trace reports.
    stuck : bool
        Whether nothing could go on in the last step.
    at : int
        The step at the cursor, counted from 0.
    """

    shown = ("kernel", "at")

    kernel = traitlets.Unicode().tag(sync=True)
    steps = traitlets.Int(1).tag(sync=True)
    stages = traitlets.List().tag(sync=True)
    roles = traitlets.List().tag(sync=True)
    barriers = traitlets.List().tag(sync=True)
    notes = traitlets.List([[]]).tag(sync=True)
    numbers = traitlets.List().tag(sync=True)
    problems = traitlets.List().tag(sync=True)
    stuck = traitlets.Bool(False).tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("at")
    def _within(self, proposal: dict[str, Any]) -> int:
        if not 0 <= proposal["value"] < self.steps:
            raise traitlets.TraitError(f"at is {proposal['value']}: use 0 to {self.steps - 1}")
        return proposal["value"]


def pipeline_player(seen, block: int = 0, at: int | None = None) -> PipelinePlayer:
    """Return the player of a trace: who asks, waits, multiplies and hands back, step by step.

    In a step, every warp that can goes on until it has to wait: steps say what comes before what,
    not how long it takes.

    Parameters
    ----------
    seen : microscope.trace.Trace
        Of a kernel with asynchronous copies or products, such as
        ``trace(kernel, grid, block, *arguments, shared_bytes=…, landing="mixed")``.
    block : int
        Rank of the block in the first cluster.
    at : int, optional
        Step to begin with; else the last if nothing can go on, or the first with a product.

    Raises
    ------
    ValueError
        If the trace has no such step or block, or nothing asynchronous.

    Examples
    --------
    >>> pipeline_player(trace(kernel, 1, 384, map_A, map_B, C, M, N, K, shared_bytes=n))
    """
    line = seen.timeline
    if line is None:
        raise ValueError(
            f"{seen.kernel} has no asynchronous copy or product: trace a kernel with cp.async, TMA "
            "or wgmma"
        )
    blocks = sorted({b for b, _ in line.ended} | {w.block for w in line.waits})
    if block not in blocks:
        raise ValueError(f"block {block}: the first cluster has blocks 0 to {blocks[-1]}")
    found = _Block(line, block)
    steps = min(line.ticks, MOST_STEPS)
    stuck = any(p.kind == DEADLOCK for p in seen.problems) and line.ticks <= MOST_STEPS
    products = [h.tick - 1 for h in found.happenings if h.what == "product"]
    if at is None:
        at = steps - 1 if stuck else min(products, default=0)
    if not 0 <= at < steps:
        raise ValueError(f"step {at}: the picture has steps 0 to {steps - 1}")
    return PipelinePlayer(
        kernel=seen.kernel,
        steps=steps,
        stages=found.stages(steps),
        roles=[[label, found.acts(warps, steps)] for label, warps in found.roles.items()],
        barriers=found.phases(steps),
        notes=[found.notes(step) for step in range(steps)],
        numbers=found.numbers(steps),
        problems=[str(problem) for problem in seen.problems],
        stuck=stuck,
        at=min(at, steps - 1),
    )


class _Block:
    """One block of a timeline; steps count from 0, ticks from 1."""

    def __init__(self, line, block: int):
        self.happenings = [h for h in line.happenings if h.block == block]
        self.ended = {w: tick - 1 for (b, w), tick in line.ended.items() if b == block}
        self.last = line.ticks
        self.waits: dict[int, list] = defaultdict(list)
        for w in line.waits:
            if w.block == block:
                self.waits[w.warp].append(w)
        self.names = _names({at: text for (b, at), text in line.barriers.items() if b == block})
        self.by_step: dict[int, list] = defaultdict(list)
        for h in self.happenings:
            self.by_step[h.tick - 1].append(h)
        self.parts = self._parts()
        self.roles = self._roles()

    # -- who and where

    def _roles(self) -> dict[str, list[int]]:
        """Warps by role: whole warpgroups, but for those that only ask for copies and stores."""
        warps = sorted(self.waits.keys() | self.ended.keys())
        large = len(warps) >= 2 * WARPGROUP or any(h.what == "product" for h in self.happenings)
        size = WARPGROUP if large else 1
        roles = {}
        for first in range(0, len(warps), size):
            group = warps[first : first + size]
            does = defaultdict(set)
            for h in self.happenings:
                if h.warp in group and h.what in DOES:
                    does[DOES[h.what]].add(h.warp)
            if does and not does.keys() & {"products"}:
                group = sorted(set().union(*does.values()))
            what = " and ".join(does)
            roles[_warps(group) + (f": {what}" if what else "")] = group
        return roles

    def _parts(self) -> list[set[tuple[int, int]]]:
        """The stretches of shared memory that copies fill together: a stage each."""
        by_barrier: dict[Any, set] = defaultdict(set)
        for h in self.happenings:
            if h.what == "request":
                for stretch in h.where:
                    by_barrier[h.barrier if h.barrier is not None else stretch].add(stretch)
        merged: list[set] = []  # copies of small pieces that lie side by side
        for _, some in sorted(by_barrier.items(), key=lambda pair: min(pair[1])):
            if merged and any(_meet(a, b) for a in merged[-1] for b in some):
                merged[-1] |= some
            else:
                merged.append(set(some))
        return merged

    def stage_of(self, where) -> list[int]:
        """The stages that some stretches of shared memory lie in."""
        return [
            k for k, part in enumerate(self.parts) if any(_meet(a, b) for a in part for b in where)
        ]

    # -- over the steps

    def stages(self, steps: int) -> list:
        """Each stage's states."""
        found = []
        flying: list[set] = [set() for _ in self.parts]
        reading: list[set] = [set() for _ in self.parts]
        state = [""] * len(self.parts)
        rows: list[list[str]] = [[] for _ in self.parts]
        of: dict[int, list[int]] = {}
        for step in range(steps):
            shown = list(state)
            for h in self.by_step[step]:
                if h.what in ("request", "product"):
                    of[h.number] = self.stage_of(h.where)
                for k in of.get(h.number, ()):
                    if h.what == "request":
                        flying[k].add(h.number)
                        state[k] = shown[k] = "coming"
                    elif h.what == "land":
                        flying[k].discard(h.number)
                        if not flying[k]:
                            state[k] = "full"
                            shown[k] = shown[k] or "full"
                    elif h.what == "product":
                        reading[k].add(h.number)
                        state[k] = shown[k] = "read"
                    elif h.what == "over":
                        reading[k].discard(h.number)
                        if not reading[k] and state[k] == "read":
                            state[k] = ""
            for k, row in enumerate(rows):
                row.append(shown[k])
        for k, row in enumerate(rows):
            found.append([f"stage {k}", _runs(row)])
        return found

    def acts(self, warps: list[int], steps: int) -> list:
        """The states of a role."""
        row = []
        for step in range(steps):
            if any(h.warp in warps for h in self.by_step[step]):
                row.append("acts")
            elif self.waiting(warps, step):
                row.append("waits")
            else:
                row.append("" if self.gone(warps, step) else "runs")
        return _runs(row)

    def gone(self, warps: list[int], step: int) -> bool:
        return all(self.ended.get(w, self.last) <= step for w in warps)

    def waiting(self, warps: list[int], step: int):
        """What the first warp of a role that waits at the end of a step waits for."""
        for w in warps:
            past = [one for one in self.waits[w] if one.tick - 1 <= step]
            if past and past[-1].missing:
                return past[-1]
        return None

    def phases(self, steps: int) -> list:
        """When phases of each mbarrier end, and who arrives when."""
        found = []
        for at, name in sorted(self.names.items()):
            of = [h for h in self.happenings if h.barrier == at and h.tick <= steps]
            if of:
                ends, arrivals = (
                    [h.tick - 1 for h in of if h.what == what] for what in ("phase", "arrive")
                )
                found.append([name, ends, sorted(set(arrivals))])
        return found

    # -- in words

    def notes(self, step: int) -> list:
        """What happens in a step, and what everybody waits for at its end."""
        said = []
        for label, warps in self.roles.items():
            if self.gone(warps, step - 1):
                continue
            own = [h for h in self.by_step[step] if h.warp in warps]
            parts = [words for words in self.deeds(own) if words]
            waiting = self.waiting(warps, step)
            if waiting is not None:
                parts.append(f"waits at line {waiting.line} for {self.short(waiting)}")
            elif self.gone(warps, step):
                parts.append("ends")
            elif not parts:
                parts.append("goes on")
            said.append([label, "; ".join(parts)])
        landed = [h for h in self.by_step[step] if h.what == "land"]
        ended = [h for h in self.by_step[step] if h.what == "phase"]
        units = []
        if landed:
            units.append(f"{count(len(landed), 'copy').replace('copys', 'copies')} landed")
        units += [f"phase {h.number} of {self.names.get(h.barrier)} ended" for h in ended]
        if units:
            said.append(["memory", "; ".join(units)])
        return said

    def deeds(self, own: list):
        """What a role does in a step."""
        into: dict[str, int] = defaultdict(int)
        arrived, over = [], 0
        products: dict[str, int] = defaultdict(int)
        stores = 0
        for h in own:
            if h.what == "request":
                into[self.stage_names(h.where)] += 1
            elif h.what == "product":
                products[self.stage_names(h.where)] += 1
            elif h.what == "arrive":
                arrived.append(self.names.get(h.barrier, "an mbarrier"))
            stores += h.what == "store"
            over += h.what == "over"
        for where, n in into.items():
            yield f"requests {count(n, 'copy').replace('copys', 'copies')} into {where}"
        if over:
            yield f"{count(over, 'product')} over"
        for where, n in products.items():
            yield f"issues {count(n, 'product')} on {where}"
        if stores:
            yield f"stores {count(stores, 'box').replace('boxs', 'boxes')}"
        if arrived:
            yield "arrives at " + ", ".join(dict.fromkeys(arrived))

    def stage_names(self, where) -> str:
        named = self.stage_of(where)
        return " and ".join(f"stage {k}" for k in named) if named else "shared memory"

    def short(self, waiting) -> str:
        """What somebody waits for, in fewer words."""
        name = self.names.get(waiting.barrier)
        parts = re.match(r"the end of phase (\d+) .*?, which (.*)$", waiting.missing)
        if name is None or parts is None:
            return waiting.missing
        return f"phase {parts[1]} of {name}, which {parts[2]}"

    def numbers(self, steps: int) -> list:
        """How often something happens, for a table."""
        found = []
        for label, warps in self.roles.items():
            waits = sum(to - start for start, to, s in self.acts(warps, steps) if s == "waits")
            found.append([f"{label}, steps that it only waits", waits])
        for k, part in enumerate(self.parts):
            fills = {
                h.tick for h in self.happenings
                if h.what == "request" and h.tick <= steps and set(h.where) & part
            }  # fmt: skip
            found.append([f"stage {k}, times that copies are asked for", len(fills)])
        for name, ends, _ in self.phases(steps):
            found.append([f"{name}, phases ended", len(ends)])
        return found


def _names(texts: dict[int, str]) -> dict[int, str]:
    """Short names of mbarriers: the variable they are named by, and a number if it has several."""
    by_word: dict[str, list[int]] = defaultdict(list)
    for at, text in sorted(texts.items()):
        word = re.search(r"[A-Za-z_]\w*", text)
        by_word[word[0] if word else "barrier"].append(at)
    return {
        at: f"{word} {k}" if len(places) > 1 else word
        for word, places in by_word.items()
        for k, at in enumerate(places)
    }


def _warps(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"warp {numbers[0]}"
    return f"warps {numbers[0]}–{numbers[-1]}"


def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _runs(row: list[str]) -> list:
    """States step by step as ``[from, to, state]``, those of none left out."""
    found: list = []
    for step, state in enumerate(row):
        if found and found[-1][2] == state and found[-1][1] == step:
            found[-1][1] = step + 1
        else:
            found.append([step, step + 1, state])
    return [run for run in found if run[2]]

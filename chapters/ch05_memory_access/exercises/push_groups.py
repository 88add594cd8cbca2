"""Particles in groups of 32: an array of structs of arrays."""

import numpy as np

from kernels.lab.exercises.arrays import Numbers, cdiv, wide
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import (
    FINE,
    MULTIPLE,
    ODD,
    KernelExercise,
    Quota,
    Suspect,
    Trial,
)
from kernels.lab.exercises.flaws import Flaw

BLOCK, LANES, FIELDS, AXES = 128, 32, 8, 3


def trials(seed=0):
    shapes = (3, AXES, ODD), (1, AXES - 1, FINE), (8, AXES, MULTIPLE)
    return [_trial(*shape, seed) for shape in shapes]


def _trial(groups, axes, role, seed):
    numbers = Numbers(role, seed, groups, axes)
    dt, start = numbers.scalar(), numbers(groups, FIELDS, LANES, low=-9, high=9)
    moved, magnitude = wide(start), abs(start)
    moved[:, :axes] += wide(dt) * start[:, AXES : AXES + axes]
    magnitude[:, :axes] += abs(dt * start[:, AXES : AXES + axes])

    def suspects():
        without = start.copy()
        without[:, :axes] += start[:, AXES : AXES + axes]
        yield Suspect(Flaw.WRONG, "dt is not used", without)
        one = start.copy()
        one[:, :1] += dt * start[:, AXES : AXES + 1]
        yield Suspect(Flaw.WRONG, "only the first axis moves", one)
        if axes < AXES:
            every = start.copy()
            every[:, :AXES] += dt * start[:, AXES : 2 * AXES]
            yield Suspect(Flaw.WRONG, f"all {AXES} axes move: only the first `axes` may", every)

    arguments = {"particles": start, "dt": dt, "axes": np.int32(axes)}
    grid = (cdiv(groups * LANES, BLOCK),)
    label = f"{groups} groups, {axes} axes"
    want, bounds = {"particles": moved}, numbers.bounds("particles", 2, magnitude)
    return Trial(label, grid, (BLOCK,), arguments, want, bounds, suspects, role)


EXERCISE = KernelExercise(
    name="push-groups",
    title="particles in groups of 32",
    text="""
    @cuda.jit
    def push_groups(particles, dt, axes):
        i = cuda.grid(1)
        # --- yours, from here
        group, lane = i // 32, i % 32
        if group < particles.shape[0]:
            for axis in range(axes):
                particles[group, axis, lane] += dt * particles[group, 3 + axis, lane]
        # --- to here
    """,
    trials=trials,
    hints=(
        "The lanes of a warp handle the 32 particles of one group. Which index of the array should"
        " change from lane to lane?",
        "With `group, lane = i // 32, i % 32`, a field of that particle is `particles[group,"
        " field, lane]`.",
        "The guard compares the group with `particles.shape[0]`; in the loop,"
        " `particles[group, axis, lane] += dt * particles[group, 3 + axis, lane]`.",
    ),
    after="Each request touches 4 sectors, as in a struct of arrays, and all fields of a particle"
          " lie within one kilobyte.",
    budgets=(
        Quota(
            "sectors", 3 * AXES * 3 * 4, global_count("sectors"),
            "neighbouring lanes must load neighbouring floats: let the last index change from lane"
            " to lane",
        ),
    ),
)  # fmt: skip

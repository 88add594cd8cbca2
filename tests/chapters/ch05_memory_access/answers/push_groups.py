"""Particles in groups of 32."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

PLACE = "particles[group, axis, lane]"
SPEED = "particles[group, 3 + axis, lane]"
WRONG = [
    ("no guard", "if group < particles.shape[0]:", "if True:", Flaw.MISSING_GUARD),
    ("guard with <=", "group < particles", "group <= particles", Flaw.MISSING_GUARD),
    (
        "guard on the wrong size",
        "particles.shape[0]",
        "particles.shape[1]",
        (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS),
    ),
    (
        "guard on the lane",
        "if group < particles.shape[0]:",
        "if lane < particles.shape[0]:",
        (Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD),
    ),
    ("group and lane exchanged", "i // 32, i % 32", "i % 32, i // 32", Flaw.UNWRITTEN),
    ("groups of 16", "i // 32, i % 32", "i // 16, i % 16", Flaw.UNWRITTEN),
    ("eight fields a group", "i // 32, i % 32", "i // 8, i % 8", Flaw.UNWRITTEN),
    ("dt left out", "dt * ", "", Flaw.WRONG),
    ("one axis only", "range(axes)", "range(1)", Flaw.WRONG),
    ("place in the block only", "cuda.grid(1)", "cuda.threadIdx.x", (Flaw.RACE, Flaw.WRONG)),
    ("loads more than it needs", SPEED, f"{SPEED} + {SPEED} - {SPEED}", Flaw.BUDGET),
    (
        "step made whole",
        "dt * particles[group, 3 + axis, lane]",
        "int(dt * particles[group, 3 + axis, lane])",
        (Flaw.ROUNDED, Flaw.WRONG),
    ),
    (
        "step in half precision",
        "dt * particles[group, 3 + axis, lane]",
        "float16(dt * particles[group, 3 + axis, lane])",
        Flaw.ROUNDED,
    ),
]
RIGHT = [
    ("the sum written out", f"{PLACE} += dt * {SPEED}", f"{PLACE} = {PLACE} + dt * {SPEED}"),
    ("divmod by shifts", "i // 32, i % 32", "i >> 5, i & 31"),
]

"""Particles in groups of 32."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

PLACE = "particles[group, axis, lane]"
SPEED = "particles[group, 3 + axis, lane]"
WRONG = [
    ("no guard", "if group < particles.shape[0]:", "if True:", Kind.MISSING_GUARD),
    ("guard with <=", "group < particles", "group <= particles", Kind.MISSING_GUARD),
    (
        "guard on the wrong size",
        "particles.shape[0]",
        "particles.shape[1]",
        (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    (
        "guard on the lane",
        "if group < particles.shape[0]:",
        "if lane < particles.shape[0]:",
        (Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD),
    ),
    ("group and lane exchanged", "i // 32, i % 32", "i % 32, i // 32", Kind.UNWRITTEN),
    ("groups of 16", "i // 32, i % 32", "i // 16, i % 16", Kind.UNWRITTEN),
    ("eight fields a group", "i // 32, i % 32", "i // 8, i % 8", Kind.UNWRITTEN),
    ("dt left out", "dt * ", "", Kind.WRONG),
    ("one axis only", "range(axes)", "range(1)", Kind.WRONG),
    ("place in the block only", "cuda.grid(1)", "cuda.threadIdx.x", (Kind.RACE, Kind.WRONG)),
    ("loads more than it needs", SPEED, f"{SPEED} + {SPEED} - {SPEED}", Kind.BUDGET),
    (
        "step made whole",
        "dt * particles[group, 3 + axis, lane]",
        "int(dt * particles[group, 3 + axis, lane])",
        (Kind.ROUNDED, Kind.WRONG),
    ),
    (
        "step in half precision",
        "dt * particles[group, 3 + axis, lane]",
        "float16(dt * particles[group, 3 + axis, lane])",
        Kind.ROUNDED,
    ),
]
RIGHT = [
    ("the sum written out", f"{PLACE} += dt * {SPEED}", f"{PLACE} = {PLACE} + dt * {SPEED}"),
    ("divmod by shifts", "i // 32, i % 32", "i >> 5, i & 31"),
]

"""A producer that has to wait for the opposite parity."""

from kernels.lab.exercises.kinds import Kind

WAIT = "ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)"
STORE = "ring[slot, lane] = A[step, lane]"
GIVE = "ptx.mbarrier_arrive(full + 8 * slot)"
RACES = (Kind.OVERWRITTEN, Kind.TOO_EARLY, Kind.MISSING_BARRIER, Kind.RACE)
WRONG = [
    ("the consumer's parity", WAIT, WAIT.replace(" ^ 1", ""), Kind.DEADLOCK),
    ("always parity 0", WAIT, WAIT.replace("parity ^ 1", "0"), Kind.DEADLOCK),
    ("always parity 1", WAIT, WAIT.replace("parity ^ 1", "1"), (*RACES, Kind.DEADLOCK)),
    ("no wait", WAIT, "pass", (*RACES, Kind.DEADLOCK)),
    ("waits for full", WAIT, WAIT.replace("empty", "full"), (*RACES, Kind.DEADLOCK)),
    ("waits for the other slot", WAIT, WAIT.replace("* slot", "* (1 - slot)"),
     (*RACES, Kind.DEADLOCK)),
    ("no arrival", GIVE, "pass", Kind.DEADLOCK),
    ("arrives at the other slot", GIVE, GIVE.replace("* slot", "* (1 - slot)"),
     (*RACES, Kind.DEADLOCK, Kind.UNINITIALISED)),
    ("arrives before it stores", f"{STORE}\n            {GIVE}", f"{GIVE}\n            {STORE}",
     (*RACES, Kind.UNINITIALISED)),
    ("one slot for all", STORE, STORE.replace("ring[slot", "ring[0"),
     (*RACES, Kind.UNINITIALISED, Kind.WRONG)),
    ("the first row every time", STORE, STORE.replace("A[step", "A[0"), Kind.WRONG),
    ("the same row mirrored", STORE, STORE.replace("A[step, lane]", "A[step, 31 - lane]"),
     (Kind.WRONG, Kind.SWAPPED)),
    ("arrives twice", GIVE, f"{GIVE}\n            {GIVE}",
     (*RACES, Kind.DEADLOCK, Kind.MISUSED, Kind.UNINITIALISED)),
]  # fmt: skip
RIGHT = [
    ("one minus the parity", "parity ^ 1", "1 - parity"),
    ("the first round needs no wait", WAIT,
     f"if step >= 2:\n                {WAIT}"),
]  # fmt: skip

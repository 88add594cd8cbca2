"""A producer that has to wait for the opposite parity."""

from kernels.lab.exercises.flaws import Flaw

WAIT = "ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)"
STORE = "ring[slot, lane] = A[step, lane]"
GIVE = "ptx.mbarrier_arrive(full + 8 * slot)"
RACES = (Flaw.OVERWRITTEN, Flaw.TOO_EARLY, Flaw.MISSING_BARRIER, Flaw.RACE)
WRONG = [
    ("the consumer's parity", WAIT, WAIT.replace(" ^ 1", ""), Flaw.DEADLOCK),
    ("always parity 0", WAIT, WAIT.replace("parity ^ 1", "0"), Flaw.DEADLOCK),
    ("always parity 1", WAIT, WAIT.replace("parity ^ 1", "1"), (*RACES, Flaw.DEADLOCK)),
    ("no wait", WAIT, "pass", (*RACES, Flaw.DEADLOCK)),
    ("waits for full", WAIT, WAIT.replace("empty", "full"), (*RACES, Flaw.DEADLOCK)),
    ("waits for the other slot", WAIT, WAIT.replace("* slot", "* (1 - slot)"),
     (*RACES, Flaw.DEADLOCK)),
    ("no arrival", GIVE, "pass", Flaw.DEADLOCK),
    ("arrives at the other slot", GIVE, GIVE.replace("* slot", "* (1 - slot)"),
     (*RACES, Flaw.DEADLOCK, Flaw.UNINITIALISED)),
    ("arrives before it stores", f"{STORE}\n            {GIVE}", f"{GIVE}\n            {STORE}",
     (*RACES, Flaw.UNINITIALISED)),
    ("one slot for all", STORE, STORE.replace("ring[slot", "ring[0"),
     (*RACES, Flaw.UNINITIALISED, Flaw.WRONG)),
    ("the first row every time", STORE, STORE.replace("A[step", "A[0"), Flaw.WRONG),
    ("the same row mirrored", STORE, STORE.replace("A[step, lane]", "A[step, 31 - lane]"),
     (Flaw.WRONG, Flaw.SWAPPED)),
    ("arrives twice", GIVE, f"{GIVE}\n            {GIVE}",
     (*RACES, Flaw.DEADLOCK, Flaw.MISUSED, Flaw.UNINITIALISED)),
]  # fmt: skip
RIGHT = [
    ("one minus the parity", "parity ^ 1", "1 - parity"),
    ("the first round needs no wait", WAIT,
     f"if step >= 2:\n                {WAIT}"),
]  # fmt: skip

"""A consumer that has to release a stage behind its last load."""

from kernels.lab.exercises.flaws import Flaw

WAIT = "ptx.mbarrier_wait_parity(full + 8 * slot, parity)"
READ = "acc += ring[slot, 31 - lane]"
RELEASE = "ptx.mbarrier_arrive(empty + 8 * slot)"
RACES = (Flaw.OVERWRITTEN, Flaw.TOO_EARLY, Flaw.MISSING_BARRIER, Flaw.RACE)
WRONG = [
    ("released before it is read", f"{READ}\n            {RELEASE}",
     f"{RELEASE}\n            {READ}", RACES),
    ("released before the wait", f"{WAIT}\n            {READ}\n            {RELEASE}",
     f"{RELEASE}\n            {WAIT}\n            {READ}", (*RACES, Flaw.DEADLOCK)),
    ("never released", RELEASE, "pass", Flaw.DEADLOCK),
    ("released by one lane", RELEASE, f"if lane == 0:\n                {RELEASE}", Flaw.DEADLOCK),
    ("the other slot is released", RELEASE, RELEASE.replace("* slot", "* (1 - slot)"),
     (*RACES, Flaw.DEADLOCK)),
    ("released in every second step", RELEASE,
     f"if step % 2 == 0:\n                {RELEASE}", Flaw.DEADLOCK),
    ("no wait", WAIT, "pass", (*RACES, Flaw.UNINITIALISED, Flaw.DEADLOCK)),
    ("the producer's parity", WAIT, WAIT.replace("parity)", "parity ^ 1)"),
     (*RACES, Flaw.UNINITIALISED, Flaw.DEADLOCK)),
    ("reads the other slot", READ, READ.replace("slot,", "1 - slot,"),
     (*RACES, Flaw.UNINITIALISED)),
    ("its own column", READ, READ.replace("31 - lane", "lane"), (Flaw.WRONG, Flaw.SWAPPED)),
    ("sum set, not added to", READ, READ.replace("+=", "="), (Flaw.LOST_SUM, Flaw.WRONG)),
    ("released twice", RELEASE, f"{RELEASE}\n            {RELEASE}",
     (*RACES, Flaw.DEADLOCK, Flaw.MISUSED)),
    ("a step too few", "for step in range(A.shape[0]):\n            slot, parity = step % 2, "
     f"step // 2 % 2\n            {WAIT}", "for step in range(A.shape[0] - 1):\n            slot, "
     f"parity = step % 2, step // 2 % 2\n            {WAIT}", Flaw.WRONG),
]  # fmt: skip
RIGHT = [
    ("into a register first", f"{READ}\n            {RELEASE}",
     f"value = ring[slot, 31 - lane]\n            {RELEASE}\n            acc += value"),
    ("a barrier of the warp between", f"{READ}\n            {RELEASE}",
     f"{READ}\n            cuda.syncwarp()\n            {RELEASE}"),
]  # fmt: skip

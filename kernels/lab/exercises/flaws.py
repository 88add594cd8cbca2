"""The names of what can be wrong with an answer, from what stops everything to what costs a point.

The order of `Flaw` is the order in which findings are told: a kernel that reads beyond its array
and also has wrong numbers is told of the reading.
"""

from enum import StrEnum


class Flaw(StrEnum):
    """What is wrong with an answer; the value is what the learner reads."""

    EMPTY = "nothing handed in"
    SYNTAX = "syntax error"
    NO_KERNEL = "not a kernel"
    UNTOUCHED = "not started"
    SIGNATURE = "another signature"
    BORROWED = "not your own"
    NOT_COMPILED = "does not compile"
    SHARED_LIMIT = "too much shared memory"
    BLOCK_LIMIT = "too many threads"
    CONSTANT = "changed constant"
    ENDLESS = "endless loop"
    UNSHARED = "work not shared"
    TOO_SLOW = "over the time limit"
    INPUT_CHANGED = "writes to an input"
    TRANSPOSED = "transposed"
    SWAPPED = "swapped index"
    WRONG_OPERAND = "wrong operand"
    ONLY_SQUARE = "works only for squares"
    MISSING_GUARD = "missing guard"
    OUT_OF_BOUNDS = "out of bounds"
    NEGATIVE_INDEX = "negative index"
    DEADLOCK = "deadlock"
    TOO_EARLY = "read before the copy has landed"
    OVERWRITTEN = "overwritten while still read"
    MISUSED = "instruction used wrongly"
    DIVERGENT_BARRIER = "divergent barrier"
    MISSING_BARRIER = "missing barrier"
    RACE = "race"
    UNINITIALISED = "uninitialised shared memory"
    READS_OUTPUT = "reads the output"
    NOTHING_WRITTEN = "nothing written"
    UNWRITTEN = "unwritten elements"
    SAME_TILE = "the same tile again"
    DROPPED_TILE = "dropped tile"
    LOST_SUM = "sum overwritten"
    NOT_A_NUMBER = "not a number"
    ONLY_MULTIPLES = "works only for multiples"
    ROUNDED = "rounded too much"
    WRONG = "wrong numbers"
    REMEMBERED = "right for known numbers only"
    OTHER_ON_GPU = "differs on the GPU"
    FLOAT64 = "float64"
    BUDGET = "over the budget"


#: How urgent each kind is: the lowest is told first.
RANK = {kind: rank for rank, kind in enumerate(Flaw)}

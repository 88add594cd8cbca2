"""Run the tests of numba-cuda against the microscope, one after another, and judge each."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import signal
import sys
import traceback
import unittest
from collections import Counter
from dataclasses import asdict, dataclass

from microscope import KernelError
from tests.microscope.numba_suite import selection, shim

SECONDS = 20  #: of this process, after which a test is given up
PATIENCE = 120  #: seconds after which one is given up that waits for something else
#: Tests that differ, and why that is so; all others would be a mistake of the interpreter.
EXPLAINED = {
    "TestWarnings|inefficient_launch|undefined_var": "the interpreter gives no advice in warnings",
    "record_alignment_error": "a misaligned record is refused where its field is used",
    "test_ex_3d_grid": "too many threads for the time of a test",
    "spawn_concurrent": "a process of its own, which has no shim",
    "too_many_args": "a print of more than 32 values is refused, for which a GPU prints its format",
    "order_broadcasted": "the layout that Numba gives an array of stride 0 on the device",
}
VERDICTS = {
    "pass": "the test passes, or expects a refusal and gets one",
    "refused": "the microscope refuses, in one line",
    "misses": "the microscope has no such name",
    "differs": "anything else",
    "skipped": "the package skips the test itself, or it asks the driver or another package",
}


@dataclass
class Verdict:
    """What became of one test.

    Attributes
    ----------
    test : str
        File, class and method, such as ``cudapy.test_sm.TestSharedMemory.test_shared``.
    verdict : str
        One of `VERDICTS`.
    why : str
        One line; empty if the test passes.
    """

    test: str
    verdict: str
    why: str = ""


caught: set[str] = set()  #: how the errors begin that the test has expected and got: not compared


class BothRefuse(Exception):
    """The test expects Numba's compiler to refuse, and the microscope does."""


class Late(BaseException):
    """A test takes too long."""


class Result(unittest.TestResult):
    """Judges each test."""

    def __init__(self):
        super().__init__()
        self.rows: list[Verdict] = []
        self.row = Verdict("", "pass")

    def startTest(self, test) -> None:
        super().startTest(test)
        caught.clear()
        self.row = Verdict(test.id().removeprefix(f"{selection.PACKAGE}."), "pass")

    def stopTest(self, test) -> None:
        super().stopTest(test)
        self.rows.append(self.row)

    def addSkip(self, test, reason) -> None:
        self.row.verdict, self.row.why = "skipped", reason

    def addError(self, test, error) -> None:
        self.row.verdict, self.row.why = judged(error)

    addFailure = addError

    def addSubTest(self, test, subtest, error) -> None:
        if error is not None and self.row.verdict == "pass":
            self.row.verdict, self.row.why = judged(error)

    def addUnexpectedSuccess(self, test) -> None:
        self.row.verdict, self.row.why = "differs", "Numba refuses what passes here"


def judged(error) -> tuple[str, str]:
    """The verdict on a test that has ended with an exception, and why."""
    kind, exception, trace = error
    if kind in (BothRefuse, shim.MachineCode):
        return "pass", ""
    if issubclass(kind, AssertionError) and any(words in str(exception) for words in caught):
        return "pass", ""
    if kind is unittest.SkipTest or kind.__name__ == "Skipped" or issubclass(kind, shim.DRIVER):
        return "skipped", str(exception)
    first = str(exception).strip().partition("\n")[0]
    where = traceback.extract_tb(trace)[-1]
    text = f"{kind.__name__}: {first}"
    if issubclass(kind, ModuleNotFoundError):
        return "skipped", text
    if isinstance(exception, KernelError):
        return "refused", text
    if MISSES.search(text):
        return "misses", text
    return "differs", f"{text} [{os.path.basename(where.filename)}:{where.lineno}]"


#: Errors of Numba's compiler, of which there are two, and of the driver.
COMPILER = ("NumbaError", "CUDAError", "CudaDriverError")
#: Errors of a launch or of an array on the host.
HOST = (TypeError, ValueError, NotImplementedError)
MISSES = re.compile(
    r"is not known to the interpreter|has no attribute|cannot import name|unexpected keyword"
)


def refusals() -> None:
    """Let a test that expects an error of Numba's compiler take the microscope's refusal."""

    class Expects(unittest.case._AssertRaisesContext):
        def __exit__(self, kind, exception, trace):
            if kind is not None and issubclass(kind, KernelError):
                expected = self.expected if isinstance(self.expected, tuple) else (self.expected,)
                if any(c.__name__ in COMPILER or c in HOST for e in expected for c in e.__mro__):
                    raise BothRefuse
            self.expected_regex = None
            if exception is not None:
                caught.add(repr(str(exception))[1:-1][:40])
            return super().__exit__(kind, exception, trace)

    unittest.case._AssertRaisesContext = Expects


def tests(names: list[str]):
    """The tests of some modules, one by one; a module that can't be imported is one itself."""
    loader = unittest.TestLoader()
    for name in names:
        try:
            suite = loader.loadTestsFromModule(importlib.import_module(name))
        except Exception as error:
            yield name, error
            continue
        yield from ((name, test) for test in flat(suite))


def flat(suite):
    """The tests of a suite of suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def late(number, frame):
    raise Late


def run(names: list[str], pattern: str = "", every: int = 1) -> list[Verdict]:
    """Judge the tests of some modules.

    Parameters
    ----------
    names : list of str
        Modules.
    pattern : str
        Only tests in whose name this regular expression is found.
    every : int
        Only every so manieth test.
    """
    shim.install()
    refusals()
    result, number = Result(), 0
    signal.signal(signal.SIGALRM, late)
    signal.signal(signal.SIGPROF, late)
    for name, test in tests(names):
        if isinstance(test, Exception):
            what = name.removeprefix(f"{selection.PACKAGE}.")
            result.rows.append(Verdict(what, *judged((type(test), test, test.__traceback__))))
            continue
        if not re.search(pattern, test.id()) or selection.machinery(test):
            continue
        number += 1
        if number % every:
            continue
        signal.alarm(PATIENCE)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(sys.stdout):
                test(result)
        except Late:
            result.row.verdict, result.row.why = "differs", f"takes longer than {SECONDS} s"
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
    return result.rows


def summary(rows: list[Verdict]) -> dict:
    """How many tests have which verdict, and why those that don't pass don't."""
    counts = Counter(row.verdict for row in rows)
    return {
        "unexplained": [
            row.test
            for row in rows
            if row.verdict == "differs"
            and not any(re.search(pattern, row.test) for pattern in EXPLAINED)
        ],
        "counts": {v: counts[v] for v in VERDICTS},
        "judged": sum(counts.values()) - counts["skipped"],
        "rows": [asdict(row) for row in rows if row.verdict != "pass"],
    }

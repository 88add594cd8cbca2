"""Which errors are meant for the reader, and which are defects of the course."""

from __future__ import annotations

from dis import opmap

__all__ = ["foreseen", "one_line"]

#: What the instruments raise with a message for the reader.
KINDS = (ValueError, TypeError, RuntimeError, LookupError, AssertionError)
#: What no check can rule out beforehand: files, memory.
OUTSIDE = (OSError, MemoryError)
OWN = ("kernels", "microscope", "authoring", "chapters")


def foreseen(error: BaseException) -> bool:
    """Whether someone wrote the error's message for whoever reads it.

    A ``raise`` of the course's own code did; the same class from an expression, as a KeyError from
    a dictionary, or from a library is a defect.
    """
    if isinstance(error, OUTSIDE):
        return True
    last = error.__traceback__
    if last is None or not isinstance(error, KINDS):
        return False
    while last.tb_next:
        last = last.tb_next
    frame = last.tb_frame
    own = frame.f_globals.get("__name__", "").partition(".")[0] in OWN
    return own and frame.f_code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]


def one_line(error: BaseException) -> str:
    """The message on one line; for an unforeseen error its class, and how to see where it arose."""
    text = " ".join(str(error).split())
    if foreseen(error):
        return text
    named = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{named} (a defect of the course: `python -m kernels --debug ...` shows where)"

"""What can go wrong with a kernel, as one line each."""


class KernelError(Exception):
    """A kernel cannot run, or did something a GPU would not forgive."""


class Unsupported(KernelError):
    """The kernel uses a construct that the interpreter does not know."""

    def __init__(self, line: int | None, what: str):
        where = f"line {line}: " if line is not None else ""
        super().__init__(f"{where}{what}")


class OutOfBounds(KernelError, IndexError):
    """A thread asked for an element that its array does not have."""


def raised(kind, message: str) -> KernelError:
    """A `KernelError` that an ``except`` of the class `kind` catches as well."""
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return KernelError(message)
    try:
        both = type(kind.__name__, (KernelError, kind), {"__init__": Exception.__init__})
        return both(message)
    except TypeError:  # some exceptions can't be joined
        return KernelError(message)


class StopRun(Exception):
    """Ends a traced run early: what follows cannot be seen. Never leaves this package."""

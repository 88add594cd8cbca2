"""What budgets count in a trace."""


def global_count(counter: str, op: str | None = None, array: str | None = None):
    """Return a function that sums a counter ("requests", "sectors", "lanes") of global memory."""

    def count(trace) -> int:
        return trace.count(space="global", op=op, array=array)[counter]

    return count


def conflicts(trace) -> int:
    """Wavefronts of shared memory that a layout without bank conflicts does not need."""
    return trace.count(space="shared")["conflicts"]


def barriers(trace) -> int:
    """Barriers, each block counted once."""
    return sum(trace.barriers.values())


def shared_bytes(trace) -> int:
    """Shared memory of a block."""
    return trace.shared_bytes

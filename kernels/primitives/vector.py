"""The operands of a computation on one vector."""

from kernels import host


class Vector(host.Operands):
    """A vector of float32 with its length `n`, which may be 0, and the vector of results.

    Parameters
    ----------
    a : array of float32, shape (n,)
    out : array of float32, optional
    engine : {"numba", "cpp"}
    results : int, optional
        Elements of the result; without it, n.
    """

    narrow = False

    def __init__(self, a, out=None, engine="numba", results=None):
        host.check_array(a, "a", 1, empty=True)
        (self.n,) = self._sizes = a.shape
        super().__init__({"a": a}, out, (self.n if results is None else results,), engine)

    def contiguous(self) -> tuple:
        """Return the vector and the result, both contiguous and on the device."""
        vector, result, _ = self.cpp_arguments()
        return vector, result

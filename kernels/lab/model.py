"""What a kernel is predicted to do, from its text and the sizes alone."""

from dataclasses import dataclass

__all__ = ["Model"]


@dataclass(frozen=True)
class Model:
    """The predicted work and traffic of one launch of a matrix product, float32 throughout.

    Attributes
    ----------
    M, N, K : int
        A is M×K, B is K×N, C is M×N.
    loads : dict of str to int
        Elements that the threads load from global memory, by array.
    stores : dict of str to int
        Elements that they store to it, by array.
    flops : int
        2·M·N·K: one multiplication and one addition a product. The padding of edge tiles adds
        multiplications by zero, which are not counted.
    """

    M: int
    N: int
    K: int
    loads: dict[str, int]
    stores: dict[str, int]

    @property
    def flops(self) -> int:
        return 2 * self.M * self.N * self.K

    @property
    def bytes_asked(self) -> int:
        """Bytes the threads ask of global memory, each load and store counted."""
        return 4 * (sum(self.loads.values()) + sum(self.stores.values()))

    @property
    def bytes_compulsory(self) -> int:
        """Bytes that must move at least once: A and B in, C out."""
        return 4 * (self.M * self.K + self.K * self.N + self.M * self.N)

    @property
    def intensity(self) -> float:
        """FLOP per byte asked of global memory."""
        return self.flops / self.bytes_asked

    @property
    def intensity_compulsory(self) -> float:
        """FLOP per compulsory byte: what a kernel that reads everything once would reach."""
        return self.flops / self.bytes_compulsory

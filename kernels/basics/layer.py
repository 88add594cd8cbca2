"""What limits a layer of a network, C = A·B: arithmetic, memory or its launch, by data sheets.

A (M×K) holds M inputs and B (K×N) the weights. Each figure is a least time: all arithmetic at the
peak, every byte moved once at full bandwidth, one launch. They overlap, so the longest one decides.
"""

from dataclasses import dataclass

from kernels.basics.data_sheets import gpu as data_sheet

#: By number format, bytes of an element and the data sheet's figure of its peak.
FORMATS = {
    "float32": (4, "fp32_tflops"),
    "float16": (2, "fp16_tensor_tflops"),
    "bfloat16": (2, "bf16_tensor_tflops"),
}
MOST = 65_536  #: of each size
LAUNCH = 4.0  #: microseconds of a launch, where none are given
LIMITS = ("arithmetic", "memory", "launch")


@dataclass(frozen=True)
class Layer:
    """A layer on one GPU.

    Parameters
    ----------
    M, N, K : int
        Inputs at once, outputs, and numbers per input: 1 to `MOST`.
    dtype : str
        Key of `FORMATS`: of all three matrices.
    gpu : str
        Short name of a data sheet, such as ``"h200"``.
    launch : float
        What a launch costs the host, in microseconds.

    Raises
    ------
    ValueError
        For a size, a format or a GPU that cannot be, in one line.
    LookupError
        When there is no such data sheet.
    """

    M: int
    N: int
    K: int
    dtype: str = "float16"
    gpu: str = "h200"
    launch: float = LAUNCH

    def __post_init__(self):
        for name in "MNK":
            size = getattr(self, name)
            if not 1 <= size <= MOST:
                raise ValueError(f"{name} is {size}: use 1 to {MOST}")
        if self.dtype not in FORMATS:
            raise ValueError(f"no number format {self.dtype!r}: use one of {', '.join(FORMATS)}")
        if self.peak is None:
            raise ValueError(
                f"the {data_sheet(self.gpu).name} has no tensor cores for {self.dtype}:"
                " use float16 or float32"
            )

    @property
    def peak(self) -> float | None:
        """FLOP per second of the number format; None where the GPU has no instruction for it."""
        tflops = getattr(data_sheet(self.gpu), FORMATS[self.dtype][1])
        return None if tflops is None else tflops * 1e12

    @property
    def flop(self) -> int:
        """A multiplication and an addition for each of M·N·K products."""
        return 2 * self.M * self.N * self.K

    @property
    def nbytes(self) -> int:
        """Bytes of A, B and C, each moved once."""
        elements = self.M * self.K + self.K * self.N + self.M * self.N
        return FORMATS[self.dtype][0] * elements

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flop / self.nbytes

    @property
    def times(self) -> dict[str, float]:
        """Seconds of each of `LIMITS`."""
        bandwidth = data_sheet(self.gpu).bandwidth
        seconds = self.flop / self.peak, self.nbytes / bandwidth, self.launch * 1e-6
        return dict(zip(LIMITS, seconds, strict=True))

    @property
    def limit(self) -> str:
        """Which of `LIMITS` takes longest."""
        return max(LIMITS, key=self.times.__getitem__)

    @property
    def turning_point(self) -> int | None:
        """The least M at which arithmetic takes as long as memory; None where no M reaches that."""
        size, N, K = FORMATS[self.dtype][0], self.N, self.K
        ridge = self.peak / data_sheet(self.gpu).bandwidth
        # 2·M·N·K ≥ ridge · size · (M·K + K·N + M·N), solved for M.
        gain = 2 * N * K - ridge * size * (N + K)
        return None if gain <= 0 else max(1, -int(-ridge * size * N * K // gain))

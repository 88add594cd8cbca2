"""The rungs in WGSL: which there are, with which options, and what a page has to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kernels import host
from kernels.host.model import Model
from kernels.rungs.order import LADDER

FOLDER = Path(__file__).parent
#: A size that all tiles divide: what is shared there is shared anywhere.
EVEN = 1024


def text(name: str) -> str:
    """The text of a file of this folder, such as ``"tiled"``."""
    return (FOLDER / f"{name}.wgsl").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Variant:
    """A rung with one choice of options.

    Attributes
    ----------
    rung : Shader
    options : dict of str to int
    """

    rung: Shader
    options: dict[str, int]

    @cached_property
    def _checked(self) -> host.Options:
        return LADDER[self.rung.follows].Options(**self.options)

    @property
    def block(self) -> tuple[int, int]:
        """Threads of a block along x and y."""
        return self._checked.block_dim

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of C that a block computes."""
        return self._checked.block_tile[:2]

    @property
    def step(self) -> int:
        """Steps of K that a block loads at a time; a rung that needs whole tiles counts on it."""
        return self._checked.block_tile[2]

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory per block."""
        if not self.rung.buffers:
            return 0
        (BM, BN), BK = self.tile, self.step
        return 4 * self.rung.buffers * BK * (BM + BN)

    @property
    def reuse(self) -> tuple[int, int]:
        """Rows of C per load of an element of B, and columns of C per load of one of A."""
        reads = self.model(EVEN, EVEN, EVEN).reads
        return EVEN // reads["B"].readers, EVEN // reads["A"].readers

    def model(self, M: int, N: int, K: int) -> Model:
        """What the rung of the same name in `kernels.LADDER` is predicted to do."""
        return self._checked.model(M, N, K)


@dataclass(frozen=True)
class Shader:
    """A rung of the ladder in WGSL.

    Parameters
    ----------
    name : str
    title : str
    choices : tuple of dict
        The options to choose from, the default first and the smallest last.
    follows : str
        The rung in `kernels.LADDER` that it does the same as, with the same options.
    files : tuple of str
        The files whose texts make its own, in their order; by default that of its name.
    buffers : int
        Tiles of each matrix in shared memory.
    padded : bool
        Whether A and B must be filled up with zeros to whole tiles.
    """

    name: str
    title: str
    choices: tuple[dict[str, int], ...]
    follows: str
    files: tuple[str, ...] = ()
    buffers: int = 0
    padded: bool = False

    @property
    def swapped(self) -> bool:
        """Whether x runs along the rows of C."""
        return self.name == "swapped"

    @property
    def text(self) -> str:
        """The text, without the options."""
        return "\n".join(map(text, self.files or (self.name,)))


def described() -> dict[str, Any]:
    """All that a page needs to complete, launch and check the rungs, as JSON can hold it."""
    return {
        "prologue": text("prologue"),
        "fma": text("fma"),
        "copy": text("copy"),
        "rungs": [
            {
                "name": rung.name, "title": rung.title, "text": rung.text,
                "follows": rung.follows, "swapped": rung.swapped, "padded": rung.padded,
                "chapter": LADDER[rung.follows].chapter,
                "choices": [
                    {
                        "options": options, "block": choice.block, "tile": choice.tile,
                        "step": choice.step, "shared": choice.shared_bytes, "reuse": choice.reuse,
                    }
                    for options in rung.choices
                    for choice in (Variant(rung, options),)
                ],
            }
            for rung in SHADERS.values()
        ],
    }  # fmt: skip


def _thread_tiles(*shapes: tuple[int, ...], names: str = "BM BN BK TM TN") -> tuple[dict, ...]:
    return tuple(dict(zip(names.split(), shape, strict=True)) for shape in shapes)


_WARP = _thread_tiles(
    (128, 128, 16, 64, 32, 8, 8), (128, 128, 16, 32, 64, 8, 8), (64, 64, 16, 32, 32, 4, 8),
    names="BM BN BK WM WN TM TN",
)  # fmt: skip
_BLOCKS = tuple({"block": side} for side in (16, 32, 8))

SHADERS: dict[str, Shader] = {
    rung.name: rung
    for rung in (
        Shader("swapped", LADDER["swapped"].title, _BLOCKS, "swapped"),
        Shader("naive", LADDER["naive"].title, _BLOCKS, "naive"),
        Shader(
            "tiled", LADDER["tiled"].title, tuple({"tile": side} for side in (16, 32, 8, 4)),
            "tiled", buffers=1,
        ),
        Shader(
            "thread_tiled_1d", LADDER["thread_tiled_1d"].title,
            _thread_tiles((64, 64, 8, 8), (64, 32, 8, 8), (32, 32, 8, 4), names="BM BN BK TM"),
            "thread_tiled_1d", buffers=1,
        ),
        Shader(
            "thread_tiled", LADDER["thread_tiled"].title,
            _thread_tiles((64, 64, 16, 4, 4), (128, 128, 8, 8, 8), (32, 32, 8, 4, 4)),
            "thread_tiled", buffers=1,
        ),
        Shader(
            "vectorized", LADDER["vectorized"].title,
            _thread_tiles((128, 128, 16, 8, 8), (64, 64, 16, 4, 4), (32, 32, 8, 4, 4)),
            "vectorized", files=("fours", "vectorized"), buffers=1,
        ),
        Shader(
            "warp_tiled", LADDER["warp_tiled"].title, _WARP, "warp_tiled",
            files=("fours", "warp_tiled"), buffers=2, padded=True,
        ),
    )
}  # fmt: skip

"""Grid, blocks, warps and threads on the SMs of a GPU: waves, the tail, and lanes left idle."""

from __future__ import annotations

import traitlets

from kernels.lab.widgets.base import Widget, data_sheets

#: What the script needs to know of a GPU.
FIGURES = ("name", "sms", "cores_per_sm", "warps_per_sm", "blocks_per_sm")
GRID_LIMITS = (2**31 - 1, 2**16 - 1)
BLOCK_LIMIT = 1024


class Hierarchy(Widget):
    """A launch, spread over a GPU.

    Parameters
    ----------
    gpu : str
        Short name of a data sheet in `kernels.basics.data_sheets`, such as ``"h200"``.
    grid, block : tuple of int
        Launch configuration (x, y); a block has at most 1024 threads.
    wave, thread : int
        The wave and the thread of a block that are shown, counted from 0.

    Examples
    --------
    >>> Hierarchy(gpu="rtx-3090", grid=(83, 1), block=(32, 32))
    Hierarchy(gpu='rtx-3090', grid=(83, 1), block=(32, 32))
    """

    shown = ("gpu", "grid", "block")

    gpus = traitlets.Dict().tag(sync=True)
    gpu = traitlets.Unicode("h200").tag(sync=True)
    grid = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=(1057, 1)).tag(sync=True)
    block = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=(16, 16)).tag(sync=True)
    wave = traitlets.Int(0).tag(sync=True)
    thread = traitlets.Int(0).tag(sync=True)

    @traitlets.default("gpus")
    def _gpus(self) -> dict:
        return {
            name: {figure: sheet[figure] for figure in FIGURES}
            for name, sheet in data_sheets().items()
        }

    @traitlets.validate("gpu")
    def _known(self, proposal: dict) -> str:
        if proposal["value"] not in self.gpus:
            known = ", ".join(self.gpus)
            raise traitlets.TraitError(
                f"no data sheet of {proposal['value']!r}: use one of {known}"
            )
        return proposal["value"]

    @traitlets.validate("grid")
    def _grid_allowed(self, proposal: dict) -> tuple[int, int]:
        for axis, size, limit in zip("xy", proposal["value"], GRID_LIMITS, strict=True):
            if not 1 <= size <= limit:
                raise traitlets.TraitError(f"grid {axis} is {size}: use 1 to {limit}")
        return proposal["value"]

    @traitlets.validate("block")
    def _block_allowed(self, proposal: dict) -> tuple[int, int]:
        x, y = proposal["value"]
        if x < 1 or y < 1 or x * y > BLOCK_LIMIT:
            raise traitlets.TraitError(
                f"block {x} × {y} has {x * y} threads: a block has 1 to {BLOCK_LIMIT}, "
                "so use a smaller x or y"
            )
        return proposal["value"]

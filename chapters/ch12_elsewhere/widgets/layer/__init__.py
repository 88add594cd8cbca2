"""Whether arithmetic, memory or its launch limits a layer, on a GPU of one's choice."""

from __future__ import annotations

import traitlets

from kernels.basics import layer
from kernels.basics.data_sheets import gpus
from kernels.lab.widgets.base import Widget, within

SIZES = (1, layer.MOST)


class Layer(Widget):
    """A layer of a network, C = A·B with A of M×K and B of K×N.

    Parameters
    ----------
    M, N, K : int
        Inputs at once, outputs, and numbers per input: 1 to 65,536.
    dtype : {"float32", "float16", "bfloat16"}
        Number format of the matrices.
    gpu : str
        Short name of a data sheet, such as ``"h200"``.
    launch : float
        What a launch costs the host, in microseconds: 0 to 50.

    Attributes
    ----------
    gpus : dict
        By short name: ``name``, ``bandwidth`` (bytes per second) and ``peaks`` (FLOP per second by
        number format, None where there is no such instruction).

    Examples
    --------
    >>> Layer(M=8)
    Layer(M=8, N=4096, K=4096, dtype='float16', gpu='h200')
    """

    shown = ("M", "N", "K", "dtype", "gpu")

    M = traitlets.Int(1).tag(sync=True)
    N = traitlets.Int(4096).tag(sync=True)
    K = traitlets.Int(4096).tag(sync=True)
    dtype = traitlets.Enum(tuple(layer.FORMATS), "float16").tag(sync=True)
    gpu = traitlets.Enum(tuple(gpus()), "h200").tag(sync=True)
    launch = traitlets.Float(layer.LAUNCH).tag(sync=True)
    gpus = traitlets.Dict().tag(sync=True)

    _allowed = within(M=SIZES, N=SIZES, K=SIZES, launch=(0, 50))

    def __init__(self, **settings) -> None:
        super().__init__(**{"gpus": sheets()} | settings)


def sheets() -> dict[str, dict]:
    """What the script needs of each data sheet."""
    return {
        key: {
            "name": sheet.name,
            "bandwidth": sheet.bandwidth,
            "peaks": {
                dtype: None if getattr(sheet, peak) is None else getattr(sheet, peak) * 1e12
                for dtype, (_, peak) in layer.FORMATS.items()
            },
        }
        for key, sheet in gpus().items()
    }

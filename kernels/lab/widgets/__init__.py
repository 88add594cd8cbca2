"""Pictures that react, in the static book as in a notebook; `base` tells how to add one.

>>> from kernels.lab.widgets import TilePlayer   # needs anywidget; nothing else of the course does
"""

from kernels.lab.widgets.tile_player import TilePlayer

__all__ = ["TilePlayer"]

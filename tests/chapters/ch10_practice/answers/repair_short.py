"""The tiled product, mended: a third of the wrong kernels of `tiled`, and all right ones."""

from tests.chapters.ch04_tiled.answers import tiled

WRONG = tiled.WRONG[0::3]
RIGHT = tiled.RIGHT

"""Pictures that react, in the static book as in a notebook: a folder each.

`base` tells how to add one.

>>> from kernels.lab.widgets import TilePlayer   # needs anywidget; nothing else of the course does
"""

from kernels.lab.widgets.access import Access
from kernels.lab.widgets.banks import Banks
from kernels.lab.widgets.block_order import BlockOrder
from kernels.lab.widgets.calculator import Calculator
from kernels.lab.widgets.hierarchy import Hierarchy
from kernels.lab.widgets.launch import Launch
from kernels.lab.widgets.layer import Layer
from kernels.lab.widgets.many_gpus import ManyGpus
from kernels.lab.widgets.micro import Micro
from kernels.lab.widgets.outer_product import OuterProduct
from kernels.lab.widgets.pipeline import Pipeline
from kernels.lab.widgets.quiz import Quiz
from kernels.lab.widgets.roofline import Roofline
from kernels.lab.widgets.tile_player import TilePlayer

__all__ = [
    "Access",
    "Banks",
    "BlockOrder",
    "Calculator",
    "Hierarchy",
    "Launch",
    "Layer",
    "ManyGpus",
    "Micro",
    "OuterProduct",
    "Pipeline",
    "Quiz",
    "Roofline",
    "TilePlayer",
]

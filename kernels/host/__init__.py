"""What every launch needs: arguments checked and moved, C++ compiled, traffic modelled."""

from kernels.host.checks import (
    LARGEST,
    cdiv,
    check_block,
    check_engine,
    check_grid,
    check_group,
    check_indices,
    check_sizes,
    check_tile,
    check_whole,
)
from kernels.host.operands import (
    Operands,
    Product,
    Vectors,
    address,
    check_array,
    check_on_device,
    check_resident,
    free_bytes,
    memory_errors,
    wide,
)
from kernels.host.options import Options, option

__all__ = [
    "LARGEST",
    "Operands",
    "Options",
    "Product",
    "Vectors",
    "address",
    "cdiv",
    "check_array",
    "check_block",
    "check_engine",
    "check_grid",
    "check_group",
    "check_indices",
    "check_on_device",
    "check_resident",
    "check_sizes",
    "check_tile",
    "check_whole",
    "free_bytes",
    "memory_errors",
    "option",
    "wide",
]

"""What a launch may be: sizes, tiles, grids and languages, checked; one line says what is wrong."""

from operator import index

from kernels.backend import on_gpu, why_cpu
from kernels.backend.device import device

__all__ = [
    "LARGEST",
    "cdiv",
    "check_block",
    "check_engine",
    "check_grid",
    "check_group",
    "check_indices",
    "check_sizes",
    "check_tile",
    "check_whole",
]

#: The largest size of a matrix in each language, where indices are 32-bit numbers. A tile may reach
#: past the edge, and loads a tile or two past the end of K: none of these is longer than 2**14.
LARGEST = {"numba": 2**32 - 2**14, "cpp": 2**31 - 2**14}


def cdiv(a: int, b: int) -> int:
    """Return a / b rounded up: how many tiles of b cover a elements."""
    return -(-a // b)


def check_whole(value, name: str, way_out: str, least: int = 1) -> int:
    """Return `value` as an int of at least `least`; TypeError or ValueError otherwise."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, got {value!r}: {way_out}")
    if index(value) < least:
        raise ValueError(f"{name} must be at least {least}, got {value}: {way_out}")
    return index(value)


def check_sizes(**sizes) -> None:
    """Raise TypeError or ValueError unless each size is a whole number of at least 1."""
    for name, size in sizes.items():
        check_whole(size, name, "give the size of a matrix or vector, such as 1000")


def check_tile(tile, name: str = "tile") -> int:
    """Return the side of a square block as an int, if the device can launch it.

    Raises
    ------
    TypeError, ValueError
        One line with the value, the limit and the sizes to use.
    """
    way_out = "use 8, 16 or 32"
    tile = check_whole(tile, name, way_out)
    limit = device().max_threads_per_block
    if tile * tile > limit:
        raise ValueError(
            f"{name} {tile} needs {tile * tile} threads per block; this GPU allows {limit}:"
            f" {way_out}"
        )
    return tile


def check_block(block) -> int:
    """Return the threads of a one-dimensional block as an int, if the device can launch it."""
    limit = device().max_threads_per_block
    way_out = f"use 1 to {limit}, best a multiple of {device().warp_size}"
    block = check_whole(block, "block", way_out)
    if block > limit:
        raise ValueError(f"block {block} has too many threads; this GPU allows {limit}: {way_out}")
    return block


def check_grid(*blocks: int) -> tuple[int, ...]:
    """Return the grid as it is; ValueError where it has more blocks than the device allows."""
    for axis, count, limit in zip("xyz", blocks, device().max_grid, strict=False):
        if count > limit:
            raise ValueError(
                f"{count} blocks along {axis} are too many;"
                f" this GPU allows {limit}: use larger blocks or smaller arrays"
            )
    return blocks


def check_group(rows, name: str) -> int:
    """Return how many rows of tiles blocks take together as an int; no kernel counts beyond 32."""
    way_out = "use 1 to 32"
    rows = check_whole(rows, name, way_out)
    if rows > 32:
        raise ValueError(f"{name} must be at most 32, got {rows}: {way_out}")
    return rows


def check_indices(engine: str, *sizes: int) -> None:
    """Raise ValueError where a size is more than the indices of a language's kernels reach."""
    size, limit = max(sizes), LARGEST[engine]
    if size > limit:
        title, way_out = {
            "numba": ("unsigned 32-bit numbers of the Numba", "use smaller sizes"),
            "cpp": ("32-bit int of the C++", "use a Numba kernel, or smaller sizes"),
        }[engine]
        raise ValueError(
            f"size {size} is beyond the {title} kernels, which take {limit} at most: {way_out}"
        )


def check_engine(engine: str) -> str:
    """Return `engine` if its kernels run here; ValueError or RuntimeError otherwise."""
    if engine not in ("numba", "cpp"):
        raise ValueError(f"unknown engine {engine!r}: use 'numba' or 'cpp'")
    if engine == "cpp" and not on_gpu:
        raise RuntimeError(f"engine 'cpp' needs an NVIDIA GPU ({why_cpu}): use engine='numba'")
    return engine

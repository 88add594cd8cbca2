"""Copies between rows of different widths."""

import numpy as np
import pytest

from kernels.backend import cupy, on_gpu
from kernels.host import rows

FORMATS = ("uint8", "float16", "float32", "float64")


def matrix(height, width, dtype):
    return np.arange(height * width).reshape(height, width).astype(dtype)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 300), (17, 33), (4, 256), (0, 5)])
def test_every_number_arrives_and_no_other_changes(height, width, dtype):
    source = cupy.asarray(matrix(height, width, dtype))
    wide = cupy.asarray(np.full((height, width + 5), 7, dtype))
    rows.copy(wide[:, :width], source)
    back = cupy.asarray(np.zeros((height, width), dtype))
    rows.copy(back, wide[:, :width])
    assert (cupy.asnumpy(back) == matrix(height, width, dtype)).all()
    assert (cupy.asnumpy(wide)[:, width:] == 7).all()


def test_what_lies_otherwise_is_assigned():
    source = cupy.asarray(matrix(6, 5, "float32"))
    for wanted in (source.T, source[::2, ::2], source[::-1]):
        copy = cupy.asarray(np.zeros(wanted.shape, "float32"))
        rows.copy(copy, wanted)
        assert (cupy.asnumpy(copy) == cupy.asnumpy(wanted)).all()
    other = cupy.asarray(np.zeros((6, 5), "float64"))
    rows.copy(other, source)
    assert (cupy.asnumpy(other) == matrix(6, 5, "float64")).all()


def test_the_kernel_takes_what_has_rows_alone():
    source = cupy.asarray(matrix(6, 5, "float32"))
    assert rows._in_rows(source) and rows._in_rows(source[1:, 2:]) and rows._in_rows(source[::2])
    for other in (source.T, source[::-1], source[:, ::2], source[0], source[:0]):
        assert not rows._in_rows(other)
    if not on_gpu:
        assert not rows._in_rows(matrix(2, 2, "float32"))

"""A product that is prepared once, and the launches that `matmul` keeps."""

from types import SimpleNamespace

import numpy as np
import pytest

import kernels
from kernels.backend import cupy, on_gpu
from kernels.host.plans import Plans
from kernels.measure import oracle
from kernels.tuning import chooser

VIEWS = {
    "NN": (lambda A: A, lambda B: B),
    "NT": (lambda A: A, lambda B: B.T),
    "TN": (lambda A: A.T, lambda B: B),
    "TT": (lambda A: A.T, lambda B: B.T),
    "backward": (lambda A: A[::-1], lambda B: B[:, ::-1]),
    "every second": (lambda A: A[::2], lambda B: B[:, ::2]),
}


def resident(array):
    return cupy.asarray(array)


@pytest.mark.parametrize("layout", VIEWS)
def test_a_plan_computes_anew_from_views_of_any_layout(layout):
    left, right = VIEWS[layout]
    flip_A, flip_B = ("T" in layout[:1], "T" in layout[1:2])
    A, B = map(resident, oracle.inputs(38, 40, 33))
    A = resident(np.ascontiguousarray(cupy.asnumpy(A).T)) if flip_A else A
    B = resident(np.ascontiguousarray(cupy.asnumpy(B).T)) if flip_B else B
    first, second = left(A), right(B)
    product = kernels.plan(first, second)
    for _ in range(2):
        C = product()
        assert C is product.out
        oracle.check(*map(cupy.asnumpy, (C, first, second)))
        A *= -2
        C.fill(float("nan"))
    assert str(product.choice) in repr(product)


def test_what_no_plan_can_be_is_one_line():
    A, B = map(resident, oracle.inputs(8, 5, 7))
    wrong = [
        ((A, A), ValueError, "A is 8×7 and B is 8×7: B must have as many rows"),
        ((A, [[1.0]]), TypeError, "B is a list; expected a CuPy array"),
        ((A.astype(float), B), TypeError, "A holds float64; expected"),
        ((A[0], B), ValueError, "A has shape .* expected 2 dimensions"),
        ((A[:0], B), ValueError, "every size must be at least 1"),
        ((A, B, A), ValueError, "out has shape"),
        ((A[:, :5], B[:5], A[:, :5]), ValueError, "out shares memory with A"),
        ((A, B, cupy.empty((8, 5), "float64")), TypeError, "out holds float64"),
    ]
    for arguments, error, told in wrong:
        with pytest.raises(error, match=told) as caught:
            kernels.plan(*arguments)
        assert "\n" not in str(caught.value)


def test_launches_of_long_ago_make_room():
    plans = Plans(most=2, most_bytes=100)
    for number, nbytes in enumerate((10, 20, 101, 30)):
        plans.keep(number, str, nbytes)
    assert set(plans.launches) == {1, 3} and plans.nbytes == 50 and plans.get(2) is None
    plans.keep(4, str, 90)
    assert set(plans.launches) == {4} and plans.nbytes == 90


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that only takes notes: what `matmul` prepares there, and launches."""
    noted = SimpleNamespace(prepared=[], launched=[], stream=0, capturing=False)

    class Array:
        dtype, device = np.dtype("float32"), SimpleNamespace(id=0)
        shape, strides = (4, 4), (16, 4)

        def __init__(self, address):
            self.data = SimpleNamespace(ptr=address)

    def plan(*arrays, engine):
        addresses = [x.data.ptr for x in arrays]
        if 13 in addresses:
            raise ValueError("no luck")
        noted.prepared.append(addresses)
        return SimpleNamespace(launch=lambda: noted.launched.append(addresses))

    fake = SimpleNamespace(
        ndarray=Array,
        get_default_memory_pool=lambda: SimpleNamespace(used_bytes=lambda: 0),
        cuda=SimpleNamespace(
            get_current_stream=lambda: SimpleNamespace(ptr=noted.stream),
            runtime=SimpleNamespace(streamIsCapturing=lambda stream: noted.capturing),
        ),
    )
    for name, value in (
        ("on_gpu", True), ("cupy", fake), ("plan", plan), ("_plans", Plans()),
        ("unowned", lambda address, *_: Array(address)),
    ):  # fmt: skip
        monkeypatch.setattr(chooser, name, value)
    monkeypatch.setattr(chooser.tuned, "stamp", lambda: noted.stamp)
    noted.stamp, noted.array = None, Array
    return noted


def test_the_same_arrays_are_prepared_once_and_others_anew(gpu):
    A, B, C, D = map(gpu.array, (1, 2, 3, 4))
    for out in (C, C, D, gpu.array(3)):
        assert kernels.matmul(A, B, out) is out
    assert gpu.prepared == [[1, 2, 3], [1, 2, 4]] and len(gpu.launched) == 4
    gpu.stream = 7  # copies and partial sums of one stream are not another's
    kernels.matmul(A, B, C)
    gpu.stamp = ("file", 1, 2)  # what was tuned has changed
    kernels.matmul(A, B, C)
    assert gpu.prepared[2:] == [[1, 2, 3]] * 2


def test_a_graph_takes_nothing_that_may_be_dropped(gpu):
    A, B, C = map(gpu.array, (1, 2, 3))
    gpu.stream, gpu.capturing = 7, True
    assert chooser.kept(A, B, C, "", chooser.PLAIN) is None and not gpu.prepared
    gpu.capturing = False
    assert chooser.kept(A, B, C, "", chooser.PLAIN)
    assert chooser.kept(A, B, gpu.array(13), "", chooser.PLAIN) is None


@pytest.mark.skipif(on_gpu, reason="there is a GPU")
def test_without_a_gpu_nothing_is_kept():
    A, B = oracle.inputs(4, 4, 4)
    kernels.matmul(A, B, np.empty((4, 4), np.float32))
    assert not chooser._plans.launches

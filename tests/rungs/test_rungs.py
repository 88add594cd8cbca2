"""The rungs on whichever backend there is: right for any sizes and strides, errors in one line."""

import re
from dataclasses import replace

import numpy as np
import pytest

from kernels import LADDER, Rung, cupy, host, lab, on_gpu
from kernels.basics.files import ROOT
from kernels.host import rung as rungs
from kernels.lab.pages import path_of
from kernels.measure import oracle
from kernels.patterns.vector_add import add, vector_add_grid_stride
from kernels.rungs import split_k
from kernels.rungs.order import GENERAL
from tests.rungs.cases import (
    FEW,
    SAMPLED,
    SETTINGS,
    SHAPES,
    SMALL,
    check_shapes,
    label,
    padded,
    shifted,
    strided_inputs,
)

NUMBA = list(dict.fromkeys(name for name, _ in SETTINGS))


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s[0] in SMALL], ids=label)
def test_a_third_of_all_shapes(setting):
    """The three settings of a rung take different thirds: together every shape."""
    third = SETTINGS.index(setting) % 3
    assert check_shapes(setting, "numba", SHAPES[third::3]) in (333, 334)


@pytest.mark.parametrize("setting", [s for s in SAMPLED if s.values[0][0] not in SMALL], ids=label)
def test_shapes_around_the_large_tiles(setting):
    assert check_shapes(setting, "numba", FEW) == len(FEW)


@pytest.mark.parametrize("setting", SAMPLED, ids=label)
def test_any_strides(setting):
    name, options = setting
    for case, A, B, C in strided_inputs(17, 23, 37):
        assert LADDER[name].matmul(A, B, out=C, **options) is C, case
        lab.check(C, A, B)


@pytest.mark.parametrize("setting", SAMPLED, ids=label)
def test_views_that_16_bytes_do_not_fit(setting):
    name, options = setting
    for M, N, K in ((36, 40, 24), (37, 41, 23)):
        A, B = oracle.inputs(M, N, K)
        C = shifted(oracle.poisoned(M, N))
        assert C.ctypes.data % 16 and LADDER[name].matmul(shifted(A), shifted(B), C, **options) is C
        lab.check(C, A, B)


@pytest.mark.parametrize("setting", SAMPLED, ids=label)
def test_views_whose_rows_end_between_16_bytes(setting):
    name, options = setting
    for M, N, K in ((37, 41, 23), (1, 41, 1)):
        A, B = (padded(cupy.asarray(x)) for x in oracle.inputs(M, N, K))
        C = padded(cupy.asarray(oracle.poisoned(M, N)))
        LADDER[name].matmul(A, B, out=C, **options)
        lab.check(C, A, B)
        assert np.isnan(cupy.asnumpy(C.base)[:, N:]).all(), "something was written beside C"


def test_arrays_come_back_where_they_came_from():
    A, B = oracle.inputs(5, 7, 3)
    for name in NUMBA:
        result = LADDER[name].matmul(A, B)
        assert type(result) is np.ndarray and result.dtype == np.float32
        on_device = LADDER[name].matmul(cupy.asarray(A), cupy.asarray(B))
        assert isinstance(on_device, cupy.ndarray)
        lab.check(on_device, A, B)


def test_a_prepared_launch_waits_to_be_called():
    A, B = (cupy.asarray(x) for x in oracle.inputs(33, 20, 9))
    for name, options in SETTINGS:
        C = cupy.asarray(oracle.poisoned(33, 20))
        launch = LADDER[name].prepare(A, B, C, "numba", **options)
        assert np.isnan(cupy.asnumpy(C)).all()
        launch()
        lab.check(C, A, B)


def test_the_cpp_twins_get_contiguous_arrays_and_the_result_finds_its_way_back():
    for case, A, B, C in strided_inputs(17, 23, 37):
        for convert in (np.asarray, cupy.asarray):
            product = host.Product(convert(A), convert(B), convert(C))
            dA, dB, dC, *sizes = product.cpp_arguments()
            assert all(array.flags.c_contiguous for array in (dA, dB, dC)), case
            assert sizes == [17, 23, 37] and {type(size) for size in sizes} == {np.int32}
            dC[...] = dA @ dB
            lab.check(product.result(), A, B)


def test_inputs_are_not_changed():
    A, B = oracle.inputs(33, 17, 9)
    before = A.copy(), B.copy()
    for name in NUMBA:
        LADDER[name].matmul(A, B)
    assert np.array_equal(A, before[0]) and np.array_equal(B, before[1])


def test_tile_12_is_allowed_too():
    A, B = oracle.inputs(25, 31, 14)
    lab.check(LADDER["tiled"].matmul(A, B, tile=12), A, B)


def test_kernels_are_made_once():
    rung = LADDER["tiled"]
    assert rung.kernel(tile=8) is rung.kernel(tile=8)
    assert rung.kernel() is rung.kernel(tile=16)


def test_launch_puts_columns_along_x():
    assert LADDER["tiled"].launch(100, 130, tile=16) == ((9, 7), (16, 16))
    assert LADDER["naive"].launch(100, 130) == ((5, 4), (32, 32))
    assert LADDER["swapped"].launch(100, 130) == ((4, 5), (32, 32))


def test_every_rung_has_its_files_and_its_place():
    """Each message names the file to mend: adding a rung asks for no knowledge of the tests."""
    folder = ROOT / "kernels" / "rungs"
    for path in sorted(folder.glob("*.py")):
        if path.stem not in ("__init__", "order", "gemm"):  # what the general kernels share
            assert path.stem in LADDER | GENERAL, (
                f"kernels/rungs/order.py does not list {path.name}"
            )
    for name, rung in LADDER.items():
        assert (folder / f"{name}.py").is_file(), f"RUNG.name {name!r} is not the name of its file"
        if "cpp" in rung.engines:
            told = f"kernels/rungs/{name}.cu is missing: write it, or give engines=('numba',)"
            assert (folder / f"{name}.cu").is_file(), told
            told = f"kernels/rungs/{name}.cu has no kernel of the name {name}"
            assert re.search(rf"\b{name}\(", (folder / f"{name}.cu").read_text("utf-8")), told
        assert ("numba" in rung.engines) == (rung.make is not None), f"{name}.py: engines or make?"
        told = f"{name}.py names the chapter {rung.chapter!r}, which is not in chapters/"
        assert path_of(rung.chapter).is_file(), told
        pages = " ".join(p.read_text("utf-8") for p in path_of(rung.chapter).parent.glob("*.ipynb"))
        shown = re.search(rf"\b{name}\b", pages) is not None
        assert shown, f"no page of {rung.chapter} shows {name}"
    for path in sorted(folder.glob("*.cu")):
        assert path.stem in LADDER, f"kernels/rungs/{path.name} is the counterpart of no rung"


def test_the_ladder_is_in_the_order_of_the_chapters():
    assert all(isinstance(rung, Rung) and rung.name == name for name, rung in LADDER.items())
    assert [rung.chapter for rung in LADDER.values()] == sorted(r.chapter for r in LADDER.values())
    for rung in LADDER.values():
        assert rung.defaults.keys() == rung.options.keys()
        assert all(rung.defaults[option] in values for option, values in rung.options.items())
        for engine in rung.engines:
            assert rung.default(engine) in rung.chosen(engine)
            for options in rung.chosen(engine):
                assert all(value in rung.options[name] for name, value in options.items())
                rung.launch(100, 130, **options)


# What a GPU must have ---------------------------------------------------------------


@pytest.mark.parametrize(
    "name, dtype, capability, told",
    [
        ("async_tiled", "", (7, 5), "async_tiled needs sm_80, this GPU is sm_75: use split_k"),
        ("mma_sm75", "", (7, 0), "mma_sm75 needs sm_75, this GPU is sm_70: use a rung of another "
         "number format"),
        ("mma", "bfloat16", (7, 5), "mma needs sm_80, this GPU is sm_75: use a rung of another "
         "number format"),
        ("mma", "float16", (7, 5), "mma needs sm_80, this GPU is sm_75: use mma_sm75"),
        ("persistent", "", (8, 6), "persistent needs sm_90 (its instructions are Hopper's alone), "
         "this GPU is sm_86: use mma"),
        ("wgmma", "", (12, 0), "wgmma needs sm_90 (its instructions are Hopper's alone), this GPU "
         "is sm_120: use mma"),
        ("emulated", "", (8, 9), "emulated needs sm_90 (its instructions are Hopper's alone), this "
         "GPU is sm_89: use async_tiled"),
        ("emulated", "", (7, 5), "emulated needs sm_90 (its instructions are Hopper's alone), this "
         "GPU is sm_75: use split_k"),
        ("emulated", "", (9, 0), ""),
        ("mma", "", (12, 0), ""),
        ("wgmma", "bfloat16", (9, 0), ""),
        ("tiled", "", (5, 0), ""),
    ],
)  # fmt: skip
def test_a_gpu_below_the_need_is_told_what_to_use(name, dtype, capability, told):
    assert LADDER[name].missing(dtype, capability) == told


def test_a_product_on_a_gpu_below_the_need_is_refused(monkeypatch):
    from types import SimpleNamespace

    turing = SimpleNamespace(name="Tesla T4", compute_capability=(7, 5))
    monkeypatch.setattr(rungs, "device", lambda: turing)
    half = np.ones((8, 8), np.float16)
    with pytest.raises(
        RuntimeError, match="^persistent needs sm_90 .*this GPU is sm_75: use mma_sm75"
    ):
        LADDER["persistent"].matmul(half, half, engine="cpp")
    with pytest.raises(RuntimeError, match="^async_tiled needs sm_80, this GPU is sm_75"):
        LADDER["async_tiled"].matmul(A, B, engine="cpp")


def test_a_twin_is_not_compiled_for_tiles_that_cannot_be():
    for name, options in (("warp_tiled", {"BK": 20}), ("thread_tiled", {"TM": 3})):
        with pytest.raises(ValueError, match="use BK=16|use BM=126"):
            LADDER[name].cpp_kernel(**options)


def test_a_rung_of_one_language_says_which():
    rung = replace(LADDER["naive"], make=None, engines=("cpp",))
    with pytest.raises(ValueError, match="naive is only in CUDA C..: use engine='cpp'"):
        rung.matmul(A, B)
    with pytest.raises(ValueError, match="naive is only in CUDA C..: use engine='cpp'"):
        rung.prepare(A, B, np.empty((A.shape[0], B.shape[1]), np.float32))
    with pytest.raises(TypeError, match="naive has no Numba kernel: use one that has, such as til"):
        rung.kernel()


@pytest.mark.parametrize(
    "name, options, told",
    [
        ("thread_tiled", {"TM": 16, "TN": 16}, "registers per thread"),
        ("thread_tiled", {"BK": 64}, "bytes of shared memory per block; the limit is 49152"),
        ("thread_tiled", {"TM": 2, "TN": 2}, "4096 threads per block; this GPU allows 1024"),
        ("warp_tiled", {"WM": 32}, "a warp has 32 threads"),
        ("warp_tiled", {"BM": 96}, "BM=96 is not a multiple of WM=64: use BM=64"),
        ("vectorized", {"TM": 6}, "TM=6 is not a multiple of"),
        ("split_k", {"split": 0}, "split must be at least 1"),
        ("swizzled", {"BK": 20}, "load at once do not fill whole rows of BK=20: use BK=16"),
        ("pipelined", {"BK": 20, "TM": 16}, "the 512 elements that the threads load at once"),
        ("async_tiled", {"BK": 12, "stages": 2}, "do not fill whole rows of BK=12: use BK=8"),
        ("async_tiled", {"stages": 1}, "stages=1 leaves nothing to copy ahead: use 2, 3 or 4"),
        ("async_tiled", {"BK": 16, "stages": 4}, "bytes of shared memory per block"),
        ("mma", {"stages": 10}, "bytes of shared memory; a block of this GPU has"),
        ("mma", {"BK": 128}, "the kernel is not written for BK=128: use 32 or 64"),
        ("specialized", {"BN": 64}, "use 128 or 256"),
        ("persistent", {"cluster": 3}, "use 1 or 2"),
        ("stream_k", {"BN": 64}, "use 0, 128 or 256"),
        ("emulated", {"products": 3}, "the kernel is not written for products=3: use 6 or 9"),
    ],
)
def test_options_that_no_block_can_have_are_one_line(name, options, told):
    with pytest.raises(ValueError) as caught:
        LADDER[name].launch(100, 130, **options)
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_what_a_kernel_takes_is_told_on_a_gpu_that_cannot_launch_it(monkeypatch):
    monkeypatch.setattr("kernels.rungs.mma.most_shared_bytes", lambda: 64 * 1024)  # a T4's
    assert LADDER["mma"].footprint(stages=4)["shared_bytes"] == 196_608
    assert LADDER["mma"].model(2048, 2048, 2048).flops == 2 * 2048**3
    with pytest.raises(ValueError, match="needs 98304 bytes .* a block of this GPU has 65536"):
        LADDER["mma"].launch(2048, 2048)


@pytest.mark.parametrize("n", (1, 31, 255, 256, 257, 1000))
def test_vector_add(n):
    rng = np.random.default_rng(n)
    a, b = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    for block in (1, 100, 256):
        assert np.array_equal(add(a, b, block=block), a + b)
    out = np.full(2 * n, np.nan, np.float32)[::2]
    assert add(a[::-1], b, out=out) is out and np.array_equal(out, a[::-1] + b)
    c = cupy.full(n, np.nan, cupy.float32)
    vector_add_grid_stride[3, 32](cupy.asarray(a), cupy.asarray(b), c)
    assert np.array_equal(cupy.asnumpy(c), a + b)


A, B = oracle.inputs(6, 10, 4)
READ_ONLY = np.zeros((6, 10), np.float32)
READ_ONLY.flags.writeable = False

BAD = {
    "tile 64": (lambda m: m(A, B, tile=64), ValueError,
                "tile 64 needs 4096 threads per block; this GPU allows 1024: use 8, 16 or 32"),
    "tile 0": (lambda m: m(A, B, tile=0), ValueError,
               "tile must be at least 1, got 0: use 8, 16 or 32"),
    "tile -8": (lambda m: m(A, B, tile=-8), ValueError,
                "tile must be at least 1, got -8: use 8, 16 or 32"),
    "tile as text": (lambda m: m(A, B, tile="16"), TypeError,
                     "tile must be a whole number, got '16': use 8, 16 or 32"),
    "tile 16.0": (lambda m: m(A, B, tile=16.0), TypeError,
                  "tile must be a whole number, got 16.0: use 8, 16 or 32"),
    "tile True": (lambda m: m(A, B, tile=True), TypeError,
                  "tile must be a whole number, got True: use 8, 16 or 32"),
    "integers": (lambda m: m(A.astype(int), B), TypeError,
                 "A holds int64; expected float32: use A.astype(np.float32)"),
    "half": (lambda m: m(A, B.astype(np.float16)), TypeError,
             "B holds float16; expected float32: use B.astype(np.float32)"),
    "double": (lambda m: m(A, B.astype(float)), TypeError,
               "B holds float64; expected float32: use B.astype(np.float32)"),
    "objects": (lambda m: m(A.astype(object), B), TypeError,
                "A holds object; expected float32: use A.astype(np.float32)"),
    "a list": (lambda m: m([[1.0]], B), TypeError,
               "A must be an array, got list: use np.asarray(A, dtype=np.float32)"),
    "shapes": (lambda m: m(A, A), ValueError,
               "A is 6×4 and B is 6×4: B must have as many rows as A has columns"),
    "a vector": (lambda m: m(A, B[0]), ValueError,
                 "B has shape (10,); expected 2 dimensions"),
    "no rows": (lambda m: m(A[:0], B), ValueError,
                "A has shape (0, 4); every size must be at least 1"),
    "no K": (lambda m: m(A[:, :0], B[:0]), ValueError,
             "A has shape (6, 0); every size must be at least 1"),
    "out's shape": (lambda m: m(A, B, np.zeros((10, 6), np.float32)), ValueError,
                    "out has shape (10, 6); the result has (6, 10)"),
    "out's type": (lambda m: m(A, B, np.zeros((6, 10))), TypeError,
                   "out holds float64; expected float32: use out.astype(np.float32)"),
    "out read-only": (lambda m: m(A, B, READ_ONLY), ValueError,
                      "out is read-only: pass an array that can be written"),
    "both sides": (lambda m: m(cupy.asarray(A), B), TypeError,
                   "B on the host, A on the device: move the first with cupy.asarray"),
    "engine": (lambda m: m(A, B, engine="cuda"), ValueError,
               "unknown engine 'cuda': use 'numba' or 'cpp'"),
    "option": (lambda m: m(A, B, tlie=16), TypeError,
               "tiled has no option 'tlie': it takes tile=8|16|32"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_line(case):
    call, error, message = BAD[case]
    with pytest.raises(error) as caught:
        call(LADDER["tiled"].matmul)
    assert str(caught.value) == message


def test_out_may_not_be_an_input():
    square = cupy.asarray(np.ones((8, 8), np.float32))
    with pytest.raises(ValueError, match="out shares memory with A: pass an array of its own"):
        LADDER["naive"].matmul(square, square.copy(), out=square)


IN_NUMBA = [name for name, rung in LADDER.items() if rung.in_microscope]


@pytest.mark.parametrize("name", IN_NUMBA)
def test_every_rung_refuses_bad_input_in_one_line_and_writes_nothing(name):
    """Wrong in format, shape, size or place, and an output that is an input in part."""
    out = cupy.full((8, 8), 7, np.float32)
    square = cupy.asarray(np.ones((8, 8), np.float32))
    wide = cupy.asarray(np.ones((8, 12), np.float32))
    for bad in (
        (square.astype(np.float64), square), (square, square.astype(np.int32)), (square[0], square),
        (square[:0], square), (square[:, :0], square[:0]), (square[:, :7], square),
        (cupy.asnumpy(square), square), ([[1.0]], square), (square, square, out[:7]),
        (square, square, out.astype(np.float16)), (square, square, np.zeros((8, 8), np.float32)),
        (wide[:, :8], square, wide[:, 4:]), (square, wide[:, :8], wide[:, 1:9]),
    ):  # fmt: skip
        before = [cupy.asnumpy(x).copy() for x in (out, square, wide)]
        with pytest.raises((TypeError, ValueError)) as caught:
            LADDER[name].matmul(*bad, *(out,) * (len(bad) == 2))
        assert "\n" not in str(caught.value)
        after = [cupy.asnumpy(x) for x in (out, square, wide)]
        assert all(map(np.array_equal, before, after)), bad


@pytest.mark.parametrize("name", IN_NUMBA)
def test_nan_and_infinity_stay_in_their_rows_and_columns(name):
    """Also at the edges, where tiles reach beyond a matrix: a zero there must not meet them."""
    A, B = oracle.inputs(37, 29, 19)
    A[1, 18], A[36, 0], A[5, 3], B[18, 28] = np.nan, np.inf, -np.inf, np.inf
    with np.errstate(invalid="ignore"):
        known = (A[:, :, None] * B).sum(axis=1)
    found = cupy.asnumpy(LADDER[name].matmul(cupy.asarray(A), cupy.asarray(B)))
    odd = ~np.isfinite(known)
    assert odd.sum() > 100 and np.array_equal(~np.isfinite(found), odd)
    assert np.array_equal(found[odd], known[odd], equal_nan=True)


@pytest.mark.parametrize("M, N", ((0, 5), (5, -1), ("100", 5), (2.5, 5)))
def test_bad_sizes_of_a_launch_or_a_model(M, N):
    for rung in LADDER.values():
        with pytest.raises((TypeError, ValueError), match="^[MN] must be "):
            rung.launch(M, N)
        with pytest.raises((TypeError, ValueError), match="^[MN] must be "):
            rung.model(M, N, 7)


def test_a_grid_has_limits():
    with pytest.raises(ValueError, match="75000 blocks along y .* this GPU allows 65535"):
        LADDER["tiled"].launch(600_000, 10, tile=8)


@pytest.mark.parametrize("M, N", ((1, 1), (100, 130), (524_280, 7), (524_281, 7), (2_000_000, 33)))
def test_what_is_computed_in_parts_can_be_added(M, N):
    LADDER["split_k"].launch(M, N, split=4)
    (across, down), (cols, rows) = split_k.launch_of_sums(M, N)
    assert (across - 1) * cols < N <= across * cols and (down - 1) * rows < M <= down * rows
    assert cols * rows <= 1024


def test_an_unknown_rung_names_those_there_are():
    with pytest.raises(KeyError) as caught:
        LADDER["tilde"]
    assert str(caught.value).startswith("no rung 'tilde': use one of swapped, naive, tiled, ")
    assert "tilde" not in LADDER and LADDER.get("tilde") is None


@pytest.mark.parametrize("block", (0, 1025, "256"))
def test_vector_add_refuses_a_block_that_no_gpu_launches(block):
    a = np.ones(3, np.float32)
    with pytest.raises((TypeError, ValueError), match="use 1 to 1024, best a multiple of 32"):
        add(a, a, block=block)


def test_vector_add_refuses_different_lengths():
    with pytest.raises(ValueError, match="a has 3 elements and b has 4: make them equal"):
        add(np.ones(3, np.float32), np.ones(4, np.float32))


@pytest.mark.skipif(on_gpu, reason="the C++ twins run on this machine's GPU")
def test_without_a_gpu_the_cpp_twins_say_so():
    with pytest.raises(RuntimeError, match="'cpp' needs an NVIDIA GPU .*: use engine='numba'"):
        LADDER["tiled"].matmul(A, B, engine="cpp")
    with pytest.raises(RuntimeError, match="naive.cu needs an NVIDIA GPU"):
        lab.cpp.load("naive")

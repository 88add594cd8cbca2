"""Fused attention: right at any length, counted, and without a matrix of N×N anywhere."""

from math import sqrt

import numpy as np
import pytest

from kernels import cupy, lab
from kernels.backend.device import Device
from kernels.primitives import attention as fused
from kernels.primitives.attention import attention, error_bound, exact, loads, make_attention

CASES = (
    (1, 1, 16, False), (2, 33, 64, False), (2, 70, 128, True), (1, 100, 40, True),
    (3, 16, 17, True), (1, 65, 127, False),
)  # fmt: skip


def inputs(heads, N, D, spread=1.0, seed=0):
    random = np.random.default_rng(seed)
    return [spread * random.standard_normal((heads, N, D), dtype=np.float32) for _ in "QKV"]


def traced(Q, K, V, causal, **options):
    heads, N, D = Q.shape
    out, lse = np.full(Q.shape, np.nan, np.float32), np.full((heads, N), np.nan, np.float32)
    return lab.trace(
        make_attention(D, causal, heads // len(K)), fused.launch(heads, N), (32, fused.QUERIES),
        Q, K, V, out, lse, np.float32(1 / sqrt(D)), **options,
    )  # fmt: skip


@pytest.mark.parametrize("heads, N, D, causal", CASES)
def test_it_is_right_and_loads_what_is_predicted(heads, N, D, causal):
    Q, K, V = inputs(heads, N, D, spread=2)
    trace, bound = traced(Q, K, V, causal), error_bound(Q, K, V, causal)
    assert trace.problems == []
    assert np.all(abs(trace.outputs["out"] - exact(Q, K, V, causal)) <= bound)
    for name, count in loads(heads, N, D, causal).items():
        assert trace.count(array=name)["lanes"] == count
    assert trace.count(array="out")["lanes"] == heads * N * D


@pytest.mark.parametrize("schedule", ("warps", "warps-reversed"))
def test_any_order_of_warps_gives_the_same(schedule):
    Q, K, V = inputs(1, 20, 16)
    trace = traced(Q, K, V, True, schedule=schedule)
    assert trace.problems == []
    assert np.all(abs(trace.outputs["out"] - exact(Q, K, V, True)) <= error_bound(Q, K, V, True))


def test_no_matrix_of_all_scores_is_stored():
    # Beside Q, K, V and O there is a number per query; the scores would be half a MiB.
    heads, N, D = 2, 256, 16
    trace = traced(*inputs(heads, N, D), False)
    arrays = {site.array for site in trace.sites if site.space == "global"}
    assert arrays == {"Q", "K", "V", "out", "lse"}
    assert trace.work.bytes_unique == 4 * heads * N * (4 * D + 1) < 4 * heads * N * N
    stored = sum(s.lanes for s in trace.sites if s.space == "global" and s.op == "store")
    assert stored == heads * N * (D + 1)


def test_it_keeps_the_logarithm_of_each_sum():
    Q, K, V = inputs(2, 33, 64, spread=2)
    scores = Q.astype(np.float64) @ K.transpose(0, 2, 1) / 8
    known = np.log(np.exp(scores).sum(axis=2))
    assert np.allclose(traced(Q, K, V, False).outputs["lse"], known, rtol=0, atol=1e-5)


@pytest.mark.parametrize("causal", (False, True))
def test_heads_of_queries_share_one_of_keys(causal):
    Q, K, V = inputs(6, 37, 24)
    K, V = K[:2], V[:2]
    repeated = exact(Q, K.repeat(3, axis=0), V.repeat(3, axis=0), causal)
    assert np.array_equal(exact(Q, K, V, causal), repeated)
    found, bound = attention(Q, K, V, causal=causal), error_bound(Q, K, V, causal)
    assert np.all(abs(found - repeated) <= bound)
    other = exact(Q, K[[1, 0]], V[[1, 0]], causal)
    assert np.any(abs(found - other) > bound), "the bound tells one head from another"
    trace = traced(Q, K, V, causal)
    assert trace.problems == [] and trace.count(array="K")["lanes"] == loads(6, 37, 24, causal)["K"]


@pytest.mark.parametrize("heads, N, D", [(1, 1, 16), (2, 70, 40), (1, 65, 128)])
def test_two_passes_load_the_keys_twice(heads, N, D):
    Q, K, V = inputs(heads, N, D, spread=2)
    trace = lab.trace(
        fused.make_two_pass(D), fused.launch(heads, N), (32, fused.QUERIES),
        Q, K, V, np.full(Q.shape, np.nan, np.float32), np.float32(1 / sqrt(D)),
    )  # fmt: skip
    assert trace.problems == []
    assert np.all(abs(trace.outputs["out"] - exact(Q, K, V)) <= error_bound(Q, K, V))
    once = loads(heads, N, D)
    assert trace.count(array="K")["lanes"] == 2 * once["K"]
    assert trace.count(array="V")["lanes"] == once["V"]


def test_no_shared_access_conflicts():
    trace = traced(*inputs(1, 64, 128), False)
    assert trace.count(space="shared")["conflicts"] == 0


def test_scores_that_would_overflow_do_no_harm():
    Q, K, V = inputs(1, 40, 32, spread=30)  # scores of thousands
    assert np.all(abs(attention(Q, K, V) - exact(Q, K, V)) <= error_bound(Q, K, V))


def test_the_first_query_of_a_causal_attention_sees_one_key():
    Q, K, V = inputs(2, 37, 24)
    assert np.array_equal(attention(Q, K, V, causal=True)[:, 0], V[:, 0])


def test_it_takes_any_strides_and_writes_where_it_is_told():
    Q, K, V = (x.transpose(2, 0, 1)[:, :, ::-1] for x in inputs(19, 33, 2))
    out = np.full((4, 19, 33), np.nan, np.float32)[::2]
    assert attention(Q, K, V, out=out) is out
    assert np.all(abs(out - exact(Q, K, V)) <= error_bound(Q, K, V))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda Q, K, V: exact(Q, K, V),  # no mask
        lambda Q, K, V: exact(Q[:, :, ::-1], K[:, :, ::-1], V, True)[:, :, ::-1],
        lambda Q, K, V: exact(2 * Q, K, V, True),  # another scale
        lambda Q, K, V: exact(K, Q, V, True),
        lambda Q, K, V: exact(Q, K, V, True) * (1 + 1e-4),
    ],
)
def test_the_bound_refuses_wrong_answers(wrong):
    Q, K, V = inputs(2, 70, 64)
    assert np.any(abs(wrong(Q, K, V) - exact(Q, K, V, True)) > error_bound(Q, K, V, True))


@pytest.mark.parametrize(
    "change, error, message",
    [
        (dict(Q=np.zeros((4, 16), np.float32)), ValueError,
         "Q has shape (4, 16); expected 3 dimensions"),
        (dict(K=np.zeros((1, 8, 16), np.float32)), ValueError,
         "Q is 1×4×16 of float32 and K is 1×8×16 of float32: make them the same"),
        (dict(Q=np.zeros((1, 4, 16), np.float16)), ValueError,
         "Q is 1×4×16 of float16 and K is 1×4×16 of float32: make them the same"),
        (dict.fromkeys("QKV", np.zeros((1, 4, 32), np.float16)), ValueError,
         "head size 32 is not supported: 16 bits take 64 and 128: fill it up with zeros"),
        (dict(Q=np.zeros((1, 4, 16))), TypeError,
         "Q holds float64; expected float32 or float16 or bfloat16 or uint16: use Q.astype"),
        (dict.fromkeys("QKV", np.zeros((1, 4, 15), np.float32)), ValueError,
         "head size 15 is not supported: float32 takes 16 to 128: split a head,"
         " or fill it up with zeros"),
        (dict.fromkeys("QKV", np.zeros((1, 4, 129), np.float32)), ValueError,
         "head size 129 is not supported: float32 takes 16 to 128"),
        (dict(out=np.zeros((1, 4, 17), np.float32)), ValueError,
         "out has shape (1, 4, 17); the result has (1, 4, 16)"),
        (dict(wgmma=1), TypeError, "the Numba kernel has no option 'wgmma': use engine='cpp'"),
        (dict(tall=1), TypeError, "the Numba kernel has no option 'tall': use engine='cpp'"),
        (dict(engine="triton"), ValueError, "unknown engine 'triton': use 'numba' or 'cpp'"),
        (dict(engine="cpp"), RuntimeError, "engine 'cpp' needs an NVIDIA GPU"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(change, error, message):
    given = dict(zip("QKV", inputs(1, 4, 16), strict=True)) | change
    with pytest.raises(error) as raised:
        attention(**given)
    assert str(raised.value).startswith(message) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"warps": 3}, "the kernel is not written for warps=3: use 4 or 8"),
        ({"keys": 96}, "the kernel is not written for keys=96: use 64 or 128"),
        ({"tall": 2, "warps": 8}, "tall=2 leaves no registers for warps=8 and keys=64"),
    ],
)
def test_tiles_that_cannot_be_are_said_in_one_line(options, message):
    with pytest.raises(ValueError) as raised:
        fused.Tiles(**options)
    assert str(raised.value).startswith(message)


def test_a_gpu_without_the_instructions_is_told_the_way_out():
    fused.check_gpu(None)
    fused.check_gpu((8, 0))
    with pytest.raises(RuntimeError) as raised:
        fused.check_gpu((7, 5))
    assert str(raised.value) == (
        "attention.cu needs sm_80, this GPU is sm_75: use float32 and engine='numba'"
    )


@pytest.mark.parametrize(
    "capability, wgmma, tiles, hopper",
    [
        ((9, 0), None, {}, True),
        ((9, 0), 0, {}, False),
        ((9, 0), None, {"keys": 128}, False),  # of the other kernel
        ((8, 0), None, {}, False),
        ((10, 0), None, {}, False),  # wgmma is Hopper's alone
        (None, None, {}, False),
        (None, 1, {}, True),
    ],
)
def test_hopper_has_a_kernel_of_its_own(capability, wgmma, tiles, hopper, monkeypatch):
    monkeypatch.setattr(fused, "device", lambda: Device("", capability))
    assert fused.takes_wgmma(wgmma, tiles) == hopper


@pytest.mark.parametrize(
    "capability, wgmma, tiles, error, message",
    [
        ((8, 0), 1, {}, RuntimeError, "attention_wgmma needs sm_90, this GPU is sm_80: use wgm"),
        ((12, 0), 1, {}, RuntimeError, "attention_wgmma needs sm_90, this GPU is sm_120: use"),
        ((9, 0), 2, {}, ValueError, "wgmma is 2: use 0 or 1, or leave it out"),
        ((9, 0), 1, {"keys": 64}, TypeError, "with wgmma=1 there is no option 'keys': leave one"),
    ],
)
def test_a_kernel_that_cannot_run_is_said_in_one_line(
    capability, wgmma, tiles, error, message, monkeypatch
):
    monkeypatch.setattr(fused, "device", lambda: Device("", capability))
    with pytest.raises(error) as raised:
        fused.takes_wgmma(wgmma, tiles)
    assert str(raised.value).startswith(message) and "\n" not in str(raised.value)


def test_a_prepared_launch_computes_anew():
    Q, K, V = (cupy.asarray(x) for x in inputs(1, 20, 16))
    operands = fused.Heads(Q, K, V)
    launch = fused.launcher(operands, causal=True)
    Q[...] = cupy.asarray(inputs(1, 20, 16, seed=7)[0])
    launch()
    given = [cupy.asnumpy(x) for x in (Q, K, V)]
    found = cupy.asnumpy(operands.result())
    assert np.all(abs(found - exact(*given, True)) <= error_bound(*given, True))

"""How Stream-K deals out the tiles of C; none of it needs a GPU."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import LADDER, stream_k
from kernels.lab.host import cdiv

sizes = st.integers(1, 20_000)


@given(sizes, sizes, sizes, st.sampled_from((4, 57, 114, 132)))
def test_every_cluster_has_work_and_none_more_than_two_tiles_of_the_divided(M, N, K, sms):
    deal = stream_k.deal(M, N, K, sms=sms)
    assert 128 * deal.cluster * (deal.down - 1) < M <= 128 * deal.cluster * deal.down
    assert deal.BN * (deal.across - 1) < N <= deal.BN * deal.across
    assert 64 * (deal.steps - 1) < K <= 64 * deal.steps
    assert 0 < deal.clusters * deal.cluster <= sms
    assert deal.whole + deal.divided == deal.down * deal.across
    if not deal.divided:
        assert deal.sharers == 0 and deal.clusters <= deal.whole
        rounds = cdiv(deal.whole, deal.clusters)
        assert rounds == cdiv(deal.whole, sms // deal.cluster)
        return
    # Full rounds first; then shares shorter than a tile's walk, so that they touch two at most.
    assert deal.whole % deal.clusters == 0
    assert deal.divided < deal.sharers <= deal.clusters
    assert cdiv(deal.divided * deal.steps, deal.sharers) <= deal.steps
    assert deal.divided * deal.steps < 2**31


@given(sizes, sizes, sizes)
def test_dividing_is_never_dealt_where_whole_tiles_are_done_sooner(M, N, K):
    deal = stream_k.deal(M, N, K, sms=132)
    for BN in (128, 256):
        for cluster in (1, 2):
            other = stream_k.deal(M, N, K, BN, cluster, sms=132)
            assert (other.BN, other.cluster) == (BN, cluster) and deal.cost <= other.cost
    rounds = cdiv(deal.down * deal.across, 132 // deal.cluster)
    assert deal.longest <= rounds * deal.steps


@pytest.mark.parametrize(
    "shape, BN, cluster, whole, sharers, longest",
    [
        ((8192, 8192, 8192), 256, 2, 990, 66, 15 * 128 + 66),
        ((4096, 4096, 4096), 256, 2, 256, 0, 4 * 64),  # next to nothing to gain
        ((8192, 8192, 128), 256, 2, 1024, 0, 16 * 2),  # K too short to be divided
        ((128, 8192, 8192), 128, 1, 0, 128, 64),
        ((8192, 128, 8192), 128, 2, 0, 64, 64),
    ],
)
def test_deals_on_132_sms(shape, BN, cluster, whole, sharers, longest):
    deal = stream_k.deal(*shape, sms=132)
    assert (deal.BN, deal.cluster, deal.whole, deal.sharers) == (BN, cluster, whole, sharers)
    assert deal.longest == longest


def test_a_k_whose_steps_32_bits_do_not_count_is_not_divided():
    assert stream_k.deal(128, 256, 2**28, sms=132).sharers > 1
    assert stream_k.deal(128 * 66, 256, 2**31 - 2**14, 256, 1, sms=132).sharers == 0


@pytest.mark.parametrize(
    "options, error, told",
    [
        ({"BN": 64}, ValueError, "BN 64 is none that the kernel is written for"),
        ({"BN": -1}, ValueError, "BN must be at least 0, got -1: use 0 or 128 or 256"),
        ({"cluster": 4}, ValueError, "cluster 4 is none that the kernel is written for"),
        ({"cluster": True}, TypeError, "cluster must be a whole number, got True: use 0 or 1 or 2"),
    ],
)
def test_options_that_the_kernel_has_not_are_one_line(options, error, told):
    rung = LADDER["stream_k"]
    for function in (rung.launch, lambda M, N, **given: rung.model(M, N, 5, **given)):
        with pytest.raises(error) as caught:
            function(100, 130, **options)
        assert str(caught.value).startswith(told) and "\n" not in str(caught.value)


def test_the_model_follows_the_deal():
    M, N, K = 128, 8192, 8192
    model, deal = LADDER["stream_k"].model(M, N, K), stream_k.deal(M, N, K)
    assert model.loads == {"A": M * K * deal.across, "B": K * N * deal.down}

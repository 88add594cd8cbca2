"""How Stream-K deals out the tiles of C, and adds up what was dealt; none of it needs a GPU."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import LADDER, lab
from kernels.backend import on_gpu
from kernels.host import cdiv, cpp
from kernels.measure import oracle
from kernels.rungs import stream_k
from kernels.rungs.stream_k import Deal

sizes = st.integers(1, 20_000)


@given(sizes, sizes, sizes, st.sampled_from((4, 57, 114, 132)))
def test_every_cluster_has_work_and_none_more_than_two_tiles_of_the_divided(M, N, K, sms):
    deal = stream_k.deal(M, N, K, sms=sms)
    assert 128 * deal.cluster * (deal.down - 1) < M <= 128 * deal.cluster * deal.down
    assert deal.BN * (deal.across - 1) < N <= deal.BN * deal.across
    assert 64 * (deal.steps - 1) < K <= 64 * deal.steps
    assert 0 < deal.blocks <= sms
    assert deal.whole + deal.divided == deal.down * deal.across
    if not deal.divided:
        assert deal.sharers == 0 and deal.clusters <= deal.whole
        rounds = cdiv(deal.whole, deal.clusters)
        assert rounds == cdiv(deal.whole, sms // (deal.cluster * deal.parts))
        # A pair has one tile and a step each; half of its sums fit beside the ring.
        assert deal.parts == 1 or (rounds, deal.BN, deal.cluster) == (1, 128, 1) and deal.steps > 1
        return
    assert deal.parts == 1
    # Full rounds first; then shares shorter than a tile's walk, so that they touch two at most.
    assert deal.whole % deal.clusters == 0
    assert deal.divided < deal.sharers <= deal.clusters
    assert cdiv(deal.divided * deal.steps, deal.sharers) <= deal.steps
    assert deal.sharers <= deal.divided * deal.steps < 2**31  # and no share is empty


def share_begin(sharer, deal):
    """The counterpart of the function of this name in stream_k.cu."""
    steps = deal.divided * deal.steps
    return steps // deal.sharers * sharer + min(sharer, steps % deal.sharers)


def pieces(cluster, deal):
    """The pieces (tile, first, last) of a cluster: as `piece_number` in stream_k.cu."""
    for tile in range(cluster, deal.whole, deal.clusters):
        yield tile, 0, deal.steps
    if cluster < deal.sharers:
        begin, end = share_begin(cluster, deal), share_begin(cluster + 1, deal)
        early, late = begin // deal.steps, (end - 1) // deal.steps
        yield deal.whole + late, max(begin - late * deal.steps, 0), end - late * deal.steps
        if early < late:
            yield deal.whole + early, begin - early * deal.steps, deal.steps


def replay(deal):
    """Do the pieces of one cluster after the other, and fail where one would wait in vain.

    A cluster may wait for sums of clusters before it, which leave theirs before they wait.
    """
    parts = [[] for _ in range(deal.down * deal.across)]
    left = {}  # by the cluster that left sums: their tile
    for cluster in range(deal.clusters):
        waited = False
        for tile, first, last in pieces(cluster, deal):
            assert 0 <= first < last <= deal.steps
            parts[tile].append((first, last))
            if last < deal.steps:
                assert cluster not in left, "there is room for the sums of one piece"
                assert not waited, "those who wait must not be waited for"
                left[cluster] = tile
            elif first > 0:
                waited, other = True, cluster
                while share_begin(other, deal) > (tile - deal.whole) * deal.steps:
                    other -= 1
                    assert left.pop(other, None) == tile
    assert not left, "sums that nobody adds"
    for tile in parts:
        ends = [end for piece in sorted(tile) for end in piece]
        assert ends[0] == 0 and ends[-1] == deal.steps
        assert ends[1:-1:2] == ends[2:-1:2], "each step is done once"


def test_all_small_deals_do_each_step_once_and_wait_for_nobody_who_waits():
    for clusters in range(2, 10):
        for divided in range(1, clusters):
            for sharers in range(divided + 1, clusters + 1):
                for steps in range(cdiv(sharers, divided), 16):
                    replay(Deal(256, 2, divided, 1, steps, sharers, 0, sharers))
                    tiles = 2 * clusters + divided
                    replay(Deal(256, 2, 1, tiles, steps, clusters, tiles - divided, sharers))


@settings(max_examples=500, deadline=None)
@given(
    st.integers(1, 5_000), st.integers(1, 5_000), sizes | st.integers(1, 2**31 - 2**14),
    st.sampled_from((0, 128, 256)), st.sampled_from((0, 1, 2)), st.integers(4, 132),
)  # fmt: skip
def test_what_is_dealt_does_each_step_once_and_waits_for_nobody_who_waits(
    M, N, K, BN, cluster, sms
):
    replay(stream_k.deal(M, N, K, BN, cluster, sms=sms))


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
    "shape, BN, cluster, whole, sharers, longest, parts",
    [
        ((8192, 8192, 8192), 256, 2, 990, 66, 15 * 128 + 66, 1),
        ((4096, 4096, 4096), 256, 2, 256, 0, 4 * 64, 1),  # next to nothing to gain
        ((2048, 2048, 2048), 256, 1, 128, 0, 32, 1),  # too short for clusters to pay
        ((8192, 8192, 128), 256, 1, 2048, 0, 16 * 2, 1),  # K too short to be divided
        ((128, 8192, 8192), 128, 1, 64, 0, 64, 2),
        ((8192, 128, 8192), 128, 1, 64, 0, 64, 2),
        ((128, 16384, 8192), 128, 1, 128, 0, 128, 1),  # a block for each tile, not two
    ],
)
def test_deals_on_132_sms(shape, BN, cluster, whole, sharers, longest, parts):
    deal = stream_k.deal(*shape, sms=132)
    assert (deal.BN, deal.cluster, deal.whole, deal.sharers) == (BN, cluster, whole, sharers)
    assert (deal.longest, deal.parts) == (longest, parts)


def test_every_role_waits_for_the_launches_before_before_it_touches_global_memory():
    body = cpp.source("stream_k").partition('extern "C" __global__')[2]
    producer, consumers = body.split("take_registers<224>();")
    for role, touches in (
        (producer, ("tile_load(", "tile_load_multicast(")),
        (consumers, ("leave_sums(", "add_sums(", "store_sums(")),
    ):
        wait = role.index("wait_for_launches_before();")
        assert all(wait < role.index(touch) for touch in touches)


def test_a_k_whose_steps_32_bits_do_not_count_is_not_divided():
    assert stream_k.deal(128, 256, 2**28, sms=132).sharers > 1
    assert stream_k.deal(128 * 66, 256, 2**31 - 2**14, 256, 1, sms=132).sharers == 0


@pytest.mark.skipif(on_gpu, reason="is about the interpreter")
@pytest.mark.parametrize(
    "shape, options, sharers, parts",
    [
        ((100, 120, 1300), {"BN": 256, "cluster": 2}, 2, 1),  # a tile is divided
        ((100, 120, 1300), {"BN": 128, "cluster": 1}, 0, 2),  # two blocks swap halves of its sums
    ],
)
def test_without_a_gpu_the_interpreter_adds_up_what_was_dealt(shape, options, sharers, parts):
    M, N, K = shape
    dealt = stream_k.deal(M, N, K, *options.values())
    assert (dealt.sharers, dealt.parts) == (sharers, parts)
    A, B = oracle.inputs(M, N, K, dtype="bfloat16")
    for _ in range(2):  # what one launch leaves is cleared for the next
        lab.check(LADDER["stream_k"].matmul(A, B, **options), A, B)


@pytest.mark.parametrize(
    "options, error, told",
    [
        ({"BN": 64}, ValueError, "the kernel is not written for BN=64: use 0, 128 or 256"),
        ({"BN": -1}, ValueError, "BN must be at least 0, got -1: use 0, 128 or 256"),
        ({"cluster": 4}, ValueError, "the kernel is not written for cluster=4: use 0, 1 or 2"),
        ({"cluster": True}, TypeError, "cluster must be a whole number, got True: use 0, 1 or 2"),
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

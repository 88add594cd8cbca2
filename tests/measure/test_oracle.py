"""The oracle accepts every right product and says what a wrong one looks like."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import LADDER, cupy, lab
from kernels.measure.oracle import WrongResult, check, inputs, poisoned, tolerance, verify

M, N, K = 45, 70, 53
A, B = inputs(M, N, K)
RIGHT = A @ B


def complaint(C, A=A, B=B) -> str:
    with pytest.raises(WrongResult) as caught:
        check(C, A, B)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_right_product_passes_and_says_so():
    verdict = check(RIGHT, A, B)
    assert repr(verdict) == (
        "right: all 45 × 70 elements are within the float32 tolerance for K = 53"
    )
    assert 0 < verdict.worst < 1


def test_inputs_are_random_and_repeatable():
    again = inputs(M, N, K)
    assert np.array_equal(A, again[0]) and np.array_equal(B, again[1])
    assert A.shape == (M, K) and B.shape == (K, N) and A.dtype == B.dtype == np.float32
    assert not np.array_equal(A, inputs(M, N, K, seed=1)[0])
    assert np.isnan(poisoned(3, 5)).all() and poisoned(3, 5).dtype == np.float32


@given(
    st.integers(1, 40), st.integers(1, 40), st.integers(1, 300),
    st.sampled_from(("normal", "positive", "constant", "cancelling", "huge", "tiny")),
    st.randoms(use_true_random=False),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_any_order_of_float32_sums_passes(rows, cols, depth, kind, random):
    rng = np.random.default_rng(random.randrange(2**32))
    A, B = inputs(rows, cols, depth, seed=random.randrange(2**32))
    if kind == "positive":
        A, B = abs(A), abs(B)
    elif kind == "constant":
        A, B = np.full_like(A, 0.1), np.full_like(B, 0.7)
    elif kind == "cancelling":
        A[:, depth // 2 :] *= np.float32(1e4)
    elif kind == "huge":
        A, B = A * np.float32(1e15), B * np.float32(1e15)
    elif kind == "tiny":
        A, B = A * np.float32(1e-22), B * np.float32(1e-20)
    C = np.zeros((rows, cols), np.float32)
    for k in rng.permutation(depth):
        C += A[:, k, None] * B[k]
    assert check(C, A, B).worst <= 1


def test_the_tolerance_follows_from_k():
    short, long = inputs(1, 1, 100), inputs(1, 1, 10_000)
    ratio = tolerance(*long) / (abs(long[0]) @ abs(long[1]))
    assert ratio / (tolerance(*short) / (abs(short[0]) @ abs(short[1]))) == pytest.approx(100, 0.01)
    assert tolerance(A, B).shape == (M, N)


def broken(name):
    """Return what a kernel with one mistake computes."""
    C = RIGHT.copy()
    if name == "one element":
        C[7, 9] += 0.01
    elif name == "nothing written":
        C[:] = np.nan
    elif name == "rows unwritten":
        C[32:] = np.nan
    elif name == "columns unwritten":
        C[:, 64:] = np.nan
    elif name == "some NaN":
        C[3, 4] = C[10, 60] = np.nan
    elif name == "zeros":
        C[:] = 0
    elif name == "twice":
        C *= 2
    elif name == "negative":
        C *= -1
    elif name == "last tile of K":
        C = A[:, :48] @ B[:48]
    elif name == "last k":
        C = A[:, :-1] @ B[:-1]
    elif name == "overwritten sum":
        C = A[:, 48:] @ B[48:]
    elif name == "edge rows":
        C[32:] += 1
    elif name == "edge columns":
        C[:, 64:] += 1
    elif name == "halves exchanged":
        C[:] = C[[*range(8, 16), *range(8), *range(16, M)]]
    elif name == "columns reversed":
        C = C[:, ::-1]
    elif name == "half precision":
        C = (A.astype(np.float16).astype("f4")) @ (B.astype(np.float16).astype("f4"))
    elif name == "noise":
        C = C + inputs(M, N, 1)[0] * 3
    return C


LOOKS_LIKE = {
    "one element": "no pattern recognised",
    "nothing written": "nothing was written (NaN everywhere)",
    "rows unwritten": "unwritten rows (NaN): 32 to 44",
    "columns unwritten": "unwritten columns (NaN): 64 to 69",
    "some NaN": "2 elements are NaN: unwritten, or computed from unwritten ones",
    "zeros": "every element is zero",
    "twice": "every element is 2 times the right one",
    "negative": "every element is -1 times the right one",
    "last tile of K": "the last 5 of K = 53 products are missing: K // tile where cdiv is needed?",
    "last k": "the last 1 of K = 53 products are missing: K // tile where cdiv is needed?",
    "overwritten sum": "only the last 5 of K = 53 products are there: set instead of added to?",
    "edge rows": "only the last rows (32 to 44) are wrong: the guard of the edge tile?",
    "edge columns": "only the last columns (64 to 69) are wrong: the guard of the edge tile?",
    "halves exchanged": "right rows in wrong places: row 0 holds row 8 of A·B",
    "columns reversed": "right columns in wrong places: column 0 holds column 69 of A·B",
    "half precision": "small errors, as of arithmetic in fewer than float32's 24 bits",
    "noise": "no pattern recognised",
}


@pytest.mark.parametrize("name", LOOKS_LIKE)
def test_a_wrong_product_is_described(name):
    message = complaint(broken(name))
    assert message.endswith(": " + LOOKS_LIKE[name])
    wrong = ~(abs(broken(name) - A.astype(float) @ B.astype(float)) <= tolerance(A, B))
    row, col = np.argwhere(wrong)[0]
    assert message.startswith(f"C[{row}, {col}] is ")
    assert f"; {wrong.sum()} of 3150 elements are wrong" in message


def test_the_message_shows_what_was_got_and_what_was_expected():
    C = RIGHT.copy()
    C[20, 30] = 1234.5
    expected = float(A[20].astype(float) @ B[:, 30].astype(float))
    assert complaint(C) == (
        f"C[20, 30] is 1234.5, expected {expected:.7g} (within {tolerance(A, B)[20, 30]:.1g});"
        " 1 of 3150 elements are wrong: no pattern recognised"
    )


SQUARE = inputs(33, 33, 33)


@pytest.mark.parametrize(
    "wrong, text",
    (
        (lambda A, B: (A @ B).T, "this is the transpose of A·B"),
        (lambda A, B: B @ A, "this is B·A"),
        (lambda A, B: A @ B.T, "this is A·Bᵀ"),
        (lambda A, B: A.T @ B, "this is Aᵀ·B"),
        (lambda A, B: A.T @ B.T, "this is the transpose|this is Aᵀ·Bᵀ"),
    ),
)
def test_swapped_indices_are_named(wrong, text):
    assert re.search(text, complaint(wrong(*SQUARE), *SQUARE))


def test_nan_never_passes():
    for position in ((0, 0), (M - 1, N - 1), (20, 35)):
        C = RIGHT.copy()
        C[position] = np.nan
        assert complaint(C).startswith(f"C[{position[0]}, {position[1]}] is nan")
    infinite = RIGHT.copy()
    infinite[2, 3] = np.inf
    assert complaint(infinite).startswith("C[2, 3] is inf")


def test_bad_arguments_are_one_clear_line():
    with pytest.raises(ValueError, match=r"^C has shape \(70, 45\); A·B has \(45, 70\)$"):
        check(RIGHT.T, A, B)
    with pytest.raises(ValueError, match="^A is 45×53 and B is 45×53: B must have as many rows"):
        check(RIGHT, A, A)
    bad = A.copy()
    bad[0, 0] = np.inf
    with pytest.raises(ValueError, match="^A holds NaN or infinity: check needs finite inputs$"):
        check(RIGHT, bad, B)


def test_device_arrays_are_checked_too():
    check(cupy.asarray(RIGHT), cupy.asarray(A), cupy.asarray(B))
    check(cupy.asarray(RIGHT), A, B)
    with pytest.raises(WrongResult, match="every element is 2 times"):
        check(cupy.asarray(2 * RIGHT), A, cupy.asarray(B))


def test_verify_poisons_the_output_and_names_the_shape():
    for name in ("swapped", "naive", "tiled", "thread_tiled", "swizzled"):
        verify(LADDER[name].matmul)
    shapes = []

    def forgets_the_last_row(A, B, out):
        shapes.append((A.shape, B.shape))
        assert np.isnan(out).all()
        out[:-1] = A[:-1] @ B

    with pytest.raises(WrongResult, match=r"^M, N, K = 17, 5, 31: .* unwritten rows \(NaN\): 16$"):
        verify(forgets_the_last_row, shapes=[(17, 5, 31), (1, 1, 1)])
    assert shapes == [((17, 31), (31, 5))]


def test_the_name_in_lab_is_this_check():
    assert lab.check is check

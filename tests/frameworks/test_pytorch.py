"""The ladder as a PyTorch operator: right, differentiable, and left whole by its compiler.

Elements are eighths, so every sum is exact in float32, and a difference quotient of a product with
a step of an eighth is its derivative: nothing here needs a tolerance.
"""

import subprocess
import sys
from dataclasses import replace

import nbformat
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from kernels import LADDER, cupy, on_gpu  # noqa: E402
from kernels.basics.files import ROOT  # noqa: E402
from kernels.frameworks.pytorch import attention, attention_lse, matmul  # noqa: E402
from kernels.lab import cdiv  # noqa: E402
from kernels.lab.pages import path_of  # noqa: E402

OPERATORS = torch.ops.tile_by_tile
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture(params=DEVICES)
def eighths(request):
    """Makes a matrix of eighths on a device, ready to be differentiated by."""
    if request.param == "cpu" and on_gpu:
        pytest.skip("on a GPU the Numba kernels are compiled: nothing runs on the CPU")
    generator = torch.Generator().manual_seed(7)

    def make(*shape):
        whole = torch.randint(-8, 9, shape, generator=generator).float() / 8
        return whole.to(request.param).requires_grad_()

    return make


def keeps_the_rules(operator, *arguments):
    """Whether PyTorch finds nothing amiss with an operator."""
    return set(torch.library.opcheck(operator.default, arguments).values()) == {"SUCCESS"}


@pytest.mark.parametrize("rung", ("naive", "tiled", "warp_tiled"))
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 7, 3), (40, 33, 17)])
def test_it_multiplies(eighths, rung, sizes):
    M, N, K = sizes
    A, B = eighths(M, K), eighths(K, N)
    C = torch.ops.tile_by_tile.matmul(A, B, rung)
    assert C.device == A.device and torch.equal(C, A @ B)


def test_transposed_and_sliced_tensors_are_multiplied(eighths):
    A, B = eighths(9, 12), eighths(9, 20)
    assert torch.equal(matmul(A.t(), B[:, ::2]), A.t() @ B[:, ::2])


@pytest.mark.filterwarnings("ignore:Input #. requires gradient and is not a double")
def test_gradients_of_first_and_second_order_are_exact(eighths):
    A, B, G = eighths(5, 7), eighths(7, 3), eighths(5, 3)
    exact = {"eps": 0.125, "atol": 0, "rtol": 0}
    assert torch.autograd.gradcheck(matmul, (A, B), **exact)
    assert torch.autograd.gradgradcheck(matmul, (A, B), (G,), **exact)


@pytest.mark.filterwarnings("ignore:Input #. requires gradient and is not a double")
def test_the_operator_that_the_page_writes_is_right_and_differentiable(eighths):
    page = nbformat.read(path_of("11-at-work"), 4)
    (cell,) = (cell for cell in page.cells if cell.id == "your-operator")
    names = {"LADDER": LADDER, "cupy": cupy, "on_gpu": on_gpu, "cdiv": cdiv}
    exec(cell.source, names)
    written, A, B = names["my_matmul"], eighths(5, 7), eighths(3, 7)
    assert torch.equal(written(A, B.t()), A @ B.t())
    assert torch.autograd.gradcheck(written, (A, B.detach().t()), eps=1 / 8, atol=0, rtol=0)
    found = torch.library.opcheck(written, (A, eighths(7, 3)))
    assert set(found.values()) == {"SUCCESS"}


def test_a_gradient_that_nobody_asks_for_is_not_computed(eighths):
    A, B = eighths(4, 4).detach(), eighths(4, 4)
    matmul(A, B).sum().backward()
    assert A.grad is None and torch.equal(B.grad, A.t() @ torch.ones_like(A))


def test_it_keeps_the_rules_of_operators(eighths):
    assert keeps_the_rules(OPERATORS.matmul, eighths(5, 7), eighths(7, 3))


@pytest.mark.parametrize("backend", ("aot_eager", pytest.param("inductor", marks=pytest.mark.gpu)))
def test_the_compiler_takes_it_whole(eighths, backend):
    def layer(A, B):
        return torch.relu(matmul(A, B)).sum()

    A, B = eighths(6, 9), eighths(9, 4)
    expected = torch.autograd.grad(layer(A, B), (A, B))
    whole = torch.compile(layer, fullgraph=True, backend=backend)
    found = torch.autograd.grad(whole(A, B), (A, B))
    assert all(map(torch.equal, found, expected))


@pytest.mark.parametrize(
    "A, B, rung, error, said",
    [
        (torch.ones(2, 3), torch.ones(4, 2), "tiled", ValueError, "A is 2×3 and B 4×2"),
        (
            torch.ones(2, 3, 1),
            torch.ones(3, 2),
            "tiled",
            ValueError,
            r"two sizes, as in A.reshape\(-1, 1\)",
        ),
        (torch.ones(()), torch.ones(3, 2), "tiled", ValueError, r"A has shape \(\)"),
        (torch.ones(2, 0), torch.ones(0, 2), "tiled", ValueError, r"A has shape \(2, 0\)"),
        (torch.ones(2, 3).double(), torch.ones(3, 2), "tiled", TypeError, "A holds torch.float64"),
        (torch.ones(2, 3), torch.ones(3, 2).half(), "tiled", TypeError, "B holds torch.float16"),
        (torch.ones(2, 3), torch.ones(3, 2), "tilled", LookupError, "no rung 'tilled': use one of"),
        (
            torch.ones(2, 3),
            torch.ones(3, 2),
            "mma",
            ValueError,
            "on every device, not float32: use",
        ),
    ],
)
def test_what_cannot_be_multiplied_is_refused_in_one_line(A, B, rung, error, said):
    with pytest.raises(error, match=said) as caught:
        matmul(A, B, rung)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(on_gpu, reason="on a GPU, its CUDA C++ kernel runs")
def test_a_rung_without_a_numba_kernel_needs_a_gpu(monkeypatch):
    monkeypatch.setitem(LADDER, "naive", replace(LADDER["naive"], make=None, engines=("cpp",)))
    with pytest.raises(ValueError, match=r"naive is CUDA C\+\+ and needs a GPU: use .*tiled"):
        matmul(torch.ones(2, 3), torch.ones(3, 2), "naive")


def test_the_shape_is_known_without_a_product():
    C = matmul(torch.ones(5, 7, device="meta"), torch.ones(7, 3, device="meta"))
    assert C.is_meta and C.shape == (5, 3)
    with pytest.raises(ValueError, match="A is 5×7 and B 3×5"):
        matmul(torch.ones(5, 7, device="meta"), torch.ones(3, 5, device="meta"))


@pytest.mark.gpu
def test_tensors_on_two_devices_are_refused():
    with pytest.raises(ValueError, match="A is on cuda:0 and B on cpu"):
        matmul(torch.ones(2, 2, device="cuda"), torch.ones(2, 2))


@pytest.mark.gpu
@pytest.mark.parametrize("rung", [r.name for r in LADDER.values() if "cpp" in r.engines
                                  and r.dtypes == ("float32",)])  # fmt: skip
def test_a_cuda_graph_records_it(rung):
    if LADDER[rung].missing():
        pytest.skip(LADDER[rung].missing())
    A = torch.randint(-8, 9, (256, 256), device="cuda").float() / 8
    B = A.clone()
    matmul(A, B, rung)  # the first call compiles
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        C = matmul(A, B, rung)
    A.copy_(A.flip(0))
    graph.replay()
    assert torch.equal(C, A @ B)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16))
@pytest.mark.parametrize(
    "rung, size", [("", 7), ("", 333), ("", 1024), ("", 3075), ("split_k", 3075)]
)
def test_a_cuda_graph_records_every_size(rung, size, dtype):
    """Also those whose rows are copied first, and with memory that is asked for meanwhile."""
    if rung and dtype != torch.float32:
        pytest.skip("takes float32")
    A = torch.randint(-2, 3, (size, size), device="cuda").to(dtype)
    B = A.clone()
    matmul(A, B, rung)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        C = matmul(A, B.t(), rung)
    A.copy_(A.flip(0))
    others = [torch.zeros(size, size, device="cuda") for _ in range(8)]
    graph.replay()
    assert torch.equal(C, (A.float() @ B.float().t()).to(dtype)) and len(others) == 8


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16))
@pytest.mark.parametrize("size", (64, 333))
def test_a_kept_launch_follows_its_tensors(dtype, size):
    """By rows or columns, aligned or not, with operands that are one and operands that aren't."""
    held = []
    for place in (0, 8, 3, 16, 0, 1):
        room = torch.randint(-2, 3, (2, size * size + 16), device="cuda").to(dtype)
        A, B = (x[place : place + size * size].view(size, size) for x in room)
        held.append(room)
        for left, right in ((A, B), (A, B.t()), (A.t(), B), (A, A), (B, A)):
            known = (left.float() @ right.float()).to(dtype)
            assert torch.equal(matmul(left, right), known)


@pytest.mark.gpu
def test_it_runs_on_the_current_stream():
    A = torch.zeros(2048, 2048, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(20):
            A = matmul(A, A, "naive")
        A = A + 1
        C = matmul(A, A)
    stream.synchronize()
    assert torch.equal(C, torch.full_like(C, 2048))


def test_without_pytorch_one_line_says_so():
    code = "import sys; sys.modules['torch'] = None; import kernels.frameworks.pytorch"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: kernels.frameworks.pytorch needs PyTorch: .venv/bin/pip install torch, "
        "or pip install torch in your own environment"
    )


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_16_bits_are_added_in_float32_and_rounded_once(eighths, dtype):
    A, B = (x.detach().to(dtype).requires_grad_() for x in (eighths(5, 70), eighths(3, 70)))
    C = torch.ops.tile_by_tile.matmul(A, B.t())
    assert C.dtype == dtype and torch.equal(C, (A.float() @ B.float().t()).to(dtype))
    C.sum().backward()
    assert A.grad.dtype == dtype and torch.equal(A.grad, torch.ones_like(C) @ B.detach())
    assert keeps_the_rules(OPERATORS.matmul, A, B.t())


def test_8_bits_give_bfloat16_and_no_gradient():
    A = torch.ones(5, 7, device="meta").to(torch.float8_e4m3fn)
    assert matmul(A, A.t()).dtype == torch.bfloat16
    with pytest.raises(TypeError, match="A holds torch.float8_e4m3fn and B holds torch.float32"):
        matmul(A, torch.ones(7, 3, device="meta"))


# --------------------------------------------------------------------------------- attention


def heads(shape, device, dtype=torch.float32, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(device, dtype).requires_grad_()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("causal", (False, True))
@pytest.mark.parametrize("shared", (1, 2))
def test_attention_and_its_gradients_are_pytorchs(device, causal, shared):
    if device == "cpu" and on_gpu:
        pytest.skip("on a GPU the Numba kernels are compiled: nothing runs on the CPU")
    Q = heads((2, 2, 37, 16), device)
    K, V = (heads((2, 2 // shared, 37, 16), device, seed=seed) for seed in (4, 5))
    G = heads(Q.shape, device, seed=6).detach()
    found = torch.ops.tile_by_tile.attention(Q, K, V, causal)
    again = [x.detach().double().requires_grad_() for x in (Q, K, V)]
    expected = torch.nn.functional.scaled_dot_product_attention(
        *again, is_causal=causal, enable_gqa=shared > 1
    )
    assert torch.allclose(found.double(), expected, atol=1e-5)
    gradients = torch.autograd.grad(found, (Q, K, V), G)
    for one, other in zip(gradients, torch.autograd.grad(expected, again, G.double()), strict=True):
        assert torch.allclose(one.double(), other, atol=1e-4)
    assert keeps_the_rules(OPERATORS.attention_lse, Q, K, V)


@pytest.mark.parametrize("device", DEVICES)
def test_attention_tells_the_logarithms_of_its_sums(device):
    if device == "cpu" and on_gpu:
        pytest.skip("on a GPU the Numba kernels are compiled: nothing runs on the CPU")
    Q, K, V = (heads((2, 2, 37, 16), device, seed=seed).detach() for seed in (3, 4, 5))
    found, sums = attention_lse(Q, K, V)
    assert torch.equal(found, attention(Q, K, V))
    assert torch.allclose(sums, (Q @ K.mT / 4).logsumexp(-1), atol=1e-4)


@pytest.mark.gpu
@pytest.mark.skipif(not on_gpu or torch.cuda.get_device_capability()[0] != 9, reason="Hopper's")
@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
@pytest.mark.parametrize("M, N, causal", [(1, 3000, True), (130, 700, True), (128, 4097, False)])
def test_attention_takes_other_lengths_and_shared_heads(dtype, M, N, causal):
    """Few queries: the keys are cut, and their parts merged."""
    for D in (64, 128):
        Q, K, V = (
            heads((2, 8, M, D), "cuda", dtype),
            *(heads((2, 2, N, D), "cuda", dtype, seed) for seed in (4, 5)),
        )
        found, sums = attention_lse(Q.detach(), K.detach(), V.detach(), causal)
        k, v = (x.float().repeat_interleave(4, 1) for x in (K, V))
        scores = Q.float() @ k.mT / D**0.5
        seen = torch.ones(M, N, device="cuda")
        seen = seen.tril(N - M) if causal else seen
        scores = scores.masked_fill(seen == 0, float("-inf"))
        assert (found.float() - scores.softmax(-1) @ v).abs().max() < 2**-6
        assert (sums - scores.logsumexp(-1)).abs().max() < 1e-3


@pytest.mark.gpu
@pytest.mark.skipif(not on_gpu or torch.cuda.get_device_capability()[0] != 9, reason="Hopper's")
@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
@pytest.mark.parametrize("heads, shared, M, N", [(12, 1, 1024, 1024), (4, 4, 130, 700)])
def test_gradients_in_16_bits_take_heads_as_they_lie(dtype, heads, shared, M, N):
    """Near those of float32, and the same bits whether heads lie side by side or one by one."""
    shapes = (16, heads, M, 64), *[(16, heads // shared, N, 64)] * 2
    apart = [torch.randn(shape, device="cuda").to(dtype).requires_grad_() for shape in shapes]
    beside = [x.detach().transpose(1, 2).contiguous().transpose(1, 2) for x in apart]
    beside = [x.requires_grad_() for x in beside]
    G = torch.randn(shapes[0], device="cuda").to(dtype)
    results = [attention(*given, True) for given in (apart, beside)]
    assert torch.equal(*results)
    found, again = (
        torch.autograd.grad(out, given, G)
        for out, given in zip(results, (apart, beside), strict=True)
    )
    assert all(map(torch.equal, found, again))
    Q, K, V = (x.detach().float().requires_grad_() for x in apart)
    k, v = (x.repeat_interleave(shared, 1) for x in (K, V))
    hidden = torch.ones(M, N, device="cuda").tril(N - M) == 0
    scores = (Q @ k.mT / 8).masked_fill(hidden, float("-inf"))
    expected = torch.autograd.grad(scores.softmax(-1) @ v, (Q, K, V), G.float())
    for one, other in zip(found, expected, strict=True):
        assert (one.float() - other).abs().max() < 2**-6 * other.abs().max()


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_a_cuda_graph_records_attention(dtype):
    Q = heads((4, 300, 64), "cuda", dtype).detach()
    attention(Q, Q, Q)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = attention(Q, Q, Q, True)
    Q.copy_(Q.flip(1))
    graph.replay()
    expected = torch.nn.functional.scaled_dot_product_attention(*[Q.float()] * 3, is_causal=True)
    assert (found.float() - expected).abs().max() < 2**-6 * expected.abs().max()


@pytest.mark.parametrize(
    "shapes, dtype, error, said",
    [
        ([(2, 5, 64)] * 3, torch.float64, TypeError, "Q holds torch.float64: convert it"),
        ([(5, 64)] * 3, torch.float32, ValueError, r"Q has shape \(5, 64\); expected"),
        ([(2, 5, 64), (2, 6, 64), (2, 6, 64)], torch.float32, ValueError, "as many keys as"),
        ([(3, 5, 64), (2, 5, 64), (2, 5, 64)], torch.float32, ValueError, "a divisor of its heads"),
        ([(2, 5, 48)] * 3, torch.float16, ValueError, "head size 48 is not supported: 16 bits"),
    ],
)
def test_heads_that_cannot_be_attended_to_are_refused_in_one_line(shapes, dtype, error, said):
    with pytest.raises(error, match=said) as caught:
        attention(*(torch.ones(shape, dtype=dtype, device="meta") for shape in shapes))
    assert "\n" not in str(caught.value)

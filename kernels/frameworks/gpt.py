"""A small GPT that trains and decodes with either library's operators: where a model's time goes.

The model is GPT-2's smallest (12 layers, 12 heads of 64, width 768), with a head whose weights are
its own: 163 M parameters. Weights and tokens are random: its losses say whether two ways compute
the same, not whether it learns.

Source: A. Radford and others, *Language Models are Unsupervised Multitask Learners*, 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from kernels.backend.device import device as gpu
from kernels.frameworks import pytorch
from kernels.measure.bench.step import Step, Tables
from kernels.measure.probes import spread

WAYS = ("PyTorch", "tile_by_tile")


@dataclass(frozen=True)
class Sizes:
    """Of the model, and of what it is trained on."""

    layers: int = 12
    heads: int = 12
    width: int = 768
    words: int = 50304  #: of the vocabulary, filled up to a multiple of 128
    context: int = 1024
    batch: int = 4


def multiply(A: torch.Tensor, B: torch.Tensor, way: str) -> torch.Tensor:
    """A·B of matrices in bfloat16, by PyTorch or by the course's kernels."""
    return pytorch.matmul(A, B) if way == "tile_by_tile" else torch.matmul(A, B)


def attend(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool, way: str
) -> torch.Tensor:
    """Attention in bfloat16, by either."""
    if way == "tile_by_tile":
        return pytorch.attention(Q, K, V, causal)
    return functional.scaled_dot_product_attention(Q, K, V, is_causal=causal)


class Linear(nn.Module):
    """A layer without bias: weights in float32, its product in bfloat16."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * 0.02)

    def forward(self, x: torch.Tensor, way: str) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1]).bfloat16()
        return multiply(rows, self.weight.bfloat16().t(), way).view(*x.shape[:-1], -1)


class Layer(nn.Module):
    """Attention and a network of two products, each added to what came in."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads, width = sizes.heads, sizes.width
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.inputs, self.outputs = Linear(width, 3 * width), Linear(width, width)
        self.wider, self.narrower = Linear(width, 4 * width), Linear(4 * width, width)

    def forward(
        self, x: torch.Tensor, way: str, cache: list[torch.Tensor] | None = None
    ) -> torch.Tensor:
        batch, positions, width = x.shape
        split = self.inputs(self.norms[0](x), way).view(batch, positions, 3, self.heads, -1)
        Q, K, V = split.permute(2, 0, 3, 1, 4)
        if cache is not None:  # one query, and the keys of all positions before it
            K, V = (torch.cat([old, new], 2) for old, new in zip(cache, (K, V), strict=True))
            cache[:] = K, V
        found = attend(Q, K, V, cache is None, way)
        x = x + self.outputs(found.transpose(1, 2).reshape(batch, positions, width), way)
        hidden = functional.gelu(self.wider(self.norms[1](x), way))
        return x + self.narrower(hidden, way)


class GPT(nn.Module):
    """The model; `way` is one of `WAYS`."""

    def __init__(self, sizes: Sizes, way: str) -> None:
        super().__init__()
        self.sizes, self.way = sizes, way
        self.words = nn.Embedding(sizes.words, sizes.width)
        self.places = nn.Embedding(sizes.context, sizes.width)
        self.layers = nn.ModuleList([Layer(sizes) for _ in range(sizes.layers)])
        self.norm, self.head = nn.LayerNorm(sizes.width), Linear(sizes.width, sizes.words)

    def forward(
        self, words: torch.Tensor, first: int = 0, caches: list[list[torch.Tensor]] | None = None
    ) -> torch.Tensor:
        places = torch.arange(first, first + words.shape[1], device=words.device)
        x = self.words(words) + self.places(places)
        for number, layer in enumerate(self.layers):
            x = layer(x, self.way, caches[number] if caches else None)
        return self.head(self.norm(x), self.way)


class Training:
    """Steps of training on random words: each call makes one and returns its loss."""

    def __init__(self, model: GPT, device: str) -> None:
        self.model, self.device = model, device
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
        self.generator = torch.Generator(device).manual_seed(5)
        sizes = model.sizes
        self.words = torch.zeros(sizes.batch, sizes.context + 1, dtype=torch.long, device=device)
        self.recorded: tuple[Any, torch.Tensor] | None = None

    def __call__(self) -> torch.Tensor:
        torch.randint(
            self.model.sizes.words, self.words.shape, generator=self.generator, out=self.words
        )
        if self.recorded is None:
            return self._step()
        graph, loss = self.recorded
        graph.replay()
        return loss

    def _step(self) -> torch.Tensor:
        found = self.model(self.words[:, :-1]).float()
        loss = functional.cross_entropy(found.flatten(0, 1), self.words[:, 1:].flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def record(self) -> None:
        """Record a step in a CUDA graph; from now on, each call launches it."""
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, capturable=True)
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):  # what PyTorch allocates at first must not be recorded
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            loss = self._step()
        self.recorded = graph, loss


def in_turn(
    ways: dict[str, Callable[[], torch.Tensor]], steps: int, device: str
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Make a step of each way, then the next of each: seconds and losses, by way."""
    seconds, losses = ({way: [] for way in ways} for _ in range(2))
    for _ in range(steps):
        for way, step in ways.items():
            start = _clock(device)
            losses[way].append(step().item())
            seconds[way].append(_clock(device) - start)
    return seconds, losses


#: What kernels of a step are for, by words of their names; the first that fits.
KINDS = {
    "attention": ("sdpa", "flash", "fmha", "attention", "gradients_wgmma"),
    "products": ("gemm", "nvjet", "cutlass", "stream_k", "persistent", "splitK"),
    "optimizer": ("multi_tensor_apply",),
    "loss": ("SoftMax", "nll_loss"),
    "layer norms": ("layer_norm", "GammaBeta"),
}


def profile(step: Training, steps: int = 4) -> dict[str, float]:
    """Return the seconds of a step that the GPU's kernels take, by what they are for."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    found = dict.fromkeys([*KINDS, "element by element"], 0.0)
    for row in seen.key_averages():
        fits = (kind for kind, words in KINDS.items() if any(word in row.key for word in words))
        found[next(fits, "element by element")] += row.self_device_time_total / steps / 1e6
    return {kind: float(f"{seconds:.4g}") for kind, seconds in found.items()}


@torch.no_grad()
def decode(
    models: dict[str, GPT], tokens: int, device: str
) -> tuple[dict[str, list[int]], dict[str, list[float]]]:
    """Let each model write a word, then each the next: the likeliest ones, and seconds, by way."""
    sizes = next(iter(models.values())).sizes
    none = torch.zeros(
        1, sizes.heads, 0, sizes.width // sizes.heads, device=device, dtype=torch.bfloat16
    )
    caches = {way: [[none, none] for _ in model.layers] for way, model in models.items()}
    last = dict.fromkeys(models, torch.ones(1, 1, dtype=torch.long, device=device))
    words, seconds = ({way: [] for way in models} for _ in range(2))
    for place in range(tokens):
        for way, model in models.items():
            start = _clock(device)
            last[way] = model(last[way], place, caches[way])[:, -1:].argmax(-1)
            words[way].append(int(last[way]))
            seconds[way].append(_clock(device) - start)
    return words, seconds


def _clock(device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    return perf_counter()


@dataclass
class Measured:
    """What one way took: seconds of each step, recorded step and token, and what they gave.

    The first few are slower: kernels are compiled, and memory is asked for.
    """

    steps: list[float]
    recorded: list[float]  #: of steps in a CUDA graph; empty without a GPU
    tokens: list[float]
    losses: list[float]
    words: list[int]
    parts: dict[str, float]  #: seconds of a step on the GPU, by what its kernels are for
    parameters: int


def measured(
    sizes: Sizes, steps: int = 50, tokens: int = 200, device: str = "cuda"
) -> dict[str, Measured]:
    """Train and decode both ways, in turn, from the same weights."""
    ways: dict[str, Training] = {}
    for way in WAYS:
        torch.manual_seed(11)
        ways[way] = Training(GPT(sizes, way).to(device), device)
    seconds, losses = in_turn(ways, steps, device)
    models = {way: step.model for way, step in ways.items()}
    # Twice: the first time, both prepare something for every length of the cache.
    _, (words, apiece) = (decode(models, tokens, device) for _ in range(2))
    found = {}
    for way, step in ways.items():
        parts = profile(step) if device == "cuda" else {}
        count = sum(parameter.numel() for parameter in step.model.parameters())
        found[way] = Measured(seconds[way], [], apiece[way], losses[way], words[way], parts, count)
    if device == "cuda":
        for step in ways.values():
            step.record()
        for way, times in in_turn(ways, steps, device)[0].items():
            found[way].recorded = times
    return found


#: Steps and tokens that don't count: compilers work, and memory is asked for.
FIRST = 10


def steps() -> list[Step]:
    """What of the benchmark needs this model."""
    return [Step("GPT", rows)]


def rows() -> Tables:
    """Both ways, in rows of a record."""
    if gpu().compute_capability[0] != 9:
        return {}  # elsewhere our attention takes as many queries as keys: it can't decode
    found, told = measured(Sizes()), []
    theirs = found[WAYS[0]]
    for way, one in found.items():
        apart = max(abs(a - b) for a, b in zip(one.losses, theirs.losses, strict=True))
        about = {"product": way, "parameters": one.parameters, "torch": torch.__version__}
        step = about | {"what": "step", "apart": apart, "loss": one.losses[-1]}
        token = about | {"what": "token", "how": "operator", "of": len(theirs.words)}
        told += [
            step | {"how": "operator", "seconds": spread(one.steps[FIRST:]), "parts": one.parts},
            step | {"how": "graph", "seconds": spread(one.recorded[FIRST:])},
            token | {
                "seconds": spread(one.tokens[FIRST:]),
                "same": sum(map(int.__eq__, one.words, theirs.words)),
            },
        ]  # fmt: skip
    return {"gpt": told}

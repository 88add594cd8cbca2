"""A small GPT that trains and decodes with either library's products: where a model's time goes.

``python -m kernels.frameworks.gpt`` on a GPU prints one line of JSON for each way: the seconds of a
step and of a token, and the losses.

The model is GPT-2's smallest (12 layers, 12 heads of 64, width 768), with a head whose weights are
its own: 163 M parameters. Weights and tokens are random: its losses say whether two ways compute
the same, not whether it learns. Attention is PyTorch's in both.

Source: A. Radford and others, *Language Models are Unsupervised Multitask Learners*, 2019.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from kernels.frameworks import pytorch

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
        found = functional.scaled_dot_product_attention(Q, K, V, is_causal=cache is None)
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

    def __call__(self) -> torch.Tensor:
        sizes = self.model.sizes
        shape = sizes.batch, sizes.context + 1
        words = torch.randint(sizes.words, shape, generator=self.generator, device=self.device)
        found = self.model(words[:, :-1]).float()
        loss = functional.cross_entropy(found.flatten(0, 1), words[:, 1:].flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss


def train(step: Training, steps: int) -> tuple[list[float], float]:
    """Return the loss of each step, and the median seconds of one behind the first few."""
    losses, seconds = [], []
    for _ in range(steps):
        start = _clock(step.device)
        losses.append(step().item())
        seconds.append(_clock(step.device) - start)
    return losses, sorted(seconds[steps // 5 :])[len(seconds[steps // 5 :]) // 2]


#: What kernels of a step are for, by words of their names; the first that fits.
KINDS = {
    "attention": ("sdpa", "flash", "fmha", "attention"),
    "products": ("gemm", "nvjet", "cutlass", "stream_k", "persistent", "add_parts", "splitK"),
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
def decode(model: GPT, tokens: int, device: str) -> tuple[list[int], float]:
    """Return the words that it holds likeliest, one after the other, and the seconds of one."""
    sizes, each = model.sizes, model.sizes.width // model.sizes.heads
    caches = [
        [torch.zeros(1, sizes.heads, 0, each, device=device, dtype=torch.bfloat16)] * 2
        for _ in model.layers
    ]
    word, found, seconds = torch.ones(1, 1, dtype=torch.long, device=device), [], []
    for place in range(tokens):
        start = _clock(device)
        word = model(word, place, caches)[:, -1:].argmax(-1)
        found.append(int(word))
        seconds.append(_clock(device) - start)
    return found, sorted(seconds)[len(seconds) // 2]


def _clock(device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    return perf_counter()


def measured(
    sizes: Sizes, steps: int = 50, tokens: int = 200, device: str = "cuda"
) -> Iterator[dict[str, Any]]:
    """Train and decode in both ways, from the same weights: a row of a record for each."""
    for way in WAYS:
        torch.manual_seed(11)
        step = Training(GPT(sizes, way).to(device), device)
        losses, seconds = train(step, steps)
        parts = profile(step) if device == "cuda" else {}
        for parameter in step.model.parameters():
            parameter.grad = None
        words, token = decode(step.model, tokens, device)
        yield {
            "way": way, "step": seconds, "token": token, "losses": losses, "words": words,
            "parts": parts, "parameters": sum(p.numel() for p in step.model.parameters()),
            "torch": torch.__version__,
        }  # fmt: skip


if __name__ == "__main__":
    for row in measured(Sizes()):
        print(json.dumps(row))

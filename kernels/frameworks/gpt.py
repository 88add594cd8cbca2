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
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

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


def train(model: GPT, steps: int, device: str) -> tuple[list[float], float]:
    """Return the loss of each step, and the median seconds of one behind the first few."""
    sizes = model.sizes
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    generator = torch.Generator(device).manual_seed(5)
    losses, seconds = [], []
    for _ in range(steps):
        words = torch.randint(
            sizes.words, (sizes.batch, sizes.context + 1), generator=generator, device=device
        )
        start = _clock(device)
        found = model(words[:, :-1]).float()
        loss = functional.cross_entropy(found.flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(_clock(device) - start)
    return losses, sorted(seconds[steps // 5 :])[len(seconds[steps // 5 :]) // 2]


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


def run(
    sizes: Sizes, steps: int = 50, tokens: int = 200, device: str = "cuda",
    tell: Callable[[str], None] = print,
) -> None:  # fmt: skip
    """Train and decode in both ways, from the same weights."""
    for way in WAYS:
        torch.manual_seed(11)
        model = GPT(sizes, way).to(device)
        losses, step = train(model, steps, device)
        words, token = decode(model, tokens, device)
        tell(json.dumps({
            "way": way, "step": step, "token": token, "losses": losses, "words": words,
            "parameters": sum(p.numel() for p in model.parameters()),
        }))  # fmt: skip


if __name__ == "__main__":
    run(Sizes())

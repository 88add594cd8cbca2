"""Parts of a network on several GPUs, each a program that every rank runs; see `collectives`."""

from __future__ import annotations

import numpy as np

__all__ = [
    "chunked", "column_then_row", "experts", "gelu", "normed", "ring_all_reduce",
    "sequence_parallel", "training_step",
]  # fmt: skip


def gelu(x):
    """The activation between the two products, in its approximation by tanh."""
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def normed(x):
    """Each row with mean 0 and variance 1: a layer norm without its parameters."""
    x = x - x.mean(axis=1, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5)


async def column_then_row(gpu, X, W1, W2):
    """A rank has all of X, some columns of W1, and the same rows of W2."""
    hidden = gelu(X @ W1)  # some columns of the hidden layer, complete
    return await gpu.all_reduce(hidden @ W2)  # partial sums of every output


async def ring_all_reduce(gpu, x):
    """Add up all ranks' x, and give every rank the total; a rank only sends to the next one."""
    p, r = gpu.ranks, gpu.rank
    parts = np.split(x, p)
    for step in range(p - 1):  # reduce-scatter: a part grows on its way round
        came = await gpu.exchange(parts[(r - step) % p], to=r + 1)
        parts[(r - step - 1) % p] = parts[(r - step - 1) % p] + came
    for step in range(p - 1):  # all-gather: the complete parts go round once more
        parts[(r - step) % p] = await gpu.exchange(parts[(r + 1 - step) % p], to=r + 1)
    return np.concatenate(parts)


async def sequence_parallel(gpu, rows, W1, W2):
    """A rank has some tokens' rows of X between the layers, and all of them inside a layer."""
    X = await gpu.all_gather(normed(rows))
    return rows + await gpu.reduce_scatter(gelu(X @ W1) @ W2)


async def chunked(gpu, hidden, W2, chunks):
    """The second product in chunks of rows: one chunk's all-reduce runs beside the next product."""
    begun = [gpu.all_reduce(rows @ W2) for rows in np.array_split(hidden, chunks)]
    return np.concatenate([await part for part in begun])


async def training_step(gpu, X, target, W1, W2, rate):
    """One step of gradient descent: a rank has its part of the batch, and all of the weights."""
    before = X @ W1
    hidden = np.maximum(before, 0)
    error = (hidden @ W2 - target) / (gpu.ranks * len(X))
    dW2 = gpu.all_reduce(hidden.T @ error)  # begins; meanwhile, the backward pass goes on
    dW1 = gpu.all_reduce(X.T @ ((error @ W2.T) * (before > 0)))
    return W1 - rate * await dW1, W2 - rate * await dW2


async def experts(gpu, X, choice, W1, W2):
    """A rank has some tokens and one expert's weights; each token goes to the expert it chose.

    Each rank sends as many tokens to every expert, the capacity.
    """
    order = np.argsort(choice)  # by expert
    came = await gpu.all_to_all(X[order])
    back = await gpu.all_to_all(gelu(came @ W1) @ W2)
    Y = np.empty_like(back)
    Y[order] = back
    return Y

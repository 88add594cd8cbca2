"""The drawings of chapter 13 alone."""

from chapters.ch13_attention.drawings.attention import (
    attention_matrices,
    attention_speeds,
    attention_tiles,
    attention_traffic,
    causal_tiles,
    running_softmax,
)

__all__ = [
    "attention_matrices",
    "attention_speeds",
    "attention_tiles",
    "attention_traffic",
    "causal_tiles",
    "running_softmax",
]

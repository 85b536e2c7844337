"""The forward pass of a BERT-shaped encoder in numpy, float32, straight from its weights: what the built
graphs are held against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.models.onnx_encoder import WordTable

__all__ = ["FloatModel"]


class FloatModel:
    """weights: as EncoderSpec.weights gives them. tokenizer: with its special tokens."""

    def __init__(self, weights: Mapping[str, Any], tokenizer: Any, layers: int) -> None:
        self.weights, self.tokenizer, self.layers = weights, tokenizer, layers

    def dense(self, x: NDArray[Any], name: str) -> NDArray[Any]:
        made: NDArray[Any] = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return made

    def normal(self, x: NDArray[Any], name: str) -> NDArray[Any]:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        made: NDArray[Any] = scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return made

    def attend(self, x: NDArray[Any], name: str) -> NDArray[Any]:
        q, k, v = (
            self.dense(x, f"{name}.{part}").reshape(-1, 12, 32).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        weights = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(32))
        weights /= weights.sum(-1, keepdims=True)
        made: NDArray[Any] = (weights @ v).transpose(1, 0, 2).reshape(-1, 384)
        return made

    def words(self, ids: list[int]) -> NDArray[Any]:
        table = self.weights["embeddings.word_embeddings.weight"]
        if isinstance(table, WordTable):  # of four bits
            bytes_ = table.numbers[ids]
            numbers = np.stack([bytes_ & 15, bytes_ >> 4], axis=-1).reshape(len(ids), -1, 32).astype(float)
            table = ((numbers - 8) * table.scales[ids][..., None]).reshape(len(ids), -1)
            ids = list(range(len(ids)))
        made: NDArray[Any] = table[ids]
        return made

    def vector(self, text: str) -> NDArray[Any]:
        """The unit vector of a text as it goes in, with its prefix."""
        ids = self.tokenizer.encode(text).ids
        places, segments = (
            self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("position", "token_type")
        )
        x = self.normal(self.words(ids) + places[: len(ids)] + segments[0], "embeddings.LayerNorm")
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            x = self.normal(
                x + self.dense(self.attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense"),
                f"{name}.attention.output.LayerNorm",
            )
            wide = self.dense(x, f"{name}.intermediate.dense")
            wide = wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2))) / 2
            x = self.normal(x + self.dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        mean = x.mean(0)
        unit: NDArray[Any] = mean / np.linalg.norm(mean)
        return unit

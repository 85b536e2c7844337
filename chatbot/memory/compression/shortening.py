"""Fits a long conversation into a prompt by compressing its older part against the question.

It stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chatbot.memory.compression.compress import Compressed, compress
from chatbot.memory.compression.messages import Message
from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.memory.conversations.history import rank_exchanges
from chatbot.models.tokens import count_tokens
from chatbot.records import Compression, Exchange, Recall
from chatbot.settings import Settings
from chatbot.store.vector_index import Vectors

__all__ = ["Long", "Shortened", "fit_exchanges", "shorten"]

# The shares of a prompt that the last exchanges and the shortened part before them may take. The excerpts
# that the answer stands on need the rest.
SHARE_OF_LAST, SHARE_OF_EARLIER = 0.35, 0.25
# Tokens that are weighed sentence by sentence: some thirty times what is kept, and 0.3 s of work. Of a longer
# conversation, only the exchanges that look likeliest by their questions and the beginnings of their answers.
MOST_TOKENS = 100_000
BEGINNING = 300
# Used where no room is left, so that a sentence stays: a share must be above 0.
LEAST_RATIO = 1e-6


@dataclass(frozen=True, slots=True)
class Shortened:
    """The older part of a conversation, shortened.

    context: (role, text) pairs, in order of time.
    compression: what was kept and dropped.
    """

    context: tuple[tuple[str, str], ...]
    compression: Compression


@dataclass(frozen=True, slots=True)
class Long:
    """A conversation past the threshold.

    older: the exchanges before the last ones.
    tokens: of each of the older exchanges.
    whole: tokens of all exchanges.
    sent: tokens of the last exchanges, as the prompt has them.
    fingerprint: of the embedder whose vectors are used.
    """

    older: Sequence[StoredExchange]
    tokens: Sequence[int]
    whole: int
    sent: int
    fingerprint: str = ""


def fit_exchanges(exchanges: Sequence[Exchange], question: str, settings: Settings) -> tuple[Exchange, ...]:
    """The exchanges within their share of the prompt.

    A text that fits into an equal part stays whole; longer ones share what is left, by their sentences.
    """
    model = settings.chat_model
    texts = [text for exchange in exchanges for text in (exchange.user, exchange.assistant)]
    sizes = [count_tokens(text, model) for text in texts]
    left = SHARE_OF_LAST * settings.context_tokens
    allowed = [0.0] * len(texts)
    shortest_first = sorted(range(len(texts)), key=sizes.__getitem__)
    for place, at in enumerate(shortest_first):
        equal_part = left / (len(texts) - place)
        allowed[at] = min(sizes[at], equal_part)
        left -= allowed[at]
    fitted = []
    for text, size, room in zip(texts, sizes, allowed, strict=True):
        if size > room:
            text = _fit(text, question, room / size, model)
        fitted.append(text)
    pairs = zip(fitted[::2], fitted[1::2], strict=True)
    return tuple(Exchange(user, assistant) for user, assistant in pairs)


def _fit(text: str, question: str, ratio: float, model: str) -> str:
    result = _cut([Message("1", "user", text)], ratio, question, model)
    kept = " ".join(message.content for message in result.context)
    return f"{kept} (shortened)"


def _cut(messages: Sequence[Message], ratio: float, question: str, model: str, **options: Any) -> Compressed:
    return compress(
        messages,
        max_tokens=0,
        compression_ratio=min(1.0, max(ratio, LEAST_RATIO)),
        keep_last=0,
        query=question,
        model=model,
        **options,
    )


def shorten(
    long: Long, recall: Recall, vectors: Mapping[tuple[str, int], Vectors], settings: Settings
) -> Shortened:
    """Shorten the older exchanges to what the ratio leaves beside the last ones and the prompt has room for.

    vectors: of exchanges, by conversation and number.
    """
    by_ratio = settings.compression_ratio * long.whole - long.sent
    target = min(by_ratio, SHARE_OF_EARLIER * settings.context_tokens)
    older, before = _likeliest(long, recall, vectors)
    messages = [message for exchange in older for message in _messages_of(exchange)]
    # A question and its answer both have the vector of their exchange.
    vectors_of_older = [vectors.get((exchange.conversation, exchange.number)) for exchange in older]
    result = _cut(
        messages,
        target / max(1, before),
        recall.question,
        settings.chat_model,
        gamma=settings.compression_gamma,
        rho=settings.compression_rho,
        scoring="seed" if settings.seed_scoring else "query",
        vectors=_rows(vectors_of_older, recall.vector),
        query_vector=recall.vector,
    )
    stats = result.stats
    kept = {}
    for exchange in older:
        pair = (result.spans[f"{exchange.number}u"], result.spans[f"{exchange.number}a"])
        if any(pair):
            kept[exchange.number] = pair
    left_out = 2 * (len(long.older) - len(older))
    compression = Compression(
        long.whole,
        long.sent + stats.compressed_tokens,
        stats.chunks_compressed + left_out,
        kept,
        recall.before,
    )
    filled = [message for message in result.context if message.content.strip()]
    context = tuple((message.role, message.content) for message in filled)
    return Shortened(context, compression)


def _messages_of(exchange: StoredExchange) -> tuple[Message, Message]:
    """An exchange's question and answer, as messages to compress."""
    question = Message(f"{exchange.number}u", "user", exchange.user)
    answer = Message(f"{exchange.number}a", "assistant", exchange.cited)
    return question, answer


def _likeliest(
    long: Long, recall: Recall, vectors: Mapping[tuple[str, int], Vectors]
) -> tuple[list[StoredExchange], int]:
    """(at most MOST_TOKENS of the older exchanges, in order of time; their tokens)."""
    older = long.older
    numbers = [exchange.number for exchange in older]
    sizes = dict(zip(numbers, long.tokens, strict=True))
    total = sum(sizes.values())
    if total <= MOST_TOKENS:
        return list(older), total
    chosen = set[int]()
    left = MOST_TOKENS
    beginnings = [replace(exchange, cited=exchange.cited[:BEGINNING]) for exchange in older]
    for found in rank_exchanges(recall, beginnings, vectors, fingerprint=long.fingerprint):
        number = found.said.number
        if sizes[number] <= left or not chosen:
            chosen.add(number)
            left -= sizes[number]
    likeliest = [exchange for exchange in older if exchange.number in chosen]
    return likeliest, sum(sizes[number] for number in chosen)


def _rows(found: Sequence[Vectors | None], query: Vectors | None) -> Vectors | None:
    """Two rows for each exchange, zeros where it has no vector; None where there is nothing to compare."""
    if query is None:
        return None
    rows = []
    for vector in found:
        if vector is not None and vector.shape == query.shape:
            rows.append(vector)
        else:
            rows.append(np.zeros_like(query))
    if np.any(rows):
        return np.repeat(np.array(rows, np.float32), 2, axis=0)
    return None

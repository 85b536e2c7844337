"""Fits a long conversation into a prompt by compressing its older part against the question.

It stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chatbot.memory.compression.compress import Compressed, compress
from chatbot.memory.compression.messages import Message, Spans
from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.memory.conversations.history import rank_exchanges
from chatbot.models.tokens import count_tokens
from chatbot.records import Compression, Exchange, Recall
from chatbot.settings import Settings
from chatbot.store.vector_index import Vectors

__all__ = ["LongConversation", "fit_exchanges", "room_of", "shorten", "threshold_of"]

# Tokens that the rules, the example and each page of a prompt need. Most pages have fewer.
RULES_TOKENS, PAGE_TOKENS = 800, 800
# The share of the smallest prompts that the conversation may take all the same.
LEAST_SHARE = 0.2
# The share of what is kept that the last exchanges may take, which stay whole within it.
SHARE_OF_LAST = 0.6
# Tokens that are weighed sentence by sentence: some thirty times what is kept, and 0.3 s of work. Of a longer
# conversation, only the exchanges that look likeliest by their questions and the beginnings of their answers.
MOST_TOKENS = 100_000
BEGINNING = 300
# Used where no room is left, so that a sentence stays: a share must be above 0.
LEAST_RATIO = 1e-6

# Which characters of an exchange's question and answer were kept.
Kept = tuple[Spans, Spans]


@dataclass(frozen=True, slots=True)
class LongConversation:
    """A conversation past the threshold.

    older: the exchanges before the last ones.
    tokens: of each of the older exchanges.
    whole: tokens of all exchanges.
    target: tokens that are kept of it.
    sent: tokens of the last exchanges, as the prompt has them.
    cut: what was kept of those of the last exchanges that do not fit either.
    fingerprint: of the embedder whose vectors are used.
    """

    older: Sequence[StoredExchange]
    tokens: Sequence[int]
    whole: int
    target: float
    sent: int
    cut: Mapping[int, Kept]
    fingerprint: str = ""


def room_of(settings: Settings, question: str = "") -> int:
    """Tokens that the conversation may take of a prompt, beside rules, question, pages and answer."""
    needed = RULES_TOKENS + settings.pages * PAGE_TOKENS + settings.answer_tokens
    left = settings.context_tokens - needed - count_tokens(question, settings.chat_model)
    return max(left, int(LEAST_SHARE * settings.context_tokens))


def threshold_of(settings: Settings, question: str = "") -> int:
    """Tokens above which a conversation is shortened: those of the settings, or fewer if so few have room."""
    return min(settings.compression_tokens, room_of(settings, question))


def fit_exchanges(
    exchanges: Sequence[StoredExchange], question: str, room: float, model: str
) -> tuple[tuple[Exchange, ...], dict[int, Kept]]:
    """(the exchanges in so many tokens, what was kept of those that were cut, by their number).

    A text that fits into an equal part stays whole; longer ones share what is left, by their sentences.
    """
    texts = [text for exchange in exchanges for text in (exchange.user, exchange.cited)]
    sizes = [count_tokens(text, model) for text in texts]
    allowed = [0.0] * len(texts)
    shortest_first = sorted(range(len(texts)), key=sizes.__getitem__)
    for place, at in enumerate(shortest_first):
        equal_part = room / (len(texts) - place)
        allowed[at] = min(sizes[at], equal_part)
        room -= allowed[at]
    spans: list[Spans] = []
    for at, (text, size) in enumerate(zip(texts, sizes, strict=True)):
        if size <= allowed[at]:
            spans.append(((0, len(text)),))
            continue
        result = _cut([Message("1", "user", text)], allowed[at] / size, question, model)
        spans.append(result.spans["1"])
        texts[at] = " ".join([*(message.content for message in result.context), "(shortened)"])
    fitted = tuple(map(Exchange, texts[::2], texts[1::2]))
    kept = dict[int, Kept]()
    for exchange, pair in zip(exchanges, zip(spans[::2], spans[1::2], strict=True), strict=True):
        if pair != (((0, len(exchange.user)),), ((0, len(exchange.cited)),)):
            kept[exchange.number] = pair
    return fitted, kept


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
    long: LongConversation, recall: Recall, vectors: Mapping[tuple[str, int], Vectors], settings: Settings
) -> tuple[tuple[tuple[str, str], ...], Compression]:
    """(the older exchanges, shortened to what the last ones leave of the target; what was kept and dropped).

    The former are (role, text) pairs, in order of time. vectors: of exchanges, by conversation and number.
    """
    older, before = _likeliest(long, recall, vectors)
    messages = list[Message]()
    for exchange in older:
        messages.append(Message(f"{exchange.number}u", "user", exchange.user))
        messages.append(Message(f"{exchange.number}a", "assistant", exchange.cited))
    # A question and its answer both have the vector of their exchange.
    vectors_of_older = [vectors.get((exchange.conversation, exchange.number)) for exchange in older]
    result = _cut(
        messages,
        (long.target - long.sent) / max(1, before),
        recall.question,
        settings.chat_model,
        gamma=settings.compression_gamma,
        rho=settings.compression_rho,
        scoring="seed" if settings.seed_scoring else "query",
        vectors=_rows(vectors_of_older, recall.vector),
        query_vector=recall.vector,
    )
    stats = result.stats
    kept = dict(long.cut)
    for exchange in older:
        pair = (result.spans[f"{exchange.number}u"], result.spans[f"{exchange.number}a"])
        if any(pair):
            kept[exchange.number] = pair
    left_out = 2 * (len(long.older) - len(older))
    compression = Compression(
        long.whole,
        long.sent + stats.compressed_tokens,
        stats.chunks_compressed + left_out + len(long.cut),
        kept,
        recall.before,
    )
    filled = [message for message in result.context if message.content.strip()]
    return tuple((message.role, message.content) for message in filled), compression


def _likeliest(
    long: LongConversation, recall: Recall, vectors: Mapping[tuple[str, int], Vectors]
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

"""Cuts a conversation to a share of its tokens, keeping sentences verbatim and in order.

It stores nothing and loads no model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.memory.compression.importance import seed_importance
from chatbot.memory.compression.messages import Message, Messages, Spans
from chatbot.memory.compression.relevance import Relevance, holds_cited_figure
from chatbot.memory.compression.selection import Segment, choose

__all__ = [
    "SCORINGS",
    "Compressed",
    "CompressionFocus",
    "CompressionOptions",
    "Conversation",
    "Message",
    "Stats",
    "compress",
]

SCORINGS = ("query", "seed")
# A run of messages of one role is cut into chunks of this many tokens. Otherwise a conversation of one role
# would be a single chunk.
CHUNK_TOKENS = 500
# The budget counts the tokens of single sentences. Joined, they may have a few more or less, so the budget is
# corrected and applied again, seldom twice.
MOST_ROUNDS = 8
# Scores become positive as exponents of e. Below this they are next to nothing, and no power of them
# overflows.
LOWEST_SCORE = -60.0
# A sentence that holds a figure with its page is dropped after the others of its chunk.
PROTECTED = 1_000.0

Vector = NDArray[np.float32]
# A chunk's importance, and that of each of its sentences.
Importance = tuple[float, list[float]]


@dataclass(frozen=True, slots=True)
class CompressionFocus:
    """What the conversation is compressed for.

    text: the question; "" for nothing in particular.
    vector: unit vector, of the same model as the messages' vectors.
    """

    text: str = ""
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class CompressionOptions:
    """How to compress. Raises ValueError for a value out of its range.

    max_tokens: conversations up to this size stay as they are; 0 or more.
    compression_ratio: the share of all tokens that is kept; above 0, at most 1.
    rho: the share of the dropped tokens that whole chunks take, 0 to 1.
    gamma: how unevenly sentences are dropped; 0 or more.
    keep_last: messages at the end that stay as they are.
    scoring: "query" (without a question it keeps the most informative sentences) or "seed".
    protect_figures: whether sentences that give a figure with its page are dropped last of their chunk.
    """

    max_tokens: int = 20_000
    compression_ratio: float = 0.5
    rho: float = 0.5
    gamma: float = 1.0
    keep_last: int = 2
    scoring: str = "query"
    protect_figures: bool = True

    def __post_init__(self) -> None:
        ratio = self.compression_ratio
        _require(self.max_tokens >= 0, f"max_tokens is {self.max_tokens}; it must be 0 or more")
        _require(0 < ratio <= 1, f"compression_ratio is {ratio}; it must be above 0 and at most 1")
        known = ", ".join(SCORINGS)
        _require(self.scoring in SCORINGS, f"scoring is {self.scoring!r}; it must be one of {known}")
        _require(0 <= self.rho <= 1, f"rho is {self.rho}; it must be between 0 and 1")
        _require(0 <= self.gamma < math.inf, f"gamma is {self.gamma}; it must be 0 or more")
        _require(self.keep_last >= 0, f"keep_last is {self.keep_last}; it must be 0 or more")


@dataclass(frozen=True, slots=True)
class Stats:
    """What the compression did, in tokens as the model counts them.

    compressed: whether anything was dropped.
    original_tokens: of all messages, before.
    compressed_tokens: of what is left.
    target_tokens: the share that was asked for.
    tail_tokens: of the last messages, which stay as they are.
    chunks: how many chunks there were.
    chunks_compressed: chunks that lost anything.
    chunks_removed: those of them that lost everything.
    messages_whole: messages that stayed as they were.
    messages_partly: messages that lost a part; with the whole and the left out ones they are all messages.
    messages_left_out: messages that were dropped.
    scoring: what was used: "seed", "query", "facts" (there was no question) or "none" (nothing had to go).
    """

    compressed: bool
    original_tokens: int
    compressed_tokens: int
    target_tokens: int
    tail_tokens: int
    chunks: int
    chunks_compressed: int
    chunks_removed: int
    messages_whole: int
    messages_partly: int
    messages_left_out: int
    scoring: str


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compressed conversation.

    context: what is left, in order of time, with verbatim sentences.
    kept: for each message's id, the share of its tokens in the context, 0 to 1 (1 for an empty message).
    spans: for each id, which characters of its content were kept, so that the rest can be shown (see
        `pieces`).
    stats: what the compression did.
    """

    context: tuple[Message, ...]
    kept: Mapping[str, float]
    spans: Mapping[str, Spans]
    stats: Stats


class Conversation:
    """Messages that are read once and compressed for any number of questions.

    vectors: unit rows, one for each message, of its text in `texts_to_embed`.
    """

    def __init__(
        self, messages: Sequence[Message], *, model: str = "", vectors: Vector | None = None
    ) -> None:
        """model: the model whose tokens are counted.

        Raises ValueError for an id that occurs twice, or if the number of vectors differs from that of
        messages.
        """
        self._messages = Messages(messages, model)
        if vectors is not None and len(vectors) != len(messages):
            raise ValueError(f"there are {len(vectors)} vectors for {len(messages)} messages")
        self._vectors = vectors

    @property
    def tokens(self) -> int:
        """Of all messages."""
        return sum(self._messages.tokens)

    def compress(self, question: CompressionFocus, options: CompressionOptions) -> Compressed:
        """Compress the conversation for a question.

        What is kept has at most the target's tokens, and less than one sentence fewer, wherever the last
        messages leave room for it.
        """
        messages, count = self._messages, len(self._messages.all)
        # A single message has nothing before it that could go, so its own sentences may.
        tail = options.keep_last if count > 1 else 0
        head = max(count - tail, 0)
        scoring = options.scoring if options.scoring == "seed" or question.text.strip() else "facts"
        spans = [messages.whole(at) for at in range(count)]
        target = options.compression_ratio * self.tokens
        if self.tokens <= max(options.max_tokens, target):
            return self._result(spans, [], head, target, "none")
        groups = self._groups(head, by_role=scoring == "seed")
        left = target - sum(messages.tokens[head:])
        if left > 0:
            chunks = self._chunks(groups, question, options, scoring)
            spans[:head] = self._kept(chunks, head, left, options)
        else:
            spans[:head] = map(messages.none, range(head))
        return self._result(spans, groups, head, target, scoring)

    def _groups(self, head: int, *, by_role: bool) -> list[range]:
        """The chunks, as ranges of message positions.

        For a question, each message is a chunk. That keeps more of what is asked for: in a run of messages,
        the others would stay or go with it. For the seed's scoring, a chunk is a run of messages of one role,
        of at most CHUNK_TOKENS unless it is a single message.
        """
        starts: list[int] = []
        size = 0
        for at in range(head):
            size += self._messages.tokens[at]
            if not by_role or size > CHUNK_TOKENS or self._changes_role(at):
                starts.append(at)
                size = self._messages.tokens[at]
        return [range(start, end) for start, end in pairwise([*starts, head])]

    def _changes_role(self, at: int) -> bool:
        """Whether a message has another role than the one before it; the first one has."""
        messages = self._messages.all
        return at == 0 or messages[at].role != messages[at - 1].role

    def _kept(
        self, chunks: Sequence[Segment], head: int, target: float, options: CompressionOptions
    ) -> list[Spans]:
        """What stays of each message before the last ones, in at most `target` tokens."""
        goal = target
        longest = max(max(chunk.sizes, default=0) for chunk in chunks)
        attempts: list[tuple[bool, float, list[Spans]]] = []
        for _ in range(MOST_ROUNDS):
            chosen = choose(chunks, goal, rho=options.rho, gamma=options.gamma)
            # The flags of all chunks in a row: they are in order of time, as their messages are.
            spans = self._spans_of(chain.from_iterable(chosen), head)
            used = sum(self._messages.size(at, kept) for at, kept in enumerate(spans))
            over = used - target
            attempts.append((over > 0, abs(over), spans))
            if -longest < over <= 0 or goal < 0:
                break
            # Each attempt corrects a little more: what goes now may join others that count more.
            if over > 0:
                goal -= over + len(attempts)
            else:
                goal -= over + longest / 2
        best = min(attempts, key=lambda attempt: attempt[:2])
        return best[2]

    def _spans_of(self, flags: Iterator[bool], head: int) -> list[Spans]:
        """What stays of each message before the last ones. flags: whether each of their sentences stays."""
        spans = []
        for at in range(head):
            sentence_count = len(self._messages.spans[at])
            own_flags = list(islice(flags, sentence_count))
            spans.append(self._messages.kept(at, own_flags))
        return spans

    def _chunks(
        self, groups: Sequence[range], question: CompressionFocus, options: CompressionOptions, scoring: str
    ) -> list[Segment]:
        chunks = []
        seed = scoring == "seed"
        importances = self._seed_importances(groups) if seed else self._importances(groups, question)
        for group, (of_chunk, of_sentences) in zip(groups, importances, strict=True):
            sizes = [size for at in group for size in self._messages.sizes[at]]
            if options.protect_figures:
                cited = [is_cited for at in group for is_cited in self._cited[at]]
                of_sentences = [
                    importance + PROTECTED * is_cited
                    for importance, is_cited in zip(of_sentences, cited, strict=True)
                ]
            chunks.append(Segment(of_chunk, sizes, of_sentences))
        return chunks

    def _importances(self, groups: Sequence[range], question: CompressionFocus) -> list[Importance]:
        cosines = None
        if self._vectors is not None and question.vector is not None:
            cosines = np.asarray(self._vectors @ question.vector, np.float64)
        scores = self._relevance.score(question.text, cosines)
        distances = scores.messages - float(scores.messages.max())
        of_messages = np.exp(np.maximum(distances, LOWEST_SCORE)).tolist()
        importances = []
        for group in groups:
            first = group[0]
            of_sentences = scores.sentences[self._messages.places[first]].tolist()
            importances.append((of_messages[first], of_sentences))
        return importances

    def _seed_importances(self, groups: Sequence[range]) -> list[Importance]:
        found = list[Importance]()
        asked = False
        for position, group in enumerate(groups):
            text = "\n".join(self._messages.all[at].content for at in group)
            sentences = [sentence for at in group for sentence in self._messages.sentences[at]]
            asked_before = [asked, *map(_asks, sentences)]
            of_sentences = [
                seed_importance(sentence, place, len(sentences), answers=asked_before[place])
                for place, sentence in enumerate(sentences)
            ]
            of_chunk = seed_importance(text, position, len(groups), answers=asked)
            found.append((of_chunk, of_sentences))
            asked = _asks(text)
        return found

    @cached_property
    def _relevance(self) -> Relevance:
        return Relevance(self._messages.sentences)

    @cached_property
    def _cited(self) -> list[list[bool]]:
        return [list(map(holds_cited_figure, sentences)) for sentences in self._messages.sentences]

    def _result(
        self, spans: Sequence[Spans], groups: Sequence[range], head: int, target: float, scoring: str
    ) -> Compressed:
        messages = self._messages
        whole = [kept == messages.whole(at) for at, kept in enumerate(spans)]
        sizes = [messages.size(at, kept) for at, kept in enumerate(spans)]
        shares = []
        for is_whole, size, count in zip(whole, sizes, messages.tokens, strict=True):
            # Joined sentences may count a token more than they did in their place.
            share = min(size / max(count, 1), 1.0)
            shares.append(1.0 if is_whole else share)
        chunks_compressed = 0
        chunks_removed = 0
        for group in groups:
            chunks_compressed += not all(whole[at] for at in group)
            chunks_removed += not any(spans[at] for at in group)
        stats = Stats(
            compressed=not all(whole),
            original_tokens=self.tokens,
            compressed_tokens=sum(sizes),
            target_tokens=int(target),
            tail_tokens=sum(messages.tokens[head:]),
            chunks=len(groups),
            chunks_compressed=chunks_compressed,
            chunks_removed=chunks_removed,
            messages_whole=sum(whole),
            messages_partly=sum(map(bool, spans)) - sum(whole),
            messages_left_out=sum(not kept for kept in spans),
            scoring=scoring,
        )
        context = []
        for at, message in enumerate(messages.all):
            if spans[at]:
                context.append(Message(message.id, message.role, messages.text(at, spans[at])))
        ids = [message.id for message in messages.all]
        kept_shares = dict(zip(ids, shares, strict=True))
        kept_spans = dict(zip(ids, spans, strict=True))
        return Compressed(tuple(context), kept_shares, kept_spans, stats)


def compress(
    messages: Sequence[Message],
    *,
    query: str = "",
    model: str = "",
    vectors: Vector | None = None,
    query_vector: Vector | None = None,
    **options: Any,
) -> Compressed:
    """Compress a conversation once.

    options: max_tokens=20_000, compression_ratio=0.5, rho=0.5, gamma=1.0, keep_last=2, scoring="query",
    protect_figures=True; see CompressionOptions. See also Conversation and CompressionFocus, whose errors it
    raises.
    """
    conversation = Conversation(messages, model=model, vectors=vectors)
    return conversation.compress(CompressionFocus(query, query_vector), CompressionOptions(**options))


def _require(condition: bool, problem: str) -> None:
    """Raise ValueError with the problem where the condition does not hold."""
    if not condition:
        raise ValueError(problem)


def _asks(text: str) -> bool:
    return "?" in text or "？" in text

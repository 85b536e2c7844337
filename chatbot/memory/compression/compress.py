"""PURE: a conversation cut to a share of its tokens, its sentences verbatim and in order; stores, loads
and embeds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise

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
# What each scoring does best with where rho is not given. The seed document's is 0.5. With a question whole
# messages are better: what it asks for stands in few of them, and is not told by the best sentence of each of
# many.
BEST_RHO = {"query": 1.0, "seed": 0.5}
# A run of messages of one role is cut into chunks of so many tokens, or one role throughout would be one
# chunk.
CHUNK_TOKENS = 500
# The budget is kept in tokens of sentences; joined they may have a few more or less, so it is corrected and
# kept again, seldom twice.
MOST_ROUNDS = 8
# Scores are put on a positive scale by e to their power; below this they are as good as nothing, and no power
# of theirs overflows.
LOWEST_SCORE = -60.0
# A sentence that holds a figure with its page goes after those of its chunk that do not.
PROTECTED = 1_000.0

Vector = NDArray[np.float32]
# A chunk's importance, and that of each of its sentences.
Importance = tuple[float, list[float]]


@dataclass(frozen=True, slots=True)
class CompressionFocus:
    """What the conversation is compressed for. text: "" for nothing in particular. vector: unit, of the
    model of the messages' vectors.
    """

    text: str = ""
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class CompressionOptions:
    """How to compress. Raises ValueError for a value out of its range.

    max_tokens: at or below it everything stays; 0 or more. compression_ratio: the share of all tokens that is
    kept, above 0, at most 1. rho: what whole chunks take of what goes, 0 to 1; None for the scoring's best.
    gamma: how unevenly sentences go, 0 or more. keep_last: messages at the end that stay as they are.
    scoring: "query", which without a question keeps what has most to tell, or "seed". protect_figures: of a
    chunk, the sentences of a figure with its page go last.
    """

    max_tokens: int = 20_000
    compression_ratio: float = 0.5
    rho: float | None = None
    gamma: float = 1.0
    keep_last: int = 2
    scoring: str = "query"
    protect_figures: bool = True

    def __post_init__(self) -> None:
        checks = {
            f"max_tokens is {self.max_tokens}; it must be 0 or more": self.max_tokens >= 0,
            f"compression_ratio is {self.compression_ratio}; it must be above 0 and at most 1": 0
            < self.compression_ratio
            <= 1,
            f"scoring is {self.scoring!r}; it must be one of {', '.join(SCORINGS)}": self.scoring in SCORINGS,
            f"rho is {self.rho}; it must be between 0 and 1": self.rho is None or 0 <= self.rho <= 1,
            f"gamma is {self.gamma}; it must be 0 or more": 0 <= self.gamma < math.inf,
            f"keep_last is {self.keep_last}; it must be 0 or more": self.keep_last >= 0,
        }
        for wrong, right in checks.items():
            if not right:
                raise ValueError(wrong)

    @property
    def chunk_share(self) -> float:
        """rho, as given or as the scoring has it."""
        if self.rho is None:
            return BEST_RHO[self.scoring]
        return self.rho


@dataclass(frozen=True, slots=True)
class Stats:
    """What really happened, in tokens as the model counts them. target_tokens: the share that was asked for.
    tail_tokens: of the last messages, which stay as they are. chunks_compressed: those that lost anything;
    chunks_removed: those of them that lost all. messages_*: together they are all messages. scoring: what was
    used: "seed", "query", "facts" where there was no question, "none" where nothing had to go."""

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
    """context: what is left, in the order of time; sentences verbatim. kept: for every message's id the share
    of its tokens in it, 0 to 1 (an empty message is kept: 1). spans: for every id which characters of its
    content were kept, so that the rest can be shown (see `pieces`)."""

    context: tuple[Message, ...]
    kept: Mapping[str, float]
    spans: Mapping[str, Spans]
    stats: Stats


class Conversation:
    """Messages read once and compressed for any number of questions. vectors: unit rows, one a message, of
    its text in `texts_to_embed`.
    """

    def __init__(
        self, messages: Sequence[Message], *, model: str = "", vectors: Vector | None = None
    ) -> None:
        """model: whose tokens are counted. Raises ValueError for an id that stands twice, or for another
        number of rows.
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
        """What is kept for a question: at most the target, and less than one sentence below it, wherever
        the last messages are below it.
        """
        count = len(self._messages.all)
        said = self._messages
        # A message that stands alone has nothing before it that could go, so its own sentences may.
        head = max(count - (options.keep_last if count > 1 else 0), 0)
        if options.scoring == "seed" or question.text.strip():
            scoring = options.scoring
        else:
            scoring = "facts"
        spans = [said.whole(at) for at in range(count)]
        target = options.compression_ratio * self.tokens
        if self.tokens <= max(options.max_tokens, target):
            return self._result(spans, [], head, target, "none")
        groups = self._groups(head, by_role=scoring == "seed")
        left = target - sum(said.tokens[head:])
        if left > 0:
            spans[:head] = self._kept(self._chunks(groups, question, options, scoring), head, left, options)
        else:
            spans[:head] = map(said.none, range(head))
        return self._result(spans, groups, head, target, scoring)

    def _groups(self, head: int, *, by_role: bool) -> list[range]:
        """The chunks, as places of messages: for a question each message is one, which keeps more of what is
        asked for (a run's other messages would stay or go with it); for the seed's scoring runs of one role,
        of at most CHUNK_TOKENS where they are several messages."""
        starts = []
        size = 0
        said = self._messages
        for at in range(head):
            size += said.tokens[at]
            if not at or not by_role or said.all[at].role != said.all[at - 1].role or size > CHUNK_TOKENS:
                starts.append(at)
                size = said.tokens[at]
        return [range(start, end) for start, end in pairwise([*starts, head])]

    def _kept(
        self, chunks: Sequence[Segment], head: int, target: float, options: CompressionOptions
    ) -> list[Spans]:
        """What stays of each message before the last ones, of at most `target` tokens."""
        goal = target
        longest = max(max(chunk.sizes, default=0) for chunk in chunks)
        tried: list[tuple[bool, float, list[Spans]]] = []
        for _ in range(MOST_ROUNDS):
            chosen = choose(chunks, goal, rho=options.chunk_share, gamma=options.gamma)
            # Of all chunks together, for they stand in the order of time, as their messages do.
            flags = chain.from_iterable(chosen)
            spans = [
                self._messages.kept(at, list(islice(flags, len(self._messages.spans[at]))))
                for at in range(head)
            ]
            over = sum(self._messages.size(at, some) for at, some in enumerate(spans)) - target
            tried.append((over > 0, abs(over), spans))
            if -longest < over <= 0 or goal < 0:
                break
            # A little more each time: what goes now may join others that count more.
            goal -= over + len(tried) if over > 0 else over + longest / 2
        return min(tried, key=lambda one: one[:2])[2]

    def _chunks(
        self, groups: Sequence[range], question: CompressionFocus, options: CompressionOptions, scoring: str
    ) -> list[Segment]:
        chunks = []
        if scoring == "seed":
            importances = self._seed_importances(groups)
        else:
            importances = self._importances(groups, question)
        for group, (value, ones) in zip(groups, importances, strict=True):
            sizes = [size for at in group for size in self._messages.sizes[at]]
            if options.protect_figures:
                cited = [cited for at in group for cited in self._cited[at]]
                ones = [one + PROTECTED * protected for one, protected in zip(ones, cited, strict=True)]
            chunks.append(Segment(value, sizes, ones))
        return chunks

    def _importances(self, groups: Sequence[range], question: CompressionFocus) -> list[Importance]:
        vector = question.vector
        if self._vectors is None or vector is None:
            near = None
        else:
            near = np.asarray(self._vectors @ vector, np.float64)
        given = self._relevance.score(question.text, near)
        best = float(given.messages.max())
        places = self._messages.places
        values = np.exp(np.maximum(given.messages - best, LOWEST_SCORE)).tolist()
        return [(values[group[0]], given.sentences[places[group[0]]].tolist()) for group in groups]

    def _seed_importances(self, groups: Sequence[range]) -> list[Importance]:
        found = list[Importance]()
        asked = False
        for position, group in enumerate(groups):
            text = "\n".join(self._messages.all[at].content for at in group)
            inside = [sentence for at in group for sentence in self._messages.sentences[at]]
            before = [asked, *map(_asks, inside)]
            ones = [
                seed_importance(sentence, one, len(inside), answers=before[one])
                for one, sentence in enumerate(inside)
            ]
            found.append((seed_importance(text, position, len(groups), answers=asked), ones))
            asked = _asks(text)
        return found

    @cached_property
    def _relevance(self) -> Relevance:
        return Relevance(self._messages.sentences)

    @cached_property
    def _cited(self) -> list[list[bool]]:
        return [[holds_cited_figure(sentence) for sentence in some] for some in self._messages.sentences]

    def _result(
        self, spans: Sequence[Spans], groups: Sequence[range], head: int, target: float, scoring: str
    ) -> Compressed:
        said = self._messages
        whole = [some == said.whole(at) for at, some in enumerate(spans)]
        sizes = [said.size(at, some) for at, some in enumerate(spans)]
        # Joined sentences may count a token more than they did in their place.
        shares = [
            1.0 if all_of_it else min(size / max(count, 1), 1.0)
            for all_of_it, size, count in zip(whole, sizes, said.tokens, strict=True)
        ]
        stats = Stats(
            compressed=not all(whole),
            original_tokens=self.tokens,
            compressed_tokens=sum(sizes),
            target_tokens=int(target),
            tail_tokens=sum(said.tokens[head:]),
            chunks=len(groups),
            chunks_compressed=sum(not all(whole[at] for at in group) for group in groups),
            chunks_removed=sum(not any(spans[at] for at in group) for group in groups),
            messages_whole=sum(whole),
            messages_partly=sum(map(bool, spans)) - sum(whole),
            messages_left_out=sum(not some for some in spans),
            scoring=scoring,
        )
        context = [
            Message(one.id, one.role, said.text(at, spans[at]))
            for at, one in enumerate(said.all)
            if spans[at]
        ]
        ids = [message.id for message in said.all]
        return Compressed(
            tuple(context), dict(zip(ids, shares, strict=True)), dict(zip(ids, spans, strict=True)), stats
        )


def compress(
    messages: Sequence[Message],
    *,
    max_tokens: int = 20_000,
    compression_ratio: float = 0.5,
    rho: float | None = None,
    gamma: float = 1.0,
    keep_last: int = 2,
    scoring: str = "query",
    protect_figures: bool = True,
    query: str = "",
    model: str = "",
    vectors: Vector | None = None,
    query_vector: Vector | None = None,
) -> Compressed:
    """A conversation compressed once: see Conversation, Question and Options, whose errors it raises."""
    options = CompressionOptions(
        max_tokens, compression_ratio, rho, gamma, keep_last, scoring, protect_figures
    )
    return Conversation(messages, model=model, vectors=vectors).compress(
        CompressionFocus(query, query_vector), options
    )


def _asks(text: str) -> bool:
    return "?" in text or "？" in text

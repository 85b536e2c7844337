"""PURE: messages cut into sentences with their sizes, and put together again from what is kept of them;
scores nothing, chooses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from chatbot.models.tokens import count_tokens
from ingestion.language.sentences import sentence_spans

__all__ = ["Message", "Messages", "Spans", "pieces", "texts_to_embed"]

# What is embedded of the message before: enough to tell what is spoken of, and most of the model's window is
# left to the message itself.
LONGEST_BEFORE = 300

# Characters of a message, (start, end) ascending and apart.
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """One message. id: its own in the conversation. role: any."""

    id: str
    role: str
    content: str


class Messages:
    """A conversation's messages, each cut into sentences when that is first asked for."""

    def __init__(self, messages: Sequence[Message], model: str) -> None:
        """model: whose tokens are counted. Raises ValueError for an id that stands twice."""
        self.all = tuple(messages)
        seen = set[str]()
        for message in self.all:
            if message.id in seen:
                raise ValueError(f"the id {message.id!r} stands twice; give each message its own")
            seen.add(message.id)
        self._model = model
        self.tokens = [count_tokens(message.content, model) for message in self.all]

    @cached_property
    def spans(self) -> list[list[tuple[int, int]]]:
        """Of each message's sentences."""
        return [sentence_spans(message.content) for message in self.all]

    @cached_property
    def sentences(self) -> list[list[str]]:
        """Of each message, verbatim."""
        return [
            [message.content[start:end] for start, end in spans]
            for message, spans in zip(self.all, self.spans, strict=True)
        ]

    @cached_property
    def sizes(self) -> list[list[int]]:
        """Tokens of each message's sentences."""
        counted = zip(self.sentences, self.tokens, strict=True)
        return [
            [whole] if len(some) == 1 else [count_tokens(one, self._model) for one in some]
            for some, whole in counted
        ]

    @cached_property
    def places(self) -> list[slice]:
        """Where each message's sentences stand among those of all."""
        return [slice(start, end) for start, end in pairwise(accumulate(map(len, self.spans), initial=0))]

    def whole(self, at: int) -> Spans:
        """The spans of a message that stays as it is."""
        return ((0, len(self.all[at].content)),)

    def none(self, at: int) -> Spans:
        """The spans of a message that is left out. An empty one costs nothing, and stays."""
        if self.all[at].content:
            return ()
        return self.whole(at)

    def kept(self, at: int, stays: Sequence[bool]) -> Spans:
        """The spans of the sentences that stay, neighbours as one."""
        joined: list[tuple[int, int]] = []
        for (start, end), stay in zip(self.spans[at], stays, strict=True):
            if stay and joined and joined[-1][1] == start:
                joined[-1] = (joined[-1][0], end)
            elif stay:
                joined.append((start, end))
        return tuple(joined) or self.none(at)

    def text(self, at: int, spans: Spans) -> str:
        """What the spans hold, verbatim, with a line break or a blank where what stood between them had
        the one or nothing of the kind.
        """
        content = self.all[at].content
        if spans == self.whole(at):
            return content
        parts: list[str] = []
        last = 0
        for start, end in spans:
            if parts and not (parts[-1][-1:].isspace() or content[start].isspace()):
                parts.append("\n" if "\n" in content[last:start] else " ")
            parts.append(content[start:end])
            last = end
        return "".join(parts).strip()

    def size(self, at: int, spans: Spans) -> int:
        """Tokens of that text."""
        if spans == self.whole(at):
            return self.tokens[at]
        if spans:
            return count_tokens(self.text(at, spans), self._model)
        return 0


def pieces(content: str, spans: Spans) -> list[tuple[str, bool]]:
    """A message cut into what was kept (True) and what was left out (False), in order; joined they are the
    message. Spans from a file may reach beyond it.
    """
    cuts = [0]
    for start, end in sorted(spans):
        cuts += [max(start, cuts[-1]), max(min(end, len(content)), cuts[-1], start)]
    return [
        (content[start:end], bool(one % 2))
        for one, (start, end) in enumerate(pairwise([*cuts, len(content)]))
        if content[start:end]
    ]


def texts_to_embed(messages: Sequence[Message]) -> list[str]:
    """What to make each message's vector of: the end of the message before it, which often asks what it
    answers, a line break, and itself.
    """
    before = ["", *(message.content[-LONGEST_BEFORE:] + "\n" for message in messages[:-1])]
    return [said + message.content for said, message in zip(before, messages, strict=False)]

"""Splits messages into sentences with their sizes, and joins again the sentences that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from chatbot.models.tokens import count_tokens
from ingestion.language.sentences import sentence_spans

__all__ = ["Message", "Messages", "Spans", "pieces", "texts_to_embed"]

# Characters of the message before that are embedded: enough to show the subject, while most of the model's
# window is left for the message itself.
LONGEST_BEFORE = 300

# Ranges of a message's characters, (start, end), ascending and not touching.
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    id: unique in the conversation.
    role: any text.
    content: its text.
    """

    id: str
    role: str
    content: str


class Messages:
    """A conversation's messages, each split into sentences when that is first needed."""

    def __init__(self, messages: Sequence[Message], model: str) -> None:
        """model: the model whose tokens are counted. Raises ValueError for an id that occurs twice."""
        self.all = tuple(messages)
        seen = set[str]()
        for message in self.all:
            if message.id in seen:
                raise ValueError(f"the id {message.id!r} appears twice; give each message its own")
            seen.add(message.id)
        self._model = model
        self.tokens = [count_tokens(message.content, model) for message in self.all]

    @cached_property
    def spans(self) -> list[list[tuple[int, int]]]:
        """The spans of each message's sentences."""
        return [sentence_spans(message.content) for message in self.all]

    @cached_property
    def sentences(self) -> list[list[str]]:
        """The sentences of each message, verbatim."""
        found = []
        for message, spans in zip(self.all, self.spans, strict=True):
            found.append([message.content[start:end] for start, end in spans])
        return found

    @cached_property
    def sizes(self) -> list[list[int]]:
        """Tokens of each message's sentences."""
        found = []
        for sentences, message_tokens in zip(self.sentences, self.tokens, strict=True):
            if len(sentences) == 1:
                found.append([message_tokens])
            else:
                found.append([count_tokens(sentence, self._model) for sentence in sentences])
        return found

    @cached_property
    def places(self) -> list[slice]:
        """Where each message's sentences are among the sentences of all."""
        bounds = accumulate(map(len, self.spans), initial=0)
        return [slice(start, end) for start, end in pairwise(bounds)]

    def whole(self, at: int) -> Spans:
        """The spans of a message that stays as it is."""
        return ((0, len(self.all[at].content)),)

    def none(self, at: int) -> Spans:
        """The spans of a message that is left out. An empty message costs nothing and stays."""
        if self.all[at].content:
            return ()
        return self.whole(at)

    def kept(self, at: int, stays: Sequence[bool]) -> Spans:
        """The spans of the sentences that stay, adjacent ones joined."""
        joined: list[tuple[int, int]] = []
        for (start, end), stay in zip(self.spans[at], stays, strict=True):
            if stay and joined and joined[-1][1] == start:
                joined[-1] = (joined[-1][0], end)
            elif stay:
                joined.append((start, end))
        return tuple(joined) or self.none(at)

    def text(self, at: int, spans: Spans) -> str:
        """The text of the spans, verbatim.

        Where something was left out between them and no white space remains, a line break is put if what was
        left out had one, else a blank.
        """
        content = self.all[at].content
        if spans == self.whole(at):
            return content
        parts: list[str] = []
        last = 0
        for start, end in spans:
            if parts:
                has_space = parts[-1][-1:].isspace() or content[start].isspace()
                if not has_space:
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
    """A message split into what was kept (True) and what was left out (False), in order.

    Joined, the pieces are the message. Spans from a file may reach beyond it.
    """
    cuts = [0]
    for start, end in sorted(spans):
        last = cuts[-1]
        cuts.append(max(start, last))
        cuts.append(max(min(end, len(content)), last, start))
    cuts.append(len(content))
    found = []
    for number, (start, end) in enumerate(pairwise(cuts)):
        is_kept = bool(number % 2)
        if content[start:end]:
            found.append((content[start:end], is_kept))
    return found


def texts_to_embed(messages: Sequence[Message]) -> list[str]:
    """The text from which each message's vector is made.

    That is the end of the message before it, which often asks what it answers, a line break, and itself.
    """
    texts = []
    before = ""
    for message in messages:
        texts.append(before + message.content)
        before = message.content[-LONGEST_BEFORE:] + "\n"
    return texts

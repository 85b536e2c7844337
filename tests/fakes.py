"""Public stand-ins that are handed in where the real parts would be; they know the protocols, and keep what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence

from chatbot.errors import ModelError
from chatbot.models import Reply

__all__ = ["ScriptedModel"]

Answer = Sequence[str | ModelError] | Callable[[Sequence[tuple[str, str]]], Sequence[str | ModelError]]


class ScriptedModel:
    """A chat model that says what it is given: each call the next answer, and the last one from then on.

    answers: each a list of pieces, or a function from the messages to one; a piece that is a ModelError is raised where it stands. finish: how
    the answers end, "stop" or "length". calls: (messages, max_tokens, schema) of every call.
    """

    def __init__(self, *answers: Answer, name: str = "scripted", finish: str = "stop") -> None:
        self.name = name
        self.host = "this process"
        self.calls: list[tuple[tuple[tuple[str, str], ...], int, Mapping[str, object] | None]] = []
        self._answers = answers
        self._finish = finish

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Reply:
        """As LLM.stream."""
        self.calls.append((tuple(messages), max_tokens, schema))
        answer = self._answers[min(len(self.calls), len(self._answers)) - 1]
        return Reply(self._say(answer(messages) if callable(answer) else answer, stop))

    def _say(self, pieces: Sequence[str | ModelError], stop: Callable[[], bool]) -> Generator[str, None, str]:
        for piece in pieces:
            if stop():
                return "stopped"
            if isinstance(piece, ModelError):
                raise piece
            yield piece
        if stop():
            return "stopped"
        if not "".join(map(str, pieces)).strip():
            raise ModelError("The script holds an empty answer.")
        return self._finish

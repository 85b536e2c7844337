"""Asks a chat model for an answer, and lets it look further on the way where it can."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from chatbot.answer.prompt import size_of, sources_of
from chatbot.asking.model_lookups import LookupSession
from chatbot.asking.model_prompts import ModelPrompts
from chatbot.errors import ModelError
from chatbot.models.chat import LLM, ReplacementText, Reply, SpentError
from chatbot.models.endpoint_errors import EndpointError
from chatbot.models.tokens import count_tokens
from chatbot.models.tool_calls import OfferedTool, ToolRound
from chatbot.records import Event, Notice, Prompt, Stage, Token, Usage

__all__ = ["ModelTurns"]

UNSEEN = "The answer was written without the pictures of its pages."
UNSEEN_HINT = "If the model takes none, set FINPOLICY_PICTURES=0."
EMPTY = "{model} called tools instead of answering."


class ModelTurns:
    """One answer of a chat model, with the calls on the way.

    prompt: what was sent, the calls and what they brought among its messages and sources.
    text: what the model wrote so far. reply: the last one. usage: of all requests.
    """

    def __init__(
        self,
        model: LLM,
        prompt: Prompt,
        prompts: ModelPrompts | None = None,
        *,
        max_tokens: int,
        stop: Callable[[], bool],
    ) -> None:
        """prompts: those that the first one is of; None for a model that answers without documents."""
        self._model, self._prompts, self._max_tokens, self._stop = model, prompts, max_tokens, stop
        self._looking = prompts.looking(prompt, stop) if prompts else None
        self._base = self.prompt = prompt
        self.text = ""
        self.reply: Reply | None = None
        self.usage: Usage | None = None
        self.first_seconds = 0.0
        self._told_wait = False

    def events(self) -> Generator[Event, None, None]:
        """What comes of it. Raises ModelError."""
        started = time.monotonic()
        while True:
            offered = self._offered()
            try:
                reply = yield from self._streamed(offered, started)
            except ModelError as error:
                if self._stop() or not (self._has_called or (offered and self._may_refuse_tools(error))):
                    raise
                yield from self._settle()
                continue
            calls = reply.calls if offered else ()
            if not calls or self._looking is None or self._stop():
                break
            if reply.text:
                yield Token("", anew=True)
            yield from self._looking.take(reply.text, calls)
            self.prompt = _with_rounds(self._base, self._looking)
            if self._stop():
                reply.finish = "stopped"
                break
            if not self._looking.offered:
                yield from self._settle()
        if self.prompt.pictured and not self._model.sees:
            self.prompt = replace(self.prompt, pictured=())
            yield Notice(UNSEEN, UNSEEN_HINT)
        if self.usage:
            seconds = round(time.monotonic() - started, 3)
            self.usage = replace(self.usage, seconds=seconds, first_seconds=round(self.first_seconds, 3))
        if not (reply.text.strip() or self._stop()):
            raise ModelError(EMPTY.format(model=self._model.name), hint="Ask again, or choose another model.")

    @property
    def _has_called(self) -> bool:
        return self._looking is not None and bool(self._looking.rounds)

    def _may_refuse_tools(self, error: ModelError) -> bool:
        """Whether an endpoint that has said nothing may answer if no tools are offered.

        Each says in its own way that it knows none: by any status, an error amid the stream, or an empty
        answer.
        """
        if self.text or error.kind or isinstance(error, SpentError):
            return False
        return not (isinstance(error, EndpointError) and error.wait)  # it is busy

    def _offered(self) -> list[OfferedTool]:
        if self._looking is None or not self._model.calls_tools:
            return []
        return self._looking.offered

    def _settle(self) -> Generator[Event, None, None]:
        """Goes on without calls: all that was brought becomes part of a new prompt."""
        assert self._looking is not None and self._prompts is not None
        if self.text:
            yield Token("", anew=True)
        self.text = ""
        if self._looking.prompt.pictured:
            yield Notice(UNSEEN, UNSEEN_HINT)
        self._base = self.prompt = self._prompts.settled(self._looking.prompt)
        self._looking = None

    def _streamed(self, offered: Sequence[OfferedTool], started: float) -> Generator[Event, None, Reply]:
        asked = partial(
            self._model.stream,
            self._base.messages,
            max_tokens=self._max_tokens,
            stop=self._stop,
            sources=sources_of(self._base),
        )
        if offered and self._looking is not None:
            asked = partial(asked, tools=offered, rounds=self._looking.rounds)
        reply = asked()
        self.reply, self.text = reply, ""
        try:
            for piece in reply:
                if not self.text and self._has_called:
                    yield Stage("answering")
                self.text = reply.text
                if not self.first_seconds:
                    self.first_seconds = time.monotonic() - started
                yield from self._wait_told(started)
                yield Token(piece, anew=isinstance(piece, ReplacementText))
            if reply.calls:
                yield from self._wait_told(started)
        finally:
            reply.close()
        used = usage_of(reply, self.prompt, reply.text)
        self.usage = self.usage.plus(used) if self.usage else used
        return reply

    def _wait_told(self, started: float) -> Iterator[Notice]:
        """What follows from how long the model's first reply took to begin, once."""
        if self._prompts and not self._told_wait:
            self._told_wait = True
            yield from self._prompts.waited(time.monotonic() - started)


def usage_of(reply: Reply, prompt: Prompt, text: str) -> Usage:
    """The tokens of a reply as its endpoint counts them, or as they are counted here."""
    if reply.prompt_tokens:
        return Usage(reply.prompt_tokens, reply.answer_tokens or count_tokens(text))
    return Usage(size_of(prompt), count_tokens(text), estimated=True)


def _with_rounds(base: Prompt, looking: LookupSession) -> Prompt:
    """The prompt with the calls and what they brought, as it is sent."""
    called = chain.from_iterable(map(_messages_of, looking.rounds))
    return replace(looking.prompt, messages=(*base.messages, *called))


def _messages_of(called: ToolRound) -> list[tuple[str, str]]:
    calls = [
        f"{reply.call.name} {json.dumps(reply.call.arguments, ensure_ascii=False)}"
        for reply in called.replies
    ]
    asked = "\n".join(filter(None, [called.said, *calls]))
    return [("assistant", asked), *(("tool", reply.shown) for reply in called.replies)]

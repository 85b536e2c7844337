"""Streams the text of chat models: defines the interface and the OpenAI-compatible model."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Protocol

from chatbot.errors import ModelError
from chatbot.models.endpoints import (
    EndpointError,
    endpoint_failures,
    endpoint_host,
    explain_failure,
    open_client,
)
from chatbot.models.timeouts import Timeouts
from chatbot.models.tokens import encodable
from chatbot.settings import Settings

if TYPE_CHECKING:
    from openai import OpenAI, Stream

__all__ = ["LLM", "OpenAIModel", "Reply", "SpentError", "make_model", "named_model"]

log = logging.getLogger(__name__)

# Two repeats bridge a restart or a burst. More would keep a reader waiting for an endpoint that is down.
MOST_TRIES = 3
# Doubled each time, so a dead endpoint is reported after a second and a half.
FIRST_PAUSE_SECONDS = 0.5
# How long a pressed stop button may go unnoticed during a pause.
LONGEST_NAP_SECONDS = 0.1
# How long to wait for the count of tokens, which comes after the last word.
COUNTED_SECONDS = 1.0
# Four times the average of any language: with more text than this, the endpoint ignores the limit.
MOST_CHARACTERS_PER_TOKEN = 16

_THINKS, _THOUGHT = "<think>", "</think>"
# vLLM, DeepSeek and llama.cpp; OpenRouter and Ollama.
_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
# OpenAI's newer models know the limit only by its new name, most local servers only by the old one.
_NEW_LIMIT_NAME, _OLD_LIMIT_NAME = "max_completion_tokens", "max_tokens"
_PARAMETER_REJECTED = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|not permitted|unexpected|instead", re.IGNORECASE
)


def _never() -> bool:
    return False


class SpentError(ModelError):
    """The model answered, but used up its tokens before the first word."""


class Reply(Iterator[str]):
    """The pieces of one answer as they come.

    finish: "" until the answer has ended, then how: "stop" (complete), "length" (the model reached
        `max_tokens`; the text stands but lacks its end) or "stopped" (`stop()` was true, or the reply was
        closed). After an error it stays "".

    Closing or dropping the reply closes the connection.
    """

    def __init__(self, pieces: Generator[str, None, str], usage: Mapping[str, int] | None = None) -> None:
        self._pieces, self.usage = pieces, usage if usage is not None else {}
        self.finish = ""

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt as counted by the endpoint; 0 if it has not said."""
        return self.usage.get("prompt_tokens", 0)

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as end:
            self.finish = self.finish or end.value or ""
            raise

    def close(self) -> None:
        """Ends the answer here. Harmless if it has already ended."""
        self._pieces.close()
        self.finish = self.finish or "stopped"


class LLM(Protocol):
    """A chat model.

    name: as the endpoint knows it.
    host: who receives what is sent, for display.
    """

    @property
    def name(self) -> str: ...

    @property
    def host(self) -> str: ...

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = _never,
    ) -> Reply:
        """Returns the answer piece by piece, verbatim. Nothing is sent before the first piece is asked for.

        messages: (role, content) pairs, roles "system", "user", "assistant".
        max_tokens: of the answer, 1 or more.
        schema: a JSON schema that the answer must follow (every object closed and every property required, as
            strict mode asks).
        stop: called before each try, in pauses, between pieces, and several times a second while an endpoint
            is silent.

        Raises ModelError: before any piece if the endpoint fails, after the pieces that came if the answer
            was cut or withheld, and at the end of an answer without a word. What came before an error is not
            an answer.
        """
        ...


class OpenAIModel:
    """The chat model of the settings, at any OpenAI-compatible endpoint. Many threads may use it at once.

    Busy, failing and unreachable endpoints are tried three times, but never after the first piece; a silent
    endpoint only once. For the time limits see `Timeouts`: a word of the model's thinking counts as a word.
    """

    def __init__(self, settings: Settings) -> None:
        self.name = settings.chat_model
        self.host = endpoint_host(settings)
        self._settings = settings
        if self.host == "api.openai.com":
            self._limit_name = _NEW_LIMIT_NAME
        else:
            self._limit_name = _OLD_LIMIT_NAME
        self._options: dict[str, object] = {
            "temperature": settings.temperature,
            "stream_options": {"include_usage": True},
        }
        if settings.reasoning:
            self._options["reasoning_effort"] = settings.reasoning
        # Those of these that the endpoint refuses, as OpenAI's thinking models refuse any temperature.
        # Threads that race here only waste one request.
        self._refused: set[str] = set()

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = _never,
    ) -> Reply:
        """See LLM.stream."""
        body: dict[str, object] = {
            "model": self.name,
            "messages": [{"role": role, "content": encodable(content)} for role, content in messages],
            "stream": True,
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema), "strict": True},
            }
        usage: dict[str, int] = {}
        return Reply(self._answer(body, max_tokens, stop, usage), usage)

    def _answer(
        self, body: dict[str, object], max_tokens: int, stop: Callable[[], bool], usage: dict[str, int]
    ) -> Generator[str, None, str]:
        tries = 0
        pause = FIRST_PAUSE_SECONDS
        patience = Timeouts.for_words(self._settings, stop)
        while True:
            tries = tries + 1
            said = list[str]()
            try:
                return (yield from self._attempt(body, max_tokens, patience, said, usage))
            except EndpointError as error:
                failure = error
            if stop():
                return "stopped"
            if said:
                raise ModelError(f"The answer was cut: {failure.message}", hint=failure.hint) from None
            if failure.wait is None or tries == MOST_TRIES:
                raise failure
            log.info("trying again: %s", failure.message)
            if not _pause(failure.wait or pause, stop):
                return "stopped"
            pause *= 2

    def _attempt(
        self,
        body: dict[str, object],
        max_tokens: int,
        patience: Timeouts,
        said: list[str],
        usage: dict[str, int],
    ) -> Generator[str, None, str]:
        """Makes one request.

        Its pieces are also kept in `said`, so that after an error the caller knows whether anything was
        shown.

        usage: receives the counts.
        """
        stop = patience.stop
        if stop():
            return "stopped"
        finish, characters_left = "", max_tokens * MOST_CHARACTERS_PER_TOKEN
        with (
            open_client(self._settings, patience) as client,
            closing(self._events(client, body, max_tokens)) as events,
        ):
            thinking = _Thinking()
            for event in events:
                received, finish = _read(event)
                received = received[: max(characters_left, 0)]
                piece = thinking.said(received, last=bool(finish))
                if piece and not stop():
                    said.append(piece)
                    yield piece
                if received.strip() or _thinks(event):
                    patience.heard()
                characters_left -= len(received) or 1  # endless thinking is limited too
                if stop():
                    return "stopped"
                if characters_left < 0:
                    finish = "length"
                usage.update(_usage(event))
                if finish:
                    break
            if finish and characters_left >= 0 and not usage and "stream_options" not in self._refused:
                usage.update(_counted(events, patience))
        self._check_end(finish, "".join(said))
        if finish in {"length", "max_tokens"}:
            return "length"
        return "stop"

    def _events(
        self, client: OpenAI, body: dict[str, object], max_tokens: int
    ) -> Generator[object, None, None]:
        """Yields the endpoint's events, with its failures in our words. Closed with the iterator."""
        failures = endpoint_failures()
        try:
            with self._request(client, body, max_tokens) as events:
                yield from events
        except failures as error:
            raise explain_failure(error, self._settings, model_setting="FINPOLICY_CHAT_MODEL") from None

    def _request(self, client: OpenAI, body: dict[str, object], max_tokens: int) -> Stream[object]:
        """Repeats the request without what the endpoint refuses, or with the limit's other name.

        Later requests leave these out from the start.
        """
        from openai import APIStatusError

        while True:
            options = {name: value for name, value in self._options.items() if name not in self._refused}
            try:
                return self._stream(client, body | options | {self._limit_name: max_tokens})
            except APIStatusError as error:
                if error.status_code not in {400, 422} or not _PARAMETER_REJECTED.search(error.message):
                    raise
                refused = next((name for name in (self._limit_name, *options) if name in error.message), None)
                if refused is None or refused in self._refused:
                    raise
                self._refused.add(refused)
                if refused == self._limit_name:
                    self._limit_name = _OLD_LIMIT_NAME if refused == _NEW_LIMIT_NAME else _NEW_LIMIT_NAME

    def _stream(self, client: OpenAI, body: dict[str, object]) -> Stream[object]:
        stream = _post(client, body)
        if (
            stream.response.headers.get("content-type", "").partition(";")[0].strip().casefold()
            == "text/html"
        ):
            stream.close()
            raise EndpointError(
                f"{self.host} sent a web page, not an answer.",
                hint="Check OPENAI_BASE_URL; it usually ends in /v1.",
                retryable=False,
            )
        return stream

    def _check_end(self, finish: str, text: str) -> None:
        if finish == "content_filter":
            raise ModelError(f"{self.host} withheld the answer (content filter).", hint="Ask in other words.")
        if finish in {"", "error"} and text:
            raise EndpointError(f"{self.host} ended it before it was complete.", hint="Ask again.")
        if not text.strip() and finish == "length":
            raise SpentError(
                f"{self.name} used up its tokens without an answer.", hint="Raise FINPOLICY_ANSWER_TOKENS."
            )
        if not text.strip():
            raise ModelError(
                f"{self.host} sent an empty answer.",
                hint="Check FINPOLICY_CHAT_MODEL, and OPENAI_BASE_URL, which usually ends in /v1.",
            )


def make_model(settings: Settings) -> LLM | None:
    """Returns the chat model of the settings, None if they name none and answers are extractive.

    Connects to nothing.
    """
    if settings.chat_model:
        return named_model(settings)
    return None


def named_model(settings: Settings) -> LLM:
    """Returns the chat model that the settings name. The only place that chooses the kind of client."""
    return OpenAIModel(settings)


class _Thinking:
    """Removes a model's thoughts before or within its answer.

    Some servers send these blocks in the text rather than in a field of their own.
    """

    def __init__(self) -> None:
        self._held, self._inside, self._begins = "", False, True

    def said(self, piece: str, *, last: bool) -> str:
        """Returns the part of the text so far that belongs to the answer. last: whether no more comes."""
        self._held += piece
        answer = ""
        while True:
            mark = _THOUGHT if self._inside else _THINKS
            at = self._held.find(mark)
            if at >= 0:
                end = at
            else:
                if last:
                    end = len(self._held)
                else:
                    end = len(self._held) - _begun(self._held, mark)
            if not self._inside:
                answer += self._from_its_first_word(self._held[:end])
            self._held = self._held[end:].removeprefix(mark)
            if at < 0:
                break
            self._inside, self._begins = not self._inside, True
        return answer

    def _from_its_first_word(self, text: str) -> str:
        """Removes the blanks between a thought and the answer."""
        if self._begins:
            said = text.lstrip()
        else:
            said = text
        self._begins = self._begins and not said
        return said


def _begun(text: str, mark: str) -> int:
    """Returns how many characters of a mark the text ends in."""
    return next(
        (count for count in range(min(len(mark) - 1, len(text)), 0, -1) if text.endswith(mark[:count])), 0
    )


def _post(client: OpenAI, body: dict[str, object]) -> Stream[object]:
    from openai import Stream

    # Raw JSON rather than the client's chunk types, which accept any shape and fail later, at the missing
    # attribute.
    return client.post("/chat/completions", body=body, cast_to=object, stream=True, stream_cls=Stream[object])


def _read(event: object) -> tuple[str, str]:
    """Returns text and finish reason of one stream event, each "" if it has none.

    Usage and keep-alive events have no choices.
    """
    choice = _choice(event)
    delta = choice.get("delta")
    finish = choice.get("finish_reason")
    # A refusal under a schema comes in a field of its own and is what the model says.
    if isinstance(delta, dict):
        text = delta.get("content") or delta.get("refusal")
    else:
        text = None
    return text if isinstance(text, str) else "", finish if isinstance(finish, str) else ""


def _counted(events: Iterator[object], patience: Timeouts) -> dict[str, int]:
    """Returns the counts that come after the last word, {} if the endpoint does not send them at once."""
    patience.heard()
    patience.between = min(patience.between, COUNTED_SECONDS)
    with suppress(EndpointError):
        return next((found for found in map(_usage, events) if found), {})
    return {}


def _usage(event: object) -> dict[str, int]:
    """Returns what an event says of the prompt's tokens, {} for nothing."""
    if isinstance(event, dict):
        usage = event.get("usage")
    else:
        usage = None
    if isinstance(usage, dict):
        count = usage.get("prompt_tokens")
    else:
        count = None
    if isinstance(count, int) and count > 0:
        return {"prompt_tokens": count}
    return {}


def _thinks(event: object) -> bool:
    """Tells whether an event carries the model's thinking, in the fields that servers have for it.

    Such a model is alive although it says nothing yet.
    """
    delta = _choice(event).get("delta")
    if isinstance(delta, dict):
        thoughts = [delta.get(name) for name in _THOUGHT_FIELDS]
    else:
        thoughts = []
    return any(isinstance(thought, str) and thought.strip() for thought in thoughts)


def _choice(event: object) -> dict[str, object]:
    if isinstance(event, dict):
        choices = event.get("choices")
    else:
        choices = None
    if isinstance(choices, list) and choices:
        choice = choices[0]
    else:
        choice = None
    if isinstance(choice, dict):
        return choice
    return {}


def _pause(seconds: float, stop: Callable[[], bool]) -> bool:
    """Waits. Returns False as soon as `stop()` is true."""
    end = time.monotonic() + seconds
    while not stop():
        rest = end - time.monotonic()
        if rest <= 0:
            return True
        time.sleep(min(rest, LONGEST_NAP_SECONDS))
    return False

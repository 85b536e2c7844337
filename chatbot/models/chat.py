"""Streams the text of chat models: the interface, and what all clients have in common."""

from __future__ import annotations

import base64
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from typing import Any, Protocol, TypeGuard

from chatbot.errors import ModelError
from chatbot.models.addresses import (
    address_variable,
    client_of,
    endpoint_host,
    endpoint_url,
    sees_pictures,
)
from chatbot.models.endpoint_errors import (
    EndpointError,
    endpoint_failures,
    explaining,
    status_of,
    words_of_body,
)
from chatbot.models.endpoints import open_client
from chatbot.models.model_text import CleanText
from chatbot.models.timeouts import Timeouts
from chatbot.models.tokens import encodable
from chatbot.models.tool_calls import CallPiece, CallPieces, OfferedTool, ToolCall, ToolReply, ToolRound
from chatbot.settings import Settings

__all__ = [
    "COUNTS",
    "LIMIT",
    "LLM",
    "STREAM",
    "TOOLS",
    "Delta",
    "EndpointModel",
    "PromptSource",
    "ReplacementText",
    "Reply",
    "SpentError",
    "content_type",
    "is_count",
    "make_model",
    "named_model",
    "words_of_error",
]

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

# What surrounds thoughts in the text: tags, or the channels of gpt-oss, of which "final" is the answer.
_CHANNEL, _MESSAGE, _CONSTRAIN, _START = "<|channel|>", "<|message|>", "<|constrain|>", "<|start|>"
_TAGS = [f"<{end}{name}>" for end in ("", "/") for name in ("think", "thinking", "thought", "reasoning")]
_MARKS = (*_TAGS, _CHANNEL, _MESSAGE, _CONSTRAIN, _START, "<|end|>", "<|return|>", "<|call|>")
_MARK = re.compile("|".join(map(re.escape, _MARKS)))
_BEGUN = re.compile(r"<[/|a-z]{0,11}$")  # what may become one
_NO_BEGIN = "thoughts without a begin"
_MOST_MODELS = 1_000
# What a request calls the tools that are offered, streaming, the counts of tokens and their limit. It is what
# is remembered of an endpoint that refuses them.
TOOLS, STREAM, COUNTS, LIMIT = "tools", "stream", "stream_options", "max_tokens"
# The calls and replies of a request until it is sent, and what is remembered of an endpoint that refuses the
# pictures among them.
ROUNDS, PICTURES = "rounds", "pictures"
# As OpenAI, vLLM, Ollama, llama.cpp and OpenRouter say it; servers that know texts alone ask for a string.
_PICTURES_REFUSED = re.compile(
    r"\bimages?\b|image_url|multi-?modal|\bvision\b|mmproj|content\b.{0,80}\bstring|\bstring\b.{0,80}content",
    re.IGNORECASE | re.DOTALL,
)
_OPTION_REFUSED = re.compile(
    r"unsupported|not? support|unrecogni[sz]ed|unknown|not permitted|extra inputs|unexpected|instead"
    r"|must be verified|deprecated|cannot be",
    re.IGNORECASE,
)
# What a refusal calls an option, where that is not its name.
_CALLED = {"output_config": "effort|output_config"}


def _never() -> bool:
    return False


class SpentError(ModelError):
    """The model answered, but used up its tokens before the first word."""


class ReplacementText(str):
    """A piece that takes the place of all before it: until here, the model had thought aloud."""

    __slots__ = ()


class Reply(Iterator[str]):
    """The pieces of one answer as they come.

    text: the answer so far.
    finish: "" until the answer has ended, then how: "stop" (complete), "length" (the model reached
        `max_tokens`; the text stands but lacks its end) or "stopped" (`stop()` was true, or the reply was
        closed). After an error it stays "".

    Closing or dropping the reply closes the connection.
    """

    def __init__(
        self,
        pieces: Generator[str, None, str],
        usage: Mapping[str, int] | None = None,
        called: CallPieces | None = None,
    ) -> None:
        self._pieces, self.usage = pieces, usage if usage is not None else {}
        self.called = called or CallPieces()
        self.finish = self.text = ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that the model wants to have called, once the reply has ended; () for none."""
        return self.called.calls()

    def whole(self) -> str:
        """Waits for the whole answer, and returns it. Raises ModelError."""
        for _ in self:
            pass
        return self.text

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt as counted by the endpoint; 0 if it has not said."""
        return self.usage.get("prompt_tokens", 0)

    @property
    def answer_tokens(self) -> int:
        """Tokens of the answer, thinking included, as counted by the endpoint; 0 if it has not said."""
        return self.usage.get("answer_tokens", 0)

    def __next__(self) -> str:
        try:
            piece = next(self._pieces)
        except StopIteration as end:
            self.finish = self.finish or end.value or ""
            raise
        self.text = piece if isinstance(piece, ReplacementText) else self.text + piece
        return piece

    def close(self) -> None:
        """Ends the answer here. Harmless if it has already ended."""
        self._pieces.close()
        self.finish = self.finish or "stopped"


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A numbered source of a prompt, for clients that have citations of their own.

    number: as the prompt counts it, and as the answer cites it: [number].
    title: what it is, on one line.
    text: its text.
    start, end: where it stands, number and title included, in the content of the last message.
    """

    number: int
    title: str
    text: str
    start: int
    end: int


# More tokens than any model reads or writes at once.
MOST_TOKENS = 10**8


def is_count(value: object) -> TypeGuard[int]:
    """Tells whether an endpoint's count of tokens can be one."""
    return type(value) is int and 0 < value <= MOST_TOKENS


@dataclass(frozen=True, slots=True)
class Delta:
    """What one event of a streamed answer brings.

    text: a piece of the answer.
    finish: "stop", "length" or "content_filter" if the answer ends here, or the endpoint's own word for
        another end; else "".
    thinks: whether it carries the model's thinking: such a model is alive although it says nothing yet.
    usage: counts of tokens, "prompt_tokens" and "answer_tokens", as far as it tells.
    calls: pieces of the calls of tools that it asks for.
    """

    text: str = ""
    finish: str = ""
    thinks: bool = False
    usage: Mapping[str, int] = field(default_factory=dict)
    calls: Sequence[CallPiece] = ()


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request, its limits, and what became known of its answer.

    cites: the numbers of its sources. usage: receives the counts. calls: receives what the model calls.
    """

    body: dict[str, Any]
    cites: Sequence[int]
    patience: Timeouts
    usage: dict[str, int] = field(default_factory=dict)
    calls: CallPieces = field(default_factory=CallPieces)


class LLM(Protocol):
    """A chat model.

    name: as the endpoint knows it.
    host: who receives what is sent, for display.
    calls_tools: whether it may call tools; False once its endpoint has refused them.
    sees: whether it gets the pictures of rounds; False once its endpoint has refused them.
    """

    @property
    def name(self) -> str: ...

    @property
    def host(self) -> str: ...

    @property
    def calls_tools(self) -> bool: ...

    @property
    def sees(self) -> bool: ...

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = _never,
        sources: Sequence[PromptSource] = (),
        tools: Sequence[OfferedTool] = (),
        rounds: Sequence[ToolRound] = (),
    ) -> Reply:
        """Returns the answer piece by piece, verbatim. Nothing is sent before the first piece is asked for.

        messages: (role, content) pairs, roles "system", "user", "assistant".
        max_tokens: of the answer, 1 or more.
        schema: a JSON schema that the answer must follow (every object closed and every property required, as
            strict mode asks).
        stop: called before each try, in pauses, between pieces, and several times a second while an endpoint
            is silent.
        sources: those of the last message, for a client that hands them over by themselves and has the model
            cite them; its citations come as [number] in the text.
        tools: that it may call; what it calls is in the reply's `calls` once that has ended. An endpoint that
            refuses them is asked without them, from then on.
        rounds: what it called for these messages before, in order.

        Raises ModelError: before any piece if the endpoint fails, after the pieces that came if the answer
            was cut or withheld, and at the end of an answer without a word. What came before an error is not
            an answer.
        """
        ...


class EndpointModel(ABC):
    """A chat model at an endpoint, whatever its client. Many threads may use it at once.

    Busy, failing and unreachable endpoints are tried three times, but never after the first piece; a silent
    endpoint only once. For the time limits see `Timeouts`: a word of the model's thinking counts as a word.
    Options that the endpoint refuses, such as a temperature, are left out from then on.
    """

    def __init__(self, settings: Settings) -> None:
        self.name = settings.chat_model
        self.host = endpoint_host(settings)
        self._settings = settings
        self._options: dict[str, object] = {"temperature": settings.temperature}
        self._found = _found_of(endpoint_url(settings), self.name)

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = _never,
        sources: Sequence[PromptSource] = (),
        tools: Sequence[OfferedTool] = (),
        rounds: Sequence[ToolRound] = (),
    ) -> Reply:
        """See LLM.stream."""
        encoded = [(role, encodable(content)) for role, content in messages]
        body = self._body(encoded, schema, sources) | {LIMIT: max_tokens}
        if tools and self.calls_tools:
            body |= {TOOLS: [self._tool(tool) for tool in tools], ROUNDS: rounds}
        cites = [source.number for source in sources]
        asked = _Asked(body, cites, Timeouts.for_words(self._settings, stop))
        return Reply(self._answer(asked), asked.usage, asked.calls)

    @property
    def calls_tools(self) -> bool:
        """See LLM."""
        return TOOLS not in self._found

    @property
    def sees(self) -> bool:
        """See LLM."""
        return PICTURES not in self._found and sees_pictures(self._settings)

    @property
    @abstractmethod
    def _path(self) -> str:
        """Where requests go, below the client's base."""

    @abstractmethod
    def _tool(self, offered: OfferedTool) -> dict[str, object]:
        """Returns a tool as the endpoint takes it."""

    @abstractmethod
    def _turns_of(self, called: ToolRound) -> list[dict[str, object]]:
        """Returns the messages of a round: the model's, and those that reply to its calls."""

    @abstractmethod
    def _body(
        self,
        messages: Sequence[tuple[str, str]],
        schema: Mapping[str, object] | None,
        sources: Sequence[PromptSource],
    ) -> dict[str, Any]:
        """Returns the request, without what may have to be left out."""

    @abstractmethod
    def _read(self, stream: Any, cites: Sequence[int]) -> Iterator[Delta]:
        """Yields what each event of a reply brings, whatever its shape. cites: the numbers of the sources."""

    def _answer(self, asked: _Asked) -> Generator[str, None, str]:
        stop = asked.patience.stop
        pause = FIRST_PAUSE_SECONDS
        for tries in count(1):
            said = list[str]()
            try:
                return (yield from self._attempt(asked, said))
            except EndpointError as error:
                failure = error
            if stop():
                break
            if said:
                raise ModelError(f"The answer was cut off: {failure.message}", hint=failure.hint) from None
            if failure.wait is None or tries == MOST_TRIES:
                raise failure
            log.info("trying again: %s", failure.message)
            if not _pause(failure.wait or pause, stop):
                break
            pause *= 2
        return "stopped"

    def _attempt(self, asked: _Asked, said: list[str]) -> Generator[str, None, str]:
        """Makes one request.

        Its pieces are also kept in `said`, so that after an error the caller knows whether anything was
        shown.
        """
        patience, usage, calls = asked.patience, asked.usage, asked.calls
        stop = patience.stop
        if stop():
            return "stopped"
        finish, characters_left = "", asked.body[LIMIT] * MOST_CHARACTERS_PER_TOKEN
        with closing(self._deltas(asked)) as deltas:
            thinking = _Thinking(begun=_NO_BEGIN in self._found)
            for delta in deltas:
                finish = delta.finish
                received = delta.text[: max(characters_left, 0)]
                piece = thinking.said(received, last=bool(finish))
                anew = isinstance(piece, ReplacementText)
                if anew:
                    self._found.add(_NO_BEGIN)
                    said.clear()
                if (piece or anew) and not stop():
                    said.append(piece)
                    yield piece
                if received.strip() or delta.thinks or delta.calls:
                    patience.heard()
                # Endless thinking and endless calls are limited too.
                characters_left -= len(received) + calls.take(delta.calls) or 1
                if stop():
                    return "stopped"
                if characters_left < 0:
                    finish = "length"
                usage.update(delta.usage)
                if finish:
                    break
            if finish and characters_left >= 0 and not usage and COUNTS in self._options.keys() - self._found:
                usage.update(_counted(deltas, patience))
            if thinking.perhaps:
                self._found.discard(_NO_BEGIN)
        self._check_end(finish, "".join(said), calls=bool(calls.calls()))
        return "length" if finish == "length" else "stop"

    def _deltas(self, asked: _Asked) -> Generator[Delta, None, None]:
        """Yields what the events of one request bring, with clean text. Raises EndpointError."""
        clean = CleanText()
        with explaining(self._settings), open_client(self._settings, asked.patience) as client:
            stream = self._request(client, asked.body)
            with closing(stream.response):
                for delta in self._read(stream, asked.cites):
                    yield replace(delta, text=clean.take(delta.text, last=bool(delta.finish)))

    def _request(self, client: Any, body: dict[str, Any]) -> Any:
        """Returns the stream. Repeats the request without what the endpoint refuses.

        Later requests begin with what was found, unless the endpoint refuses this one nonetheless.
        """
        known = set(self._found)
        failures: tuple[type[Exception], ...] = (EndpointError, *endpoint_failures(self._settings))
        while True:
            sent = self._sent(body)
            try:
                # Raw JSON rather than the client's own types, which accept any shape and fail later, at the
                # missing attribute.
                stream = client.post(self._path, body=sent, cast_to=object, stream=True)
                if content_type(stream) == "text/html":
                    raise EndpointError(
                        f"{self.host} sent a web page, not an answer.",
                        hint=f"Check {address_variable(self._settings)}. Addresses usually end in /v1.",
                        kind="path",
                    )
                return stream
            except failures as error:
                if self._adapts(error, sent) or self._goes_blind(error, body):
                    continue
                if isinstance(error, EndpointError) or status_of(error):  # a broken connection says nothing
                    self._found.intersection_update(known)
                raise

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the request without what the endpoint has refused."""
        whole = {STREAM: True} | self._options | body
        sent: dict[str, Any] = {name: value for name, value in whole.items() if name not in self._found}
        for called in sent.pop(ROUNDS, ()):
            sent["messages"] = [*sent["messages"], *self._turns_of(called)]
        return sent

    def _adapts(self, error: Exception, sent: Mapping[str, Any]) -> bool:
        """Whether a request that failed is worth repeating. Notes which of its options was refused."""
        words = words_of_error(error)
        if status_of(error) not in {400, 403, 404, 422} or not _OPTION_REFUSED.search(words):
            return False
        # "stream_options" before "stream", which is a part of it.
        for name in sorted(self._options.keys() & sent.keys() - self._found, key=len, reverse=True):
            if re.search(rf"\b(?:{_CALLED.get(name, name)})\b", words):
                self._found.add(name)
                return True
        return False

    def _picture(self, reply: ToolReply) -> str:
        """The picture of a reply in base64, "" for none and for a model that sees none."""
        return base64.b64encode(reply.picture).decode() if self.sees else ""

    def _goes_blind(self, error: Exception, body: Mapping[str, Any]) -> bool:
        """Whether a request with pictures was refused for their sake. Notes it."""
        sent = any(self._picture(reply) for called in body.get(ROUNDS, ()) for reply in called.replies)
        refused = status_of(error) not in {0, 401, 429} and _PICTURES_REFUSED.search(words_of_error(error))
        if sent and refused:
            self._found.add(PICTURES)
        return bool(sent and refused)

    def _check_end(self, finish: str, text: str, *, calls: bool) -> None:
        if finish == "content_filter":
            raise ModelError(
                f"{self.host} withheld the answer (content filter).", hint="Rephrase your question."
            )
        if finish in {"", "error"} and (text or calls):
            said = f"{self.host} stopped before the answer was complete."
            raise EndpointError(said, hint="Ask again.", retryable=True)
        if calls:
            return
        if not text.strip() and finish == "length":
            raise SpentError(
                f"{self.name} used up its tokens without an answer.", hint="Raise FINPOLICY_ANSWER_TOKENS."
            )
        if not text.strip():
            raise ModelError(
                f"{self.host} sent an empty answer.",
                hint=f"Check FINPOLICY_CHAT_MODEL and {address_variable(self._settings)}.",
            )


def words_of_error(error: Exception) -> str:
    """Returns what an endpoint's refusal says."""
    return f"{getattr(error, 'message', '')} {words_of_body(getattr(error, 'body', None))}"


def content_type(stream: Any) -> str:
    """Returns the kind of a reply, such as text/event-stream."""
    kind = stream.response.headers.get("content-type", "")
    return str(kind).partition(";")[0].strip().casefold()


def make_model(settings: Settings) -> LLM | None:
    """Returns the chat model of the settings, None if they name none and answers are extractive.

    Connects to nothing.
    """
    if settings.chat_model:
        return named_model(settings)
    return None


def named_model(settings: Settings) -> LLM:
    """Returns the chat model that the settings name. The only place that chooses the kind of client."""
    from chatbot.models.anthropic_chat import AnthropicModel
    from chatbot.models.openai_chat import OpenAIModel

    if client_of(settings) == "anthropic":
        return AnthropicModel(settings)
    return OpenAIModel(settings)


@lru_cache(_MOST_MODELS)
def _found_of(url: str, model: str) -> set[str]:
    """What was found out about a model by any who use it: what it refuses, and how it thinks.

    Threads that race here only waste one request.
    """
    return set()


class _Thinking:
    """Removes a model's thoughts before or within its answer.

    Some servers send them in the text rather than in a field of their own, and some without their begin.
    """

    def __init__(self, *, begun: bool) -> None:
        """begun: whether this model's thoughts have no begin. What then has no end either is the answer."""
        self._held = self._mark = self._channel = ""
        self._inside = self.perhaps = begun
        self._begins = True

    def said(self, piece: str, *, last: bool) -> str:
        """Returns the part of the text so far that belongs to the answer. last: whether no more comes."""
        self._held += piece
        answer, anew = "", False
        while found := _MARK.search(self._held):
            before, self._held = self._held[: found.start()], self._held[found.end() :]
            ends = found[0].startswith("</")
            if not self._inside or (self.perhaps and not ends):
                answer += self._from_its_first_word(before)
            if ends and not (self._mark or self.perhaps):
                answer, anew = "", True
            self._pass(found[0], before)
        if self._inside and not last and (self.perhaps or self._mark == _CHANNEL):
            return answer
        begun = None if last else _BEGUN.search(self._held)
        end = begun.start() if begun else len(self._held)
        text, self._held = self._held[:end], self._held[end:]
        if not self._inside or self.perhaps:
            answer += self._from_its_first_word(text)
        return ReplacementText(answer) if anew else answer

    def _pass(self, mark: str, before: str) -> None:
        """Notes whether a thought begins with a mark. before: the text up to it."""
        if self._mark == _CHANNEL:
            self._channel = before.strip()
        if mark == _START:
            self._channel = ""
        if mark == _MESSAGE:
            self._inside = self._channel not in ("", "final")
        else:
            self._inside = mark in (_CHANNEL, _CONSTRAIN, _START, *_TAGS[: len(_TAGS) // 2])
        self._mark, self.perhaps, self._begins = mark, False, True

    def _from_its_first_word(self, text: str) -> str:
        """Removes the blanks between a thought and the answer."""
        said = text.lstrip() if self._begins else text
        self._begins = self._begins and not said
        return said


def _counted(deltas: Iterator[Delta], patience: Timeouts) -> Mapping[str, int]:
    """Returns the counts that come after the last word, {} if the endpoint does not send them at once."""
    patience.heard()
    patience.between = min(patience.between, COUNTED_SECONDS)
    with suppress(EndpointError):
        return next((delta.usage for delta in deltas if delta.usage), {})
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

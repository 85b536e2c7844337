"""Chat models at OpenAI-compatible endpoints, Azure's among them, whatever each leaves out or refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from chatbot.models.addresses import address_of, address_variable
from chatbot.models.chat import TOOLS, Delta, EndpointModel, PromptSource, is_count
from chatbot.models.endpoint_errors import EndpointError, explain_body, words_of_body
from chatbot.models.endpoints import open_client
from chatbot.models.timeouts import Timeouts
from chatbot.models.tokens import encodable
from chatbot.models.tool_calls import CallPiece, OfferedTool, ToolRound
from chatbot.settings import Settings

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI, Stream

__all__ = ["OpenAIModel"]

# vLLM, DeepSeek and llama.cpp; OpenRouter and Ollama.
_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
# OpenAI's newer models know the limit only by its new name, most local servers only by the old one.
_NEW_LIMIT_NAME, _OLD_LIMIT_NAME = "max_completion_tokens", "max_tokens"
# The names that servers have for a limit that was reached.
_LENGTHS = frozenset({"length", "max_tokens", "model_length"})
_PARAMETER_REJECTED = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|not permitted|unexpected|instead|must be verified",
    re.IGNORECASE,
)
# As templates of Gemma and Mistral say it, and Google of Gemma.
_SYSTEM_REJECTED = re.compile(
    r"system (?:role|message|prompt|instruction)|role\W{0,3}system|developer instruction|roles must alternate"
    r"|only user\W[\w, ]*\broles?\b",
    re.IGNORECASE,
)
# As Ollama, vLLM, llama.cpp and OpenRouter say it; DeepSeek, Google and Mistral say "function calling".
_TOOLS_REJECTED = re.compile(
    r"\b(?:tools?|function calling)\b.{0,60}(?:not support|unsupported|requires?"
    r"|not (?:enabled|permitted|allowed)|unknown|unrecogni[sz]ed|unexpected)"
    r"|(?:not support|unsupported|requires?|no endpoints found|unknown|unrecogni[sz]ed|extra inputs).{0,80}"
    r"\b(?:tools?|function calling)\b",
    re.IGNORECASE | re.DOTALL,
)
_STREAM, _SYSTEM = "stream", "system"
_VERSION = "/v1"


class OpenAIModel(EndpointModel):
    """The chat model of the settings, at any OpenAI-compatible endpoint; see EndpointModel.

    What the endpoint refuses is left out from then on: a temperature, a count of tokens, streaming; what was
    to be said as "system", the user says then. An address without /v1 is tried with it.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._limit_name = _OLD_LIMIT_NAME
        if self.host == "api.openai.com" or self.host.endswith("azure.com"):
            self._limit_name = _NEW_LIMIT_NAME
        self._options: dict[str, object] = {
            "temperature": settings.temperature,
            "stream_options": {"include_usage": True},
        }
        if settings.reasoning:
            self._options["reasoning_effort"] = settings.reasoning
        # Those of these that the endpoint refuses, as OpenAI's thinking models refuse any temperature, and
        # "stream", and the role "system".
        self._refused = self._found
        self._prefix = ""  # of the path: the version that the address lacks

    def _body(
        self,
        messages: Sequence[tuple[str, str]],
        schema: Mapping[str, object] | None,
        sources: Sequence[PromptSource],
    ) -> dict[str, object]:
        """Returns the request. The sources stay where they are, in the last message."""
        body: dict[str, object] = {
            "model": self.name,
            "messages": [{"role": role, "content": content} for role, content in messages],
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema), "strict": True},
            }
        return body

    def _tools(self, offered: Sequence[OfferedTool]) -> list[dict[str, object]]:
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.schema),
                },
            }
            for tool in offered
        ]

    def _turns_of(self, called: ToolRound) -> list[dict[str, object]]:
        asked: list[dict[str, object]] = []
        for call in (reply.call for reply in called.replies):
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            asked.append({"id": call.id, "type": "function", "function": function})
        told: list[dict[str, object]] = [
            {"role": "tool", "tool_call_id": reply.call.id, "content": encodable(reply.text)}
            for reply in called.replies
        ]
        return [{"role": "assistant", "content": called.said or None, "tool_calls": asked}, *told]

    @property
    def _counts_tokens(self) -> bool:
        return "stream_options" not in self._refused

    def _deltas(
        self, body: dict[str, object], max_tokens: int, patience: Timeouts
    ) -> Generator[Delta, None, None]:
        with open_client(self._settings, patience) as client:
            stream = self._request(client, body, max_tokens)
            with closing(stream.response):
                for event in self._events(stream):
                    yield _read(event)

    def _request(self, client: OpenAI, body: dict[str, object], max_tokens: int) -> Stream[object]:
        """Repeats the request without what the endpoint refuses, or with the limit's other name, or with /v1.

        Later requests begin with what was found.
        """
        from openai import APIStatusError

        offers = TOOLS in body and TOOLS not in self._refused
        while True:
            options = {name: value for name, value in self._options.items() if name not in self._refused}
            options |= {self._limit_name: max_tokens}
            if _STREAM in self._refused:
                options.pop("stream_options", None)
                options[_STREAM] = False
            else:
                options[_STREAM] = True
            try:
                sent = _said_by_user(body) if _SYSTEM in self._refused else body
                if TOOLS in self._refused:
                    sent = {name: value for name, value in sent.items() if name != TOOLS}
                stream = _post(client, f"{self._prefix}/chat/completions", sent | options)
            except APIStatusError as error:
                without = TOOLS in self._refused
                if not self._adapts(error, options, body):
                    if offers and without:  # it was not for the tools, whatever it said of them
                        self._refused.discard(TOOLS)
                    raise
                continue
            if _is_web_page(stream) and self._tries_version():
                stream.close()
                continue
            return stream

    def _adapts(
        self, error: APIStatusError, options: Mapping[str, object], body: Mapping[str, object]
    ) -> bool:
        """Whether the request is worth repeating; takes what was refused out of it."""
        words = f"{error.message} {words_of_body(error.body)}"
        if error.status_code in {404, 405} and self.name not in words and self._tries_version():
            return True
        # Templates that fail are an error of the server itself for some.
        if error.status_code != 429 and _SYSTEM not in self._refused and _SYSTEM_REJECTED.search(words):
            self._refused.add(_SYSTEM)
            return True
        offers = TOOLS in body and TOOLS not in self._refused
        if offers and error.status_code not in {401, 429} and _TOOLS_REJECTED.search(words):
            self._refused.add(TOOLS)
            # What tools have said makes no sense without them.
            turns = body["messages"]
            return not (isinstance(turns, list) and any(turn["role"] == "tool" for turn in turns))
        if error.status_code not in {400, 403, 404, 422} or not _PARAMETER_REJECTED.search(words):
            return False
        # "stream_options" before "stream", which is a part of it.
        names = sorted(options, key=len, reverse=True)
        refused = next((name for name in names if re.search(rf"\b{name}\b", words)), None)
        if refused is None or refused in self._refused:
            return False
        self._refused.add(refused)
        if refused == self._limit_name:
            self._limit_name = _OLD_LIMIT_NAME if refused == _NEW_LIMIT_NAME else _NEW_LIMIT_NAME
        return True

    def _tries_version(self) -> bool:
        """Whether the address has no version and has not been tried with one; it is from now on."""
        if self._prefix or address_of(self._settings).has_version:
            return False
        self._prefix = _VERSION
        return True

    def _events(self, stream: Stream[object]) -> Iterator[object]:
        """Yields the events; a whole answer in JSON, as of a server that does not stream, as one."""
        if _is_web_page(stream):
            raise EndpointError(
                f"{self.host} sent a web page, not an answer.",
                hint=f"Check {address_variable(self._settings)}. Addresses usually end in /v1.",
                retryable=False,
                kind="path",
            )
        if _content_type(stream) != "application/json":
            for event in stream:
                self._check_event(event)
                yield event
            return
        whole = json.loads(stream.response.read())
        self._check_event(whole)
        yield whole

    def _check_event(self, event: object) -> None:
        """Raises EndpointError for an event or a whole body that is an error although the status was 200."""
        if isinstance(event, dict) and not event.get("choices") and event.get("error"):
            raise explain_body(event["error"], self._settings, model_setting="FINPOLICY_CHAT_MODEL")


def _post(client: OpenAI, path: str, body: dict[str, object]) -> Stream[object]:
    from openai import Stream

    # Raw JSON rather than the client's chunk types, which accept any shape and fail later, at the missing
    # attribute.
    return client.post(path, body=body, cast_to=object, stream=True, stream_cls=Stream[object])


def _said_by_user(body: dict[str, object]) -> dict[str, object]:
    """Returns a request in which the first message of the user begins with what the system's said."""
    messages = body["messages"]
    assert isinstance(messages, list)
    system = [one["content"] for one in messages if one["role"] == _SYSTEM]
    others = [one for one in messages if one["role"] != _SYSTEM]
    first = next((at for at, one in enumerate(others) if one["role"] == "user"), None)
    if system and first is not None:
        content = "\n\n".join([*system, others[first]["content"]])
        others[first] = {"role": "user", "content": content}
    return body | {"messages": others}


def _content_type(stream: Stream[object]) -> str:
    kind = stream.response.headers.get("content-type", "")
    return str(kind).partition(";")[0].strip().casefold()


def _is_web_page(stream: Stream[object]) -> bool:
    return _content_type(stream) == "text/html"


def _read(event: object) -> Delta:
    """Returns what an event, or a whole answer, brings. Usage and keep-alive events have no choices."""
    choice = _choice(event)
    delta = choice.get("delta") or choice.get("message")
    text = None
    thoughts: list[object] = []
    calls: list[CallPiece] = []
    if isinstance(delta, dict):
        calls = _pieces(delta.get("tool_calls"))
        # A refusal under a schema comes in a field of its own and is what the model says.
        text = delta.get("content") or delta.get("refusal")
        thoughts = [delta.get(name) for name in _THOUGHT_FIELDS]
        if isinstance(text, list):  # Mistral's thinking models
            parts = [part for part in text if isinstance(part, dict)]
            text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
            thoughts += ["thinking" for part in parts if part.get("type") == "thinking"]
    finish = choice.get("finish_reason")
    finish = finish if isinstance(finish, str) else ""
    return Delta(
        text if isinstance(text, str) else "",
        "length" if finish in _LENGTHS else finish,
        any(isinstance(thought, str) and thought.strip() for thought in thoughts),
        _usage(event),
        calls,
    )


def _pieces(calls: object) -> list[CallPiece]:
    """Returns the pieces of calls. Those of a whole answer have no index."""
    found = []
    for number, call in enumerate(calls if isinstance(calls, list) else []):
        match call:
            case {"function": dict(function)}:
                index = call.get("index", number)
                words = (call.get("id"), function.get("name"), function.get("arguments"))
                written = [word if isinstance(word, str) else "" for word in words]
                found.append(CallPiece(index if isinstance(index, int) else number, *written))
    return found


def _usage(event: object) -> dict[str, int]:
    """Returns what an event says of tokens, {} for nothing."""
    usage = event.get("usage") if isinstance(event, dict) else None
    if not isinstance(usage, dict):
        return {}
    counts = {"prompt_tokens": usage.get("prompt_tokens"), "answer_tokens": usage.get("completion_tokens")}
    found = {name: count for name, count in counts.items() if is_count(count)}
    return found if "prompt_tokens" in found else {}


def _choice(event: object) -> dict[str, object]:
    choices = event.get("choices") if isinstance(event, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}

"""Chat models at OpenAI-compatible endpoints, Azure's among them, whatever each leaves out or refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chatbot.models.addresses import address_of
from chatbot.models.chat import (
    COUNTS,
    LIMIT,
    STREAM,
    TOOLS,
    Delta,
    EndpointModel,
    PromptSource,
    content_type,
    is_count,
    words_of_error,
)
from chatbot.models.endpoint_errors import CHAT_MODEL, EndpointError, explain_body, status_of
from chatbot.models.tokens import encodable
from chatbot.models.tool_calls import PICTURE, CallPiece, OfferedTool, ToolRound
from chatbot.settings import Settings

__all__ = ["OpenAIModel"]

# vLLM, DeepSeek and llama.cpp; OpenRouter and Ollama.
_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
# OpenAI's newer models know the limit only by this name, most local servers only by the old one.
_NEW_LIMIT = "max_completion_tokens"
# The names that servers have for a limit that was reached.
_LENGTHS = frozenset({"length", "max_tokens", "model_length"})
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
_SYSTEM, _VERSION = "system", "/v1"


class OpenAIModel(EndpointModel):
    """The chat model of the settings, at any OpenAI-compatible endpoint; see EndpointModel.

    Streaming and the count of tokens may be refused too. What was to be said as "system", the user says then.
    An address without /v1 is tried with it.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        is_openai = self.host == "api.openai.com" or self.host.endswith("azure.com")
        self._limits = [_NEW_LIMIT, LIMIT] if is_openai else [LIMIT, _NEW_LIMIT]
        self._options |= {STREAM: True, COUNTS: {"include_usage": True}, **dict.fromkeys(self._limits)}
        if settings.reasoning:
            self._options["reasoning_effort"] = settings.reasoning

    @property
    def _path(self) -> str:
        return f"{_VERSION if _VERSION in self._found else ''}/chat/completions"

    def _body(
        self,
        messages: Sequence[tuple[str, str]],
        schema: Mapping[str, object] | None,
        sources: Sequence[PromptSource],
    ) -> dict[str, Any]:
        """Returns the request. The sources stay where they are, in the last message."""
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": role, "content": content} for role, content in messages],
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema), "strict": True},
            }
        return body

    def _tool(self, offered: OfferedTool) -> dict[str, object]:
        function = {
            "name": offered.name,
            "description": offered.description,
            "parameters": dict(offered.schema),
        }
        return {"type": "function", "function": function}

    def _turns_of(self, called: ToolRound) -> list[dict[str, object]]:
        asked: list[dict[str, object]] = []
        told: list[dict[str, object]] = []
        seen: list[dict[str, object]] = []
        for reply in called.replies:
            call = reply.call
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            asked.append({"id": call.id, "type": "function", "function": function})
            told.append({"role": "tool", "tool_call_id": call.id, "content": encodable(reply.text)})
            if data := self._picture(reply):
                text = f"{json.dumps(call.arguments)}: {PICTURE}"
                address = {"url": f"data:image/jpeg;base64,{data}"}
                seen += [{"type": "text", "text": text}, {"type": "image_url", "image_url": address}]
        if seen:  # tools reply in text alone here
            told.append({"role": "user", "content": seen})
        return [{"role": "assistant", "content": called.said or None, "tool_calls": asked}, *told]

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        limits = [name for name in self._limits if name not in self._found] or self._limits
        sent = super()._sent(body)
        for name in self._limits:
            sent.pop(name, None)
        sent |= {limits[0]: body[LIMIT], STREAM: STREAM not in self._found}
        if not sent[STREAM]:
            sent.pop(COUNTS, None)
        if _SYSTEM in self._found:
            sent["messages"] = _said_by_user(sent["messages"])
        return sent

    def _adapts(self, error: Exception, sent: Mapping[str, Any]) -> bool:
        status, words = status_of(error), words_of_error(error)
        lacks_version = _VERSION not in self._found and not address_of(self._settings).has_version
        is_elsewhere = isinstance(error, EndpointError) or (status in {404, 405} and self.name not in words)
        if is_elsewhere and lacks_version:
            self._found.add(_VERSION)
            return True
        # Templates that fail are an error of the server itself for some.
        if status not in {0, 429} and _SYSTEM not in self._found and _SYSTEM_REJECTED.search(words):
            self._found.add(_SYSTEM)
            return True
        if TOOLS in sent and status not in {0, 401, 429} and _TOOLS_REJECTED.search(words):
            self._found.add(TOOLS)
            # What tools have said makes no sense without them.
            return not any(turn["role"] == "tool" for turn in sent["messages"])
        return super()._adapts(error, sent)

    def _read(self, stream: Any, cites: Sequence[int]) -> Iterator[Delta]:
        """Yields the deltas; a whole answer in JSON, as of a server that does not stream, is one.

        Raises EndpointError for an event that is an error although the status was 200.
        """
        whole = content_type(stream) == "application/json"
        for event in [json.loads(stream.response.read())] if whole else stream:
            match event:
                case {"error": error} if error and not event.get("choices"):
                    raise explain_body(error, self._settings, model_setting=CHAT_MODEL)
            yield _read(event)


def _said_by_user(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the messages with what the system said at the begin of the user's first one."""
    system = [one["content"] for one in messages if one["role"] == _SYSTEM]
    others = [one for one in messages if one["role"] != _SYSTEM]
    for at, one in enumerate(others):
        if one["role"] == "user":
            others[at] = one | {"content": "\n\n".join([*system, one["content"]])}
            break
    return others


def _read(event: object) -> Delta:
    """Returns what an event, or a whole answer, brings. Usage and keep-alive events have no choices."""
    text, finish, thoughts = "", "", list[object]()
    calls: list[CallPiece] = []
    match event:
        case {"choices": [dict(choice), *_]}:
            named = choice.get("finish_reason")
            finish = "length" if named in _LENGTHS else _word(named)
            match choice.get("delta") or choice.get("message"):
                case dict(delta):
                    text, thoughts = _said(delta)
                    calls = _pieces(delta.get("tool_calls"))
    thinks = any(isinstance(thought, str) and thought.strip() for thought in thoughts)
    return Delta(text, finish, thinks, _usage(event), calls)


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _said(delta: Mapping[str, Any]) -> tuple[str, list[object]]:
    """Returns the text of a piece, and what may be thoughts."""
    # A refusal under a schema comes in a field of its own and is what the model says.
    text = delta.get("content") or delta.get("refusal")
    thoughts = [delta.get(name) for name in _THOUGHT_FIELDS]
    if isinstance(text, list):  # Mistral's thinking models
        parts = [part for part in text if isinstance(part, dict)]
        text = "".join(_word(part.get("text")) for part in parts)
        thoughts += ["thinking" for part in parts if part.get("type") == "thinking"]
    return _word(text), thoughts


def _pieces(calls: object) -> list[CallPiece]:
    """Returns the pieces of calls. Those of a whole answer have no index."""
    found = []
    for number, call in enumerate(calls if isinstance(calls, list) else []):
        match call:
            case {"function": dict(function)}:
                index = call.get("index", number)
                words = (call.get("id"), function.get("name"), function.get("arguments"))
                found.append(CallPiece(index if isinstance(index, int) else number, *map(_word, words)))
    return found


def _usage(event: object) -> dict[str, int]:
    """Returns what an event says of tokens, {} for nothing."""
    match event:
        case {"usage": {"prompt_tokens": prompt, **others}} if is_count(prompt):
            answer = others.get("completion_tokens")
            return {"prompt_tokens": prompt} | ({"answer_tokens": answer} if is_count(answer) else {})
    return {}

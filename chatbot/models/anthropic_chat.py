"""Chat models of Anthropic by its own client, with its own citations as numbers of our sources."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from chatbot.models.chat import Delta, EndpointModel, PromptSource, is_count
from chatbot.models.endpoint_errors import words_of_body
from chatbot.models.endpoints import open_anthropic
from chatbot.models.timeouts import Timeouts
from chatbot.models.tokens import encodable
from chatbot.models.tool_calls import CallPiece, OfferedTool, ToolRound
from chatbot.settings import Settings

if TYPE_CHECKING:
    from anthropic import Anthropic, APIStatusError, Stream

__all__ = ["AnthropicModel"]

_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
# How much a model is to think, by FINPOLICY_REASONING.
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high"}
# What a refusal calls the options.
_NAMES = {"temperature": r"\btemperature\b", "output_config": r"\beffort\b|\boutput_config\b"}
_PARAMETER_REJECTED = re.compile(
    r"not supported|unsupported|not permitted|extra inputs|unexpected|does not support|deprecated|cannot be",
    re.IGNORECASE,
)


class AnthropicModel(EndpointModel):
    """The chat model of the settings by Anthropic's client; see EndpointModel.

    Each source goes as a document by itself, so that the model cites it by the API's own means. Where a block
    of text ends, the numbers of what it cites are added, [1], unless the model wrote them.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._options: dict[str, object] = {"temperature": settings.temperature}
        if settings.reasoning in _EFFORTS:
            self._options["output_config"] = {"effort": _EFFORTS[settings.reasoning]}
        self._refused: set[str] = set()

    def _body(
        self,
        messages: Sequence[tuple[str, str]],
        schema: Mapping[str, object] | None,
        sources: Sequence[PromptSource],
    ) -> dict[str, object]:
        system = "\n\n".join(content for role, content in messages if role == "system")
        turns: list[dict[str, object]] = [
            {"role": role, "content": content} for role, content in messages if role != "system"
        ]
        if sources:
            turns[-1]["content"] = _with_documents(messages[-1][1], sources)
        body: dict[str, object] = {"model": self.name, "messages": turns}
        if system:
            cached = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
            body["system"] = [cached]
        if schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(schema)}}
        return body

    def _tools(self, offered: Sequence[OfferedTool]) -> list[dict[str, object]]:
        return [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in offered
        ]

    def _turns_of(self, called: ToolRound) -> list[dict[str, object]]:
        asked: list[dict[str, object]] = (
            [{"type": "text", "text": called.said}] if called.said.strip() else []
        )
        told = []
        for reply in called.replies:
            call = reply.call
            asked.append(
                {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
            )
            told.append({"type": "tool_result", "tool_use_id": call.id, "content": encodable(reply.text)})
        return [{"role": "assistant", "content": asked}, {"role": "user", "content": told}]

    def _deltas(
        self, body: dict[str, object], max_tokens: int, patience: Timeouts
    ) -> Generator[Delta, None, None]:
        with open_anthropic(self._settings, patience) as client:
            stream = self._request(client, body, max_tokens)
            with closing(stream.response):
                cited = _Citations(_numbers_of(body))
                for event in stream:
                    if isinstance(event, dict):
                        yield cited.read(event)

    def _request(self, client: Anthropic, body: dict[str, object], max_tokens: int) -> Stream[object]:
        """Repeats the request without what the model refuses; later requests leave it out from the start."""
        from anthropic import APIStatusError

        while True:
            options = {name: value for name, value in self._options.items() if name not in self._refused}
            try:
                return _post(client, options | body | {"max_tokens": max_tokens, "stream": True})
            except APIStatusError as error:
                if not self._adapts(error, options):
                    raise

    def _adapts(self, error: APIStatusError, options: Mapping[str, object]) -> bool:
        words = f"{error.message} {words_of_body(error.body)}"
        if error.status_code != 400 or not _PARAMETER_REJECTED.search(words):
            return False
        refused = next((name for name in options if re.search(_NAMES[name], words)), None)
        if refused is None:
            return False
        self._refused.add(refused)
        return True


class _Citations:
    """Turns the events of an answer into text in which each cited block ends with the numbers it cites."""

    def __init__(self, numbers: Sequence[int]) -> None:
        """numbers: of the documents in the order they were sent."""
        self._numbers = numbers
        self._block = ""
        self._cited: dict[int, None] = {}
        self._usage: dict[str, int] = {}

    def read(self, event: Mapping[str, Any]) -> Delta:
        """Returns what an event brings."""
        match event:
            case {"type": "message_start", "message": {"usage": dict(usage)}}:
                self._usage["prompt_tokens"] = _prompt_tokens(usage)
            case {"type": "content_block_start"}:
                self._block, self._cited = "", {}
                return Delta(calls=_begun_calls(event))
            case {
                "type": "content_block_delta",
                "index": int(index),
                "delta": {"type": "input_json_delta", "partial_json": str(piece)},
            }:
                return Delta(calls=[CallPiece(index, arguments=piece)])
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}}:
                self._block += text
                return Delta(text)
            case {
                "type": "content_block_delta",
                "delta": {"type": "citations_delta", "citation": dict(found)},
            }:
                self._cite(found)
                return Delta(thinks=True)
            case {"type": "content_block_delta"}:
                return Delta(thinks=True)
            case {"type": "content_block_stop"}:
                return Delta(self._marks())
            case {"type": "message_delta", "delta": dict(delta)}:
                return self._end(delta.get("stop_reason"), event.get("usage"))
        return Delta()

    def _cite(self, citation: Mapping[str, Any]) -> None:
        index = citation.get("document_index")
        if isinstance(index, int) and 0 <= index < len(self._numbers):
            self._cited[self._numbers[index]] = None

    def _marks(self) -> str:
        """Returns the numbers that a block cites and does not end with."""
        written = set(re.findall(r"\[(\d+)\]", self._block))
        lacking = [f"[{number}]" for number in self._cited if str(number) not in written]
        if not lacking:
            return ""
        return "".join([" ", *lacking])

    def _end(self, reason: object, usage: object) -> Delta:
        if isinstance(usage, dict):
            answered = usage.get("output_tokens")
            if is_count(answered):
                self._usage["answer_tokens"] = answered
        finish = _FINISHES.get(reason, reason) if isinstance(reason, str) else ""
        return Delta(finish=finish, usage=dict(self._usage))


def _begun_calls(event: Mapping[str, Any]) -> list[CallPiece]:
    """Returns the call that begins with a block, [] for a block of another kind."""
    match event:
        case {
            "index": int(index),
            "content_block": {"type": "tool_use", "id": str(id), "name": str(name)},
        }:
            return [CallPiece(index, id, name)]
    return []


def _prompt_tokens(usage: Mapping[str, object]) -> int:
    """Returns the tokens of the prompt, those in the provider's cache among them."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [usage.get(name) for name in names]
    return sum(count for count in counts if is_count(count))


def _with_documents(content: str, sources: Sequence[PromptSource]) -> list[dict[str, object]]:
    """Returns the blocks of a message: text, and each source as a document that can be cited."""
    blocks: list[dict[str, object]] = []
    at = 0
    for source in sources:
        blocks.append({"type": "text", "text": content[at : source.start]})
        blocks.append(
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": source.text},
                "title": f"[{source.number}] {source.title}",
                "citations": {"enabled": True},
            }
        )
        at = source.end
    blocks.append({"type": "text", "text": content[at:]})
    # The API refuses a block of blanks.
    return [block for block in blocks if block["type"] == "document" or str(block["text"]).strip()]


def _numbers_of(body: Mapping[str, object]) -> list[int]:
    """Returns the numbers of the documents of a request, in order."""
    turns = body["messages"]
    assert isinstance(turns, list)
    blocks = [block for turn in turns if isinstance(turn["content"], list) for block in turn["content"]]
    titles = [str(block["title"]) for block in blocks if block["type"] == "document"]
    return [int(title[1:].partition("]")[0]) for title in titles]


def _post(client: Anthropic, body: dict[str, object]) -> Stream[object]:
    from anthropic import Stream

    # Raw JSON, see openai_chat.
    return client.post("/v1/messages", body=body, cast_to=object, stream=True, stream_cls=Stream[object])

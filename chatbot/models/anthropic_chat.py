"""Chat models of Anthropic by its own client, with its own citations as numbers of our sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chatbot.models.chat import Delta, EndpointModel, PromptSource, is_count
from chatbot.models.tokens import encodable
from chatbot.models.tool_calls import CallPiece, OfferedTool, ToolReply, ToolRound
from chatbot.settings import Settings

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


class AnthropicModel(EndpointModel):
    """The chat model of the settings by Anthropic's client; see EndpointModel.

    Each source goes as a document by itself, so that the model cites it by the API's own means. Where a block
    of text ends, the numbers of what it cites are added, [1], unless the model wrote them.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if settings.reasoning in _EFFORTS:
            self._options["output_config"] = {"effort": _EFFORTS[settings.reasoning]}

    @property
    def _path(self) -> str:
        return "/v1/messages"

    def _body(
        self,
        messages: Sequence[tuple[str, str]],
        schema: Mapping[str, object] | None,
        sources: Sequence[PromptSource],
    ) -> dict[str, Any]:
        system = "\n\n".join(content for role, content in messages if role == "system")
        turns: list[dict[str, Any]] = [
            {"role": role, "content": content} for role, content in messages if role != "system"
        ]
        if sources:
            turns[-1]["content"] = _with_documents(messages[-1][1], sources)
        body: dict[str, Any] = {"model": self.name, "messages": turns}
        if system:
            cached = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
            body["system"] = [cached]
        if schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(schema)}}
        return body

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        form = {name: body[name] for name in ("output_config",) if name in body}
        return super()._sent(body) | form  # an effort that was refused is no refusal of a form

    def _tool(self, offered: OfferedTool) -> dict[str, object]:
        return {
            "name": offered.name,
            "description": offered.description,
            "input_schema": dict(offered.schema),
        }

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
            told.append({"type": "tool_result", "tool_use_id": call.id, "content": self._told(reply)})
        return [{"role": "assistant", "content": asked}, {"role": "user", "content": told}]

    def _told(self, reply: ToolReply) -> str | list[dict[str, object]]:
        data = self._picture(reply)
        if not data:
            return encodable(reply.text)
        source = {"type": "base64", "media_type": "image/jpeg", "data": data}
        return [{"type": "text", "text": encodable(reply.shown)}, {"type": "image", "source": source}]

    def _read(self, stream: Any, cites: Sequence[int]) -> Iterator[Delta]:
        block, cited, usage = "", dict[int, None](), dict[str, int]()
        for event in stream:
            match event:
                case {"type": "message_start", "message": {"usage": dict(counts)}}:
                    usage["prompt_tokens"] = _prompt_tokens(counts)
                case {
                    "index": int(index),
                    "content_block": {"type": "tool_use", "id": str(id), "name": str(name)},
                }:
                    yield Delta(calls=[CallPiece(index, id, name)])
                case {"index": int(index), "delta": {"type": "input_json_delta", "partial_json": str(piece)}}:
                    yield Delta(calls=[CallPiece(index, arguments=piece)])
                case {"delta": {"type": "text_delta", "text": str(text)}}:
                    block += text
                    yield Delta(text)
                case {"type": "content_block_delta", "delta": dict(delta)}:
                    match delta:
                        case {"citation": {"document_index": int(place)}} if 0 <= place < len(cites):
                            cited[cites[place]] = None
                    yield Delta(thinks=True)
                case {"type": "content_block_stop"}:
                    yield Delta(_marks(block, cited))
                    block, cited = "", {}
                case {"type": "message_delta", "delta": dict(delta)}:
                    yield _end(delta.get("stop_reason"), event.get("usage"), usage)
                case _:
                    yield Delta()


def _marks(block: str, cited: Iterable[int]) -> str:
    """Returns the numbers that a block cites and does not end with."""
    written = set(re.findall(r"\[(\d+)\]", block))
    lacking = [f"[{number}]" for number in cited if str(number) not in written]
    return " " + "".join(lacking) if lacking else ""


def _end(reason: object, counts: object, usage: Mapping[str, int]) -> Delta:
    """Returns the end of an answer. usage: what was counted before."""
    match counts:
        case {"output_tokens": answered} if is_count(answered):
            usage = {**usage, "answer_tokens": answered}
    finish = _FINISHES.get(reason, reason) if isinstance(reason, str) else ""
    return Delta(finish=finish, usage=usage)


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

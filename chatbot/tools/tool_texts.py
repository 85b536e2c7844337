"""Turns what a server says of its tools, and what they reply, into bounded and visible text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chatbot.models.tool_calls import OfferedTool
from ingestion.invisible_characters import one_line, visible

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

__all__ = ["LONGEST_REPLY", "MOST_TOOLS", "ServerTool", "offered_tools", "reply_text"]

# Tools of one server, and characters of a reply.
MOST_TOOLS, LONGEST_REPLY = 40, 20_000
LONGEST_DESCRIPTION, LONGEST_SCHEMA = 1_000, 8_000
LONGEST_OFFERED_NAME = 64


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of a server.

    server: the server's name in the user's file.
    name: the tool's name, as the server takes it.
    offered: the tool as a chat model sees it.
    """

    server: str
    name: str
    offered: OfferedTool

    @property
    def label(self) -> str:
        """Its name for readers, on one line."""
        return one_line(f"{self.server}.{self.name}", 100)


def offered_tools(server: str, tools: Iterable[Tool]) -> list[ServerTool]:
    """Returns a server's tools, without those that cannot be offered.

    Its own names go behind the server's, so that no tool passes for another server's.
    """
    found: dict[str, ServerTool] = {}
    for tool in tools:
        schema = tool.input_schema
        if len(found) == MOST_TOOLS or not _is_sendable(schema):
            continue
        name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}__{tool.name}")[:LONGEST_OFFERED_NAME]
        told = one_line(tool.description or "", LONGEST_DESCRIPTION)
        if name not in found:
            found[name] = ServerTool(server, tool.name, OfferedTool(name, told, _as_object(schema)))
    return list(found.values())


def reply_text(result: CallToolResult) -> str:
    """Returns the text of a reply, cut to LONGEST_REPLY characters."""
    texts = [_text_of(content) for content in result.content]
    text = "\n\n".join(filter(None, texts))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return visible(text[:LONGEST_REPLY].replace("\x00", "")).strip()[:LONGEST_REPLY]


def _text_of(content: Any) -> str:
    """Returns the text of a part of a reply, "" for pictures and sounds."""
    if content.type == "text":
        return str(content.text)
    if content.type == "resource":
        return str(getattr(content.resource, "text", ""))
    return ""


def _is_sendable(schema: object) -> bool:
    """Whether a schema is short, and JSON as all can send it: no NaN, and nothing nested too deep."""
    try:
        return len(json.dumps(schema, allow_nan=False)) <= LONGEST_SCHEMA
    except (ValueError, RecursionError):
        return False


def _as_object(schema: dict[str, Any]) -> dict[str, Any]:
    return {"properties": {}, **schema, "type": "object"}

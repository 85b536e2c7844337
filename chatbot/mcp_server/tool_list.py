"""Lists the tools of the MCP server: what each takes, returns and needs, and who may use it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from chatbot.api.caller import Caller
from chatbot.api.caller_turns import CallerTurns
from chatbot.api.schemas import JobOut, KeyFiguresOut
from chatbot.app.app_context import AppContext
from chatbot.lookup.lookup_forms import LOOKUP_TOOLS
from chatbot.lookup.lookups import FoundText, Outline
from chatbot.mcp_server import tool_forms as forms
from chatbot.mcp_server import tool_work as work
from chatbot.store.api_keys import SCOPES

__all__ = ["McpTool", "Visitor", "all_tools", "may_use", "tools_of"]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who uses the MCP server, and what they work on.

    store: the open store.
    is_here: whether it is a program of this machine, so that files are given by path.
    turns: whose long work waits.
    """

    store: AppContext
    caller: Caller
    is_here: bool
    turns: CallerTurns


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: what it takes and returns, the scope it needs, and who does its work."""

    takes: type[BaseModel]
    returns: type[BaseModel]
    scope: str
    work: Callable[[work.McpCall, Any], Awaitable[Any]]
    text: str
    title: str


def _lookup(
    name: str,
    returns: type[BaseModel],
    does: Callable[[work.McpCall, Any], Awaitable[Any]],
    takes: type[BaseModel] | None = None,
) -> McpTool:
    """A tool that chat models have too while they answer. takes: its form here, where that has more."""
    tool = LOOKUP_TOOLS[name]
    return McpTool(takes or tool.takes, returns, "read", does, tool.text, tool.title)


_TOOLS: Mapping[str, McpTool] = {
    "ask": McpTool(
        forms.AskDocuments,
        forms.CitedAnswer,
        "ask",
        work.ask,
        "Answers a question from the documents. Each statement cites its page, each quotation and figure is "
        "checked against it, and where the documents do not answer, `answered` is false.",
        "Ask the documents",
    ),
    "search_documents": _lookup("search_documents", forms.FoundPages, work.search, forms.SearchByStrategy),
    "get_page": _lookup("get_page", forms.PageText, work.get_page, forms.GetDrawnPage),
    "get_outline": _lookup("get_outline", Outline, work.get_outline),
    "find_text": _lookup("find_text", FoundText, work.find_text),
    "key_figures": _lookup("key_figures", KeyFiguresOut, work.key_figures),
    "calculate": _lookup("calculate", forms.WorkedOut, work.calculate),
    "list_documents": _lookup("list_documents", forms.ListedDocuments, work.list_documents),
    "compare": McpTool(
        forms.CompareDocuments,
        forms.ComparedEntries,
        "ask",
        work.compare,
        "Asks one question of several documents or years, and returns each figure with its page and change.",
        "Compare documents or years",
    ),
}
_ADDS = "Adds a file to the documents, and returns how far it is: it can be searched once it is read."
_ADD_PATH = McpTool(forms.AddPath, JobOut, "manage", work.add_path, _ADDS, "Add a document")
_ADD_CONTENT = McpTool(forms.AddContent, JobOut, "manage", work.add_content, _ADDS, "Add a document")


def all_tools(visitor: Visitor) -> dict[str, McpTool]:
    """Returns all tools, whatever the caller may do."""
    return {**_TOOLS, "add_document": _ADD_PATH if visitor.is_here else _ADD_CONTENT}


def tools_of(visitor: Visitor) -> dict[str, McpTool]:
    """Returns the tools that the caller may use."""
    return {name: tool for name, tool in all_tools(visitor).items() if may_use(visitor, tool)}


def may_use(visitor: Visitor, tool: McpTool) -> bool:
    return SCOPES.index(tool.scope) <= SCOPES.index(visitor.caller.scope)

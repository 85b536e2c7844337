"""Searches the web with the search tool of the chat model's provider: OpenAI's or Anthropic's.

What comes back is data: the tool's report of pages, which nothing here has read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chatbot.models.addresses import client_of, provider_of
from chatbot.models.endpoint_errors import explaining
from chatbot.models.endpoints import open_client
from chatbot.settings import Settings

__all__ = ["MOST_RESULTS", "can_search", "search_web"]

# Pages that one search brings, and characters that the tool may write.
MOST_RESULTS = 8
MOST_TOKENS = 2_000
MOST_SEARCHES = 3
SECONDS = 20.0
TASK = "Search the web for what answers this question, and report what the pages say: "


def can_search(settings: Settings) -> bool:
    """Whether the provider of the chat model has a search tool that is known here."""
    provider = provider_of(settings)
    return bool(settings.chat_model) and provider is not None and provider.id in {"openai", "anthropic"}


def search_web(question: str, settings: Settings) -> list[tuple[str, str, str]]:
    """Returns (address, title, what the tool reports of it) of the pages found, each address once.

    Raises ModelError.
    """
    settings = settings.hurried(SECONDS)
    asked = f"{TASK}{question}"
    body: dict[str, Any] = {"model": settings.chat_model}
    if client_of(settings) == "anthropic":
        path, read = "/v1/messages", _of_anthropic
        tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": MOST_SEARCHES}
        body |= {"max_tokens": MOST_TOKENS, "messages": [{"role": "user", "content": asked}], "tools": [tool]}
    else:
        path, read = "/responses", _of_openai
        body |= {"max_output_tokens": MOST_TOKENS, "input": asked, "tools": [{"type": "web_search"}]}
    with explaining(settings), open_client(settings) as client:
        found = list(read(client.post(path, body=body, cast_to=object)))
    reported: dict[str, tuple[str, str]] = {}
    for address, title, text in found:
        before = reported.get(address, (title, ""))[1]
        if text not in before:
            reported[address] = (title, f"{before}\n{text}".strip())
    return [(address, *report) for address, report in reported.items()][:MOST_RESULTS]


def _of_openai(answer: Any) -> Iterator[tuple[str, str, str]]:
    for item in _objects(answer, "output"):
        for part in _objects(item, "content"):
            for cited in _objects(part, "annotations"):
                match cited:
                    case {"type": "url_citation", "start_index": int(place)}:
                        text, start = _text(part, "text"), max(0, place)
                        line = text[:start].rpartition("\n")[2] or text[start:]
                        yield _text(cited, "url"), _text(cited, "title"), line.partition("\n")[0].strip(" (")


def _of_anthropic(answer: Any) -> Iterator[tuple[str, str, str]]:
    for block in _objects(answer, "content"):
        for cited in _objects(block, "citations"):
            if cited.get("type") == "web_search_result_location":
                yield _text(cited, "url"), _text(cited, "title"), _text(cited, "cited_text")


def _objects(holder: Any, name: str) -> list[Mapping[str, Any]]:
    """The objects of a list in what a provider sent, which may be anything."""
    found = holder.get(name) if isinstance(holder, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _text(holder: Mapping[str, Any], name: str) -> str:
    found = holder.get(name)
    return found if isinstance(found, str) else ""

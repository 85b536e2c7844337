"""Searches of the web by the providers' own tools."""

from __future__ import annotations

import pytest

from chatbot.errors import ModelError
from chatbot.models.web_search import can_search, search_web
from chatbot.settings import Settings
from tests.provider import Provider, Say

FOUND = "The yield rose to 5.2 per cent."
URL = "https://news.example/bonds"


def openai_answer() -> dict[str, object]:
    cited = {"type": "url_citation", "url": URL, "title": "Bonds", "start_index": 42, "end_index": 50}
    part = {"type": "output_text", "text": f"In short:\n{FOUND} ([news](x))", "annotations": [cited, cited]}
    return {"output": [{"type": "web_search_call"}, {"type": "message", "content": [part, 7]}]}


def anthropic_answer() -> dict[str, object]:
    cited = {"type": "web_search_result_location", "url": URL, "title": "Bonds", "cited_text": FOUND}
    return {"content": [{"type": "text", "text": "It rose.", "citations": [cited]}, {"type": "text"}]}


@pytest.mark.parametrize(
    ("provider", "path", "answer"),
    [
        ("openai", "/v1/responses", openai_answer()),
        ("anthropic", "/v1/messages", anthropic_answer()),
    ],
)
def test_a_search_returns_what_is_reported_of_each_page(provider: str, path: str, answer: object) -> None:
    with Provider([Say([])], told={path: answer}) as server:
        settings = Settings(
            provider=provider, base_url=server.url, chat_model="m", api_key="k", anthropic_key="k"
        )
        assert can_search(settings)
        assert search_web("What is the yield?", settings) == [(URL, "Bonds", FOUND)]


@pytest.mark.parametrize("answer", [[], {"output": "x"}, {"output": [{"content": [{"text": 1}]}]}])
def test_an_answer_of_another_form_finds_nothing(answer: object) -> None:
    with Provider([Say([])], told={"/v1/responses": answer}) as server:
        settings = Settings(provider="openai", base_url=server.url, chat_model="m", api_key="k")
        assert search_web("What is the yield?", settings) == []


def test_a_provider_without_the_tool_is_told() -> None:
    assert not can_search(Settings(provider="ollama", chat_model="m"))
    with Provider([Say([])]) as server:
        settings = Settings(provider="openai", base_url=server.url, chat_model="m", api_key="k")
        with pytest.raises(ModelError):
            search_web("What is the yield?", settings)

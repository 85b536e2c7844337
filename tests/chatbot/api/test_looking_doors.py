"""A chat model that looks further, through every door: the same calls, and the same sources."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from chatbot.lookup.lookup_forms import LOOKUP_TOOLS
from chatbot.store.library import Upload
from tests.chatbot.api.conftest import QUESTION, Api, serving
from tests.chatbot.api.test_marks import ask, chat, command, mcp, of_reply, reply, response, streamed_chat
from tests.pdfs import make_pdf
from tests.provider import Body, CallTool, Provider

SAID = "The debt anchor is 60 per cent of output"
LOOK = CallTool("find_text", {"document": "Debt.pdf", "words": "debt anchor"})
STAGE = "Finding “debt anchor” in Debt.pdf"


def cites_the_last(body: Body) -> list[str]:
    """An answer that cites the source which the call brought."""
    told = str(body["messages"][-1]["content"])
    return [f"{SAID} [{told.partition('[')[2].partition(']')[0]}]."]


@pytest.fixture
def looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Api, Provider]]:
    with Provider([LOOK, cites_the_last]) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        monkeypatch.setenv("FINPOLICY_CHAT_MODEL", "stand-in")
        monkeypatch.setenv("FINPOLICY_VERIFY", "0")
        monkeypatch.setenv("FINPOLICY_PAGES", "1")
        with serving(tmp_path) as api:
            debt = Upload(make_pdf(tmp_path / "Debt.pdf", ["A cover", f"{SAID}."]))
            list(api.context.chatbot.add([debt]))
            yield api, provider


@pytest.mark.parametrize(
    "said_by",
    [ask, mcp, of_reply, chat, streamed_chat, response, reply, command],
    ids=lambda one: one.__name__,
)
def test_every_door_takes_the_same_way(
    looking: tuple[Api, Provider], said_by: Callable[[Api, httpx.Client], object]
) -> None:
    api, provider = looking
    with api.client() as client:
        found = json.dumps(said_by(api, client), ensure_ascii=False)
    first, second = provider.requests
    assert [tool["function"]["name"] for tool in first.body["tools"]] == [*LOOKUP_TOOLS]
    assert SAID in json.dumps(second.body["messages"])
    assert "60 per cent" in found
    assert any(page in found for page in ("page 2", "p. 2", '"page": 2'))


def test_a_stream_says_what_is_looked_up(looking: tuple[Api, Provider]) -> None:
    api, _ = looking
    asked = {"question": QUESTION, "stream": True}
    with api.client() as client:
        text = client.post("/api/v1/ask", json=asked).text
        answer = json.loads(text.partition("event: answer\n")[2].partition("\n")[0].removeprefix("data: "))
    assert json.dumps({"stage": "looking", "detail": STAGE}) in text
    (look,) = answer["looked_up"]
    assert look["said"] == STAGE

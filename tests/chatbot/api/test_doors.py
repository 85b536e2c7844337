"""What a model says is clean and neutral at every door, and nothing changes by a link that is opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.chatbot.api.conftest import QUESTION, Api, WithModel, streamed
from tests.chatbot.test_neutral_markdown import BARE, DRAWN, LIVE, shown

FACT = "The deficit ceiling is three per cent of output"
HOSTILE = [
    f"{FACT} [1].\n\n!",
    "[x](https://evil.example/p.png) <im",
    "g src=x> <script>alert(1)</script> [a]",
    "(javascript:alert(1)) https:/",
    "/evil.example/a [S1]",
    ": //evil.example \ud83d",
    "\ude00 \ud800\x00\x1b[31m.",
]
ADVICE = "When debt is above the anchor, then sell the bonds of Norland."
NAVIGATION = {"sec_fetch_site": "none", "sec_fetch_mode": "navigate"}


@pytest.fixture
def hostile(with_model: WithModel) -> WithModel:
    with_model.pieces, with_model.delay = HOSTILE, 0.0
    return with_model


def completed(client: httpx.Client, *, stream: bool) -> str:
    """The text that a client of OpenAI's has."""
    asked = {"model": "finpolicy", "messages": [{"role": "user", "content": QUESTION}], "stream": stream}
    answer = client.post("/v1/chat/completions", json=asked)
    assert answer.status_code == 200
    if not stream:
        return str(answer.json()["choices"][0]["message"]["content"])
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
    choices = [choice for line in lines for choice in json.loads(line)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def by_mcp(client: httpx.Client) -> str:
    """The answer as a tool returns it."""
    sent: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    sent["params"] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    head = {"accept": "application/json, text/event-stream"}
    begun = client.post("/mcp", json=sent, headers=head)
    head["mcp-session-id"] = begun.headers.get("mcp-session-id", "")
    client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=head)
    call = {"name": "ask", "arguments": {"question": QUESTION}}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    told = client.post("/mcp", json=asked, headers=head).text
    lines = [line[6:] for line in told.splitlines() if line.startswith("data: {")] or [told]
    results = [found["result"] for found in map(json.loads, lines) if "result" in found]
    return str(results[-1]["structuredContent"]["answer"])


def all_doors(client: httpx.Client) -> Iterator[tuple[str, str]]:
    """(door, the text that it returns) of one question."""
    yield "/v1", completed(client, stream=False)
    yield "/v1 streamed", completed(client, stream=True)
    yield "/api/v1/ask streamed", streamed(client)[0]
    answer = client.post("/api/v1/ask", json={"question": QUESTION, "conversation": "doors"}).json()
    yield "/api/v1/ask", answer["answer"]
    yield "statements", "\n\n".join(one["text"] for one in answer["statements"])
    place = "/api/v1/conversations/doors"
    yield "exchanges", client.get(f"{place}/exchanges").json()[-1]["answer"]
    yield "an exchange", client.get(f"{place}/exchanges/1").json()["answer"]["answer"]
    yield "export", client.get(f"{place}/export").text
    asked = {"question": QUESTION, "session_id": "doors"}
    yield "the extension", client.get("/get_chat_response/", params=asked).json()["reply"]
    yield "/mcp", by_mcp(client)


def test_what_a_model_says_is_clean_and_neutral_at_every_door(hostile: WithModel) -> None:
    with hostile.api.client() as client:
        for door, text in all_doors(client):
            assert FACT in text, door
            drawn = DRAWN.render(text)
            assert not LIVE.search(drawn), (door, drawn)
            assert not BARE.search(shown(drawn)), (door, drawn)
            assert "\x00" not in text and "\x1b" not in text, door
            text.encode()


def test_a_stream_is_replaced_by_nothing_that_it_has_said_already(hostile: WithModel) -> None:
    with hostile.api.client() as client:
        text, names, answer = streamed(client)
    assert text == answer["answer"]
    assert names.count("answer") == 1


@pytest.mark.parametrize(
    "path", ["/get_chat_response/", "/get_mcp_response", "/get_adv_response/", "/clear_messages/"]
)
@pytest.mark.parametrize(
    "header",
    [
        NAVIGATION,
        {**NAVIGATION, "sec_fetch_site": "same-origin"},
        {"accept": "text/html,application/xhtml+xml"},
        {"referer": "https://evil.example/a"},
        {"referer": "https://evil.example/a?127.0.0.1"},
        {"referer": "about:blank"},
        # An image of a page that has no referrer, in a browser that says nothing of what it fetches.
        {"user_agent": "Mozilla/5.0 (X11; Linux x86_64)", "accept": "image/avif,*/*;q=0.8"},
    ],
)
def test_a_link_that_is_opened_changes_nothing(api: Api, path: str, header: dict[str, str]) -> None:
    session = {"session_id": f"link{path}", "question": QUESTION}
    stats = {"session_id": session["session_id"]}

    def messages() -> int:
        with api.client() as client:
            found = client.get("/api/get_r2c_stats/", params=stats).json()["stats"]["message_count"]
            return int(found)

    with api.client() as client:
        if not messages():
            client.get("/get_chat_response/", params=session)
    before = messages()
    assert before
    with api.client(**header) as client:
        refused = client.get(path, params=stats if "clear" in path else session)
    assert refused.status_code == 403
    assert refused.json()["hint"]
    assert messages() == before


def test_a_page_that_may_call_and_our_own_are_let_in(api: Api) -> None:
    asked = {"question": QUESTION, "session_id": "own"}
    browser = {"user_agent": "Mozilla/5.0 (X11; Linux x86_64)", "accept": "*/*"}
    for header in (
        {"referer": f"{api.url}/chat"},
        {"sec_fetch_mode": "cors", "sec_fetch_site": "none"},
        {**browser, "referer": f"{api.url}/chat"},
        {**browser, "origin": api.url},
    ):
        with api.client(**header) as client:
            assert client.get("/get_chat_response/", params=asked).status_code == 200
    with api.client("ask", **NAVIGATION) as client:
        found = client.get("/get_chat_response/", params=asked)
        assert found.status_code == 200, "no link sends a key"
    with api.client(**NAVIGATION) as client:
        assert client.get("/api/v1/documents").status_code == 200, "what only reads may be opened"


def test_advice_is_remembered_by_no_get(api: Api) -> None:
    with api.client() as client:
        said = client.get("/get_chat_response/", params={"question": ADVICE, "session_id": "advice"}).json()
        assert said["reply"].startswith("Not saved:")
        assert client.get("/api/v1/memories/situations").json() == []
        client.post("/api/v1/ask", json={"question": ADVICE, "conversation": "advice"})
        (kept,) = client.get("/api/v1/memories/situations").json()
        assert kept["recommendations"] == ["sell the bonds of Norland"]
        client.delete(f"/api/v1/memories/situations/{kept['key']}")

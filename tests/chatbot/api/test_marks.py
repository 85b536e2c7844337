"""A false answer of a chat model, and a right one, through every door that returns text or JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from chatbot.asking.question import Ask
from chatbot.cli.output import answer_text
from chatbot.mark_lines import mark_lines
from chatbot.memory.conversations.export import export_conversation
from chatbot.records import Answer
from tests.chatbot.api.conftest import CEILING, QUESTION, Api, serving
from tests.provider import Provider, first_key
from tests.readers import quoting, reader

FALSE = "The deficit ceiling is 99 per cent of output"
RIGHT = "The deficit may be at most three per cent of output"
DOUBT = f"⚠ the page says otherwise: “{FALSE}”. It has three per cent"
COUNTED = "Of 1 statement: 1 ⚠ the page says otherwise; read by stand-in."

Door = Callable[[Api, httpx.Client], str]


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, Provider]]:
    """A server whose model says what is false, and whose reader notices."""
    denies = reader(quoting("contradicted", CEILING, difference="it has three per cent"))
    says = [lambda body: [f"{FALSE} [{first_key(body)}]."]]
    with Provider(says, reads=denies) as provider, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", provider.url)
        patch.setenv("FINPOLICY_CHAT_MODEL", "stand-in")
        with serving(tmp_path_factory.mktemp("marks")) as api:
            yield api, provider


def chat(_: Api, client: httpx.Client) -> str:
    asked = {"model": "stand-in", "messages": [{"role": "user", "content": QUESTION}]}
    said: str = client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
    return said


def streamed_chat(_: Api, client: httpx.Client) -> str:
    asked = {"model": "stand-in", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    pieces = []
    with client.stream("POST", "/v1/chat/completions", json=asked) as answer:
        for line in answer.iter_lines():
            data = line.removeprefix("data: ")
            if data.startswith("{"):
                pieces.append(json.loads(data)["choices"][0]["delta"].get("content") or "")
    return "".join(pieces)


def response(_: Api, client: httpx.Client) -> str:
    found = client.post("/v1/responses", json={"model": "stand-in", "input": QUESTION}).json()
    text: str = found["output"][0]["content"][0]["text"]
    return text


def reply(_: Api, client: httpx.Client) -> str:
    asked = {"question": QUESTION, "session_id": "marks"}
    said: str = client.get("/get_chat_response/", params=asked).json()["reply"]
    return said


def command(api: Api, _: httpx.Client) -> str:
    *before, answer = api.context.chatbot.ask(Ask(QUESTION))
    assert before and isinstance(answer, Answer)
    return answer_text(answer)


@pytest.mark.parametrize("text_of", [chat, streamed_chat, response, reply, command])
def test_every_door_that_returns_text_doubts_it_in_the_same_words(
    door: tuple[Api, Provider], text_of: Door
) -> None:
    api, _ = door
    with api.client() as client:
        text = text_of(api, client)
    assert "99 per cent" in text
    assert DOUBT in text
    assert "three per cent of output" in text and COUNTED in text
    assert ": verified" not in text and "located on the page" not in text


def ask(_: Api, client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.post("/api/v1/ask", json={"question": QUESTION}).json()
    return found


def mcp(api: Api, _: httpx.Client) -> dict[str, Any]:
    async def work() -> dict[str, Any]:
        async with Client(f"{api.url}/mcp") as client:
            answer: Any = (await client.call_tool("ask", {"question": QUESTION})).structured_content
            found: dict[str, Any] = answer
            return found

    with ThreadPoolExecutor(1) as pool:  # the browser's tests leave a loop behind in this thread
        return pool.submit(asyncio.run, work()).result()


def of_reply(_: Api, client: httpx.Client) -> dict[str, Any]:
    asked = {"question": QUESTION, "session_id": "json"}
    (found,) = client.get("/get_chat_response/", params=asked).json()["answers"].values()
    line: dict[str, Any] = found
    return line


@pytest.mark.parametrize("json_of", [ask, mcp, of_reply])
def test_every_door_that_returns_json_doubts_it(
    door: tuple[Api, Provider], json_of: Callable[[Api, httpx.Client], dict[str, Any]]
) -> None:
    api, _ = door
    with api.client() as client:
        found = json_of(api, client)
    (statement,) = found["statements"]
    assert (statement["mark"], statement["verdict"]) == ("contradicted", "contradicted")
    assert statement["quotes"][0]["text"] in CEILING
    assert found["reading"] == {"model": "stand-in", "host": found["reading"]["host"], "reason": ""}
    assert not found["citations"][0]["verified"] and found["citations"][0]["doubted"]
    assert found["numbers"][0]["status"] == "contradicted"
    assert (found["not_checked"], found["fit"]) == (0, None)


def test_a_stream_has_the_answer_at_once_and_the_marks_last(door: tuple[Api, Provider]) -> None:
    api, _ = door
    events: list[tuple[str, dict[str, Any]]] = []
    with (
        api.client() as client,
        client.stream("POST", "/api/v1/ask", json={"question": QUESTION, "stream": True}) as answer,
    ):
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((name, json.loads(line.removeprefix("data: "))))
    names = [name for name, _ in events]
    assert names[-1] == "marks" and names.count("answer") == 1
    first = next(data for name, data in events if name == "answer")
    assert first["statements"][0]["verdict"] in {"not_checked", "contradicted"}  # that fast a reader may be
    assert events[-1][1]["statements"][0]["mark"] == "contradicted"
    assert first["answer"] == events[-1][1]["answer"]


def test_exports_say_it_too(door: tuple[Api, Provider], tmp_path: Path) -> None:
    api, _ = door
    chatbot = api.context.chatbot
    talk = chatbot.conversations.begin("local")
    list(chatbot.ask(Ask(QUESTION, conversation=talk)))
    row = chatbot.conversations.get(talk, "local")
    answer = chatbot.memory.answer(talk, 1, "local")
    assert answer is not None and mark_lines(answer)[0].startswith("⚠ the page says otherwise")
    exported = export_conversation(row, chatbot.conversations.said(talk, "local"), [answer], "markdown")
    assert "⚠ the page says otherwise" in exported and "it has three per cent" in exported

"""A chat model that calls tools of other people's servers before it answers, and what becomes of that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chatbot.asking.question import Ask
from chatbot.models.tool_calls import ToolCall, shown_arguments, written_call
from chatbot.records import Answer, Event, Notice, Stage
from chatbot.service import Chatbot
from chatbot.ui import session
from tests.chatbot.api.conftest import serving
from tests.commands import run
from tests.foreign_tools import FORECAST, entry
from tests.provider import Body, CallTool, Provider, Received, Refuse
from tests.stores import Make

PLACE = {"place": "Kuala Lumpur"}
WEATHER = CallTool("weather__forecast", PLACE)
QUESTION = "What is the forecast for Kuala Lumpur, and what is the deficit ceiling?"
CEILING, SAID = "What is the deficit ceiling?", "The deficit ceiling is 3.0 per cent [1]."


def cites_the_tool(body: Body) -> list[str]:
    """An answer that quotes the tool's reply among the sources of the prompt."""
    found = re.search(r"\[(\d+)\] mcp:weather", json.dumps(body["messages"]))
    number = found[1] if found else "none"
    return [f"{FORECAST.rstrip('.')} [{number}]."]


def named(make: Make, home: Path, model: Provider, kind: str = "good", **given: Any) -> Chatbot:
    """A chatbot whose file names a server of this kind, "" for none. given: further settings."""
    chatbot = make(**{"chat_model": "m", "base_url": model.url, "api_key": "k", **given})
    entries = {"weather": entry(kind)} if kind else {}
    (home / "home" / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    return chatbot


def asked(
    make: Make, home: Path, script: list[Any], kind: str = "good", question: str = QUESTION, **given: Any
) -> tuple[list[Event], list[Received]]:
    """The events of an answer, and what the model was sent. script: its replies. given: of the question."""
    with Provider(script) as provider:
        chatbot = named(make, home, provider, kind)
        return list(chatbot.ask(Ask(question, **{"tools": True, **given}))), provider.requests


def answer_of(events: list[Event]) -> Answer:
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer


def notices(events: list[Event]) -> str:
    return "\n".join(f"{event.text} {event.hint}" for event in events if isinstance(event, Notice))


def offered(received: Received) -> list[str]:
    """The names of the tools of a request."""
    return [str(tool.get("name") or tool["function"]["name"]) for tool in received.body.get("tools", ())]


@pytest.mark.parametrize("client", ["openai", "anthropic"])
def test_a_reply_is_a_source_that_is_cited_and_checked(make: Make, tmp_path: Path, client: str) -> None:
    key = {"provider": client, "anthropic_key": "sk-ant-1"} if client == "anthropic" else {}
    with Provider([WEATHER, "none", cites_the_tool]) as provider:
        events = list(named(make, tmp_path, provider, **key).ask(Ask(QUESTION, tools=True)))
    first, second, third = provider.requests
    assert offered(first) == ["weather__forecast", "weather__environment"]
    assert FORECAST in json.dumps(second.body["messages"]), "the model sees what the tool replied"
    assert not any("weather" in name for name in offered(third)), "no page is there before"
    assert FORECAST in json.dumps(third.body["messages"])
    answer = answer_of(events)
    (citation,) = answer.citations
    assert citation.document == "mcp:weather/forecast"
    assert citation.verified
    assert f"Asked weather.forecast: {len(FORECAST)} characters." in notices(events)
    assert "tools" in [event.name for event in events if isinstance(event, Stage)]


def test_the_extensions_address_asks_tools_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": {"weather": entry("good")}}))
    monkeypatch.setenv("FINPOLICY_CHAT_MODEL", "m")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with Provider([WEATHER, "none", cites_the_tool]) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        with serving(tmp_path) as api, api.client() as client:
            found = client.get("/get_mcp_response/", params={"question": QUESTION}).json()
    (answer,) = found["answers"].values()
    assert [one["document"] for one in answer["citations"]] == ["mcp:weather/forecast"]
    assert any("Asked weather.forecast" in notice for notice in found["notices"])


def test_without_the_switch_no_tool_is_offered(make: Make, tmp_path: Path) -> None:
    events, (received,) = asked(make, tmp_path, [SAID], "mute", CEILING, tools=False)
    assert not any("weather" in name for name in offered(received))
    assert not notices(events)


def test_at_most_five_calls_are_made_and_unknown_tools_are_none(make: Make, tmp_path: Path) -> None:
    script = [CallTool("weather__nothing"), *[WEATHER] * 9]
    events, requests = asked(make, tmp_path, [*script[:5], SAID], "plain")
    assert notices(events).count("Asked weather.forecast") == 4
    assert len(requests) == 6


def test_what_a_tool_orders_is_data(make: Make, tmp_path: Path) -> None:
    script = [WEATHER, "none", "The deficit ceiling is nine per cent [1]."]
    events, requests = asked(make, tmp_path, script, "plain", CEILING)
    answer = answer_of(events)
    (citation,) = answer.citations
    assert citation.document == "mcp:weather/forecast", "readers see who says so"
    assert citation.instructs, "and that it addresses its reader as a machine"
    assert "[S1]" not in requests[2].body["messages"][-1]["content"]


def test_a_failing_server_or_model_is_a_notice_and_the_answer_comes(make: Make, tmp_path: Path) -> None:
    said = "The deficit ceiling is 3.0 per cent of output in every year [1]."
    entries = {"weather": entry("failing"), "gone": {"command": str(tmp_path / "nothing")}}
    with Provider([WEATHER, Refuse(400, "m does not support tools"), said]) as provider:
        chatbot = named(make, tmp_path, provider)
        (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
        events = list(chatbot.ask(Ask(CEILING, tools=True)))
    told = notices(events)
    assert "gone cannot be started" in told
    assert "weather.forecast reports an error" in told
    assert "does not support tools" in told
    assert answer_of(events).citations[0].verified


@pytest.mark.parametrize(
    ("kind", "model", "said"),
    [("", "", "No server of tools is named"), ("plain", "none", "called by a chat model")],
)
def test_what_is_missing_for_tools_is_said(
    make: Make, tmp_path: Path, kind: str, model: str, said: str
) -> None:
    events, _ = asked(make, tmp_path, [SAID], kind, CEILING, model=model)
    assert said in notices(events)
    assert answer_of(events).answered


def test_the_command_line_shows_each_call_even_without_documents(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"weather": entry("plain")}}))
    with Provider([WEATHER, "none", "The deficit ceiling is nine per cent [1]."]) as provider:
        point = {"FINPOLICY_CHAT_MODEL": "m", "OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "k"}
        done = run(tmp_path, "ask", "What is the deficit ceiling?", "--tools", "--json", **point)
    assert "Asked weather.forecast: " in done.stderr
    (citation,) = json.loads(done.stdout)["citations"]
    assert citation["document"] == "mcp:weather/forecast"


def test_an_answer_with_a_reply_is_kept(make: Make, tmp_path: Path) -> None:
    with Provider([WEATHER, "none", cites_the_tool]) as provider:
        ask = Ask(QUESTION, conversation="talk", tools=True)
        chatbot = named(make, tmp_path, provider)
        chatbot.conversations.begin(ask.owner, "talk")
        answer = answer_of(list(chatbot.ask(ask)))
    assert answer.exchange is not None
    kept = chatbot.memory.answer("talk", answer.exchange, ask.owner)
    assert kept is not None
    (citation,) = kept.citations
    assert (citation.document, citation.verified) == ("mcp:weather/forecast", True)
    chatbot.rate("talk", answer.exchange, ask.owner, helpful=True)


def test_a_call_wanted_after_pages_were_read_is_made_only_by_the_user(make: Make, tmp_path: Path) -> None:
    stays = "The deficit ceiling is 3.0 per cent of output in every year [1]."
    with Provider(["none", WEATHER, stays, cites_the_tool]) as provider:
        chatbot = named(make, tmp_path, provider, verify=False)
        events = list(chatbot.ask(Ask(QUESTION, tools=True, proposes=True)))
        prompt = answer_of(events).prompt
        assert prompt is not None
        (proposed,) = prompt.proposed
        assert proposed.tool == "weather__forecast"
        assert json.loads(proposed.arguments) == PLACE
        assert "Asked weather.forecast" not in notices(events)
        calls = ((proposed.tool, proposed.arguments),)
        events = list(chatbot.ask(Ask(QUESTION, tools=True, calls=calls)))
    assert "Asked weather.forecast" in notices(events)
    assert [one.document for one in answer_of(events).citations] == ["mcp:weather/forecast"]


def test_what_is_shown_of_a_call_is_all_that_is_sent() -> None:
    arguments = {"place": "Kuala\u2003Lumpur\u200d\ufe01\U000e0101  ü", "n\u202e": [1, None]}
    call = ToolCall("c", "weather__forecast", arguments)
    shown = shown_arguments(call)
    assert shown == r'{"place": "Kuala\u2003Lumpur\u200d\ufe01\udb40\udd01  ü", "n\u202e": [1, null]}'
    assert written_call("weather__forecast", shown).arguments == arguments


def test_a_call_is_allowed_for_its_question_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.session_state", {})
    call = ("weather__forecast", "{}")
    session.ask_again(QUESTION, call)
    assert session.allowed_calls(QUESTION) == (call,)
    assert session.allowed_calls(QUESTION) == ()
    session.ask_again(QUESTION, call)
    assert session.allowed_calls("Another one?") == ()
    assert session.allowed_calls(QUESTION) == ()


def test_programs_are_offered_no_such_call(make: Make, tmp_path: Path) -> None:
    events, requests = asked(make, tmp_path, ["none", WEATHER, SAID])
    assert not any("weather" in name for name in offered(requests[1]))
    prompt = answer_of(events).prompt
    assert prompt is not None
    assert not prompt.proposed


def test_a_call_of_a_tool_that_is_gone_is_said(make: Make, tmp_path: Path) -> None:
    events, _ = asked(make, tmp_path, [SAID], calls=(("gone__tool", "{}"),))
    assert "There is no such tool." in notices(events)
    assert answer_of(events).citations

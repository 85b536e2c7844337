"""Sessions of the browser extension's addresses: two browsers share nothing, and nothing stays on disk."""

from __future__ import annotations

import time
from dataclasses import replace
from http.cookies import SimpleCookie

import httpx
import pytest

from chatbot.api import browser_sessions
from chatbot.api.browser_sessions import COOKIE
from chatbot.memory import session_texts
from tests.chatbot.api.conftest import QUESTION, Api, holding, messages

PAGE = {
    "currentUrl": "https://news.example/acme",
    "textContent": "Acme's quarterly revenue rose to 812 million dollars. It will close its Norland plant.",
}
ACME = {"question": "Which plant will Acme close?"}
ASKED = {"question": QUESTION}


def test_two_cookie_jars_share_no_conversation_and_no_web_text(api: Api) -> None:
    with api.client() as one, api.client() as other:
        found = one.get("/get_chat_response/", params=ASKED)
        assert found.json()["r2c_stats"]["message_count"] == 2
        cookie = SimpleCookie(found.headers["set-cookie"])[COOKIE]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "lax", "/")
        assert cookie["max-age"] == "3600"
        assert one.get("/get_chat_response/", params=ASKED).json()["r2c_stats"]["message_count"] == 4
        one.post("/input_webtext/", json=PAGE)
        assert other.get("/get_chat_response/", params=ASKED).json()["r2c_stats"]["message_count"] == 2
        assert PAGE["currentUrl"] not in other.get("/get_chat_response/", params=ACME).json()["reply"]
        assert PAGE["currentUrl"] in one.get("/get_chat_response/", params=ACME).json()["reply"]
        cleared = other.get("/clear_messages/").json()
        assert (cleared["messages"], cleared["texts"]) == (4, 0)
        assert messages(one) == 6, "the other's clear erased nothing here"
        assert one.get("/clear_messages/").json()["texts"] == 1
        assert messages(one) == 0


def test_a_cookie_of_another_opens_nothing(api: Api) -> None:
    with api.client() as one:
        one.get("/get_chat_response/", params=ASKED)
        mark = one.cookies[COOKIE]
        assert messages(one) == 2
        # A signed-in reader who sends it gets a session, and a cookie, of their own.
        api.owner = "user-ann"
        theirs = httpx.get(
            f"{api.url}/get_chat_response/", params=ASKED, headers={"cookie": f"{COOKIE}={mark}"}, timeout=60
        )
        assert theirs.json()["r2c_stats"]["message_count"] == 2
        assert SimpleCookie(theirs.headers["set-cookie"])[COOKIE].value != mark
        api.owner = ""
        assert messages(one) == 2


@pytest.mark.parametrize("mark", ["x" * 22, "", "../../etc/passwd", "a" * 4_000, "-" * 21, "é" * 22])
def test_a_made_up_cookie_is_replaced(api: Api, mark: str) -> None:
    headers = {"cookie": f"{COOKIE}={mark}".encode()}
    address = f"{api.url}/get_chat_response/"
    found = httpx.get(address, params=ASKED, headers=headers, timeout=60)  # type: ignore[arg-type]
    assert SimpleCookie(found.headers["set-cookie"])[COOKIE].value != mark
    assert found.json()["r2c_stats"]["message_count"] == 2


def test_a_session_ends_with_its_expiry(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (browser_sessions, session_texts):
        monkeypatch.setattr(module, "SESSION_SECONDS", 1)
    conversations = api.context.chatbot.conversations
    with api.client() as client:
        client.get("/get_chat_response/", params=ASKED)
        headers = {"cookie": f"{COOKIE}={client.cookies[COOKIE]}"}
        client.get("/get_chat_response/", params={**ASKED, "session_id": "named"})
        client.post("/input_webtext/", params={"session_id": "named"}, json=PAGE)
        assert [row for row in conversations.listed("local") if row.private]
        time.sleep(1.1)
        client.cookies.clear()
        late = client.get("/api/get_r2c_stats/", headers=headers).json()
        assert late["stats"]["message_count"] == 0
        assert not [row for row in conversations.listed("local") if row.private], "what was said is erased"
        found = client.get("/get_chat_response/", params=ASKED, headers=headers)
        assert SimpleCookie(found.headers["set-cookie"])[COOKIE].value not in headers["cookie"]
        assert found.json()["r2c_stats"]["message_count"] == 2
        cleared = client.get("/clear_messages/", params={"session_id": "named"}).json()
        assert (cleared["messages"], cleared["texts"]) == (0, 0)


@pytest.mark.parametrize(
    ("path", "parameters", "wrong"),
    [
        ("/get_chat_response/", {**ASKED, "use_rag2": "1"}, "use_rag2"),
        ("/get_chat_response/", {**ASKED, "session": "a"}, "session"),
        ("/get_adv_response", {**ASKED, "Models": "extractive"}, "Models"),
        ("/clear_messages/", {"session": "a"}, "session"),
        ("/api/get_r2c_stats/", {"sessionid": "a"}, "sessionid"),
        ("/api/get_available_models/", {"all": "1"}, "all"),
        ("/api/v1/documents", {"page_size": "2"}, "page_size"),
        ("/api/v1/conversations", {"serch": "debt"}, "serch"),
    ],
)
def test_an_unknown_parameter_is_an_error(
    api: Api, path: str, parameters: dict[str, str], wrong: str
) -> None:
    with api.client() as client:
        found = client.get(path, params=parameters)
        assert found.status_code == 422
        assert found.json()["errors"] == [f"query.{wrong}: there is no such field"]


def test_nothing_of_a_session_is_on_disk(api: Api) -> None:
    home = api.context.settings.home
    with api.client() as client, api.client("ask") as key:
        for one in (client, key):
            one.get("/get_chat_response/", params={"question": "What is the ceiling for Quuxland?"})
            one.post("/input_webtext/", json={**PAGE, "textContent": "Quuxland's revenue rose."})
        client.get("/get_chat_response/", params={"question": "And for Quuxland?", "session_id": "n"})
        assert messages(client) == 2
    assert holding(home, "Quuxland") == []


def test_of_too_many_sessions_the_least_recently_used_ends(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_sessions, "MOST_SESSIONS", 2)
    conversations = api.context.chatbot.conversations
    live = browser_sessions.BrowserSessions()
    made = [live.named("ann", str(number)) for number in range(3)]
    for session in made:
        conversations.begin("ann", session.conversation)
        conversations.start(session.conversation, "How much?")
        live.use(session, conversations)
    left = {row.id for row in conversations.listed("ann")}
    assert left == {session.conversation for session in made[1:]}
    assert replace(made[0], conversation="") not in made

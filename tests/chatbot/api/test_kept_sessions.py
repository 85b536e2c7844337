"""Sessions of the browser extension's addresses where FINPOLICY_KEEP_SESSIONS keeps them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from fastapi import Request

from chatbot.api import browser_sessions
from chatbot.api.browser_sessions import COOKIE
from tests.chatbot.api.conftest import QUESTION, Api, holding, messages, serving


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that keeps sessions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FINPOLICY_KEEP_SESSIONS", "1")
        with serving(tmp_path_factory.mktemp("kept")) as api:
            yield api


def test_kept_sessions_are_on_disk_and_private_calls_are_not(kept: Api) -> None:
    home = kept.context.settings.home
    assert kept.context.settings.keep_sessions
    with kept.client() as client:
        private = {"question": "What is the ceiling for Quuxland?", "private": "true"}
        found = client.get("/get_chat_response/", params=private).json()
        assert found["r2c_stats"]["message_count"] == 2
        assert holding(home, "Quuxland") == []
        client.get("/get_chat_response/", params={"question": "What is the ceiling for Corgeland?"})
        assert holding(home, "Corgeland")
        assert (messages(client), messages(client, private=True)) == (2, 2)
        assert client.get("/clear_messages/").json()["messages"] == 4


def test_a_kept_session_goes_on_after_a_restart(kept: Api) -> None:
    with kept.client() as client:
        client.get("/get_chat_response/", params={"question": QUESTION})
        live = browser_sessions.BrowserSessions()
        scope = {"type": "http", "headers": [(b"cookie", f"{COOKIE}={client.cookies[COOKIE]}".encode())]}
        request = Request(scope)
        conversations = kept.context.chatbot.conversations
        session = live.of_browser(request, None, "local", conversations)
        assert conversations.get(session.id, "local").exchanges == 1
        late = browser_sessions.BrowserSessions(clock=lambda: time.time() + 3_601)
        assert late.of_browser(request, None, "local", conversations) != session

"""What a model reads from a page's picture, through every door and in audit files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.audit.builder import Occasion, audit_file
from chatbot.audit.record import read_file
from chatbot.audit.verifier import CONFIRMED, DocumentSources, verify
from chatbot.records import Answer
from chatbot.store.library import Upload
from tests.chatbot.api.conftest import Api, serving
from tests.chatbot.api.test_marks import Door, chat, command, reply, response, streamed_chat
from tests.chatbot.asking.test_pictures import CHART, ESTIMATE, MARK, QUESTION, charts, estimates, page
from tests.provider import Behaviour, Provider

COUNTED = f"Of 1 statement: 1 {MARK}."


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server whose model sees the picture of a page and says what it reads from it."""
    script: list[Behaviour] = [page(CHART), estimates] * 20
    with Provider(script) as provider, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", provider.url)
        patch.setenv("FINPOLICY_CHAT_MODEL", "stand-in")
        patch.setenv("FINPOLICY_PICTURES", "1")
        patch.setenv("FINPOLICY_VERIFY", "0")
        folder = tmp_path_factory.mktemp("pictures")
        with serving(folder) as api:
            list(api.context.chatbot.add([Upload(charts(folder))]))
            yield api


@pytest.mark.parametrize("text_of", [chat, streamed_chat, response, reply, command])
def test_every_door_that_returns_text_has_the_mark(door: Api, text_of: Door) -> None:
    with door.client() as client:
        text = text_of(door, client)
    assert ESTIMATE in text and COUNTED in text
    assert "⚠" not in text and "located on the page" not in text


def test_exports_and_audit_files_have_the_mark_and_it_is_confirmed(door: Api, tmp_path: Path) -> None:
    chatbot = door.context.chatbot
    *_, answer = chatbot.ask(Ask(QUESTION))
    assert isinstance(answer, Answer)
    path = tmp_path / "audit.html"
    path.write_bytes(audit_file(chatbot, answer, Occasion(time.time())))
    shown = path.read_text("utf-8")
    assert MARK in shown and "read from a picture; the page&#x27;s text does not prove it" in shown
    lines = list(verify(read_file(path), DocumentSources(chatbot.settings.documents, None, {})))
    assert {line.status for line in lines} == {CONFIRMED}
    with door.client() as client:
        client.post("/api/v1/ask", json={"question": QUESTION, "conversation": "pictures"})
        exported = client.get("/api/v1/conversations/pictures/export").text
    assert ESTIMATE in exported and MARK in exported

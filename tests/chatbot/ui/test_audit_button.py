"""The button for audit files: what its file is made of when it is pressed, long after the page was drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.app.running_questions import DeliveredAnswer
from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from chatbot.ui import overlay, ratings, session
from tests.pdfs import make_pdf
from tests.stores import hashing

PAGE = "The deficit ceiling is three per cent of output."


@pytest.fixture
def chatbot(tmp_path: Path) -> Iterator[Chatbot]:
    path = make_pdf(tmp_path / "Locked.pdf", [PAGE], user_password="sesame")
    settings = Settings(home=tmp_path / "home")
    with Chatbot(settings, embedder=hashing()) as chatbot:
        list(chatbot.add([Upload(path, password="sesame")]))
        yield chatbot


@pytest.mark.parametrize("private", [False, True])
def test_a_protected_page_is_in_the_file_of_the_session_that_has_its_password(
    chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    conversation = chatbot.conversations.begin("me", private=private)
    asked = Ask("What is the deficit ceiling?", conversation=conversation, owner="me")
    *_, answer = chatbot.ask(asked)
    assert isinstance(answer, Answer)
    monkeypatch.setattr(session, "owner", lambda: "me")
    for password in ("sesame", None):
        monkeypatch.setattr(overlay, "password_for", lambda version, given=password: given)
        for number in (answer.exchange or 0, -1):  # kept, and not kept
            make = ratings._making(DeliveredAnswer(number, answer), chatbot)
            data = make()
            drawn, refused = b"data:image/png" in data, b"needs its password" in data
            assert drawn == (password is not None)
            assert refused == (password is None)
            assert b"sesame" not in data

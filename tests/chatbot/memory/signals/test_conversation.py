"""News signals in a whole conversation, asked of the chatbot as every page and command asks it: with its
server, without it, and with it again.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.memory.signals.embedded_postgres import EmbeddedServer
from chatbot.memory.signals.news_sources import one_news
from chatbot.records import Answer, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder, ScriptedModel
from tests.pdfs import make_pdf

QUESTION = "Was an exchange hacked in Ankara?"
PAGE = (
    "Security rules of the exchange in Ankara\nA hacked exchange in Ankara reports it to Parliament within "
    "30 days."
)


@pytest.fixture
def chatbot(reachable: Path, tmp_path: Path) -> Iterator[Chatbot]:
    home = reachable / "talk"
    settings = Settings(home=home, signals_confidence=0.0)
    with Chatbot(
        settings,
        embedder=HashEmbedder(dimension=256),
        model=ScriptedModel(["A hacked exchange in Ankara reports it to Parliament within 30 days."]),
    ) as opened:
        for folder in (home, settings.store):
            folder.chmod(0o755)  # for the user that Postgres runs as where the tests run as root
        list(opened.add([Upload(make_pdf(tmp_path / "Rules.pdf", [PAGE]))]))
        opened.signals.switch(on=True)
        yield opened


def ask(chatbot: Chatbot, conversation: str) -> tuple[Answer, list[str]]:
    """(the answer, notices on the way)."""
    events = list(chatbot.ask(Ask(QUESTION, conversation=conversation, owner="me")))
    assert isinstance(events[-1], Answer) and events[-1].answered
    return events[-1], [event.text for event in events if isinstance(event, Notice)]


def signals_of(answer: Answer) -> list[str]:
    return [note.source[:14] for note in answer.notes if note.layer == "signals"]


@pytest.mark.alone
def test_the_server_killed_in_the_middle_of_a_conversation_and_back_without_a_restart(
    chatbot: Chatbot,
) -> None:
    chatbot.signals.add(one_news("Hackers took bitcoin from an exchange in Ankara.", source="agency"))
    server = chatbot.signals._database._place
    assert isinstance(server, EmbeddedServer)
    talk = chatbot.conversations.begin("me")
    answer, notices = ask(chatbot, talk)
    assert signals_of(answer) == ["news, agency; "] and not notices
    os.kill(server.pid(), signal.SIGKILL)
    while server.pid():
        time.sleep(0.01)
    waited, degraded = 0.0, 0
    for _ in range(100):
        started = time.monotonic()
        answer, notices = ask(chatbot, talk)
        if not notices:
            break
        waited, degraded = max(waited, time.monotonic() - started), degraded + 1
        assert signals_of(answer) == ["local template"] and answer.notices == tuple(notices)
        assert (
            "Answered without news signals" in notices[0]
            and "being started again" in notices[0]
            and "local templates stand in" in notices[0]
        )
        time.sleep(0.05)
    assert degraded and waited < 2
    assert signals_of(answer) == ["news, agency; "] and chatbot.signals.health().state == "normal"
    kept = chatbot.memory.answer(talk, 2, "me")
    assert kept is not None and "Answered without news signals" in kept.notices[0], (
        "what was missing is kept with the answer"
    )


def test_switched_off_in_one_conversation_and_for_all(chatbot: Chatbot) -> None:
    chatbot.signals.add(one_news("Hackers took bitcoin from an exchange in Ankara.", source="agency"))
    talk = chatbot.conversations.begin("me")
    assert signals_of(ask(chatbot, talk)[0])
    chatbot.conversations.switch(talk, "me", "signals", on=False)
    assert not signals_of(ask(chatbot, talk)[0])
    chatbot.conversations.switch(talk, "me", "signals", on=True)
    chatbot.signals.switch(on=False)
    answer, notices = ask(chatbot, talk)
    assert not signals_of(answer) and not notices


def test_a_prompt_has_signals_apart_from_the_excerpts(chatbot: Chatbot) -> None:
    chatbot.signals.add(one_news("Hackers took bitcoin from an exchange in Ankara.", source="agency"))
    answer, _ = ask(chatbot, chatbot.conversations.begin("me"))
    assert answer.prompt is not None and any(
        "Hackers took bitcoin" in text for _, text in answer.prompt.messages
    )
    assert all("Hackers" not in hit.page_text for hit in answer.prompt.sources.values())
    assert all("Hackers" not in citation.quote for citation in answer.citations)

"""News signals in a whole conversation, asked of the chatbot as every page and command asks it: with its
server, without it, and with it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.memory.signals.news_sources import one_news
from chatbot.records import Answer, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.chatbot.memory.signals.postgres import connect
from tests.fakes import HashEmbedder, ScriptedModel
from tests.pdfs import make_pdf

QUESTION = "Was an exchange hacked in Ankara?"
RULE = "A hacked exchange in Ankara reports it to Parliament within 30 days."
PAGE = f"Security rules of the exchange in Ankara\n{RULE}"
ATTACK = "Hackers took bitcoin from an exchange in Ankara."


@pytest.fixture
def chatbot(place: str, tmp_path: Path) -> Iterator[Chatbot]:
    address = "" if place.startswith("/") else place
    settings = Settings(home=tmp_path / "talk", signals_confidence=0.0, signals_database=address)
    embedder = HashEmbedder(dimension=256)
    rules = Upload(make_pdf(tmp_path / "Rules.pdf", [PAGE]))
    with Chatbot(settings, embedder=embedder, model=ScriptedModel([RULE])) as opened:
        list(opened.add([rules]))
        opened.signals.switch(on=True)
        opened.signals.add(one_news(ATTACK, source="agency"))
        yield opened


def ask(chatbot: Chatbot, conversation: str) -> tuple[Answer, list[str]]:
    """(the answer, notices on the way)."""
    events = list(chatbot.ask(Ask(QUESTION, conversation=conversation, owner="me")))
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert answer.answered
    return answer, [event.text for event in events if isinstance(event, Notice)]


def signals_of(answer: Answer) -> list[str]:
    return [note.source[:14] for note in answer.notes if note.layer == "signals"]


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_the_database_goes_away_in_the_middle_of_a_conversation_and_comes_back(
    chatbot: Chatbot, place: str, database: str
) -> None:
    talk = chatbot.conversations.begin("me")
    answer, notices = ask(chatbot, talk)
    assert signals_of(answer) == ["news, agency; "]
    assert notices == []
    with connect(database) as administrator:
        name = administrator.info.dbname
    elsewhere = database.replace(f"dbname={name}", "dbname=postgres")
    with connect(elsewhere) as administrator:
        administrator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        answer, notices = ask(chatbot, talk)
        assert signals_of(answer) == ["undated local "]
        assert answer.notices == tuple(notices)
        assert "Answered without news signals" in notices[0]
        assert "local templates are used" in notices[0]
        administrator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())
    answer, notices = ask(chatbot, talk)
    assert notices == []
    assert signals_of(answer) == ["news, agency; "]
    assert chatbot.signals.health().state == "normal"
    kept = chatbot.memory.answer(talk, 2, "me")
    assert kept
    assert "Answered without news signals" in kept.notices[0], "what was missing is kept with the answer"


def test_a_prompt_has_signals_apart_from_the_excerpts(chatbot: Chatbot) -> None:
    talk = chatbot.conversations.begin("me")
    answer, _ = ask(chatbot, talk)
    prompt = answer.prompt
    assert prompt
    assert any("Hackers took bitcoin" in text for _, text in prompt.messages)
    for hit in prompt.sources.values():
        assert "Hackers" not in hit.page_text
    for citation in answer.citations:
        assert "Hackers" not in citation.quote

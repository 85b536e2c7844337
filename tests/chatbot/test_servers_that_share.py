"""Two servers over one Postgres: what is done through one holds for the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.errors import NotFoundError
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from ingestion.records import DocumentFacts
from tests.pdfs import make_pdf
from tests.stores import RULES, add_now, hashing


@pytest.fixture
def servers(tmp_path: Path, served: str) -> Iterator[tuple[Chatbot, Chatbot]]:
    """Each with a home of its own."""
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(Chatbot(Settings(home=tmp_path / name, database=served), embedder=hashing()))
            for name in ("first", "second")
        )
        yield first, second


def ask(server: Chatbot, question: str, talk: str) -> Answer:
    *_, last = server.ask(Ask(question, conversation=talk, owner="me"))
    assert isinstance(last, Answer)
    return last


def test_a_document_added_through_one_is_there_for_the_other(
    servers: tuple[Chatbot, Chatbot], tmp_path: Path
) -> None:
    first, second = servers
    assert second.documents() == []
    add_now(first.library, [Upload(make_pdf(tmp_path / "Rules.pdf", RULES))])
    (row,) = second.documents()
    assert (row.name, row.state, row.pages) == ("Rules.pdf", "ready", 2)
    (version,) = second.library.scope([])
    assert "deficit ceiling" in second.library.catalog.page(version, 1).text
    assert second.library.facts(version) == first.library.facts(version)
    first.library.correct("Rules.pdf", DocumentFacts("2031", None))
    second.library.scope([])
    assert second.library.facts(version).period == "2031"
    second.remove("Rules.pdf")
    assert first.library.scope([]) == {}


def test_what_one_adds_the_other_finds_at_once_though_it_has_answered_before(
    servers: tuple[Chatbot, Chatbot], tmp_path: Path
) -> None:
    first, second = servers
    add_now(first.library, [Upload(make_pdf(tmp_path / "Rules.pdf", RULES))])
    assert second.search("deficit ceiling")[0].document == "Rules.pdf"
    assert second.search("grants of the lighthouse board") == []
    board = "The lighthouse board pays grants of 12 million crowns to coastal towns in 2024."
    add_now(first.library, [Upload(make_pdf(tmp_path / "Board.pdf", [board]))])
    assert second.search("grants of the lighthouse board")[0].document == "Board.pdf"
    talk = second.conversations.begin("me")
    assert "12 million" in ask(second, "What grants does the lighthouse board pay?", talk).text
    first.remove("Board.pdf")
    assert second.search("grants of the lighthouse board") == []


def test_a_conversation_begun_in_one_goes_on_in_the_other(
    servers: tuple[Chatbot, Chatbot], tmp_path: Path
) -> None:
    first, second = servers
    add_now(first.library, [Upload(make_pdf(tmp_path / "Rules.pdf", RULES))])
    talk = first.conversations.begin("me")
    answer = ask(first, "What is the deficit ceiling?", talk)
    assert "3.0" in answer.text
    (said,) = second.conversations.said(talk, "me")
    assert said.assistant == answer.text
    begun = second.conversations.start(talk, "And the debt anchor?")
    assert begun == 2
    assert [said.number for said in first.conversations.said(talk, "me")] == [1, 2]
    second.own.choose("me", "window", 7)
    assert first.own.settings("me").window == 7
    second.conversations.erase(talk, "me")
    with pytest.raises(NotFoundError):
        first.conversations.get(talk, "me")


def test_a_server_that_starts_leaves_alone_what_another_is_at(
    servers: tuple[Chatbot, Chatbot], tmp_path: Path, served: str
) -> None:
    first, _ = servers
    talk = first.conversations.begin("me")
    first.conversations.start(talk, "How much?")
    version = first.library.catalog.begin("Rules.pdf", "a" * 64, None)
    with Chatbot(Settings(home=tmp_path / "third", database=served), embedder=hashing()) as third:
        assert [said.state for said in third.conversations.said(talk, "me")] == ["answering"]
        assert third.library.catalog.version(version) is not None
    first.close()
    with Chatbot(Settings(home=tmp_path / "third", database=served), embedder=hashing()) as third:
        assert [said.state for said in third.conversations.said(talk, "me")] == ["interrupted"]
        assert third.library.catalog.version(version) is None

"""The amendments of a library are found once, and anew when its documents have changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.search.amendments import Amendments
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.database import Stored
from chatbot.store.library import Upload
from ingestion.records import DocumentFacts
from tests.pdfs import make_pdf
from tests.stores import add_now, hashing

POLICY, CHANGE = "reserve_2022.pdf", "reserve_change.pdf"
FILLING = "The Board reviews this policy once a year and reports to the Audit Committee on it.\n" * 3
PAGES = {
    POLICY: f"""Reserve Policy of Quill County 2022
The general reserve must be at least 10 per cent of spending.
{FILLING}The reserve is invested in bonds of the county.""",
    CHANGE: f"""Quill County: First Amendment to the Reserve Policy, 2024
The general reserve must be at least 15 per cent of spending from 1 January 2025.
{FILLING}""",
}


@pytest.fixture
def chatbot(tmp_path: Path) -> Iterator[Chatbot]:
    with Chatbot(Settings(home=tmp_path / "home"), embedder=hashing()) as opened:
        yield opened


def add(chatbot: Chatbot, folder: Path, pages: dict[str, str]) -> None:
    add_now(chatbot.library, [Upload(make_pdf(folder / name, [text])) for name, text in pages.items()])


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that stores are asked meanwhile."""
    asked: list[str] = []
    read = Stored.read

    def noting(store: Stored, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        asked.append(statement)
        return read(store, statement, arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Stored, "read", noting)
        yield asked


def test_they_follow_what_is_added_removed_and_corrected(chatbot: Chatbot, tmp_path: Path) -> None:
    library, found = chatbot.library, Amendments(chatbot.library)
    add(chatbot, tmp_path, {POLICY: PAGES[POLICY]})
    assert found.of([POLICY]) == []
    add(chatbot, tmp_path, {CHANGE: PAGES[CHANGE]})
    assert found.of([CHANGE, POLICY]) == [(POLICY, CHANGE)]
    library.remove(CHANGE)
    assert found.of([POLICY]) == []
    library.restore(CHANGE)
    assert found.of([POLICY]) == [(POLICY, CHANGE)]
    library.correct(CHANGE, DocumentFacts(period="2020"))
    assert found.of([POLICY]) == []


def test_an_answer_reads_no_more_of_a_larger_store(
    chatbot: Chatbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "What must the general reserve of Quill County in the Reserve Policy be at least?"
    add(chatbot, tmp_path, PAGES)
    reads = []
    for number in (3, 24):
        others = range(number)
        add(chatbot, tmp_path, {f"{one}.pdf": f"Loan Rules {one}\nLoan {one} is repaid." for one in others})
        for _ in range(2):
            with counted(monkeypatch) as asked:
                *_, answer = chatbot.ask(Ask(question, (POLICY, CHANGE)))
        assert isinstance(answer, Answer)
        assert "15 per cent" in answer.first
        assert sum("found_title" in statement for statement in asked) <= 1
        reads.append(len(asked))
    assert reads[0] == reads[1]

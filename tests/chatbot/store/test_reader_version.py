"""Documents that an earlier version of the program has read: searched as before, named, and read again when
nothing else is to be done.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.store.addition_queue import Additions, open_additions
from chatbot.store.doctor import examine
from chatbot.store.library import Library, Upload
from tests.chatbot.store.libraries import open_library
from tests.engines import on_postgres, settings_at
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now

# What differs by the engine: what is written, deleted, and looked for in rows.
on_both = pytest.mark.usefixtures("engine")
PROBLEM = "an earlier version of the program has read it"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A store with two documents, one under two names, that the first reader has read."""
    made = open_library(tmp_path / "home")
    rules = make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is three per cent."])
    debt = make_pdf(tmp_path / "Debt.pdf", ["The debt anchor is sixty per cent.", "It holds from 2030."])
    add_now(made, [Upload(rules)])
    add_now(made, [Upload(rules, "Copy.pdf"), Upload(debt)])
    made.resume()  # ends their jobs, at which no queue works
    assert made.catalog.read_by_older() == []
    with made.catalog.database.write() as changes:
        changes.execute("delete from read_by")
    yield made
    made.close()


def older(library: Library) -> list[str]:
    return [version.document for version in library.catalog.read_by_older()]


def wait_until_idle(library: Library, additions: Additions, left: list[str]) -> None:
    end = time.monotonic() + 60
    while older(library) != left or any(job.busy for job in additions.jobs()):
        assert time.monotonic() < end, (older(library), additions.jobs())
        time.sleep(0.02)


def test_they_are_searched_and_named(library: Library) -> None:
    assert older(library) == ["Rules.pdf", "Debt.pdf"]
    assert len(library.scope([])) == 2
    found = list(examine(library))
    assert [(one.document, one.problem) for one in found] == [("Rules.pdf", PROBLEM), ("Debt.pdf", PROBLEM)]
    assert "reads it again when it has nothing else to do" in found[0].fix
    assert "doctor --repair" in found[0].fix
    assert not found[0].mended


def test_doctor_reads_them_again_if_asked(library: Library) -> None:
    before = library.scope([])
    assert all(one.mended for one in examine(library, repair=True))
    assert older(library) == []
    assert list(examine(library)) == []
    assert not before.keys() & library.scope([]).keys()


def test_one_whose_file_is_missing_or_protected_says_what_to_do(library: Library) -> None:
    version = library.catalog.find("Debt.pdf")
    assert version is not None
    with library.catalog.database.write() as changes:
        changes.execute("update version set protected = 1 where id = ?", (version.id,))
    rules = library.catalog.find("Rules.pdf")
    assert rules is not None
    library.copies.path_to_read(rules.sha256).unlink()
    fixes = {one.document: one.fix for one in examine(library) if one.problem == PROBLEM}
    assert fixes["Rules.pdf"] == "Its file is missing. Add it again."
    assert "rebuild --passwords" in fixes["Debt.pdf"]
    with closing(open_additions(library, settings_at(library.folder.parent), readers=2)) as additions:
        time.sleep(0.5)
        wait_until_idle(library, additions, ["Rules.pdf", "Debt.pdf"])  # neither is tried without end
        assert not [job for job in additions.jobs() if job.again]


@on_both
def test_the_queue_reads_them_again_one_at_a_time(library: Library, tmp_path: Path) -> None:
    before = library.scope([])
    pages = library.catalog.page_texts(next(iter(before)))
    with closing(open_additions(library, settings_at(tmp_path / "home"), readers=2)) as additions:
        end = time.monotonic() + 60
        while older(library):
            assert time.monotonic() < end
            assert sum(job.busy and job.again for job in additions.jobs()) <= 1
            assert len(library.scope([])) == 2  # they are searched meanwhile
            time.sleep(0.01)
            if on_postgres():
                additions.wake()
        wait_until_idle(library, additions, [])
        again = [job.name for job in additions.jobs() if job.again]
        assert sorted(again) == ["Debt.pdf", "Rules.pdf"]
    after = library.scope([])
    assert not before.keys() & after.keys()
    (rules,) = library.scope(["Rules.pdf"])
    assert library.scope(["Copy.pdf"]).keys() == {rules}
    assert library.catalog.page_texts(rules) == pages
    assert [row.replaced_at for row in library.catalog.documents()] == [None, None, None]  # nothing to undo
    library.sweep()
    assert {version.id for version in library.catalog.stored()} == after.keys()


@on_both
def test_citations_of_before_keep_their_text_and_open_their_pages(library: Library, tmp_path: Path) -> None:
    library.close()
    settings = settings_at(tmp_path / "home")
    with Chatbot(settings, embedder=HashEmbedder()) as chatbot:
        talk = chatbot.conversations.begin("me")
        *_, asked = chatbot.ask(Ask("What is the deficit ceiling?", ("Rules.pdf",), talk, owner="me"))
        assert isinstance(asked, Answer)
        before = chatbot.library.scope([])
        assert all(one.mended for one in examine(chatbot.library, repair=True))
        chatbot.library.sweep()
        kept = chatbot.memory.answer(talk, 1, "me")
        assert kept is not None
        assert kept.text == asked.text
        (old,), (new,) = asked.citations, kept.citations
        assert (new.quote, new.page, new.verified) == (old.quote, old.page, old.verified)
        assert old.version in before
        assert chatbot.library.scope(["Rules.pdf"]).keys() == {new.version}
        assert chatbot.library.catalog.page(new.version or 0, new.page or 0).text

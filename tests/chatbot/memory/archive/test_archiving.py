"""What users made goes from each engine to each other one, whole, and into stores that have some already."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chatbot.errors import NotFoundError
from chatbot.settings import Settings
from chatbot.store.api_keys import open_api_keys
from chatbot.store.library import Upload
from ingestion.records import DocumentFacts
from tests.chatbot.memory.archive.filled_store import (
    QUESTION,
    export,
    fill,
    given_keys,
    import_into,
    lines_of,
    opened,
)
from tests.embedded_postgres import EmbeddedServer
from tests.stores import add_now

FIXTURE = Path(__file__).parent / "format-1.zip"
NUMBERS = count(1)
# What each kind of the filled store has.
FILLED = {
    "keys": 2,
    "documents": 6,
    "corrections": 1,
    "conversations": 5,
    "exchanges": 6,
    "summaries": 1,
    "ratings": 4,
    "situations": 2,
    "settings": 2,
    "switches": 1,
    "news_ratings": 1,
    "news": 1,
    "removed_news": 1,
}


@pytest.fixture
def news_at(server: EmbeddedServer) -> Iterator[Callable[[], str]]:
    """Makes databases for news, each empty."""
    made = list[str]()
    with psycopg.connect(server.address(), autocommit=True) as connection:

        def make() -> str:
            made.append(f"archive_{next(NUMBERS)}")
            connection.execute(f"create database {made[-1]} strategy file_copy".encode())
            return server.address().replace("dbname=postgres", f"dbname={made[-1]}")

        yield make
        for name in made:
            connection.execute(f"drop database {name} with (force)".encode())


@pytest.mark.parametrize(
    ("source", "target"), [("files", "files"), ("files", "postgres"), ("postgres", "files")]
)
def test_everything_is_the_same_in_the_other_engine(
    source: str, target: str, tmp_path: Path, news_at: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    served = request.getfixturevalue("served") if "postgres" in (source, target) else ""
    at: dict[str, dict[str, Any]] = {
        "files": {},
        "postgres": {"database": served, "signals_database": news_at()},
    }
    first = Settings(home=tmp_path / "first", **at[source])
    second = Settings(home=tmp_path / "second", **at[target])
    text, *_ = given_keys(first, "one", "two", "gone", revoked=1)
    fill(first, tmp_path / "pdfs")
    made = export(first, tmp_path / "first.zip")
    assert {kind: tally.done for kind, tally in made.items()} == FILLED
    assert not any(tally.skipped for tally in made.values())
    taken = import_into(second, tmp_path / "first.zip")
    assert {kind: tally.done for kind, tally in taken.items()} == FILLED
    assert not any(tally.skipped or tally.there for tally in taken.values())
    export(second, tmp_path / "second.zip")
    before, after = lines_of(tmp_path / "first.zip"), lines_of(tmp_path / "second.zip")
    assert after == before
    again = import_into(second, tmp_path / "first.zip")
    assert {kind: tally.there for kind, tally in again.items()} == FILLED
    assert not any(tally.skipped or tally.done for tally in again.values())
    _is_used(first, second, text)


def _is_used(first: Settings, second: Settings, text: str) -> None:
    """Look at the second store as its users do."""
    with closing(open_api_keys(second)) as keys:
        assert keys.find(text).owner == "key-1"
        _, new = keys.create("new", "read")
        assert new.id == 4  # the third one's conversations are nobody's
    with opened(first) as one, opened(second) as other:
        for deleted in (False, True):
            for owner in ("local", "key-1", "key-2"):
                rows = one.conversations.listed(owner, deleted=deleted)
                assert other.conversations.listed(owner, deleted=deleted) == rows
        kept, there = (talks.memory.answer("first", 1, "local") for talks in (one, other))
        assert kept is not None and there is not None
        assert [citation.quote for citation in there.citations] == [
            citation.quote for citation in kept.citations
        ]
        assert there.considered[0].text == kept.considered[0].text  # though its file is not there
        assert other.conversations.spent("first", "local") == one.conversations.spent("first", "local")
        for mine in ("local", "key-1"):
            rated = [row.case for row in one.cases.listed(mine)]
            assert [row.case for row in other.cases.listed(mine)] == rated
        assert len(other.cases.listed("anybody", shared=True)) == 1
        assert len(other.cases.deleted("local")) == 1
        assert other.situations.listed("local") == one.situations.listed("local")
        assert other.own.chosen("local") == one.own.chosen("local") == {"window": 7, "answers": "none"}
        assert other.signals.state == one.signals.state
        assert other.signals.ratings.listed() == one.signals.ratings.listed()


def small_store(tmp_path: Path, name: str = "first") -> Settings:
    """A filled store without news."""
    settings = Settings(home=tmp_path / name)
    if not (tmp_path / "pdfs").exists():
        fill(settings, tmp_path / "pdfs", news=False)
        export(settings, tmp_path / "first.zip")
    return settings


def test_names_and_corrections_wait_for_their_files(tmp_path: Path) -> None:
    small_store(tmp_path)
    target = Settings(home=tmp_path / "second")
    import_into(target, tmp_path / "first.zip")
    with opened(target) as chatbot:
        assert chatbot.documents() == []
        # Another document has one of the names meanwhile.
        add_now(chatbot.library, [Upload(tmp_path / "pdfs" / "Plan.pdf", "Also the rules.pdf")])
        assert {row.name: row.period for row in chatbot.documents()} == {
            "Also the rules.pdf": "2027",
            "Plan.pdf": "2027",
        }
        (added,) = add_now(chatbot.library, [Upload(tmp_path / "pdfs" / "Rules.pdf", "r.pdf")])
        assert added.status == "added"
        assert chatbot.library.catalog.names() == ["Also the rules.pdf", "Plan.pdf", "r.pdf", "Rules.pdf"]
        add_now(chatbot.library, [Upload(tmp_path / "pdfs" / "Removed.pdf", "x.pdf")])
        assert [row.name for row in chatbot.documents() if row.state == "removed"] == ["Removed.pdf"]
        kept = chatbot.memory.answer("first", 1, "local")
        assert kept is not None
        (version,) = chatbot.library.scope(["Rules.pdf"])
        assert kept.citations[0].version == version  # so that its page opens
    with opened(target) as chatbot:
        assert chatbot.library.catalog.correction(_digest(chatbot, "Plan.pdf")) == DocumentFacts(
            "2027", "draft"
        )


def _digest(chatbot: object, name: str) -> str:
    found = chatbot.library.catalog.find(name)  # type: ignore[attr-defined]
    assert found is not None
    return str(found.sha256)


@pytest.mark.parametrize("with_names", [True, False])
def test_kept_copies_that_are_put_into_the_folder_have_their_names(tmp_path: Path, with_names: bool) -> None:
    source = small_store(tmp_path)
    target = Settings(home=tmp_path / "second")
    import_into(target, tmp_path / "first.zip")
    # Without the file of names beside each copy, or with that of another version, the archive has them.
    left_out = None if with_names else shutil.ignore_patterns("*.json")
    shutil.copytree(source.documents, target.documents, dirs_exist_ok=True, ignore=left_out)
    with opened(target) as chatbot:
        chatbot.resume()
        assert set(chatbot.library.catalog.names()) == {
            "Rules.pdf",
            "Also the rules.pdf",
            "Plan.pdf",
            "Replaced.pdf",
        }
        chatbot.restore("Removed.pdf")


def test_what_is_there_stays_and_what_is_later_comes(tmp_path: Path) -> None:
    source = small_store(tmp_path)
    target = Settings(home=tmp_path / "second")
    import_into(target, tmp_path / "first.zip")
    with opened(target) as chatbot:
        chatbot.own.choose("local", "window", 3)
        number = chatbot.conversations.start("key-2.first", "Another one here?")
        chatbot.conversations.write("key-2.first", number, "Yes.", owner="key-2", state="stopped")
    with opened(source) as chatbot:
        for talk, owner in (("first", "local"), ("key-2.first", "key-2")):
            number = chatbot.conversations.start(talk, "And later?")
            chatbot.conversations.write(talk, number, "No.", owner=owner, state="stopped")
        (first, *_) = chatbot.cases.listed("local")
        chatbot.cases.add("local", first.case.__class__(first.case.question, "Otherwise.", 0))
        chatbot.own.choose("local", "window", 9)
    export(source, tmp_path / "later.zip")
    taken = import_into(target, tmp_path / "later.zip")
    assert taken["settings"].called == {"it is different here, and stays as it is here": ["local window"]}
    assert taken["exchanges"].called == {"it is different here, and stays as it is here": ["key-2.first 2"]}
    assert (taken["exchanges"].done, taken["ratings"].done) == (1, 1)
    with opened(target) as chatbot:
        assert chatbot.own.chosen("local")["window"] == 3
        assert [one.user for one in chatbot.conversations.said("first", "local")][-1] == "And later?"
        assert [one.user for one in chatbot.conversations.said("key-2.first", "key-2")][
            -1
        ] == "Another one here?"
        assert chatbot.cases.listed("local")[0].case.plan == "Otherwise."


def test_a_key_whose_number_was_given_here_stays_away_with_what_is_its_own(tmp_path: Path) -> None:
    source = Settings(home=tmp_path / "first")
    given_keys(source, "one", "two", "gone", revoked=1)
    small_store(tmp_path)
    target = Settings(home=tmp_path / "second")
    (own, _) = given_keys(target, "here", "and revoked", revoked=1)
    for _ in range(2):
        taken = import_into(target, tmp_path / "first.zip")
        assert taken["keys"].called == {
            "another API key has its number here, or had it; make a new key": ["one", "two"]
        }
        why = "it belongs to an API key whose number another key has here"
        assert taken["conversations"].called == {why: ["key-1.first", "key-2.first"]}
        assert taken["exchanges"].called == {why: ["key-1.first 1", "key-2.first 1"]}
        assert taken["ratings"].skipped[why] == 2
    with closing(open_api_keys(target)) as keys:
        assert [(key.id, key.name) for key in keys.listed()] == [(1, "here")]
        assert keys.find(own).owner == "key-1"
    with opened(target) as chatbot:
        assert chatbot.conversations.listed("key-1") == chatbot.conversations.listed("key-2") == []
        assert chatbot.cases.listed("key-1") == []
        assert len(chatbot.conversations.listed("local")) == 2


def test_what_a_key_left_that_is_gone_comes_to_no_other_key(tmp_path: Path) -> None:
    small_store(tmp_path)  # whose keys were revoked
    target = Settings(home=tmp_path / "second")
    given_keys(target, "here")
    taken = import_into(target, tmp_path / "first.zip")
    why = "it belongs to an API key whose number another key has here"
    assert taken["conversations"].called == {why: ["key-1.first"]}
    assert (taken["exchanges"].called, taken["ratings"].skipped[why]) == ({why: ["key-1.first 1"]}, 1)
    with opened(target) as chatbot:
        assert chatbot.conversations.listed("key-1") == []
        assert chatbot.cases.listed("key-1") == []


def test_a_broken_import_changes_nothing_of_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_store(tmp_path)
    target = Settings(home=tmp_path / "second")
    stop = (
        "create temporary trigger stop before insert on preference begin select raise(abort, 'broken'); end"
    )
    with pytest.raises(Exception, match="broken"):
        import_into(target, tmp_path / "first.zip", before=stop)
    with opened(target) as chatbot:
        assert chatbot.conversations.listed("local") == []
    taken = import_into(target, tmp_path / "first.zip")
    assert (taken["conversations"].done, taken["documents"].there) == (5, 6)


def test_a_damaged_row_is_named_and_everything_else_exported(tmp_path: Path) -> None:
    settings = small_store(tmp_path)
    with opened(settings) as chatbot:
        chatbot.memories.change("update detail set answer = 'x' where conversation = 'first'")
        chatbot.memories.change("update preference set value = '{' where name = 'window'")
        chatbot.memories.change("update item set payload = '[1]' where kind = 'situation'")
    made = export(settings, tmp_path / "damaged.zip")
    assert made["settings"].skipped.total() == 1
    assert made["situations"].skipped.total() > 0
    assert (made["situations"].done, made["exchanges"].done) == (0, FILLED["exchanges"])
    target = Settings(home=tmp_path / "second")
    import_into(target, tmp_path / "damaged.zip")  # what is exported can be imported
    with opened(target) as chatbot:
        assert len(chatbot.conversations.said("first", "local")) == 2
        assert chatbot.memory.answer("first", 1, "local") is None


def test_an_archive_of_the_first_format_is_imported(tmp_path: Path, news_at: Callable[[], str]) -> None:
    """It was made by the first version that had archives. Every later one must read it."""
    target = Settings(home=tmp_path / "home", signals_database=news_at())
    taken = import_into(target, FIXTURE)
    # What was shared was a record of its own.
    assert {kind: tally.done for kind, tally in taken.items()} == FILLED | {"ratings": 5}
    assert not any(tally.skipped for tally in taken.values())
    with opened(target) as chatbot:
        kept = chatbot.memory.answer("first", 1, "local")
        assert kept is not None
        assert kept.question == QUESTION
        assert kept.text.startswith("The deficit ceiling is 3.0 per cent of output in every year. [S1]")
        assert kept.citations[0].verified
        (row,) = chatbot.cases.listed("anybody", shared=True)
        assert chatbot.cases.listed("local")[0].case == replace(row.case, by="")
        assert chatbot.own.chosen("local") == {"window": 7, "answers": "none"}
        with pytest.raises(NotFoundError):
            chatbot.conversations.get("private-one", "local")
    with closing(open_api_keys(target)) as keys:
        assert [key.name for key in keys.listed()] == ["one", "two"]

"""A store with something of everything that users make, and what an archive of a store holds."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from chatbot.asking.question import Ask
from chatbot.memory.archive.archive_export import OpenedStore, Tally, export_store
from chatbot.memory.archive.archive_file import ArchiveReader
from chatbot.memory.archive.archive_import import StoreImport
from chatbot.memory.conversations.conversation_store import Summary
from chatbot.memory.signals.news_sources import News
from chatbot.records import Answer, Usage
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.api_keys import open_api_keys
from chatbot.store.library import Upload
from ingestion.records import DocumentFacts
from tests.chatbot.memory.signals.postgres import item
from tests.pdfs import make_pdf
from tests.stores import RULES, add_now, hashing

__all__ = ["QUESTION", "export", "fill", "given_keys", "import_into", "lines_of", "opened"]

QUESTION = "What is the deficit ceiling?"


def opened(settings: Settings) -> Chatbot:
    """A chatbot over a store, to be closed."""
    return Chatbot(settings, embedder=hashing())


def fill(settings: Settings, folder: Path, *, news: bool = True) -> None:
    """Make a store with all that an archive has a place for. folder: for the documents' files."""
    with opened(settings) as chatbot:
        _add_documents(chatbot, folder)
        talks = chatbot.conversations
        for owner in ("local", "key-1", "key-2"):
            talk = talks.begin(owner, f"{owner}.first" if owner != "local" else "first")
            (answer,) = [
                event
                for event in chatbot.ask(Ask(QUESTION, conversation=talk, owner=owner))
                if isinstance(event, Answer)
            ]
            chatbot.cases.rate(owner, answer, 1, word="Right.\n“Yes”")
        number = talks.start("first", "And by whom?\u2028\u202e")
        talks.finish(
            "first",
            number,
            Answer("q", "q", "Nobody.", False, usage=Usage(1, 2, True, 0.5, 0.25)),
            {},
            owner="local",
        )
        talks.keep_summary("first", Summary(1, 1, "Ceilings.", "a model"))
        talks.rename("first", "local", "Über Decken \u200d")
        talks.switch("first", "local", "cases", on=False)
        talks.start(talks.begin("local", "broken-off"), "Never answered?")
        for name in ("deleted", "private-one"):
            talks.start(talks.begin("local", name, private=name.startswith("private")), "Secret?")
        talks.delete("deleted", "local")
        (case,) = chatbot.cases.listed("local")
        chatbot.cases.share("local", case.case.id)
        again = chatbot.cases.add("local", case.case.__class__("Is it so?", "It was.", 0))
        chatbot.cases.delete("local", again.id)
        chatbot.situations.add("local", [("oil falls", "wait"), ("oil falls", "sell")], scope="Oil")
        chatbot.own.choose("local", "window", 7)
        chatbot.own.choose_model("local", "none")
        chatbot.signals.ratings.rate("local", "first", 1, ["a feed"], helpful=True)
        if news:
            told = [item("Oil falls."), item("Oil falls.", 2, source="other"), item("Gone.", 3)]
            chatbot.signals.add(News(tuple(told)))
            for row in chatbot.signals.listed():
                if row.text == "Gone.":
                    chatbot.signals.remove(row.event)
        chatbot.signals.switch(on=False)


def _add_documents(chatbot: Chatbot, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    files = {
        "Rules.pdf": RULES,
        "Plan.pdf": ["Republic of Norland\nFiscal Strategy\nThe plan is a plan."],
        "Removed.pdf": ["This page goes."],
        "Replaced.pdf": ["The former page."],
    }
    uploads = [Upload(make_pdf(folder / name, pages)) for name, pages in files.items()]
    add_now(chatbot.library, [*uploads, Upload(uploads[0].path, "Also the rules.pdf")])
    add_now(chatbot.library, [Upload(make_pdf(folder / "new.pdf", ["The latter page."]), "Replaced.pdf")])
    chatbot.library.correct("Plan.pdf", DocumentFacts("2027", "draft"))
    chatbot.remove("Removed.pdf")
    chatbot.titles()


def given_keys(settings: Settings, *names: str, revoked: int = 0) -> list[str]:
    """Make keys of the API, and return their texts. revoked: how many of the last ones are revoked."""
    with closing(open_api_keys(settings)) as keys:
        made = [keys.create(name, "ask", 10) for name in names]
        for _, key in made[len(made) - revoked :]:
            keys.revoke(key.id)
        return [text for text, _ in made]


def export(settings: Settings, path: Path) -> dict[str, Tally]:
    """Export a store, and return what became of each kind."""
    with _parts(settings) as store:
        return {tally.kind: tally for tally in export_store(store, path, _tell_nobody)}


def import_into(settings: Settings, path: Path, before: str = "") -> dict[str, Tally]:
    """Import an archive, and return what became of each kind. before: what the memories run first."""
    with closing(ArchiveReader(path)) as archive, _parts(settings) as store:
        if before:
            with store.memories.write() as connection:
                connection.execute(before)
        return {tally.kind: tally for tally in StoreImport(store, archive, _tell_nobody).run()}


@contextmanager
def _parts(settings: Settings) -> Iterator[OpenedStore]:
    with opened(settings) as chatbot, closing(open_api_keys(settings)) as keys:
        catalog, memories = chatbot.library.catalog.database, chatbot.memories.database
        yield OpenedStore(keys.database, catalog, memories, chatbot.signals)


def lines_of(path: Path) -> dict[str, list[Any]]:
    """The records of each kind in an archive, in an order of their own."""
    return {name: sorted(lines, key=json.dumps) for name, lines in _lines(path)}


def _lines(path: Path) -> Iterator[tuple[str, list[Any]]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".jsonl"):
                yield (
                    name.removesuffix(".jsonl"),
                    [json.loads(line) for line in archive.read(name).splitlines()],
                )


def _tell_nobody(kind: str, phase: str, done: int, total: int) -> None:
    return

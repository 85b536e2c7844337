"""A store restored from the backups that docs/deploy.md describes answers as the one that was backed up."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.api_keys import open_api_keys
from chatbot.store.doctor import examine
from chatbot.store.kept_copies import files_of
from chatbot.store.library import Upload
from chatbot.store.migration.store_migration import move_copies
from tests import embedded_postgres
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.served_chroma import ServedChroma
from tests.served_objects import ServedObjects
from tests.stores import RULES, Make, add_now, hashing

QUESTION = "What is the deficit ceiling?"


def ask(chatbot: Chatbot) -> Answer:
    *_, answer = chatbot.ask(Ask(QUESTION, conversation="talk", owner="me"))
    assert isinstance(answer, Answer)
    assert "3.0 per cent" in answer.text
    return answer


def check(restored: Settings) -> None:
    """The restored store is sound, or mends itself; it has the conversation, and answers."""
    with Chatbot(restored, embedder=hashing()) as chatbot:
        assert all(finding.mended for finding in examine(chatbot.library, repair=True))
        assert list(examine(chatbot.library)) == []
        embedder = chatbot.library.embedder
        assert isinstance(embedder, HashEmbedder)
        assert embedder.calls == 0
        assert [said.user for said in chatbot.conversations.said("talk", "me")] == [QUESTION]
        assert ask(chatbot).citations
    with closing(open_api_keys(restored)) as keys:
        assert [key.name for key in keys.listed()] == ["program"]


def test_files_copied_while_the_server_runs(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    ask(chatbot)
    with closing(open_api_keys(chatbot.settings)) as keys:
        keys.create("program", "read")
    restored = Settings(home=tmp_path / "restored")
    restored.store.mkdir(parents=True)
    for name in ("catalog", "memory", "api_keys"):
        with (
            closing(sqlite3.connect(chatbot.settings.store / f"{name}.sqlite3")) as file,
            closing(sqlite3.connect(restored.store / f"{name}.sqlite3")) as copy,
        ):
            file.backup(copy)  # as `.backup` of the command does
    shutil.copytree(chatbot.settings.documents, restored.documents)
    check(restored)


def test_servers_dumped_while_the_chatbot_runs(
    served: str, chroma: ServedChroma, objects: ServedObjects, tmp_path: Path
) -> None:
    settings = Settings(
        home=tmp_path / "home",
        database=served,
        chroma_url=chroma.address,
        files=f"s3://{objects.bucket}/backed-up",
        files_endpoint=objects.endpoint,
    )
    with closing(open_api_keys(settings)) as keys:
        keys.create("program", "read")
    programs, dump = embedded_postgres.postgres_programs(), tmp_path / "store.dump"
    with Chatbot(settings, embedder=hashing()) as chatbot:
        add_now(chatbot.library, [Upload(make_pdf(tmp_path / "Rules.pdf", RULES))])
        ask(chatbot)
        subprocess.run(
            [programs / "pg_dump", "--schema=finpolicy_*", "-Fc", "-f", dump, "-d", served], check=True
        )
    chroma.kill()
    shutil.copytree(chroma.folder, tmp_path / "chroma")
    chroma.start()
    restored_chroma = ServedChroma(tmp_path / "chroma")
    restored_chroma.start()
    restored = replace(
        settings,
        home=tmp_path / "restored",
        database=served.replace("dbname=stores", "dbname=restored"),
        chroma_url=restored_chroma.address,
        files="",
    )
    move_copies(files_of(settings), files_of(restored), lambda *_: None)
    with psycopg.connect(served, autocommit=True) as connection:
        connection.execute("create database restored encoding 'UTF8' template template0")
        try:
            subprocess.run([programs / "pg_restore", "-d", restored.database, dump], check=True)
            with Chatbot(restored, embedder=hashing()) as chatbot:
                assert chatbot.library.indexes.differences() == []
            check(restored)
        finally:
            restored_chroma.kill()
            connection.execute("drop database restored with (force)")


@pytest.mark.long
def test_an_object_store_is_copied_and_copied_back(
    make: Make, objects: ServedObjects, tmp_path: Path
) -> None:
    before = make().settings
    there = replace(before, files=f"s3://{objects.bucket}/again", files_endpoint=objects.endpoint)
    backup = replace(before, home=tmp_path / "backup")
    for source, target in ((before, there), (there, backup)):
        move_copies(files_of(source), files_of(target), lambda *_: None)
    assert {path.name: path.read_bytes() for path in before.documents.iterdir()} == {
        path.name: path.read_bytes() for path in backup.documents.iterdir()
    }

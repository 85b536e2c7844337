"""A signal database that is down, slow, frozen, read-only, forbidden, without its extension or killed:
named, with nothing lost and no password shown.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from chatbot.memory.signals.news_postgres import explain
from chatbot.memory.signals.news_sources import News
from chatbot.memory.signals.records import Imported, SignalsError
from chatbot.memory.signals.signal_store import Signals
from chatbot.store.postgres_faults import shown_address
from chatbot.store.vector_index import Vectors
from tests.chatbot.memory.signals.postgres import NOW, connect, item, news, store, vector_of
from tests.embedded_postgres import EmbeddedServer
from tests.fakes import HashEmbedder

SECRET = "s3cret p@ss/word"
ENCODED = "s3cret%20p%40ss%2Fword"
KEY_RATE = vector_of("key rate")


def find(signals: Signals) -> SignalsError:
    """What a search fails with."""
    with pytest.raises(SignalsError) as failed:
        signals.find("key rate", None, 3, as_of=NOW)
    assert failed.value.hint
    return failed.value


def found(signals: Signals, vector: Vectors | None = None) -> list[str]:
    """The news that a search finds."""
    return [one.text for one in signals.find("key rate", vector, 3, as_of=NOW)]


def test_a_database_that_is_down_is_named(tmp_path: Path) -> None:
    signals = store(f"host='{tmp_path}' user=me dbname=news")
    error = find(signals)
    assert error.kind == "down"
    assert error.retryable
    assert f"me@{tmp_path}/news" in error.details


@pytest.mark.timed
def test_a_database_that_never_answers_is_named_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        _, port = silent.getsockname()
        address = f"host=127.0.0.1 port={port} sslmode=disable gssencmode=disable"
        started = time.monotonic()
        error = find(store(address, seconds=0.5))
    assert error.kind == "slow"
    assert time.monotonic() - started < 10


def test_a_read_only_database_is_recalled_from_and_named_at_import(database: str) -> None:
    signals = store(database)
    signals.add(news("The key rate rose."))
    with connect(database) as administrator:
        name = administrator.info.dbname
        administrator.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    again = store(database)
    assert len(found(again, KEY_RATE)) == 1
    assert again.health().state == "normal"
    with pytest.raises(SignalsError, match="is read-only") as failed:
        again.add(news("The key rate rose.", "More."))
    assert failed.value.kind == "read-only"
    assert len(again.listed()) == 1


def plain_address(database: str) -> str:
    """The same database as a user without any rights."""
    with connect(database) as administrator:
        with suppress(psycopg.errors.DuplicateObject):
            administrator.execute("CREATE ROLE plain LOGIN")
        administrator.execute(f"GRANT CREATE ON DATABASE {administrator.info.dbname} TO plain")
        administrator.execute("GRANT CREATE ON SCHEMA public TO plain")
    return database.replace("user=finpolicy", "user=plain")


def test_a_database_without_the_vector_extension_is_named(database: str) -> None:
    signals = store(plain_address(database))
    with pytest.raises(SignalsError, match="has no vector extension") as failed:
        signals.add(news("The key rate rose."))
    assert failed.value.kind == "no-vector"
    assert "CREATE EXTENSION vector" in failed.value.hint
    missing = psycopg.errors.FeatureNotSupported('extension "vector" is not available')
    assert explain(missing, address=database).kind == "no-vector"


def test_an_extension_that_was_dropped_takes_no_news_with_it(database: str) -> None:
    signals = store(database)
    signals.add(news("The key rate rose."))
    with connect(database) as administrator:
        administrator.execute("DROP EXTENSION vector CASCADE")
    with pytest.raises(SignalsError, match="extension pgvector was dropped") as named:
        found(signals, KEY_RATE)
    assert named.value.kind == "no-vector"
    health = signals.health()
    assert (health.state, health.message) == ("failed", named.value.message)
    assert "signals reembed" in health.hint
    assert [row.text for row in signals.listed()] == ["The key rate rose."]
    done = signals.reembed()
    assert done.embedded == 1
    assert signals.health().state == "normal"
    with connect(database) as administrator:
        administrator.execute("DROP EXTENSION vector CASCADE")
    done = signals.add(news("The key rate rose.", "More."))
    assert done.embedded == 2
    assert found(signals, KEY_RATE) == ["The key rate rose."]


def test_a_full_disk_and_a_change_at_the_same_moment_are_named(database: str) -> None:
    full = psycopg.errors.DiskFull("could not extend file")
    assert explain(full, address=database).kind == "full"
    deadlock = psycopg.errors.DeadlockDetected("deadlock detected")
    told = explain(deadlock, address=database)
    assert told.kind == "busy"
    assert told.retryable
    assert "cannot be reached" not in told.message
    assert told.hint


def mount(folder: Path) -> bool:
    """Make the folder a small file system of its own, if that is allowed here."""
    if not shutil.which("mount"):
        return False
    command = ["mount", "-t", "tmpfs", "-o", "size=160m,mode=0755", "none", str(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode == 0


def fill_up(ballast: Path) -> None:
    """Write until nothing more fits, first much at once and then little."""
    for mode, size in (("wb", 65_536), ("ab", 512)):
        with suppress(OSError), ballast.open(mode, buffering=0) as file:
            while True:
                file.write(bytes(size))


def add_in_the_end(signals: Signals, told: News, attempts: int) -> Imported:
    """Try to add the news until the server is there again."""
    for _ in range(attempts):
        with suppress(SignalsError):
            return signals.add(told)
        time.sleep(0.1)
    raise AssertionError("the server did not come back")


@pytest.mark.long
def test_a_disk_that_fills_up_is_named_loses_nothing_and_the_next_import_ends_it(reachable: Path) -> None:
    folder = reachable / "small"
    folder.mkdir()
    if not mount(folder):
        pytest.skip("needs a file system of its own: mount is not allowed here")
    server = EmbeddedServer(folder)
    signals = store(server.address())
    try:
        signals.add(news("The key rate rose."))
        ballast = folder / "ballast"
        fill_up(ballast)
        more_words = "More words. " * 300
        items = [item(f"News {number} on rates. {more_words}", number) for number in range(2, 600)]
        many = News(tuple(items))
        with pytest.raises(SignalsError) as failed:
            signals.add(many)
        assert failed.value.kind in {"full", "down"}
        assert failed.value.hint
        ballast.unlink()
        server.address()
        done = add_in_the_end(signals, many, 200)
        assert done.problem == ""
        assert signals.health().events == 599
        assert "The key rate rose." in {row.text for row in signals.listed(1_000)}
    finally:
        signals.close()
        server.stop()
        subprocess.run(["umount", "-l", str(folder)], check=False)


class Killing(HashEmbedder):
    """Kills the server as it embeds, once; its children too, which could otherwise end what they are at
    before they notice.
    """

    server: EmbeddedServer | None = None

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.server is not None:
            pid = self.server.pid()
            self.server = None
            os.kill(pid, signal.SIGSTOP)  # so that it starts no further child
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for one in (pid, *map(int, children)):
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
        return super().embed(texts)


def test_a_server_killed_in_the_middle_of_an_import_loses_nothing_and_the_next_one_ends_it(
    reachable: Path,
) -> None:
    folder = reachable / "killed"
    embedder = Killing()
    server = EmbeddedServer(folder)
    told = news(*(f"The key rate rose in town {number}." for number in range(600)))
    signals = store(server.address(), embedder)
    embedder.server = server
    try:
        with pytest.raises(SignalsError) as failed:
            signals.add(told)
        assert failed.value.kind == "down"
        server.address()
        done = add_in_the_end(signals, told, 100)
        assert (done.events, done.embedded) == (0, 600)
        assert sum(done.analysed.values()) == 600
        assert done.problem == ""
        health = signals.health()
        assert (health.state, health.events) == ("normal", 600)
    finally:
        signals.close()
        server.stop()


@pytest.mark.parametrize(
    "form",
    [
        f"postgresql://me:{ENCODED}@127.0.0.1:1/news",
        f"host=127.0.0.1 port=1 user=me dbname=news password='{SECRET}'",
    ],
)
def test_a_password_is_never_shown_or_logged(form: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    signals = store(form, seconds=0.5)
    error = find(signals)
    refused = psycopg.OperationalError(f'connection failed: password "{SECRET}" refused, {ENCODED}')
    shown = [
        str(error),
        repr(error),
        repr(signals.options),
        repr(signals.health()),
        str(explain(refused, address=form)),
        shown_address(form),
        caplog.text,
    ]
    assert error.kind == "down"
    assert shown_address(form) == "me@127.0.0.1:1/news"
    assert error.__suppress_context__
    for text in shown:
        assert "s3cret" not in text


@pytest.mark.parametrize(
    ("form", "hint"),
    [
        ("postgresql//me:s3cret@host/news", "Write it as postgresql://"),
        # What stands before a second @ would be shown as the host.
        ("postgresql://me:p@s3cret@host/news", "%40"),
        ("postgresql://me@s3cret@host/news", "%40"),
    ],
)
def test_an_address_that_cannot_be_read_is_quoted_nowhere(form: str, hint: str) -> None:
    error = find(store(form))
    assert error.kind == "address"
    assert "s3cret" not in f"{error}{error.hint}"
    assert hint in error.hint
    assert shown_address(form) == "an unreadable address"
    failed = psycopg.OperationalError("host s3cret@host")
    assert "s3cret" not in str(explain(failed, address=form))


def test_a_short_password_is_not_told_by_what_was_cut_out() -> None:
    refused = psycopg.OperationalError("connection failed")
    short = explain(refused, address="postgresql://me:a@host/news")
    assert "connection" not in str(short)
    longer = explain(refused, address="postgresql://me:zebra@host/news")
    assert "connection failed" in str(longer)

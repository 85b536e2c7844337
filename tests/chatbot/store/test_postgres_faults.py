"""A Postgres that is down, slow, full, of another version or somebody else's: each is named with its fix and
without a password; nothing is lost, and all works again by itself.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from chatbot.errors import StoreError
from chatbot.memory import items
from chatbot.memory.conversations import conversation_store
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.signals.signal_layer import options_in
from chatbot.settings import Settings
from chatbot.store import postgres_database
from chatbot.store.catalog import Catalog
from chatbot.store.database import ClosedError, NewerStoreError, PostgresPlace, Schema
from chatbot.store.jobs import work_of
from chatbot.store.postgres_database import PostgresDatabase
from chatbot.store.postgres_faults import as_store_error
from tests import embedded_postgres
from tests.certificates import expired_certificate
from tests.embedded_postgres import EmbeddedServer

SCHEMA = Schema("create table item (id integer primary key autoincrement, name text not null);\n", 1)
PASSWORD = "Sesame-4711-open"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def opened(address: str, schema: Schema = SCHEMA) -> PostgresDatabase:
    return PostgresDatabase(PostgresPlace(address, "items"), schema)


@pytest.fixture
def database(served: str) -> Iterator[PostgresDatabase]:
    with closing(opened(served)) as made:
        yield made


def put(database: PostgresDatabase, name: str) -> None:
    with database.write() as connection:
        connection.execute("insert into item (name) values (?)", (name,))


def put_both(database: PostgresDatabase, first: str, meanwhile: Callable[[], object], second: str) -> None:
    """In one transaction."""
    with database.write() as connection:
        connection.execute("insert into item (name) values (?)", (first,))
        meanwhile()
        connection.execute("insert into item (name) values (?)", (second,))


def names(database: PostgresDatabase) -> list[str]:
    return [row[0] for row in database.read("select name from item order by id")]


def execute(address: str, *statements: str) -> None:
    """As whoever runs the server does."""
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def hang_up(address: str) -> None:
    """End all connections, as a restart does."""
    execute(
        address,
        "select pg_terminate_backend(pid) from pg_stat_activity where pid != pg_backend_pid()"
        " and application_name = 'finpolicy_items'",
    )


def test_connections_that_ended_are_made_anew(database: PostgresDatabase, served: str) -> None:
    put(database, "one")
    hang_up(served)
    assert names(database) == ["one"]
    hang_up(served)
    put(database, "two")
    assert names(database) == ["one", "two"]


def test_a_transaction_that_is_cut_off_leaves_nothing_and_is_not_repeated(
    database: PostgresDatabase, served: str
) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as raised:
        put_both(database, "half", lambda: hang_up(served), "the rest")
    assert raised.value.retryable
    assert names(database) == []
    put(database, "whole")
    assert names(database) == ["whole"]


def test_a_slow_one_is_named_in_time(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_database, "STATEMENT_SECONDS", 0.1)
    with closing(opened(served)) as database:
        with pytest.raises(StoreError, match="did not answer in time"):
            database.read("select pg_sleep(9)")
        assert names(database) == []


def test_a_writer_that_takes_too_long_is_named(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_database, "LOCK_SECONDS", 0.1)
    with closing(opened(served)) as one, closing(opened(served)) as other:
        with one.write() as connection:
            connection.execute("insert into item (name) values ('one')")
            with pytest.raises(StoreError, match="being written by another") as raised:
                put(other, "two")
            assert names(other) == []
        assert raised.value.retryable
        put(other, "two")
        assert names(one) == ["one", "two"]


def test_a_frozen_one_is_hung_up_on(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_database, "SILENT_SECONDS", 1.0)
    with closing(opened(served)) as database:
        ((process,),) = database.read("select pg_backend_pid()")
        os.kill(process, signal.SIGSTOP)
        try:
            with pytest.raises(StoreError, match="did not answer in time"):
                names(database)
            put(database, "one")
        finally:
            os.kill(process, signal.SIGCONT)
        assert names(database) == ["one"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("53100", "has no space left"),
        ("40P01", "is being written"),
        ("XX001", "is damaged"),
        ("53300", "too many connections"),
    ],
)
def test_what_it_says_is_put_in_words(database: PostgresDatabase, state: str, words: str) -> None:
    put(database, "one")
    raising = f"do $$ begin raise exception 'Aua' using errcode = '{state}'; end $$"
    with pytest.raises(StoreError, match=words) as raised:
        put_both(database, "two", lambda: database.read(raising), "three")
    assert raised.value.hint
    assert names(database) == ["one"]


def test_one_that_takes_no_writes_is_read(database: PostgresDatabase, served: str) -> None:
    put(database, "one")
    with closing(opened(f"{served} options='-c default_transaction_read_only=on'")) as standby:
        assert names(standby) == ["one"]
        with pytest.raises(StoreError, match="is read-only") as raised:
            put(standby, "two")
    assert "takes writes" in raised.value.hint


def test_somebody_elses_tables_are_left_alone(served: str) -> None:
    execute(served, "create schema finpolicy_items; create table finpolicy_items.theirs (a integer)")
    with pytest.raises(StoreError, match="holds another program's tables"):
        opened(served)


def test_a_later_programs_tables_are_left_alone(database: PostgresDatabase, served: str) -> None:
    with database.write() as connection:
        connection.execute("update finpolicy_store set version = 9")
    with pytest.raises(NewerStoreError, match="has version 9"):
        opened(served)


def test_tables_that_somebody_dropped_are_named(database: PostgresDatabase, served: str) -> None:
    execute(served, "drop table finpolicy_items.item")
    with pytest.raises(StoreError, match="lacks tables that this program made") as raised:
        names(database)
    assert "backup" in raised.value.hint


def test_one_that_cannot_hold_every_character_is_refused(served: str) -> None:
    execute(served, "create database ascii encoding 'SQL_ASCII' template template0 locale 'C'")
    try:
        with pytest.raises(StoreError, match="cannot hold every character"):
            opened(served.replace("dbname=stores", "dbname=ascii"))
    finally:
        execute(served, "drop database ascii with (force)")


def test_one_that_is_too_old_is_refused(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_database, "LEAST_VERSION", 99)
    with pytest.raises(StoreError, match="of Postgres, but 99 is needed"):
        opened(served)


def test_users_and_databases_that_do_not_exist_are_named(served: str) -> None:
    with pytest.raises(StoreError, match="no such database"):
        opened(served.replace("dbname=stores", "dbname=elsewhere"))
    with pytest.raises(StoreError, match="refused the login"):
        opened(served.replace("user=finpolicy", "user=nobody"))


def test_a_user_without_rights_is_named(served: str) -> None:
    execute(served, "drop role if exists poor; create role poor login")
    with pytest.raises(StoreError, match="does not allow that") as raised:
        opened(served.replace("user=finpolicy", "user=poor"))
    assert "create schemas" in raised.value.hint
    execute(served, "create schema finpolicy_items authorization poor")
    with closing(opened(served.replace("user=finpolicy", "user=poor"))) as database:
        put(database, "one")
    execute(served, "drop schema finpolicy_items cascade", "drop role poor")


def test_a_missing_client_is_named(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(StoreError, match="is not installed") as raised:
        opened(served)
    assert "make setup-served" in raised.value.hint


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{PASSWORD}@host:port/db",
        f"me:{PASSWORD}",
        f"postgresql://me:x@{PASSWORD}@127.0.0.1/db",
        f"host=127.0.0.1 pasword={PASSWORD}",
    ],
)
def test_an_address_that_cannot_be_read_is_quoted_nowhere(address: str) -> None:
    with pytest.raises(StoreError, match="FINPOLICY_DATABASE_URL") as raised:
        opened(address)
    assert PASSWORD not in str(raised.value) + raised.value.hint + repr(Settings(database=address))
    assert PASSWORD not in repr(PostgresPlace(address, "catalog"))


def test_nothing_that_listens_is_named() -> None:
    with pytest.raises(StoreError, match="cannot be reached") as raised:
        opened(f"postgresql://me:{PASSWORD}@127.0.0.1:{free_port()}/db")
    assert raised.value.retryable
    assert PASSWORD not in str(raised.value)


def test_text_without_what_no_text_can_hold(database: PostgresDatabase) -> None:
    put(database, "a\0b")
    assert names(database) == ["a\ufffdb"]


def test_work_of_others_is_left_to_them_until_they_end(served: str) -> None:
    with closing(opened(served)) as one, closing(opened(served)) as other:
        one.claim("a")
        one.claim("b")
        assert other.claimed_elsewhere(["a", "b", "c"]) == {"a", "b"}
        assert one.claimed_elsewhere(["a", "b", "c"]) == set()
        one.release("b")
        hang_up(served)
        one.claim("c")  # over a new connection, with what was claimed before
        assert other.claimed_elsewhere(["a", "b", "c"]) == {"a", "c"}
        one.close()
        assert other.claimed_elsewhere(["a", "b", "c"]) == set()


def test_a_closed_store_opens_no_connection_for_what_is_given_up_late(served: str) -> None:
    database = opened(served)
    database.claim("a")
    database.close()
    with closing(opened(served)) as other:
        count = "select count(*) from pg_stat_activity where pid != pg_backend_pid()"
        before = other.read(count)
        database.release("a")
        with pytest.raises(ClosedError):
            database.claim("b")
        assert other.read(count) == before


def test_what_a_server_is_reading_is_not_swept_by_another(served: str) -> None:
    place = PostgresPlace(served, "catalog")
    with closing(Catalog(place)) as one, closing(Catalog(place)) as other:
        version = one.begin("Rules.pdf", "a" * 64, None)
        job = one.wait("Other.pdf", "b" * 64)
        assert one.database.claim(work_of(job.id))
        assert one.left_over(0) == [version]
        assert other.left_over(0) == []
        assert list(other.left()) == []
        one.close()
        assert other.left_over(0) == [version]
        assert [found.id for found in other.left()] == [job.id]


def test_threads_share_a_few_connections(database: PostgresDatabase, served: str) -> None:
    failed: list[Exception] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                put(database, str(number))
                names(database)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(names(database)) == 150


def test_news_signals_are_in_the_same_database_unless_they_have_their_own() -> None:
    assert options_in(Settings(database="a")).address == "a"
    assert options_in(Settings(database="a", signals_database="b")).address == "b"


def over_network(port: int, password: str = PASSWORD, **more: str) -> str:
    options = "&".join(f"{name}={value}" for name, value in more.items())
    return f"postgresql://owner:{password}@127.0.0.1:{port}/postgres?{options}"


@pytest.fixture
def guarded(reachable: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[EmbeddedServer, int]]:
    """A server of a test's own that asks for a password over the network, and its port."""
    port = free_port()
    for name, value in (("listen_addresses", "127.0.0.1"), ("port", str(port)), ("fsync", "off")):
        monkeypatch.setitem(embedded_postgres.SETTINGS, name, value)
    server = EmbeddedServer(reachable / "guarded")
    address = f"{server.address()} port={port}"
    rules = reachable / "guarded" / "data" / "pg_hba.conf"
    rules.write_text(f"host all owner 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    execute(address, f"create role owner login superuser password '{PASSWORD}'", "select pg_reload_conf()")
    yield server, port
    server.stop()


def test_what_was_down_or_refused_a_password_is_used_when_it_answers(
    guarded: tuple[EmbeddedServer, int], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server, port = guarded
    with pytest.raises(StoreError, match="refused the login") as raised:
        opened(over_network(port, "Wrong-and-long"))
    assert "Wrong-and-long" not in f"{raised.value} {raised.value.__cause__} {caplog.text}"
    assert f"owner@127.0.0.1:{port}/postgres" in raised.value.details
    assert raised.value.message == "The database refused the login."
    with closing(opened(over_network(port))) as database:
        put(database, "before")
        database.claim("some work")
        server.stop()
        for ask in (lambda: names(database), lambda: put(database, "lost"), lambda: database.claim("more")):
            with pytest.raises(StoreError, match="cannot be reached") as down:
                ask()
            assert down.value.retryable
        server.address()
        assert names(database) == ["before"]
        put(database, "after")
        assert names(database) == ["before", "after"]
        database.claim("more")
        with closing(opened(over_network(port))) as other:
            assert other.claimed_elsewhere(["some work", "more"]) == {"some work", "more"}
    assert PASSWORD not in caplog.text


@pytest.fixture
def encrypting(reachable: Path) -> Iterator[int]:
    """The port of a server that speaks TLS with a certificate that has expired, if there is one that can."""
    if not (shutil.which("initdb") and shutil.which("postgres")):
        pytest.skip("the Postgres of the package has no TLS, and there is no other")
    folder, port = reachable / "encrypting", free_port()
    folder.mkdir()
    as_user = embedded_postgres.as_user(embedded_postgres.server_user())
    embedded_postgres.give(folder, embedded_postgres.server_user())
    subprocess.run(
        ["initdb", "-D", folder / "data", "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
        check=True,
        capture_output=True,
        cwd=folder,
        **{**as_user, "env": {**as_user["env"], "PATH": os.environ["PATH"]}},
    )
    for path in expired_certificate(folder / "data"):
        embedded_postgres.give(path, embedded_postgres.server_user())
    command = [
        "postgres",
        "-D",
        str(folder / "data"),
        "-c",
        f"port={port}",
        "-c",
        "ssl=on",
        "-c",
        "fsync=off",
    ]
    command += ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
    command += ["-c", "ssl_cert_file=own.crt", "-c", "ssl_key_file=own.key"]
    server = subprocess.Popen(
        command,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        **{**as_user, "env": {**as_user["env"], "PATH": os.environ["PATH"]}},
    )
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(psycopg.Error):
            psycopg.connect(over_network(port)).close()
            break
        time.sleep(0.1)
    yield port
    server.send_signal(signal.SIGINT)
    server.wait()


def test_the_address_decides_on_tls_and_an_expired_certificate_is_named(
    encrypting: int, reachable: Path
) -> None:
    with closing(opened(over_network(encrypting, sslmode="require"))) as database:
        assert database.read("select ssl from pg_stat_ssl where pid = pg_backend_pid()") == [(True,)]
    # It is an earlier Postgres than the package's, so all tables are made in it too.
    address = over_network(encrypting, sslmode="require")
    with closing(Catalog(PostgresPlace(address, "catalog"))) as catalog:
        assert catalog.documents() == []
    with closing(MemoryDatabase(PostgresPlace(address, "memory"))) as memories:
        memories.prepare(items.TABLES)
        memories.prepare(conversation_store.TABLES)
    trusted = str(reachable / "encrypting" / "data" / "own.crt")
    with pytest.raises(StoreError, match="not trusted or has expired") as raised:
        opened(over_network(encrypting, sslmode="verify-ca", sslrootcert=trusted))
    assert "sslrootcert" in raised.value.hint
    assert PASSWORD not in str(raised.value)


def test_a_server_without_tls_is_named_where_the_address_asks_for_it() -> None:
    text = "connection failed: server does not support SSL, but SSL was required"
    assert "did not agree on TLS" in str(as_store_error(psycopg.OperationalError(text), "host=db"))

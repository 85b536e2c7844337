"""What every store needs of its database holds in files and in a Postgres alike: transactions, order, values,
one writer at a time, versions of the tables.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from chatbot.errors import NotFoundError, StoreError
from chatbot.store.api_keys import open_api_keys
from chatbot.store.database import ClosedError as Closed
from chatbot.store.database import (
    Database,
    EarlierStoreError,
    NewerStoreError,
    PostgresPlace,
    Schema,
    open_database,
    place_of,
)
from tests.engines import place_at, settings_at

pytestmark = pytest.mark.usefixtures("engine")

TABLES = """
create table item (id integer primary key autoincrement, name text not null unique, data blob, at real,
number integer not null default 0);
create index item_of on item(number);
"""
SCHEMA = Schema(TABLES, 2)
PUT = "insert into item (name, data, at, number) values (?, ?, ?, ?)"
Open = Callable[..., Database]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the database once more, as another process would."""
    place = place_at(tmp_path / "items.sqlite3")
    with ExitStack() as opened:
        yield lambda schema=SCHEMA: opened.enter_context(closing(open_database(place, schema)))


@pytest.fixture
def database(opened: Open) -> Database:
    return opened()


def put(database: Database, *names: str) -> None:
    with database.write() as connection:
        connection.executemany(PUT, [(name, b"", 0, number) for number, name in enumerate(names)])


def names(database: Database) -> list[str]:
    return [row[0] for row in database.read("select name from item order by name")]


def test_values_come_back_as_they_went(database: Database) -> None:
    row = ("naïve 語 “%s” ?", bytes(range(256)), 1.5e9 + 0.25, 2**31 - 1)
    with database.write() as connection:
        connection.execute(PUT, row)
        connection.execute(PUT, ("yes", None, None, True))
        connection.execute(PUT, ("whole", b"", 7, False))
    rows = database.read("select name, data, at, number from item order by id")
    assert rows == [row, ("yes", None, None, 1), ("whole", b"", 7.0, 0)]
    assert [type(value) for value in rows[0]] == [str, bytes, float, int]
    assert type(rows[2][2]) is float


def test_text_sorts_by_code_points(database: Database) -> None:
    given = ["b", "B", "a", "ä", "Z", "_", " a", "語", "a b", "ab", "\U0001f600", "\uffee"]
    put(database, *given)
    assert names(database) == sorted(given)


def test_what_fails_in_a_transaction_changes_nothing(database: Database) -> None:
    put(database, "one")
    with pytest.raises(StoreError, match=r"(?i)unique"):
        put(database, "two", "one")
    with suppress(ZeroDivisionError), database.write() as connection:
        connection.execute(PUT, ("two", b"", 1 / 0, 0))
    assert names(database) == ["one"]
    put(database, "three")
    assert names(database) == ["one", "three"]


def test_a_transaction_finds_what_it_wrote_and_nobody_else_does(database: Database, opened: Open) -> None:
    other = opened()
    with database.write() as connection:
        connection.execute(PUT, ("one", b"", 0, 0))
        assert names(database) == ["one"]
        assert names(other) == []
    assert names(other) == ["one"]


def test_rows_are_counted(database: Database) -> None:
    put(database, "one", "two")
    ignoring = f"{PUT} on conflict do nothing"
    with database.write() as connection:
        rows = [(name, b"", 0, 9) for name in ("two", "three", "four")]
        assert connection.executemany(ignoring, rows).rowcount == 2
        many = [(str(number % 1_200), b"", 0, 8) for number in range(1_300)]
        assert connection.executemany(ignoring, many).rowcount == 1_200
        assert connection.executemany(ignoring, []).rowcount <= 0
        assert connection.execute("delete from item where number = 8").rowcount == 1_200
        assert connection.execute("update item set number = 5 where number = 9").rowcount == 2
        made = connection.execute(f"{PUT} returning id", ("five", b"", 0, 0)).fetchone()
        assert connection.execute("delete from item where id = ?", made).rowcount == 1
        assert connection.execute("delete from item where id = ?", made).rowcount == 0


def test_an_id_is_not_given_twice(database: Database) -> None:
    ids = []
    for _ in range(3):
        with database.write() as connection:
            ids.append(connection.execute(f"{PUT} returning id", ("one", b"", 0, 0)).fetchone()[0])
            connection.execute("delete from item")
    assert ids == sorted(set(ids))


def test_writers_take_turns(opened: Open) -> None:
    """Each reads what the one before it wrote, whichever process that was."""
    put(opened(), "one")
    several = [opened() for _ in range(3)]

    def count(database: Database) -> None:
        for _ in range(10):
            with database.write() as connection:
                ((number,),) = connection.execute("select number from item").fetchall()
                connection.execute("update item set number = ?", (number + 1,))

    threads = [threading.Thread(target=count, args=(one,)) for one in several for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert several[0].read("select number from item") == [(60,)]


def test_many_open_it_at_once_and_make_the_tables_once(opened: Open) -> None:
    failed: list[Exception] = []

    def open_it() -> None:
        try:
            put(opened(), threading.current_thread().name)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it, name=f"n{number}") for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert names(opened()) == [f"n{number}" for number in range(6)]


def test_a_closed_one_says_so(database: Database) -> None:
    database.close()
    database.close()
    with pytest.raises(Closed):
        database.read("select 1")
    with pytest.raises(Closed), database.write():
        pass


def test_versions_of_the_tables(opened: Open) -> None:
    put(opened(), "one")
    with pytest.raises(EarlierStoreError, match="has version 2, but this program needs 3") as raised:
        opened(Schema(TABLES, 3))
    assert "Export it with the version that made it" in raised.value.hint
    with pytest.raises(NewerStoreError, match="has version 2, but this program supports 1"):
        opened(Schema(TABLES, 1))
    assert names(opened()) == ["one"]


def test_it_tells_its_size_and_what_is_wrong_with_it(database: Database) -> None:
    put(database, *map(str, range(100)))
    assert database.used_bytes() > 8_000
    assert database.free_bytes() > 2**20
    assert database.complaints() == []
    assert database.compact()
    database.shorten_log()
    assert not database.read_only


def test_keys_of_the_api_are_kept(tmp_path: Path) -> None:
    settings = settings_at(tmp_path)
    keys = open_api_keys(settings)
    text, key = keys.create("open-webui", "ask", days=1)
    assert keys.find(text).name == "open-webui"
    again = open_api_keys(settings)
    (listed,) = again.listed()
    assert listed.used_at is not None
    assert again.revoke(key.id).id == key.id
    with pytest.raises(NotFoundError):
        keys.find(text)
    second = keys.create("another", "read")[1]
    assert second.id > key.id
    again.close()
    keys.close()


def test_an_address_chooses_the_place(tmp_path: Path, engine: str) -> None:
    place = place_of(settings_at(tmp_path), "catalog")
    assert isinstance(place, PostgresPlace if engine == "postgres" else Path)
    assert "dbname" not in repr(place)


@pytest.mark.timed
@pytest.mark.parametrize(
    "foreign",
    [
        "create trigger other after insert on note begin delete from note; end",
        "create view other as select 1",
        "create view other as with recursive c(x) as (select 1 union all select x from c) select x from c",
    ],
)
def test_what_another_program_has_made_in_a_file_is_not_used(tmp_path: Path, foreign: str) -> None:
    schema = Schema("create table note (at integer);\n", 2)
    path = tmp_path / "store.sqlite3"
    for _ in range(2):
        open_database(path, schema).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(foreign)
    with pytest.raises(StoreError, match="another program has put 'other' into it"):
        open_database(path, schema)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma user_version = 3")
    with pytest.raises(NewerStoreError):
        open_database(path, schema)


def test_a_version_that_no_program_gives_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    open_database(path, Schema(TABLES, 2)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = -5")
    connection.close()
    with pytest.raises(StoreError, match="it says that it has version -5"):
        open_database(path, Schema(TABLES, 2))

"""The catalogue's connections: as many as threads that live, none for those that ended, none closed while
it is used. And the indexes by which documents are listed.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chatbot.errors import StoreError
from chatbot.store.catalog import Catalog
from chatbot.store.database import Schema
from chatbot.store.sqlite_file import SqliteFile

INDEXES = "select name from sqlite_master where sql like 'create index page%' order by name"
ONE = Schema("create table one (n integer);\n", 1)
COUNTING = (
    "with recursive counted(n) as (select 1 union all select n + 1 from counted where n < 2000000) select "
    "count(*) from counted"
)


def open_files(path: Path) -> int:
    return sum(
        os.path.realpath(f"/proc/self/fd/{number}").startswith(str(path))
        for number in os.listdir("/proc/self/fd")
    )


def test_a_thread_that_ends_leaves_no_file_open(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "catalog.sqlite3")
    catalog.documents()
    before = open_files(tmp_path)
    for _ in range(20):
        thread = threading.Thread(target=catalog.documents)
        thread.start()
        thread.join()
    assert open_files(tmp_path) <= before + 2
    catalog.close()
    assert open_files(tmp_path) == 0


def test_what_is_being_read_is_read_to_its_end_before_the_file_is_closed(tmp_path: Path) -> None:
    database = SqliteFile(tmp_path / "some.sqlite3", ONE)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(database.read, COUNTING)
        time.sleep(0.1)
        assert not reading.done()
        database.close()
        assert reading.result() == [(2_000_000,)]
        with pytest.raises(StoreError, match="is closed"):
            pool.submit(database.read, COUNTING).result()


def test_a_transaction_ends_before_the_file_is_closed(tmp_path: Path) -> None:
    database = SqliteFile(tmp_path / "some.sqlite3", ONE)
    begun = threading.Event()

    def write() -> None:
        with database.write() as connection:
            begun.set()
            time.sleep(0.1)
            connection.execute("insert into one values (1)")

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        begun.wait()
        database.close()
        writing.result()
    again = SqliteFile(tmp_path / "some.sqlite3", ONE)
    assert again.read("select n from one") == [(1,)]
    again.close()


def test_listing_documents_reads_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog(tmp_path / "catalog.sqlite3")
    asked = list[str]()
    read = catalog.read

    def noted(statement: str, *arguments: Any) -> list[Any]:
        asked.append(statement)
        return read(statement, *arguments)

    monkeypatch.setattr(catalog, "read", noted)
    catalog.documents()
    plan = " ".join(row[3] for row in read(f"explain query plan {asked[0]}"))
    assert "page_read_by_ocr" in plan
    assert "page_with_problem" in plan
    assert "SEARCH page USING PRIMARY KEY" not in plan
    catalog.close()

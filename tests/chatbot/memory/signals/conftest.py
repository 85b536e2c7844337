"""A database of its own for each test of signals that asks, in the session's Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.chatbot.memory.signals.postgres import OPENED
from tests.embedded_postgres import EmbeddedServer

NUMBERS = count(1)


@pytest.fixture(autouse=True)
def closed_after_each_test() -> Iterator[None]:
    """No test leaves a connection open."""
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture(params=["file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where news is kept, for what holds in both engines; see `store`."""
    if request.param == "file":
        return str(tmp_path / "memory.sqlite3")
    address: str = request.getfixturevalue("database")
    return address


@pytest.fixture
def database(server: EmbeddedServer) -> Iterator[str]:
    """The address of an empty database."""
    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    yield server.address().replace("dbname=postgres", f"dbname={name}")
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

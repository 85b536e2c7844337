"""Makes and checks the tables of the signal store; its migrations can be run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString

from chatbot.memory.signals.postgres import Connection
from chatbot.memory.signals.records import SignalsError
from chatbot.settings import PROGRAM

__all__ = [
    "VERSION",
    "StoreState",
    "check_tables",
    "embedder_differs",
    "migrate",
    "nothing_imported",
    "store_state",
    "take_turn",
    "use_embedder",
]

MIGRATIONS = tuple(sorted((Path(__file__).parent / "migrations").glob("*.sql")))
VERSION = len(MIGRATIONS)
# Two imports at once must not both make the tables, nor each wait for rows of the other; any number does that
# is nobody else's.
LOCK = 7_105_662
# What pgvector's index takes of each type.
MOST_DIMENSIONS, MOST_HALF_DIMENSIONS = 2_000, 4_000
VECTORS_HINT = f"Create them again, with the extension if your user may: {PROGRAM} memory signals reembed"
UPDATE_HINT = f"Import news to update it: {PROGRAM} memory signals import FILE"


@dataclass(frozen=True, slots=True)
class StoreState:
    """What the database says of itself. version: 0 for no tables. embedder, dimension: of the vectors, "" and
    0 before the first import. vectors: whether there is a place for them, which goes with the extension."""

    version: int = 0
    embedder: str = ""
    dimension: int = 0
    vectors: bool = True


def store_state(connection: Connection) -> StoreState:
    """Its version and embedder; version 0 where there is no store."""
    if connection.execute("SELECT to_regclass('signal_store')").fetchone() == (None,):
        return StoreState()
    row = connection.execute(
        """SELECT version, embedder, dimension, EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = to_regclass('news_events') AND attname = 'embedding'
            AND NOT attisdropped
        ) FROM signal_store"""
    ).fetchone()
    return StoreState(*row or ())


def nothing_imported() -> SignalsError:
    """What a store is that holds no news yet."""
    hint = f"Import some: {PROGRAM} memory signals import FILE"
    return SignalsError("No news has been imported.", kind="off", hint=hint)


def check_tables(state: StoreState, *, vectors: bool = False) -> None:
    """Raises SignalsError where the tables are not there ("off"), older ("schema") or newer ("newer-schema")
    than this program's.

    vectors: also where nothing can be compared ("no-vector"), for the extension was dropped with all vectors.
    """
    if state.version == 0:
        raise nothing_imported()
    if state.version < VERSION:
        raise SignalsError(
            f"The signal tables have version {state.version}, older than {VERSION}.",
            kind="schema",
            hint=UPDATE_HINT,
        )
    if state.version > VERSION:
        message = f"The signal tables have version {state.version}, newer than {VERSION}."
        raise SignalsError(
            message, kind="newer-schema", hint="Use the version of the chatbot that made them."
        )

    if vectors and not state.vectors:
        raise SignalsError(
            "The vectors of the signals are gone: the extension pgvector was dropped.",
            kind="no-vector",
            hint=VECTORS_HINT,
        )


def embedder_differs(state: StoreState, fingerprint: str) -> bool:
    """Whether vectors of that embedder must not be compared with those in the store."""
    return bool(state.embedder) and state.embedder != fingerprint


def take_turn(connection: Connection) -> None:
    """Let one transaction at a time write; those that only read wait for nobody."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def migrate(
    connection: Connection, fingerprint: str, dimension: int, *, migrations: Sequence[Path] = MIGRATIONS
) -> StoreState:
    """Make or update the tables, in the caller's transaction; nothing changes where they are up to date.

    The vectors' dimension is the embedder's where the store has none yet; a store of another embedder keeps
    its own. Raises SignalsError for a newer store.
    """
    take_turn(connection)
    state = store_state(connection)
    if state.version > VERSION:
        check_tables(state)
    if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    size = state.dimension or dimension
    kind, norm = _type(size)
    for path in migrations:
        filled = path.read_text("utf-8").format(
            vector=f"{kind}({size})", argument=kind, norm=norm, operators=f"{kind}_cosine_ops"
        )
        connection.execute(filled.encode())
    connection.execute(
        (
            "UPDATE signal_store SET version = %s, dimension = %s, embedder = CASE embedder WHEN '' THEN %s "
            "ELSE embedder END"
        ),
        [len(migrations), size, fingerprint],
    )
    return store_state(connection)


def use_embedder(connection: Connection, fingerprint: str, dimension: int) -> None:
    """Drop all vectors, of another embedder, and take this one's from now on; every event waits for its
    new vector.
    """
    state = store_state(connection)
    check_tables(state)
    for kind in {_type(state.dimension)[0], _type(dimension)[0]}:
        for name in ("nearest_signals", "search_memory_events"):
            connection.execute(
                f"DROP FUNCTION IF EXISTS {name}({kind}, double precision, integer, double precision, "
                f"integer, text[], timestamptz)"
            )
    connection.execute("ALTER TABLE news_events DROP COLUMN embedding")
    connection.execute("UPDATE news_events SET found_by = 'pending' WHERE found_by <> 'nothing'")
    connection.execute("UPDATE signal_store SET embedder = %s, dimension = %s", [fingerprint, dimension])
    migrate(connection, fingerprint, dimension)


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

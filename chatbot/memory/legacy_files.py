"""Imports the files of earlier versions, each once: copied in one transaction, then the file is renamed."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from chatbot.errors import StoreError
from chatbot.memory import user_settings_store
from chatbot.memory.cases import case_file as cases
from chatbot.memory.cases.case_file import own_case
from chatbot.memory.cases.case_import import cut_lines
from chatbot.memory.cases.case_store import SHARED
from chatbot.memory.cases.records import Case, read_case
from chatbot.memory.conversations import conversation_store as conversations
from chatbot.memory.memory_database import BUSY_SECONDS, EARLIER, MemoryDatabase, set_aside
from chatbot.memory.signals import state as signals
from chatbot.memory.situations import situation_types as situations
from chatbot.models.embedders import Embedder
from chatbot.store.damage import json_in
from chatbot.store.database import Transaction
from chatbot.store.disk_reserve import is_full

__all__ = ["take_over", "take_over_conversations"]

log = logging.getLogger(__name__)


CASES, STATE = "cases", "signals/state.json"
# What enters the key that a question's vector was kept under, and the bytes of that key.
VECTOR_KEY, KEY_BYTES = b"1\0", 16
# Of each file below the store what makes the tables that its rows go into, and the names of those tables,
# what others refer to first.
FILES = {
    "conversations.sqlite3": (
        conversations.TABLES,
        ("conversation", "exchange", "detail", "source", "summary"),
    ),
    "situations/situations.sqlite3": (situations.TABLES, ("situation", "advice")),
    "preferences.sqlite3": (user_settings_store.TABLES, ("preference",)),
}
# What stands for a column that the first version did not have and that may not be empty.
INSTEAD = {"changed_at": "coalesce((select max(at) from exchange where conversation = id), begun_at)"}


def take_over(database: MemoryDatabase, store: Path, embedder: Embedder) -> Path | None:
    """Import everything that is found in the store's folder; of vectors, those of this embedder.

    Returns where a damaged file was set aside, None if all could be read. Existing data is not overwritten,
    so an interrupted import can be repeated; on a full disk it waits for room. Raises StoreError.
    """
    damaged = [_taken(database, store, name) for name in FILES]
    # Made from the situations' file, in an index that is not used any more.
    shutil.rmtree(store / "situations" / "index", ignore_errors=True)
    with _waiting_for_room(store, STATE):
        _take_state(database, store / STATE)
    with _waiting_for_room(store, CASES):
        _take_cases(database, store / CASES, embedder)
    return next(filter(None, damaged), None)


def take_over_conversations(database: MemoryDatabase, store: Path) -> None:
    """Like take_over, for conversations alone."""
    _taken(database, store, next(iter(FILES)))


def _taken(database: MemoryDatabase, store: Path, name: str) -> Path | None:
    path, (tables, rows) = store / name, FILES[name]
    if not path.exists():
        return None
    database.prepare(tables)
    damage: str | None = None
    with _waiting_for_room(store, name):
        damage = _copy_rows(database, path, rows)
    if damage:
        log.warning("%s could not be read completely: %s", name, damage)
        return _renamed(path, f"damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    if damage is not None:
        _renamed(path, EARLIER)
    return None


@contextmanager
def _waiting_for_room(store: Path, name: str) -> Iterator[None]:
    """If the disk has no room for the work inside, leave the files for the next start."""
    try:
        yield
    except StoreError as error:
        if not is_full(store):
            raise
        log.warning("%s has not been imported yet: %s", name, error.message)


def _copy_rows(database: MemoryDatabase, path: Path, names: tuple[str, ...]) -> str:
    """Copy what can be read; returns what could not, "" if all could."""
    damage = ""
    with (
        closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS)
        ) as earlier,
        database.write() as connection,
    ):
        earlier.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for name in names:
            try:
                _copy_table(earlier, connection, name)
            except sqlite3.DatabaseError as error:
                if "malformed" not in str(error) and "not a database" not in str(error):
                    raise
                damage = str(error)
    return damage


def _copy_table(earlier: sqlite3.Connection, connection: Transaction, name: str) -> None:
    old_columns = {row[1] for row in earlier.execute(f"pragma table_info({name})")}
    new_columns = [row[1] for row in connection.execute(f"pragma table_info({name})")]
    columns = [column for column in new_columns if column in old_columns or column in INSTEAD]
    if not old_columns or not columns:
        return
    values = ", ".join(column if column in old_columns else INSTEAD[column] for column in columns)
    marks = ", ".join("?" * len(columns))
    statement = f"insert or ignore into {name} ({', '.join(columns)}) values ({marks})"
    for row in earlier.execute(f"select {values} from {name}"):
        with suppress(sqlite3.IntegrityError):  # of a conversation that could not be read
            connection.execute(statement, row)


# --- rated answers
# ------------------------------------------------------------------------------------------------------------


def _take_cases(database: MemoryDatabase, folder: Path, embedder: Embedder) -> None:
    """Import a file of JSON lines for each shelf, with the vectors beside it.

    The newest line of a question comes last.
    """
    if not folder.is_dir():
        return
    database.prepare(cases.TABLES)
    with database.write() as connection:
        for path in sorted(folder.glob("*.jsonl")):
            _take_shelf(connection, path, embedder)
    _renamed(folder, EARLIER)


def _take_shelf(connection: Transaction, path: Path, embedder: Embedder) -> None:
    found: dict[str, tuple[Case, bytes]] = {}
    with path.open("rb") as file:
        for place, line in enumerate(cut_lines(file)):
            if line.strip():
                try:
                    case = own_case(read_case(line, place), shared=path.stem == SHARED)
                except ValueError as error:
                    log.warning("Line %d of %s was not imported: %s", place + 1, path.name, error)
                    continue
                found.pop(case.id, None)
                found[case.id] = (case, line.rstrip(b"\r\n") + b"\n")
    vectors = _vectors(path, embedder)
    for case, line in found.values():
        vector = vectors.get(
            hashlib.sha256(VECTOR_KEY + case.question.encode("utf-8", "replace")).digest()[:KEY_BYTES]
        )
        connection.execute(
            (
                "insert or ignore into rated_answer (shelf, id, line, fingerprint, vector) values (?, ?, ?, "
                "?, ?)"
            ),
            (path.stem, case.id, line, embedder.fingerprint if vector else None, vector),
        )


def _vectors(path: Path, embedder: Embedder) -> dict[bytes, bytes]:
    """The float32 bytes of this embedder's vectors, by their keys; of a truncated file, the complete ones."""
    named = hashlib.sha256(embedder.fingerprint.encode()).hexdigest()[:12]
    size = KEY_BYTES + 4 * embedder.dimension
    try:
        data = path.with_name(f"{path.stem}-{named}.vectors").read_bytes()
    except FileNotFoundError:
        return {}
    vectors = {}
    for start in range(0, len(data) - size + 1, size):
        key = data[start : start + KEY_BYTES]
        vectors[key] = data[start + KEY_BYTES : start + size]
    return vectors


# --- signals
# ------------------------------------------------------------------------------------------------------------


def _take_state(database: MemoryDatabase, path: Path) -> None:
    """Import whether signals are in use; unreadable means that nothing was imported."""
    try:
        fields: Any = json_in(path.read_text("utf-8"))
        known = {name: bool(fields[name]) for name in ("imported", "on")}
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("%s cannot be read: %s", path.name, error)
        known = {}
    database.prepare(signals.TABLES)
    database.change_each("insert or ignore into signal_state values (?, ?)", known.items())
    _renamed(path, EARLIER)


def _renamed(path: Path, why: str) -> Path:
    try:
        aside = set_aside(path, why)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StoreError(
            f"{path.name} was imported but cannot be renamed: {error.strerror}.",
            hint="Set FINPOLICY_HOME to a folder you can write to.",
        ) from error
    return aside

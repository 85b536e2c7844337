"""The truth in SQLite: documents, versions, pages, chunks, vectors and lexicons; the indexes beside it can be made anew from it."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakSet

from chatbot.errors import StoreError
from chatbot.records import DocumentRow
from ingestion.records import Chunk, Page, PageReport, Rect, Word

__all__ = ["Catalog", "StoredChunk", "StoredPage", "Version"]

SCHEMA_VERSION = 1
# Seconds a reader waits for the writer's transaction; the longest one, 2,000 pages, takes 1.
BUSY_SECONDS = 20
SCHEMA = """
create table meta (key text primary key, value text not null) without rowid;
create table document (id integer primary key, name text not null unique, active_version integer, removed_at real);
create table version (id integer primary key autoincrement, document integer not null references document(id), sha256 text not null, state text not null
    check (state in ('reading', 'keyword', 'embedding', 'ready', 'retired')), title text, pages integer not null default 0, chunks integer not null default 0,
    embedded_upto integer not null default 0, fingerprint text, added_at real not null);
create index version_document on version(document);
create index version_sha on version(sha256);
create table page (version integer not null references version(id), number integer not null, text text not null, label text, label_source text, method text not null,
    confidence real, words blob, problem text, running text not null, contents integer not null, primary key (version, number)) without rowid;
create table chunk (version integer not null references version(id), ordinal integer not null, page integer not null, start integer not null, end integer not null,
    context text not null, primary key (version, ordinal)) without rowid;
create table vector (version integer not null references version(id), fingerprint text not null, ordinal integer not null, data blob not null,
    primary key (version, fingerprint, ordinal)) without rowid;
create table lexicon (version integer primary key references version(id), data blob not null);
"""


@dataclass(frozen=True, slots=True)
class Version:
    """A stored version. state: reading | keyword | embedding | ready | retired; embedded_upto: chunks whose vectors stand."""

    id: int
    document: str
    sha256: str
    state: str
    title: str | None
    chunks: int
    embedded_upto: int
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as kept. running: offsets of running heads and feet. words: boxes of OCR words only."""

    number: int
    text: str
    label: str | None
    label_source: str | None
    method: str
    confidence: float | None
    running: tuple[tuple[int, int], ...]
    words: tuple[Word, ...] = ()

    @property
    def body(self) -> str:
        """The text without running heads and feet."""
        cuts = [0, *(offset for span in self.running for offset in span), len(self.text)]
        return "".join(self.text[start:end] for start, end in zip(cuts[::2], cuts[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as kept; text is page.text[start:end]."""

    version: int
    ordinal: int
    page: int
    start: int
    end: int
    text: str
    context: str


class _Held:
    """A thread's connection, closed when the thread ends: the browser's pages run in a new one each time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class Catalog:
    """The catalogue in one SQLite file. Reads from any thread; writes one at a time, each public method one transaction."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError where the file is damaged, cannot be written or comes from a newer version."""
        self._path = path
        self._local = threading.local()
        self._held: WeakSet[_Held] = WeakSet()
        self._write_lock = threading.RLock()
        self._prepare()

    def close(self) -> None:
        """Close every connection; the object is not usable afterwards."""
        for held in list(self._held):
            held.connection.close()
        self._held.clear()

    # --- documents and versions -----------------------------------------------------------------------------------------

    def active(self, names: Sequence[str] = ()) -> dict[int, str]:
        """version id -> document name, of all live documents or of those in `names`."""
        rows = self._read("select active_version, name from document where removed_at is null and active_version is not null order by id")
        wanted = set(names)
        return {row[0]: row[1] for row in rows if not wanted or row[1] in wanted}

    def version(self, version: int) -> Version | None:
        """One version, whatever its state."""
        return next(iter(self._versions("v.id = ?", (version,))), None)

    def find(self, name: str) -> Version | None:
        """The live version of the document `name`."""
        return next(iter(self._versions("d.name = ? and d.removed_at is null and v.id = d.active_version", (name,))), None)

    def newest(self, name: str) -> Version | None:
        """The version that the document `name` has, or will have when its vectors are made."""
        return next(
            reversed(self._versions("d.name = ? and d.removed_at is null and v.id >= d.active_version and v.state != 'reading'", (name,))), None
        )

    def chunk_counts(self) -> dict[int, int]:
        """version id -> how many chunks it has, of all versions whose words are to be found."""
        return {row[0]: row[1] for row in self._read("select id, chunks from version where state not in ('reading', 'retired')")}

    def unfinished(self, fingerprint: str) -> list[Version]:
        """Versions that still need vectors of `fingerprint`, oldest first."""
        condition = (
            "d.removed_at is null and v.id >= d.active_version and v.state in ('keyword', 'embedding', 'ready')"
            " and (v.state != 'ready' or coalesce(v.fingerprint, '') != ?)"
        )
        return self._versions(condition, (fingerprint,))

    def left_over(self, removed_before: float) -> list[int]:
        """Version ids that nothing needs any more: half-read, retired, or of documents removed before that time (seconds since the epoch)."""
        rows = self._read(
            "select v.id from version v join document d on d.id = v.document where v.state in ('reading', 'retired') or d.removed_at < ?",
            (removed_before,),
        )
        return [row[0] for row in rows]

    def window_counts(self, fingerprint: str, dimension: int) -> dict[int, int]:
        """version id -> how many vectors of `fingerprint` it has."""
        rows = self._read("select version, sum(length(data)) / ? from vector where fingerprint = ? group by version", (4 * dimension, fingerprint))
        return {row[0]: row[1] for row in rows}

    def hashes(self, versions: Sequence[int] | None = None) -> set[str]:
        """SHA-256 of the files of these versions, of all there are by default."""
        return {sha for version, sha in self._read("select id, sha256 from version") if versions is None or version in versions}

    def begin(self, name: str, sha256: str, title: str | None) -> int:
        """A new version in state "reading" of the document `name`, which is made if need be. Returns the version's id."""
        with self._write() as connection:
            connection.execute("insert into document(name) values (?) on conflict(name) do nothing", (name,))
            document = connection.execute("select id from document where name = ?", (name,)).fetchone()[0]
            made = connection.execute(
                "insert into version(document, sha256, state, title, added_at) values (?, ?, 'reading', ?, ?)", (document, sha256, title, time.time())
            )
            return int(made.lastrowid or 0)

    def fill(self, version: int, pages: Sequence[Page], chunks: Sequence[Chunk], lexicon: bytes) -> None:
        """Pages, chunks and lexicon of a version, all or nothing."""
        with self._write() as connection:
            connection.executemany(
                "insert into page values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        version,
                        p.number,
                        p.text,
                        p.label,
                        p.label_source,
                        p.method,
                        p.confidence,
                        _pack(p.words),
                        p.problem,
                        json.dumps(p.running),
                        p.contents,
                    )
                    for p in pages
                ),
            )
            connection.executemany(
                "insert into chunk values (?, ?, ?, ?, ?, ?)", ((version, c.ordinal, c.page, c.start, c.end, c.context) for c in chunks)
            )
            connection.execute("insert into lexicon values (?, ?)", (version, lexicon))
            connection.execute("update version set pages = ?, chunks = ? where id = ?", (len(pages), len(chunks), version))

    def searchable(self, version: int) -> None:
        """The version's words are indexed: it goes live unless an older version is, which then serves until this one is ready."""
        with self._write() as connection:
            connection.execute("update version set state = 'keyword' where id = ?", (version,))
            connection.execute(
                "update document set active_version = ?, removed_at = null where id = (select document from version where id = ?)"
                " and (active_version is null or removed_at is not null)",
                (version, version),
            )

    def add_vectors(self, version: int, fingerprint: str, rows: Iterable[tuple[int, bytes]], upto: int) -> None:
        """Vectors as (ordinal, float32 bytes of its windows), and how far embedding has come."""
        with self._write() as connection:
            connection.executemany("insert or replace into vector values (?, ?, ?, ?)", ((version, fingerprint, *row) for row in rows))
            connection.execute(
                "update version set state = 'embedding', fingerprint = ?, embedded_upto = ? where id = ?", (fingerprint, upto, version)
            )

    def ready(self, version: int, fingerprint: str) -> None:
        """Make the version live and retire the one before, in one step; vectors of other fingerprints go."""
        with self._write() as connection:
            connection.execute("update version set state = 'ready', fingerprint = ? where id = ?", (fingerprint, version))
            connection.execute("delete from vector where version = ? and fingerprint != ?", (version, fingerprint))
            document = connection.execute("select document from version where id = ?", (version,)).fetchone()[0]
            connection.execute("update version set state = 'retired' where document = ? and id < ?", (document, version))
            connection.execute("update document set active_version = ? where id = ?", (version, document))

    def retire(self, name: str) -> bool:
        """Give a document up beyond restoring, in one step; what it leaves is erased after. False where there is no such document."""
        with self._write() as connection:
            connection.execute("update document set active_version = null, removed_at = null where name = ?", (name,))
            of_it = "document = (select id from document where name = ?)"
            return connection.execute(f"update version set state = 'retired' where {of_it}", (name,)).rowcount > 0

    def restart_vectors(self, version: int) -> None:
        """Embedding of this version begins anew, for another fingerprint."""
        with self._write() as connection:
            connection.execute("update version set embedded_upto = 0, fingerprint = null, state = 'keyword' where id = ?", (version,))

    def remove(self, name: str, at: float | None) -> bool:
        """Hide the document from `at` (seconds since the epoch), or with None bring it back. False where there is no such document."""
        condition = "removed_at is null and active_version is not null" if at is not None else "removed_at is not null"
        with self._write() as connection:
            return connection.execute(f"update document set removed_at = ? where name = ? and {condition}", (at, name)).rowcount > 0

    def erase(self, versions: Sequence[int]) -> None:
        """Delete versions with all that belongs to them, and documents left without any."""
        with self._write() as connection:
            for version in versions:
                for table, column in (("vector", "version"), ("lexicon", "version"), ("chunk", "version"), ("page", "version"), ("version", "id")):
                    connection.execute(f"delete from {table} where {column} = ?", (version,))
            # Where the addition that revived a removed document is taken back, the document is removed again, and can be restored.
            connection.execute(
                "update document set removed_at = ?, active_version = (select max(id) from version where document = document.id"
                " and state in ('keyword', 'embedding', 'ready')) where active_version not in (select id from version)",
                (time.time(),),
            )
            connection.execute("delete from document where id not in (select document from version)")

    def documents(self) -> list[DocumentRow]:
        """All documents in the order they were added, removed ones among them."""
        rows = self._read(
            """select d.name, v.sha256, v.title, v.state, v.pages, v.chunks, v.embedded_upto, v.added_at, d.removed_at,
                      (select count(*) from page where version = v.id and method = 'ocr'), (select count(*) from page where version = v.id and problem is not null)
               from document d join version v on v.id = d.active_version order by d.id"""
        )
        return [
            DocumentRow(row[0], row[1][:16], row[2], "removed" if row[8] else row[3], row[4], row[5], row[6], row[9], row[10], row[7], row[8])
            for row in rows
        ]

    # --- pages, chunks, vectors ---------------------------------------------------------------------------------------------

    def page(self, version: int, number: int) -> StoredPage:
        """One page with its OCR words. Raises KeyError where there is none."""
        found = self._read("select words from page where version = ? and number = ?", (version, number))
        if not found:
            raise KeyError((version, number))
        return replace(self.pages(version, [number])[number], words=_unpack(found[0][0]))

    def pages(self, version: int, numbers: Sequence[int]) -> dict[int, StoredPage]:
        """Some pages of a version by number, without words."""
        marks = ",".join("?" * len(numbers))
        rows = self._read(
            f"select number, text, label, label_source, method, confidence, running from page where version = ? and number in ({marks})",
            (version, *numbers),
        )
        return {r[0]: StoredPage(r[0], r[1], r[2], r[3], r[4], r[5], tuple(map(tuple, json.loads(r[6])))) for r in rows}

    def report(self, version: int) -> list[PageReport]:
        """How each page of a version fared."""
        rows = self._read(
            "select number, label, label_source, method, length(text), confidence, problem from page where version = ? order by number", (version,)
        )
        return [PageReport(*row) for row in rows]

    def chunks(self, version: int, *, start: int = 0, limit: int = -1) -> list[StoredChunk]:
        """Chunks of a version by ordinal, from `start`, at most `limit`."""
        return self._chunks("c.version = ? and c.ordinal >= ? order by c.ordinal limit ?", (version, start, limit))

    def chunk(self, version: int, ordinal: int) -> StoredChunk:
        """One chunk. Raises IndexError where there is none."""
        return self._chunks("c.version = ? and c.ordinal = ?", (version, ordinal))[0]

    def chunk_pages(self, version: int) -> list[int]:
        """The page of each chunk, by ordinal."""
        return [row[0] for row in self._read("select page from chunk where version = ? order by ordinal", (version,))]

    def contents_pages(self, version: int) -> list[int]:
        """Numbers of the pages of contents."""
        return [row[0] for row in self._read("select number from page where version = ? and contents", (version,))]

    def vectors(self, version: int, fingerprint: str, *, start: int = 0) -> list[tuple[int, bytes]]:
        """(ordinal, float32 bytes of its windows) by ordinal, from `start`."""
        rows = self._read(
            "select ordinal, data from vector where version = ? and fingerprint = ? and ordinal >= ? order by ordinal", (version, fingerprint, start)
        )
        return [(row[0], row[1]) for row in rows]

    def lexicon(self, version: int) -> bytes:
        """The version's lexicon as packed. Raises KeyError where there is none."""
        for row in self._read("select data from lexicon where version = ?", (version,)):
            return bytes(row[0])
        raise KeyError(version)

    def meta(self, key: str) -> str | None:
        """A remembered value of the store itself."""
        return next((row[0] for row in self._read("select value from meta where key = ?", (key,))), None)

    def compact(self) -> None:
        """Write the log back into the file, so that what was erased stands in neither."""
        self._read("pragma wal_checkpoint(truncate)")

    def set_meta(self, key: str, value: str) -> None:
        """Remember a value of the store itself."""
        with self._write() as connection:
            connection.execute("insert or replace into meta values (?, ?)", (key, value))

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _versions(self, condition: str, arguments: Sequence[Any]) -> list[Version]:
        rows = self._read(
            "select v.id, d.name, v.sha256, v.state, v.title, v.chunks, v.embedded_upto, v.fingerprint from version v"
            f" join document d on d.id = v.document where {condition} order by v.id",
            arguments,
        )
        return [Version(*row) for row in rows]

    def _chunks(self, condition: str, arguments: Sequence[Any]) -> list[StoredChunk]:
        rows = self._read(
            "select c.version, c.ordinal, c.page, c.start, c.end, substr(p.text, c.start + 1, c.end - c.start), c.context"
            f" from chunk c join page p on p.version = c.version and p.number = c.page where {condition}",
            arguments,
        )
        return [StoredChunk(*row) for row in rows]

    def _prepare(self) -> None:
        with self._write() as connection:
            (found,) = connection.execute("pragma user_version").fetchone()
            if found > SCHEMA_VERSION:
                raise StoreError(f"The store is of version {found}, this program knows {SCHEMA_VERSION}.", hint="Update the program.")
            if found == 0:
                for statement in SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {SCHEMA_VERSION}")

    def _connection(self) -> sqlite3.Connection:
        held: _Held | None = getattr(self._local, "held", None)
        if held is None:
            connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            connection.executescript("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on;")
            held = self._local.held = _Held(connection)
            self._held.add(held)
        return held.connection

    def _read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection().execute(statement, arguments).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock:
            try:
                connection = self._connection()
                connection.execute("begin immediate")
                try:
                    yield connection
                except BaseException:
                    with suppress(sqlite3.Error):  # a full disk has rolled back already
                        connection.execute("rollback")
                    raise
                connection.execute("commit")
            except sqlite3.DatabaseError as error:
                raise self._unusable(error) from error

    def _unusable(self, error: sqlite3.Error) -> StoreError:
        """What an SQLite error means for the user."""
        text = str(error)
        if "full" in text:
            return StoreError("The disk is full.", hint="Free some space and try again; nothing stored is lost.", retryable=True)
        if "readonly" in text or "unable to open" in text:
            return StoreError(f"The catalogue cannot be written: {text}.", hint="Set FINPOLICY_HOME to a folder you may write.")
        hint = f"Move {self._path.parent} away and add the documents again; their copies stand in the documents folder."
        return StoreError(f"The catalogue {self._path.name} is damaged: {text}.", hint=hint)


def _pack(words: Sequence[Word]) -> bytes | None:
    if not words:
        return None
    return zlib.compress(json.dumps([(w.text, w.box.x0, w.box.y0, w.box.x1, w.box.y1, w.confidence) for w in words]).encode())


def _unpack(data: bytes | None) -> tuple[Word, ...]:
    rows: list[list[Any]] = json.loads(zlib.decompress(data)) if data else []
    return tuple(Word(text, Rect(*box), confidence) for text, *box, confidence in rows)

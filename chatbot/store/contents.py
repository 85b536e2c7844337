"""Stores what versions consist of: pages, tables, chunks, vectors and term counts."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from chatbot.errors import StoreError
from chatbot.records import PageReport
from chatbot.store.damage import as_damage
from chatbot.store.database import Stored, Transaction
from chatbot.store.jobs import WAITING_FILES, end_stored
from chatbot.store.seals import LEXICON, seal, seal_vectors
from ingestion.document import READER_VERSION, DocumentReading
from ingestion.invisible_characters import label_line
from ingestion.reading.wire import page_from, page_to, tables_from, tables_to, words_from, words_to
from ingestion.records import Chunk, Line, Page, Table, Word

__all__ = [
    "CONTENTS_SCHEMA",
    "FORGET_DRAFTS",
    "LACKS",
    "LANGUAGES",
    "READ_BY_OCR",
    "WITH_PROBLEM",
    "Contents",
    "StoredChunk",
    "StoredPage",
    "chunk_key",
]

# Chunks named in one statement.
CHUNKS_AT_ONCE = 1_000
READ_BY_OCR = "method in ('ocr', 'text+ocr')"
WITH_PROBLEM = "problem is not null"
# chunk_key: the chunks by what is embedded of them. incomplete: versions not yet fully read, and what each
# still lacks, see Reading. read_by: the reader that has read a version, and the languages of its
# images. remark: what is in the files and not
# in the texts of their pages; of pages with none there is no row.
# The indexes are for pages that are counted whenever documents are listed: without them, all pages are read.
CONTENTS_SCHEMA = f"""
create table page (version integer not null references version(id), number integer not null,
text text not null, label text, label_source text, method text not null,
    confidence real, words blob, tables blob, problem text, running text not null, kinds text not null,
    instructions text not null,
    primary key (version, number)) without rowid;
create table chunk (version integer not null references version(id), ordinal integer not null,
page integer not null, start integer not null, "end" integer not null,
    context text not null, primary key (version, ordinal)) without rowid;
create table vector (version integer not null references version(id), fingerprint text not null,
ordinal integer not null, data blob not null,
    primary key (version, fingerprint, ordinal)) without rowid;
create table lexicon (version integer primary key references version(id), data blob not null);
create table draft (sha256 text not null, number integer not null, languages text not null,
data blob not null,
    primary key (sha256, number, languages)) without rowid;
create table chunk_key (key blob not null, version integer not null references version(id),
ordinal integer not null,
    primary key (key, version, ordinal)) without rowid;
create index chunk_key_version on chunk_key(version, ordinal);
create table incomplete (version integer primary key references version(id), lacks text not null,
to_come integer not null);
create table read_by (version integer primary key references version(id), reader integer not null,
languages text not null);
create table remark (version integer not null references version(id), number integer not null,
remarks text not null,
    primary key (version, number)) without rowid;
create index page_read_by_ocr on page(version, method) where {READ_BY_OCR};
create index page_with_problem on page(version, problem) where {WITH_PROBLEM};
"""
# What a version v still lacks, "" for nothing.
LACKS = "coalesce((select i.lacks from incomplete i where i.version = v.id), '')"
# The codes of the languages in which the images of a version v were or will be read.
LANGUAGES = "coalesce((select r.languages from read_by r where r.version = v.id), '')"
# Tables with the content of one version, in the order in which it can be deleted.
OF_A_VERSION = (
    "seal",
    "read_by",
    "found_title",
    "incomplete",
    "vector",
    "lexicon",
    "chunk_key",
    "chunk",
    "remark",
    "page",
)
# Files that are not yet fully read.
READ = f"{WAITING_FILES} union select v.sha256 from version v join incomplete i on i.version = v.id"
FORGET_DRAFTS = f"delete from draft where sha256 not in ({READ})"
# The number of rows deleted in one step if room is short: at most 2 MB for pages read by OCR.
THINNED_ROWS = 20
CHUNK_COLUMNS = (
    'c.version, c.ordinal, c.page, c.start, c."end", '
    'substr(p.text, c.start + 1, c."end" - c.start), c.context'
)
PAGE_COLUMNS = "number, text, label, label_source, method, confidence, running, instructions"


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as stored.

    running, instructions: offsets, as in Page.
    words: the words read by OCR.
    lines: (), for the places of other lines are not kept.
    """

    number: int
    text: str
    label: str | None
    label_source: str | None
    method: str
    confidence: float | None
    running: tuple[tuple[int, int], ...]
    instructions: tuple[tuple[int, int], ...] = ()
    words: tuple[Word, ...] = ()
    lines: tuple[Line, ...] = ()

    @property
    def body(self) -> str:
        """The text without running headers and footers."""
        cuts = [0, *(offset for span in self.running for offset in span), len(self.text)]
        return "".join(self.text[start:end] for start, end in zip(cuts[::2], cuts[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as stored. Its text is page.text[start:end]."""

    version: int
    ordinal: int
    page: int
    start: int
    end: int
    text: str
    context: str


def chunk_key(context: str, text: str) -> bytes:
    """Returns 16 bytes that identify what is embedded of a chunk.

    Chunks with the same text and context share their vectors.
    """
    return hashlib.blake2b(f"{context}\0{text}".encode("utf-8", "replace"), digest_size=16).digest()


class Contents(Stored):
    """Pages, tables, chunks, vectors and lexicons by version id."""

    def fill(self, version: int, reading: DocumentReading, chunks: Sequence[Chunk], lexicon: bytes) -> None:
        """Stores pages, chunks and lexicon of a version, all or nothing."""
        with self.write() as connection:
            self._fill(connection, version, reading, chunks, lexicon)
            seal(connection, version)

    def refill(self, version: int, reading: DocumentReading, chunks: Sequence[Chunk], lexicon: bytes) -> None:
        """Replaces a stored version's content by a fuller reading.

        A chunk that stays keeps its vectors, whatever its ordinal is now.
        """
        with self.write() as connection:
            vectors = connection.execute(
                "select k.key, v.fingerprint, v.data from vector v join chunk_key k on k.version = v.version"
                " and k.ordinal = v.ordinal where v.version = ?",
                (version,),
            ).fetchall()
            for table in OF_A_VERSION:
                connection.execute(f"delete from {table} where version = ?", (version,))
            self._fill(connection, version, reading, chunks, lexicon)
            places: dict[bytes, list[int]] = defaultdict(list)
            for chunk in chunks:
                places[chunk_key(chunk.context, chunk.text)].append(chunk.ordinal)
            kept = {
                (version, fingerprint, ordinal): data
                for key, fingerprint, data in vectors
                for ordinal in places[bytes(key)]
            }
            rows = [(*place, data) for place, data in kept.items()]
            connection.executemany("insert into vector values (?, ?, ?, ?)", rows)
            there = (
                "(select count(*) from vector w where w.version = ?1 and w.fingerprint = version.fingerprint)"
            )
            made = connection.execute(
                f"update version set title = ?2, period = ?3, status = ?4, embedded_upto = {there}, state = "
                f"case when state = 'ready' and {there} < chunks then 'embedding' else state end"
                " where id = ?1 returning state, fingerprint",
                (version, reading.info.title, reading.facts.period, reading.facts.status),
            ).fetchall()
            seal(connection, version)
            for state, fingerprint in made:
                if state == "ready":
                    seal_vectors(connection, version, fingerprint)
                    if not self.database.shared:
                        end_stored(connection, version)

    def _fill(
        self,
        connection: Transaction,
        version: int,
        reading: DocumentReading,
        chunks: Sequence[Chunk],
        lexicon: bytes,
    ) -> None:
        rows = (_page_row(version, page) for page in reading.pages)
        connection.executemany("insert into page values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        remarks = ((version, page.number, json.dumps(page.remarks)) for page in reading.pages if page.remarks)
        connection.executemany("insert into remark values (?, ?, ?)", remarks)
        connection.executemany(
            "insert into chunk values (?, ?, ?, ?, ?, ?)",
            ((version, c.ordinal, c.page, c.start, c.end, c.context) for c in chunks),
        )
        keys = ((chunk_key(c.context, c.text), version, c.ordinal) for c in chunks)
        connection.executemany("insert into chunk_key values (?, ?, ?)", keys)
        connection.execute("insert into lexicon values (?, ?)", (version, lexicon))
        read_by = (version, READER_VERSION, reading.languages)
        connection.execute("insert into read_by values (?, ?, ?)", read_by)
        connection.execute(
            "update version set pages = ?, chunks = ? where id = ?",
            (len(reading.pages), len(chunks), version),
        )
        if reading.to_come:
            connection.execute("insert into incomplete values (?, 'images', ?)", (version, reading.to_come))

    def new_lexicon(self, version: int, lexicon: bytes) -> None:
        """Replaces the lexicon of a version that has one."""
        with self.write() as connection:
            connection.execute("update lexicon set data = ? where version = ?", (lexicon, version))
            seal(connection, version, LEXICON)

    def thin_out(self, version: int) -> None:
        """Deletes most of a version's content in small steps, so that the log beside the file stays small."""
        for table, key in (
            ("vector", "version, fingerprint, ordinal"),
            ("chunk", "version, ordinal"),
            ("page", "version, number"),
        ):
            some, gone = f"select {key} from {table} where version = ? limit {THINNED_ROWS}", THINNED_ROWS
            while gone == THINNED_ROWS:
                with self.write() as connection:
                    gone = connection.execute(
                        f"delete from {table} where ({key}) in ({some})", (version,)
                    ).rowcount
                self.database.shorten_log()

    def keep_draft(self, sha256: str, page: Page, languages: str) -> None:
        """Keeps a page that was read from its image in these languages, so that an interrupted reading need
        not read it again.

        Pages of a file that was given up are not kept.
        """
        self.change(
            f"insert into draft select ?1, ?2, ?3, ?4 where ?1 in ({READ})"
            " on conflict (sha256, number, languages) do update set data = excluded.data",
            (sha256, page.number, languages, _packed(page_to(page))),
        )

    def forget_drafts(self) -> None:
        """Drops the drafts once everything is read."""
        self.change(FORGET_DRAFTS)

    def drafts(self, sha256: str, languages: str) -> dict[int, Page]:
        """Returns the pages kept by keep_draft, by number."""
        rows = self.read(
            "select number, data from draft where sha256 = ? and languages = ? order by number",
            (sha256, languages),
        )
        found = dict[int, Page]()
        for number, data in rows:
            with suppress(StoreError), as_damage("A page"):  # it is read again
                found[number] = page_from(_unpacked(data))
        return found

    def page(self, version: int, number: int) -> StoredPage:
        """Returns one page with its OCR words. Raises KeyError if it does not exist."""
        found = self.read("select words from page where version = ? and number = ?", (version, number))
        if not found:
            raise KeyError((version, number))
        page = self.pages(version, [number])[number]
        with as_damage(f"Page {number} of a document"):
            return replace(page, words=words_from(_unpacked(found[0][0]) or ()))

    def pages(self, version: int, numbers: Sequence[int]) -> dict[int, StoredPage]:
        """Returns some pages of a version by number, without words."""
        marks = ",".join("?" * len(numbers)) or "null"
        rows = self.read(
            f"select {PAGE_COLUMNS} from page where version = ? and number in ({marks}) order by number",
            (version, *numbers),
        )
        with as_damage("A page of a document"):
            return {
                r[0]: StoredPage(r[0], r[1], label_line(r[2]), r[3], r[4], r[5], _spans(r[6]), _spans(r[7]))
                for r in rows
            }

    def page_texts(self, version: int) -> list[str]:
        """Returns the texts of a version's pages, in order."""
        return self.column("select text from page where version = ? order by number", (version,))

    def tables(self, version: int, number: int | None = None) -> dict[int, tuple[Table, ...]]:
        """Returns page number -> its tables, for all pages with tables, or for page `number`."""
        condition, arguments = ("", (version,)) if number is None else (" and number = ?", (version, number))
        rows = self.read(
            (
                f"select number, tables from page where version = ? and tables is not null{condition} order "
                f"by number"
            ),
            arguments,
        )
        with as_damage("A table of a document"):
            return {row[0]: tables_from(_unpacked(row[1])) for row in rows}

    def report(self, version: int) -> list[PageReport]:
        """Reports how each page of a version was read."""
        rows = self.read(
            (
                "select number, label, label_source, method, length(text), confidence, problem, tables, "
                "instructions from page where version = ? order by number"
            ),
            (version,),
        )
        remarks = self.remarks(version)
        with as_damage("A page of a document"):
            return [
                replace(
                    PageReport(*row[:7]),
                    label=label_line(row[1]),
                    tables=len(_unpacked(row[7]) or ()),
                    instructions=len(json.loads(row[8])),
                    remarks=remarks.get(row[0], ()),
                )
                for row in rows
            ]

    def remarks(self, version: int) -> dict[int, tuple[str, ...]]:
        """Returns page number -> what is in the file and not in the page's text, for pages with some."""
        rows = self.read("select number, remarks from remark where version = ? order by number", (version,))
        with as_damage("A page of a document"):
            return {row[0]: tuple(json.loads(row[1])) for row in rows}

    def chunks(self, version: int) -> list[StoredChunk]:
        """Returns the chunks of a version by ordinal."""
        return self._chunks("c.version = ? order by c.ordinal", (version,))

    def chunks_without_vectors(
        self, version: int, fingerprint: str, *, after: int, limit: int
    ) -> list[StoredChunk]:
        """Returns chunks without vectors of `fingerprint`, by ordinal, after ordinal `after`, at most
        `limit`.
        """
        lacking = (
            "not exists (select 1 from vector v where v.version = c.version and v.fingerprint = ? and "
            "v.ordinal = c.ordinal)"
        )
        return self._chunks(
            f"c.version = ? and c.ordinal > ? and {lacking} order by c.ordinal limit ?",
            (version, after, fingerprint, limit),
        )

    def vectors_of(self, keys: Sequence[bytes], fingerprint: str) -> dict[bytes, bytes]:
        """Returns chunk_key -> float32 bytes of its windows, for those keys that have vectors."""
        marks = ",".join("?" * len(keys)) or "null"
        rows = self.read(
            "select distinct k.key, v.data from chunk_key k"
            " join vector v on v.version = k.version and v.ordinal = k.ordinal"
            f" where k.key in ({marks}) and v.fingerprint = ?",
            (*keys, fingerprint),
        )
        return dict(rows)

    def chunk(self, version: int, ordinal: int) -> StoredChunk:
        """Returns one chunk. Raises IndexError if it does not exist."""
        return self._chunks("c.version = ? and c.ordinal = ?", (version, ordinal))[0]

    def chunk_pages(self, version: int) -> list[int]:
        """Returns the page of each chunk, by ordinal."""
        return self.column("select page from chunk where version = ? order by ordinal", (version,))

    def page_kinds(self, version: int) -> dict[int, tuple[str, ...]]:
        """Returns page number -> the kinds of the page, for pages of some kind."""
        rows = self.read(
            "select number, kinds from page where version = ? and kinds != '' order by number", (version,)
        )
        return {number: tuple(kinds.split(" ")) for number, kinds in rows}

    def vectors(self, version: int, fingerprint: str) -> list[tuple[Any, ...]]:
        """Returns (ordinal, float32 bytes of its windows) by ordinal."""
        statement = "select ordinal, data from vector where version = ? and fingerprint = ? order by ordinal"
        return self.read(statement, (version, fingerprint))

    def vectors_at(self, chunks: Iterable[tuple[int, int]], fingerprint: str) -> list[tuple[int, int, bytes]]:
        """Returns (version, ordinal, float32 bytes of its windows) of those of these chunks, given as
        (version, ordinal), that have vectors, by version and ordinal.
        """
        found = list[tuple[int, int, bytes]]()
        left = iter(sorted(chunks))
        while part := list(islice(left, CHUNKS_AT_ONCE)):
            values = ", ".join(f"({int(version)}, {int(ordinal)})" for version, ordinal in part)
            found += self.read(
                f"with wanted(version, ordinal) as (values {values}) select v.version, v.ordinal, v.data "
                "from wanted w join vector v on v.version = w.version and v.ordinal = w.ordinal "
                "where v.fingerprint = ? order by v.version, v.ordinal",
                (fingerprint,),
            )
        return found

    def embedded(
        self, version: int, fingerprint: str, ordinals: Sequence[int]
    ) -> list[tuple[StoredChunk, bytes, str, str]]:
        """Returns those of these chunks that have vectors, by ordinal.

        Each is (chunk, float32 bytes of its windows, printed page label or "", how its page was read).

        ordinals: ascending, at least one.
        """
        rows = self.read(
            f"select {CHUNK_COLUMNS}, v.data, p.label, p.method from vector v join chunk c on c.version "
            f"= v.version and c.ordinal = v.ordinal"
            " join page p on p.version = c.version and p.number = c.page"
            " where v.version = ? and v.fingerprint = ? and v.ordinal between ? and ? order by v.ordinal",
            (version, fingerprint, ordinals[0], ordinals[-1]),
        )
        wanted = set(ordinals)
        return [
            (StoredChunk(*row[:7]), row[7], label_line(row[8]) or "", row[9])
            for row in rows
            if row[1] in wanted
        ]

    def window_counts(self, fingerprint: str, dimension: int) -> dict[int, int]:
        """Returns version id -> number of its vectors of `fingerprint`."""
        count = "select version, sum(length(data)) / ? from vector where fingerprint = ? group by version"
        return dict(self.read(count, (4 * dimension, fingerprint)))

    def vector_counts(self, fingerprint: str) -> dict[int, int]:
        """Returns version id -> number of its chunks with vectors of `fingerprint`."""
        count = "select version, count(*) from vector where fingerprint = ? group by version"
        return dict(self.read(count, (fingerprint,)))

    def bytes_of(self, version: int) -> int:
        """Returns the bytes of a version's content, without SQLite's overhead."""
        columns = (
            ("page", "text", "words", "tables"),
            ("chunk", "context"),
            ("vector", "data"),
            ("lexicon", "data"),
        )
        total = 0
        for table, *names in columns:
            lengths = " + ".join(f"coalesce(length(cast({name} as blob)), 0)" for name in names)
            query = f"select coalesce(sum({lengths}), 0) from {table} where version = ?"
            total += self.read(query, (version,))[0][0]
        return total

    def lexicon(self, version: int) -> bytes:
        """Returns the version's packed lexicon. Raises KeyError if there is none."""
        found = self.column("select data from lexicon where version = ?", (version,))
        if not found:
            raise KeyError(version)
        return bytes(found[0])

    def held(self) -> dict[int, tuple[int, int, bool]]:
        """Returns version id -> (pages, chunks, whether it has a lexicon) that really exist."""
        rows = self.read(
            "select id, (select count(*) from page where version = id), (select count(*) from chunk "
            "where version = id),"
            " exists (select 1 from lexicon where version = id) from version"
        )
        return {row[0]: (row[1], row[2], bool(row[3])) for row in rows}

    def _chunks(self, condition: str, arguments: Sequence[Any]) -> list[StoredChunk]:
        rows = self.read(
            f"select {CHUNK_COLUMNS} from chunk c join page p on p.version = c.version and p.number = "
            f"c.page where {condition}",
            arguments,
        )
        return [StoredChunk(*row) for row in rows]


def _page_row(version: int, page: Page) -> tuple[Any, ...]:
    words = _packed(words_to(page.words))
    tables = _packed(tables_to(page.tables))
    head = (version, page.number, page.text, page.label, page.label_source, page.method, page.confidence)
    return (
        *head,
        words,
        tables,
        page.problem,
        json.dumps(page.running),
        " ".join(page.kinds),
        json.dumps(page.instructions),
    )


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in json.loads(text))


def _packed(values: Any) -> bytes | None:
    """Compresses values as JSON; None for no values."""
    if values:
        return zlib.compress(json.dumps(values).encode(), level=1)
    return None


def _unpacked(data: bytes | None) -> Any:
    if data:
        return json.loads(zlib.decompress(data))
    return None

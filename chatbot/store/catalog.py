"""Stores documents, their versions and the files that are being added.

The catalogue is the authority: the indexes can be rebuilt from it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from chatbot.errors import StoreError
from chatbot.records import DocumentRow
from chatbot.settings import PROGRAM
from chatbot.store.contents import (
    CONTENTS_SCHEMA,
    FORGET_DRAFTS,
    LACKS,
    LANGUAGES,
    OF_A_VERSION,
    READ_BY_OCR,
    WITH_PROBLEM,
    StoredChunk,
    StoredPage,
)
from chatbot.store.corrections import CORRECTION_SCHEMA, PERIOD, STATUS, Corrections
from chatbot.store.database import Place, Schema, Transaction, open_database
from chatbot.store.digests import digest_in, digests_in, is_digest
from chatbot.store.disk_reserve import LITTLE_SPACE
from chatbot.store.document_names import is_name
from chatbot.store.found_titles import TITLE_SCHEMA, FoundTitles
from chatbot.store.jobs import (
    FINISHED,
    JOB_SCHEMA,
    UNREAD_ROWS,
    WAITING_FILES,
    Jobs,
    Phase,
    end_jobs,
    end_stored,
)
from chatbot.store.remembered_documents import REMEMBERED_SCHEMA, RememberedDocuments
from chatbot.store.seals import SEAL_SCHEMA, Seals, forget_vectors, seal_vectors
from chatbot.store.store_clock import KEEP, StoreClock
from ingestion.document import READER_VERSION
from ingestion.invisible_characters import title_line
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = [
    "NAME",
    "SCHEMA",
    "Catalog",
    "Stamps",
    "StoredChunk",
    "StoredPage",
    "Version",
    "bytes_of",
    "rest_of",
    "vectors_of",
]

# Of the database.
NAME = "catalog"
# A document's active version is searched, and the one before it can be restored for a while. Several
# documents may have one version: the same bytes under several names. A coming version waits for its vectors
# before it takes its document's place.
TABLES = (
    """
create table meta (key text primary key, value text not null) without rowid;
create table document (id integer primary key, name text not null unique, active_version integer,
removed_at real,
    previous_version integer, replaced_at real, previous_removed_at real);
create table version (id integer primary key autoincrement, document integer not null, sha256 text not null,
state text not null
    check (state in ('reading', 'keyword', 'embedding', 'ready')), coming integer not null default 1,
    title text, period text, status text,
    protected integer not null default 0,
    pages integer not null default 0, chunks integer not null default 0,
    embedded_upto integer not null default 0, fingerprint text, added_at real not null);
create index version_document on version(document);
create index version_sha on version(sha256);
create index document_active on document(active_version);
create table erased (sha256 text primary key) without rowid;
"""
    + JOB_SCHEMA
    + CONTENTS_SCHEMA
    + CORRECTION_SCHEMA
    + TITLE_SCHEMA
    + REMEMBERED_SCHEMA
    + SEAL_SCHEMA
)
SCHEMA = Schema(TABLES, 11)
# A document goes back to what it had before, in removed state if it was removed.
GO_BACK = (
    "update document set active_version = previous_version, removed_at = previous_removed_at, "
    "previous_version = null, replaced_at = null, previous_removed_at = null"
)
Stamps: TypeAlias = list[tuple[Any, ...]]
# Comes before the SHA-256 of a file in the keys of `meta`.
SEEN, QUOTED = "seen:", "quoted:"
COLUMNS = (
    f"v.id, d.name, v.sha256, v.state, v.title, v.pages, v.chunks, v.embedded_upto, v.fingerprint, "
    f"v.protected, {PERIOD}, {STATUS}, {LACKS}, {LANGUAGES}"
)
# A version whose words can be found, now or once it is ready: live, or coming to a document that is not
# removed.
WANTED = (
    "v.state != 'reading' and ((d.active_version = v.id and d.removed_at is null)"
    " or (v.coming = 1 and v.document = d.id and (d.removed_at is null or d.active_version is null)))"
)


@dataclass(frozen=True, slots=True)
class Version:
    """A stored version.

    document: a name it is stored under.
    state: reading | keyword | embedding | ready.
    embedded: number of chunks with vectors.
    protected: whether its file opens only with a password.
    lacks: see Reading.
    languages: the codes of those in which its images were or will be read.
    """

    id: int
    document: str
    sha256: str
    state: str
    title: str | None
    pages: int
    chunks: int
    embedded: int
    fingerprint: str | None
    protected: bool
    facts: DocumentFacts = NO_FACTS
    lacks: str = ""
    languages: str = ""


class Catalog(Jobs, FoundTitles, RememberedDocuments, Corrections, Seals):
    """The catalogue of one store.

    Any thread may read. Writes happen one at a time, and each public method is one transaction.
    """

    def __init__(self, place: Place, *, read_only: bool = False) -> None:
        """Opens it.

        Raises StoreError if it is damaged, not writable or of another version, or has a name that no document
        may have, such as one that ends a line of a log.
        """
        super().__init__(open_database(place, SCHEMA, read_only=read_only))
        try:
            every = f"select name from document union select name from job where {UNREAD_ROWS}"
            for name in self.column(every):
                if not (isinstance(name, str) and is_name(name)):
                    raise StoreError(
                        f"The catalogue is damaged: {str(name)[:80]!r} is no name of a document.",
                        hint=f"`{PROGRAM} rebuild` rebuilds it from the kept copies.",
                    )
        except BaseException:
            self.close()
            raise

    @cached_property
    def clock(self) -> StoreClock:
        """By which documents are removed, and erased. It writes, so it is not for a read-only one."""
        return StoreClock(self.database)

    # --- what is there
    # ------------------------------------------------------------------------------------------------------

    def active(self, names: Sequence[str] = ()) -> dict[int, str]:
        """Returns version id -> document name for all live documents, or for those in `names`.

        If a version has several names, the first one added counts.
        """
        rows = self.read(
            "select active_version, name from document where removed_at is null and active_version is "
            "not null order by id desc"
        )
        return _named(rows, names)

    def active_stamps(self, names: Sequence[str] = ()) -> tuple[dict[int, str], Stamps]:
        """Returns what `active` does, and (version id, name, what changes when it is read further or
        corrected, ...) of all live documents.
        """
        rows = self.read(
            f"select v.id, d.name, {LACKS}, coalesce({PERIOD}, ''), coalesce({STATUS}, '') from document d"
            " join version v on v.id = d.active_version where d.removed_at is null order by d.id desc"
        )
        return _named(rows, names), rows

    def names(self) -> list[str]:
        """Returns the names of all live documents in the order they were added."""
        return self.column(
            "select name from document where removed_at is null and active_version is not null order by id"
        )

    def is_there(self, name: str) -> bool:
        """Tells whether there is a document of this name, removed or not."""
        return bool(
            self.read("select 1 from document where name = ? and active_version is not null", (name,))
        )

    def version(self, version: int) -> Version | None:
        """Returns one version, whatever its state."""
        return next(iter(self._all("v.id = ?", (version,))), None)

    def called(self, versions: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Returns version id -> (document name, the file's own title or "") of those of these that exist."""
        rows = self.read(
            "select v.id, coalesce(d.name, ''), coalesce(v.title, '') from version v left join document d"
            " on d.id = v.document where v.id in (select cast(value as integer) from json_each(?))",
            (json.dumps(sorted(versions)),),
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def digest_of(self, version: int) -> str:
        """Returns the SHA-256 of a version's file, "" if the version is gone."""
        kept = self.version(version)
        return kept.sha256 if kept else ""

    def find(self, name: str) -> Version | None:
        """Returns the live version of the document `name`."""
        live = "d.name = ? and d.removed_at is null and v.id = d.active_version"
        return next(iter(self._versions(live, (name,))), None)

    def newest(self, name: str) -> Version | None:
        """Returns the version that the document `name` has, or will have when its vectors are made."""
        found = self._versions(f"d.name = ? and {WANTED} order by v.coming desc, v.id desc", (name,))
        return next(iter(found), None)

    def holding(self, sha256: str) -> Version | None:
        """Returns the newest version of these bytes whose words are or could be searchable, or None."""
        return next(reversed(self._all("v.sha256 = ? and v.state != 'reading'", (sha256,))), None)

    def unfinished(self, fingerprint: str) -> list[Version]:
        """Returns the versions that still need vectors of `fingerprint`, oldest first."""
        condition = f"{WANTED} and (v.state != 'ready' or coalesce(v.fingerprint, '') != ?)"
        return self._versions(condition, (fingerprint,))

    def incomplete(self) -> list[Version]:
        """Returns the versions that are not fully read, oldest first."""
        return self._versions(f"{WANTED} and v.id in (select version from incomplete)", ())

    def read_by_older(self) -> list[Version]:
        """Returns the complete live versions that an earlier reader has read, oldest first."""
        reader = "coalesce((select r.reader from read_by r where r.version = v.id), 1)"
        condition = f"d.active_version = v.id and d.removed_at is null and v.state = 'ready' and {LACKS} = ''"
        return self._versions(f"{condition} and {reader} < ?", (READER_VERSION,))

    def to_come(self) -> dict[int, int]:
        """Returns version id -> number of pages whose images are still to be read, of incomplete versions."""
        return dict(self.read("select version, to_come from incomplete"))

    def stored(self) -> list[Version]:
        """Returns every version whose words are or can again be found, oldest first."""
        return self._all("v.state != 'reading'", ())

    def holders(self, version: int) -> list[str]:
        """Returns the names of the live documents that have this version."""
        live = "select name from document where active_version = ? and removed_at is null order by id"
        return self.column(live, (version,))

    def name_of(self, version: int) -> str:
        """Returns the name of the first live document with this version, else of the document it was made
        for.

        Returns "" if neither is left.
        """
        kept = self.version(version)
        return next(iter(self.holders(version)), kept.document if kept else "")

    def chunk_counts(self) -> dict[int, int]:
        """Returns version id -> number of chunks, for all versions whose words are or can again be found."""
        return dict(self.read("select id, chunks from version where state != 'reading'"))

    def left_over(self, before: float) -> list[int]:
        """Returns the ids of versions that nothing needs any more.

        They are half-read, though not by another process just now, or belong to documents replaced or removed
        before that time (seconds since the epoch).
        """
        rows = self.read(
            """select v.id, v.state from version v where v.state = 'reading' or not exists (
                select 1 from document d where
                   (d.active_version = v.id and (d.removed_at is null or d.removed_at >= ?1))
                or (d.previous_version = v.id and d.replaced_at >= ?1 and (d.removed_at is null or
                d.removed_at >= ?1))
                or (v.coming = 1 and v.document = d.id and (d.removed_at is null or d.removed_at >= ?1 or
                d.active_version is null)))""",
            (before,),
        )
        others = self.database.claimed_elsewhere([_reading(row[0]) for row in rows if row[1] == "reading"])
        return [row[0] for row in rows if _reading(row[0]) not in others]

    def hashes(self) -> set[str]:
        """Returns the SHA-256 of every file of a version or a waiting entry."""
        return digests_in(self.read(f"select sha256 from version union {WAITING_FILES}"))

    def no_digests(self) -> list[str]:
        """Returns what stands where the SHA-256 of a file should be, at most ten of them."""
        tables = ("version", "erased", "correction", "draft", "remembered")
        every = [WAITING_FILES, *(f"select sha256 from {table}" for table in tables)]
        rows = self.read(" union ".join(every))
        return [str(row[0]) for row in rows if not is_digest(row[0])][:10]

    def only_of(self, versions: Collection[int]) -> set[str]:
        """Returns the SHA-256 of these versions' files that no other version or waiting entry has."""
        rows = self.read(
            f"select id, sha256 from version union all select 0, digest from job where {UNREAD_ROWS}"
        )
        gone = {digest_in(digest) for version, digest in rows if version in versions}
        return gone - {digest_in(digest) for version, digest in rows if version not in versions}

    def live_hashes(self) -> set[str]:
        """Returns the SHA-256 of the files of all live documents."""
        return digests_in(
            self.read(
                "select v.sha256 from document d join version v on v.id = d.active_version"
                " where d.removed_at is null"
            )
        )

    def changed_at(self, name: str) -> float:
        """Returns when a document last got a version, was replaced or removed, in seconds since the epoch; 0
        if there is none of this name.
        """
        rows = self.read(
            "select max(v.added_at), max(coalesce(d.removed_at, 0)), max(coalesce(d.replaced_at, 0))"
            " from document d left join version v on v.document = d.id where d.name = ?",
            (name,),
        )
        return max(float(when or 0.0) for when in rows[0])

    def hashes_of(self, name: str) -> set[str]:
        """Returns the SHA-256 of the files that the document `name` has, had before, or will have."""
        rows = self.read(
            "select v.sha256 from document d join version v on v.id = d.active_version or v.id = "
            "d.previous_version or (v.coming = 1 and v.document = d.id)"
            " where d.name = ?",
            (name,),
        )
        return digests_in(rows)

    def names_of(self, sha256: str) -> list[tuple[str, float | None]]:
        """Returns (name, removed at or None) of documents with these bytes, in seconds since the epoch.

        The bytes are those of the document's active or coming version.
        """
        rows = self.read(
            "select d.name, d.removed_at from document d join version v on v.id = "
            "d.active_version or (v.coming = 1 and v.document = d.id)"
            " where v.sha256 = ? and v.state != 'reading' order by d.id",
            (sha256,),
        )
        return [(row[0], row[1]) for row in rows]

    def hashes_beside(self, name: str) -> set[str]:
        """Returns the SHA-256 of files of documents with other names (current, former or coming) or that
        wait.
        """
        others = self.column("select name from document where name != ?", (name,))
        return {row.digest for row in self.waiting() if row.name != name}.union(*map(self.hashes_of, others))

    def documents(self) -> list[DocumentRow]:
        """Returns all documents in the order they were added, including removed ones."""
        rows = self.read(
            f"""select d.name, v.sha256, v.title, v.state, v.pages, v.chunks, v.embedded_upto,
                      (select count(*) from page where version = v.id and {READ_BY_OCR}),
                      (select count(*) from page where version = v.id and {WITH_PROBLEM}),
                      v.added_at, d.removed_at, d.replaced_at,
                      (select name from document where active_version = v.id and id < d.id and removed_at is
                      null order by id limit 1), v.protected, {PERIOD}, {STATUS}, {LACKS},
                      coalesce((select i.to_come from incomplete i where i.version = v.id), 0)
               from document d join version v on v.id = d.active_version order by d.id"""
        )
        found = []
        for row in rows:
            name, digest, title, state, *counts, protected, period, status, lacks, to_come = row
            removed_at = counts[6]
            shown = (name, digest_in(digest), title_line(title), "removed" if removed_at else state)
            whole = (*shown, *counts, bool(protected), period, status, lacks, to_come)
            found.append(DocumentRow(*whole))
        return found

    def described(self) -> list[tuple[str, str | None, DocumentFacts]]:
        """Returns (name, title, facts) of all live documents in the order they were added."""
        rows = self.read(
            f"select d.name, v.title, {PERIOD}, {STATUS} from document d"
            " join version v on v.id = d.active_version where d.removed_at is null order by d.id"
        )
        return [(row[0], title_line(row[1]), DocumentFacts(row[2], row[3])) for row in rows]

    # --- adding and replacing
    # ---------------------------------------------------------------------------------------------------

    def begin(
        self,
        name: str,
        sha256: str,
        title: str | None,
        *,
        protected: bool = False,
        facts: DocumentFacts = NO_FACTS,
    ) -> int:
        """Creates a version of the document `name` in state "reading" and returns its id.

        The document is created if necessary.
        """
        with self.write() as connection:
            document = _document(connection, name)
            made = connection.execute(
                "insert into version(document, sha256, state, title, protected, period, status, "
                "added_at) values (?, ?, 'reading', ?, ?, ?, ?, ?) returning id",
                (document, sha256, title, protected, facts.period, facts.status, time.time()),
            )
            number = int(made.fetchone()[0])
            self.database.claim(_reading(number))
            return number

    def searchable(self, version: int, job: int = 0) -> None:
        """Notes that the version's words are indexed, which ends the reading of a job.

        It goes live unless an older version is, which then stays in use until this one is ready.
        """
        with self.write() as connection:
            connection.execute("update version set state = 'keyword' where id = ?", (version,))
            found = connection.execute(
                "select d.id, d.active_version is null or d.removed_at is not null from version v join "
                "document d on d.id = v.document where v.id = ?",
                (version,),
            )
            for document, at_once in found.fetchall():
                connection.execute(
                    "update version set coming = 0 where document = ? and id < ?", (document, version)
                )
                if at_once:
                    _flip(connection, document, version, self.clock.now())
            connection.execute(
                f"update job set phase = ?, version = ? where id = ? and {UNREAD_ROWS} and exists "
                "(select 1 from version where id = ?)",
                (Phase.EMBEDDING.value, version, job, version),
            )
        self.database.release(_reading(version))

    def add_vectors(
        self, version: int, fingerprint: str, rows: Sequence[tuple[int, bytes, bytes]]
    ) -> list[int]:
        """Adds missing vectors, by ordinal: (ordinal, key of the chunk, float32 bytes of its windows).

        Returns the ordinals that were kept. Vectors are not kept if the version is gone or now has another
        chunk there.
        """
        first, last = (rows[0][0], rows[-1][0]) if rows else (0, -1)
        with self.write() as connection:
            found = connection.execute(
                "update version set state = 'embedding', fingerprint = ? where id = ?", (fingerprint, version)
            )
            if not found.rowcount:
                return []
            asked = connection.execute(
                "select ordinal, key from chunk_key where version = ? and ordinal between ? and ?",
                (version, first, last),
            )
            keys = dict(asked.fetchall())
            kept = [(ordinal, data) for ordinal, key, data in rows if keys.get(ordinal) == key]
            made = connection.executemany(
                "insert into vector values (?, ?, ?, ?) on conflict do nothing",
                [(version, fingerprint, *row) for row in kept],
            )
            if kept:
                connection.execute(
                    "update version set embedded_upto = embedded_upto + ? where id = ?",
                    (made.rowcount, version),
                )
            return [ordinal for ordinal, _ in kept]

    def ready(self, version: int, fingerprint: str, *, keep: Sequence[str] = ()) -> bool:
        """Marks a version as complete: a coming version takes its document's place, in one step.

        Vectors of other fingerprints are deleted, except those in `keep`. Returns False if the version is
        gone or lacks vectors.
        """
        with self.write() as connection:
            found = connection.execute(
                "update version set state = 'ready', fingerprint = ?1 where id = ?2 and chunks = (select "
                "count(*) from vector w where w.version = version.id and w.fingerprint = ?1) "
                "returning document, coming",
                (fingerprint, version),
            ).fetchone()
            if found is None:
                return False
            document, coming = found
            connection.execute(
                "delete from vector where version = ? and fingerprint not in "
                "(select value from json_each(?))",
                (version, json.dumps([fingerprint, *keep])),
            )
            seal_vectors(connection, version, fingerprint)
            if not self.database.shared:
                end_stored(connection, version)
            if coming and not _read_anew(connection, document, version):
                _flip(connection, document, version, self.clock.now())
            return True

    def restart_vectors(self, version: int, fingerprint: str, *, anew: bool = False) -> None:
        """Marks the missing vectors of this version as to be made, whatever its state says.

        anew: whether to delete those that there are.
        """
        with self.write() as connection:
            forget_vectors(connection, version)
            if anew:
                connection.execute(
                    "delete from vector where version = ? and fingerprint = ?", (version, fingerprint)
                )
            connection.execute(
                "update version set embedded_upto = (select count(*) from vector where version = ?2 and "
                "fingerprint = ?1), fingerprint = ?1, state = 'keyword' where id = ?2",
                (fingerprint, version),
            )

    def link(self, name: str, version: int) -> None:
        """Gives the document `name` a version that is already stored, creating the document if necessary.

        That happens when the same bytes come under another name, or come back.
        """
        with self.write() as connection:
            document = _document(connection, name)
            connection.execute("update version set coming = 0 where document = ?", (document,))
            _flip(connection, document, version, self.clock.now())

    def recall_names(self, version: Version) -> bool:
        """Gives a stored version the names that its bytes have in an imported archive, unless other documents
        have them. Returns whether there were any.
        """
        remembered = self.remembered_names(version.sha256)
        if not remembered:
            return False
        with self.write() as connection:
            for name, removed_at in remembered:
                if connection.execute("select 1 from document where name = ?", (name,)).fetchone() is None:
                    _flip(connection, _document(connection, name), version.id, self.clock.now())
                    connection.execute(
                        "update document set removed_at = ? where name = ?", (removed_at, name)
                    )
            connection.execute("delete from remembered where sha256 = ?", (version.sha256,))
        return True

    # --- removing
    # --------------------------------------------------------------------------------------------------------

    def remove(self, name: str) -> bool:
        """Hides the document. Returns False without such a live document."""
        live = "name = ? and removed_at is null and active_version is not null"
        return bool(self.change(f"update document set removed_at = ? where {live}", (self.clock.now(), name)))

    def restore(self, name: str) -> bool:
        """Restores a removed document; for a live one, the version before the last replacement.

        Restoring a version can be undone in the same way. Returns False if there is neither.
        """
        with self.write() as connection:
            if connection.execute(
                "update document set removed_at = null where name = ? and removed_at is not null", (name,)
            ).rowcount:
                return True
            found = connection.execute(
                "select id, previous_version from document where name = ? and previous_version is not null",
                (name,),
            ).fetchone()
            if found is None:
                return False
            connection.execute("update version set coming = 0 where document = ?", (found[0],))
            _flip(connection, found[0], found[1], self.clock.now())
            return True

    def retire(self, name: str) -> bool:
        """Gives a document up beyond restoring, with what waits under its name, in one step.

        What it leaves is erased later. Returns False if there is neither.
        """
        with self.write() as connection:
            connection.execute(
                "update version set coming = 0 where document = (select id from document where name = ?)",
                (name,),
            )
            connection.execute(
                f"insert into erased {WAITING_FILES} and name = ? on conflict do nothing", (name,)
            )
            waited = connection.execute("delete from job where name = ?", (name,)).rowcount
            waited += connection.execute("delete from remembered where name = ?", (name,)).rowcount
            return connection.execute("delete from document where name = ?", (name,)).rowcount + waited > 0

    def erase(self, versions: Sequence[int]) -> None:
        """Deletes versions with all that belongs to them, and documents left without any.

        Their bytes are noted for erasing. All this is one step, unless the disk has no room to note it all at
        once.
        """
        if self.database.free_bytes() < LITTLE_SPACE + 2 * sum(map(self.bytes_of, versions)):
            for version in versions:
                self.thin_out(version)
        with self.write() as connection:
            for version in versions:
                connection.execute(
                    "insert into erased select sha256 from version where id = ? on conflict do nothing",
                    (version,),
                )
                for table in OF_A_VERSION:
                    connection.execute(f"delete from {table} where version = ?", (version,))
                connection.execute("delete from version where id = ?", (version,))
                connection.execute(f"delete from job where version = ? and {FINISHED}", (version,))
                end_jobs(connection, "version = ?", version, Phase.CANCELLED, shared=self.database.shared)
            gone = "not in (select id from version)"
            connection.execute(
                f"update document set previous_version = null, replaced_at = null where "
                f"previous_version {gone}"
            )
            connection.execute(f"{GO_BACK} where active_version {gone}")
            connection.execute(
                "delete from document where active_version is null and id not in (select document from "
                "version where coming = 1)"
            )

    def release(self, version: int, name: str) -> bool:
        """Lets the document `name` go back to what it had before, or go, if other documents have this
        version.

        Documents that can go back to the version count too. Returns False if none has it.
        """
        with self.write() as connection:
            others = (
                "select id from document where (active_version = ?1 or previous_version = ?1) and name != "
                "?2 order by id"
            )
            found = connection.execute(others, (version, name)).fetchone()
            if found is None:
                return False
            connection.execute(
                "update version set document = ?, coming = 0 where id = ?", (found[0], version)
            )
            connection.execute(f"{GO_BACK} where name = ? and active_version = ?", (name, version))
            connection.execute("delete from document where name = ? and active_version is null", (name,))
            return True

    def to_erase(self) -> set[str]:
        """Returns the SHA-256 of files whose copies nothing needs any more and that may still exist."""
        known = f"select sha256 from version union {WAITING_FILES}"
        return digests_in(self.read(f"select sha256 from erased where sha256 not in ({known})"))

    def erased(self, hashes: Iterable[str]) -> None:
        """Notes that the copies of these files are gone."""
        gone = set(hashes)
        with self.write() as connection:
            noted = connection.execute("select sha256 from erased").fetchall()
            rows = [row for row in noted if digest_in(row[0]) in gone]
            connection.executemany("delete from erased where sha256 = ?", rows)
            known = f"select sha256 from version union {WAITING_FILES}"
            connection.execute(f"delete from erased where sha256 in ({known})")
            connection.execute(FORGET_DRAFTS)
            remembered = "select sha256 from remembered"
            connection.execute(f"delete from correction where sha256 not in ({known} union {remembered})")

    # --- what lies in the folder of documents
    # -----------------------------------------------------------------------------------

    def seen(self) -> dict[str, str]:
        """Returns SHA-256 -> why it could not be added, "" if it could, of files in the folder already tried.

        These are files that users copied there; they are not tried again.
        """
        return self._noted(SEEN)

    def note_quoted(self, digests: Iterable[str]) -> None:
        """Notes that these files are erased and that whatever quotes them must follow."""
        with self.write() as connection:
            connection.executemany(KEEP, ((QUOTED + digest, "") for digest in digests))

    def quoted(self) -> frozenset[str]:
        """Returns the SHA-256 of erased files that something may still quote."""
        return frozenset(self._noted(QUOTED))

    def forgotten(self, digests: Iterable[str]) -> None:
        """Notes that nothing quotes these files any more."""
        self._drop_meta(QUOTED + digest for digest in digests)

    def see(self, sha256: str, problem: str = "") -> None:
        """Notes such a file."""
        self.set_meta(SEEN + sha256, problem)

    def tried(self, sha256: str, problem: str, *, again: bool) -> None:
        """Notes the outcome for such a file.

        again: whether to try it at the next start, because the fault was not its own.
        """
        if again:
            self.see_only(self.seen().keys() - {sha256})
        else:
            self.see(sha256, problem)

    def see_only(self, hashes: Collection[str]) -> None:
        """Forgets the files that are no longer there."""
        if gone := self.seen().keys() - set(hashes):
            self._drop_meta(SEEN + sha256 for sha256 in gone)

    def _noted(self, prefix: str) -> dict[str, str]:
        """The values of the store itself whose keys begin so, by the rest of the key."""
        between = "select key, value from meta where key > ? and key < ? order by key"
        rows = self.read(between, (prefix, f"{prefix}\U0010ffff"))
        return {key.removeprefix(prefix): value for key, value in rows}

    def _drop_meta(self, keys: Iterable[str]) -> None:
        with self.write() as connection:
            connection.executemany("delete from meta where key = ?", ((key,) for key in keys))

    # --- the store itself
    # --------------------------------------------------------------------------------------------------------

    def meta(self, key: str) -> str | None:
        """Returns a remembered value of the store itself."""
        return next(iter(self.column("select value from meta where key = ?", (key,))), None)

    def set_meta(self, key: str, value: str) -> None:
        """Stores a value of the store itself."""
        self.change(KEEP, (key, value))

    def first_meta(self, key: str, value: str) -> str:
        """Stores a value of the store itself unless there is one, and returns the one that there is."""
        self.change("insert into meta values (?, ?) on conflict do nothing", (key, value))
        return self.meta(key) or ""

    def change_meta(self, key: str, change: Callable[[str], str]) -> None:
        """Changes a value of the store itself, "" at first, in one step."""
        with self.write() as connection:
            found = connection.execute("select value from meta where key = ?", (key,)).fetchone()
            connection.execute(KEEP, (key, change(found[0] if found else "")))

    def _versions(self, condition: str, arguments: Sequence[Any]) -> list[Version]:
        """Returns versions with the documents that have, or will have, them; each under the first name."""
        order = "" if "order by" in condition else " order by v.id, d.id"
        rows = self.read(
            f"select {COLUMNS} from document d join version v on v.id = d.active_version or v.document = d.id"
            f" where {condition}{order}",
            arguments,
        )
        found: dict[int, Version] = {}
        for row in rows:
            found.setdefault(row[0], _version(row))
        return list(found.values())

    def _all(self, condition: str, arguments: Sequence[Any]) -> list[Version]:
        """Returns versions with the document that each was made for, oldest first."""
        rows = self.read(
            f"select {COLUMNS} from version v left join document d on d.id = v.document where {condition}"
            " order by v.id",
            arguments,
        )
        return list(map(_version, rows))


def _named(newest_first: Sequence[Sequence[Any]], names: Sequence[str]) -> dict[int, str]:
    """Version id -> name of rows that begin with both, those in `names`, all if it is empty; of several names
    the one added first.
    """
    wanted = set(names)
    return dict(reversed({row[0]: row[1] for row in newest_first if not wanted or row[1] in wanted}.items()))


def _version(row: Sequence[Any]) -> Version:
    identity, name, sha256, state, title, *counts, protected, period, status, lacks, languages = row
    facts = DocumentFacts(period, status)
    pages, chunks, embedded, fingerprint = counts
    found = (identity, name or "", digest_in(sha256), state, title_line(title), pages, chunks, embedded)
    return Version(*found, fingerprint, bool(protected), facts, lacks, languages)


def _reading(version: int) -> str:
    """Returns the name of the work that a version in state "reading" is."""
    return f"version {version}"


def bytes_of(sha256: str) -> str:
    """Returns the name of the work of reading these bytes for the first time."""
    return f"bytes {sha256}"


def vectors_of(version: int) -> str:
    """Returns the name of the work of making a version's vectors."""
    return f"vectors {version}"


def rest_of(version: int) -> str:
    """Returns the name of the work of reading what a version lacks."""
    return f"rest {version}"


def _document(connection: Transaction, name: str) -> int:
    """Returns the id of a document, creating it if necessary."""
    connection.execute("insert into document(name) values (?) on conflict(name) do nothing", (name,))
    return int(connection.execute("select id from document where name = ?", (name,)).fetchone()[0])


def _flip(connection: Transaction, document: int, version: int, at: float) -> None:
    """Makes a version live from `at` on; the one before can be restored."""
    connection.execute("update version set coming = 0 where document = ? and id <= ?", (document, version))
    connection.execute(
        "update document set previous_version = active_version, replaced_at = case when active_version "
        "is null then null else ?1 end,"
        " previous_removed_at = removed_at, active_version = ?2, removed_at = null where id = ?3 and "
        "coalesce(active_version, 0) != ?2",
        (at, version, document),
    )
    connection.execute("update document set removed_at = null where id = ?", (document,))


def _read_anew(connection: Transaction, document: int, version: int) -> bool:
    """Tells whether this version is a newer reading of what its document has.

    If so, it has then taken the old version's place wherever that was live or could be restored. Versions
    that are coming to those documents still come.
    """
    old = connection.execute(
        "select o.id from document d join version o on o.id = d.active_version join version n on n.id = ?2"
        " where d.id = ?1 and o.id != n.id and o.sha256 = n.sha256",
        (document, version),
    ).fetchone()
    if old is None:
        return False
    connection.execute("update version set coming = 0 where id = ?", (version,))
    for which in ("active_version", "previous_version"):
        connection.execute(f"update document set {which} = ? where {which} = ?", (version, old[0]))
    connection.execute(
        "update document set previous_version = null, replaced_at = null where previous_version = "
        "active_version"
    )
    return True

"""Conversations in SQLite, each with its owner and every answer in full; keeps what was said, decides
nothing about what is made of it.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from chatbot.errors import NotFoundError, StoreError
from chatbot.memory.conversations.answer_records import (
    cited_text,
    pack_answer,
    unpack_answer,
    without_versions,
)
from chatbot.memory.memory_database import MemoryDatabase, Tables
from chatbot.models.tokens import encodable
from chatbot.records import Answer, Exchange
from chatbot.store.vector_index import Vectors

__all__ = ["KEPT_DAYS", "PRIVATE", "TABLES", "WINDOW", "ConversationRow", "Conversations", "Said", "Summary"]

TABLES = Tables(
    "conversations",
    (
        """
create table conversation (id text primary key, owner text not null, begun_at real not null,
changed_at real not null, title text,
    deleted_at real, compresses integer not null default 1, recalls_others integer not null default 0,
    off text not null default '') without rowid;
create index conversation_of on conversation(owner, changed_at);
create table exchange (conversation text not null references conversation(id) on delete cascade,
number integer not null, user text not null,
    assistant text not null, at real not null, state text not null default 'complete', cited text,
    full_tokens integer, kept_tokens integer, chunks integer, primary key (conversation,
    number)) without rowid;
create table detail (conversation text not null, number integer not null, answer blob, fingerprint text,
vector blob,
    primary key (conversation, number), foreign key (conversation, number) references exchange(conversation,
    number) on delete cascade) without rowid;
create table source (sha256 text not null, conversation text not null, number integer not null,
primary key (sha256, conversation, number),
    foreign key (conversation, number) references exchange(conversation,
    number) on delete cascade) without rowid;
create table summary (conversation text not null references conversation(id) on delete cascade,
first integer not null, last integer not null,
    text text not null, model text not null, primary key (conversation, last)) without rowid;
""",
    ),
)
# Exchanges that a conversation's sliding window keeps live.
WINDOW = 10
# Days for which a deleted conversation can be brought back; as long as a removed document.
KEPT_DAYS = 7
# Questions of one conversation that may be on their way at once, from several tabs.
MOST_AT_ONCE = 8
# What the id of a conversation begins with that is never written to disk.
PRIVATE = "private-"
# Private conversations that nobody went on with for so long are dropped: they would lie in memory until the
# server ends.
PRIVATE_SECONDS = 86_400
CONVERSATION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
LONGEST_TITLE = 120
UNFINISHED = {
    "stopped": "stopped, unchecked",
    "failed": "no answer came",
    "interrupted": "interrupted, unchecked",
    "answering": "still being written",
}
# Casts and bounds, so that a damaged value is odd text or 0 and not the end of reading; beyond 2096 no
# calendar here is sure.
ROW = """select id, owner, cast(coalesce(title, (select substr(user, 1,
    400) from exchange where conversation = id order by number limit 1), '') as text),
    min(max(cast(begun_at as real), 0), 4e9), min(max(cast(changed_at as real), 0), 4e9),
    (select count(*) from exchange where conversation = id), min(max(cast(deleted_at as real), 0), 4e9),
    cast(compresses as integer),
    cast(recalls_others as integer), cast(off as text)
    from conversation"""

# An id may be erased and begun anew by somebody else while an answer is on its way.
OWNED = "exists (select 1 from conversation where id = exchange.conversation and owner = ?)"


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation as listed. title: as named, else its first question, cut. Times in seconds since the
    epoch; deleted_at: None while it is there.

    exchanges: how many. compresses: whether a long one reaches the model shortened. recalls_others: whether
    the owner's other conversations may be recalled in it. off: names of the memories that are switched off in
    it. private: nothing of it is on disk.
    """

    id: str
    owner: str
    title: str
    begun_at: float
    changed_at: float
    exchanges: int
    deleted_at: float | None
    compresses: bool
    recalls_others: bool
    off: frozenset[str] = frozenset()

    @property
    def private(self) -> bool:
        return self.id.startswith(PRIVATE)


@dataclass(frozen=True, slots=True)
class Said:
    """One exchange as kept. number: 1-based in its conversation. assistant: the answer's text, so far where
    it is not whole.

    state: "answering" | "complete" | "stopped" (whoever read it went away, or stopped it) | "failed" (an
    error came instead) | "interrupted" (the process ended). cited: the answer with document and page in the
    place of its keys, as later prompts show it. at: when it was asked, in seconds since the epoch.
    """

    conversation: str
    number: int
    user: str
    assistant: str
    state: str
    cited: str
    at: float

    @property
    def exchange(self) -> Exchange:
        """What of it reaches a prompt. An answer that is not whole says so; its question can be leant on
        all the same.
        """
        mark = "" if self.state == "complete" else f" ({UNFINISHED.get(self.state, self.state)})"
        return Exchange(self.user, f"{self.cited.strip()}{mark}".strip() if mark else self.cited)


@dataclass(frozen=True, slots=True)
class Summary:
    """What some exchanges came to. first, last: their numbers. model: who wrote it."""

    first: int
    last: int
    text: str
    model: str


class Conversations:
    """All conversations of a store, private ones in memory. Reads and writes from any thread; everything
    is asked for by its owner.
    """

    def __init__(self, database: MemoryDatabase) -> None:
        """Raises StoreError where the tables cannot be made."""
        self._disk, self._memory = database, MemoryDatabase(None)
        for one in (self._disk, self._memory):
            one.prepare(TABLES)
        with (
            suppress(StoreError),
            self._disk.write() as connection,
        ):  # on a full disk they can be read all the same
            connection.execute("update exchange set state = 'interrupted' where state = 'answering'")

    def close(self) -> None:
        """Forget the private conversations."""
        self._memory.close()

    # --- conversations
    # ------------------------------------------------------------------------------------------------------

    def begin(self, owner: str, conversation: str | None = None, *, private: bool = False) -> str:
        """The id of a conversation of `owner`, made if need be. private: nothing of a new one is written to
        disk.

        Raises NotFoundError for an id that is malformed, deleted or somebody else's, ValueError for a private
        one whose id does not say so.
        """
        if private and conversation and not conversation.startswith(PRIVATE):
            raise ValueError(f"{conversation!r} does not begin with {PRIVATE!r}: it would be written to disk")
        conversation = conversation or (PRIVATE if private else "") + secrets.token_urlsafe(12)
        if not CONVERSATION_ID.fullmatch(conversation):
            raise NotFoundError(
                f"{conversation[:80]!r} is not the id of a conversation.",
                hint="Use letters, digits, - and _, at most 64.",
            )
        now = time.time()
        file = self._file(conversation)
        file.change(
            (
                "insert into conversation (id, owner, begun_at, changed_at) values (?, ?, ?, ?) on "
                "conflict(id) do nothing"
            ),
            (conversation, owner, now, now),
        )
        if file.read("select owner, deleted_at from conversation where id = ?", (conversation,)) != [
            (owner, None)
        ]:
            raise NotFoundError(f"There is no conversation {conversation!r}.", hint="Begin a new one.")
        return conversation

    def get(self, conversation: str, owner: str) -> ConversationRow:
        """One conversation, deleted or not. Raises NotFoundError where it is not this owner's."""
        known = CONVERSATION_ID.fullmatch(conversation)
        if known:
            rows = self._file(conversation).read(f"{ROW} where id = ? and owner = ?", (conversation, owner))
        else:
            rows = []
        if not rows:
            raise NotFoundError(f"There is no conversation {conversation[:80]!r}.", hint="Begin a new one.")
        return _row(rows[0])

    def listed(self, owner: str, *, search: str = "", deleted: bool = False) -> list[ConversationRow]:
        """The conversations of an owner that hold something, the one that changed last first. search: only
        those with each of its words in the title or in what was said, whatever the case. deleted: those that
        can be brought back instead."""
        statement = (
            f"{ROW} where owner = ? and deleted_at is {'not ' if deleted else ''}null and exists (select 1 "
            f"from exchange where conversation = id)"
        )
        rows = [_row(row) for file in (self._disk, self._memory) for row in file.read(statement, (owner,))]
        words = search.casefold().split()
        found = [row for row in rows if self._holds(row, words)]
        return sorted(found, key=lambda row: (-row.changed_at, row.id))

    def _holds(self, row: ConversationRow, words: Sequence[str]) -> bool:
        left = {word for word in words if word not in row.title.casefold()}
        if left:
            texts = self._file(row.id).read(
                "select user, assistant from exchange where conversation = ?", (row.id,)
            )
        else:
            texts = []
        said = "\n".join(f"{user}\n{assistant}" for user, assistant in texts).casefold()
        return all(word in said for word in left)

    def rename(self, conversation: str, owner: str, title: str) -> None:
        """Give it a title; an empty one gives its first question back. Raises NotFoundError."""
        named = " ".join(encodable(title).split())[:LONGEST_TITLE]
        self._change(conversation, owner, "title = ?", (named or None,))

    def choose(self, conversation: str, owner: str, *, compresses: bool, recalls_others: bool) -> None:
        """What is done with it; see ConversationRow. Raises NotFoundError."""
        self._change(conversation, owner, "compresses = ?, recalls_others = ?", (compresses, recalls_others))

    def switch(self, conversation: str, owner: str, memory: str, *, on: bool) -> None:
        """Switch one memory on or off in it, such as "cases". Raises NotFoundError."""
        off = self.get(conversation, owner).off
        self._change(
            conversation, owner, "off = ?", (" ".join(sorted(off - {memory} if on else off | {memory})),)
        )

    def delete(self, conversation: str, owner: str) -> None:
        """Hide it; it can be restored for KEPT_DAYS. A private one too, while the process lasts. Raises
        NotFoundError.
        """
        self._change(conversation, owner, "deleted_at = coalesce(deleted_at, ?)", (time.time(),))

    def restore(self, conversation: str, owner: str) -> None:
        """Bring a deleted one back. Raises NotFoundError where it is erased already."""
        self._change(conversation, owner, "deleted_at = null", ())

    def erase(self, conversation: str, owner: str) -> None:
        """Erase it for good. Raises NotFoundError."""
        self.get(conversation, owner)
        self._file(conversation).change(
            "delete from conversation where id = ? and owner = ?", (conversation, owner)
        )
        self._file(conversation).erased()

    def _change(self, conversation: str, owner: str, change: str, arguments: Sequence[Any]) -> None:
        if not self._file(conversation).change(
            f"update conversation set {change} where id = ? and owner = ?", (*arguments, conversation, owner)
        ):
            raise NotFoundError(
                f"There is no conversation {conversation[:80]!r}.", hint="It was erased, or is not yours."
            )

    def sweep(self, retention_days: float = 0) -> int:
        """Erase what was deleted KEPT_DAYS ago, what nobody went on with for retention_days (0: for ever),
        and private ones left for a day. Returns how many.
        """
        now = time.time()
        if retention_days > 0:
            since = now - retention_days * 86_400
        else:
            since = 0.0
        gone = self._disk.change(
            "delete from conversation where deleted_at < ? or changed_at < ?",
            (now - KEPT_DAYS * 86_400, since),
        )
        gone += self._memory.change("delete from conversation where changed_at < ?", (now - PRIVATE_SECONDS,))
        if gone:
            self._disk.erased()
        return gone

    # --- exchanges
    # --------------------------------------------------------------------------------------------------------

    def start(self, conversation: str, question: str) -> int:
        """Note that a question was asked. Returns the number of its exchange."""
        now = time.time()
        with self._file(conversation).write() as connection:
            ((number,),) = connection.execute(
                "select coalesce(max(number), 0) + 1 from exchange where conversation = ?", (conversation,)
            ).fetchall()
            connection.execute(
                (
                    "insert into exchange (conversation, number, user, assistant, at, state) values (?, ?, "
                    "?, '', ?, 'answering')"
                ),
                (conversation, number, encodable(question), now),
            )
            connection.execute("update conversation set changed_at = ? where id = ?", (now, conversation))
        return int(number)

    def write(
        self, conversation: str, number: int, text: str, *, owner: str, state: str = "answering"
    ) -> None:
        """Keep the answer as far as it has come, where it is still this owner's. state: as in Said."""
        self._file(conversation).change(
            (
                f"update exchange set assistant = ?, state = ? where conversation = ? and number = ? and "
                f"state != 'complete' and {OWNED}"
            ),
            (encodable(text), state, conversation, number, owner),
        )

    def finish(
        self, conversation: str, number: int, answer: Answer, files: Mapping[int, str], *, owner: str
    ) -> None:
        """Keep the answer in full. files: SHA-256 of the file of each version it speaks of. Raises
        NotFoundError where the exchange was erased meanwhile.
        """
        shortened = answer.compression
        sizes = (
            (shortened.original_tokens, shortened.compressed_tokens, shortened.chunks_compressed)
            if shortened
            else (None, None, None)
        )
        with self._file(conversation).write() as connection:
            done = connection.execute(
                "update exchange set assistant = ?, cited = ?, state = 'complete', full_tokens = ?, "
                "kept_tokens = ?, chunks = ?"
                f" where conversation = ? and number = ? and {OWNED}",
                (encodable(answer.text), encodable(cited_text(answer)), *sizes, conversation, number, owner),
            )
            if not done.rowcount:
                raise NotFoundError("The conversation was erased meanwhile.", hint="Begin a new one.")
            connection.execute(
                "insert or replace into detail (conversation, number, answer) values (?, ?, ?)",
                (conversation, number, pack_answer(answer, files)),
            )
            connection.executemany(
                "insert or ignore into source values (?, ?, ?)",
                [(digest, conversation, number) for digest in files.values()],
            )

    def said(self, conversation: str, owner: str, *, last: int = -1, before: int = 2**62) -> list[Said]:
        """The exchanges, oldest first; of a conversation that is not there, deleted or not this owner's none.
        last: only so many, -1 for all; before: only those of a lower number."""
        rows = self._file(conversation).read(
            "select conversation, number, cast(user as text), cast(assistant as text), cast(state as "
            "text), cast(coalesce(cited, assistant) as text),"
            " min(max(cast(at as real), 0), 4e9) from exchange join conversation on id = conversation"
            " where conversation = ? and owner = ? and deleted_at is null and number < ? order by number "
            "desc limit ?",
            (conversation, owner, before, last),
        )
        return [Said(*row) for row in reversed(rows)]

    def given(self, conversation: str, owner: str, *, last: int = -1) -> list[Said]:
        """As said, but for those whose answers are being written."""
        return [one for one in self.said(conversation, owner, last=last) if one.state != "answering"]

    def complete(self, conversation: str, owner: str, *, before: int = 2**62) -> list[Said]:
        """As said, of those whose answers came whole."""
        return [one for one in self.said(conversation, owner, before=before) if one.state == "complete"]

    def window(self, conversation: str, owner: str, size: int = WINDOW) -> list[Exchange]:
        """The last `size` exchanges but for one that is being written, oldest first, as prompts show them."""
        return [one.exchange for one in self.given(conversation, owner, last=size + MOST_AT_ONCE)[-size:]]

    def answer(self, conversation: str, number: int, owner: str) -> tuple[Answer, dict[int, str]] | None:
        """(the answer in full but for the pages' text, SHA-256 of the file of each version in it); None where
        only its words were kept.

        Raises StoreError where it is damaged.
        """
        rows = self._file(conversation).read(
            (
                "select answer from detail join conversation on id = conversation where conversation = ? "
                "and number = ? and owner = ? and answer is not null"
            ),
            (conversation, number, owner),
        )
        try:
            if rows:
                return unpack_answer(rows[0][0])
            return None
        except ValueError as error:
            raise StoreError(
                f"What was checked of answer {number} cannot be read any more; its words can.",
                hint="Ask again to see its pages.",
            ) from error

    def compressions(self, conversation: str, owner: str) -> list[tuple[Any, ...]]:
        """(number, time, tokens of all, tokens kept, chunks shortened) of each answer that was given with
        a shortened conversation before it, oldest first.
        """
        return self._file(conversation).read(
            "select number, min(max(cast(at as real), 0), 4e9), cast(full_tokens as integer), "
            "coalesce(cast(kept_tokens as integer), 0),"
            " coalesce(cast(chunks as integer), 0)"
            " from exchange join conversation on id = conversation where conversation = ? and owner = ?"
            " and full_tokens is not null order by number",
            (conversation, owner),
        )

    # --- what memories stand on
    # ---------------------------------------------------------------------------------------------

    def vectors(self, conversations: Sequence[str], fingerprint: str) -> dict[tuple[str, int], Vectors]:
        """The vectors of exchanges, by conversation and number, that an embedder of this fingerprint made."""
        sound = """select conversation, number, vector from detail where conversation = ? and fingerprint = ?
            and typeof(vector) = 'blob' and length(vector) % 4 = 0"""
        rows = [row for one in conversations for row in self._file(one).read(sound, (one, fingerprint))]
        return {
            (conversation, number): np.frombuffer(data, np.float32) for conversation, number, data in rows
        }

    def keep_vector(self, conversation: str, number: int, fingerprint: str, vector: Vectors) -> None:
        """Keep the vector of one exchange."""
        self._file(conversation).change(
            "insert into detail (conversation, number, fingerprint, vector) select conversation, "
            "number, ?, ? from exchange where conversation = ?"
            " and number = ?"
            " on conflict (conversation, number) do update set fingerprint = excluded.fingerprint, vector "
            "= excluded.vector",
            (fingerprint, vector.astype(np.float32).tobytes(), conversation, number),
        )

    def summaries(self, conversation: str, owner: str) -> list[Summary]:
        """What was summarised, oldest first."""
        rows = self._file(conversation).read(
            (
                "select first, last, text, model from summary join conversation on id = conversation where "
                "conversation = ? and owner = ? order by last"
            ),
            (conversation, owner),
        )
        return [Summary(*row) for row in rows]

    def keep_summary(self, conversation: str, summary: Summary) -> None:
        """Keep a summary of some exchanges."""
        self._file(conversation).change(
            "insert or replace into summary select id, ?, ?, ?, ? from conversation where id = ?",
            (summary.first, summary.last, encodable(summary.text), summary.model, conversation),
        )

    def forget_files(self, is_there: Callable[[str], bool]) -> None:
        """Take the text of documents that were erased out of what is kept of answers: excerpts and prompts;
        the answers' own words and quotations stay.

        is_there: whether the file of this SHA-256 still is.
        """
        for file in (self._disk, self._memory):
            for digest in {
                digest
                for (digest,) in file.read("select distinct sha256 from source")
                if not is_there(digest)
            }:
                self._forget(file, digest)
                file.erased()

    def _forget(self, file: MemoryDatabase, digest: str) -> None:
        for conversation, number, data in file.read(
            (
                "select s.conversation, s.number, d.answer from source s join detail d using (conversation, "
                "number) where sha256 = ?"
            ),
            (digest,),
        ):
            try:
                answer, files = unpack_answer(data)
                stripped = pack_answer(
                    without_versions(answer, {version for version, held in files.items() if held == digest}),
                    files,
                )
            except (ValueError, TypeError):
                stripped = None  # what cannot be read cannot be stripped either
            with file.write() as connection:
                connection.execute(
                    "update detail set answer = ? where conversation = ? and number = ?",
                    (stripped, conversation, number),
                )
                connection.execute(
                    "delete from source where sha256 = ? and conversation = ? and number = ?",
                    (digest, conversation, number),
                )

    def _file(self, conversation: str) -> MemoryDatabase:
        if conversation.startswith(PRIVATE):
            return self._memory
        return self._disk


def _row(row: Iterable[Any]) -> ConversationRow:
    conversation, owner, title, begun, changed, count, deleted, compresses, others, off = row
    named = " ".join(title.split())[:LONGEST_TITLE]
    return ConversationRow(
        conversation,
        owner,
        named,
        begun,
        changed,
        count,
        deleted,
        bool(compresses),
        bool(others),
        frozenset(off.split()),
    )

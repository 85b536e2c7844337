"""Stores conversations, each with its owner and every answer in full.

It keeps what was said and does not decide what is made of it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from chatbot.errors import NotFoundError, StoreError, UsageError
from chatbot.memory.conversations.answer_records import (
    cited_text,
    pack_answer,
    unpack_answer,
    without_versions,
)
from chatbot.memory.conversations.conversation_names import NAME, PRIVATE, name_of
from chatbot.memory.memory_database import MemoryDatabase, Tables
from chatbot.models.tokens import encodable
from chatbot.records import Answer, Exchange, Usage
from chatbot.store.store_clock import DAY
from chatbot.store.vector_index import Vectors

__all__ = [
    "CONVERSATION_ID",
    "KEPT_DAYS",
    "TABLES",
    "WINDOW",
    "ConversationRow",
    "Conversations",
    "StoredExchange",
    "Summary",
]

TABLES = Tables(
    "conversations",
    """
create table conversation (id text primary key, owner text not null, begun_at real not null,
changed_at real not null, title text,
    deleted_at real, compresses integer not null default 1, recalls_others integer not null default 0,
    off text not null default '') without rowid;
create index conversation_of on conversation(owner, changed_at);
create table exchange (conversation text not null references conversation(id) on delete cascade,
number integer not null, "user" text not null,
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
create table spent (conversation text not null, number integer not null, prompt_tokens integer not null,
    answer_tokens integer not null, estimated integer not null, seconds real not null,
    first_seconds real not null, cost real, primary key (conversation, number),
    foreign key (conversation, number) references exchange(conversation, number) on delete cascade)
    without rowid;
""",
    version=2,
)
# Exchanges in a conversation's sliding window.
WINDOW = 10
# Days for which a deleted conversation can be restored; the same as for a removed document.
KEPT_DAYS = 7
# More exchanges than any conversation has.
ALL = 2**62
# Questions of one conversation that may be open at the same time, from several tabs.
ANSWERS_AT_ONCE = 8
# Private conversations that were idle for this long are dropped. Otherwise they would stay in memory until
# the server ends.
PRIVATE_SECONDS = DAY
# A name, or a name after its owner and a dot.
CONVERSATION_ID = re.compile(rf"(?:[A-Za-z0-9_-]{{1,200}}\.)?{NAME.strip('^$')}")
LONGEST_TITLE = 120
UNFINISHED = {
    "stopped": "stopped, unchecked",
    "failed": "no answer came",
    "interrupted": "interrupted, unchecked",
    "answering": "still being written",
}
# Casts make a damaged value odd text or 0 rather than an error.
ROW = """select id, owner, cast(coalesce(title, (select substr("user", 1,
    400) from exchange where conversation = id order by number limit 1), '') as text),
    cast(begun_at as double precision), cast(changed_at as double precision),
    (select count(*) from exchange where conversation = id), cast(deleted_at as double precision),
    cast(compresses as integer),
    cast(recalls_others as integer), cast(off as text)
    from conversation"""

# Times are bounded to the year 2096, beyond which no calendar here is reliable.
LATEST = 4e9
# A conversation may be erased, and its id taken by somebody else, while an answer is being written.
INTERRUPT = (
    "update exchange set state = 'interrupted' where conversation = ? and number = ? and state = 'answering'"
)
OWNED = "exists (select 1 from conversation where id = exchange.conversation and owner = ?)"


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation as listed. Times are in seconds since the epoch.

    id: its id.
    owner: whose it is.
    title: as named, or else its first question, cut.
    begun_at: when it began.
    changed_at: when it last changed.
    exchanges: how many there are.
    deleted_at: None unless it is deleted.
    compresses: whether the model gets a long one shortened.
    recalls_others: whether the owner's other conversations may be recalled in it.
    off: names of the memories that are switched off in it.
    private: whether nothing of it is on disk.
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

    @property
    def name(self) -> str:
        """What its owner calls it."""
        return name_of(self.id)


@dataclass(frozen=True, slots=True)
class StoredExchange:
    """One exchange as stored.

    conversation: id of its conversation.
    number: 1-based in its conversation.
    user: the question.
    assistant: the answer's text, as far as it has come.
    state: "answering" | "complete" | "stopped" (the reader left or stopped it) | "failed" (an error came
        instead) | "interrupted" (the process ended).
    cited: the answer with document and page in place of its keys, as later prompts show it.
    at: when it was asked, in seconds since the epoch.
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
        """What a prompt shows of it.

        An incomplete answer is marked as such; follow-up questions can still refer to its question.
        """
        if self.state == "complete":
            return Exchange(self.user, self.cited)
        mark = f" ({UNFINISHED.get(self.state, self.state)})"
        return Exchange(self.user, f"{self.cited.strip()}{mark}".strip())


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of some exchanges.

    first, last: their numbers.
    text: the summary.
    model: which model wrote it.
    """

    first: int
    last: int
    text: str
    model: str


class Conversations:
    """All conversations of a store; private ones are in memory.

    Safe to read and write from any thread. Everything is asked for by its owner.
    """

    def __init__(self, database: MemoryDatabase) -> None:
        """Raises StoreError if the tables cannot be made."""
        self._disk, self._memory = database, MemoryDatabase(None)
        for file in (self._disk, self._memory):
            file.prepare(TABLES)
        self._clock = database.clock
        # On a full disk this fails, but the conversations can still be read.
        with suppress(StoreError):
            self._mark_interrupted()

    def close(self) -> None:
        """Forget the private conversations."""
        self._memory.close()

    def _mark_interrupted(self) -> None:
        """Note which answers nobody is writing any more."""
        rows = self._disk.read("select conversation, number from exchange where state = 'answering'")
        being_written = self._disk.database.claimed_elsewhere([_answering(*row) for row in rows])
        left = [row for row in rows if _answering(*row) not in being_written]
        if left:
            self._disk.change_each(INTERRUPT, left)

    def is_written(self, said: StoredExchange) -> bool:
        """Whether another process is writing this answer. If none is, it is noted as interrupted.

        To be asked of one that this process does not write.
        """
        work = _answering(said.conversation, said.number)
        if self._file(said.conversation).database.claimed_elsewhere([work]):
            return True
        self._file(said.conversation).change(INTERRUPT, (said.conversation, said.number))
        return False

    # --- conversations
    # ------------------------------------------------------------------------------------------------------

    def begin(self, owner: str, conversation: str | None = None, *, private: bool = False) -> str:
        """The id of a conversation of `owner`, which is created if need be.

        private: nothing of a new conversation is written to disk. Raises NotFoundError for an id that is
        deleted or somebody else's, UsageError for one that is malformed, and ValueError for a private
        conversation whose id does not say so.
        """
        if private and conversation and not conversation.startswith(PRIVATE):
            raise ValueError(f"{conversation!r} does not begin with {PRIVATE!r}: it would be written to disk")
        if not conversation:
            prefix = PRIVATE if private else ""
            conversation = prefix + secrets.token_urlsafe(12)
        of_owner, dot, _ = conversation.removeprefix(PRIVATE).rpartition(".")
        if not CONVERSATION_ID.fullmatch(conversation) or (dot and of_owner != owner):
            raise UsageError(
                f"{conversation[:80]!r} is not a valid conversation ID.",
                hint="Use up to 64 letters, digits, - and _.",
            )
        now = self._clock.now()
        file = self._file(conversation)
        insert = (
            "insert into conversation (id, owner, begun_at, changed_at) values (?, ?, ?, ?) on "
            "conflict(id) do nothing"
        )
        file.change(insert, (conversation, owner, now, now))
        rows = file.read("select owner, deleted_at from conversation where id = ?", (conversation,))
        if not rows or rows[0][0] != owner:
            raise NotFoundError(f"There is no conversation {conversation!r}.", hint="Start a new one.")
        if rows[0][1] is not None:
            raise NotFoundError(
                f"The conversation {name_of(conversation)!r} is deleted.",
                hint="Restore it, or start another.",
            )
        return conversation

    def owner_of(self, conversation: str) -> str:
        """Whose conversation has this id, "" for nobody's."""
        rows = self._file(conversation).read("select owner from conversation where id = ?", (conversation,))
        return str(rows[0][0]) if rows else ""

    def get(self, conversation: str, owner: str) -> ConversationRow:
        """One conversation, deleted or not. Raises NotFoundError if it is not this owner's."""
        rows: list[tuple[Any, ...]] = []
        if CONVERSATION_ID.fullmatch(conversation):
            rows = self._file(conversation).read(f"{ROW} where id = ? and owner = ?", (conversation, owner))
        if not rows:
            raise NotFoundError(
                f"There is no conversation named {name_of(conversation)[:80]!r}.", hint="Start a new one."
            )
        return _row(rows[0])

    def listed(self, owner: str, *, search: str = "", deleted: bool = False) -> list[ConversationRow]:
        """An owner's conversations that are not empty, the one that changed last first.

        search: only those that hold each of its words in the title or the exchanges, in any case. deleted:
        only those that can be restored, instead of the others.
        """
        statement = (
            f"{ROW} where owner = ? and deleted_at is {'not ' if deleted else ''}null and exists (select 1 "
            f"from exchange where conversation = id)"
        )
        rows: list[ConversationRow] = []
        for file in (self._disk, self._memory):
            rows += map(_row, file.read(statement, (owner,)))
        words = search.casefold().split()
        matching = [row for row in rows if self._holds(row, words)]
        return sorted(matching, key=lambda row: (-row.changed_at, row.id))

    def _holds(self, row: ConversationRow, words: Sequence[str]) -> bool:
        """Whether a conversation holds each of the words in its title or its exchanges."""
        missing = {word for word in words if word not in row.title.casefold()}
        if not missing:
            return True
        statement = 'select "user", assistant from exchange where conversation = ?'
        exchanges = self._file(row.id).read(statement, (row.id,))
        text = "\n".join(f"{user}\n{assistant}" for user, assistant in exchanges).casefold()
        return all(word in text for word in missing)

    def rename(self, conversation: str, owner: str, title: str) -> None:
        """Give it a title; an empty one brings back its first question. Raises NotFoundError."""
        named = " ".join(encodable(title).split())[:LONGEST_TITLE]
        self._change(conversation, owner, "title = ?", (named or None,))

    def choose(self, conversation: str, owner: str, *, compresses: bool, recalls_others: bool) -> None:
        """Set how it is used; see ConversationRow. Raises NotFoundError."""
        self._change(conversation, owner, "compresses = ?, recalls_others = ?", (compresses, recalls_others))

    def switch(self, conversation: str, owner: str, memory: str, *, on: bool) -> None:
        """Switch one memory, such as "cases", on or off in it. Raises NotFoundError."""
        off = self.get(conversation, owner).off
        if on:
            off -= {memory}
        else:
            off |= {memory}
        self._change(conversation, owner, "off = ?", (" ".join(sorted(off)),))

    def delete(self, conversation: str, owner: str) -> None:
        """Hide it; it can be restored for KEPT_DAYS. Raises NotFoundError.

        A private conversation can be restored too, while the process lasts.
        """
        self._change(conversation, owner, "deleted_at = coalesce(deleted_at, ?)", (self._clock.now(),))

    def restore(self, conversation: str, owner: str) -> None:
        """Bring a deleted conversation back. Raises NotFoundError if it is already erased."""
        self._change(conversation, owner, "deleted_at = null", ())

    def erase(self, conversation: str, owner: str) -> None:
        """Erase it for good. Raises NotFoundError."""
        self.get(conversation, owner)
        file = self._file(conversation)
        file.change("delete from conversation where id = ? and owner = ?", (conversation, owner))
        file.erased()

    def _change(self, conversation: str, owner: str, change: str, arguments: Sequence[Any]) -> None:
        statement = f"update conversation set {change} where id = ? and owner = ?"
        changed = self._file(conversation).change(statement, (*arguments, conversation, owner))
        if not changed:
            raise NotFoundError(
                f"There is no conversation named {name_of(conversation)[:80]!r}.",
                hint="It was erased or is not yours.",
            )

    def sweep(self, retention_days: float = 0) -> int:
        """Erase old conversations, and return how many.

        Those are: deleted KEPT_DAYS ago, idle for retention_days (0: never), and private ones idle for a day.
        """
        now = self._clock.agreed()
        if retention_days > 0:
            idle_since = now - retention_days * DAY
        else:
            idle_since = 0.0
        deleted_since = now - KEPT_DAYS * DAY
        statement = "delete from conversation where deleted_at < ? or changed_at < ?"
        gone = self._disk.change(statement, (deleted_since, idle_since))
        gone += self._memory.change("delete from conversation where changed_at < ?", (now - PRIVATE_SECONDS,))
        if gone:
            self._disk.erased()
        return gone

    # --- exchanges
    # --------------------------------------------------------------------------------------------------------

    def start(self, conversation: str, question: str) -> int:
        """Record that a question was asked. Returns the number of its exchange."""
        now = self._clock.now()
        next_number = "select coalesce(max(number), 0) + 1 from exchange where conversation = ?"
        insert = (
            'insert into exchange (conversation, number, "user", assistant, at, state) values (?, ?, '
            "?, '', ?, 'answering')"
        )
        with self._file(conversation).write() as connection:
            ((number,),) = connection.execute(next_number, (conversation,)).fetchall()
            connection.execute(insert, (conversation, number, encodable(question), now))
            connection.execute("update conversation set changed_at = ? where id = ?", (now, conversation))
            self._file(conversation).database.claim(_answering(conversation, number))
        return int(number)

    def write(
        self, conversation: str, number: int, text: str, *, owner: str, state: str = "answering"
    ) -> None:
        """Store the answer as far as it has come, if it is still this owner's. state: as in Said."""
        statement = (
            f"update exchange set assistant = ?, state = ? where conversation = ? and number = ? and "
            f"state != 'complete' and {OWNED}"
        )
        self._file(conversation).change(statement, (encodable(text), state, conversation, number, owner))
        if state != "answering":
            self._file(conversation).database.release(_answering(conversation, number))

    def finish(
        self, conversation: str, number: int, answer: Answer, files: Mapping[int, str], *, owner: str
    ) -> None:
        """Store the answer in full.

        files: SHA-256 of the file of each version that it refers to. Raises NotFoundError if the exchange was
        erased meanwhile.
        """
        shortened = answer.compression
        sizes: tuple[int | None, int | None, int | None] = (None, None, None)
        if shortened:
            sizes = (shortened.original_tokens, shortened.compressed_tokens, shortened.chunks_compressed)
        update = (
            "update exchange set assistant = ?, cited = ?, state = 'complete', full_tokens = ?, "
            "kept_tokens = ?, chunks = ?"
            f" where conversation = ? and number = ? and {OWNED}"
        )
        texts = (encodable(answer.text), encodable(cited_text(answer)))
        with self._file(conversation).write() as connection:
            done = connection.execute(update, (*texts, *sizes, conversation, number, owner))
            if not done.rowcount:
                raise NotFoundError("The conversation has been erased.", hint="Start a new one.")
            connection.execute(
                "insert into detail (conversation, number, answer) values (?, ?, ?)"
                " on conflict (conversation, number)"
                " do update set answer = excluded.answer, fingerprint = null, vector = null",
                (conversation, number, pack_answer(answer, files)),
            )
            sources = [(digest, conversation, number) for digest in files.values()]
            connection.executemany("insert into source values (?, ?, ?) on conflict do nothing", sources)
            if answer.usage is not None:
                spent = (conversation, number, *astuple(answer.usage))
                connection.execute(
                    "delete from spent where conversation = ? and number = ?", (conversation, number)
                )
                connection.execute("insert into spent values (?, ?, ?, ?, ?, ?, ?, ?)", spent)
        self._file(conversation).database.release(_answering(conversation, number))

    def spent(self, conversation: str, owner: str) -> tuple[int, Usage | None]:
        """(count of answers by chat models, what they used together); (0, None) where there is none.

        The cost is of those answers that have one.
        """
        statement = (
            "select count(*), sum(prompt_tokens), sum(answer_tokens), max(estimated), sum(seconds), "
            "sum(first_seconds), sum(cost) from spent join conversation on id = conversation "
            "where conversation = ? and owner = ?"
        )
        ((count, *sums),) = self._file(conversation).read(statement, (conversation, owner))
        if not count:
            return 0, None
        prompt_tokens, answer_tokens, estimated, seconds, first_seconds, cost = sums
        usage = Usage(prompt_tokens, answer_tokens, bool(estimated), seconds, first_seconds, cost)
        return count, usage

    def said(
        self, conversation: str, owner: str, *, last: int = ALL, before: int = ALL
    ) -> list[StoredExchange]:
        """The exchanges, oldest first; none of a conversation that is missing, deleted or not this owner's.

        last: only this many. before: only those with a lower number.
        """
        statement = (
            'select conversation, number, cast("user" as text), cast(assistant as text), cast(state as '
            "text), cast(coalesce(cited, assistant) as text),"
            " cast(at as double precision) from exchange join conversation on id = conversation"
            " where conversation = ? and owner = ? and deleted_at is null and number < ? order by number "
            "desc limit ?"
        )
        rows = self._file(conversation).read(statement, (conversation, owner, before, last))
        return [
            StoredExchange(talk, number, user, assistant, state, cited, _bounded(at))
            for talk, number, user, assistant, state, cited, at in reversed(rows)
        ]

    def given(self, conversation: str, owner: str, *, last: int = ALL) -> list[StoredExchange]:
        """Like said, without exchanges whose answers are being written."""
        exchanges = self.said(conversation, owner, last=last)
        return [exchange for exchange in exchanges if exchange.state != "answering"]

    def complete(self, conversation: str, owner: str, *, before: int = ALL) -> list[StoredExchange]:
        """Like said, only exchanges whose answers are complete."""
        exchanges = self.said(conversation, owner, before=before)
        return [exchange for exchange in exchanges if exchange.state == "complete"]

    def window(self, conversation: str, owner: str, size: int = WINDOW) -> list[Exchange]:
        """The last `size` exchanges, oldest first, as prompts show them; without those being written."""
        latest = self.given(conversation, owner, last=size + ANSWERS_AT_ONCE)
        return [given.exchange for given in latest[-size:]]

    def answer(self, conversation: str, number: int, owner: str) -> tuple[Answer, dict[int, str]] | None:
        """(the answer in full but for the pages' text, SHA-256 of the file of each version in it).

        None if only its words were stored. Raises StoreError if it is damaged.
        """
        statement = (
            "select answer from detail join conversation on id = conversation where conversation = ? "
            "and number = ? and owner = ? and answer is not null"
        )
        rows = self._file(conversation).read(statement, (conversation, number, owner))
        try:
            if rows:
                return unpack_answer(rows[0][0])
            return None
        except ValueError as error:
            raise StoreError(
                f"The checks of answer {number} can no longer be read; its text can.",
                hint="Ask again to see its pages.",
            ) from error

    def compressions(self, conversation: str, owner: str) -> list[tuple[Any, ...]]:
        """The answers for which the conversation before them was shortened, oldest first.

        Each is (number, time, tokens before, tokens kept, chunks shortened).
        """
        statement = (
            "select number, cast(at as double precision), cast(full_tokens as integer), "
            "coalesce(cast(kept_tokens as integer), 0),"
            " coalesce(cast(chunks as integer), 0)"
            " from exchange join conversation on id = conversation where conversation = ? and owner = ?"
            " and full_tokens is not null order by number"
        )
        rows = self._file(conversation).read(statement, (conversation, owner))
        return [(number, _bounded(at), *sizes) for number, at, *sizes in rows]

    # --- what memories are built from
    # ---------------------------------------------------------------------------------------------

    def vectors(self, conversations: Sequence[str], fingerprint: str) -> dict[tuple[str, int], Vectors]:
        """The vectors that an embedder of this fingerprint made.

        They are by (conversation, number of the exchange).
        """
        statement = (
            "select number, vector from detail where conversation = ? and fingerprint = ? order by number"
        )
        found: dict[tuple[str, int], Vectors] = {}
        for conversation in conversations:
            rows = self._file(conversation).read(statement, (conversation, fingerprint))
            for number, data in rows:
                if not isinstance(data, bytes) or len(data) % 4:  # damaged
                    continue
                found[conversation, number] = np.frombuffer(data, np.float32)
        return found

    def keep_vector(self, conversation: str, number: int, fingerprint: str, vector: Vectors) -> None:
        """Store the vector of one exchange."""
        statement = (
            "insert into detail (conversation, number, fingerprint, vector) select conversation, "
            "number, ?, ? from exchange where conversation = ?"
            " and number = ?"
            " on conflict (conversation, number) do update set fingerprint = excluded.fingerprint, vector "
            "= excluded.vector"
        )
        data = vector.astype(np.float32).tobytes()
        self._file(conversation).change(statement, (fingerprint, data, conversation, number))

    def summaries(self, conversation: str, owner: str) -> list[Summary]:
        """The summaries, oldest first."""
        statement = (
            "select first, last, text, model from summary join conversation on id = conversation where "
            "conversation = ? and owner = ? order by last"
        )
        rows = self._file(conversation).read(statement, (conversation, owner))
        return [Summary(*row) for row in rows]

    def keep_summary(self, conversation: str, summary: Summary) -> None:
        """Store a summary of some exchanges."""
        self._file(conversation).change(
            "insert into summary select id, ?, ?, ?, ? from conversation where id = ?"
            " on conflict (conversation, last)"
            " do update set first = excluded.first, text = excluded.text, model = excluded.model",
            (summary.first, summary.last, encodable(summary.text), summary.model, conversation),
        )

    def forget_files(self, is_there: Callable[[str], bool]) -> None:
        """Remove the text of erased documents from stored answers.

        Excerpts and prompts go; the answers' own words and quotations stay. is_there: whether the file with
        this SHA-256 still exists.
        """
        for file in (self._disk, self._memory):
            rows = file.read("select distinct sha256 from source")
            erased = {digest for (digest,) in rows if not is_there(digest)}
            for digest in erased:
                self._forget(file, digest)
                file.erased()

    def _forget(self, file: MemoryDatabase, digest: str) -> None:
        statement = (
            "select s.conversation, s.number, d.answer from source s join detail d using (conversation, "
            "number) where sha256 = ?"
        )
        for conversation, number, data in file.read(statement, (digest,)):
            stripped = _without_file(data, digest)
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
    short_title = " ".join(title.split())[:LONGEST_TITLE]
    return ConversationRow(
        conversation,
        owner,
        short_title,
        _bounded(begun),
        _bounded(changed),
        count,
        deleted if deleted is None else _bounded(deleted),
        bool(compresses),
        bool(others),
        frozenset(off.split()),
    )


def _answering(conversation: str, number: int) -> str:
    """The name of the work that the answer of an exchange is."""
    return f"answer {conversation} {number}"


def _bounded(at: float) -> float:
    return min(max(at, 0.0), LATEST)


def _without_file(data: bytes, digest: str) -> bytes | None:
    """A packed answer without the text of one file.

    None for data that cannot be read, and so cannot be stripped.
    """
    try:
        answer, files = unpack_answer(data)
        versions = {version for version, file_digest in files.items() if file_digest == digest}
        return pack_answer(without_versions(answer, versions), files)
    except (ValueError, TypeError):
        return None

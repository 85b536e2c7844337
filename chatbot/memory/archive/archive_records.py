"""Defines the records of an archive of format 1: what users made, and where a store has it in its tables.

The fields do not follow the tables. A further field needs a default; any other change is another format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from chatbot.errors import SettingsError
from chatbot.memory.cases.case_store import CASES, DELETED, OF_FILE
from chatbot.memory.cases.records import Case, case_id, read_case
from chatbot.memory.conversations.answer_records import answer_in, packed, unpacked
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import CONVERSATION_ID
from chatbot.memory.items import SHARED, Item, put
from chatbot.memory.situations.situation_types import SITUATIONS, Situation, new_situation
from chatbot.memory.user_settings_store import MODEL_NAMES
from chatbot.store.corrections import FORGET_TITLES
from chatbot.store.damage import json_in
from chatbot.store.database import Transaction
from chatbot.store.document_names import display_name
from chatbot.store.migration.table_shapes import quoted
from chatbot.store.remembered_documents import EVERY_NAME
from chatbot.user_settings import BY_NAME, check_value
from ingestion.invisible_characters import visible
from ingestion.pages.document_facts import STATUSES, as_period

__all__ = [
    "KINDS",
    "TABLED",
    "ArchivedRecord",
    "ConversationRecord",
    "KeyRecord",
    "NewsRecord",
    "Read",
    "Reading",
    "RemovedNewsRecord",
    "SkippedError",
    "Telling",
]

Row: TypeAlias = tuple[Any, ...]
Read: TypeAlias = Callable[[str, Sequence[Any]], list[Row]]
ROWS_AT_ONCE = 200
# What stands for the owner of a case.
OWNER = re.compile("[0-9a-f]{32}")


class SkippedError(Exception):
    """A record that is sound but cannot be put into this store, with the reason."""


def _on_one_line(text: str) -> str:
    if visible(text) != text or set(text) & {"\n", "\t"}:
        raise ValueError("it has control characters or more than one line")
    return text


# A name; and what somebody wrote, which is escaped wherever it is shown. No text in a Postgres holds NUL.
Name: TypeAlias = Annotated[
    str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(_on_one_line)
]
Text: TypeAlias = Annotated[str, AfterValidator(lambda text: text.replace("\0", "\ufffd"))]
Digest: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
# Seconds since the epoch, as far as keys may be valid; a number; an amount: so small that they can be summed.
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]
Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**40)]
Amount: TypeAlias = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class ArchivedRecord(BaseModel):
    """A line of an archive.

    kind: what the file is called that has these records.
    table: where they are put, if `put` does not say otherwise.
    query: selects all of them with columns named like the fields; by default those of the table.
    more: further columns of it, for `keys`, `order` and `of_row`.
    keys, order: columns that name a record, and those by which they are read, if these are others.
    time: the field that tells whether a record is later than another of its keys.
    of_conversation: whether a record is a part of a conversation.
    other: why one stays away that says something else than another of its keys.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    kind: ClassVar[str]
    table: ClassVar[str] = ""
    query: ClassVar[str] = ""
    more: ClassVar[tuple[str, ...]] = ()
    keys: ClassVar[tuple[str, ...]] = ()
    order: ClassVar[tuple[str, ...]] = ()
    time: ClassVar[str] = ""
    of_conversation: ClassVar[bool] = False
    other: ClassVar[str] = "it is different here, and stays as it is here"

    def line(self) -> bytes:
        """The record as a line of JSON with its line end."""
        return json.dumps(self.model_dump(), ensure_ascii=False).encode() + b"\n"

    @classmethod
    def listed(cls) -> str:
        """What a statement finds all of them in."""
        return f"({cls.query or f'select * from {cls.table}'}) as listed"

    @classmethod
    def rows(cls, read: Read) -> Iterator[dict[str, Any]]:
        """Yields all rows, by column, a few at a time. Raises StoreError."""
        order, compared, after = cls.order or cls.keys, "", Row()
        while found := cls._found(read, order, compared, after):
            yield from found
            compared, after = ">", tuple(found[-1][column] for column in order)

    @classmethod
    def _found(cls, read: Read, keys: Sequence[str], compared: str, values: Row) -> list[dict[str, Any]]:
        columns = [*cls.model_fields, *cls.more]
        where = f" where ({quoted(keys)}) {compared} ({', '.join('?' * len(keys))})" if compared else ""
        rest = f"{where} order by {quoted(keys)} limit {ROWS_AT_ONCE}"
        rows = read(f"select {quoted(columns)} from {cls.listed()}{rest}", values)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @classmethod
    def of_row(cls, values: dict[str, Any]) -> Self:
        """The record of a row. Raises ValueError for a damaged one."""
        # Tables have 0 and 1 for what is true or not.
        return cls.model_validate({name: values[name] for name in cls.model_fields}, strict=False)

    def key(self) -> Row:
        """The values that name it."""
        return tuple(getattr(self, name) for name in self.keys)

    def called(self) -> str:
        """What it is called where it is left out."""
        return " ".join(map(str, self.key()))

    def there(self, read: Read) -> Self | None:
        """What a store has under its keys. Raises ValueError if that is damaged."""
        found = self._found(read, self.keys, "=", self.key())
        return self.of_row(found[0]) if found else None

    def check(self) -> None:
        """Raises ProjectError or ValueError if no store has such a record, SkippedError if only this version
        takes none.
        """

    def put(self, transaction: Transaction) -> None:
        """Puts it into the tables, in place of one with the same keys."""
        values = self.model_dump()
        changed = ", ".join(f"{name} = excluded.{name}" for name in values if name not in self.keys)
        transaction.execute(
            f"insert into {self.table} ({', '.join(values)}) values ({', '.join('?' * len(values))})"
            f" on conflict ({', '.join(self.keys)}) do update set {changed}",
            tuple(values.values()),
        )

    def says(self, there: Any) -> bool:
        """Whether another one of its keys says the same."""
        return bool(self.line() == there.line())


class KeyRecord(ArchivedRecord):
    """A key of the API. digest: SHA-256 of the key, all that is kept of it."""

    kind, table, keys, order = "keys", "api_key", ("digest",), ("id",)
    other = "another API key has its number here, or had it; make a new key"
    id: Annotated[int, Field(ge=1, lt=2**53)]
    name: Name
    digest: Digest
    scope: Literal["read", "ask", "manage"]
    created_at: Seconds
    expires_at: Seconds | None
    used_at: Seconds | None

    def called(self) -> str:
        return self.name

    def says(self, there: Any) -> bool:
        """Whether it has the same number, to which its conversations belong."""
        return bool(self.id == there.id)


class DocumentRecord(ArchivedRecord):
    """A name of a file. sha256: of its bytes. title: as found in it. removed_at: None if it is in use."""

    kind, table, keys, query = "documents", "remembered", ("sha256", "name"), EVERY_NAME
    sha256: Digest
    name: Name
    title: Text | None
    added_at: Seconds
    removed_at: Seconds | None

    def check(self) -> None:
        if display_name(self.name) != self.name:
            raise ValueError("its name is a path, too long, or has characters that no document's name has")

    def says(self, there: Any) -> bool:
        return (self.removed_at is None) == (there.removed_at is None)


class CorrectionRecord(ArchivedRecord):
    """What a user says of a file. None: as the file says. "": nothing, whatever the file says."""

    kind, table, keys = "corrections", "correction", ("sha256",)
    sha256: Digest
    period: Text | None
    status: Text | None

    def check(self) -> None:
        of_a_document = not self.period or as_period(self.period) == self.period
        if not of_a_document or (self.status and self.status not in STATUSES):
            raise ValueError("its period or status is none that a document has")

    def put(self, transaction: Transaction) -> None:
        super().put(transaction)
        transaction.execute(FORGET_TITLES, (self.sha256,))


class ConversationRecord(ArchivedRecord):
    """A conversation; see ConversationRow. off: the memories that are switched off in it, with blanks."""

    kind, table, keys, time = "conversations", "conversation", ("id",), "changed_at"
    id: Name
    owner: Name
    begun_at: Seconds
    changed_at: Seconds
    title: Text | None
    deleted_at: Seconds | None
    compresses: bool
    recalls_others: bool
    off: Text

    def check(self) -> None:
        of_owner, dot, _ = self.id.rpartition(".")
        if self.id.startswith(PRIVATE) or not CONVERSATION_ID.fullmatch(self.id):
            raise ValueError("its id is none that a conversation has")
        if dot and of_owner != self.owner:
            raise ValueError("its id is that of another owner")


class Details(BaseModel):
    """An answer in full, and the SHA-256 of the files that it refers to, by its numbers for them."""

    model_config = ArchivedRecord.model_config
    answer: dict[str, Any]
    files: dict[Annotated[str, StringConstraints(pattern=r"^-?\d{1,18}$")], Digest]


class ExchangeRecord(ArchivedRecord):
    """A question and its answer; see StoredExchange.

    full_tokens, kept_tokens, chunks: of the conversation before it, if it was shortened; see Compression.
    prompt_tokens and what follows: what a chat model used for it; see Usage.
    """

    kind, keys, of_conversation = "exchanges", ("conversation", "number"), True
    query = """select e.conversation, e.number, e."user" as question, e.assistant as answer, e.at, e.state,
        e.cited, e.full_tokens, e.kept_tokens, e.chunks, d.answer as details, s.prompt_tokens,
        s.answer_tokens, s.estimated, s.seconds, s.first_seconds, s.cost from exchange e
        left join detail d on d.conversation = e.conversation and d.number = e.number
        left join spent s on s.conversation = e.conversation and s.number = e.number"""
    conversation: Name
    number: Annotated[int, Field(ge=1, lt=2**31)]
    question: Text
    answer: Text
    at: Seconds
    state: Literal["complete", "stopped", "failed", "interrupted"]
    cited: Text | None
    full_tokens: Number | None
    kept_tokens: Number | None
    chunks: Number | None
    details: Details | None
    prompt_tokens: Number | None
    answer_tokens: Number | None
    estimated: Annotated[int, Field(ge=0, le=1)] | None
    seconds: Amount | None
    first_seconds: Amount | None
    cost: Amount | None

    @classmethod
    def of_row(cls, values: dict[str, Any]) -> Self:
        if values["details"] is not None:
            try:
                values["details"] = unpacked(values["details"])
                answer_in(values["details"])
            except ValueError:  # they are damaged, and nobody can read them; the words are not
                values["details"] = None
        if values["state"] == "answering":  # of an archive nobody goes on with it
            values["state"] = "interrupted"
        return super().of_row(values)

    def check(self) -> None:
        if self.details is not None:
            answer_in(self.details.model_dump())
        spent = (self.prompt_tokens, self.answer_tokens, self.estimated, self.seconds, self.first_seconds)
        if None in spent and set(spent) != {None}:
            raise ValueError("it lacks some of what a chat model used for it")

    def put(self, transaction: Transaction) -> None:
        *values, details, prompt, answer, estimated, seconds, first, cost = self.model_dump().values()
        transaction.execute(
            'insert into exchange (conversation, number, "user", assistant, at, state, cited, full_tokens,'
            " kept_tokens, chunks) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        if details is not None:
            insert = "insert into detail (conversation, number, answer) values (?, ?, ?)"
            transaction.execute(insert, (*self.key(), packed(details)))
            files = [(digest, *self.key()) for digest in set(details["files"].values())]
            transaction.executemany("insert into source values (?, ?, ?)", files)
        if prompt is not None:
            used = (*self.key(), prompt, answer, estimated, seconds, first, cost)
            transaction.execute("insert into spent values (?, ?, ?, ?, ?, ?, ?, ?)", used)


class SummaryRecord(ArchivedRecord):
    """A summary of the exchanges with these numbers."""

    kind, table, keys, of_conversation = "summaries", "summary", ("conversation", "last"), True
    conversation: Name
    last: Number
    first: Number
    text: Text
    model: Text


class RatingRecord(ArchivedRecord):
    """A rated answer. shelf: what stands for its owner, and ".deleted" for one that can be restored; "shared"
    for that of the owner whom the case names, in archives up to version 0.9. case: as `memory cases export`
    writes it. shared: whether everybody has it.
    """

    kind, more, keys, order, time = "ratings", ("id", "number"), ("shelf", "id"), ("number",), "at"
    query = f"""select number, owner as shelf, key as id, shared, cast(payload as text) as "case" from item
        where kind = '{CASES.name}' and owner <> '{OF_FILE}'"""
    shelf: Annotated[str, StringConstraints(pattern=r"^(shared|[0-9a-f]{32}(\.deleted)?)$")]
    case: dict[str, Any]
    shared: bool = False

    @classmethod
    def of_row(cls, values: dict[str, Any]) -> Self:
        return super().of_row(values | {"case": json_in(values["case"])})

    def read(self) -> Case:
        """The case, as its owner has it. Raises ValueError."""
        case = read_case(json.dumps(self.case).encode())
        shared = self.shared and not self.shelf.endswith(DELETED)
        return replace(case, by="", id=case_id(case.question, asked_of=case.asked_of), shared=shared)

    @property
    def owner(self) -> str:
        """What stands for its owner."""
        return str(self.case.get("by", "")) if self.shelf == SHARED else self.shelf

    @property
    def at(self) -> float:
        """When it was rated."""
        return self.read().at

    def key(self) -> Row:
        return self.shelf, self.read().id

    def check(self) -> None:
        if self.shelf == SHARED and not OWNER.fullmatch(self.owner):
            raise SkippedError("it does not say whose it is")

    def put(self, transaction: Transaction) -> None:
        own = self.read()
        if self.shelf == SHARED:
            statement = "update item set shared = 1 where kind = ? and owner = ? and key = ?"
            if transaction.execute(statement, (CASES.name, self.owner, own.id)).rowcount:
                return
            own = replace(own, shared=True)
        put(transaction, CASES, self.owner, [own])


class SituationRecord(ArchivedRecord):
    """A situation, what was advised in it, and when."""

    kind, time, keys, order = "situations", "at", ("owner", "key"), ("number",)
    more = ("number", "key", "payload")
    query = f"""select number, key, owner, '' as scope, text as situation, '' as recommendation, 0.0 as at,
        payload from item
        where kind = '{SITUATIONS.name}'"""
    owner: Name
    scope: Text
    situation: Text
    recommendation: Text
    at: Seconds

    @classmethod
    def rows(cls, read: Read) -> Iterator[dict[str, Any]]:
        for row in super().rows(read):
            yield from cls._each(row)

    @classmethod
    def _each(cls, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            stored = SITUATIONS.value(Item(row["key"], row["situation"], row["payload"]), "")
        except ValueError:
            yield row | {"recommendation": None}  # `of_row` says that it is damaged
            return
        for text, at in stored.advice:
            yield row | {"scope": stored.scope, "recommendation": text, "at": at}

    def there(self, read: Read) -> Self | None:
        for row in self._found(read, self.keys, "=", (self.owner, self.key()[0])):
            for one in self._each(row):
                if one["recommendation"] == self.recommendation:
                    return self.of_row(one)
        return None

    def read(self) -> Situation:
        """The situation. Raises UsageError."""
        return new_situation(self.owner, self.scope, (self.situation, self.recommendation), self.at)

    def key(self) -> Row:
        return self.read().key, self.recommendation

    def put(self, transaction: Transaction) -> None:
        put(transaction, SITUATIONS, self.owner, [self.read()])


class SettingRecord(ArchivedRecord):
    """A setting that a user chose. value: as JSON."""

    kind, table, keys = "settings", "preference", ("owner", "name")
    owner: Name
    name: Name
    value: Text

    def check(self) -> None:
        value = json_in(self.value)
        try:
            if self.name in BY_NAME:
                check_value(self.name, value)
            elif self.name not in MODEL_NAMES or not isinstance(value, str):
                raise SkippedError("this version has no such setting")
        except SettingsError as error:
            raise SkippedError(error.message.rstrip(".")) from error


class SwitchRecord(ArchivedRecord):
    """A switch of the whole server: whether news signals are on."""

    kind, table, keys = "switches", "signal_state", ("name",)
    query = "select name, value from signal_state where name = 'on'"
    name: Literal["on"]
    value: bool


class NewsRatingRecord(ArchivedRecord):
    """A rating of an answer that had news of a source in it."""

    kind, table, keys = "news_ratings", "source_rating", ("owner", "conversation", "number", "source")
    owner: Name
    conversation: Name
    number: Number
    source: Text
    helpful: bool


class Telling(ArchivedRecord):
    """Where news was seen. number: its id there. at: seconds since the epoch."""

    source: Text
    number: Text
    link: Text
    at: Annotated[float, Field(ge=0, le=4e9, allow_inf_nan=False)]


class Reading(ArchivedRecord):
    """What news means to its analyser; see NewsReading."""

    summary: Text
    assets: tuple[Text, ...]
    action: Literal["buy", "sell", "observe"]
    confidence: Annotated[float, Field(ge=0, le=1)]
    analyser: Text
    summary_cn: Text = ""


class NewsRecord(ArchivedRecord):
    """News with all its tellings, the first one first, and its readings. It is in no table of the store's."""

    kind = "news"
    text: Text
    tellings: Annotated[tuple[Telling, ...], Field(min_length=1)]
    readings: tuple[Reading, ...]


class RemovedNewsRecord(ArchivedRecord):
    """The hash of news that somebody removed; no import of a file brings it back."""

    kind = "removed_news"
    sha256: Digest
    removed_at: Seconds


# The kinds that are put into the tables of each part of a store, in this order, and those of news.
TABLED: dict[str, tuple[type[ArchivedRecord], ...]] = {
    "keys": (KeyRecord,),
    "catalog": (DocumentRecord, CorrectionRecord),
    "memories": (
        ConversationRecord,
        ExchangeRecord,
        SummaryRecord,
        RatingRecord,
        SituationRecord,
        SettingRecord,
        SwitchRecord,
        NewsRatingRecord,
    ),
}
NEWS: tuple[type[ArchivedRecord], ...] = (NewsRecord, RemovedNewsRecord)
KINDS = {record.kind: record for record in (*chain.from_iterable(TABLED.values()), *NEWS)}

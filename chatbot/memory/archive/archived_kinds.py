"""Says of each kind of record where it is in a store's tables, and how it is put there.

News is elsewhere, see Signals. What is derived, such as vectors, is in no archive.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from chatbot.errors import SettingsError
from chatbot.memory.archive.archive_records import (
    ArchivedRecord,
    ConversationRecord,
    CorrectionRecord,
    DocumentRecord,
    ExchangeRecord,
    KeyRecord,
    NewsRatingRecord,
    RatingRecord,
    SettingRecord,
    SituationRecord,
    SummaryRecord,
    SwitchRecord,
)
from chatbot.memory.cases.case_file import own_case
from chatbot.memory.cases.case_store import OF_FILE, SHARED
from chatbot.memory.cases.records import Case, read_case
from chatbot.memory.conversations.answer_records import answer_in, packed, unpacked
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import CONVERSATION_ID
from chatbot.memory.situations.situation_store import insert_situation
from chatbot.memory.situations.situation_types import Situation, new_situation
from chatbot.memory.user_settings_store import MODEL_NAMES
from chatbot.store.corrections import FORGET_TITLES
from chatbot.store.database import Transaction
from chatbot.store.document_names import display_name
from chatbot.store.remembered_documents import EVERY_NAME
from chatbot.user_settings import BY_NAME, check_value

__all__ = ["CATALOG_KINDS", "KEYS", "MEMORY_KINDS", "Kind", "Read", "SkippedError"]

Row: TypeAlias = tuple[Any, ...]
Read: TypeAlias = Callable[[str, Sequence[Any]], list[Row]]
ROWS_AT_ONCE = 200


class SkippedError(Exception):
    """A record that is sound but cannot be put into this store, with the reason."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of record.

    columns: of `source`, a statement that selects all rows. keys: those that name a row, in the order of the
    archive.
    insert: puts a record into the tables, in place of one of the same keys.
    fields: makes the fields of a record of the columns.
    check: raises ProjectError or ValueError for a record that no store has, SkippedError for one that this
        version does not take.
    key: the values of `keys` of a record; by default its fields of these names.
    newer: whether the first of two records is the later one, for kinds that have a time.
    alike: whether two records of the same keys say the same.
    of_conversation: whether a record is a part of a conversation.
    """

    name: str
    record: type[Any]
    columns: str
    source: str
    keys: str
    insert: Callable[[Transaction, Any], object]
    fields: Callable[[dict[str, Any]], Mapping[str, Any]] = dict
    check: Callable[[Any], object] = lambda record: None
    key: Callable[[Any], Row] | None = None
    newer: Callable[[Any, Any], bool] = lambda record, there: False
    alike: Callable[[Any, Any], bool] = lambda record, there: bool(record.line() == there.line())
    order: str = ""
    of_conversation: bool = False

    def rows(self, read: Read) -> Iterator[Row]:
        """Yields all rows, a few at a time. Raises StoreError."""
        order = self.order or self.keys
        places = [self.columns.split(", ").index(column) for column in order.split(", ")]
        after: Row = ()
        rest = f" order by {order} limit {ROWS_AT_ONCE}"
        while rows := read(self._statement(order, ">" if after else "", rest), after):
            yield from rows
            after = tuple(rows[-1][place] for place in places)

    def find(self, transaction: Transaction, record: ArchivedRecord) -> ArchivedRecord | None:
        """Returns what a store has under the keys of a record. Raises ValueError if that is damaged."""
        key = self.key_of(record)
        row = transaction.execute(self._statement(self.keys, "=", ""), key).fetchone()
        return self.record_of(row) if row else None

    def key_of(self, record: ArchivedRecord) -> Row:
        """Returns what names a record."""
        return (
            self.key(record) if self.key else tuple(getattr(record, name) for name in self.keys.split(", "))
        )

    def record_of(self, row: Row) -> ArchivedRecord:
        """Returns the record of a row. Raises ValueError for a damaged one."""
        values = self.fields(dict(zip(self.columns.split(", "), row, strict=True)))
        fields = self.record.model_fields
        given = {
            name: bool(values[name]) if fields[name].annotation is bool else values[name] for name in fields
        }
        found: ArchivedRecord = self.record.model_validate(given)
        return found

    def _statement(self, keys: str, compared: str, rest: str) -> str:
        marks = ", ".join("?" * len(keys.split(", ")))
        where = f" where ({keys}) {compared} ({marks})" if compared else ""
        return f"select {self.columns} from ({self.source}) as listed{where}{rest}"


def _put(
    table: str, columns: str, keys: str, values: Callable[[Any], Row]
) -> Callable[[Transaction, Any], object]:
    """Returns what puts the values of a record into a table, in place of those with the same keys."""
    names = columns.split(", ")
    changed = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys.split(", "))
    statement = (
        f"insert into {table} ({columns}) values ({', '.join('?' * len(names))})"
        f" on conflict ({keys}) do update set {changed}"
    )
    return lambda transaction, record: transaction.execute(statement, values(record))


def _plain(table: str, columns: str, keys: str) -> Callable[[Transaction, Any], object]:
    """Likewise for a record whose fields have the names of the columns."""
    return _put(
        table, columns, keys, lambda record: tuple(record.model_dump()[name] for name in columns.split(", "))
    )


# --- the catalogue and the keys
# ------------------------------------------------------------------------------------------------------------


def _check_document(record: DocumentRecord) -> None:
    if display_name(record.name) != record.name:
        raise ValueError("its name is a path or has characters that no document's name has")


def _correct(transaction: Transaction, record: CorrectionRecord) -> None:
    _put_correction(transaction, record)
    transaction.execute(FORGET_TITLES, (record.sha256,))


_put_correction = _plain("correction", "sha256, period, status", "sha256")
KEY_COLUMNS = "number, name, digest, scope, created_at, expires_at, used_at"
KEYS = Kind(
    "keys",
    KeyRecord,
    KEY_COLUMNS,
    "select id as number, name, digest, scope, created_at, expires_at, used_at from api_key",
    "digest",
    lambda transaction, record: transaction.execute(
        f"insert into api_key ({KEY_COLUMNS.replace('number', 'id')}) values (?, ?, ?, ?, ?, ?, ?)",
        tuple(record.model_dump().values()),
    ),
    order="number",
)
CATALOG_KINDS = (
    Kind(
        "documents",
        DocumentRecord,
        "sha256, name, title, added_at, removed_at",
        EVERY_NAME,
        "sha256, name",
        _plain("remembered", "sha256, name, title, added_at, removed_at", "sha256, name"),
        check=_check_document,
        alike=lambda record, there: (record.removed_at is None) == (there.removed_at is None),
    ),
    Kind(
        "corrections",
        CorrectionRecord,
        "sha256, period, status",
        "select * from correction",
        "sha256",
        _correct,
    ),
)

# --- conversations
# ------------------------------------------------------------------------------------------------------------


def _check_conversation(record: ConversationRecord) -> None:
    of_owner, dot, _ = record.id.rpartition(".")
    if record.id.startswith(PRIVATE) or not CONVERSATION_ID.fullmatch(record.id):
        raise ValueError("its id is none that a conversation has")
    if dot and of_owner != record.owner:
        raise ValueError("its id is that of another owner")


def _exchange_fields(values: dict[str, Any]) -> dict[str, Any]:
    spent = {name: values[name] for name in SPENT.split(", ")}
    spent["estimated"] = bool(spent["estimated"])
    values["details"] = unpacked(values["details"]) if values["details"] is not None else None
    values["spent"] = spent if spent["prompt_tokens"] is not None else None
    if values["state"] == "answering":  # in an archive nobody goes on with it
        values["state"] = "interrupted"
    values["shortened"] = tuple(values[name] for name in SIZES.split(", "))
    return values


def _keep_exchange(transaction: Transaction, record: ExchangeRecord) -> None:
    place = (record.conversation, record.number)
    values = (record.question, record.answer, record.at, record.state, record.cited, *record.shortened)
    transaction.execute(
        f'insert into exchange (conversation, number, "user", assistant, at, state, cited, {SIZES})'
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*place, *values),
    )
    if record.details is not None:
        details = record.details.model_dump()
        transaction.execute(
            "insert into detail (conversation, number, answer) values (?, ?, ?)", (*place, packed(details))
        )
        transaction.executemany(
            "insert into source values (?, ?, ?)",
            [(digest, *place) for digest in {*details["files"].values()}],
        )
    if record.spent is not None:
        values = (*place, *record.spent.model_dump().values())
        transaction.execute("insert into spent values (?, ?, ?, ?, ?, ?, ?, ?)", values)


def _check_exchange(record: ExchangeRecord) -> None:
    if record.details is not None:
        answer_in(record.details.model_dump())


CONVERSATION = "id, owner, begun_at, changed_at, title, deleted_at, compresses, recalls_others, off"
SIZES = "full_tokens, kept_tokens, chunks"
SPENT = "prompt_tokens, answer_tokens, estimated, seconds, first_seconds, cost"
SUMMARY = "conversation, last, first, text, model"

# --- what is rated, advised and chosen
# ------------------------------------------------------------------------------------------------------------


def _case(record: RatingRecord) -> Case:
    return own_case(read_case(json.dumps(record.case).encode(), 0), shared=record.shelf == SHARED)


def _keep_case(transaction: Transaction, record: RatingRecord) -> None:
    key = (record.shelf, _case(record).id)
    transaction.execute("delete from rated_answer where shelf = ? and id = ?", key)
    line = json.dumps(record.case, ensure_ascii=False).encode() + b"\n"
    transaction.execute("insert into rated_answer (shelf, id, line) values (?, ?, ?)", (*key, line))


def _situation(record: SituationRecord) -> Situation:
    return new_situation(record.owner, record.scope, (record.situation, record.recommendation), record.at)


def _keep_situation(transaction: Transaction, record: SituationRecord) -> None:
    situation = _situation(record)
    insert_situation(transaction, situation, [(situation.key, situation.recommendations[0], record.at)])


def _check_setting(record: SettingRecord) -> None:
    try:
        if record.name in BY_NAME:
            check_value(record.name, record.value)
        elif record.name not in MODEL_NAMES or not isinstance(record.value, str):
            raise SkippedError("this version has no such setting")
    except SettingsError as error:
        raise SkippedError(error.message.rstrip(".")) from error


def _is_newer(record: Any, there: Any) -> bool:
    return bool(record.at > there.at)


MEMORY_KINDS = (
    Kind(
        "conversations",
        ConversationRecord,
        CONVERSATION,
        "select * from conversation",
        "id",
        _put(
            "conversation",
            CONVERSATION,
            "id",
            lambda record: (*list(record.model_dump().values())[:-1], " ".join(record.off)),
        ),
        lambda values: values | {"off": tuple(values["off"].split())},
        _check_conversation,
        newer=lambda record, there: record.owner == there.owner and record.changed_at > there.changed_at,
    ),
    Kind(
        "exchanges",
        ExchangeRecord,
        f"conversation, number, question, answer, at, state, cited, {SIZES}, details, {SPENT}",
        f"""select e.conversation, e.number, e."user" as question, e.assistant as answer, e.at, e.state,
            e.cited, {SIZES}, d.answer as details, {SPENT} from exchange e
            left join detail d on d.conversation = e.conversation and d.number = e.number
            left join spent s on s.conversation = e.conversation and s.number = e.number""",
        "conversation, number",
        _keep_exchange,
        _exchange_fields,
        _check_exchange,
        of_conversation=True,
    ),
    Kind(
        "summaries",
        SummaryRecord,
        SUMMARY,
        "select * from summary",
        "conversation, last",
        _plain("summary", SUMMARY, "conversation, last"),
        of_conversation=True,
    ),
    Kind(
        "ratings",
        RatingRecord,
        "number, shelf, id, line",
        f"select number, shelf, id, cast(line as blob) as line from rated_answer where shelf != '{OF_FILE}'",
        "shelf, id",
        _keep_case,
        lambda values: values | {"case": json.loads(values["line"])},
        _case,
        lambda record: (record.shelf, _case(record).id),
        lambda record, there: _is_newer(_case(record), _case(there)),
        order="number",
    ),
    Kind(
        "situations",
        SituationRecord,
        "key, owner, scope, situation, recommendation, at",
        "select key, owner, scope, situation, recommendation, at from situation join advice using (key)",
        "key, recommendation",
        _keep_situation,
        check=_situation,
        key=lambda record: (_situation(record).key, *_situation(record).recommendations),
        newer=_is_newer,
    ),
    Kind(
        "settings",
        SettingRecord,
        "owner, name, value",
        "select * from preference",
        "owner, name",
        _put(
            "preference",
            "owner, name, value",
            "owner, name",
            lambda record: (record.owner, record.name, json.dumps(record.value)),
        ),
        lambda values: values | {"value": json.loads(values["value"])},
        _check_setting,
    ),
    Kind(
        "switches",
        SwitchRecord,
        "name, value",
        "select 'news signals' as name, value from signal_state where name = 'on'",
        "name",
        lambda transaction, record: transaction.execute(
            "insert into signal_state values ('on', ?)", (record.value,)
        ),
    ),
    Kind(
        "news_ratings",
        NewsRatingRecord,
        "owner, conversation, number, source, helpful",
        "select * from source_rating",
        "owner, conversation, number, source",
        _plain(
            "source_rating",
            "owner, conversation, number, source, helpful",
            "owner, conversation, number, source",
        ),
    ),
)

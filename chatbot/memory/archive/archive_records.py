"""Defines the records of an archive of format 1: what users made, in plain fields.

They do not follow the tables of a store. A field more needs a default; any other change is another format.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from ingestion.invisible_characters import visible

__all__ = [
    "ArchivedRecord",
    "ConversationRecord",
    "CorrectionRecord",
    "DocumentRecord",
    "ExchangeRecord",
    "KeyRecord",
    "NewsRatingRecord",
    "NewsRecord",
    "RatingRecord",
    "Reading",
    "RemovedNewsRecord",
    "SettingRecord",
    "SituationRecord",
    "SummaryRecord",
    "SwitchRecord",
    "Telling",
]


def _on_one_line(text: str) -> str:
    if visible(text) != text or set(text) & {"\n", "\t"}:
        raise ValueError("it has control characters or more than one line")
    return text


def _without_nul(text: str) -> str:
    return text.replace("\0", "\ufffd")


# A name, and what somebody wrote, which is escaped wherever it is shown. No text in a Postgres holds NUL.
Name: TypeAlias = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(_on_one_line)]
Given: TypeAlias = Annotated[
    str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(_on_one_line)
]
Text: TypeAlias = Annotated[str, AfterValidator(_without_nul)]
Digest: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
# Seconds since the epoch, up to the year 2096 as for conversations; a count.
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=4e9, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(ge=0, lt=2**53)]
Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ArchivedRecord(BaseModel):
    """A line of an archive."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    def line(self) -> bytes:
        """The record as a line of JSON with its line end."""
        return json.dumps(self.model_dump(), ensure_ascii=False).encode() + b"\n"


class KeyRecord(ArchivedRecord):
    """A key of the API. digest: SHA-256 of the key, all that is kept of it."""

    number: Annotated[int, Field(ge=1, lt=2**53)]
    name: Given
    digest: Digest
    scope: Literal["read", "ask", "manage"]
    created_at: Seconds
    expires_at: Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)] | None
    used_at: Seconds | None


class DocumentRecord(ArchivedRecord):
    """A name of a file. sha256: of its bytes. title: as found in it. removed_at: None if it is in use."""

    sha256: Digest
    name: Given
    title: Text | None
    added_at: Seconds
    removed_at: Seconds | None


class CorrectionRecord(ArchivedRecord):
    """What a user says of a file. None: as the file says. "": nothing, whatever the file says."""

    sha256: Digest
    period: Name | None
    status: Name | None


class ConversationRecord(ArchivedRecord):
    """A conversation; see ConversationRow. off: the memories that are switched off in it."""

    id: Given
    owner: Given
    begun_at: Seconds
    changed_at: Seconds
    title: Text | None
    deleted_at: Seconds | None
    compresses: bool
    recalls_others: bool
    off: tuple[Name, ...]


class Details(ArchivedRecord):
    """An answer in full, and the SHA-256 of the files that it refers to, by the numbers that it has for
    them.
    """

    answer: dict[str, Any]
    files: dict[Annotated[str, StringConstraints(pattern=r"^-?\d{1,18}$")], Digest]


class Spent(ArchivedRecord):
    """What a chat model used for an answer; see Usage."""

    prompt_tokens: Count
    answer_tokens: Count
    estimated: bool
    seconds: Amount
    first_seconds: Amount
    cost: Amount | None


class ExchangeRecord(ArchivedRecord):
    """A question and its answer; see StoredExchange. shortened: tokens of the conversation before it, those
    kept of them, and the messages that were shortened.
    """

    conversation: Given
    number: Annotated[int, Field(ge=1, lt=2**31)]
    question: Text
    answer: Text
    at: Seconds
    state: Literal["answering", "complete", "stopped", "failed", "interrupted"]
    cited: Text | None
    shortened: tuple[Count | None, Count | None, Count | None]
    details: Details | None
    spent: Spent | None


class SummaryRecord(ArchivedRecord):
    """A summary of the exchanges with these numbers."""

    conversation: Given
    last: Count
    first: Count
    text: Text
    model: Text


class RatingRecord(ArchivedRecord):
    """A rated answer. shelf: what stands for its owner, and ".deleted" for one that can be restored; or
    "shared". case: as `memory cases export` writes it.
    """

    shelf: Annotated[str, StringConstraints(pattern=r"^(shared|[0-9a-f]{32}(\.deleted)?)$")]
    case: dict[str, Any]


class SituationRecord(ArchivedRecord):
    """A situation, what was advised in it, and when."""

    owner: Given
    scope: Text
    situation: Text
    recommendation: Text
    at: Seconds


class SettingRecord(ArchivedRecord):
    """A setting that a user chose."""

    owner: Given
    name: Given
    value: bool | int | float | Text


class SwitchRecord(ArchivedRecord):
    """A switch of the whole server."""

    name: Literal["news signals"]
    value: bool


class NewsRatingRecord(ArchivedRecord):
    """A rating of an answer that had news of a source in it."""

    owner: Given
    conversation: Given
    number: Count
    source: Text
    helpful: bool


class Telling(ArchivedRecord):
    """Where news was told. number: its id there. at: seconds since the epoch."""

    source: Text
    number: Text
    link: Text
    at: Seconds


class Reading(ArchivedRecord):
    """What news means to its analyser; see NewsReading."""

    summary: Text
    assets: tuple[Text, ...]
    action: Literal["buy", "sell", "observe"]
    confidence: Annotated[float, Field(ge=0, le=1)]
    analyser: Text


class NewsRecord(ArchivedRecord):
    """News with all its tellings, the first one first, and its readings."""

    text: Text
    tellings: Annotated[tuple[Telling, ...], Field(min_length=1)]
    readings: tuple[Reading, ...]


class RemovedNewsRecord(ArchivedRecord):
    """The hash of news that somebody removed; no import of a file brings it back."""

    sha256: Digest
    removed_at: Seconds

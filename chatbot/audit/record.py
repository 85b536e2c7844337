"""What an audit file says, as plain values with one way to write them; draws nothing and checks nothing.

A file is verified by writing it anew, so what is written must stay as it is: whoever changes these shapes,
the page or its style raises FORMAT, and keeps the code of the one before to verify older files with.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from chatbot.errors import DocumentError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "FORMAT",
    "WITH_BASIS",
    "WITH_FORMATTING",
    "WITH_STATEMENTS",
    "AuditFileError",
    "Considered",
    "Document",
    "FigureCheckRecord",
    "Leaf",
    "NoteRecord",
    "Quote",
    "Record",
    "Sent",
    "Source",
    "StatementRecord",
    "digest_of",
    "dump",
    "load",
    "sealed",
]

FORMAT = 4
# The first format that says which statements rest on what; older ones are written without them.
WITH_STATEMENTS = 2
# The first that shows what a chat model formatted as it meant it.
WITH_FORMATTING = 3
# The first that says of each citation how it stands on its page.
WITH_BASIS = 4
# What an answer may have at most, so that no file makes much work: far beyond any real one.
MOST = {
    "leaves": 60,
    "sources": 60,
    "quotes": 1_000,
    "checks": 2_000,
    "statements": 2_000,
    "considered": 500,
    "documents": 20_000,
    "notes": 500,
}
LONGEST_ANSWER = 100_000


class AuditFileError(DocumentError):
    """A file is no audit file, or one that cannot be read. Exit code 2."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was searched. sha256: of its bytes; period, status: what it says of itself, None
    where it does not.
    """

    name: str
    sha256: str
    period: str | None
    status: str | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page that is shown. page: physical, 1-based; label: the printed one. method: how its text was read.
    image: SHA-256 of its PNG, drawn at `dpi` without marks; None where there is none, for the reason in
    `missing`."""

    document: str
    sha256: str
    page: int
    label: str | None
    method: str
    image: str | None
    dpi: int
    missing: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A citation, as records.Citation. leaf: which of the leaves it stands on, None for an unknown key.
    marks: rectangles over the quotation on the page, (x0, y0, x1, y1) as fractions of the page, origin top
    left."""

    key: str
    leaf: int | None
    quote: str
    verified: bool
    reason: str | None
    start: int
    end: int
    confidence: float | None
    instructs: bool
    marks: tuple[tuple[float, float, float, float], ...]
    basis: str = "located"


@dataclass(frozen=True, slots=True)
class FigureCheckRecord:
    """A figure's check, as records.NumberCheck. value: None where it is beyond what JSON holds. operands:
    the figures of its formula, as written there.
    """

    text: str
    value: float | None
    unit: str | None
    scale: float
    period: str | None
    status: str
    citation: str | None
    formula: str | None
    reason: str | None
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatementRecord:
    """A sentence of the answer, as records.Statement."""

    text: str
    status: str
    citation: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """A page that the answer could rest on. key: as the prompt names it. chunk: which of the document's
    chunks was found on it, from 0. title: the document's in that chunk's context."""

    key: str
    document: str
    sha256: str
    page: int
    chunk: int
    title: str


@dataclass(frozen=True, slots=True)
class Considered:
    """A page that was found. score: higher is better; parts: of it, as "meaning 0.81"."""

    document: str
    page: int
    label: str | None
    score: float
    parts: str


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A remembered thing that was used, as records.Note."""

    layer: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What a chat model was sent. messages: (role, content), exactly so. failure: what came instead of an
    answer, "" where one came.
    """

    model: str
    host: str
    messages: tuple[tuple[str, str], ...]
    failure: str


@dataclass(frozen=True, slots=True)
class Record:
    """All of it. asked_at, made_at: ISO 8601 with offset from UTC; asked_at "" where it is not known. query:
    as searched; understood: (what, how).

    nearest: leaves shown for a refusal. sent: None where nothing was sent to a model. within: names that the
    search was kept to, () for all. index: of the documents that were searched when it was answered, "" where
    that was not noted; whole: the documents listed are exactly those. digest: SHA-256 of all the rest.
    """

    format: int
    program: str
    made_at: str
    asked_at: str
    seconds: float
    question: str
    query: str
    understood: tuple[tuple[str, str], ...]
    answered: bool
    answer: str
    refusal: str | None
    notices: tuple[str, ...]
    quotes: tuple[Quote, ...]
    checks: tuple[FigureCheckRecord, ...]
    leaves: tuple[Leaf, ...]
    nearest: tuple[int, ...]
    sources: tuple[Source, ...]
    considered: tuple[Considered, ...]
    within: tuple[str, ...]
    documents: tuple[Document, ...]
    whole: bool
    model: str
    sent: Sent | None
    notes: tuple[NoteRecord, ...]
    shortened: str
    embedder: str
    index: str
    digest: str
    statements: tuple[StatementRecord, ...] = ()


def dump(record: Record) -> str:
    """The record as JSON in plain ASCII that holds neither `<`, `>` nor `&`: it can stand in HTML as it
    is, and nothing in it takes effect there.
    """
    values = asdict(record)
    if record.format < WITH_STATEMENTS:
        del values["statements"]
    for quote in values["quotes"] if record.format < WITH_BASIS else ():
        del quote["basis"]
    text = json.dumps(values, ensure_ascii=True, allow_nan=False, indent=1)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def digest_of(record: Record) -> str:
    """SHA-256 over all but the digest itself; of images it holds their digests."""
    return hashlib.sha256(dump(replace(record, digest="")).encode("ascii")).hexdigest()


def sealed(record: Record) -> Record:
    """The record with its digest. Raises DocumentError where there is more than an audit file may hold."""
    if problem := _problem(record):
        raise DocumentError(
            f"The answer is too large for an audit file: {problem}.", hint="Export the conversation instead."
        )
    return replace(record, digest=digest_of(record))


def load(text: str) -> Record:
    """The record of `dump`. Raises UnreadableError where it is anything else, or of another format."""
    try:
        values = json.loads(text, parse_constant=_refuse)
        if isinstance(values, dict):
            found = values.get("format")
        else:
            found = None
        if isinstance(found, int) and found > FORMAT:
            raise AuditFileError(
                f"The file is of format {found}, this program knows {FORMAT}.", hint="Update the program."
            )
        record = _adapter().validate_python(values)
        dump(record)  # numbers beyond JSON's are none
    except (ValueError, RecursionError, MemoryError) as error:
        raise AuditFileError(
            "The machine-readable part is damaged: it is not what an audit file holds.",
            hint="Make the file again.",
        ) from error
    if problem := _problem(record):
        raise AuditFileError(f"The file holds more than any answer: {problem}.", hint="Make the file again.")
    return record


def _refuse(constant: str) -> float:
    raise ValueError(constant)


@cache
def _adapter() -> TypeAdapter[Record]:
    from pydantic import TypeAdapter

    return TypeAdapter(Record)


def _problem(record: Record) -> str:
    """What there is too much of, "" where nothing is."""
    for field, most in MOST.items():
        there: Any = getattr(record, field)
        if len(there) > most:
            return f"{len(there):,} {field}, at most {most:,}"
    marks = sum(len(quote.marks) for quote in record.quotes)
    if marks > MOST["checks"]:
        return f"{marks:,} marks"
    if len(record.answer) > LONGEST_ANSWER:
        return f"an answer of {len(record.answer):,} characters"
    return ""

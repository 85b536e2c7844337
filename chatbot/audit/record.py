"""Defines the content of an audit file as plain values, with one way to write them, and reads it.

Nothing in a file is trusted.

A file is verified by rendering it again, so the output must not change. To change these shapes, the page or
its style, raise FORMAT: files of older formats are read, but not rendered again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from chatbot.errors import DocumentError
from chatbot.records import StatementQuote
from ingestion.ocr.scan_languages import ENGLISH

__all__ = [
    "FORMAT",
    "IMAGE",
    "LARGEST_FILE",
    "RECORD_END",
    "RECORD_START",
    "AuditFile",
    "AuditFileError",
    "Considered",
    "Document",
    "FigureCheckRecord",
    "NoteRecord",
    "PageImageRecord",
    "Quote",
    "ReadingRecord",
    "Record",
    "Sent",
    "Source",
    "StatementRecord",
    "digest_of",
    "dump",
    "load",
    "read_file",
    "record_in",
    "recorded",
    "sealed",
]

Part = TypeVar("Part")
# What formats 1 to 4 say of figures and statements was judged by rules that this program no longer has.
FORMAT = 5
# Limits that keep the work for one file small. They are far beyond any real answer.
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
RECORD_START, RECORD_END = '<pre id="record">', "</pre>"
IMAGE = 'src="data:image/png;base64,'
# Enough for sixty pages of 1.5 MB each; a usual file has one or two.
LARGEST_FILE = 128 * 2**20
# A record holds a prompt of some 50 KB, as much again, and a line for each document.
LONGEST_RECORD = 16 * 2**20
HINT = "Choose an audit file made by the chat or `ask --audit`."
_IMAGE = re.compile(rb"(?<=" + re.escape(IMAGE.encode()) + rb")[A-Za-z0-9+/=]*+")


class AuditFileError(DocumentError):
    """The file is not an audit file, or cannot be read. Exit code 2."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was searched.

    sha256: of its bytes.
    period, status: what the document says of itself, None if it does not say.
    """

    name: str
    sha256: str
    period: str | None
    status: str | None


@dataclass(frozen=True, slots=True)
class PageImageRecord:
    """A page that is shown.

    page: physical page, 1-based.
    label: the printed page number.
    method: how its text was read.
    image: SHA-256 of its PNG, drawn at `dpi` without marks; None if there is none.
    missing: why there is no image.
    languages: the codes of those in which images were read.
    """

    document: str
    sha256: str
    page: int
    label: str | None
    method: str
    image: str | None
    dpi: int
    missing: str
    languages: str = ENGLISH.codes


@dataclass(frozen=True, slots=True)
class Quote:
    """A citation, as records.Citation.

    leaf: the index of the leaf it stands on, None for an unknown key.
    marks: rectangles over the quotation, (x0, y0, x1, y1) as fractions of the page, origin top left.
    """

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
    """The check of a figure, as records.NumberCheck.

    value: None if it is beyond what JSON can hold.
    operands: the figures of its formula, as written there.
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
    """A statement of the answer, as records.Statement. calculation: as it was worked out, "" for none."""

    text: str
    status: str
    citation: str | None
    verdict: str = "not_checked"
    mark: str = ""
    quotes: tuple[StatementQuote, ...] = ()
    calculation: str = ""
    difference: str = ""
    read_by: str = ""


@dataclass(frozen=True, slots=True)
class ReadingRecord:
    """How a model read the statements back, as records.ReadBack.

    asked: SHA-256 of the text of each statement that it judged, in order.
    """

    model: str
    host: str
    reply: str
    reason: str
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A page that the answer could rest on.

    key: as the prompt names it.
    chunk: the document's chunk that was found on the page, 0-based.
    title: the document's title in the context of that chunk.
    """

    key: str
    document: str
    sha256: str
    page: int
    chunk: int
    title: str


@dataclass(frozen=True, slots=True)
class Considered:
    """A page that was found.

    score: higher is better.
    parts: the parts of the score, such as "meaning 0.81".
    """

    document: str
    page: int
    label: str | None
    score: float
    parts: str


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A remembered note that was used, as records.Note."""

    layer: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent to a chat model.

    messages: (role, content), exactly as sent.
    failure: the error that came instead of an answer, "" if an answer came.
    calculations: expressions that were worked out for the model.
    pictured: keys of the pages that it got as pictures too.
    """

    model: str
    host: str
    messages: tuple[tuple[str, str], ...]
    failure: str
    calculations: tuple[str, ...] = ()
    pictured: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """The whole record.

    asked_at, made_at: ISO 8601 with offset from UTC; asked_at is "" if not known.
    query: as searched.
    understood: (what, how) pairs.
    nearest: the leaves shown for a refusal.
    sent: None if nothing was sent to a model.
    within: the names that the search was limited to, () for all.
    index: fingerprint of the documents that were searched for the answer, "" if it was not noted.
    whole: whether the documents listed are exactly those.
    digest: SHA-256 of everything else.
    reading: None if nobody read the answer back.
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
    leaves: tuple[PageImageRecord, ...]
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
    reading: ReadingRecord | None = None

    @property
    def by_model(self) -> bool:
        """Whether a chat model wrote the answer."""
        return self.sent is not None and not self.sent.failure and self.model != "extractive"


def recorded(kind: type[Part], source: object, **others: Any) -> Part:
    """Makes a part of a record from what `source` has under the same names. others: the rest, or instead."""
    names = [one.name for one in fields(kind) if hasattr(source, one.name)]  # type: ignore[arg-type]
    return kind(**{name: getattr(source, name) for name in names} | others)


def dump(record: Record) -> str:
    """Returns the record as plain ASCII JSON without `<`, `>` and `&`.

    Such JSON can stand in HTML as it is, and nothing in it takes effect there.
    """
    values = asdict(record)
    for name in ("calculations", "pictured"):
        if record.sent and not values["sent"][name]:  # as files made before say it
            del values["sent"][name]
    for leaf in values["leaves"]:
        if leaf["languages"] == ENGLISH.codes:
            del leaf["languages"]
    text = json.dumps(values, ensure_ascii=True, allow_nan=False, indent=1)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def digest_of(text: str, digest: str = "") -> str:
    """Returns the SHA-256 over a record as `dump` wrote it, without its digest. Of images it has digests."""
    blank = text.replace(f'\n "digest": "{digest}"', '\n "digest": ""', 1)
    return hashlib.sha256(blank.encode("ascii")).hexdigest()


def sealed(record: Record) -> Record:
    """Returns the record with its digest. Raises DocumentError if it exceeds the limits of an audit file."""
    if problem := _problem(record):
        raise DocumentError(
            f"The answer is too large for an audit file: {problem}.", hint="Export the conversation instead."
        )
    return replace(record, digest=digest_of(dump(replace(record, digest=""))))


def load(text: str) -> Record:
    """Reads a record written by `dump`. Raises UnreadableError for anything else, or for another format."""
    from pydantic import TypeAdapter

    try:
        values = json.loads(text, parse_constant=_refuse)
        found = values.get("format") if isinstance(values, dict) else None
        if isinstance(found, int) and found > FORMAT:
            raise AuditFileError(
                f"The file has format {found}, but this program only reads up to {FORMAT}.",
                hint="Update the program.",
            )
        record = TypeAdapter(Record).validate_python(values)
        dump(record)  # numbers beyond JSON's range are refused
    except (ValueError, RecursionError, MemoryError) as error:
        raise AuditFileError(
            "The machine-readable part is damaged: it does not fit the format.",
            hint="Make the file again.",
        ) from error
    if problem := _problem(record):
        raise AuditFileError(f"The file is larger than any answer: {problem}.", hint="Make the file again.")
    return record


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _problem(record: Record) -> str:
    """Names what exceeds a limit, "" if nothing does."""
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


# --- the file
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AuditFile:
    """The content of an audit file.

    images: by their actual SHA-256.
    """

    data: bytes
    record: Record
    images: dict[str, bytes]


def read_file(path: Path) -> AuditFile:
    """Returns the parts of a file. Raises UnreadableError."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise AuditFileError(
                f"The file has {size / 2**20:,.0f} MiB; an audit file has {LARGEST_FILE // 2**20} at most.",
                hint=HINT,
            )
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE)
    except OSError as error:
        raise AuditFileError(
            f"The file cannot be read: {error.strerror}.",
            hint="Check that it exists and that you can read it.",
        ) from error
    return AuditFile(data, load(record_in(data)), _images_in(data))


def record_in(data: bytes) -> str:
    """Returns the record as it is written in a file. Raises AuditFileError."""
    start = RECORD_START.encode()
    end = RECORD_END.encode()
    first = data.find(start)
    if first < 0:
        raise AuditFileError("This is not an audit file: it has no machine-readable part.", hint=HINT)
    last = data.find(end, first)
    if last < 0 or data.find(start, first + 1) >= 0:
        raise AuditFileError("The machine-readable part is incomplete, or there is more than one.", hint=HINT)
    if last - first > LONGEST_RECORD:
        raise AuditFileError(f"The machine-readable part has {(last - first) / 2**20:,.0f} MiB.", hint=HINT)
    try:
        return data[first + len(start) : last].decode("ascii")
    except UnicodeDecodeError as error:
        raise AuditFileError(
            "The machine-readable part is damaged: it is not plain ASCII.", hint=HINT
        ) from error


def _images_in(data: bytes) -> dict[str, bytes]:
    images: dict[str, bytes] = {}
    for found in _IMAGE.finditer(data):
        try:
            image = base64.b64decode(found[0], validate=True)
        except binascii.Error:
            continue  # so the page that is rendered again will not have it
        images[hashlib.sha256(image).hexdigest()] = image
    return images

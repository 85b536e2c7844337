"""Verifies an audit file against the documents' bytes.

Checks what is shown, quotations, figures and page images again, without a model or a store.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from chatbot.answer.citations.model_refusals import is_refusal
from chatbot.audit.document_lookup import LocatedDocument, find_documents, is_digest
from chatbot.audit.html_page import render
from chatbot.audit.page_images import Read, draw, looks_alike, places
from chatbot.audit.parser import AuditFile
from chatbot.audit.recheck import RecheckedAnswer, check_again
from chatbot.audit.record import WITH_BASIS, FigureCheckRecord, Leaf, Quote, Record, digest_of
from chatbot.errors import DocumentError, EncryptedError
from chatbot.records import Citation
from chatbot.store.scope_fingerprint import scope_fingerprint
from ingestion.document import Circumstances, DocumentReading, read_document
from ingestion.invisible_characters import label_line
from ingestion.reading.reader import Reader
from ingestion.records import Page

__all__ = ["CONFIRMED", "DIFFERS", "UNKNOWN", "DocumentSources", "VerificationLine", "verify"]

CONFIRMED = "confirmed"
DIFFERS = "does not hold"
UNKNOWN = "cannot be checked"
# How far a mark may be from where it is found now, as a share of the page; and how far the confidence of OCR
# may differ.
MARK_TOLERANCE, CONFIDENCE_TOLERANCE = 0.005, 2.0
# The characters shown around the first difference.
SHOWN = 60
# The characters of a quotation that identify it.
BEGINNING = 40
DOCUMENTS_READ = 12
Gathered = dict[str, "_Opened"]


@dataclass(frozen=True, slots=True)
class VerificationLine:
    """One line of a verification. status: CONFIRMED, DIFFERS or UNKNOWN."""

    what: str
    status: str
    detail: str


@dataclass(frozen=True, slots=True)
class DocumentSources:
    """Where to look for documents.

    store: the folder of kept copies.
    folder: another folder, None for none.
    passwords: passwords of protected documents by document name.
    processes: how many processes read at once.
    """

    store: Path
    folder: Path | None = None
    passwords: Mapping[str, str] = field(default_factory=dict)
    processes: int = 2


@dataclass(frozen=True, slots=True)
class _Opened:
    """A document that was found and read.

    unread: whether pages were skipped that need OCR but that nothing rests on.
    """

    path: Path
    titles: tuple[str, ...]
    reading: DocumentReading
    password: str | None
    unread: bool

    def page(self, number: int) -> Page | None:
        if 1 <= number <= len(self.reading.pages):
            return self.reading.pages[number - 1]
        return None


def verify(file: AuditFile, evidence: DocumentSources) -> Iterator[VerificationLine]:
    """Yields one finding for each check as it is made.

    Documents are read in reading processes, under their limits.
    """
    record = file.record
    yield from _whole(file)
    wanted = list(dict.fromkeys(sha256 for _, sha256, _ in _places(record)))
    found = find_documents(wanted, evidence.store, evidence.folder)
    opened: Gathered = {}
    for number, digest in enumerate(wanted):
        yield _document(record, digest, found, evidence, opened, too_many=number >= DOCUMENTS_READ)
    for at, leaf in enumerate(record.leaves):
        yield from _leaf(file, at, leaf, opened)
    yield from _checks(record, opened)
    yield _searched(record, opened)


# --- the file itself
# ------------------------------------------------------------------------------------------------------------


def _whole(file: AuditFile) -> Iterator[VerificationLine]:
    record = file.record
    holds = digest_of(record) == record.digest
    yield VerificationLine(
        "digest",
        *(
            (CONFIRMED, record.digest)
            if holds
            else (DIFFERS, "the record was changed after the file was made")
        ),
    )
    lacking = [leaf for leaf in record.leaves if leaf.image is not None and leaf.image not in file.images]
    if lacking:
        yield VerificationLine(
            "visible part", DIFFERS, f"the image of {_name(lacking[0])} is not the one that the record names"
        )
        return
    try:
        anew = render(record, file.images).encode("utf-8", "replace")
    except (ValueError, OverflowError):  # numbers that no page can show
        yield VerificationLine("visible part", DIFFERS, "it cannot be drawn from the record")
        return
    same = anew == file.data
    yield VerificationLine(
        "visible part",
        *(
            (CONFIRMED, "it is what the record says, and nothing else")
            if same
            else (DIFFERS, _difference(file.data, anew))
        ),
    )


def _difference(given: bytes, anew: bytes) -> str:
    """Says where two files begin to differ."""
    at = next(
        (at for at, (one, other) in enumerate(zip(given, anew, strict=False)) if one != other),
        min(len(given), len(anew)),
    )
    line = given.count(b"\n", 0, at) + 1
    return f"line {line} has “{_around(given, at)}”, the record says “{_around(anew, at)}”"


def _around(data: bytes, at: int) -> str:
    text = data[max(0, at - SHOWN // 2) : at + SHOWN].decode("utf-8", "replace")
    return " ".join(html.unescape(re.sub(r"<[^<>]{0,200}>", " ", text)).split())[:SHOWN]


def _places(record: Record) -> list[tuple[str, str, int]]:
    """Returns (document, SHA-256, page) of all that is shown and of all that the answer could rest on."""
    shown = [(leaf.document, leaf.sha256, leaf.page) for leaf in record.leaves]
    return shown + [(source.document, source.sha256, source.page) for source in record.sources]


# --- documents
# ------------------------------------------------------------------------------------------------------------


def _document(
    record: Record,
    digest: str,
    found: Mapping[str, LocatedDocument],
    evidence: DocumentSources,
    opened: Gathered,
    *,
    too_many: bool,
) -> VerificationLine:
    names = dict.fromkeys(name for name, sha256, _ in _places(record) if sha256 == digest)
    what = f"document {next(iter(names), '')}"
    if not is_digest(digest):
        return VerificationLine(
            what,
            UNKNOWN if not digest else DIFFERS,
            "its SHA-256 is not noted" if not digest else f"{digest[:80]!r} is no SHA-256",
        )
    if digest not in found:
        return VerificationLine(
            what,
            UNKNOWN,
            f"no file with SHA-256 {digest} is there; name the folder that has it with --documents",
        )
    if too_many:
        return VerificationLine(what, UNKNOWN, f"only {DOCUMENTS_READ} documents of one file are read")
    numbers = {number for _, sha256, number in _places(record) if sha256 == digest}
    password = next((evidence.passwords[name] for name in names if name in evidence.passwords), None)
    try:
        # A table may continue from the page before.
        how = Circumstances(
            password, evidence.processes, ocr_pages=frozenset(numbers | {number - 1 for number in numbers})
        )
        reading = read_document(found[digest].path, how)
    except EncryptedError:
        return VerificationLine(what, UNKNOWN, "it is protected by a password; give it with --passwords")
    except DocumentError as error:
        return VerificationLine(what, UNKNOWN, error.message)
    unread = any(page.method == "none" and page.number not in numbers for page in reading.pages)
    opened[digest] = _Opened(found[digest].path, found[digest].titles, reading, password, unread)
    known_as = ", ".join(found[digest].known_as[:3]) or found[digest].path.name
    return VerificationLine(
        what, CONFIRMED, f"found by its SHA-256, {len(reading.pages)} pages; here it is called {known_as}"
    )


def _leaf(file: AuditFile, at: int, leaf: Leaf, opened: Gathered) -> Iterator[VerificationLine]:
    """Checks a page: that it exists, its printed number, its image and the marks on it."""
    what = _name(leaf)
    document = opened.get(leaf.sha256)
    if document is None:
        yield VerificationLine(f"page {what}", UNKNOWN, "its document was not read")
        return
    page = document.page(leaf.page)
    if page is None:
        yield VerificationLine(
            f"page {what}", DIFFERS, f"the document has {len(document.reading.pages)} pages"
        )
        return
    if page.label != label_line(leaf.label) and not (document.unread and _is_printed(leaf.label, page)):
        yield VerificationLine(f"page {what}", DIFFERS, f"its printed number is {page.label or 'not there'}")
    elif page.method != leaf.method:
        yield VerificationLine(
            f"page {what}", DIFFERS, f"its text was read as {page.method}, not as {leaf.method}"
        )
    else:
        yield VerificationLine(
            f"page {what}",
            CONFIRMED,
            "it is there, with that printed number" if leaf.label else "it is there",
        )
    quotes = [quote for quote in file.record.quotes if quote.leaf == at]
    try:
        with closing(Reader(document.path, password=document.password)) as reader:
            yield _image(file, leaf, reader)
            yield from _marks(page, quotes, reader, shown=leaf.image is not None)
    except DocumentError as error:
        yield VerificationLine(f"image of {what}", UNKNOWN, error.message)


def _is_printed(label: str | None, page: Page) -> bool:
    """Tells whether a printed number stands on a page by itself.

    If not every page was read, there is no series to tell which number is the page's.
    """
    return label is not None and re.search(rf"(?<![^\W_]){re.escape(label)}(?![^\W_])", page.text) is not None


def _image(file: AuditFile, leaf: Leaf, reader: Reader) -> VerificationLine:
    what = f"image of {_name(leaf)}"
    if leaf.image is None:
        return VerificationLine(what, CONFIRMED, "none, as the file says")
    if 20 <= leaf.dpi <= 150:
        drawn = draw(reader, leaf.page, dpi=leaf.dpi)
    else:
        drawn = None
    given = file.images.get(leaf.image)
    if drawn is None or given is None or not looks_alike(given, drawn.png):
        return VerificationLine(what, DIFFERS, "it does not show that page of the document")
    return VerificationLine(what, CONFIRMED, "it shows that page of the document")


def _marks(page: Page, quotes: Sequence[Quote], reader: Reader, *, shown: bool) -> Iterator[VerificationLine]:
    if not shown:
        return
    anew = places(
        reader,
        Read(page.number, page.method, page.words, page.text),
        [(quote.quote, quote.start) for quote in quotes],
    )
    for quote, found in zip(quotes, anew, strict=True):
        if not _close(quote.marks, found):
            yield VerificationLine(
                f"mark of [{quote.key}]",
                DIFFERS,
                "the quotation stands elsewhere on the page, or nowhere on it",
            )


def _close(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> bool:
    return len(one) == len(other) and all(
        abs(a - b) <= MARK_TOLERANCE
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left, right, strict=True)
    )


# --- quotations and figures
# -------------------------------------------------------------------------------------------------------


def _checks(record: Record, opened: Gathered) -> Iterator[VerificationLine]:
    if not record.answered and not (record.quotes or record.checks):
        yield VerificationLine("refusal", CONFIRMED, "it quotes nothing and states nothing")
        return
    if not record.answered and not is_refusal(record.answer):
        yield VerificationLine("refusal", DIFFERS, "it cites")
        return
    missing = {source.sha256 for source in record.sources} - opened.keys()
    try:
        checked = check_again(
            record,
            {digest: one.reading for digest, one in opened.items()},
            {digest: one.titles for digest, one in opened.items()},
        )
    except KeyError:
        yield VerificationLine(
            "sources", DIFFERS, "a page that the answer could rest on is not in its document"
        )
        return
    pages = _pages_of(record)
    numbers = _numbers(record.quotes)
    if len(checked.citations) != len(record.quotes):
        yield VerificationLine(
            "citations",
            DIFFERS,
            f"the answer has {len(checked.citations)} keys, the file speaks of {len(record.quotes)}",
        )
    else:
        for quote, citation in zip(record.quotes, checked.citations, strict=True):
            number = numbers.get((quote.key, quote.quote))
            yield _quote(
                record,
                quote,
                citation,
                number=number,
                missing=_is_missing(record, quote, missing),
                pages=pages,
            )
    yield from _figures(record, checked, some_missing=bool(missing))
    if record.statements or checked.statements:
        yield _statements(record, checked, some_missing=bool(missing))


def _pages_of(record: Record) -> dict[str, tuple[str, str, int]]:
    return {
        source.key.partition("-")[0]: (source.document, source.sha256, source.page)
        for source in record.sources
    }


def _is_missing(record: Record, quote: Quote, missing: Collection[str]) -> bool:
    return (
        quote.leaf is not None
        and 0 <= quote.leaf < len(record.leaves)
        and record.leaves[quote.leaf].sha256 in missing
    )


def _quote(
    record: Record,
    quote: Quote,
    anew: Citation,
    *,
    number: int | None,
    missing: bool,
    pages: Mapping[str, tuple[str, str, int]],
) -> VerificationLine:
    what = f"quotation [{quote.key}], {number}" if number else f"quotation [{quote.key}]"
    what += f" “{_beginning(quote.quote)}”" if quote.quote.strip() else ""
    if missing:
        return VerificationLine(what, UNKNOWN, "its document was not read")
    if quote.leaf is None:
        same = anew.document is None and not quote.verified and anew.key == quote.key
        return VerificationLine(
            what,
            *(
                (CONFIRMED, "no such source, as the file says")
                if same
                else (DIFFERS, "the file says otherwise of an unknown key")
            ),
        )
    if 0 <= quote.leaf < len(record.leaves):
        leaf = record.leaves[quote.leaf]
    else:
        leaf = None
    if (
        leaf is None
        or pages.get(quote.key) != (leaf.document, leaf.sha256, leaf.page)
        or anew.document is None
    ):
        return VerificationLine(
            what, DIFFERS, "the page it leads to is not the one that its key was given for"
        )
    if anew.verified != quote.verified:
        return VerificationLine(
            what,
            DIFFERS,
            "it is located on the page, the file denies it"
            if anew.verified
            else f"not located: {anew.reason}",
        )
    same = (anew.quote, anew.reason, anew.start, anew.end, anew.instructs) == (
        quote.quote,
        quote.reason,
        quote.start,
        quote.end,
        quote.instructs,
    )
    if not same or (record.format >= WITH_BASIS and anew.basis != quote.basis):
        return VerificationLine(
            what,
            DIFFERS,
            f"the page has “{' '.join(anew.quote.split())[:SHOWN]}”"
            if anew.quote != quote.quote
            else "it is judged otherwise",
        )
    if (anew.confidence is None) != (quote.confidence is None) or abs(
        (anew.confidence or 0) - (quote.confidence or 0)
    ) > CONFIDENCE_TOLERANCE:
        return VerificationLine(what, DIFFERS, "OCR reads it with another confidence")
    read = "" if quote.confidence is None else ", as OCR reads it"
    return VerificationLine(
        what,
        CONFIRMED,
        f"located anew on {_name(leaf)}{read}"
        if quote.verified
        else f"not located on {_name(leaf)}, as the file says",
    )


def _numbers(quotes: Iterable[Quote]) -> dict[tuple[str, str], int]:
    """Returns the number of each passage as the answer was shown: each passage once, in order."""
    once = dict.fromkeys((quote.key, quote.quote) for quote in quotes if quote.leaf is not None)
    return {passage: number for number, passage in enumerate(once, 1)}


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= BEGINNING:
        return line
    return f"{line[:BEGINNING].rpartition(' ')[0] or line[:BEGINNING]} …"


def _figures(record: Record, checked: RecheckedAnswer, *, some_missing: bool) -> Iterator[VerificationLine]:
    for check, anew in zip_longest(record.checks, checked.checks):
        shown = (check or anew).text
        what = f"figure {shown}"
        if check == anew:
            yield VerificationLine(what, CONFIRMED, f"{check.status.replace('_', ' ')}, as the file says")
        elif some_missing:
            yield VerificationLine(what, UNKNOWN, "a page that it may rest on was not read")
        elif check is None or anew is None:
            yield VerificationLine(
                what,
                DIFFERS,
                "the answer states it, the file does not check it"
                if check is None
                else "the answer does not state it",
            )
        else:
            yield VerificationLine(what, DIFFERS, _other(check, anew))


def _statements(record: Record, checked: RecheckedAnswer, *, some_missing: bool) -> VerificationLine:
    """Reports the statements as one finding, since there are as many as the answer has sentences."""
    if record.statements == checked.statements:
        unfound = sum(one.status == "unsupported" for one in record.statements)
        return VerificationLine(
            "statements",
            CONFIRMED,
            f"{len(record.statements)} judged, {unfound} not found in the pages, as the file says",
        )
    if some_missing:
        return VerificationLine("statements", UNKNOWN, "a page that they may rest on was not read")
    pairs = zip_longest(record.statements, checked.statements)
    said, anew = next((said, anew) for said, anew in pairs if said != anew)
    return VerificationLine(
        "statements",
        DIFFERS,
        (
            f"“{_beginning((said or anew).text)}” is "
            f"{anew.status.replace('_', ' ') if anew else 'no sentence of the answer'}"
        ),
    )


def _other(check: FigureCheckRecord, anew: FigureCheckRecord) -> str:
    if check.status != anew.status:
        return f"{anew.status.replace('_', ' ')}, not {check.status[:40].replace('_', ' ')}" + (
            f": {anew.reason}" if anew.reason else ""
        )
    return "its check comes out otherwise: another value, unit, period, formula or citation"


def _searched(record: Record, opened: Gathered) -> VerificationLine:
    for one in record.documents:
        read = opened.get(one.sha256)
        if (
            read is not None
            and not read.unread
            and (read.reading.facts.period, read.reading.facts.status) != (one.period, one.status)
        ):
            return VerificationLine(
                "documents searched", DIFFERS, f"{one.name} says another period or status of itself"
            )
    same = scope_fingerprint(record.embedder, (one.sha256 for one in record.documents)) == record.index
    if record.whole != same:
        return VerificationLine("documents searched", DIFFERS, "the list is not what its mark stands for")
    listed = f"{len(record.documents)} listed"
    return VerificationLine(
        "documents searched",
        CONFIRMED,
        f"{listed}, all that were searched"
        if same
        else f"{listed}; the file says that others may have been there",
    )


def _name(leaf: Leaf) -> str:
    return f"{leaf.document}, p. {leaf.page}"

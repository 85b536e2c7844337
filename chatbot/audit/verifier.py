"""Verifies an audit file against the documents' bytes.

Checks what is shown, quotations, figures and page images again, without a model or a store.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path

from chatbot.answer.citations.model_refusals import is_refusal
from chatbot.audit.html_page import render
from chatbot.audit.page_images import draw, looks_alike, places
from chatbot.audit.recheck import RecheckedAnswer, check_again
from chatbot.audit.record import (
    FORMAT,
    AuditFile,
    FigureCheckRecord,
    PageImageRecord,
    Quote,
    Record,
    digest_of,
    record_in,
)
from chatbot.errors import DocumentError, EncryptedError
from chatbot.records import NOT_SO_FAR, Citation
from chatbot.store.digests import is_digest
from chatbot.store.kept_copies import Copies
from chatbot.store.scope_fingerprint import scope_fingerprint
from ingestion.document import Circumstances, DocumentReading, read_document
from ingestion.invisible_characters import label_line
from ingestion.ocr.scan_languages import ENGLISH, ScanLanguages, language_data
from ingestion.reading.formats import is_document, is_opened
from ingestion.reading.reader import Reader
from ingestion.records import Page

__all__ = [
    "CONFIRMED",
    "DIFFERS",
    "UNKNOWN",
    "DocumentSources",
    "VerificationLine",
    "verify",
]

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
# The most files of a folder that are examined, and the most bytes of one of them.
MOST_FILES, LARGEST = 20_000, 2**31
# Of what an older file says.
FORMER = "it was judged by rules of an earlier version, which this one does not have"
ANOTHER_PAGE = "it leads to a different page from the one cited"
Gathered = dict[str, "_Opened"]
# What a check comes to, and why.
Verdict = tuple[str, str]
NOT_READ = UNKNOWN, "its document was not read"


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
    for what, (status, detail) in _findings(file, evidence):
        yield VerificationLine(what, status, detail)


def _findings(file: AuditFile, evidence: DocumentSources) -> Iterator[tuple[str, Verdict]]:
    record = file.record
    if digest_of(record_in(file.data), record.digest) == record.digest:
        yield "digest", (CONFIRMED, record.digest)
    else:
        yield "digest", (DIFFERS, "the record was changed after the file was made")
    yield "visible part", _visible(file)
    digests = list(dict.fromkeys(sha256 for _, sha256, _ in _places(record)))
    found = find_documents(digests, evidence.store, evidence.folder)
    opened: Gathered = {}
    for number, digest in enumerate(digests):
        name = next(name for name, sha256, _ in _places(record) if sha256 == digest)
        if digest in found and number >= DOCUMENTS_READ:
            verdict = UNKNOWN, f"only {DOCUMENTS_READ} documents are read for one file"
        else:
            verdict = _document(record, digest, found.get(digest), evidence, opened)
        yield f"document {name}", verdict
    for at, leaf in enumerate(record.leaves):
        yield from _leaf(file, at, leaf, opened.get(leaf.sha256))
    yield from _checks(record, opened)
    yield "documents searched", _searched(record, opened)


# --- the file itself
# ------------------------------------------------------------------------------------------------------------


def _visible(file: AuditFile) -> Verdict:
    """Compares what is seen with the record."""
    record = file.record
    for leaf in record.leaves:
        if leaf.image is not None and leaf.image not in file.images:
            return DIFFERS, f"the image of {_name(leaf)} is not the one in the record"
    if record.format < FORMAT:
        return UNKNOWN, f"format {record.format}: what is seen was not compared with the record"
    try:
        anew = render(record, file.images).encode("utf-8", "replace")
    except (ValueError, OverflowError):  # numbers that no page can show
        return DIFFERS, "it cannot be drawn from the record"
    if anew == file.data:
        return CONFIRMED, "it shows exactly what the record says"
    return DIFFERS, _difference(file.data, anew)


def _difference(given: bytes, anew: bytes) -> str:
    """Says where two files begin to differ."""
    pairs = enumerate(zip(given, anew, strict=False))
    shorter = min(len(given), len(anew))
    at = next((at for at, (ours, theirs) in pairs if ours != theirs), shorter)
    line = given.count(b"\n", 0, at) + 1
    return f"line {line} has “{_around(given, at)}”, the record says “{_around(anew, at)}”"


def _around(data: bytes, at: int) -> str:
    text = data[max(0, at - SHOWN // 2) : at + SHOWN].decode("utf-8", "replace")
    words = html.unescape(re.sub(r"<[^<>]{0,200}>", " ", text)).split()
    return " ".join(words)[:SHOWN]


def _places(record: Record) -> list[tuple[str, str, int]]:
    """Returns (document, SHA-256, page) of all that is shown and of all that the answer could rest on."""
    shown = [(leaf.document, leaf.sha256, leaf.page) for leaf in record.leaves]
    return shown + [(source.document, source.sha256, source.page) for source in record.sources]


# --- documents
# ------------------------------------------------------------------------------------------------------------


def _document(
    record: Record, digest: str, document: LocatedDocument | None, evidence: DocumentSources, opened: Gathered
) -> Verdict:
    """Reads a document that was found, and puts it into `opened`."""
    if not digest:
        return UNKNOWN, "its SHA-256 is missing"
    if not is_digest(digest):
        return DIFFERS, f"{digest[:80]!r} is not a SHA-256"
    if document is None:
        return UNKNOWN, f"no file with SHA-256 {digest} was found; name its folder with --documents"
    if not is_opened(document.path):
        return UNKNOWN, "it was read by a PDF that was made of it, which is only kept where it was added"
    here = [(name, number) for name, sha256, number in _places(record) if sha256 == digest]
    numbers = {number for _, number in here}
    password = next((evidence.passwords[name] for name, _ in here if name in evidence.passwords), None)
    # A table may continue from the page before.
    ocr_pages = frozenset(numbers | {number - 1 for number in numbers})
    try:
        spoken = {leaf.languages for leaf in record.leaves if leaf.sha256 == digest} or {ENGLISH.codes}
        languages = ScanLanguages(min(spoken))
        if languages != ENGLISH:
            language_data(languages)
        how = Circumstances(password, evidence.processes, ocr_pages=ocr_pages, languages=languages)
        reading = read_document(document.path, how)
    except EncryptedError:
        return UNKNOWN, "it needs a password; give it with --passwords"
    except DocumentError as error:
        return UNKNOWN, error.message
    unread = any(page.method == "none" and page.number not in numbers for page in reading.pages)
    opened[digest] = _Opened(document.path, document.titles, reading, password, unread)
    known_as = ", ".join(document.known_as[:3]) or document.path.name
    return CONFIRMED, f"found by its SHA-256, {len(reading.pages)} pages; here it is called {known_as}"


def _leaf(
    file: AuditFile, at: int, leaf: PageImageRecord, document: _Opened | None
) -> Iterator[tuple[str, Verdict]]:
    """Checks a page: that it exists, its printed number, its image and the marks on it."""
    what = _name(leaf)
    if document is None:
        yield f"page {what}", NOT_READ
        return
    page = document.page(leaf.page)
    if page is None:
        yield f"page {what}", (DIFFERS, f"the document has {len(document.reading.pages)} pages")
        return
    yield f"page {what}", _page(leaf, page, document)
    quotes = [quote for quote in file.record.quotes if quote.leaf == at]
    try:
        with closing(Reader(document.path, password=document.password)) as reader:
            yield f"image of {what}", _image(file, leaf, reader)
            if leaf.image is None:
                return
            anew = places(reader, page.number, page, [(quote.quote, quote.start) for quote in quotes])
            for quote, found in zip(quotes, anew, strict=True):
                if not _is_close(quote.marks, found):
                    detail = "the quotation is elsewhere on the page, or not on it"
                    yield f"mark of [{quote.key}]", (DIFFERS, detail)
    except DocumentError as error:
        yield f"image of {what}", (UNKNOWN, error.message)


def _page(leaf: PageImageRecord, page: Page, document: _Opened) -> Verdict:
    if page.label != label_line(leaf.label) and not (document.unread and _is_printed(leaf.label, page)):
        return DIFFERS, f"its printed number is {page.label or 'not there'}"
    if page.method != leaf.method:
        return DIFFERS, f"its text was read by {page.method}, not {leaf.method}"
    return CONFIRMED, "it exists, with that printed number" if leaf.label else "it exists"


def _is_printed(label: str | None, page: Page) -> bool:
    """Tells whether a printed number stands on a page by itself.

    If not every page was read, there is no series to tell which number is the page's.
    """
    if label is None:
        return False
    return re.search(rf"(?<![^\W_]){re.escape(label)}(?![^\W_])", page.text) is not None


def _image(file: AuditFile, leaf: PageImageRecord, reader: Reader) -> Verdict:
    if leaf.image is None:
        return CONFIRMED, "none, as the file says"
    given = file.images.get(leaf.image)
    if given and 20 <= leaf.dpi <= 150 and looks_alike(given, draw(reader, leaf.page, dpi=leaf.dpi)[0]):
        return CONFIRMED, "it shows that page of the document"
    return DIFFERS, "it does not show that page of the document"


def _is_close(given: Sequence[Sequence[float]], anew: Sequence[Sequence[float]]) -> bool:
    """Tells whether two lists of marks agree within MARK_TOLERANCE."""
    pairs = zip(chain(*given), chain(*anew), strict=False)
    return len(given) == len(anew) and all(abs(a - b) <= MARK_TOLERANCE for a, b in pairs)


# --- quotations and figures
# -------------------------------------------------------------------------------------------------------


def _checks(record: Record, opened: Gathered) -> Iterator[tuple[str, Verdict]]:
    if not record.answered and not record.by_model:
        yield "refusal", _refusal(record)
        return
    if not record.answered and not is_refusal(record.answer):
        yield "refusal", (DIFFERS, "it is an answer")
    if record.format < FORMAT:
        for cited in _all_cited(record, opened):
            yield cited.what, _former_quote(cited)
        if record.checks or record.statements or not record.quotes:
            yield "figures and statements", (UNKNOWN, FORMER)
        return
    missing = {source.sha256 for source in record.sources} - opened.keys()
    readings = {digest: document.reading for digest, document in opened.items()}
    titles = {digest: document.titles for digest, document in opened.items()}
    try:
        checked = check_again(record, readings, titles)
    except KeyError:
        yield "sources", (DIFFERS, "a page that the answer may use is not in its document")
        return
    keys, quotes = len(checked.citations), len(record.quotes)
    if keys != quotes:
        yield "citations", (DIFFERS, f"the answer has {keys} citations, the file has {quotes}")
    else:
        for cited, citation in zip(_all_cited(record, opened), checked.citations, strict=True):
            unread = cited.leaf is not None and cited.leaf.sha256 in missing
            verdict = NOT_READ if unread else _quote(cited, citation)
            if verdict[0] == DIFFERS and missing and cited.stands:
                verdict = UNKNOWN, "a page that its statement rests on was not read"
            yield cited.what, verdict
    for check, anew in zip_longest(record.checks, checked.checks):
        yield f"figure {(check or anew).text}", _figure(check, anew, some_missing=bool(missing))
    if record.statements or checked.statements:
        yield "statements", _statements(record, checked, some_missing=bool(missing))


def _refusal(record: Record) -> Verdict:
    """Checks a refusal in the program's own words."""
    if record.quotes or record.checks or record.statements:
        return DIFFERS, "it cites"
    if is_refusal(record.answer) or record.answer.startswith(NOT_SO_FAR):
        return CONFIRMED, "it quotes nothing and states nothing"
    return UNKNOWN, "it does not begin as a refusal does"


def _former_quote(cited: _LocatedQuote) -> Verdict:
    """Checks a quotation of an older file. What that says of figures and statements is not judged anew."""
    quote, leaf = cited.quote, cited.leaf
    if quote.leaf is None or not quote.verified:
        return UNKNOWN, FORMER
    if not quote.quote.strip():
        return DIFFERS, "it is empty, but the file says it was found"
    if leaf is None:
        return DIFFERS, ANOTHER_PAGE
    if cited.page is None:
        return NOT_READ
    if cited.stands:
        return CONFIRMED, f"found again on {_name(leaf)}"
    return DIFFERS, f"it is not on {_name(leaf)}"


@dataclass(frozen=True, slots=True)
class _LocatedQuote:
    """A quotation with the page that it leads to, as recorded and as read.

    leaf, page: None if there is none, or if its key is of another page.
    what: what it is called in a verification.
    """

    quote: Quote
    leaf: PageImageRecord | None
    page: Page | None
    what: str

    @property
    def stands(self) -> bool:
        """Whether the page has its words, wherever their blanks are."""
        words = "".join(self.quote.quote.split())
        return self.page is not None and words in "".join(self.page.text.split())


def _all_cited(record: Record, opened: Gathered) -> Iterator[_LocatedQuote]:
    pages = {
        source.key.partition("-")[0]: (source.document, source.sha256, source.page)
        for source in record.sources
    }
    numbers: dict[tuple[str, str], int] = {}  # of the passages as the answer was shown, each once
    for quote in record.quotes:
        at = quote.leaf if quote.leaf is not None else -1
        leaf = record.leaves[at] if 0 <= at < len(record.leaves) else None
        if leaf and pages.get(quote.key) != (leaf.document, leaf.sha256, leaf.page):
            leaf = None
        document = opened.get(leaf.sha256) if leaf else None
        what = f"quotation [{quote.key}]"
        if quote.leaf is not None:
            what += f", {numbers.setdefault((quote.key, quote.quote), len(numbers) + 1)}"
        if quote.quote.strip():
            what += f" “{_beginning(quote.quote)}”"
        yield _LocatedQuote(quote, leaf, document.page(leaf.page) if document and leaf else None, what)


def _quote(cited: _LocatedQuote, anew: Citation) -> Verdict:
    quote, leaf = cited.quote, cited.leaf
    if quote.leaf is None:
        if anew.document is None and not quote.verified and anew.key == quote.key:
            return CONFIRMED, "no such source, as the file says"
        return DIFFERS, "the file says something else about an unknown source"
    if leaf is None or anew.document is None:
        return DIFFERS, ANOTHER_PAGE
    if difference := _quote_difference(quote, anew):
        return DIFFERS, difference
    if not quote.verified:
        found = "found again" if quote.quote.strip() else "not located"
        return CONFIRMED, f"{found} on {_name(leaf)}; it does not confirm the answer, as the file says"
    read = "" if quote.confidence is None else ", as OCR reads it"
    return CONFIRMED, f"found again on {_name(leaf)}{read}"


def _quote_difference(quote: Quote, anew: Citation) -> str:
    """Says how a citation comes out otherwise than the file says, "" if it does not."""
    if anew.verified and not quote.verified:
        return "it is on the page, but the file says it is not"
    if quote.verified and not anew.verified:
        return f"not found: {anew.reason}"
    if anew.quote != quote.quote:
        return f"the page has “{' '.join(anew.quote.split())[:SHOWN]}”"
    judged = (anew.start, anew.end, anew.instructs, anew.reason, anew.basis)
    if judged != (quote.start, quote.end, quote.instructs, quote.reason, quote.basis):
        return "it is checked with a different result"
    if not _is_equally_sure(anew.confidence, quote.confidence):
        return "OCR reads it with a different confidence"
    return ""


def _is_equally_sure(anew: float | None, noted: float | None) -> bool:
    if anew is None or noted is None:
        return anew is noted
    return not abs(anew - noted) > CONFIDENCE_TOLERANCE


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= BEGINNING:
        return line
    cut = line[:BEGINNING]
    return f"{cut.rpartition(' ')[0] or cut} …"


def _figure(
    check: FigureCheckRecord | None, anew: FigureCheckRecord | None, *, some_missing: bool
) -> Verdict:
    if check and check == anew:
        return CONFIRMED, f"{check.status.replace('_', ' ')}, as the file says"
    if some_missing:
        return UNKNOWN, "a page that it may come from was not read"
    if check is None:
        return DIFFERS, "the answer has it, but the file does not check it"
    if anew is None:
        return DIFFERS, "the answer does not have it"
    return DIFFERS, _other(check, anew)


def _statements(record: Record, checked: RecheckedAnswer, *, some_missing: bool) -> Verdict:
    """Reports the statements as one finding, since there are as many as the answer has sentences."""
    if record.reading and record.reading.asked != checked.asked and not some_missing:
        return DIFFERS, "its reader was asked about other statements"
    if record.statements == checked.statements:
        count = sum(bool(statement.mark) for statement in record.statements)
        read = " by what the reader replied then" if record.reading and record.reading.reply else ""
        return CONFIRMED, f"{len(record.statements)}, {count} with a mark, as the file says{read}"
    if some_missing:
        return UNKNOWN, "a page that they may come from was not read"
    pairs = zip_longest(record.statements, checked.statements)
    noted, anew = next((noted, anew) for noted, anew in pairs if noted != anew)
    status = (anew.mark or anew.status).replace("_", " ") if anew else "no statement of the answer"
    return DIFFERS, f"“{_beginning((noted or anew).text)}” is {status}"


def _other(check: FigureCheckRecord, anew: FigureCheckRecord) -> str:
    if check.status == anew.status:
        return "its check has a different result: another value, unit, period, formula or citation"
    reason = f": {anew.reason}" if anew.reason else ""
    return f"{anew.status.replace('_', ' ')}, not {check.status[:40].replace('_', ' ')}{reason}"


def _searched(record: Record, opened: Gathered) -> Verdict:
    for document in record.documents:
        read = opened.get(document.sha256)
        if read is None or read.unread:
            continue
        facts = read.reading.facts
        if (facts.period, facts.status) != (document.period, document.status):
            return DIFFERS, f"{document.name} gives another period or status"
    digests = (document.sha256 for document in record.documents)
    same = scope_fingerprint(record.embedder, digests) == record.index
    if record.whole != same:
        return DIFFERS, "the list does not match its fingerprint"
    rest = ", all that were searched" if same else "; the file says there may have been others"
    return CONFIRMED, f"{len(record.documents)} listed{rest}"


def _name(leaf: PageImageRecord) -> str:
    return f"{leaf.document}, p. {leaf.page}"


# --- looking for documents by their bytes: no name is followed as a path
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A document that was found.

    known_as: the names it is kept under, or the name of its file.
    titles: the titles that the context of its chunks may use.
    """

    path: Path
    known_as: tuple[str, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        # As adding a document and building a chunk's context make them.
        return tuple(Path(name).stem.replace("_", " ").strip()[:80] for name in self.known_as)


def find_documents(wanted: Collection[str], store: Path, folder: Path | None) -> dict[str, LocatedDocument]:
    """Returns the documents that were found, by SHA-256.

    store: the folder of kept copies. It need not exist and is not changed.

    Every file is hashed, whatever its name is.
    """
    left = {digest for digest in wanted if is_digest(digest)}
    found: dict[str, LocatedDocument] = {}
    for digest in sorted(left) if store.is_dir() else ():
        path = store / f"{digest}.pdf"
        if path.is_file() and not path.is_symlink() and _hash(path) == digest:
            copies = Copies(store, 0)
            names = tuple(kept.name for kept in copies.beside(digest).names)
            found[digest] = LocatedDocument(copies.readable(digest) or path, names)
    for path in _files(folder) if folder is not None else ():
        if left <= found.keys():
            break
        digest = _hash(path)
        if digest in left and digest not in found:
            found[digest] = LocatedDocument(path, (path.name,))
    return found


def _files(folder: Path) -> Iterator[Path]:
    looked = 0
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(place, name)
            if looked >= MOST_FILES:
                return
            if path.is_file() and not path.is_symlink():
                looked += 1
                yield path


def _hash(path: Path) -> str:
    """Returns the SHA-256 of a document, "" for anything else and for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            if path.stat().st_size > LARGEST or not is_document(path):
                return ""
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""

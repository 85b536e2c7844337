"""Builds the audit file of an answer from the store and the documents' own bytes.

Nothing is checked again here; `verifier` does that.
"""

from __future__ import annotations

import hashlib
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from re import sub

import chatbot
from chatbot.audit.html_page import render
from chatbot.audit.page_images import Marks, draw, places
from chatbot.audit.recheck import asked_of, checks_of, stated
from chatbot.audit.record import (
    FORMAT,
    Considered,
    Document,
    NoteRecord,
    PageImageRecord,
    Quote,
    ReadingRecord,
    Record,
    Sent,
    Source,
    recorded,
    sealed,
)
from chatbot.errors import DocumentError, EncryptedError, NotFoundError
from chatbot.records import Answer, Citation, Hit, Understanding
from chatbot.service import Chatbot
from chatbot.store.scope_fingerprint import scope_fingerprint
from ingestion.language.terms import STOP_WORDS
from ingestion.ocr.scan_languages import ENGLISH
from ingestion.reading.reader import Reader

__all__ = ["Occasion", "audit_file", "audit_kept", "file_name"]

PROTECTED = "The page is not shown: the document needs its password."
GONE = "The page is not shown: the document's file is no longer kept."
# The most words of the question, and characters, in a file's name.
NAME_WORDS, NAME_CHARACTERS = 6, 50
FORMS = {form: f"a {form}" for form in ("figure", "list", "definition", "reason", "passage", "summary")} | {
    "yes_no": "yes or no",
    "several": "a comparison of several documents",
}
PARTS = {
    "vector": "meaning",
    "chunk_words": "words of the passage",
    "page_words": "words of the page",
    "coverage": "share of the words in the question",
}


# (document, SHA-256 of its file, physical page).
Place = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Occasion:
    """How an answer came about, beyond what the answer itself says.

    asked_at: seconds since the epoch, None if not known.
    files: SHA-256 of the file of each version the answer speaks of; the store is asked about any
        other version.
    passwords: passwords of protected files that may be opened, by SHA-256.
    """

    asked_at: float | None = None
    files: Mapping[int, str] = field(default_factory=dict)
    passwords: Mapping[str, str] = field(default_factory=dict)


def audit_kept(
    chatbot: Chatbot,
    conversation: str,
    number: int,
    owner: str,
    *,
    passwords: Mapping[str, str] | None = None,
) -> bytes:
    """Returns the audit file of a stored answer. Raises NotFoundError, StoreError, DocumentError."""
    kept = chatbot.conversations.answer(conversation, number, owner)
    if kept is None:
        raise NotFoundError(
            "That answer is no longer kept.", hint="Ask again, then download the file of the new answer."
        )
    exchanges = chatbot.conversations.said(conversation, owner, last=1, before=number + 1)
    asked_at = exchanges[-1].at if exchanges else None
    answer, files = kept
    return audit_file(chatbot, answer, Occasion(asked_at, files, passwords or {}))


def audit_file(chatbot: Chatbot, answer: Answer, occasion: Occasion) -> bytes:
    """Returns the audit file of an answer, in UTF-8.

    Raises DocumentError if the answer is too large for one, or has nothing to check.
    """
    if not answer.from_documents:
        raise DocumentError(
            "This answer is not from the documents, so there is nothing to audit.",
            hint="Ask a question about the documents.",
        )
    images: dict[str, bytes] = {}
    record = sealed(_RecordBuilder(chatbot, answer, occasion, images).record())
    return render(record, images).encode("utf-8")


def file_name(question: str, at: float | None = None) -> str:
    """Returns a file name such as "audit-2026-11-22-contingency-reserve.html".

    at: seconds since the epoch, None for now.
    """
    plain = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    words = sub(r"[^a-z0-9]+", " ", plain[:2_000]).split()
    telling = [word for word in words if len(word) > 1 and word not in STOP_WORDS]
    day = time.strftime("%Y-%m-%d", time.localtime(at))
    name = "-".join(["audit", day, *telling[:NAME_WORDS]])
    longest = len("audit-2026-11-22-") + NAME_CHARACTERS
    return name[:longest].rstrip("-") + ".html"


class _RecordBuilder:
    """Gathers the record of one answer.

    images: the pages' PNGs by SHA-256, filled while the record is made.
    """

    def __init__(
        self, chatbot: Chatbot, answer: Answer, occasion: Occasion, images: dict[str, bytes]
    ) -> None:
        self.chatbot, self.answer, self.occasion, self.images = chatbot, answer, occasion, images
        self.catalog = chatbot.library.catalog
        self.hits = {(hit.document, hit.page): hit for hit in answer.considered}

    def record(self) -> Record:
        answer = self.answer
        asked_at = self.occasion.asked_at
        cited = list(map(self._place_of, answer.citations))
        nearest = self._nearest()
        pages = list(dict.fromkeys([*filter(None, cited), *nearest]))
        leaves, marks = self._leaves(pages, cited)
        documents = self._documents()
        fingerprint = scope_fingerprint(answer.fingerprint, (document.sha256 for document in documents))
        return Record(
            format=FORMAT,
            program=chatbot.__version__,
            made_at=_moment(time.time()),
            asked_at=_moment(asked_at) if asked_at is not None else "",
            seconds=answer.seconds,
            question=answer.question,
            query=answer.search_query,
            understood=_understood(answer.understanding),
            answered=answer.answered,
            answer=answer.text,
            refusal=answer.reason,
            notices=tuple(dict.fromkeys((*answer.notices, *answer.superseded))),
            quotes=tuple(
                recorded(
                    Quote,
                    citation,
                    leaf=pages.index(place) if place else None,
                    marks=marks.get(at, ()),
                )
                for at, (citation, place) in enumerate(zip(answer.citations, cited, strict=True))
            ),
            checks=checks_of(answer.numbers),
            leaves=leaves,
            nearest=tuple(map(pages.index, nearest)),
            sources=self._sources(),
            considered=tuple(_considered(hit) for hit in answer.considered),
            within=answer.names,
            documents=documents,
            whole=bool(answer.index) and fingerprint == answer.index,
            model=answer.model,
            sent=self._sent(),
            notes=tuple(recorded(NoteRecord, note) for note in answer.notes),
            shortened=_shortened(answer),
            embedder=answer.fingerprint,
            index=answer.index,
            digest="",
            statements=stated(answer.statements),
            reading=self._reading(),
        )

    # --- pages
    # --------------------------------------------------------------------------------------------------------

    def _digest(self, version: int | None) -> str:
        """Returns the SHA-256 of a version's file, "" if it is no longer known."""
        if not version:
            return ""
        if version in self.occasion.files:
            return self.occasion.files[version]
        return self.catalog.digest_of(version)

    def _nearest(self) -> list[Place]:
        """Returns the pages that a refusal points to, as (document, SHA-256, page)."""
        hits = [self.hits.get((page.document, page.page)) for page in self.answer.nearest]
        places = [(hit.document, self._digest(hit.version), hit.page) for hit in hits if hit is not None]
        return list(dict.fromkeys(places))

    def _place_of(self, citation: Citation) -> Place | None:
        if citation.document is None or citation.page is None:
            return None
        return (citation.document, self._digest(citation.version), citation.page)

    def _leaves(
        self, pages: Sequence[Place], cited: Sequence[Place | None]
    ) -> tuple[tuple[PageImageRecord, ...], dict[int, Marks]]:
        """Returns the pages, and the marks of the quotations on them, by the number of the citation.

        Every file is opened once. cited: the page of each citation.
        """
        leaves: dict[Place, PageImageRecord] = {}
        marks: dict[int, Marks] = {}
        for digest in dict.fromkeys(place[1] for place in pages):
            of_file = [place for place in pages if place[1] == digest]
            try:
                with self._opened(digest) as reader:
                    for place in of_file:
                        here = [at for at, other in enumerate(cited) if other == place]
                        leaves[place], found = self._leaf(reader, place, here)
                        marks |= zip(here, found, strict=True)
            except DocumentError as error:
                missing = PROTECTED if isinstance(error, EncryptedError) else error.message
                for place in of_file:
                    leaves.setdefault(place, self._unseen(place, missing))
        return tuple(leaves[place] for place in pages), marks

    def _opened(self, digest: str) -> Reader:
        path = self.chatbot.library.copies.readable(digest)
        if path is None:
            raise DocumentError(GONE)
        return Reader(path, password=self.occasion.passwords.get(digest))

    def _leaf(self, reader: Reader, place: Place, here: Sequence[int]) -> tuple[PageImageRecord, list[Marks]]:
        """Returns a page, and the places of the quotations of the citations here."""
        name, digest, number = place
        version = self.catalog.holding(digest)
        try:
            stored = self.catalog.page(version.id if version else 0, number)
        except KeyError as error:
            raise DocumentError(GONE) from error
        png, dpi = draw(reader, number)
        image = hashlib.sha256(png).hexdigest()
        self.images[image] = png
        how = (stored.label, stored.method, image, dpi, "")
        leaf = PageImageRecord(name, digest, number, *how, languages=self._languages(digest))
        citations = [self.answer.citations[at] for at in here]
        quotes = [(citation.quote, citation.start) for citation in citations]
        return leaf, places(reader, number, stored, quotes)

    def _unseen(self, place: Place, missing: str) -> PageImageRecord:
        """A page without its image."""
        name, digest, number = place
        hit = self.hits.get((name, number))
        label, method = (hit.page_label, hit.extraction_method) if hit else (None, "none")
        how = (label, method, None, 0, missing)
        return PageImageRecord(name, digest, number, *how, languages=self._languages(digest))

    def _languages(self, digest: str) -> str:
        """The languages in which the images of a file were read."""
        version = self.catalog.holding(digest)
        return (version.languages if version else "") or ENGLISH.codes

    def _sources(self) -> tuple[Source, ...]:
        prompt = self.answer.prompt
        if not prompt:
            return ()
        return tuple(_source(key, hit, self._digest(hit.version)) for key, hit in prompt.sources.items())

    # --- circumstances
    # --------------------------------------------------------------------------------------------------------

    def _documents(self) -> tuple[Document, ...]:
        """Returns the documents that were searched, as far as they are still stored."""
        files = {version.sha256: version for version in self.catalog.stored()}
        then = time.time() if self.occasion.asked_at is None else self.occasion.asked_at
        found = []
        for row in self.chatbot.documents():
            existed = row.added_at <= then and (row.removed_at is None or row.removed_at > then)
            searched = not self.answer.names or row.name in self.answer.names
            if existed and searched and row.digest in files:
                version = files[row.digest]
                # These facts can be verified; what users said of the document cannot.
                own = self.catalog.own_facts(version.id)
                found.append(Document(row.name, version.sha256, own.period, own.status))
        return tuple(found)

    def _reading(self) -> ReadingRecord | None:
        reading, prompt = self.answer.reading, self.answer.prompt
        if reading is None:
            return None
        asked = asked_of(self.chatbot.answering.as_written(self.answer), prompt) if prompt else ()
        return recorded(ReadingRecord, reading, asked=asked)

    def _sent(self) -> Sent | None:
        answer = self.answer
        if answer.sent_to is None and answer.error is None and answer.model == "extractive":
            return None
        model, host = answer.sent_to or (answer.model, "")
        messages = answer.prompt.messages if answer.prompt else ()
        calculations = answer.prompt.calculations if answer.prompt else ()
        pictured = answer.prompt.pictured if answer.prompt else ()
        return Sent(model, host, messages, answer.error or "", calculations, pictured)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def _source(key: str, hit: Hit, digest: str) -> Source:
    ordinal = hit.chunk_id.rpartition(":")[2]
    chunk = int(ordinal) if ordinal.isdecimal() else -1
    title = hit.context.partition(" | ")[0]
    return Source(key, hit.document, digest, hit.page, chunk, title)


def _considered(hit: Hit) -> Considered:
    parts = ", ".join(f"{PARTS.get(name, name)} {value:.2f}" for name, value in hit.scores.items())
    return Considered(hit.document, hit.page, hit.page_label, round(hit.score, 3), parts)


def _understood(understanding: Understanding | None) -> tuple[tuple[str, str], ...]:
    """Says what the question was taken to ask."""
    if understanding is None:
        return ()
    form = FORMS.get(understanding.form, understanding.form)
    years = ", ".join(map(str, understanding.years))
    kinds = ", ".join(kind.replace("_", " ") for kind in understanding.kinds)
    rows = [
        ("Understood as asking for", form),
        ("About", understanding.subject),
        ("Measures", ", ".join(understanding.measures)),
        ("Years", years),
        ("Names", ", ".join(understanding.names)),
        ("Kind of passage", kinds),
    ]
    return tuple((what, how) for what, how in rows if how)


def _shortened(answer: Answer) -> str:
    kept = answer.compression
    if kept is None:
        return ""
    return (
        f"Earlier exchanges were shortened for this answer: {kept.compressed_tokens:,} of "
        f"{kept.original_tokens:,} tokens were kept."
    )

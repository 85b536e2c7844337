"""Builds the audit file of an answer from the store and the documents' own bytes.

Nothing is checked again here; `verifier` does that.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from re import sub

import chatbot
from chatbot.audit.html_page import render
from chatbot.audit.page_images import Marks, Read, draw, places
from chatbot.audit.recheck import checks_of, stated
from chatbot.audit.record import (
    FORMAT,
    Considered,
    Document,
    Leaf,
    NoteRecord,
    Quote,
    Record,
    Sent,
    Source,
    sealed,
)
from chatbot.errors import DocumentError, EncryptedError, NotFoundError
from chatbot.fit import fit_text
from chatbot.records import Answer, Hit, Understanding
from chatbot.service import Chatbot
from chatbot.store.scope_fingerprint import scope_fingerprint
from ingestion.reading.reader import Reader

__all__ = ["Occasion", "audit_file", "audit_kept", "file_name"]

PROTECTED = "The document is protected by a password that was not given, so its page is not shown."
GONE = "The document's file is not kept any more, so its page is not shown."
# The most words of the question, and characters, in a file's name.
NAME_WORDS, NAME_CHARACTERS = 6, 50
FORMS = {form: f"a {form}" for form in ("figure", "list", "definition", "reason", "passage", "summary")} | {
    "yes_no": "yes or no",
    "several": "what each of several documents says",
}
PARTS = {
    "vector": "meaning",
    "chunk_words": "words of the passage",
    "page_words": "words of the page",
    "coverage": "share of the question's words",
}


# (document, SHA-256 of its file, physical page).
Place = tuple[str, str, int]
# (quotation, its offset in the page's text).
Quoted = tuple[str, int]


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
            "That answer is not kept any more.", hint="Ask again, and take the file of the new answer."
        )
    said = chatbot.conversations.said(conversation, owner, last=1, before=number + 1)
    answer, files = kept
    return audit_file(chatbot, answer, Occasion(said[-1].at if said else None, files, passwords or {}))


def audit_file(chatbot: Chatbot, answer: Answer, occasion: Occasion) -> bytes:
    """Returns the audit file of an answer, in UTF-8.

    Raises DocumentError if the answer is too large for one, or has nothing to check.
    """
    if not answer.from_documents:
        raise DocumentError(
            "This is no answer from the documents: there is nothing to audit.",
            hint="Ask a question about the documents.",
        )
    images: dict[str, bytes] = {}
    record = sealed(_Making(chatbot, answer, occasion, images).record())
    return render(record, images).encode("utf-8")


def file_name(question: str, at: float | None = None) -> str:
    """Returns a file name such as "audit-2026-11-22-contingency-reserve.html".

    at: seconds since the epoch, None for now.
    """
    plain = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    words = [
        word for word in sub(r"[^a-z0-9]+", " ", plain[:2_000]).split() if len(word) > 1 and word not in EMPTY
    ]
    day = time.strftime("%Y-%m-%d", time.localtime(at))
    return (
        "-".join(["audit", day, *words[:NAME_WORDS]])[: len("audit-2026-11-22-") + NAME_CHARACTERS].rstrip(
            "-"
        )
        + ".html"
    )


EMPTY = frozenset(
    "the an of in on at to for from by with and or is are was were be been do does did has have had "
    "what which who whom whose when where why how much many "
    "it its this that these those there must may can could should would will shall set as about under".split()
)


class _Making:
    """Gathers the record of one answer.

    images: the pages' PNGs by SHA-256, filled while the record is made.
    """

    def __init__(
        self, chatbot: Chatbot, answer: Answer, occasion: Occasion, images: dict[str, bytes]
    ) -> None:
        self.chatbot, self.answer, self.occasion, self.images = chatbot, answer, occasion, images
        self.catalog = chatbot.library.catalog

    def record(self) -> Record:
        answer = self.answer
        wanted = self._wanted()
        leaves, marks = self._leaves(wanted)
        documents = self._documents()
        at = list(wanted)
        return Record(
            format=FORMAT,
            program=chatbot.__version__,
            made_at=_moment(time.time()),
            asked_at=_moment(self.occasion.asked_at) if self.occasion.asked_at is not None else "",
            seconds=answer.seconds,
            question=answer.question,
            query=answer.search_query,
            understood=(*_understood(answer.understanding), *_fit(answer)),
            answered=answer.answered,
            answer=answer.text,
            refusal=answer.reason,
            notices=tuple(dict.fromkeys((*answer.notices, *answer.superseded))),
            quotes=self._quotes(at, marks),
            checks=checks_of(answer.numbers),
            leaves=leaves,
            nearest=tuple(at.index(place) for place in self._nearest()),
            sources=self._sources(),
            considered=tuple(_considered(hit) for hit in answer.considered),
            within=answer.names,
            documents=documents,
            whole=bool(answer.index)
            and scope_fingerprint(answer.fingerprint, (one.sha256 for one in documents)) == answer.index,
            model=answer.model,
            sent=self._sent(),
            notes=tuple(NoteRecord(note.layer, note.source, note.text) for note in answer.notes),
            shortened=_shortened(answer),
            embedder=answer.fingerprint,
            index=answer.index,
            digest="",
            statements=stated(answer.statements),
        )

    # --- pages
    # --------------------------------------------------------------------------------------------------------

    def _digest(self, version: int | None) -> str:
        """Returns the SHA-256 of a version's file, "" if it is no longer known."""
        if not version:
            return ""
        if version not in self.occasion.files:
            kept = self.catalog.version(version)
        else:
            kept = None
        if kept:
            return kept.sha256
        return self.occasion.files.get(version, "")

    def _nearest(self) -> list[Place]:
        """Returns the pages that a refusal points to, as (document, SHA-256, page)."""
        hits = {(hit.document, hit.page): hit for hit in self.answer.considered}
        found = [
            hits[page.document, page.page]
            for page in self.answer.nearest
            if (page.document, page.page) in hits
        ]
        return list(dict.fromkeys((hit.document, self._digest(hit.version), hit.page) for hit in found))

    def _wanted(self) -> dict[Place, list[Quoted]]:
        """Returns the pages to show, in the order of the answer, with the quotations on each."""
        wanted: dict[Place, list[Quoted]] = {}
        for citation in self.answer.citations:
            if citation.document is not None and citation.page is not None:
                wanted.setdefault(
                    (citation.document, self._digest(citation.version), citation.page), []
                ).append((citation.quote, citation.start))
        for place in self._nearest():
            wanted.setdefault(place, [])
        return wanted

    def _leaves(
        self, wanted: Mapping[Place, Sequence[Quoted]]
    ) -> tuple[tuple[Leaf, ...], dict[Place, list[Marks]]]:
        """Returns the pages, and the places of the quotations on each. Every file is opened once."""
        leaves: dict[Place, Leaf] = {}
        marks: dict[Place, list[Marks]] = {}
        for digest in dict.fromkeys(place[1] for place in wanted):
            of_file = {place: quotes for place, quotes in wanted.items() if place[1] == digest}
            try:
                with self._opened(digest) as reader:
                    for place, quotes in of_file.items():
                        leaves[place], marks[place] = self._leaf(reader, place, quotes)
            except EncryptedError:
                missing = PROTECTED
            except (DocumentError, NotFoundError) as error:
                if isinstance(error, NotFoundError):
                    missing = GONE
                else:
                    missing = error.message
            else:
                continue
            for place, quotes in of_file.items():
                leaves.setdefault(place, self._unseen(place, missing))
                marks.setdefault(place, [() for _ in quotes])
        return tuple(leaves[place] for place in wanted), marks

    def _opened(self, digest: str) -> Reader:
        path = self.chatbot.library.copies.path(digest)
        if not digest or not path.exists():
            raise NotFoundError("The document's file is not kept any more.")
        return Reader(path, password=self.occasion.passwords.get(digest))

    def _leaf(self, reader: Reader, place: Place, quotes: Sequence[Quoted]) -> tuple[Leaf, list[Marks]]:
        name, digest, number = place
        version = self.catalog.holding(digest)
        try:
            stored = self.catalog.page(version.id if version else 0, number)
        except KeyError as error:
            raise NotFoundError("That page is not kept any more.") from error
        drawn = draw(reader, number)
        self.images[drawn.sha256] = drawn.png
        leaf = Leaf(name, digest, number, stored.label, stored.method, drawn.sha256, drawn.dpi, "")
        return leaf, list(places(reader, Read(number, stored.method, stored.words, stored.text), quotes))

    def _unseen(self, place: Place, missing: str) -> Leaf:
        """A page without its image."""
        name, digest, number = place
        labels = {
            (hit.document, hit.page): (hit.page_label, hit.extraction_method)
            for hit in self.answer.considered
        }
        label, method = labels.get((name, number), (None, "none"))
        return Leaf(name, digest, number, label, method, None, 0, missing)

    def _quotes(self, at: Sequence[Place], marks: Mapping[Place, list[Marks]]) -> tuple[Quote, ...]:
        left = {place: iter(found) for place, found in marks.items()}
        quotes = []
        for one in self.answer.citations:
            if one.document is not None and one.page is not None:
                place = (one.document, self._digest(one.version), one.page)
            else:
                place = None
            if place:
                found = next(left[place])
            else:
                found = ()
            if place:
                leaf = at.index(place)
            else:
                leaf = None
            quotes.append(
                Quote(
                    one.key,
                    leaf,
                    one.quote,
                    one.verified,
                    one.reason,
                    one.start,
                    one.end,
                    one.confidence,
                    one.instructs,
                    found,
                    one.basis,
                )
            )
        return tuple(quotes)

    def _sources(self) -> tuple[Source, ...]:
        prompt = self.answer.prompt
        return tuple(
            _source(key, hit, self._digest(hit.version))
            for key, hit in (prompt.sources.items() if prompt else ())
        )

    # --- circumstances
    # --------------------------------------------------------------------------------------------------------

    def _documents(self) -> tuple[Document, ...]:
        """Returns the documents that were searched, as far as they are still stored."""
        files = {version.sha256[:16]: version for version in self.catalog.stored()}
        if self.occasion.asked_at is not None:
            then = self.occasion.asked_at
        else:
            then = time.time()
        found = []
        for row in self.chatbot.documents():
            there = row.added_at <= then and (row.removed_at is None or row.removed_at > then)
            if there and (not self.answer.names or row.name in self.answer.names) and row.id in files:
                own = self.catalog.own_facts(
                    files[row.id].id
                )  # facts that can be verified, not what users said of it
                found.append(Document(row.name, files[row.id].sha256, own.period, own.status))
        return tuple(found)

    def _sent(self) -> Sent | None:
        answer = self.answer
        if answer.sent_to is None and answer.error is None and answer.model == "extractive":
            return None
        model, host = answer.sent_to or (answer.model, "")
        return Sent(model, host, answer.prompt.messages if answer.prompt else (), answer.error or "")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def _source(key: str, hit: Hit, digest: str) -> Source:
    ordinal = hit.chunk_id.rpartition(":")[2]
    return Source(
        key,
        hit.document,
        digest,
        hit.page,
        int(ordinal) if ordinal.isdecimal() else -1,
        hit.context.partition(" | ")[0],
    )


def _considered(hit: Hit) -> Considered:
    parts = ", ".join(f"{PARTS.get(name, name)} {value:.2f}" for name, value in hit.scores.items())
    return Considered(hit.document, hit.page, hit.page_label, round(hit.score, 3), parts)


def _understood(understanding: Understanding | None) -> tuple[tuple[str, str], ...]:
    """Says what the question was taken to ask."""
    if understanding is None:
        return ()
    rows = [
        ("Understood as asking for", FORMS.get(understanding.form, understanding.form)),
        ("About", understanding.subject),
    ]
    rows += [
        ("Measures", ", ".join(understanding.measures)),
        ("Years", ", ".join(map(str, understanding.years))),
    ]
    rows += [
        ("Names", ", ".join(understanding.names)),
        ("Stands in", ", ".join(kind.replace("_", " ") for kind in understanding.kinds)),
    ]
    return tuple((what, how) for what, how in rows if how)


def _fit(answer: Answer) -> tuple[tuple[str, str], ...]:
    """Says whether the answer fits the question."""
    said = fit_text(answer)
    if said:
        return (("Fit of the answer", said.removeprefix("✓ ")),)
    return ()


def _shortened(answer: Answer) -> str:
    kept = answer.compression
    if kept is None:
        return ""
    return (
        f"Earlier exchanges were shortened for this answer: {kept.compressed_tokens:,} of "
        f"{kept.original_tokens:,} tokens were kept."
    )

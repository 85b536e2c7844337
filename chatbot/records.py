"""What flows from a question to a checked answer: hits, prompt, citations, number checks, answer and the
events of asking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingestion.invisible_characters import label_line
from ingestion.language.periods import Period, find_periods
from ingestion.records import NO_FACTS, DocumentFacts, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ADDED",
    "BASES",
    "FINE",
    "GUIDE",
    "MEMORY",
    "MODEL_TEXT",
    "NOT_FOUND",
    "Answer",
    "Citation",
    "Compression",
    "DocumentRow",
    "Event",
    "Exchange",
    "Hit",
    "Note",
    "Notice",
    "NumberCheck",
    "PageRef",
    "Prompt",
    "Recall",
    "Stage",
    "Statement",
    "Token",
    "Understanding",
]


# Marks of a model's statements.
NOT_FOUND = "Not found in the pages given to the model"
ADDED = "Citation added by the check"
# What stands in the place of a model's name where no document was asked: a line was remembered, or the answer
# is of the chatbot or the conversation.
MEMORY, GUIDE = "memory", "guide"
# What stands between the documents' own words and a model's text of which nothing was found.
MODEL_TEXT = "The chat model wrote this, and nothing of it was found in the pages given to it:"


@dataclass(frozen=True, slots=True)
class PageRef:
    """A page by document name. page: physical, 1-based; page_label: the printed one, whatever was given
    for it on one line, or None.
    """

    document: str
    page: int
    page_label: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "page_label", label_line(self.page_label))


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found, with its best chunk.

    page: physical, 1-based. score: the page's, higher is better; comparable within one search only. scores:
    its parts by source. chunk_match: which piece of a long query gave the score, 0-based, None where no
    single one did. text: the best chunk, verbatim; page_text: the whole page; body: that without running
    headers and footers. version: the stored version it stands in. context: as in Chunk. tables, kinds,
    instructions: the page's, as in Page. facts: what the document says of itself.
    """

    document: str
    version: int
    page: int
    page_label: str | None
    label_source: str | None
    extraction_method: str
    confidence: float | None
    chunk_id: str
    text: str
    page_text: str = field(repr=False, default="")
    body: str = field(repr=False, default="")
    context: str = ""
    score: float = 0.0
    scores: Mapping[str, float] = field(default_factory=dict)
    tables: tuple[Table, ...] = field(repr=False, default=())
    kinds: tuple[str, ...] = ()
    instructions: tuple[tuple[int, int], ...] = ()
    facts: DocumentFacts = NO_FACTS
    chunk_match: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "page_label", label_line(self.page_label))


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its answer, as said."""

    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remembered thing put before the model. layer: which memory it came from; source: where that memory
    has it from.
    """

    layer: str
    source: str
    text: str


def _to_nobody(notice: Notice) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Recall:
    """What a memory is asked. question: in its standalone form; vector: its unit vector, None where nothing
    is embedded. documents: names of those it is asked of, () for all. now: seconds since the epoch. before:
    number of the first exchange of this conversation that the prompt has anyway. tell: gets what the user
    should know of the notes, as where they come from a substitute."""

    question: str
    vector: NDArray[np.float32] | None
    conversation: str
    owner: str
    documents: tuple[str, ...] = ()
    now: float = 0.0
    before: int = 1
    tell: Callable[[Notice], None] = field(repr=False, compare=False, default=_to_nobody)


@dataclass(frozen=True, slots=True)
class Compression:
    """How the conversation before a question was shortened for its prompt. original_tokens: of all before;
    compressed_tokens: of what was kept, the last exchanges among it. chunks_compressed: turns that lost
    something. kept: by exchange, the offsets kept of question and of answer, each (start, end); an exchange
    before whole_from that is not among them was left out. whole_from: number of the first that the prompt has
    as it is, 0 where that is not known."""

    original_tokens: int
    compressed_tokens: int
    chunks_compressed: int
    kept: Mapping[int, tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]] = field(
        default_factory=dict
    )
    whole_from: int = 0


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a question asks, by rules. query: its standalone form; subject: that without what it says about
    the answer's look.

    form: "figure" | "yes_no" | "list" | "definition" | "reason" | "passage" | "summary" (of a document or a
    part of it) | "several" (asked of each of several documents), or an intent that needs no search, see
    chatbot/search/intents.py. years: named ones, ranges with all between, ascending; relative_years: steps
    from a document's own year, -1 for "last year". names: of companies, people, places, schemes, as written.
    measures: names of measures, most specific first. kinds: of pages where they stand. compares: it asks for
    a change or a difference. whose: the name in it of whom the first page found is about, "" where it has
    none or several.
    """

    query: str
    subject: str
    form: str = "passage"
    years: tuple[int, ...] = ()
    relative_years: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    compares: bool = False
    whose: str = ""

    @property
    def periods(self) -> list[Period]:
        """The periods it names, as written: a fiscal year such as 2025-26 is one, though `years` has both
        of its years.
        """
        return find_periods(self.subject)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything an answerer gets. sources: citation key (such as "S1-7f3a") to hit, in rank order. question:
    as asked.

    search_query: the standalone form that was searched. messages: the layers as role/content pairs for a chat
    model. nonce: the part of every key that no document could know. earlier: what was said before the
    exchanges, shortened, as role and text.
    """

    question: str
    search_query: str
    sources: Mapping[str, Hit]
    exchanges: tuple[Exchange, ...]
    notes: tuple[Note, ...]
    messages: tuple[tuple[str, str], ...]
    nonce: str
    earlier: tuple[tuple[str, str], ...] = ()


# How a citation stands on its page, the surest first -> what is said of it.
VERDICTS = {"located": "verified", "figures": "figures confirmed", "reworded": "≈ in other words"}
BASES = tuple(VERDICTS)
# Why a statement in other words is not verified, though nothing speaks against it.
REWORDED = "it is in other words than the page's, which no check can vouch for: compare the two"


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation in an answer. key: as shown, such as "S1"; for a key that was never given, that key as
    written.

    document, page, page_label: None where the key is unknown. quote: the words it rests on, verbatim from the
    page. verified: the key is known, and what is said at it stands on that page. basis: how it does:
    "located" (in the quote's words) or "figures" (its figures in their row, column and period, and about half
    of the words of each clause near them); or "reworded": not verified, as it has too few of the page's
    words, and not doubted either; the quote is the sentence of the page that is nearest. start, end: the
    quote's offsets in the page text, -1 if not found. reason: why it is not verified, None where it is.
    confidence: 0-100, how surely OCR read the quote (its least sure figure, else its words; the page where
    the quote is not found), None where it stands in the PDF as text. instructs: the quote holds text that
    addresses its reader as a machine, or what its page or document is called does.
    """

    key: str
    document: str | None
    page: int | None
    page_label: str | None
    quote: str
    verified: bool
    start: int = -1
    end: int = -1
    version: int | None = None
    reason: str | None = None
    confidence: float | None = None
    instructs: bool = False
    basis: str = "located"

    def __post_init__(self) -> None:
        object.__setattr__(self, "page_label", label_line(self.page_label))

    @property
    def verdict(self) -> str:
        """What was checked of it, in two words, wherever it is shown: of its wording alone."""
        if self.doubted:
            return "⚠ not verified"
        return VERDICTS[self.basis]

    def verdict_in(self, *, fits: bool) -> str:
        """The same with a tick where the answer also fits its question."""
        if fits and self.verified:
            return f"✓ {self.verdict}"
        return self.verdict

    @property
    def doubted(self) -> bool:
        """Whether something speaks against it, or nothing of it was found."""
        return not self.verified and self.basis != "reworded"


# Of a NumberCheck: what leaves no doubt.
FINE = frozenset({"supported", "derived"})


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """A figure of the answer against the cited passages. text: as written in the answer. value: with sign,
    without scale.

    unit: "USD", "%", "percentage points", … or None. scale: 1, 1_000, 1_000_000 … status: supported |
    present_elsewhere | contradicted | unsupported | derived. citation: key of the citation it was found
    under, None if none. formula: for derived. period: as stated beside the figure or in the question, else
    the head of the column it was found in; None where neither says. reason: where it was found, or why it is
    not supported.
    """

    text: str
    value: float
    unit: str | None
    scale: float
    period: str | None
    status: str
    citation: str | None = None
    formula: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer that states something. text: as it stands in Answer.text, keys among it.
    status: "cited" (it has a key, or is worked out from figures that have), "cited_by_check" (found on a
    page, and given its key by the check) or "unsupported" (on none of the pages given to the model).
    citation: key of the citation it rests on, such as "S1", None for none."""

    text: str
    status: str
    citation: str | None = None

    @property
    def mark(self) -> str:
        """What is said of it wherever the answer is shown; "" where its own key says all."""
        return {"unsupported": NOT_FOUND, "cited_by_check": ADDED}.get(self.status, "")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, complete in itself: what was asked, searched, considered, sent, said and checked.

    text: known keys appear as [S1]; unknown ones as they were written. answered: False for a refusal, with
    reason and nearest. considered: all hits, in rank order. model: "extractive" or the chat model's name.
    seconds: wall time of the whole ask. error: why the chat model failed, where this answer stands in for its
    own; None otherwise. superseded: a sentence for each cited document that has a newer one of its series.
    understanding: what was asked, as understood. notices: the text of each Notice of the ask, in order.
    exchange: its number in the conversation, None where it is not kept. compression: None where nothing was
    shortened. names: the documents that were asked, () for all; index: a mark of which these were, see
    `index_mark`. sent_to: (model, host) that the prompt went to, None where it went to none. timings: (stage,
    seconds), in order. statements: its sentences that state something, in order; () where it was kept before
    they were judged.
    """

    question: str
    search_query: str
    text: str
    answered: bool
    reason: str | None = None
    nearest: tuple[PageRef, ...] = ()
    citations: tuple[Citation, ...] = ()
    numbers: tuple[NumberCheck, ...] = ()
    notes: tuple[Note, ...] = ()
    considered: tuple[Hit, ...] = ()
    prompt: Prompt | None = None
    model: str = "extractive"
    conversation: str | None = None
    fingerprint: str = ""
    seconds: float = 0.0
    error: str | None = None
    superseded: tuple[str, ...] = ()
    understanding: Understanding | None = None
    notices: tuple[str, ...] = ()
    exchange: int | None = None
    compression: Compression | None = None
    names: tuple[str, ...] = ()
    index: str = ""
    sent_to: tuple[str, str] | None = None
    timings: tuple[tuple[str, float], ...] = ()
    statements: tuple[Statement, ...] = ()

    @property
    def by_model(self) -> bool:
        """Whether a chat model wrote it, in words of its own."""
        return self.model != "extractive" and self.from_documents

    @property
    def from_documents(self) -> bool:
        """Whether documents were asked for it."""
        return self.model not in {MEMORY, GUIDE}

    @property
    def best_first(self) -> bool:
        """Whether its paragraphs are passages, the likeliest first, rather than parts of one answer: a
        list, a sum, or a model's words.
        """
        is_whole = self.understanding is not None and self.understanding.form in {
            "list",
            "summary",
            "several",
        }
        return (
            self.answered
            and self.model == "extractive"
            and not is_whole
            and not any(check.formula for check in self.numbers)
        )

    @property
    def first(self) -> str:
        """What is said first; the rest, where it is passages that came next near, stands in `further`."""
        if self.best_first:
            return self.text.partition("\n\n")[0]
        return self.text

    @property
    def further(self) -> str:
        """Further passages of the pages, "" for none: what a reader unfolds."""
        if self.best_first:
            return self.text.partition("\n\n")[2]
        return ""


@dataclass(frozen=True, slots=True)
class Stage:
    """The ask moved on. name: "searching" | "tables" | "answering" | "checking". done, total: pieces of a
    long question, or pages whose tables are read; 0 without."""

    name: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know that is not part of the answer, such as keyword-only search while
    vectors are made.
    """

    text: str
    hint: str = ""


Event = Stage | Token | Notice | Answer


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as listed. state: keyword | embedding | ready | removed; embedded: chunks whose vectors
    stand, of chunks.

    Times in seconds since the epoch. replaced_at: since when it has this version, None for a first one.
    same_as: the document added before that has the very same file. protected: the file opens with a password
    only. period, status: what it says of itself, see DocumentFacts. lacks, to_come: what of it is still to be
    read, see Reading.
    """

    name: str
    id: str
    title: str | None
    state: str
    pages: int
    chunks: int
    embedded: int
    ocr_pages: int
    failed_pages: int
    added_at: float
    removed_at: float | None = None
    replaced_at: float | None = None
    same_as: str | None = None
    protected: bool = False
    period: str | None = None
    status: str | None = None
    lacks: str = ""
    to_come: int = 0

    @property
    def coming(self) -> str:
        """What of it is still to be read, in words; "" where nothing is."""
        if self.to_come:
            images = f"{'a page that is an image' if self.to_come == 1 else f'{self.to_come:,} pages that are images'}"
        else:
            images = ""
        lacking = [
            *(["its tables"] if self.lacks == "tables" else []),
            *([images] if self.lacks and images else []),
        ]
        return (
            (
                f"{' and '.join(lacking)} {'is' if lacking == [images] and self.to_come == 1 else 'are'} "
                f"still to be read"
            )
            if lacking
            else ""
        )

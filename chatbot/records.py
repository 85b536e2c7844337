"""Defines the records between a question and its checked answer.

They are hits, the prompt, citations, number checks, the answer and the events while it is made.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chatbot.question_reading import QuestionReading, read_question
from ingestion.invisible_characters import label_line
from ingestion.language.periods import Period, find_periods, nearest_other
from ingestion.records import NO_FACTS, DocumentFacts, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ADDED",
    "CONFIRMED",
    "DOUBTFUL",
    "FIGURE_VERDICTS",
    "FINE",
    "GUIDE",
    "MEMORY",
    "NOT_IN_DOCUMENTS",
    "NOT_ON_CITED_PAGE",
    "NOT_SO_FAR",
    "NOT_SURE",
    "OPEN",
    "Answer",
    "Citation",
    "Compression",
    "DocumentRow",
    "Event",
    "Exchange",
    "Hit",
    "Look",
    "ModelFailure",
    "Note",
    "Notice",
    "NumberCheck",
    "PageRef",
    "PageReport",
    "Prompt",
    "ProposedCall",
    "ReadBack",
    "Recall",
    "Stage",
    "Statement",
    "Token",
    "Understanding",
    "document_id",
    "printed_label",
]


# Stands behind a statement without a key that has that of the page on which it was found.
ADDED = "Citation added by the check"
# How a refusal of the program's own begins: where nothing shares the subject, where documents are not
# completely read yet, and above the passage that comes closest.
NOT_IN_DOCUMENTS, NOT_SO_FAR, NOT_SURE = (
    "Not in these documents.",
    "Not in the parts of these documents read so far.",
    "No page answers this for certain.",
)
# These stand in place of a model's name if no document was asked: a line was remembered, or the answer is
# about the chatbot or the conversation.
MEMORY, GUIDE = "memory", "guide"


@dataclass(frozen=True, slots=True)
class PageRef:
    """A page by document name.

    page: physical, 1-based.
    page_label: the printed page number on one line, whatever it was given as, or None.
    """

    document: str
    page: int
    page_label: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "page_label", label_line(self.page_label))


def printed_label(label: str) -> str:
    """What stands beside a page's number: "printed 8", or of a workbook the cells alone, "Revenue!B7"."""
    return label if "!" in label else f"printed {label}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found, with its best chunk.

    page: physical, 1-based.
    score: the page's score, higher is better; comparable within one search only.
    scores: the parts of the score by source.
    chunk_match: which piece of a long query gave the score, 0-based; None if no single piece did.
    text: the best chunk, verbatim.
    page_text: the whole page.
    body: the page without running headers and footers.
    beside: the bodies of the pages before and after it, "" for none.
    version: the stored version that holds the page; below 0 for a text from outside the store.
    context: as in Chunk.
    tables, kinds, instructions: the page's, as in Page.
    facts: what the document says of itself.
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
    beside: tuple[str, str] = field(repr=False, default=("", ""))
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

    @property
    def external(self) -> bool:
        """Whether it is a text from outside the store, such as a web page."""
        return self.version < 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its answer, as displayed."""

    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class Note:
    """A memory that is put before the model.

    layer: the memory layer it comes from.
    source: where that layer has it from.
    origin: the name of the channel, feed or file among that, "" where there is none.
    """

    layer: str
    source: str
    text: str
    origin: str = ""


def _to_nobody(notice: Notice) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Recall:
    """What a memory is asked.

    question: the question in its standalone form.
    vector: its unit vector, None if nothing is embedded.
    documents: names of the documents that are asked, () for all.
    now: seconds since the epoch.
    before: number of the first exchange of this conversation that is in the prompt anyway.
    tell: receives what the user should know of the notes, such as that they come from a substitute.
    """

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
    """How the conversation before a question was shortened for its prompt.

    original_tokens: tokens of the whole conversation before.
    compressed_tokens: tokens of what was kept, including the last exchanges.
    chunks_compressed: number of turns that lost something.
    kept: the (start, end) offsets kept of question and of answer, by exchange. An exchange before whole_from
        that is not listed was left out.
    whole_from: number of the first exchange that the prompt has in full unless `kept` lists it, 0 if not
        known.
    """

    original_tokens: int
    compressed_tokens: int
    chunks_compressed: int
    kept: Mapping[int, tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]] = field(
        default_factory=dict
    )
    whole_from: int = 0


# What an answer begins with whose figures are of another period than the one asked for.
OTHER_PERIOD = re.compile(r"\AFor [^:\n]{1,90}, not [^:\n]{1,60}: ")


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a question asks, found by rules.

    query: its standalone form.
    subject: the query without what it says about the form of the answer.
    form: "figure" | "yes_no" | "list" | "definition" | "reason" | "passage" | "summary" (of a document or a
        part of it) | "several" (asked of each of several documents), or an intent that needs no search, see
        chatbot/search/intents.py.
    years: the years it names, ascending, with all years of a range.
    relative_years: steps from a document's own year, -1 for "last year".
    names: of companies, people, places and schemes, as written.
    measures: names of measures, most specific first.
    kinds: the kinds of pages that hold the answer.
    compares: whether it asks for a change or a difference.
    whose: the name in the question that the first page found is about, "" without one or with several.
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
    def reading(self) -> QuestionReading:
        """The subject as it is read, once."""
        return read_question(self.subject)

    @property
    def terms(self) -> tuple[str, ...]:
        """The search terms of the subject, of the query where it has none."""
        return self.reading.terms or read_question(self.query).terms

    @property
    def periods(self) -> Sequence[Period]:
        """The periods it names, as written.

        A fiscal year such as 2025-26 is one period, although `years` has both of its years.
        """
        return self.reading.periods

    @property
    def is_since(self) -> bool:
        """Whether the only year that it names is what another is compared with: "since 2021"."""
        return len(self.years) == 1 and self.reading.is_since(self.years[0])

    def other_period(self, text: str) -> tuple[Period, Period] | None:
        """The period asked for and that of a text, where a figure of the text may not be given for it.

        What an answer says of that itself does not count.
        """
        if self.form != "figure" and not self.measures:
            return None
        return nearest_other(self.periods, find_periods(OTHER_PERIOD.sub("", text)))


@dataclass(frozen=True, slots=True)
class Look:
    """What a chat model looked up before it answered.

    tool: its name. said: what was looked for, in words, on one line.
    brought: what came of it, in words, on one line.
    pages: how many pages it brought that were no sources before.
    """

    tool: str
    said: str
    brought: str
    pages: int = 0


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A call of another server's tool that a chat model wants, and that only its user may make.

    tool: as the model calls it. arguments: as JSON.
    """

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that is given to an answerer.

    sources: hits by citation key (such as "S1-7f3a"), in rank order.
    question: as asked.
    search_query: the standalone form that was searched.
    messages: the layers as role/content pairs for a chat model.
    nonce: the part of every key that no document could know.
    earlier: what was said before the exchanges, shortened, as role and text.
    looks: what the model looked up for its answer, in order.
    calculations: the expressions that were worked out for it.
    proposed: calls of other servers' tools that it would have liked to make.
    pictured: keys of the pages that it got as pictures too.
    """

    question: str
    search_query: str
    sources: Mapping[str, Hit]
    exchanges: tuple[Exchange, ...]
    notes: tuple[Note, ...]
    messages: tuple[tuple[str, str], ...]
    nonce: str
    earlier: tuple[tuple[str, str], ...] = ()
    looks: tuple[Look, ...] = ()

    calculations: tuple[str, ...] = ()
    proposed: tuple[ProposedCall, ...] = ()
    pictured: tuple[str, ...] = ()

    def only(self, kept: Callable[[Hit], bool]) -> Prompt:
        """The prompt with some of its pages alone."""
        return replace(self, sources={key: hit for key, hit in self.sources.items() if kept(hit)})

    def with_source(self, hit: Hit) -> tuple[str, Prompt]:
        """(the key of a page, the prompt with that page among its sources)."""
        for key, source in self.sources.items():
            if (source.version, source.page) == (hit.version, hit.page):
                return key, self
        key = f"S{len(self.sources) + 1}-{self.nonce}"
        return key, replace(self, sources={**self.sources, key: hit})


# What is shown for each way a citation can stand on its page, the surest first.
VERDICTS = {"located": "located on the page", "pictured": "read from a picture", "unread": "not checked"}
# Those for which nothing was to be located.
OPEN = frozenset({"pictured", "unread"})


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation in an answer.

    key: as shown, such as "S1"; a key that was never given stays as written.
    document, page, page_label: None if the key is unknown.
    quote: the words it rests on, verbatim from the page.
    verified: whether the quotation that the statement rests on was located on that page.
    basis: "located", "pictured" for what a model read from the page's picture, or "unread" for what nobody
        compared with the page; its quote is then the line of a figure, "" for none.
    start, end: offsets of the quote in the page text, -1 if not found.
    reason: why it is not verified, None if it is.
    confidence: how surely OCR read the quote, 0-100: its least sure figure, else its words, or the page if
        the quote is not found. None if the page has its text in the PDF.
    instructs: whether the quote, or the name of its page or document, addresses its reader as a machine.
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
        """What was checked of the citation, in a few words, wherever it is shown."""
        if self.doubted:
            return "⚠ not verified"
        return VERDICTS[self.basis]

    @property
    def doubted(self) -> bool:
        """Whether something speaks against it, or nothing of it was found."""
        return not self.verified and self.basis not in OPEN


# What a check of a figure found, for readers.
FIGURE_VERDICTS = {
    "supported": "✓ on the cited page",
    "derived": "✓ calculated from figures on the cited page",
    "present_elsewhere": "⚠ different on the cited page",
    "contradicted": "⚠ the cited page gives another figure",
    "unsupported": "⚠ not found on the cited pages",
    "not_checked": "what it means was not checked",
}
# Of "present_elsewhere", if none of the cited pages has the value.
NOT_ON_CITED_PAGE = "⚠ not on the cited page"
# Statuses of a NumberCheck that prove the figure, and that speak against it.
FINE = frozenset({"supported", "derived"})
AGAINST = frozenset({"present_elsewhere", "contradicted", "unsupported"})


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """A figure of the answer, checked against the cited passages.

    text: as written in the answer.
    value: with sign, without scale.
    unit: "USD", "%", "percentage points", … or None.
    scale: 1, 1_000, 1_000_000 …
    status: supported | derived (calculated) | not_checked (nobody read what it is said of) |
        present_elsewhere | contradicted | unsupported.
    citation: key of the citation it was found under, or None.
    formula: for derived figures.
    period: as stated beside the figure or in the question, else the heading of its column, else None.
    reason: where it was found, or why it is not supported.
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

    @property
    def doubted(self) -> bool:
        """Whether something speaks against it."""
        return self.status in AGAINST

    @property
    def verdict(self) -> str:
        """What was found of it, for readers."""
        if self.status == "present_elsewhere" and self.citation is None:
            return NOT_ON_CITED_PAGE
        return FIGURE_VERDICTS.get(self.status, self.status)


# What a statement can be marked as, wherever it is shown.
MARKS = {
    "quoted": "“ ” word for word",
    "stated": "✓ stated",
    "calculated": "= calculated",
    "inference": "∴ inference",
    "pictured": "▣ read from a picture, not provable",
    "contradicted": "⚠ the page says otherwise",
    "not_found": "⚠ not found",
}
CONFIRMED = frozenset({"quoted", "stated", "calculated"})
DOUBTFUL = frozenset({"contradicted", "not_found"})


@dataclass(frozen=True, slots=True)
class StatementQuote:
    """Words of a page that a statement rests on, or that speak against it.

    key: of the page's citation, such as "S1". start, end: offsets of the first part in the page's text.
    """

    key: str
    document: str
    page: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StatementCalculation:
    """Arithmetic that comes to a figure of a statement.

    operands: (number as printed, key of its page).
    """

    expression: str
    value: float
    operands: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, list item or table row of an answer that states something.

    text: as it stands in Answer.text, with its keys.
    status: "cited" (it has a key), "cited_by_check" (it has the key of a page on which the check found it),
        "unsupported" (it has none, and is not on the pages given to the model) or "not_checked" (it has none,
        and what it means was not looked for).
    citation: key of the citation it rests on, such as "S1", or None.
    verdict: the reader's: "stated", "computed", "inferred", "about_sources", "contradicted" or "not_stated";
        "not_checked" without a reader.
    mark: one of MARKS, "" for none.
    difference: why it is doubted, or has no mark though it was read; "" for none.
    read_by: the model that read it, "" for none.
    """

    text: str
    status: str
    citation: str | None = None
    verdict: str = "not_checked"
    mark: str = ""
    quotes: tuple[StatementQuote, ...] = ()
    calculation: StatementCalculation | None = None
    difference: str = ""
    read_by: str = ""

    @property
    def shown_mark(self) -> str:
        """The mark in words, wherever it is shown; "" for none."""
        return MARKS[self.mark] if self.mark else ""


@dataclass(frozen=True, slots=True)
class ReadBack:
    """How a model read an answer's statements back.

    model, host: who read; "" for nobody. reply: what it said of each statement, as JSON whose pages have the
        keys of the prompt; "" for nothing. reason: why statements have no verdict, "" if all have one.
    """

    model: str = ""
    host: str = ""
    reply: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a chat model used for an answer, or for several.

    prompt_tokens, answer_tokens: as the endpoint counts them, the model's thinking among the latter.
    estimated: whether they are counted here instead, since the endpoint does not say.
    seconds: from the request to the last word.
    first_seconds: from the request to the first word.
    cost: by the prices of the settings, in their currency; None without prices.
    """

    prompt_tokens: int = 0
    answer_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0
    first_seconds: float = 0.0
    cost: float | None = None

    def plus(self, other: Usage | None) -> Usage:
        """Both together, with the time to this one's first word; a cost only where both have one."""
        if other is None:
            return self
        cost = None
        if self.cost is not None and other.cost is not None:
            cost = self.cost + other.cost
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.estimated or other.estimated,
            self.seconds + other.seconds,
            self.first_seconds,
            cost,
        )


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """Why a chat model gave no answer.

    kind: "key" | "model" | "silent" | "unreachable" | "length", see ModelError, or "other".
    message: what is wrong.
    hint: the fix, "" for none.
    """

    kind: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer: what was asked, searched, considered, sent, said and checked.

    text: known keys appear as [S1], unknown ones as they were written.
    answered: False for a refusal, which has a reason and nearest pages.
    considered: all hits, in rank order.
    model: "extractive" or the chat model's name.
    seconds: wall time of the whole ask.
    error: why the chat model failed, if this answer replaces its own; else None.
    failure: the same in parts.
    superseded: a sentence for each cited document that has a newer edition in its series.
    understanding: what was asked, as understood.
    notices: the text of each Notice of the ask, in order.
    exchange: its number in the conversation, None if it is not kept.
    compression: None if nothing was shortened.
    names: the documents that were asked, () for all.
    index: fingerprint of those documents, see `index_mark`.
    sent_to: (model, host) that the prompt went to, None if it went to none.
    timings: (stage, seconds), in order.
    statements: its sentences that state something, in order; () if it was kept before they were judged.
    usage: what chat models used for it, reading it back included; None if none was asked.
    reading: how its statements were read back; None before that, and where nothing is to be read.
    alone: whether a chat model wrote it without any document, so that nothing is cited.
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
    usage: Usage | None = None
    reading: ReadBack | None = None
    alone: bool = False
    failure: ModelFailure | None = None

    @property
    def by_model(self) -> bool:
        """Whether a chat model wrote it in words of its own."""
        return self.model != "extractive" and self.from_documents

    @property
    def unread(self) -> int:
        """How many statements of a chat model nobody compared with the pages by what they mean."""
        if not self.by_model:
            return 0
        return sum(not one.mark and one.verdict == "not_checked" for one in self.statements)

    @property
    def instead(self) -> bool:
        """Whether the documents' own words replace a chat model's, which failed."""
        return self.sent_to is not None and self.model == "extractive"

    @property
    def from_documents(self) -> bool:
        """Whether documents were searched for it."""
        return self.model not in {MEMORY, GUIDE} and not self.alone

    @property
    def best_first(self) -> bool:
        """Whether its paragraphs are passages, the likeliest first, rather than the parts of one answer.

        Parts of one answer are a list, a sum or a model's words.
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
        """What is shown first. Passages that came next are in `further`."""
        if self.best_first:
            return self.text.partition("\n\n")[0]
        return self.text

    @property
    def further(self) -> str:
        """Further passages, which the reader can unfold; "" for none."""
        if self.best_first:
            return self.text.partition("\n\n")[2]
        return ""


@dataclass(frozen=True, slots=True)
class Stage:
    """The ask has reached another stage.

    name: "searching" | "tools" (of other servers) | "answering" | "looking" (the model looks further)
        | "checking".
    done, total: pieces of a long question, or calls of tools; 0 otherwise.
    detail: what is looked up, in words, on one line; of unknown origin.
    """

    name: str
    done: int = 0
    total: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer, sent as it is written. anew: it takes the place of all before it."""

    text: str
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user that is not part of the answer.

    An example is that only keywords are searched while vectors are being made.

    command: what somebody at a command line can do about it, "" for nothing beside the hint.
    aside: whether it can be read after the answer, as it says how far the documents are read.
    """

    text: str
    hint: str = ""
    command: str = ""
    aside: bool = False


Event = Stage | Token | Notice | Answer


def document_id(name: str) -> str:
    """Returns the id of the document of this name: 16 hexadecimal digits, whatever its bytes are."""
    return hashlib.sha256(f"document {name}".encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class PageReport:
    """How one page fared. number: physical, 1-based; characters: of normalised text; problem: None where it
    was read; tables, instructions: how many tables, and stretches of text that address a machine; remarks: as
    in Page."""

    number: int
    label: str | None
    label_source: str | None
    method: str
    characters: int
    confidence: float | None
    problem: str | None
    tables: int = 0
    instructions: int = 0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as listed. Times are in seconds since the epoch.

    digest: SHA-256 of its file, which other documents may have too.
    state: keyword | embedding | ready | removed.
    embedded: number of chunks that have their vectors.
    replaced_at: since when it has this version, None for a first version.
    same_as: the document added earlier that has the very same file.
    protected: whether the file opens only with a password.
    period, status: what it says of itself, see DocumentFacts.
    lacks, to_come: what is still to be read of it, see Reading.
    """

    name: str
    digest: str
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
    def id(self) -> str:
        """See `document_id`."""
        return document_id(self.name)

    @property
    def coming(self) -> str:
        """Says what is still to be read of it; "" if nothing is."""
        if not self.to_come:
            return ""
        one = self.to_come == 1
        return f"{'a scanned page is' if one else f'{self.to_come:,} scanned pages are'} still to be read"

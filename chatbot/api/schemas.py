"""Defines the bodies of requests and responses: one source for their validation and their description."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from chatbot.asking.question import LONGEST_QUESTION
from chatbot.comparison.records import LONGEST_QUESTION as LONGEST_COMPARED
from chatbot.comparison.records import MOST_DOCUMENTS, MOST_YEARS
from chatbot.forms import Body, Strict
from chatbot.memory.cases.records import LONGEST_WORD
from chatbot.memory.conversations.conversation_names import NAME
from chatbot.user_settings import MOST_TOKENS, MOST_WINDOW, Value

__all__ = [
    "AnswerOut",
    "AskIn",
    "CaseIn",
    "CitationOut",
    "CompareIn",
    "ComparisonOut",
    "ConversationIn",
    "ConversationName",
    "ConversationOut",
    "DocumentOut",
    "EntryOut",
    "ExchangeOut",
    "FigureOut",
    "HitOut",
    "JobOut",
    "KeyFiguresOut",
    "Name",
    "NewsIn",
    "NumberOut",
    "PartOut",
    "PartsOut",
    "PasswordIn",
    "RatingIn",
    "SearchIn",
    "SearchOut",
    "ShorteningIn",
    "SituationIn",
]


class ShorteningIn(Body):
    """How a long conversation is shortened for a question; null takes the settings' own.

    use_r2c: whether the whole conversation is sent, shortened when it is long.
    max_tokens: the tokens above which it is, as far as the prompt has room.
    compression_ratio: the share that is kept.
    gamma: how unevenly sentences are dropped.
    rho: the share of what is dropped that whole messages take.
    scoring: "query" keeps what has to do with the question, "seed" what has financial words.
    keep_last: messages at the end that stay whole.
    """

    use_r2c: bool | None = None
    max_tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS)] | None = None
    compression_ratio: Annotated[float, Field(ge=0.05, le=1)] | None = None
    gamma: Annotated[float, Field(ge=0, le=10)] | None = None
    rho: Annotated[float, Field(ge=0, le=1)] | None = None
    scoring: Literal["query", "seed"] | None = None
    keep_last: Annotated[int, Field(ge=1, le=2 * MOST_WINDOW)] | None = None

    @property
    def compression(self) -> tuple[tuple[str, Value], ...]:
        """What it changes of the settings, by their names."""
        given = {
            "compression": self.use_r2c,
            "seed_scoring": None if self.scoring is None else self.scoring == "seed",
            "compression_tokens": self.max_tokens,
            "compression_ratio": self.compression_ratio,
            "compression_gamma": self.gamma,
            "compression_rho": self.rho,
        }
        changes: dict[str, Value] = {name: value for name, value in given.items() if value is not None}
        if self.keep_last is not None:
            changes["prompt_exchanges"] = (self.keep_last + 1) // 2
        return tuple(changes.items())


MOST_NAMES = 1_000
MOST_HITS = 100
Name = Annotated[str, Field(min_length=1, max_length=1_000)]
Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
Identifier = Annotated[str, Field(min_length=1, max_length=200)]
ConversationName = Annotated[str, Field(pattern=NAME, description="Up to 64 letters, digits, - and _.")]


Strategy = Literal["average", "weighted", "per_chunk", "rrf", "union", "intersection"]


class AskIn(Strict, ShorteningIn):
    """A question.

    documents: names to stay in, [] for all.
    conversation: an id of your choice, to remember the exchange: up to 64 letters, digits, - and _; null
        remembers nothing.
    model: "PROVIDER:MODEL", or "none" for the documents' own words; null takes the settings' own.
    stream: whether the answer comes as server-sent events.
    strategy: how the pieces of a long question are combined; null takes the settings' own.
    tools: whether the model may first call tools of the servers in the server's mcp.json.
    verify: whether a model may read the answer back, if the server has that.
    """

    question: Question
    documents: Annotated[list[Name], Field(default_factory=list, max_length=MOST_NAMES)]
    conversation: ConversationName | None = None
    model: Identifier | None = None
    stream: StrictBool = False
    tools: StrictBool = False
    verify: StrictBool = True
    strategy: Strategy | None = None


class CitationOut(BaseModel):
    """A citation and what the check found: see docs/commands.md.

    document_id: as /api/v1/documents has it, removed or not; null for what is no document.
    url: the address of its page, drawn as a PNG, or that of a web page; null for none.
    """

    key: str
    document: str | None
    page: int | None
    page_label: str | None
    quote: str
    verified: bool
    reason: str | None
    confidence: float | None
    instructs: bool
    basis: str
    doubted: bool
    document_id: str | None = None
    url: str | None = None


class NumberOut(BaseModel):
    """A figure of the answer and what the check found."""

    text: str
    value: float
    unit: str | None
    scale: float
    period: str | None
    status: str
    citation: str | None
    formula: str | None
    reason: str | None


class UnderstandingOut(BaseModel):
    """How a question was understood."""

    subject: str
    form: str
    years: list[int]
    relative_years: list[int]
    names: list[str]
    measures: list[str]
    kinds: list[str]
    compares: bool


class CompressionOut(BaseModel):
    """How the conversation before a question was shortened for the chat model."""

    original_tokens: int
    compressed_tokens: int
    chunks_compressed: int
    kept_exchanges: list[int]


class UsageOut(BaseModel):
    """What a chat model used. estimated: whether the tokens were counted here. cost: null if not known."""

    prompt_tokens: int
    answer_tokens: int
    estimated: bool
    seconds: float
    first_seconds: float
    cost: float | None


class LookOut(BaseModel):
    """What a chat model looked up before it answered. pages: that it brought."""

    tool: str
    said: str
    brought: str
    pages: int


class ModelErrorOut(BaseModel):
    """Why the chat model failed. kind: "key" | "model" | "silent" | "unreachable" | "length" | "other"."""

    kind: str
    message: str
    hint: str


class AnswerOut(BaseModel):
    """A complete answer, with the fields of `finpolicy ask --json`.

    fit: "nothing_near" for a refusal, else null; retired.
    statements: with "verdict" (the reader's), "mark", "quotes", "calculation" and "difference".
    not_checked: how many statements nobody compared with the pages by what they mean.
    reading: {model, host, reason}, null if nobody read it back; reason says why statements lack a verdict.
    model: what wrote it, "extractive" for the documents' own words.
    model_error: why the chat model failed, if the documents' own words replace its answer; else null. `error`
        says the same in one sentence, and is missing if there was none.
    """

    model_config = ConfigDict(extra="allow")

    answer: str
    further: str
    fit: str | None
    answered: bool
    reason: str | None
    citations: list[CitationOut]
    numbers: list[NumberOut]
    statements: list[dict[str, Any]]
    not_checked: int = 0
    reading: dict[str, str] | None = None
    notes: list[dict[str, Any]]
    nearest: list[dict[str, Any]]
    search_query: str
    understanding: UnderstandingOut | None
    superseded: list[str]
    model: str
    conversation: str | None
    exchange: int | None
    compression: CompressionOut | None
    seconds: float
    usage: UsageOut | None
    looked_up: list[LookOut]
    error: str | None = None
    model_error: ModelErrorOut | None = None


class SearchIn(Strict):
    """A query for pages; k is how many. strategy: how the pieces of a long query are combined."""

    query: Question
    documents: Annotated[list[Name], Field(default_factory=list, max_length=MOST_NAMES)]
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    k: Annotated[int, Field(ge=1, le=MOST_HITS)] = 3
    strategy: Strategy = "average"


class HitOut(BaseModel):
    """A page that was found, the best first. rank: from 1. page: physical, 1-based."""

    rank: int
    document: str
    page: int
    page_label: str | None
    score: float
    extraction_method: str
    chunk_id: str
    text: str
    scores: dict[str, float]
    chunk_match: int | None = None


class SearchOut(BaseModel):
    """The pages found for a query."""

    hits: list[HitOut]


class DocumentOut(BaseModel):
    """A document.

    id: belongs to its name: a new version keeps it, and the same file under another name has another.
    state: "keyword" | "embedding" | "ready" | "removed".
    added_at: seconds since the epoch.
    """

    id: str
    name: str
    title: str
    state: str
    pages: int
    period: str
    added_at: float
    removed_at: float | None
    protected: bool


class JobOut(BaseModel):
    """A file on its way into the store.

    phase: "waiting" | "reading" | "ocr" | "embedding" | "images" | "password" | "done" | "failed"
        | "cancelled".
    done, total: pages while reading, chunks while embedding.
    document, document_id: the name and id of the document, once it can be searched.
    """

    id: int
    name: str
    phase: str
    done: int
    total: int
    seconds_left: float | None
    problem: str | None
    document: str | None
    document_id: str | None = None


class PartOut(BaseModel):
    """Whether a part of the store answers.

    name: catalog | conversations | words | vectors | copies | news | workers.
    place: what it is kept in, such as SQLite, Postgres or Chroma server.
    seconds: until it answered or failed.
    problem: what it said; "" if it answered.
    """

    name: str
    place: str
    seconds: float
    problem: str


class PartsOut(BaseModel):
    """The parts of the store."""

    parts: list[PartOut]


class PasswordIn(Strict):
    """The password of a protected file."""

    password: Annotated[str, Field(min_length=1, max_length=1_000)]


class CompareIn(Strict):
    """A question that is asked of each document, in each year if there are any."""

    question: Annotated[str, Field(min_length=1, max_length=LONGEST_COMPARED)]
    documents: Annotated[list[Name], Field(min_length=1, max_length=MOST_DOCUMENTS)]
    years: Annotated[
        list[Annotated[str, Field(max_length=20)]],
        Field(
            default_factory=list,
            max_length=MOST_YEARS,
            description="Such as 2024 or 2024-25; without any, it is asked as it is.",
        ),
    ]


class _Columns(BaseModel):
    """A row of a table. Its fields have the names of the columns, with blanks."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", " "))


class EntryOut(_Columns):
    """What a document says to a question, in a year; "" or null for what has no content.

    found: whether there is a figure, words, or nothing.
    value: the figure with its scale, in `value in`.
    page: that is cited, physical, from 1; `nearest page`: where there is no answer.
    verified: "yes" or "no": whether the quotation is on the page.
    """

    document: str
    year: str
    found: str
    figure: str
    unit: str
    value: float | None
    value_in: str
    page: int | None
    printed_page: str
    verified: str
    figure_check: str
    quote: str
    passage: str
    change: str
    change_in_per_cent: str
    changed_from: str
    how_it_was_worked_out: str
    nearest_page: int | None
    remark: str


class ComparisonOut(BaseModel):
    """A comparison: an entry for each document and year."""

    entries: list[EntryOut]


class FigureOut(_Columns):
    """A key figure of a document, "" or null for what has no content.

    figure: in the unit of its row; value: with its scale.
    """

    measure: str
    document: str
    period: str
    fiscal_year: str
    figure: float | None
    unit: str
    value: float | None
    printed: str
    printed_in: str
    page: int | None
    printed_page: str
    row: str
    column: str
    formula: str
    remark: str


class KeyFiguresOut(BaseModel):
    """Key figures. lacking: those that no document states. remarks: what to know, by document."""

    figures: list[FigureOut]
    lacking: list[str]
    remarks: dict[str, str]


class ConversationIn(Strict):
    """A conversation's new title."""

    title: Annotated[str, Field(max_length=1_000)]


class ConversationOut(BaseModel):
    """A conversation. Times are in seconds since the epoch."""

    id: str
    title: str
    begun_at: float
    changed_at: float
    exchanges: int
    deleted_at: float | None


class ExchangeOut(BaseModel):
    """A question and its answer.

    number: from 1, in its conversation.
    state: "answering" | "complete" | "stopped" | "failed" | "interrupted".
    at: seconds since the epoch.
    """

    number: int
    question: str
    answer: str
    state: str
    at: float


class RatingIn(Strict):
    """A rating of an answer, with a reason in the reader's words."""

    helpful: StrictBool
    reason: Annotated[str, Field(max_length=LONGEST_WORD)] = ""


class CaseIn(Strict):
    """A question with an answer that is to be followed, or avoided if it is not helpful."""

    question: Question
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
    helpful: StrictBool = True


class SituationIn(Strict):
    """A situation with advice for it. scope: the name, symbol or topic it belongs to."""

    situation: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
    recommendation: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
    scope: Annotated[str, Field(max_length=200)] = ""


class NewsIn(Strict):
    """A piece of news. published: ISO 8601, "" for now."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
    source: Annotated[str, Field(max_length=200)] = "added by a program"
    published: Annotated[str, Field(max_length=60)] = ""
    link: Annotated[str, Field(max_length=2_000)] = ""

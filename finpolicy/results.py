"""Defines what the calls return: frozen records with the names of the JSON of /api/v1, made from that JSON.

Names with blanks, such as "fiscal year", have "_" in place of them. docs/commands.md says what each field
means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args, get_type_hints

from chatbot.errors import NotFoundError, ProjectError
from chatbot.records import (
    Look,
    ModelFailure,
    Note,
    NumberCheck,
    PageRef,
    ReadBack,
    Usage,
    document_id,
)
from chatbot.records import Statement as PolicyStatement

if TYPE_CHECKING:
    import pandas

    from finpolicy.connection import StoreConnection

__all__ = [
    "AddedFile",
    "AuditCheck",
    "AuditVerification",
    "KeyFigureRow",
    "KeyFigureTable",
    "PolicyAnswer",
    "PolicyCitation",
    "PolicyComparison",
    "PolicyDocument",
    "PolicyEntry",
    "PolicyEvent",
    "PolicyExchange",
    "PolicyHit",
    "PolicyStatement",
    "made",
]

Made = TypeVar("Made")


class PolicyResult:
    """What all results share. A copy by pickle has all fields, but draws no pages: it has no store."""

    # The store that they are from.
    _drawn_by: ClassVar[Any] = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_drawn_by"}

    def _image(self, document: str | None, page: int | None, passage: str, *, crop: bool) -> bytes:
        if self._drawn_by is None or document is None or page is None:
            raise NotFoundError("There is no page to draw.", hint="Ask again, and draw it from the answer.")
        drawn: bytes = self._drawn_by.page_image(document, page, passage, crop=crop)
        return drawn


class PolicyTable(PolicyResult):
    """A result whose first field has its rows."""

    def _rows(self) -> list[dict[str, Any]]:
        rows, *_ = vars(self).values()
        return [row.__getstate__() for row in rows]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the rows, with the names of their fields as columns."""
        import pandas

        rows, *_ = _hints(type(self)).values()  # type: ignore[arg-type]
        hints = _hints(get_args(rows)[0])
        whole = {name: "Int64" for name, hint in hints.items() if int in get_args(hint)}
        return pandas.DataFrame(self._rows(), columns=list(hints)).astype(whole)

    def _repr_html_(self) -> str:
        from finpolicy.notebook_view import table_html

        return table_html(self._rows())


@dataclass(frozen=True)
class PolicyCitation(PolicyResult):
    """A citation and what the check found."""

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

    def image(self, *, crop: bool = False) -> bytes:
        """Returns the page with the quotation marked, as a PNG; with `crop` the part around the mark.

        Raises NotFoundError for what is no page, or without the store, and StoreError.
        """
        return self._image(self.document_id, self.page, self.quote, crop=crop)


@dataclass(frozen=True)
class PolicyAnswer(PolicyResult):
    """An answer with all that was checked. A notebook shows it with its marks and cited passages."""

    answer: str
    further: str
    fit: str | None
    answered: bool
    reason: str | None
    citations: tuple[PolicyCitation, ...]
    numbers: tuple[NumberCheck, ...]
    statements: tuple[PolicyStatement, ...]
    notes: tuple[Note, ...]
    nearest: tuple[PageRef, ...]
    search_query: str
    understanding: Mapping[str, Any] | None
    superseded: tuple[str, ...]
    model: str
    conversation: str | None
    exchange: int | None
    compression: Mapping[str, Any] | None
    seconds: float
    usage: Usage | None
    looked_up: tuple[Look, ...]
    not_checked: int = 0
    reading: ReadBack | None = None
    error: str | None = None
    model_error: ModelFailure | None = None

    def _repr_html_(self) -> str:
        from finpolicy.notebook_view import answer_html

        return answer_html(self)


@dataclass(frozen=True)
class PolicyEvent(PolicyResult):
    """What comes of an answer while it is written.

    kind: "stage" | "token" | "answer" | "marks" (the same answer, read back).
    text: of a token, with `replace` in place of all text before.
    answer: of the last two.
    """

    kind: str
    text: str = ""
    replace: bool = False
    stage: str = ""
    detail: str = ""
    answer: PolicyAnswer | None = None


@dataclass(frozen=True)
class PolicyHit(PolicyResult):
    """A page that was found, the best first."""

    rank: int
    document: str
    page: int
    page_label: str | None
    score: float
    extraction_method: str
    chunk_id: str
    text: str
    scores: Mapping[str, float]
    chunk_match: int | None = None

    def image(self, *, crop: bool = False) -> bytes:
        """Returns the page with the passage marked; see PolicyCitation.image."""
        return self._image(document_id(self.document), self.page, self.text, crop=crop)


@dataclass(frozen=True)
class PolicyDocument(PolicyResult):
    """A document. state: "keyword" | "embedding" | "ready" | "removed". Times: seconds since the epoch."""

    id: str
    name: str
    title: str
    state: str
    pages: int
    period: str
    added_at: float
    removed_at: float | None
    protected: bool


@dataclass(frozen=True)
class AddedFile(PolicyResult):
    """A file that was added. document, document_id: under which it can be asked."""

    id: int
    name: str
    phase: str
    done: int
    total: int
    seconds_left: float | None
    problem: str | None
    document: str | None
    document_id: str | None = None


@dataclass(frozen=True)
class PolicyExchange(PolicyResult):
    """A question of a conversation and its answer."""

    number: int
    question: str
    answer: str
    state: str
    at: float


@dataclass(frozen=True)
class PolicyEntry(PolicyResult):
    """What a document says to a question, in a year."""

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


@dataclass(frozen=True)
class PolicyComparison(PolicyTable):
    """A comparison: an entry for each document and year."""

    entries: tuple[PolicyEntry, ...]


@dataclass(frozen=True)
class KeyFigureRow(PolicyResult):
    """A key figure of a document. figure: in the unit of its row; value: with its scale."""

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


@dataclass(frozen=True)
class KeyFigureTable(PolicyTable):
    """Key figures. lacking: those that no document states. remarks: what to know, by document."""

    figures: tuple[KeyFigureRow, ...]
    lacking: tuple[str, ...]
    remarks: Mapping[str, str]


@dataclass(frozen=True)
class AuditCheck(PolicyResult):
    """A check of an audit file. status: "confirmed" | "does not hold" | "cannot be checked"."""

    check: str
    status: str
    detail: str


@dataclass(frozen=True)
class AuditVerification(PolicyResult):
    """All checks of an audit file. confirmed: whether each of them is."""

    checks: tuple[AuditCheck, ...]
    confirmed: bool


def made(kind: type[Made], data: Mapping[str, Any], connection: StoreConnection | None = None) -> Made:
    """Returns a record of JSON. Fields that only a newer server has are left out.

    Raises ProjectError where a field is missing.
    """
    given = {}
    hints = _hints(kind)  # type: ignore[arg-type]
    for name, hint in hints.items():
        written = name if name in data else name.replace("_", " ")
        if written in data:
            given[name] = _value(hint, data[written], connection)
    try:
        result = kind(**given)
    except TypeError as error:
        raise ProjectError(
            f"The server's reply lacks fields of {kind.__name__}.",
            hint="Install the version of finpolicy that the server has.",
        ) from error
    if isinstance(result, PolicyResult):
        object.__setattr__(result, "_drawn_by", connection)
    return result


def _value(hint: Any, value: Any, connection: StoreConnection | None) -> Any:
    if isinstance(value, list):
        return tuple(_value(hint, one, connection) for one in value)
    kind = next(filter(is_dataclass, (hint, *get_args(hint))), None)
    if kind is None or not isinstance(value, dict):
        return value
    return made(kind, value, connection)  # type: ignore[arg-type]


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}

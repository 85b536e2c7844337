"""Defines a comparison: a question over documents and years, and an entry of the table for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.errors import QuestionError
from chatbot.records import Citation
from ingestion.invisible_characters import label_line
from ingestion.language.periods import FISCAL, YEAR, find_periods

__all__ = [
    "MOST_ENTRIES",
    "Comparison",
    "Entry",
    "EntryPlace",
    "Nearest",
    "Quantity",
    "question_in",
    "question_without_years",
    "year_written",
]

# A larger table would take minutes to fill, and nobody would read it.
MOST_DOCUMENTS = 20
MOST_YEARS = 12
MOST_ENTRIES = 80
LONGEST_QUESTION = 1_000
# A question that ends in a year asks for another year in each column.
LAST_YEAR = re.compile(
    (
        rf"\s(?:in|for|of|during)(?: the)?(?: fiscal| financial)?(?: year)? (?:{FISCAL} ?)?{YEAR}"
        rf"(?:[-/–]\d{{2,4}})?$"
    ),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared.

    names: names of documents, each once.
    years: as written, such as "2021" or "2025-26", in order of time; () for the question as it is.
    """

    question: str
    names: tuple[str, ...]
    years: tuple[str, ...] = ()

    @classmethod
    def of(cls, question: str, names: Sequence[str], years: Sequence[str] = ()) -> Comparison:
        """Returns the comparison in order and without repetitions. Raises QuestionError if it is not
        possible.
        """
        question = " ".join(question.split())
        names = tuple(dict.fromkeys(names))
        written = sorted({year_written(year) for year in years if year.strip()}, key=_time)
        if not any(map(str.isalnum, question)):
            raise QuestionError(
                "There is no question yet.", hint="Write a question. It is asked of each document."
            )
        if len(question) > LONGEST_QUESTION:
            raise QuestionError(
                f"The question has {len(question):,} characters.",
                hint=f"Shorten it to {LONGEST_QUESTION:,}.",
            )
        if not names:
            raise QuestionError("No document is chosen.", hint="Choose the documents to compare.")
        if len(names) * max(1, len(written)) < 2:
            raise QuestionError(
                "With one document and one year there is nothing to compare.",
                hint="Add a document or a year.",
            )
        if (
            len(names) > MOST_DOCUMENTS
            or len(written) > MOST_YEARS
            or len(names) * max(1, len(written)) > MOST_ENTRIES
        ):
            limits = (
                f"At most {MOST_DOCUMENTS} documents, {MOST_YEARS} years and {MOST_ENTRIES} answers are "
                f"compared at once"
            )
            raise QuestionError(
                f"{limits}. This would be {len(names)} × {max(1, len(written))}.",
                hint="Remove some documents or years.",
            )
        return cls(question, names, tuple(written))

    @property
    def places(self) -> tuple[EntryPlace, ...]:
        """Every entry of the table, document by document, each in order of time."""
        return tuple(EntryPlace(name, year) for name in self.names for year in self.years or ("",))


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """The place of an entry in the table.

    year: as in Comparison, "" if no year is asked for.
    """

    document: str
    year: str = ""


@dataclass(frozen=True, slots=True)
class Quantity:
    """The figure of an entry.

    text: as the document writes it, or as it was worked out.
    value: with sign, without scale.
    unit: as in Figure.
    heading: the words that give a table's cells their scale, such as "in millions"; "" without.
    status: as in NumberCheck.
    doubt: why the figure is not supported, "" if it is.
    formula: "" unless it was worked out.
    dated: whether the year asked for stands with the figure; otherwise the year is the document's own.
    """

    text: str
    value: float
    unit: str | None = None
    scale: float = 1.0
    decimals: int = 0
    heading: str = ""
    status: str = "supported"
    doubt: str = ""
    formula: str = ""
    dated: bool = True


@dataclass(frozen=True, slots=True)
class Nearest:
    """A page that came nearest. page: physical, 1-based."""

    document: str
    version: int
    page: int
    page_label: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "page_label", label_line(self.page_label))


@dataclass(frozen=True, slots=True)
class Entry:
    """What one document says about one year.

    state: "figure" | "passage" | "absent" | "failed".
    passage: the words that hold the figure, shortened.
    citations: where it was found, the most telling one first.
    nearest: the nearest pages, for "absent".
    reason: why there is no figure, passage or answer.
    hint: what to do about it.
    model: as in Answer.
    """

    place: EntryPlace
    state: str
    quantity: Quantity | None = None
    passage: str = ""
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    reason: str = ""
    hint: str = ""
    model: str = ""


def question_in(question: str, year: str) -> str:
    """Returns the question as asked of one year.

    A year at the end of the question is replaced. "" leaves the question as it is.
    """
    if not year:
        return question
    stem = question.rstrip(" ?.!")
    end = question[len(stem) :].strip() or "?"
    return f"{LAST_YEAR.sub('', stem)} in {year}{end}"


def question_without_years(question: str) -> tuple[str, tuple[str, ...]]:
    """Returns (the question without its years, its years), to be asked of these and other years.

    "What was revenue in 2021?" becomes ("What was revenue?", ("2021",)). A question whose words need its
    years stays as it is, with no years: "Did revenue grow from 2020 to 2021?".
    """
    stem = question.rstrip(" ?.!")
    end = question[len(stem) :].strip() or "?"
    years = []
    for period in find_periods(stem):
        try:
            years.append(year_written(period.text.split()[-1]))
        except QuestionError:
            return question, ()
        if period.is_part:
            return question, ()
    without = LAST_YEAR.sub("", stem)
    if len(years) == 1 and not find_periods(without):
        return f"{without}{end}", tuple(years)
    return question, ()


def year_written(text: str) -> str:
    """Returns a year or span of years as questions write it: " 2025/26 " becomes "2025-26".

    Raises QuestionError for anything else.
    """
    written = text.strip().replace("/", "-").replace("–", "-")
    periods = find_periods(written)
    if len(periods) != 1 or periods[0].text != written or periods[0].is_part or len(written) > 12:
        raise QuestionError(
            f"“{text.strip()[:20]}” is not a year.", hint="Write a year such as 2024, 2024-25 or FY2024."
        )
    return written


def _time(year: str) -> tuple[int, int, str]:
    period = find_periods(year)[0]
    return period.end_year, period.start_year, year

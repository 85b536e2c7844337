"""Questions that the documents answer, for people who do not know yet what to ask; made from the rows of
their tables and what their sentences give figures for; asks nothing itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from ingestion.language.measures import find_measures
from ingestion.language.months import MONTH
from ingestion.language.periods import YEAR
from ingestion.language.scales import SCALE_WORD
from ingestion.language.sentences import sentences, within_sentence
from ingestion.language.terms import terms
from ingestion.language.units import BASIS, PERCENT, POINTS
from ingestion.records import Row, Table

__all__ = ["Example", "candidates", "in_turn", "shared_question", "spoken_candidates", "spoken_of"]

# A row's label that reads as what somebody would ask for: two to five words, none of which leans on the rows
# around it.
LABEL = re.compile(r"[A-Z][A-Za-z'’-]{2,20}(?: [A-Za-z'’-]{2,20}){1,4}")
LEANING = re.compile(
    r"\b(?:other|others|of which|less|all|total|subtotal|item|items|note|notes|end|beginning)\b", re.I
)
# Of words that tell only when, or which of several figures: "Second quarter", "Central tendency".
NAMES_NOTHING = frozenset(
    """
        first second third fourth last current previous quarter quarters half year years month months week
        weeks day days fiscal financial calendar period average mean median range central tendency minimum
        maximum actual actuals budget estimate estimates revised projection projections forecast outturn
        in of to and the per cent percent percentage
    """.split()
)
ONE_MONTH = re.compile(MONTH)
YEAR_SAID = re.compile(rf"\b{YEAR}(?:[-–/][0-9]{{2,4}})?\b")
FIGURE = re.compile(r"\(?[0-9][0-9,. ]*\)?%?")
# What says how much.
AMOUNT = re.compile(rf"\d(?:\.\d+)? ?(?:{PERCENT}|{POINTS}|{BASIS}|{SCALE_WORD})", re.IGNORECASE)
# What is said once may be said by the way; a longer sentence is a table's text.
FEWEST_SENTENCES, LONGEST_SENTENCE = 2, 400
MOST_OF_PROSE = 3
# Measures that are spoken of with an article: "the policy rate", but "inflation".
COUNTED = re.compile(r"\b(?:rate|deficit|balance|account|bill|rule|yield|ratio|margin)$")
# Of one table; further rows bring more of the same.
MOST_OF_A_TABLE = 2


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and where its answer stands. page: physical, 1-based; 0 for any."""

    question: str
    document: str
    page: int


def candidates(document: str, tables: Mapping[int, Iterable[Table]]) -> Iterator[Example]:
    """Questions after rows that have a figure in a column of one year: the newest year of their table.
    tables: by page.
    """
    for page, on_page in sorted(tables.items()):
        for table in on_page:
            years = {
                column: found[0]
                for column, head in enumerate(table.heads)
                if len(found := YEAR_SAID.findall(head)) == 1
            }
            column = max(years, key=lambda at: years[at][:4], default=-1)
            rows = [row for row in table.rows if column >= 0 and _askable(row, column)]
            for row in rows[:MOST_OF_A_TABLE]:
                yield Example(
                    f"What figure is given for {within_sentence(row.label)} in {years[column]}?",
                    document,
                    page,
                )


def spoken_of(passages: Iterable[tuple[int, str]]) -> dict[str, tuple[int, int]]:
    """measure -> (how many sentences give a figure for it, the page of the first one), those of most
    sentences first. passages: (page, text).
    """
    found: dict[str, tuple[int, int]] = {}
    for page, text in passages:
        for sentence in sentences(text, also=";"):
            if AMOUNT.search(sentence) and len(sentence) < LONGEST_SENTENCE:
                for measure in find_measures(tuple(terms(sentence))):
                    count, first = found.get(measure.name, (0, page))
                    found[measure.name] = (count + 1, first)
    often = {name: said for name, said in found.items() if said[0] >= FEWEST_SENTENCES}
    return dict(sorted(often.items(), key=lambda pair: (-pair[1][0], pair[1][1])))


def spoken_candidates(document: str, spoken: Mapping[str, tuple[int, int]]) -> Iterator[Example]:
    """Questions after what a document without tables speaks of most. spoken: see spoken_of."""
    for name in list(spoken)[:MOST_OF_PROSE]:
        yield Example(f"What is said about {_with_article(name)}?", document, 0)


def shared_question(spoken: Mapping[str, Mapping[str, tuple[int, int]]]) -> tuple[str, tuple[str, ...]]:
    """(a question that most of the documents give figures for, these documents); ("", ()) where no two
    speak of one thing. spoken: by document.
    """
    documents: dict[str, list[str]] = {}
    for document, found in spoken.items():
        for name in found:
            documents.setdefault(name, []).append(document)
    name = max(
        documents,
        key=lambda one: (len(documents[one]), sum(spoken[of][one][0] for of in documents[one])),
        default="",
    )
    if len(documents.get(name, ())) < 2:
        return "", ()
    return f"What figure is given for {_with_article(name)}?", tuple(documents[name])


def in_turn(documents: Sequence[Iterable[Example]]) -> Iterator[Example]:
    """One of each document, then a second of each, and so on; no question twice, for it could be answered
    from either.
    """
    asked = set[str]()
    for one in chain.from_iterable(zip_longest(*documents)):
        if one is not None and one.question not in asked:
            asked.add(one.question)
            yield one


def _with_article(measure: str) -> str:
    if COUNTED.search(measure):
        return f"the {measure}"
    return measure


def _askable(row: Row, column: int) -> bool:
    if column < len(row.cells):
        cell = row.cells[column]
    else:
        cell = None
    if (
        cell is None
        or not FIGURE.fullmatch(cell.text)
        or not LABEL.fullmatch(row.label)
        or LEANING.search(row.label)
    ):
        return False
    return any(
        word.casefold() not in NAMES_NOTHING and not ONE_MONTH.fullmatch(word) for word in row.label.split()
    )

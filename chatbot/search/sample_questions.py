"""Makes questions that the documents answer, for people who do not know yet what to ask.

They are made from the rows of tables and from what sentences give figures for.
"""

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

# A row's label that reads like something people would ask for: two to five words, none of which depends on
# the rows around it.
LABEL = re.compile(r"[A-Z][A-Za-z'’-]{2,20}(?: [A-Za-z'’-]{2,20}){1,4}")
LEANING = re.compile(
    r"\b(?:other|others|of which|less|all|total|subtotal|item|items|note|notes|end|beginning)\b", re.I
)
# Words that say only when, or which of several figures: "Second quarter", "Central tendency".
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
# What is said once may be said in passing; a longer sentence is a table's text.
FEWEST_SENTENCES, LONGEST_SENTENCE = 2, 400
MOST_OF_PROSE = 3
# Measures that take an article: "the policy rate", but "inflation".
COUNTED = re.compile(r"\b(?:rate|deficit|balance|account|bill|rule|yield|ratio|margin)$")
# Rows of one table; more rows bring more of the same.
MOST_OF_A_TABLE = 2


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and where its answer stands.

    question: as it is asked.
    document: its name.
    page: physical, 1-based; 0 for any.
    """

    question: str
    document: str
    page: int


def candidates(document: str, tables: Mapping[int, Iterable[Table]]) -> Iterator[Example]:
    """Questions about rows that have a figure in a column of one year: the newest year of their table.
    tables: by page.
    """
    for page, on_page in sorted(tables.items()):
        for table in on_page:
            years = _years_by_column(table)
            if not years:
                continue
            column = max(years, key=lambda at: years[at][:4])
            rows = [row for row in table.rows if _askable(row, column)]
            for row in rows[:MOST_OF_A_TABLE]:
                label = within_sentence(row.label)
                question = f"What figure is given for {label} in {years[column]}?"
                yield Example(question, document, page)


def _years_by_column(table: Table) -> dict[int, str]:
    """column -> its year, of the columns whose head names one year."""
    years = {}
    for column, head in enumerate(table.heads):
        found = YEAR_SAID.findall(head)
        if len(found) == 1:
            years[column] = found[0]
    return years


def spoken_of(passages: Iterable[tuple[int, str]]) -> dict[str, tuple[int, int]]:
    """measure -> (how many sentences give a figure for it, the page of the first one), those of most
    sentences first. passages: (page, text).
    """
    found: dict[str, tuple[int, int]] = {}
    for page, text in passages:
        for sentence in sentences(text, also=";"):
            if len(sentence) >= LONGEST_SENTENCE or not AMOUNT.search(sentence):
                continue
            for measure in find_measures(tuple(terms(sentence))):
                count, first = found.get(measure.name, (0, page))
                found[measure.name] = (count + 1, first)
    often = [name for name, (count, _) in found.items() if count >= FEWEST_SENTENCES]

    def most_first(name: str) -> tuple[int, int]:
        count, first = found[name]
        return -count, first

    return {name: found[name] for name in sorted(often, key=most_first)}


def spoken_candidates(document: str, spoken: Mapping[str, tuple[int, int]]) -> Iterator[Example]:
    """Questions about what a document without tables speaks of most. spoken: see spoken_of."""
    for name in list(spoken)[:MOST_OF_PROSE]:
        yield Example(f"What is said about {_with_article(name)}?", document, 0)


def shared_question(spoken: Mapping[str, Mapping[str, tuple[int, int]]]) -> tuple[str, tuple[str, ...]]:
    """(a question that most of the documents give figures for, these documents); ("", ()) where no two
    speak of the same measure. spoken: by document.
    """
    documents: dict[str, list[str]] = {}
    for document, found in spoken.items():
        for name in found:
            documents.setdefault(name, []).append(document)

    def frequency(name: str) -> tuple[int, int]:
        counts = [spoken[document][name][0] for document in documents[name]]
        return len(counts), sum(counts)

    name = max(documents, key=frequency, default="")
    if len(documents.get(name, ())) < 2:
        return "", ()
    return f"What figure is given for {_with_article(name)}?", tuple(documents[name])


def in_turn(documents: Sequence[Iterable[Example]]) -> Iterator[Example]:
    """One of each document, then a second of each, and so on; no question twice, because either document
    could answer it.
    """
    asked = set[str]()
    for example in chain.from_iterable(zip_longest(*documents)):
        if example is not None and example.question not in asked:
            asked.add(example.question)
            yield example


def _with_article(measure: str) -> str:
    if COUNTED.search(measure):
        return f"the {measure}"
    return measure


def _askable(row: Row, column: int) -> bool:
    """Whether a row has a figure in a column, and a label that names something to ask for."""
    if column >= len(row.cells):
        return False
    cell = row.cells[column]
    if cell is None or not FIGURE.fullmatch(cell.text):
        return False
    if not LABEL.fullmatch(row.label) or LEANING.search(row.label):
        return False
    return any(map(_names_something, row.label.split()))


def _names_something(word: str) -> bool:
    if word.casefold() in NAMES_NOTHING:
        return False
    return not ONE_MONTH.fullmatch(word)

"""Makes questions that the documents answer, for people who do not know yet what to ask.

They are made from key figures, from the rows of tables, from what sentences give figures for, and from
titles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from chatbot.comparison.key_figure_records import A_DAY, WHOLE_YEAR, FigurePeriod
from chatbot.comparison.key_figures import KeyFigureSheet
from ingestion.language.measures import find_measures
from ingestion.language.months import MONTH
from ingestion.language.periods import YEAR
from ingestion.language.scales import BASIS, PERCENT, POINTS, SCALE_WORD
from ingestion.language.sentences import sentences
from ingestion.language.terms import terms
from ingestion.records import Row, Table

__all__ = [
    "CalledDocument",
    "Example",
    "figure_candidates",
    "named",
    "row_candidates",
    "shared_question",
    "spoken_candidates",
    "spoken_of",
    "summary_candidates",
]

# A row's label that reads like something people would ask for: two to five words, none of which depends on
# the rows around it.
LABEL = re.compile(r"[A-Z][A-Za-z'’-]{2,20}(?: [A-Za-z'’-]{2,20}){1,4}")
LEANING = re.compile(
    r"\b(?:other|others|of which|less|all|total|subtotal|item|items|note|notes|end|beginning"
    r"|programmes?|programs?|projects?)\b",
    re.I,
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
# Key figures that people ask for, the first ones first, and what they are called in a question.
ASKED = {
    "revenue": "revenue",
    "net income": "net income",
    "operating cash flow": "operating cash flow",
    "operating income": "operating income",
    "diluted earnings per share": "diluted earnings per share",
    "total assets": "total assets",
    "gross profit": "gross profit",
    "long-term debt": "long-term debt",
    "capital expenditure": "capital expenditure",
    "government expenditure": "total expenditure",
    "government revenue": "total revenue",
    "fiscal deficit": "budget balance",
    "primary balance": "primary balance",
    "public debt": "public debt",
    "economic growth": "economic growth",
    "inflation": "inflation",
    "unemployment": "unemployment rate",
}
MONTHS = {3: "three", 6: "six", 9: "nine"}
# Who a title names before its first comma: "Netflix, annual report 2017".
ISSUER = re.compile(r"[A-Z][A-Za-z&.’'-]*(?: [A-Za-z&.’'-]+){0,6}")
STATE = re.compile(r"^.*\b(?:Republic|Kingdom|Commonwealth|State) of (?=[A-Z])")
SPEAKER = re.compile(r"\b(?:Chair|Chairman|Governor|Minister|President|Secretary) [A-Z][a-z]+")
# Before it ends the word in a label that says whether there are several.
BEHIND_NOUN = re.compile(r" (?:of|in|on|at|for|per|to|by|from) ")


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and where its answer stands.

    question: as it is asked.
    document: its name.
    page: physical, 1-based; 0 for any.
    figure: what the answer gives, as printed; "" for words.
    whole: whether it asks for a summary of the document.
    """

    question: str
    document: str
    page: int = 0
    figure: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class CalledDocument:
    """How questions call a document.

    name, title: its own.
    whose: its issuer, as the owner of what is asked: "Netflix's"; "" where its title names none.
    called: "Netflix's annual report 2017", "Chair Powell", "" where it is called by its whole title only.
    """

    name: str
    title: str
    whose: str
    called: str


def named(name: str, title: str) -> CalledDocument:
    """How questions call a document of this title."""
    issuer, comma, rest = title.partition(", ")
    if comma and ISSUER.fullmatch(issuer):
        owner = STATE.sub("", issuer)
        whose = f"the {owner}'s" if " of " in owner else f"{owner}'s"
        return CalledDocument(name, title, whose.replace("s's", "s'"), f"{whose} {rest}".replace("s's", "s'"))
    speaker = SPEAKER.search(title)
    return CalledDocument(name, title, "", speaker[0] if speaker else "")


def figure_candidates(
    of: CalledDocument, sheet: KeyFigureSheet, *, year: int, first: int = 0
) -> Iterator[Example]:
    """Questions about the key figures of a document's own period.

    year: the present one. first: which of ASKED comes first, so that documents differ.
    """
    for column in sheet.main:
        printed = {row.measure: figure for row in sheet.rows if (figure := sheet.cell(row, column))}
        there = [measure for measure in ASKED if measure in printed and printed[measure].page]
        first %= max(1, len(there))
        for measure in there[first:] + there[:first]:
            figure = printed[measure]
            if figure.period.months != A_DAY:
                asked = _question(ASKED[measure], of.whose, figure.period, year=year)
                yield Example(asked, of.name, figure.page, figure.text.lstrip("$ "))


def _question(measure: str, whose: str, period: FigurePeriod, *, year: int) -> str:
    if period.months in MONTHS:
        time = f"the {period.text.replace(str(period.months), MONTHS[period.months], 1)}"
    else:
        time = period.text
    past = period.end_year < year or period.months != WHOLE_YEAR
    return f"What {_verb(measure, past=past)} {' '.join(filter(None, [whose, measure]))} in {time}?"


def _verb(label: str, *, past: bool) -> str:
    noun = BEHIND_NOUN.split(label)[0]
    if noun.endswith("s") and not noun.endswith("ss"):
        return "were" if past else "are"
    return "was" if past else "is"


def row_candidates(
    of: CalledDocument, tables: Mapping[int, Iterable[Table]], *, year: int
) -> Iterator[Example]:
    """Questions about rows that are called as a measure is and have a figure in a column of one year: the
    newest year of their table. tables: by page. year: the present one.
    """
    for page, on_page in sorted(tables.items()):
        for table in on_page:
            years = _years_by_column(table)
            if not years:
                continue
            column = max(years, key=lambda at: years[at][:4])
            past = int(years[column][:4]) < year
            rows = [row for row in table.rows if _askable(row, column)]
            for row in rows[:MOST_OF_A_TABLE]:
                label = _lowered(row.label)
                cell = row.cells[column]
                asked = f"What {_verb(label, past=past)} {of.whose} {label} in {years[column]}?"
                yield Example(" ".join(asked.split()), of.name, page, cell.text if cell else "")


def _lowered(label: str) -> str:
    """A label within a sentence: "tax revenue", "real GDP growth"."""
    return " ".join(word.lower() if word[1:].islower() else word for word in label.split())


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


def spoken_candidates(
    of: CalledDocument, spoken: Mapping[str, tuple[int, int]], *, alone: bool = False
) -> Iterator[Example]:
    """Questions about what a document speaks of most. spoken: see spoken_of. alone: whether no other document
    is asked.
    """
    called = of.called or ("the document" if alone else "")
    for name in list(spoken)[:MOST_OF_PROSE] if called else ():
        yield Example(f"What does {called} say about {_with_article(name)}?", of.name)


def summary_candidates(of: CalledDocument) -> Iterator[Example]:
    """What every document answers, by the shortest name for it that is understood."""
    heading, colon, _ = of.title.partition(": ")
    if of.whose:
        yield Example(f"Summarise {of.called}", of.name, whole=True)
    elif colon and " " in heading and not any(map(str.isdigit, heading)):
        yield Example(f"Summarise {heading}", of.name, whole=True)
    yield Example(f"Summarise {of.title}", of.name, whole=True)


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
    asked = f"What is {_with_article(name)}?" if COUNTED.search(name) else f"How high is {name}?"
    return asked, tuple(documents[name])


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
    words = row.label.casefold().split()
    if len(set(words)) < len(words) or not find_measures(tuple(terms(row.label.casefold()))):
        return False
    return any(map(_names_something, row.label.split()))


def _names_something(word: str) -> bool:
    if word.casefold() in NAMES_NOTHING:
        return False
    return not ONE_MONTH.fullmatch(word)

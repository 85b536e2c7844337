"""Measures whether a question that names a year gets the figure of that year.

    python benchmarks/asked_periods.py PDF [PDF ...] [--count N] [--show]

Each question names a row of a table in the documents and one of its years: "What was interest expense in
2022?". Rows are drawn by seed from tables with two columns of years or more, where the row has another figure
for each and its label is the only one of its kind on the page. Answers are right if they have the figure of
the year, wrong if the first line gives the figure of another year without saying so, and something else if
they give another row, of the same name or not. The store is made anew in a folder that is then deleted.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.intervals import share_cell
from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import load_settings
from chatbot.store.library import Upload
from ingestion.language.periods import find_periods
from ingestion.language.sentences import within_sentence
from ingestion.records import Table

__all__ = ["AskedYear", "kind_of", "questions_of"]

KINDS = ("right", "another year, said", "another year", "something else", "refused")
FIGURE = re.compile(r"\d[\d,.]*\d")
SHORTEST, LONGEST, FEWEST_DIGITS = 8, 60, 3


@dataclass(frozen=True, slots=True)
class AskedYear:
    """A question. wanted: the digits of its figure; others: those of the row's other years."""

    document: str
    text: str
    year: int
    wanted: str
    others: frozenset[str]


def questions_of(document: str, table: Table) -> Iterator[AskedYear]:
    """The questions that a table's rows and years give."""
    years = {}
    for column, head in enumerate(table.heads):
        periods = find_periods(head)
        if len(periods) == 1 and not periods[0].is_part:
            years[column] = periods[0].end_year
    labels = [row.label for row in table.rows]
    if len(set(years.values())) < max(2, len(years)):
        return
    for row in table.rows:
        cells = {year: _digits(row.cells[at] or "") for at, year in years.items() if at < len(row.cells)}
        is_telling = SHORTEST <= len(row.label) <= LONGEST and labels.count(row.label) == 1
        if not is_telling or len(set(cells.values())) < max(2, len(cells)):
            continue
        if min(map(len, cells.values())) < FEWEST_DIGITS:
            continue
        for year, wanted in cells.items():
            text = f"What was {within_sentence(row.label)} in {year}?"
            yield AskedYear(document, text, year, wanted, frozenset(cells.values()) - {wanted})


def kind_of(asked: AskedYear, answer: Answer) -> str:
    """One of KINDS."""
    if not answer.answered:
        return "refused"
    first, _, _ = answer.text.partition("\n")
    figures, of_first = _figures(answer.text), _figures(first)
    if asked.wanted in figures:
        return "right"
    if asked.others & of_first:
        return "another year, said" if f"not {asked.year}" in answer.text else "another year"
    return "something else"


def _figures(text: str) -> set[str]:
    return set(map(_digits, FIGURE.findall(text)))


def _digits(cell: object) -> str:
    return re.sub(r"\D", "", getattr(cell, "text", str(cell)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("documents", nargs="+", type=Path, metavar="PDF")
    parser.add_argument("--count", type=int, default=200, help="how many questions (default 200)")
    parser.add_argument("--show", action="store_true", help="print the questions that were not right")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(load_settings(), home=Path(folder))
        with Chatbot(settings) as chatbot:
            for result in chatbot.add([Upload(path) for path in given.documents]):
                if result.error:
                    raise SystemExit(f"{result.document}: {result.error}")
            print(report(chatbot, given.count, show=given.show))


def report(chatbot: Chatbot, count: int, *, show: bool) -> str:
    """Asks, and returns the lines of the report."""
    asked = [
        question
        for version, name in sorted(chatbot.library.scope(()).items())
        for hit in chatbot.finder.pages_of(version, name, set(chatbot.library.catalog.chunk_pages(version)))
        for table in hit.tables
        for question in questions_of(name, table)
    ]
    random.Random(7).shuffle(asked)
    kinds = Counter[str]()
    lines = []
    for question in asked[:count]:
        events = chatbot.ask(Ask(question.text, (question.document,)))
        (answer,) = [event for event in events if isinstance(event, Answer)]
        kind = kind_of(question, answer)
        kinds[kind] += 1
        if show and kind != "right":
            lines.append(f"{kind}: {question.text} {question.wanted} | {answer.text.partition(chr(10))[0]}")
    total = kinds.total()
    return "\n".join([*lines, *(f"{kind}: {share_cell(kinds[kind], total)}" for kind in KINDS)])


if __name__ == "__main__":
    main()

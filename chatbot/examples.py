"""Questions that the documents answer, for people who do not know yet what to ask; made from the rows of their tables, asks nothing itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from chatbot.records import Answer
from ingestion.records import Row, Table

__all__ = ["candidates", "in_turn", "is_good"]

# A row's label that reads as what somebody would ask for: two to five words, none of which leans on the rows around it.
LABEL = re.compile(r"[A-Z][A-Za-z'’-]{2,}(?: [A-Za-z'’-]{2,}){1,4}")
LEANING = re.compile(r"\b(?:other|others|of which|less|all|total|subtotal|item|items|note|notes|end|beginning)\b", re.I)
YEAR = re.compile(r"\b(?:19|20)[0-9]{2}(?:[-–/][0-9]{2,4})?\b")
FIGURE = re.compile(r"\(?[0-9][0-9,. ]*\)?%?")
# Of one table; further rows bring more of the same.
MOST_OF_A_TABLE = 2


def candidates(tables: Iterable[Table]) -> Iterator[str]:
    """Questions after rows that have a figure in a column of one year, best placed first: the newest year a table has."""
    for table in tables:
        years = {column: found[0] for column, head in enumerate(table.heads) if (found := YEAR.search(head)) and len(YEAR.findall(head)) == 1}
        if not years:
            continue
        column = max(years, key=lambda at: years[at][:4])
        rows = [row for row in table.rows if _askable(row, column)]
        for row in rows[:MOST_OF_A_TABLE]:
            yield f"What figure is given for {_in_a_sentence(row.label)} in {years[column]}?"


def in_turn(questions: Sequence[Iterable[str]]) -> Iterator[str]:
    """One question of each document, then a second of each, and so on, none twice."""
    return iter(dict.fromkeys(question for question in chain.from_iterable(zip_longest(*questions)) if question))


def is_good(answer: Answer) -> bool:
    """Whether this shows what can be had: an answer whose quotations stand where they are cited, and whose figures do, too."""
    fine = all(check.status in {"supported", "derived"} for check in answer.numbers)
    return answer.answered and bool(answer.citations) and all(citation.verified for citation in answer.citations) and bool(answer.numbers) and fine


def _askable(row: Row, column: int) -> bool:
    cell = row.cells[column] if column < len(row.cells) else None
    return cell is not None and bool(FIGURE.fullmatch(cell.text)) and bool(LABEL.fullmatch(row.label)) and not LEANING.search(row.label)


def _in_a_sentence(label: str) -> str:
    """The label without its capital, where that is the sentence's and not a name's: all its other words begin small."""
    first, _, rest = label.partition(" ")
    named = first.isupper() or any(word[0].isupper() for word in rest.split())
    return label if named else f"{first.lower()} {rest}"

"""Questions that the documents answer, for people who do not know yet what to ask; made from the rows of their tables, asks nothing itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from ingestion.records import Row, Table

__all__ = ["Example", "candidates", "in_turn"]

# A row's label that reads as what somebody would ask for: two to five words, none of which leans on the rows around it.
LABEL = re.compile(r"[A-Z][A-Za-z'’-]{2,20}(?: [A-Za-z'’-]{2,20}){1,4}")
LEANING = re.compile(r"\b(?:other|others|of which|less|all|total|subtotal|item|items|note|notes|end|beginning)\b", re.I)
YEAR = re.compile(r"\b(?:19|20)[0-9]{2}(?:[-–/][0-9]{2,4})?\b")
FIGURE = re.compile(r"\(?[0-9][0-9,. ]*\)?%?")
# Of one table; further rows bring more of the same.
MOST_OF_A_TABLE = 2


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and where its answer stands. page: physical, 1-based."""

    question: str
    document: str
    page: int


def candidates(document: str, tables: Mapping[int, Iterable[Table]]) -> Iterator[Example]:
    """Questions after rows that have a figure in a column of one year: the newest year of their table. tables: by page."""
    for page, on_page in sorted(tables.items()):
        for table in on_page:
            years = {column: found[0] for column, head in enumerate(table.heads) if len(found := YEAR.findall(head)) == 1}
            column = max(years, key=lambda at: years[at][:4], default=-1)
            rows = [row for row in table.rows if column >= 0 and _askable(row, column)]
            for row in rows[:MOST_OF_A_TABLE]:
                yield Example(f"What figure is given for {_in_a_sentence(row.label)} in {years[column]}?", document, page)


def in_turn(documents: Sequence[Iterable[Example]]) -> Iterator[Example]:
    """One of each document, then a second of each, and so on; no question twice, for it could be answered from either."""
    asked = set[str]()
    for one in chain.from_iterable(zip_longest(*documents)):
        if one is not None and one.question not in asked:
            asked.add(one.question)
            yield one


def _askable(row: Row, column: int) -> bool:
    cell = row.cells[column] if column < len(row.cells) else None
    return cell is not None and bool(FIGURE.fullmatch(cell.text)) and bool(LABEL.fullmatch(row.label)) and not LEANING.search(row.label)


def _in_a_sentence(label: str) -> str:
    """The label without its capital, where that is the sentence's and not a name's: all its other words begin small."""
    first, _, rest = label.partition(" ")
    named = first.isupper() or any(word[0].isupper() for word in rest.split())
    return label if named else f"{first.lower()} {rest}"

"""A page as a chat model is to read it: rows of tables under their heads, loose words in lines; cuts
nothing to a size and cites nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatbot.answer.citations.citation_forms import inert
from chatbot.records import Hit
from ingestion.records import Row, Table

__all__ = ["source_text"]

_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n\s*\n\s*")
# Lines of a word each, as charts and narrow columns come out.
_LOOSE = re.compile(r"(?:^\S{1,30}\n){3,}", re.MULTILINE)


def source_text(hit: Hit, *, since: int = 0) -> str:
    """The page from an offset on. A row of a table is its label and cells between bars, "Health | 300 | 345",
    an empty cell too; what the table is, its unit and its columns, stands above its first row. No citation
    can be read in it."""
    text = hit.page_text
    position = since
    pieces = list[str]()
    for start, end, shown in _rows(hit):
        if start >= position:
            pieces += [_plain(text[position:start]), shown]
            position = end
    return inert("".join([*pieces, _plain(text[position:])]).strip())


def _rows(hit: Hit) -> Iterator[tuple[int, int, str]]:
    """(start, end, what is shown) of each row that can be shown so without losing a word, in the order of
    the page.
    """
    found = []
    for table in hit.tables:
        rows = [row for row in table.rows if _is_whole(row, hit.page_text)]
        found += [
            (row.start, row.end, (f"{_head(table)}\n" if at == 0 else "") + _row_text(row))
            for at, row in enumerate(rows)
        ]
    return iter(sorted(found))


def _is_whole(row: Row, text: str) -> bool:
    """Whether the row's stretch of the page has its label and cells, and nothing beside them."""
    if row.start < 0 or not any(row.cells):
        return False
    own = "".join([row.label, *(cell.text for cell in row.cells if cell)])
    return sorted("".join(own.split())) == sorted("".join(text[row.start : row.end].split()))


def _row_text(row: Row) -> str:
    return " | ".join([row.label, *(cell.text if cell else "" for cell in row.cells)])


def _head(table: Table) -> str:
    """What a table is, on a line of its own."""
    if any(table.heads):
        columns = f"columns: {' | '.join(head or '?' for head in table.heads)}"
    else:
        columns = ""
    return "\nTable: " + " · ".join(part for part in (table.caption, table.unit, columns) if part)


def _plain(text: str) -> str:
    """Without blanks that say nothing, and with loose words on one line."""
    text = _EMPTY_LINES.sub("\n", _BLANKS.sub(" ", text))
    return _LOOSE.sub(lambda found: found[0].rstrip("\n").replace("\n", " ") + "\n", text)

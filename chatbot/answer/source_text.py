"""Writes a page as a chat model reads it: rows of tables under their heads, loose words in lines."""

from __future__ import annotations

import re

from chatbot.answer.citations.citation_forms import with_inert_keys
from chatbot.records import Hit
from ingestion.records import Row, Table

__all__ = ["source_text"]

_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n\s*\n\s*")
# Lines of one word each, as charts and narrow columns come out.
_LOOSE = re.compile(r"(?:^\S{1,30}\n){3,}", re.MULTILINE)


def source_text(hit: Hit, *, since: int = 0) -> str:
    """The page from an offset on, in which no citation can be read.

    A row of a table is its label and cells between bars, "Health | 300 | 345", with empty cells too. The
    table's caption, unit and columns stand above the first row that is shown.
    """
    text = hit.page_text
    position = since
    pieces: list[str] = []
    headed = set[str]()
    for start, end, head, shown in _rows(hit):
        if start >= position:
            above = [] if head in headed else [head]
            pieces += [_plain(text[position:start]), "\n".join([*above, shown])]
            headed.add(head)
            position = end
    pieces.append(_plain(text[position:]))
    return with_inert_keys("".join(pieces).strip())


def _rows(hit: Hit) -> list[tuple[int, int, str, str]]:
    """(start, end, its table's head, how it is shown) of each row that can be shown without losing a word,
    in page order.
    """
    found = []
    for table in hit.tables:
        head = _head(table)
        found += [
            (row.start, row.end, head, _row_text(row)) for row in table.rows if _is_whole(row, hit.page_text)
        ]
    return sorted(found)


def _is_whole(row: Row, text: str) -> bool:
    """Whether the row's stretch of the page has its label and cells, and nothing beside them."""
    if row.start < 0 or not any(row.cells):
        return False
    own = "".join([row.label, *(cell.text for cell in row.cells if cell)])
    return _letters(own) == _letters(text[row.start : row.end])


def _letters(text: str) -> list[str]:
    """The characters of a text in alphabetical order, without blanks."""
    return sorted("".join(text.split()))


def _row_text(row: Row) -> str:
    return " | ".join([row.label, *[cell.text if cell else "" for cell in row.cells]])


def _head(table: Table) -> str:
    """What a table is, on a line of its own."""
    columns = ""
    if any(table.heads):
        columns = f"columns: {' | '.join(head or '?' for head in table.heads)}"
    parts = [part for part in (table.caption, table.unit, columns) if part]
    return f"\nTable: {' · '.join(parts)}"


def _plain(text: str) -> str:
    """A text without superfluous blanks, and with loose words on one line."""
    text = _EMPTY_LINES.sub("\n", _BLANKS.sub(" ", text))
    return _LOOSE.sub(_on_one_line, text)


def _on_one_line(lines: re.Match[str]) -> str:
    return lines[0].rstrip("\n").replace("\n", " ") + "\n"

"""Pages as a search finds them, and the prompt that hands them over; knows no test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chatbot.records import Hit, Prompt
from ingestion.records import Cell, Row
from tests.case_rows import case_rows

__all__ = ["FOUND", "hit_of", "prompt_over", "rows_in", "rows_of"]

FOUND = Hit("Report.pdf", 1, 1, None, None, "text", None, "1:0", text="")


def hit_of(said: str, /, **fields: Any) -> Hit:
    """A page that says `said`, which is its best chunk too. fields: what else differs, as in Hit."""
    return replace(FOUND, **{"text": said, "page_text": said, **fields})


def prompt_over(*hits: Hit, question: str = "q", nonce: str = "7f3a") -> Prompt:
    """A question with these pages alone, under S1-7f3a, S2-7f3a and so on."""
    sources = {f"S{rank}-{nonce}": hit for rank, hit in enumerate(hits, 1)}
    return Prompt(question, question, sources, (), (), (), nonce)


def rows_of(table: str, begin: int = 0) -> tuple[str, tuple[Row, ...]]:
    """The text of rows as it stands on a page from `begin` on, and the rows. table: a row a line, label and
    cells parted by " | ", "-" for one that is empty; a line ending in ":" is the section of those below it.
    """
    text, section, rows = "", "", []
    for label, *values in case_rows(table):
        if not values:
            section = label.rstrip(":")
            continue
        if label == "-":
            label = ""
        row = _row_of(label, values, begin + len(text))
        rows.append(replace(row, section=section))
        said = [value for value in values if value != "-"]
        text += " ".join([label, *said]) + "\n"
    return text, tuple(rows)


def rows_in(text: str, table: str) -> tuple[Row, ...]:
    """Rows where a text has them. table: as in rows_of, without sections or empty cells."""
    return tuple(_row_in(text, label, values) for label, *values in case_rows(table))


def _row_in(text: str, label: str, values: list[str]) -> Row:
    start = text.index(f"{label} {values[0]}")
    end = start + len(label)
    cells = []
    for value in values:
        begin = text.index(value, end)
        end = begin + len(value)
        cells.append(Cell(value, begin, end))
    return Row(label, tuple(cells), "", start, end)


def _row_of(label: str, values: list[str], start: int) -> Row:
    end = start + len(label)
    cells: list[Cell | None] = []
    for value in values:
        if value == "-":
            cells.append(None)
            continue
        begin = end + 1
        end = begin + len(value)
        cells.append(Cell(value, begin, end))
    return Row(label, tuple(cells), "", start, end)

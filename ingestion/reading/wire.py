"""Pages as plain JSON values and back, and how such values go over a pipe; knows no process and no store."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from functools import partial
from typing import IO, Any

from ingestion.invisible_characters import one_line
from ingestion.records import Cell, Line, Page, Rect, Row, Table, Word

__all__ = [
    "AWAITED",
    "box_to",
    "page_from",
    "page_to",
    "tables_from",
    "tables_to",
    "words_from",
    "words_to",
    "write_message",
]

# Given to a reading process that someone waits for.
AWAITED = "awaited"
# Digits after the point: a hundred-thousandth of a page is finer than a pixel at 1,000 dpi.
DIGITS = 5
# Characters of a caption, a head, a label; the introduction of a table may be a whole sentence.
LONGEST_NAME = 1_000
PLAIN = [
    field.name
    for field in fields(Page)
    if field.name not in {"words", "lines", "tables", "running", "kinds", "instructions"}
]


def write_message(pipe: IO[bytes], message: dict[str, Any]) -> None:
    """Send a message: four bytes of length, big-endian, and JSON."""
    data = json.dumps(message).encode()
    pipe.write(struct.pack(">I", len(data)) + data)
    pipe.flush()


def page_to(page: Page) -> dict[str, Any]:
    """A page as JSON values."""
    plain: dict[str, Any] = {name: getattr(page, name) for name in PLAIN}
    lines = [(line.start, line.end, *box_to(line.box)) for line in page.lines]
    spans = {"running": page.running, "kinds": page.kinds, "instructions": page.instructions}
    return {**plain, **spans, "words": words_to(page.words), "lines": lines, "tables": tables_to(page.tables)}


def page_from(values: dict[str, Any]) -> Page:
    """The page of page_to. Raises KeyError, TypeError or ValueError where the values are not one."""
    return Page(
        **{name: values[name] for name in PLAIN},
        running=tuple((start, end) for start, end in values["running"]),
        kinds=tuple(values["kinds"]),
        instructions=tuple((start, end) for start, end in values["instructions"]),
        words=words_from(values["words"]),
        lines=tuple(Line(start, end, Rect(*box)) for start, end, *box in values["lines"]),
        tables=tables_from(values["tables"]),
    )


def words_to(words: Iterable[Word]) -> list[list[Any]]:
    """Words as JSON values."""
    return [[word.text, *box_to(word.box), word.confidence, word.start, word.end] for word in words]


def words_from(values: Iterable[Sequence[Any]]) -> tuple[Word, ...]:
    """The words of words_to."""
    return tuple(
        Word(text, Rect(x0, y0, x1, y1), confidence, start, end)
        for text, x0, y0, x1, y1, confidence, start, end in values
    )


def tables_to(tables: Iterable[Table]) -> list[dict[str, Any]]:
    """Tables as JSON values."""
    return [
        {
            "caption": table.caption,
            "unit": table.unit,
            "heads": table.heads,
            "rows": list(map(astuple, table.rows)),
            "box": box_to(table.box),
            "continued": table.continued,
        }
        for table in tables
    ]


_named = partial(one_line, most=LONGEST_NAME)


def tables_from(values: Iterable[dict[str, Any]]) -> tuple[Table, ...]:
    """The tables of tables_to, whatever names something in them on one line."""
    return tuple(
        Table(
            _named(table["caption"]),
            _named(table["unit"]),
            tuple(map(_named, table["heads"])),
            tuple(
                Row(_named(label), tuple(cell and Cell(*cell) for cell in cells), _named(section), start, end)
                for label, cells, section, start, end in table["rows"]
            ),
            Rect(*table["box"]),
            table["continued"],
        )
        for table in values
    )


def box_to(box: Rect) -> list[float]:
    """Its sides, to DIGITS."""
    return [round(side, DIGITS) for side in astuple(box)]

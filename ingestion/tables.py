"""Words with boxes to tables: rows, columns, heads, captions; knows nothing of PDFs and nothing of finance but how figures are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingestion.records import Page, Rect, Table, Word
from ingestion.table_blocks import Block, blocks_of, first_line, label_sides, without_page_number
from ingestion.table_columns import Column, label_of
from ingestion.table_heads import Head, head_of
from ingestion.table_lines import VisualLine, visual_lines
from ingestion.table_rows import rows_of
from ingestion.table_words import is_period, words_kind

__all__ = ["continue_tables", "find_tables"]

# The densest real page measured has 3,000 words; a page with more than this is no page to read tables from.
MOST_WORDS = 20_000
# Rows with values a table has at least, and one with a single value column.
FEWEST_ROWS = 2
FEWEST_ROWS_OF_ONE = 3
# Figures that it has at least, and their share of what stands in its value columns: statements of equity are mostly dashes.
FEWEST_FIGURES = 3
FEWEST_SHARE = 0.15
# Where more of the figures than this share are years, they are a time line.
MOST_PERIODS = 0.75
LONGEST_PAGE_NUMBER = 5
# Words among the values that belong to no cell: fewer are wrapped texts.
MOST_STRAY_WORDS = 4
# How far, in line heights, the middle half of the values may differ in how they stand beside their labels.
UNEVEN = 0.3
# Sides of a table and of its continuation agree to this share of the page's width; so many lines may stand between them on
# either page: notes and the running foot, the running head and a repeated title.
SAME_SIDE = 0.03
MOST_LINES_BETWEEN = 5
CONTINUED = re.compile(r"\b(?:continued|cont['’.]?d?|concluded)\b", re.IGNORECASE)
# Share of a table's rows that have a label of their own.
LABELLED = 0.5


def find_tables(text: str, words: Sequence[Word]) -> list[Table]:
    """The tables of one page in reading order. words: with boxes and offsets into `text`."""
    placed = [word for word in words if 0 <= word.start < word.end <= len(text)]
    if len(placed) > MOST_WORDS or sum(1 for word in placed if words_kind(word.text) == "v") < FEWEST_ROWS:
        return []
    lines = without_page_number(visual_lines(placed))
    tables, floor = [], 0
    for block in blocks_of(lines):
        if _is_table(lines, block):
            tables.append(_table(lines, block, floor))
        floor = block.last + 1
    return tables


def continue_tables(pages: Sequence[Page]) -> list[Page]:
    """The pages of a document, where a table that goes on from the page before has that one's heads, caption and unit."""
    done: list[Page] = []
    for page in pages:
        before = done[-1] if done else None
        if before and before.tables and page.tables and page.number == before.number + 1 and _goes_on(before, page):
            above, first = before.tables[-1], page.tables[0]
            heads = first.heads if any(first.heads) else above.heads
            carried = replace(first, heads=heads, caption=above.caption, unit=first.unit or above.unit, continued=True)
            page = replace(page, tables=(carried, *page.tables[1:]))
        done.append(page)
    return done


def _goes_on(before: Page, page: Page) -> bool:
    """Whether the first table of a page goes on with the last one of the page before: it stands alike, between them is nothing
    but running heads and notes, and it has no heads and no caption of its own, or both again, or says that it is continued."""
    above, first = before.tables[-1], page.tables[0]
    alike = len(above.heads) == len(first.heads) and max(abs(above.box.x0 - first.box.x0), abs(above.box.x1 - first.box.x1)) < SAME_SIDE
    below = sum(line.box.y0 > above.box.y1 for line in before.lines)
    over = sum(line.box.y1 < first.box.y0 for line in page.lines)
    if not alike or not any(above.heads) or below > MOST_LINES_BETWEEN or over > MOST_LINES_BETWEEN:
        return False
    if CONTINUED.search(first.caption) or (first.heads == above.heads and first.caption == above.caption != ""):
        return True
    return not any(first.heads) and " ".join(first.caption.split()) in " ".join(before.text.split())


def _table(lines: Sequence[VisualLine], block: Block, floor: int) -> Table:
    first = first_line(lines, block, floor)
    rows = rows_of(lines, first, block.last, block.columns)
    head = head_of(lines, first, floor, block.columns, label_sides(lines, block))
    return Table(head.caption, head.unit, tuple(head.heads), tuple(rows), _box(lines, block, head), False)


def _is_table(lines: Sequence[VisualLine], block: Block) -> bool:
    """Whether a block is a table, and not prose with figures, a list of contents, a chart or a time line."""
    if not block.columns:
        return False
    values = [(index, value) for column in block.columns for index, value in column.values.items() if value.figure]
    rows = sorted({index for index, _ in values})
    columns = [column for column in block.columns if column.aligned(block.letter)]
    figures = [value.text for _, value in values if any(character.isdigit() for character in value.text)]
    of_figures = sum(any(value.figure for value in column.values.values()) for column in block.columns)
    if len(rows) < (FEWEST_ROWS if len(columns) > 1 else FEWEST_ROWS_OF_ONE) or len(figures) < FEWEST_FIGURES or 2 * len(columns) < of_figures:
        return False
    if len(figures) < FEWEST_SHARE * len(values) or sum(map(is_period, figures)) > MOST_PERIODS * len(figures):
        return False
    if len(block.columns) == 1 and _ascends(figures):
        return False
    labelled = sum(1 for index in rows if label_of(lines[index]))
    return labelled >= LABELLED * len(rows) and not _has_stray_text(lines, block, len(values)) and _level_with_labels(lines, block.columns)


def _ascends(figures: Sequence[str]) -> bool:
    """Whether they are page numbers of a list of contents."""
    numbers = [int(text) for text in figures if text.isdecimal() and len(text) < LONGEST_PAGE_NUMBER]
    return len(numbers) == len(figures) and numbers == sorted(numbers)


def _has_stray_text(lines: Sequence[VisualLine], block: Block, values: int) -> bool:
    """Whether prose stands among the values: as many words as there are values."""
    edge = block.columns[0].x0
    taken = {id(piece) for column in block.columns for piece in column.values.values()}
    pieces = [piece for line in lines[block.first : block.last + 1] for piece in line.pieces[1:] if id(piece) not in taken]
    return sum(len(piece.words) for piece in pieces if piece.x1 > edge and not piece.figure) > max(values, MOST_STRAY_WORDS)


def _level_with_labels(lines: Sequence[VisualLine], columns: Sequence[Column]) -> bool:
    """Whether values stand at about one height beside their labels, as no axis of a chart does beside a column of prose."""
    offsets = []
    for index, value in max(columns, key=lambda column: len(column.values)).values.items():
        label, line = lines[index].pieces[0], lines[index]
        if not label.figure and value.words and label is not value:
            box, beside = value.words[-1].box, label.words[0].box
            # A scanned word's box ends where its letters do: with or without a descender, one of its sides agrees.
            offsets.append(min(box.y1 - beside.y1, box.y0 - beside.y0, key=abs) / (line.y1 - line.y0))
    offsets.sort()
    return len(offsets) < 3 or offsets[(3 * len(offsets)) // 4] - offsets[len(offsets) // 4] < UNEVEN


def _box(lines: Sequence[VisualLine], block: Block, head: Head) -> Rect:
    boxes = [word.box for line in lines[head.top : block.last + 1] for piece in line.pieces for word in piece.words]
    return Rect(min(box.x0 for box in boxes), min(box.y0 for box in boxes), max(box.x1 for box in boxes), max(box.y1 for box in boxes))

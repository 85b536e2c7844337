"""Words with boxes to tables: rows, columns, heads, captions; knows nothing of PDFs and nothing of finance
but how figures are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ingestion.records import Page, Rect, Row, Table, Word, around
from ingestion.tables.captions import CAPTION, bracketed_units, caption_of, is_unit
from ingestion.tables.columns import Column, label_of
from ingestion.tables.grids import grids_of
from ingestion.tables.heads import Head, head_of
from ingestion.tables.lines import VisualLine, visual_lines
from ingestion.tables.regions import Block, blocks_of, first_line, label_sides, without_page_number
from ingestion.tables.row_labels import rows_of
from ingestion.tables.ruled import Ruled, ruled_tables
from ingestion.tables.ruling_lines import Rules, no_rules
from ingestion.tables.word_kinds import is_period, is_value, words_kind

__all__ = ["continue_tables", "find_tables"]

# The densest real page measured has 3,000 words; a page with more than this is no page to read tables from.
MOST_WORDS = 20_000
# Rows with values a table has at least, and one with a single value column.
FEWEST_ROWS = 2
FEWEST_ROWS_OF_ONE = 3
# Figures that it has at least, and their share of what stands in its value columns: statements of equity are
# mostly dashes.
FEWEST_FIGURES = 3
FEWEST_SHARE = 0.15
# Where more of the figures than this share are years, they are a time line.
MOST_PERIODS = 0.75
LONGEST_PAGE_NUMBER = 5
# Words among the values that belong to no cell: fewer are wrapped texts.
MOST_STRAY_WORDS = 4
# Words that a line of a column of prose has at least.
FEWEST_WORDS_OF_PROSE = 4
# How far, in line heights, the middle half of the values may differ in how they stand beside their labels.
UNEVEN = 0.3
# Sides of a table and of its continuation agree to this share of the page's width; so many lines may stand
# between them on either page: notes and the running foot, the running head and a repeated title.
SAME_SIDE = 0.03
MOST_LINES_BETWEEN = 5
CONTINUED = re.compile(r"\b(?:continued|cont['’.]?d?|concluded)\b", re.IGNORECASE)
# Shades and underlines look like rules too: where those are right, no column is lost, and of the cells that
# the words alone would make at most what remains below this share, stray lines of labels and notes.
KEPT = 0.9
NUMBERED = re.compile(r"(\d{1,3})[.)]?\s")
# Share of a table's rows that have a label of their own.
LABELLED = 0.5
# Share of a table's rows that a column of names has at least.
NAMED = 0.8
SEPARATOR = " > "


def find_tables(text: str, words: Sequence[Word], rules: Callable[[], Rules] = no_rules) -> list[Table]:
    """The tables of one page in reading order. words: with boxes and offsets into `text`; rules: asked for
    where there may be a table.
    """
    placed = [word for word in words if 0 <= word.start < word.end <= len(text)]
    if len(placed) > MOST_WORDS or sum(1 for word in placed if words_kind(word.text) == "v") < FEWEST_ROWS:
        return []
    lines = without_page_number(visual_lines(placed))
    tables = _unruled(lines)
    if sum(len(line.pieces) > 1 for line in lines) >= FEWEST_ROWS:
        ruled = _ruled(lines, placed, rules())
    else:
        ruled = []
    ruled = [
        table
        for table in ruled
        if not any(
            table.box.meets(other.box) and len(other.heads) >= _width(table, ruled) for other in tables
        )
    ]
    if not ruled:
        return tables
    outside = [word for word in placed if not any(table.box.holds(word.box) for table in ruled)]
    both = [*ruled, *_unruled(without_page_number(visual_lines(outside)))]
    if _count_cells(both) >= KEPT * _count_cells(tables):
        return sorted(both, key=lambda table: table.box.y0)
    return tables


def _count_cells(tables: Sequence[Table]) -> int:
    """Cells with something in them, labels too: of two tables side by side, the words alone make the
    labels of one cells of the other.
    """
    return sum(cell is not None for table in tables for row in table.rows for cell in row.cells) + sum(
        bool(row.label) for table in tables for row in table.rows
    )


def _width(table: Table, ruled: Sequence[Table]) -> int:
    """Columns of a table and of those beside it whose rows have names of their own; what has none is a
    part of a table, drawn apart.
    """
    beside = [other for other in ruled if other is not table and _is_beside(table.box, other.box)]
    named = all(_is_named(other) for other in (table, *beside))
    return sum(1 + len(other.heads) for other in ((table, *beside) if named else (table,)))


def _is_beside(first: Rect, second: Rect) -> bool:
    return first.level(second) > 0 and first.overlap(second) <= 0


def _is_named(table: Table) -> bool:
    """Whether most rows have a label in words."""
    return sum(any(map(str.isalpha, row.label)) for row in table.rows) >= LABELLED * len(table.rows)


def _ruled(lines: Sequence[VisualLine], words: Sequence[Word], rules: Rules) -> list[Table]:
    """The tables that stand in rules drawn around each cell."""
    tables: list[Table] = []
    for grid in grids_of(rules, words):
        for found in ruled_tables(grid):
            above = [table for table in tables if not _is_beside(table.box, found.box)]
            tables.append(_named(found, lines, above[-1] if above else None))
    return tables


def _named(found: Ruled, lines: Sequence[VisualLine], before: Table | None) -> Table:
    """A ruled table with caption and unit, or, where it goes on right below the one before, with that
    one's heads.
    """
    lines = _in_column(lines, found.box)
    top = _lines_above(lines, found.box.y0)
    floor = _lines_above(lines, before.box.y1 if before else 0.0)
    if (
        before
        and top == floor
        and not any(found.heads)
        and len(found.heads) == len(before.heads)
        and _stand_alike(before.box, found.box)
    ):
        return Table(before.caption, before.unit, before.heads, found.rows, found.box, False)
    caption, units, _ = caption_of(lines, top, min(top, floor))
    if found.title and not is_unit(found.title):
        if not caption or caption.endswith(":"):
            caption = found.title
        else:
            caption = f"{caption} {found.title}"
    shared = [unit for unit in bracketed_units(found.heads[0]) if all(unit in head for head in found.heads)]
    units = [*units, *filter(is_unit, (found.title, found.corner)), *shared]
    return Table(caption, units[0] if units else "", found.heads, found.rows, found.box, False)


def _in_column(lines: Sequence[VisualLine], box: Rect) -> list[VisualLine]:
    """The lines, where prose stands beside a box, without what is wholly to its left or right; beside
    another table they are of both.
    """
    over = [(line, [piece for piece in line.pieces if box.overlap(piece) > 0]) for line in lines]
    within = [
        (line, kept) for line, kept in over if box.y0 < line.middle < box.y1 and len(kept) < len(line.pieces)
    ]
    beside = [
        sum(len(piece.words) for piece in line.pieces if piece not in kept and not piece.figure)
        for line, kept in within
    ]
    prose = sum(words >= FEWEST_WORDS_OF_PROSE for words in beside) > len(beside) / 2
    if prose:
        return [replace(line, pieces=kept) for line, kept in over if kept]
    return list(lines)


def _stand_alike(first: Rect, second: Rect) -> bool:
    return max(abs(first.x0 - second.x0), abs(first.x1 - second.x1)) < SAME_SIDE


def _lines_above(lines: Sequence[VisualLine], y: float) -> int:
    return sum(line.middle < y for line in lines)


def _unruled(lines: Sequence[VisualLine]) -> list[Table]:
    """The tables that nothing but where words stand tells."""
    tables: list[Table] = []
    floor = last = 0
    for block in blocks_of(lines):
        if _is_table(lines, block):
            table = _table(lines, block, floor)
            near = tables and block.first - last - 1 <= MOST_LINES_BETWEEN
            tables.append(_with_heads_above(table, tables[-1]) if near else table)
            last = block.last
        floor = block.last + 1
    return tables


def _with_heads_above(table: Table, above: Table) -> Table:
    """A table without heads that stands alike under another: its further part, as equity is of a balance
    sheet, under that one's heads and caption, its own caption its section where that heads a group."""
    if (
        any(table.heads)
        or not any(above.heads)
        or len(table.heads) != len(above.heads)
        or not _stand_alike(above.box, table.box)
    ):
        return table
    if (table.caption and not _is_group(table.caption)) or (
        table.unit and table.unit != above.unit
    ):  # a table of its own
        return table
    if _is_group(table.caption):
        section = table.caption.rstrip(": ")
    else:
        section = ""
    if section:
        rows = _in_section(table.rows, section)
    else:
        rows = table.rows
    return replace(table, heads=above.heads, caption=above.caption, unit=table.unit or above.unit, rows=rows)


def continue_tables(pages: Sequence[Page]) -> list[Page]:
    """The pages of a document, where a table that goes on from the page before has that one's heads,
    caption and unit.
    """
    done: list[Page] = []
    for page in pages:
        before = done[-1] if done else None
        if (
            before
            and before.tables
            and page.tables
            and page.number == before.number + 1
            and _goes_on(before, page)
        ):
            above = before.tables[-1]
            first = page.tables[0]
            if any(first.heads):
                heads = first.heads
            else:
                heads = above.heads
            if _counts_on(above, first):
                section = above.rows[-1].section
            else:
                if _is_group(first.caption):
                    section = first.caption.rstrip(": ")
                else:
                    section = ""
            if section:
                rows = _in_section(first.rows, section)
            else:
                rows = first.rows
            carried = replace(
                first,
                heads=heads,
                caption=above.caption,
                unit=first.unit or above.unit,
                rows=rows,
                continued=True,
            )
            page = replace(page, tables=(carried, *page.tables[1:]))
        done.append(page)
    return done


def _goes_on(before: Page, page: Page) -> bool:
    """Whether the first table of a page goes on with the last one of the page before: it stands alike,
    between them is nothing but running heads and notes, and it has no heads and no caption of its own, or
    both again, or says that it is continued."""
    above = before.tables[-1]
    first = page.tables[0]
    alike = len(above.heads) == len(first.heads) and _stand_alike(above.box, first.box)
    below = sum(line.box.y0 > above.box.y1 for line in before.lines)
    over = sum(line.box.y1 < first.box.y0 for line in page.lines)
    if not alike or not any(above.heads) or below > MOST_LINES_BETWEEN or over > MOST_LINES_BETWEEN:
        return False
    same = first.heads == above.heads and (
        first.caption == above.caption != "" or (not first.caption and _counts_on(above, first))
    )
    if CONTINUED.search(first.caption) or same:
        return True
    return not any(first.heads) and (_is_group(first.caption) or _stands_in(first.caption, before))


def _is_group(caption: str) -> bool:
    """Whether what stands above a table's rows is no title, but the heading of a group of them: it says
    neither unit nor period.
    """
    return (
        caption.endswith(":")
        and not bracketed_units(caption)
        and not any(map(is_period, caption.split()))
        and not CAPTION.match(caption)
    )


def _stands_in(caption: str, page: Page) -> bool:
    """Whether a page has the words of a caption, as running heads are on each page."""
    return " ".join(caption.split()) in " ".join(page.text.split())


def _counts_on(above: Table, first: Table) -> bool:
    """Whether the rows of a table are numbered on from those of the one before."""
    if not above.rows or not first.rows:
        return False
    before = NUMBERED.match(above.rows[-1].label)
    after = NUMBERED.match(first.rows[0].label)
    return before is not None and after is not None and int(before[1]) + 1 == int(after[1])


def _in_section(rows: Sequence[Row], section: str) -> tuple[Row, ...]:
    """The rows of a table, those before its first heading put under one that stands on the page before."""
    until = next((place for place, row in enumerate(rows) if row.section), len(rows))
    return tuple(replace(row, section=section) if place < until else row for place, row in enumerate(rows))


def _table(lines: Sequence[VisualLine], block: Block, floor: int) -> Table:
    first = first_line(lines, block, floor)
    rows = rows_of(lines, first, block.last, block.columns)
    head = head_of(lines, first, floor, block.columns, label_sides(lines, block))
    heads = head.heads
    caption = head.caption
    prose = _is_prose_beside(rows)
    if _names_rows(rows, prose=prose):
        caption = heads[0] if prose else caption  # what stands above the rows is prose, too
        heads = heads[1:]
        rows = [_named_by_cell(_without_label(row) if prose else row) for row in rows]
    return Table(caption, head.unit, tuple(heads), tuple(rows), _box(lines, block, head), False)


def _is_prose_beside(rows: Sequence[Row]) -> bool:
    """Whether the labels are lines of a paragraph in the column beside the table: most begin in the middle
    of a sentence.
    """
    labels = [row.label for row in rows if row.label]
    return len(labels) >= FEWEST_ROWS_OF_ONE and sum(label[0].islower() for label in labels) > len(labels) / 2


def _names_rows(rows: Sequence[Row], *, prose: bool) -> bool:
    """Whether the texts of the first column name the rows, and what stands before it only some: the groups
    that they are of, or prose.
    """
    names = [row.cells[0].text for row in rows if row.cells and row.cells[0]]
    worded = sum(any(map(str.isalpha, name)) and not is_value(name) for name in names)
    several = all(len(row.cells) > 1 for row in rows)
    some = prose or sum(bool(row.label) for row in rows) < LABELLED * len(rows)
    return several and worded == len(names) >= NAMED * len(rows) and some


def _without_label(row: Row) -> Row:
    """A row with what stands in its columns alone."""
    return replace(row, label="", section="", start=min(cell.start for cell in row.cells if cell))


def _named_by_cell(row: Row) -> Row:
    """A row named by the text in its first column, by its label where there is none; a label beside that
    text is its section.
    """
    name = row.cells[0]
    if name is None:
        return replace(row, cells=row.cells[1:])
    section = SEPARATOR.join(filter(None, (row.section, row.label)))
    return replace(row, label=name.text, cells=row.cells[1:], section=section)


def _is_table(lines: Sequence[VisualLine], block: Block) -> bool:
    """Whether a block is a table, and not prose with figures, a list of contents, a chart or a time line."""
    if not block.columns:
        return False
    values = [
        (index, value) for column in block.columns for index, value in column.values.items() if value.figure
    ]
    rows = sorted({index for index, _ in values})
    columns = [column for column in block.columns if column.aligned(block.letter)]
    figures = [value.text for _, value in values if any(character.isdigit() for character in value.text)]
    of_figures = sum(any(value.figure for value in column.values.values()) for column in block.columns)
    if (
        len(rows) < (FEWEST_ROWS if len(columns) > 1 else FEWEST_ROWS_OF_ONE)
        or len(figures) < FEWEST_FIGURES
        or 2 * len(columns) < of_figures
    ):
        return False
    if len(figures) < FEWEST_SHARE * len(values) or sum(map(is_period, figures)) > MOST_PERIODS * len(
        figures
    ):
        return False
    if len(block.columns) == 1 and _ascends(figures):
        return False
    labelled = sum(1 for index in rows if label_of(lines[index]))
    return (
        labelled >= LABELLED * len(rows)
        and not _has_stray_text(lines, block, len(values))
        and _level_with_labels(lines, block.columns)
    )


def _ascends(figures: Sequence[str]) -> bool:
    """Whether they are page numbers of a list of contents."""
    numbers = [int(text) for text in figures if text.isdecimal() and len(text) < LONGEST_PAGE_NUMBER]
    return len(numbers) == len(figures) and numbers == sorted(numbers)


def _has_stray_text(lines: Sequence[VisualLine], block: Block, values: int) -> bool:
    """Whether prose stands among the values: as many words as there are values."""
    edge = block.columns[0].x0
    taken = {id(piece) for column in block.columns for piece in column.values.values()}
    pieces = [
        piece
        for line in lines[block.first : block.last + 1]
        for piece in line.pieces[1:]
        if id(piece) not in taken
    ]
    return sum(len(piece.words) for piece in pieces if piece.x1 > edge and not piece.figure) > max(
        values, MOST_STRAY_WORDS
    )


def _level_with_labels(lines: Sequence[VisualLine], columns: Sequence[Column]) -> bool:
    """Whether values stand at about one height beside their labels, as no axis of a chart does beside a
    column of prose.
    """
    offsets = []
    for index, value in max(columns, key=lambda column: len(column.values)).values.items():
        label = lines[index].pieces[0]
        line = lines[index]
        if not label.figure and value.words and label is not value:
            box = value.words[-1].box
            beside = label.words[0].box
            # A scanned word's box ends where its letters do: with or without a descender, one of its sides
            # agrees.
            offsets.append(min(box.y1 - beside.y1, box.y0 - beside.y0, key=abs) / line.height)
    offsets.sort()
    return len(offsets) < 3 or offsets[(3 * len(offsets)) // 4] - offsets[len(offsets) // 4] < UNEVEN


def _box(lines: Sequence[VisualLine], block: Block, head: Head) -> Rect:
    return around(
        word.box for line in lines[head.top : block.last + 1] for piece in line.pieces for word in piece.words
    )

"""Finds the tables of a page from its words and drawn lines, and joins those that go on over a page's end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from ingestion.reading.layout import by_direction, sheet_pages
from ingestion.records import Page, Rect, Row, Table, Word, around_words, turn_back
from ingestion.tables.captions import bracketed_units, caption_of
from ingestion.tables.columns import Column, label_of
from ingestion.tables.grids import grids_of
from ingestion.tables.heads import head_of
from ingestion.tables.lines import Lines, Piece, VisualLine, visual_lines
from ingestion.tables.regions import Block, blocks_of, first_line, label_sides, without_page_number
from ingestion.tables.row_labels import rows_of
from ingestion.tables.ruled import ruled_tables
from ingestion.tables.ruling_lines import Rules
from ingestion.tables.word_kinds import is_period, is_value, stacked

__all__ = ["continue_tables", "find_tables"]

# The densest real page measured has 3,000 words. A page with more than this limit is not searched for tables.
MOST_WORDS = 20_000
# The fewest rows with values in a table, and in one with a single value column.
FEWEST_ROWS = 2
FEWEST_ROWS_OF_ONE = 3
# The fewest figures in a table, and their least share of its values. The share is low because statements of
# equity are mostly dashes.
FEWEST_FIGURES = 3
FEWEST_SHARE = 0.15
# If more than this share of the figures are years, they form a time line.
MOST_PERIODS = 0.75
LONGEST_PAGE_NUMBER = 5
# Words among the values that belong to no cell. Up to this many are wrapped texts.
MOST_STRAY_WORDS = 4
# The fewest words of a line in a column of prose.
FEWEST_WORDS_OF_PROSE = 4
# How far the middle half of the values may differ in height from their labels, in line heights.
UNEVEN = 0.3
# The sides of a table and of its continuation agree to this share of the page's width. At most this many
# lines stand between them on either page: notes and the running foot, the running head and a repeated title.
SAME_SIDE = 0.03
MOST_LINES_BETWEEN = 5
CONTINUED = re.compile(r"(?i)\b(?:continued|cont['’.]?d?|concluded)\b")
NUMBERED = re.compile(r"(\d{1,3})[.)]?\s")
# The share of a table's rows that have a label of their own.
LABELLED = 0.5
# The least share of a table's rows that a column of names fills.
NAMED = 0.8


def find_tables(text: str, words: Sequence[Word], rules: Callable[[], Rules] = Rules) -> list[Table]:
    """Returns the tables of one page in reading order, those set sideways after the others.

    words: with boxes and offsets into `text`. rules: called only if there may be a table.
    """
    if len(words) > MOST_WORDS:
        return []
    tables = list[Table]()
    for degrees, part in chain.from_iterable(map(partial(by_direction, text), sheet_pages(words))):
        level = [replace(word, box=turn_back(word.box, degrees)) for word in part] if degrees else part
        for table in _level_tables(level, rules, degrees):
            tables.append(replace(table, box=turn_back(table.box, (360 - degrees) % 360)))
    return tables


def _level_tables(placed: Sequence[Word], rules: Callable[[], Rules], degrees: int) -> list[Table]:
    """Returns the tables of words that stand level, on a page turned clockwise by `degrees`."""
    lines = without_page_number(visual_lines(placed))
    tables = _unruled(lines)
    if sum(len(line.pieces) > 1 for line in lines) < FEWEST_ROWS:
        return tables
    drawn = _ruled(lines, placed, rules().turned_back(degrees))
    ruled = [table for table in drawn if not _is_part_of_wider(table, drawn, tables)]
    if not ruled:
        return tables
    outside = [word for word in placed if not _is_within(word, ruled)]
    both = [*ruled, *_unruled(without_page_number(visual_lines(outside)))]
    return sorted(both, key=lambda table: table.box.y0)


def _is_part_of_wider(table: Table, ruled: Sequence[Table], tables: Sequence[Table]) -> bool:
    """Whether a ruled table meets a table found from words alone that has at least as many columns."""
    met = [other for other in tables if table.box.meets(other.box)]
    return any(len(other.heads) >= _width(table, ruled) for other in met)


def _width(table: Table, ruled: Sequence[Table]) -> int:
    """Counts the columns of a table and of the tables beside it.

    Those beside it count only if the rows of each have names of their own. A table without names is part of
    another, drawn apart.
    """
    parts = [table, *(other for other in ruled if _is_beside(table.box, other.box))]
    counted = parts if all(map(_is_named, parts)) else [table]
    return sum(1 + len(part.heads) for part in counted)


def _is_beside(first: Rect, second: Rect) -> bool:
    return first.level(second) > 0 and first.overlap(second) <= 0


def _is_named(table: Table) -> bool:
    """Whether most rows have a label in words."""
    named = sum(_has_letter(row.label) for row in table.rows)
    return named >= LABELLED * len(table.rows)


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _ruled(lines: Lines, words: Sequence[Word], rules: Rules) -> list[Table]:
    """Returns the tables whose cells are drawn with rules."""
    tables = list[Table]()
    for grid in grids_of(rules, words):
        for found in ruled_tables(grid):
            above = (table for table in reversed(tables) if not _is_beside(table.box, found.box))
            tables.append(_named(found, lines, next(above, None)))
    return tables


def _is_within(word: Word, tables: Sequence[Table]) -> bool:
    return any(table.box.holds(word.box) for table in tables)


def _named(found: Table, lines: Lines, before: Table | None) -> Table:
    """Returns a ruled table with its caption and unit.

    If it goes on right below the table before, it takes that table's caption, unit and heads.
    """
    lines = _in_column(lines, found.box)
    above = before.box.y1 if before else 0.0
    top = sum(line.middle < found.box.y0 for line in lines)
    floor = sum(line.middle < above for line in lines)
    caption, units, _ = caption_of(lines, top, min(top, floor))
    table = replace(found, caption=found.caption or caption, unit=next(iter(units), found.unit))
    return _with_heads_above(table, before) if before and top == floor else table


def _in_column(lines: Lines, box: Rect) -> list[VisualLine]:
    """Returns the lines without what is wholly to the left or right of a box, if prose stands beside it.

    If another table stands beside it, the lines belong to both and stay whole.
    """
    beside = []
    for line in lines:
        others = [piece for piece in line.pieces if box.overlap(piece) <= 0]
        if others and box.y0 < line.middle < box.y1:
            words = sum(len(piece.words) for piece in others if not piece.figure)
            beside.append(words >= FEWEST_WORDS_OF_PROSE)
    if sum(beside) <= len(beside) / 2:
        return list(lines)
    cut = [replace(line, pieces=_pieces_over(line, box)) for line in lines]
    return [line for line in cut if line.pieces]


def _pieces_over(line: VisualLine, box: Rect) -> list[Piece]:
    return [piece for piece in line.pieces if box.overlap(piece) > 0]


def _unruled(lines: Lines) -> list[Table]:
    """Returns the tables that show only in where their words stand."""
    tables = list[Table]()
    floor = last = 0
    for block in blocks_of(lines):
        if _is_table(lines, block):
            table = _table(lines, block, floor)
            if tables and block.first - last - 1 <= MOST_LINES_BETWEEN:
                table = _with_heads_above(table, tables[-1])
            tables.append(table)
            last = block.last
        floor = block.last + 1
    return tables


def _with_heads_above(table: Table, above: Table) -> Table:
    """Returns a table without heads as a further part of the table above, if it stands alike under it.

    It takes that table's heads and caption, as the equity part of a balance sheet does. Its own caption
    becomes its section if it heads a group. Any other table is returned as it is.
    """
    is_titled = table.caption and not _is_group(table.caption)
    if any(table.heads) or is_titled or not _has_columns_of(above, table):
        return table
    return _carried_on(above, table)


def _has_columns_of(above: Table, table: Table) -> bool:
    """Whether a table has as many columns as one with heads above it, and stands alike."""
    if not any(above.heads) or len(above.heads) != len(table.heads):
        return False
    first, second = above.box, table.box
    return max(abs(first.x0 - second.x0), abs(first.x1 - second.x1)) < SAME_SIDE


def continue_tables(pages: Sequence[Page]) -> list[Page]:
    """Returns the pages of a document with the tables continued.

    A table that goes on from the page before takes that table's heads, caption and unit.
    """
    done = list[Page]()
    for page in pages:
        if done and _goes_on(done[-1], page):
            first, *others = page.tables
            carried = _carried_on(done[-1].tables[-1], first)
            page = replace(page, tables=(replace(carried, continued=True), *others))
        done.append(page)
    return done


def _carried_on(above: Table, first: Table) -> Table:
    """Returns a table as the continuation of the one above it or on the page before.

    The rows before its first heading go on with the section above, or its caption heads their group.
    """
    section = first.caption.rstrip(": ") if _is_group(first.caption) else ""
    if _counts_on(above, first):
        section = above.rows[-1].section
    headed = (place for place, row in enumerate(first.rows) if row.section)
    until = next(headed, len(first.rows))
    rows = (*(replace(row, section=section) for row in first.rows[:until]), *first.rows[until:])
    heads = first.heads if any(first.heads) else above.heads
    return replace(first, heads=heads, caption=above.caption, unit=first.unit or above.unit, rows=rows)


def _goes_on(before: Page, page: Page) -> bool:
    """Whether the first table of a page goes on with the last one of the page before.

    It does if it stands alike, with only running heads and notes between the two, and has no heads or
    caption of its own, or repeats both, or says that it is continued.
    """
    if not before.tables or not page.tables:
        return False
    above = before.tables[-1]
    first = page.tables[0]
    if not _has_columns_of(above, first):
        return False
    below_it = sum(line.box.y0 > above.box.y1 for line in before.lines)
    over_it = sum(line.box.y1 < first.box.y0 for line in page.lines)
    if below_it > MOST_LINES_BETWEEN or over_it > MOST_LINES_BETWEEN:
        return False
    if CONTINUED.search(first.caption) or _is_repeated(above, first):
        return True
    if any(first.heads):
        return False
    # A running head stands on the page before, too.
    caption, text = (" ".join(words.split()) for words in (first.caption, before.text))
    return _is_group(first.caption) or caption in text


def _is_repeated(above: Table, first: Table) -> bool:
    """Whether a table has the heads and the caption of the one before, or numbers its rows on without one."""
    goes_on = first.caption == above.caption if first.caption else _counts_on(above, first)
    return first.heads == above.heads and goes_on


def _is_group(caption: str) -> bool:
    """Whether what stands above a table's rows heads a group of them, rather than being a title.

    It then says neither unit nor period.
    """
    if not caption.endswith(":") or bracketed_units(caption):
        return False
    return not any(map(is_period, caption.split()))


def _counts_on(above: Table, first: Table) -> bool:
    """Whether the rows of a table are numbered on from those of the one before."""
    before = NUMBERED.match(above.rows[-1].label)
    after = NUMBERED.match(first.rows[0].label)
    return before is not None and after is not None and int(before[1]) + 1 == int(after[1])


def _table(lines: Lines, block: Block, floor: int) -> Table:
    first = first_line(lines, block, floor)
    rows = rows_of(lines, first, block.last, block.columns)
    head = head_of(lines, first, floor, block.columns, label_sides(lines, block))
    heads, caption = head.heads, head.caption
    prose = _is_prose_beside(rows)
    if _names_rows(rows, prose=prose):
        if prose:
            caption = heads[0]  # what stands above the rows is prose, too
        heads = heads[1:]
        rows = [_named_by_cell(row, prose=prose) for row in rows]
    pieces = (piece for line in lines[head.top : block.last + 1] for piece in line.pieces)
    box = around_words(chain.from_iterable(piece.words for piece in pieces))
    return Table(caption, head.unit, tuple(heads), tuple(rows), box)


def _is_prose_beside(rows: Sequence[Row]) -> bool:
    """Whether the labels are lines of a paragraph in the column beside the table.

    Most of such labels begin in the middle of a sentence.
    """
    labels = [row.label for row in rows if row.label]
    within = sum(label[0].islower() for label in labels)
    return len(labels) >= FEWEST_ROWS_OF_ONE and within > len(labels) / 2


def _names_rows(rows: Sequence[Row], *, prose: bool) -> bool:
    """Whether the texts of the first column name the rows.

    What stands before that column is then prose, or names only some of them: the groups they belong to.
    """
    names = [row.cells[0].text for row in rows if row.cells[0]]
    are_names = all(_has_letter(name) and not is_value(name) for name in names)
    if len(names) < NAMED * len(rows) or not are_names or len(rows[0].cells) < 2:
        return False
    labelled = sum(bool(row.label) for row in rows)
    return prose or labelled < LABELLED * len(rows)


def _named_by_cell(row: Row, *, prose: bool) -> Row:
    """Returns a row named by the text in its first column, or by its label if there is no text.

    A label beside that text becomes its section, unless it is prose, which goes.
    """
    if prose:
        start = min(cell.start for cell in row.cells if cell)
        row = replace(row, label="", section="", start=start)
    name, *cells = row.cells
    if name:
        row = replace(row, label=name.text, section=stacked((row.section, row.label)))
    return replace(row, cells=tuple(cells))


def _is_table(lines: Lines, block: Block) -> bool:
    """Whether a block is a table, and not prose with figures, a list of contents, a chart or a time line."""
    if not block.columns:
        return False
    cells = chain.from_iterable(column.values.items() for column in block.columns)
    values = [(index, value.text) for index, value in cells if value.figure]
    rows = {index for index, _ in values}
    aligned = sum(column.aligned(block.letter) for column in block.columns)
    if len(rows) < (FEWEST_ROWS if aligned > 1 else FEWEST_ROWS_OF_ONE):
        return False
    if 2 * aligned < sum(column.has_figure for column in block.columns):
        return False
    figures = [text for _, text in values if any(map(str.isdigit, text))]
    periods = sum(map(is_period, figures))
    if len(figures) < max(FEWEST_FIGURES, FEWEST_SHARE * len(values)) or periods > MOST_PERIODS * len(
        figures
    ):
        return False
    # The page numbers of a list of contents ascend.
    pages = [int(text) for text in figures if text.isdecimal() and len(text) < LONGEST_PAGE_NUMBER]
    if len(block.columns) == 1 and len(pages) == len(figures) and pages == sorted(pages):
        return False
    labelled = sum(label_of(lines[index]) > 0 for index in rows)
    if labelled < LABELLED * len(rows) or _has_stray_text(lines, block, len(values)):
        return False
    return _level_with_labels(lines, block.columns)


def _has_stray_text(lines: Lines, block: Block, values: int) -> bool:
    """Whether prose stands among the values: more words than there are values."""
    edge = block.columns[0].x0
    taken = {id(value) for column in block.columns for value in column.values.values()}
    among = (piece for line in lines[block.first : block.last + 1] for piece in line.pieces[1:])
    stray = [piece for piece in among if id(piece) not in taken and piece.x1 > edge and not piece.figure]
    return sum(len(piece.words) for piece in stray) > max(values, MOST_STRAY_WORDS)


def _level_with_labels(lines: Lines, columns: Sequence[Column]) -> bool:
    """Whether values stand at about the same height as their labels.

    The axis of a chart beside a column of prose does not.
    """
    fullest = max(columns, key=lambda column: len(column.values))
    offsets = []
    for index, value in fullest.values.items():
        line = lines[index]
        label = line.pieces[0]
        if not label.figure and label is not value:
            # A scanned word's box ends where its letters do. With or without a descender, one side agrees.
            box, beside = value.words[-1].box, label.words[0].box
            offsets.append(min(box.y1 - beside.y1, box.y0 - beside.y0, key=abs) / line.height)
    offsets.sort()
    count = len(offsets)
    return count < 3 or offsets[3 * count // 4] - offsets[count // 4] < UNEVEN

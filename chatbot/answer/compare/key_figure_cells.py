"""Makes a key figure of a table's cell: its value with sign, scale and currency, and where it stands."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from chatbot.answer.tables.cell_lookup import FoundCell, printed_row
from chatbot.answer.tables.table_wording import short_head
from chatbot.comparison.key_figure_names import plain_label
from chatbot.comparison.key_figure_records import FigurePeriod, KeyFigure
from chatbot.evidence.passages import verbatim
from chatbot.evidence.scales_of_cells import passage_scale
from chatbot.records import Hit
from ingestion.language.currencies import MONEY, short_sign
from ingestion.language.numbers import find_figures, scale_marks
from ingestion.records import Row, Table

__all__ = ["PER_SHARE_MEASURE", "RowPlace", "key_figure_of"]

PER_SHARE_MEASURE = "diluted earnings per share"
CODE_IN_BRACKETS = re.compile(r"\(([A-Z]{3})\)")
# A row that is called by its minus alone: a loss, a deficit, what is borrowed.
BELOW_ZERO = re.compile(r"\b(?:loss|deficit|borrowing)\b")
EITHER_SIDE = re.compile(r"\b(?:income|profit|earnings|surplus|balance|result|lending)\b")
MAY_BE_BELOW_ZERO = ("net income", "operating income", "fiscal deficit", "primary balance")


@dataclass(frozen=True, slots=True)
class RowPlace:
    """A row that may state a measure. rank: of its name, 0 for the best."""

    rank: int
    hit: Hit
    table: Table
    row: Row


def key_figure_of(name: str, period: FigurePeriod, cell: FoundCell, place: RowPlace) -> KeyFigure:
    """The figure of a cell, not-a-number where its page does not tell its value. name: of its measure."""
    hit, row = place.hit, printed_row(place.row, cell.start, place.hit)
    unit = "%" if cell.percent else _money(cell, place)
    if name == PER_SHARE_MEASURE:
        cell = replace(cell, scale=1.0, unit="")
    return KeyFigure(
        name,
        period,
        cell.text,
        _signed(name, cell),
        unit,
        cell.scale,
        cell.figure.decimals,
        cell.label,
        short_head(cell.head),
        cell.unit,
        hit.page,
        hit.page_label,
        verbatim(row, hit.page_text),
        row.start,
    )


def _money(cell: FoundCell, place: RowPlace) -> str | None:
    """The currency of a cell as a sign: its own, its unit's, that of other cells of its table, its page's."""
    table = place.table
    own = cell.figure.unit
    if own in MONEY:
        return short_sign(own)
    for text in (cell.head, cell.label, cell.unit, table.unit, table.caption):
        marked = [mark.unit for mark in scale_marks(text) if mark.unit in MONEY]
        if marked:
            return short_sign(marked[-1])
        code = CODE_IN_BRACKETS.search(text)
        if code:
            return code[1]
    for row in table.rows:
        for other in filter(None, row.cells):
            units = [figure.unit for figure in find_figures(other.text) if figure.unit in MONEY]
            if units:
                return short_sign(units[0])
    unit = passage_scale(place.hit.page_text)[1]
    return short_sign(unit) if unit in MONEY else None


def _signed(name: str, cell: FoundCell) -> float:
    """A value with the sign that its row's name gives it: a "Net loss" of 5 is less than zero."""
    if not cell.certain:
        return math.nan
    label = plain_label(cell.label)
    if name.startswith(MAY_BE_BELOW_ZERO) and BELOW_ZERO.search(label) and not EITHER_SIDE.search(label):
        return -abs(cell.value)
    return cell.value

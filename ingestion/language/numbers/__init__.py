"""Knows how amounts and scale lines are written in financial prose and tables; knows no page, question or
answer.

`not_amounts` holds what must not be taken for an amount, `figures` the amounts, `spelled` those in words, `scale_marks` the lines that scale a
table's cells, `cell_marks` which of them scales a cell.
"""

from __future__ import annotations

from ingestion.language.numbers.cell_marks import for_row, mark_beside, mark_of_table, stated_mark
from ingestion.language.numbers.figures import Figure, find_figures, magnitude, same_value, units_agree
from ingestion.language.numbers.scale_marks import ScaleMark, governing_mark, passage_scale, scale_marks

__all__ = [
    "Figure",
    "ScaleMark",
    "find_figures",
    "for_row",
    "governing_mark",
    "magnitude",
    "mark_beside",
    "mark_of_table",
    "passage_scale",
    "same_value",
    "scale_marks",
    "stated_mark",
    "units_agree",
]

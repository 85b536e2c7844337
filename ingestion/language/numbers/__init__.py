"""Knows how amounts, periods and scale lines are written in financial prose and tables; knows no page, question or answer.

`grammar` holds the words, `periods` and `not_amounts` what must not be taken for an amount, `figures` the amounts, `scale_marks` the lines
that scale a table's cells, `cell_marks` which of them scales a cell.
"""

from __future__ import annotations

from ingestion.language.numbers.cell_marks import mark_beside, mark_of_table, stated_mark
from ingestion.language.numbers.figures import Figure, find_figures, magnitude, same_value, units_agree
from ingestion.language.numbers.periods import Period, find_periods, periods_agree
from ingestion.language.numbers.scale_marks import ScaleMark, governing_mark, passage_scale, scale_marks

__all__ = [
    "Figure",
    "Period",
    "ScaleMark",
    "find_figures",
    "find_periods",
    "governing_mark",
    "magnitude",
    "mark_beside",
    "mark_of_table",
    "passage_scale",
    "periods_agree",
    "same_value",
    "scale_marks",
    "stated_mark",
    "units_agree",
]

"""Knows how amounts, periods and scale lines are written in financial prose and tables; knows no page, question or answer.

`grammar` holds the words, `periods` and `not_amounts` what must not be taken for an amount, `figures` the amounts, `scale_marks` the lines
that scale a table's cells.
"""

from __future__ import annotations

from chatbot.numbers.figures import Figure, find_figures, magnitude, same_value, units_agree
from chatbot.numbers.periods import Period, find_periods, periods_agree
from chatbot.numbers.scale_marks import ScaleMark, governing_mark, passage_scale, scale_marks

__all__ = [
    "Figure",
    "Period",
    "ScaleMark",
    "find_figures",
    "find_periods",
    "governing_mark",
    "magnitude",
    "passage_scale",
    "periods_agree",
    "same_value",
    "scale_marks",
    "units_agree",
]

"""Reads amounts and scale lines in financial prose and tables.

`figures` finds amounts and `spelled` amounts in words; `number_styles` decides how figures are written, and
`not_amounts` masks what must not be taken for one.
`scale_marks` finds the lines that scale a table's cells.
"""

from __future__ import annotations

from ingestion.language.numbers.figures import (
    Figure,
    cell_figure,
    find_figures,
    magnitude,
    same_value,
    units_agree,
)
from ingestion.language.numbers.number_styles import NumberStyle, own_style, page_style, table_styles
from ingestion.language.numbers.scale_marks import (
    ScaleMark,
    scale_marks,
    stated_mark,
)

__all__ = [
    "Figure",
    "NumberStyle",
    "ScaleMark",
    "cell_figure",
    "find_figures",
    "magnitude",
    "own_style",
    "page_style",
    "same_value",
    "scale_marks",
    "stated_mark",
    "table_styles",
    "units_agree",
]

"""Compares the answers to one question over several documents and years.

`records` defines what is compared and found, `changes` and `ranking` do the arithmetic, and
`comparison_table` writes the table as CSV and text. Nothing here asks a question.
"""

from __future__ import annotations

from chatbot.comparison.changes import Change, change_between, changes, series
from chatbot.comparison.comparison_table import csv_bytes, entry_line, entry_text
from chatbot.comparison.ranking import ranks, shown_figures
from chatbot.comparison.records import (
    Comparison,
    Entry,
    EntryPlace,
    Nearest,
    Quantity,
    question_in,
    question_without_years,
    year_written,
)

__all__ = [
    "Change",
    "Comparison",
    "Entry",
    "EntryPlace",
    "Nearest",
    "Quantity",
    "change_between",
    "changes",
    "csv_bytes",
    "entry_line",
    "entry_text",
    "question_in",
    "question_without_years",
    "ranks",
    "series",
    "shown_figures",
    "year_written",
]

"""Words with boxes to tables: rows, columns, heads, captions; knows nothing of PDFs and nothing of finance but how figures are written."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.records import Page, Table, Word

__all__ = ["continue_tables", "find_tables"]


def find_tables(text: str, words: Sequence[Word]) -> list[Table]:
    """The tables of one page in reading order. words: with boxes and offsets into `text`."""
    return []


def continue_tables(pages: Sequence[Page]) -> list[Page]:
    """The pages of a document, where a table that goes on from the page before has that one's heads, caption and unit."""
    return list(pages)

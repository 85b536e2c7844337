"""Tables of test cases written as text; knows no test."""

from __future__ import annotations

__all__ = ["case_rows"]


def case_rows(text: str) -> list[tuple[str, ...]]:
    """The rows of a table with a case on each line and " | " between its cells, which are stripped."""
    rows = []
    for line in text.splitlines():
        if line.strip():
            cells = line.split(" | ")
            rows.append(tuple(cell.strip() for cell in cells))
    return rows

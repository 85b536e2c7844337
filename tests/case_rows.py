"""Tables of test cases written as text; knows no test."""

from __future__ import annotations

__all__ = ["case_rows"]


def case_rows(text: str) -> list[tuple[str, ...]]:
    """The rows of a table with a case on each line and " | " between its cells, which are stripped."""
    lines = [line for line in text.splitlines() if line.strip()]
    return [tuple(cell.strip() for cell in line.split(" | ")) for line in lines]

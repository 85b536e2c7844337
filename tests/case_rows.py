"""Cases that are text, given as text: one a line, and of a table one a row."""

from __future__ import annotations

__all__ = ["case_lines", "case_rows"]


def case_lines(text: str) -> list[str]:
    """The lines that say something, stripped; one that begins with "# " notes what the next ones show."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("# ")]


def case_rows(text: str) -> list[tuple[str, ...]]:
    """The cells of each such line, between " | ", stripped; the first and the last may be empty."""
    rows = [f" {line} ".split(" | ") for line in case_lines(text)]
    return [tuple(map(str.strip, row)) for row in rows]

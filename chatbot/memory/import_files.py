"""What every memory's import has in common: a file read whole within a bound, and what came of its lines; knows no memory's format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from chatbot.errors import NotFoundError, UsageError

__all__ = ["ImportedLines", "LineProblem", "Progress", "read_whole"]

# Told how many of how many are prepared.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that cannot be read. line: 1-based, as editors count."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedLines:
    """What an import did. added: what is new here, or says something new; known: the others; problems: lines that cannot be read."""

    added: int
    known: int
    problems: tuple[LineProblem, ...] = ()


def read_whole(file: Path | BinaryIO, shown: str, *, most: int, hint: str) -> bytes:
    """All bytes of a file or stream. shown: what it is called. most: bytes. hint: what to give instead.

    Raises NotFoundError where it cannot be read, UsageError where it is larger.
    """
    try:
        if isinstance(file, Path):
            with file.open("rb") as opened:
                data = opened.read(most + 1)
        else:
            data = file.read(most + 1)
    except OSError as error:
        raise NotFoundError(f"{shown} cannot be read: {error.strerror}.", hint=hint) from error
    if len(data) > most:
        raise UsageError(f"{shown} is larger than {most // 2**20} MiB.", hint="Split it.")
    return data

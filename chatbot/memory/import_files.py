"""Provides what all memories share for imports: reading a file within a bound, and the results of its lines.

It knows no memory's format.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from chatbot.errors import NotFoundError, UsageError
from ingestion.precedence import giving_way

__all__ = [
    "MOST_BYTES",
    "ImportedLines",
    "LineProblem",
    "Progress",
    "holds_words",
    "json_in_line",
    "no_progress",
    "read_lines",
    "read_whole",
]

Item = TypeVar("Item")
# How it begins why a line that is no JSON cannot be read.
NO_JSON = "it is not JSON"
# A year of a busy channel with all its formatting is some 50 MB, and a hundred thousand cases 100.
MOST_BYTES = 200 * 2**20
# Told how many of how many are prepared.
Progress = Callable[[int, int], None]


def _finite_or_text(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


# One decoder for all lines takes a third of the time.
DECODER = json.JSONDecoder(parse_constant=str, parse_float=_finite_or_text)


def no_progress(done: int, total: int) -> None:
    """Progress that is not shown."""


def holds_words(text: str, search: str) -> bool:
    """Whether the text holds each word of a search, in any case."""
    return all(word in text.casefold() for word in search.casefold().split())


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that cannot be read.

    line: 1-based, as editors count.
    reason: what is wrong with it.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedLines:
    """What an import did.

    added: entries that are new here, or have something new.
    known: the others.
    problems: lines that cannot be read.
    """

    added: int
    known: int
    problems: tuple[LineProblem, ...] = ()


def json_in_line(line: bytes) -> object:
    """The value of a line. NaN and the like, and numbers that overflow, become texts.

    Raises ValueError with what is wrong with it.
    """
    try:
        found: object = DECODER.decode(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{NO_JSON} ({error.msg}, column {error.colno})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        raise ValueError("it has a number that is too long") from None
    return found


def read_lines(
    path: Path, read: Callable[[bytes], Item], noun: str, hint: str
) -> tuple[list[Item], tuple[LineProblem, ...]]:
    """(what the lines of a file hold, those that cannot be read); empty lines are skipped.

    noun: what a line is. read(line): raises ValueError with the reason, which begins with NO_JSON if the line
    is no JSON. hint, errors: as of read_whole.
    """
    found, problems = list[Item](), list[LineProblem]()
    lines = read_whole(path, path.name, hint=hint).split(b"\n")
    for number, line in enumerate(giving_way(lines), 1):
        try:
            if line.strip():
                found.append(read(line))
        except ValueError as error:
            if not found and line.lstrip().startswith(b"[") and str(error).startswith(NO_JSON):
                reason = f"the file is one JSON array over several lines; each {noun} needs a line of its own"
                return [], (LineProblem(number, reason),)
            problems.append(LineProblem(number, str(error)))
    return found, tuple(problems)


def read_whole(file: Path | BinaryIO, shown: str, *, hint: str) -> bytes:
    """All bytes of a file or stream, MOST_BYTES at most.

    shown: its name in messages. hint: what to give instead. Raises NotFoundError if it cannot be
    read, UsageError if it is larger.
    """
    try:
        with _opened(file) if isinstance(file, Path) else nullcontext(file) as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise NotFoundError(f"{shown} cannot be read: {error.strerror}.", hint=hint) from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{shown} is larger than {MOST_BYTES // 2**20} MiB.", hint="Split it.")
    return data


def _opened(path: Path) -> BinaryIO:
    """A folder, a pipe or a device could block or be read without end, so OSError is raised for it."""
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    mode = os.fstat(opened).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(opened, "rb")
    os.close(opened)
    raise OSError(errno.EINVAL, "Is a directory" if stat.S_ISDIR(mode) else "It is not a file")

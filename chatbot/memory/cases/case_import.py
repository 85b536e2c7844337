"""Reads cases from a file of JSON lines that comes from elsewhere; keeps nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.cases.records import LONGEST_LINE, Case, case_id, case_line, read_case
from chatbot.memory.import_files import LineProblem, open_file, read_lines

__all__ = ["cut_lines", "read_cases"]


def read_cases(path: Path) -> tuple[list[Case], tuple[LineProblem, ...]]:
    """The cases of a JSONL file from elsewhere, which never count as verified or shared, nor as newer than
    now, and the lines that cannot be read.

    Raises NotFoundError.
    """
    now = time.time()
    try:
        with open_file(path) as file:
            return read_lines(
                cut_lines(file), lambda line, number: _from_elsewhere(line, number - 1, now), "case"
            )
    except OSError as error:
        raise NotFoundError(
            f"{path.name} cannot be read: {error.strerror}.", hint="Give a file of JSON lines."
        ) from error


def _from_elsewhere(line: bytes, line_index: int, now: float) -> Case:
    """Raises ValueError also for a case that would be too long as it is written here."""
    case = read_case(line, line_index)
    case = replace(
        case, verified=False, by="", at=min(case.at, now), id=case_id(case.question, asked_of=case.asked_of)
    )
    try:
        case_line(case)
    except UsageError as error:
        raise ValueError(error.message) from error
    return case


def cut_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines; one that is longer than a case may be is cut off behind that, so that it is never held
    whole.
    """
    while line := file.readline(LONGEST_LINE + 1):
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE + 1)

"""Reads cases from a file of JSON lines that comes from elsewhere; stores nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.cases.records import DEFAULT_FIELDS, LONGEST_LINE, Case, case_id, case_line, read_case
from chatbot.memory.import_files import LineProblem, open_file, read_lines
from ingestion.precedence import giving_way

__all__ = ["cut_lines", "read_cases"]


def read_cases(
    path: Path, fields: tuple[str, str] = DEFAULT_FIELDS
) -> tuple[list[Case], tuple[LineProblem, ...]]:
    """(the cases of a JSONL file from elsewhere, the lines that cannot be read).

    The cases never count as verified or shared, nor as newer than now. Raises NotFoundError.

    fields: of question and answer, as in read_case.
    """
    now = time.time()

    def read(line: bytes, number: int) -> Case:
        return _from_elsewhere(read_case(line, fields=fields), now)

    try:
        with open_file(path) as file:
            return read_lines(cut_lines(file), read, "case")
    except OSError as error:
        raise NotFoundError(
            f"{path.name} cannot be read: {error.strerror}.", hint="Choose a file of JSON lines."
        ) from error


def _from_elsewhere(case: Case, now: float) -> Case:
    """The case as it is stored. Raises ValueError if it would be too long."""
    own_id = case_id(case.question, asked_of=case.asked_of)
    case = replace(case, verified=False, by="", at=min(case.at, now), id=own_id)
    try:
        case_line(case)
    except UsageError as error:
        raise ValueError(error.message) from error
    return case


def cut_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file.

    A line longer than any case is cut off, so that it is never in memory as a whole.
    """
    for line in giving_way(iter(partial(file.readline, LONGEST_LINE + 1), b"")):
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE + 1)

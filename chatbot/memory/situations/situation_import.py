"""Reads situations with their recommendations from a file of JSON lines; stores nothing.

The lines are as `memory situations list --json` writes them.
"""

from __future__ import annotations

import json
import time
from itertools import chain
from pathlib import Path

from chatbot.memory.import_files import NO_JSON, LineProblem, read_lines, read_whole
from chatbot.memory.situations.situation_types import (
    LONGEST_RECOMMENDATION,
    LONGEST_SITUATION,
    Situation,
    new_situation,
)

__all__ = ["read_situations"]

# Ten thousand situations of a page each.
MOST_BYTES = 64 * 2**20
# More recommendations than anybody reads of one situation; each is a row of its own.
MOST_RECOMMENDATIONS = 100
NO_SITUATION = "it has no situation with advice"
HINT = (
    'Use JSON lines of {"situation": ..., "recommendations": [...], "scope": ...}, or of '
    "[situation, recommendation]."
)


def read_situations(path: Path, owner: str) -> tuple[list[Situation], tuple[LineProblem, ...]]:
    """(the situations of a file, the lines that cannot be read).

    The situations are in the file's order, one for each recommendation, the newest of a line first. A line is
    an object or a pair; a recommendation may also be a single text. Raises as read_whole.
    """
    data = read_whole(path, path.name, most=MOST_BYTES, hint=HINT).removeprefix(b"\xef\xbb\xbf")
    now = time.time()

    def read(line: bytes, number: int) -> list[Situation]:
        return _read(line, owner, now)

    found, problems = read_lines(data.split(b"\n"), read, "situation")
    return list(chain.from_iterable(found)), problems


def _read(line: bytes, owner: str, now: float) -> list[Situation]:
    """The situations of a line. Raises ValueError with the reason if it holds none."""
    given: object
    scope: object
    at: object
    try:
        fields = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(NO_JSON) from None
    match fields:
        case [str(situation), str(recommendation)]:
            given = [recommendation]
            scope = ""
            at = now
        case {"situation": str(situation), **others}:
            given = others.get("recommendations", others.get("recommendation", others.get("advice")))
            if isinstance(given, str):
                given = [given]
            scope = others.get("scope", "")
            at = others.get("at", now)
        case _:
            raise ValueError(NO_SITUATION)
    if not isinstance(scope, str):
        raise ValueError("its scope is not text")
    texts = _texts(given)
    if not texts or not situation.strip():
        raise ValueError(NO_SITUATION)
    if len(texts) > MOST_RECOMMENDATIONS:
        raise ValueError(f"it has more than {MOST_RECOMMENDATIONS} recommendations")
    if len(situation) > LONGEST_SITUATION or max(map(len, texts)) > LONGEST_RECOMMENDATION:
        raise ValueError(
            f"it is too long: a situation has at most {LONGEST_SITUATION:,} characters, a "
            f"recommendation {LONGEST_RECOMMENDATION:,}"
        )
    newest_at = _seconds(at, now)
    found = []
    for place, text in enumerate(texts):
        found.append(new_situation(owner, scope, (situation, text), newest_at - place / 1_000))
    return found


def _texts(given: object) -> list[str]:
    """The texts of a list; none unless all its elements are texts that are not blank."""
    if not isinstance(given, list):
        return []
    texts = [text for text in given if isinstance(text, str) and text.strip()]
    return texts if len(texts) == len(given) else []


def _seconds(at: object, now: float) -> float:
    """A time in seconds since the epoch; now for a value that is none or in the future.

    A future time would be the newest for ever.
    """
    if isinstance(at, bool) or not isinstance(at, int | float):
        return now
    return float(at) if 0 < at <= now else now

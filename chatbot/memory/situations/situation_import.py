"""Reads situations with their recommendations from a file of JSON lines, as `memory situations list
--json` writes them; keeps nothing.
"""

from __future__ import annotations

import json
import time
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
# More than anybody reads of one situation; each is a row of its own.
MOST_RECOMMENDATIONS = 100
HINT = (
    'Give JSON lines of {"situation": ..., "recommendations": [...], "scope": ...}, or of [situation, '
    "recommendation]."
)


def read_situations(path: Path, owner: str) -> tuple[list[Situation], tuple[LineProblem, ...]]:
    """The situations of a file, in its order, each recommendation for itself, the newest of a line first, and
    the lines that cannot be read; a line is an object or a pair, a recommendation also a single text.

    Raises as read_whole.
    """
    data = read_whole(path, path.name, most=MOST_BYTES, hint=HINT).removeprefix(b"\xef\xbb\xbf")
    now = time.time()
    found, problems = read_lines(data.split(b"\n"), lambda line, number: _read(line, owner, now), "situation")
    return [one for made in found for one in made], problems


def _read(line: bytes, owner: str, now: float) -> list[Situation]:
    """Raises ValueError, which says why, for what is no situation."""
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
            else:
                given = given
            scope = others.get("scope", "")
            at = others.get("at", now)
        case _:
            raise ValueError("it has no situation with what is advised in it")
    if not isinstance(scope, str):
        raise ValueError("its scope is no text")
    if (
        not isinstance(given, list)
        or not given
        or not all(isinstance(one, str) and one.strip() for one in given)
        or not situation.strip()
    ):
        raise ValueError("it has no situation with what is advised in it")
    if len(given) > MOST_RECOMMENDATIONS:
        raise ValueError(f"it has more than {MOST_RECOMMENDATIONS} recommendations")
    if len(situation) > LONGEST_SITUATION or any(len(one) > LONGEST_RECOMMENDATION for one in given):
        raise ValueError(
            f"it is too long: a situation has at most {LONGEST_SITUATION:,} characters, a "
            f"recommendation {LONGEST_RECOMMENDATION:,}"
        )
    # A time that is none, or one to come, would be the newest for ever.
    if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at <= now:
        when = float(at)
    else:
        when = now
    return [
        new_situation(owner, scope, (situation, text), when - place / 1_000)
        for place, text in enumerate(given)
    ]

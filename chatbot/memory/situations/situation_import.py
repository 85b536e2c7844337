"""Reads situations with their recommendations from a file of JSON lines; stores nothing.

The lines are as `memory situations list --json` writes them.
"""

from __future__ import annotations

import json
import time
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from chatbot.errors import UsageError
from chatbot.memory.import_files import NO_JSON, LineProblem, read_lines, read_whole
from chatbot.memory.situations.situation_types import Situation, new_situation

__all__ = ["read_situations"]

# Ten thousand situations of a page each.
MOST_BYTES = 64 * 2**20
# More recommendations than anybody reads of one situation.
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
    read = partial(_read, owner=owner, now=time.time())
    found, problems = read_lines(data.split(b"\n"), lambda line, number: read(line), "situation")
    return list(chain.from_iterable(found)), problems


def _read(line: bytes, *, owner: str, now: float) -> list[Situation]:
    """The situations of a line. Raises ValueError with the reason if it holds none."""
    try:
        fields: Any = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(NO_JSON) from None
    match fields:
        case [str(situation), str(recommendation)]:
            fields = {"situation": situation, "recommendation": recommendation}
        case {"situation": str(situation)}:
            pass
        case _:
            raise ValueError(NO_SITUATION)
    given = fields.get("recommendations", fields.get("recommendation", fields.get("advice")))
    texts, scope, at = [given] if isinstance(given, str) else given, fields.get("scope", ""), fields.get("at")
    if not isinstance(scope, str):
        raise ValueError("its scope is not text")
    if not isinstance(texts, list) or not texts:
        raise ValueError(NO_SITUATION)
    if len(texts) > MOST_RECOMMENDATIONS:
        raise ValueError(f"it has more than {MOST_RECOMMENDATIONS} recommendations")
    # A time in the future would be the newest for ever.
    is_past = isinstance(at, int | float) and not isinstance(at, bool) and 0 < at <= now
    newest = float(at) if is_past else now
    try:
        return [
            new_situation(owner, scope, (situation, text), newest - place / 1_000)
            for place, text in enumerate(texts)
        ]
    except UsageError as error:
        raise ValueError(error.message) from error

"""Reads situations with their recommendations from a file of JSON lines, as `memory situations list --json` writes them; keeps nothing."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from chatbot.memory.import_files import LineProblem, read_whole
from chatbot.memory.situations.rows import LONGEST_RECOMMENDATION, LONGEST_SITUATION

__all__ = ["ReadSituation", "SituationsRead", "read_situations"]

# Ten thousand situations of a page each.
MOST_BYTES = 64 * 2**20
NO_JSON = "it is no JSON"
ARRAY = "the file is one JSON array over several lines; each situation needs a line of its own"
# More than anybody reads of one situation; each is a row of its own.
MOST_RECOMMENDATIONS = 100
HINT = 'Give JSON lines of {"situation": ..., "recommendations": [...], "scope": ...}, or of [situation, recommendation].'


@dataclass(frozen=True, slots=True)
class ReadSituation:
    """One line. recommendations: the newest first, at least one. at: when, in seconds since the epoch."""

    situation: str
    recommendations: tuple[str, ...]
    scope: str
    at: float


@dataclass(frozen=True, slots=True)
class SituationsRead:
    """What a file holds, in its order."""

    entries: tuple[ReadSituation, ...]
    problems: tuple[LineProblem, ...]


def read_situations(path: Path) -> SituationsRead:
    """The situations of a file; a line is an object or a pair, a recommendation also a single text. Raises as read_whole."""
    data = read_whole(path, path.name, most=MOST_BYTES, hint=HINT)
    now, entries, problems = time.time(), list[ReadSituation](), list[LineProblem]()
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entries.append(_entry(json.loads(line.decode("utf-8")), now))
        except (ValueError, RecursionError) as error:
            reason = str(error) if type(error) is ValueError else NO_JSON
            if reason == NO_JSON and not entries and line.lstrip().startswith(b"["):
                return SituationsRead((), (LineProblem(number, ARRAY),))
            problems.append(LineProblem(number, reason))
    return SituationsRead(tuple(entries), tuple(problems))


def _entry(fields: object, now: float) -> ReadSituation:
    """Raises ValueError, which says why, for what is no situation."""
    given: object
    scope: object
    at: object
    match fields:
        case [str(situation), str(recommendation)]:
            given, scope, at = [recommendation], "", now
        case {"situation": str(situation), **others}:
            given = others.get("recommendations", others.get("recommendation", others.get("advice")))
            given = [given] if isinstance(given, str) else given
            scope, at = others.get("scope", ""), others.get("at", now)
        case _:
            raise ValueError("it has no situation with what is advised in it")
    if not isinstance(scope, str):
        raise ValueError("its scope is no text")
    if not isinstance(given, list) or not given or not all(isinstance(one, str) and one.strip() for one in given) or not situation.strip():
        raise ValueError("it has no situation with what is advised in it")
    if len(given) > MOST_RECOMMENDATIONS:
        raise ValueError(f"it has more than {MOST_RECOMMENDATIONS} recommendations")
    if len(situation) > LONGEST_SITUATION or any(len(one) > LONGEST_RECOMMENDATION for one in given):
        raise ValueError(f"it is too long: a situation has at most {LONGEST_SITUATION:,} characters, a recommendation {LONGEST_RECOMMENDATION:,}")
    # A time that is none, or one to come, would be the newest for ever.
    when = float(at) if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at <= now else now
    return ReadSituation(situation, tuple(given), scope, when)

"""Reads situations with their recommendations from a file of JSON lines, as `memory situations list --json` writes them; keeps nothing."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from chatbot.errors import UsageError
from chatbot.memory.situations.file import LONGEST_RECOMMENDATION, LONGEST_SITUATION

__all__ = ["ImportedSituations", "LineProblem", "ReadSituation", "SituationsRead", "read_situations"]

# Ten thousand situations of a page each.
MOST_BYTES = 64 * 2**20
HINT = 'Give JSON lines of {"situation": ..., "recommendations": [...], "scope": ...}, or of [situation, recommendation].'


@dataclass(frozen=True, slots=True)
class ReadSituation:
    """One line. recommendations: the newest first, at least one. at: when, in seconds since the epoch."""

    situation: str
    recommendations: tuple[str, ...]
    scope: str
    at: float


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that cannot be read. line: 1-based."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedSituations:
    """What an import did. added: situations that are new or are advised something new in; known: the others; problems: lines that cannot be read."""

    added: int
    known: int
    problems: tuple[LineProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class SituationsRead:
    """What a file holds, in its order."""

    entries: tuple[ReadSituation, ...]
    problems: tuple[LineProblem, ...]


def read_situations(path: Path) -> SituationsRead:
    """The situations of a file; a line is an object or a pair, a recommendation also a single text. Raises UsageError where it is no text or too large."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", hint="Name a file of JSON lines.") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path} is larger than {MOST_BYTES // 2**20} MiB.", hint="Split it.")
    now, entries, problems = time.time(), list[ReadSituation](), list[LineProblem]()
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entries.append(_entry(json.loads(line.decode("utf-8")), now))
        except (ValueError, RecursionError) as error:
            reason = str(error) if type(error) is ValueError else "it is no JSON"
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
    if len(situation) > LONGEST_SITUATION or any(len(one) > LONGEST_RECOMMENDATION for one in given):
        raise ValueError(f"it is too long: a situation has at most {LONGEST_SITUATION:,} characters, a recommendation {LONGEST_RECOMMENDATION:,}")
    # A time that is none, or one to come, would be the newest for ever.
    when = float(at) if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at <= now else now
    return ReadSituation(situation, tuple(given), scope, when)

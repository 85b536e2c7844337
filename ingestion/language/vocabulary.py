"""Reads the tables of words beside it and makes patterns of words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import compress
from pathlib import Path

__all__ = ["Match", "either", "groups_of", "numbered", "parts", "table", "words"]

Match = re.Match[str]

_FOLDER = Path(__file__).parent
_GROUP = re.compile(r"\(\?P<(\w+)>")


def table(name: str) -> list[list[str]]:
    """The cells of a file of tab-separated values beside this module, a list for each line.

    Empty lines and lines that begin with "#" are left out.
    """
    lines = (_FOLDER / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def parts(text: str) -> tuple[str, ...]:
    """The parts of a text, which semicolons separate."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


def words(text: str) -> frozenset[str]:
    """The words of a text, which blanks separate."""
    return frozenset(text.split())


def either(alternatives: Iterable[str]) -> str:
    """A pattern for any of these words, without a group around it.

    Where one word begins another, the longer is tried first.
    """
    longest_first = sorted(dict.fromkeys(alternatives), key=len, reverse=True)
    return "|".join(map(re.escape, longest_first))


def numbered(pattern: str) -> str:
    """A pattern with a number behind the name of each of its groups, so that no name comes twice."""
    counts: Counter[str] = Counter()

    def name(match: Match) -> str:
        counts[match[1]] += 1
        return f"(?P<{match[1]}_{counts[match[1]]}>"

    return _GROUP.sub(name, pattern)


def groups_of(match: Match) -> dict[str, str]:
    """What the groups of such a pattern hold, by their names without numbers; those that hold something."""
    found = match.groups()
    return dict(zip(compress(_names(match.re), found), filter(None, found), strict=True))


@lru_cache(maxsize=64)
def _names(pattern: re.Pattern[str]) -> list[str]:
    """The names of a pattern's groups without numbers, "" for those without a name."""
    names = {at: name.rpartition("_")[0] for name, at in pattern.groupindex.items()}
    return [names.get(at, "") for at in range(1, pattern.groups + 1)]

"""Reads the tables of words beside it and makes patterns of words; knows no word itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["either", "table", "words"]

_FOLDER = Path(__file__).parent


def table(name: str) -> list[list[str]]:
    """The cells of a file of tab-separated values beside this module, a list a line; empty lines and those
    that begin with "#" are left out.
    """
    lines = (_FOLDER / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def words(text: str) -> frozenset[str]:
    """The words of a text that parts them by blanks."""
    return frozenset(text.split())


def either(alternatives: Iterable[str]) -> str:
    """A pattern of these words, without a group around it; where one begins another, the longer is tried
    first.
    """
    return "|".join(re.escape(word) for word in sorted(dict.fromkeys(alternatives), key=len, reverse=True))

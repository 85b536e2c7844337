"""Knows what names the bytes of a file: their SHA-256, and nothing that stands in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["NO_FILE", "digest_in", "digests_in", "is_digest"]

DIGEST = re.compile(r"[0-9a-f]{64}")
# Stands for what is no SHA-256. No file has it.
NO_FILE = "0" * 64


def is_digest(value: object) -> bool:
    """Tells whether a value is a SHA-256 in hexadecimal digits, which also means that it is no path."""
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def digest_in(value: object) -> str:
    """Returns a SHA-256 as a store has it, and NO_FILE for anything else.

    A store may be damaged, or made by somebody to lead out of the folder of copies.
    """
    return value if isinstance(value, str) and is_digest(value) else NO_FILE


def digests_in(rows: Iterable[tuple[object, ...]]) -> set[str]:
    """Returns the same of the first column of rows."""
    return {digest_in(row[0]) for row in rows}

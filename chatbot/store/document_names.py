"""What a document may be called: display text only, never a path; knows no store."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from pathlib import PurePath

from chatbot.errors import DocumentError

__all__ = ["display_name", "free_name", "known_as", "listed"]

# Documents that a sentence names.
MOST_NAMED = 3

# Longer names cannot be file names on any common system, and break every table they are shown in.
LONGEST_NAME = 200


def display_name(given: str) -> str:
    """The name a document is kept under: the last part of a path, control and bidirectional characters made
    visible.

    Raises DocumentError for a name that is empty or longer than LONGEST_NAME characters.
    """
    name = re.split(r"[\\/]", unicodedata.normalize("NFC", given))[-1].strip()
    name = "".join(_visible(letter) for letter in name)
    if not name or set(name) <= {"."}:
        raise DocumentError(f"{given[:80]!r} is not a name for a document.", hint="Give one with --name.")
    if len(name) > LONGEST_NAME:
        raise DocumentError(
            f"The name {name[:40]}… has {len(name)} characters.",
            hint=f"Give one of at most {LONGEST_NAME} with --name.",
        )
    return name


def known_as(given: str) -> str:
    """The name a document would be kept under, for looking it up; what cannot be a name is left as it is."""
    try:
        return display_name(given)
    except DocumentError:
        return given


def free_name(name: str, taken: Collection[str]) -> str:
    """ "Budget.pdf" as "Budget (2).pdf", or with the next number that is not taken."""
    path = PurePath(name)
    number = 2
    while f"{path.stem} ({number}){path.suffix}" in taken:
        number += 1
    return f"{path.stem} ({number}){path.suffix}"


def _visible(letter: str) -> str:
    if unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}:
        return f"‹U+{ord(letter):04X}›"
    return letter


def listed(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    if len(names) > MOST_NAMED:
        more = f" and {len(names) - MOST_NAMED:,} more"
    else:
        more = ""
    return ", ".join(names[:MOST_NAMED]) + more

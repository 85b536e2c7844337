"""Lists the kinds of files that can be read, and opens them.

A further kind needs a module with a class that opens it, and a row here.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Format",
    "format_of",
    "is_document",
    "is_named_like_a_document",
    "open_document",
]

# Bytes at the start of a file in which its sign is searched: PDFs may begin with something else.
LOOKED_THROUGH = 1_024


class Format(NamedTuple):
    """A kind of file.

    name: as users know it.
    suffixes: ends of the files' names, case-folded, with the dot.
    signs: bytes near the start by which such a file is recognised, in lower case.
    mime: the type that a browser is given, "" where a browser must only save the file, because it could run
        there.
    opener: "module:Class". The class takes a path and a password, has what PdfFile has, and is only imported
        in a reading process.
    """

    name: str
    suffixes: tuple[str, ...]
    signs: tuple[bytes, ...]
    mime: str
    opener: str


# The first kind also opens unknown files, because it says best what is wrong with a damaged one.
FORMATS = (Format("PDF", (".pdf",), (b"%pdf",), "application/pdf", "ingestion.reading.pdf:PdfFile"),)
SUFFIXES = tuple(suffix for known in FORMATS for suffix in known.suffixes)


def is_named_like_a_document(name: str | PurePath) -> bool:
    """Whether a file of this name may be one that can be read."""
    return PurePath(name).suffix.casefold() in SUFFIXES


def is_document(path: Path) -> bool:
    """Whether a file begins like one that can be read. Raises OSError."""
    return _known(path) is not None


def format_of(path: Path) -> Format:
    """The format of a file, by its first bytes; its name does not matter."""
    try:
        return _known(path) or FORMATS[0]
    except OSError:  # its reader will say what the user can do about it
        return FORMATS[0]


def open_document(path: Path, password: str | None = None) -> Any:
    """A file, opened to be read.

    Raises DocumentError where it cannot be read, EncryptedError where it needs a password.
    """
    module, _, name = format_of(path).opener.partition(":")
    return getattr(import_module(module), name)(path, password)


def _known(path: Path) -> Format | None:
    with path.open("rb") as file:
        start = file.read(LOOKED_THROUGH).lower()
    for known in FORMATS:
        if any(sign in start for sign in known.signs):
            return known
    return None

"""The kinds of files that can be read: a further kind is a module with a class that opens it, and a row
here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Format",
    "format_of",
    "is_document",
    "is_named_like_a_document",
    "open_document",
]

# Bytes at the start of a file in which its sign is looked for: PDFs may begin with something else.
LOOKED_THROUGH = 1_024


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. suffixes: ends of its files' names, case-folded, with the dot; signs: bytes near the
    start by which such a file is known, in lower case; mime: what a browser is told it is, "" for what a
    browser is only to save, as what could run there.

    opener: "module:Class"; the class is made from a path and a password, has what PdfFile has, and is
    imported in a reading process alone.
    """

    name: str
    suffixes: tuple[str, ...]
    signs: tuple[bytes, ...]
    mime: str
    opener: str


# The first one also gets what nobody knows, for it says best what is wrong with a damaged file.
FORMATS = (Format("PDF", (".pdf",), (b"%pdf",), "application/pdf", "ingestion.reading.pdf:PdfFile"),)
SUFFIXES = tuple(suffix for known in FORMATS for suffix in known.suffixes)


def is_named_like_a_document(name: str | PurePath) -> bool:
    """Whether a file of this name may be one that can be read."""
    return PurePath(name).suffix.casefold() in SUFFIXES


def is_document(path: Path) -> bool:
    """Whether a file begins as one that can be read does. Raises OSError."""
    return _known(path) is not None


def format_of(path: Path) -> Format:
    """The format of a file, by its first bytes; what it is called does not matter."""
    try:
        return _known(path) or FORMATS[0]
    except OSError:  # told by its reader, as what the file's user can do about it
        return FORMATS[0]


def open_document(path: Path, password: str | None = None) -> Any:
    """A file, opened to be read. Raises DocumentError where it cannot be, EncryptedError where it needs a
    password.
    """
    module, _, name = format_of(path).opener.partition(":")
    return getattr(import_module(module), name)(path, password)


def _known(path: Path) -> Format | None:
    with path.open("rb") as file:
        begun = file.read(LOOKED_THROUGH).lower()
    return next((known for known in FORMATS if any(sign in begun for sign in known.signs)), None)

"""The kinds of files that can be read, each with its reader: a further kind is a module with a reader, and a row here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from ingestion.document import CALM, Circumstances, Reading, read_document

__all__ = ["FORMATS", "SUFFIXES", "DocumentReader", "Format", "format_of", "is_named_like_a_document", "read_file"]

# All pages of a file. Raises DocumentError where it cannot be opened at all, and CancelledError; a page that cannot be read is a page with a problem.
DocumentReader = Callable[[Path, Circumstances], Reading]
# Bytes at the start of a file in which its sign is looked for: PDFs may begin with something else.
LOOKED_THROUGH = 1_024


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. suffixes: ends of its files' names, case-folded, with the dot; sign: bytes near the start by which such a file is known."""

    name: str
    suffixes: tuple[str, ...]
    sign: bytes
    read: DocumentReader


# The first one also gets what nobody knows, for its reader says best what is wrong with a damaged file.
FORMATS = (Format("PDF", (".pdf",), b"%PDF-", read_document),)
SUFFIXES = tuple(suffix for known in FORMATS for suffix in known.suffixes)


def is_named_like_a_document(name: str | PurePath) -> bool:
    """Whether a file of this name may be one that can be read."""
    return PurePath(name).suffix.casefold() in SUFFIXES


def format_of(path: Path) -> Format:
    """The format of a file, by its first bytes; what it is called does not matter."""
    try:
        with path.open("rb") as file:
            begun = file.read(LOOKED_THROUGH)
    except OSError:  # told by the reader, as what the file's user can do about it
        begun = b""
    return next((known for known in FORMATS if known.sign in begun), FORMATS[0])


def read_file(path: Path, how: Circumstances = CALM) -> Reading:
    """All pages of a file, by the reader of its format; see DocumentReader."""
    return format_of(path).read(path, how)

"""Libraries with a cheap embedder, and what tests ask of them again and again; knows no test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chatbot.store.library import AddResult, Library, Upload
from tests.engines import settings_at
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now

__all__ = ["add_pages", "embedded", "kept_pdfs", "open_library", "passages", "states"]


def open_library(home: Path, embedder: HashEmbedder | None = None, **settings: Any) -> Library:
    """The store of a home, to be closed."""
    return Library(settings_at(home, **settings), embedder or HashEmbedder())


def add_pages(library: Library, path: Path, pages: Sequence[str], name: str = "") -> AddResult:
    """Make a PDF and add it, under its own name unless another is given."""
    upload = Upload(make_pdf(path, pages), name)
    (result,) = add_now(library, [upload])
    return result


def embedded(library: Library) -> int:
    """How many texts its embedder has made vectors of."""
    assert isinstance(library.embedder, HashEmbedder)
    return library.embedder.calls


def states(library: Library) -> list[str]:
    """How far each of its documents is."""
    return [row.state for row in library.catalog.documents()]


def passages(library: Library) -> int:
    """How many passages the index of words holds, which are as many as have vectors."""
    words = library.indexes.keywords.count()
    assert library.indexes.vectors.count() == words
    return words


def kept_pdfs(home: Path) -> list[Path]:
    """The copies of documents that a home holds."""
    return list((home / "documents").glob("*.pdf"))

"""Puts the terms of documents on the disk, where those of a large store do not fit into memory."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.store.disk_reserve import disk_is_full
from chatbot.store.term_scores import DocumentTerms, Lexicon, Rows

__all__ = ["mapped"]

OF_LEXICON = [field.name for field in fields(Lexicon)]
OF_ROWS = [field.name for field in fields(Rows) if field.name != "lexicon"]
# Of the numbers in an array.
ALIGNED = 8


def mapped(terms: DocumentTerms, folder: Path) -> DocumentTerms:
    """Returns the same terms, in a file without a name that is read where and when it is needed.

    The system keeps in memory what of it is in use, and the file is gone when the terms are forgotten.

    folder: on the disk to use. Raises StoreError if that is full.
    """
    arrays = list(_arrays_of(terms))
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            for values in arrays:
                file.write(values.tobytes().ljust(_room(values), b"\0"))
            file.flush()
            there = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise disk_is_full(folder) from error
    found, start = list[NDArray[Any]](), 0
    for values in arrays:
        found.append(np.frombuffer(there, values.dtype, len(values), start))
        start += _room(values)
    return _terms_of(iter(found))


def _arrays_of(terms: DocumentTerms) -> Iterator[NDArray[Any]]:
    for lexicon in (terms.chunks, terms.pages, terms.rows.lexicon):
        for name in OF_LEXICON:
            yield np.asarray(getattr(lexicon, name))
    for name in OF_ROWS:
        yield np.asarray(getattr(terms.rows, name))


def _terms_of(arrays: Iterator[NDArray[Any]]) -> DocumentTerms:
    chunks, pages, rows = (Lexicon(**_named(OF_LEXICON, arrays)) for _ in range(3))
    return DocumentTerms(chunks, pages, Rows(lexicon=rows, **_named(OF_ROWS, arrays)))


def _named(names: list[str], arrays: Iterator[NDArray[Any]]) -> dict[str, Any]:
    return {name: next(arrays) for name in names}


def _room(values: NDArray[Any]) -> int:
    return -(-values.nbytes // ALIGNED) * ALIGNED

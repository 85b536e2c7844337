"""Puts the terms of documents on the disk, where those of a large store do not fit into memory."""

from __future__ import annotations

import mmap
import pickle
import tempfile
from itertools import accumulate
from pathlib import Path

from chatbot.store.disk_reserve import disk_is_full
from chatbot.store.term_scores import DocumentTerms

__all__ = ["mapped"]

# Of the numbers in an array.
ALIGNED = 8


def mapped(terms: DocumentTerms, folder: Path) -> DocumentTerms:
    """Returns the same terms, in a file without a name that is read where and when it is needed.

    The system keeps in memory what of it is in use, and the file is gone when the terms are forgotten.

    folder: on the disk to use. Raises StoreError if that is full.
    """
    buffers = list[pickle.PickleBuffer]()
    around = pickle.dumps(terms, protocol=5, buffer_callback=buffers.append)
    arrays = [bytes(buffer.raw()) for buffer in buffers]
    rooms = [-(-len(array) // ALIGNED) * ALIGNED for array in arrays]
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            for array, room in zip(arrays, rooms, strict=True):
                file.write(array.ljust(room, b"\0"))
            file.flush()
            there = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise disk_is_full(folder) from error
    starts = accumulate(rooms, initial=0)
    placed = [there[start : start + len(array)] for start, array in zip(starts, arrays, strict=False)]
    found: DocumentTerms = pickle.loads(around, buffers=placed)
    return found

"""Vectors of questions in a file beside the cases, so that each is made once; knows no case, and is made anew where it is lost."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chatbot.memory.cases.locked_files import LockedFile
from chatbot.search.fusion import embed_query, mean_vector, worth_searching
from chatbot.search.questions import subject_of
from chatbot.store.embedders import Embedder

__all__ = ["BATCH", "VectorFile", "question_vectors", "vector_key"]

Vectors = NDArray[np.float32]
KEY_BYTES = 16
# Enters each key, because another way to make a vector of a question makes another vector.
TEXT_VERSION = b"1\0"
# How far from 1 a unit row may be: what is further is no vector that an embedder made.
UNIT = 1e-2
# Questions embedded in one call and kept together, so that progress is seen, an endpoint's batch is used, and a stop loses seconds of work.
BATCH = 256


def vector_key(question: str) -> bytes:
    """What a question's vector is kept under."""
    return hashlib.sha256(TEXT_VERSION + question.encode("utf-8", "replace")).digest()[:KEY_BYTES]


def question_vectors(embedder: Embedder, questions: Sequence[str]) -> Vectors:
    """Unit rows (n, dimension), each as a question is embedded when it is asked: its subject, of a long one the mean over its pieces. Raises ModelError."""
    subjects = [subject_of(question) for question in questions]
    rows = np.zeros((len(subjects), embedder.dimension), np.float32)
    short = [at for at, text in enumerate(subjects) if len(embedder.split(text)) <= 1]
    if short:
        rows[short] = embedder.embed([subjects[one] for one in short])
    for one in sorted(set(range(len(subjects))).difference(short)):
        rows[one] = mean_vector(worth_searching(embed_query(embedder, subjects[one]).chunks))
    return rows


class VectorFile:
    """Records of a key and a float32 row, one after the other; of one embedder, whose fingerprint the file is named by."""

    def __init__(self, beside: Path, embedder: Embedder) -> None:
        """beside: the file of cases."""
        named = hashlib.sha256(embedder.fingerprint.encode()).hexdigest()[:12]
        self._record = np.dtype([("key", f"V{KEY_BYTES}"), ("row", "<f4", (embedder.dimension,))])
        self._file = LockedFile(beside.with_name(f"{beside.stem}-{named}.vectors"), what="the vectors of cases")

    @property
    def path(self) -> Path:
        return self._file.path

    def stamp(self) -> tuple[int, int, int]:
        """As LockedFile.stamp."""
        return self._file.stamp()

    def load(self) -> tuple[dict[bytes, int], Vectors]:
        """(key -> row, rows of shape (n, dimension)). Rows that are no unit vectors have no key. The rows are read from the file as they are used.

        Raises StoreError where it cannot be read.
        """
        with self._file.opened() as file:
            # Of the file that is open: another may have taken its place since.
            count = os.fstat(file.fileno()).st_size // self._record.itemsize if file else 0
            if not file or not count:
                return {}, np.zeros((0, *self._record["row"].shape), np.float32)
            try:
                records = np.memmap(file, self._record, "r", shape=(count,))
            except ValueError as error:  # cut short meanwhile
                raise OSError(errno.EIO, f"it was cut short while it was read ({error})") from error
        rows: Vectors = records["row"]
        with np.errstate(over="ignore", invalid="ignore"):
            sound = np.abs(np.einsum("ij,ij->i", rows, rows) - 1) < UNIT
        return {key: at for at, (key, good) in enumerate(zip(records["key"].tolist(), sound.tolist(), strict=True)) if good}, rows

    def append(self, keys: Sequence[bytes], rows: Vectors) -> None:
        """Keep a row for each key; of one that is kept already the newer counts. Raises StoreError."""
        if keys:
            self._file.append(self._pack(keys, rows), whole=self._record.itemsize)

    def keep_only(self, keys: Callable[[], Collection[bytes]]) -> None:
        """Erase the rows of all other keys. keys: called while nobody else can write here, so that it knows of all that was written. Raises StoreError."""

        def kept(held: bytes) -> bytes:
            wanted = frozenset(keys())
            whole = np.frombuffer(held, self._record, len(held) // self._record.itemsize)
            return whole[[key in wanted for key in whole["key"].tolist()]].tobytes()

        if self.stamp()[1]:
            self._file.rewrite(kept)

    def _pack(self, keys: Sequence[bytes], rows: Vectors) -> bytes:
        records = np.zeros(len(keys), self._record)
        records["key"] = np.frombuffer(b"".join(keys), f"V{KEY_BYTES}")
        records["row"] = rows
        return records.tobytes()

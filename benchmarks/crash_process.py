"""Runs the command line in a process that is to be killed.

On request it uses a cheap embedder. It writes each step to a log.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ingestion.document
from chatbot import service
from chatbot.cli import main
from chatbot.models.embedders import Embedder, make_embedder
from chatbot.settings import Settings
from chatbot.store import rebuilding
from chatbot.store.catalog import Catalog
from chatbot.store.indexing import Indexes
from chatbot.store.kept_copies import Copies
from chatbot.store.keyword_index import KeywordIndex
from chatbot.store.library import Library
from chatbot.store.sqlite_file import SqliteFile
from chatbot.store.vector_index import ChromaIndex
from ingestion.ocr.scan_languages import ENGLISH, ScanLanguages
from ingestion.reading.reader import Reader
from ingestion.records import Page, Rect

__all__ = ["NEVER", "STEPS", "Moment", "run_commands"]

# What is logged when it begins and when it ends: step -> (class, methods).
STEPS: dict[str, tuple[type, tuple[str, ...]]] = {
    "opening": (Library, ("_recover",)),
    "copying": (Copies, ("take",)),
    "naming": (Copies, ("write_beside",)),
    "noting": (Catalog, ("wait",)),
    "reading": (Reader, ("page",)),
    "drafting": (Catalog, ("keep_draft",)),
    "storing": (Catalog, ("begin", "fill")),
    "wording": (KeywordIndex, ("add", "remove")),
    "showing": (Catalog, ("searchable", "link", "restore")),
    "ceasing": (Catalog, ("end", "hold")),
    "embedding": (Catalog, ("add_vectors",)),
    "refilling": (Catalog, ("refill",)),
    "following": (Indexes, ("follow",)),
    "placing": (ChromaIndex, ("upsert", "trim", "remove", "drop_others")),
    "flipping": (Catalog, ("ready",)),
    "hiding": (Catalog, ("remove", "retire")),
    "erasing": (Catalog, ("erase", "erased")),
    "dropping": (Copies, ("drop",)),
    "aligning": (Indexes, ("align", "rebuild")),
    "rewording": (Indexes, ("_new_keywords",)),
    "compacting": (SqliteFile, ("compact",)),
    "closing": (Library, ("close",)),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """When a process kills itself: `pause` seconds after it has logged a line so many times."""

    line: str
    times: int = 1
    pause: float = 0.0


NEVER = Moment("")


class _Log:
    """Lines that outlive their process: each is one write to a file open for appending."""

    def __init__(self, path: Path, last: Moment) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._last, self._times = last, last.times
        self._lock = threading.Lock()

    def write(self, *words: object) -> None:
        line = " ".join(map(str, words))
        os.write(self._file, f"{line}\n".encode())
        with self._lock:
            self._times -= line == self._last.line
            if line == self._last.line and not self._times:
                if self._last.pause:
                    threading.Timer(self._last.pause, os.kill, (os.getpid(), signal.SIGKILL)).start()
                else:
                    os.kill(os.getpid(), signal.SIGKILL)


class _CountedEmbedder:
    """An embedder that logs how many bytes of vectors it is asked for."""

    def __init__(self, embedder: Embedder, log: _Log) -> None:
        self._embedder, self._log = embedder, log
        self.fingerprint, self.dimension, self.max_tokens = (
            embedder.fingerprint,
            embedder.dimension,
            embedder.max_tokens,
        )

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self._log.write("embedded", 4 * self.dimension * len(texts))
        return self._embedder.embed(texts, query=query)

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        return self._embedder.split(text, reserve=reserve)


def run_commands(
    commands: Sequence[tuple[Sequence[str], Path]], log: Path, *, cheap: bool, last: Moment = NEVER
) -> int:
    """Run commands one after the other in this process, each with its standard output in a file; the worst
    exit code. What is patched stays so: for a process that ends after it.

    log: gets "= COMMAND", "> STEP" and "< STEP" as they begin and end, "embedded BYTES" of vectors, "ocr FILE
    PAGE", and "kept FILE PAGE" when a page read by OCR is on the disk. cheap: without the embedded model.
    last: when the process ends by SIGKILL.
    """
    lines = _Log(log, last)
    for step, (kind, methods) in STEPS.items():
        for method in methods:
            setattr(kind, method, _logged(getattr(kind, method), step, lines))
    patches: list[tuple[object, str, object]] = [*_ocr_patches(lines)]
    for module in (service, rebuilding):  # both import it by name
        patches.append(
            (module, "make_embedder", lambda settings: _CountedEmbedder(_embedder(settings, cheap), lines))
        )
    for owner, name, new in patches:
        setattr(owner, name, new)
    worst = 0
    for arguments, output in commands:
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        lines.write("=", arguments[0])
        worst = max(worst, main(arguments))
        sys.stdout.flush()
    return worst


def _embedder(settings: Settings, cheap: bool) -> Embedder:
    from tests.fakes import HashEmbedder

    return HashEmbedder() if cheap else make_embedder(settings)


def _logged(call: Callable[..., Any], step: str, lines: _Log) -> Callable[..., Any]:
    def logged(*arguments: Any, **options: Any) -> Any:
        lines.write(">", step)
        result = call(*arguments, **options)
        lines.write("<", step)
        return result

    return logged


def _ocr_patches(lines: _Log) -> list[tuple[object, str, object]]:
    """(owner, name, what to put there) to log which pages of which files are read by OCR, and which are
    kept.
    """
    keep = Catalog.keep_draft

    class LoggedReader(Reader):
        """A reader that knows its file."""

        def __init__(self, path: Path, **options: Any) -> None:
            self._stem = path.stem
            super().__init__(path, **options)

        def ocr(self, number: int, languages: ScanLanguages = ENGLISH) -> Page:
            lines.write("> ocr")
            lines.write("ocr", self._stem, number)
            return super().ocr(number, languages)

        def pictures(self, page: Page, pictures: Sequence[Rect], languages: ScanLanguages = ENGLISH) -> Page:
            lines.write("ocr", self._stem, page.number)
            return super().pictures(page, pictures, languages)

    def kept(catalog: Catalog, sha256: str, page: Page, languages: str) -> None:
        keep(catalog, sha256, page, languages)
        lines.write("kept", sha256, page.number)

    return [(ingestion.document, "Reader", LoggedReader), (Catalog, "keep_draft", kept)]

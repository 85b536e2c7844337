"""Starts a reading process and sends it requests, with limits on time and size; parses no PDF itself.

Parent and child exchange length-prefixed JSON over pipes. The child gets a minimal environment (no keys), its
password by pipe, and its limits before PDFium loads.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any, Self

from ingestion.errors import CancelledError, DocumentError, EncryptedError, ReaderDiedError
from ingestion.reading.forkserver import Forked
from ingestion.reading.wire import AWAITED, page_from, page_to, write_message
from ingestion.records import DocumentInfo, Page, Rect

__all__ = ["LOOK_SECONDS", "Reader", "read_feed"]

# Seconds. The slowest real page measured takes 0.3 s to read, the slowest real file 1.5 s to open.
OPEN_SECONDS = 20.0
PAGE_SECONDS = 10.0
OCR_SECONDS = 60.0
LARGEST_MESSAGE = 256 * 2**20
# Seconds between two checks whether to stop.
LOOK_SECONDS = 0.25
# The name of a reader's folder of temporary files has the id of the process that made it, so that folders of
# killed processes can be found.
FOLDER = "finpolicy-reader-"
IN_MEMORY = Path("/dev/shm")


def _never() -> bool:
    return False


class _ReadingProcess:
    """One reading process. Calls from several threads take turns.

    The first takes 0.15 s to start, others 0.01 s.
    """

    def __init__(self, *, cancelled: Callable[[], bool] = _never, awaited: bool = False) -> None:
        """Raises DocumentError if it cannot be started; see Reader."""
        self._lock = threading.Lock()
        self._cancelled = cancelled
        # What tesseract leaves behind when it is killed goes with this folder.
        _sweep_once()
        try:
            self._folder = _temporary_folder()
            environment = {**_child_environment(), "TMPDIR": self._folder}
            self._process = Forked([AWAITED] if awaited else [], environment)
        except OSError as error:
            message = f"The PDF reader cannot start: {error.strerror}."
            hint = "Free memory and temporary disk space, then add it again."
            raise DocumentError(message, hint=hint, retryable=True) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request.

        Raises what the child raised, and ReaderDiedError where it died or took longer than `seconds`.
        """
        with self._lock:
            try:
                write_message(self._process.stdin, request)
                answer = _receive(self._process.stdout, time.monotonic() + seconds, self._cancelled)
            except CancelledError:
                self.close()
                raise
            except (OSError, EOFError, ValueError) as error:
                self.close()
                if isinstance(error, TimeoutError):
                    what = f"took longer than {seconds:.0f} seconds"
                else:
                    what = "made the reader fail or run out of memory"
                where = f"Page {request['page']}" if "page" in request else "Opening the file"
                raise ReaderDiedError(f"{where} {what}.", hint="Repair or re-export the PDF.") from None
        if "error" in answer:
            kind = EncryptedError if answer["kind"] == "EncryptedError" else DocumentError
            raise kind(answer["error"], hint=answer["hint"])
        return answer

    def close(self) -> None:
        """End the process; safe to call again."""
        self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def read_feed(data: bytes, seconds: float) -> dict[str, Any] | None:
    """What `feeds.parse_feed` makes of a feed, in a reading process.

    Raises ReaderDiedError where that takes more than so many seconds or too much memory, and DocumentError
    where no process can be started.
    """
    with _ReadingProcess() as process:
        request = {"op": "feed", "data": base64.b64encode(data).decode()}
        found: dict[str, Any] | None = process.call(request, seconds)["feed"]
        return found


class Reader(_ReadingProcess):
    """A reading process with one open PDF."""

    def __init__(
        self,
        path: Path,
        *,
        password: str | None = None,
        cancelled: Callable[[], bool] = _never,
        awaited: bool = False,
        most_pages: int = 0,
    ) -> None:
        """Open a PDF. Raises DocumentError, EncryptedError, CancelledError or ReaderDiedError.

        cancelled: called while waiting; true ends the process.
        awaited: whether someone waits for the answers, so that the process does not lower its priority.
        most_pages: how many pages the file may have, 0 for any number.
        """
        super().__init__(cancelled=cancelled, awaited=awaited)
        try:
            request = {"op": "open", "path": str(path.resolve()), "password": password, "most": most_pages}
            pages, title, labels, encrypted = self.call(request, OPEN_SECONDS)["info"]
            self.info = DocumentInfo(pages, title, tuple(labels), encrypted)
        except BaseException:
            self.close()
            raise

    def text(self, number: int) -> tuple[Page, bool]:
        """Page `number` (physical, 1-based) as its text layer has it, and whether its image must be read
        because that is no text.
        """
        answer = self.call({"op": "text", "page": number}, PAGE_SECONDS)
        return page_from(answer["read"]), bool(answer["unread"])

    def page(self, number: int) -> tuple[Page, bool, tuple[Rect, ...]]:
        """The same with its tables, and where it has pictures that may hold text."""
        answer = self.call({"op": "page", "page": number}, PAGE_SECONDS)
        pictures = tuple(Rect(*box) for box in answer["pictures"])
        return page_from(answer["read"]), bool(answer["unread"]), pictures

    def ocr(self, number: int) -> Page:
        """Page `number` read from its image; method "none" where it shows nothing that could be text."""
        answer = self.call({"op": "ocr", "page": number}, OCR_SECONDS)
        return page_from(answer["read"])

    def pictures(self, page: Page, pictures: Sequence[Rect]) -> Page:
        """The page with the text of its pictures after its own; unchanged where they have none."""
        boxes = list(map(astuple, pictures))
        request = {"op": "pictures", "page": page.number, "read": page_to(page), "boxes": boxes}
        return page_from(self.call(request, OCR_SECONDS)["read"])

    def outline(self) -> list[tuple[str, int, int]]:
        """(title, page, depth from 0) of the file's own bookmarks; [] where it has none."""
        answer = self.call({"op": "outline"}, PAGE_SECONDS)
        return [(str(title), int(page), int(depth)) for title, page, depth in answer["outline"]]

    def repeats(self) -> dict[int, int]:
        """Pages that the file has before, with the number of the first: both show the same."""
        answer = self.call({"op": "repeats"}, PAGE_SECONDS)
        return {int(number): int(first) for number, first in answer["repeats"]}

    def glyphs(self, number: int) -> list[tuple[str, Rect]]:
        """Characters of page `number` with their boxes, in text order."""
        answer = self.call({"op": "glyphs", "page": number}, PAGE_SECONDS)
        return [(text, Rect(*box)) for text, box in answer["glyphs"]]

    def png(self, number: int, *, dpi: int = 110) -> bytes:
        """Page `number` as a PNG."""
        answer = self.call({"op": "png", "page": number, "dpi": dpi}, PAGE_SECONDS * 2)
        return base64.b64decode(answer["png"])


def _temporary_folder() -> str:
    """A new folder for temporary files, in memory where their disk is full.

    Text and page images need no such files, and tesseract only small ones.
    """
    prefix = f"{FOLDER}{os.getpid()}-"
    try:
        return tempfile.mkdtemp(prefix=prefix)
    except OSError:
        if not os.access(IN_MEMORY, os.W_OK):
            raise
        return tempfile.mkdtemp(prefix=prefix, dir=IN_MEMORY)


@cache
def _sweep_once() -> None:
    """Delete the folders of temporary files that killed processes left: a page image could be in one."""
    with contextlib.suppress(OSError):  # no place for temporary files at all
        _sweep_in(Path(tempfile.gettempdir()))
    _sweep_in(IN_MEMORY)


def _sweep_in(place: Path) -> None:
    for folder in place.glob(f"{FOLDER}*"):
        owner = folder.name.removeprefix(FOLDER).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _child_environment() -> dict[str, str]:
    names = ("PATH", "TMPDIR", "TESSDATA_PREFIX", "LD_LIBRARY_PATH")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}


def _receive(pipe: Any, deadline: float, cancelled: Callable[[], bool]) -> dict[str, Any]:
    """The next message from a pipe.

    Raises TimeoutError past `deadline` (monotonic), CancelledError, EOFError where the child is gone, and
    ValueError where the data is no message.
    """
    (size,) = struct.unpack(">I", _read_exactly(pipe, 4, deadline, cancelled))
    if size > LARGEST_MESSAGE:
        raise ValueError("message too large")
    message = json.loads(_read_exactly(pipe, size, deadline, cancelled))
    if not isinstance(message, dict):
        raise ValueError("not an object")
    return message


def _read_exactly(pipe: Any, size: int, deadline: float, cancelled: Callable[[], bool]) -> bytes:
    parts: list[bytes] = []
    while size:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([pipe], [], [], max(0.0, min(left, LOOK_SECONDS)))
        if ready:
            data = os.read(pipe.fileno(), min(size, 1 << 20))
            if not data:
                raise EOFError
            parts.append(data)
            size -= len(data)
        elif left <= 0:
            raise TimeoutError
        elif cancelled():
            raise CancelledError("Cancelled.")
    return b"".join(parts)

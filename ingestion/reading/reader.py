"""Starts a reading process and sends it requests, with limits on time and size; parses no PDF itself.

Parent and child exchange lines of JSON. The child has a minimal environment (no keys), gets its password by
pipe, and has its limits before it opens the file.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from functools import cache
from itertools import chain
from pathlib import Path

from ingestion.errors import (
    CancelledError,
    DocumentError,
    EncryptedError,
    MissingProgramError,
    ReaderDiedError,
)
from ingestion.ocr.scan_languages import ENGLISH, ScanLanguages
from ingestion.reading.forkserver import Forked
from ingestion.reading.formats import MADE
from ingestion.reading.wire import Json, page_from, page_to
from ingestion.records import DocumentInfo, Page, Rect

__all__ = ["LOOK_SECONDS", "Reader", "made_pdf", "read_feed"]

# Seconds. The slowest real page measured takes 0.3 s to read, the slowest real file 1.5 s to open.
OPEN_SECONDS = 20.0
PAGE_SECONDS = 10.0
OCR_SECONDS = 60.0
# For a PDF of a file of another kind: LibreOffice takes 3 s to start, and up to 0.2 s a page.
MAKE_SECONDS = 180.0
REPAIR = "Repair or re-export the PDF."
LARGEST_MESSAGE = 256 * 2**20
# Seconds between two checks whether to stop.
LOOK_SECONDS = 0.25
# The name of a reader's folder of temporary files has the id of the process that made it, so that folders of
# killed processes can be found.
FOLDER = "finpolicy-reader-"
IN_MEMORY = Path("/dev/shm")
_RAISED = {kind.__name__: kind for kind in (EncryptedError, MissingProgramError)}


class Reader:
    """One reading process with one open PDF. Calls from several threads take turns.

    The first takes 0.15 s to start, others 0.01 s. seconds: of a core that it took so far.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        password: str | None = None,
        cancelled: Callable[[], bool] = bool,
        most_pages: int = 0,
    ) -> None:
        """Open a PDF. Raises DocumentError, EncryptedError, CancelledError or ReaderDiedError.

        path: None where only a feed is to be read.
        cancelled: called while waiting; true ends the process.
        most_pages: how many pages the file may have, 0 for any number.
        """
        self._lock, self.seconds = threading.Lock(), 0.0
        self._cancelled = cancelled
        # What tesseract leaves behind when it is killed goes with this folder.
        _sweep_once()
        try:
            self.folder = Path(_temporary_folder())
            self._process = Forked(_child_environment(), str(self.folder))
        except OSError as error:
            message = f"The PDF reader cannot start: {error.strerror}."
            hint = "Free memory and temporary disk space, then add it again."
            raise DocumentError(message, hint=hint, retryable=True) from error
        if path is None:
            return
        request = {"path": str(path.resolve()), "password": password, "most": most_pages}
        try:
            pages, title, labels, encrypted = self.call({"op": "open", **request}, OPEN_SECONDS)["info"]
            self.info = DocumentInfo(pages, title, tuple(labels), encrypted)
        except BaseException:
            self.close()
            raise

    def page(self, number: int, *, tables: bool = True) -> tuple[Page, bool, tuple[Rect, ...]]:
        """Page `number` (physical, 1-based) as its text layer has it, whether its image must be read because
        that is no text, and where it has pictures that may hold text. tables: False for its text alone.
        """
        answer = self.call({"op": "page", "page": number, "tables": tables}, PAGE_SECONDS)
        pictures = tuple(Rect(*box) for box in answer["pictures"])
        return page_from(answer["read"]), bool(answer["unread"]), pictures

    def ocr(self, number: int, languages: ScanLanguages = ENGLISH) -> Page:
        """Page `number` read from its image; method "none" where it shows nothing that could be text."""
        answer = self.call({"op": "ocr", "page": number, "languages": languages}, OCR_SECONDS)
        return page_from(answer["read"])

    def pictures(self, page: Page, pictures: Sequence[Rect], languages: ScanLanguages = ENGLISH) -> Page:
        """The page with the text of its pictures after its own; unchanged where they have none."""
        boxes = list(map(astuple, pictures))
        request = {"op": "pictures", "page": page.number, "read": page_to(page), "boxes": boxes}
        return page_from(self.call({**request, "languages": languages}, OCR_SECONDS)["read"])

    def outline(self) -> list[tuple[str, int, int]]:
        """(title, page, depth from 0) of the file's own bookmarks; [] where it has none."""
        answer = self.call({"op": "outline"}, PAGE_SECONDS)
        return [(str(title), int(page), int(depth)) for title, page, depth in answer["told"]]

    def attached(self, numbers: Sequence[int]) -> list[tuple[str, Path]]:
        """(name, path) of the documents that the file and these of its pages carry. The files are there until
        the reader is closed."""
        request = {"op": "attached", "pages": list(numbers), "folder": str(self.folder)}
        return [(str(name), Path(path)) for name, path in self.call(request, OPEN_SECONDS)["told"]]

    def firsts(self) -> list[int]:
        """Of each page the number of the first that shows the same; [] where that cannot be told."""
        return list(map(int, self.call({"op": "firsts"}, PAGE_SECONDS)["told"]))

    def glyphs(self, number: int) -> list[tuple[str, Rect]]:
        """Characters of page `number` with their boxes, in text order."""
        answer = self.call({"op": "glyphs", "page": number}, PAGE_SECONDS)
        return [(text, Rect(*box)) for text, box in answer["glyphs"]]

    def png(self, number: int, *, dpi: int = 110) -> bytes:
        """Page `number` as a PNG."""
        answer = self.call({"op": "png", "page": number, "dpi": dpi}, PAGE_SECONDS * 2)
        return base64.b64decode(answer["png"])

    def chart(self, number: int, tables: Sequence[Rect], *, scanned: bool) -> bytes:
        """Page `number` as a JPEG of at most 1.1 megapixels, if it has a chart or a picture beside these
        tables; else b"". scanned: whether the page itself is an image, which then counts.
        """
        boxes = list(map(astuple, tables))
        request = {"op": "chart", "page": number, "boxes": boxes, "scanned": scanned}
        return base64.b64decode(self.call(request, PAGE_SECONDS * 2)["jpeg"])

    def call(self, request: Json, seconds: float) -> Json:
        """The answer to a request.

        Raises what the child raised, and ReaderDiedError where it died or took longer than `seconds`.
        """
        with self._lock:
            try:
                self._process.pipe.settimeout(seconds)
                self._process.pipe.sendall(json.dumps(request).encode() + b"\n")
                answer = self._received(time.monotonic() + seconds)
            except CancelledError:
                self.close()
                raise
            except (OSError, EOFError, ValueError, TypeError) as error:
                self.close()
                if isinstance(error, TimeoutError):
                    what = f"took longer than {seconds:.0f} seconds"
                else:
                    what = "made the reader fail or run out of memory"
                where = f"Page {request['page']}" if "page" in request else "Opening the file"
                hint = "Save it as a PDF, or split it, and add that." if "target" in request else REPAIR
                raise ReaderDiedError(f"{where} {what}.", hint=hint) from None
        self.seconds = float(answer.get("seconds", self.seconds))
        if "error" in answer:
            kind = _RAISED.get(answer["kind"], DocumentError)
            raise kind(answer["error"], hint=answer["hint"])
        return answer

    def _received(self, deadline: float) -> Json:
        """The next answer. Raises TimeoutError past `deadline` (monotonic), CancelledError, EOFError where
        the child is gone, and ValueError where what it says is no answer."""
        data = bytearray()
        while not data.endswith(b"\n"):
            if select.select([self._process.pipe], [], [], LOOK_SECONDS)[0]:
                more = self._process.pipe.recv(1 << 20)
                if not more:
                    raise EOFError
                data += more
            elif self._cancelled():
                raise CancelledError("Cancelled.")
            if time.monotonic() > deadline:
                raise TimeoutError
            if len(data) > LARGEST_MESSAGE:
                raise ValueError("message too large")
        return dict(json.loads(data))

    def close(self) -> None:
        """End the process; safe to call again."""
        self._process.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_feed(data: bytes, seconds: float) -> Json:
    """What `worker.parse_feed` makes of a feed, in a reading process.

    Raises ReaderDiedError where that takes more than so many seconds or too much memory, and DocumentError
    where no process can be started.
    """
    with Reader(None) as reader:
        return reader.call({"op": "feed", "data": base64.b64encode(data).decode()}, seconds)


@contextmanager
def made_pdf(
    path: Path,
    name: str,
    *,
    password: str | None = None,
    cancelled: Callable[[], bool] = bool,
    soffice: str = "",
) -> Iterator[Path]:
    """A PDF of a file of a kind that has a maker, there until the context ends; see `formats`.

    name: as its user calls it. soffice: the program of LibreOffice, "" for the one on PATH.

    Raises as Reader does.
    """
    with Reader(None, cancelled=cancelled) as reader:
        target = reader.folder / f"pages{MADE}"
        request = {"op": "make", "path": str(path.resolve()), "target": str(target), "name": name}
        reader.call({**request, "password": password, "soffice": soffice}, MAKE_SECONDS)
        yield target


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
    places = [IN_MEMORY]
    with contextlib.suppress(OSError):  # no place for temporary files at all
        places.append(Path(tempfile.gettempdir()))
    for folder in chain.from_iterable(place.glob(f"{FOLDER}*") for place in places):
        owner = folder.name.removeprefix(FOLDER).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _child_environment() -> dict[str, str]:
    names = ("PATH", "TMPDIR", "TESSDATA_PREFIX", "LD_LIBRARY_PATH")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}

"""Reads foreign bytes in separate processes with limits on time and memory; nothing of a PDF is parsed in the caller's process.

Parent and child speak length-prefixed JSON over pipes. The child gets a minimal environment (no keys), its password by pipe,
and its limits before PDFium loads. A dead or stuck child costs one page: the next page is read by a new one.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from ingestion.errors import CancelledError, DocumentError, EncryptedError, ReaderDiedError
from ingestion.labels import page_labels, running_lines, running_spans
from ingestion.records import DocumentInfo, Page, Rect, Word
from ingestion.text_quality import is_contents, join_line_breaks, needs_reading_again, vocabulary

__all__ = ["Reader", "Reading", "read_document"]

ROOT = Path(__file__).resolve().parent.parent
# Address space of a reading process: a 40-megapixel raster, its greyscale copy and tesseract fit; no reader may pass 1.5 GB.
MEMORY_LIMIT = 1_500 * 2**20
LARGEST_TEMPORARY_FILE = 500 * 2**20
# Seconds. The slowest real page measured takes 0.3 s to read, the slowest real file 1.5 s to open.
OPEN_SECONDS = 20.0
PAGE_SECONDS = 10.0
OCR_SECONDS = 60.0
OCR_DPI = 300
# A second reading replaces the first only where it has this many times its letters.
CLEARLY_MORE = 1.2
# A file that ends its reader so often is made to; a file with more text than ten times the longest budget volumes is no document.
MOST_DEATHS = 5
MOST_CHARACTERS = 50_000_000
GIVEN_UP = "The file made the reader fail too often, or has too much text; this page was not read."
LARGEST_MESSAGE = 256 * 2**20
Progress = Callable[[str, int, int], None]
# However many documents are read at once, no more pages than there are cores are in OCR together.
_OCR_PLACES = threading.BoundedSemaphore(len(os.sched_getaffinity(0)))
# Seconds between two looks at whether to stop.
LOOK_SECONDS = 0.25


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as read: every page is there, in physical order, the unreadable ones with their problem."""

    info: DocumentInfo
    pages: tuple[Page, ...]


class Reader:
    """One reading process holding one open PDF. Start-up 0.15 s. Calls from several threads take turns."""

    def __init__(self, path: Path, *, password: str | None = None, cancelled: Callable[[], bool] = _never) -> None:
        """cancelled: asked while waiting; true ends the process. Raises DocumentError, EncryptedError, CancelledError or ReaderDiedError."""
        self._lock = threading.Lock()
        self._cancelled = cancelled
        # What tesseract leaves behind when it is killed goes with this folder.
        self._folder = tempfile.mkdtemp(prefix="reader-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ingestion.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={**_child_environment(), "TMPDIR": self._folder},
            start_new_session=True,  # an interrupt at the keyboard is the parent's to handle, and tesseract dies with its reader
        )
        try:
            self.info = _info(self.call({"op": "open", "path": str(path.resolve()), "password": password}, OPEN_SECONDS))
        except BaseException:
            self.close()
            raise

    def text(self, number: int) -> tuple[str, str]:
        """(normalised text, method) of page `number`, physical, 1-based."""
        answer = self.call({"op": "text", "page": number}, PAGE_SECONDS)
        return str(answer["text"]), str(answer["method"])

    def ocr(self, number: int) -> Page:
        """Page `number` read from its image; method "none" where the page shows nothing that could be text."""
        answer = self.call({"op": "ocr", "page": number}, OCR_SECONDS)
        words = tuple(Word(text, Rect(*box), confidence) for text, box, confidence in answer["words"])
        return Page(number, answer["text"], method=answer["method"], confidence=answer["confidence"], words=words)

    def glyphs(self, number: int) -> list[tuple[str, Rect]]:
        """Characters of page `number` with their boxes, in text order."""
        return [(text, Rect(*box)) for text, box in self.call({"op": "glyphs", "page": number}, PAGE_SECONDS)["glyphs"]]

    def png(self, number: int, *, dpi: int = 110) -> bytes:
        """Page `number` as a PNG."""
        return base64.b64decode(self.call({"op": "png", "page": number, "dpi": dpi}, PAGE_SECONDS * 2)["png"])

    def call(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """One request and its answer. Raises what the child raised, ReaderDiedError where it died or took longer than `seconds`."""
        with self._lock:
            assert self._process.stdin and self._process.stdout
            try:
                _send(self._process.stdin, request)
                answer = _receive(self._process.stdout, time.monotonic() + seconds, self._cancelled)
            except CancelledError:
                self.close()
                raise
            except TimeoutError:
                self.close()
                raise ReaderDiedError(_where(request, f"took longer than {seconds:.0f} seconds"), hint="Repair or re-export the PDF.") from None
            except (OSError, EOFError, ValueError):
                self.close()
                raise ReaderDiedError(_where(request, "made the reader fail or run out of memory"), hint="Repair or re-export the PDF.") from None
        if "error" in answer:
            kind = EncryptedError if answer["kind"] == "EncryptedError" else DocumentError
            raise kind(answer["error"], hint=answer["hint"])
        return answer

    def close(self) -> None:
        """End the process; safe to call again."""
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_document(
    path: Path,
    *,
    password: str | None = None,
    processes: int = 2,
    progress: Progress = lambda phase, done, total: None,
    cancelled: Callable[[], bool] = _never,
) -> Reading:
    """All pages of `path`: text first, then OCR of the pages without usable text, `processes` at a time.

    progress(phase, done, total): phase "reading" or "ocr". Raises DocumentError where the file cannot be opened at all, and
    CancelledError; a page that cannot be read is a page with a problem.
    """
    info, pages = _read_texts(path, password, progress, cancelled)
    again = [page.number for page in pages if page.problem != GIVEN_UP and (page.problem is not None or needs_reading_again(page.text))]
    if again:
        second = _read_images(path, password, again, processes, progress, cancelled)
        pages = [_better(page, second[page.number]) if page.number in second else page for page in pages]
    words = vocabulary([page.text for page in pages])
    pages = [replace(page, text=join_line_breaks(page.text, words)) for page in pages]
    texts = [page.text for page in pages]
    labels, running = page_labels(texts, info.labels), running_lines(texts)
    finished = (
        replace(page, label=label, label_source=source, running=running_spans(page.text, running), contents=is_contents(page.text))
        for page, (label, source) in zip(pages, labels, strict=True)
    )
    return Reading(info, tuple(finished))


def _read_texts(path: Path, password: str | None, progress: Progress, cancelled: Callable[[], bool]) -> tuple[DocumentInfo, list[Page]]:
    reader = Reader(path, password=password, cancelled=cancelled)
    info, pages = reader.info, list[Page]()
    deaths = characters = 0
    try:
        for number in range(1, info.pages + 1):
            if cancelled():
                raise CancelledError("Cancelled.")
            if deaths >= MOST_DEATHS or characters > MOST_CHARACTERS:
                pages.append(Page(number, "", method="none", problem=GIVEN_UP))
                continue
            try:
                text, method = reader.text(number)
                characters += len(text)
                pages.append(Page(number, text, method=method))
            except CancelledError:
                raise
            except DocumentError as error:
                pages.append(Page(number, "", method="none", problem=error.message))
                if isinstance(error, ReaderDiedError):
                    deaths += 1
                    reader = Reader(path, password=password, cancelled=cancelled)
            progress("reading", number, info.pages)
    finally:
        reader.close()
    return info, pages


def _read_images(
    path: Path, password: str | None, numbers: Sequence[int], processes: int, progress: Progress, cancelled: Callable[[], bool]
) -> dict[int, Page]:
    """number -> page as read from its image, or with the problem that stopped it."""
    local, readers = threading.local(), []
    done: dict[int, Page] = {}
    deaths: list[int] = []

    def read(number: int) -> None:
        if cancelled():
            return
        if len(deaths) >= MOST_DEATHS:
            done[number] = Page(number, "", method="none", problem=GIVEN_UP)
            return
        try:
            with _OCR_PLACES:
                if getattr(local, "reader", None) is None:
                    local.reader = Reader(path, password=password, cancelled=cancelled)
                    readers.append(local.reader)
                done[number] = local.reader.ocr(number)
        except DocumentError as error:
            done[number] = Page(number, "", method="none", problem=error.message)
            if isinstance(error, ReaderDiedError):
                deaths.append(number)
                local.reader = None
        progress("ocr", len(done), len(numbers))

    try:
        with ThreadPoolExecutor(max_workers=max(1, min(processes, len(numbers)))) as pool:
            list(pool.map(read, numbers))
    finally:
        for reader in readers:
            reader.close()
    if cancelled():
        raise CancelledError("Cancelled.")
    return done


def _better(first: Page, second: Page) -> Page:
    """The reading with clearly more letters; the text layer wins a tie, a problem loses to anything readable."""
    if first.problem is not None and second.problem is not None:
        return first
    if second.method == "none" and first.problem is None:
        return first if first.text.strip() or second.problem is None else replace(first, problem=second.problem, method="none")
    broken = first.problem is not None or (needs_reading_again(first.text) and len(first.text) > len(second.text))
    letters = [sum(map(str.isalnum, page.text)) for page in (first, second)]
    return second if letters[1] > letters[0] * CLEARLY_MORE or (broken and letters[1] > 0) else first


def _info(answer: dict[str, Any]) -> DocumentInfo:
    return DocumentInfo(answer["pages"], answer["title"], tuple(answer["labels"]), answer["encrypted"])


def _where(request: dict[str, Any], what: str) -> str:
    return f"Page {request['page']} {what}." if "page" in request else f"Opening the file {what}."


def _child_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "TESSDATA_PREFIX", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}


def _send(pipe: Any, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    pipe.write(struct.pack(">I", len(data)) + data)
    pipe.flush()


def _receive(pipe: Any, deadline: float, cancelled: Callable[[], bool]) -> dict[str, Any]:
    """Raises TimeoutError past `deadline` (monotonic), CancelledError, EOFError where the child is gone, ValueError on nonsense."""
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


# --- the child -------------------------------------------------------------------------------------------------------------


def _limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_TEMPORARY_FILE, LARGEST_TEMPORARY_FILE))


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    from ingestion.pdf import PdfFile

    opened: PdfFile | None = None
    while header := requests.read(4):
        request = json.loads(requests.read(struct.unpack(">I", header)[0]))
        try:
            if request["op"] == "open":
                opened = PdfFile(Path(request["path"]), request["password"])
                info = opened.info()
                answer: dict[str, Any] = {"pages": info.pages, "title": info.title, "labels": info.labels, "encrypted": info.encrypted}
            else:
                assert opened is not None
                answer = _ANSWERS[request["op"]](opened, request)
        except DocumentError as error:
            answer = {"error": error.message, "hint": error.hint, "kind": type(error).__name__}
        except MemoryError:
            answer = {"error": "The page needs more memory than a reader may take.", "hint": "Re-export the PDF.", "kind": "DocumentError"}
        _send(answers, answer)


def _answer_text(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    text, method = file.text(request["page"])
    return {"text": text, "method": method}


def _answer_ocr(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    from ingestion.ocr import read_image

    if not file.may_show_text(request["page"]):
        return {"text": "", "method": "none", "confidence": None, "words": []}
    reading = read_image(file.image(request["page"], OCR_DPI))
    words = [(word.text, _box(word.box), word.confidence) for word in reading.words]
    return {"text": reading.text, "method": "ocr" if words else "none", "confidence": reading.confidence if words else None, "words": words}


def _answer_glyphs(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    return {"glyphs": [(text, _box(box)) for text, box in file.glyphs(request["page"])]}


def _answer_png(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    import io

    buffer = io.BytesIO()
    file.image(request["page"], request["dpi"]).save(buffer, "PNG")
    return {"png": base64.b64encode(buffer.getvalue()).decode()}


def _box(box: Rect) -> tuple[float, float, float, float]:
    return (round(box.x0, 5), round(box.y0, 5), round(box.x1, 5), round(box.y1, 5))


_ANSWERS = {"text": _answer_text, "ocr": _answer_ocr, "glyphs": _answer_glyphs, "png": _answer_png}


def main() -> None:
    """Serve one parent until its pipe closes. Whatever libraries print goes nowhere, so that it cannot garble the answers."""
    _limit()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()

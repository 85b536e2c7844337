"""Runs the reading process: opens one foreign file and answers questions about its pages, or reads a feed,
under limits.

The process has no keys, and foreign files are parsed nowhere else. It serves one parent (see `reader`) until
its pipe closes.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ingestion.errors import DocumentError
from ingestion.ocr.text_quality import needs_reading_again
from ingestion.reading.feeds import parse_feed
from ingestion.reading.forkserver import serve
from ingestion.reading.formats import open_document
from ingestion.reading.wire import AWAITED, box_to, page_from, page_to, write_message
from ingestion.records import Line, Page, Rect, Word

__all__ = ["answer", "main"]

ENDS = (".", "!", "?")

# Address space of a reading process: a 40-megapixel raster, its greyscale copy and tesseract fit; no reader
# may pass 1.5 GB.
MEMORY_LIMIT = 1_500 * 2**20
LARGEST_TEMPORARY_FILE = 500 * 2**20
NICENESS = 10
# For a page's image, which must pass a pipe: half the size of an uncompressed one, in a third of the time of
# zlib's default.
PNG_LEVEL = 2


def _limit(*, awaited: bool) -> None:
    import resource

    if not awaited:  # whoever asks a question meanwhile takes precedence
        os.nice(NICENESS)

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_TEMPORARY_FILE, LARGEST_TEMPORARY_FILE))


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    opened: Any = None
    while header := requests.read(4):
        (length,) = struct.unpack(">I", header)
        request = json.loads(requests.read(length))
        try:
            if request["op"] == "open":
                opened = open_document(Path(request["path"]), request["password"])
                _refuse_long(opened.count, request["most"])
                answered: dict[str, Any] = {"info": astuple(opened.info())}
            elif request["op"] == "feed":
                answered = {"feed": parse_feed(base64.b64decode(request["data"]))}
            else:
                assert opened is not None
                answered = answer(opened, request)
        except DocumentError as error:
            answered = {"error": error.message, "hint": error.hint, "kind": type(error).__name__}
        except MemoryError:
            answered = {
                "error": "The page needs too much memory.",
                "hint": "Re-export the PDF.",
                "kind": "DocumentError",
            }
        write_message(answers, answered)


def _refuse_long(pages: int, most: int) -> None:
    """Raise DocumentError where a file has more pages than it may; `most` is 0 for any number."""
    if 0 < most < pages:
        raise DocumentError(
            f"The file has {pages:,} pages, and at most {most:,} are read.",
            hint="Split it, or set FINPOLICY_MAX_PAGES to more.",
        )


def _answer_text(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    number = request["page"]
    text, method, lines = file.text(number)
    page = _completed(file, Page(number, text, method=method, lines=tuple(lines)))
    return {"read": page_to(page), "unread": needs_reading_again(text)}


def _answer_page(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    from ingestion.reading.layout import lines_of
    from ingestion.tables.detection import find_tables

    number = request["page"]
    text, method, words = file.words(number)
    tables = find_tables(text, words, partial(file.rules, number))
    lines = lines_of(text, words)
    page = _completed(file, Page(number, text, method=method, lines=lines, tables=tuple(tables)))
    pictures = [box_to(box) for box in file.pictures(number)]
    return {"read": page_to(page), "unread": needs_reading_again(text), "pictures": pictures}


def _answer_ocr(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    from ingestion.ocr.recognition import read_image, tables_of
    from ingestion.reading.layout import lines_of

    number = request["page"]
    nothing = {"read": page_to(_completed(file, Page(number, "", method="none")))}
    if not file.may_show_text(number):
        return nothing
    reading = read_image(_reading_image(file, number))
    if not reading.words:
        return nothing
    text, words = reading.text, reading.words
    page = Page(number, text, method="ocr", confidence=reading.confidence, words=words)
    tables = tables_of(text, words, reading.turned)
    return {"read": page_to(_completed(file, replace(page, lines=lines_of(text, words), tables=tables)))}


def _completed(file: Any, page: Page) -> Page:
    """The page with what it says beside its text layer, and what its readers should know."""
    text, lines, words = page.text.rstrip(), [*page.lines], [*page.words]
    for said, place in file.additions(page.number):
        # Each is a paragraph and a sentence of its own, or it would be read together with the next.
        start = len(text) + 2
        text = f"{text}\n\n{said}" + ("" if said.endswith(ENDS) else ".")
        lines.append(Line(start, len(text), place))
        if page.words:
            words.append(Word(said, place, None, start, len(text)))
    if len(lines) == len(page.lines):
        text = page.text
    remarks = tuple(file.remarks(page.number))
    return replace(page, text=text, lines=tuple(lines), words=tuple(words), remarks=remarks)


def _answer_pictures(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    from ingestion.ocr.recognition import read_pictures

    page = page_from(request["read"])
    pictures = [Rect(*box) for box in request["boxes"]]
    image = _reading_image(file, page.number)
    return {"read": page_to(read_pictures(page, image, pictures))}


def _reading_image(file: Any, number: int) -> Any:
    """The image of a page at the resolution at which it is to be read."""
    return file.image(number, file.reading_dpi(number))


def _answer_glyphs(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    glyphs = file.glyphs(request["page"])
    return {"glyphs": [(text, box_to(box)) for text, box in glyphs]}


def _answer_png(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    import io

    buffer = io.BytesIO()
    image = file.image(request["page"], request["dpi"])
    image.save(buffer, "PNG", compress_level=PNG_LEVEL)
    return {"png": base64.b64encode(buffer.getvalue()).decode()}


def _answer_outline(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    return {"outline": file.outline()}


def _answer_repeats(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    return {"repeats": list(file.repeats().items())}


_ANSWERS = {
    "repeats": _answer_repeats,
    "outline": _answer_outline,
    "text": _answer_text,
    "page": _answer_page,
    "ocr": _answer_ocr,
    "pictures": _answer_pictures,
    "glyphs": _answer_glyphs,
    "png": _answer_png,
}


def answer(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of an open file to a request, as it is sent through the pipe. Raises DocumentError."""
    return _ANSWERS[request["op"]](file, request)


def _work(words: Sequence[str]) -> None:
    """Serve one parent until its pipe closes.

    What libraries print is discarded, so that it cannot garble the answers.
    """
    _limit(awaited=AWAITED in words)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _serve(sys.stdin.buffer, answers)


def main() -> None:
    """Fork a reading process whenever one is asked for."""
    serve(_work)

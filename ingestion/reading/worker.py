"""The reading process: opens one foreign file and answers questions about its pages, under limits and without
keys.

Nothing of it is parsed anywhere else. It serves one parent (see `reader`) until its pipe closes.
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
from ingestion.reading.forkserver import serve
from ingestion.reading.formats import open_document
from ingestion.reading.wire import AWAITED, box_to, page_from, page_to, write_message
from ingestion.records import Page, Rect

__all__ = ["answer", "main"]

# Address space of a reading process: a 40-megapixel raster, its greyscale copy and tesseract fit; no reader
# may pass 1.5 GB.
MEMORY_LIMIT = 1_500 * 2**20
LARGEST_TEMPORARY_FILE = 500 * 2**20
NICENESS = 10
# Of a page's image, which goes through a pipe first: half the size of none at all, in a third of the time of
# zlib's own choice.
PNG_LEVEL = 2


def _limit(*, awaited: bool) -> None:
    import resource

    if not awaited:  # whoever asks a question meanwhile goes first
        os.nice(NICENESS)

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_TEMPORARY_FILE, LARGEST_TEMPORARY_FILE))


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    opened: Any = None
    while header := requests.read(4):
        request = json.loads(requests.read(struct.unpack(">I", header)[0]))
        try:
            if request["op"] == "open":
                opened = open_document(Path(request["path"]), request["password"])
                answered: dict[str, Any] = {"info": astuple(opened.info())}
            else:
                assert opened is not None
                answered = answer(opened, request)
        except DocumentError as error:
            answered = {"error": error.message, "hint": error.hint, "kind": type(error).__name__}
        except MemoryError:
            answered = {
                "error": "The page needs more memory than a reader may take.",
                "hint": "Re-export the PDF.",
                "kind": "DocumentError",
            }
        write_message(answers, answered)


def _answer_text(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    number = request["page"]
    text, method, lines = file.text(number)
    return {
        "read": page_to(Page(number, text, method=method, lines=tuple(lines))),
        "unread": needs_reading_again(text),
    }


def _answer_page(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    from ingestion.reading.layout import lines_of
    from ingestion.tables.detection import find_tables

    number = request["page"]
    text, method, words = file.words(number)
    tables = find_tables(text, words, partial(file.rules, number))
    page = Page(number, text, method=method, lines=lines_of(text, words), tables=tuple(tables))
    pictures = [box_to(box) for box in file.pictures(number)]
    return {"read": page_to(page), "unread": needs_reading_again(text), "pictures": pictures}


def _answer_ocr(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    from ingestion.ocr.recognition import read_image, tables_of
    from ingestion.reading.layout import lines_of

    number = request["page"]
    if file.may_show_text(number):
        reading = read_image(file.image(number, file.reading_dpi(number)))
    else:
        reading = None
    if not reading or not reading.words:
        return {"read": page_to(Page(number, "", method="none"))}
    page = Page(number, reading.text, method="ocr", confidence=reading.confidence, words=reading.words)
    tables = tables_of(page.text, page.words, reading.turned)
    return {"read": page_to(replace(page, lines=lines_of(page.text, page.words), tables=tables))}


def _answer_pictures(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    from ingestion.ocr.recognition import read_pictures

    page = page_from(request["read"])
    pictures = [Rect(*box) for box in request["boxes"]]
    return {
        "read": page_to(read_pictures(page, file.image(page.number, file.reading_dpi(page.number)), pictures))
    }


def _answer_glyphs(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    return {"glyphs": [(text, box_to(box)) for text, box in file.glyphs(request["page"])]}


def _answer_png(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    import io

    buffer = io.BytesIO()
    file.image(request["page"], request["dpi"]).save(buffer, "PNG", compress_level=PNG_LEVEL)
    return {"png": base64.b64encode(buffer.getvalue()).decode()}


_ANSWERS = {
    "text": _answer_text,
    "page": _answer_page,
    "ocr": _answer_ocr,
    "pictures": _answer_pictures,
    "glyphs": _answer_glyphs,
    "png": _answer_png,
}


def answer(file: Any, request: dict[str, Any]) -> dict[str, Any]:
    """What an open file answers to a request, as it goes through the pipe. Raises DocumentError."""
    return _ANSWERS[request["op"]](file, request)


def _work(words: Sequence[str]) -> None:
    """Serve one parent until its pipe closes. Whatever libraries print goes nowhere, so that it cannot
    garble the answers.
    """
    _limit(awaited=AWAITED in words)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _serve(sys.stdin.buffer, answers)


def main() -> None:
    """Fork a reading process whenever one is asked for."""
    serve(_work)

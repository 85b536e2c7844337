"""Runs the reading process: opens one foreign file and answers questions about its pages, makes a PDF of it,
or reads a feed, under limits.

The process has no keys, and foreign files are parsed nowhere else. It serves one parent (see `reader`) until
its pipe closes.
"""

from __future__ import annotations

import base64
import io
import json
import os
import resource
import socket
import time
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any

import ingestion.reading.pdf  # noqa: F401  # once for all readers
from ingestion.errors import DocumentError
from ingestion.ocr.recognition import read_image, read_pictures
from ingestion.ocr.scan_languages import ScanLanguages
from ingestion.ocr.text_quality import needs_reading_again
from ingestion.reading.forkserver import leave_network, serve
from ingestion.reading.formats import is_named_like_a_document, make_pdf, open_document
from ingestion.reading.layout import lines_of
from ingestion.reading.wire import Json, box_to, page_from, page_to
from ingestion.records import Line, Page, Rect, Word
from ingestion.tables.detection import find_tables

__all__ = ["answer", "main", "parse_feed"]

ENDS = (".", "!", "?")

# Address space of a reading process: a 40-megapixel raster, its greyscale copy and tesseract fit; no reader
# may pass 1.5 GB.
MEMORY_LIMIT = 1_500 * 2**20
LARGEST_TEMPORARY_FILE = 500 * 2**20
NICENESS = 10
# For a page's image, which must pass a pipe: half the size of an uncompressed one, in a third of the time of
# zlib's default.
PNG_LEVEL = 2
# For a page with a chart, which is sent to a model: half a megabyte at most, with small print still sharp.
JPEG_QUALITY = 80
# Entries of one visit, of which a feed has some dozens.
MOST_ENTRIES = 200
FIELDS_OF_ENTRY = ("title", "summary", "link", "id", "published_parsed", "updated_parsed")


def _serve(pipe: socket.socket) -> None:
    """Answer requests, each a line of JSON, until the pipe closes."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_TEMPORARY_FILE, LARGEST_TEMPORARY_FILE))
    opened: Any = None
    for line in pipe.makefile("rb"):
        request = json.loads(line)
        try:
            if request["op"] == "open":
                os.nice(NICENESS)  # whoever asks a question meanwhile takes precedence
                opened = open_document(Path(request["path"]), request["password"])
                if 0 < request["most"] < opened.count:
                    raise DocumentError(
                        f"The file has {opened.count:,} pages, and at most {request['most']:,} are read.",
                        hint="Split it, or set FINPOLICY_MAX_PAGES to more.",
                    )
                answered: Json = {"info": astuple(opened.info())}
            elif request["op"] == "feed":
                answered = parse_feed(base64.b64decode(request["data"]))
            elif request["op"] == "make":
                os.nice(NICENESS)
                leave_network()
                os.environ["FINPOLICY_SOFFICE"] = request["soffice"]
                paths = Path(request["path"]), Path(request["target"])
                make_pdf(*paths, request["name"], request["password"])
                answered = {}
            else:
                answered = answer(opened, request)
        except DocumentError as error:
            answered = {"error": error.message, "hint": error.hint, "kind": type(error).__name__}
        except MemoryError:
            answered = {
                "error": "The page needs too much memory.",
                "hint": "Re-export the PDF.",
                "kind": "DocumentError",
            }
        answered["seconds"] = time.process_time()
        pipe.sendall(json.dumps(answered).encode() + b"\n")


def _answer_page(file: Any, request: Json) -> Json:
    number, whole = request["page"], request["tables"]
    page = file.given(number)
    if page is None:
        text, method, words = file.words(number)
        tables = tuple(find_tables(text, words, partial(file.rules, number))) if whole else ()
        page = Page(number, text, method=method, lines=lines_of(text, words), tables=tables)
        pictures = list(map(box_to, file.pictures(number))) if whole else []
    else:
        pictures = []
    if label := file.label(number):
        page = replace(page, label=label, label_source="printed")
    return {**_completed(file, page), "pictures": pictures}


def _answer_ocr(file: Any, request: Json) -> Json:
    number = request["page"]
    page = Page(number, "", method="none")
    if file.may_show_text(number):
        page = read_image(file.image(number), ScanLanguages(*request["languages"]), number)
    return _completed(file, page)


def _completed(file: Any, page: Page) -> Json:
    """The page with what it says beside its text layer and what its readers should know, and whether its
    image must be read because its layer is no text."""
    text, lines, words = page.text, [*page.lines], [*page.words]
    for said, place in file.additions(page.number):
        # Each is a paragraph and a sentence of its own, or it would be read together with the next.
        text = f"{text.rstrip()}\n\n"
        start = len(text)
        text += said if said.endswith(ENDS) else f"{said}."
        lines.append(Line(start, len(text), place))
        if page.words:
            words.append(Word(said, place, None, start, len(text)))
    remarks = (*page.remarks, *file.remarks(page.number))
    whole = replace(page, text=text, lines=tuple(lines), words=tuple(words), remarks=remarks)
    return {"read": page_to(whole), "unread": needs_reading_again(page.text)}


def _answer_pictures(file: Any, request: Json) -> Json:
    page = page_from(request["read"])
    pictures = [Rect(*box) for box in request["boxes"]]
    languages = ScanLanguages(*request["languages"])
    return {"read": page_to(read_pictures(page, file.image(page.number), pictures, languages))}


def _answer_png(file: Any, request: Json) -> Json:
    buffer = io.BytesIO()
    image = file.image(request["page"], request["dpi"])
    image.save(buffer, "PNG", compress_level=PNG_LEVEL)
    return {"png": base64.b64encode(buffer.getvalue()).decode()}


def _answer_chart(file: Any, request: Json) -> Json:
    buffer = io.BytesIO()
    tables = [Rect(*box) for box in request["boxes"]]
    if image := file.chart(request["page"], tables, scanned=request["scanned"]):
        image.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return {"jpeg": base64.b64encode(buffer.getvalue()).decode()}


def _answer_structure(file: Any, request: Json) -> Json:
    return {"told": getattr(file, request["op"])()}


def _answer_attached(file: Any, request: Json) -> Json:
    folder = Path(request["folder"])
    told = list[tuple[str, str]]()
    for name, data in file.attached(request["pages"]):
        if is_named_like_a_document(name):
            path = folder / f"attached-{len(told)}"
            path.write_bytes(data)
            told.append((name, str(path)))
    return {"told": told}


_ANSWERS = {
    "attached": _answer_attached,
    "firsts": _answer_structure,
    "outline": _answer_structure,
    "page": _answer_page,
    "ocr": _answer_ocr,
    "pictures": _answer_pictures,
    "glyphs": lambda file, request: {
        "glyphs": [(text, box_to(box)) for text, box in file.glyphs(request["page"])]
    },
    "png": _answer_png,
    "chart": _answer_chart,
}


def answer(file: Any, request: Json) -> Json:
    """The answer of an open file to a request, as it is sent through the pipe. Raises DocumentError."""
    return _ANSWERS[request["op"]](file, request)


def parse_feed(data: bytes) -> Json:
    """The title and the entries of a feed, as JSON values; {} for what is no feed."""
    import feedparser

    try:
        # As a stream: what is a text could be taken for an address to fetch.
        parsed = feedparser.parse(io.BytesIO(data), sanitize_html=False, resolve_relative_uris=False)
    except (ValueError, LookupError, RecursionError):  # such as halves of characters
        return {}
    if not parsed.entries and not parsed.get("version"):
        return {}
    entries = list(map(_feed_entry, parsed.entries[:MOST_ENTRIES]))
    return {"title": parsed.feed.get("title"), "entries": entries}


def _feed_entry(entry: Any) -> Json:
    return {name: entry.get(name) for name in FIELDS_OF_ENTRY}


def main() -> None:
    """Fork a reading process whenever one is asked for."""
    serve(_serve)

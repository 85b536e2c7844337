"""Opens PDFs that were made here, with what their makers told of each page.

It runs only in reading processes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ingestion.reading.formats import MadePage
from ingestion.reading.pdf import PdfFile
from ingestion.reading.wire import Json, page_from, page_to
from ingestion.records import BESIDE, Page, Rect

__all__ = ["MadePdf", "with_pages"]

# The entry of the file's root with the pages as JSON, which is as protected as all of it.
KEY = "/FinpolicyPages"


class MadePdf(PdfFile):
    """A PDF that was made here of a file of another kind."""

    @cached_property
    def _made(self) -> dict[int, Json]:
        kept = self._reader().root_object.get(KEY)
        return {made["number"]: made for made in json.loads(kept.get_data())} if kept else {}

    def given(self, number: int) -> Page | None:
        """Page `number` as its maker knows it, None where the PDF is to be read."""
        read = self._told(number, "read")
        return page_from(read) if read else None

    def label(self, number: int) -> str | None:
        """What page `number` is called, None for its number."""
        return str(self._told(number, "label") or "") or None

    def additions(self, number: int) -> list[tuple[str, Rect]]:
        """As of any PDF, and the page's notes."""
        return super().additions(number) + [(note, BESIDE) for note in self._told(number, "notes") or ()]

    def remarks(self, number: int) -> list[str]:
        """As of any PDF, and those of the page's maker."""
        return super().remarks(number) + list(self._told(number, "remarks") or ())

    def _told(self, number: int, name: str) -> Any:
        return self._made.get(number, {}).get(name)


def with_pages(target: Path, pages: Sequence[MadePage], password: str | None) -> None:
    """Put what is known of a made PDF's pages into it, and protect it where there is a password."""
    if not (pages or password):
        return
    import pypdf
    from pypdf.generic import NameObject, StreamObject

    known = [{**made._asdict(), "read": made.read and page_to(made.read)} for made in pages]
    writer, kept = pypdf.PdfWriter(clone_from=target), StreamObject()
    kept.set_data(json.dumps(known).encode())
    writer.root_object[NameObject(KEY)] = kept.flate_encode()  # written as an object of its own
    if password:
        writer.encrypt(password, algorithm="AES-256")
    writer.write(target)

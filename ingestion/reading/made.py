"""Opens PDFs that were made here, with what their makers told of each page.

It runs only in reading processes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingestion.reading.formats import MadePage
from ingestion.reading.pdf import MIDDLE, PdfFile
from ingestion.reading.wire import Json, page_from, page_to
from ingestion.records import Page, Rect

__all__ = ["MadePdf", "with_pages"]

# What begins the comment at the end of the file that holds the pages as JSON.
BEGIN = b"\n%finpolicy-pages "


class MadePdf(PdfFile):
    """A PDF that was made here of a file of another kind."""

    def __init__(self, path: Path, password: str | None = None) -> None:
        super().__init__(path, password)
        listed = path.read_bytes().rpartition(BEGIN)[2].partition(b"\n")[0]
        self._made: dict[int, Json] = {made["number"]: made for made in json.loads(listed)}

    def given(self, number: int) -> Page | None:
        """Page `number` as its maker knows it, None where the PDF is to be read."""
        read = self._told(number, "read")
        return page_from(read) if read else None

    def label(self, number: int) -> str | None:
        """What page `number` is called, None for its number."""
        return str(self._told(number, "label") or "") or None

    def additions(self, number: int) -> list[tuple[str, Rect]]:
        """As of any PDF, and the page's notes."""
        return super().additions(number) + [(note, MIDDLE) for note in self._told(number, "notes") or ()]

    def remarks(self, number: int) -> list[str]:
        """As of any PDF, and those of the page's maker."""
        return super().remarks(number) + list(self._told(number, "remarks") or ())

    def _told(self, number: int, name: str) -> Any:
        return self._made[number][name] if number in self._made else None


def with_pages(target: Path, pages: Sequence[MadePage], password: str | None) -> None:
    """Put what is known of a made PDF's pages at its end, and protect it where there is a password."""
    if password:
        import pypdf

        writer = pypdf.PdfWriter(clone_from=target)
        writer.encrypt(password, algorithm="AES-256")
        writer.write(target)
    known = [{**made._asdict(), "read": made.read and page_to(made.read)} for made in pages]
    data = target.read_bytes()
    # Readers look for the place of a PDF's index in its last lines.
    end = data[data.rindex(b"startxref") :]
    target.write_bytes(data + BEGIN + json.dumps(known).encode() + b"\n" + end)

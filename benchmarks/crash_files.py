"""Makes the PDFs for a campaign of kills, each page of text with a word of its own."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["File", "make_files"]

# Pages of the files; every fourth has a scanned page too, every third a table that is longer than a chunk.
PAGES = (1, 2, 4, 8, 1, 3, 6, 2, 34, 2, 1, 40)
LINES, WORDS_A_LINE = 30, 10
SYLLABLES = "ba ce di fo gu ha ki lo mu ne pa ri so tu ve wa xi zo".split()
COMMON = (
    "the deficit ceiling of output in each year is set by council on revenue and debt for capital spending "
    "under rules"
).split()


@dataclass(frozen=True, slots=True)
class File:
    """A PDF of the campaign. words: one for each page that has text, found in no other file; texts: what its
    pages must read like; tables: bytes of its tables as stored."""

    path: Path
    sha256: str
    words: tuple[tuple[int, str], ...]
    texts: tuple[str, ...] = ()
    tables: int = 0


def make_files(folder: Path, draw: random.Random, count: int = len(PAGES)) -> Iterator[File]:
    """So many PDFs of a few to forty pages, a word on each that stands nowhere else; compressed nowhere,
    so that their words are seen in copies.
    """
    import pypdfium2
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    for number, pages in enumerate(PAGES[:count]):
        path, words = folder / f"file-{number}.pdf", []
        canvas = Canvas(str(path), pagesize=(420, 480), invariant=1, pageCompression=0)
        for page in range(1, pages + 1):
            words.append((page, "".join(draw.choices(SYLLABLES, k=7))))
            lines = [f"On page {page} the {words[-1][1]} rule holds."] + [
                " ".join(draw.choices(COMMON, k=WORDS_A_LINE)) for _ in range(LINES)
            ]
            for line, text in enumerate(lines):
                canvas.drawString(30, 450 - 14 * line, text)
            canvas.showPage()
        if number % 3 == 0:
            words.append((pages + 1, "".join(draw.choices(SYLLABLES, k=7))))
            _draw_table(canvas, words[-1][1], draw)
        if number % 4 == 1:
            scanned = folder / "scanned.pdf"
            small = Canvas(str(scanned), pagesize=(420, 120))
            small.setFont("Helvetica", 20)
            small.drawString(30, 60, f"Scanned rule number {number} of the council")
            small.save()
            with pypdfium2.PdfDocument(scanned) as document:
                canvas.setPageSize((420, 120))
                canvas.drawImage(
                    ImageReader(document[0].render(scale=3).to_pil().convert("L")), 0, 0, 420, 120
                )
                canvas.showPage()
        canvas.save()
        yield File(path, hashlib.sha256(path.read_bytes()).hexdigest(), tuple(words))


def _draw_table(canvas: Any, word: str, draw: random.Random) -> None:
    """A page with a table whose later rows stand in a chunk without its heads."""
    canvas.drawString(30, 464, f"The {word} rule holds for all that is spent.")
    canvas.drawString(30, 448, "Table 1: Spending by programme, in millions")
    for column, head in enumerate(("2023", "2024", "2025")):
        canvas.drawRightString(260 + 60 * column, 430, head)
    for row in range(27):
        canvas.drawString(
            30, 412 - 14 * row, f"Programme {row + 1} of {draw.choice(COMMON)} and {draw.choice(COMMON)}"
        )
        for column in range(3):
            canvas.drawRightString(260 + 60 * column, 412 - 14 * row, f"{draw.randint(100, 9999):,}")
    canvas.showPage()

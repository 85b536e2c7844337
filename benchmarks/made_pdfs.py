"""Makes text PDFs of any length for measurements, with running text and tables.

The same seed makes the same PDF.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.speed import WORDS

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

__all__ = ["make_pdf"]

# Between the words of budgets and filings, so that the text has the length of tokens and the plausibility of
# English.
SMALL_WORDS = """
    the of and to in for on by with from as at is was are were be been has have had not which that this
    its their other more than over under between during after before each total net new public central
    annual average higher lower rate year quarter month period
""".split()
LINES, WORDS_A_LINE = 38, 9
# Points.
LEFT, RIGHT = 50, 545
FONT, SIZE = "Helvetica", 9.5
# Every third page ends in a table of so many rows.
TABLE_EVERY, TABLE_ROWS = 3, 9


def make_pdf(path: Path, pages: int, *, seed: int = 0) -> Path:
    """A PDF of `pages` pages of about 2,500 characters, every third with a table; numbered at the foot.
    Returns `path`.
    """
    from reportlab.pdfgen.canvas import Canvas

    draw = random.Random(seed)
    words = draw.sample([*WORDS, *SMALL_WORDS], len(WORDS) + len(SMALL_WORDS))
    weights = [1 / rank for rank in range(3, len(words) + 3)]
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    for page in range(1, pages + 1):
        rows = TABLE_ROWS if page % TABLE_EVERY == 0 else 0
        for line in range(LINES - rows):
            _justified(
                canvas,
                [*draw.choices(words, weights, k=WORDS_A_LINE), f"{draw.randint(1, 99_999):,}."],
                790 - 12 * line,
            )
        for row in range(rows):
            canvas.drawString(LEFT, 300 - 20 * row, " ".join(draw.sample(words, 3)).capitalize())
            for column in range(3):
                canvas.drawRightString(360 + 80 * column, 300 - 20 * row, f"{draw.randint(100, 999_999):,}")
        canvas.drawCentredString(297, 40, str(page))
        canvas.showPage()
    canvas.save()
    return path


def _justified(canvas: Canvas, words: Sequence[str], y: float) -> None:
    """A line of words, each placed for itself so that all lines are of one width, as word processors write
    them.
    """
    widths = [canvas.stringWidth(word, FONT, SIZE) for word in words]
    gap = (RIGHT - LEFT - sum(widths)) / (len(words) - 1)
    text, x = canvas.beginText(), float(LEFT)
    text.setFont(FONT, SIZE)
    for word, width in zip(words, widths, strict=True):
        text.setTextOrigin(x, y)
        text.textOut(word)
        x += width + gap
    canvas.drawText(text)

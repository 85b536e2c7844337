"""Marks that are set raised and small are no digits of the figure before them."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from ingestion.document import read_document
from tests.case_rows import case_rows

NOTES = ("1 In capital cities 190.", "2 Except by night.", "12 From July.", "3 Not yet.", "b For clerks.")


def drawn(path: Path, text: str, *, size: float = 6, rise: float = 4) -> str:
    """The first line of a page with notes; what stands in braces is set in that size, that far up."""
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    x = 60.0
    for at, part in enumerate(text.replace("}", "{").split("{")):
        font = size if at % 2 else 10.0
        canvas.setFont("Helvetica", font)
        canvas.drawString(x, 750 + (rise if at % 2 else 0), part)
        x += canvas.stringWidth(part, "Helvetica", font)
    canvas.setFont("Helvetica", 7)
    for at, note in enumerate(NOTES):
        canvas.drawString(60, 100 - 9 * at, note)
    canvas.save()
    lines = read_document(path).pages[0].text.split("\n1 In capital")[0]
    return " ".join(lines.split())


RAISED = case_rows("""
Hotels cost 140{1} euros. | Hotels cost 140¹ euros.
Hotels cost 140 euros.{2} Meals are paid. | Hotels cost 140 euros.² Meals are paid.
Hotels{12} cost 140 euros. | Hotels¹² cost 140 euros.
Hotels 1,130{3} 1,140 | Hotels 1,130³ 1,140
Growth was 4.2%{1} in 2024. | Growth was 4.2%¹ in 2024.
In 2025-26{2} it was paid. | In 2025-26² it was paid.
Hotels cost 140 euros.{b} Meals are paid. | Hotels cost 140 euros.ᵇ Meals are paid.
Hotels{c} cost 140 euros. | Hotelsc cost 140 euros.
A job{b} and a hub. | A jobᵇ and a hub.
Sales{1,2} in 2024 | Sales¹,² in 2024
Sales{2,3,12} in 2024 | Sales²,³,¹² in 2024
""")


@pytest.mark.parametrize(("text", "read"), RAISED)
def test_a_raised_mark_is_written_as_one(tmp_path: Path, text: str, read: str) -> None:
    assert drawn(tmp_path / "raised.pdf", text) == read


def test_digits_of_a_figure_stay_digits(tmp_path: Path) -> None:
    assert drawn(tmp_path / "level.pdf", "Hotels cost 141 euros in 2012.") == "Hotels cost 141 euros in 2012."
    small = drawn(tmp_path / "small.pdf", "Hotels cost 140{1} euros.", rise=0)
    assert small == "Hotels cost 1401 euros."
    grouped = drawn(tmp_path / "grouped.pdf", "Hotels{1},2 to 3, cost 1,2 euros.")
    assert grouped == "Hotels¹ ,2 to 3, cost 1,2 euros."
    unnumbered = drawn(tmp_path / "none.pdf", "The area is 30 m{7} in all.")
    assert unnumbered == "The area is 30 m7 in all."

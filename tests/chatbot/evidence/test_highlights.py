"""How surely a quotation was read: its least sure figure, else its words."""

import pytest

from chatbot.evidence.highlights import confidence_of, locate_quote
from ingestion.records import Rect, Word
from tests.case_rows import case_rows

BOX = Rect(0.0, 0.0, 0.1, 0.1)
WORDS = [
    Word("Arrears", BOX, 90.0, 0, 7),
    Word("of", BOX, 60.0, 8, 10),
    Word("4l2", BOX, 31.0, 11, 14),
    Word("million", BOX, 95.0, 15, 22),
]


SURENESS = case_rows("""
0  | 22 | 31.0
0  | 10 | 83.3
15 | 22 | 95.0
30 | 40 | None
""")


@pytest.mark.parametrize(("start", "end", "sure"), SURENESS)
def test_a_figure_counts_before_words(start: str, end: str, sure: str) -> None:
    confidence = confidence_of(WORDS, int(start), int(end))
    assert str(confidence) == sure


def test_words_of_a_text_layer_have_no_confidence() -> None:
    word = Word("Arrears", BOX, None, 0, 7)
    assert confidence_of([word], 0, 7) is None


def glyphs_of(text: str) -> list[tuple[str, Rect]]:
    """Characters of lines with boxes of equal size; line ends as PDFium gives them, without one."""
    found = []
    for row, line in enumerate(text.split("\n")):
        top = row / 10
        for column, letter in enumerate(line):
            box = Rect(column / 100, top, (column + 1) / 100, top + 0.05)
            found.append((letter, box))
        found.append(("\n", Rect(0.0, 0.0, 0.0, 0.0)))
    return found


def test_of_equal_words_those_are_marked_that_were_quoted() -> None:
    page = "Total assets\nOther 12\nTotal assets"
    before = page[: page.rindex("Total")]
    (first,) = locate_quote(glyphs_of(page), "Total assets")
    (quoted,) = locate_quote(glyphs_of(page), "Total assets", before)
    assert first.y0 == 0.0
    assert quoted.y0 == 0.2


def test_the_marks_at_a_quotation_s_ends_are_marked_with_it() -> None:
    (box,) = locate_quote(glyphs_of("a (rate of 5%). b"), "(rate of 5%).")
    assert round(box.x0, 2) == 0.02
    assert round(box.x1, 2) == 0.15

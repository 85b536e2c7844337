"""How surely a quotation was read: its least sure figure, else its words."""

import pytest

from ingestion.records import Rect, Word
from ingestion.render import confidence_of

BOX = Rect(0.0, 0.0, 0.1, 0.1)
WORDS = [Word("Arrears", BOX, 90.0, 0, 7), Word("of", BOX, 60.0, 8, 10), Word("4l2", BOX, 31.0, 11, 14), Word("million", BOX, 95.0, 15, 22)]


@pytest.mark.parametrize(("span", "sure"), [((0, 22), 31.0), ((0, 10), 83.3), ((15, 22), 95.0), ((30, 40), None)])
def test_a_figure_counts_before_words(span: tuple[int, int], sure: float | None) -> None:
    assert confidence_of(WORDS, *span) == sure


def test_words_of_a_text_layer_have_no_confidence() -> None:
    assert confidence_of([Word("Arrears", BOX, None, 0, 7)], 0, 7) is None

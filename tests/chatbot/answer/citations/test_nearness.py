"""A sentence is near a statement if there is something in both to compare."""

from __future__ import annotations

import pytest

from chatbot.answer.citations.nearness import is_near

DEFICIT = "The fiscal deficit is projected at 3.1% of GDP in 2025 [S1]."


@pytest.mark.parametrize(
    ("sentence", "near"),
    [
        ("This move is aimed at supporting a 24-hour digital economy.", False),
        ("The deficit is a burden.", False),
        ("The overall fiscal deficit will narrow.", True),
        ("Balance (3.1)", False),
        ("Balance 3.1 4.2", True),
        ("", False),
    ],
)
def test_a_near_sentence_has_a_figure_or_words_of_the_statement(sentence: str, near: bool) -> None:
    assert is_near(DEFICIT, sentence) == near

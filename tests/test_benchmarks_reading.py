"""The benchmark that reads one page: what it takes for right, and how it parts its contexts."""

from __future__ import annotations

import pytest

from benchmarks.reading import judged
from chatbot.records import Answer, NumberCheck


def said(text: str, *, formula: str | None = None) -> Answer:
    status = "derived" if formula else "supported"
    check = NumberCheck("5", 5.0, None, 1, None, status, formula=formula)
    return Answer("q", "q", text, True, numbers=(check,))


FELL = "It fell: 100 × (44.1 - 56.7) / 56.7 = -22.2%. [S1]"
JUDGED = [
    ("arithmetic", -22.22, FELL, True),
    ("arithmetic", 12.6, "It was 12.7 [S1].", False),
    ("span", ["$1,496.5"], "Total sales were $1,496.5 million [S1].", True),
    ("span", ["late"], f"{'so ' * 50}late [S1]", False),
    ("multi-span", ["wages", "rents"], "Rents, and wages [S1].", True),
    ("multi-span", ["wages", "fuel"], "Rents, and wages [S1].", False),
]


@pytest.mark.parametrize(("kind", "gold", "text", "right"), JUDGED)
def test_an_answer_is_right_where_what_the_set_has_stands_in_it(
    kind: str, gold: object, text: str, right: bool
) -> None:
    row = {"answer_type": kind, "answer": gold, "question": "What?"}
    refusal = Answer("q", "q", text, False)
    assert judged(row, said(text)).right == right
    assert not judged(row, refusal).right

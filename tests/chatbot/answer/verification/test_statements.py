"""An answer is cut into statements, each with the keys that are cited for it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from chatbot.answer.verification.statements import MOST_STATEMENTS, statements_of
from tests.case_rows import case_lines

KNOWN = {"S1-7f3a": 1, "S2-7f3a": 2}
ANSWER = """\
**Summary**

The deficit was 4.4 per cent of GDP [S1-7f3a]. It fell because revenue rose.
[S2-7f3a]

Main points:
- Tax revenue rose by 11 per cent
- Subsidies were cut [S1-7f3a]

| Item | 2024 | 2023 |
|---|---|---|
| Revenue | 418.6 | 455.2 |
| EBITDA | 61.9 | 58.3 |

[S2-7f3a]

Yes. Is that all? The excerpts do not say why [S9-7f3a].
"""
STATEMENTS = [
    ("The deficit was 4.4 per cent of GDP.", ("S1-7f3a",)),
    ("It fell because revenue rose.", ("S2-7f3a",)),
    ("- Tax revenue rose by 11 per cent", ("S1-7f3a",)),
    ("- Subsidies were cut", ("S1-7f3a",)),
    ("| Item | 2024 | 2023 | | Revenue | 418.6 | 455.2 |", ("S2-7f3a",)),
    ("| Item | 2024 | 2023 | | EBITDA | 61.9 | 58.3 |", ("S2-7f3a",)),
    ("The excerpts do not say why.", ()),
]


def test_sentences_items_and_rows_are_statements_with_the_keys_behind_them() -> None:
    found = statements_of(ANSWER, KNOWN)
    assert [(one.text, one.keys) for one in found] == STATEMENTS
    for before, after in pairwise(found):
        assert before.end <= after.start
    assert all(ANSWER[one.start : one.end] == ANSWER[one.start : one.end].strip() for one in found)


@pytest.mark.parametrize(
    "text",
    case_lines("""
Yes.
In short:
# Results of the year
**Results of the year**
What was the deficit?
|---|---|
[S1-7f3a]
The points are these:
"""),
)
def test_what_states_nothing_is_no_statement(text: str) -> None:
    assert statements_of(text, KNOWN) == []


def test_no_answer_has_more_statements_than_are_checked() -> None:
    assert len(statements_of("The deficit fell in 2024. " * 10_000, KNOWN)) == MOST_STATEMENTS

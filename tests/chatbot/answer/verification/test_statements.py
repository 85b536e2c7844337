"""An answer is cut into statements, each with the keys that are cited for it."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from chatbot.answer.verification.request import requests_for
from chatbot.answer.verification.statements import MOST_STATEMENTS, statements_of
from tests.case_rows import case_lines
from tests.chatbot.cited_pages import hit_of

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


NOTHING = case_lines("""
Yes.
In short:
The points are these [S1-7f3a]:
# Results of the year
**Results of the year**
1. **Holdback.**
NOT IN THESE DOCUMENTS.
What was the deficit?
Was it 999 million crowns?
|---|---|
[S1-7f3a]
The points are these:
是的。
""")


@pytest.mark.parametrize("text", NOTHING)
def test_what_states_nothing_is_no_statement(text: str) -> None:
    assert statements_of(text, KNOWN) == []


SOMETHING = case_lines("""
**Harbour dues were 999 million crowns.** [S1-7f3a]
**Harbour dues were 999 million crowns.**
**The debt anchor was abolished**
### The debt anchor was abolished
### Results [S1-7f3a]
The dues were 999 million crowns, right? [S1-7f3a]
Only the anchor may be suspended, and only if each of three conditions is met [S1-7f3a]:
Dues fell to 999 million crowns:
No, it did not.
It fell.
Fraud! [S1-7f3a]
财政赤字下降了。
""")


@pytest.mark.parametrize("text", SOMETHING)
def test_nothing_that_is_stated_escapes(text: str) -> None:
    assert len(statements_of(text, KNOWN)) == 1


def test_a_rule_below_a_row_hides_only_the_heads_of_a_table() -> None:
    rule = "|---|---|"
    rows = ["| Item | 2024 |", rule, "| Dues | 999 |", rule, "| Rent | 998 |", rule, "| Wages | 997 |"]
    alone = ["", "| Item | 2023 |", rule, "| Debt | 996 |", "", "| Dues were 995 million |", rule]
    said = [one.text for one in statements_of("\n".join([*rows, *alone]), KNOWN)]
    heads = "| Item | 2024 |"
    assert said[:3] == [f"{heads} | Dues | 999 |", f"{heads} | Rent | 998 |", f"{heads} | Wages | 997 |"]
    assert said[3:] == ["| Item | 2023 | | Debt | 996 |", "| Dues were 995 million |"]


@pytest.mark.timed
@pytest.mark.parametrize("text", ["It rose" + " " * 300_000 + "by 5.", "|" + "-" * 300_000 + "x"])
def test_blanks_and_rules_without_end_cost_nothing(text: str) -> None:
    began = time.process_time()
    statements_of(text, KNOWN)
    assert time.process_time() - began < 3


def test_statements_behind_the_most_are_none_that_a_reader_is_asked_about() -> None:
    statements = statements_of("The deficit fell in 2024. " * (MOST_STATEMENTS + 30), KNOWN)
    assert len(statements) == MOST_STATEMENTS + 30
    asked = [request.numbers for request in requests_for("q", statements, {"S1": hit_of("It fell.")}, 99_000)]
    assert sum(asked, ()) == tuple(range(1, MOST_STATEMENTS + 1))

"""Marks and their notes: which lines are notes, and which sentences and rows refer to them."""

from __future__ import annotations

import pytest

from chatbot.evidence.footnotes import begins_note, marks_in, notes_begin
from chatbot.evidence.passages import read_passages
from tests.case_rows import case_lines, case_rows

REFERRING = case_rows("""
Hotels are reimbursed up to 140 euros.*\\n* In capitals 190. | * In capitals 190.
Hotels are reimbursed up to 140 euros.¹ Taxis are not.\\n1 In capitals 190. | 1 In capitals 190.
Hotels are reimbursed up to 140 euros.1 Taxis are not.\\n1 In capitals 190. | 1 In capitals 190.
Hotels¹ are reimbursed up to 140 euros.\\n¹In capitals 190. | ¹In capitals 190.
Hotels are reimbursed up to 140 euros.ᵃ Taxis are not.\\na In capitals 190. | a In capitals 190.
Hotels are reimbursed up to 140 euros.†\\n† In capitals 190. | † In capitals 190.
Hotels(a) are reimbursed up to 140 euros.\\n(a) In capitals 190. | (a) In capitals 190.
Hotels(1) are reimbursed up to 140 euros.\\n1) In capitals 190. | 1) In capitals 190.
Rail travel is not reimbursed.**\\n* In capitals 190.\\n** Except by night. | ** Except by night.
Hotels¹ are reimbursed up to 140 euros.\\n1 Restated | 1 Restated
Rail travel is not reimbursed.*\\n* Except by night. Ask the Director. | * Except by night. Ask the Director.
""")


@pytest.mark.parametrize(("page", "note"), REFERRING)
def test_a_sentence_has_the_note_of_its_mark(page: str, note: str) -> None:
    text = page.replace("\\n", "\n")
    passages = read_passages(text, text, [])
    assert passages[0].notes == (note,)
    assert [passage.text for passage in passages if passage.is_note][-1] == note


ROWS = case_rows("""
Hotel* 130 140\\nMeals 44 45\\n* In capitals 190. | Hotel* 130 140
Hotel¹ 130 140\\nMeals 44 45\\n1 In capitals 190. | Hotel¹ 130 140
Hotel1 130 140\\nMeals 44 45\\n1 In capitals 190. | Hotel1 130 140
Hotel 130 140¹\\nMeals 44 45\\n1 In capitals 190. | Hotel 130 140¹
Hotel 130 140*\\nMeals 44 45\\n* In capitals 190. | Hotel 130 140*
Hotel † 130 140\\nMeals 44 45\\n† In capitals 190. | Hotel † 130 140
Hotel § 130 140\\nMeals 44 45\\n§ In capitals 190. | Hotel § 130 140
Hotel * 130 140\\nMeals 44 45\\n* In capitals 190. | Hotel * 130 140
Hotel (cities) * 130 140\\nMeals 44 45\\n* In capitals 190. | Hotel (cities) * 130 140
Child aged 5 to 15 ‡ 130 140\\nMeals 44 45\\n‡ In capitals 190. | Child aged 5 to 15 ‡ 130 140
Hotel a) 130 140\\nMeals 44 45\\na) In capitals 190. | Hotel a) 130 140
Hotel (1) 130 140\\nMeals 44 45\\n(1) In capitals 190. | Hotel (1) 130 140
""")


@pytest.mark.parametrize(("page", "row"), ROWS)
def test_a_row_has_the_note_of_its_mark_and_no_other_row_has_it(page: str, row: str) -> None:
    text = page.replace("\\n", "\n")
    found = {passage.text: passage for passage in read_passages(text, text, []) if passage.is_row}
    assert len(found) == 2
    assert [text for text, passage in found.items() if passage.notes] == [row]


INNOCENT = case_lines("""
Output fell in Q1 and Q2.\\n1 The quarter is the first.
The charge is 5 * 3 euros.\\n* In capitals 190.
These are needed:\\n* receipts\\n* tickets
The rate is set by § 5 of the Act.\\n§ 5 of the Act is the rule.
Grants are paid.\\na In capitals 190.
The Act has parts.\\n1 Introduction\\n2 Duties of the Board
CO2 and H2O are measured.\\n2 The tonnes are metric.
It names (1) rail and (2) air.\\n(3) Cars are not named.
""")


@pytest.mark.parametrize("page", INNOCENT)
def test_what_looks_like_a_mark_is_none(page: str) -> None:
    text = page.replace("\\n", "\n")
    assert not any(passage.notes or passage.is_note for passage in read_passages(text, text, []))


def test_notes_at_the_foot_begin_with_the_first_that_is_referred_to() -> None:
    lines = ["1 Introduction", "Hotels are paid.1 Taxis", "are not.2", "1 In capitals", "190.", "2 Except."]
    assert notes_begin(lines) == 3
    assert notes_begin(lines[:3]) == 3
    assert marks_in(lines[1]) == {"1"}
    assert begins_note(lines[3]) == "1"

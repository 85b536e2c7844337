"""What the benchmark of years counts is right, on a made table."""

from dataclasses import replace

import pytest

from benchmarks.asked_periods import AskedYear, kind_of, questions_of
from chatbot.records import Answer
from ingestion.records import Rect, Table
from tests.case_rows import case_rows
from tests.chatbot.cited_pages import rows_in

TEXT = "Interest expense 1,204 1,180\nOther income 12 12\nRepairs and upkeep 310 298\n"
ROWS = "Interest expense | 1,204 | 1,180\nOther income | 12 | 12\nRepairs and upkeep | 310 | 298"
ASKED = AskedYear("Book.pdf", "What was interest expense in 2024?", 2024, "1204", frozenset({"1180"}))
SAID = case_rows("""
right               | Interest expense was 1,204 (2024).
another year        | Interest expense was 1,180 (2023).
another year, said  | For 2023, not 2024: Interest expense was 1,180 (2023).
something else      | Interest income was 7,310 (2024).
""")


def test_a_row_is_asked_for_each_year_of_which_it_has_another_figure() -> None:
    table = Table("Costs", "", ("2024", "2023"), rows_in(TEXT, ROWS), Rect(0, 0, 1, 1))
    asked = list(questions_of("Book.pdf", table))
    assert asked[0] == ASKED
    assert [one.wanted for one in asked] == ["1204", "1180", "310", "298"]
    quarters = replace(table, heads=("First quarter 2024", "Second quarter 2024"))
    assert not list(questions_of("Book.pdf", quarters))


@pytest.mark.parametrize(("kind", "said"), SAID)
def test_an_answer_is_of_one_kind(kind: str, said: str) -> None:
    assert kind_of(ASKED, Answer("?", "?", said, True)) == kind
    assert kind_of(ASKED, Answer("?", "?", said, False)) == "refused"

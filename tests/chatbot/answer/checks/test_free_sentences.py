"""Figures of sentences that are freely put: which row, column, year and sign each is given for, and what
is worked out from the cells of a page.
"""

from __future__ import annotations

import pytest

from chatbot.answer.citations.model_statements import check_statements
from chatbot.records import Hit, NumberCheck
from ingestion.records import Rect, Table
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over, rows_of

HEADS = ("2016", "2015", "Change")
ROWS = """
Net income of the group | (1,130) | 306 | -
Net income | (777) | 762 | -
Income tax expense | 390 | 370 | 5.4%
Income before income taxes | 49 | 83 | -41.0%
Treasury stock, at cost | (71,624) | (67,810) | -
Total operating expenses | 9,343 | 8,120 | 15.1%
Other | 148 | 137 | 8.0%
Gas revenue | 3,802 | 3,176 | -
Total revenue | 17,667 | 16,833 | -
Dividends ($5.66 per share) | (4,168) | (3,919) | -
"""
HEADING = "Statement of income\n(in millions)\n2016 2015 Change\n"
PROSE = (
    "The cost was $630 thousand, for 1,200 people (2015: $572 thousand). Fees of $12 million were paid in "
    "2014.\n"
)


def page() -> Hit:
    lines, rows = rows_of(ROWS, len(HEADING))
    text = HEADING + lines + PROSE
    table = Table("Statement of income", "(in millions)", HEADS, rows, Rect(0.0, 0.0, 1.0, 1.0))
    return hit_of(text, body=text, tables=(table,))


def numbers_of(answer: str) -> tuple[NumberCheck, ...]:
    prompt = prompt_over(page(), question="What happened in 2016?")
    return check_statements(answer, prompt).numbers


def statuses(answer: str) -> set[str]:
    return {check.status for check in numbers_of(answer)}


RIGHT = """
# Two rows in one sentence, each named beside its own figure.
The group paid $390 million of income tax on only $49 million of income before taxes in 2016 [S1-7f3a].
# What is named elsewhere in the answer is not meant.
Other costs were small [S1-7f3a]. In 2016 operating expenses came to $9,343 million [S1-7f3a].
# A short name for what the sentence has named in full.
The net income of the group was -$1,130 million in 2016, compared with net income of $306 million in 2015 \
[S1-7f3a].
# The sign is told in words, and the figure is rounded.
Treasury stock at cost stood at $71.6 billion in 2016 [S1-7f3a].
# The year is that of what is compared with.
Income tax expense was $390 million, against $370 million in 2015 [S1-7f3a].
Gas revenue rose from $3,176 million to $3,802 million [S1-7f3a].
# An amount per share in a label does not make its row one of amounts per share.
Dividends of $4,168 million were paid in 2016 [S1-7f3a].
# The page ties its year to the other figure.
The cost was $630 thousand in 2016 [S1-7f3a].
# What stands behind "to" is of what the percentage before it is of; what follows the comma is another
# row's.
In 2016 operating expenses rose 15.1% to $9,343 million, with income tax expense up 5.4% [S1-7f3a].
# The year asked for is not that of what it came from.
Gas revenue rose from roughly $3.2 billion to $3.8 billion [S1-7f3a].
# A whole percentage is rounded, and no amount is meant for it.
In 2016 income before income taxes went down by 41% [S1-7f3a].
# A row of expenses or payments is printed in brackets.
The item “Dividends ($5.66 per share)” was 4,168 million in 2016 [S1-7f3a].
# The scale is written out.
Dividends of $4,168,000,000 were paid in 2016 [S1-7f3a].
# What came of it a year later than the one that is named.
Income tax expense went from $370 million in 2015 to $390 million a year later [S1-7f3a].
# Years between those that are named.
Income tax expense was $370 million in 2015 and $390 million in 2016, over two years [S1-7f3a].
"""
# Columns in another order than the page has them.
REORDERED = """| Row | 2015 | 2016 |
|---|---|---|
| Gas revenue | 3,176 | 3,802 [S1-7f3a] |
| Total revenue | 16,833 | 17,667 [S1-7f3a] |"""


@pytest.mark.parametrize("answer", [*case_lines(RIGHT), REORDERED])
def test_a_right_figure_of_a_free_sentence_is_supported(answer: str) -> None:
    assert statuses(answer) <= {"supported", "derived"}, numbers_of(answer)


WRONG = """
The group paid $49 million of income tax expense in 2016 [S1-7f3a].
In 2016 gas revenue was $17,667 million [S1-7f3a].
Income tax expense was $370 million in 2016, against $390 million in 2015 [S1-7f3a].
Income before income taxes rose 41.0% [S1-7f3a].
The cost was $572 thousand in 2016 [S1-7f3a].
Fees of $12 million were paid in 2016 [S1-7f3a].
Income tax expense was $390 million in 2016, over seven years [S1-7f3a].
# The row goes the other way.
Income tax expense fell to $390 million in 2016 [S1-7f3a].
Income before income taxes climbed to about $49 million [S1-7f3a].
"""
SWAPPED = """| Row | 2016 | 2015 |
|---|---|---|
| Gas revenue | 3,176 | 3,802 [S1-7f3a] |"""


@pytest.mark.parametrize("answer", [*case_lines(WRONG), SWAPPED])
def test_a_wrong_figure_of_a_free_sentence_is_doubted(answer: str) -> None:
    assert not statuses(answer) <= {"supported", "derived"}, numbers_of(answer)


WORKED_OUT = """
Total revenue grew by 5.0% in 2016 [S1-7f3a]. | (17,667 - 16,833) / 16,833
Gas revenue was up $626 million in 2016 [S1-7f3a]. | 3,802 - 3,176
Gas revenue made up 22% of total revenue in 2016 [S1-7f3a]. | 3,802 / 17,667
- **Gas revenue:** +$626 million [S1-7f3a] | 3,802 - 3,176
# Worked out from what was rounded.
Gas revenue reached $3.8 billion after $3.2 billion, 19.7% more [S1-7f3a]. | 3,176
"""


@pytest.mark.parametrize(("answer", "formula"), case_rows(WORKED_OUT))
def test_what_cells_that_a_sentence_names_come_to_is_derived(answer: str, formula: str) -> None:
    (check,) = [check for check in numbers_of(answer) if check.status != "supported"]
    assert check.status == "derived"
    assert formula in (check.formula or "")


NOT_WORKED_OUT = """
Total revenue grew by 5.9% in 2016 [S1-7f3a].
Total revenue fell by 5.0% in 2016 [S1-7f3a].
Gas revenue was up $262 million in 2016 [S1-7f3a].
Gas revenue was $626 million less in 2016 [S1-7f3a].
Gas revenue made up 27% of total revenue in 2016 [S1-7f3a].
Tolls made up 22% of total revenue in 2016 [S1-7f3a].
"""


@pytest.mark.parametrize("answer", case_lines(NOT_WORKED_OUT))
def test_what_they_do_not_come_to_is_doubted(answer: str) -> None:
    assert statuses(answer) - {"supported", "derived"}


TURNED = """
Income tax expense fell to $390 million in 2016 from $370 million in 2015
Income tax expense fell from $370 million to $390 million
"""


@pytest.mark.parametrize("said", case_lines(TURNED))
def test_a_move_that_is_told_the_other_way_than_its_figures_go_is_contradicted(said: str) -> None:
    assert "contradicted" in statuses(f"{said} [S1-7f3a].")


NOT_TURNED = """
Income tax expense rose to $390 million in 2016 from $370 million in 2015
Income tax expense went from $370 million to $390 million
It raised income before income taxes to $49 million and income tax expense from $370 million to $390 million
Costs fell, and income tax expense rose from $370 million to $390 million
"""


@pytest.mark.parametrize("said", case_lines(NOT_TURNED))
def test_a_move_that_is_told_as_its_figures_go_is_not(said: str) -> None:
    assert "contradicted" not in statuses(f"{said} [S1-7f3a].")

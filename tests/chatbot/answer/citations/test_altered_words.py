"""Statements without quotation marks that repeat a page but for a word that turns its sense."""

from __future__ import annotations

import pytest

from chatbot.answer.citations.citation_spans import check_answer
from chatbot.records import Citation
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over

PAGE = """The suspension requires a resolution adopted by three fifths of the members of Parliament. It \
lasts for one fiscal year
and may be extended once; it shall never exceed two years. The State does not guarantee the debt of \
municipalities and does not take it over.
The appropriation lapses after four years. The levy on betting is abolished in 2027. The withdrawal limit is \
four per cent of the fund's assets.
Reserves shall be at least 15 days of spending before the end of the year. The Council raised the rate in \
March and looks through the first rise
in food prices. Members expressed a preference that a vote on all salaries be held every year.
Bonds with a four-year term are sold in spring. The rules may not be waived by the ministry of finance alone.
"""


def cited(statement: str) -> Citation:
    """The citation of a statement that is said to stand on the page."""
    _, (citation,), _ = check_answer(f"{statement} [S1-7f3a]", prompt_over(hit_of(PAGE)))
    return citation


TURNED = """
It requires a resolution adopted by two fifths of the members of Parliament. | the page says “three” where \
the answer says “two”
It lasts for one fiscal year and may be extended twice; it shall never exceed two years. | the page says \
“once” where the answer says “twice”
The State does guarantee the debt of municipalities and does not take it over. | the page has “not”, the \
answer does not
The appropriation lapses after nine years. | the page says “four” where the answer says “nine”
Four fifths of the members of Parliament adopt the resolution. | the page says “three” where the answer says \
“four”
The levy on betting is not abolished in 2027. | the answer has “not”, the page does not
The withdrawal limit is nine per cent of the fund's assets. | the page says “four” where the answer says \
“nine”
The withdrawal limit equals nine per cent of the fund's assets. | the page says “four” where the answer says \
“nine”
Reserves shall be at most 15 days of spending before the end of the year. | the page says “least” where the \
answer says “most”
Reserves may be at least 15 days of spending before the end of the year. | the page says “shall” where the \
answer says “may”
Reserves shall be at least 15 days of spending after the end of the year. | the page says “before” where the \
answer says “after”
The State does guarantee the debt of municipalities and does take it over. | the page has “not”, the answer \
does not
The Council lowered the rate in March and looks through the first rise in food prices. | the page says \
“raised” where the answer says “lowered”
Bonds with a nine-year term are sold in spring. | the page says “four” where the answer says “nine”
Members expressed a preference for polls that are spread out, every two years. | the page says “every year” \
where the answer says “every two years”
The “levy on betting” and more: the State does guarantee the debt of municipalities and does not take it \
over. | the page has “not”, the answer does not
"""


@pytest.mark.parametrize(("statement", "reason"), case_rows(TURNED))
def test_a_word_that_turns_the_sense_is_no_verified_statement_and_the_reason_names_it(
    statement: str, reason: str
):
    citation = cited(statement)
    assert not citation.verified
    assert citation.reason == reason
    # What the page has can still be looked at.
    assert citation.quote
    assert PAGE[citation.start : citation.end] == citation.quote


SAME_SENSE = """
It requires a resolution adopted by three fifths of the members of Parliament.
Members expressed a preference for a vote on all salaries every single year.
According to the statement, the suspension requires a resolution adopted by three fifths of all members of \
Parliament.
The State does not guarantee municipal debt and does not take it over.
The State doesn't guarantee the debt of municipalities and does not take it over.
The State never guarantees, and does not take over, the debt of municipalities.
Reserves must be at least 15 days of spending before the end of the year.
Reserves shall be not less than 15 days of spending before the end of the year.
The withdrawal limit is 4 per cent of the fund's assets.
Reserves shall be no fewer than 15 days of spending before the end of the year.
Reserves shall not be below 15 days of spending before the end of the year.
The rules must not be waived by the ministry of finance alone.
The rules cannot be waived by the ministry of finance alone.
In March the Council raised the rate and looks through the first rise in food prices.
"""


@pytest.mark.parametrize("statement", case_lines(SAME_SENSE))
def test_other_wordings_of_the_same_are_not_doubted(statement: str):
    assert not cited(statement).doubted


def test_a_clause_that_is_put_in_is_not_compared():
    assert not cited("The appropriation, which does not matter here, lapses after four years.").doubted


def test_few_words_in_common_are_not_compared_word_by_word():
    statement = (
        "Nine ministers do not agree on whether municipalities should pay, although the appropriation "
        "lapses after four years."
    )
    assert not cited(statement).doubted

"""Where a quotation stands on a page, whatever its case, spacing, hyphens and outer punctuation."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatbot.answer.citations.quotation_lookup import (
    PARTS_APART,
    copied_passage,
    locate,
    quoted_passage,
    row_behind_head,
)
from chatbot.evidence.page import PageEvidence, page_of
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of

SPEECH = """112. The total expenditure is expected at ` 50.65 lakh crore. The fiscal deficit is
expected to be 4.4 per cent of GDP, and the “primary deficit” 0.8 per
cent. The policy repo rate was cut by 25 basis points to 5.50 per cent.
113. A fund for self-\nassessment of 24 munici\u00adpalities will be set up at a cost of $1,577 million.
"""
OWN_WORDS = """
The fiscal deficit is expected to be 4.4 per cent | The fiscal deficit is/expected to be 4.4 per cent
THE  FISCAL deficit is — expected | The fiscal deficit is/expected
“primary deficit” 0.8 per cent. | “primary deficit” 0.8 per/cent.
"primary deficit" 0.8 | primary deficit” 0.8
self-assessment of 24 municipalities | self-/assessment of 24 munici\u00adpalities
$1,577 million | $1,577 million
deficit | deficit
"""


@pytest.mark.parametrize(("quote", "found"), case_rows(OWN_WORDS))
def test_locate_gives_the_page_s_own_words(quote, found):
    """found: with "/" where the page's line ends."""
    span = locate(SPEECH, quote)
    assert span is not None
    assert SPEECH[slice(*span)] == found.replace("/", "\n")


@pytest.mark.parametrize(
    "quote", ["the fiscal surplus is", "deficit fiscal", "", "…", "efici", "4.40 per cent", "1,57"]
)
def test_locate_finds_whole_words_in_order_or_nothing(quote):
    assert locate(SPEECH, quote) is None


@given(st.text(), st.integers(0, 200), st.integers(0, 200))
@example("ﬁscal ½ straße ŉ 1\u00ad2", 0, 20)
def test_whatever_stands_on_a_page_is_located_there(page, start, length):
    piece = page[start : start + length]
    span = locate(page, piece)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(page)
    ascii_only = re.sub(r"[^\x00-\x7f]", " ", piece.lower())
    words = re.findall(r"[a-z]+", ascii_only)
    if piece == page and words:
        assert span is not None


def page_with(text: str) -> PageEvidence:
    return page_of(hit_of(text))


FUNDS = """The pension fund was set up in 1998. It pays 40 million crowns a year. The fund's staff of nine \
is paid by the state.
The lease of the building expires in December 2026 and may be renewed."""
APART = """
The pension fund … expires in December 2026
The pension fund was set up … renewed
may be renewed … The lease of the building
may be renewed … The lease of the building … may be renewed
"""


@pytest.mark.parametrize("quotation", case_lines(APART))
def test_parts_of_a_quotation_are_not_found_in_another_order_or_far_apart(quotation: str) -> None:
    place, reason, _ = quoted_passage([quotation.split(" … ")], page_with(FUNDS))
    assert reason == PARTS_APART
    assert place[0] < 0


NEAR = """
# A sentence of its own.
The pension fund was set up in 1998 … The lease of the building expires
The lease of … expires in December 2026
The pension fund … pays 40 million crowns
The fund's staff … the building expires
The pension fund … pays 40 million … staff of nine
"""


@pytest.mark.parametrize("quotation", case_lines(NEAR))
def test_parts_of_a_quotation_stand_in_order_and_near_one_another(quotation: str) -> None:
    place, reason, _ = quoted_passage([quotation.split(" … ")], page_with(FUNDS))
    assert reason == ""
    assert place[0] >= 0


def test_two_quotations_may_stand_apart() -> None:
    quotations = [["expires in December 2026"], ["The pension fund"]]
    _, reason, _ = quoted_passage(quotations, page_with(FUNDS))
    assert reason == ""


def test_copied_parts_follow_one_another() -> None:
    text = FUNDS.replace("\n", " ")
    place = copied_passage(["The pension fund", "40 million crowns a year"], page_with(text))
    assert place is not None
    assert text[slice(*place)] == "The pension fund was set up in 1998. It pays 40 million crowns a year"
    assert copied_passage(["40 million crowns a year", "The pension fund"], page_with(text)) is None


@pytest.mark.timed
def test_many_parts_or_colons_take_time_in_proportion() -> None:
    view = page_with("a " * 10_000 + "5 " * 500)
    begun = time.process_time()
    assert copied_passage(["a"] * 1_600, view) is None
    assert copied_passage(["a"] * 20, view) is not None
    assert row_behind_head("a" + ": (5" * 1_250, view) is None
    assert row_behind_head("a: " + "(5) " * 1_250, view) is None
    assert time.process_time() - begun < 0.5

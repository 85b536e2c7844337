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
from chatbot.records import Hit

SPEECH = """112. The total expenditure is expected at ` 50.65 lakh crore. The fiscal deficit is
expected to be 4.4 per cent of GDP, and the “primary deficit” 0.8 per
cent. The policy repo rate was cut by 25 basis points to 5.50 per cent.
113. A fund for self-\nassessment of 24 munici\u00adpalities will be set up at a cost of $1,577 million.
"""


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        (
            "The fiscal deficit is expected to be 4.4 per cent",
            "The fiscal deficit is\nexpected to be 4.4 per cent",
        ),
        ("THE  FISCAL deficit is — expected", "The fiscal deficit is\nexpected"),
        ("“primary deficit” 0.8 per cent.", "“primary deficit” 0.8 per\ncent."),
        ('"primary deficit" 0.8', "primary deficit” 0.8"),
        ("self-assessment of 24 municipalities", "self-\nassessment of 24 munici\u00adpalities"),
        ("$1,577 million", "$1,577 million"),
        ("deficit", "deficit"),
    ],
)
def test_locate_gives_the_page_s_own_words(quote, found):
    span = locate(SPEECH, quote)
    assert span is not None
    assert SPEECH[slice(*span)] == found


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
    words = re.findall(
        r"[a-z]+", "".join(character if character.isascii() else " " for character in piece.lower())
    )
    if piece == page and words:
        assert span is not None


def page_with(text: str) -> PageEvidence:
    return page_of(
        Hit("report.pdf", 1, 1, "1", "printed", "text", None, "1:1", text=text[:50], page_text=text)
    )


FUNDS = """The pension fund was set up in 1998. It pays 40 million crowns a year. The fund's staff of nine \
is paid by the state.
The lease of the building expires in December 2026 and may be renewed."""


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (["The pension fund", "expires in December 2026"], PARTS_APART),
        (["The pension fund was set up", "renewed"], PARTS_APART),
        (
            ["The pension fund was set up in 1998", "The lease of the building expires"],
            "",
        ),  # a sentence of its own
        (["may be renewed", "The lease of the building"], PARTS_APART),
        (["may be renewed", "The lease of the building", "may be renewed"], PARTS_APART),
        (["The lease of", "expires in December 2026"], ""),
        (["The pension fund", "pays 40 million crowns"], ""),
        (["The fund's staff", "the building expires"], ""),
        (["The pension fund", "pays 40 million", "staff of nine"], ""),
    ],
)
def test_parts_of_a_quotation_stand_in_order_and_near_one_another(parts: list[str], reason: str) -> None:
    place, found, _ = quoted_passage([parts], page_with(FUNDS))
    assert (found, place[0] < 0) == (reason, bool(reason))


def test_two_quotations_may_stand_apart() -> None:
    assert quoted_passage([["expires in December 2026"], ["The pension fund"]], page_with(FUNDS))[1] == ""


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

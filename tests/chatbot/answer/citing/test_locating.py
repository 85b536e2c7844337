"""Where a quotation stands on a page, whatever its case, spacing, hyphens and outer punctuation."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatbot.answer.citing.locating import locate

SPEECH = """112. The total expenditure is expected at ` 50.65 lakh crore. The fiscal deficit is
expected to be 4.4 per cent of GDP, and the “primary deficit” 0.8 per
cent. The policy repo rate was cut by 25 basis points to 5.50 per cent.
113. A fund for self-\nassessment of 24 munici\u00adpalities will be set up at a cost of $1,577 million.
"""


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The fiscal deficit is expected to be 4.4 per cent", "The fiscal deficit is\nexpected to be 4.4 per cent"),
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


@pytest.mark.parametrize("quote", ["the fiscal surplus is", "deficit fiscal", "", "…", "efici", "4.40 per cent", "1,57"])
def test_locate_finds_whole_words_in_order_or_nothing(quote):
    assert locate(SPEECH, quote) is None


@given(st.text(), st.integers(0, 200), st.integers(0, 200))
@example("ﬁscal ½ straße ŉ 1\u00ad2", 0, 20)
def test_whatever_stands_on_a_page_is_located_there(page, start, length):
    piece = page[start : start + length]
    span = locate(page, piece)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(page)
    words = re.findall(r"[a-z]+", "".join(character if character.isascii() else " " for character in piece.lower()))
    if piece == page and words:
        assert span is not None

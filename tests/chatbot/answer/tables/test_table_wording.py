"""Rows in a sentence."""

from __future__ import annotations

import pytest

from chatbot.answer.tables.table_wording import in_a_sentence
from tests.case_rows import case_rows

SENTENCES = """
Net sales | $ 19,222 million @ 2017 | Net sales were $19,222 million (2017).
Revenue (1)(2) | 5 @ 2017; 6 @ 2016 | Revenue was 5 (2017) and 6 (2016).
Earnings per share – basic | $ 2.78 @ Year ended May 31, > 2019 | Earnings per share – basic were $2.78 \
(Year ended May 31, 2019).
capital expenditures, net | (6,174 ) million @ 2023 | Capital expenditures, net were (6,174) million (2023).
Total loss | 5% @ 2023 | Total loss was 5% (2023).
# A head that names no period goes with what stands above it.
United Kingdom | 5 @ May 31, > 2019 > Revenues | United Kingdom was 5 (May 31, 2019, Revenues).
"""


def stated_in(text: str) -> list[tuple[str, str]]:
    """The figures with their heads of "FIGURE @ HEAD; FIGURE @ HEAD"."""
    stated = []
    for part in text.split("; "):
        figure, head = part.split(" @ ")
        stated.append((figure, head))
    return stated


@pytest.mark.parametrize(("label", "stated", "sentence"), case_rows(SENTENCES))
def test_a_row_in_a_sentence(label: str, stated: str, sentence: str) -> None:
    assert in_a_sentence(label, stated_in(stated)) == sentence


# Two figures under one head, and what is no name.
NO_SENTENCES = """
Net revenues | 5 @ First Quarter; 6 @ First Quarter
Earnings | 8.33 @ Reported > 2022; (0.52) @ Currency > 2022
2042 | 5 @ 2017
"""


@pytest.mark.parametrize(("label", "stated"), [*case_rows(NO_SENTENCES), ("", "5 @ 2017")])
def test_a_row_that_makes_no_sentence(label: str, stated: str) -> None:
    assert in_a_sentence(label, stated_in(stated)) == ""

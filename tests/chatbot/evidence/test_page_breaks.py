"""Sentences that go on over a page break are read whole, and nothing else is joined."""

from __future__ import annotations

import pytest

from chatbot.evidence.page_breaks import AHEAD, BEHIND, body_with_breaks
from chatbot.evidence.passages import read_passages
from ingestion.language.sentences import sentences
from tests.case_rows import case_rows

TEXT = "Budget holders are responsible for the budgets of services and report on them.\n"

OVER = case_rows("""
A holder may move funds up to a limit of | 75,000 pounds in a year. More needs a vote.
The limits of the year hold for all of the transfers that are made from | 1 July 2025 on. More needs a vote.
A holder asks the Treasurer and then, in the spring, also the Audit | Committee in May. It is public.
Funds are moved in March, in June and in trans- | ferred form in May. It is public.
A holder may move funds up to a limit of\\n1 As amended. | 75,000 pounds in a year.
""")


@pytest.mark.parametrize(("end", "begin"), OVER)
def test_a_sentence_has_the_rest_of_it_from_the_next_page(end: str, begin: str) -> None:
    rest = sentences(begin)[0]
    last, gap, note = end.partition("\\n")
    above = TEXT.replace("services", "services.1 They") if note else TEXT
    first = above + "\n".join([last, note] if gap else [last])
    whole = body_with_breaks(first, "", begin)
    assert f"{last} {AHEAD} {rest}" in whole
    on_next = body_with_breaks(f"{begin}\n{TEXT}", first, "")
    assert f"{last} {BEHIND} {begin}" in on_next
    for page in (whole, on_next):
        assert any(last in passage.text and rest in passage.text for passage in read_passages(page, page, []))


def test_a_long_sentence_goes_on_from_a_short_last_line() -> None:
    end = f"{TEXT}After the fire at the plant the board of the county rented\ndiesel"
    whole = body_with_breaks(end, "", "generators for six months. It is public.")
    assert whole.endswith(f"diesel {AHEAD} generators for six months.")
    assert AHEAD not in body_with_breaks(f"{TEXT}Rented\ndiesel", "", "generators for six months.")


def test_running_lines_that_two_pages_share_are_passed_over() -> None:
    first = f"County Rules\nPage 1 of 2\n{TEXT}A holder may move funds up to a limit of\nPrinted in 2024"
    second = "County Rules\nPage 2 of 2\n75,000 pounds in a year. More needs a vote.\nPrinted in 2024"
    assert f"limit of {AHEAD} 75,000 pounds in a year.\nPrinted" in body_with_breaks(first, "", second)
    assert f"limit of {BEHIND} 75,000 pounds in a year. More" in body_with_breaks(second, first, "")


def test_a_note_that_no_mark_refers_to_and_a_head_of_one_page_alone_are_passed_over() -> None:
    first = (
        f"County Rules\n{TEXT}The reserve is kept between\n1 Reserve: funds without a purpose.\nRules, page 1"
    )
    second = f"County Reserve Policy\nRules, page 2\nfour and seven months of spending. It is held.\n{TEXT}"
    assert f"kept between {AHEAD} four and seven months of spending.\n1 Reserve" in body_with_breaks(
        first, "", second
    )
    assert f"kept between {BEHIND} four and seven months of spending. It" in body_with_breaks(
        second, first, ""
    )
    noted = second.replace("four and", "1 Four weeks are the least.\nfour and")
    assert body_with_breaks(first, "", noted) == first


def test_a_full_line_below_short_ones_of_columns_goes_on() -> None:
    narrow = "Funds of a year\nare moved only\nby a vote.\n" * 4
    first = (
        f"{narrow}{TEXT}A holder who moves any of the funds of the county asks the Treasurer, who signs it"
    )
    assert "signs it \ufdd0 within five days." in body_with_breaks(
        first, "", "within five days. It is public."
    )


APART = case_rows("""
The sentence ends with the page. | The next one begins here.
The sentence ends with the page.¹ | the list goes on
The limits are: | (a) 75,000 pounds
Chapter 4 Transfers of Funds | The holder may move funds.
A holder may move funds up to a limit of | ² The limit is of 2024.
A holder may move funds up to a limit of | COUNTY OF HARROW, RULES ON TRANSFERS OF FUNDS
2023 2024 Limits of funds | primarily through transfers of funds in May.
Limit rate\\n2023\\n2024\\n2025\\nLimit of the year Limit of the county Limit of transfers | primarily in May.
Total 4,120 3,980 | 75,000 pounds in a year.
It was adopted in May | Annex
1 Limits of transfers ........................ 4 | 75,000 pounds in a year.
""")


@pytest.mark.parametrize(("end", "begin"), APART)
def test_what_is_whole_stays_as_it_is(end: str, begin: str) -> None:
    end = end.replace("\\n", "\n")
    first = end if "\n" in end else f"{TEXT}{end}"
    assert body_with_breaks(first, "", begin) == first
    assert body_with_breaks(begin, first, "") == begin


def test_a_page_alone_stays_as_it_is() -> None:
    assert body_with_breaks(TEXT, "", "") == TEXT
    assert body_with_breaks("", "", "") == ""

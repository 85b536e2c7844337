"""What of a page can be quoted."""

from __future__ import annotations

from chatbot.evidence.passages import read_passages

FORM = """Term sheet
Borrower: Lindqvist Shipping
Lender: Nordvik Bank
Margin: 2.35 per cent
The loan is repaid in 24 equal quarterly instalments, each of which includes interest.
Maturity: 30 June 2031"""
UNRULED = """Investment policy
Asset class Target Range
Equities 55 % 45-65 %
Bonds 30 % 20-40 %
Spending is limited to 4 per cent of the average value over three years."""
HEADINGS = """Chapter 3: Revenue
Excise duties were raised by 4 per cent in the year, and brought in 120 million crowns.
Annual Report 2024
Growth of 3.2 per cent
Output grew in all parts of the country, and most of all in the north."""


def read(page: str) -> list[tuple[str, str]]:
    """(head, text) of each passage."""
    return [(passage.head, passage.text) for passage in read_passages(page, page, [])]


def test_lines_of_a_form_are_passages_and_no_headings() -> None:
    passages = read(FORM)
    assert ("Term sheet", "Lender: Nordvik Bank") in passages
    assert ("Term sheet", "Margin: 2.35 per cent") in passages
    assert "Margin" not in "".join(head for head, _ in passages)


def test_rows_of_an_unruled_table_with_ranges_are_passages_under_its_heads() -> None:
    passages = read(UNRULED)
    assert ("Asset class Target Range", "Equities 55 % 45-65 %") in passages
    assert ("Asset class Target Range", "Bonds 30 % 20-40 %") in passages


def test_a_line_that_stands_alone_above_prose_stays_its_heading() -> None:
    heads, texts = zip(*read(HEADINGS), strict=True)
    assert heads == ("Chapter 3: Revenue", "Growth of 3.2 per cent")
    assert all(text.endswith(".") for text in texts)

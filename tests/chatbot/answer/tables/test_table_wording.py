"""Rows in a sentence."""

from __future__ import annotations

import pytest

from chatbot.answer.tables.table_wording import in_a_sentence


@pytest.mark.parametrize(
    ("label", "stated", "sentence"),
    [
        ("Net sales", [("$ 19,222 million", "2017")], "Net sales were $19,222 million (2017)."),
        ("Revenue (1)(2)", [("5", "2017"), ("6", "2016")], "Revenue was 5 (2017) and 6 (2016)."),
        (
            "Earnings per share – basic",
            [("$ 2.78", "Year ended May 31, > 2019")],
            "Earnings per share – basic were $2.78 (Year ended May 31, 2019).",
        ),
        (
            "capital expenditures, net",
            [("(6,174 ) million", "2023")],
            "Capital expenditures, net were (6,174) million (2023).",
        ),
        ("Total loss", [("5%", "2023")], "Total loss was 5% (2023)."),
        # Two figures under one head, and what is no name.
        ("Net revenues", [("5", "First Quarter"), ("6", "First Quarter")], ""),
        ("Earnings", [("8.33", "Reported > 2022"), ("(0.52)", "Currency > 2022")], ""),
        # A head that names no period goes with what stands above it.
        (
            "United Kingdom",
            [("5", "May 31, > 2019 > Revenues")],
            "United Kingdom was 5 (May 31, 2019, Revenues).",
        ),
        ("2042", [("5", "2017")], ""),
        ("", [("5", "2017")], ""),
    ],
)
def test_a_row_in_a_sentence(label: str, stated: list[tuple[str, str]], sentence: str) -> None:
    assert in_a_sentence(label, stated) == sentence

"""Lines and heads of units: each currency with each scale, in each order and in brackets or without, and what
looks like one and is none.
"""

from __future__ import annotations

from itertools import product

import pytest

from ingestion.language.numbers import find_figures, scale_marks, stated_mark
from ingestion.tables.captions import is_unit
from tests.case_rows import case_lines, case_rows

CODES = {code: code for code in ("EUR", "USD", "CHF", "NOK", "SEK", "DKK", "PLN", "INR", "AUD")}
CURRENCIES = CODES | {
    "€": "EUR",
    "$": "USD",
    "US$": "USD",
    "£": "GBP",
    "RM": "MYR",
    "₹": "INR",
    "₦": "NGN",
    "R$": "BRL",
}
AFTER = {
    " million": 1e6,
    " m": 1e6,
    "m": 1e6,
    " mn": 1e6,
    " mm": 1e6,
    " mill.": 1e6,
    " mio.": 1e6,
    " billion": 1e9,
}
AFTER |= {
    " bn": 1e9,
    "'000": 1e3,
    "’000": 1e3,
    " thousand": 1e3,
    " thsd.": 1e3,
    " Tsd.": 1e3,
    "'m": 1e6,
    "'bn": 1e9,
}
BEFORE = {
    "million ": 1e6,
    "Mio. ": 1e6,
    "Mrd. ": 1e9,
    "Tsd. ": 1e3,
    "millions of ": 1e6,
    "thousands of ": 1e3,
}
BEFORE |= {"milliers d'": 1e3, "millones de ": 1e6, "Millionen ": 1e6}
TOUCHING = {"k": 1e3, "T": 1e3, "M": 1e6, "m": 1e6}
FRAMES = ("{}", "({})", "2024 {}", "2024 > {}", "in {}", "(in {})")
LINES = [
    (f"{money}{word}", scale, code)
    for (money, code), (word, scale) in product(CURRENCIES.items(), AFTER.items())
]
LINES += [
    (f"{word}{money}", scale, code)
    for (money, code), (word, scale) in product(CURRENCIES.items(), BEFORE.items())
]
LINES += [
    (f"{word}{money}", scale, code)
    for (money, code), (word, scale) in product(CODES.items(), TOUCHING.items())
]
LINES += [
    (f"{money} in {word}", scale, code)
    for money, code in CURRENCIES.items()
    for word, scale in (("millions", 1e6), ("mm", 1e6), ("thousands", 1e3))
]


@pytest.mark.parametrize("frame", FRAMES)
def test_currency_scale_and_order_are_read_in_any_frame(frame: str) -> None:
    wrong = []
    for line, scale, code in LINES:
        if " in " in line and frame not in ("{}", "({})"):
            continue
        text = frame.format(line)
        mark = stated_mark(text)
        if mark is None or (mark.scale, mark.unit) != (scale, code):
            wrong.append((text, mark))
    assert not wrong


def test_such_a_line_alone_is_a_unit() -> None:
    assert not [line for line, *_ in LINES if not is_unit(line)]


OTHERS = case_rows("""
MSEK              | 1e6 | SEK
kEUR              | 1e3 | EUR
TCHF              | 1e3 | CHF
Rm                | 1e6 | ZAR
R million         | 1e6 | ZAR
N’million         | 1e6 | NGN
R'000             | 1e3 | ZAR
millions of euros | 1e6 | EUR
en milliers d'euros | 1e3 | EUR
millones de euros | 1e6 | EUR
mill. kroner      | 1e6 | crowns
miljoner kronor   | 1e6 | crowns
tkr               | 1e3 | crowns
$000              | 1e3 | USD
£000s             | 1e3 | GBP
₹ lakh            | 1e5 | INR
Rs. crore         | 1e7 | INR
""")


@pytest.mark.parametrize(("text", "scale", "unit"), OTHERS)
def test_forms_of_single_languages(text: str, scale: str, unit: str) -> None:
    (mark,) = scale_marks(text)
    assert (mark.scale, mark.unit) == (float(scale), unit)
    assert is_unit(text)


@pytest.mark.parametrize("text", ["000s", "'000", "(000's)", "(in thousands)", "2024 000s"])
def test_zeros_alone_are_thousands(text: str) -> None:
    mark = stated_mark(text)
    assert mark is not None
    assert (mark.scale, mark.unit) == (1e3, None)


NONE = """
R50
M3
Rm 204
Room m
section 24A
10 mm
(mm)
EUR 5 m
k
T1
M2 growth
Minutes
The mill closed
"""


@pytest.mark.parametrize("text", case_lines(NONE))
def test_what_only_looks_like_a_unit_is_none(text: str) -> None:
    assert stated_mark(text) is None


def test_millimetres_and_mills_scale_no_figure() -> None:
    rain, mills = find_figures("Some 30 mm of rain fell. The 5 mill workers left.")
    assert (rain.scale, mills.scale) == (1.0, 1.0)

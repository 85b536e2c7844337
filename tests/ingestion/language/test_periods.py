"""Periods by their grammar: every part of a year with every form of its year, dates, heads in several lines,
and what looks like one and is none.
"""

from __future__ import annotations

from itertools import product

import pytest

from ingestion.language.periods import find_periods, head_period, nearest_other, stands_for, without_periods
from tests.case_rows import case_lines, case_rows

# How a part of 2024 or 2025 is written: months, which of them, the part; <y> is the year.
PARTS = case_rows("""
3 | 3 | Q3 <y>
3 | 3 | 3Q <y>
3 | 3 | Q3 FY<y>
3 | 4 | Q4 of <y>
3 | 4 | fourth quarter of <y>
3 | 1 | First Quarter <y>
3 | 2 | 2nd quarter of fiscal year <y>
3 | 4 | last quarter of <y>
3 | 3 | 3. Quartal <y>
3 | 1 | premier trimestre <y>
6 | 1 | H1 <y>
6 | 2 | 2H <y>
6 | 1 | H1 FY<y>
6 | 1 | 1st Half <y>
6 | 1 | first half of <y>
6 | 2 | second half-year <y>
6 | 2 | 2. Halbjahr <y>
6 | 1 | HY <y>
9 | 1 | 9M <y>
9 | 1 | first nine months of <y>
9 | 1 | nine months <y>
6 | 1 | 6M FY<y>
12 | 0 | 12M <y>
12 | 0 | FY<y>
12 | 0 | CY <y>
""")
SHORT = case_rows("""
3 | 3 | Q3'<y>
3 | 4 | 4Q<y>
3 | 4 | Q4-<y>
3 | 4 | <y>Q4
6 | 1 | 1H<y>
6 | 2 | H2’<y>
6 | 1 | H1 FY<y>
9 | 1 | 9M<y>
9 | 1 | 9M'<y>
12 | 0 | FY<y>
12 | 0 | FY'<y>
""")
WRITTEN = [(*part, "2024") for part in PARTS] + [(*part, "24") for part in SHORT]


@pytest.mark.parametrize(("months", "part", "way", "year"), WRITTEN)
def test_a_part_of_a_year_has_its_length_and_number(months: str, part: str, way: str, year: str) -> None:
    text = way.replace("<y>", year)
    (period,) = find_periods(text)
    assert period.text == text
    assert (period.start_year, period.end_year) == (2024, 2024)
    assert (period.months, period.part) == (int(months), int(part))
    (in_a_sentence,) = find_periods(f"revenue rose, {text}, by 5 million")
    assert in_a_sentence.text == text


ORDERED = [
    f"{first}{gap}{second}" for gap in (" ", " > ") for first, second in (("2024", "H1"), ("H1", "2024"))
]


@pytest.mark.parametrize("text", [*ORDERED, "2024 > First half", "Six months ended June 30, > 2024", "24H1"])
def test_the_order_of_a_part_and_its_year_does_not_matter(text: str) -> None:
    (period,) = find_periods(text)
    assert (period.months, period.end_year) == (6, 2024)
    assert not without_periods(text).strip()


DAYS = ("31 December <y>", "December 31, <y>", "31 Dec <y>", "31. Dezember <y>", "31st of December, <y>")
NUMBERED = ("31.12.<y>", "31/12/<y>", "12/31/<y>", "31-12-<y>", "<y>-12-31", "<y>/12/31")
SHORT_DAYS = ("31 Dec 24", "31-Dec-24", "31.12.24", "31/12/24", "Dec 31, '24")
MONTHS = ("December <y>", "Dec-<y>", "12/<y>", "Dezember <y>", "décembre <y>")
DATES = [way.replace("<y>", "2024") for way in DAYS + NUMBERED + MONTHS]


@pytest.mark.parametrize("text", [*DATES, *SHORT_DAYS, "Dec-24", "Dec '24", "as at\n31.12.2024"])
def test_a_date_is_a_day_of_its_month(text: str) -> None:
    (period,) = find_periods(text)
    assert (period.months, period.month, period.end_year) == (0, 12, 2024)


LENGTHS = case_rows("""
12 | year | years | fiscal year | financial year | twelve months | 52 weeks
3  | quarter | three months | 3 months | 13 weeks | thirteen weeks | third quarter
6  | half-year | half year | six months | 6 months | 26 weeks
9  | nine months | 9 months | nine-month period | 39 weeks
""")
ENDS = ("ended 30 September 2024|ended September 30, 2024|to 30.09.2024|ended > September 30, > 2024").split(
    "|"
)
ENDED = [(int(row[0]), word, end) for row in LENGTHS for word, end in product(row[1:], ENDS)]


@pytest.mark.parametrize(("months", "length", "end"), ENDED)
def test_what_ended_on_a_day_is_one_period(months: int, length: str, end: str) -> None:
    (period,) = find_periods(f"{length} {end}")
    assert (period.months, period.month, period.end_year) == (months, 9, 2024)


SPANS = case_rows("""
3 | Oct-Dec 2024
3 | Oct–Dec '24
3 | October to December 2024
3 | 1 October to 31 December 2024
6 | July - December 2024
6 | 7–12/2024
3 | 1.10.–31.12.2024
12 | FY12/24
9 | Apr-Dec 2024
12 | Jan-Dec 2024
12 | YTD December 2024
""")


@pytest.mark.parametrize(("months", "text"), SPANS)
def test_months_from_one_to_another_are_counted(months: str, text: str) -> None:
    (period,) = find_periods(text)
    assert (period.text, period.months, period.month) == (text, int(months), 12)


BASES = case_rows("""
actual   | 24A | 2024A | FY24A | Actual > 2024 | 2024 Actual | 2024 (actual)
budget   | 24B | 2024B | Budget 2024 | 2024 > Budget | 2024 revised budget | BE 2024 | 2024 BE
forecast | 24E | 24F | 2024E | 2024P | 4Q24E | Dec-24E | forecast for 2024 | 2024 estimate | RE 2024
guidance | FY24 guidance | target for 2024 | 2024 > Guidance
         | 2024 | FY24 | in 2024, the
""")


@pytest.mark.parametrize(("basis", "text"), [(row[0], text) for row in BASES for text in row[1:]])
def test_a_period_says_whether_it_was_planned(basis: str, text: str) -> None:
    (period,) = find_periods(text)
    assert (period.basis, period.end_year) == (basis, 2024)


def test_years_in_a_row_are_of_the_same_part() -> None:
    first, second = find_periods("three months ended June 30, 2024 and 2023")
    assert (first.months, first.month, second.months, second.month) == (3, 6, 3, 6)
    assert [period.basis for period in find_periods("23A 24E 25E")] == ["actual", "forecast", "forecast"]


NONE = """
R50
M3
9M
24A Main Street
section 24A
Series 2024A bonds
On 31 December 24 people left.
9M particulate masks
3M sells tape
version 31.12
Q4
1H
"""


@pytest.mark.parametrize("text", case_lines(NONE))
def test_what_only_looks_like_a_period_is_none(text: str) -> None:
    assert find_periods(text) == []


def test_a_name_before_a_year_leaves_the_year_whole() -> None:
    (period,) = find_periods("The annual report of 3M 2024 says so.")
    assert (period.text, period.months) == ("2024", 12)
    (amount,) = find_periods("2024 NOK mill.")
    assert amount.text == "2024"


SUBSTITUTES = case_rows("""
yes | 2024 | FY2024
yes | 2024 | 31.12.2024
yes | 2024 | year ended 31 March 2024
yes | H1 2024 | six months ended 30 June 2024
yes | fourth quarter of 2024 | Oct-Dec 2024
yes | first nine months of 2024 | 9M24
yes | first eleven months of 2024 | 11M24
yes | Q3 2024 | 30 September 2024
no  | 2024 | H1 2024
no  | 2024 | 9M24
no  | 2024 | Q4'24
no  | 2024 | YTD 2024
no  | H1 2024 | 2024
no  | H1 2024 | H2 2024
no  | Q3 2024 | nine months ended 30 September 2024
no  | Q3 2024 | three months ended 30 June 2024
no  | 30 June 2024 | 31 December 2024
no  | 2024 budget | 2024A
""")


@pytest.mark.parametrize(("may", "asked", "other"), SUBSTITUTES)
def test_no_part_stands_for_a_year_or_another_part(may: str, asked: str, other: str) -> None:
    (wanted,), (found,) = find_periods(asked), find_periods(other)
    assert stands_for(wanted, found) is (may == "yes")
    assert (nearest_other([wanted], [found]) is None) is (may == "yes")


HEADS = case_rows("""
3  | Three months ended September 30, > Group > 2024 |
9  | 2024 | Income for the nine months ended 30 September
6  | 2024 EUR | H1 results
12 | Group > 2024 | Income statement
6  | H1 2024 | Income for the nine months ended 30 September
""")


@pytest.mark.parametrize(("months", "head", "above"), HEADS)
def test_the_length_may_stand_apart_from_the_year(months: str, head: str, above: str) -> None:
    period = head_period(head, above)
    assert period is not None
    assert (period.months, period.end_year) == (int(months), 2024)


def test_a_head_of_several_years_is_of_none() -> None:
    assert head_period("2024 vs 2023") is None
    assert head_period("Group") is None

"""Number formats: a value is shown as Excel and LibreOffice show it."""

from datetime import date, datetime, time, timedelta

import pytest

from ingestion.workbooks.number_formats import shown
from tests.case_rows import case_rows

NUMBERS = case_rows(r"""
1234567.891 | #,##0                                       | 1,234,568
1234567.891 | #,##0.00                                    | 1,234,567.89
2.345       | 0.00                                        | 2.35
-1234.5     | #,##0.0;(#,##0.0)                           | (1,234.5)
-2.5        | _(* #,##0_);_(* (#,##0);_(* "-"??_);_(@_)   | (3)
0           | _(* #,##0_);_(* (#,##0);_(* "-"??_);_(@_)   | -
0           | #,##0;(#,##0);-                             | -
-0.021      | 0.0%;[Red]-0.0%                             | -2.1%
0.1234      | 0.0%                                        | 12.3%
0.5         | 0%                                          | 50%
1234567     | #,##0,                                      | 1,235
1234567     | 0.0,,"m"                                    | 1.2m
-5          | "$"#,##0                                    | -$5
5           | [$€-407] #,##0.00                           | € 5.00
1234.5      | #,##0.00 [$€-1]                             | 1,234.50 €
45          | #,##0\ "bps"                                | 45 bps
7           | 0.0x                                        | 7.0x
1           | "Q"0                                        | Q1
12345       | 0000000                                     | 0012345
0.25        | .00                                         | .25
0.5         | #.##                                        | .5
123456789   | 0.00E+00                                    | 1.23E+08
0           | 0;-0;;@                                     |
12          | General                                     | 12
0.3         | General                                     | 0.3
1e20        | General                                     | 1E+20
-7          | General                                     | -7
1500000     | [>=1000000]0.0,,"m";0                       | 1500000
3.5         | # ?/?                                       | 3.5
""")


@pytest.mark.parametrize(("value", "form", "expected"), NUMBERS)
def test_a_number_is_shown_as_its_format_has_it(value: str, form: str, expected: str) -> None:
    number = float(value) if set(value) & set(".e") else int(value)
    assert shown(number, form) == expected


DAYS = case_rows(r"""
mm-dd-yy                 | 2024-12-03
d mmm yyyy               | 3 Dec 2024
mmm-yy                   | Dec-24
dddd, d. mmmm            | Tuesday, 3. December
yyyy-mm-dd hh:mm         | 2024-12-03 14:05
m/d/yyyy h:mm:ss AM/PM   | 12/3/2024 2:05:09 PM
[$-409]d\-mmm\-yyyy;@    | 3-Dec-2024
yyyy"Q4"                 | 2024Q4
""")


@pytest.mark.parametrize(("form", "expected"), DAYS)
def test_a_day_is_shown_as_its_format_has_it(form: str, expected: str) -> None:
    moment = datetime(2024, 12, 3, 14, 5, 9)  # noqa: DTZ001  # cells know no zones
    assert shown(moment, form) == expected


def test_what_is_no_number_is_shown_as_it_is() -> None:
    assert shown(None, "0") == ""
    assert shown(True, "0") == "TRUE"
    assert shown(" Net \n revenue ", "@") == "Net revenue"
    assert shown(date(2024, 1, 31), "d.m.yyyy") == "31.1.2024"
    assert shown(time(9, 5), "h:mm") == "9:05"
    assert shown(timedelta(hours=30, minutes=5), "[h]:mm:ss") == "30:05:00"
    assert shown(timedelta(hours=30, minutes=5), "[h]:mm") == "30:05"


def test_a_long_or_broken_format_shows_the_value_all_the_same() -> None:
    assert shown(5, '0"' + "x" * 10_000).startswith("5")
    assert shown(5, '";' * 5_000)
    assert shown(1e300, "#,##0.00") == "1.00E+300"

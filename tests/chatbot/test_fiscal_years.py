"""The month in which a fiscal year ends, as covers write it, and the year named with it."""

from __future__ import annotations

import pytest

from chatbot.comparison.fiscal_years import fiscal_month, fiscal_text
from tests.case_rows import case_rows

COVERS = """
For the fiscal year ended May 31, 2018 | 5
For the financial year ended 30 June 2024 | 6
Fiscal year ended 31st of March 2020 | 3
53 weeks ended February 3, 2018 | 2
The fiscal year from 1 April 2025 to 31 March 2026. | 3
For the quarterly period ended March 31, 2024 | 0
The year ended well. May is a month. | 0
"""


@pytest.mark.parametrize(("cover", "month"), case_rows(COVERS))
def test_the_month_is_read_from_the_first_page_that_names_it(cover: str, month: str) -> None:
    assert fiscal_month(["A cover.", cover]) == int(month)


YEARS = """
2018 | 5 | FY 2018 (to May)
2025-26 | 3 | FY 2025-26 (to March)
FY2024 | 9 | FY 2024 (to September)
2018 | 0 | 2018
Q1 2018 | 12 | Q1 2018
2020-2024 | 12 | 2020-2024
"""


@pytest.mark.parametrize(("period", "month", "expected"), case_rows(YEARS))
def test_a_year_is_named_with_its_last_month(period: str, month: str, expected: str) -> None:
    assert fiscal_text(period, int(month)) == expected

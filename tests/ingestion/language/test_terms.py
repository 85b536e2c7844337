"""Search terms: the same for indexing and for queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.language.terms import content_terms, terms
from tests.case_rows import case_rows

EXAMPLES = case_rows("""
The deficits of FY2018                  | deficit 2018
revenues in fy19                        | revenu 2019
2024-25 budget                          | 2024 2025 budget
$1,577 million                          | 1577 million
3.0 per cent                            | 3.0 per cent
policies, taxes, losses, basis, surplus | polici tax loss basi surplus
borrowing borrowed borrows              | borrow borrow borrow
the Treasury's debt-to-GDP              | treasuri debt gdp
""")
EXAMPLES += [("what is it", "")]


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_examples(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@given(st.text())
def test_terms_are_their_own_terms(text: str) -> None:
    once = terms(text)
    for term in once:
        assert term.strip()
    distinct = list(dict.fromkeys(once))
    assert content_terms(text) == distinct


def test_a_name_that_is_a_month_elsewhere_is_kept() -> None:
    assert terms("Chiang Mai") == ["chiang", "mai"]

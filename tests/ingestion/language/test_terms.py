"""Search terms: the same for indexing and for queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.language.terms import content_terms, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The deficits of FY2018", ["deficit", "2018"]),
        ("revenues in fy19", ["revenu", "2019"]),
        ("2024-25 budget", ["2024", "2025", "budget"]),
        ("$1,577 million", ["1577", "million"]),
        ("3.0 per cent", ["3.0", "per", "cent"]),
        ("policies, taxes, losses, basis, surplus", ["polici", "tax", "loss", "basi", "surplus"]),
        ("borrowing borrowed borrows", ["borrow", "borrow", "borrow"]),
        ("the Treasury's debt-to-GDP", ["treasuri", "debt", "gdp"]),
        ("what is it", []),
    ],
)
def test_examples(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text())
def test_terms_are_their_own_terms(text: str) -> None:
    once = terms(text)
    assert all(once) and not any(term.isspace() for term in once)
    assert content_terms(text) == list(dict.fromkeys(once))


def test_a_name_that_is_a_month_elsewhere_is_kept() -> None:
    assert terms("Chiang Mai") == ["chiang", "mai"]

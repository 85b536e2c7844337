"""Slips of the keyboard are put right by the words of the documents, and nothing else is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import pytest

from chatbot.search.spelling import corrected_spelling
from ingestion.language.terms import terms
from tests.case_rows import case_rows

PAGES = ("inflation", "inflation", "government liabilities", "Zambia", "household spending", "gender")


def frequencies(of: Collection[str]) -> dict[str, int]:
    counts = Counter(term for page in PAGES for term in set(terms(page)))
    return {term: counts[term] for term in of}


SLIPS = case_rows("""
inflaton sept 2024     | inflation sept 2024
goverment liabilties   | government liabilities
household spendnig     | household spending
""")


@pytest.mark.parametrize(("query", "meant"), SLIPS)
def test_a_slip_is_put_right(query: str, meant: str) -> None:
    assert corrected_spelling(query, frequencies) == meant


@pytest.mark.parametrize(
    "query",
    [
        "",
        "inflation in Zambai",  # a name: who asks of another country is told that it is not there
        "the lender of last resort",  # a word of English that is near another
        "infla",
        "Inflatoin in 2024?",  # a capital begins a name
        "what was zambai's revenue",
        "INFLATON",
        "Wie hoch ist die Inflaton nach Angaben der Zentralbank wirklich gewesen",  # another language
        "qwertyuiop asdfghjkl",
        "x" * 10_000,
    ],
)
def test_all_else_is_left_as_it_is(query: str) -> None:
    assert corrected_spelling(query, frequencies) == query

"""Which documents a question means."""

from fractions import Fraction

import pytest

from chatbot.search.question_terms import understand
from chatbot.search.routing import document_parts, name_share, named_share, route, years_of
from ingestion.records import NO_FACTS, DocumentFacts
from tests.case_rows import case_rows

NAMED_SHARES = case_rows("""
BESTBUY_2024Q2_10Q.pdf              | How many Best Buy stores are there?             | 1.0
General_Mills_2022.pdf              | What did General Mills pay?                     | 1.0
JOHNSON_JOHNSON_2022Q4_EARNINGS.pdf | How did JnJ's sales grow?                       | 0.9
rbi_monetary_policy_report.pdf      | What did the Reserve Bank of India decide?      | 1.0
FOMCpresconf20210616.pdf            | What did the Federal Open Market Committee say? | 1.0
BoE_2024.pdf                        | Why did the Bank of England raise rates?        | 1.0
bop_2024.pdf                        | What is the balance of payments?                | 0.0
FOMCpresconf20190731.pdf            | Did the FOMC cut rates?                         | 1.0
india_budget_speech_2025-26.pdf     | What is the limit in the Indian budget?         | 1.0
japan_outlook.pdf                   | What of Japanese debt?                          | 1.0
plan_for_norway.pdf                 | What is planned?                                | 0.0
NIKE_2018_10K.pdf                   | What did Adidas sell?                           | 0.0
2024.pdf                            | What is the rule?                               | 0.0
""")


@pytest.mark.parametrize(("name", "question", "share"), NAMED_SHARES)
def test_names(name: str, question: str, share: str) -> None:
    parts = document_parts(name)
    assert named_share(parts, question) == pytest.approx(float(share))


FILE_SHARES = case_rows("""
rbi_report.pdf          | 1
india_budget_speech.pdf | 1/3
ReserveBankIndia.pdf    | 1
Nike_2018.pdf           | 0
""")


@pytest.mark.parametrize(("file", "share"), FILE_SHARES)
def test_how_much_of_a_name_a_file_says(file: str, share: str) -> None:
    found = name_share(document_parts(file), "Reserve Bank of India")
    assert found == pytest.approx(float(Fraction(share)))


def test_years_are_those_stated_else_those_of_the_name() -> None:
    assert years_of("Acme_2021_10K.pdf", NO_FACTS) == (2021,)
    assert years_of("Acme_2021_10K.pdf", DocumentFacts("2019-20")) == (2019, 2020)
    assert years_of("notes.pdf", NO_FACTS) == ()


def test_the_document_of_the_year_asked_for_goes_first() -> None:
    documents = {
        1: ("NIKE_2018_10K.pdf", NO_FACTS),
        2: ("NIKE_2019_10K.pdf", NO_FACTS),
        3: ("ADOBE_2019_10K.pdf", NO_FACTS),
    }
    routed = route(understand("x", "What was Nike's revenue in FY2019?"), documents)
    first = max(routed, key=lambda version: sum(routed[version]))
    assert first == 2
    by_name, _ = routed[3]
    assert by_name == 0.0
    alone = route(understand("x", "Nike 2019"), {1: documents[1]})
    assert alone == {1: (0.0, 0.0)}

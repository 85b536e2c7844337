"""What a question says of its own, and what it leaves to those before it."""

import time

import pytest

from chatbot.asking.question import LONGEST_QUESTION
from chatbot.search.follow_up.cues import (
    asks_of_document,
    computes,
    dates_in,
    is_courtesy,
    mentions,
    other_year,
    own_terms,
    points_back,
    relates,
    stands_alone,
    with_years,
)
from tests.case_rows import case_rows

OWN_TERMS = case_rows("""
debt ceil | And what was the debt ceiling in FY2018?
tax rate  | And that tax rate in 2014?
develop rural | And for rural development?
          | what is the net change over the 2010 value?
          | so what was the total for the three years?
          | how much does the October total represent in relation to the November one?
""")


@pytest.mark.parametrize(("own", "question"), OWN_TERMS)
def test_words_that_fit_any_subject_name_none(own: str, question: str) -> None:
    assert own_terms(question) == set(own.split())


PRONOUNS = case_rows("""
What was it in 2010?                              | yes
What does that amount represent?                  | yes
Is there money behind that for schools?           | yes
Who approved those limits?                        | yes
What was that change for the index?               | no
What was the debt in that year?                   | no
Is there a rule that limits debt?                 | no
Who pays those who lend?                          | no
Concerning the plans abroad, what was their cost? | no
Considering its cost, what was their share?       | yes
""")


@pytest.mark.parametrize(("question", "points"), PRONOUNS)
def test_pronouns_point_back_unless_the_question_says_what_they_stand_for(question: str, points: str) -> None:
    assert points_back(question) is (points == "yes")


def test_rural_development_is_nothing_computed() -> None:
    assert computes("And what is the change?")
    assert not computes("And for rural development?")


def test_a_computation_leans_only_where_it_names_nothing_new() -> None:
    said = ["What was the reserve in 2011?"]
    assert mentions("What is the difference divided by the 2010 reserve?", said)
    assert mentions("What is the change in the reserve?", said)
    assert not mentions("What is the change in the debt?", said)
    assert not mentions("What was the reserve in 2010?", said)
    assert not mentions("What was the percentage change over 2009 and 2010 of the reserve?", said)
    assert not mentions("What was the change in the reserve from 2009 to 2010?", said)


TOPICS = case_rows("""
education           | yes
the risks to health | yes
the reasons         | no
its schools         | no
everybody else      | no
2024                | no
""")


@pytest.mark.parametrize(("topic", "alone"), TOPICS)
def test_a_topic_stands_alone_unless_it_is_part_of_what_was_said(topic: str, alone: str) -> None:
    assert stands_alone(topic) is (alone == "yes")


def test_a_change_takes_one_measure_and_a_share_two() -> None:
    assert relates("What percentage does this represent?", "What was the debt?")
    assert not relates("What is the percentage change?", "What was the debt?")
    assert not relates("What is this change as a percentage?", "What was the change in debt?")
    assert relates("What is the ratio of the two?", "What was the change in debt?")


WITH_YEARS = case_rows("""
What was the debt?                         | 2011, 2010      | What was the debt in 2010 and 2011?
What was the debt in 2012?                 | 2011            | What was the debt in 2011?
The change between 2008 and 2009?          | 2010            | The change in 2010?
What did the 2008 law say of debt in 2012? | 2013            | What did the 2008 law say of debt in 2013?
Debt at the end of FY2018                  | Q1 2020, FY2019 | Debt at the end of FY2019 and Q1 2020
""")


@pytest.mark.parametrize(("text", "periods", "expected"), WITH_YEARS)
def test_periods_stand_in_the_place_of_those_before(text: str, periods: str, expected: str) -> None:
    assert with_years(text, periods.split(", ")) == expected


def test_months_belong_to_their_year() -> None:
    with_months = with_years("The rate in March 2024?", ["April", "March"], months=True)
    assert with_months == "The rate in March and April 2024?"
    text = "The rate in June 2023, and at December 31, 2022"
    dates = [text[start:end] for start, end in dates_in(text)]
    assert dates == ["June 2023", "2022"]


YEARS_BEFORE = (
    ("What was revenue in Q4 2024?", "What was revenue in Q4 2023?"),
    ("What was revenue in Q4'24?", "What was revenue in Q4'23?"),
    ("What was debt at 31 December 2024?", "What was debt at 31 December 2023?"),
    ("What was revenue in 2024-25?", "What was revenue in 2023-24?"),
)


@pytest.mark.parametrize(("question", "before"), YEARS_BEFORE)
def test_the_year_before_has_the_same_part_and_day(question: str, before: str) -> None:
    assert other_year(question, -1) == before


UNITS = (
    "those |of that |concerning a, |is that|what is the total |June |March 2020, |the change |   |(and |"
    "thanks |which a "
).split("|")


@pytest.mark.timed
@pytest.mark.parametrize("unit", UNITS)
def test_a_question_of_any_length_is_read_in_time(unit: str) -> None:
    text = unit * (LONGEST_QUESTION // len(unit))
    started = time.process_time()
    points_back(text)
    is_courtesy(text)
    asks_of_document(text)
    stands_alone(text)
    mentions(text, ["What was the debt in 2020?"])
    assert time.process_time() - started < 1


NO_SUBJECTS = """
answer
result
lakh
crore
million
euro
""".strip().split("\n")


@pytest.mark.parametrize("word", NO_SUBJECTS)
def test_words_that_name_no_subject_are_none_of_a_question_s_own(word: str) -> None:
    assert own_terms(f"Is the {word} the same?") == frozenset()

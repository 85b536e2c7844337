"""Follow-ups become standalone queries; questions that stand alone stay as they are."""

import pytest

from chatbot.records import Exchange
from chatbot.search.follow_up.rules import asks_other_period, is_follow_up, standalone_query
from tests.case_rows import case_rows

SAID = [
    Exchange("What is the infrastructure budget for 2025?", "50 million."),
    Exchange("And education?", "30 million."),
]


CARRIED_QUESTIONS = """
What about everybody else?
How do they compare?
Why?
and in 2026
How does that compare with the year before?
Has that been decided?
""".strip().split("\n")


@pytest.mark.parametrize("question", CARRIED_QUESTIONS)
def test_follow_ups_carry_the_last_standalone_question(question: str) -> None:
    approved = Exchange("Who approves the infrastructure budget for 2025?", "Parliament.")
    reasons = Exchange("And the reasons?", "")
    query = standalone_query(question, [approved, reasons])
    assert "infrastructure budget for 2025" in query
    assert query.endswith(question)


OWN_QUESTIONS = """
What share of general revenue came from excise duties in 2023?
What is the deficit ceiling?
What is the VAT rate?
Is there a rule that limits debt?
""".strip().split("\n")


@pytest.mark.parametrize("question", OWN_QUESTIONS)
def test_a_question_of_its_own_is_not_touched(question: str) -> None:
    assert standalone_query(question, SAID) == question
    assert standalone_query("Why?", []) == "Why?"


def talks(text: str) -> list[tuple[list[str], str]]:
    """Talks: their questions, parted by " / ", and behind "=" what the last of them becomes."""
    found, said = [], ""
    for line in text.strip().split("\n"):
        if line.startswith("= "):
            found.append((said.strip(" /").split(" / "), line[2:]))
            said = ""
        elif not line.startswith("# "):
            said += f"{line.removesuffix(' /')} / "
    return found


def asked(*questions: str) -> list[Exchange]:
    """Exchanges that were answered with nothing."""
    return [Exchange(question, "") for question in questions]


REPLACED = talks("""
What was Acme's gross profit in fiscal 2022? / And in 2023?
= What was Acme's gross profit in 2023?
What was Acme's gross profit in 2022? / And Costalan?
= What was Costalan's gross profit in 2022?
What was Acme's gross profit in 2022? / And in 2023? / What about net income?
= What was Acme's net income in 2023?
What was the net income of Acme in 2023? / And the year before?
= What was the net income of Acme in 2022?
How much is spent on health in 2025-26? / What about education?
= How much is spent on education in 2025-26?
What did it forecast at its April meeting? / And in June?
= What did it forecast at its June meeting?
How did the committee vote? / What did the odd one out want instead?
= How did the committee vote? What did the odd one out want instead?
What is the deficit target for 2025-26? / and for the year before?
= What is the deficit target for 2024-25?
# The last question is leant on whether it was answered or refused.
What was Acme's revenue in 2022? / What about Costalan? / By how much did it grow?
= What was Costalan's revenue in 2022? By how much did it grow?
What is the debt anchor? / Why?
= What is the debt anchor? Why?
""")


CARRIED_APART = talks("""
# The period alone is named: it takes the place of its like, whatever the words around it.
What was the reserve in 2011? / what was it in 2010?
= What was the reserve in 2010?
What was the change in reserves between 2008 and 2009? / What is the 2008 value?
= What was the change in reserves in 2008?
What are the reserves at December 31, 2018? / What were they in the prior year?
= What are the reserves at December 31, 2017?
# One measure, two or more periods.
What was the reserve in 2011? / And in 2010? / What is the net change?
= What was the reserve in 2010 and 2011? What is the net change?
What was the reserve in 2011? / And in 2010? / What is the net change? / What is that over the 2010 value?
= What was the reserve in 2010 and 2011? What is that over the 2010 value?
What is the cost of audits in 2018? / And in 2017? / And in 2016? / What is the average of the three years?
= What is the cost of audits in 2016, 2017 and 2018? What is the average of the three years?
What is the cost of audits in 2018? / And in 2017? / What is the sum? /
Including 2016, what becomes the total?
= What is the cost of audits in 2016, 2017 and 2018? Including 2016, what becomes the total?
What was the reserve in 2014? / By how much did it change since 2013?
= What was the reserve in 2013 and 2014? By how much did it change since 2013?
What was the reserve in 2011? / And in 2010? / And in 2009? / What is the net change?
= What was the reserve in 2009 and 2010? What is the net change?
# Two measures of one period.
What was the reserve in 2015? / What was the debt in 2015? / What percentage does this represent?
= What was the reserve in 2015? What was the debt in 2015? What percentage does this represent?
How much is spent on health in 2025? / And on education? / What is the difference?
= How much is spent on health in 2025? How much is spent on education in 2025? What is the difference?
# Fewer words for the same subject.
What was the fuel surcharge revenue in 2015? / And what was that revenue in 2014?
= What was the fuel surcharge revenue in 2014?
# What follows from it, or points back, leans on the whole.
How many bonds were sold in 2015? / So how much was spent?
= How many bonds were sold in 2015? So how much was spent?
How many bonds were sold in 2015? / And what was the rate on these?
= How many bonds were sold in 2015? And what was the rate on these?
# A subject of its own takes over the period and the names alone.
What was the cash flow in 2015? / And what was the debt service in that same year?
= What was the debt service in 2015?
What was Acme's gross profit in 2022? / And what were the dividends paid?
= What were the dividends paid in 2022 (Acme)?
What was IBM's cash flow in FY2018? / And what were the dividends?
= What were the dividends in FY2018 (IBM)?
What was the VAT rate in 2020? / And what was the income tax?
= What was the income tax in 2020?
What did Acme forecast? / And in June?
= What did Acme forecast? And in June?
What was Acme's gross profit in 2022? / And its net income?
= What was Acme's net income in 2022?
What was the cash flow in June 2015? / And how much was the debt service?
= How much was the debt service in June 2015?
""")


SEARCHED_ALONE = talks("""
What is the deficit ceiling? / what about education?
= education
What was capital expenditure in 2024? / What about Education?
= Education, 2024
What was Valmora's deficit in 2024? / what about schools?
= schools, Valmora, 2024
What is the Contingency Reserve in 2025? / and pensions in 2030?
= pensions in 2030
What is the deficit ceiling in 2024? / what about education? / And in 2023?
= education, 2023
What is the deficit ceiling in 2024? / what about education? / and health?
= health, 2024
# What names no topic leans on all that was asked.
What is the health budget? / And the auditors?
= What is the health budget? And the auditors?
What is the health budget? / And the deficit?
= deficit
What is the deficit? / and the reasons?
= What is the deficit? and the reasons?
What is the deficit? / What about when it is exceeded?
= What is the deficit? What about when it is exceeded?
What is GDP growth? / and in Malaysia?
= What is GDP growth? and in Malaysia?
What was revenue in 2022? / What about Costalan?
= What was revenue in 2022? What about Costalan?
# What a budget is for.
What is the health budget? / what about education?
= What is the education budget?
How much health spending is planned for 2026? / and roads?
= How much roads spending is planned for 2026?
What is the health budget of Valmora? / and the library budget?
= What is the library budget of Valmora?
# The whole name of a measure gives way.
What is projected CPI inflation? / and GDP growth?
= What is projected GDP growth?
What is headline CPI inflation in 2025? / and unemployment?
= What is unemployment in 2025?
""")


@pytest.mark.parametrize(("talk", "expected"), [*REPLACED, *CARRIED_APART, *SEARCHED_ALONE])
def test_a_follow_up_becomes_a_question_of_its_own(talk: list[str], expected: str) -> None:
    *before, last = talk
    assert standalone_query(last, asked(*before)) == expected


OF_DOCUMENTS = case_rows("""
Which risks does it name?    | Which risks does it name (Valmora, 2024)?
Which risks are named in it? | Which risks are named in it (Valmora, 2024)?
Which amount does it name?   | What was Valmora's deficit in 2024? Which amount does it name?
Which taxes does it raise?   | What was Valmora's deficit in 2024? Which taxes does it raise?
""")


@pytest.mark.parametrize(("question", "expected"), OF_DOCUMENTS)
def test_what_a_document_names_is_asked_of_the_document(question: str, expected: str) -> None:
    named = asked("What was Valmora's deficit in 2024?")
    unnamed = asked("What is the deficit ceiling?")
    assert standalone_query(question, named) == expected
    assert standalone_query("Which risks does it name?", unnamed) == "Which risks does it name?"


MANNERS = """
thanks
thanks a lot!
Great, thanks!
hello
got it
That's all, thank you
""".strip().split("\n")


@pytest.mark.parametrize("said", MANNERS)
def test_manners_lean_on_nothing_and_are_leant_on_by_nothing(said: str) -> None:
    deficit = Exchange("What is the deficit ceiling in 2024?", "3%")
    assert standalone_query(said, [deficit]) == said
    assert not is_follow_up(said, [deficit])
    query = standalone_query("And in 2025?", [deficit, Exchange(said, "")])
    assert query == "What is the deficit ceiling in 2025?"


@pytest.mark.parametrize("question", ["OK, and in 2025?", "ok why?", "Then?"])
def test_manners_before_a_question_do_not_hide_it(question: str) -> None:
    assert is_follow_up(question, SAID)


COMPLETE = """
And what was the credit loss of lenders in 2016?
Concerning the pension plans abroad, what was their cost in 2008?
and from 2013 to 2014, what was the change in debt service?
What was the change in the reserve from 2013 to 2014?
And how did tuition fees change from 2022/23 to 2023/24?
""".strip().split("\n")


@pytest.mark.parametrize("question", COMPLETE)
def test_a_follow_up_that_is_complete_carries_nothing(question: str) -> None:
    before = Exchange("What was the reserve in 2015?", "12")
    assert standalone_query(question, [before]) == question


def test_a_long_talk_does_not_heap_up() -> None:
    said: list[Exchange] = []
    more = ["And in 2010?", "What is the change?", "And in percent?", "How much is that in billions?"]
    for question in ["What was the reserve in 2011?", *more * 5]:
        query = standalone_query(question, said)
        assert query.lower().count("reserve") == 1
        assert len(query) < 100
        said.append(Exchange(question, ""))


def test_what_names_its_subject_by_a_word_of_computations_takes_no_other() -> None:
    said = [Exchange("What was the budget for housing in 2023?", "12")]
    query = standalone_query("And for development in 2024?", said)
    assert query == "What was the budget for development in 2024?"


LEANING = """
What is the net change?
And what was the debt in 2016?
At what price?
What is the 2014 value?
""".strip().split("\n")


@pytest.mark.parametrize("question", LEANING)
def test_what_leans_on_the_exchanges_is_a_follow_up(question: str) -> None:
    assert is_follow_up(question, SAID)
    assert not is_follow_up(question, [])


RAISES = "What follows when the central bank raises its key interest rate against inflation?"


ASKED_AGAIN = talks(f"""
{RAISES} / {RAISES}
= {RAISES}
{RAISES} / What is the deficit ceiling? / {RAISES}
= {RAISES}
What is the deficit ceiling? / Why? / What is the debt anchor? / Why?
= What is the debt anchor? Why?
What is the deficit ceiling? / {RAISES} / {RAISES}
= What is the deficit ceiling? {RAISES}
""")
SHOUTED = f" {RAISES.upper()} "
ASKED_AGAIN += [([RAISES, RAISES, RAISES, SHOUTED], SHOUTED)]


@pytest.mark.parametrize(("talk", "expected"), ASKED_AGAIN)
def test_a_question_that_is_asked_again_is_searched_once(talk: list[str], expected: str) -> None:
    *before, last = talk
    answered = [Exchange(question, "Something.") for question in before]
    assert standalone_query(last, answered) == expected


ELSEWHERE = """
What was revenue?                        | What was revenue?
What is the growth of revenue?           | What is the growth of revenue?
And what was revenue?                    | What was revenue in 2024-25?
And in 2023-24?                          | What was revenue in 2023-24?
"""


@pytest.mark.parametrize(("question", "alone"), case_rows(ELSEWHERE))
def test_a_question_to_other_documents_takes_no_period_over(question: str, alone: str) -> None:
    said = [Exchange("What was revenue in 2024-25?", "132,480 million (budget.pdf, p. 7)")]
    carried = standalone_query("What was revenue?", said)
    assert carried == "What was revenue in 2024-25?"
    assert standalone_query("What was revenue?", said, ["budget.pdf", "statement.pdf"]) == carried
    assert standalone_query(question, said, ["statement.pdf"]) == alone


def test_what_was_asked_of_the_other_documents_since_goes_on_among_them() -> None:
    said = [
        Exchange("What was revenue in 2024-25?", "132,480 million (budget.pdf, p. 7)"),
        Exchange("What was revenue?", "30.7% (statement.pdf, p. 8)"),
    ]
    assert standalone_query("And expenditure?", said, ["statement.pdf"]) == "What was expenditure?"
    assert is_follow_up("What was revenue?", said[:1])
    assert not is_follow_up("What was revenue?", said[:1], ["statement.pdf"])


def test_a_measure_is_asked_for_alone_where_nothing_was_said_of_its_period() -> None:
    said = [Exchange("What was revenue?", "30.7%")]
    assert standalone_query("What was expenditure?", said) == "What was expenditure?"
    assert standalone_query("What is the ceiling?", said) == "What was revenue? What is the ceiling?"


PERIODS_ALONE = """
And in 2023?                | yes
And the year before?        | yes
Why?                        | no
And expenditure?            | no
What is the difference?     | no
"""


@pytest.mark.parametrize(("question", "alone"), case_rows(PERIODS_ALONE))
def test_some_follow_ups_name_another_period_alone(question: str, alone: str) -> None:
    query = standalone_query(question, [Exchange("What was revenue in 2024?", "5 million.")])
    assert asks_other_period(question, query) == (alone == "yes")

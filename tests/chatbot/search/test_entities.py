"""Whom a question names, what is put beside each other, and what it asks apart from them."""

from __future__ import annotations

import pytest

from chatbot.search.entities import name_words, named_together, topic_of
from chatbot.search.question_terms import understand
from tests.case_rows import case_rows


def named(question: str) -> list[list[str]]:
    return named_together(understand(question, question))


# Names put beside each other are parted by "+", groups by ";".
GROUPS = case_rows("""
compare Acme and Ostrava's revenue                                | Acme + Ostrava
How does the revenue of Acme in 2021 compare to that of Ostrava?  | Acme + Ostrava
Is the debt of Acme larger than that of Ostrava?                  | Acme + Ostrava
What are the revenues of Acme, Beta Mills or Ostrava?             | Acme + Beta Mills + Ostrava
How does Acme's revenue in 2021 compare with Ostrava's?           | Acme + Ostrava
What was Acme's revenue in Brazil?                                | Acme ; Brazil
What does Acme in Brazil own?                                     | Acme ; Brazil
What does Acme pay to members of the Ostrava Council?             | Acme ; Ostrava Council
What is Acme's FY2019 net income?                                 | Acme
What did Acme Inc. report?                                        | Acme Inc
Did the fund spend its RM2.3 billion on KWAP?                     | KWAP
""")
GROUPS += [("What is the deficit of 2024?", "")]


@pytest.mark.parametrize(("question", "groups"), GROUPS)
def test_names_stand_in_groups_without_periods_measures_and_amounts(question: str, groups: str) -> None:
    found = [" + ".join(group) for group in named(question)]
    assert " ; ".join(found) == groups


def test_numbers_are_no_words_of_a_name() -> None:
    words = name_words("Vision Plan")
    assert words != ()
    assert name_words("Vision 2030 Plan") == words


def test_the_topic_is_the_question_without_its_periods_and_whom_all_is_about() -> None:
    question = "What did Acme's Harbour Fund hold at the end of 2023?"
    asked = understand(question, question)
    assert topic_of(asked, lambda name: False) == "What did Acme's Harbour Fund hold at the end of ?"
    assert "Harbour" not in topic_of(asked, lambda name: True)
    bare = understand("And Acme 2023?", "And Acme 2023?")
    assert topic_of(bare, lambda name: True) == "And Acme 2023?"

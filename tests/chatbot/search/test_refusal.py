"""When pages cannot answer, and why; what of a question an answer leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chatbot.records import Hit, Understanding
from chatbot.search.question_terms import understand
from chatbot.search.refusal import (
    REASONS,
    Likeness,
    SearchEvidence,
    also_known,
    concerns,
    explain,
    left_out,
    likeness_of,
    refusal_evidence,
    unnamed,
    why_not,
)
from tests.case_rows import case_rows

PAGE = "The deficit of 2024 was 3 per cent of output in Valmora."
HIT = Hit("a.pdf", 1, 1, None, None, "text", None, "1:0", "", page_text=PAGE, scores={})
GOOD = replace(HIT, scores={"chunk_words": 0.6})
SUBJECT = "What was the fiscal deficit of Valmora in 2024?"
ASKED = Understanding("q", SUBJECT, years=(2024,), names=("Valmora",), measures=("fiscal deficit",))
KNOWN = {"deficit", "valmora", "2024", "plan"}
NEAR, FAR = Likeness(0.75, 0.7), Likeness(0.4, 0.4)
SAID = ["The fiscal deficit was 3 per cent of output."]


def found(
    hit: Hit = GOOD, likeness: Likeness | None = NEAR, said: list[str] = SAID, *, computed: bool = False
) -> SearchEvidence:
    return SearchEvidence([hit], KNOWN.__contains__, said, computed, likeness)


def judged(asked: Understanding, what: SearchEvidence) -> str | None:
    return why_not(refusal_evidence(asked, what), what.hits)


@pytest.mark.parametrize("likeness", [NEAR, None])
def test_topic_name_period_and_measure_together_may_answer(likeness: Likeness | None) -> None:
    assert judged(ASKED, found(likeness=likeness)) is None


@pytest.mark.parametrize("likeness", [FAR, None])
def test_each_reason(likeness: Likeness | None) -> None:
    poor = found(replace(GOOD, scores={"chunk_words": 0.1}), likeness, ["The weather was fine."])
    of_another = replace(ASKED, names=("Ostrava",), subject="What of Ostrava in 2024?")
    in_another_year = replace(ASKED, years=(2031,))
    of_no_measure = replace(ASKED, measures=())
    assert judged(of_another, poor) == "no_entity"
    assert judged(in_another_year, poor) == "entity_without_period"
    assert judged(ASKED, poor) == "topic_without_figure"
    assert judged(of_no_measure, poor) == "no_page"
    assert why_not({}, []) == "no_page"


TERN_CHANGE = (
    "How did the Tern reserve change from 2023 to 2024?",
    "The Tern reserve rose from 1,200 million in 2023 to 1,450 million in 2024.",
    "None",
)
TERN_OF_2025 = (
    "What was the Tern reserve in 2024?",
    "The Tern reserve was 1,450 million crowns in 2025.",
    "entity_without_period",
)
TERN = case_rows("""
What was the Tern reserve in 2024? | The Tern reserve was 1,450 million crowns in 2024. | None
What was the Tern reserve in 2024? | The Tern reserve of 2024 is held abroad.           | no_page
What was the Tern levy in 2024?    | The Tern reserve was 1,450 million crowns in 2024. | no_page
""")


@pytest.mark.parametrize(("question", "said", "reason"), [TERN_CHANGE, TERN_OF_2025, *TERN])
def test_a_sentence_that_says_all_that_is_asked_answers_however_far_its_meaning_seems(
    question: str, said: str, reason: str
) -> None:
    asked = replace(understand(question, question), names=())
    hit = replace(GOOD, page_text=said)
    evidence = SearchEvidence([hit], lambda word: True, [said], False, FAR)
    assert str(judged(asked, evidence)) == reason


def test_a_year_that_no_document_has_outweighs_a_good_page() -> None:
    assert judged(replace(ASKED, years=(2031,)), found()) == "entity_without_period"


def test_a_name_half_of_which_is_nowhere_is_missing() -> None:
    asked = replace(ASKED, subject="What was spent under the Ostrava Plan?", names=("Ostrava Plan",))
    evidence = refusal_evidence(asked, found())
    assert evidence["names_missing"] == 1.0
    assert judged(asked, found()) == "no_entity"


def test_of_names_beside_each_other_one_is_enough() -> None:
    subject = "Compare the deficits of Valmora and Ostrava"
    asked = replace(ASKED, subject=subject, names=("Valmora and Ostrava",), years=())
    evidence = refusal_evidence(asked, found())
    assert evidence["names_missing"] == 0.0
    assert evidence["names_on_page"] == 1.0
    (missing,) = left_out(asked, KNOWN.__contains__)
    assert missing == "These documents do not mention Ostrava."


def test_of_two_years_the_one_that_is_there_counts() -> None:
    subject = "What was the fiscal deficit of Valmora in 2024 and 2035?"
    asked = replace(ASKED, subject=subject, years=(2024, 2035))
    evidence = refusal_evidence(asked, found())
    assert evidence["year_found"] == 1.0
    (missing,) = left_out(asked, KNOWN.__contains__)
    assert missing == "These documents say nothing about 2035."
    assert left_out(ASKED, KNOWN.__contains__) == ()


def test_of_a_range_only_its_ends_are_missed() -> None:
    subject = "How did the deficit of Valmora rise from 2020 to 2024?"
    asked = replace(ASKED, subject=subject, years=(2020, 2021, 2022, 2023, 2024))
    with_ends, with_last = {"valmora", "2020", "2024"}, {"valmora", "2021", "2024"}
    assert left_out(asked, with_ends.__contains__) == ()
    (missing,) = left_out(asked, with_last.__contains__)
    assert missing == "These documents say nothing about 2020."


def test_a_page_is_about_whom_its_document_is_about() -> None:
    elsewhere = replace(GOOD, page_text="The deficit of 2024 was 3 per cent.")
    by_name = replace(elsewhere, document="Valmora_2024.pdf")
    by_context = replace(elsewhere, context="Valmora, budget of 2024")
    for hit, share in ((elsewhere, 0.0), (by_name, 1.0), (by_context, 1.0)):
        evidence = refusal_evidence(ASKED, found(hit))
        assert evidence["names_on_page"] == share


def test_likeness_is_measured_against_the_whole_document() -> None:
    cosines = np.array([*[0.1, 0.1, 0.1, 0.1, 0.8] * 20, -1.0], np.float32)
    near = likeness_of([0.2, 0.7], cosines)
    assert near.said == 0.7
    assert near.apart == pytest.approx((0.8 - 0.24) / 0.28 / 6, abs=1e-3)
    assert likeness_of([], cosines[-1:]) == Likeness(0.0, 0.0)


@pytest.mark.parametrize("alone", [[0.55], [0.55, 0.5, 0.4], [0.55, 0.5, 0.4, 0.35, 0.3, 0.2]])
def test_a_short_document_is_judged_as_though_it_stood_in_a_long_one(alone: list[float]) -> None:
    """Of a few passages, all about one topic, none can stand apart."""
    filler = np.random.default_rng(1).normal(0.19, 0.065, 60)
    short = likeness_of([0.55], np.array(alone, np.float32))
    long = likeness_of([0.55], np.array([*alone, *filler], np.float32))
    assert short.apart == pytest.approx(long.apart, rel=0.25)
    only = likeness_of([0.2], np.array([0.2], np.float32))
    assert only.apart < 0.1


@pytest.mark.parametrize(("alone", "reason"), [(True, None), (False, "no_page")])
def test_in_a_document_of_one_passage_a_sentence_with_the_words_of_the_question_answers(
    alone: bool, reason: str | None
) -> None:
    question = "Which makers are excluded?"
    blurred = Likeness(0.45, 0.0, alone=alone)
    evidence = found(likeness=blurred, said=["Makers of tobacco are excluded."])
    assert judged(understand(question, question), evidence) == reason
    other = found(likeness=blurred, said=["Spending is limited to 4 per cent."])
    assert judged(understand(question, question), other) == "no_page"


def test_reasons_name_what_is_missing() -> None:
    asked = replace(ASKED, subject="Valmora in Brazil", names=("Valmora", "Brazil"), years=(2024, 2031))
    sentences = {reason: explain(reason, asked, KNOWN.__contains__) for reason in REASONS}
    assert sentences["no_entity"] == "These documents do not mention Brazil."
    assert sentences["entity_without_period"] == "These documents say nothing about 2031."
    assert "fiscal deficit" in sentences["topic_without_figure"]
    in_own_words = understand("How much was public spending?", "How much was public spending?")
    of_measure = explain("topic_without_figure", in_own_words, KNOWN.__contains__)
    assert of_measure == "Some pages come close, but none gives the spending."
    of_year = explain("entity_without_period", ASKED, KNOWN.__contains__)
    assert of_year == "The closest pages do not mention 2024."
    countries = ("Brazil", "Chile", "Peru", "Ghana")
    of_four = replace(asked, names=countries, subject=" ".join(countries))
    of_names = explain("no_entity", of_four, KNOWN.__contains__)
    assert of_names == "These documents do not mention Brazil, Chile or Peru."


ROW = (
    "111 Libraries",
    "Table 1. Programme budget (thousands of euros) 111 Libraries 1,407 1,397 Original budget Actual",
)


ASKED_SUBJECTS = case_rows("""
What was the actual of Libraries?                  | yes
What was the actual spending on Libraries in 2024? | yes
How much is budgeted for Libraries of Valmora?     | yes
What was the revised budget of Libraries?          | no
What was the actual of Parks?                      | no
What was the actual budget?                        | no
What was spent in total?                           | no
""")


@pytest.mark.parametrize(("subject", "stated"), ASKED_SUBJECTS)
def test_a_row_whose_label_and_column_are_asked_for_states_it(subject: str, stated: str) -> None:
    names = tuple(name for name in ("Libraries", "Valmora", "Parks") if name in subject)
    asked = Understanding("q", subject, names=names)
    hit = replace(GOOD, document="Valmora_budget.pdf")
    with_row = replace(found(hit, FAR), rows=[ROW])
    evidence = refusal_evidence(asked, with_row)
    assert (evidence["likeness"] > FAR.said) is (stated == "yes")


def test_pages_of_whom_the_question_names_are_told_from_others() -> None:
    whose = {"Valmora": frozenset({1})}
    other = replace(HIT, version=2, page_text="The deficit of 2024 was 9 per cent.")
    of_document = replace(other, version=1)
    by_context = replace(other, context="Valmora and its neighbours")
    assert concerns(ASKED, HIT, whose)
    assert concerns(ASKED, of_document, whose)
    assert not concerns(ASKED, other, whose)
    assert concerns(ASKED, by_context, whose)
    assert concerns(ASKED, other, {"Valmora": frozenset()})  # nobody speaks of it: that is a refusal's to say
    naming_none = replace(ASKED, names=())
    assert concerns(naming_none, other, {})


def test_an_answer_says_whom_its_pages_do_not_name() -> None:
    subject = "Compare the deficits of Valmora and Ostrava in 2024"
    asked = replace(ASKED, subject=subject, names=("Valmora and Ostrava",))
    both, one = {"valmora", "ostrava"}.__contains__, {"valmora"}.__contains__

    def about_none(version: int, name: str) -> bool:
        return False

    def about_all(version: int, name: str) -> bool:
        return True

    assert unnamed(asked, [HIT], both, about_none) == "The quoted pages do not mention Ostrava."
    assert unnamed(asked, [HIT], one, about_none) == ""  # nowhere: that is said already
    assert unnamed(asked, [HIT], both, about_all) == ""
    assert unnamed(asked, [], both, about_none) == ""


def test_a_name_may_be_spelled_out_on_the_pages() -> None:
    def about_none(version: int, name: str) -> bool:
        return False

    spelled = replace(HIT, page_text="The Chief Executive Officer of Valmora said so.")
    named = replace(ASKED, subject="What did the CEO say?", names=("CEO",))
    known = {"ceo"}.__contains__
    assert unnamed(named, [spelled], known, about_none) == ""
    assert unnamed(named, [HIT], known, about_none) == "The quoted pages do not mention CEO."
    nowhere = set[str]().__contains__
    by_spelling = also_known(named, [spelled], nowhere)
    by_nothing = also_known(named, [HIT], nowhere)
    assert by_spelling("ceo")
    assert not by_nothing("ceo")

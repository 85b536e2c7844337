"""What speaks for a passage and against it."""

from dataclasses import replace

from chatbot.answer.extractive.passage_scores import (
    WEIGHTS,
    QuestionProfile,
    ScoredPassage,
    score_passages,
    signs_of,
)
from chatbot.evidence.passages import Passage
from chatbot.records import Understanding

ASKED = Understanding(
    "What share of GDP is the debt ceiling in 2025?",
    "What share of GDP is the debt ceiling in 2025?",
    form="figure",
    years=(2025,),
)


def found(
    text: str, *, head: str = "", is_row: bool = False, page: float = 1.0, likeness: float = 0.5
) -> ScoredPassage:
    return ScoredPassage(Passage(text, head, is_row), page, likeness)


def test_every_sign_has_a_weight_and_lies_within_0_and_1() -> None:
    passages = [
        found("The debt ceiling is 60 per cent of GDP in 2025.", head="2025"),
        found("Debt?", likeness=-0.2),
        found("Debt 2024 61 62", is_row=True),
    ]
    question = QuestionProfile(ASKED, [one.passage for one in passages])
    for one in passages:
        signs = signs_of(question, one)
        assert list(signs) == list(WEIGHTS)
        assert all(0.0 <= value <= 1.0 for value in signs.values()), signs


def test_each_sign_says_what_it_is_named_for() -> None:
    question = QuestionProfile(ASKED, [Passage("debt ceiling", "", False), Passage("other words", "", False)])

    def sign(name: str, one: ScoredPassage) -> float:
        return signs_of(question, one)[name]

    assert sign("words", found("The debt ceiling.")) > sign("words", found("The debt."))
    assert sign("head", found("It is 60.", head="debt ceiling")) > 0
    assert sign("no_figure", found("It is high.")) == 1 and sign("no_figure", found("It is 60.")) == 0
    assert (
        sign("percentage", found("It is 60 per cent.")) == 1
        and sign("percentage", found("It is 60 days.")) == 0
    )
    assert sign("years_in_head", found("60", head="Budget 2025")) == 1
    assert (
        sign("other_years", found("60 in 2019")) == 1
        and sign("other_years", found("60 in 2019 and 2025")) == 0
    )
    assert sign("label", found("Debt ceiling 60", is_row=True)) > sign(
        "label", found("Debt of the railway company 60", is_row=True)
    )
    assert sign("question", found("What is the debt ceiling?")) == 1
    assert (
        sign("fragment", found("Page 5")) == 1
        and sign("fragment", found("The debt ceiling of the state is high by law.")) == 0
    )


def test_the_page_and_the_likeness_decide_between_like_words() -> None:
    texts = ("The debt ceiling is 60 per cent.", "The debt ceiling is 60 per cent!")
    question = QuestionProfile(ASKED, [Passage(text, "", False) for text in texts])
    first, second, third = score_passages(
        question, [found(texts[0]), found(texts[1], page=0.8), found(texts[1], likeness=0.2)]
    )
    assert first > second and first > third


def test_a_question_of_no_words_has_no_weights() -> None:
    assert QuestionProfile(replace(ASKED, query="?", subject="?"), []).weights == {}


def test_the_words_of_a_follow_up_count_more_than_those_carried_over() -> None:
    passages = [
        Passage("the debt ceiling and its escape clause", "", False),
        Passage("other words", "", False),
    ]
    asked = replace(
        ASKED,
        query="What is the debt ceiling? And the escape clause?",
        subject="What is the debt ceiling? And the escape clause?",
    )
    alone, following = (
        QuestionProfile(asked, passages).weights,
        QuestionProfile(asked, passages, "And the escape clause?").weights,
    )
    assert following["escap"] > alone["escap"] and following["debt"] < alone["debt"]


def test_what_speaks_for_a_passage_raises_its_score_and_what_speaks_against_it_lowers_it() -> None:
    raising = {
        "words",
        "head",
        "related",
        "likeness",
        "page",
        "percentage",
        "years_in_head",
        "label",
        "condition",
    }
    assert all((WEIGHTS[name] > 0) == (name in raising) for name in WEIGHTS)
    plain = found("The debt ceiling is 60 per cent of GDP in 2025.")
    question = QuestionProfile(ASKED, [plain.passage, Passage("other words", "", False)])

    def score(one: ScoredPassage) -> float:
        return score_passages(question, [one])[0]

    assert score(ScoredPassage(replace(plain.passage, asks=True), 1.0, 0.5)) < score(plain)
    assert score(found(plain.passage.text + " And so on it goes" * 20 + ".")) < score(plain)
    assert score(found("The debt ceiling is 60 per cent of GDP in 2025")) < score(plain)
    assert score(found("Debt ceiling 60", is_row=True)) > score(
        found("Debt ceiling of the railway and the port 60", is_row=True)
    )


def test_a_reason_is_looked_for_in_sentences() -> None:
    asked = Understanding("Why did the debt fall?", "Why did the debt fall?", form="reason")
    row, given = found("Debt 61 62", is_row=True), found("The debt fell because the state sold its railways.")
    question = QuestionProfile(asked, [one.passage for one in (row, given)])
    assert signs_of(question, row)["row_for_reason"] == 1
    scores = score_passages(question, [row, given])
    assert scores[1] > scores[0]


def test_whom_it_concerns_is_told_by_a_sentence_rather_than_by_a_row() -> None:
    row, plain = found("Debt 61 62", is_row=True), found("Debt is held by the banks.")
    for form, said in (("passage", "Who holds the debt?"), ("yes_no", "Is the debt held by banks?")):
        question = QuestionProfile(Understanding(said, said, form=form), [row.passage, plain.passage])
        assert signs_of(question, row)["row_for_prose" if form == "passage" else "row_for_list"] == 1
        assert signs_of(question, plain)["row_for_prose"] == signs_of(question, plain)["row_for_list"] == 0

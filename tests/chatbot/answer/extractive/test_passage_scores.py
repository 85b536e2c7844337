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
from tests.case_rows import case_rows

QUESTION = "What share of GDP is the debt ceiling in 2025?"
ASKED = Understanding(QUESTION, QUESTION, form="figure", years=(2025,))


def found(
    text: str, *, head: str = "", is_row: bool = False, page: float = 1.0, likeness: float = 0.5
) -> ScoredPassage:
    return ScoredPassage(Passage(text, head, is_row), page, likeness)


def row(text: str) -> ScoredPassage:
    return found(text, is_row=True)


# What no sign speaks of.
OTHER = Passage("other words", "", False)


def test_every_sign_has_a_weight_and_lies_within_0_and_1() -> None:
    sentence = found("The debt ceiling is 60 per cent of GDP in 2025.", head="2025")
    unlike = found("Debt?", likeness=-0.2)
    passages = [sentence, unlike, row("Debt 2024 61 62")]
    question = QuestionProfile(ASKED, [one.passage for one in passages])
    for one in passages:
        signs = signs_of(question, one)
        assert list(signs) == list(WEIGHTS)
        assert all(0.0 <= value <= 1.0 for value in signs.values()), signs


def test_each_sign_says_what_it_is_named_for() -> None:
    question = QuestionProfile(ASKED, [Passage("debt ceiling", "", False), OTHER])

    def sign(name: str, one: ScoredPassage) -> float:
        return signs_of(question, one)[name]

    both_words, one_word = found("The debt ceiling."), found("The debt.")
    assert sign("words", both_words) > sign("words", one_word)
    assert sign("head", found("It is 60.", head="debt ceiling")) > 0
    assert sign("no_figure", found("It is high.")) == 1
    assert sign("no_figure", found("It is one of two pillars.")) == 1
    for text in ("It is 60.", "It is sixty per cent.", "It is between four and seven months."):
        assert sign("no_figure", found(text)) == 0
    assert sign("percentage", found("It is 60 per cent.")) == 1
    assert sign("percentage", found("It is 60 days.")) == 0
    assert sign("years_in_head", found("60", head="Budget 2025")) == 1
    assert sign("other_years", found("60 in 2019")) == 1
    assert sign("other_years", found("60 in 2019 and 2025")) == 0
    of_another = row("Debt of the railway company 60")
    assert sign("label", row("Debt ceiling 60")) > sign("label", of_another)
    assert sign("question", found("What is the debt ceiling?")) == 1
    assert sign("fragment", found("Page 5")) == 1
    assert sign("fragment", found("The debt ceiling of the state is high by law.")) == 0


def test_the_page_and_the_likeness_decide_between_like_words() -> None:
    text, alike = "The debt ceiling is 60 per cent.", "The debt ceiling is 60 per cent!"
    plain, of_a_worse_page, less_like = found(text), found(alike, page=0.8), found(alike, likeness=0.2)
    question = QuestionProfile(ASKED, [plain.passage, less_like.passage])
    scores = score_passages(question, [plain, of_a_worse_page, less_like])
    best, *worse = scores
    assert best > max(worse)


def test_a_question_of_no_words_has_no_weights() -> None:
    wordless = replace(ASKED, query="?", subject="?")
    assert QuestionProfile(wordless, []).weights == {}


def test_the_words_of_a_follow_up_count_more_than_those_carried_over() -> None:
    passages = [Passage("the debt ceiling and its escape clause", "", False), OTHER]
    follow_up = "And the escape clause?"
    whole = f"What is the debt ceiling? {follow_up}"
    asked = replace(ASKED, query=whole, subject=whole)
    alone = QuestionProfile(asked, passages).weights
    following = QuestionProfile(asked, passages, follow_up).weights
    assert following["escap"] > alone["escap"]
    assert following["debt"] < alone["debt"]


RAISING = "words head related likeness page percentage years_in_head label condition"


def test_what_speaks_for_a_passage_raises_its_score_and_what_speaks_against_it_lowers_it() -> None:
    raising = [name for name, weight in WEIGHTS.items() if weight > 0]
    assert set(raising) == set(RAISING.split())
    text = "The debt ceiling is 60 per cent of GDP in 2025"
    plain = found(f"{text}.")
    question = QuestionProfile(ASKED, [plain.passage, OTHER])

    def score(one: ScoredPassage) -> float:
        (only,) = score_passages(question, [one])
        return only

    asking = replace(plain, passage=replace(plain.passage, asks=True))
    assert score(asking) < score(plain)
    rambling = found(f"{text}. " + "And so on it goes" * 20 + ".")
    assert score(rambling) < score(plain)
    assert score(found(text)) < score(plain)
    of_another = row("Debt ceiling of the railway and the port 60")
    assert score(row("Debt ceiling 60")) > score(of_another)


def test_a_reason_is_looked_for_in_sentences() -> None:
    why = "Why did the debt fall?"
    asked = Understanding(why, why, form="reason")
    figures, reason = row("Debt 61 62"), found("The debt fell because the state sold its railways.")
    question = QuestionProfile(asked, [figures.passage, reason.passage])
    assert signs_of(question, figures)["row_for_reason"] == 1
    of_figures, of_reason = score_passages(question, [figures, reason])
    assert of_reason > of_figures


FORMS = """
passage | Who holds the debt? | row_for_prose
yes_no | Is the debt held by banks? | row_for_list
"""


def test_whom_it_concerns_is_told_by_a_sentence_rather_than_by_a_row() -> None:
    figures, sentence = row("Debt 61 62"), found("Debt is held by the banks.")
    for form, said, sign in case_rows(FORMS):
        asked = Understanding(said, said, form=form)
        question = QuestionProfile(asked, [figures.passage, sentence.passage])
        assert signs_of(question, figures)[sign] == 1
        of_sentence = signs_of(question, sentence)
        assert of_sentence["row_for_prose"] == 0
        assert of_sentence["row_for_list"] == 0

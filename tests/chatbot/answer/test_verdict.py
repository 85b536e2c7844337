"""Yes and no: said where figures or a sentence decide, and not where they leave a doubt."""

import pytest

from chatbot.answer.verdict import NO, YES, Amount, asks_move, asks_yes_or_no, bound_of, by_bound, by_move, by_sentence


@pytest.mark.parametrize("question", ["Did revenue rise?", "And is it above 5%?", "Isn’t debt lower now?", "Has the fund been set up?"])
def test_questions_that_yes_or_no_would_answer(question: str) -> None:
    assert asks_yes_or_no(question)


@pytest.mark.parametrize(
    "question",
    [
        "Is it higher or lower?",
        "Can you list the risks?",
        "Do you know what it costs?",
        "What was it?",
        "How much did it rise?",
        "Did it say when?",
        "Is",
        "",
    ],
)
def test_questions_that_ask_for_more(question: str) -> None:
    assert not asks_yes_or_no(question)


def test_a_question_about_a_move() -> None:
    assert asks_move("Did revenue rise?")
    assert not asks_move("Did revenue stay above 5 billion?")
    assert not asks_move("How much did revenue rise?")


@pytest.mark.parametrize(
    ("question", "how"),
    [("Is it above 5%?", "above"), ("Is it less than the 5 million?", "below"), ("Is it at least $5?", "least"), ("Did up to 30% vote?", "most")],
)
def test_the_amount_that_a_question_names(question: str, how: str) -> None:
    bound = bound_of(question)
    assert bound is not None
    assert bound[1] == how


def test_no_amount_or_several_are_no_bound() -> None:
    assert bound_of("Was it 5% in 2024?") is None
    assert bound_of("Is it above 5% and below 8%?") is None


MILLIONS = Amount(200.0, 1e6)


@pytest.mark.parametrize(
    ("question", "stated", "said"),
    [
        ("Is it above $150 million?", MILLIONS, YES),
        ("Is it above $0.3 billion?", MILLIONS, NO),
        ("Is it at least 200 million?", MILLIONS, YES),
        ("Is it more than 200 million?", MILLIONS, NO),
        ("Is it above 5%?", Amount(5.5, percent=True), YES),
        ("Is it above 5%?", MILLIONS, ""),  # another kind
        ("Is it above 150?", MILLIONS, ""),  # of what?
        ("Is it above €150 million?", Amount(200.0, 1e6, unit="USD"), ""),
        ("Is it not above 150 million?", MILLIONS, ""),
        ("Is it below 150 million?", Amount(-200.0, 1e6), ""),  # a cost in brackets, or a loss
        ("Is it above 5 percentage points?", Amount(5.5, percent=True), ""),
    ],
)
def test_a_figure_against_an_amount(question: str, stated: Amount, said: str) -> None:
    assert by_bound(question, stated) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Did it rise?", YES),
        ("Did it fall?", NO),
        ("Is it higher in 2024 than in 2023?", YES),
        ("Is it higher in 2023 than in 2024?", NO),
        ("Is it higher in 2024 than in 2019?", ""),
        ("Did it rise by more than 20%?", YES),
        ("Did it rise by more than 40%?", NO),
        ("Did it rise by less than 40 million?", NO),
        ("Did it fall by more than 10%?", NO),
        ("Did it rise above 190 million?", YES),
        ("Did it rise or fall?", ""),
        ("Did it rise while costs fell?", ""),
        ("Did it fail to rise?", ""),
    ],
)
def test_two_figures(question: str, said: str) -> None:
    assert by_move(question, (2023, Amount(150.0, 1e6)), (2024, MILLIONS)) == said


def test_a_change_of_an_amount() -> None:
    before, after = (2023, Amount(150.0, 1e6)), (2024, MILLIONS)
    assert by_move("Did it rise by more than 40 million?", before, after) == YES
    assert by_move("Did it rise by more than 60 million?", before, after) == NO
    assert by_move("Did it rise by more than 2 percentage points?", (2023, Amount(5.0, percent=True)), (2024, Amount(8.0, percent=True))) == YES


def test_of_losses_no_direction_is_told() -> None:
    assert by_move("Did the loss rise?", (2023, Amount(-5.0)), (2024, Amount(-8.0))) == ""


@pytest.mark.parametrize(
    ("question", "sentence", "said"),
    [
        ("Will a stabilisation fund be established?", "Government will establish a stabilisation fund.", YES),
        ("Is the pension plan in deficit?", "The pension plan is not in deficit.", NO),
        ("Did any customer account for 10% of sales?", "No customer accounted for 10% of sales.", NO),
        ("Did the pension plan grow?", "The pension plan shrank.", NO),
        ("Is the plan funded by members?", "The plan covers all of the city’s staff.", ""),
        ("Did the bank accept the tender offer?", "The bank refused the tender offer.", ""),
        ("Is inflation higher than growth?", "Growth is higher than inflation.", ""),
        ("Is the pension plan not in deficit?", "The pension plan is in deficit.", ""),
        ("Is growth above 3%?", "Growth was 3.4% in the year.", YES),
        ("Is growth above 3%?", "Growth was 3.4%, after 2.1%.", ""),
        ("Is growth above 3%?", "Growth was just above 3%.", ""),
    ],
)
def test_a_sentence(question: str, sentence: str, said: str) -> None:
    assert by_sentence(question, (), sentence, fits=True) == said


def test_yes_needs_a_passage_that_fits() -> None:
    asked = ("Will Acme establish a stabilisation fund?", ["acme"], "Government will establish a stabilisation fund.")
    assert by_sentence(*asked, fits=True) == YES
    assert by_sentence(*asked, fits=False) == ""

"""What a question says of its own, and what it leaves to those before it."""

from chatbot.search.follow_up.cues import dates_in, mentions, relates, with_years


def test_a_computation_leans_only_where_it_names_nothing_new() -> None:
    said = ["What was the reserve in 2011?"]
    assert mentions("What is the difference divided by the 2010 reserve?", said)
    assert mentions("What is the change in the reserve?", said)
    assert not mentions("What is the change in the debt?", said)
    assert not mentions("What was the reserve in 2010?", said)
    assert not mentions("What was the percentage change over 2009 and 2010 of the reserve?", said)
    assert not mentions("What was the change in the reserve from 2009 to 2010?", said)


def test_a_change_takes_one_measure_and_a_share_two() -> None:
    assert relates("What percentage does this represent?", "What was the debt?")
    assert not relates("What is the percentage change?", "What was the debt?")
    assert not relates("What is this change as a percentage?", "What was the change in debt?")
    assert relates("What is the ratio of the two?", "What was the change in debt?")


def test_months_belong_to_their_year() -> None:
    with_months = with_years("The rate in March 2024?", ["April", "March"], months=True)
    assert with_months == "The rate in March and April 2024?"
    text = "The rate in June 2023, and at December 31, 2022"
    dates = [text[start:end] for start, end in dates_in(text)]
    assert dates == ["June 2023", "2022"]

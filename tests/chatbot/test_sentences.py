"""Sentences: they are the text, they end where sentences end and not at abbreviations, figures or citations, in linear time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.sentences import LONGEST_SENTENCE, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "whole",
    [
        "Apple Inc. reported $4.5 million in the U.S. Treasury account.",
        "Mr. Smith and Dr. Jones met Prof. A. B. Lee of J. P. Morgan.",
        "See p. 7, pp. 8-9 and Fig. 3 under No. 5 of Art. IV.",
        "It cost Rs. 500, i.e. 3.5 per cent. of the total, vs. 4.0 before.",
        "Funds, e.g. Vanguard, fell.",
        "It was $4.5 million [S1]. (page 8)",
        "The deficit narrowed. [S2-1f3a]",
        "It rose.(see Table 3)",
        '"Really?" he asked.',
        "It rose ... and then fell.",
        "The deficit was\n4.5 million in the\nyear 2020.",
        "Costs came to $\n4.5 million.",
        "The sum of 4.5\nmillion was paid.",
    ],
)
def test_one_sentence_stays_one(whole: str) -> None:
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    "parts",
    [
        ["It rose by 3.5 per cent.", "The rate fell."],
        ["We sold to Acme Inc.", "The price rose."],
        ["In the U.S. it fell.", "Why?", "Nobody knows!", "ok then."],
        ["No.", "I disagree."],
        ['He said "Stop."', "Then he left."],
        ["(It was so.)", "Fine."],
        ["It was $4.5 million. (page 8)", "The rest is on p. 9.", "That is all."],
        ["That was in 2019.", "The next year was better."],
        ["1. First item", "2. Second item", "- third", "• fourth"],
        ["| item | 2011 |", "|---|---|", "| revenue | 4.5 |"],
        ["A heading", "The text below it.", "Another line"],
    ],
)
def test_sentences_are_parted(parts: list[str]) -> None:
    text = "".join(part + ("\n" if not part.endswith((".", "!", "?", ")", '"')) else " ") for part in parts)
    assert sentences(text) == parts


def test_sentences_without_blanks_between_them_are_parted() -> None:
    assert sentences("今天很好。明天呢？好！「走吧。」他说。") == ["今天很好。", "明天呢？", "好！", "「走吧。」", "他说。"]


def test_a_blank_goes_with_the_word_after_it_and_a_line_end_with_the_line() -> None:
    text = "One. Two.\n\nThree.  "
    assert [text[start:end] for start, end in sentence_spans(text)] == ["One.", " Two.\n\n", "Three.  "]


def test_what_has_no_stop_is_cut_at_a_blank_that_parts_no_figure_from_its_unit() -> None:
    text = "word " * 2_000
    pieces = [text[start:end] for start, end in sentence_spans(text)]
    assert "".join(pieces) == text and max(map(len, pieces)) <= LONGEST_SENTENCE
    assert all(set(piece.split()) <= {"word"} for piece in pieces)
    figures = "about 4.5 million " * 40
    cut = [figures[start:end] for start, end in sentence_spans(figures, longest=60)]
    assert len(cut) > 5 and not any(piece.endswith("4.5") for piece in cut)


def test_what_has_no_blank_either_is_cut_anywhere() -> None:
    assert {end - start for start, end in sentence_spans("x" * 5_000)} == {LONGEST_SENTENCE}


def test_nothing_has_no_sentence_and_blanks_are_one() -> None:
    assert sentence_spans("") == []
    assert sentence_spans(" \n ") == [(0, 3)]
    with pytest.raises(ValueError):
        sentence_spans("text", longest=0)


PARTS = [*"aB1 .!?\n。[](\"'$-|é\u0301\ud800", "Mr. ", "p. 7", "[S1]", "(page 8)", "\n\n"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=200).map("".join)


@given(TEXTS | st.text(max_size=200), st.integers(1, 50))
def test_sentences_are_the_text(text: str, longest: int) -> None:
    spans = sentence_spans(text, longest=longest)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(0 < end - start <= longest for start, end in spans)
    whole = [text[start:end] for start, end in sentence_spans(text)]
    assert len(whole) == 1 or all(map(str.strip, whole))


@pytest.mark.alone
@pytest.mark.parametrize("piece", [".", ".)", "a. ", "\n", " ", "[(.", "x", "(see ", "Mr. ", ". [1", "...) ", ". (page 1)"])
def test_time_grows_with_the_text_alone(piece: str) -> None:
    def seconds(count: int) -> float:
        started = time.process_time()
        sentence_spans(piece * count)
        return time.process_time() - started

    seconds(1_000)
    # Four times the text; the square of it would be sixteen.
    assert min(seconds(40_000) for _ in range(2)) < 9 * min(seconds(10_000) for _ in range(3)) + 0.02

"""Sentences: they are the text, they end where sentences end and not at abbreviations, figures or
citations, in linear time.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.language.sentences import LONGEST_SENTENCE, is_finished, sentence_around, sentence_spans
from ingestion.language.sentences import sentences as parted
from tests.case_rows import case_rows


def sentences(text: str) -> list[str]:
    return [piece.strip() for piece in pieces(text)]


def pieces(text: str, longest: int = LONGEST_SENTENCE) -> list[str]:
    """What the spans of the sentences cut the text into."""
    return [text[start:end] for start, end in sentence_spans(text, longest=longest)]


ONE_SENTENCE = """
Apple Inc. reported $4.5 million in the U.S. Treasury account.
Mr. Smith and Dr. Jones met Prof. A. B. Lee of J. P. Morgan.
See p. 7, pp. 8-9 and Fig. 3 under No. 5 of Art. IV.
It cost Rs. 500, i.e. 3.5 per cent. of the total, vs. 4.0 before.
Funds, e.g. Vanguard, fell.
It was $4.5 million [S1]. (page 8)
The deficit narrowed. [S2-1f3a]
It rose.(see Table 3)
"Really?" he asked.
It rose ... and then fell.
The board of Acme Beauty, Inc. (the “Company”) approved it.
They came to 6 %, small dams ( 1 . 3 %), and sun (0. 5 %).
Costs rose (see note 4. Figures are rounded) in the year.
""".strip().split("\n")
ONE_SENTENCE += [
    "The deficit was\n4.5 million in the\nyear 2020.",
    "Costs came to $\n4.5 million.",
    "The sum of 4.5\nmillion was paid.",
]


@pytest.mark.parametrize("whole", ONE_SENTENCE)
def test_one_sentence_stays_one(whole: str) -> None:
    assert sentences(whole) == [whole]


PARTED = case_rows("""
It rose by 3.5 per cent. | The rate fell.
We sold to Acme Inc. | The price rose.
In the U.S. it fell. | Why? | Nobody knows! | ok then.
No. | I disagree.
He said "Stop." | Then he left.
(It was so.) | Fine.
It was $4.5 million. (page 8) | The rest is on p. 9. | That is all.
That was in 2019. | The next year was better.
1. First item | 2. Second item | - third | • fourth
A heading | The text below it. | Another line
""")
PARTED += [("| item | 2011 |", "|---|---|", "| revenue | 4.5 |")]


@pytest.mark.parametrize("parts", PARTED)
def test_sentences_are_parted(parts: tuple[str, ...]) -> None:
    text = ""
    for part in parts:
        stopped = part.endswith((".", "!", "?", ")", '"'))
        text += part + (" " if stopped else "\n")
    assert sentences(text) == list(parts)


def test_sentences_without_blanks_between_them_are_parted() -> None:
    expected = "今天很好。 明天呢？ 好！ 「走吧。」 他说。".split()
    assert sentences("今天很好。明天呢？好！「走吧。」他说。") == expected


def test_a_blank_goes_with_the_word_after_it_and_a_line_end_with_the_line() -> None:
    found = pieces("One. Two.\n\nThree.  ")
    assert found == ["One.", " Two.\n\n", "Three.  "]


def test_what_has_no_stop_is_cut_at_a_blank_that_parts_no_figure_from_its_unit() -> None:
    text = "word " * 2_000
    words = pieces(text)
    assert "".join(words) == text
    for piece in words:
        assert len(piece) <= LONGEST_SENTENCE
        assert set(piece.split()) <= {"word"}
    amounts = pieces("about 4.5 million " * 40, longest=60)
    assert len(amounts) > 5
    for piece in amounts:
        assert not piece.endswith("4.5")


def test_what_has_no_blank_either_is_cut_anywhere() -> None:
    lengths = {len(piece) for piece in pieces("x" * 5_000)}
    assert lengths == {LONGEST_SENTENCE}


def test_nothing_has_no_sentence_and_blanks_are_one() -> None:
    assert sentence_spans("") == []
    assert sentence_spans(" \n ") == [(0, 3)]
    with pytest.raises(ValueError):
        sentence_spans("text", longest=0)


PARTS = [*"aB1 .!?\n。[](\"'$-|é\u0301\ud800", "Mr. ", "p. 7", "[S1]", "(page 8)", "\n\n"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=200).map("".join)
ANY_TEXT = TEXTS | st.text(max_size=200)


@given(ANY_TEXT, st.integers(1, 50))
def test_sentences_are_the_text(text: str, longest: int) -> None:
    cut = pieces(text, longest=longest)
    assert "".join(cut) == text
    for piece in cut:
        assert 0 < len(piece) <= longest
    whole = pieces(text)
    assert len(whole) == 1 or all(map(str.strip, whole))


ABBREVIATED = case_rows("""
Five strategies help the design of mechanisms.13 | These strategies are known. | See No.13 The end.
The outlay is Rs. 12 crore in Jan. 2024 and Rs. 14 crore in Sept. 2025. | It rises.
It falls under sec. 12 of the Act. | Art. 5 applies too.
The change was (0.5). | In FY24 it was 1⁄4 point.
""")


@pytest.mark.parametrize("parts", ABBREVIATED)
def test_abbreviations_of_budgets_and_marks_of_notes(parts: tuple[str, ...]) -> None:
    assert sentences(" ".join(parts)) == list(parts)


def test_other_marks_part_a_sentence_too_where_asked() -> None:
    text = "Income was 5; costs were 4. It rose."
    assert sentences(text) == ["Income was 5; costs were 4.", "It rose."]
    expected = ["Income was 5;", "costs were 4.", "It rose."]
    assert parted(text, also=";") == expected


SHORT_TEXT = st.text(alphabet="ab .;\n13A", max_size=80)


@given(SHORT_TEXT, st.integers(0, 80), st.integers(0, 10))
def test_the_sentence_around_a_place_holds_it(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    first, last = sentence_around(text, start, end, reach=len(text))
    assert 0 <= first <= last <= len(text)
    assert text[start:end].strip() in text[first:last]


FINISHED = "It rose.|It rose (slightly).|好。|At most 3.[4]|It was weak.13|It rose. (page 8) [S1]".split("|")
FINISHED += ['He said "no."', "Why? "]


@pytest.mark.parametrize("text", FINISHED)
def test_a_sentence_is_finished(text: str) -> None:
    assert is_finished(text)


UNFINISHED = "It rose|as follows:|grants; and|see No.13|it rose (page 8)".split("|")
UNFINISHED += [""]


@pytest.mark.parametrize("text", UNFINISHED)
def test_what_has_no_end_is_not_finished(text: str) -> None:
    assert not is_finished(text)


@pytest.mark.parametrize("text", ["as follows:", "grants; and", "grants;"])
def test_a_part_may_end_at_other_marks(text: str) -> None:
    assert is_finished(text, also=":;")

"""What holds of any text in sentences, and of every word for a scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.language.scales import SCALE_NAMES, SCALES, scale_of
from ingestion.language.sentences import is_finished, sentence_spans, sentences

PIECES = [
    "The deficit",
    " rose",
    ".",
    "!",
    "?",
    " ",
    "\n",
    "\n\n",
    "e.g.",
    "No. 5",
    "(see page 8)",
    "[S1]",
    "3.0",
    "per cent",
    "“",
    "”",
    "。",
    ";",
    "Inc.",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=80)
PLAIN = st.lists(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["Parliament", "Debt", "Output"]),
        st.sampled_from(["rose", "fell"]),
        st.sampled_from(["slowly", "again"]),
    ),
    min_size=1,
    max_size=8,
)


@given(TEXTS, st.integers(1, 60))
def test_sentences_are_the_spans_without_blanks(text: str, longest: int) -> None:
    spans = sentence_spans(text, longest=longest)
    assert sentences(text, longest=longest) == [
        text[start:end].strip() for start, end in spans if text[start:end].strip()
    ]
    assert "".join("".join(sentences(text, longest=longest)).split()) == "".join(text.split())


@given(TEXTS, st.integers(1, 60))
def test_a_shorter_limit_gives_no_fewer_sentences(text: str, longest: int) -> None:
    assert len(sentence_spans(text, longest=longest)) >= len(sentence_spans(text, longest=2 * longest))


@given(PLAIN, st.sampled_from([". ", "! ", "? ", ".\n"]))
def test_plain_sentences_are_found_one_by_one(said: list[str], stop: str) -> None:
    assert sentences("".join(f"{one}{stop}" for one in said)) == [f"{one}{stop.strip()}" for one in said]


@given(PLAIN)
def test_what_is_in_sentences_stays_in_the_same_ones_when_more_follow(said: list[str]) -> None:
    texts = [f"{one}." for one in said]
    assert sentences(" ".join([*texts, "Nothing follows."])) == [
        *sentences(" ".join(texts)),
        "Nothing follows.",
    ]


@given(TEXTS, st.text(" \n\t", max_size=5))
def test_blanks_behind_change_nothing_about_an_end(text: str, blanks: str) -> None:
    assert is_finished(text + blanks) == is_finished(text)


@given(PLAIN, st.sampled_from([".", "!", "?", "…", ".”", ".)", ". [S1]", ". (page 8)"]))
def test_a_sentence_is_finished_by_its_stop_alone(said: list[str], stop: str) -> None:
    assert is_finished(said[0] + stop) and not is_finished(said[0])


@given(st.sampled_from(sorted(SCALES)), st.booleans(), st.sampled_from([str.lower, str.upper, str.title]))
def test_a_scale_is_one_in_any_case_and_number(word: str, plural: bool, case: object) -> None:
    assert callable(case)
    assert scale_of(case(word + "s" * plural)) == SCALES[word]


@given(st.sampled_from(sorted(SCALE_NAMES)))
def test_the_name_of_a_scale_is_that_scale(scale: float) -> None:
    assert scale_of(SCALE_NAMES[scale]) == scale


@given(
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=6).filter(
        lambda word: word.removesuffix("s") not in SCALES and word not in SCALES
    )
)
def test_no_other_word_is_a_scale(word: str) -> None:
    with pytest.raises(KeyError):
        scale_of(word)

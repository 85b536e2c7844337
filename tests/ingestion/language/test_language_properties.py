"""What holds of any text in sentences, and of every word for a scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.language.scales import MARK_SCALES, SCALE_NAMES, SCALES, scale_of
from ingestion.language.sentences import is_finished, sentence_spans, sentences

PIECES = [
    *"The deficit| rose|.|!|?| |e.g.|No. 5|(see page 8)|[S1]|3.0|per cent|“|”|。|;|Inc.".split("|"),
    "\n",
    "\n\n",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=80)
SUBJECT = st.sampled_from(["Parliament", "Debt", "Output"])
VERB = st.sampled_from(["rose", "fell"])
ADVERB = st.sampled_from(["slowly", "again"])
SENTENCE = st.builds("{} {} {}".format, SUBJECT, VERB, ADVERB)
PLAIN = st.lists(SENTENCE, min_size=1, max_size=8)
LIMIT = st.integers(1, 60)
BETWEEN = st.sampled_from([". ", "! ", "? ", ".\n"])
STOP = st.sampled_from([".", "!", "?", "…", ".”", ".)", ". [S1]", ". (page 8)"])
CASE = st.sampled_from([str.lower, str.upper, str.title])


@given(TEXTS, LIMIT)
def test_sentences_are_the_spans_without_blanks(text: str, longest: int) -> None:
    spans = sentence_spans(text, longest=longest)
    stripped = [text[start:end].strip() for start, end in spans]
    found = sentences(text, longest=longest)
    assert found == [piece for piece in stripped if piece]
    joined = "".join(found)
    assert "".join(joined.split()) == "".join(text.split())


@given(TEXTS, LIMIT)
def test_a_shorter_limit_gives_no_fewer_sentences(text: str, longest: int) -> None:
    short = sentence_spans(text, longest=longest)
    long = sentence_spans(text, longest=2 * longest)
    assert len(short) >= len(long)


@given(PLAIN, BETWEEN)
def test_plain_sentences_are_found_one_by_one(said: list[str], stop: str) -> None:
    text = "".join(f"{sentence}{stop}" for sentence in said)
    expected = [f"{sentence}{stop.strip()}" for sentence in said]
    assert sentences(text) == expected


@given(PLAIN)
def test_what_is_in_sentences_stays_in_the_same_ones_when_more_follow(said: list[str]) -> None:
    text = " ".join(f"{sentence}." for sentence in said)
    alone = sentences(text)
    followed = sentences(f"{text} Nothing follows.")
    assert followed == [*alone, "Nothing follows."]


@given(TEXTS, st.text(" \n\t", max_size=5))
def test_blanks_behind_change_nothing_about_an_end(text: str, blanks: str) -> None:
    assert is_finished(text + blanks) == is_finished(text)


@given(PLAIN, STOP)
def test_a_sentence_is_finished_by_its_stop_alone(said: list[str], stop: str) -> None:
    bare = said[0]
    assert is_finished(bare + stop)
    assert not is_finished(bare)


@given(st.sampled_from(sorted(SCALES)), st.booleans(), CASE)
def test_a_scale_is_one_in_any_case_and_number(word: str, plural: bool, case: object) -> None:
    assert callable(case)
    written = case(word + "s" * plural)
    assert scale_of(written) == SCALES[word]


@given(st.sampled_from(sorted(SCALE_NAMES)))
def test_the_name_of_a_scale_is_that_scale(scale: float) -> None:
    assert scale_of(SCALE_NAMES[scale]) == scale


def is_no_scale(word: str) -> bool:
    return word not in MARK_SCALES and word.removesuffix("s") not in MARK_SCALES


WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=6)


@given(WORD.filter(is_no_scale))
def test_no_other_word_is_a_scale(word: str) -> None:
    with pytest.raises(KeyError):
        scale_of(word)

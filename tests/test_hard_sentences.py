"""The contract of all who read sentences: they find the same ends, amounts and periods in what is hard to
read.
"""

from __future__ import annotations

import re

import pytest

from chatbot.answer.verification.checked_text import check_statements
from chatbot.evidence.page import page_of
from chatbot.memory.compression.messages import Message, Messages
from chatbot.search.question_terms import subject_of
from ingestion.language.numbers import find_figures
from ingestion.language.periods import find_periods
from ingestion.language.sentences import is_finished, sentence_around, sentences
from tests.chatbot.cited_pages import hit_of, prompt_over
from tests.hard_sentences import HARD, Hard

every = pytest.mark.parametrize("hard", HARD, ids=lambda hard: hard.text[:40])
KEY = re.compile(r" ?\[S1[^\]]*\]")
FIRST, LAST = "The committee met again.", "The minutes are kept by the board."


FRAME = f"{FIRST} {{}} {LAST}"


@every
def test_sentences_end_where_a_reader_ends_them(hard: Hard) -> None:
    framed = FRAME.format(hard.text)
    assert sentences(framed) == [FIRST, *hard.parts, LAST]
    for part in hard.parts:
        start = framed.index(part)
        opened, ended = sentence_around(framed, start + 1, start + 2, reach=400)
        assert framed[opened:ended] == part
        assert is_finished(part)


@every
def test_amounts_are_read(hard: Hard) -> None:
    figures = find_figures(hard.text)
    assert tuple((one.value, one.scale, one.unit) for one in figures) == hard.figures


@every
def test_periods_are_read(hard: Hard) -> None:
    periods = find_periods(hard.text)
    assert tuple(one.text for one in periods) == hard.periods


@every
def test_a_quotation_is_of_whole_sentences(hard: Hard) -> None:
    text = FRAME.format(hard.text)
    page = page_of(hit_of(text))
    found = [passage.text for passage in page.passages]  # a very short sentence goes with its neighbour
    assert " ".join(found) == text
    for part in hard.parts:
        assert any(part in one for one in found)


@every
def test_a_statement_is_a_sentence(hard: Hard) -> None:
    text = FRAME.format(hard.text)
    checked = check_statements(text, prompt_over(hit_of(text)))
    judged = [KEY.sub("", one.text) for one in checked.statements]
    stated = [KEY.sub("", part) for part in hard.parts if not part.endswith("?")]
    assert judged == [FIRST, *stated, LAST]


@every
def test_a_conversation_is_shortened_by_sentences(hard: Hard) -> None:
    message = Message("1", "user", FRAME.format(hard.text))
    (said,) = Messages([message], "").sentences
    _, *between, _ = map(str.strip, said)
    assert between == list(hard.parts)


@every
def test_a_question_is_a_sentence(hard: Hard) -> None:
    subject = subject_of(hard.text)
    assert all(part in subject for part in hard.parts)

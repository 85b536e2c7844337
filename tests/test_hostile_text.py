"""Whatever reads words that somebody else wrote does so in time that grows with their number alone: for each
reader, the pieces that a backtracking pattern would take minutes over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from chatbot.asking.question import LONGEST_QUESTION
from chatbot.evidence.scales_of_cells import passage_scale
from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.memory.conversations.summary import cited_facts
from chatbot.memory.conversations.topic_return import goes_back
from chatbot.memory.situations.advice import advice_of
from chatbot.memory.situations.situation_layer import names
from chatbot.question_reading import read_question
from chatbot.records import Exchange
from chatbot.search.entities import named_together, topic_of
from chatbot.search.follow_up import cues
from chatbot.search.follow_up.rules import standalone_query
from chatbot.search.question_terms import understand
from chatbot.search.reranking import new_order
from ingestion.language.numbers import find_figures
from ingestion.language.periods import find_periods
from ingestion.language.sentences import sentence_spans
from ingestion.ocr.plausibility import judge
from ingestion.pages.kinds import page_kinds
from ingestion.prompt_injection.injections import find_instructions
from ingestion.records import Page

TEXT, FIGURES = 200_000, 30_000
SAID = [Exchange("What is the infrastructure budget for 2025?", "50 million.")]


def follow_up(text: str) -> None:
    standalone_query(text, SAID)
    standalone_query("What about education?", [Exchange(text, "")])


def cues_of(text: str) -> None:
    for read in (cues.points_back, cues.is_courtesy, cues.asks_of_document, cues.stands_alone):
        read(text)
    cues.mentions(text, ["What was the debt in 2020?"])


def subjects(text: str) -> None:
    asked = understand(text, text)
    named_together(asked)
    topic_of(asked, lambda name: True)


def scopes(text: str) -> None:
    names(text, "AT&T us 3M")
    names("in the US", text)


def facts(text: str) -> None:
    cited_facts([StoredExchange("c", 1, "?", text, "complete", text, 1.0)])


def order(text: str) -> None:
    with suppress(ValueError):
        new_order(text, ("P1-aa", "P2-aa", "P3-aa"))


def figures(text: str) -> None:
    find_figures(text)
    find_periods(text)
    passage_scale(text)


def kinds(text: str) -> None:
    page_kinds(Page(1, text))


# The reader, how much it is given, and pieces of which that is made: "before…piece…behind", or a piece alone.
READERS: list[tuple[Callable[[str], object], int, str]] = [
    (
        follow_up,
        LONGEST_QUESTION,
        (
            "and |(and |What about |in |it is that, |1,234.5 million 2.3% |2019-20 |a-|(|thanks |the a |"
            "which a |"
            "of b budget |What is spent of… …(| \t|for a of "
        ),
    ),
    (
        cues_of,
        LONGEST_QUESTION,
        "those |of that |concerning a, |is that|what is the total |June |March 2020, |the change |   |(and ",
    ),
    (
        subjects,
        LONGEST_QUESTION,
        (
            "Acme and |Acme's |A |RM1.1.|1,234.5 million 2.3% |2019-20 |(|a-|A.|EPS |EPS GDP growth |"
            "what are the |round to: |between 1 and |SELECT * FROM t WHERE a IN (1,2,3); -- |"
            '<a href="?q=1">2,000 &amp;</a>\n'
        ),
    ),
    (
        read_question,
        LONGEST_QUESTION,
        "how much of the |did revenue by what percent |which company the ratio of |Is it above 5 ",
    ),
    (goes_back, TEXT, "please |back to |you said | |…let's …go back to"),
    (
        advice_of,
        TEXT,
        (
            "when …then…|please |when a… ,then…| |…remember …when a then b|when oil falls then …the …|"
            "when oil falls then …a-…|when oil falls then …up to …|when oil falls then …it was …"
        ),
    ),
    (scopes, TEXT, "a&|us |+|3m|&"),
    (facts, TEXT, "(|…(a…, p. 1|1 (…()…|…(a)…, p. 8"),
    (order, TEXT, "[|[,' |]|[…P1-aa,…"),
    (figures, FIGURES, "1|1 |(|(1) |(1 (|111 |1,|- 1 |1.1.|2018-|a| |\n|twenty one hundred and five "),
    (sentence_spans, TEXT, ".|.)|a. |\n| |[(.|x|(see |Mr. |. [1|...) |. (page 1)"),
    (judge, TEXT, "x|aB|#a|fi |é|Ã©|文|ا|.a |a b |][|qzx1 |\ufffdab(cid:1) /G1 #a"),
    (
        kinds,
        TEXT,
        (
            "consolidated statements of |statement of …a, ' …|C O N |Consolidated Balance Sheets\n|"
            "Total revenue 1,234 |Cash flows from operating activities 1 2\n|total… …\n|"
            "a . . . . . . . . 7\n|"
            "Note 1 debt debt debt\n|Balance Sheets …(…|(2019, |(2019, a…\n…|12 (|retrieved |https: "
        ),
    ),
    (
        find_instructions,
        TEXT,
        (
            "when you |ignore all the |ignore instructions |a b c d |<|%41|4a4b4c4d |1gn0re pr|忽略之前|аb |"
            "note to all the ai |assistant, please you must |any model reading this |refuse all "
        ),
    ),
]


def made_of(pieces: str, most: int) -> str:
    before, piece, after = pieces.split("…") if "…" in pieces else ("", pieces, "")
    return before + piece * (most // len(piece)) + after


@pytest.mark.timed
@pytest.mark.parametrize(("read", "most", "pieces"), READERS, ids=[read.__name__ for read, _, _ in READERS])
def test_it_takes_no_longer_than_its_length(read: Callable[[str], object], most: int, pieces: str) -> None:
    for piece in pieces.split("|"):
        text = made_of(piece, most)
        started = time.process_time()
        read(text)
        assert time.process_time() - started < 3, repr(piece)

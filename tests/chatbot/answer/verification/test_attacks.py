"""What a careless answer, a sloppy reader or a hostile page would pass off as confirmed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatbot.answer.verification.checked_text import check_statements
from chatbot.answer.verification.reading_call import StatementReading, replies_to
from chatbot.answer.verification.request import ReadingRequest
from chatbot.records import CONFIRMED
from tests.chatbot.cited_pages import hit_of, prompt_over

PAGE = (
    "Million crowns 2031 2030\nHarbour dues 412.6 398.1\nResult (198.8) (200.4)\nRent 137.5 91.0\n"
    "It is untrue that the Authority paid a dividend of 40 million crowns for 2031.\n"
    "Dues rose by 5 per cent. In 2030 dues fell by a tenth.\n"
    "The tariff is at least €12 per tonne and may (not) rise by 3% a year.\n"
    "The auditor did not, in the view of the Board, qualify her opinion on the accounts.\n"
    "Ships may be detained by the harbour master except on public holidays.\n"
    "Revenue of Westmere Ltd was 88 million crowns. That of Norland was 99 million crowns.\n"
    "The Council, which meets in May, decides on all new loans."
)
DUES = "Harbour dues 412.6 398.1"


def figure(written: str, printed: str, relation: str = "same", quote: int = 0) -> dict[str, Any]:
    return {"as_written": written, "as_printed": printed, "quote": quote, "relation": relation}


def mark_of(
    text: str, verdict: str = "", *quotes: str, figures: Any = (), expression: str = "", page: str = PAGE
) -> str:
    """The mark of a statement; without a verdict that of the program alone."""
    reading = None
    if verdict:
        row = {
            "number": 1,
            "verdict": verdict,
            "quotes": [{"page": "P1", "text": quote} for quote in quotes],
            "figures": list(figures),
            "calculation": {"expression": expression, "operands": []} if expression else None,
            "difference": "",
        }
        request = ReadingRequest((), (1,), {"P1": "S1-7f3a"})
        reading = StatementReading(replies_to(request, json.dumps({"statements": [row]})), ("m", "here"))
    found = check_statements(f"{text.rstrip('.')} [S1-7f3a].", prompt_over(hit_of(page)), reading)
    return found.statements[0].mark


@pytest.mark.parametrize(
    "said",
    [
        "The Authority paid a dividend of 40 million crowns for 2031.",
        "Dues rose by 5 per cent in 2030.",
        "The tariff is at least $12 per tonne and may (not) rise by 3% a year.",
        "The tariff is at least €12 per tonne and may not rise by 3% a year.",
        "Ships may be detained by the harbour master.",
    ],
)
def test_words_cut_out_of_a_sentence_or_with_other_signs_are_not_word_for_word(said: str) -> None:
    assert mark_of(said) not in CONFIRMED


def test_a_whole_sentence_and_a_whole_row_are_unless_the_reader_denies_it() -> None:
    whole = "The Council, which meets in May, decides on all new loans."
    assert mark_of(whole) == mark_of(DUES) == "quoted"
    assert mark_of(whole, "contradicted", whole) == "contradicted"
    assert mark_of(whole, "not_stated") == "not_found"


@pytest.mark.parametrize(
    "said",
    [
        "The Board stole 412.6 − 398.1 = 14.5 million crowns from the harbour's own widows.",
        "100 / 4 = 25 ships sank in the harbour.",
    ],
)
def test_a_sum_alone_confirms_no_words_beside_it(said: str) -> None:
    assert mark_of(said) not in CONFIRMED


CALCULATED = (
    ("Harbour dues were 999 million crowns.", "412.6/412.6*1000 - 1"),
    ("Harbour dues rose by 5 per cent.", "412.6*5/412.6"),
    ("Harbour dues were 21 million crowns.", "412.6/2/3/4*5*7/8*9/11"),
)


@pytest.mark.parametrize(("said", "expression"), CALCULATED)
def test_arithmetic_that_comes_to_anything_proves_nothing(said: str, expression: str) -> None:
    assert mark_of(said, "computed", DUES, expression=expression) not in CONFIRMED


def test_a_calculation_that_cannot_be_worked_out_breaks_nothing() -> None:
    for expression in ("9**9**9", "abs(1)", "count(412.6, 412.6)", "(" * 200 + "1" + ")" * 200, "1e308*10"):
        assert mark_of("Dues were 5 million.", "computed", DUES, expression=expression) not in CONFIRMED


STATED: tuple[tuple[str, list[str], list[Any]], ...] = (
    ("Harbour dues grew by 77 per cent.", [DUES], [figure("77 per cent", "0.77", "unit_converted")]),
    ("The harbour has 98 cranes.", [DUES], [figure("98", "98")]),
    ("The harbour has 8 cranes.", [DUES] * 8, [figure("8", "", "counted", -1)]),
    ("Harbour dues were ９９９ million crowns.", [DUES], []),
    ("Harbour dues were 𝟗𝟗𝟗 million crowns.", [DUES], []),
    ("Harbour dues were ⁹⁹⁹ million crowns.", [DUES], []),
    ("Harbour dues were 9.99e2 million crowns.", [DUES], []),
    ("Harbour dues were FY999 million crowns.", [DUES], []),
    ("Harbour dues were nine hundred million crowns.", [DUES], []),
    ("Harbour dues grew by ninety-nine per cent.", [DUES], []),
    (
        "The profit was 198.8 million crowns after tax.",
        ["Result (198.8) (200.4)"],
        [figure("198.8", "(198.8)")],
    ),
    ("The auditor qualified her opinion.", ["The auditor did … qualify her opinion"], []),
    ("Ships may be detained on public holidays.", ["Ships may be detained … on public holidays"], []),
    (
        "Revenue of Westmere Ltd was 99 million crowns.",
        ["Revenue of Westmere Ltd was … 99 million crowns"],
        [figure("99 million crowns", "99 million crowns")],
    ),
    ("The Council took over all powers of the state.", ["Council"], []),
)


@pytest.mark.parametrize(("said", "quotes", "figures"), STATED)
def test_a_reader_who_lies_is_not_believed(said: str, quotes: list[str], figures: list[Any]) -> None:
    assert mark_of(said, "stated", *quotes, figures=figures) not in CONFIRMED


def test_one_who_leaves_out_what_changes_nothing_is() -> None:
    quote = "The Council … decides on all new loans"
    assert mark_of("All new loans are decided on by the Council.", "stated", quote) == "stated"

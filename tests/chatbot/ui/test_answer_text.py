"""An answer's text keeps every character, its citations lead to their own passages and its figures carry
their own checks.
"""

from __future__ import annotations

import html.parser
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.records import Answer, Citation, Note, NumberCheck, Understanding
from chatbot.ui.answer_text import answer_html, figure_text, passages_first, passages_of, shown_figures
from chatbot.ui.answers import recalled_html
from tests.chatbot.ui.test_safe_text import HOSTILE

FIRST = Citation("S1", "Rules.pdf", 2, "4", "three per cent", True, version=7)
SECOND = Citation("S1", "Rules.pdf", 2, "4", "four per cent", True, version=7)
WHY_DOUBTFUL = 'the "words" <do> not stand there'
DOUBTFUL = Citation("S2", "Rules.pdf", 3, None, "", False, version=7, reason=WHY_DOUBTFUL)
UNKNOWN = Citation("S9-000000", None, None, None, "", False, reason="there is no source with this number")


class Read(html.parser.HTMLParser):
    """Text, elements and attributes as a browser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in {"br", "p", "caption", "th", "td"}:
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, kind: str) -> list[dict[str, str]]:
        """Attributes of the elements of this class."""
        found = []
        for _, attributes in self.elements:
            given = {name: value or "" for name, value in attributes.items()}
            first, *_ = given.get("class", "").split() or [""]
            if first == kind:
                found.append(given)
        return found

    @property
    def names(self) -> list[str]:
        """The elements, in order."""
        return [name for name, _ in self.elements]


def read_answer(text: str, *given: Any, **options: Any) -> Read:
    """An answer as it is shown, given as to `answer_html`."""
    return Read(answer_html(text, *given, **options))


def check(text: str, status: str = "supported", **more: str) -> NumberCheck:
    return NumberCheck(text, 1.0, None, 1.0, None, status, **more)


@pytest.mark.parametrize("text", HOSTILE)
def test_an_answer_cut_at_any_place_is_harmless(text: str) -> None:
    for end in range(len(text) + 1):
        cut = text[:end]
        read = read_answer(cut)
        assert set(read.names) <= {"div", "p", "br"}
        assert read.text.split() == cut.split()


def test_each_citation_presses_the_button_of_its_own_passage() -> None:
    citations = [FIRST, SECOND, FIRST]
    read = read_answer("Three [S1]. Four [S1]. Three again [S1].", citations, exchange=5)
    chips = read.of("key")
    assert [chip["data-open"] for chip in chips] == ["cite-5-1", "cite-5-2", "cite-5-1"]
    assert [passage.number for passage in passages_of(citations)] == [1, 2]
    assert "Rules.pdf, p.\u00a02 (printed\u00a04): located" in chips[0]["aria-label"]


def test_doubtful_and_unknown_citations_are_told_apart() -> None:
    citations = [FIRST, DOUBTFUL, UNKNOWN]
    read = read_answer("Three [S1]. Four [S2]. Five [S9-000000].", citations, exchange=1)
    fine, doubtful, unknown = read.of("key")
    assert fine["class"] == "key"
    assert doubtful["class"] == "key doubtful"
    assert unknown["class"] == "key doubtful"
    assert f"not verified, {WHY_DOUBTFUL}" in doubtful["data-tip"]
    assert "2 ⚠" in read.text
    assert "S9-000000: no such source" in read.text
    assert "data-open" not in unknown


def test_what_cannot_be_opened_is_no_button() -> None:
    gone = Citation("S1", "Rules.pdf", 2, "4", "three per cent", True)
    of_what_is_gone = read_answer("Three [S1].", [gone], exchange=1)
    assert "button" not in of_what_is_gone.names
    of_no_exchange = read_answer("Three [S1].", [FIRST])
    assert "button" not in of_no_exchange.names


def test_keys_are_numbered_while_an_answer_is_written() -> None:
    own_words = read_answer("So it is [S1-7f3a01; S2-7f3a01]. And so [S1-7f3a01].")
    assert own_words.text.strip() == "So it is 1 2. And so 3."
    by_model = read_answer("So it is [1]. **And** so [2, 3].", by_model=True)
    assert by_model.text.strip() == "So it is 1. And so 2 3."
    whole = read_answer("So it is [1].", [])
    assert whole.text.strip() == "So it is [1]."


def test_what_a_chat_model_formats_is_shown_with_its_marks() -> None:
    rows = "**Three** is *it* [S1].\n\n| a | b |\n|---|---|\n| 1 | 5 [S2] |\n\n- one <b>"
    citations, numbers = [FIRST, DOUBTFUL], [check("5", "unsupported")]
    by_model = read_answer(rows, citations, numbers, exchange=1, by_model=True)
    assert {"strong", "em", "table", "ul"} <= set(by_model.names)
    assert "b" not in by_model.names
    assert by_model.names.count("button") == 2
    own_words = read_answer(rows, citations, exchange=1)
    assert {"strong", "table", "ul"}.isdisjoint(own_words.names)


def test_figures_carry_their_own_checks_where_they_stand() -> None:
    numbers = [
        check("15"),
        check("2.0 per cent", "contradicted", reason="stands in “2.5 per cent”"),
        check("15", "unsupported"),
        check("99"),
    ]
    read = read_answer("Within 15 days 2.0 per cent, 115 times, then 15 again [S1].", [FIRST], numbers)
    fine, other, absent = read.of("figure")
    assert fine["class"] == "figure fine"
    assert other["class"] == "figure doubtful"
    assert absent["class"] == "figure doubtful"
    assert other["data-tip"] == "2.0 per cent: ⚠ the cited page gives another figure, in “2.5 per cent”"
    assert read.text.strip() == "Within 15 days 2.0 per cent ⚠, 115 times, then 15 ⚠ again 1."


def test_a_figure_is_not_marked_inside_a_key() -> None:
    numbers = [check("1"), check("S1")]
    read = read_answer("It is so [S1].", [FIRST], numbers)
    assert not read.of("figure")


def test_what_a_check_says_is_cut() -> None:
    wordy = check("15", reason="x" * 1_000)
    assert len(figure_text(wordy)) <= 300


@given(
    st.text(max_size=80),
    st.lists(st.sampled_from(["supported", "unsupported"]), max_size=3),
    st.lists(st.sampled_from(["[S1]", "1", "<b>", "\n\n"])),
)
def test_nothing_is_lost_and_nothing_takes_effect(text: str, statuses: list[str], pieces: list[str]) -> None:
    said = text + " ".join(pieces)
    numbers = list(map(check, said.split(), statuses))
    read = read_answer(said, [FIRST, DOUBTFUL], numbers, exchange=3)
    assert set(read.names) <= {"div", "p", "br", "span", "button"}
    for _, attributes in read.elements:
        assert attributes.keys().isdisjoint({"href", "src", "style"})
        assert not [name for name in attributes if name.startswith("on")]


ROW = (
    "Table 1: Summary of the budget Crowns million: Overall balance (14,030) (12,525) (11,760) (2023-24 "
    "outturn: (14,030); 2025-26 budget: (11,760)) [S1]"
)


def test_a_quoted_row_is_a_table_with_its_heads_its_figures_and_its_citation() -> None:
    # As they stand, those that the table leaves out, too.
    numbers = [check(text) for text in ("(14,030)", "(12,525)", "(11,760)", "(14,030)")]
    numbers.append(check("(11,760)", "contradicted"))
    read = read_answer(ROW, [FIRST], numbers, exchange=2)
    parts = [name for name in read.names if name in {"table", "caption", "th", "td", "p"}]
    assert parts == "table caption td th th th td td".split()
    words = (
        "Table 1: Summary of the budget Crowns million 1 2023-24 outturn 2025-26 budget Overall balance "
        "(14,030) (11,760) ⚠"
    )
    assert read.text.split() == words.split()
    assert read.of("key")[0]["data-open"] == "cite-2-1"


def test_a_row_loses_the_word_behind_its_figures() -> None:
    compliance = "Compliance: Deficit ceiling (of GDP) 3.0 2.6 0.4 Yes (Limit: 3.0) [S1]"
    read = read_answer(compliance, [FIRST])
    assert read.text.split() == "Compliance 1 Limit Deficit ceiling (of GDP) 3.0".split()
    limits = "Limits: Growth of 2 to 3 years ahead of plan 4.5 (2026: 4.5) [S1]"
    read = read_answer(limits, [FIRST])
    assert "Growth of 2 to 3 years ahead of plan" in read.text


def test_a_row_of_words_loses_the_cells_that_are_read_out() -> None:
    said = (
        "Drawings: May 2024 Storm damage, Northern Isles (240) (Purpose: Storm damage, Northern Isles; "
        "Amount: (240)) [S1]"
    )
    read = read_answer(said, [FIRST])
    words = "Drawings 1 Purpose Amount May 2024 Storm damage, Northern Isles (240)"
    assert read.text.split() == words.split()


SENTENCES = """
It rose to 3.0 per cent (2024: 2.9; a record) [S1]
It rose (see table 2) [S1]
(2024: 2.9) [S1]
It rose [S1] by half (2024: 2.9) [S1]
It rose (2024: 2.9) [S1] in all.
It rose (2024: 2.9)
12 13 (2024: 2.9) [S1]
""".strip()


@pytest.mark.parametrize("said", SENTENCES.split("\n"))
def test_other_sentences_stay_sentences(said: str) -> None:
    assert "<table" not in answer_html(said, [FIRST, FIRST])


def test_what_was_recalled_stands_apart_with_its_source_and_takes_no_effect() -> None:
    advice = Note("situations", "advice of 3 May 2026, similarity 0.81", "When rates rise → <b>hedge</b>")
    said = Note("history", "exchange 2", "The ceiling is 3 per cent.")
    read = Read(recalled_html([said, advice]))
    assert "not from these documents" in read.text
    assert "<b>hedge</b>" in read.text
    assert "similarity 0.81" in read.text
    assert "ceiling" not in read.text
    assert set(read.names) == {"section", "p"}
    assert recalled_html([said]) == ""


def test_the_likeliest_passage_stands_apart_from_the_further_ones() -> None:
    html = answer_html("First one.\n\nSecond one.\n\nThird one.", best_first=True)
    further = (
        '<details class="further"><summary>More from these pages</summary><p>Second one.</p><p>Third '
        "one.</p></details>"
    )
    assert html == f'<div class="answer"><p>First one.</p>{further}</div>'
    assert "further" not in answer_html("First one.", best_first=True)
    assert "further" not in answer_html("First one.\n\nSecond one.")


def test_passages_that_are_folded_away_are_not_counted_among_the_first() -> None:
    understanding = Understanding("?", "?")
    answer = Answer("?", "?", "First [S1]. Again [S1].\n\nThen [S2].", True, understanding=understanding)
    answer = replace(answer, citations=(FIRST, FIRST, DOUBTFUL))
    assert passages_first(answer) == 1
    assert passages_first(replace(answer, model="m")) == 2
    assert passages_first(replace(answer, text="No key.", citations=())) == 0


def test_figures_that_are_not_shown_are_not_counted_unless_in_doubt() -> None:
    text = "Deposits: Number of accounts 12 908 1,310 (2023: 908; 2024: 1,310) [S1]"
    numbers = [check(figure) for figure in ("12", "908", "1,310", "908", "1,310")]
    html = answer_html(text, [FIRST], numbers, exchange=1)
    assert "<td>" in html
    figures = shown_figures(html, numbers)
    assert [one.text for one in figures] == ["908", "1,310"]
    doubted = [check("12"), check("908", "unsupported"), check("908", "unsupported")]
    html = answer_html(text, [FIRST], doubted, exchange=1)
    (figure,) = shown_figures(html, doubted)
    assert figure.text == "908"


def test_of_two_verdicts_on_one_passage_its_button_has_the_worse() -> None:
    doubted = replace(FIRST, verified=False, reason="not so")
    free = replace(FIRST, verified=False, basis="reworded")
    for both in ([FIRST, doubted], [doubted, FIRST], [doubted, free]):
        (passage,) = passages_of(both)
        assert passage.citation == doubted
    computed = replace(FIRST, basis="figures")
    (passage,) = passages_of([free, computed])
    assert passage.citation == free

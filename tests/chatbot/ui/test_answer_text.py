"""An answer's text keeps every character, its citations lead to their own passages and its figures carry
their own checks.
"""

from __future__ import annotations

import html.parser
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.records import MODEL_TEXT, Citation, Hit, Note, NumberCheck
from chatbot.ui.answer_details import scores_html
from chatbot.ui.answer_text import answer_html, figure_text, passages_of, shown_figures
from chatbot.ui.answers import recalled_html
from tests.chatbot.ui.test_safe_text import HOSTILE

FIRST = Citation("S1", "Rules.pdf", 2, "4", "three per cent", True, version=7)
SECOND = Citation("S1", "Rules.pdf", 2, "4", "four per cent", True, version=7)
DOUBTFUL = Citation(
    "S2", "Rules.pdf", 3, None, "", False, version=7, reason='the "words" <do> not stand there'
)
UNKNOWN = Citation("S9-000000", None, None, None, "", False, reason="no such source was given")


class Read(html.parser.HTMLParser):
    """Text, elements and attributes as a browser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += "\n" if tag in {"br", "p", "caption", "th", "td"} else ""

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, kind: str) -> list[dict[str, str | None]]:
        """Attributes of the elements of this class."""
        return [
            attributes
            for _, attributes in self.elements
            if (attributes.get("class") or "").split()[:1] == [kind]
        ]


def check(text: str, status: str = "supported", **more: str) -> NumberCheck:
    return NumberCheck(text, 1.0, None, 1.0, None, status, **more)


@pytest.mark.parametrize("text", HOSTILE)
def test_an_answer_cut_at_any_place_is_harmless(text: str) -> None:
    for end in range(len(text) + 1):
        read = Read(answer_html(text[:end]))
        assert {name for name, _ in read.elements} <= {"div", "p", "br"}
        assert read.text.split() == text[:end].split()


def test_each_citation_presses_the_button_of_its_own_passage() -> None:
    read = Read(answer_html("Three [S1]. Four [S1]. Three again [S1].", [FIRST, SECOND, FIRST], exchange=5))
    assert [chip["data-press"] for chip in read.of("key")] == ["cite-5-1", "cite-5-2", "cite-5-1"]
    assert [passage.number for passage in passages_of([FIRST, SECOND, FIRST])] == [1, 2]
    assert "Rules.pdf, p. 2 (printed 4): ✓ located" in (read.of("key")[0]["aria-label"] or "")


def test_doubtful_and_unknown_citations_are_told_apart() -> None:
    read = Read(
        answer_html("Three [S1]. Four [S2]. Five [S9-000000].", [FIRST, DOUBTFUL, UNKNOWN], exchange=1)
    )
    assert [chip["class"] for chip in read.of("key")] == ["key", "key doubtful", "key doubtful"]
    assert 'not verified, the "words" <do> not stand there' in (read.of("key")[1]["data-tip"] or "")
    assert "2 ⚠" in read.text and "S9-000000: no such source" in read.text
    assert "data-press" not in read.of("key")[2]


def test_what_cannot_be_opened_is_no_button() -> None:
    gone = Citation("S1", "Rules.pdf", 2, "4", "three per cent", True)
    for shown in (answer_html("Three [S1].", [gone], exchange=1), answer_html("Three [S1].", [FIRST])):
        assert "button" not in {name for name, _ in Read(shown).elements}


def test_keys_are_numbered_while_an_answer_is_written() -> None:
    assert (
        Read(answer_html("So it is [S1-7f3a01; S2-7f3a01]. And so [S1-7f3a01].")).text.strip()
        == "So it is 1 2. And so 3."
    )
    assert (
        Read(answer_html("So it is [1]. **And** so [2, 3].", by_model=True)).text.strip()
        == "So it is 1. And so 2 3."
    )
    assert Read(answer_html("So it is [1].", [])).text.strip() == "So it is [1]."


def test_what_a_chat_model_formats_is_shown_with_its_marks_and_the_documents_own_words_are_not() -> None:
    rows = "**Three** is *it* [S1].\n\n| a | b |\n|---|---|\n| 1 | 5 [S2] |\n\n- one <b>"
    html = answer_html(rows, [FIRST, DOUBTFUL], [check("5", "unsupported")], exchange=1, by_model=True)
    names = [name for name, _ in Read(html).elements]
    assert {"strong", "em", "table", "ul"} <= set(names) and "b" not in names and names.count("button") == 2
    assert [
        name
        for name, _ in Read(answer_html(rows, [FIRST, DOUBTFUL], exchange=1)).elements
        if name in {"strong", "table", "ul"}
    ] == []
    behind = answer_html(f"- *Own* words [S1].\n\n{MODEL_TEXT}\n\n*Not* so.", [FIRST], by_model=True)
    assert "- *Own* words" in behind and "<em>Not</em>" in behind


def test_figures_carry_their_own_checks_where_they_stand() -> None:
    numbers = [
        check("15"),
        check("2.0 per cent", "contradicted", reason="stands in “2.5 per cent”"),
        check("15", "unsupported"),
        check("99"),
    ]
    read = Read(answer_html("Within 15 days 2.0 per cent, 115 times, then 15 again [S1].", [FIRST], numbers))
    figures = read.of("figure")
    assert [figure["class"] for figure in figures] == ["figure fine", "figure doubtful", "figure doubtful"]
    assert figures[1]["data-tip"] == "2.0 per cent: ⚠ the cited page gives another figure, in “2.5 per cent”"
    assert read.text.strip() == "Within 15 days 2.0 per cent ⚠, 115 times, then 15 ⚠ again 1."


def test_a_figure_is_not_marked_inside_a_key() -> None:
    read = Read(answer_html("It is so [S1].", [FIRST], [check("1"), check("S1")]))
    assert not read.of("figure")


def test_what_a_check_says_is_cut() -> None:
    assert len(figure_text(check("15", reason="x" * 1_000))) <= 300


@given(
    st.text(max_size=80),
    st.lists(st.sampled_from(["supported", "unsupported"]), max_size=3),
    st.lists(st.sampled_from(["[S1]", "1", "<b>", "\n\n"])),
)
def test_nothing_is_lost_and_nothing_takes_effect(text: str, statuses: list[str], pieces: list[str]) -> None:
    said = text + " ".join(pieces)
    numbers = [check(word, status) for word, status in zip(said.split(), statuses, strict=False)]
    read = Read(answer_html(said, [FIRST, DOUBTFUL], numbers, exchange=3))
    assert {name for name, _ in read.elements} <= {"div", "p", "br", "span", "button"}
    assert not [
        name
        for _, attributes in read.elements
        for name in attributes
        if name.startswith("on") or name in {"href", "src", "style"}
    ]


def hit(page: int, score: float, document: str = "Rules.pdf") -> Hit:
    return Hit(document, 7, page, None, None, "text", None, f"7:{page}", "words", score=score)


def test_considered_pages_stand_where_they_are_in_their_document() -> None:
    read = Read(scores_html([hit(50, 2.0), hit(1, 1.0), hit(3, 0.0, "<b>.pdf")], lambda version: 100))
    bars = [attributes["style"] or "" for name, attributes in read.elements if name == "i"]
    assert (
        bars[0].startswith("left: 2.00%") and "height: 25%" in bars[0]
    )  # of the other document, named first
    assert bars[1].startswith("left: 49.00%") and "height: 100%" in bars[1]
    assert bars[2].startswith("left: 0.00%") and "height: 50%" in bars[2]
    assert "Rules.pdf, 100 pages" in read.text and "<b>.pdf" in read.text


def test_pages_of_a_document_that_is_gone_are_shown_all_the_same() -> None:
    read = Read(scores_html([hit(8, 1.0)], lambda version: 0))
    assert "Rules.pdf, 8 pages" in read.text


ROW = (
    "Table 1: Summary of the budget Crowns million: Overall balance (14,030) (12,525) (11,760) (2023-24 "
    "outturn: (14,030); 2025-26 budget: (11,760)) [S1]"
)


def test_a_quoted_row_is_a_table_with_its_heads_its_figures_and_its_citation() -> None:
    numbers = [
        check(text) for text in ("(14,030)", "(12,525)", "(11,760)", "(14,030)")
    ]  # as they stand, those that the table leaves out, too
    read = Read(answer_html(ROW, [FIRST], [*numbers, check("(11,760)", "contradicted")], exchange=2))
    assert [name for name, _ in read.elements if name in {"table", "caption", "th", "td", "p"}] == [
        "table",
        "caption",
        *["td", "th", "th"],
        "th",
        "td",
        "td",
    ]
    assert read.text.split() == (
        (
            "Table 1: Summary of the budget Crowns million 1 2023-24 outturn 2025-26 budget Overall balance "
            "(14,030) (11,760) ⚠"
        ).split()
    )
    assert read.of("key")[0]["data-press"] == "cite-2-1"


def test_a_row_loses_the_word_behind_its_figures() -> None:
    said = "Compliance: Deficit ceiling (of GDP) 3.0 2.6 0.4 Yes (Limit: 3.0) [S1]"
    assert (
        Read(answer_html(said, [FIRST])).text.split()
        == "Compliance 1 Limit Deficit ceiling (of GDP) 3.0".split()
    )
    said = "Limits: Growth of 2 to 3 years ahead of plan 4.5 (2026: 4.5) [S1]"
    assert "Growth of 2 to 3 years ahead of plan" in Read(answer_html(said, [FIRST])).text


def test_a_row_of_words_loses_the_cells_that_are_read_out() -> None:
    said = (
        "Drawings: May 2024 Storm damage, Northern Isles (240) (Purpose: Storm damage, Northern Isles; "
        "Amount: (240)) [S1]"
    )
    read = Read(answer_html(said, [FIRST]))
    assert (
        read.text.split() == "Drawings 1 Purpose Amount May 2024 Storm damage, Northern Isles (240)".split()
    )


@pytest.mark.parametrize(
    "said",
    [
        "It rose to 3.0 per cent (2024: 2.9; a record) [S1]",
        "It rose (see table 2) [S1]",
        "(2024: 2.9) [S1]",
        "It rose [S1] by half (2024: 2.9) [S1]",
        "It rose (2024: 2.9) [S1] in all.",
        "It rose (2024: 2.9)",
        "12 13 (2024: 2.9) [S1]",
    ],
)
def test_other_sentences_stay_sentences(said: str) -> None:
    assert "<table" not in answer_html(said, [FIRST, FIRST])


def test_what_was_recalled_stands_apart_with_its_source_and_takes_no_effect() -> None:
    advice = Note("situations", "advice of 3 May 2026, similarity 0.81", "When rates rise → <b>hedge</b>")
    said = Note("history", "exchange 2", "The ceiling is 3 per cent.")
    read = Read(recalled_html([said, advice]))
    assert (
        "not from these documents" in read.text
        and "<b>hedge</b>" in read.text
        and "similarity 0.81" in read.text
    )
    assert "ceiling" not in read.text and {name for name, _ in read.elements} == {"section", "p"}
    assert recalled_html([said]) == ""


def test_the_likeliest_passage_stands_apart_from_the_further_ones() -> None:
    html = answer_html("First one.\n\nSecond one.\n\nThird one.", best_first=True)
    further = (
        '<details class="further"><summary>More from these pages</summary><p>Second one.</p><p>Third '
        "one.</p></details>"
    )
    assert html == f'<div class="answer"><p>First one.</p>{further}</div>'
    assert "further" not in answer_html("First one.", best_first=True) + answer_html(
        "First one.\n\nSecond one."
    )


def test_figures_that_are_not_shown_are_not_counted_unless_in_doubt() -> None:
    def check(text: str, status: str) -> NumberCheck:
        return NumberCheck(text, 1.0, None, 1, None, status)

    text = "Deposits: Number of accounts 12 908 1,310 (2023: 908; 2024: 1,310) [S1]"
    numbers = [
        check("12", "supported"),
        check("908", "supported"),
        check("1,310", "supported"),
        *[check(one, "supported") for one in ("908", "1,310")],
    ]

    html = answer_html(text, [FIRST], numbers, exchange=1)
    assert "<td>" in html
    assert [one.text for one in shown_figures(html, numbers)] == ["908", "1,310"]
    doubted = [check("12", "supported"), check("908", "unsupported"), check("908", "unsupported")]
    assert [one.text for one in shown_figures(answer_html(text, [FIRST], doubted, exchange=1), doubted)] == [
        "908"
    ]


def test_of_two_verdicts_on_one_passage_its_button_has_the_worse() -> None:
    doubted, free = (
        replace(FIRST, verified=False, reason="not so"),
        replace(FIRST, verified=False, basis="reworded"),
    )
    for both in ([FIRST, doubted], [doubted, FIRST], [doubted, free]):
        assert [passage.citation for passage in passages_of(both)] == [doubted]
    assert [passage.citation for passage in passages_of([free, replace(FIRST, basis="figures")])] == [free]

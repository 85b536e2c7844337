"""Statements in a model's own words: those whose figures and clauses stand on the page count, and no
others.
"""

from __future__ import annotations

import time

import pytest

from chatbot.answer.citations.model_statements import CheckedText, check_statements
from chatbot.records import Citation, Hit, Prompt

PAGE = """Kaluba District
Each constituency will receive K36.1 million in 2025 from the allocation of K30.6 million in 2024.
The objectives of the budget are:
attain real growth of 6.6 percent;
reduce the fiscal deficit to 3.1 percent.
The council appointed an independent auditor to examine the accounts of all water boards.
The undertaking does not include a monetary penalty.
The margin was lower on higher promotional activity to liquidate old inventory. Income tax also applies to \
noncompliant exporters.
Service fees: threshold on interest of a post office, K40,000 before and K50,000 now. Residents pay K12,000 \
for a licence.
"""
OTHER = "The weather was mild in spring, and farmers sowed maize early."


def checked(answer: str) -> CheckedText:
    hits = [
        Hit("Budget.pdf", 1, number, None, None, "text", None, f"1:{number}", text=page, page_text=page)
        for number, page in ((1, PAGE), (2, OTHER))
    ]
    sources = {f"S{rank}-7f3a": hit for rank, hit in enumerate(hits, 1)}
    return check_statements(answer, Prompt("What does a constituency get?", "q", sources, (), (), (), "7f3a"))


def citations(answer: str) -> tuple[Citation, ...]:
    return checked(answer).citations


@pytest.mark.parametrize(
    ("answer", "basis"),
    [
        ("Constituencies get K36.1 million for 2025, after K30.6 million for 2024 [S1-7f3a].", "figures"),
        ("The council appointed an independent auditor to examine the accounts [S1-7f3a].", "located"),
        # One word by the way, and a clause whose figures stand behind its comma.
        (
            (
                "For everyone else, a post office's threshold on interest, at first K40,000, goes to "
                "K50,000 [S1-7f3a]."
            ),
            "figures",
        ),
    ],
)
def test_what_stands_there_in_other_words_counts_for_what_it_is(answer: str, basis: str) -> None:
    (citation,) = citations(answer)
    assert (citation.verified, citation.basis, citation.reason) == (True, basis, None)
    assert citation.quote and PAGE[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("answer", "beside"),
    [
        (
            "Accounts of water boards are examined by an auditor whom the council appointed [S1-7f3a].",
            "The council appointed",
        ),
        # As many words of the page, and a wrong one.
        (
            (
                "The council appointed an independent auditor to hide the accounts of all water boards "
                "[S1-7f3a]."
            ),
            "The council appointed",
        ),
        (
            (
                "An independent auditor appointed the council to examine the accounts of all water boards "
                "[S1-7f3a]."
            ),
            "The council appointed",
        ),
        (
            (
                "Inventory that was old went for liquidation, as the company ran promotions and the margin "
                "got lower [S1-7f3a]."
            ),
            "The margin was lower",
        ),
        ("Exporters that are non-compliant owe income tax too [S1-7f3a].", "Income tax also applies"),
        # A number in words that the page does not have beside the figure.
        (
            (
                "Each of two constituencies will receive K36.1 million in 2025 from the allocation of K30.6 "
                "million in 2024 [S1-7f3a]."
            ),
            "Each constituency",
        ),
        (
            (
                "The budget has these objectives [S1-7f3a]:\n\n- Real growth of 6.6 percent\n- A fiscal "
                "deficit of 3.1 percent\n"
            ),
            "The objectives",
        ),
        # Nothing of it is there but its figure, which is right.
        ("Bribes that ministers took came to K40,000 [S1-7f3a].", "Service fees"),
        # A term in quotation marks quotes nothing that is said of it.
        ("A post office waives its “threshold on interest” for farmers [S1-7f3a].", "Service fees"),
    ],
)
def test_free_words_are_neither_verified_nor_doubted_and_the_page_s_sentence_is_beside_them(
    answer: str, beside: str
) -> None:
    (citation,) = citations(answer)
    assert (citation.verified, citation.doubted, citation.verdict) == (False, False, "≈ in other words")
    assert citation.quote.startswith(beside) and PAGE[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    "answer",
    [
        "Constituencies get K63.1 million for 2025, after K30.6 million for 2024 [S1-7f3a].",
        "The minister dismissed an independent auditor over the accounts of the mines [S1-7f3a].",
        "A monetary penalty is included in the undertaking [S1-7f3a].",
        "A monetary penalty was agreed upon by the council for 2025 [S1-7f3a].",
        "The compliant exporters owe income tax too [S1-7f3a].",
        "Bribes paid: K40,000 [S1-7f3a].",
        "The council dismissed all judges, K40,000 [S1-7f3a].",
        (
            "In 2025 a constituency receives K36.1 million, against an allocation of K30.6 million in 2024 "
            "[S2-7f3a]."
        ),
    ],
)
def test_what_does_not_stand_there_stays_doubted(answer: str) -> None:
    assert [citation.verified for citation in citations(answer)] == [False]


def test_the_page_s_words_with_another_figure_are_doubted_for_the_figure() -> None:
    (citation,) = citations(
        "Each constituency will receive K63.1 million in 2025 from the allocation of K30.6 million in "
        "2024 [S1-7f3a]."
    )
    assert citation.doubted
    assert citation.reason == "its words stand there, but not with K63.1 million"


def test_what_is_said_to_be_missing_is_neither_verified_nor_doubted() -> None:
    (citation,) = citations(
        "The pages of the June budget do not mention any minimum wage for farmers [S1-7f3a]."
    )
    assert (citation.verified, citation.doubted, citation.quote) == (False, False, "") and "missing" in (
        citation.reason or ""
    )
    assert citations("The ministers do not mention any minimum wage for farmers [S1-7f3a].")[0].doubted


@pytest.mark.timed
@pytest.mark.parametrize("piece", ["[S1-7f3a]", "1 + 1 = 2 ", "from 5 to 6 ", "5 in Japan, "])
def test_what_a_reply_repeats_without_end_is_judged_soon(piece: str) -> None:
    started = time.perf_counter()
    checked(f"{piece * (6_000 // len(piece))} [S1-7f3a].")
    assert (
        time.perf_counter() - started < 15
    )  # seconds, of a machine that is busy; some of these took minutes


def test_a_page_beside_another_counts_only_with_words_of_its_own() -> None:
    first, second = citations(
        "Constituencies get K36.1 million for 2025, after K30.6 million for 2024 [S1-7f3a][S2-7f3a]."
    )
    assert (first.verified, second.verified) == (True, False)


def test_a_name_that_no_page_has_is_doubted() -> None:
    (citation,) = citations(
        "The council appointed an independent auditor to examine the accounts of the Lusaka Transit "
        "Commission [S1-7f3a]."
    )
    assert (citation.verified, citation.reason) == (
        False,
        "none of the pages given names “Lusaka Transit Commission”",
    )
    assert not citations(
        "The council appointed an independent auditor to examine the accounts of Kaluba District [S1-7f3a]."
    )[0].doubted


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("The excerpts do not state any rate of tax for 2025.", False),
        ("The excerpts show the allocation of each constituency but no rate of tax.", False),
        ("The documents show fraud but no charge.", True),
        ("EBay's margin does not appear in the excerpts.", False),
        ("The documents show that the minister has not paid any tax.", True),
        ("The excerpts do not state that the minister took bribes, but he fled.", True),
        ("The documents do not name the minister who bribed 5,000 voters.", True),
    ],
)
def test_what_only_says_that_something_is_missing_states_nothing(said: str, stated: bool) -> None:
    assert [one.status for one in checked(said).statements] == (["unsupported"] if stated else [])


@pytest.mark.parametrize("name", ["SNC-Lavalin ProFac", "Enrique Peña Nieto", "Ontario Realty Corporation"])
def test_a_name_of_any_letters_is_known_from_its_page(name: str) -> None:
    page = f"The property contract was signed by {name} in the year 2004 and covers all public buildings."
    hit = Hit("Contracts.pdf", 1, 1, None, None, "text", None, "1:0", text=page, page_text=page)
    prompt = Prompt("Who signed?", "Who signed?", {"S1-7f3a": hit}, (), (), (), "7f3a")
    for said in (
        page,
        f"It was {name} that signed the property contract, which covers all public buildings.",
    ):
        assert not check_statements(f"{said} [S1-7f3a]", prompt).citations[0].doubted, said


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            "The council dismissed an independent auditor to examine the accounts [S1-7f3a].",
            "do not have “dismissed”",
        ),
        (
            "The council fined Kaluba District to examine the accounts of all water boards [S1-7f3a].",
            "do not have “fined”",
        ),
        (
            "The council appointed an independent auditor due to missing receipts [S1-7f3a].",
            "do not have “missing”",
        ),
        (
            "The undertaking does not include a monetary penalty because of earlier settlements [S1-7f3a].",
            "do not have “earlier”",
        ),
    ],
)
def test_a_verb_or_a_cause_that_no_page_cited_has_is_doubted(answer: str, reason: str) -> None:
    (citation,) = citations(answer)
    assert not citation.verified and reason in (citation.reason or "")


def test_where_two_pages_are_cited_together_either_may_have_the_verb() -> None:
    said = "The council appointed an independent auditor to examine the accounts [S1-7f3a][S2-7f3a]."
    assert citations(said)[0].verified


@pytest.mark.parametrize(
    "frame", ["The table shows", "This page of the budget speech also states that", "The note says"]
)
def test_where_it_stands_is_no_part_of_what_is_said(frame: str) -> None:
    (citation,) = citations(f"{frame} K36.1 million for constituencies in 2025 [S1-7f3a].")
    assert citation.verified


@pytest.mark.parametrize(
    ("said", "supported"),
    [
        ("The excerpts do not include the 2023 allocation, so the two cannot be compared.", True),
        ("The 2023 allocation does not appear in the excerpts, so it cannot be placed.", True),
        (
            "The excerpts give the allocation of K30.6 million in 2024 [S1-7f3a], but not the one of 2023.",
            True,
        ),
        ("The excerpts do not include the 2023 allocation, so the minister stole it.", False),
        ("The minister took bribes and the proof is not in the excerpts.", False),
        ("The audit was falsified because the real accounts are not in the documents.", False),
        ("The excerpts do not report the fraud of the board after the minister fled the country.", False),
        (
            "The documents do not mention the bribes that the minister of finance took from foreign banks.",
            False,
        ),
        ("The documents state the council does not appoint an auditor, but no reason.", False),
        ("The excerpts do not say who that member was.", True),
        (
            (
                "The council gives the allocation of K30.6 million in 2024 [S1-7f3a], but not the money of "
                "the poor."
            ),
            False,
        ),
    ],
)
def test_what_the_excerpts_lack_is_no_statement_and_what_is_made_of_it_is(said: str, supported: bool) -> None:
    assert all(one.status != "unsupported" for one in checked(said).statements) == supported

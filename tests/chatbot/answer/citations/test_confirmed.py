"""Statements in a model's own words: those whose figures and clauses stand on the page count, and no
others.
"""

from __future__ import annotations

import time

import pytest

from chatbot.answer.citations.model_statements import CheckedText, check_statements
from chatbot.records import Citation
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over

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
    prompt = prompt_over(hit_of(PAGE), hit_of(OTHER, page=2), question="What does a constituency get?")
    return check_statements(answer, prompt)


def citations(answer: str) -> tuple[Citation, ...]:
    return checked(answer).citations


IN_OTHER_WORDS = """
figures | Constituencies get K36.1 million for 2025, after K30.6 million for 2024 [S1-7f3a].
located | The council appointed an independent auditor to examine the accounts [S1-7f3a].
# One word by the way, and a clause whose figures stand behind its comma.
figures | For everyone else, a post office's threshold on interest, at first K40,000, goes to K50,000 \
[S1-7f3a].
"""


@pytest.mark.parametrize(("basis", "answer"), case_rows(IN_OTHER_WORDS))
def test_what_stands_there_in_other_words_counts_for_what_it_is(answer: str, basis: str) -> None:
    (citation,) = citations(answer)
    assert citation.verified
    assert citation.basis == basis
    assert citation.reason is None
    assert citation.quote
    assert PAGE[citation.start : citation.end] == citation.quote


FREE_WORDS = """
The council appointed | Accounts of water boards are examined by an auditor whom the council appointed \
[S1-7f3a].
# As many words of the page, and a wrong one.
The council appointed | The council appointed an independent auditor to hide the accounts of all water \
boards [S1-7f3a].
The council appointed | An independent auditor appointed the council to examine the accounts of all water \
boards [S1-7f3a].
The margin was lower | Inventory that was old went for liquidation, as the company ran promotions and the \
margin got lower [S1-7f3a].
Income tax also applies | Exporters that are non-compliant owe income tax too [S1-7f3a].
# A number in words that the page does not have beside the figure.
Each constituency | Each of two constituencies will receive K36.1 million in 2025 from the allocation of \
K30.6 million in 2024 [S1-7f3a].
# Nothing of it is there but its figure, which is right.
Service fees | Bribes that ministers took came to K40,000 [S1-7f3a].
# A term in quotation marks quotes nothing that is said of it.
Service fees | A post office waives its “threshold on interest” for farmers [S1-7f3a].
"""
OBJECTIVES = """The budget has these objectives [S1-7f3a]:

- Real growth of 6.6 percent
- A fiscal deficit of 3.1 percent
"""


@pytest.mark.parametrize(("beside", "answer"), [*case_rows(FREE_WORDS), ("The objectives", OBJECTIVES)])
def test_free_words_are_neither_verified_nor_doubted_and_the_page_s_sentence_is_beside_them(
    answer: str, beside: str
) -> None:
    (citation,) = citations(answer)
    assert not citation.verified
    assert not citation.doubted
    assert citation.verdict == "≈ in other words"
    assert citation.quote.startswith(beside)
    assert PAGE[citation.start : citation.end] == citation.quote


NOT_THERE = """
Constituencies get K63.1 million for 2025, after K30.6 million for 2024 [S1-7f3a].
The minister dismissed an independent auditor over the accounts of the mines [S1-7f3a].
A monetary penalty is included in the undertaking [S1-7f3a].
A monetary penalty was agreed upon by the council for 2025 [S1-7f3a].
The compliant exporters owe income tax too [S1-7f3a].
Bribes paid: K40,000 [S1-7f3a].
The council dismissed all judges, K40,000 [S1-7f3a].
In 2025 a constituency receives K36.1 million, against an allocation of K30.6 million in 2024 [S2-7f3a].
"""


@pytest.mark.parametrize("answer", case_lines(NOT_THERE))
def test_what_does_not_stand_there_stays_doubted(answer: str) -> None:
    (citation,) = citations(answer)
    assert not citation.verified


def test_the_page_s_words_with_another_figure_are_doubted_for_the_figure() -> None:
    said = "Each constituency will receive K63.1 million in 2025 from the allocation of K30.6 million in 2024"
    (citation,) = citations(f"{said} [S1-7f3a].")
    assert citation.doubted
    assert citation.reason == "its words are on the page, but not with K63.1 million"


def test_what_is_said_to_be_missing_is_neither_verified_nor_doubted() -> None:
    missing = "The pages of the June budget do not mention any minimum wage for farmers [S1-7f3a]."
    (citation,) = citations(missing)
    assert not citation.verified
    assert not citation.doubted
    assert citation.quote == ""
    assert "missing" in (citation.reason or "")
    of_others = "The ministers do not mention any minimum wage for farmers [S1-7f3a]."
    (citation,) = citations(of_others)
    assert citation.doubted


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("piece", ["[S1-7f3a]", "1 + 1 = 2 ", "from 5 to 6 ", "5 in Japan, "])
def test_what_a_reply_repeats_without_end_is_judged_soon(piece: str) -> None:
    endless = piece * (6_000 // len(piece))
    started = time.process_time()
    checked(f"{endless} [S1-7f3a].")
    # Seconds of this process; some of these took minutes.
    assert time.process_time() - started < 15


def test_a_page_beside_another_counts_only_with_words_of_its_own() -> None:
    said = "Constituencies get K36.1 million for 2025, after K30.6 million for 2024 [S1-7f3a][S2-7f3a]."
    first, second = citations(said)
    assert first.verified
    assert not second.verified


def test_a_name_that_no_page_has_is_doubted() -> None:
    said = "The council appointed an independent auditor to examine the accounts of"
    (citation,) = citations(f"{said} the Lusaka Transit Commission [S1-7f3a].")
    assert not citation.verified
    assert citation.reason == "none of the pages mentions “Lusaka Transit Commission”"
    (citation,) = citations(f"{said} Kaluba District [S1-7f3a].")
    assert not citation.doubted


MISSING_ALONE = """
The excerpts do not state any rate of tax for 2025.
The excerpts show the allocation of each constituency but no rate of tax.
EBay's margin does not appear in the excerpts.
"""


@pytest.mark.parametrize("said", case_lines(MISSING_ALONE))
def test_what_only_says_that_something_is_missing_states_nothing(said: str) -> None:
    assert not checked(said).statements


MORE_THAN_MISSING = """
The documents show fraud but no charge.
The documents show that the minister has not paid any tax.
The excerpts do not state that the minister took bribes, but he fled.
The documents do not name the minister who bribed 5,000 voters.
"""


@pytest.mark.parametrize("said", case_lines(MORE_THAN_MISSING))
def test_what_says_more_is_a_statement(said: str) -> None:
    (statement,) = checked(said).statements
    assert statement.status == "unsupported"


@pytest.mark.parametrize("name", ["SNC-Lavalin ProFac", "Enrique Peña Nieto", "Ontario Realty Corporation"])
def test_a_name_of_any_letters_is_known_from_its_page(name: str) -> None:
    page = f"The property contract was signed by {name} in the year 2004 and covers all public buildings."
    prompt = prompt_over(hit_of(page), question="Who signed?")
    reworded = f"It was {name} that signed the property contract, which covers all public buildings."
    for said in (page, reworded):
        (citation,) = check_statements(f"{said} [S1-7f3a]", prompt).citations
        assert not citation.doubted, said


ANOTHER_VERB = """
The council dismissed an independent auditor to examine the accounts [S1-7f3a]. | not mention “dismissed”
The council fined Kaluba District to examine the accounts of all water boards [S1-7f3a]. | not mention “fined”
The council appointed an independent auditor due to missing receipts [S1-7f3a]. | not mention “missing”
The undertaking does not include a monetary penalty because of earlier settlements [S1-7f3a]. | \
not mention “earlier”
"""


@pytest.mark.parametrize(("answer", "reason"), case_rows(ANOTHER_VERB))
def test_a_verb_or_a_cause_that_no_page_cited_has_is_doubted(answer: str, reason: str) -> None:
    (citation,) = citations(answer)
    assert not citation.verified
    assert reason in (citation.reason or "")


def test_where_two_pages_are_cited_together_either_may_have_the_verb() -> None:
    said = "The council appointed an independent auditor to examine the accounts [S1-7f3a][S2-7f3a]."
    first, *_ = citations(said)
    assert first.verified


FRAMES = """
The table shows
This page of the budget speech also states that
The note says
"""


@pytest.mark.parametrize("frame", case_lines(FRAMES))
def test_where_it_stands_is_no_part_of_what_is_said(frame: str) -> None:
    (citation,) = citations(f"{frame} K36.1 million for constituencies in 2025 [S1-7f3a].")
    assert citation.verified


LACKING = """
The excerpts do not include the 2023 allocation, so the two cannot be compared.
The 2023 allocation does not appear in the excerpts, so it cannot be placed.
The excerpts give the allocation of K30.6 million in 2024 [S1-7f3a], but not the one of 2023.
The excerpts do not say who that member was.
"""


@pytest.mark.parametrize("said", case_lines(LACKING))
def test_what_the_excerpts_lack_is_no_statement(said: str) -> None:
    assert all(one.status != "unsupported" for one in checked(said).statements)


MADE_OF_IT = """
The excerpts do not include the 2023 allocation, so the minister stole it.
The minister took bribes and the proof is not in the excerpts.
The audit was falsified because the real accounts are not in the documents.
The excerpts do not report the fraud of the board after the minister fled the country.
The documents do not mention the bribes that the minister of finance took from foreign banks.
The documents state the council does not appoint an auditor, but no reason.
The council gives the allocation of K30.6 million in 2024 [S1-7f3a], but not the money of the poor.
"""


@pytest.mark.parametrize("said", case_lines(MADE_OF_IT))
def test_what_is_made_of_what_they_lack_is_one(said: str) -> None:
    assert any(one.status == "unsupported" for one in checked(said).statements)

"""Changes of a row between two periods: every way of heading a column with every way of asking, drawn."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest

from chatbot.answer.extractive.passage_answers import extract_answer
from chatbot.answer.tables.operations import by_operation
from chatbot.answer.tables.table_answers import compute_answer
from chatbot.records import Hit
from chatbot.search.question_terms import understand
from ingestion.records import Rect, Table
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over, rows_of

# Of each kind of period: three of them, how they are asked for, and how columns are headed.
PERIODS = """
years | 2024; 2023; 2022 | <y>; the year <y>; fiscal year <y> | <y>; FY<y>; FY <s>; Actual <y>; <y> (KD); \
Year ended December 31, > <y>; <y> > EUR million; CY<y>
quarters | 3 2025; 2 2025; 3 2024 | Q<p> <y>; the <nth> quarter of <y>; <p>Q<s> | Q<p> <y>; <p>Q<s>; \
Q<p>/<y>; <y> > Q<p>; <nth> quarter <y>; Q<p>'<s>
fiscal quarters | 3 2025; 2 2025; 3 2024 | the <nth> quarter of fiscal <y>; Q<p> FY<s> | <p>Q FY<s>; \
Q<p> FY<y>; FY<s> > Q<p>
halves | 2 2024; 1 2024; 1 2023 | H<p> <y>; the <nth> half of <y>; <p>H<s> | H<p> <y>; <p>H<s>; \
<nth> half <y>; H<p>/<y>; <y> > H<p>
nine months | 2025; 2024; 2023 | 9M <y>; the first nine months of <y>; January to September <y> | 9M <y>; \
9M<s>; Nine months <y>; Jan–Sep <y>; 1–9/<y>; Nine months ended September 30, > <y>
to date | 2025; 2024; 2023 | YTD <y>; year to date <y> | YTD <y>; YTD > <y>; <y> YTD
months | 6 2025; 12 2024; 6 2024 | <month> <y> | <month> <y>; <mon> <y>; <mon>-<s>; <mm>/<y>; <mon> '<s>
days | 6 2025; 12 2024; 6 2024 | <end> <month> <y>; <month> <end>, <y> | <end> <month> <y>; \
<month> <end>, <y>; <end>.<mm>.<y>; <end>.<roman>.<y>; <y>-<mm>-<end>; <end>/<mm>/<y>; <end> <roman> <y>; \
At <end> <month> <y>; <end> <mon> <s>
fiscal years | 2025; 2024; 2023 | <before>/<s>; <before>-<s>; academic year <before>/<s>; FY<before>-<s> | \
<before>/<s>; <before>–<s>; AY <before>–<s>; FY<before>-<s>; <before>-<y>; <before>/<y>
"""
WAYS = case_lines("""
How did <row> change from <a> to <b>?
How did <row> change between <a> and <b>?
By how much did <row> change between <a> and <b>?
By how much did <row> grow from <a> to <b>?
What was the change in <row> from <a> to <b>?
What is the difference in <row> between <a> and <b>?
How much did <row> rise between <a> and <b>?
How has <row> changed from <a> to <b>?
How has <row> developed from <a> to <b>?
How has <row> grown between <a> and <b>?
How did <row> of Drava Works change from <a> to <b>?
How did the <row> of Drava Works develop between <a> and <b>?
How did <row> move from <a> to <b>?
How much higher or lower was <row> in <b> than in <a>?
How did <row> in <b> compare with <a>?
Compare <row> in <a> and <b>.
What was the increase in <row> from <a> to <b>?
How much did <row> fall from <a> to <b>?
What was the change in <row> in <b> compared with <a>?
By how much did <row> rise in <b> against <a>?
""")
# A row, its figures of the three periods, then by how much the first exceeds the second and the third, and
# the second the third.
ROWS = """
Selling costs | 4,534 | 3,617 | 3,841 | 917 | 693 | -224
Net result | (1,204.6) | 318.2 | (31.8) | -1,522.8 | -1,172.8 | 350.0
Transshipment | (US$ 1,204.6) | US$ 318.2 | US$ 118.2 | -1,522.8 | -1,322.8 | 200
Head office | [₦ 640] | [₦ 588] | ₦ 112 | -52 | -752 | -700
Free cash flow | −6 521 550 | 2 694 350 | 2 194 350 | -9,215,900 | -8,715,900 | 500,000
Total borrowings | 114 629 200 | 112 504 775 | 110 004 775 | 2,124,425 | 4,624,425 | 2,500,000
Commission expense | – 6’118’225 | – 5’502’990 | – 5’002’990 | 615,235 | 1,115,235 | 500,000
Dividend yield | 1.7% | 1.5% | 2.6% | 0.2 | -0.9 | -1.1
Number of branches | 412 | 398 | 405 | 14 | 7 | -7
Levies (judged payable) | 3,872 | 3,415 | 2,960 | 457 | 912 | 455
"""
# Parts of one year, of which only the later has it, and what else stands beside the columns asked for.
TOLD_ONCE = """
the second to the third quarter of fiscal 2025 | 3Q FY25; 2Q FY25; 1Q FY25; FY25; FY24
the second quarter to the third quarter of 2025 | Q3 2025; Q2 2025; Q3 2024
Q2 to Q3 2025 | Q3 2025; Q2 2025; Budget Q3 2025
the first to the second half of 2024 | H2 2024; H1 2024; H2 2023
first half to second half of 2024 | 2024 > 2H; 2024 > 1H; 2024
H1 to H2 2024 | Second half 2024; First half 2024; 2024
# Three columns of a year.
2023 to 2024 | 2024; 2023; Margin 2024
2023 to 2024 | 2024; 2023; Budget 2024
2023 to 2024 | Actual 2024; Actual 2023; Budget 2024
2023 to 2024 | 2024 £m; 2023 £m; Change %
2023 to 2024 | 2024; 2023 Restated; 2023
2023 to 2024 | 2024; 2023 Group; 2023 Company
30 June 2024 to 30 June 2025 | 30.VI.2025; 30.VI.2024; 31.XII.2024
"""
MONTHS = {6: ("June", "Jun", "06", "VI", "30"), 12: ("December", "Dec", "12", "XII", "31")}
NTH = ("", "first", "second", "third", "fourth")
DRAWN = 400


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";")]


def _said(way: str, period: str) -> str:
    """A period as a way of writing it has it. period: "part year" or "year"."""
    *part, year = period.split()
    number = int(part[0]) if part else 0
    names = MONTHS.get(number, ("",) * 5)
    marks = dict(zip(("month", "mon", "mm", "roman", "end"), names, strict=True))
    marks |= {"y": year, "s": year[2:], "before": str(int(year) - 1), "p": str(number)}
    marks["nth"] = NTH[number] if number < len(NTH) else ""
    return re.sub(r"<(\w+)>", lambda mark: marks[mark[1]], way)


def _page(heads: list[str], row: list[str]) -> Hit:
    title = "Drava Works\n"
    rows = f"Rent | 12 | 14 | 11\n{' | '.join(row)}\nStamps | 3 | 2 | 3"
    lines, found = rows_of(rows, len(title))
    table = Table("", "", tuple(heads), found, Rect(0, 0, 1, 1))
    return hit_of(title + lines, body=title + lines, tables=(table,))


def answer(question: str, page: Hit) -> str:
    """What the product says to a question over a page, without a chat model."""
    prompt, asked = prompt_over(page, question=question), understand(question, question)
    return compute_answer(prompt, asked) or by_operation(prompt, asked) or extract_answer(prompt, asked)


def _drawn() -> list[tuple[str, str, str, str]]:
    """Question, heads and row, each parted, and the difference that the answer must have."""
    draw = random.Random(7)
    cases = []
    kinds = [
        (period, said, head)
        for _, periods, asked, heads in case_rows(PERIODS)
        for period in [_parts(periods)]
        for said in _parts(asked)
        for head in _parts(heads)
    ]
    for number in range(DRAWN):
        periods, said, head = kinds[number % len(kinds)]
        label, *cells = draw.choice(case_rows(ROWS))
        pair = draw.randrange(3)
        later, earlier = list(combinations(range(3), 2))[pair]
        way = draw.choice(WAYS)
        name = label.split(" (")[0]
        name = name[0].lower() + name[1:]
        question = way.replace("<row>", name)
        question = question.replace("<a>", _said(said, periods[earlier]))
        question = question.replace("<b>", _said(said, periods[later]))
        heads = "; ".join(_said(head, period) for period in periods)
        cases.append((question, heads, " | ".join([label, *cells[:3]]), cells[3 + pair]))
    return cases


@pytest.mark.parametrize(("question", "heads", "row", "change"), _drawn())
def test_a_row_changes_by_the_difference_of_the_two_periods(
    question: str, heads: str, row: str, change: str
) -> None:
    said = answer(question, _page(_parts(heads), row.split(" | ")))
    number = re.escape(change.removesuffix(".0"))
    assert re.search(rf"= {number}(?:\.0)?(?: percentage points|;|\.(?!\d))", said), said


@pytest.mark.parametrize(("periods", "heads"), case_rows(TOLD_ONCE))
def test_columns_beside_the_two_that_are_asked_for_change_nothing(periods: str, heads: str) -> None:
    row = ["Corporate deposits", "1,307.4", "1,394.2", "1,255.0", "12.6", "17.0"]
    page = _page(_parts(heads), row[: 1 + len(_parts(heads))])
    assert "1,307.4 - 1,394.2 = -86.8" in answer(f"How did corporate deposits change from {periods}?", page)


NO_CHANGE = """
# One period alone, two of which one has no column, and a row that is there twice.
What were corporate deposits in 2024? | 2024; 2023; 2022
How did corporate deposits change from 2021 to 2024? | 2024; 2023; 2022
How did corporate deposits change from January–May 2023 to January–May 2024? | T2 2024; T2 2023; Budget 2024
How did corporate deposits change from Q2 2023 to Q2 2024? | 2024; 2023; 2022
How did corporate deposits change from 2023 to 2024? | H1 2024; H1 2023; H2 2022
"""


@pytest.mark.parametrize(("question", "heads"), case_rows(NO_CHANGE))
def test_no_change_is_said_of_other_periods(question: str, heads: str) -> None:
    said = answer(question, _page(_parts(heads), ["Corporate deposits", "1,307.4", "1,394.2", "1,255.0"]))
    assert " = " not in said
    assert "Budget" not in said


def test_a_row_that_is_there_twice_is_told_apart_by_its_section() -> None:
    rows = ["Deposits", "20", "30", "40\nLoans:\nDeposits", "50", "70", "80"]
    page = _page(["2024", "2023", "2022"], rows)
    assert " = " not in answer("How did deposits change from 2023 to 2024?", page)
    assert "50 - 70 = -20" in answer("How did deposits of loans change from 2023 to 2024?", page)


def test_rows_whose_names_differ_in_a_small_word_are_two() -> None:
    rows = ["Profit before tax", "90", "80", "70\nProfit after tax", "60", "55", "50"]
    page = _page(["H1 FY25", "H1 FY24", "FY24"], rows)
    assert "60 - 55 = 5" in answer("How did profit after tax change from H1 FY24 to H1 FY25?", page)
    assert "90 - 80 = 10" in answer("How did profit before tax change from H1 FY24 to H1 FY25?", page)

"""What is asked of a table is answered with the figure of that period, in its scale: a part of a year never
stands for the year, and years may name the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from chatbot.answer.compare.key_figure_lookup import document_figures
from chatbot.answer.verification.own_text import check_quoted
from chatbot.asking.question import Ask
from chatbot.comparison.key_figure_records import KeyFigure
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from ingestion.document import read_document
from tests.case_rows import case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over
from tests.pdfs import Placed, draw, grid
from tests.stores import add_now, hashing, of_pages

ROWS = (
    ("Revenue", "8,412", "7,990"),
    ("Operating income", "2,097", "1,952"),
    ("Net income", "1,480", "1,391"),
    # In another language too, the comma can only set off thousands here.
    ("Turnover of all partners", "1,218,480", "1,107,391"),
)
INCOME = "Consolidated income statement"
OF_EUROS = f"{INCOME} (in millions of euros)"


def statement(
    heads: Sequence[str], units: Sequence[str] = (), *, caption: str = OF_EUROS, line: str = ""
) -> list[Placed]:
    above = [("", *cells) for cells in (heads, units) if cells]
    lines = [(60, 60, "Alder Group"), (60, 80, caption), *([(60, 95, line)] if line else [])]
    return [*lines, *grid(118, [*above, *ROWS], rights=(400, 500))]


def revenue(folder: Path, page: Sequence[Placed]) -> list[KeyFigure]:
    (read,) = read_document(draw(folder / "Alder.pdf", page)).pages
    hit = hit_of(read.text, document="Alder.pdf", version=1, tables=read.tables, kinds=read.kinds, page=1)
    found = document_figures("Alder.pdf", 1, [hit]).figures
    return [figure for figure in found if figure.measure == "revenue"]


HEADS = case_rows("""
2024 | 31.12.2024 | 31.12.2023
2024 | 31/12/2024 | 31/12/2023
2024 | 31 Dec 24 | 31 Dec 23
2024 | Dec-24 | Dec-23
2024 | 31.03.2024 | 31.03.2023
2024 | 24A | 23A
2024 | FY24E | FY23A
2024 | 12M24 | 12M23
2024 | 2024 EUR | 2023 EUR
2024-25 | FY2024/25 | FY2023/24
6 months 2024 | 1H24 | 1H23
6 months 2024 | 1st Half 2024 | 1st Half 2023
6 months 2025 | H1 FY25 | H1 FY24
H2 2024 | 2H24 | 2H23
9 months 2024 | 9M24 | 9M23
9 months to September 2024 | YTD Sep 24 | YTD Sep 23
Q4 2024 | Q4'24 | Q4'23
Q3 2025 | Q3 FY25 | Q3 FY24
3 months to December 2024 | Oct-Dec 2024 | Oct-Dec 2023
6 months to June 2024 | Six months to > June 2024 | Six months to > June 2023
3 months to September 2024 | Three months > 30 Sep 2024 | Three months > 30 Sep 2023
""")


@pytest.mark.parametrize(("period", "newer", "older"), HEADS)
def test_a_key_figure_is_of_the_period_of_its_column(
    tmp_path: Path, period: str, newer: str, older: str
) -> None:
    above = list(zip(newer.split(" > "), older.split(" > "), strict=True))
    newest, before = revenue(tmp_path, statement(*above))
    assert (newest.period.text, newest.magnitude) == (period, 8_412e6)
    assert before.magnitude == 7_990e6


def test_parts_of_a_year_with_a_head_of_two_lines(tmp_path: Path) -> None:
    rights = (290, 370, 450, 530)
    rows = [("", "2024", "2023", "2024", "2023"), ("Revenue", "1,208", "1,142", "3,511", "3,390")]
    rows.append(("Net income", "131", "104", "377", "322"))
    over = [(310, 95, "|Three months ended September 30,"), (480, 95, "|Nine months ended September 30,")]
    page = [(60, 60, "Alder Group"), (60, 80, OF_EUROS), *over, *grid(110, rows, rights=rights)]
    shown = {figure.period.text: figure.value for figure in revenue(tmp_path, page)}
    assert shown == {
        "3 months to September 2024": 1_208,
        "3 months to September 2023": 1_142,
        "9 months to September 2024": 3_511,
        "9 months to September 2023": 3_390,
    }


UNITS = case_rows("""
NOK mill. | 1e6 | NOK
MSEK | 1e6 | SEK
kEUR | 1e3 | €
TEUR | 1e3 | €
Rm | 1e6 | ZAR
R million | 1e6 | ZAR
$ in mm | 1e6 | $
€ thsd. | 1e3 | €
N’million | 1e6 | ₦
in Mio. € | 1e6 | €
Mrd. € | 1e9 | €
Tsd. € | 1e3 | €
EUR m | 1e6 | €
CHF mn | 1e6 | CHF
US$ bn | 1e9 | $
$000 | 1e3 | $
RM'000 | 1e3 | RM
en milliers d'euros | 1e3 | €
millones de euros | 1e6 | €
""")


@pytest.mark.parametrize("frame", ["{}", "({})"])
@pytest.mark.parametrize(("unit", "scale", "money"), UNITS)
def test_a_line_of_units_scales_its_table(
    tmp_path: Path, frame: str, unit: str, scale: str, money: str
) -> None:
    figure, *_ = revenue(tmp_path, statement(("2024", "2023"), caption=INCOME, line=frame.format(unit)))
    assert (figure.magnitude, figure.unit) == (8_412 * float(scale), money)


@pytest.mark.parametrize(("unit", "scale", "money"), [row for row in UNITS if " in " not in f" {row[0]}"])
def test_a_unit_below_a_year_scales_its_column(tmp_path: Path, unit: str, scale: str, money: str) -> None:
    if len(unit) > 10:
        pytest.skip("too wide for a column")
    figure, *_ = revenue(tmp_path, statement(("2024", "2023"), (unit, unit), caption=INCOME))
    assert (figure.period.text, figure.magnitude, figure.unit) == ("2024", 8_412 * float(scale), money)


def test_zeros_scale_and_have_no_currency(tmp_path: Path) -> None:
    figure, *_ = revenue(tmp_path, statement(("2024", "2023"), ("000s", "000s"), caption=INCOME))
    assert (figure.magnitude, figure.unit) == (8_412e3, None)


AGGREGATES = (
    ("", "Revenue", "Balance", "Public debt"),
    ("2022", "31.2", "-3.7", "58.4"),
    ("2023", "31.8", "-2.8", "59.0"),
    ("2024", "32.1", "-2.1", "59.3"),
    ("2025", "32.4", "-1.6", "59.1"),
)
PAGES: dict[str, list[Placed]] = {
    "days": statement(("31.12.2024", "31.12.2023")),
    "letters": statement(("24A", "23A")),
    "halves": statement(("1H24", "1H23")),
    "fiscal": statement(("H1 FY25", "H1 FY24")),
    "quarters": statement(("Q4'24", "Q4'23")),
    "months": statement(("9M24", "9M23")),
    "turned": [
        (60, 60, "Kestrel Island fiscal outlook"),
        (60, 80, "Table 2. Main fiscal aggregates, per cent of GDP"),
        *grid(110, AGGREGATES, rights=(300, 400, 500)),
    ],
}


@pytest.fixture(scope="module")
def chatbot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    folder = tmp_path_factory.mktemp("periods")
    with Chatbot(Settings(home=folder / "home"), embedder=hashing()) as opened:
        add_now(opened.library, [Upload(draw(folder / f"{name}.pdf", page)) for name, page in PAGES.items()])
        yield opened


def ask(chatbot: Chatbot, document: str, question: str) -> Answer:
    *_, answer = chatbot.ask(Ask(question, names=(f"{document}.pdf",)))
    assert isinstance(answer, Answer)
    return answer


OF_THE_PERIOD = case_rows("""
days | What was revenue in 2024? | Revenue was 8,412 million
letters | What was revenue in 2024? | Revenue was 8,412 million
letters | What was revenue in 2023? | Revenue was 7,990 million
halves | What was revenue in the first half of 2024? | Revenue was EUR 8,412 million (1H24)
halves | What was revenue in H1 2023? | Revenue was EUR 7,990 million (1H23)
fiscal | What was revenue in H1 FY25? | Revenue was EUR 8,412 million (H1 FY25)
quarters | What was revenue in Q4 2024? | Revenue was EUR 8,412 million (Q4'24)
quarters | What was revenue in the fourth quarter of 2023? | Revenue was EUR 7,990 million (Q4'23)
months | What was revenue in the first nine months of 2024? | Revenue was EUR 8,412 million (9M24)
turned | What was the balance in 2023? | Balance was -2.8% (2023)
turned | How did public debt change from 2023 to 2025? | Public debt rose from 59.0 (2023) to 59.1 (2025)
""")


@pytest.mark.parametrize(("document", "question", "begins"), OF_THE_PERIOD)
def test_the_figure_of_the_period_answers(
    chatbot: Chatbot, document: str, question: str, begins: str
) -> None:
    answer = ask(chatbot, document, question)
    assert answer.text.startswith(begins)
    assert not any(check.status == "contradicted" for check in answer.numbers)


OF_ANOTHER = case_rows("""
halves | What was revenue in 2024? | For 1H24, not 2024: Revenue was EUR 8,412 million
fiscal | What was revenue in 2025? | For H1 FY25, not 2025: Revenue was EUR 8,412 million
quarters | What was revenue in 2024? | For Q4'24, not 2024: Revenue was EUR 8,412 million
quarters | What was revenue in Q3 2024? | For Q4'24, not Q3 2024:
months | What was revenue in 2024? | For 9M24, not 2024: Revenue was EUR 8,412 million
days | What was revenue in the first half of 2024? | For 31.12.2024, not first half of 2024:
""")


@pytest.mark.parametrize(("document", "question", "begins"), OF_ANOTHER)
def test_the_figure_of_another_period_says_so(
    chatbot: Chatbot, document: str, question: str, begins: str
) -> None:
    answer = ask(chatbot, document, question)
    assert not answer.answered or answer.text.startswith(begins)


CHECKED = case_rows("""
1H24 | Revenue in the first half of 2024 was 8,412 million euros. | supported
1H24 | Revenue was 8,412 million euros in H1 2024. | supported
1H24 | Revenue in H2 2024 was 8,412 million euros. | present_elsewhere
1H24 | Revenue in H1 2023 was 8,412 million euros. | present_elsewhere
31.12.2024 | Revenue in 2024 was 8,412 million euros. | supported
31.12.2024 | Revenue in 2023 was 8,412 million euros. | present_elsewhere
Q4'24 | Revenue in the fourth quarter of 2024 was 8,412 million euros. | supported
""")


@pytest.mark.parametrize(("head", "said", "status"), CHECKED)
def test_a_figure_is_held_against_the_period_of_its_column(
    tmp_path: Path, head: str, said: str, status: str
) -> None:
    page = statement((head, head.replace("24", "23")))
    (read,) = read_document(draw(tmp_path / "Alder.pdf", page)).pages
    prompt = prompt_over(hit_of(read.text, tables=read.tables), question="How did the group do?")
    numbers = check_quoted(f"{said} [S1-7f3a]", prompt).numbers
    assert [check.status for check in numbers] == [status]


def test_no_change_is_worked_out_of_parts_for_years(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "halves", "How did revenue change from 2023 to 2024?")
    assert not any(check.formula for check in answer.numbers)


PROSE = (
    "Norland: economic report, published on 29 September 2023\n"
    "Inflation, which we found at 24 percent, has come down to 11 percent.\n"
    "Inflation rose to 12.0 percent in September 2023 from 9.9 percent in December 2022.\n"
    "In the third quarter of 2023, inflation was 11.6 percent on average. "
    "Inflation had stood at 10.7 percent in June this year."
)


@pytest.mark.parametrize(
    ("asked", "figure"),
    [
        ("in September 2023", "12.0 percent in September 2023"),
        ("in December 2022", "9.9 percent in December 2022"),
        ("in the third quarter of 2023", "11.6 percent"),
        ("in June 2023", "10.7 percent"),
    ],
)
def test_a_sentence_of_the_part_of_the_year_comes_before_one_of_no_time(
    tmp_path: Path, asked: str, figure: str
) -> None:
    with of_pages(tmp_path, {"Norland.pdf": PROSE}) as chatbot:
        *_, answer = chatbot.ask(Ask(f"What was inflation {asked}?"))
    assert isinstance(answer, Answer)
    assert figure in answer.first

"""Extractive answers: verbatim passages with their keys, table rows with their heads, nothing where
nothing fits.
"""

import re
from dataclasses import replace

import pytest

from chatbot.answer.extractive.passage_answers import extract_answer, row_in_a_sentence, says_again
from chatbot.answer.tables.table_wording import short_head
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import Passage
from chatbot.records import Hit, Prompt, Understanding
from chatbot.search.question_terms import understand
from ingestion.language.periods import find_periods
from ingestion.records import Cell, Rect, Row, Table
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over, rows_in

PROSE = """3 Fiscal rules
The deficit of the general government shall not exceed 3.0 per cent of GDP in any year. The Minister reports
each breach to Parliament within 30 days. Mr. Vale of the U.S. Treasury visited.
The debt anchor is 60 per cent of GDP.
"""
TABLE = """Table 4: Expenditure by ministry (crowns million)
Ministry 2023-24 2024-25 2025-26
Health 4,120 4,385 4,610
Education 3,900 4,010 4,245
Adjustment (91.5) - 12.0
"""


def passages(page: str) -> list[Passage]:
    return page_of(hit_of(page)).passages


BOX = Rect(0, 0, 1, 1)


def prompt(question: str, *pages: str) -> Prompt:
    hits = [hit_of(text, document=f"{n}.pdf", version=n) for n, text in enumerate(pages, 1)]
    return prompt_over(*hits, question=question)


FIRST = """
What is the ceiling for the deficit? | shall not exceed 3.0 per cent of GDP in any year.
What is the debt anchor? | The debt anchor is 60 per cent of GDP.
How quickly must a breach be reported to Parliament? | within 30 days.
How much is spent on health? | Health 4,120 4,385 4,610
"""


def passages_of(hit: Hit) -> list[str]:
    return [passage.text for passage in page_of(hit).passages]


def answer_to(question: str, *pages: str) -> str:
    return extract_answer(prompt(question, *pages))


def understood(question: str, *pages: Hit) -> str:
    """The answer where the question is understood by its terms."""
    return extract_answer(prompt_over(*pages, question=question), understand(question, question))


@pytest.mark.parametrize(("question", "expected"), case_rows(FIRST))
def test_the_passage_that_answers_comes_first(question: str, expected: str) -> None:
    first, *_ = answer_to(question, PROSE, TABLE).split("\n\n")
    assert expected in first


def test_how_long_asks_for_a_time_and_not_for_something_long() -> None:
    rule = "The deficit ceiling may be suspended for one year if output falls."
    long = "Long deficit ceiling tables of 12 pages are in the annex of the year."
    answer = answer_to("For how long may the deficit ceiling be suspended?", long, rule)
    assert answer.startswith(rule)


def test_whom_a_document_is_called_by_does_not_choose_among_its_rows() -> None:
    page = hit_of("""Public debt fell to 59.2 per cent of output.

Table 10: State guarantees 2024
Valmora Railways 6,480 6,120 5,900
Valmora Airports 1,200 980 700
""")
    question = "What was the debt of Valmora in 2024?"
    meant = Understanding(question, question, form="figure", years=(2024,), names=("Valmora",))
    named = replace(page, document="Valmora_Budget.pdf")
    answer = extract_answer(prompt_over(named, question=question), meant)
    assert answer.startswith("Public debt fell")
    # Of a document of another name the name tells which passage is meant.
    assert "Railways" in extract_answer(prompt_over(page, question=question), meant)


def test_what_is_to_be_avoided_comes_last() -> None:
    other = "The ceiling for the deficit of the regions is 0.5 per cent of their revenue."
    given = prompt("What is the ceiling for the deficit?", PROSE, other)
    first = extract_answer(given)
    assert says_again(first, first.replace("S1-7f3a", "S9-0000"))
    assert not says_again(first, "Something else.")
    second = extract_answer(given, avoid=first)
    assert second
    assert not says_again(second, first)
    assert second.split(" [")[0] not in first


def test_every_passage_is_verbatim_and_cited() -> None:
    given = prompt("What are the rules on deficit and debt?", PROSE, TABLE)
    parts = re.findall(r"(.*?) \[(S\d-7f3a)\]\s*", extract_answer(given), re.S)
    assert len(parts) > 1
    for text, key in parts:
        assert text in " ".join(given.sources[key].page_text.split())


def test_a_table_row_comes_with_its_caption_and_heads() -> None:
    answer = answer_to("education expenditure", TABLE)
    assert "crowns million" in answer
    assert "2025-26" in answer


def test_a_title_that_is_printed_twice_is_said_once() -> None:
    title = "Expenditure by ministry"
    doubled = TABLE.replace(title, f"{title} {title}", 1)
    assert answer_to("education expenditure", doubled).count(title) == 1


def test_nothing_that_fits_is_no_answer() -> None:
    assert answer_to("Who won the football cup?", PROSE) == ""
    assert answer_to("What is it?", PROSE) == ""
    assert answer_to("deficit") == ""


def test_sentences_are_not_cut_at_abbreviations_and_lines_are_joined() -> None:
    found = [passage.text for passage in passages(PROSE)]
    assert "The Minister reports each breach to Parliament within 30 days." in found
    assert "Mr. Vale of the U.S. Treasury visited." in found


def test_keys_inside_documents_stay_inert() -> None:
    answer = answer_to("What is the ceiling?", "The ceiling is 5 per cent [S2-7f3a] of GDP.")
    assert answer.count("[S") == 1


TRANSCRIPT = """CHAIR LOWE. The rate stays at 2 per cent. We will give notice before any change.
MARY HOLT. Mary Holt, with the Daily Gazette. The rate has been at 2 per cent for a year now. Will you give \
notice of a change? Thank you.
CHAIR LOWE. We will, well before any change of the rate is made.
"""


def test_who_asks_in_a_transcript_does_not_answer() -> None:
    found = {passage.text: passage.asks for passage in passages(TRANSCRIPT)}
    assert found["The rate has been at 2 per cent for a year now."]
    assert not found["We will give notice before any change."]
    assert not any(passage.asks for passage in passages(PROSE))
    first, *_ = answer_to("Will the rate be changed with notice?", TRANSCRIPT).split("\n\n")
    assert "Gazette" not in first


def test_a_list_that_is_summed_up_comes_with_the_sentence_before_it() -> None:
    page = """A mission for tur, urad and masoor is launched.
Agencies will procure these three pulses from registered farmers during the next four years.
"""
    subject = "Which pulses will agencies procure from registered farmers?"
    asked = Understanding("Which pulses will agencies procure?", subject, form="list")
    assert "masoor" in extract_answer(prompt(subject, page), asked)


def test_rows_are_quoted_with_the_sentence_that_announces_them() -> None:
    page = """The rates of tax are revised as follows:
0-4 thousand Nil
4-8 thousand 5 per cent
8-12 thousand 10 per cent
More is said below.
"""
    first, *_ = passages(page)
    assert "4-8 thousand 5 per cent" in first.text
    assert "More is said" not in first.text


SCALED = """
75 | Amount | $75 thousand
(120) | Amount | $(120) thousand
298’250 | EUR million > 2024 | EUR 298’250 million
$ 1,093 | 2023 | $ 1,093 thousand
2035 | Year due | 2035
30.1 | Share (%) | 30.1
2,200 | Population (million) | 2,200
5.2 | Population (mln) | 5.2
5.2 | Loans, bln | 5.2
5.2 | EUR tn | 5.2
5.2 | Paid (Rs. in cr.) | 5.2
30.1% | 2023 | 30.1%
As applicable | 2023 | As applicable
- | 2023 | -
"""


@pytest.mark.parametrize(("cell", "head", "expected"), case_rows(SCALED))
def test_a_bare_amount_gets_the_scale_of_its_table_and_nothing_else_does(
    cell: str, head: str, expected: str
) -> None:
    row = Row("Series B bonds", (Cell(cell, 15, 17),), start=0, end=19)
    table = Table("", "(in thousands of dollars)", (head,), (row,), BOX)
    page = hit_of("Series B bonds 75 1", tables=(table,))
    answer = extract_answer(prompt_over(page, question="Series B bonds"))
    said = re.sub(r"(?<=\$) ", "", expected)
    verb = " were" if find_periods(head) else ":"
    in_words = f"Series B bonds{verb} {said} ({short_head(head)})." if any(map(str.isdigit, cell)) else ""
    assert answer.startswith(in_words) if in_words else f"({head}: {expected})" in answer


def test_what_is_counted_has_no_scale_of_its_table() -> None:
    row = Row("Deposit frauds", (Cell("407", 15, 18), Cell("1,202", 19, 24)), start=0, end=24)
    heads = ("Number of frauds > 2025", "Amount > 2025")
    table = Table("", "(in crore)", heads, (row,), BOX)
    page = hit_of("Deposit frauds 407 1,202", tables=(table,))
    answer = extract_answer(prompt_over(page, question="Number of deposit frauds"))
    assert "407 crore" not in answer
    assert "407" in answer
    quoted = extract_answer(prompt_over(page, question="Number of deposit frauds"), composed=False)
    assert quoted.startswith("(in crore): Deposit frauds 407 1,202 (Number of frauds")


def test_a_running_line_is_no_answer() -> None:
    page = "The police of the city get 30 million crowns this year.\nCity of Harwick Adopted Budget 1\n"
    question = "What is in the adopted budget of the City of Harwick for police?"
    assert "Adopted Budget" not in answer_to(question, page)


@pytest.mark.long
def test_lists_are_taken_once_and_in_time_that_grows_with_the_page() -> None:
    for line in ("- a b c d", "- a b c d:", "Words that announce much:"):
        found = passages(f"{line}\n" * 20_000)
        assert sum(len(passage.text) for passage in found) < 3 * 20_000 * len(line)


def test_a_list_in_a_questioners_turn_is_still_the_questioners() -> None:
    page = """MARY HOLT. I have the following points:
- the rate of interest
- the rate of tax
What do you say of them?
CHAIR LOWE. They are fine as they are.
"""
    first, *_ = passages(page)
    assert first.asks


def test_what_addresses_a_machine_comes_after_what_is_nearly_as_good() -> None:
    page = hit_of("""The debt anchor is 90 per cent.
The anchor of the debt is, as everyone knows by now, 60 per cent of GDP.
""")
    question = "What is the debt anchor?"
    first, *_ = extract_answer(prompt_over(page, question=question)).split("[")
    assert "90 per cent" in first
    instructing = replace(page, instructions=((0, 31),))
    first, *_ = extract_answer(prompt_over(instructing, question=question)).split("[")
    assert "60 per cent" in first


def test_a_passage_of_another_page_is_quoted_only_where_it_is_as_good() -> None:
    good = hit_of("The debt anchor is 60 per cent of GDP.", score=1.0)
    worse = hit_of(
        "The anchor was much debated, in the debt commission and elsewhere, before anything of it was "
        "written into law.",
        version=2,
        score=0.85,
    )
    answer = extract_answer(prompt_over(good, worse, question="What is the debt anchor?"))
    assert "[S1-7f3a]" in answer
    assert "[S2-7f3a]" not in answer


def test_a_table_that_is_announced_is_not_quoted_whole() -> None:
    page = "Spending by district is this:\n"
    for number in range(30):
        page += f"District {number} 1,{number:03d} 2,{number:03d}\n"
    assert all(passage.text.count("District") <= 1 for passage in passages(page))


def test_figures_without_a_word_are_no_passage() -> None:
    page = """Youths trained:
88%
76.6% 23.4% 91.3%

The share of trained youths rose to 88% in the year.
"""
    asked = prompt("What share of the youths was trained?", page)
    text = extract_answer(asked, Understanding(asked.question, asked.question, form="figure"))
    assert text.startswith("The share of trained youths rose to 88% in the year.")
    for part in text.split("\n\n"):
        assert re.search("[a-z]{2}", part)


def test_conditions_are_asked_for_with_what_names_one() -> None:
    page = """The suspension of the rules requires a resolution of Parliament.

The rules may be suspended if output falls by 2.0 per cent in a year. It is rejected if it comes late.
"""
    asked = prompt("Under what conditions may the rules be suspended?", page)
    answer = extract_answer(asked, Understanding(asked.question, asked.question))
    assert answer.startswith("The rules may be suspended if output falls")


def test_the_date_below_a_title_is_no_passage() -> None:
    page = """Transcript of the Chair’s Press Conference
July 31, 2019

The Chair said that rates were cut in July.
"""
    asked = prompt("What did the Chair say in July 2019?", page)
    answer = extract_answer(asked, Understanding(asked.question, asked.question, years=(2019,)))
    assert answer.startswith("The Chair said that rates were cut")


def test_a_long_caption_is_cut_between_words() -> None:
    caption = "Statement of operations " + "of the consolidated budgetary institutions " * 8
    text = f"{caption}\n2023 2024\nTotal revenue 5 6\n"
    (row,) = rows_in(text, "Total revenue | 5 | 6")
    half_empty = replace(row, cells=(row.cells[0], None))
    table = Table(caption, "", ("2023", "2024"), (half_empty,), BOX)
    (found,) = [one for one in page_of(hit_of(text, tables=(table,))).passages if one.table]
    assert len(found.head) <= 202
    assert found.head.endswith(" …")
    assert set(found.head.split()) <= {*caption.split(), "…"}


DRAWINGS = """
April 2024 Reserve approved by Parliament | 2,050
June 2024 Storm damage in the Northern Isles | (240)
September 2024 Compensation for livestock disease | (165)
"""


def test_the_text_of_a_table_is_no_sentence_beside_its_rows() -> None:
    lines = case_lines(DRAWINGS.replace(" | ", " "))
    text = "\n".join(
        [
            "By 28 February 2025, 800 million had been drawn.",
            "Table 19: Drawings on the contingency reserve, 2024-25",
            "Crowns million",
            "Date Purpose Amount",
            *lines,
            "The drawing for the Northern Isles exceeded 200 million crowns.\n",
        ]
    )
    page = hit_of(text, body=text)
    reserve, damage, _ = lines
    run_together = [one for one in passages_of(page) if reserve in one and damage in one]
    assert run_together, "what is tested: it is read as one text where no table is known"
    table = Table("Table 19", "", ("Amount",), rows_in(text, DRAWINGS), BOX)
    told = passages_of(replace(page, tables=(table,)))
    assert not [one for one in told if reserve in one and damage in one]
    assert set(lines) <= set(told)


def test_a_line_of_a_row_whose_label_takes_two_is_no_passage() -> None:
    row = "Accumulated depreciation of internal use\nsoftware (25,853) (16,846)"
    text = f"It was written off as follows.\n- {row}\nThe rest is described in the table below."
    page = hit_of(text, body=text)
    of_its_own = "software (25,853) (16,846)" in passages_of(page)
    assert of_its_own, "what is tested: it is a row of its own where no table is known"
    start = text.index("- Acc")
    cells = (Cell("(25,853)", 0, 1), Cell("(16,846)", 0, 1))
    told = Row(row, cells, "", start, start + len(row) + 2)
    table = Table("", "", ("2019", "2018"), (told,), BOX)
    first, last, whole = page_of(replace(page, tables=(table,))).passages
    assert first.text.startswith("It was")
    assert last.text.startswith("The rest")
    assert whole.text == f"- {row}".replace("\n", " ")
    assert not last.follows, "the row stands between the two"


def test_the_marks_of_an_axis_go_with_no_announcement() -> None:
    announced = (
        "The impact of the minimum wage on prices and on employment has been minimal in all of the years, "
        "as these rates show:"
    )
    first, *_ = passages(f"{announced}\nPolicy rate 3.0 2.5\n-1.0 0.5\n1.0 2.0\n3.0 4.0\n")
    assert first.text == f"{announced}\nPolicy rate 3.0 2.5"


def test_a_list_goes_on_with_what_follows_it_and_not_with_its_own_items() -> None:
    page = """The application of the deficit ceiling and of the rules on expenditure may be suspended in a \
year if at least one of the following is met:
(a) output falls by 2.0 per cent;
(b) there is a war.

The suspension lasts one year.
"""
    text = answer_to("Under what conditions may the rules be suspended?", page)
    assert text.count("output falls by") == 1
    assert "The suspension lasts one year." in text


CAUSES = """Net interest income
The increase in net revenue was driven by:
• higher fees from custody services of $40 million
• higher trading revenue of $25 million
• the sale of a minority stake
This was partially offset by:
• lower dividends of $12 million
• a fall in net interest income
"""


def test_items_keep_the_sentence_that_announces_them_and_lists_stay_apart() -> None:
    told = answer_to("Why did net revenue increase?", CAUSES)
    before, offset, _ = told.partition("lower dividends")
    assert "driven by:" in told
    assert not offset or "partially offset by:" in before


def test_an_item_alone_has_its_lead_and_a_mark_for_what_is_left_out() -> None:
    page = "The government will take these measures:\n"
    for number in range(30):
        page += f"• measure {number} of the programme for rural roads, bridges and the ports of the coast\n"
    page += "• a levy on sugar of 3 per cent\n"
    told = answer_to("What levy on sugar is there?", page)
    lead, left_out, item, *_ = told.split("\n")
    assert lead == "The government will take these measures: [S1-7f3a]"
    assert left_out == "…"
    assert item.startswith("• a levy on sugar of 3 per cent [S1-7f3a]")


def test_items_of_a_list_within_an_item_keep_what_it_says() -> None:
    page = """The Council shall:
(a) set rates for all of the regions;
(b) not report the following to Parliament:
(i) monthly figures of the debt;
(ii) yearly figures of the debt;
(c) meet once in each month of the year.
It has five members.
"""
    outer, inner = "The Council shall:", "(b) not report the following to Parliament:"
    led = [one for one in passages(page) if one.lead]
    leads = {one.text.partition(" ")[0]: one.lead for one in led if "\n" not in one.text}
    assert leads == {"(a)": outer, "(i)": inner, "(ii)": inner, "(c)": outer}
    nested, *_ = [one for one in passages(page) if one.text.startswith(f"{inner}\n")]
    assert nested.lead == outer
    assert "not report" in answer_to("Which monthly figures of the debt are there?", page)


def test_rows_of_an_announced_list_are_quoted_with_a_mark_for_those_left_out() -> None:
    page = "In the new regime, the tax rates are as follows:\n"
    for low in range(4, 20, 4):
        page += f"{low}-{low + 4} lakh rupees {low} per cent\n"
    page += "The change was announced in the budget of last year.\n"
    told = answer_to("What is the rate for 16-20 lakh rupees?", page)
    assert "as follows: [S1-7f3a]\n…\n16-20 lakh rupees 16 per cent [S1-7f3a]" in told


def test_signs_of_a_font_of_symbols_are_bullets() -> None:
    page = "All of the following criteria are met:\n"
    for name in ("one", "two", "three", "four"):
        page += f"\uf0b7 There is criterion {name} for the recognition of a liability;\n"
    told = answer_to("Which criteria for the recognition of a liability are there?", page)
    assert told.startswith("All of the following criteria are met:\n• There is criterion one")
    assert "criterion four" in told


PAYMENTS = """
2025 | 5,587
2026 | 5,612
2027 | 5,701
"""


def test_a_row_below_an_announcement_shows_that_others_are_left_out() -> None:
    announced = "The annual payments are as follows:"
    text = "\n".join([announced, *case_lines(PAYMENTS.replace(" | ", " "))])
    table = Table(announced, "", ("",), rows_in(text, PAYMENTS), BOX)
    page = hit_of(text, body=text, tables=(table,))
    answer = extract_answer(prompt_over(page, question="Which payments are due in 2027?"))
    assert "as follows:\n…\n2027 5,701" in answer


def test_a_row_whose_label_has_a_stop_is_a_row() -> None:
    line = "Yahoo! Inc. 512 410"
    rows = rows_in(line, "Yahoo! Inc. | 512 | 410")
    table = Table("", "", ("2017", "2016"), rows, BOX)
    assert passages_of(hit_of(line, body=line, tables=(table,))) == [line]


def test_a_list_may_be_announced_without_a_colon_and_ends_where_other_marks_begin() -> None:
    page = """27. The minister has set these
a) a growth rate of 6.6 percent;
b) a deficit of 3.1 percent of GDP.
28. I now present the policies for next year.
"""
    first, *_ = passages(page)
    assert first.text.startswith("27. The minister")
    assert first.text.endswith("b) a deficit of 3.1 percent of GDP.")


def test_what_stands_under_another_heading_does_not_go_on_from_a_sentence() -> None:
    page = """Agriculture
The board will support farmers of makhana with training.
Textiles and Footwear
It will be widened to leather in three years.
"""
    told = answer_to("What will the board support?", page)
    assert "training. [S1-7f3a] It will be widened" not in told


def test_a_sentence_that_another_page_holds_a_part_of_is_marked() -> None:
    page = """pandemic levels of employment were low in the services sector.
Employment in this sector as a whole remains well below pre-"""
    told = answer_to("What were pandemic levels of employment?", page)
    assert told.startswith("… pandemic levels")
    assert "remains well below pre- … [S1-7f3a]" in told


def _fiscal_row() -> Hit:
    text = "Capital expenditure 9.49 10.18 11.21\n"
    rows = rows_in(text, "Capital expenditure | 9.49 | 10.18 | 11.21")
    table = Table("Expenditure", "", ("2023-24", "2024-25", "2025-26"), rows, BOX)
    return hit_of(text, tables=(table,))


@pytest.mark.parametrize(
    ("asked", "cell"),
    [("2025-26", "11.21"), ("2024-25", "10.18"), ("FY2025-26", "11.21"), ("2025/26", "11.21")],
)
def test_a_fiscal_year_is_one_period(asked: str, cell: str) -> None:
    told = understood(f"What is capital expenditure in {asked}?", _fiscal_row())
    year = asked.removeprefix("FY").replace("/", "-")
    assert told.startswith(f"Capital expenditure was {cell} ({year}).")


def test_a_sentence_is_of_its_headings_year() -> None:
    page = """Revised Estimate 2024-25
The Revised Estimate of the capital expenditure is about 10.18 lakh crore.
Budget Estimate 2025-26
The capital expenditure is estimated at 11.21 lakh crore.
"""
    told = understood("What is the capital expenditure in 2025-26?", hit_of(page))
    assert told.startswith("The capital expenditure is estimated at 11.21")


SECTORS = """(a) roads and bridges are given 31 million crowns for buildings;
(b) schools in villages are given 32 million crowns for buildings;
(c) hospitals of the regions are given 33 million crowns for buildings;
(d) water supply are given 34 million crowns for buildings;
(e) power lines are given 35 million crowns for buildings;
(f) airports are given 36 million crowns for buildings;
(g) courts and prisons are given 37 million crowns for buildings;"""


LONG_LIST = SECTORS.replace("crowns for buildings", "crowns for their buildings and all that belongs to them")


def test_a_list_is_shown_whole_where_an_item_answers() -> None:
    page = f"150. Madam Speaker, the following is proposed for investment:\n{SECTORS}\n"
    asked = prompt("How much is given to hospitals of the regions for buildings?", page)
    first, *_ = extract_answer(asked, understand(asked.question, asked.question)).split("\n\n")
    assert first.startswith("… the following is proposed for investment:\n(a) roads")
    assert "airports" in first


def test_of_a_long_list_the_item_answers_who_asks_for_no_list() -> None:
    page = f"In the next year the following is proposed for investment:\n{LONG_LIST}\n"
    asked = prompt("How much is given to hospitals of the regions for buildings?", page)
    meant = understand(asked.question, asked.question)
    first, *_ = extract_answer(asked, meant).split("\n\n")
    assert "hospitals of the regions are given 33 million" in first
    assert "airports" not in first
    assert "airports" in extract_answer(asked, replace(meant, form="list"))


def test_what_announces_a_list_is_said_once() -> None:
    page = f"In the next year the following is proposed for investment:\n{LONG_LIST}\n"
    told = understood("How much is given to hospitals or schools for buildings?", hit_of(page))
    assert told.count("the following is proposed") == 1
    assert "schools in villages" in told


def _tabled(row: str, heads: tuple[str, ...], caption: str = "") -> Passage:
    text = f"{caption}\n{row.replace(' | ', ' ')}\n"
    table = Table(caption, "", heads, rows_in(text, row), BOX)
    (passage,) = [one for one in page_of(hit_of(text, tables=(table,))).passages if one.row]
    return passage


def test_without_a_year_the_newest_actual_figure_is_said() -> None:
    question = "What is the annual surplus?"
    passage = _tabled("Annual surplus | 48 | 27 | 16", ("Budget 2024", "Actual 2024", "Actual 2023"))
    asked = replace(understand(question, question), whose="Tern")
    assert row_in_a_sentence(passage, asked) == "Tern's annual surplus was 27 (Actual 2024)."


def test_a_row_that_does_not_name_its_measure_is_put_into_no_sentence() -> None:
    question = "What were net sales in Nordland in 2024?"
    passage = _tabled("Nordland | 48 | 27", ("2024", "2023"), "Net sales by region")
    asked = understand(question, question)
    assert row_in_a_sentence(passage, asked) == ""
    of_sales = _tabled("Net sales, Nordland | 48 | 27", ("2024", "2023"))
    assert row_in_a_sentence(of_sales, asked) == "Net sales, Nordland were 48 (2024)."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What was the operating income of More Personal Computing in 2024?", ""),
        ("How much operating income did Tern get from Linkfield in 2024?", ""),
        ("What was Tern's operating income in 2024?", "Tern's operating income was 48 (2024)."),
    ],
)
def test_a_companys_row_is_not_said_of_a_segment(question: str, sentence: str) -> None:
    passage = _tabled("Operating income | 48 | 27", ("2024", "2023"))
    whose = "Tern" if "Tern" in question else ""
    assert row_in_a_sentence(passage, replace(understand(question, question), whose=whose)) == sentence


def test_a_row_of_what_is_not_asked_for_comes_after_one_that_is() -> None:
    text = "Revenue\nNon-tax revenue 48 27\nTax revenue 60 50\n"
    rows = rows_in(text, "Non-tax revenue | 48 | 27\nTax revenue | 60 | 50")
    table = Table("Revenue", "", ("2024", "2023"), rows, BOX)
    told = understood("What was tax revenue in 2024?", hit_of(text, tables=(table,)))
    assert told.startswith("Tax revenue was 60 (2024).")


def test_the_row_of_the_answer_for_another_period_comes_first() -> None:
    drawings, spending = "Contingency reserve | 2,050 | 2,100", "Contingency reserve | 1,250 | 1,900"
    text = f"Drawings\n{drawings.replace(' | ', ' ')}\nSpending\n{spending.replace(' | ', ' ')}\n"
    tables = [
        Table(caption, "", ("2024-25", "2025-26"), rows_in(text, row), BOX)
        for caption, row in (("Drawings", drawings), ("Spending", spending))
    ]
    question = "What was the contingency reserve in 2024-25?"
    asked = prompt_over(hit_of(text, tables=tuple(tables)), question=question)
    meant = understand(question, question)
    of_drawings, of_spending = (
        "Contingency reserve was 2,050 (2024-25).",
        "Contingency reserve was 1,250 (2024-25).",
    )
    assert extract_answer(asked, meant).startswith(of_drawings)
    newest = (
        "Contingency reserve was 1,900 (2025-26). Spending: Contingency reserve 1,250 1,900 (2025-26: 1,900)"
    )
    assert extract_answer(asked, meant, beside=newest).startswith(of_spending)
    other = "Drawings: Contingency reserve 2,050 2,100"
    assert extract_answer(asked, meant, beside=f"{other} {newest}").startswith(of_drawings)
    of_2031 = replace(meant, subject=question.replace("2024-25", "2031"), years=(2031,))
    assert extract_answer(asked, of_2031, beside=newest).startswith("Contingency reserve was 2,050")


@pytest.mark.parametrize("bullet", ["•", "\uf0b7", "▪"])
def test_an_item_of_a_slide_answers_without_a_full_stop(bullet: str) -> None:
    items = ("Return on equity above 12% in 2024", "Cost of risk of 25 to 30 basis points")
    slide = "\n".join(["Guidance", *(f"{bullet} {item}" for item in items)])
    assert "Cost of risk of 25 to 30 basis points" in answer_to("What is the cost of risk?", slide)

"""Extractive answers: verbatim passages with their keys, table rows with their heads, nothing where
nothing fits.
"""

import re
from dataclasses import replace

import pytest

from chatbot.answer.extractive.passage_answers import extract_answer, row_in_a_sentence, says_again
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import Passage
from chatbot.records import Hit, Prompt, Understanding
from chatbot.search.question_terms import understand
from ingestion.records import Cell, Rect, Row, Table

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


def passages(hit: Hit) -> list[Passage]:
    return page_of(hit).passages


def prompt(question: str, *pages: str) -> Prompt:
    hits = {
        f"S{n}-7f3a": Hit(f"{n}.pdf", n, 1, None, None, "text", None, f"{n}:0", text, text)
        for n, text in enumerate(pages, 1)
    }
    return Prompt(question, question, hits, (), (), (), "7f3a")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the ceiling for the deficit?", "shall not exceed 3.0 per cent of GDP in any year."),
        ("What is the debt anchor?", "The debt anchor is 60 per cent of GDP."),
        ("How quickly must a breach be reported to Parliament?", "within 30 days."),
        ("How much is spent on health?", "Health 4,120 4,385 4,610"),
    ],
)
def test_the_passage_that_answers_comes_first(question: str, expected: str) -> None:
    answer = extract_answer(prompt(question, PROSE, TABLE))
    assert expected in answer.split("\n\n")[0]


def test_how_long_asks_for_a_time_and_not_for_something_long() -> None:
    rule = "The deficit ceiling may be suspended for one year if output falls."
    long = "Long deficit ceiling tables of 12 pages are in the annex of the year."
    assert extract_answer(
        prompt("For how long may the deficit ceiling be suspended?", long, rule)
    ).startswith(rule)


def test_whom_a_document_is_called_by_does_not_choose_among_its_rows() -> None:
    page = (
        "Public debt fell to 59.2 per cent of output.\n\nTable 10: State guarantees 2024\nValmora Railways "
        "6,480 6,120 5,900\nValmora Airports 1,200 980 700\n"
    )
    asked = prompt("What was the debt of Valmora in 2024?", page)
    meant = Understanding(asked.question, asked.question, form="figure", years=(2024,), names=("Valmora",))
    named = replace(
        asked,
        sources={key: replace(hit, document="Valmora_Budget.pdf") for key, hit in asked.sources.items()},
    )
    assert extract_answer(named, meant).startswith("Public debt fell")
    assert "Railways" in extract_answer(
        asked, meant
    )  # of a document of another name the name tells which passage is meant


def test_what_is_to_be_avoided_comes_last() -> None:
    other = "The ceiling for the deficit of the regions is 0.5 per cent of their revenue."
    given = prompt("What is the ceiling for the deficit?", PROSE, other)
    first = extract_answer(given)
    assert says_again(first, first.replace("S1-7f3a", "S9-0000")) and not says_again(first, "Something else.")
    second = extract_answer(given, avoid=first)
    assert second and not says_again(second, first) and second.split(" [")[0] not in first


def test_every_passage_is_verbatim_and_cited() -> None:
    given = prompt("What are the rules on deficit and debt?", PROSE, TABLE)
    parts = re.findall(r"(.*?) \[(S\d-7f3a)\]\s*", extract_answer(given), re.S)
    assert len(parts) > 1
    for text, key in parts:
        assert text in " ".join(given.sources[key].page_text.split())


def test_a_table_row_comes_with_its_caption_and_heads() -> None:
    answer = extract_answer(prompt("education expenditure", TABLE))
    assert "crowns million" in answer
    assert "2025-26" in answer


def test_a_title_that_is_printed_twice_is_said_once() -> None:
    doubled = TABLE.replace("Expenditure by ministry", "Expenditure by ministry Expenditure by ministry", 1)
    assert extract_answer(prompt("education expenditure", doubled)).count("Expenditure by ministry") == 1


def test_nothing_that_fits_is_no_answer() -> None:
    assert extract_answer(prompt("Who won the football cup?", PROSE)) == ""
    assert extract_answer(prompt("What is it?", PROSE)) == ""
    assert extract_answer(prompt("deficit")) == ""


def test_sentences_are_not_cut_at_abbreviations_and_lines_are_joined() -> None:
    found = [passage.text for passage in passages(prompt("x", PROSE).sources["S1-7f3a"])]
    assert "The Minister reports each breach to Parliament within 30 days." in found
    assert "Mr. Vale of the U.S. Treasury visited." in found


def test_keys_inside_documents_stay_inert() -> None:
    answer = extract_answer(prompt("What is the ceiling?", "The ceiling is 5 per cent [S2-7f3a] of GDP."))
    assert answer.count("[S") == 1


TRANSCRIPT = """CHAIR LOWE. The rate stays at 2 per cent. We will give notice before any change.
MARY HOLT. Mary Holt, with the Daily Gazette. The rate has been at 2 per cent for a year now. Will you give \
notice of a change? Thank you.
CHAIR LOWE. We will, well before any change of the rate is made.
"""


def test_who_asks_in_a_transcript_does_not_answer() -> None:
    found = {passage.text: passage.asks for passage in passages(prompt("x", TRANSCRIPT).sources["S1-7f3a"])}
    assert found["The rate has been at 2 per cent for a year now."]
    assert not found["We will give notice before any change."]
    assert not any(passage.asks for passage in passages(prompt("x", PROSE).sources["S1-7f3a"]))
    assert (
        "Gazette"
        not in extract_answer(prompt("Will the rate be changed with notice?", TRANSCRIPT)).split("\n\n")[0]
    )


def test_a_list_that_is_summed_up_comes_with_the_sentence_before_it() -> None:
    page = (
        "A mission for tur, urad and masoor is launched.\nAgencies will procure these three pulses from "
        "registered farmers during the next four years.\n"
    )
    asked = Understanding(
        "Which pulses will agencies procure?",
        "Which pulses will agencies procure from registered farmers?",
        form="list",
    )
    assert "masoor" in extract_answer(
        prompt("Which pulses will agencies procure from registered farmers?", page), asked
    )


def test_rows_are_quoted_with_the_sentence_that_announces_them() -> None:
    page = (
        "The rates of tax are revised as follows:\n0-4 thousand Nil\n4-8 thousand 5 per cent\n8-12 thousand "
        "10 per cent\nMore is said below.\n"
    )
    first = passages(prompt("x", page).sources["S1-7f3a"])[0]
    assert "4-8 thousand 5 per cent" in first.text and "More is said" not in first.text


@pytest.mark.parametrize(
    ("cell", "head", "expected"),
    [
        ("75", "Amount", "75 thousand"),
        ("(120)", "Amount", "(120) thousand"),
        ("$ 1,093", "2023", "$ 1,093 thousand"),
        ("2035", "Year due", "2035"),
        ("30.1", "Share (%)", "30.1"),
        ("2,200", "Population (million)", "2,200"),
        ("5.2", "Population (mln)", "5.2"),
        ("5.2", "Loans, bln", "5.2"),
        ("5.2", "EUR tn", "5.2"),
        ("5.2", "Paid (Rs. in cr.)", "5.2"),
        ("30.1%", "2023", "30.1%"),
        ("As applicable", "2023", "As applicable"),
        ("-", "2023", "-"),
    ],
)
def test_a_bare_amount_gets_the_scale_of_its_table_and_nothing_else_does(
    cell: str, head: str, expected: str
) -> None:
    row = Row("Series B bonds", (Cell(cell, 15, 17),), start=0, end=19)
    table = Table("", "(in thousands of dollars)", (head,), (row,), Rect(0, 0, 1, 1))
    hit = Hit(
        "1.pdf",
        1,
        1,
        None,
        None,
        "text",
        None,
        "1:0",
        "Series B bonds 75 1",
        "Series B bonds 75 1",
        tables=(table,),
    )
    given = Prompt("Series B bonds", "Series B bonds", {"S1-7f3a": hit}, (), (), (), "7f3a")
    assert f"({head}: {expected})" in extract_answer(given)


def test_a_running_line_is_no_answer() -> None:
    page = "The police of the city get 30 million crowns this year.\nCity of Harwick Adopted Budget 1\n"
    assert "Adopted Budget" not in extract_answer(
        prompt("What is in the adopted budget of the City of Harwick for police?", page)
    )


def test_lists_are_taken_once_and_in_time_that_grows_with_the_page() -> None:
    for line in ("- a b c d", "- a b c d:", "Words that announce much:"):
        found = passages(prompt("x", f"{line}\n" * 20_000).sources["S1-7f3a"])
        assert sum(len(passage.text) for passage in found) < 3 * 20_000 * len(line)


def test_a_list_in_a_questioners_turn_is_still_the_questioners() -> None:
    page = (
        "MARY HOLT. I have the following points:\n- the rate of interest\n- the rate of tax\nWhat do you "
        "say of them?\nCHAIR LOWE. They are fine as they are.\n"
    )
    assert passages(prompt("x", page).sources["S1-7f3a"])[0].asks


def test_what_addresses_a_machine_comes_after_what_is_nearly_as_good() -> None:
    page = (
        "The debt anchor is 90 per cent.\nThe anchor of the debt is, as everyone knows by now, 60 per cent "
        "of GDP.\n"
    )
    given = prompt("What is the debt anchor?", page)
    assert "90 per cent" in extract_answer(given).split("[")[0]
    hit = replace(given.sources["S1-7f3a"], instructions=((0, 31),))
    assert "60 per cent" in extract_answer(replace(given, sources={"S1-7f3a": hit})).split("[")[0]


def test_a_passage_of_another_page_is_quoted_only_where_it_is_as_good() -> None:
    worse = (
        "The anchor was much debated, in the debt commission and elsewhere, before anything of it was "
        "written into law."
    )
    given = prompt("What is the debt anchor?", "The debt anchor is 60 per cent of GDP.", worse)
    scores = {"S1-7f3a": 1.0, "S2-7f3a": 0.85}
    answer = extract_answer(
        replace(given, sources={key: replace(hit, score=scores[key]) for key, hit in given.sources.items()})
    )
    assert "[S1-7f3a]" in answer and "[S2-7f3a]" not in answer


def test_a_table_that_is_announced_is_not_quoted_whole() -> None:
    rows = "".join(f"District {number} 1,{number:03d} 2,{number:03d}\n" for number in range(30))
    assert all(
        passage.text.count("District") <= 1
        for passage in passages(prompt("x", f"Spending by district is this:\n{rows}").sources["S1-7f3a"])
    )


def test_figures_without_a_word_are_no_passage() -> None:
    asked = prompt(
        "What share of the youths was trained?",
        "Youths trained:\n88%\n76.6% 23.4% 91.3%\n\nThe share of trained youths rose to 88% in the year.\n",
    )
    text = extract_answer(asked, Understanding(asked.question, asked.question, form="figure"))
    assert text.startswith("The share of trained youths rose to 88% in the year.")
    assert not [part for part in text.split("\n\n") if not re.search("[a-z]{2}", part)]


def test_conditions_are_asked_for_with_what_names_one() -> None:
    page = (
        "The suspension of the rules requires a resolution of Parliament.\n\nThe rules may be suspended "
        "if output falls by 2.0 per cent in a year. "
        "It is rejected if it comes late.\n"
    )
    asked = prompt("Under what conditions may the rules be suspended?", page)
    assert extract_answer(asked, Understanding(asked.question, asked.question)).startswith(
        "The rules may be suspended if output falls"
    )


def test_the_date_below_a_title_is_no_passage() -> None:
    asked = prompt(
        "What did the Chair say in July 2019?",
        (
            "Transcript of the Chair’s Press Conference\nJuly 31, 2019\n\nThe Chair said that rates were "
            "cut in July.\n"
        ),
    )
    assert extract_answer(asked, Understanding(asked.question, asked.question, years=(2019,))).startswith(
        "The Chair said that rates were cut"
    )


def test_a_long_caption_is_cut_between_words() -> None:
    caption = "Statement of operations " + "of the consolidated budgetary institutions " * 8
    text = f"{caption}\n2023 2024\nTotal revenue 5 6\n"
    row = Row(
        "Total revenue",
        (Cell("5", text.index("5 6"), text.index("5 6") + 1), None),
        "",
        text.index("Total"),
        len(text) - 1,
    )
    table = Table(caption, "", ("2023", "2024"), (row,), Rect(0, 0, 1, 1))
    (found,) = (
        one
        for one in passages(replace(prompt("", text).sources["S1-7f3a"], page_text=text, tables=(table,)))
        if one.table
    )
    assert len(found.head) <= 202 and found.head.endswith(" …")
    assert set(found.head.split()) <= {*caption.split(), "…"}


def test_the_text_of_a_table_is_no_sentence_beside_its_rows() -> None:
    lines = [
        "April 2024 Reserve approved by Parliament 2,050",
        "June 2024 Storm damage in the Northern Isles (240)",
        "September 2024 Compensation for livestock disease (165)",
    ]
    drawings = (
        "Table 19: Drawings on the contingency reserve, 2024-25\nCrowns million\nDate Purpose Amount\n"
        + "\n".join(lines)
    )
    text = (
        f"By 28 February 2025, 800 million had been drawn.\n{drawings}\nThe drawing for the Northern Isles "
        f"exceeded 200 million crowns.\n"
    )
    rows = [
        Row(line, (Cell(line.split()[-1], 0, 1),), "", text.index(line), text.index(line) + len(line))
        for line in lines
    ]
    hit = replace(prompt("", text).sources["S1-7f3a"], page_text=text, body=text)
    flat = [one.text for one in passages(hit)]
    assert any(lines[0] in one and lines[1] in one for one in flat), (
        "what is tested: it is read as one text where no table is known"
    )
    told = [
        one.text
        for one in passages(
            replace(hit, tables=(Table("Table 19", "", ("Amount",), tuple(rows), Rect(0, 0, 1, 1)),))
        )
    ]
    assert not any(lines[0] in one and lines[1] in one for one in told)
    assert set(lines) <= set(told)


def test_a_line_of_a_row_whose_label_takes_two_is_no_passage() -> None:
    row = "Accumulated depreciation of internal use\nsoftware (25,853) (16,846)"
    page = f"It was written off as follows.\n- {row}\nThe rest is described in the table below."
    hit = replace(prompt("", page).sources["S1-7f3a"], page_text=page, body=page)
    assert "software (25,853) (16,846)" in [one.text for one in passages(hit)], (
        "what is tested: it is a row of its own where no table is known"
    )
    start = page.index("- Acc")
    table = Table(
        "",
        "",
        ("2019", "2018"),
        (Row(row, (Cell("(25,853)", 0, 1), Cell("(16,846)", 0, 1)), "", start, start + len(row) + 2),),
        Rect(0, 0, 1, 1),
    )
    first, last, whole = passages(replace(hit, tables=(table,)))
    assert (first.text[:6], last.text[:8], whole.text) == (
        "It was",
        "The rest",
        f"- {row}".replace("\n", " "),
    )
    assert not last.follows, "the row stands between the two"


def test_the_marks_of_an_axis_go_with_no_announcement() -> None:
    announced = (
        "The impact of the minimum wage on prices and on employment has been minimal in all of the years, "
        "as these rates show:"
    )
    page = f"{announced}\nPolicy rate 3.0 2.5\n-1.0 0.5\n1.0 2.0\n3.0 4.0\n"
    assert passages(prompt("", page).sources["S1-7f3a"])[0].text == f"{announced}\nPolicy rate 3.0 2.5"


def test_a_list_goes_on_with_what_follows_it_and_not_with_its_own_items() -> None:
    page = (
        "The application of the deficit ceiling and of the rules on expenditure may be suspended in a "
        "year if at least one of the following is met:\n"
        "(a) output falls by 2.0 per cent;\n(b) there is a war.\n\nThe suspension lasts one year.\n"
    )
    text = extract_answer(prompt("Under what conditions may the rules be suspended?", page))
    assert text.count("output falls by") == 1 and "The suspension lasts one year." in text


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
    told = extract_answer(prompt("Why did net revenue increase?", CAUSES))
    offset = told.find("lower dividends")
    assert "driven by:" in told
    assert offset < 0 or "partially offset by:" in told[:offset]


def test_an_item_alone_has_its_lead_and_a_mark_for_what_is_left_out() -> None:
    items = "\n".join(
        f"• measure {number} of the programme for rural roads, bridges and the ports of the coast"
        for number in range(30)
    )
    page = f"The government will take these measures:\n{items}\n• a levy on sugar of 3 per cent\n"
    told = extract_answer(prompt("What levy on sugar is there?", page))
    assert re.match(
        (
            r"The government will take these measures: \[S1-7f3a\]\n…\n• a levy on sugar of 3 per cent "
            r"\[S1-7f3a\]"
        ),
        told,
    )


def test_items_of_a_list_within_an_item_keep_what_it_says() -> None:
    page = (
        "The Council shall:\n(a) set rates for all of the regions;\n(b) not report the following to "
        "Parliament:\n(i) monthly figures of the debt;\n"
        "(ii) yearly figures of the debt;\n(c) meet once in each month of the year.\nIt has five members.\n"
    )
    found = passages(prompt("x", page).sources["S1-7f3a"])
    leads = {one.text.partition(" ")[0]: one.lead for one in found if one.lead and "\n" not in one.text}
    assert leads == {
        "(a)": "The Council shall:",
        "(i)": (inner := "(b) not report the following to Parliament:"),
        "(ii)": inner,
        "(c)": "The Council shall:",
    }
    assert next(one.lead for one in found if one.text.startswith(f"{inner}\n")) == "The Council shall:"
    assert "not report" in extract_answer(prompt("Which monthly figures of the debt are there?", page))


def test_rows_of_an_announced_list_are_quoted_with_a_mark_for_those_left_out() -> None:
    bands = "".join(f"{low}-{low + 4} lakh rupees {low} per cent\n" for low in range(4, 20, 4))
    page = (
        f"In the new regime, the tax rates are as follows:\n{bands}The change was announced in the budget "
        f"of last year.\n"
    )
    told = extract_answer(prompt("What is the rate for 16-20 lakh rupees?", page))
    assert "as follows: [S1-7f3a]\n…\n16-20 lakh rupees 16 per cent [S1-7f3a]" in told


def test_signs_of_a_font_of_symbols_are_bullets() -> None:
    items = "\n".join(
        f"\uf0b7 There is criterion {name} for the recognition of a liability;"
        for name in ("one", "two", "three", "four")
    )
    told = extract_answer(
        prompt(
            "Which criteria for the recognition of a liability are there?",
            f"All of the following criteria are met:\n{items}\n",
        )
    )
    assert (
        told.startswith("All of the following criteria are met:\n• There is criterion one")
        and "criterion four" in told
    )


def test_a_row_below_an_announcement_shows_that_others_are_left_out() -> None:
    lines = ["2025 5,587", "2026 5,612", "2027 5,701"]
    text = "\n".join(["The annual payments are as follows:", *lines])
    rows = [
        Row(line[:4], (Cell(line[5:], 0, 1),), "", text.index(line), text.index(line) + len(line))
        for line in lines
    ]
    hit = replace(prompt("", text).sources["S1-7f3a"], page_text=text, body=text)
    given = replace(
        prompt("Which payments are due in 2027?"),
        sources={
            "S1-7f3a": replace(
                hit,
                tables=(
                    Table("The annual payments are as follows:", "", ("",), tuple(rows), Rect(0, 0, 1, 1)),
                ),
            )
        },
    )
    assert "as follows:\n…\n2027 5,701" in extract_answer(given)


def test_a_row_whose_label_has_a_stop_is_a_row() -> None:
    line = "Yahoo! Inc. 512 410"
    hit = replace(prompt("", line).sources["S1-7f3a"], page_text=line, body=line)
    row = Row("Yahoo! Inc.", (Cell("512", 12, 15), Cell("410", 16, 19)), "", 0, len(line))
    assert [
        one.text
        for one in passages(replace(hit, tables=(Table("", "", ("2017", "2016"), (row,), Rect(0, 0, 1, 1)),)))
    ] == [line]


def test_a_list_may_be_announced_without_a_colon_and_ends_where_other_marks_begin() -> None:
    page = (
        "27. The minister has set these\na) a growth rate of 6.6 percent;\nb) a deficit of 3.1 percent of "
        "GDP.\n28. I now present the policies for next year.\n"
    )
    first = passages(prompt("x", page).sources["S1-7f3a"])[0]
    assert first.text.startswith("27. The minister") and first.text.endswith(
        "b) a deficit of 3.1 percent of GDP."
    )


def test_what_stands_under_another_heading_does_not_go_on_from_a_sentence() -> None:
    page = (
        "Agriculture\nThe board will support farmers of makhana with training.\nTextiles and Footwear\nIt "
        "will be widened to leather in three years.\n"
    )
    told = extract_answer(prompt("What will the board support?", page))
    assert "training. [S1-7f3a] It will be widened" not in told


def test_a_sentence_that_another_page_holds_a_part_of_is_marked() -> None:
    page = (
        "pandemic levels of employment were low in the services sector.\nEmployment in this sector as a "
        "whole remains well below pre-"
    )
    told = extract_answer(prompt("What were pandemic levels of employment?", page))
    assert told.startswith("… pandemic levels") and "remains well below pre- … [S1-7f3a]" in told


def _fiscal_row() -> Hit:
    text = "Capital expenditure 9.49 10.18 11.21\n"
    places = [text.index(cell) for cell in ("9.49", "10.18", "11.21")]
    cells = tuple(
        Cell(text[at : at + len(cell)], at, at + len(cell))
        for at, cell in zip(places, ("9.49", "10.18", "11.21"), strict=True)
    )
    row = Row("Capital expenditure", cells, start=0, end=len(text) - 1)
    table = Table("Expenditure", "", ("2023-24", "2024-25", "2025-26"), (row,), Rect(0, 0, 1, 1))
    return replace(prompt("", text).sources["S1-7f3a"], page_text=text, tables=(table,))


@pytest.mark.parametrize(
    ("asked", "cell"),
    [("2025-26", "11.21"), ("2024-25", "10.18"), ("FY2025-26", "11.21"), ("2025/26", "11.21")],
)
def test_a_fiscal_year_is_one_period(asked: str, cell: str) -> None:
    question = f"What is capital expenditure in {asked}?"
    told = extract_answer(
        replace(prompt(question), sources={"S1-7f3a": _fiscal_row()}), understand(question, question)
    )
    assert told.endswith(f"({asked[-7:]}: {cell}) [S1-7f3a]".replace("/", "-"))


def test_a_sentence_is_of_its_headings_year() -> None:
    page = (
        "Revised Estimate 2024-25\nThe Revised Estimate of the capital expenditure is about 10.18 lakh "
        "crore.\n"
        "Budget Estimate 2025-26\nThe capital expenditure is estimated at 11.21 lakh crore.\n"
    )
    question = "What is the capital expenditure in 2025-26?"
    told = extract_answer(prompt(question, page), understand(question, question))
    assert told.startswith("The capital expenditure is estimated at 11.21")


def test_of_a_long_list_the_item_answers_who_asks_for_no_list() -> None:
    sectors = (
        "roads and bridges",
        "schools in villages",
        "hospitals of the regions",
        "water supply",
        "power lines",
        "airports",
        "courts and prisons",
    )
    items = "\n".join(
        f"({letter}) {sector} are given {at} million crowns for buildings;"
        for letter, (at, sector) in zip("abcdefg", enumerate(sectors, 31), strict=True)
    )
    page = f"In the next year the following is proposed for investment:\n{items}\n"
    asked = prompt("How much is given to hospitals of the regions for buildings?", page)
    answer = extract_answer(asked, understand(asked.question, asked.question)).partition("\n\n")[0]
    assert "hospitals of the regions are given 33 million" in answer
    assert "airports" not in answer
    whole = extract_answer(asked, replace(understand(asked.question, asked.question), form="list"))
    assert "airports" in whole


def _tabled(label: str, cells: list[str], heads: tuple[str, ...], caption: str = "") -> Passage:
    text = f"{caption}\n{label} {' '.join(cells)}\n"
    row = Row(
        label,
        tuple(Cell(cell, text.index(cell), text.index(cell) + len(cell)) for cell in cells),
        "",
        text.index(label),
        len(text) - 1,
    )
    hit = replace(
        prompt("", text).sources["S1-7f3a"],
        page_text=text,
        tables=(Table(caption, "", heads, (row,), Rect(0, 0, 1, 1)),),
    )
    return next(one for one in passages(hit) if one.row)


def test_without_a_year_the_newest_actual_figure_is_said() -> None:
    passage = _tabled("Annual surplus", ["48", "27", "16"], ("Budget 2024", "Actual 2024", "Actual 2023"))
    asked = replace(understand("What is the annual surplus?", "What is the annual surplus?"), whose="Tern")
    assert row_in_a_sentence(passage, asked) == "Tern's annual surplus was 27 (Actual 2024)."


def test_a_row_of_a_region_is_said_with_the_measure_above_it() -> None:
    question = "What were net sales in Nordland in 2024?"
    passage = _tabled("Nordland", ["48", "27"], ("2024", "2023"), "Net sales by region")
    assert row_in_a_sentence(passage, understand(question, question)) == "Nordland revenue was 48 (2024)."


def test_a_row_of_what_is_not_asked_for_comes_after_one_that_is() -> None:
    text = "Revenue\nNon-tax revenue 48 27\nTax revenue 60 50\n"
    rows = [
        Row(
            label,
            (
                Cell(one, text.index(one), text.index(one) + 2),
                Cell(two, text.index(two), text.index(two) + 2),
            ),
            "",
            text.index(label),
            end,
        )
        for label, one, two, end in (
            ("Non-tax revenue", "48", "27", text.index("\nTax")),
            ("Tax revenue", "60", "50", len(text) - 1),
        )
    ]
    hit = replace(
        prompt("", text).sources["S1-7f3a"],
        page_text=text,
        tables=(Table("Revenue", "", ("2024", "2023"), tuple(rows), Rect(0, 0, 1, 1)),),
    )
    question = "What was tax revenue in 2024?"
    given = Prompt(question, question, {"S1-7f3a": hit}, (), (), (), "7f3a")
    assert extract_answer(given, understand(question, question)).startswith("Tax revenue was 60 (2024).")

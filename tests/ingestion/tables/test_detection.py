"""Tables out of words: rows, columns, heads, captions, what is none, and tables that go on over a page's
end.
"""

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.reading.layout import lines_of
from ingestion.reading.pdf import PdfFile
from ingestion.records import Page, Rect, Row, Table, Word
from ingestion.tables.captions import is_unit
from ingestion.tables.detection import MOST_WORDS, continue_tables, find_tables
from ingestion.tables.word_kinds import is_period, words_kind
from tests.case_rows import case_rows
from tests.pdfs import Placed, draw, grid


def tables(path: Path, items: Sequence[Placed]) -> list[Table]:
    text, _, words = PdfFile(draw(path / "table.pdf", items)).words(1)
    found = find_tables(text, words)
    for table in found:
        for row in table.rows:
            assert 0 <= row.start <= row.end <= len(text)
            for cell in filter(None, row.cells):
                printed = "".join(text[cell.start : cell.end].split())
                assert "".join(cell.text.split()) in printed or cell.start < cell.end
    return found


def one(path: Path, items: Sequence[Placed]) -> Table:
    found = tables(path, items)
    assert len(found) == 1, found
    return found[0]


def texts(row: Row) -> list[str | None]:
    return [cell.text if cell else None for cell in row.cells]


YEARS = ["", "2021", "2020", "2019"]
STATEMENT = [
    YEARS,
    ["Revenues:"],
    ["  Products", "1,204", "1,100", "(91.5)"],
    ["  Services", "310", "—", "280"],
    ["    Total revenues", "1,514", "1,390", "1,271"],
    ["Operating income", "91", "84", "77"],
]


def test_a_statement_has_its_caption_unit_heads_sections_and_cells(tmp_path: Path) -> None:
    above = [
        (297, 60, "|CONSOLIDATED STATEMENTS OF INCOME"),
        (297, 73, "|(in millions, except per share amounts)"),
    ]
    spanning = [(430, 105, "|Year ended December 31,")]
    table = one(tmp_path, [*above, *spanning, *grid(125, STATEMENT)])
    assert table.caption == "CONSOLIDATED STATEMENTS OF INCOME"
    assert table.unit == "(in millions, except per share amounts)"
    assert table.heads == tuple(f"Year ended December 31, > {year}" for year in YEARS[1:])
    assert [(row.section, row.label) for row in table.rows] == [
        ("Revenues", "Products"),
        ("Revenues", "Services"),
        ("Revenues", "Total revenues"),
        ("", "Operating income"),
    ]
    assert texts(table.rows[0]) == ["1,204", "1,100", "(91.5)"]
    assert texts(table.rows[1]) == ["310", "—", "280"]


def test_offsets_point_at_what_is_printed(tmp_path: Path) -> None:
    text, _, words = PdfFile(draw(tmp_path / "t.pdf", grid(100, STATEMENT))).words(1)
    (table,) = find_tables(text, words)
    for row in table.rows:
        assert text[row.start : row.end].startswith(row.label)
        for cell in row.cells:
            assert cell is not None and text[cell.start : cell.end] == cell.text


def test_currency_and_per_cent_set_apart_belong_to_their_figures(tmp_path: Path) -> None:
    items = grid(
        100,
        [
            ["", "2021", "2020"],
            ["Net sales", "5,134", "4,237"],
            ["Gross profit", "2,100", "1,900"],
            ["Growth", "21.2", "18.0"],
        ],
    )
    items += [(x, 115, "$") for x in (290, 370)] + [(x, 145, "%") for x in (354, 434)]
    table = one(tmp_path, items)
    assert [texts(row) for row in table.rows] == [
        ["$ 5,134", "$ 4,237"],
        ["2,100", "1,900"],
        ["21.2 %", "18.0 %"],
    ]
    assert table.heads == ("2021", "2020")


def test_a_currency_sign_right_after_a_value_begins_the_next_one(tmp_path: Path) -> None:
    rows = [["", "Change", "2020"], ["Footwear", "8%", "9,684"], ["Apparel", "7%", "4,886"]]
    table = one(tmp_path, [*grid(100, rows), (352, 115, "$"), (352, 130, "$")])
    assert [texts(row) for row in table.rows] == [["8%", "$ 9,684"], ["7%", "$ 4,886"]]


WRITTEN_VALUES = """
13,78,323
1 234 567
16 944
(91.5)
- 91.5
−91.5
-1.9%
(0.3)%
$7,879
n/a
nil
..
–
3.0-3.5
1.234,5
12.5*
""".strip().split("\n")


@pytest.mark.parametrize("value", WRITTEN_VALUES)
def test_values_as_they_are_written(tmp_path: Path, value: str) -> None:
    rows = [
        ["", "2021", "2020"],
        ["Outlays", "71,004", "69,118"],
        ["Receipts", value.replace("−", "-"), "1,000"],
        ["Balance", "1,001", "2,002"],
    ]
    table = one(tmp_path, grid(100, rows))
    assert texts(table.rows[1])[0] == value.replace("−", "-")


def test_digits_split_by_extraction_are_joined_and_neighbouring_columns_are_not() -> None:
    line = [
        ("Assets", 0.1, 0.2),
        ("1,23", 0.400, 0.432),
        ("4", 0.4325, 0.4405),
        ("412", 0.500, 0.524),
        ("318", 0.560, 0.584),
    ]
    found = find_tables(*page_of([line, [(text, x0, x1) for text, x0, x1 in line]]))
    assert texts(found[0].rows[0]) == ["1,234", "412", "318"]


def page_of(
    lines: Sequence[Sequence[tuple[str, float, float]]],
    *,
    confidence: float | None = None,
    slope: float = 0.0,
) -> tuple[str, list[Word]]:
    """A page of words with given sides, one line below the other."""
    text, words = "", []
    for number, line in enumerate(lines):
        for word, x0, x1 in line:
            top = 0.1 + 0.02 * number + slope * x0
            words.append(
                Word(word, Rect(x0, top, x1, top + 0.012), confidence, len(text), len(text) + len(word))
            )
            text += word + " "
        text += "\n"
    return text, words


def test_crooked_scans_have_straight_rows() -> None:
    rows = [
        [("Tax", 0.1, 0.15), (f"{n}40", 0.5, 0.53), (f"{n}41", 0.7, 0.73), (f"{n}42", 0.9, 0.93)]
        for n in range(1, 8)
    ]
    (table,) = find_tables(*page_of(rows, confidence=90.0, slope=0.02))
    assert [texts(row) for row in table.rows] == [[f"{n}40", f"{n}41", f"{n}42"] for n in range(1, 8)]


def test_the_order_of_the_words_in_the_text_does_not_matter() -> None:
    text, words = page_of(
        [
            [(name, 0.1, 0.15), (f"{n}40", 0.5, 0.53), (f"{n}41", 0.7, 0.73)]
            for n, name in enumerate(("Tax", "Fees", "Duty"), 1)
        ]
    )
    assert find_tables(text, sorted(words, key=lambda word: word.box.x0)) == find_tables(text, words)


def test_labels_over_several_lines_take_figures_on_the_last_or_the_first_of_them(tmp_path: Path) -> None:
    last = [(60, 130, "Amounts reclassified from accumulated"), (60, 142, "other comprehensive income")]
    first = [(60, 175, "Net Interest Cost as a % of Own Source"), (60, 187, "Revenue")]
    values = [(x, 142, ">41") for x in (350, 430)] + [(x, 175, ">1.9%") for x in (350, 430)]
    rows = [["", "2021", "2020"], ["Net income", "500", "400"]]
    table = one(tmp_path, [*grid(95, rows), *last, *first, *values, *grid(220, [["Total", "541", "441"]])])
    labels = [row.label for row in table.rows]
    assert labels == [
        "Net income",
        "Amounts reclassified from accumulated other comprehensive income",
        "Net Interest Cost as a % of Own Source Revenue",
        "Total",
    ]
    assert texts(table.rows[1]) == ["41", "41"]


def test_figures_below_their_label_belong_to_it(tmp_path: Path) -> None:
    rows = [
        ["", "2021", "2020"],
        ["Commercial", "79", "114"],
        ["Unallocated items and eliminations"],
        ["", "(1,414)", "(1,099)"],
        ["Earnings", "11", "10"],
    ]
    table = one(tmp_path, grid(100, rows, step=13))
    assert [row.label for row in table.rows] == [
        "Commercial",
        "Unallocated items and eliminations",
        "Earnings",
    ]


def test_sections_nest_by_indentation_and_end_with_it(tmp_path: Path) -> None:
    rows = [
        ["", "2021", "2020"],
        ["ASSETS"],
        ["Current assets:"],
        ["  Cash", "31", "36"],
        ["  Securities:"],
        ["    Bonds", "9", "18"],
        ["  Total current assets", "40", "54"],
        ["Goodwill", "14", "15"],
    ]
    sections = [row.section for row in one(tmp_path, grid(100, rows)).rows]
    assert sections == ["Current assets", "Current assets > Securities", "Current assets", ""]


def test_a_total_ends_a_group_but_no_unit(tmp_path: Path) -> None:
    groups = [["Revenue", "31.0", "30.9"], ["Total revenue", "31.0", "30.9"], ["Balance", "(3.2)", "(2.9)"]]
    money = [
        ["In crowns million"],
        ["Total revenue", "130,200", "139,360"],
        ["Balance", "(13,440)", "(13,079)"],
    ]
    kinds = [["Taxes"], ["Income", "9", "8"], ["Total taxes", "9", "8"], ["Fees", "1", "1"]]
    sections = [
        row.section for row in one(tmp_path, grid(100, [["", "2024", "2025"], *groups, *money, *kinds])).rows
    ]
    assert sections == [
        *[""] * 3,
        *["In crowns million"] * 2,
        *["In crowns million > Taxes"] * 2,
        "In crowns million",
    ]


def test_stacked_heads_join_and_spanning_heads_come_first(tmp_path: Path) -> None:
    heads = [(330, 80, "|2022"), (490, 80, "|2021")]
    heads += [(x, y, text) for x, (y, text) in product((290, 450), ((95, ">Gross"), (106, ">amount")))]
    heads += [(x, 106, ">Net") for x in (370, 530)]
    rows = [["Trade names", "54", "24", "53", "23"], ["Other", "19", "3", "18", "4"]]
    table = one(tmp_path, [*heads, *grid(125, rows, rights=(290, 370, 450, 530))])
    assert table.heads == ("2022 > Gross amount", "2022 > Net", "2021 > Gross amount", "2021 > Net")


def test_period_heads_of_budgets(tmp_path: Path) -> None:
    heads = [("2004-05", "Est. Out.", "$m"), ("2005-06", "Budget", "$m"), ("2006-07", "Estimate", "$m")]
    items = [
        (right, 100 + 13 * line, f">{text}")
        for right, head in zip((350, 430, 510), heads, strict=True)
        for line, text in enumerate(head)
    ]
    caption = [(297, 65, "|Table 1.2.4"), (297, 77, "|General Government Sector")]
    table = one(
        tmp_path,
        [
            *caption,
            *items,
            *grid(145, [["Taxation", "692", "729", "778"], ["GSP", "16 944", "17 637", "18 349"]]),
        ],
    )
    assert table.heads == tuple(" ".join(head) for head in heads)
    assert table.caption == "Table 1.2.4 General Government Sector"
    assert texts(table.rows[1]) == ["16 944", "17 637", "18 349"]


PERIOD_HEADS = """
FY2018
Q3 2021
June 30, 2020
2017-18 Actual
2024-25(BE)
Budget 2019/20
Revised Estimate
""".strip().split("\n")


@pytest.mark.parametrize("head", PERIOD_HEADS)
def test_period_heads_of_all_kinds(tmp_path: Path, head: str) -> None:
    rows = [["", head, head, head], ["Revenue", "1,000", "1,100", "1,200"], ["Expenses", "900", "950", "980"]]
    assert one(tmp_path, grid(100, rows, rights=(330, 420, 510))).heads == (head, head, head)


def test_a_column_of_notes_has_its_head(tmp_path: Path) -> None:
    rows = [
        ["", "Note", "2021", "2020"],
        ["Revenue", "2", "1,000", "1,100"],
        ["Costs", "3", "(900)", "(950)"],
        ["Profit", "", "100", "150"],
    ]
    table = one(tmp_path, grid(100, rows))
    assert table.heads == ("Note", "2021", "2020")
    assert texts(table.rows[0]) == ["2", "1,000", "1,100"] and texts(table.rows[2]) == [None, "100", "150"]


def test_years_may_be_labels(tmp_path: Path) -> None:
    rows = [
        ["30 June", "Assets", "Liabilities"],
        ["2005", "1 447 094", "2 480 943"],
        ["2006", "1 626 868", "2 707 023"],
    ]
    table = one(tmp_path, grid(100, rows))
    assert [row.label for row in table.rows] == ["2005", "2006"] and texts(table.rows[0]) == [
        "1 447 094",
        "2 480 943",
    ]


def test_the_unit_may_stand_over_the_labels_or_in_the_introduction(tmp_path: Path) -> None:
    rows = [["(Rs. in crore)", "2021", "2020"], ["Tax", "13,78,323", "12,00,000"], ["Fees", "1,000", "900"]]
    assert one(tmp_path, grid(100, rows)).unit == "(Rs. in crore)"
    introduction = (60, 80, "Net sales by division were as follows (in thousands):")
    table = one(tmp_path, [introduction, *grid(100, [["", *rows[0][1:]], *rows[1:]])])
    assert table.unit == "(in thousands)" and table.caption == introduction[2]


def test_texts_in_a_column_are_its_cells(tmp_path: Path) -> None:
    rows = [
        ["", "Lives", "Gross", "Net"],
        ["Software", "2 - 5 years", "601", "22"],
        ["Names", "7 - 10 years", "54", "24"],
        ["Brand", "Indefinite", "", "386"],
    ]
    table = one(tmp_path, grid(100, rows))
    assert [texts(row)[0] for row in table.rows] == ["2 - 5 years", "7 - 10 years", "Indefinite"]


def test_two_tables_with_captions_stay_two(tmp_path: Path) -> None:
    rows = [["", "2021", "2020"], ["Tax", "1", "2"], ["Fees", "3", "4"]]
    items = [(60, 80, "Table 1: Receipts"), *grid(95, rows), (60, 150, "Table 2: Payments"), *grid(165, rows)]
    assert [table.caption for table in tables(tmp_path, items)] == ["Table 1: Receipts", "Table 2: Payments"]


PROSE = (
    "Revenue increased 18% to $192,052 in 2021, driven by a 16% increase in comparable sales and by new",
    "warehouses opened in 2020 and 2021; membership fees rose 9% to $3,877. Net income was $5,007, or",
    "$11.27 per share, against $4,002, or $9.02, in 2020. A dividend of $10.00 was paid in December",
    "2020 and the rate was raised from $0.70 to $0.79 in April 2021.",
)


def test_prose_with_figures_is_no_table(tmp_path: Path) -> None:
    assert tables(tmp_path, [(60, 100 + 13 * number, line) for number, line in enumerate(PROSE * 4)]) == []


def test_contents_lists_and_time_lines_are_no_tables(tmp_path: Path) -> None:
    contents = [
        [title, str(page)]
        for title, page in zip(
            ("Introduction", "Outlook", "Revenue", "Debt", "Annex"), (1, 4, 9, 17, 32), strict=True
        )
    ]
    assert tables(tmp_path, grid(100, contents, rights=(530,))) == []
    assert (
        tables(
            tmp_path,
            [
                (60, 100, "1."),
                (80, 100, "First recommendation"),
                (60, 115, "2."),
                (80, 115, "Second one"),
                (60, 130, "3."),
                (80, 130, "Third"),
            ],
        )
        == []
    )
    years = [
        ["Law passed", "", "1947"],
        ["First order", "2012", ""],
        ["Second order", "", "2016"],
        ["Third order", "2020", ""],
    ]
    assert tables(tmp_path, grid(100, years)) == []


def test_two_columns_of_prose_are_no_table(tmp_path: Path) -> None:
    left = [
        (50, 100 + 12 * n, text)
        for n, text in enumerate(
            ("The committee met in June and held", "the rate at 4.5 per cent as growth", "slowed to 2.1") * 5
        )
    ]
    right = [
        (310, 100 + 12 * n, text)
        for n, text in enumerate(
            (
                "2024 saw prices fall by a third of",
                "their rise, while wages rose 5",
                "per cent over the year before it",
            )
            * 5
        )
    ]
    assert tables(tmp_path, [*left, *right]) == []


def test_the_axis_of_a_chart_is_no_table(tmp_path: Path) -> None:
    axis = [(100, 100 + 20 * n, f">{100 - 20 * n}") for n in range(6)] + [
        (160 + 50 * n, 105 + 20 * n, f"|{37 + n}.4") for n in range(5)
    ]
    assert tables(tmp_path, [*axis, *[(160 + 50 * n, 215, f"|{2019 + n}") for n in range(5)]]) == []


def test_a_single_column_needs_three_rows(tmp_path: Path) -> None:
    rows = [["For", "1,125,448"], ["Against", "65,112"], ["Abstain", "2,556"]]
    assert [texts(row) for row in one(tmp_path, grid(100, rows)).rows] == [
        ["1,125,448"],
        ["65,112"],
        ["2,556"],
    ]
    assert tables(tmp_path, grid(100, rows[:2])) == []


def test_page_numbers_and_notes_are_no_rows(tmp_path: Path) -> None:
    items = [
        *grid(100, STATEMENT),
        (297, 205, "|See accompanying notes to the statements."),
        (297, 800, "|38"),
    ]
    assert [row.label for row in one(tmp_path, items).rows][-1] == "Operating income"


def read_pages(path: Path, *pages: Sequence[Placed]) -> list[Page]:
    pdf = PdfFile(draw(path / "pages.pdf", *pages))
    read = []
    for number in range(1, len(pages) + 1):
        text, _, words = pdf.words(number)
        read.append(Page(number, text, lines=lines_of(text, words), tables=tuple(find_tables(text, words))))
    return read


def test_a_table_goes_on_over_the_page_end_with_its_heads(tmp_path: Path) -> None:
    head = [(60, 70, "Table 7: Outlays"), (60, 83, "(in millions)")]
    long = [[f"Programme {chr(65 + n)}", f"{n}01", f"{n}02", f"{n}03"] for n in range(1, 20)]
    pages = read_pages(tmp_path, [*head, *grid(110, [YEARS, *long])], grid(80, long), grid(80, long))
    first, second, third = (page.tables[0] for page in continue_tables(pages))
    assert not first.continued and second.continued and third.continued
    assert second.heads == third.heads == ("2021", "2020", "2019")
    assert second.caption == "Table 7: Outlays" and third.unit == "(in millions)"


def test_a_table_goes_on_below_the_heading_of_a_group(tmp_path: Path) -> None:
    rows = [["Tax", "11", "22", "30"], ["Fees", "35", "41", "52"]]
    first = [(60, 70, "Balance sheet"), (60, 83, "(in millions)"), *grid(110, [YEARS, *rows])]
    pages = read_pages(
        tmp_path,
        first,
        [(60, 70, "Liabilities:"), *grid(85, rows)],
        [(60, 70, "Liabilities in 2022 (in thousands):"), *grid(85, rows)],
    )
    second, third = (page.tables[0] for page in continue_tables(pages)[1:])
    assert (second.heads, second.caption, second.unit) == (
        ("2021", "2020", "2019"),
        "Balance sheet",
        "(in millions)",
    )
    assert {row.section for row in second.rows} == {"Liabilities"}
    assert not third.continued and not any(third.heads)


def test_lines_of_prose_beside_a_table_name_no_rows(tmp_path: Path) -> None:
    prose = [
        "announced today, are available to both",
        "local and foreign investors without",
        "exception, as was said in the House",
        "229. To raise revenue, I propose",
    ]
    bands = [
        (320, 100 + 15 * n, f"Above {band} to {band + 200}") for n, band in enumerate((150, 300, 500, 800))
    ]
    levies = [(560, 100 + 15 * n, f">0.{n + 1}0") for n in range(4)]
    heads = [(320, 85, "Amount range"), (560, 85, ">Levy")]
    found = one(
        tmp_path, [*[(60, 100 + 15 * n, line) for n, line in enumerate(prose)], *heads, *bands, *levies]
    )
    assert all(row.end - row.start < 40 for row in found.rows)
    assert (found.caption, found.heads) == ("Amount range", ("Levy",))
    assert [(row.label, row.section, texts(row)) for row in found.rows[:2]] == [
        ("Above 150 to 350", "", ["0.10"]),
        ("Above 300 to 500", "", ["0.20"]),
    ]


def test_a_line_below_one_head_belongs_to_it(tmp_path: Path) -> None:
    rights = (350, 430, 510)
    heads = [*[(x, 70, f">{text}") for x, text in zip(rights, ("Budget", "Actual", "Actual"), strict=True)]]
    heads += [(x, 83, f">{text}") for x, text in zip(rights, ("2024", "2024", "2023"), strict=True)]
    rows = [
        ["Taxation", "$ 103,870", "$ 104,798", "$ 97,040"],
        ["Grants", "6,105", "10,051", "7,574"],
        ["Total revenue", "241,792", "243,424", "222,253"],
    ]
    found = one(
        tmp_path,
        [
            (60, 55, "Statement of Operations"),
            *heads,
            (330, 96, "|(note 16)"),
            (60, 112, "Revenue:"),
            *grid(128, rows, rights=rights),
        ],
    )
    assert found.heads == ("Budget 2024 (note 16)", "Actual 2024", "Actual 2023")
    assert (found.caption, found.rows[0].section) == ("Statement of Operations", "Revenue")


def test_a_dash_with_its_unit_is_a_cell(tmp_path: Path) -> None:
    rows = [["Fixed rate", "4.34%", "4.40%"], ["Variable rate", "—%", "–%"], ["Total", "4.34%", "4.40%"]]
    assert [row.label for row in one(tmp_path, grid(100, [["", "2015", "2014"], *rows])).rows] == [
        "Fixed rate",
        "Variable rate",
        "Total",
    ]


def test_a_table_of_its_own_is_not_continued(tmp_path: Path) -> None:
    rows = [["Tax", "11", "22", "30"], ["Fees", "35", "41", "52"]]
    other = [(60, 70, "Table 8: Receipts"), *grid(110, [["", "2025", "2026", "2027"], *rows])]
    prose = [(60, 60 + 13 * number, line) for number, line in enumerate(PROSE * 2)]
    for second in (other, [*prose, *grid(200, rows)], grid(80, rows, left=200)):
        pages = read_pages(tmp_path, grid(110, [YEARS, *rows]), second)
        assert continue_tables(pages) == pages


WORD_KINDS = case_rows("""
1,234   | v
(8)     | v
5.0p    | v
—       | d
n.a.    | d
$       | c
US$     | c
Rs.     | c
%       | u
(       | s
....... | l
31,     | w
FY2018  | w
""")


@pytest.mark.parametrize(("text", "kind"), WORD_KINDS)
def test_kinds_of_words(text: str, kind: str) -> None:
    assert words_kind(text) == kind


PERIODS = case_rows("""
2024    | yes
2005-06 | yes
FY2018  | yes
Q3      | yes
2025e   | yes
2,024   | no
1850    | no
""")


@pytest.mark.parametrize(("text", "period"), PERIODS)
def test_periods(text: str, period: str) -> None:
    assert is_period(text) is (period == "yes")


UNITS = case_rows("""
($m)                                                              | yes
(in millions, except per share amounts)                           | yes
per cent of GDP                                                   | yes
US$ thousand                                                      | yes
(shares in thousands)                                             | yes
Crowns million                                                    | yes
Per cent of GDP, unless stated otherwise; deficits in parentheses | yes
$ in millions, except per share amounts (unaudited)               | yes
are in millions, except per share data.                           | no
millions, except per share amounts):                              | no
Percent Change                                                    | no
(Unaudited)                                                       | no
In summary                                                        | no
""")


@pytest.mark.parametrize(("text", "unit"), UNITS)
def test_units(text: str, unit: str) -> None:
    assert is_unit(text) is (unit == "yes")


SIDE = st.floats(0, 1, width=32) | st.sampled_from([0.1, 0.5, 0.9])
WORD = st.sampled_from(
    [
        "2021",
        "1,234",
        "(5)",
        "$",
        "%",
        "—",
        "-",
        "Total",
        "Revenue:",
        "(in millions)",
        "....",
        "31,",
        "a",
        "\ufffe",
        "Table 1",
    ]
) | st.text(min_size=1, max_size=12)


@given(st.lists(st.tuples(WORD, SIDE, SIDE, SIDE, SIDE), max_size=60), st.booleans())
def test_any_words_with_any_boxes_are_read(
    items: list[tuple[str, float, float, float, float]], scanned: bool
) -> None:
    text, words = "", []
    for word, x0, y0, x1, y1 in items:
        words.append(
            Word(word, Rect(x0, y0, x1, y1), 50.0 if scanned else None, len(text), len(text) + len(word))
        )
        text += word + " "
    found = find_tables(text, words)
    for table in found:
        assert len(table.heads) == len(table.rows[0].cells)
        for row in table.rows:
            assert 0 <= row.start <= row.end <= len(text)
            assert all(cell is None or 0 <= cell.start < cell.end <= len(text) for cell in row.cells)
    assert len(continue_tables([Page(1, text, tables=tuple(found)), Page(2, text, tables=tuple(found))])) == 2


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["", "12", "(3.4)", "$ 5", "n/a", "2020", "Tax", "Total net income of the year:"]
            ),
            min_size=2,
            max_size=6,
        ),
        max_size=12,
    )
)
def test_any_grid_is_read(rows: list[list[str]]) -> None:
    lines = []
    for row in rows:
        line = []
        for n, cell in enumerate(row):
            for k, word in enumerate(cell.split()):
                line.append((word, 0.1 + 0.14 * n + 0.03 * k, 0.12 + 0.14 * n + 0.03 * k))
        lines.append(line)
    for table in find_tables(*page_of(lines)):
        assert all(len(row.cells) == len(table.heads) for row in table.rows)


def test_words_without_offsets_and_hostile_pages_are_left_alone() -> None:
    assert find_tables("", [Word("12", Rect(0, 0, 0.1, 0.1))] * 5) == []
    assert (
        find_tables(
            "1 " * (MOST_WORDS + 1), [Word("1", Rect(0.1, 0.1, 0.2, 0.2), None, 0, 1)] * (MOST_WORDS + 1)
        )
        == []
    )


@pytest.mark.timed
def test_time_grows_in_step_with_the_words() -> None:
    def seconds(rows: int) -> float:
        lines = []
        for n in range(rows):
            figures = [(f"{n}.{k}", 0.3 + 0.08 * k, 0.34 + 0.08 * k) for k in range(8)]
            lines.append([(f"Label{n}", 0.05, 0.2), *figures])
        text, words = page_of(lines)
        words = [
            Word(w.text, Rect(w.box.x0, w.box.y0 / rows, w.box.x1, w.box.y1 / rows), None, w.start, w.end)
            for w in words
        ]
        best = 99.0
        for _ in range(3):
            start = time.process_time()
            assert len(find_tables(text, words)[0].rows) == rows
            best = min(best, time.process_time() - start)
        return best

    assert seconds(1200) < 20 * seconds(150)  # eight times the words


@pytest.mark.timed
def test_a_page_of_the_same_place_ends_soon() -> None:
    """Words all in one place make one line; it takes no more than some hundred times the look at its
    words.
    """
    words = [Word("12", Rect(0.1, 0.1, 0.12, 0.12), None, 0, 2)] * MOST_WORDS
    start = time.process_time()
    find_tables("12", words)
    spent = time.process_time() - start
    start = time.process_time()
    for word in words:
        words_kind(word.text)
    assert spent < 500 * (time.process_time() - start)


def test_the_period_over_the_labels_belongs_to_the_years(tmp_path: Path) -> None:
    rows = [
        ["Years ended December 31,", "2021", "2020"],
        ["Revenue", "1,000", "1,100"],
        ["Costs", "(900)", "(950)"],
    ]
    assert one(tmp_path, grid(100, rows)).heads == (
        "Years ended December 31, > 2021",
        "Years ended December 31, > 2020",
    )


def test_footnote_marks_are_neither_values_nor_rows() -> None:
    def mark(text: str, x0: float, y0: float) -> tuple[str, Rect]:
        return text, Rect(x0, y0, x0 + 0.006 * len(text), y0 + 0.007)

    placed = [
        (name, Rect(0.1, 0.1 + 0.03 * n, 0.2, 0.112 + 0.03 * n))
        for n, name in enumerate(("Wages", "Rents", "Total"))
    ]
    placed += [
        (f"{n}{column}4", Rect(0.5 + 0.2 * column, 0.1 + 0.03 * n, 0.524 + 0.2 * column, 0.112 + 0.03 * n))
        for n in range(3)
        for column in range(2)
    ]
    placed += [
        mark("(1)", 0.203, 0.099),
        mark("2", 0.526, 0.099),
        mark("(3)", 0.56, 0.129),
        mark("(4)", 0.3, 0.15),
    ]
    text, words = "", []
    for word, box in sorted(placed, key=lambda item: item[1].x0):
        words.append(Word(word, box, None, len(text), len(text) + len(word)))
        text += word + " "
    (table,) = find_tables(text, words)
    assert [(row.label, *texts(row)) for row in table.rows] == [
        ("Wages (1)", "004", "014"),
        ("Rents", "104", "114"),
        ("Total", "204", "214"),
    ]


def test_a_minus_may_stand_far_from_its_figure(tmp_path: Path) -> None:
    rows = [
        ["", "2021", "2020"],
        ["Interest", "47", "49"],
        ["Net cost", "31", "20"],
        ["Revenue", "1 617", "1 568"],
    ]
    table = one(tmp_path, [*grid(100, rows), (331, 130, "-"), (411, 130, "-")])
    assert texts(table.rows[1]) == ["- 31", "- 20"]


def test_labels_go_on_in_lower_case_and_below_the_last_row(tmp_path: Path) -> None:
    rows = [
        ["", "2021", "2020"],
        ["Net earnings", "27", "23"],
        ["Decrease in redemption value"],
        ["  redeemable interest", "14", "2"],
        ["Other", "3", "4"],
    ]
    last = [
        (60, 175, "Net Interest Cost as a % of Own Source"),
        (60, 186, "Revenue"),
        (350, 175, ">1.9%"),
        (430, 175, ">1.3%"),
        (60, 300, "Prose."),
    ]
    table = one(tmp_path, [*grid(100, rows), *last])
    assert [row.label for row in table.rows] == [
        "Net earnings",
        "Decrease in redemption value redeemable interest",
        "Other",
        "Net Interest Cost as a % of Own Source Revenue",
    ]


def test_a_head_over_three_spans_them_and_the_first_line_of_one_does_not(tmp_path: Path) -> None:
    rows = [
        ["", "Gross", "Losses", "Net"],
        ["Level 1", "1,000", "(5)", "995"],
        ["Level 2", "900", "(8)", "892"],
    ]
    spanning = one(tmp_path, [(410, 80, "|Fair value of assets"), *grid(100, rows)])
    assert spanning.heads == (
        "Fair value of assets > Gross",
        "Fair value of assets > Losses",
        "Fair value of assets > Net",
    )
    assert one(tmp_path, [(430, 89, ">Accumulated"), *grid(100, rows)]).heads == (
        "Gross",
        "Accumulated Losses",
        "Net",
    )


def test_heads_over_years_that_repeat_take_a_round_each(tmp_path: Path) -> None:
    rows = [
        ["", "2022", "2021", "2022", "2021"],
        ["Discount rate", "5.2%", "3.0%", "5.2%", "2.9%"],
        ["Increases", "3.0%", "3.0%", "N/A", "N/A"],
    ]
    table = one(
        tmp_path,
        [(370, 85, ">Pension"), (530, 85, ">Health Care"), *grid(100, rows, rights=(290, 370, 450, 530))],
    )
    assert table.heads == ("Pension > 2022", "Pension > 2021", "Health Care > 2022", "Health Care > 2021")


def test_prose_parts_two_tables(tmp_path: Path) -> None:
    rows = [["Tax", "11", "22", "30"], ["Fees", "35", "41", "52"]]
    prose = (60, 140, "The effect of all this on the outturn of the year was small but not nothing at all")
    assert [len(table.rows) for table in tables(tmp_path, [*grid(110, rows), prose, *grid(155, rows)])] == [
        2,
        2,
    ]
    assert [len(table.rows) for table in tables(tmp_path, [*grid(110, rows), *grid(155, rows)])] == [4]


def test_a_value_as_wide_as_two_columns_joins_them_not(tmp_path: Path) -> None:
    rows = [
        ["", "Shares", "Amount"],
        ["Opening", "4", "75"],
        ["Issued", "5", "81"],
        ["Closing", "", "1,234,567,890.12"],
    ]
    table = one(tmp_path, grid(100, rows, rights=(380, 430)))
    assert [texts(row) for row in table.rows] == [["4", "75"], ["5", "81"], [None, "1,234,567,890.12"]]


def test_prose_beside_an_axis_is_no_table(tmp_path: Path) -> None:
    prose = [
        (50, 100 + 12 * n, f"{text} it")
        for n, text in enumerate(
            ("The committee met in June", "It held the rate as growth", "slowed to the lowest pace") * 4
        )
    ]
    axis = [(400, 103 + 16.7 * n, f">{7.25 - n / 4}") for n in range(8)]
    assert tables(tmp_path, [*prose, *axis]) == []


def test_values_strewn_over_two_columns_of_prose_are_no_table(tmp_path: Path) -> None:
    left = [(50, 100 + 13 * n, f"({n}) Item of the list") for n in range(8)]
    values = [(250, 100 + 13 * n, f">{9630 - 7 * n}") for n in range(0, 8, 2)]
    right = [(300, 100 + 13 * n, "unless it is listed in another schedule of it") for n in range(8)]
    assert tables(tmp_path, [*left, *values, *right]) == []


def test_a_table_that_says_so_or_repeats_its_caption_is_continued(tmp_path: Path) -> None:
    rows = [YEARS, ["Tax", "11", "22", "30"], ["Fees", "35", "41", "52"]]
    page = [(60, 70, "Table 7: Receipts"), *grid(100, rows)]
    again = [(60, 70, "Table 7: Receipts (continued)"), *grid(100, rows)]
    bare = grid(100, rows)
    read = continue_tables(read_pages(tmp_path, page, again, page, bare))
    assert [(table.continued, table.caption) for page in read for table in page.tables] == [
        (False, "Table 7: Receipts"),
        (True, "Table 7: Receipts"),
        (True, "Table 7: Receipts"),
        (False, ""),
    ]


def _balance(between: Sequence[Placed], tail: Sequence[Sequence[str]]) -> list[Placed]:
    """A statement, what stands below it, and rows without heads further down."""
    rows = [
        YEARS,
        ["Cash and cash equivalents", "1,204", "1,100", "915"],
        ["Receivables", "310", "290", "280"],
        ["Total assets", "1,514", "1,390", "1,195"],
        ["Total liabilities", "514", "490", "480"],
    ]
    return [(297, 60, "|CONSOLIDATED BALANCE SHEETS"), *grid(90, rows), *between, *grid(260, tail)]


def test_the_second_part_of_a_table_is_under_the_heads_of_the_first(tmp_path: Path) -> None:
    prose = [
        (
            60,
            200 + 12 * line,
            "Commitments and contingencies are described in the notes to these statements in full.",
        )
        for line in range(2)
    ]
    rows = [
        ["Common stock, no par value", "400", "390", "380"],
        ["Retained earnings", "600", "510", "335"],
        ["Total equity", "1,000", "900", "715"],
    ]
    found = tables(tmp_path, _balance([*prose, (60, 245, "Shareholders' equity:")], rows))
    assert [table.heads for table in found] == [tuple(YEARS[1:])] * len(found)
    assert found[-1].rows[-1].label == "Total equity"
    assert found[-1].caption == "CONSOLIDATED BALANCE SHEETS"


def test_a_table_with_a_title_of_its_own_keeps_it(tmp_path: Path) -> None:
    title = [(60, 225, "Table 2: Employees of schools by region (persons)")]
    rows = [
        ["Brno region", "88", "61", "27"],
        ["Ostrava region", "90", "60", "30"],
        ["Zlin region", "70", "40", "30"],
    ]
    by_label = {}
    for table in reversed(tables(tmp_path, _balance(title, rows))):
        by_label.update({row.label: table for row in table.rows})
    other = by_label["Brno region"]
    assert not any(other.heads)
    assert "BALANCE" not in other.caption

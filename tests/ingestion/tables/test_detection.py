"""Tables out of words: rows, columns, heads, captions, what is none, and tables that go on over a page's
end.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.reading.layout import lines_of
from ingestion.reading.pdf import PdfFile
from ingestion.records import Page, Rect, Row, Table, Word
from ingestion.tables.captions import is_unit
from ingestion.tables.detection import MOST_WORDS, continue_tables, find_tables
from ingestion.tables.ruling_lines import Rules
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
                shown = "".join(cell.text.split())
                assert shown in printed or cell.start < cell.end
    return found


def one(path: Path, items: Sequence[Placed]) -> Table:
    found = tables(path, items)
    assert len(found) == 1, found
    return found[0]


def sheet(text: str) -> list[list[str]]:
    """Rows as they are to be printed, each on a line or behind " / ": cells between bars, a label indented by
    its blanks.
    """
    rows = list[list[str]]()
    for line in dedent(text).strip("\n").replace(" / ", "\n").split("\n"):
        label, *values = line.split("|")
        rows.append([label.rstrip(), *(value.strip() for value in values)])
    return rows


def drawn(text: str) -> list[Placed]:
    """Such rows in their usual place."""
    return grid(100, sheet(text))


def below(x: float, top: float, lines: Sequence[str], *, step: float = 12) -> list[Placed]:
    """Lines of text, one below the other."""
    return [(x, top + step * number, line) for number, line in enumerate(lines)]


def level(y: float, texts: Sequence[str], xs: Sequence[float] = (350, 430)) -> list[Placed]:
    """Texts side by side, to the left of these places."""
    return [(x, y, f">{text}") for x, text in zip(xs, texts, strict=True)]


def texts(row: Row) -> list[str]:
    return [cell.text if cell else "None" for cell in row.cells]


def cells(table: Table) -> list[list[str]]:
    return [texts(row) for row in table.rows]


def labels(table: Table) -> list[str]:
    return [row.label for row in table.rows]


def sections(table: Table) -> list[str]:
    return [row.section for row in table.rows]


YEARS = ["", "2021", "2020", "2019"]
STATEMENT = sheet("""
                       | 2021  | 2020  | 2019
    Revenues:
      Products         | 1,204 | 1,100 | (91.5)
      Services         | 310   | —     | 280
        Total revenues | 1,514 | 1,390 | 1,271
    Operating income   | 91    | 84    | 77
""")


def test_a_statement_has_its_caption_unit_heads_sections_and_cells(tmp_path: Path) -> None:
    caption = (297, 60, "|CONSOLIDATED STATEMENTS OF INCOME")
    unit = (297, 73, "|(in millions, except per share amounts)")
    spanning = (430, 105, "|Year ended December 31,")
    table = one(tmp_path, [caption, unit, spanning, *grid(125, STATEMENT)])
    assert table.caption == "CONSOLIDATED STATEMENTS OF INCOME"
    assert table.unit == "(in millions, except per share amounts)"
    assert table.heads == tuple(f"Year ended December 31, > {year}" for year in YEARS[1:])
    assert labels(table) == ["Products", "Services", "Total revenues", "Operating income"]
    assert sections(table) == ["Revenues", "Revenues", "Revenues", ""]
    products, services, *_ = cells(table)
    assert products == ["1,204", "1,100", "(91.5)"]
    assert services == ["310", "—", "280"]


def test_offsets_point_at_what_is_printed(tmp_path: Path) -> None:
    text, _, words = PdfFile(draw(tmp_path / "t.pdf", grid(100, STATEMENT))).words(1)
    (table,) = find_tables(text, words)
    for row in table.rows:
        assert text[row.start : row.end].startswith(row.label)
        for cell in row.cells:
            assert cell is not None
            assert text[cell.start : cell.end] == cell.text


WRITTEN_VALUES = (
    "13,78,323|1 234 567|16 944|(91.5)|- 91.5|−91.5|-1.9%|(0.3)%|$7,879|n/a|nil|..|–|3.0-3.5|1.234,5|12.5*"
).split("|")


@pytest.mark.parametrize("value", WRITTEN_VALUES)
def test_values_as_they_are_written(tmp_path: Path, value: str) -> None:
    written = value.replace("−", "-")
    rows = sheet(f"""
                 | 2021   | 2020
        Outlays  | 71,004 | 69,118
        Receipts | {written} | 1,000
        Balance  | 1,001  | 2,002
    """)
    table = one(tmp_path, grid(100, rows))
    assert texts(table.rows[1])[0] == written


def test_digits_split_by_extraction_are_joined_and_neighbouring_columns_are_not() -> None:
    line = [
        ("Assets", 0.1, 0.2),
        ("1,23", 0.400, 0.432),
        ("4", 0.4325, 0.4405),
        ("412", 0.500, 0.524),
        ("318", 0.560, 0.584),
    ]
    text, words = page_of([line, line])
    table, *_ = find_tables(text, words)
    assert texts(table.rows[0]) == ["1,234", "412", "318"]


def word_after(text: str, word: str, box: Rect, confidence: float | None = None) -> Word:
    """A word that stands where a text has come to its end."""
    return Word(word, box, confidence, len(text), len(text) + len(word))


def words_of(placed: Sequence[tuple[str, Rect]], confidence: float | None = None) -> tuple[str, list[Word]]:
    """A page of words in given boxes."""
    text, words = "", []
    for word, box in placed:
        words.append(word_after(text, word, box, confidence))
        text += word + " "
    return text, words


def page_of(lines: Sequence[Sequence[tuple[str, float, float]]]) -> tuple[str, list[Word]]:
    """A page of words with given sides, one line below the other."""
    text, words = "", []
    for number, line in enumerate(lines):
        top = 0.1 + 0.02 * number
        for word, x0, x1 in line:
            words.append(word_after(text, word, Rect(x0, top, x1, top + 0.012)))
            text += word + " "
        text += "\n"
    return text, words


SIGNED = "|2021|2020 / Net sales|5,134|4,237 / Gross profit|2,100|1,900 / Growth|21.2|18.0"
TOTALS = (
    "|2024|2025 / Revenue|31.0|30.9 / Total revenue|31.0|30.9 / Balance|(3.2)|(2.9) / In crowns million"
    " / Total revenue|130,200|139,360 / Balance|(13,440)|(13,079) / Taxes / Income|9|8 / Total taxes|9|8"
    " / Fees|1|1"
)
NESTED = (
    "|2021|2020 / ASSETS / Current assets: /   Cash|31|36 /   Securities: /     Bonds|9|18"
    " /   Total current assets|40|54 / Goodwill|14|15"
)
BELOW = "|2021|2020 / Trade|79|114 / Unallocated items and losses / |(1,414)|(1,099) / Earnings|11|10"
LOWER = "|2021|2020 / Earnings|27|23 / Decrease in redemption value /   redeemable interest|14|2 / Other|3|4"
LIVES = "|Lives|Gross|Net / Code|2 - 5 years|601|22 / Names|7 - 10 years|54|24 / A|Indefinite||386"
LINES = ["Net Interest Cost as a % of Own Source", "Revenue"]
# What is drawn, and its rows, parted by "/": section, label, cells.
ROWS: dict[str, tuple[list[Placed], str]] = {
    "signs set apart": (
        [*drawn(SIGNED), (290, 115, "$"), (370, 115, "$"), (354, 145, "%"), (434, 145, "%")],
        " | Net sales | $ 5,134 | $ 4,237 / | Gross profit | 2,100 | 1,900 / | Growth | 21.2 % | 18.0 %",
    ),
    "a sign right after a value": (
        [*drawn("|Change|2020 / Footwear|8%|9,684 / Apparel|7%|4,886"), (352, 115, "$"), (352, 130, "$")],
        " | Footwear | 8% | $ 9,684 / | Apparel | 7% | $ 4,886",
    ),
    "a minus far from its figure": (
        [*drawn("|2021|2020 / Interest|47|49 / Cost|31|20 / Tax|1|2"), (331, 130, "-"), (411, 130, "-")],
        " | Interest | 47 | 49 / | Cost | - 31 | - 20 / | Tax | 1 | 2",
    ),
    "a currency far from its figure": (
        [
            *level(80, ["2024", "2023"], (350, 450)),
            *[
                (60, 100, "Cash"),
                (300, 100, "$"),
                (350, 100, ">2,024"),
                (400, 100, "$"),
                (450, 100, ">1,998"),
            ],
            *[(60, 120, "Debt"), (350, 120, ">5,410"), (450, 120, ">5,120")],
        ],
        " | Cash | $ 2,024 | $ 1,998 / | Debt | 5,410 | 5,120",
    ),
    "dashes with their unit": (
        drawn("|2015|2014 / Fixed|4.34%|4.40% / Variable|—%|–% / All|4%|5%"),
        " | Fixed | 4.34% | 4.40% / | Variable | —% | –% / | All | 4% | 5%",
    ),
    "a value as wide as two columns": (
        grid(100, sheet("|Shares|Amount / Opening|4|75 / End||1,234,567,890.12"), rights=(380, 430)),
        " | Opening | 4 | 75 / | End | None | 1,234,567,890.12",
    ),
    "texts in a column": (
        drawn(LIVES),
        " | Code | 2 - 5 years | 601 | 22 / | Names | 7 - 10 years | 54 | 24 / | A | Indefinite | None | 386",
    ),
    "a text in place of a figure": (
        drawn("|2024 / Cars|120 / Trucks|Unlimited / Vans|85 / Carts|15"),
        " | Cars | 120 / | Trucks | Unlimited / | Vans | 85 / | Carts | 15",
    ),
    "figures with their measure": (
        drawn("|2024 / Sales tax|5 per cent / Income tax|10 per cent / Stamp duty|2 per cent"),
        " | Sales tax | 5 per cent / | Income tax | 10 per cent / | Stamp duty | 2 per cent",
    ),
    "years as labels": (
        drawn("June|Assets|Debt / 2005|1 447 094|2 480 943 / 2006|1 626 868|2 707 023"),
        " | 2005 | 1 447 094 | 2 480 943 / | 2006 | 1 626 868 | 2 707 023",
    ),
    "figures on the last or the first line of a label": (
        [
            *grid(95, sheet("|2021|2020 / Net income|500|400")),
            *below(60, 130, ["Amounts reclassified from accumulated", "other comprehensive income"]),
            *[*below(60, 175, LINES), *level(142, ["41", "41"]), *level(175, ["1.9%", "1.9%"])],
            *grid(220, sheet("Total|541|441")),
        ],
        (
            " | Net income | 500 | 400"
            " / | Amounts reclassified from accumulated other comprehensive income | 41 | 41"
            " / | Net Interest Cost as a % of Own Source Revenue | 1.9% | 1.9% / | Total | 541 | 441"
        ),
    ),
    "figures below their label": (
        grid(100, sheet(BELOW), step=13),
        " | Trade | 79 | 114 / | Unallocated items and losses | (1,414) | (1,099) / | Earnings | 11 | 10",
    ),
    "labels that go on in lower case and below the last row": (
        [*drawn(LOWER), *below(60, 175, LINES, step=11), *level(175, ["1.9%", "1.3%"]), (60, 300, "Prose.")],
        (
            " | Earnings | 27 | 23 / | Decrease in redemption value redeemable interest | 14 | 2"
            " / | Other | 3 | 4 / | Net Interest Cost as a % of Own Source Revenue | 1.9% | 1.3%"
        ),
    ),
    "sections by indentation": (
        drawn(NESTED),
        (
            "Current assets | Cash | 31 | 36 / Current assets > Securities | Bonds | 9 | 18"
            " / Current assets | Total current assets | 40 | 54 / | Goodwill | 14 | 15"
        ),
    ),
    "totals end groups but no units": (
        drawn(TOTALS),
        (
            " | Revenue | 31.0 | 30.9 / | Total revenue | 31.0 | 30.9 / | Balance | (3.2) | (2.9)"
            " / In crowns million | Total revenue | 130,200 | 139,360"
            " / In crowns million | Balance | (13,440) | (13,079)"
            " / In crowns million > Taxes | Income | 9 | 8 / In crowns million > Taxes | Total taxes | 9 | 8"
            " / In crowns million | Fees | 1 | 1"
        ),
    ),
}


@pytest.mark.parametrize(("items", "rows"), ROWS.values(), ids=ROWS)
def test_rows_have_their_sections_labels_and_cells(tmp_path: Path, items: list[Placed], rows: str) -> None:
    table = one(tmp_path, items)
    assert [(row.section, row.label, *texts(row)) for row in table.rows] == case_rows(rows.replace("/", "\n"))


FOUR, FIVE = (290, 370, 450, 530), (315, 350, 410, 460, 510)
LEVELS = [["Level 1", "1,000", "(5)", "995"], ["Level 2", "900", "(8)", "892"]]
LOSSES = [["", "Gross", "Losses", "Net"], *LEVELS]
CASH = [["Cash", "1,000", "805", "995"], ["Debt", "900", "708", "892"]]
NAMES = [["Trade names", "54", "24", "53", "23"], ["Other", "19", "3", "18", "4"]]
RATES = sheet("|2022|2021|2022|2021 / Discount rate|5.2%|3.0%|5.2%|2.9% / Increases|3.0%|3.0%|N/A|N/A")
FAIR = sheet("|Amount|Total|Level 1|Level 2|Level 3 / Cash|1,000|995|600|300|95 / Bonds|900|892|500|300|92")
AT_END = "December 31, 2016"
# What stands above and in the rows, and the heads.
HEADED: dict[str, tuple[list[Placed], str]] = {
    "stacked and spanning": (
        [
            *level(106, ["amount", "Net", "amount", "Net"], FOUR),
            *level(95, ["Gross", "Gross"], (290, 450)),
            *[(330, 80, "|2022"), (490, 80, "|2021")],
            *grid(125, NAMES, rights=FOUR),
        ],
        "2022 > Gross amount | 2022 > Net | 2021 > Gross amount | 2021 > Net",
    ),
    "over three": (
        [(410, 80, "|Fair value of assets"), *grid(100, LOSSES)],
        "Fair value of assets > Gross | Fair value of assets > Losses | Fair value of assets > Net",
    ),
    "first line of one": (
        [(430, 89, ">Accumulated"), *grid(100, LOSSES)],
        "Gross | Accumulated Losses | Net",
    ),
    "first line above a period": (
        [(430, 89, ">Average"), *grid(100, [["", "May 29, 2022", "Fiscal 2022", "May 30, 2021"], *CASH])],
        "May 29, 2022 | Average Fiscal 2022 | May 30, 2021",
    ),
    "of a comparison": (
        [(430, 89, ">2022 vs."), *grid(100, [["", "2022", "2021", "2021"], *CASH])],
        "2022 | 2022 vs. 2021 | 2021",
    ),
    "over periods of one kind": (
        [(430, 89, ">Revenue"), *grid(100, [YEARS, *CASH])],
        "Revenue > 2021 | Revenue > 2020 | Revenue > 2019",
    ),
    "axis of a chart above": (
        [*level(80, YEARS[1:], (320, 400, 480)), *grid(100, [YEARS, *CASH])],
        "2021 | 2020 | 2019",
    ),
    "best over the middle": (
        [(394, 70, f"|{AT_END}"), (412, 85, "|Fair Value"), *grid(105, FAIR, rights=FIVE)],
        f"{AT_END} > Amount | " + " | ".join(f"{AT_END} > Fair Value > {head}" for head in FAIR[0][2:]),
    ),
    "over years that repeat": (
        [*level(85, ["Pension", "Health Care"], (310, 470)), *grid(100, RATES, rights=FOUR)],
        "Pension > 2022 | Pension > 2021 | Health Care > 2022 | Health Care > 2021",
    ),
    "period over the labels": (
        grid(100, [["Years ended December 31,", *YEARS[1:]], *CASH]),
        " | ".join(f"Years ended December 31, > {year}" for year in YEARS[1:]),
    ),
}


@pytest.mark.parametrize(("items", "heads"), HEADED.values(), ids=HEADED)
def test_heads_stand_over_their_columns(tmp_path: Path, items: list[Placed], heads: str) -> None:
    assert " | ".join(one(tmp_path, items).heads) == heads


def test_period_heads_of_budgets(tmp_path: Path) -> None:
    rows = [["Taxation", "692", "729", "778"], ["GSP", "16 944", "17 637", "18 349"]]
    items = [*grid(145, rows), *below(297, 65, ["|Table 1.2.4", "|General Government Sector"])]
    items += below(350, 100, [">2004-05", ">Est. Out.", ">$m"], step=13)
    items += below(430, 100, [">2005-06", ">Budget", ">$m"], step=13)
    items += below(510, 100, [">2006-07", ">Estimate", ">$m"], step=13)
    table = one(tmp_path, items)
    assert table.heads == ("2004-05 Est. Out. $m", "2005-06 Budget $m", "2006-07 Estimate $m")
    assert table.caption == "Table 1.2.4 General Government Sector"
    assert texts(table.rows[1]) == ["16 944", "17 637", "18 349"]


PERIOD_HEADS = (
    "FY2018|Q3 2021|June 30, 2020|2017-18 Actual|2024-25(BE)|Budget 2019/20|Revised Estimate".split("|")
)


@pytest.mark.parametrize("head", PERIOD_HEADS)
def test_period_heads_of_all_kinds(tmp_path: Path, head: str) -> None:
    table = one(tmp_path, grid(100, [["", *[head] * 3], *CASH], rights=(330, 420, 510)))
    assert table.heads == (head, head, head)


def test_a_column_of_notes_has_its_head(tmp_path: Path) -> None:
    rows = sheet("|Note|2021|2020 / Revenue|2|1,000|1,100 / Costs|3|(900)|(950) / Profit||100|150")
    table = one(tmp_path, grid(100, rows))
    assert table.heads == ("Note", "2021", "2020")
    assert cells(table) == [["2", "1,000", "1,100"], ["3", "(900)", "(950)"], ["None", "100", "150"]]


def test_the_unit_may_stand_over_the_labels_or_in_the_introduction(tmp_path: Path) -> None:
    rows = sheet("(Rs. in crore)|2021|2020 / Tax|13,78,323|12,00,000 / Fees|1,000|900")
    assert one(tmp_path, grid(100, rows)).unit == "(Rs. in crore)"
    rows[0][0] = ""
    introduction = "Net sales by division were as follows (in thousands):"
    table = one(tmp_path, [(60, 80, introduction), *grid(100, rows)])
    assert table.unit == "(in thousands)"
    assert table.caption == introduction


@pytest.mark.parametrize(
    "heads", [("2024", "2023"), ("31 December 2024", "31 December 2023"), ("H1 24", "H1 23")]
)
@pytest.mark.parametrize(
    "corner",
    ["CHF", "€", "in Mio. €", "NOK 1 000", "CHF 1'000", "1.000 EUR", "TEUR", "000s", "Thousand lines"],
)
def test_a_unit_in_the_corner_belongs_to_no_head(tmp_path: Path, corner: str, heads: tuple[str, str]) -> None:
    rows = [(corner, *heads), ("Education", "412,480", "398,112"), ("Health", "288,914", "279,455")]
    table = one(tmp_path, grid(100, rows, rights=(350, 480)))
    assert (table.unit, table.heads) == (corner, heads)
    assert labels(table) == ["Education", "Health"]


def test_two_tables_with_captions_stay_two(tmp_path: Path) -> None:
    rows = [["", "2021", "2020"], ["Tax", "1", "2"], ["Fees", "3", "4"]]
    receipts = [(60, 80, "Table 1: Receipts"), *grid(95, rows)]
    payments = [(60, 150, "Table 2: Payments"), *grid(165, rows)]
    captions = [table.caption for table in tables(tmp_path, [*receipts, *payments])]
    assert captions == ["Table 1: Receipts", "Table 2: Payments"]


PROSE = (
    "Revenue increased 18% to $192,052 in 2021, driven by a 16% increase in comparable sales and by new",
    "warehouses opened in 2020 and 2021; membership fees rose 9% to $3,877. Net income was $5,007, or",
    "$11.27 per share, against $4,002, or $9.02, in 2020. A dividend of $10.00 was paid in December",
    "2020 and the rate was raised from $0.70 to $0.79 in April 2021.",
)
CONTENTS = [["Introduction", "1"], ["Outlook", "4"], ["Revenue", "9"], ["Debt", "17"], ["Annex", "32"]]
LAWS = sheet("Law passed||1947 / First order|2012| / Second order||2016 / Third order|2020|")
LEFT = ["The committee met in June and held", "the rate at 4.5 per cent as growth", "slowed to 2.1"]
RIGHT = (
    "2024 saw prices fall by a third of|their rise, while wages rose 5|per cent over the year before it"
).split("|")
MET = ["The committee met in June it", "It held the rate as growth it", "slowed to the lowest pace it"]
ITEMS = [f"({number}) Item of the list" for number in range(8)]
NO_TABLES: dict[str, list[Placed]] = {
    "prose with figures": below(60, 100, PROSE * 4, step=13),
    "list of contents": grid(100, CONTENTS, rights=(530,)),
    "numbered list": [
        *below(60, 100, ["1.", "2.", "3."], step=15),
        *below(80, 100, ["First recommendation", "Second one", "Third"], step=15),
    ],
    "time line": grid(100, LAWS),
    "columns of prose": [*below(50, 100, LEFT * 5), *below(310, 100, RIGHT * 5)],
    "chart": [
        *below(100, 100, [f">{100 - 20 * number}" for number in range(6)], step=20),
        *((160 + 50 * n, 105 + 20 * n, f"|{37 + n}.4") for n in range(5)),
        *((160 + 50 * n, 215, f"|{2019 + n}") for n in range(5)),
    ],
    "prose beside an axis": [
        *below(50, 100, MET * 4),
        *below(400, 103, [f">{7.25 - number / 4}" for number in range(8)], step=16.7),
    ],
    "values strewn over columns of prose": [
        *below(50, 100, ITEMS, step=13),
        *below(250, 100, [f">{9630 - 7 * number}" for number in range(0, 8, 2)], step=26),
        *below(300, 100, ["unless it is listed in another schedule of it"] * 8, step=13),
    ],
}


@pytest.mark.parametrize("items", NO_TABLES.values(), ids=NO_TABLES)
def test_what_only_looks_like_a_table_is_none(tmp_path: Path, items: list[Placed]) -> None:
    assert tables(tmp_path, items) == []


def test_a_single_column_needs_three_rows(tmp_path: Path) -> None:
    rows = [["For", "1,125,448"], ["Against", "65,112"], ["Abstain", "2,556"]]
    table = one(tmp_path, grid(100, rows))
    assert cells(table) == [["1,125,448"], ["65,112"], ["2,556"]]
    assert tables(tmp_path, grid(100, rows[:2])) == []


def test_page_numbers_and_notes_are_no_rows(tmp_path: Path) -> None:
    note = (297, 205, "|See accompanying notes to the statements.")
    number = (297, 800, "|38")
    table = one(tmp_path, [*grid(100, STATEMENT), note, number])
    assert table.rows[-1].label == "Operating income"


def read_pages(path: Path, *pages: Sequence[Placed]) -> list[Page]:
    pdf = PdfFile(draw(path / "pages.pdf", *pages))
    read = []
    for number in range(1, len(pages) + 1):
        text, _, words = pdf.words(number)
        lines, found = lines_of(text, words), find_tables(text, words)
        read.append(Page(number, text, lines=lines, tables=tuple(found)))
    return read


SHORT = sheet("Tax|11|22|30 / Fees|35|41|52")


def test_a_table_goes_on_over_the_page_end_with_its_heads(tmp_path: Path) -> None:
    head: list[Placed] = [(60, 70, "Table 7: Outlays"), (60, 83, "(in millions)")]
    long = [[f"Programme {chr(65 + n)}", f"{n}01", f"{n}02", f"{n}03"] for n in range(1, 20)]
    more = grid(80, long)
    pages = read_pages(tmp_path, [*head, *grid(110, [YEARS, *long])], more, more)
    first, second, third = (page.tables[0] for page in continue_tables(pages))
    assert not first.continued
    assert second.continued
    assert third.continued
    assert second.heads == third.heads == ("2021", "2020", "2019")
    assert second.caption == "Table 7: Outlays"
    assert third.unit == "(in millions)"


def test_a_table_goes_on_below_the_heading_of_a_group(tmp_path: Path) -> None:
    first = [(60, 70, "Balance sheet"), (60, 83, "(in millions)"), *grid(110, [YEARS, *SHORT])]
    group = [(60, 70, "Liabilities:"), *grid(85, SHORT)]
    other = [(60, 70, "Liabilities in 2022 (in thousands):"), *grid(85, SHORT)]
    pages = read_pages(tmp_path, first, group, other)
    second, third = (page.tables[0] for page in continue_tables(pages)[1:])
    assert second.heads == ("2021", "2020", "2019")
    assert second.caption == "Balance sheet"
    assert second.unit == "(in millions)"
    assert set(sections(second)) == {"Liabilities"}
    assert not third.continued
    assert not any(third.heads)


def test_lines_of_prose_beside_a_table_name_no_rows(tmp_path: Path) -> None:
    prose = [
        "announced today, are available to both",
        "local and foreign investors without",
        "exception, as was said in the House",
        "229. To raise revenue, I propose",
    ]
    bands = [f"Above {band} to {band + 200}" for band in (150, 300, 500, 800)]
    items = below(60, 100, prose, step=15)
    items += [(320, 85, "Amount range"), (560, 85, ">Levy")]
    items += below(320, 100, bands, step=15)
    items += below(560, 100, [">0.10", ">0.20", ">0.30", ">0.40"], step=15)
    found = one(tmp_path, items)
    for row in found.rows:
        assert row.end - row.start < 40
    assert found.caption == "Amount range"
    assert found.heads == ("Levy",)
    assert labels(found)[:2] == ["Above 150 to 350", "Above 300 to 500"]
    assert sections(found)[:2] == ["", ""]
    assert cells(found)[:2] == [["0.10"], ["0.20"]]


def test_a_line_below_one_head_belongs_to_it(tmp_path: Path) -> None:
    rights = (350, 430, 510)
    rows = sheet("""
        Taxation      | $ 103,870 | $ 104,798 | $ 97,040
        Grants        | 6,105     | 10,051    | 7,574
        Total revenue | 241,792   | 243,424   | 222,253
    """)
    items = grid(128, rows, rights=rights)
    items += level(70, ["Budget", "Actual", "Actual"], rights)
    items += level(83, ["2024", "2024", "2023"], rights)
    items += [(60, 55, "Statement of Operations"), (330, 96, "|(note 16)"), (60, 112, "Revenue:")]
    found = one(tmp_path, items)
    assert found.heads == ("Budget 2024 (note 16)", "Actual 2024", "Actual 2023")
    assert found.caption == "Statement of Operations"
    assert found.rows[0].section == "Revenue"


def test_a_table_of_its_own_is_not_continued(tmp_path: Path) -> None:
    heads = ["", "2025", "2026", "2027"]
    titled = [(60, 70, "Table 8: Receipts"), *grid(110, [heads, *SHORT])]
    below_prose = [*below(60, 60, PROSE * 2, step=13), *grid(200, SHORT)]
    set_in = grid(80, SHORT, left=200)
    for second in (titled, below_prose, set_in):
        pages = read_pages(tmp_path, grid(110, [YEARS, *SHORT]), second)
        assert continue_tables(pages) == pages


WORD_KINDS = case_rows("""
1,234   | v
(8)     | v
4,156¹,² | v
4,156ᵇ  | v
)⁷      | u
%¹,²    | u
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


SIDE = st.floats(-0.5, 1.5, width=32) | st.sampled_from([0.1, 0.5, 0.9])
TYPICAL = "2021|1,234|(5)|$|%|—|-|Total|Revenue:|(in millions)|....|31,|a|\ufffe|Table 1|II.|Nil|(i)|5,000/-"
WORD = st.sampled_from(TYPICAL.split("|")) | st.text(min_size=1, max_size=12)
BOX = st.builds(Rect, SIDE, SIDE, SIDE, SIDE)
RULES = st.lists(BOX, max_size=30).map(tuple)


@given(st.lists(st.tuples(WORD, BOX), max_size=60), RULES, RULES, st.booleans())
def test_any_words_with_any_boxes_and_rules_are_read(
    items: list[tuple[str, Rect]], across: tuple[Rect, ...], down: tuple[Rect, ...], scanned: bool
) -> None:
    text, words = words_of(items, 50.0 if scanned else None)
    found = tuple(find_tables(text, words, lambda: Rules(across, down)))
    for table in found:
        for row in table.rows:
            assert len(table.heads) == len(row.cells)
            assert 0 <= row.start <= row.end <= len(text)
            for cell in filter(None, row.cells):
                assert 0 <= cell.start < cell.end <= len(text)
    first, second = Page(1, text, tables=found), Page(2, text, tables=found)
    assert len(continue_tables([first, second])) == 2


GRID_CELL = st.sampled_from(["", "12", "(3.4)", "$ 5", "n/a", "2020", "Tax", "Total net income of the year:"])
GRID_ROW = st.lists(GRID_CELL, min_size=2, max_size=6)


@given(st.lists(GRID_ROW, max_size=12))
def test_any_grid_is_read(rows: list[list[str]]) -> None:
    lines = []
    for row in rows:
        line = []
        for column, cell in enumerate(row):
            for place, word in enumerate(cell.split()):
                left = 0.1 + 0.14 * column + 0.03 * place
                line.append((word, left, left + 0.02))
        lines.append(line)
    for table in find_tables(*page_of(lines)):
        for found in table.rows:
            assert len(found.cells) == len(table.heads)


def test_words_without_offsets_and_hostile_pages_are_left_alone() -> None:
    unplaced = Word("12", Rect(0, 0, 0.1, 0.1))
    assert find_tables("", [unplaced] * 5) == []
    digit = Word("1", Rect(0.1, 0.1, 0.2, 0.2), None, 0, 1)
    too_many = MOST_WORDS + 1
    assert find_tables("1 " * too_many, [digit] * too_many) == []


@pytest.mark.timed
def test_time_grows_in_step_with_the_words() -> None:
    def seconds(rows: int) -> float:
        lines = []
        for number in range(rows):
            line = [(f"Label{number}", 0.05, 0.2)]
            for column in range(8):
                line.append((f"{number}.{column}", 0.3 + 0.08 * column, 0.34 + 0.08 * column))
            lines.append(line)
        text, tall = page_of(lines)
        words = []
        for word in tall:
            box = word.box
            flat = Rect(box.x0, box.y0 / rows, box.x1, box.y1 / rows)
            words.append(Word(word.text, flat, None, word.start, word.end))
        best = 99.0
        for _ in range(3):
            start = time.process_time()
            table, *_ = find_tables(text, words)
            assert len(table.rows) == rows
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


def test_footnote_marks_are_neither_values_nor_rows() -> None:
    def mark(text: str, x0: float, y0: float) -> tuple[str, Rect]:
        return text, Rect(x0, y0, x0 + 0.006 * len(text), y0 + 0.007)

    placed = [
        mark("(1)", 0.203, 0.099),
        mark("2", 0.526, 0.099),
        mark("(3)", 0.56, 0.129),
        mark("(4)", 0.3, 0.15),
    ]
    for number, name in enumerate(("Wages", "Rents", "Total")):
        top, bottom = 0.1 + 0.03 * number, 0.112 + 0.03 * number
        placed.append((name, Rect(0.1, top, 0.2, bottom)))
        placed.append((f"{number}04", Rect(0.5, top, 0.524, bottom)))
        placed.append((f"{number}14", Rect(0.7, top, 0.724, bottom)))
    text, words = words_of(sorted(placed, key=lambda item: item[1].x0))
    (table,) = find_tables(text, words)
    assert labels(table) == ["Wages (1)", "Rents", "Total"]
    assert cells(table) == [["004", "014"], ["104", "114"], ["204", "214"]]


def test_prose_parts_two_tables(tmp_path: Path) -> None:
    first, second = grid(110, SHORT), grid(155, SHORT)
    prose = (60, 140, "The effect of all this on the outturn of the year was small but not nothing at all")
    parted = tables(tmp_path, [*first, prose, *second])
    assert [len(table.rows) for table in parted] == [2, 2]
    together = one(tmp_path, [*first, *second])
    assert len(together.rows) == 4


def test_a_table_that_says_so_or_repeats_its_caption_is_continued(tmp_path: Path) -> None:
    bare = grid(100, [YEARS, *SHORT])
    page = [(60, 70, "Table 7: Receipts"), *bare]
    again = [(60, 70, "Table 7: Receipts (continued)"), *bare]
    read = continue_tables(read_pages(tmp_path, page, again, page, bare))
    found = [(table.continued, table.caption) for page in read for table in page.tables]
    caption = "Table 7: Receipts"
    assert found == [(False, caption), (True, caption), (True, caption), (False, "")]


def _balance(between: Sequence[Placed], tail: Sequence[Sequence[str]]) -> list[Placed]:
    """A statement, what stands below it, and rows without heads further down."""
    rows = sheet("""
                                  | 2021  | 2020  | 2019
        Cash and cash equivalents | 1,204 | 1,100 | 915
        Receivables               | 310   | 290   | 280
        Total assets              | 1,514 | 1,390 | 1,195
        Total liabilities         | 514   | 490   | 480
    """)
    return [(297, 60, "|CONSOLIDATED BALANCE SHEETS"), *grid(90, rows), *between, *grid(260, tail)]


def test_the_second_part_of_a_table_is_under_the_heads_of_the_first(tmp_path: Path) -> None:
    prose = "Commitments and contingencies are described in the notes to these statements in full."
    between = [*below(60, 200, [prose, prose]), (60, 245, "Shareholders' equity:")]
    rows = sheet("""
        Common stock, no par value | 400   | 390 | 380
        Retained earnings          | 600   | 510 | 335
        Total equity               | 1,000 | 900 | 715
    """)
    found = tables(tmp_path, _balance(between, rows))
    for table in found:
        assert table.heads == tuple(YEARS[1:])
    *_, last = found
    assert last.rows[-1].label == "Total equity"
    assert last.caption == "CONSOLIDATED BALANCE SHEETS"


def test_a_table_with_a_title_of_its_own_keeps_it(tmp_path: Path) -> None:
    title = [(60, 225, "Table 2: Employees of schools by region (persons)")]
    rows = sheet("Brno region|88|61|27 / Ostrava region|90|60|30 / Zlin region|70|40|30")
    by_label = {}
    for table in reversed(tables(tmp_path, _balance(title, rows))):
        by_label.update({row.label: table for row in table.rows})
    other = by_label["Brno region"]
    assert not any(other.heads)
    assert "BALANCE" not in other.caption

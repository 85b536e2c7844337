"""Figures, periods and scale lines: examples from budget papers and filings, and properties that hold for
any text.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingestion.language.numbers import (
    Figure,
    find_figures,
    governing_mark,
    magnitude,
    mark_beside,
    mark_of_table,
    passage_scale,
    same_value,
    scale_marks,
    stated_mark,
    units_agree,
)
from ingestion.language.periods import find_periods, periods_agree
from ingestion.records import Cell, Rect, Row, Table
from tests.timing import growth


def only(text: str) -> Figure:
    """The one figure of a text."""
    (figure,) = find_figures(text)
    return figure


def values(text: str) -> list[float]:
    return [figure.value for figure in find_figures(text)]


@pytest.mark.parametrize(
    ("text", "value", "unit", "scale"),
    [
        ("$ 1,577", 1577, "USD", 1),
        ("$1,577 million", 1577, "USD", 1e6),
        ("US$4.5 bn", 4.5, "USD", 1e9),
        ("$120B", 120, "USD", 1e9),
        ("A$91.5m", 91.5, "AUD", 1e6),
        ("RM 2.3 billion", 2.3, "MYR", 1e9),
        ("RM103.8 million", 103.8, "MYR", 1e6),
        ("R50.3 billion", 50.3, "ZAR", 1e9),
        ("R1 250 million", 1250, "ZAR", 1e6),
        ("N1,200", 1200, "NGN", 1),
        ("K2,500", 2500, "ZMW", 1),
        ("K1.8 billion", 1.8, "ZMW", 1e9),
        ("2,500 kwacha", 2500, "ZMW", 1),
        ("USD422 billion", 422, "USD", 1e9),
        ("Rs 50,000", 50_000, "INR", 1),
        ("Rs. 50,000", 50_000, "INR", 1),
        ("50,000/-", 50_000, "INR", 1),
        ("₹13,78,323 crore", 1_378_323, "INR", 1e7),
        ("` 60 thousand crore", 60, "INR", 1e10),
        ("₹2.02\nlakh crore", 2.02, "INR", 1e12),
        ("7.7 lakh", 7.7, None, 1e5),
        ("500 million Czech crowns", 500, "crowns", 1e6),
        ("4.5 billion USD", 4.5, "USD", 1e9),
        ("91.5m", 91.5, None, 1e6),
        ("3 tn", 3, None, 1e12),
        ("1\u00a0234\u00a0567", 1_234_567, None, 1),
        ("1\u2009234", 1_234, None, 1),
        ("RM 1 234 567", 1_234_567, "MYR", 1),
        ("9 905 million", 9_905, None, 1e6),
        (".5", 0.5, None, 1),
        ("1.25x", 1.25, "x", 1),
        ("24", 24, None, 1),
        ("$2018", 2018, "USD", 1),
        ("2,018", 2018, None, 1),
        ("4,5 million", 4.5, None, 1e6),
    ],
)
def test_amount(text, value, unit, scale):
    figure = only(text)
    assert (figure.value, figure.unit, figure.scale, figure.text) == (value, unit, scale, text)


@pytest.mark.parametrize(
    ("text", "value", "unit", "kind"),
    [
        ("3.0%", 3, "%", "percent"),
        ("3.0 per cent", 3, "%", "percent"),
        ("2 \nper cent", 2, "%", "percent"),
        ("12.5 percent", 12.5, "%", "percent"),
        ("2¼ percent", 2.25, "%", "percent"),
        ("5-1/4 percent", 5.25, "%", "percent"),
        ("0.4 percentage points", 0.4, "percentage points", "points"),
        ("¼ percentage point", 0.25, "percentage points", "points"),
        ("0.25 pp", 0.25, "percentage points", "points"),
        ("25 basis points", 25, "basis points", "points"),
        ("25 bps", 25, "basis points", "points"),
        ("24", 24, None, None),
    ],
)
def test_percent_kinds(text, value, unit, kind):
    figure = only(text)
    assert (figure.value, figure.unit, figure.percent) == (value, unit, kind)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(91.5)", -91.5),
        ("- 91.5", -91.5),
        ("-91.5", -91.5),
        ("−91.5", -91.5),
        ("-$91.5", -91.5),
        ("$-91.5", -91.5),
        ("$ (1,137)", -1137),
        ("($91.5)", -91.5),
        ("(2.0%)", -2),
        ("(2.0)%", -2),
        ("(91.5) million", -91.5),
        ("(-) 50 basis points", -50),
        ("(+) 25 basis points", 25),
        ("±2 per cent", 2),
        ("minus 40 million", -40),
        ("it averaged minus $4.5 million", -4.5),
        ("a negative 2.1 per cent", -2.1),
        ("plus or minus 25 basis points", 25),
        ("revenue minus 40 million", 40),
        ("a non-negative 4", 4),
    ],
)
def test_sign(text, value):
    assert values(text) == [value]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GGS Operating Result 154.6 70.5 52.2 - 91.5 0.9 39.3", [154.6, 70.5, 52.2, -91.5, 0.9, 39.3]),
        ("Net Interest Cost - 31 - 20 - 8 - 2 - 2\n", [-31, -20, -8, -2, -2]),
        ("Other income (expense), net (431) 346 61", [-431, 346, 61]),
        ("2025-26 -100 -65 -49", [-100, -65, -49]),
        ("a band of 2-6 per cent", [2, 6]),
        ("10 - 20 people", [10, 20]),
        ("between 4% – 4.5%", [4, 4.5]),
        ("4.8 - 4.4 = 0.4", [4.8, 4.4, 0.4]),
        ("- 4.5% growth in 2026\n- 24 municipalities", [4.5, 24]),
        ("the deficit (4.4%) fell", [4.4]),
        ("2.3 million persons (20%)\n in 2023", [2.3, 20]),
        ("returns, (3) faster returns, and (4) almost 99 per cent", [99]),
        ("12 345 678", [12, 345, 678]),
        ("was minus 2.1 percent in 2022, or from minus 2 to minus 1", [-2.1, -2, -1]),
        ("4.8 minus 4.4 = 0.4, and 0.4 percent - minus 2.1 percent = 2.5", [4.8, 4.4, 0.4, 0.4, -2.1, 2.5]),
        ("pays the salaries of 9 300 health workers", [9300]),
        ("Total broadband 904 328 nm, domestic 120 300 abroad", [904, 328, 120, 300]),
        ("12(1) 5,000(2) 7 (1)", [12, 5000, 7, -1]),
        ("9(3)%", [9, -3]),
        (
            "will be R560 a month, the foster grant R1 250, a ticket R12.50 and a litre R5 per litre",
            [560, 1250, 12.5, 5],
        ),
        ("it increases by R130 to R2 315", [130, 2315]),
        ("R2 315 for the old, R20 for a child, on route R300 R21 Road, by R134a", [2315, 20]),
        ("due 2029 161 163\nYen-denominated 7 12\nPercent of revenue", [161, 163, 7, 12]),
        ("an engine of 1800cc, a 50-year loan, a plant of 500MW", [1800, 50, 500]),
    ],
)
def test_signs_ranges_and_cells_in_context(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "in 2018, FY2018, FY 18, 2024-25, 2025/26, 2018–2020 and Q1:2025-26",
        "30 June 2005, June 30, 2016, 2026-03-31, 31.03.2026, 12/31/2018, 01-Apr-25 and August 29,\n2021",
        "[S1] [S1-7f3a] [S1-7f3a, S2-7f3a] S2-ab12cd [12]",
        (
            "section 3.2.1, Table 3, Tables 3 and 4, page 7, p. 7, pp. 104-106, Article 5, Note 12, Section "
            "194J, Page 1 of 23"
        ),
        "1. First\n2) Second\n12. Twelfth\n**3.** Third",
        "the 1st, 2nd, 3rd and 18th",
        "R2 R50 N95 PR50.3 K-12",
        "S1,200 of A45,300",
        "an R50 note, the R130, drove to R21, route R300 of R134a, model R560 and R600-B of R350 Motors",
        "Q1 10-K COVID-19 FY24 B40 194J 194LA IFRS 9 Group 3 Act 62 10:30",
        "https://example.org/2016/10.20?x=5 report_2025.pdf someone5@example.org",
        "2022 Percent 2020 % Change",
        "% Change 2022-2021",
        "12345678901234567890123",
        "0800 00",
    ],
)
def test_not_amounts(text):
    assert find_figures(text) == []


def test_a_date_is_not_an_amount_but_the_amount_beside_it_is():
    assert values("On 30 June 2005 the 24 municipalities of Group 3 owed $5 million (Note 12).") == [24, 5]
    assert values("a cut in March 25 bps larger") == [25]


def test_partners_share_unit_scale_and_currency():
    low, high = find_figures("between 4 and 4.5%")
    assert (low.unit, low.percent, high.percent) == ("%", "percent", "percent")
    low, high = find_figures("from ` 3 lakh to 5 lakh")
    assert (high.unit, high.scale) == ("INR", 1e5)
    low, high = find_figures("$10–$12 billion")
    assert (low.scale, high.scale) == (1e9, 1e9)
    count, money = find_figures("24 and $5 million")
    assert (count.unit, count.scale) == (None, 1)
    assert money.scale == 1e6


def test_the_nearest_period_of_the_sentence_belongs_to_a_figure():
    first, second, third = find_figures(
        "In 2018 revenue was 5.1 million and in FY2019 6.2 million. It fell by 3%"
    )
    assert (first.period, second.period, third.period) == ("2018", "FY2019", None)
    assert only("47.16 (RE 2024-25)").period == "2024-25"


@pytest.mark.parametrize(
    ("text", "start", "end", "kind"),
    [
        ("2018", 2018, 2018, "calendar"),
        ("FY2018", 2018, 2018, "fiscal"),
        ("FY18", 2018, 2018, "fiscal"),
        ("CY24", 2024, 2024, "calendar"),
        ("fiscal year 2018", 2018, 2018, "fiscal"),
        ("FY2018-19", 2018, 2019, "fiscal"),
        ("2024-25", 2024, 2025, "fiscal"),
        ("2024–25", 2024, 2025, "fiscal"),
        ("2026-\n27", 2026, 2027, "fiscal"),
        ("2025/26", 2025, 2026, "fiscal"),
        ("1999-00", 1999, 2000, "fiscal"),
        ("2018-2020", 2018, 2020, "calendar"),
        ("2010-15", 2010, 2015, "calendar"),
        ("Q1:2025-26", 2025, 2026, "quarter"),
        ("Q3 FY2024", 2024, 2024, "quarter"),
        ("1Q25", 2025, 2025, "quarter"),
        ("second quarter of 2025", 2025, 2025, "quarter"),
        ("Mar-26", 2026, 2026, "calendar"),
    ],
)
def test_periods(text, start, end, kind):
    (period,) = find_periods(f"as of {text}, it")
    assert (period.text, period.start_year, period.end_year, period.kind) == (text, start, end, kind)


@pytest.mark.parametrize("text", ["$2018", "2018%", "2018 million", "12018", "2,018", "USD 2018", "v2018"])
def test_not_periods(text):
    assert find_periods(text) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1,577 million", "1.577 billion", True),
        ("$1,577 million", "$ 1.577 bn", True),
        ("1,00,000 crore", "1 lakh crore", True),
        ("25 basis points", "0.25 percentage points", True),
        ("3%", "3.00 per cent", True),
        ("$5", "A$5", True),
        ("US$5", "A$5", False),
        ("RM5", "$5", False),
        ("5", "RM5", True),
        ("500 million crowns", "CZK 500 million", True),
        ("1,577 million", "1,578 million", False),
        ("1,577 million", "1,577 billion", False),
        ("91.5", "(91.5)", False),
        ("2.5%", "2.5 percentage points", False),
        ("2.5%", "2.5", False),
        ("25 bps", "25 percentage points", False),
    ],
)
def test_same_value(one, other, same):
    assert same_value(only(one), only(other)) is same
    assert same_value(only(other), only(one)) is same


@pytest.mark.parametrize(
    ("shown", "exact", "same"),
    [
        ("4.5 billion", "4,512 million", True),
        ("4.5 billion", "4,551 million", False),
        ("280,000", "279,512", True),
        ("281,000", "279,512", False),
        ("7.4%", "7.4003%", True),
        ("-4.5 billion", "4,512 million", False),
        ("4,512 million", "4.5 billion", False),
        ("100", "140", False),
    ],
)
def test_only_the_shown_figure_may_be_rounded(shown, exact, same):
    assert same_value(only(shown), only(exact), rounding=True) is same
    assert not same_value(only(shown), only(exact))


@pytest.mark.parametrize(
    ("text", "scale", "unit"),
    [
        ("(in millions)", 1e6, None),
        ("(In\u00a0millions, except per share amounts) 2020 2019", 1e6, None),
        ("(dollars in millions, except per share data)", 1e6, "USD"),
        ("crowns million", 1e6, "crowns"),
        ("(million crowns)", 1e6, "crowns"),
        ("₹ crore", 1e7, "INR"),
        ("(₹ Lakh crore)", 1e12, "INR"),
        ("Rs. in crore", 1e7, "INR"),
        ("in thousands of dollars", 1e3, "USD"),
        ("In thousands of U.S. dollars", 1e3, "USD"),
        ("$ million", 1e6, "USD"),
        ("$m $m $m", 1e6, "USD"),
        ("30 June $'000 $'000", 1e3, "USD"),
        ("RM million", 1e6, "MYR"),
        ("RM'000", 1e3, "MYR"),
        ("US$ bn", 1e9, "USD"),
        ("(EUR million)", 1e6, "EUR"),
        ("(Thousands)", 1e3, None),
        ("(000s)", 1e3, None),
        ("($ in Billions, except EPS)", 1e9, "USD"),
        ("Answer in USD millions.", 1e6, "USD"),
        ("(Per cent)\n(in thousands)", 1e3, None),
        ("(% of GDP)", 1, "%"),
        ("Variation (Percentage Points)", 1, "percentage points"),
        ("(Basis points)", 1, "basis points"),
        ("spent in millions of cases", 1, None),
        ("a cost of $5 million", 1, None),
        ("", 1, None),
    ],
)
def test_passage_scale(text, scale, unit):
    assert passage_scale(text) == (scale, unit)


def test_a_mark_governs_from_where_it_stands_and_a_mark_within_a_row_only_its_row():
    text = "(in thousands)\nRevenue 5 6\nShares (in millions) 7 8\nCosts 9\n(₹ crore)\nTotal 10"
    marks = scale_marks(text)
    governed = {value: governing_mark(marks, text.index(f" {value}") + 1) for value in (5, 7, 9, 10)}
    assert {value: mark.scale for value, mark in governed.items() if mark} == {
        5: 1e3,
        7: 1e6,
        9: 1e3,
        10: 1e7,
    }
    assert governing_mark(marks, 0) is None


def test_what_is_excepted_from_a_scale_has_no_say_over_the_rest():
    text = "(In millions, except number of shares which are reflected in thousands and par value)\nCash 5"
    assert [mark.scale for mark in scale_marks(text)] == [1e6]


@pytest.mark.parametrize(
    ("text", "scale", "unit"),
    [
        ("Population (mln)", 1e6, None),
        ("Population mln", 1e6, None),
        ("GDP, bln", 1e9, None),
        ("Loans (bn USD)", 1e9, "USD"),
        ("in mln EUR", 1e6, "EUR"),
        ("EUR tn", 1e12, "EUR"),
        ("'000 tonnes", 1e3, None),
        ("Thousands of tonnes", 1e3, None),
        ("Paid (Rs. in Cr.)", 1e7, "INR"),
        ("Paid, ₹ cr", 1e7, "INR"),
        ("Paid, cr. of rupees", 1e7, None),
        ("Variation (Percentage Points)", 1, "percentage points"),
        ("Share of GDP (%)", 1, "%"),
    ],
)
def test_a_head_states_its_scale_or_kind(text, scale, unit):
    mark = stated_mark(text)
    assert mark is not None and (mark.scale, mark.unit) == (scale, unit)


@pytest.mark.parametrize(
    "text",
    [
        "One million or more",
        "30-40 thousand",
        "3.5% notes",
        "Tennessee, TN",
        "2024",
        "Total credit",
        "Cr",
        "Dr, Cr",
        "Balance, Crs",
        "",
    ],
)
def test_other_heads_state_none(text):
    assert stated_mark(text) is None


def test_what_stands_nearest_to_a_cell_governs_it():
    row = Row("Loans (bn)", (Cell("5", 0, 1),), "Assets (lakh)")
    table = Table("Accounts (per cent)", "(in thousands)", ("Amount (mln)",), (row,), Rect(0, 0, 1, 1))
    scales = [
        mark_beside("Amount (mln)", row),
        mark_beside("Amount", row),
        mark_beside("Amount", replace(row, label="Loans")),
        mark_of_table(table, row),
    ]
    assert [mark.scale for mark in scales if mark] == [1e6, 1e9, 1e5, 1e3]
    assert mark_beside("Amount", replace(row, label="Loans", section="")) is None
    assert (mark := mark_of_table(replace(table, unit=""), row)) is not None and mark.unit == "%"


def test_a_line_with_a_scale_for_money_and_one_for_what_is_counted_gives_each_row_its_own():
    rows = [
        Row("Net sales", (Cell("$ 19,222", 0, 8),)),
        Row("Unit sales", (Cell("43,753", 0, 6),)),
        Row("Tablets", (Cell("5", 0, 1),), "Units sold"),
    ]
    table = Table(
        "Sales (dollars in millions and units in thousands):", "", ("2017",), tuple(rows), Rect(0, 0, 1, 1)
    )
    marks = [mark_of_table(table, row) for row in rows]
    assert [(mark.scale, mark.unit) for mark in marks if mark] == [(1e6, "USD"), (1e3, None), (1e3, None)]


# ---------------------------------------------------------------- properties


def western(digits: str) -> str:
    return f"{int(digits):,}"


def indian(digits: str) -> str:
    head, tail = digits[:-3], digits[-3:]
    groups = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    return ",".join([*groups, tail]) if head else tail


@given(
    whole=st.integers(3_000, 10**12),  # above the years
    decimals=st.text("0123456789", max_size=4),
    grouping=st.sampled_from([western, indian, str, lambda digits: western(digits).replace(",", "\u00a0")]),
    sign=st.sampled_from([("", ""), ("-", ""), ("−", ""), ("(", ")")]),
    currency=st.sampled_from([("", None), ("$", "USD"), ("RM ", "MYR"), ("₹", "INR"), ("EUR ", "EUR")]),
    scale=st.sampled_from(
        [
            ("", 1),
            (" thousand", 1e3),
            (" million", 1e6),
            (" bn", 1e9),
            (" lakh", 1e5),
            (" crore", 1e7),
            (" lakh crore", 1e12),
        ]
    ),
)
def test_what_is_written_is_read_back(whole, decimals, grouping, sign, currency, scale):
    written = grouping(str(whole)) + (f".{decimals}" if decimals else "")
    opening, closing = sign
    # a cell: in prose brackets may hold an aside
    text = f"Total {currency[0]}{opening}{written}{closing}{scale[0]}\nThen"
    figure = only(text)
    assert figure.value == pytest.approx(
        float(f"{whole}.{decimals or 0}") * (-1 if opening else 1), rel=1e-15
    )
    assert (figure.unit, figure.scale, figure.decimals) == (currency[1], scale[1], len(decimals))
    assert text[figure.start : figure.end] == figure.text
    assert same_value(figure, figure, rounding=True)


SNIPPETS = st.lists(
    st.sampled_from(
        (
            "0 1 12 2018 1,577 4.5 ( ) - − – $ RM Rs. ` % \n \u00a0 , . = / x per cent bps million lakh "
            "crore (in millions) [S1-7f3a] Table Q1 a"
        ).split(" ")
    )
    | st.text(max_size=3),
    max_size=30,
).map(lambda pieces: " ".join(pieces))


@given(st.text() | SNIPPETS | SNIPPETS.map(lambda text: text.replace(" ", "")))
@example("٣٤ ½ ²³ 1⁄2 \x00 5")
def test_spans_are_exact_and_do_not_overlap(text):
    end = 0
    for figure in find_figures(text):
        assert text[figure.start : figure.end] == figure.text
        assert figure.start >= end
        assert any(character.isdigit() or character in "¼½¾⅓⅔⅛⅜⅝⅞" for character in figure.text)
        end = figure.end
    end = 0
    for period in find_periods(text):
        assert text[period.start : period.end] == period.text
        assert period.start >= end
        assert period.start_year <= period.end_year
        end = period.end
    passage_scale(text)


@given(SNIPPETS)
def test_same_value_is_reflexive_and_symmetric(text):
    figures = find_figures(text)
    for one in figures:
        assert same_value(one, one)
        for other in figures:
            assert same_value(one, other) is same_value(other, one)
            assert units_agree(one, other) is units_agree(other, one)


@given(st.floats(0.001, 1e9), st.sampled_from([1.0, 1e3, 1e6, 1e9]))
def test_scale_and_sign_always_count(value, scale):
    figure = Figure("", 0, 0, value, None, scale)
    assert not same_value(figure, replace(figure, scale=scale * 1000))
    assert not same_value(figure, replace(figure, value=-value))
    assert magnitude(figure) == value * scale


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "1" * 200_000,
        "1 " * 100_000,
        "(" * 200_000,
        "(1) " * 50_000,
        "(1 (" * 50_000,
        "111 " * 50_000,
        "1," * 100_000,
        "- 1 " * 50_000,
        "1.1." * 50_000,
        "2018-" * 40_000,
        "a" * 200_000,
        " " * 200_000,
        "\n" * 200_000,
        "[S1, " * 40_000,
        "(in percent " * 16_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_time_grows_with_length_only(text):
    """A backtracking pattern would take minutes here."""

    def read(size: int) -> None:
        find_figures(text[:size])
        find_periods(text[:size])
        passage_scale(text[:size])

    assert growth(read, small=len(text) // 16, large=len(text) // 2) < 3


# ---------------------------------------------------------------- whether periods agree


@pytest.mark.parametrize(
    ("stated", "other", "agreement"),
    [
        ("2022", "2022", 2),
        ("FY2022", "fiscal year 2022", 2),
        ("2005-06", "2005-06", 2),
        ("2006", "2005-06", 1),
        ("2022", "Q3 2022", 1),
        ("2019", "2018-2020", 1),
        ("2022", "2021", 0),
        ("2004-05", "2005-06", 0),
        ("Q1 2022", "Q2 2022", 0),
        ("first quarter of 2022", "Q1 2022", 2),
        ("Q1:2025-26", "Q2:2025-26", 0),
    ],
)
def test_periods_agree_exactly_perhaps_or_not(stated: str, other: str, agreement: int) -> None:
    (one,), (another,) = find_periods(stated), find_periods(other)
    assert periods_agree(one, another) == agreement
    assert periods_agree(another, one) == agreement


def test_a_note_in_brackets_at_the_start_of_a_line_is_no_amount() -> None:
    assert not find_figures("(1) Other consists of changes")
    assert [figure.value for figure in find_figures("Other (1,577)\n(12) (13)")] == [-1577.0, -12.0, -13.0]


def test_a_scale_may_be_followed_by_more() -> None:
    assert [mark.scale for mark in scale_marks("Crowns million, nominal value\nBonds 450")] == [1e6]


# ---------------------------------------------------------------- written out in words


@pytest.mark.parametrize(
    ("text", "shown", "value", "unit", "scale"),
    [
        ("a limit of nine per cent of assets", "nine per cent", 9, "%", 1),
        ("no more than four per\ncent", "four per\ncent", 4, "%", 1),
        ("some seven billion crowns a year", "seven billion crowns", 7, "crowns", 1e9),
        ("a hundred and twenty million euros", "a hundred and twenty million euros", 120, "EUR", 1e6),
        ("by twenty-five basis points", "twenty-five basis points", 25, "basis points", 1),
        ("half a percentage point lower", "half a percentage point", 0.5, "percentage points", 1),
        (
            "three quarters of a percentage point",
            "three quarters of a percentage point",
            0.75,
            "percentage points",
            1,
        ),
        ("one and a half per cent", "one and a half per cent", 1.5, "%", 1),
        ("one lakh crore rupees", "one lakh crore rupees", 1, "INR", 1e12),
        ("lapses after nine years", "nine", 9, None, 1),
        ("within fifteen working days", "fifteen", 15, None, 1),
        ("three fifths of the members", "three fifths", 0.6, None, 1),
        ("a two-thirds majority", "two-thirds", 2 / 3, None, 1),
        ("a third of the revenue", "a third", 1 / 3, None, 1),
    ],
)
def test_amounts_durations_and_fractions_in_words_are_figures(
    text: str, shown: str, value: float, unit: str | None, scale: float
):
    figure = only(text)
    assert (figure.text, figure.unit, figure.scale) == (shown, unit, scale)
    assert figure.value == pytest.approx(value)
    assert text[figure.start : figure.end] == shown


@pytest.mark.parametrize(
    "text",
    [
        "the two pillars",
        "one of them",
        "one year",
        "the third quarter of the year",
        "a third party",
        "the first half of the year",
        "two euro area members",
        "two quarters of growth",
        "Article Four",
        "everyone paid",
        "often per cent",
    ],
)
def test_counts_ordinals_and_names_in_words_are_none(text: str):
    assert find_figures(text) == []


def test_a_range_in_words_shares_its_unit_and_a_figure_in_words_equals_one_in_digits():
    four, five = find_figures("four to five per cent")
    assert (four.unit, five.unit) == ("%", "%")
    assert same_value(only("four per cent"), only("4.0 per cent"))
    assert not same_value(only("nine per cent"), only("4.0 per cent"))


def test_digits_beside_words_are_read_once_each():
    assert values("cut from five per cent to 4.25 per cent over two years") == [5, 4.25, 2]


@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "one two nine ten twenty hundred half third per cent and a of the million years "
                    "quarters -"
                ).split(),
                " ",
                "\n",
            ]
        ),
        max_size=30,
    )
)
def test_no_text_of_number_words_breaks_the_reading(words: list[str]):
    text = " ".join(words)
    figures = find_figures(text)
    assert all(text[one.start : one.end] == one.text for one in figures)
    assert all(one.end <= other.start for one, other in itertools.pairwise(figures))


@pytest.mark.timed
def test_a_long_text_of_number_words_is_read_in_time_that_grows_with_it():
    assert (
        growth(lambda size: find_figures("twenty one hundred and five " * size), small=1_000, large=8_000) < 3
    )


@pytest.mark.parametrize(
    "text",
    [
        "adopted in May 2016.1 The target",
        "It was so in 2016.1",
        "1 This was implemented by law.",
        "Text.\n2 See the annex for details",
    ],
)
def test_the_marks_of_notes_are_no_figures(text: str) -> None:
    assert find_figures(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("rose to 2016.1 million", 2016.1), ("$2016.1", 2016.1), ("5 Hospitals were built", 5)],
)
def test_what_looks_like_the_mark_of_a_note_may_be_a_figure(text: str, value: float) -> None:
    assert values(text) == [value]

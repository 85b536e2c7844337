"""Figures, periods and scale lines: examples from budget papers and filings, and properties that hold for
any text.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatbot.evidence.scales_of_cells import governing_mark, mark_beside, mark_of_table, passage_scale
from ingestion.language.numbers import (
    Figure,
    find_figures,
    magnitude,
    same_value,
    scale_marks,
    stated_mark,
    units_agree,
)
from ingestion.language.periods import find_periods, periods_agree
from ingestion.records import Cell, Rect, Row, Table
from tests.case_rows import case_rows


def only(text: str) -> Figure:
    """The one figure of a text."""
    (figure,) = find_figures(text)
    return figure


def values(text: str) -> list[float]:
    return [figure.value for figure in find_figures(text)]


AMOUNTS = case_rows("""
$ 1,577                  | 1577      | USD    | 1
$1,577 million           | 1577      | USD    | 1e6
US$4.5 bn                | 4.5       | USD    | 1e9
$120B                    | 120       | USD    | 1e9
A$91.5m                  | 91.5      | AUD    | 1e6
RM 2.3 billion           | 2.3       | MYR    | 1e9
RM103.8 million          | 103.8     | MYR    | 1e6
R50.3 billion            | 50.3      | ZAR    | 1e9
R1 250 million           | 1250      | ZAR    | 1e6
N1,200                   | 1200      | NGN    | 1
K2,500                   | 2500      | ZMW    | 1
K1.8 billion             | 1.8       | ZMW    | 1e9
2,500 kwacha             | 2500      | ZMW    | 1
USD422 billion           | 422       | USD    | 1e9
Rs 50,000                | 50_000    | INR    | 1
Rs. 50,000               | 50_000    | INR    | 1
50,000/-                 | 50_000    | INR    | 1
₹13,78,323 crore         | 1_378_323 | INR    | 1e7
` 60 thousand crore      | 60        | INR    | 1e10
7.7 lakh                 | 7.7       | None   | 1e5
500 million Czech crowns | 500       | crowns | 1e6
4.5 billion USD          | 4.5       | USD    | 1e9
91.5m                    | 91.5      | None   | 1e6
3 tn                     | 3         | None   | 1e12
1\u00a0234\u00a0567      | 1_234_567 | None   | 1
1\u2009234               | 1_234     | None   | 1
RM 1 234 567             | 1_234_567 | MYR    | 1
9 905 million            | 9_905     | None   | 1e6
.5                       | 0.5       | None   | 1
1.25x                    | 1.25      | x      | 1
24                       | 24        | None   | 1
$2018                    | 2018      | USD    | 1
2,018                    | 2018      | None   | 1
4,5 million              | 4.5       | None   | 1e6
""")
AMOUNTS += [("₹2.02\nlakh crore", "2.02", "INR", "1e12")]


@pytest.mark.parametrize(("text", "value", "unit", "scale"), AMOUNTS)
def test_amount(text, value, unit, scale):
    figure = only(text)
    assert figure.value == float(value)
    assert str(figure.unit) == unit
    assert figure.scale == float(scale)
    assert figure.text == text


PERCENTS = case_rows("""
3.0%                  | 3    | %                 | percent
3.0 per cent          | 3    | %                 | percent
12.5 percent          | 12.5 | %                 | percent
2¼ percent            | 2.25 | %                 | percent
5-1/4 percent         | 5.25 | %                 | percent
0.4 percentage points | 0.4  | percentage points | points
¼ percentage point    | 0.25 | percentage points | points
0.25 pp               | 0.25 | percentage points | points
25 basis points       | 25   | basis points      | points
25 bps                | 25   | basis points      | points
3,7 Prozent           | 3.7  | %                 | percent
4,2 pour cent         | 4.2  | %                 | percent
5,1 por ciento        | 5.1  | %                 | percent
3,1 per cento         | 3.1  | %                 | percent
2,5 procent           | 2.5  | %                 | percent
1,5 Prozentpunkte     | 1.5  | percentage points | points
0,4 points de pourcentage | 0.4 | percentage points | points
0,4 puntos porcentuales   | 0.4 | percentage points | points
4 por centavo         | 4    | None              | None
24                    | 24   | None              | None
""")
PERCENTS += [("2 \nper cent", "2", "%", "percent")]


@pytest.mark.parametrize(("text", "value", "unit", "kind"), PERCENTS)
def test_percent_kinds(text, value, unit, kind):
    figure = only(text)
    assert figure.value == float(value)
    assert str(figure.unit) == unit
    assert str(figure.percent) == kind


SIGNS = case_rows("""
(91.5)                         | -91.5
- 91.5                         | -91.5
-91.5                          | -91.5
−91.5                          | -91.5
-$91.5                         | -91.5
$-91.5                         | -91.5
$ (1,137)                      | -1137
($91.5)                        | -91.5
(2.0%)                         | -2
(2.0)%                         | -2
(91.5) million                 | -91.5
(-) 50 basis points            | -50
(+) 25 basis points            | 25
±2 per cent                    | 2
minus 40 million               | -40
it averaged minus $4.5 million | -4.5
a negative 2.1 per cent        | -2.1
plus or minus 25 basis points  | 25
revenue minus 40 million       | 40
a non-negative 4               | 4
""")


@pytest.mark.parametrize(("text", "value"), SIGNS)
def test_sign(text, value):
    assert values(text) == [float(value)]


IN_CONTEXT = case_rows("""
GGS Operating Result 154.6 70.5 52.2 - 91.5 0.9 39.3 | 154.6 70.5 52.2 -91.5 0.9 39.3
Other income (expense), net (431) 346 61             | -431 346 61
2025-26 -100 -65 -49                                 | -100 -65 -49
a band of 2-6 per cent                               | 2 6
10 - 20 people                                       | 10 20
between 4% – 4.5%                                    | 4 4.5
4.8 - 4.4 = 0.4                                      | 4.8 4.4 0.4
the deficit (4.4%) fell                              | 4.4
returns, (3) faster returns, and (4) almost 99 per cent      | 99
12 345 678                                                   | 12 345 678
was minus 2.1 percent in 2022, or from minus 2 to minus 1    | -2.1 -2 -1
4.8 minus 4.4 = 0.4, and 0.4 percent - minus 2.1 percent = 2.5 | 4.8 4.4 0.4 0.4 -2.1 2.5
pays the salaries of 9 300 health workers                    | 9300
Total broadband 904 328 nm, domestic 120 300 abroad          | 904 328 120 300
12(1) 5,000(2) 7 (1)                                         | 12 5000 7 -1
9(3)%                                                        | 9 -3
will be R560 a month, the foster grant R1 250, a ticket R12.50 and a litre R5 per litre | 560 1250 12.5 5
it increases by R130 to R2 315                                          | 130 2315
R2 315 for the old, R20 for a child, on route R300 R21 Road, by R134a   | 2315 20
an engine of 1800cc, a 50-year loan, a plant of 500MW                   | 1800 50 500
""")
IN_CONTEXT += [
    ("Net Interest Cost - 31 - 20 - 8 - 2 - 2\n", "-31 -20 -8 -2 -2"),
    ("- 4.5% growth in 2026\n- 24 municipalities", "4.5 24"),
    ("2.3 million persons (20%)\n in 2023", "2.3 20"),
    ("due 2029 161 163\nYen-denominated 7 12\nPercent of revenue", "161 163 7 12"),
]


@pytest.mark.parametrize(("text", "expected"), IN_CONTEXT)
def test_signs_ranges_and_cells_in_context(text, expected):
    assert values(text) == [float(value) for value in expected.split()]


NOT_AMOUNTS = """
in 2018, FY2018, FY 18, 2024-25, 2025/26, 2018–2020 and Q1:2025-26
[S1] [S1-7f3a] [S1-7f3a, S2-7f3a] S2-ab12cd [12]
the 1st, 2nd, 3rd and 18th
R2 R50 N95 PR50.3 K-12
S1,200 of A45,300
an R50 note, the R130, drove to R21, route R300 of R134a, model R560 and R600-B of R350 Motors
Q1 10-K COVID-19 FY24 B40 194J 194LA IFRS 9 Group 3 Act 62 10:30
https://example.org/2016/10.20?x=5 report_2025.pdf someone5@example.org
2022 Percent 2020 % Change
% Change 2022-2021
12345678901234567890123
0800 00
""".strip().split("\n")
NOT_AMOUNTS += [
    "30 June 2005, June 30, 2016, 2026-03-31, 31.03.2026, 12/31/2018, 01-Apr-25 and August 29,\n2021",
    "1. First\n2) Second\n12. Twelfth\n**3.** Third",
    (
        "section 3.2.1, Table 3, Tables 3 and 4, page 7, p. 7, pp. 104-106, Article 5, Note 12, Section "
        "194J, Page 1 of 23"
    ),
]


@pytest.mark.parametrize("text", NOT_AMOUNTS)
def test_not_amounts(text):
    assert find_figures(text) == []


def test_a_date_is_not_an_amount_but_the_amount_beside_it_is():
    assert values("On 30 June 2005 the 24 municipalities of Group 3 owed $5 million (Note 12).") == [24, 5]
    assert values("a cut in March 25 bps larger") == [25]


def test_partners_share_unit_scale_and_currency():
    low, high = find_figures("between 4 and 4.5%")
    assert low.unit == "%"
    assert low.percent == high.percent == "percent"
    _, high = find_figures("from ` 3 lakh to 5 lakh")
    assert high.unit == "INR"
    assert high.scale == 1e5
    low, high = find_figures("$10–$12 billion")
    assert low.scale == high.scale == 1e9
    count, money = find_figures("24 and $5 million")
    assert count.unit is None
    assert count.scale == 1
    assert money.scale == 1e6


def test_the_nearest_period_of_the_sentence_belongs_to_a_figure():
    text = "In 2018 revenue was 5.1 million and in FY2019 6.2 million. It fell by 3%"
    first, second, third = find_figures(text)
    assert first.period == "2018"
    assert second.period == "FY2019"
    assert third.period is None
    assert only("47.16 (RE 2024-25)").period == "2024-25"


PERIODS = case_rows("""
2018                   | 2018 | 2018 | calendar
FY2018                 | 2018 | 2018 | fiscal
FY18                   | 2018 | 2018 | fiscal
CY24                   | 2024 | 2024 | calendar
fiscal year 2018       | 2018 | 2018 | fiscal
FY2018-19              | 2018 | 2019 | fiscal
2024-25                | 2024 | 2025 | fiscal
2024–25                | 2024 | 2025 | fiscal
2025/26                | 2025 | 2026 | fiscal
1999-00                | 1999 | 2000 | fiscal
2018-2020              | 2018 | 2020 | calendar
2010-15                | 2010 | 2015 | calendar
Q1:2025-26             | 2025 | 2026 | fiscal
Q3 FY2024              | 2024 | 2024 | fiscal
1Q25                   | 2025 | 2025 | calendar
second quarter of 2025 | 2025 | 2025 | calendar
Mar-26                 | 2026 | 2026 | calendar
""")
PERIODS += [("2026-\n27", "2026", "2027", "fiscal")]


@pytest.mark.parametrize(("text", "start", "end", "kind"), PERIODS)
def test_periods(text, start, end, kind):
    (period,) = find_periods(f"as of {text}, it")
    assert period.text == text
    assert period.start_year == int(start)
    assert period.end_year == int(end)
    assert period.kind == kind


NOT_PERIODS = "$2018|2018%|2018 million|12018|2,018|USD 2018|v2018".split("|")


@pytest.mark.parametrize("text", NOT_PERIODS)
def test_not_periods(text):
    assert find_periods(text) == []


PAIRS = case_rows("""
1,577 million      | 1.577 billion          | yes
$1,577 million     | $ 1.577 bn             | yes
1,00,000 crore     | 1 lakh crore           | yes
25 basis points    | 0.25 percentage points | yes
3%                 | 3.00 per cent          | yes
$5                 | A$5                    | yes
US$5               | A$5                    | no
RM5                | $5                     | no
5                  | RM5                    | yes
500 million crowns | CZK 500 million        | yes
1,577 million      | 1,578 million          | no
1,577 million      | 1,577 billion          | no
91.5               | (91.5)                 | no
2.5%               | 2.5 percentage points  | no
2.5%               | 2.5                    | no
25 bps             | 25 percentage points   | no
""")


@pytest.mark.parametrize(("one", "other", "same"), PAIRS)
def test_same_value(one, other, same):
    figure, another = only(one), only(other)
    assert same_value(figure, another) is (same == "yes")
    assert same_value(another, figure) is (same == "yes")


ROUNDED_PAIRS = case_rows("""
4.5 billion   | 4,512 million | yes
4.5 billion   | 4,551 million | no
280,000       | 279,512       | yes
281,000       | 279,512       | no
7.4%          | 7.4003%       | yes
-4.5 billion  | 4,512 million | no
4,512 million | 4.5 billion   | no
100           | 140           | no
""")


@pytest.mark.parametrize(("shown", "exact", "same"), ROUNDED_PAIRS)
def test_only_the_shown_figure_may_be_rounded(shown, exact, same):
    rounded, full = only(shown), only(exact)
    assert same_value(rounded, full, rounding=True) is (same == "yes")
    assert not same_value(rounded, full)


PASSAGE_SCALES = case_rows("""
(in millions)                                          | 1e6  | None
(In\u00a0millions, except per share amounts) 2020 2019 | 1e6  | None
(dollars in millions, except per share data)           | 1e6  | USD
crowns million                                         | 1e6  | crowns
(million crowns)                                       | 1e6  | crowns
₹ crore                                                | 1e7  | INR
(₹ Lakh crore)                                         | 1e12 | INR
Rs. in crore                                           | 1e7  | INR
in thousands of dollars                                | 1e3  | USD
In thousands of U.S. dollars                           | 1e3  | USD
$ million                                              | 1e6  | USD
$m $m $m                                               | 1e6  | USD
30 June $'000 $'000                                    | 1e3  | USD
RM million                                             | 1e6  | MYR
RM'000                                                 | 1e3  | MYR
US$ bn                                                 | 1e9  | USD
(EUR million)                                          | 1e6  | EUR
(Thousands)                                            | 1e3  | None
(000s)                                                 | 1e3  | None
($ in Billions, except EPS)                            | 1e9  | USD
Answer in USD millions.                                | 1e6  | USD
(% of GDP)                                             | 1    | %
Variation (Percentage Points)                          | 1    | percentage points
(Basis points)                                         | 1    | basis points
spent in millions of cases                             | 1    | None
a cost of $5 million                                   | 1    | None
                                                       | 1    | None
""")
PASSAGE_SCALES += [("(Per cent)\n(in thousands)", "1e3", "None")]


@pytest.mark.parametrize(("text", "scale", "unit"), PASSAGE_SCALES)
def test_passage_scale(text, scale, unit):
    found_scale, found_unit = passage_scale(text)
    assert found_scale == float(scale)
    assert str(found_unit) == unit


def test_a_mark_governs_from_where_it_stands_and_a_mark_within_a_row_only_its_row():
    text = "(in thousands)\nRevenue 5 6\nShares (in millions) 7 8\nCosts 9\n(₹ crore)\nTotal 10"
    marks = scale_marks(text)
    scales = {}
    for value in (5, 7, 9, 10):
        place = text.index(f" {value}") + 1
        mark = governing_mark(marks, place)
        scales[value] = mark.scale if mark else None
    assert scales == {5: 1e3, 7: 1e6, 9: 1e3, 10: 1e7}
    assert governing_mark(marks, 0) is None


def test_what_is_excepted_from_a_scale_has_no_say_over_the_rest():
    text = "(In millions, except number of shares which are reflected in thousands and par value)\nCash 5"
    (mark,) = scale_marks(text)
    assert mark.scale == 1e6


STATED_MARKS = case_rows("""
Population (mln)              | 1e6  | None
Population mln                | 1e6  | None
GDP, bln                      | 1e9  | None
Loans (bn USD)                | 1e9  | USD
in mln EUR                    | 1e6  | EUR
EUR tn                        | 1e12 | EUR
'000 tonnes                   | 1e3  | None
Thousands of tonnes           | 1e3  | None
Paid (Rs. in Cr.)             | 1e7  | INR
Paid, ₹ cr                    | 1e7  | INR
Paid, cr. of rupees           | 1e7  | INR
Variation (Percentage Points) | 1    | percentage points
Share of GDP (%)              | 1    | %
""")


@pytest.mark.parametrize(("text", "scale", "unit"), STATED_MARKS)
def test_a_head_states_its_scale_or_kind(text, scale, unit):
    mark = stated_mark(text)
    assert mark is not None
    assert mark.scale == float(scale)
    assert str(mark.unit) == unit


UNMARKED_HEADS = (
    "One million or more|30-40 thousand|3.5% notes|Tennessee, TN|2024|Total credit|Cr|Dr, Cr|Balance, Crs"
).split("|")
UNMARKED_HEADS += [""]


@pytest.mark.parametrize("text", UNMARKED_HEADS)
def test_other_heads_state_none(text):
    assert stated_mark(text) is None


def test_what_stands_nearest_to_a_cell_governs_it():
    row = Row("Loans (bn)", (Cell("5", 0, 1),), "Assets (lakh)")
    plain = replace(row, label="Loans")
    table = Table("Accounts (per cent)", "(in thousands)", ("Amount (mln)",), (row,), Rect(0, 0, 1, 1))
    of_head = mark_beside("Amount (mln)", row)
    of_label = mark_beside("Amount", row)
    of_section = mark_beside("Amount", plain)
    of_table = mark_of_table(table, row)
    scales = [mark.scale for mark in (of_head, of_label, of_section, of_table) if mark]
    assert scales == [1e6, 1e9, 1e5, 1e3]
    bare = replace(plain, section="")
    assert mark_beside("Amount", bare) is None
    of_caption = mark_of_table(replace(table, unit=""), row)
    assert of_caption is not None
    assert of_caption.unit == "%"


def test_a_line_with_a_scale_for_money_and_one_for_what_is_counted_gives_each_row_its_own():
    rows = (
        Row("Net sales", (Cell("$ 19,222", 0, 8),)),
        Row("Unit sales", (Cell("43,753", 0, 6),)),
        Row("Tablets", (Cell("5", 0, 1),), "Units sold"),
    )
    caption = "Sales (dollars in millions and units in thousands):"
    table = Table(caption, "", ("2017",), rows, Rect(0, 0, 1, 1))
    marks = [mark_of_table(table, row) for row in rows]
    stated = [(mark.scale, mark.unit) for mark in marks if mark]
    assert stated == [(1e6, "USD"), (1e3, None), (1e3, None)]


# ---------------------------------------------------------------- properties


def western(digits: str) -> str:
    return f"{int(digits):,}"


def indian(digits: str) -> str:
    head, tail = digits[:-3], digits[-3:]
    groups = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    return ",".join([*groups, tail]) if head else tail


def spaced(digits: str) -> str:
    return western(digits).replace(",", "\u00a0")


DECIMALS = st.text("0123456789", max_size=4)
GROUPINGS = st.sampled_from([western, indian, str, spaced])
BEFORE_AND_AFTER = st.sampled_from([("", ""), ("-", ""), ("−", ""), ("(", ")")])
CURRENCIES = {"": None, "$": "USD", "RM ": "MYR", "₹": "INR", "EUR ": "EUR"}
SCALES = {
    "": 1,
    " thousand": 1e3,
    " million": 1e6,
    " bn": 1e9,
    " lakh": 1e5,
    " crore": 1e7,
    " lakh crore": 1e12,
}


@given(
    whole=st.integers(3_000, 10**12),  # above the years
    decimals=DECIMALS,
    grouping=GROUPINGS,
    sign=BEFORE_AND_AFTER,
    currency=st.sampled_from(sorted(CURRENCIES)),
    scale=st.sampled_from(sorted(SCALES)),
)
def test_what_is_written_is_read_back(whole, decimals, grouping, sign, currency, scale):
    written = grouping(str(whole)) + (f".{decimals}" if decimals else "")
    opening, closing = sign
    # a cell: in prose brackets may hold an aside
    text = f"Total {currency}{opening}{written}{closing}{scale}\nThen"
    figure = only(text)
    amount = float(f"{whole}.{decimals or 0}")
    signed = -amount if opening else amount
    assert figure.value == pytest.approx(signed, rel=1e-15)
    assert figure.unit == CURRENCIES[currency]
    assert figure.scale == SCALES[scale]
    assert figure.decimals == len(decimals)
    assert text[figure.start : figure.end] == figure.text
    assert same_value(figure, figure, rounding=True)


PIECES = (
    "0 1 12 2018 1,577 4.5 ( ) - − – $ RM Rs. ` % \n \u00a0 , . = / x per cent bps million lakh crore"
    " (in millions) [S1-7f3a] Table Q1 a one two nine ten twenty hundred half third and of the years quarters"
).split(" ")
PIECE = st.sampled_from(PIECES) | st.text(max_size=3)
SNIPPETS = st.lists(PIECE, max_size=30).map(" ".join)
GLUED = SNIPPETS.map(lambda text: text.replace(" ", ""))


@given(st.text() | SNIPPETS | GLUED)
@example("٣٤ ½ ²³ 1⁄2 \x00 5")
def test_spans_are_exact_and_do_not_overlap(text):
    end = 0
    for figure in find_figures(text):
        assert text[figure.start : figure.end] == figure.text
        assert figure.start >= end
        assert any(letter.isalnum() or letter in "¼½¾⅓⅔⅛⅜⅝⅞" for letter in figure.text)
        end = figure.end
    end = 0
    for period in find_periods(text):
        assert text[period.start : period.end] == period.text
        assert period.start >= end
        assert period.start_year <= period.end_year
        end = period.end
    passage_scale(text)


WORDS = "$4.5 million|3.0 per cent|Rs. 12 crore|25 basis points|in 2024|of debt|(0.5)|,|and|\n".split("|")
SAID = st.lists(st.sampled_from(WORDS), max_size=15)


def facts(figure: Figure) -> tuple[object, ...]:
    """What does not depend on where the figure stands."""
    return figure.text, figure.value, figure.unit, figure.scale


@given(SAID, SAID)
def test_what_stands_in_another_paragraph_changes_no_figure(said: list[str], before: list[str]) -> None:
    text = " ".join(said)
    above = f"{' '.join(before)} were.\n\nThe rest is told below.\n\n"
    below = [facts(figure) for figure in find_figures(above + text) if figure.start >= len(above)]
    assert below == [facts(figure) for figure in find_figures(text)]
    assert len(find_periods(text)) == text.count("2024")


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
    larger = replace(figure, scale=scale * 1000)
    negative = replace(figure, value=-value)
    assert not same_value(figure, larger)
    assert not same_value(figure, negative)
    assert magnitude(figure) == value * scale


# ---------------------------------------------------------------- whether periods agree


PERIOD_PAIRS = case_rows("""
2022                  | 2022             | 2
FY2022                | fiscal year 2022 | 2
2005-06               | 2005-06          | 2
2006                  | 2005-06          | 1
2022                  | Q3 2022          | 1
2019                  | 2018-2020        | 1
2022                  | 2021             | 0
2004-05               | 2005-06          | 0
Q1 2022               | Q2 2022          | 0
first quarter of 2022 | Q1 2022          | 2
Q1:2025-26            | Q2:2025-26       | 0
""")


@pytest.mark.parametrize(("stated", "other", "agreement"), PERIOD_PAIRS)
def test_periods_agree_exactly_perhaps_or_not(stated: str, other: str, agreement: str) -> None:
    (one,) = find_periods(stated)
    (another,) = find_periods(other)
    assert periods_agree(one, another) == int(agreement)
    assert periods_agree(another, one) == int(agreement)


def test_a_note_in_brackets_at_the_start_of_a_line_is_no_amount() -> None:
    assert not find_figures("(1) Other consists of changes")
    assert values("Other (1,577)\n(12) (13)") == [-1577.0, -12.0, -13.0]


def test_a_scale_may_be_followed_by_more() -> None:
    (mark,) = scale_marks("Crowns million, nominal value\nBonds 450")
    assert mark.scale == 1e6


# ---------------------------------------------------------------- written out in words


IN_WORDS = case_rows("""
a limit of nine per cent of assets   | nine per cent                        | 9    | %                 | 1
some seven billion crowns a year     | seven billion crowns                 | 7    | crowns            | 1e9
a hundred and twenty million euros   | a hundred and twenty million euros   | 120  | EUR               | 1e6
by twenty-five basis points          | twenty-five basis points             | 25   | basis points      | 1
half a percentage point lower        | half a percentage point              | 0.5  | percentage points | 1
three quarters of a percentage point | three quarters of a percentage point | 0.75 | percentage points | 1
one and a half per cent              | one and a half per cent              | 1.5  | %                 | 1
one lakh crore rupees                | one lakh crore rupees                | 1    | INR               | 1e12
lapses after nine years              | nine                                 | 9    | None              | 1
within fifteen working days          | fifteen                              | 15   | None              | 1
three fifths of the members          | three fifths                         | 3/5  | None              | 1
a two-thirds majority                | two-thirds                           | 2/3  | None              | 1
a third of the revenue               | a third                              | 1/3  | None              | 1
""")
IN_WORDS += [("no more than four per\ncent", "four per\ncent", "4", "%", "1")]


@pytest.mark.parametrize(("text", "shown", "value", "unit", "scale"), IN_WORDS)
def test_amounts_durations_and_fractions_in_words_are_figures(
    text: str, shown: str, value: str, unit: str, scale: str
):
    figure = only(text)
    assert figure.text == shown
    assert str(figure.unit) == unit
    assert figure.scale == float(scale)
    assert figure.value == pytest.approx(float(Fraction(value)))
    assert text[figure.start : figure.end] == shown


NO_FIGURES_IN_WORDS = (
    "the two pillars|one of them|one year|the third quarter of the year|a third party|"
    "the first half of the year|two euro area members|two quarters of growth|Article Four|everyone paid|"
    "often per cent"
).split("|")


@pytest.mark.parametrize("text", NO_FIGURES_IN_WORDS)
def test_counts_ordinals_and_names_in_words_are_none(text: str):
    assert find_figures(text) == []


def test_a_range_in_words_shares_its_unit_and_a_figure_in_words_equals_one_in_digits():
    four, five = find_figures("four to five per cent")
    assert four.unit == five.unit == "%"
    digits = only("4.0 per cent")
    assert same_value(only("four per cent"), digits)
    assert not same_value(only("nine per cent"), digits)


def test_digits_beside_words_are_read_once_each():
    assert values("cut from five per cent to 4.25 per cent over two years") == [5, 4.25, 2]


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

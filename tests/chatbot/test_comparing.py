"""The arithmetic of a comparison's table: what may be asked, what changed, what is one series, and the
table as CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pytest

from chatbot.comparison import (
    Change,
    Comparison,
    Entry,
    EntryPlace,
    Nearest,
    Quantity,
    change_between,
    changes,
    csv_bytes,
    question_in,
    ranks,
    series,
    shown_figures,
)
from chatbot.errors import QuestionError
from chatbot.records import Citation
from tests.case_rows import case_rows

CITED = Citation("S1", "A.pdf", 3, "1", "Total revenue 200 100", True, version=1)
IN_2021, IN_2022 = EntryPlace("A.pdf", "2021"), EntryPlace("A.pdf", "2022")


def entry(
    text: str,
    value: float,
    unit: str | None = None,
    scale: float = 1.0,
    *,
    at: EntryPlace = IN_2021,
    **more: object,
) -> Entry:
    _, _, behind_point = text.partition(".")
    decimals = behind_point.partition(" ")[0].rstrip(")%")
    quantity = Quantity(text, value, unit, scale, len(decimals), **more)  # type: ignore[arg-type]
    return Entry(at, "figure", quantity, citations=(CITED,))


SCALES = {"": 1.0, "million": 1e6, "billion": 1e9}


def figure(written: str, at: EntryPlace = IN_2021) -> Entry:
    """The entry of a figure such as "5%", "(300)" or "5,000 USD million"."""
    printed, _, named = written.partition(" ")
    unit, _, scale = named.partition(" ")
    value = float(printed.strip("(%)").replace(",", ""))
    if printed.startswith("("):
        value = -value
    if printed.endswith("%"):
        unit = "%"
    return entry(printed, value, unit or None, SCALES[scale], at=at)


def later(written: str) -> Entry:
    return figure(written, IN_2022)


def test_a_comparison_is_put_in_order_without_repetitions() -> None:
    years = ["2022", "2020-21", "FY2021", " 2022 ", ""]
    asked = Comparison.of("  What was  revenue? ", ["B.pdf", "A.pdf", "B.pdf"], years)
    assert asked == Comparison("What was revenue?", ("B.pdf", "A.pdf"), ("2020-21", "FY2021", "2022"))
    first, second, *others = asked.places
    assert first == EntryPlace("B.pdf", "2020-21")
    assert second == EntryPlace("B.pdf", "FY2021")
    assert len(others) == 4


NOTHING_TO_COMPARE = """
No document | What? | - | 2021, 2022
nothing to compare | What? | A | 2021
“soon” is not a year | What? | A, B | soon
not a year | What? | A, B | Q1 2024
"""


def listed(names: str) -> list[str]:
    return [] if names == "-" else names.split(", ")


@pytest.mark.parametrize(("said", "question", "names", "years"), case_rows(NOTHING_TO_COMPARE))
def test_what_cannot_be_compared_says_why(said: str, question: str, names: str, years: str) -> None:
    with pytest.raises(QuestionError, match=said):
        Comparison.of(question, listed(names), listed(years))


WITH_YEAR = """
What was revenue? | 2021 | What was revenue in 2021?
Total revenue | 2021-22 | Total revenue in 2021-22?
What was revenue in 2019? | 2021 | What was revenue in 2021?
What was revenue for the fiscal year 2019-20? | FY2021 | What was revenue in FY2021?
What does the Act of 2003 require? | 2021 | What does the Act of 2003 require in 2021?
"""
WITHOUT_YEAR = ("What was revenue?", "", "What was revenue?")


@pytest.mark.parametrize(("question", "year", "asked"), [*case_rows(WITH_YEAR), WITHOUT_YEAR])
def test_the_year_goes_into_the_question(question: str, year: str, asked: str) -> None:
    assert question_in(question, year) == asked


def numbered(count: int) -> list[str]:
    return [f"{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("said", "question", "names", "years"),
    [
        ("no question", " ?! ", ["A", "B"], []),
        ("At most 20 documents", "What?", numbered(21), []),
        ("10 × 9", "What?", numbered(10), [f"{year}" for year in range(2010, 2019)]),
    ],
)
def test_what_is_no_question_or_too_much_says_why(
    said: str, question: str, names: list[str], years: list[str]
) -> None:
    with pytest.raises(QuestionError, match=said):
        Comparison.of(question, names, years)


CHANGES = """
100 USD million | 122.7 USD million | +$22.7 million, +22.7% | 100 × 22.7 / 100.0 = 22.7%
5%    | 4.1% | −0.9 percentage points | 4.1 − 5.0 = −0.9 percentage points
(300) | 200  | +500                   | 200 − (−300) = 500; no percentage
# In one document a currency may stand in the first row only.
5 USD | 6    | +$1, +20.0% | 100 × 1 / 5 = 20.0%
"""


@pytest.mark.parametrize(("before", "after", "change", "formula"), case_rows(CHANGES))
def test_a_figure_changes_by_an_amount_and_a_share_of_it(
    before: str, after: str, change: str, formula: str
) -> None:
    found = change_between(figure(before), later(after))
    assert ", ".join(filter(None, (found.absolute, found.relative))) == change
    assert formula in found.formula


def test_scales_are_brought_together() -> None:
    rounded = entry("17.6 billion", 17.6, "USD", 1e9)
    found = change_between(rounded, later("17,606 USD million"))
    assert (found.absolute, found.relative) == ("+$6.0 million", "0.0%")
    assert found.formula.endswith("; 17.6 billion is rounded")


IN_B = EntryPlace("B.pdf", "2021")
UNLIKE = """
5% | 5 | one is a percentage, the other an amount
5 USD | 5 EUR | one is in $, the other in €
5 USD million | 5,000 USD | the other states no scale
5 x | 5 | one is a multiple
"""


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        *((figure(before), figure(after), why) for before, after, why in case_rows(UNLIKE)),
        (figure("5 USD"), figure("5", IN_B), "the other states no currency"),
        (entry("5", 5, status="contradicted"), figure("6"), "5 is not confirmed"),
    ],
)
def test_across_unlike_or_doubted_figures_nothing_is_worked_out(
    before: Entry, after: Entry, why: str
) -> None:
    found = change_between(before, after)
    assert why in found.why_not
    assert not found.absolute
    assert not found.relative
    assert not found.formula


def by_place(entries: list[Entry]) -> dict[EntryPlace, Entry]:
    return {one.place: one for one in entries}


def test_each_year_is_set_against_the_one_before_that_has_a_figure() -> None:
    asked = Comparison.of("What?", ["A.pdf", "B.pdf"], ["2020", "2021", "2022"])
    first = figure("1", EntryPlace("A.pdf", "2020"))
    absent = Entry(IN_2021, "absent")
    of_another = figure("9", EntryPlace("B.pdf", "2022"))
    entries = [first, absent, later("3"), of_another]
    found = changes(asked, by_place(entries))
    ((place, change),) = found.items()
    assert place == IN_2022
    assert change.since.year == "2020"


NAMES = ["A.pdf", "B.pdf", "C.pdf"]


def column(*written: str) -> dict[EntryPlace, Entry]:
    """A figure for each of NAMES."""
    return by_place([figure(text, EntryPlace(name)) for text, name in zip(written, NAMES, strict=True)])


def test_without_years_only_editions_of_one_document_change_and_from_the_one_before() -> None:
    asked = Comparison.of("What?", NAMES)
    entries = column("1", "2", "4")
    assert changes(asked, entries) == {}
    found = changes(asked, entries, [["A.pdf", "C.pdf"]])
    ((place, change),) = found.items()
    assert place.document == "C.pdf"
    assert change.since.document == "A.pdf"
    assert change.absolute == "+3"


RANKS = """
1 USD | 2 USD | 4 USD | Lowest of 3, 2nd of 3, Highest of 3
2 USD | 2 USD | 1 USD | Highest of 3 (tied), Highest of 3 (tied), Lowest of 3
2 USD | 2 USD | 2 USD | All equal, All equal, All equal
5 USD billion | 600 USD million | 7 USD billion | 2nd of 3, Lowest of 3, Highest of 3
1 USD | 2 EUR | 4 USD |
"""


@pytest.mark.parametrize(("first", "second", "third", "expected"), case_rows(RANKS))
def test_figures_of_different_issuers_are_ranked_within_one_currency(
    first: str, second: str, third: str, expected: str
) -> None:
    found = ranks(Comparison.of("What?", NAMES), column(first, second, third))
    assert ", ".join(found.values()) == expected


SHOWN = """
5.25 USD billion | 600 USD million | 7,100 USD million | $5,250 million; $600 million; $7,100 million
5.25 USD billion | 600 USD million | 5% | $5,250 million; $600 million
5 USD million | 6 USD million | 7 USD million |
5 USD billion | 60 EUR million | 7 | $5,000 million; €60 million
"""


@pytest.mark.parametrize(("first", "second", "third", "expected"), case_rows(SHOWN))
def test_amounts_of_a_table_are_shown_in_one_scale(
    first: str, second: str, third: str, expected: str
) -> None:
    found = shown_figures(list(column(first, second, third).values()))
    assert "; ".join(found.values()) == expected


NO_SERIES = """
5 | 5% | some figures are a percentage and some an amount
5 USD | 5 EUR | in $ and €
5 USD million | 5 USD | have no stated scale
"""


@pytest.mark.parametrize(("first", "second", "said"), case_rows(NO_SERIES))
def test_figures_of_several_units_are_no_series(first: str, second: str, said: str) -> None:
    points, why = series([figure(first), figure(second)])
    assert not points
    assert said in why


ABSENT = Entry(EntryPlace("A.pdf"), "absent", reason="No page.")


def read_csv(
    entries: Sequence[Entry], changed: dict[EntryPlace, Change] | None = None, question: str = "=What?"
) -> list[dict[str, str]]:
    data = csv_bytes(entries, changed or {}, question)
    assert data.startswith(b"\xef\xbb\xbf")
    text = io.StringIO(data.decode("utf-8-sig"))
    return list(csv.DictReader(text))


KEPT = """
\uff1dHYPERLINK(1) | '\uff1dHYPERLINK(1)
Revenue ;=1+1 | Revenue ;'=1+1
a|@SUM(1) | a|'@SUM(1)
2023: 4; -5 | 2023: 4; -5
a = b | a = b
"""


@pytest.mark.parametrize(("given", "kept"), case_rows(KEPT))
def test_no_cell_of_any_spreadsheet_is_a_formula(given: str, kept: str) -> None:
    (line,) = read_csv([ABSENT], question=given)
    assert line["question"] == kept


FIRST_LINE = """
question | '=What?
figure | 200
unit of the figure | $ million
value in full | 200000000
unit of the value | USD
page | 3
printed page | 1
verified | yes
quote | Total revenue 200 100
figure check | supported
"""


def test_figures_of_two_documents_are_none_where_one_states_no_currency() -> None:
    of_another = figure("5", EntryPlace("B.pdf"))
    points, why = series([figure("5 USD"), of_another])
    assert not points
    assert "$ and no stated currency" in why


def test_csv_has_a_line_for_each_entry_with_page_quote_and_check() -> None:
    before, after = figure("100 USD million"), later("200 USD million")
    nearest = Nearest("Bücher.pdf", 2, 7, "v")
    place = EntryPlace("Bücher.pdf", "2022")
    absent = Entry(place, "absent", nearest=(nearest,), reason="No page.")
    change = change_between(before, after)
    changed = {after.place: change}
    first, second = read_csv([after, absent], changed)
    for column, text in case_rows(FIRST_LINE):
        assert first[column] == text
    assert second["document"] == "Bücher.pdf"
    assert second["found"] == "not in this document"
    assert second["verified"] == ""
    assert second["page"] == ""  # it cites none
    assert second["nearest page"] == "7"


def named_so(name: str, label: str, reason: str) -> Entry:
    """A passage that has its name in every place that takes one."""
    place = EntryPlace(name, "2022")
    citation = Citation("S1", name, 1, label, name, True)
    return Entry(place, "passage", passage=name, citations=(citation,), reason=reason)


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r=", "\u200b="])
def test_csv_holds_no_formula(sign: str) -> None:
    hostile = f"{sign}HYPERLINK(1)"
    (line,) = read_csv([named_so(hostile, hostile, hostile)])
    for column in ("document", "passage", "printed page", "remark"):
        assert line[column].startswith("'" + sign[-1]), column
    for text in line.values():
        assert not text.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_negative_value_stays_a_number() -> None:
    (line,) = read_csv([entry("(2.9)", -2.9, "%")])
    assert line["figure"] == "(2.9)"
    assert line["value in full"] == "-2.9"
    assert line["unit of the value"] == "per cent"

"""The arithmetic of a comparison's table: what may be asked, what changed, what is one series, and the
table as CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    entry_line,
    entry_text,
    question_in,
    series,
    unit_text,
    year_written,
)
from chatbot.errors import QuestionError
from chatbot.records import Citation

CITED = Citation("S1", "A.pdf", 3, "1", "Total revenue 200 100", True, version=1)


def entry(
    text: str,
    value: float,
    unit: str | None = None,
    scale: float = 1.0,
    *,
    at: tuple[str, str] = ("A.pdf", "2021"),
    **more: object,
) -> Entry:
    decimals = len(text.partition(".")[2].partition(" ")[0].rstrip(")%"))
    return Entry(
        EntryPlace(*at),
        "figure",
        Quantity(text, value, unit, scale, decimals, **more),  # type: ignore[arg-type]
        citations=(CITED,),
    )


def change(before: Entry, after: Entry) -> Change:
    return change_between(before, after)


def test_a_comparison_is_put_in_order_without_repetitions() -> None:
    asked = Comparison.of(
        "  What was  revenue? ", ["B.pdf", "A.pdf", "B.pdf"], ["2022", "2020-21", "FY2021", " 2022 ", ""]
    )
    assert asked == Comparison("What was revenue?", ("B.pdf", "A.pdf"), ("2020-21", "FY2021", "2022"))
    assert (
        asked.places[:2] == (EntryPlace("B.pdf", "2020-21"), EntryPlace("B.pdf", "FY2021"))
        and len(asked.places) == 6
    )


@pytest.mark.parametrize(
    ("question", "names", "years", "said"),
    [
        (" ?! ", ["A", "B"], [], "no question"),
        ("x" * 1_001, ["A", "B"], [], "1,001 characters"),
        ("What?", [], ["2021", "2022"], "No document"),
        ("What?", ["A"], ["2021"], "nothing to compare"),
        ("What?", [f"{at}" for at in range(21)], [], "At most 20 documents"),
        ("What?", [f"{at}" for at in range(10)], [str(2010 + at) for at in range(9)], "10 × 9"),
        ("What?", ["A", "B"], ["soon"], "“soon” is no year"),
        ("What?", ["A", "B"], ["Q1 2024"], "no year"),
    ],
)
def test_what_cannot_be_compared_says_why(
    question: str, names: list[str], years: list[str], said: str
) -> None:
    with pytest.raises(QuestionError, match=said):
        Comparison.of(question, names, years)


def test_the_shorter_side_goes_across() -> None:
    assert Comparison.of("What?", ["A"], ["2021", "2022"]).by_year
    assert not Comparison.of("What?", ["A", "B"], ["2021", "2022"]).by_year


@pytest.mark.parametrize(
    ("question", "year", "asked"),
    [
        ("What was revenue?", "2021", "What was revenue in 2021?"),
        ("Total revenue", "2021-22", "Total revenue in 2021-22?"),
        ("What was revenue in 2019?", "2021", "What was revenue in 2021?"),
        ("What was revenue for the fiscal year 2019-20?", "FY2021", "What was revenue in FY2021?"),
        ("What does the Act of 2003 require?", "2021", "What does the Act of 2003 require in 2021?"),
        ("What was revenue?", "", "What was revenue?"),
    ],
)
def test_the_year_goes_into_the_question(question: str, year: str, asked: str) -> None:
    assert question_in(question, year) == asked


def test_years_are_written_in_one_way() -> None:
    assert [year_written(text) for text in ("2025/26", " 2025–26", "FY2024", "2024")] == [
        "2025-26",
        "2025-26",
        "FY2024",
        "2024",
    ]


def test_an_amount_changes_by_an_amount_and_a_share_of_it() -> None:
    found = change(entry("100", 100, "USD", 1e6), entry("122.7", 122.7, "USD", 1e6, at=("A.pdf", "2022")))
    assert (found.absolute, found.relative) == ("+22.7 USD million", "+22.7%")
    assert found.formula == "122.7 − 100.0 = 22.7 USD million; 100 × 22.7 / 100.0 = 22.7%"


def test_scales_are_brought_together() -> None:
    found = change(
        entry("17.6 billion", 17.6, "USD", 1e9), entry("17,606", 17_606, "USD", 1e6, at=("A.pdf", "2022"))
    )
    assert (found.absolute, found.relative) == ("+6.0 USD million", "0.0%") and found.formula.endswith(
        "; 17.6 billion is rounded"
    )


def test_rates_change_in_points_alone() -> None:
    found = change(entry("5%", 5, "%"), entry("4.1%", 4.1, "%", at=("A.pdf", "2022")))
    assert (found.absolute, found.relative, found.formula) == (
        "−0.9 percentage points",
        "",
        "4.1 − 5.0 = −0.9 percentage points",
    )


def test_of_a_figure_below_zero_no_percentage_is_formed() -> None:
    found = change(entry("(300)", -300), entry("200", 200, at=("A.pdf", "2022")))
    assert (found.absolute, found.relative) == (
        "+500",
        "",
    ) and "200 − (−300) = 500; of a figure" in found.formula


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (entry("5%", 5, "%"), entry("5", 5), "one is a percentage, the other an amount"),
        (entry("5", 5, "USD"), entry("5", 5, "EUR"), "one is in USD, the other in EUR"),
        (entry("5", 5, "USD"), entry("5", 5, at=("B.pdf", "2021")), "of the other no currency is stated"),
        (entry("5", 5, "USD", 1e6), entry("5,000", 5_000, "USD"), "of the other no scale is stated"),
        (entry("5", 5, "x"), entry("5", 5), "one is a multiple"),
        (entry("5", 5, status="contradicted"), entry("6", 6), "5 is not confirmed"),
    ],
)
def test_across_different_units_nothing_is_worked_out(before: Entry, after: Entry, why: str) -> None:
    found = change(before, after)
    assert why in found.why_not and not (found.absolute or found.relative or found.formula)


def test_in_one_document_a_currency_may_stand_in_the_first_row_only() -> None:
    assert change(entry("5", 5, "USD"), entry("6", 6, at=("A.pdf", "2022"))).absolute == "+1 USD"


def test_each_year_is_set_against_the_one_before_that_has_a_figure() -> None:
    asked = Comparison.of("What?", ["A.pdf", "B.pdf"], ["2020", "2021", "2022"])
    entries = [
        entry("1", 1, at=("A.pdf", "2020")),
        Entry(EntryPlace("A.pdf", "2021"), "absent"),
        entry("3", 3, at=("A.pdf", "2022")),
        entry("9", 9, at=("B.pdf", "2022")),
    ]
    found = changes(asked, {one.place: one for one in entries})
    assert {place: one.since.year for place, one in found.items()} == {EntryPlace("A.pdf", "2022"): "2020"}


def test_without_years_each_document_is_set_against_the_first() -> None:
    asked = Comparison.of("What?", ["A.pdf", "B.pdf", "C.pdf"])
    entries = [entry(str(at), at, at=(name, "")) for at, name in enumerate(asked.names, 1)]
    found = changes(asked, {one.place: one for one in entries})
    assert [(place.document, one.since.document, one.absolute) for place, one in found.items()] == [
        ("B.pdf", "A.pdf", "+1"),
        ("C.pdf", "A.pdf", "+2"),
    ]


def test_figures_of_one_unit_are_a_series_in_the_largest_scale() -> None:
    points, said = series([entry("5", 5, "USD", 1e9), entry("600", 600, "USD", 1e6, at=("A.pdf", "2022"))])
    assert [value for _, value in points] == [5, 0.6] and said == "USD billion"


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([entry("5", 5)], ""),
        ([entry("5", 5), entry("5%", 5, "%")], "some figures are a percentage and some an amount"),
        ([entry("5", 5, "USD"), entry("5", 5, "EUR")], "in EUR and USD"),
        ([entry("5", 5, "USD"), entry("5", 5, at=("B.pdf", ""))], "USD and no stated currency"),
        ([entry("5", 5, "USD", 1e6), entry("5", 5, "USD")], "no scale is stated"),
    ],
)
def test_figures_of_several_units_are_no_series(entries: list[Entry], said: str) -> None:
    points, why = series(entries)
    assert not points and said in why and bool(said) == bool(why)


def test_a_unit_is_said_once() -> None:
    said = [
        Quantity("15,785", 15_785, "USD", 1e6),
        Quantity("$ 15,785", 15_785, "USD", 1e6),
        Quantity("5 million crowns", 5, "crowns", 1e6),
        Quantity("4.4", 4.4, "%"),
    ]
    assert [unit_text(one) for one in said] == ["USD million", "million", "", "per cent"]
    assert unit_text(Quantity("5", 5, "crowns", 1e6)) == "million crowns"


def read_csv(entries: list[Entry], changed: dict[EntryPlace, Change] | None = None) -> list[dict[str, str]]:
    return read_csv_of("=What?", entries, changed)


def read_csv_of(
    question: str, entries: Sequence[Entry] = (), changed: dict[EntryPlace, Change] | None = None
) -> list[dict[str, str]]:
    data = csv_bytes(
        entries or [Entry(EntryPlace("A.pdf", ""), "absent", reason="No page.")], changed or {}, question
    )
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("\uff1dHYPERLINK(1)", "'\uff1dHYPERLINK(1)"),
        ("Revenue ;=1+1", "Revenue ;'=1+1"),
        ("a|@SUM(1)", "a|'@SUM(1)"),
        ("2023: 4; -5", "2023: 4; -5"),
        ("a = b", "a = b"),
    ],
)
def test_no_cell_of_any_spreadsheet_is_a_formula(given: str, kept: str) -> None:
    (line,) = read_csv_of(given)
    assert line["question"] == kept


def test_csv_has_a_line_for_each_entry_with_page_quote_and_check() -> None:
    after = entry("200", 200, "USD", 1e6, at=("A.pdf", "2022"))
    absent = Entry(
        EntryPlace("Bücher.pdf", "2022"),
        "absent",
        nearest=(Nearest("Bücher.pdf", 2, 7, "v"),),
        reason="No page.",
    )
    first, second = read_csv([after, absent], {after.place: change(entry("100", 100, "USD", 1e6), after)})
    assert (first["question"], first["figure"], first["unit of the figure"]) == (
        "'=What?",
        "200",
        "USD million",
    )
    assert (first["value in full"], first["unit of the value"], first["page"], first["printed page"]) == (
        "200000000",
        "USD",
        "3",
        "1",
    )
    assert (first["verified"], first["quote"], first["figure check"]) == (
        "yes",
        "Total revenue 200 100",
        "supported",
    )
    assert (second["document"], second["found"], second["verified"]) == (
        "Bücher.pdf",
        "not in this document",
        "",
    )
    assert (second["page"], second["nearest page"]) == ("", "7")  # it cites none


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r=", "\u200b="])
def test_csv_holds_no_formula(sign: str) -> None:
    hostile = f"{sign}HYPERLINK(1)"
    bad = Entry(
        EntryPlace(hostile, "2022"),
        "passage",
        passage=hostile,
        citations=(Citation("S1", hostile, 1, hostile, hostile, True),),
        reason=hostile,
    )
    line = read_csv([bad])[0]
    for column in ("document", "passage", "printed page", "remark"):
        assert line[column].startswith("'" + sign[-1]), column
    assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for text in line.values())


def test_a_negative_value_stays_a_number() -> None:
    line = read_csv([entry("(2.9)", -2.9, "%")])[0]
    assert (line["figure"], line["value in full"], line["unit of the value"]) == ("(2.9)", "-2.9", "per cent")


def test_lines_of_text_say_page_check_and_formula() -> None:
    after = entry("200", 200, "USD", 1e6, at=("A.pdf", "2022"))
    text = entry_text(after, change(entry("100", 100, "USD", 1e6), after))
    assert text.splitlines() == [
        "A.pdf, 2022: 200 USD million - page 3 (printed 1), verified, figure supported",
        "    from 2021: +100 USD million (+100.0%): 200 − 100 = 100 USD million; 100 × 100 / 100 = 100.0%",
    ]
    assert (
        entry_line(Entry(EntryPlace("A.pdf"), "failed", reason="It failed.", hint="Try."), None)["remark"]
        == "It failed. Try."
    )


@given(st.text(), st.text())
def test_csv_has_one_line_for_each_entry_whatever_pages_are_called(label: str, name: str) -> None:
    bad = Entry(
        EntryPlace(name, "2022"),
        "passage",
        passage=name,
        citations=(Citation("S1", name, 1, label, name, True),),
        reason=label,
    )
    data = csv_bytes([bad, bad], {}, label).decode("utf-8-sig")
    assert len(data.splitlines()) == len(list(csv.reader(io.StringIO(data, newline="")))) == 3
    assert all(line.isprintable() for line in data.split("\r\n"))

"""What the benchmark of key figures takes for right, and that its file of printed figures is whole."""

import pytest

from benchmarks.key_figures import PrintedCell, draw, found_cell, is_right, load_cells, report
from chatbot.comparison.key_figure_records import FigurePeriod, KeyFigure
from tests.commands import usage_of

YEAR = FigurePeriod("2023", 2023, 2023)
HALF_YEAR = FigurePeriod("6 months to July 2023", 2023, 2023, 6, 7)


def printed(*values: float, months: int = 12, end: str = "2023", row: str = "Sales") -> PrintedCell:
    return PrintedCell("dev", "A.pdf", "revenue", months, end, 3, row, values)


def figure(value: float, *, page: int = 3, period: FigurePeriod = YEAR) -> KeyFigure:
    return KeyFigure("revenue", period, str(value), value, page=page)


def test_the_file_has_both_halves_of_printed_cells_and_gaps() -> None:
    cells = load_cells()
    assert {cell.half for cell in cells} == {"dev", "judged"}
    developed = {cell.document for cell in cells if cell.half == "dev"}
    assert developed.isdisjoint(cell.document for cell in cells if cell.half == "judged")
    assert any(cell.values for cell in cells)
    assert any(not cell.values for cell in cells)
    for cell in cells:
        assert bool(cell.values) == bool(cell.page)


@pytest.mark.parametrize(
    ("cell", "found", "right"),
    [
        (printed(5.0), figure(5.0), True),
        (printed(5.0, 4.0), figure(4.0), True),
        (printed(5.0), figure(-5.0), False),
        (printed(5.0), figure(5_000.0), False),
        (printed(5.0), figure(5.0, page=4), False),
        (printed(), figure(5.0), False),
    ],
)
def test_a_figure_is_right_with_its_sign_scale_and_page(
    cell: PrintedCell, found: KeyFigure, right: bool
) -> None:
    assert is_right(cell, found) is right


def test_a_figure_is_of_the_time_that_is_asked_for() -> None:
    assert found_cell(printed(5.0, months=6, end="2023-07"), [figure(5.0, period=HALF_YEAR)])
    assert found_cell(printed(5.0, months=6, end="2023-06"), [figure(5.0, period=HALF_YEAR)]) is None
    assert found_cell(printed(5.0), [figure(5.0, period=HALF_YEAR)]) is None


def test_gaps_are_counted_apart() -> None:
    cells = [printed(5.0), printed(6.0, end="2022"), printed(7.0, end="2021", row="in a sentence")]
    half, count, right, filled, in_tables, *_ = report("dev", cells, {"A.pdf": [figure(5.0)]})
    assert (half, count) == ("dev", "3")
    assert right.startswith("1.000")
    assert filled.startswith(".333")
    assert in_tables.startswith(".500")


def test_the_same_cells_are_drawn_for_a_seed() -> None:
    cells = load_cells()
    assert draw(cells, seed=1, most=50) == draw(cells, seed=1, most=50)
    assert len(draw(cells, seed=1, most=50)) == 50


def test_it_says_how_it_is_used() -> None:
    assert "--documents" in usage_of("key_figures.py")

"""What the benchmark of key figures takes for right, and that its file of printed figures is whole."""

import pytest

from benchmarks.key_figures import PrintedCell, found_cell, is_right, load_cells
from chatbot.comparison.key_figure_records import FigurePeriod, KeyFigure

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

"""How figures of tables, and results worked out from them, are written: as printed, in their operands' scale and unit; works nothing out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.answer.tables.cells import Cell
from ingestion.language.measures import Measure
from ingestion.language.numbers import find_figures

__all__ = ["MEAN_DECIMALS", "Worked", "decimals_of", "name_of", "number_text", "operand", "printed", "result_text", "said", "scale_text", "unit_text"]

# Of a mean, and of a result whose operands are printed in different scales.
MEAN_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Worked:
    """A value with how it was worked out, in printed figures; cells: its operands."""

    value: float
    written: str
    cells: tuple[Cell, ...]


def operand(cell: Cell) -> str:
    """As printed; with a minus sign in brackets, so that none stands by the sign of the formula: "300 - (-80)"."""
    return cell.text if cell.value >= 0 or "(" in cell.text else f"({cell.text})"


def said(cells: Sequence[Cell]) -> list[str]:
    """Each row once, with what stands under the heads that were used."""
    rows: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.key, cell.row), []).append(cell)
    return [f"{row} ({_read(of)}) [{key}]" for (key, row), of in rows.items()]


def _read(cells: Sequence[Cell]) -> str:
    pairs = dict.fromkeys(f"{cell.head}: {cell.text}" for cell in cells)
    return "; ".join(pairs) + unit_text(cells[0])


def name_of(measure: Measure) -> str:
    """A measure's name as a line begins with it."""
    return measure.name[:1].upper() + measure.name[1:]


def result_text(value: float, measure: Measure) -> str:
    """A ratio in its measure's unit; small ones with four decimals."""
    if measure.unit == "%":
        return f"{value:.1f}%"
    shown = f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.4f}"
    return f"{shown} days" if measure.unit == "days" else shown


def printed(one: Worked, measure: Measure) -> str:
    """The value as its operands are printed: a sum keeps their scale."""
    if measure.unit:
        return result_text(one.value, measure)
    alike = len({cell.scale for cell in one.cells}) == 1
    return number_text(one.value / one.cells[0].scale, decimals_of(one.cells) if alike else MEAN_DECIMALS)


def scale_text(one: Worked, measure: Measure) -> str:
    """What follows a result that is no ratio: its operands' unit."""
    return "" if measure.unit else unit_text(one.cells[0])


def unit_text(cell: Cell) -> str:
    """What follows a cell's figure: its table's unit."""
    return f", {cell.unit}" if cell.unit else ""


def decimals_of(cells: Sequence[Cell]) -> int:
    """As many as the operands show."""
    return max(figure.decimals for cell in cells for figure in find_figures(cell.text)[:1])


def number_text(value: float, decimals: int) -> str:
    """With thousands set apart, and no decimals where it is whole."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-6 else f"{value:,.{decimals}f}"

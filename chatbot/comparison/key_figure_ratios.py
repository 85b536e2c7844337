"""Works out the margins and the free cash flow of a period from two of its key figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chatbot.comparison.key_figure_records import FigurePeriod, KeyFigure
from chatbot.comparison.quantities import MINUS, number_text, worked_out
from ingestion.language.measures import measure_named

__all__ = ["with_ratios"]

RATIOS = ("gross margin", "operating margin", "net margin")
FREE_CASH_FLOW = "free cash flow"
PERCENT_DECIMALS = 1


def with_ratios(figures: Iterable[KeyFigure]) -> list[KeyFigure]:
    """The figures of one document with the margins and the free cash flow that follow from two of them."""
    found = list(figures)
    by_period: dict[FigurePeriod, dict[str, KeyFigure]] = {}
    for figure in found:
        by_period.setdefault(figure.period, {})[figure.measure] = figure
    for period, printed in by_period.items():
        for name in RATIOS:
            operands = [printed.get(operand) for operand in measure_named(name).operands]
            found += _margin(name, period, *operands)
        flows = [printed.get(operand) for operand in measure_named(FREE_CASH_FLOW).operands]
        found += _free_cash_flow(period, *flows)
    return found


def _margin(
    name: str, period: FigurePeriod, part: KeyFigure | None, whole: KeyFigure | None
) -> Iterator[KeyFigure]:
    """A part in per cent of a whole, nothing where one is missing or they are in different money."""
    if part is None or whole is None or part.unit != whole.unit or whole.value <= 0:
        return
    value = 100 * part.magnitude / whole.magnitude
    text = f"{number_text(value, PERCENT_DECIMALS)}%"
    _, written = worked_out("100 * a / b", (part.value, part.decimals), (whole.value, whole.decimals))
    formula = f"{written} = {text}"
    yield KeyFigure(
        name, period, text, value, "%", decimals=PERCENT_DECIMALS, formula=formula, operands=(part, whole)
    )


def _free_cash_flow(
    period: FigurePeriod, cash: KeyFigure | None, spent: KeyFigure | None
) -> Iterator[KeyFigure]:
    """Operating cash flow less capital expenditure, which statements print in brackets or without."""
    if cash is None or spent is None or cash.unit != spent.unit or cash.scale != spent.scale:
        return
    paid = (abs(spent.value), spent.decimals)
    value, written = worked_out(f"a {MINUS} b", (cash.value, cash.decimals), paid)
    decimals = max(cash.decimals, spent.decimals)
    text = number_text(value, decimals)
    yield KeyFigure(
        FREE_CASH_FLOW,
        period,
        text,
        value,
        cash.unit,
        cash.scale,
        decimals,
        unit_line=cash.unit_line,
        formula=f"{written} = {text}",
        operands=(cash, spent),
    )

"""Writes the entries of a comparison as CSV for spreadsheets, as JSON and as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from chatbot.comparison.changes import Change
from chatbot.comparison.quantities import unit_text
from chatbot.comparison.records import Entry, EntryPlace, Quantity
from chatbot.records import Citation
from ingestion.invisible_characters import one_line

__all__ = ["BOM", "csv_bytes", "entry_line", "entry_text", "safe_cell"]

COLUMNS = (
    "document",
    "year",
    "found",
    "figure",
    "unit",
    "value",
    "value in",
    "page",
    "printed page",
    "verified",
    "figure check",
    "quote",
    "passage",
    "change",
    "change in per cent",
    "changed from",
    "how it was worked out",
    "nearest page",
    "remark",
)
# Clearer headings for columns that could be misread: the figure is in the unit beside it, the value already
# includes the scale.
HEADS = {"unit": "unit of the figure", "value": "value in full", "value in": "unit of the value"}
# What a spreadsheet would take for the start of a formula, full-width forms included. An apostrophe before it
# makes it text.
FORMULA_BEGINS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Where a spreadsheet in another language splits cells, and a formula would begin.
CELL_BEGINS = re.compile("([;\t|]\\s*)(?=[=+@\uff1d\uff0b\uff20]|[-\uff0d](?![\\d\\s.,]))")
# Spreadsheets recognise UTF-8 by this mark.
BOM = "\ufeff"
FOUND = {"figure": "figure", "passage": "passage", "absent": "not in this document", "failed": "failed"}


def csv_bytes(
    entries: Sequence[Entry],
    changed: Mapping[EntryPlace, Change],
    question: str,
    ranked: Mapping[EntryPlace, str] = MappingProxyType({}),
) -> bytes:
    """Returns the table with one line for each entry, in UTF-8 with a byte-order mark.

    "value in full" is a plain number, with scale and sign. Everything else is text that is never taken for a
    formula.

    question: repeated in each line, so that lines of several tables can be put together. ranked: the rank of
        each figure, see `ranks`.
    """
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\r\n")
    rows.writerow(["question", *(HEADS.get(column, column) for column in COLUMNS), "rank"])
    for entry in entries:
        line = entry_line(entry, changed.get(entry.place))
        rows.writerow(
            [
                safe_cell(question),
                *(line[column] if column == "value" else safe_cell(line[column]) for column in COLUMNS),
                safe_cell(ranked.get(entry.place, "")),
            ]
        )
    return (BOM + written.getvalue()).encode("utf-8", "replace")


def entry_line(entry: Entry, change: Change | None) -> dict[str, Any]:
    """Returns one entry by the names of its columns.

    Without content a column is "", but "value" and the pages are None. "page" is the cited page, "nearest
    page" that of an entry without an answer.
    """
    quantity = entry.quantity
    citation = next(iter(entry.citations), None)
    formula, doubt = (quantity.formula, quantity.doubt) if quantity else ("", "")
    change_formula = (change.formula or change.why_not) if change else ""
    nearest = None if citation else next((page.page for page in entry.nearest), None)
    return {
        "document": entry.place.document,
        "year": entry.place.year,
        "found": FOUND[entry.state],
        **_figure_cells(quantity),
        **_page_cells(citation),
        "figure check": quantity.status.replace("_", " ") if quantity else "",
        "quote": " ".join(citation.quote.split()) if citation else "",
        "passage": entry.passage,
        **_change_cells(change),
        "how it was worked out": "; ".join(filter(None, [formula, change_formula])),
        "nearest page": nearest,
        "remark": " ".join(filter(None, [doubt, entry.reason, entry.hint])),
    }


def _figure_cells(quantity: Quantity | None) -> dict[str, Any]:
    if quantity is None:
        return {"figure": "", "unit": "", "value": None, "value in": ""}
    return {
        "figure": quantity.text,
        "unit": unit_text(quantity),
        "value": _plain(quantity.value * quantity.scale),
        "value in": "per cent" if quantity.unit == "%" else quantity.unit or "",
    }


def _page_cells(citation: Citation | None) -> dict[str, Any]:
    if citation is None:
        return {"page": None, "printed page": "", "verified": ""}
    return {
        "page": citation.page,
        "printed page": citation.page_label or "",
        "verified": "yes" if citation.verified else "no",
    }


def _change_cells(change: Change | None) -> dict[str, Any]:
    if change is None:
        return {"change": "", "change in per cent": "", "changed from": ""}
    return {
        "change": change.absolute,
        "change in per cent": change.relative,
        "changed from": "" if change.why_not else change.since.year or change.since.document,
    }


def entry_text(entry: Entry, change: Change | None) -> str:
    """Returns one entry in one or two lines for a terminal."""
    line = entry_line(entry, change)
    where = ", ".join(filter(None, [entry.place.document, entry.place.year]))
    if entry.state == "failed":
        return f"{where}: {line['remark']}"
    if entry.state == "absent":
        return f"{where}: not in this document. {line['remark']}" + (
            f" Nearest: page {line['nearest page']}." if line["nearest page"] else ""
        )
    page = f"page {line['page']}" + (
        f" (printed {line['printed page']})" if line["printed page"] not in {"", str(line["page"])} else ""
    )
    if entry.quantity:
        said = " ".join(filter(None, [line["figure"], line["unit"]]))
    else:
        said = f"“{entry.passage}”"
    if line["verified"] == "yes":
        checked = "verified"
    else:
        checked = "NOT VERIFIED"
    if entry.quantity and entry.quantity.doubt:
        doubt = f" ({entry.quantity.doubt})"
    else:
        doubt = ""
    figure = f", figure {line['figure check']}{doubt}" if entry.quantity else ""
    text = f"{where}: {said} - {page}, {checked}{figure}"
    if change is not None:
        how = (
            change.why_not
            or f"{change.absolute}{f' ({change.relative})' if change.relative else ''}: {change.formula}"
        )
        text += f"\n    from {change.since.year or change.since.document}: {how}"
    return text + (f"\n    {entry.reason}" if entry.reason else "")


def safe_cell(value: object) -> str:
    """Returns a value as text on one line that no spreadsheet takes for a formula."""
    if value is None:
        text = ""
    else:
        text = one_line(str(value))
    text = CELL_BEGINS.sub(r"\1'", text)
    if text.startswith(FORMULA_BEGINS):
        return f"'{text}"
    return text


def _plain(value: float) -> float | int:
    """Writes whole numbers without a point, and others without the noise of binary fractions."""
    rounded = round(value, 6)
    if rounded.is_integer():
        return int(rounded)
    return rounded

"""Writes the entries of a comparison as CSV for spreadsheets, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from chatbot.comparison.changes import Change
from chatbot.comparison.quantities import unit_text
from chatbot.comparison.records import Entry, EntryPlace
from chatbot.comparison.table_files import csv_of, plain_number

__all__ = ["csv_bytes", "entry_line", "entry_text"]

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
FOUND = {"figure": "figure", "passage": "passage", "absent": "not in this document", "failed": "failed"}


def csv_bytes(
    entries: Sequence[Entry],
    changed: Mapping[EntryPlace, Change],
    question: str,
    ranked: Mapping[EntryPlace, str] = MappingProxyType({}),
) -> bytes:
    """Returns the table with one line for each entry, see `csv_of`. "value in full" has scale and sign.

    question: repeated in each line, so that lines of several tables can be put together. ranked: the rank of
        each figure, see `ranks`.
    """
    head = ["question", *(HEADS.get(column, column) for column in COLUMNS), "rank"]
    rows = (
        [question, *entry_line(entry, changed.get(entry.place)).values(), ranked.get(entry.place)]
        for entry in entries
    )
    return csv_of(head, rows)


def entry_line(entry: Entry, change: Change | None) -> dict[str, Any]:
    """Returns one entry by the names of its columns.

    Without content a column is "", but "value" and the pages are None. "page" is the cited page, "nearest
    page" that of an entry without an answer.
    """
    line: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    line |= {"value": None, "page": None, "nearest page": None}
    line |= {"document": entry.place.document, "year": entry.place.year}
    line |= {"found": FOUND[entry.state], "passage": entry.passage}
    workings = []
    remarks = [entry.reason, entry.hint]
    if (quantity := entry.quantity) is not None:
        line |= {
            "figure": quantity.text,
            "unit": unit_text(quantity),
            "value": plain_number(quantity.value * quantity.scale),
            "value in": "per cent" if quantity.unit == "%" else quantity.unit or "",
            "figure check": quantity.status.replace("_", " "),
        }
        workings.append(quantity.formula)
        remarks.insert(0, quantity.doubt)
    if entry.citations:
        citation = entry.citations[0]
        line |= {
            "page": citation.page,
            "printed page": citation.page_label or "",
            "verified": "yes" if citation.verified else "no",
            "quote": " ".join(citation.quote.split()),
        }
    elif entry.nearest:
        line["nearest page"] = entry.nearest[0].page
    if change is not None:
        since = change.since.year or change.since.document
        line |= {"change": change.absolute, "change in per cent": change.relative}
        line["changed from"] = "" if change.why_not else since
        workings.append(change.formula or change.why_not)
    line["how it was worked out"] = "; ".join(filter(None, workings))
    line["remark"] = " ".join(filter(None, remarks))
    return line


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
    said = " ".join(filter(None, [line["figure"], line["unit"]])) if entry.quantity else f"“{entry.passage}”"
    checked = "verified" if line["verified"] == "yes" else "NOT VERIFIED"
    doubt = f" ({entry.quantity.doubt})" if entry.quantity and entry.quantity.doubt else ""
    figure = f", figure {line['figure check']}{doubt}" if entry.quantity else ""
    text = f"{where}: {said} - {page}, {checked}{figure}"
    if change is not None:
        how = (
            change.why_not
            or f"{change.absolute}{f' ({change.relative})' if change.relative else ''}: {change.formula}"
        )
        text += f"\n    from {change.since.year or change.since.document}: {how}"
    return text + (f"\n    {entry.reason}" if entry.reason else "")

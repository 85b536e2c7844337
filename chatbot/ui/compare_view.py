"""Says what the table of a comparison shows: entries with changes, ranks and units, also as rows of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.app.app_context import AppContext
from chatbot.comparison import (
    Change,
    Comparison,
    Entry,
    EntryPlace,
    Quantity,
    ShownFigure,
    change_between,
    changes,
    ranks,
    shown_figures,
    unit_text,
)
from chatbot.records import Citation, PageRef
from chatbot.ui.safe_text import page_text, short

__all__ = [
    "SHORT_PASSAGE",
    "ComparisonView",
    "begin_view",
    "change_at",
    "filled",
    "is_ranked_across_years",
    "moved_text",
    "overall",
    "page_citations",
    "place_of",
    "plain_rows",
    "printed_text",
    "sides",
]

# The pages that one entry offers: the operands of a ratio may be on two.
MOST_PAGES = 3
# The characters of a passage where columns are narrow.
SHORT_PASSAGE = 130


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """What a table shows of a comparison.

    titles, years: titles and fiscal years of documents, by name. editions: as in `changes`.
    found: the entries so far. changed, ranked: the change and the rank of those that have one.
    shown: amounts in the one scale of the table, where documents print them in several.
    """

    comparison: Comparison
    titles: Mapping[str, str] = field(default_factory=dict)
    years: Mapping[str, str] = field(default_factory=dict)
    editions: Sequence[Sequence[str]] = ()
    found: Mapping[EntryPlace, Entry] = field(default_factory=dict)
    changed: Mapping[EntryPlace, Change] = field(default_factory=dict)
    ranked: Mapping[EntryPlace, str] = field(default_factory=dict)
    shown: Mapping[EntryPlace, ShownFigure] = field(default_factory=dict)

    def title(self, name: str) -> str:
        """The title of a document; a year as it is."""
        return self.titles.get(name, name)


def begin_view(comparison: Comparison, context: AppContext) -> ComparisonView:
    """Returns the view of a comparison of which nothing has come yet."""
    chatbot = context.chatbot
    there = {row.name for row in chatbot.documents() if row.removed_at is None}
    names = [name for name in comparison.names if name in there]
    years = chatbot.fiscal_years(names) if names else {}
    return ComparisonView(comparison, chatbot.titles(), years, chatbot.editions(names))


def filled(view: ComparisonView, found: Mapping[EntryPlace, Entry]) -> ComparisonView:
    """Returns the view with what has come."""
    comparison = view.comparison
    return replace(
        view,
        found=found,
        changed=changes(comparison, found, view.editions),
        ranked=ranks(comparison, found, view.editions),
        shown=shown_figures(list(found.values())),
    )


def is_ranked_across_years(view: ComparisonView) -> bool:
    """Tells whether figures of different fiscal years are ranked, as no year was asked for."""
    years = {view.years.get(place.document) for place in view.ranked}
    return not view.comparison.years and len(years) > 1


def change_at(place: EntryPlace, view: ComparisonView) -> Change | None:
    """Returns the change at a place, with the year or title of the document that it is a change from."""
    change = view.changed.get(place)
    if change is None:
        return None
    since = change.since.document
    year = view.years.get(since, "")
    named = year if year != view.years.get(place.document) else view.title(since)
    return replace(change, since=replace(change.since, document=named or view.title(since)))


def sides(comparison: Comparison) -> tuple[Sequence[str], Sequence[str]]:
    """Returns (row labels, column labels)."""
    years = comparison.years or ("",)
    if comparison.by_year:
        return (years, comparison.names)
    return (comparison.names, years)


def place_of(comparison: Comparison, left: str, above: str) -> EntryPlace:
    if comparison.by_year:
        return EntryPlace(above, left)
    return EntryPlace(left, above)


def overall(
    comparison: Comparison, document: str, found: Mapping[EntryPlace, Entry]
) -> tuple[str, Change] | None:
    """Returns (last year, the change to it from the first) of a document with figures of three years or more.

    Returns None with fewer.
    """
    there = [
        entry
        for year in comparison.years
        if (entry := found.get(EntryPlace(document, year))) is not None and entry.quantity is not None
    ]
    if len(there) > 2:
        return (there[-1].place.year, change_between(there[0], there[-1]))
    return None


def moved_text(change: Change) -> str:
    """Returns a text such as "+2,917 (+22.7%)", in the unit of the figure above, or points."""
    number, _, unit = change.absolute.partition(" ")
    points = " points" if unit == "percentage points" else ""
    return f"{number}{points}{f' ({change.relative})' if change.relative else ''}"


def printed_text(quantity: Quantity) -> str:
    """A figure as its document has it, such as "$ 5.2 billion"."""
    return " ".join(filter(None, [quantity.text, unit_text(quantity)]))


def page_citations(entry: Entry) -> list[Citation]:
    """Returns one citation for each page, so that a cell stays small."""
    pages = {
        (citation.version, citation.page): citation
        for citation in reversed(entry.citations)
        if citation.document is not None
    }
    return list(reversed(pages.values()))[:MOST_PAGES]


def plain_rows(view: ComparisonView) -> list[list[str]]:
    """Returns the rows of the table as text."""
    down, across = sides(view.comparison)
    rows = []
    for label in down:
        cells = [_plain(view, place_of(view.comparison, label, name)) for name in across]
        rows.append([view.title(label), *cells])
    return rows


def _plain(view: ComparisonView, place: EntryPlace) -> str:
    entry = view.found.get(place)
    if entry is None:
        return "not asked"
    if entry.state == "failed":
        return f"failed: {entry.reason}"
    if entry.state == "absent":
        return "not in this document"
    shown = view.shown.get(place)
    if entry.quantity and shown:
        said = f"{shown.text} {shown.unit}, as printed {printed_text(entry.quantity)}"
    elif entry.quantity:
        said = printed_text(entry.quantity)
    else:
        said = f"“{short(entry.passage, SHORT_PASSAGE)}”"
    pages = ", ".join(page_text(PageRef("", one.page or 1, one.page_label)) for one in page_citations(entry))
    parts = [f"{said} ({pages})" if pages else said]
    change = change_at(place, view)
    if change and not change.why_not:
        parts.append(f"{moved_text(change)} from {change.since.year or change.since.document}")
    if place in view.ranked:
        parts.append(view.ranked[place])
    return "; ".join(parts)

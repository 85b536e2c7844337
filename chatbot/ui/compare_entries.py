"""Says what the table of a comparison shows: documents side by side, an entry in each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.app.app_context import AppContext
from chatbot.app.running_comparisons import Running
from chatbot.comparison import (
    Change,
    Comparison,
    Entry,
    EntryPlace,
    Quantity,
    change_between,
    changes,
    ranks,
    shown_figures,
)
from chatbot.comparison.quantities import printed_amount
from chatbot.records import FIGURE_VERDICTS, FINE, PageRef
from chatbot.ui import session
from chatbot.ui.answer_text import page_cited, words_cited
from chatbot.ui.figure_table import FigureCell, FigureTable, PageLink
from chatbot.ui.overlay import OpenPage, cited_page
from chatbot.ui.safe_text import page_text, plain_html, short

__all__ = ["ComparisonView", "begin_view", "entry_html", "filled", "overall", "table_of"]

# The pages that one entry offers: the operands of a ratio may be on two.
MOST_PAGES = 3
# The characters of a passage where there are so many columns, and of what a figure has changed from.
NARROW, SHORT_PASSAGE, SHORT_NAME = 3, 130, 24
# The characters of a document's title in a heading.
LONGEST_NAME = 90


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
    shown: Mapping[EntryPlace, str] = field(default_factory=dict)

    def title(self, name: str) -> str:
        """The title of a document."""
        return self.titles.get(name, name)

    @property
    def is_ranked_across_years(self) -> bool:
        """Whether figures of different fiscal years are ranked, as no year was asked for."""
        years = {self.years.get(place.document) for place in self.ranked}
        return not self.comparison.years and len(years) > 1


def begin_view(comparison: Comparison, context: AppContext) -> ComparisonView:
    """Returns the view of a comparison of which nothing has come yet."""
    chatbot = context.chatbot
    there = {row.name for row in session.documents(context)}
    names = [name for name in comparison.names if name in there]
    years = chatbot.fiscal_years(names) if names else {}
    return ComparisonView(comparison, chatbot.titles(), years, chatbot.editions(names))


def filled(view: ComparisonView, found: Mapping[EntryPlace, Entry]) -> ComparisonView:
    """Returns the view with what has come."""
    return replace(
        view,
        found=found,
        changed=changes(view.comparison, found, view.editions),
        ranked=ranks(view.comparison, found, view.editions),
        shown=shown_figures(list(found.values())),
    )


def table_of(view: ComparisonView, running: Running | None = None) -> FigureTable:
    """Returns the table: documents as columns and years as rows; years as columns of a single document.

    running: what fills it.
    """
    names, years = view.comparison.names, view.comparison.years or ("",)
    if len(names) == 1:
        caption, rows = f"{view.title(names[0])}: {view.comparison.question}", [""]
        columns = [plain_html(year) for year in years]
        columns[-1] += f"<small>{plain_html(_overall_text(view, names[0]))}</small>"
    else:
        caption = view.comparison.question
        columns, rows = [_name_html(view, name) for name in names], [plain_html(year) for year in years]
    longest = SHORT_PASSAGE if len(columns) >= NARROW else 0

    def cell(row: int, column: int) -> FigureCell:
        at, year = (0, column) if len(names) == 1 else (column, row)
        place = EntryPlace(names[at], years[year])
        entry = view.found.get(place)
        if entry is None:
            return FigureCell(f'<p class="stage">{_waiting(place, running)}</p>')
        return FigureCell(entry_html(view, entry, longest), _links(view, entry))

    return FigureTable(caption, columns, rows, cell)


def _waiting(place: EntryPlace, running: Running | None) -> str:
    if running is None or not running.busy:
        return "Not asked"
    return "Asking …" if place == running.asking else "Waiting"


def _name_html(view: ComparisonView, name: str) -> str:
    """Renders the title of a document, its fiscal year, and the change over all the years."""
    title = short(view.title(name), LONGEST_NAME)
    year = view.years.get(name, "")
    said = [year if year not in title else "", _overall_text(view, name)]
    lines = "".join(f"<small>{plain_html(line)}</small>" for line in said if line)
    return f'<span data-tip="{plain_html(name)}">{plain_html(title)}</span>{lines}'


def _overall_text(view: ComparisonView, name: str) -> str:
    """The change over all the years of a document, "" for none."""
    last, moved = overall(view.comparison, name, view.found) or ("", None)
    if moved is None or moved.why_not:
        return ""
    return f"{moved.since.year} to {last}: {_moved_text(moved)}"


def overall(
    comparison: Comparison, document: str, found: Mapping[EntryPlace, Entry]
) -> tuple[str, Change] | None:
    """Returns (last year, the change to it from the first) of a document with figures of three years or more.

    Returns None with fewer.
    """
    asked = (found.get(EntryPlace(document, year)) for year in comparison.years)
    there = [entry for entry in asked if entry is not None and entry.quantity is not None]
    return (there[-1].place.year, change_between(there[0], there[-1])) if len(there) > 2 else None


def _change_at(view: ComparisonView, place: EntryPlace) -> tuple[Change | None, str]:
    """Returns the change at a place, and the year or title of the document that it is a change from."""
    change = view.changed.get(place)
    if change is None:
        return None, ""
    since = change.since.document
    year = view.years.get(since, "")
    named = year if year != view.years.get(place.document) else ""
    return change, change.since.year or named or view.title(since)


def _moved_text(change: Change) -> str:
    """Returns a text such as "+2,917 (+22.7%)", in the unit of the figure above, or points."""
    number, _, unit = change.absolute.partition(" ")
    points = " points" if unit == "percentage points" else ""
    return f"{number}{points}{f' ({change.relative})' if change.relative else ''}"


def entry_html(view: ComparisonView, entry: Entry, longest: int = 0) -> str:
    """Renders an entry without its pages. longest: the characters of its passage, 0 for all."""
    if entry.state == "failed":
        return f'<p class="strong" role="alert">⚠ {plain_html(entry.reason)}</p>{_remark(entry.hint)}'
    if entry.state == "absent":
        return f'<p class="absent">Not in this document</p>{_remark(entry.reason)}'
    words = short(entry.passage, longest) if longest else entry.passage
    said = f'<p class="words">{plain_html(words)}</p>' if words else ""
    if entry.quantity is None:
        return said + _remark(entry.reason)
    # Where the passage is the figure's row, the figure says it all.
    is_sentence = not entry.passage.endswith(")")
    rank = view.ranked.get(entry.place)
    return (
        _figure_html(entry.quantity, view.shown.get(entry.place, ""))
        + _change_html(*_change_at(view, entry.place))
        + (f'<p class="moved">{plain_html(rank)}</p>' if rank else "")
        + _remark(entry.reason)
        + (said if not entry.quantity.formula and is_sentence else "")
    )


def _remark(text: str) -> str:
    return f'<p class="remark">{plain_html(text)}</p>' if text else ""


def _figure_html(quantity: Quantity, shown: str) -> str:
    """shown: the amount in the scale of the table, "" where that is the page's."""
    as_printed = printed_amount(quantity)
    printed = f' title="{plain_html(f"As printed: {as_printed}")}"' if shown else ""
    doubt = f"⚠ {quantity.doubt}" if quantity.doubt else FIGURE_VERDICTS.get(quantity.status, quantity.status)
    check = "" if quantity.status in FINE else _remark(doubt)
    worked = _remark("worked out from its figures") if quantity.formula else ""
    return f'<p class="amount"{printed}>{plain_html(shown or as_printed)}</p>{check}{worked}'


def _change_html(change: Change | None, since: str) -> str:
    if change is None:
        return ""
    since = short(since, SHORT_NAME)
    if change.why_not:
        return _remark(f"Change from {since}: {change.why_not[0].lower()}{change.why_not[1:]}")
    text = plain_html(f"{_moved_text(change)} from {since}")
    return f'<p class="moved">{text}</p>'


def _links(view: ComparisonView, entry: Entry) -> list[PageLink]:
    """Returns the pages that an entry cites, and the nearest one where it has no answer."""
    links = []
    # One citation for each page, so that a cell stays small.
    there = [one for one in reversed(entry.citations) if one.document and one.version is not None]
    pages = {(one.version, one.page): one for one in there}
    for citation in list(reversed(pages.values()))[:MOST_PAGES]:
        html = f"{plain_html(page_cited(citation))} <strong>{plain_html(citation.verdict)}</strong>"
        told = f"{citation.document}: {words_cited(citation)}"
        links.append(PageLink(html, told, cited_page(citation)))
    for near in entry.nearest[:1]:
        where = page_text(PageRef(near.document, near.page, near.page_label))
        told = f"Opens the nearest page of {view.title(near.document)}."
        opened = OpenPage(near.document, near.version, near.page)
        links.append(PageLink(plain_html(f"Nearest: {where}"), told, opened))
    return links

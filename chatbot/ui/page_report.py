"""Renders how the pages of a document were read: a strip of all pages, the facts, a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import mean

from chatbot.records import PageRef, PageReport
from chatbot.ui.safe_text import counted, page_text, plain_html, table_html
from ingestion.pages.page_labels import roman_value
from ingestion.reading.formats import is_omission

__all__ = ["facts_html", "kind_of", "number_runs", "pages_html", "ranges", "strip_html"]

# Kinds of pages, as style.css colours them, in the order of the legend.
KINDS: Mapping[str, str] = {
    "text": "text of the PDF",
    "ocr": "read by OCR",
    "both": "text, and pictures read by OCR",
    "none": "no text found",
    "failed": "not read",
}
METHODS = {"text": "text", "text-pypdf": "text", "ocr": "ocr", "text+ocr": "both"}
SECOND_READER = "text of the PDF, second reader"
LABELS = {"printed": "header or footer", "pdf": "the PDF's labels"}
HEAD = ("Page", "Printed", "Number from", "Read by", "Confidence", "Tables", "Characters", "Problem")
# Pages in a row of the strip: a page is then found at a glance, and is still 3 pixels wide on a phone.
ROW = 100
# The most rows of the strip. Longer documents get narrower pages.
MOST_ROWS = 12
# The number of ranges and series that are spelled out.
MOST_RUNS = 6


def kind_of(page: PageReport) -> str:
    """Returns one of KINDS. A page with a problem counts as not read, whatever was found on it."""
    return "failed" if page.problem is not None else METHODS.get(page.method, "none")


def strip_html(pages: Sequence[PageReport]) -> str:
    """Renders all pages as small coloured cells, each named in its title.

    The legend says the same in words and numbers.
    """
    counts = Counter(map(kind_of, pages))
    # Colour and pattern say how a page was read, a mark says that it has tables.
    cells = "".join(
        f'<span class="{kind_of(page)}{" tables" * bool(page.tables)}" '
        f'title="{plain_html(_titled(page))}" data-page="{page.number}"></span>'
        for page in pages
    )
    told = [(kind, f"{counts[kind]:,} {text}") for kind, text in KINDS.items() if counts[kind]]
    if with_tables := sum(page.tables > 0 for page in pages):
        told.append(("none tables", f"{with_tables:,} with tables"))
    legend = "".join(f'<span><i class="{kind}"></i>{text}</span>' for kind, text in told)
    columns = min(len(pages), max(ROW, -(-len(pages) // MOST_ROWS)))
    style = f"grid-template-columns: repeat({columns}, minmax(0, 1.6rem))"
    return (
        f'<div class="strip"><div class="cells" role="img" aria-label="The pages in order" '
        f'style="{style}">{cells}</div>'
        f'<p class="legend">{legend}</p></div>'
    )


def facts_html(pages: Sequence[PageReport], space: str = "") -> str:
    """Renders the facts about all pages together, as terms and their descriptions.

    space: what the document takes on the disk, in words.
    """
    facts = [
        ("OCR", _sureness(pages)),
        ("Printed numbers", _labels(pages)),
    ]
    lost = [page.number for page in pages if page.problem is not None]
    if lost:
        facts.append(("Not read", f"page {ranges(lost)}"))
    instructing = [page.number for page in pages if page.instructions]
    if instructing:
        facts.append(("Orders to machines", f"page {ranges(instructing)}"))
    left_out = [page.number for page in pages if any(map(is_omission, page.remarks))]
    if left_out:
        facts.append(("Omitted", f"words or files, page {ranges(left_out)}"))
    if space:
        facts.append(("Space", space))
    entries = "".join(f"<div><dt>{term}</dt><dd>{plain_html(text)}</dd></div>" for term, text in facts)
    return f'<dl class="facts">{entries}</dl>'


def pages_html(pages: Iterable[PageReport]) -> str:
    """Renders one row for each page."""
    return table_html("How each page was read", HEAD, map(_line, pages))


def ranges(numbers: Iterable[int]) -> str:
    """Writes ascending numbers as "1–3, 7".

    Of many ranges it writes the first few, and how many more numbers there are.
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    left = sum(map(len, runs[MOST_RUNS:]))
    text = ", ".join(_span(str(run[0]), str(run[-1])) for run in runs[:MOST_RUNS])
    return f"{text} and {left:,} more" if left else text


def number_runs(pages: Iterable[PageReport]) -> list[tuple[str, str]]:
    """Returns (first, last) printed number of each series, in the order of the pages.

    A page without a number does not end a series.
    """
    labelled = [(_series(page.number, page.label), page.label) for page in pages if page.label]
    runs = []
    for _, run in groupby(labelled, lambda pair: pair[0]):
        labels = [label for _, label in run]
        runs.append((labels[0], labels[-1]))
    return runs


def _series(number: int, label: str) -> tuple[str, int]:
    """Returns (style, number to add to the physical number), the same for all pages of one series."""
    if found := re.search(r"(?<![0-9])[0-9]{1,9}$", label):
        return label[: found.start()] + "1", int(found[0]) - number
    value = roman_value(label)
    return ("i", value - number) if value else (label, 0)


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first}–{last}"


def _sureness(pages: Sequence[PageReport]) -> str:
    sure = [(page.confidence, page.number) for page in pages if page.confidence is not None]
    if not sure:
        return "not needed"
    lowest, where = min(sure)
    average = mean(value for value, _ in sure)
    if len(sure) == 1:
        return f"1 page, confidence {average:.0f} of 100"
    return f"{len(sure):,} pages, confidence {average:.0f} of 100, lowest {lowest:.0f} on page {where}"


def _labels(pages: Sequence[PageReport]) -> str:
    runs = number_runs(pages)
    if not runs:
        return "none found"
    text = ", ".join(_span(*run) for run in runs[:MOST_RUNS])
    if len(runs) > MOST_RUNS:
        text += f" and {len(runs) - MOST_RUNS} more series"
    without = sum(not page.label for page in pages)
    return f"{text}; none on {counted(without, 'page')}" if without else text


def _read_by(page: PageReport) -> str:
    if page.method == "text-pypdf":
        return SECOND_READER
    return KINDS[METHODS.get(page.method, "none")]


def _titled(page: PageReport) -> str:
    named = page_text(PageRef("", page.number, page.label), "Page ")
    if page.problem is not None:
        return f"{named}: not read. {page.problem}"
    tables = f", {counted(page.tables, 'table')}" if page.tables else ""
    sure = "" if page.confidence is None else f", confidence {page.confidence:.0f} of 100"
    return f"{named}: {_read_by(page)}{sure}{tables}"


def _line(page: PageReport) -> tuple[str, ...]:
    sure = "–" if page.confidence is None else f"{page.confidence:.0f} of 100"
    label = LABELS.get(page.label_source or "", "–")
    found = (str(page.tables or "–"), f"{page.characters:,}")
    problem = page.problem or "; ".join(_notes(page)) or "–"
    return (str(page.number), page.label or "–", label, _read_by(page), sure, *found, problem)


def _notes(page: PageReport) -> list[str]:
    """Describes text that addresses its reader as a machine, and what is omitted from the page's text."""
    orders = f"{counted(page.instructions, 'order')} to machines"
    told = [f"{'omitted: ' * is_omission(remark)}{remark}" for remark in page.remarks]
    return [orders, *told] if page.instructions else told

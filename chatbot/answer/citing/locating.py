"""Knows where words that an answer shows stand on a page: quotations, runs of words, rows; knows no keys, and not what a statement is."""

from __future__ import annotations

import re
from bisect import bisect_left

from chatbot.answer.checks.number_checks import figures_stating
from chatbot.answer.checks.pages import PageView
from chatbot.answer.checks.words import STOP_WORDS, Words, comparable_words, longest_figure_run, longest_run, span_of
from chatbot.numbers import Figure

__all__ = ["locate", "located", "quoted_passage", "unquoted_passage"]

# A row's label ends where its figures begin.
_FIGURES_OF_ROW = re.compile(r"\s[^\w\s%]{0,3}\d")
NOT_QUOTED_THERE = "the quoted words do not stand on that page"


def locate(page_text: str, quote: str) -> tuple[int, int] | None:
    """Offsets of a quotation in a page, or None: case, spacing, hyphenation, quotes, dashes and outer punctuation may differ, words may not."""
    return located(page_text, comparable_words(page_text), quote)


def quoted_passage(parts: list[str], view: PageView) -> tuple[tuple[int, int], str, str]:
    """Offsets, reason ("" where verified) and quote: of the longest quoted part, where all of them stand on the page; else the first that does not."""
    spans = {part: located(view.text, view.words, part) for part in parts}
    if missing := next((part for part, span in spans.items() if span is None), None):
        return (-1, -1), NOT_QUOTED_THERE, " ".join(missing.split())
    start, end = max((span for span in spans.values() if span), key=lambda span: span[1] - span[0])
    return (start, end), "", view.text[start:end]


def located(page_text: str, words: Words, quote: str) -> tuple[int, int] | None:
    """As locate, with the page's words at hand."""
    sought = comparable_words(quote)
    span = span_of(sought.texts, words)
    if span is None:
        return None
    start, end = span
    lead, tail = quote[: sought.starts[0]].strip(), quote[sought.ends[-1] :].strip()
    start -= len(lead) if lead and page_text.endswith(lead, 0, start) else 0
    return start, end + (len(tail) if tail and page_text.startswith(tail, end) else 0)


def unquoted_passage(words: Words, figures: list[Figure], view: PageView) -> tuple[int, int] | None:
    """The longest run of the statement's words, the table row it reads out, or a figure with the words beside it; the first that holds a figure
    where the statement has one, else the first of all."""
    found = [span for span in (longest_run(words, view.words), _row(words, figures, view)) if span]
    found = [_with_whole_figures(view, *span) for span in found]
    with_figure = [span for span in found if _has_figure(view, *span)]
    if found:
        return with_figure[0] if figures and with_figure else found[0]
    span = longest_figure_run(words, view.words)
    return _with_whole_figures(view, *span) if span and _has_figure(view, *span) else None


def _row(said: Words, figures: list[Figure], view: PageView) -> tuple[int, int] | None:
    """A table row whose whole label is among the statement's words and which holds one of its figures, as offsets of its line."""
    for stated in (place for figure in figures for place in figures_stating(figure, view)):
        start = view.text.rfind("\n", 0, stated.start) + 1
        end = view.text.find("\n", stated.end)
        line = view.text[start : end if end >= 0 else len(view.text)]
        before = _FIGURES_OF_ROW.split(line, maxsplit=1)[0]  # what stands behind them is "Yes", or a note
        named = before if any(map(str.isalpha, before)) else line
        label = [word for word in comparable_words(named).texts if word not in STOP_WORDS and not word[0].isdigit()]
        if label and set(said.texts).issuperset(label):
            start += len(line) - len(line.lstrip())
            return start, start + len(line.strip())
    return None


def _has_figure(view: PageView, start: int, end: int) -> bool:
    index = bisect_left(view.figures, start + 1, key=lambda placed: placed.figure.end)
    return index < len(view.figures) and view.figures[index].figure.start < end


def _with_whole_figures(view: PageView, start: int, end: int) -> tuple[int, int]:
    """The span, grown so that no figure at its edges loses sign, currency, scale or unit."""
    for placed in view.figures[bisect_left(view.figures, start + 1, key=lambda placed: placed.figure.end) :]:
        if placed.figure.start >= end:
            break
        start, end = min(start, placed.figure.start), max(end, placed.figure.end)
    return start, end

"""Knows where words that an answer shows stand on a page: quotations, runs of words, rows; knows no keys,
and not what a statement is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import islice

from chatbot.answer.checks.number_checks import figures_stating
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_figures import OnPage
from chatbot.evidence.word_runs import (
    MIN_QUOTE_WORDS,
    STOP_WORDS,
    Words,
    comparable_words,
    longest_run,
    names_figure,
    span_of,
    spans_of,
    telling_words,
)
from ingestion.language.list_items import ITEM_START
from ingestion.language.numbers import Figure

__all__ = ["copied_passage", "locate", "quoted_passage", "row_behind_head", "unquoted_passage"]

# A row's label ends where its figures begin.
_FIGURES_OF_ROW = re.compile(r"\s[^\w\s%]{0,3}\d")
# A row's head ends in a colon; what is read out of the row's columns stands in brackets behind it.
_HEAD_END = re.compile(r":\s")
_BRACKET = re.compile(r"\s\(")
_READ_OUT = re.compile(r"\s\((?=[^()]*(?:\([^()]*\)[^()]*)*\)\s*\Z)")
# Characters from the first to the last of what is quoted with something left out between.
LONGEST_WITH_GAPS = 1_000
MOST_PARTS = 20  # between the ellipses of one quotation
MOST_PLACES = 50  # of one part on a page
MOST_HEADS = 5  # colons behind which a row may begin
MOST_BRACKETS = 10  # that may stand behind a row
NOT_QUOTED_THERE = "the quoted words do not stand on that page"
PARTS_APART = "the quoted parts do not stand in this order in one sentence or neighbouring ones of that page"


def locate(page_text: str, quote: str) -> tuple[int, int] | None:
    """Offsets of a quotation in a page, or None: case, spacing, hyphenation, quotes, dashes and outer
    punctuation may differ, words may not.
    """
    return _located(page_text, comparable_words(page_text), quote)


def quoted_passage(
    quotations: Sequence[Sequence[str]], view: PageEvidence
) -> tuple[tuple[int, int], str, str]:
    """Offsets, reason ("" where verified) and quote: of the longest quoted part, where all of them stand on
    the page; else what does not.

    quotations: each as the parts that its ellipses leave, which must stand in order, in one sentence or from
    one to the next."""
    found: list[tuple[int, int]] = []
    for parts in quotations:
        spans = [_located(view.text, view.words, part) for part in parts]
        if missing := next((part for part, span in zip(parts, spans, strict=True) if span is None), None):
            return (-1, -1), NOT_QUOTED_THERE, " ".join(missing.split())
        if len(parts) > 1:
            joined = _in_order(parts, view)
        else:
            joined = [span for span in spans if span]
        if not joined:
            return (-1, -1), PARTS_APART, " … ".join(" ".join(part.split()) for part in parts[:MOST_PARTS])
        found += joined
    start, end = max(found, key=lambda span: span[1] - span[0])
    return (start, end), "", view.text[start:end]


def _in_order(parts: Sequence[str], view: PageEvidence) -> list[tuple[int, int]]:
    """A place for each part, one behind the other, none further on than the sentence after the last one's but
    one that begins its sentence, which nothing before it is read into; [] where there are none."""
    if len(parts) > MOST_PARTS:
        return []
    starts = [
        start + len(view.text[start:end]) - len(view.text[start:end].lstrip())
        for start, end in view.sentence_spans
    ]

    def follows(span: tuple[int, int], last: tuple[int, int]) -> bool:
        near = bisect_right(starts, span[0]) - bisect_right(starts, last[1] - 1) <= 1
        return near or (
            span[0] - last[1] <= LONGEST_WITH_GAPS and starts[bisect_right(starts, span[0]) - 1] == span[0]
        )

    chains: list[list[tuple[int, int]]] = []  # by where they end
    for number, part in enumerate(parts):
        sought = comparable_words(part)
        found = islice(spans_of(sought.texts, view.words, chains[0][-1][1] if number else 0), MOST_PLACES)
        places = [_with_outer_marks(view.text, part, sought, span) for span in found]
        before = [
            (span, next((chain for chain in reversed(chains) if chain[-1][1] <= span[0]), []))
            for span in places
        ]
        chains = [
            [*chain, span] for span, chain in before if not number or (chain and follows(span, chain[-1]))
        ]
    if chains:
        return chains[0]
    return []


def copied_passage(parts: list[str], view: PageEvidence) -> tuple[int, int] | None:
    """Offsets of what a page has word for word, None where it has not. parts: the pieces that ellipses leave,
    in order: the span is around all of them, or the longest where they stand far apart. A few words count
    only as whole lines with a figure: they stand anywhere by chance."""
    if len(parts) > MOST_PARTS:
        return None
    spans: list[tuple[int, int]] = []
    for part, sought in ((part, comparable_words(part)) for part in parts):
        if not sought.texts:
            continue
        place = next(spans_of(sought.texts, view.words, spans[-1][1] if spans else 0), None)
        if place is None:
            return None
        spans.append(_with_outer_marks(view.text, part, sought, place))
    if not spans:
        return None
    around = spans[0][0], spans[-1][1]
    if around[1] - around[0] <= LONGEST_WITH_GAPS or len(spans) == 1:
        span = around
    else:
        span = max(spans, key=lambda span: span[1] - span[0])
    found = comparable_words(view.text[slice(*span)])
    row = (
        telling_words(found) > 0
        and any(word[0].isdigit() for word in found.texts)
        and _is_whole_lines(view.text, *span)
    )
    if len(found.texts) >= MIN_QUOTE_WORDS or row:
        return span
    return None


def row_behind_head(said: str, view: PageEvidence) -> tuple[int, int] | None:
    """Offsets of the row that a text gives behind its head, "Interest rates: Repo rate 5.25 (2025: 5.25)":
    whole lines that hold a figure, the next ones below the head where the page has several. None where there
    are none, or the head's words are not the page's. Only the last colons part a head."""
    words = comparable_words(said)
    known = frozenset(view.words.texts)
    brackets = [bracket.start() for bracket in _read_out_brackets(said)]
    for colon in [*_HEAD_END.finditer(said)][-MOST_HEADS:]:
        first = bisect_left(words.starts, colon.end())
        if not known.issuperset(words.texts[:first]):
            continue
        for end in (len(said), *(at for at in brackets if at >= colon.end())):
            row = words.texts[first : bisect_left(words.starts, end)]
            if not any(word[0].isdigit() for word in row):
                continue
            if places := [span for span in spans_of(row, view.words) if _is_whole_lines(view.text, *span)]:
                above = longest_run(comparable_words(said[: colon.start()]), view.words) or (0, 0)
                place = next((span for span in places if span[0] >= above[1]), places[0])
                printed = said[colon.end() : end]
                return _with_outer_marks(view.text, printed, comparable_words(printed), place)
    return None


def _read_out_brackets(said: str) -> list[re.Match[str]]:
    """The last brackets behind which nothing but brackets closes the text."""
    last = [*_BRACKET.finditer(said)][-MOST_BRACKETS:]
    return [bracket for bracket in last if _READ_OUT.match(said, bracket.start())]


def _is_whole_lines(text: str, start: int, end: int) -> bool:
    """Whether nothing but a bullet or an item's number stands before the span on its first line, and no
    word behind it on its last.
    """
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    behind = text[end : last if last >= 0 else len(text)]
    return ITEM_START.fullmatch(text, first, start) is not None and not any(map(str.isalnum, behind))


def _located(page_text: str, words: Words, quote: str) -> tuple[int, int] | None:
    """As locate, with the page's words at hand."""
    sought = comparable_words(quote)
    span = span_of(sought.texts, words)
    if span:
        return _with_outer_marks(page_text, quote, sought, span)
    return None


def _with_outer_marks(page_text: str, quote: str, sought: Words, span: tuple[int, int]) -> tuple[int, int]:
    """The span with the marks that stand at the quotation's ends, where the page has them too."""
    start, end = span
    lead = quote[: sought.starts[0]].strip()
    tail = quote[sought.ends[-1] :].strip()
    start -= len(lead) if lead and page_text.endswith(lead, 0, start) else 0
    return start, end + (len(tail) if tail and page_text.startswith(tail, end) else 0)


def unquoted_passage(words: Words, figures: list[Figure], view: PageEvidence) -> tuple[int, int] | None:
    """The longest run of the statement's words, the table row it reads out, or a figure with the words beside
    it; the first that holds most of the statement's figures."""
    found = [span for span in (longest_run(words, view.words), _row(words, figures, view)) if span]
    found = [_with_whole_figures(view, *span) for span in found]
    if found:
        # A head has few of a row's figures, "Table 3", though more of its words.
        stated = [place for figure in figures for place in figures_stating(figure, view)]
        return max(
            found, key=lambda span: sum(span[0] <= place.start and place.end <= span[1] for place in stated)
        )
    span = longest_run(words, view.words, names_figure)
    has_figure = span and any(placed.figure.start < span[1] for placed in _figures_from(view, span[0])[:1])
    if span and has_figure:
        return _with_whole_figures(view, *span)
    return None


def _row(said: Words, figures: list[Figure], view: PageEvidence) -> tuple[int, int] | None:
    """A table row whose whole label is among the statement's words and which holds one of its figures, as
    offsets of its line.
    """
    for stated in (place for figure in figures for place in figures_stating(figure, view)):
        start = view.text.rfind("\n", 0, stated.start) + 1
        end = view.text.find("\n", stated.end)
        line = view.text[start : end if end >= 0 else len(view.text)]
        before = _FIGURES_OF_ROW.split(line, maxsplit=1)[0]  # what stands behind them is "Yes", or a note
        if any(map(str.isalpha, before)):
            named = before
        else:
            named = line
        label = [
            word for word in comparable_words(named).texts if word not in STOP_WORDS and not word[0].isdigit()
        ]
        if label and set(said.texts).issuperset(label):
            start += len(line) - len(line.lstrip())
            return start, start + len(line.strip())
    return None


def _figures_from(view: PageEvidence, start: int) -> tuple[OnPage, ...]:
    """The page's figures that end behind a position."""
    return view.figures.all[bisect_right(view.figures.all, start, key=lambda placed: placed.figure.end) :]


def _with_whole_figures(view: PageEvidence, start: int, end: int) -> tuple[int, int]:
    """The span, grown so that no figure at its edges loses sign, currency, scale or unit."""
    for placed in _figures_from(view, start):
        if placed.figure.start >= end:
            break
        start = min(start, placed.figure.start)
        end = max(end, placed.figure.end)
    return start, end

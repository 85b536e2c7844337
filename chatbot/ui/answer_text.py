"""Renders an answer as HTML, with numbered passages to click and figures marked as they were checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.answer.markdown import formatted_html
from chatbot.mark_lines import statement_spans, why_doubted
from chatbot.records import (
    ADDED,
    DOUBTFUL,
    FINE,
    MARKS,
    Answer,
    Citation,
    NumberCheck,
    PageRef,
    Statement,
)
from chatbot.ui.safe_text import page_text, plain_html, short
from ingestion.invisible_characters import visible
from ingestion.language.currencies import DRAWN_SIGNS

__all__ = [
    "NO_TITLES",
    "SIGNS",
    "CitedPassage",
    "answer_html",
    "citation_text",
    "figure_text",
    "page_cited",
    "passages_first",
    "passages_of",
    "press_key",
    "shown_figures",
    "words_cited",
]

KEY = re.compile(r"S[0-9]{1,4}(?:-[0-9A-Za-z]{1,16})?")
# Numbers of sources as a chat model writes them.
NUMBER = re.compile("[0-9]{1,2}")
BEING_WRITTEN = re.compile(rf"{KEYS_IN_BRACKETS.pattern}|\[[0-9]{{1,2}}(?:, ?[0-9]{{1,2}}){{0,9}}\]")
# The content of a cell of figures, in brackets, with a currency or a per cent sign, or a dash for none.
FIGURE = re.compile(rf"[(\[]?[-–—+]?[{DRAWN_SIGNS}]?[0-9][0-9.,]*[)\]]?%?|[-–—*]|[{DRAWN_SIGNS}]")
TAG = re.compile(r"<[^>]*>")
BLANK_LINE = re.compile(r"\n\s*\n")
FOLDED, MORE = '<details class="further">', "More from these pages"
NO_TITLES: Mapping[str, str] = {}
# The most characters shown about a figure and a mark, and quotations of one.
LONGEST_TIP, LONGEST_MARK, MOST_QUOTES = 300, 500, 2
# What stands behind a statement for each mark; the words are in its tip and below the answer.
SIGNS = {
    "quoted": "“”",
    "stated": "✓",
    "calculated": "=",
    "inference": "∴",
    "pictured": "▣",
    "contradicted": "⚠",
    "not_found": "⚠",
}
# Words in the last columns of a row of figures: "Yes", "not met".
MOST_WORDS_BEHIND = 2

# (start, end, HTML that replaces this stretch)
_Mark = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that an answer cites. number: as shown, from 1."""

    number: int
    citation: Citation


def passages_of(citations: Iterable[Citation]) -> tuple[CitedPassage, ...]:
    """Returns the cited passages, each once, numbered in the order of the answer.

    Each has the least sure of its verdicts. Unknown keys are left out.
    """
    once: dict[tuple[str, str], Citation] = {}
    for citation in citations:
        if citation.document is not None:
            before = once.setdefault((citation.key, citation.quote), citation)
            once[citation.key, citation.quote] = max(before, citation, key=_doubt)
    return tuple(CitedPassage(number, citation) for number, citation in enumerate(once.values(), 1))


def passages_first(answer: Answer) -> int:
    """Returns how many of the passages are cited in what is shown first; those that are unfolded follow."""
    keys = sum(len(KEY.findall(found[0])) for found in KEYS_IN_BRACKETS.finditer(answer.first))
    return len(passages_of(answer.citations[:keys]))


def _doubt(citation: Citation) -> tuple[bool, bool]:
    return citation.doubted, not citation.verified


def press_key(exchange: int, number: int) -> str:
    """Returns the key under which a passage is offered. number: the passage's."""
    return f"cite-{exchange}-{number}"


def answer_html(
    text: str,
    citations: Sequence[Citation] | None = None,
    numbers: Sequence[NumberCheck] = (),
    *,
    statements: Sequence[Statement] = (),
    exchange: int | None = None,
    best_first: bool = False,
    by_model: bool = False,
    read_back: bool = False,
    titles: Mapping[str, str] = NO_TITLES,
) -> str:
    """Renders an answer in its paragraphs.

    citations, numbers, statements: as in Answer; no citations while the answer is being written and nothing
        is judged yet.
    exchange: number of the exchange, for press_key; None where citations are no buttons.
    best_first: the first paragraph is the answer, and the passages that came next are unfolded by the reader.
    by_model: Markdown of a chat model is rendered.
    read_back: whether it is being read back, so that statements keep a place for their marks.
    titles: by the documents' names.
    """
    shown = visible(text).strip()
    keys = list(_keys(shown, citations, exchange, titles))
    marks = sorted(
        [*keys, *_figures(shown, numbers, keys), *_statements(shown, statements, read_back=read_back)]
    )
    if by_model:
        return f'<div class="answer">{formatted_html(shown, marks)}</div>'
    keyed = {start for start, _, _ in keys}
    blocks = [
        _row_html(shown, start, end, marks, keyed) or f"<p>{_marked(shown, start, end, marks)}</p>"
        for start, end in _paragraphs(shown)
    ]
    if best_first and len(blocks) > 1:
        blocks[1:] = [f"{FOLDED}<summary>{MORE}</summary>", *blocks[1:], "</details>"]
    return f'<div class="answer">{"".join(blocks)}</div>'


def shown_figures(html: str, numbers: Iterable[NumberCheck]) -> list[NumberCheck]:
    """Returns the checks of figures that are marked in what is shown first, each figure once with its checks,
    and of doubtful unmarked ones.

    Other figures of a quoted row are left to the page.
    """
    html = html.partition(FOLDED)[0]
    seen = unescape(TAG.sub(" ", html))
    return [
        check
        for check in dict.fromkeys(numbers)
        if _tip(check) in html or (check.doubted and check.text in seen)
    ]


def page_cited(citation: Citation) -> str:
    """Names the page of a citation, such as "p. 12 (printed 8)"."""
    return page_text(PageRef("", citation.page or 1, citation.page_label))


def words_cited(citation: Citation) -> str:
    """Returns what a citation quotes, for a tip."""
    return f"“{short(citation.quote, 240)}”" if citation.quote else "Opens the page."


def citation_text(citation: Citation, titles: Mapping[str, str] = NO_TITLES) -> str:
    """Says in one line where a citation leads and what was checked of it. titles: by name."""
    name = citation.document or ""
    where = f"{titles.get(name, name)}, {page_cited(citation)}"
    if citation.doubted:
        return f"{where}: ⚠ not verified, {citation.reason or 'its words were not found on the page'}"
    return f"{where}: {citation.verdict}"


def figure_text(check: NumberCheck) -> str:
    """Says in one line what the check of a figure found."""
    more = check.formula or (check.reason or "").removeprefix("stands ")
    return f"{check.text}: {check.verdict}{f', {more}' if more else ''}"[:LONGEST_TIP]


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in BLANK_LINE.finditer(text):
        yield start, gap.start()
        start = gap.end()
    if start < len(text):
        yield start, len(text)


def _marked(text: str, start: int, end: int, marks: Sequence[_Mark]) -> str:
    """Renders a stretch of the text with its marks."""
    pieces = []
    for first, last, mark in marks:
        if first >= start and last <= end:
            pieces += [_plain(text[start:first]), mark]
            start = last
    return "".join([*pieces, _plain(text[start:end])])


def _plain(text: str) -> str:
    return plain_html(text).replace("\n", "<br>")


# --- rows of tables
# ------------------------------------------------------------------------------------------------------------


def _row_html(text: str, start: int, end: int, marks: Sequence[_Mark], keyed: Collection[int]) -> str:
    """Renders a quoted row as a table of one row, "" if the paragraph quotes none.

    A quoted row has the form "head: label 1 2 3 (column: 2; column: 3) [key]". What the row has under columns
    that are not listed is left to the page.
    """
    last = next((mark for mark in reversed(marks) if mark[0] in keyed and start <= mark[0] < end), None)
    if (
        last is None
        or text[last[1] : end].strip(" .")
        or any(mark[0] in keyed and start <= mark[0] < last[0] for mark in marks)
    ):
        return ""
    close = len(text[: last[0]].rstrip()) - 1
    opening = _opening(text, start, close)
    pairs = _pairs(text, opening + 1, close) if opening > start else []
    if not pairs:
        return ""
    label = _label(text[start:opening], [text[of[2] : of[3]] for of in pairs])
    colon = label.rfind(": ")
    if not label[colon + 1 :].strip():
        return ""
    head = _plain(label[: max(colon, 0)])
    columns = "".join(f'<th scope="col">{_plain(text[first:split])}</th>' for first, split, _, _ in pairs)
    cells = "".join(f"<td>{_marked(text, first, after, marks)}</td>" for _, _, first, after in pairs)
    caption = f"<caption>{head} {last[2]}</caption>"
    row = f'<th scope="row">{_plain(label[colon + 1 :].strip())}</th>'
    table_head = f"<thead><tr><td></td>{columns}</tr></thead>"
    return f'<table class="row">{caption}{table_head}<tbody><tr>{row}{cells}</tr></tbody></table>'


def _opening(text: str, start: int, close: int) -> int:
    """Returns where the bracket opens that closes at `close`, -1 if it does not open."""
    depth = 0
    for at in range(close, start, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            if text[at] == "(" and text[at - 1] == " ":
                return at
            return -1
    return -1


def _pairs(text: str, start: int, end: int) -> list[tuple[int, int, int, int]]:
    """Returns (start, end) of each column's heading and of its cell; nothing if any part is no such pair."""
    pairs = []
    for part in re.finditer(r"(?:[^;]|;(?! ))+", text[start:end]):
        first = start + part.start() + (len(part[0]) - len(part[0].lstrip()))
        colon = text.find(": ", first, start + part.end())
        if not first < colon < start + part.end() - 2:
            return []
        pairs.append((first, colon, colon + 2, start + part.end()))
    return pairs


def _label(row: str, cells: Sequence[str]) -> str:
    """Returns the row without its cells.

    Cells are the figures at its end, which several of may have a word or two after them, such as the "Yes" of
    a rule that is met, and before them the words of those that are listed.
    """
    words = row.split()
    figures = [FIGURE.fullmatch(word) is not None for word in words]
    last = max((at for at in range(1, len(words)) if figures[at] and figures[at - 1]), default=-1)
    if len(words) - 1 - last <= MOST_WORDS_BEHIND:
        words = words[: last + 1] if last > 0 else words
    while words and FIGURE.fullmatch(words[-1]):
        words.pop()
    label = " ".join(words)
    for cell in reversed(cells):
        label = label.removesuffix(" ".join(cell.split())).rstrip()
    return label


# --- citations
# ------------------------------------------------------------------------------------------------------------


def _keys(
    text: str, citations: Sequence[Citation] | None, exchange: int | None, titles: Mapping[str, str]
) -> Iterator[_Mark]:
    """Assigns the keys to citations: the n-th key of a checked answer belongs to its n-th citation.

    Before the check, passages are numbered as if each key had one of its own, as most have.
    """
    numbers = {
        (passage.citation.key, passage.citation.quote): passage.number
        for passage in passages_of(citations or ())
    }
    left = iter(citations or ())
    count = 0
    for found in (KEYS_IN_BRACKETS if citations is not None else BEING_WRITTEN).finditer(text):
        chips = []
        for key in KEY.findall(found[0]) or NUMBER.findall(found[0]):
            count += 1
            citation = next(left, None)
            if citations is None:
                chips.append(f'<span class="key">{count}</span>')
            elif citation is None or citation.document is None:
                chips.append(f'<span class="key doubtful">{key}: no such source</span>')
            else:
                number = numbers[citation.key, citation.quote]
                chips.append(_chip(citation, number, exchange, titles))
        yield found.start(), found.end(), " ".join(chips)


def _chip(citation: Citation, number: int, exchange: int | None, titles: Mapping[str, str]) -> str:
    said = plain_html(citation_text(citation, titles))
    kind, text = ("key doubtful", f"{number} ⚠") if citation.doubted else ("key", str(number))
    if exchange is None or citation.version is None:
        return f'<span class="{kind}" data-tip="{said}">{text}</span>'
    pressed = f'data-open="{press_key(exchange, number)}" aria-label="Citation {number}: {said}"'
    return f'<button type="button" class="{kind}" data-tip="{said}" {pressed}>{text}</button>'


# --- figures
# ------------------------------------------------------------------------------------------------------------


def _figures(text: str, numbers: Sequence[NumberCheck], keys: Sequence[_Mark]) -> Iterator[_Mark]:
    """Finds the figures in the text.

    Checks come in the order of the text. One that is not found marks nothing.
    """
    position = 0
    for check in numbers:
        start = _next(text, check.text, position)
        end = start + len(check.text)
        if start < 0 or any(first < end and start < last for first, last, _ in keys):
            continue
        if check.doubted:
            kind, sign = " doubtful", '<span class="doubt"> ⚠</span>'
        else:
            kind, sign = " fine" if check.status in FINE else "", ""
        yield start, end, f'<span class="figure{kind}" {_tip(check)}>{plain_html(check.text)}{sign}</span>'
        position = end


# --- statements
# ------------------------------------------------------------------------------------------------------------


def _statements(text: str, statements: Sequence[Statement], *, read_back: bool) -> Iterator[_Mark]:
    """Returns the marks behind statements, which come in the order of the text.

    All are of one width, so that nothing moves where a mark takes the place that was kept for it.
    """
    for _, end, one in statement_spans(text, statements, visible):
        if one.mark:
            yield end, end, _mark_html(one)
        elif read_back:
            yield end, end, '<span class="mark" aria-hidden="true">·</span>'


def _mark_html(statement: Statement) -> str:
    told = [MARKS[statement.mark]]
    if statement.calculation:
        told = [f"{told[0]}: {statement.calculation.expression}"]
    elif statement.mark in DOUBTFUL:
        told = [f"{told[0]}: {why_doubted(statement)}"]
    elif statement.quotes:
        told += [f"page {quote.page}: “{quote.text}”" for quote in statement.quotes[:MOST_QUOTES]]
    if statement.read_by:
        told.append(f"read by {statement.read_by}")
    if statement.status == "cited_by_check":
        told.append(ADDED)
    said = plain_html("; ".join(told)[:LONGEST_MARK])
    named = f'class="mark {statement.mark}" tabindex="0" data-tip="{said}" aria-label="{said}"'
    return f"<span {named}>{SIGNS[statement.mark]}</span>"


def _tip(check: NumberCheck) -> str:
    return f'data-tip="{plain_html(figure_text(check))}"'


def _next(text: str, figure: str, position: int) -> int:
    """Returns where a figure stands next, not as part of a longer one; -1 if nowhere."""
    start = text.find(figure, position) if figure and "\n" not in figure else -1
    while start >= 0 and (
        (start and text[start - 1].isalnum()) or text[start + len(figure) : start + len(figure) + 1].isalnum()
    ):
        start = text.find(figure, start + 1)
    return start

"""Renders a record as one self-contained HTML page, without scripts or requests.

Text from elsewhere is shown as text only.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.answer.markdown import formatted_html
from chatbot.audit.record import (
    IMAGE,
    RECORD_END,
    RECORD_START,
    FigureCheckRecord,
    PageImageRecord,
    Quote,
    Record,
    dump,
)
from chatbot.mark_lines import UNREAD
from chatbot.records import MARKS, NOT_ON_CITED_PAGE, OPEN, VERDICTS, printed_label
from chatbot.settings import PROGRAM
from ingestion.language.months import MONTHS

__all__ = ["render"]

# Nothing is fetched or run. The policy names the only style sheet by its digest, and images are embedded.
POLICY = "default-src 'none'; img-src data:; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
FIGURES = {
    "supported": "✓ stands in the cited passage",
    "derived": "✓ worked out from figures that stand there",
    "present_elsewhere": "⚠ not so on the cited page",
    "contradicted": "⚠ the cited page gives another figure",
    "unsupported": "⚠ not found on the cited pages",
    "not_checked": UNREAD,
}
READ = {
    "text": "Text taken from the PDF",
    "text-pypdf": "Text taken from the PDF by its second reader",
    "text+ocr": "Text taken from the PDF, and read from pictures on the page by OCR",
    "ocr": "Text read from the page's image by OCR",
}
# Control and bidirectional characters must not rearrange what a reader sees. This set is part of the file
# format: files are rendered again with it.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
# The most characters of a key, year, status or score.
SHORT = 16
NOT_SENT = "No chat model was asked, and nothing was sent to one: the answer is in the documents' own words."
WHAT_IT_PROVES = (
    "Verification reads the documents again: it tells whether the quotations and figures stand there, "
    "and whether anything in this file was changed by itself. "
    "It cannot tell who made the file, nor that a model said these words. "
    "Digests are no signature: whoever made the file could have written all of it, what the reader replied "
    "and was asked included."
)


def render(record: Record, images: Mapping[str, bytes]) -> str:
    """Returns the whole file. The same record and images give the same file, byte for byte.

    images: the PNG of every leaf that has one, by SHA-256.
    """
    style = Path(__file__).with_name("style.css").read_text("utf-8")
    style_digest = hashlib.sha256(style.encode()).digest()
    policy = POLICY.format(style=base64.b64encode(style_digest).decode())
    title = plain(joined(record.question)[:120])
    body = [
        _head(record),
        _question(record),
        _answer(record),
        _quotes(record),
        _figures(record),
        _statements(record),
        _leaves(record, images),
        _account(record),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',
            f"<title>Audit file: {title}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *filter(None, body),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


# --- the parts
# ------------------------------------------------------------------------------------------------------------


def _head(record: Record) -> str:
    made = f"Asked {moment(record.asked_at)}. " if record.asked_at else ""
    return (
        f'<header><p class="kind">Audit file</p><h1 dir="auto">{plain(record.question)}</h1>'
        f'<p class="quiet">{made}This file was made {moment(record.made_at)}. '
        f"Check it with <code>{PROGRAM} verify FILE</code>.</p></header>"
    )


def _question(record: Record) -> str:
    rows = [("Searched as", plain(record.query))]
    rows += [(plain(what), plain(how)) for what, how in record.understood]
    if record.within:
        rows.append(("Kept to", "; ".join(map(plain, record.within))))
    return f"<section><h2>The question</h2>{pairs(rows)}</section>"


def _answer(record: Record) -> str:
    notices = "".join(f'<p class="notice" dir="auto">{plain(notice)}</p>' for notice in record.notices)
    if record.answered:
        heading = "The answer"
    elif record.by_model:
        heading = "The chat model found no answer"
    else:
        heading = "Not in these documents"
    # A chat model's formatting is kept.
    shown = formatted_html(seen(record.answer)) if record.by_model else paragraphs(record.answer)
    text = _linked(record, shown)
    reason = ""
    if record.refusal:
        reason = f'<p class="quiet">Reason: {plain(record.refusal.replace("_", " "))}</p>'
    nearest = ""
    if record.nearest:
        nearest_leaves = [at for at in record.nearest if 0 <= at < len(record.leaves)]
        links = "".join(f"<li>{_leaf_link(at, record.leaves[at])}</li>" for at in nearest_leaves)
        nearest = f"<p>The nearest pages, shown below:</p><ul>{links}</ul>"
    return f'<section><h2>{heading}</h2>{notices}<div class="answer">{text}</div>{reason}{nearest}</section>'


def _linked(record: Record, text: str) -> str:
    """Links the n-th key to the n-th citation. text: HTML."""
    left = iter(enumerate(record.quotes))

    def links(mark: re.Match[str]) -> str:
        return " ".join(link(found[0]) for found in ANY_KEY.finditer(mark[0]))

    def link(key: str) -> str:
        at, quote = next(left, (-1, None))
        if quote is None:
            return f"[{key}]"
        doubt = "" if quote.verified or quote.basis in OPEN else " ⚠"
        return f'<a class="key" href="#citation-{at + 1}">[{key}]{doubt}</a>'

    return KEYS_IN_BRACKETS.sub(links, text)


def _leaf_link(at: int, leaf: PageImageRecord) -> str:
    return f'<a href="#page-{at + 1}">{plain(leaf.document)}, {page_name(leaf.page, leaf.label)}</a>'


def _listed(record: Record, heading: str, none: str, listed: str) -> str:
    """Returns a part of what an answer has, and of an answer without any that there is none."""
    if not (listed or record.answered):
        return ""
    return f"<section><h2>{heading}</h2>{listed or f'<p>The answer {none}.</p>'}</section>"


def _quotes(record: Record) -> str:
    rows = []
    for quote in record.quotes:
        where = "⚠ no such source"
        if quote.leaf is not None and 0 <= quote.leaf < len(record.leaves):
            where = _leaf_link(quote.leaf, record.leaves[quote.leaf])
        text = f"“{plain(joined(quote.quote))}”" if quote.quote else "–"
        rows.append((tight(f"[{quote.key}]"), where, text, _located(quote)))
    ids = [f"citation-{at}" for at in range(1, len(rows) + 1)]
    head = ("Key", "Page", "Quotation", "Located")
    listed = table("What the answer cites, in its order", head, rows, ids=ids)
    return _listed(record, "Citations", "cites no page", listed)


def _located(quote: Quote) -> str:
    if quote.verified or quote.basis in OPEN:
        remarks = [VERDICTS[quote.basis if quote.basis in VERDICTS else "unread"]]
        if quote.reason:
            remarks.append(plain(quote.reason))
    else:
        remarks = [f"⚠ not verified: {plain(quote.reason or 'not located')}"]
    if quote.confidence is not None:
        remarks.append(f"read by OCR, confidence {quote.confidence:.0f} of 100")
    if quote.instructs:
        remarks.append("⚠ the quoted text gives orders to machines that read it: it is shown as data")
    if quote.verified and not quote.marks:
        remarks.append("found in the text, no place to mark on the image")
    return "; ".join(remarks)


def _figures(record: Record) -> str:
    rows = []
    for check in record.checks:
        verdict = FIGURES.get(check.status, plain(check.status))
        if check.status == "present_elsewhere" and check.citation is None:
            verdict = NOT_ON_CITED_PAGE
        rows.append((plain(check.text), verdict, _meant(check), _how(check)))
    head = ("Figure", "Found", "Read as", "How")
    listed = table("Each figure of the answer, looked for in the cited pages", head, rows)
    return _listed(record, "Figures", "states no figure", listed)


def _statements(record: Record) -> str:
    """Lists a model's statements with their marks, "" for none."""
    if not record.statements or not record.by_model:
        return ""
    rows = []
    for one in record.statements:
        quotes = [f"p. {quote.page}: “{plain(joined(quote.text))}”" for quote in one.quotes]
        grounds = [plain(one.calculation), plain(one.difference), *quotes]
        mark = MARKS.get(one.mark, UNREAD if one.verdict == "not_checked" else "–")
        rows.append((plain(joined(one.text)), mark, " · ".join(filter(None, grounds)) or "–"))
    read = ""
    if record.reading is not None:
        by = f"Read back by {plain(record.reading.model)} ({plain(record.reading.host)})."
        reason = f" It was said then: {plain(record.reading.reason)}" if record.reading.reason else ""
        read = f"<p>{by}{reason}</p>"
    head = ("Statement", "Mark", "Grounds")
    listed = table("Each statement of the answer, with what is proven of it", head, rows)
    return f"<section><h2>Statements</h2>{read}{listed}</section>"


def _meant(check: FigureCheckRecord) -> str:
    if check.value is None:
        value = "–"
    elif abs(check.value) < 1e6:
        value = f"{check.value:g}"
    else:
        value = f"{check.value:,.2f}".rstrip("0").rstrip(".")
    scale = f"× {check.scale:,.0f}" if check.scale != 1 else ""
    period = f"({check.period})" if check.period else ""
    return plain(" ".join(filter(None, [value, scale, check.unit, period])))


def _how(check: FigureCheckRecord) -> str:
    citation = f"[{check.citation}]" if check.citation else ""
    operands = f"operands: {'; '.join(check.operands)}" if check.operands else ""
    parts = filter(None, [citation, check.formula, operands, check.reason])
    return plain(" · ".join(parts)) or "–"


def _leaves(record: Record, images: Mapping[str, bytes]) -> str:
    if not record.leaves:
        return ""
    articles = []
    for at, leaf in enumerate(record.leaves):
        quotes = [quote for quote in record.quotes if quote.leaf == at]
        articles.append(_leaf(at, leaf, quotes, images))
    return f"<section><h2>The pages</h2>{''.join(articles)}</section>"


def _leaf(at: int, leaf: PageImageRecord, quotes: Sequence[Quote], images: Mapping[str, bytes]) -> str:
    name = f"{plain(leaf.document)}, {page_name(leaf.page, leaf.label)}"
    how = READ.get(leaf.method, "No text was found on it")
    if leaf.image is None:
        sheet = f'<p class="notice">{plain(leaf.missing)}</p>'
    else:
        marks = "".join(dict.fromkeys(_rectangle(*mark) for quote in quotes for mark in quote.marks))
        if marks:
            overlay = (
                f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">{marks}</svg>'
            )
        else:
            overlay = ""
        data = base64.b64encode(images[leaf.image]).decode()
        sheet = f'<div class="sheet"><img alt="{name}" {IMAGE}{data}">{overlay}</div>'
    quoted = dict.fromkeys((plain(quote.key), plain(joined(quote.quote))) for quote in quotes if quote.quote)
    passages = "".join(
        f'<blockquote dir="auto"><span class="key">[{key}]</span> {text}</blockquote>' for key, text in quoted
    )
    return (
        f'<article id="page-{at + 1}"><h3 dir="auto">{name}</h3>{passages}{sheet}'
        f'<p class="quiet">{how}. SHA-256 of the document: <code>{plain(leaf.sha256)}</code></p></article>'
    )


def _rectangle(x0: float, y0: float, x1: float, y1: float) -> str:
    """Draws a mark slightly wider than the letters. The view is 1000 by 1000, whatever the page's shape."""
    left = max(0.0, 1000 * x0 - 3)
    top = max(0.0, 1000 * y0 - 2)
    width = min(1000.0, 1000 * x1 + 3) - left
    height = min(1000.0, 1000 * y1 + 2) - top
    size = f'width="{max(0.0, width):.2f}" height="{max(0.0, height):.2f}"'
    return f'<rect x="{left:.2f}" y="{top:.2f}" {size}/>'


def _account(record: Record) -> str:
    parts = [_sent(record), _notes(record), _considered(record), _documents(record), _origin(record)]
    machine = (
        f"<details><summary>The same for machines, as "
        f"JSON</summary>{RECORD_START}{dump(record)}{RECORD_END}</details>"
    )
    return f"<section><h2>How it was answered</h2>{''.join(parts)}{machine}</section>"


def _sent(record: Record) -> str:
    sent = record.sent
    if sent is None:
        return f"<p>{NOT_SENT}</p>"
    own_words = "and the answer is in the documents' own words"
    if sent.failure:
        failed = f'<p class="notice" dir="auto">The model failed, {own_words}: {plain(sent.failure)}</p>'
    elif record.model == "extractive":
        failed = f'<p class="notice">The model found no answer, {own_words}.</p>'
    else:
        failed = ""
    rows = [("Model", plain(sent.model)), ("Sent to", plain(sent.host) or "not noted")]
    messages = "".join(
        f'<p class="role">{plain(role)}</p><pre dir="auto">{plain(content)}</pre>'
        for role, content in sent.messages
    )
    return f"{pairs(rows)}{failed}<details><summary>The prompt, word for word</summary>{messages}</details>"


def _notes(record: Record) -> str:
    shortened = f"<p>{plain(record.shortened)}</p>" if record.shortened else ""
    rows = [(plain(note.layer), plain(note.source), plain(note.text)) for note in record.notes]
    listed = table("What was remembered for it", ("Memory", "Where from", "What"), rows)
    return shortened + (listed or "<p>Nothing remembered was used.</p>")


def _considered(record: Record) -> str:
    rows = []
    for rank, page in enumerate(record.considered, 1):
        name = f"{plain(page.document)}, {page_name(page.page, page.label)}"
        rows.append((str(rank), name, tight(f"{page.score:.3f}"), plain(page.parts)))
    listed = table("Pages considered, best first", ("Rank", "Page", "Score", "Its parts"), rows)
    return listed or "<p>No page was considered.</p>"


def _documents(record: Record) -> str:
    changed = ""
    if not record.whole:
        changed = (
            "<p>The documents have changed since it was answered, or it was not noted which there were: "
            "listed are those of then that are there still.</p>"
        )
    rows = []
    for document in record.documents:
        period, status = tight(document.period or "–"), tight(document.status or "–")
        rows.append((plain(document.name), period, status, f"<code>{plain(document.sha256)}</code>"))
    head = ("Document", "Period", "Status", "SHA-256")
    return changed + (table("Documents that were searched", head, rows) or "<p>None was searched.</p>")


def _origin(record: Record) -> str:
    if record.model == "extractive":
        answered_by = "the documents' own words, on this machine"
    else:
        answered_by = plain(record.model)
    rows = [
        ("Answered by", answered_by),
        ("Took", f"{record.seconds:.2f} seconds"),
        ("Program", plain(record.program)),
        ("Embedder", plain(record.embedder) or "not noted"),
        ("Index", plain(record.index) or "not noted"),
        ("Digest of this file", f"<code>{plain(record.digest)}</code>"),
    ]
    return pairs(rows) + f'<p class="quiet">{WHAT_IT_PROVES}</p>'


# --- texts
# ------------------------------------------------------------------------------------------------------------


def seen(text: str) -> str:
    """Returns the text with control and bidirectional characters written out."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return UNSEEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", lines)


def plain(text: str) -> str:
    """Returns the text as HTML, with control and bidirectional characters written out."""
    return html.escape(seen(text))


def joined(text: str) -> str:
    """Puts a text on one line. For text whose line breaks are only those of the page."""
    return " ".join(text.split())


def paragraphs(text: str) -> str:
    """Renders the paragraphs and lines of a text."""
    blocks = [block for block in re.split(r"\n[ \t]*\n", text.strip()) if block.strip()]
    return "".join(f'<p dir="auto">{plain(block)}</p>' for block in blocks)


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, ids: Sequence[str] = ()
) -> str:
    """Renders a table, "" for one without rows.

    caption, head: text of the program's own.
    rows: cells as HTML.
    ids: the `id` attributes of the rows.
    """
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = []
    for at, row in enumerate(rows):
        cells = "".join(f'<td dir="auto">{cell}</td>' for cell in row)
        named = f' id="{ids[at]}"' if ids else ""
        lines.append(f"<tr{named}>{cells}</tr>")
    body = "".join(lines)
    if not lines:
        return ""
    return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Renders a list of terms with their descriptions. The terms are the program's own; descriptions are
    HTML.
    """
    entries = "".join(
        f'<div><dt>{term}</dt><dd dir="auto">{description}</dd></div>' for term, description in rows
    )
    return f"<dl>{entries}</dl>"


def tight(text: str) -> str:
    """Keeps a text on one line if it is as short as expected."""
    if len(text) <= SHORT:
        return f'<span class="tight">{plain(text)}</span>'
    return plain(text)


def moment(text: str) -> str:
    """Writes a time as people do, with its offset from UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return plain(text)
    month = MONTHS[at.month - 1].capitalize()
    zone = f"{at:%z}"
    offset = f"{zone[:3]}:{zone[3:5]}" if zone.strip("+-0") else ""
    return plain(f"on {at.day} {month} {at.year} at {at:%H:%M:%S} UTC{offset}")


def page_name(page: int, label: str | None) -> str:
    """Names the physical page, and the printed number if it differs."""
    if not label or label == str(page):
        return f"p. {page}"
    return f"p. {page} ({plain(printed_label(label))})"

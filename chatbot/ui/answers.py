"""Draws an answer with all that was checked: text, citations, figures, how it came about; asks and checks nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from chatbot.endpoints import endpoint_host
from chatbot.records import Answer, Citation, Hit, Notice, NumberCheck, PageRef, Understanding
from chatbot.service import MEMORY
from chatbot.settings import Settings
from chatbot.ui import session
from chatbot.ui.asking import Given
from chatbot.ui.session import OpenPage
from chatbot.ui.shortened_view import shortened_text
from chatbot.ui.text import answer_html, notice_html, page_text, plain_markdown, quiet_html, short, table_html

__all__ = ["draw_given", "draw_notices", "ocr_remarks", "order_remarks"]

# Confidence of the quoted words below which the reader is told to look at the page: tesseract is rarely so unsure of clean print.
DOUBTFUL_CONFIDENCE = 80
ORDINALS = ("", ", 2nd passage", ", 3rd passage", ", further passage")
STATUS = {
    "supported": "✓ stands in the cited passage",
    "derived": "✓ worked out from figures that stand there",
    "present_elsewhere": "⚠ stands on another page that was read, not on the cited one",
    "contradicted": "⚠ the cited page gives another figure",
    "unsupported": "⚠ not found on the cited pages",
}
FINE = frozenset({"supported", "derived"})
FORMS = {
    "figure": "a figure",
    "yes_no": "yes or no",
    "list": "a list",
    "definition": "a definition",
    "reason": "a reason",
    "passage": "a passage",
}
PARTS = {"vector": "meaning", "chunk_words": "words of the passage", "page_words": "words of the page", "coverage": "share of the question's words"}


@dataclass(frozen=True, slots=True)
class _Row:
    """One button: a citation and how often its key came before."""

    citation: Citation
    before: int


def draw_given(given: Given, settings: Settings) -> None:
    """The whole answer, inside whatever message is open."""
    answer = given.answer
    draw_notices(notice for notice in given.notices if not answer.error or notice.text not in answer.error)
    if answer.error:
        st.html(notice_html(f"The chat model failed: {answer.error}"))
        if answer.answered:
            st.caption("Instead, in the documents' own words:")
    if answer.answered:
        st.html(answer_html(answer.text, answer.citations))
        _draw_citations(given)
        _draw_numbers(answer.numbers, given.number)
    else:
        _draw_refusal(given)
    if answer.search_query.strip() != answer.question.strip():
        st.html(quiet_html(f"Searched as: {short(answer.search_query, 300)}"))
    _draw_shortened(given)
    _draw_account(given, settings)


def draw_notices(notices: Iterable[Notice]) -> None:
    """What the user should know beside the answer."""
    for notice in notices:
        st.html(notice_html(notice.text, notice.hint))


# --- citations ------------------------------------------------------------------------------------------------------------------


def _draw_citations(given: Given) -> None:
    rows, unknown = _rows(given.answer.citations)
    if rows:
        with st.container(horizontal=True, gap="small", key=f"citations-{given.number}"):
            for index, row in enumerate(rows):
                _citation_button(row, f"cite-{given.number}-{index}")
    for key in unknown:
        st.html(quiet_html(f"⚠ [{key}] no such source: the answer cites a page that it was not given."))
    remarks = [
        remark
        for row in rows
        for remark in ([] if row.citation.verified else [_doubt(row.citation)]) + ocr_remarks(row.citation) + order_remarks(row.citation)
    ]
    for remark in dict.fromkeys(remarks):
        st.html(quiet_html(remark))


def _rows(citations: Iterable[Citation]) -> tuple[list[_Row], list[str]]:
    """(the citations to be opened, each passage once; keys that name nothing)."""
    passages = {(citation.key, citation.quote): citation for citation in citations if citation.document is not None}
    seen: Counter[str] = Counter()
    rows = []
    for citation in passages.values():
        rows.append(_Row(citation, seen[citation.key]))
        seen[citation.key] += 1
    return rows, list(dict.fromkeys(citation.key for citation in citations if citation.document is None))


def _citation_button(row: _Row, key: str) -> None:
    citation = row.citation
    document, page = citation.document or "", citation.page or 1
    ordinal = ORDINALS[min(row.before, len(ORDINALS) - 1)]
    verified = "✓ verified" if citation.verified else "⚠ not verified"
    where = page_text(PageRef(document, page, citation.page_label))
    label = f"{plain_markdown(f'[{citation.key}] {short(document)}')} · {plain_markdown(where)}{ordinal} **{verified}**"
    opened = OpenPage(document, citation.version or 0, page, citation.quote, page)
    st.button(label, key=key, help=_shown_quote(citation), on_click=session.open_page, args=(opened,), disabled=citation.version is None, wrap=True)


def _shown_quote(citation: Citation) -> str:
    return plain_markdown(f"“{short(citation.quote, 240)}”" if citation.quote else "Opens the page.")


def ocr_remarks(citation: Citation) -> list[str]:
    """That a citation's words were read by OCR, and where that is in doubt, how surely; nothing for words of the PDF itself."""
    if citation.confidence is None:
        return []
    if citation.confidence < DOUBTFUL_CONFIDENCE:
        return [f"⚠ [{citation.key}] read by OCR, confidence {citation.confidence:.0f} of 100: check the page"]
    return [f"[{citation.key}] read by OCR"]


def order_remarks(citation: Citation) -> list[str]:
    """That what is quoted addresses a machine, and that it was quoted only; nothing for other words."""
    return (
        [f"⚠ [{citation.key}] the quoted text gives orders to machines that read it: it is shown as data, and may be there to mislead"]
        if citation.instructs
        else []
    )


def _doubt(citation: Citation) -> str:
    return f"⚠ [{citation.key}] not verified: {citation.reason or 'its words were not found on the page'}."


# --- figures --------------------------------------------------------------------------------------------------------------------


def _draw_numbers(numbers: Iterable[NumberCheck], number: int) -> None:
    checks = list(dict.fromkeys(numbers))
    if not checks:
        return
    doubtful = [check for check in checks if check.status not in FINE]
    if doubtful:
        heading = f"Figures: {len(checks) - len(doubtful)} of {len(checks)} confirmed, {len(doubtful)} not"
    else:
        heading = "Figures: the one figure is confirmed" if len(checks) == 1 else f"Figures: all {len(checks)} are confirmed"
    with st.expander(heading, expanded=bool(doubtful), key=f"figures-{number}"):
        rows = [(check.text, STATUS.get(check.status, check.status), _source(check)) for check in checks]
        st.html(table_html("Figures of the answer, looked for in the cited pages", ("Figure", "Found", "Where"), rows))


def _source(check: NumberCheck) -> str:
    key = (check.citation or "").partition("-")[0]
    return " ".join(part for part in (f"[{key}]" if key else "", check.formula or check.reason or "") if part) or "–"


# --- refusals -------------------------------------------------------------------------------------------------------------------


def _draw_refusal(given: Given) -> None:
    answer = given.answer
    st.html('<p class="refusal">Not in these documents</p>')
    st.html(answer_html(answer.text.removeprefix("Not in these documents. "), answer.citations))
    pages = [(page, _hit_of(answer, page)) for page in answer.nearest]
    if pages:
        st.caption("The nearest pages, to see for yourself:")
        with st.container(horizontal=True, gap="small"):
            for index, (page, hit) in enumerate(pages):
                _page_button(page, hit, f"near-{given.number}-{index}")


def _hit_of(answer: Answer, page: PageRef) -> Hit | None:
    return next((hit for hit in answer.considered if (hit.document, hit.page) == (page.document, page.page)), None)


def _page_button(page: PageRef, hit: Hit | None, key: str) -> None:
    label = f"{plain_markdown(short(page.document))} · {plain_markdown(page_text(page))}"
    opened = OpenPage(page.document, hit.version if hit else 0, page.page)
    st.button(label, key=key, on_click=session.open_page, args=(opened,), disabled=hit is None, wrap=True)


# --- how it came about ----------------------------------------------------------------------------------------------------------


def _draw_shortened(given: Given) -> None:
    """That not all that was said before reached the model, and the way to what did."""
    compression, conversation = given.answer.compression, given.answer.conversation
    if compression is None:
        return
    st.html(quiet_html(shortened_text(compression)))
    if conversation and given.number > 0:
        asked = ("shortened", conversation, given.number)
        st.button("See what was kept", key=f"shortened-{given.number}", type="tertiary", on_click=session.ask_dialog, args=asked)


def _draw_account(given: Given, settings: Settings) -> None:
    answer = given.answer
    with st.expander("How this was answered", key=f"how-{given.number}"):
        st.html(table_html("What was asked of whom", ("Step", "What happened"), _steps(answer, settings)))
        if answer.notes:
            notes = [(note.layer, short(note.source, 120), note.text) for note in answer.notes]
            st.html(table_html("What was remembered for it", ("Memory", "Where from", "What"), notes))
        if answer.considered:
            rows = [_considered(rank, hit) for rank, hit in enumerate(answer.considered, 1)]
            st.html(table_html("Pages considered, best first", ("Rank", "Page", "Score", "Its parts"), rows))


def _steps(answer: Answer, settings: Settings) -> list[tuple[str, str]]:
    if answer.model == MEMORY:
        return [("Noted", "on this machine; no page was searched and no model was asked")]
    by_model = answer.model != "extractive"
    excerpts = len(answer.prompt.sources) if answer.prompt else 0
    who = f"{answer.model} at {endpoint_host(settings)}" if by_model else "in the documents' own words, on this machine, without a model"
    steps = [("Searched", answer.search_query), *_understood(answer.understanding), ("Answered", who)]
    steps += [("Given to the model" if by_model else "Read", f"{excerpts} page{'s' if excerpts != 1 else ''}")]
    if answer.prompt and answer.prompt.exchanges:
        steps += [("Earlier exchanges taken into account", str(len(answer.prompt.exchanges)))]
    return [*steps, ("Took", f"{answer.seconds:.2f} seconds")]


def _understood(understanding: Understanding | None) -> list[tuple[str, str]]:
    """What the question was taken to ask, in words."""
    if understanding is None:
        return []
    parts = [FORMS[understanding.form]]
    parts += [f"measure: {', '.join(understanding.measures)}"] if understanding.measures else []
    parts += [f"period: {', '.join(map(str, understanding.years))}"] if understanding.years else []
    parts += [f"names: {', '.join(understanding.names)}"] if understanding.names else []
    parts += [f"stands in: {', '.join(kind.replace('_', ' ') for kind in understanding.kinds)}"] if understanding.kinds else []
    return [("Understood as", short("; ".join(parts), 400))]


def _considered(rank: int, hit: Hit) -> tuple[str, str, str, str]:
    parts = ", ".join(f"{PARTS.get(name, name)} {value:.2f}" for name, value in hit.scores.items())
    return str(rank), f"{short(hit.document, 60)}, {page_text(PageRef(hit.document, hit.page, hit.page_label))}", f"{hit.score:.3f}", parts

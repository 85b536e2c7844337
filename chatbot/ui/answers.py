"""Draws an answer with all that was checked: text, citations and figures, or why there is no answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import streamlit as st

from chatbot.answer.citations.model_refusals import without_refusal
from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import DeliveredAnswer
from chatbot.asking.answering import HAD_SAID
from chatbot.asking.multi_document import with_titled_parts
from chatbot.mark_lines import UNREAD, doubt_lines, proven_line, said_plainly, unread_line
from chatbot.memory.cases.feedback_rerank import REMEMBERED
from chatbot.memory.layers import beside
from chatbot.records import (
    DOUBTFUL,
    FINE,
    GUIDE,
    NOT_SURE,
    Answer,
    Citation,
    Note,
    Notice,
    NumberCheck,
    Statement,
)
from chatbot.store.document_names import with_titles
from chatbot.ui import overlay, session
from chatbot.ui.answer_details import SHORTENED, draw_answer_details, shortened_text
from chatbot.ui.answer_text import (
    CitedPassage,
    answer_html,
    page_cited,
    passages_first,
    passages_of,
    press_key,
    shown_figures,
    words_cited,
)
from chatbot.ui.compare_session import draw_compare_action
from chatbot.ui.example_questions import draw_examples, suggested
from chatbot.ui.model_choice import draw_invitation
from chatbot.ui.overlay import OpenPage
from chatbot.ui.page_parts import draw_notice, draw_quiet, draw_quiet_button
from chatbot.ui.safe_text import counted, page_text, plain_html, quiet_html, short, table_html

__all__ = [
    "checks_html",
    "details_label",
    "draw_given",
    "draw_notices",
    "ocr_remarks",
    "order_remarks",
    "recalled_html",
]

# The most characters of a title on a button.
LONGEST_TITLE = 72
# Below this confidence of the quoted words the reader is told to look at the page. tesseract is rarely so
# unsure of clean print.
DOUBTFUL_CONFIDENCE = 80
# What is said of a statement without a mark, by its verdict.
UNMARKED = {
    "not_checked": UNREAD,
    "about_sources": "about what the documents lack, confirmed",
}
# The headings of a refusal: the search's, and a chat model's.
NOT_IN_DOCUMENTS, MODEL_FOUND_NONE = "Not in these documents", "The chat model found no answer"


def draw_given(
    given: DeliveredAnswer, context: AppContext, *, read_back: bool = False, fresh: bool = False
) -> None:
    """Draws the whole answer inside the open message.

    read_back: whether a model still reads it back. fresh: and nobody has seen the program's own doubts yet.
    """
    if fresh:
        given = replace(given, answer=_without_doubts(given.answer))
    answer = given.answer
    error, titles = answer.error or "", context.chatbot.titles()
    of_failure = [one for one in given.notices if error and one.text.partition(HAD_SAID)[0] in error]
    left = (one for one in given.notices if one not in of_failure)
    notices = [replace(one, text=with_titles(one.text, titles)) for one in left]
    draw_notices(notice for notice in notices if not notice.aside)
    if error:
        had_said = next((notice.text.partition(HAD_SAID)[2] for notice in of_failure), "")
        hint = f"{HAD_SAID.strip()} {had_said}" if had_said else ""
        draw_notice(f"The chat model failed: {error}", hint)
        if answer.answered:
            st.caption("Instead, in the documents' own words:")
    checks: Sequence[NumberCheck] = ()
    if answer.answered:
        html = answer_html(
            with_titled_parts(answer, titles),
            answer.citations,
            answer.numbers,
            statements=answer.statements,
            exchange=given.number,
            best_first=answer.best_first,
            by_model=answer.by_model,
            read_back=read_back,
            titles=titles,
        )
        st.html(html)
        _draw_citations(given, titles)
        checks = shown_figures(html, answer.numbers)
    else:
        _draw_refusal(given, titles)
    if not fresh:
        _draw_marks(answer)
    if answer.search_query.strip() != answer.question.strip():
        draw_quiet(f"Searched as: {short(answer.search_query, 300)}")
    for notice in notices:
        if notice.aside:
            st.html(aside_html(notice))
    if recalled := recalled_html(answer.notes):
        st.html(recalled)
    _draw_shortened(given)
    if answer.model == GUIDE:
        _draw_suggested(given, context, titles)
    draw_answer_details(given, context, details_label(answer, checks), checks_html(answer, checks))
    draw_compare_action(answer, given.number, context)
    if given.number == 1 and answer.answered and answer.model == "extractive":
        draw_invitation(context, "answer")


def _draw_suggested(given: DeliveredAnswer, context: AppContext, titles: Mapping[str, str]) -> None:
    """Draws what may be asked next, of the documents that are searched."""
    names = given.answer.names
    documents = [row for row in session.documents(context) if not names or row.name in names]
    draw_examples(suggested(given.answer, documents, context.chatbot.library, titles), number=given.number)


def draw_notices(notices: Iterable[Notice]) -> None:
    """Draws what the user should know beside the answer."""
    for notice in notices:
        remembered = notice.text.startswith(REMEMBERED)
        draw_quiet(notice.text) if remembered else draw_notice(notice.text, notice.hint)


def aside_html(notice: Notice) -> str:
    """Renders a notice as one quiet line, cut where it is too long. Pointed at, it says all."""
    told = plain_html(f"{notice.text} {notice.hint}".strip())
    return f'<p class="quiet one-line" tabindex="0" data-tip="{told}">{plain_html(notice.text)}</p>'


# --- citations
# ------------------------------------------------------------------------------------------------------------


def _without_doubts(answer: Answer) -> Answer:
    """An answer that is being read back, without the program's own doubts, which the reader may dispel."""
    statements = [replace(one, mark="") if one.mark in DOUBTFUL else one for one in answer.statements]
    numbers = [replace(one, status="not_checked") if one.doubted else one for one in answer.numbers]
    citations = [
        replace(one, basis="unread") if one.doubted and one.document else one for one in answer.citations
    ]
    return replace(answer, statements=tuple(statements), numbers=tuple(numbers), citations=tuple(citations))


def _draw_marks(answer: Answer) -> None:
    """Says which statements of a chat model are doubted, what was proven, and what was not checked."""
    if answer.by_model:
        lines = [*doubt_lines(answer), proven_line(answer), unread_line(answer)]
        st.html("".join(map(quiet_html, filter(None, lines))))


def _draw_citations(given: DeliveredAnswer, titles: Mapping[str, str]) -> None:
    """Draws the pages cited in what is shown first below the answer, one button each, and what is doubted.

    Further passages of a page, and those that the reader unfolds, are opened by their marks in the text.
    """
    answer = given.answer
    passages = passages_of(answer.citations)
    opened = tuple(overlay.cited_page(passage.citation, passage.number) for passage in passages)
    keys = [press_key(given.number, passage.number) for passage in passages]
    first = passages_first(answer)
    # Those that the reader has not unfolded are not among those to go through.
    among = [opened[:first] if at < first else opened for at in range(len(opened))]
    offered = list(map(overlay.offer, keys, opened, among))
    pages: dict[object, list[CitedPassage]] = {}
    for passage in passages[:first]:
        citation = passage.citation
        pages.setdefault((citation.document, citation.version, citation.page), []).append(passage)
    buttons = [_citation_html(group, offered[group[0].number - 1], titles) for group in pages.values()]
    if buttons:
        st.html(f'<div class="cites">{"".join(buttons)}</div>')
    for key in dict.fromkeys(citation.key for citation in answer.citations if citation.document is None):
        draw_quiet(f"⚠ [{key}] no such source: the answer cites a page that it was not given.")
    remarks = [_remarks(passage, by_model=answer.by_model) for passage in passages]
    for remark in dict.fromkeys(chain.from_iterable(remarks)):
        draw_quiet(remark)


def _citation_html(group: Sequence[CitedPassage], offered: str, titles: Mapping[str, str]) -> str:
    """Renders the button of a page. group: its passages."""
    first = group[0].citation
    name = first.document or ""
    numbers = ", ".join(str(passage.number) for passage in group)
    return _page_html(
        f"<strong>{numbers}</strong>",
        titles.get(name, name),
        f"{plain_html(page_cited(first))} <strong>{_verdict(group)}</strong>",
        f"{words_cited(first)} {name}",
        offered if first.version is not None else "disabled",
    )


def _page_html(before: str, title: str, after: str, told: str, offered: str) -> str:
    """Renders a button that opens a page. before, after: HTML beside its title. offered: by overlay.offer."""
    return (
        f'<button type="button" class="cite" {offered} data-tip="{plain_html(told)}">{before} '
        f"{plain_html(short(title, LONGEST_TITLE))} · {after}</button>"
    )


def _verdict(group: Sequence[CitedPassage]) -> str:
    doubtful = sum(passage.citation.doubted for passage in group)
    if not doubtful:
        return min((passage.citation for passage in group), key=lambda one: one.verified).verdict
    return "⚠ not verified" if len(group) == 1 else f"⚠ {doubtful} of {len(group)} not verified"


def _remarks(passage: CitedPassage, *, by_model: bool) -> list[str]:
    """by_model: the statements themselves say what is doubted."""
    citation = passage.citation
    number = passage.number
    if citation.doubted and not by_model:
        doubt = [f"⚠ [{number}] not verified: {citation.reason or 'its words were not found on the page'}."]
    else:
        doubt = []
    return doubt + ocr_remarks(citation, number) + order_remarks(citation, number)


def ocr_remarks(citation: Citation, number: int) -> list[str]:
    """Says that a citation's words were read by OCR, and how surely if that is in doubt.

    Returns nothing for words of the PDF itself.
    """
    if citation.confidence is None:
        return []
    if citation.confidence < DOUBTFUL_CONFIDENCE:
        return [f"⚠ [{number}] read by OCR, confidence {citation.confidence:.0f} of 100: check the page"]
    return [f"[{number}] read by OCR"]


def order_remarks(citation: Citation, number: int) -> list[str]:
    """Says that quoted text addresses a machine and was only quoted; nothing for other text."""
    if not citation.instructs:
        return []
    said = "the quoted text, or the name of its page or document, gives orders to machines"
    return [f"⚠ [{number}] {said}. It is shown as data, and may be there to mislead."]


# --- what was checked
# ------------------------------------------------------------------------------------------------------------


def details_label(answer: Answer, checks: Sequence[NumberCheck]) -> str:
    """Returns one line for what was proven, such as "2 sources · 4 figures checked · Details".

    checks: of the figures that are shown.
    """
    pages = {(one.document, one.version, one.page) for one in answer.citations if one.document is not None}
    doubtful = sum(check.doubted for check in checks)
    proven = sum(check.status in FINE for check in checks)
    parts = []
    if answer.answered and pages:
        parts.append(counted(len(pages), "source"))
    if doubtful:
        parts.append(f"⚠ {doubtful} of {counted(len(checks), 'figure')} not confirmed")
    elif checks and proven == len(checks):
        parts.append(f"{counted(proven, 'figure')} checked")
    elif proven or (checks and not answer.unread):
        parts.append(f"{proven} of {counted(len(checks), 'figure')} proven")
    return " · ".join([*parts, "Details"])


def checks_html(answer: Answer, checks: Sequence[NumberCheck]) -> str:
    """Renders the statements and figures with what was found of each."""
    keys = _numbers_by_key(answer.citations)
    figures = [(check.text, check.verdict, _source(check, keys)) for check in checks]
    tables = []
    if answer.by_model and answer.statements:
        rows = [
            (one.shown_mark or UNMARKED.get(one.verdict, "not proven"), said_plainly(one.text), _grounds(one))
            for one in answer.statements
        ]
        tables += [table_html("Statements in the answer", ("Mark", "Statement", "Grounds"), rows)]
    if figures:
        title = "Figures in the answer, checked against the cited pages"
        tables += [table_html(title, ("Figure", "Found", "Where"), figures)]
    return "".join(tables)


def _grounds(statement: Statement) -> str:
    """What a statement rests on, or why it is doubted."""
    quotes = "; ".join(f"page {quote.page}: “{' '.join(quote.text.split())}”" for quote in statement.quotes)
    worked_out = statement.calculation.expression if statement.calculation else ""
    return "; ".join(filter(None, [worked_out, statement.difference, quotes])) or "–"


def _numbers_by_key(citations: Iterable[Citation]) -> dict[str, str]:
    """Returns the numbers of the passages of each source."""
    numbers: dict[str, list[str]] = {}
    for passage in passages_of(citations):
        numbers.setdefault(passage.citation.key, []).append(str(passage.number))
    return {key: ", ".join(found) for key, found in numbers.items()}


def _source(check: NumberCheck, keys: Mapping[str, str]) -> str:
    numbers = keys.get((check.citation or "").partition("-")[0])
    parts = [f"[{numbers}]" if numbers else "", check.formula or check.reason]
    return " ".join(filter(None, parts)) or "–"


# --- refusals
# ------------------------------------------------------------------------------------------------------------


def _draw_refusal(given: DeliveredAnswer, titles: Mapping[str, str]) -> None:
    answer = given.answer
    own = NOT_SURE if answer.text.startswith(NOT_SURE) else NOT_IN_DOCUMENTS
    heading = MODEL_FOUND_NONE if answer.by_model else own
    st.html(f'<p class="refusal">{heading}</p>')
    text = without_refusal(answer.text)
    if not answer.citations:  # a quotation stays as its page has it
        text = with_titles(text, titles)
    st.html(
        answer_html(
            text,
            answer.citations,
            statements=answer.statements,
            by_model=answer.by_model,
            titles=titles,
        )
    )
    versions = {(hit.document, hit.page): hit.version for hit in answer.considered}
    buttons = []
    for index, page in enumerate(answer.nearest):
        version = versions.get((page.document, page.page))
        opened = OpenPage(page.document, version or 0, page.page)
        offered = overlay.offer(f"near-{given.number}-{index}", opened)
        title = titles.get(page.document, page.document)
        is_there = version is not None
        buttons.append(
            _page_html(
                "", title, plain_html(page_text(page)), page.document, offered if is_there else "disabled"
            )
        )
    if buttons:
        st.caption("The nearest pages, to see for yourself:")
        st.html(f'<div class="cites">{"".join(buttons)}</div>')


# --- what was remembered
# --------------------------------------------------------------------------------------------------------


def recalled_html(notes: Sequence[Note]) -> str:
    """Shows recalled advice and news, which a user without a model would not see otherwise.

    It is no part of the answer and cites no document.
    """
    shown = beside(notes)
    if not shown:
        return ""
    lines = "".join(
        f'<p>{plain_html(note.text)}</p><p class="remark">{plain_html(note.source)}</p>' for note in shown
    )
    return (
        f'<section class="recalled"><p class="strong">Recalled, not from these '
        f"documents:</p>{lines}</section>"
    )


# --- what was shortened
# --------------------------------------------------------------------------------------------------------


def _draw_shortened(given: DeliveredAnswer) -> None:
    """Says that the model did not get the whole conversation, and links to what it got."""
    compression, conversation = given.answer.compression, given.answer.conversation
    if compression is None:
        return
    draw_quiet(shortened_text(compression))
    if conversation and given.number > 0:
        draw_quiet_button(
            "See what was kept",
            f"shortened-{given.number}",
            overlay.ask_for,
            SHORTENED,
            (conversation, given.number),
        )

"""Draws an answer with all that was checked: text, citations and figures, or why there is no answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import streamlit as st

from chatbot.answer.citations.model_refusals import without_refusal
from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Given
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
    Hit,
    Note,
    Notice,
    NumberCheck,
    PageRef,
    Statement,
)
from chatbot.store.document_names import with_titles
from chatbot.ui import overlay
from chatbot.ui.answer_details import draw_answer_details
from chatbot.ui.answer_text import (
    CitedPassage,
    answer_html,
    passages_first,
    passages_of,
    press_key,
    shown_figures,
)
from chatbot.ui.compare_session import draw_compare_action
from chatbot.ui.example_questions import draw_examples, suggested
from chatbot.ui.model_choice import draw_invitation
from chatbot.ui.overlay import OpenPage
from chatbot.ui.page_view import show_open_page
from chatbot.ui.safe_text import (
    counted,
    notice_html,
    page_text,
    plain_html,
    plain_markdown,
    quiet_html,
    short,
    table_html,
)
from chatbot.ui.shortened_view import shortened_text

__all__ = [
    "aside_html",
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
    "about_sources": "on what the documents lack, as the reader agrees",
}
# The headings of a refusal: the search's, and a chat model's.
NOT_IN_DOCUMENTS, MODEL_FOUND_NONE = "Not in these documents", "The chat model found no answer"


def draw_given(given: Given, context: AppContext, *, read_back: bool = False, fresh: bool = False) -> None:
    """Draws the whole answer inside the open message.

    read_back: whether a model still reads it back. fresh: and nobody has seen the program's own doubts yet.
    """
    if fresh:
        given = replace(given, answer=_without_doubts(given.answer))
    answer = given.answer
    of_failure = [
        notice
        for notice in given.notices
        if answer.error and notice.text.partition(HAD_SAID)[0] in answer.error
    ]
    titles = context.chatbot.titles()
    notices = [
        replace(notice, text=with_titles(notice.text, titles))
        for notice in given.notices
        if notice not in of_failure
    ]
    draw_notices(notice for notice in notices if not notice.aside)
    if answer.error:
        had_said = next((notice.text.partition(HAD_SAID)[2] for notice in of_failure), "")
        st.html(
            notice_html(
                f"The chat model failed: {answer.error}", f"{HAD_SAID.strip()} {had_said}" if had_said else ""
            )
        )
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
        _draw_citations(given, context)
        checks = shown_figures(html, answer.numbers)
    else:
        _draw_refusal(given, context)
    if not fresh:
        _draw_marks(answer)
    if answer.search_query.strip() != answer.question.strip():
        st.html(quiet_html(f"Searched as: {short(answer.search_query, 300)}"))
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


def _draw_suggested(given: Given, context: AppContext, titles: Mapping[str, str]) -> None:
    """Draws what may be asked next, of the documents that are searched."""
    names = given.answer.names
    there = (row for row in context.chatbot.documents() if row.removed_at is None)
    documents = [row for row in there if not names or row.name in names]
    draw_examples(suggested(given.answer, documents, context.chatbot.library, titles), number=given.number)


def draw_notices(notices: Iterable[Notice]) -> None:
    """Draws what the user should know beside the answer."""
    for notice in notices:
        remembered = notice.text.startswith(REMEMBERED)
        st.html(quiet_html(notice.text) if remembered else notice_html(notice.text, notice.hint))


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
        st.html("".join(quiet_html(line) for line in lines if line))


def _draw_citations(given: Given, context: AppContext) -> None:
    """Draws the pages cited in what is shown first below the answer, one button each.

    A mark in the text presses its passage's own button. The buttons of a page's further passages are hidden,
    and those of passages that the reader unfolds.
    """
    passages = passages_of(given.answer.citations)
    opened = tuple(_opened(passage) for passage in passages)
    shown = passages_first(given.answer)
    if passages:
        _citation_buttons(passages, shown, opened, given, context)
    for key in dict.fromkeys(
        citation.key for citation in given.answer.citations if citation.document is None
    ):
        st.html(quiet_html(f"⚠ [{key}] no such source: the answer cites a page that it was not given."))
    remarks = [_remarks(passage, by_model=given.answer.by_model) for passage in passages]
    for remark in dict.fromkeys(chain.from_iterable(remarks)):
        st.html(quiet_html(remark))


@st.fragment
def _citation_buttons(
    passages: Sequence[CitedPassage],
    shown: int,
    opened: tuple[OpenPage, ...],
    given: Given,
    context: AppContext,
) -> None:
    """Draws the buttons as a fragment, so that a page opens without drawing the conversation again.

    shown: how many of the passages are not folded away.
    """
    place = _place(given)
    groups = list(_by_page(passages[:shown]))
    drawn = {group[0].number for group in groups}
    titles = context.chatbot.titles()
    with st.container(horizontal=True, gap="small", key=f"citations-{given.number}"):
        for group in groups:
            key = press_key(given.number, group[0].number)
            title = _title(group[0], titles)
            _citation_button(group, opened, key, title, place=place)
    with st.container(key=f"pressed-{given.number}"):
        for passage in (passage for passage in passages if passage.number not in drawn):
            key = press_key(given.number, passage.number)
            _citation_button([passage], opened, key, _title(passage, titles), place=place)
    show_open_page(context, place=place)


def _place(given: Given) -> str:
    """Names the part of the page that draws the pages of this answer."""
    return f"{given.answer.conversation or ''} {given.number}"


def _title(passage: CitedPassage, titles: Mapping[str, str]) -> str:
    name = passage.citation.document or ""
    return titles.get(name, name)


def _by_page(passages: Iterable[CitedPassage]) -> Iterable[list[CitedPassage]]:
    """Groups passages by page, in the order in which the pages are first cited."""
    pages: dict[tuple[str | None, int | None, int | None], list[CitedPassage]] = {}
    for passage in passages:
        citation = passage.citation
        pages.setdefault((citation.document, citation.version, citation.page), []).append(passage)
    return pages.values()


def _opened(passage: CitedPassage) -> OpenPage:
    citation = passage.citation
    return OpenPage(
        citation.document or "",
        citation.version or 0,
        citation.page or 1,
        citation.quote,
        citation.page or 1,
        passage.number,
        citation.start,
    )


def _citation_button(
    group: Sequence[CitedPassage],
    opened: tuple[OpenPage, ...],
    key: str,
    title: str,
    *,
    place: str,
) -> None:
    first = group[0].citation
    where = page_text(PageRef(first.document or "", first.page or 1, first.page_label))
    numbers = ", ".join(str(passage.number) for passage in group)
    named = plain_markdown(short(title, LONGEST_TITLE))
    label = f"**{numbers}** {named} · {plain_markdown(where)} {_verdict(group)}"
    page = opened[group[0].number - 1]
    gone = first.version is None
    st.button(
        label,
        key=key,
        help=_shown_quote(first, title),
        on_click=overlay.open_page,
        args=(page, opened, place),
        disabled=gone,
        wrap=True,
    )


def _verdict(group: Sequence[CitedPassage]) -> str:
    doubtful = sum(passage.citation.doubted for passage in group)
    if not doubtful:
        least_sure = min((passage.citation for passage in group), key=lambda one: one.verified)
        return f"**{least_sure.verdict}**"
    if len(group) == 1:
        return "**⚠ not verified**"
    return f"**⚠ {doubtful} of {len(group)} not verified**"


def _shown_quote(citation: Citation, title: str) -> str:
    """What the page says, and in a second line the file."""
    said = f"“{short(citation.quote, 240)}”" if citation.quote else "Opens the page."
    return _two_lines(f"{title}: {said}", citation.document or "")


def _two_lines(first: str, name: str) -> str:
    return f"{plain_markdown(first)}\n\n{plain_markdown(name)}"


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
    said = (
        f"⚠ [{number}] the quoted text, or what its page or document is called, gives orders to machines "
        f"that read it"
    )
    if citation.instructs:
        return [f"{said}: it is shown as data, and may be there to mislead"]
    return []


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
        tables += [table_html("Statements of the answer", ("Mark", "Statement", "Grounds"), rows)]
    if figures:
        title = f"Figures of the answer, looked for in the cited pages{_by_ocr(answer.citations)}"
        tables += [table_html(title, ("Figure", "Found", "Where"), figures)]
    return "".join(tables)


def _grounds(statement: Statement) -> str:
    """What a statement rests on, or why it is doubted."""
    quotes = "; ".join(f"page {quote.page}: “{' '.join(quote.text.split())}”" for quote in statement.quotes)
    worked_out = statement.calculation.expression if statement.calculation else ""
    return "; ".join(filter(None, [worked_out, statement.difference, quotes])) or "–"


def _by_ocr(citations: Sequence[Citation]) -> str:
    by_ocr = [citation.confidence is not None for citation in citations if citation.document is not None]
    if any(by_ocr):
        return ", as OCR reads them" if all(by_ocr) else ", some as OCR reads them"
    return ""


def _numbers_by_key(citations: Iterable[Citation]) -> dict[str, str]:
    """Returns the numbers of the passages of each source."""
    numbers: dict[str, list[str]] = {}
    for passage in passages_of(citations):
        numbers.setdefault(passage.citation.key, []).append(str(passage.number))
    return {key: ", ".join(found) for key, found in numbers.items()}


def _source(check: NumberCheck, keys: Mapping[str, str]) -> str:
    numbers = keys.get((check.citation or "").partition("-")[0])
    return (
        " ".join(
            part for part in (f"[{numbers}]" if numbers else "", check.formula or check.reason or "") if part
        )
        or "–"
    )


# --- refusals
# ------------------------------------------------------------------------------------------------------------


def _draw_refusal(given: Given, context: AppContext) -> None:
    answer = given.answer
    own = NOT_SURE if answer.text.startswith(NOT_SURE) else NOT_IN_DOCUMENTS
    heading = MODEL_FOUND_NONE if answer.by_model else own
    st.html(f'<p class="refusal">{heading}</p>')
    text = without_refusal(answer.text)
    if not answer.citations:  # a quotation stays as its page has it
        text = with_titles(text, context.chatbot.titles())
    st.html(
        answer_html(
            text,
            answer.citations,
            statements=answer.statements,
            by_model=answer.by_model,
            titles=context.chatbot.titles(),
        )
    )
    pages = [(page, _hit_of(answer, page)) for page in answer.nearest]
    if pages:
        st.caption("The nearest pages, to see for yourself:")
        _near_buttons(pages, given, context)


@st.fragment
def _near_buttons(pages: Sequence[tuple[PageRef, Hit | None]], given: Given, context: AppContext) -> None:
    """Draws the buttons as a fragment, like those of the citations."""
    titles = context.chatbot.titles()
    with st.container(horizontal=True, gap="small"):
        for index, (page, hit) in enumerate(pages):
            title = titles.get(page.document, page.document)
            _page_button(page, hit, f"near-{given.number}-{index}", title, place=_place(given))
    show_open_page(context, place=_place(given))


def _hit_of(answer: Answer, page: PageRef) -> Hit | None:
    return next(
        (hit for hit in answer.considered if (hit.document, hit.page) == (page.document, page.page)), None
    )


def _page_button(page: PageRef, hit: Hit | None, key: str, title: str, *, place: str) -> None:
    label = f"{plain_markdown(short(title, LONGEST_TITLE))} · {plain_markdown(page_text(page))}"
    opened = OpenPage(page.document, hit.version if hit else 0, page.page)
    st.button(
        label,
        key=key,
        help=_two_lines(title, page.document),
        on_click=overlay.open_page,
        args=(opened, (), place),
        disabled=hit is None,
        wrap=True,
    )


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


def _draw_shortened(given: Given) -> None:
    """Says that the model did not get the whole conversation, and links to what it got."""
    compression = given.answer.compression
    conversation = given.answer.conversation
    if compression is None:
        return
    st.html(quiet_html(shortened_text(compression)))
    if conversation and given.number > 0:
        asked = ("shortened", conversation, given.number)
        st.button(
            "See what was kept",
            key=f"shortened-{given.number}",
            type="tertiary",
            on_click=overlay.ask_dialog,
            args=asked,
        )

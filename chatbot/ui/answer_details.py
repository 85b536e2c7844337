"""Shows how an answer came about: what was searched and sent, and which pages were considered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Given
from chatbot.errors import StoreError
from chatbot.memory.layers import label_of
from chatbot.models.addresses import endpoint_host
from chatbot.records import MEMORY, Answer, Hit, PageRef
from chatbot.settings import Settings
from chatbot.store.document_names import with_titles
from chatbot.ui import overlay, session
from chatbot.ui.answer_text import NO_TITLES
from chatbot.ui.safe_text import (
    notice_html,
    page_text,
    paragraphs_html,
    plain_html,
    quiet_html,
    short,
    table_html,
)
from chatbot.usage_text import usage_text

__all__ = ["draw_answer_details", "scores_html", "show_prompt"]

ROLES = {"system": "Rules", "user": "Material and question", "assistant": "The model", "tool": "Looked up"}
# The lowest bar of a strip, as a share of its height, so that a page with a low score is visible too.
LOWEST = 0.25
# The characters of one message of a prompt that are shown.
LONGEST_MESSAGE = 100_000


def draw_answer_details(given: Given, context: AppContext, label: str, checked: str) -> None:
    """Draws the details below an answer, closed at first: what was checked, and how it came about.

    checked: HTML.
    """
    answer = given.answer
    with st.expander(label, key=f"how-{given.number}"):
        if checked:
            st.html(checked)
        titles = context.chatbot.titles()
        steps = _steps(answer, context.settings, titles)
        st.html(table_html("How it was answered", ("Step", "What happened"), steps))
        if answer.notes:
            notes = [(label_of(note.layer), short(note.source, 120), note.text) for note in answer.notes]
            st.html(table_html("What was remembered for it", ("Memory", "Where from", "What"), notes))
        if answer.considered:
            later = _looked_up(answer)
            found = [hit for hit in answer.considered if hit not in later]
            st.html(scores_html(found, lambda version: _length(version, context), titles, later))
            rows = [(str(rank), _page_of(hit, titles)) for rank, hit in enumerate(found, 1)]
            rows += [("looked up", _page_of(hit, titles)) for hit in later]
            st.html(table_html("Pages considered, best first", ("Rank", "Page"), rows))
        if answer.prompt is not None and answer.conversation and given.number > 0:
            asked = ("prompt", answer.conversation, given.number)
            said = (
                "See the prompt as it was sent"
                if _was_sent(answer) or answer.model != "extractive"
                else "See what a model would be sent"
            )
            st.button(
                said, key=f"prompt-{given.number}", type="tertiary", on_click=overlay.ask_dialog, args=asked
            )


def show_prompt(context: AppContext) -> None:
    """Opens the view of a prompt if it was asked for."""
    if overlay.dialog()[0] == "prompt":
        st.dialog("The prompt", width="large", on_dismiss=overlay.close_dialog)(_draw_prompt)(context)


def _draw_prompt(context: AppContext) -> None:
    _, conversation, number = overlay.dialog()
    try:
        answer = context.chatbot.memory.answer(conversation, number, session.owner())
    except StoreError as error:
        st.html(notice_html(error.message, error.hint))
        return
    if answer is None or answer.prompt is None:
        st.html(quiet_html("The prompt of this answer is no longer stored."))
        return
    if answer.model == "extractive" and not answer.sent_to:
        st.html(quiet_html("A chat model would get further pages beside these."))
    st.html("".join(_message_html(role, content) for role, content in answer.prompt.messages))


def _message_html(role: str, content: str) -> str:
    shown = content[:LONGEST_MESSAGE]
    if len(content) > len(shown):
        more = quiet_html(f"… {len(content) - len(shown):,} characters more")
    else:
        more = ""
    return (
        f'<section class="kept"><p '
        f'class="asked">{plain_html(ROLES.get(role, role))}</p>{paragraphs_html(shown)}{more}</section>'
    )


# --- steps
# ------------------------------------------------------------------------------------------------------------


def _steps(answer: Answer, settings: Settings, titles: Mapping[str, str]) -> list[tuple[str, str]]:
    if not answer.from_documents:
        said = "Saved" if answer.model == MEMORY else "Answered"
        return [(said, "on this machine; no page was searched and no model was asked")]
    by_model = answer.by_model
    if answer.prompt:
        excerpts = len(answer.prompt.sources)
    else:
        excerpts = 0
    if answer.sent_to:
        host = answer.sent_to[1]
    else:
        host = endpoint_host(settings)
    who = "in the documents' own words, on this machine"
    steps = [("Searched", answer.search_query)]
    if by_model:
        steps += [("Answered", f"{answer.model} at {host}")]
    elif answer.sent_to:
        if not _was_sent(answer):
            asked, came = "Was to be sent to", "could not be reached"
        else:
            asked, came = "Sent to", "failed" if answer.error else "found no answer"
        steps += [(asked, f"{answer.sent_to[0]} at {host}, which {came}"), ("Then answered", who)]
    else:
        steps += [("Answered", f"{who}, without a model")]
    looks = answer.prompt.looks if answer.prompt else ()
    later = len(_looked_up(answer))
    found = f"{excerpts - later} page{'s' if excerpts - later != 1 else ''}"
    if later:
        found = f"{found} found, {later} more looked up"
    steps += [("Given to the model" if by_model else "Read", found)]
    steps += [(with_titles(look.said, titles), with_titles(look.brought, titles)) for look in looks]
    if answer.prompt and answer.prompt.exchanges:
        steps += [("Earlier exchanges taken into account", str(len(answer.prompt.exchanges)))]
    if answer.usage is not None:
        steps += [("The model used", usage_text(answer.usage))]
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in answer.timings)
    return [*steps, ("Took", f"{answer.seconds:.2f} seconds{f': {parts}' if parts else ''}")]


def _looked_up(answer: Answer) -> list[Hit]:
    """Returns the pages that a model's calls brought, which are the last of its sources."""
    if answer.prompt is None:
        return []
    sources = list(answer.prompt.sources.values())
    return sources[len(sources) - sum(look.pages for look in answer.prompt.looks) :]


def _was_sent(answer: Answer) -> bool:
    """Tells whether a model got the prompt, whatever came of it."""
    unreached = answer.failure is not None and answer.failure.kind == "unreachable"
    return answer.sent_to is not None and not unreached


# --- pages
# ------------------------------------------------------------------------------------------------------------


def scores_html(
    considered: Sequence[Hit],
    length: Callable[[int], int],
    titles: Mapping[str, str] = NO_TITLES,
    looked_up: Sequence[Hit] = (),
) -> str:
    """Draws each document as a strip from its first page to its last.

    A bar stands for each page that was considered; the higher the bar, the better its score. That of a page
    which was looked up, whose score is none for this question, has the whole height.

    considered: in rank order.
    length: pages of a version, 0 if it no longer exists.
    titles: by name.
    looked_up: further pages.
    """
    best = max((hit.score for hit in considered), default=0.0)
    all_pages = [*enumerate(considered, 1), *((0, hit) for hit in looked_up)]
    ranked = sorted(all_pages, key=lambda pair: (pair[1].document, pair[1].version))
    strips = (
        _strip_html(list(of), best, length(key[1]), titles)
        for key, of in groupby(ranked, key=lambda pair: (pair[1].document, pair[1].version))
    )
    return f'<div class="scores">{"".join(strips)}</div>'


def _strip_html(
    ranked: Sequence[tuple[int, Hit]], best: float, length: int, titles: Mapping[str, str]
) -> str:
    pages = max(length, *(hit.page for _, hit in ranked))
    bars = "".join(
        _bar_html(rank, hit, hit.score / best if rank and best > 0 else 1.0, pages) for rank, hit in ranked
    )
    file = ranked[0][1].document
    name = plain_html(short(titles.get(file, file), 90))
    said = plain_html("; ".join(_named(rank, hit) for rank, hit in ranked))
    return (
        f'<p class="quiet" data-tip="{plain_html(file)}">{name}, {pages:,} pages</p>'
        f'<div class="strip-of-scores" role="img" '
        f'aria-label="Considered: {said}">{bars}</div>'
    )


def _bar_html(rank: int, hit: Hit, share: float, pages: int) -> str:
    left = 100 * (hit.page - 1) / pages
    width = 100 / pages
    height = 100 * max(LOWEST, min(1.0, share))
    return (
        f'<i style="left: {left:.2f}%; width: max(4px, {width:.2f}%); height: {height:.0f}%" '
        f'data-tip="{plain_html(_named(rank, hit))}"></i>'
    )


def _named(rank: int, hit: Hit) -> str:
    found = f"number {rank}" if rank else "looked up"
    return f"{page_text(PageRef('', hit.page, hit.page_label))}: {found}"


def _length(version: int, context: AppContext) -> int:
    kept = context.chatbot.library.catalog.version(version)
    return kept.pages if kept else 0


def _page_of(hit: Hit, titles: Mapping[str, str]) -> str:
    title = short(titles.get(hit.document, hit.document), 90)
    return f"{title}, {page_text(PageRef(hit.document, hit.page, hit.page_label))}"

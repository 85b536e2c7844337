"""Shows how an answer came about: what was searched, sent and shortened, and which pages were considered."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import DeliveredAnswer
from chatbot.errors import StoreError
from chatbot.memory.compression.messages import Spans, pieces
from chatbot.memory.compression.sessions import CompressionStats
from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.memory.layers import label_of
from chatbot.models.addresses import endpoint_host
from chatbot.records import MEMORY, Answer, Compression, Hit, PageRef
from chatbot.settings import Settings
from chatbot.store.document_names import with_titles
from chatbot.ui import overlay, session
from chatbot.ui.list_controls import page_of
from chatbot.ui.page_parts import draw_problem, draw_quiet, draw_quiet_button
from chatbot.ui.safe_text import (
    counted,
    page_text,
    paragraphs_html,
    plain_html,
    quiet_html,
    short,
    table_html,
)
from chatbot.usage_text import usage_text

__all__ = ["SHORTENED", "draw_answer_details", "kept_html", "shortened_text", "stats_rows"]

ROLES = {"system": "Rules", "user": "Material and question", "assistant": "The model", "tool": "Looked up"}
# The characters of one message of a prompt that are shown.
LONGEST_MESSAGE = 100_000
# Exchanges on one page of the view. Some hundred screens of text would be no view.
EXCHANGES_SHOWN = 25


def draw_answer_details(given: DeliveredAnswer, context: AppContext, label: str, checked: str) -> None:
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
            st.html(table_html("What was remembered", ("Memory", "Where from", "What"), notes))
        if answer.considered:
            later = _looked_up(answer)
            found = [hit for hit in answer.considered if hit not in later]
            rows = [(str(rank), _page_of(hit, titles)) for rank, hit in enumerate(found, 1)]
            rows += [("looked up", _page_of(hit, titles)) for hit in later]
            st.html(table_html("Pages considered, best first", ("Rank", "Page"), rows))
        if answer.prompt is not None and answer.conversation and given.number > 0:
            was_sent = _was_sent(answer) or answer.model != "extractive"
            draw_quiet_button(
                "See the prompt as it was sent" if was_sent else "See what a model would be sent",
                f"prompt-{given.number}",
                overlay.ask_for,
                PROMPT,
                (answer.conversation, given.number),
            )


def _draw_prompt(place: tuple[str, int], context: AppContext) -> None:
    """place: of the answer, as conversation and number."""
    try:
        answer = context.chatbot.memory.answer(*place, session.owner())
    except StoreError as error:
        draw_problem(error)
        return
    if answer is None or answer.prompt is None:
        draw_quiet("The prompt of this answer is no longer stored.")
        return
    if answer.model == "extractive" and not answer.sent_to:
        draw_quiet("A chat model would also get further pages.")
    st.html("".join(_message_html(role, content) for role, content in answer.prompt.messages))


PROMPT = overlay.Dialog("The prompt", _draw_prompt, "large")


def _message_html(role: str, content: str) -> str:
    shown = content[:LONGEST_MESSAGE]
    cut = len(content) - len(shown)
    more = quiet_html(f"… {cut:,} characters more") if cut else ""
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
    excerpts = len(answer.prompt.sources) if answer.prompt else 0
    host = answer.sent_to[1] if answer.sent_to else endpoint_host(settings)
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
    found = counted(excerpts - later, "page")
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


def _page_of(hit: Hit, titles: Mapping[str, str]) -> str:
    title = short(titles.get(hit.document, hit.document), 90)
    return f"{title}, {page_text(PageRef(hit.document, hit.page, hit.page_label))}"


# --- what was shortened
# ------------------------------------------------------------------------------------------------------------


def shortened_text(compression: Compression) -> str:
    """Says in one line how much was kept."""
    kept = compression.compressed_tokens
    full = compression.original_tokens
    return (
        f"Earlier parts of this conversation were shortened for this answer: {kept:,} of {full:,} tokens "
        f"kept."
    )


def _draw(place: tuple[str, int], context: AppContext) -> None:
    """place: of the answer, as conversation and number."""
    conversation, number = place
    owner = session.owner()
    chatbot = context.chatbot
    try:
        answer = chatbot.memory.answer(conversation, number, owner)
        before = chatbot.conversations.said(conversation, owner, before=number)
    except StoreError as error:
        draw_problem(error)
        return
    said = [one for one in before if one.state != "answering"]
    if answer is None or answer.compression is None:
        draw_quiet("What was kept for this answer is not known any more.")
        return
    compression = answer.compression
    draw_quiet(
        f"{shortened_text(compression)} What is struck out was not sent. It stays in the conversation."
    )
    left_out = [one for one in said if not in_prompt(one, compression)]
    show_all = f"Show the {len(left_out):,} exchanges that were left out"
    if left_out and not st.toggle(show_all, key=f"kept-all-{number}"):
        said = [one for one in said if in_prompt(one, compression)]
    shown = page_of(said, EXCHANGES_SHOWN, key=f"kept-page-{number}")
    st.html("".join(kept_html(one, compression) for one in shown))
    whole, *each = stats_rows(chatbot.memory.stats(conversation, owner))
    heads = ("Messages", "Tokens", "Answers after shortening")
    st.html(table_html("This conversation until now", heads, [whole]))
    st.html(table_html("When it was shortened", ("Time", "Tokens", "Kept", "Turns shortened"), each))


SHORTENED = overlay.Dialog("What was kept for this answer", _draw, "large")


def stats_rows(stats: CompressionStats) -> list[tuple[str, ...]]:
    """Returns cells: first for the whole, then for each shortening, the latest first."""
    whole = (f"{stats.message_count:,}", f"{stats.token_count:,}", f"{stats.compression_count:,}")
    return [whole, *(_shortening(**one) for one in reversed(stats.compression_history))]


def _shortening(
    timestamp: float, original_tokens: float, compressed_tokens: float, chunks_compressed: float
) -> tuple[str, ...]:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(timestamp))
    share = f"{compressed_tokens:,} ({compressed_tokens / max(1, original_tokens):.0%})"
    return at, f"{original_tokens:,}", share, f"{chunks_compressed:,}"


def kept_html(said: StoredExchange, compression: Compression) -> str:
    """Renders one earlier exchange, with what was left out struck through.

    That is also named for those who cannot see it.
    """
    if said.number not in compression.kept and in_prompt(said, compression):
        head = f'<p class="quiet strong">Exchange {said.number}: among the last, as it is</p>'
        return (
            f'<section class="kept">{head}<p '
            f'class="asked">{plain_html(said.user)}</p><p>{plain_html(said.cited)}</p></section>'
        )
    question, answer = compression.kept.get(said.number, ((), ()))
    parts = (_part(said.user, question), _part(said.cited, answer))
    how = _how(((said.user, question), (said.cited, answer)))
    head = f'<p class="quiet strong">Exchange {said.number}: {how}</p>'
    return f'<section class="kept">{head}<p class="asked">{parts[0]}</p><p>{parts[1]}</p></section>'


def in_prompt(said: StoredExchange, compression: Compression) -> bool:
    """Tells whether anything of an exchange reached the prompt."""
    return said.number in compression.kept or 0 < compression.whole_from <= said.number


def _part(text: str, spans: Spans) -> str:
    return "".join(
        plain_html(piece)
        if kept
        else (
            f'<del><span class="unseen">[cut: </span>{plain_html(piece)}<span class="unseen">]</span></del>'
        )
        for piece, kept in _shown(text, spans)
    )


def _how(parts: Sequence[tuple[str, Spans]]) -> str:
    stays = {kept for text, spans in parts for _, kept in _shown(text, spans)}
    return {frozenset({True, False}): "kept in part", frozenset({True}): "kept whole"}.get(
        frozenset(stays), "cut"
    )


def _shown(text: str, spans: Spans) -> list[tuple[str, bool]]:
    """Renders the pieces. Blanks between kept stretches count as kept."""
    return [(piece, kept or not piece.strip()) for piece, kept in pieces(text, spans)]

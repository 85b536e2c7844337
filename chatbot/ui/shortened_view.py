"""Shows what of a conversation was kept and left out for one answer, and how often that happened."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import StoreError
from chatbot.memory.compression.messages import Spans, pieces
from chatbot.memory.compression.sessions import CompressionStats
from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.records import Compression
from chatbot.ui import overlay, session
from chatbot.ui.list_controls import page_of
from chatbot.ui.safe_text import notice_html, plain_html, quiet_html, table_html

__all__ = ["in_prompt", "kept_html", "shortened_text", "show_shortened", "stats_rows"]

# Exchanges on one page of the view. Some hundred screens of text would be no view.
EXCHANGES_SHOWN = 25


def shortened_text(compression: Compression) -> str:
    """Says in one line how much was kept."""
    kept = compression.compressed_tokens
    full = compression.original_tokens
    return (
        f"Earlier parts of this conversation were shortened for this answer: {kept:,} of {full:,} tokens "
        f"kept."
    )


def show_shortened(context: AppContext) -> None:
    """Opens the view if it was asked for."""
    if overlay.dialog()[0] == "shortened":
        st.dialog("What was kept for this answer", width="large", on_dismiss=overlay.close_dialog)(_draw)(
            context
        )


def _draw(context: AppContext) -> None:
    _, conversation, number = overlay.dialog()
    owner = session.owner()
    chatbot = context.chatbot
    try:
        answer = chatbot.memory.answer(conversation, number, owner)
        said = [
            one
            for one in chatbot.conversations.said(conversation, owner, before=number)
            if one.state != "answering"
        ]
    except StoreError as error:
        st.html(notice_html(error.message, error.hint))
        return
    if answer is None or answer.compression is None:
        st.html(quiet_html("What was kept for this answer is not known any more."))
        return
    st.html(
        quiet_html(
            shortened_text(answer.compression)
            + " What is struck out was not sent. It stays in the conversation."
        )
    )
    compression = answer.compression
    left_out = [one for one in said if not in_prompt(one, compression)]
    if left_out and not st.toggle(
        f"Show the {len(left_out):,} exchanges that were cut whole", key=f"kept-all-{number}"
    ):
        said = [one for one in said if in_prompt(one, compression)]
    st.html(
        "".join(
            kept_html(one, compression) for one in page_of(said, EXCHANGES_SHOWN, key=f"kept-page-{number}")
        )
    )
    stats = chatbot.memory.stats(conversation, owner)
    st.html(
        table_html(
            "This conversation until now",
            ("Messages", "Tokens", "Answers given with it shortened"),
            [stats_rows(stats)[0]],
        )
    )
    st.html(
        table_html(
            "When it was shortened", ("Time", "Tokens", "Kept", "Turns shortened"), stats_rows(stats)[1:]
        )
    )


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

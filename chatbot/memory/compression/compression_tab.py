"""Draws the conversations tab of the Memory page: which conversations were shortened, by how much, and how.

It shortens nothing itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.memory.compression.sessions import CompressionStats
from chatbot.ui import overlay, session
from chatbot.ui.list_controls import page_of
from chatbot.ui.safe_text import paragraphs_html, quiet_html, short, table_html
from chatbot.ui.shortened_view import show_shortened, stats_rows

__all__ = ["draw", "shares_of"]

NONE_YET = (
    "None of your conversations has been shortened yet. In a long one, the model gets only the earlier "
    "sentences that matter for the new question. The conversation itself stays complete."
)
KEPT, CUT = "kept", "cut"
ROWS = 20
# The latest conversations, which are searched for shortened ones.
MOST_CONVERSATIONS = 200


def draw(context: AppContext) -> None:
    """Draw the tab: a choice of conversation, each time it was shortened, and a way to what was kept then."""
    owner = session.owner()
    conversations = context.chatbot.conversations
    rows = conversations.listed(owner)[:MOST_CONVERSATIONS]
    shortened = {row.id: conversations.compressions(row.id, owner) for row in rows}
    titles = {}
    for row in rows:
        if shortened[row.id]:
            titles[row.id] = short(row.title or "A conversation", 70)
    if not titles:
        st.html(paragraphs_html(NONE_YET))
        return
    chosen = st.selectbox(
        "Conversation", list(titles), format_func=lambda id: titles[id], key="shortened-conversation"
    )
    stats = context.chatbot.memory.stats(chosen, owner)
    columns = ("Messages", "Tokens", "Answers given with it shortened")
    st.html(table_html("Until now", columns, [stats_rows(stats)[0]]))
    shares = shares_of(stats)
    st.bar_chart(
        shares,
        x="answer",
        y="tokens",
        color="part",
        x_label="answer",
        y_label="tokens of the earlier conversation",
        height=260,
        sort=False,
    )
    _draw_answers(chosen, [number for number, *_ in shortened[chosen]], stats)
    show_shortened(context)


def shares_of(stats: CompressionStats) -> list[dict[str, str | int]]:
    """{answer, part, tokens} for the chart.

    Two for each answer that was given with a shortened conversation: what reached its prompt, and what did
    not.
    """
    rows: list[dict[str, str | int]] = []
    for number, entry in enumerate(stats.compression_history, 1):
        full = int(entry["original_tokens"])
        kept = int(entry["compressed_tokens"])
        time_text = time.strftime("%d %b %H:%M", time.localtime(entry["timestamp"]))
        answer = f"{number}: {time_text}"
        rows.append({"answer": answer, "part": KEPT, "tokens": kept})
        rows.append({"answer": answer, "part": CUT, "tokens": max(0, full - kept)})
    return rows


def _draw_answers(conversation: str, numbers: Sequence[int], stats: CompressionStats) -> None:
    """Draw a line for each answer, the latest first, with a button to what was kept for it."""
    lines = list(zip(reversed(numbers), stats_rows(stats)[1:], strict=False))
    for number, (at, full, share, turns) in page_of(lines, ROWS, key=f"shortened-page-{conversation}"):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"shortened-row-{number}"
        ):
            line = f"{at}: {share} of {full} tokens kept, {turns} turns shortened"
            st.html(quiet_html(line), width="content")
            st.button(
                "See what was kept",
                key=f"shortened-{number}",
                type="tertiary",
                on_click=overlay.ask_dialog,
                args=("shortened", conversation, number),
            )

"""The conversations tab of the Memory page: which were shortened for their answers, by how much, and what
was left out; shortens nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from chatbot.memory.compression.sessions import CompressionStats
from chatbot.ui import overlay, session
from chatbot.ui.app_context import AppContext
from chatbot.ui.list_controls import page_of
from chatbot.ui.safe_text import paragraphs_html, quiet_html, short, table_html
from chatbot.ui.shortened_view import show_shortened, stats_rows

__all__ = ["draw", "shares_of"]

NONE_YET = (
    "No conversation of yours was shortened yet. When one grows long, its earlier exchanges reach the "
    "prompt of a new question in the sentences that bear on it; "
    "nothing of the conversation itself is lost."
)
KEPT, LEFT_OUT = "kept", "left out"
ROWS = 20
# The latest conversations, among which shortened ones are looked for.
MOST_CONVERSATIONS = 200


def draw(context: AppContext) -> None:
    """The tab: choose a conversation, see each time that it was shortened, and open what was kept then."""
    owner = session.owner()
    conversations = context.chatbot.conversations
    rows = conversations.listed(owner)[:MOST_CONVERSATIONS]
    shortened = {row.id: conversations.compressions(row.id, owner) for row in rows}
    titles = {row.id: short(row.title or "A conversation", 70) for row in rows if shortened[row.id]}
    if not titles:
        st.html(paragraphs_html(NONE_YET))
        return
    chosen = st.selectbox(
        "Conversation", list(titles), format_func=lambda id: titles[id], key="shortened-conversation"
    )
    stats = context.chatbot.memory.stats(chosen, owner)
    st.html(
        table_html(
            "Until now", ("Messages", "Tokens", "Answers given with it shortened"), [stats_rows(stats)[0]]
        )
    )
    shares = shares_of(stats)
    st.bar_chart(
        shares,
        x="answer",
        y="tokens",
        color="part",
        x_label="answer",
        y_label="tokens of what was said before",
        height=260,
        sort=False,
    )
    _draw_answers(chosen, [number for number, *_ in shortened[chosen]], stats)
    show_shortened(context)


def shares_of(stats: CompressionStats) -> list[dict[str, str | int]]:
    """{answer, part, tokens} for the chart: of each answer that was given with a shortened conversation,
    what reached its prompt and what did not.
    """
    rows: list[dict[str, str | int]] = []
    for number, one in enumerate(stats.compression_history, 1):
        full = int(one["original_tokens"])
        kept = int(one["compressed_tokens"])
        said = f"{number}: {time.strftime('%d %b %H:%M', time.localtime(one['timestamp']))}"
        rows += [
            {"answer": said, "part": KEPT, "tokens": kept},
            {"answer": said, "part": LEFT_OUT, "tokens": max(0, full - kept)},
        ]
    return rows


def _draw_answers(conversation: str, numbers: Sequence[int], stats: CompressionStats) -> None:
    """A line for each answer, the latest first, with the way to what was kept for it."""
    lines = list(zip(reversed(numbers), stats_rows(stats)[1:], strict=False))
    for number, (at, full, share, turns) in page_of(lines, ROWS, key=f"shortened-page-{conversation}"):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"shortened-row-{number}"
        ):
            st.html(
                quiet_html(f"{at}: {share} of {full} tokens kept, {turns} turns shortened"), width="content"
            )
            asked = ("shortened", conversation, number)
            st.button(
                "See what was kept",
                key=f"shortened-{number}",
                type="tertiary",
                on_click=overlay.ask_dialog,
                args=asked,
            )

"""Draws the conversations in the sidebar: searching, opening, undoing a deletion, restoring."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import groupby

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.memory.conversations.conversation_store import KEPT_DAYS, ConversationRow
from chatbot.ui import overlay, session
from chatbot.ui.conversation_menu import draw_menu, title_text
from chatbot.ui.list_controls import search_box
from chatbot.ui.safe_text import paragraphs_html, plain_html, plain_markdown, quiet_html, short

__all__ = ["day_heading", "draw_beginnings", "draw_conversations", "show_erase_dialog"]

# After this many days the month is enough to tell conversations apart.
DAYS_OF_A_WEEK = 7
EMPTY = "Your conversations will appear here. They are kept where this server runs, and seen {} only."
NOTHING_FOUND = "No conversation has all of these words."


def draw_beginnings(context: AppContext, *, disabled: bool) -> None:
    """Draws the ways to begin a conversation."""
    st.button(
        "New conversation",
        key="new",
        icon=":material/add:",
        on_click=session.leave_conversation,
        width="stretch",
        disabled=disabled,
    )
    st.button(
        "Private conversation",
        key="new-private",
        icon=":material/visibility_off:",
        type="tertiary",
        help="Nothing of it is stored, and it ends when the server stops.",
        on_click=session.begin_private,
        args=(context,),
        disabled=disabled,
    )


def draw_conversations(context: AppContext, current: str | None) -> None:
    """Draws everything about conversations except the ways to begin one.

    current: id of the conversation that is shown.
    """
    conversations = context.chatbot.conversations
    owner = session.owner()
    rows = conversations.listed(owner)
    deleted = conversations.listed(owner, deleted=True)
    with st.container(key="conversations", gap="xsmall"):
        st.html('<h2 class="part">Conversations</h2>')
        _draw_undo(context)
        if not rows:
            st.html(quiet_html(_teaching(context)))
        else:
            wanted = search_box("Search conversations", key="find")
            if wanted:
                found = conversations.listed(owner, search=wanted)
            else:
                found = rows
            _draw_rows(found[: session.listed_most()], context, current)
            if not found:
                st.html(quiet_html(NOTHING_FOUND))
            if len(found) > session.listed_most():
                st.button(
                    f"Show more of {len(found):,}",
                    key="list-more",
                    type="tertiary",
                    on_click=session.list_more,
                )
        if deleted:
            _draw_deleted(deleted, context)


def _teaching(context: AppContext) -> str:
    days = context.settings.retention_days
    return EMPTY.format(session.where_seen()) + (
        f" A conversation is erased {days:g} days after its last question." if days else ""
    )


def _draw_rows(rows: Iterable[ConversationRow], context: AppContext, current: str | None) -> None:
    now = time.time()
    for heading, some in groupby(rows, lambda row: day_heading(row.changed_at, now)):
        st.html(f'<h3 class="day">{plain_html(heading)}</h3>')
        for row in some:
            here = row.id == current
            with st.container(
                key=f"{'current' if here else 'listed'}-{row.id}",
                horizontal=True,
                wrap=False,
                gap=None,
                vertical_alignment="center",
            ):
                label = title_text(row, 120)
                icon = ":material/visibility_off:" if row.private else None
                st.button(
                    f"**{label}**" if here else label,
                    key=f"go-{row.id}",
                    type="tertiary",
                    icon=icon,
                    width="stretch",
                    wrap=False,
                    on_click=session.open_conversation,
                    args=(row.id,),
                )
                draw_menu(row, context, opened=False)


def day_heading(then: float, now: float) -> str:
    """Returns "Today", "Yesterday", "Last 7 days", or the month, such as "November 2026".

    Both times are in seconds since the epoch. Days are those of this machine's clock.
    """
    day = time.localtime(then)
    today = time.localtime(now)
    days = round((_noon(today) - _noon(day)) / 86_400)
    if days <= 1:
        return "Yesterday" if days == 1 else "Today"
    if days < DAYS_OF_A_WEEK:
        return "Last 7 days"
    return time.strftime("%B %Y", day)


def _noon(day: time.struct_time) -> float:
    """Returns noon of a day: an hour's shift for summer time does not change its day."""
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 12, 0, 0, 0, 0, -1))


# --- deletion
# ------------------------------------------------------------------------------------------------------------


def _draw_undo(context: AppContext) -> None:
    row = session.undoable(context)
    if row is None:
        return
    with st.container(key="undo", border=True, gap="xsmall"):
        st.html(f'<p class="quiet" role="status">Deleted: {plain_html(short(row.title, 60))}</p>')
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Undo", key="undo-delete", on_click=session.restore_conversation, args=(row.id, context)
            )
            st.button("Dismiss", key="undo-away", type="tertiary", on_click=session.put_undo_away)


def _draw_deleted(rows: list[ConversationRow], context: AppContext) -> None:
    opened = st.expander(f"Deleted ({len(rows):,})", key="deleted", type="compact", on_change="rerun")
    if not opened.open:
        return
    with opened:
        st.html(quiet_html(f"Each can be restored for {KEPT_DAYS} days, then it is erased."))
        for row in rows[: session.listed_most()]:
            until = time.strftime("%d %B", time.localtime((row.deleted_at or 0) + KEPT_DAYS * 86_400))
            with st.container(key=f"gone-{row.id}", gap=None):
                st.html(
                    f'<p class="gone">{plain_html(short(row.title, 60))} <span class="quiet">until '
                    f"{until}</span></p>"
                )
                with st.container(horizontal=True, gap="small"):
                    st.button(
                        "Restore",
                        key=f"restore-{row.id}",
                        type="tertiary",
                        on_click=session.restore_conversation,
                        args=(row.id, context),
                    )
                    st.button(
                        "Erase now",
                        key=f"erase-{row.id}",
                        type="tertiary",
                        on_click=overlay.ask_dialog,
                        args=("erase", row.id),
                    )


def show_erase_dialog(context: AppContext) -> None:
    """Asks before a conversation is erased, if that was wanted."""
    kind, conversation, _ = overlay.dialog()
    if kind != "erase":
        return
    rows = [
        row
        for row in context.chatbot.conversations.listed(session.owner(), deleted=True)
        if row.id == conversation
    ]
    if not rows:
        overlay.close_dialog()
        return
    title = plain_markdown(f"Erase “{short(rows[0].title, 50)}” for good?")
    st.dialog(title, on_dismiss=overlay.close_dialog)(_ask_to_erase)(rows[0], context)


def _ask_to_erase(row: ConversationRow, context: AppContext) -> None:
    count = f"{row.exchanges} exchanges" if row.exchanges != 1 else "Its one exchange"
    st.html(
        paragraphs_html(
            f"{count} and all that was checked of the answers are erased and cannot be brought back."
        )
    )
    with st.container(horizontal=True):
        if st.button("Erase for good", key="erase-yes", type="primary"):
            context.chatbot.conversations.erase(row.id, session.owner())
            overlay.close_dialog()
            st.rerun()
        if st.button("Keep it", key="erase-no"):
            overlay.close_dialog()
            st.rerun()

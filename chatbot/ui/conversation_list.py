"""Draws the conversations in the sidebar, and the menu of each: title, switches, downloads, deletion."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import groupby

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.errors import StoreError
from chatbot.memory.conversations.conversation_store import KEPT_DAYS, ConversationRow
from chatbot.memory.conversations.export import export_conversation, file_name
from chatbot.memory.layers import layers_with
from chatbot.records import Answer
from chatbot.store.document_names import listed
from chatbot.ui import overlay, session
from chatbot.ui.exchanges import has_model
from chatbot.ui.list_controls import search_box
from chatbot.ui.page_parts import (
    abreast,
    draw_button,
    draw_download,
    draw_quiet,
    draw_quiet_button,
    draw_two_ways,
)
from chatbot.ui.safe_text import counted, paragraphs_html, plain_html, plain_markdown, short
from chatbot.usage_text import usage_text

__all__ = [
    "day_heading",
    "draw_beginnings",
    "draw_conversations",
    "draw_menu",
    "export",
    "may_ask_tools",
    "title_text",
]

# Conversations in the list until more are asked for: a sidebar's height and a half.
LISTED = 30
# After this many days the month is enough to tell conversations apart.
DAYS_OF_A_WEEK = 7
EMPTY = "Your conversations will appear here. They are stored on this server and seen {} only."
NOTHING_FOUND = "No conversation has all of these words."
# What a conversation is said to have switched off, as it is of a memory.
TOOLS = "tools"
TOOLS_TOLD = (
    "Before it answers, the chat model may call tools of {}. They get what it asks them, and each call is "
    "shown."
)
# By whether the settings have long conversations shortened.
SHORTENS = {
    True: "Sends the model the whole conversation. From a long one, only what matters for the question. The "
    "answer then says so, and shows what was kept.",
    False: "Long conversations are not shortened. Switch that on under Settings first.",
}
RECALLS = "Answers here may draw on what you asked elsewhere. Private conversations are never recalled."

FILES = (("markdown", "Export as Markdown", "text/markdown"), ("json", "Export as JSON", "application/json"))


def draw_beginnings(context: AppContext, *, disabled: bool) -> None:
    """Draws the ways to begin a conversation."""
    draw_button(
        "New conversation",
        "new",
        session.go_to,
        None,
        icon=":material/add:",
        width="stretch",
        disabled=disabled,
    )
    draw_quiet_button(
        "Private conversation",
        "new-private",
        session.begin_private,
        context,
        icon=":material/visibility_off:",
        help="Nothing of it is stored, and it ends when the server stops.",
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
            draw_quiet(_teaching(context))
        else:
            wanted = search_box("Search conversations", key="find")
            most = st.session_state.setdefault("listed", LISTED)
            found = conversations.listed(owner, search=wanted) if wanted else rows
            _draw_rows(found[:most], context, current)
            if not found:
                draw_quiet(NOTHING_FOUND)
            if len(found) > most:
                more = partial(st.session_state.update, listed=most + LISTED)
                draw_quiet_button(f"Show more of {len(found):,}", "list-more", more)
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
            with abreast(key=f"{'current' if here else 'listed'}-{row.id}", wrap=False, gap=None):
                label = title_text(row, 120)
                icon = ":material/visibility_off:" if row.private else None
                draw_quiet_button(
                    f"**{label}**" if here else label,
                    f"go-{row.id}",
                    session.go_to,
                    row.id,
                    icon=icon,
                    width="stretch",
                    wrap=False,
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
    return "Last 7 days" if days < DAYS_OF_A_WEEK else time.strftime("%B %Y", day)


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
        with abreast(gap="small"):
            draw_button("Undo", "undo-delete", session.restore_conversation, row.id, context)
            draw_quiet_button("Dismiss", "undo-away", st.session_state.pop, "undo", None)


def _draw_deleted(rows: list[ConversationRow], context: AppContext) -> None:
    opened = st.expander(f"Deleted ({len(rows):,})", key="deleted", type="compact", on_change="rerun")
    if not opened.open:
        return
    with opened:
        draw_quiet(f"Each can be restored for {KEPT_DAYS} days, then it is erased.")
        for row in rows[: st.session_state.get("listed", LISTED)]:
            until = time.strftime("%d %B", time.localtime((row.deleted_at or 0) + KEPT_DAYS * 86_400))
            with st.container(key=f"gone-{row.id}", gap=None):
                st.html(
                    f'<p class="gone">{plain_html(short(row.title, 60))} <span class="quiet">until '
                    f"{until}</span></p>"
                )
                with abreast(gap="small"):
                    draw_quiet_button(
                        "Restore", f"restore-{row.id}", session.restore_conversation, row.id, context
                    )
                    draw_quiet_button("Erase now", f"erase-{row.id}", overlay.ask_for, _erasure_of(row), row)


def _erasure_of(row: ConversationRow) -> overlay.Dialog:
    return overlay.Dialog(plain_markdown(f"Erase “{short(row.title, 50)}” for good?"), _ask_to_erase)


def _ask_to_erase(row: ConversationRow, context: AppContext) -> None:
    count = f"{row.exchanges} exchanges" if row.exchanges != 1 else "Its one exchange"
    said = "and all that was checked of the answers are erased and cannot be brought back."
    st.html(paragraphs_html(f"{count} {said}"))
    erase = partial(context.chatbot.conversations.erase, row.id, session.owner())
    draw_two_ways("Erase for good", "Keep it", erase)


# --- menu
# ------------------------------------------------------------------------------------------------------------


def title_text(row: ConversationRow, most: int = 60) -> str:
    """Returns the title for labels, as Markdown."""
    return plain_markdown(
        short(row.title, most) or ("Private conversation" if row.private else "Conversation")
    )


def draw_menu(row: ConversationRow, context: AppContext, *, opened: bool) -> None:
    """Draws the menu. opened: of the conversation that is shown, else of one in the list."""
    place = "open" if opened else "row"
    label = title_text(row) if opened else f"Menu of {title_text(row)}"
    key = f"menu-{place}-{row.id}"
    menu = st.popover(
        label,
        key=key,
        type="tertiary",
        icon=None if opened else ":material/more_horiz:",
        on_change="rerun",
        wrap=False,
    )
    if menu.open:
        with menu, st.container(key=f"inside-{place}", gap="xsmall"):
            _draw_inside(row, context, place)


def _draw_inside(row: ConversationRow, context: AppContext, place: str) -> None:
    conversations, end = context.chatbot.conversations, f"{place}-{row.id}"
    named = f"title-{end}"

    def rename() -> None:
        session.attempt(conversations.rename, row.id, session.owner(), st.session_state[named])

    st.text_input("Title", row.title, key=named, max_chars=120, on_change=rename)
    _draw_switches(row, context, end)
    count, used = conversations.spent(row.id, session.owner())
    if used is not None:
        draw_quiet(
            f"{counted(count, 'answer')} by chat models: {usage_text(replace(used, first_seconds=0.0))}"
        )
    for form, label, mime in FILES if row.exchanges else ():
        make = partial(export, row.id, session.owner(), form, context)
        download = Download(make, file_name(row, form), mime)
        draw_download(label, context.downloads, f"{form}-{end}", download, icon=":material/download:")
    remove = partial(session.attempt, session.delete_conversation, row, context)
    draw_quiet_button("Delete", f"delete-{end}", remove, icon=":material/delete:")


def _draw_switches(row: ConversationRow, context: AppContext, end: str) -> None:
    """end: the end of the keys, since both menus of a conversation may be there."""
    conversations, owner = context.chatbot.conversations, session.owner()
    compression = session.settings(context).compression

    def draw(name: str, label: str, told: str, on: bool, change: Callable[[bool], None]) -> None:
        key = f"{name}-{end}"

        def changed() -> None:
            session.attempt(change, st.session_state[key])

        # A switch that is off because the settings are says nothing about this conversation.
        off = change is shorten and not compression
        st.toggle(label, on and not off, key=key, help=told, disabled=off, on_change=changed)

    def shorten(on: bool) -> None:
        conversations.choose(row.id, owner, compresses=on, recalls_others=row.recalls_others)

    def recall(on: bool) -> None:
        conversations.choose(row.id, owner, compresses=row.compresses, recalls_others=on)

    draw("shortens", "Shorten long conversations", SHORTENS[compression], row.compresses, shorten)
    draw("recalls", "Use my other conversations", RECALLS, row.recalls_others, recall)
    switches = [(layer.name, *(layer.switch or ("", ""))) for layer in layers_with("switch")]
    if names := context.chatbot.tools.names():
        told = TOOLS_TOLD.format(plain_markdown(listed(names)))
        switches.append((TOOLS, "May ask tools of other servers", told))

    def switch(name: str, on: bool) -> None:
        conversations.switch(row.id, owner, name, on=on)

    for name, label, told in switches:
        draw(name, label, told, name not in row.off, partial(switch, name))


def may_ask_tools(conversation: str | None, context: AppContext) -> bool:
    """Tells whether a chat model answers in this conversation that may call tools."""
    if not (context.chatbot.tools.names() and has_model(context)):
        return False
    return conversation is None or context.chatbot.memory.is_on(conversation, session.owner(), TOOLS)


def export(conversation: str, owner: str, form: str, context: AppContext) -> bytes:
    """Returns the conversation as a file, in UTF-8, made now. Raises NotFoundError, StoreError.

    form: one of FORMATS.
    """
    conversations = context.chatbot.conversations
    memory = context.chatbot.memory
    said = conversations.said(conversation, owner)

    def answer(number: int) -> Answer | None:
        try:
            return memory.answer(conversation, number, owner)
        except StoreError:  # its words are there
            return None

    row = conversations.get(conversation, owner)
    return export_conversation(row, said, [answer(one.number) for one in said], form).encode("utf-8")

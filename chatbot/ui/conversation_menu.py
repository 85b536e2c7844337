"""Draws the menu of one conversation: its title, its switches, downloads, deletion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.errors import NotFoundError, StoreError
from chatbot.memory.conversations.conversation_store import ConversationRow
from chatbot.memory.conversations.export import export_conversation, file_name
from chatbot.memory.layers import layers_with
from chatbot.records import Answer
from chatbot.store.document_names import listed
from chatbot.ui import session
from chatbot.ui.download_links import draw_download
from chatbot.ui.exchanges import has_model
from chatbot.ui.safe_text import plain_markdown, quiet_html, short
from chatbot.usage_text import usage_text

__all__ = ["draw_menu", "export", "may_ask_tools", "title_text"]

# What a conversation is said to have switched off, as it is of a memory.
TOOLS = "tools"

FILES = (("markdown", "Export as Markdown", "text/markdown"), ("json", "Export as JSON", "application/json"))


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
    end = f"{place}-{row.id}"
    named = f"title-{end}"
    st.text_input("Title", row.title, key=named, max_chars=120, on_change=_rename, args=(row, context, named))
    _draw_switches(row, context, end)
    count, used = context.chatbot.conversations.spent(row.id, session.owner())
    if used is not None:
        answers = f"{count} answer{'s' if count > 1 else ''} by chat models"
        st.html(quiet_html(f"{answers}: {usage_text(replace(used, first_seconds=0.0))}"))
    for form, label, mime in FILES if row.exchanges else ():
        download = Download(
            partial(export, row.id, session.owner(), form, context), file_name(row, form), mime
        )
        draw_download(label, context.downloads, f"{form}-{end}", download, icon=":material/download:")
    st.button(
        "Delete",
        key=f"delete-{end}",
        type="tertiary",
        icon=":material/delete:",
        on_click=_try,
        args=(session.delete_conversation, row, context),
    )


def _draw_switches(row: ConversationRow, context: AppContext, end: str) -> None:
    """end: the end of the keys, since both menus of a conversation may be there."""
    shortens, recalls = f"shortens-{end}", f"recalls-{end}"
    compression = session.settings(context).compression
    switches = (row, context, shortens, recalls)
    st.toggle(
        "Shorten long conversations",
        row.compresses and compression,
        key=shortens,
        disabled=not compression,
        help=(
            "Sends the model the whole conversation. From a long one, only what matters for the question. "
            "The answer then says so, and shows what was kept."
            if compression
            else "Long conversations are not shortened. Switch that on under Settings first."
        ),
        on_change=_choose,
        args=switches,
    )
    st.toggle(
        "Use my other conversations",
        row.recalls_others,
        key=recalls,
        help=(
            "Answers here may then draw on what you asked elsewhere. Private conversations are never "
            "recalled."
        ),
        on_change=_choose,
        args=switches,
    )
    for layer in layers_with("switch"):
        label, told = layer.switch or ("", "")
        key = f"{layer.name}-{end}"
        st.toggle(
            label,
            layer.name not in row.off,
            key=key,
            help=told,
            on_change=_switch,
            args=(row, context, layer.name, key),
        )
    _draw_tools(row, context, end)


def _draw_tools(row: ConversationRow, context: AppContext, end: str) -> None:
    """Draws the switch of tools, if there are any."""
    names = context.chatbot.tools.names()
    if not names:
        return
    key = f"{TOOLS}-{end}"
    st.toggle(
        "May ask tools of other servers",
        TOOLS not in row.off,
        key=key,
        help=(
            f"Before it answers, the chat model may call tools of {plain_markdown(listed(names))}. They get "
            "what it asks them, and each call is shown."
        ),
        on_change=_switch,
        args=(row, context, TOOLS, key),
    )


def may_ask_tools(conversation: str | None, context: AppContext) -> bool:
    """Tells whether a chat model answers in this conversation that may call tools."""
    if not (context.chatbot.tools.names() and has_model(context)):
        return False
    return conversation is None or context.chatbot.memory.is_on(conversation, session.owner(), TOOLS)


def _switch(row: ConversationRow, context: AppContext, memory: str, key: str) -> None:
    _try(
        partial(context.chatbot.conversations.switch, on=st.session_state[key]),
        row.id,
        session.owner(),
        memory,
    )


def _choose(row: ConversationRow, context: AppContext, shortens: str, recalls: str) -> None:
    state = st.session_state
    # A switch that is off because the settings are says nothing about this conversation.
    compresses = state[shortens] if session.settings(context).compression else row.compresses
    _try(
        partial(context.chatbot.conversations.choose, compresses=compresses, recalls_others=state[recalls]),
        row.id,
        session.owner(),
    )


def _rename(row: ConversationRow, context: AppContext, named: str) -> None:
    _try(context.chatbot.conversations.rename, row.id, session.owner(), st.session_state[named])


def _try(change: Callable[..., None], *arguments: object) -> None:
    """Changes the conversation.

    If it was erased in another tab, the next run shows that. A full disk is reported.
    """
    try:
        change(*arguments)
    except NotFoundError:
        return
    except StoreError as error:
        session.notify(error)


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

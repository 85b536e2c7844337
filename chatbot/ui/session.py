"""Whose browser this is, which conversation it shows and what was asked for in the run before; knows
nothing of what lies open over it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable

import streamlit as st
from streamlit import runtime
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from chatbot.errors import NotFoundError, ProjectError, StoreError
from chatbot.memory.conversations.conversation_store import PRIVATE, ConversationRow
from chatbot.models.chat import LLM
from chatbot.settings import Settings
from chatbot.ui.address import conversation, go_to
from chatbot.ui.app_context import AppContext
from chatbot.ui.guard import OWNER_COOKIE, is_owner
from chatbot.ui.network_exposure import signs_in
from chatbot.ui.sign_in import signed_in_owner

__all__ = [
    "arrived",
    "ask_again",
    "asked_again",
    "begin_conversation",
    "begin_edit",
    "begin_private",
    "begin_run",
    "browser",
    "connected",
    "conversation",
    "delete_conversation",
    "end_edit",
    "first_shown",
    "is_edited",
    "is_part_run",
    "is_private",
    "last_words",
    "leave_conversation",
    "list_more",
    "listed_most",
    "note_rated",
    "open_conversation",
    "owner",
    "put_undo_away",
    "rated_last",
    "restore_conversation",
    "scope_next",
    "settings",
    "shared_model",
    "show_earlier",
    "take_scope",
    "tell",
    "told",
    "undoable",
    "where_seen",
]

GOING_SECONDS = 0.1
# Conversations in the list until more are asked for: a sidebar's height and a half.
LISTED = 30


def owner() -> str:
    """Of who is signed in; else the mark of this browser, and where it takes no cookie, of this session."""
    if signs_in():
        return signed_in_owner() or _own_mark()
    given: str | None = st.context.cookies.get(OWNER_COOKIE)
    if given and is_owner(given):
        return given
    return _own_mark()


def browser() -> str:
    """The mark of this browser, whoever is signed in; "" where it takes no cookie."""
    found: str = st.context.cookies.get(OWNER_COOKIE, "")
    return found


def _own_mark() -> str:
    made: str = st.session_state.setdefault("owner", secrets.token_urlsafe(16))
    return made


def where_seen() -> str:
    """Where what is this user's own is seen, in words."""
    return "by you" if signs_in() else "in this browser"


def settings(context: AppContext) -> Settings:
    """What holds for this user: the server's settings with what they chose."""
    return context.chatbot.own.settings(owner())


def shared_model(context: AppContext) -> LLM | None:
    """The chat model for what everybody shares: the server's, and none for a user who chose another, so
    that what is theirs reaches nobody else.
    """
    if context.chatbot.own.is_own(owner()):
        return None
    return context.chatbot.models.answering()


def connected() -> bool:
    """Asked by a script that is being stopped: whether its browser is there still, so that it was its user
    who stopped it.

    A page that is refreshed or closed stops its script too, a moment before it counts as gone.
    """
    time.sleep(GOING_SECONDS)
    context = get_script_run_ctx()
    return (
        context is not None
        and runtime.exists()
        and runtime.get_instance().is_active_session(context.session_id)
    )


def is_part_run() -> bool:
    """Whether this run draws a fragment alone, not the whole page."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def begin_run() -> None:
    """At the start of a run of the whole page, draw at its top. A run that follows at once upon that of a
    fragment inherits from it the container that it was drawn in (Streamlit 1.67), and the page would be drawn
    inside a message of its own."""
    context_dg_stack.set(get_default_dg_stack_value())


def last_words(draw: Callable[[], object]) -> None:
    """Draw something from a script that is being stopped, which may do so only in a thread beside its own."""
    thread = threading.Thread(target=draw, name="last words")
    add_script_run_ctx(thread)
    thread.start()
    thread.join()


def begin_conversation(context: AppContext) -> str:
    """The id of the conversation to write to: the one shown, or a new one where that is not there, deleted
    or somebody else's. Raises StoreError.
    """
    given = conversation() or ""
    conversations = context.chatbot.conversations
    try:
        there = conversations.get(given, owner()).deleted_at is None
    except NotFoundError:
        there = False
    if there:
        begun = given
    else:
        begun = conversations.begin(owner(), private=is_private(given))
    open_conversation(begun)
    return begun


def shows(conversation: str) -> None:
    """This conversation is on the page, with what was said in it."""
    st.session_state["shows"] = conversation


def hold(question: str, context: AppContext) -> bool:
    """Keep a question back where the conversation it was asked in was deleted elsewhere since the page
    showed it: another one does not know what it follows.
    """
    shown = conversation() or ""
    st.session_state.pop("held", None)  # one that is asked takes the place of one that was not
    if not shown or shown != st.session_state.get("shows"):
        return False
    try:
        deleted = context.chatbot.conversations.get(shown, owner()).deleted_at is not None
    except NotFoundError:
        deleted = True
    if deleted:
        st.session_state["held"] = question
        st.session_state.pop("shows")
    return deleted


def held() -> str:
    """The question that was kept back, "" for none."""
    found: str = st.session_state.get("held", "")
    return found


def ask_held(context: AppContext, *, restore: str = "") -> None:
    """Ask it in the conversation of this id, which is restored, or in a new one."""
    question = st.session_state.pop("held", "")
    if restore:
        restore_conversation(restore, context)
    else:
        leave_conversation()
    ask_again(question)


def is_private(conversation: str) -> bool:
    """Whether this is the id of a private conversation, there or not."""
    return conversation.startswith(PRIVATE)


def begin_private(context: AppContext) -> None:
    """Go to a new private conversation."""
    open_conversation(context.chatbot.conversations.begin(owner(), private=True))


def open_conversation(conversation: str) -> None:
    """Go to a conversation."""
    go_to(conversation)


def leave_conversation() -> None:
    """The next question begins a new conversation."""
    go_to(None)


def scope_next(names: Callable[[], Iterable[str]]) -> None:
    """From the next run on, search in these documents; `names` is called then."""
    st.session_state["scope_next"] = names


def take_scope(there: Collection[str]) -> None:
    """Before the field for it is drawn: search in the documents that were put aside for this run. there:
    the documents that can be chosen.
    """
    names = st.session_state.pop("scope_next", None)
    if names is not None and (chosen := [name for name in names() if name in there]):
        st.session_state["scope"] = chosen


def begin_edit(conversation: str, number: int) -> None:
    """Put the question of this exchange into a field, to be changed and asked again."""
    st.session_state["edited"] = (conversation, number)


def end_edit() -> None:
    """Put the field away."""
    st.session_state.pop("edited", None)


def is_edited(conversation: str, number: int) -> bool:
    """Whether the question of this exchange is being changed."""
    return bool(st.session_state.get("edited") == (conversation, number))


def ask_again(question: str) -> None:
    """Ask this in the next run."""
    st.session_state["again"] = question


def asked_again() -> str:
    """What is to be asked in this run without being typed, "" for nothing; once."""
    found: str = st.session_state.pop("again", "")
    return found


def first_shown(row: ConversationRow, window: int) -> int:
    """The number of the first exchange that is shown: at first of the last `window`. It stays as more are
    asked, so that nothing leaves the page.
    """
    shown: dict[str, int] = st.session_state.setdefault("first_shown", {})
    return shown.setdefault(row.id, max(1, row.exchanges - window + 1))


def show_earlier(conversation: str, first: int) -> None:
    """Show its exchanges from this number on."""
    st.session_state["first_shown"][conversation] = max(1, first)


def arrived(conversation: str) -> bool:
    """Whether this is another conversation than the run before showed; once."""
    before, st.session_state["arrived"] = st.session_state.get("arrived"), conversation
    return before != conversation


def listed_most() -> int:
    """How many conversations are listed."""
    found: int = st.session_state.get("listed", LISTED)
    return found


def list_more() -> None:
    """List as many again."""
    st.session_state["listed"] = listed_most() + LISTED


def delete_conversation(row: ConversationRow, context: AppContext) -> None:
    """Delete it at once; it can be undone."""
    context.asked.stop(row.id, owner())
    context.chatbot.conversations.delete(row.id, owner())
    st.session_state["undo"] = (row.id, conversation() == row.id)
    if conversation() == row.id:
        leave_conversation()


def undoable(context: AppContext) -> ConversationRow | None:
    """What was deleted last and can be undone; None where that was put away, or is not deleted any more."""
    deleted, _ = st.session_state.get("undo", ("", False))
    try:
        if deleted:
            row = context.chatbot.conversations.get(deleted, owner())
        else:
            row = None
    except NotFoundError:
        row = None
    if row and row.deleted_at is not None:
        return row
    return None


def put_undo_away() -> None:
    """Offer no undo any more."""
    st.session_state.pop("undo", None)


def restore_conversation(conversation: str, context: AppContext) -> None:
    """Bring a deleted one back; the one that was open when it was deleted last is opened again."""
    deleted, was_open = st.session_state.get("undo", ("", False))
    try:
        context.chatbot.conversations.restore(conversation, owner())
        if deleted == conversation and was_open:
            open_conversation(conversation)
    except NotFoundError:  # erased in another tab
        pass
    except StoreError as error:
        tell(error)
        return
    if deleted == conversation:
        put_undo_away()


def tell(error: ProjectError) -> None:
    """Show in the next run what went wrong in a change."""
    st.session_state["problem"] = error


def told() -> ProjectError | None:
    """What went wrong in a change, once; None where nothing did."""
    found: ProjectError | None = st.session_state.pop("problem", None)
    return found


def note_rated(conversation: str, number: int, problem: ProjectError | None) -> None:
    """An answer was rated, or could not be: the one whose rating is spoken of until another is."""
    st.session_state["rated"] = (conversation, number, problem)


def rated_last(conversation: str, number: int) -> tuple[bool, ProjectError | None]:
    """(whether this answer was rated last, in this session; what went wrong in that, told once)."""
    *place, problem = st.session_state.get("rated", ("", 0, None))
    if place != [conversation, number]:
        return False, None
    st.session_state["rated"] = (conversation, number, None)
    return True, problem

"""Keeps the session state: whose browser this is, its conversation, and what the last run asked for."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError, ProjectError, StoreError
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import ConversationRow
from chatbot.models.chat import LLM
from chatbot.records import Answer, DocumentRow
from chatbot.settings import Settings
from chatbot.ui.address import conversation, go_to
from chatbot.ui.guard import OWNER_COOKIE, is_owner
from chatbot.ui.network_exposure import signs_in
from chatbot.ui.sign_in import signed_in_owner
from chatbot.ui.streamlit_internals import draw_from, is_open, this_session

__all__ = [
    "allowed_calls",
    "ask_again",
    "asked_again",
    "attempt",
    "begin_conversation",
    "begin_private",
    "browser",
    "connected",
    "conversation",
    "delete_conversation",
    "documents",
    "first_shown",
    "go_to",
    "is_private",
    "last_answer",
    "last_words",
    "notified",
    "notify",
    "owner",
    "restore_conversation",
    "row_of",
    "scope_next",
    "settings",
    "shared_model",
    "show_earlier",
    "take_scope",
    "undoable",
    "where_seen",
]

GOING_SECONDS = 0.1


def owner() -> str:
    """Returns the owner of who is signed in, else the mark of this browser.

    If the browser takes no cookie, it is the mark of this session.
    """
    if signs_in():
        return signed_in_owner() or _own_mark()
    given = browser()
    return given if is_owner(given) else _own_mark()


def browser() -> str:
    """Returns the mark of this browser, whoever is signed in; "" if it takes no cookie."""
    found: str = st.context.cookies.get(OWNER_COOKIE, "")
    return found


def _own_mark() -> str:
    made: str = st.session_state.setdefault("owner", secrets.token_urlsafe(16))
    return made


def where_seen() -> str:
    """Says where this user's own data can be seen."""
    return "by you" if signs_in() else "in this browser"


def documents(context: AppContext) -> list[DocumentRow]:
    """Returns the documents that are not removed."""
    return [row for row in context.chatbot.documents() if row.removed_at is None]


def attempt(change: Callable[..., object], *given: object) -> None:
    """Changes something. The next run says what went wrong, except that it is gone already, as it shows."""
    try:
        change(*given)
    except NotFoundError:
        return
    except ProjectError as error:
        notify(error)


def settings(context: AppContext) -> Settings:
    """Returns this user's settings: the server's settings with the user's choices."""
    return context.chatbot.own.settings(owner())


def shared_model(context: AppContext) -> LLM | None:
    """Returns the chat model for what everybody shares: the server's, or none if the user chose another.

    So what is the user's reaches nobody else.
    """
    return None if context.chatbot.own.is_own(owner()) else context.chatbot.models.answering()


def connected() -> bool:
    """Tells whether the browser is still there, asked by a script that is being stopped.

    If so, its user stopped it. A page that is refreshed or closed stops its script too, a moment before it
    counts as gone.
    """
    time.sleep(GOING_SECONDS)
    return is_open(this_session())


def last_words(draw: Callable[[], object]) -> None:
    """Draws something from a script that is being stopped, which is possible only in another thread."""
    thread = threading.Thread(target=draw, name="last words")
    draw_from(thread)
    thread.start()
    thread.join()


def row_of(conversation: str | None, context: AppContext) -> ConversationRow | None:
    """Returns this user's conversation of an id, deleted or not; None if there is none."""
    try:
        return context.chatbot.conversations.get(conversation, owner()) if conversation else None
    except NotFoundError:
        return None


def begin_conversation(context: AppContext) -> str:
    """Returns the id of the conversation to write to. Raises StoreError.

    It is the one shown, or a new one if that is missing, deleted or somebody else's.
    """
    given = conversation() or ""
    row = row_of(given, context)
    if row is None or row.deleted_at is not None:
        given = context.chatbot.conversations.begin(owner(), private=is_private(given))
    go_to(given)
    st.session_state["scope_of"] = given
    return given


def hold(question: str, context: AppContext) -> bool:
    """Holds a question back if its conversation was deleted elsewhere since the page showed it.

    In another conversation it would lack its context.
    """
    shown = conversation()
    st.session_state.pop("held", None)  # a question that is asked replaces one that was not
    if not shown or shown != st.session_state.get("shows"):
        return False
    row = row_of(shown, context)
    deleted = row is None or row.deleted_at is not None
    if deleted:
        st.session_state["held"] = question
        st.session_state.pop("shows")
    return deleted


def ask_held(context: AppContext, restore: str = "") -> None:
    """Asks it in the conversation of this id, which is restored, or in a new one."""
    question = st.session_state.pop("held", "")
    if restore:
        restore_conversation(restore, context)
    else:
        go_to(None)
    ask_again(question)


def is_private(conversation: str) -> bool:
    """Tells whether this is the id of a private conversation, whether it exists or not."""
    return conversation.startswith(PRIVATE)


def begin_private(context: AppContext) -> None:
    """Goes to a new private conversation."""
    go_to(context.chatbot.conversations.begin(owner(), private=True))


def scope_next(names: Callable[[], Iterable[str]]) -> None:
    """Limits searches to these documents from the next run on. `names` is called then."""
    st.session_state["scope_next"] = names


def take_scope(there: Collection[str], context: AppContext) -> None:
    """Limits searches to the documents of the conversation that is shown, before their field is drawn.

    These are what its last question was limited to, all for a new conversation, and what was noted for this
    run. The field reads their titles from the address. An address may also have the names of their files.

    there: the documents that can be chosen.
    """
    state, shown = st.session_state, conversation()
    addressed = [name for name in st.query_params.get_all("scope") if name in there]
    if addressed and "scope" not in state:
        state["scope"] = addressed
    elif state.get("scope_of", shown if "scope" in st.query_params else "") != shown:
        answer = last_answer(shown, context)  # what it was limited to; () for all
        state["scope"] = [name for name in (answer.names if answer else ()) if name in there]
    state["scope_of"] = shown
    names = state.pop("scope_next", None)
    if names is not None and (chosen := [name for name in names() if name in there]):
        state["scope"] = chosen


def last_answer(conversation: str | None, context: AppContext) -> Answer | None:
    """Returns the last answer of a conversation; None if there is none, or if it cannot be read."""
    row = row_of(conversation, context)
    if row is None or not row.exchanges:
        return None
    try:
        return context.chatbot.memory.answer(row.id, row.exchanges, owner())
    except StoreError:  # its page says so
        return None


def ask_again(question: str, call: tuple[str, str] | None = None) -> None:
    """Asks this in the next run.

    call: of another server's tool, which the user has allowed; see Ask.calls.
    """
    st.session_state["again"] = question
    st.session_state["allowed"] = (question, call)


def allowed_calls(question: str) -> tuple[tuple[str, str], ...]:
    """Returns the calls that the user has allowed for this question; once, and none for a later one."""
    allowed, call = st.session_state.pop("allowed", ("", None))
    return (call,) if call and allowed == question else ()


def asked_again() -> str:
    """Returns what to ask in this run without typing, "" for nothing; once."""
    found: str = st.session_state.pop("again", "")
    return found


def first_shown(row: ConversationRow, window: int) -> int:
    """Returns the number of the first exchange that is shown: at first of the last `window`.

    It stays as more are asked, so that nothing leaves the page.
    """
    shown: dict[str, int] = st.session_state.setdefault("first_shown", {})
    return shown.setdefault(row.id, max(1, row.exchanges - window + 1))


def show_earlier(conversation: str, first: int) -> None:
    """Shows its exchanges from this number on."""
    st.session_state["first_shown"][conversation] = max(1, first)


def delete_conversation(row: ConversationRow, context: AppContext) -> None:
    """Deletes it at once. This can be undone."""
    context.asked.stop(row.id, owner())
    context.chatbot.conversations.delete(row.id, owner())
    st.session_state["undo"] = (row.id, conversation() == row.id)
    if conversation() == row.id:
        go_to(None)


def undoable(context: AppContext) -> ConversationRow | None:
    """Returns the last deletion that can be undone; None if it was dismissed or is not deleted any more."""
    deleted, _ = st.session_state.get("undo", ("", False))
    row = row_of(deleted, context)
    return row if row and row.deleted_at is not None else None


def restore_conversation(conversation: str, context: AppContext) -> None:
    """Restores a deleted conversation. If it was open when it was deleted last, it is opened again."""
    deleted, was_open = st.session_state.get("undo", ("", False))
    try:
        context.chatbot.conversations.restore(conversation, owner())
        if deleted == conversation and was_open:
            go_to(conversation)
    except NotFoundError:  # erased in another tab
        pass
    except StoreError as error:
        notify(error)
        return
    if deleted == conversation:
        st.session_state.pop("undo")


def notify(error: ProjectError) -> None:
    """Shows in the next run what went wrong in a change."""
    st.session_state["problem"] = error


def notified() -> ProjectError | None:
    """Returns what went wrong in a change, once; None if nothing did."""
    found: ProjectError | None = st.session_state.pop("problem", None)
    return found

"""Keeps the session state: whose browser this is, its conversation, and what the last run asked for."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError, ProjectError, StoreError
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import ConversationRow
from chatbot.models.chat import LLM
from chatbot.settings import Settings
from chatbot.ui.address import conversation, go_to
from chatbot.ui.guard import OWNER_COOKIE, is_owner
from chatbot.ui.network_exposure import signs_in
from chatbot.ui.sign_in import signed_in_owner
from chatbot.ui.streamlit_internals import draw_from, is_open, this_session

__all__ = [
    "allowed_calls",
    "arrived",
    "ask_again",
    "asked_again",
    "begin_conversation",
    "begin_edit",
    "begin_private",
    "browser",
    "connected",
    "conversation",
    "delete_conversation",
    "end_edit",
    "first_shown",
    "is_edited",
    "is_private",
    "last_words",
    "leave_conversation",
    "list_more",
    "listed_most",
    "note_rated",
    "notified",
    "notify",
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
    "undoable",
    "where_seen",
]

GOING_SECONDS = 0.1
# Conversations in the list until more are asked for: a sidebar's height and a half.
LISTED = 30


def owner() -> str:
    """Returns the owner of who is signed in, else the mark of this browser.

    If the browser takes no cookie, it is the mark of this session.
    """
    if signs_in():
        return signed_in_owner() or _own_mark()
    given: str | None = st.context.cookies.get(OWNER_COOKIE)
    if given and is_owner(given):
        return given
    return _own_mark()


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


def settings(context: AppContext) -> Settings:
    """Returns this user's settings: the server's settings with the user's choices."""
    return context.chatbot.own.settings(owner())


def shared_model(context: AppContext) -> LLM | None:
    """Returns the chat model for what everybody shares: the server's, or none if the user chose another.

    So what is the user's reaches nobody else.
    """
    if context.chatbot.own.is_own(owner()):
        return None
    return context.chatbot.models.answering()


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


def begin_conversation(context: AppContext) -> str:
    """Returns the id of the conversation to write to. Raises StoreError.

    It is the one shown, or a new one if that is missing, deleted or somebody else's.
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
    st.session_state["scope_of"] = begun
    return begun


def shows(conversation: str) -> None:
    """Notes that this conversation is on the page, with what was said in it."""
    st.session_state["shows"] = conversation


def hold(question: str, context: AppContext) -> bool:
    """Holds a question back if its conversation was deleted elsewhere since the page showed it.

    In another conversation it would lack its context.
    """
    shown = conversation() or ""
    st.session_state.pop("held", None)  # a question that is asked replaces one that was not
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
    """Returns the question that was held back, "" for none."""
    found: str = st.session_state.get("held", "")
    return found


def ask_held(context: AppContext, *, restore: str = "") -> None:
    """Asks it in the conversation of this id, which is restored, or in a new one."""
    question = st.session_state.pop("held", "")
    if restore:
        restore_conversation(restore, context)
    else:
        leave_conversation()
    ask_again(question)


def is_private(conversation: str) -> bool:
    """Tells whether this is the id of a private conversation, whether it exists or not."""
    return conversation.startswith(PRIVATE)


def begin_private(context: AppContext) -> None:
    """Goes to a new private conversation."""
    open_conversation(context.chatbot.conversations.begin(owner(), private=True))


def open_conversation(conversation: str) -> None:
    """Goes to a conversation."""
    go_to(conversation)


def leave_conversation() -> None:
    """Makes the next question begin a new conversation."""
    go_to(None)


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
        state["scope"] = [name for name in _asked_last(shown, context) if name in there]
    state["scope_of"] = shown
    names = state.pop("scope_next", None)
    if names is not None and (chosen := [name for name in names() if name in there]):
        state["scope"] = chosen


def _asked_last(conversation: str | None, context: AppContext) -> Sequence[str]:
    """The documents to which the last question of a conversation was limited; () for all."""
    try:
        if conversation:
            last = context.chatbot.conversations.get(conversation, owner()).exchanges
            answer = context.chatbot.memory.answer(conversation, last, owner()) if last else None
            return answer.names if answer else ()
    except (NotFoundError, StoreError):  # its page says so
        pass
    return ()


def begin_edit(conversation: str, number: int) -> None:
    """Puts the question of this exchange into a field, to be changed and asked again."""
    st.session_state["edited"] = (conversation, number)


def end_edit() -> None:
    """Closes the field."""
    st.session_state.pop("edited", None)


def is_edited(conversation: str, number: int) -> bool:
    """Tells whether the question of this exchange is being changed."""
    return bool(st.session_state.get("edited") == (conversation, number))


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


def arrived(conversation: str) -> bool:
    """Tells whether this is another conversation than in the run before; once."""
    before, st.session_state["arrived"] = st.session_state.get("arrived"), conversation
    return before != conversation


def listed_most() -> int:
    """Returns how many conversations are listed."""
    found: int = st.session_state.get("listed", LISTED)
    return found


def list_more() -> None:
    """Lists as many again."""
    st.session_state["listed"] = listed_most() + LISTED


def delete_conversation(row: ConversationRow, context: AppContext) -> None:
    """Deletes it at once. This can be undone."""
    context.asked.stop(row.id, owner())
    context.chatbot.conversations.delete(row.id, owner())
    st.session_state["undo"] = (row.id, conversation() == row.id)
    if conversation() == row.id:
        leave_conversation()


def undoable(context: AppContext) -> ConversationRow | None:
    """Returns the last deletion that can be undone; None if it was dismissed or is not deleted any more."""
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
    """Stops offering to undo."""
    st.session_state.pop("undo", None)


def restore_conversation(conversation: str, context: AppContext) -> None:
    """Restores a deleted conversation. If it was open when it was deleted last, it is opened again."""
    deleted, was_open = st.session_state.get("undo", ("", False))
    try:
        context.chatbot.conversations.restore(conversation, owner())
        if deleted == conversation and was_open:
            open_conversation(conversation)
    except NotFoundError:  # erased in another tab
        pass
    except StoreError as error:
        notify(error)
        return
    if deleted == conversation:
        put_undo_away()


def notify(error: ProjectError) -> None:
    """Shows in the next run what went wrong in a change."""
    st.session_state["problem"] = error


def notified() -> ProjectError | None:
    """Returns what went wrong in a change, once; None if nothing did."""
    found: ProjectError | None = st.session_state.pop("problem", None)
    return found


def note_rated(conversation: str, number: int, problem: ProjectError | None) -> None:
    """Notes that an answer was rated, or could not be. Its rating is shown until another is noted."""
    st.session_state["rated"] = (conversation, number, problem)


def rated_last(conversation: str, number: int) -> tuple[bool, ProjectError | None]:
    """Returns (whether this answer was rated last in this session, what went wrong, given once)."""
    *place, problem = st.session_state.get("rated", ("", 0, None))
    if place != [conversation, number]:
        return False, None
    st.session_state["rated"] = (conversation, number, None)
    return True, problem

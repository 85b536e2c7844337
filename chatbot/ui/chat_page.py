"""Draws the Chat page: a conversation, its answers as they come, and the pages they stand on."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.typing import UploadedFile

from chatbot.app.app_context import AppContext
from chatbot.app.attachments import Attached, attach
from chatbot.app.running_questions import Asking
from chatbot.asking.question import LONGEST_QUESTION, Ask
from chatbot.errors import BusyError, QuestionError, StoreError
from chatbot.memory.conversations.conversation_store import ConversationRow
from chatbot.records import DocumentRow, Stage
from chatbot.store.document_names import with_titles
from chatbot.ui import document_session, session, uploads
from chatbot.ui.answer_text import NO_TITLES, answer_html
from chatbot.ui.answers import draw_notices
from chatbot.ui.browser_scripts import scroll_to_answer, scroll_to_end
from chatbot.ui.click_order import taken
from chatbot.ui.conversation_list import draw_beginnings, draw_conversations, draw_menu, may_ask_tools
from chatbot.ui.exchanges import (
    answer_message,
    draw_answered,
    draw_ask_again,
    draw_exchanges,
    draw_pencil,
    draw_question,
    has_model,
    stop_html,
    stopped_html,
)
from chatbot.ui.first_page import draw_first_page
from chatbot.ui.network_exposure import opening
from chatbot.ui.page_parts import abreast, draw_button, draw_notice, draw_problem
from chatbot.ui.safe_text import counted, plain_html, plain_markdown, short
from chatbot.ui.streamlit_internals import StopException
from ingestion.reading.formats import SUFFIXES

# Seconds after which a waiting page checks whether it was stopped.
TICK = 0.2
# How long a new question may take to appear in its conversation on a busy machine.
BEGUN_SECONDS = 5.0
# The characters shown of a question that was held back.
LONGEST_HELD = 200
LONGEST_SCOPE = 40
ASK, ASK_ATTACHING = "Ask about the documents", "Attach a document and ask about it"
STAGES = {
    "searching": "Searching the pages …",
    "answering": "Reading the pages …",
    "tools": "Asking tools of other servers …",
}
SET_ASIDE = (
    "What was remembered until now could not be read whole. It was set aside as {}, and what comes is kept."
)
BACKUP = "A backup of memory.sqlite3 brings it back: stop the server, and put it in its place."
BEGIN = "Ask something to begin a new one."
NOT_HERE = "This conversation is not here. It may belong to another browser."
GONE_PRIVATE = "Private conversations end when the server stops, or after a day without a question."
PRIVATE_NOTE = (
    "Private: nothing of this is stored, and it ends when the server stops. You cannot attach files here, as "
    "documents are stored for all users."
)
ATTACHED = "Added to the documents, which all users of this server share."
NOT_ATTACHED = "Nothing was attached. Documents are stored for all users, and this conversation is private."
DELETED_ELSEWHERE = (
    "This conversation was deleted in another tab. “{question}” was not asked yet. A new conversation does "
    "not know what came before."
)


def show(context: AppContext) -> None:
    """Draws the page."""
    documents = session.documents(context)
    with st.sidebar:
        draw_beginnings(context, disabled=not documents)
        names = _scope(documents, context)
    head = abreast(key="head", wrap=False, horizontal_alignment="distribute")
    head.title("Chat", anchor=False)
    if documents:
        st.html(_scope_html(names, context.chatbot.titles()))
    typed = st.chat_input(
        ASK if documents else ASK_ATTACHING,
        key="question",
        max_chars=LONGEST_QUESTION,
        max_upload_size=max(1, int(context.settings.max_upload_mb)),
        # Also in a private conversation, which takes no files: with another field there, what is typed in
        # this one just after the click would be lost.
        accept_file="multiple",
        file_type=list(SUFFIXES),
        submit_mode="stop",
    )
    st.button("Draw the page again", key="wake")  # never shown: pressed where the field stays locked
    question = typed.text.strip() if typed else session.asked_again()
    left = _asked(question, typed.files if typed else [], names, context)
    taken()
    row = session.row_of(session.conversation(), context)
    if row is not None and row.deleted_at is None and (row.exchanges or row.private):
        with head:
            draw_menu(row, context, opened=True)
    with st.sidebar:
        draw_conversations(context, row.id if row else None)
    asked = [one for one in documents if not names or one.name in names]
    _draw_conversation(row, left, asked, context, typed=bool(typed))


def _scope(documents: Sequence[DocumentRow], context: AppContext) -> tuple[str, ...]:
    """Returns the names of the documents to search, () for all."""
    there = sorted(row.name for row in documents)
    session.take_scope(there, context)
    titles = context.chatbot.titles()
    chosen = st.multiselect(
        "Search in",
        there,
        format_func=lambda name: titles.get(name, name),
        key="scope",
        placeholder="All documents",
        help="Leave it empty to search all documents.",
        select_all=False,
        wrap=True,
        persist_state="session",
        bind="query-params",
    )
    return tuple(chosen)


def _scope_html(names: Sequence[str], titles: Mapping[str, str]) -> str:
    """Says on a narrow page, where the field is behind the menu, what is searched; pressed, it opens the
    field.
    """
    if len(names) > 1:
        said = counted(len(names), "document")
    else:
        said = "".join(titles.get(name, name) for name in names) or "All documents"
    return (
        f'<button type="button" class="scope" data-scope>Search in: '
        f"<strong>{plain_html(short(said, LONGEST_SCOPE))}</strong></button>"
    )


def _asked(
    question: str, files: Sequence[UploadedFile], names: tuple[str, ...], context: AppContext
) -> list[Asking]:
    """Returns what is on its way in the conversation that is shown, including what is asked now.

    To be read before the store is, so that what ends meanwhile is found there.
    """
    owner = session.owner()
    attached = _attached(question, files, context)
    allowed = session.allowed_calls(question) if question else ()
    if question and not session.hold(question, context):
        try:
            conversation: str | None = session.begin_conversation(context)
        except StoreError as error:  # the answer comes all the same
            conversation = None
            draw_notice(f"This conversation is not kept: {error.message}", error.hint)
        ready = partial(attached.wait, context.additions) if attached is not None else None
        may_ask = may_ask_tools(conversation, context)
        calls = allowed if may_ask else ()
        ask = Ask(question, names, conversation, None, owner, tools=may_ask, proposes=may_ask, calls=calls)
        try:
            asking = context.asked.ask(ask, ready=ready)
        except BusyError as error:
            draw_problem(error)
        else:
            asking.wait(0, BEGUN_SECONDS)  # by then it is in its conversation, which is listed
            if conversation is None:
                return [asking]
    shown = session.conversation()
    return context.asked.left(shown, owner) if shown else []


def _attached(question: str, files: Sequence[UploadedFile], context: AppContext) -> Attached | None:
    """Returns what was attached to the question, None for nothing.

    Without a question the files are only added. The next question is then limited to them.
    """
    if not files:
        return None
    if session.is_private(session.conversation() or ""):
        uploads.let_go(files)
        st.toast(NOT_ATTACHED, icon=":material/error:")
        return None
    owner, names = session.owner(), [file.name for file in files]
    attached = attach(files, names, context.chatbot.library, context.additions, owner=owner)
    document_session.note_drop(attached.jobs)
    uploads.let_go(files)
    said = "" if question else " Ask about it now; the Documents page shows how far it is."
    st.toast(f"{ATTACHED}{said}", icon=":material/upload_file:")
    session.scope_next(partial(attached.added, context.additions))
    return attached


def _draw_conversation(
    row: ConversationRow | None,
    left: Sequence[Asking],
    documents: Sequence[DocumentRow],
    context: AppContext,
    *,
    typed: bool,
) -> None:
    _draw_notes(row, context)
    there = row is not None and row.deleted_at is None
    place = st.empty()
    if (there and row and row.exchanges) or (documents and left):
        # An empty container would show its former children until the run ends, and the answer would jump up
        # then.
        place.html("<span data-scroll></span>")
    else:
        with place.container():
            private = row is not None and row.private
            add = None if private else partial(_attached, "", context=context)
            draw_first_page(documents, context, add)
    if row is not None and there:
        first = session.first_shown(row, session.settings(context).window)
        # A running question may have begun its exchange since the row was read.
        last = max(1, row.exchanges - first + 1) + len(left)
        latest = context.chatbot.conversations.said(row.id, session.owner(), last=last)
        said = [one for one in latest if one.number >= first]
        if left and said and any(asking.is_of(said[-1]) for asking in left):
            del said[-1]  # followed below
        draw_exchanges(row, said, context)
        if st.session_state.get("arrived") != row.id and not left:
            scroll_to_end(row.id)
        st.session_state["shows"] = st.session_state["arrived"] = row.id
    for asking in left:
        _follow(asking, context, stop="" if typed else stop_html(asking))


def _draw_notes(row: ConversationRow | None, context: AppContext) -> None:
    """Draws what must be known of the conversation itself."""
    if context.chatbot.set_aside is not None:
        draw_notice(SET_ASIDE.format(context.chatbot.set_aside.name), BACKUP)
    shown = session.conversation()
    problem = session.notified()
    if problem is not None:
        said = plain_markdown(f"{problem.message} {problem.hint}")
        st.toast(said, icon=":material/error:")  # one may read far from where the notice stands
        draw_problem(problem)
    if st.session_state.get("held") and (row is None or row.deleted_at is not None):
        _draw_held(row, context)
    elif row is not None and row.deleted_at is not None:
        draw_notice("This conversation is deleted.", "Restore it, or ask something to begin a new one.")
        draw_button("Restore", "restore-this", session.restore_conversation, row.id, context)
    elif row is not None and row.private:
        st.html(f'<p class="quiet private">{PRIVATE_NOTE}</p>')
    elif shown and row is None:
        draw_notice(NOT_HERE, GONE_PRIVATE if session.is_private(shown) else BEGIN)


def _draw_held(row: ConversationRow | None, context: AppContext) -> None:
    """Draws a question that was held back, and where it can be asked.

    row: the deleted conversation, None if it is erased.
    """
    draw_notice(
        DELETED_ELSEWHERE.format(question=st.session_state["held"][:LONGEST_HELD]),
        "Choose where to ask it.",
    )
    with abreast(gap="small"):
        if row is not None:
            restore = partial(session.ask_held, context, row.id)
            draw_button("Restore it and ask", "held-restore", restore, type="primary")
        draw_button("Ask in a new conversation", "held-new", session.ask_held, context)


def _follow(asking: Asking, context: AppContext, *, stop: str) -> None:
    """Shows a question and its answer as it comes, to the end."""
    message = draw_question(asking.question, beside=partial(scroll_to_end, f"asked-{asking.number}"))
    body = answer_message()
    by_model, titles = has_model(context), context.chatbot.titles()
    try:
        seen = 0
        while not (asking.over or asking.kept):
            seen = asking.wait(seen, TICK)
            _draw_progress(asking, body, stop=stop, by_model=by_model, titles=titles)
            # The longer the text, the less often it is drawn again, so that the work stays in proportion to
            # its length.
            time.sleep(min(0.3, 0.01 + len(asking.text) / 50_000))
    except StopException:
        if session.connected():
            asking.stop()
            session.last_words(lambda: body.html(stopped_html(asking.text, by_model=by_model)))
        raise
    with body.container():
        _draw_end(asking, context)
    if asking.given is not None and asking.given.answer.conversation and asking.given.number > 0:
        with message:
            draw_pencil(asking.given.answer.conversation, asking.given.number)
    scroll_to_answer(asking.number)


def _draw_progress(
    asking: Asking,
    body: st.delta_generator.DeltaGenerator,
    *,
    stop: str,
    by_model: bool,
    titles: Mapping[str, str] = NO_TITLES,
) -> None:
    """Draws what has come of an answer.

    stop: HTML of the button that stops it, "" if another button does.
    """
    stage = asking.stage
    if not asking.text:
        body.html(stage_html(stage, titles) + stop)
    else:
        body.html(answer_html(asking.text, by_model=by_model) + stop)


def stage_html(stage: Stage, titles: Mapping[str, str] = NO_TITLES) -> str:
    """Says how far an answer is, with the documents' titles in place of their names.

    The piece of a long question's search is shown but not read aloud, as it changes many times a second.
    """
    if stage.name == "reading":
        far = f", {stage.done:,} of {stage.total:,}" if stage.total else ""
        return f'<p class="stage">Reading what you attached{far} …</p>'
    if stage.detail:
        return f'<p class="stage" role="status">{plain_html(with_titles(stage.detail, titles))} …</p>'
    if stage.total > 1 and stage.name == "searching":
        return f'<p class="stage">Searching, piece {stage.done:,} of {stage.total:,} …</p>'
    return f'<p class="stage" role="status">{STAGES.get(stage.name, "Working …")}</p>'


def _draw_end(asking: Asking, context: AppContext) -> None:
    if asking.given is not None:
        draw_answered(asking.given, context)
        return
    if asking.stopped:
        st.html(stopped_html(asking.text, by_model=has_model(context)))
        draw_ask_again(asking.question, -asking.number)
        return
    draw_notices(asking.notices)
    if asking.text:
        st.html(answer_html(asking.text, by_model=has_model(context)))
    if asking.error is not None:
        draw_problem(asking.error)
    if not isinstance(asking.error, QuestionError):  # that one would fail again
        draw_ask_again(asking.question, -asking.number)


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)

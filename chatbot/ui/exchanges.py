"""Draws the stored exchanges of a conversation, each by its state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Asking, DeliveredAnswer
from chatbot.asking.question import LONGEST_QUESTION
from chatbot.errors import ProjectError, StoreError
from chatbot.memory.conversations.conversation_store import ConversationRow, StoredExchange
from chatbot.models.tool_calls import shown_arguments, written_call
from chatbot.records import Answer, Notice
from chatbot.ui import session
from chatbot.ui.answer_text import answer_html
from chatbot.ui.answers import draw_given
from chatbot.ui.browser_scripts import keep_place
from chatbot.ui.page_parts import abreast, draw_button, draw_quiet, draw_quiet_button, follow
from chatbot.ui.ratings import draw_under
from chatbot.ui.routes import stop_address
from chatbot.ui.safe_text import counted, notice_html, paragraphs_html, plain_html

__all__ = [
    "answer_message",
    "draw_answered",
    "draw_ask_again",
    "draw_exchanges",
    "draw_pencil",
    "draw_question",
    "has_model",
    "stop_html",
    "stopped_html",
]

LONGEST_SHOWN_QUESTION = 2_000
# Between two looks at an answer that another server writes.
ELSEWHERE_SECONDS = 1.0
ELSEWHERE = "Another server is writing this answer …"
ONLY_WORDS = "Only the text of this answer was kept. Ask again to see its pages."
ENDINGS = {
    "failed": "There is no answer because of an error.",
    "interrupted": ("Interrupted because the server stopped. The unfinished answer was kept, unchecked."),
}


def draw_exchanges(row: ConversationRow, said: Sequence[StoredExchange], context: AppContext) -> None:
    """Draws these exchanges, oldest first, and the button for earlier ones."""
    first = said[0].number if said else 1
    if first > 1:
        most = min(session.settings(context).window, first - 1)
        label = f"Show {most} earlier" if first > 2 else "Show the one before"
        with st.container(key="earlier", horizontal_alignment="center"):
            draw_quiet_button(
                label,
                "show-earlier",
                session.show_earlier,
                row.id,
                first - most,
                icon=":material/expand_less:",
            )
    for one in said:
        draw_question(one.user, one.number, conversation=row.id)
        with answer_message().container():
            _draw_answer(one, context)
    if row.exchanges > session.settings(context).window:
        keep_place(first)


def draw_question(
    question: str, number: int = 0, *, conversation: str = "", beside: Callable[[], None] = lambda: None
) -> DeltaGenerator:
    """Draws a question and returns its message, to which `draw_pencil` may add.

    number: of its exchange, 0 if it has none yet.
    conversation: where it can be changed and asked again.
    beside: draws something hidden with it.
    """
    shown = question
    if len(question) > LONGEST_SHOWN_QUESTION:
        shown = f"{question[:LONGEST_SHOWN_QUESTION]} … ({len(question):,} characters in all)"
    message = st.chat_message("user", avatar=":material/person:")
    with message:
        if conversation and st.session_state.get("edited") == (conversation, number):
            _edit(question, number)
        else:
            marked = f' data-exchange="{number}"' if number else ""
            st.html(f'<div class="question"{marked}>{paragraphs_html(shown)}</div>')
            if conversation:
                draw_pencil(conversation, number)
        beside()
    return message


def draw_pencil(conversation: str, number: int) -> None:
    """Draws the button that puts the question of an exchange into a field."""
    said = "Change this question and ask it again"
    key = f"pencil-{number}"
    edit = partial(st.session_state.update, edited=(conversation, number))
    draw_quiet_button(said, key, edit, icon=":material/edit:", help=said)


def _edit(question: str, number: int) -> None:
    """Draws the field to change a question in.

    The original question and answer stay as they are; the changed question is asked at the end.
    """
    with st.form(f"edit-form-{number}", border=False):
        changed = st.text_area(
            "Question",
            question,
            key=f"edit-text-{number}",
            max_chars=LONGEST_QUESTION,
            label_visibility="collapsed",
        )
        with abreast(gap="small"):
            asked = st.form_submit_button(
                "Ask",
                type="primary",
                key=f"edit-ask-{number}",
                help="Enter to ask, Shift+Enter for a new line",
            )
            left = st.form_submit_button("Cancel", key=f"edit-leave-{number}", help="Or press Escape")
        st.caption("This asks again at the end of the conversation. The original stays here.")
    if asked and changed.strip():
        session.ask_again(changed.strip())
    if left or (asked and changed.strip()):
        st.session_state.pop("edited", None)
        st.rerun()


def answer_message() -> DeltaGenerator:
    """Opens the message of an answer, the same for a stored and a coming one.

    So the page stays as it is when one becomes the other.
    """
    with st.chat_message("assistant", avatar=":material/find_in_page:"):
        return st.empty()


def draw_ask_again(question: str, number: int) -> None:
    """Draws the button that asks a question once more."""
    draw_button("Ask again", f"again-{number}", session.ask_again, question, icon=":material/refresh:")


def has_model(context: AppContext) -> bool:
    """Tells whether a chat model answers this user."""
    return context.chatbot.models.answering(session.owner()) is not None


def stopped_html(text: str, *, by_model: bool) -> str:
    """Renders what had come of an answer when its user stopped it."""
    return (
        f'{answer_html(text, by_model=by_model) if text else ""}<p class="stage" '
        'role="status">Stopped. The unfinished answer was kept, unchecked.</p>'
    )


def _draw_answer(one: StoredExchange, context: AppContext) -> None:
    if one.state == "stopped":
        st.html(stopped_html(one.assistant, by_model=has_model(context)))
        draw_ask_again(one.user, one.number)
    elif one.state == "answering" and context.settings.database:
        st.fragment(_follow_elsewhere, run_every=ELSEWHERE_SECONDS)(one, context)
    elif one.state != "complete":
        if one.assistant:
            st.html(answer_html(one.assistant))
        draw_quiet(ENDINGS.get(one.state, ENDINGS["interrupted"]))
        draw_ask_again(one.user, one.number)
    else:
        _draw_complete(one, context)


def _follow_elsewhere(one: StoredExchange, context: AppContext) -> None:
    """Shows an answer that another server writes as far as it has come, until it is there."""
    (now,) = context.chatbot.conversations.said(
        one.conversation, session.owner(), last=1, before=one.number + 1
    ) or (one,)
    here = context.asked.left(one.conversation, session.owner())
    if here or now.state != "answering" or not context.chatbot.conversations.is_written(now):
        st.rerun()
    if now.assistant:
        st.html(answer_html(now.assistant, by_model=has_model(context)))
    st.html(f'<p class="stage" role="status">{ELSEWHERE}</p>')
    draw_button("Stop", f"stop-elsewhere-{one.number}", context.asked.stop, one.conversation, session.owner())


def _draw_complete(one: StoredExchange, context: AppContext) -> None:
    try:
        answer = context.chatbot.memory.answer(one.conversation, one.number, session.owner())
    except StoreError as error:
        st.html(answer_html(one.assistant) + notice_html(error.message, error.hint))
        return
    if answer is None:
        st.html(answer_html(one.assistant))
        st.caption(ONLY_WORDS)
    else:
        draw_answered(DeliveredAnswer(one.number, answer, tuple(map(Notice, answer.notices))), context)


def draw_answered(given: DeliveredAnswer, context: AppContext) -> None:
    """Draws an answer with what belongs to it, and that it is read back or can be."""
    conversation, owner = given.answer.conversation, session.owner()
    checking = context.asked.checking(conversation, owner).get(given.number)
    fresh = checking is not None and bool(checking.question)
    draw_given(given, context, read_back=checking is not None, fresh=fresh)
    if checking is not None:
        follow(partial(_draw_check, checking), lambda: not checking.over)
        return
    draw_under(given, context)
    if conversation and given.number > 0:
        _draw_proposed(given)
    if conversation and given.number > 0 and _can_be_read(given.answer, context):
        draw_quiet_button(
            "Check now",
            f"check-{given.number}",
            context.asked.read_back,
            conversation,
            given.number,
            owner,
            icon=":material/fact_check:",
            help="Has the chat model compare each statement with its pages",
        )


def _draw_proposed(given: DeliveredAnswer) -> None:
    """Draws the calls of other servers' tools that the model wants, each with a button that makes it.

    What is kept of an answer may come from another's archive, so what is shown is what is called.
    """
    for at, call in enumerate(given.answer.prompt.proposed if given.answer.prompt else ()):
        arguments = shown_arguments(written_call(call.tool, call.arguments))
        st.html(
            f'<p class="quiet">The model would like to call {plain_html(call.tool)} with '
            f'<code class="sent">{plain_html(arguments)}</code>. It has read your documents: look at what it '
            "would send.</p>"
        )
        draw_button(
            "Call it and answer again",
            f"call-{given.number}-{at}",
            session.ask_again,
            given.answer.question,
            (call.tool, arguments),
            icon=":material/send:",
        )


def _can_be_read(answer: Answer, context: AppContext) -> bool:
    """Tells whether an answer has statements that nobody read back, and a model may."""
    if not answer.unread or (answer.reading is not None and not answer.reading.reason):
        return False
    try:
        verifier = context.chatbot.models.verifying(session.owner())
    except ProjectError:
        return False
    return verifier is not None and context.chatbot.reading.may_read(verifier)


def _draw_check(asking: Asking) -> None:
    """Says that an answer is read back."""
    stage = asking.stage
    known = stage.name == "checking" and stage.total
    said = counted(stage.total, "statement") if known else "the answer"
    st.html(f'<p class="stage" role="status">Checking {said} …</p>{stop_html(asking)}')


def stop_html(asking: Asking) -> str:
    """Renders a button that stops an answer or its check, whatever the page does.

    The button in the input field exists only where the question was typed, and in that tab.
    """
    return (
        f'<p><button type="button" class="copy" '
        f'data-stop="{stop_address(asking.number, session.browser())}">Stop</button></p>'
    )

"""The Chat page: a conversation, its answers as they come, and the pages they stand on."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from chatbot.records import DocumentRow, Exchange, Stage
from chatbot.service import LONGEST_QUESTION, Ask
from chatbot.ui import session
from chatbot.ui.answers import draw_given, draw_notices
from chatbot.ui.asking import Asking, Given
from chatbot.ui.page_view import show_open_page
from chatbot.ui.scroll import scroll_to_end
from chatbot.ui.shared import House, opening
from chatbot.ui.text import answer_html, notice_html, paragraphs_html

# Seconds after which a waiting page looks whether it was stopped.
TICK = 0.2
LONGEST_SHOWN_QUESTION = 2_000
STAGES = {"searching": "Searching the pages …", "answering": "Reading the pages …", "checking": "Checking quotations and figures …"}
SAMPLE_QUESTIONS = (
    "What is the contingency reserve set at for 2025-26?",
    "By when must the debt anchor be met?",
    "Under what conditions may the rules be suspended?",
)
ANY_QUESTIONS = ("What are the main objectives?", "What is the total amount of expenditure?", "Which risks are named?")


def show(house: House) -> None:
    """The page."""
    documents = [row for row in house.chatbot.documents() if row.removed_at is None]
    names = _sidebar(documents)
    st.title("Chat", anchor=False)
    typed = st.chat_input("Ask about the documents", key="question", max_chars=LONGEST_QUESTION, submit_mode="stop", disabled=not documents)
    question = typed or st.session_state.pop("example", None)
    show_open_page(house)
    conversation, owner = session.conversation(), session.owner()
    latest = house.asked.latest(conversation, owner) if conversation else None
    exchanges = house.chatbot.conversations.window(conversation, owner) if conversation else []
    if not documents:
        _teach()
    elif not exchanges and not latest and not question:
        _invite(documents)
    if conversation:
        _draw_exchanges(exchanges, house.asked.given(conversation, owner, exchanges), house)
    if question:
        latest = house.asked.ask(Ask(question, names, session.begin_conversation(house), None, owner))
    if latest and not (latest.finished and latest.given):
        _follow(latest, house)


def _sidebar(documents: Sequence[DocumentRow]) -> tuple[str, ...]:
    """New conversation, and which documents to search. Returns their names, () for all."""
    with st.sidebar:
        label = "New conversation"
        st.button(label, key="new", icon=":material/add:", on_click=session.leave_conversation, width="stretch", disabled=not documents)
        names = sorted(row.name for row in documents)
        chosen = st.multiselect(
            "Search in",
            names,
            key="scope",
            placeholder="All documents",
            help="Leave it empty to search all documents.",
            persist_state="session",
        )
    return tuple(chosen)


def _teach() -> None:
    """What to do where there is nothing to ask about."""
    st.html('<p class="refusal">There are no documents yet</p>')
    st.html(
        paragraphs_html("Add PDFs, text or scans, and ask. Every answer carries the page it stands on, and opens that page with the passage marked.")
    )
    st.page_link("documents.py", label="Add documents", icon=":material/upload_file:")
    st.caption("Nothing at hand? `make samples` makes four sample documents in `documents/samples`, and `make run` adds them.")


def _invite(documents: Sequence[DocumentRow]) -> None:
    """Questions to begin with."""
    count = f"{len(documents)} documents" if len(documents) != 1 else "one document"
    st.html(paragraphs_html(f"Ask about {count}. Every answer carries the page it stands on, and opens that page with the passage marked."))
    st.caption("For example:")
    sample = any(row.name.startswith("Valmora_") for row in documents)
    for index, question in enumerate(SAMPLE_QUESTIONS if sample else ANY_QUESTIONS):
        st.button(question, key=f"example-{index}", on_click=_take, args=(question,))


def _take(question: str) -> None:
    st.session_state["example"] = question


def _draw_exchanges(exchanges: Sequence[Exchange], given: Sequence[Given | None], house: House) -> None:
    for exchange, answer in zip(exchanges, given, strict=True):
        _draw_question(exchange.user)
        with st.chat_message("assistant", avatar=":material/find_in_page:"):
            if answer is not None:
                draw_given(answer, house.settings)
            else:
                st.html(answer_html(exchange.assistant))
                st.caption("From an earlier session: only the words are kept. Ask again to see the pages.")


def _draw_question(question: str) -> None:
    shown = question
    if len(question) > LONGEST_SHOWN_QUESTION:
        shown = f"{question[:LONGEST_SHOWN_QUESTION]} … ({len(question):,} characters in all)"
    with st.chat_message("user", avatar=":material/person:"):
        st.html(f'<div class="question">{paragraphs_html(shown)}</div>')


def _follow(asking: Asking, house: House) -> None:
    """Show a question and its answer as it comes, to the end."""
    _draw_question(asking.question)
    scroll_to_end(asking.number)
    with st.chat_message("assistant", avatar=":material/find_in_page:"):
        body = st.empty()
        try:
            seen = 0
            while not asking.finished:
                seen = asking.wait(seen, TICK)
                _draw_progress(asking, body)
                # The longer the text, the rarer it is drawn anew: the work stays in proportion to its length.
                time.sleep(min(0.3, 0.01 + len(asking.text) / 50_000))
        except StopException:
            if session.connected():
                asking.stop()
                session.last_words(lambda: body.html(_stopped_html(asking)))
            raise
        body.empty()
        with body.container():
            _draw_end(asking, house)


def _draw_progress(asking: Asking, body: st.delta_generator.DeltaGenerator) -> None:
    stage = asking.stage
    if not asking.text:
        body.html(stage_html(stage))
    else:
        body.html(answer_html(asking.text) + (stage_html(stage) if stage.name == "checking" else ""))


def stage_html(stage: Stage) -> str:
    """How far an answer is; of a long question's search the piece, which is shown but not read aloud: it changes many times a second."""
    if stage.total > 1:
        return f'<p class="stage">Searching, piece {stage.done:,} of {stage.total:,} …</p>'
    return f'<p class="stage" role="status">{STAGES.get(stage.name, "Working …")}</p>'


def _draw_end(asking: Asking, house: House) -> None:
    if asking.given is not None:
        draw_given(asking.given, house.settings)
        return
    draw_notices(asking.notices)
    if asking.error is not None:
        st.html(notice_html(asking.error.message, asking.error.hint))
    elif asking.stopped:
        st.html(_stopped_html(asking))


def _stopped_html(asking: Asking) -> str:
    return f'{answer_html(asking.text)}<p class="stage" role="status">Stopped. Nothing of this answer is kept.</p>'


if __name__ == "__main__" and (house := opening().house) is not None:
    show(house)

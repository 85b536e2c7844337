"""Draws the row under an answer: rating it, copying it, and the words given with a rating.

What a rating changes in later answers is decided by the service.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Given
from chatbot.errors import NotFoundError, ProjectError, StoreError
from chatbot.mark_lines import doubt_lines, statement_spans, unread_line
from chatbot.memory.cases.records import Case
from chatbot.memory.conversations.answer_records import cited_text
from chatbot.records import DOUBTFUL, Answer
from chatbot.ui import session
from chatbot.ui.audit_button import draw_audit
from chatbot.ui.safe_text import VERDICTS, notice_html, plain_html, short

__all__ = ["LONGEST_WORD", "REASONS", "copied_text", "draw_under", "is_ratable"]

# By reward.
ICONS = (":material/thumb_down:", ":material/thumb_up:")
TAKE_BACK = "Take the rating back"
# Why an answer did not help, to choose from.
REASONS = ("Wrong page", "Wrong figure", "Incomplete", "Not what I asked")
# What a rating does, by reward.
SAVED = (
    "Saved. Next time, similar questions avoid these pages.",
    "Saved. Next time, similar questions prefer these pages.",
)
# The characters of a word on an answer: a line, not a letter.
LONGEST_WORD = 300


def is_ratable(given: Given) -> bool:
    """Tells whether there is something to rate: a complete answer from the documents, kept on disk.

    Refusals, lines that were only noted and what the chatbot says of itself are not answers. An answer that
    replaces one of a failed model is no example.
    """
    answer = given.answer
    kept = (
        answer.conversation is not None and not session.is_private(answer.conversation) and given.number > 0
    )
    return kept and answer.answered and not answer.error and answer.from_documents


def draw_under(given: Given, context: AppContext) -> None:
    """Draws the row: two verdicts if there is something to rate, with the given one marked, copy and audit
    file.
    """
    answer = given.answer
    place = (given.answer.conversation or "", given.number)
    ratable, case = is_ratable(given), None
    if ratable:
        try:
            case = context.chatbot.cases.rated(session.owner(), answer)
        except StoreError as error:
            st.html(notice_html(error.message, error.hint))
            ratable = False
    # A verdict on an earlier answer to this question says nothing of this answer.
    if case is not None and case.plan == cited_text(answer):
        case = case
    else:
        case = None
    with st.container(
        key=f"rating-{given.number}", horizontal=True, gap="xsmall", vertical_alignment="center"
    ):
        if ratable:
            for reward in (1, 0):
                _button(reward, case, place, context)
        st.html(copy_html(answer), width="content")
        draw_audit(given, context)
        if case is not None:
            word = f": “{plain_html(short(case.word, LONGEST_WORD))}”" if case.word else ""
            said = f"Rated {VERDICTS[case.reward].lower()}{word}"
            if case.word:
                said = f"{said}. {SAVED[case.reward]}"
            st.html(f'<p class="quiet verdict {"up" if case.reward else "down"}" role="status">{said}</p>')
    if ratable:
        _draw_rated(case, place, context)


def copy_html(answer: Answer) -> str:
    """Renders the button that copies question and answer, with document and page for each citation."""
    text = plain_html(f"{answer.question}\n\n{copied_text(answer)}")
    return (
        f'<button type="button" class="copy" data-copy="{text}" data-tip="Copy question and answer, with '
        f'the page of each citation">Copy</button>'
    )


def copied_text(answer: Answer) -> str:
    """The answer's words with the page of each citation and what is doubted, and what nobody checked."""
    text, pieces, position = answer.text, list[str](), 0
    for _, end, one in statement_spans(text, answer.statements):
        if one.mark in DOUBTFUL:
            in_row = text[end - 1] == "|"
            mark = f"({one.shown_mark}) " if in_row else f" ({one.shown_mark})"
            pieces += [text[position : end - in_row], mark]
            position = end - in_row
    marked = replace(answer, text="".join([*pieces, text[position:]]))
    figures = [] if answer.by_model else doubt_lines(answer)
    return "\n\n".join(filter(None, [cited_text(marked), *figures, unread_line(answer)]))


def _draw_rated(case: Case | None, place: tuple[str, int], context: AppContext) -> None:
    pressed, problem = session.rated_last(*place)
    if case is not None and pressed and not case.word:
        _ask_why(case, place, context)
    if problem is not None:
        st.html(notice_html(problem.message, problem.hint))


def _button(reward: int, case: Case | None, place: tuple[str, int], context: AppContext) -> None:
    given = case is not None and case.reward == reward
    st.button(
        VERDICTS[reward],
        key=f"{'helpful' if reward else 'unhelpful'}-{place[1]}",
        icon=ICONS[reward],
        type="tertiary",
        help=TAKE_BACK if given else VERDICTS[reward],
        on_click=_take_back if given and case else _rate,
        args=(case.id, place, context) if given and case else (reward, place, context),
    )


def _ask_why(case: Case, place: tuple[str, int], context: AppContext) -> None:
    key = f"why-{case.reward}-{place[1]}"
    asked = "Why? (optional)"
    if not case.reward:
        with st.container(key=f"reasons-{place[1]}", horizontal=True, gap="small"):
            for number, reason in enumerate(REASONS):
                st.button(
                    reason,
                    key=f"reason-{place[1]}-{number}",
                    on_click=_rate,
                    args=(0, place, context),
                    kwargs={"word": reason},
                )
    st.text_input(
        asked,
        key=key,
        max_chars=LONGEST_WORD,
        placeholder=asked,
        label_visibility="collapsed",
        on_change=lambda: _rate(case.reward, place, context, word=st.session_state[key]),
    )


def _rate(reward: int, place: tuple[str, int], context: AppContext, *, word: str = "") -> None:
    problem: ProjectError | None = None
    try:
        context.chatbot.rate(*place, session.owner(), helpful=bool(reward), word=word)
    except ProjectError as error:
        problem = error
    session.note_rated(*place, problem)


def _take_back(case: str, place: tuple[str, int], context: AppContext) -> None:
    problem: ProjectError | None = None
    try:
        context.chatbot.cases.delete(session.owner(), case)
    except NotFoundError:  # in another tab
        pass
    except ProjectError as error:
        problem = error
    session.note_rated(*place, problem)

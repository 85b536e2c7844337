"""Draws the row under an answer: rating it, copying it, and the words given with a rating.

What a rating changes in later answers is decided by the service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.app.running_questions import DeliveredAnswer
from chatbot.audit.builder import Occasion, audit_file, audit_kept, file_name
from chatbot.errors import NotFoundError, ProjectError, StoreError
from chatbot.mark_lines import doubt_lines, statement_spans, unread_line
from chatbot.memory.cases.records import Case
from chatbot.memory.conversations.answer_records import cited_text
from chatbot.records import DOUBTFUL, Answer
from chatbot.service import Chatbot
from chatbot.settings import PROGRAM
from chatbot.ui import overlay, session
from chatbot.ui.page_parts import abreast, draw_button, draw_download, draw_problem, draw_quiet_button
from chatbot.ui.safe_text import VERDICTS, plain_html, short

__all__ = ["LONGEST_WORD", "REASONS", "copied_text", "draw_under", "is_ratable"]

# By reward.
ICONS = (":material/thumb_down:", ":material/thumb_up:")
TAKE_BACK = "Undo this rating"
# Why an answer did not help, to choose from.
REASONS = ("Wrong page", "Wrong figure", "Incomplete", "Not what I asked")
# What a rating does, by reward.
SAVED = (
    "Saved. Next time, similar questions avoid these pages.",
    "Saved. Next time, similar questions prefer these pages.",
)
AUDIT = f"The answer with its pages and checks as one file. Check it with `{PROGRAM} verify`."
# The characters of a word on an answer: a line, not a letter.
LONGEST_WORD = 300


def is_ratable(given: DeliveredAnswer) -> bool:
    """Tells whether there is something to rate: a complete answer from the documents, kept on disk.

    Refusals, lines that were only noted and what the chatbot says of itself are not answers. An answer that
    replaces one of a failed model is no example.
    """
    answer = given.answer
    kept = (
        answer.conversation is not None and not session.is_private(answer.conversation) and given.number > 0
    )
    return kept and answer.answered and not answer.error and answer.from_documents


def draw_under(given: DeliveredAnswer, context: AppContext) -> None:
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
            draw_problem(error)
            ratable = False
    if case is not None and case.plan != cited_text(answer):
        case = None  # a verdict on an earlier answer to this question says nothing of this one
    with abreast(key=f"rating-{given.number}", gap="xsmall"):
        if ratable:
            for reward in (1, 0):
                _button(reward, case, place, context)
        st.html(copy_html(answer), width="content")
        _draw_audit(given, context)
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
    last, problem = st.session_state.get("rated", (None, None))
    if last != place:
        return
    st.session_state["rated"] = (place, None)
    if case is not None and not case.word:
        _ask_why(case, place, context)
    if problem is not None:
        draw_problem(problem)


def _button(reward: int, case: Case | None, place: tuple[str, int], context: AppContext) -> None:
    label, key, icon = VERDICTS[reward], f"{'helpful' if reward else 'unhelpful'}-{place[1]}", ICONS[reward]
    if case is not None and case.reward == reward:
        draw_quiet_button(label, key, _take_back, case.id, place, context, icon=icon, help=TAKE_BACK)
    else:
        draw_quiet_button(label, key, _rate, reward, place, context, icon=icon, help=label)


def _ask_why(case: Case, place: tuple[str, int], context: AppContext) -> None:
    key = f"why-{case.reward}-{place[1]}"
    asked = "Why? (optional)"
    if not case.reward:
        with abreast(key=f"reasons-{place[1]}", gap="small"):
            for number, reason in enumerate(REASONS):
                draw_button(reason, f"reason-{place[1]}-{number}", _rate, 0, place, context, reason)
    st.text_input(
        asked,
        key=key,
        max_chars=LONGEST_WORD,
        placeholder=asked,
        label_visibility="collapsed",
        on_change=lambda: _rate(case.reward, place, context, st.session_state[key]),
    )


def _rate(reward: int, place: tuple[str, int], context: AppContext, word: str = "") -> None:
    _change(place, partial(context.chatbot.rate, *place, session.owner(), helpful=bool(reward), word=word))


def _take_back(case: str, place: tuple[str, int], context: AppContext) -> None:
    _change(place, partial(context.chatbot.cases.delete, session.owner(), case))


def _change(place: tuple[str, int], change: Callable[[], object]) -> None:
    """Changes a rating and notes what went wrong, except that it is gone already."""
    problem: ProjectError | None = None
    try:
        change()
    except NotFoundError:
        pass
    except ProjectError as error:
        problem = error
    st.session_state["rated"] = (place, problem)


# --- audit file
# ------------------------------------------------------------------------------------------------------------


def _draw_audit(given: DeliveredAnswer, context: AppContext) -> None:
    """Draws the button, except below what is not an answer from the documents.

    The file is made when the button is pressed, which disturbs nothing on the page.
    """
    answer = given.answer
    if not answer.from_documents:
        return
    download = Download(_making(given, context.chatbot), file_name(answer.question), "text/html")
    draw_download("Audit file", context.downloads, f"audit-file-{given.number}", download, said=AUDIT)


def _making(given: DeliveredAnswer, chatbot: Chatbot) -> Callable[[], bytes]:
    """Returns the function that makes the file.

    It runs in a thread without a session, so everything it needs of this one is read now.
    """
    answer = given.answer
    passwords = _passwords(given.answer, chatbot)
    if answer.conversation is not None and given.number > 0:
        return partial(
            audit_kept, chatbot, answer.conversation, given.number, session.owner(), passwords=passwords
        )
    return partial(audit_file, chatbot, answer, Occasion(passwords=passwords))


def _passwords(answer: Answer, chatbot: Chatbot) -> dict[str, str]:
    """Returns the passwords that this session was given, by SHA-256 of their files."""
    versions = {hit.version for hit in answer.considered} | {
        citation.version or 0 for citation in answer.citations
    }
    given = {version: password for version in versions if (password := overlay.password_for(version))}
    stored = {version: chatbot.library.catalog.version(version) for version in given}
    return {kept.sha256: given[version] for version, kept in stored.items() if kept is not None}

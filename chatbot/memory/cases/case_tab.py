"""Draws the rated answers on the Memory page: their state, the list with its actions, and files in and out.

A rating itself is given on the Chat page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.file_import import Wording, outcome_lines
from chatbot.memory.cases.case_store import KEPT_DAYS, CaseHealth, CaseRow, hidden
from chatbot.memory.cases.records import Case
from chatbot.memory.layers import counted
from chatbot.store.store_clock import DAY
from chatbot.ui import session
from chatbot.ui.list_controls import page_of, search_box
from chatbot.ui.memory_dialogs import Dialog, ask_for, attempt, draw_button, draw_choice, finish
from chatbot.ui.memory_files import Files, draw_files, lines_html
from chatbot.ui.ratings import LONGEST_WORD
from chatbot.ui.safe_text import VERDICTS, case_html, paragraphs_html, plain_markdown, quiet_html, short

__all__ = ["draw", "health_text", "remarks"]

ROWS = 20
EMPTY = (
    "You have not rated any answers yet. Use thumbs up or down below an answer on the Chat page. A "
    "helpful answer comes first when you ask the same question again, after a new check. An answer rated "
    "down is avoided, and its pages rank a little lower."
)
FILES = Files(
    "cases",
    "Import a file of JSON lines: a question, an answer and a rating each",
    partial(
        outcome_lines,
        wording=Wording("rated answer", "rated answers", "skipped, as you rated them more recently"),
    ),
    "rated_answers.jsonl",
)
Row = TypeVar("Row")
NOTHING_FOUND = "No rated answer has all of these words."
STALE = "⚠ Its document was changed or removed, so it is not used until you undo that."
UNVERIFIED = (
    "An example only: its citations were not checked here. It is not used as an answer and cannot be shared."
)
SHARED = "Shared with everyone who uses this chatbot."
BY_OTHERS = "Shared by someone else here."


def draw(context: AppContext) -> None:
    """Draw the tab. Raises StoreError if the cases cannot be read."""
    cases = context.chatbot.cases
    owner = session.owner()
    health = cases.health(owner)
    if health.cases or health.problems:
        st.html(quiet_html(health_text(health)))
    else:
        st.html(paragraphs_html(EMPTY))
    if unread := health.problems[:ROWS]:
        st.html(lines_html([f"Rated answer {one.line} cannot be read: {one.reason}." for one in unread]))
    if health.cases:
        search = search_box("Search rated answers", key="find-cases")
        rows = cases.listed(owner, search=search)
        for row in page_of(rows, ROWS, key="cases-page"):
            _draw_row(row, context)
        if not rows:
            st.html(quiet_html(NOTHING_FOUND))
    _draw_deleted(cases.deleted(owner), context)
    export = partial(cases.export, owner) if health.cases else None
    draw_files(context, FILES, lambda path, _, tell: cases.import_file(owner, path, progress=tell), export)
    if health.shared:
        _draw_shared(cases.listed(owner, shared=True), hidden(owner), context)


def health_text(health: CaseHealth) -> str:
    """One line on how many cases there are and which do not count now."""
    count = counted(health.cases, "rated answer")
    others = (
        (health.stale, "not used, as a document was changed or removed."),
        (health.waiting, "still being indexed; each new answer continues this."),
        (len(health.problems), "cannot be read."),
    )
    sentences = [f"{number:,} {text}" for number, text in others if number]
    return " ".join([f"{count}: {health.positive:,} helpful, {health.negative:,} not.", *sentences])


def remarks(row: CaseRow) -> list[str]:
    """What to know about one's own case beside its verdict."""
    case = row.case
    lines = (
        (row.stale, STALE),
        (case.asked_of, f"Asked only about {short(', '.join(case.asked_of), 120)}."),
        (case.reward and not case.verified, UNVERIFIED),
        (case.shared, SHARED),
    )
    return [line for holds, line in lines if holds]


def _draw_row(row: CaseRow, context: AppContext) -> None:
    with st.container(key=f"case-{row.case.id}", gap=None):
        st.html(case_html(row.case, remarks(row)))
        with st.container(horizontal=True, gap="small"):
            _draw_buttons(row.case, context)


def _draw_buttons(case: Case, context: AppContext) -> None:
    cases = context.chatbot.cases
    owner = session.owner()
    question = plain_markdown(short(case.question, 60))
    draw_button(
        "Correct", f"edit-{case.id}", ask_for, EDIT, case, told=f"Correct rating and comment: {question}"
    )
    if case.shared:
        unshare, told = partial(cases.unshare, owner, case.id), f"No one else will see it: {question}"
        draw_button("Stop sharing", f"unshare-{case.id}", attempt, unshare, told=told)
    elif case.verified:
        share = partial(cases.share, owner, case.id)
        told = f"Everyone who uses this chatbot will see it, without your name: {question}"
        draw_button("Share", f"share-{case.id}", attempt, share, told=told)
    draw_button("Delete", f"delete-{case.id}", ask_for, DELETE, case, told=f"Delete the rating: {question}")


def _draw_deleted(kept: Sequence[Case], context: AppContext) -> None:
    restore = partial(context.chatbot.cases.restore, session.owner())

    def draw(case: Case) -> None:
        until = time.strftime("%d %B", time.localtime(case.deleted_at + KEPT_DAYS * DAY))
        st.html(case_html(case, [f"Until {until}"]))
        draw_button("Restore", f"restore-case-{case.id}", attempt, partial(restore, case.id))

    note = f"You can restore each for {KEPT_DAYS} days. Then it is erased."
    _draw_folded(kept, draw, "Deleted", "deleted-cases", note)


def _draw_shared(rows: Sequence[CaseRow], mine: str, context: AppContext) -> None:
    unshare = partial(context.chatbot.cases.unshare, session.owner())

    def draw(row: CaseRow) -> None:
        is_own = row.case.by == mine
        whose = SHARED if is_own else BY_OTHERS
        st.html(case_html(row.case, [whose, STALE] if row.stale else [whose]))
        if is_own:
            draw_button("Stop sharing", f"stop-{row.case.id}", attempt, partial(unshare, row.case.id))

    _draw_folded(rows, draw, "Shared with everyone here", "shared-cases")


def _draw_folded(
    rows: Sequence[Row], draw: Callable[[Row], None], label: str, key: str, told: str = ""
) -> None:
    """Draw an expander with the first rows, if there are any; its content is drawn when it is opened."""
    if not rows:
        return
    expander = st.expander(f"{label} ({len(rows):,})", key=key, on_change="rerun")
    if not expander.open:
        return
    with expander:
        if told:
            st.html(quiet_html(told))
        for row in rows[:ROWS]:
            draw(row)
        if len(rows) > ROWS:
            st.html(quiet_html(f"And {len(rows) - ROWS:,} more."))


def _edit(case: Case, context: AppContext) -> None:
    with st.form("edit-case", border=False):
        st.html(case_html(case, whole=True))
        verdict = st.radio(
            "Verdict",
            (1, 0),
            1 - case.reward,
            format_func=VERDICTS.__getitem__,
            key="edit-verdict",
            horizontal=True,
        )
        word = st.text_input(
            "Why? (optional)", case.word[:LONGEST_WORD], key="edit-word", max_chars=LONGEST_WORD
        )
        saved = st.form_submit_button("Save", key="edit-save", type="primary")

    def rated(old: Case) -> Case:
        return replace(old, reward=int(verdict or 0), word=word.strip())

    if saved:
        finish(lambda: context.chatbot.cases.edit(session.owner(), case.id, rated))


def _delete(case: Case, context: AppContext) -> None:
    told = (
        f"It will not guide any more answers, yours or anyone's. You can restore it for {KEPT_DAYS} "
        "days. Its conversation does not change."
    )
    st.html(case_html(case, (told,)))
    draw_choice(lambda: context.chatbot.cases.delete(session.owner(), case.id))


EDIT = Dialog("Correct this rating", _edit)
DELETE = Dialog("Delete this rating?", _delete)

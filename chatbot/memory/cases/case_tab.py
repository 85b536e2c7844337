"""Rated answers on the Memory page: how they fare, the list with what can be done, files in and out; a
rating itself is given on the Chat page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st

from chatbot.memory.cases.case_store import DAY, KEPT_DAYS, CaseHealth, CaseRow, hidden
from chatbot.memory.cases.records import Case, case_id
from chatbot.ui import session
from chatbot.ui.app_context import AppContext
from chatbot.ui.file_import import Wording
from chatbot.ui.list_controls import page_of, search_box
from chatbot.ui.memory_dialogs import Dialog, ask_for, attempt, draw_button, draw_choice, finish
from chatbot.ui.memory_files import Files, draw_files, lines_html
from chatbot.ui.ratings import LONGEST_WORD
from chatbot.ui.safe_text import VERDICTS, case_html, paragraphs_html, plain_markdown, quiet_html, short

__all__ = ["draw", "health_text", "remarks"]

ROWS = 20
EMPTY = (
    "No answer is rated yet. Below an answer on the Chat page, press thumb up or thumb down. "
    "A helpful answer comes back first when you ask the same again, looked up and checked anew; one rated "
    "down is avoided, and its pages count a little less."
)
FILES = Files(
    "cases",
    "Import a file of JSON lines: a question, an answer and a verdict on each",
    "rated_answers.jsonl",
    Wording("rated answer", "rated answers", "left out that you have rated as lately"),
)
Row = TypeVar("Row")
NOTHING_FOUND = "No rated answer holds all of these words."
STALE = "⚠ A document it rests on was changed or removed: it is left out until that is undone."
UNVERIFIED = (
    "An example only: its citations were not checked here, so it does not come back as an answer and cannot "
    "be shared."
)
SHARED = "Shared: everybody who uses this chatbot here has it."
BY_OTHERS = "Shared by somebody else here."


def draw(context: AppContext) -> None:
    """The tab. Raises StoreError where the cases cannot be read."""
    cases = context.chatbot.cases
    owner = session.owner()
    health = cases.health(owner)
    if health.shared:
        shared = cases.listed(owner, shared=True)
    else:
        shared = []
    mine = hidden(owner)
    st.html(quiet_html(health_text(health)) if health.cases or health.problems else paragraphs_html(EMPTY))
    unread = [("", one) for one in health.problems] + [
        (" of the shared answers", one) for one in health.shared_problems
    ]
    if unread:
        st.html(
            lines_html(
                [f"Rated answer {one.line}{of} cannot be read: {one.reason}." for of, one in unread[:ROWS]]
            )
        )
    if health.cases:
        wanted = search_box("Search rated answers", key="find-cases")
        rows = cases.listed(owner, search=wanted)
        _draw_rows(rows, {row.case.id for row in shared}, mine, context)
        if not rows:
            st.html(quiet_html(NOTHING_FOUND))
    _draw_deleted(cases.deleted(owner), context)
    draw_files(context, FILES, cases, empty=not health.cases)
    _draw_shared(shared, mine, context)


def health_text(health: CaseHealth) -> str:
    """One line on how many there are, and on those that do not count now."""
    counted = (
        f"{health.cases:,} rated answer{'' if health.cases == 1 else 's'}: {health.positive:,} helpful, "
        f"{health.negative:,} not."
    )
    if health.stale:
        stale = [f"{health.stale:,} left out, for a document changed or went."]
    else:
        stale = []
    if health.waiting:
        waiting = [
            (
                f"{health.waiting:,} not recalled yet, for vectors are still to be made; this goes on with "
                f"each answer."
            )
        ]
    else:
        waiting = []
    if health.problems:
        unread = [f"{len(health.problems):,} cannot be read."]
    else:
        unread = []
    return " ".join([counted, *stale, *waiting, *unread])


def remarks(row: CaseRow, *, shared: bool) -> list[str]:
    """What must be known of a case of one's own beside its verdict. shared: whether everybody has it."""
    if row.stale:
        said = [STALE]
    else:
        said = []
    said += [f"Asked of {short(', '.join(row.case.asked_of), 120)} alone."] if row.case.asked_of else []
    said += [UNVERIFIED] if row.case.reward and not row.case.verified else []
    return said + ([SHARED] if shared else [])


def _draw_rows(rows: Sequence[CaseRow], shared: Collection[str], mine: str, context: AppContext) -> None:
    for row in page_of(rows, ROWS, key="cases-page"):
        there = case_id(row.case.question, mine, row.case.asked_of)
        with st.container(key=f"case-{row.case.id}", gap=None):
            st.html(case_html(row.case, remarks(row, shared=there in shared)))
            with st.container(horizontal=True, gap="small"):
                _draw_buttons(row, there if there in shared else "", context)


def _draw_buttons(row: CaseRow, shared: str, context: AppContext) -> None:
    """shared: its id among the shared ones, "" where it is not there."""
    case = row.case
    cases = context.chatbot.cases
    owner = session.owner()
    of = plain_markdown(short(case.question, 60))
    draw_button("Correct", f"edit-{case.id}", ask_for, EDIT, case, told=f"Correct verdict and word: {of}")
    if shared:
        draw_button(
            "Stop sharing",
            f"unshare-{case.id}",
            attempt,
            partial(cases.unshare, owner, shared),
            told=f"Nobody else has it then: {of}",
        )
    elif case.verified:
        told = f"Everybody who uses this chatbot here then has it, without your name: {of}"
        draw_button("Share", f"share-{case.id}", attempt, partial(cases.share, owner, case.id), told=told)
    draw_button("Delete", f"delete-{case.id}", ask_for, DELETE, case, told=f"Delete the rating: {of}")


def _draw_deleted(kept: Sequence[Case], context: AppContext) -> None:
    restore = partial(context.chatbot.cases.restore, session.owner())

    def draw(case: Case) -> None:
        until = time.strftime("%d %B", time.localtime(case.deleted_at + KEPT_DAYS * DAY))
        st.html(case_html(case, [f"Until {until}"]))
        draw_button("Restore", f"restore-case-{case.id}", attempt, partial(restore, case.id))

    _draw_folded(
        kept,
        draw,
        "Deleted",
        "deleted-cases",
        f"Each can be restored for {KEPT_DAYS} days, then it is erased.",
    )


def _draw_shared(rows: Sequence[CaseRow], mine: str, context: AppContext) -> None:
    unshare = partial(context.chatbot.cases.unshare, session.owner())

    def draw(row: CaseRow) -> None:
        own = row.case.by == mine
        st.html(case_html(row.case, [SHARED if own else BY_OTHERS, *([STALE] if row.stale else [])]))
        if own:
            draw_button("Stop sharing", f"stop-{row.case.id}", attempt, partial(unshare, row.case.id))

    _draw_folded(rows, draw, "Shared with everybody here", "shared-cases")


def _draw_folded(
    rows: Sequence[Row], draw: Callable[[Row], None], label: str, key: str, told: str = ""
) -> None:
    """An expander with the first rows, where there are any, drawn when it is opened."""
    if not rows:
        return
    opened = st.expander(f"{label} ({len(rows):,})", key=key, on_change="rerun")
    if opened.open:
        if len(rows) > ROWS:
            more = f"And {len(rows) - ROWS:,} more."
        else:
            more = ""
        with opened:
            st.html(quiet_html(told)) if told else None
            for row in rows[:ROWS]:
                draw(row)
            st.html(quiet_html(more)) if more else None


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
    if saved:
        finish(
            lambda: context.chatbot.cases.edit(
                session.owner(),
                case.id,
                lambda old: replace(old, reward=int(verdict or 0), word=word.strip()),
            )
        )


def _delete(case: Case, context: AppContext) -> None:
    told = (
        f"It guides no answer any more, nobody else's either. It can be restored for {KEPT_DAYS} days. The "
        f"conversation it comes from stays as it is."
    )
    st.html(case_html(case, (told,)))
    draw_choice(lambda: context.chatbot.cases.delete(session.owner(), case.id))


EDIT = Dialog("Correct this rating", _edit)
DELETE = Dialog("Delete this rating?", _delete)

"""Shows the additions, one line for each: what runs, what waits for a password, and the outcome."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from chatbot.store.addition_queue import Job
from chatbot.store.library import UNDO_DAYS, AddResult
from chatbot.ui.app_context import AppContext
from chatbot.ui.safe_text import plain_html, plain_markdown, short, spoken

__all__ = ["all_left_text", "draw_jobs", "ended_text", "left_text", "phase_text", "speed_text"]

# The number of doubtful pages that are spelled out. The report has them all.
MOST_DOUBTS = 3
# The number of running files that have a line of their own.
MOST_RUNNING = 12
PASSWORD_NOTE = (
    "The password is used for this reading only and never stored. What is read can then be asked by all "
    "users of this server, without it; "
    "only the pages themselves ask for it again."
)
# How the store begins a warning that is none: a file that exists under another name.
SAME_FILE = "The same file as "
# Up to this many seconds time is shown in seconds, in steps of five; it is not known more exactly.
SECONDS_TOLD = 90
STEP = 5
# What is read of a document that can be searched already.
PHASES = {"tables": "reading its tables", "images": "reading what only images show"}
# From this many pages a second on, tenths do not matter.
FAST = 10


def draw_jobs(jobs: Sequence[Job], context: AppContext) -> None:
    """Shows all jobs: first those that need the user or are running, then the outcomes of the others."""
    for job in jobs:
        if job.phase == "password":
            _ask_password(job, context)
    running = [job for job in jobs if job.busy]
    if len(running) > 1:
        st.html(
            f'<p class="quiet '
            f'strong">{plain_html(all_left_text(len(running), context.additions.seconds_left()))}</p>'
        )
    # Running jobs come first. If many wait their turn, the rest is only counted.
    first = sorted(running, key=lambda job: job.phase == "waiting")
    for job in first[:MOST_RUNNING]:
        _draw_running(job, context)
    if len(running) > MOST_RUNNING:
        st.html(f'<p class="quiet">And {len(running) - MOST_RUNNING:,} more that wait for their turn.</p>')
        st.button(
            "Cancel all", key="cancel-all", type="tertiary", on_click=_cancel_all, args=(running, context)
        )
    ended = [job for job in jobs if job.finished]
    if ended:
        lines = "".join(f"<li>{plain_html(ended_text(job))}</li>" for job in ended)
        st.html(f'<ul class="quiet lines" role="status">{lines}</ul>')
        st.button(
            "Clear these messages" if len(ended) > 1 else "Clear this message",
            key="clear",
            type="tertiary",
            on_click=_clear,
            args=(context,),
        )


def all_left_text(count: int, seconds: float | None) -> str:
    """Says how many files are on their way, and the time left for all."""
    left = left_text(seconds)
    return f"{count:,} files are being read{left}{' for all' if left else ''}."


def _cancel_all(jobs: Sequence[Job], context: AppContext) -> None:
    for job in jobs:
        context.additions.cancel(job.id)


def _clear(context: AppContext) -> None:
    context.additions.clear_finished()


def _ask_password(job: Job, context: AppContext) -> None:
    """Draws the field for the password of one protected file. It is used for this reading only."""
    with st.form(f"unlock-{job.id}", clear_on_submit=True):
        wrong = "wrong" in (job.problem or "")
        said = (
            "⚠ That password does not open it: try another, or leave the file out."
            if wrong
            else "It opens with a password only."
        )
        asked = f"Password for <strong>{plain_html(short(job.name, 80))}</strong>"
        st.html(f'<p>{asked}</p><p class="quiet" role="alert">{said} {PASSWORD_NOTE}</p>')
        field, unlock, leave = st.columns([5, 1.2, 1.4], vertical_alignment="bottom")
        label = f"Password for {spoken(job.name)}"
        password = field.text_input(
            label, type="password", key=f"password-{job.id}", label_visibility="collapsed"
        )
        opened = unlock.form_submit_button("Open", key=f"open-{job.id}", width="stretch")
        left_out = leave.form_submit_button("Leave out", key=f"leave-{job.id}", width="stretch")
    if left_out:
        context.additions.cancel(job.id)
        st.rerun()
    if opened and password:
        context.additions.unlock(job.id, password)
        st.rerun()


def _draw_running(job: Job, context: AppContext) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"job-{job.id}"):
        if job.total:
            share = min(1.0, job.done / job.total)
        else:
            share = 0.0
        st.progress(
            share, text=f"**{plain_markdown(short(job.name, 60))}** · {plain_markdown(phase_text(job))}"
        )
        if job.cancellable:
            st.button("Cancel", key=f"cancel-{job.id}", on_click=context.additions.cancel, args=(job.id,))


def phase_text(job: Job) -> str:
    """Says what is being done with an unfinished file, how far it is and about how long it will take."""
    if job.cancelling:
        return "cancelling"
    if job.phase == "waiting":
        return "waiting for its turn"
    if job.phase == "embedding":
        new = job.result is not None and job.result.status == "replaced" and not job.again
        again = "read again, the reading before is searched until it is complete"
        if job.again:
            searched = again
        else:
            searched = (
                "new version read, the one before is searched until it is complete"
                if new
                else "can be asked already, by its words"
            )
        text = f"{searched}; preparing search by meaning, {job.done:,} of {job.total:,} passages"
    elif job.phase in PHASES:
        text = f"can be asked already; {PHASES[job.phase]}" + (
            f", {job.done:,} of {job.total:,} pages" if job.total else ""
        )
    elif not job.total:
        text = "opening"
    elif job.done >= job.total:
        # Scanned pages may come next, which nobody knows before the first of them is read.
        text = (
            f"the text of {_all(job.total, 'page')} is read"
            if job.phase == "reading"
            else f"{_all(job.total, 'scanned page')} read, storing what they say"
        )
    else:
        text = (
            f"{'reading page' if job.phase == 'reading' else 'reading scanned pages,'} {job.done:,} of "
            f"{job.total:,}"
        )
    text = f"{text}{speed_text(job)}"
    return f"{text}. Waiting: {job.problem}" if job.problem else f"{text}{left_text(job.seconds_left)}"


def _all(count: int, what: str) -> str:
    return f"its one {what}" if count == 1 else f"all {count:,} {what}s"


def speed_text(job: Job) -> str:
    """Says the speed in pages or passages a second; "" if unknown, or if all is read."""
    if not job.per_second or job.done >= job.total:
        return ""
    speed = f"{job.per_second:,.0f}" if job.per_second >= FAST else f"{job.per_second:.1f}"
    return f", {speed} {'passages' if job.phase == 'embedding' else 'pages'} a second"


def left_text(seconds: float | None) -> str:
    """Writes the time left as people do; "" if unknown."""
    if seconds is None or seconds < 1:
        return ""
    if seconds < SECONDS_TOLD:
        return f", about {max(STEP, round(seconds / STEP) * STEP)} s left"
    return f", about {round(seconds / 60)} min left"


def ended_text(job: Job) -> str:
    """Says what became of a file: what there is now, or why it failed and what to do."""
    result = job.result
    name = short(job.name, 80)
    if job.phase == "cancelled":
        return (
            f"{name}: reading it again was cancelled; it stays as it was."
            if job.again
            else f"{name}: cancelled, nothing of it is kept."
        )
    if result is None:
        return f"✓ {name}: its search by meaning is complete."
    if job.phase == "failed":
        return (
            f"⚠ {name}: not read again, it stays as it was. {result.error}"
            if job.again
            else f"⚠ {name}: not added. {result.error}"
        )
    if result.status == "completed":
        return " ".join([f"✓ {name}: all of it is read now, {_counted(result)}.", *_doubts(result)])
    if result.status == "unchanged":
        return f"✓ {name}: it is there already, with the very same pages. Nothing was added."
    if result.warning and result.warning.startswith(SAME_FILE):
        return f"✓ {name}: {result.warning[0].lower()}{result.warning[1:]}"
    if job.again:
        return " ".join([f"✓ {name}: read again, {_counted(result)}.", *_doubts(result)])
    mark = "✓" if result.chunks else "⚠"
    said = f"{mark} {name}: {'added' if result.status == 'added' else 'a new version'}, {_counted(result)}."
    if result.status == "replaced":
        undo = [f"The version before can be brought back for {UNDO_DAYS} days: Undo."]
    else:
        undo = []
    return " ".join([said, *undo, *_doubts(result)])


def _counted(result: AddResult) -> str:
    ocr = f", {result.ocr_pages:,} of them scanned" if result.ocr_pages else ""
    spent = result.complete_seconds or result.seconds
    seconds = f", {spent:.1f} s" if spent else ""
    return f"{_number(result.pages, 'page')}{ocr}, {_number(result.chunks, 'passage')}{seconds}"


def _doubts(result: AddResult) -> list[str]:
    pages = [
        f"Page {page}: {reason.removeprefix(f'Page {page} ')}"
        for page, reason in result.failed_pages[:MOST_DOUBTS]
    ]
    if len(result.failed_pages) > MOST_DOUBTS:
        more = [f"And {len(result.failed_pages) - MOST_DOUBTS} more pages."]
    else:
        more = []
    return [
        *([f"⚠ {result.warning}"] if result.warning else []),
        *([f"⚠ {' '.join([*pages, *more])}"] if pages else []),
    ]


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

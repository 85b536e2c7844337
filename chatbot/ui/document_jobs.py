"""Shows the additions of a user: one bar for all, the files folded below it, passwords, and the outcomes."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.store.jobs import Job
from chatbot.store.library import UNDO_DAYS, AddResult
from chatbot.ui import document_session, session
from chatbot.ui.page_parts import abreast, draw_button, draw_quiet_button, follow
from chatbot.ui.safe_text import counted, plain_html, plain_markdown, short, spoken

__all__ = [
    "draw_added",
    "draw_jobs",
    "ended_text",
    "falling",
    "left_text",
    "new_names",
    "own_jobs",
    "phase_text",
    "progress_text",
    "share_of_all",
]

# The number of doubtful pages that are spelled out. The report has them all.
MOST_DOUBTS = 3
# The number of running files that have a line of their own.
MOST_RUNNING = 12
# A bar with less would look empty.
LEAST_SHARE = 0.02
PASSWORD_NOTE = (
    "The password is used to read the file once and is not stored. Everyone who uses this server can then "
    "ask about the text. Looking at the pages needs the password again."
)
# How the store begins a warning that is none: a file that exists under another name.
SAME_FILE = "The same file as "
# Up to this many seconds time is shown in seconds, in steps of five; it is not known more exactly.
SECONDS_TOLD = 90
STEP = 5
# So many seconds an outcome without trouble is shown, with the way to undo it.
OUTCOME_SECONDS = 600


def own_jobs(context: AppContext) -> list[Job]:
    """Returns the additions that this user may see: on a server for several users only their own."""
    jobs = context.additions.jobs()
    if not context.settings.open_to_others:
        return list(jobs)
    owner = session.owner()
    return [job for job in jobs if job.owner == owner]


def draw_added(context: AppContext) -> None:
    """Shows the additions of the last drop in this session, again and again while they run."""
    if any(job.id in document_session.state().drop.jobs for job in own_jobs(context)):
        follow(partial(draw_jobs, context), lambda: any(job.busy for job in own_jobs(context)))


def draw_jobs(context: AppContext) -> None:
    """Shows this user's additions: files that need a password, the progress of all, and the outcomes."""
    jobs = own_jobs(context)
    for job in jobs:
        if job.phase == "password":
            _ask_password(job, context)
    shown = [job for job in jobs if job.phase != "password" and not _is_old(job)]
    if not shown:
        return
    running = [job for job in shown if job.busy]
    with st.container(key="jobs", gap="small"):
        if running:
            st.progress(share_of_all(shown), text=_bar_text(shown, running, context))
        _draw_outcomes(shown, running)
        if len(shown) > 1:
            with st.expander("Files", key="jobs-files"):
                _draw_files(shown, running, context)
        _draw_buttons(shown, running, context)


def _is_old(job: Job) -> bool:
    """Whether its outcome was seen long ago."""
    ended: dict[int, float] = st.session_state.setdefault("jobs-ended", {})
    seen = ended.setdefault(job.id, time.monotonic()) if job.finished else time.monotonic()
    return time.monotonic() - seen > OUTCOME_SECONDS and not _is_trouble(job)


def falling(told: dict[int, float], key: int, seconds: float | None) -> float | None:
    """Returns an estimate that only falls, infinite while it would rise.

    told: the last one by key, which is noted. key: of a file, or less than 0.
    """
    if seconds is None:
        return None
    if seconds > told.get(key, seconds) + STEP:
        return math.inf
    told[key] = min(seconds, told.get(key, seconds))
    return told[key]


def _bar_text(shown: Sequence[Job], running: Sequence[Job], context: AppContext) -> str:
    told = st.session_state.setdefault("jobs-left", {})
    if len(shown) == 1:
        (job,) = running
        said = phase_text(job, falling(told, job.id, job.seconds_left))
        return f"**{plain_markdown(short(job.name, 60))}** · {plain_markdown(said)}"
    done = len(shown) - len(running)
    ready = sum(job.result is not None and job.phase not in {"failed", "cancelled"} for job in shown)
    left = falling(told, -len(shown), context.additions.seconds_left())
    return plain_markdown(progress_text(done, len(shown), left, ready))


def progress_text(done: int, count: int, seconds: float | None, ready: int = 0) -> str:
    """Says how many of several files are complete, and the time left for all.

    ready: how many can be asked about, which is before they are complete.
    """
    asked = f" · you can already ask about {ready:,}" if ready > done else ""
    return f"{done:,} of {count:,} done{asked}{left_text(seconds).replace(', ', ' · ', 1)}"


def new_names(context: AppContext) -> set[str]:
    """Returns the names of the documents that were last added here, until their outcome is put away."""
    last = document_session.state().drop.jobs
    return {job.result.document for job in own_jobs(context) if job.id in last and job.result is not None}


def share_of_all(jobs: Sequence[Job]) -> float:
    """Returns the share of the work that is done, in [LEAST_SHARE, 1]. Large files count for more."""
    sizes = [job.size or 1 for job in jobs]
    done = 0.0
    for job, size in zip(jobs, sizes, strict=True):
        done += size * (1.0 if job.finished else job.share)
    return min(1.0, max(LEAST_SHARE, done / sum(sizes)))


def _draw_outcomes(shown: Sequence[Job], running: Sequence[Job]) -> None:
    """Says what was added, and what went wrong with which file."""
    ended = [job for job in shown if job.finished]
    if len(shown) == 1:
        told = [ended_text(job) for job in ended]
    else:
        told = [ended_text(job) for job in ended if _is_trouble(job)]
        if not running:
            told.insert(0, _counted_text(ended))
    if told:
        lines = "".join(f"<li>{plain_html(text)}</li>" for text in told)
        st.html(f'<ul class="quiet lines" role="status">{lines}</ul>')


def _is_trouble(job: Job) -> bool:
    return job.phase == "failed" or "⚠" in ended_text(job)


def _counted_text(ended: Sequence[Job]) -> str:
    """Says how many files were added, and how many were not."""
    added = sum(job.phase == "done" for job in ended)
    failed = sum(job.phase == "failed" for job in ended)
    cancelled = len(ended) - added - failed
    parts = [
        f"{count:,} {word}"
        for count, word in ((added, "added"), (failed, "not added"), (cancelled, "cancelled"))
        if count
    ]
    mark = "⚠" if failed else "✓"
    return (
        f"{mark} Of {len(ended):,} files: {', '.join(parts)}."
        if failed or cancelled
        else (f"✓ {added:,} files added.")
    )


def _draw_files(shown: Sequence[Job], running: Sequence[Job], context: AppContext) -> None:
    """Draws a line for each file, those that are being read first."""
    # If many wait their turn, the rest is only counted.
    first = sorted(running, key=lambda job: job.phase == "waiting")
    for job in first[:MOST_RUNNING]:
        with abreast(key=f"job-{job.id}"):
            name = plain_html(short(job.name, 60))
            st.html(f'<p class="quiet"><strong>{name}</strong> · {plain_html(phase_text(job))}</p>')
            if job.cancellable:
                draw_quiet_button(
                    "Cancel",
                    f"cancel-{job.id}",
                    context.additions.cancel,
                    job.id,
                    help=f"Cancel {plain_markdown(short(job.name, 60))}",
                )
    lines = "".join(f"<li>{plain_html(ended_text(job))}</li>" for job in shown if job.finished)
    if len(running) > MOST_RUNNING:
        lines += f"<li>{len(running) - MOST_RUNNING:,} more are waiting.</li>"
    if lines:
        st.html(f'<ul class="quiet lines">{lines}</ul>')


def _draw_buttons(shown: Sequence[Job], running: Sequence[Job], context: AppContext) -> None:
    """Draws the buttons that undo the last drop, cancel what runs, and put the outcomes away."""
    last = set(document_session.state().drop.jobs)
    undone = [job for job in shown if job.id in last and _can_be_undone(job)]
    cancellable = [job for job in running if job.cancellable and job not in undone]
    with abreast(gap="small", key="jobs-buttons"):
        if undone:
            draw_button("Undo", "undo-added", _undo, undone, context, help="Removes what you just added")
        if cancellable:
            draw_button(
                "Cancel" if len(cancellable) == 1 else "Cancel all",
                "cancel-all",
                _cancel_all,
                cancellable,
                context,
            )
        if not running:
            draw_quiet_button("Dismiss", "clear", context.additions.clear_finished, {job.id for job in shown})


def _can_be_undone(job: Job) -> bool:
    """Tells whether a job can be cancelled, or has added or replaced a document."""
    added = job.phase == "done" and job.result is not None and job.result.status in {"added", "replaced"}
    return job.cancellable or added


def _undo(jobs: Sequence[Job], context: AppContext) -> None:
    """Cancels these jobs, removes the documents they added, and brings back those they replaced."""
    for job in jobs:
        if job.cancellable:
            context.additions.cancel(job.id)
        elif job.result is not None and job.result.status == "replaced":
            document_session.attempt(context.restore, job.result.document)
        elif job.result is not None:
            document_session.attempt(context.chatbot.remove, job.result.document)
    context.additions.clear_finished({job.id for job in jobs})
    document_session.note_drop(asked=document_session.state().drop.asked)


def _cancel_all(jobs: Sequence[Job], context: AppContext) -> None:
    for job in jobs:
        context.additions.cancel(job.id)


def _ask_password(job: Job, context: AppContext) -> None:
    """Draws the field for the password of one protected file. It is used for this reading only."""
    with st.form(f"unlock-{job.id}", clear_on_submit=True):
        wrong = "wrong" in (job.problem or "")
        said = "⚠ That password is wrong. Try again, or skip the file." if wrong else "It needs a password."
        asked = f"Password for <strong>{plain_html(short(job.name, 80))}</strong>"
        st.html(f'<p>{asked}</p><p class="quiet" role="alert">{said} {PASSWORD_NOTE}</p>')
        field, unlock, leave = st.columns([5, 1.2, 1.2], vertical_alignment="bottom")
        label = f"Password for {spoken(job.name)}"
        password = field.text_input(
            label, type="password", key=f"password-{job.id}", label_visibility="collapsed"
        )
        opened = unlock.form_submit_button("Open", key=f"open-{job.id}", width="stretch")
        left_out = leave.form_submit_button("Skip", key=f"leave-{job.id}", width="stretch")
    if left_out:
        context.additions.cancel(job.id)
        st.rerun()
    if opened and password:
        context.additions.unlock(job.id, password)
        st.rerun()


def phase_text(job: Job, seconds: float | None = None) -> str:
    """Says what is being done with an unfinished file, and how far it is.

    seconds: left until one can ask about it.
    """
    if job.cancelling:
        return "cancelling"
    if job.phase == "waiting":
        return f"waiting. {job.problem}" if job.problem else "waiting"
    if job.phase == "embedding":
        if job.again or (job.result is not None and job.result.status == "replaced"):
            asked = "the earlier version is used until this one is ready"
        else:
            asked = "you can ask about it now; answers still improve"
        text = f"{asked}, {job.done:,} of {job.total:,} passages prepared"
    elif job.phase == "images":
        far = f", {job.done:,} of {job.total:,} pages" if job.total else ""
        text = f"you can ask about it now; reading text in images{far}"
    elif not job.total:
        text = "opening"
    elif job.done >= job.total:
        # Scanned pages may come next, which nobody knows before the first of them is read.
        what = "page" if job.phase == "reading" else "scanned page"
        text = f"{_all(job.total, what)} read, storing the text"
    else:
        what = "reading page" if job.phase == "reading" else "reading scanned pages,"
        text = f"{what} {job.done:,} of {job.total:,}{left_text(seconds)}"
    return f"{text}. Waiting: {job.problem}" if job.problem else text


def _all(count: int, what: str) -> str:
    return f"its one {what}" if count == 1 else f"all {count:,} {what}s"


def left_text(seconds: float | None) -> str:
    """Writes the time left as people do; "" if unknown."""
    if seconds is None or seconds < 1:
        return ""
    if math.isinf(seconds):
        return ", a few minutes left"
    if seconds < SECONDS_TOLD:
        return f", about {max(STEP, round(seconds / STEP) * STEP)} s left"
    return f", about {round(seconds / 60)} min left"


def ended_text(job: Job) -> str:
    """Says what became of a file: what there is now, or why it failed and what to do."""
    result = job.result
    name = short(job.name, 80)
    if job.phase == "cancelled":
        return (
            f"{name}: reading it again was cancelled. Nothing changed."
            if job.again
            else f"{name}: cancelled. Nothing of it was kept."
        )
    if result is None:
        return f"✓ {name}: ready."
    if job.phase == "failed":
        return (
            f"⚠ {name}: not read again. Nothing changed. {result.error}"
            if job.again
            else f"⚠ {name}: not added. {result.error}"
        )
    if result.status == "completed":
        return " ".join([f"✓ {name}: now read completely, {_counted(result)}.", *_doubts(result)])
    if result.status == "unchanged":
        return f"✓ {name}: already here, with the same content. Nothing was added."
    if result.warning and result.warning.startswith(SAME_FILE):
        return f"✓ {name}: {result.warning[0].lower()}{result.warning[1:]}"
    if job.again:
        return " ".join([f"✓ {name}: read again, {_counted(result)}.", *_doubts(result)])
    mark = "✓" if result.chunks else "⚠"
    said = f"{mark} {name}: {'added' if result.status == 'added' else 'a new version'}, {_counted(result)}."
    if result.status == "replaced":
        undo = [f"You can bring the old version back for {UNDO_DAYS} days."]
    else:
        undo = []
    return " ".join([said, *undo, *_doubts(result)])


def _counted(result: AddResult) -> str:
    ocr = f", {result.ocr_pages:,} of them scanned" if result.ocr_pages else ""
    spent = result.complete_seconds or result.seconds
    return f"{counted(result.pages, 'page')}{ocr}{f', {spent:.1f} s' if spent else ''}"


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

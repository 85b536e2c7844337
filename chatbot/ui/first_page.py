"""Draws the chat before its first question: name and promise, field for files, questions, covers and ways."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.typing import UploadedFile

from chatbot.app.app_context import AppContext
from chatbot.records import DocumentRow
from chatbot.ui import document_session, overlay
from chatbot.ui.document_jobs import draw_added
from chatbot.ui.example_questions import draw_examples, example_questions, is_sample
from chatbot.ui.model_choice import draw_invitation
from chatbot.ui.overlay import OpenPage
from chatbot.ui.page_parts import abreast, draw_quiet, draw_quiet_button
from chatbot.ui.routes import cover_address
from chatbot.ui.safe_text import plain_html, short
from ingestion.reading.formats import SUFFIXES

__all__ = ["draw_first_page"]

NAME = "Finpolicy"
PROMISE = "Ask your financial documents. Every answer shows the page to check it on."
EMPTY = "There are no documents yet. Add a report, a budget or a policy, then ask about it."
MARK = base64.b64encode(Path(__file__).with_name("static").joinpath("icon.png").read_bytes()).decode()
# The newest documents are shown by their covers.
MOST_COVERS = 6
LONGEST_TITLE = 90
DROP = "Add documents to ask about"
SAMPLES = "Valmora is made up: its documents are samples to try."


def draw_first_page(
    documents: Sequence[DocumentRow], context: AppContext, add: Callable[[list[UploadedFile]], object] | None
) -> None:
    """Draws it for these documents, those that are searched.

    add: takes files that are dropped, None where none can be.
    """
    with st.container(key="first"):
        st.html(
            f'<div class="hero"><img src="data:image/png;base64,{MARK}" alt="" width="56" height="56">'
            f'<div><p class="name">{NAME}</p><p class="promise">{PROMISE}</p></div></div>'
        )
        if documents:
            _draw_ways(context)
        else:
            draw_quiet(EMPTY)
        if add is not None:
            # It is one line below the promise where there are documents.
            with st.container(key="drop-more" if documents else "drop-first"):
                _draw_field(context, add)
        if documents:
            chatbot = context.chatbot
            draw_examples(example_questions(documents, chatbot.library, chatbot.titles()))
            _draw_covers(documents, context)
            _draw_samples(documents, context)


def _draw_ways(context: AppContext) -> None:
    """Draws the ways to what else there is."""
    with abreast(key="first-ways", gap="small"):
        st.page_link("key_figures_page.py", label="See all key figures", icon=":material/monitoring:")
        st.page_link("compare_page.py", label="Compare documents", icon=":material/table_chart:")
        draw_invitation(context, "first")


def _draw_samples(documents: Sequence[DocumentRow], context: AppContext) -> None:
    """Says that the samples are no real documents, with a button that removes them."""
    samples = [row.name for row in documents if is_sample(row.name)]
    if samples:
        with abreast(key="samples", gap="small"):
            draw_quiet(SAMPLES)
            remove = partial(_remove, samples, context)
            draw_quiet_button("Remove the samples", "samples-away", remove)


def _remove(names: Sequence[str], context: AppContext) -> None:
    for name in names:
        document_session.attempt(context.chatbot.remove, name)


def _draw_covers(documents: Sequence[DocumentRow], context: AppContext) -> None:
    """Draws the newest documents as covers that open."""
    titles = context.chatbot.titles()
    newest = sorted(documents, key=lambda row: -row.added_at)[:MOST_COVERS]
    more = len(documents) - len(newest)
    count = f"The newest {len(newest)} of {len(documents):,} documents" if more else "Your documents"
    scope = context.chatbot.library.scope([row.name for row in newest])
    versions = {name: version for version, name in scope.items()}
    shown = [(row.name, versions[row.name]) for row in newest if row.name in versions]
    covers = "".join(
        _cover_html(index, name, version, titles.get(name, name))
        for index, (name, version) in enumerate(shown)
    )
    st.html(f'<p class="quiet">{count}</p><div class="covers">{covers}</div>')


def _cover_html(index: int, name: str, version: int, title: str) -> str:
    offered = overlay.offer(f"cover-{index}", OpenPage(name, version, 1))
    return (
        f'<button type="button" class="cover" {offered} data-tip="{plain_html(name)}">'
        f'<img src="{cover_address(version)}" alt="" width="120" height="156">'
        f"<span>{plain_html(short(title, LONGEST_TITLE))}</span></button>"
    )


def _draw_field(context: AppContext, add: Callable[[list[UploadedFile]], object]) -> None:
    files = st.file_uploader(
        DROP,
        type=list(SUFFIXES),
        accept_multiple_files=True,
        key=f"first-{document_session.state().uploads}",
        max_upload_size=max(1, int(context.settings.max_upload_mb)),
    )
    if files:
        add(files)
        document_session.uploaded()
        st.rerun()
    draw_added(context)

"""Draws the frame of every page: title, navigation, what leaves this machine, and the wait for the store."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from chatbot.app.app_context import AppContext, AppOpening
from chatbot.models.addresses import endpoint_host, sees_pictures
from chatbot.settings import Settings
from chatbot.ui import address, overlay, session, uploads
from chatbot.ui.browser_scripts import add_scripts
from chatbot.ui.index_html import ADDRESSES, PAGES
from chatbot.ui.network_exposure import OPEN_WARNING, lacks_sign_in, opening
from chatbot.ui.page_parts import draw_notice, draw_problem
from chatbot.ui.page_view import draw_over
from chatbot.ui.safe_text import paragraphs_html, plain_html
from chatbot.ui.sign_in import draw_sign_in, draw_signed_in, may_enter
from chatbot.ui.streamlit_internals import begin_at_top

STATIC = Path(__file__).with_name("static")
# An opening that takes less time is not worth a page of its own.
PATIENCE_SECONDS = 1.0


def show() -> None:
    """Draws the frame and the page in it."""
    begin_at_top()
    st.set_page_config(
        page_title="Financial policy chatbot", page_icon=str(STATIC / "icon.png"), layout="centered"
    )
    _add_style()
    add_scripts()
    pages = [
        st.Page(file, title=title, icon=icon, default=path is None, url_path=path)
        for (file, title, icon), path in zip(PAGES, (None, *ADDRESSES), strict=True)
    ]
    entered = may_enter()
    page = st.navigation(pages, position="sidebar" if entered else "hidden")
    if not entered:
        uploads.turn_away()
        draw_sign_in()
        return
    uploads.admit()
    address.follow()
    if lacks_sign_in():
        draw_notice(OPEN_WARNING)
    current = opening()
    current.wait(PATIENCE_SECONDS)
    if current.error is not None:
        _cannot_open(current)
    elif current.context is None:
        _starting()
    else:
        overlay.enter(page.title)
        draw_over(current.context)
        page.run()
        _what_leaves(current.context)


def _add_style() -> None:
    """The first element that a server draws makes Streamlit look through the stack of calls, once;
    inspect.stack can fail while another thread imports modules, and the store opens at that moment.
    """
    try:
        st.html(STATIC / "style.css")
    except Exception:  # whatever a half imported module raises
        st.html(STATIC / "style.css")


@st.fragment(run_every=0.5)
def _starting() -> None:
    st.title("Starting …", anchor=False)
    st.html(paragraphs_html("The documents and the search are being opened. This takes a few seconds."))
    if opening().context is not None or opening().error is not None:
        st.rerun()


def _cannot_open(current: AppOpening) -> None:
    assert current.error is not None
    st.title("The documents cannot be opened", anchor=False)
    draw_problem(current.error)
    if st.button("Try again", type="primary"):
        opening(again=True)
        st.rerun()


def _what_leaves(context: AppContext) -> None:
    """Says in one line, always in sight, what is sent where."""
    own = context.chatbot.own.is_own(session.owner())
    lines = sent_lines(context.settings, session.settings(context), own=own)
    with st.sidebar:
        draw_signed_in()
        with st.container(key="leaves"):
            st.html("".join(f'<p class="quiet">{line}</p>' for line in lines))


def sent_lines(settings: Settings, mine: Settings, *, own: bool) -> list[str]:
    """Returns lines of HTML.

    settings: the server's, which are used for searching.
    mine: the user's, which are used for answering.
    own: whether the user chose that model, or none.
    """
    chosen = " You chose this on the Settings page." if own else ""
    lines = [f"Answers: in the documents' own words.{chosen}"]
    if mine.chat_model:
        host = f"<strong>{plain_html(endpoint_host(mine))}</strong>"
        seen = ", excerpts and pictures of pages" if sees_pictures(mine) else " and excerpts"
        model = plain_html(mine.chat_model)
        lines = [f"Answers: questions, earlier exchanges{seen} go to {host} ({model}).{chosen}"]
    if not settings.embeds_here:
        host = f"<strong>{plain_html(endpoint_host(settings))}</strong>"
        model = plain_html(settings.embedding_model)
        lines += [f"Search: all text of the documents and every question go to {host} ({model})."]
    if settings.offline:
        lines += ["Offline: nothing leaves this machine, whatever else is set."]
    elif len(lines) == 1 and not mine.chat_model:
        lines += ["Nothing leaves this machine."]
    return lines


if __name__ == "__main__":
    show()

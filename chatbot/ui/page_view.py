"""One page of a document in a dialog, with the passage marked; decides nothing about citations."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from chatbot.errors import EncryptedError, ProjectError
from chatbot.records import PageRef
from chatbot.store.catalog import StoredPage
from chatbot.ui import session
from chatbot.ui.scroll import scroll_to_mark
from chatbot.ui.session import OpenPage
from chatbot.ui.shared import House
from chatbot.ui.text import notice_html, page_text, paragraphs_html, plain_markdown, short, visible

__all__ = ["show_open_page"]

LONGEST_QUOTE = 600
# Pixels; style.css makes room for it beside the answer.
WIDTH = 640


def show_open_page(house: House) -> None:
    """Open the dialog where a page was asked for in this run."""
    opened = session.lying_open()
    if opened is None:
        return
    title = plain_markdown(short(opened.document, 70))
    st.dialog(title, width=WIDTH, position="right", on_dismiss=session.close_page)(_page)(house)


def _page(house: House) -> None:
    opened = session.lying_open()
    if opened is None:
        return
    around = house.chatbot.library.catalog.pages(opened.version, [opened.page - 1, opened.page, opened.page + 1])
    stored = around.get(opened.page)
    if stored is None:
        st.html(notice_html("This page is not there any more: its document was removed or replaced."))
        return
    _leaf(opened, stored, opened.page - 1 in around, opened.page + 1 in around)
    quote = opened.quote if opened.page == opened.quoted else ""
    try:
        image = house.images.get(opened.version, opened.page, quote, session.password_for(opened.version))
    except EncryptedError as error:
        _ask_password(opened, error)
        return
    except ProjectError as error:
        st.html(notice_html(error.message, error.hint))
        return
    if quote:
        _passage(quote, image.top is not None)
    st.image(image.png, width="stretch", alt=visible(f"{opened.document}, {_named(stored)}"))
    st.caption(_how_read(stored))
    if image.top is not None:
        scroll_to_mark(image.top)


def _ask_password(opened: OpenPage, error: EncryptedError) -> None:
    """A protected file is searched by what was read of it; to look at a page its password is needed, in this session only."""
    tried = session.password_for(opened.version) is not None
    said = error.message if tried else "This file is protected: its text was kept, its pages are shown with the password only."
    st.html(notice_html(said, "The password is kept for this session only and never stored."))
    with st.form("unlock-page", border=False, clear_on_submit=True):
        password = st.text_input("Password", type="password", key="page-password")
        if st.form_submit_button("Show the page") and password:
            session.keep_password(opened.version, password)
            st.rerun()


def _leaf(opened: OpenPage, stored: StoredPage, has_previous: bool, has_next: bool) -> None:
    """The row to turn pages with."""
    left, middle, right = st.container(key="leaf").columns([1, 2, 1], vertical_alignment="center")
    left.button("Previous page", key="page-previous", disabled=not has_previous, on_click=_turn, args=(opened, -1), width="stretch")
    dark = " dark" if st.context.theme.type == "dark" else ""
    middle.html(f'<p class="leaf{dark}">{_named(stored)}</p>')
    right.button("Next page", key="page-next", disabled=not has_next, on_click=_turn, args=(opened, 1), width="stretch")


def _turn(opened: OpenPage, by: int) -> None:
    session.open_page(replace(opened, page=opened.page + by))


def _named(stored: StoredPage) -> str:
    return page_text(PageRef("", stored.number, stored.label)).replace("p. ", "Page ", 1)


def _passage(quote: str, located: bool) -> None:
    words = " ".join(quote.split())
    words = words if len(words) <= LONGEST_QUOTE else words[:LONGEST_QUOTE] + " …"
    said = "Marked on the page below:" if located else "⚠ This passage could not be located on the page, so nothing is marked:"
    st.html(f'<div class="passage{"" if located else " missing"}"><strong>{said}</strong>{paragraphs_html(words)}</div>')


def _how_read(stored: StoredPage) -> str:
    """One line on where text and number of the page come from."""
    text = {
        "text": "Text taken from the PDF.",
        "text-pypdf": "Text taken from the PDF by its second reader.",
        "text+ocr": f"Text taken from the PDF, and read from pictures on the page by OCR, confidence {stored.confidence or 0:.0f} of 100.",
        "ocr": f"Text read from the page's image by OCR, confidence {stored.confidence or 0:.0f} of 100.",
    }.get(stored.method, "No text was found on this page.")
    label = {"printed": "Its printed number stands in the page's header or footer.", "pdf": "Its number comes from the PDF's own page labels."}
    return f"{text} {label.get(stored.label_source or '', 'It has no printed number.')}"

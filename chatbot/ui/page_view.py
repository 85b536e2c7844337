"""Draws one page of a document in a pane beside what cites it, with the cited passage marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.marked_pages import PageImage
from chatbot.errors import EncryptedError, ProjectError
from chatbot.records import PageRef
from chatbot.search.document_description import described
from chatbot.search.sections import Section
from chatbot.store.catalog import StoredPage
from chatbot.ui import overlay
from chatbot.ui.browser_scripts import scroll_to_mark
from chatbot.ui.document_session import follow_address, write_open
from chatbot.ui.overlay import OpenPage
from chatbot.ui.page_parts import abreast, draw_notice, draw_problem, draw_quiet, draw_quiet_button
from chatbot.ui.routes import image_address, original_address
from chatbot.ui.safe_text import (
    page_text,
    paragraphs_html,
    plain_html,
    plain_markdown,
    quiet_html,
    short,
)
from ingestion.invisible_characters import one_line, visible
from ingestion.language.list_items import DRAWN_AS
from ingestion.reading.formats import MADE

__all__ = ["draw_over"]

LONGEST_QUOTE, LONGEST_PART = 600, 60
# Keys: whether the outline is shown, and the field that takes what was pressed.
OUTLINE, PRESSED = "outline", "page-to-open"
# Pixels that are left for the page between the pane's edges. style.css makes room for it beside the answer.
WIDTH_INSIDE = 592
# Zoom levels, as shares of that width: the whole page, as large as print, as under a magnifier.
ZOOMS = (1.0, 1.5, 2.0, 3.0)
_row = partial(abreast, gap="xsmall")


def draw_over(context: AppContext) -> None:
    """Draws what lies over a page: a document's page in the pane, or a dialog. To be called first."""
    if overlay.is_on("Documents"):
        follow_address(context)
    _pane(context)
    if (asked := overlay.dialog()) is not None:
        wanted, one = asked
        opened = st.dialog(wanted.title, width=wanted.width, on_dismiss=overlay.close_dialog)
        opened(wanted.draw)(one, context)


@st.fragment
def _pane(context: AppContext) -> None:
    """A fragment, so that a page opens without drawing what is below it again."""
    # Never shown: static/interaction.js writes into it what was pressed.
    st.text_input("Page to open", key=PRESSED, on_change=_open)
    opened = overlay.lying_open()
    write_open(opened)
    if opened is not None:
        with st.container(key="pane"):
            _page(opened, context)


def _open() -> None:
    overlay.open_offered(str(st.session_state[PRESSED]).partition(" ")[0])


def _page(opened: OpenPage, context: AppContext) -> None:
    catalog = context.chatbot.library.catalog
    stored = catalog.pages(opened.version, [opened.page]).get(opened.page)
    version = catalog.version(opened.version)
    if stored is None or version is None:
        _head(opened, context)
        draw_notice("This page is gone. Its document was removed or replaced.")
        return
    with st.container(key="leaf"):
        _head(opened, context)
        _leaf(opened, stored, version.pages)
        _passages(opened)
    _draw_outline(opened, context)
    quote = opened.quote if opened.page == opened.quoted else ""
    password = overlay.password_for(opened.version)
    try:
        image = context.images.get(
            opened.version, opened.page, quote, opened.start, password, zoom=overlay.zoom()
        )
    except EncryptedError as error:
        _ask_password(opened, error)
        return
    except ProjectError as error:
        draw_problem(error)
        return
    if quote:
        _passage(quote, image)
    with st.container(key="page-image"):
        address = image_address(context, opened.version, image)
        said = f"{context.chatbot.title(opened.document)}, {_named(stored)}"
        st.html(_image_html(address, image, visible(said)))
    made = context.chatbot.library.file_to_read(opened.version).suffix == MADE
    where = f"page {opened.page:,} of the PDF made from {opened.document}" if made else opened.document
    how = _how_read(stored)
    st.caption(f"{plain_markdown(where)}{f': {how}' if how else ''}")
    if image.top is not None:
        scroll_to_mark(image.top)


def _image_html(address: str, image: PageImage, described: str) -> str:
    """Reserves the image's size before it has loaded, so that nothing jumps when it comes."""
    width, height = image.size
    wide = f"{round(WIDTH_INSIDE * overlay.zoom())}px" if overlay.zoom() > 1 else "100%"
    return (
        f'<img src="{address}" width="{width}" height="{height}" style="width: {wide}; height: auto" '
        f'alt="{escape(described)}">'
    )


def _ask_password(opened: OpenPage, error: EncryptedError) -> None:
    """Asks for the password of a protected file.

    Its text can be searched without it; looking at a page needs the password, in this session only.
    """
    tried = overlay.password_for(opened.version) is not None
    said = error.message if tried else "This file is protected. Its pages are shown with the password only."
    draw_notice(said, "The password is kept for this session only and never stored.")
    with st.form("unlock-page", border=False, clear_on_submit=True):
        password = st.text_input("Password", type="password", key="page-password")
        if st.form_submit_button("Show the page") and password:
            overlay.keep_password(opened.version, password)
            st.rerun()


def _head(opened: OpenPage, context: AppContext) -> None:
    """Draws the row with the document's title, its outline, and the button that closes the pane."""
    # On a narrow page the pane is a sheet that is pulled down by this.
    st.html('<div class="handle" aria-hidden="true"></div>')
    with _row(horizontal_alignment="distribute", wrap=False, key="pane-head"):
        title = plain_html(short(context.chatbot.title(opened.document), 70))
        st.html(f'<h2 class="pane-title" data-tip="{plain_html(opened.document)}">{title}</h2>')
        _small("Outline", "pane-outline", "toc", _show_outline, not st.session_state.get(OUTLINE))
        _small("Close the page", "pane-close", "close", overlay.close_page)


def _draw_outline(opened: OpenPage, context: AppContext) -> None:
    """Draws the document's parts, each of which turns to its page, if they were asked for."""
    if not st.session_state.get(OUTLINE):
        return
    kept: dict[int, Sequence[Section]] = st.session_state.setdefault("outlines", {})
    if opened.version not in kept:
        title = context.chatbot.title(opened.document)
        kept[opened.version] = described(context.chatbot.library, opened.version, title).parts
    with st.container(key="outline-parts", gap=None):
        for number, part in enumerate(kept[opened.version]):
            label = f"{plain_markdown(short(part.title, LONGEST_PART))} · p.\u00a0{part.page}"
            to = OpenPage(opened.document, opened.version, part.page)
            draw_quiet_button(label, f"part-{number}", _turn_to_part, to)
        if not kept[opened.version]:
            draw_quiet("No headings were found in this document.")


def _turn_to_part(page: OpenPage) -> None:
    overlay.turn_to(page)
    _show_outline(False)


def _show_outline(shown: bool) -> None:
    st.session_state[OUTLINE] = shown


def _leaf(opened: OpenPage, stored: StoredPage, pages: int) -> None:
    """Draws the row to turn pages, to enlarge them, and to open the PDF itself."""
    with _row(horizontal_alignment="distribute"):
        with _row(width="content", key="leaf-pages"):
            turn, first, last = overlay.turn_page, opened.page <= 1, opened.page >= pages
            _small("Previous page", "page-previous", "chevron_left", turn, -1, off=first, key="Left")
            st.html(f'<p class="leaf">{_named(stored)} of {pages:,}</p>', width="content")
            _small("Next page", "page-next", "chevron_right", turn, 1, off=last, key="Right")
        with _row(width="content", key="leaf-size"):
            at = ZOOMS.index(overlay.zoom())
            smaller, larger = ZOOMS[max(0, at - 1)], ZOOMS[min(len(ZOOMS) - 1, at + 1)]
            _small("Smaller", "page-smaller", "zoom_out", overlay.set_zoom, smaller, off=at == 0)
            _small("Larger", "page-larger", "zoom_in", overlay.set_zoom, larger, off=at == len(ZOOMS) - 1)
            st.link_button(
                "Original file",
                original_address(opened.version, opened.document, opened.page),
                icon=":material/open_in_new:",
                type="tertiary",
                help="Opens the file itself at this page, or saves it where a browser cannot show it",
            )


def _passages(opened: OpenPage) -> None:
    """Draws the row that leads to the other passages of the same answer; nothing if there are none."""
    among = overlay.lying_among()
    if len(among) < 2:
        return
    at = max(0, opened.number - 1)
    is_there = opened.page == opened.quoted and opened.version == among[at].version
    said = f"Citation {opened.number} of {len(among)}{'' if is_there else ', on another page'}"
    with _row(key="leaf-passages"):
        before, after = among[at - 1], among[(at + 1) % len(among)]
        _small("Previous citation", "passage-previous", "arrow_upward", overlay.turn_to, before, key="K")
        _small("Next citation", "passage-next", "arrow_downward", overlay.turn_to, after, key="J")
        st.html(quiet_html(said), width="content")


def _small(
    label: str,
    name: str,
    icon: str,
    do: Callable[..., None],
    *given: object,
    off: bool = False,
    key: str = "",
) -> None:
    """Draws a button with only an icon, with a name for users who cannot see it.

    given: to `do`. off: whether there is nothing to do. key: on the keyboard.
    """
    said = f"{label} (key {key})" if key else label
    draw_quiet_button(
        said, name, do, *given, icon=f":material/{icon}:", help=said, disabled=off, shortcut=key or None
    )


def _named(stored: StoredPage) -> str:
    return page_text(PageRef("", stored.number, stored.label), "Page ")


def _passage(quote: str, image: PageImage) -> None:
    words = one_line(quote.translate(DRAWN_AS), most=LONGEST_QUOTE)
    if image.top is not None:
        style, heading = "passage", "Marked on the page below:"
    elif image.beside:
        style, heading = "passage", "Belongs to the page below, which does not show it:"
    else:
        style = "passage missing"
        heading = "⚠ This passage could not be located on the page, so nothing is marked:"
    st.html(f'<div class="{style}"><strong>{heading}</strong>{paragraphs_html(words)}</div>')


def _how_read(stored: StoredPage) -> str:
    """Says in one line where the text of the page comes from, "" where that is plain text of the PDF."""
    if "!" in (stored.label or ""):  # as printed_label has it
        return f"The cells {stored.label}, as they are shown."
    return {
        "text": "",
        "text-pypdf": "",
        "text+ocr": f"Its pictures were read by OCR, confidence {stored.confidence or 0:.0f} of 100.",
        "ocr": f"Text read from the page's image by OCR, confidence {stored.confidence or 0:.0f} of 100.",
    }.get(stored.method, "No text was found on this page.")

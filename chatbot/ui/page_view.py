"""Draws one page of a document in a pane beside what cites it, with the cited passage marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from chatbot.ui.overlay import OpenPage
from chatbot.ui.routes import image_address, original_address
from chatbot.ui.safe_text import (
    notice_html,
    page_text,
    paragraphs_html,
    plain_html,
    plain_markdown,
    quiet_html,
    short,
)
from chatbot.ui.streamlit_internals import is_part_run
from ingestion.invisible_characters import one_line, visible
from ingestion.language.list_items import DRAWN_AS
from ingestion.reading.formats import MADE

__all__ = ["show_open_page"]

LONGEST_QUOTE, LONGEST_PART = 600, 60
OUTLINE = "outline"
# Pixels that are left for the page between the pane's edges. style.css makes room for it beside the answer.
WIDTH_INSIDE = 592
# Zoom levels, as shares of that width: the whole page, as large as print, as under a magnifier.
ZOOMS = (1.0, 1.5, 2.0, 3.0)


def _nothing(_: OpenPage) -> None:
    pass


def show_open_page(
    context: AppContext, *, place: str = "", shown: Callable[[OpenPage], None] = _nothing
) -> None:
    """Draws the pane if a page was opened from this place, and it stays until it is closed.

    place: the part of the page that calls this, "" for the page itself.
    shown: called with each page that is turned to.
    """
    if overlay.lying_open() is None or overlay.opened_from() != place:
        return
    if overlay.moved(place) and is_part_run():
        st.rerun()  # or the pane of another part would stay beside this one
    st.fragment(_pane)(context, place, shown)


def _pane(context: AppContext, place: str, shown: Callable[[OpenPage], None]) -> None:
    opened = overlay.lying_open()
    if opened is not None:
        with st.container(key="pane"):
            _page(opened, context, shown)
    elif not place:
        st.rerun()  # the page itself has more to draw anew, such as its address


def _page(opened: OpenPage, context: AppContext, shown: Callable[[OpenPage], None]) -> None:
    shown(opened)
    catalog = context.chatbot.library.catalog
    around = catalog.pages(opened.version, [opened.page - 1, opened.page, opened.page + 1])
    stored = around.get(opened.page)
    version = catalog.version(opened.version)
    if stored is None or version is None:
        _head(opened, context)
        st.html(notice_html("This page is gone. Its document was removed or replaced."))
        return
    with st.container(key="leaf"):
        _head(opened, context)
        _leaf(opened, stored, version.pages)
        _passages(opened)
    _draw_outline(opened, context)
    if opened.page == opened.quoted:
        quote = opened.quote
    else:
        quote = ""
    try:
        image = context.images.get(
            opened.version,
            opened.page,
            quote,
            opened.start,
            overlay.password_for(opened.version),
            zoom=overlay.zoom(),
        )
    except EncryptedError as error:
        _ask_password(opened, error)
        return
    except ProjectError as error:
        st.html(notice_html(error.message, error.hint))
        return
    if quote:
        _passage(quote, image)
    with st.container(key="page-image"):
        st.html(
            _image_html(
                image_address(context, opened.version, image),
                image,
                visible(f"{context.chatbot.title(opened.document)}, {_named(stored)}"),
            )
        )
    made = context.chatbot.library.file_to_read(opened.version).suffix == MADE
    where = f"page {opened.page:,} of the PDF made from {opened.document}" if made else opened.document
    st.caption(f"{plain_markdown(where)}: {_how_read(stored)}")
    if image.top is not None:
        scroll_to_mark(image.top)


def _image_html(address: str, image: PageImage, described: str) -> str:
    """Reserves the image's size before it has loaded, so that nothing jumps when it comes."""
    width, height = image.size
    if overlay.zoom() > 1:
        wide = f"{round(WIDTH_INSIDE * overlay.zoom())}px"
    else:
        wide = "100%"
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
    st.html(notice_html(said, "The password is kept for this session only and never stored."))
    with st.form("unlock-page", border=False, clear_on_submit=True):
        password = st.text_input("Password", type="password", key="page-password")
        if st.form_submit_button("Show the page") and password:
            overlay.keep_password(opened.version, password)
            st.rerun()


def _head(opened: OpenPage, context: AppContext) -> None:
    """Draws the row with the document's title, its outline, and the button that closes the pane."""
    # On a narrow page the pane is a sheet that is pulled down by this.
    st.html('<div class="handle" aria-hidden="true"></div>')
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="xsmall",
        horizontal_alignment="distribute",
        wrap=False,
        key="pane-head",
    ):
        title = plain_html(short(context.chatbot.title(opened.document), 70))
        st.html(f'<h2 class="pane-title" data-tip="{plain_html(opened.document)}">{title}</h2>')
        _small("Outline", "pane-outline", "toc", _switch_outline)
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
            st.button(label, key=f"part-{number}", type="tertiary", on_click=_turn_to_part, args=(to,))
        if not kept[opened.version]:
            st.html(quiet_html("No headings were found in this document."))


def _turn_to_part(page: OpenPage) -> None:
    overlay.turn_to(page)
    _switch_outline()


def _switch_outline() -> None:
    st.session_state[OUTLINE] = not st.session_state.get(OUTLINE)


def _leaf(opened: OpenPage, stored: StoredPage, pages: int) -> None:
    """Draws the row to turn pages, to enlarge them, and to open the PDF itself."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", horizontal_alignment="distribute"
    ):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="leaf-pages"
        ):
            _small(
                "Previous page",
                "page-previous",
                "chevron_left",
                overlay.turn_page,
                -1,
                disabled=opened.page <= 1,
                shortcut="Left",
            )
            st.html(f'<p class="leaf">{_named(stored)} of {pages:,}</p>', width="content")
            _small(
                "Next page",
                "page-next",
                "chevron_right",
                overlay.turn_page,
                1,
                disabled=opened.page >= pages,
                shortcut="Right",
            )
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="leaf-size"
        ):
            at = ZOOMS.index(overlay.zoom())
            _small(
                "Smaller",
                "page-smaller",
                "zoom_out",
                overlay.set_zoom,
                ZOOMS[max(0, at - 1)],
                disabled=at == 0,
            )
            _small(
                "Larger",
                "page-larger",
                "zoom_in",
                overlay.set_zoom,
                ZOOMS[min(len(ZOOMS) - 1, at + 1)],
                disabled=at == len(ZOOMS) - 1,
            )
            address = original_address(opened.version, opened.document, opened.page)
            st.link_button(
                "Original file",
                address,
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
    if opened.page == opened.quoted and opened.version == among[at].version:
        away = ""
    else:
        away = ", on another page"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="leaf-passages"):
        before = among[(at - 1) % len(among)]
        after = among[(at + 1) % len(among)]
        _small(
            "Previous citation",
            "passage-previous",
            "arrow_upward",
            overlay.turn_to,
            before,
            shortcut="K",
        )
        _small("Next citation", "passage-next", "arrow_downward", overlay.turn_to, after, shortcut="J")
        st.html(
            f'<p class="quiet">Citation {opened.number} of {len(among)}{away}</p>',
            width="content",
        )


def _small(
    label: str,
    key: str,
    icon: str,
    do: Callable[..., None],
    *arguments: object,
    disabled: bool = False,
    shortcut: str | None = None,
) -> None:
    """Draws a button with only an icon, with a name for users who cannot see it."""
    said = f"{label} (key {shortcut})" if shortcut else label
    st.button(
        said,
        key=key,
        icon=f":material/{icon}:",
        type="tertiary",
        help=said,
        on_click=do,
        args=arguments,
        disabled=disabled,
        shortcut=shortcut,
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
    """Says in one line where the text of the page comes from."""
    if "!" in (stored.label or ""):  # as printed_label has it
        return f"The cells {stored.label}, as they are shown."
    return {
        "text": "Text taken from the PDF.",
        "text-pypdf": "Text taken from the PDF.",
        "text+ocr": (
            f"Text taken from the PDF, and read from its pictures by OCR, confidence "
            f"{stored.confidence or 0:.0f} of 100."
        ),
        "ocr": f"Text read from the page's image by OCR, confidence {stored.confidence or 0:.0f} of 100.",
    }.get(stored.method, "No text was found on this page.")

"""The pane with a page of a document, without a browser: what it says of where its text is from."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from chatbot.app.app_context import AppContext
from chatbot.store.library import Upload


def one_page(version: int, quote: str = "") -> None:
    """A page of a document, opened at a quotation of it."""
    from chatbot.ui import network_exposure, overlay, page_view
    from chatbot.ui.overlay import OpenPage

    context = network_exposure.opening().context
    assert context is not None
    overlay.open_page(OpenPage("note.txt", version, 1, quote, 1))
    page_view.draw_over(context)


def test_a_page_of_a_made_pdf_says_what_it_was_made_from(context: AppContext, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("The deficit ceiling is three per cent of output.")
    (result,) = context.chatbot.add([Upload(note)])
    app = AppTest.from_function(one_page, args=(result.version,), default_timeout=60).run()
    assert not app.exception
    said = [element.value for element in app.caption]
    assert said == [r"page 1 of the PDF made from note\.txt"]


def test_a_page_of_cells_says_which_they_are(context: AppContext, tmp_path: Path) -> None:
    rates = tmp_path / "rates.csv"
    rates.write_text("Country,2024\nNorland,4.25\n")
    (result,) = context.chatbot.add([Upload(rates)])
    app = AppTest.from_function(one_page, args=(result.version,), default_timeout=60).run()
    assert not app.exception
    (said,) = [element.value for element in app.caption]
    assert said.endswith(": The cells rates!A1:B2, as they are shown.")


def test_the_bullets_of_symbol_fonts_are_shown_as_bullets(context: AppContext, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Trips are approved by the Treasurer.")
    (result,) = context.chatbot.add([Upload(note)])
    quote = "\uf0b7 Trips are approved by the Treasurer."
    app = AppTest.from_function(one_page, args=(result.version, quote), default_timeout=60).run()
    assert not app.exception
    shown = " ".join(element.proto.body for element in app.get("html"))
    assert "• Trips are approved" in shown and "\uf0b7" not in shown

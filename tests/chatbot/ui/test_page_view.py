"""The dialog of a page, without a browser: what its title says is the document that is shown."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def turned() -> None:
    """A dialog titled with one document, in which a citation has led to another."""
    import streamlit as st

    from chatbot.ui import overlay, page_view
    from chatbot.ui.overlay import OpenPage

    if "drawn" in st.session_state:
        st.write("The whole page is drawn again.")
    else:
        st.session_state["drawn"] = True
        overlay.open_page(OpenPage("Rules.pdf", 1, 1))
        page_view._page(None, lambda opened: None, "Fees.pdf")  # type: ignore[arg-type]
        st.write("Not reached.")


def test_a_citation_of_another_document_has_the_dialog_titled_anew() -> None:
    app = AppTest.from_function(turned, default_timeout=60).run()
    assert not app.exception
    assert [element.value for element in app.markdown] == ["The whole page is drawn again."]

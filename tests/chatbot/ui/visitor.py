"""What a visitor does on a page beyond clicking: asks, fills in fields, turns switches; knows no test."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.pages import shown

__all__ = ["ask", "enter", "switch", "write"]


def ask(app: AppTest, question: str) -> str:
    """What the page says after a question."""
    app.chat_input[0].set_value(question).run()
    assert not app.exception
    return shown(app)


def write(app: AppTest, key: str, text: str) -> None:
    """Fill in a field of one line, which is read at the next click."""
    app.text_input(key=key).set_value(text)


def enter(app: AppTest, key: str, text: str) -> str:
    """What the page says after a field of one line was filled in and left."""
    app.text_input(key=key).set_value(text).run()
    assert not app.exception
    return shown(app)


def switch(app: AppTest, key: str, *, on: bool) -> str:
    """What the page says after a switch was turned."""
    app.toggle(key=key).set_value(on).run()
    assert not app.exception
    return shown(app)

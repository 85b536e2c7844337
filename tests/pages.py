"""Pages without a browser, as Streamlit's own tests draw them: a chatbot to draw them over, a visit to
one, what it says and what can be clicked on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from chatbot import ui
from chatbot.app import app_context
from chatbot.app.app_context import AppContext
from chatbot.settings import load_settings

MAIN = str(Path(ui.__file__).with_name("main.py"))
# The marks of two browsers.
ME, OTHER = "m" * 22, "o" * 22


@contextmanager
def open_context(home: Path) -> Iterator[AppContext]:
    """The chatbot that the pages show, over a store in `home`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FINPOLICY_HOME", str(home))
        opening = app_context.opening(load_settings)
        opening.wait(60)
        assert opening.context is not None, opening.error
        yield opening.context
        app_context.close()


def visit(
    page: str = "",
    *,
    conversation: str = "",
    address: Mapping[str, str | list[str]] | None = None,
    owner: str = ME,
) -> AppTest:
    """A page as a browser sees it first. page: the name of its file, "" for the Chat page, at `conversation`.
    address: what stands behind the "?" of another."""
    app = AppTest.from_file(MAIN, default_timeout=60)
    app.session_state["owner"] = owner
    if conversation:
        app.query_params["c"] = conversation
    if page:
        app.run()
    for name, value in (address or {}).items():
        app.query_params[name] = value
    if page:
        app.switch_page(page)
    app.run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    """Everything that the page says."""
    kinds = ("html", "caption", "title", "error", "warning", "info")
    return "\n".join(
        str(element.value if hasattr(element, "value") else element.proto.body)
        for kind in kinds
        for element in app.get(kind)
    )


def keys(app: AppTest, beginning: str) -> list[str]:
    """The keys of the buttons that begin so."""
    return [button.key for button in app.button if button.key and button.key.startswith(beginning)]


def click(app: AppTest, key: str) -> str:
    """What the page says after a click."""
    app.button(key=key).click().run()
    assert not app.exception
    return shown(app)


def offered(app: AppTest, beginning: str) -> list[str]:
    """The keys that begin so, of the buttons that open pages of documents."""
    return re.findall(rf'data-open="({beginning}[^"]*)"', shown(app))


def press(app: AppTest, key: str) -> str:
    """What the page says after the button of this key was pressed, as the page's script does it."""
    app.text_input(key="page-to-open").set_value(f"{key} 1").run()
    assert not app.exception
    return shown(app)

"""The pages over a real store, without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatbot.app.app_context import AppContext
from chatbot.store.library import Upload
from tests.pages import open_context
from tests.pdfs import make_pdf


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    """A chatbot with one document."""
    folder = tmp_path_factory.mktemp("chatbot")
    with open_context(folder / "home") as opened:
        path = make_pdf(folder / "Rules.pdf", ["The deficit ceiling is three per cent of output."])
        list(opened.chatbot.add([Upload(path)]))
        yield opened

"""The pages' house over a real store, without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatbot.store.library import Upload
from chatbot.ui import shared
from chatbot.ui.shared import House
from tests.pdfs import make_pdf


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house with one document."""
    folder = tmp_path_factory.mktemp("house")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FINPOLICY_HOME", str(folder / "home"))
        opening = shared.opening()
        opening.wait(60)
        assert opening.house is not None, opening.error
        path = make_pdf(folder / "Rules.pdf", ["The deficit ceiling is three per cent of output."])
        list(opening.house.chatbot.add([Upload(path)]))
        yield opening.house
        shared.close()

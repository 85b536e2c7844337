"""Marked pages: the mark covers the passage and leaves the letters readable; few are kept, and none of
what is gone.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from chatbot.errors import NotFoundError
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from chatbot.ui import images
from chatbot.ui.images import PageImages, mark
from ingestion.records import Rect
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf


def png(page: Image.Image) -> bytes:
    output = io.BytesIO()
    page.save(output, "PNG")
    return output.getvalue()


def test_the_mark_is_where_the_passage_is_and_black_stays_black() -> None:
    page = Image.new("RGB", (100, 100), "white")
    page.putpixel((50, 50), (0, 0, 0))
    marked = Image.open(io.BytesIO(mark(png(page), [Rect(0.4, 0.4, 0.6, 0.6)]))).convert("RGB")
    assert marked.getpixel((45, 45)) == images.YELLOW
    assert marked.getpixel((50, 50)) == (0, 0, 0)
    assert marked.getpixel((10, 10)) == (255, 255, 255)


def test_nothing_to_mark_leaves_the_image_as_it_is() -> None:
    assert mark(b"any bytes", ()) == b"any bytes"


@pytest.fixture
def chatbot(tmp_path: Path) -> Iterator[Chatbot]:
    path = make_pdf(
        tmp_path / "Rules.pdf",
        ["The deficit ceiling is three per cent.", "The debt anchor is sixty per cent."],
    )
    with Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder()) as made:
        list(made.add([Upload(path)]))
        yield made


def test_pages_are_kept_while_their_document_is(chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
    (version,) = chatbot.library.scope([])
    pages = PageImages(chatbot)
    found = pages.get(version, 1, "ceiling is three")
    assert found.top is not None
    assert 0.05 < found.top < 0.1
    assert pages.get(version, 1, "ceiling is three") is found
    assert pages.get(version, 2, "ceiling is three").top is None
    monkeypatch.setattr(images, "MOST_IMAGES", 1)
    pages.get(version, 2, "")
    assert pages.get(version, 1, "ceiling is three") is not found
    chatbot.remove("Rules.pdf", purge=True)
    with pytest.raises(NotFoundError):
        pages.get(version, 1, "ceiling is three")


def test_an_image_is_lent_while_its_document_is_there_and_few_are(
    chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (version,) = chatbot.library.scope([])
    pages = PageImages(chatbot)
    first, second = pages.get(version, 1, ""), pages.get(version, 2, "")
    assert Image.open(io.BytesIO(first.png)).size == first.size
    names = [pages.lend(version, image) for image in (first, second)]
    assert [pages.lent(name) for name in names] == [first.png, second.png]
    monkeypatch.setattr(images, "MOST_BYTES", len(first.png))
    assert pages.lend(version, first) == names[0]
    assert [pages.lent(name) for name in names] == [first.png, None]
    chatbot.remove("Rules.pdf", purge=True)
    assert pages.lent(names[0]) is None

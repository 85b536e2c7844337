"""Marked pages: the mark covers the passage and leaves the letters readable; few are kept, and none of
what is gone.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from chatbot.app import marked_pages
from chatbot.app.marked_pages import PageImages
from chatbot.errors import NotFoundError
from chatbot.evidence import page_marks
from chatbot.evidence.page_marks import mark
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
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
    passage = Rect(0.4, 0.4, 0.6, 0.6)
    data = io.BytesIO(mark(png(page), [passage]))
    marked = Image.open(data).convert("RGB")
    assert marked.getpixel((45, 45)) == page_marks.YELLOW
    assert marked.getpixel((50, 50)) == (0, 0, 0)
    assert marked.getpixel((10, 10)) == (255, 255, 255)


def test_what_the_page_does_not_show_is_not_marked(chatbot: Chatbot, tmp_path: Path) -> None:
    mail = b"Subject: Ceilings\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nSee the annex.\n"
    part = b"--x\nContent-Disposition: attachment; filename=logo.png\n\npicture\n--x--\n"
    path = tmp_path / "Ceilings.eml"
    path.write_bytes(mail + part)
    (result,) = chatbot.add([Upload(path)])
    pages = PageImages(chatbot)
    beside = pages.get(result.version, 1, "[attached file, not read] logo.png.")
    assert (beside.top, beside.beside) == (None, True)
    assert beside.png == pages.get(result.version, 1, "").png
    assert not pages.get(result.version, 1, "words that stand nowhere").beside
    shown = pages.get(result.version, 1, "See the annex.")
    assert shown.top is not None and not shown.beside


def test_nothing_to_mark_leaves_the_image_as_it_is() -> None:
    assert mark(b"any bytes", ()) == b"any bytes"


@pytest.fixture
def chatbot(tmp_path: Path) -> Iterator[Chatbot]:
    pages = ["The deficit ceiling is three per cent.", "The debt anchor is sixty per cent."]
    path = make_pdf(tmp_path / "Rules.pdf", pages)
    settings = Settings(home=tmp_path / "home")
    with Chatbot(settings, embedder=HashEmbedder()) as made:
        list(made.add([Upload(path)]))
        yield made


def test_pages_are_kept_while_their_document_is(chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
    (version,) = chatbot.library.scope([])
    pages, words = PageImages(chatbot), "ceiling is three"
    found = pages.get(version, 1, words)
    assert found.top is not None
    assert 0.05 < found.top < 0.1
    assert pages.get(version, 1, words) is found
    assert pages.get(version, 2, words).top is None
    monkeypatch.setattr(marked_pages, "MOST_IMAGES", 1)
    pages.get(version, 2, "")
    assert pages.get(version, 1, words) is not found
    chatbot.remove("Rules.pdf", purge=True)
    with pytest.raises(NotFoundError):
        pages.get(version, 1, words)


def test_an_image_is_lent_while_its_document_is_there_and_few_are(
    chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (version,) = chatbot.library.scope([])
    pages = PageImages(chatbot)
    first, second = pages.get(version, 1, ""), pages.get(version, 2, "")
    drawn = Image.open(io.BytesIO(first.png))
    assert drawn.size == first.size
    name, second_name = pages.lend(version, first), pages.lend(version, second)
    assert pages.lent(name) == first.png
    assert pages.lent(second_name) == second.png
    monkeypatch.setattr(marked_pages, "MOST_BYTES", len(first.png))
    assert pages.lend(version, first) == name
    assert pages.lent(name) == first.png
    assert pages.lent(second_name) is None
    chatbot.remove("Rules.pdf", purge=True)
    assert pages.lent(name) is None

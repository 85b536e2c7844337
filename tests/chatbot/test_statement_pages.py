"""A measure is read from its statement, however many other pages speak of it."""

from pathlib import Path

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder
from tests.ingestion.pages.test_kinds import US_INCOME
from tests.pdfs import make_pdf

SEGMENT = """Segment {name}: revenues
The revenues of fiscal 2023 rose. Revenues of {name} in fiscal 2023 were higher than revenues in fiscal 2022.
(in millions)                 2023        2022
Revenues                    $   {value}     $   90
"""
QUESTION = "What were the revenues of the company in fiscal 2023?"


def test_the_statement_is_among_the_pages_of_a_measure_that_segments_speak_of_more(tmp_path: Path) -> None:
    pages = [SEGMENT.format(name=f"region {number}", value=100 + number) for number in range(8)]
    path = make_pdf(tmp_path / "Filing.pdf", [*pages, US_INCOME])
    with Chatbot(Settings(home=tmp_path), embedder=HashEmbedder(dimension=64)) as chatbot:
        (added,) = chatbot.add([Upload(path)])
        assert not added.error
        found = [hit.page for hit in chatbot.search(QUESTION, k=4)]
        *_, answer = chatbot.ask(Ask(QUESTION))
    assert 9 not in found  # or the test shows nothing
    assert isinstance(answer, Answer)
    assert answer.prompt is not None
    assert 9 in {hit.page for hit in answer.prompt.sources.values()}

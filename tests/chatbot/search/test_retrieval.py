"""Retrieval over a real store: one hit a page, an order that does not depend on k, scopes, modes,
candidates of large libraries.
"""

from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

import pytest

from chatbot.errors import NotFoundError, QuestionError
from chatbot.search import retrieval
from chatbot.search.retrieval import Query, Retriever
from chatbot.settings import Settings
from chatbot.store.library import Library, Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now

TOPICS = (
    "deficit ceiling, debt anchor, contingency reserve, revenue estimate, capital project, wage bill, "
    "pension fund, excise duty"
).split(", ")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("retrieval")
    made = Library(Settings(home=folder / "home"), HashEmbedder(dimension=256))
    pages = [
        fill(f"This page is about the {topic}. " + f"The {topic} is set by the ministry. " * 40, 90)
        for topic in TOPICS
    ]
    other = [f"Elsewhere the {topic} is mentioned once among many other things." for topic in TOPICS]
    rules_pdf = make_pdf(folder / "Rules.pdf", pages)
    other_pdf = make_pdf(folder / "Other.pdf", other)
    add_now(made, [Upload(rules_pdf), Upload(other_pdf)])
    yield made
    made.close()


def search(library: Library, text: str, **given: object) -> list[tuple[str, int]]:
    (vector,) = library.embedder.embed([text])
    query = Query(text, vector, **given)  # type: ignore[arg-type]
    return [(hit.document, hit.page) for hit in Retriever(library).search(query)]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_page_about_it_comes_first(library: Library, mode: str) -> None:
    found = search(library, "What is the contingency reserve?", mode=mode, names=("Rules.pdf",))
    assert found[0] == ("Rules.pdf", 3)


def test_k_counts_pages_and_does_not_change_the_order(library: Library) -> None:
    many = search(library, "debt anchor of the ministry", k=16)
    assert len(many) == len(set(many))
    for k in (1, 3, 10):
        few = search(library, "debt anchor of the ministry", k=k)
        assert few == many[:k]


def test_a_scope_keeps_to_its_documents(library: Library) -> None:
    found = search(library, "debt anchor", names=("Other.pdf",), k=10)
    assert {document for document, _ in found} == {"Other.pdf"}
    with pytest.raises(NotFoundError, match=r"Missing\.pdf"):
        search(library, "debt anchor", names=("Missing.pdf",))


@pytest.mark.parametrize("given", [{"k": 0}, {"k": 100_000}, {"mode": "magic"}])
def test_bad_arguments_are_named(library: Library, given: dict[str, object]) -> None:
    with pytest.raises(QuestionError):
        search(library, "debt", **given)


def test_candidates_of_a_large_library_give_the_same_first_pages(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = search(library, "pension fund of the ministry", k=2)
    monkeypatch.setattr(retrieval, "MOST_EXACT_CHUNKS", 1)
    monkeypatch.setattr(retrieval, "CANDIDATES", 4)
    assert search(library, "pension fund of the ministry", k=2) == exact


def test_removed_documents_take_no_place_among_the_nearest(tmp_path: Path) -> None:
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder(dimension=256))
    many = make_pdf(tmp_path / "many.pdf", [f"The excise duty of case {n} is set by law." for n in range(60)])
    mention = "The excise duty is mentioned here among many other things of little weight."
    one = make_pdf(tmp_path / "one.pdf", [mention])
    add_now(library, [Upload(many), Upload(one)])
    library.remove("many.pdf")
    (vector,) = library.embedder.embed(["excise duty of case"])
    (hit,) = Retriever(library).raw(vector, [], 1)
    assert hit.document == "one.pdf"
    library.close()


def test_raw_is_the_plain_top_k_of_chunks(library: Library) -> None:
    (vector,) = library.embedder.embed(["wage bill"])
    retriever = Retriever(library)
    hits = retriever.raw(vector, [], 5)
    scoped = retriever.raw(vector, ["Rules.pdf"], 5)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len(hits) == len(scoped) == 5
    assert [hit.page for hit in scoped[:2]] == [6, 6]

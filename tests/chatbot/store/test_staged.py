"""A document of many images is searched first without them; they follow, and at the end it is as if all had
been read at once.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdf
import pytest

from chatbot.asking.question import Ask
from chatbot.errors import CancelledError, DocumentError, StoreError
from chatbot.records import Answer, DocumentRow, Event, Notice
from chatbot.search.pending_content import is_in_part, pending_content
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Library, Upload
from chatbot.store.rebuilding import rebuild
from ingestion import document
from ingestion.document import DocumentReading, read_document
from ingestion.errors import ReaderDiedError
from ingestion.reading.reader import Reader
from tests.chatbot.store.libraries import embedded, open_library, states
from tests.engines import settings_at
from tests.fakes import HashEmbedder
from tests.pdfs import draw_revenue, make_pdf, make_scan
from tests.stores import add_now, hashing, read_now

QUESTION = "What was total revenue in 2024?"
# What a page says that is an image.
SCANNED = "The reserve fund of the republic is kept by the treasury of the republic."


def budget(folder: Path, *, scanned: Sequence[str] = (SCANNED,), last: str = "") -> Path:
    """Two pages of prose around a page that is a table, and pages that are images."""
    folder.mkdir(parents=True, exist_ok=True)
    prose = [
        (
            f"The budget of the republic, chapter {number}\nThe deficit ceiling binds the cabinet in every "
            f"year of the programme."
        )
        for number in (1, 2)
    ]
    end = (
        f"The last chapter of the budget. {last}\nThe cabinet reports to parliament in the spring of each "
        f"year."
    )
    parts = [
        make_pdf(folder / "prose.pdf", prose),
        draw_revenue(folder / "table.pdf"),
        make_pdf(folder / "last.pdf", [end]),
    ]
    if scanned:
        parts.append(make_scan(folder / "scan.pdf", scanned))
    writer = pypdf.PdfWriter()
    for part in parts:
        writer.append(part)
    writer.write(folder / "Budget.pdf")
    return folder / "Budget.pdf"


def contents(library: Library) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored of the one live document, and of what Chroma and the keyword index hold of it."""
    (version,) = library.scope([])
    read = library.catalog.read
    held: dict[str, list[tuple[Any, ...]]] = {}
    for table in ("page", "chunk", "chunk_key", "vector", "lexicon", "incomplete", "remark"):
        rows = read(f"select * from {table} where version = ?", (version,))
        # Without the version's number, which is the second column of chunk_key and the first of the others.
        at = 1 if table == "chunk_key" else 0
        held[table] = sorted(((*row[:at], *row[at + 1 :]) for row in rows), key=repr)
    columns = "state, coming, title, period, status, pages, chunks, embedded_upto"
    held["version"] = read(f"select {columns} from version where id = ?", (version,))
    found = library.indexes.keywords.search(["revenu", "taxe", "budget", "million"], 50)
    held["words"] = sorted((ordinal, round(score, 3)) for _, ordinal, score in found)
    held["differences"] = [(line,) for line in library.indexes.differences()]
    return held


def now_ready(library: Library) -> DocumentRow:
    """The one document, whole."""
    (row,) = library.catalog.documents()
    assert row.state == "ready"
    return row


def staged(library: Library, path: Path) -> int:
    """Add up to where all but images is searched and embedded. Returns the version."""
    read_now(library, [Upload(path)])
    library.resume_vectors()
    (version,) = library.scope([])
    return version


def at_once(home: Path, path: Path) -> Library:
    """A library in files into which the whole document was read in one go."""
    library = Library(Settings(home=home), HashEmbedder())
    taken = library.adding.take(path, path.name)
    whole = replace(taken, again=True)
    library.read_taken(whole, progress=lambda *_: None, cancelled=lambda: False)
    library.resume_vectors()
    return library


def assert_as_at_once(library: Library, path: Path) -> None:
    """All is as in a library into which the document was read in one go."""
    other = at_once(library.folder.parent.with_name("other"), path)
    assert contents(library) == contents(other)
    other.close()


def test_vectors_are_found_while_a_document_is_refilled(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = staged(library, budget(tmp_path))
    vectors, seen = library.indexes.vectors, list[int]()
    before = vectors.counts()[version]
    add, trim = vectors.upsert, vectors.trim

    def watched(change: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: Any) -> None:
            seen.append(vectors.counts()[version])
            change(*arguments)

        return run

    monkeypatch.setattr(vectors, "upsert", watched(add))
    monkeypatch.setattr(vectors, "trim", watched(trim))
    library.complete(version)
    assert len(seen) > 1
    assert min(seen) >= before
    assert library.indexes.differences() == []


@pytest.mark.usefixtures("engine")
def test_at_the_end_all_is_as_if_it_had_been_read_at_once(library: Library, tmp_path: Path) -> None:
    path = budget(tmp_path)
    version = staged(library, path)
    assert library.catalog.to_come() == {version: 1}
    assert library.catalog.tables(version)
    library.complete(version)
    library.resume_vectors()
    assert_as_at_once(library, path)
    assert contents(library)["incomplete"] == []
    assert states(library) == ["ready"]


def test_words_are_found_before_images_are_read_and_chunks_that_stay_are_not_embedded_again(
    library: Library, tmp_path: Path
) -> None:
    path = budget(tmp_path, scanned=["The reserve fund."])
    read_now(library, [Upload(path)])
    (row,) = library.catalog.documents()
    assert row.state == "keyword"
    assert row.lacks == "images"
    assert row.to_come == 1
    assert row.coming == "a scanned page is still to be read"
    assert library.indexes.keywords.search(["ceil"], 3)
    library.resume_vectors()
    calls = embedded(library)
    (version,) = library.scope([])
    library.complete(version)
    library.resume_vectors()
    row = now_ready(library)
    assert row.lacks == ""
    assert row.ocr_pages == 1
    newly_embedded = embedded(library) - calls
    assert newly_embedded == 1, "the scanned page"


@pytest.mark.parametrize(
    ("scanned", "pages_an_image", "later"), [((), 6, False), ((SCANNED,), 5, False), ((SCANNED,), 6, True)]
)
def test_a_file_has_its_tables_at_once_and_few_images_too(
    library: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scanned: Sequence[str],
    pages_an_image: int,
    later: bool,
) -> None:
    path = budget(tmp_path, scanned=scanned)
    monkeypatch.setattr(document, "PAGES_AN_IMAGE", pages_an_image)
    version = staged(library, path)
    assert library.catalog.tables(version)
    assert library.catalog.to_come() == ({version: 1} if later else {})
    library.resume()
    assert_as_at_once(library, path)


def test_a_store_made_anew_from_its_copies_has_all_of_them(home: Path, tmp_path: Path) -> None:
    path = budget(tmp_path, scanned=["The reserve fund of the republic is kept by the treasury."])
    settings = settings_at(home)
    library = Library(settings, HashEmbedder())
    add_now(library, [Upload(path)])
    library.close()
    catalogue = settings.store / "catalog.sqlite3"
    catalogue.unlink()
    (result,) = rebuild(settings, {}, embedder=HashEmbedder())
    assert result.status == "added"
    assert result.pages == 5
    assert result.ocr_pages == 1
    assert result.lacks is False
    again = Library(settings, HashEmbedder())
    assert again.catalog.to_come() == {}
    assert again.without_vectors() == []
    again.close()


class Pause:
    """A progress that stops before the first image is read until it is let on."""

    def __init__(self) -> None:
        self.reached, self.on = threading.Event(), threading.Event()

    def __call__(self, phase: str, done: int, total: int) -> None:
        self.reached.set()
        assert self.on.wait(60)


def during(library: Library, version: int, act: Callable[[], object]) -> list[BaseException]:
    """Do something in the middle of the completion of a version. What the completion raised."""
    pause, raised = Pause(), list[BaseException]()

    def complete() -> None:
        try:
            library.complete(version, progress=pause)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=complete)
    thread.start()
    assert pause.reached.wait(60)
    act()
    pause.on.set()
    thread.join()
    return raised


def test_a_stop_in_the_middle_keeps_the_text_and_the_next_start_goes_on(home: Path, tmp_path: Path) -> None:
    library = open_library(home)
    version = staged(library, budget(tmp_path))
    before = contents(library)
    with pytest.raises(CancelledError):
        library.complete(version, cancelled=lambda: True)
    assert contents(library) == before
    library.close()
    again = open_library(home)
    (result,) = again.resume()
    assert result.document == "Budget.pdf"
    assert result.status == "completed"
    assert result.lacks is False
    assert again.resume() == []
    assert again.catalog.to_come() == {}
    assert again.catalog.tables(version)
    again.close()


def test_a_purge_in_the_middle_leaves_nothing(library: Library, tmp_path: Path) -> None:
    path = budget(tmp_path, scanned=["The reserve fund of the republic."])
    version = staged(library, path)
    raised = during(library, version, lambda: library.remove("Budget.pdf", purge=True))
    assert raised == []
    assert library.catalog.documents() == []
    for table in "page chunk chunk_key vector lexicon incomplete draft version".split():
        rows = library.catalog.read(f"select * from {table}")
        assert rows == [], table
    assert library.indexes.differences() == []
    assert library.indexes.keywords.count() == 0


def test_a_document_removed_in_the_middle_is_complete_when_it_is_brought_back(
    library: Library, tmp_path: Path
) -> None:
    version = staged(library, budget(tmp_path))
    raised = during(library, version, lambda: library.remove("Budget.pdf"))
    assert raised == []
    assert library.catalog.names() == []
    library.restore("Budget.pdf")
    library.resume()
    assert library.catalog.to_come() == {}
    assert library.catalog.tables(version)


def test_a_document_replaced_in_the_middle_has_the_new_version_and_can_go_back_to_the_old(
    library: Library, tmp_path: Path
) -> None:
    version = staged(library, budget(tmp_path))
    newer = budget(tmp_path / "newer", last="It was amended.")

    def replace_it() -> None:
        read_now(library, [Upload(newer)])
        library.resume_vectors()

    assert during(library, version, replace_it) == []
    library.resume()
    (now,) = library.scope([])
    assert now != version
    assert any("amended" in text for text in library.catalog.page_texts(now))
    assert library.catalog.tables(now)
    library.restore("Budget.pdf")
    library.resume()
    assert list(library.scope([])) == [version]
    assert library.catalog.to_come() == {}
    assert library.indexes.differences() == []


@pytest.mark.usefixtures("engine")
def test_a_version_that_changes_while_its_vectors_are_made_gets_those_of_its_own_chunks(
    library: Library, tmp_path: Path
) -> None:
    path = budget(tmp_path, scanned=[SCANNED])
    read_now(library, [Upload(path)])
    (version,) = library.scope([])
    done: list[bool] = []

    def first() -> bool:
        if not done:
            done.append(True)
            library.complete(version)
        return False

    library.resume_vectors(cancelled=first)
    assert_as_at_once(library, path)


@pytest.mark.long
@pytest.mark.parametrize("step", ["refill", "follow"])
def test_a_process_that_ends_while_indexes_follow_leaves_them_to_the_next_start(
    home: Path, tmp_path: Path, step: str
) -> None:
    path = budget(tmp_path, scanned=[SCANNED])
    library = open_library(home)
    version = staged(library, path)
    owner = library.catalog if step == "refill" else library.indexes

    def ended(*arguments: object) -> None:
        if step == "refill":
            type(library.catalog).refill(library.catalog, *arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    owner.__dict__[step] = ended
    with pytest.raises(KeyboardInterrupt):
        library.complete(version)
    library.close()
    again = open_library(home)
    assert again.indexes.differences() == []
    again.resume()
    assert_as_at_once(again, path)
    again.close()


def page_texts(document: DocumentReading) -> list[str]:
    return [page.text for page in document.pages]


def test_a_page_whose_words_have_no_places_keeps_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, page = budget(tmp_path, scanned=()), Reader.page

    def broken(reader: Reader, number: int, *, tables: bool = True) -> Any:
        if number == 3 and tables:
            reader.close()
            raise ReaderDiedError("Page 3 made the reader fail.", hint="Repair it.")
        return page(reader, number, tables=tables)

    whole = read_document(path)
    monkeypatch.setattr(Reader, "page", broken)
    reading = read_document(path)
    assert page_texts(reading) == page_texts(whole)
    assert [bool(page.tables) for page in whole.pages] == [False, False, True, False]
    assert len(reading.pages) == 4
    for page_read in reading.pages:
        assert page_read.problem is None
        assert page_read.tables == ()


def test_a_fault_of_the_machine_leaves_a_document_as_it_was(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = staged(library, budget(tmp_path))
    page = Reader.page
    before = contents(library)

    def without_room(reader: Reader, number: int, **_: bool) -> Any:
        if number > 2:
            raise DocumentError("No reading process can be started.", retryable=True)
        return page(reader, number)

    monkeypatch.setattr(Reader, "page", without_room)
    with pytest.raises(DocumentError, match="No reading process"):
        library.complete(version)
    assert contents(library) == before


@pytest.mark.usefixtures("engine")
def test_what_indexes_could_not_follow_is_mended_by_the_next_sweep(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = budget(tmp_path, scanned=[SCANNED])
    version = staged(library, path)
    words: Any = type(library.indexes.keywords)
    add = words.add
    library.chunk_pages(version)

    def full(*arguments: Any) -> None:
        raise StoreError("The disk is full.", retryable=True)

    monkeypatch.setattr(words, "add", full)
    with pytest.raises(StoreError, match="disk is full"):
        library.complete(version)
    monkeypatch.setattr(words, "add", add)
    assert library.chunk_pages(version).tolist() == library.catalog.chunk_pages(version)
    library.resume()
    assert_as_at_once(library, path)


@pytest.fixture
def chatbot(home: Path) -> Iterator[Chatbot]:
    settings = settings_at(home)
    with Chatbot(settings, embedder=hashing()) as made:
        yield made


def asked(chatbot: Chatbot, question: str = QUESTION) -> tuple[Answer, list[Event]]:
    events = list(chatbot.ask(Ask(question)))
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer, events


def notices(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def test_a_question_is_answered_from_tables_before_images_are_read(chatbot: Chatbot, tmp_path: Path) -> None:
    path = budget(tmp_path, scanned=["The reserve fund of the republic."])
    read_now(chatbot.library, [Upload(path)])
    first, events = asked(chatbot)
    assert "1,585" in first.text
    assert first.numbers
    assert first.numbers[0].status == "supported"
    (said,) = notices(events)
    assert said.startswith("Still being indexed, so searched by words only: Budget.pdf")
    assert said.endswith("and still waiting for OCR: one page of Budget.pdf.")
    library = chatbot.library
    (version,) = library.scope([])
    assert library.catalog.to_come() == {version: 1}
    library.resume()
    again, events = asked(chatbot)
    assert again.text == first.text
    assert again.numbers == first.numbers
    assert notices(events) == []


def test_only_documents_that_an_answer_uses_are_named_as_not_all_read(
    chatbot: Chatbot, tmp_path: Path
) -> None:
    pages = ["The deficit ceiling of Atlantis is three per cent of output."]
    read_now(chatbot.library, [Upload(make_pdf(tmp_path / "Atlantis.pdf", pages))])
    chatbot.library.resume()
    read_now(chatbot.library, [Upload(budget(tmp_path / "other", scanned=["A ferry timetable."]))])
    library = chatbot.library
    versions = {name: version for version, name in library.scope([]).items()}
    used = {versions["Atlantis.pdf"]}
    assert is_in_part(library, [])
    assert pending_content(library, [], used=used) is None
    told = pending_content(library, [], used=set(versions.values()))
    assert told is not None and told.aside
    assert told.text == (
        "Still being indexed, so searched by words only: Budget.pdf, "
        "and still waiting for OCR: one page of Budget.pdf."
    )
    chosen = pending_content(library, ["Budget.pdf"], used=used)
    assert chosen == told


def test_a_search_finds_words_while_images_are_still_to_come(chatbot: Chatbot, tmp_path: Path) -> None:
    read_now(chatbot.library, [Upload(budget(tmp_path))])
    (hit,) = chatbot.search("deficit ceiling", mode="keyword", k=1)
    assert hit.document == "Budget.pdf"
    assert chatbot.library.incomplete()

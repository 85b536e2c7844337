"""Reading real PDFs in separate processes: text, scans, encryption, damage, cancelling, and what the child
may see.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pypdf
import pypdfium2
import pytest
from pypdf.generic import ArrayObject, NameObject

from chatbot.evidence.highlights import locate_quote
from ingestion.document import TOO_SLOW, Circumstances, read_document
from ingestion.errors import CancelledError, DocumentError, EncryptedError
from ingestion.reading import reader as reader_module
from ingestion.reading.pdf import PdfFile
from ingestion.reading.reader import Reader, _child_environment
from tests.pdfs import lock_pdf, make_pdf, make_scan, repeat_page

PAGES = [
    (
        f"Budget Paper No. 3\nThe deficit target for year {number} is {number}.5 per cent of GDP,\nwhich "
        f"the Treasury confirms.\n{number + 4}"
    )
    for number in range(1, 5)
]


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return make_pdf(tmp_path / "a.pdf", PAGES)


def test_text_pages_are_read_with_their_printed_labels(paper: Path) -> None:
    pages = read_document(paper).pages
    assert [page.number for page in pages] == [1, 2, 3, 4]
    assert [page.label for page in pages] == ["5", "6", "7", "8"]
    assert {page.method for page in pages} == {"text"}
    assert "The deficit target for year 2 is 2.5 per cent of GDP" in pages[1].text


def test_a_page_that_pdfium_cannot_load_is_read_by_pypdf(paper: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=str(paper))
    # PDFium takes a page with children for a branch of the tree.
    writer.pages[3][NameObject("/Kids")] = ArrayObject()
    writer.write(paper)
    with pypdfium2.PdfDocument(paper) as document:
        assert document[0]
        with pytest.raises(pypdfium2.PdfiumError):
            document[3]
    pages = read_document(paper).pages
    assert [page.method for page in pages] == ["text", "text", "text", "text-pypdf"]
    assert "The deficit target for year 4 is 4.5 per cent of GDP" in pages[3].text
    assert pages[3].problem is None


def test_scanned_pages_are_read_by_ocr_with_confidence_and_boxes(tmp_path: Path) -> None:
    quote = "The statement of arrears shows 412 million crowns"
    scan = make_scan(tmp_path / "scan.pdf", [f"Annex C\n{quote}\nat the end of the year"])
    (page,) = read_document(scan).pages
    assert page.method == "ocr"
    assert page.problem is None
    assert "412 million" in page.text
    assert page.confidence is not None
    assert page.confidence > 60
    boxes = [(word.text, word.box) for word in page.words]
    (mark,) = locate_quote(boxes, quote)
    assert 0.05 < mark.y0 < 0.2


def test_a_blank_page_is_no_problem(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "blank.pdf", ["", *PAGES])
    blank = read_document(path).pages[0]
    assert blank.text == ""
    assert blank.problem is None


def test_an_empty_user_password_opens_silently_and_a_real_one_is_asked_for(tmp_path: Path) -> None:
    unlocked = make_pdf(tmp_path / "open.pdf", PAGES, user_password="")
    assert read_document(unlocked).info.encrypted
    locked = make_pdf(tmp_path / "locked.pdf", PAGES, user_password="sesame")
    with pytest.raises(EncryptedError, match="password"):
        read_document(locked)
    with pytest.raises(EncryptedError, match="wrong"):
        read_document(locked, Circumstances(password="no"))
    opened = read_document(locked, Circumstances(password="sesame"))
    assert opened.info.pages == 4


class EmptyPassword(str):
    """An empty password that pypdf does not take for none."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True


def test_an_empty_owner_password_opens_nothing_for_who_lacks_the_users(paper: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(paper))
    writer.encrypt("sesame", EmptyPassword(), algorithm="AES-256")
    writer.write(paper)
    assert pypdf.PdfReader(paper).decrypt("") == pypdf.PasswordType.OWNER_PASSWORD
    with pytest.raises(EncryptedError, match="password"):
        read_document(paper)
    assert read_document(paper, Circumstances(password="sesame")).pages[0].text


@pytest.mark.parametrize(
    ("password", "given", "plain_strings"),
    [
        ("SaSLprep", "S\u00aaSL\u00adprep", False),
        ("Ünter IX", "U\u0308nter\u00a0\u2168", False),
        ("Hello", "Hello", True),
        ("", None, True),
    ],
)
def test_what_pdfium_alone_would_refuse_is_read_whole(
    tmp_path: Path, paper: Path, password: str, given: str | None, plain_strings: bool
) -> None:
    copy = make_pdf(tmp_path / "locked.pdf", PAGES)
    locked = lock_pdf(copy, password, plain_strings=plain_strings)
    if password:
        with pytest.raises(EncryptedError, match="wrong"):
            read_document(locked, Circumstances(password="no"))
        with pytest.raises(EncryptedError, match="protected"):
            read_document(locked)
    reading = read_document(locked, Circumstances(password=given))
    assert reading.info.encrypted
    assert reading.pages == read_document(paper).pages
    quote = "which the Treasury confirms"
    with Reader(locked, password=given) as reader, Reader(paper) as other:
        assert reader.png(2) == other.png(2)
        marks = locate_quote(reader.glyphs(2), quote)
        assert marks != ()
        assert marks == locate_quote(other.glyphs(2), quote)
        assert not list(reader.folder.iterdir()), "nothing decrypted stands on the disk"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"hello world", "not a PDF"),
        (b"%PDF-1.7\nnothing else", "damaged"),
        (b"PK\x03\x04" + b"\0" * 2000, "LibreOffice"),
    ],
)
def test_files_that_are_no_pdf_are_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=said) as caught:
        read_document(path)
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_a_truncated_file_ends_in_a_reading_or_an_error_and_never_hangs(tmp_path: Path) -> None:
    whole = make_pdf(tmp_path / "whole.pdf", PAGES * 10).read_bytes()
    for share in (0.2, 0.6, 0.95):
        cut = tmp_path / f"{share}.pdf"
        length = int(len(whole) * share)
        cut.write_bytes(whole[:length])
        with contextlib.suppress(DocumentError):
            assert read_document(cut).pages


def test_pages_after_those_that_took_too_long_are_not_read(
    paper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingestion.document.MOST_SECONDS", 1e-6)
    monkeypatch.setattr("ingestion.document.SECONDS_A_PAGE", 0.0)
    first, *others = read_document(paper, Circumstances(processes=1)).pages
    assert first.text
    assert not first.problem
    assert len(others) == 3
    assert {(page.text, page.method, page.problem) for page in others} == {("", "none", TOO_SLOW)}


def test_a_reader_tells_how_long_it_worked(paper: Path) -> None:
    with Reader(paper) as reader:
        opened = reader.seconds
        for _ in range(20):
            reader.page(1)
        assert 0 <= opened < reader.seconds < 60


def test_cancelling_stops_the_reading(paper: Path) -> None:
    cancelled = Circumstances(cancelled=lambda: True)
    with pytest.raises(CancelledError):
        read_document(paper, cancelled)


def test_the_child_gets_no_keys() -> None:
    os.environ["OPENAI_API_KEY"] = "sk-secret"
    try:
        assert "sk-secret" not in _child_environment().values()
    finally:
        del os.environ["OPENAI_API_KEY"]


def test_a_quotation_is_marked_where_it_stands(paper: Path) -> None:
    with Reader(paper) as reader:
        glyphs = reader.glyphs(1)
        upper, lower = locate_quote(glyphs, "1.5 per cent of GDP, which the Treasury")
        assert upper.y1 <= lower.y0 + 0.01
        assert not locate_quote(glyphs, "a sentence that is not there")
        assert reader.png(1).startswith(b"\x89PNG")


def test_the_policy_paper_whose_own_labels_are_wrong(shared: Path) -> None:
    pages = read_document(shared / "policy" / "Policy_file.pdf").pages
    assert [page.label for page in pages] == ["5", "6", "7", "8", "9", "10"]
    assert {page.label_source for page in pages} == {"printed"}
    assert "Government" in pages[0].text
    assert "Governm ent" not in pages[0].text


def test_a_title_that_cannot_be_decoded_costs_only_the_title(paper: Path) -> None:
    data = paper.read_bytes()
    broken = data.replace(b"/Title (untitled)", b"/Title <FEFFD800>")
    assert broken != data
    paper.write_bytes(broken)
    assert len(read_document(paper).pages) == 4


def test_a_reader_leaves_nothing_behind(paper: Path) -> None:
    reader = Reader(paper)
    folder = reader.folder
    assert folder.is_dir()
    reader.close()
    assert not folder.exists()


@pytest.mark.alone
def test_cancelling_ends_a_page_that_is_being_read_within_a_second(tmp_path: Path) -> None:
    long = "\n".join(f"Line {n} of a long scanned page" for n in range(50))
    path = make_scan(tmp_path / "scan.pdf", [long] * 4)
    begun = time.perf_counter()
    in_a_second = Circumstances(cancelled=lambda: time.perf_counter() - begun > 1.0)
    with pytest.raises(CancelledError):
        read_document(path, in_a_second)
    assert time.perf_counter() - begun < 3.0


def test_lines_stand_where_the_page_shows_them(paper: Path) -> None:
    page = read_document(paper).pages[0]
    shown = [page.text[line.start : line.end] for line in page.lines]
    assert shown == page.text.split("\n")
    tops = [line.box.y0 for line in page.lines]
    assert tops == sorted(tops)
    for line in page.lines:
        assert 0 < line.box.x0 < line.box.x1 < 1
        assert line.box.y0 < line.box.y1


def test_what_a_killed_process_left_is_deleted_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    for owner in (process.pid, os.getpid()):
        (tmp_path / f"finpolicy-reader-{owner}-abc").mkdir()
    reader_module._sweep_once.cache_clear()
    reader_module._sweep_once()
    (left,) = tmp_path.iterdir()
    assert left.name == f"finpolicy-reader-{os.getpid()}-abc"


def test_a_file_of_too_many_pages_is_refused_with_the_setting_that_says_so(tmp_path: Path) -> None:
    path = repeat_page(tmp_path / "many.pdf", "The ceiling.", 60_000)
    with pytest.raises(DocumentError, match="has 60,000 pages, and at most 5,000 are read") as caught:
        read_document(path, Circumstances(most_pages=5_000))
    assert "FINPOLICY_MAX_PAGES" in caught.value.hint
    assert len(read_document(make_pdf(path, ["One", "Two"]), Circumstances(most_pages=2)).pages) == 2


@pytest.mark.parametrize("times", [200, 201])
def test_pages_that_are_one_object_are_read_once(tmp_path: Path, times: int) -> None:
    path = repeat_page(tmp_path / "same.pdf", "The ceiling is three per cent.", times)
    with Reader(path) as reader:
        assert reader.firsts() == [1] * times
    steps = list[int]()

    def note(phase: str, done: int, total: int) -> None:
        if phase == "reading":
            steps.append(done)

    pages = read_document(path, Circumstances(progress=note)).pages
    assert steps == [0, 1]
    assert [page.number for page in pages] == list(range(1, times + 1))
    assert {page.text for page in pages} == {"The ceiling is three per cent."}


def test_pages_that_only_look_the_same_are_each_read(tmp_path: Path) -> None:
    with Reader(make_pdf(tmp_path / "alike.pdf", ["The ceiling."] * 120)) as reader:
        assert reader.firsts() == list(range(1, 121))


def test_no_page_is_taken_for_another_in_a_tree_without_end(tmp_path: Path) -> None:
    path = repeat_page(tmp_path / "loop.pdf", "The ceiling.", 120)
    writer = pypdf.PdfWriter(clone_from=path)
    root = writer.root_object["/Pages"]
    assert isinstance(root, pypdf.generic.DictionaryObject)
    reference = writer.root_object.raw_get("/Pages")
    root[NameObject("/Kids")] = ArrayObject([reference, reference])
    writer.write(path)
    file = PdfFile(path)
    file.count = 120
    assert file.firsts() == []

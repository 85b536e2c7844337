"""What LibreOffice opens: read like any PDF, nothing fetched or followed, and clear errors."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from ingestion.document import Circumstances, read_document
from ingestion.errors import CancelledError, DocumentError, EncryptedError, MissingProgramError
from ingestion.reading import office, reader
from ingestion.reading.formats import MADE, make_pdf
from ingestion.reading.reader import made_pdf
from tests.offices import (
    NEEDS_OFFICE,
    OFFICE,
    make_docx,
    make_odt,
    make_protected,
    make_slides,
    protect,
    saved_as,
)

pytestmark = NEEDS_OFFICE

TABLE = """<w:tbl><w:tblPr><w:tblBorders><w:insideH w:val="single"/><w:insideV w:val="single"/></w:tblBorders>
</w:tblPr><w:tblGrid>{}</w:tblGrid>{}</w:tbl><w:p/>"""
FIELD = """<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{}</w:instrText></w:r>
<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>as before</w:t></w:r>
<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>"""
PICTURE = """<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:image xlink:href="{}"
xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame></text:p>"""
SECTION = """<text:section text:name="a"><text:section-source xlink:href="{}" xlink:type="simple"/>
<text:p>as before</text:p></text:section>"""


def table(rows: Sequence[Sequence[str]]) -> str:
    width = '<w:tcPr><w:tcW w:w="2000" w:type="dxa"/></w:tcPr>'
    cell = (f"<w:tc>{width}<w:p><w:r><w:t>{{}}</w:t></w:r></w:p></w:tc>").format
    grid = '<w:gridCol w:w="2000"/>' * len(rows[0])
    return TABLE.format(grid, "".join(f"<w:tr>{''.join(map(cell, row))}</w:tr>" for row in rows))


class Listener:
    """A server that keeps what it hears."""

    def __init__(self) -> None:
        self.heard = list[bytes]()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self._server.accept()
            except OSError:
                return
            self.heard.append(caller.recv(100))
            caller.close()

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.close()


def test_a_word_file_is_read_with_its_tables(tmp_path: Path) -> None:
    rows = [("Item", "2024", "2025"), ("Revenue", "1,234.5", "1,301.2"), ("Spending", "1,400.0", "1,450.9")]
    made = make_docx(tmp_path / "a.docx", ["The deficit is 3.2 per cent."], body=table(rows))
    for path in (made, saved_as(made, tmp_path / "a.rtf"), saved_as(made, tmp_path / "a.doc")):
        (page,) = read_document(path).pages
        assert "The deficit is 3.2 per cent." in page.text
        (found,) = page.tables
        assert found.rows[0].label == "Revenue"
        assert [cell.text for cell in found.rows[0].cells if cell] == ["1,234.5", "1,301.2"]


def test_the_notes_of_slides_are_text_of_theirs(tmp_path: Path) -> None:
    slides = [("Outlook for 2025", "The ceiling is 3 per cent."), ("Risks", ""), ("Spare", "hidden from all")]
    for suffix in ("pptx", "odp"):
        pages = read_document(make_slides(tmp_path / f"a.{suffix}", slides)).pages
        assert [slide in page.text for (slide, _), page in zip(slides, pages, strict=True)] == [True] * 3
        assert pages[0].text.endswith("[notes] The ceiling is 3 per cent.")
        assert "[notes]" not in pages[1].text
        assert "[hidden slide]" in pages[2].text


def test_web_pages_are_text_without_their_scripts(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<h1>Outlook</h1><p>The ceiling is 3 per cent.</p><script>alert(1)</script>")
    (page,) = read_document(path).pages
    assert page.text.split("\n") == ["Outlook", "The ceiling is 3 per cent."]


def linked(folder: Path, address: str, secret: Path) -> Iterator[Path]:
    """Files that link to an address, and to a file of this machine."""
    relation = (
        f'<Relationship Id="i" Type="{OFFICE}/attachedTemplate" Target="{address}/t" TargetMode="External"/>'
    )
    fields = FIELD.format(f'INCLUDEPICTURE "{address}/a.png"') + FIELD.format(f'INCLUDETEXT "{secret}"')
    yield make_docx(folder / "a.docx", ["Seen."], body=fields, links=relation)
    parts = (
        PICTURE.format(f"{address}/b.png"),
        SECTION.format(secret.as_uri()),
        SECTION.format(f"{address}/c"),
    )
    yield make_odt(folder / "a.odt", ["Seen."], body="".join(parts))
    page = folder / "a.html"
    style = (
        f'<link rel="stylesheet" href="{address}/d.css"><style>body {{background: url({address}/e)}}</style>'
    )
    frame = f'<img src="{address}/f.png"><iframe src="{secret.as_uri()}"></iframe>'
    page.write_text(f"{style}<p>Seen.</p>{frame}<script src='{address}/g.js'></script>")
    yield page
    page = folder / "a.rtf"
    field = r"{\field{\*\fldinst %s}{\fldrslt as before}}"
    page.write_text(
        rf"{{\rtf1 Seen. {field % f'INCLUDEPICTURE {address}'}{field % f'INCLUDETEXT {secret}'}}}"
    )
    yield page


@pytest.mark.long
def test_nothing_is_fetched_and_no_other_file_is_read(tmp_path: Path, listener: Listener) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("Known to this machine only.")
    for path in linked(tmp_path, listener.address, secret):
        target = tmp_path / path.suffix / f"a{MADE}"
        target.parent.mkdir()
        make_pdf(path, target, path.name)  # in this process, which has a network
        (page,) = read_document(target).pages
        assert "Seen." in page.text
        assert "Known" not in page.text
    assert not listener.heard
    # That it can be heard shows that the options are what keeps it silent.
    web = tmp_path / "b.html"
    web.write_text(f'<p>Seen.</p><img src="{listener.address}/a.png">')
    saved_as(web, tmp_path / "b.pdf")
    assert listener.heard


def test_a_reading_process_that_makes_a_pdf_has_no_network(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    if subprocess.run(["unshare", "--net", "--map-root-user", "true"], capture_output=True).returncode:
        pytest.skip("the system allows no networks of one's own")
    port = listener.address.rpartition(":")[2]
    program = tmp_path / "soffice"
    program.write_text(f'#!/bin/bash\n: </dev/tcp/127.0.0.1/{port}\nexec soffice "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("FINPOLICY_SOFFICE", str(program))
    original = make_docx(tmp_path / "a.docx", ["Seen."])
    subprocess.run([program, "--version"], check=True, capture_output=True)
    assert len(listener.heard) == 1
    target = tmp_path / f"a{MADE}"
    code = (
        "import sys; from pathlib import Path; from ingestion.reading.formats import make_pdf;"
        "from ingestion.reading.forkserver import leave_network; assert leave_network();"
        "make_pdf(Path(sys.argv[1]), Path(sys.argv[2]), 'a.docx')"
    )
    subprocess.run([".venv/bin/python", "-c", code, original, target], check=True)
    assert "Seen." in read_document(target).pages[0].text
    assert len(listener.heard) == 1


def hostile(folder: Path) -> Iterator[Path]:
    names = "abcdefghij"
    more = "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in pairwise(names))
    laughs = f'<!DOCTYPE a [<!ENTITY a "laughter">{more}]>'
    body = "<w:p><w:r><w:t>&{};</w:t></w:r></w:p>".format
    yield make_docx(folder / "laughs.docx", body=body("j"), prolog=laughs)
    foreign = f'<!DOCTYPE a [<!ENTITY a SYSTEM "{(folder / "laughs.docx").as_uri()}">]>'
    yield make_docx(folder / "foreign.docx", body=body("a"), prolog=foreign)
    broken = make_docx(folder / "broken.docx", ["text"] * 900)
    broken.write_bytes(broken.read_bytes()[:1_000])
    yield broken
    (folder / "other.pptx").write_bytes(b"PK\x03\x04 and nothing")
    yield folder / "other.pptx"


def test_what_cannot_be_opened_is_said(tmp_path: Path) -> None:
    for path in hostile(tmp_path):
        with pytest.raises(DocumentError, match="LibreOffice cannot open"):
            read_document(path)


@pytest.mark.long
def test_an_archive_of_gigabytes_ends_within_the_limits(tmp_path: Path) -> None:
    bomb = make_docx(tmp_path / "bomb.docx", body=f"<w:p><w:r><w:t>{'word ' * 50_000_000}</w:t></w:r></w:p>")
    assert bomb.stat().st_size < 2_000_000
    with pytest.raises(DocumentError):
        read_document(bomb)


def test_protected_files_ask_for_their_password(tmp_path: Path) -> None:
    path = make_protected(tmp_path / "a.docx", ["The deficit is 3.2 per cent."], "secret")
    for password, said in ((None, "protected by a password"), ("wrong", "password is wrong")):
        with pytest.raises(EncryptedError, match=said):
            read_document(path, Circumstances(password))
    (page,) = read_document(path, Circumstances("secret")).pages
    assert page.text == "The deficit is 3.2 per cent."
    with made_pdf(path, "a.docx", password="secret") as pdf, pytest.raises(EncryptedError):
        read_document(pdf)
    # What a maker tells of the pages is as protected as they are.
    slides = make_slides(tmp_path / "b.pptx", [("Outlook", "A note for the speaker.")])
    protected = protect(slides, tmp_path / "protected.pptx", "secret")
    with made_pdf(protected, "b.pptx", password="secret") as pdf:
        assert b"speaker" not in pdf.read_bytes()
        (page,) = read_document(pdf, Circumstances("secret")).pages
        assert page.text.endswith("[notes] A note for the speaker.")
    entry = '<manifest:file-entry manifest:full-path="a"><manifest:encryption-data/></manifest:file-entry>'
    with pytest.raises(DocumentError, match="only LibreOffice itself asks for"):
        read_document(make_odt(tmp_path / "a.odt", manifest=entry))


def test_without_libreoffice_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINPOLICY_SOFFICE", str(tmp_path / "missing"))
    original = make_docx(tmp_path / "a.docx", ["Seen."])
    with pytest.raises(MissingProgramError, match="apt-get install libreoffice"):
        office.convert(original, tmp_path, "pdf", name="a.docx")


@pytest.mark.parametrize(
    ("does", "said", "fix"),
    [
        ("exec sleep 60", "longer than 3 seconds", "Save it as a PDF"),
        ("kill -SEGV $$", "LibreOffice cannot open a.docx", "or as a PDF"),
    ],
)
def test_a_program_that_hangs_or_dies_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, said: str, fix: str
) -> None:
    program = tmp_path / "soffice"
    program.write_text(f"#!/bin/bash\necho $$ > {tmp_path}/id\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setattr(reader, "MAKE_SECONDS", 3.0)
    original = make_docx(tmp_path / "a.docx", ["Seen."])
    with (
        pytest.raises(DocumentError, match=said) as raised,
        made_pdf(original, "a.docx", soffice=str(program)),
    ):
        pass
    assert fix in (raised.value.hint or "")
    status = Path("/proc", (tmp_path / "id").read_text().strip(), "status")
    until = time.monotonic() + 10
    while _runs(status):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_cancelled_conversion_leaves_no_process(tmp_path: Path) -> None:
    original = make_docx(tmp_path / "a.docx", ["Seen."])
    with pytest.raises(CancelledError), made_pdf(original, "a.docx", cancelled=lambda: _at_work(original)):
        pass
    time.sleep(0.5)
    assert not _at_work(original)


def _runs(status: Path) -> bool:
    """Whether a process runs. One that has ended may wait for its parent to ask how."""
    try:
        return "\nState:\tZ" not in status.read_text()
    except OSError:
        return False


def _at_work(original: Path) -> bool:
    """Whether LibreOffice has a link to this file as its source."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        source = os.fsdecode(words[-2]) if len(words) > 1 else ""
        if (
            b"soffice.bin" in words[0]
            and source.endswith("/source.docx")
            and os.path.realpath(source) == str(original)
        ):
            return True
    return False

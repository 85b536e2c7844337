"""What the store makes of full disks, odd files and odd circumstances: one clear error with its fix, and
nothing lost.
"""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from chatbot import service
from chatbot.errors import StoreError
from chatbot.settings import Settings
from chatbot.store import doctor
from chatbot.store.addition_queue import Additions, NewFile
from chatbot.store.catalog import Catalog
from chatbot.store.document_names import LONGEST_NAME
from chatbot.store.kept_copies import Copies
from chatbot.store.keyword_index import KeywordIndex
from chatbot.store.library import Library, Upload
from chatbot.store.lock import StoreLock
from chatbot.store.vector_index import ChromaIndex
from ingestion.reading.reader import Reader
from tests.chatbot.store.libraries import add_pages, open_library
from tests.disks import fill, small_disk
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now

FIRST = ["The deficit ceiling is three per cent of output in every year."]
SECOND = [f"On page {number} the debt anchor is sixty per cent of output." for number in range(1, 4)]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """First.pdf, which says FIRST."""
    return make_pdf(tmp_path / "First.pdf", FIRST)


def kept_names(home: Path) -> list[str]:
    """The files in the folder of documents."""
    return [path.name for path in (home / "documents").iterdir()]


def add(library: Library, *paths: Path) -> list[tuple[str, str]]:
    uploads = [Upload(path) for path in paths]
    return [(result.status, result.error or "") for result in add_now(library, uploads)]


def rows(out: str) -> list[dict[str, Any]]:
    """What a command has written with `--json`."""
    return [json.loads(line) for line in out.splitlines()]


def names(library: Library) -> list[str]:
    return [row.name for row in library.catalog.documents()]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    with small_disk(tmp_path / "disk") as folder:
        yield folder


def fill_before(monkeypatch: pytest.MonkeyPatch, disk: Path, owner: type, method: str) -> None:
    """Let the disk be full when that method is called next."""
    call = getattr(owner, method)

    def called(*arguments: Any, **options: Any) -> Any:
        fill(disk)
        return call(*arguments, **options)

    monkeypatch.setattr(owner, method, called)


# What is under way when the disk is full -> (class, method).
PHASES: dict[str, tuple[type, str]] = {
    "copying": (Copies, "take"),
    "noting": (Catalog, "wait"),
    "storing": (Catalog, "fill"),
    "words": (KeywordIndex, "add"),
    "showing": (Catalog, "searchable"),
    "vectors": (Catalog, "add_vectors"),
    "index of vectors": (ChromaIndex, "upsert"),
    "flipping": (Catalog, "ready"),
}
# Those tried by each run: of each part of the store one.
QUICK_PHASES = ("copying", "words", "index of vectors")


@pytest.mark.parametrize(
    "phase",
    [pytest.param(phase, marks=() if phase in QUICK_PHASES else pytest.mark.long) for phase in PHASES],
)
def test_a_full_disk_is_one_clear_error_and_costs_nothing(
    disk: Path, first: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    monkeypatch.setattr(doctor, "LITTLE_SPACE", 0)
    second = make_pdf(tmp_path / "Second.pdf", SECOND)
    assert command(disk, "add", first)[0] == 0
    with monkeypatch.context() as patched:
        fill_before(patched, disk, *PHASES[phase])
        code, out, err = command(disk, "add", second, "--json")
    assert code in {1, 3}
    said = out if code == 1 else err
    assert "The disk is full, so " in said
    assert "remove NAME --purge" in said
    for added in rows(out):
        assert added["status"] in {"failed", "added"}
    _, out, _ = command(disk, "list")
    assert "First.pdf" in out
    (disk / "ballast").unlink()
    assert command(disk, "add", second)[0] == 0
    code, out, err = command(disk, "doctor")
    assert (code, out, err.splitlines()[0]) == (0, "", "The store is in order.")
    _, out, _ = command(disk, "list", "--json")
    assert [row["state"] for row in rows(out)] == ["ready", "ready"]
    for query, document in (("deficit ceiling", "First.pdf"), ("debt anchor", "Second.pdf")):
        _, out, _ = command(disk, "search", query, "--json")
        (best, *_) = rows(out)
        assert best["document"] == document
    assert not list(disk.rglob("*.partial"))


def test_names_that_find_no_space_are_written_later(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replacement stands in the catalogue already: it succeeds, and what stands beside the copies
    follows.
    """
    monkeypatch.setattr(doctor, "LITTLE_SPACE", 0)
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    library = open_library(disk)
    add(library, path)
    (before,) = library.catalog.hashes()
    make_pdf(path, SECOND)
    ready = Catalog.ready

    def filled(catalog: Catalog, version: int, fingerprint: str, *, keep: Sequence[str] = ()) -> bool:
        done = ready(catalog, version, fingerprint, keep=keep)
        fill(disk)
        return done

    monkeypatch.setattr(Catalog, "ready", filled)
    assert add(library, path) == [("replaced", "")]
    (name,) = library.copies.beside(before).names
    assert name.removed_at is None
    library.close()
    (disk / "ballast").unlink()
    again = open_library(disk)
    (name,) = again.copies.beside(before).names
    assert name.removed_at is not None
    assert list(doctor.examine(again)) == []
    again.close()


def test_a_full_disk_is_told_from_a_damaged_store_and_from_one_in_use(disk: Path, first: Path) -> None:
    library = open_library(disk)
    add(library, first)
    library.close()
    fill(disk)
    lock = StoreLock(disk / "chroma_db" / "store.lock")
    with pytest.raises(StoreError, match=str(os.getpid())):
        StoreLock(disk / "chroma_db" / "store.lock")
    lock.close(settled=True)
    with pytest.raises(StoreError, match="disk is full"):
        Catalog(disk / "chroma_db" / "new.sqlite3")


LIMITED = """
import resource, sys
from chatbot import service
from chatbot.cli import main
from tests.fakes import HashEmbedder
service.make_embedder = lambda settings: HashEmbedder()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(["add", sys.argv[2], "--json"]))
"""


@pytest.mark.parametrize(
    "most",
    [pytest.param(1_000, marks=pytest.mark.long), 30_000, pytest.param(150_000, marks=pytest.mark.long)],
)
def test_a_limit_on_the_size_of_files_is_no_crash(home: Path, tmp_path: Path, root: Path, most: int) -> None:
    """Where no small disk can be made: writes fail at other places for want of room, and the next process
    goes on.
    """
    path = make_pdf(tmp_path / "Second.pdf", SECOND * 10)
    # What measures coverage would fail at the limit too, loudly.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment |= {"FINPOLICY_HOME": str(home), "PYTHONPATH": str(root)}
    limited = [sys.executable, "-c", LIMITED, str(most), str(path)]
    done = subprocess.run(limited, env=environment, capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode in {1, 3}
    assert "Traceback" not in done.stderr
    library = open_library(home)
    ((status, _),) = add(library, path)
    assert status in {"added", "unchanged"}
    assert list(doctor.examine(library)) == []
    library.close()


def let_nobody_write(disk: Path) -> None:
    """Once no file there is open for writing: threads of the indexes end a moment after the command."""
    for _ in range(100):
        done = subprocess.run(
            ["mount", "-o", "remount,ro", disk], capture_output=True, text=True, check=False
        )
        if not done.returncode:
            return
        gc.collect()
        time.sleep(0.2)
    pytest.fail(done.stderr)


def test_a_store_that_may_only_be_read_says_so(disk: Path, first: Path, command: Command) -> None:
    assert command(disk, "add", first)[0] == 0
    let_nobody_write(disk)
    for arguments in (["add", first], ["search", "deficit"], ["remove", "First.pdf"], ["rebuild"]):
        code, out, err = command(disk, *arguments)
        assert code == 3
        assert out == ""
        assert "cannot be written" in err
        assert "FINPOLICY_HOME" in err
    _, out, _ = command(disk, "list")
    assert "First.pdf" in out


@pytest.mark.parametrize("verb", ["search", "list", "doctor", "rebuild"])
def test_a_store_of_a_later_version_is_left_alone(
    home: Path, first: Path, command: Command, verb: str
) -> None:
    command(home, "add", first)
    store = home / "chroma_db"
    with closing(sqlite3.connect(store / "catalog.sqlite3")) as connection:
        connection.execute("pragma user_version = 99")
    arguments = [verb, "deficit"] if verb == "search" else [verb]
    code, out, err = command(home, *arguments)
    assert code == 3
    assert out == ""
    assert "Update the program" in err
    assert not list(store.glob("*.before-*"))


def test_a_lock_of_a_dead_process_is_no_obstacle(first: Path, tmp_path: Path, command: Command) -> None:
    lock = tmp_path / "chroma_db" / "store.lock"
    lock.parent.mkdir()
    lock.write_text("999999")
    code, _, _ = command(tmp_path, "add", first)
    assert code == 0


DROPPED = 500
# Bytes that all of them together may add to what the process holds, of which the first additions of any
# process take a hundred million; and seconds that a look at the queue may take.
MOST_GROWTH = 200 * 2**20
LONGEST_LOOK = 0.1


@pytest.mark.alone
def test_500_files_at_once_are_all_kept_and_none_is_lost(home: Path, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "One.pdf", FIRST)
    data = path.read_bytes()
    dropped = {f"File {number}.pdf": data + b"%%%d" % number for number in range(DROPPED)}
    library = open_library(home)
    library.indexes.vectors.count()
    add(library, path)
    before = most_held()
    queue = Additions(library, readers=1)
    looks: list[float] = []

    def finished() -> int:
        return sum(job.result is not None for job in queue.jobs())

    try:
        queue.enqueue([NewFile(name, io.BytesIO(content)) for name, content in dropped.items()])
        end = time.monotonic() + 60
        while (len(looks) < 50 or finished() < 10) and time.monotonic() < end:
            started = time.perf_counter()
            assert len(queue.jobs()) == DROPPED
            looks.append(time.perf_counter() - started)
            time.sleep(0.02)
        assert {job.phase for job in queue.jobs()} <= {"waiting", "reading", "embedding", "done"}
    finally:
        queue.close()
    library.close()
    ninth_decile = sorted(looks)[len(looks) * 9 // 10]
    assert ninth_decile < LONGEST_LOOK
    assert most_held() - before < MOST_GROWTH
    again = open_library(home)
    added = set(names(again)) - {"One.pdf"}
    left = {taken.name for taken in again.catalog.left()}
    assert len(added) >= 10
    assert added | left == dropped.keys()
    again.close()


def most_held() -> int:
    """Bytes that the process has held at most."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_maxrss * 1024


@pytest.mark.alone
def test_a_file_of_two_gigabytes_is_refused_unread(library: Library, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "Huge.pdf"
    with path.open("wb") as file:
        file.truncate(2 * 2**30)
    started = time.perf_counter()
    ((status, error),) = add(library, path)
    assert status == "failed"
    assert "2048 MiB" in error
    assert "FINPOLICY_MAX_UPLOAD_MB" in error
    assert time.perf_counter() - started < 1
    assert kept_names(home) == []


def test_a_file_that_grows_is_refused_or_whole(library: Library, home: Path, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Grows.pdf", FIRST)
    path.write_bytes(path.read_bytes() + b"%" * 30_000_000)
    stop = threading.Event()

    def grow() -> None:
        while not stop.wait(0.001):
            with path.open("ab") as file:
                file.write(b"%" * 1000)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        ((status, error),) = add(library, path)
    finally:
        stop.set()
        thread.join()
    assert status == "failed"
    assert error == "The file changed while it was being read. Add it again when the copy is complete."
    assert kept_names(home) == []
    assert add(library, path) == [("added", "")]
    assert set(library.copies.all()) == library.catalog.hashes()


def pdf_of(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1, the first its catalogue."""
    data, table = b"%PDF-1.7\n", b""
    for number, content in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    return data + head + table + end


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(data), entries, data)


def page_of(contents: bytes, extra: bytes = b"") -> list[bytes]:
    """Catalogue, page tree, one page in Helvetica, its contents as object 4, and the font."""
    catalogue = b"<< /Type /Catalog /Pages 2 0 R >>"
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 400] /Contents 4 0 R /Resources << /Font << "
        b"/F 5 0 R >> >> %b >>"
    )
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    return [catalogue, tree, page % extra, contents, font]


@cache
def gigabyte_of_zeros() -> bytes:
    """Deflated, about a megabyte: what a megabyte becomes, over and over, and the checksum of them all."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = squeeze.compress(bytes(2**20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()
    checksum = (2**30 % 65_521 << 16) + 1
    return b"\x78\xda" + block * 2**10 + end + checksum.to_bytes(4, "big")


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("layers", [1, 2])
def test_a_stream_of_a_gigabyte_ends_and_costs_the_others_nothing(
    library: Library, first: Path, tmp_path: Path, layers: int
) -> None:
    data = gigabyte_of_zeros()
    for _ in range(layers - 1):
        data = zlib.compress(data, 9)
    filters = b"/FlateDecode " * layers
    page = page_of(stream(data, b"/Filter [%b]" % filters))
    bomb = tmp_path / "Bomb.pdf"
    bomb.write_bytes(pdf_of(page))
    started = time.perf_counter()
    bad, good = add_now(library, [Upload(bomb), Upload(first)])
    assert time.perf_counter() - started < 60
    assert good.status == "added"
    assert not good.failed_pages
    assert bad.status in {"added", "failed"}
    assert bad.chunks == 0
    assert bad.error or bad.failed_pages or bad.warning


def active_objects(link: bytes, marker: bytes) -> list[bytes]:
    """A document that, where it is opened or looked at, asks for a link or for a shell that makes a file."""
    text = stream(b"BT /F 12 Tf 20 350 Td (The deficit ceiling is three per cent of output.) Tj ET")
    annotation = b"/Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 400 400] /A << /S /URI /URI (%b) >> >>]"
    opened = b"/AA << /O << /S /JavaScript /JS (app.launchURL('%b')) >> >>"
    _, *objects = page_of(text, annotation % link + opened % link)
    launch = b"<< /S /Launch /F (/bin/sh) /Unix << /F (/bin/sh) /P (-c 'touch %b') >> >>" % marker
    start = b"<< /S /JavaScript /JS (this.submitForm('%b'); app.launchURL('%b', true)) /Next %b >>"
    attached = (
        b"/Names << /EmbeddedFiles << /Names [(run.sh) << /Type /Filespec /F (run.sh) /EF << /F 6 0 R "
        b">> >>] >> >>"
    )
    catalogue = b"<< /Type /Catalog /Pages 2 0 R /OpenAction %b%b >>"
    script = stream(b"#!/bin/sh\ntouch %b" % marker, b"/Type /EmbeddedFile")
    return [catalogue % (start % (link, link, launch), attached), *objects, script]


def test_nothing_in_a_document_is_run(home: Path, tmp_path: Path) -> None:
    path, marker = tmp_path / "Active.pdf", tmp_path / "marker"
    settings = Settings(home=home)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        service.Chatbot(settings, embedder=HashEmbedder()) as chatbot,
    ):
        server.setblocking(False)
        _, port = server.getsockname()
        objects = active_objects(b"http://127.0.0.1:%d/" % port, bytes(marker))
        path.write_bytes(pdf_of(objects))
        (result,) = chatbot.add([Upload(path)])
        assert result.status == "added"
        assert result.chunks == 1
        image, _ = chatbot.page_image(result.version, 1, "deficit ceiling")
        assert image.startswith(b"\x89PNG")
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not marker.exists()
    assert not list(tmp_path.rglob("run.sh"))


AS_LONG_AS_MAY_BE = "a" * (LONGEST_NAME - 4) + ".pdf"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\nb.pdf", "a‹U+000A›b.pdf"),
        ("a\u202efdp.exe.pdf", "a‹U+202E›fdp.exe.pdf"),
        ("../../etc/passwd.pdf", "passwd.pdf"),
        ("..\\..\\boot.pdf", "boot.pdf"),
        ("a\x00b.pdf", "a‹U+0000›b.pdf"),
        ("--purge.pdf", "--purge.pdf"),
        (AS_LONG_AS_MAY_BE, AS_LONG_AS_MAY_BE),
        ("'; drop table document; --.pdf", "'; drop table document; --.pdf"),
        ("%s{0}$HOME`id`.pdf", "%s{0}$HOME`id`.pdf"),
    ],
)
def test_a_name_is_text_and_nothing_else(
    library: Library, home: Path, first: Path, given: str, kept: str
) -> None:
    (result,) = add_now(library, [Upload(first, given)])
    assert result.status == "added"
    assert result.document == kept
    assert names(library) == [kept]
    (digest,) = library.copies.all()
    suffixes = {Path(name).suffix for name in kept_names(home)}
    assert suffixes == {".pdf", ".json"}
    (beside,) = library.copies.beside(digest).names
    assert beside.name == kept
    library.remove(kept, purge=True)
    assert kept_names(home) == []


@pytest.mark.parametrize("given", ["..", "/", "\n \t", ""])
def test_what_is_no_name_is_refused(home: Path, first: Path, given: str) -> None:
    library = open_library(home)
    queue = Additions(library)
    try:
        data = io.BytesIO(first.read_bytes())
        (job,) = queue.enqueue([NewFile(given, data)])
        (found,) = [one for one in queue.jobs() if one.id == job]
        assert found.phase == "failed"
        assert found.result is not None
        assert names(library) == []
    finally:
        queue.close()
        library.close()


def test_odd_things_in_a_folder_are_passed_over(home: Path, tmp_path: Path, command: Command) -> None:
    folder = tmp_path / "in"
    (folder / "Folder.pdf").mkdir(parents=True)
    make_pdf(folder / "Folder.pdf" / "Inside.pdf", FIRST)
    (folder / "loop").symlink_to(folder)
    (folder / "self.pdf").symlink_to(folder / "self.pdf")
    (folder / "gone.pdf").symlink_to(tmp_path / "nowhere.pdf")
    os.mkfifo(folder / "pipe.pdf")
    make_pdf(folder / "-rf.pdf", SECOND)
    code, out, _ = command(home, "add", folder, "--json")
    assert code == 0
    added = [row["document"] for row in rows(out)]
    assert sorted(added) == ["-rf.pdf", "Inside.pdf"]


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["folder", "loop", "pipe", "device", "nothing"])
def test_what_is_no_file_is_refused_at_once(library: Library, home: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.pdf"
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    started = time.perf_counter()
    ((status, error),) = add(library, path)
    assert status == "failed"
    assert error
    assert ("not a file" in error) == (kind in {"pipe", "device"})
    assert time.perf_counter() - started < 2
    assert kept_names(home) == []


def test_a_file_that_cannot_be_read_to_its_end_is_refused(library: Library, home: Path) -> None:
    class Failing(io.RawIOBase):
        """A disk that fails."""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    queue = Additions(library)
    try:
        failing: Any = Failing()
        bad = NewFile("Bad.pdf", failing)
        good = NewFile("Good.pdf", io.BytesIO(b"%PDF-1.4"))
        assert len(queue.enqueue([bad, good])) == 2
        phases = {job.name: job.phase for job in queue.jobs()}
        assert phases["Bad.pdf"] == "failed"
    finally:
        queue.close()
    assert not list((home / "documents").glob("*.partial"))


def test_a_reading_process_that_is_killed_costs_one_page(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Reader.page

    def killed(reader: Reader, number: int, **given: bool) -> Any:
        if number == 2:
            os.killpg(reader._process.pid, signal.SIGKILL)
        return read(reader, number, **given)

    monkeypatch.setattr(Reader, "page", killed)
    result = add_pages(library, tmp_path / "Second.pdf", SECOND)
    assert (result.status, [page for page, _ in result.failed_pages]) in [("added", [2]), ("added", [])]
    assert library.catalog.version(result.version) is not None

"""What the store makes of full disks, odd files and odd circumstances: one clear error with its fix, and
nothing lost.
"""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import shutil
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
from chatbot.cli import main
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
from tests.disks import fill, small_disk
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now

FIRST = ["The deficit ceiling is three per cent of output in every year."]
SECOND = [f"On page {number} the debt anchor is sixty per cent of output." for number in range(1, 4)]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    yield opened
    opened.close()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line with a home, and a cheap embedder: (exit code, standard output, standard error)."""
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder())

    def run(home: Path, *arguments: object) -> tuple[int, str, str]:
        monkeypatch.setenv("FINPOLICY_HOME", str(home))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


def add(library: Library, *paths: Path) -> list[tuple[str, str]]:
    uploads = [Upload(path) for path in paths]
    return [(result.status, result.error or "") for result in add_now(library, uploads)]


def names(library: Library) -> list[str]:
    return [row.name for row in library.catalog.documents()]


# --- disks
# ------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("phase", PHASES)
def test_a_full_disk_is_one_clear_error_and_costs_nothing(
    disk: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    monkeypatch.setattr(doctor, "LITTLE_SPACE", 0)
    first, second = make_pdf(tmp_path / "First.pdf", FIRST), make_pdf(tmp_path / "Second.pdf", SECOND)
    assert command(disk, "add", first)[0] == 0
    with monkeypatch.context() as patched:
        fill_before(patched, disk, *PHASES[phase])
        code, out, err = command(disk, "add", second, "--json")
    assert code in {1, 3}
    assert "The disk is full: nothing can be written to " in (out if code == 1 else err)
    assert "remove NAME --purge" in (out if code == 1 else err)
    assert all(json.loads(line)["status"] in {"failed", "added"} for line in out.splitlines())
    assert "First.pdf" in command(disk, "list")[1]
    (disk / "ballast").unlink()
    assert command(disk, "add", second)[0] == 0
    assert command(disk, "doctor") == (0, "", "The store is sound.\n")
    assert [json.loads(line)["state"] for line in command(disk, "list", "--json")[1].splitlines()] == [
        "ready",
        "ready",
    ]
    for query, document in (("deficit ceiling", "First.pdf"), ("debt anchor", "Second.pdf")):
        assert json.loads(command(disk, "search", query, "--json")[1].splitlines()[0])["document"] == document
    assert not list(disk.rglob("*.partial"))


def test_names_that_find_no_space_are_written_later(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replacement stands in the catalogue already: it succeeds, and what stands beside the copies
    follows.
    """
    monkeypatch.setattr(doctor, "LITTLE_SPACE", 0)
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    library = Library(Settings(home=disk), HashEmbedder())
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
    assert [name.removed_at for name in library.copies.names(before)] == [None]
    library.close()
    (disk / "ballast").unlink()
    again = Library(Settings(home=disk), HashEmbedder())
    assert [name.removed_at is None for name in again.copies.names(before)] == [False]
    assert list(doctor.examine(again)) == []
    again.close()


def test_a_full_disk_is_told_from_a_damaged_store_and_from_one_in_use(disk: Path, tmp_path: Path) -> None:
    library = Library(Settings(home=disk), HashEmbedder())
    add(library, make_pdf(tmp_path / "First.pdf", FIRST))
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


@pytest.mark.parametrize("most", [1_000, 30_000, 150_000])
def test_a_limit_on_the_size_of_files_is_no_crash(tmp_path: Path, root: Path, most: int) -> None:
    """Where no small disk can be made: writes fail at other places for want of room, and the next process
    goes on.
    """
    path = make_pdf(tmp_path / "Second.pdf", SECOND * 10)
    # What measures coverage would fail at the limit too, loudly.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment |= {"FINPOLICY_HOME": str(tmp_path / "home"), "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(most), path],
        env=environment,
        capture_output=True,
        text=True,
        cwd=root,
        check=False,
    )
    assert done.returncode in {1, 3}
    assert "Traceback" not in done.stderr
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    assert add(library, path)[0][0] in {"added", "unchanged"}
    assert list(doctor.examine(library)) == []
    library.close()


def test_a_store_that_may_only_be_read_says_so(disk: Path, tmp_path: Path, command: Command) -> None:
    path = make_pdf(tmp_path / "First.pdf", FIRST)
    assert command(disk, "add", path)[0] == 0
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for arguments in (["add", path], ["search", "deficit"], ["remove", "First.pdf"], ["rebuild"]):
        code, out, err = command(disk, *arguments)
        assert (code, out) == (3, "")
        assert "cannot be written" in err and "FINPOLICY_HOME" in err
    assert "First.pdf" in command(disk, "list")[1]


# --- other processes, other versions
# ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["search", "deficit"], ["list"], ["doctor"], ["rebuild"]],
    ids=lambda arguments: arguments[0],
)
def test_a_store_of_a_later_version_is_left_alone(
    tmp_path: Path, command: Command, arguments: Sequence[str]
) -> None:
    home = tmp_path / "home"
    command(home, "add", make_pdf(tmp_path / "First.pdf", FIRST))
    with closing(sqlite3.connect(home / "chroma_db" / "catalog.sqlite3")) as connection:
        connection.execute("pragma user_version = 99")
    code, out, err = command(home, *arguments)
    assert (code, out) == (3, "")
    assert "Update the program" in err
    assert not list((home / "chroma_db").glob("*.before-*"))


def test_a_second_process_is_refused_with_the_pid_and_a_fix(tmp_path: Path, command: Command) -> None:
    lock = StoreLock(tmp_path / "chroma_db" / "store.lock")
    for arguments in (["search", "deficit"], ["remove", "First.pdf"], ["rebuild"], ["doctor"]):
        code, out, err = command(tmp_path, *arguments)
        assert (code, out) == (3, "")
        assert f"in use by process {os.getpid()}" in err and "stop that process" in err
    lock.close()


def test_a_lock_of_a_dead_process_is_no_obstacle(tmp_path: Path, command: Command) -> None:
    (tmp_path / "chroma_db").mkdir()
    (tmp_path / "chroma_db" / "store.lock").write_text("999999")
    assert command(tmp_path, "add", make_pdf(tmp_path / "First.pdf", FIRST))[0] == 0


@pytest.mark.alone
def test_list_waits_for_no_transaction(tmp_path: Path, command: Command) -> None:
    command(tmp_path, "add", make_pdf(tmp_path / "First.pdf", FIRST))
    lock = StoreLock(tmp_path / "chroma_db" / "store.lock")
    with closing(sqlite3.connect(tmp_path / "chroma_db" / "catalog.sqlite3", isolation_level=None)) as writer:
        writer.execute("begin immediate")
        writer.executemany(
            "insert into meta values (?, ?)", ((str(number), "x" * 1000) for number in range(5000))
        )
        started = time.perf_counter()
        code, out, _ = command(tmp_path, "list")
        assert time.perf_counter() - started < 1
        writer.execute("rollback")
    lock.close()
    assert code == 0 and "First.pdf" in out


@pytest.mark.parametrize("folder", ["keywords", "vectors"])
def test_an_index_deleted_while_running_stops_neither_searching_nor_adding(
    tmp_path: Path, folder: str
) -> None:
    with service.Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder()) as chatbot:
        add(chatbot.library, make_pdf(tmp_path / "First.pdf", FIRST))
        shutil.rmtree(tmp_path / "home" / "chroma_db" / folder)
        assert chatbot.search("deficit ceiling")[0].document == "First.pdf"
        assert add(chatbot.library, make_pdf(tmp_path / "Second.pdf", SECOND)) == [("added", "")]
        assert chatbot.search("debt anchor")[0].document == "Second.pdf"
        assert chatbot.search("deficit ceiling")[0].document == "First.pdf"
        chatbot.resume()
        assert chatbot.library.indexes.differences() == []


# --- many files, odd files
# ----------------------------------------------------------------------------------------------------------

DROPPED = 500
# Bytes that all of them together may add to what the process holds, of which the first additions of any
# process take a hundred million; and seconds that a look at the queue may take.
MOST_GROWTH = 200 * 2**20
LONGEST_LOOK = 0.1


@pytest.mark.alone
def test_500_files_at_once_are_all_kept_and_none_is_lost(tmp_path: Path) -> None:
    data = make_pdf(tmp_path / "One.pdf", FIRST).read_bytes()
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    library.indexes.vectors.count()
    add(library, tmp_path / "One.pdf")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    queue = Additions(library, readers=1)
    looks: list[float] = []
    try:
        queue.enqueue(
            [NewFile(f"File {number}.pdf", io.BytesIO(data + b"%%%d" % number)) for number in range(DROPPED)]
        )
        end = time.monotonic() + 60
        while (
            len(looks) < 50 or sum(job.result is not None for job in queue.jobs()) < 10
        ) and time.monotonic() < end:
            started = time.perf_counter()
            assert len(queue.jobs()) == DROPPED
            looks.append(time.perf_counter() - started)
            time.sleep(0.02)
        assert {job.phase for job in queue.jobs()} <= {"waiting", "reading", "embedding", "done"}
    finally:
        queue.close()
    library.close()
    assert sorted(looks)[len(looks) * 9 // 10] < LONGEST_LOOK
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < MOST_GROWTH
    again = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    added = {row.name for row in again.catalog.documents()} - {"One.pdf"}
    left = {taken.name for taken in again.adding.left()}
    assert len(added) >= 10
    assert added | left == {f"File {number}.pdf" for number in range(DROPPED)}
    again.close()


@pytest.mark.alone
def test_a_file_of_two_gigabytes_is_refused_unread(library: Library, tmp_path: Path) -> None:
    with (tmp_path / "Huge.pdf").open("wb") as file:
        file.truncate(2 * 2**30)
    started = time.perf_counter()
    ((status, error),) = add(library, tmp_path / "Huge.pdf")
    assert (status, "2048 MiB" in error, "FINPOLICY_MAX_UPLOAD_MB" in error) == ("failed", True, True)
    assert time.perf_counter() - started < 1
    assert list((tmp_path / "home" / "documents").iterdir()) == []


def test_a_file_that_grows_is_refused_or_whole(library: Library, tmp_path: Path) -> None:
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
    assert (status, error) == (
        "failed",
        "The file changed while it was read. Add it again when it is complete.",
    )
    assert list((tmp_path / "home" / "documents").iterdir()) == []
    assert add(library, path) == [("added", "")]
    assert set(library.copies.all()) == library.catalog.hashes()


def pdf_of(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1, the first its catalogue."""
    data, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(
        b"%010d 00000 n \n" % place for place in places
    )
    return (
        data
        + table
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
    )


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n" % (len(data), entries) + data + b"\nendstream"


def page_of(contents: bytes, extra: bytes = b"") -> list[bytes]:
    """Catalogue, page tree, one page in Helvetica, its contents as object 4, and the font."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    page = (
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 400] /Contents 4 0 R /Resources << /Font << "
            b"/F 5 0 R >> >> "
        )
        + extra
        + b" >>"
    )
    return [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        contents,
        font,
    ]


@cache
def gigabyte_of_zeros() -> bytes:
    """Deflated, about a megabyte: what a megabyte becomes, over and over, and the checksum of them all."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = squeeze.compress(bytes(2**20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    checksum = (2**30 % 65_521 << 16) + 1
    return (
        b"\x78\xda"
        + block * 2**10
        + zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()
        + checksum.to_bytes(4, "big")
    )


@pytest.mark.timed
@pytest.mark.parametrize("layers", [1, 2])
def test_a_stream_of_a_gigabyte_ends_and_costs_the_others_nothing(
    library: Library, tmp_path: Path, layers: int
) -> None:
    data = gigabyte_of_zeros()
    for _ in range(layers - 1):
        data = zlib.compress(data, 9)
    bomb = tmp_path / "Bomb.pdf"
    bomb.write_bytes(pdf_of(page_of(stream(data, b"/Filter [" + b"/FlateDecode " * layers + b"]"))))
    started = time.perf_counter()
    results = add_now(library, [Upload(bomb), Upload(make_pdf(tmp_path / "First.pdf", FIRST))])
    assert time.perf_counter() - started < 60
    assert results[-1].status == "added" and not results[-1].failed_pages
    assert results[0].status in {"added", "failed"} and results[0].chunks == 0
    assert results[0].error or results[0].failed_pages or results[0].warning


def test_nothing_in_a_document_is_run(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        service.Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder()) as chatbot,
    ):
        server.setblocking(False)
        link = b"http://127.0.0.1:%d/" % server.getsockname()[1]
        text = stream(b"BT /F 12 Tf 20 350 Td (The deficit ceiling is three per cent of output.) Tj ET")
        annotation = (
            b"/Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 400 400] /A << /S /URI /URI ("
            + link
            + b") >> >>]"
        )
        opened = b"/AA << /O << /S /JavaScript /JS (app.launchURL('" + link + b"')) >> >>"
        objects = page_of(text, annotation + opened)
        launch = (
            b"<< /S /Launch /F (/bin/sh) /Unix << /F (/bin/sh) /P (-c 'touch "
            + str(marker).encode()
            + b"') >> >>"
        )
        start = (
            b"<< /S /JavaScript /JS (this.submitForm('"
            + link
            + b"'); app.launchURL('"
            + link
            + b"', true)) /Next "
            + launch
            + b" >>"
        )
        attached = (
            b"/Names << /EmbeddedFiles << /Names [(run.sh) << /Type /Filespec /F (run.sh) /EF << /F 6 0 R "
            b">> >>] >> >>"
        )
        objects[0] = b"<< /Type /Catalog /Pages 2 0 R /OpenAction " + start + attached + b" >>"
        objects.append(stream(b"#!/bin/sh\ntouch " + str(marker).encode(), b"/Type /EmbeddedFile"))
        (tmp_path / "Active.pdf").write_bytes(pdf_of(objects))
        (result,) = chatbot.add([Upload(tmp_path / "Active.pdf")])
        assert (result.status, result.chunks) == ("added", 1)
        assert chatbot.page_image(result.version, 1, "deficit ceiling")[0].startswith(b"\x89PNG")
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not marker.exists()
    assert not list(tmp_path.rglob("run.sh"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\nb.pdf", "a‹U+000A›b.pdf"),
        ("a\u202efdp.exe.pdf", "a‹U+202E›fdp.exe.pdf"),
        ("../../etc/passwd.pdf", "passwd.pdf"),
        ("..\\..\\boot.pdf", "boot.pdf"),
        ("a\x00b.pdf", "a‹U+0000›b.pdf"),
        ("--purge.pdf", "--purge.pdf"),
        ("a" * (LONGEST_NAME - 4) + ".pdf", "a" * (LONGEST_NAME - 4) + ".pdf"),
        ("'; drop table document; --.pdf", "'; drop table document; --.pdf"),
        ("%s{0}$HOME`id`.pdf", "%s{0}$HOME`id`.pdf"),
    ],
)
def test_a_name_is_text_and_nothing_else(library: Library, tmp_path: Path, given: str, kept: str) -> None:
    (result,) = add_now(library, [Upload(make_pdf(tmp_path / "First.pdf", FIRST), given)])
    assert (result.status, result.document, names(library)) == ("added", kept, [kept])
    assert {path.suffix for path in (tmp_path / "home" / "documents").iterdir()} == {".pdf", ".json"}
    (digest,) = library.copies.all()
    assert [name.name for name in library.copies.names(digest)] == [kept]
    library.remove(kept, purge=True)
    assert list((tmp_path / "home" / "documents").iterdir()) == []


@pytest.mark.parametrize("given", ["a" * 300 + ".pdf", "..", "/", "\n \t", ""])
def test_what_is_no_name_is_refused(tmp_path: Path, given: str) -> None:
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    queue = Additions(library)
    try:
        (job,) = queue.enqueue(
            [NewFile(given, io.BytesIO(make_pdf(tmp_path / "First.pdf", FIRST).read_bytes()))]
        )
        (found,) = [one for one in queue.jobs() if one.id == job]
        assert (found.phase, found.result is not None) == ("failed", True)
        assert names(library) == []
    finally:
        queue.close()
        library.close()


def test_odd_things_in_a_folder_are_passed_over(tmp_path: Path, command: Command) -> None:
    folder = tmp_path / "in"
    (folder / "Folder.pdf").mkdir(parents=True)
    make_pdf(folder / "Folder.pdf" / "Inside.pdf", FIRST)
    (folder / "loop").symlink_to(folder)
    (folder / "self.pdf").symlink_to(folder / "self.pdf")
    (folder / "gone.pdf").symlink_to(tmp_path / "nowhere.pdf")
    os.mkfifo(folder / "pipe.pdf")
    make_pdf(folder / "-rf.pdf", SECOND)
    code, out, _ = command(tmp_path / "home", "add", folder, "--json")
    assert (code, sorted(json.loads(line)["document"] for line in out.splitlines())) == (
        0,
        ["-rf.pdf", "Inside.pdf"],
    )


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["folder", "loop", "pipe", "nothing"])
def test_what_is_no_file_is_refused_at_once(library: Library, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.pdf"
    made: dict[str, Callable[[], object]] = {
        "folder": path.mkdir,
        "loop": lambda: path.symlink_to(path),
        "pipe": lambda: os.mkfifo(path),
        "nothing": lambda: None,
    }
    made[kind]()
    started = time.perf_counter()
    ((status, error),) = add(library, path)
    assert (status, bool(error)) == ("failed", True)
    assert time.perf_counter() - started < 2
    assert list((tmp_path / "home" / "documents").iterdir()) == []


def test_a_file_that_cannot_be_read_to_its_end_is_refused(library: Library, tmp_path: Path) -> None:
    class Failing(io.RawIOBase):
        """A disk that fails."""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    queue = Additions(library)
    try:
        bad: Any = Failing()
        jobs = queue.enqueue([NewFile("Bad.pdf", bad), NewFile("Good.pdf", io.BytesIO(b"%PDF-1.4"))])
        assert len(jobs) == 2
        assert next(job.phase for job in queue.jobs() if job.name == "Bad.pdf") == "failed"
    finally:
        queue.close()
    assert not list((tmp_path / "home" / "documents").glob("*.partial"))


def test_a_reading_process_that_is_killed_costs_one_page(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Reader.text

    def killed(reader: Reader, number: int) -> Any:
        if number == 2:
            reader._process.kill()
        return read(reader, number)

    monkeypatch.setattr(Reader, "text", killed)
    (result,) = add_now(library, [Upload(make_pdf(tmp_path / "Second.pdf", SECOND))])
    assert (result.status, [page for page, _ in result.failed_pages]) in [("added", [2]), ("added", [])]
    assert library.catalog.version(result.version) is not None

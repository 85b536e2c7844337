"""Runs the commands for documents: add, list, remove, restore, rebuild, doctor."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatbot.cli.exit_codes import DONE, FAILED, open_chatbot
from chatbot.cli.output import emit, note, progress_bars
from chatbot.cli.served_command import ask_password, go_on, is_interactive, refuse_beside_a_server, served
from chatbot.errors import QuestionError, StoreError, UsageError
from chatbot.models.tokens import encodable
from chatbot.settings import PROGRAM, Settings
from chatbot.store.database import NewerStoreError
from chatbot.store.document_names import known_as, listed
from ingestion.invisible_characters import one_line, visible

if TYPE_CHECKING:
    from chatbot.records import DocumentRow
    from chatbot.service import Chatbot
    from chatbot.store.addition_queue import Additions
    from chatbot.store.doctor import Finding
    from chatbot.store.library import AddResult, Upload

__all__ = ["add", "doctor", "list_documents", "read_passwords", "rebuild_store", "remove", "restore"]

STARTED = time.perf_counter()
PASSWORD_TRIES = 3
# Between two looks at whether a server has erased a document.
TICK_SECONDS = 0.05
# What `list` shows of a document beside its name.
LISTED = [
    "id",
    "state",
    "pages",
    "chunks",
    "embedded",
    "ocr_pages",
    "failed_pages",
    "lacks",
    "to_come",
]
LISTED += ["added_at", "removed_at", "replaced_at", "same_as", "protected", "period", "status"]


def add(options: argparse.Namespace, settings: Settings) -> int:
    if options.dask:
        refuse_beside_a_server("add --dask")
    started = STARTED if (command := served()) is None else command.began
    uploads = _uploads(options)
    failed = False
    left = [known_as(upload.name or upload.path.name) for upload in uploads]
    with (
        _naming_what_to_add_again(left),
        open_chatbot(settings) as chatbot,
        _cluster_reading(chatbot, options.dask) as readers,
        _queue(chatbot, settings, here=bool(options.dask)) as queue,
        _telling_what_is_left(chatbot, left),
        progress_bars() as progress,
    ):
        if not uploads:
            return _add_unread(chatbot, options, progress, queue)
        locked: set[str] = set()
        for result in chatbot.add(
            uploads, progress=progress, started=started, through=queue, readers=readers
        ):
            if result.document in left:
                left.remove(result.document)
            if result.needs_password and is_interactive():
                locked.add(result.document)
                continue
            failed |= result.status == "failed"
            emit(_add_line(result), _add_text(result), as_json=options.json)
        for upload in uploads:
            name = known_as(upload.name or upload.path.name)
            if name in locked:
                locked.remove(name)
                failed |= not _add_locked(chatbot, upload, options, queue)
        for result in chatbot.resume(progress=progress) if queue is None else ():
            print(visible(f"From an earlier run: {_add_text(result)}"), file=sys.stderr)
    return FAILED if failed else DONE


def _add_unread(
    chatbot: Chatbot,
    options: argparse.Namespace,
    progress: Callable[[str, str, int, int], None],
    queue: Additions | None,
) -> int:
    """Adds what was copied into the folder of documents."""
    results = []
    for result in chatbot.add_unread(read_passwords(options.passwords), progress=progress, through=queue):
        results.append(result)
        emit(_add_line(result), _add_text(result), as_json=options.json)
    if not results:
        print(f"There is nothing new in {chatbot.library.copies.folder}.", file=sys.stderr)
    if any(result.status == "failed" for result in results):
        return FAILED
    return DONE


@contextmanager
def _naming_what_to_add_again(left: list[str]) -> Iterator[None]:
    """On an interrupt, names the files that must be added again.

    left: the names without a result so far; it shrinks as the addition goes on.
    """
    try:
        yield
    except KeyboardInterrupt:
        if left:
            print(visible(f"\nNot added yet, so add them again: {listed(left)}."), file=sys.stderr)
        raise


@contextmanager
def _telling_what_is_left(chatbot: Chatbot, left: list[str]) -> Iterator[None]:
    """On an interrupt, says what becomes of a document that can be searched already but is not fully read.

    Such a document is taken out of `left`.
    """
    try:
        yield
    except KeyboardInterrupt:
        searched = {
            version.document
            for version in [*chatbot.library.incomplete(), *chatbot.library.without_vectors()]
        }
        left[:] = [name for name in left if name not in searched]
        if searched:
            what = "Already searchable; completed by the next `add` or `doctor`, or while the server runs"
            print(visible(f"\n{what}: {listed(sorted(searched))}."), file=sys.stderr)
        raise


@contextmanager
def _cluster_reading(chatbot: Chatbot, scheduler: str | None) -> Iterator[int]:
    """Has a Dask cluster read files meanwhile, if there is one.

    Yields how many it reads at once, 0 for none.
    """
    if scheduler is None:
        yield 0
        return
    from chatbot.store.cluster_reading import Cluster

    with closing(Cluster(scheduler)) as cluster:
        chatbot.library.adding.elsewhere = cluster.read
        try:
            yield cluster.places
        finally:
            chatbot.library.adding.elsewhere = None


@contextmanager
def _queue(chatbot: Chatbot, settings: Settings, *, here: bool) -> Iterator[Additions | None]:
    """Yields the queue of the server that runs the command, or of all that share a Postgres.

    None in a process of its own, or where all is to be read `here`.
    """
    if (command := served()) is not None:
        yield command.store.additions
    elif settings.database and not here:
        from chatbot.store.addition_opening import open_additions

        works = dataclasses.replace(settings, server_adds=True)
        with closing(open_additions(chatbot.library, works, readers=settings.threads)) as queue:
            yield queue
    else:
        yield None


def _add_locked(
    chatbot: Chatbot, upload: Upload, options: argparse.Namespace, queue: Additions | None
) -> bool:
    """Asks a few times for the password of a protected file; False if none was given."""
    name = upload.name or upload.path.name
    for _ in range(PASSWORD_TRIES):
        try:
            password = ask_password(visible(f"Password for {name} (Enter to skip): "))
        except EOFError:
            password = ""
        again = dataclasses.replace(upload, password=password or None)
        result = next(iter(chatbot.add([again], through=queue)))
        if not (result.needs_password and password):
            break
        print("That password is wrong.", file=sys.stderr)
    emit(_add_line(result), _add_text(result), as_json=options.json)
    return result.status != "failed"


def _uploads(options: argparse.Namespace) -> list[Upload]:
    from chatbot.store.library import Upload

    passwords = read_passwords(options.passwords)
    paths = [inside for path in options.paths for inside in _walk(path)]
    if options.name is not None and len(paths) != 1:
        raise UsageError(
            f"--name takes one file, but there are {len(paths)}.", hint="Add the files one by one."
        )
    return [Upload(path, options.name or "", passwords.get(known_as(path.name))) for path in paths]


def _walk(path: Path) -> list[Path]:
    """Returns a file as it is, and a folder's PDFs in order of name.

    A folder without any is returned itself, to be reported like a file that cannot be read.
    """
    from ingestion.reading.formats import is_named_like_a_document

    if path.is_dir():
        inside = sorted(
            found for found in path.rglob("*") if is_named_like_a_document(found) and found.is_file()
        )
    else:
        inside = []
    return inside or [path]


def read_passwords(path: Path | None) -> dict[str, str]:
    """Reads the passwords of a file, by document name. Raises QuestionError."""
    if path is None:
        return {}
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(
            f"Cannot read the passwords in {path}.",
            hint="Write one line per file: its name, a tab, the password.",
        ) from error
    passwords = {}
    for line in lines:
        name, tab, password = line.partition("\t")
        if tab:
            passwords[known_as(name)] = password
    return passwords


def _add_line(result: AddResult) -> dict[str, Any]:
    return {
        "document": result.document,
        "id": result.id,
        "status": result.status,
        "pages": result.pages,
        "chunks": result.chunks,
        "ocr_pages": result.ocr_pages,
        "failed_pages": [{"page": page, "reason": reason} for page, reason in result.failed_pages],
        "seconds": result.seconds,
        "searchable_seconds": result.searchable_seconds,
        "complete_seconds": result.complete_seconds,
        "error": result.error,
        **({"warning": result.warning} if result.warning else {}),
    }


def _add_text(result: AddResult) -> str:
    if result.error:
        if result.needs_password and not is_interactive():
            how = " Use --passwords FILE.tsv, with one line per file: file name, tab, password."
        else:
            how = ""
        return f"failed     {result.document}: {result.error}{how}"
    parts = [f"{result.pages} pages", f"{result.chunks} chunks"]
    parts += [f"{result.ocr_pages} read by OCR"] if result.ocr_pages else []
    parts += [f"{result.complete_seconds or result.seconds:.1f} s"] if result.status != "unchanged" else []
    lines = [f"{result.status:<10} {result.document}: {', '.join(parts)}"]
    lines += [f"           page {page}: {reason}" for page, reason in result.failed_pages]
    return "\n".join([*lines, *([f"           {result.warning}"] if result.warning else [])])


def list_documents(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.store.catalog import NAME, Catalog, Taken
    from chatbot.store.database import place_of
    from chatbot.store.migration.migration_mark import refuse_unfinished

    place = place_of(settings, NAME)
    rows: list[DocumentRow] = []
    titles: dict[str, str] = {}
    waiting: list[Taken] = []
    if not isinstance(place, Path) or place.exists():
        # Works beside a running chat and waits for nobody.
        with closing(Catalog(place, read_only=True)) as catalog:
            refuse_unfinished(settings, catalog.database)
            rows = catalog.documents()
            titles = catalog.titles()
            waiting = catalog.waiting()
    for row in rows:
        title = titles.get(row.name, row.name)
        fields = {field: getattr(row, field) for field in LISTED}
        line = {"document": row.name, "title": title, **fields}
        called = "" if title == row.name else f": {title}"
        if said := [fact for fact in (row.period, row.status) if fact]:
            facts = f" ({', '.join(said)})"
        else:
            facts = ""
        same = f" (the same file as {row.same_as})" if row.same_as else ""
        coming = f" ({row.coming})" if row.coming else ""
        emit(
            line,
            (
                f"{row.state:<9} {row.pages:>5} pages {row.embedded:>6}/{row.chunks} vectors  "
                f"{row.name}{facts}{called}{same}{coming}"
            ),
            as_json=options.json,
        )
    for taken in waiting:
        print(
            visible(f"Not added yet: {taken.name}{f' ({taken.problem})' if taken.problem else ''}"),
            file=sys.stderr,
        )
    if not rows and settings.documents.is_dir():
        copies = len(list(settings.documents.glob("*.pdf")))
    else:
        copies = 0
    if copies > len(waiting):
        print(
            f"The catalogue is empty, but there are {copies} copies. Run: {PROGRAM} doctor", file=sys.stderr
        )
    elif not rows and not waiting:
        print(f"No documents yet. Add some: {PROGRAM} add FOLDER", file=sys.stderr)
    return DONE


def remove(options: argparse.Namespace, settings: Settings) -> int:
    with open_chatbot(settings) as chatbot:
        if options.purge and served() is not None:
            left = _erase(options.name)
        else:
            left = chatbot.remove(options.name, purge=options.purge)
    again = f"{PROGRAM} restore -- {shlex.quote(known_as(options.name))}"
    undo = "Erased." if options.purge else f"Removed. Undo within 7 days: {again}"
    emit(
        {"document": options.name, "status": "purged" if options.purge else "removed"},
        undo,
        as_json=options.json,
    )
    for path in left if options.purge else ():
        print(
            visible(
                f"The file you copied into the documents folder is still there. Delete it yourself: {path}"
            ),
            file=sys.stderr,
        )
    return DONE


def _erase(name: str) -> list[Path]:
    """Has the server erase a document, and waits until it is erased. Returns what Library.remove does."""
    command = served()
    assert command is not None
    store, known = command.store, known_as(encodable(name))
    left = store.erase(known)
    while known in store.additions.erasing():
        go_on()
        time.sleep(TICK_SECONDS)
    return left


def restore(options: argparse.Namespace, settings: Settings) -> int:
    with open_chatbot(settings) as chatbot:
        if (command := served()) is None:
            chatbot.restore(options.name)
        else:
            command.store.restore(known_as(encodable(options.name)))
    emit({"document": options.name, "status": "restored"}, "Restored.", as_json=options.json)
    return DONE


def rebuild_store(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.store.rebuilding import rebuild

    refuse_beside_a_server("rebuild")
    passwords = read_passwords(options.passwords)
    failed = False
    with progress_bars() as progress:
        for result in rebuild(settings, passwords, progress=progress):
            failed |= result.status == "failed"
            emit(_add_line(result), _add_text(result), as_json=options.json)
    return FAILED if failed else DONE


_checking = threading.Lock()


@contextmanager
def _alone() -> Iterator[None]:
    """Raises StoreError where a check in a server would take the work of others for left over."""
    if (command := served()) is None:
        yield
        return
    command.must_be_idle("doctor")
    if not _checking.acquire(blocking=False):
        raise StoreError("The store is being checked already.", hint="Try again later.", retryable=True)
    try:
        yield
    finally:
        _checking.release()


def _findings(
    options: argparse.Namespace, settings: Settings, progress: Callable[[str, str, int, int], None]
) -> Iterator[Finding]:
    """Yields what is wrong, also with a store that cannot be opened for it. Raises StoreError for one that
    another process or a later version of the program has.
    """
    from chatbot.records import Notice
    from chatbot.store.doctor import Finding

    try:
        with _alone(), open_chatbot(settings, mend=options.repair) as chatbot:
            yield from chatbot.check(repair=options.repair, progress=progress)
            if missing := chatbot.signals.not_set_up():
                note(Notice(missing.message, missing.hint))
    except StoreError as error:
        if error.retryable or isinstance(error, NewerStoreError):
            raise
        yield Finding(None, error.message.removesuffix("."), error.hint)


def doctor(options: argparse.Namespace, settings: Settings) -> int:
    found = False
    with progress_bars() as progress:
        for finding in _findings(options, settings, progress):
            found |= not finding.mended
            line = {
                "document": finding.document,
                "problem": finding.problem,
                "fix": finding.fix,
                **({"mended": True} if finding.mended else {}),
            }
            said = one_line(f"{finding.document or 'store'}: {finding.problem}. {finding.fix}")
            emit(line, f"{'fixed' if finding.mended else 'problem'}    {said}", as_json=options.json)
    if not found:
        print("The store is in order.", file=sys.stderr)
    return FAILED if found else DONE

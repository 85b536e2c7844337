"""Runs the commands for documents: add, list, remove, restore, rebuild, doctor."""

from __future__ import annotations

import dataclasses
import shlex
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatbot.cli.output import DONE, FAILED, Lines, note, open_chatbot, printed, progress_bars, say
from chatbot.cli.served_command import ask_password, go_on, is_interactive, refuse_beside_a_server, served
from chatbot.errors import QuestionError, StoreError, UsageError
from chatbot.models.tokens import encodable
from chatbot.serialize import fields_of
from chatbot.settings import PROGRAM, Settings
from chatbot.store.database import NewerStoreError
from chatbot.store.document_names import known_as, listed
from ingestion.invisible_characters import one_line, visible
from ingestion.ocr.scan_languages import languages_text

if TYPE_CHECKING:
    from chatbot.service import Chatbot
    from chatbot.store.addition_queue import Additions
    from chatbot.store.doctor import Finding
    from chatbot.store.library import AddResult, Upload

__all__ = ["add", "doctor", "list_documents", "read_passwords", "rebuild_store", "remove", "restore"]

STARTED = time.perf_counter()
PASSWORD_TRIES = 3
# Between two looks at whether a server has erased a document.
TICK_SECONDS = 0.05
# What `add` shows of a document, and `list`.
ADDED = ("document", "id", "status", "pages", "chunks", "ocr_pages")
SECONDS = ("seconds", "searchable_seconds", "complete_seconds", "error")
LISTED = ("id", "state", "pages", "chunks", "embedded", "ocr_pages", "failed_pages", "lacks", "to_come")
LISTED_TIMES = ("added_at", "removed_at", "replaced_at", "same_as", "protected", "period", "status")


@printed
def add(options: Namespace, settings: Settings) -> Lines:
    if options.dask:
        refuse_beside_a_server("add --dask")
    started = STARTED if (command := served()) is None else command.began
    passwords = read_passwords(options.passwords)
    uploads = _uploads(options, passwords)
    left = [known_as(upload.name or upload.path.name) for upload in uploads]
    locked: set[str] = set()
    statuses = []
    with (
        _naming_what_to_add_again(left),
        open_chatbot(settings) as chatbot,
        _reading(chatbot, settings, options.dask) as (queue, readers),
        _telling_what_is_left(chatbot, left),
        progress_bars() as progress,
    ):
        if uploads:
            results = chatbot.add(uploads, progress=progress, started=started, through=queue, readers=readers)
        else:
            results = chatbot.add_unread(
                passwords, progress=progress, through=queue, languages=options.languages or ""
            )
        for result in results:
            if result.document in left:
                left.remove(result.document)
            if uploads and result.needs_password and is_interactive():
                locked.add(result.document)
                continue
            statuses.append(result.status)
            yield _added(result)
        for upload in uploads:
            name = known_as(upload.name or upload.path.name)
            if name in locked:
                locked.remove(name)
                result = _add_locked(chatbot, upload, queue)
                statuses.append(result.status)
                yield _added(result)
        if not (uploads or statuses):
            say(f"There is nothing new in {chatbot.library.copies.folder}.")
        for result in chatbot.resume(progress=progress) if uploads and queue is None else ():
            say(f"From an earlier run: {_add_text(result)}")
    return FAILED if "failed" in statuses else DONE


@contextmanager
def _naming_what_to_add_again(left: list[str]) -> Iterator[None]:
    """On an interrupt, names the files that must be added again.

    left: the names without a result so far; it shrinks as the addition goes on.
    """
    try:
        yield
    except KeyboardInterrupt:
        if left:
            say(f"\nNot added yet, so add them again: {listed(left)}.")
        raise


@contextmanager
def _telling_what_is_left(chatbot: Chatbot, left: list[str]) -> Iterator[None]:
    """On an interrupt, says what becomes of a document that can be searched already but is not fully read.

    Such a document is taken out of `left`.
    """
    try:
        yield
    except KeyboardInterrupt:
        library = chatbot.library
        searched = {version.document for version in [*library.incomplete(), *library.without_vectors()]}
        left[:] = [name for name in left if name not in searched]
        if searched:
            what = "Already searchable; completed by the next `add` or `doctor`, or while the server runs"
            say(f"\n{what}: {listed(sorted(searched))}.")
        raise


@contextmanager
def _reading(
    chatbot: Chatbot, settings: Settings, scheduler: str | None
) -> Iterator[tuple[Additions | None, int]]:
    """Yields what queue reads the files, None for one of their own, and how many at once, 0 for the usual.

    It is the queue of the server that runs the command, or of all that share a Postgres. A Dask cluster
    reads what is queued here.
    """
    queue, places = None, 0
    with ExitStack() as opened:
        command = served()
        if command is None and scheduler is not None:
            from chatbot.store.cluster_reading import Cluster

            cluster = opened.enter_context(closing(Cluster(scheduler)))
            chatbot.library.adding.elsewhere, places = cluster.read, cluster.places
        if command is not None:
            queue = command.store.additions
        elif settings.database:
            from chatbot.store.addition_queue import open_additions

            works = dataclasses.replace(settings, server_adds=True)
            additions = open_additions(chatbot.library, works, readers=places or settings.threads)
            queue = opened.enter_context(closing(additions))
        yield queue, places


def _add_locked(chatbot: Chatbot, upload: Upload, queue: Additions | None) -> AddResult:
    """Asks a few times for the password of a protected file."""
    name = upload.name or upload.path.name
    for _ in range(PASSWORD_TRIES):
        password = ask_password(visible(f"Password for {name} (Enter to skip): "))
        again = dataclasses.replace(upload, password=password or None)
        result = next(iter(chatbot.add([again], through=queue)))
        if not (result.needs_password and password):
            break
        say("That password is wrong.")
    return result


def _uploads(options: Namespace, passwords: dict[str, str]) -> list[Upload]:
    from chatbot.store.library import Upload

    paths = [inside for path in options.paths for inside in _walk(path)]
    if options.name is not None and len(paths) != 1:
        raise UsageError(
            f"--name takes one file, but there are {len(paths)}.", hint="Add the files one by one."
        )
    return [
        Upload(path, options.name or "", passwords.get(known_as(path.name)), options.languages or "")
        for path in paths
    ]


def _walk(path: Path) -> list[Path]:
    """Returns a file as it is, and a folder's documents in order of name.

    A folder without any is returned itself, to be reported like a file that cannot be read.
    """
    from ingestion.reading.formats import is_named_like_a_document

    inside = path.rglob("*") if path.is_dir() else ()
    return sorted(found for found in inside if is_named_like_a_document(found) and found.is_file()) or [path]


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
    rows = [line.partition("\t") for line in lines]
    return {known_as(name): password for name, tab, password in rows if tab}


def _added(result: AddResult) -> tuple[dict[str, Any], str]:
    line = fields_of(result, ADDED)
    line["failed_pages"] = [{"page": page, "reason": reason} for page, reason in result.failed_pages]
    line |= fields_of(result, (*SECONDS, "warning") if result.warning else SECONDS)
    return line, _add_text(result)


def _add_text(result: AddResult) -> str:
    if result.error:
        how = ""
        if result.needs_password and not is_interactive():
            how = " Use --passwords FILE.tsv, with one line per file: file name, tab, password."
        return f"failed     {result.document}: {result.error}{how}"
    parts = [f"{result.pages} pages", f"{result.chunks} chunks"]
    parts += [f"{result.ocr_pages} read by OCR"] if result.ocr_pages else []
    parts += [f"{result.complete_seconds or result.seconds:.1f} s"] if result.status != "unchanged" else []
    lines = [f"{result.status:<10} {result.document}: {', '.join(parts)}"]
    lines += [f"           page {page}: {reason}" for page, reason in result.failed_pages]
    return "\n".join([*lines, *([f"           {result.warning}"] if result.warning else [])])


@printed
def list_documents(options: Namespace, settings: Settings) -> Lines:
    from chatbot.store.catalog import NAME, Catalog
    from chatbot.store.database import place_of
    from chatbot.store.migration.migration_mark import refuse_unfinished

    place = place_of(settings, NAME)
    rows, titles, waiting = [], {}, []
    if not isinstance(place, Path) or place.exists():
        # Works beside a running chat and waits for nobody.
        with closing(Catalog(place, read_only=True)) as catalog:
            refuse_unfinished(settings, catalog.database)
            rows, titles, waiting = catalog.documents(), catalog.titles(), catalog.waiting()
    for row in rows:
        title = titles.get(row.name, row.name)
        line = {"document": row.name, "title": title, **fields_of(row, LISTED + LISTED_TIMES)}
        facts = ", ".join(filter(None, (row.period, row.status)))
        same = f"the same file as {row.same_as}" if row.same_as else ""
        facts, same, coming = (f" ({told})" if told else "" for told in (facts, same, row.coming))
        called = "" if title == row.name else f": {title}"
        size = f"{row.state:<9} {row.pages:>5} pages {row.embedded:>6}/{row.chunks} vectors"
        yield line, f"{size}  {row.name}{facts}{called}{same}{coming}"
    for taken in waiting:
        problem = f" ({taken.problem})" if taken.problem else ""
        say(f"Not added yet: {taken.name}{problem}")
    copies = 0 if rows else len(list(settings.documents.glob("*.pdf")))
    if copies > len(waiting):
        say(f"The catalogue is empty, but there are {copies} copies. Run: {PROGRAM} doctor")
    elif not rows and not waiting:
        say(f"No documents yet. Add some: {PROGRAM} add FOLDER")


@printed
def remove(options: Namespace, settings: Settings) -> Lines:
    with open_chatbot(settings) as chatbot:
        if options.purge and served() is not None:
            left = _erase(options.name)
        else:
            left = chatbot.remove(options.name, purge=options.purge)
    status = "purged" if options.purge else "removed"
    again = f"{PROGRAM} restore -- {shlex.quote(known_as(options.name))}"
    undo = "Erased." if options.purge else f"Removed. Undo within 7 days: {again}"
    yield {"document": options.name, "status": status}, undo
    for path in left if options.purge else ():
        there = "The file you copied into the documents folder is still there. Delete it yourself"
        say(f"{there}: {path}")


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


@printed
def restore(options: Namespace, settings: Settings) -> Lines:
    with open_chatbot(settings) as chatbot:
        chatbot.restore(options.name)
        if (command := served()) is not None:
            command.store.additions.wake()
    yield {"document": options.name, "status": "restored"}, "Restored."


@printed
def rebuild_store(options: Namespace, settings: Settings) -> Lines:
    from chatbot.store.rebuilding import rebuild

    refuse_beside_a_server("rebuild")
    passwords = read_passwords(options.passwords)
    code = DONE
    with progress_bars() as progress:
        for result in rebuild(settings, passwords, progress=progress):
            code = FAILED if result.status == "failed" else code
            yield _added(result)
    return code


_checking = threading.Lock()


@contextmanager
def _alone() -> Iterator[None]:
    """Raises StoreError where a check in a server would take the work of others for left over."""
    if (command := served()) is None:
        yield
        return
    if command.store.check.running or any(job.busy for job in command.store.additions.jobs()):
        raise StoreError(
            "`doctor` has to wait: the server is adding documents, or checks the store.",
            hint=f"Try again when {command.url} shows that it is done.",
            retryable=True,
        )
    if not _checking.acquire(blocking=False):
        raise StoreError("The store is being checked already.", hint="Try again later.", retryable=True)
    try:
        yield
    finally:
        _checking.release()


def _findings(
    options: Namespace, settings: Settings, progress: Callable[[str, str, int, int], None]
) -> Iterator[Finding]:
    """Yields what is wrong, also with a store that cannot be opened for it. Raises StoreError for one that
    another process or a later version of the program has.
    """
    from chatbot.store.doctor import Finding

    try:
        with _alone(), open_chatbot(settings, mend=options.repair) as chatbot:
            yield from chatbot.check(repair=options.repair, progress=progress)
            if missing := chatbot.signals.not_set_up():
                note(str(missing))
    except StoreError as error:
        if error.retryable or isinstance(error, NewerStoreError):
            raise
        yield Finding(None, error.message.removesuffix("."), error.hint)


@printed
def doctor(options: Namespace, settings: Settings) -> Lines:
    code = DONE
    with progress_bars() as progress:
        for finding in _findings(options, settings, progress):
            code = code if finding.mended else FAILED
            line = fields_of(finding, ("document", "problem", "fix"))
            said = one_line(f"{finding.document or 'store'}: {finding.problem}. {finding.fix}")
            text = f"{'fixed' if finding.mended else 'problem'}    {said}"
            yield line | ({"mended": True} if finding.mended else {}), text
    if code == DONE:
        say("The store is in order.")
    say(languages_text(settings.scan_languages))
    return code

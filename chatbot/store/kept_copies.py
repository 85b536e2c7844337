"""Keeps the copies of added files, each named by its hash, with what must survive a rebuild beside them."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from chatbot.errors import DocumentError, StoreError
from chatbot.settings import Settings
from chatbot.store.copy_files import READ_BYTES, CopyFiles, prepared
from chatbot.store.corrections import correction_from, correction_to
from chatbot.store.damage import json_in
from chatbot.store.digests import digest_in
from chatbot.store.disk_reserve import FULL, disk_is_full
from chatbot.store.document_names import is_name
from chatbot.store.file_permissions import mend_files
from chatbot.store.plain_files import open_plain
from ingestion.reading.formats import MADE, format_of, is_opened
from ingestion.reading.reader import made_pdf
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = [
    "Copies",
    "CopyMetadata",
    "KeptName",
    "copies_of",
    "copy_name",
    "files_of",
    "is_copy",
    "is_kept",
    "made_name",
]

COPY = re.compile(r"[0-9a-f]{64}\.pdf")
# A copy, the PDF that was made of it, or its names.
KEPT = re.compile(rf"[0-9a-f]{{64}}(?:\.pdf|\.json|\{MADE})")
# Seconds that an upload may take.
PUTTING_SECONDS = 86_400
# Of the hash in a file of names.
CHECK = "check"
PARTS = {"names", "said", "languages", CHECK}
PARTIAL = re.compile(r"incoming-[\w-]{1,40}\.partial")


@dataclass(frozen=True, slots=True)
class KeptName:
    """A name of a copy. removed_at: seconds since the epoch, None if it is not removed."""

    name: str
    removed_at: float | None


class CopyMetadata(NamedTuple):
    """What is beside a copy. said: its users' correction, see Corrections. languages: those in which its
    images were read, "" for those of the setting.
    """

    names: tuple[KeptName, ...] = ()
    said: DocumentFacts = NO_FACTS
    languages: str = ""


class Copies:
    """Originals, stored as <sha256>.pdf whatever their format, in a folder or an object store. Each has a
    <sha256>.json with its names; <sha256>.made is the PDF that was made of a file of another format.

    A store can be rebuilt from these alone. Other files beside them are never touched.
    """

    def __init__(
        self, folder: Path, most_megabytes: float, files: CopyFiles | None = None, soffice: str = ""
    ) -> None:
        """folder: where users may put PDFs, and where the copies are unless `files` has them.

        most_megabytes: the largest file that is taken, in MiB.
        soffice: the program of LibreOffice, "" for the one on PATH.

        Raises StoreError if the folder cannot be created.
        """
        self.folder, self.most_megabytes, self._soffice = folder, most_megabytes, soffice
        with _creating(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._files = files or CopyFiles(folder)

    def take_file(self, path: Path, name: str, *, noted: Callable[[str], None] = lambda digest: None) -> str:
        """Keeps a copy of a file that is to be added as `name`, and returns its SHA-256.

        noted: as for `take`.

        Raises DocumentError if it is not a file, cannot be read, is too large or changes meanwhile.
        """
        if path.is_dir():
            raise DocumentError(f"There is no document in {path}.", hint="Name a folder with some.")
        try:
            if path.exists() and not path.is_file():
                raise DocumentError(f"{path} is not a file.", hint="Add files and folders only.")
            before = path.stat()
            self._check_size(before.st_size)
            with path.open("rb") as file:
                return self.take(file, name, unchanged=lambda: _same(before, path.stat()), noted=noted)
        except OSError as error:
            raise _not_read(error) from error

    def take(
        self,
        data: BinaryIO,
        name: str,
        *,
        unchanged: Callable[[], bool] = lambda: True,
        noted: Callable[[str], None] = lambda digest: None,
    ) -> str:
        """Keeps a copy of the content of `data`, to be added as `name`, and returns its SHA-256.

        The copy becomes visible only when it is complete and on the disk, and its name is written before.
        Raises DocumentError if the content is too large, changed, or cannot be read or kept.

        unchanged: called at the end; False drops the copy.
        noted: called with the SHA-256 once the copy is there. If it fails, a copy that is new is dropped, or
            it would be taken for one that is still to be added.
        """
        hashed = hashlib.sha256()

        def parts() -> Iterator[bytes]:
            size = 0
            while part := _read(data):
                hashed.update(part)
                size += len(part)
                self._check_size(size)
                yield part
            if not unchanged():
                raise DocumentError(
                    "The file changed while it was being read.",
                    hint="Add it again when the copy is complete.",
                    retryable=True,
                )

        try:
            with prepared(self._files.incoming, parts()) as file:
                digest = hashed.hexdigest()
                is_new = self._files.size(copy_name(digest)) != file.stat().st_size
                if is_new:
                    self.write_beside(digest, names=(KeptName(name, None),))
                    self._files.put(file, copy_name(digest))
        except StoreError as error:  # of an object store
            raise DocumentError(error.message, hint=error.hint, retryable=error.retryable) from error
        except OSError as error:
            raise _not_kept(error, self._files.incoming) from error
        try:
            noted(digest)
        except BaseException:
            if is_new:
                self.drop(digest)
            raise
        return digest

    def has(self, digest: str) -> bool:
        """Tells whether there is a copy of these bytes. Raises StoreError."""
        return self._files.size(copy_name(digest)) is not None

    def size(self, digest: str) -> int:
        """Returns the size of the copy in bytes, 0 if there is none. Raises StoreError."""
        return self._files.size(copy_name(digest)) or 0

    def path(self, digest: str) -> Path | None:
        """Returns a path on this machine of the copy of these bytes, None if there is none.

        Raises StoreError if it cannot be fetched.
        """
        return self._files.local(copy_name(digest))

    def readable(self, digest: str) -> Path | None:
        """Returns a path on this machine of what is read of these bytes: the PDF that was made of them, else
        their copy. None if there is none. Raises StoreError.
        """
        path = self.path(digest)
        if path is None or is_opened(path):
            return path
        return self._files.local(made_name(digest)) or path

    def path_to_read(
        self,
        digest: str,
        name: str = "",
        password: str | None = None,
        cancelled: Callable[[], bool] = bool,
    ) -> Path:
        """Returns the same path of a copy that is there and sound. A PDF that is to be made of it is made.

        name: as its user calls the file. password: of a file of which a PDF is made.

        Raises DocumentError and its subclasses, StoreError.
        """
        path = self.path(digest)
        if path is None:
            raise DocumentError(
                f"The kept copy of the file is not in {self._files.incoming}.",
                hint="Add the file again. Servers and workers that share a store must all see its kept "
                "copies: name their place in FINPOLICY_FILES.",
            )
        try:
            with open_plain(path) as file:
                sound = hashlib.file_digest(file, "sha256").hexdigest() == digest
        except OSError as error:
            raise _not_read(error) from error
        if not sound:
            raise DocumentError("The kept copy of the file is damaged.", hint="Add the file again.")
        there = self.readable(digest)
        if there != path or not format_of(path, name).maker:
            return there or path
        making = made_pdf(path, name, password=password, cancelled=cancelled, soffice=self._soffice)
        with making as made, made.open("rb") as file:
            try:
                with prepared(self._files.incoming, iter(partial(file.read, READ_BYTES), b"")) as copy:
                    self._files.put(copy, made_name(digest))
            except OSError as error:
                raise _not_kept(error, self._files.incoming) from error
        return self.readable(digest) or path

    def sound(self, digest: str) -> bool:
        """Tells whether the copy exists and has the bytes its name says. Raises StoreError."""
        try:
            return self._files.sha256(copy_name(digest)) == digest
        except OSError:
            return False

    def all(self) -> list[str]:
        """Returns the SHA-256 of every copy, in the order in which they were taken. Raises StoreError."""
        return list(self.times())

    def times(self) -> dict[str, float]:
        """Returns the SHA-256 of every copy and when it was taken, in seconds since the epoch, ascending.
        Raises StoreError.
        """
        taken = sorted((when, name) for name, when, _ in self._files.listed() if COPY.fullmatch(name))
        return {name.removesuffix(".pdf"): when for when, name in taken}

    def strange(self) -> list[Path]:
        """Returns what is named like a copy, or like its names, and is no plain file."""
        return [self._files.incoming / name for name in self._files.strange() if is_kept(name)]

    def total_bytes(self) -> int:
        """Returns the size of all files. Raises StoreError."""
        return sum(size for _, _, size in self._files.listed())

    def drop(self, digest: str) -> None:
        """Deletes a copy and its names. A missing one is ignored."""
        self.drop_damaged(digest)
        self._files.delete(_names(digest))

    def drop_damaged(self, digest: str) -> None:
        """Deletes a copy, but not its names."""
        self._files.delete(copy_name(digest))
        self._files.delete(made_name(digest))

    def mend_modes(self) -> None:
        """Closes copies that an earlier version left open to other accounts.

        The folder is closed too if it holds nothing else.
        """
        mend_files(self.folder, _is_ours)

    def drop_partials(self) -> int:
        """Deletes unfinished copies and the remains of dropped ones. Returns their number."""
        # Another server may be putting a copy just now, with its names before it.
        latest = math.inf if self._files.alone else time.time() - PUTTING_SECONDS
        partials = [path for path in self._files.incoming.glob("*.partial") if PARTIAL.fullmatch(path.name)]
        if self._files.incoming == self.folder:
            partials = [path for path in partials if _put_at(path) < latest]
        for path in partials:
            path.unlink(missing_ok=True)
        there = {name: when for name, when, _ in self._files.listed()}
        left = [
            name
            for name, when in there.items()
            if is_kept(name) and when < latest and f"{Path(name).stem}.pdf" not in there
        ]
        for name in left:
            self._files.delete(name)
        return len(partials) + len(left)

    def beside(self, digest: str) -> CopyMetadata:
        """Returns what is beside a copy; nothing if that is missing or damaged."""
        try:
            found: Any = json_in(self._files.read(_names(digest)))
            rows = found["names"]
            names = tuple(
                KeptName(str(row["name"]), None if row["removed_at"] is None else float(row["removed_at"]))
                for row in rows
            )
            sound = found.keys() <= PARTS and all(is_name(name.name) for name in names)
            if sound and found.get(CHECK) == _check(found):
                return CopyMetadata(
                    names, correction_from(found.get("said")), str(found.get("languages", ""))
                )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return CopyMetadata()

    def write_beside(self, digest: str, **changed: Any) -> None:
        """Replaces what is beside a copy. changed: fields of Beside; the others stay."""
        now = self.beside(digest)._replace(**changed)
        listed: dict[str, Any] = {
            "names": [{"name": name.name, "removed_at": name.removed_at} for name in now.names],
            "languages": now.languages,
        }
        if correction_to(now.said):
            listed["said"] = correction_to(now.said)
        text = json.dumps({**listed, CHECK: _check(listed)})
        try:
            with prepared(self._files.incoming, [text.encode()]) as file:
                self._files.put(file, _names(digest))
        except OSError as error:
            raise _not_kept(error, self._files.incoming) from error

    def _check_size(self, size: int) -> None:
        if size > self.most_megabytes * 2**20:
            limit = f"the limit of {self.most_megabytes:g} MiB"
            raise DocumentError(
                f"The file is {size / 2**20:.0f} MiB or more, over {limit}.",
                hint="Split it, or raise FINPOLICY_MAX_UPLOAD_MB.",
            )


def _check(beside: Mapping[str, Any]) -> str:
    """Returns a hash of what is beside a copy, by which damage is noticed."""
    text = json.dumps({name: value for name, value in beside.items() if name != CHECK}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def copy_name(digest: str) -> str:
    """Returns the name of the copy of these bytes."""
    return f"{digest_in(digest)}.pdf"


def made_name(digest: str) -> str:
    """Returns the name of the PDF that was made of these bytes."""
    return f"{digest_in(digest)}{MADE}"


def _put_at(path: Path) -> float:
    """Returns when a file was last written, in seconds since the epoch; infinity if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return math.inf


def _names(digest: str) -> str:
    return f"{digest_in(digest)}.json"


def _is_ours(name: str) -> bool:
    return is_kept(name) or PARTIAL.fullmatch(name) is not None


def copies_of(settings: Settings) -> Copies:
    """Opens the copies where the settings say. Raises StoreError, SettingsError."""
    return Copies(settings.documents, settings.max_upload_mb, files_of(settings), settings.soffice)


def files_of(settings: Settings) -> CopyFiles:
    """Opens the files of the copies where the settings say. Raises StoreError, SettingsError."""
    folder = settings.store / "copies" if settings.objects else settings.documents
    if settings.files and not settings.objects and not folder.is_dir():
        raise StoreError(f"There is no folder {folder} for the kept copies.", hint="Make it, or mount it.")
    with _creating(folder):
        if not settings.objects:
            return CopyFiles(folder, alone=not settings.database)
        from chatbot.store.object_files import ObjectFiles

        return ObjectFiles(settings.objects, folder, endpoint=settings.files_endpoint)


@contextmanager
def _creating(folder: Path) -> Iterator[None]:
    """Raises StoreError for a folder that cannot be created."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"Cannot create the folder {folder}: {error.strerror}.",
            hint="Set FINPOLICY_HOME to a folder you can write to.",
        ) from error


def is_copy(name: str) -> bool:
    """Tells whether a file of the folder is named like a kept copy."""
    return COPY.fullmatch(name) is not None


def is_kept(name: str) -> bool:
    """Tells whether a file is named like a kept copy, or like what is beside one."""
    return KEPT.fullmatch(name) is not None


def _same(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def _read(data: BinaryIO) -> bytes:
    try:
        return data.read(READ_BYTES)
    except OSError as error:
        raise _not_read(error) from error


def _not_read(error: OSError) -> DocumentError:
    return DocumentError(
        f"The file cannot be read: {error.strerror}.", hint="Check the path and your permission to read it."
    )


def _not_kept(error: OSError, folder: Path) -> DocumentError:
    if error.errno in FULL:
        full = disk_is_full(folder)
        return DocumentError(full.message, hint=full.hint, retryable=True)
    return DocumentError(
        f"The file cannot be kept: {error.strerror}.",
        hint="Free disk space, or set FINPOLICY_HOME to another folder.",
        retryable=True,
    )

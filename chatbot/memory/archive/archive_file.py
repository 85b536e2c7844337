"""Reads and writes archives: a zip of files of JSON lines, and a manifest with their sizes and hashes.

An archive that is read is untrusted: nothing is unpacked, and every size is limited. This module knows no
kind of record.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatbot.errors import NotFoundError, ProjectError
from chatbot.settings import PROGRAM

__all__ = ["FORMAT", "MANIFEST", "ArchiveError", "ArchiveReader", "ArchiveWriter", "Manifest", "why_invalid"]

# Of the archives that are written. A later version of the program reads all formats from 1 on.
FORMAT = 1
MANIFEST = "manifest.json"
LINES = re.compile(r"([a-z_]{1,40})\.jsonl")
# The most bytes of a line, which no answer has with all its evidence; of the manifest; of the zip's own list,
# which is read in one go: that of a thousand files.
LONGEST_LINE, LONGEST_MANIFEST, LONGEST_LIST = 64 * 2**20, 2**20, 2**17
AT_ONCE = 2**20
# The record at the end of a zip, the one before it in a large zip, and where each has the list's length.
END, END_BYTES, LARGE_END, ALL_BYTES = b"PK\5\6", 22, b"PK\6\6", 98
LENGTH, LARGE_LENGTH = ALL_BYTES - END_BYTES + 12, 40
AGAIN = f"Copy it again, or create a new one with `{PROGRAM} export`. Nothing was imported."
UPDATE = "Update the program, then import it. Nothing was imported."


class ArchiveError(ProjectError):
    """An archive that cannot be read. The message names the file in it, and the line."""

    def __init__(self, message: str, *, hint: str = AGAIN) -> None:
        super().__init__(message, hint=hint)


class Member(BaseModel):
    """A file of an archive. bytes, sha256: of its content."""

    model_config = ConfigDict(strict=True, frozen=True)
    name: str
    lines: Annotated[int, Field(ge=0)]
    bytes: int
    sha256: str


class Manifest(BaseModel):
    """What an archive says of itself.

    program: the version that made it.
    made_at: seconds since the epoch.
    keys_given: the highest number that an API key ever had.
    """

    model_config = ConfigDict(strict=True, frozen=True)
    format: Annotated[int, Field(lt=2**31)]
    program: str = ""
    made_at: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    keys_given: Annotated[int, Field(ge=0, lt=2**53)] = 0
    members: tuple[Member, ...] = ()


class ArchiveWriter:
    """An archive while it is written. It is in its place when all of it is; only its owner may read it."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._path = path
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix="export-", suffix=".partial")
        self._partial, self._file = Path(partial), os.fdopen(handle, "w+b")
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)
        self._members: list[Member] = []

    def add(self, name: str, lines: Iterable[bytes]) -> int:
        """Writes a file and returns the number of its lines."""
        digest, count, size = hashlib.sha256(), 0, 0
        with self._zip.open(name, "w", force_zip64=True) as file:
            for line in lines:
                file.write(line)
                digest.update(line)
                count, size = count + 1, size + len(line)
        self._members.append(Member(name=name, lines=count, bytes=size, sha256=digest.hexdigest()))
        return count

    def finish(self, manifest: Manifest) -> None:
        """Puts the archive in its place, in place of a former one. Raises OSError."""
        whole = manifest.model_copy(update={"members": tuple(self._members)})
        self._zip.writestr(MANIFEST, whole.model_dump_json(indent=1))
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        os.replace(self._partial, self._path)

    def close(self) -> None:
        """Deletes what is not finished."""
        for opened in (self._zip, self._file):
            with suppress(OSError, ValueError):  # such as a full disk, which was told already
                opened.close()
        self._partial.unlink(missing_ok=True)


class ArchiveReader:
    """An archive that is open to be read.

    manifest: what it says of itself.
    members: its files by name, each named in the manifest, of a known form and of a size that can be.
    """

    def __init__(self, path: Path) -> None:
        """Raises NotFoundError if it cannot be opened, ArchiveError for whatever is wrong with it."""
        try:
            self._file, self._shown = path.open("rb"), path.name
        except OSError as error:
            raise NotFoundError(
                f"{path} cannot be read: {error.strerror}.", hint="Check the path."
            ) from error
        try:
            with _explained(path.name):
                self._check_end()
                self._zip = zipfile.ZipFile(self._file)
                self.manifest = self._read_manifest()
                self.members = {member.name: member for member in self.manifest.members}
                self._check_members()
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """The bytes of all files, unpacked."""
        return sum(member.bytes for member in self.members.values())

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def lines(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Yields (number from 1, line) of a file, and checks all of it at its end. Raises ArchiveError."""
        number, digest, member = 0, hashlib.sha256(), self.members[name]
        with _explained(name), self._zip.open(name) as file:
            content = io.BufferedReader(cast(io.RawIOBase, file), AT_ONCE)
            while line := content.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise ArchiveError(f"{name}, line {number}: it has more than {LONGEST_LINE:,} bytes.")
                digest.update(line)
                yield number, line
        if digest.hexdigest() != member.sha256:
            raise ArchiveError(f"{name} is damaged or was changed: {MANIFEST} has another hash for it.")
        if number != member.lines:
            raise ArchiveError(f"{name} has {number:,} lines, but {MANIFEST} says {member.lines:,}.")

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _check_end(self) -> None:
        """Refuses a list of files that would not fit into memory, before anything reads it."""
        size = self._file.seek(0, io.SEEK_END)
        self._file.seek(max(0, size - ALL_BYTES))
        tail = self._file.read().rjust(ALL_BYTES, b"\0")
        if not tail[-END_BYTES:].startswith(END):
            raise ArchiveError(f"{self._shown} is no archive, or its end is missing.")
        ((length,), (large,)) = (
            struct.unpack_from("<L", tail, LENGTH),
            struct.unpack_from("<Q", tail, LARGE_LENGTH),
        )
        if (large if tail.startswith(LARGE_END) else length) > LONGEST_LIST:
            raise ArchiveError("It lists more files than any archive has.")

    def _read_manifest(self) -> Manifest:
        if MANIFEST not in self._zip.namelist():
            raise ArchiveError(f"It has no {MANIFEST}, so this program did not make it.")
        with self._zip.open(MANIFEST) as file:
            data = file.read(LONGEST_MANIFEST + 1)
        if len(data) > LONGEST_MANIFEST:
            raise ArchiveError(f"{MANIFEST} has more than {LONGEST_MANIFEST:,} bytes.")
        try:
            manifest = Manifest.model_validate_json(data)
        except ValidationError as error:
            raise ArchiveError(f"{MANIFEST}: {why_invalid(error)}.") from error
        if not 1 <= manifest.format <= FORMAT:
            message = f"It has format {manifest.format}, but this program reads formats up to {FORMAT}."
            raise ArchiveError(message, hint=UPDATE)
        return manifest

    def _check_members(self) -> None:
        infos = {info.filename: info for info in self._zip.infolist() if info.filename != MANIFEST}
        if len(infos) + 1 != len(self._zip.infolist()) or len(self.members) != len(self.manifest.members):
            raise ArchiveError("It has a file twice.")
        if odd := sorted(infos.keys() ^ self.members.keys()):
            raise ArchiveError(f"{odd[0][:80]!r} is in the archive or in {MANIFEST}, but not in both.")
        if sum(info.compress_size for info in infos.values()) > os.fstat(self._file.fileno()).st_size:
            raise ArchiveError("Its files overlap.")
        for name, info in infos.items():
            shown = repr(name[:80])
            if not LINES.fullmatch(name):
                raise ArchiveError(f"{shown} is no name of a file in an archive.")
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ArchiveError(f"{shown} is encrypted, or compressed in a way that is not read.")
            if info.file_size != self.members[name].bytes:
                raise ArchiveError(f"{shown} has {info.file_size:,} bytes, but {MANIFEST} says otherwise.")
            if self.members[name].lines > info.file_size:
                raise ArchiveError(f"{shown} has more lines than bytes, says {MANIFEST}.")


def why_invalid(error: Exception) -> str:
    """Returns what is wrong with a record, and in which field. Nothing of a value that no model takes is
    quoted.
    """
    if not isinstance(error, ValidationError):
        return str(getattr(error, "message", error))
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(map(str, first["loc"]))[:80]
    if first["type"] == "extra_forbidden":
        return f"it has the field {field!r}, which this version of the program does not know"
    return f"{field}: {first['msg']}" if field else str(first["msg"])


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Raises ArchiveError for what the zip's own reader finds wrong."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        struct.error,
    ) as error:
        raise ArchiveError(f"{name} is damaged: {error}.") from error
    except OSError as error:
        raise ArchiveError(f"{name} cannot be read: {error.strerror}.") from error

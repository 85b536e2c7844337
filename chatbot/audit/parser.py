"""Parses an audit file into its record and its images, without trusting anything in it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from chatbot.audit.html_page import IMAGE, RECORD_END, RECORD_START
from chatbot.audit.record import AuditFileError, Record, load

__all__ = ["LARGEST_FILE", "AuditFile", "read_file", "record_in"]

# Enough for sixty pages of 1.5 MB each; a usual file has one or two.
LARGEST_FILE = 128 * 2**20
# A record holds a prompt of some 50 KB, as much again, and a line for each document.
LONGEST_RECORD = 16 * 2**20
HINT = "Choose an audit file made by the chat or `ask --audit`."
_IMAGE = re.compile(rb"(?<=" + re.escape(IMAGE.encode()) + rb")[A-Za-z0-9+/=]*+")


@dataclass(frozen=True, slots=True)
class AuditFile:
    """The content of an audit file.

    images: by their actual SHA-256.
    """

    data: bytes
    record: Record
    images: dict[str, bytes]


def read_file(path: Path) -> AuditFile:
    """Returns the parts of a file. Raises UnreadableError."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise AuditFileError(
                f"The file has {size / 2**20:,.0f} MiB; an audit file has {LARGEST_FILE // 2**20} at most.",
                hint=HINT,
            )
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE)
    except OSError as error:
        raise AuditFileError(
            f"The file cannot be read: {error.strerror}.",
            hint="Check that it exists and that you can read it.",
        ) from error
    return AuditFile(data, load(record_in(data)), _images_in(data))


def record_in(data: bytes) -> str:
    """Returns the record as it is written in a file. Raises AuditFileError."""
    start = RECORD_START.encode()
    end = RECORD_END.encode()
    first = data.find(start)
    if first < 0:
        raise AuditFileError("This is not an audit file: it has no machine-readable part.", hint=HINT)
    last = data.find(end, first)
    if last < 0 or data.find(start, first + 1) >= 0:
        raise AuditFileError("The machine-readable part is incomplete, or there is more than one.", hint=HINT)
    if last - first > LONGEST_RECORD:
        raise AuditFileError(f"The machine-readable part has {(last - first) / 2**20:,.0f} MiB.", hint=HINT)
    try:
        return data[first + len(start) : last].decode("ascii")
    except UnicodeDecodeError as error:
        raise AuditFileError(
            "The machine-readable part is damaged: it is not plain ASCII.", hint=HINT
        ) from error


def _images_in(data: bytes) -> dict[str, bytes]:
    images: dict[str, bytes] = {}
    for found in _IMAGE.finditer(data):
        try:
            image = base64.b64decode(found[0], validate=True)
        except binascii.Error:
            continue  # so the page that is rendered again will not have it
        images[hashlib.sha256(image).hexdigest()] = image
    return images

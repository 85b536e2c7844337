"""Makes PDFs of what LibreOffice opens, and runs only in reading processes, which have limits and no network.

LibreOffice gets a profile of its own, in which no macro runs, no link is followed and nothing is fetched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import BinaryIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from ingestion.errors import DocumentError, EncryptedError, MissingProgramError
from ingestion.reading.formats import OLE, MadePage
from ingestion.reading.hidden_markup import visible_part
from ingestion.reading.plain_text import decoded

__all__ = ["convert", "make", "make_slides", "make_web_page"]

INSTALL = (
    "Install it: apt-get install libreoffice-writer-nogui libreoffice-impress-nogui libreoffice-calc-nogui. "
    "FINPOLICY_SOFFICE names a program that is not on PATH."
)
# What is set in the profile: path, name, type and value. What is linked has no trusted place, the proxy is a
# port where nobody listens, and what a reader would see beside a page is drawn.
COMMON = "/org.openoffice.Office.Common"
OPTIONS = (
    (f"{COMMON}/Security/Scripting", "DisableMacrosExecution", "true"),
    (f"{COMMON}/Security/Scripting", "MacroSecurityLevel", "3"),
    (f"{COMMON}/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "2"),
    ("/org.openoffice.Office.Calc/Content/Update", "Link", "2"),
    ("/org.openoffice.Inet/Settings", "ooInetProxyType", "2"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    (f"{COMMON}/Filter/PDF/Export", "ExportNotes", "true"),
    (f"{COMMON}/Filter/PDF/Export", "ExportHiddenSlides", "true"),
)
PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{}</oor:items>"""
ITEM = '<item oor:path="{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>'
# Bytes of a web page in which its encoding is sought.
DECLARED_WITHIN = 2_048
LARGEST_MANIFEST = 1_000_000
# Characters of the notes of one slide.
LONGEST_NOTES = 5_000
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
SHOWN = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def make(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """A maker of PDFs, see `formats`."""
    convert(original, target.parent, "pdf", name=name, password=password).rename(target)
    return []


def make_web_page(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """The same of what a browser shows of a web page."""
    data = original.read_bytes()
    declared = re.search(rb"charset\s*=\s*[\"']?([\w-]{1,40})", data[:DECLARED_WITHIN])
    try:
        text = data.decode(declared[1].decode() if declared else "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = decoded(data)
    markup, remarks = visible_part(text)
    page = target.with_name("shown.html")
    page.write_bytes(markup.encode("ascii", "xmlcharrefreplace"))
    make(page, target, name, password)
    return [MadePage(1, remarks=remarks)]


def make_slides(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """The same of slides, whose notes become text of theirs."""
    make(original, target, name, password)
    same = convert(original, target.parent, "odp", name=name, password=password)
    with ZipFile(same) as archive:
        root = ElementTree.fromstring(archive.read("content.xml"))
    return list(_notes(root))


def convert(original: Path, folder: Path, to: str, *, name: str, password: str | None = None) -> Path:
    """A file as LibreOffice saves it in another format, in a folder of its own within `folder`.

    to: the suffix of the other format. name: what the user calls the file.

    Raises MissingProgramError, EncryptedError where a password is missing or wrong, and DocumentError where
    it cannot be opened.
    """
    program = os.environ.get("FINPOLICY_SOFFICE") or shutil.which("soffice") or shutil.which("libreoffice")
    if program is None or not shutil.which(program):
        raise MissingProgramError("LibreOffice, which opens such files, is not installed.", hint=INSTALL)
    work = Path(tempfile.mkdtemp(dir=folder))
    settings = work / "profile" / "user" / "registrymodifications.xcu"
    settings.parent.mkdir(parents=True)
    settings.write_text(PROFILE.format("".join(ITEM.format(*option) for option in OPTIONS)))
    # The kept copy's own name tells nothing of its kind.
    source = work / f"source{PurePath(name).suffix.casefold()}"
    _unprotect(original, source, password)
    made = work / "made" / f"source.{to}"
    options = [f"-env:UserInstallation={(work / 'profile').as_uri()}", "--headless", "--norestore"]
    if source.suffix.startswith(".htm"):
        options.append("--infilter=HTML (StarWriter)")  # the filter for web pages makes no pages of them
    # It may say anything, and a file that it cannot open is no failure to it: the result counts.
    subprocess.run(
        [program, *options, "--convert-to", to, "--outdir", str(made.parent), str(source)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(work)},
        check=False,
    )
    if not made.is_file():
        raise DocumentError(
            f"LibreOffice cannot open {name}: it is damaged, too large, or not what its name says.",
            hint="Save it again in the program it came from, or as a PDF, and add that.",
        )
    return made


def _unprotect(original: Path, source: Path, password: str | None) -> None:
    """Link a file to `source`, or write it there without its protection. Raises EncryptedError, and
    DocumentError for a protection that only LibreOffice itself can open."""
    with original.open("rb") as data:
        start = data.read(len(OLE))
        if start == OLE and _decrypted(data, source, password):
            return
        with suppress(BadZipFile, KeyError, NotImplementedError):
            manifest = ZipFile(data).getinfo("META-INF/manifest.xml")
            if manifest.file_size < LARGEST_MANIFEST and b"encryption-data" in ZipFile(data).read(manifest):
                problem = "The file is protected by a password that only LibreOffice itself asks for."
                raise DocumentError(problem, hint="Save it without one, or as a PDF with one, and add that.")
    source.symlink_to(original.resolve())


def _decrypted(data: BinaryIO, source: Path, password: str | None) -> bool:
    """Whether a file of Microsoft's programs was protected; then it stands in `source` without that. Raises
    EncryptedError."""
    from msoffcrypto import OfficeFile
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError

    try:
        file = OfficeFile(data)
        if not file.is_encrypted():
            return False
    except (FileFormatError, ParseError, OSError):  # LibreOffice will say whether it can be read
        return False
    try:
        file.load_key(password=password or "")
        with source.open("wb") as plain:
            file.decrypt(plain)
    except (DecryptionError, InvalidKeyError, ParseError) as error:
        problem = "The given password is wrong." if password else "The file is protected by a password."
        raise EncryptedError(problem, hint="Add it again with its password.") from error
    return True


def _notes(root: ElementTree.Element) -> Iterator[MadePage]:
    """What each slide has beside what it shows."""
    hidden = {
        style.get(f"{STYLE}name")
        for style in root.iter(f"{STYLE}style")
        for shown in style
        if shown.get(f"{SHOWN}visibility") == "hidden"
    }
    for number, slide in enumerate(root.iter(f"{DRAW}page"), 1):
        said = [
            re.sub(r"\s+", " ", "".join(paragraph.itertext())).strip()
            for notes in slide.iter(f"{SHOWN}notes")
            for part in notes
            if part.get(f"{SHOWN}class", "notes") == "notes"  # not the slide's number nor a date
            for paragraph in part.iter(f"{TEXT}p")
        ]
        notes = [f"[notes] {line}"[:LONGEST_NOTES] for line in said if line]
        if slide.get(f"{DRAW}style-name") in hidden:
            notes.insert(0, "[hidden slide]")
        if notes:
            yield MadePage(number, notes=tuple(notes))

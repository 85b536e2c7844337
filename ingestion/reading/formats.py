"""Lists the kinds of files that can be read, and opens them, or makes PDFs of them first.

To read a kind of file, add a row to FORMATS and one of these two, in a module that only reading
processes import:

- an opener, a class that takes a path and a password and has what PdfFile has: the file is opened as it is;
- a maker, a function `make(original, target, name, password)`. It writes a PDF of the file `original`, which
  a user called `name`, to `target`, and returns a MadePage for each page that has more than the PDF shows. It
  raises DocumentError, and EncryptedError where the password is missing or wrong. It may write to the folder
  of `target`, which is deleted afterwards, and nowhere else; it has no network where the system allows that.

A PDF is made once. It is kept beside the copy of the original, which can still be had, and read, drawn and
marked like any other PDF, opened by MadePdf. What its maker returned goes along inside of it, and is believed
only in files that were made here, whose names end in MADE.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from ingestion.records import Page

__all__ = [
    "ATTACHED",
    "FORMATS",
    "FORMULA",
    "KINDS",
    "MADE",
    "OF_ITS_OWN",
    "OLE",
    "SUFFIXES",
    "Format",
    "MadePage",
    "format_of",
    "is_document",
    "is_named_like_a_document",
    "is_omission",
    "is_opened",
    "make_pdf",
    "open_document",
]

# Bytes at the start of a file in which its sign is searched: PDFs may begin with something else.
LOOKED_THROUGH = 1_024
# What a page's remark of a file that it carries begins with, and ends with where that is a document too.
ATTACHED, OF_ITS_OWN = "the attached file", ", which is a document of its own"
# What one of a formula begins with, whose value is in the page's text.
FORMULA = "the formula"
# The suffix of PDFs that were made here.
MADE = ".made"


class Format(NamedTuple):
    """A kind of file.

    name: as users know it.
    suffixes: ends of the files' names, case-folded, with the dot.
    signs: bytes near the start by which such a file is recognised, in lower case. Kinds may share one, such
        as that of ZIP archives: then the file's name decides. A kind without any is known by its name alone.
    opener: "module:Class", see above; "" where a PDF is made first.
    maker: "module:function", see above.
    """

    name: str
    suffixes: tuple[str, ...]
    signs: tuple[bytes, ...] = ()
    opener: str = ""
    maker: str = ""


class MadePage(NamedTuple):
    """What a page of a made PDF has beside what it shows.

    number: physical, 1-based.
    label: what the page is called in place of a printed number, such as "Revenue!A1:H40"; "" for its number.
    notes: lines of text that belong to the page, such as the notes of a slide; they are read after its text.
    read: the page as its maker knows it, in place of its text layer: text, lines, words with their places,
        tables with offsets in that text. None where the PDF is read as it is.
    remarks: as in Page.
    """

    number: int
    label: str = ""
    notes: tuple[str, ...] = ()
    read: Page | None = None
    remarks: tuple[str, ...] = ()


ZIP, OLE = b"pk\x03\x04", b"\xd0\xcf\x11\xe0"
OFFICE, SLIDES = "ingestion.reading.office:make", "ingestion.reading.office:make_slides"
CELLS = "ingestion.workbooks.workbook_pages:make"
# The first kind also opens unknown files, because it says best what is wrong with a damaged one.
FORMATS = (
    Format("PDF", (".pdf",), (b"%pdf",), "ingestion.reading.pdf:PdfFile"),
    Format("Word", (".docx", ".docm", ".doc"), (ZIP, OLE), maker=OFFICE),
    Format("PowerPoint", (".pptx", ".pptm", ".ppt"), (ZIP, OLE), maker=SLIDES),
    Format("OpenDocument text", (".odt",), (ZIP,), maker=OFFICE),
    Format("OpenDocument slides", (".odp",), (ZIP,), maker=SLIDES),
    Format("RTF", (".rtf",), (b"{\\rtf",), maker=OFFICE),
    Format("HTML", (".html", ".htm"), maker="ingestion.reading.office:make_web_page"),
    Format("Excel", (".xlsx", ".xlsm", ".xls"), (ZIP, OLE), maker=CELLS),
    Format("OpenDocument spreadsheet", (".ods",), (ZIP,), maker=CELLS),
    Format("delimited text", (".csv", ".tsv"), maker=CELLS),
    Format("mail (.eml)", (".eml",), maker="ingestion.reading.mail:make"),
    Format("Markdown", (".md", ".markdown"), maker="ingestion.reading.plain_text:make_markdown"),
    Format("text", (".txt", ".text"), maker="ingestion.reading.plain_text:make"),
)
# As users read them.
KINDS = ", ".join(known.name for known in FORMATS)
SUFFIXES = tuple(suffix for known in FORMATS for suffix in known.suffixes)


def is_named_like_a_document(name: str | PurePath) -> bool:
    """Whether a file of this name may be one that can be read."""
    return PurePath(name).suffix.casefold() in SUFFIXES


def is_omission(remark: str) -> bool:
    """Whether a page's remark tells of something that is read nowhere."""
    return not remark.startswith(FORMULA) and not remark.endswith(OF_ITS_OWN)


def is_document(path: Path) -> bool:
    """Whether a file begins like one that can be read. Raises OSError."""
    return _known(path, path.name) is not None


def is_opened(path: Path) -> bool:
    """Whether a file begins like a PDF, which is opened as it is; others a browser must only save, because
    they could run there. Raises OSError."""
    known = _known(path, path.name)
    return known is not None and bool(known.opener)


def format_of(path: Path, name: str = "") -> Format:
    """The format of a file, by its first bytes, and where these do not tell by its name.

    name: as its user calls it, where the path does not end so.
    """
    try:
        return _known(path, name or path.name) or FORMATS[0]
    except OSError:  # its reader will say what the user can do about it
        return FORMATS[0]


def open_document(path: Path, password: str | None = None) -> Any:
    """A file, opened to be read. One of which a PDF is made first is opened by that PDF.

    Raises DocumentError where it cannot be read, EncryptedError where it needs a password.
    """
    opener = "ingestion.reading.made:MadePdf" if path.suffix == MADE else format_of(path).opener
    return _named(opener or FORMATS[0].opener)(path, password)


def make_pdf(original: Path, target: Path, name: str, password: str | None = None) -> None:
    """Write a PDF of a file, of a kind that has a maker, to `target`, which ends in MADE, with what its maker
    returns. It is as protected as the file.

    Raises DocumentError where it cannot be made, EncryptedError where that needs a password.
    """
    from ingestion.reading.made import with_pages

    make = _named(format_of(original, name).maker)
    with_pages(target, make(original, target, name, password), password)


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _known(path: Path, name: str) -> Format | None:
    with path.open("rb") as file:
        start = file.read(LOOKED_THROUGH).lower()
    suffix = PurePath(name).suffix.casefold()
    signed = [known for known in FORMATS if any(map(start.__contains__, known.signs))]
    named = [known for known in FORMATS if suffix in known.suffixes]
    found = [known for known in named if known in signed] + signed
    return next(iter(found or [known for known in named if not known.signs]), None)

"""Makes PDFs of mail: its head and text as pages, and the files that came with it attached; runs only in
reading processes.
"""

from __future__ import annotations

import email
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from typing import Any

import pypdf
from pypdf.generic import TextStringObject

from ingestion.errors import DocumentError
from ingestion.reading.formats import ATTACHED, MadePage
from ingestion.reading.hidden_markup import visible_part
from ingestion.reading.plain_text import draw_lines

__all__ = ["make"]

SHOWN = ("From", "To", "Cc", "Date", "Subject")
# Characters of a head; files that are taken.
LONGEST_HEAD, MOST_FILES = 2_000, 50
BLOCKS = frozenset("address blockquote br div dl h1 h2 h3 h4 h5 h6 hr li ol p pre table tr ul".split())
UNSEEN = ("head", "script", "style")


def _head(name: str, value: str) -> Any:
    """A head, of a long one the beginning alone: the parser's time grows with the square of the length."""
    if value[LONGEST_HEAD:]:
        value = value[:LONGEST_HEAD].rsplit(",", 1)[0]
    return default.header_factory(name, value)


def make(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """A maker of PDFs, see `formats`."""
    try:
        mail = email.message_from_bytes(original.read_bytes(), policy=default.clone(header_factory=_head))
        heads = {head: str(mail[head]) for head in SHOWN if mail[head]}
        body, files = mail.get_body(("plain", "html")), _files_of(mail)
        text = str(body.get_content()) if body is not None else ""
        hidden = tuple[str, ...]()
        if not mail:  # without a head
            raise ValueError
        if body is not None and body.get_content_subtype() == "html":
            reader = _TextOfHtml()
            markup, hidden = visible_part(text)
            reader.feed(markup)
            reader.close()
            text = "\n".join(" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    except Exception as error:  # the parser raises anything on broken mail
        raise DocumentError(
            f"{name} is not a mail that can be read.", hint="Save it again as .eml."
        ) from error
    shown = "\n".join(f"{head}: {value}" for head, value in heads.items())
    draw_lines(f"{shown}\n\n{text}", target, title=heads.get("Subject", ""))
    if files:
        writer = pypdf.PdfWriter(clone_from=target)
        for called, data in files.items():
            writer.add_attachment(called, data).alternative_name = TextStringObject(called)
        writer.write(target)
    remarks = hidden + (f"{ATTACHED}s behind the first {MOST_FILES}",) * (len(files) == MOST_FILES)
    return [MadePage(1, remarks=remarks)]


def _files_of(mail: EmailMessage) -> dict[str, bytes]:
    """Name -> content of the files that came with a mail, each name once."""
    files = dict[str, bytes]()
    for number, part in enumerate(islice(mail.iter_attachments(), MOST_FILES), 1):
        name = part.get_filename() or f"attachment {number}{'.eml' * part.is_multipart()}"
        content = part if part.get_content_maintype() == "multipart" else part.get_content()
        data = content.as_bytes() if isinstance(content, EmailMessage) else content
        data = data.encode() if isinstance(data, str) else bytes(data)
        files[f"{number} {name}" if name in files else name] = data
    return files


class _TextOfHtml(HTMLParser):
    """Collects the text of a web page, a line for each block, and fetches nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = list[str]()
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._unseen += tag in UNSEEN
        if tag in BLOCKS or tag in {"td", "th"}:
            self.parts.append("\n" if tag in BLOCKS else "  ")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in UNSEEN))
        if tag in BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(" ".join(data.split("\n")))

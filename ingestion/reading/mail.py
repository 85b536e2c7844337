"""Makes PDFs of mail: its head and text as pages, and the files that came with it attached; runs only in
reading processes.
"""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path

import pypdf

from ingestion.errors import DocumentError
from ingestion.reading.formats import MadePage
from ingestion.reading.plain_text import draw_lines

__all__ = ["make"]

SHOWN = ("From", "To", "Cc", "Date", "Subject")
# Characters of a head; files that are taken.
LONGEST_HEAD, MOST_FILES = 2_000, 50
BLOCKS = frozenset("address blockquote br div dl h1 h2 h3 h4 h5 h6 hr li ol p pre table tr ul".split())
UNSEEN = frozenset(("head", "script", "style", "template"))


def make(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """A maker of PDFs, see `formats`."""
    try:
        mail = email.message_from_bytes(original.read_bytes(), policy=email.policy.default)
        heads = {head: str(mail[head])[:LONGEST_HEAD] for head in SHOWN if mail[head]}
        text, files = _text_of(mail), _files_of(mail)
    except Exception as error:  # the parser raises anything on broken mail
        raise _unreadable(name) from error
    if not mail.keys():
        raise _unreadable(name)
    shown = "\n".join(f"{head}: {value}" for head, value in heads.items())
    draw_lines(f"{shown}\n\n{text}", target, title=heads.get("Subject", ""))
    if files:
        writer = pypdf.PdfWriter(clone_from=target)
        for called, data in files.items():
            writer.add_attachment(called, data)
        writer.write(target)
    return []


def _unreadable(name: str) -> DocumentError:
    return DocumentError(f"{name} is not a mail that can be read.", hint="Save it again as .eml.")


def _text_of(mail: EmailMessage) -> str:
    body = mail.get_body(("plain", "html"))
    if body is None:
        return ""
    text = str(body.get_content())
    if body.get_content_subtype() != "html":
        return text
    reader = _TextOfHtml()
    reader.feed(text)
    reader.close()
    return "\n".join(" ".join(line.split()) for line in "".join(reader.parts).splitlines())


def _files_of(mail: EmailMessage) -> dict[str, bytes]:
    """Name -> content of the files that came with a mail, each name once."""
    files = dict[str, bytes]()
    for number, part in enumerate(islice(mail.iter_attachments(), MOST_FILES), 1):
        kind = ".eml" if part.is_multipart() else ""
        name = part.get_filename() or f"attachment {number}{kind}"
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

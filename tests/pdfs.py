"""Small PDFs that tests make for themselves; knows reportlab and pypdf, nothing of the product."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

__all__ = ["lock_pdf", "make_pdf", "make_scan"]


def make_pdf(path: Path, pages: Sequence[str], *, user_password: str | None = None, labels: Sequence[str] = (), title: str = "") -> Path:
    """A PDF with one page for each text, set line by line; encrypted where a password, even an empty one, is given."""
    encryption = StandardEncryption(user_password, ownerPassword="owner", strength=128) if user_password is not None else None
    canvas = Canvas(str(path), pagesize=(595, 842), encrypt=encryption, invariant=1)
    if title:
        canvas.setTitle(title)
    for index, text in enumerate(pages):
        if labels:
            canvas.addPageLabel(index, prefix=labels[index])
        writer = canvas.beginText(60, 780)
        writer.setFont("Helvetica", 11)
        for line in text.split("\n"):
            writer.textLine(line)
        canvas.drawText(writer)
        canvas.showPage()
    canvas.save()
    return path


def lock_pdf(path: Path, password: str, *, plain_strings: bool = False) -> Path:
    """Encrypt a PDF where it stands: AES-256; or, with plain_strings, AES-128 for streams alone, which PDFium does not open."""
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.encrypt(password, "owner", algorithm="AES-128" if plain_strings else "AES-256")
    if plain_strings:
        assert writer._encryption is not None
        assert writer._encrypt_entry is not None
        writer._encryption.StrF = "/Identity"
        writer._encrypt_entry[NameObject("/StrF")] = NameObject("/Identity")
    writer.write(path)
    return path


def make_scan(path: Path, pages: Sequence[str]) -> Path:
    """A PDF whose pages are images of the texts, without a text layer."""
    import pypdfium2

    drawn = make_pdf(path.with_suffix(".text.pdf"), pages)
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    with pypdfium2.PdfDocument(drawn) as document:
        for page in document:
            buffer = io.BytesIO()
            page.render(scale=2.5).to_pil().convert("L").save(buffer, "PNG")
            buffer.seek(0)
            canvas.drawImage(ImageReader(buffer), 0, 0, 595, 842)
            canvas.showPage()
    canvas.save()
    drawn.unlink()
    return path

"""Small PDFs that tests make for themselves; knows reportlab, nothing of the product."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

__all__ = ["make_pdf", "make_scan"]


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

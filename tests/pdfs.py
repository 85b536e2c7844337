"""Small PDFs that tests make for themselves; knows reportlab and pypdf, nothing of the product."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NumberObject
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

__all__ = [
    "Placed",
    "draw",
    "draw_revenue",
    "grid",
    "lock_pdf",
    "make_pdf",
    "make_scan",
    "named",
    "numbers",
    "repeat_page",
]

# (x, y from the top, text): set to the right of x where the text begins with ">", over the middle of x where
# it begins with "|".
Placed = tuple[float, float, str]
SIZE = 10


def make_pdf(
    path: Path,
    pages: Sequence[str],
    *,
    user_password: str | None = None,
    labels: Sequence[str] = (),
    title: str = "",
) -> Path:
    """A PDF with one page for each text, set line by line; encrypted where a password, even an empty one,
    is given.
    """
    encryption = (
        StandardEncryption(user_password, ownerPassword="owner", strength=128)
        if user_password is not None
        else None
    )
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


def named(**entries: Any) -> DictionaryObject:
    """A PDF dictionary; texts are names."""
    return DictionaryObject(
        {
            NameObject(f"/{key}"): NameObject(f"/{value}") if type(value) is str else value
            for key, value in entries.items()
        }
    )


def numbers(*values: float) -> ArrayObject:
    """A PDF array of numbers."""
    return ArrayObject(map(FloatObject, values))


def lock_pdf(path: Path, password: str, *, plain_strings: bool = False) -> Path:
    """Encrypt a PDF where it stands: AES-256; or, with plain_strings, AES-128 for streams alone, which
    PDFium does not open.
    """
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.encrypt(password, "owner", algorithm="AES-128" if plain_strings else "AES-256")
    if plain_strings:
        assert writer._encryption is not None
        assert writer._encrypt_entry is not None
        writer._encryption.StrF = "/Identity"
        writer._encrypt_entry[NameObject("/StrF")] = NameObject("/Identity")
    writer.write(path)
    return path


def repeat_page(path: Path, text: str, times: int) -> Path:
    """A PDF whose tree of pages names one page so many times, nested where that is a multiple of ten."""
    writer = PdfWriter(make_pdf(path, [text]))
    root: Any = writer.root_object["/Pages"]
    kids = root["/Kids"]
    if times % 10 == 0:
        branch = DictionaryObject(
            {NameObject("/Type"): NameObject("/Pages"), NameObject("/Kids"): ArrayObject([kids[0]] * 10)}
        )
        branch[NameObject("/Count")] = NumberObject(10)
        kids[0] = writer._add_object(branch)
        times_named = times // 10
    else:
        times_named = times
    kids.extend([kids[0]] * (times_named - 1))
    root[NameObject("/Count")] = NumberObject(times)
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


def draw(path: Path, *pages: Sequence[Placed], size: tuple[int, int] = (595, 842)) -> Path:
    """A PDF of pages on which each text stands in a place of its own."""
    canvas = Canvas(str(path), pagesize=size, invariant=1)
    for items in pages:
        canvas.setFont("Helvetica", SIZE)
        for x, y, text in sorted(items, key=lambda item: item[1]):
            drawing = {">": canvas.drawRightString, "|": canvas.drawCentredString}.get(
                text[0], canvas.drawString
            )
            drawing(x, size[1] - y, text.lstrip(">|"))
        canvas.showPage()
    canvas.save()
    return path


def grid(
    top: float,
    rows: Sequence[Sequence[str]],
    *,
    rights: Sequence[float] = (350, 430, 510),
    left: float = 60,
    step: float = 15,
) -> list[Placed]:
    """Rows of a label (indented by its leading spaces) and right-aligned values; "" is nothing."""
    placed: list[Placed] = []
    for number, (label, *values) in enumerate(rows):
        y = top + number * step
        if label.strip():
            placed.append((left + 5 * (len(label) - len(label.lstrip())), y, label.strip()))
        placed += [(right, y, f">{value}") for right, value in zip(rights, values, strict=False) if value]
    return placed


def draw_revenue(path: Path) -> Path:
    """A PDF of one page with a captioned table of a budget; total revenue of 2024 is 1,585 million crowns."""
    rows = [
        ("", "2023", "2024", "2025"),
        ("Revenue from taxes", "1,204", "1,310", "1,422"),
        ("Grants from abroad", "310", "275", "260"),
        ("Total revenue", "1,514", "1,585", "1,682"),
        ("Current expenditure", "1,390", "1,402", "1,455"),
        ("Capital expenditure", "205", "231", "252"),
    ]
    return draw(
        path,
        [
            (60, 60, "Table 1: Revenue and expenditure of the central government"),
            (60, 76, "In millions of crowns"),
            *grid(110, rows),
        ],
    )

"""Draws the project's sample documents as PDFs, the same bytes every time; what they say stands in
content/.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy
import pypdfium2
import reportlab
from PIL import Image, ImageFilter
from reportlab import rl_config
from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.shapes import Drawing, Line, String
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    KeepTogether,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    TableStyle,
)
from reportlab.platypus import Table as Grid
from reportlab.platypus.tableofcontents import TableOfContents

if not __package__:  # started as a script: the checkout is not on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from documents.sample_content import SAMPLES, Bars, Block, Contents, Heading, Items, Sample, Scan, Table, Text

__all__ = ["main", "make_samples"]

FOLDER = Path(__file__).resolve().parent / "samples"
OWNER = "Ministry of Finance of the Republic of Valmora"
NOTICE = "Sample document. The Republic of Valmora, its institutions and all figures are invented."

WIDTH, HEIGHT = A4
MARGIN = 25 * mm
TOP, BOTTOM = 27 * mm, 32 * mm
LINE = WIDTH - 2 * MARGIN
SCAN_DPI = 200
SCAN_TILT = 0.5  # degrees
LONG = 30  # rows; a longer table may break across pages, with its heads repeated
CONTENTS_STYLE = TableStyle(
    [
        (f"{side}PADDING", (0, 0), (-1, -1), 1 if side in ("TOP", "BOTTOM") else 0)
        for side in ("TOP", "BOTTOM", "LEFT", "RIGHT")
    ]
)
ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


@dataclass(frozen=True, slots=True)
class Face:
    """The look of one document: the names of its fonts, size of the text in points, and its colour."""

    regular: str
    bold: str
    italic: str
    size: float
    colour: Color

    def style(self, **changes: Any) -> ParagraphStyle:
        """A paragraph style: running text, but for the changes."""
        size = changes.get("fontSize", self.size)
        usual = {
            "fontName": self.regular,
            "fontSize": size,
            "leading": 1.38 * size,
            "spaceAfter": 0.75 * size,
        }
        return ParagraphStyle("text", **{**usual, **changes})


SERIF = Face("Times-Roman", "Times-Bold", "Times-Italic", 11, HexColor("#1f3a5f"))
SANS = Face("Helvetica", "Helvetica-Bold", "Helvetica-Oblique", 9.8, HexColor("#2f5d50"))
# Pages that become pictures are set in a font that comes with reportlab, so that the pictures do not depend
# on the system's fonts.
PICTURE = Face("Vera", "Vera-Bold", "Vera-Italic", 10, HexColor("#000000"))


def _register_fonts() -> None:
    folder = Path(reportlab.__file__).parent / "fonts"
    for name, file in (("Vera", "Vera.ttf"), ("Vera-Bold", "VeraBd.ttf"), ("Vera-Italic", "VeraIt.ttf")):
        pdfmetrics.registerFont(TTFont(name, str(folder / file)))
    pdfmetrics.registerFontFamily(
        "Vera", normal="Vera", bold="Vera-Bold", italic="Vera-Italic", boldItalic="Vera-Bold"
    )


def _marked(flowable: Any, mark: object) -> Any:
    """flowable, remembering what it stands for until it is placed on a page."""
    flowable.mark = mark
    return flowable


# Blocks to flowables
# ------------------------------------------------------------------------------------------------------------


def _heading(block: Heading, face: Face) -> Iterator[Any]:
    if block.new_page:
        yield PageBreak()
    size = {1: 1.6, 2: 1.2, 0: 1.3 if block.new_page else 1.08}[block.level] * face.size
    style = face.style(
        fontName=face.bold,
        fontSize=size,
        leading=1.25 * size,
        spaceBefore=0.8 * size,
        keepWithNext=1,
        textColor=face.colour,
    )
    yield _marked(Paragraph(block.text, style), block)


def _text(block: Text, face: Face) -> Iterator[Any]:
    yield _marked(
        Paragraph(block.text, face.style(alignment=TA_JUSTIFY if "<br/>" not in block.text else 0)), block
    )


def _items(block: Items, face: Face) -> Iterator[Any]:
    for number, item in enumerate(block.items):
        mark = f"({'abcdefghijkl'[number]})" if block.lettered else "•"
        yield Paragraph(
            item,
            face.style(leftIndent=16 if block.lettered else 12, spaceAfter=0.35 * face.size),
            bulletText=mark,
        )
    yield Spacer(1, 0.5 * face.size)


def _cell(text: str, face: Face, *, bold: bool = False, right: bool = False) -> Any:
    style = face.style(
        fontName=face.bold if bold else face.regular,
        fontSize=0.86 * face.size,
        leading=1.04 * face.size,
        spaceAfter=0,
        alignment=TA_RIGHT if right else 0,
        leftIndent=10 if text.startswith(" ") else 0,
    )
    return Paragraph(text.strip(), style)


def _cells(table: Table, face: Face) -> list[list[Any]]:
    """The rows of the table with its heads: words wrap, figures stay as they are."""
    rows = [
        [_cell(text, face, bold=True, right=column >= table.words) for column, text in enumerate(table.head)]
    ]
    for index, row in enumerate(table.rows):
        strong = index in table.bold or len(row) == 1
        cells = [
            _cell(text, face, bold=strong) if column < table.words else text
            for column, text in enumerate(row)
        ]
        rows.append(cells + [""] * (len(table.head) - len(cells)))
    return rows


def _grid_style(table: Table, face: Face) -> TableStyle:
    commands: list[tuple[Any, ...]] = [
        ("FONT", (0, 0), (-1, -1), face.regular, 0.86 * face.size),
        ("ALIGN", (table.words, 0), (-1, -1), "RIGHT"),
        ("VALIGN", (0, 0), (-1, 0), "BOTTOM"),
        ("VALIGN", (0, 1), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 2.2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2.8),
        ("LEFTPADDING", (0, 0), (-1, -1), 4),
        ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ("BACKGROUND", (0, 0), (-1, 0), HexColor("#e9edf1")),
        ("LINEABOVE", (0, 0), (-1, 0), 0.9, face.colour),
        ("LINEBELOW", (0, 0), (-1, 0), 0.6, face.colour),
        ("LINEBELOW", (0, 1), (-1, -2), 0.25, HexColor("#c9ced4")),
        ("LINEBELOW", (0, -1), (-1, -1), 0.9, face.colour),
    ]
    for row in (index + 1 for index in table.bold):
        commands += [
            ("FONTNAME", (0, row), (-1, row), face.bold),
            ("LINEABOVE", (0, row), (-1, row), 0.6, face.colour),
        ]
    return TableStyle(commands)


def _table(table: Table, face: Face) -> Iterator[Any]:
    together = len(table.rows) < LONG
    small = {"fontSize": 0.82 * face.size, "leading": 1.02 * face.size}
    caption = face.style(
        fontName=face.bold, fontSize=0.95 * face.size, spaceBefore=0.4 * face.size, spaceAfter=1
    )
    parts = [_marked(Paragraph(table.caption, caption), table)]
    if table.unit:
        parts.append(Paragraph(table.unit, face.style(fontName=face.italic, spaceAfter=3, **small)))
    parts.append(
        Grid(
            _cells(table, face),
            [LINE * share for share in table.widths],
            repeatRows=1,
            style=_grid_style(table, face),
            hAlign="LEFT",
        )
    )
    parts.append(Spacer(1, 3 if table.notes else face.size))
    parts += [Paragraph(note, face.style(spaceAfter=2, **small)) for note in table.notes]
    parts += [Spacer(1, face.size)] if table.notes else []
    yield from [KeepTogether(parts)] if together else parts


def _chart(bars: Bars, face: Face) -> Any:
    chart = VerticalBarChart()
    chart.x, chart.y, chart.width, chart.height = 30, 18, LINE - 110, 105
    chart.data = [bars.values]
    chart.bars[0].fillColor, chart.bars[0].strokeColor = face.colour, None
    chart.valueAxis.valueMin, chart.valueAxis.valueMax, chart.valueAxis.valueStep = 0, 80, 20
    chart.categoryAxis.categoryNames = list(bars.labels)
    chart.barLabelFormat, chart.barLabels.nudge = "%.1f", 7
    for labels in (chart.valueAxis.labels, chart.categoryAxis.labels, chart.barLabels):
        labels.fontName, labels.fontSize = face.regular, 8
    height = chart.y + chart.height * bars.line / 80
    drawing = Drawing(LINE, 130)
    drawing.add(chart)
    drawing.add(
        Line(
            chart.x,
            height,
            chart.x + chart.width,
            height,
            strokeColor=HexColor("#a33b20"),
            strokeWidth=1,
            strokeDashArray=[4, 2],
        )
    )
    drawing.add(
        String(
            chart.x + chart.width + 4,
            height - 3,
            f"Anchor: {bars.line:.0f}",
            fontName=face.italic,
            fontSize=8,
        )
    )
    return drawing


def _bars(bars: Bars, face: Face) -> Iterator[Any]:
    caption = Paragraph(bars.caption, face.style(fontName=face.bold, fontSize=0.95 * face.size, spaceAfter=4))
    yield KeepTogether([caption, _chart(bars, face)])


def _scan(block: Scan) -> Iterator[Any]:
    yield NextPageTemplate("scan")
    for number, page in enumerate(block.pages):
        yield PageBreak()
        yield _marked(Spacer(1, 1), (page, None if number else block.heading))
    yield NextPageTemplate("body")


# Pages
# ------------------------------------------------------------------------------------------------------------


class Press:
    """Sets one document. Holds what is known only while pages are being filled: the section, the
    footnotes, where the body begins.
    """

    def __init__(self, sample: Sample, face: Face, *, pages: int = 0, label: str = "") -> None:
        """pages: how many there are, for footers that say so; label: the printed number of the only page,
        for pages that become pictures.
        """
        self.sample, self.face, self.pages, self.fixed_label = sample, face, pages, label
        self.section = ""
        self.notes: list[str] = []
        self.first_body, self.in_body = 0, False  # the contents need the first from the pass before
        self.picture: tuple[Block, ...] = ()
        self.output = BytesIO()
        self.document = self._document()

    def _document(self) -> Any:
        document = BaseDocTemplate(
            self.output,
            pagesize=A4,
            invariant=1,
            title=self.sample.title,
            author=OWNER,
            subject=NOTICE,
            creator="make_samples.py",
            lang="en",
        )
        frame = Frame(MARGIN, BOTTOM, LINE, HEIGHT - TOP - BOTTOM, 0, 0, 0, 0)
        names = (["cover", "front"] if self.sample.cover else []) + ["body", "scan"]
        document.addPageTemplates(
            [
                PageTemplate(
                    name,
                    [frame],
                    onPage=self._begin_page,
                    onPageEnd=getattr(self, f"_end_{name}"),
                    pagesize=A4,
                )
                for name in names
            ]
        )
        document.afterFlowable = self._placed
        return document

    def bytes(self) -> bytes:
        self.document.multiBuild(list(self._story()))
        return self.output.getvalue()

    def _story(self) -> Iterator[Any]:
        if self.sample.cover:
            yield from self._cover()
            yield NextPageTemplate("front")
            yield from self._flow(self.sample.front)
            yield NextPageTemplate("body")
        elif not self.fixed_label:
            yield from self._masthead()
        yield from self._flow(self.sample.body)

    def _flow(self, blocks: tuple[Block, ...]) -> Iterator[Any]:
        for block in blocks:
            match block:
                case Heading():
                    yield from _heading(block, self.face)
                case Text():
                    yield from _text(block, self.face)
                case Items():
                    yield from _items(block, self.face)
                case Table():
                    yield from _table(block, self.face)
                case Bars():
                    yield from _bars(block, self.face)
                case Contents():
                    yield self._contents(block)
                case Scan():
                    yield from _scan(block)

    def _contents(self, block: Contents) -> Any:
        face = self.face
        styles = [
            face.style(
                fontName=face.regular if block.tables else face.bold,
                spaceAfter=0,
                leading=1.5 * face.size,
                rightIndent=30,
            ),
            face.style(
                fontSize=0.95 * face.size,
                leftIndent=14,
                spaceAfter=0,
                leading=1.4 * face.size,
                rightIndent=30,
            ),
        ]
        kind = "Table" if block.tables else "Heading"
        return TableOfContents(
            levelStyles=styles,
            dotsMinLevel=0,
            formatter=self.label,
            notifyKind=kind,
            tableStyle=CONTENTS_STYLE,
        )

    def _cover(self) -> Iterator[Any]:
        owner, body, *rest = self.sample.cover
        face = self.face
        centred = {"alignment": TA_CENTER, "textColor": face.colour}
        yield Spacer(1, 30 * mm)
        yield Paragraph(owner.upper(), face.style(fontName=face.bold, fontSize=15, **centred))
        yield Paragraph(body, face.style(fontSize=12, **centred))
        yield Spacer(1, 48 * mm)
        yield Paragraph(self.sample.title, face.style(fontName=face.bold, fontSize=30, leading=38, **centred))
        yield Paragraph(self.sample.subtitle, face.style(fontSize=15, leading=20, **centred))
        yield Spacer(1, 55 * mm)
        for line in rest:
            yield Paragraph(line, face.style(fontSize=11.5, alignment=TA_CENTER))

    def _masthead(self) -> Iterator[Any]:
        face = self.face
        yield Paragraph(
            self.sample.title,
            face.style(fontName=face.bold, fontSize=22, leading=27, spaceAfter=3, textColor=face.colour),
        )
        yield Paragraph(self.sample.subtitle, face.style(fontName=face.italic, spaceAfter=10))

    def label(self, page: int) -> str:
        """The number printed on a physical page (1-based): none on the cover, then roman, then arabic from
        1.
        """
        if self.fixed_label:
            return self.fixed_label
        if self.first_body and page >= self.first_body:
            return str(page - self.first_body + 1)
        return ROMAN[page - 1] if page <= len(ROMAN) else ""

    def _begin_page(self, canvas: Any, document: Any) -> None:
        page = canvas.getPageNumber()
        if page == 1:
            # reportlab's fixed date is that of 2000; a document of 2025 should say so
            canvas._doc._timeStamp.lt = (*self.sample.date.timetuple()[:3], 9, 0, 0)
            self.in_body = False
        if document.pageTemplate.id == "body" and not self.in_body:
            self.first_body, self.in_body = page, True
        if self.sample.labels and page in (1, 2, self.first_body):
            self._page_label(canvas, page)

    def _page_label(self, canvas: Any, page: int) -> None:
        """Where a series of printed numbers begins, into the PDF itself: the cover, the front matter, the
        body.
        """
        if page == 1:
            canvas.addPageLabel(0, prefix="Cover")
        else:
            canvas.addPageLabel(page - 1, style="ARABIC" if self.in_body else "ROMAN_LOWER", start=1)

    def _placed(self, flowable: Any) -> None:
        match getattr(flowable, "mark", None):
            case Heading() as heading:
                self._enter(heading)
            case Table(caption=caption):
                self.document.notify("Table", (0, caption, self.document.page, None))
            case Text(footnote=footnote) if footnote:
                self.notes.append(footnote)
            case (tuple() as page, heading):
                self.picture = page
                if heading:
                    self._enter(heading)

    def _enter(self, heading: Heading) -> None:
        """A heading has found its page: into the contents, the outline and the running header."""
        if heading.level == 1 or heading.new_page:
            self.section = heading.text
        if heading.level == 0 or self.fixed_label:
            return
        page, canvas = self.document.page, self.document.canv
        key = f"h-{heading.text}"
        canvas.bookmarkPage(key)
        canvas.addOutlineEntry(heading.text, key, heading.level - 1)
        self.document.notify("Heading", (heading.level - 1, heading.text, page, None))

    def _end_cover(self, canvas: Any, _: Any) -> None:
        canvas.saveState()
        canvas.setFillColor(self.face.colour)
        canvas.rect(0, HEIGHT - 18 * mm, WIDTH, 18 * mm, stroke=0, fill=1)
        canvas.rect(0, 0, WIDTH, 8 * mm, stroke=0, fill=1)
        canvas.setFont(self.face.regular, 8)
        canvas.drawCentredString(WIDTH / 2, 14 * mm, NOTICE)
        canvas.restoreState()

    def _end_front(self, canvas: Any, document: Any) -> None:
        self._end_body(canvas, document)

    def _end_body(self, canvas: Any, _: Any) -> None:
        page = canvas.getPageNumber()
        canvas.saveState()
        if page > 1 or self.fixed_label:
            self._header(canvas)
        else:
            self.notes.append(NOTICE)
        self._footnotes(canvas)
        self._footer(canvas, page)
        canvas.restoreState()

    def _header(self, canvas: Any) -> None:
        height = HEIGHT - 18 * mm
        canvas.setFont(self.face.italic, 8.5)
        canvas.drawString(MARGIN, height, self.sample.title)
        canvas.drawRightString(WIDTH - MARGIN, height, self.section)
        self._rule(canvas, height - 4)

    def _footer(self, canvas: Any, page: int) -> None:
        canvas.setFont(self.face.regular, 9)
        left, middle, right = (
            part.format(label=self.label(page), pages=self.pages) for part in self.sample.footer
        )
        canvas.drawString(MARGIN, 14 * mm, left)
        canvas.drawCentredString(WIDTH / 2, 14 * mm, middle)
        canvas.drawRightString(WIDTH - MARGIN, 14 * mm, right)

    def _footnotes(self, canvas: Any) -> None:
        height = 20 * mm
        for note in reversed(self.notes):
            paragraph = Paragraph(note, self.face.style(fontSize=8, leading=9.6, spaceAfter=0))
            _, needed = paragraph.wrap(LINE, BOTTOM)
            paragraph.drawOn(canvas, MARGIN, height)
            height += needed + 2
        if self.notes:
            canvas.setLineWidth(0.4)
            canvas.line(MARGIN, height + 2, MARGIN + 50 * mm, height + 2)
        self.notes.clear()

    def _rule(self, canvas: Any, height: float) -> None:
        canvas.setStrokeColor(self.face.colour)
        canvas.setLineWidth(0.5)
        canvas.line(MARGIN, height, WIDTH - MARGIN, height)

    def _end_scan(self, canvas: Any, _: Any) -> None:
        page = canvas.getPageNumber()
        image = _picture(self.sample, self.picture, self.label(page))
        canvas.drawImage(ImageReader(BytesIO(image)), 0, 0, WIDTH, HEIGHT)


# Pages as pictures
# ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)  # a document is set several times until its contents are right
def _picture(sample: Sample, blocks: tuple[Block, ...], label: str) -> bytes:
    """The page as a scanner would give it: a grey JPEG, a little askew, with some noise."""
    _register_fonts()
    page = replace(sample, cover=(), front=(), body=blocks, labels=False)
    return _scanned(Press(page, PICTURE, label=label).bytes(), seed=int(label))


def _scanned(pdf: bytes, *, seed: int) -> bytes:
    document = pypdfium2.PdfDocument(pdf)
    try:
        clean = document[0].render(scale=SCAN_DPI / 72, grayscale=True).to_pil().convert("L")
    finally:
        document.close()
    tilted = clean.rotate(
        SCAN_TILT if seed % 2 else -SCAN_TILT, Image.Resampling.BICUBIC, fillcolor=255
    ).filter(ImageFilter.GaussianBlur(0.5))
    noise = numpy.random.default_rng(seed).integers(-7, 8, size=(tilted.height, tilted.width))
    grey = numpy.clip(numpy.asarray(tilted, dtype=numpy.int16) * 0.92 + 14 + noise, 0, 255).astype(
        numpy.uint8
    )
    output = BytesIO()
    Image.fromarray(grey).save(output, "JPEG", quality=42, dpi=(SCAN_DPI, SCAN_DPI))
    return output.getvalue()


# Files
# ------------------------------------------------------------------------------------------------------------


def _pdf(sample: Sample) -> bytes:
    face = SERIF if sample.serif else SANS
    draft = Press(sample, face)
    data = draft.bytes()
    if "{pages}" in "".join(sample.footer):
        data = Press(sample, face, pages=draft.document.page).bytes()
    return data


def make_samples(folder: Path) -> list[Path]:
    """Writes the sample documents into the folder, which is made if it is not there; gives their paths,
    each file whole or not there.
    """
    rl_config.useA85 = 0  # streams as they are, not as text a quarter larger
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for sample in SAMPLES:
        path = folder / sample.file
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        part.write_bytes(_pdf(sample))
        part.replace(path)
        paths.append(path)
    return paths


def main(arguments: list[str] | None = None) -> int:
    """The command line: one path a line."""
    parser = argparse.ArgumentParser(description="Make the project's sample PDFs.")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER", help=f"where to (default: {FOLDER})"
    )
    for path in make_samples(parser.parse_args(arguments).folder):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

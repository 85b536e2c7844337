"""Makes PDFs of plain text and Markdown; runs only in reading processes."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from reportlab.lib.colors import grey
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFError, TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, Preformatted, SimpleDocTemplate, Table

from ingestion.errors import DocumentError
from ingestion.reading.formats import MadePage

__all__ = ["decoded", "draw_lines", "font_for", "make", "make_markdown"]

# Characters of a file, and of a page at whose end the next heading or paragraph begins a further one.
LONGEST_TEXT, FULL_PAGE = 5_000_000, 2_600
# Points of a margin, of letters and between lines; characters of a line.
MARGIN, SIZE, LEADING, LINE = 42, 9, 11.5, 94
LINES = int((A4[1] - 2 * MARGIN) / LEADING)
SYSTEM_FONTS = Path("/usr/share/fonts")
FIXED = "Courier"


def make(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """A maker of PDFs, see `formats`."""
    draw_lines(_text_of(original, name), target)
    return []


def make_markdown(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """The same of Markdown. Its links and images are text."""
    text = _text_of(original, name)
    tree = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))
    margins = dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), MARGIN)
    title = next((_shown(node) for node in tree.children if node.type == "heading"), "")
    document = SimpleDocTemplate(str(target), pagesize=A4, title=title, **margins)
    document.build([*_flowing(tree.children, font_for(text))] or [Paragraph(" ", ParagraphStyle("empty"))])
    return []


def draw_lines(text: str, target: Path, title: str = "") -> None:
    """Draw text line by line in letters of one width, where they have all its characters."""
    font = FIXED
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        font = font_for(text)
    canvas = Canvas(str(target), pagesize=A4)
    canvas.setTitle(title)
    for page in [*_pages(text)] or [[""]]:
        drawn = canvas.beginText(MARGIN, A4[1] - MARGIN - SIZE)
        drawn.setFont(font, SIZE, LEADING)
        for line in page:
            drawn.textLine(line)
        canvas.drawText(drawn)
        canvas.showPage()
    canvas.save()


def decoded(data: bytes) -> str:
    """Text in the encoding that its first bytes mark, else in UTF-8, else in that of Windows."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _text_of(path: Path, name: str) -> str:
    text = decoded(path.read_bytes())
    if "\0" in text:
        raise DocumentError(f"{name} is not a text file.", hint="Add it under its right name.")
    if len(text) > LONGEST_TEXT:
        raise DocumentError(
            f"The file has {len(text):,} characters, and at most {LONGEST_TEXT:,} are read.", hint="Split it."
        )
    return text


def _pages(text: str) -> Iterator[list[str]]:
    """The lines of each page. A form feed begins one, and so does a paragraph after a page that is full."""
    page, length = list[str](), 0
    for part in text.expandtabs(8).split("\f"):
        for line in part.splitlines():
            if length >= FULL_PAGE and not line.strip():
                yield page
                page, length = [], 0
                continue
            own = len(line) - len(line.lstrip())
            indent = line[: min(own, LINE // 2)]
            for piece in wrap(line, LINE, subsequent_indent=indent, drop_whitespace=own < len(line)) or [""]:
                if len(page) == LINES:
                    yield page
                    page, length = [], 0
                page.append(piece)
                length += len(piece)
        if any(map(str.strip, page)):
            yield page
        page, length = [], 0


def _flowing(nodes: Sequence[SyntaxTreeNode], font: str, depth: int = 0) -> Iterator[Flowable]:
    """What is drawn of blocks of Markdown. depth: of lists and quotations around them."""
    length, space = 0, {"spaceAfter": LEADING / 2, "leftIndent": 12 * depth}
    body = ParagraphStyle("body", fontName=font, fontSize=SIZE + 1, leading=LEADING + 2, **space)
    for node in nodes:
        shown = _shown(node)
        if node.type == "heading":
            if length >= FULL_PAGE / 2 and not depth:
                length = 0
                yield PageBreak()
            size = max(SIZE + 2, 20 - 3 * int(node.tag[1]))
            style = ParagraphStyle("head", body, fontSize=size, leading=size * 1.3, keepWithNext=True)
            yield Paragraph(escape(shown), style)
        elif node.type == "table":
            rows = [_drawn(row, body) for part in node.children for row in part.children]
            grid = ("GRID", (0, 0), (-1, -1), 0.5, grey)
            yield Table(rows, style=[grid], repeatRows=1, spaceAfter=LEADING)
        elif node.type in {"fence", "code_block", "html_block"}:
            style = ParagraphStyle("code", body, fontName=FIXED if shown.isascii() else font)
            yield Preformatted(shown, style, maxLineLength=LINE - 2 * depth, newLineChars="")
        elif node.type == "paragraph":
            yield Paragraph(escape(shown).replace("\n", "<br/>"), body)
        elif node.type == "list_item" and node.children and node.children[0].type == "paragraph":
            mark = f"{node.info}{node.markup}" if node.info else "•"
            yield Paragraph(f"{mark} {escape(_shown(node.children[0]))}", body)
            yield from _flowing(node.children[1:], font, depth + 1)
        else:
            yield from _flowing(node.children, font, depth + 1)
        length += len(shown)


def _drawn(row: SyntaxTreeNode, style: ParagraphStyle) -> list[Paragraph]:
    return [Paragraph(escape(_shown(cell)), style) for cell in row.children]


def _shown(node: SyntaxTreeNode) -> str:
    """The text of a block or of a stretch of one, without marks."""
    if node.type in {"softbreak", "hardbreak"}:
        return "\n" if node.type == "hardbreak" else " "
    if node.children:
        return "".join(map(_shown, node.children))
    return node.content.rstrip("\n")


def font_for(text: str) -> str:
    """The name of a font that has the characters of a text, or else most of them."""
    wanted = set(map(ord, text))
    best, fewest = "Vera", len(wanted) + 1
    candidates = sorted(SYSTEM_FONTS.rglob("*.ttf"), key=lambda path: (len(path.name), path))
    for path in ("Vera.ttf", *map(str, candidates)):
        try:
            font = TTFont(Path(path).stem, path)
        except (TTFError, OSError):
            continue
        missing = len([code for code in wanted if code > 32 and code not in font.face.charToGlyph])
        if missing < fewest:
            pdfmetrics.registerFont(font)
            best, fewest = font.fontName, missing
        if not fewest:
            break
    return best

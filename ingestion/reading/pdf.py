"""Reads one PDF: PDFium first, pypdf beside it; runs only inside a reading process and judges nothing it
reads.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property, partial
from itertools import islice, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ingestion.errors import DocumentError, EncryptedError
from ingestion.invisible_characters import one_line
from ingestion.ocr.text_quality import is_unreadable, normalise, normalised_words
from ingestion.reading.annotations import (
    Annotation,
    annotations_of,
    attached_contents,
    attached_files,
    draw_missing,
    drop_excess,
    said_of,
)
from ingestion.reading.formats import ATTACHED, OF_ITS_OWN, is_named_like_a_document
from ingestion.reading.hidden_layers import has_hidden_layers
from ingestion.reading.hidden_text import UNCHECKED, ShownPage, kept_of, told, unseen_of
from ingestion.reading.image_areas import finest, picture_places, shows_chart
from ingestion.reading.letters import with_plain_words, with_raised_marks
from ingestion.reading.page_objects import PageObjects, around_spans, corners_of
from ingestion.reading.reading_order import in_reading_order
from ingestion.records import BESIDE, DocumentInfo, Page, Place, Rect, Span, Word, turn_back
from ingestion.tables.ruling_lines import THICKEST, Rules, drawn_rules

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["PdfFile"]

# A raster beyond this many pixels is not made: 40 megapixels is A3 at 450 dpi, and one page in memory stays
# under 160 MB.
MOST_PIXELS = 40_000_000
# Of a page with a chart, and of its longer side, as models that see take one in without making it smaller.
CHART_PIXELS, CHART_SIDE = 1_100_000, 1_568
# What tesseract reads best, and the pixels of an A4 page at that. A page less than half as long as A4 is a
# card, a receipt or a page whose size was set wrongly: its letters may be as small.
READING_DPI = 300
READING_PIXELS = 8_700_000
SMALL_PAGE = 2.0
# Characters of one page kept; the densest real page measured has 14,000. More is a bomb or a broken file.
MOST_CHARACTERS = 100_000
# Characters of a title or label that are looked at.
LONGEST_METADATA = 400
# Letters drawn as outlines are one path each: fewer paths than this are rules and boxes, not text.
DRAWINGS_OF_A_TEXT = 60
# Of the parts of a side that places are given in.
MILLION = 1e6
# What the page of a form says that Adobe's programs draw themselves.
PLACEHOLDER = re.compile(r"\s*Please wait\.{3}\s+If this message is not eventually replaced")
# Of a file's own bookmarks.
OUTLINE_DEPTH, MOST_BOOKMARKS, LONGEST_BOOKMARK = 2, 500, 200


class PdfFile:
    """An open PDF. Page numbers are physical and 1-based. Not for use from several threads."""

    def __init__(self, path: Path, password: str | None = None) -> None:
        """Raises DocumentError where the file is no PDF or damaged beyond reading, EncryptedError where it
        needs a password.
        """
        self.path = path
        self.password = password
        self._pypdf: Any = None
        self._pdfium: pdfium.PdfDocument | None = None
        self._kept: _OpenPage | None = None
        self._layered = False
        _check_header(path)
        try:
            self._pdfium = pdfium.PdfDocument(str(path), password=password)
            self._pdfium.init_forms()
            self._encrypted = raw.FPDF_GetSecurityHandlerRevision(self._pdfium.raw) != -1
            count = len(self._pdfium)
        except pdfium.PdfiumError as error:
            count = self._open_with_pypdf(error)
        if count < 1:
            raise DocumentError("The PDF has no pages.", hint="Export it again from its source.")
        self.count = count
        self._refuse_placeholder()
        self._layered = has_hidden_layers(path, self._reader)

    def info(self) -> DocumentInfo:
        """Page count, title and the file's own page labels, as they stand in the file."""
        document = self._pdfium
        if document is None:
            return DocumentInfo(self.count, None, (None,) * self.count, self._encrypted)
        title = _decoded(lambda: document.get_metadata_value("Title"))
        labels = tuple(_decoded(partial(document.get_page_label, index)) for index in range(self.count))
        return DocumentInfo(self.count, title, labels, self._encrypted)

    def outline(self) -> list[tuple[str, int, int]]:
        """(title, page, depth from 0) of the file's own bookmarks that lead to a page, in their order."""
        found = list[tuple[str, int, int]]()
        if self._pdfium is None:
            return found
        with suppress(pdfium.PdfiumError):
            for mark in islice(self._pdfium.get_toc(max_depth=OUTLINE_DEPTH), MOST_BOOKMARKS):
                title = _decoded(mark.get_title)
                target = mark.get_dest()
                page = target.get_index() if target else None
                if title and page is not None and 0 <= page < self.count:
                    found.append((" ".join(title[:LONGEST_BOOKMARK].split()), page + 1, mark.level))
        return found

    def firsts(self) -> list[int]:
        """Of each page the number of the first that is the same object; [] where that cannot be told."""
        found, numbers = list[int](), dict[object, int]()
        # A tree may lead back to itself, or have any number of empty branches.
        visits = 2 * self.count
        try:
            coming = [self._reader().trailer["/Root"]["/Pages"]]
            while coming and visits:
                visits -= 1
                page = coming.pop()
                kids = page.get_object().get("/Kids")
                if kids is None:
                    found.append(numbers.setdefault(page, len(found) + 1))
                else:
                    coming += reversed(kids.get_object())
        except Exception:  # pypdf raises anything on a broken file
            return []
        return found if len(found) == self.count else []

    def words(self, number: int) -> tuple[str, str, list[Word]]:
        """(normalised text, method "text" or "text-pypdf", words) of a page; pypdf gives no words. Raises
        DocumentError where neither reader can.
        """
        try:
            text, words = self._pdfium_words(number)
            return text, "text", words
        except pdfium.PdfiumError as error:
            try:
                read = self._reader().pages[number - 1].extract_text()
                return normalise(read[:MOST_CHARACTERS]), "text-pypdf", []
            except Exception as second:  # pypdf raises anything on a broken page
                raise DocumentError(
                    f"Page {number} cannot be read ({error})",
                    hint="Repair or re-export the PDF.",
                ) from second

    def glyphs(self, number: int) -> list[tuple[str, Rect]]:
        """Every character of a page with its box, in text order. Empty where PDFium cannot read the page."""
        try:
            with self._plain(number) as (plain, _, tight):
                printed = [(character, tight(at)) for at, character in enumerate(plain)]
        except pdfium.PdfiumError:
            return []
        return printed + self.additions(number)

    def additions(self, number: int) -> list[tuple[str, Rect]]:
        """Lines of text that page `number` has beside its text layer, each with its place: values of fields,
        notes, names of attached files, on the first page those of the whole document too."""
        opened = self._open(number)
        if opened is None:
            return []
        files = [
            (f"[attached file{'' if is_named_like_a_document(name) else ', not read'}] {name}", BESIDE)
            for name in self._files(number)
        ]
        if not opened.annotations:
            return files
        with closing(opened.text_page()) as text_page:
            said = said_of(opened.annotations, lambda sides: str(text_page.get_text_bounded(*sides)))
        place = opened.place
        return [(text, place(left, top, right, bottom)) for text, (left, bottom, right, top) in said] + files

    def remarks(self, number: int) -> list[str]:
        """What the readers of page `number` should know: words of its text layer that nobody sees or that are
        struck through, and files that are attached."""
        files = [
            f"{ATTACHED} “{name}”{OF_ITS_OWN if is_named_like_a_document(name) else ''}"
            for name in self._files(number)
        ]
        opened = self._open(number)
        if opened is not None and opened.unseen is None:
            with suppress(pdfium.PdfiumError), self._plain(number):
                pass
        return [*(opened.told if opened else ()), *files]

    def attached(self, numbers: Sequence[int]) -> Iterator[tuple[str, bytes]]:
        """(name, content) of files that the document and these of its pages carry; see `annotations`."""
        if self._pdfium is not None:
            yield from attached_contents(self._pdfium, [self._pdfium[number - 1] for number in numbers])

    def _files(self, number: int) -> list[str]:
        """The names of the files that are attached to a page, on the first one to the document too."""
        opened = self._open(number)
        pinned = opened.annotations if opened else ()
        names = [one.text for one in pinned if one.kind == raw.FPDF_ANNOT_FILEATTACHMENT]
        if number == 1 and self._pdfium is not None:
            names += attached_files(self._pdfium)
        return list(dict.fromkeys(names))

    def image(self, number: int, dpi: int = 0) -> Image:
        """The page as it is shown, at `dpi`, else as it is read by OCR, or as many as MOST_PIXELS allows.
        Raises DocumentError where it cannot be drawn.
        """
        if self._pdfium is None:
            raise DocumentError(f"Page {number} cannot be drawn.", hint="Repair or re-export the PDF.")
        try:
            page = self._pdfium[number - 1]
            draw_missing(page)
            width, height = page.get_size()
            scale = min(
                (dpi or self._reading_dpi(number)) / 72, (MOST_PIXELS / max(1.0, width * height)) ** 0.5
            )
            image = page.render(scale=scale, draw_annots=True).to_pil()
            page.close()
        except (pdfium.PdfiumError, ValueError, MemoryError) as error:
            raise DocumentError(
                f"Page {number} cannot be drawn: {error}", hint="Repair or re-export the PDF."
            ) from error
        shown: Image = image.convert("RGB")
        return shown

    def chart(self, number: int, tables: Sequence[Rect], *, scanned: bool) -> Image | None:
        """The page as it is shown, of at most CHART_PIXELS, if it has a chart or a picture; see
        `shows_chart`. Raises DocumentError where it cannot be drawn.
        """
        opened = self._open(number)
        if opened is None or not shows_chart(opened.objects, opened.place, tables, scanned=scanned):
            return None
        width, height = opened.page.get_size()
        scale = min((CHART_PIXELS / max(1.0, width * height)) ** 0.5, CHART_SIDE / max(1.0, width, height))
        return self.image(number, max(1, int(72 * scale)))

    def _reading_dpi(self, number: int) -> int:
        """Dots per inch at which page `number` is read by OCR: READING_DPI, more where a small page holds
        a finer image.
        """
        opened = self._open(number)
        if opened is None:
            return READING_DPI
        width, height = opened.page.get_size()
        enough = 72 * (READING_PIXELS / max(1.0, width * height)) ** 0.5
        return (
            max(READING_DPI, round(min(72 * finest(opened.objects), enough)))
            if enough > SMALL_PAGE * READING_DPI
            else READING_DPI
        )

    def pictures(self, number: int) -> tuple[Rect, ...]:
        """Where page `number` has images that seem to show text beyond its text layer. Empty where PDFium
        cannot read the page.
        """
        opened = self._open(number)
        if opened is None:
            return ()
        try:
            places = picture_places(opened.objects, opened.place)
            return tuple(self._with_text(number, places)) if places else ()
        except (pdfium.PdfiumError, ValueError, MemoryError):
            return ()

    def given(self, number: int) -> Page | None:
        """Page `number` as it was made, None where it is to be read."""
        return None

    def label(self, number: int) -> str | None:
        """What page `number` is called by whoever made the PDF, None where only the PDF tells."""
        return None

    def rules(self, number: int) -> Rules:
        """The lines drawn on page `number`; none where PDFium cannot read it."""
        opened = self._open(number)
        return opened.rules if opened is not None else Rules()

    def _with_text(self, number: int, places: Sequence[Rect]) -> Iterator[Rect]:
        """Those of these places that look like text which the text layer lacks."""
        from ingestion.ocr.image_preprocessing import LOOK_DPI, looks_like_text

        written = [word.box for word in self._pdfium_words(number)[1]]
        shown = self.image(number, LOOK_DPI)
        yield from (place for place in places if looks_like_text(shown, place, written))

    def may_show_text(self, number: int) -> bool:
        """False where a page has neither an image, nor drawings, but for level and upright lines, enough to
        carry text that its text layer lacks, nor letters that the layer has no meaning for."""
        opened = self._open(number)
        if opened is None:
            return False
        objects, kinds = opened.objects, opened.objects.kinds
        drawings = objects.of_kind(raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)
        sides = objects.sides(drawings)
        lines = (sides[:, 2:] - sides[:, :2]).min(1, initial=np.inf) <= THICKEST
        if raw.FPDF_PAGEOBJ_IMAGE in kinds or (~lines).sum() >= DRAWINGS_OF_A_TEXT:
            return True
        letters = raw.FPDF_PAGEOBJ_TEXT in kinds
        try:
            return letters and is_unreadable(self._pdfium_words(number)[0])
        except pdfium.PdfiumError:
            return letters

    def _open(self, number: int) -> _OpenPage | None:
        """A page, open until another is asked for: its text, its rules and its pictures are, one after the
        other. None where PDFium cannot read it."""
        if self._kept is None or self._kept.number != number:
            if self._kept is not None:
                self._kept.page.close()
                self._kept = None
            with suppress(pdfium.PdfiumError):
                if self._pdfium is not None:
                    self._kept = _OpenPage(number, self._pdfium[number - 1], self._pdfium.formenv)
        return self._kept

    def _pdfium_words(self, number: int) -> tuple[str, list[Word]]:
        with self._plain(number) as (plain, around, _):
            text, spans = normalised_words(with_raised_marks(plain, around))
            boxes = around([of for _, _, of in spans])
            return text, [
                Word(text[start:end], box, None, start, end)
                for (start, end, _), box in zip(spans, boxes, strict=True)
            ]

    @contextmanager
    def _plain(
        self, number: int
    ) -> Iterator[tuple[str, Callable[[Sequence[Span]], list[Rect]], Callable[[int], Rect]]]:
        """A page's text in reading order, what gives the box around the first and last character of a stretch
        of it, which stand on one line, and what gives the box around the ink of a character, without area
        where it was made up. Raises PdfiumError."""
        opened = self._open(number)
        if opened is None:
            raise pdfium.PdfiumError("not open")
        text_page = opened.text_page()
        try:
            plain, place = str(text_page.get_text_range())[:MOST_CHARACTERS], opened.place
            indexes: Sequence[int] = range(len(plain))
            if text_page.count_chars() != len(plain):  # PDFium counts some that it leaves out
                indexes = [raw.FPDFText_GetCharIndexFromTextIndex(text_page, at) for at in indexes]
            plain, indexes = self._without_unseen(opened, text_page, plain, indexes)
            plain, indexes = with_plain_words(text_page, plain, indexes)
            plain, indexes = in_reading_order(opened, text_page, plain, indexes)

            def around(spans: Sequence[Span]) -> list[Rect]:
                return list(starmap(place, around_spans(text_page, indexes, spans)))

            def tight(at: int) -> Rect:
                corners = corners_of(text_page, indexes[at])
                return place(*corners) if any(corners) else Rect(0.0, 0.0, 0.0, 0.0)

            yield plain, around, tight
        finally:
            text_page.close()

    def _without_unseen(
        self, opened: _OpenPage, text_page: pdfium.PdfTextPage, plain: str, indexes: Sequence[int]
    ) -> tuple[str, Sequence[int]]:
        """What a person sees of a page's text, and of each of its characters PDFium's index."""
        if opened.unseen is None:
            notes = opened.annotations
            covers = [note.sides for note in notes]
            struck = [part for note in notes for part in note.struck]
            page, objects, place = opened.page, opened.objects, opened.place
            shown = ShownPage(page, text_page, objects, place, self._layered, covers, struck)
            opened.unseen, opened.placed, checked = unseen_of(shown, plain, indexes)
            opened.told = told(plain, opened.unseen) + ([] if checked else [UNCHECKED])
            given = [
                text for text in opened.replaced or () if text not in plain and any(map(str.isalnum, text))
            ]
            opened.told += [f"“{one_line(text)}”, which stands for another figure" for text in given]
        if not opened.unseen:
            return plain, indexes
        kept = kept_of(plain, opened.unseen, opened.placed)
        return "".join(plain[at] for at in kept), [indexes[at] for at in kept]

    def _refuse_placeholder(self) -> None:
        """Raise DocumentError where the only page asks to wait for another program to draw the document."""
        opened = self._open(1) if self.count == 1 else None
        if opened is None or self._pdfium is None or any(note.name for note in opened.annotations):
            return
        text = opened.text_page().get_text_range()
        if self._pdfium.get_formtype() == raw.FORMTYPE_XFA_FULL or PLACEHOLDER.match(text):
            raise DocumentError(
                "This is an XFA form, which only Adobe's programs show.",
                hint="Open it in Adobe Reader, print it to a PDF, and add that.",
            )

    def _open_with_pypdf(self, error: pdfium.PdfiumError) -> int:
        """How many pages pypdf finds. What it can decrypt, PDFium gets as plain bytes, so that pages are
        drawn and words placed all the same.
        """
        locked = "assword" in str(error)
        try:
            reader = self._reader()
            count, self._encrypted = len(reader.pages), bool(reader.is_encrypted)
        except DocumentError:
            raise
        except Exception as second:  # pypdf raises anything on a broken file
            if locked:
                raise self._needs_password() from error
            raise DocumentError(
                "The file is damaged and cannot be opened as a PDF.", hint="Export or download it again."
            ) from second
        if self._encrypted:
            import pypdf

            plain = io.BytesIO()
            with suppress(Exception):  # its text is there without it
                pypdf.PdfWriter(clone_from=reader).write(plain)
                self._pdfium = pdfium.PdfDocument(plain.getvalue())
        return count if self._pdfium is None else len(self._pdfium)

    def _reader(self) -> Any:
        """pypdf's view of the file. It opens what PDFium refuses: passwords that must be brought into one
        form first (SASLprep), and files whose strings are encrypted otherwise than their streams."""
        if self._pypdf is None:
            import pypdf
            from pypdf import PasswordType

            reader = pypdf.PdfReader(self.path)
            password = self.password or ""
            opened = reader.decrypt(password) if reader.is_encrypted else PasswordType.USER_PASSWORD
            # An empty owner password opens nothing for those whom the user's password keeps out.
            if not opened or (opened == PasswordType.OWNER_PASSWORD and not password):
                raise self._needs_password()
            self._pypdf = reader
        return self._pypdf

    def _needs_password(self) -> EncryptedError:
        problem = "The given password is wrong." if self.password else "The PDF is protected by a password."
        return EncryptedError(problem, hint="Add it again with its password.")


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError as error:
        raise DocumentError(
            f"The file cannot be read: {error.strerror}.",
            hint="Check that it exists and that you can read it.",
        ) from error
    if not head:
        raise DocumentError("The file is empty (0 bytes).", hint="Download or export it again.")
    if b"%PDF" not in head:
        raise DocumentError(
            "The file is not a PDF.", hint="Add it under its own name, or print it to PDF first."
        )


def _decoded(read: Callable[[], str]) -> str | None:
    """A piece of metadata, at most LONGEST_METADATA characters; None where it is missing or cannot be
    decoded.
    """
    try:
        return read().encode("utf-8", "replace").decode().strip()[:LONGEST_METADATA] or None
    except (UnicodeError, pdfium.PdfiumError):
        return None


class _OpenPage:
    """A page that PDFium has open, with what was found on it.

    unseen: offset in PDFium's text -> why nobody sees the character, None until it is known. placed: what
    stands in place of such. told: why, in words. replaced: figures that the file gives for others that are
    drawn, None until the text was read.
    """

    def __init__(self, number: int, page: pdfium.PdfPage, form: Any) -> None:
        drop_excess(page)
        self.number, self.page, self._form = number, page, form
        self.unseen: dict[int, str] | None = None
        self.placed: dict[int, range] = {}
        self.told: list[str] = []
        self.replaced: list[str] | None = None

    @cached_property
    def objects(self) -> PageObjects:
        """All that the page draws."""
        return PageObjects(self.page)

    def text_page(self) -> pdfium.PdfTextPage:
        """The page's text, to be closed."""
        if self.replaced is None:
            self.replaced = self.objects.drop_replaced_figures()
        return self.page.get_textpage()

    @cached_property
    def place(self) -> Place:
        """Points of it to fractions of it as shown."""
        box = raw.FS_RECTF()
        raw.FPDF_GetPageBoundingBox(self.page, box)
        x, y, width, height = box.left, box.top, box.right - box.left, box.top - box.bottom
        turned = -90 * raw.FPDFPage_GetRotation(self.page) % 360

        def place(left: float, top: float, right: float, bottom: float) -> Rect:
            x0, x1 = _share((left - x) / width), _share((right - x) / width)
            y0, y1 = _share((y - top) / height), _share((y - bottom) / height)
            return turn_back(Rect(x0, y0, x1, y1), turned)

        return place

    @cached_property
    def rules(self) -> Rules:
        """The lines drawn on it."""
        return drawn_rules(self.place, self.objects)

    @cached_property
    def annotations(self) -> list[Annotation]:
        """Its annotations."""
        return annotations_of(self.page, self._form)


def _share(value: float) -> float:
    """A part of a side, without the noise of its arithmetic: what stands alike has the same place."""
    return round(value * MILLION) / MILLION if 0.0 < value < 1.0 else float(value >= 1.0)

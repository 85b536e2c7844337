"""Reads what stands on a page beside its text layer: values of form fields, notes, attached files.

All of it is untrusted text, as the page's own is. What attached files hold is handed on as it is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from textwrap import wrap
from typing import Any, NamedTuple

import pypdfium2.raw as raw

from ingestion.invisible_characters import one_line

__all__ = [
    "Annotation",
    "annotations_of",
    "attached_contents",
    "attached_files",
    "draw_missing",
    "drop_excess",
    "said_of",
]

# Annotations of one page, and files of one document, that are looked at; a form has some hundreds of fields.
MOST_ANNOTATIONS, MOST_FILES = 2_000, 50
# Stretches of text that all annotations of one page mark, and options of its fields, that are looked at.
MOST_STRETCHES = MOST_OPTIONS = 10_000
# Characters of a value or a note, of a label, and of all entries of one page.
LONGEST_VALUE, LONGEST_LABEL, LONGEST_ENTRIES = 2_000, 80, 20_000
# Bytes from which a text of the file is left out.
LARGEST_TEXT = 1_000_000
# Points above a field, and of a field's height, in which its label stands.
LABEL_HEIGHT = 16.0
# Points right of a box to tick within which its label begins, unless that stands left of it.
CLOSE = 12.0
# Points of letters that are drawn where a file does not say how.
FONT_SIZE = 10.0
NAMELESS = "a file without a name"
HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
PASSWORD = 1 << 13
# Links say nothing, and popups repeat what the note that they belong to says.
UNREAD = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP)
TICKS = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
CHOICES = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)

# (left, bottom, right, top) in points.
Sides = tuple[float, float, float, float]


class Annotation(NamedTuple):
    """One annotation that is shown. kind: FPDF_ANNOT_…. struck: the stretches of text that it strikes. text:
    its note, the name of its file, or the value of a field. name, field: of a field its name and type."""

    kind: int
    sides: Sides
    text: str
    struck: tuple[Sides, ...] = ()
    name: str = ""
    field: int = 0


def drop_excess(page: Any) -> None:
    """Take from an open page the annotations that are too many, or mark too many stretches of text: drawing
    them could take minutes and all memory."""
    count, marked = raw.FPDFPage_GetAnnotCount(page), 0
    for index in reversed(range(count)):
        item = raw.FPDFPage_GetAnnot(page, index) if index < MOST_ANNOTATIONS else None
        stretches = raw.FPDFAnnot_CountAttachmentPoints(item) if item else 0
        raw.FPDFPage_CloseAnnot(item)
        if index >= MOST_ANNOTATIONS or marked + stretches > MOST_STRETCHES:
            raw.FPDFPage_RemoveAnnot(page, index)
        else:
            marked += stretches


def annotations_of(page: Any, form: Any) -> list[Annotation]:
    """The annotations of an open page that a person sees, without links that draw nothing. form: PDFium's
    form, or None."""
    found = list[Annotation]()
    options = iter(range(MOST_OPTIONS))
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        item = raw.FPDFPage_GetAnnot(page, index)
        kind = raw.FPDFAnnot_GetSubtype(item)
        read = kind not in UNREAD or raw.FPDFAnnot_HasKey(item, b"AP")
        if read and not raw.FPDFAnnot_GetFlags(item) & HIDDEN:
            found.append(_annotation(item, kind, form, options))
        raw.FPDFPage_CloseAnnot(item)
    return found


def _annotation(item: Any, kind: int, form: Any, options: Iterator[int]) -> Annotation:
    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(item, box)
    sides = (box.left, box.bottom, box.right, box.top)
    own = partial(raw.FPDFAnnot_GetStringValue, item)
    if kind == raw.FPDF_ANNOT_FILEATTACHMENT:
        file = raw.FPDFAnnot_GetFileAttachment(item)
        return Annotation(kind, sides, _text(partial(raw.FPDFAttachment_GetName, file)) or NAMELESS)
    if kind != raw.FPDF_ANNOT_WIDGET:
        struck = (*_parts(item, sides),) if kind == raw.FPDF_ANNOT_STRIKEOUT else ()
        text = "" if kind in UNREAD else _text(partial(own, b"Contents"))
        return Annotation(kind, sides, text, struck)
    field = max(0, raw.FPDFAnnot_GetFormFieldType(form, item)) if form else 0
    if not field:  # a field without its form, as badly joined files have
        name = _text(partial(own, b"TU")) or _text(partial(own, b"T"))
        return Annotation(kind, sides, _text(partial(own, b"V")), name=name)
    name = _text(partial(raw.FPDFAnnot_GetFormFieldAlternateName, form, item))
    name = name or _text(partial(raw.FPDFAnnot_GetFormFieldName, form, item)).rpartition(".")[2]
    return Annotation(kind, sides, _value(item, form, field, options), (), name, field)


def _parts(item: Any, sides: Sides) -> Iterator[Sides]:
    """The stretches of text that an annotation marks."""
    corners = raw.FS_QUADPOINTSF()
    count = raw.FPDFAnnot_CountAttachmentPoints(item)
    for index in range(count):
        if raw.FPDFAnnot_GetAttachmentPoints(item, index, corners):
            xs = (corners.x1, corners.x2, corners.x3, corners.x4)
            ys = (corners.y1, corners.y2, corners.y3, corners.y4)
            yield min(xs), min(ys), max(xs), max(ys)
    if not count:
        yield sides


def _value(item: Any, form: Any, field: int, options: Iterator[int]) -> str:
    """The value of a field, "" where it has none to be read. options: one is taken for each of its own."""
    if field == raw.FPDF_FORMFIELD_CHECKBOX:
        return "ticked" if raw.FPDFAnnot_IsChecked(form, item) else "not ticked"
    if field == raw.FPDF_FORMFIELD_SIGNATURE:
        return "signed; the signature was not checked" if raw.FPDFAnnot_HasKey(item, b"V") else "not signed"
    if field == raw.FPDF_FORMFIELD_RADIOBUTTON:
        read = raw.FPDFAnnot_GetFormFieldExportValue if raw.FPDFAnnot_IsChecked(form, item) else None
        return _text(partial(read, form, item)) if read else ""
    hidden = field == raw.FPDF_FORMFIELD_TEXTFIELD and raw.FPDFAnnot_GetFormFieldFlags(form, item) & PASSWORD
    if hidden or field == raw.FPDF_FORMFIELD_PUSHBUTTON:
        return ""
    own = range(raw.FPDFAnnot_GetOptionCount(form, item) if field in CHOICES else 0)
    chosen = [
        at for at, _ in zip(own, options, strict=False) if raw.FPDFAnnot_IsOptionSelected(form, item, at)
    ]
    labels = ", ".join(_text(partial(raw.FPDFAnnot_GetOptionLabel, form, item, at)) for at in chosen)
    return labels or _text(partial(raw.FPDFAnnot_GetFormFieldValue, form, item))


def attached_files(document: Any) -> list[str]:
    """The names of the files that a document carries."""
    count = min(raw.FPDFDoc_GetAttachmentCount(document), MOST_FILES)
    items = (raw.FPDFDoc_GetAttachment(document, index) for index in range(count))
    return [_text(partial(raw.FPDFAttachment_GetName, item)) or NAMELESS for item in items if item]


def attached_contents(document: Any, pages: Sequence[Any]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the files that a document carries, and of those that are pinned to these open pages,
    MOST_FILES at most."""
    items = [
        raw.FPDFDoc_GetAttachment(document, at) for at in range(raw.FPDFDoc_GetAttachmentCount(document))
    ]
    for page in pages:
        for index in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)):
            pin = raw.FPDFPage_GetAnnot(page, index)
            if raw.FPDFAnnot_GetSubtype(pin) == raw.FPDF_ANNOT_FILEATTACHMENT:
                items.append(raw.FPDFAnnot_GetFileAttachment(pin))
            raw.FPDFPage_CloseAnnot(pin)
    for item in items[:MOST_FILES]:
        length = ctypes.c_ulong()
        if not item or not raw.FPDFAttachment_GetFile(item, None, 0, length):
            continue
        buffer = (ctypes.c_char * length.value)()
        if raw.FPDFAttachment_GetFile(item, buffer, length.value, length):
            yield _text(partial(raw.FPDFAttachment_GetName, item)) or NAMELESS, bytes(buffer)


def said_of(annotations: Sequence[Annotation], bounded: Callable[[Sides], str]) -> list[tuple[str, Sides]]:
    """A line of text for each field and note that says something, marked as what it is, and where it stands.

    bounded: the text that is printed within some sides.
    """
    found = list[tuple[str, Sides]]()
    widgets = [other.sides for other in annotations if other.kind == raw.FPDF_ANNOT_WIDGET]
    length = 0
    for annotation in annotations:
        is_file = annotation.kind == raw.FPDF_ANNOT_FILEATTACHMENT
        text = "" if is_file or not annotation.text else _line(annotation, widgets, bounded)
        length += len(text)
        if text and length <= LONGEST_ENTRIES:
            found.append((text, annotation.sides))
    return found


def _line(annotation: Annotation, widgets: Sequence[Sides], bounded: Callable[[Sides], str]) -> str:
    if annotation.kind != raw.FPDF_ANNOT_WIDGET:
        printed = one_line(bounded(annotation.sides), most=LONGEST_VALUE)
        return "" if annotation.text in printed else f"[note] {annotation.text}"
    near = _printed_label(annotation, widgets, bounded)
    if annotation.field == raw.FPDF_FORMFIELD_RADIOBUTTON:
        return f"[field] {annotation.name}: {near or annotation.text}"
    return f"[field] {near or annotation.name or 'without a name'}: {annotation.text}"


def _printed_label(annotation: Annotation, widgets: Sequence[Sides], bounded: Callable[[Sides], str]) -> str:
    """What is printed left of a field up to the next, right of a button, or else above it."""
    left, bottom, right, top = annotation.sides
    low = max(bottom, top - LABEL_HEIGHT)
    level = [other for other in widgets if other[1] < top and other[3] > low]
    before = max((other[2] for other in level if other[2] <= left + 1), default=-1e5)
    after = min((other[0] for other in level if other[0] >= right - 1), default=1e5)
    places = [(before, low, left, top), (left, top, right, top + LABEL_HEIGHT)]
    if annotation.field in TICKS:
        close = bounded((right, low, min(after, right + CLOSE), top))
        places.insert(not any(map(str.isalnum, close)), (right, low, after, top))
    for place in places:
        label = one_line(bounded(place), most=10 * LONGEST_LABEL).strip(" :._")
        if any(map(str.isalpha, label)):
            return label if len(label) <= LONGEST_LABEL else label[-LONGEST_LABEL:].partition(" ")[2]
    return ""


def draw_missing(page: Any) -> None:
    """Give typed-in notes that have no appearance one, so that PDFium draws them too."""
    drop_excess(page)
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        item = raw.FPDFPage_GetAnnot(page, index)
        if raw.FPDFAnnot_GetSubtype(item) == raw.FPDF_ANNOT_FREETEXT and not raw.FPDFAnnot_HasKey(
            item, b"AP"
        ):
            note = _annotation(item, raw.FPDF_ANNOT_FREETEXT, None, iter(()))
            left, bottom, right, top = note.sides
            lines = wrap(note.text, max(1, int((right - left) / FONT_SIZE * 2))) or [""]
            size = max(1.0, min(FONT_SIZE, (top - bottom) / len(lines) / 1.2))
            shown = " T* ".join(f"<{line.encode('cp1252', 'replace').hex()}> Tj" for line in lines)
            at = f"{size * 1.2:.1f} TL {left + 2:.1f} {top - size:.1f} Td"
            drawn = f"BT /Helv {size:.1f} Tf {at} {shown} ET\0".encode("utf-16-le")
            appearance = (ctypes.c_ushort * (len(drawn) // 2)).from_buffer_copy(drawn)
            raw.FPDFAnnot_SetAP(item, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, appearance)
        raw.FPDFPage_CloseAnnot(item)


def _text(read: Callable[[Any, int], int]) -> str:
    """What one of PDFium's functions writes into a buffer, on one line; "" where that is too large."""
    length = read(None, 0)
    if not 2 < length <= LARGEST_TEXT:
        return ""
    buffer = (ctypes.c_ushort * (length // 2 + 1))()
    read(buffer, length)
    return one_line(bytes(buffer)[: length - 2].decode("utf-16-le", "replace"), most=LONGEST_VALUE)

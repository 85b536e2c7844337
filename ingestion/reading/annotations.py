"""Reads what stands on a page beside its text layer: values of form fields, notes, names of attached files.

All of it is untrusted text, as the page's own is. What attached files hold is not read.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pypdfium2.raw as raw

from ingestion.invisible_characters import one_line

__all__ = ["Annotation", "annotations_of", "attached_files", "draw_missing", "said_of"]

# Annotations of one page, and files of one document, that are looked at; a form has some hundreds of fields.
MOST_ANNOTATIONS, MOST_FILES = 2_000, 50
# Characters of a value or a note, of a label, and of all entries of one page.
LONGEST_VALUE, LONGEST_LABEL, LONGEST_ENTRIES = 2_000, 80, 20_000
# Bytes from which a text of the file is left out.
LARGEST_TEXT = 1_000_000
# Points above a field, and of a field's height, in which its label stands.
LABEL_HEIGHT = 16.0
HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
PASSWORD = 1 << 13
# Annotations that are drawn over the page, and those that a person writes a note in.
STRIKES = (raw.FPDF_ANNOT_STRIKEOUT,)
COVERS = (
    raw.FPDF_ANNOT_CIRCLE,
    raw.FPDF_ANNOT_FREETEXT,
    raw.FPDF_ANNOT_INK,
    raw.FPDF_ANNOT_POLYGON,
    raw.FPDF_ANNOT_REDACT,
    raw.FPDF_ANNOT_SQUARE,
    raw.FPDF_ANNOT_STAMP,
    raw.FPDF_ANNOT_WIDGET,
)
NOTES = (
    *COVERS[:-1],
    *STRIKES,
    raw.FPDF_ANNOT_CARET,
    raw.FPDF_ANNOT_HIGHLIGHT,
    raw.FPDF_ANNOT_LINE,
    raw.FPDF_ANNOT_POLYLINE,
    raw.FPDF_ANNOT_SQUIGGLY,
    raw.FPDF_ANNOT_TEXT,
    raw.FPDF_ANNOT_UNDERLINE,
)
READ = {*NOTES, *COVERS, raw.FPDF_ANNOT_FILEATTACHMENT}

# (left, bottom, right, top) in points.
Sides = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation that is shown. kind: FPDF_ANNOT_…. parts: the stretches of text that it strikes. text:
    its note, or the name of its file. field: the type of a field, else 0; name and value are the field's."""

    kind: int
    sides: Sides
    parts: tuple[Sides, ...] = ()
    text: str = ""
    field: int = 0
    name: str = ""
    value: str = ""

    @property
    def covers(self) -> bool:
        """Whether it may hide what stands under it."""
        return self.kind in COVERS

    @property
    def struck(self) -> tuple[Sides, ...]:
        """The stretches of text that it strikes."""
        if self.kind in STRIKES:
            return self.parts or (self.sides,)
        return ()


def annotations_of(page: Any, form: Any) -> list[Annotation]:
    """The annotations of an open page that a person sees, without links. form: PDFium's form, or None."""
    found: list[Annotation] = []
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)):
        item = raw.FPDFPage_GetAnnot(page, index)
        kind = raw.FPDFAnnot_GetSubtype(item)
        if kind in READ and not raw.FPDFAnnot_GetFlags(item) & HIDDEN:
            found.append(_annotation(item, kind, form))
        raw.FPDFPage_CloseAnnot(item)
    return found


def _annotation(item: Any, kind: int, form: Any) -> Annotation:
    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(item, box)
    sides = (box.left, box.bottom, box.right, box.top)
    if kind == raw.FPDF_ANNOT_WIDGET:
        return _field(item, sides, form)
    if kind == raw.FPDF_ANNOT_FILEATTACHMENT:
        file = raw.FPDFAnnot_GetFileAttachment(item)
        return Annotation(kind, sides, text=_text(partial(raw.FPDFAttachment_GetName, file)))
    parts = tuple(_parts(item)) if kind in STRIKES else ()
    return Annotation(kind, sides, parts, _text(partial(raw.FPDFAnnot_GetStringValue, item, b"Contents")))


def _parts(item: Any) -> Iterator[Sides]:
    corners = raw.FS_QUADPOINTSF()
    for index in range(min(raw.FPDFAnnot_CountAttachmentPoints(item), MOST_ANNOTATIONS)):
        if raw.FPDFAnnot_GetAttachmentPoints(item, index, corners):
            xs = (corners.x1, corners.x2, corners.x3, corners.x4)
            ys = (corners.y1, corners.y2, corners.y3, corners.y4)
            yield min(xs), min(ys), max(xs), max(ys)


def _field(item: Any, sides: Sides, form: Any) -> Annotation:
    """A form's field. Its value is "" where it has none to be read."""
    kind = max(0, raw.FPDFAnnot_GetFormFieldType(form, item)) if form else 0
    made = partial(Annotation, raw.FPDF_ANNOT_WIDGET, sides, field=kind)
    if not kind:  # a field without its form, as badly joined files have
        own = partial(raw.FPDFAnnot_GetStringValue, item)
        return made(
            name=_text(partial(own, b"TU")) or _text(partial(own, b"T")), value=_text(partial(own, b"V"))
        )
    name = _text(partial(raw.FPDFAnnot_GetFormFieldAlternateName, form, item))
    if not name:
        name = _text(partial(raw.FPDFAnnot_GetFormFieldName, form, item)).rpartition(".")[2]
    return made(name=name, value=_value(item, form, kind))


def _value(item: Any, form: Any, kind: int) -> str:
    if kind == raw.FPDF_FORMFIELD_CHECKBOX:
        return "ticked" if raw.FPDFAnnot_IsChecked(form, item) else "not ticked"
    if kind == raw.FPDF_FORMFIELD_RADIOBUTTON:
        if raw.FPDFAnnot_IsChecked(form, item):
            return _text(partial(raw.FPDFAnnot_GetFormFieldExportValue, form, item)) or "chosen"
        return ""
    if kind == raw.FPDF_FORMFIELD_SIGNATURE:
        return "signed; the signature was not checked" if raw.FPDFAnnot_HasKey(item, b"V") else "not signed"
    if raw.FPDFAnnot_GetFormFieldFlags(form, item) & PASSWORD and kind == raw.FPDF_FORMFIELD_TEXTFIELD:
        return ""
    if kind in (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        count = min(raw.FPDFAnnot_GetOptionCount(form, item), MOST_ANNOTATIONS)
        chosen = [index for index in range(count) if raw.FPDFAnnot_IsOptionSelected(form, item, index)]
        if chosen:
            return ", ".join(_text(partial(raw.FPDFAnnot_GetOptionLabel, form, item, at)) for at in chosen)
    if kind == raw.FPDF_FORMFIELD_PUSHBUTTON:
        return ""
    return _text(partial(raw.FPDFAnnot_GetFormFieldValue, form, item))


def attached_files(document: Any) -> list[str]:
    """The names of the files that a document carries."""
    count = min(raw.FPDFDoc_GetAttachmentCount(document), MOST_FILES)
    items = (raw.FPDFDoc_GetAttachment(document, index) for index in range(count))
    return [
        _text(partial(raw.FPDFAttachment_GetName, item)) or "a file without a name" for item in items if item
    ]


def said_of(annotations: Sequence[Annotation], bounded: Callable[[Sides], str]) -> list[tuple[str, Sides]]:
    """A line of text for each annotation that says something, marked as what it is, and where it stands.

    bounded: the text that is printed within some sides.
    """
    found: list[tuple[str, Sides]] = []
    length = 0
    widgets = [other.sides for other in annotations if other.kind == raw.FPDF_ANNOT_WIDGET]
    for annotation in annotations:
        text = _line(annotation, widgets, bounded)
        length += len(text)
        if text and length <= LONGEST_ENTRIES:
            found.append((text, annotation.sides))
    return found


def _line(annotation: Annotation, widgets: Sequence[Sides], bounded: Callable[[Sides], str]) -> str:
    if annotation.kind == raw.FPDF_ANNOT_FILEATTACHMENT:
        return f"[attached file, not read] {annotation.text}"
    if annotation.kind != raw.FPDF_ANNOT_WIDGET:
        if not annotation.text or annotation.text in one_line(bounded(annotation.sides), most=LONGEST_VALUE):
            return ""
        return f"[note] {annotation.text}"
    if not annotation.value:
        return ""
    near = _printed_label(annotation, widgets, bounded)
    if annotation.field == raw.FPDF_FORMFIELD_RADIOBUTTON:
        return f"[field] {annotation.name}: {near or annotation.value}"
    return f"[field] {near or annotation.name or 'without a name'}: {annotation.value}"


def _printed_label(annotation: Annotation, widgets: Sequence[Sides], bounded: Callable[[Sides], str]) -> str:
    """What is printed left of a field, right of a button, or else above it; up to the next field."""
    left, bottom, right, top = annotation.sides
    low = max(bottom, top - LABEL_HEIGHT)
    level = [other for other in widgets if other[1] < top and other[3] > low and other != annotation.sides]
    before = max((other[2] for other in level if other[2] <= left + 1), default=-1e5)
    after = min((other[0] for other in level if other[0] >= right - 1), default=1e5)
    sides = [(before, low, left, top), (left, top, right, top + LABEL_HEIGHT)]
    if annotation.field in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        beside = (right, low, after, top)
        sides = (
            [beside, sides[0]] if annotation.field == raw.FPDF_FORMFIELD_RADIOBUTTON else [sides[0], beside]
        )
    for place in sides:
        label = one_line(bounded(place), most=10 * LONGEST_LABEL).strip(" :._")
        if any(map(str.isalpha, label)):
            if len(label) > LONGEST_LABEL:
                label = label[-LONGEST_LABEL:].partition(" ")[2]
            return label
    return ""


def draw_missing(page: Any) -> None:
    """Give typed-in notes that have no appearance one, so that PDFium draws them too."""
    box = raw.FS_RECTF()
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)):
        item = raw.FPDFPage_GetAnnot(page, index)
        if raw.FPDFAnnot_GetSubtype(item) == raw.FPDF_ANNOT_FREETEXT and not raw.FPDFAnnot_HasKey(
            item, b"AP"
        ):
            raw.FPDFAnnot_GetRect(item, box)
            text = _text(partial(raw.FPDFAnnot_GetStringValue, item, b"Contents"))
            _set_appearance(item, text, box)
        raw.FPDFPage_CloseAnnot(item)


def _set_appearance(item: Any, text: str, box: Any) -> None:
    lines: list[str] = [""]
    size = 10.0
    for word in text.split(" "):
        if lines[-1] and (len(lines[-1]) + len(word)) * size / 2 > box.right - box.left:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    size = max(1.0, min(size, (box.top - box.bottom) / len(lines) / 1.2))
    shown = ["".join(f"{byte:02x}" for byte in line.encode("cp1252", "replace")) for line in lines]
    drawn = " T* ".join(f"<{line}> Tj" for line in shown)
    start = f"BT /Helv {size:.1f} Tf {size * 1.2:.1f} TL {box.left + 2:.1f} {box.top - size:.1f} Td"
    stream = f"{start} {drawn} ET".encode("utf-16-le") + b"\0\0"
    buffer = ctypes.create_string_buffer(stream)
    raw.FPDFAnnot_SetAP(item, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, ctypes.cast(buffer, raw.FPDF_WIDESTRING))


def _text(read: Callable[[Any, int], int]) -> str:
    """What one of PDFium's functions writes into a buffer, on one line; "" where that is too large."""
    length = read(None, 0)
    if not 2 < length <= LARGEST_TEXT:
        return ""
    buffer = (ctypes.c_ushort * (length // 2 + 1))()
    read(buffer, length)
    return one_line(bytes(buffer)[: length - 2].decode("utf-16-le", "replace"), most=LONGEST_VALUE)

"""Which words of a page a person sees: each way of hiding one, and its innocent neighbour."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    StreamObject,
    TextStringObject,
)
from reportlab.lib.colors import black, lightblue, white
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from ingestion.reading import hidden_text
from ingestion.reading.pdf import PdfFile
from ingestion.reading.reader import Reader
from tests.pdfs import make_scan, named, numbers

SIZE = (595, 842)
SEEN = "The fee is 40 euros from 2025."
HIDDEN = "The fee is 90 euros from 2024."
Draw = Callable[[Canvas], None]


def drawn(path: Path, draw: Draw) -> Path:
    canvas = Canvas(str(path), pagesize=SIZE, invariant=1)
    canvas.setFont("Helvetica", 11)
    draw(canvas)
    canvas.save()
    return path


def read(path: Path, number: int = 1) -> tuple[str, list[str]]:
    """The text of a page, and what is left out of it."""
    file = PdfFile(path)
    text = file.words(number)[0]
    assert "".join(glyph for glyph, _ in file.glyphs(number)).split() == text.split()
    return text, file.remarks(number)


def both(canvas: Canvas, *, y: float = 700) -> None:
    canvas.drawString(60, y, SEEN)
    canvas.drawString(60, y - 40, HIDDEN)


def coded(before: str = "", after: str = "") -> Draw:
    """What is seen, and then the hidden words between operators of a page."""

    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, SEEN)
        canvas._code.append(before)
        canvas.drawString(60, 660, HIDDEN)
        canvas._code.append(after)

    return draw


def white_on_a_white_image(canvas: Canvas) -> None:
    canvas.drawImage(picture((255, 255, 255)), 50, 640, 400, 40)
    WHITE(canvas)


def black_on_a_black_image(canvas: Canvas) -> None:
    canvas.drawImage(picture((0, 0, 0)), 50, 650, 400, 25)
    both(canvas)


def black_on_shading(canvas: Canvas) -> None:
    canvas.saveState()
    path = canvas.beginPath()
    path.rect(50, 650, 400, 25)
    canvas.clipPath(path, stroke=0)
    canvas.linearGradient(50, 650, 400, 650, (black, black))
    canvas.restoreState()
    both(canvas)


def beyond_the_page(canvas: Canvas) -> None:
    canvas.drawString(60, 700, SEEN)
    canvas.drawString(60, 900, HIDDEN)


def cropped(canvas: Canvas) -> None:
    canvas.setCropBox((0, 680, 595, 842))
    both(canvas)


def under_an_image(canvas: Canvas) -> None:
    both(canvas)
    canvas.drawImage(picture((20, 60, 90)), 55, 655, 300, 16)


def transparent(canvas: Canvas) -> None:
    canvas.drawString(60, 700, SEEN)
    canvas.setFillAlpha(0)
    canvas.drawString(60, 660, HIDDEN)


def white_in_a_form(canvas: Canvas) -> None:
    canvas.drawString(60, 700, SEEN)
    canvas.beginForm("secret")
    canvas.setFont("Helvetica", 11)
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(60, 660, HIDDEN)
    canvas.endForm()
    canvas.doForm("secret")


def picture(colour: tuple[int, int, int]) -> ImageReader:
    buffer = io.BytesIO()
    Image.new("RGB", (120, 40), colour).save(buffer, "PNG")
    buffer.seek(0)
    return ImageReader(buffer)


WHITE = coded("1 g")
TINY, SQUEEZED = coded("BT /F1 0.6 Tf ET"), coded("1 Tz")
GROUND = "in the colour of the ground"
# Each with what is said of it.
HIDING = {
    "white on white": (WHITE, GROUND),
    "nearly white": (coded("0.97 0.97 0.98 rg"), GROUND),
    "black on black": (coded("0 g 50 650 400 30 re f"), GROUND),
    "white on a white image": (white_on_a_white_image, GROUND),
    "white in a form": (white_in_a_form, GROUND),
    "black on a black image": (black_on_a_black_image, GROUND),
    "black on black shading": (black_on_shading, GROUND),
    "not drawn": (coded("3 Tr"), "not drawn"),
    "as clip alone": (coded("7 Tr"), "not drawn"),
    "transparent": (transparent, "in a transparent colour"),
    "tiny": (TINY, "too small"),
    "squeezed": (SQUEEZED, "too small"),
    "beyond the page": (beyond_the_page, "outside"),
    "cropped": (cropped, "outside"),
    "under a black box": (coded(after="0 g 55 655 300 16 re f"), "under a box"),
    "under a white box": (coded(after="1 g 55 655 300 16 re f"), "under a box"),
    "under an image": (under_an_image, "under an image"),
    "clipped": (coded("60 400 200 100 re W n"), "cut off"),
    "struck by a line": (coded(after="60 664 m 216 664 l S"), "struck through"),
    "struck by a thin box": (coded(after="60 663 156 1 re f"), "struck through"),
}


@pytest.mark.parametrize(("draw", "reason"), HIDING.values(), ids=HIDING)
def test_words_that_nobody_sees_are_left_out_and_told(tmp_path: Path, draw: Draw, reason: str) -> None:
    text, remarks = read(drawn(tmp_path / "a.pdf", draw))
    assert text.strip() == SEEN
    (remark,) = remarks
    assert remark.startswith(f"7 words {reason}")
    assert HIDDEN in remark


CLIP = "".join(f"{10 * at} {5 + at % 2} {'l' if at else 'm'} " for at in range(45)) + "440 20 l h W n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/Faint gs", ""),
        ("/Masked gs", ""),
        ("1 G 1 Tr", ""),
        ("1 G 1 g 2 Tr", ""),
        ("1 G 5 Tr", ""),
        ("/Faint gs 1 Tr", ""),
        ("", "1 G 30 w 50 664 m 500 664 l S"),
        ("", "1 G 4 w 50 650 m " + " ".join(f"{500 - 450 * (y % 2)} {y} l" for y in range(651, 676)) + " S"),
        ("", "1 g " + " ".join(f"{50 + 2 * at} 650 2.5 25 re f" for at in range(200))),
        ("", "/Half gs 1 g " + "50 650 400 25 re f " * 12),
        ("3 Tr " + "9 9 m 9 10 l S " * 20_005, ""),
        ("", "1 g 50 650 400 25 re f " + "0 100 500 30 re f " * 1_001),
        ("0 G 30 w 50 664 m 500 664 l S", ""),
        ("0 g 50 650 100 25 re 140 650 300 25 re f", ""),
        (CLIP, ""),
        ("0 0 10 842 re 585 0 10 842 re W n", ""),
        ("q 0 0 10 10 re W n", "Q"),
    ],
)
@pytest.mark.parametrize("in_form", [False, True])
def test_what_the_page_does_not_show_is_not_read(
    tmp_path: Path, before: str, after: str, *, in_form: bool
) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, SEEN)
        if in_form:
            canvas._code.append(before)
            canvas.beginForm("inner")
        canvas.setFont("Helvetica", 11)
        canvas._code += [] if in_form else [before]
        canvas.drawString(60, 660, HIDDEN)
        canvas._code += [] if in_form else [after]
        if in_form:
            canvas.endForm()
            canvas.doForm("inner")
            canvas._code.append(after)

    text, remarks = read(with_states(drawn(tmp_path / "a.pdf", draw)))
    assert text.strip() == SEEN
    assert HIDDEN in remarks[0]


def with_states(path: Path) -> Path:
    """The file with graphics states: nearly transparent, half so, and under a mask that lets nothing by."""
    writer = PdfWriter(clone_from=PdfReader(path))
    mask = StreamObject()
    box = numbers(0, 0, *SIZE)
    mask.update(
        named(Type="XObject", Subtype="Form", BBox=box, Group=named(S="Transparency", CS="DeviceGray"))
    )
    mask.set_data(b"0 g 0 0 595 842 re f")
    states = named(
        Faint=named(ca=FloatObject(0.005), CA=FloatObject(0.005)),
        Half=named(ca=FloatObject(0.49)),
        Masked=named(SMask=named(S="Luminosity", G=writer._add_object(mask))),
    )
    for item in writer._objects:
        holder: Any = item.get_object() if item is not None else None
        if isinstance(holder, DictionaryObject) and holder.get("/Type") in ("/Page", "/XObject"):
            resources: Any = holder.setdefault(NameObject("/Resources"), DictionaryObject()).get_object()
            resources[NameObject("/ExtGState")] = states
    writer.write(path)
    return path


def white_on_a_dark_image(canvas: Canvas) -> None:
    canvas.drawImage(picture((20, 60, 90)), 50, 600, 400, 200)
    canvas.setFillColorRGB(1, 1, 1)
    both(canvas)


def faint(canvas: Canvas) -> None:
    canvas.setFillAlpha(0.3)
    both(canvas)


def on_shading(canvas: Canvas) -> None:
    canvas.linearGradient(50, 650, 400, 650, (lightblue, white))
    both(canvas)


def in_a_round_clip(canvas: Canvas) -> None:
    path = canvas.beginPath()
    path.roundRect(40, 600, 500, 200, 20)
    canvas.clipPath(path, stroke=0)
    both(canvas)


def under_a_tint(canvas: Canvas) -> None:
    both(canvas)
    canvas.setFillColorRGB(1, 1, 0)
    canvas.setFillAlpha(0.4)
    canvas.rect(50, 640, 400, 100, stroke=0, fill=1)


def with_an_unseen_line(canvas: Canvas) -> None:
    both(canvas)
    canvas.setStrokeColorRGB(1, 1, 1)
    canvas.setStrokeAlpha(0)
    canvas.line(60, 664, 60 + canvas.stringWidth(HIDDEN, "Helvetica", 11), 664)


STROKES = " ".join(f"{20 + 90 * at} 600 m {20 + 90 * at} 640 l" for at in range(6))
SHOWING = {
    "white on a dark box": coded("0.1 0.2 0.4 rg 50 600 400 80 re f 1 g"),
    "white on a dark image": white_on_a_dark_image,
    "light grey": coded("0.8 g"),
    "faint": faint,
    "on shading": on_shading,
    "in a round clip": in_a_round_clip,
    "under a crossing of strokes": coded(after=f"5 w {STROKES} S"),
    "black on a shaded row": coded("0.85 0.9 1 rg 50 600 400 80 re f 0 g"),
    "under a frame": coded(after="50 640 400 100 re S"),
    "under a tint": under_a_tint,
    "beside a black box": coded(after="55 672 300 24 re f"),
    "underlined": coded(after="60 658 m 216 658 l S"),
    "between rules": coded(after="50 650 m 545 650 l 50 675 m 545 675 l 50 692 m 545 692 l S"),
    "on a rule of a table": coded(after="20 664 m 575 664 l S"),
    "with an unseen line": with_an_unseen_line,
    "small print": coded("BT /F1 4 Tf ET"),
    "outlined": coded("2 Tr"),
    "in a wide clip": coded("40 600 500 200 re W n"),
}


@pytest.mark.parametrize("draw", SHOWING.values(), ids=SHOWING)
def test_words_that_are_seen_stay(tmp_path: Path, draw: Draw) -> None:
    text, remarks = read(drawn(tmp_path / "a.pdf", draw))
    assert text.split() == [*SEEN.split(), *HIDDEN.split()]
    assert remarks == []


def test_a_struck_word_in_a_line_goes_and_the_inserted_one_stays(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Purchases above 25,000 40,000 euros need three quotations.")
        before = canvas.stringWidth("Purchases above ", "Helvetica", 11)
        width = canvas.stringWidth("25,000", "Helvetica", 11)
        canvas.line(60 + before, 703, 60 + before + width, 703)
        canvas.line(60 + before + width + 3, 698, 60 + before + 2 * width + 3, 698)

    text, remarks = read(drawn(tmp_path / "a.pdf", draw))
    assert text == "Purchases above 40,000 euros need three quotations."
    assert remarks == ["1 word struck through: “25,000”"]


def test_a_figure_of_which_a_part_is_covered_goes_whole(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "The loss was 218,430 euros.")
        left = 60 + canvas.stringWidth("The loss was 218,", "Helvetica", 11)
        canvas.rect(left, 696, canvas.stringWidth("430", "Helvetica", 11), 14, stroke=0, fill=1)

    assert read(drawn(tmp_path / "a.pdf", draw))[0] == "The loss was euros."


@pytest.mark.parametrize(
    ("words", "left"), [("the whole part", "the whole part"), ("the sum 2,400", "the sum")]
)
def test_a_word_at_the_edge_of_an_outline_stays_whole_and_a_figure_goes(
    tmp_path: Path, words: str, left: str
) -> None:
    def draw(canvas: Canvas) -> None:
        path = canvas.beginPath()
        path.rect(40, 600, 20 + canvas.stringWidth(words[:-1], "Helvetica", 11), 200)
        canvas.clipPath(path, stroke=0)
        canvas.drawString(60, 700, words)

    assert read(drawn(tmp_path / "a.pdf", draw))[0].strip() == left


def layered(path: Path, state: str = "list") -> Path:
    """The file with the layers "Shown" and "Draft", of which the second is off as `state` says."""
    writer = PdfWriter(clone_from=PdfReader(path))
    usage = {"Usage": named(View=named(ViewState="OFF"))} if state == "usage" else {}
    shown = writer._add_object(named(Type="OCG", Name=TextStringObject("A")))
    draft = writer._add_object(named(Type="OCG", Name=TextStringObject("B"), **usage))
    groups, off = ArrayObject([shown, draft]), named(OFF=ArrayObject([draft]))
    default = {
        "base state": named(BaseState="OFF", ON=ArrayObject([shown])),
        "list": off,
        "form": off,
        "all on": off,
    }.get(state, named())
    policy = {"all on": "AllOn", "all off": "AllOff"}.get(state)
    member = named(Type="OCMD", OCGs=groups, P=policy) if policy else draft
    writer._root_object[NameObject("/OCProperties")] = named(OCGs=groups, D=default)
    resources: Any = writer.pages[0]["/Resources"].get_object()
    resources[NameObject("/Properties")] = named(Shown=shown, Draft=writer._add_object(member))
    if state == "form":
        next(iter(resources["/XObject"].values())).get_object()[NameObject("/OC")] = draft
    writer.write(path)
    return path


def on_layers(path: Path, *drawn_on: tuple[str, Sequence[str]]) -> Path:
    """A page with lines on layers, all of them from the same place on."""
    canvas = Canvas(str(path), pagesize=SIZE, invariant=1, pageCompression=0)
    canvas.setFont("Helvetica", 11)
    for layer, lines in drawn_on:
        canvas._code.append(f"/OC /{layer} BDC")
        for at, line in enumerate(lines):
            canvas.drawString(60, 700 - 13 * at, line)
        canvas._code.append("EMC")
    canvas.save()
    return path


def in_a_form(path: Path, size: float, lines: Sequence[str]) -> Path:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 810, SEEN)
        canvas.beginForm("layer")
        canvas.setFont("Helvetica", size)
        for at, line in enumerate(lines):
            canvas.drawString(60 + at * 0.13, 780 - at * 6.07, line)
        canvas.endForm()
        canvas.doForm("layer")

    return drawn(path, draw)


@pytest.mark.parametrize("state", ["form", "on"])
def test_a_form_on_a_layer_that_is_off_is_not_read(tmp_path: Path, state: str) -> None:
    text, remarks = read(layered(in_a_form(tmp_path / "a.pdf", 11, [HIDDEN]), state))
    assert text.split() == (f"{SEEN} {HIDDEN}" if state == "on" else SEEN).split()
    told = [f"7 words on a layer that is off: “{HIDDEN}”"]
    assert remarks == (told if state == "form" else [])


def test_dots_that_may_be_on_a_layer_are_seen_wherever_they_stand_between_pixels(tmp_path: Path) -> None:
    lines = [f"The I.R.S. asks for {number}.5." for number in range(60)]
    text, remarks = read(layered(in_a_form(tmp_path / "a.pdf", 4, lines)))
    assert text.split("\n") == [SEEN, *lines]
    assert remarks == []


@pytest.mark.parametrize("first", ["Shown", "Draft"])
@pytest.mark.parametrize("state", ["base state", "list", "usage", "all on", "all off"])
def test_of_two_layers_at_one_place_the_one_that_is_on_is_read(
    tmp_path: Path, state: str, first: str
) -> None:
    both_have = "It is due in March."
    layers = [("Shown", [SEEN, both_have]), ("Draft", [HIDDEN, both_have])]
    path = on_layers(tmp_path / "a.pdf", *(layers if first == "Shown" else layers[::-1]))
    text, remarks = read(layered(path, state))
    assert text.split() == f"{SEEN} {both_have}".split()
    assert [remark.split("“")[1][:29] for remark in remarks] == [HIDDEN[:29]]


@pytest.mark.parametrize("escaped", [b"/OC#50roperties", b"/#4fCProperties"])
def test_a_layer_whose_name_is_written_as_codes_is_off(tmp_path: Path, escaped: bytes) -> None:
    path = layered(on_layers(tmp_path / "a.pdf", ("Draft", [HIDDEN])))
    path.write_bytes(path.read_bytes().replace(b"/OCProperties", escaped))
    assert HIDDEN not in read(path)[0]


@pytest.mark.parametrize(
    "part", ["Above", "7,500 pounds", "three quotations.", "Above 7,500 pounds obtain three"]
)
@pytest.mark.parametrize("apart", [False, True])
def test_words_typed_over_a_box_are_read_where_the_covered_ones_stood(
    tmp_path: Path, part: str, *, apart: bool
) -> None:
    words, after = "Above 7,500 pounds obtain three quotations.", "The cashier keeps them."

    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, words)
        canvas.drawString(60, 686, after)
        canvas.drawString(60, 660, "Lent: 44 books and 9 maps")
        for line, covered, y in ((words, part, 700), ("Lent: 44 books and 9 maps", "9 maps", 660)):
            left = 60 + canvas.stringWidth(line[: line.index(covered)], "Helvetica", 11)
            canvas.setFillColorRGB(1, 1, 1)
            width = canvas.stringWidth(covered, "Helvetica", 11)
            canvas.rect(left - 0.5, y - 2, width + 1, 12, stroke=0, fill=1)
            canvas.setFillColorRGB(0, 0, 0)
            for at, typed in enumerate(("If", "so") if apart else ("If so",)):
                canvas.drawString(left + 11 * at, y - 0.4, typed)

    text, remarks = read(drawn(tmp_path / "a.pdf", draw))
    assert text.split("\n")[:3] == [words.replace(part, "If so"), after, "Lent: 44 books and If so"]
    assert len(remarks) == 1


def test_words_typed_into_two_gaps_of_a_line_stand_in_both(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Above 7,500 pounds obtain three quotations.")
        canvas.drawString(60, 686, "The cashier keeps them.")
        for before, width, typed in (("Above ", 27.5, "9,800"), ("Above 7,500 pounds obtain ", 25.5, "four")):
            left = 60 + canvas.stringWidth(before, "Helvetica", 11)
            canvas.setFillColorRGB(1, 1, 1)
            canvas.rect(left, 697, width, 12, stroke=0, fill=1)
            canvas.setFillColorRGB(0, 0, 0)
            canvas.drawString(left, 700, typed)

    text, _ = read(drawn(tmp_path / "a.pdf", draw))
    assert text.split("\n")[:2] == ["Above 9,800 pounds obtain four quotations.", "The cashier keeps them."]


def with_layer(path: Path, *, extra: Draw = lambda canvas: None) -> Path:
    """A scan of two sentences with its words over it as a text layer that is not drawn."""
    scan = make_scan(path.with_name("scan.pdf"), [f"{SEEN}\n{HIDDEN}"])
    image = PdfReader(scan).pages[0].images[0].image
    assert image is not None
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    buffer.seek(0)

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(buffer), 0, 0, *SIZE)
        canvas.drawString(60, 780, SEEN, mode=3)
        canvas.drawString(62, 767, HIDDEN, mode=3)
        extra(canvas)

    return drawn(path, draw)


def test_the_text_layer_of_a_scan_stays(tmp_path: Path) -> None:
    text, remarks = read(with_layer(tmp_path / "a.pdf"))
    assert text.split() == [*SEEN.split(), *HIDDEN.split()]
    assert remarks == []


@pytest.mark.parametrize("foot", [698, 692, 689])
def test_words_of_a_layer_over_words_that_are_drawn_go(tmp_path: Path, foot: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, SEEN)
        canvas.setFont("Helvetica", 16)
        canvas.drawString(61, foot, HIDDEN.upper(), mode=3)

    text, remarks = read(drawn(tmp_path / "a.pdf", draw))
    assert text.strip() == SEEN
    assert HIDDEN.upper() in remarks[0]


def test_words_of_a_scans_layer_under_a_black_box_go(tmp_path: Path) -> None:
    path = with_layer(tmp_path / "a.pdf", extra=lambda canvas: canvas.rect(55, 762, 300, 14, fill=1))
    text, remarks = read(path)
    assert text.strip() == SEEN
    assert remarks == [f"7 words under a box: “{HIDDEN}”"]


def test_words_of_a_scans_layer_where_the_scan_is_blank_go(tmp_path: Path) -> None:
    def extra(canvas: Canvas) -> None:
        canvas.drawString(60, 300, "The fee is 70 euros.", mode=3)

    text, remarks = read(with_layer(tmp_path / "a.pdf", extra=extra))
    assert "70" not in text
    assert HIDDEN in text
    assert len(remarks) == 1


def annotated(path: Path, subtype: str, corners: Sequence[float], **entries: Any) -> Path:
    """A page with an annotation on its second line."""
    writer = PdfWriter(clone_from=PdfReader(drawn(path, both)))
    place = numbers(50, 655, 250, 675)
    quads = numbers(*corners)
    appearance = {name: named(N=writer._add_object(look)) for name, look in entries.items()}
    note = named(Type="Annot", Subtype=subtype, Rect=place, F=NumberObject(4), QuadPoints=quads, **appearance)
    writer.pages[0][NameObject("/Annots")] = ArrayObject([writer._add_object(note)])
    writer.write(path)
    return path


@pytest.mark.parametrize("colour", ["1 g", ""])
def test_a_link_hides_words_only_where_it_draws(tmp_path: Path, colour: str) -> None:
    look = StreamObject()
    look.update(named(Type="XObject", Subtype="Form", BBox=numbers(0, 0, 200, 20)))
    look.set_data(f"{colour} 0 0 200 20 re {'f' if colour else 'n'}".encode())
    path = annotated(tmp_path / "a.pdf", "Link", (), AP=look)
    assert (HIDDEN in read(path)[0]) == (not colour)


@pytest.mark.parametrize("subtype", ["StrikeOut", "Underline", "Highlight"])
def test_only_a_striking_annotation_strikes(tmp_path: Path, subtype: str) -> None:
    text, remarks = read(annotated(tmp_path / "a.pdf", subtype, (60, 672, 230, 672, 60, 657, 230, 657)))
    assert (HIDDEN in text) == (subtype != "StrikeOut")
    assert bool(remarks) == (subtype == "StrikeOut")


def test_a_page_of_very_many_boxes_is_read_in_time(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for row in range(60):
            canvas.drawString(60, 830 - 13 * row, f"Row {row} of the schedule")
        for number in range(9_000):
            canvas.rect(number % 500, number % 800, 5, 5, stroke=0, fill=1)

    text, _ = read(drawn(tmp_path / "a.pdf", draw))
    assert "Row" in text


def rules(canvas: Canvas, count: int) -> None:
    """Lines beside the text and below it."""
    canvas.setLineWidth(0.1)
    for number in range(count):
        x = 320 + number % 200
        canvas.line(x, 40, x, 800)


@pytest.mark.parametrize("count", [5_000, 100_000])
@pytest.mark.timed
def test_a_page_of_very_many_rules_keeps_what_is_seen_and_no_more(tmp_path: Path, count: int) -> None:
    def draw(canvas: Canvas) -> None:
        rules(canvas, count)
        WHITE(canvas)

    path, begun = drawn(tmp_path / "a.pdf", draw), time.thread_time()
    text, remarks = read(path)
    assert time.thread_time() - begun < 6
    assert text.strip() == SEEN
    assert any(HIDDEN in remark for remark in remarks)


@pytest.mark.parametrize("draw", [draw for draw, _ in HIDING.values()], ids=HIDING)
def test_what_hides_words_by_itself_counts_on_a_page_that_takes_too_long_to_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Draw
) -> None:
    monkeypatch.setattr(hidden_text, "MOST_SECONDS", -1)

    def with_rules(canvas: Canvas) -> None:
        canvas.saveState()
        rules(canvas, 2_000)
        canvas.restoreState()
        draw(canvas)

    text, remarks = read(drawn(tmp_path / "a.pdf", with_rules))
    assert SEEN in text
    assert HIDDEN not in text
    assert (hidden_text.UNCHECKED in remarks) == (draw not in (TINY, SQUEEZED, beyond_the_page, cropped))


def test_a_page_of_rules_alone_is_not_looked_at_for_text(tmp_path: Path) -> None:
    def rounds(canvas: Canvas) -> None:
        for number in range(100):
            canvas.circle(60 + 4 * number, 300, 2)

    assert not PdfFile(drawn(tmp_path / "a.pdf", lambda canvas: rules(canvas, 100))).may_show_text(1)
    assert PdfFile(drawn(tmp_path / "b.pdf", rounds)).may_show_text(1)


def test_a_page_of_very_many_hidden_and_seen_letters_is_read_in_time(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for number in range(9_000):
            for mode, letter in ((3, "1"), (0, "2")):
                text = canvas.beginText(20 + number % 250 * 2.2, 10 + number // 250 * 3)
                text.setFont("Helvetica", 2)
                text.setTextRenderMode(mode)
                text.textOut(letter)
                canvas.drawText(text)

    with Reader(drawn(tmp_path / "a.pdf", draw)) as reader:
        assert reader.page(1)


@pytest.mark.parametrize(
    ("drawn_text", "given", "text", "told"),
    [
        ("192.50", "1,925", "The fee is 192.50 euros.", ["“1,925”, which stands for another figure"]),
        ("1,925", "1,925", "The fee is 1,925 euros.", []),
        ("X", "fi", "The fee is fi euros.", []),
        ("91", "twelve", "The fee is 91 euros.", ["“twelve”, which stands for another figure"]),
        ("91", "not", "The fee is 91 euros.", ["“not”, which stands for another figure"]),
        ("91", " ", "The fee is 91 euros.", []),
        ("91", "~", "The fee is 91 euros.", []),
    ],
)
def test_figures_are_read_as_drawn_and_ligatures_as_the_file_spells_them(
    tmp_path: Path, drawn_text: str, given: str, text: str, told: list[str]
) -> None:
    def draw(canvas: Canvas) -> None:
        line = canvas.beginText(60, 700)
        line.textOut("The fee is ")
        line._code.append(f"/Span <</ActualText ({given})>> BDC")
        line.textOut(drawn_text)
        line._code.append("EMC")
        line.textOut(" euros.")
        canvas.drawText(line)

    assert read(drawn(tmp_path / "a.pdf", draw)) == (text, told)

"""Reads page images into words with boxes and confidence by tesseract, in as many passes as they need."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ingestion.errors import DocumentError
from ingestion.ocr.image_preprocessing import (
    Laid,
    blank_out,
    crop,
    has_middling_ground,
    lay,
    lies_sideways,
    prepare,
    text_area,
    turn,
)
from ingestion.ocr.ocr_merge import (
    OcrLine,
    add_pass,
    lay_out,
    letters,
    mean_confidence,
    without_noise,
    words_of,
)
from ingestion.ocr.scan_languages import (
    ANSWER_SECONDS,
    ENGLISH,
    ScanLanguages,
    better_languages,
    find_tesseract,
    language_data,
)
from ingestion.reading.layout import lines_of
from ingestion.records import Page, Rect, Table, Word
from ingestion.tables.detection import find_tables
from ingestion.tables.lines import visual_lines

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["read_image", "read_pictures"]

Part = TypeVar("Part", Word, Table)

# Seconds one page may take; a dense A4 page at 300 dpi takes 3 to 6 on one core.
PAGE_SECONDS = 50
# Seconds after which no further pass begins.
LAST_BEGIN = 20
# An A3 page at 300 dpi is 17 megapixels; a larger raster holds no smaller letters and takes minutes.
MOST_PIXELS = 20_000_000
# The resolution that tesseract is given. Where it guesses, it takes tables for pictures (mean recall .82
# against .88).
DPI = "--dpi 300"
WHOLE_PAGE, SPARSE = 3, 11
# Mean confidence below which a page may lie on its side or its head; upright ones measured from 75, turned
# ones up to 45.
DOUBTFUL = 65
# A page read the right way up has at least so many letters; fewer are doubtful whatever their confidence.
FEW_LETTERS = 12
# Share of the size at which the four directions are tried: 150 dpi shows which is right in a quarter of the
# time.
TRIAL = 0.5
# ... and at most so many pixels along the longer side, those of A4 at 150 dpi.
TRIAL_SIDE = 1754
# A trial that takes longer reads patterns, not letters.
TRIAL_SECONDS = 8
# A word shows which way is up where it is as sure and as long as this.
SURE, LONG = 70, 4
# Of such words, the share whose boxes are wider than high on a page that stands upright.
LEAST_LEVEL = 0.5
# Another direction must have this many times the letters of the given one.
CLEARLY = 1.5
# How alike, 0-1, two words are of which one is a misreading of the other.
ALIKE = 0.7
# Reading what is left over takes at most this many times the seconds spent before; on patterns tesseract may
# go on for ever.
REST_SHARE = 2.0
# Pixels of text lines in the outline: about one short word, but three for light text on grey, because the
# edges of such grounds look like one.
LEAST_TEXT, LEAST_LIGHT_TEXT = 300, 1000


def read_image(image: Image, languages: ScanLanguages = ENGLISH, number: int = 1) -> Page:
    """Page `number` as its image has it, whichever way it lies, as "ocr"; as "none" where it has no words.

    Raises DocumentError where tesseract fails or takes longer than PAGE_SECONDS, or lacks a language.
    """
    passes = _Passes(languages)
    lines, laid = _read_lines(image, passes)
    text, level, tables = _with_whole_rows(lines)
    if not level:
        return Page(number, "", method="none")
    words, sure = _moved(level, laid.back), mean_confidence(level)
    remarks = tuple[str, ...]()
    if sure < DOUBTFUL and passes.left() > ANSWER_SECONDS:
        with _saved(turn(_within(image), laid.turned)) as path:
            remarks = better_languages(path, languages)
    return Page(
        number,
        text,
        method="ocr",
        confidence=round(sure, 1),
        words=words,
        lines=lines_of(text, words),
        tables=_moved(tables, laid.back),
        remarks=remarks,
    )


def _with_whole_rows(lines: Sequence[OcrLine]) -> tuple[str, tuple[Word, ...], list[Table]]:
    """The lines laid out, with the rows of tables as lines where tesseract read column after column, and the
    tables."""
    text, words = lay_out(lines)
    tables = find_tables(text, words)
    inside = dict[int, Word]()
    for table in filter(_is_scattered, tables):
        inside |= {word.start: word for word in words if table.box.holds(word.box)}
    if not inside:
        return text, words, tables
    rows = list[OcrLine]()
    for row in visual_lines(list(inside.values())):
        parts = [inside[part.start] for piece in row.pieces for part in piece.words]
        rows.append(OcrLine(tuple(parts), not rows))
    moved = {word.start for word in words_of(rows)}
    laid = list[OcrLine]()
    placed = iter(words)
    for line in lines:
        own = [next(placed) for _ in line.words]
        kept = tuple(word for word in own if word.start not in moved)
        if len(kept) < len(own):
            laid += rows
            rows = []
        if kept:
            laid.append(OcrLine(kept, line.first))
    text, words = lay_out(laid)
    return text, words, find_tables(text, words)


def _is_scattered(table: Table) -> bool:
    """Whether most rows of a table begin in the text before the row above them ends."""
    begun = sum(before.end > row.start for before, row in pairwise(table.rows))
    return 2 * begun > len(table.rows) - 1


def _moved(parts: Iterable[Part], place: Callable[[Rect], Rect]) -> tuple[Part, ...]:
    """The parts with their boxes where those stand elsewhere."""
    return tuple(replace(part, box=place(part.box)) for part in parts)


def read_pictures(
    page: Page, image: Image, pictures: Sequence[Rect], languages: ScanLanguages = ENGLISH
) -> Page:
    """The page, as "text+ocr", with the text of these pictures after its own; unchanged where they add none.

    What the page's own text says at the same place is not repeated. Where time runs out, the pictures read so
    far are kept. Raises DocumentError where the first picture cannot be read.

    image: the whole page.
    pictures: where they stand on it.
    """
    passes = _Passes(languages)
    own = [(line.box, set(map(_plain, page.text[line.start : line.end].split()))) for line in page.lines]
    found = page
    for place in pictures:
        if found is not page and not passes.allows_more():
            break
        lines, laid = _read_lines(crop(image, place), passes)
        on_page = partial(_on_page, place, laid)
        fresh = list[OcrLine]()
        for line in lines:
            words = (word for word in line.words if not _is_written(word.text, on_page(word.box), own))
            fresh.append(replace(line, words=tuple(words)))
        if not _is_no_text(words_of(fresh)):
            found = _appended(found, [line for line in fresh if line.words], on_page)
    if found is not page:
        confidence = round(mean_confidence(found.words), 1)
        found = replace(found, confidence=confidence, method="text+ocr")
    return found


def _is_no_text(words: Sequence[Word]) -> bool:
    return letters(words) < FEW_LETTERS or mean_confidence(words) < DOUBTFUL


def _appended(page: Page, lines: Sequence[OcrLine], on_page: Callable[[Rect], Rect]) -> Page:
    """The page with these lines of a picture after its text; its own offsets stay."""
    added, laid = lay_out(lines)
    text = f"{page.text}\n\n{added}" if page.text else added
    shift = len(text) - len(added)
    level = [replace(word, start=word.start + shift, end=word.end + shift) for word in laid]
    words = _moved(level, on_page)
    return replace(
        page,
        text=text,
        words=(*page.words, *words),
        lines=(*page.lines, *lines_of(text, words)),
        tables=(*page.tables, *_moved(find_tables(text, level), on_page)),
    )


def _on_page(place: Rect, laid: Laid, box: Rect) -> Rect:
    """A box of a picture, laid for reading, at `place` as a box of the page."""
    box = laid.back(box)
    x0, x1 = (place.x0 + x * place.width for x in (box.x0, box.x1))
    y0, y1 = (place.y0 + y * place.height for y in (box.y0, box.y1))
    return Rect(x0, y0, x1, y1)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _is_written(text: str, place: Rect, own: Sequence[tuple[Rect, set[str]]]) -> bool:
    """Whether a line of the page's own text stands at a word's place and holds the word or what it is a
    misreading of.

    own: (box, words) of each line.
    """
    plain = _plain(text)
    return any(
        box.holds(place) and (plain in words or get_close_matches(plain, words, 1, ALIKE))
        for box, words in own
    )


class _Passes:
    """The passes over a page: in which languages they read, and how long they have taken."""

    def __init__(self, languages: ScanLanguages) -> None:
        self.languages, self._began = languages, time.monotonic()

    def left(self) -> float:
        """Seconds until the page has taken too long, at least a moment, so that tesseract starts and reports
        the timeout itself.
        """
        return max(0.1, PAGE_SECONDS - self.spent())

    def spent(self) -> float:
        """Seconds since the page was begun."""
        return time.monotonic() - self._began

    def allows_more(self) -> bool:
        """True while a further pass would end in time, even on a slow page."""
        return self.spent() < LAST_BEGIN


def _read_lines(image: Image, passes: _Passes) -> tuple[list[OcrLine], Laid]:
    """The lines of an image, and how it was laid for reading; their boxes are on it as laid."""
    grey = _within(image)
    evened = prepare(grey)
    turned = 0
    if lies_sideways(evened):
        turned = _best_turn(evened, (90, 270), FEW_LETTERS, passes)
    laid = lay(evened, turned)
    lines = _tesseract(laid.level, WHOLE_PAGE, passes)
    if not laid.turned and passes.allows_more() and _is_doubtful(lines, evened):
        least = CLEARLY * _sure_letters(lines, evened.size)
        turned = _best_turn(evened, (180, 90, 270), least, passes)
        if turned:
            laid = lay(evened, turned)
            lines = _tesseract(laid.level, WHOLE_PAGE, passes)
    lines = _with_rest(laid.level, lines, passes)
    if has_middling_ground(grey):
        light = lay(prepare(grey, middling=True), laid.turned, laid.skew)
        lines = _with_rest(light.level, lines, passes, least=LEAST_LIGHT_TEXT)
    return without_noise(lines), laid


def _with_rest(
    level: Image, lines: list[OcrLine], passes: _Passes, *, least: int = LEAST_TEXT
) -> list[OcrLine]:
    """The lines of a first pass with those of a second over what the first left over or was unsure of.

    least: the pixels of text lines that must be left for a second pass.
    """
    if not passes.allows_more():
        return lines
    rest = blank_out(level, [word.box for word in words_of(lines) if word.sure >= SURE])
    if text_area(rest) < least:
        return lines
    try:
        further = _tesseract(rest, SPARSE, passes, most=REST_SHARE * passes.spent())
    except DocumentError:
        return lines
    # Where the page as a whole was taken for a drawing, its letters are what was left over.
    if _sure_letters(lines, level.size) >= _sure_letters(further, level.size):
        return add_pass(lines, further)
    return add_pass(further, lines)


def _within(image: Image) -> Image:
    """The image in grey, no larger than MOST_PIXELS."""
    grey = image.convert("L")
    scale = (MOST_PIXELS / max(1, grey.width * grey.height)) ** 0.5
    return grey if scale >= 1 else _scaled(grey, scale)


def _scaled(image: Image, scale: float) -> Image:
    return image.resize((max(1, int(image.width * scale)), max(1, int(image.height * scale))))


def _is_doubtful(lines: Sequence[OcrLine], image: Image) -> bool:
    """Whether the image of these lines may lie the wrong way up: it shows text, but not what was read."""
    words = words_of(lines)
    long = [word for word in words if letters([word]) >= LONG]
    level = [word for word in long if _is_level(word, image.size)]
    if not _is_no_text(words) and len(level) >= LEAST_LEVEL * len(long):
        return False
    return max(text_area(image), text_area(turn(image, 90))) >= LEAST_TEXT


def _is_level(word: Word, size: tuple[int, int]) -> bool:
    """Whether a word is wider than high: tesseract reads lines that run downwards too."""
    return word.box.width * size[0] > word.box.height * size[1]


def _sure_letters(lines: Sequence[OcrLine], size: tuple[int, int]) -> int:
    """Letters of words that are sure, long and level; upside down, words are read short or doubtful."""
    long = (word for word in words_of(lines) if word.sure >= SURE and letters([word]) >= LONG)
    return letters([word for word in long if _is_level(word, size)])


def _best_turn(evened: Image, among: Sequence[int], least: float, passes: _Passes) -> int:
    """Degrees clockwise, of `among`, by which the image is best read; 0 where none is good enough.

    least: the sure letters that a direction must give.
    """
    small = _scaled(evened, min(TRIAL, TRIAL_SIDE / max(evened.size)))
    found = {0: 0}
    for degrees in among:
        tried = turn(small, degrees)
        with suppress(DocumentError):
            lines = _tesseract(tried, WHOLE_PAGE, passes, most=TRIAL_SECONDS)
            found[degrees] = _sure_letters(lines, tried.size)
    best = max(found, key=lambda degrees: found[degrees])
    return best if found[best] >= max(least, FEW_LETTERS) else 0


def _tesseract(image: Image, mode: int, passes: _Passes, *, most: float = PAGE_SECONDS) -> list[OcrLine]:
    """The lines of one pass in tesseract's page segmentation mode `mode`, in at most `most` seconds.

    Raises DocumentError where it fails.
    """
    import pytesseract

    command, data = find_tesseract()
    pytesseract.pytesseract.tesseract_cmd = command
    # Without this, two tesseracts at once fight for the cores and neither finishes.
    os.environ["OMP_THREAD_LIMIT"] = "1"
    if data:
        os.environ["TESSDATA_PREFIX"] = data
    with _saved(image) as path:
        config = f"{DPI} --psm {mode}"
        if passes.languages != ENGLISH:
            config += f" --tessdata-dir {shlex.quote(str(path.parent))}"
            for file in language_data(passes.languages):
                path.with_name(file.name).symlink_to(file)
        try:
            table = pytesseract.image_to_data(
                str(path),
                lang=passes.languages.codes,
                config=config,
                output_type=pytesseract.Output.DICT,
                timeout=min(most, passes.left()),
            )
        except (pytesseract.TesseractError, RuntimeError) as error:
            message = f"tesseract failed: {str(error)[:200]}"
            raise DocumentError(message, hint="Scan the page again at 300 dpi.") from error
    return _lines(table, image.width, image.height)


@contextmanager
def _saved(image: Image) -> Iterator[Path]:
    """An image as a file, in a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ocr-") as folder:
        path = Path(folder) / "page.pgm"  # not packed: a PNG takes a fifth of the page's time
        image.save(path)
        yield path


def _lines(table: dict[str, list[Any]], width: int, height: int) -> list[OcrLine]:
    """The lines of tesseract's table of words. width, height: of the image, in pixels."""
    columns = "block_num par_num line_num text conf left top width height".split()
    lines = dict[tuple[int, int, int], list[Word]]()
    for *place, text, sure, left, top, wide, high in zip(*(table[name] for name in columns), strict=True):
        if str(text).strip() and float(sure) >= 0:
            box = Rect(left / width, top / height, (left + wide) / width, (top + high) / height)
            block, paragraph, line = place
            word = Word(str(text).strip(), box, float(sure))
            lines.setdefault((block, paragraph, line), []).append(word)
    begins = {place[:2]: place for place in reversed(lines)}
    return [OcrLine(tuple(words), begins[place[:2]] == place) for place, words in lines.items()]

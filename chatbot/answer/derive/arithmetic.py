"""Works answers out from figures in sentences: differences, growth and shares.

The answer shows the formula and the sentence of every operand. It is empty where an operand, its period or
its unit is in doubt. Figures of tables are not used here: see chatbot/answer/tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.answer.derive.figure_format import (
    UnreadableFigureError,
    as_difference,
    bare,
    percent,
    printed,
    with_unit,
)
from chatbot.answer.derive.operands import (
    DoubtError,
    Pages,
    alike,
    check_alike,
    distance,
    in_slot,
    pick,
    years_of,
)
from chatbot.answer.derive.requested_operation import RequestedOperation, Slot, requested_operation
from chatbot.answer.derive.stated_figures import StatedFigure, find_stated
from chatbot.records import Prompt, Understanding
from ingestion.language.numbers import magnitude
from ingestion.language.opposites import PLANNED
from ingestion.language.terms import terms

__all__ = ["work_out"]

_WHOLE = re.compile(
    r"[^.;]{0,60}\b(?:comprising|of which|including|consisting of|made up of|composed of|out of which)\b",
    re.IGNORECASE,
)
# A span of years names the second by its last two digits: 2024-25.
CENTURY = 100
HUNDRED = 100.0
# Words for all that a government or company spends or takes in. The sentence of a part need not have them.
_ALL = frozenset(
    terms(
        "total overall all government federal central union state country spending expenditure outlay "
        "budget revenue receipts income"
    )
)
_PLANNED = frozenset(terms(" ".join(PLANNED)))


@dataclass(frozen=True, slots=True)
class Result:
    """What was worked out.

    formula: in printed figures.
    operands: the figures that it was worked out from.
    """

    formula: str
    operands: tuple[StatedFigure, ...]


# Works out what a question asks for.
_Sum = Callable[[RequestedOperation, Pages], Result]
# Whether a figure may be an operand.
_Fits = Callable[[StatedFigure], bool]
_Figures = tuple[StatedFigure, ...]


def work_out(prompt: Prompt, asked: Understanding) -> str:
    """The result with its formula, then the operands' sentences, each with its citation key.

    "" where the question asks for no such thing, or where the sentences leave an operand in doubt. All
    operands come from the document that was found first.
    """
    request = requested_operation(asked.subject)
    first = next(iter(prompt.sources.values()), None)
    if request is None or first is None:
        return ""
    if asked.form in {"list", "definition", "reason"}:
        return ""
    stated = _stated_figures(prompt, first.version)
    if request.planned:
        stated = [figure for figure in stated if _is_planned(figure)]
    pages = Pages(stated, _known(first.document, stated))
    try:
        result = _KINDS[request.kind](request, pages)
    except (DoubtError, UnreadableFigureError):
        return ""
    paragraphs = [result.formula]
    quotes = [(operand.text, operand.key) for operand in result.operands]
    for text, key in dict.fromkeys(quotes):
        paragraphs.append(f"{escape_keys(text)} [{key}]")
    return "\n\n".join(paragraphs)


def _stated_figures(prompt: Prompt, version: int) -> list[StatedFigure]:
    """The figures in the sentences of a document's pages, with the sentences counted over all pages."""
    stated: list[StatedFigure] = []
    for key, hit in prompt.sources.items():
        if hit.version == version:
            first = stated[-1].sentence + 1 if stated else 0
            stated += find_stated(key, hit, first=first)
    return stated


def _is_planned(stated: StatedFigure) -> bool:
    if stated.versions:
        return True
    return not stated.context.isdisjoint(_PLANNED)


def _known(name: str, stated: Sequence[StatedFigure]) -> frozenset[str]:
    """What the document's name says of all its figures, without what tells some of them from others."""
    distinguishing = {term for figure in stated for term in terms(figure.phrase)}
    words = re.sub(r"[\W_]+", " ", name)
    return frozenset(terms(words)) - distinguishing


# ---------------------------------------------------------------- the kinds of sums


def _two_times(request: RequestedOperation, pages: Pages) -> Result:
    """Growth or change from one period to another."""
    topic = request.topics[0]
    first, last = request.slots
    earlier = pick(topic, pages, partial(_is_level, slot=first, named=True))
    later = pick(topic, pages, partial(_is_level, slot=last, named=True))
    check_alike((later, earlier), _said_words(request, pages))
    for stated in pages.stated:
        if stated.moves and _is_change_of(stated, request, pages):
            raise DoubtError
    end, start = later.figure, earlier.figure
    grows = start.value > 0 and not end.percent
    if request.kind == "growth" and not grows:
        raise DoubtError
    change = end.value - start.value
    later_text = f"{printed(end)} (in {_slot_name(last)})"
    earlier_text = f"{printed(start)} (in {_slot_name(first)})"
    result = as_difference(end, change, max(end.decimals, start.decimals))
    parts = [f"{later_text} - {earlier_text} = {result}"]
    if grows:
        growth = percent(HUNDRED * change / start.value)
        base = bare(start)
        parts.append(f"{HUNDRED:.0f} × ({bare(end)} - {base}) / {base} = {growth}")
    return Result(f"{request.kind.capitalize()}: {'; '.join(parts)}.", (later, earlier))


def _is_level(stated: StatedFigure, *, slot: Slot, named: bool = False) -> bool:
    return not stated.moves and in_slot(stated, slot, named=named)


def _is_change_of(stated: StatedFigure, request: RequestedOperation, pages: Pages) -> bool:
    """Whether a figure is the change that the question asks for."""
    if distance(stated, request.topics[0], pages) < 0:
        return False
    if not stated.periods:
        return True
    last = Slot(request.slots[-1].period)
    return in_slot(stated, last, named=False)


def _gap(request: RequestedOperation, pages: Pages) -> Result:
    """How much more one thing is, or moved, than another."""

    def fits(stated: StatedFigure) -> bool:
        if bool(stated.moves) != request.moves:
            return False
        return in_slot(stated, request.slot, named=False)

    known = _said_words(request, pages)
    left, right = _operands(request, pages, fits)
    check_alike((left, right), known)
    if years_of(left) != years_of(right):
        raise DoubtError
    minuend, subtrahend = left.figure, right.figure
    value = minuend.value - subtrahend.value
    decimals = max(minuend.decimals, subtrahend.decimals)
    difference = as_difference(with_unit(minuend, subtrahend), value, decimals)
    formula = f"Difference: {printed(minuend)} - {printed(subtrahend)} = {difference}."
    return Result(formula, (left, right))


def _share(request: RequestedOperation, pages: Pages) -> Result:
    """A part as a percentage of the whole that its sentence divides, or that another one states."""
    is_level = partial(_is_level, slot=request.slot)
    try:
        part, whole = _divided(request, pages, is_level)
    except DoubtError:
        part, whole = (pick(words, pages, is_level) for words in request.topics)
        if not _may_be_part(part, whole, request.topics[1], pages):
            raise
    check_alike((part, whole), _said_words(request, pages))
    if years_of(part) != years_of(whole):
        raise DoubtError
    for stated in pages.stated:  # a percentage there may be the share itself
        if stated.sentence == part.sentence and stated.figure.percent:
            raise DoubtError
    dividend, divisor = part.figure, whole.figure
    if dividend.percent or not 0 < dividend.value < divisor.value:
        raise DoubtError
    share = percent(HUNDRED * dividend.value / divisor.value)
    return Result(f"Share: {printed(dividend)} / {printed(divisor)} = {share}.", (part, whole))


def _divided(request: RequestedOperation, pages: Pages, is_level: _Fits) -> tuple[StatedFigure, StatedFigure]:
    """The part and the whole, from a sentence that divides the whole. Raises DoubtError."""
    part_words, whole_words = request.topics
    dividing = [stated for stated in pages.stated if _divides(stated, pages, whole_words)]
    wholes = [stated for stated in dividing if is_level(stated)]
    sentences = {whole.sentence for whole in wholes}

    def fits(stated: StatedFigure) -> bool:
        return stated.sentence in sentences and is_level(stated)

    part = pick(part_words, pages, fits)
    beside = [whole for whole in wholes if whole.sentence == part.sentence]
    before = [whole for whole in beside if whole.figure.start < part.figure.start]
    if len(before) != 1:
        raise DoubtError
    return part, before[0]


def _may_be_part(part: StatedFigure, whole: StatedFigure, words: Sequence[str], pages: Pages) -> bool:
    """Whether a figure of its own sentence may be a part of this whole.

    Its sentence divides no other, and it is a part of all spending, or its words say of what. words: of the
    whole.
    """
    for other in pages.stated:
        if other is whole or other.sentence != part.sentence:
            continue
        if _goes_on_to_parts(other):
            return False
    own = frozenset(terms(f"{part.phrase} {part.trail}")) | _ALL | pages.known
    return all(not own.isdisjoint(alike(word)) for word in words)


def _said_words(request: RequestedOperation, pages: Pages) -> frozenset[str]:
    """The words of the question or the document's name, which narrow nothing further."""
    words = (word for topic in request.topics for word in topic)
    return pages.known.union(*map(alike, words))


def _goes_on_to_parts(stated: StatedFigure) -> bool:
    """Whether a sentence goes on from this figure to its parts."""
    return _WHOLE.match(stated.text, stated.figure.end) is not None


def _divides(stated: StatedFigure, pages: Pages, words: Sequence[str]) -> bool:
    """Whether a sentence goes on from this figure to its parts and is about what the question asks."""
    if not _goes_on_to_parts(stated):
        return False
    heading = stated.context - frozenset(terms(stated.text))
    before = frozenset(terms(stated.text[: stated.figure.start]))
    about = heading | before | pages.known
    narrowing = [term for term in words if term != "total"]
    return all(not about.isdisjoint(alike(term)) for term in narrowing)


def _operands(request: RequestedOperation, pages: Pages, fits: _Fits) -> _Figures:
    """A figure for each topic, of one sentence where that has them all. Raises DoubtError."""
    of_sentence = _of_one_sentence(request, pages, fits)
    return of_sentence or _each(request, pages, fits)


def _each(request: RequestedOperation, pages: Pages, fits: _Fits) -> _Figures:
    """A figure of the pages for each topic. Raises DoubtError."""
    return tuple(pick(words, pages, fits) for words in request.topics)


def _of_one_sentence(request: RequestedOperation, pages: Pages, fits: _Fits) -> _Figures:
    """The operands where exactly one sentence states them all; () where none does.

    Raises DoubtError where several state them with different figures.
    """
    found: list[_Figures] = []
    for _, of_sentence in groupby(pages.stated, key=attrgetter("sentence")):
        sentence = replace(pages, stated=list(of_sentence))
        try:
            found.append(_each(request, sentence, fits))
        except DoubtError:
            continue
    if len({_magnitudes(operands) for operands in found}) > 1:
        raise DoubtError
    return found[0] if found else ()


def _magnitudes(operands: Sequence[StatedFigure]) -> tuple[float, ...]:
    return tuple(magnitude(operand.figure) for operand in operands)


def _slot_name(slot: Slot) -> str:
    period = slot.period
    name = period.text if period else ""
    if period and not name[-1:].isdigit():  # "the year before"
        name = str(period.start_year)
        if period.start_year != period.end_year:
            name += f"-{period.end_year % CENTURY:02}"
    return f"{name}, {slot.version}" if slot.version else name


_KINDS: Mapping[str, _Sum] = {
    "growth": _two_times,
    "change": _two_times,
    "gap": _gap,
    "share": _share,
}

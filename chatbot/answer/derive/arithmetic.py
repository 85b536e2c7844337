"""Answers worked out from figures that stand in sentences: differences, growth, shares, totals and parts,
with the formula and the sentence of every operand; knows no tables, and gives nothing where an operand, its
period or its unit is in doubt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
    with_number,
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
from chatbot.answer.derive.single_sentence import HUNDRED, Result, amount_of_share, level_before
from chatbot.answer.derive.stated_figures import StatedFigure, find_stated
from chatbot.records import Prompt, Understanding
from ingestion.language.numbers import magnitude, same_value
from ingestion.language.opposites import PLANNED
from ingestion.language.terms import terms

__all__ = ["work_out"]

_WHOLE = re.compile(
    r"[^.;]{0,60}\b(?:comprising|of which|including|consisting of|made up of|composed of|out of which)\b",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(r"\bat least\s{0,2}\Z", re.IGNORECASE)
# Years of which a span names the last two digits: 2024-25.
CENTURY = 100
# What is a part of all that a government or company spends or takes in needs no word of the whole.
_ALL = frozenset(
    terms(
        "total overall all government federal central union state country spending expenditure outlay "
        "budget revenue receipts income"
    )
)
_PLANNED = frozenset(terms(" ".join(PLANNED)))


def work_out(prompt: Prompt, asked: Understanding) -> str:
    """The result with its formula, then the operands' sentences, each with its citation key; "" where the
    question asks for no such thing, where the sentences do not state its operands beyond doubt, or where they
    state the result itself.

    All operands are of the document that was found first.
    """
    wanted = requested_operation(asked.subject)
    first = next(iter(prompt.sources.values()), None)
    if wanted is None or first is None or asked.form in {"list", "definition", "reason"}:
        return ""
    stated: list[StatedFigure] = []
    for key, hit in prompt.sources.items():
        if hit.version == first.version:
            stated += find_stated(key, hit, first=stated[-1].sentence + 1 if stated else 0)
    if wanted.planned:
        stated = [one for one in stated if one.versions or not one.context.isdisjoint(_PLANNED)]
    pages = Pages(stated, _known(first.document, stated))
    try:
        result = _KINDS[wanted.kind](wanted, pages)
    except (DoubtError, UnreadableFigureError):
        return ""
    if result.value is not None and any(same_value(one.figure, result.value) for one in stated):
        return ""
    said = dict.fromkeys((one.text, one.key) for one in result.operands)
    return "\n\n".join([result.formula, *(f"{escape_keys(text)} [{key}]" for text, key in said)])


def _known(name: str, stated: Sequence[StatedFigure]) -> frozenset[str]:
    """What the document's name says of all its figures, but not what tells some of them from others."""
    told = {term for one in stated for term in terms(one.phrase)}
    return frozenset(terms(re.sub(r"[\W_]+", " ", name))) - told


# ---------------------------------------------------------------- the kinds of sums


def _two_times(wanted: RequestedOperation, pages: Pages) -> Result:
    """Growth or change from one period to another."""
    topic = wanted.topics[0]
    earlier, later = (pick(topic, pages, partial(_is_level, slot=slot, named=True)) for slot in wanted.slots)
    check_alike((later, earlier), _said(wanted, pages))
    a = later.figure
    b = earlier.figure
    growth = (
        (
            f"{HUNDRED:.0f} × ({bare(a)} - {bare(b)}) / {bare(b)} = "
            f"{percent(HUNDRED * (a.value - b.value) / b.value)}"
        )
        if b.value > 0
        else ""
    )
    if any(one.moves and _is_change_of(one, wanted, pages) for one in pages.stated) or (
        wanted.kind == "growth" and (a.percent or not growth)
    ):
        raise DoubtError
    names = [_slot_name(slot) for slot in wanted.slots]
    change = (
        f"{printed(a)} (in {names[1]}) - {printed(b)} (in {names[0]}) = "
        f"{as_difference(a, a.value - b.value, max(a.decimals, b.decimals))}"
    )
    if a.percent or not growth:
        parts = [change]
    else:
        parts = [change, growth]
    return Result(f"{wanted.kind.capitalize()}: {'; '.join(parts)}.", (later, earlier))


def _is_level(one: StatedFigure, *, slot: Slot, named: bool = False) -> bool:
    return not one.moves and in_slot(one, slot, named=named)


def _is_change_of(one: StatedFigure, wanted: RequestedOperation, pages: Pages) -> bool:
    """Whether the pages state the change that is asked for."""
    return distance(one, wanted.topics[0], pages) >= 0 and (
        not one.periods or in_slot(one, Slot(wanted.slots[-1].period), named=False)
    )


def _gap(wanted: RequestedOperation, pages: Pages) -> Result:
    """How much more one thing is, or moved, than another."""

    def fits(one: StatedFigure) -> bool:
        return bool(one.moves) == wanted.moves and in_slot(one, wanted.slot, named=False)

    left, right = _of_one_sentence(wanted, pages, fits) or (
        pick(topic, pages, fits) for topic in wanted.topics
    )
    check_alike((left, right), _said(wanted, pages))
    if years_of(left) != years_of(right):
        raise DoubtError
    a = left.figure
    b = right.figure
    return Result(
        (
            f"Difference: {printed(a)} - {printed(b)} = "
            f"{as_difference(with_unit(a, b), a.value - b.value, max(a.decimals, b.decimals))}."
        ),
        (left, right),
    )


def _share(wanted: RequestedOperation, pages: Pages) -> Result:
    """A part as a percentage of the whole that its sentence divides, or that another one states."""
    part_words, whole_words = wanted.topics
    divided = [
        one for one in pages.stated if _divides(one, pages, whole_words) and _is_level(one, slot=wanted.slot)
    ]
    inside = {one.sentence for one in divided}
    try:
        part = pick(
            part_words, pages, lambda one: one.sentence in inside and _is_level(one, slot=wanted.slot)
        )
        wholes = [
            one for one in divided if one.sentence == part.sentence and one.figure.start < part.figure.start
        ]
        if len(wholes) != 1:
            raise DoubtError
        whole = wholes[0]
    except DoubtError:
        part, whole = (pick(words, pages, partial(_is_level, slot=wanted.slot)) for words in wanted.topics)
        if not _may_be_part(part, whole, whole_words, pages):
            raise
    check_alike((part, whole), _said(wanted, pages))
    told = any(one.figure.percent and one.sentence == part.sentence for one in pages.stated)
    a = part.figure
    b = whole.figure
    if told or a.percent or not 0 < a.value < b.value or years_of(part) != years_of(whole):
        raise DoubtError
    return Result(
        f"Share: {printed(a)} / {printed(b)} = {percent(HUNDRED * a.value / b.value)}.", (part, whole)
    )


def _may_be_part(part: StatedFigure, whole: StatedFigure, words: Sequence[str], pages: Pages) -> bool:
    """Whether a part stated apart is one of this whole: its sentence divides no other, and it is one of
    all spending, or its words say of what.
    """
    own = frozenset(terms(f"{part.phrase} {part.trail}")) | _ALL | pages.known
    others = [one for one in pages.stated if one.sentence == part.sentence and one is not whole]
    divided = any(_WHOLE.match(one.text, one.figure.end) for one in others)
    return not divided and all(not own.isdisjoint(alike(word)) for word in words)


def _said(wanted: RequestedOperation, pages: Pages) -> frozenset[str]:
    """What the question, or the document's name, says: words that narrow nothing further."""
    return pages.known.union(*(alike(term) for topic in wanted.topics for term in topic))


def _divides(one: StatedFigure, pages: Pages, words: Sequence[str]) -> bool:
    """Whether a sentence goes on from this figure to its parts, and is about what was asked."""
    head = one.context - frozenset(terms(one.text))
    about = head | frozenset(terms(one.text[: one.figure.start])) | pages.known
    return bool(_WHOLE.match(one.text, one.figure.end)) and all(
        term == "total" or not about.isdisjoint(alike(term)) for term in words
    )


def _total(wanted: RequestedOperation, pages: Pages) -> Result:
    """The sum of two or three amounts; of one sentence where that has them all."""

    def fits(one: StatedFigure) -> bool:
        return in_slot(one, wanted.slot, named=False) and not one.figure.percent

    operands = _of_one_sentence(wanted, pages, fits) or tuple(
        pick(words, pages, fits) for words in wanted.topics
    )
    check_alike(operands, _said(wanted, pages), least=True)
    if len({years_of(one) for one in operands}) > 1:
        raise DoubtError
    figures = [one.figure for one in operands]
    total = sum(figure.value for figure in figures)
    least = [bool(_AT_LEAST.search(one.text, 0, one.figure.start)) for one in operands]
    result = with_number(with_unit(*figures), total, max(figure.decimals for figure in figures))
    formula = (
        f"Total{', at least' if any(least) else ''}: {' + '.join(printed(figure) for figure in figures)} = "
        f"{result}"
    )
    return Result(
        f"{formula}{f' per {operands[0].rate}' if operands[0].rate else ''}.",
        operands,
        replace(figures[0], value=total),
    )


def _of_one_sentence(
    wanted: RequestedOperation, pages: Pages, fits: Callable[[StatedFigure], bool]
) -> tuple[StatedFigure, ...]:
    """The operands where exactly one sentence states them all; () where none does. Raises DoubtError where
    several do.
    """
    found: list[tuple[StatedFigure, ...]] = []
    for _, of_sentence in groupby(pages.stated, key=attrgetter("sentence")):
        own = replace(pages, stated=list(of_sentence))
        try:
            found.append(tuple(pick(words, own, fits) for words in wanted.topics))
        except DoubtError:
            continue
    if len({tuple(magnitude(one.figure) for one in operands) for operands in found}) > 1:
        raise DoubtError
    if found:
        return found[0]
    return ()


def _slot_name(slot: Slot) -> str:
    period = slot.period
    name = period.text if period else ""
    if period and not name[-1:].isdigit():  # "the year before"
        if period.start_year == period.end_year:
            name = str(period.start_year)
        else:
            name = f"{period.start_year}-{period.end_year % CENTURY:02}"
    return f"{name}, {slot.version}" if slot.version else name


_KINDS: Mapping[str, Callable[[RequestedOperation, Pages], Result]] = {
    "growth": _two_times,
    "change": _two_times,
    "gap": _gap,
    "share": _share,
    "total": _total,
    "part": amount_of_share,
    "before": level_before,
}

"""Works results out from the figures of one sentence: a percentage of an amount, the level before a move."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.answer.derive.figure_format import printed, with_number
from chatbot.answer.derive.operands import DoubtError, Pages, alike, in_slot, pick
from chatbot.answer.derive.requested_operation import RequestedOperation, Slot, months_in
from chatbot.answer.derive.stated_figures import DOWN, UP, StatedFigure
from ingestion.language.numbers import Figure, find_figures, magnitude, same_value
from ingestion.language.terms import terms

__all__ = ["HUNDRED", "Result", "amount_of_share", "level_before"]

_OF_WHICH = re.compile(r"\b(?:of which|of this|of that|of it)\b", re.IGNORECASE)
_OF_THE = re.compile(
    r"\b(?:of|from) (?:the|its|this|that|an) (?:total |initial |approved )?\Z", re.IGNORECASE
)
_FROM_THE = re.compile(
    (
        r"\b(?:of|from) (?:the|its|this|that|an) (?:(?:total |initial |approved )?(?:allocation|budget"
        r"|amount|fund|sum|envelope) of )?\Z"
    ),
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"[\s,]{0,3}to (?:a |the )?(?:new )?(?:target )?(?:range (?:of |between )?)?\Z", re.IGNORECASE
)
_NAME = re.compile(r"[A-Z]{2,}")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN_LEVELS = re.compile(r"\s{0,3}(?:to|and|[-–])\s{0,3}")
HUNDRED = 100.0
# Decimals of a part, so that 99.9 per cent of 2.1 billion shows all digits, and of rates, which go by
# quarters and eighths.
PART_DECIMALS, RATE_DECIMALS = 4, 3
# The characters after a percentage in which the sentence says what was done, and the most words of a name
# that may be written by its initials.
LONGEST_VERB_GAP, MOST_INITIALS = 60, 5


@dataclass(frozen=True, slots=True)
class Result:
    """What was worked out.

    formula: in printed figures.
    operands: the figures that it was worked out from.
    value: quoted instead where it stands printed; None where it is not looked for.
    """

    formula: str
    operands: tuple[StatedFigure, ...]
    value: Figure | None = None


def amount_of_share(wanted: RequestedOperation, pages: Pages) -> Result:
    """The amount that a percentage of a stated amount comes to.

    The sentence reads "10 million was allocated, of which 42% was disbursed". Raises DoubtError.
    """
    found = []
    for left, right in pairwise(pages.stated):
        for amount, share in ((left, right), (right, left)):
            if _is_share_of(share, amount, wanted):
                found.append((amount, share))
    if len(found) != 1:
        raise DoubtError
    amount, share = found[0]
    if amount.bound or share.bound:
        raise DoubtError
    value = amount.figure.value * share.figure.value / HUNDRED
    result = with_number(amount.figure, value, PART_DECIMALS)
    formula = f"Part: {printed(share.figure)} × {printed(amount.figure)} = {result}."
    return Result(formula, (amount, share), replace(amount.figure, value=value))


def _is_share_of(share: StatedFigure, amount: StatedFigure, request: RequestedOperation) -> bool:
    """Whether two figures of a sentence are the share and the amount that the question asks about."""
    if share.sentence != amount.sentence or share.figure.percent != "percent":
        return False
    verb = request.topics[1][0]
    if amount.figure.percent or not _is_part_of(share, amount, verb):
        return False
    return _is_asked_part(amount, request) and _is_in_all(amount, request.slots)


def _is_part_of(share: StatedFigure, amount: StatedFigure, verb: str) -> bool:
    """Whether the sentence says that this share of the amount was used."""
    text = share.text
    first, second = sorted((share.figure, amount.figure), key=lambda figure: figure.start)
    between = text[first.end : second.start]
    if share.figure is first:
        verb_text = between
        links = _FROM_THE.search(between) is not None
    else:
        verb_text = text[second.end : second.end + LONGEST_VERB_GAP]
        links = _OF_WHICH.search(between) is not None
        if not links and "," in between:
            links = _OF_THE.search(text, 0, first.start) is not None
    if not links:
        return False
    return not alike(terms(verb)[0]).isdisjoint(terms(verb_text))


def _is_asked_part(amount: StatedFigure, request: RequestedOperation) -> bool:
    """Whether it is the amount that the question is about.

    It has the question's words, or their initials; where the question gives an amount, half of the words are
    enough, but it must be that very amount.
    """
    topic = request.topics[0]
    initials = _terms_of_initials(request.question, set(_NAME.findall(amount.text)))
    known = 0
    for term in topic:
        if term in initials or not amount.context.isdisjoint(alike(term)):
            known += 1
    given = [figure for figure in request.figures if figure.unit or figure.scale > 1]
    if not given:
        return known == len(topic)
    if 2 * known < len(topic):
        return False
    return any(same_value(amount.figure, figure) for figure in given)


def _terms_of_initials(question: str, names: set[str]) -> set[str]:
    """The terms of all runs of a question's words whose initials are one of some names."""
    words = [word for word in _WORD.findall(question) if terms(word)]
    found: set[str] = set()
    for first in range(len(words)):
        longest = min(first + MOST_INITIALS, len(words))
        for last in range(first + 2, longest + 1):
            run = words[first:last]
            if _initials(run) in names:
                found.update(terms(" ".join(run)))
    return found


def _initials(words: Sequence[str]) -> str:
    """The first letters of words; a word in capitals stands whole."""
    letters = [word if word.isupper() else word[0].upper() for word in words]
    return "".join(letters)


def _is_in_all(stated: StatedFigure, slots: Sequence[Slot]) -> bool:
    return all(in_slot(stated, slot, named=False) for slot in slots)


def level_before(wanted: RequestedOperation, pages: Pages) -> Result:
    """The level, or range, before a move of a stated size to a stated level. Raises DoubtError."""

    def fits(stated: StatedFigure) -> bool:
        levels = _levels(stated, pages)
        return bool(levels) and _is_asked_move(stated, levels[-1], wanted)

    move = pick(wanted.topics[0], pages, fits)
    levels = _levels(move, pages)
    step = magnitude(move.figure) * -move.moves
    sign = "-" if step < 0 else "+"
    results = []
    parts = []
    for level in levels:
        result = with_number(level.figure, level.figure.value + step, RATE_DECIMALS)
        results.append(result)
        parts.append(f"{printed(level.figure)} {sign} {printed(move.figure)} = {result}")
    whole = f", a range of {' to '.join(results)}" if len(results) > 1 else ""
    return Result(f"Before: {'; '.join(parts)}{whole}.", (move, *levels))


def _is_asked_move(move: StatedFigure, level: StatedFigure, request: RequestedOperation) -> bool:
    """Whether a figure is a move of the direction and time that the question asks about.

    level: the last one that the move led to.
    """
    if move.figure.percent != "points" or move.bound:
        return False
    directions = {request.direction} if request.direction else {UP, DOWN}
    if move.moves not in directions:
        return False
    dated = replace(move, periods=level.periods or move.periods)
    return _is_in_all(dated, request.slots) and _is_in_month(move, level, request.months)


def _is_in_month(move: StatedFigure, level: StatedFigure, months: frozenset[str]) -> bool:
    """Whether a move and the level after it may be of these months."""
    if not months:
        return True
    text = move.text
    starts = [figure.start for figure in find_figures(text) if figure.start > level.figure.start]
    after = starts[0] if starts else len(text)
    clause = text[: move.figure.start].rpartition(",")[2]
    behind = text[level.figure.end : after]
    named = months_in(behind) or months_in(clause) or months_in(text)
    return not named or not months.isdisjoint(named)


def _levels(move: StatedFigure, pages: Pages) -> tuple[StatedFigure, ...]:
    """The one or two levels right after a move: "to 5 per cent", "to a range of 5 to 5¼ per cent"."""
    of_sentence = [stated for stated in pages.stated if stated.sentence == move.sentence]
    later = [stated for stated in of_sentence if stated.figure.start > move.figure.start]
    levels = later[:2]
    if not levels:
        return ()
    first = levels[0].figure
    if not _RANGE.fullmatch(move.text, move.figure.end, first.start):
        return ()
    if len(levels) == 2:
        second = levels[1].figure
        if not _BETWEEN_LEVELS.fullmatch(move.text, first.end, second.start):
            levels = levels[:1]
    if all(level.figure.percent == "percent" for level in levels):
        return tuple(levels)
    return ()

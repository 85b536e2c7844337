"""Results worked out from figures of one sentence: the amount that a percentage of another is, the level
before a move; searches no other for an operand.
"""

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
HUNDRED = 100.0
# Of 99.9 per cent of 2.1 billion all digits are shown; rates go by quarters and eighths.
PART_DECIMALS, RATE_DECIMALS = 4, 3
# Characters after a percentage in which it is said what was done; words of a name that may be written by
# their initials.
LONGEST_VERB_GAP, MOST_INITIALS = 60, 5


@dataclass(frozen=True, slots=True)
class Result:
    """formula: in printed figures; operands: what it was worked out from; value: what is quoted instead
    where it stands printed, else None.
    """

    formula: str
    operands: tuple[StatedFigure, ...]
    value: Figure | None = None


def amount_of_share(wanted: RequestedOperation, pages: Pages) -> Result:
    """The amount that a percentage of a stated amount is: "10 million was allocated, of which 42% was
    disbursed". Raises DoubtError.
    """
    found = [
        (amount, share)
        for one, other in pairwise(pages.stated)
        for amount, share in ((one, other), (other, one))
        if one.sentence == other.sentence and share.figure.percent == "percent" and not amount.figure.percent
        if _is_part_of(share, amount, wanted.topics[1][0])
        and _is_asked_part(amount, wanted)
        and _in_all(amount, wanted.slots)
    ]
    if len(found) != 1:
        raise DoubtError
    amount, share = found[0]
    if amount.bound or share.bound:
        raise DoubtError
    value = amount.figure.value * share.figure.value / HUNDRED
    formula = (
        f"Part: {printed(share.figure)} × {printed(amount.figure)} = "
        f"{with_number(amount.figure, value, PART_DECIMALS)}."
    )
    return Result(formula, (amount, share), replace(amount.figure, value=value))


def _is_part_of(share: StatedFigure, amount: StatedFigure, verb: str) -> bool:
    """Whether the sentence says that this share of the amount was used."""
    text, (one, other) = share.text, sorted((share.figure, amount.figure), key=lambda figure: figure.start)
    between = text[one.end : other.start]
    after = text[other.end : other.end + LONGEST_VERB_GAP]
    if share.figure is one:
        says = between
        links = bool(_FROM_THE.search(between))
    else:
        from_it = _OF_THE.search(text, 0, one.start) is not None and "," in between
        says = after
        links = from_it or bool(_OF_WHICH.search(between))
    return links and not alike(terms(verb)[0]).isdisjoint(terms(says))


def _is_asked_part(amount: StatedFigure, wanted: RequestedOperation) -> bool:
    """Whether it is the amount that the question is about: the very amount where it gives one, and its
    words or their initials.
    """
    names = set(re.findall(r"[A-Z]{2,}", amount.text))
    words = [word for word in re.findall(r"[^\W\d_]+", wanted.question) if terms(word)]
    initials = {
        term
        for first in range(len(words))
        for last in range(first + 2, min(first + MOST_INITIALS, len(words)) + 1)
        if "".join(word if word.isupper() else word[0].upper() for word in words[first:last]) in names
        for term in terms(" ".join(words[first:last]))
    }
    known = sum(term in initials or not amount.context.isdisjoint(alike(term)) for term in wanted.topics[0])
    given = [figure for figure in wanted.figures if figure.unit or figure.scale > 1]
    if given:
        return any(same_value(amount.figure, figure) for figure in given) and 2 * known >= len(
            wanted.topics[0]
        )
    return known == len(wanted.topics[0])


def _in_all(one: StatedFigure, slots: Sequence[Slot]) -> bool:
    return all(in_slot(one, slot, named=False) for slot in slots)


def level_before(wanted: RequestedOperation, pages: Pages) -> Result:
    """The level, or range, before a move of a stated size to a stated level. Raises DoubtError."""

    def fits(one: StatedFigure) -> bool:
        levels = _levels(one, pages)
        if (
            not levels
            or one.figure.percent != "points"
            or one.bound
            or one.moves not in ({UP, DOWN} if not wanted.direction else {wanted.direction})
        ):
            return False
        return _in_all(replace(one, periods=levels[-1].periods or one.periods), wanted.slots) and _in_month(
            one, levels[-1], wanted.months
        )

    move = pick(wanted.topics[0], pages, fits)
    levels = _levels(move, pages)
    step = magnitude(move.figure) * -move.moves
    sign = "-" if step < 0 else "+"
    results = [with_number(one.figure, one.figure.value + step, RATE_DECIMALS) for one in levels]
    parts = [
        f"{printed(one.figure)} {sign} {printed(move.figure)} = {result}"
        for one, result in zip(levels, results, strict=True)
    ]
    if len(results) > 1:
        whole = f", a range of {' to '.join(results)}"
    else:
        whole = ""
    return Result(f"Before: {'; '.join(parts)}{whole}.", (move, *levels))


def _in_month(move: StatedFigure, level: StatedFigure, months: frozenset[str]) -> bool:
    """Whether a move, told with the level after it, may be of these months."""
    text = move.text
    after = next(
        (figure.start for figure in find_figures(text) if figure.start > level.figure.start), len(text)
    )
    named = (
        months_in(text[level.figure.end : after])
        or months_in(text[: move.figure.start].rpartition(",")[2])
        or months_in(text)
    )
    return not months or not named or not months.isdisjoint(named)


def _levels(move: StatedFigure, pages: Pages) -> tuple[StatedFigure, ...]:
    """The one or two levels, "to 5 per cent", "to a range of 5 to 5¼ per cent", right after a move."""
    later = [
        one for one in pages.stated if one.sentence == move.sentence and one.figure.start > move.figure.start
    ][:2]
    if not later or not _RANGE.fullmatch(move.text, move.figure.end, later[0].figure.start):
        return ()
    if len(later) == 2 and not re.fullmatch(
        r"\s{0,3}(?:to|and|[-–])\s{0,3}", move.text[later[0].figure.end : later[1].figure.start]
    ):
        later = later[:1]
    if all(one.figure.percent == "percent" for one in later):
        return tuple(later)
    return ()

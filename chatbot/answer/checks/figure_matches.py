"""Tells whether a figure of an answer and one of a page state the same value, in sign, scale and sense."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from chatbot.answer.checks.claims import Claim
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_figures import OnPage, digits_of
from chatbot.evidence.word_runs import common_end
from ingestion.language.numbers import Figure, same_value
from ingestion.language.opposites import HOLDINGS, MOVES, TOLD_LESS, TOLD_MORE, VERBS_OF_MOVES
from ingestion.language.periods import YEAR

__all__ = [
    "agree",
    "alignment",
    "direction_told",
    "drops_scale",
    "figures_against",
    "figures_stating",
    "level_told",
    "matches",
    "move_told",
    "other_sense",
    "rounds",
]

# So many of the answer's own words around another figure show that the answer misquotes, and does not speak
# of something else.
ALIGNED_WORDS = 6
LEADING_WORDS = 2  # of these before the figure, where its value stands elsewhere on the page
# Label and cells before a figure on its line: where the answer has all of them, it reads out that row.
ROW_WORDS = 2
# So many equal words before the figure show that a row was copied, so that its sign must be the page's.
VERBATIM_ROW_WORDS = 3
# With so many equal words beside the figure its scale may stay unsaid, as it does in the row.
UNSCALED_ROW_WORDS = 2
CENTS = 2  # decimals; "in millions, except per share amounts": cells with cents are the exception

SENSE_WORDS = 8  # words before a figure in which "deficit" says what it is
NEAREST_WORDS = 3  # those in which it does so even where "surplus" stands before it
LEVEL_WORDS = 8  # words before "to" in which a level is told to be reached
_YEAR = re.compile(YEAR)
# Between a move and its size.
_BETWEEN = frozenset("by of about around approximately nearly roughly some another a an".split())
_BETWEEN_LEVEL = _BETWEEN | frozenset("just only total at nearly no more less than".split())
_DENIALS = frozenset("not never wasnt werent isnt arent".split())
_DENIED_BETWEEN = frozenset("be been about exactly".split())
# Labels of rows whose brackets say no more than the label, and those that may go either way.
_EXPENSE = re.compile(
    r"expens|\bcosts?\b|charge|impairment|depreciation|amorti[sz]|payments?\b|purchase|dividend"
)
_INCOME = re.compile(
    r"income|gain|benefit|profit|revenue|recover|proceeds|provided|credit|change|increase|decrease"
    r"|reversal|result|surplus|earnings|margin|cash flow|loss"
    r"|deficit|balance|\bnet\b|before|after|excluding"
)
_Words = tuple[str, ...]


def other_sense(claim: Claim, placed: OnPage, before: _Words) -> str:
    """Why a page's equal figure says the opposite of the answer's: a deficit for a surplus, a fall for a
    rise, a denial; "" where it does not.

    before: the words of the page's sentence before the figure.
    """
    if (claim.figure.value < 0) != (placed.figure.value < 0):
        return ""
    denied = _denied(before)
    if _denied(claim.before) != denied:
        return "the page denies it" if denied else "the answer denies what the page says"
    for sides in HOLDINGS:
        if _side(claim.before, sides) * _side(before, sides) < 0:
            return "the page gives it as the opposite, such as a deficit instead of a surplus"
    moved = move_told(claim.before, claim.after) * move_told(before, placed.after)
    if moved < 0 or level_told(claim.before) * level_told(before) < 0:
        return "the page gives it as a change in the other direction"
    return ""


def _denied(before: _Words) -> bool:
    """Whether the words end in "was not", which "not only" and "not more than" do not."""
    for word in reversed(before):
        if word not in _DENIED_BETWEEN:
            return word in _DENIALS
    return False


def _side(before: _Words, sides: tuple[frozenset[str], frozenset[str]]) -> int:
    """1 or -1 for the side that the words before a figure name, 0 for neither or both: "surplus
    (deficit)".
    """
    near: list[str] = []
    for word in reversed(before[-SENSE_WORDS:]):
        if word[0].isdigit() and not _YEAR.fullmatch(word):
            break
        near.append(word)
    first, second = (_place_of(side, near) for side in sides)
    if first == second:
        return 0
    nearer, further = sorted((first, second))
    if further < SENSE_WORDS and (nearer >= NEAREST_WORDS or further - nearer < NEAREST_WORDS):
        return 0
    return 1 if first < second else -1


def _place_of(side: frozenset[str], words: Sequence[str]) -> int:
    """The place of the first word that names a side, SENSE_WORDS where none does."""
    for place, word in enumerate(words):
        if word in side:
            return place
    return SENSE_WORDS


def move_told(before: _Words, after: _Words) -> int:
    """1 for "rose by" before a figure or "growth" after it, -1 for the contrary, 0 for neither or both."""
    words = [word for word in before if word not in _BETWEEN]
    set_apart = "".join(before[-2:])  # "in creased"
    beside = {*words[-1:], set_apart, *after[:1]}
    up, down = (not beside.isdisjoint(side) for side in MOVES)
    return up - down


def direction_told(said: str) -> int:
    """1 where all words of a text that tell a direction tell more, -1 where they tell less, 0 for neither
    or both.
    """
    words = frozenset(re.findall(r"[a-z]+", said.casefold()))
    more = words & (MOVES[0] | TOLD_MORE)
    less = words & (MOVES[1] | TOLD_LESS)
    return bool(more) - bool(less)


def level_told(before: _Words) -> int:
    """1 where the words before a figure say that something rose to it, "grew strongly to about", -1 that
    it fell, 0 for neither or both.
    """
    words = list(before)
    while words and words[-1] in _BETWEEN_LEVEL:
        words.pop()
    if words[-1:] != ["to"]:
        return 0
    lead = words[-1 - LEVEL_WORDS : -1]
    up, down = (not side.isdisjoint(lead) for side in VERBS_OF_MOVES)
    return up - down


def figures_stating(figure: Figure, view: PageEvidence) -> list[Figure]:
    """The page's figures that state this one, sign aside."""
    claim = Claim(figure, (figure,), (), (), rounded=False, outflow=True)
    places = view.figures.by_digits.get(digits_of(figure), ())
    stating = [placed for placed in places if _value_matches(claim, placed) or _opposite(claim, placed)]
    return [placed.figure for placed in stating]


def rounds(claim: Claim, placed: OnPage) -> bool:
    """Whether the answer's figure is the page's, rounded."""
    pairs = list(_readings(claim, placed))
    if any(same_value(mine, reading, rounding=True) for mine, reading in pairs):
        return True
    if not placed.figure.value < 0 < claim.figure.value:
        return False
    if not _may_carry_minus(claim, placed):
        return False
    return any(same_value(mine, _turned(reading), rounding=True) for mine, reading in pairs)


def matches(claim: Claim, placed: OnPage) -> bool:
    """Whether this figure of the page is what the answer's figure says."""
    if _value_matches(claim, placed):
        return True
    if placed.place is not None and _is_expense(placed):
        return _opposite(claim, placed)
    return _may_carry_minus(claim, placed) and _opposite(claim, placed)


def _is_expense(placed: OnPage) -> bool:
    """Whether the label of a figure's row says that it is spent, so that its brackets say no more."""
    line = " ".join(placed.before[-placed.on_line :])
    return _EXPENSE.search(line) is not None and not _INCOME.search(line)


def _may_carry_minus(claim: Claim, placed: OnPage) -> bool:
    """Whether the answer's words carry the page's minus: they do not where it copies the page's row."""
    return claim.outflow and common_end(claim.before, placed.before) < VERBATIM_ROW_WORDS


def _value_matches(claim: Claim, placed: OnPage) -> bool:
    return any(agree(mine, reading) for mine, reading in _readings(claim, placed))


def _opposite(claim: Claim, placed: OnPage) -> bool:
    """Whether the page has the figure with a minus that the answer puts in words."""
    if not placed.figure.value < 0 < claim.figure.value:
        return False
    return any(agree(mine, _turned(reading)) for mine, reading in _readings(claim, placed))


def _turned(figure: Figure) -> Figure:
    """The figure with the other sign."""
    return replace(figure, value=-figure.value)


def _readings(claim: Claim, placed: OnPage) -> Iterator[tuple[Figure, Figure]]:
    """Each reading of the answer's figure with those of the page's that it may be compared with: money is
    no count, and a bare cell may be a percentage.
    """
    for mine in claim.readings:
        money = mine.unit not in (None, "x") and mine.percent is None
        if not (money and placed.counts and placed.figure.unit is None):
            yield from ((mine, reading) for reading in placed.readings)
        if mine.percent == "percent" and placed.percent:
            yield mine, replace(placed.figure, percent="percent", unit="%")


def agree(mine: Figure, other: Figure) -> bool:
    """same_value; but a bare number with decimals may leave the page's "per cent" unsaid."""
    if mine.bare and mine.unit is None and mine.decimals and other.percent == "percent":
        other = replace(other, percent=None, unit=None)
    return same_value(mine, other)


def drops_scale(claim: Claim, placed: OnPage) -> bool:
    """Whether the answer gives money without the scale that the page's mark gives to this cell, in words
    of its own.
    """
    mine = claim.figure
    mark = placed.mark
    if mark is None or mark.scale == 1 or len(claim.readings) > 1:
        return False
    if not placed.cell or not placed.figure.bare:
        return False
    if not mine.bare or not mine.unit:
        return False
    scaled = abs(placed.figure.value) * mark.scale
    if math.isclose(abs(mine.value), scaled):  # $115,000 for 115 in thousands
        return False
    if placed.figure.decimals == CENTS:
        row = placed.before[-placed.on_line :]
        if mark.exceptions or "per" in row:
            return False
    if 0 < placed.on_line <= common_end(claim.before, placed.before):  # the whole row
        return False
    return alignment(claim, placed) < UNSCALED_ROW_WORDS


def _covers(outer: Figure, inner: Figure) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def alignment(claim: Claim, placed: OnPage) -> int:
    """How many words before and after the two figures are equal, counted from the figures."""
    before = common_end(claim.before, placed.before)
    after = common_end(claim.after[::-1], placed.after[::-1])
    return before + after


def figures_against(claim: Claim, view: PageEvidence, equal: list[OnPage], *, rows: bool) -> list[OnPage]:
    """Other figures of the page that stand where the answer has its own: in the same words, or in the same
    row after the same cells.

    Where the value stands on the page too, its own place must not fit the answer as well, nor be another
    column of that row. rows: whether rows count; they do not where the figure's cell is known to fit.
    """
    words = {*claim.before[-1:], *claim.after[:1]}
    best = max((alignment(claim, placed) for placed in equal), default=-1)
    lines = {placed.line for placed in equal}
    found = []
    by_word = [view.figures.by_neighbour.get(word, ()) for word in words]
    for placed in chain.from_iterable(by_word):
        aligned = alignment(claim, placed)
        if aligned <= best:
            continue
        if any(_covers(other.figure, placed.figure) for other in equal):
            continue
        same_row = rows and _copies_row(claim, placed) and placed.line not in lines
        same_words = aligned >= ALIGNED_WORDS and (not equal or _ends_alike(claim, placed, view))
        if same_row or same_words:
            found.append(placed)
    return found


def _copies_row(claim: Claim, placed: OnPage) -> bool:
    """Whether the answer has all that stands before the figure on its line, a label among it."""
    if not ROW_WORDS <= placed.on_line <= common_end(claim.before, placed.before):
        return False
    row = placed.before[-placed.on_line :]
    return not all(word[0].isdigit() for word in row)


def _ends_alike(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether answer and page lead up to the figure and go on, or end the sentence, alike: what heads
    joined to a table row do not.
    """
    if common_end(claim.before, placed.before) < LEADING_WORDS:
        return False
    if claim.after:
        return claim.after[:1] == placed.after[:1]
    end = placed.figure.end
    return view.text[end : end + 1] in tuple(".;!?")

"""Finds how a figure comes from others of its sentence or list, where no arithmetic is written out.

For example "64.1 %: 9,045.7 of 14,105.8".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

from chatbot.answer.checks.claims import Scope
from chatbot.answer.checks.figure_matches import direction_told, move_told
from chatbot.answer.formulas import amount_of, evaluates_to
from chatbot.evidence.figure_names import label_words
from ingestion.language.numbers import Figure, units_agree
from ingestion.language.opposites import MOVES
from ingestion.language.periods import YEAR

__all__ = ["REPORTED", "computed_in_sentence"]

# Figures that are added up; more than that are a table of their own, and some of those add up to anything.
MOST_ADDED = 8
# Figures of a paragraph that are looked at for one result.
FIGURES_REACH = 40
# Digits that a result must show: many figures come to a single digit.
FEWEST_DIGITS = 2
_ADDED = re.compile(
    r"\b(?:total(?:s|led|ling)?|together|combined|altogether|sum|in all|adding|added|counting)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    rf"\b(?:{'|'.join(sorted(MOVES[0] | MOVES[1]))}|more|less|fewer|bigger|larger|smaller|greater"
    rf"|difference|differs?|gap|extra|leaving|left|unused|never"
    r"|shortfall|surplus|loss|back|remaining|than|above|below|reduced)\b",
    re.IGNORECASE,
)
# "A shortfall of about 44%" is no share.
_CHANGE_OF = re.compile(
    (
        rf"\b(?:{'|'.join(sorted(MOVES[0] | MOVES[1]))}|shortfall|gap|difference|reduction|improvement|jump"
        rf"|gain|loss)\s(?:of|by)\s(?:[a-z]{{2,8}}\s){{0,2}}\Z"
    ),
    re.IGNORECASE,
)
_DIVIDED = re.compile(r"\b(?:of|over|per|divided|against|share|ratio|to)\b|[/÷]", re.IGNORECASE)
_AVERAGED = re.compile(r"\b(?:average|averages|averaged|averaging|mean)\b", re.IGNORECASE)
# Words that tell a result, and that no page need have.
REPORTED = re.compile(
    "|".join(
        [
            _ADDED.pattern,
            _COMPARED.pattern,
            r"\b(?:about|around|roughly|approximately|nearly|average|ratio)\b",
        ]
    ),
    re.IGNORECASE,
)
# The figure behind these words is what another is compared with, and the base of a change.
_BASE = re.compile(
    r"\b(?:from|than|versus|vs\.?|against|compared (?:with|to)|after)\b[^.;,()\d]{0,60}\Z", re.IGNORECASE
)
# What stands behind a figure of an earlier time.
_EARLIER = re.compile(
    (
        r"[^.;()\d]{0,25}\b(?:an? (?:year|quarter) (?:earlier|ago|before)|previously|(?:the year"
        r"|the quarter) before|before)\b"
    ),
    re.IGNORECASE,
)
_YEAR_BEHIND = re.compile(rf"[^.;,()\d]{{0,30}}\(?(?P<year>{YEAR})\b")
_OF_WHAT = re.compile(r"\W{0,3}of ([^,.;()\d]{1,50})")
_CLAUSE_END = re.compile(r"[.,;()\d]")
_TOTALS = label_words("total all together sum whole overall")
# What is left of a whole.
_REST = re.compile(
    r"\b(?:left|unused|never|remain(?:s|ed|ing)?|rest|not (?:yet )?(?:been )?(?:used|spent|drawn))\b",
    re.IGNORECASE,
)
_OF = re.compile(r"\bof\b", re.IGNORECASE)
# Figures of the sentences before that a comparison may go back to.
MOST_EARLIER = 2
# Figures before a share or a factor among which its whole or its rate is sought.
SHARES_REACH = 6
_OPENS = re.compile(
    r"[^\d;.(]{0,20}\(\s?(?:or |about |some |around |roughly |nearly |almost |approximately |i\.e\.,? )?"
)
_OPERATED = re.compile(r"[/÷×*]")
_FIGURE_BETWEEN = re.compile(r"[\d;]")
_WORD = re.compile(r"[^\W\d_]+")
_NEARLY = re.compile(
    (
        r"\b(?:(?P<over>over|more than|above)|(?P<under>under|less than|below|nearly|almost)|about|around"
        r"|roughly|approximately|close to)\W{1,2}\Z"
    ),
    re.IGNORECASE,
)
# Share of a fraction in words by which a figure may be more or less than it.
NEAR_FRACTION = 0.1
VERY_FRACTION = 0.01  # where it is not called "nearly" or "about"
# Characters around a result in which its move is told.
MOVE_REACH = 40
# Figures before and after a result, and characters, among which its operands may be if they are no
# neighbours.
NEAR_FIGURES, NEAR_REACH = 12, 700
# Were amounts spread evenly over SPREAD powers of e, one would be within r of another by chance with a
# probability of 2 r / SPREAD. All that is tried together may come to at most MOST_CHANCE.
SPREAD, MOST_CHANCE = 5.0, 0.12
BASE_REACH = 80  # characters before a figure in which such words speak of it


_Pair = tuple[Figure, Figure]


@dataclass(frozen=True, slots=True)
class _Sought:
    """A figure whose arithmetic is sought, with the figures around it. Figures are given by position.

    text: the answer.
    figures: all of the answer's, in order.
    sound: position -> whether the figure may be an operand.
    at: the position of the figure.
    result: the figure, with the digits that it shows where it is called rounded.
    scope: its sentence.
    inside: the figures of its sentence.
    operands: those of its sentence that may be operands.
    before: those before it in its paragraph that may be operands.
    compares, adds: whether its sentence has words that compare, or that add.
    """

    text: str
    figures: Sequence[Figure]
    sound: Mapping[int, bool]
    at: int
    result: Figure
    scope: Scope
    inside: range
    operands: Sequence[int]
    before: Sequence[int]
    compares: bool
    adds: bool

    @property
    def figure(self) -> Figure:
        """The figure as it is written."""
        return self.figures[self.at]

    @property
    def earliest(self) -> int:
        """Where the words before the figure begin that speak of it."""
        return max(self.scope.start, self.result.start - BASE_REACH)


@dataclass(frozen=True, slots=True)
class _Told:
    """The operations that the words beside a result tell.

    direction: 1 up, -1 down, 0 for neither or both.
    compares: it is a difference or change.
    adds: it is a sum.
    divides: it is a share or a product.
    """

    direction: int
    compares: bool
    adds: bool
    divides: bool


def computed_in_sentence(
    text: str, figures: Sequence[Figure], scopes: Sequence[Scope], sound: Mapping[int, bool]
) -> Iterator[tuple[int, str]]:
    """(position, arithmetic) of each figure that comes from others: as the difference, the ratio or the
    change of two neighbours of its sentence, or, where it is called a total, as the sum of those before it in
    its paragraph.

    figures: those of the text, in order. sound: position -> whether the figure stands on a page cited for it,
    or comes from such figures; only these are operands.
    """
    starts = [figure.start for figure in figures]
    kinds: dict[tuple[int, int], tuple[bool, bool]] = {}  # sentence -> whether it compares, whether it adds
    for at in range(len(figures)):
        if sound[at]:
            continue
        scope = scopes[at]
        span = (scope.start, scope.end)
        if span not in kinds:
            kinds[span] = (_has(_COMPARED, text, scope), _has(_ADDED, text, scope))
        compares, adds = kinds[span]
        result = _as_rounded(text, figures[at])
        inside = range(bisect_left(starts, scope.start), bisect_left(starts, scope.end))
        first = max(0, at - inside.start - FIGURES_REACH)
        around = inside[first : first + 2 * FIGURES_REACH]
        operands = [other for other in around if other != at and sound[other]]
        begun = bisect_left(starts, text.rfind("\n\n", 0, result.start) + 1)
        before = [other for other in range(max(begun, at - FIGURES_REACH), at) if sound[other]]
        written = _arithmetic(
            _Sought(text, figures, sound, at, result, scope, inside, operands, before, compares, adds)
        )
        if written:
            yield at, written


def _arithmetic(sought: _Sought) -> str:
    """The arithmetic that comes to a figure, with the figure, "" where none does."""
    result = sought.result
    digits = sum(map(str.isdigit, result.text))
    if not digits:
        near = _near_fraction(sought)
        return f"{near} ≈ {result.text}" if near else ""
    if digits < FEWEST_DIGITS:
        written = _stated_change(sought)
    else:
        written = _of_sentence(sought) or _of_near(sought)
    return f"{written} = {result.text}" if written else ""


def _stated_change(sought: _Sought) -> str:
    """The change between two neighbours whose base the sentence names; "" where it does not compare."""
    if not sought.compares:
        return ""
    pairs = _neighbours(sought.figures, sought.operands)
    found = (written for pair in pairs for written in _change(sought, pair, stated=True))
    return next(found, "")


def _of_sentence(sought: _Sought) -> str:
    """The first arithmetic in the words of the sentence that comes to the figure, "" where none does."""
    of_pairs = (written for pair in _pairs(sought) for written in _of_two(sought, pair))
    written = (
        next(of_pairs, "")
        or _share(sought)
        or _factor(sought)
        or _part(sought)
        or _of_column(sought)
        or _of_all(sought)
    )
    if written:
        return written
    averaged = _AVERAGED.search(sought.text, sought.earliest, sought.result.start)
    if averaged:
        written = _mean(sought)
    if not written and sought.adds:
        written = _sum(sought)
    return written


def _pairs(sought: _Sought) -> list[_Pair]:
    """The neighbours of the sentence; where it compares, also its figures with the last of the sentences
    before.
    """
    figures = sought.figures
    pairs = [*_neighbours(figures, sought.operands)]
    if not sought.compares:
        return pairs
    earlier = [other for other in sought.before if other not in sought.operands]
    for first, second in product(earlier[-MOST_EARLIER:], sought.operands):
        if _alike(figures[first], figures[second]):
            pairs.append((figures[first], figures[second]))
    return pairs


def _as_rounded(text: str, result: Figure) -> Figure:
    """A figure that is called rounded, "close to 20,000", with the digits that it then shows."""
    if result.decimals != 0 or not result.value:
        return result
    whole = f"{abs(result.value):.0f}"
    trailing = len(whole) - len(whole.rstrip("0"))
    noughts = min(trailing, len(whole) - FEWEST_DIGITS)
    if noughts <= 0:
        return result
    if _NEARLY.search(text, max(0, result.start - MOVE_REACH), result.start):
        return replace(result, decimals=-noughts)
    return result


# ---------------------------------------------------------------- from the sentences around


def _of_near(sought: _Sought) -> str:
    """What comes from two figures of the sentences around, in an operation that is told beside the result; ""
    where there is so much to try that something would come to it by chance.
    """
    result = sought.result
    told = _told_beside(sought)
    pairs = list(combinations(_near(sought), 2))
    of_sentence = [pair for pair in pairs if _are_inside(sought.scope, pair)]
    tolerance = 1.0
    if result.value:
        tolerance = 0.5 * 10.0**-result.decimals / abs(result.value)
    for tried_pairs in (of_sentence, pairs):
        tried = [found for pair in tried_pairs for found in _results(sought.text, result, pair, told)]
        if 2 * tolerance * len(tried) / SPREAD > MOST_CHANCE:
            return ""
        for value, written in tried:
            if evaluates_to(value, result):
                return written
    return ""


def _are_inside(scope: Scope, pair: _Pair) -> bool:
    """Whether both figures stand in a sentence."""
    return all(scope.start <= figure.start < scope.end for figure in pair)


def _near(sought: _Sought) -> list[Figure]:
    """The figures before and after the result, within reach, that may be operands."""
    first = max(0, sought.at - NEAR_FIGURES)
    last = min(len(sought.figures), sought.at + NEAR_FIGURES + 1)
    positions = [other for other in range(first, last) if other != sought.at and sought.sound[other]]
    near = [sought.figures[other] for other in positions]
    return [figure for figure in near if abs(figure.start - sought.result.start) <= NEAR_REACH]


def _told_beside(sought: _Sought) -> _Told:
    """The operations that the words around the result tell."""
    text = sought.text
    result = sought.result
    beside = text[sought.earliest : min(sought.scope.end, result.end + BASE_REACH)]
    direction = direction_told(beside)
    adds = _ADDED.search(beside) is not None
    if _CHANGE_OF.search(text, sought.earliest, result.start):
        return _Told(direction, compares=True, adds=adds, divides=False)
    compares = _COMPARED.search(beside) is not None
    divides = _DIVIDED.search(beside) is not None
    return _Told(direction, compares, adds, divides)


def _results(text: str, result: Figure, pair: _Pair, told: _Told) -> Iterator[tuple[float, str]]:
    """What two figures come to that is of the result's kind, in the direction that is told, and the
    arithmetic.
    """
    larger, smaller = sorted(pair, key=amount_of, reverse=True)
    rated = smaller.percent == "percent" and larger.percent is None
    if told.divides and rated and _alike(larger, result):
        yield amount_of(smaller) * amount_of(larger), f"{smaller.text} * {larger.text}"
    if not _alike(*pair):
        return
    newer = _newer(text, pair)
    change = 1 if newer is larger else -1
    turned = newer is not None and told.direction * change < 0
    points = larger.percent == "percent" and result.percent
    if points or _alike(larger, result):
        if told.compares and not told.adds and not turned:
            yield amount_of(larger) - amount_of(smaller), f"{larger.text} - {smaller.text}"
        if told.adds:
            yield amount_of(larger) + amount_of(smaller), f"{pair[0].text} + {pair[1].text}"
    if result.percent == "percent" and not larger.percent:
        yield from _percentages(text, result, (larger, smaller), told, turned=turned)


def _percentages(
    text: str, result: Figure, pair: _Pair, told: _Told, *, turned: bool
) -> Iterator[tuple[float, str]]:
    """The shares and changes of a larger and a smaller amount, and the arithmetic. turned: the direction told
    is against the pair's.
    """
    larger, smaller = pair
    if amount_of(smaller) <= 0:
        return
    share = amount_of(smaller) / amount_of(larger)
    if told.divides and _is_whole(text, result, larger):
        yield share, f"{smaller.text} / {larger.text}"
    difference = f"({larger.text} - {smaller.text})"
    if told.compares and told.direction and not turned:
        if told.direction > 0:
            yield 1 / share - 1, f"{difference} / {smaller.text}"
        else:
            yield 1 - share, f"{difference} / {larger.text}"
    if told.divides and _REST.search(text, max(0, result.start - BASE_REACH), result.end + BASE_REACH):
        yield 1 - share, f"{difference} / {larger.text}"


def _newer(text: str, pair: _Pair) -> Figure | None:
    """Which of two figures is the later, by the years beside them or by words such as "from" and "a year
    earlier"; None where neither tells.
    """
    first, second = pair
    years = (_year_of(text, first), _year_of(text, second))
    if all(years) and years[0] != years[1]:
        return second if years[0] < years[1] else first
    first_is_earlier = _is_earlier(text, first)
    if first_is_earlier == _is_earlier(text, second):
        return None
    return second if first_is_earlier else first


def _is_earlier(text: str, figure: Figure) -> bool:
    """Whether words beside a figure say that it is of an earlier time."""
    return _is_base(text, figure) or _EARLIER.match(text, figure.end) is not None


def _year_of(text: str, figure: Figure) -> int:
    """The year right behind a figure, 0 for none."""
    found = _YEAR_BEHIND.match(text, figure.end)
    if found:
        return int(found["year"])
    return 0


def _is_whole(text: str, result: Figure, whole: Figure) -> bool:
    """Whether a figure may be the whole of a share: "of total debt" rules out a debt of another name."""
    named = _OF_WHAT.match(text, result.end)
    if named is None:
        return True
    words = label_words(named[1])
    if not words:
        return True
    ahead = text[max(0, whole.start - BASE_REACH) : whole.start]
    behind = _CLAUSE_END.split(text[whole.end : whole.end + BASE_REACH])[0]
    around = label_words(f"{ahead} {behind}")
    if not words <= _TOTALS and words.isdisjoint(around - _TOTALS):
        return False
    return words.isdisjoint(_TOTALS) or not around.isdisjoint(_TOTALS)


def _has(pattern: re.Pattern[str], text: str, scope: Scope) -> bool:
    return pattern.search(text, scope.start, scope.end) is not None


# ---------------------------------------------------------------- fractions in words


def _near_fraction(sought: _Sought) -> str:
    """What "a little over half" or "nearly a quarter" is said of: the last percentage that is near it, on the
    side that is told; else two neighbours of which it is the share or the change.
    """
    text = sought.text
    figures = sought.figures
    fraction = sought.figure
    if not 0 < fraction.value < 1:
        return ""
    told = _NEARLY.search(text, max(0, fraction.start - MOVE_REACH), fraction.start)
    least, most = _bounds(fraction.value, told)
    candidates = [*sought.before[-SHARES_REACH:], *sought.operands]
    for other in reversed(candidates):
        if figures[other].percent and least <= amount_of(figures[other]) <= most:
            return figures[other].text
    lead_end = told.start() if told else fraction.start
    direction = direction_told(text[sought.earliest : lead_end])
    in_order = sorted(set(candidates), key=lambda position: figures[position].start)
    for pair in _neighbours(figures, in_order):
        larger, smaller = sorted(pair, key=amount_of, reverse=True)
        if amount_of(smaller) <= 0 or larger.percent:
            continue
        share = amount_of(smaller) / amount_of(larger)
        value = (1 - share, share, 1 / share - 1)[direction + 1]
        if not least <= value <= most:
            continue
        if not direction:
            return f"{smaller.text} / {larger.text}"
        newer = _newer(text, pair)
        if newer is not None and (newer is larger) != (direction > 0):
            continue
        base = smaller if direction > 0 else larger
        return f"({larger.text} - {smaller.text}) / {base.text}"
    return ""


def _bounds(fraction: float, told: re.Match[str] | None) -> tuple[float, float]:
    """The least and the most that a fraction in words may stand for. told: the match of _NEARLY before it."""
    if told is None:
        return fraction * (1 - VERY_FRACTION), fraction * (1 + VERY_FRACTION)
    least = 1.0 if told["over"] else 1 - NEAR_FRACTION
    most = 1.0 if told["under"] else 1 + NEAR_FRACTION
    return fraction * least, fraction * most


# ---------------------------------------------------------------- from the figures of the sentence


def _part(sought: _Sought) -> str:
    """A percentage of a figure right behind it: of a part that was told before, "51% of sales of 94,943",
    or the part itself, "4.2: 42% of the 10".
    """
    last = min(sought.at + 3, sought.inside.stop)
    following = sought.figures[sought.at + 1 : last]
    if sought.figure.percent == "percent":
        return _share_of_next(sought, following)
    if sought.figure.percent is None:
        return _part_of_next(sought, following)
    return ""


def _share_of_next(sought: _Sought, following: Sequence[Figure]) -> str:
    """The part told before that a percentage is of the figure behind it."""
    result = sought.figure
    if not following or not _OF.search(sought.text, result.end, following[0].start):
        return ""
    whole = following[0]
    for other in reversed(sought.before[-SHARES_REACH:]):
        part = sought.figures[other]
        if _alike(part, whole) and _is_share(part, whole, result):
            return f"{part.text} / {whole.text}"
    return ""


def _part_of_next(sought: _Sought, following: Sequence[Figure]) -> str:
    """The percentage and the whole behind a part, "4.2: 42% of the 10"."""
    result = sought.figure
    if len(following) != 2:
        return ""
    rate, whole = following
    if rate.percent != "percent" or not _alike(whole, result):
        return ""
    if not _OF.search(sought.text, rate.end, whole.start):
        return ""
    if evaluates_to(amount_of(rate) * amount_of(whole), result):
        return f"{rate.text} * {whole.text}"
    return ""


def _of_column(sought: _Sought) -> str:
    """The share that a cell of a table is of two cells above it, "margin" below income and revenue."""
    text = sought.text
    result = sought.figure
    place = _cell(text, result)
    if result.percent != "percent" or place is None:
        return ""
    top = text.rfind("\n\n", 0, result.start) + 1
    first = max(0, sought.at - FIGURES_REACH)
    before = [sought.figures[other] for other in range(first, sought.at) if sought.sound[other]]
    above = [figure for figure in before if figure.start > top and _cell(text, figure) == place]
    for part, whole in product(above, repeat=2):
        if part is whole or not _alike(part, whole):
            continue
        if _is_share(part, whole, result):
            return f"{part.text} / {whole.text}"
    return ""


def _cell(text: str, figure: Figure) -> int | None:
    """Which cell of its row of a table a figure stands in, None where it stands in none."""
    line = text[text.rfind("\n", 0, figure.start) + 1 : figure.start]
    if line.lstrip().startswith("|"):
        return line.count("|")
    return None


def _of_all(sought: _Sought) -> str:
    """The sum of all figures of its kind that follow it behind a colon, "120: 80 of bills and 40 of
    bonds".
    """
    figure = sought.figure
    positions = [other for other in sought.inside if other > sought.at and sought.sound[other]]
    following = [sought.figures[other] for other in positions if _alike(sought.figures[other], figure)]
    if not 1 < len(following) <= MOST_ADDED:
        return ""
    if ":" not in sought.text[figure.end : following[0].start]:
        return ""
    if not evaluates_to(sum(map(amount_of, following)), figure):
        return ""
    return " + ".join(addend.text for addend in following)


def _neighbours(figures: Sequence[Figure], operands: Sequence[int]) -> Iterator[_Pair]:
    """Each two figures of one unit and kind that follow one another among the operands."""
    kinds: list[list[Figure]] = []
    for at in operands:
        figure = figures[at]
        same_kind = next((kind for kind in kinds if _alike(kind[0], figure)), None)
        if same_kind is None:
            kinds.append([figure])
        else:
            same_kind.append(figure)
    for kind in kinds:
        yield from pairwise(kind)


def _alike(figure: Figure, other: Figure) -> bool:
    return figure.percent == other.percent and units_agree(figure, other)


def _is_share(part: Figure, whole: Figure, result: Figure) -> bool:
    """Whether a part divided by its whole comes to the result."""
    divisor = amount_of(whole)
    if not divisor:
        return False
    return evaluates_to(amount_of(part) / divisor, result)


def _of_two(sought: _Sought, pair: _Pair) -> Iterator[str]:
    """The arithmetic of two figures that comes to the result, in the words of the sentence."""
    text = sought.text
    result = sought.result
    first, second = pair
    if sought.compares:
        yield from _difference(sought, pair)
        yield from _change(sought, pair, stated=False)
    if result.percent == "percent" and first.percent is None:
        if _CHANGE_OF.search(text, sought.earliest, result.start):
            return
    elif result.percent is not None or result.unit not in (None, "x") or result.decimals <= 0:
        return
    divided = _DIVIDED.search(text, first.end, second.start)
    if divided and _is_share(first, second, result):
        yield f"{first.text} / {second.text}"


def _difference(sought: _Sought, pair: _Pair) -> Iterator[str]:
    """The difference of two figures, where it comes to the result and goes the way that is told."""
    result = sought.result
    first = pair[0]
    larger, smaller = sorted(pair, key=amount_of, reverse=True)
    points = first.percent == "percent" and result.percent is not None
    if not points and not _alike(first, result):
        return
    if not evaluates_to(amount_of(larger) - amount_of(smaller), result):
        return
    newer = _newer(sought.text, pair)
    change = 1 if newer is larger else -1
    if newer is None or not _turned(sought, change):
        yield f"{larger.text} - {smaller.text}"


def _change(sought: _Sought, pair: _Pair, *, stated: bool) -> Iterator[str]:
    """The change from one of two figures to the other that a percentage is, in the direction that is told.
    stated: only where the sentence says from what, "283 from 259, up 9%".
    """
    text = sought.text
    result = sought.result
    if result.percent != "percent" or pair[0].percent is not None:
        return
    newer = _newer(text, pair)
    for base, other in (pair, pair[::-1]):
        if base is newer or not amount_of(base):
            continue
        is_base = _is_base(text, base)
        if not is_base and (stated or _is_base(text, other)):
            continue
        change = (amount_of(other) - amount_of(base)) / amount_of(base)
        if not evaluates_to(change, result) and not evaluates_to(abs(change), result):
            continue
        rising = 1 if change > 0 else -1
        if newer is other and amount_of(base) > 0 and _turned(sought, rising):
            continue
        yield f"({other.text} - {base.text}) / {base.text}"


def _turned(sought: _Sought, change: int) -> bool:
    """Whether the words beside the result tell a move against the change, 1 up and -1 down: "fell by 22.7%",
    "a 22.7% decrease".
    """
    text = sought.text
    result = sought.result
    scope = sought.scope
    lead = text[max(scope.start, result.start - MOVE_REACH) : result.start]
    trail = text[result.end : min(scope.end, result.end + MOVE_REACH)]
    before = _FIGURE_BETWEEN.split(lead)[-1]
    behind = _FIGURE_BETWEEN.split(trail)[0]
    direction = move_told(_words(before), _words(behind)) or direction_told(before)
    return direction * change < 0 and result.value >= 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _share(sought: _Sought) -> str:
    """What a percentage in brackets is of: the figure before it as a share of a figure that stands before
    that, "of the 5.5 million, 3.3 (60%)".
    """
    result = sought.figure
    before = sought.before
    if result.text.startswith("("):  # the brackets of an aside are no minus
        result = replace(result, value=abs(result.value), start=result.start + 1)
    if result.percent != "percent" or before[-1:] != [sought.at - 1]:
        return ""
    part = sought.figures[sought.at - 1]
    if not _OPENS.fullmatch(sought.text, part.end, result.start):
        return ""
    for other in reversed(before[-1 - SHARES_REACH : -1]):
        whole = sought.figures[other]
        if _alike(whole, part) and _is_share(part, whole, result):
            return f"{part.text} / {whole.text}"
    return ""


def _mean(sought: _Sought) -> str:
    """The last figures before it whose mean it is; "" where none are."""
    before = _alike_before(sought)
    for count in range(2, min(len(before), MOST_ADDED) + 1):
        addends = before[-count:]
        if evaluates_to(sum(map(amount_of, addends)) / count, sought.figure):
            written = " + ".join(figure.text for figure in addends)
            return f"({written}) / {count}"
    return ""


def _factor(sought: _Sought) -> str:
    """The growth that a factor stands for: the 1.116 in "198.6 / 1.116" for 11.6 percent."""
    result = sought.figure
    if not result.bare or result.unit or result.decimals < FEWEST_DIGITS:
        return ""
    if not _OPERATED.search(sought.text, max(0, result.start - 3), result.end + 3):
        return ""
    for other in reversed(sought.before[-SHARES_REACH:]):
        rate = sought.figures[other]
        if rate.percent != "percent":
            continue
        if evaluates_to(1 + amount_of(rate), result):
            return f"1 + {rate.text}"
        if evaluates_to(1 - amount_of(rate), result):
            return f"1 - {rate.text}"
    return ""


def _is_base(text: str, figure: Figure) -> bool:
    return _BASE.search(text[max(0, figure.start - BASE_REACH) : figure.start]) is not None


def _sum(sought: _Sought) -> str:
    """The last figures before it that add up to it; "" where none do."""
    before = _alike_before(sought)
    for count in range(2, min(len(before), MOST_ADDED) + 1):
        addends = before[-count:]
        if evaluates_to(sum(map(amount_of, addends)), sought.figure):
            return " + ".join(figure.text for figure in addends)
    return ""


def _alike_before(sought: _Sought) -> list[Figure]:
    """The figures before it of its unit and kind that may be operands."""
    before = [sought.figures[other] for other in sought.before]
    return [figure for figure in before if _alike(figure, sought.figure)]

"""Knows what a figure comes to from others of its sentence or list where no arithmetic is written, "64.1
%: 9,045.7 of 14,105.8"; knows no pages.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product

from chatbot.answer.checks.claims import Scope
from chatbot.answer.checks.figure_matches import direction_told, move_told
from chatbot.answer.checks.formulas import amount_of, comes_to
from chatbot.evidence.figure_names import label_words
from ingestion.language.numbers import Figure, units_agree
from ingestion.language.opposites import MOVES
from ingestion.language.periods import YEAR

__all__ = ["REPORTED", "reckoned"]

# Figures that are added up; more are a table of their own, of which some add up to anything.
MOST_ADDED = 8
# Figures of a paragraph that are looked at for one.
FIGURES_REACH = 40
# Digits that a result must show: one digit is what many figures come to.
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
# Words in which a result is told, and which no page need have.
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
# The figure behind these words is what another is compared with, and what a change is a share of.
_BASE = re.compile(
    r"\b(?:from|than|versus|vs\.?|against|compared (?:with|to)|after)\b[^.;,()\d]{0,60}\Z", re.IGNORECASE
)
# What stands behind a figure of the time before.
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
# Figures before a share, or a factor, among which is what it is of.
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
# Share of a fraction by which a figure may be more or less than it.
NEAR_FRACTION = 0.1
VERY_FRACTION = 0.01  # ... where it is not called "nearly" or "about"
# Characters around a result in which its move is told.
MOVE_REACH = 40
# Figures before and after a result, and characters, among which its operands may be where they do not stand
# beside each other.
NEAR_FIGURES, NEAR_REACH = 12, 700
# One amount is by chance within r of another with 2 r / SPREAD, were amounts spread evenly over as many
# powers of e; together this much is taken.
SPREAD, MOST_CHANCE = 5.0, 0.12
BASE_REACH = 80  # characters before a figure in which such words speak of it


def reckoned(
    text: str, figures: Sequence[Figure], scopes: Sequence[Scope], sound: Mapping[int, bool]
) -> Iterator[tuple[int, str]]:
    """(position, arithmetic) of each figure that comes from others: as the difference, the ratio or the
    change of two neighbours of its sentence, or, where it is called a total, as the sum of those before it in
    its paragraph.

    figures: of the text, in order. sound: position -> whether it stands on a page cited for it, or comes from
    such ones: only these are reckoned with.
    """
    starts = [figure.start for figure in figures]
    told: dict[
        tuple[int, int], tuple[bool, bool]
    ] = {}  # of each sentence: whether it compares, and whether it adds
    for at in range(len(figures)):
        if sound[at]:
            continue
        scope, result = scopes[at], _as_rounded(text, figures[at])
        if (scope.start, scope.end) not in told:
            told[scope.start, scope.end] = (_has(_COMPARED, text, scope), _has(_ADDED, text, scope))
        compares, adds = told[scope.start, scope.end]
        inside = range(bisect_left(starts, scope.start), bisect_left(starts, scope.end))
        operands = [
            other
            for other in inside[max(0, at - inside.start - FIGURES_REACH) :][: 2 * FIGURES_REACH]
            if other != at and sound[other]
        ]
        begun = bisect_left(starts, text.rfind("\n\n", 0, result.start) + 1)
        before = [other for other in range(max(begun, at - FIGURES_REACH), at) if sound[other]]
        if not any(map(str.isdigit, result.text)):
            if near := _near_fraction(text, figures, at, scope, [*before[-SHARES_REACH:], *operands]):
                yield at, f"{near} ≈ {result.text}"
            continue
        if sum(map(str.isdigit, result.text)) < FEWEST_DIGITS:
            close = _neighbours(figures, operands) if compares else ()
            if written := next(
                (found for pair in close for found in _change(text, scope, result, pair, stated=True)), ""
            ):
                yield at, f"{written} = {result.text}"
            continue
        earlier = [other for other in before if other not in operands][-MOST_EARLIER:]
        back = product(earlier, operands) if compares else ()
        pairs = [
            *_neighbours(figures, operands),
            *((figures[one], figures[other]) for one, other in back if _alike(figures[one], figures[other])),
        ]
        written = next(
            (found for pair in pairs for found in _of_two(text, scope, result, pair, compares=compares)), ""
        )
        written = (
            written
            or _share(text, figures, at, before)
            or _factor(text, figures, at, before)
            or _part(text, figures, at, before, inside)
        )
        written = written or _of_column(text, figures, at, sound) or _of_all(text, figures, at, inside, sound)
        if not written and _AVERAGED.search(text, max(scope.start, result.start - BASE_REACH), result.start):
            written = _mean(figures, at, before)
        if not written and adds:
            written = _sum(figures, at, before)
        written = written or _of_near(text, figures, at, scope, sound)
        if written:
            yield at, f"{written} = {result.text}"


def _as_rounded(text: str, result: Figure) -> Figure:
    """A figure that is called rounded, "close to 20,000", with the digits that it then shows."""
    whole = f"{abs(result.value):.0f}"
    if result.decimals == 0 and result.value:
        noughts = min(len(whole) - len(whole.rstrip("0")), len(whole) - FEWEST_DIGITS)
    else:
        noughts = 0
    called = noughts > 0 and _NEARLY.search(text, max(0, result.start - MOVE_REACH), result.start)
    if called:
        return replace(result, decimals=-noughts)
    return result


def _of_near(text: str, figures: Sequence[Figure], at: int, scope: Scope, sound: Mapping[int, bool]) -> str:
    """What comes from two figures of the sentences around, in an operation that is told beside it; "" where
    there is so much to try that something would come to it by chance."""
    result = _as_rounded(text, figures[at])
    near = [
        figures[other]
        for other in range(max(0, at - NEAR_FIGURES), min(len(figures), at + NEAR_FIGURES + 1))
        if other != at and sound[other]
    ]
    pairs = list(combinations((one for one in near if abs(one.start - result.start) <= NEAR_REACH), 2))
    beside = text[max(scope.start, result.start - BASE_REACH) : min(scope.end, result.end + BASE_REACH)]
    compares, adds, divides = (told.search(beside) is not None for told in (_COMPARED, _ADDED, _DIVIDED))
    if _CHANGE_OF.search(text, max(scope.start, result.start - BASE_REACH), result.start):
        compares, divides = True, False
    told = direction_told(beside)
    if result.value:
        tolerance = 0.5 * 10.0**-result.decimals / abs(result.value)
    else:
        tolerance = 1.0
    for some in (
        [pair for pair in pairs if all(scope.start <= one.start < scope.end for one in pair)],
        pairs,
    ):
        tried = [
            found
            for pair in some
            for found in _results(text, result, pair, told, compares=compares, adds=adds, divides=divides)
        ]
        if 2 * tolerance * len(tried) / SPREAD > MOST_CHANCE:
            return ""
        if written := next((written for value, written in tried if comes_to(value, result)), ""):
            return written
    return ""


def _results(
    text: str,
    result: Figure,
    pair: tuple[Figure, Figure],
    told: int,
    *,
    compares: bool,
    adds: bool,
    divides: bool,
) -> Iterator[tuple[float, str]]:
    """What two figures come to that is of a result's kind, in the direction that is told, and the
    arithmetic.
    """
    larger, smaller = sorted(pair, key=amount_of, reverse=True)
    if divides and smaller.percent == "percent" and larger.percent is None and _alike(larger, result):
        yield amount_of(smaller) * amount_of(larger), f"{smaller.text} * {larger.text}"
    if not _alike(*pair):
        return
    newer = _newer(text, pair)
    turned = newer is not None and told * (1 if newer is larger else -1) < 0
    if _alike(larger, result) or (larger.percent == "percent" and result.percent):
        if compares and not adds and not turned:
            yield amount_of(larger) - amount_of(smaller), f"{larger.text} - {smaller.text}"
        if adds:
            yield amount_of(larger) + amount_of(smaller), f"{pair[0].text} + {pair[1].text}"
    if result.percent != "percent" or larger.percent or amount_of(smaller) <= 0:
        return
    share = amount_of(smaller) / amount_of(larger)
    if divides and _is_whole(text, result, larger):
        yield share, f"{smaller.text} / {larger.text}"
    if compares and told and not turned:
        if told > 0:
            change = 1 / share - 1
            base = smaller
        else:
            change, base = (1 - share, larger)
        yield change, f"({larger.text} - {smaller.text}) / {base.text}"
    if divides and _REST.search(text, max(0, result.start - BASE_REACH), result.end + BASE_REACH):
        yield 1 - share, f"({larger.text} - {smaller.text}) / {larger.text}"


def _newer(text: str, pair: tuple[Figure, Figure]) -> Figure | None:
    """Which of two figures is the later one, by the years beside them or by words such as "from" and "a
    year earlier"; None where neither tells.
    """
    years = [_year_of(text, one) for one in pair]
    if all(years) and years[0] != years[1]:
        return pair[years[0] < years[1]]
    old = [_is_base(text, one) or _EARLIER.match(text, one.end) is not None for one in pair]
    if old[0] != old[1]:
        return pair[old[0]]
    return None


def _year_of(text: str, figure: Figure) -> int:
    """The year right behind a figure, 0 for none."""
    found = _YEAR_BEHIND.match(text, figure.end)
    if found:
        return int(found["year"])
    return 0


def _is_whole(text: str, result: Figure, whole: Figure) -> bool:
    """Whether a figure may be what a share is of: "of total debt" is no debt of another name."""
    named = _OF_WHAT.match(text, result.end)
    if named is None:
        return True
    behind = _CLAUSE_END.split(text[whole.end : whole.end + BASE_REACH])[0]
    said = label_words(named[1])
    around = label_words(f"{text[max(0, whole.start - BASE_REACH) : whole.start]} {behind}")
    return not said or (
        (bool(said & around - _TOTALS) or said <= _TOTALS)
        and (said.isdisjoint(_TOTALS) or not around.isdisjoint(_TOTALS))
    )


def _has(pattern: re.Pattern[str], text: str, scope: Scope) -> bool:
    return pattern.search(text, scope.start, scope.end) is not None


def _near_fraction(text: str, figures: Sequence[Figure], at: int, scope: Scope, sound: Sequence[int]) -> str:
    """What "a little over half", "nearly a quarter" is said of: the last of these figures that is near it, on
    the side that is told, else two neighbours among them of which it is the share or the change."""
    fraction = figures[at].value
    told = _NEARLY.search(text, max(0, figures[at].start - MOVE_REACH), figures[at].start)
    if not 0 < fraction < 1:
        return ""
    near = NEAR_FRACTION if told else VERY_FRACTION
    least = fraction * (1.0 if told and told["over"] else 1 - near)
    most = fraction * (1.0 if told and told["under"] else 1 + near)
    if of := next(
        (
            figures[other].text
            for other in reversed(sound)
            if figures[other].percent and least <= amount_of(figures[other]) <= most
        ),
        "",
    ):
        return of
    direction = direction_told(
        text[max(scope.start, figures[at].start - BASE_REACH) : told.start() if told else figures[at].start]
    )
    for pair in _neighbours(figures, sorted(set(sound), key=lambda place: figures[place].start)):
        larger, smaller = sorted(pair, key=amount_of, reverse=True)
        if amount_of(smaller) <= 0 or larger.percent:
            continue
        share = amount_of(smaller) / amount_of(larger)
        newer = _newer(text, pair)
        value = (1 - share, share, 1 / share - 1)[direction + 1]
        if least <= value <= most and (
            newer is None or not direction or (newer is larger) == (direction > 0)
        ):
            whole = smaller if direction > 0 else larger
            return (
                f"({larger.text} - {smaller.text}) / {whole.text}"
                if direction
                else f"{smaller.text} / {whole.text}"
            )
    return ""


def _part(text: str, figures: Sequence[Figure], at: int, before: Sequence[int], inside: range) -> str:
    """A percentage of a figure right behind it: of a part that was told before, "51% of sales of 94,943",
    or the part itself, "4.2: 42% of the 10".
    """
    result = figures[at]
    following = [figures[other] for other in range(at + 1, min(at + 3, inside.stop))]
    if result.percent == "percent" and following and _OF.search(text, result.end, following[0].start):
        whole = following[0]
        parts = [figures[other] for other in before[-SHARES_REACH:] if _alike(figures[other], whole)]
        of = (
            part
            for part in reversed(parts)
            if amount_of(whole) and comes_to(amount_of(part) / amount_of(whole), result)
        )
        return next((f"{part.text} / {whole.text}" for part in of), "")
    if (
        result.percent is None
        and len(following) == 2
        and following[0].percent == "percent"
        and _alike(following[1], result)
    ):
        rate, whole = following
        if _OF.search(text, rate.end, whole.start) and comes_to(amount_of(rate) * amount_of(whole), result):
            return f"{rate.text} * {whole.text}"
    return ""


def _of_column(text: str, figures: Sequence[Figure], at: int, sound: Mapping[int, bool]) -> str:
    """The share that a cell of a table is of two cells above it, "margin" below income and revenue."""
    result = figures[at]
    place = _cell(text, figures[at])
    if result.percent != "percent" or place is None:
        return ""
    top = text.rfind("\n\n", 0, result.start) + 1
    above = [
        one
        for other in range(max(0, at - FIGURES_REACH), at)
        if sound[other] and (one := figures[other]).start > top and _cell(text, one) == place
    ]
    pairs = (
        (part, whole)
        for part in above
        for whole in above
        if part is not whole and _alike(part, whole) and amount_of(whole)
    )
    return next(
        (
            f"{part.text} / {whole.text}"
            for part, whole in pairs
            if comes_to(amount_of(part) / amount_of(whole), result)
        ),
        "",
    )


def _cell(text: str, figure: Figure) -> int | None:
    """Which cell of its row of a table a figure stands in, None where it stands in none."""
    line = text[text.rfind("\n", 0, figure.start) + 1 : figure.start]
    if line.lstrip().startswith("|"):
        return line.count("|")
    return None


def _of_all(text: str, figures: Sequence[Figure], at: int, inside: range, sound: Mapping[int, bool]) -> str:
    """The sum of all figures of its kind that follow it behind a colon, "120: 80 of bills and 40 of
    bonds".
    """
    following = [
        figures[other]
        for other in inside
        if other > at and sound[other] and _alike(figures[other], figures[at])
    ]
    colon = bool(following) and ":" in text[figures[at].end : following[0].start]
    added = (
        colon and 1 < len(following) <= MOST_ADDED and comes_to(sum(map(amount_of, following)), figures[at])
    )
    if added:
        return " + ".join(one.text for one in following)
    return ""


def _neighbours(figures: Sequence[Figure], operands: Sequence[int]) -> Iterator[tuple[Figure, Figure]]:
    """Each two that follow one another among those of one unit and kind."""
    kinds: list[list[Figure]] = []
    for figure in (figures[at] for at in operands):
        alike = next((some for some in kinds if _alike(some[0], figure)), None)
        kinds.append([figure]) if alike is None else alike.append(figure)
    return (pair for some in kinds for pair in pairwise(some))


def _alike(one: Figure, other: Figure) -> bool:
    return one.percent == other.percent and units_agree(one, other)


def _of_two(
    text: str, scope: Scope, result: Figure, pair: tuple[Figure, Figure], *, compares: bool
) -> Iterator[str]:
    """The arithmetic of two figures that comes to the result, in the words of the sentence. compares: it
    has words that compare.
    """
    first, second = pair
    larger, smaller = sorted(pair, key=amount_of, reverse=True)
    if compares:
        points = first.percent == "percent" and result.percent is not None
        if (points or _alike(first, result)) and comes_to(amount_of(larger) - amount_of(smaller), result):
            newer = _newer(text, pair)
            if newer is None or not _turned(text, scope, result, 1 if newer is larger else -1):
                yield f"{larger.text} - {smaller.text}"
        yield from _change(text, scope, result, pair, stated=False)
    share = result.percent == "percent" and first.percent is None
    number = result.percent is None and result.unit in (None, "x") and result.decimals > 0
    share = share and not _CHANGE_OF.search(text, max(scope.start, result.start - BASE_REACH), result.start)
    divided = (
        (share or number)
        and _DIVIDED.search(text, first.end, second.start) is not None
        and amount_of(second) != 0
    )
    if divided and comes_to(amount_of(first) / amount_of(second), result):
        yield f"{first.text} / {second.text}"


def _change(
    text: str, scope: Scope, result: Figure, pair: tuple[Figure, Figure], *, stated: bool
) -> Iterator[str]:
    """The change that a percentage is, of one of two figures to the other, in the direction that is told.
    stated: only where the sentence says from what, "283 from 259, up 9%"."""
    newer = _newer(text, pair)
    for base, other in (pair, pair[::-1]) if result.percent == "percent" and pair[0].percent is None else ():
        if (
            base is not newer
            and amount_of(base)
            and (_is_base(text, base) if stated else _is_base(text, base) >= _is_base(text, other))
        ):
            change = (amount_of(other) - amount_of(base)) / amount_of(base)
            fits = comes_to(change, result) or comes_to(abs(change), result)
            if fits and not (
                newer is other
                and amount_of(base) > 0
                and _turned(text, scope, result, 1 if change > 0 else -1)
            ):
                yield f"({other.text} - {base.text}) / {base.text}"


def _turned(text: str, scope: Scope, result: Figure, change: int) -> bool:
    """Whether the words beside a result tell a move against the change, 1 up and -1 down: "fell by 22.7%",
    "a 22.7% decrease".
    """
    before = _FIGURE_BETWEEN.split(text[max(scope.start, result.start - MOVE_REACH) : result.start])[-1]
    behind = _FIGURE_BETWEEN.split(text[result.end : min(scope.end, result.end + MOVE_REACH)])[0]
    told = move_told(
        *(tuple(_WORD.findall(words.casefold())) for words in (before, behind))
    ) or direction_told(before)
    return told * change < 0 and result.value >= 0


def _share(text: str, figures: Sequence[Figure], at: int, sound: Sequence[int]) -> str:
    """What a percentage in brackets is of: the figure before it as a share of one of those that stand
    before that, "of the 5.5 million, 3.3 (60%)".
    """
    result = figures[at]
    if result.text.startswith("("):  # the brackets of an aside are no minus
        result = replace(result, value=abs(result.value), start=result.start + 1)
    if (
        result.percent != "percent"
        or sound[-1:] != [at - 1]
        or not _OPENS.fullmatch(text, figures[at - 1].end, result.start)
    ):
        return ""
    part = figures[at - 1]
    wholes = [figures[other] for other in sound[-1 - SHARES_REACH : -1]]
    of = (
        whole
        for whole in reversed(wholes)
        if _alike(whole, part) and amount_of(whole) and comes_to(amount_of(part) / amount_of(whole), result)
    )
    return next((f"{part.text} / {whole.text}" for whole in of), "")


def _mean(figures: Sequence[Figure], at: int, sound: Sequence[int]) -> str:
    """The last of these figures whose mean it is."""
    before = [figures[other] for other in sound if _alike(figures[other], figures[at])]
    for count in range(2, min(len(before), MOST_ADDED) + 1):
        if comes_to(sum(map(amount_of, before[-count:])) / count, figures[at]):
            return f"({' + '.join(figure.text for figure in before[-count:])}) / {count}"
    return ""


def _factor(text: str, figures: Sequence[Figure], at: int, sound: Sequence[int]) -> str:
    """The growth that a factor stands for: the 1.116 in "198.6 / 1.116" for 11.6 percent."""
    result = figures[at]
    if (
        not result.bare
        or result.unit
        or result.decimals < FEWEST_DIGITS
        or not _OPERATED.search(text, max(0, result.start - 3), result.end + 3)
    ):
        return ""
    rates = (
        figures[other] for other in reversed(sound[-SHARES_REACH:]) if figures[other].percent == "percent"
    )
    of = ((rate, sign) for rate in rates for sign in (1, -1) if comes_to(1 + sign * amount_of(rate), result))
    return next((f"1 {'+' if sign > 0 else '-'} {rate.text}" for rate, sign in of), "")


def _is_base(text: str, figure: Figure) -> bool:
    return _BASE.search(text[max(0, figure.start - BASE_REACH) : figure.start]) is not None


def _sum(figures: Sequence[Figure], at: int, sound: Sequence[int]) -> str:
    """The last of these figures that add up to it; "" where none do."""
    before = [figures[other] for other in sound if _alike(figures[other], figures[at])]
    for count in range(2, min(len(before), MOST_ADDED) + 1):
        if comes_to(sum(map(amount_of, before[-count:])), figures[at]):
            return " + ".join(figure.text for figure in before[-count:])
    return ""

"""Figures as sentences state them: the words each one belongs to, its period and version, whether it is a
level or a change; knows no question.

A figure whose words are not beyond doubt is given without any, so that nobody takes it for something else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.answer.derive.qualifiers import bound_of, claims, qualifiers
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import orders_of
from chatbot.records import Hit
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.periods import Period, find_periods
from ingestion.language.terms import terms

__all__ = ["VERSIONS", "StatedFigure", "content", "find_stated"]

# A longer sentence, or one of more figures, is a table or a list that was read as a sentence.
LONGEST_SENTENCE = 600
MOST_FIGURES = 10
# Words of "per cent of gross domestic product".
MOST_BASE = 3
# Which of several figures of one period is meant, as budgets have it.
VERSIONS = {
    "revised": re.compile(r"\b(?i:revised)\b|\bRE\b|\bR\.E\."),
    "budget": re.compile(r"\b(?i:budget(?:ed)?(?: estimates?)?)\b|\bBE\b|\bB\.E\."),
    "actual": re.compile(r"\bactuals?\b|\bout-?turn\b|\bprovisional\b", re.IGNORECASE),
}
# Of a sentence or heading: there "budget" alone names the paper, not the version.
_BUDGETED = re.compile(r"\b(?i:budget(?:ed)? estimates?|budgeted)\b|\bBE\b")
UP, DOWN = 1, -1
# "and cut it by 25": what moved is what the sentence spoke of before.
_IT = re.compile(r"\b(?:it|them)(?: further| again)?\s{1,3}by\s{0,3}\Z", re.IGNORECASE)
_RISES = (
    r"r[io]se[sn]?|rising|increas\w*|gr[eo]w[ns]?|growing|growth|expand\w*|climb\w*|gain\w*|jump\w*|surg\w*"
    r"|higher|up|rais\w+"
)
_FALLS = (
    r"declin\w*|f[ae]lls?|fallen|falling|drop\w*|decreas\w*|reduc\w*|lower\w*|contract\w*|shr[aiu]nk\w*|down"
    r"|cuts?|eased|moderated"
)
# Figures of what might be are figures of nothing that is.
_SUPPOSED = re.compile(
    (
        r"\b(?:would|could|might|if|unless|scenario|assuming|suppose[ds]?|hypothetical|for example"
        r"|for instance)\b|\?"
    ),
    re.IGNORECASE,
)
_MOVES = re.compile(rf"\b(?:(?P<up>{_RISES})|(?P<down>{_FALLS}))\b", re.IGNORECASE)
_HEDGES = (
    r"(?:at least|at most|under|below|above|over|up to|more than|less than|about|around|approximately"
    r"|nearly|almost|some|only|just|roughly"
    r"|a|an|further|another|additional)"
)
_HEDGED = re.compile(rf"(?:\b{_HEDGES}\s{{1,3}}){{1,3}}\Z", re.IGNORECASE)
_LINK = re.compile(
    (
        r"\b(?:is|are|was|were|be|been|being|at|to|by|of|from|reached|reaches|total(?:l?ed|l?ing|s)"
        r"|exceed(?:ed|s)|averaged|worth)\s{0,3}\Z"
    ),
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[;:—,]|\b(?:of which|comprising|including|while|whereas|although|but|compared|against)\b", re.IGNORECASE
)
_TRAIL = re.compile(
    (
        r"\s{0,3}(?:in|for|on|of|to|towards|from|was|were|is|are|has been|have been|had been|will be"
        r"|went)\s{1,3}(?P<rest>[^,;:()]*)"
    ),
    re.IGNORECASE,
)
_RATE = re.compile(
    r"\s{0,3}(?:per|a|an|each)\s(?P<unit>day|week|month|quarter|year|annum|person|capita)\b", re.IGNORECASE
)
_BASE = re.compile(r"\s{0,3}of\s(?P<base>[^,;:.()]{1,60})")
_ASIDE = re.compile(r"\s{0,3}\([^()]{0,80}\)\s{0,3}")
_NO_COMMA = re.compile(r"[^,;:0-9]{0,40}")
_LISTED = re.compile(r"\s{0,3}(?:,\s{0,3}(?:and\s{1,3})?|and\s{1,3})\Z")
_FULL_PHRASE = re.compile(r"\s{0,3}(?:the|that|those|its|their|of|on|in|for)\b", re.IGNORECASE)
# Words between two figures of one thing: "from 5 in 2024 to 6 in 2025", "against 5 a year earlier".
_SAYS_NOTHING = frozenset(
    terms(
        "year years earlier ago previous prior before respectively compared against versus stood level "
        "per cent percent fiscal financial estimate estimates "
        "estimated revised budget budgeted projected expected forecast target actual provisional quarter "
        "month months end period same first second third fourth half"
    )
)


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A figure of a sentence. phrase: the words it belongs to, as written, "" where that is in doubt; trail:
    those that go on after it.

    context: terms of its sentence and heading. periods: of the figure, else of its sentence, else of the
    heading. versions: keys of VERSIONS. moves: UP or DOWN where it is how much something moved, 0 for a
    level. base: of "per cent of …". rate: "month" of "per month". narrowed: see `qualifiers`; bound: see
    `bound_of`. sentence: counted over all pages; key: of its page.
    """

    figure: Figure
    key: str
    text: str
    sentence: int
    phrase: str
    trail: str
    context: frozenset[str]
    periods: tuple[Period, ...]
    versions: frozenset[str]
    moves: int
    base: tuple[str, ...]
    rate: str
    narrowed: frozenset[str] = frozenset()
    bound: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence with its figures. head: heading above."""

    key: str
    text: str
    head: str
    at: int
    figures: Sequence[Figure]
    periods: Sequence[Period]


def content(text: str) -> list[str]:
    """Terms that say what a figure is a figure of: without numbers and what only tells its time."""
    return [term for term in terms(text) if not term[0].isdigit() and term not in _SAYS_NOTHING]


def find_stated(key: str, hit: Hit, *, first: int = 0) -> list[StatedFigure]:
    """The figures of a page's sentences in order. first: the number of the page's first sentence."""
    orders = orders_of(hit)
    found: list[StatedFigure] = []
    for at, (text, head) in enumerate(page_of(hit).whole_sentences):
        whole = text[:1].isupper() or text[:1].isdigit() or text[:1] in "“\"'("
        if (
            not whole
            or len(text) > LONGEST_SENTENCE
            or text in orders
            or _SUPPOSED.search(text)
            or claims(text)
        ):
            continue
        figures = find_figures(text)
        if 0 < len(figures) <= MOST_FIGURES:
            found.extend(_stated(_Place(key, text, head, first + at, figures, find_periods(text))))
    return found


# ---------------------------------------------------------------- what a figure belongs to


def _stated(place: _Place) -> Iterator[StatedFigure]:
    context = frozenset(terms(f"{place.head} {place.text}"))
    before: StatedFigure | None = None
    spoken = ""
    listed = _by_order(place)
    for index, figure in enumerate(place.figures):
        lead = _lead(place, index)
        trail = _trail(place, index)
        phrase = listed.get(index, "")
        inherits = False
        if not phrase:
            phrase, inherits = _phrase(place, index, lead, trail)
        if spoken and _IT.search(_HEDGED.sub("", lead)):
            phrase = spoken
        after = place.text[figure.end :]
        rate = _RATE.match(after)
        if figure.percent:
            base = _BASE.match(_up_to_next(place, index))
        else:
            base = None
        moves = _moves(place, index, lead)
        one = StatedFigure(
            figure,
            place.key,
            place.text,
            place.at,
            phrase,
            trail,
            context,
            _periods(place, index),
            _versions(place, phrase),
            moves,
            tuple(content(base["base"])[:MOST_BASE]) if base else (),
            rate["unit"].lower() if rate else "",
            qualifiers(place.text, place.figures, index),
            bound_of(place.text, figure),
        )
        if (
            inherits
            and before is not None
            and (before.figure.unit, before.figure.scale) == (figure.unit, figure.scale)
        ):
            one = replace(one, phrase=before.phrase, moves=before.moves, base=one.base or before.base)
        elif before is not None and (index - 1 in listed if index in listed else _goes_on(lead, before)):
            one = replace(one, moves=before.moves)
        yield one
        before = one
        spoken = one.phrase or spoken


def _up_to_next(place: _Place, index: int) -> str:
    """What follows a figure, up to the next one."""
    if index + 1 < len(place.figures):
        end = place.figures[index + 1].start
    else:
        end = None
    return place.text[place.figures[index].end : end]


def _goes_on(lead: str, before: StatedFigure) -> bool:
    """Whether "and of bonds by 5" hangs on the verb before: "raise our holdings of bills by 6 and"."""
    return bool(before.moves) and not _MOVES.search(lead) and _HEDGED.sub("", lead).rstrip().endswith(" by")


def _lead(place: _Place, index: int) -> str:
    """The clause before a figure, from the figure before it on."""
    if index:
        start = place.figures[index - 1].end
    else:
        start = 0
    text = place.text[start : place.figures[index].start]
    cuts = [match.end() for match in _CLAUSE.finditer(text)]
    if cuts:
        return text[cuts[-1] :]
    if index:
        joined = text.find(" and ")
    else:
        joined = -1
    if joined >= 0:
        return text[joined + 5 :]
    return text


def _trail(place: _Place, index: int) -> str:
    """What goes on from a figure to the next clause or figure."""
    text = _up_to_next(place, index)
    last = index + 1 == len(place.figures)
    rate = _RATE.match(text)
    match = _TRAIL.match(text, rate.end() if rate else 0)
    if match is None:
        return ""
    rest = match["rest"].rstrip(" .")
    if not last and not match.end() < len(text):
        cut = rest.rfind(" and ")
    else:
        cut = -1
    return (rest[:cut] if cut >= 0 else rest.removesuffix(" and")).strip()


def _phrase(place: _Place, index: int, lead: str, trail: str) -> tuple[str, bool]:
    """(the words that the figure belongs to, whether they are those of the figure before it)."""
    bare = _HEDGED.sub("", lead)
    if bare.split():
        moving = _MOVES.search(bare.split()[-1])
    else:
        moving = None
    links = bool(_LINK.search(bare)) or bool(moving)
    if index and _says_nothing_new(place, index):
        return "", True
    if links and content(bare):
        return _LINK.sub("", bare).strip(), False
    if content(trail):
        return (trail, False)
    return ("", False)


def _says_nothing_new(place: _Place, index: int) -> bool:
    """Whether a figure goes on from the one before it: "from 5 per cent of GDP in 2024 to 4"."""
    between = place.text[place.figures[index - 1].end : place.figures[index].start]
    if place.figures[index - 1].percent:
        base = _BASE.match(between)
    else:
        base = None
    return set(content(between)) <= set(content(base["base"])[:MOST_BASE] if base else ())


def _by_order(place: _Place) -> dict[int, str]:
    """Phrases of figures that are listed after what they are figures of, "respectively"; {} without such a
    list.
    """
    end = place.text.find("respectively")
    indexes = [index for index, figure in enumerate(place.figures) if figure.end <= end]
    if len(indexes) < 2:
        return {}
    first = indexes[-1]
    while first > 0 and _LISTED.fullmatch(
        place.text, place.figures[first - 1].end, place.figures[first].start
    ):
        first -= 1
    count = indexes[-1] - first + 1
    lead = _ASIDE.sub(
        " ",
        _HEDGED.sub(
            "", place.text[place.figures[first - 1].end if first else 0 : place.figures[first].start]
        ),
    )
    # Two things are told apart; of three, commas do not say which part is theirs.
    if count != 2 or lead.count(" and ") != 1:
        return {}
    left, _, right = lead.rpartition(" and ")
    left = left[left.rfind(",") + 1 :]
    if _FULL_PHRASE.match(right) or right[:1].isupper():
        return {first: left.strip(), first + 1: right.strip()}
    shared = " ".join(right.split()[1:])
    own = " ".join(left.split()[:-1])
    return {first: f"{left} {shared}".strip(), first + 1: f"{own} {right}".strip()}


def _moves(place: _Place, index: int, lead: str) -> int:
    """UP or DOWN for "fell by 5", "rose 5 per cent", "growth of 5", "a 5 per cent rise"; 0 for "rose to 5"
    and what does not say.
    """
    bare = _HEDGED.sub("", lead).rstrip()
    figure = place.figures[index]
    if bare:
        last = bare.rsplit(None, 1)[-1].casefold()
    else:
        last = ""
    verbs = list(_MOVES.finditer(bare))
    if verbs and (
        last == "by" or (last == "of" and verbs[-1].end() >= len(bare) - 3) or verbs[-1].end() == len(bare)
    ):
        if verbs[-1]["up"]:
            return UP
        return DOWN
    after = _MOVES.match(place.text[figure.end :].lstrip(" -"))
    if after is None:
        return 0
    if after["up"]:
        return UP
    return DOWN


def _periods(place: _Place, index: int) -> tuple[Period, ...]:
    """The figure's: what follows it at once, else what stands before it and is no other figure's, else
    what follows later; else the heading's.
    """
    periods = place.periods
    figure = place.figures[index]
    after = [period for period in periods if figure.end <= period.start < _next_start(place, index)]
    if after and _at_once(place, figure, after[0]):
        return (after[0],)
    others = place.figures[:index]
    owned = {
        period.start
        for period in periods
        for other in others
        if period.start >= other.end and _at_once(place, other, period)
    }
    before = [period for period in periods if period.end <= figure.start and period.start not in owned]
    if before or after:
        if before:
            return (before[-1],)
        return (after[0],)
    return tuple(find_periods(place.head)[:1])


def _at_once(place: _Place, figure: Figure, period: Period) -> bool:
    return _NO_COMMA.fullmatch(place.text, figure.end, period.start) is not None


def _next_start(place: _Place, index: int) -> int:
    """Where the next figure begins that is not listed together with this one."""
    for one, other in pairwise(place.figures[index:]):
        if not _LISTED.fullmatch(place.text, one.end, other.start):
            return other.start
    return len(place.text)


def _versions(place: _Place, phrase: str) -> frozenset[str]:
    for text in (phrase, place.text, place.head):
        found = frozenset(
            name
            for name, pattern in VERSIONS.items()
            if (_BUDGETED if name == "budget" else pattern).search(text)
        )
        if found:
            return found
    return frozenset()

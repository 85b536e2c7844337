"""Finds the figures of sentences: their words, period and version, and whether each is a level or a change.

A figure whose words are in doubt is given without any, so that nobody takes it for a figure of something
else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.answer.derive.qualifiers import claims, is_bound, qualifiers
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import orders_of
from chatbot.records import Hit
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.periods import Period, find_periods
from ingestion.language.terms import terms

__all__ = ["VERSIONS", "StatedFigure", "content", "find_stated"]

# A longer sentence, or one with more figures, is a table or a list that was read as a sentence.
LONGEST_SENTENCE = 600
MOST_FIGURES = 10
# The most words of a base: "per cent of gross domestic product".
MOST_BASE = 3
# Which of several figures of one period is meant, as budgets have it.
VERSIONS = {
    "revised": re.compile(r"\b(?i:revised)\b|\bRE\b|\bR\.E\."),
    "budget": re.compile(r"\b(?i:budget(?:ed)?(?: estimates?)?)\b|\bBE\b|\bB\.E\."),
    "actual": re.compile(r"\bactuals?\b|\bout-?turn\b|\bprovisional\b", re.IGNORECASE),
}
# For a sentence or heading: there "budget" alone names the paper, not the version.
_BUDGETED = re.compile(r"\b(?i:budget(?:ed)? estimates?|budgeted)\b|\bBE\b")
UP, DOWN = 1, -1
# "And cut it by 25": what moved is what the sentence named before.
_IT = re.compile(r"\b(?:it|them)(?: further| again)?\s{1,3}by\s{0,3}\Z", re.IGNORECASE)
_RISES = (
    r"r[io]se[sn]?|rising|increas\w*|gr[eo]w[ns]?|growing|growth|expand\w*|climb\w*|gain\w*|jump\w*|surg\w*"
    r"|higher|up|rais\w+"
)
_FALLS = (
    r"declin\w*|f[ae]lls?|fallen|falling|drop\w*|decreas\w*|reduc\w*|lower\w*|contract\w*|shr[aiu]nk\w*|down"
    r"|cuts?|eased|moderated"
)
# Sentences with these words are about what might be.
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
# Words that may stand between two figures of one thing: "from 5 in 2024 to 6 in 2025", "against 5 a year
# earlier".
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
    """A figure of a sentence.

    figure: the figure.
    key: citation key of its page.
    text: the sentence.
    sentence: its number, counted over all pages.
    phrase: the words that the figure belongs to, as written, "" where they are in doubt.
    trail: the words that go on after it.
    context: terms of its sentence and heading.
    periods: of the figure, else of its sentence, else of the heading.
    versions: keys of VERSIONS.
    moves: UP or DOWN where it is how much something moved, 0 for a level.
    base: terms of what "per cent of" is followed by.
    rate: "month" of "per month", "" without one.
    narrowed: see `qualifiers`.
    bound: whether it is only the least or most of something.
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
    bound: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence with its figures.

    key: citation key of its page.
    text: the sentence.
    head: the heading above it.
    at: the number of the sentence.
    figures: its figures.
    periods: its periods.
    """

    key: str
    text: str
    head: str
    at: int
    figures: Sequence[Figure]
    periods: Sequence[Period]


def content(text: str) -> list[str]:
    """Terms that say what a figure is of: without numbers and words that only give its time."""
    return [term for term in terms(text) if not term[0].isdigit() and term not in _SAYS_NOTHING]


def find_stated(key: str, hit: Hit, *, first: int = 0) -> list[StatedFigure]:
    """The figures of a page's sentences in order. first: the number of the page's first sentence."""
    orders = orders_of(hit)
    found: list[StatedFigure] = []
    page = page_of(hit)
    for at, (text, head) in enumerate(page.whole_sentences):
        if text in orders or not _is_statement(text):
            continue
        figures = find_figures(text, page.style)
        if any(figure.other is not None for figure in figures):  # its value cannot be told
            continue
        if 0 < len(figures) <= MOST_FIGURES:
            place = _Place(key, text, head, first + at, figures, find_periods(text))
            found.extend(_stated(place))
    return found


def _is_statement(text: str) -> bool:
    """Whether a text is a whole sentence that says what is, not what might be or what somebody claims."""
    begin = text[:1]
    is_whole = begin.isupper() or begin.isdigit() or begin in "“\"'("
    if not is_whole or len(text) > LONGEST_SENTENCE:
        return False
    return not _SUPPOSED.search(text) and not claims(text)


# ---------------------------------------------------------------- what a figure belongs to


def _stated(place: _Place) -> Iterator[StatedFigure]:
    """The figures of a sentence."""
    context = frozenset(terms(f"{place.head} {place.text}"))
    before: StatedFigure | None = None
    spoken = ""
    listed = _by_order(place)
    for index in range(len(place.figures)):
        lead = _lead(place, index)
        trail = _trail(place, index)
        phrase = listed.get(index, "")
        inherits = False
        if not phrase:
            phrase, inherits = _phrase(place, index, lead, trail)
        if spoken and _IT.search(_HEDGED.sub("", lead)):
            phrase = spoken
        found = _figure(place, index, lead, trail, phrase, context)
        if before is not None:
            goes_on = index - 1 in listed if index in listed else _goes_on(lead, before)
            if inherits and _are_alike(before.figure, found.figure):
                base = found.base or before.base
                found = replace(found, phrase=before.phrase, moves=before.moves, base=base)
            elif goes_on:
                found = replace(found, moves=before.moves)
        yield found
        before = found
        spoken = found.phrase or spoken


def _are_alike(left: Figure, right: Figure) -> bool:
    """Whether two figures have the same unit and scale."""
    return left.unit == right.unit and left.scale == right.scale


def _figure(
    place: _Place, index: int, lead: str, trail: str, phrase: str, context: frozenset[str]
) -> StatedFigure:
    """A figure by itself. phrase: the words it belongs to. lead, trail: what stands before and behind it."""
    figure = place.figures[index]
    rate = _RATE.match(place.text[figure.end :])
    return StatedFigure(
        figure=figure,
        key=place.key,
        text=place.text,
        sentence=place.at,
        phrase=phrase,
        trail=trail,
        context=context,
        periods=_periods(place, index),
        versions=_versions(place, phrase),
        moves=_moves(place, index, lead),
        base=_base(figure, _up_to_next(place, index)),
        rate=rate["unit"].lower() if rate else "",
        narrowed=qualifiers(place.text, place.figures, index),
        bound=is_bound(place.text, figure),
    )


def _base(figure: Figure, after: str) -> tuple[str, ...]:
    """Terms of what a percentage is a percentage of; () for any other figure. after: what follows it."""
    base = _BASE.match(after) if figure.percent else None
    return tuple(content(base["base"])[:MOST_BASE]) if base else ()


def _up_to_next(place: _Place, index: int) -> str:
    """What follows a figure, up to the next one."""
    start = place.figures[index].end
    if index + 1 == len(place.figures):
        return place.text[start:]
    return place.text[start : place.figures[index + 1].start]


def _goes_on(lead: str, before: StatedFigure) -> bool:
    """Whether "and of bonds by 5" hangs on the verb before: "raise our holdings of bills by 6 and"."""
    if not before.moves or _MOVES.search(lead):
        return False
    bare = _HEDGED.sub("", lead).rstrip()
    return bare.endswith(" by")


def _lead(place: _Place, index: int) -> str:
    """The clause before a figure, from the figure before it on."""
    text = _between(place, index)
    cuts = [match.end() for match in _CLAUSE.finditer(text)]
    if cuts:
        return text[cuts[-1] :]
    if not index:
        return text
    before, joint, behind = text.partition(" and ")
    return behind if joint else before


def _between(place: _Place, index: int) -> str:
    """What stands between a figure and the one before it, or the beginning of the sentence."""
    start = place.figures[index - 1].end if index else 0
    return place.text[start : place.figures[index].start]


def _trail(place: _Place, index: int) -> str:
    """What goes on from a figure to the next clause or figure."""
    text = _up_to_next(place, index)
    rate = _RATE.match(text)
    match = _TRAIL.match(text, rate.end() if rate else 0)
    if match is None:
        return ""
    rest = match["rest"].rstrip(" .")
    is_last = index + 1 == len(place.figures)
    if not is_last and match.end() == len(text):
        before, joint, _ = rest.rpartition(" and ")
        if joint:
            return before.strip()
    return rest.removesuffix(" and").strip()


def _phrase(place: _Place, index: int, lead: str, trail: str) -> tuple[str, bool]:
    """(the words that the figure belongs to, whether they are those of the figure before it)."""
    if index and _says_nothing_new(place, index):
        return "", True
    bare = _HEDGED.sub("", lead)
    words = bare.split()
    links = _LINK.search(bare) or (words and _MOVES.search(words[-1]))
    if links and content(bare):
        return _LINK.sub("", bare).strip(), False
    if content(trail):
        return trail, False
    return "", False


def _says_nothing_new(place: _Place, index: int) -> bool:
    """Whether a figure goes on from the one before it: "from 5 per cent of GDP in 2024 to 4"."""
    between = _between(place, index)
    base = _base(place.figures[index - 1], between)
    return set(content(between)) <= set(base)


def _by_order(place: _Place) -> dict[int, str]:
    """Phrases of figures that are listed after what they are of, by their index.

    "Debt and deficit are 60 and 3 per cent respectively"; {} without such a list.
    """
    end = place.text.find("respectively")
    count = sum(figure.end <= end for figure in place.figures)
    if count < 2:
        return {}
    last = count - 1
    first = last
    while first > 0 and _are_listed(place, place.figures[first - 1], place.figures[first]):
        first -= 1
    lead = _ASIDE.sub(" ", _HEDGED.sub("", _between(place, first)))
    # Two things are told apart. Of three, commas do not say which part belongs to which.
    if last != first + 1 or lead.count(" and ") != 1:
        return {}
    left, _, right = lead.rpartition(" and ")
    left = left[left.rfind(",") + 1 :]
    if _FULL_PHRASE.match(right) or right[:1].isupper():
        return {first: left.strip(), first + 1: right.strip()}
    shared = " ".join(right.split()[1:])
    own = " ".join(left.split()[:-1])
    return {first: f"{left} {shared}".strip(), first + 1: f"{own} {right}".strip()}


def _are_listed(place: _Place, left: Figure, right: Figure) -> bool:
    """Whether just a comma or "and" stands between two figures."""
    return _LISTED.fullmatch(place.text, left.end, right.start) is not None


def _moves(place: _Place, index: int, lead: str) -> int:
    """UP or DOWN for "fell by 5", "rose 5 per cent", "growth of 5", "a 5 per cent rise".

    0 for "rose to 5" and where nothing is said.
    """
    bare = _HEDGED.sub("", lead).rstrip()
    verbs = list(_MOVES.finditer(bare))
    if verbs and _ends_with(bare, verbs[-1]):
        return _direction(verbs[-1])
    after = place.text[place.figures[index].end :].lstrip(" -")
    noun = _MOVES.match(after)
    return _direction(noun) if noun else 0


def _ends_with(lead: str, verb: re.Match[str]) -> bool:
    """Whether a lead ends with a verb of a move, up to "by" or "of"."""
    if verb.end() == len(lead):
        return True
    last = lead.rsplit(None, 1)[-1].casefold()
    return last == "by" or (last == "of" and verb.end() >= len(lead) - len(" of"))


def _direction(move: re.Match[str]) -> int:
    return UP if move["up"] else DOWN


def _periods(place: _Place, index: int) -> tuple[Period, ...]:
    """The period of a figure, () without one.

    It is the one that follows at once, else the one before it that is no other figure's, else one that
    follows later, else the heading's.
    """
    periods = place.periods
    figure = place.figures[index]
    after = [period for period in periods if figure.end <= period.start < _next_start(place, index)]
    if after and _at_once(place, figure, after[0]):
        return (after[0],)
    earlier = [period for period in periods if period.end <= figure.start]
    before = [period for period in earlier if not _is_of_earlier_figure(place, index, period)]
    if before:
        return (before[-1],)
    if after:
        return (after[0],)
    return tuple(find_periods(place.head)[:1])


def _is_of_earlier_figure(place: _Place, index: int, period: Period) -> bool:
    """Whether a period follows at once on a figure before this one."""
    for other in place.figures[:index]:
        if period.start >= other.end and _at_once(place, other, period):
            return True
    return False


def _at_once(place: _Place, figure: Figure, period: Period) -> bool:
    return _NO_COMMA.fullmatch(place.text, figure.end, period.start) is not None


def _next_start(place: _Place, index: int) -> int:
    """Where the next figure begins that is not listed together with this one."""
    for figure, following in pairwise(place.figures[index:]):
        if not _are_listed(place, figure, following):
            return following.start
    return len(place.text)


def _versions(place: _Place, phrase: str) -> frozenset[str]:
    """The versions that a figure's words name, else its sentence, else the heading."""
    for text in (phrase, place.text, place.head):
        found = set()
        for name, pattern in VERSIONS.items():
            strict = _BUDGETED if name == "budget" else pattern
            if strict.search(text):
                found.add(name)
        if found:
            return frozenset(found)
    return frozenset()

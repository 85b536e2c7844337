"""Reads from a question what is to be worked out: a difference, growth or a share."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.answer.derive.stated_figures import VERSIONS
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.months import MONTH
from ingestion.language.periods import RELATIVE_YEARS, Period, find_periods, without_periods
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.terms import terms

__all__ = ["RequestedOperation", "Slot", "requested_operation"]


@dataclass(frozen=True, slots=True)
class Slot:
    """When a figure is of, and which version: a key of VERSIONS or ""."""

    period: Period | None
    version: str = ""


@dataclass(frozen=True, slots=True)
class RequestedOperation:
    """What is to be worked out.

    kind: "growth" | "change" | "gap" | "share".
    topics: terms of each operand, the minuend or the part first.
    slots: of the operands of growth and change, earlier first; else the one that all are of.
    moves: the operands are rises or falls.
    planned: the operands are forecasts or targets.
    """

    kind: str
    topics: tuple[tuple[str, ...], ...]
    slots: tuple[Slot, ...]
    moves: bool = False
    planned: bool = False

    @property
    def slot(self) -> Slot:
        """The one slot that all operands are of."""
        if self.slots:
            return self.slots[0]
        return Slot(None)


# A longer question asks for more than one sum.
LONGEST_QUESTION = 600
_MOVE = (
    r"(?:rise[sn]?|rose|rising|increased?s?|increase[sd]?|gr[eo]wn?|grows|growth|fall(?:s|en)?|fell"
    r"|drop(?:s|ped)?|declined?s?|decrease[sd]?|change[sd]?"
    r"|go(?:es)? (?:up|down)|went (?:up|down)|gone (?:up|down)|climb(?:s|ed)?|jump(?:s|ed)?|shrink|shrank"
    r"|cut|reduced|raised|lower(?:ed)?)"
)
_PERCENT = r"(?:percent(?:age)?|per cent|%)"
_GROWTH = re.compile(
    rf"{_PERCENT}(?:age)? (?:growth|change|increase|decrease|rise|decline|drop|fall|reduction)\b"
    rf"|\bgrowth (?:rate\b|in (?:percent|per cent|%))"
    rf"|\b(?:by )?(?:what|how many) {_PERCENT}\b.{{0,80}}\b{_MOVE}\b|\b(?:growth|grew|grow|rise|rose"
    rf"|increased?|change|fall|fell|decline|drop)\b.{{0,120}}"
    rf"(?:\bin {_PERCENT}|\({_PERCENT}\)|, {_PERCENT})",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    rf"\bhow much\b.{{0,120}}\b{_MOVE}\b|\b(?:difference|change|increase|decrease|rise|drop|fall"
    rf"|reduction) (?:in|of|between)\b"
    r"|\bhow (?:much|many) (?:more|less|fewer|higher|lower|larger|smaller|bigger|greater)\b|\bhow (?:do"
    r"|does|did) .{1,80}\bcompare\b",
    re.IGNORECASE,
)
_GAP = re.compile(
    r"\b(?:by )?how (?:much|many) (?P<more>more|less|fewer|higher|lower|larger|smaller|bigger|greater"
    r"|faster|further)\b(?P<x>.{3,120}?)\bthan\b(?P<y>.{3,120})"
    r"|\b(?:difference|gap|spread) between\b(?P<x2>.{3,100}?)\band\b(?P<y2>.{3,100})"
    r"|\bby how much\b(?P<x3>.{3,100}?)\b(?:exceed(?:s|ed)?|outstrip(?:s|ped)?)\b(?P<y3>.{3,100})",
    re.IGNORECASE,
)
_SHARE_OF = re.compile(
    rf"\b(?:what|which|how large an?|how big an?)\s(?:\w+ )?(?:share|proportion|fraction|slice|part"
    rf"|{_PERCENT})\s(?:out )?of\b(?P<whole>.{{2,100}}?)"
    r"\b(?:is|are|was|were|goes to|go to|went to|will be|will go to|is for|comes from|came from|consists of"
    r"|does|do|did)\b(?P<part>.{3,100})",
    re.IGNORECASE,
)
_AS_SHARE = re.compile(
    (
        rf"(?P<part>.{{3,120}}?)\bas an? (?:share|proportion|fraction"
        rf"|{_PERCENT})\s(?:share )?of\b(?P<whole>.{{3,100}})"
    ),
    re.IGNORECASE,
)
_SHORT_YEARS = re.compile(
    r"(?<![\d.,/–-])(?<!FY)(?<!FY )(\d\d)[-–/](\d\d)(?![\d.,/–-]?\d|%| ?(?:%|per|year|age|bps))"
)
_YEAR_BEFORE = next(pattern for pattern, step in RELATIVE_YEARS if step < 0)
# "Fiscal" with a year, not with a deficit; then the month of a year.
_YEARS = re.compile(r"\b(?:fiscal|financial) years?\b", re.IGNORECASE)
_MONTHS = re.compile(
    rf"\b(?:(?:by|as of|as at|at|in) )?(?:(?:the )?(?:end|mid|early|late)[ -](?:of )?)?{MONTH}(?![a-z])"
)
_SHORT_VERSION = re.compile(r"\b(?:RE|BE)\b")
_PLANNED = re.compile(
    r"\b(?:target|forecast|project(?:ed|ion)|expect(?:ed|ation)|plan(?:ned)?)s?\b", re.IGNORECASE
)
# "How much did growth change" asks for the change of a change.
_GROWTH_MOVED = re.compile(
    r"\bgrowth\b.{0,80}\b(?:change[sd]?|differ\w*|r[io]se|rising|f[ae]ll|fell|drop\w*|declin\w*|slow\w*"
    r"|accelerat\w*|compare)\b"
    r"|\b(?:change|difference|rise|fall|drop|decline|increase|decrease) (?:in|of"
    r"|between) (?:\w+ ){0,5}growth\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:than|compared?|against|versus|vs|and|to|from|over|with|relative)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Papers call these "mortgage-backed securities". Other bonds and securities are different things.
_MORTGAGE_BONDS = re.compile(r"\bmortgage bonds?\b", re.IGNORECASE)
_MOVE_WORD = re.compile(rf"\b{_MOVE}\b", re.IGNORECASE)
# Words that ask, compare or go with any figure, and so do not say what a figure is of.
_ASKING = frozenset(
    """
        compare compared comparison comparing versus vs against relative difference change rise rises rose
        risen rising increase increases increased grow grows grew grown growth fall falls fell fallen drop
        drops dropped decline declined decrease decreased up down go goes went gone climb jump percent
        percentage per cent point points basis bps higher lower larger smaller bigger greater fewer less
        faster further gap spread amount figure number level value estimate estimates estimated estimation
        revised budget budgeted actual outturn provisional year years previous prior last preceding
        earlier ago before period share proportion fraction slice part combined together altogether sum
        add plus target forecast range right come came put taken answer calculate compute work exactly
        approximately roughly month monthly annually annual projected expected planned set same two three
        respectively
    """.split()
).union(CURRENCY_TERMS)
# Words by which a question about a share or total says what is done with money.
_DOING = frozenset(
    """
        spend spends spent spending allocate allocated allocation provide provided receive received get
        gets raise raised buy buying bought disburse disbursed paid pays money go goes give given set
        aside earmarked devoted dedicated meant government authorities worth make makes made up total add
        used drawn utilised utilized released committed invested delivered actually
    """.split()
).union(SCALE_TERMS, CURRENCY_TERMS)


def requested_operation(question: str) -> RequestedOperation | None:
    """What the question asks to be worked out, None where nothing."""
    if len(question) > LONGEST_QUESTION:
        return None
    full_years = _SHORT_YEARS.sub(_full_years, question)
    text = _MORTGAGE_BONDS.sub("mortgage securities", full_years)
    slots = _slots(text)
    for read in (_share, _two_times, _gap):
        found = read(text, slots)
        if found is None or not all(found.topics):
            continue
        planned = _PLANNED.search(text) is not None
        return replace(found, planned=planned)
    return None


def _full_years(match: re.Match[str]) -> str:
    """2024-25 for 24-25."""
    first = int(match[1])
    last = int(match[2])
    if last == first + 1:
        return f"20{match[0]}"
    return match[0]


def _topic(text: str, beside: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Terms that say what a figure is of. beside: further words that do not."""
    ignored = _ASKING | beside
    topic: list[str] = []
    for word in _WORD.findall(text):
        if word.casefold() not in ignored:
            topic += terms(word)
    return tuple(dict.fromkeys(topic))


def _item(text: str) -> tuple[str, ...]:
    """The topic of a part or a summand, without what is done with the money, unless there is nothing else."""
    return _topic(text, _DOING) or _topic(text)


def _slots(text: str) -> tuple[Slot, ...]:
    """The periods of a question, each with the version named nearest to it; the year before counts as one."""
    periods = find_periods(text)
    if len(periods) == 1:
        before = _YEAR_BEFORE.search(text)
        if before:
            periods.append(_year_before(periods[0], before))
    if not periods:
        return ()
    versions: dict[int, str] = {}
    for name, pattern in VERSIONS.items():
        for match in pattern.finditer(text):
            nearest = _nearest_period(text, match.start(), periods)
            versions.setdefault(nearest, name)
    return tuple(Slot(period, versions.get(at, "")) for at, period in enumerate(periods))


def _year_before(period: Period, match: re.Match[str]) -> Period:
    """The period a year before another, as a text names it."""
    first, last = period.start_year - 1, period.end_year - 1
    start, end = match.span()
    return replace(period, text=match[0], start=start, end=end, start_year=first, end_year=last)


def _nearest_period(text: str, position: int, periods: Sequence[Period]) -> int:
    """The index of the period that a version is of.

    Between two periods it is the one on the version's side of "than" or "to". position: of the version.
    """
    later = bisect_left([period.start for period in periods], position)
    if not 0 < later < len(periods):
        return min(later, len(periods) - 1)
    parted = _AGAINST.search(text, periods[later - 1].end, position)
    return later if parted else later - 1


def _two_times(text: str, slots: tuple[Slot, ...]) -> RequestedOperation | None:
    if len(slots) != 2 or _GROWTH_MOVED.search(text):
        return None
    if _GROWTH.search(text):
        kind = "growth"
    elif _CHANGE.search(text):
        kind = "change"
    else:
        return None
    first, last = sorted(slots, key=_begin)
    if _span(first) == _span(last):
        return None
    topic = _topic(_without_periods(text))
    return RequestedOperation(kind, (topic,), (first, last))


def _begin(slot: Slot) -> tuple[int, str]:
    """What puts slots in order of time."""
    period = slot.period
    return (period.start_year, period.text) if period else (0, "")


def _span(slot: Slot) -> tuple[int, int, str]:
    """What slots of the same time have in common."""
    period = slot.period
    if period is None:
        return (0, 0, "")
    part = period.text if period.is_part else ""
    return (period.start_year, period.end_year, part)


def _are_of_several_times(slots: tuple[Slot, ...]) -> bool:
    return len({_span(slot) for slot in slots}) > 1


def _without_periods(text: str) -> str:
    """A question without what says when or which version."""
    for pattern in (_YEAR_BEFORE, _YEARS, _MONTHS, _SHORT_VERSION):
        text = pattern.sub(" ", text)
    return without_periods(text)


def _gap(text: str, slots: tuple[Slot, ...]) -> RequestedOperation | None:
    match = _GAP.search(text)
    if match is None or len(slots) > 1:
        return None
    left = match["x"] or match["x2"] or match["x3"]
    right = match["y"] or match["y2"] or match["y3"]
    moves = bool(match["x"]) and _MOVE_WORD.search(f"{left} {right}") is not None
    topics = _topic(_without_periods(left)), _topic(_without_periods(right))
    return RequestedOperation("gap", topics, slots[:1], moves=moves)


def _share(text: str, slots: tuple[Slot, ...]) -> RequestedOperation | None:
    match = _SHARE_OF.search(text) or _AS_SHARE.search(text)
    if match is None or _are_of_several_times(slots):
        return None
    part = _item(_without_periods(match["part"]))
    whole = _item(_without_periods(match["whole"])) or ("total",)
    return RequestedOperation("share", (part, whole), slots[:1])

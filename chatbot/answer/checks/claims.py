"""Collects what an answer says of each of its figures: the words near it, its period, its row of cells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.evidence.figure_names import Mention, label_words, orders_in, period_beside, periods_in
from chatbot.evidence.page_figures import Placed, words_around
from chatbot.evidence.word_runs import comparable_words
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.numbers import Figure, ScaleMark, scale_marks
from ingestion.language.opposites import MOVES
from ingestion.language.periods import Period, find_periods

__all__ = ["Claim", "Scope", "Spoken"]

ROUNDING_REACH = 25  # characters before a figure in which "about" speaks of it
CLAUSE_REACH = 400  # characters on each side of a figure that can be its clause
SENSE_REACH = 200  # characters around a figure in which "purchases" or "deficit" speaks of it
# A figure of this scale or more, with so many digits or more, is taken for rounded.
THOUSAND, FEWEST_DIGITS = 1e3, 2
PER_CENT = 100
# A smaller bare whole number may be part of a name, "Level 3", and does not separate the words of other
# figures.
AMOUNT = 100
MOST_SAID = 4_000  # characters of answer and question in which a bare "it was 5" finds its words
LONGEST_PERIOD_GAP = 40  # characters between a period and the figure it goes with

_ROUNDED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|over|more than"
    r"|less than|under|close to|rounded(?: to)?|~|≈)"
    r"\W{0,3}\Z",
    re.IGNORECASE,
)
_ROUNDED_BEHIND = re.compile(r"\W{0,3}(?:or so|rounded)")
# Words that carry the minus of a cell in brackets: "purchases of equipment (1,577)" is a purchase of 1,577
_OUTFLOW = re.compile(
    r"decreas|declin|\bslip|\bslid|\bdip|\bsank|\bsink|\btumbl|\bplung|\bfell\b|\bfall|drop|reduc|lower"
    r"|loss|deficit|outflow|\bused\b|\bpa(?:id|ys?|ying)\b|pay(?:ment|out)|purchas|spen[dt]|expenditure"
    r"|\bcapex\b|expens|\bcosts?\b|charge|shrank|shr[iu]nk|contract|negative|\bcut\b|write|impair|dividend"
    r"|\bless\b|deduct|short|allowance|depreciation"
    r"|amorti[sz]|acqui|treasury stock|provision|\boff\b|\bdown\b|slump|\blo(?:st|ses?)\b|unfavou?rabl"
    r"|adverse|weigh|erod|wiped|drag|worse",
    re.IGNORECASE,
)
# "5 million of rents out of 9".
_BEHIND = re.compile(
    r"\s(?:of|in|for)\s((?:(?!out of)[^,;.()\d]){1,60}?)(?=\s(?:out of|from|and|to|over|on)\b|[,;.()\d]|\Z)"
)
# "5 million of rents out of 9": the rents do not belong to the 9.
_PART = re.compile(r"\s(?:of|in|for)\s[^,;.()\d]{1,60}?(?=\sout of\b)")
_OF_WHOLE = re.compile(r"\s(?:out )?of (?:about |around |roughly |some )?")
# "4.1% below the baseline".
_BELOW = re.compile(r"\W{0,3}(?:below|under|down|smaller|short of)\b", re.IGNORECASE)
# "rose by about 4%", which no fall elsewhere in the sentence turns around.
_RISING = re.compile(
    (
        rf"\b(?:{'|'.join(sorted(MOVES[0]))})\b(?:\s(?:by|about|around|roughly|nearly|some|another"
        rf"|an?))*\W{{1,3}}\Z"
    ),
    re.IGNORECASE,
)
# "provided by (used in)", "income (loss)", "(gain) loss": a label for both directions says nothing of the
# sign.
_TWO_WAY = re.compile(
    (
        r"\((?:gains?|incomes?|increases?|benefits?|profits?|surplus)\)\s{1,3}[a-z]{1,20}|\([^()0-9]{1,40}\)"
        r"|(?:/|\bor )(?:loss(?:es)?|deficits?|decreases?)\b"
    ),
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"[\s(,]{0,3}(?:(?:in|for|of|during|by|at|on|over|as|the|year|end|ended|fiscal"
    r"|[A-Z]{1,3})[\s(-]{1,3}){0,4}"
)
_JUST_BEFORE = re.compile(
    r"[\s:,)=-]{0,3}(?:(?:was|were|is|are|at|to|of|stood|came|amounted|totall?ed|reached)[\s:]{1,2}){0,3}"
)
# "142 million a year earlier": belongs to no period that the sentence names. In "10 in 2018 against 12 a year
# earlier" that holds for the last figure alone.
_EARLIER = re.compile(
    (
        r"(?:[^\W\d]|[\s%]){0,20}?\s(?:(?:an?|one|the)\s(?:year|quarter|month|decade)\s(?:earlier|later|ago"
        r"|before|prior)|the\s(?:year|quarter)\sbefore)\b"
    ),
    re.IGNORECASE,
)
_BASE = re.compile(
    r"\bfrom\s(?:(?:a|an|about|around|nearly|roughly|some|approximately)\s)?\W{0,3}\Z", re.IGNORECASE
)
_CHAINED = re.compile(
    r"[\s,(]{0,3}(?:(?:to|or|by|from|at|i\.e\.|about|around|roughly|nearly)[\s(]{1,3}){0,3}"
)
_CLAUSE_END = re.compile(r"[,;:]\s|\s(?:and|but|while|with)\s")
# What follows is compared with what stands before.
_AGAINST = re.compile(
    r"\b(?:against|versus|vs\.?|compared (?:with|to)|than|up from|down from)\b", re.IGNORECASE
)
# A sentence that goes on about the subject of the sentence before.
_GOES_ON = re.compile(r"\W{0,5}(?:it|its|this|that|they|their|these|those|she|he|both|such)\b", re.IGNORECASE)
PRONOUN_REACH = 300  # characters before such a sentence that name its subject
_READ_OUT = re.compile(r"(?:[(;]\s?)((?:[^();:]|\([^()]*\)){1,120}): ?\Z")
HEAD_REACH = 130  # characters before a figure in which its head is read out
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
# Words that tie what stands before a figure to it.
_TIES = re.compile(r"\b(?:of|at|was|were|is|are|totall?ed|reached)\Z", re.IGNORECASE)
_ITEM = re.compile(r"[;(\n]|: ")
_CLOSED = re.compile(r"\(([^()]*+)\)")
_CELLS_BETWEEN = re.compile(rf"[\s{DRAWN_SIGNS}|,;()%*–—-]{{0,12}}")
NO_MENTION = Mention(())


@dataclass(frozen=True, slots=True)
class Scope:
    """The sentence a figure stands in, as offsets, and the prompt's keys that are cited for it."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim(Placed):
    """A figure of the answer.

    rounded: the answer calls it rounded, or its scale implies it.
    outflow: its sentence carries the minus in words.
    lead: the words before it, beyond its sentence too.
    goes_on: the words after it, beyond its sentence too.
    paragraph: its paragraph, whitespace collapsed.
    mention: what the answer says it is.
    """

    rounded: bool
    outflow: bool
    lead: tuple[str, ...] = ()
    goes_on: tuple[str, ...] = ()
    paragraph: str = ""
    mention: Mention = NO_MENTION


def _is_short(figure: Figure) -> bool:
    """Whether a figure has a scale, or is a whole percentage, and has two digits or more, "4.18 billion",
    "22%": every reader takes it for rounded.
    """
    whole_percentage = figure.percent == "percent" and figure.decimals == 0
    if figure.scale < THOUSAND and not whole_percentage:
        return False
    return sum(map(str.isdigit, figure.text)) >= FEWEST_DIGITS


def _is_fraction(figure: Figure) -> bool:
    """Whether a figure is a fraction in words, "a quarter", which a page may print as 25 per cent."""
    return 0 < figure.value < 1 and not any(map(str.isdigit, figure.text))


def _digits(figure: Figure) -> str:
    """The digits of a figure as written, without sign, point or commas."""
    return re.sub("[^0-9]", "", figure.text)


class Spoken:
    """An answer with its figures, read once. text: with its citation keys blanked out. question: as asked."""

    def __init__(self, text: str, figures: Sequence[Figure], question: str) -> None:
        self._text = text
        self._figures = figures
        self._question = question
        self._words = comparable_words(text)
        self._starts = [figure.start for figure in figures]
        self._outflows = [found.start() for found in _OUTFLOW.finditer(text)]
        self._mark = _first_mark(text, question)
        self._asked_periods = periods_in(question)
        self._asked = label_words(question[:MOST_SAID])
        self._years = _years_of((*periods_in(text[:MOST_SAID]), *self._asked_periods))
        self._all_words = label_words(f"{text[:MOST_SAID]} {question[:MOST_SAID]}")
        self._paragraphs: dict[int, str] = {}
        self._heads: dict[int, list[tuple[Period, ...]]] = {}
        self._sentences: dict[tuple[int, int], _ClaimSentence] = {}

    def claim(self, index: int, scope: Scope) -> Claim:
        """What is said of the figure at a position of the list."""
        figure = self._figures[index]
        words = self._words
        first = bisect_left(words.starts, scope.start)
        last = bisect_left(words.starts, scope.end)
        before, after = words_around(words, figure, first, last)
        lead, goes_on = words_around(words, figure, 0, len(words.texts))
        return Claim(
            figure,
            self._readings(figure),
            before,
            after,
            self._rounded(figure, scope),
            self._outflow(figure, scope),
            lead,
            goes_on,
            self._paragraph(figure),
            self._mention(index, scope),
        )

    def _mention(self, index: int, scope: Scope) -> Mention:
        """What the answer says the figure is."""
        text = self._text
        figure = self._figures[index]
        sentence = self._sentence(scope)
        run, place = sentence.run(index)
        periods = sentence.periods_of(index)
        headed = self._periods_of_head(figure)
        if headed:
            periods = headed
            run = run[place : place + 1]
            place = 0
        own = bool(periods)
        reach = max(scope.start, figure.start - ROUNDING_REACH)
        base = _BASE.search(text, reach, figure.start) is not None
        if not own and not base and len(run) == 1 and not sentence.is_of_another_time(index):
            periods = self._asked_periods
        nearby = (*sentence.nearby(index), self._all_words)
        beside = period_beside(text, figure)
        named = tuple(sentence.periods)
        head = _head_before(text, figure)
        order = sentence.order(index)
        behind = _words_behind(text, figure, scope)
        return Mention(
            nearby,
            periods,
            own,
            run,
            place,
            beside,
            named,
            head,
            order,
            sentence.figures,
            behind,
            sentence.lead(index),
            self._asked,
            base,
            self._years,
        )

    def _sentence(self, scope: Scope) -> _ClaimSentence:
        """The sentence of a scope, read once."""
        span = (scope.start, scope.end)
        if span not in self._sentences:
            self._sentences[span] = _ClaimSentence(self._text, scope, self._figures, self._starts)
        return self._sentences[span]

    def _readings(self, figure: Figure) -> tuple[Figure, ...]:
        """The figure as it may be meant: as written, without the minus of an aside, under the scale that the
        answer or question states, and as a percentage where it is a fraction in words.
        """
        readings = [*self._directions(figure)]
        mark = self._mark
        if mark and figure.bare:
            readings.append(replace(figure, scale=mark.scale, unit=figure.unit or mark.unit))
        if _is_fraction(figure):
            value = figure.value * PER_CENT
            readings.append(replace(figure, value=value, unit="%", percent="percent"))
        return tuple(readings)

    def _periods_of_head(self, figure: Figure) -> tuple[Period, ...]:
        """The periods that the head of a figure's column names, where it stands in a row of a table."""
        text = self._text
        row = text.rfind("\n", 0, figure.start) + 1
        if not text.startswith("|", row):
            return ()
        top = self._top_row(row)
        if top == row:
            return ()
        if top not in self._heads:
            heads = text[top : text.find("\n", top)].split("|")
            self._heads[top] = [periods_in(head) for head in heads]
        cell = text.count("|", row, figure.start)
        if cell < len(self._heads[top]):
            return self._heads[top][cell]
        return ()

    def _top_row(self, row: int) -> int:
        """Where the first row of a table begins; row: where one of its rows does."""
        top = row
        while top:
            above = self._text.rfind("\n", 0, top - 1) + 1
            if not self._text.startswith("|", above):
                break
            top = above
        return top

    def _directions(self, figure: Figure) -> tuple[Figure, ...]:
        """The figure, and where its brackets may be those of an aside, "59,530 abstentions (0.13%)", also
        without their minus.
        """
        in_brackets = figure.text.startswith("(") and figure.text.endswith(")")
        if not in_brackets or figure.value >= 0:
            return (figure,)
        reach = max(0, figure.start - 2)
        ahead = self._text[reach : figure.start].rstrip()
        if ahead[-1:].isalpha():
            return (figure, replace(figure, value=-figure.value))
        return (figure,)

    def _paragraph(self, figure: Figure) -> str:
        """The text around a figure up to the next blank lines, whitespace collapsed."""
        start = self._text.rfind("\n\n", 0, figure.start) + 1
        if start not in self._paragraphs:
            end = self._text.find("\n\n", figure.end)
            if end < 0:
                end = len(self._text)
            words = self._text[start:end].split()
            self._paragraphs[start] = " ".join(words)
        return self._paragraphs[start]

    def _rounded(self, figure: Figure, scope: Scope) -> bool:
        reach = max(scope.start, figure.start - ROUNDING_REACH)
        before = self._text[reach : figure.start]
        if _is_short(figure) or _ROUNDED.search(before):
            return True
        after = self._text[figure.end : figure.end + ROUNDING_REACH]
        return _ROUNDED_BEHIND.match(after) is not None

    def _outflow(self, figure: Figure, scope: Scope) -> bool:
        if figure.value <= 0:
            return False
        if _BELOW.match(self._text, figure.end):
            return True
        reach = max(scope.start, figure.start - ROUNDING_REACH)
        if _RISING.search(self._text, reach, figure.start):
            return False
        start = max(scope.start, figure.start - SENSE_REACH)
        end = min(scope.end, figure.end + SENSE_REACH)
        nearest = bisect_left(self._outflows, start)
        if nearest == len(self._outflows) or self._outflows[nearest] >= end:
            return False
        around = _TWO_WAY.sub(" ", self._text[start:end])
        return _OUTFLOW.search(around) is not None


def _years_of(periods: Sequence[Period]) -> frozenset[int]:
    """The years in which periods begin and end."""
    starts = [period.start_year for period in periods]
    ends = [period.end_year for period in periods]
    return frozenset((*starts, *ends))


def _first_mark(text: str, question: str) -> ScaleMark | None:
    """The first mark of a scale in answer or question, None where neither has one."""
    for source in (text, question):
        for mark in scale_marks(source):
            if mark.scale > 1:
                return mark
    return None


def _head_before(text: str, figure: Figure) -> str:
    """The head that a cell is read out under, "" where there is none."""
    reach = max(0, figure.start - HEAD_REACH)
    found = _READ_OUT.search(text[reach : figure.start])
    if found:
        return " ".join(found[1].split())
    return ""


def _words_behind(text: str, figure: Figure, scope: Scope) -> frozenset[str]:
    """Label words that follow a figure in its sentence, "5 million of rents"."""
    found = _BEHIND.match(text, figure.end, scope.end)
    if found:
        return label_words(found[1])
    return frozenset()


class _ClaimSentence:
    """One sentence of an answer with the figures in it, given by their positions in the answer."""

    def __init__(self, text: str, scope: Scope, figures: Sequence[Figure], starts: Sequence[int]) -> None:
        self._source = text
        self._scope = scope
        self._first = bisect_left(starts, scope.start)
        self._last = bisect_left(starts, scope.end)
        self._figures = figures
        inside = figures[self._first : self._last]
        self.figures = frozenset(map(_digits, inside))
        self._by_order = _RESPECTIVELY.search(text, scope.start, scope.end) is not None
        sentence = text[scope.start : scope.end]
        self._words = label_words(_with_subject(text, scope))
        self.periods = [_moved(period, scope.start) for period in find_periods(sentence)]
        self._runs = self._all_runs()
        self._orders = orders_in(sentence, [figure.start - scope.start for figure in inside])
        self._run_digits: dict[int, tuple[str, ...]] = {}
        positions = range(self._first, self._last)
        self._amounts = [index for index in positions if self._is_amount(index)]

    def order(self, index: int) -> str:
        """The ordinal that goes with a figure, "" for none."""
        if self._orders:
            return self._orders[index - self._first]
        return ""

    def run(self, index: int) -> tuple[tuple[str, ...], int]:
        """The digits of the figures that follow one another like cells around a figure, and its place among
        them.
        """
        start, end = self._run_of(index)
        if start not in self._run_digits:
            self._run_digits[start] = tuple(map(_digits, self._figures[start:end]))
        return self._run_digits[start], index - start

    def nearby(self, index: int) -> tuple[frozenset[str], ...]:
        """Label words of what stands between the amounts around a figure, after its last colon first; then
        those of the sentence. Empty for a whole, the 9 of "5 million of 9", as the words around it belong to
        the part.
        """
        start, end = self._run_of(index)
        if self._is_whole(start):
            return ()
        begin = self._figures[start].start
        stop = self._figures[end - 1].end
        after = self._amount_from(end)
        right = self._scope.end if after is None else self._figures[after].start
        lead = self._source[self._lead_start(start) : begin].rstrip()
        trail = self._source[stop : min(right, stop + CLAUSE_REACH)]
        around = label_words(f"{lead} {trail}")
        if lead.endswith((":", "=")):  # "Wages: 5; Rents: 6"
            item = _ITEM.split(_CLOSED.sub(r" \1 ", lead))[-1]
            return label_words(item), around, self._words
        nearer = []
        colon = lead.rfind(":")
        if colon >= 0:
            nearer.append(label_words(lead[colon + 1 :]))
        clause = _CLAUSE_END.split(trail)[0]
        own_clause = _AGAINST.split(clause)[0]
        words = label_words(f"{lead} {own_clause}")
        if words and words != around:
            nearer.append(words)
        # "paper of 5 plus debt of 6": what stands between is said of the other.
        if after is not None and _TIES.search(lead) and _TIES.search(trail.rstrip()):
            nearer.append(label_words(lead))
        return (*nearer, around, self._words)

    def _run_of(self, index: int) -> tuple[int, int]:
        """The first position of a figure's run, and the position behind its last."""
        return self._runs.get(index, (index, index + 1))

    def _is_whole(self, index: int) -> bool:
        """Whether a figure follows another of the sentence as its whole, "5 million of 9"."""
        if index <= self._first:
            return False
        between = (self._figures[index - 1].end, self._figures[index].start)
        return _OF_WHOLE.fullmatch(self._source, *between) is not None

    def _lead_start(self, index: int) -> int:
        """Where the words before a figure begin that belong to it."""
        begin = self._figures[index].start
        earliest = begin - CLAUSE_REACH
        before = self._amount_before(index)
        left = self._end_of(before)
        if before is not None:
            part = _PART.match(self._source, left, begin)
            if part:
                left = part.end()
        left = max(left, earliest)
        # "rose 15% to 9": the 9 is of the same thing as the 15%.
        while before is not None and _CHAINED.fullmatch(self._source, left, begin):
            before = self._amount_before(before)
            left = max(self._end_of(before), earliest)
        return left

    def _amount_before(self, index: int) -> int | None:
        """The last amount of the sentence before a position, None where there is none."""
        count = bisect_left(self._amounts, index)
        return self._amounts[count - 1] if count else None

    def _amount_from(self, index: int) -> int | None:
        """The first amount of the sentence from a position on, None where there is none."""
        count = bisect_left(self._amounts, index)
        return self._amounts[count] if count < len(self._amounts) else None

    def _end_of(self, amount: int | None) -> int:
        """Where an amount ends; where the sentence begins for None."""
        if amount is None:
            return self._scope.start
        return self._figures[amount].end

    def periods_of(self, index: int) -> tuple[Period, ...]:
        """The period that goes with the figure; all of the sentence where it does not say which, none for
        "a year earlier".
        """
        if self.is_of_another_time(index):
            return ()
        distinct = {(period.start_year, period.end_year, period.kind, period.text) for period in self.periods}
        if len(distinct) <= 1:
            if self._is_of_what_is_compared(index):
                return ()
            return tuple(self.periods[:1])
        if self._by_order:
            return self._period_by_order(index)
        figure = self._figures[index]
        tied = period_beside(self._source, figure)
        if tied:
            return tied
        adjoining = self._adjoining_period(figure)
        if adjoining is None:
            return tuple(self.periods)
        return (adjoining,)

    def _period_by_order(self, index: int) -> tuple[Period, ...]:
        """The period that goes with a figure by its turn, "5 and 6 in 2022 and 2023 respectively"; all of the
        sentence where the counts do not fit.
        """
        figures = self._figures
        following = [period for period in self.periods if period.start > figures[index].end]
        if not following:
            return tuple(self.periods)
        first = following[0].start
        amounts = [other for other in self._amounts if figures[other].end < first]
        if index not in amounts or len(amounts) % len(following) != 0:
            return tuple(self.periods)
        turn = amounts.index(index) % len(following)
        return (following[turn],)

    def _adjoining_period(self, figure: Figure) -> Period | None:
        """The period that stands right behind a figure, or else right before it; None for neither."""
        following = (
            period for period in self.periods if 0 <= period.start - figure.end <= LONGEST_PERIOD_GAP
        )
        after = next(following, None)
        if after is not None and _AT_ONCE.fullmatch(self._source, figure.end, after.start):
            return after
        preceding = (
            period
            for period in reversed(self.periods)
            if 0 <= figure.start - period.end <= LONGEST_PERIOD_GAP
        )
        before = next(preceding, None)
        if before is not None and _JUST_BEFORE.fullmatch(self._source, before.end, figure.start):
            return before
        return None

    def is_of_another_time(self, index: int) -> bool:
        """Whether the figure is of "a year earlier", or is where a move began, with no period of its own:
        "in 2024 it fell from 5 to 4".
        """
        figure = self._figures[index]
        if _EARLIER.match(self._source, figure.end, self._scope.end):
            return True
        reach = max(self._scope.start, figure.start - ROUNDING_REACH)
        if not _BASE.search(self._source, reach, figure.start):
            return False
        distinct = {(period.start_year, period.end_year, period.kind) for period in self.periods}
        return len(distinct) <= 1 and not period_beside(self._source, figure)

    def _is_of_what_is_compared(self, index: int) -> bool:
        """Whether the sentence's only period goes with what a figure is compared with: "was 5, against 4
        in 2015".
        """
        if not self.periods:
            return False
        figure = self._figures[index]
        period = self.periods[0].start
        compared = _AGAINST.search(self._source, figure.end, max(figure.end, period))
        if compared is None:
            return False
        following = self._figures[index + 1 : self._last]
        return any(compared.end() <= other.start < period for other in following)

    def lead(self, index: int) -> frozenset[str]:
        """Label words of its clause between the amount before a figure and it."""
        begin = self._figures[index].start
        left = self._end_of(self._amount_before(index))
        lead = self._source[max(left, begin - CLAUSE_REACH) : begin]
        return label_words(_CLAUSE_END.split(lead)[-1])

    def _all_runs(self) -> dict[int, tuple[int, int]]:
        """Position of each figure -> the first position, and that behind the last, of the figures that follow
        one another like cells around it.
        """
        inside = range(self._first, self._last)
        starts = [index for index in inside if not self._follows_like_cell(index)]
        runs: dict[int, tuple[int, int]] = {}
        for start, end in pairwise([*starts, self._last]):
            runs.update(dict.fromkeys(range(start, end), (start, end)))
        return runs

    def _follows_like_cell(self, index: int) -> bool:
        """Whether a figure follows another of the sentence as a cell of a row does."""
        if index == self._first:
            return False
        between = (self._figures[index - 1].end, self._figures[index].start)
        return _CELLS_BETWEEN.fullmatch(self._source, *between) is not None

    def _is_amount(self, index: int) -> bool:
        figure = self._figures[index]
        if not figure.bare or figure.unit is not None:
            return True
        return figure.decimals > 0 or abs(figure.value) >= AMOUNT


def _moved(period: Period, by: int) -> Period:
    """A period with offsets moved by so many characters."""
    return replace(period, start=period.start + by, end=period.end + by)


def _with_subject(text: str, scope: Scope) -> str:
    """A sentence; with the text before it in its paragraph where it goes on about the same subject."""
    sentence = text[scope.start : scope.end]
    if not _GOES_ON.match(text, scope.start):
        return sentence
    paragraph = text.rfind("\n\n", 0, scope.start) + 1
    before = text[max(paragraph, scope.start - PRONOUN_REACH, 0) : scope.start]
    return f"{before} {sentence}"

"""Knows what an answer says of each of its figures: the words near it, its period, the row of cells it is
read out in; knows no page.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.evidence.figure_names import Mention, label_words, orders_in, period_beside, periods_in
from chatbot.evidence.page_figures import Placed, words_around
from chatbot.evidence.word_runs import comparable_words
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.numbers import Figure, scale_marks
from ingestion.language.opposites import MOVES
from ingestion.language.periods import Period, find_periods

__all__ = ["Claim", "Scope", "Spoken"]

ROUNDING_REACH = 25  # characters before a figure in which "about" speaks of it
CLAUSE_REACH = 400  # characters on each side of a figure that can be its clause
SENSE_REACH = 200  # characters around a figure in which "purchases" or "deficit" speaks of it
THOUSAND, FEWEST_DIGITS = 1e3, 2  # from these a figure with its scale is taken for rounded
PER_CENT = 100
# a smaller bare whole number may be part of a name, "Level 3", and does not part what is said of other
# figures
AMOUNT = 100
MOST_SAID = 4_000  # characters of answer and question that lend a bare "it was 5" its words
LONGEST_PERIOD_GAP = 40  # characters between a period and the figure it goes with

_ROUNDED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|over|more than"
    r"|less than|under|close to|rounded(?: to)?|~|≈)"
    r"\W{0,3}\Z",
    re.IGNORECASE,
)
# words that carry the minus of a cell in brackets: "purchases of equipment (1,577)" is a purchase of 1,577
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
# "5 million of rents out of 9": the rents are not of the 9.
_PART = re.compile(r"\s(?:of|in|for)\s[^,;.()\d]{1,60}?(?=\sout of\b)")
_OF_WHOLE = re.compile(r"\s(?:out )?of (?:about |around |roughly |some )?")
# "4.1% below the baseline".
_BELOW = re.compile(r"\W{0,3}(?:below|under|down|smaller|short of)\b", re.IGNORECASE)
# "rose by about 4%", which no other fall of the sentence turns.
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
# "142 million a year earlier": of no period that the sentence names; in "10 in 2018 against 12 a year
# earlier" that is said of the last figure alone.
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
# A sentence that speaks on of what the one before it did.
_GOES_ON = re.compile(r"\W{0,5}(?:it|its|this|that|they|their|these|those|she|he|both|such)\b", re.IGNORECASE)
PRONOUN_REACH = 300  # characters before such a sentence that say what it speaks of
_READ_OUT = re.compile(r"(?:[(;]\s?)((?:[^();:]|\([^()]*\)){1,120}): ?\Z")
HEAD_REACH = 130  # characters before a figure in which its head is read out
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
# Words by which what stands before a figure is what it is of.
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
    """A figure of the answer. rounded: it says so, or its scale does. outflow: its sentence carries the minus
    in words.

    lead, goes_on: the words before and after the figure, beyond its sentence too. paragraph: whitespace
    collapsed.
    """

    rounded: bool
    outflow: bool
    lead: tuple[str, ...] = ()
    goes_on: tuple[str, ...] = ()
    paragraph: str = ""
    mention: Mention = NO_MENTION


def _is_short(figure: Figure) -> bool:
    """Whether a figure is one of a scale, or a whole percentage, with two digits or more, "4.18 billion",
    "22%": what it leaves out is rounded away, and every reader takes it so."""
    short = figure.scale >= THOUSAND or (figure.percent == "percent" and figure.decimals == 0)
    return short and sum(map(str.isdigit, figure.text)) >= FEWEST_DIGITS


def _is_fraction(figure: Figure) -> bool:
    """Whether a figure is a fraction in words, "a quarter", which a page may print as 25 per cent."""
    return 0 < figure.value < 1 and not any(map(str.isdigit, figure.text))


class Spoken:
    """An answer with its figures, read once. text: with its citation keys blanked out. question: as asked."""

    def __init__(self, text: str, figures: Sequence[Figure], question: str) -> None:
        self._text, self._figures, self._question = text, figures, question
        self._words = comparable_words(text)
        self._starts = [figure.start for figure in figures]
        self._marks = [mark for source in (text, question) for mark in scale_marks(source) if mark.scale > 1][
            :1
        ]
        self._asked_periods, self._asked = periods_in(question), label_words(question[:MOST_SAID])
        self._years = frozenset(
            year
            for one in (*periods_in(text[:MOST_SAID]), *self._asked_periods)
            for year in (one.start_year, one.end_year)
        )
        self._everything = label_words(f"{text[:MOST_SAID]} {question[:MOST_SAID]}")
        self._paragraphs: dict[int, str] = {}
        self._heads: dict[int, list[tuple[Period, ...]]] = {}
        self._sentences: dict[tuple[int, int], _ClaimSentence] = {}

    def claim(self, index: int, scope: Scope) -> Claim:
        """What is said of the figure at a position of the list."""
        figure = self._figures[index]
        span = scope.start, scope.end
        if span not in self._sentences:
            self._sentences[span] = _ClaimSentence(self._text, scope, self._figures, self._starts)
        sentence = self._sentences[span]
        first = bisect_left(self._words.starts, scope.start)
        last = bisect_left(self._words.starts, scope.end)
        before, after = words_around(self._words, figure, first, last)
        readings = (
            *self._directions(figure),
            *(
                replace(figure, scale=mark.scale, unit=figure.unit or mark.unit)
                for mark in self._marks
                if figure.bare
            ),
            *(
                [replace(figure, value=figure.value * PER_CENT, unit="%", percent="percent")]
                if _is_fraction(figure)
                else ()
            ),
        )
        run, place = sentence.run(index)
        periods = sentence.periods_of(index)
        if headed := self._periods_of_head(figure):
            periods = headed
            run = run[place : place + 1]
            place = 0
        own = bool(periods)
        base = (
            _BASE.search(self._text, max(scope.start, figure.start - ROUNDING_REACH), figure.start)
            is not None
        )
        if not own and not base and len(run) == 1 and not sentence.is_of_another_time(index):
            periods = self._asked_periods
        nearby = (*sentence.nearby(index), self._everything)
        rounded = self._rounded(figure, scope)
        outflow = self._outflow(figure, scope)
        mention = Mention(
            nearby,
            periods,
            own,
            run,
            place,
            period_beside(self._text, figure),
            tuple(sentence.periods),
            _head_before(self._text, figure),
            sentence.order(index),
            sentence.figures,
            label_words(behind[1])
            if (behind := _BEHIND.match(self._text, figure.end, scope.end))
            else frozenset(),
            sentence.lead(index),
            self._asked,
            base,
            self._years,
        )
        lead, goes_on = words_around(self._words, figure, 0, len(self._words.texts))
        return Claim(
            figure, readings, before, after, rounded, outflow, lead, goes_on, self._paragraph(figure), mention
        )

    def _periods_of_head(self, figure: Figure) -> tuple[Period, ...]:
        """The periods that the head of a figure's column names, where it stands in a row of a table."""
        begun = top = self._text.rfind("\n", 0, figure.start) + 1
        while top and self._text.startswith("|", above := self._text.rfind("\n", 0, top - 1) + 1):
            top = above
        if top == begun or not self._text.startswith("|", begun):
            return ()
        if top not in self._heads:
            self._heads[top] = [
                periods_in(head) for head in self._text[top : self._text.find("\n", top)].split("|")
            ]
        cell = self._text.count("|", begun, figure.start)
        if cell < len(self._heads[top]):
            return self._heads[top][cell]
        return ()

    def _directions(self, figure: Figure) -> tuple[Figure, ...]:
        """The figure, and where its brackets may be those of an aside, "59,530 abstentions (0.13%)", also
        without their minus.
        """
        behind = self._text[max(0, figure.start - 2) : figure.start].rstrip()[-1:]
        aside = (
            figure.text.startswith("(")
            and figure.text.endswith(")")
            and behind.isalpha()
            and figure.value < 0
        )
        if aside:
            return (figure, replace(figure, value=-figure.value))
        return (figure,)

    def _paragraph(self, figure: Figure) -> str:
        """The text around a figure up to the next blank lines, whitespace collapsed."""
        start = self._text.rfind("\n\n", 0, figure.start) + 1
        end = self._text.find("\n\n", figure.end)
        if start not in self._paragraphs:
            self._paragraphs[start] = " ".join(
                self._text[start : end if end >= 0 else len(self._text)].split()
            )
        return self._paragraphs[start]

    def _rounded(self, figure: Figure, scope: Scope) -> bool:
        before = self._text[max(scope.start, figure.start - ROUNDING_REACH) : figure.start]
        after = self._text[figure.end : figure.end + ROUNDING_REACH]
        return bool(_ROUNDED.search(before) or re.match(r"\W{0,3}(?:or so|rounded)", after)) or _is_short(
            figure
        )

    def _outflow(self, figure: Figure, scope: Scope) -> bool:
        if figure.value <= 0 or _BELOW.match(self._text, figure.end):
            return figure.value > 0
        if _RISING.search(self._text, max(scope.start, figure.start - ROUNDING_REACH), figure.start):
            return False
        around = self._text[
            max(scope.start, figure.start - SENSE_REACH) : min(scope.end, figure.end + SENSE_REACH)
        ]
        return _OUTFLOW.search(_TWO_WAY.sub(" ", around)) is not None


def _head_before(text: str, figure: Figure) -> str:
    """The head that a cell is read out under, "" where it is not."""
    found = _READ_OUT.search(text[max(0, figure.start - HEAD_REACH) : figure.start])
    if found:
        return " ".join(found[1].split())
    return ""


class _ClaimSentence:
    """One sentence of an answer with the figures in it."""

    def __init__(self, text: str, scope: Scope, figures: Sequence[Figure], starts: Sequence[int]) -> None:
        self._source, self._scope = text, scope
        self._first, self._last = bisect_left(starts, scope.start), bisect_left(starts, scope.end)
        self._figures = figures
        self.figures = frozenset(
            re.sub("[^0-9]", "", figure.text) for figure in figures[self._first : self._last]
        )
        self._by_order = _RESPECTIVELY.search(text, scope.start, scope.end) is not None
        before = text[
            max(text.rfind("\n\n", 0, scope.start) + 1, scope.start - PRONOUN_REACH, 0) : scope.start
        ]
        self._all = label_words(
            text[scope.start : scope.end]
            if not _GOES_ON.match(text, scope.start)
            else f"{before} {text[scope.start : scope.end]}"
        )
        found = find_periods(text[scope.start : scope.end])
        self.periods = [
            replace(period, start=period.start + scope.start, end=period.end + scope.start)
            for period in found
        ]
        self._runs = self._all_runs()
        self._orders = orders_in(
            text[scope.start : scope.end],
            [figure.start - scope.start for figure in figures[self._first : self._last]],
        )
        self._digits: dict[int, tuple[str, ...]] = {}
        self._amounts = [index for index in range(self._first, self._last) if self._is_amount(index)]

    def order(self, index: int) -> str:
        """The ordinal that goes with a figure, "" for none."""
        if self._orders:
            return self._orders[index - self._first]
        return ""

    def run(self, index: int) -> tuple[tuple[str, ...], int]:
        """The digits of the figures that follow one another like cells around one, and its place among
        them.
        """
        start, end = self._runs.get(index, (index, index + 1))
        if start not in self._digits:
            self._digits[start] = tuple(
                re.sub("[^0-9]", "", figure.text) for figure in self._figures[start:end]
            )
        return self._digits[start], index - start

    def nearby(self, index: int) -> tuple[frozenset[str], ...]:
        """Label words of what stands between the amounts around it, after its last colon first; then those of
        the sentence. Of a whole, the 9 of "5 million of 9", none: what stands around is of the part."""
        start, end = self._runs.get(index, (index, index + 1))
        if start > self._first and _OF_WHOLE.fullmatch(
            self._source, self._figures[start - 1].end, self._figures[start].start
        ):
            return ()
        before = [
            other
            for other in self._amounts[max(0, bisect_left(self._amounts, start) - 1) :][:1]
            if other < start
        ]
        after = self._amounts[bisect_right(self._amounts, end - 1) :][:1]
        if before:
            left = self._figures[before[0]].end
        else:
            left = self._scope.start
        if before and (part := _PART.match(self._source, left, self._figures[start].start)):
            left = part.end()
        if after:
            right = self._figures[after[0]].start
        else:
            right = self._scope.end
        left = max(left, self._figures[start].start - CLAUSE_REACH)
        right = min(right, self._figures[end - 1].end + CLAUSE_REACH)
        while before and _CHAINED.fullmatch(
            self._source, left, self._figures[start].start
        ):  # "rose 15% to 9": 9 is of what 15% is
            at = bisect_left(self._amounts, before[0])
            before = self._amounts[max(0, at - 1) : at]
            left = max(
                self._figures[before[0]].end if before else self._scope.start,
                self._figures[start].start - CLAUSE_REACH,
            )
        lead = self._source[left : self._figures[start].start].rstrip()
        around = label_words(f"{lead} {self._source[self._figures[end - 1].end : right]}")
        if lead.endswith((":", "=")):  # "Wages: 5; Rents: 6"
            return label_words(_ITEM.split(_CLOSED.sub(r" \1 ", lead))[-1]), around, self._all
        colon = lead.rfind(":")
        if colon >= 0:
            nearer = [label_words(lead[colon + 1 :])]
        else:
            nearer = []
        own_clause = _AGAINST.split(_CLAUSE_END.split(self._source[self._figures[end - 1].end : right])[0])[0]
        if (words := label_words(f"{lead} {own_clause}")) and words != around:
            nearer.append(words)
        if (
            _TIES.search(lead)
            and after
            and _TIES.search(self._source[self._figures[end - 1].end : right].rstrip())
        ):
            nearer.append(
                label_words(lead)
            )  # "paper of 5 plus debt of 6": what stands between is of the other
        return (*nearer, around, self._all)

    def periods_of(self, index: int) -> tuple[Period, ...]:
        """The period that goes with the figure; all of the sentence where it does not say which, none for
        "a year earlier".
        """
        if self.is_of_another_time(index):
            return ()
        if (
            len({(period.start_year, period.end_year, period.kind, period.text) for period in self.periods})
            <= 1
        ):
            if self._is_of_what_is_compared(index):
                return ()
            return tuple(self.periods[:1])
        if self._by_order:
            following = [period for period in self.periods if period.start > self._figures[index].end]
            amounts = [
                other
                for other in self._amounts
                if not following or self._figures[other].end < following[0].start
            ]
            if index in amounts and following and len(amounts) % len(following) == 0:
                return (following[amounts.index(index) % len(following)],)
            return tuple(self.periods)
        figure = self._figures[index]
        if tied := period_beside(self._source, figure):
            return tied
        after = [period for period in self.periods if 0 <= period.start - figure.end <= LONGEST_PERIOD_GAP]
        before = [period for period in self.periods if 0 <= figure.start - period.end <= LONGEST_PERIOD_GAP]
        beside = [
            period for period in after[:1] if _AT_ONCE.fullmatch(self._source, figure.end, period.start)
        ]
        beside += [
            period for period in before[-1:] if _JUST_BEFORE.fullmatch(self._source, period.end, figure.start)
        ]
        return tuple(beside[:1] or self.periods)

    def is_of_another_time(self, index: int) -> bool:
        """Whether the figure is of "a year earlier", or is where a move began, with no period of its own:
        "in 2024 it fell from 5 to 4".
        """
        figure = self._figures[index]
        if _EARLIER.match(self._source, figure.end, self._scope.end):
            return True
        began = _BASE.search(
            self._source, max(self._scope.start, figure.start - ROUNDING_REACH), figure.start
        )
        same = len({(period.start_year, period.end_year, period.kind) for period in self.periods}) <= 1
        return began is not None and same and not period_beside(self._source, figure)

    def _is_of_what_is_compared(self, index: int) -> bool:
        """Whether the sentence's only period is that of what a figure is compared with: "was 5, against 4
        in 2015".
        """
        figure = self._figures[index]
        if self.periods:
            end = self.periods[0].start
        else:
            end = -1
        compared = _AGAINST.search(self._source, figure.end, max(figure.end, end))
        return compared is not None and any(
            compared.end() <= other.start < end for other in self._figures[index + 1 : self._last]
        )

    def lead(self, index: int) -> frozenset[str]:
        """Label words of its clause between the amount before a figure and it."""
        before = [
            other
            for other in self._amounts[max(0, bisect_left(self._amounts, index) - 1) :][:1]
            if other < index
        ]
        if before:
            left = self._figures[before[0]].end
        else:
            left = self._scope.start
        lead = self._source[max(left, self._figures[index].start - CLAUSE_REACH) : self._figures[index].start]
        return label_words(_CLAUSE_END.split(lead)[-1])

    def _all_runs(self) -> dict[int, tuple[int, int]]:
        """Of each figure the positions from the first to behind the last of those that follow one another
        like cells.
        """
        figures = self._figures
        inside = range(self._first, self._last)
        starts = [
            at
            for at in inside
            if at == self._first
            or not _CELLS_BETWEEN.fullmatch(self._source, figures[at - 1].end, figures[at].start)
        ]
        return {
            index: (start, end)
            for start, end in pairwise([*starts, self._last])
            for index in range(start, end)
        }

    def _is_amount(self, index: int) -> bool:
        figure = self._figures[index]
        return (
            not figure.bare or figure.unit is not None or figure.decimals > 0 or abs(figure.value) >= AMOUNT
        )

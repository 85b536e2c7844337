"""Reads a question once: its words and periods, what it asks to be worked out, its bound and its direction.

It knows no document. What is read of one text is kept, so that all who ask share it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.figure_words import ABOUT, AGAINST, CHANGE_NAMES, MOVING
from ingestion.language.measures import spelled_out
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.opposites import (
    COMPARATIVES,
    DENIALS,
    MOVES,
    QUALIFIERS,
    SUPERLATIVES,
    TOLD_LESS,
    TOLD_MORE,
)
from ingestion.language.periods import PART_ALONE, PART_CODE, Period, find_periods, without_periods
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.terms import content_terms, terms
from ingestion.language.vocabulary import either

__all__ = [
    "AVERAGING",
    "COMPUTED",
    "NO_SUBJECT",
    "OF_BOUNDS",
    "WAYS",
    "Operation",
    "QuestionReading",
    "denies",
    "read_question",
    "words_in",
]

_PERCENT = r"(?:percentage|percent|per cent|%)"
_MOVE = f"(?:{CHANGE_NAMES})"
_ABOVE = (
    r"(?:above|over|more than|higher than|greater than|larger than|bigger than|exceed(?:s|ed|ing)?"
    r"|surpass(?:es|ed)?|top(?:s|ped)?)"
)
_BELOW = r"(?:below|under|less than|lower than|smaller than|fewer than)"
_SHARES = r"(?:%|percent|per cent|percentage|share|proportion|fraction)"
_DOCUMENTS = (
    r"(?:compan(?:y|ies)|banks?|firms?|issuers?|countr(?:y|ies)|cit(?:y|ies)|documents?|reports?|filings?)"
)
AVERAGING = re.compile(r"\b(?:averag\w*|mean)\b", re.IGNORECASE)
# What a question may ask about, by the words that say so.
WAYS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        # An average over years. A ratio is none, even if its definition has the average of two balances.
        "average over years": r"\b(?:\d|two|three|four|five|ten)[ -]years? (?:\w+ )?(?:average|mean)\b"
        r"|\b(?:average|mean) (?:over|across) (?:the )?(?:\w+ )?years\b"
        r"|^(?:what (?:is|was) (?:the )?)?(?:average|mean)\b",
        "any change": r"\b(?:chang|improv)",
        "averaging": AVERAGING.pattern,
        "balance at year-end": r"\b(?:year|period)[ -]end\b|\b(?:closing|ending) balances?\b",
        "better or worse": r"improv|better|worse",
        "change": rf"\b{_MOVE}\b|\bhow much (?:more|less|higher|lower)\b"
        rf"|\bhow (?:much|far|fast) (?:did|has|have) .{{1,60}}\b(?:{MOVING}|(?:go|gone) (?:up|down))\b"
        rf"|\b(?:did|has|have) .{{1,60}}\b(?:{MOVING})\b.{{0,60}}\bhow much\b"
        rf"|\bhow (?:did|has|have) .{{1,100}}\b(?:{MOVING})\b"
        r"|\bhow much (?:\w+ or )?(?:higher|lower|more|less)\b|\bcompare[ds]?\b",
        # It holds one thing against another.
        "comparison": r"\b(?:difference|develop(?:ed)?|moved?|compared?|more than|less than"
        r"|how much\b.{0,60}\b(?:higher|lower|more|less|larger|smaller|bigger)|accelerat\w+|decelerat\w+"
        r"|between .{1,60} and)\b",
        # A sentence that names a condition answers it.
        "condition": r"\b(?:under|on|in) (?:what|which) (?:conditions?|circumstances|cases?|terms)\b"
        r"|\bconditions\b",
        "growth in per cent": rf"(?<!\w){_PERCENT}\s*(?:year on year |annual )?(?:\(?{_MOVE}\)?)"
        rf"|\bgrowth rate\b|\b{_MOVE} in {_PERCENT}|\byear on year {_PERCENT}"
        rf"|\bhow (?:many|much) {_PERCENT} .{{0,60}}{_MOVE}"
        rf"|\bby (?:what|how many) {_PERCENT} .{{1,100}}\b(?:{MOVING})\b",
        # "How much did growth fall" asks for the change of a change.
        "growth that moved": r"\b(?:did|does|has) (?:\w+ ){0,8}growth\b",
        "how much": r"\bhow (?:much|far|fast)\b|\bby what\b|\bdifference\b",
        "least": rf"\b(?:{either([*SUPERLATIVES[1], *COMPARATIVES[1]])})\b",
        "limit": r"\b(?:limit|ceiling|floor|cap|threshold|anchor|target|most|least|maximum|minimum|exceed"
        r"|above|below)\b",
        "most": rf"\b(?:{either([*SUPERLATIVES[0], *COMPARATIVES[0]])}|ranks?|ranking)\b",
        "move": r"\b(?:grow[ns]?|grew|growth|rose|rise[ns]?|increas\w*|decreas\w*|declin\w*|fell|falls?"
        r"|fallen|drop\w*|changed?|improve[ds]?|improving)\b",
        "month": r"\bmonth",
        "not": r"\b(?:not|other than|except|excluding|without)\b",
        # It asks for what was before, or for a change.
        "older": r"\b(?:old(?:er|est)?|previous(?:ly)?|earlier|former(?:ly)?|prior|preceding"
        r"|before (?:that|this|then|it)|superseded|replaced|original(?:ly)?|used to|at the time|history"
        r"|chang(?:e|es|ed)|compared?|comparison|difference|versus|since)\b",
        "other": r"\bother (?!compan|countr|document|year|than\b)",
        "over years": r"\b(?:over (?:the years|time)|through the years|by year|year by year|each year"
        r"|every year|trend|develop(?:ed|ment)?|evol\w+|histor\w+)\b",
        "points": r"\bpoints?\b",
        # A sentence answers it rather than a row. This wins 2 of 185 questions and costs none.
        "sentence": r"\b(?:who|whom|where|how (?:do|does|did|can|could|should|will|would)|under what|any"
        r"|what (?:sentence|label|happens?|must|has to|did))\b",
        "share": r"\b(?:percent\w*|per cent|share|rates?|ratios?|slices?|fractions?|proportions?|margins?"
        r"|yields?)\b|%|\bas an? \w+ of\b",
        "sum": r"\b(?:sum|combined|altogether|in total|together)\b|\btotal\b.{2,80}\b(?:in both|for both"
        r"|between|from)\b.{0,40}\b(?:and|to)\b",
        # "Which company has the highest debt?" is asked of each document.
        "which of all": rf"\b(?:which|what) (?:of them|(?:of (?:these|the|those) )?{_DOCUMENTS})\b"
        rf".{{0,80}}\b(?:{either([*SUPERLATIVES[0], *SUPERLATIVES[1]])})\b"
        rf"|\brank (?:the |all )?{_DOCUMENTS}\b",
        "words": r"\b(?:says?|said|mention(?:s|ed)?|describe[sd]?|discuss(?:es|ed)?|explain(?:s|ed)?|view"
        r"|opinion|stance)\b",
    }.items()
}
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)"
_BEGINS = r"\W*(?:and |so |but )?"
_YES_NO = re.compile(rf"{_BEGINS}{_AUXILIARY}(?:n['’]t)? \w", re.IGNORECASE)
# "Can you tell me", "do you know what" and "is it higher or lower" ask for more than yes or no.
_ASKS_MORE = re.compile(
    r"\b(?:can|could|would|will|do|did) (?:you|we|i)\b|\b(?:what|which|who|whom|whose|how|when|where|why"
    r"|or(?! not\b))\b",
    re.IGNORECASE,
)
_PAST = re.compile(rf"{_BEGINS}(?:was|were|did|has|have|had)\b", re.IGNORECASE)
# "How large is" asks for a figure, whose row need not say "large".
_HOW_LARGE = re.compile(r"\bhow \w+ (?=(?:is|are|was|were)\b)", re.IGNORECASE)
# "How long" asks for a time; the answer does not call it long.
_HOW_LONG = re.compile(r"\bhow (?:long|often|soon)\b", re.IGNORECASE)
# Begins no measure after "most": "Which company spends most on roads?"
_PREPOSITION = re.compile(r"(?:on|in|to|for|of|at|by|from|with)\b")
# Words for more or less that are no name of a move.
_MORE = frozenset({"more", "bigger", "larger", "greater"})
_LESS = frozenset({"less", "fewer", "smaller"})
_COMPARING = _MORE | _LESS | frozenset({"higher", "lower"})
_DENIED = DENIALS | {"none"}
_BOUND = re.compile(
    rf"\b(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW})|(?P<least>at least)|(?P<most>at most|no more than"
    rf"|up to)) (?:(?:the|{ABOUT}) )?$",
    re.IGNORECASE,
)
_SHORT_TEXT = 1_000  # characters
_LONGEST_BOUND = 40  # characters: "greater than approximately "
# "By more than 10%" is about the change, "rose above 10%" about the level it led to.
_BY = re.compile(r"\bby (?:\w+ ){1,3}$", re.IGNORECASE)
# Words that hold a figure against an amount, with the amount behind them.
_BOUND_WORDS = re.compile(
    rf"\b(?:{_ABOVE}|{_BELOW}|at least|at most|no more than|up to)(?= (?:(?:the|{ABOUT}) )?"
    rf"[^\W\d_]{{0,3}}\s?\W?\d)",
    re.IGNORECASE,
)
# "Above its budget" is about another column.
_OVER = (
    r"over|above|exceed\w*|overshoot\w*|overshot|overspen\w+|overr[ua]n|beat|more than|higher than"
    r"|larger than"
)
_SHORT = r"below|under(?:sp\w+|shoot\w*|shot)?|miss(?:ed)?|short of|less than|lower than|smaller than"
_PLANNED = r"\s+(?:\S+\s+){0,4}?(?:budget|plan|target)\b"
_OVER_PLAN, _SHORT_OF_PLAN = (
    re.compile(rf"\b(?:{words}){_PLANNED}", re.IGNORECASE) for words in (_OVER, _SHORT)
)
_AGAINST_PLAN = re.compile(rf"\b(?:{_OVER}|{_SHORT}|{AGAINST}|meet|met){_PLANNED}", re.IGNORECASE)
_AGAINST_ANOTHER = re.compile(
    rf"{_AGAINST_PLAN.pattern}|\bthan (?:\w+ )?(?:forecast|estimate|expect)|\b(?-i:{PART_CODE})\b",
    re.IGNORECASE,
)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_THAN_BEFORE = re.compile(r"\bthan\b.{0,20}\b(?:year|before|earlier|previous|last|prior)\b", re.IGNORECASE)
# Stands before the year that another is compared with.
_SINCE = re.compile(
    rf"\b(?:{AGAINST}|since|from|than(?: in)?)\s(?:the )?(?:fiscal |year )?$",
    re.IGNORECASE,
)
# The first that matches says the kind of operation.
_PART_OF_WHOLE = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("share", rf"(?P<part>.{{2,120}}?) as an? {_SHARES} of (?P<whole>.{{2,100}})"),
        (
            "share",
            (
                rf"\b{_SHARES}(?: constitution| composition| contribution)? of (?P<part>.{{2,100}}?) "
                r"(?:out of|in|among|amongst|against|over|to|within) (?:the )?(?P<whole>(?:total|all"
                r"|overall)\b.{2,100})"
            ),
        ),
        # "What share of sales came from the north?": of the total above or below the row.
        (
            "part",
            (
                rf"\b(?:(?:what|which) (?:{_SHARES}|part|slice)|how much) of (?:the )?(?P<whole>.{{2,80}}?) "
                r"(?:is|are|was|were|comes?|came|goes|go|went|stems?|stemmed)"
                r"(?: (?:made up of|generated (?:in|from)|from|represented by|due to|accounted for by"
                r"|spent on|on|to|in))? "
                r"(?P<part>.{2,100})"
            ),
        ),
    )
)
_BETWEEN = re.compile(r"\bdifference between (?P<left>.{2,100}?) and (?P<right>.{2,100})", re.IGNORECASE)
_SUM_OF = re.compile(r"\b(?:sum|total) of (?P<left>.{2,100}?) and (?P<right>.{2,100})", re.IGNORECASE)
# What is computed from figures.
COMPUTED = frozenset(
    terms(
        """
        change increase decrease growth grow grown grew rise rose risen fall fell fallen decline drop
        difference increment reduction percentage percent average mean combined altogether ratio proportion
        share constitution versus compared compare develop developed move moved higher lower
        """
    )
)
# Words of a question that name no subject: what is computed, what kind of thing is asked for, at what time.
NO_SUBJECT = COMPUTED | frozenset(
    terms(
        """
        sum total amount value number year years annual fiscal financial ended end period respective
        respectively company recorded reported nominal rate level least less against
        """
    )
)
# Words of a question that give a direction or a size.
_WITH_ANY = """
    least most above below over under exceed spend spending spent sell sold hold held have pay paid report
    reported record earn make made reach stand amount come get go total end year
"""
_DIRECTIONS = (*MOVES[0], *MOVES[1], *TOLD_MORE, *TOLD_LESS)
OF_BOUNDS = frozenset(terms(" ".join((*_DIRECTIONS, *SCALE_TERMS, *CURRENCY_TERMS, _WITH_ANY))))


@dataclass(frozen=True, slots=True)
class Operation:
    """What is to be worked out, on which rows.

    kind: "growth" | "change" | "mean" | "sum" | "share" | "part", a share of the total of a row's
        table | "plan", actual less budget | "bound", one figure held against an amount.
    topics: the words that name the row of each operand.
    """

    kind: str
    topics: tuple[str, ...]


class QuestionReading:
    """A question, or what it says of one operand, as it is read. Each part is read once.

    text: as written.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._ways = dict[str, bool]()

    def asks(self, way: str) -> bool:
        """Whether it has words of one of WAYS. Raises KeyError."""
        if way not in self._ways:
            self._ways[way] = WAYS[way].search(self.text) is not None
        return self._ways[way]

    # --- words

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """The periods it names, as written."""
        return tuple(find_periods(self.text))

    @cached_property
    def undated(self) -> QuestionReading:
        """The same without its periods."""
        return read_question(without_periods(self.text))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Its distinct search terms, in order."""
        return tuple(content_terms(self.text))

    @cached_property
    def spelled_terms(self) -> tuple[str, ...]:
        """The same with short forms such as "R&D" in words."""
        return tuple(content_terms(spelled_out(self.text)))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, see `words_in`."""
        return words_in(self.text)

    @cached_property
    def topic(self) -> frozenset[str]:
        """The terms that name what it is about, numbers apart."""
        return frozenset(term for term in self.terms if term not in NO_SUBJECT and not term[0].isdigit())

    @cached_property
    def terms_of_answer(self) -> tuple[str, ...]:
        """Its terms without those that say in what its answer is measured: "long" of "how long"."""
        return tuple(content_terms(_HOW_LONG.sub("how", self.text)))

    @cached_property
    def terms_of_row(self) -> tuple[str, ...]:
        """Its terms without the size of "how large is"."""
        return tuple(content_terms(_HOW_LARGE.sub("", self.text)))

    def is_since(self, year: int) -> bool:
        """Whether it compares with a year that it names: "since 2021"."""
        start = self.text.find(str(year))
        return start >= 0 and _SINCE.search(self.text[:start]) is not None

    @property
    def is_of_part(self) -> bool:
        """Whether it is about a part of a year or about single months."""
        return bool(PART_ALONE.search(self.text)) or any(period.is_part for period in self.periods)

    @property
    def compares(self) -> bool:
        """Whether it asks for a change or a difference."""
        return self.asks("move") or self.asks("comparison")

    @property
    def order(self) -> int:
        """-1 if the highest is to come first, 1 if the lowest is, 0 if no order is asked for.

        Also 0 if an order of changes is asked for.
        """
        if self.asks("move") or self.asks("any change"):
            return 0
        return -1 if self.asks("most") else int(self.asks("least"))

    @property
    def of_each(self) -> str:
        """What it asks of each of all documents: of "Which company has the highest debt?" its debt."""
        found = WAYS["which of all"].search(self.text)
        rest = self.text[found.end() :].strip(" ?.") if found else ""
        if not rest or _PREPOSITION.match(rest) or rest.endswith((" to", " in", " for", " on")):
            return self.text
        return f"What is the {rest}?"

    # --- yes or no

    @cached_property
    def asks_yes_or_no(self) -> bool:
        """Whether yes or no would answer it.

        Neither answers "Is it higher or lower?" and "Can you list them?".
        """
        return bool(_YES_NO.match(self.text)) and not _ASKS_MORE.search(self.text)

    @property
    def asks_move(self) -> bool:
        """Whether it asks by yes or no about a rise or fall, or about more or less than before."""
        return self.asks_yes_or_no and not self.words.isdisjoint(MOVES[0] | MOVES[1])

    @property
    def denies(self) -> bool:
        """Whether it has a word that denies."""
        return not self.words.isdisjoint(_DENIED)

    @property
    def is_past(self) -> bool:
        """Whether it asks for what happened. A plan is no answer to that."""
        return _PAST.match(self.text) is not None

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures in it."""
        return tuple(find_figures(self.text))

    @cached_property
    def bound(self) -> tuple[Figure, str] | None:
        """The amount that it holds a figure against, and how: "above", "below", "least" or "most".

        None where it names no such amount, or several.
        """
        found = []
        for figure in self.figures:
            match = _BOUND.search(self.text[max(0, figure.start - _LONGEST_BOUND) : figure.start])
            if match:
                found.append((figure, match.lastgroup or ""))
        return found[0] if len(found) == 1 else None

    @property
    def bounds_change(self) -> bool:
        """Whether the amount is that of a change, "by more than 10%", rather than a level."""
        return self.bound is not None and _BY.search(self.text[: self.bound[0].start]) is not None

    @property
    def unbounded(self) -> QuestionReading:
        """The same without the amount, and the words that hold a figure against it."""
        text = _BOUND_WORDS.sub(" ", self.text)
        return read_question(text.replace(self.bound[0].text, " ") if self.bound else text)

    @property
    def direction(self) -> int:
        """1 where it asks for a rise or more, -1 for a fall or less, 0 where it asks for neither or both.

        If it holds a change against an amount, "more than 10%" gives no direction.
        """
        words = words_in(_THAN.split(self.text)[0]) - _COMPARING if self.bound else self.words
        return (not words.isdisjoint(MOVES[0] | _MORE)) - (not words.isdisjoint(MOVES[1] | _LESS))

    @property
    def base_year(self) -> int | None:
        """The year that another is compared with."""
        _, _, behind = self.text.partition(" than ")
        return next((period.end_year for period in find_periods(behind)), None)

    @property
    def than_something_else(self) -> bool:
        """Whether it compares with what is no year or time before."""
        return bool(_THAN.search(self.text)) and not _THAN_BEFORE.search(self.text)

    @property
    def side_of_plan(self) -> int:
        """1 where it asks by yes or no whether a plan was exceeded, -1 whether it was missed, else 0."""
        if self.denies or not self.asks_yes_or_no:
            return 0
        return bool(_OVER_PLAN.search(self.text)) - bool(_SHORT_OF_PLAN.search(self.text))

    @cached_property
    def is_plain(self) -> bool:
        """Whether yes or no to one figure or sentence answers it.

        It denies nothing, holds a figure against one amount at most, and asks for no all, always or why.
        """
        if not self.asks_yes_or_no or self.denies or _AGAINST_ANOTHER.search(self.text):
            return False
        unbounded = _BOUND_WORDS.sub(" ", self.text.replace("per cent", "percent"), count=1)
        return words_in(unbounded).isdisjoint(QUALIFIERS) and not _BOUND_WORDS.search(
            _BOUND_WORDS.sub(" ", self.text, count=1)
        )

    # --- what is to be worked out

    @cached_property
    def operation(self) -> Operation | None:
        """The one operation that it asks for.

        None where it asks for none, or for one on top of another: "the change in the average".
        """
        bare = read_question(spelled_out(self.undated.text))
        if bare.asks("not"):
            return None
        if bare.asks("averaging") and (bare.asks("change") or bare.asks("growth in per cent")):
            return None
        if (self.asks_yes_or_no or bare.asks("how much")) and _AGAINST_PLAN.search(bare.text):
            return Operation("plan", (_AGAINST_PLAN.sub(" ", bare.text),))
        if self.asks_yes_or_no and (self.asks_move or bare.bound):
            return _decided(bare, moves=self.asks_move)
        return _part_of_whole(bare) or _change_or_sum(bare)


_read_short = lru_cache(maxsize=256)(QuestionReading)
# A long one, read wholly, takes some MB. A question has fewer parts than are kept.
_read_long = lru_cache(maxsize=16)(QuestionReading)


def read_question(text: str) -> QuestionReading:
    """Returns a question as it is read."""
    return (_read_short if len(text) <= _SHORT_TEXT else _read_long)(text)


def words_in(text: str) -> frozenset[str]:
    """Returns the words of a text in small letters, without apostrophes."""
    return frozenset(re.findall(r"[a-z]+", text.casefold().replace("'", "").replace("’", "")))


def denies(text: str) -> bool:
    """Tells whether a text has a word that denies."""
    return not words_in(text).isdisjoint(_DENIED)


def _part_of_whole(asked: QuestionReading) -> Operation | None:
    """A share, unless a change is asked for."""
    if asked.asks("change"):
        return None
    for kind, pattern in _PART_OF_WHOLE:
        found = pattern.search(asked.text)
        if found:
            return Operation(kind, (found["part"], found["whole"]))
    return None


def _change_or_sum(asked: QuestionReading) -> Operation | None:
    """A change, mean or sum."""
    if asked.asks("growth in per cent"):
        return Operation("growth", (asked.text,))
    if between := _two_topics(_BETWEEN, asked.text):
        return Operation("change", between)
    if asked.asks("change"):
        return Operation("change", (asked.text,))
    if asked.asks("averaging"):
        return Operation("mean", (asked.text,))
    if summands := _two_topics(_SUM_OF, asked.text):
        return Operation("sum", summands)
    return Operation("sum", (asked.text,)) if asked.asks("sum") else None


def _two_topics(pattern: re.Pattern[str], text: str) -> tuple[str, str] | None:
    """What a pattern has as "left" and "right", where both name something."""
    found = pattern.search(text)
    if found and read_question(found["left"]).topic and read_question(found["right"]).topic:
        return found["left"], found["right"]
    return None


def _decided(asked: QuestionReading, *, moves: bool) -> Operation:
    """The operation of a yes-or-no question: one figure against an amount, or two figures of one row."""
    if asked.bound is None:
        return Operation("change", (asked.text,))
    figure, _ = asked.bound
    topic = asked.text[: figure.start] + asked.text[figure.end :]
    return Operation("change" if moves else "bound", (topic,))

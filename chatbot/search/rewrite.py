"""Makes a standalone query of a follow-up by carrying over what the exchanges before were about; rules only, no model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from chatbot.measures import find_measures
from chatbot.numbers import find_periods
from chatbot.records import Exchange
from chatbot.search.leaning import (
    computes,
    dates_in,
    mentions,
    months_in,
    names_by_pronoun,
    names_years,
    other_year,
    own_terms,
    points_back,
    relates,
    with_years,
    without_conjunction,
    years_in,
)
from chatbot.search.questions import understand
from chatbot.terms import content_terms, terms

__all__ = ["is_follow_up", "standalone_query"]

# A question of fewer content terms than this names no subject of its own: "Why?", "in 2026?", "the year before?".
FEW_TERMS = 2
# Characters that an earlier question may add to a query.
LONGEST_CARRIED = 1_000
# What begins so goes on from what was said, with a subject of its own or without.
GOES_ON = re.compile(
    r"(?:and|but|so|or|also|then|ok|okay|same)\b|(?:what|how) about\b|what if\b|(?:at|for|by|to|on|with|from) (?:what|which|whom)(?: \w+){0,3} ?\?*\Z",
    re.I,
)
# A follow-up that names one thing, to be taken in the place of its like: "And in 2023?", "What about education?", "and for Costco?".
SAME_OF = re.compile(
    r"(?:(?:(?:and|but|so|or|also|then|ok|okay)[ ,]+)+(?:(?:what|how) about |what of |(?=(?:in|for|of|from|on|by|the|its|their) |(?-i:[A-Z0-9])))"
    r"|(?:what|how) about |what of |(?=in |for ))"
    r"(?:in |for |of |from |on |at |by |the same for )?(?P<other>[^?.!]{1,80})[?.! ]*",
    re.I,
)
STEPS = (
    (re.compile(r"\b(?:the )?(?:year before|previous year|prior year|preceding year)\b", re.I), -1),
    (re.compile(r"\b(?:the )?(?:year after|next year|following year)\b", re.I), 1),
)
# "That same year", "this period": the time that was spoken of.
THAT_YEAR = re.compile(r"\b(?:that same|this same|the same|that|this) year\b", re.I)
THAT_PERIOD = re.compile(r"\b(?:that same|this same|the same|that|this) (?:period|time)\b", re.I)
# What asks for a figure, which is of some period; who, why and what happens are not.
ASKS_FIGURE = re.compile(
    r"\b(?:what|which) (?:is|was|are|were|will be|amount|percentage|share|number)\b|\bhow (?:much|many|high|large|big|low|long)\b", re.I
)
# What follows from what was said leans on all of it.
CONSEQUENCE = re.compile(r"(?:and )?(?:so|then)\b", re.I)
FORMER = re.compile(r"\b(?:former|first)\b(?!.{0,80}\b(?:latter|second)\b)", re.I)
COUNTS = {"three": 3, "four": 4, "five": 5, "3": 3, "4": 4, "5": 5}
COUNTED = re.compile(r"\b(three|four|five|[345]) (?:\w+ )?(?:years|quarters|months|periods|values|amounts)\b", re.I)
# "The total total assets": where "total goodwill" gives way to "total assets".
DOUBLED = re.compile(r"\b(\w+) \1\b", re.I)
# More words than this say something of their own.
MOST_WORDS = 5
# What is asked of: "on health in 2025", "of the reserve?". Possessive, or a run of blanks is divided in every way.
OBJECT = re.compile(
    r"\b(?:on|for|of|to)\s++(?P<object>(?!this\b|that\b|it\b)[\w'’ -]{2,60}?)(?=\s+(?:in|for|by|at|during|between|from|of|as|compared)\b|\s*[?.,!]|\s*$)"
)
NAME = re.compile(r"(?<![.?!] )\b[A-Z][\w&’-]*(?:[ -][A-Z][\w&’-]*)*")
QUESTION_WORD = re.compile(
    r"\W*(?:what|how|which|when|where|who|why|is|are|was|were|do|does|did|has|have|can|will|should|could|in|for|of|on|the|and)\b", re.I
)
WORD = re.compile(r"[\w&'’-]+")
# What goes on from a measure's name: "ceiling" after "deficit".
REST_OF_NAME = re.compile(
    r"(?: (?!(?:in|for|of|on|at|from|by|during|between|as|and|or|is|was|are|were|to|with|than|over|under|per|go|rise|fall|grow)\b)[a-z-]+){0,3}", re.I
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question that can be leant on is about. whole: that question, completed; last: a follow-up since then that could not be put into
    it, "" where there is none."""

    whole: str
    last: str = ""

    @property
    def text(self) -> str:
        """Both, as they are carried."""
        return " ".join(filter(None, (self.whole, self.last)))


@dataclass(frozen=True, slots=True)
class Talk:
    """What the questions so far were about. operands: what the last one computed from, () where it computed nothing."""

    subjects: tuple[Subject, ...] = ()
    operands: tuple[str, ...] = ()

    def about(self, subject: Subject) -> Talk:
        """The talk after a question about this."""
        return Talk((*self.subjects, replace(subject, whole=subject.whole[:LONGEST_CARRIED])))


def is_follow_up(question: str, exchanges: Sequence[Exchange]) -> bool:
    """True where `question` leans on the exchanges before it: it points back, goes on from them, or names no subject of its own."""
    return _leans(question, _talk(exchanges))


def standalone_query(question: str, exchanges: Sequence[Exchange]) -> str:
    """The query to search. A follow-up that names one thing ("And in 2023?") is the earlier question with that thing in the place of its like;
    one that computes ("What is the difference?") is preceded by the questions for its operands; one with a subject of its own takes over the
    period and the names alone; any other is preceded by the last question that stands alone, in the form that follow-ups since then gave it.
    What was answered does not count: a question that was refused is leant on too."""
    return _taken(question, _talk(exchanges))[0]


def _talk(exchanges: Sequence[Exchange]) -> Talk:
    talk = Talk()
    for exchange in exchanges:
        talk = _taken(exchange.user[:LONGEST_CARRIED], talk)[1]
    return talk


def _leans(question: str, talk: Talk) -> bool:
    said, question = [subject.text for subject in talk.subjects[-2:]], question.strip()
    return bool(said) and (
        bool(GOES_ON.match(question))
        or points_back(question)
        or len(content_terms(question)) < FEW_TERMS
        or not own_terms(question)
        or mentions(question, said)
    )


def _taken(question: str, talk: Talk) -> tuple[str, Talk]:
    """The query of a question in this talk, and the talk after it."""
    if not _leans(question, talk):
        return question, talk.about(Subject(question))
    subject = talk.subjects[-2] if FORMER.search(question) and len(talk.subjects) > 1 else talk.subjects[-1]
    if mentions(question, [earlier.text for earlier in talk.subjects[-2:]]):
        operands = _with_years_of(question, talk.operands or _operands(question, talk.subjects))
        return _joined(*operands, question), Talk(talk.subjects, operands)
    whole = "" if subject.last else replaced(subject.whole, question) or _longer_name(subject.whole, question)
    whole = whole or _completed(question, subject.text, talk.operands)
    if whole:
        return whole, talk.about(Subject(without_conjunction(whole)))
    if talk.operands and not own_terms(question):  # "How much is that in billions?"
        return _joined(*talk.operands, question), talk
    return _joined(subject.text, question), talk.about(Subject(subject.whole, question))


def _joined(*parts: str) -> str:
    return " ".join(dict.fromkeys(parts))


def _operands(question: str, subjects: Sequence[Subject]) -> tuple[str, ...]:
    """The questions for what is computed from: the last with the periods that its subject was asked for, or the last two measures."""
    last = subjects[-1]
    if last.last:
        return (last.text,)
    own, count = own_terms(last.whole), COUNTS[found[1].lower()] if (found := COUNTED.search(question)) else 2
    run = list(takewhile(lambda subject: not subject.last and own_terms(subject.whole) == own, reversed(subjects)))
    for places, months in ((years_in, False), (months_in, True)):
        named = [_at(places, subject.whole) for subject in run]
        periods = list[str]()
        for some in named:  # what one question named together stays together
            periods += [period for period in some if period not in periods] if len(periods) < count else []
        if len(periods) > len(set(named[0])):
            return (with_years(last.whole, periods, months=months),)
    if relates(question, last.whole) and len(subjects) > 1 and own_terms(subjects[-2].text) != own:
        return subjects[-2].text, last.text
    return (last.text,)


def _with_years_of(question: str, operands: tuple[str, ...]) -> tuple[str, ...]:
    """The operands, the last for the years too that the question names beside theirs."""
    *others, last = operands
    known = [period for operand in operands for period in _at(years_in, operand)]
    more = [period for period in _at(years_in, question) if period not in known]
    return (*others, with_years(last, list(dict.fromkeys([*_at(years_in, last), *more])))) if more else operands


def _at(places: Callable[[str], list[tuple[int, int]]], text: str) -> list[str]:
    """What stands at these places of a text, once each."""
    return list(dict.fromkeys(text[start:end] for start, end in places(text)))


def _longer_name(question: str, follow_up: str) -> str:
    """The earlier question for the follow-up's years where that names its subject by fewer words: "that revenue in 2014"; "" elsewhere."""
    own, years = own_terms(follow_up), _at(years_in, follow_up)
    shorter = own and own < own_terms(question) and not computes(follow_up) and not names_by_pronoun(follow_up)
    return with_years(question, years) if shorter and years else ""


def _completed(question: str, subject: str, operands: Sequence[str]) -> str:
    """A follow-up that names its subject, with the years that it leaves out, and the names in brackets; "" where it leans on more than these."""
    own = own_terms(question)
    again = own_terms(subject) <= own
    if not own or (points_back(question) and not again) or not (_asks_figure(question) or (again and names_years(question))):
        return ""
    carried = " ".join(operands) or subject
    years, dates = _at(years_in, carried), _at(dates_in, carried)
    whole = THAT_YEAR.sub(years[0], question) if len(years) == 1 else question
    if dates and not names_years(whole):
        inside = THAT_PERIOD.sub(with_years("", dates).removeprefix(" in "), whole, count=1)
        whole = inside if inside != whole else with_years(whole, dates)
    if not names_years(whole):
        return ""
    names = [] if understand(whole, whole).names else _bodies(subject)
    end = len(whole.rstrip(" ?.!"))
    whole = f"{whole[:end]} ({', '.join(names)}){whole[end:]}" if names else whole
    return question if whole == question else _begun_as(question, without_conjunction(whole))


def _bodies(question: str) -> list[str]:
    """The names of those whom a question is about. Letters alone are one where something is theirs: "VAT rate" has none, "debt of the IMF" has."""
    return [
        name
        for name in understand(question, question).names
        if not name.isupper() or re.search(rf"\b(?:of|for|at|by) (?:the )?{re.escape(name)}\b|\b{re.escape(name)}['’]s\b", question)
    ]


def _asks_figure(question: str) -> bool:
    return bool(ASKS_FIGURE.search(question)) and not CONSEQUENCE.match(question)


def _begun_as(question: str, whole: str) -> str:
    """With a capital letter where the question begins with one."""
    return whole[:1].upper() + whole[1:] if question[:1].isupper() else whole


def replaced(question: str, follow_up: str) -> str:
    """The earlier question with what a follow-up such as "And in 2023?" or "What about education?" names in the place of its like: periods,
    a measure, a name, or what was asked of; "" where the follow-up says more than that, or there is nothing of its kind."""
    bare = not own_terms(follow_up) and not computes(follow_up)
    found = SAME_OF.fullmatch(follow_up.strip())
    other = found["other"].strip() if found else follow_up if bare else ""
    if step := next((step for pattern, step in STEPS if pattern.search(other or follow_up)), 0):
        return other_year(question, step) if other else ""
    if not other or (not bare and len(other.split()) > MOST_WORDS):
        return ""
    with_periods, other = _other_periods(question, other)
    if with_periods and own_terms(other) <= own_terms(question):
        return with_periods
    return _other_subject(with_periods or question, other) if found and other else ""


def _other_periods(question: str, other: str) -> tuple[str, str]:
    """The question with the other's periods and months for its own, "" where that has none, and the other without them."""
    text = ""
    for places, months in ((years_in, False), (months_in, True)):
        periods = _at(places, other)
        if periods and (not months or places(question)):
            text = with_years(text or question, periods, months=months)
            for period in periods:
                other = other.replace(period, "")
    return text, re.sub(r" (?:in|for|of|on|at|by)\Z", "", other.rstrip(" ,"))


def _other_subject(question: str, other: str) -> str:
    """The question with the other's measure, name, or what is asked of, for its own; "" where there is nothing of its kind."""
    for kind in (_of_measures, _of_names):
        here, there = kind(other), kind(question)
        if here:
            start, end = there[-1] if there else (0, 0)
            named = re.sub(r"^(?:the|its|their) ", "", other, flags=re.I) if kind is _of_measures else other[slice(*here[0])]
            return DOUBLED.sub(r"\1", f"{question[:start]}{named}{question[end:]}") if there else ""
    if re.match(r"(?:its|their) ", other, re.I):
        return ""
    objects = [match.span("object") for match in OBJECT.finditer(question) if not find_periods(match["object"])]
    return f"{question[: objects[0][0]]}{other}{question[objects[0][1] :]}" if objects else ""


def _of_names(text: str) -> list[tuple[int, int]]:
    dated = {start for places in (years_in, months_in) for start, _ in places(text)}
    found = (match.span() for match in NAME.finditer(text) if match.start() or not QUESTION_WORD.match(text))
    return [(start, end) for start, end in found if start not in dated]


def _of_measures(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand that name its first measure."""
    words = [(match.start(), match.end(), tuple(terms(match[0]))) for match in WORD.finditer(text)]
    for measure in find_measures(tuple(term for *_, parts in words for term in parts)):
        for phrase in measure.asked:
            wanted = set(phrase)
            places = [(start, end) for start, end, parts in words if parts and set(parts) <= wanted]
            if len(places) == len(phrase):
                start, end = places[0][0], places[-1][1]
                return [(start, end + len(REST_OF_NAME.match(text, end)[0]))]  # type: ignore[index]
    return []

"""Makes a standalone query of a follow-up, by rules, from what the exchanges before it were about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from chatbot.records import Exchange
from chatbot.search.follow_up.cues import (
    asks_of_document,
    computes,
    dates_in,
    found_at,
    is_courtesy,
    mentions,
    months_in,
    names_by_pronoun,
    own_terms,
    points_back,
    relates,
    with_years,
    without_conjunction,
    years_in,
)
from chatbot.search.follow_up.substitution import substitute, topic_of
from chatbot.search.question_terms import understand
from ingestion.language.terms import content_terms

__all__ = ["asks_other_period", "is_follow_up", "standalone_query"]

# A question of fewer content terms than this names no subject of its own: "Why?", "in 2026?", "the year
# before?".
FEW_TERMS = 2
# Characters that an earlier question may add to a query.
LONGEST_CARRIED = 1_000
# A question that begins like this goes on from what was said, with a subject of its own or without.
GOES_ON = re.compile(
    (
        r"(?:and|but|so|or|also|then|ok|okay|same)\b|(?:what|how) about\b|what if\b|(?:at|for|by|to|on|with"
        r"|from) (?:what|which|whom)(?: \w+){0,3} ?\?*\Z"
    ),
    re.I,
)
# "That same year", "this period": the time that was spoken of.
THAT_YEAR = re.compile(r"\b(?:that same|this same|the same|that|this) year\b", re.I)
THAT_PERIOD = re.compile(r"\b(?:that same|this same|the same|that|this) (?:period|time)\b", re.I)
# Asks for a figure, which is of some period; questions for who, why and what happens do not.
ASKS_FIGURE = re.compile(
    (
        r"\b(?:what|which) (?:is|was|are|were|will be|amount|percentage|share|number)\b|\bhow (?:much|many"
        r"|high|large|big|low|long)\b|\bhow (?:did|has|have)\b.{1,100}\bchanged?\b"
    ),
    re.I,
)
# A question for a consequence needs all of what was said.
CONSEQUENCE = re.compile(r"(?:and )?(?:so|then)\b", re.I)
# How answers as they are remembered name the pages that they cite: "(report.pdf, p. 7)".
PAGE_CITED = re.compile(r", p\. \d{1,6}\b")
FORMER = re.compile(r"\b(?:former|first)\b(?!.{0,80}\b(?:latter|second)\b)", re.I)
COUNTS = {"three": 3, "four": 4, "five": 5, "3": 3, "4": 4, "5": 5}
COUNTED = re.compile(
    r"\b(three|four|five|[345]) (?:\w+ )?(?:years|quarters|months|periods|values|amounts)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about, on which others may build.

    whole: that question, completed.
    last: a follow-up since then that could not be put into it, "" where there is none.
    """

    whole: str
    last: str = ""

    @property
    def text(self) -> str:
        """Both, as they are carried over."""
        return " ".join(filter(None, (self.whole, self.last)))


@dataclass(frozen=True, slots=True)
class Talk:
    """What the questions so far were about.

    subjects: of the questions, in order.
    operands: what the last one computed from, () where it computed nothing.
    """

    subjects: tuple[Subject, ...] = ()
    operands: tuple[str, ...] = ()

    def about(self, subject: Subject) -> Talk:
        """The talk after a question about this."""
        return Talk((*self.subjects, replace(subject, whole=subject.whole[:LONGEST_CARRIED])))


def is_follow_up(question: str, exchanges: Sequence[Exchange], documents: Sequence[str] = ()) -> bool:
    """Whether `question` depends on the exchanges before it: it points back, goes on from them, or names
    no subject of its own.

    documents: as in standalone_query.
    """
    return _leans(question, _talk(exchanges, documents), moved=_is_elsewhere(exchanges, documents))


def standalone_query(question: str, exchanges: Sequence[Exchange], documents: Sequence[str] = ()) -> str:
    """The query to search.

    documents: names of those that are asked, () for all. After an answer that cites only others, a question
    with a subject of its own takes nothing over, unless it says that it goes on.

    - A follow-up that names one thing ("And in 2023?") becomes the earlier question with that thing in the
      place of its like.
    - One that computes ("What is the difference?") is preceded by the questions for its operands.
    - One with a subject of its own takes over the period and the names alone. So does a topic that has no
      like in the earlier question ("What about education?" after a ceiling).
    - Any other is preceded by the last question that stands alone, in the form that follow-ups since then
      gave it.

    Whether a question was answered does not count: follow-ups of a refused question build on it too.
    """
    moved = _is_elsewhere(exchanges, documents)
    return _taken(question, _talk(exchanges, documents), moved=moved)[0]


def asks_other_period(question: str, query: str) -> bool:
    """Whether a follow-up asks the same for another period: "And in 2023?". query: its standalone form."""
    if own_terms(question) or computes(question):
        return False
    return bool(years_in(query)) and not query.endswith(question)


def _talk(exchanges: Sequence[Exchange], documents: Sequence[str]) -> Talk:
    talk = Talk()
    for at, exchange in enumerate(exchanges):
        question = exchange.user[:LONGEST_CARRIED]
        before = exchanges[:at]
        # What was asked of the other documents went on among them.
        moved = _is_elsewhere(before, documents) and not _is_elsewhere(exchanges[: at + 1], documents)
        talk = _taken(question, talk, moved=moved)[1]
    return talk


def _is_elsewhere(exchanges: Sequence[Exchange], documents: Sequence[str]) -> bool:
    """Whether the last answer that cites pages cites none of these documents; False without documents."""
    if not documents:
        return False
    for exchange in reversed(exchanges):
        if PAGE_CITED.search(exchange.assistant):
            return not any(f"{name}, p. " in exchange.assistant for name in documents)
    return False


def _leans(question: str, talk: Talk, *, moved: bool) -> bool:
    """Whether a question depends on the talk before it. moved: that was about other documents."""
    subjects = [subject.text for subject in talk.subjects[-2:]]
    question = question.strip()
    if not subjects or is_courtesy(question):
        return False
    if GOES_ON.match(question) or points_back(question):
        return True
    if not own_terms(question):
        return True
    return not moved and (len(content_terms(question)) < FEW_TERMS or mentions(question, subjects))


def _taken(question: str, talk: Talk, *, moved: bool) -> tuple[str, Talk]:
    """The query of a question in this talk, and the talk after it. moved: as in _leans."""
    if is_courtesy(question):
        return question, talk
    # A question that was asked before asks for the same again, and does not depend on itself.
    if talk.subjects and _same(question, talk.subjects[-1].last):
        return talk.subjects[-1].text, talk
    if _asked_before(question, talk) or not _leans(question, talk, moved=moved):
        return question, talk.about(Subject(question))
    subject = talk.subjects[-2] if FORMER.search(question) and len(talk.subjects) > 1 else talk.subjects[-1]
    if mentions(question, [earlier.text for earlier in talk.subjects[-2:]]):
        operands = talk.operands or _operands(question, talk.subjects)
        operands = _with_years_of(question, operands)
        return _joined(*operands, question), Talk(talk.subjects, operands)
    whole = _put_into(subject, question, " ".join(talk.operands) or subject.text)
    if whole:
        return whole, talk.about(Subject(without_conjunction(whole)))
    if talk.operands and not own_terms(question):  # "How much is that in billions?"
        return _joined(*talk.operands, question), talk
    return _joined(subject.text, question), talk.about(Subject(subject.whole, question))


def _asked_before(question: str, talk: Talk) -> bool:
    """Whether a question with a subject of its own was asked before."""
    if not own_terms(question):
        return False
    return any(_same(question, subject.whole) for subject in talk.subjects)


def _put_into(subject: Subject, question: str, carried: str) -> str:
    """The follow-up as one question, "" where that cannot be made. carried: what its period and names are
    taken from.
    """
    topic = topic_of(question)
    whole = ""
    if topic or not subject.last:
        whole = substitute(subject.whole, question) or _longer_name(subject.whole, question)
    whole = whole or _completed(question, subject.text, carried)
    if not whole and (topic or asks_of_document(question)):
        whole = _alone(topic or question, carried)
    return whole


def _same(question: str, asked: str) -> bool:
    return question.casefold().split() == asked.casefold().split()


def _joined(*parts: str) -> str:
    return " ".join(dict.fromkeys(parts))


def _operands(question: str, subjects: Sequence[Subject]) -> tuple[str, ...]:
    """The questions for what is computed from: the last with the periods that its subject was asked for,
    or the last two measures.
    """
    last = subjects[-1]
    if last.last:
        return (last.text,)
    own = own_terms(last.whole)
    count = COUNTS[found[1].lower()] if (found := COUNTED.search(question)) else 2

    def is_of_run(subject: Subject) -> bool:
        return not subject.last and own_terms(subject.whole) == own

    run = list(takewhile(is_of_run, reversed(subjects)))
    for places, months in ((years_in, False), (months_in, True)):
        named = [found_at(places, subject.whole) for subject in run]
        periods = _first(named, count)
        if len(periods) > len(set(named[0])):
            return (with_years(last.whole, periods, months=months),)
    if relates(question, last.whole) and len(subjects) > 1:
        before = subjects[-2].text
        if own_terms(before) != own:
            return before, last.text
    return (last.text,)


def _first(named: Sequence[Sequence[str]], count: int) -> list[str]:
    """The first periods, once each, until there are `count`; what one question named stays together."""
    periods = list[str]()
    for of_question in named:
        if len(periods) < count:
            periods += [period for period in of_question if period not in periods]
    return periods


def _with_years_of(question: str, operands: tuple[str, ...]) -> tuple[str, ...]:
    """The operands, the last one also for the years that the question names in addition to theirs."""
    *others, last = operands
    known = set[str]()
    for operand in operands:
        known.update(found_at(years_in, operand))
    added = [period for period in found_at(years_in, question) if period not in known]
    if not added:
        return operands
    return (*others, with_years(last, list(dict.fromkeys([*found_at(years_in, last), *added]))))


def _longer_name(question: str, follow_up: str) -> str:
    """The earlier question for the follow-up's years where that names its subject by fewer words: "that
    revenue in 2014"; "" elsewhere.
    """
    own = own_terms(follow_up)
    years = found_at(years_in, follow_up)
    if not own or not years or not own < own_terms(question):
        return ""
    if computes(follow_up) or names_by_pronoun(follow_up):
        return ""
    return with_years(question, years)


def _alone(topic: str, carried: str) -> str:
    """What is to be looked for, with the bodies and the periods that were spoken of where it names none:
    "education, Acme, 2024".
    """
    parts = list[str]()
    if not _names_in(f"Of {topic}"):
        parts += [name for name in _names_in(carried) if _owns(name, carried)]
    if not years_in(topic):
        parts.append(" and ".join(found_at(dates_in, carried)))
    added = ", ".join(filter(None, parts))
    if not added:
        return topic
    if asks_of_document(topic):
        return _with_brackets(topic, added)
    return f"{topic}, {added}"


def _names_in(question: str) -> tuple[str, ...]:
    return understand(question, question).names


def _with_brackets(question: str, added: str) -> str:
    """The question with something in brackets before its end."""
    end = len(question.rstrip(" ?.!"))
    return f"{question[:end]} ({added}){question[end:]}"


def _completed(question: str, subject: str, carried: str) -> str:
    """A follow-up that names its subject, with the years that it leaves out, and the names in brackets; ""
    where it depends on more than these, as a subject that is no known measure may if no years were named.
    """
    own = own_terms(question)
    again = own_terms(subject) <= own
    if not own or (points_back(question) and not again):
        return ""
    asks_figure = ASKS_FIGURE.search(question) and not CONSEQUENCE.match(question)
    if not asks_figure and not (again and years_in(question)):
        return ""
    whole = _dated(question, carried)
    if not years_in(whole) and not understand(question, question).measures:
        return ""
    if not _names_in(whole):
        names = _bodies(subject)
        if names:
            whole = _with_brackets(whole, ", ".join(names))
    if whole == question:
        return question
    return _begun_as(question, without_conjunction(whole))


def _dated(question: str, carried: str) -> str:
    """The question with the periods that were spoken of, where it leaves them out."""
    years = found_at(years_in, carried)
    dates = found_at(dates_in, carried)
    if len(years) == 1:
        question = THAT_YEAR.sub(years[0], question)
    if not dates or years_in(question):
        return question
    inside = THAT_PERIOD.sub(with_years("", dates).removeprefix(" in "), question, count=1)
    if inside != question:
        return inside
    return with_years(question, dates)


def _bodies(question: str) -> list[str]:
    """The names of those whom a question is about. Capitals alone are such a name only where something is
    theirs: "VAT rate" has none, "debt of the IMF" has.
    """
    return [name for name in _names_in(question) if not name.isupper() or _owns(name, question)]


def _owns(name: str, question: str) -> bool:
    """Whether something belongs to this name, or it does something: "debt of the IMF", "did Acme"."""
    named = re.escape(name)
    before = rf"\b(?:of|for|at|by|in|did|does|do|has|will) (?:the )?{named}\b"
    after = rf"\b{named}['’]s?(?!\w)"
    return bool(re.search(f"{before}|{after}", question))


def _begun_as(question: str, whole: str) -> str:
    """`whole` with a capital letter where the question begins with one."""
    if question[:1].isupper():
        return whole[:1].upper() + whole[1:]
    return whole

"""Makes a standalone query of a follow-up by carrying over what the exchanges before were about; rules
only, no model.
"""

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

__all__ = ["is_follow_up", "standalone_query"]

# A question of fewer content terms than this names no subject of its own: "Why?", "in 2026?", "the year
# before?".
FEW_TERMS = 2
# Characters that an earlier question may add to a query.
LONGEST_CARRIED = 1_000
# What begins so goes on from what was said, with a subject of its own or without.
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
# What asks for a figure, which is of some period; who, why and what happens are not.
ASKS_FIGURE = re.compile(
    (
        r"\b(?:what|which) (?:is|was|are|were|will be|amount|percentage|share|number)\b|\bhow (?:much|many"
        r"|high|large|big|low|long)\b"
    ),
    re.I,
)
# What follows from what was said leans on all of it.
CONSEQUENCE = re.compile(r"(?:and )?(?:so|then)\b", re.I)
FORMER = re.compile(r"\b(?:former|first)\b(?!.{0,80}\b(?:latter|second)\b)", re.I)
COUNTS = {"three": 3, "four": 4, "five": 5, "3": 3, "4": 4, "5": 5}
COUNTED = re.compile(
    r"\b(three|four|five|[345]) (?:\w+ )?(?:years|quarters|months|periods|values|amounts)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question that can be leant on is about. whole: that question, completed; last: a follow-up since
    then that could not be put into it, "" where there is none."""

    whole: str
    last: str = ""

    @property
    def text(self) -> str:
        """Both, as they are carried."""
        return " ".join(filter(None, (self.whole, self.last)))


@dataclass(frozen=True, slots=True)
class Talk:
    """What the questions so far were about. operands: what the last one computed from, () where it
    computed nothing.
    """

    subjects: tuple[Subject, ...] = ()
    operands: tuple[str, ...] = ()

    def about(self, subject: Subject) -> Talk:
        """The talk after a question about this."""
        return Talk((*self.subjects, replace(subject, whole=subject.whole[:LONGEST_CARRIED])))


def is_follow_up(question: str, exchanges: Sequence[Exchange]) -> bool:
    """True where `question` leans on the exchanges before it: it points back, goes on from them, or names
    no subject of its own.
    """
    return _leans(question, _talk(exchanges))


def standalone_query(question: str, exchanges: Sequence[Exchange]) -> str:
    """The query to search. A follow-up that names one thing ("And in 2023?") is the earlier question with
    that thing in the place of its like; one that computes ("What is the difference?") is preceded by the
    questions for its operands; one with a subject of its own takes over the period and the names alone, as
    does a topic that has no like in it ("What about education?" after a ceiling); any other is preceded by
    the last question that stands alone, in the form that follow-ups since then gave it. What was answered
    does not count: a question that was refused is leant on too."""
    return _taken(question, _talk(exchanges))[0]


def _talk(exchanges: Sequence[Exchange]) -> Talk:
    talk = Talk()
    for exchange in exchanges:
        talk = _taken(exchange.user[:LONGEST_CARRIED], talk)[1]
    return talk


def _leans(question: str, talk: Talk) -> bool:
    said = [subject.text for subject in talk.subjects[-2:]]
    question = question.strip()
    return bool(said and not is_courtesy(question)) and (
        bool(GOES_ON.match(question))
        or points_back(question)
        or len(content_terms(question)) < FEW_TERMS
        or not own_terms(question)
        or mentions(question, said)
    )


def _taken(question: str, talk: Talk) -> tuple[str, Talk]:
    """The query of a question in this talk, and the talk after it."""
    if is_courtesy(question):
        return question, talk
    # What was asked before asks for the same again, and does not lean on itself.
    if talk.subjects and _same(question, talk.subjects[-1].last):
        return talk.subjects[-1].text, talk
    if own_terms(question) and any(_same(question, subject.whole) for subject in talk.subjects):
        return question, talk.about(Subject(question))
    if not _leans(question, talk):
        return question, talk.about(Subject(question))
    if FORMER.search(question) and len(talk.subjects) > 1:
        subject = talk.subjects[-2]
    else:
        subject = talk.subjects[-1]
    if mentions(question, [earlier.text for earlier in talk.subjects[-2:]]):
        operands = _with_years_of(question, talk.operands or _operands(question, talk.subjects))
        return _joined(*operands, question), Talk(talk.subjects, operands)
    carried = " ".join(talk.operands) or subject.text
    topic = topic_of(question)
    if subject.last and not topic:
        whole = ""
    else:
        whole = substitute(subject.whole, question) or _longer_name(subject.whole, question)
    whole = (
        whole
        or _completed(question, subject.text, carried)
        or (_alone(topic or question, carried) if topic or asks_of_document(question) else "")
    )
    if whole:
        return whole, talk.about(Subject(without_conjunction(whole)))
    if talk.operands and not own_terms(question):  # "How much is that in billions?"
        return _joined(*talk.operands, question), talk
    return _joined(subject.text, question), talk.about(Subject(subject.whole, question))


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
    if found := COUNTED.search(question):
        count = COUNTS[found[1].lower()]
    else:
        count = 2
    run = list(
        takewhile(lambda subject: not subject.last and own_terms(subject.whole) == own, reversed(subjects))
    )
    for places, months in ((years_in, False), (months_in, True)):
        named = [found_at(places, subject.whole) for subject in run]
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
    known = [period for operand in operands for period in found_at(years_in, operand)]
    more = [period for period in found_at(years_in, question) if period not in known]
    if more:
        return (*others, with_years(last, list(dict.fromkeys([*found_at(years_in, last), *more]))))
    return operands


def _longer_name(question: str, follow_up: str) -> str:
    """The earlier question for the follow-up's years where that names its subject by fewer words: "that
    revenue in 2014"; "" elsewhere.
    """
    own = own_terms(follow_up)
    years = found_at(years_in, follow_up)
    shorter = (
        own and own < own_terms(question) and not computes(follow_up) and not names_by_pronoun(follow_up)
    )
    if shorter and years:
        return with_years(question, years)
    return ""


def _alone(topic: str, carried: str) -> str:
    """What is to be looked for, with the bodies and the periods that were spoken of where it names none:
    "education, Acme, 2024".
    """
    own = understand(carried, carried).names
    if understand(f"Of {topic}", f"Of {topic}").names:
        bodies = []
    else:
        bodies = [name for name in own if _owns(name, carried)]
    parts = [*bodies, *([] if years_in(topic) else [" and ".join(found_at(dates_in, carried))])]
    added = ", ".join(filter(None, parts))
    end = len(topic.rstrip(" ?.!"))
    if not added:
        return topic
    if asks_of_document(topic):
        return f"{topic[:end]} ({added}){topic[end:]}"
    return f"{topic}, {added}"


def _completed(question: str, subject: str, carried: str) -> str:
    """A follow-up that names its subject, with the years that it leaves out, and the names in brackets; ""
    where it leans on more than these.
    """
    own = own_terms(question)
    again = own_terms(subject) <= own
    asks_figure = ASKS_FIGURE.search(question) and not CONSEQUENCE.match(question)
    if (
        not own
        or (points_back(question) and not again)
        or not (asks_figure or (again and years_in(question)))
    ):
        return ""
    years = found_at(years_in, carried)
    dates = found_at(dates_in, carried)
    if len(years) == 1:
        whole = THAT_YEAR.sub(years[0], question)
    else:
        whole = question
    if dates and not years_in(whole):
        inside = THAT_PERIOD.sub(with_years("", dates).removeprefix(" in "), whole, count=1)
        if inside != whole:
            whole = inside
        else:
            whole = with_years(whole, dates)
    if not years_in(whole):
        return ""
    if understand(whole, whole).names:
        names = []
    else:
        names = _bodies(subject)
    end = len(whole.rstrip(" ?.!"))
    whole = f"{whole[:end]} ({', '.join(names)}){whole[end:]}" if names else whole
    if whole == question:
        return question
    return _begun_as(question, without_conjunction(whole))


def _bodies(question: str) -> list[str]:
    """The names of those whom a question is about. Letters alone are one where something is theirs: "VAT
    rate" has none, "debt of the IMF" has.
    """
    return [
        name for name in understand(question, question).names if not name.isupper() or _owns(name, question)
    ]


def _owns(name: str, question: str) -> bool:
    """Whether something is this name's, or it does something: "debt of the IMF", "did Acme"."""
    named = re.escape(name)
    return bool(
        re.search(
            rf"\b(?:of|for|at|by|in|did|does|do|has|will) (?:the )?{named}\b|\b{named}['’]s?(?!\w)", question
        )
    )


def _begun_as(question: str, whole: str) -> str:
    """With a capital letter where the question begins with one."""
    if question[:1].isupper():
        return whole[:1].upper() + whole[1:]
    return whole

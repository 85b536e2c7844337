"""Puts what a follow-up names in the place of its like in the question before it; one question into
another, keeps no conversation.
"""

from __future__ import annotations

import re

from chatbot.search.follow_up.cues import (
    computes,
    found_at,
    months_in,
    other_year,
    own_terms,
    stands_alone,
    with_years,
    years_in,
)
from ingestion.language.measures import Measure, find_measures
from ingestion.language.periods import find_periods
from ingestion.language.terms import terms

__all__ = ["substitute", "topic_of"]

# A follow-up that names one thing, to be taken in the place of its like: "And in 2023?", "What about
# education?", "and for Costco?".
SAME_OF = re.compile(
    r"(?:(?:(?:and|but|so|or|also|then|ok|okay)[ ,]+)+(?:(?:what|how) about |what of |(?=(?:in|for|of"
    r"|from|on|by|the|its|their) |(?-i:[A-Z0-9])))"
    r"|(?:and|or) (?!(?:what|how|which|when|where|who|whom|whose|why|if|is|are|was|were|do|does|did|has"
    r"|have|had|can|will|would|should|could|not|then|so|also"
    r"|at|to|with|under|over|between|until|since|after|before|compared|concerning|considering|regarding"
    r"|including|excluding|it|this|that|these|those|they"
    r"|explain|describe|list|name|show|give|tell|compare|summari[sz]e|calculate|compute|please)\b)"
    r"|(?:what|how) about |what of |(?=in |for ))"
    r"(?P<led>in |for |of |from |on |at |by |the same for )?(?P<other>[^?.!]{1,80})[?.! ]*",
    re.I,
)
STEPS = (
    (re.compile(r"\b(?:the )?(?:year before|previous year|prior year|preceding year)\b", re.I), -1),
    (re.compile(r"\b(?:the )?(?:year after|next year|following year)\b", re.I), 1),
)
# "The total total assets": where "total goodwill" gives way to "total assets".
DOUBLED = re.compile(r"\b(\w+) \1\b", re.I)
# More words than this say something of their own.
MOST_WORDS = 5
# What is asked of: "on health in 2025", "of the reserve?". Possessive, or a run of blanks is divided in every
# way.
OBJECT = re.compile(
    r"\b(?:on|for|of|to)\s++(?P<object>(?!this\b|that\b|it\b)[\w'’ -]{2,60}?)(?=\s+(?:in|for|by|at"
    r"|during|between|from|of|as|compared)\b|\s*[?.,!]|\s*$)"
)
NAME = re.compile(r"(?<![.?!] )\b[A-Z][\w&’-]*(?:[ -][A-Z][\w&’-]*)*")
QUESTION_WORD = re.compile(
    (
        r"\W*(?:what|how|which|when|where|who|why|is|are|was|were|do|does|did|has|have|can|will|should|could"
        r"|in|for|of|on|the|and)\b"
    ),
    re.I,
)
WORD = re.compile(r"[\w&'’-]+")
# What belongs to the name of the measure after it.
QUALIFIES = re.compile(r"core|headline|underlying|real|nominal|gross|net|consumer|price|prices", re.I)
# What goes on from a measure's name: "ceiling" after "deficit".
REST_OF_NAME = re.compile(
    (
        r"(?: (?!(?:in|for|of|on|at|from|by|during|between|as|and|or|is|was|are|were|to|with|than|over|under"
        r"|per|go|rise|fall|grow)\b)[a-z-]+){0,3}"
    ),
    re.I,
)
# What money is spent on: the functions of government (COFOG, United Nations), with what budgets call their
# parts.
PURPOSES = frozenset(
    terms(
        """education school schools university universities research science health hospital hospitals defence defense military police justice
        safety security order agriculture farming fisheries forestry transport roads road rail railways infrastructure energy electricity mining industry tourism
        communications environment climate housing water sanitation culture recreation sport sports religion youth welfare social protection pensions
        pension subsidies subsidy debt services"""
    )
)
BUDGET = r"(?:budget|spending|expenditure|allocation|outlay|grant)s?"
# Words before a budget that say which budget it is, and not what it is for.
KIND_OF_BUDGET = (
    r"(?:the|an?|this|that|its|their|our|capital|current|recurrent|total|annual|gross|net|public"
    r"|government|national|general|federal|state|central|local|overall"
    r"|whole|supplementary|actual|planned|original|approved|revised|proposed|discretionary|mandatory"
    r"|primary|operating|real|nominal|last|next|previous|final"
    r"|draft|budget|budgeted|of|in|for|and|or|more|less|much)\b"
)
PURPOSE_WORD = rf"(?!{KIND_OF_BUDGET}|\d)[\w&-]{{2,40}}"
# "the health budget", "Acme's road grants": what is between the word that leads it in and the word for the
# money.
PURPOSE = re.compile(
    rf"(?:\b(?:the|an?|this|its|their|our|of|on|for|in|to|is|was|are|were|much)"
    rf"|['’]s)\s(?P<purpose>{PURPOSE_WORD}(?: {PURPOSE_WORD})?)"
    rf"(?= (?:(?:capital|current|recurrent|total|annual) )?{BUDGET}"
    r"(?:[\s?.,!]*$|[?.,!]|\s+(?:in|for|of|on|to|by|at|from|during|between|this|next|last|and|per|as|is|was"
    r"|were|are|be|has|have|had|did|does|will|change)\b))",
    re.I,
)
BUDGET_END = re.compile(rf" {BUDGET}\Z", re.I)


def topic_of(question: str) -> str:
    """What a follow-up such as "What about education?" names, where that can be looked for alone; ""
    elsewhere: "and in Asia?" and "what about Acme?" say of what else the same is asked, and "and the anchor?"
    is one that was spoken of."""
    found = SAME_OF.fullmatch(question.strip())
    if not found or (found["led"] or "").casefold() not in ("", "for ", "on ", "the same for "):
        return ""
    other = found["other"].strip(" ,")
    topic = re.sub(r"^(?:the|a|an) ", "", other, flags=re.I)
    known = _is_purpose(topic) or bool(_of_measures(topic))
    named = any(not topic[start:end].isupper() for start, end in _of_names(topic))
    spoken_of = other[:4].casefold() == "the " and len(own_terms(topic)) == 1
    if stands_alone(topic) and (known or not (named or spoken_of)):
        return topic
    return ""


def substitute(question: str, follow_up: str) -> str:
    """The earlier question with what a follow-up such as "And in 2023?" or "What about education?" names in
    the place of its like: periods, a measure, a name, or what was asked of; "" where the follow-up says more
    than that, or there is nothing of its kind."""
    bare = not own_terms(follow_up) and not computes(follow_up)
    found = SAME_OF.fullmatch(follow_up.strip())
    if found:
        other = found["other"].strip()
    else:
        other = follow_up if bare else ""
    if step := next((step for pattern, step in STEPS if pattern.search(other or follow_up)), 0):
        if other:
            return other_year(question, step)
        return ""
    if not other or (not bare and len(other.split()) > MOST_WORDS):
        return ""
    with_periods, other = _other_periods(question, other)
    if with_periods and own_terms(other) <= own_terms(question):
        return with_periods
    if found and other:
        return _other_subject(with_periods or question, other)
    return ""


def _other_periods(question: str, other: str) -> tuple[str, str]:
    """The question with the other's periods and months for its own, "" where that has none, and the other
    without them.
    """
    text = ""
    for places, months in ((years_in, False), (months_in, True)):
        periods = found_at(places, other)
        if periods and (not months or places(question)):
            text = with_years(text or question, periods, months=months)
            for period in periods:
                other = other.replace(period, "")
    return text, re.sub(r" (?:in|for|of|on|at|by)\Z", "", other.rstrip(" ,"))


def _other_subject(question: str, other: str) -> str:
    """The question with the other's measure, name, or what is asked of, for its own; "" where there is
    nothing of its kind.
    """
    objects = [
        match.span("object") for match in OBJECT.finditer(question) if not find_periods(match["object"])
    ]
    # Where it stands what a budget is for: "health" of "the health budget".
    purposes = [found.span("purpose") for found in PURPOSE.finditer(question)]
    purpose = _as_purpose(other)
    if (
        purposes and purpose and all(NAME.search(question[start:end]) for start, end in objects)
    ):  # "the health budget of Acme"
        return f"{question[: purposes[-1][0]]}{purpose}{question[purposes[-1][1] :]}"
    for kind in (_of_measures, _of_names):
        here = kind(other)
        there = kind(question)
        if kind is _of_names and _is_purpose(other):
            here = there = [(start, end) for start, end in there if _is_purpose(question[start:end])]
        if here:
            if there:
                start, end = there[-1]
            else:
                start, end = (0, 0)
            if kind is _of_measures or here is there:
                named = re.sub(r"^(?:the|its|their) ", "", other, flags=re.I)
            else:
                named = other[slice(*here[0])]
            if there:
                return DOUBLED.sub(r"\1", f"{question[:start]}{named}{question[end:]}")
            return ""
    if re.match(r"(?:its|their) ", other, re.I):
        return ""
    return f"{question[: objects[0][0]]}{other}{question[objects[0][1] :]}" if objects else ""


def _of_names(text: str) -> list[tuple[int, int]]:
    other = [
        span for places in (years_in, months_in, _of_measures) for span in places(text)
    ]  # "GDP growth" names a measure
    found = (match.span() for match in NAME.finditer(text) if match.start() or not QUESTION_WORD.match(text))
    return [(start, end) for start, end in found if not any(first <= start < last for first, last in other)]


def _of_measures(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand that name its first measure."""
    words = [(match.start(), match.end(), tuple(terms(match[0]))) for match in WORD.finditer(text)]
    for measure in find_measures(tuple(term for *_, parts in words for term in parts)):
        for phrase in measure.asked:
            wanted = set(phrase)
            places = [(start, end) for start, end, parts in words if parts and set(parts) <= wanted]
            if len(places) == len(phrase):
                end = places[-1][1]
                return [
                    (_name_start(text[: places[0][0]], measure), end + len(REST_OF_NAME.match(text, end)[0]))  # type: ignore[index]
                ]
    return []


def _name_start(before: str, measure: Measure) -> int:
    """Where the name of a measure begins, given the text before the last words of it: "CPI" of "core CPI
    inflation" is the same measure's.
    """
    same = {term for phrase in measure.asked for term in phrase}
    start = len(before)
    for word in reversed(list(WORD.finditer(before))):
        if before[word.end() : start].strip() or not (
            QUALIFIES.fullmatch(word[0]) or ((parts := set(terms(word[0]))) and parts <= same)
        ):
            break
        start = word.start()
    return start


def _is_purpose(topic: str) -> bool:
    """Whether it names a function of government, in capitals or not: "Education" is no body's name."""
    return not PURPOSES.isdisjoint(terms(topic))


def _as_purpose(other: str) -> str:
    """What the other says that money is spent on, as it stands before "budget"; "" where it says none."""
    purpose = re.sub(r"^(?:the|a|an) ", "", other, flags=re.I)
    bare = BUDGET_END.sub("", purpose)
    if stands_alone(bare) and (bare != purpose or _is_purpose(bare)) and not _of_measures(bare):
        return bare
    return ""

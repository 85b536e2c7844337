"""Puts what a follow-up names in the place of its like in the question before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

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
# Leads in something that can be looked for alone.
LED_TOPIC = frozenset(("", "for ", "on ", "the same for "))
ARTICLE = re.compile(r"^(?:the|a|an) ", re.I)
STEPS = (
    (re.compile(r"\b(?:the )?(?:year before|previous year|prior year|preceding year)\b", re.I), -1),
    (re.compile(r"\b(?:the )?(?:year after|next year|following year)\b", re.I), 1),
)
# "The total total assets": where "total assets" takes the place of "goodwill" in "total goodwill".
DOUBLED = re.compile(r"\b(\w+) \1\b", re.I)
# A follow-up of more words says something of its own.
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
# Words that belong to the name of the measure after them.
QUALIFIES = re.compile(r"core|headline|underlying|real|nominal|gross|net|consumer|price|prices", re.I)
# How a measure's name may go on: "ceiling" after "deficit".
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
        """
        education school schools university universities research science health hospital hospitals defence
        defense military police justice safety security order agriculture farming fisheries forestry transport
        roads road rail railways infrastructure energy electricity mining industry tourism communications
        environment climate housing water sanitation culture recreation sport sports religion youth welfare
        social protection pensions pension subsidies subsidy debt services
        """
    )
)
BUDGET = r"(?:budget|spending|expenditure|allocation|outlay|grant)s?"
# Words before a budget that say which budget it is, not what it is for.
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
    elsewhere.

    "And in Asia?" and "what about Acme?" say for what else the same is asked, and "and the anchor?" means one
    that was spoken of.
    """
    found = SAME_OF.fullmatch(question.strip())
    if not found or (found["led"] or "").casefold() not in LED_TOPIC:
        return ""
    other = found["other"].strip(" ,")
    topic = ARTICLE.sub("", other)
    if not stands_alone(topic):
        return ""
    if _is_purpose(topic) or _of_measures(topic):
        return topic
    if any(not topic[start:end].isupper() for start, end in _of_names(topic)):
        return ""
    if other[:4].casefold() == "the " and len(own_terms(topic)) == 1:
        return ""
    return topic


def substitute(question: str, follow_up: str) -> str:
    """The earlier question with what a follow-up such as "And in 2023?" or "What about education?" names in
    the place of its like: periods, a measure, a name, or what was asked of.

    "" where the follow-up says more than that, or there is nothing of its kind.
    """
    bare = not own_terms(follow_up) and not computes(follow_up)
    found = SAME_OF.fullmatch(follow_up.strip())
    if found:
        other = found["other"].strip()
    else:
        other = follow_up if bare else ""
    step = _step(other or follow_up)
    if step:
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


def _step(text: str) -> int:
    """How many years later a text asks for, below 0 for earlier; 0 where it does not say."""
    for pattern, step in STEPS:
        if pattern.search(text):
            return step
    return 0


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
    objects = _of_objects(question)
    # Where it stands what a budget is for: "health" of "the health budget".
    purposes = [found.span("purpose") for found in PURPOSE.finditer(question)]
    purpose = _as_purpose(other)
    # "the health budget of Acme"
    if purposes and purpose and _are_names(question, objects):
        return _replaced(question, purposes[-1], purpose)
    if _of_measures(other):
        return _with_measure(question, other, _of_measures(question))
    names = _of_names(question)
    if _is_purpose(other):
        # "Education" is no body's name: it takes the place of another purpose only.
        named = [(start, end) for start, end in names if _is_purpose(question[start:end])]
        if named:
            return _with_measure(question, other, named)
    else:
        own_names = _of_names(other)
        if own_names:
            start, end = own_names[0]
            return _with_name(question, other[start:end], names)
    if not objects or re.match(r"(?:its|their) ", other, re.I):
        return ""
    return _replaced(question, objects[0], other)


def _of_objects(question: str) -> list[tuple[int, int]]:
    """Where it stands what is asked of, periods apart."""
    found = OBJECT.finditer(question)
    return [match.span("object") for match in found if not find_periods(match["object"])]


def _are_names(text: str, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a name stands at each of these places."""
    return all(NAME.search(text[start:end]) for start, end in places)


def _replaced(text: str, span: tuple[int, int], other: str) -> str:
    start, end = span
    return f"{text[:start]}{other}{text[end:]}"


def _with_measure(question: str, other: str, places: Sequence[tuple[int, int]]) -> str:
    """The question with another measure or purpose in the last of these places; "" where there is none."""
    return _with_name(question, re.sub(r"^(?:the|its|their) ", "", other, flags=re.I), places)


def _with_name(question: str, name: str, places: Sequence[tuple[int, int]]) -> str:
    """The question with another name in the last of these places; "" where there is none."""
    if not places:
        return ""
    return DOUBLED.sub(r"\1", _replaced(question, places[-1], name))


def _of_names(text: str) -> list[tuple[int, int]]:
    """Where the names of a text stand."""
    # "GDP growth" names a measure.
    other = [*years_in(text), *months_in(text), *_of_measures(text)]
    spans = [match.span() for match in NAME.finditer(text)]
    if spans and spans[0][0] == 0 and QUESTION_WORD.match(text):
        spans = spans[1:]
    taken = {span for span in spans for first, last in other if first <= span[0] < last}
    return [span for span in spans if span not in taken]


def _of_measures(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand that name its first measure."""
    words = [(match.start(), match.end(), tuple(terms(match[0]))) for match in WORD.finditer(text)]
    in_order = chain.from_iterable(parts for _, _, parts in words)
    for measure in find_measures(tuple(in_order)):
        for phrase in measure.asked:
            wanted = set(phrase)
            places = [(start, end) for start, end, parts in words if parts and wanted.issuperset(parts)]
            if len(places) == len(phrase):
                start = _name_start(text[: places[0][0]], measure)
                return [(start, _name_end(text, places[-1][1]))]
    return []


def _name_end(text: str, end: int) -> int:
    """Where the name of a measure ends, given the end of its last known word."""
    rest = REST_OF_NAME.match(text, end)
    assert rest is not None  # it matches nothing, too
    return rest.end()


def _name_start(before: str, measure: Measure) -> int:
    """Where the name of a measure begins, given the text before its last words: "CPI" of "core CPI inflation"
    belongs to the same measure.
    """
    same = set(chain.from_iterable(measure.asked))

    def belongs(word: str) -> bool:
        if QUALIFIES.fullmatch(word):
            return True
        parts = set(terms(word))
        return bool(parts) and parts <= same

    start = len(before)
    for word in reversed(list(WORD.finditer(before))):
        if before[word.end() : start].strip() or not belongs(word[0]):
            break
        start = word.start()
    return start


def _is_purpose(topic: str) -> bool:
    """Whether it names a function of government, in capitals or not: "Education" is no body's name."""
    return not PURPOSES.isdisjoint(terms(topic))


def _as_purpose(other: str) -> str:
    """What the other says that money is spent on, as it stands before "budget"; "" where it says none."""
    purpose = ARTICLE.sub("", other)
    bare = BUDGET_END.sub("", purpose)
    if not stands_alone(bare) or _of_measures(bare):
        return ""
    if bare != purpose or _is_purpose(bare):
        return bare
    return ""

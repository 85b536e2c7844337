"""Tells what a question says by itself and what it leaves to the questions before it.

That is its subject, its periods and its operation. No conversation is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, pairwise

from chatbot.question_reading import COMPUTED, NO_SUBJECT
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.months import MONTH_NAME, month_number
from ingestion.language.periods import YEAR, Period, find_periods
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.terms import content_terms, terms

__all__ = [
    "asks_of_document",
    "computes",
    "found_at",
    "is_courtesy",
    "mentions",
    "months_in",
    "names_by_pronoun",
    "other_year",
    "own_terms",
    "points_back",
    "relates",
    "stands_alone",
    "with_years",
    "without_conjunction",
    "years_in",
]

# Words beside NO_SUBJECT, and beside COMPUTED, that say what is taken from the questions before, and how.
_OF_OTHERS = frozenset(
    terms(
        """
        figure net one thing specific exact same overall whole month quarter time date beginning start
        previous prior preceding next following last past first second third latter former two three four
        five six full later earlier since hundred cents points consider concern regard include exclude
        add assume become come comprise result question answer
        """
        + " ".join((*SCALE_TERMS, *CURRENCY_TERMS))
    )
)
# What these name if no figure is worked out: "that tax rate", "for development".
_NAMING = frozenset(terms("rate level nominal fiscal financial company constitution develop move"))
_RELATED = frozenset(
    terms(
        """
        differ variation vary reduce portion fraction together comparison represent relation relative divide
        multiply plus minus half double gain respective sum larger smaller greater bigger
        """
    )
)
# "for the two years", "including 2016, what becomes the total", "what is that times 100", "what is the
# total?".
_OPERATION = re.compile(
    r"\b(?:two|three|four|five|both|these|those|[2-5])(?: \w+)? (?:years|quarters|months|periods|values"
    r"|amounts|figures|numbers)\b"
    r"|^(?:and |so |or )?(?:including|excluding|adding)\b|\b(?:is|was|were|are) (?:that|this|it) (?:less"
    r"|times|plus|minus|over)\b"
    r"|\bwhat (?:is|was|are|were) the (?:grand |overall )?total[ ?.!]*$",
    re.I,
)
# What takes two measures, where a change takes two periods of one.
_RELATION = re.compile(
    r"\b(?:represent\w*|relation|relative|ratio|fraction|portion|proportion|share|divided|first|second"
    r"|former|combined|together|both|compare|difference"
    r"|sum|plus|minus|average|these two|those two|the two|percent(?:age)?(?! change| increase| decrease"
    r"| growth| reduction))\b",
    re.I,
)
_KIND = (
    r"(?:value|amount|figure|number|total|sum|change|difference|variation|increase|decrease|growth"
    r"|decline|drop|reduction|percentage|ratio"
    r"|share|portion|average)s?"
)
# "the difference?", "the net change over the 2010 value": a computation that does not say of what.
_BARE_COMPUTATION = re.compile(
    (
        rf"\b{_KIND}(?=[ ,]*(?:$|[?.!]|(?:over|during|divided|times|as|compared|relative|then|plus|minus"
        rf"|represent)\b|in percent))"
    ),
    re.I,
)
# What takes two measures, whatever the last of them is.
_PAIR = re.compile(
    (
        r"\b(?:first|second|former|latter|both|(?:the|these|those) two(?! (?:years|quarters|months"
        r"|periods)))\b|\bthey compare\b"
    ),
    re.I,
)
# Pronouns, and "this" or "that" where it is no conjunction ("a rule that …").
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|he|she|his|her|ones|the same|former|latter|the previous one"
    r"|instead)\b(?! (?:year|period|time|quarter|month)\b)"
    r"|\b(?:these|those)\b(?= (?:are|were|be|have|had|do|did|compare)\b|[\s?.,]*$)"
    r"|\b(?:of|for|from|than|by|after|before|under|behind|beyond|about|despite|on|to|with|like|is|was|does"
    r"|did) (?:this|that)\b"
    r"(?=[\s?.,]*(?:$|[?.,]|(?:in|for|by|from|less|times|plus|minus|over|compare\w*|was|is|were|has|had)\b))"
    r"|^(?:is|was|has|have|had|will|would|can|could|does|did|do) (?:this|that)\b|\b(?:do|does|did) (?:this"
    r"|that)\b|\bhow do .{0,30}compare\b",
    re.I,
)
# "that amount", "these 2008 distributions": but "that variation for the index" is the same of something else,
# and "that year" is a time.
_DEMONSTRATIVE = re.compile(
    r"(?:^|(?:[,;]|\b(?:of|for|from|than|by|with|to|in|on|over|and|is|was|were|are|does|did|do|has|have"
    r"|considering|concerning|assuming))\s+)"
    rf"(?:this|that|these|those) (?!(?:same )?(?:year|period|time|quarter|month)s?\b|{_KIND} (?:for|of"
    rf"|in) (?!(?:this|that|these|those)\b))"
    r"(?!(?:the|an?|it|they|we|you|he|she|there|no|some|all|if|when|where|this|these)\b)\w"
    r"|\b(?:these|those) (?!(?:same )?(?:years|periods|quarters|months|who|whose|which|that|with|in|of|for"
    r"|are|were|be|have|had|do|did)\b)\w",
    re.I,
)
# "Concerning the plans, what was their amount": the pronoun stands for what the question itself put first.
_TOPIC = re.compile(
    (
        r"(?:and |but |so )?(?:concerning|regarding|considering|as for|as to"
        r"|with regard to) (?:(?:(?!\b(?:it|its|they|them|their)\b)[^,?]){4,120}),"
    ),
    re.I,
)
_CONJUNCTION = re.compile(r"(?:(?:and|but|so|or|also|then|ok|okay)\b[ ,]*)+", re.I)
# May and March are months only where they are capitalised or follow "in" or "for".
_MONTH = re.compile(
    rf"\b(?:(?!may|march){MONTH_NAME}|(?-i:March|May)|(?<=in )(?:march|may)|(?<=for )(?:march|may))\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"[\d.]+")
# Between a month and its year: "June 2023", "Dec, 2023".
_MONTH_GAP = re.compile(r"[., ]{1,3}")
# Between two periods of one phrase: "2008 and 2009", "from 2008 to 2009".
_BETWEEN = re.compile(r"(?:[\s,]|\b(?:and|to|until|through|or|versus|vs|from|in)\b|[-–])*", re.I)
_LEADS_SPAN = re.compile(r"\b(?:between|from)\s*\Z", re.I)
# The years within a written period: "2024-25", "31 December 2024", "Q4'24".
YEARS_OF_PERIOD = re.compile(rf"{YEAR}|(?<={YEAR}[-/–])\d\d\Z|(?<![\d/-])\d\d\Z")
_END = " \t\r\n?.!"
# What is said out of politeness, or to show understanding, and what may follow it; neither asks for anything.
# The longer of two alternatives comes first.
_MANNERS = (
    r"thank you|thanks|thank|thx|cheers|okay|ok|great|perfect|excellent|cool|nice|good (?:morning"
    r"|afternoon|evening|day|bye)|good|fine|all right|alright"
    r"|hello|hi|hey|goodbye|bye|got it|i see|understood|see you|(?:very )?helpful|that(?:['’]?s| is) (?:all"
    r"|great|good|fine|(?:very )?(?:helpful|clear))"
)
_AFTER_MANNERS = (
    r"a lot|lots|so much|very much|again|indeed|then|there|all|everyone|for (?:that|this|now|the help"
    r"|your help)"
)
_COURTESY = re.compile(rf"\W*+(?:{_MANNERS})\b\W*+(?:(?:{_MANNERS}|{_AFTER_MANNERS})\b\W*+)*+", re.I)
# What a document does, and no rule, sum or body: "Which risks does it name?", "What risks are listed in it?".
_OF_DOCUMENT = re.compile(
    r"(?:and |so |but )?(?:which|what|how many) (?P<named>(?:[\w'’-]+ ){1,5}?)"
    r"(?:(?:does|do|did) (?:it|they) (?:also )?(?:name|list|mention|identify|describe|discuss|cite|report"
    r"|highlight|flag|outline|set out|warn of)"
    r"|(?:is|are|was|were) (?:named|listed|mentioned|identified|described|discussed|cited|reported"
    r"|highlighted|flagged|outlined|set out) (?:in|by) (?:it|them))"
    r"[\s?.!]*",
    re.I,
)
# The rest of something that was said, or a case of it: "everybody else", "when it is exceeded".
_REST = re.compile(
    (
        r"\b(?:else|others?|another|rest|remaining|remainder|alternatives?)\b|^(?:if|when|where|while|unless"
        r"|until|why|how|who|whether)\b"
    ),
    re.I,
)
# Aspects of something else: "and the reasons?" refers to what was said.
_ASPECTS = frozenset(
    terms(
        """
        reason cause impact effect consequence detail source implication background purpose context breakdown
        definition trend outlook forecast projection estimate target limit ceiling floor level rate actual
        risk result evidence example exception condition deadline assumption decision page
        """
    )
)


def own_terms(question: str) -> frozenset[str]:
    """The terms that name its subject: without periods, numbers, operations, and words that stand for any
    subject ("value", "year").
    """
    spans = sorted([(0, 0), *years_in(question), *months_in(question), (len(question), 0)])
    rest = [question[before[1] : after[0]] for before, after in pairwise(spans)]
    found = content_terms(" ".join(rest))
    subject = frozenset(term for term in found if not _DIGITS.fullmatch(term))
    return subject - (NO_SUBJECT - _NAMING) - _OF_OTHERS - _RELATED


def computes(question: str) -> bool:
    """Whether it asks for what is computed from several figures: a change, a share, a sum."""
    return bool(_OPERATION.search(question)) or not (COMPUTED - _NAMING | _RELATED).isdisjoint(
        terms(question)
    )


def relates(question: str, last: str) -> bool:
    """Whether it sets one measure against another; a change sets a measure against itself.

    last: the question before, which may have done so already ("This change as a percentage?").
    """
    if _PAIR.search(question):
        return True
    return bool(_RELATION.search(question)) and not computes(last)


def mentions(question: str, before: Sequence[str]) -> bool:
    """Whether it computes from what the questions before it named, and says no more about that than they
    did.
    """
    if not computes(question):
        return False
    own = own_terms(question)
    if not own.issubset(chain.from_iterable(map(own_terms, before))):
        return False
    years = len(years_in(question))
    if not own or not years:
        return True
    if years > 1:
        return False
    return bool(_BARE_COMPUTATION.search(question) or _OPERATION.search(question))


def is_courtesy(question: str) -> bool:
    """Whether it says thanks, welcome or farewell, or that it has understood, and asks nothing."""
    return bool(_COURTESY.fullmatch(question))


def asks_of_document(question: str) -> bool:
    """Whether it asks what the document names, so that "it" stands for the document: "Which risks does it
    name?".
    """
    found = _OF_DOCUMENT.fullmatch(question.strip())
    return bool(found and own_terms(found["named"]))


def stands_alone(topic: str) -> bool:
    """Whether what a follow-up names says what it is about: no pronoun, and not the rest, a case or an aspect
    of what was said.
    """
    if not own_terms(topic) - _ASPECTS:
        return False
    return not points_back(topic) and not _REST.search(topic)


def points_back(question: str) -> bool:
    """Whether a word of it stands for something that was said, and not for what it put first itself, nor
    for a time.
    """
    question = question.strip()
    topic = _TOPIC.match(question)
    if topic:
        return bool(_DEMONSTRATIVE.search(question[topic.end() :]))
    return bool(_PRONOUN.search(question) or _DEMONSTRATIVE.search(question))


def names_by_pronoun(question: str) -> bool:
    """Whether a pronoun stands for its subject."""
    return bool(_PRONOUN.search(question.strip()))


def without_conjunction(question: str) -> str:
    """The question without "and", "so" or their like at its beginning."""
    if found := _CONJUNCTION.match(question):
        return question[found.end() :]
    return question


def years_in(text: str) -> list[tuple[int, int]]:
    """Where its years and other periods stand; of one with a month the year alone, which others replace."""
    return [(_year_start(period), period.end) for period in find_periods(text)]


def _year_start(period: Period) -> int:
    if period.month and period.text[-4:].isdecimal():
        return period.end - 4
    return period.start


def months_in(text: str) -> list[tuple[int, int]]:
    """Where its months stand."""
    return [match.span() for match in _MONTH.finditer(text)]


def found_at(places: Callable[[str], list[tuple[int, int]]], text: str) -> list[str]:
    """What stands at these places of a text, once each."""
    return list(dict.fromkeys(text[start:end] for start, end in places(text)))


def dates_in(text: str) -> list[tuple[int, int]]:
    """Where its periods stand, a year with the month before it."""
    months = months_in(text)
    dates = []
    for start, end in years_in(text):
        begun = (first for first, last in months if _MONTH_GAP.fullmatch(text[last:start]))
        dates.append((next(begun, start), end))
    return dates


def with_years(text: str, periods: Sequence[str], *, months: bool = False) -> str:
    """The text with these periods (months: with these months) for its own, in the order of time; at its
    end where it has none.
    """
    if months:
        spans = months_in(text)
        periods = sorted(periods, key=lambda month: (month_number(month), month))
    else:
        spans = years_in(text)
        periods = sorted(periods, key=_by_year)
    written = " and ".join(filter(None, [", ".join(periods[:-1]), periods[-1]]))
    if not spans:
        end = len(text.rstrip(_END))
        return f"{text[:end]} in {written}{text[end:]}"
    first = len(spans) - 1
    while first and _BETWEEN.fullmatch(text[spans[first - 1][1] : spans[first][0]]):
        first -= 1
    before = text[: spans[first][0]]
    after = text[spans[-1][1] :]
    return f"{_LEADS_SPAN.sub('in ', before)}{written}{after}"


def _by_year(period: str) -> tuple[int, str]:
    """Sorts written periods by their first year."""
    return find_periods(period)[0].start_year, period


def other_year(question: str, step: int) -> str:
    """The question for `step` years later, earlier where `step` is below 0; "" where it names no single
    year.
    """
    periods = find_periods(question)
    if not periods or periods[-1].end_year > periods[-1].start_year + 1:
        return ""
    last = periods[-1]
    written = YEARS_OF_PERIOD.sub(lambda year: _shifted(year[0], step), last.text)
    return f"{question[: last.start]}{written}{question[last.end :]}"


def _shifted(year: str, step: int) -> str:
    """A year of two or four digits some years later."""
    digits = len(year)
    return f"{(int(year) + step) % 10**digits:0{digits}}"

"""Makes a standalone query of a follow-up by carrying over what the exchanges before were about; rules only, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.measures import find_measures
from chatbot.numbers import find_periods
from chatbot.records import Exchange
from chatbot.terms import content_terms, terms

__all__ = ["is_follow_up", "standalone_query"]

# A question of fewer content terms than this names no subject of its own: "Why?", "in 2026?", "the year before?".
FEW_TERMS = 2
# Characters that an earlier question may add to a query.
LONGEST_CARRIED = 1_000
# Words that point back at what was said before: at the beginning, or standing for something that was named. "That" and "there" do so
# only where they are no conjunction ("a rule that …") and no existence ("are there …").
POINTS_BACK = re.compile(
    r"^(and|but|so|or|also|then|ok|okay|same)\b|^(what|how) about\b|^what if\b"
    r"|\b(it|its|they|them|their|these|those|he|she|ones|the same|former|latter|the previous one|instead)\b"
    r"|\b(of|for|from|than|by|after|before|under|is|was|does|did) (this|that)\b(?=[\s?.,]*(?:$|[?.,]|in\b|for\b|by\b|from\b|compare|(?:was|is|were|has|had)\b))"
    r"|^(is|was|has|have|had|will|would|can|could|does|did|do) (this|that)\b"
    r"|\b(do|does|did) (this|that)\b|\bhow do .{0,30}compare\b",
    re.I,
)
# A follow-up that names one thing, to be taken in the place of its like: "And in 2023?", "What about education?", "and for Costco?".
SAME_OF = re.compile(
    r"(?:(?:(?:and|but|so|or|also|then|ok|okay)[ ,]+)+(?:(?:what|how) about |what of |(?=(?:in|for|of|from|on|by|the) |(?-i:[A-Z0-9])))|(?:what|how) about |what of "
    r"|(?=in |for ))(?:in |for |of |from |on |at |by |the same for )?(?P<other>[^?.!]{1,80})[?.! ]*",
    re.I,
)
STEPS = (
    (re.compile(r"\b(?:the )?(?:year before|previous year|prior year|preceding year)\b", re.I), -1),
    (re.compile(r"\b(?:the )?(?:year after|next year|following year)\b", re.I), 1),
)
# "2025-26", "2025/2026": one year under two numbers.
FISCAL_YEAR = re.compile(r"(?<!\d)(?P<first>(?:19|20)\d{2})(?P<mark> ?[-/–] ?)(?P<second>(?:\d{2}){1,2})(?!\d)")
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


def is_follow_up(question: str, exchanges: Sequence[Exchange]) -> bool:
    """True where `question` leans on the exchanges before it: it points back, or is too short to stand alone."""
    return bool(exchanges) and (bool(POINTS_BACK.search(question.strip())) or len(content_terms(question)) < FEW_TERMS)


def standalone_query(question: str, exchanges: Sequence[Exchange]) -> str:
    """The query to search: a follow-up is preceded by the last question that stands alone, in the form that follow-ups since then gave it, and
    by the one before it. What was answered does not count: a question that was refused is leant on too."""
    if not is_follow_up(question, exchanges):
        return question
    said = [exchange.user[:LONGEST_CARRIED] for exchange in exchanges]
    for index in range(len(said) - 1, -1, -1):
        if not is_follow_up(said[index], exchanges[:index]):
            whole, before, last = said[index], "", ""
            for later in [*said[index + 1 :], question]:
                other = "" if last else replaced(whole, later)  # what was said between would be lost
                whole, before, last = (other, "", "") if other else (whole, last, later)
            return " ".join(dict.fromkeys(filter(None, [whole, before, last])))
    return " ".join([said[-1], question])


def replaced(question: str, follow_up: str) -> str:
    """The earlier question with what a follow-up such as "And in 2023?" or "What about education?" names in the place of its like: a year,
    a name, a measure, or what was asked of; "" where the follow-up says more than that, or there is nothing of its kind."""
    found = SAME_OF.fullmatch(follow_up.strip())
    other = found["other"].strip() if found else ""
    if step := next((step for pattern, step in STEPS if pattern.search(other or follow_up)), 0):
        return _other_year(question, step) if found else ""
    if not other or len(other.split()) > MOST_WORDS:
        return ""
    for kind in (_of_periods, _of_measures, _of_names):
        here, there = kind(other), kind(question)
        if here:
            start, end = there[-1] if there else (0, 0)
            named = re.sub(r"^the ", "", other, flags=re.I) if kind is _of_measures else other[slice(*here[0])]
            return f"{question[:start]}{named}{question[end:]}" if there else ""
    objects = [match.span("object") for match in OBJECT.finditer(question) if not find_periods(match["object"])]
    return f"{question[: objects[0][0]]}{other}{question[objects[0][1] :]}" if objects else ""


def _other_year(question: str, step: int) -> str:
    periods = find_periods(question)
    if not periods or periods[-1].end_year > periods[-1].start_year + 1:
        return ""
    last = periods[-1]
    written = question[last.start : last.end]
    fiscal = FISCAL_YEAR.search(written)
    if not fiscal:
        return f"{question[: last.start]}{last.start_year + step}{question[last.end :]}" if last.start_year == last.end_year else ""
    digits = len(fiscal["second"])
    years = f"{int(fiscal['first']) + step}{fiscal['mark']}{(int(fiscal['second']) + step) % 10**digits:0{digits}}"
    return f"{question[: last.start]}{written[: fiscal.start()]}{years}{written[fiscal.end() :]}{question[last.end :]}"


def _of_periods(text: str) -> list[tuple[int, int]]:
    return [(period.start, period.end) for period in find_periods(text)]


def _of_names(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in NAME.finditer(text) if match.start() or not QUESTION_WORD.match(text)]


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

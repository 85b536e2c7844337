"""Finds what narrows a figure beside the words it belongs to.

That is a place or source at the beginning of its sentence, a bracket or a clause after it, or a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.language.numbers import Figure
from ingestion.language.periods import without_periods
from ingestion.language.scales import SCALE_TERMS, UNIT_TERMS
from ingestion.language.terms import terms

__all__ = ["claims", "is_bound", "qualifiers"]

# Stands beside the terms of a bracket that gives another amount.
OTHER = "otherwise"
_BOUND = re.compile(
    r"\b(?:at least|(?:no |not )?(?:more|less|fewer|higher|lower|greater) than|over|above"
    r"|under|below|up to|at most|as (?:much|many|high|low) as"
    r"|(?:a )?(?:maximum|minimum) of|exceed(?:s|ed|ing)?)\s{1,3}(?:(?:about|around|some|an?) )?\Z",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"[\w ]{0,20}? or (?:more|less|fewer|above|below|higher|lower|over|under)\b", re.IGNORECASE
)
# What somebody with an interest says. What an office states is a figure like others.
_CLAIMS = re.compile(
    (
        r"\b(?:claim(?:s|ed|ing)|alleg(?:es|ed|ing|edly)|purport\w*|reportedly|rumou?r\w*|critics"
        r"|the opposition|contended|disputed)\b"
    ),
    re.IGNORECASE,
)
_ATTRIBUTED = re.compile(r"\b(?:according to|in the (?:view|opinion|words) of)\b[^,.;]{0,80}", re.IGNORECASE)
_LEADS = re.compile(
    (
        r"\s{0,3}(?:and |while )?(?:in|for|within|across|at|among|outside|excluding|including|under"
        r"|without)\b(?P<rest>.*)"
    ),
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[^,;:()]{0,40}\((?P<inside>[^()]{0,120})\)")
_REFERS = re.compile(
    (
        r"\s{0,3}(?:see|table|chart|figure|box|annex|appendix|chapter|section|page|pp?\.|exhibit|note|source"
        r"|paragraph|graph)\b"
    ),
    re.IGNORECASE,
)
# "After falling to 5" is about another time.
_AFTER = re.compile(
    r"(?P<comma>,?)\s(?P<how>net of|gross of|excluding|including|inclusive of|exclusive of"
    r"|except(?: for)?|without|with|before|after|adjusted for"
    r"|at (?:current|constant|\d{4}) prices|in (?:real"
    r"|nominal) terms)\b(?! \w+ing\b)(?P<what>[^,;:.()]{0,80})",
    re.IGNORECASE,
)
# Without a comma before them these may give the time, "before the end of 2023", or not, "before tax".
_TIMES = frozenset({"before", "after"})
_ITEMS = re.compile(
    (
        r"\s(?:\w+ )?(?:tax(?:es|ation)?|interest|depreciation|refunds?|rebates?|grants?|subsid(?:y|ies)"
        r"|transfers?|deductions?|adjustments?|provisions?)\b"
    ),
    re.IGNORECASE,
)
# These are no terms, but "before tax" is not "after tax".
_CONTRARY = _TIMES | {"with", "without"}
_PLAIN = frozenset(
    terms(
        "addition contrast comparison particular total fact purpose line turn general meantime regard "
        "respect instance end aggregate sum short case "
        "year years month months quarter half fiscal financial period time date first second third fourth "
        "nine six three same current previous next "
        "coming budget budgeted revised estimate estimates estimated actual provisional early late mid "
        + " ".join((*UNIT_TERMS, *SCALE_TERMS))
    )
) | {"and", "of", "to"}


def claims(text: str) -> bool:
    """Whether a sentence gives what somebody claims."""
    return _CLAIMS.search(text) is not None


def is_bound(text: str, figure: Figure) -> bool:
    """Whether a figure is only the least or most of something."""
    before = text[max(0, figure.start - 40) : figure.start]
    return bool(_BOUND.search(before) or _OR_MORE.match(text, figure.end))


def qualifiers(text: str, figures: Sequence[Figure], index: int) -> frozenset[str]:
    """Terms of what begins the sentence and of what follows the figure, without times and amounts."""
    parts = list(_leads(text[: figures[0].start]))
    parts += [match[0] for match in _ATTRIBUTED.finditer(text)]
    figure = figures[index]
    end = len(text)
    if index + 1 < len(figures):
        end = figures[index + 1].start
    bracket = _BRACKET.match(text, figure.end)
    if bracket and bracket.start("inside") <= end:
        parts += _in_bracket(bracket, figure, figures)
    parts += _clauses(text[figure.end : end], last=end == len(text))
    return frozenset(term for part in parts for term in _content(part))


def _leads(before: str) -> Iterator[str]:
    """ "In the eastern district, in 2023, spending was": the parts up to the last comma."""
    for part in before.split(",")[:-1]:
        match = _LEADS.fullmatch(part)
        if match is None:
            return
        yield match["rest"]


def _in_bracket(bracket: re.Match[str], figure: Figure, figures: Sequence[Figure]) -> list[str]:
    """What is in brackets.

    [] where it refers to a table or page, or is the amount in another unit: "$5 billion (4.4% of GDP)".

    OTHER is added where the bracket gives another amount of the same unit and says of what: "(14 million with
    capital items)", not "(2023: 14 million)".
    """
    text = bracket["inside"]
    if _REFERS.match(text):
        return []
    start, end = bracket.span()
    inside = [other for other in figures if start < other.start < end]
    of_unit = [other for other in inside if other.unit == figure.unit]
    same = [other for other in of_unit if other.percent == figure.percent]
    if inside and not same:
        return []
    rest = text
    for other in same:
        rest = rest.replace(other.text, " ")
    if same and _content(rest):
        return [text, OTHER]
    return [text]


def _clauses(after: str, *, last: bool) -> Iterator[str]:
    """The clauses after a figure that narrow it. after: up to the next figure. last: there is none."""
    for match in _AFTER.finditer(after):
        names_part = not last and match.end() == len(after) and " and " not in match[0]
        if names_part:  # "including 5 for schools"
            continue
        if match["comma"] or not _is_time(match):
            yield match[0].partition(" and ")[0]


def _is_time(match: re.Match[str]) -> bool:
    """Whether a clause without a comma says when rather than of what."""
    return match["how"].lower() in _TIMES and not _ITEMS.match(match["what"])


def _content(text: str) -> list[str]:
    """Terms that narrow a figure: without times, amounts and words of any figure."""
    text = without_periods(text)
    found = [term for term in terms(text) if not term[0].isdigit() and term not in _PLAIN]
    if not found:
        return []
    return found + [word for word in text.casefold().split() if word in _CONTRARY]

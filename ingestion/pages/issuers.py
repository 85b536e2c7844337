"""Finds who issued a document: a company, by the form of law in its name, or the public body that it names.

It knows no company and no country.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from ingestion.pages.title_text import Written

__all__ = ["company_alone", "company_in", "place_in", "public_body", "registrant", "without_legal_form"]

# The most characters of a document that are searched for the name it mentions most.
SEARCHED = 30_000
LONGEST_NAME = 60
# What companies put behind their names, as patterns, the longer forms first.
LEGAL_FORMS = r"""
    Incorporated Corporation Company Limited Berhad GmbH(?:\s&\sCo\.?\sKG(?:aA)?)? KGaA S\.?p\.?A\.? S\.A\.
    N\.V\. B\.V\. Inc\.? Corp\.? Co\. Ltd\.? LLC L\.L\.C\. LLP L\.?P\. PLC plc p\.l\.c\. AG SE SA NV ASA AB
    Oyj Bhd
""".split()
LEGAL_FORM = f"(?:{'|'.join(LEGAL_FORMS)})"
AT_THE_END = re.compile(rf"(?i)(?:[\s,]+(?:and|&))?[\s,]+{LEGAL_FORM}(?=$|[\s,(])\.?(?:\s\(\w+\))?$")
AND_OTHERS = re.compile(r"(?i),? (?:and|&) (?:(?:its )?(?:consolidated )?subsidiaries|affiliates)\b.*$")
CAPITALISED = r"[A-Z0-9][\w.&'’-]{0,40}"
NAME = rf"(?:(?:The\s)?{CAPITALISED}(?:\s(?:(?:of|and|&|de|du|und|y)\s)?{CAPITALISED}){{0,4}}?)"
WITH_LEGAL_FORM = re.compile(rf"(?<![\w.&'’-]){NAME},?\s{LEGAL_FORM}(?![\w&])")
# "Acme Foods (NYSE: ACME)", "Acme (Nasdaq: ACM)".
WITH_TICKER = re.compile(
    rf"(?<![\w.&'’-])(?P<name>{NAME}(?:,?\s{LEGAL_FORM})?)\s\([A-Z]\w+(?:\s\w+)?\s?: ?[A-Z.]{{1,6}}\b"
)
TICKER_WITHIN = 3_000
REGISTRANT = re.compile(r"(?i)\bexact\s+names?\s+of\s+(?:the\s+)?(?:registrant|issuer|company)")
NO_NAME = re.compile(
    r"(?i)^\(|\b(?:commission|file|form|report|ended|ending|transition|period|number|mark one|act of|\d{4})\b"
)
MOST_NAME_LINES = 3
# With a legal form behind them these call no company by its name: "our Company", "Parent Corporation".
NO_COMPANY = frozenset(
    "our the this that its each such any other another parent holding group a an no state".split()
)
# What stands before the name of a country, a state or a city, or whose something is: "Norland's economy".
OF_A_PLACE = re.compile(
    r"\b(?:Government|Republic|Parliament|Constitution|People|Peoples|Kingdom|Bank|State|Commonwealth|City"
    r"|Province|National Assembly|Citizens)\s+of\s+(?:the\s+)?(?:(?:Republic|Kingdom|Commonwealth)\s+of\s+)?"
    r"(?P<place>[A-Z][^\W\d_]+(?:\s[A-Z][^\W\d_]+)?)|(?<![Tt]he )\b(?P<owner>[A-Z][^\W\d_]{3,})['’]s\b"
)
# How often a company or a place is named at least, and a place's share of all that are.
COMPANY_NAMED = 2
FEWEST_NAMED = 3
SHARE_NAMED = 0.5
# A body that issues documents, alone on its line or at the end of one.
PUBLIC_BODY = re.compile(
    r"(?i)^(?:the )?(?:(?:[\w.'’-]+ ){0,3}(?:government|ministry|department|treasury|office|republic|kingdom"
    r"|bank|commission|council|city|state|province|county|authority|agency|committee|board|bureau"
    r"|parliament|corporation) of(?: the)?(?: [\w.'’&,-]+){1,7}"
    r"|(?:[\w.'’-]+ ){1,3}(?:central bank|treasury|ministry of finance|monetary fund|monetary authority"
    r"|reserve board|audit office|accountability office|statistics office))$",
)


def without_legal_form(name: str) -> str:
    """A company's name as people say it: "Acme Foods" for "The Acme Foods Company, Inc."."""
    said = AND_OTHERS.sub("", " ".join(name.split())).strip(" ,")
    for _ in range(2):
        said = AT_THE_END.sub("", said).strip(" ,") or said
    return re.sub(r"^the\s+", "", said, flags=re.I)


def registrant(lines: Sequence[str]) -> str:
    """The name above "(Exact name of registrant …)" on the cover of a filing.

    Without such a line it is the first name with a legal form that stands alone; "" where there is none.
    """
    for at, line in enumerate(lines):
        if found := REGISTRANT.search(line):
            before = [*lines[max(0, at - MOST_NAME_LINES) : at], line[: found.start()].strip(" (")]
            above = list(takewhile(_may_be_name, filter(None, reversed(before))))
            names = [" ".join(reversed(above[start:])) for start in reversed(range(len(above)))]
            return next(filter(AT_THE_END.search, names), "".join(above[:1]))
    return company_alone(lines)


def company_alone(lines: Sequence[str]) -> str:
    """The first of these lines that is a company's name, by its legal form; "" for none."""
    named = (line for line in lines if _may_be_name(line) and AT_THE_END.search(line))
    return next(filter(_is_company, named), "")


def _is_company(name: str) -> bool:
    return without_legal_form(name).casefold() not in NO_COMPANY


def _may_be_name(line: str) -> bool:
    return len(line) <= LONGEST_NAME and any(map(str.isalpha, line)) and not NO_NAME.search(line)


def company_in(written: Written) -> str:
    """The company with a ticker at the document's head, or else that it mentions most; "" for none."""
    if found := WITH_TICKER.search(written.text[:TICKER_WITHIN]):
        return found["name"]
    found_names = (found[0] for found in WITH_LEGAL_FORM.finditer(written.text[:SEARCHED]))
    named = Counter(filter(_is_company, found_names)).most_common(1)
    return next((name for name, count in named if count >= COMPANY_NAMED), "")


def place_in(lines: Sequence[str], written: Written) -> str:
    """The country, state or city whose government a document speaks of, "" where none is sure.

    lines: of its cover, on which "Government of Norland" may stand alone. Elsewhere the place counts that is
    named most, with its government, parliament or bank, or as whose something is: "Norland's economy".
    """
    for line in map(written.lowered, lines):
        if found := OF_A_PLACE.fullmatch(line):
            return found["place"] or found["owner"]
    places = Counter(found["place"] or found["owner"] for found in OF_A_PLACE.finditer(written.text))
    fewest = max(FEWEST_NAMED, SHARE_NAMED * places.total())
    return next((place for place, count in places.most_common(1) if count >= fewest), "")


def public_body(lines: Sequence[str]) -> str:
    """The first public body that stands alone on one of these lines, "" for none."""
    bodies = (line for line in lines if len(line) <= LONGEST_NAME and PUBLIC_BODY.match(line))
    return re.sub(r"^the\s", "", next(bodies, ""), flags=re.I)

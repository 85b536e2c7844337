"""Finds who issued a document: a company, by the form of law in its name, or the public body that it names.

It knows no company and no country.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

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
AT_THE_END = re.compile(rf"(?:[\s,]+(?:and|&))?[\s,]+{LEGAL_FORM}(?=$|[\s,(])\.?(?:\s\(\w+\))?$", re.I)
AND_OTHERS = re.compile(r",? (?:and|&) (?:(?:its )?(?:consolidated )?subsidiaries|affiliates)\b.*$", re.I)
CAPITALISED = r"[A-Z0-9][\w.&'’-]{0,40}"
NAME = rf"(?:(?:The\s)?{CAPITALISED}(?:\s(?:(?:of|and|&|de|du|und|y)\s)?{CAPITALISED}){{0,4}}?)"
WITH_LEGAL_FORM = re.compile(rf"(?<![\w.&'’-]){NAME},?\s{LEGAL_FORM}(?![\w&])")
# "Acme Foods (NYSE: ACME)", "Acme (Nasdaq: ACM)".
WITH_TICKER = re.compile(
    rf"(?<![\w.&'’-])(?P<name>{NAME}(?:,?\s{LEGAL_FORM})?)\s\([A-Z]\w+(?:\s\w+)?\s?: ?[A-Z.]{{1,6}}\b"
)
REGISTRANT = re.compile(r"\bexact\s+names?\s+of\s+(?:the\s+)?(?:registrant|issuer|company)", re.I)
NO_NAME = re.compile(
    r"^\(|\b(?:commission|file|form|report|ended|ending|transition|period|number|mark one|act of|\d{4})\b",
    re.I,
)
MOST_NAME_LINES = 3
# With a legal form behind them these call no company by its name: "our Company", "Parent Corporation".
NO_COMPANY = frozenset(
    "our the this that its each such any other another parent holding group a an no state".split()
)
# What stands before the name of a country, a state or a city.
OF_A_PLACE = re.compile(
    r"\b(?:Government|Republic|Parliament|Constitution|People|Peoples|Kingdom|Bank|State|Commonwealth|City"
    r"|Province|National Assembly|Citizens)\s+of\s+(?:the\s+)?(?:(?:Republic|Kingdom|Commonwealth)\s+of\s+)?"
    r"(?P<place>[A-Z][^\W\d_]+(?:\s[A-Z][^\W\d_]+)?)"
)
PLACE_ALONE = re.compile(
    r"^(?:the )?(?:government|republic|kingdom|commonwealth|state|province|city) of (?:the )?"
    r"(?:(?:republic|kingdom|commonwealth|city|state) of (?:the )?)?(?P<place>[^\W\d_]+(?: [^\W\d_]+){0,2})$",
    re.I,
)
WHOSE = re.compile(r"(?<![Tt]he )\b(?P<owner>[A-Z][^\W\d_]{3,})['’]s\b")
COVER_LINES = 12
# How often a company or a place is named at least, and a place's share of all that are.
COMPANY_NAMED = 2
FEWEST_NAMED = 3
SHARE_NAMED = 0.5
# A body that issues documents, alone on its line or at the end of one.
PUBLIC_BODY = re.compile(
    r"^(?:the )?(?:(?:[\w.'’-]+ ){0,3}(?:government|ministry|department|treasury|office|republic|kingdom"
    r"|bank|commission|council|city|state|province|county|authority|agency|committee|board|bureau"
    r"|parliament|corporation) of(?: the)?(?: [\w.'’&,-]+){1,7}"
    r"|(?:[\w.'’-]+ ){1,3}(?:central bank|treasury|ministry of finance|monetary fund|monetary authority"
    r"|reserve board|audit office|accountability office|statistics office))$",
    re.I,
)


def without_legal_form(name: str) -> str:
    """A company's name as people say it: "Acme Foods" for "The Acme Foods Company, Inc."."""
    said = AND_OTHERS.sub("", " ".join(name.split())).strip(" ,")
    for _ in range(2):
        shorter = AT_THE_END.sub("", said).strip(" ,")
        said = shorter or said
    article = re.match(r"the\s+(?=\S)", said, re.I)
    if article and len(said) > len(article[0]):
        said = said[article.end() :]
    return said


def registrant(lines: Sequence[str]) -> str:
    """The name above "(Exact name of registrant …)" on the cover of a filing.

    Without such a line it is the first name with a legal form that stands alone; "" where there is none.
    """
    for at, line in enumerate(lines):
        found = REGISTRANT.search(line)
        if found is None:
            continue
        above = [line[: found.start()].strip(" (")] if found.start() > 1 else []
        for earlier in reversed(lines[max(0, at - MOST_NAME_LINES) : at]):
            if not _may_be_name(earlier):
                break
            above.insert(0, earlier)
        return _first_name(list(filter(None, above)))
    return company_alone(lines)


def company_alone(lines: Sequence[str]) -> str:
    """The first of these lines that is a company's name, by its legal form; "" for none."""
    named = (line for line in lines if _may_be_name(line) and AT_THE_END.search(line))
    return next(filter(_is_company, named), "")


def _is_company(name: str) -> bool:
    return without_legal_form(name).casefold() not in NO_COMPANY


def _may_be_name(line: str) -> bool:
    return len(line) <= LONGEST_NAME and any(map(str.isalpha, line)) and not NO_NAME.search(line)


def _first_name(lines: Sequence[str]) -> str:
    """The first whole name of these lines; the last line where none has a legal form."""
    name = ""
    for line in lines:
        name = f"{name} {line}".strip()
        if AT_THE_END.search(name):
            return name
    return lines[-1] if lines else ""


def company_in(written: Written, head: str) -> str:
    """The company that a document is of: that with a ticker in its head, else the one it mentions most.

    head: the text of its first page. Returns "" where no name is sure.
    """
    if found := WITH_TICKER.search(" ".join(head.split())):
        return found["name"]
    found_names = (found[0] for found in WITH_LEGAL_FORM.finditer(written.text[:SEARCHED]))
    names = Counter(filter(_is_company, found_names))
    for name, count in names.most_common(1):
        if count >= COMPANY_NAMED and len(name) <= LONGEST_NAME:
            return name
    return ""


def place_in(lines: Sequence[str], written: Written) -> str:
    """The country, state or city whose government a document speaks of, "" where none is sure.

    lines: of its cover, on which "Government of Norland" may stand alone. Elsewhere the place counts that is
    named most, with its government, parliament or bank, or as whose something is: "Norland's economy".
    """
    for line in lines[:COVER_LINES]:
        if found := PLACE_ALONE.match(line):
            return written.lowered(found["place"])
    places = Counter(found["place"] for found in OF_A_PLACE.finditer(written.text))
    owners = Counter(found["owner"] for found in WHOSE.finditer(written.text))
    for counts in (places, owners):
        for place, count in counts.most_common(1):
            is_most = count >= FEWEST_NAMED and count >= SHARE_NAMED * counts.total()
            if is_most and not written.is_common(place):
                return place
    return ""


def public_body(lines: Sequence[str]) -> str:
    """The first public body that stands alone on one of these lines, "" for none."""
    bodies = (line for line in lines if len(line) <= LONGEST_NAME and PUBLIC_BODY.match(line))
    return re.sub(r"^the\s", "", next(bodies, ""), flags=re.I)

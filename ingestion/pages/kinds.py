"""Tells which kinds a page is of from how such pages are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from ingestion.ocr.text_quality import is_contents
from ingestion.pages.bibliographies import is_reference_list
from ingestion.pages.budget_kinds import SUBJECTS
from ingestion.pages.features import Look, has_page_number, look_at
from ingestion.pages.statement_kinds import named_statements, statements
from ingestion.pages.statement_terms import STATEMENTS
from ingestion.records import Page

__all__ = [
    "CONTENTS",
    "INDEX_OF_STATEMENTS",
    "KINDS",
    "PRIMARY_STATEMENTS",
    "RISK_FACTORS_OR_BOILERPLATE",
    "page_kinds",
]

CONTENTS = "contents"
INDEX_OF_STATEMENTS = "index_of_statements"
RISK_FACTORS_OR_BOILERPLATE = "risk_factors_or_boilerplate"
PRIMARY_STATEMENTS = tuple(sorted(STATEMENTS))

# The greatest share of lines that end in a figure in prose.
MOST_IN_PROSE = 0.3
FEWEST_NAMED = 3
# Page numbers rise down a list of contents. Figures of a table do so by chance, half of the time.
LEADERS = ("...", ". . .", "…", "_____")
LAST_NUMBER = re.compile(r"[ -](\d{1,4})$")
FEWEST_RISING = 4
SHARE_RISING = 0.8
INDEX = re.compile(
    r"(?:\(?\w{1,2}\)\.? ?|item \d+\.? ?)?(?:index to|list of) (?:the )?(?:consolidated |basic "
    r"|audited )*financial statements?"
)
AUDIT_TITLE = re.compile(
    r"(?:(?:\w{1,3}[.:]?\d? )|(?:annex \w+: ))?(?:reports? of (?:the )?(?:[a-z]+ ){0,4}?(?:independent"
    r"|auditors?|auditor[- ]general|comptroller)|"
    r"independent auditors?'?s?'? (?:report|opinion)|"
    r"(?:auditors?'?s?'?|audit) (?:report|opinion|certificate)|certificate of (?:the )?(?:audit|auditor"
    r"|comptroller)|"
    r"rapport (?:des commissaires aux comptes|du commissaire|de l'auditeur)|"
    r"bestatigungsvermerk|informe (?:de |del )?(?:los )?auditor|relatorio d[oe]s? auditor"
    r"|critical audit matters?$)"
)
# What only an auditor says. Management's own report on controls says none of it.
AUDITED = (
    "in our opinion",
    "we have audited",
    "our audit",
    "critical audit matter",
    "how we addressed",
    "we conducted",
    "basis for opinion",
    "we have served as",
    "basis for the qualified opinion",
    "audit evidence",
    "addressing the matter",
    "auditing standards",
    "a company's internal control over financial reporting is a process",
    "we evaluated",
    "we tested",
    "obtained an understanding",
    "a notre avis",
    "nach unserer",
    "en nuestra opinion",
    "em nossa opiniao",
)
AUDIT_WORDS = ("audit", "opini", "pruf", "a notre avis")
FEWEST_AUDITED = 2
AUDITED_ALONE = 3
GLOSSARY_TITLE = re.compile(
    r"(?:(?:annex|appendix|section|part|note|chapter|schedule) )?(?:[a-z]?\d[\d.]*|[ivx]+|[a-z])?[.:)-]* ?"
    r"(?:glossary(?: of [a-z ,]{1,50}| and [a-z ,]{1,50})?|(?:list of )?(?:abbreviations|acronyms"
    r"|definitions|defined terms|terms)(?: (?:and|of|"
    r"used)\b[a-z ,]{0,60})?|annex: definitions|"
    r"glossaire|abreviations|glossar|abkurzungsverzeichnis|glosario|abreviaturas|siglas|glossario"
    r"|(?:lista de )?(?:siglas|abreviaturas)[a-z ]{0,30})"
)
ENTRY = re.compile(
    r"[\"“'‘]?[A-ZÀ-Þ0-9][^.:\n]{1,60}?[\"”'’]?(?:\.|:| [-–—=]| means| refers| \(|\t) ?\S"
    r"|[A-Z][A-Z&/]{1,9} [A-Z]"
)
FEWEST_ENTRIES = 4
# phrase -> how much it counts: signatures, certificates, lists of exhibits, contracts, warnings about
# forecasts.
FORM = {
    "/s/": 5,
    "pursuant to the requirements": 5,
    "power of attorney": 4,
    "i have reviewed this": 10,
    "certification pursuant": 8,
    "incorporated by reference": 2,
    "incorporated herein": 2,
    "exhibit": 1,
    "check mark": 5,
    "forward-looking statement": 3,
    " means ": 1,
    " hereof": 1,
    " herein": 1,
    " hereunder": 2,
    "thereof": 1,
}
# The same of risks: what could go wrong, and how badly.
HARM = {"advers": 3, "could ": 1, "harm": 1, "materially": 1, "unable to": 1}
FORM_ENOUGH = 10
HARM_ENOUGH = 16


def page_kinds(page: Page) -> tuple[str, ...]:
    """Returns which of KINDS the page is of, sorted; none for a page of no special kind. 0.2 ms a page."""
    if not page.text.strip():
        return ()
    look = look_at(page)
    if _is_contents(page.text, look):
        if _is_index(look):
            return (CONTENTS, INDEX_OF_STATEMENTS)
        return (CONTENTS,)
    found = statements(look) or {kind for kind, rule in _RULES.items() if rule(look)}
    if "audit_report" in found:
        found.discard(RISK_FACTORS_OR_BOILERPLATE)
    return tuple(sorted(found))


def _is_contents(text: str, look: Look) -> bool:
    """Whether a page is a list of contents.

    As `is_contents`, but not for pages under a running head "Table of Contents": their figures do not rise
    from line to line.
    """
    if any(leader in text for leader in LEADERS):
        return is_contents(text)
    numbers = []
    for line, figure in zip(look.folded, look.figures, strict=True):
        if figure and (last := LAST_NUMBER.search(line[-6:])):
            numbers.append(int(last[1]))
    if len(numbers) < FEWEST_RISING:
        return False
    rising = sum(first <= second for first, second in pairwise(numbers))
    return rising >= SHARE_RISING * (len(numbers) - 1) and is_contents(text)


def _is_index(look: Look) -> bool:
    named = named_statements(look)
    if named >= FEWEST_NAMED:
        return True
    return named > 0 and any(map(INDEX.match, look.folded[: look.head]))


def _is_audit_report(look: Look) -> bool:
    if look.density > MOST_IN_PROSE:
        return False
    if not any(word in look.text for word in AUDIT_WORDS):
        return False
    phrases = sum(phrase in look.text for phrase in AUDITED)
    titled = any(_is_audit_title(text) for _, text in look.headings)
    return phrases >= (FEWEST_AUDITED if titled else AUDITED_ALONE)


def _is_audit_title(text: str) -> bool:
    return bool(AUDIT_TITLE.match(text)) and not has_page_number(text)


def _is_glossary(look: Look) -> bool:
    if look.density > MOST_IN_PROSE:
        return False
    if not any(map(GLOSSARY_TITLE.fullmatch, look.folded[: look.head])):
        return False
    entries = sum(bool(ENTRY.match(line)) for line in look.lines)
    return entries >= FEWEST_ENTRIES


def _is_boilerplate(look: Look) -> bool:
    """Whether a page is form, hedging or references, which names everything and answers little."""
    if is_reference_list(look):
        return True
    if look.density > MOST_IN_PROSE:
        return False
    return _weight(look, FORM) >= FORM_ENOUGH or _weight(look, HARM) >= HARM_ENOUGH


def _weight(look: Look, phrases: Mapping[str, int]) -> int:
    """Returns how much the phrases of a page count together."""
    return sum(worth * look.text.count(phrase) for phrase, worth in phrases.items())


_RULES = SUBJECTS | {
    "audit_report": _is_audit_report,
    "glossary": _is_glossary,
    INDEX_OF_STATEMENTS: _is_index,
    RISK_FACTORS_OR_BOILERPLATE: _is_boilerplate,
}
KINDS = tuple(sorted({*PRIMARY_STATEMENTS, *_RULES, CONTENTS}))

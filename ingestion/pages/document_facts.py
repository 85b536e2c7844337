"""Finds a document's period and status in its cover, its running heads and its titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from ingestion.language.months import DATED_MONTH
from ingestion.language.periods import A_DAY, WHOLE_YEAR, YEAR, Period, find_periods
from ingestion.records import DocumentFacts, Page

__all__ = ["STATUSES", "as_period", "document_facts", "period_in", "status_in"]

# The cover, and the pages that follow if it is a picture or a title alone.
COVER_PAGES = 3
COVER_CHARACTERS = 2_500
# How many lines at the top of a page may be its title, and the most characters in one.
TITLE_LINES = 14
LONGEST_TITLE_LINE = 110
# How many lines at the very top may say a period without naming a kind of document.
FIRST_LINES = 5
# How many pages are searched for running heads.
HEADED_PAGES = 40
# What makes a period that of the document: "for the fiscal year ended June 30, 2024".
ENDED = re.compile(r"(?i)\bend(?:ed|ing)\b")
OF_THE = re.compile(r"(?i)\b(?:for|of) (?:the|its|our) (?:\w{1,10} ){0,2}\Z")
LONGEST_OF = 40
# Dates that say what a document is about: when it holds from, when what it reports was said or done.
IN_FORCE = re.compile(
    r"(?i)\b(?:in force|effective|takes? effect|comes? into (?:force|effect)|enters? into (?:force|effect)"
    r"|valid|applies|applicable)\b",
)
EVENT = re.compile(
    r"(?i)\b(?:press conference|minutes|meeting|transcript|speech|remarks|testimony|hearing|address"
    r"|statement by|monetary policy (?:statement|decision|report)|"
    r"date of (?:earliest event|report)|press release|inflation report|bulletin|circular|newsletter)\b",
)
# Years on such lines are of printing, of filing or of a law.
NO_PERIOD = re.compile(
    r"(?i)©|\bcopyright\b|\bisbn\b|\bissn\b|\bprinted\b|\bpublished\b|\bhttps?:|www\.|\bact(?:,? \d| of \d)"
    r"|\bfiled\b|\bdownloaded\b|\.(?:pdf|indd|docx?|xlsx?)\b",
)
DOCUMENT_WORD = re.compile(
    r"(?i)\b(?:budget\w{0,8}|report|outlook|statement|polic(?:y|ies)|plan|review|forecast|estimates?"
    r"|strategy|speech|accounts|programme|program|framework|bill|"
    r"guide(?:lines?)?|survey|form 10-[kq]|annual|fiscal|financial|haushalt\w{0,10}|bericht|jahresbericht"
    r"|rapport|exercice|presupuesto|informe|ejercicio|"
    r"orçamento|relatório|bilancio|relazione)\b",
)

# Words that say a status. The first that holds counts. Titles and running heads are searched for each.
WHAT = (
    r"(?:budget|policy|plan|report|version|edition|statement|estimates?|strategy|rules?|accounts"
    r"|framework|programme|program|guidelines?|forecast|outlook|code|"
    r"manual|ordinance|resolution|appropriations?)"
)
STATUSES = {
    "superseded": (
        r"^\W*(?:superseded|withdrawn|repealed|rescinded|obsolete|no longer (?:in force|valid|current))\b"
        rf"|\b(?:superseded|obsolete|withdrawn|archived) {WHAT}\b"
        r"|\((?:superseded|withdrawn|repealed|obsolete)\)"
    ),
    "draft": (
        r"\bdraft\b(?! (?:resolution|law|decree|legislation|recruit|picks?)s?\b)"
        r"|\b(?:entwurf|borrador|brouillon|minuta|bozza|rascunho)\b"
        r"|\bprojet de (?:budget|loi|plan|rapport)\b|\bproyecto de (?:presupuesto|ley)\b"
    ),
    "proposed": (
        rf"\b(?:proposed|recommended) (?:\w{{1,16}} ){{0,3}}{WHAT}\b|\b{WHAT} proposal\b"
        rf"|\bproposal for\b|^\W*proposed\W*$"
        r"|\bconsultation (?:paper|document|version)\b|\bfor (?:public )?(?:consultation|comment)\b"
        r"|\bnotice of proposed\b"
    ),
    "amendment": r"^\W*(?:amendment|addendum|corrigendum)\b(?!\W{0,3}(?:act|law|bill)\b)",
    "revised": (
        rf"\brevised (?:\w{{1,16}} ){{0,3}}{WHAT}\b|\bamended (?:\w{{1,16}} ){{0,2}}{WHAT}\b"
        rf"|\b{WHAT} \(?(?:revised|amended)\b"
        r"|^\W*(?:revised|amended)\b|\((?:revised|amended)\b|\bas (?:last )?(?:revised|amended) (?:on|in"
        r"|to)\b"
        r"|\brevision (?:no\.? ?)?\d|\bamendment no\b|\b10-[kq]/a\b|\brevidiert\b|\brévisée?\b"
        r"|\brevisad[oa]\b"
    ),
    "adopted": (
        rf"\b(?:adopted|approved|enacted|ratified) (?:\w{{1,16}} ){{0,3}}{WHAT}\b|\bfinal (?:budget"
        rf"|rules?|report|version|edition|policy|plan)\b"
        r"|^\W*(?:adopted|approved|enacted)\b|\b(?:adopted|approved|enacted|ratified|endorsed) (?:by|on|in)\b"
        rf"|\b(?:in force|effective) (?:from|since|as of)\b|\bcomes? into (?:force|effect)\b"
        rf"|\beffective (?:date|{DATED_MONTH}|\d)"
    ),
}
STATUS_WORDS = {status: re.compile(words, re.I) for status, words in STATUSES.items()}
# A document calls itself superseded in a sentence too.
CALLED_SUPERSEDED = re.compile(
    r"(?i)\bthis (?:\w{1,16} ){0,2}?(?:policy|document|statement|version|circular|guideline|edition|budget"
    r"|order|notice|manual|plan|report|strategy|framework)s?"
    r" (?:is|was|has been|have been|were)(?: now| since)? (?:superseded|replaced|withdrawn|repealed"
    r"|rescinded|revoked)\b",
)
NOT_YET = re.compile(
    r"(?i)\b(?:not|to be|until|pending|subject to|before being|for) (?:\w{1,12} )?(?:adopted|approved"
    r"|enacted|adoption|approval)\b",
)


def document_facts(pages: Sequence[Page], title: str | None) -> DocumentFacts:
    """Returns period and status of a document. pages: with their running heads; title: the file's own."""
    cover = _cover(pages)
    tops = list(_title_lines(pages))
    heads = _running(pages)
    titles = [title] if title and re.search(r"[^\W\d_]{3}", title) else []
    period = _declared(cover) or _of_lines(heads, tops, titles) or _dated(tops, heads, titles)
    if CALLED_SUPERSEDED.search(cover):
        return DocumentFacts(period or None, "superseded")
    # A line that begins small goes on with a sentence, which may be of other documents.
    lines = [line for line in (*tops, *heads, *titles) if not line[:1].islower()]
    return DocumentFacts(period or None, status_in(lines))


def period_in(name: str) -> str:
    """Returns the period that a file's name says, "" if it says none or several.

    "Budget_2025-26.pdf" gives "2025-26", "minutes20190731.pdf" gives "2019".
    """
    stem = re.sub(r"\.\w{1,5}$", "", name)
    stem = re.sub(rf"(?<!\d)({YEAR})[01]\d[0-3]\d(?!\d)", r" \1 ", stem)
    stem = re.sub(rf"(?<=[^\W\d])(?={YEAR})", " ", stem)
    stem = re.sub(rf"(?<!\d)({YEAR})[_ ](?=\d\d(?:\d\d)?(?![\d_-]))", r"\1-", stem).replace("_", " ")
    found = find_periods(stem)
    ranges = {_years(period) for period in found if period.start_year < period.end_year}
    years = ranges or set(map(_years, found))
    return years.pop() if len(years) == 1 else ""


def as_period(text: str) -> str:
    """Returns a period that somebody wrote in the form in which documents' periods are kept.

    "FY 2025/2026" gives "2025-26". What is no period gives "".
    """
    text = re.sub(r" ?(?:[–—]|\bto\b) ?", "-", " ".join(text.split()))
    found = find_periods(text)
    is_whole = len(found) == 1 and found[0].text == text and found[0].months == WHOLE_YEAR
    return _years(found[0]) if is_whole else ""


def status_in(lines: Sequence[str]) -> str | None:
    """Returns the status that titles or running heads say, None if they say none."""
    lines = [line for line in lines if not NOT_YET.search(line)]
    for status, words in STATUS_WORDS.items():
        if any(map(words.search, lines)):
            return status
    return None


def _cover(pages: Sequence[Page]) -> str:
    """Returns the text of the first page, and of those after it if there is little on it."""
    text = ""
    for page in pages[:COVER_PAGES]:
        text += page.text[:COVER_CHARACTERS] + "\n"
        if len(text) > COVER_CHARACTERS / 4:
            break
    return text


def _title_lines(pages: Sequence[Page]) -> Iterator[str]:
    """Yields the short lines at the top of the cover, without running heads."""
    for page in pages[:1]:
        running = {page.text[start:end].strip() for start, end in page.running}
        lines = filter(None, map(str.strip, page.text[:COVER_CHARACTERS].split("\n")))
        for line in islice(lines, TITLE_LINES):
            if len(line) <= LONGEST_TITLE_LINE and line not in running:
                yield line


def _running(pages: Sequence[Page]) -> list[str]:
    """Returns running heads and feet of the first pages, each as often as it stands there."""
    near = pages[:HEADED_PAGES]
    return [" ".join(page.text[start:end].split()) for page in near for start, end in page.running]


def _declared(cover: str) -> str:
    """Returns the period that the cover says results or a filing are for."""
    flat = " ".join(cover.split())
    periods = find_periods(flat)
    # "For the fiscal year ended June 30, 2024", "results for the fourth quarter of 2022"
    ended = [
        period
        for period in periods
        if ENDED.search(period.text) and OF_THE.search(flat[max(0, period.start - LONGEST_OF) : period.start])
    ]
    named = ended or [period for period in periods if period.quarter and not period.month]
    return str(named[0].end_year) if named else ""


def _of_lines(heads: Sequence[str], tops: Sequence[str], titles: Sequence[str]) -> str:
    """Returns the period that running heads say on most of their pages, or that a line of the title says."""
    running = Counter(filter(None, map(_named, heads)))
    for period, times in running.most_common(1):
        if times >= 2:
            return period
    for line in (*tops[:FIRST_LINES], *titles):
        if period := _named(line):
            return period
    further = {_named(line) for line in tops if DOCUMENT_WORD.search(line)} - {""}
    return further.pop() if len(further) == 1 else ""


def _named(line: str) -> str:
    """Returns the only period on a line, dates apart.

    Returns "" if there is none or more, or if it is of printing, filing or a law.
    """
    if NO_PERIOD.search(line):
        return ""
    periods = {_years(period) for period in find_periods(line) if period.months != A_DAY}
    return periods.pop() if len(periods) == 1 else ""


def _dated(tops: Sequence[str], heads: Sequence[str], titles: Sequence[str]) -> str:
    """Returns the year of the date from which the document holds, or of what it reports."""
    lines = [*titles, *tops, *heads]
    in_force = _dates_in([line for line in lines if IN_FORCE.search(line)])
    if in_force:
        return in_force[0]
    if not any(map(EVENT.search, lines)):
        return ""
    years = Counter(_dates_in([line for line in lines if not NO_PERIOD.search(line)]))
    return max(years, key=years.__getitem__, default="")


def _dates_in(lines: Sequence[str]) -> list[str]:
    """Returns the year of the first date on each line that has one."""
    years = list[str]()
    for line in lines:
        dates = (str(period.end_year) for period in find_periods(line) if period.months == A_DAY)
        years += islice(dates, 1)
    return years


def _years(period: Period) -> str:
    """Returns the years of a period: "2025-26" if the second is the next, "2025-2028" if it is later."""
    first, last = period.start_year, period.end_year
    if first == last:
        return str(first)
    return f"{first}-{last}" if last > first + 1 else f"{first}-{last % 100:02}"

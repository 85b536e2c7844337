"""Finds what a person would call a document: who issued it, what it is and its period.

Read from the cover, the running heads and the file's own title, by the words of filings, releases and
reports; it knows no issuer by name. A title is data of unknown origin, to be escaped where it is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from ingestion.invisible_characters import one_line
from ingestion.language.months import DATED_MONTH
from ingestion.language.periods import YEAR, find_periods
from ingestion.pages.issuers import (
    company_alone,
    company_in,
    place_in,
    public_body,
    registrant,
    without_legal_form,
)
from ingestion.pages.title_setting import GOES_BEFORE, GOES_ON, SetPage, set_apart
from ingestion.pages.title_text import LONGEST_TITLE, TextPage, Written, cover_lines, fit_title, is_sound
from ingestion.reading.formats import is_named_like_a_document

__all__ = ["TITLE_RULES", "document_title"]

# Goes up when these rules find other titles.
TITLE_RULES = 2
# What filings are called by the number of their form.
FORMS = {
    "10-K": "annual report",
    "20-F": "annual report",
    "40-F": "annual report",
    "10-Q": "quarterly report",
}
FORMS |= {"8-K": "current report", "6-K": "current report"}
FORM = re.compile(r"\bform\s+(?P<number>10|20|40|8|6)-?(?P<letter>[KQF])(?P<amended>\s?/\s?A)?\b", re.I)
COMMISSION = re.compile(r"securities\s+and\s+exchange\s+commission|\bregistrant\b", re.I)
# How far into a cover the number of its form stands.
FORM_WITHIN = 900
DATE = rf"(?:{DATED_MONTH}\s\d{{1,2}},?\s{YEAR}|\d{{1,2}}\s{DATED_MONTH}\s{YEAR})"
QUARTER_ENDED = re.compile(rf"\bquarter(?:ly\speriod)?\sended:?\s(?P<date>{DATE})", re.I)
REPORTED = re.compile(
    rf"\bdate\sof\sreport\b[^:]{{0,60}}:\s(?P<date>{DATE})|(?P<before>{DATE})\s\(?date\sof\sreport\b", re.I
)
# "Acme Inc. Reports First Quarter 2023 Results".
RESULTS = re.compile(
    r"^(?P<who>[^\W_].{1,60}?)\s(?:reports?|reported|announces?|announced|posts|publishes|delivers)\s"
    r"(?=.{0,120}\b(?:results|earnings|quarter|profits?)\b)",
    re.I,
)
TOLD_RESULTS = re.compile(
    r"\btoday\s(?:announced|reported|published)\b.{0,80}?\b(?:results|earnings)\b", re.I
)
PART_OF_YEAR = re.compile(r"\b(?:quarter|half|Q[1-4]|[1-4]Q)\b", re.I)
QUARTER = re.compile(
    rf"\b(?P<after>{YEAR})\s(?P<first>first|second|third|fourth)[- ]quarter"
    rf"|\b(?P<second>first|second|third|fourth)[- ]quarter\b(?:\D{{0,40}}?\b(?P<before>{YEAR})\b)?",
    re.I,
)
QUARTERS = ("first", "second", "third", "fourth")
# Letters of a small word in a name: "of", "and".
MOST_SMALL_LETTERS = 3
RELEASE_WITHIN = 3_000
HEADLINES = 10
SPEECH = re.compile(
    rf"\bbudget\s(?:(?:FY\s?)?{YEAR}(?:\s?[-–—/]\s?\d{{2,4}})?\s)?(?P<kind>speech|address|statement)\b", re.I
)
SPEECH_WITHIN = 400
# Words that a title has, as patterns: kinds of documents, in several languages.
KINDS = r"""
    budgets? reports? outlook statements? polic(?:y|ies) plans? reviews? forecasts? estimates?
    strateg(?:y|ies) speech accounts programmes? program framework guidelines? guide survey manual handbook
    minutes bulletin transcript conference circular memorandum agreement act bill law code regulations?
    rules audit paper note letter prospectus presentation factsheet summary assessment evaluation analysis
    study newsletter haushalt\w{0,10} \w{0,12}berichte? finanzplan\w{0,6} rapports? exercice loi projet
    presupuestos? informes? ley orçamento relatório bilancio relazione legge verslag begroting sprawozdanie
    budżet bütçe rapor\w{0,4} отч[её]т\w{0,3} бюджет\w{0,3} доклад\w{0,3}
""".split()
# Those of scripts that join small words to others, or write without blanks.
JOINED_KINDS = (
    "موازنة ميزانية تقرير بيان سياسة بودجه گزارش 预算 預算 报告 報告 予算 예산 보고서 बजट रिपोर्ट".split()
)
TITLE_WORD = re.compile(rf"(?<!\w)(?:{'|'.join(KINDS)})(?!\w)|{'|'.join(JOINED_KINDS)}", re.I)
TITLE_WITHIN = 14
FEWEST_HEADS = 3
# Lines at the top of a cover among which its largest heading is looked for.
LARGE_WITHIN = 6
# A title above prose: at most this long, and the line below at least that long.
LONGEST_HEADING, SHORTEST_PROSE = 110, 70
MOST_WORDS, FEWEST_WORDS = 16, 3
# Lines that a title goes on into.
MOST_WRAPPED = 3
# A line that begins small has at most so many.
MOST_SMALL = 5
NO_TITLE = re.compile(
    r"^(?:table of contents|contents|index|page \d.*|chapter \w{1,4}|part \w{1,4}|section \w{1,4}"
    r"|annex \w{0,3}|draft|final|confidential|for immediate release|(?:press|news) release|washington,.*"
    r"|united states|(?:for )?official use(?: only)?|tel(?:ephone)?\b.*|fax\b.*)$"
    r"|^(?:dear|by|from|to|source|note|figure|table|chart|box)\b|\.indd\b|©|\bisbn\b|\bissn\b",
    re.I,
)
AMOUNT = re.compile(r"\d[.,]\d{2}\b|[\[\]]")
PURSUANT = re.compile(r"\bpursuant to\b", re.I)
SENTENCE_END = re.compile(r"[.;:,!?]$|[。؛،]$")
BYLINE = re.compile(
    r"[\s,]+(?:by|delivered|presented|submitted|prepared|as delivered|tabled)\b"
    r"(?=\s(?:by|the|to|at|on|hon)|$).*$",
    re.I,
)
BY_SOMEBODY = re.compile(
    r"[\s,]+by\s(?:the\s)?(?:hon|dr|mr|mrs|ms|minister|his|her|governor|president|chair).*$", re.I
)
ENUMERATOR = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2}){1,3}\.?\s?|\d{1,2}\.\s|[ivxlc]{1,5}\.\s)(?=[^\W\d_])", re.I
)
FILE_NUMBER = re.compile(r"^[A-Z]{2,6}[-/ ]\d{2,4}[-/.]\d{1,6}\w{0,3}\s?[,:;–—-]\s?")
PAGE_NUMBER = re.compile(
    rf"\s+(?:page\s)?(?!{YEAR}$)\d{{1,4}}$|^(?!{YEAR}\b)\d{{1,4}}\s+(?=[^\W\d_])"
    r"|\s\d{1,2}[./]\d{1,2}[./]\d{2,4}$",
    re.I,
)
VERSION_AT_END = re.compile(r"\s+(?:FINAL|DRAFT|v\d[\d.]*)$")
# What programs write as the title of a file.
MADE_BY_PROGRAM = re.compile(
    r"^(?:microsoft (?:word|excel|powerpoint)\b.*|untitled.*|document\d*|unknown|title|none|null|n/?a"
    r"|presentation\d*|powerpoint presentation|slide \d+|layout \d+|scan\w*[\s_]?\d*"
    r"|converted\b.*|form [\w-]+ for .*)$"
    r"|\.(?:docx?|pdf|indd|xlsx?|pptx?|qxd|tex|dvi|html?|rtf|odt|ai|ps|txt|tmp)\b|[\w]:\\",
    re.I,
)
LIST_ENTRY = re.compile(rf"^(?!{YEAR})\d{{1,3}}\s")
LONGEST_OWN = 200
NO_HEADING = (NO_TITLE, PURSUANT, LIST_ENTRY, AMOUNT, SENTENCE_END, MADE_BY_PROGRAM)
WORD_OF = re.compile(r"[^\W_]+")
MONTH_OF = re.compile(rf"\b{DATED_MONTH}\s(?:\d{{1,2}},?\s)?{YEAR}\b", re.I)
CHAPTER = re.compile(r"(?:chapter|part|volume)\s(?:\d{1,2}|[ivx]{1,4})$", re.I)
CHAPTER_WITHIN = 4
DATE_ALONE = re.compile(rf"{DATED_MONTH}\s{YEAR}|{DATE}", re.I)
# Titles that say what is of a country, but not of which.
PUBLIC = re.compile(
    r"\b(?:budget|economic|fiscal|monetary|public|national|treasury|debt|revenue|expenditure)\b", re.I
)
# What stands beside kinds of documents and says as little of whose they are: "Annual Report 2024".
GENERAL = re.compile(
    r"(?:annual|interim|half|quarterly|integrated|consolidated|financial|yearly|and|the|of)", re.I
)


def document_title(pages: Sequence[SetPage], own: str | None, period: str | None) -> str:
    """The title of a document on one line of at most LONGEST_TITLE characters, "" where none is sure.

    pages: in order, the first of them at least. own: the file's own title. period: what it is about, as in
    DocumentFacts.
    """
    written = Written(pages)
    lines = cover_lines(pages)
    for found in _found(pages, lines, written, own or "", period or ""):
        title = fit_title(found)
        if is_sound(title):
            return title
    return ""


def _found(
    pages: Sequence[SetPage], lines: Sequence[str], written: Written, own: str, period: str
) -> Iterator[str]:
    """Titles of the document, the surest first."""
    cover = " ".join(lines)
    setting = set_apart(pages)
    yield _filing(cover, lines, written, period)
    yield _release(cover, _blanked(lines, setting.prose), written, period)
    yield _speech(cover, lines, written, period)
    mended = {line: written.mended(line) for line in cover_lines(pages, running=False)}
    body = list(filter(written.has, mended.values()))
    apart = _blanked(body, {mended.get(line, "") for line in setting.prose})
    sizes = {mended[line]: size for line, size in setting.sizes.items() if mended.get(line) in body}
    wrapped = {mended.get(line, "") for line in setting.wrapped}
    heads = _heads(pages)
    editions = [head for head in heads if re.search(YEAR, head) and not MONTH_OF.search(head)]
    above = _above_prose(body, apart, written)
    large = (_named(list(sizes), wrapped), _largest(apart, sizes, wrapped))
    titles = (*large, _named(apart, wrapped), above, *heads)
    for name in (_own(own, written), *editions, *titles):
        title = _trimmed(written.mended(name))
        if _tells(title):
            title = _capital(written.lowered(title))
            issuer = _issuer(title, lines, written)
            whole = _whole(title, issuer, period or _dated(lines), _chapter(lines))
            if not _is_general(whole):
                yield whole


# --- filings, releases, speeches
# ------------------------------------------------------------------------------------------------------------


def _filing(cover: str, lines: Sequence[str], written: Written, period: str) -> str:
    """The title of a report on a numbered form; "" for other documents."""
    form = FORM.search(cover[:FORM_WITHIN])
    if form is None or not COMMISSION.search(cover):
        return ""
    kind = FORMS.get(f"{form['number']}-{form['letter']}".upper(), "")
    who = _said(registrant(lines) or company_in(written, ""), written)
    if not kind or not who:
        return ""
    when = {"quarterly report": QUARTER_ENDED, "current report": REPORTED}.get(kind)
    dated = when.search(cover) if when else None
    amended = ", amended" if form["amended"] else ""
    date = next(filter(None, dated.groupdict().values()), period) if dated else period
    return f"{who}, {kind} {date}{amended}"


def _release(cover: str, lines: Sequence[str], written: Written, period: str) -> str:
    """The title of a release of results; "" for other documents."""
    head = cover[:RELEASE_WITHIN]
    who = ""
    for at, line in enumerate(lines[:HEADLINES]):
        found = RESULTS.search(" ".join(lines[at : at + 2]))
        if found and found.end() <= len(line) + 1 and _is_name(found["who"]):
            who = found["who"]
            break
    if not who and TOLD_RESULTS.search(head) and PART_OF_YEAR.search(head):
        who = company_in(written, head)
    if not who:
        return ""
    return f"{_said(who, written)}, earnings release {_quarter(head, period)}"


def _is_name(who: str) -> bool:
    """Whether what stands before "reports" is a name: no word but its first begins small, and "Annual" is not
    its last, as in "Acme – Annual Report"."""
    words = who.split()
    if any(word[0].islower() and len(word) > MOST_SMALL_LETTERS for word in words[1:]):
        return False
    return not GENERAL.fullmatch(words[-1])


def _quarter(text: str, period: str) -> str:
    """The quarter that a text speaks of first, as "Q4 2022"; the period without one."""
    found = QUARTER.search(text)
    if found is None:
        marked = [one for one in find_periods(text) if one.quarter]
        return f"Q{marked[0].quarter} {marked[0].start_year}" if marked else period
    number = QUARTERS.index((found["first"] or found["second"]).casefold()) + 1
    return f"Q{number} {found['after'] or found['before'] or period}"


def _speech(cover: str, lines: Sequence[str], written: Written, period: str) -> str:
    """The title of a budget speech; "" for other documents, and where the country is not sure."""
    found = SPEECH.search(cover[:SPEECH_WITHIN])
    if found is None:
        return ""
    place = place_in(lines, written)
    kind = "statement" if found["kind"].casefold() == "statement" else "speech"
    return f"{place}, budget {kind} {period}" if place else ""


def _said(name: str, written: Written) -> str:
    """A company's name as people say it, in its own capitals."""
    return written.lowered(without_legal_form(name))


# --- other documents
# ------------------------------------------------------------------------------------------------------------


def _own(own: str, written: Written) -> str:
    """The file's own title where a person wrote it and it is of this document, "" elsewhere."""
    title = one_line(own)
    if not title or len(title) > LONGEST_OWN:
        return ""
    if MADE_BY_PROGRAM.search(title) or is_named_like_a_document(title) or NO_TITLE.search(title):
        return ""
    words = title.split()
    if len(words) < 2 and (not title.isalpha() or not TITLE_WORD.search(title)):
        return ""
    return title if written.knows(title) else ""


def _named(lines: Sequence[str], wrapped: Collection[str]) -> str:
    """The first line at the top of the cover that names a kind of document, with what it is wrapped into.

    wrapped: as in SetApart.
    """
    for at, line in enumerate(lines[:TITLE_WITHIN]):
        if not TITLE_WORD.search(line) or not _is_heading(line):
            continue
        return _joined(lines, at, wrapped)
    return ""


def _joined(lines: Sequence[str], at: int, wrapped: Collection[str]) -> str:
    """A title's line with the lines that it goes on from and into."""
    first = at
    while first and at - first < MOST_WRAPPED - 1 and _is_part(lines[first - 1]):
        before, line = lines[first - 1 : first + 1]
        is_broken = first == at and (GOES_ON.search(before) or GOES_BEFORE.match(line))
        if before not in wrapped and not is_broken:
            break
        first -= 1
    last = at
    while last + 1 < len(lines) and last - first < MOST_WRAPPED:
        wraps = lines[last] in wrapped or GOES_ON.search(lines[last]) or GOES_BEFORE.match(lines[last + 1])
        alone = len(WORD_OF.findall(lines[last + 1])) == 1 and TITLE_WORD.fullmatch(lines[last + 1])
        goes_on = lines[last + 1][:1].islower() and len(lines[last].split()) > MOST_SMALL
        if not (wraps or alone or goes_on) or not _is_part(lines[last + 1]):
            break
        last += 1
    return " ".join(lines[first : last + 1])


def _is_part(line: str) -> bool:
    return len(line) <= SHORTEST_PROSE and not NO_TITLE.search(line)


def _is_heading(line: str) -> bool:
    """Whether a line looks like a title, and not like a sentence, an address or a list."""
    words = WORD_OF.findall(line)
    if not words or len(words) > MOST_WORDS or len(line) > LONGEST_HEADING:
        return False
    if line[0].islower() and len(words) > MOST_SMALL:
        return False
    if any(pattern.search(line) for pattern in NO_HEADING):
        return False
    return is_sound(line)


# Of a running head; a longer one is none.
LONGEST_HEAD = 400


def _heads(pages: Sequence[TextPage]) -> list[str]:
    """Running heads that name a kind of document, the most frequent first."""
    found: Counter[str] = Counter()
    for page in pages:
        for start, end in page.running:
            for line in page.text[start:end].split("\n"):
                found[_trimmed(one_line(line[:LONGEST_HEAD]))] += 1
    heads = [head for head, times in found.most_common() if times >= FEWEST_HEADS]
    return [head for head in heads if TITLE_WORD.search(head) and _is_heading(head)][:2]


def _blanked(lines: Sequence[str], prose: Collection[str]) -> list[str]:
    """Lines with nothing in the places of those of running text."""
    return ["" if line in prose else line for line in lines]


def _largest(lines: Sequence[str], sizes: Mapping[str, float], wrapped: Collection[str]) -> str:
    """The largest heading of several words at the top, with what it is wrapped into; "" without one.

    lines: of the cover. sizes: of those that are set larger than the text. wrapped: as in SetApart.
    """
    top = [line for line in lines if line][:LARGE_WITHIN]
    headings = [
        line
        for line in top
        if line in sizes and len(WORD_OF.findall(line)) >= FEWEST_WORDS and _is_heading(line)
    ]
    first = max(headings, key=lambda line: sizes[line], default="")
    return _joined(top, top.index(first), wrapped) if first else ""


def _above_prose(lines: Sequence[str], apart: Sequence[str], written: Written) -> str:
    """A heading of several words that the document begins with and that prose follows, "" without one.

    apart: the lines, with nothing in the places of running text.
    """
    for at, line in enumerate(apart[:3]):
        if len(WORD_OF.findall(line)) < FEWEST_WORDS or not _is_heading(line) or not written.knows(line):
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if len(below) >= SHORTEST_PROSE and not below[0].islower():
            return line
    return ""


def _trimmed(title: str) -> str:
    """A title without numbers of files, chapters and pages, and without who spoke."""
    title = FILE_NUMBER.sub("", ENUMERATOR.sub("", title.strip()))
    for rest in (PAGE_NUMBER, VERSION_AT_END, BY_SOMEBODY, BYLINE):
        shorter = rest.sub("", title).strip(" ,;:-–—|")
        if len(WORD_OF.findall(shorter)) > 1:
            title = shorter
    return title


def _tells(title: str) -> bool:
    """Whether a title says more than a kind of document: two words, or a word and a year."""
    return len(WORD_OF.findall(GOES_BEFORE.sub("", title))) > 1


def _is_general(title: str) -> bool:
    """Whether a title says neither whose nor of when: "Annual Report"."""
    return all(GENERAL.fullmatch(word) or TITLE_WORD.fullmatch(word) for word in WORD_OF.findall(title))


def _chapter(lines: Sequence[str]) -> str:
    """Which chapter of the whole a document is, as ", chapter 1", "" where its first lines do not say."""
    found = filter(None, map(CHAPTER.match, lines[:CHAPTER_WITHIN]))
    return next((f", {one[0].casefold()}" for one in found), "")


def _capital(title: str) -> str:
    """A title with a capital in front, unless its first word has one inside, as a name may."""
    first = title.partition(" ")[0]
    return title if first != first.casefold() else title[:1].upper() + title[1:]


def _dated(lines: Sequence[str]) -> str:
    """The month or day that stands alone on a line of the cover, "" where none or several do."""
    dates = {line for line in lines if DATE_ALONE.fullmatch(line)}
    return dates.pop() if len(dates) == 1 else ""


def _issuer(title: str, lines: Sequence[str], written: Written) -> str:
    """Who issued a document of this title, by its cover or else by its text; "" where nobody is sure."""
    if body := public_body(lines):
        return written.lowered(body)
    if company := company_alone(lines[:TITLE_WITHIN]):
        return _said(company, written)
    if PUBLIC.search(title):
        return place_in(lines, written)
    if _is_general(re.sub(r"\d", "", title)):
        return _said(company_in(written, ""), written)
    return ""


def _whole(title: str, issuer: str, when: str, chapter: str) -> str:
    """A title with its issuer before, its period or date and its chapter behind, as far as it lacks them.

    The issuer is left out where there is no room for it.
    """
    behind = chapter
    if when and not re.search(YEAR, title):
        between = " " if when[0].isdigit() else ", "
        behind = f"{between}{when}{chapter}"
    said = f"{fit_title(title, LONGEST_TITLE - len(behind))}{behind}"
    own = {word.casefold() for word in WORD_OF.findall(title)}
    words = [word.casefold() for word in WORD_OF.findall(issuer) if len(word) > 3]
    if own.issuperset(words) or len(issuer) + len(said) + 2 > LONGEST_TITLE:
        return said
    return f"{issuer}, {said}"

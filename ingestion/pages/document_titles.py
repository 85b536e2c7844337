"""Finds what a person would call a document: who issued it, what it is and its period.

Read from the cover, the running heads and the file's own title, by the words of filings, releases and
reports; it knows no issuer by name. A title is data of unknown origin, to be escaped where it is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

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
from ingestion.pages.title_text import (
    LONGEST_TITLE,
    CoverLine,
    TextPage,
    Written,
    cover_lines,
    fit_title,
    is_sound,
)

__all__ = ["TITLE_RULES", "TITLE_WORD", "document_title"]

# Goes up when these rules find other titles.
TITLE_RULES = 5
# Numbers of forms, by the kind of report that is filed on them.
FORM = re.compile(r"(?i)\bform\s+(?:(?P<annual>10-?K|[24]0-?F)|(?P<quarterly>10-?Q)|(?P<current>[68]-?K))\b")
AMENDED = re.compile(r"\s?/\s?A\b")
COMMISSION = re.compile(r"(?i)securities\s+and\s+exchange\s+commission|\bregistrant\b")
# How far into a cover the number of its form stands.
FORM_WITHIN = 900
DATE = rf"(?:{DATED_MONTH}\s\d{{1,2}},?\s{YEAR}|\d{{1,2}}\s{DATED_MONTH}\s{YEAR})"
# What a quarterly or a current report is dated with.
DATED = re.compile(
    rf"(?i)\bquarter(?:ly\speriod)?\sended:?\s({DATE})|\bdate\sof\sreport\b[^:]{{0,60}}:\s({DATE})"
    rf"|({DATE})\s\(?date\sof\sreport\b",
)
# "Acme Inc. Reports First Quarter 2023 Results": in a name no word but its small ones begins small.
RESULTS = re.compile(
    r"(?m)^(?P<who>[^\W_]\S*(?: (?:[^a-z\s]\S*|[a-z]{1,3})){0,8}) "
    r"(?i:reports|reported|announces?|announced|posts|publishes|delivers)\s"
    r"(?=(?s:.{0,120})\b(?i:results|earnings|quarter|profits?)\b)",
)
TOLD_RESULTS = re.compile(r"(?i)\btoday\s(?:announced|reported|published)\b.{0,80}?\b(?:results|earnings)\b")
HEADLINES = 10
SPEECH = re.compile(
    rf"(?i)\bbudget\s(?:(?:FY\s?)?{YEAR}(?:\s?[-–—/]\s?\d{{2,4}})?\s)?"
    r"(?:speech|address|(?P<statement>statement))\b",
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
TITLE_WORD = re.compile(rf"(?i)(?<!\w)(?:{'|'.join(KINDS)})(?!\w)|{'|'.join(JOINED_KINDS)}")
TITLE_WITHIN = 14
FEWEST_HEADS = 3
# A title that is not large is among so many lines, above prose of so many characters.
ABOVE_WITHIN, SHORTEST_PROSE = 3, 70
LONGEST_HEADING, FEWEST_WORDS = 200, 3
# Lines of a title.
MOST_WRAPPED = 4
# What goes on with a title: its wrapped line ends with a small word, or the next one begins with one.
GOES_ON = re.compile(
    r"(?i)(?:\b(?:of|on|for|the|and|to|in|by|de|du|des|la|et|y|für|und|der|di|della|do|da)|[-–—:&,])\n"
    r"|\n(?:(?:of|on|for|and|to|in|de|du|des|et|y|für|und)\b|&)",
)
# How much two lines of one size differ at most, and how far apart they are as lines of one title.
SAME_SIZE, CLOSE = 0.05, 0.5
BYLINE = re.compile(
    r"(?i)[\s,]+(?:by|delivered|presented|submitted|prepared|as delivered|tabled)\b"
    r"(?:(?=\s(?:by|the|to|at|on|hon)|$)|(?<=by)\s(?=[dm]rs?|ms|minister|his|her"
    r"|governor|president|chair)).*",
)
# Of files and chapters, and of pages and versions.
NUMBER_BEFORE = re.compile(
    r"^(?:[A-Z]{2,6}[-/ ]\d{2,4}[-/.]\d{1,6}\w{0,3}\s?[,:;–—-]\s?|\d{1,2}(?:\.\d{1,2}){1,3}\.?\s?(?=[^\W\d_])"
    rf"|(?:\d{{1,2}}|[IVXLCivxlc]{{1,5}})\.\s(?=[^\W\d_])|(?!{YEAR}\b)\d{{1,4}}\s+(?=[^\W\d_]))"
)
NUMBER_BEHIND = re.compile(
    rf"\s+(?:[Pp]age\s)?(?!{YEAR}$)\d{{1,4}}$|\s(?:\d{{1,2}}[./]){{2}}\d{{2,4}}$"
    r"|\s+(?:FINAL|DRAFT|v\d[\d.]*)$"
)
# Names of parts and places, what programs write as the title of a file, cells of a sheet, orders of a law,
# entries of a list, amounts, and ends of sentences.
NO_TITLE = re.compile(
    r"(?i)^(?:table of contents|contents|index|page \d.*|chapter \w{1,4}|part \w{1,4}|section \w{1,4}"
    r"|annex \w{0,3}|draft|final|confidential|for immediate release|(?:press|news) release|washington,.*"
    r"|united states|(?:for )?official use(?: only)?|tel(?:ephone)?\b.*|fax\b.*"
    r"|microsoft (?:word|excel|powerpoint)\b.*|untitled.*|document\d*|unknown|title|none|null|n/?a"
    r"|presentation\d*|powerpoint presentation|slide \d+|layout \d+|scan\w*[\s_]?\d*"
    r"|converted\b.*|form [\w-]+ for .*)$"
    r"|^(?:dear|by|from|to|source|note|figure|table|chart|box)\b|\.indd\b|©|\bisbn\b|\bissn\b"
    r"|\.(?:docx?|pdf|indd|xlsx?|pptx?|qxd|tex|dvi|html?|rtf|odt|ai|ps|txt|tmp)\b|[\w]:\\"
    rf"|![A-Z]{{1,3}}\d|\bpursuant to\b|^(?!{YEAR})\d{{1,3}}\s|\d[.,]\d{{2}}\b|[\[\]]|[.;:,!?。؛،]$",
)
WORD_OF = re.compile(r"[^\W_]+")
CHAPTER = re.compile(r"(?i)(?:chapter|part|volume)\s(?:\d{1,2}|[ivx]{1,4})$")
CHAPTER_WITHIN = 4
DATE_BEHIND = re.compile(rf"(?i)[\s,–—-]+{DATE}$")
DATE_ALONE = re.compile(rf"(?i){DATED_MONTH}\s{YEAR}|{DATE}")
# Titles that say what is of a country, but not of which.
PUBLIC = re.compile(
    r"(?i)\b(?:budget|economic|fiscal|monetary|public|national|treasury|debt|revenue|expenditure)\b"
)
# What stands beside kinds of documents and says as little of whose they are: "Annual Report 2024".
GENERAL = re.compile(
    r"(?i)(?:annual|interim|half|quarterly|integrated|consolidated|financial|yearly|and|the|of)"
)


def document_title(pages: Sequence[TextPage], own: str | None, period: str | None) -> str:
    """The title of a document on one line of at most LONGEST_TITLE characters, "" where none is sure.

    pages: in order, the first of them at least. own: the file's own title. period: what it is about, as in
    DocumentFacts.
    """
    written, cover = Written(pages), cover_lines(pages)
    found = _found(pages, cover, written, own or "", period or "")
    return next(filter(is_sound, map(fit_title, found)), "")


def _found(
    pages: Sequence[TextPage], cover: Sequence[CoverLine], written: Written, own: str, period: str
) -> Iterator[str]:
    """Titles of the document, the surest first."""
    lines = [line.text for line in cover]
    yield _filing(lines, written, period)
    yield _release(cover, written, period)
    if speech := SPEECH.search(" ".join(lines)[:SPEECH_WITHIN]):
        kind = "statement" if speech["statement"] else "speech"
        if place := place_in(lines, written):
            yield f"{place}, budget {kind} {period}"
    for name in (*filter(written.knows, [one_line(own)]), *_heads(pages), *_headings(cover, written)):
        title = _trimmed(written.mended(name))
        if _is_heading(title) and len(WORD_OF.findall(title)) > 1:
            title = written.lowered(title)
            if title.partition(" ")[0].islower():
                title = title[:1].upper() + title[1:]
            whole = _whole(title, _issuer(title, lines, written), period, lines)
            if not _is_general(whole):
                yield whole


# --- filings and releases
# ------------------------------------------------------------------------------------------------------------


def _filing(lines: Sequence[str], written: Written, period: str) -> str:
    """The title of a report on a numbered form; "" for other documents."""
    cover = " ".join(lines)
    form = FORM.search(cover[:FORM_WITHIN])
    who = form and COMMISSION.search(cover) and (registrant(lines) or company_in(written))
    if not form or not who:
        return ""
    dated = DATED.search(cover) if form.lastgroup != "annual" else None
    date = next(filter(None, dated.groups())) if dated else period
    amended = ", amended" if AMENDED.match(cover, form.end()) else ""
    return f"{written.lowered(without_legal_form(who))}, {form.lastgroup} report {date}{amended}"


def _release(cover: Sequence[CoverLine], written: Written, period: str) -> str:
    """The title of a release of results; "" for other documents."""
    lines = "\n".join("" if line.is_prose else line.text for line in cover[:HEADLINES])
    head = " ".join(line.text for line in cover)
    head = re.sub(r"\s(?:and|&)\sfull[- ]year\b", "", head, flags=re.I)
    quarters = [f"Q{one.quarter} {one.start_year}" for one in find_periods(head) if one.quarter]
    found = RESULTS.search(lines)
    who = found["who"] if found else TOLD_RESULTS.search(head) and company_in(written)
    return (
        f"{written.lowered(without_legal_form(who))}, earnings release {[*quarters, period][0]}"
        if who
        else ""
    )


# --- other documents
# ------------------------------------------------------------------------------------------------------------


def _headings(cover: Sequence[CoverLine], written: Written) -> list[str]:
    """The heading at the top of the cover that is most likely its title, none where there is none.

    It is the largest, or else names a kind of document, or else stands right above running text.
    """
    groups = list[list[CoverLine]]()
    for line in cover:
        if groups and len(groups[-1]) < MOST_WRAPPED and _goes_on(groups[-1][-1], line):
            groups[-1].append(line)
        elif not line.is_running:
            groups.append([line])
    ranked = []
    for at, (first, *rest) in enumerate(groups[:TITLE_WITHIN]):
        text = written.mended(" ".join(line.text for line in (first, *rest)))
        below = "".join(line.text for group in groups[at + 1 : at + 2] for line in group)
        is_named = bool(TITLE_WORD.search(text))
        stands_out = first.size > 1 or (at < ABOVE_WITHIN and len(below) >= SHORTEST_PROSE)
        stands_out &= len(WORD_OF.findall(text)) >= FEWEST_WORDS
        if first.is_prose or text[0].islower() or not _is_heading(text) or not written.knows(text, 2):
            continue
        if is_named or stands_out:
            ranked.append((-round(first.size, 1), -is_named, at, text))
    return [text for *_, text in sorted(ranked)[:1]]


def _goes_on(line: CoverLine, below: CoverLine) -> bool:
    """Whether a title goes on from a line into the next one: by its words, or in the same size right below.

    The name of an issuer goes on into no title.
    """
    if line.is_prose or below.is_prose or below.is_running:
        return False
    if GOES_ON.search(f"{line.text}\n{below.text}"):
        return True
    same_size = line.size > 1 and abs(below.size - line.size) <= SAME_SIZE * line.size
    if not line.box or not below.box or not same_size or public_body([line.text, below.text]):
        return False
    return -line.box.height < below.box.y0 - line.box.y1 < CLOSE * line.box.height


def _is_heading(line: str) -> bool:
    """Whether a line looks like a title, and not like a sentence, an address or a list."""
    return len(line) <= LONGEST_HEADING and is_sound(line) and not NO_TITLE.search(line)


def _heads(pages: Sequence[TextPage]) -> list[str]:
    """Running heads that name a kind of document and its year, the most frequent first."""
    found = Counter(
        _trimmed(one_line(line))
        for page in pages
        for start, end in page.running
        for line in page.text[start:end].split("\n")
    )
    heads = [head for head, times in found.most_common() if times >= FEWEST_HEADS and TITLE_WORD.search(head)]
    return [head for head in heads if re.search(YEAR, head) and not DATE_ALONE.search(head)]


def _trimmed(title: str) -> str:
    """A title without numbers of files, chapters and pages, and without who spoke."""
    for rest in (NUMBER_BEFORE, NUMBER_BEHIND, BYLINE):
        shorter = rest.sub("", title).strip(" ,;:-–—|")
        if len(WORD_OF.findall(shorter)) > 1:
            title = shorter
    return title


def _is_general(title: str) -> bool:
    """Whether a title says neither whose nor of when: "Annual Report"."""
    return all(GENERAL.fullmatch(word) or TITLE_WORD.fullmatch(word) for word in WORD_OF.findall(title))


def _issuer(title: str, lines: Sequence[str], written: Written) -> str:
    """Who issued a document of this title, by its cover or else by its text; "" where nobody is sure."""
    if body := public_body([DATE_BEHIND.sub("", line).rstrip(" ,;") for line in lines]):
        return written.lowered(body)
    if company := company_alone(lines):
        return written.lowered(without_legal_form(company))
    if PUBLIC.search(title):
        return place_in(lines, written)
    if _is_general(re.sub(r"\d", "", title)):
        return written.lowered(without_legal_form(company_in(written)))
    return ""


def _whole(title: str, issuer: str, when: str, lines: Sequence[str]) -> str:
    """A title with its issuer before, its period or date and its chapter behind, as far as it lacks them.

    The issuer is left out where there is no room for it.
    """
    behind = f" {when}" if when else ", ".join(["", *filter(DATE_ALONE.fullmatch, lines)][:2])
    if re.search(YEAR, title):
        behind = ""
    for chapter in filter(CHAPTER.match, lines[:CHAPTER_WITHIN]):
        behind += f", {chapter.casefold()}"
    said = f"{fit_title(title, LONGEST_TITLE - len(behind))}{behind}"
    own, words = (set(WORD_OF.findall(text.casefold())) for text in (title, issuer))
    if all(word in own or len(word) < 4 for word in words) or len(f"{issuer}, {said}") > LONGEST_TITLE:
        return said
    return f"{issuer}, {said}"

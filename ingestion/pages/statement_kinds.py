"""Prepares a page for the rules of page kinds, and tells which primary statements it is.

A title of its own, its rows and its figures tell. Running heads are set apart, lines folded, figures counted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ingestion.language.months import MONTH_WORDS
from ingestion.pages.statement_terms import FORBIDDEN, PERMITTED, STATEMENTS, STEM
from ingestion.prompt_injection.obfuscation import fold
from ingestion.records import Page

__all__ = ["PageFeatures", "look_at", "statements"]

# A title stands within this many lines of the top. Letterhead, item, company, unit and period may come first.
HEAD_LINES = 14
# A row of figures ends in a figure: "1,234", "(5.6)%", "12 %", "$ 7", or in a dash that stands for none.
FIGURE_AT_END = re.compile(r"(?:\d[.,\d]*\)?(?: ?[%*])?|(?<=[\d)\s$])[—–-])$")
PAGE_NUMBER = re.compile(r"(?:f ?- ?)?\d{1,3}(?:-\d{1,3})?|[ivxl]{1,6}")
# Measured statements have figures at the end of .38 of their lines or more, the most crowded text of .30.
LEAST_DENSITY = 0.3
FEWEST_FIGURES = 4
LONGEST_TITLE = 130
# A running head may stand before a page's own, and a heading before the title of what it heads.
NOTES = re.compile(
    r"(?:[^\n]{0,60} )?notes? (?:to|on|forming)\b(?! page)|notes?(?: no\.?)? \d|notes$|\d{1,2}[.)] [a-z]"
    r"|\d\.\d|anhang|annexe|notas|"
    r"schedule [ivx\d]|supplement(?:al|ary) (?:fin|inf|sched)|"
    r"[^\n]{0,20}(?:management'?s discussion|selected (?:consolidated |historical |quarterly )*financial)"
    r"|md&a|(?:required )?supplementary|"
    r"other supplementary"
)
REFERENCE = re.compile(
    r"\(?(?:see|the|these|refer|accompanying)\b|[^\n]*integral part"
    r"|(?:\d[\d.]*[.)]? )(?:[a-z]+ ){0,4}financial statements"
)
# A statement of others than the group: of the parent alone, of a part, of what would have been.
OTHERS = re.compile(
    r"parent(?: company)?(?: only|-only)?\)?$|\(?parent company|registrant|pro[ -]?forma|guarantor"
    r"|consolidating|combining|"
    r"condensed financial information|"
    r"company only|^(?:the )?company (?:balance|statement|income|cash|profit)|"
    r"(?:balance sheets?|statements? of [a-z ]{3,40}) (?:of|for) the (?:parent|company)\b"
    r"|separate (?:balance|financial statement|statement|"
    r"income)|supplementary schedule|segment|discretely|(?:by|of) fund type$|schedule [ivx]+\b"
    r"|budgetary basis"
)
# Columns of a table that explains how a statement was changed.
BEFORE = re.compile(r"(?:as )?(?:previously |originally )?report(?:ed)?\b|as originally")
CHANGE = re.compile(r"\bimpact|\beffects? of|adjustments?|reclassif")
AFTER = re.compile(r"restated|as (?:adjusted|revised|corrected)|without adoption")
PARENTHESES = re.compile(r"\([^()]{0,80}\)?")
FIGURE = re.compile(r"\d[\d,.]*\d\b|\(\d")
LABEL = re.compile(r"(?m)(?:^|(?<=[\d)%$-] ))[a-z(][^\n\d$]{2,79}")
# Company, title, sub-title, unit: what the title says of itself.
LINES_OF_A_TITLE = 4


class PageFeatures(NamedTuple):
    """A page prepared for the rules.

    lines: those of the page's own text, one space between words.
    folded: the same in lower case, without accents, curly quotes and long dashes.
    edges: running heads and feet, folded.
    figures: for each line whether it ends in a figure.
    text: all folded lines.
    """

    lines: tuple[str, ...]
    folded: tuple[str, ...]
    edges: tuple[str, ...]
    figures: tuple[bool, ...]
    text: str

    @property
    def head(self) -> int:
        """How many lines belong to the head of the page."""
        return min(HEAD_LINES, len(self.lines))

    @property
    def density(self) -> float:
        """The share of lines that end in a figure, in [0, 1]."""
        return self.rows / max(1, len(self.figures))

    @property
    def rows(self) -> int:
        """How many of the lines end in a figure."""
        return sum(self.figures)


def look_at(page: Page) -> PageFeatures:
    """Returns a page prepared for the rules, in time linear in its text."""
    lines = list[str]()
    edges = list[str]()
    start = 0
    for line in page.text.split("\n"):
        words = " ".join(line.split())
        if words and any(first <= start < end for first, end in page.running):
            edges.append(fold(words))
        elif words:
            lines.append(words)
        start += len(line) + 1
    text = fold("\n".join(lines))
    figures = (bool(FIGURE_AT_END.search(line[-12:])) for line in lines)
    return PageFeatures(tuple(lines), tuple(text.splitlines()), tuple(edges), tuple(figures), text)


def _has_page_number(folded: str) -> bool:
    """Whether a line ends in a page number, like an entry of a list of contents, and not in a date."""
    *_, before, last = ["", "", *folded.rsplit(None, 2)]
    return before.rstrip(".") not in {"", *MONTH_WORDS} and PAGE_NUMBER.fullmatch(last) is not None


def statements(look: PageFeatures) -> set[str]:
    """Returns which of STATEMENTS the page is; none for notes, discussions, extracts and lists."""
    if look.rows < FEWEST_FIGURES or look.density < LEAST_DENSITY:
        return set()
    titles = _titles(look)
    if not titles or _is_about_others(look, titles[0][0]):
        return set()
    named = {name for number, name in titles if number < look.head}
    if "comprehensive_income_statement" in named:
        named.add("income_statement")
    found = {name for name in named if _has_rows(name, look, 0)}
    further = {name for number, name in titles if number >= look.head and _has_rows(name, look, number)}
    return found and found | further


def _titles(look: PageFeatures) -> list[tuple[int, str]]:
    """Returns (line, statement) of the lines that are titles of statements."""
    found = []
    for number, folded in enumerate(look.folded):
        if (len(folded) > LONGEST_TITLE and number >= look.head) or not STEM.search(folded):
            continue
        line = look.lines[number]
        names = _named(line)
        if not names and number + 1 < len(look.lines) and not look.figures[number]:
            names = _named(f"{line} {look.lines[number + 1]}")
        found += [(number, name) for name in names]
    return found


def _named(line: str) -> list[str]:
    """Returns the statements that a line is the title of."""
    line = " ".join(PARENTHESES.sub(" ", line).split())
    folded = fold(line)
    names = []
    for name, statement in STATEMENTS.items():
        found = statement.title.search(folded)
        if found and _is_title(line[: found.start()], line[found.end() :]):
            names.append(name)
    return names


def _is_title(before: str, after: str) -> bool:
    """Whether what stands around a statement's name leaves it a title.

    There may be names and dates, but no sentence, no page number, and no word that makes it something else.
    """
    if _has_page_number("x " + fold(after)) or after.rstrip().endswith((".", ";")):
        return False
    # Two lines that extraction put together: what has figures is a row, or the heads of columns.
    row = FIGURE.search(after)
    text = f"{before} {after[: row.start()] if row else after}"
    if any(word.strip(',:;.-–—|/"“”').lower() in FORBIDDEN for word in text.split()):
        return False
    title = before if row else text
    return all(not word[:1].islower() or fold(word) in PERMITTED for word in title.split())


def _is_about_others(look: PageFeatures, title: int) -> bool:
    """Whether the page is another than the group's own statement.

    What stands above the title, or the columns below it, tells.
    """
    above = (*look.edges, *look.folded[:title])
    if any(NOTES.match(line) and not REFERENCE.match(line) for line in above):
        return True
    top = look.folded[: title + LINES_OF_A_TITLE]
    if any(len(line) < LONGEST_TITLE and OTHERS.search(line) for line in top):
        return True
    heads = "\n".join(look.folded[: title + look.head])
    return all(pattern.search(heads) for pattern in (BEFORE, CHANGE, AFTER))


def _has_rows(name: str, look: PageFeatures, first: int) -> bool:
    """Whether a page has the rows of a statement from one of its lines on."""
    statement = STATEMENTS[name]
    # What rows begin with, one a line, also those that extraction put behind the figures of the row before.
    labels = "\n".join(LABEL.findall("\n".join(look.folded[first:])))
    found = sum(bool(row.search(labels)) for row in statement.rows)
    is_whole = look.rows >= statement.figures and found >= statement.fewest
    return is_whole and statement.bottom.search(labels) is not None

"""Makes true statements from a document's tables and sentences, and copies with one number error each.

It reads cells by itself, without the product's reading of numbers.

Kinds of error, one a statement:
    scale     million for billion, lakh for crore, thousand for million
    sign      a minus added, or dropped where no word says it
    digit     one digit changed, or two neighbours swapped
    points    per cent for percentage points, or the other way about
    column    the figure of another column of that row, where no period tells the columns apart
    row       the figure of another row, in that column
    period    the figure of another period of that row, or another year beside a figure of a sentence
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingestion.language.periods import head_period
from ingestion.records import Page, Row, Table

__all__ = ["KINDS", "Statement", "statements_of_sentences", "statements_of_tables"]

KINDS = ("scale", "sign", "digit", "points", "column", "row", "period")
SCALES = ("thousand", "million", "billion", "trillion", "lakh", "crore")
OTHER_SCALE = {
    "thousand": "million",
    "million": "billion",
    "billion": "million",
    "trillion": "billion",
    "lakh": "crore",
    "crore": "lakh",
}
CELL = re.compile(
    r"(?P<open>[(\[]?)\s?(?P<minus>[-−–]?)\s?\$?\s?(?P<open2>\(?)(?P<digits>[0-9][0-9, ]*(?:\.[0-9]+)?)"
    r"\s?(?P<percent>%?)\s?\)?\s?(?P<late>%?)"
)
YEAR = re.compile(r"(?:FY ?)?(?:19|20)[0-9]{2}(?:[-–/](?:[0-9]{2}|20[0-9]{2}))?(?![0-9])")
SENTENCE = re.compile(r"[A-Z][^.!?]{30,330}?(?:\.[0-9][^.!?]{0,200}?){0,6}\.(?=\s+[A-Z]|\s*\Z)")
AMOUNT = re.compile(
    r"(?P<digits>[0-9][0-9,]*(?:\.[0-9]+)?) ?(?P<unit>%|per ?cent\b(?! points?)|percentage points"
    r"|(?:lakh )?(?:thousand|million|billion|trillion|lakh|crore)\b)"
)
# Rows of counts and of amounts per piece, to which a table's scale does not apply.
UNSCALED = re.compile(
    (
        r"per |shares|number|ratio|days|years|rate|employees|stores|units|quantit|multiple|%|percent|staff"
        r"|age\b|average|weighted"
    ),
    re.I,
)
MONTH = re.compile("January|February|March|April|May|June|July|August|September|October|November|December")
PERCENT = re.compile(r"(?<![0-9])(?<![0-9] )(?:%|\bper ?cent(?:age)?\b(?! points?))", re.I)
POINTS = re.compile(r"percentage points|basis points|\bbps\b|\bpp\b", re.I)
# Labels whose minus a plain sentence says in words: "purchases of equipment were 1,577" is true of (1,577).
MINUS_IN_WORDS = re.compile(
    r"loss|purchas|pa(?:id|yment)|repay|expen|cost|decreas|declin|reduc|less|deficit|dividend|used"
    r"|depreci|amorti|impair|charge|allowance|provision"
    r"|write|acqui|treasury|outflow|repurchas|deduct|settle|lower|retire|redemption|withdraw|sale|contribut"
    r"|eliminat|revers|benefit|claims|lapse|spen|invest",
    re.I,
)
MOST_LABEL_WORDS = 12


@dataclass(frozen=True, slots=True)
class Statement:
    """text: true of the page, without a key. question: what it answers. errors: kind of error -> the text
    with that error planted.
    """

    page: Page
    form: str
    question: str
    text: str
    errors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Value:
    """A cell as read here. unit: "%" or "". scale: a scale word or ""."""

    digits: str
    negative: bool
    unit: str
    scale: str
    currency: str

    def said(self) -> str:
        sign = "-" if self.negative else ""
        unit = self.unit if self.unit in ("", "%") else " " + self.unit
        scale = self.scale and " " + self.scale
        return f"{sign}{self.currency}{self.digits}{unit}{scale}"

    @property
    def amount(self) -> str:
        return self.digits.replace(",", "").replace(" ", "")


# ---------------------------------------------------------------- tables


def statements_of_tables(page: Page, chance: random.Random) -> Iterator[Statement]:
    """Statements of all tables of a page whose heads and labels are known."""
    for table in page.tables:
        if _usable(table):
            for row in table.rows:
                if _telling(row.label) and [other.label for other in table.rows].count(row.label) == 1:
                    yield from _statements_of_row(page, table, row, chance)


def _usable(table: Table) -> bool:
    heads = table.heads
    if len(table.rows) < 2 or len(heads) < 2:
        return False
    return all(heads) and len(set(heads)) == len(heads)


def _telling(label: str) -> bool:
    return (
        1 <= len(label.split()) <= MOST_LABEL_WORDS
        and re.search("[A-Za-z]{3}", YEAR.sub("", label)) is not None
    )


def _time_of(head: str) -> str:
    """The year of a column's head, of a part of a year all of it; "" for none or several."""
    period = head_period(head)
    if period is not None and period.is_part:
        return period.said
    found = YEAR.findall(head)
    return found[0] if len(found) == 1 else ""


def _statements_of_row(page: Page, table: Table, row: Row, chance: random.Random) -> Iterator[Statement]:
    values = [_value(table, row, column) for column in range(len(table.heads))]
    known = [column for column, value in enumerate(values) if value is not None]
    if not known:
        return
    column = chance.choice(known)
    value = values[column]
    assert value is not None
    plain = list(map(_time_of, table.heads))
    by_period = all(plain) and len(set(plain)) == len(plain)
    others = [
        other for other in known if (found := values[other]) is not None and found.amount != value.amount
    ]
    label = _spoken(row.label, chance)
    form, question, pattern = _form(label, plain[column] if by_period else "", table.heads[column], chance)
    errors = {kind: pattern.format(wrong) for kind, wrong in _wrong(value, row.label, chance).items()}
    if others:
        other = chance.choice(others)
        wrong = values[other]
        assert wrong is not None
        errors["period" if by_period else "column"] = pattern.format(wrong.said())
    below = [
        _value(table, other_row, column)
        for other_row in table.rows
        if other_row.label != row.label and _telling(other_row.label)
    ]
    if rivals := [other for other in below if other is not None and other.amount != value.amount]:
        errors["row"] = pattern.format(chance.choice(rivals).said())
    yield Statement(page, form, question, pattern.format(value.said()), errors)
    if by_period and others:
        rest = [(plain[other], found) for other in others if (found := values[other])]
        yield from _statements_of_two(page, label, (plain[column], value), rest, chance)
    yield from _copied_row(page, table, row, chance)


def _form(label: str, year: str, head: str, chance: random.Random) -> tuple[str, str, str]:
    """(name of the form, question, pattern with {} for the figure)."""
    label, head = label.replace("{", "").replace("}", ""), head.replace("{", "").replace("}", "")
    small = label[0].lower() + label[1:] if label[1:2].islower() and not MONTH.match(label) else label
    said = re.sub(r"\s?\([0-9a-z]\)", "", head).replace(" > ", ", ")
    asked = f"What was {small} in {year}?" if year else f"What was {small}, {said}?"
    if year:
        forms = [
            ("was in", "What does the document say?", f"{label} was {{}} in {year}."),
            ("in came to", "What does the document say?", f"In {year}, {small} came to {{}}."),
            ("colon", "What does the document say?", f"{label}: {{}} ({year})"),
            ("asked in full", asked, "It was {}."),
            ("period asked", asked, f"{label} was {{}}."),
        ]
    else:
        forms = [
            ("for head", "What does the document say?", f"For {said}, {small} was {{}}."),
            ("head in brackets", "What does the document say?", f"{label} ({said}): {{}}"),
            ("head asked", asked, f"{label} was {{}}."),
        ]
    return chance.choice(forms)


def _statements_of_two(
    page: Page,
    label: str,
    one: tuple[str, _Value],
    others: Sequence[tuple[str, _Value]],
    chance: random.Random,
) -> Iterator[Statement]:
    """Two periods in one sentence; the error is that the figures are swapped."""
    (year, value), (year2, value2) = one, chance.choice(others)
    form, pattern = chance.choice(
        [
            ("from to", f"{label} went from {{0}} in {year} to {{1}} in {year2}."),
            ("against", f"{label} was {{0}} in {year}, against {{1}} in {year2}."),
            ("respectively", f"{label} was {{0}} and {{1}} in {year} and {year2}, respectively."),
        ]
    )
    if "{" in label or "}" in label:
        return
    errors = {"period": pattern.format(value2.said(), value.said())}
    errors |= {
        kind: pattern.format(wrong, value2.said()) for kind, wrong in _wrong(value, label, chance).items()
    }
    yield Statement(
        page, form, "What does the document say?", pattern.format(value.said(), value2.said()), errors
    )


def _copied_row(page: Page, table: Table, row: Row, chance: random.Random) -> Iterator[Statement]:
    """The row as an answer without a model gives it: heads, label and cells."""
    cells = [cell for cell in row.cells if cell is not None]
    if row.start < 0 or "\n" in page.text[row.start : row.end] or len(cells) < 2:
        return
    heads = " ".join(head.replace(" > ", " ") for head in table.heads)
    line = page.text[row.start : row.end]
    digits = []
    for match in re.finditer("(?<=[0-9])[0-9]", line):
        start = row.start + match.start()
        if any(cell.start <= start < cell.end for cell in cells):
            digits.append(match)
    errors = {}
    if digits:
        at = chance.choice(digits).start()
        other = (int(line[at]) + chance.randint(1, 9)) % 10
        errors["digit"] = f"{heads}: {line[:at]}{other}{line[at + 1 :]}"
    if cells[0].text != cells[1].text and all(any(map(str.isdigit, cell.text)) for cell in cells[:2]):
        swapped = [cells[1], cells[0], *cells[2:]]
        errors["column"] = f"{heads}: {row.label} {' '.join(cell.text for cell in swapped)}"
    rivals = [other.label for other in table.rows if other.label != row.label and _telling(other.label)]
    if rivals:
        errors["row"] = f"{heads}: {chance.choice(rivals)} {' '.join(cell.text for cell in cells)}"
    yield Statement(page, "copied row", "What does the document say?", f"{heads}: {line}", errors)


def _value(table: Table, row: Row, column: int) -> _Value | None:
    """A cell with the unit and scale that the table itself states for it; None where it holds no single
    number.
    """
    cell = row.cells[column] if column < len(row.cells) else None
    match = CELL.fullmatch(cell.text.strip()) if cell is not None else None
    if match is None or (match["digits"].startswith("0") and match["digits"].isdigit()):
        return None
    digits = match["digits"].strip()
    narrow, wide = f"{table.heads[column]} {row.label}", f"{table.unit} {table.caption}"
    if POINTS.search(f"{narrow} {row.section} {wide}"):
        return None
    percent = bool(match["percent"] or match["late"] or PERCENT.search(narrow))
    if percent and "," in digits:
        return None  # amounts under a head such as "% of total" that spans them by mistake
    money = not percent and not UNSCALED.search(f"{row.label} {row.section} {table.heads[column]}")
    said = f"{wide} {narrow}"
    if not percent and PERCENT.search(wide):
        return None
    scales = [word for word in SCALES if re.search(rf"\b{word}s?\b", said, re.I)] if money else []
    if len(scales) > 1:
        return None
    if not scales and money and re.search(r"\$m\b", said):
        scales = ["million"]
    if not scales and money and "'000" in said:
        scales = ["thousand"]
    negative = bool(match["open"] or match["open2"] or match["minus"])
    currency = "$" if scales and ("$" in said + row.label or "dollar" in said) else ""
    return _Value(digits, negative, "%" if percent else "", scales[0] if scales else "", currency)


def _spoken(label: str, chance: random.Random) -> str:
    """The label as a sentence has it: footnote marks gone, at times what is bracketed too."""
    label = re.sub(r"\A[0-9]{1,2}\.\s", "", label)
    label = re.sub(r"\s?[(\[][0-9a-z]{1,2}[)\]]|[*†‡:]|(?<=[a-z])\s[0-9]{1,2}$", "", label).strip()
    if chance.random() < 0.5:
        label = re.sub(r"\s?\([^()]{0,60}\)", "", label).strip() or label
    return label


# ---------------------------------------------------------------- errors in one figure


def _wrong(value: _Value, label: str, chance: random.Random) -> dict[str, str]:
    wrong = {"digit": replace(value, digits=_other_digits(value.digits, chance)).said()}
    if value.scale:
        wrong["scale"] = replace(value, scale=OTHER_SCALE[value.scale]).said()
    if value.unit == "%":
        wrong["points"] = replace(value, unit="percentage points").said()
    if not value.negative or not MINUS_IN_WORDS.search(label):
        wrong["sign"] = replace(value, negative=not value.negative).said()
    return wrong if float(value.amount) else {}


def _other_digits(written: str, chance: random.Random) -> str:
    """One digit changed or two neighbours swapped; never a needless zero in front."""
    at = chance.choice([match.start() for match in re.finditer("[0-9]", written)])
    if chance.random() < 0.3 and _may_swap(written, at):
        return written[: at - 1] + written[at] + written[at - 1] + written[at + 1 :]
    digit = chance.choice([digit for digit in "123456789" if digit != written[at]])
    return written[:at] + digit + written[at + 1 :]


def _may_swap(written: str, at: int) -> bool:
    """Whether this digit and the one before it may change places."""
    if at == 0 or not written[at - 1].isdigit() or written[at] == written[at - 1]:
        return False
    return at > 1 or written[at] != "0"


# ---------------------------------------------------------------- sentences


def statements_of_sentences(page: Page, chance: random.Random) -> Iterator[Statement]:
    """Sentences of a page that state an amount with its unit, as they stand, at times after words of one's
    own.
    """
    for match in SENTENCE.finditer(page.text):
        sentence = " ".join(match[0].split())
        amounts = [found for found in AMOUNT.finditer(sentence) if not found["digits"].startswith("0")]
        if not amounts or len(sentence.split()) < 8:
            continue
        if any(_overlaps(match, table) for table in page.tables):
            continue
        amount = chance.choice(amounts)
        lead = chance.choice(["", "", "The document says: ", "In short, "])
        errors = {kind: lead + wrong for kind, wrong in _wrong_in_sentence(sentence, amount, chance).items()}
        yield Statement(page, "sentence", "What does the document say?", lead + sentence, errors)


def _overlaps(match: re.Match[str], table: Table) -> bool:
    return table.rows[0].start <= match.end() and match.start() <= table.rows[-1].end


def _wrong_in_sentence(sentence: str, amount: re.Match[str], chance: random.Random) -> dict[str, str]:
    unit = amount["unit"]
    before, after = sentence[: amount.start()], sentence[amount.end() :]
    gap = sentence[amount.end("digits") : amount.start("unit")]
    wrong = {"digit": f"{before}{_other_digits(amount['digits'], chance)}{gap}{unit}{after}"}
    if unit in OTHER_SCALE:
        wrong["scale"] = f"{before}{amount['digits']}{gap}{OTHER_SCALE[unit]}{after}"
    if unit in ("%", "percent", "per cent"):
        wrong["points"] = f"{before}{amount['digits']} percentage points{after}"
    if unit == "percentage points":
        wrong["points"] = f"{before}{amount['digits']} per cent{after}"
    if re.search(r"[a-z] \$?\Z", before):
        at = len(before.rstrip("$"))
        wrong["sign"] = f"{before[:at]}-{before[at:]}{amount[0]}{after}"
    years = list(re.finditer(r"\b20[0-9]{2}\b(?![-–/,.]?[0-9])", sentence))
    if len({year[0] for year in years}) == 1:
        year = years[0]
        other = int(year[0]) + chance.choice((-2, -1, 1, 2))
        wrong["period"] = f"{sentence[: year.start()]}{other}{sentence[year.end() :]}"
    return wrong

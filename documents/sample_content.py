"""What a sample document consists of, and how it is read from its file in content/; not how a page is drawn.
The Republic of Valmora is invented.

A file begins with its head, which is TOML. Below lines of +++ stand what comes before the body, if anything
does, and the body: blocks with an empty line between them, written as in Markdown.

    # Heading            ## of the second level, ### one that stays out of the contents; a line of --- before
    it starts a page
    - item               or (a) item
    Table 1: Caption     then the unit, if any, the rows, of which those that begin with ** are totals, and
    the notes, a line each; in the rule
                         below the head a column of figures ends with a colon, and a hyphen is a hundredth of
                         the line's width
    Figure 1: Caption    then the same with one row, whose last column is the limit
    [contents]           or [tables]
    ::: Heading          then pages that are pictures, with --- between them, up to a line of :::

All else is a paragraph; a line that begins with ^ is its footnote. Lines of a paragraph or an item are
joined; what they mark is reportlab's own: <b>, <br/>. The files are not called .md: they lie in the folder of
documents, whose files of known kinds are added.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from pathlib import Path
from typing import Any

__all__ = ["SAMPLES", "Bars", "Block", "Contents", "Heading", "Items", "Sample", "Scan", "Table", "Text"]

CONTENT = Path(__file__).resolve().parent / "content"
NAMES = (
    "Valmora_Fiscal_Policy_Statement_2025",
    "Valmora_Budget_Book_2025-26",
    "Valmora_Procurement_Policy_2019",
    "Valmora_Procurement_Policy_2024",
)
# The lines of a table that are rows: of the head, the rule and the body.
ROWS = re.compile(r"((?:^\|.*\n?)+)", re.M)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. level: 1 or 2, 0 for one that stays out of the contents; new_page: starts a page."""

    text: str
    level: int = 1
    new_page: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; footnote: what stands at the foot of its page under the mark that the text carries."""

    text: str
    footnote: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list, bulleted, or with (a), (b) … where lettered."""

    items: tuple[str, ...]
    lettered: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table as printed. words: how many leading columns are words, the others being figures; a row of one
    cell is a subheading.

    bold: indexes of rows that are totals. widths: shares of the line.
    """

    caption: str
    unit: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bold: tuple[int, ...]
    notes: tuple[str, ...]
    words: int
    widths: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart of one series; line: a limit drawn across it."""

    caption: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    line: float


@dataclass(frozen=True, slots=True)
class Contents:
    """The table of contents, or the list of tables."""

    tables: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """Pages that are pictures only. heading: what the contents call them; pages: what each picture shows."""

    heading: Heading
    pages: tuple[tuple[Block, ...], ...]


Block = Heading | Text | Items | Table | Bars | Contents | Scan


@dataclass(frozen=True, slots=True)
class Sample:
    """One document. date: of the PDF's metadata. footer: left, middle, right, with {label} and {pages}.
    cover: a title page; labels: embed page labels.
    """

    file: str
    title: str
    subtitle: str
    date: date
    footer: tuple[str, str, str]
    front: tuple[Block, ...]
    body: tuple[Block, ...]
    cover: tuple[str, ...] = ()
    labels: bool = False
    serif: bool = True


def _sample(name: str) -> Sample:
    head, *front, body = (CONTENT / f"{name}.source").read_text(encoding="utf-8").split("\n+++\n")
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in tomllib.loads(head).items()
    }
    return Sample(file=f"{name}.pdf", front=_blocks(front[0]) if front else (), body=_blocks(body), **given)


def _blocks(text: str) -> tuple[Block, ...]:
    parts = iter(re.split(r"\n{2,}", text.strip()))
    return tuple(_scan(part, parts) if part.startswith(":::") else _block(part) for part in parts)


def _scan(first: str, parts: Iterator[str]) -> Scan:
    """first: the line that begins the pictures; parts: what follows it, of which it takes what is in them."""
    inside = "\n\n".join(takewhile(lambda part: part != ":::", parts))
    return Scan(Heading(first.removeprefix("::: ")), tuple(map(_blocks, inside.split("\n\n---\n\n"))))


def _block(part: str) -> Block:
    if heading := re.fullmatch(r"(---\n)?(#{1,3}) (.+)", part):
        return Heading(heading[3], level=len(heading[2]) % 3, new_page=bool(heading[1]))
    if part in {"[contents]", "[tables]"}:
        return Contents(tables=part == "[tables]")
    if ROWS.search(part):
        return _table(part)
    if items := re.split(r"^(?:-|\([a-z]\)) ", part, flags=re.M)[1:]:
        return Items(tuple(map(_joined, items)), lettered=part.startswith("("))
    text, *footnote = re.split(r"^\^ ", part, flags=re.M)
    return Text(_joined(text), _joined("".join(footnote)))


def _joined(lines: str) -> str:
    return " ".join(line.strip() for line in lines.splitlines())


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip("|").split("|"))


def _plain_cells(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cell.strip("*").replace("&emsp;", " ") for cell in row)


def _table(part: str) -> Table | Bars:
    before, rows, after = ROWS.split(part)
    caption, *unit = before.splitlines()
    head, rule, *body = map(_cells, rows.splitlines())
    if caption.startswith("Figure"):
        *values, limit = map(float, body[0])
        return Bars(caption, head[:-1], tuple(values), limit)
    return Table(
        caption,
        "".join(unit),
        head,
        tuple(map(_plain_cells, body)),
        bold=tuple(index for index, row in enumerate(body) if row[0].startswith("**")),
        notes=tuple(after.splitlines()),
        words=sum(not cell.endswith(":") for cell in rule),
        widths=tuple(len(cell) / 100 for cell in rule),
    )


SAMPLES = tuple(map(_sample, NAMES))

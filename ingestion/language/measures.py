"""The measures of accounts and budgets: what people call them, how documents print them, where they stand,
what they are computed from.

The tables of language beside it, read once; knows no document and no question. Names are those of US GAAP and
IFRS statements, of the Government Finance Statistics Manual 2014 (IMF), of budget papers and of central
banks' reports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ingestion.language.terms import terms

__all__ = [
    "STATEMENTS",
    "Measure",
    "find_measures",
    "find_statements",
    "measure_named",
    "related_words",
    "spelled_out",
]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure. asked: what questions call it; printed: what rows and sentences of documents call it;
    kinds: of pages where it stands; operands: names of the measures it is computed from, () for one that is
    printed as such; formula: over them, "" where there is none (see measures.tsv); unit: of its result, ""
    for that of its operands. All phrases as terms, see `terms`."""

    name: str
    asked: tuple[tuple[str, ...], ...]
    printed: tuple[tuple[str, ...], ...]
    kinds: tuple[str, ...]
    operands: tuple[str, ...] = ()
    formula: str = ""
    unit: str = ""


# Statements that questions name outright.
STATEMENTS = {
    "income_statement": (
        "income statement; statement of income; statement of operations; profit and loss; statement of "
        "earnings; statement of activities"
    ),
    "balance_sheet": "balance sheet; statement of financial position; statement of net position",
    "cash_flow_statement": "cash flow statement; statement of cash flow; statement of cash flows; cashflow statement",
    "equity_statement": (
        "statement of equity; statement of shareholders' equity; statement of stockholders' equity; changes "
        "in equity"
    ),
}
_FOLDER = Path(__file__).parent


@cache
def _measures() -> tuple[Measure, ...]:
    def phrases(text: str) -> tuple[tuple[str, ...], ...]:
        found = (tuple(terms(spelled_out(phrase))) for phrase in text.split(";") if phrase.strip())
        return tuple(dict.fromkeys(phrase for phrase in found if phrase))

    return tuple(
        Measure(
            name,
            phrases(f"{name}; {asked}"),
            phrases(printed),
            _parts(kinds),
            _parts(operands),
            *formula.split("|"),
        )
        for name, asked, printed, kinds, operands, formula in (
            line.split("\t") for line in _lines("measures.tsv")
        )
    )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _lines(name: str) -> list[str]:
    return [
        line for line in (_FOLDER / name).read_text("utf-8").splitlines() if line and not line.startswith("#")
    ]


@cache
def _statements() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (kind, tuple(terms(phrase)))
        for kind, named in STATEMENTS.items()
        for phrase in named.split(";")
        if terms(phrase)
    )


@cache
def _related() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for group in _lines("related.txt"):
        words = list(dict.fromkeys(term for word in group.split() for term in terms(word)))
        for word in words:
            found.setdefault(word, []).extend(other for other in words if other != word)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


def related_words(word: str) -> tuple[str, ...]:
    """Terms that may stand for this one."""
    return _related().get(word, ())


# Short forms whose letters are no terms by themselves.
_SHORT = (
    (re.compile(r"\br\s?&\s?d\b", re.IGNORECASE), "research and development"),
    (re.compile(r"\bd\s?&\s?a\b", re.IGNORECASE), "depreciation and amortization"),
    (re.compile(r"\bsg\s?&\s?a\b", re.IGNORECASE), "selling, general and administrative"),
    (re.compile(r"\bpp\s?&\s?n?e\b", re.IGNORECASE), "property, plant and equipment"),
    (re.compile(r"\bp\s?&\s?l\b", re.IGNORECASE), "profit and loss"),
)


def spelled_out(text: str) -> str:
    """The text with short forms such as "R&D" in words."""
    for pattern, words in _SHORT:
        text = pattern.sub(words, text)
    return text


def find_measures(words: tuple[str, ...]) -> list[Measure]:
    """The measures that a question of these terms, in order, asks for, most specific first; one inside a
    longer one's name is not meant.
    """
    found = [row for at, word in enumerate(words) for row in _named_at(words, at, word)]
    kept = list[tuple[int, int, int, Measure]]()
    reach = 0
    for row in sorted(found, key=lambda row: (row[0], -row[1])):  # what contains another comes before it
        if row[1] > reach or (kept and row[:2] == kept[-1][:2]):
            kept.append(row)
            reach = row[1]
    ordered = sorted(kept, key=lambda row: (row[0] - row[1], row[0], row[2]))
    return list({row[3].name: row[3] for row in ordered}.values())


def _named_at(words: tuple[str, ...], at: int, word: str) -> list[tuple[int, int, int, Measure]]:
    """(start, end, rank, measure) of the names that begin with the word at a place."""
    begun = _by_first_word().get(word, ())
    return [
        (at, at + len(phrase), rank, measure)
        for phrase, rank, measure in begun
        if words[at : at + len(phrase)] == phrase
    ]


@cache
def _by_first_word() -> dict[str, list[tuple[tuple[str, ...], int, Measure]]]:
    """Each name by its first word, with the place of its measure in the table: a long question is gone
    through once, not once a name.
    """
    named: dict[str, list[tuple[tuple[str, ...], int, Measure]]] = {}
    for rank, measure in enumerate(_measures()):
        for phrase in measure.asked:
            named.setdefault(phrase[0], []).append((phrase, rank, measure))
    return named


def find_statements(words: tuple[str, ...]) -> tuple[str, ...]:
    """Kinds of the statements that the question names."""
    return tuple(
        dict.fromkeys(kind for kind, phrase in _statements() if any(True for _ in _places(words, phrase)))
    )


def measure_named(name: str) -> Measure:
    """The measure of this name. Raises KeyError."""
    return {measure.name: measure for measure in _measures()}[name]


def _places(words: tuple[str, ...], phrase: tuple[str, ...]) -> list[int]:
    """Where the phrase begins among the words."""
    return [at for at in range(len(words) - len(phrase) + 1) if words[at : at + len(phrase)] == phrase]

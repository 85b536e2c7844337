"""Finds the measures of accounts and budgets by the names that people and documents give them.

For each measure the table beside this module, read once, says what people call it, how documents print it,
in which primary statements it stands and what it is computed from. Names come from US GAAP and IFRS
statements, the Government Finance Statistics Manual 2014 (IMF), budget papers and central banks' reports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ingestion.language.terms import terms

__all__ = [
    "STATEMENTS",
    "Measure",
    "find_measures",
    "find_statements",
    "measure_named",
    "related_words",
    "spelled_out",
    "words_for",
]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure. All phrases are split into terms, see `terms`.

    name: as other measures and formulas refer to it.
    asked: what questions call it.
    printed: what rows and sentences of documents call it.
    kinds: the primary statements where it stands.
    operands: names of the measures it is computed from, () where it is printed as such.
    formula: over the operands, "" where there is none (see measures.tsv).
    unit: unit of the result, "" for that of its operands.
    """

    name: str
    asked: tuple[tuple[str, ...], ...]
    printed: tuple[tuple[str, ...], ...]
    kinds: tuple[str, ...]
    operands: tuple[str, ...] = ()
    formula: str = ""
    unit: str = ""


# Phrases by which questions name a statement outright, by the statement's kind.
STATEMENTS = {
    "income_statement": (
        "income statement; statement of income; statement of operations; profit and loss; statement of "
        "earnings; statement of activities"
    ),
    "balance_sheet": "balance sheet; statement of financial position; statement of net position",
    "cash_flow_statement": (
        "cash flow statement; statement of cash flow; statement of cash flows; cashflow statement"
    ),
    "equity_statement": (
        "statement of equity; statement of shareholders' equity; statement of stockholders' equity; changes "
        "in equity"
    ),
}
_FOLDER = Path(__file__).parent
_WORD = re.compile(r"[\w&'’-]+")
_Phrase = tuple[str, ...]


@cache
def _measures() -> tuple[Measure, ...]:
    return tuple(map(_measure_of, _lines("measures.tsv")))


def _measure_of(line: str) -> Measure:
    """The measure of a line of the table."""
    name, asked, printed, kinds, operands, formula = line.split("\t")
    names = _phrases(f"{name}; {asked}")
    return Measure(name, names, _phrases(printed), _parts(kinds), _parts(operands), *formula.split("|"))


def _phrases(text: str) -> tuple[_Phrase, ...]:
    """The different phrases of a list with semicolons, each as terms."""
    found = (tuple(terms(spelled_out(phrase))) for phrase in _parts(text))
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _lines(name: str) -> list[str]:
    lines = (_FOLDER / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def _statements() -> tuple[tuple[str, _Phrase], ...]:
    found: list[tuple[str, _Phrase]] = []
    for kind, names in STATEMENTS.items():
        phrases = (tuple(terms(phrase)) for phrase in names.split(";"))
        found.extend((kind, phrase) for phrase in phrases if phrase)
    return tuple(found)


@cache
def _related() -> dict[str, _Phrase]:
    found: dict[str, list[str]] = {}
    for group in _lines("related.txt"):
        words = dict.fromkeys(term for word in group.split() for term in terms(word))
        for word in words:
            others = [other for other in words if other != word]
            found.setdefault(word, []).extend(others)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


def related_words(word: str) -> tuple[str, ...]:
    """Terms that may stand for this term."""
    return _related().get(word, ())


# Short forms whose letters are no terms by themselves.
_SHORT = {
    r"\br\s?&\s?d\b": "research and development",
    r"\bd\s?&\s?a\b": "depreciation and amortization",
    r"\bsg\s?&\s?a\b": "selling, general and administrative",
    r"\bpp\s?&\s?n?e\b": "property, plant and equipment",
    r"\bp\s?&\s?l\b": "profit and loss",
}
_SHORT_FORMS = [(re.compile(form, re.IGNORECASE), words) for form, words in _SHORT.items()]


def spelled_out(text: str) -> str:
    """The text with short forms such as "R&D" in words."""
    for pattern, words in _SHORT_FORMS:
        text = pattern.sub(words, text)
    return text


def find_measures(words: tuple[str, ...]) -> list[Measure]:
    """The measures that a question asks for, the most specific first.

    words: the question's terms in order. A name inside a longer name does not count.
    """
    found: list[_Name] = []
    for at in range(len(words)):
        found += _names_at(words, at)
    kept: list[_Name] = []
    reach = 0
    for name in sorted(found, key=_longest_first):
        same_place = bool(kept) and name.place == kept[-1].place
        if name.end > reach or same_place:
            kept.append(name)
            reach = name.end
    ordered = sorted(kept, key=_most_specific_first)
    return list({name.measure.name: name.measure for name in ordered}.values())


class _Name(NamedTuple):
    """A measure's name among the terms of a question, at terms[start:end]. rank: its place in the table."""

    start: int
    end: int
    rank: int
    measure: Measure

    @property
    def place(self) -> tuple[int, int]:
        return self.start, self.end


def _longest_first(name: _Name) -> tuple[int, int]:
    """Sorts names by place, and a name before those that it contains."""
    return name.start, -name.end


def _most_specific_first(name: _Name) -> tuple[int, int, int]:
    return name.start - name.end, name.start, name.rank


def _names_at(words: _Phrase, at: int) -> list[_Name]:
    """The names that begin with the word at a place."""
    names: list[_Name] = []
    for phrase, rank, measure in _by_first_word().get(words[at], ()):
        end = at + len(phrase)
        if words[at:end] == phrase:
            names.append(_Name(at, end, rank, measure))
    return names


@cache
def _by_first_word() -> dict[str, list[tuple[_Phrase, int, Measure]]]:
    """(name, place of its measure in the table, measure) by the name's first word.

    So a long question is searched once, not once for each name.
    """
    names: dict[str, list[tuple[_Phrase, int, Measure]]] = {}
    for rank, measure in enumerate(_measures()):
        for phrase in measure.asked:
            names.setdefault(phrase[0], []).append((phrase, rank, measure))
    return names


def find_statements(words: tuple[str, ...]) -> tuple[str, ...]:
    """Kinds of the statements that the question names."""
    kinds = (kind for kind, phrase in _statements() if _holds(words, phrase))
    return tuple(dict.fromkeys(kinds))


def measure_named(name: str) -> Measure:
    """The measure of this name. Raises KeyError."""
    return {measure.name: measure for measure in _measures()}[name]


def words_for(measure: Measure, text: str) -> str:
    """The words by which a text asks for a measure: "spending" for government expenditure.

    The measure's own name where the text has none of its names.
    """
    parts = [(word, term) for word in _WORD.finditer(text) for term in terms(word[0])]
    found = tuple(term for _, term in parts)
    for phrase in sorted(measure.asked, key=len, reverse=True):
        for at in range(len(parts) - len(phrase) + 1):
            end = at + len(phrase)
            if found[at:end] == phrase:
                return text[parts[at][0].start() : parts[end - 1][0].end()]
    return measure.name


def _holds(words: _Phrase, phrase: _Phrase) -> bool:
    """Whether the phrase stands among the words."""
    length = len(phrase)
    places = range(len(words) - length + 1)
    return any(words[at : at + length] == phrase for at in places)

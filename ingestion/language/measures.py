"""Finds the measures of accounts and budgets by the names that people and documents give them.

For each measure the table beside this module, read once, says what people call it, how documents print it,
in which primary statements it stands and what it is computed from. Names come from US GAAP and IFRS
statements, the Government Finance Statistics Manual 2014 (IMF), budget papers and central banks' reports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ingestion.language.terms import terms
from ingestion.language.vocabulary import parts, table

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
_WORD = re.compile(r"[\w&'’-]+")
_Phrase = tuple[str, ...]


@cache
def _measures() -> tuple[Measure, ...]:
    return tuple(map(_measure_of, table("measures.tsv")))


def _measure_of(cells: list[str]) -> Measure:
    """The measure of a line of the table."""
    name, asked, printed, kinds, operands, formula = cells
    names = _phrases(f"{name}; {asked}")
    return Measure(name, names, _phrases(printed), parts(kinds), parts(operands), *formula.split("|"))


@cache
def _phrases(text: str) -> tuple[_Phrase, ...]:
    """The different phrases of a list with semicolons, each as terms."""
    found = (tuple(terms(spelled_out(phrase))) for phrase in parts(text))
    return tuple(dict.fromkeys(filter(None, found)))


@cache
def _related() -> dict[str, dict[str, None]]:
    found = dict[str, dict[str, None]]()
    for (group,) in table("related.txt"):
        words = dict.fromkeys(terms(group))
        for word in words:
            found.setdefault(word, {}).update(words)
    return found


def related_words(word: str) -> tuple[str, ...]:
    """Terms that may stand for this term."""
    return tuple(other for other in _related().get(word, ()) if other != word)


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
    names = _by_name()
    longest = max(map(len, names))
    kept = list[tuple[int, int, list[Measure]]]()
    reach = 0
    for start in range(len(words)):
        for end in range(min(len(words), start + longest), max(start, reach), -1):
            if named := names.get(words[start:end]):
                kept.append((start - end, start, named))
                reach = end
                break
    ordered = sorted(kept, key=lambda name: name[:2])
    return list(dict.fromkeys(measure for *_, named in ordered for measure in named))


@cache
def _by_name() -> dict[_Phrase, list[Measure]]:
    names = dict[_Phrase, list[Measure]]()
    for measure in _measures():
        for phrase in measure.asked:
            names.setdefault(phrase, []).append(measure)
    return names


def find_statements(words: tuple[str, ...]) -> tuple[str, ...]:
    """Kinds of the statements that the question names."""
    named = ((kind, name) for kind, names in STATEMENTS.items() for name in _phrases(names))
    return tuple(dict.fromkeys(kind for kind, name in named if _starts(words, name)))


def measure_named(name: str) -> Measure:
    """The measure of this name. Raises KeyError."""
    return {measure.name: measure for measure in _measures()}[name]


def words_for(measure: Measure, text: str) -> str:
    """The words by which a text asks for a measure: "spending" for government expenditure.

    The measure's own name where the text has none of its names.
    """
    places = [word for word in _WORD.finditer(text) for _ in terms(word[0])]
    found = tuple(term for word in _WORD.findall(text) for term in terms(word))
    for phrase in sorted(measure.asked, key=len, reverse=True):
        for at in _starts(found, phrase):
            return text[places[at].start() : places[at + len(phrase) - 1].end()]
    return measure.name


def _starts(words: _Phrase, phrase: _Phrase) -> list[int]:
    """Where the phrase begins among the words."""
    length = len(phrase)
    return [at for at in range(len(words) - length + 1) if words[at : at + length] == phrase]

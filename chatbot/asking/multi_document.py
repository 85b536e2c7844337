"""Answers a question that names several documents from each of them, side by side, without a model.

If the question asks for it, the documents' figures are ranked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.answer.compare.comparison_entries import read_entry
from chatbot.answer.tables.cell_lookup import asks_part
from chatbot.asking.answering import Answering
from chatbot.comparison import Entry, EntryPlace
from chatbot.comparison.changes import change_between
from chatbot.comparison.quantities import printed_amount
from chatbot.comparison.records import Quantity
from chatbot.question_reading import QuestionReading, read_question
from chatbot.records import Answer, Hit, Prompt, Understanding
from chatbot.search.page_search import Finder
from chatbot.search.question_terms import understand
from chatbot.search.retrieval import Query
from chatbot.search.routing import document_parts
from chatbot.store.document_names import with_titles
from ingestion.language.numbers import find_figures
from ingestion.language.periods import YEAR

__all__ = ["MultiDocument", "with_titled_parts"]

# The lines that name documents in the order of their figures.
ABOUT_ORDER = re.compile(r"(?:Highest|Lowest) first|Not compared, ")

# The year of a document right after its name: "Acme (fiscal 2023)".
YEAR_BEHIND = re.compile(rf"^[\s'’s]{{0,3}}\s?\(?[^()?,;.]{{0,24}}?({YEAR})\)?", re.IGNORECASE)
# The remains of a name that was taken out: "of and of Acme", "of Acme and of ?".
TWICE = re.compile(r"\b(of|in|for|by|from|at)\s{1,4}(?:and|or)\s{1,4}\1\b", re.IGNORECASE)
DANGLING = re.compile(
    (
        r"[\s,]{0,4}\b(?:and|or|vs\.?|versus|than|with that)(?:\s{1,4}(?:of|in|at|for|the"
        r"|by)){0,3}\s{0,4}(?=[?.!,;]|$)"
    ),
    re.IGNORECASE,
)
NOT_SAID = "nothing found that answers this."


@dataclass(frozen=True, slots=True)
class _Side:
    """Documents of one name with what was found in them.

    names: of the documents.
    asked: what is asked of them.
    text: what they say, with its keys; "" for nothing.
    """

    names: tuple[str, ...]
    asked: Understanding
    text: str


class MultiDocument:
    """Compares documents in one answer. Safe to use from several threads."""

    def __init__(self, finder: Finder, answering: Answering) -> None:
        self._finder, self._answering = finder, answering

    def hits(self, query: Query, groups: Sequence[tuple[str, ...]]) -> list[Hit]:
        """The best pages of each of these groups of documents for what the question asks of it."""
        return [hit for names in groups for hit in self._finder.pages(self._query(query, names, groups))]

    def answer(
        self,
        question: str,
        query: Query,
        groups: Sequence[tuple[str, ...]],
        hits: Sequence[Hit],
        *,
        compares: bool,
    ) -> Answer | None:
        """What each group says; None if fewer than two say anything.

        hits: their pages. compares: whether everyone whom the question names is among them.
        """
        prompt = self._answering.prompt(question, hits, query.text)
        sides = [self._side(prompt, self._query(query, names, groups)) for names in groups]
        answering = [side for side in sides if side.text]
        if len(answering) < 2:
            return None
        asked = query.asked.reading
        if asked.asks("which of all"):
            blocks = [_block(side) for side in answering]
            silent = [_title(side) for side in sides if not side.text]
            if silent:
                blocks.append(f"No answer was found in {'; '.join(silent)}.")
            compared = list(self._ranked(asked, prompt, answering))
        else:
            blocks = [_block(side) for side in sides]
            compared = list(self._compared(asked, prompt, sides)) if compares else []
        answer = self._answering.checked(prompt, "\n\n".join([*compared, *blocks]), "extractive")
        # The ranked figures are repeated below with their pages, and are checked there.
        answer = replace(answer, numbers=answer.numbers[len(find_figures("\n\n".join(compared))) :])
        understanding = replace(query.asked, form="several")
        return replace(answer, question=question, search_query=query.text, understanding=understanding)

    def _query(self, query: Query, names: tuple[str, ...], groups: Sequence[tuple[str, ...]]) -> Query:
        """What is asked of a group: the question without the others' names, and of the group's own year.

        For documents of one name that is the year in the file's name, else the one after the document's name
        in the question.
        """
        text = query.asked.query
        own_parts = document_parts(names[0])
        alike = all(document_parts(other[0]) == own_parts for other in groups)
        if alike:
            own_year = next((year for year in query.asked.years if str(year) in names[0]), 0)
        else:
            own_year = _year_of(own_parts, text)
        for other in groups:
            for part in set(document_parts(other[0])).difference(own_parts):
                other_name = rf"(?i)\b{_spelled(part)}\b(?:['’]s?)?(?:\s?\([^()]{{0,40}}\))?"
                text = re.sub(other_name, " ", text)
        text = read_question(DANGLING.sub("", TWICE.sub(r"\1", text))).of_each
        asked = understand(text, text)
        if own_year:
            asked = replace(asked, years=(own_year,))
        return replace(query, text=text, names=names, understanding=asked)

    def _side(self, prompt: Prompt, query: Query) -> _Side:
        own = prompt.only(lambda hit: hit.document in query.names)
        if not own.sources:
            return _Side(query.names, query.asked, "")
        own = replace(own, search_query=query.text, question=query.text)
        asked = self._answering.judged(own, query)
        return _Side(query.names, query.asked, "\n".join(_first(self._answering.said(asked))))

    def _compared(self, asked: QuestionReading, prompt: Prompt, sides: Sequence[_Side]) -> Iterator[str]:
        """The documents in order of their figures, or the difference of two, as the question asks for it.

        Nothing if one of them has no figure, or one that cannot be compared with the first's.
        """
        entries = [self._entry(prompt, side) for side in sides]
        figures = [
            (side, entry.quantity)
            for side, entry in zip(sides, entries, strict=True)
            if entry.quantity is not None
        ]
        if len(figures) < len(sides):
            return
        # Amounts without a currency may not be of the same one.
        if any(figure.unit is None or figure.doubt for _, figure in figures):
            return
        changes = [change_between(entries[0], entry) for entry in entries[1:]]
        if any(change.why_not for change in changes):
            return
        sign = asked.order if all(len(side.asked.years) == 1 for side in sides) else 0
        if sign:
            yield _in_order(figures, sign, "")
        if len(changes) != 1:
            return
        if asked.asks("comparison") or any(side.asked.compares for side in sides):
            yield f"{_title(sides[1])} less {_title(sides[0])}: {changes[0].formula}."

    def _ranked(self, asked: QuestionReading, prompt: Prompt, sides: Sequence[_Side]) -> Iterator[str]:
        """The documents whose figures can be compared, in order, and the names of the others.

        Nothing if fewer than two can be compared.
        """
        sign = asked.order
        read = [(side, self._entry(prompt, side)) for side in sides if not asks_part(side.text)]
        known = [(side, entry) for side, entry in read if _has_sure_figure(entry)]
        alike = max([_comparable(candidate, known) for candidate in known], key=len, default=[])
        if not sign or len(alike) < 2:
            return
        figures = [(side, entry.quantity) for side, entry in alike if entry.quantity is not None]
        yield _in_order(figures, sign, ", among comparable figures, each for its own year")
        ranked = {id(side) for side, _ in alike}
        others = [_title(side) for side in sides if id(side) not in ranked]
        if others:
            yield f"Not compared, as they give no yearly figure in that unit: {'; '.join(others)}."

    def _entry(self, prompt: Prompt, side: _Side) -> Entry:
        own = prompt.only(lambda hit: hit.document in side.names)
        answer = self._answering.checked(own, side.text, "extractive")
        years = side.asked.years
        year = str(years[0]) if len(years) == 1 else ""
        answer = replace(answer, understanding=side.asked, considered=tuple(own.sources.values()))
        return read_entry(answer, EntryPlace(side.names[0], year))


def _title(side: _Side) -> str:
    """The name of a side's documents as an answer shows it."""
    return escape_keys(_called(side.names))


def _block(side: _Side) -> str:
    """A side's part of the answer."""
    return f"{_title(side)}:\n{side.text or NOT_SAID}"


def _has_sure_figure(entry: Entry) -> bool:
    """Whether an entry has a figure with a unit that is not doubted."""
    figure = entry.quantity
    return figure is not None and figure.unit is not None and not figure.doubt


def _comparable(
    candidate: tuple[_Side, Entry], known: Sequence[tuple[_Side, Entry]]
) -> list[tuple[_Side, Entry]]:
    """The sides whose figures can be compared with the candidate's, itself among them."""
    _, entry = candidate
    return [other for other in known if other is candidate or not change_between(entry, other[1]).why_not]


def _in_order(figures: Sequence[tuple[_Side, Quantity]], sign: int, which: str) -> str:
    """The documents by their figures. which: what is said of them after the word for the order."""
    ordered = sorted(figures, key=lambda pair: sign * _size(pair[1]))
    parts = []
    for side, figure in ordered:
        amount = printed_amount(figure)
        parts.append(f"{_title(side)}, {amount}")
    return f"{'Highest' if sign < 0 else 'Lowest'} first{which}: {'; '.join(parts)}."


def _size(figure: Quantity) -> float:
    """The value by which figures of one unit are ordered.

    A percentage that was worked out of millions is not in millions.
    """
    return figure.value * (1.0 if figure.unit == "%" else figure.scale)


def with_titled_parts(answer: Answer, titles: Mapping[str, str]) -> str:
    """Returns an answer's text, its parts headed by the documents' titles in place of their names.

    titles: by name. Other texts are returned as they are.
    """
    if answer.by_model:
        return answer.text
    there = {hit.document for hit in answer.considered} & titles.keys()
    called = {escape_keys(_called([name])): escape_keys(titles[name]) for name in there}
    lines = []
    for line in answer.text.split("\n"):
        if line.endswith(":") and line[:-1] in called:
            line = f"{called[line[:-1]]}:"
        elif ABOUT_ORDER.match(line):
            line = with_titles(line, called)
        lines.append(line)
    return "\n".join(lines)


def _called(names: Sequence[str]) -> str:
    """A document's name in readable form; of several, the words that they share."""
    words = [name.rpartition(".")[0].replace("_", " ").split() for name in names]
    shared = set(words[0]).intersection(*words[1:])
    common = [word for word in words[0] if word in shared]
    return " ".join(common) or names[0]


def _first(text: str) -> Iterator[str]:
    """The paragraphs of an answer up to the first one with a key.

    That is a sentence or a row, or a formula with the row of its first operand.
    """
    for paragraph in text.split("\n\n"):
        yield paragraph
        if KEYS_IN_BRACKETS.search(paragraph):
            return


def _spelled(part: str) -> str:
    """A pattern for a part of a file's name as it is written: "McDonald's" for "mcdonalds"."""
    return "['’]?".join(map(re.escape, part))


def _year_of(parts: Sequence[str], question: str) -> int:
    """The year right after a document's name in a question, 0 for none."""
    for part in parts:
        for found in re.finditer(rf"(?i)\b{_spelled(part)}", question):
            if year := YEAR_BEHIND.search(question[found.end() :]):
                return int(year[1])
    return 0

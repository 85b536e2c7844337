"""Answers a question that names several documents from each of them, side by side, without a model; ranks
what they say where it is asked for.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.answer.compare.comparison_entries import read_entry
from chatbot.answer.prompt import Request, build_prompt
from chatbot.answer.tables.cell_lookup import PART_OF_YEAR
from chatbot.asking.answering import Answering
from chatbot.comparison import Entry, EntryPlace
from chatbot.comparison.changes import change_between, unit_text
from chatbot.comparison.records import Quantity
from chatbot.records import Answer, Hit, Prompt, Understanding
from chatbot.search.page_search import Finder, asks_of_all, of_one
from chatbot.search.question_terms import understand
from chatbot.search.retrieval import Query
from chatbot.search.routing import document_parts
from ingestion.language.numbers import find_figures
from ingestion.language.opposites import COMPARATIVES, SUPERLATIVES
from ingestion.language.periods import YEAR
from ingestion.language.vocabulary import either

__all__ = ["MultiDocument"]

# What asks for the one of which there is most or least.
MOST = re.compile(rf"\b(?:{either([*SUPERLATIVES[0], *COMPARATIVES[0]])}|ranks?|ranking)\b", re.IGNORECASE)
LEAST = re.compile(rf"\b(?:{either([*SUPERLATIVES[1], *COMPARATIVES[1]])})\b", re.IGNORECASE)
# What asks how something moved, of which the figures that are found say the level.
CHANGE = re.compile(
    (
        r"\b(?:grow|grew|grown|growth|rose|rise|risen|increas\w*|decreas\w*|declin\w*|fell|fall|fallen"
        r"|drop\w*|chang\w*|improv\w*)\b"
    ),
    re.IGNORECASE,
)
DIFFERENCE = re.compile(
    r"\bhow much\b.{0,60}\b(?:more|less|higher|lower|larger|smaller|bigger)\b|\bdifference\b|\bcompared?\b",
    re.IGNORECASE,
)
# How far behind a document's name its own year stands: "Acme (fiscal 2023)".
YEAR_BEHIND = re.compile(rf"^[\s'’s]{{0,3}}\s?\(?[^()?,;.]{{0,24}}?({YEAR})\)?", re.IGNORECASE)
# What is left where a name was taken out: "of and of Acme", "of Acme and of ?".
TWICE = re.compile(r"\b(of|in|for|by|from|at)\s{1,4}(?:and|or)\s{1,4}\1\b", re.IGNORECASE)
DANGLING = re.compile(
    (
        r"[\s,]{0,4}\b(?:and|or|vs\.?|versus|than|with that)(?:\s{1,4}(?:of|in|at|for|the"
        r"|by)){0,3}\s{0,4}(?=[?.!,;]|$)"
    ),
    re.IGNORECASE,
)
NOT_SAID = "nothing was found that answers this."


@dataclass(frozen=True, slots=True)
class _Side:
    """Documents of one name with what was found in them. text: what they say, with its keys; "" for
    nothing.
    """

    names: tuple[str, ...]
    asked: Understanding
    text: str


class MultiDocument:
    """Safe from several threads."""

    def __init__(self, finder: Finder, answering: Answering, *, context_tokens: int) -> None:
        self._finder, self._answering, self._context_tokens = finder, answering, context_tokens

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
        """What each group says; None where fewer than two say anything. hits: their pages. compares: all
        whom the question names are among them.
        """
        prompt = build_prompt(
            Request(question, query.text, hits, (), (), secrets.token_hex(3), self._context_tokens)
        )
        sides = [self._side(prompt, self._query(query, names, groups)) for names in groups]
        if sum(bool(side.text) for side in sides) < 2:
            return None
        every = asks_of_all(query.understanding.query if query.understanding else question)
        blocks = [
            f"{escape_keys(_called(side.names))}:\n{side.text or NOT_SAID}"
            for side in sides
            if side.text or not every
        ]
        if silent := [escape_keys(_called(side.names)) for side in sides if every and not side.text]:
            blocks.append(f"Nothing was found that answers this in {'; '.join(silent)}.")
        compared = list(
            self._ranked(question, prompt, [side for side in sides if side.text])
            if every
            else self._compared(question, prompt, sides)
        )
        compared = compared if compares or every else []
        text = "\n\n".join([*compared, *blocks])
        answer = self._answering.checked(prompt, text, "extractive")
        # What is put in order stands below, with its page, and is checked there.
        answer = replace(answer, numbers=answer.numbers[len(find_figures("\n\n".join(compared))) :])
        assert query.understanding is not None
        return replace(
            answer,
            question=question,
            search_query=query.text,
            understanding=replace(query.understanding, form="several"),
        )

    def _query(self, query: Query, names: tuple[str, ...], groups: Sequence[tuple[str, ...]]) -> Query:
        """What is asked of a group: the question without the others' names, of its own year: of documents of
        one name that in its file's name, else that behind its name in the question."""
        assert query.understanding is not None
        said = query.understanding.query
        own_parts = document_parts(names[0])
        alike = all(document_parts(other[0]) == own_parts for other in groups)
        own = next((year for year in query.understanding.years if alike and str(year) in names[0]), 0) or (
            0 if alike else _year_of(own_parts, said)
        )
        for other in groups:
            for part in set(document_parts(other[0])).difference(own_parts):
                said = re.sub(rf"(?i)\b{_spelled(part)}\b(?:['’]s?)?(?:\s?\([^()]{{0,40}}\))?", " ", said)
        said = of_one(DANGLING.sub("", TWICE.sub(r"\1", said)))
        asked = understand(said, said)
        if own:
            asked = replace(asked, years=(own,))
        return replace(query, text=said, names=names, understanding=asked)

    def _side(self, prompt: Prompt, query: Query) -> _Side:
        assert query.understanding is not None
        mine = _of(prompt, query.names)
        if not mine.sources:
            return _Side(query.names, query.understanding, "")
        asked = self._answering.judged(
            replace(mine, search_query=query.text, question=query.text),
            query.understanding,
            query.vector,
            query.names,
        )
        return _Side(query.names, query.understanding, "\n".join(_first(self._answering.said(asked))))

    def _compared(self, question: str, prompt: Prompt, sides: Sequence[_Side]) -> Iterator[str]:
        """The documents in order of their figures where the question asks for the most or the least, and the
        difference of two where it asks for that; nothing where one of them has no figure, or one that does
        not go with the first's."""
        entries = [self._entry(prompt, side) for side in sides]
        if all(len(side.asked.years) == 1 for side in sides):
            sign = _sign(question)
        else:
            sign = 0
        figures = [
            (side, entry.quantity)
            for side, entry in zip(sides, entries, strict=True)
            if entry.quantity is not None
        ]
        if len(figures) < len(sides) or any(figure.unit is None or figure.doubt for _, figure in figures):
            return  # of amounts without a currency nobody knows whether they are of one
        changes = [change_between(entries[0], entry) for entry in entries[1:]]
        if any(change.why_not for change in changes):
            return
        if sign:
            yield _in_order(figures, sign, "")
        if len(changes) == 1 and (DIFFERENCE.search(question) or any(side.asked.compares for side in sides)):
            yield (
                f"{escape_keys(_called(sides[1].names))} less {escape_keys(_called(sides[0].names))}: "
                f"{changes[0].formula}."
            )

    def _ranked(self, question: str, prompt: Prompt, sides: Sequence[_Side]) -> Iterator[str]:
        """Of all documents those in order whose figures go together, and which do not; nothing where these
        are fewer than two.
        """
        sign = _sign(question)
        read = [(side, self._entry(prompt, side)) for side in sides if not PART_OF_YEAR.search(side.text)]
        known = [
            (side, entry)
            for side, entry in read
            if entry.quantity is not None and entry.quantity.unit is not None and not entry.quantity.doubt
        ]
        groups = [
            [other for other in known if other is one or not change_between(one[1], other[1]).why_not]
            for one in known
        ]
        alike = max(groups, key=len, default=[])
        if not sign or len(alike) < 2:
            return
        figures = [(side, entry.quantity) for side, entry in alike if entry.quantity is not None]
        yield _in_order(figures, sign, ", of those whose figures can be compared, each of its own year")
        if others := [
            escape_keys(_called(side.names)) for side in sides if all(side is not one for one, _ in alike)
        ]:
            yield f"Not compared, for want of a year's figure in that unit: {'; '.join(others)}."

    def _entry(self, prompt: Prompt, side: _Side) -> Entry:
        mine = _of(prompt, side.names)
        one = self._answering.checked(mine, side.text, "extractive")
        if len(side.asked.years) == 1:
            year = str(side.asked.years[0])
        else:
            year = ""
        return read_entry(
            replace(one, understanding=side.asked, considered=tuple(mine.sources.values())),
            EntryPlace(side.names[0], year),
        )


def _sign(question: str) -> int:
    """-1 where the highest comes first, 1 where the lowest does, 0 where no order is asked for, or one of
    changes, of which the figures are the levels.
    """
    if CHANGE.search(question):
        return 0
    if MOST.search(question):
        return -1
    if LEAST.search(question):
        return 1
    return 0


def _in_order(figures: Sequence[tuple[_Side, Quantity]], sign: int, which: str) -> str:
    """The documents by their figures. which: said of them behind the order."""
    ordered = sorted(figures, key=lambda one: sign * _size(one[1]))
    said = [
        f"{escape_keys(_called(side.names))}, {' '.join([figure.text, unit_text(figure)]).strip()}"
        for side, figure in ordered
    ]
    return f"{'Highest' if sign < 0 else 'Lowest'} first{which}: {'; '.join(said)}."


def _size(figure: Quantity) -> float:
    """What figures of one unit are ordered by; a percentage that was worked out of millions is none of
    millions.
    """
    return figure.value * (1.0 if figure.unit == "%" else figure.scale)


def _of(prompt: Prompt, names: Sequence[str]) -> Prompt:
    """The prompt with the pages of these documents alone."""
    return replace(prompt, sources={key: hit for key, hit in prompt.sources.items() if hit.document in names})


def _called(names: Sequence[str]) -> str:
    """A document's name as it is read; of several what they have in common."""
    words = [name.rpartition(".")[0].replace("_", " ").split() for name in names]
    common = [word for word in words[0] if all(word in other for other in words)]
    return " ".join(common) or names[0]


def _first(text: str) -> Iterator[str]:
    """The paragraphs of an answer up to the first with a key: a sentence or a row, or a formula with the
    row of its first operand.
    """
    for paragraph in text.split("\n\n"):
        yield paragraph
        if KEYS_IN_BRACKETS.search(paragraph):
            return


def _spelled(part: str) -> str:
    """A pattern for a part of a file's name as it is written: "McDonald's" for "mcdonalds"."""
    return "['’]?".join(map(re.escape, part))


def _year_of(parts: Sequence[str], question: str) -> int:
    """The year that stands right behind a document's name in a question, 0 for none."""
    for part in parts:
        for found in re.finditer(rf"(?i)\b{_spelled(part)}", question):
            if year := YEAR_BEHIND.search(question[found.end() :]):
                return int(year[1])
    return 0

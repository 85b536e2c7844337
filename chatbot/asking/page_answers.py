"""Answers with what stands in a place that a message names: a page, or a table, paragraph or sentence of one.

Pages count as a viewer of PDFs counts them. Where another page has the number printed on it, that is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.answer.extractive.main_points import main_points
from chatbot.asking.answering import Answering
from chatbot.asking.memory_context import MemoryContext
from chatbot.asking.question import Ask
from chatbot.asking.small_talk import guided
from chatbot.asking.whole_document import POINTS, which_document
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import LEFT_OUT, verbatim
from chatbot.evidence.text_blocks import is_head, read_blocks
from chatbot.evidence.word_runs import evened
from chatbot.memory.conversations.answer_records import CITED
from chatbot.records import Answer, Hit, printed_label
from chatbot.search.page_search import Finder
from chatbot.search.places import PagePlace
from chatbot.store.library import Library
from ingestion.language.sentences import sentences
from ingestion.language.terms import content_terms
from ingestion.records import Table

__all__ = ["PageAnswers"]

NOTHING_CITED = "No answer here quotes a passage yet. Ask something about the documents first."
# Words of a page that are quoted.
MOST_WORDS = 350
# Documents that are looked through for a sentence that was said, and its fewest words.
MOST_SEARCHED, FEWEST_WORDS = 50, 4


@dataclass(frozen=True, slots=True)
class _Cited:
    """What was quoted last. page: physical, 1-based. quotes: of that page, in order."""

    document: str
    page: int
    quotes: Sequence[str]


class PageAnswers:
    """Answers by place. Safe to use from several threads."""

    def __init__(
        self, library: Library, finder: Finder, answering: Answering, memory_context: MemoryContext
    ) -> None:
        self._library, self._finder, self._answering, self._memory_context = (
            library,
            finder,
            answering,
            memory_context,
        )

    def answer(self, place: PagePlace, question: str, ask: Ask) -> Answer | None:
        """The answer, None where the place says nothing of what is asked about. Raises NotFoundError."""
        scope = {name: version for version, name in self._library.scope(ask.names).items()}
        cited = self._cited(ask, scope)
        if place.step and cited is None:
            return guided("help", question, NOTHING_CITED)
        name = cited.document if cited and (place.step or len(scope) > 1) else ""
        name = place.document or name or next(iter(scope), "")
        if not (place.document or cited) and len(scope) != 1:
            if place.topic:
                return None
            called = [self._title(one) for one in sorted(scope)]
            return which_document(question, called, "What does page 1 of {} say?")
        if cited and place.step and place.unit == "page":
            place = PagePlace("page", page=str(cited.page + place.step))
        elif cited and place.step:
            return self._beside(place, question, scope[name], cited)
        return self._on_page(place, question, scope[name], name)

    def _on_page(self, place: PagePlace, question: str, version: int, name: str) -> Answer | None:
        """The answer with a part of a page, or all of it."""
        report = self._library.catalog.report(version)
        labels = {(page.label or "").casefold(): page.number for page in report}
        number = _physical(place, labels, len(report))
        title = self._title(name)
        if not number:
            pages = "one page" if len(report) == 1 else f"{len(report):,} pages"
            kind = "with the printed number " if place.printed else ""
            return _missing(question, f"{title} has {pages}, and no page {kind}{place.page}.")
        hit = self._hit(version, name, number)
        where = f"age {number} of {title}"
        label, other = report[number - 1].label, labels.get(str(number), number)
        notes = [printed_label(label)] if label and label != str(number) else []
        if other != number and not place.printed:
            notes.append(f"the printed {number} is page {other}")
        if notes:
            where += f" ({'; '.join(notes)})"
        if hit is None:
            return _missing(question, f"No text could be read on p{where}.")
        if place.unit == "page":
            shown = _about(place.topic, self._page(hit, place))
            return self._quoted(question, hit, shown, f"P{where}:") if shown else None
        parts = _parts(hit, place.unit)
        at = place.number - 1 if place.number > 0 else len(parts) + place.number
        if not 0 <= at < len(parts):
            return _missing(question, f"There is no such {place.unit} on p{where}; it has {len(parts)}.")
        lead = f"{place.unit.capitalize()} {at + 1} of {len(parts)} on p{where}:"
        if place.unit == "table":
            lead += f"\n{_heads(hit.tables[at])}"
        shown = _about(place.topic, parts[at])
        return self._quoted(question, hit, shown, lead) if shown else None

    def _beside(self, place: PagePlace, question: str, version: int, cited: _Cited) -> Answer:
        """The answer with what stands before or after the passage that was quoted last."""
        page, step = cited.page, place.step
        hit = self._hit(version, cited.document, page)
        parts = _parts_beside(hit, place.unit, cited.quotes, step) if hit else None
        if parts == []:
            page += step
            hit = self._hit(version, cited.document, page)
            parts = _parts(hit, place.unit)[::step]
        if hit is None or not parts:
            side = "after" if step > 0 else "before"
            return _missing(question, f"No {place.unit} was found {side} the passage that was quoted last.")
        side = "Next" if step > 0 else "Previous"
        lead = f"{side} {place.unit}, on page {page} of {self._title(cited.document)}:"
        return self._quoted(question, hit, parts[0], lead)

    def _page(self, hit: Hit, place: PagePlace) -> list[str]:
        """The text of a page in pieces, or the sentences that sum it up."""
        if place.sums_up:
            prompt = self._answering.prompt("", [hit])
            points = main_points(prompt, POINTS, self._answering.sentence_vectors)
            if found := [f"• {KEYS_IN_BRACKETS.sub('', point).strip()}" for point in points]:
                return found
        return list(_pieces(hit))

    def _quoted(self, question: str, hit: Hit, parts: Sequence[str], lead: str) -> Answer:
        """The answer with parts of a page below a line that says where they stand."""
        prompt = self._answering.prompt(question, [hit])
        key = next(iter(prompt.sources))
        shown = [part if part == LEFT_OUT else f"{escape_keys(part)} [{key}]" for part in parts]
        return self._answering.quoted(prompt, "\n".join(shown), escape_keys(lead))

    def _hit(self, version: int, name: str, number: int) -> Hit | None:
        return next(iter(self._finder.pages_of(version, name, [number])), None)

    def _title(self, name: str) -> str:
        return self._library.catalog.titles().get(name, name)

    def _cited(self, ask: Ask, scope: dict[str, int]) -> _Cited | None:
        """What the last answer of the conversation quotes; of exchanges without citations where it stands."""
        citations = self._memory_context.citations(ask)
        for first in citations:
            name, page = first.document, first.page
            if name in scope and page:
                quotes = [one.quote for one in citations if (one.document, one.page) == (name, page)]
                return _Cited(name, page, quotes)
        if not ask.history or len(scope) > MOST_SEARCHED:
            return None
        for sentence in sentences(CITED.sub("", KEYS_IN_BRACKETS.sub("", ask.history[-1].assistant))):
            said = evened(sentence)
            if len(said.split()) < FEWEST_WORDS:
                continue
            for name, version in scope.items():
                for number, text in enumerate(self._library.catalog.page_texts(version), 1):
                    if said in evened(text):
                        return _Cited(name, number, [said])
        return None


def _pieces(hit: Hit) -> Iterator[str]:
    """The paragraphs and rows of a page, headings with what follows them, as far as there is room."""
    room = MOST_WORDS
    above: list[str] = []
    for block, is_row in read_blocks(hit.body or hit.page_text):
        room -= len(block.split())
        if room < 0:
            yield LEFT_OUT
            return
        above.append(block)
        if is_row or not is_head(block):
            yield "\n".join(above)
            above = []
    if above:
        yield "\n".join(above)


def _about(topic: Collection[str], parts: Sequence[str]) -> Sequence[str]:
    """The parts that have most terms of a topic, all of them for none; [] where no part has any."""
    if not topic:
        return parts
    counts = [len(set(topic) & set(content_terms(part))) for part in parts]
    return [part for part, count in zip(parts, counts, strict=True) if count == max(counts) > 0]


def _physical(place: PagePlace, labels: Mapping[str, int], count: int) -> int:
    """The physical number of a page that is named, 0 if there is none. labels: printed number -> page."""
    number = int(place.page) if place.page.lstrip("-").isdigit() else 0
    if number < 0:
        number += count + 1
    if place.printed or not 1 <= number <= count:
        return labels.get(place.page, 0)
    return number


def _parts(hit: Hit | None, unit: str) -> list[list[str]]:
    """The tables, paragraphs or sentences of a page, in order, each in the pieces that are quoted."""
    if hit is None:
        return []
    if unit == "table":
        return [_rows(table, hit.page_text) for table in hit.tables]
    evidence = page_of(hit)
    if unit == "sentence":
        found = [sentence for sentence, _ in evidence.whole_sentences]
    else:
        blocks = read_blocks(evidence.body)
        found = [block for block, is_row in blocks if not is_row and not is_head(block)]
    return [[part] for part in found if part not in evidence.notes.values()]


def _rows(table: Table, text: str) -> list[str]:
    return [verbatim(row, text) for row in table.rows]


def _heads(table: Table) -> str:
    """What stands above the rows of a table."""
    return " · ".join(filter(None, (table.caption, table.unit, " | ".join(table.heads))))


def _parts_beside(hit: Hit, unit: str, quotes: Sequence[str], step: int) -> list[list[str]] | None:
    """The parts of a page before or after what was quoted first, the nearest first; None where that is not
    found. Quotations that follow each other without a gap, as the rows of a table do, are one."""
    text = evened(page_of(hit).body)
    start = text.find(evened(quotes[0]))
    if start < 0:
        return None
    end = start
    for quote in map(evened, quotes):
        if text.startswith(quote, end):
            end += len(quote) + 1
    found = []
    for part in _parts(hit, unit):
        begin = text.find(evened(part[0]))
        finish = text.find(evened(part[-1]), begin) + len(evened(part[-1]))
        if begin >= 0 and (begin >= end if step > 0 else finish <= start):
            found.append(part)
    return found[::step]


def _missing(question: str, text: str) -> Answer:
    return Answer(question, question, text, False, reason="no_page")

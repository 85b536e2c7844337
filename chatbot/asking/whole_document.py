"""Answers about a document as a whole without a model: its main points and figures, or its parts.

It does not recognise intents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.answer.extractive.main_points import key_figures, main_points
from chatbot.asking.answering import Answering
from chatbot.asking.small_talk import guided
from chatbot.records import Answer, Hit, Prompt
from chatbot.search.intents import Intent
from chatbot.search.outline import outline
from chatbot.search.page_search import Finder
from chatbot.search.sections import Section, document_sections, part_of
from chatbot.store.library import Library
from ingestion.pages.kinds import PRIMARY_STATEMENTS
from ingestion.prompt_injection.injections import find_instructions

__all__ = ["POINTS", "WHICH", "WholeDocument", "which_document"]

# The form of an answer that asks which of several documents is meant.
WHICH = "which"
# How many sentences and figures a summary has, headings an outline and a summary, and how many pages the
# sentences come from.
POINTS = 6
FIGURES = 4
HEADINGS = 16
FEW_HEADINGS = 6
# Parts with a sentence of their own that tell more of a document than sentences from anywhere.
FEWEST_TOLD = 3
PAGES = 10
# Parts in which a document's authors sum it up themselves.
SUMMED_UP = ("executive summary", "summary", "overview", "highlights", "introduction", "conclusion")
MOST_LISTED = 12
# Pages with fewer characters are covers and dividers.
LEAST_TEXT = 200
NOTHING_ALONE = "None of its sentences makes sense by itself. Ask about something specific."


@dataclass(frozen=True, slots=True)
class _Parts:
    """A document with its parts.

    version: its id.
    name: its name.
    texts: of all pages.
    parts: its sections.
    """

    version: int
    name: str
    texts: Sequence[str]
    parts: Sequence[Section]


class WholeDocument:
    """Makes summaries and outlines of the documents of a library. Safe to use from several threads."""

    def __init__(self, library: Library, finder: Finder, answering: Answering) -> None:
        self._library, self._finder, self._answering = library, finder, answering

    def heading(self, names: Sequence[str], message: str) -> str:
        """The longest title of a part that a message names, of the one document that is asked.

        "" for none, and if several documents are asked.
        """
        scope = self._library.scope(names)
        if len(scope) != 1:
            return ""
        ((version, name),) = scope.items()
        folded = message.casefold()
        titles = [part.name for part in self._document(version, name).parts]
        named = [title for title in titles if title and title.casefold() in folded]
        return max(named, key=len, default="")

    def hits(self, intent: Intent, names: Sequence[str], meant: Collection[str], most: int) -> list[Hit]:
        """The pages with text that stand for the one document, or the part of it, that a request is about, at
        most so many, at even distances; [] if it is not about one document, or that has no such part.

        names, meant: as for `answer`. Raises NotFoundError.
        """
        scope = self._scope(intent, names, meant)
        if len(scope) != 1:
            return []
        ((version, name),) = scope.items()
        document = self._document(version, name)
        pages = list(range(1, len(document.texts) + 1))
        if intent.kind == "chapter":
            part = part_of(document.parts, intent.part)
            if part is None:
                return []
            pages = pages[part.page - 1 : part.last]
        with_text = [page for page in pages if len(document.texts[page - 1]) >= LEAST_TEXT]
        with_text = with_text or pages  # a document of covers alone
        if intent.kind != "chapter" and len(with_text) > most:
            with_text = sorted([*dict.fromkeys(self._standing(document))][:most]) or with_text
        chosen = [with_text[at * len(with_text) // most] for at in range(most)]
        return self._finder.pages_of(version, name, set(chosen))

    def _scope(self, intent: Intent, names: Sequence[str], meant: Collection[str]) -> dict[int, str]:
        """The documents that a request may be about."""
        scope = self._library.scope([intent.document] if intent.document else names)
        if len(scope) > 1 and len(meant) == 1:
            return {version: name for version, name in scope.items() if name in meant} or scope
        return scope

    def answer(
        self, intent: Intent, question: str, names: Sequence[str], meant: Collection[str]
    ) -> Answer | None:
        """The answer; None if the document has no such part, so that the question is one like any other.

        names: of the documents that are asked, () for all. meant: those that the answer before cites. Raises
        NotFoundError.
        """
        scope = self._scope(intent, names, meant)
        if not scope:
            return Answer(question, question, "There are no documents yet.", False, reason="no_documents")
        is_chapter = intent.kind == "chapter"
        if len(scope) > 1:
            titles = self._library.catalog.titles()
            # A title of one word may be any word.
            names = sorted(scope.values())
            called = [name if " " not in titles.get(name, "") else titles[name] for name in names]
            if is_chapter:
                return None
            return which_document(question, called, "Summarise {}")
        ((version, name),) = scope.items()
        document = self._document(version, name)
        part = None
        if is_chapter:
            part = part_of(document.parts, intent.part)
            if part is None:
                return None
        if not any(text.strip() for text in document.texts):
            return Answer(question, question, f"No text could be read in {name}.", False, reason="no_page")
        if intent.kind == "outline":
            return self._outline(question, document)
        return self._summary(question, document, part)

    def _document(self, version: int, name: str) -> _Parts:
        texts = self._library.catalog.page_texts(version)
        return _Parts(version, name, texts, document_sections(self._library, version))

    def _summary(self, question: str, document: _Parts, part: Section | None) -> Answer:
        pages = set(_of_part(part) if part else self._standing(document))
        prompt = self._prompt(question, document, pages)
        vectors = self._answering.sentence_vectors
        after = (part.title, part.page) if part else ("", 0)
        figures = _block("Key figures:", [f"• {figure}" for figure in key_figures(prompt, FIGURES)])
        told = [] if part else self._told(prompt, document)
        if len(told) >= FEWEST_TOLD:
            blocks = [*_block("Its parts, each with a sentence that follows its heading:", told), *figures]
            return self._answering.quoted(prompt, "\n\n".join(blocks), self._title(document, part))
        own = prompt.only(lambda hit: hit.page in pages)
        points = list(main_points(own, POINTS, vectors, after=after))
        parts = [] if part else self._listed(prompt, document, FEW_HEADINGS)
        blocks = [
            *_block("In its own sentences:", [f"• {point}" for point in points]),
            *figures,
            *_block("Contents:", parts),
        ]
        if not points and not figures:
            blocks.append(NOTHING_ALONE)
        return self._answering.quoted(prompt, "\n\n".join(blocks), self._title(document, part))

    def _outline(self, question: str, document: _Parts) -> Answer:
        pages = {part.page for part in _chosen(document.parts, HEADINGS)}
        prompt = self._prompt(question, document, pages or {1})
        lines = self._listed(prompt, document, HEADINGS)
        title = self._title(document, None)
        if not lines:
            return self._answering.quoted(prompt, "", f"{title} It has no headings.")
        left_out = len(document.parts) - len(lines)
        if left_out > 0:
            lines.append(f"… and {left_out:,} smaller headings.")
        return self._answering.quoted(prompt, "\n".join(lines), title)

    def _standing(self, document: _Parts) -> list[int]:
        """Physical pages that represent the whole document.

        They are the pages that sum it up, its statements, and others at even distances.
        """
        kinds = self._library.page_kinds(document.version)
        summaries = [part_of(document.parts, title) for title in SUMMED_UP]
        own = [part.page for part in summaries if part is not None][:2]
        statements = {}
        for page, page_kinds in sorted(kinds.items(), reverse=True):
            for kind in page_kinds:
                if kind in PRIMARY_STATEMENTS:
                    statements[kind] = page
        heads = {part.page: part.title for part in document.parts}
        pages = [*own, *statements.values()]
        return [*pages, *outline(document.texts, heads, kinds, PAGES, pages)]

    def _prompt(self, question: str, document: _Parts, pages: Collection[int]) -> Prompt:
        listed = {part.page for part in _chosen(document.parts, FEW_HEADINGS)}
        hits = self._finder.pages_of(document.version, document.name, {*pages, *listed})
        return self._answering.prompt(question, hits)

    def _headings(self, prompt: Prompt, document: _Parts, most: int) -> Iterator[tuple[Section, str]]:
        """Parts of a document, each with its line, which has its key."""
        keys = {hit.page: key for key, hit in prompt.sources.items()}
        for part in _chosen(document.parts, most):
            if part.page in keys and not find_instructions(part.title):
                yield part, f"• “{escape_keys(part.title)}” [{keys[part.page]}]"

    def _listed(self, prompt: Prompt, document: _Parts, most: int) -> list[str]:
        return [line for _, line in self._headings(prompt, document, most)]

    def _told(self, prompt: Prompt, document: _Parts) -> list[str]:
        """The lines of the parts that have a sentence below their heading on its page, each with that."""
        lines = []
        for part, line in self._headings(prompt, document, FEW_HEADINGS):
            if part.title not in " ".join(document.texts[part.page - 1].split()):
                continue  # then nothing shows what stands below it
            first = main_points(_of_page(prompt, part.page), 1, None, after=(part.title, part.page))
            lines += [f"{line}\n{sentence}" for sentence in first]
        return lines

    def _title(self, document: _Parts, part: Section | None) -> str:
        title = escape_keys(self._library.catalog.titles().get(document.name, document.name))
        if part is not None:
            pages = f"page {part.page}" if part.page == part.last else f"pages {part.page} to {part.last}"
            return f"“{escape_keys(part.title)}” ({pages} of {title}):"
        count = "one page" if len(document.texts) == 1 else f"{len(document.texts):,} pages"
        return f"{title}: {count}."


def _of_page(prompt: Prompt, page: int) -> Prompt:
    return prompt.only(lambda hit: hit.page == page)


def _of_part(part: Section) -> list[int]:
    """The pages of a part; at even distances if they are many."""
    pages = range(part.page, part.last + 1)
    if len(pages) > PAGES:
        return [pages[at * len(pages) // PAGES] for at in range(PAGES)]
    return list(pages)


def _chosen(parts: Sequence[Section], most: int) -> list[Section]:
    """The numbered parts if there are several, or else all; at even distances if they are many."""
    numbered = [part for part in parts if part.number and "." not in part.number]
    candidates = numbered if len(numbered) >= min(3, len(parts)) else list(parts)
    count = len(candidates)
    if count > most:
        return [candidates[at * count // most] for at in range(most)]
    return candidates


def _block(head: str, lines: Sequence[str]) -> list[str]:
    if lines:
        return ["\n".join([head, *lines])]
    return []


def which_document(question: str, titles: Sequence[str], example: str) -> Answer:
    """The question which document is meant. titles: one at least."""
    said = example.format(titles[0])
    text = f"Which document? Name one, such as “{said}”, or choose it under “Search in”:\n"
    text += "\n".join(f"• {title}" for title in titles[:MOST_LISTED])
    if len(titles) > MOST_LISTED:
        text += f"\n… and {len(titles) - MOST_LISTED:,} more"
    return guided(WHICH, question, text)

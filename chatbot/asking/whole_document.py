"""Answers about a document as a whole without a model: its main points and figures, its parts, the main
points of a part; tells no intent.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.answer.extractive.main_points import key_figures, main_points
from chatbot.answer.prompt import Request, build_prompt
from chatbot.asking.answering import Answering
from chatbot.records import GUIDE, Answer, Hit, Prompt, Understanding
from chatbot.search.intents import Intent
from chatbot.search.outline import outline
from chatbot.search.page_search import Finder
from chatbot.search.sections import Section, part_of, sections
from chatbot.store.library import Library
from ingestion.language.numbers import find_figures
from ingestion.pages.kinds import CONTENTS, PRIMARY_STATEMENTS
from ingestion.prompt_injection.injections import find_instructions

__all__ = ["WHICH", "WholeDocument"]

# What is asked back where several documents may be meant.
WHICH = "which"
# Sentences and figures of a summary, headings of an outline and of a summary, and pages that the sentences
# are taken from.
POINTS = 6
FIGURES = 4
HEADINGS = 16
FEW_HEADINGS = 6
PAGES = 10
# Where a document's authors sum it up themselves.
SUMMED_UP = ("executive summary", "summary", "overview", "highlights", "introduction", "conclusion")
MOST_LISTED = 12
NOTHING_ALONE = "No sentence of it can stand alone: ask for what you look for in it."
# What a title has that is no number of a file.
NAME = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class _Parts:
    """A document with its parts. texts: of all pages."""

    version: int
    name: str
    texts: Sequence[str]
    parts: Sequence[Section]


class WholeDocument:
    """Summaries and outlines of the documents of a library. Safe from several threads."""

    def __init__(
        self, library: Library, finder: Finder, answering: Answering, *, context_tokens: int
    ) -> None:
        self._library, self._finder, self._answering, self._context_tokens = (
            library,
            finder,
            answering,
            context_tokens,
        )

    def heading(self, names: Sequence[str], message: str) -> str:
        """The longest title of a part, of the one document that is asked, that a message names; "" for
        none, and where several are asked.
        """
        scope = self._library.scope(names)
        if len(scope) != 1:
            return ""
        said = message.casefold()
        titles = [
            part.name for version, name in scope.items() for part in self._document(version, name).parts
        ]
        return max((title for title in titles if title and title.casefold() in said), key=len, default="")

    def answer(
        self, intent: Intent, question: str, names: Sequence[str], meant: Collection[str]
    ) -> Answer | None:
        """The answer; None where the document has no such part, so that the question is one like any other.
        names: of the documents that are asked, () for all; meant: of those that the answer before cites.
        Raises NotFoundError."""
        scope = self._library.scope([intent.document] if intent.document else names)
        if len(scope) > 1 and len(meant) == 1:
            scope = {version: name for version, name in scope.items() if name in meant} or scope
        if not scope:
            return Answer(question, question, "There are no documents yet.", False, reason="no_documents")
        if len(scope) > 1:
            if intent.kind == "chapter":
                return None
            return _which(question, sorted(scope.values()))
        ((version, name),) = scope.items()
        document = self._document(version, name)
        if intent.kind == "chapter":
            part = part_of(document.parts, intent.part)
        else:
            part = None
        if intent.kind == "chapter" and part is None:
            return None
        if not any(text.strip() for text in document.texts):
            return Answer(question, question, f"No text could be read of {name}.", False, reason="no_page")
        if intent.kind == "outline":
            return self._outline(question, document)
        return self._summary(question, document, part)

    def _document(self, version: int, name: str) -> _Parts:
        catalog = self._library.catalog
        texts = catalog.page_texts(version)
        kinds = self._library.page_kinds(version)
        # Only a list of contents speaks of printed numbers.
        if any(CONTENTS in of for of in kinds.values()):
            labels = {one.label: one.number for one in catalog.report(version) if one.label}
        else:
            labels = {}
        return _Parts(version, name, texts, sections(texts, kinds, labels))

    def _summary(self, question: str, document: _Parts, part: Section | None) -> Answer:
        pages = set(_of_part(part) if part else self._standing(document))
        prompt = self._prompt(question, document, pages)
        vectors = self._answering.sentence_vectors
        points = [
            f"• {point}"
            for point in main_points(
                _only(prompt, pages), POINTS, vectors, after=(part.title, part.page) if part else ("", 0)
            )
        ]
        figures = [f"• {figure}" for figure in key_figures(prompt, FIGURES)]
        if part:
            parts = []
        else:
            parts = self._listed(prompt, document, FEW_HEADINGS)
        blocks = [self._title(document, part), *_block("What it says, in its own sentences:", points)]
        blocks += [*_block("Figures of its statements:", figures), *_block("Its parts:", parts)]
        blocks += [] if points or figures else [NOTHING_ALONE]
        return self._checked(prompt, "\n\n".join(blocks), question)

    def _outline(self, question: str, document: _Parts) -> Answer:
        prompt = self._prompt(
            question, document, {part.page for part in _chosen(document.parts, HEADINGS)} or {1}
        )
        listed = self._listed(prompt, document, HEADINGS)
        if not listed:
            text = f"{self._title(document, None)} No headings were found in it."
            return self._checked(prompt, text, question)
        left_out = len(document.parts) - len(listed)
        if left_out > 0:
            more = [f"… and {left_out:,} smaller ones between them."]
        else:
            more = []
        return self._checked(
            prompt, "\n\n".join([self._title(document, None), "\n".join([*listed, *more])]), question
        )

    def _standing(self, document: _Parts) -> list[int]:
        """Physical pages that stand for the whole document: where it is summed up, its statements, and
        others at even distances.
        """
        kinds = self._library.page_kinds(document.version)
        own = [part.page for title in SUMMED_UP if (part := part_of(document.parts, title)) is not None][:2]
        statements = {
            kind: page
            for page, of in sorted(kinds.items(), reverse=True)
            for kind in of
            if kind in PRIMARY_STATEMENTS
        }
        heads = {part.page: part.title for part in document.parts}
        there = [*own, *statements.values()]
        return [*there, *outline(document.texts, heads, kinds, PAGES, there)]

    def _prompt(self, question: str, document: _Parts, pages: Collection[int]) -> Prompt:
        listed = {part.page for part in _chosen(document.parts, FEW_HEADINGS)}
        hits = self._finder.pages_of(document.version, document.name, {*pages, *listed})
        return build_prompt(
            Request(question, question, hits, (), (), secrets.token_hex(3), self._context_tokens)
        )

    def _listed(self, prompt: Prompt, document: _Parts, most: int) -> list[str]:
        keys = {hit.page: key for key, hit in prompt.sources.items()}
        parts = (
            part
            for part in _chosen(document.parts, most)
            if part.page in keys and not find_instructions(part.title)
        )
        return [f"• “{escape_keys(part.title)}” [{keys[part.page]}]" for part in parts]

    def _title(self, document: _Parts, part: Section | None) -> str:
        stored = self._library.catalog.version(document.version)
        facts = self._library.facts(document.version)
        titled = (
            stored is not None
            and stored.title
            and NAME.search(stored.title)
            and not find_instructions(stored.title)
        )
        title = escape_keys(
            " ".join(stored.title.split()) if stored and stored.title and titled else document.name
        )
        if part is not None:
            if part.page == part.last:
                pages = f"page {part.page}"
            else:
                pages = f"pages {part.page} to {part.last}"
            return f"“{escape_keys(part.title)}” ({pages} of {title}):"
        if len(document.texts) == 1:
            count = "one page"
        else:
            count = f"{len(document.texts):,} pages"
        return f"{title}: {', '.join(filter(None, (facts.period, facts.status, count)))}."

    def _checked(self, prompt: Prompt, text: str, question: str) -> Answer:
        answer = self._answering.checked(prompt, text, "extractive")
        # How many pages and headings there are is the catalogue's, and stands on no page.
        aside = [
            figure.text
            for line in text.splitlines()
            if not line.startswith("•")
            for figure in find_figures(line)
        ]
        answer = replace(answer, numbers=tuple(check for check in answer.numbers if check.text not in aside))
        hits: tuple[Hit, ...] = tuple(prompt.sources.values())
        return replace(
            answer,
            question=question,
            considered=hits,
            understanding=Understanding(question, question, "summary"),
        )


def _only(prompt: Prompt, pages: Collection[int]) -> Prompt:
    """The prompt with these pages alone."""
    return replace(prompt, sources={key: hit for key, hit in prompt.sources.items() if hit.page in pages})


def _of_part(part: Section) -> list[int]:
    """The pages of a part, at even distances where they are many."""
    pages = range(part.page, part.last + 1)
    if len(pages) > PAGES:
        return [pages[at * len(pages) // PAGES] for at in range(PAGES)]
    return list(pages)


def _chosen(parts: Sequence[Section], most: int) -> list[Section]:
    """The parts that are numbered or named such where several are, else all; at even distances where they
    are many.
    """
    numbered = [part for part in parts if part.number and "." not in part.number]
    if len(numbered) >= min(3, len(parts)):
        of = numbered
    else:
        of = list(parts)
    if len(of) > most:
        return [of[at * len(of) // most] for at in range(most)]
    return of


def _block(head: str, lines: Sequence[str]) -> list[str]:
    if lines:
        return ["\n".join([head, *lines])]
    return []


def _which(question: str, names: Sequence[str]) -> Answer:
    """The question which document is meant."""
    if len(names) > MOST_LISTED:
        more = f"\n… and {len(names) - MOST_LISTED:,} more"
    else:
        more = ""
    text = (
        f"Which document? Name one, as in “Summarise {names[0]}”, or choose it under “Search in”:\n"
        + "\n".join(f"• {name}" for name in names[:MOST_LISTED])
    )
    return Answer(
        question,
        question,
        text + more,
        True,
        model=GUIDE,
        understanding=Understanding(question, question, WHICH),
    )

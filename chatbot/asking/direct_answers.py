"""Answers what is asked of the chatbot itself, of the conversation or of a document as a whole.

It leaves questions about what documents say to the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chatbot.asking.memory_context import MemoryContext
from chatbot.asking.page_answers import PageAnswers
from chatbot.asking.question import Ask
from chatbot.asking.small_talk import about_conversation, about_documents, guided, small_talk
from chatbot.asking.whole_document import WholeDocument
from chatbot.records import Answer, Exchange, Hit
from chatbot.search.intents import OF_CONVERSATION, WHOLE, Intent, intent_of
from chatbot.search.places import names_place, place_of
from chatbot.store.document_names import with_names
from chatbot.store.library import Library

__all__ = ["EXPLAIN", "IN_OTHER_WORDS", "DirectAnswers"]

EXPLAIN = "explain"
# The notice that an answer cannot be put in other words without a model.
IN_OTHER_WORDS = "Rephrasing needs a chat model. Here is the passage again, with the text around it."
NOTHING_TO_EXPLAIN = "There is no answer to explain yet. Ask something about the documents first."


class DirectAnswers:
    """Answers without a search. Safe to use from several threads."""

    def __init__(
        self, library: Library, memory_context: MemoryContext, whole: WholeDocument, pages: PageAnswers
    ) -> None:
        self._library, self._memory_context, self._whole, self._pages = library, memory_context, whole, pages

    def intent(self, question: str, names: Sequence[str]) -> Intent | None:
        """What a message asks for other than what the documents say; None if it asks that.

        Raises NotFoundError.
        """
        scope = self._library.scope(names)

        def known(term: str) -> bool:
            return any(self._library.terms(version).pages.frequency(term) for version in scope)

        message, documents = self._named(question, names)
        return intent_of(
            message,
            documents=documents,
            known=known,
            heading=lambda said: self._whole.heading(names, said),
        )

    def placed(self, question: str, ask: Ask, *, by_model: bool) -> Answer | None:
        """What stands in the place that a message asks for, None for any other. Raises NotFoundError.

        by_model: whether a chat model answers what is asked about a place.
        """
        if not names_place(question):
            return None
        message, documents = self._named(question, ask.names)
        titles = self._library.catalog.titles()
        titled = {f"{titles.get(name, name)}.": name for name in documents}  # as the names of files
        places = [*filter(None, (place_of(message, documents), place_of(message, titled)))]
        place = min(places, key=lambda place: len(place.topic), default=None)
        if place is None or not documents or (by_model and place.topic):
            return None
        document = titled.get(place.document, place.document)
        return self._pages.answer(replace(place, document=document), question, ask)

    def _named(self, question: str, names: Sequence[str]) -> tuple[str, list[str]]:
        """(the question with names in place of titles, the names of the documents in reach)."""
        titles = self._library.catalog.titles()
        called = list(self._library.scope(names).values())
        return with_names(question, {name: titles[name] for name in called if name in titles}), called

    def before(self, ask: Ask) -> list[Exchange]:
        """The earlier exchanges of the conversation that are about documents, oldest first.

        Their questions have no intent.
        """
        return [exchange for exchange in self._memory_context.said(ask) if intent_of(exchange.user) is None]

    def answer(
        self, intent: Intent, ask: Ask, question: str, said: Sequence[Exchange], *, by_model: bool
    ) -> Answer | None:
        """The answer; None if the documents are to be searched all the same.

        said: the exchanges of `before`. by_model: whether a chat model answers requests for a whole document,
        and explains.
        """
        kind = intent.kind
        if kind in WHOLE:
            # A chat model reads the pages; an outline is made of the headings, which no model need read.
            if by_model and kind != "outline" and self.whole_hits(intent, ask, 1):
                return None
            return self._whole.answer(intent, question, ask.names, self._memory_context.cited(ask))
        if kind == EXPLAIN:
            if said:
                return None
            return guided(EXPLAIN, question, NOTHING_TO_EXPLAIN)
        documents = [row for row in self._library.catalog.documents() if row.removed_at is None]
        if kind in OF_CONVERSATION:
            text = about_conversation(kind, said)
        elif kind == "documents":
            text = about_documents(documents, self._library.catalog.titles())
        else:
            text = small_talk(kind, documents)
        return guided(kind, question, text)

    def whole_hits(self, intent: Intent, ask: Ask, most: int) -> list[Hit]:
        """The pages that stand for the one document, or the part of it, that is asked for as a whole, at most
        so many; [] for any other request.
        """
        if intent.kind not in WHOLE:
            return []
        return self._whole.hits(intent, ask.names, self._memory_context.cited(ask), most)

"""Answers what is asked of the chatbot, of the conversation or of a document as a whole; a question about
what documents say it leaves to the search.
"""

from __future__ import annotations

from collections.abc import Sequence

from chatbot.asking.memory_context import MemoryContext
from chatbot.asking.question import Ask
from chatbot.asking.small_talk import about_conversation, about_documents, small_talk
from chatbot.asking.whole_document import WholeDocument
from chatbot.records import GUIDE, Answer, Exchange, Understanding
from chatbot.search.intents import OF_CONVERSATION, WHOLE, Intent, intent_of
from chatbot.store.library import Library

__all__ = ["EXPLAIN", "IN_OTHER_WORDS", "DirectAnswers"]

EXPLAIN = "explain"
# What is said where an answer is to be put otherwise and there is no model to do it.
IN_OTHER_WORDS = (
    "Without a chat model nothing can be put in other words: this is the passage again, with what stands "
    "around it."
)
NOTHING_TO_EXPLAIN = "There is no answer to explain yet. Ask something about the documents first."


class DirectAnswers:
    """Safe from several threads."""

    def __init__(self, library: Library, lending: MemoryContext, whole: WholeDocument) -> None:
        self._library, self._lending, self._whole = library, lending, whole

    def intent(self, question: str, names: Sequence[str]) -> Intent | None:
        """What a message asks for beside what the documents say; None where it asks that. Raises
        NotFoundError.
        """
        scope = self._library.scope(names)

        def known(term: str) -> bool:
            return any(self._library.terms(version).pages.frequency(term) for version in scope)

        return intent_of(
            question,
            documents=list(scope.values()),
            known=known,
            heading=lambda said: self._whole.heading(names, said),
        )

    def before(self, ask: Ask) -> list[Exchange]:
        """The exchanges before that are about documents, oldest first: those of the conversation whose
        question is no intent.
        """
        return [one for one in self._lending.said(ask) if intent_of(one.user) is None]

    def answer(
        self, intent: Intent, ask: Ask, question: str, said: Sequence[Exchange], *, by_model: bool
    ) -> Answer | None:
        """The answer; None where the documents are to be searched all the same. said: of `before`. by_model:
        a chat model answers what asks for a whole document, and explains."""
        if intent.kind in WHOLE:
            if by_model:
                return None
            return self._whole.answer(intent, question, ask.names, self._lending.cited(ask))
        if intent.kind == EXPLAIN:
            if said:
                return None
            return _guided(EXPLAIN, question, NOTHING_TO_EXPLAIN)
        documents = [row for row in self._library.catalog.documents() if row.removed_at is None]
        if intent.kind in OF_CONVERSATION:
            return _guided(intent.kind, question, about_conversation(intent.kind, said))
        return _guided(
            intent.kind,
            question,
            about_documents(documents) if intent.kind == "documents" else small_talk(intent.kind, documents),
        )


def _guided(kind: str, question: str, text: str) -> Answer:
    return Answer(
        question, question, text, True, model=GUIDE, understanding=Understanding(question, question, kind)
    )

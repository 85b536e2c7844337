"""Provides what its owner's memories add to one question: exchanges, notes, ratings, and replies to advice.

It searches no pages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from chatbot.asking.model_roles import ChatModels
from chatbot.asking.question import Ask
from chatbot.errors import ProjectError
from chatbot.memory.cases.case_layer import CaseLayer
from chatbot.memory.cases.case_store import Cases
from chatbot.memory.cases.feedback_rerank import FeedbackRerank
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.topic_return import asks_again, goes_back
from chatbot.memory.memory_service import ConversationContext, MemoryService
from chatbot.memory.situations.advice import Advice, advice_of
from chatbot.memory.situations.situation_layer import SituationLayer
from chatbot.memory.situations.situation_store import Situations
from chatbot.records import MEMORY, Answer, Citation, Event, Exchange, Recall, Token
from chatbot.search.corpus_vocabulary import listed
from chatbot.search.editions import is_older
from chatbot.search.follow_up.rules import standalone_query
from chatbot.settings import Settings
from chatbot.store.library import Library
from ingestion.language.terms import content_terms, terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MemoryContext"]


class MemoryContext:
    """The memories as a question needs them. Safe to use from several threads."""

    def __init__(
        self,
        library: Library,
        memory: MemoryService,
        cases: Cases,
        situations: Situations,
        models: ChatModels,
    ) -> None:
        self._library = library
        self._memory = memory
        self._cases = cases
        self._situations = situations
        self._models = models

    def exchanges(self, ask: Ask) -> tuple[Exchange, ...]:
        """The exchanges that a question may refer to."""
        if ask.history is not None:
            return ask.history
        if ask.conversation:
            return self._memory.window(ask.conversation, ask.owner)
        return ()

    def said(self, ask: Ask) -> tuple[Exchange, ...]:
        """All exchanges of the conversation so far, oldest first."""
        if ask.history is not None:
            return ask.history
        if ask.conversation:
            return self._memory.said(ask.conversation, ask.owner)
        return ()

    def cited(self, ask: Ask) -> frozenset[str]:
        """The documents that the last answer of the conversation cites."""
        return frozenset(filter(None, (citation.document for citation in self.citations(ask))))

    def citations(self, ask: Ask) -> tuple[Citation, ...]:
        """The citations of the last answer of the conversation that has any."""
        if ask.conversation and ask.history is None:
            return self._memory.citations(ask.conversation, ask.owner)
        return ()

    def searched(self, exchange: Exchange, ask: Ask) -> str:
        """What was searched for an exchange of the conversation: its question as it stands alone."""
        if ask.conversation and ask.history is None:
            return self._memory.searched(exchange, ask.conversation, ask.owner)
        said = self.said(ask)
        return standalone_query(exchange.user, said[: said.index(exchange)], ask.names)

    def gone_back(self, question: str, ask: Ask) -> tuple[str, tuple[Exchange, ...]]:
        """(what is asked, the exchange that it goes back to); the question itself and () if there is none."""
        if ask.conversation and ask.history is None:
            return self._memory.gone_back(question, ask.conversation, ask.owner)
        back = goes_back(question)
        topic = set(content_terms(back.topic)) if back else set[str]()
        for exchange in reversed(self.said(ask)):
            if topic and topic <= set(terms(exchange.user)) and goes_back(exchange.user) is None:
                assert back is not None
                searched = self.searched(exchange, ask)
                again = asks_again(back, f"{exchange.user}\n{exchange.assistant}")
                return searched if again else back.question, (Exchange(searched, exchange.assistant),)
        return (question, ())

    def before(self, ask: Ask, query: str, vector: NDArray[np.float32] | None) -> ConversationContext:
        """What the prompt gets of what was said before."""
        settings = self.settings(ask)
        if ask.window_alone or ask.history is not None:
            return self._memory.window_alone(self.exchanges(ask), query, settings)
        if ask.conversation:
            recall = Recall(query, vector, ask.conversation, ask.owner, ask.names, time.time())
            return self._memory.before(recall, settings)
        return ConversationContext()

    def settings(self, ask: Ask) -> Settings:
        """The settings of the conversation that hold for a question."""
        usual = self._models.settings_of(ask.owner)
        if usual.chat_model and not ask.model:
            usual = replace(usual, context_tokens=self._models.prompt_tokens(ask.owner))
        return replace(usual, **dict(ask.compression))  # type: ignore[arg-type]

    def rated(self, ask: Ask, query: str, vector: NDArray[np.float32] | None) -> FeedbackRerank:
        """What its owner's ratings say of a question; nothing if cases are off or cannot be read."""
        if vector is None or not self._is_on(ask, CaseLayer.name):
            return FeedbackRerank()
        same = None
        try:
            if self._models.answering(ask.owner) is None:
                same = self._cases.of_question(ask.owner, query, ask.names)
            pages = self._cases.weighed_pages(ask.owner, vector)
        except ProjectError:  # the layer reports it
            return FeedbackRerank()
        weights = {(page.document_id, page.page): page for page in pages}
        older = partial(is_older, listed(self._library) if weights else {})
        digest_of = self._library.catalog.digest_of
        if same is None:
            return FeedbackRerank(weights, digest_of, None, older)
        if same.reward:
            return FeedbackRerank(weights, digest_of, same, older)
        return FeedbackRerank(weights, digest_of, None, older, avoid=same.plan)

    def advice(self, ask: Ask) -> Iterator[Event] | None:
        """The reply to a line that is advice to be remembered ("when … then …").

        None for any other line, and if situations are switched off.
        """
        if not ask.conversation or ask.history is not None:
            return None
        advice = advice_of(ask.question)
        if advice is None or not self._is_on(ask, SituationLayer.name):
            return None
        if ask.conversation.startswith(PRIVATE):
            text = (
                "Not saved: private conversations are not kept. Say it in another conversation to have "
                "it recalled."
            )
        elif not ask.takes_advice:
            text = (
                "Not saved: this address remembers no advice. Say it on the chat page, or send it to "
                "POST /api/v1/memories/situations."
            )
        else:
            text = self._noted(ask.owner, advice)
        answer = Answer(ask.question, ask.question, text, True, model=MEMORY, conversation=ask.conversation)
        return iter((Token(text), answer))

    def _noted(self, owner: str, advice: Advice) -> str:
        """Store advice, and return what is said of it."""
        try:
            self._situations.add(owner, [(advice.situation, advice.recommendation)])
        except ProjectError as error:
            return f"Not saved: {error.message} {error.hint}".strip()
        return (
            f"Saved. It will be recalled when a question describes this: {advice.situation} → "
            f"{advice.recommendation}."
        )

    def _is_on(self, ask: Ask, memory: str) -> bool:
        """Whether a memory is used in the conversation of a question."""
        return ask.conversation is not None and self._memory.is_on(ask.conversation, ask.owner, memory)

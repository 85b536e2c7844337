"""What its owner's memories lend to one question: exchanges, notes, ratings, and the answer where it is
advice to be noted; searches no page.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from chatbot.asking.model_roles import ChatModels
from chatbot.asking.question import Ask
from chatbot.errors import ProjectError
from chatbot.memory.cases.case_layer import CaseLayer
from chatbot.memory.cases.case_store import Cases
from chatbot.memory.cases.feedback_rerank import FeedbackRerank
from chatbot.memory.conversations.conversation_store import PRIVATE
from chatbot.memory.memory_service import Before, MemoryService
from chatbot.memory.situations.advice import advice_of
from chatbot.memory.situations.situation_layer import SituationLayer
from chatbot.memory.situations.situation_store import Situations
from chatbot.records import MEMORY, Answer, Event, Exchange, Recall, Token
from chatbot.search.corpus_vocabulary import listed
from chatbot.search.editions import is_older
from chatbot.search.follow_up.rules import standalone_query
from chatbot.store.library import Library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MemoryContext"]


class MemoryContext:
    """The memories as a question needs them. Safe from several threads."""

    def __init__(
        self,
        library: Library,
        memory: MemoryService,
        cases: Cases,
        situations: Situations,
        models: ChatModels,
    ) -> None:
        self._library, self._memory, self._cases, self._situations, self._models = (
            library,
            memory,
            cases,
            situations,
            models,
        )

    def exchanges(self, ask: Ask) -> tuple[Exchange, ...]:
        """The exchanges that a question may lean on."""
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
        if ask.conversation and ask.history is None:
            return self._memory.cited(ask.conversation, ask.owner)
        return frozenset()

    def searched(self, exchange: Exchange, ask: Ask) -> str:
        """What was searched for an exchange of the conversation: its question as it stands alone."""
        if ask.conversation and ask.history is None:
            return self._memory.searched(exchange, ask.conversation, ask.owner)
        said = self.said(ask)
        return standalone_query(exchange.user, said[: said.index(exchange)])

    def gone_back(self, question: str, ask: Ask) -> tuple[str, tuple[Exchange, ...]]:
        """(what is asked, the exchange it goes back to); the question itself and () where it goes back to
        none.
        """
        if ask.conversation and ask.history is None:
            return self._memory.gone_back(question, ask.conversation, ask.owner)
        return (question, ())

    def before(self, ask: Ask, query: str, vector: NDArray[np.float32] | None) -> Before:
        """What the prompt is given of what was said before."""
        if ask.history is not None:
            return Before(self._memory.fitted(ask.history, query, self._models.settings_of(ask.owner)))
        if ask.conversation:
            return self._memory.before(
                Recall(query, vector, ask.conversation, ask.owner, ask.names, time.time())
            )
        return Before()

    def rated(self, ask: Ask, query: str, vector: NDArray[np.float32] | None) -> FeedbackRerank:
        """What its owner's ratings say of a question; nothing where cases are switched off, or cannot be
        read.
        """
        if (
            vector is None
            or ask.conversation is None
            or not self._memory.is_on(ask.conversation, ask.owner, CaseLayer.name)
        ):
            return FeedbackRerank()
        try:
            if self._models.answering(ask.owner) is None:
                same = self._cases.of_question(ask.owner, query, vector, ask.names)
            else:
                same = None
            weights = {
                (one.document_id, one.page): one for one in self._cases.weighed_pages(ask.owner, vector)
            }
        except ProjectError:  # the layer tells of it
            return FeedbackRerank()
        older = partial(is_older, listed(self._library) if weights else {})
        case = same.case if same else None
        bad = same is not None and not same.case.reward
        return FeedbackRerank(
            weights,
            self._library.catalog.digest_of,
            None if bad else case,
            older,
            avoid=case.plan if case and bad else "",
        )

    def advice(self, ask: Ask) -> Iterator[Event] | None:
        """The answer to a line that is advice to be remembered ("when … then …"); None for any other, and
        where situations are switched off.
        """
        if ask.conversation and ask.history is None:
            advice = advice_of(ask.question)
        else:
            advice = None
        if (
            advice is None
            or ask.conversation is None
            or not self._memory.is_on(ask.conversation, ask.owner, SituationLayer.name)
        ):
            return None
        text = (
            f"Noted. When a question describes this, it will be recalled: {advice.situation} → "
            f"{advice.recommendation}."
        )
        if ask.conversation.startswith(PRIVATE):
            text = (
                "Not noted: nothing of a private conversation is kept. Say it in another one, and it will "
                "be recalled."
            )
        else:
            try:
                self._situations.add(ask.owner, [(advice.situation, advice.recommendation)])
            except ProjectError as error:
                text = f"Not noted: {error.message} {error.hint}".strip()
        return iter(
            (
                Token(text),
                Answer(ask.question, ask.question, text, True, model=MEMORY, conversation=ask.conversation),
            )
        )

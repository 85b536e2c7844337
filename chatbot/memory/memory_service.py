"""What is remembered for a question and kept of its answer: window, shortened conversation, notes of the
memories, the draft; answers nothing itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from chatbot.errors import ModelError, NotFoundError, ProjectError, StoreError
from chatbot.memory.compression.sessions import CompressionStats, Sessions
from chatbot.memory.compression.shortening import Long, fit_exchanges, shorten
from chatbot.memory.conversations.answer_records import with_versions
from chatbot.memory.conversations.conversation_store import ConversationRow, Conversations, Said
from chatbot.memory.conversations.history import CALLED, HistoryLayer
from chatbot.memory.conversations.summary import SummaryLayer, summarise
from chatbot.memory.conversations.topic_return import asks_again, goes_back
from chatbot.memory.layers import MemoryLayer, label_of
from chatbot.models.chat import LLM
from chatbot.models.embedders import Embedder
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer, Compression, Event, Exchange, Note, Notice, Recall, Token
from chatbot.settings import Settings
from chatbot.store.catalog import Catalog

__all__ = ["Before", "Draft", "MemoryService"]

log = logging.getLogger(__name__)

# Notes that each memory may bring: a prompt of twelve thousand tokens is mostly excerpts.
NOTES_EACH = 3
# Seconds between two writes of an answer that is still coming.
WRITE_SECONDS = 0.5
# Exchanges whose vectors are made after an answer, so that old conversations are caught up with little by
# little.
MOST_VECTORS = 20
# What is embedded of an exchange: the embedder sees some 1,000 characters.
EMBEDDED_CHARACTERS = 1_200


@dataclass(frozen=True, slots=True)
class Before:
    """What a prompt is given of what was before. exchanges: the last ones, whole; earlier: those before
    them, shortened, as role and text.
    """

    exchanges: tuple[Exchange, ...] = ()
    earlier: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()
    compression: Compression | None = None
    notices: tuple[Notice, ...] = ()


class MemoryService:
    """The memories of a store. Safe from several threads."""

    def __init__(
        self,
        settings: Settings,
        conversations: Conversations,
        catalog: Catalog,
        embedder: Embedder,
        layers: Sequence[MemoryLayer] = (),
        *,
        settings_of: Callable[[str], Settings] | None = None,
    ) -> None:
        """layers: the memories beside the conversation's own, asked in this order. settings_of: those of
        an owner, default the same for all.
        """
        self._layers, self._settings_of = layers, settings_of or (lambda owner: settings)
        self._settings, self._conversations, self._catalog, self._embedder = (
            settings,
            conversations,
            catalog,
            embedder,
        )
        self._sessions = Sessions(model=settings.chat_model)
        self._history = HistoryLayer(conversations, embedder)
        self._summary = SummaryLayer(conversations)

    # --- before an answer
    # ---------------------------------------------------------------------------------------------------

    def window(self, conversation: str, owner: str) -> tuple[Exchange, ...]:
        """The live exchanges, oldest first; none where they cannot be read, of which `before` tells."""
        try:
            return tuple(self._conversations.window(conversation, owner, self._settings_of(owner).window))
        except StoreError:
            return ()

    def said(self, conversation: str, owner: str) -> tuple[Exchange, ...]:
        """All exchanges that were answered, oldest first; none where they cannot be read."""
        with suppress(StoreError, NotFoundError):
            return tuple(one.exchange for one in self._conversations.given(conversation, owner))
        return ()

    def cited(self, conversation: str, owner: str) -> frozenset[str]:
        """The documents that the last answer cites; none where it cannot be read."""
        with suppress(StoreError, NotFoundError):
            for one in reversed(self._conversations.given(conversation, owner)):
                kept = self._conversations.answer(conversation, one.number, owner)
                if kept and kept[0].citations:
                    return frozenset(citation.document for citation in kept[0].citations if citation.document)
        return frozenset()

    def searched(self, exchange: Exchange, conversation: str, owner: str) -> str:
        """What was searched for an exchange of a conversation, as the last of that question."""
        with suppress(StoreError, NotFoundError):
            same = [
                one for one in self._conversations.given(conversation, owner) if one.user == exchange.user
            ]
            if same:
                return self._searched(same[-1], owner)
            return exchange.user
        return exchange.user

    def gone_back(self, question: str, conversation: str, owner: str) -> tuple[str, tuple[Exchange, ...]]:
        """(what is asked, the exchange it goes back to); the question itself and () where it goes back to
        none.
        """
        back = goes_back(question)
        if back is None:
            return question, ()
        vector, found = None, None
        with suppress(ModelError):
            vector = self._embedder.embed([back.topic], query=True)[0]
        with suppress(StoreError, NotFoundError):
            recall = Recall(back.topic, vector, conversation, owner, now=time.time(), before=2**31)
            # What only went back itself would be found first, by the words that both have.
            found = next(
                (one for one in self._history.find(recall) if goes_back(one.said.user) is None), None
            )
        if found is None or found.score < CALLED:
            return question, ()
        searched = self._searched(found.said, owner)
        again = asks_again(back, f"{found.said.user}\n{found.said.cited}")
        return searched if again else back.question, (Exchange(searched, found.said.cited),)

    def before(self, recall: Recall) -> Before:
        """What the prompt of a question is given: below the threshold the last exchanges and notes on older
        ones, above it all older ones shortened. Where the conversation cannot be read, nothing but a notice
        that says so."""
        try:
            return self._before(recall)
        except (StoreError, NotFoundError) as error:
            return Before(
                notices=(Notice(f"Answered without the conversation before: {error.message}", error.hint),)
            )

    def fitted(
        self, exchanges: Sequence[Exchange], question: str, settings: Settings | None = None
    ) -> tuple[Exchange, ...]:
        """The last exchanges as the prompt has them: whole, but for one too long for its share of the
        prompt, whose sentences are chosen by the question.
        """
        settings = settings or self._settings
        return fit_exchanges(exchanges[-settings.prompt_exchanges :], question, settings)

    def _before(self, recall: Recall) -> Before:
        said = self._conversations.given(recall.conversation, recall.owner)
        settings = self._settings_of(recall.owner)
        last = said[-settings.prompt_exchanges :]
        older = said[: -settings.prompt_exchanges]
        recall = replace(recall, before=last[0].number if last else 1)
        whole = self.fitted([one.exchange for one in last], recall.question, settings)
        row = self._conversations.get(recall.conversation, recall.owner)
        tokens = self._tokens(row, said)
        if older and self._shortens(row, tokens, settings):
            sent = sum(
                count_tokens(one.user, settings.chat_model) + count_tokens(one.assistant, settings.chat_model)
                for one in whole
            )
            vectors = self._history.vectors(recall, [recall.conversation])
            shortened = shorten(
                Long(older, tokens[: len(older)], sum(tokens), sent, self._embedder.fingerprint),
                recall,
                vectors,
                settings,
            )
            notes, notices = self._notes(
                replace(recall, before=0), row, [self._history] if row.recalls_others else []
            )
            return Before(whole, shortened.context, notes, shortened.compression, notices)
        notes, notices = self._notes(recall, row, [self._summary, self._history])
        return Before(whole, (), notes, None, notices)

    def _tokens(self, row: ConversationRow, said: Sequence[Said]) -> list[int]:
        """Of each exchange. An id that was erased and begun anew is another conversation."""
        return self._sessions.tokens(f"{row.id} {row.begun_at}", said)

    def _shortens(self, row: ConversationRow, tokens: Sequence[int], settings: Settings) -> bool:
        return settings.compression and row.compresses and sum(tokens) > settings.compression_tokens

    def is_on(self, conversation: str, owner: str, memory: str) -> bool:
        """Whether a memory is used in a conversation; not in one that is not there."""
        try:
            return memory not in self._conversations.get(conversation, owner).off
        except (NotFoundError, StoreError):
            return False

    def _notes(
        self, recall: Recall, row: ConversationRow, own: Sequence[MemoryLayer]
    ) -> tuple[tuple[Note, ...], tuple[Notice, ...]]:
        """Notes of the conversation's own memories and of all that are on in it; one that fails is named,
        and the answer goes on without it.
        """
        notes: list[Note] = []
        notices: list[Notice] = []
        recall = replace(recall, tell=notices.append)
        for layer in [*own, *(layer for layer in self._layers if layer.name not in row.off)]:
            try:
                notes += layer.recall(recall, NOTES_EACH)
            except ProjectError as error:
                notices.append(
                    Notice(f"Answered without {label_of(layer.name).lower()}: {error.message}", error.hint)
                )
        return tuple(notes), tuple(notices)

    def _searched(self, said: Said, owner: str) -> str:
        """What was searched for an exchange: its question as it stands alone."""
        with suppress(StoreError):
            kept = self._conversations.answer(said.conversation, said.number, owner)
            if kept:
                return kept[0].search_query
            return said.user
        return said.user

    # --- while and after it is given
    # ----------------------------------------------------------------------------------------

    def draft(self, conversation: str | None, owner: str, question: str) -> Draft:
        """What keeps the answer as it is written."""
        return Draft(self._conversations, conversation, owner, question, self._files)

    def answer(self, conversation: str, number: int, owner: str) -> Answer | None:
        """A kept answer in full, its citations leading to where their files stand today; None where only
        its words were kept. Raises StoreError.
        """
        kept = self._conversations.answer(conversation, number, owner)
        if kept:
            return with_versions(
                kept[0], {version: self._today(version, digest) for version, digest in kept[1].items()}
            )
        return None

    def stats(self, conversation: str, owner: str) -> CompressionStats:
        """What compression has done in a conversation; nothing for one that is not there."""
        said = self._conversations.given(conversation, owner)
        if not said:
            return CompressionStats()
        history = self._conversations.compressions(conversation, owner)
        told = tuple(
            dict(
                zip(
                    ("timestamp", "original_tokens", "compressed_tokens", "chunks_compressed"),
                    one[1:],
                    strict=True,
                )
            )
            for one in history
        )
        latest = bool(history) and history[-1][1] == said[-1].at
        tokens = self._tokens(self._conversations.get(conversation, owner), said)
        return CompressionStats(2 * len(said), sum(tokens), latest, len(told), told)

    def settle(self, conversation: str, owner: str, model: LLM | None) -> None:
        """What may wait until an answer is given: what is to be erased, vectors of exchanges, summaries. One
        that fails is logged, and tried again after the next answer; the others are done all the same."""
        work: list[Callable[[], object]] = [
            self.sweep,
            partial(self._embed, conversation, owner),
            partial(self._summarise, conversation, owner, model),
        ]
        for one in work:
            try:
                one()
            except ProjectError as error:
                log.warning("after an answer: %s", error)

    def sweep(self) -> None:
        """Erase what has had its time, and what was kept of documents that were erased."""
        self._conversations.sweep(self._settings.retention_days)
        self.forget_erased()

    def forget_erased(self) -> None:
        """Take the text of erased documents out of kept answers. What has a copy is there, though a lost
        catalogue may not know it.
        """
        there = self._catalog.hashes() | {path.stem for path in self._settings.documents.glob("*.pdf")}
        self._conversations.forget_files(there.__contains__)

    def _embed(self, conversation: str, owner: str) -> None:
        """Vectors of the exchanges that lack one, the latest first: after a change of the embedder an old
        conversation is caught up with by and by.
        """
        fingerprint = self._embedder.fingerprint
        there = self._conversations.vectors([conversation], fingerprint)
        latest = [
            one
            for one in self._conversations.complete(conversation, owner)
            if (conversation, one.number) not in there
        ][-MOST_VECTORS:]
        rows = (
            self._embedder.embed([f"{one.user}\n{one.cited}"[:EMBEDDED_CHARACTERS] for one in latest])
            if latest
            else ()
        )
        for one, vector in zip(latest, rows, strict=True):
            self._conversations.keep_vector(conversation, one.number, fingerprint, vector)

    def _summarise(self, conversation: str, owner: str, model: LLM | None) -> None:
        settings = self._settings_of(owner)
        if model is None or not settings.summary:
            return
        said = self._conversations.complete(conversation, owner)
        row = self._conversations.get(conversation, owner)
        if len(said) <= settings.prompt_exchanges or self._shortens(
            row, self._tokens(row, said), settings
        ):  # what is shortened needs no summary
            return
        due = self._summary.due(conversation, owner, said[-settings.prompt_exchanges].number)
        if due:
            self._conversations.keep_summary(conversation, summarise(due, model))

    def _files(self, answer: Answer) -> dict[int, str]:
        """SHA-256 of the file of each version that an answer speaks of."""
        versions = {hit.version for hit in answer.considered} | {
            citation.version for citation in answer.citations if citation.version
        }
        return {version: digest for version in versions if (digest := self._catalog.digest_of(version))}

    def _today(self, version: int, digest: str) -> int | None:
        """The version that a file has today, for a rebuilt store numbers anew."""
        if self._catalog.digest_of(version) == digest:
            return version
        if held := self._catalog.holding(digest):
            return held.id
        return None


class Draft:
    """One exchange as it is being written. A store that fails is told of once, and never keeps the answer
    from coming.
    """

    def __init__(
        self,
        conversations: Conversations,
        conversation: str | None,
        owner: str,
        question: str,
        files: Callable[[Answer], Mapping[int, str]],
    ) -> None:
        self._conversations, self._conversation, self._owner, self._question, self._files = (
            conversations,
            conversation or "",
            owner,
            question,
            files,
        )
        # Of the exchange, from 1; 0 where none is kept.
        self._number = 0
        self._text, self._written, self._anew, self._finished = "", 0.0, False, False

    def begin(self) -> Notice | None:
        """Note the question. Raises NotFoundError for a conversation that is somebody else's."""
        if not self._conversation:
            return None
        try:
            self._conversations.begin(self._owner, self._conversation)
            self._number = self._conversations.start(self._conversation, self._question)
        except StoreError as error:
            return Notice(f"This exchange is not kept: {error.message}", error.hint)
        return None

    def take(self, event: Event) -> tuple[Event, Notice | None]:
        """(the event to pass on, what went wrong in keeping it)."""
        match event:
            case Token() if self._number:
                if self._anew:
                    self._text = event.text
                else:
                    self._text = self._text + event.text
                self._anew = False
                if time.monotonic() - self._written > WRITE_SECONDS:
                    self._written = time.monotonic()
                    self._write("answering")
            case Notice():
                self._anew = True  # a model that fails midway starts over in the documents' own words
            case Answer() if self._number:
                return self._finish(event)
        return event, None

    def give_up(self, *, failed: bool) -> None:
        """Keep what has come of an answer that will not be whole."""
        if self._number and not self._finished:
            self._write("failed" if failed else "stopped")

    def _finish(self, answer: Answer) -> tuple[Answer, Notice | None]:
        self._finished = True
        whole = replace(answer, exchange=self._number)
        try:
            self._conversations.finish(
                self._conversation, self._number, whole, self._files(whole), owner=self._owner
            )
        except (StoreError, NotFoundError) as error:
            return answer, Notice(f"This answer is not kept: {error.message}", error.hint)
        return whole, None

    def _write(self, state: str) -> None:
        """What fails here is written with the whole answer, or told then."""
        with suppress(StoreError):
            self._conversations.write(
                self._conversation, self._number, self._text, owner=self._owner, state=state
            )

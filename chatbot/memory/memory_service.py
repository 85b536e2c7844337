"""Gathers what is remembered for a question, and keeps its answer.

It provides the window, the shortened conversation, the notes of the memories and the draft of the answer. It
answers nothing itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from chatbot.errors import ModelError, NotFoundError, ProjectError, StoreError
from chatbot.memory.compression.sessions import MOST_SESSIONS, CompressionStats
from chatbot.memory.compression.shortening import (
    SHARE_OF_LAST,
    LongConversation,
    fit_exchanges,
    room_of,
    shorten,
    threshold_of,
)
from chatbot.memory.conversations.answer_records import with_versions
from chatbot.memory.conversations.conversation_store import ConversationRow, Conversations, StoredExchange
from chatbot.memory.conversations.history import CALLED, HistoryLayer
from chatbot.memory.conversations.summary import SummaryLayer, summarise
from chatbot.memory.conversations.topic_return import asks_again, goes_back
from chatbot.memory.layers import MemoryLayer, label_of, most_notes
from chatbot.models.chat import LLM
from chatbot.models.embedders import Embedder
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer, Citation, Compression, Event, Exchange, Note, Notice, Recall, Token
from chatbot.settings import Settings
from chatbot.store.catalog import Catalog
from chatbot.store.kept_copies import copies_of

__all__ = ["ConversationContext", "Draft", "MemoryService"]

log = logging.getLogger(__name__)

# Seconds between two writes of an answer that is still being written.
WRITE_SECONDS = 0.5
# Exchanges whose vectors are made after an answer, so that old conversations catch up little by little.
MOST_VECTORS = 20
# Characters of an exchange that are embedded: the embedder sees some 1,000.
EMBEDDED_CHARACTERS = 1_200


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """What a prompt gets of what was said before.

    exchanges: the last ones, whole.
    earlier: those before them, shortened, as (role, text).
    notes: of the memories.
    compression: what was kept and dropped; None if nothing was shortened.
    notices: what the reader must know.
    """

    exchanges: tuple[Exchange, ...] = ()
    earlier: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()
    compression: Compression | None = None
    notices: tuple[Notice, ...] = ()


class MemoryService:
    """The memories of a store. Safe to use from several threads."""

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
        """layers: the memories beside the conversation's own, asked in this order.

        settings_of: the settings of an owner; by default the same for all.
        """
        self._layers = layers
        self._settings = settings
        self._settings_of = settings_of or (lambda owner: settings)
        self._conversations = conversations
        self._catalog = catalog
        self._embedder = embedder
        # Tokens of exchanges by their numbers, of the conversations that were used last.
        self._counts = lru_cache(MOST_SESSIONS)(lambda conversation: dict[int, int]())
        self._history = HistoryLayer(conversations, embedder)
        self._summary = SummaryLayer(conversations)

    # --- before an answer
    # ---------------------------------------------------------------------------------------------------

    def window(self, conversation: str, owner: str) -> tuple[Exchange, ...]:
        """The live exchanges, oldest first; none if they cannot be read, which `before` reports."""
        try:
            size = self._settings_of(owner).window
            return tuple(self._conversations.window(conversation, owner, size))
        except StoreError:
            return ()

    def said(self, conversation: str, owner: str) -> tuple[Exchange, ...]:
        """All exchanges that were answered, oldest first; none if they cannot be read."""
        return tuple(said.exchange for said in self._given(conversation, owner))

    def _given(self, conversation: str, owner: str) -> list[StoredExchange]:
        """See Conversations.given; none if they cannot be read."""
        with suppress(StoreError):
            return self._conversations.given(conversation, owner)
        return []

    def citations(self, conversation: str, owner: str) -> tuple[Citation, ...]:
        """The citations of the last answer that has any; none if it cannot be read."""
        with suppress(StoreError):
            for said in reversed(self._given(conversation, owner)):
                kept = self._conversations.answer(conversation, said.number, owner)
                if kept and kept[0].citations:
                    return kept[0].citations
        return ()

    def searched(self, exchange: Exchange, conversation: str, owner: str) -> str:
        """What was searched for an exchange of a conversation; for the last one with that question."""
        for said in reversed(self._given(conversation, owner)):
            if said.user == exchange.user:
                return self._searched(said, owner)
        return exchange.user

    def gone_back(self, question: str, conversation: str, owner: str) -> tuple[str, tuple[Exchange, ...]]:
        """(what is asked, the exchange that it goes back to); the question itself and () if there is none."""
        back = goes_back(question)
        if back is None:
            return question, ()
        vector = None
        found = None
        with suppress(ModelError):
            vector = self._embedder.embed([back.topic], query=True)[0]
        with suppress(StoreError, NotFoundError):
            recall = Recall(back.topic, vector, conversation, owner, now=time.time(), before=2**31)
            # A question that only went back itself would be found first, by the words that both have.
            candidates = self._history.find(recall)
            found = next((one for one in candidates if goes_back(one.said.user) is None), None)
        if found is None or found.score < CALLED:
            return question, ()
        said = found.said
        searched = self._searched(said, owner)
        asked = searched if asks_again(back, f"{said.user}\n{said.cited}") else back.question
        return asked, (Exchange(searched, said.cited),)

    def before(self, recall: Recall, settings: Settings | None = None) -> ConversationContext:
        """What the prompt of a question gets of what was said before.

        If long conversations are shortened, that is all of it below the threshold, and above it the last
        exchanges after all older ones shortened. Otherwise it is the last exchanges and notes on older ones.
        If the conversation cannot be read, only a notice says so.

        settings: those of its owner unless given.
        """
        try:
            return self._before(recall, settings or self._settings_of(recall.owner))
        except (StoreError, NotFoundError) as error:
            notice = Notice(f"Answered without the earlier conversation: {error.message}", error.hint)
            return ConversationContext(notices=(notice,))

    def window_alone(
        self, exchanges: Sequence[Exchange], question: str, settings: Settings
    ) -> ConversationContext:
        """The last exchanges, without memories and what was before."""
        numbered = enumerate(exchanges, 1)
        said = [StoredExchange("", at, one.user, "", "", one.assistant, 0.0) for at, one in numbered]
        return self._last(said, question, settings)

    def _last(self, said: Sequence[StoredExchange], question: str, settings: Settings) -> ConversationContext:
        """The last exchanges, whole while they fit into the prompt."""
        last = said[-settings.prompt_exchanges :]
        exchanges, cut = fit_exchanges(last, question, room_of(settings, question), settings.chat_model)
        compression = None
        if cut:
            full = _tokens_of([one.exchange for one in last], settings)
            kept = _tokens_of(exchanges, settings)
            compression = Compression(full, kept, len(cut), cut, last[0].number)
        return ConversationContext(exchanges, compression=compression)

    def _before(self, recall: Recall, settings: Settings) -> ConversationContext:
        said = self._conversations.given(recall.conversation, recall.owner)
        row = self._conversations.get(recall.conversation, recall.owner)
        if not said or not _shortens(row, settings):
            last = self._last(said, recall.question, settings)
            first = said[-len(last.exchanges)].number if said else 1
            notes, notices = self._notes(replace(recall, before=first), row, [self._summary, self._history])
            return replace(last, notes=notes, notices=notices)
        own = [self._history] if row.recalls_others else []
        notes, notices = self._notes(replace(recall, before=0), row, own)
        tokens = self._tokens(row, said)
        threshold = threshold_of(settings, recall.question)
        if sum(tokens) <= threshold:
            return ConversationContext(tuple(one.exchange for one in said), notes=notes, notices=notices)
        older, last_ones = said[: -settings.prompt_exchanges], said[-settings.prompt_exchanges :]
        target = min(settings.compression_ratio * sum(tokens), threshold)
        room = SHARE_OF_LAST * target if older else target
        exchanges, cut = fit_exchanges(last_ones, recall.question, room, settings.chat_model)
        sent = _tokens_of(exchanges, settings)
        recall = replace(recall, before=last_ones[0].number)
        long = LongConversation(
            older, tokens[: len(older)], sum(tokens), target, sent, cut, self._embedder.fingerprint
        )
        vectors = self._history.vectors(recall, [recall.conversation])
        earlier, compression = shorten(long, recall, vectors, settings)
        return ConversationContext(exchanges, earlier, notes, compression, notices)

    def _tokens(self, row: ConversationRow, said: Sequence[StoredExchange]) -> list[int]:
        """Tokens of each exchange, counted once. An id that was used again is another conversation."""
        counts = self._counts(f"{row.id} {row.begun_at}")
        for one in said:
            if one.number not in counts:
                counts[one.number] = _tokens_of([Exchange(one.user, one.cited)], self._settings)
        return [counts[one.number] for one in said]

    def is_on(self, conversation: str, owner: str, memory: str) -> bool:
        """Whether a memory is used in a conversation; False if there is no such conversation."""
        try:
            return memory not in self._conversations.get(conversation, owner).off
        except (NotFoundError, StoreError):
            return False

    def _notes(
        self, recall: Recall, row: ConversationRow, own: Sequence[MemoryLayer]
    ) -> tuple[tuple[Note, ...], tuple[Notice, ...]]:
        """Notes of the conversation's own memories and of all that are on in it.

        A memory that fails is named in a notice, and the answer goes on without it.
        """
        notes: list[Note] = []
        notices: list[Notice] = []
        recall = replace(recall, tell=notices.append)
        switched_on = [layer for layer in self._layers if layer.name not in row.off]
        for layer in [*own, *switched_on]:
            try:
                notes += layer.recall(recall, most_notes(layer.name))
            except ProjectError as error:
                label = label_of(layer.name).lower()
                notices.append(Notice(f"Answered without {label}: {error.message}", error.hint))
        return tuple(notes), tuple(notices)

    def _searched(self, said: StoredExchange, owner: str) -> str:
        """What was searched for an exchange: its question as it stands alone."""
        with suppress(StoreError):
            kept = self._conversations.answer(said.conversation, said.number, owner)
            if kept:
                return kept[0].search_query
        return said.user

    # --- while and after it is given
    # ----------------------------------------------------------------------------------------

    def draft(self, conversation: str | None, owner: str, question: str) -> Draft:
        """The draft that keeps the answer while it is written."""
        return Draft(self._conversations, conversation, owner, question, self._files)

    def answer(self, conversation: str, number: int, owner: str) -> Answer | None:
        """A stored answer in full, whose citations lead to where their files are today.

        None if only its words were stored. Raises StoreError.
        """
        kept = self._conversations.answer(conversation, number, owner)
        if not kept:
            return None
        answer, files = kept
        return with_versions(answer, {version: self._today(version, files[version]) for version in files})

    def keep(self, conversation: str, number: int, answer: Answer, owner: str) -> None:
        """Store an answer in place of the one that an exchange has. Raises NotFoundError and StoreError."""
        self._conversations.finish(conversation, number, answer, self._files(answer), owner=owner)

    def stats(self, conversation: str, owner: str, settings: Settings | None = None) -> CompressionStats:
        """What compression has done in a conversation; empty for one that does not exist.

        settings: those of its owner unless given.
        """
        threshold = threshold_of(settings or self._settings_of(owner))
        said = self._conversations.given(conversation, owner)
        if not said:
            return CompressionStats(threshold=threshold)
        rows = self._conversations.compressions(conversation, owner)
        fields = ("timestamp", "original_tokens", "compressed_tokens", "chunks_compressed")
        history = tuple(dict(zip(fields, values, strict=True)) for _, *values in rows)
        latest = bool(rows) and rows[-1][1] == said[-1].at
        tokens = self._tokens(self._conversations.get(conversation, owner), said)
        size = rows[-1][3] + tokens[-1] if latest else sum(tokens)
        return CompressionStats(2 * len(said), size, latest, len(history), history, threshold)

    def settle(self, conversation: str, owner: str, model: LLM | None) -> None:
        """Do the work that may wait until an answer is given: erasing, vectors of exchanges, summaries.

        A task that fails is logged and tried again after the next answer; the others are still done.
        """
        tasks: list[Callable[[], object]] = [
            self.sweep,
            partial(self._embed, conversation, owner),
            partial(self._summarise, conversation, owner, model),
        ]
        for task in tasks:
            try:
                task()
            except ProjectError as error:
                log.warning("after an answer: %s", error)

    def sweep(self) -> None:
        """Erase what is past its time, and the stored text of documents that were erased."""
        self._conversations.sweep(self._settings.retention_days)
        self.forget_erased()

    def forget_erased(self) -> None:
        """Remove the text of erased documents from stored answers.

        A document with a kept copy is not erased, even if a lost catalogue does not know it; nor is one of an
        imported archive.
        """
        known = self._catalog.hashes().union(self._catalog.remembered())
        try:
            copies = copies_of(self._settings).all()
        except StoreError as error:
            log.warning("The text of erased documents will be removed from answers later: %s", error)
            return
        self._conversations.forget_files(known.union(copies).__contains__)

    def _embed(self, conversation: str, owner: str) -> None:
        """Make the vectors of exchanges that have none, the latest first.

        After a change of the embedder, an old conversation catches up little by little.
        """
        fingerprint = self._embedder.fingerprint
        known = self._conversations.vectors([conversation], fingerprint)
        complete = self._conversations.complete(conversation, owner)
        lacking = [said for said in complete if (conversation, said.number) not in known]
        latest = lacking[-MOST_VECTORS:]
        if not latest:
            return
        texts = [f"{said.user}\n{said.cited}"[:EMBEDDED_CHARACTERS] for said in latest]
        for said, vector in zip(latest, self._embedder.embed(texts), strict=True):
            self._conversations.keep_vector(conversation, said.number, fingerprint, vector)

    def _summarise(self, conversation: str, owner: str, model: LLM | None) -> None:
        settings = self._settings_of(owner)
        if model is None or not settings.summary:
            return
        said = self._conversations.complete(conversation, owner)
        row = self._conversations.get(conversation, owner)
        if len(said) <= settings.prompt_exchanges:
            return
        # A conversation that is sent as a whole or shortened needs no summary.
        if _shortens(row, settings):
            return
        due = self._summary.due(conversation, owner, said[-settings.prompt_exchanges].number)
        if due:
            self._conversations.keep_summary(conversation, summarise(due, model))

    def _files(self, answer: Answer) -> dict[int, str]:
        """SHA-256 of the file of each version that an answer refers to."""
        considered = {hit.version for hit in answer.considered}
        cited = {citation.version for citation in answer.citations if citation.version}
        digests = {version: self._catalog.digest_of(version) for version in considered | cited}
        return {version: digest for version, digest in digests.items() if digest}

    def _today(self, version: int, digest: str) -> int | None:
        """The version that a file has today, because a rebuilt store has other numbers."""
        if self._catalog.digest_of(version) == digest:
            return version
        held = self._catalog.holding(digest)
        return held.id if held else None


def _shortens(row: ConversationRow, settings: Settings) -> bool:
    """Whether a conversation is shortened when it is long, and whole before."""
    return settings.compression and row.compresses


def _tokens_of(exchanges: Sequence[Exchange], settings: Settings) -> int:
    texts = [text for exchange in exchanges for text in (exchange.user, exchange.assistant)]
    return sum(count_tokens(text, settings.chat_model) for text in texts)


class Draft:
    """One exchange while it is being written.

    A store that fails is reported once, and never stops the answer.
    """

    def __init__(
        self,
        conversations: Conversations,
        conversation: str | None,
        owner: str,
        question: str,
        files: Callable[[Answer], Mapping[int, str]],
    ) -> None:
        self._conversations = conversations
        self._conversation = conversation or ""
        self._owner = owner
        self._question = question
        self._files = files
        # The number of the exchange, from 1; 0 if none is stored.
        self._number = 0
        self._text = ""
        # When the text was last written, by the monotonic clock.
        self._written = 0.0
        # Whether the next token begins the text anew.
        self._anew = False
        self._finished = False

    def begin(self) -> Notice | None:
        """Store the question. Raises NotFoundError for a conversation that is somebody else's."""
        if not self._conversation:
            return None
        try:
            self._conversations.begin(self._owner, self._conversation)
            self._number = self._conversations.start(self._conversation, self._question)
        except StoreError as error:
            return Notice(f"This exchange was not saved: {error.message}", error.hint)
        return None

    def take(self, event: Event) -> tuple[Event, Notice | None]:
        """(the event to pass on, a notice of what went wrong in storing it)."""
        match event:
            case Token() if self._number:
                anew = event.anew or self._anew
                self._text, self._anew = event.text if anew else self._text + event.text, False
                if time.monotonic() - self._written > WRITE_SECONDS:
                    self._written = time.monotonic()
                    self._write("answering")
            case Notice():
                self._anew = True  # a model that fails midway starts over in the documents' own words
            case Answer() if self._number:
                return self._finish(event)
        return event, None

    def give_up(self, *, failed: bool) -> None:
        """Store what has come of an answer that will not be complete."""
        if self._number and not self._finished:
            self._write("failed" if failed else "stopped")

    def _finish(self, answer: Answer) -> tuple[Answer, Notice | None]:
        self._finished = True
        numbered = replace(answer, exchange=self._number)
        try:
            files = self._files(numbered)
            self._conversations.finish(self._conversation, self._number, numbered, files, owner=self._owner)
        except (StoreError, NotFoundError) as error:
            return answer, Notice(f"This answer was not saved: {error.message}", error.hint)
        return numbered, None

    def _write(self, state: str) -> None:
        """Store the text so far. What fails here is stored with the complete answer, or reported then."""
        with suppress(StoreError):
            self._conversations.write(
                self._conversation, self._number, self._text, owner=self._owner, state=state
            )

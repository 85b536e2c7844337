"""The way of one question from its words to its complete answer, event by event; knows the order of the
steps and takes none of them itself.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chatbot.answer.prompt import Request, build_prompt, size_of
from chatbot.asking.answering import Answering, PromptedQuestion
from chatbot.asking.direct_answers import EXPLAIN, IN_OTHER_WORDS, DirectAnswers
from chatbot.asking.memory_context import MemoryContext
from chatbot.asking.missing_tables import complete_tables, without_tables
from chatbot.asking.model_roles import ChatModels
from chatbot.asking.multi_document import MultiDocument
from chatbot.asking.question import Ask, checked
from chatbot.memory.cases.case_store import is_sound
from chatbot.memory.cases.feedback_rerank import FeedbackRerank
from chatbot.models.chat import LLM
from chatbot.records import Answer, Event, Exchange, Hit, Notice, Prompt, Stage, Token
from chatbot.search.corpus_vocabulary import as_known, known_terms
from chatbot.search.follow_up.llm import Rewritten, rewrite
from chatbot.search.follow_up.rules import standalone_query
from chatbot.search.intents import WHOLE, Intent
from chatbot.search.page_search import Finder
from chatbot.search.pending_content import pending_content
from chatbot.search.question_terms import understand
from chatbot.search.refusal import left_out
from chatbot.search.reranking import Reranked
from chatbot.search.retrieval import Query
from chatbot.store.library import Library
from chatbot.store.scope_fingerprint import index_fingerprint

__all__ = ["Asker"]

# From so many seconds to its first word on, a model is asked for answers alone.
SLOW_SECONDS = 20.0
NOT_ASKED = "For ten minutes it is asked for answers alone."
# Of a chat model's context for each page that it is given: most take half of that, and notes and exchanges
# come beside them.
TOKENS_PER_PAGE = 1_600


@dataclass(frozen=True, slots=True)
class Asker:
    """Joins what answers a question. context_tokens: of the prompt; pages: that a chat model is given, 0 for
    as many as have room there. Safe from several threads."""

    library: Library
    finder: Finder
    answering: Answering
    lending: MemoryContext
    talking: DirectAnswers
    several: MultiDocument
    models: ChatModels
    context_tokens: int
    pages: int = 0

    def events(self, ask: Ask, stop: Callable[[], bool]) -> Generator[Event, None, None]:
        """Stages, tokens and notices as they come, and the Answer last, without `notices` and `timings`. The
        first comes once it is sure that the question can be asked. Raises QuestionError, NotFoundError."""
        started = time.perf_counter()
        question = checked(ask.question)
        index = index_fingerprint(
            self.library.catalog, self.library.embedder.fingerprint, self.library.scope(ask.names)
        )
        exchanges = self.lending.exchanges(
            ask
        )  # before the first event, with which the question becomes one of them
        intent, before_it = self._intent(question, ask)
        yield Stage("searching")
        model = self.models.answering(ask.owner)
        if intent and (
            told := self.talking.answer(intent, ask, question, before_it, by_model=model is not None)
        ):
            yield from self._told_at_once(told, ask, index, started)
            return
        if (advice := self.lending.advice(ask)) is not None:
            yield from advice
            return
        again = before_it[-1] if intent and intent.kind == EXPLAIN else None
        query = yield from self._query(question, ask, exchanges, again, stop)
        understanding = understand(query if again else self.finder.spelled(question, ask.names), query)
        understanding = as_known(self.library, self.finder.with_names(understanding, ask.names), ask.names)
        vector = yield from self.finder.vector(understanding.subject, ask.names)
        wanted = Query(
            query,
            vector,
            ask.names,
            "keyword" if vector is None else "hybrid",
            self.models.settings_of(ask.owner).pages,
            understanding,
        )
        before = self.lending.before(ask, query, vector)
        yield from before.notices
        rated, reranker = self.lending.rated(ask, query, vector), self.models.reranking(ask.owner)
        judged = partial(
            self.answering.judged,
            understanding=understanding,
            vector=vector,
            names=ask.names,
            avoid=rated.avoid,
            hasty=model is not None,
        )
        unread = set[int]()
        # What was rated is kept to: remembered as it was, or set aside.
        if (
            model is None
            and not (rated.case or rated.avoid)
            and (found := (yield from self._of_several(question, wanted, unread, stop)))
        ):
            yield from self._told_at_once(
                replace(found, notes=before.notes, compression=before.compression), ask, index, started
            )
            return
        while True:
            unrated = self.finder.pages(wanted)
            hits = rated.applied(unrated, partial(self.finder.more, wanted))
            if (yield from self._completing([*unrated, *hits], unread, stop)):
                continue
            hits = [hit for hit in hits if hit.version not in unread]
            request = Request(
                question,
                query,
                hits,
                before.exchanges,
                before.notes,
                secrets.token_hex(3),
                self.context_tokens,
                before.earlier,
            )
            prompt = build_prompt(request)
            try:
                remembered = self._remembered(rated, prompt)
                asked = judged(prompt, remembered=remembered)
                yield from [Notice(rated.why)] if remembered else rated.told(unrated, hits)
                if reranker and not (asked.reason or remembered):
                    hits = yield from self._reordered(wanted, hits, reranker, ask.owner, stop)
                    request = replace(request, hits=hits)
                    asked = judged(build_prompt(request))
                break
            except (KeyError, IndexError):
                if {hit.version for hit in hits} <= self.library.scope(()).keys():
                    raise  # a page was not erased meanwhile: what is there now would not answer either
        if coming := pending_content(self.library, ask.names, unread):
            yield coming
        # Whoever asks for a whole document is given its pages: that no sentence of them is like the question
        # says nothing.
        reason = None if intent and intent.kind in WHOLE else asked.reason
        asked = replace(asked, in_part=bool(coming or unread), around=again is not None, reason=reason)
        if again and model is None:
            yield Notice(IN_OTHER_WORDS)
        model = model if hits else None
        if model is not None:
            asked, hits = self._prompted(ask.owner, wanted, request, asked)
        answer = yield from self.answering.answer(asked, model, stop)
        yield replace(
            answer,
            considered=tuple(hits),
            conversation=ask.conversation,
            understanding=understanding,
            fingerprint=self.library.embedder.fingerprint,
            notes=before.notes,
            compression=before.compression,
            names=ask.names,
            index=index,
            seconds=round(time.perf_counter() - started, 3),
        )

    def _intent(self, question: str, ask: Ask) -> tuple[Intent | None, list[Exchange]]:
        """What a message asks of the chatbot or of a whole document, with what was said before; to explain
        a summary is to give it again.
        """
        intent = self.talking.intent(question, ask.names)
        if intent:
            before = self.talking.before(ask)
        else:
            before = []
        if intent and intent.kind == EXPLAIN and before:
            whole = self.talking.intent(before[-1].user, ask.names)
        else:
            whole = None
        return whole if whole and whole.kind in WHOLE else intent, before

    def _query(
        self,
        question: str,
        ask: Ask,
        exchanges: tuple[Exchange, ...],
        again: Exchange | None,
        stop: Callable[[], bool],
    ) -> Generator[Event, None, str]:
        """What is searched: the question as it stands alone, or that of an exchange which is to be
        explained again, without slips of the keyboard.
        """
        if again:
            query = self.lending.searched(again, ask)
        else:
            meant, lent = self.lending.gone_back(question, ask)
            query = yield from self._completed(meant, lent or exchanges, ask.owner, stop)
        return self.finder.spelled(query, ask.names)

    def _of_several(
        self, question: str, wanted: Query, unread: set[int], stop: Callable[[], bool]
    ) -> Generator[Event, None, Answer | None]:
        """What each of several documents says that a question names; None where it names one, or only one
        of them answers.
        """
        sides = self.finder.groups(wanted)
        if len(sides) < 2:
            return None
        hits = self.several.hits(wanted, sides)
        while (yield from self._completing(hits, unread, stop)):
            hits = self.several.hits(wanted, sides)
        hits = [hit for hit in hits if hit.version not in unread]
        asked = wanted.understanding
        if asked:
            lacking = left_out(asked, known_terms(self.library, asked, wanted.names))
        else:
            lacking = ()
        try:
            found = self.several.answer(question, wanted, sides, hits, compares=not lacking)
        except (KeyError, IndexError):  # a page was erased meanwhile
            return None
        if found:
            yield from map(Notice, lacking)
        if found and (coming := pending_content(self.library, wanted.names, unread)):
            yield coming
        return found and replace(found, considered=tuple(hits))

    def _told_at_once(self, answer: Answer, ask: Ask, index: str, started: float) -> Iterator[Event]:
        """An answer that is whole."""
        yield Token(answer.text)
        seconds = round(time.perf_counter() - started, 3)
        yield replace(
            answer,
            conversation=ask.conversation,
            names=ask.names,
            index=index,
            seconds=seconds,
            fingerprint=self.library.embedder.fingerprint,
        )

    def _reordered(
        self, query: Query, hits: Sequence[Hit], reranker: LLM, owner: str, stop: Callable[[], bool]
    ) -> Generator[Event, None, list[Hit]]:
        """As many pages as these, none that lacks its tables, in the order of a chat model."""
        ranked = self.finder.reordered(query, hits, reranker, stop)
        yield from self._told(ranked, owner)
        lacking = without_tables(self.library, ranked.hits)
        return [hit for hit in ranked.hits if hit in hits or hit.version not in lacking]

    def _prompted(
        self, owner: str, query: Query, request: Request, asked: PromptedQuestion
    ) -> tuple[PromptedQuestion, list[Hit]]:
        """The question with what its owner's chat model is sent, and the pages in that."""
        told = replace(
            request,
            doubt=self.answering.doubt(asked),
            worked_out=asked.computed,
            today=time.strftime("%Y-%m-%d"),
        )

        def sent(tokens: int) -> Prompt:
            return build_prompt(
                replace(told, hits=self._for_model(query, request.hits, tokens), max_tokens=tokens)
            )

        room = self.models.prompt_tokens(owner)
        prompt = sent(room)
        made = replace(
            asked,
            sent=prompt,
            shorter=lambda: sent(self.models.too_long(owner, min(room, size_of(prompt)))),
            waited=partial(self._waited, owner),
        )
        return made, list(prompt.sources.values())

    def _told(self, outcome: Reranked | Rewritten, owner: str) -> Iterator[Notice]:
        """What is said of a call beside the answer; of one that took too long, that there is none for a
        while.
        """
        if notice := outcome.notice:
            yield (
                Notice(f"{notice.text} {NOT_ASKED}", notice.hint)
                if outcome.late and self.models.found_slow(owner)
                else notice
            )

    def _waited(self, owner: str, seconds: float) -> Sequence[Notice]:
        """What follows from the seconds to the first word of an answer."""
        if seconds < SLOW_SECONDS or not self.models.found_slow(owner):
            return ()
        return (Notice(f"The chat model took {seconds:.0f} s to its first word. {NOT_ASKED}"),)

    def _for_model(self, query: Query, hits: Sequence[Hit], tokens: int) -> list[Hit]:
        """The pages that a chat model is given, those first that answer without one: as many as its
        context has room for, none that lacks its tables.
        """
        more = self.finder.beside(query, hits, self.pages or max(query.k, tokens // TOKENS_PER_PAGE))
        lacking = without_tables(self.library, more)
        return [hit for hit in more if hit in hits or hit.version not in lacking]

    def _completing(
        self, hits: Sequence[Hit], unread: set[int], stop: Callable[[], bool]
    ) -> Generator[Event, None, bool]:
        """Whether tables were read that these pages lacked, so that the search is to be made again.
        unread: gets the versions whose tables could not be.
        """
        lacking = {
            version: name
            for version, name in without_tables(self.library, hits).items()
            if version not in unread
        }
        for version, name in lacking.items():
            if not (yield from complete_tables(self.library, version, name, stop)):
                unread.add(version)
        return bool(lacking.keys() - unread)

    def _completed(
        self, question: str, exchanges: tuple[Exchange, ...], owner: str, stop: Callable[[], bool]
    ) -> Generator[Event, None, str]:
        """The query that is searched: of a follow-up in the chat model's words where that is switched on."""
        if exchanges:
            model = self.models.rewriting(owner)
        else:
            model = None
        if model is None:
            return standalone_query(question, exchanges)
        rewritten = rewrite(question, exchanges, model, stop=stop)
        yield from self._told(rewritten, owner)
        return rewritten.query

    def _remembered(self, rated: FeedbackRerank, prompt: Prompt) -> str:
        """The remembered answer, "" where there is none or it does not stand up to being checked anew."""
        text = rated.text(prompt)
        if text and is_sound(self.answering.checked(prompt, text, "extractive")):
            return text
        return ""

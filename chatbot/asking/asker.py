"""Takes one question from its words to its complete answer, event by event.

It knows the order of the steps and leaves each step to others.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chatbot.answer.citations.citation_forms import with_inert_keys
from chatbot.answer.prompt import Request, build_prompt, size_of_conversation
from chatbot.asking.answering import Answering, PromptedQuestion
from chatbot.asking.direct_answers import EXPLAIN, IN_OTHER_WORDS, DirectAnswers
from chatbot.asking.external_texts import ExternalText, with_texts, without_reports
from chatbot.asking.memory_context import MemoryContext
from chatbot.asking.model_alone import answer_alone, check_model
from chatbot.asking.model_lookups import reach
from chatbot.asking.model_prompts import NOT_ASKED, ModelPrompts
from chatbot.asking.model_roles import ChatModels
from chatbot.asking.multi_document import MultiDocument
from chatbot.asking.question import Ask, checked
from chatbot.asking.reading_back import ReadingBack
from chatbot.errors import UsageError
from chatbot.lookup.lookup_forms import GetOutline
from chatbot.lookup.lookups import Lookups
from chatbot.memory.cases.case_store import is_sound
from chatbot.memory.cases.feedback_rerank import FeedbackRerank
from chatbot.memory.compression.shortening import PAGE_TOKENS
from chatbot.memory.memory_service import ConversationContext
from chatbot.models.chat import LLM
from chatbot.records import Answer, Event, Exchange, Hit, Notice, Prompt, Stage, Token
from chatbot.search.corpus_vocabulary import as_known, known_terms
from chatbot.search.follow_up.llm import Rewritten, rewrite
from chatbot.search.follow_up.rules import asks_other_period, standalone_query
from chatbot.search.fusion import mean_vector, worth_searching
from chatbot.search.intents import WHOLE, Intent
from chatbot.search.page_search import Finder
from chatbot.search.pending_content import is_in_part, pending_content
from chatbot.search.question_terms import understand
from chatbot.search.refusal import left_out
from chatbot.search.reranking import Reranked
from chatbot.search.retrieval import Query
from chatbot.store.library import Library
from chatbot.store.scope_fingerprint import index_fingerprint
from chatbot.tools.tool_rounds import ask_tools, call_tools
from chatbot.tools.tool_servers import ToolServers

__all__ = ["Asker"]

# The notice that tools are wanted where nobody can call them.
NO_TOOLS = "Tools of other servers are called by a chat model, and none that can call them answers here."
# Pages that stand for a document as a whole, where one is to be summed up.
MOST_OF_WHOLE = 10
# Documents that a prompt names for tools to look into, and those whose headings it has where no page was
# found.
MOST_NAMED, MOST_OUTLINED = 12, 3


def _considered(answer: Answer, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The pages found, with those that a model brought when it looked further."""
    brought = answer.prompt.sources.values() if answer.prompt and answer.prompt.looks else ()
    return (*hits, *(hit for hit in brought if hit not in hits))


@dataclass(frozen=True, slots=True)
class _Preparation:
    """A question with everything that is known before its pages are chosen.

    rated: what its owner's ratings say of it.
    reranker: the chat model that orders pages, None for none.
    hasty: whether a chat model answers, so that judging by words alone is enough.
    beside: the answer to the same question for another period, "" for none.
    """

    ask: Ask
    question: str
    query: Query
    before: ConversationContext
    rated: FeedbackRerank
    reranker: LLM | None
    hasty: bool
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Asker:
    """Joins everything that answers a question. Safe to use from several threads.

    context_tokens: of the prompt.
    tools: the servers whose tools a chat model may call.
    lookups: what a chat model may look up while it answers.
    reading: reads what a chat model wrote back.
    """

    library: Library
    finder: Finder
    answering: Answering
    memory_context: MemoryContext
    direct_answers: DirectAnswers
    several: MultiDocument
    models: ChatModels
    context_tokens: int
    tools: ToolServers
    lookups: Lookups
    reading: ReadingBack

    def events(self, ask: Ask, stop: Callable[[], bool]) -> Generator[Event, None, None]:
        """Stages, tokens and notices as they come, and the Answer last, without `notices` and `timings`.

        An answer that a model reads back comes twice: as soon as it is complete, and with its marks.

        The first event comes once it is sure that the question can be asked. Raises QuestionError,
        NotFoundError.
        """
        started = time.perf_counter()
        question = checked(ask.question)
        index = index_fingerprint(
            self.library.catalog, self.library.embedder.fingerprint, self.library.scope(ask.names)
        )

        def complete(answer: Answer) -> Answer:
            """An answer with what every answer says of its ask."""
            return replace(
                answer,
                conversation=ask.conversation,
                names=ask.names,
                index=index,
                seconds=round(time.perf_counter() - started, 3),
                fingerprint=self.library.embedder.fingerprint,
            )

        # Read before the first event, with which the question becomes one of the exchanges.
        exchanges = self.memory_context.exchanges(ask)
        if not (ask.documents or ask.texts):
            yield from self._alone(replace(ask, question=question), complete, stop)
            return
        by_model = self.models.answering(ask.owner) is not None
        placed = None if ask.texts else self.direct_answers.placed(question, ask, by_model=by_model)
        if placed:
            yield from (Stage("searching"), Token(placed.text), complete(placed))
            return
        yield from self._from_sources(question, ask, exchanges, complete, stop)

    def _from_sources(
        self,
        question: str,
        ask: Ask,
        exchanges: tuple[Exchange, ...],
        complete: Callable[[Answer], Answer],
        stop: Callable[[], bool],
    ) -> Generator[Event, None, None]:
        """The events of an answer from documents, texts and memories. complete: makes it that of its ask."""
        intent, earlier = self._intent(question, ask)
        yield Stage("searching")
        model = self.models.answering(ask.owner)
        # "Summarise this page": no document is meant.
        sums_up_texts = bool(intent and ask.texts and intent.kind in WHOLE and not intent.document)
        if sums_up_texts:
            ask = replace(ask, documents=False)
        elif intent:
            by_model = model is not None
            if direct := self.direct_answers.answer(intent, ask, question, earlier, by_model=by_model):
                yield from (Token(direct.text), complete(direct))
                return
        if (advice := self.memory_context.advice(ask)) is not None:
            yield from advice
            return
        ask = yield from self._with_tools(ask, standalone_query(question, exchanges, ask.names), model, stop)
        again = earlier[-1] if intent and intent.kind == EXPLAIN else None
        prepared = yield from self._prepared(question, ask, exchanges, again, model, stop)
        before = prepared.before
        # A rating is respected: the answer is remembered as it was, or set aside.
        by_words = model is None and ask.documents and not ask.texts
        if by_words and not (prepared.rated.case or prepared.rated.avoid):
            found = yield from self._of_several(question, prepared.query)
            if found:
                found = replace(found, notes=before.notes, compression=before.compression)
                yield from (Token(found.text), complete(found))
                return
        asked, request = yield from self._chosen(prepared, stop)
        hits = list(request.hits)
        if ask.documents:
            yield from self._coming(ask.names, hits)
        asked = replace(
            asked,
            in_part=ask.documents and is_in_part(self.library, ask.names),
            around=again is not None,
            # In a request for a whole document, that no sentence is like the question means nothing.
            reason=None if intent and intent.kind in WHOLE else asked.reason,
            sums_up=sums_up_texts,
        )
        if again and model is None:
            yield Notice(IN_OTHER_WORDS)
        whole = []
        if intent and model is not None and not sums_up_texts:
            whole = self.direct_answers.whole_hits(intent, ask, self._room(ask, request))
        if model is not None and (hits or whole or self._may_look(ask, model)):
            pages = whole or self._for_model(ask, prepared.query, hits)
            sent = self._prompts(ask, replace(request, hits=pages), asked, model)
            asked, hits = replace(asked, sent=sent), list(sent.first.sources.values())
        answer = yield from self.answering.answer(asked, stop)
        answer = replace(
            answer,
            citations=without_reports(answer.citations, ask.texts),
            considered=_considered(answer, hits),
            understanding=prepared.query.asked,
            notes=before.notes,
            compression=before.compression,
        )
        answer = complete(answer)
        yield answer
        yield from self._read_back(answer, ask, stop)

    def _read_back(self, answer: Answer, ask: Ask, stop: Callable[[], bool]) -> Iterator[Event]:
        """The answer once more, with the marks of a reading, if a model reads it."""
        if not (ask.verify and answer.by_model):
            return
        try:
            verifier = self.models.verifying(ask.owner)
        except UsageError as error:
            yield Notice(f"The answer was not read back: {error.message}", error.hint)
            return
        for event in self.reading.events(answer, verifier, stop):
            if isinstance(event, Answer):
                event = replace(event, citations=without_reports(event.citations, ask.texts))
            yield event

    def _with_tools(
        self, ask: Ask, question: str, model: LLM | None, stop: Callable[[], bool]
    ) -> Generator[Event, None, Ask]:
        """The ask with what tools of other servers reply, if it wants any, as texts: cited and checked like
        pages.

        The model sees the question alone, no page: what a page says could otherwise go to such a server.
        """
        if ask.calls:
            replied = yield from call_tools(ask.calls, self.tools, stop)
        elif not ask.tools:
            return ask
        elif model is None or not model.calls_tools:
            yield Notice(NO_TOOLS, "Choose a chat model, or ask without tools.")
            return ask
        else:
            room = self.models.answer_tokens(ask.owner)
            replied = yield from ask_tools(question, model, self.tools, room, stop)
        texts = (ExternalText(text.address, text.title, text.text) for text in replied)
        return replace(ask, texts=(*texts, *ask.texts))

    def _intent(self, question: str, ask: Ask) -> tuple[Intent | None, list[Exchange]]:
        """What a message asks of the chatbot or of a whole document, with what was said before.

        To explain a summary is to give it again.
        """
        intent = self.direct_answers.intent(question, ask.names)
        if not intent:
            return None, []
        before = self.direct_answers.before(ask)
        if intent.kind == EXPLAIN and before:
            explained = self.direct_answers.intent(before[-1].user, ask.names)
            if explained and explained.kind in WHOLE:
                intent = explained
        return intent, before

    def _prepared(
        self,
        question: str,
        ask: Ask,
        exchanges: tuple[Exchange, ...],
        again: Exchange | None,
        model: LLM | None,
        stop: Callable[[], bool],
    ) -> Generator[Event, None, _Preparation]:
        """The question with its query, what was said before it, and its ratings.

        again: an exchange that is to be explained again. model: the one that answers, None for none.
        """
        text = yield from self._query(question, ask, exchanges, again, stop)
        understanding = understand(text if again else self._spelled(question, ask), text)
        understanding = as_known(self.library, self.finder.with_names(understanding, ask.names), ask.names)
        long = yield from self.finder.embedded(understanding.subject)
        vector = mean_vector(worth_searching(long.chunks)) if long else None
        settings = self.models.settings_of(ask.owner)
        query = Query(
            text,
            vector,
            ask.names,
            "hybrid" if long else "keyword",
            settings.pages,
            understanding,
            pieces=long,
            strategy=ask.strategy or settings.strategy,
        )
        if query.strategy == "average":
            query = replace(query, pieces=None)
        before = self.memory_context.before(ask, text, vector)
        yield from before.notices
        beside = ask.beside
        if exchanges and asks_other_period(question, text):
            beside = exchanges[-1].assistant
        return _Preparation(
            ask,
            question,
            query,
            before,
            FeedbackRerank() if ask.texts else self.memory_context.rated(ask, text, vector),
            self.models.reranking(ask.owner),
            model is not None,
            beside,
        )

    def _chosen(
        self, prepared: _Preparation, stop: Callable[[], bool]
    ) -> Generator[Event, None, tuple[PromptedQuestion, Request]]:
        """The question judged by its pages, and the request for a prompt with them."""
        rated, before = prepared.rated, prepared.before
        while True:
            unrated = self.finder.pages(prepared.query) if prepared.ask.documents else []
            hits = rated.applied(unrated, partial(self.finder.more, prepared.query))
            request = Request(
                prepared.question,
                prepared.query.text,
                self._beside_texts(prepared.ask, prepared.query, hits),
                before.exchanges,
                before.notes,
                secrets.token_hex(3),
                self.context_tokens,
                before.earlier,
            )
            prompt = build_prompt(request)
            try:
                remembered = self._remembered(rated, prompt)
                asked = self._judged(prepared, prompt, remembered)
                yield from [Notice(rated.why)] if remembered else rated.told(unrated, hits)
                if prepared.reranker and not (asked.reason or remembered):
                    ranked = self.finder.reordered(prepared.query, hits, prepared.reranker, stop)
                    yield from self._told(ranked, prepared.ask.owner)
                    hits = list(ranked.hits)
                    beside = self._beside_texts(prepared.ask, prepared.query, hits)
                    request = replace(request, hits=beside)
                    asked = self._judged(prepared, build_prompt(request))
                return asked, request
            except (KeyError, IndexError):
                if {hit.version for hit in hits} <= self.library.scope(()).keys():
                    raise  # no page was erased meanwhile: another attempt would fail too

    def _judged(self, prepared: _Preparation, prompt: Prompt, remembered: str = "") -> PromptedQuestion:
        return self.answering.judged(
            prompt,
            prepared.query,
            remembered=remembered,
            avoid=prepared.rated.avoid,
            hasty=prepared.hasty,
            beside=prepared.beside,
        )

    def _query(
        self,
        question: str,
        ask: Ask,
        exchanges: tuple[Exchange, ...],
        again: Exchange | None,
        stop: Callable[[], bool],
    ) -> Generator[Event, None, str]:
        """The text that is searched for, without typing errors.

        It is the question as it stands alone, or that of an exchange that is to be explained again.
        """
        if again:
            query = self.memory_context.searched(again, ask)
        else:
            meant, returned_to = self.memory_context.gone_back(question, ask)
            query = yield from self._completed(meant, returned_to or exchanges, ask, stop)
        return self._spelled(query, ask)

    def _spelled(self, query: str, ask: Ask) -> str:
        """The query without typing errors, unless it may be about words that no document has."""
        if ask.texts or not ask.documents:
            return query
        return self.finder.corrected_spelling(query, ask.names)

    def _alone(
        self, ask: Ask, complete: Callable[[Answer], Answer], stop: Callable[[], bool]
    ) -> Generator[Event, None, None]:
        """The events of an answer without documents. Raises UsageError without a chat model."""
        model = check_model(self.models.answering(ask.owner))
        before = self.memory_context.before(ask, ask.question, None)
        yield Stage("answering")
        yield from before.notices
        answer = yield from answer_alone(ask, before, self.models, model, stop)
        yield complete(answer)

    def _of_several(self, question: str, wanted: Query) -> Generator[Event, None, Answer | None]:
        """What each of several documents that a question names says.

        None if it names one, or if only one of them answers.
        """
        groups = self.finder.groups(wanted)
        if len(groups) < 2:
            return None
        hits = self.several.hits(wanted, groups)
        lacking = left_out(wanted.asked, known_terms(self.library, wanted.asked, wanted.names))
        try:
            found = self.several.answer(question, wanted, groups, hits, compares=not lacking)
        except (KeyError, IndexError):  # a page was erased meanwhile
            return None
        if not found:
            return None
        yield from map(Notice, lacking)
        yield from self._coming(wanted.names, hits)
        return replace(found, considered=tuple(hits))

    def _coming(self, names: Sequence[str], hits: Sequence[Hit]) -> Iterator[Notice]:
        """What is still to be read of the documents that were chosen, or else whose pages are used."""
        coming = pending_content(self.library, names, {hit.version for hit in hits})
        if coming:
            yield coming

    def _prompts(self, ask: Ask, request: Request, asked: PromptedQuestion, model: LLM) -> ModelPrompts:
        """What its owner's chat model is sent for a question."""
        request = replace(
            request,
            doubt=self.answering.doubt(asked) if request.hits else "",
            worked_out=asked.computed,
            today=time.strftime("%Y-%m-%d"),
        )
        reachable = self._reach(ask, request.hits) if self._may_look(ask, model) else ""
        return ModelPrompts(model, ask, request, reachable, self.models, self.lookups, self.tools)

    def _may_look(self, ask: Ask, model: LLM | None) -> bool:
        """Whether a model can look further in documents."""
        can_call = model is not None and model.calls_tools
        return ask.documents and can_call and bool(self.library.scope(ask.names))

    def _reach(self, ask: Ask, hits: Sequence[Hit]) -> str:
        """What a prompt says of the documents that can be looked into, with headings where no page was
        found.
        """
        titled = self.lookups.titled(ask.names)
        lines = [reach(titled, MOST_NAMED)]
        if not hits:
            for name, _, _ in titled[:MOST_OUTLINED]:
                found = self.lookups.outline(GetOutline(document=name), ask.names)
                lines += [
                    f"Headings of {name}:",
                    *(f"page {one.page}: {one.title}" for one in found.headings),
                ]
        return with_inert_keys("\n".join(lines))

    def _told(self, outcome: Reranked | Rewritten, owner: str) -> Iterator[Notice]:
        """The notice on a call beside the answer.

        If the call took too long, it adds that there is none for a while.
        """
        notice = outcome.notice
        if not notice:
            return
        if outcome.late and self.models.found_slow(owner):
            yield Notice(f"{notice.text} {NOT_ASKED}", notice.hint)
        else:
            yield notice

    def _room(self, ask: Ask, request: Request) -> int:
        """How many pages of a document that is asked for as a whole its owner's chat model gets."""
        tokens = self.models.prompt_tokens(ask.owner) - size_of_conversation(request)
        return max(1, min(MOST_OF_WHOLE, tokens // PAGE_TOKENS))

    def _for_model(self, ask: Ask, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        """The pages that a chat model gets: those that answer without one, and of a comparison as many of
        each side.
        """
        if not ask.documents:
            return list(hits)
        stored = [hit for hit in hits if not hit.external]
        return self._beside_texts(ask, query, self.finder.beside(query, stored))

    def _beside_texts(self, ask: Ask, query: Query, pages: Sequence[Hit]) -> list[Hit]:
        """The pages, with the texts that came with the question among them."""
        if not ask.texts:
            return list(pages)
        return with_texts(pages, ask.texts, query.asked.subject, self.answering.likeness(query.vector))

    def _completed(
        self, question: str, exchanges: tuple[Exchange, ...], ask: Ask, stop: Callable[[], bool]
    ) -> Generator[Event, None, str]:
        """The query; of a follow-up in the chat model's words if that is switched on."""
        model = self.models.rewriting(ask.owner) if exchanges else None
        if model is None:
            return standalone_query(question, exchanges, ask.names)
        rewritten = rewrite(question, exchanges, model, documents=ask.names, stop=stop)
        yield from self._told(rewritten, ask.owner)
        return rewritten.query

    def _remembered(self, rated: FeedbackRerank, prompt: Prompt) -> str:
        """The remembered answer, "" if there is none or if it does not pass a new check."""
        text = rated.text(prompt)
        if text and is_sound(self.answering.checked(prompt, text, "extractive")):
            return text
        return ""

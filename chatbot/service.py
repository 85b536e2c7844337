"""The chatbot as one object that every shell calls: adding, searching, asking; holds no user's state."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chatbot.answer.citations import check_answer
from chatbot.answer.extractive import extract_answer
from chatbot.answer.pages import forget_pages
from chatbot.answer.prompt import NOT_THERE, Request, build_prompt
from chatbot.errors import ModelError, NotFoundError, QuestionError
from chatbot.memory.conversations import Conversations
from chatbot.records import Answer, Citation, DocumentRow, Event, Exchange, Hit, Notice, PageRef, Prompt, Stage, Token
from chatbot.search.refusal import REASONS, why_not
from chatbot.search.retrieval import Query, Retriever
from chatbot.search.rewrite import standalone_query
from chatbot.settings import Settings
from chatbot.store.embedders import Embedder, make_embedder
from chatbot.store.library import AddResult, Library, Upload
from chatbot.store.names import known_as
from chatbot.tokens import encodable
from ingestion.reader import Reader
from ingestion.records import PageReport, Rect
from ingestion.render import confidence_of, locate_quote

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatbot.models import LLM

__all__ = ["LONGEST_QUESTION", "Ask", "Chatbot"]

# A longer question is a document: it should be added, not asked. 60,000 characters are embedded in 60 windows, within two seconds.
LONGEST_QUESTION = 60_000
# Pages that reach the prompt, as in the seed.
PAGES_IN_PROMPT = 3
NEAREST = 3
# Fingerprints of the embedder whose cosines the thresholds of refusal were taken from.
CALIBRATED = "minilm-"


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with its circumstances. names: documents to stay in, () for all. history: exchanges to use instead of a
    conversation's. conversation: id, None to remember nothing. owner: whose conversation it is."""

    question: str
    names: tuple[str, ...] = ()
    conversation: str | None = None
    history: tuple[Exchange, ...] | None = None
    owner: str = "local"


class Chatbot:
    """Documents in, page-cited answers out. Opens the store and is its one owner until closed; safe from several threads."""

    def __init__(self, settings: Settings, *, embedder: Embedder | None = None, model: LLM | None = None) -> None:
        """embedder, model: default to what the settings choose. Raises StoreError (see Library) and SettingsError."""
        self.settings = settings
        self._model = model
        self._model_chosen = model is not None
        self.library = Library(settings, embedder or make_embedder(settings))
        try:
            self.conversations = Conversations(settings.store / "conversations.sqlite3")
        except BaseException:
            self.library.close()
            raise
        self._retriever = Retriever(self.library)

    def close(self) -> None:
        """Give the store free."""
        self.conversations.close()
        self.library.close()

    def __enter__(self) -> Chatbot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- documents ----------------------------------------------------------------------------------------------------------

    def documents(self) -> list[DocumentRow]:
        """All documents, removed ones that can be restored among them."""
        return self.library.documents()

    def add(
        self,
        uploads: Sequence[Upload],
        *,
        progress: Callable[[str, str, int, int], None] = lambda document, phase, done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
        started: float | None = None,
    ) -> Iterator[AddResult]:
        """Add files; see Library.add. progress(document, phase, done, total): phase "reading", "ocr" or "embedding"."""
        yield from self.library.add(uploads, progress=progress, cancelled=cancelled, started=started)

    def remove(self, name: str, *, purge: bool = False) -> None:
        """Hide a document, or erase it; see Library.remove. Hiding does not wait for an addition that is under way."""
        self.library.remove(known_as(encodable(name)), purge=purge)
        if purge:
            forget_pages()

    def restore(self, name: str) -> None:
        """Bring a removed document back."""
        self.library.restore(known_as(encodable(name)))

    def resume(
        self,
        *,
        progress: Callable[[str, str, int, int], None] = lambda document, phase, done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[AddResult]:
        """Finish what an earlier process left; see Library.resume. progress, cancelled: as in add."""
        return self.library.resume(progress=progress, cancelled=cancelled)

    def report(self, name: str) -> list[PageReport]:
        """How each page of a live document fared."""
        return self.library.catalog.report(next(iter(self.library.scope([name]))))

    # --- searching and asking -----------------------------------------------------------------------------------------------

    def search(self, text: str, *, names: Sequence[str] = (), mode: str = "hybrid", k: int = 3, raw: bool = False) -> list[Hit]:
        """The best pages for a query, at most k, one hit a page; with `raw` the k nearest chunks instead. Raises QuestionError, NotFoundError, ModelError."""
        query = _checked(text)
        vector = self._vector(query) if raw or mode != "keyword" else None
        if raw and vector is not None:
            return self._retriever.raw(vector, names, k)
        return self._retriever.search(Query(query, vector, tuple(names), mode, k))

    def standalone(self, question: str, history: Sequence[Exchange]) -> str:
        """The query that is searched for a question after these exchanges."""
        return standalone_query(_checked(question), history)

    def ask(self, ask: Ask, *, stop: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Answer a question: stages, tokens and notices as they come, and the Answer last. Closing the generator stops the work.

        Raises QuestionError, NotFoundError. A failing chat model is a Notice, and the answer is then the extractive one, with `error` set.
        """
        started = time.perf_counter()
        question = _checked(ask.question)
        self.library.scope(ask.names)
        exchanges = self._exchanges(ask)
        yield Stage("searching")
        query = standalone_query(question, exchanges)
        vector, notice = self._vector_or_notice(query)
        if notice:
            yield notice
        hits = self._retriever.search(Query(query, vector, ask.names, "hybrid" if vector is not None else "keyword", PAGES_IN_PROMPT))
        prompt = build_prompt(Request(question, query, hits, exchanges, (), secrets.token_hex(3), self.settings.context_tokens))
        reason = (
            why_not(hits, calibrated=self.library.embedder.fingerprint.startswith(CALIBRATED)) if self.library.catalog.active() else "no_documents"
        )
        answer = self._refusal(prompt, reason) if reason else (yield from self._answer(prompt, stop))
        answer = replace(answer, considered=tuple(hits), conversation=ask.conversation, fingerprint=self.library.embedder.fingerprint)
        if ask.conversation is not None:
            self._remember(ask, answer)
        yield replace(answer, seconds=round(time.perf_counter() - started, 3))

    def page_image(self, version: int, page: int, quote: str = "", *, dpi: int = 110, password: str | None = None) -> tuple[bytes, tuple[Rect, ...]]:
        """(PNG of the page, rectangles over `quote`, empty where it is not found). page: physical, 1-based. Raises DocumentError,
        NotFoundError, and EncryptedError where the file needs a password, which is never stored."""
        try:
            stored = self.library.catalog.page(version, page)
        except KeyError as error:
            raise NotFoundError("That page is not kept any more.", hint="Add the document again.") from error
        with Reader(self.library.file(version), password=password) as reader:
            glyphs = [(word.text, word.box) for word in stored.words] if stored.method == "ocr" else reader.glyphs(page) if quote else []
            # What was read from a picture on a page of text is not among the characters of the file.
            glyphs += [(word.text, word.box) for word in stored.words] if stored.method == "text+ocr" else []
            return reader.png(page, dpi=dpi), locate_quote(glyphs, quote) if quote else ()

    def model(self) -> LLM | None:
        """The chat model that the settings choose, None for extractive answers."""
        if not self._model_chosen:
            from chatbot.models import make_model

            self._model, self._model_chosen = (make_model(self.settings) if self.settings.chat_model else None), True
        return self._model

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _exchanges(self, ask: Ask) -> tuple[Exchange, ...]:
        if ask.history is not None:
            return ask.history
        return tuple(self.conversations.window(ask.conversation, ask.owner)) if ask.conversation else ()

    def _vector(self, query: str) -> NDArray[np.float32]:
        """The unit vector of a query; of one longer than the embedder takes, the mean over its windows."""
        mean = self.library.embedder.embed(self.library.embedder.split(query)).mean(axis=0)
        unit: NDArray[np.float32] = mean / max(float((mean @ mean) ** 0.5), 1e-9)
        return unit

    def _vector_or_notice(self, query: str) -> tuple[NDArray[np.float32] | None, Notice | None]:
        waiting = self.library.without_vectors()
        try:
            vector = self._vector(query)
        except ModelError as error:
            return None, Notice(f"Searched by words alone: {error.message}", error.hint)
        if waiting:
            names = ", ".join(sorted({version.document for version in waiting})[:3])
            return vector, Notice(f"Still being indexed, found by words alone so far: {names}.", "Ask again in a minute for the best pages.")
        return vector, None

    def _answer(self, prompt: Prompt, stop: Callable[[], bool]) -> Generator[Event, None, Answer]:
        yield Stage("answering")
        model = self.model()
        if model is None:
            return (yield from self._extractive(prompt))
        said: list[str] = []
        reply = model.stream(prompt.messages, max_tokens=self.settings.answer_tokens, stop=stop)
        try:
            for piece in reply:
                said.append(piece)
                yield Token(piece)
        except ModelError as error:
            partial = f" It had said: “{''.join(said)}”." if said else ""
            yield Notice(error.message + partial, error.hint)
            fallback = yield from self._extractive(prompt)
            return replace(fallback, error=str(error))
        finally:
            reply.close()
        if reply.finish != "stop":
            reason = "You stopped the answer." if reply.finish == "stopped" else "The answer reached its token limit and lacks its end."
            yield Notice(reason, "" if reply.finish == "stopped" else "Raise FINPOLICY_ANSWER_TOKENS.")
        yield Stage("checking")
        text = "".join(said)
        if NOT_THERE.casefold() in text.casefold()[: 4 * len(NOT_THERE)]:
            return replace(self._refusal(prompt, "not_in_excerpts"), text=text, model=model.name)
        return self._checked_answer(prompt, text, model.name)

    def _extractive(self, prompt: Prompt) -> Generator[Event, None, Answer]:
        text = extract_answer(prompt)
        if not text:
            return self._refusal(prompt, "not_in_excerpts")
        yield Token(text)
        return self._checked_answer(prompt, text, "extractive")

    def _checked_answer(self, prompt: Prompt, text: str, model: str) -> Answer:
        shown, citations, numbers = check_answer(text, prompt)
        sure = tuple(self._with_confidence(citation) for citation in citations)
        return Answer(prompt.question, prompt.search_query, shown, True, citations=sure, numbers=numbers, prompt=prompt, model=model)

    def _with_confidence(self, citation: Citation) -> Citation:
        """The citation with how surely its own words were read, where OCR read them, rather than its page as a whole."""
        if citation.confidence is None or citation.version is None or citation.page is None or citation.start < 0:
            return citation
        try:
            words = self.library.catalog.page(citation.version, citation.page).words
        except KeyError:  # erased meanwhile
            return citation
        return replace(citation, confidence=confidence_of(words, citation.start, citation.end))

    def _refusal(self, prompt: Prompt, reason: str) -> Answer:
        nearest = tuple(PageRef(hit.document, hit.page, hit.page_label) for hit in prompt.sources.values())[:NEAREST]
        text = f"Not in these documents. {REASONS[reason]}" if reason != "no_documents" else REASONS[reason]
        return Answer(prompt.question, prompt.search_query, text, False, reason=reason, nearest=nearest, prompt=prompt)

    def _remember(self, ask: Ask, answer: Answer) -> None:
        conversation = self.conversations.begin(ask.owner, ask.conversation)
        self.conversations.append(conversation, Exchange(answer.question, answer.text))


def _checked(question: str) -> str:
    """The question without surrounding space. Raises QuestionError where it is empty or too long."""
    question = question.strip()
    if not any(map(str.isalnum, question)):
        raise QuestionError("The question is empty.", hint="Ask something about the documents.")
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(
            f"The question has {len(question):,} characters.", hint=f"Ask in at most {LONGEST_QUESTION:,}, or add the text as a document."
        )
    return encodable(question.replace("\x00", " "))

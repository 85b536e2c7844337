"""Offers a store of documents as one object: its documents, questions, comparisons and conversations."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, TypeVar

from chatbot.asking.named_models import model_settings
from chatbot.errors import DocumentError, EncryptedError, NotFoundError, StoreError, UsageError
from chatbot.records import document_id
from chatbot.settings import load_settings
from finpolicy.connection import HERE, STOP, CallStop, StoreConnection
from finpolicy.results import (
    AddedFile,
    AuditCheck,
    AuditVerification,
    KeyFigureTable,
    PolicyAnswer,
    PolicyComparison,
    PolicyDocument,
    PolicyEvent,
    PolicyExchange,
    PolicyHit,
    made,
)

__all__ = ["FinPolicy", "PolicyConversation"]

Self = TypeVar("Self")
Given = ParamSpec("Given")
Found = TypeVar("Found")
# An address, also one whose "http://" is forgotten.
ADDRESS = re.compile(r"\w+://|[\w.-]+:\d+/?$")


async def _in_thread(stop: CallStop, call: Callable[..., Found], *given: Any, **named: Any) -> Found:
    """Calls in a thread. A caller that is cancelled stops the call."""
    token = STOP.set(stop)
    try:
        return await asyncio.to_thread(call, *given, **named)
    except asyncio.CancelledError:
        stop.stop()
        raise
    finally:
        STOP.reset(token)


def _awaited(
    method: Callable[Concatenate[Self, Given], Found],
) -> Callable[Concatenate[Self, Given], Coroutine[Any, Any, Found]]:
    """Returns the twin of a method that is awaited."""

    @wraps(method)
    async def twin(self: Self, /, *given: Given.args, **named: Given.kwargs) -> Found:
        return await _in_thread(CallStop(), method, self, *given, **named)

    return twin


def _streamed(
    method: Callable[Concatenate[Self, Given], Iterator[Found]],
) -> Callable[Concatenate[Self, Given], AsyncIterator[Found]]:
    """Returns the twin of a method that yields, for `async for`."""

    @wraps(method)
    async def twin(self: Self, /, *given: Given.args, **named: Given.kwargs) -> AsyncIterator[Found]:
        stop = CallStop()
        events = method(self, *given, **named)
        try:
            while (event := await _in_thread(stop, next, events, None)) is not None:
                yield event
        finally:
            stop.stop()

    return twin


class FinPolicy:
    """A store of documents that answers questions. Several threads may use it.

    Use it in a `with`, or call `close`. Each method has a twin that is awaited, such as `ask_async`.

    connection: what the other modules of this package speak through; no part of what is promised.
    """

    def __init__(
        self, home: str | Path | None = None, model: str = "", embedding: str = "", *, key: str = ""
    ) -> None:
        """Opens a store, or connects to the server at an address.

        home: the folder of the store, by default that of the command line; or a server's address.
        model: "PROVIDER:MODEL" writes the answers, "none" leaves the documents' own words; by default as the
            settings, or the server, have it.
        embedding: as FINPOLICY_EMBEDDING_MODEL.
        key: of `finpolicy keys create`, for a server that needs one.

        Raises StoreError if another program has the store open or the server does not answer, and
        SettingsError.
        """
        served = isinstance(home, str) and ADDRESS.match(home) is not None
        if (served and embedding) or (key and not served):
            wrong, other = ("embedding", "a folder") if served else ("key", "a server")
            raise UsageError(f"{wrong} is only for {other}.", hint=f"Leave {wrong} out.")
        self._model = model if served and model else None
        if served:
            self.connection = StoreConnection.reached(str(home), key)
        else:
            folder = None if home is None else Path(home).expanduser().absolute()
            settings = load_settings(home=folder)
            settings = replace(settings, embedding_model=embedding or settings.embedding_model)
            self.connection = StoreConnection.opened(model_settings(model, settings) if model else settings)

    def __enter__(self) -> FinPolicy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> str:
        raise UsageError("An open store cannot be pickled.", hint="Open another in the other process.")

    def close(self) -> None:
        """Closes the store. May be called again."""
        self.connection.close()

    def add(self, *paths: str | Path, name: str = "", password: str = "") -> tuple[AddedFile, ...]:
        """Adds files and waits until they can be asked.

        name: what a single file is to be called, by default its file name.
        password: of those that are protected.

        Raises NotFoundError for a file that is not there, EncryptedError, and DocumentError if some cannot be
        read; all others are added then.
        """
        if name and len(paths) != 1:
            raise UsageError("A name is for one file.", hint="Add the files one by one.")
        begun = list[AddedFile]()
        for path in map(Path, paths):
            try:
                with path.open("rb") as file:
                    sent = {"files": (name or path.name, file, "application/octet-stream")}
                    (job,) = self.connection.call("POST", "documents", files=sent)
            except OSError as error:
                raise NotFoundError(
                    f"{path} cannot be read: {error.strerror}.", hint="Name a file that you can open."
                ) from error
            begun.append(made(AddedFile, job))
        ended = [self._ended(job, password) for job in begun]
        failed = [job for job in ended if job.phase != "done"]
        if failed:
            kind = EncryptedError if all(job.phase == "password" for job in failed) else DocumentError
            told = "; ".join(f"{job.name}: {job.problem or job.phase}" for job in failed)
            raise kind(told, hint="Pass its password." if kind is EncryptedError else "")
        return tuple(ended)

    def _ended(self, job: AddedFile, password: str) -> AddedFile:
        """Waits for a file, and tries the password once."""
        for attempt in range(2):
            for _, data in self.connection.events("GET", f"jobs/{job.id}/events"):
                job = made(AddedFile, data)
            if job.phase != "password" or not password or attempt:
                break
            self.connection.call("POST", f"jobs/{job.id}/password", json={"password": password})
        return job

    def documents(self) -> tuple[PolicyDocument, ...]:
        """Lists the documents, removed ones that can be restored too."""
        return tuple(made(PolicyDocument, one) for one in self.connection.call("GET", "documents"))

    def remove(self, name: str, *, purge: bool = False) -> None:
        """Hides a document for 7 days, after which it is erased; with `purge` now. Raises NotFoundError."""
        try:
            path = f"documents/{document_id(name)}"
            self.connection.call("DELETE", path, params={"purge": purge})
        except NotFoundError as error:
            raise NotFoundError(f"There is no document named {name!r}.", hint=error.hint) from error

    def search(
        self, query: str, *, k: int = 3, documents: Sequence[str] | None = None, mode: str = "hybrid"
    ) -> tuple[PolicyHit, ...]:
        """Finds the best pages, at most k. mode: "hybrid" | "vector" | "keyword"."""
        body = {"query": query, "k": k, "documents": _names(documents), "mode": mode}
        hits = self.connection.call("POST", "search", json=body)["hits"]
        return tuple(made(PolicyHit, hit, self.connection) for hit in hits)

    def ask(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        conversation: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> PolicyAnswer:
        """Answers a question. If nothing answers it, `answered` is false and `reason` says why.

        documents: names to stay in, by default all.
        conversation: an id of your choice, to remember the exchange.
        options: further fields of a question, as docs/api.md lists them, such as {"model": "none"}.

        Raises UsageError, NotFoundError, BusyError and StoreError. If the chat model fails, the answer is in
        the documents' own words, and `model_error` says why.
        """
        answer = None
        for event in self.stream(question, documents=documents, conversation=conversation, options=options):
            answer = event.answer or answer
        if answer is None:
            raise StoreError("The answer broke off.", hint="Ask again.", retryable=True)
        return answer

    def stream(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        conversation: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[PolicyEvent]:
        """Yields what comes of an answer as it is written, and the answer last. As `ask`.

        Closing the iterator stops the work.
        """
        asked = {
            "question": question,
            "documents": _names(documents),
            "conversation": conversation,
            "model": self._model,
            **(options or {}),
            "stream": True,
        }
        with closing(self.connection.events("POST", "ask", json=asked)) as events:  # type: ignore[type-var]
            for kind, data in events:
                if kind in {"answer", "marks"}:
                    for citation in data["citations"]:
                        if str(citation["url"]).startswith(HERE):  # which nobody else can open
                            citation["url"] = None
                    yield PolicyEvent(kind, answer=made(PolicyAnswer, data, self.connection))
                else:
                    yield made(PolicyEvent, {"kind": kind, **data})

    def compare(self, question: str, documents: Sequence[str], years: Sequence[str] = ()) -> PolicyComparison:
        """Asks one question of each document, and of each year, such as "2024-25". As `ask`."""
        body = {"question": question, "documents": _names(documents), "years": _names(years or None)}
        return made(PolicyComparison, self.connection.call("POST", "compare", json=body))

    def key_figures(self, documents: Sequence[str] | None = None) -> KeyFigureTable:
        """Reads revenue, income, debt and the like of documents, by default all. Raises NotFoundError."""
        params = {"document": _names(documents)}
        return made(KeyFigureTable, self.connection.call("GET", "key-figures", params=params))

    def conversation(self, id: str) -> PolicyConversation:
        """Returns a conversation by an id of your choice: up to 64 letters, digits, - and _."""
        return PolicyConversation(self, id)

    def verify(
        self, answer_file: str | Path, *, passwords: dict[str, str] | None = None
    ) -> AuditVerification:
        """Checks an audit file again, against the documents of the store, without a model.

        passwords: of protected documents, by name. Raises DocumentError for a file that is none.
        """
        from chatbot.audit.record import read_file
        from chatbot.audit.verifier import CONFIRMED, DocumentSources, verify

        file = read_file(Path(answer_file))
        record = file.record
        named = {leaf.document for leaf in record.leaves} | {source.document for source in record.sources}
        with TemporaryDirectory(prefix="finpolicy-") as temporary:
            folder = Path(temporary)
            for number, document in enumerate(self.documents()):
                if document.name in named and document.state != "removed":
                    data = self.connection.fetch("GET", f"documents/{document.id}/original")
                    (folder / f"{number}{Path(document.name).suffix}").write_bytes(data)
            sources = DocumentSources(folder, folder, passwords or {})
            checks = [AuditCheck(one.what, one.status, one.detail) for one in verify(file, sources)]
        return AuditVerification(tuple(checks), all(one.status == CONFIRMED for one in checks))

    add_async = _awaited(add)
    documents_async = _awaited(documents)
    remove_async = _awaited(remove)
    search_async = _awaited(search)
    ask_async = _awaited(ask)
    stream_async = _streamed(stream)
    compare_async = _awaited(compare)
    key_figures_async = _awaited(key_figures)
    verify_async = _awaited(verify)


class PolicyConversation:
    """A conversation: questions that are understood from those before. It is kept once something is asked."""

    def __init__(self, policy: FinPolicy, id: str) -> None:
        self._policy, self.id = policy, id

    def ask(self, question: str, *, options: Mapping[str, Any] | None = None) -> PolicyAnswer:
        """As FinPolicy.ask."""
        return self._policy.ask(question, conversation=self.id, options=options)

    def stream(self, question: str, *, options: Mapping[str, Any] | None = None) -> Iterator[PolicyEvent]:
        """As FinPolicy.stream."""
        return self._policy.stream(question, conversation=self.id, options=options)

    def exchanges(self) -> tuple[PolicyExchange, ...]:
        """Lists the questions with their answers. Raises NotFoundError before anything was asked."""
        path = f"conversations/{self.id}/exchanges"
        return tuple(made(PolicyExchange, one) for one in self._policy.connection.call("GET", path))

    def audit(self, exchange: int) -> bytes:
        """Returns an answer with all it rests on as one HTML file, for `verify`."""
        path = f"conversations/{self.id}/exchanges/{exchange}/audit"
        return self._policy.connection.fetch("GET", path)

    ask_async = _awaited(ask)


def _names(names: Sequence[str] | None) -> list[str]:
    """Returns names as a list, an empty one for all.

    Raises UsageError for a single text, which would be taken letter by letter, and for no names: a filter
    that nothing passes would ask all documents.
    """
    if names is None:
        return []
    if isinstance(names, str):
        raise UsageError(f"{names!r} is a text, not a list.", hint=f"Write [{names!r}].")
    if not names:
        raise UsageError("No documents are named.", hint="Name some, or leave `documents` out to take all.")
    return list(names)

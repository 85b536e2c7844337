"""Turns text into unit vectors, by the embedded models or any OpenAI-compatible endpoint.

Also cuts long texts into windows. No vector is stored or ranked here.
"""

from __future__ import annotations

import os
import re
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import ModelError
from chatbot.models.addresses import address_of, endpoint_host
from chatbot.models.embedded_models import MINILM, MULTILINGUAL_E5
from chatbot.models.endpoint_errors import EndpointError, explaining
from chatbot.models.endpoints import check_endpoint, open_client
from chatbot.models.onnx_encoder import DIMENSION, Encoder, EncoderSpec, graph_path
from chatbot.models.tokens import count_tokens, cut_to_tokens, encodable
from chatbot.settings import MULTILINGUAL, Settings

__all__ = [
    "CONTEXT_TOKENS",
    "LOCAL_FINGERPRINTS",
    "Embedder",
    "LocalEmbedder",
    "RemoteEmbedder",
    "SentenceVectors",
    "local_embedder",
    "make_embedder",
    "passage_windows",
    "split_text",
    "step_back",
]

# Enough for a title and a section heading. The rest of the window belongs to the passage.
CONTEXT_TOKENS = 48
# Raise it with every change to `passage_windows`. It is part of each fingerprint, because other texts give
# other vectors.
TEXT_VERSION = 1

HEADS_KEPT = 32

# OpenAI's limits for one text and for one request, which its client does not enforce.
MOST_INPUT_TOKENS = 8_191
MOST_REQUEST_TOKENS = 300_000
MOST_INPUTS = 2_048
# Four pauses of 0.5, 1, 2 and 4 s bridge a restart or a burst. Silence costs a whole time-out each time, so
# it is tried twice only.
MOST_TRIES = 5
MOST_SILENT_TRIES = 2
FIRST_PAUSE_SECONDS = 0.5

# Blanks that every tokenizer treats as white space. BERT's drops other control characters and so joins the
# words beside them.
_BLANKS = " \t\r\n"
_WORD = re.compile(rf"[^{_BLANKS}]+[{_BLANKS}]*")
# The number of sentences whose vectors are kept: those of some 300 pages take 20 MB.
MOST_SENTENCES = 10_000
# Beyond this many characters BERT's tokenizer takes a word for one unknown token, so a cut inside a word
# changes no tokens further away than that. The other model's tokens have at most 16 characters, and a cut
# moves few of them.
LONGEST_WORD = 100
# The texts a thread embeds without releasing the interpreter in between: a quarter of a second, which may
# delay an insertion into Chroma for as long.
WINDOWS_AT_ONCE = 16
# How far making many vectors yields to work that people wait for, in steps of nice.
NICENESS = 10


class Embedder(Protocol):
    """Makes vectors of texts. Several threads may call it.

    fingerprint: names model, dimension and text building. Vectors with different fingerprints must not be
        compared.
    dimension: of a vector.
    max_tokens: of a text, without the model's own special tokens.
    """

    def __hash__(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Returns unit rows of shape (len(texts), dimension), in the order of the texts.

        Each row depends only on its own text and on whether it is a query, which asks, or a passage, which
        may answer: some models treat the two differently. What exceeds max_tokens is ignored, see `split` and
        `passage_windows`. Raises ModelError.
        """
        ...

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        """Cuts the text into pieces of at most max_tokens - reserve tokens, after white space if possible.

        Joined they are the text, verbatim. A text that fits is one piece, an empty one none.

        reserve: tokens kept free, below max_tokens.
        """
        ...


def passage_windows(embedder: Embedder, context: str, text: str) -> list[str]:
    """Returns what to embed for a passage: its context, cut to CONTEXT_TOKENS, a line break, and the text.

    The best window's score counts. A text that is too long for one window is covered by its beginning and its
    end, which overlap, and by windows between them only if those two leave a gap. There is at least one
    window.
    """
    head = _head(embedder, context)

    def fits(start: int) -> bool:
        return len(embedder.split(head + text[start:])) <= 1

    if fits(0):
        return [head + text]
    pieces = embedder.split(text, reserve=CONTEXT_TOKENS + 1 if head else 0)
    words = [word.start() for word in _WORD.finditer(text)]
    longest_end = bisect_left(words, True, key=fits)
    last = min([len(text) - len(pieces[-1]), *words[longest_end : longest_end + 1]])
    starts = accumulate(map(len, pieces), initial=0)
    return [head + piece for piece, start in zip(pieces, starts, strict=False) if start < last] + [
        head + text[last:]
    ]


@lru_cache(HEADS_KEPT)
def _head(embedder: Embedder, context: str) -> str:
    """Returns the context as it stands before a passage. Consecutive chunks share it."""
    if not context.strip():
        return ""
    spare = max(embedder.max_tokens - CONTEXT_TOKENS, 0)
    return embedder.split(context, reserve=spare)[0].rstrip() + "\n"


def split_text(text: str, limit: int, tokens: Callable[[int, int], int]) -> list[str]:
    """Cuts a text into pieces of at most `limit` tokens: after blanks if possible, else inside a word.

    Joined the pieces are the text; an empty text gives [].

    tokens(start, end): tokens of text[start:end], or any number over the limit if there are more.
    limit: 1 or more (else ValueError). A single character with more tokens is a piece nevertheless.
    """
    if limit < 1:
        raise ValueError(f"{limit} tokens are too few for a text")
    if tokens(0, len(text)) <= limit:
        return [text] if text else []
    words = [word.end() for word in _WORD.finditer(text)]
    cuts = [0]
    while cuts[-1] < len(text):
        start = cuts[-1]
        first = bisect_right(words, start)

        def exceeds(end: int, start: int = start) -> bool:
            return tokens(start, end) > limit

        beyond = bisect_left(words, True, first, min(first + limit, len(words)), key=exceeds)
        if beyond > first:
            cuts.append(words[beyond - 1])
        else:
            cuts.append(start + max(bisect_left(range(start + 1, words[first]), True, key=exceeds), 1))
    return [text[start:end] for start, end in pairwise(cuts)]


def _fingerprint(spec: EncoderSpec) -> str:
    return f"{spec.name}-{spec.graph_key}-{DIMENSION}-t{TEXT_VERSION}"


# A store keeps these vectors while others are in use, so that none must be made when the model is chosen
# again.
LOCAL_FINGERPRINTS = tuple(map(_fingerprint, (MINILM, MULTILINGUAL_E5)))


class LocalEmbedder:
    """An embedded model (see `encoder`), opened at first use.

    Each text runs alone on one thread, so that its vector has the same bytes whatever is embedded with it.

    threads: how many run at once.
    cache: the folder of the built graph.
    source: the model's folder, by default that of the installed package.
    """

    dimension = DIMENSION

    def __init__(
        self, cache: Path, *, threads: int = 1, source: Path | None = None, spec: EncoderSpec = MINILM
    ) -> None:
        self._cache, self._threads, self._source, self.spec = cache, threads, source, spec
        self.fingerprint = _fingerprint(spec)
        self.max_tokens = spec.text_tokens
        self._opening = threading.Lock()
        self._opened: Encoder | None = None

    @property
    def graph(self) -> Path:
        """Where its graph is, once built."""
        return graph_path(self.spec, self._cache)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """See Embedder.embed. Raises ModelError if the model is missing, altered or cannot be built."""
        vectors = partial(self._model().vectors, query=query)
        parts = list(_parts(texts, self._threads))
        if min(len(parts), self._threads) < 2:
            rows = list(map(vectors, parts))
        else:
            with ThreadPoolExecutor(min(len(parts), self._threads), initializer=step_back) as threads:
                rows = list(threads.map(vectors, parts))
        return np.concatenate([np.empty((0, self.dimension), np.float32), *rows])

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        """See Embedder.split."""
        # Both models tokenize each word by itself, so one pass gives the tokens of any stretch that begins
        # and ends at a blank.
        token_ends = self._model().token_ends
        limit = self.max_tokens - reserve
        ends = token_ends(text)

        def tokens(start: int, end: int) -> int:
            if all(at in (0, len(text)) or text[at - 1] in _BLANKS for at in (start, end)):
                return bisect_right(ends, end) - bisect_right(ends, start)
            # Text well inside is tokenized as in the whole text. If that is already too much, the exact
            # number does not matter.
            inside = bisect_right(ends, end - LONGEST_WORD) - bisect_right(ends, start + LONGEST_WORD)
            if inside > limit:
                return inside
            return len(token_ends(text[start:end]))

        return split_text(text, limit, tokens)

    def _model(self) -> Encoder:
        with self._opening:
            self._opened = self._opened or Encoder(self.spec, self._cache, self._source)
            return self._opened


def _parts(texts: Sequence[str], threads: int) -> Iterator[Sequence[str]]:
    """Divides the texts among threads.

    First come large parts, so that threads seldom wait for the interpreter, and last small ones, so that all
    end together.
    """
    start = 0
    while start < len(texts):
        size = min(max((len(texts) - start) // (2 * threads), 1), WINDOWS_AT_ONCE)
        yield texts[start : start + size]
        start += size


class RemoteEmbedder:
    """The embedding model of the settings, at any OpenAI-compatible endpoint.

    Tokens are counted as OpenAI's models do, which is an estimate for other models. Busy, failing and
    unreachable endpoints are tried five times, silent ones twice. Raises ModelError if the endpoint must not
    be contacted.

    pause: seconds before the first repeat, doubled for each further one. The endpoint's own Retry-After takes
        precedence.
    """

    max_tokens = MOST_INPUT_TOKENS

    def __init__(self, settings: Settings, *, pause: float = FIRST_PAUSE_SECONDS) -> None:
        # FINPOLICY_PROVIDER is that of the chat model.
        settings = replace(settings, provider="")
        check_endpoint(address_of(settings).base, settings)
        self._settings, self._pause = settings, pause
        self._host, self._name = endpoint_host(settings), settings.embedding_model
        self._dimension = settings.embedding_dimension
        self._asking = threading.Lock()
        # Remembered between processes, so that opening a store needs no endpoint.
        self._memory = settings.model_cache / re.sub(
            r"[^\w.]+", "-", f"dimension-{self._host}-{self._name}.txt"
        )

    @property
    def fingerprint(self) -> str:
        """Names host, model and dimension. May ask the endpoint for the dimension."""
        return f"{self._host}-{self._name}-{self.dimension}-t{TEXT_VERSION}"

    @property
    def dimension(self) -> int:
        """The dimension of the settings, else that of the endpoint's vectors. Raises ModelError.

        The endpoint is asked once, and the model cache remembers its answer.
        """
        with self._asking:
            if not self._dimension:
                with suppress(OSError, ValueError):
                    self._dimension = int(self._memory.read_text())
            self._dimension = self._dimension or self._ask_dimension()
            return self._dimension

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """See Embedder.embed; a query is embedded like any text.

        Raises ModelError if the endpoint fails, or does not send vectors of this dimension.
        """
        parts = [np.empty((0, self.dimension), np.float32)]
        # Endpoints refuse an empty text, but not a blank.
        cut = [cut_to_tokens(encodable(text), MOST_INPUT_TOKENS, self._name) or " " for text in texts]
        with open_client(self._settings) as client:
            for batch in _batches(cut, [count_tokens(text, self._name) for text in cut]):
                parts.append(self._vectors(client, batch))
                self._check_dimension(parts[-1].shape[1])
        return np.concatenate(parts)

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        """See Embedder.split."""
        return split_text(
            text, self.max_tokens - reserve, lambda start, end: count_tokens(text[start:end], self._name)
        )

    def _ask_dimension(self) -> int:
        with open_client(self._settings) as client:
            dimension = int(self._vectors(client, ["dimension"]).shape[1])
        with suppress(OSError):  # if it cannot be remembered, each process asks
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            self._memory.write_text(str(dimension))
        return dimension

    def _check_dimension(self, found: int) -> None:
        if found != self._dimension:
            with suppress(OSError):
                self._memory.unlink(missing_ok=True)
            hint = f"Set FINPOLICY_EMBEDDING_DIMENSION to {found}, or restart if the model was changed."
            raise ModelError(
                f"{self._host} sent vectors of {found} dimensions instead of {self._dimension}.", hint=hint
            )

    def _vectors(self, client: Any, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns unit rows in the order of the texts, in whatever dimension came."""
        reply = self._reply(client, texts)
        try:
            return _rows(reply, len(texts))
        except (LookupError, TypeError, ValueError):
            message = f"{self._host} did not send a usable vector for each of {len(texts)} texts."
            raise ModelError(message, hint="Check FINPOLICY_EMBEDDING_MODEL and OPENAI_BASE_URL.") from None

    def _reply(self, client: Any, texts: Sequence[str]) -> object:
        body: dict[str, Any] = {"model": self._name, "input": list(texts), "encoding_format": "float"}
        if self._settings.embedding_dimension:
            body["dimensions"] = self._settings.embedding_dimension
        tries, pause = 0, self._pause
        while True:
            tries += 1
            try:
                # Raw JSON: the client's own types accept any shape and fail later.
                with explaining(self._settings, "FINPOLICY_EMBEDDING_MODEL"):
                    return client.post("/embeddings", body=body, cast_to=object)
            except EndpointError as failure:
                most = MOST_TRIES if failure.wait is not None else 1
                if tries >= (MOST_SILENT_TRIES if failure.kind == "silent" else most):
                    raise
                time.sleep(failure.wait or pause)
            pause *= 2


class SentenceVectors:
    """Makes vectors of single sentences on demand, and keeps those of the last pages.

    Several threads may call it.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, NDArray[np.float32]] = {}

    def asked(self, text: str) -> NDArray[np.float32]:
        """Returns the unit vector of a query, (dimension,). Raises ModelError."""
        vector: NDArray[np.float32] = self._embedder.embed([text], query=True)[0]
        return vector

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns unit rows of shape (len(texts), dimension), made as for passages. Raises ModelError."""
        if len(self._kept) > MOST_SENTENCES:
            self.forget()
        kept = self._kept  # which is another one once a document was erased meanwhile
        missing = [text for text in dict.fromkeys(texts) if text not in kept]
        if missing:
            kept.update(zip(missing, self._embedder.embed(missing), strict=True))
        rows = np.array([kept[text] for text in texts], np.float32)
        return rows.reshape(len(texts), self._embedder.dimension)

    def forget(self) -> None:
        """Drops all that was kept, after a document was erased."""
        self._kept = {}


def step_back() -> None:
    """Lowers the thread's priority in favour of questions. On Linux each thread has its own priority."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def make_embedder(settings: Settings) -> RemoteEmbedder | LocalEmbedder:
    """Returns the endpoint's model if the settings name one, else the embedded one. Raises ModelError.

    Loads nothing and connects to nothing.
    """
    if settings.embeds_here:
        return local_embedder(settings)
    return RemoteEmbedder(settings)


def local_embedder(settings: Settings) -> LocalEmbedder:
    """Returns the embedded model of the settings; MiniLM if they name an endpoint's model."""
    spec = MULTILINGUAL_E5 if settings.embedding_model == MULTILINGUAL else MINILM
    return LocalEmbedder(settings.model_cache, threads=settings.threads, spec=spec)


def _batches(texts: Sequence[str], tokens: Sequence[int]) -> Iterator[Sequence[str]]:
    """Groups consecutive texts within the limits of one request. tokens: of each text."""
    start = total = 0
    for end, more in enumerate(tokens):
        if end - start == MOST_INPUTS or total + more > MOST_REQUEST_TOKENS:
            yield texts[start:end]
            start, total = end, 0
        total += more
    if start < len(texts):
        yield texts[start:]


def _rows(reply: object, count: int) -> NDArray[np.float32]:
    """Returns the reply's vectors in order of their index, as unit vectors.

    Raises LookupError, TypeError or ValueError if the reply is not of that form.
    """
    data = reply["data"] if isinstance(reply, dict) else []
    vectors = {item["index"]: item["embedding"] for item in data}
    rows = np.array([vectors[index] for index in range(count)], np.float64)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if rows.ndim != 2 or len(data) != count or not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ValueError("no unit vectors can be made of this")
    return np.asarray(rows / lengths, np.float32)

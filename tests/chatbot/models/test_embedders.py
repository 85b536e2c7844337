"""Embedders: the contract of all of them, the local model against its own float32 arithmetic, endpoints
that misbehave.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.errors import ModelError
from chatbot.models.embedded_models import MINILM, MULTILINGUAL_E5
from chatbot.models.embedders import (
    CONTEXT_TOKENS,
    Embedder,
    LocalEmbedder,
    RemoteEmbedder,
    make_embedder,
    passage_windows,
)
from chatbot.models.onnx_encoder import graph_path
from chatbot.models.tokens import count_tokens
from chatbot.settings import Settings
from tests.embedding_server import EmbeddingServer, Fault, Rows
from tests.fakes import HashEmbedder
from tests.float_encoder import FloatModel
from tests.models import needs_multilingual, source_of
from tests.provider import Drip, Provider

KEY = "sk-test-0123456789abcdef"
SENTENCE = "The fiscal deficit is estimated at 4.4 per cent of GDP in 2025-26."
# About 500 BERT tokens: too long for one window of the local model, short enough for two.
LONG = " ".join(
    f"Outlay {number} of the ministry was {number * 7}.{number % 10} crore rupees.\n" for number in range(32)
)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model cache of the tests' own, where the graph is built once."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def local(cache: Path) -> LocalEmbedder:
    return LocalEmbedder(cache, threads=2)


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


def remote_settings(server: EmbeddingServer, cache: Path, **given: Any) -> Settings:
    return Settings(
        **{
            "embedding_model": "test-model",
            "base_url": server.url,
            "api_key": KEY,
            "timeout": 5.0,
            "model_cache": cache,
            **given,
        }
    )


def remote(server: EmbeddingServer, cache: Path, **given: Any) -> RemoteEmbedder:
    """With its dimension set, so that the first request is the test's own."""
    return RemoteEmbedder(remote_settings(server, cache, **{"embedding_dimension": 64, **given}), pause=0.01)


@pytest.fixture(scope="session")
def multilingual(cache: Path) -> LocalEmbedder:
    return LocalEmbedder(cache, threads=2, spec=MULTILINGUAL_E5)


@pytest.fixture(params=["local", pytest.param("multilingual", marks=needs_multilingual), "remote", "hash"])
def embedder(request: pytest.FixtureRequest, server: EmbeddingServer, tmp_path: Path) -> Embedder:
    if request.param in ("local", "multilingual"):
        made: Embedder = request.getfixturevalue(request.param)
        return made
    return remote(server, tmp_path, embedding_dimension=0) if request.param == "remote" else HashEmbedder()


def test_vectors_are_unit_rows_in_order(embedder: Embedder) -> None:
    vectors = embedder.embed([SENTENCE, "gift rules", SENTENCE])
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, embedder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.allclose(vectors[0], vectors[1])


def test_a_text_has_the_same_bytes_alone_and_among_others(embedder: Embedder) -> None:
    others = [LONG[start : start + 40 * start + 1] for start in range(32)]
    together = embedder.embed([*others[:20], SENTENCE, *others[20:]])
    assert embedder.embed([SENTENCE])[0].tobytes() == together[20].tobytes()


def test_the_fingerprint_names_the_dimension_and_stays(embedder: Embedder) -> None:
    assert str(embedder.dimension) in embedder.fingerprint
    assert embedder.fingerprint == embedder.fingerprint


def test_what_fits_is_one_piece_and_nothing_is_none(embedder: Embedder) -> None:
    assert embedder.split(SENTENCE) == [SENTENCE]
    assert embedder.split(" ") == [" "]
    assert embedder.split("") == []


def test_pieces_cover_the_text_end_after_blanks_and_fit(embedder: Embedder) -> None:
    reserve = embedder.max_tokens - 30
    pieces = embedder.split(LONG, reserve=reserve)
    assert "".join(pieces) == LONG
    assert all(piece[-1].isspace() for piece in pieces)
    assert all(embedder.split(piece, reserve=reserve) == [piece] for piece in pieces)
    # None was cut short for no reason: with the next word it would not have fitted.
    longer = [one + "".join(re.findall(r"^\S+\s+", two)) for one, two in pairwise(pieces)]
    assert all(len(embedder.split(piece, reserve=reserve)) > 1 for piece in longer)


def test_a_reserve_that_leaves_no_room_is_an_error(embedder: Embedder) -> None:
    with pytest.raises(ValueError, match="too few for a text"):
        embedder.split(SENTENCE, reserve=embedder.max_tokens)


def words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def test_a_passage_that_is_too_long_becomes_its_beginning_and_its_end() -> None:
    small = HashEmbedder(max_tokens=60)
    first, last = passage_windows(small, "", words(100))
    assert first.split() == [f"w{number}" for number in range(60)]
    assert last.split() == [f"w{number}" for number in range(40, 100)]


def test_a_context_is_cut_and_stands_before_each_window() -> None:
    windows = passage_windows(HashEmbedder(max_tokens=100), "title " * 80, words(90))
    assert len(windows) == 2
    assert all(window.startswith("title " * (CONTEXT_TOKENS - 1) + "title\nw") for window in windows)
    assert all(len(window.split()) <= 100 for window in windows)


@settings(max_examples=60)
@given(
    text=st.text(st.sampled_from("aé한½.1 \n\t\x0c\x85\u200b\ud800🙂Zz,-"), max_size=300)
    | st.text(max_size=200),
    room=st.integers(4, 40),
)
def test_any_text_is_cut_without_loss_and_to_size(local: LocalEmbedder, text: str, room: int) -> None:
    pieces = local.split(text, reserve=local.max_tokens - room)
    assert "".join(pieces) == text
    assert all(pieces)
    counts = [
        len(tokenizer().encode(piece.encode("utf-8", "replace").decode(), add_special_tokens=False).ids)
        for piece in pieces
    ]
    assert max(counts, default=0) <= room


def tokenizer() -> Any:
    """The model's own, by a path of its own."""
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(source_of(MINILM) / "tokenizer.json"))
    made.no_truncation()
    made.no_padding()
    return made


# First values of float32 vectors. The first three of the first sentence are also printed in the model's
# published examples.
GOLDEN = {
    "This is an example sentence": [0.06766, 0.0635, 0.04871, 0.0793, 0.03745, 0.00265, 0.03938, -0.0071],
    SENTENCE: [0.05115, -0.02152, -0.00045, -0.00293, -0.04047, 0.05455, -0.07619, 0.02884],
    "The Committee decided to keep the policy repo rate unchanged at 6.50 per cent.": [
        *(-0.0402, -0.05873, -0.05548, 0.00136, 0.04095, -0.01636, -0.03255, -0.03994),
    ],
    (
        "Any employee who receives a gift worth more than $100 must report it to the ethics office within "
        "ten days."
    ): [
        *(-0.04429, 0.15827, -0.0098, -0.05281, -0.04111, 0.00275, -0.011, -0.00759),
    ],
}


def test_vectors_are_those_of_the_float_model(local: LocalEmbedder) -> None:
    from safetensors.numpy import load_file

    model = FloatModel(load_file(source_of(MINILM) / "model.safetensors"), tokenizer(), 6)
    wanted = np.array([model.vector(text) for text in GOLDEN])
    assert np.allclose(wanted[:, :8], list(GOLDEN.values()), atol=2e-5)
    made = local.embed(list(GOLDEN))
    assert (made * wanted).sum(axis=1).min() >= 0.99
    assert np.abs(made - wanted).max() < 0.02


@pytest.mark.parametrize(
    ("said", "same", "other"),
    [
        (
            "The budget shortfall shrank to 3.2 percent of output.",
            "The fiscal deficit narrowed to 3.2 per cent of GDP.",
            "Gifts must be reported.",
        ),
        (
            "The central bank left its key rate unchanged.",
            "The Committee kept the policy repo rate at 6.50 per cent.",
            "Floods hit palm oil.",
        ),
        (
            "Staff have to disclose presents above $100.",
            "Employees who receive a gift of $100 must report it.",
            "Growth is put at 7.2 per cent.",
        ),
        (
            "Revenue from taxes rose faster than expected.",
            "Tax collections exceeded the estimates.",
            "The Chair met the press.",
        ),
    ],
    ids=["deficit", "rates", "gifts", "taxes"],
)
def test_a_paraphrase_is_nearer_than_another_subject(
    local: LocalEmbedder, said: str, same: str, other: str
) -> None:
    vectors = local.embed([said, same, other])
    assert vectors[0] @ vectors[1] > 0.25 + vectors[0] @ vectors[2]


def test_the_settings_choose_the_local_model(cache: Path) -> None:
    made = make_embedder(Settings(model_cache=cache, api_key=KEY, offline=True))
    assert isinstance(made, LocalEmbedder)
    assert (made.dimension, made.max_tokens) == (384, 254)
    assert made.fingerprint.startswith("minilm-53aa51172d14-")


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, chatbot.models.embedders; print({'onnx', 'onnxruntime', 'openai', 'safetensors', "
        "'tokenizers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.timed
def test_a_long_text_without_blanks_is_split_as_one_token_at_a_time_would_and_in_time(
    local: LocalEmbedder,
) -> None:
    text = "".join(chr(0x4E00 + index * 7_919 % 18_000) for index in range(20_000))
    started = time.perf_counter()
    pieces = local.split(text)
    took = time.perf_counter() - started
    assert pieces == [text[at : at + local.max_tokens] for at in range(0, len(text), local.max_tokens)]
    assert took < 5  # reading the rest at each cut takes ten times as long


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the model's folder that may be spoilt."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in MINILM.files:
        shutil.copy(source_of(MINILM) / name, folder)
    return folder


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_an_altered_model_file_is_refused(source: Path, tmp_path: Path, name: str) -> None:
    with (source / name).open("r+b") as file:
        file.seek(100_000)
        file.write(b"tampered")
    with pytest.raises(ModelError, match=rf"{name}.* is not the expected one.*chatbot setup"):
        LocalEmbedder(tmp_path / "cache", source=source).embed([SENTENCE])
    assert not list(tmp_path.glob("cache/*.onnx"))


def test_a_missing_model_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.json.*chatbot setup"):
        LocalEmbedder(tmp_path, source=tmp_path).embed([SENTENCE])


def test_a_missing_package_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no-such-model.*not installed.*chatbot setup"):
        LocalEmbedder(tmp_path, spec=replace(MINILM, package="no_such_model")).embed([SENTENCE])


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match=r"file'.*cannot be written.*FINPOLICY_MODEL_CACHE"):
        LocalEmbedder(tmp_path / "file").embed([SENTENCE])


@pytest.mark.parametrize("damage", [b"", b"not a graph"], ids=["empty", "garbage"])
def test_a_damaged_graph_is_built_anew(
    cache: Path, local: LocalEmbedder, tmp_path: Path, damage: bytes
) -> None:
    graph_path(MINILM, tmp_path).write_bytes(damage)
    assert np.array_equal(LocalEmbedder(tmp_path).embed([SENTENCE]), local.embed([SENTENCE]))


def test_two_processes_build_at_once(tmp_path: Path, root: Path) -> None:
    environment = {**os.environ, "FINPOLICY_MODEL_CACHE": str(tmp_path / "models")}
    command = [sys.executable, "-m", "chatbot", "setup"]
    running = [
        subprocess.Popen(
            command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    graph = graph_path(MINILM, tmp_path / "models")
    assert all(out.endswith(f": {graph}\n") and not err for out, err in said), said
    assert list((tmp_path / "models").iterdir()) == [graph]


def test_building_ahead_tells_what_is_wrong_in_one_line(tmp_path: Path, root: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    environment = {**os.environ, "FINPOLICY_MODEL_CACHE": str(tmp_path / "file")}
    command = [sys.executable, "-m", "chatbot", "setup"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "FINPOLICY_MODEL_CACHE" in done.stderr


def failing(embedder: RemoteEmbedder) -> ModelError:
    """The error of embedding two texts; whatever it was, the key is not in it."""
    with pytest.raises(ModelError) as caught:
        embedder.embed([SENTENCE, "gift rules"])
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


def test_a_request_carries_what_the_settings_say(tmp_path: Path) -> None:
    with EmbeddingServer() as server:
        vectors = remote(server, tmp_path, embedding_dimension=32).embed([SENTENCE])
        (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "test-model",
        "input": [SENTENCE],
        "encoding_format": "float",
        "dimensions": 32,
    }
    assert np.array_equal(vectors, HashEmbedder(dimension=32).embed([SENTENCE]))


def test_the_dimension_is_asked_once_and_remembered(tmp_path: Path) -> None:
    with EmbeddingServer(dimension=48) as server:
        settings = remote_settings(server, tmp_path / "cache")
        first = make_embedder(settings)
        assert isinstance(first, RemoteEmbedder)
        assert server.requests == []
        assert (first.dimension, first.dimension) == (48, 48)
        assert f"127.0.0.1:{server.url.split(':')[2][:-3]}-test-model-48" in first.fingerprint
        assert RemoteEmbedder(settings).dimension == 48
        assert len(server.requests) == 1
        assert "dimensions" not in server.requests[0].body


def test_another_dimension_than_the_remembered_one_is_an_error_and_forgotten(tmp_path: Path) -> None:
    with EmbeddingServer(dimension=48) as server:
        settings = remote_settings(server, tmp_path)
        assert RemoteEmbedder(settings).dimension == 48
        server.dimension = 40
        error = failing(RemoteEmbedder(settings))
        assert "40 dimensions instead of 48" in error.message
        assert RemoteEmbedder(settings).dimension == 40


def test_a_dimension_that_the_endpoint_ignores_is_an_error(tmp_path: Path) -> None:
    shortened = Fault(rows=lambda rows: [row | {"embedding": [*row["embedding"][:7], 1.0]} for row in rows])
    with EmbeddingServer([shortened]) as server:
        error = failing(remote(server, tmp_path))
    assert "8 dimensions instead of 64" in error.message
    assert "FINPOLICY_EMBEDDING_DIMENSION" in error.hint


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_or_failing_endpoint_is_tried_again(tmp_path: Path, status: int) -> None:
    with EmbeddingServer([Fault(status)] * 2) as server:
        assert remote(server, tmp_path).embed([SENTENCE]).shape == (1, 64)
        assert len(server.requests) == 3


@pytest.mark.timed
def test_retry_after_is_waited_for(tmp_path: Path) -> None:
    with EmbeddingServer([Fault(429, headers={"Retry-After": "0.3"})]) as server:
        begun = time.monotonic()
        remote(server, tmp_path).embed([SENTENCE])
    assert time.monotonic() - begun >= 0.3


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "OPENAI_API_KEY"), (404, "FINPOLICY_EMBEDDING_MODEL"), (400, "FINPOLICY_EMBEDDING_MODEL")],
)
def test_a_refusal_is_told_at_once(tmp_path: Path, status: int, hint: str) -> None:
    with EmbeddingServer([Fault(status, message=f"Incorrect API key: {KEY}")]) as server:
        error = failing(remote(server, tmp_path))
        assert len(server.requests) == 1
    assert hint in error.hint
    assert not error.retryable


@pytest.mark.alone
@pytest.mark.parametrize(
    "begin",
    [b"HTTP/1.1 200 OK\r\nX-Padding: ", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"],
    ids=["headers", "body"],
)
def test_an_endpoint_that_drips_is_not_waited_for_longer(tmp_path: Path, begin: bytes) -> None:
    with Provider([Drip(begin, b"[")]) as provider:
        chosen = Settings(
            embedding_model="e",
            base_url=provider.url,
            embedding_dimension=64,
            timeout=0.5,
            model_cache=tmp_path,
        )
        started = time.monotonic()
        error = failing(RemoteEmbedder(chosen, pause=0.01))
        assert 1 <= time.monotonic() - started < 4
        assert len(provider.requests) == 2
    assert "did not complete its answer within 0.5 s" in error.message and "FINPOLICY_TIMEOUT" in error.hint


def changed(change: Callable[[list[float]], object]) -> Callable[[Rows], Rows]:
    """Rows of which the last one's vector was changed."""
    return lambda rows: [*rows[:-1], rows[-1] | {"embedding": change(rows[-1]["embedding"])}]


WRONG = {
    "too few": Fault(rows=lambda rows: rows[:-1]),
    "too many": Fault(rows=lambda rows: [*rows, rows[0]]),
    "one index twice": Fault(rows=lambda rows: [row | {"index": 0} for row in rows]),
    "no index": Fault(rows=lambda rows: [{"embedding": row["embedding"]} for row in rows]),
    "not a number": Fault(rows=changed(lambda vector: [math.nan, *vector[1:]])),
    "infinite": Fault(rows=changed(lambda vector: [math.inf, *vector[1:]])),
    "enormous": Fault(rows=changed(lambda vector: [1e300] * len(vector))),
    "zero": Fault(rows=changed(lambda vector: [0.0] * len(vector))),
    "shorter": Fault(rows=changed(lambda vector: vector[1:])),
    "empty": Fault(rows=lambda rows: [row | {"embedding": []} for row in rows]),
    "null": Fault(rows=changed(lambda vector: None)),
    "words": Fault(rows=changed(lambda vector: "AAAA")),
    "rows of text": Fault(body='{"data": ["a", "b"]}'),
    "data null": Fault(body='{"data": null}'),
    "an error": Fault(body='{"error": "no such model"}'),
    "a list": Fault(body="[]"),
    "a web page": Fault(body="<html>Hello</html>", headers={"Content-Type": "text/html"}),
    "broken": Fault(body='{"data": ['),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_are_no_vectors_is_an_error(tmp_path: Path, kind: str) -> None:
    with EmbeddingServer([WRONG[kind]]) as server:
        error = failing(remote(server, tmp_path))
        assert len(server.requests) == 1
    assert error.hint


def test_requests_keep_to_the_limits_of_texts_and_tokens(tmp_path: Path) -> None:
    many, heavy = (
        [f"text {number}" for number in range(2_100)],
        ["per cent " * 4_000 + str(number) for number in range(45)],
    )
    with EmbeddingServer() as server:
        vectors = remote(server, tmp_path).embed([*many, *heavy])
        sent = [request.texts for request in server.requests]
    assert [len(texts) for texts in sent[:1]] == [2_048]
    assert [text for texts in sent for text in texts] == [*many, *heavy]
    for texts in sent:
        assert len(texts) <= 2_048
        assert sum(count_tokens(text, "test-model") for text in texts) <= 300_000
    assert len(sent) == 3
    assert np.array_equal(vectors[:10], HashEmbedder().embed(many[:10]))


def test_a_text_beyond_the_limit_is_cut(tmp_path: Path) -> None:
    with EmbeddingServer() as server:
        embedder = remote(server, tmp_path)
        embedder.embed(["per cent " * 6_000])
        ((sent,),) = (request.texts for request in server.requests)
        assert 8_100 < count_tokens(sent, "test-model") <= 8_191
        pieces = embedder.split("per cent " * 6_000)
    assert "".join(pieces) == "per cent " * 6_000
    assert len(pieces) == 2


def test_offline_no_endpoint_is_made(tmp_path: Path) -> None:
    with EmbeddingServer() as server, pytest.raises(ModelError, match="FINPOLICY_OFFLINE"):
        make_embedder(remote_settings(server, tmp_path, offline=True))

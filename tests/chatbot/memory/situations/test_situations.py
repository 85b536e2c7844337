"""Situation memory on a real file: what the memory it replaces promised and did not keep, and recorded
advice as notes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, QuestionError, UsageError
from chatbot.memory.layers import MemoryLayer
from chatbot.memory.situations.advice import Advice, advice_of
from chatbot.memory.situations.situation_layer import SituationLayer
from chatbot.memory.situations.situation_store import SituationMemory, Situations
from chatbot.models.embedders import split_text
from chatbot.records import Note, Recall
from chatbot.search.fusion import STRATEGIES
from tests.case_rows import case_rows
from tests.chatbot.memory.conftest import Reopen
from tests.fakes import HashEmbedder

# What differs by the engine: what is written, deleted, and looked for in rows.
on_both = pytest.mark.usefixtures("engine")

TOPICS = {
    "inflation": "inflation prices rising above target quickly",
    "harvest": "wheat harvest drought farmers subsidy",
    "pensions": "pension fund retirees contribution age",
    "shipping": "shipping port container freight delay",
    "energy": "oil gas electricity grid outage",
}


AXES = {"x": (0, 1.0), "y": (1, 1.0), "z": (2, 1.0), "-x": (0, -1.0)}


class AxisEmbedder:
    """Vectors by hand: "x" the first axis, "y" the second, "-x" against the first, each word adding its
    own; a token is what stands between blanks.
    """

    fingerprint, dimension, max_tokens = "axis", 4, 4

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 4), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                axis, step = AXES.get(word, (3, 0.01))
                row[axis] += step
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / lengths, np.float32)

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        return split_text(text, self.max_tokens - reserve, lambda start, end: len(text[start:end].split()))


class FailingEmbedder(HashEmbedder):
    """Fails for texts with a word in them, or for all."""

    failing = ""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        failing = [text for text in texts if self.failing in text or self.failing == "all"]
        if self.failing and failing:
            raise ModelError("The endpoint is busy.")
        return super().embed(texts)


def minilm_like(dimension: int = 512, max_tokens: int = 256) -> HashEmbedder:
    """An embedder with the thresholds and pieces of the embedded model."""
    embedder = HashEmbedder(dimension=dimension, max_tokens=max_tokens)
    embedder.fingerprint = "minilm-like"
    return embedder


Open = Callable[..., Situations]
Match = dict[str, Any]


@pytest.fixture
def opened(reopen: Reopen) -> Open:
    def make(embedder: object = None) -> Situations:
        used = embedder or HashEmbedder(dimension=512, max_tokens=12)
        return Situations(reopen(), used)  # type: ignore[arg-type]

    return make


@pytest.fixture
def topics(opened: Open) -> SituationMemory:
    memory = SituationMemory(opened())
    add_topics(memory)
    return memory


def words(name: str, count: int) -> list[str]:
    """Words that stand nowhere else."""
    return [f"{name}{number}" for number in range(count)]


def query(*names: str) -> str:
    """Windows of twelve words, one for each name: a topic's words, or words of no topic."""
    window = list[str]()
    for at, name in enumerate(names):
        said = TOPICS.get(name, "").split()
        window += said
        window += words(f"{name}filler{at}number", 12 - len(said))
    return " ".join(window)


def advise(situations: Situations, situation: str, recommendation: str, scope: str = "") -> str:
    """Add one of mine; its key."""
    (key,) = situations.add("me", [(situation, recommendation)], scope=scope)
    return key


def add_topics(memory: SituationMemory) -> None:
    for name, text in TOPICS.items():
        memory.add_situations([(text, name)])


def advised(found: Sequence[Match]) -> list[str]:
    """What each match recommends."""
    return [str(one["recommendation"]) for one in found]


def remembered(situations: Situations, text: str, count: int = 1, **options: Any) -> list[Match]:
    """My memories of a situation."""
    memory = SituationMemory(situations, owner="me", **options)
    return list(memory.get_memories(text, count))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_scores_are_cosines(opened: Open, strategy: str) -> None:
    memory = SituationMemory(opened(AxisEmbedder()))
    memory.add_situations([("x", "same"), ("y", "orthogonal"), ("-x", "opposite"), ("x y", "between")])
    matches = memory.get_memories("x", 9, strategy=strategy)
    found = {one["recommendation"]: one["similarity_score"] for one in matches}
    expected = {"same": 1.0, "between": 0.7071, "orthogonal": 0.0, "opposite": -1.0}
    assert found == pytest.approx(expected, abs=1e-3)
    assert list(found) == list(expected)
    several = memory.get_memories("x x x x y y y y", 9, strategy=strategy)
    assert several
    assert all(-1 <= one["similarity_score"] <= 1 for one in several)


def test_a_long_situation_is_split_and_found_once(opened: Open) -> None:
    memory = SituationMemory(opened(AxisEmbedder()))
    long = "x x x x " * 30 + "z z z z"
    memory.add_situations([(long, "long"), ("x x y", "short"), ("y", "other")])
    found = memory.get_memories("x", 3)
    assert advised(found) == ["long", "short", "other"], "three distinct ones, not three copies of the first"
    (of_its_end,) = memory.get_memories("z")
    assert of_its_end["recommendation"] == "long", "what stands at its end is found too"


def test_an_unknown_strategy_is_named(topics: SituationMemory) -> None:
    with pytest.raises(QuestionError, match="no strategy named 'best'"):
        topics.get_memories("inflation", strategy="best")


@pytest.mark.parametrize(
    "pair",
    [
        ("", "advice"),
        ("situation", " "),
        ("one",),
        ("a", 3),
        "ab",
        ("s" * 100_001, "advice"),
        ("s", "r" * 10_001),
    ],
    ids=lambda pair: repr(pair)[:20],
)
def test_what_is_no_pair_of_texts_is_refused_and_nothing_of_it_kept(
    opened: Open, topics: SituationMemory, pair: tuple[str, str]
) -> None:
    with pytest.raises(UsageError):
        topics.add_situations([("a new situation", "advice"), pair])
    assert len(opened().listed("local")) == len(TOPICS)


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_that_stands_in_one_piece_is_found_there(
    topics: SituationMemory, name: str, place: int
) -> None:
    names = ["aa", "bb", "cc", "dd", "ee"]
    names.insert(place, name)
    (match,) = topics.get_memories(query(*names), aggregate_chunks=False)
    assert (match["recommendation"], match["chunk_match"]) == (name, place)


def test_the_strategies_differ_where_there_are_several_pieces(topics: SituationMemory) -> None:
    text = query("inflation", "inflation", "pensions")
    (nearest,) = topics.get_memories(text, 1)
    assert nearest["recommendation"] == "inflation"
    by_piece = topics.get_memories(text, 2, False)
    assert set(advised(by_piece)) == {"inflation", "pensions"}
    union = topics.get_memories(text, 1, strategy="union")
    assert len(union) == len(TOPICS), "uncut"
    weakest = topics.get_memories(text, 5, strategy="intersection")
    assert all(one["similarity_score"] <= 0.5 for one in weakest)


def test_the_piece_keeps_its_number_where_another_fails(opened: Open) -> None:
    embedder = FailingEmbedder(dimension=512, max_tokens=12)
    memory = SituationMemory(opened(embedder))
    add_topics(memory)
    embedder.failing = "bbfiller"
    (match,) = memory.get_memories(query("aa", "bb", "harvest"), aggregate_chunks=False)
    assert (match["recommendation"], match["chunk_match"]) == ("harvest", 2)
    embedder.failing = "all"
    with pytest.raises(ModelError):
        memory.get_memories(query("aa", "harvest"))


@on_both
def test_lessons_of_one_scope_or_owner_do_not_reach_another(opened: Open) -> None:
    situations = opened()
    fall = "tech stocks fall sharply"
    for scope, owner in (("AAPL", "me"), ("MSFT", "me"), ("AAPL", "her"), ("", "me")):
        memory = SituationMemory(situations, scope=scope, owner=owner)
        memory.add_situations([(fall, f"{scope} of {owner}")])
    for scope, owner in (("aapl ", "me"), ("MSFT", "me"), ("AAPL", "her"), ("", "me")):
        memory = SituationMemory(situations, scope=scope, owner=owner)
        (advice,) = advised(memory.get_memories(fall, 9))
        key = scope.strip().lower()
        assert advice.lower() == f"{key} of {owner}"
    assert remembered(situations, "tech stocks fall", 9, scope="TSLA") == []


@on_both
def test_ids_come_from_content_and_nothing_new_is_dropped_after_a_removal(opened: Open) -> None:
    situations = opened()
    first, second = situations.add("me", [("inflation rises", "a"), ("oil falls", "b")])
    again = advise(situations, "inflation  rises", "a")
    assert again == first, "the same is kept once"
    situations.remove("me", first)
    third = advise(situations, "wheat harvest fails", "c")
    assert third not in (first, second)
    found = remembered(situations, "inflation oil harvest", 9)
    assert set(advised(found)) == {"b", "c"}
    for key, owner in ((first, "me"), (second, "her"), ("../x", "me")):
        with pytest.raises(NotFoundError):
            situations.remove(owner, key)


def test_a_situation_with_two_recommendations_is_one_result(opened: Open) -> None:
    memory = SituationMemory(opened())
    memory.add_situations([("inflation rises", "first"), ("oil falls", "other")])
    memory.add_situations([("inflation rises", "second")])
    inflation, oil = memory.get_memories("inflation rises", 2)
    assert (inflation["matched_situation"], inflation["recommendation"]) == ("inflation rises", "second")
    assert inflation["also"] == ["first"]
    assert oil["matched_situation"] == "oil falls"


@on_both
def test_situations_outlive_the_process_and_are_listed(opened: Open) -> None:
    opened().add("me", [("inflation rises", "a"), ("oil falls", "b")], scope="Macro")
    again = opened()
    found = remembered(again, "oil falls", scope="macro")
    assert advised(found) == ["b"]
    (listed,) = again.listed("me", search="OIL macro")
    assert listed.situation == "oil falls"
    health = again.health("me")
    assert health.situations == 2
    assert health.scopes == ("macro",)
    assert health.waiting == 0


def test_what_was_kept_while_no_vectors_could_be_made_is_found_later(opened: Open) -> None:
    embedder = FailingEmbedder(dimension=64)
    situations = opened(embedder)
    embedder.failing = "all"
    advise(situations, "inflation rises", "a")
    assert situations.health("me").waiting == 1
    embedder.failing = ""
    assert len(remembered(situations, "inflation rises")) == 1


@pytest.fixture
def editable(opened: Open) -> Situations:
    return opened(HashEmbedder(dimension=512))


@on_both
def test_advice_is_corrected_with_its_vector(editable: Situations) -> None:
    advise(editable, "oil falls", "wait")
    key = advise(editable, "oil falls", "sell")
    (before,) = editable.listed("me")
    edited = editable.edit("me", key, ["sell half", "wait"], situation="oil falls", scope="")
    assert edited == key
    (one,) = editable.listed("me")
    assert one.recommendations == ("sell half", "wait")
    assert one.at >= before.at
    moved = editable.edit("me", key, ["wait"], situation="wheat rises", scope="Crops")
    assert moved != key
    (one,) = editable.listed("me")
    assert (one.key, one.scope, one.situation) == (moved, "crops", "wheat rises")
    assert one.recommendations == ("wait",)
    assert one.at < before.at, "what was advised before keeps its time"
    assert remembered(editable, "oil falls") == []
    assert len(remembered(editable, "wheat rises", scope="crops")) == 1
    with pytest.raises(NotFoundError):
        editable.edit("me", key, ["x"], situation="y", scope="")
    with pytest.raises(NotFoundError):
        editable.edit("her", moved, ["x"], situation="y", scope="")
    with pytest.raises(UsageError):
        editable.edit("me", moved, [" "], situation="wheat rises", scope="")
    assert editable.listed("me") == [one]


GOOD_LINES = """\
{"key":"any", "situation":"oil falls", "recommendations":["sell","wait"], "scope":"Oil", "at":1700000000.5}
{"situation": "wheat rises", "recommendation": "buy"}
["rain falls", "sow"]
["rain falls", "sow"]
{"situation": "of the future", "advice": "wait", "at": 1e+300}
"""
BAD_LINES = [
    "{broken",
    '["one"]',
    '{"situation": "x", "recommendations": []}',
    '{"situation": "x", "recommendation": 1}',
    '["' + "x" * 100_001 + '", "y"]',
    '{"situation": "x", "recommendation": "y", "scope": 1}',
    "[" * 100_000,
    "\udcff",
    "1",
]


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A file of lines that can be read, an empty one, and lines that cannot be read."""
    path = tmp_path / "situations.jsonl"
    text = "\n".join([GOOD_LINES, *BAD_LINES])
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


@on_both
def test_what_is_listed_can_be_imported_and_what_cannot_be_read_is_named(
    editable: Situations, mixed: Path
) -> None:
    done = editable.import_file("me", mixed)
    assert (done.added, done.known) == (4, 0)
    assert [problem.line for problem in done.problems] == list(range(7, 16))
    reasons = {problem.reason for problem in done.problems}
    assert {"it is nested too deeply", "it is not UTF-8 text", "its scope is not text"} <= reasons
    kept = {one.situation: one for one in editable.listed("me")}
    oil = kept["oil falls"]
    assert oil.recommendations == ("sell", "wait")
    assert (oil.scope, oil.at) == ("oil", 1_700_000_000.5)
    assert kept["of the future"].at < 5e9
    assert editable.health("me").waiting == 0
    again = editable.import_file("me", mixed)
    assert (again.added, again.known) == (0, 4)


def test_what_is_no_file_of_lines_is_named(editable: Situations, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="cannot be read"):
        editable.import_file("me", tmp_path)
    file = tmp_path / "situations.jsonl"
    file.write_text(json.dumps([["oil falls", "wait"]], indent=1))
    (problem,) = editable.import_file("me", file).problems
    reason = "the file is one JSON array over several lines; each situation needs a line of its own"
    assert problem.reason == reason


def notes_of(
    situations: Situations, embedder: HashEmbedder, question: str, owner: str = "me", count: int = 3
) -> Sequence[Note]:
    """The notes on a question."""
    layer: MemoryLayer = SituationLayer(situations)
    (vector,) = embedder.embed([question])
    return layer.recall(Recall(question, vector, "talk", owner), count)


def test_recorded_advice_is_a_note_where_a_question_describes_its_situation(opened: Open) -> None:
    embedder = minilm_like()
    situations = opened(embedder)
    notes = partial(notes_of, situations, embedder)
    inflation = "inflation rises above target"
    assert notes(inflation) == []
    advice = advice_of("When inflation rises above target, then shorten duration.")
    assert advice
    advise(situations, advice.situation, advice.recommendation)
    advise(situations, "oil falls", "wait")
    (note,) = notes("If inflation rises above target?")
    assert (note.layer, note.text) == ("situations", "When inflation rises above target: shorten duration")
    assert note.source.startswith("advice you added on ")
    assert "similarity" in note.source
    assert notes("How tall is the lighthouse?") == []
    assert notes(inflation, "her") == []
    assert notes(inflation, count=0) == []
    without_vector = Recall(inflation, None, "talk", "me")
    assert SituationLayer(situations).recall(without_vector, 3) == []


def test_advice_on_a_subject_is_recalled_only_where_the_question_names_it(opened: Open) -> None:
    embedder = minilm_like()
    situations = opened(embedder)
    advise(situations, "profit margin falls", "sell", scope="Acme")
    assert notes_of(situations, embedder, "profit margin falls now") == []
    (note,) = notes_of(situations, embedder, "profit margin falls at Acme")
    assert ", on acme, " in note.source


def test_a_situation_told_of_within_a_long_question_is_recalled_from_its_paragraph(opened: Open) -> None:
    embedder = minilm_like(2048)
    situations = opened(embedder)
    wheat = words("wheat", 50)
    advise(situations, " ".join(wheat), "buy grain")
    text = " ".join([*words("other", 320), *wheat, *words("more", 200)])
    assert len(notes_of(situations, embedder, text)) == 1
    embedder.fingerprint = "other"
    assert notes_of(situations, embedder, text) == []


SCOPES = """
    US             | Inflation rises in the US now | Inflation rises above us now; tell us
    US             | the US's debt                 | Inflation rises, tell us
    IT             | the IT budget                 | It rises, and so it falls
    WHO            | dues to the WHO               | Who pays the dues?
    May            | spending in May 2024          | May spending rise? It may.
    AT&T           | margins of AT&T               | margins at banks
    C              | shares of class C             | can a share of class b fall
    3M             | when 3M falls                 | when 3 million are spent
    中国           | 中国通胀上升                  | 通胀上升
    €              | the € falls                   | the euro falls
    US banks       | margins of US banks           | margins of banks in Valmora
    Bank of Latvia | Latvia's bank                 | the bank
    pension funds  | our pension fund              | our pension
    Acme           | ACME'S MARGIN                 | the margin
"""


@pytest.mark.parametrize(("scope", "named", "unnamed"), case_rows(SCOPES))
def test_a_scope_of_common_words_or_letters_is_only_named_as_it_stands_there(
    opened: Open, scope: str, named: str, unnamed: str
) -> None:
    embedder = minilm_like()
    situations = opened(embedder)
    advise(situations, "profit margin falls", "sell", scope=scope)
    (vector,) = embedder.embed(["profit margin falls"])
    layer = SituationLayer(situations)
    of_the_named = layer.recall(Recall(named, vector, "talk", "me"), 3)
    assert len(of_the_named) == 1
    of_the_unnamed = layer.recall(Recall(unnamed, vector, "talk", "me"), 3)
    assert of_the_unnamed == []


@pytest.mark.parametrize(
    ("line", "situation", "recommendation"),
    case_rows("""
when inflation rises above target, then shorten duration | inflation rises above target | shorten duration
Note that whenever oil falls; then, wait                 | oil falls                    | wait
remember that when rates are cut, then refinance         | rates are cut                | refinance
when oil falls, then wait, and then sell                 | oil falls                    | wait, and then sell
If yields rise, then sell bonds issued by regions | yields rise | sell bonds issued by regions
If yields rise, then the reduced ceiling applies | yields rise | the reduced ceiling applies
If yields rise, then at once sell | yields rise | at once sell
If yields rise, then keep what was bought | yields rise | keep what was bought
If yields rise, then the duration is shortened | yields rise | the duration is shortened
    """),
)
def test_advice_is_recognised(line: str, situation: str, recommendation: str) -> None:
    assert advice_of(line) == Advice(situation, recommendation)


NO_ADVICE = """\
When inflation rises, then what should we do?
When was the ceiling raised and then lowered?
When did rates rise, then fall
If the ceiling is 3 per cent, then what is the floor
If revenue was 5 million, then tell me the margin
if so, then show the table
What happens when inflation rises, then falls
We met when it rained, then left.
when then
when it, then x
shorten duration when inflation rises
If payment is late, then at what rate is interest charged
when a breach is found then to whom must it be reported
If revenue fell, then by how much
If payment is late, then must interest be charged
If a breach is found, then when must it be reported
If a loan is repaid, then since when is it free
When the ECB raised rates, then the euro rose
When the ECB raised rates, then yields dropped
When the ECB raised rates, then the central bank of Latvia went along
If payment was late, then interest was charged"""


@pytest.mark.parametrize("line", [*NO_ADVICE.splitlines(), "", "when " + "inflation " * 300 + "then sell"])
def test_what_is_no_advice_is_left_alone(line: str) -> None:
    assert advice_of(line) is None

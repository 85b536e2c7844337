"""Situation memory on a real file: what the memory it replaces promised and did not keep, and recorded
advice as notes.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, QuestionError, StoreError, UsageError
from chatbot.memory.layers import MemoryLayer
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.situations.advice import Advice, advice_of
from chatbot.memory.situations.situation_layer import SituationLayer, names
from chatbot.memory.situations.situation_store import SituationMemory, Situations
from chatbot.memory.situations.situation_types import situation_key
from chatbot.models.embedders import split_text
from chatbot.models.tokens import count_tokens
from chatbot.records import Recall
from chatbot.search.fusion import STRATEGIES
from tests.chatbot.memory.conftest import Reopen
from tests.fakes import HashEmbedder

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
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        return split_text(text, self.max_tokens - reserve, lambda start, end: len(text[start:end].split()))


class FailingEmbedder(HashEmbedder):
    """Fails for texts with a word in them, or for all."""

    failing = ""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.failing and any(self.failing in text or self.failing == "all" for text in texts):
            raise ModelError("The endpoint is busy.")
        return super().embed(texts)


Open = Callable[..., Situations]


@pytest.fixture
def opened(reopen: Reopen) -> Open:
    def make(embedder: object = None) -> Situations:
        used = embedder or HashEmbedder(dimension=512, max_tokens=12)
        return Situations(reopen(), used)  # type: ignore[arg-type]

    return make


@pytest.fixture
def topics(opened: Open) -> Situations:
    situations = opened()
    SituationMemory(situations).add_situations([(text, f"advice on {name}") for name, text in TOPICS.items()])
    return situations


def query(*names: str) -> str:
    """Windows of twelve words, one for each name: a topic's words, or words of no topic."""
    windows = []
    for at, name in enumerate(names):
        words = TOPICS.get(name, "").split()
        windows.append(
            " ".join([*words, *(f"{name}filler{at}number{number}" for number in range(12 - len(words)))])
        )
    return " ".join(windows)


# --- the calls
# ------------------------------------------------------------------------------------------------------------


def test_the_calls_and_results_are_those_of_the_memory_it_replaces(topics: Situations) -> None:
    memory = SituationMemory(topics)
    (match,) = memory.get_memories("prices rising: inflation above target")
    assert match.keys() == {"matched_situation", "recommendation", "similarity_score"}
    assert (match["matched_situation"], match["recommendation"]) == (
        TOPICS["inflation"],
        "advice on inflation",
    )
    found = memory.get_memories(query("x", "pensions"), n_matches=2, aggregate_chunks=False)
    assert found[0].keys() == {"matched_situation", "recommendation", "similarity_score", "chunk_match"}
    assert "chunk_match" not in memory.get_memories(query("x", "pensions"), 2, True)[0]
    assert memory.get_memories("inflation", 1, False)[0]["chunk_match"] == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_scores_are_cosines(opened: Open, strategy: str) -> None:
    memory = SituationMemory(opened(AxisEmbedder()))
    memory.add_situations([("x", "same"), ("y", "orthogonal"), ("-x", "opposite"), ("x y", "between")])
    found = {
        one["recommendation"]: one["similarity_score"]
        for one in memory.get_memories("x", 9, strategy=strategy)
    }
    expected = {"same": 1.0, "between": 0.7071, "orthogonal": 0.0, "opposite": -1.0}
    assert found == pytest.approx(expected, abs=1e-3) and list(found) == list(expected)
    several = memory.get_memories("x x x x y y y y", 9, strategy=strategy)
    assert several and all(-1 <= one["similarity_score"] <= 1 for one in several)


def test_a_long_situation_is_split_and_found_once(opened: Open) -> None:
    situations = opened(AxisEmbedder())
    memory = SituationMemory(situations)
    memory.add_situations([("x x x x " * 30 + "z z z z", "long"), ("x x y", "short"), ("y", "other")])
    found = memory.get_memories("x", 3)
    assert [one["recommendation"] for one in found] == ["long", "short", "other"], (
        "three distinct ones, not three copies of the first"
    )
    assert memory.get_memories("z")[0]["recommendation"] == "long", "what stands at its end is found too"


def test_an_empty_memory_has_nothing_and_says_so(opened: Open) -> None:
    embedder = HashEmbedder()
    memory = SituationMemory(opened(embedder))
    memory.add_situations([])
    assert (
        memory.get_memories("anything", 3) == []
        and memory.get_memories("anything", 3, aggregate_chunks=False) == []
    )
    assert embedder.calls == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_more_are_asked_for_than_there_are(topics: Situations, strategy: str) -> None:
    found = SituationMemory(topics).get_memories(
        "inflation harvest pension shipping oil", 99, strategy=strategy
    )
    assert len({one["matched_situation"] for one in found}) == len(found) == len(TOPICS)


@pytest.mark.parametrize(("text", "n"), [("inflation", 0), ("inflation", -1), ("  \n", 1), ("", 1)])
def test_nothing_is_asked_for(topics: Situations, text: str, n: int) -> None:
    assert SituationMemory(topics).get_memories(text, n) == []


def test_an_unknown_strategy_is_named(topics: Situations) -> None:
    with pytest.raises(QuestionError, match="no strategy 'best'"):
        SituationMemory(topics).get_memories("inflation", strategy="best")


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
    topics: Situations, pair: tuple[str, str]
) -> None:
    with pytest.raises(UsageError):
        SituationMemory(topics).add_situations([("a new situation", "advice"), pair])
    assert len(topics.listed("local")) == len(TOPICS)


# --- long queries
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_that_stands_in_one_piece_is_found_there(topics: Situations, name: str, place: int) -> None:
    names = ["aa", "bb", "cc", "dd", "ee"]
    names.insert(place, name)
    (match,) = SituationMemory(topics).get_memories(query(*names), aggregate_chunks=False)
    assert (match["recommendation"], match["chunk_match"]) == (f"advice on {name}", place)


def test_every_strategy_orders_alike_for_one_piece(topics: Situations) -> None:
    orders = set()
    for strategy in STRATEGIES:
        found = SituationMemory(topics).get_memories("oil prices rising", 5, strategy=strategy)
        orders.add(tuple((one["recommendation"], round(one["similarity_score"], 6)) for one in found))
    assert len(orders) == 1


def test_the_strategies_differ_where_there_are_several_pieces(topics: Situations) -> None:
    memory = SituationMemory(topics)
    text = query("inflation", "inflation", "pensions")
    assert memory.get_memories(text, 1)[0]["recommendation"] == "advice on inflation"
    assert {one["recommendation"] for one in memory.get_memories(text, 2, False)} == {
        "advice on inflation",
        "advice on pensions",
    }
    assert len(memory.get_memories(text, 1, strategy="union")) == len(TOPICS), "uncut"
    weakest = memory.get_memories(text, 5, strategy="intersection")
    assert all(one["similarity_score"] <= 0.5 for one in weakest)


@pytest.mark.parametrize("place", range(4))
def test_a_topic_that_fills_a_part_of_a_piece_is_found_there(opened: Open, place: int) -> None:
    embedder = HashEmbedder(dimension=4096, max_tokens=40)
    embedder.fingerprint = "minilm-like"
    memory = SituationMemory(opened(embedder))
    planted = [f"wheat{number}" for number in range(10)]
    numbers = range(40)
    text = []
    for at in range(4):
        text.append([f"other{at}on{number}" for number in numbers])
    text[place][20:30] = planted
    # As like the piece before it as a whole piece is to a quarter of it.
    memory.add_situations(
        [
            (" ".join(planted), "buy grain"),
            (" ".join([*text[place - 1][:16], *(f"else{number}" for number in range(12))]), "wait"),
        ]
    )
    (match,) = memory.get_memories(" ".join(" ".join(words) for words in text), aggregate_chunks=False)
    assert (match["recommendation"], match["chunk_match"]) == ("buy grain", place)
    assert match["similarity_score"] == pytest.approx(1.0)


def test_the_strategies_agree_on_one_piece_of_the_embedded_model_too(opened: Open) -> None:
    embedder = HashEmbedder(dimension=4096, max_tokens=12)
    embedder.fingerprint = "minilm-like"
    situations = opened(embedder)
    SituationMemory(situations).add_situations([(text, name) for name, text in TOPICS.items()])
    for text in (
        "oil prices rising",
        query("energy") + " it is what it is and that is that for it",
    ):  # what is said twice and what says nothing are dropped
        found = set()
        for strategy in STRATEGIES:
            matches = SituationMemory(situations).get_memories(text, 5, strategy=strategy)
            found.add(tuple(one["recommendation"] for one in matches))
        assert len(found) == 1


def test_the_piece_keeps_its_number_where_another_fails(opened: Open) -> None:
    embedder = FailingEmbedder(dimension=512, max_tokens=12)
    memory = SituationMemory(opened(embedder))
    memory.add_situations([(text, name) for name, text in TOPICS.items()])
    embedder.failing = "bbfiller"
    (match,) = memory.get_memories(query("aa", "bb", "harvest"), aggregate_chunks=False)
    assert (match["recommendation"], match["chunk_match"]) == ("harvest", 2)
    embedder.failing = "all"
    with pytest.raises(ModelError):
        memory.get_memories(query("aa", "harvest"))


def test_a_query_of_many_pieces_is_searched_from_several_threads(topics: Situations) -> None:
    texts, wrong = [query(*(["aa"] * place), name) for place, name in enumerate(TOPICS)], list[object]()

    def ask(text: str, name: str) -> None:
        for _ in range(3):
            found = SituationMemory(topics).get_memories(text, aggregate_chunks=False)
            if not found or found[0]["recommendation"] != f"advice on {name}":
                wrong.append((name, found))

    threads = [threading.Thread(target=ask, args=pair) for pair in zip(texts, TOPICS, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- whose, and of what
# -----------------------------------------------------------------------------------------------------------


def test_lessons_of_one_scope_or_owner_do_not_reach_another(opened: Open) -> None:
    situations = opened()
    for scope, owner in (("AAPL", "me"), ("MSFT", "me"), ("AAPL", "her"), ("", "me")):
        SituationMemory(situations, scope=scope, owner=owner).add_situations(
            [("tech stocks fall sharply", f"{scope} of {owner}")]
        )
    for scope, owner in (("aapl ", "me"), ("MSFT", "me"), ("AAPL", "her"), ("", "me")):
        found = SituationMemory(situations, scope=scope, owner=owner).get_memories(
            "tech stocks fall sharply", 9
        )
        assert [one["recommendation"].lower() for one in found] == [f"{scope.strip().lower()} of {owner}"]
    assert SituationMemory(situations, scope="TSLA", owner="me").get_memories("tech stocks fall", 9) == []


def test_a_small_scope_is_found_among_many_others(opened: Open) -> None:
    situations = opened()
    situations.add(
        "me", [(f"tech stocks fall sharply {number}", "other") for number in range(400)], scope="others"
    )
    situations.add("me", [(f"stocks {number} fall", "own") for number in range(3)], scope="own")
    found = SituationMemory(situations, scope="own", owner="me").get_memories("tech stocks fall sharply", 3)
    assert [one["recommendation"] for one in found] == ["own"] * 3


# --- what stays
# ------------------------------------------------------------------------------------------------------------


def test_ids_come_from_content_and_nothing_new_is_dropped_after_a_removal(opened: Open) -> None:
    situations = opened()
    first, second = situations.add("me", [("inflation rises", "a"), ("oil falls", "b")])
    assert situations.add("me", [("inflation  rises", "a")]) == [first], "the same is kept once"
    situations.remove("me", first)
    (third,) = situations.add("me", [("wheat harvest fails", "c")])
    memory = SituationMemory(situations, owner="me")
    assert third not in (first, second)
    assert {one["recommendation"] for one in memory.get_memories("inflation oil harvest", 9)} == {"b", "c"}
    for key, owner in ((first, "me"), (second, "her"), ("../x", "me")):
        with pytest.raises(NotFoundError):
            situations.remove(owner, key)


def test_a_situation_with_two_recommendations_is_one_result(opened: Open) -> None:
    memory = SituationMemory(opened())
    memory.add_situations([("inflation rises", "first"), ("oil falls", "other")])
    memory.add_situations([("inflation rises", "second")])
    found = memory.get_memories("inflation rises", 2)
    assert [one["matched_situation"] for one in found] == ["inflation rises", "oil falls"]
    assert (found[0]["recommendation"], found[0]["also"]) == ("second", ["first"])


def test_situations_outlive_the_process_and_are_listed(opened: Open) -> None:
    opened().add("me", [("inflation rises", "a"), ("oil falls", "b")], scope="Macro")
    again = opened()
    assert (
        SituationMemory(again, scope="macro", owner="me").get_memories("oil falls")[0]["recommendation"]
        == "b"
    )
    assert [one.situation for one in again.listed("me", search="OIL macro")] == ["oil falls"]
    health = again.health("me")
    assert (health.situations, health.scopes, health.waiting) == (2, ("macro",), 0)


def test_another_embedder_makes_its_own_vectors_and_is_never_mixed(opened: Open) -> None:
    opened(HashEmbedder(dimension=64)).add("me", [("inflation rises", "a")])
    changed = opened(HashEmbedder(dimension=128))
    assert changed.health("me").waiting == 1
    (match,) = SituationMemory(changed, owner="me").get_memories("inflation rises")
    assert match["similarity_score"] == pytest.approx(1.0, abs=1e-3) and changed.health("me").waiting == 0
    back = opened(HashEmbedder(dimension=64))
    assert back.health("me").waiting == 1, "the first one's were dropped"
    assert len(SituationMemory(back, owner="me").get_memories("inflation rises")) == 1


def test_what_was_kept_while_no_vectors_could_be_made_is_found_later(opened: Open) -> None:
    embedder = FailingEmbedder(dimension=64)
    situations = opened(embedder)
    embedder.failing = "all"
    situations.add("me", [("inflation rises", "a")])
    assert situations.health("me").waiting == 1
    embedder.failing = ""
    assert len(SituationMemory(situations, owner="me").get_memories("inflation rises")) == 1


@pytest.mark.parametrize("damage", ["null", "x''", "x'00'", "'text'"])
def test_vectors_that_are_lost_or_spoiled_find_nothing_and_keep_nothing_from_being_found(
    opened: Open, damage: str
) -> None:
    situations = opened(AxisEmbedder())
    key, _ = situations.add("me", [("x", "a"), ("y", "b")])
    with situations._database.write() as connection:
        connection.execute(f"update situation set windows = {damage} where key = ?", (key,))
    assert [
        one["recommendation"] for one in SituationMemory(situations, owner="me").get_memories("x", 9)
    ] == ["b"]


def test_tables_of_a_later_version_are_told_of_at_each_use(opened: Open, memories: MemoryDatabase) -> None:
    situations = opened()
    with memories.write() as connection:
        connection.execute("update memory_version set version = 9")
    for one in (situations, opened()):
        with pytest.raises(StoreError, match="The memory of situations is of version 9"):
            one.listed("me")


class Meanwhile(HashEmbedder):
    """Does something while it embeds a text with a word in it, once."""

    word, work = "", staticmethod(lambda: None)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.word and any(self.word in text for text in texts):
            self.word = ""
            self.work()
        return super().embed(texts)


def test_a_situation_removed_while_it_is_embedded_leaves_nothing_that_is_in_the_way(opened: Open) -> None:
    embedder = Meanwhile(dimension=512)
    situations = opened(embedder)
    situations.add("me", [("oil price falls hard", "keep")])
    key = situation_key("me", "", "oil falls")
    embedder.word, embedder.work = "oil falls", lambda: situations.remove("me", key)
    situations.add("me", [("oil falls", "gone")])
    assert [one.key for one in situations.listed("me")] == [situation_key("me", "", "oil price falls hard")]
    (found,) = SituationMemory(situations, owner="me").get_memories("oil falls", 1)
    assert found["recommendation"] == "keep" and situations.health("me").waiting == 0


def test_vectors_of_another_embedder_are_not_searched(opened: Open) -> None:
    """They may have as many numbers."""
    first = opened(AxisEmbedder())
    first.add("me", [("x", "a"), ("y", "b")])
    other = AxisEmbedder()
    other.fingerprint = "axis of another kind"
    situations = opened(other)
    assert situations.health("me").waiting == 2
    assert (
        situations.search(
            situations.embedded("x", strategy="per_chunk"), "me", [""], strategy="per_chunk", n=5
        )
        == []
    )
    assert first.health("me").waiting == 0, "those stay until the other embedder has made its own"


def test_what_is_removed_is_gone_from_the_file(opened: Open, tmp_path: Path) -> None:
    situations = opened()
    (key,) = situations.add("me", [("Heliotrope is in trouble", "sell Heliotrope")])
    assert any(b"Heliotrope" in path.read_bytes() for path in tmp_path.iterdir())
    situations.remove("me", key)
    assert not any(b"Heliotrope" in path.read_bytes() for path in tmp_path.iterdir())


def test_two_processes_use_them_at_once(opened: Open) -> None:
    one, other = opened(), opened()
    one.add("me", [("inflation rises", "a")])
    assert len(SituationMemory(other, owner="me").get_memories("inflation rises")) == 1
    other.remove("me", one.listed("me")[0].key)
    assert SituationMemory(one, owner="me").get_memories("inflation rises") == []


# --- corrected and imported
# -------------------------------------------------------------------------------------------------------


def test_advice_is_corrected_with_its_vector(opened: Open) -> None:
    situations = opened(HashEmbedder(dimension=512))
    situations.add("me", [("oil falls", "wait")])
    (key,) = situations.add("me", [("oil falls", "sell")])
    before = situations.listed("me")[0].at
    assert situations.edit("me", key, ["sell half", "wait"], situation="oil falls", scope="") == key
    (one,) = situations.listed("me")
    assert one.recommendations == ("sell half", "wait") and one.at >= before
    moved = situations.edit("me", key, ["wait"], situation="wheat rises", scope="Crops")
    (one,) = situations.listed("me")
    assert (one.key, one.scope, one.situation, one.recommendations) == (
        moved,
        "crops",
        "wheat rises",
        ("wait",),
    ) and moved != key
    assert one.at < before, "what was advised before keeps its time"
    assert SituationMemory(situations, owner="me").get_memories("oil falls") == []
    assert len(SituationMemory(situations, owner="me", scope="crops").get_memories("wheat rises")) == 1
    for owner, wrong in (("me", key), ("her", moved)):
        with pytest.raises(NotFoundError):
            situations.edit(owner, wrong, ["x"], situation="y", scope="")
    with pytest.raises(UsageError):
        situations.edit("me", moved, [" "], situation="wheat rises", scope="")
    assert situations.listed("me") == [one]


def test_what_is_listed_can_be_imported_and_what_cannot_be_read_is_named(
    opened: Open, tmp_path: Path
) -> None:
    situations = opened(HashEmbedder(dimension=512))
    lines: list[object] = [
        {
            "key": "any",
            "situation": "oil falls",
            "recommendations": ["sell", "wait"],
            "scope": "Oil",
            "at": 1_700_000_000.5,
        },
        {"situation": "wheat rises", "recommendation": "buy"},
        ["rain falls", "sow"],
        ["rain falls", "sow"],
        {"situation": "of the future", "advice": "wait", "at": 1e300},
    ]
    bad = [
        "{broken",
        '["one"]',
        '{"situation": "x", "recommendations": []}',
        '{"situation": "x", "recommendation": 1}',
        '["' + "x" * 100_001 + '", "y"]',
    ]
    bad += ['{"situation": "x", "recommendation": "y", "scope": 1}', "[" * 100_000, "\udcff", "1"]
    file = tmp_path / "situations.jsonl"
    file.write_bytes("\n".join([*map(json.dumps, lines), "", *bad]).encode("utf-8", "surrogateescape"))
    done = situations.import_file("me", file)
    assert (done.added, done.known, [problem.line for problem in done.problems]) == (4, 0, list(range(7, 16)))
    assert {problem.reason for problem in done.problems} >= {"it is no JSON", "its scope is no text"}
    kept = {one.situation: one for one in situations.listed("me")}
    assert (
        kept["oil falls"].recommendations == ("sell", "wait")
        and kept["oil falls"].scope == "oil"
        and kept["oil falls"].at == 1_700_000_000.5
    )
    assert kept["of the future"].at < 5e9 and situations.health("me").waiting == 0
    again = situations.import_file("me", file)
    assert (again.added, again.known) == (0, 4)
    with pytest.raises(NotFoundError, match="cannot be read"):
        situations.import_file("me", tmp_path)
    file.write_text(json.dumps([["oil falls", "wait"]], indent=1))
    (problem,) = situations.import_file("me", file).problems
    assert (
        problem.reason
        == "the file is one JSON array over several lines; each situation needs a line of its own"
    )


def test_an_export_is_imported_as_it_was_and_its_progress_told(opened: Open, tmp_path: Path) -> None:
    situations = opened()
    situations.add("me", [("oil falls", "wait"), ("oil falls", "sell")], scope="oil")
    situations.add("me", [(f"situation {number}", "wait") for number in range(150)])
    file, told = tmp_path / "advice.jsonl", list[tuple[int, int]]()
    file.write_bytes(b"".join(situations.export("me")))
    situations.import_file("her", file, progress=lambda done, total: told.append((done, total)))

    def said(owner: str) -> list[tuple[str, str, tuple[str, ...]]]:
        return sorted((one.scope, one.situation, one.recommendations) for one in situations.listed(owner))

    assert said("her") == said("me") and len(said("me")) == 151 and told == [(100, 151), (151, 151)]


def test_a_situation_of_24_thousand_chinese_letters_is_embedded_whole_within_its_tokens(opened: Open) -> None:
    """A letter of such a script may be a token, and two: by words it would be one piece far over an
    endpoint's limit.
    """
    embedder = CountingEmbedder()
    situations = opened(embedder)
    text = "通货膨胀率上升超过目标水平" * 1_850 + "港口罢工"
    assert len(text) > 24_000 and count_tokens(text) > 8_191
    situations.add("me", [(text, "wait")])
    assert embedder.most <= 8_191 and len(embedder.seen) > 1 and "".join(embedder.seen) == text
    assert len(SituationMemory(situations, owner="me").get_memories("港口罢工", 1)) == 1


class CountingEmbedder(HashEmbedder):
    """Cuts and counts as an endpoint does: by its own tokens, of which a text may have 8,191."""

    def __init__(self) -> None:
        super().__init__(dimension=64, max_tokens=8_191)
        self.most, self.seen = 0, list[str]()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.most = max([self.most, *map(count_tokens, texts)])
        self.seen += [text for text in texts if len(text) > 100]
        return super().embed(texts)

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        return split_text(text, self.max_tokens - reserve, lambda start, end: count_tokens(text[start:end]))


# --- in the chat
# ------------------------------------------------------------------------------------------------------------


def recall(question: str, embedder: HashEmbedder, owner: str = "me") -> Recall:
    return Recall(question, embedder.embed([question])[0], "talk", owner)


def test_recorded_advice_is_a_note_where_a_question_describes_its_situation(opened: Open) -> None:
    embedder = HashEmbedder(dimension=512)
    embedder.fingerprint = "minilm-like"
    situations = opened(embedder)
    layer: MemoryLayer = SituationLayer(situations)
    assert layer.recall(recall("inflation rises above target", embedder), 3) == []
    advice = advice_of("When inflation rises above target, then shorten duration.")
    assert advice is not None
    situations.add("me", [(advice.situation, advice.recommendation), ("oil falls", "wait")])
    (note,) = layer.recall(recall("If inflation rises above target?", embedder), 3)
    assert note.layer == "situations" and note.text == "When inflation rises above target: shorten duration"
    assert note.source.startswith("advice you recorded on ") and "alike" in note.source
    assert layer.recall(recall("How tall is the lighthouse?", embedder), 3) == []
    assert layer.recall(recall("inflation rises above target", embedder, "her"), 3) == []
    assert layer.recall(recall("inflation rises above target", embedder), 0) == []
    assert layer.recall(Recall("inflation rises above target", None, "talk", "me"), 3) == []


def test_advice_on_a_subject_is_recalled_only_where_the_question_names_it(opened: Open) -> None:
    embedder = HashEmbedder(dimension=512)
    embedder.fingerprint = "minilm-like"
    situations = opened(embedder)
    situations.add("me", [("profit margin falls", "sell")], scope="Acme")
    assert SituationLayer(situations).recall(recall("profit margin falls now", embedder), 3) == []
    (note,) = SituationLayer(situations).recall(recall("profit margin falls at Acme", embedder), 3)
    assert ", on acme, " in note.source


def test_a_long_question_is_recalled_piece_by_piece(opened: Open) -> None:
    embedder = HashEmbedder(dimension=512, max_tokens=12)
    embedder.fingerprint = "minilm-like"
    situations = opened(embedder)
    situations.add("me", [(TOPICS["harvest"], "buy grain")])
    text = query("aa", "bb", "cc", "harvest")
    assert len(SituationLayer(situations).recall(recall(text, embedder), 3)) == 1


def test_a_situation_told_of_within_a_long_question_is_recalled_from_its_paragraph(opened: Open) -> None:
    embedder = HashEmbedder(dimension=2048, max_tokens=256)
    embedder.fingerprint = "minilm-like"
    situations = opened(embedder)
    situations.add("me", [(" ".join(f"wheat{number}" for number in range(50)), "buy grain")])
    text = " ".join(
        [
            *(f"other{number}" for number in range(320)),
            *(f"wheat{number}" for number in range(50)),
            *(f"more{number}" for number in range(200)),
        ]
    )
    assert len(SituationLayer(situations).recall(recall(text, embedder), 3)) == 1
    embedder.fingerprint = "other"
    assert SituationLayer(situations).recall(recall(text, embedder), 3) == []


SCOPES = [
    ("US", "Inflation rises in the US now", "Inflation rises above us now; tell us"),
    ("US", "the US's debt", "INFLATION RISES, TELL US"),
    ("IT", "the IT budget", "It rises, and so it falls"),
    ("WHO", "dues to the WHO", "Who pays the dues?"),
    ("May", "spending in May 2024", "May spending rise? It may."),
    ("AT&T", "margins of AT&T", "margins at banks"),
    ("C", "shares of class C", "can a share of class b fall"),
    ("3M", "when 3M falls", "when 3 million are spent"),
    ("中国", "中国通胀上升", "通胀上升"),
    ("€", "the € falls", "the euro falls"),
    ("US banks", "margins of US banks", "margins of banks in Valmora"),
    ("Bank of Latvia", "Latvia's bank", "the bank"),
    ("pension funds", "our pension fund", "our pension"),
    ("Acme", "ACME'S MARGIN", "the margin"),
]


@pytest.mark.parametrize(("scope", "named", "unnamed"), SCOPES)
def test_a_scope_of_common_words_or_letters_is_only_named_as_it_stands_there(
    opened: Open, scope: str, named: str, unnamed: str
) -> None:
    embedder = HashEmbedder(dimension=512)
    embedder.fingerprint = "minilm-like"
    situations = opened(embedder)
    situations.add("me", [("profit margin falls", "sell")], scope=scope)
    vector = embedder.embed(["profit margin falls"])[0]
    found = [
        len(SituationLayer(situations).recall(Recall(question, vector, "talk", "me"), 3))
        for question in (named, unnamed)
    ]
    assert found == [1, 0]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (
            "when inflation rises above target, then shorten duration",
            ("inflation rises above target", "shorten duration"),
        ),
        (
            "When a supplier asks for prepayment then ask the treasurer first.",
            ("a supplier asks for prepayment", "ask the treasurer first"),
        ),
        (
            "Please remember: if the deficit exceeds 3 %, then the council must be told!",
            ("the deficit exceeds 3 %", "the council must be told"),
        ),
        ("Note that whenever oil falls; then, wait", ("oil falls", "wait")),
        ("remember that when rates are cut, then refinance", ("rates are cut", "refinance")),
        (
            "In case revenue falls short,\n  then freeze new posts",
            ("revenue falls short", "freeze new posts"),
        ),
        ("when oil falls, then wait, and then sell", ("oil falls", "wait, and then sell")),
        (
            "When it was agreed, then the council must have been told",
            ("it was agreed", "the council must have been told"),
        ),
        (
            "If yields rise, then sell bonds issued by regions",
            ("yields rise", "sell bonds issued by regions"),
        ),
        ("If yields rise, then the reduced ceiling applies", ("yields rise", "the reduced ceiling applies")),
        ("If yields rise, then at once sell", ("yields rise", "at once sell")),
        ("If yields rise, then keep what was bought", ("yields rise", "keep what was bought")),
        ("If yields rise, then the duration is shortened", ("yields rise", "the duration is shortened")),
    ],
)
def test_advice_is_recognised(line: str, advice: tuple[str, str]) -> None:
    assert advice_of(line) == Advice(*advice)


@pytest.mark.parametrize(
    "line",
    [
        "When inflation rises, then what should we do?",
        "When was the ceiling raised and then lowered?",
        "When did rates rise, then fall",
        "If the ceiling is 3 per cent, then what is the floor",
        "If revenue was 5 million, then tell me the margin",
        "if so, then show the table",
        "What happens when inflation rises, then falls",
        "We met when it rained, then left.",
        "when then",
        "when it, then x",
        "shorten duration when inflation rises",
        "If payment is late, then at what rate is interest charged",
        "when a breach is found then to whom must it be reported",
        "If revenue fell, then by how much",
        "If payment is late, then must interest be charged",
        "If a breach is found, then when must it be reported",
        "If a loan is repaid, then since when is it free",
        "When the ECB raised rates, then the euro rose",
        "When the ECB raised rates, then yields dropped",
        "When the ECB raised rates, then the central bank of Latvia went along",
        "If payment was late, then interest was charged",
        "",
        "when " + "inflation " * 300 + "then sell",
    ],
)
def test_what_is_no_advice_is_left_alone(line: str) -> None:
    assert advice_of(line) is None


@pytest.mark.timed
def test_hostile_lines_take_no_time() -> None:
    started = time.process_time()
    ends = ["the " + "a " * 900 + "x", "a-" * 900, "up to " * 300, "s" * 1_900, "the " * 480, "it was " * 250]
    lines = [
        "when " + "then" * 400,
        "please " * 280,
        "when a" + " ,then" * 300,
        " " * 5_000_000,
        "remember " * 200 + "when a then b",
    ]
    for line in (*lines, *(f"when oil falls then {end}" for end in ends)):
        advice_of(line)
    assert time.process_time() - started < 1


@pytest.mark.timed
def test_hostile_scopes_and_questions_take_no_time() -> None:
    started = time.process_time()
    for hostile in ("a&" * 20_000, "us " * 20_000, "+" * 50_000, "3m" * 20_000, "&" * 50_000):
        names(hostile, "AT&T us 3M"), names("in the US", hostile)
    assert time.process_time() - started < 3

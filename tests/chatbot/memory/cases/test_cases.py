"""Case memory as its callers use it: what is kept of a verdict, what is recalled of it, and who has it; on
real files, with vectors worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.cases.case_file import question_vectors
from chatbot.memory.cases.case_layer import CaseLayer
from chatbot.memory.cases.case_recall import PAGE_BOUND, UNKNOWN, cosines_of
from chatbot.memory.cases.case_store import CaseQuery, Cases, Documents
from chatbot.memory.cases.records import Case
from chatbot.memory.layers import MemoryLayer
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.records import Answer, Citation, NumberCheck, Recall
from tests.chatbot.memory.conftest import Reopen
from tests.fakes import HashEmbedder

QUESTION = "What is the deficit ceiling of Valmora?"
RULES, REPORT = "a" * 64, "b" * 64


def answer(
    question: str = QUESTION,
    text: str = "It is 3.0 per cent [S1].",
    *,
    page: int = 7,
    version: int = 1,
    **changes: object,
) -> Answer:
    cited = Citation("S1", "Rules.pdf", page, str(page), "3.0 per cent of output", True, version=version)
    plain = Answer(question, question, text, True, citations=(cited,))
    return replace(plain, **changes)  # type: ignore[arg-type]


class Shop:
    """Documents that a test can change. live: SHA-256 of those that answers rest on."""

    def __init__(self) -> None:
        self.live = {RULES, REPORT}
        self.documents = Documents({1: RULES, 2: REPORT}.get, lambda: self.live)  # type: ignore[arg-type]


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder(dimension=256)


@pytest.fixture
def cases(memories: MemoryDatabase, embedder: HashEmbedder, shop: Shop) -> Cases:
    return Cases(memories, embedder, documents=shop.documents)


@pytest.fixture
def ask(embedder: HashEmbedder) -> Callable[..., Recall]:
    def made(question: str = QUESTION, owner: str = "me") -> Recall:
        return Recall(question, question_vectors(embedder, [question])[0], "talk", owner)

    return made


# --- what is kept
# ------------------------------------------------------------------------------------------------------------


def test_a_verdict_becomes_a_case_with_its_pages(cases: Cases) -> None:
    kept = cases.rate("me", answer(), 1, word=" right ")
    (found,) = cases.find("me", QUESTION)
    assert found.fields == {
        "rank": 1,
        "score": pytest.approx(1.0),
        "question": QUESTION,
        "plan": "It is 3.0 per cent (Rules.pdf, p. 7).",
        "reward": 1,
        "line_index": 0,
    }
    assert found.case == replace(kept, line_index=0)
    assert (found.case.word, found.case.verified, found.case.document_ids) == ("right", True, (RULES,))
    assert [(page.document_id, page.document, page.page, page.quote) for page in found.case.pages] == [
        (RULES, "Rules.pdf", 7, "3.0 per cent of output")
    ]
    assert found.case.at > 1e9


def test_the_newest_verdict_counts_for_a_question_however_it_is_written(cases: Cases) -> None:
    cases.rate("me", answer(), 1)
    cases.rate("me", answer(f"  {QUESTION.upper()} "), 0)
    assert [one.case.reward for one in cases.find("me", QUESTION)] == [0]
    assert cases.health("me").cases == 1
    assert cases.rated("me", answer()) == cases.listed("me")[0].case
    assert cases.rated("me", answer("Who audits?")) is None


def test_the_same_verdict_twice_is_one_line(cases: Cases) -> None:
    assert cases.rate("me", answer(), 1).at == cases.rate("me", answer(), "true").at
    before = cases._shelf("me").view().keys
    cases.rate("me", answer(), 1)
    assert cases._shelf("me").view().keys == before
    cases.rate("me", answer(), 1, word="yes")
    assert len(cases._shelf("me").view().keys) == 1 and cases._shelf("me").view().keys != before


@pytest.mark.parametrize(
    "given",
    [answer(answered=False, text="Not in these documents."), answer(error="The model was silent.")],
    ids=["refused", "failed"],
)
def test_an_answer_that_was_refused_or_failed_is_never_one_to_follow(cases: Cases, given: Answer) -> None:
    with pytest.raises(UsageError, match="cannot be an example to follow"):
        cases.rate("me", given, 1)
    assert cases.listed("me") == []
    assert cases.rate("me", given, 0).reward == 0


def test_a_verdict_that_is_none_is_refused(cases: Cases) -> None:
    with pytest.raises(UsageError, match="'perhaps' is neither positive"):
        cases.rate("me", answer(), "perhaps")


def test_a_case_of_five_megabytes_is_refused_by_name(cases: Cases) -> None:
    with pytest.raises(UsageError, match=r"The case has 5,\d{3},\d{3} bytes, at most 1,000,000 are kept"):
        cases.rate("me", answer(text="x" * 5_000_000), 1)
    assert cases.listed("me") == []


# --- what is recalled
# ------------------------------------------------------------------------------------------------------------


def test_one_new_embedding_per_recall_whatever_the_size(
    cases: Cases, embedder: HashEmbedder, reopen: Reopen
) -> None:
    for number in range(60):
        cases.add("me", Case(f"What was item {number} of the budget?", "Some.", number % 2))
    for opened in (cases, Cases(reopen(), embedder)):
        embedder.calls = 0
        assert len(opened.find("me", "What was item 5 of the budget?", CaseQuery(least=-1.0))) == 8
        assert embedder.calls == 1


def test_cosines_are_those_of_the_rows() -> None:
    rows = np.random.default_rng(1).standard_normal((500, 384), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[9] = rows[7]
    found = cosines_of(rows, rows[7])
    assert found == pytest.approx(rows.astype(np.float64) @ rows[7].astype(np.float64), abs=1e-6)
    assert found[7] == found[9]
    assert cosines_of(rows * np.float32(1.001), rows[7]).max() == 1, "a row may be a little longer than unit"
    assert cosines_of(rows[:0], rows[7]).shape == (0,)


def test_filters_come_before_the_first_k(cases: Cases, shop: Shop, embedder: HashEmbedder) -> None:
    for number in range(12):  # the nearer half is negative, and of the others every second is stale
        far = number * " and more"
        cases.add(
            "me",
            Case(
                f"deficit ceiling{far} {number}",
                "Some.",
                int(number > 5),
                document_ids=(RULES if number % 2 else REPORT,),
            ),
        )
    shop.live.discard(REPORT)
    found = cases.find("me", "deficit ceiling", CaseQuery(k=3, reward=1, least=-1.0))
    assert [one.rank for one in found] == [1, 2, 3]
    assert all(one.case.reward == 1 and one.case.document_ids == (RULES,) for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert cases.find("me", "deficit ceiling", CaseQuery(least=1.01)) == []
    assert len(cases.find("me", "deficit ceiling", CaseQuery(k=12, least=-1.0, stale=True))) == 12


def test_a_case_is_stale_while_its_document_is_changed_or_gone(cases: Cases, shop: Shop) -> None:
    cases.rate("me", answer(), 1)
    cases.rate("me", answer("Who audits the accounts?", version=9), 1)  # of a file that was erased meanwhile
    assert [row.stale for row in cases.listed("me")] == [True, False]
    shop.live.clear()
    assert cases.find("me", QUESTION) == [] and cases.health("me").stale == 2
    shop.live.add(RULES)
    assert len(cases.find("me", QUESTION)) == 1


@pytest.mark.parametrize("number", [0.0, np.nan, np.inf], ids=["zero", "NaN", "infinite"])
def test_a_vector_that_is_none_finds_nothing_and_is_not_found(
    cases: Cases, embedder: HashEmbedder, number: float
) -> None:
    bad = np.full(256, number, np.float32)
    cases.rate("me", answer(), 1)
    assert cases.recall("me", bad, CaseQuery(least=-1.0)) == []
    assert cases.recall("me", bad[:9], CaseQuery(least=-1.0)) == []
    cases._shelf("me")._keep_vectors(cases._shelf("me").view().keys, bad[None])  # what a disk may do
    assert cases.find("me", QUESTION, CaseQuery(least=-1.0)) == [] and cases.health("me").waiting == 1
    assert cases.catch_up("me") == 0 and len(cases.find("me", QUESTION)) == 1


def test_while_the_embedder_fails_verdicts_are_kept_and_wait(
    cases: Cases, embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(texts: object, *, query: bool = False) -> object:
        raise ModelError("No endpoint.")

    with monkeypatch.context() as patch:
        patch.setattr(embedder, "embed", fails)
        cases.rate("me", answer(), 1)
        assert cases.health("me").waiting == 1
        with pytest.raises(ModelError):
            cases.catch_up("me")
    assert cases.catch_up("me") == 0
    assert len(cases.find("me", QUESTION)) == 1


def test_vectors_of_another_embedder_are_never_compared(cases: Cases, reopen: Reopen) -> None:
    cases.rate("me", answer(), 1)
    other = Cases(reopen(), HashEmbedder(dimension=32))
    assert other.find("me", QUESTION, CaseQuery(least=-1.0)) == [] and other.health("me").waiting == 1
    assert other.catch_up("me") == 0 and len(other.find("me", QUESTION)) == 1
    assert cases.find("me", QUESTION) == [] and cases.health("me").waiting == 1, "each row has one vector"


# --- as a layer
# ------------------------------------------------------------------------------------------------------------


def test_the_layer_gives_what_to_follow_then_what_to_avoid(cases: Cases, ask: Callable[..., Recall]) -> None:
    layer: MemoryLayer = CaseLayer(cases)
    assert layer.recall(ask(), 6) == []
    for number in range(7):
        cases.add(
            "me",
            Case(
                f"{QUESTION} {'abc'[number % 3] * 3}{number} ?",
                f"Answer {number}.",
                int(number < 5),
                word="" if number < 5 else "Wrong year.",
            ),
        )
    cases.thresholds = replace(UNKNOWN, similar=0.7)
    notes = layer.recall(ask(), 9)
    assert ["to follow" in note.text for note in notes] == [True] * 4 + [False] * 2
    for n, expected in enumerate([0, 0, 0, 1, 1]):
        assert len([note for note in layer.recall(ask(), n) if "to avoid" in note.text]) == expected
    assert all(
        note.layer == "cases" and note.source.startswith("your rating of ") and "alike" in note.source
        for note in notes
    )
    assert notes[0].text.startswith(
        "An example to follow, rated helpful. Asked: What is the deficit ceiling of Valmora?"
    )
    assert notes[-1].text.endswith("What was said about it: Wrong year.")
    assert layer.recall(ask("How tall is the lighthouse?"), 9) == []
    assert layer.recall(replace(ask(), vector=None), 9) == []


def test_an_answer_to_avoid_is_told_of_though_nothing_is_to_follow(
    cases: Cases, ask: Callable[..., Recall]
) -> None:
    cases.rate("me", answer(), 0)
    for n in (1, 2, 3):
        (note,) = CaseLayer(cases).recall(ask(), n)
        assert "to avoid" in note.text


# --- the same question again
# ------------------------------------------------------------------------------------------------------


def test_a_verified_answer_to_the_same_question_is_found_again(
    cases: Cases, ask: Callable[..., Recall]
) -> None:
    cases.rate("me", answer(), 1)
    vector = ask().vector
    assert vector is not None
    found = cases.of_question("me", "  what is the deficit ceiling of valmora", vector)
    assert found is not None and found.case.plan == "It is 3.0 per cent (Rules.pdf, p. 7)."
    assert cases.of_question("me", "What is the deficit ceiling of Borealis?", vector) is None
    assert cases.of_question("her", QUESTION, vector) is None
    cases.rate("me", answer("Valmora deficit ceiling: what is it?", "Wrong."), 0)
    cases.thresholds = replace(UNKNOWN, same=0.5)
    found = cases.of_question("me", QUESTION, vector)
    assert found is not None and (found.case.reward, found.case.plan) == (0, "Wrong."), (
        "the newer verdict on the same in other words"
    )
    assert cases.of_question("her", QUESTION, vector) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"citations": ()},
        {"citations": (Citation("S1", "Rules.pdf", 7, "7", "3 per cent", False, version=1),)},
        {"numbers": (NumberCheck("3.0 per cent", 3.0, "%", 1, None, "contradicted"),)},
    ],
    ids=["no citation", "a citation not found", "a figure contradicted"],
)
def test_only_a_verified_answer_is_shown_again(
    cases: Cases, ask: Callable[..., Recall], changes: dict[str, object]
) -> None:
    cases.rate("me", answer(**changes), 1)  # type: ignore[arg-type]
    recall = ask()
    assert recall.vector is not None and len(cases.recall("me", recall.vector)) == 1
    assert cases.of_question("me", QUESTION, recall.vector) is None


# --- pages
# ------------------------------------------------------------------------------------------------------------


def test_rated_pages_rise_or_fall_a_little_and_back_again(cases: Cases, ask: Callable[..., Recall]) -> None:
    vector = ask().vector
    assert vector is not None
    cases.rate("me", answer(), 1)
    (weighed,) = cases.weighed_pages("me", vector)
    assert (weighed.document_id, weighed.page) == (RULES, 7) and weighed.weight == pytest.approx(PAGE_BOUND)
    cases.add("me", replace(cases.listed("me")[0].case, question=f"{QUESTION} now"))
    assert [one.weight <= PAGE_BOUND for one in cases.weighed_pages("me", vector)] == [True]
    bad = cases.rate("me", answer(page=9, version=2), 0)
    (good_page, bad_page) = cases.weighed_pages("me", vector)
    assert (bad_page.page, bad_page.document_id, [case.id for case in bad_page.cases]) == (
        9,
        REPORT,
        [bad.id],
    )
    assert bad_page.weight == pytest.approx(-PAGE_BOUND) and 0 < good_page.weight < PAGE_BOUND, (
        "the nearer verdict says more"
    )
    assert cases.weighed_pages("her", vector) == []
    for row in cases.listed("me"):
        cases.delete("me", row.case.id)
    assert cases.weighed_pages("me", vector) == []


# --- owners
# ------------------------------------------------------------------------------------------------------------


def test_cases_are_their_owners_and_sharing_is_explicit(cases: Cases, ask: Callable[..., Recall]) -> None:
    mine = cases.rate("me", answer(), 1)
    assert (
        cases.find("her", QUESTION) == []
        and cases.listed("her") == []
        and cases.listed("her", shared=True) == []
    )
    shared = cases.share("me", mine.id)
    (found,) = cases.find("her", QUESTION)
    assert found.case.plan == mine.plan and found.case.by and "me" not in found.case.by
    assert [row.shared for row in cases.listed("her", shared=True)] == [True] and cases.listed("her") == []
    assert CaseLayer(cases).recall(ask(owner="her"), 3)[0].source.startswith("a shared rating of ")
    assert len(cases.find("me", QUESTION)) == 1, "the owner's own is not doubled"
    cases.rate("her", answer(), 0)
    assert [one.case.reward for one in cases.find("her", QUESTION)] == [0], "one's own verdict goes before"
    for change in (
        lambda: cases.unshare("her", shared.id),
        lambda: cases.delete("him", mine.id),
        lambda: cases.edit("him", mine.id, lambda case: case),
    ):
        with pytest.raises(NotFoundError):
            change()
    cases.unshare("me", shared.id)
    assert cases.find("him", QUESTION) == [] and len(cases.find("me", QUESTION)) == 1


def test_two_share_the_same_question_and_one_takes_it_back(cases: Cases) -> None:
    first, second = (
        cases.share(owner, cases.rate(owner, answer(text=owner), 1).id) for owner in ("me", "her")
    )
    assert first.id != second.id and len(cases.listed("him", shared=True)) == 2
    cases.unshare("me", first.id)
    assert [row.case.plan for row in cases.listed("him", shared=True)] == ["her"]


# --- correcting
# ------------------------------------------------------------------------------------------------------------


def test_a_case_is_edited_in_its_place(cases: Cases) -> None:
    kept = cases.rate("me", answer(), 1)
    cases.rate("me", answer("Who audits the accounts?"), 1)
    assert cases.edit("me", kept.id, lambda case: replace(case, reward=0)).verified
    new = cases.edit(
        "me",
        kept.id,
        lambda case: replace(case, plan="It is 4 per cent.", question="What is the ceiling of the debt?"),
    )
    assert not new.verified and new.pages == kept.pages
    assert [row.case.question for row in cases.listed("me")] == [
        "Who audits the accounts?",
        "What is the ceiling of the debt?",
    ]
    assert cases.find("me", QUESTION, CaseQuery(least=0.99)) == []
    assert cases.find("me", "What is the ceiling of the debt?")[0].case.plan == "It is 4 per cent."
    with pytest.raises(UsageError, match="needs a question and an answer"):
        cases.edit("me", new.id, lambda case: replace(case, plan=" "))


def test_what_is_deleted_and_what_was_said_before_it_is_gone_from_the_file_when_its_time_is_over(
    cases: Cases, tmp_path: Path
) -> None:
    cases.rate("me", answer(text="A first secret."), 1)
    kept = cases.rate("me", answer(text="A second secret."), 0)
    cases.rate("me", answer("Who audits the accounts?", "The court."), 1)
    cases.delete("me", kept.id)
    health = cases.health("me")
    assert (health.cases, health.waiting) == (1, 0)
    cases._deleted("me").remove(lambda case: True)
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.iterdir())
    with pytest.raises(NotFoundError):
        cases.delete("me", kept.id)


def test_cases_are_listed_latest_first_and_searched(cases: Cases) -> None:
    cases.rate("me", answer(), 1)
    cases.rate("me", answer("Who audits the accounts?", "The Court of Auditors."), 0, word="Out of date.")
    assert [row.case.question for row in cases.listed("me")] == ["Who audits the accounts?", QUESTION]
    assert [row.case.reward for row in cases.listed("me", search="AUDITORS date")] == [0]
    assert cases.listed("me", search="lighthouse") == []


def test_exported_cases_are_imported_as_they_were_but_for_what_was_not_seen(
    cases: Cases, tmp_path: Path
) -> None:
    cases.rate("me", answer(), 1, word="Good.")
    cases.rate("me", answer("Who audits the accounts?"), 0)
    (tmp_path / "out.jsonl").write_bytes(b"".join(cases.export("me")))
    result = cases.import_file("her", tmp_path / "out.jsonl")
    assert (result.added, result.known, result.problems) == (2, 0, ())
    for mine, hers in zip(cases.listed("me"), cases.listed("her"), strict=True):
        assert replace(mine.case, verified=False) == hers.case
    assert cases.import_file("her", tmp_path / "out.jsonl").known == 2, "what is as new is there already"
    assert len(cases.find("her", QUESTION)) == 1 and cases.health("her").waiting == 0


def test_an_import_never_takes_the_place_of_a_newer_verdict(cases: Cases, tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text(
        f'{{"case": "{QUESTION}", "plan": "Old.", "case_label": "positive"}}\n', "utf-8"
    )
    cases.rate("me", answer(), 0)
    assert cases.import_file("me", tmp_path / "old.jsonl").known == 1
    assert cases.find("me", QUESTION)[0].case.reward == 0
    with pytest.raises(NotFoundError, match=r"none\.jsonl cannot be read"):
        cases.import_file("me", tmp_path / "none.jsonl")

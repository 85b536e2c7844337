"""Case memory as its callers use it: what is kept of a verdict, what is recalled of it, and who has it; on
real files, with vectors worked out by hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.cases.case_layer import CaseLayer
from chatbot.memory.cases.case_store import Cases, Documents, question_vectors
from chatbot.memory.cases.feedback_rerank import PAGE_BOUND
from chatbot.memory.cases.records import Case
from chatbot.memory.layers import MemoryLayer
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.records import Answer, Citation, NumberCheck, Recall
from chatbot.store.vector_index import Vectors
from tests.chatbot.memory.cases.kept_cases import edit, kept
from tests.fakes import HashEmbedder

# What differs by the engine: what is written, deleted, and looked for in rows.
on_both = pytest.mark.usefixtures("engine")

QUESTION = "What is the deficit ceiling of Valmora?"
AUDIT = "Who audits the accounts?"
RULES, REPORT = "a" * 64, "b" * 64
CITATION = Citation("S1", "Rules.pdf", 7, "7", "3.0 per cent of output", True, version=1)


def answer(
    question: str = QUESTION,
    text: str = "It is 3.0 per cent [S1].",
    *,
    page: int = 7,
    version: int = 1,
    **changes: object,
) -> Answer:
    cited = replace(CITATION, page=page, page_label=str(page), version=version)
    plain = Answer(question, question, text, True, citations=(cited,))
    return replace(plain, **changes)  # type: ignore[arg-type]


class Shop:
    """Documents that a test can change. live: SHA-256 of those that answers rest on."""

    def __init__(self) -> None:
        self.live = {RULES, REPORT}
        digests = {1: RULES, 2: REPORT}
        self.documents = Documents(digests.get, lambda: self.live)  # type: ignore[arg-type]


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
        (vector,) = question_vectors(embedder, [question])
        return Recall(question, vector, "talk", owner)

    return made


@pytest.fixture
def vector(embedder: HashEmbedder) -> Vectors:
    """Of the question."""
    return np.asarray(question_vectors(embedder, [QUESTION])[0], np.float32)


@on_both
def test_a_verdict_becomes_a_case_with_its_pages(cases: Cases) -> None:
    rated = cases.rate("me", answer(), 1, word=" right ")
    (found,) = cases.find("me", QUESTION)
    assert found.rank == 1
    assert found.score == pytest.approx(1.0)
    case = found.case
    assert case == rated
    assert (case.question, case.reward) == (QUESTION, 1)
    assert (case.plan, case.word) == ("It is 3.0 per cent (Rules.pdf, p. 7).", "right")
    assert case.verified
    assert case.document_ids == (RULES,)
    assert case.at > 1e9
    (page,) = case.pages
    assert (page.document_id, page.document, page.page) == (RULES, "Rules.pdf", 7)
    assert page.quote == "3.0 per cent of output"


@on_both
def test_the_newest_verdict_counts_for_a_question_however_it_is_written(cases: Cases) -> None:
    cases.rate("me", answer(), 1)
    loud = f"  {QUESTION.upper()} "
    cases.rate("me", answer(loud), 0)
    (found,) = cases.find("me", QUESTION)
    assert found.case.reward == 0
    assert cases.health("me").cases == 1
    assert [cases.rated("me", answer())] == kept(cases)
    another = answer("Who audits?")
    assert cases.rated("me", another) is None


def test_a_verdict_counts_though_the_clock_was_put_back(cases: Cases) -> None:
    cases.add("me", Case(QUESTION, "Some.", at=time.time() + 3_600))
    assert cases.rate("me", answer(), 0).reward == 0
    (case,) = kept(cases)
    assert case.reward == 0


@pytest.mark.parametrize(
    "given",
    [answer(answered=False, text="Not in these documents."), answer(error="The model was silent.")],
    ids=["refused", "failed"],
)
def test_an_answer_that_was_refused_or_failed_is_never_one_to_follow(cases: Cases, given: Answer) -> None:
    with pytest.raises(UsageError, match="cannot be rated helpful"):
        cases.rate("me", given, 1)
    assert cases.listed("me") == []
    bad = cases.rate("me", given, 0)
    assert bad.reward == 0


def test_a_verdict_that_is_none_is_refused(cases: Cases) -> None:
    with pytest.raises(UsageError, match="'perhaps' is neither positive"):
        cases.rate("me", answer(), "perhaps")


@on_both
def test_filters_come_before_the_first_k(cases: Cases, shop: Shop) -> None:
    for number in range(12):  # the nearer half is negative, and of the others every second is stale
        far = number * " and more"
        question = f"deficit ceiling{far} {number}"
        document = RULES if number % 2 else REPORT
        case = Case(question, "Some.", int(number > 5), document_ids=(document,))
        cases.add("me", case)
    shop.live.discard(REPORT)
    found = cases.find("me", "deficit ceiling", 3, reward=1, least=-1.0)
    assert [one.rank for one in found] == [1, 2, 3]
    for one in found:
        assert one.case.reward == 1
        assert one.case.document_ids == (RULES,)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert cases.find("me", "deficit ceiling", least=1.01) == []


def test_a_case_is_stale_while_its_document_is_changed_or_gone(cases: Cases, shop: Shop) -> None:
    cases.rate("me", answer(), 1)
    of_erased = answer(AUDIT, version=9)  # of a file that was erased meanwhile
    cases.rate("me", of_erased, 1)
    audit, ceiling = cases.listed("me")
    assert audit.stale
    assert not ceiling.stale
    shop.live.clear()
    assert cases.find("me", QUESTION) == []
    assert cases.health("me").stale == 2
    shop.live.add(RULES)
    assert len(cases.find("me", QUESTION)) == 1


@pytest.mark.parametrize("number", [0.0, np.nan, np.inf], ids=["zero", "NaN", "infinite"])
def test_a_vector_that_is_none_finds_nothing_and_is_not_found(
    cases: Cases, memories: MemoryDatabase, number: float
) -> None:
    bad = np.full(256, number, np.float32)
    cases.rate("me", answer(), 1)
    assert cases.recall("me", bad, least=-1.0) == []
    assert cases.recall("me", bad[:9], least=-1.0) == []
    ((row, question),) = memories.read("select number, text from item")
    cases._items.keep_vectors([(row, question)], [bad])  # what a disk may do
    assert cases.find("me", QUESTION, least=-1.0) == []
    assert cases.health("me").waiting == 1


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
            cases.catch_up()
    assert cases.catch_up() == 0
    assert len(cases.find("me", QUESTION)) == 1


@pytest.fixture
def layer(cases: Cases) -> MemoryLayer:
    return CaseLayer(cases)


@pytest.fixture
def five_good_two_bad(cases: Cases) -> None:
    """Verdicts on questions that are much alike."""
    for number in range(7):
        good = number < 5
        letters = "abc"[number % 3] * 3
        question = f"{QUESTION} {letters}{number} ?"
        word = "" if good else "Wrong year."
        case = Case(question, f"Answer {number}.", int(good), word=word)
        cases.add("me", case)
    cases.similar = 0.7


@pytest.mark.usefixtures("five_good_two_bad")
def test_the_layer_gives_what_to_follow_then_what_to_avoid(
    layer: MemoryLayer, ask: Callable[..., Recall]
) -> None:
    notes = layer.recall(ask(), 9)
    follow = ["to follow" in note.text for note in notes]
    assert follow == [True] * 4 + [False] * 2
    for note in notes:
        assert note.layer == "cases"
        assert note.source.startswith("your rating of ")
        assert "similarity" in note.source
    first = "An example to follow, rated helpful. User: What is the deficit ceiling of Valmora?"
    assert notes[0].text.startswith(first)
    assert notes[-1].text.endswith("What was said about it: Wrong year.")


@pytest.mark.usefixtures("five_good_two_bad")
def test_what_is_like_no_case_or_has_no_vector_is_given_nothing(
    layer: MemoryLayer, ask: Callable[..., Recall]
) -> None:
    another = ask("How tall is the lighthouse?")
    assert layer.recall(another, 9) == []
    without_vector = replace(ask(), vector=None)
    assert layer.recall(without_vector, 9) == []


def test_a_verified_answer_to_the_same_question_is_found_again(cases: Cases) -> None:
    cases.rate("me", answer(), 1)
    found = cases.of_question("me", "  what is the deficit ceiling of valmora")
    assert found
    assert found.plan == "It is 3.0 per cent (Rules.pdf, p. 7)."
    assert cases.of_question("me", "What is the deficit ceiling of Borealis?") is None
    assert cases.of_question("her", QUESTION) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"citations": ()},
        {"citations": (replace(CITATION, quote="3 per cent", verified=False),)},
        {"numbers": (NumberCheck("3.0 per cent", 3.0, "%", 1, None, "contradicted"),)},
    ],
    ids=["no citation", "a citation not found", "a figure contradicted"],
)
def test_only_a_verified_answer_is_shown_again(
    cases: Cases, vector: Vectors, changes: dict[str, object]
) -> None:
    unverified = answer(**changes)  # type: ignore[arg-type]
    cases.rate("me", unverified, 1)
    assert len(cases.recall("me", vector)) == 1
    assert cases.of_question("me", QUESTION) is None


def test_rated_pages_rise_or_fall_a_little(cases: Cases, vector: Vectors) -> None:
    cases.rate("me", answer(), 1)
    (rated,) = cases.weighed_pages("me", vector)
    assert (rated.document_id, rated.page) == (RULES, 7)
    assert rated.weight == pytest.approx(PAGE_BOUND)
    (case,) = kept(cases)
    cases.add("me", replace(case, question=f"{QUESTION} now"))
    (rated_twice,) = cases.weighed_pages("me", vector)
    assert rated_twice.weight <= PAGE_BOUND
    wrong = answer(page=9, version=2)
    bad = cases.rate("me", wrong, 0)
    good_page, bad_page = cases.weighed_pages("me", vector)
    assert (bad_page.page, bad_page.document_id) == (9, REPORT)
    assert [case.id for case in bad_page.cases] == [bad.id]
    assert bad_page.weight == pytest.approx(-PAGE_BOUND)
    assert 0 < good_page.weight < PAGE_BOUND, "the nearer verdict says more"
    assert cases.weighed_pages("her", vector) == []


@on_both
def test_what_is_shared_is_found_by_others_and_taken_back(cases: Cases, ask: Callable[..., Recall]) -> None:
    mine = cases.rate("me", answer(), 1)
    lent = cases.share("me", mine.id)
    (found,) = cases.find("her", QUESTION)
    assert found.case.plan == mine.plan
    assert found.case.by
    assert "me" not in found.case.by
    (row,) = cases.listed("her", shared=True)
    assert row.case.shared
    assert cases.listed("her") == []
    layer = CaseLayer(cases)
    note, *_ = layer.recall(ask(owner="her"), 3)
    assert note.source.startswith("a shared rating of ")
    assert len(cases.find("me", QUESTION)) == 1, "the owner's own is not doubled"
    cases.rate("her", answer(), 0)
    (hers,) = cases.find("her", QUESTION)
    assert hers.case.reward == 0, "one's own verdict goes before"
    cases.unshare("me", lent.id)
    assert cases.find("him", QUESTION) == []
    assert len(cases.find("me", QUESTION)) == 1


def test_nobody_changes_the_cases_of_others(cases: Cases) -> None:
    mine = cases.rate("me", answer(), 1)
    lent = cases.share("me", mine.id)
    with pytest.raises(NotFoundError):
        cases.unshare("her", lent.id)
    with pytest.raises(NotFoundError):
        cases.delete("him", mine.id)
    with pytest.raises(NotFoundError):
        cases.edit("him", mine.id, lambda case: case)


@on_both
def test_a_case_is_edited_in_its_place(cases: Cases) -> None:
    rated = cases.rate("me", answer(), 1)
    cases.rate("me", answer(AUDIT), 1)
    turned = edit(cases, rated.id, reward=0)
    assert turned.verified
    debt = "What is the ceiling of the debt?"
    new = edit(cases, rated.id, plan="It is 4 per cent.", question=debt)
    assert not new.verified
    assert new.pages == rated.pages
    assert [case.question for case in kept(cases)] == [AUDIT, debt]
    assert cases.find("me", QUESTION, least=0.99) == []
    nearest, *_ = cases.find("me", debt)
    assert nearest.case.plan == "It is 4 per cent."
    with pytest.raises(UsageError, match="needs a question and an answer"):
        edit(cases, new.id, plan=" ")


@on_both
def test_cases_are_listed_latest_first_and_searched(cases: Cases) -> None:
    cases.rate("me", answer(), 1)
    audit = answer(AUDIT, "The Court of Auditors.")
    cases.rate("me", audit, 0, word="Out of date.")
    assert [case.question for case in kept(cases)] == [AUDIT, QUESTION]
    (row,) = cases.listed("me", search="AUDITORS date")
    assert row.case.reward == 0
    assert cases.listed("me", search="lighthouse") == []


@on_both
def test_exported_cases_are_imported_as_they_were_but_for_what_was_not_seen(
    cases: Cases, tmp_path: Path
) -> None:
    cases.rate("me", answer(), 1, word="Good.")
    cases.rate("me", answer(AUDIT), 0)
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"".join(cases.export("me")))
    done = cases.import_file("her", path)
    assert (done.added, done.known) == (2, 0)
    assert done.problems == ()
    for mine, hers in zip(kept(cases), kept(cases, "her"), strict=True):
        assert replace(mine, verified=False) == hers
    again = cases.import_file("her", path)
    assert again.known == 2, "what is as new is there already"
    assert len(cases.find("her", QUESTION)) == 1
    assert cases.health("her").waiting == 0

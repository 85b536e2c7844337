"""Case memory on disk: the three shapes, lines that cannot be read, two processes at once, spoiled
vectors, and real ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.errors import StoreError, UsageError
from chatbot.memory.cases.case_file import TABLES, CaseFile, question_vectors
from chatbot.memory.cases.case_recall import thresholds_of
from chatbot.memory.cases.case_store import CaseQuery, Cases
from chatbot.memory.cases.question_equivalence import asks_the_same
from chatbot.memory.cases.records import (
    GONE,
    Case,
    CasePage,
    case_id,
    case_line,
    edited_line,
    read_case,
    read_reward,
)
from chatbot.memory.memory_database import NAME, MemoryDatabase
from chatbot.models.embedders import LocalEmbedder
from chatbot.settings import load_settings
from tests.chatbot.memory.conftest import Reopen
from tests.fakes import HashEmbedder

EMBEDDER = HashEmbedder(dimension=64)
ADD = """
import sys
from pathlib import Path
from chatbot.memory.cases.records import Case
from chatbot.memory.cases.case_store import Cases
from chatbot.memory.memory_database import MemoryDatabase
from tests.fakes import HashEmbedder
cases = Cases(MemoryDatabase(Path(sys.argv[1])), HashEmbedder(dimension=64))
for number in range(500):
    cases.add("me", Case(f"What is item {number} of {sys.argv[2]}?", "Something. " * 20, number % 2))
"""


@pytest.fixture
def shelf(memories: MemoryDatabase) -> CaseFile:
    memories.prepare(TABLES)
    return CaseFile(memories, "mine", EMBEDDER)


def line(question: str, **fields: object) -> bytes:
    return json.dumps({"question": question, "plan": "An answer.", **fields}).encode() + b"\n"


# --- shapes
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "reward"),
    [
        ({"question": "Q?", "plan": "P", "reward": 1}, 1),
        ({"question": "Q?", "plan": "P", "reward": 0, "timestamp": "2024-01-01"}, 0),
        ({"case": "Q?", "plan": "P", "case_label": "positive"}, 1),
        ({"case": "Q?", "plan": "P", "case_label": "negative"}, 0),
        ({"user_message": "Q?", "assistant_response": "P", "timestamp": "2024-01-01"}, 1),
        ({"user_message": "Q?", "assistant_response": "P", "timestamp": 1704067200, "reward": "0"}, 0),
        ({"query": "Q?", "response": "P"}, 1),
        ({"question": "Q?", "answer": "P", "verdict": "negative"}, 0),
        ({"case": "Q?", "plan": "P", "reward": 0}, 0),
        ({"question": "Q?", "plan": "P", "case_label": "negative"}, 0),
        ({"query": "Q?", "response": "P", "reward": None, "verdict": False}, 0),
        ({"case": "Q?", "plan": "P", "case_label": "negative", "reward": 0}, 0),
    ],
)
def test_every_shape_is_read(record: dict[str, object], reward: int) -> None:
    case = read_case(json.dumps(record).encode(), 3)
    assert (case.question, case.plan, case.reward, case.line_index) == ("Q?", "P", reward, 3)
    assert case.at == (1704067200.0 if "timestamp" in record else 0.0)


@pytest.mark.parametrize(
    "value", ["1", "true", "TRUE ", 1, 1.0, True, "1.0", "positive", "yes", None], ids=repr
)
def test_what_is_positive(value: object) -> None:
    assert read_reward(value) == 1


@pytest.mark.parametrize("value", ["0", "false", 0, 0.0, False, -1, "negative", "-1"], ids=repr)
def test_what_is_negative(value: object) -> None:
    assert read_reward(value) == 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "it is no JSON"),
        (b'{"question": "Q", "plan": "P", "n": ' + b"9" * 5_000 + b"}", "it holds a number that is too long"),
        (b'{"question": "Q", "plan": "P", "rew', "it is no JSON"),
        (b"[1, 2]", "it is a JSON list, not an object"),
        (b'"text"', "it is a JSON text"),
        (b"\xff\xfe{}", "it is no UTF-8 text"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"question": "Q"}', "it has none of the pairs of fields question/plan, case/plan"),
        (b'{"question": 3, "plan": "P"}', "its question is a number, not text"),
        (b'{"question": "Q", "plan": ["P"]}', "its plan is a list, not text"),
        (b'{"question": " ", "plan": "P"}', "its question is empty"),
        (b'{"question": "Q", "plan": "P", "reward": NaN}', "its verdict 'NaN' is neither"),
        (b'{"question": "Q", "plan": "P", "reward": 0.5}', "its verdict 0.5 is neither"),
        (b'{"case": "Q", "plan": "P", "reward": NaN}', "its verdict 'NaN' is neither"),
        (
            b'{"case": "Q", "plan": "P", "reward": 1, "case_label": "negative"}',
            "its verdicts reward and case_label contradict each other",
        ),
        (b'{"question": "Q", "plan": "P", "reward": [1]}', r"its verdict \[1\] is neither"),
        (
            b'{"question": "Q", "plan": "' + b"x" * 5_000_000 + b'"}',
            "it has 5,000,029 bytes, at most 1,000,000 are read",
        ),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_line_that_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_case(data, 0)


@pytest.mark.parametrize(
    "more",
    [
        '"timestamp": 1e400',
        '"timestamp": "soon"',
        '"pages": [7, "x", null, -1]',
        '"document_ids": 5',
        '"word": 7',
        '"score": NaN',
    ],
)
def test_other_fields_of_a_wrong_type_lose_no_case(more: str) -> None:
    case = read_case(f'{{"question": "Q", "plan": "P", {more}}}'.encode(), 0)
    assert case == Case("Q", "P", 1, line_index=0, id=case_id("Q"))
    assert read_case(case_line(case), 0) == case


def test_texts_that_cannot_be_written_and_ids_that_are_none_are_made_sound() -> None:
    odd = (
        b'{"question": "Q", "plan": "P", "word": "a\\ud800", "by": "\\ud800", "document_ids": ["\\ud800", '
        b'"report.pdf", 7],'
    )
    odd += (
        b' "pages": [{"document_id": "\\ud800", "document": "\\ud800", "page": 1, "quote": "\\ud800"}, '
        b'{"document_id": "x", "page": true}]}'
    )
    case = read_case(odd, 0)
    assert case.document_ids == (GONE,) and [(page.document_id, page.page) for page in case.pages] == [
        (GONE, 1)
    ]
    for text in (case.word, case.by, case.pages[0].document, case.pages[0].quote):
        text.encode("utf-8")
    assert read_case(case_line(case), 0) == case, "as it is written it is read"


def test_plain_page_numbers_are_those_of_the_one_document() -> None:
    one = "ab" * 32
    assert read_case(line("Q", document_ids=[one], pages=[3, 4]), 0).pages == (
        CasePage(one, "", 3),
        CasePage(one, "", 4),
    )


texts = st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
pages = st.builds(
    CasePage, st.text(max_size=8), st.text(max_size=20), st.integers(1, 999), st.text(max_size=30)
)


@given(
    st.builds(
        Case,
        texts,
        texts,
        st.sampled_from([0, 1]),
        st.integers(0, 4 * 10**9).map(float),
        word=st.text(max_size=30),
        pages=st.lists(pages, max_size=3).map(tuple),
    )
)
def test_what_is_written_is_read_again_by_any_reader_of_lines(case: Case) -> None:
    written = case_line(case)
    assert len(written.decode().splitlines()) == 1, "no line ends inside, whatever ends a reader knows"
    read = read_case(written, 5)

    def plain(one: Case) -> Case:
        encoded = [text.encode("utf-8", "replace").decode() for text in (one.question, one.plan, one.word)]
        return Case(encoded[0], encoded[1], one.reward, one.at, word=encoded[2])

    assert plain(read) == plain(case)
    assert len(read.pages) == len(case.pages) and read.id == case_id(read.question)


def test_an_edited_line_keeps_its_shape_and_what_others_wrote() -> None:
    data = b'{"case": "Q?", "plan": "P", "case_label": "positive", "reward": 1, "tool": {"a": [1]}}\n'
    changed = replace(read_case(data, 0), plan="New", reward=0)
    assert json.loads(edited_line(data, changed)) == {
        "case": "Q?",
        "plan": "New",
        "case_label": "negative",
        "reward": 0,
        "tool": {"a": [1]},
    }
    bare = b'{"user_message": "Q?", "assistant_response": "P"}'
    assert json.loads(edited_line(bare, replace(read_case(bare, 0), reward=0)))["reward"] == 0


# --- rows
# ------------------------------------------------------------------------------------------------------------


def questions_of(shelf: CaseFile) -> list[str]:
    return [case.question for case in shelf.view().cases]


def test_rows_that_cannot_be_read_are_reported_by_place_and_the_others_read(
    shelf: CaseFile, memories: MemoryDatabase
) -> None:
    shelf.put([Case("One?", "Yes."), Case("Two?", "Yes."), Case("Three?", "Yes.")])
    shelf.embed()
    with memories.write() as connection:
        connection.execute(
            "update rated_answer set line = 'no json', revision = 9 where id = ?", (case_id("Two?"),)
        )
    view = shelf.view()
    assert [case.question for case in view.cases] == ["One?", "Three?"] and view.embedded.tolist() == [
        True,
        True,
    ]
    assert [problem.line for problem in view.problems] == [2] and "no JSON" in view.problems[0].reason
    assert [case.question for case in shelf.remove(lambda case: True)] == ["One?", "Three?"]
    assert len(shelf.view().problems) == 1, "what cannot be read is not lost"


def test_what_another_process_adds_changes_or_removes_is_seen(shelf: CaseFile, reopen: Reopen) -> None:
    shelf.put([Case("One?", "Yes."), Case("Two?", "Yes.")])
    shelf.embed()
    shelf.view()
    other = CaseFile(reopen(), "mine", EMBEDDER)
    other.put([Case("Three?", "Yes.")])
    assert [(case.question, case.line_index) for case in shelf.view().cases][-1] == ("Three?", 2)
    other.change(case_id("One?"), lambda case: replace(case, plan="No."))
    assert [case.plan for case in shelf.view().cases] == [
        "No.",
        "Yes.",
        "Yes.",
    ] and shelf.view().embedded.tolist() == [True, True, False]
    other.remove(lambda case: case.question == "One?")
    view = shelf.view()
    assert [(case.question, case.line_index) for case in view.cases] == [
        ("Two?", 0),
        ("Three?", 1),
    ] and view.embedded.tolist() == [True, False]
    other.put([Case("two?", "Anew.")])
    assert questions_of(shelf) == ["Three?", "two?"]


def test_a_full_disk_leaves_what_was_there(shelf: CaseFile, memories: MemoryDatabase) -> None:
    shelf.put([Case("One?", "Yes.")])
    ((pages,),) = memories.read("pragma page_count")
    memories.read(f"pragma max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        shelf.put([Case("Two?", "Yes."), Case("Three?", "x" * 500_000)])
    assert questions_of(shelf) == ["One?"]


def test_two_processes_add_five_hundred_cases_each_and_all_thousand_are_readable(
    memories: MemoryDatabase, tmp_path: Path, root: Path
) -> None:
    cases = Cases(memories, EMBEDDER)
    command = [sys.executable, "-c", ADD, str(tmp_path / NAME)]
    writers = [
        subprocess.Popen([*command, name], cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
        for name in ("the budget", "the rules")
    ]
    assert [writer.wait(100) for writer in writers] == [0, 0]
    health = cases.health("me")
    assert (health.cases, health.positive, health.problems, health.waiting) == (1_000, 500, (), 0)
    assert len(list(cases.export("me"))) == 1_000


def test_no_owners_name_stands_in_the_file(memories: MemoryDatabase, tmp_path: Path) -> None:
    for owner in ("../../outside", "a/b", "\x00", "ann@example.org", "\ud800", "x" * 5_000):
        Cases(memories, EMBEDDER).add(owner, Case("One?", "Yes."))
    assert memories.read("select count(distinct shelf) from rated_answer") == [(6,)]
    assert b"ann@example.org" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


# --- vectors
# ------------------------------------------------------------------------------------------------------------


def test_spoiled_vectors_are_made_anew(shelf: CaseFile, memories: MemoryDatabase) -> None:
    shelf.put([Case("One?", "Yes."), Case("Two?", "Yes.")])
    assert shelf.embed() == 0 and shelf.view().embedded.all()
    for spoiled in (b"\xff" * 256, b"short", None):
        with memories.write() as connection:
            connection.execute("update rated_answer set vector = ?, revision = revision + 1", (spoiled,))
        assert not shelf.view().embedded.any() and not shelf.view().rows.any()
    assert shelf.embed(most=1) == 1 and shelf.view().embedded.tolist() == [False, True], "the newest first"


def test_a_vector_is_kept_with_its_question_only(shelf: CaseFile) -> None:
    shelf.put([Case("One?", "Yes."), Case("Two?", "Yes.")])
    shelf.embed()
    shelf.put([Case("One?", "Still.")])
    assert shelf.view().embedded.all()
    shelf.change(case_id("Two?"), lambda case: replace(case, question="Three?", id=case_id("Three?")))
    assert shelf.view().embedded.tolist() == [False, True] and questions_of(shelf) == ["Three?", "One?"]


def test_no_vector_is_given_to_a_case_that_changed_while_it_was_made(shelf: CaseFile) -> None:
    shelf.put([Case("One?", "Yes.")])
    keys = shelf.view().keys
    shelf.change(case_id("One?"), lambda case: replace(case, question="Two?", id=case_id("Two?")))
    shelf._keep_vectors(keys, question_vectors(EMBEDDER, ["One?"]))
    assert not shelf.view().embedded.any()


def test_a_long_question_is_embedded_whole() -> None:
    words = [f"word{number}" for number in range(50)]
    small = HashEmbedder(dimension=64, max_tokens=10)
    (row,) = question_vectors(small, [" ".join(words)])
    assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-5) and row @ small.embed([words[45]])[0] > 0.05


@pytest.mark.timed
def test_twenty_thousand_cases_load_and_are_recalled_in_time(memories: MemoryDatabase) -> None:
    """Made ones with random vectors; the bound is wide, for the machine may be busy."""
    cases, count = Cases(memories, HashEmbedder(dimension=384)), 20_000
    questions = [f"What was item {number} of the budget?" for number in range(count)]
    cases._shelf("me").put([Case(question, "An answer.") for question in questions])
    rows = np.random.default_rng(0).standard_normal((count, 384), np.float32)
    cases._shelf("me")._keep_vectors(
        cases._shelf("me").view().keys, rows / np.linalg.norm(rows, axis=1, keepdims=True)
    )
    cases = Cases(memories, HashEmbedder(dimension=384))
    started = time.process_time()
    view = cases._shelf("me").view()
    assert len(view.cases) == count and view.embedded.all()
    loaded = time.process_time() - started
    first = cases.recall("me", view.rows[17_777], CaseQuery(least=-1.0))
    assert first[0].case.question == questions[17_777] and first[0].score == pytest.approx(1)
    started = time.process_time()
    for _ in range(5):
        cases.recall("me", view.rows[5], CaseQuery(least=-1.0))
    assert time.process_time() - started < loaded, "five recalls take less than reading once"


# --- real vectors
# ------------------------------------------------------------------------------------------------------------

SAME = """What is the deficit ceiling?|What is the ceiling for the deficit?
Who audits the accounts of the state?|Who audits the state's accounts?
What was net income in 2021?|How much was the net income in 2021?
What was Acme's revenue in FY2020?|What revenue did Acme have in FY2020?
What was the debt-to-GDP ratio in 2023?|What was debt as a share of GDP in 2023?
How large is the contingency reserve?|What is the size of the contingency reserve?
When must the budget be submitted to parliament?|By when must the budget be submitted to parliament?
What is the inflation target of the central bank?|What inflation target does the central bank have?
What is the penalty for late payment?|Which penalty applies to late payment?
How much was spent on pensions in 2022?|What was spending on pensions in 2022?
What are the conditions for an early repayment?|Under which conditions is early repayment possible?
How is the structural balance defined?|What is the definition of the structural balance?
What share of revenue comes from VAT?|How much of the revenue comes from VAT?"""
OTHER = """What was net income in 2021?|What was net income in 2020?
What was net income in 2021?|What was operating income in 2021?
What was Acme's revenue in FY2020?|What was Borealis's revenue in FY2020?
What is the deficit ceiling?|What is the debt ceiling?
What is the deficit ceiling?|Who sets the deficit ceiling?
Who audits the accounts of the state?|Who keeps the accounts of the state?
Who approves purchases above 10,000 dollars?|Who approves purchases above 50,000 dollars?
What is the minimum reserve?|What is the maximum reserve?
When must the budget be submitted to parliament?|When must the budget be approved by parliament?
Can fiscal rules be suspended?|Can fiscal rules not be suspended?
What was the debt-to-GDP ratio last year?|What was the debt-to-GDP ratio this year?
What was revenue in the first quarter of 2022?|What was revenue in the third quarter of 2022?
How did revenue change from 2020 to 2021?|What was revenue in 2021?
What is the short-term debt?|What is the long-term debt?
Which departments lost funding in 2024?|Which departments gained funding in 2024?"""


@pytest.fixture(scope="module")
def minilm() -> LocalEmbedder:
    return LocalEmbedder(load_settings().model_cache)


@pytest.mark.parametrize(
    ("pairs", "same"),
    [(SAME, True), (OTHER, False)],
    ids=["the same in other words", "another in the same words"],
)
def test_near_identical_questions_are_told_from_near_ones(
    minilm: LocalEmbedder, pairs: str, same: bool
) -> None:
    bounds, wrong = thresholds_of(minilm.fingerprint), []
    for pair in pairs.splitlines():
        question, other = pair.split("|")
        vector, near = question_vectors(minilm, [question, other])
        if (float(vector @ near) >= bounds.same and asks_the_same(question, other)) != same:
            wrong.append(pair)
        assert vector @ near >= (bounds.similar if same else -1)
    assert wrong == []


def test_every_case_of_the_memento_file_is_read(shared: Path, memories: MemoryDatabase) -> None:
    cases = Cases(memories, EMBEDDER)
    result = cases.import_file("me", shared / "memento" / "memory.jsonl")
    health = cases.health("me")
    assert (result.added, result.known, result.problems) == (1_278, 0, ())
    assert (health.cases, health.positive, health.negative, health.waiting) == (1_278, 897, 381, 0)
    assert all(
        len(cases.find("me", "Who is the father of John?", CaseQuery(reward=reward, least=-1.0))) == 8
        for reward in (0, 1)
    )


def test_a_case_that_is_too_long_is_refused_and_one_at_the_limit_is_not() -> None:
    room = 1_000_000 - len(case_line(Case("Q?", "x"))) + 1
    assert len(case_line(Case("Q?", "x" * room))) == 1_000_000
    with pytest.raises(UsageError, match="1,000,001 bytes"):
        case_line(Case("Q?", "x" * (room + 1)))

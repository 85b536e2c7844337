"""Case memory on disk: the three shapes, lines that cannot be read, two processes at once, spoiled
vectors, and real ones.
"""

from __future__ import annotations

import json
import os
import re
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
from tests.case_rows import case_rows
from tests.chatbot.memory.cases.kept_cases import ANY
from tests.chatbot.memory.conftest import Reopen, stands_on_disk
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
    case_rows("""
        {"question": "Q?", "plan": "P", "reward": 1}                                                | 1
        {"question": "Q?", "plan": "P", "reward": 0, "timestamp": "2024-01-01"}                     | 0
        {"case": "Q?", "plan": "P", "case_label": "positive"}                                       | 1
        {"case": "Q?", "plan": "P", "case_label": "negative"}                                       | 0
        {"user_message": "Q?", "assistant_response": "P", "timestamp": "2024-01-01"}                | 1
        {"user_message": "Q?", "assistant_response": "P", "timestamp": 1704067200, "reward": "0"}   | 0
        {"query": "Q?", "response": "P"}                                                            | 1
        {"question": "Q?", "answer": "P", "verdict": "negative"}                                    | 0
        {"case": "Q?", "plan": "P", "reward": 0}                                                    | 0
        {"question": "Q?", "plan": "P", "case_label": "negative"}                                   | 0
        {"query": "Q?", "response": "P", "reward": null, "verdict": false}                          | 0
        {"case": "Q?", "plan": "P", "case_label": "negative", "reward": 0}                          | 0
    """),
)
def test_every_shape_is_read(record: str, reward: str) -> None:
    case = read_case(record.encode(), 3)
    assert case.question == "Q?"
    assert case.plan == "P"
    assert case.reward == int(reward)
    assert case.line_index == 3
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
    ("line", "reason"),
    case_rows(r"""
        {                                         | it is not JSON
        {"question": "Q", "plan": "P", "rew       | it is not JSON
        [1, 2]                                    | it is a JSON list, not an object
        "text"                                    | it is a JSON text
        {"question": "Q"}                     | it has none of the pairs of fields question/plan, case/plan
        {"question": 3, "plan": "P"}              | its question is a number, not text
        {"question": "Q", "plan": ["P"]}          | its plan is a list, not text
        {"question": " ", "plan": "P"}            | its question is empty
        {"question": "Q", "plan": "P", "reward": NaN}   | its verdict 'NaN' is neither
        {"question": "Q", "plan": "P", "reward": 0.5}   | its verdict 0.5 is neither
        {"case": "Q", "plan": "P", "reward": NaN}       | its verdict 'NaN' is neither
        {"question": "Q", "plan": "P", "reward": [1]}   | its verdict [1] is neither
    """),
)
def test_a_line_that_cannot_be_read_says_why(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        read_case(line.encode(), 0)


LONG_NUMBER = b'{"question": "Q", "plan": "P", "n": ' + b"9" * 5_000 + b"}"
LONG_PLAN = b'{"question": "Q", "plan": "' + b"x" * 5_000_000 + b'"}'
CONTRADICTION = b'{"case": "Q", "plan": "P", "reward": 1, "case_label": "negative"}'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (LONG_NUMBER, "it has a number that is too long"),
        (b"\xff\xfe{}", "it is not UTF-8 text"),
        (b"[" * 100_000, "it is nested too deeply"),
        (LONG_PLAN, "it has 5,000,029 bytes; the limit is 1,000,000"),
        (CONTRADICTION, "its verdicts reward and case_label contradict each other"),
    ],
    ids=["number", "bytes", "nested", "long", "contradiction"],
)
def test_bytes_that_cannot_be_read_say_why(data: bytes, reason: str) -> None:
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
    data = f'{{"question": "Q", "plan": "P", {more}}}'
    case = read_case(data.encode(), 0)
    assert case == Case("Q", "P", 1, line_index=0, id=case_id("Q"))
    assert read_case(case_line(case), 0) == case


def test_texts_that_cannot_be_written_and_ids_that_are_none_are_made_sound() -> None:
    odd = rb"""
        {"question": "Q", "plan": "P", "word": "a\ud800", "by": "\ud800",
         "document_ids": ["\ud800", "report.pdf", 7],
         "pages": [{"document_id": "\ud800", "document": "\ud800", "page": 1, "quote": "\ud800"},
                   {"document_id": "x", "page": true}]}
    """
    case = read_case(odd, 0)
    assert case.document_ids == (GONE,)
    (page,) = case.pages
    assert page.document_id == GONE
    assert page.page == 1
    for text in (case.word, case.by, page.document, page.quote):
        text.encode("utf-8")
    assert read_case(case_line(case), 0) == case, "as it is written it is read"


def test_plain_page_numbers_are_those_of_the_one_document() -> None:
    one = "ab" * 32
    data = line("Q", document_ids=[one], pages=[3, 4])
    third, fourth = read_case(data, 0).pages
    assert third == CasePage(one, "", 3)
    assert fourth == CasePage(one, "", 4)


texts = st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
pages = st.builds(
    CasePage, st.text(max_size=8), st.text(max_size=20), st.integers(1, 999), st.text(max_size=30)
)
rewards = st.sampled_from([0, 1])
times = st.integers(0, 4 * 10**9).map(float)
words = st.text(max_size=30)
page_lists = st.lists(pages, max_size=3).map(tuple)


@given(st.builds(Case, texts, texts, rewards, times, word=words, pages=page_lists))
def test_what_is_written_is_read_again_by_any_reader_of_lines(case: Case) -> None:
    written = case_line(case)
    assert len(written.decode().splitlines()) == 1, "no line ends inside, whatever ends a reader knows"
    read = read_case(written, 5)

    def sound(text: str) -> str:
        return text.encode("utf-8", "replace").decode()

    assert sound(read.question) == sound(case.question)
    assert sound(read.plan) == sound(case.plan)
    assert sound(read.word) == sound(case.word)
    assert read.reward == case.reward
    assert read.at == case.at
    assert len(read.pages) == len(case.pages)
    assert read.id == case_id(read.question)


def test_an_edited_line_keeps_its_shape_and_what_others_wrote() -> None:
    data = b'{"case": "Q?", "plan": "P", "case_label": "positive", "reward": 1, "tool": {"a": [1]}}\n'
    changed = replace(read_case(data, 0), plan="New", reward=0)
    edited = json.loads(edited_line(data, changed))
    assert edited == {
        "case": "Q?",
        "plan": "New",
        "case_label": "negative",
        "reward": 0,
        "tool": {"a": [1]},
    }


def test_an_edited_line_without_a_verdict_gets_one() -> None:
    bare = b'{"user_message": "Q?", "assistant_response": "P"}'
    changed = replace(read_case(bare, 0), reward=0)
    edited = json.loads(edited_line(bare, changed))
    assert edited["reward"] == 0


# --- rows
# ------------------------------------------------------------------------------------------------------------


def yes(*questions: str) -> list[Case]:
    """Cases of these questions, all answered alike."""
    return [Case(question, "Yes.") for question in questions]


def questions_of(shelf: CaseFile) -> list[str]:
    return [case.question for case in shelf.view().cases]


def rename(shelf: CaseFile, question: str, new: str) -> None:
    """Give a case another question."""
    shelf.change(case_id(question), lambda case: replace(case, question=new, id=case_id(new)))


def embedded(shelf: CaseFile) -> list[bool]:
    """Of each case, whether it has a vector."""
    flags = shelf.view().embedded
    return [bool(flag) for flag in flags]


def test_rows_that_cannot_be_read_are_reported_by_place_and_the_others_read(
    shelf: CaseFile, memories: MemoryDatabase
) -> None:
    shelf.put(yes("One?", "Two?", "Three?"))
    shelf.embed()
    with memories.write() as connection:
        connection.execute(
            "update rated_answer set line = 'no json', revision = 9 where id = ?", (case_id("Two?"),)
        )
    assert questions_of(shelf) == ["One?", "Three?"]
    assert embedded(shelf) == [True, True]
    (problem,) = shelf.view().problems
    assert problem.line == 2
    assert "not JSON" in problem.reason
    removed = shelf.remove(lambda case: True)
    assert [case.question for case in removed] == ["One?", "Three?"]
    assert len(shelf.view().problems) == 1, "what cannot be read is not lost"


def test_what_another_process_adds_changes_or_removes_is_seen(shelf: CaseFile, reopen: Reopen) -> None:
    shelf.put(yes("One?", "Two?"))
    shelf.embed()
    shelf.view()
    other = CaseFile(reopen(), "mine", EMBEDDER)
    other.put(yes("Three?"))
    *_, last = shelf.view().cases
    assert last.question == "Three?"
    assert last.line_index == 2
    other.change(case_id("One?"), lambda case: replace(case, plan="No."))
    one, two, three = shelf.view().cases
    assert one.plan == "No."
    assert two.plan == "Yes."
    assert three.plan == "Yes."
    assert embedded(shelf) == [True, True, False]
    other.remove(lambda case: case.question == "One?")
    assert questions_of(shelf) == ["Two?", "Three?"]
    two, three = shelf.view().cases
    assert two.line_index == 0
    assert three.line_index == 1
    assert embedded(shelf) == [True, False]
    other.put([Case("two?", "Anew.")])
    assert questions_of(shelf) == ["Three?", "two?"]


def test_a_full_disk_leaves_what_was_there(shelf: CaseFile, memories: MemoryDatabase) -> None:
    shelf.put(yes("One?"))
    ((page_count,),) = memories.read("pragma page_count")
    memories.read(f"pragma max_page_count = {page_count}")
    more = [Case("Two?", "Yes."), Case("Three?", "x" * 500_000)]
    with pytest.raises(StoreError, match="disk is full"):
        shelf.put(more)
    assert questions_of(shelf) == ["One?"]


def test_two_processes_add_five_hundred_cases_each_and_all_thousand_are_readable(
    memories: MemoryDatabase, tmp_path: Path, root: Path
) -> None:
    cases = Cases(memories, EMBEDDER)
    command = [sys.executable, "-c", ADD, str(tmp_path / f"{NAME}.sqlite3")]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    writers = [
        subprocess.Popen([*command, subject], cwd=root, env=environment)
        for subject in ("the budget", "the rules")
    ]
    assert [writer.wait(100) for writer in writers] == [0, 0]
    health = cases.health("me")
    assert health.cases == 1_000
    assert health.positive == 500
    assert health.problems == ()
    assert health.waiting == 0
    exported = list(cases.export("me"))
    assert len(exported) == 1_000


def test_no_owners_name_stands_in_the_file(memories: MemoryDatabase, tmp_path: Path) -> None:
    cases = Cases(memories, EMBEDDER)
    for owner in ("../../outside", "a/b", "\x00", "ann@example.org", "\ud800", "x" * 5_000):
        cases.add(owner, Case("One?", "Yes."))
    assert memories.read("select count(distinct shelf) from rated_answer") == [(6,)]
    assert not stands_on_disk(b"ann@example.org", tmp_path)


# --- vectors
# ------------------------------------------------------------------------------------------------------------


def test_spoiled_vectors_are_made_anew(shelf: CaseFile, memories: MemoryDatabase) -> None:
    shelf.put(yes("One?", "Two?"))
    assert shelf.embed() == 0
    assert embedded(shelf) == [True, True]
    for spoiled in (b"\xff" * 256, b"short", None):
        with memories.write() as connection:
            connection.execute("update rated_answer set vector = ?, revision = revision + 1", (spoiled,))
        assert embedded(shelf) == [False, False]
        assert not shelf.view().rows.any()
    assert shelf.embed(most=1) == 1
    assert embedded(shelf) == [False, True], "the newest first"


def test_a_vector_is_kept_with_its_question_only(shelf: CaseFile) -> None:
    shelf.put(yes("One?", "Two?"))
    shelf.embed()
    shelf.put([Case("One?", "Still.")])
    assert embedded(shelf) == [True, True]
    rename(shelf, "Two?", "Three?")
    assert embedded(shelf) == [False, True]
    assert questions_of(shelf) == ["Three?", "One?"]


def test_no_vector_is_given_to_a_case_that_changed_while_it_was_made(shelf: CaseFile) -> None:
    shelf.put(yes("One?"))
    keys = shelf.view().keys
    rename(shelf, "One?", "Two?")
    of_the_old = question_vectors(EMBEDDER, ["One?"])
    shelf._keep_vectors(keys, of_the_old)
    assert embedded(shelf) == [False]


def test_a_long_question_is_embedded_whole() -> None:
    words = [f"word{number}" for number in range(50)]
    small = HashEmbedder(dimension=64, max_tokens=10)
    (row,) = question_vectors(small, [" ".join(words)])
    assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-5)
    (late_word,) = small.embed([words[45]])
    assert row @ late_word > 0.05


@pytest.mark.timed
def test_twenty_thousand_cases_load_and_are_recalled_in_time(memories: MemoryDatabase) -> None:
    """Made ones with random vectors; the bound is wide, for the machine may be busy."""
    count = 20_000
    filling = Cases(memories, HashEmbedder(dimension=384))._shelf("me")
    questions = [f"What was item {number} of the budget?" for number in range(count)]
    filling.put([Case(question, "An answer.") for question in questions])
    random = np.random.default_rng(0)
    rows = random.standard_normal((count, 384), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    filling._keep_vectors(filling.view().keys, rows)
    cases = Cases(memories, HashEmbedder(dimension=384))
    started = time.process_time()
    view = cases._shelf("me").view()
    assert len(view.cases) == count
    assert view.embedded.all()
    loaded = time.process_time() - started
    nearest, *_ = cases.recall("me", view.rows[17_777], ANY)
    assert nearest.case.question == questions[17_777]
    assert nearest.score == pytest.approx(1)
    started = time.process_time()
    for _ in range(5):
        cases.recall("me", view.rows[5], ANY)
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
    bounds = thresholds_of(minilm.fingerprint)
    least = bounds.similar if same else -1
    wrong = []
    for pair in pairs.splitlines():
        question, other = pair.split("|")
        vector, near = question_vectors(minilm, [question, other])
        cosine = float(vector @ near)
        taken_for_the_same = cosine >= bounds.same and asks_the_same(question, other)
        if taken_for_the_same != same:
            wrong.append(pair)
        assert cosine >= least
    assert wrong == []


def test_every_case_of_the_memento_file_is_read(shared: Path, memories: MemoryDatabase) -> None:
    cases = Cases(memories, EMBEDDER)
    done = cases.import_file("me", shared / "memento" / "memory.jsonl")
    assert done.added == 1_278
    assert done.known == 0
    assert done.problems == ()
    health = cases.health("me")
    assert health.cases == 1_278
    assert health.positive == 897
    assert health.negative == 381
    assert health.waiting == 0
    for reward in (0, 1):
        wanted = CaseQuery(reward=reward, least=-1.0)
        found = cases.find("me", "Who is the father of John?", wanted)
        assert len(found) == 8


def test_a_case_that_is_too_long_is_refused_and_one_at_the_limit_is_not() -> None:
    room = 1_000_000 - len(case_line(Case("Q?", "x"))) + 1
    at_the_limit = Case("Q?", "x" * room)
    assert len(case_line(at_the_limit)) == 1_000_000
    beyond = Case("Q?", "x" * (room + 1))
    with pytest.raises(UsageError, match="1,000,001 bytes"):
        case_line(beyond)

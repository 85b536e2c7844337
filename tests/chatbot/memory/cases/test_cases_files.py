"""Case memory on disk: the three shapes, lines that cannot be read, two processes at once, spoiled
vectors, and real ones.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.errors import UsageError
from chatbot.memory.cases.case_store import Cases
from chatbot.memory.cases.records import GONE, Case, CasePage, case_id, case_line, read_case, read_reward
from chatbot.memory.memory_database import NAME, MemoryDatabase
from tests.case_rows import case_rows
from tests.chatbot.memory.conftest import stands_on_disk
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


def line(question: str, **fields: object) -> bytes:
    return json.dumps({"question": question, "plan": "An answer.", **fields}).encode() + b"\n"


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
    case = read_case(record.encode())
    assert (case.question, case.plan, case.reward) == ("Q?", "P", int(reward))
    assert case.at == (1704067200.0 if "timestamp" in record else 0.0)


@pytest.mark.parametrize(
    ("values", "reward"),
    [
        (["1", "true", "TRUE ", 1, 1.0, True, "1.0", "positive", "yes", None], 1),
        (["0", "false", 0, 0.0, False, -1, "negative", "-1"], 0),
    ],
)
def test_what_a_verdict_means(values: list[object], reward: int) -> None:
    assert list(map(read_reward, values)) == [reward] * len(values)


@pytest.mark.parametrize(
    ("line", "reason"),
    case_rows(r"""
        {                                         | it is not JSON
        {"question": "Q", "plan": "P", "rew       | it is not JSON
        [1, 2]                                    | it is not a JSON object
        "text"                                    | it is not a JSON object
        {"question": "Q"}                     | it has none of the pairs of fields question/plan, case/plan
        {"question": 3, "plan": "P"}              | its question is not text
        {"question": "Q", "plan": ["P"]}          | its plan is not text
        {"question": " ", "plan": "P"}            | its question is empty
        {"question": "Q", "plan": "P", "reward": NaN}   | its verdict 'NaN' is neither
        {"question": "Q", "plan": "P", "reward": 0.5}   | its verdict 0.5 is neither
        {"case": "Q", "plan": "P", "reward": NaN}       | its verdict 'NaN' is neither
        {"question": "Q", "plan": "P", "reward": [1]}   | its verdict [1] is neither
    """),
)
def test_a_line_that_cannot_be_read_says_why(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        read_case(line.encode())


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
        read_case(data)


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
    case = read_case(data.encode())
    assert case == Case("Q", "P", 1, id=case_id("Q"))
    assert read_case(case_line(case)) == case


def test_texts_that_cannot_be_written_and_ids_that_are_none_are_made_sound() -> None:
    odd = rb"""
        {"question": "Q", "plan": "P", "word": "a\ud800", "by": "\ud800",
         "document_ids": ["\ud800", "report.pdf", 7],
         "pages": [{"document_id": "\ud800", "document": "\ud800", "page": 1, "quote": "\ud800"},
                   {"document_id": "x", "page": true}]}
    """
    case = read_case(odd)
    assert case.document_ids == (GONE,)
    (page,) = case.pages
    assert (page.document_id, page.page) == (GONE, 1)
    for text in (case.word, case.by, page.document, page.quote):
        text.encode("utf-8")
    assert read_case(case_line(case)) == case, "as it is written it is read"


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
    read = read_case(written)

    def sound(text: str) -> str:
        return text.encode("utf-8", "replace").decode()

    assert sound(read.question) == sound(case.question)
    assert sound(read.plan) == sound(case.plan)
    assert sound(read.word) == sound(case.word)
    assert (read.reward, read.at) == (case.reward, case.at)
    assert len(read.pages) == len(case.pages)
    assert read.id == case_id(read.question)


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
    assert (health.cases, health.positive) == (1_000, 500)
    assert health.problems == ()
    assert health.waiting == 0
    exported = list(cases.export("me"))
    assert len(exported) == 1_000


def test_no_owners_name_stands_in_the_file(memories: MemoryDatabase, tmp_path: Path) -> None:
    cases = Cases(memories, EMBEDDER)
    for owner in ("../../outside", "a/b", "\x00", "ann@example.org", "\ud800", "x" * 5_000):
        cases.add(owner, Case("One?", "Yes."))
    assert memories.read("select count(distinct owner) from item") == [(6,)]
    assert not stands_on_disk(b"ann@example.org", tmp_path)


def test_every_case_of_the_memento_file_is_read(shared: Path, memories: MemoryDatabase) -> None:
    cases = Cases(memories, EMBEDDER)
    done = cases.import_file("me", shared / "memento" / "memory.jsonl")
    assert (done.added, done.known) == (1_278, 0)
    assert done.problems == ()
    health = cases.health("me")
    assert (health.cases, health.positive, health.negative, health.waiting) == (1_278, 897, 381, 0)
    for reward in (0, 1):
        found = cases.find("me", "Who is the father of John?", reward=reward, least=-1.0)
        assert len(found) == 8


def test_a_case_that_is_too_long_is_refused_and_one_at_the_limit_is_not() -> None:
    room = 1_000_000 - len(case_line(Case("Q?", "x"))) + 1
    at_the_limit = Case("Q?", "x" * room)
    assert len(case_line(at_the_limit)) == 1_000_000
    beyond = Case("Q?", "x" * (room + 1))
    with pytest.raises(UsageError, match="1,000,001 bytes"):
        case_line(beyond)

"""Case memory on disk: the three shapes, lines that cannot be read, two processes at once, files cut short, and real vectors."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.errors import StoreError, UsageError
from chatbot.memory.cases.locked_files import LockedFile
from chatbot.memory.cases.recall import thresholds_of
from chatbot.memory.cases.records import GONE, Case, CasePage, case_id, case_line, edited_line, read_case, read_reward
from chatbot.memory.cases.sameness import same_matter
from chatbot.memory.cases.shelf import Shelf
from chatbot.memory.cases.store import Cases, Wanted
from chatbot.memory.cases.vectors import VectorFile, question_vectors
from chatbot.settings import load_settings
from chatbot.store.embedders import LocalEmbedder
from tests.fakes import HashEmbedder

EMBEDDER = HashEmbedder(dimension=64)
APPEND = """
import sys
from pathlib import Path
from chatbot.memory.cases.records import Case
from chatbot.memory.cases.store import Cases
from tests.fakes import HashEmbedder
cases = Cases(Path(sys.argv[1]), HashEmbedder(dimension=64))
for number in range(500):
    cases.add("me", Case(f"What is item {number} of {sys.argv[2]}?", "Something. " * 20, number % 2))
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "mine.jsonl", EMBEDDER)


def line(question: str, **fields: object) -> bytes:
    return json.dumps({"question": question, "plan": "An answer.", **fields}).encode() + b"\n"


# --- shapes -----------------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("value", ["1", "true", "TRUE ", 1, 1.0, True, "1.0", "positive", "yes", None], ids=repr)
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
        (b'{"case": "Q", "plan": "P", "reward": 1, "case_label": "negative"}', "its verdicts reward and case_label contradict each other"),
        (b'{"question": "Q", "plan": "P", "reward": [1]}', r"its verdict \[1\] is neither"),
        (b'{"question": "Q", "plan": "' + b"x" * 5_000_000 + b'"}', "it has 5,000,029 bytes, at most 1,000,000 are read"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_line_that_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_case(data, 0)


@pytest.mark.parametrize(
    "more", ['"timestamp": 1e400', '"timestamp": "soon"', '"pages": [7, "x", null, -1]', '"document_ids": 5', '"word": 7', '"score": NaN']
)
def test_other_fields_of_a_wrong_type_lose_no_case(more: str) -> None:
    case = read_case(f'{{"question": "Q", "plan": "P", {more}}}'.encode(), 0)
    assert case == Case("Q", "P", 1, line_index=0, id=case_id("Q"))
    assert read_case(case_line(case), 0) == case


def test_texts_that_cannot_be_written_and_ids_that_are_none_are_made_sound() -> None:
    odd = b'{"question": "Q", "plan": "P", "word": "a\\ud800", "by": "\\ud800", "document_ids": ["\\ud800", "report.pdf", 7],'
    odd += b' "pages": [{"document_id": "\\ud800", "document": "\\ud800", "page": 1, "quote": "\\ud800"}, {"document_id": "x", "page": true}]}'
    case = read_case(odd, 0)
    assert case.document_ids == (GONE,) and [(page.document_id, page.page) for page in case.pages] == [(GONE, 1)]
    for text in (case.word, case.by, case.pages[0].document, case.pages[0].quote):
        text.encode("utf-8")
    assert read_case(case_line(case), 0) == case, "as it is written it is read"


def test_plain_page_numbers_are_those_of_the_one_document() -> None:
    one = "ab" * 32
    assert read_case(line("Q", document_ids=[one], pages=[3, 4]), 0).pages == (CasePage(one, "", 3), CasePage(one, "", 4))


texts = st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
pages = st.builds(CasePage, st.text(max_size=8), st.text(max_size=20), st.integers(1, 999), st.text(max_size=30))


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
    assert json.loads(edited_line(data, changed)) == {"case": "Q?", "plan": "New", "case_label": "negative", "reward": 0, "tool": {"a": [1]}}
    bare = b'{"user_message": "Q?", "assistant_response": "P"}'
    assert json.loads(edited_line(bare, replace(read_case(bare, 0), reward=0)))["reward"] == 0


# --- a file -----------------------------------------------------------------------------------------------------------------------


def test_unreadable_lines_are_reported_by_number_and_the_others_read(shelf: Shelf) -> None:
    shelf.path.write_bytes(line("One?") + b"no json\n\n" + line("Two?") + line("Three?", reward="maybe"))
    view = shelf.view()
    assert [case.question for case in view.cases] == ["One?", "Two?"] and view.cases[1].line_index == 3
    assert [problem.line for problem in view.problems] == [2, 5]
    assert "no JSON" in view.problems[0].reason and "'maybe'" in view.problems[1].reason
    assert [case.question for case in shelf.remove(lambda case: case.id == case_id("One?"))] == ["One?"]
    assert shelf.path.read_bytes() == b"no json\n\n" + line("Two?") + line("Three?", reward="maybe"), "what cannot be read is not lost"


def test_a_half_written_last_line_is_told_of_and_nothing_is_glued_to_it(shelf: Shelf) -> None:
    shelf.path.write_bytes(line("One?") + b'{"question": "Tw')
    assert shelf.view().problems[0].reason.startswith("the file ends within it: ")
    shelf.append([Case("Three?", "Yes.")])
    view = shelf.view()
    assert [case.question for case in view.cases] == ["One?", "Three?"] and [problem.line for problem in view.problems] == [2]
    assert shelf.path.read_bytes().startswith(line("One?") + b'{"question": "Tw\n{')


def test_a_last_line_without_its_end_is_a_case_too(shelf: Shelf) -> None:
    shelf.path.write_bytes(line("One?").rstrip())
    assert len(shelf.view().cases) == 1
    shelf.append([Case("Two?", "Yes.")])
    assert [case.line_index for case in shelf.view().cases] == [0, 1]


def test_what_another_program_adds_or_rewrites_is_seen(shelf: Shelf) -> None:
    shelf.append([Case("One?", "Yes."), Case("Two?", "Yes.")])
    shelf.view()
    with shelf.path.open("ab") as file:
        file.write(line("Three?"))
    assert [(case.question, case.line_index) for case in shelf.view().cases][-1] == ("Three?", 2)
    with shelf.path.open("ab") as file:
        file.write(b'{"question": "Fo')
    assert len(shelf.view().problems) == 1
    with shelf.path.open("ab") as file:
        file.write(b'ur?", "plan": "P"}\n')
    assert shelf.view().cases[-1].question == "Four?" and not shelf.view().problems
    grown = shelf.path.read_bytes().replace(b"One?", b"A first one?")
    shelf.path.write_bytes(grown + line("Five?"))
    assert [case.question for case in shelf.view().cases] == ["A first one?", "Two?", "Three?", "Four?", "Five?"]
    shelf.path.unlink()
    assert shelf.view().cases == ()


def test_a_full_disk_leaves_what_was_there(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.append([Case("One?", "Yes.")])
    before, write = shelf.path.read_bytes(), os.write

    def fills(file: int, data: bytes) -> int:
        if len(data) > 20:
            return write(file, data[:20])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fills)
        with pytest.raises(StoreError, match="The disk is full"):
            shelf.append([Case("Two?", "Yes.")])
    assert shelf.path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    shelf = Shelf(tmp_path / "file" / "mine.jsonl", EMBEDDER)
    for use in (lambda: shelf.append([Case("One?", "Yes.")]), shelf.view):
        with pytest.raises(StoreError, match=r"The cases \(mine\.jsonl\) cannot be used: (Not a directory|File exists)"):
            use()


def test_whoever_holds_the_file_is_waited_for_and_then_named(tmp_path: Path) -> None:
    file = LockedFile(tmp_path / "held.jsonl", what="the cases", busy_seconds=0.2)
    file.append(b"1\n")
    with (tmp_path / "held.jsonl").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match=r"Another program holds the cases \(held\.jsonl\)"):
            file.append(b"2\n")
    file.append(b"3\n")
    assert file.read() == b"1\n3\n"


def test_a_link_is_followed_by_every_call_and_stays_one(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    shelf = Shelf(tmp_path / "mine.jsonl", EMBEDDER)
    shelf.path.symlink_to(tmp_path / "other" / "theirs.jsonl")
    shelf.append([Case("One?", "Yes."), Case("Two?", "Yes.")])
    shelf.remove(lambda case: case.question == "One?")
    assert shelf.path.is_symlink() and [case.question for case in shelf.view().cases] == ["Two?"]
    assert b"Two?" in (tmp_path / "other" / "theirs.jsonl").read_bytes()


@pytest.mark.parametrize("kind", ["a pipe", "a folder"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    shelf = Shelf(tmp_path / "mine.jsonl", EMBEDDER)
    os.mkfifo(shelf.path) if kind == "a pipe" else shelf.path.mkdir()
    for use in (shelf.view, lambda: shelf.append([Case("One?", "Yes.")]), lambda: shelf.remove(lambda case: True)):
        with pytest.raises(StoreError, match=r"The cases \(mine\.jsonl\) cannot be used") as told:
            use()
        assert "Move away" in (told.value.hint or "")


def test_two_processes_append_five_hundred_cases_each_and_all_thousand_are_readable(tmp_path: Path, root: Path) -> None:
    command = [sys.executable, "-c", APPEND, str(tmp_path)]
    writers = [subprocess.Popen([*command, name], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}) for name in ("the budget", "the rules")]
    assert [writer.wait(100) for writer in writers] == [0, 0]
    health = Cases(tmp_path, EMBEDDER).health("me")
    assert (health.cases, health.positive, health.problems, health.waiting) == (1_000, 500, (), 0)
    assert health.path.read_bytes().count(b"\n") == 1_000


def test_no_name_is_made_of_an_owners_text(tmp_path: Path) -> None:
    for owner in ("../../outside", "a/b", "\x00", "ann@example.org", "\ud800", "x" * 5_000):
        Cases(tmp_path / "in" / "cases", EMBEDDER).add(owner, Case("One?", "Yes."))
    made = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(made) == 12 and all(name.startswith("in/cases/") and "ann" not in name for name in made)
    assert b"ann@example.org" not in b"".join((tmp_path / name).read_bytes() for name in made)


# --- vectors ----------------------------------------------------------------------------------------------------------------------


def test_vectors_cut_short_or_spoiled_are_made_anew(shelf: Shelf) -> None:
    shelf.append([Case("One?", "Yes."), Case("Two?", "Yes.")])
    assert shelf.embed() == 0
    whole = shelf._vectors.path.read_bytes()
    shelf._vectors.path.write_bytes(whole[:-9])
    assert shelf.view().embedded.tolist().count(True) == 1
    assert shelf.embed() == 0 and len(shelf._vectors.path.read_bytes()) == len(whole)
    shelf._vectors.path.write_bytes(b"\xff" * len(whole))
    assert not shelf.view().embedded.any()
    shelf._vectors.path.unlink()
    assert shelf.embed(most=1) == 1 and shelf.view().embedded.tolist() == [False, True], "the newest first"


def test_vectors_that_shrink_or_cannot_be_read_are_a_store_error(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.append([Case("One?", "Yes."), Case("Two?", "Yes.")])
    shelf.embed()
    reader = Shelf(shelf.path, EMBEDDER)
    stamp = reader._vectors.stamp()
    monkeypatch.setattr(reader._vectors, "stamp", lambda: (stamp[0], 2 * stamp[1], stamp[2]))  # rewritten between the two looks
    assert reader.view().embedded.all()
    shelf._vectors.path.unlink()
    shelf._vectors.path.mkdir()
    with pytest.raises(StoreError, match=r"The vectors of cases .* cannot be used: Is a directory"):
        Shelf(shelf.path, EMBEDDER).view()

    def cut_short(*_: object, **__: object) -> None:
        raise ValueError("mmap length is greater than file size")

    shelf._vectors.path.rmdir()
    shelf.embed()
    monkeypatch.setattr(np, "memmap", cut_short)
    with pytest.raises(StoreError, match="cut short while it was read"):
        Shelf(shelf.path, EMBEDDER).view()


def test_a_vector_that_is_kept_while_others_are_erased_stays(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.append([Case("One?", "Yes."), Case("Two?", "Yes.")])
    shelf.embed()
    other, keep_only = Shelf(shelf.path, EMBEDDER), VectorFile.keep_only

    def meanwhile(vectors: VectorFile, keys: Callable[[], Collection[bytes]]) -> None:
        other.append([Case("Three?", "Yes.")])
        other.embed()
        keep_only(vectors, keys)

    monkeypatch.setattr(VectorFile, "keep_only", meanwhile)
    shelf.remove(lambda case: case.question == "One?")
    view = Shelf(shelf.path, EMBEDDER).view()
    assert [case.question for case in view.cases] == ["Two?", "Three?"] and view.embedded.all()


def test_a_long_question_is_embedded_whole() -> None:
    words = [f"word{number}" for number in range(50)]
    small = HashEmbedder(dimension=64, max_tokens=10)
    (row,) = question_vectors(small, [" ".join(words)])
    assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-5) and row @ small.embed([words[45]])[0] > 0.05


@pytest.mark.timed
def test_a_hundred_thousand_cases_load_and_are_recalled_in_time(tmp_path: Path) -> None:
    """Made ones with random vectors; the bound is wide, for the machine may be busy."""
    shelf, count = Shelf(tmp_path / "mine.jsonl", HashEmbedder(dimension=384)), 100_000
    questions = [f"What was item {number} of the budget?" for number in range(count)]
    shelf.path.write_bytes(b"".join(map(line, questions)))
    rows = np.random.default_rng(0).standard_normal((count, 384), np.float32)
    shelf.keep_vectors(questions, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    started = time.process_time()
    view = Shelf(tmp_path / "mine.jsonl", HashEmbedder(dimension=384)).view()
    assert len(view.cases) == count and view.embedded.all()
    loaded = time.process_time() - started
    cases = Cases(tmp_path, HashEmbedder(dimension=384))
    shelf.path.rename(cases.health("me").path)
    shelf._vectors.path.rename(cases._shelf("me")._vectors.path)
    first = cases.recall("me", view.rows[77_777], Wanted(least=-1.0))
    assert first[0].case.question == questions[77_777] and first[0].score == pytest.approx(1)
    started = time.process_time()
    for _ in range(5):
        cases.recall("me", view.rows[5], Wanted(least=-1.0))
    assert time.process_time() - started < loaded, "five recalls take less than reading once"


# --- real vectors -----------------------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(("pairs", "same"), [(SAME, True), (OTHER, False)], ids=["the same in other words", "another in the same words"])
def test_near_identical_questions_are_told_from_near_ones(minilm: LocalEmbedder, pairs: str, same: bool) -> None:
    bounds, wrong = thresholds_of(minilm.fingerprint), []
    for pair in pairs.splitlines():
        question, other = pair.split("|")
        vector, near = question_vectors(minilm, [question, other])
        if (float(vector @ near) >= bounds.same and same_matter(question, other)) != same:
            wrong.append(pair)
        assert vector @ near >= (bounds.similar if same else -1)
    assert wrong == []


def test_every_case_of_the_memento_file_is_read(shared: Path, tmp_path: Path) -> None:
    cases = Cases(tmp_path, EMBEDDER)
    result = cases.import_file("me", shared / "memento" / "memory.jsonl")
    health = cases.health("me")
    assert (result.added, result.known, result.problems) == (1_278, 0, ())
    assert (health.cases, health.positive, health.negative, health.superseded, health.waiting) == (1_278, 897, 381, 0, 0)
    assert all(len(cases.find("me", "Who is the father of John?", Wanted(reward=reward, least=-1.0))) == 8 for reward in (0, 1))


def test_a_case_that_is_too_long_is_refused_and_one_at_the_limit_is_not() -> None:
    room = 1_000_000 - len(case_line(Case("Q?", "x"))) + 1
    assert len(case_line(Case("Q?", "x" * room))) == 1_000_000
    with pytest.raises(UsageError, match="1,000,001 bytes"):
        case_line(Case("Q?", "x" * (room + 1)))

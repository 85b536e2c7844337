"""The queue of additions: order, progress, cancelling at each stage, failures that cost the others
nothing, erasing, closing.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

from chatbot.errors import CancelledError, DocumentError, EncryptedError, ModelError, ProjectError
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store import addition_queue as jobs_module
from chatbot.store.addition_queue import Additions, NewFile
from chatbot.store.catalog import Version
from chatbot.store.document_names import display_name
from chatbot.store.jobs import AddResult, Job, Phase
from chatbot.store.library import Library
from chatbot.store.version_building import Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import read_now


class Script:
    """A library whose steps wait to be let on: `let("read a.pdf")` lets one batch or page go. done: what
    happened, in order. rounds: the versions of each making of vectors.
    """

    def __init__(self, *, pages: int = 2, batches: int = 2, gated: bool = False, readers: int = 1) -> None:
        self.pages, self.batches = pages, batches
        self.gated, self.readers = gated, readers
        self.done: list[str] = []
        self.rounds: list[set[int]] = []
        self.rows: list[Job] = []
        self.unembedded: list[tuple[int, str]] = []
        self.failing: dict[str, Exception] = {}
        self.passwords: dict[str, str] = {}
        self.lacking: dict[int, str] = {}
        self.staged = False
        self._gates: dict[str, threading.Semaphore] = {}
        self._versions = itertools.count(1)

    @property
    def adding(self) -> Script:
        return self

    @property
    def catalog(self) -> Script:
        return self

    def waiting(self) -> list[Job]:
        return [replace(job, left=True) for job in self.rows]

    def under_way(self) -> list[Job]:
        return self.waiting()

    def gate(self, step: str) -> threading.Semaphore:
        return self._gates.setdefault(step, threading.Semaphore(0))

    def let(self, step: str, times: int = 1) -> None:
        for _ in range(times):
            self.gate(step).release()

    def pass_through(self, step: str, cancelled: Callable[[], bool] = lambda: False) -> None:
        end = time.monotonic() + 10
        while self.gated and not self.gate(step).acquire(timeout=0.01):
            if cancelled():
                raise CancelledError("Cancelled.")
            assert time.monotonic() < end

    def take_again(self, name: str, languages: str = "") -> Job:
        return Job(next(self._versions), name, Phase.WAITING, digest=name, again=True)

    def take(self, source: BinaryIO, name: str, password: str | None = None, **details: Any) -> Job:
        digest = hashlib.sha256(source.read()).hexdigest()
        number = next(self._versions)
        taken = Job(number, display_name(name), Phase.WAITING, digest=digest, added_at=time.time(), **details)
        self.rows.append(taken)
        return replace(taken, password=password)

    def give_up(self, taken: Job, error: ProjectError | None = None, *, keep: bool = False) -> AddResult:
        if not keep:
            self.forget(taken)
        return AddResult(taken.name, "failed", error=str(error))

    def forget(self, taken: Job) -> None:
        self.rows = [row for row in self.rows if row.id != taken.id]

    def read_taken(
        self,
        taken: Job,
        *,
        progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
        **_: object,
    ) -> AddResult:
        name = taken.name
        if name in self.failing:
            raise self.failing.pop(name)
        if self.passwords.get(name) != taken.password:
            raise EncryptedError("The PDF is protected by a password.", hint="Give it.")
        for page in range(1, self.pages + 1):
            self.pass_through(f"read {name}", cancelled)
            if cancelled():
                raise CancelledError("Cancelled.")
            progress("reading", page, self.pages)
        version = next(self._versions)
        self.forget(taken)
        self.unembedded.append((version, name))
        if self.staged:
            self.lacking[version] = name
        self.done.append(f"read {name}")
        result = AddResult(name, "added", pages=self.pages, chunks=self.batches)
        return replace(result, version=version, lacks=self.staged)

    def resume_vectors(
        self,
        *,
        only: Collection[int],
        owner_of: Callable[[int], str],
        progress: Callable[[str, str, int, int], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self.rounds.append(set(only))
        for version, name in [row for row in self.unembedded if row[0] in only]:
            for batch in range(1, self.batches + 1):
                if cancelled():
                    return
                if "embedding" in self.failing:
                    raise self.failing.pop("embedding")
                self.pass_through(f"embed {name}")
                progress(name, "embedding", batch, self.batches)
            self.unembedded.remove((version, name))
            self.done.append(f"embedded {name}")

    def read_by_older(self) -> list[Version]:
        return []

    @property
    def indexes(self) -> Script:
        return self

    words_whole = True

    def without_vectors(self) -> list[Version]:
        return [
            Version(number, name, name, "keyword", None, 1, self.batches, 0, None, False)
            for number, name in self.unembedded
        ]

    def incomplete(self) -> list[Version]:
        return [
            Version(number, name, name, "ready", None, 1, 1, 1, None, False, lacks="images")
            for number, name in self.lacking.items()
        ]

    def complete(
        self,
        version: int,
        *,
        progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
    ) -> None:
        name = self.lacking[version]
        if "images" in self.failing:
            raise self.failing.pop("images")
        for page in range(1, self.pages + 1):
            progress("images", page, self.pages)
            self.pass_through(f"complete {name}", cancelled)
        if self.lacking.pop(version, None):
            self.done.append(f"completed {name}")

    def watch(self, changed: Callable[[], None] | None) -> None:
        self.watching = changed

    def result_of(self, version: int, result: AddResult) -> AddResult:
        return replace(result, ocr_pages=1)

    def discard(self, version: int, name: str) -> None:
        self.lacking.pop(version, None)
        self.done += [f"discarded {name}" for found, name in self.unembedded if found == version]
        self.unembedded = [row for row in self.unembedded if row[0] != version]

    def retire(self, name: str) -> None:
        self.done.append(f"hid {name}")

    def sweep(self) -> None:
        self.done.append("swept")


def files(*names: str, data: bytes = b"%PDF") -> list[NewFile]:
    return [NewFile(name, io.BytesIO(data + name.encode())) for name in names]


def wait_for(additions: Additions, when: Callable[[tuple[Job, ...]], bool]) -> tuple[Job, ...]:
    end = time.monotonic() + 20
    while not when(additions.jobs()):
        assert time.monotonic() < end, additions.jobs()
        time.sleep(0.005)
    return additions.jobs()


def wait_for_erasing(additions: Additions) -> None:
    end = time.monotonic() + 20
    while additions.erasing() and time.monotonic() < end:
        time.sleep(0.01)


def all_finished(jobs: tuple[Job, ...]) -> bool:
    return bool(jobs) and all(job.finished for job in jobs)


def first_has_a_batch(jobs: tuple[Job, ...]) -> bool:
    """Of the vectors of the first, some are made."""
    return jobs[0].phase == "embedding" and jobs[0].done == 1


def first_is_read(jobs: tuple[Job, ...]) -> bool:
    return jobs[0].phase == "reading"


def phases(jobs: tuple[Job, ...]) -> dict[str, str]:
    return {job.name: job.phase for job in jobs}


def wait_for_phases(additions: Additions, expected: Mapping[str, str]) -> tuple[Job, ...]:
    """Wait until each document is in that phase, by name."""
    return wait_for(additions, lambda jobs: phases(jobs) == expected)


def steps(script: Script) -> list[str]:
    """What happened to the documents, in order."""
    return [step for step in script.done if step != "swept"]


def result_of(job: Job) -> AddResult:
    assert job.result is not None
    return job.result


@pytest.fixture
def opened() -> Iterator[Callable[[Script], Additions]]:
    made: list[Additions] = []

    def open_with(script: Script) -> Additions:
        library = cast(Library, script)
        additions = Additions(library, readers=script.readers)
        made.append(additions)
        return additions

    yield open_with
    for additions in made:
        additions.close()


Opened = Callable[[Script], Additions]


def staged(script: Script) -> Script:
    """What it reads lacks images at first."""
    script.staged = True
    return script


def at_its_images(opened: Opened) -> tuple[Script, Additions, int]:
    """A queue whose one document has its text and vectors, and whose images wait to be let on. The last:
    its job.
    """
    script = staged(Script(gated=True, pages=1, batches=1))
    additions = opened(script)
    (number,) = additions.enqueue(files("a.pdf"))
    script.let("read a.pdf")
    script.let("embed a.pdf")
    wait_for_phases(additions, {"a.pdf": "images"})
    return script, additions, number


def test_what_a_text_lacks_is_read_when_all_vectors_are_made(opened: Opened) -> None:
    script = staged(Script(readers=2))
    additions = opened(script)
    additions.enqueue(files("a.pdf", "b.pdf"))
    jobs = wait_for(additions, all_finished)
    done = [tuple(step.split()) for step in steps(script)]
    assert [step for step, _ in done] == ["read", "read", "embedded", "embedded", "completed", "completed"]
    order = [name for _, name in done[2:]]
    assert order[:2] in (["a.pdf", "b.pdf"], ["b.pdf", "a.pdf"])
    assert order[2:] == order[:2]
    assert [job.phase for job in jobs] == ["done", "done"]
    assert [result_of(job).ocr_pages for job in jobs] == [1, 1]
    assert not any(job.lacks for job in jobs)


@pytest.mark.parametrize("way", ["cancel", "erase"])
def test_a_document_is_given_up_while_its_images_are_read(opened: Opened, way: str) -> None:
    script, additions, number = at_its_images(opened)
    if way == "cancel":
        additions.cancel(number)
    else:
        additions.erase("a.pdf")
        script.lacking.clear()
    (job,) = wait_for(additions, all_finished)
    assert job.phase == "cancelled"
    assert "completed a.pdf" not in script.done


def test_images_that_cannot_be_read_leave_a_document_that_says_so(opened: Opened) -> None:
    script = staged(Script())
    script.failing["images"] = DocumentError("The file is gone.", hint="Add it again.")
    additions = opened(script)
    additions.enqueue(files("a.pdf"))
    (job,) = wait_for(additions, all_finished)
    assert job.phase == "done"
    warning = result_of(job).warning
    assert (
        warning
        == "Its text can be searched, but its pictures could not be read: The file is gone. Add it again."
    )
    additions.enqueue(files("b.pdf"))
    wait_for(additions, all_finished)
    completed = [step for step in script.done if step.startswith("completed")]
    assert completed == ["completed b.pdf"], "the other is tried again at the next start"


def test_every_file_is_read_before_the_first_vectors_are_made(opened: Opened) -> None:
    script = Script(gated=True)
    additions = opened(script)
    ids = additions.enqueue(files("a.pdf", "b.pdf"))
    assert ids[1] > ids[0]
    script.let("read a.pdf", 2)
    wait_for_phases(additions, {"a.pdf": "embedding", "b.pdf": "reading"})
    script.let("read b.pdf")
    (_, second) = wait_for(additions, lambda jobs: jobs[1].done == 1)
    assert second.phase == "reading"
    assert second.total == 2
    for step in ("read b.pdf", "embed a.pdf", "embed b.pdf"):
        script.let(step, 2)
    finished = wait_for(additions, all_finished)
    assert steps(script) == ["read a.pdf", "read b.pdf", "embedded a.pdf", "embedded b.pdf"]
    for job in finished:
        assert result_of(job).seconds > 0


def test_several_files_are_read_at_once_but_two_of_one_name_one_after_the_other(opened: Opened) -> None:
    script = Script(gated=True, readers=3)
    additions = opened(script)
    additions.enqueue(files("a.pdf", "b.pdf"))
    additions.enqueue(files("a.pdf"))
    expected = ["reading", "reading", "waiting"]
    jobs = wait_for(additions, lambda jobs: [job.phase for job in jobs] == expected)
    assert [job.name for job in jobs] == ["a.pdf", "b.pdf", "a.pdf"]
    for step in ("read a.pdf", "read b.pdf", "embed a.pdf", "embed b.pdf"):
        script.let(step, 4)
    wait_for(additions, all_finished)


def test_a_file_that_comes_while_vectors_are_made_is_read_first(opened: Opened) -> None:
    script = Script(gated=True)
    additions = opened(script)
    additions.enqueue(files("a.pdf"))
    script.let("read a.pdf", 2)
    script.let("embed a.pdf")
    wait_for(additions, first_has_a_batch)
    additions.enqueue(files("b.pdf"))
    script.let("embed a.pdf")
    for step in ("read b.pdf", "embed a.pdf", "embed b.pdf"):
        script.let(step, 2)
    wait_for(additions, all_finished)
    done = script.done
    assert done.index("read b.pdf") < done.index("embedded b.pdf")


def test_vectors_of_a_long_text_give_way_to_what_has_just_been_read(opened: Opened) -> None:
    script = Script(gated=True, batches=9)
    additions = opened(script)
    additions.enqueue(files("a.pdf"))
    script.let("read a.pdf", 2)
    script.let("embed a.pdf")
    wait_for(additions, first_has_a_batch)
    additions.read_again("b.pdf")  # which stops no vectors while it is read
    script.let("read b.pdf", 2)
    wait_for_phases(additions, {"a.pdf": "embedding", "b.pdf": "embedding"})
    before = len(script.rounds)
    script.let("embed a.pdf")
    wait_for(additions, lambda jobs: len(script.rounds) > before)
    assert [len(only) for only in script.rounds[before - 1 :]] == [1, 2]
    for name in ("a.pdf", "b.pdf"):
        script.let(f"embed {name}", 9)  # or closing would wait for it


@pytest.mark.alone
@pytest.mark.parametrize("stage", ["waiting", "reading", "embedding"])
def test_cancelling_at_any_stage_leaves_nothing_and_the_next_goes_on(opened: Opened, stage: str) -> None:
    script = Script(gated=True)
    additions = opened(script)
    names = ["b.pdf", "a.pdf"] if stage == "waiting" else ["a.pdf", "b.pdf"]
    additions.enqueue(files(*names))
    pages = {"waiting": 0, "reading": 1, "embedding": 2}[stage]
    script.let("read a.pdf", pages)
    jobs = wait_for(additions, lambda jobs: phases(jobs)["a.pdf"] == stage)
    (number,) = [job.id for job in jobs if job.name == "a.pdf"]
    begun = time.monotonic()
    additions.cancel(number)
    if stage != "embedding":
        wait_for(additions, lambda jobs: phases(jobs)["a.pdf"] == "cancelled")
        assert time.monotonic() - begun < 1.0
    for step in ("embed a.pdf", "read b.pdf", "embed b.pdf"):
        script.let(step, 4)
    jobs = wait_for(additions, all_finished)
    assert phases(jobs) == {"a.pdf": "cancelled", "b.pdf": "done"}
    assert "embedded a.pdf" not in script.done
    discarded = "discarded a.pdf" in script.done
    assert discarded == (stage == "embedding")
    assert script.rows == []


def test_a_protected_file_waits_for_its_password_and_holds_nobody_up(opened: Opened) -> None:
    script = Script()
    script.passwords = {"a.pdf": "sesame"}
    additions = opened(script)
    additions.enqueue(files("a.pdf", "b.pdf"))
    locked, _ = wait_for_phases(additions, {"a.pdf": "password", "b.pdf": "done"})
    assert locked.problem == "The PDF is protected by a password."
    assert not locked.busy
    additions.unlock(locked.id, "wrong")
    wait_for(additions, lambda jobs: jobs[0].phase == "password")
    additions.unlock(locked.id, "sesame")
    wait_for(additions, all_finished)
    for task in additions._tasks:
        assert "sesame" not in repr(task)


def test_failures_cost_the_others_nothing(opened: Opened) -> None:
    script = Script()
    script.failing["bad.pdf"] = DocumentError("The file is no PDF.", hint="Save it again.")
    script.failing["bug.pdf"] = ZeroDivisionError("inside")
    additions = opened(script)
    additions.enqueue(files("bad.pdf", "bug.pdf", "good.pdf", ".."))
    jobs = wait_for(additions, all_finished)
    assert [job.phase for job in jobs] == ["failed", "failed", "done", "failed"]
    bad, bug, _, nameless = jobs
    assert result_of(bad).error == "The file is no PDF. Save it again."
    assert result_of(bug).error == "Something went wrong. See the server's log."
    assert "name" in str(result_of(nameless).error)
    additions.clear_finished({job.id for job in additions.jobs()})
    assert additions.jobs() == ()


def test_vectors_that_cannot_be_made_are_tried_again(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "RETRY_SECONDS", 0.2)
    script = Script()
    script.failing["embedding"] = ModelError("The endpoint is mute.", hint="Start it.")
    additions = opened(script)
    additions.enqueue(files("a.pdf"))
    (job,) = wait_for(additions, lambda jobs: jobs[0].problem is not None)
    assert job.phase == "embedding"
    assert job.problem == "The endpoint is mute. Start it."
    assert job.result is not None
    (job,) = wait_for(additions, all_finished)
    assert job.phase == "done"
    assert job.problem is None


def test_what_an_earlier_process_left_is_taken_up_and_cannot_be_cancelled(opened: Opened) -> None:
    script = Script(gated=True)
    script.unembedded = [(7, "left.pdf")]
    script.let("embed left.pdf")
    additions = opened(script)
    (job,) = wait_for(additions, bool)
    assert job.name == "left.pdf"
    assert job.phase == "embedding"
    assert job.cancellable is False
    additions.cancel(job.id)
    script.let("embed left.pdf")
    wait_for(additions, all_finished)
    assert steps(script) == ["embedded left.pdf"]


def test_all_that_an_earlier_process_left_is_shown_at_once(opened: Opened) -> None:
    script = Script(gated=True)
    script.rows = [Job(1, "a.pdf", Phase.WAITING, digest="0" * 64)]
    script.unembedded = [(7, "left.pdf")]
    assert {job.name for job in opened(script).jobs()} == {"a.pdf", "left.pdf"}


def test_erasing_hides_at_once_and_does_not_wait_for_vectors(opened: Opened) -> None:
    script = Script(gated=True, batches=4)
    additions = opened(script)
    additions.enqueue(files("a.pdf"))
    script.let("read a.pdf", 2)
    script.let("embed a.pdf")
    wait_for(additions, first_has_a_batch)
    additions.erase("old.pdf")
    additions.erase("gone.pdf")
    assert "hid old.pdf" in script.done
    assert additions.erasing() == {"old.pdf", "gone.pdf"}
    script.let("embed a.pdf", 8)
    wait_for(additions, all_finished)
    assert not additions.erasing()
    done = script.done
    assert done.index("swept") < done.index("embedded a.pdf")


def test_erasing_cancels_what_is_being_added_under_that_name(opened: Opened) -> None:
    script = Script(gated=True)
    additions = opened(script)
    additions.enqueue(files("a.pdf", "b.pdf"))
    wait_for(additions, first_is_read)
    additions.erase("a.pdf")
    additions.erase("b.pdf")
    jobs = wait_for(additions, all_finished)
    assert phases(jobs) == {"a.pdf": "cancelled", "b.pdf": "cancelled"}
    assert script.rows == []


def test_closing_stops_at_the_next_page_and_the_next_process_goes_on(opened: Opened) -> None:
    script = Script(gated=True)
    additions = opened(script)
    additions.enqueue(files("a.pdf", "b.pdf"))
    wait_for(additions, first_is_read)
    additions.close()
    assert steps(script) == []
    script.gated = False
    again = opened(script)
    jobs = wait_for(again, all_finished)
    assert phases(jobs) == {"a.pdf": "done", "b.pdf": "done"}


def test_what_waited_for_a_password_still_does_after_a_restart(opened: Opened) -> None:
    script = Script()
    locked = Job(1, "a.pdf", Phase.PASSWORD, digest="0" * 64)
    script.rows = [replace(locked, problem="The PDF is protected by a password.")]
    additions = opened(script)
    (job,) = additions.jobs()
    assert job.phase == "password"
    assert job.problem == "The PDF is protected by a password."
    additions.unlock(job.id, "x")
    script.passwords = {"a.pdf": "x"}
    wait_for(additions, all_finished)


@pytest.fixture
def chatbot(home: Path) -> Iterator[Chatbot]:
    settings = Settings(home=home)
    with Chatbot(settings, embedder=HashEmbedder()) as made:
        yield made


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Rules.pdf, of one page."""
    return make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is three per cent."])


def test_discarding_a_new_version_leaves_the_one_before(chatbot: Chatbot, rules: Path) -> None:
    list(chatbot.add([Upload(rules)]))
    make_pdf(rules, ["The deficit ceiling is two per cent."])
    (result,) = read_now(chatbot.library, [Upload(rules)])
    assert result.status == "replaced"
    chatbot.library.discard(result.version)
    (hit,) = chatbot.search("deficit ceiling", mode="keyword")
    assert "three" in hit.text
    chatbot.resume()
    (row,) = chatbot.documents()
    assert row.state == "ready"


def test_cancelling_a_twin_leaves_the_document_whose_bytes_it_has(chatbot: Chatbot, rules: Path) -> None:
    list(chatbot.add([Upload(rules)]))
    data = rules.read_bytes()
    additions = Additions(chatbot.library)
    try:
        additions.enqueue([NewFile(name, io.BytesIO(data)) for name in ("Twin.pdf", "Twin2.pdf")])
        for job in additions.jobs():
            additions.cancel(job.id)
        wait_for(additions, all_finished)
        additions.erase("Twin.pdf")
        wait_for_erasing(additions)
    finally:
        additions.close()
    assert "Rules.pdf" in [row.name for row in chatbot.documents()]
    assert chatbot.search("deficit ceiling", mode="keyword")


def owned(owner: str, *names: str) -> list[NewFile]:
    return [replace(file, owner=owner) for file in files(*names)]


def test_the_long_files_of_one_owner_leave_places_to_others(
    opened: Callable[[Script], Additions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "LONG_SECONDS", 0.0)
    script = Script(gated=True)
    additions = opened(script)
    additions.enqueue(owned("eve", *(f"{number}.pdf" for number in range(9))))
    most = script.readers + jobs_module.MOST_LONG_OF_OWNER
    wait_for(additions, lambda jobs: sum(job.phase == "reading" for job in jobs) == most)
    additions.enqueue(owned("ann", "a.pdf"))
    jobs = wait_for(additions, lambda jobs: jobs[-1].phase == "reading")
    assert sum(job.phase == "reading" for job in jobs) == most + 1


def test_a_job_is_kept_until_its_document_is_whole(chatbot: Chatbot, rules: Path) -> None:
    library = chatbot.library
    job = library.adding.take(rules, "Rules.pdf", owner="me")
    assert library.catalog.under_way() == [replace(job, left=True)]
    result = library.read_taken(job, progress=lambda *_: None, cancelled=lambda: False)
    (stored,) = library.catalog.under_way()
    kept = (stored.id, stored.owner, stored.phase, stored.version)
    assert kept == (job.id, "me", Phase.EMBEDDING, result.version)
    additions = Additions(library)
    try:
        (done,) = wait_for(additions, all_finished)
    finally:
        additions.close()
    assert (done.id, done.phase) == (job.id, Phase.DONE)
    assert library.catalog.under_way() == []


def test_a_job_goes_only_where_the_table_says() -> None:
    task = jobs_module.QueuedFile(Job(1, "a.pdf", Phase.DONE))
    with pytest.raises(ValueError, match="does not go from done to reading"):
        task.become(phase=Phase.READING)
    task.advance(Phase.IMAGES, 1, 2)
    assert task.job == Job(1, "a.pdf", Phase.DONE), "what is told too late changes nothing"

"""What is told about an addition, while it runs and after."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatbot.store.jobs import Job, Phase
from chatbot.store.library import AddResult
from chatbot.ui.document_jobs import ended_text, falling, left_text, phase_text
from tests.case_rows import case_rows

ADDED = AddResult("Budget.pdf", "added", "ab", 588, 1_204, 8, (), 61.44)
# The phase, what of it is done, of how much, the seconds left, and what is said.
RUNNING = """
    waiting |   0 |   0 |     | waiting
    reading |   0 |   0 |     | opening
    reading | 120 | 588 | 131 | reading page 120 of 588, about 2 min left
    reading | 588 | 588 |     | all 588 pages read, storing the text
    reading |   1 |   1 |     | its one page read, storing the text
    ocr     |   8 |   8 |     | all 8 scanned pages read, storing the text
    ocr     |   3 |   8 |  12 | reading scanned pages, 3 of 8, about 10 s left
"""
EMBEDDING = Job(1, "Budget.pdf", Phase.EMBEDDING, total=9)
DONE = Job(1, "Budget.pdf", Phase.DONE, result=ADDED)


@pytest.mark.parametrize(("phase", "done", "total", "seconds", "said"), case_rows(RUNNING))
def test_what_goes_on_is_told_in_words(phase: str, done: str, total: str, seconds: str, said: str) -> None:
    left = float(seconds) if seconds else None
    running = Job(1, "Budget.pdf", Phase(phase), int(done), int(total), left)
    assert said in phase_text(running, left)


REPLACED = replace(ADDED, status="replaced")


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (
            replace(EMBEDDING, done=64, total=1_204, result=ADDED),
            "you can ask about it now; answers still improve, 64 of 1,204 passages prepared",
        ),
        (replace(EMBEDDING, problem="No answer."), "Waiting: No answer."),
        (replace(EMBEDDING, result=REPLACED), "the earlier version is used until this one is ready"),
        (Job(1, "Budget.pdf", Phase.OCR, 3, 8, 12.0, cancelling=True), "cancelling"),
    ],
)
def test_what_is_unusual_about_it_is_told(job: Job, said: str) -> None:
    assert said in phase_text(job)


def test_time_is_told_as_people_say_it() -> None:
    told = {33.0: "35 s", 2.0: "5 s", 89.0: "90 s", 100.0: "2 min", 590.0: "10 min"}
    assert {seconds: left_text(seconds) for seconds in told} == {
        seconds: f", about {said} left" for seconds, said in told.items()
    }
    assert left_text(None) == left_text(0.4) == ""


def test_an_estimate_only_falls_or_is_a_few_minutes() -> None:
    told = dict[int, float]()
    said = [left_text(falling(told, 1, seconds)) for seconds in (240.0, 1_140.0, 200.0, 1_020.0, 150.0)]
    few = ", a few minutes left"
    assert said == [", about 4 min left", few, ", about 3 min left", few, ", about 2 min left"]
    assert left_text(falling(told, 2, 900.0)) == ", about 15 min left"
    assert falling(told, 1, None) is None


TORN = tuple((page, "Torn.") for page in range(1, 6))
# What differs from an ordinary addition -> what is said.
ENDED: list[tuple[dict[str, object], str]] = [
    ({}, "✓ Budget.pdf: added, 588 pages, 8 of them scanned, 61.4 s."),
    ({"status": "unchanged"}, "already here, with the same content"),
    (
        {"warning": "The same file as A.pdf; it is kept once, under both names."},
        "✓ Budget.pdf: the same file as A.pdf; it is kept once",
    ),
    (
        {"status": "replaced"},
        ("a new version, 588 pages, 8 of them scanned, 61.4 s. You can bring the old version back"),
    ),
    ({"warning": "No text was found on any page."}, "⚠ No text was found on any page."),
    ({"failed_pages": TORN}, "⚠ Page 1: Torn. Page 2: Torn. Page 3: Torn. And 2 more pages."),
]


@pytest.mark.parametrize(("changes", "said"), ENDED)
def test_what_became_of_it_is_told_in_words(changes: dict[str, object], said: str) -> None:
    result = replace(ADDED, **changes)  # type: ignore[arg-type]
    assert said in ended_text(replace(DONE, result=result))


def test_a_failure_says_what_to_do_and_a_cancelled_one_that_nothing_is_kept() -> None:
    assert ended_text(replace(DONE, result=None)) == "✓ Budget.pdf: ready."  # of an earlier process
    error = "The file is damaged. Export it again."
    result = AddResult("Budget.pdf", "failed", error=error)
    failed = Job(1, "Budget.pdf", Phase.FAILED, result=result)
    assert ended_text(failed) == f"⚠ Budget.pdf: not added. {error}"
    cancelled = Job(1, "Budget.pdf", Phase.CANCELLED)
    assert ended_text(cancelled) == "Budget.pdf: cancelled. Nothing of it was kept."

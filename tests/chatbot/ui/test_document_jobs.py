"""What is told about an addition, while it runs and after."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatbot.store.addition_queue import Job
from chatbot.store.library import AddResult
from chatbot.ui.document_jobs import ended_text, left_text, phase_text

ADDED = AddResult("Budget.pdf", "added", "ab", 588, 1_204, 8, (), 61.44)


def job(phase: str, **changes: object) -> Job:
    return Job(1, "Budget.pdf", phase, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("running", "said"),
    [
        (job("waiting"), "waiting for its turn"),
        (job("reading"), "opening"),
        (
            job("reading", done=120, total=588, seconds_left=131.0),
            "reading page 120 of 588, about 2 min left",
        ),
        (job("reading", done=588, total=588), "the text of all 588 pages is read"),
        (job("reading", done=1, total=1), "the text of its one page is read"),
        (job("ocr", done=8, total=8), "all 8 scanned pages read, storing what they say"),
        (job("ocr", done=3, total=8, seconds_left=12.0), "reading scanned pages, 3 of 8, about 10 s left"),
        (
            job("embedding", done=64, total=1_204, result=ADDED),
            "can be asked already, by its words; preparing search by meaning, 64 of 1,204 passages",
        ),
        (
            job("embedding", total=9, problem="No answer from the endpoint."),
            "Waiting: No answer from the endpoint.",
        ),
        (
            job("embedding", total=9, result=replace(ADDED, status="replaced")),
            "the one before is searched until it is complete",
        ),
        (job("ocr", done=3, total=8, seconds_left=12.0, cancelling=True), "cancelling"),
    ],
)
def test_what_goes_on_is_told_in_words(running: Job, said: str) -> None:
    assert said in phase_text(running)


def test_time_is_told_as_people_say_it() -> None:
    times = (None, 0.4, 2.0, 33.0, 89.0, 100.0, 590.0)
    assert [left_text(seconds).removeprefix(", about ").removesuffix(" left") for seconds in times] == [
        "",
        "",
        "5 s",
        "35 s",
        "90 s",
        "2 min",
        "10 min",
    ]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (ADDED, "✓ Budget.pdf: added, 588 pages, 8 of them scanned, 1,204 passages, 61.4 s."),
        (replace(ADDED, status="unchanged"), "it is there already, with the very same pages"),
        (
            replace(ADDED, warning="The same file as A.pdf; it is kept once, under both names."),
            "✓ Budget.pdf: the same file as A.pdf; it is kept once",
        ),
        (
            replace(ADDED, status="replaced"),
            (
                "a new version, 588 pages, 8 of them scanned, 1,204 passages, 61.4 s. The version before "
                "can be brought back"
            ),
        ),
        (replace(ADDED, warning="No text was found on any page."), "⚠ No text was found on any page."),
        (
            replace(ADDED, failed_pages=tuple((n, "Torn.") for n in range(1, 6))),
            "⚠ Page 1: Torn. Page 2: Torn. Page 3: Torn. And 2 more pages.",
        ),
        (None, "its search by meaning is complete"),
    ],
)
def test_what_became_of_it_is_told_in_words(result: AddResult | None, said: str) -> None:
    assert said in ended_text(job("done", result=result))


def test_a_failure_says_what_to_do_and_a_cancelled_one_that_nothing_is_kept() -> None:
    failed = AddResult("Budget.pdf", "failed", error="The file is damaged. Export it again.")
    assert (
        ended_text(job("failed", result=failed))
        == "⚠ Budget.pdf: not added. The file is damaged. Export it again."
    )
    assert ended_text(job("cancelled")) == "Budget.pdf: cancelled, nothing of it is kept."

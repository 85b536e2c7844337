"""Each part of a store is asked whether it answers, and no part that hangs holds up the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from chatbot.errors import StoreError
from chatbot.store.part_checks import PartChecks, StorePart


@pytest.fixture
def answers() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_what_answers_and_what_fails_is_told_apart() -> None:
    def fail() -> None:
        raise StoreError("The database does not answer.")

    def deny() -> None:
        raise PermissionError(13, "Permission denied")

    checks = PartChecks([StorePart("words", "tantivy", lambda: 1), StorePart("catalog", "Postgres", fail)])
    checks.add(StorePart("copies", "folder", deny))
    found = checks.all()
    checks.close()
    assert [(one.name, one.place, one.problem) for one in found] == [
        ("words", "tantivy", ""),
        ("catalog", "Postgres", "The database does not answer."),
        ("copies", "folder", "Permission denied."),
    ]
    assert all(0 <= one.seconds < 1 for one in found)


def test_a_part_that_hangs_is_asked_once_and_heard_later(answers: threading.Event) -> None:
    asked = list[int]()

    def hang() -> None:
        asked.append(1)
        answers.wait(20)

    checks = PartChecks(
        [StorePart("vectors", "Chroma server", hang), StorePart("words", "", lambda: 1)], seconds=0.1
    )
    for _ in range(3):
        hanging, well = checks.all()
        assert hanging.problem == "There was no answer within 0.1 seconds."
        assert not well.problem
    assert len(asked) == 1
    answers.set()
    while checks.all()[0].problem:
        pass
    assert len(asked) >= 1
    checks.close()

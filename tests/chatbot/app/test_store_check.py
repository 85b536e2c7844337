"""The check of the store from the page: one at a time, in the background, its findings with their fixes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, cast

from chatbot.app.store_check import CheckProgress, StoreCheck
from chatbot.errors import StoreError
from chatbot.store.doctor import REPAIR, Finding
from chatbot.store.library import Library
from chatbot.ui.document_health import findings_html

LIBRARY = cast(Library, None)
LOST = Finding("Budget <1>.pdf", "3 of 9 vectors are there", REPAIR)


def ended(check: StoreCheck) -> CheckProgress:
    end = time.monotonic() + 10
    while check.running:
        assert time.monotonic() < end
        time.sleep(0.01)
    latest = check.latest()
    assert latest is not None
    return latest


def finds(*findings: Finding) -> Any:
    def examined(library: Library, *, repair: bool, progress: Any) -> Iterator[Finding]:
        for finding in findings:
            progress("Budget.pdf", "embedding", 1, 2)
            yield finding

    return examined


def test_a_sound_store_has_no_findings() -> None:
    check = StoreCheck(LIBRARY, finds())
    assert check.latest() is None
    check.start()
    outcome = ended(check)
    assert outcome.findings == ()
    assert outcome.error is None
    assert not outcome.repairable
    check.put_away()
    assert check.latest() is None


def test_findings_are_shown_with_a_fix_that_the_page_offers() -> None:
    waiting = Finding(
        "Tax.pdf",
        "it has not been added yet: it opens with a password only",
        "Add it again, with `--passwords`.",
    )
    check = StoreCheck(
        LIBRARY,
        finds(LOST, waiting, Finding(None, "the copy abc belongs to no document", "Delete it.", mended=True)),
    )
    check.start()
    outcome = ended(check)
    assert outcome.repairable
    shown = findings_html(outcome.findings)
    assert "⚠ <strong>Budget &lt;1&gt;.pdf</strong>: 3 of 9 vectors are there. " in shown
    assert "Repair fixes it." in shown
    assert "python -m" not in shown
    assert "✓ the copy abc belongs to no document" in shown
    assert "Tax.pdf" not in shown  # the page asks for its password already


def test_one_runs_at_a_time_and_is_not_put_away_meanwhile() -> None:
    go, begun = threading.Event(), []

    def examined(library: Library, *, repair: bool, progress: Any) -> Iterator[Finding]:
        begun.append(repair)
        assert go.wait(10)
        yield from ()

    check = StoreCheck(LIBRARY, examined)
    check.start(repair=True)
    check.start()
    check.put_away()
    assert check.running
    go.set()
    assert ended(check).repair
    assert begun == [True]


def test_what_stops_a_check_is_told() -> None:
    def damaged(library: Library, *, repair: bool, progress: Any) -> Iterator[Finding]:
        yield LOST
        raise StoreError("The disk is full.", hint="Free some space.")

    def broken(library: Library, *, repair: bool, progress: Any) -> Iterator[Finding]:
        yield from [LOST][int(repair) :]
        raise RuntimeError("a bug")

    for examined, said in (
        (damaged, "The disk is full. Free some space."),
        (broken, "The check failed. See the server's log."),
    ):
        check = StoreCheck(LIBRARY, examined)
        check.start()
        outcome = ended(check)
        assert str(outcome.error) == said
        assert outcome.findings == (LOST,)


def test_closing_stops_it_at_its_next_step() -> None:
    at_work = threading.Event()

    def endless(library: Library, *, repair: bool, progress: Any) -> Iterator[Finding]:
        for _ in range(10_000):
            at_work.set()
            progress("Budget.pdf", "embedding", 1, 2)
            time.sleep(0.01)
        yield LOST

    check = StoreCheck(LIBRARY, endless)
    check.start()
    assert at_work.wait(10)
    check.close()
    assert not check.running
    check.start()
    assert not check.running


def test_a_panic_of_a_library_ends_the_check_too() -> None:
    class PanicException(BaseException):
        """What an index in Rust raises: no Exception."""

    def panics(library: Library, *, repair: bool, progress: Any) -> Iterator[Finding]:
        yield LOST
        raise PanicException("called unwrap on an Err value")

    check = StoreCheck(LIBRARY, panics)
    check.start()
    outcome = ended(check)
    assert str(outcome.error) == "The check failed. See the server's log."
    assert not check.running

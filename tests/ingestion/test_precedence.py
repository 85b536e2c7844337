"""Long work of one thread leaves most of the interpreter to another that somebody waits for."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from ingestion import precedence as module
from ingestion.precedence import LATELY, MOST_TAKEN, PAUSE, giving_way, precedence

# Seconds of a core that a piece of work takes, and how many pieces there are.
PIECE, PIECES = 0.002, 50


def work(seconds: float) -> None:
    """Keeps the interpreter busy."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def in_thread(run: Callable[[], object]) -> None:
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def long_work() -> None:
    for _ in giving_way(range(PIECES)):
        work(PIECE)


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of all pauses of long work, which are not made. Other threads' naps stay their own."""
    pauses: list[float] = []
    clock = SimpleNamespace(sleep=pauses.append, monotonic=time.monotonic, thread_time=time.thread_time)
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "_ended", [-LATELY])
    return pauses


def test_long_work_pauses_while_somebody_waits(paused: list[float]) -> None:
    in_thread(long_work)
    assert sum(paused) < PIECES * PIECE
    paused.clear()
    with precedence():
        in_thread(long_work)
    assert len(paused) == PIECES
    assert sum(paused) >= PAUSE * PIECES * PIECE


def test_it_pauses_for_a_moment_longer_for_whoever_asks_again(paused: list[float]) -> None:
    with precedence():
        pass
    in_thread(lambda: list(giving_way([0])))
    assert len(paused) == 1
    module._ended[0] -= LATELY
    in_thread(lambda: list(giving_way([0])))
    assert len(paused) == 1


def test_what_is_waited_for_pauses_for_nobody_until_it_is_long_work_itself(paused: list[float]) -> None:
    with precedence():
        long_work()
        assert not paused
        work(MOST_TAKEN)
        other, done = threading.Event(), threading.Event()

        def question() -> None:
            with precedence():
                other.set()
                done.wait(10)

        threading.Thread(target=question).start()
        other.wait(10)
        long_work()
        done.set()
        assert len(paused) == PIECES

"""Long work of one thread leaves most of the interpreter to another that somebody waits for."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ingestion.precedence import giving_way, precedence

# Seconds that a piece of work takes, and for which pieces are counted.
PIECE, COUNTED = 0.002, 0.5


def work(seconds: float) -> None:
    """Keeps the interpreter busy."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@contextmanager
def long_work(threads: int = 1) -> Iterator[Callable[[], int]]:
    """Work of some threads that never ends by itself. Gives how many pieces were done so far."""
    done, stop = [0] * threads, threading.Event()

    def go_on(number: int) -> None:
        for _ in giving_way(iter(stop.is_set, True)):
            work(PIECE)
            done[number] += 1

    running = [threading.Thread(target=go_on, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield lambda: sum(done)
    finally:
        stop.set()
        for thread in running:
            thread.join()


def pieces_in(seconds: float, done: Callable[[], int]) -> int:
    before = done()
    time.sleep(seconds)
    return done() - before


def test_long_work_pauses_while_somebody_waits_and_never_stands_still() -> None:
    with long_work(threads=3) as done:
        alone = pieces_in(COUNTED, done)
        with precedence():
            beside = pieces_in(COUNTED, done)
    assert 0 < beside < alone / 2


def test_it_goes_on_once_nobody_has_waited_for_a_moment() -> None:
    with precedence():
        pass
    with long_work() as done:
        beside = pieces_in(COUNTED, done)
        time.sleep(1.0)
        assert pieces_in(COUNTED, done) > 2 * beside


def test_what_is_waited_for_gives_way_to_nobody() -> None:
    with precedence():
        begun = time.thread_time(), time.monotonic()
        for _ in giving_way(range(20)):
            work(PIECE)
        took = time.thread_time() - begun[0], time.monotonic() - begun[1]
    assert took[1] < 3 * took[0] + 0.1

"""Places are given out in turns: who had one last waits for those who had none."""

import threading
import time

import pytest

from ingestion.errors import CancelledError
from ingestion.reading.turns import Turns


class Who:
    pass


def never() -> bool:
    return False


def test_who_wants_many_turns_and_who_wants_one_take_turns() -> None:
    turns, many, one, order = Turns(1), Who(), Who(), list[str]()

    def take(who: Who, name: str) -> None:
        with turns.turn(who, never):
            order.append(name)

    held = turns.turn(many, never)
    held.__enter__()
    threads = []
    for who, name in [(many, "many")] * 5 + [(one, "one")]:
        threads.append(threading.Thread(target=take, args=(who, name)))
        threads[-1].start()
        while len(turns._waiting) < len(threads):
            time.sleep(0.001)
    held.__exit__(None, None, None)
    for thread in threads:
        thread.join(10)
    assert order == ["one", *["many"] * 5]


def test_waiting_for_a_turn_can_be_given_up() -> None:
    turns = Turns(1)
    with turns.turn(Who(), never), pytest.raises(CancelledError), turns.turn(Who(), lambda: True):
        pass
    with turns.turn(Who(), lambda: True):
        pass

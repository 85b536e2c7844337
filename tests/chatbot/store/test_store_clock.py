"""A wrong clock erases nothing early: what may be erased is old by a time that two starts agree on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from chatbot.errors import NotFoundError
from chatbot.store.catalog import NAME, Catalog
from chatbot.store.database import place_of
from chatbot.store.library import Library
from chatbot.store.store_clock import DAY, StoreClock
from tests.chatbot.store.libraries import add_pages, open_library
from tests.engines import settings_at

# What differs by the engine: what is written, deleted, and looked for in rows.
on_both = pytest.mark.usefixtures("engine")

RULES = "Rules.pdf"
START = 1_800_000_000.0


class Machine:
    """A machine whose clocks are set by hand. at: of the day. up: seconds that it has run."""

    def __init__(self, home: Path) -> None:
        self.home, self.at, self.up = home, START, 0.0

    def library(self) -> Library:
        return open_library(self.home)

    def can_restore(self) -> bool:
        with closing(self.library()) as library:
            try:
                library.restore(RULES)
            except NotFoundError:
                return False
            library.remove(RULES)
            return True


@pytest.fixture
def machine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """With a document, and two starts that agree on the time."""
    made = Machine(home)
    with closing(made.library()) as library:
        add_pages(library, tmp_path / RULES, ["The deficit ceiling is three per cent."])
    monkeypatch.setattr("chatbot.store.store_clock.time.time", lambda: made.at)
    monkeypatch.setattr("chatbot.store.store_clock.time.monotonic", lambda: made.up)
    for _ in range(2):
        made.library().close()
    return made


def removed(machine: Machine) -> None:
    with closing(machine.library()) as library:
        library.remove(RULES)


def opened(machine: Machine) -> None:
    machine.library().close()


def test_one_command_with_a_clock_ahead_erases_nothing(machine: Machine) -> None:
    removed(machine)
    machine.at += 8 * DAY
    opened(machine)
    machine.at = START + 60
    assert machine.can_restore()


@on_both
def test_a_second_start_that_is_as_late_is_believed(machine: Machine) -> None:
    removed(machine)
    machine.at += 8 * DAY
    opened(machine)
    machine.at += 60
    assert not machine.can_restore()


def test_starts_that_do_not_agree_erase_nothing(machine: Machine) -> None:
    removed(machine)
    for days in (900, 30, 8):
        machine.at = START + days * DAY
        opened(machine)
    machine.at = START + DAY / 2
    assert machine.can_restore()


@on_both
def test_what_is_removed_while_the_clock_is_behind_is_kept_as_long(machine: Machine) -> None:
    machine.at -= 30 * DAY
    removed(machine)
    machine.at = START + 6.5 * DAY
    opened(machine)
    machine.at += 60
    assert machine.can_restore()
    machine.at = START + 14 * DAY
    opened(machine)
    assert not machine.can_restore()


def test_what_is_replaced_while_the_clock_is_behind_is_kept_as_long(machine: Machine, tmp_path: Path) -> None:
    machine.at -= 30 * DAY
    with closing(machine.library()) as library:
        add_pages(library, tmp_path / RULES, ["The deficit ceiling is two per cent."])
    machine.at = START + 60
    for _ in range(2):
        opened(machine)
    with closing(machine.library()) as library:
        library.restore(RULES)
        (version,) = library.scope([])
        assert "three per cent" in library.catalog.page(version, 1).text


def test_a_program_that_runs_on_believes_a_clock_after_a_day(machine: Machine) -> None:
    removed(machine)
    machine.at += 8 * DAY
    with closing(machine.library()) as library:
        library.sweep()
        assert library.catalog.documents()
        machine.at, machine.up = machine.at + DAY + 1, machine.up + DAY + 1
        library.sweep()
        assert not library.catalog.documents()


def test_a_clock_that_jumps_while_a_program_runs_is_not_believed(machine: Machine) -> None:
    removed(machine)
    with closing(machine.library()) as library:
        machine.at, machine.up = START + 8 * DAY, 3_600.0
        library.sweep()
        assert library.catalog.documents()
        machine.at, machine.up = START + 8 * DAY + 1, 8 * DAY
        library.sweep()
        assert not library.catalog.documents(), "eight days have passed"


@pytest.mark.parametrize("kept", ["", "x", "nan inf", "-1 -1", "1e300 1e300", "1 2 3 4"])
def test_a_store_with_times_that_can_be_none_is_read(machine: Machine, kept: str) -> None:
    place = place_of(settings_at(machine.home), NAME)
    with closing(Catalog(place)) as catalog:
        catalog.set_meta("clock", kept)
        clock = StoreClock(catalog.database)
        assert clock.now() == START
        assert clock.agreed() <= START

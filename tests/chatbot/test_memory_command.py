"""The memories on the command line: listed, added, imported, searched, removed, and how they fare."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chatbot import service
from chatbot.cli import main
from chatbot.memory.signals.news_sources import News
from chatbot.memory.signals.records import EventRow, Health, Imported, RecalledEvent
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.state import State
from tests.fakes import HashEmbedder

# (exit code, output, errors) of a command.
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder(dimension=256))

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main(["memory", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def lines(told: tuple[int, str, str]) -> list[dict[str, Any]]:
    assert told[0] == 0, told
    return [json.loads(line) for line in told[1].splitlines()]


def test_rated_answers(run: Run, tmp_path: Path) -> None:
    assert lines(run("cases", "list", "--json")) == []
    run("cases", "add", "What is the deficit ceiling?", "3 per cent.")
    run("cases", "add", "Who audits?", "Nobody.", "--not-helpful")
    file = tmp_path / "cases.jsonl"
    file.write_text('{"case": "What is debt?", "plan": "60 per cent.", "case_label": "positive"}\nbroken\n')
    code, out, err = run("cases", "import", str(file), "--json")
    assert code == 1 and json.loads(out)["added"] == 1 and err.startswith("Line 2: ")
    found = lines(run("cases", "list", "--json"))
    assert sorted((one["question"], one["reward"]) for one in found) == [
        ("What is debt?", 1),
        ("What is the deficit ceiling?", 1),
        ("Who audits?", 0),
    ]
    best = lines(run("cases", "search", "what is the deficit ceiling", "--json"))[0]
    assert best["rank"] == 1 and best["plan"] == "3 per cent."
    assert len(run("cases", "export")[1].splitlines()) == 3
    assert run("cases", "remove", best["key"])[0] == 0 and run("cases", "remove", best["key"])[0] == 1
    assert lines(run("cases", "health", "--json"))[0]["cases"] == 2
    assert lines(run("cases", "restore", best["key"], "--json"))[0]["plan"] == "3 per cent."
    assert run("cases", "restore", best["key"])[0] == 1
    for number in range(14):
        run("cases", "add", "deficit ceiling " * (number + 1), "Some.")
    assert [len(lines(run("cases", "list", "--json", *some))) for some in ([], ["-k", "2"])] == [17, 2]
    assert [
        len(lines(run("cases", "search", "deficit ceiling", "--json", "-k", some))) for some in ("1", "12")
    ] == [1, 12]
    assert run("cases", "reembed") == (0, "0 rated answers without a vector.\n", "")


def test_situations(run: Run) -> None:
    run("situations", "add", "inflation rises above target", "shorten duration", "--scope", "bonds")
    assert lines(run("situations", "search", "inflation rises", "--json")) == []
    (found,) = lines(
        run("situations", "search", "inflation rises above target", "--scope", "Bonds", "--json")
    )
    assert found["recommendation"] == "shorten duration" and found["similarity_score"] == pytest.approx(
        1, abs=0.01
    )
    (kept,) = lines(run("situations", "list", "--json"))
    code, _, err = run("situations", "remove", kept["key"])
    assert code == 0, err
    assert lines(run("situations", "health", "--json"))[0]["situations"] == 0


def test_situations_are_imported_as_they_are_listed(run: Run, tmp_path: Path) -> None:
    run("situations", "add", "inflation rises above target", "shorten duration", "--scope", "bonds")
    (listed,) = lines(run("situations", "list", "--json"))
    run("situations", "remove", listed["key"])
    file = tmp_path / "situations.jsonl"
    file.write_text(json.dumps(listed) + '\n["oil falls", "wait"]\nbroken\n')
    code, out, err = run("situations", "import", str(file), "--json")
    done = json.loads(out)
    assert (
        code == 1
        and (done["added"], done["known"], [one["line"] for one in done["unreadable"]]) == (2, 0, [3])
        and err.startswith("Line 3: ")
    )
    assert listed in lines(run("situations", "list", "--json"))
    exported = tmp_path / "exported.jsonl"
    exported.write_text(run("situations", "export")[1])
    assert run("situations", "import", str(exported)) == (0, "0 added, 2 known, 0 lines unreadable.\n", "")
    assert [
        run(memory, "import", str(tmp_path / "nowhere"))[0] for memory in ("cases", "situations", "signals")
    ] == [1, 1, 1]


def test_news_are_added_imported_searched_and_removed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the store does with them is tested on a real Postgres elsewhere."""
    told: list[tuple[object, ...]] = []

    def add(self: Signals, news: News, model: object = None, *, again: bool = False) -> Imported:
        told.append((*((one.text, one.source, one.at.isoformat(), one.link) for one in news.items), again))
        return Imported(read=len(news.items), changed=1, removed=2)

    monkeypatch.setattr(Signals, "add", add)
    code, out, _ = run(
        "signals",
        "add",
        "Rates rose.",
        "--source",
        "agency",
        "--date",
        "2026-01-31",
        "--link",
        "https://example.org/a",
    )
    assert (code, out) == (
        0,
        (
            "1 read: 0 new, 0 known, 1 with another text than before, which stays, 2 removed before, which "
            "stay away; 0 read into signals.\n"
        ),
    )
    assert told == [(("Rates rose.", "agency", "2026-01-31T00:00:00+00:00", "https://example.org/a"), True)]
    code, _, err = run("signals", "add", "Rates rose.", "--date", "soon")
    assert code == 2 and "cannot be read" in err
    file = tmp_path / "news.csv"
    file.write_text("text,date\nRates fell.,2026-01-31\n")
    (done,) = lines(run("signals", "import", str(file), "--json"))
    assert (done["changed"], done["removed"]) == (1, 2) and told[-1][-1] is False


def test_a_file_in_which_nothing_can_be_read_says_what_one_holds(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no json\n" * 30)
    for memory in ("cases", "situations"):
        code, out, err = run(memory, "import", str(file))
        assert (code, out) == (1, "0 added, 0 known, 30 lines unreadable.\n")
        assert (
            len(err.splitlines()) == 22 and "And 10 more lines." in err and f"memory {memory} export" in err
        )


def test_news_of_the_future_and_news_while_off_are_marked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Signals, "health", lambda self, options=None: Health("normal"))
    monkeypatch.setattr(
        Signals,
        "listed",
        lambda self, most: [EventRow(1, "Rates rose.", datetime(2096, 1, 1, tzinfo=UTC), "vector")],
    )
    assert run("signals", "list")[1] == "1  2096-01-01 00:00 (in the future)  Rates rose.\n"
    monkeypatch.setattr(
        Signals, "add", lambda self, news, model, again: Imported(read=1, events=1, tellings=1)
    )
    monkeypatch.setattr(Signals, "state", property(lambda self: State(imported=True, on=False)))
    code, out, err = run("signals", "add", "Rates rose.")
    assert code == 0 and out and "switched off: what is imported is kept" in err


def test_news_are_searched_as_of_a_day(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def find(
        self: Signals, text: str, vector: object, n: int, *, as_of: object = None, options: object = None
    ) -> list[RecalledEvent]:
        asked.append(as_of)
        return []

    monkeypatch.setattr(Signals, "find", find)
    monkeypatch.setattr(Signals, "health", lambda self, options=None: Health("normal"))
    code, _, told = run("signals", "search", "rates", "--date", "2024-12-26")
    assert (code, asked) == (
        0,
        [datetime(2024, 12, 26, tzinfo=UTC)],
    ) and "in the 168 hours before 2024-12-26 00:00" in told
    code, _, told = run("signals", "search", "rates", "--date", "garbage")
    assert code == 2 and "'garbage' is no time." in told and len(asked) == 1


@pytest.mark.parametrize("memory", ["cases", "situations", "signals"])
def test_what_is_no_file_is_not_waited_for(run: Run, tmp_path: Path, memory: str) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (tmp_path / "pipe.jsonl", Path("/dev/zero")):
        code, _, told = run(memory, "import", str(path))
        assert code == 1 and "It is not a file" in told


def test_an_option_of_another_action_is_wrong_usage(run: Run) -> None:
    for given in (
        ["cases", "list", "--date", "5"],
        ["signals", "list", "--scope", "x"],
        ["cases", "export", "-k", "1"],
        ["situations", "list", "--not-helpful"],
    ):
        code, _, told = run(*given)
        assert code == 2 and "takes no -" in told and "It belongs to `memory " in told
    run("situations", "add", "inflation rises", "shorten duration", "--scope", "Valmora")
    assert "shorten duration" in run("situations", "list", "--scope", "valmora")[1]
    code, listed, told = run("situations", "list", "--scope", "elsewhere")
    assert (code, listed) == (0, "") and "No advice is recorded on elsewhere." in told


def test_signals_are_off_until_something_is_imported(run: Run) -> None:
    health = lines(run("signals", "health", "--json"))[0]
    assert health["state"] == "off" and "No news has been imported" in health["message"]


@pytest.mark.parametrize(
    ("memory", "teaches"),
    [
        ("cases", "memory cases add"),
        ("situations", "memory situations add"),
        ("signals", "memory signals import"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_empty_memory_says_what_to_do_next_and_is_no_failure(
    run: Run, memory: str, teaches: str, form: list[str], tmp_path: Path
) -> None:
    for action in (["list"], ["search", "anything"]):
        code, out, err = run(memory, *action, *form)
        assert (code, out) == (0, "") and err.startswith("Note: ") and teaches in err
    code, out, err = run(memory, "health", *form)
    assert code == 0 and out and not err
    code, out, err = run(memory, "remove", "1", *form)
    assert code == 1 and not out and err.startswith("Error: ")
    assert not (tmp_path / "home" / "chroma_db" / "signals" / "data").exists(), (
        "no server is started for that"
    )


def test_switched_off_signals_say_how_to_switch_them_on(run: Run) -> None:
    assert run("signals", "off") == (
        0,
        "off: News signals are switched off. Switch them on: python -m chatbot memory signals on\n",
        "",
    )
    for action in (["list"], ["search", "anything"], ["reembed"]):
        assert run("signals", *action) == (
            0,
            "",
            "Note: News signals are switched off. Switch them on: python -m chatbot memory signals on\n",
        )
    code, out, _ = run("signals", "on")
    assert code == 0 and "No news has been imported" in out


def test_a_search_that_finds_nothing_says_what_there_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("cases", "add", "What is the deficit ceiling?", "3 per cent.")
    assert "None of 1 rated answer is to a question like this" in run("cases", "search", "pumpkins")[2]
    run("situations", "add", "inflation rises", "shorten duration", "--scope", "bonds")
    assert (
        run("situations", "search", "inflation rises")[2]
        == "Note: No advice is recorded of no subject. There is some on bonds: ask with --scope.\n"
    )
    health = Health("normal", database="d", events=2, signals=2, read=2, unsure=2, confidence=0.6, hours=168)
    monkeypatch.setattr(Signals, "health", lambda self, options=None: health)
    monkeypatch.setattr(Signals, "find", lambda self, text, vector, n, as_of, options: [])
    code, out, err = run("signals", "search", "pumpkins", "--json")
    assert (code, out) == (0, "") and (
        "0 of 2 events with a signal can be recalled now: 2 are less sure than 0.60. MEMORY_MIN_CONFIDENCE"
    ) in err
    code, out, _ = run("signals", "health")
    recallable = "0 of 2 events with a signal can be recalled now: 2 are less sure than 0.60."
    assert (code, out) == (
        0,
        (
            f"normal: 2 events, 2 signals, d. {recallable} MEMORY_MIN_CONFIDENCE and MEMORY_LOOKBACK_HOURS "
            f"change that.\n"
        ),
    )
    assert lines(run("signals", "health", "--json"))[0]["recallable"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["situations", "reembed"], "has no 'reembed'"),
        (["cases", "add", "one text"], "takes TEXT TEXT"),
        (["situations", "list", "more"], "takes nothing more"),
        (["signals", "add", "one", "two"], "takes TEXT."),
        (["signals", "remove", "x"], "is no event"),
        (["signals", "remove", "²"], "is no event"),
    ],
)
def test_wrong_usage_is_said(run: Run, arguments: list[str], said: str) -> None:
    code, _, err = run(*arguments)
    assert code == 2 and said in err


def test_a_number_of_lines_that_is_none_is_wrong_usage(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for number in ("0", "-1", "x", "\u00b2", "9" * 5_000):
        with pytest.raises(SystemExit) as ended:
            run("cases", "list", f"-k={number}")
        assert ended.value.code == 2 and "ask for 1 or more" in capsys.readouterr().err

"""The memories on the command line: listed, added, imported, searched, removed, and how they fare."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from chatbot import service
from chatbot.cli import main
from chatbot.memory.signals.news_sources import News
from chatbot.memory.signals.records import AssetRow, EventRow, Health, Imported, RecalledEvent, SourceRow
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.signal_use import SourceRatings, State
from tests.case_rows import case_rows
from tests.fakes import HashEmbedder

# (exit code, output, errors) of a command.
Done: TypeAlias = tuple[int, str, str]
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder(dimension=256))

    def command(*arguments: str) -> Done:
        code = main(["memory", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def output_of(told: Done) -> str:
    _, output, _ = told
    return output


def errors_of(told: Done) -> str:
    _, _, errors = told
    return errors


def lines(told: Done) -> list[dict[str, Any]]:
    code, output, _ = told
    assert code == 0, told
    return [json.loads(line) for line in output.splitlines()]


def line_of(told: Done) -> dict[str, Any]:
    """The only one."""
    (line,) = lines(told)
    return line


def test_rated_answers(run: Run, tmp_path: Path) -> None:
    assert lines(run("cases", "list", "--json")) == []
    run("cases", "add", "What is the deficit ceiling?", "3 per cent.")
    run("cases", "add", "Who audits?", "Nobody.", "--not-helpful")
    file = tmp_path / "cases.jsonl"
    file.write_text('{"case": "What is debt?", "plan": "60 per cent.", "case_label": "positive"}\nbroken\n')
    code, output, errors = run("cases", "import", str(file), "--json")
    assert code == 1
    assert json.loads(output)["added"] == 1
    assert errors.startswith("Line 2: ")
    listed = lines(run("cases", "list", "--json"))
    rewards = {one["question"]: one["reward"] for one in listed}
    assert len(listed) == 3
    assert rewards == {"What is debt?": 1, "What is the deficit ceiling?": 1, "Who audits?": 0}
    best, *_ = lines(run("cases", "search", "what is the deficit ceiling", "--json"))
    assert (best["rank"], best["plan"]) == (1, "3 per cent.")
    exported = output_of(run("cases", "export"))
    assert len(exported.splitlines()) == 3


def test_a_rated_answer_is_removed_and_restored(run: Run) -> None:
    run("cases", "add", "What is the deficit ceiling?", "3 per cent.")
    run("cases", "add", "Who audits?", "Nobody.")
    best, *_ = lines(run("cases", "search", "what is the deficit ceiling", "--json"))
    key = best["key"]
    removed, *_ = run("cases", "remove", key)
    assert removed == 0
    removed_again, *_ = run("cases", "remove", key)
    assert removed_again == 1
    assert line_of(run("cases", "health", "--json"))["cases"] == 1
    restored = line_of(run("cases", "restore", key, "--json"))
    assert restored["plan"] == "3 per cent."
    restored_again, *_ = run("cases", "restore", key)
    assert restored_again == 1


def test_as_many_rated_answers_are_told_as_are_asked_for(run: Run) -> None:
    for number in range(17):
        run("cases", "add", "deficit ceiling " * (number + 1), "Some.")
    everything = run("cases", "list", "--json")
    assert len(lines(everything)) == 17
    two = run("cases", "list", "--json", "-k", "2")
    assert len(lines(two)) == 2
    search = ("cases", "search", "deficit ceiling", "--json")
    best = run(*search, "-k", "1")
    assert len(lines(best)) == 1
    twelve = run(*search, "-k", "12")
    assert len(lines(twelve)) == 12
    assert run("cases", "reembed") == (0, "0 rated answers without a vector.\n", "")


def test_strategies_are_shown_side_by_side_with_the_piece_that_matched(run: Run) -> None:
    run("situations", "add", "inflation rises above target", "shorten duration")
    run("situations", "add", "harvests fail in the north", "buy wheat")
    text = "Inflation rises above target. " * 60 + "Harvests fail in the north. " * 60
    both = ("situations", "search", text, "--strategy", "average,per_chunk")
    found = lines(run(*both, "--json"))
    assert [line["strategy"] for line in found] == ["average"] * 2 + ["per_chunk"] * 2
    assert all(("chunk_match" in line) == (line["strategy"] == "per_chunk") for line in found)
    head, _, first, second = output_of(run(*both)).splitlines()
    assert head.split() == ["average", "per_chunk"]
    assert first.count("piece") == second.count("piece") == 1
    assert output_of(run("situations", "search", text)).count(", piece ") == 2


def test_situations(run: Run) -> None:
    run("situations", "add", "inflation rises above target", "shorten duration", "--scope", "bonds")
    assert lines(run("situations", "search", "inflation rises", "--json")) == []
    search = ("situations", "search", "inflation rises above target", "--scope", "Bonds", "--json")
    found = line_of(run(*search))
    assert found["recommendation"] == "shorten duration"
    assert found["similarity_score"] == pytest.approx(1, abs=0.01)
    kept = line_of(run("situations", "list", "--json"))
    code, _, errors = run("situations", "remove", kept["key"])
    assert code == 0, errors
    assert line_of(run("situations", "health", "--json"))["situations"] == 0


def test_situations_are_imported_as_they_are_listed(run: Run, tmp_path: Path) -> None:
    run("situations", "add", "inflation rises above target", "shorten duration", "--scope", "bonds")
    listed = line_of(run("situations", "list", "--json"))
    run("situations", "remove", listed["key"])
    file = tmp_path / "situations.jsonl"
    file.write_text(json.dumps(listed) + '\n["oil falls", "wait"]\nbroken\n')
    code, output, errors = run("situations", "import", str(file), "--json")
    done = json.loads(output)
    assert code == 1
    assert (done["added"], done["known"]) == (2, 0)
    assert [one["line"] for one in done["unreadable"]] == [3]
    assert errors.startswith("Line 3: ")
    assert listed in lines(run("situations", "list", "--json"))
    exported = tmp_path / "exported.jsonl"
    exported.write_text(output_of(run("situations", "export")))
    again = run("situations", "import", str(exported))
    assert again == (0, "0 added, 2 already known, 0 lines unreadable.\n", "")


@pytest.mark.parametrize("memory", ["cases", "situations", "signals"])
def test_a_file_that_is_not_there_is_not_imported(run: Run, tmp_path: Path, memory: str) -> None:
    code, *_ = run(memory, "import", str(tmp_path / "nowhere"))
    assert code == 1


ADDED = (
    "1 read: 0 new, 0 known, 1 changed, but the earlier text is kept, 2 removed earlier and not added "
    "again; 0 read into signals.\n"
)


def test_news_are_added_imported_searched_and_removed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the store does with them is tested on a real Postgres elsewhere."""
    told: list[News] = []
    anew: list[bool] = []

    def add(self: Signals, news: News, model: object = None, *, again: bool = False) -> Imported:
        told.append(news)
        anew.append(again)
        return Imported(read=len(news.items), changed=1, removed=2)

    monkeypatch.setattr(Signals, "add", add)
    origin = ("--source", "agency", "--date", "2026-01-31", "--link", "https://example.org/a")
    code, output, _ = run("signals", "add", "Rates rose.", *origin)
    assert code == 0
    assert output == ADDED
    assert anew == [True]
    (item,) = told[0].items
    assert (item.text, item.source) == ("Rates rose.", "agency")
    assert item.at.isoformat() == "2026-01-31T00:00:00+00:00"
    assert item.link == "https://example.org/a"
    code, _, errors = run("signals", "add", "Rates rose.", "--date", "soon")
    assert code == 2
    assert "cannot be read" in errors
    file = tmp_path / "news.csv"
    file.write_text("text,date\nRates fell.,2026-01-31\n")
    done = line_of(run("signals", "import", str(file), "--json"))
    assert (done["changed"], done["removed"]) == (1, 2)
    assert anew == [True, False]


def test_a_file_in_which_nothing_can_be_read_says_what_one_holds(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no json\n" * 30)
    for memory in ("cases", "situations"):
        code, output, errors = run(memory, "import", str(file))
        assert code == 1
        assert output == "0 added, 0 already known, 30 lines unreadable.\n"
        assert len(errors.splitlines()) == 22
        assert "And 10 more lines." in errors
        assert f"memory {memory} export" in errors


@pytest.fixture
def well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signals are in order."""
    monkeypatch.setattr(Signals, "health", lambda self, options=None: Health("normal"))


@pytest.mark.usefixtures("well")
def test_news_of_the_future_and_news_while_off_are_marked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    day = datetime(2096, 1, 1, tzinfo=UTC)
    future = EventRow(1, "Rates rose.", day, "vector")
    imported = Imported(read=1, events=1, tellings=1)
    off = State(imported=True, on=False)
    monkeypatch.setattr(Signals, "listed", lambda self, most, asset: [future])
    listed = output_of(run("signals", "list"))
    assert listed == "1  2096-01-01 00:00 (in the future)  Rates rose.\n"
    monkeypatch.setattr(Signals, "add", lambda self, news, model, again: imported)
    monkeypatch.setattr(Signals, "state", property(lambda self: off))
    code, output, errors = run("signals", "add", "Rates rose.")
    assert code == 0
    assert output
    assert "off. Imported news is kept" in errors


@pytest.mark.usefixtures("well")
def test_news_are_searched_as_of_a_day(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def find(
        self: Signals, text: str, vector: object, n: int, *, as_of: object = None, options: object = None
    ) -> list[RecalledEvent]:
        asked.append(as_of)
        return []

    monkeypatch.setattr(Signals, "find", find)
    code, _, told = run("signals", "search", "rates", "--date", "2024-12-26")
    assert code == 0
    assert asked == [datetime(2024, 12, 26, tzinfo=UTC)]
    assert "in the 168 hours before 2024-12-26 00:00" in told
    code, _, told = run("signals", "search", "rates", "--date", "garbage")
    assert code == 2
    assert "'garbage' is not a time." in told
    assert len(asked) == 1


@pytest.mark.parametrize("memory", ["cases", "situations", "signals"])
def test_what_is_no_file_is_not_waited_for(run: Run, tmp_path: Path, memory: str) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (tmp_path / "pipe.jsonl", Path("/dev/zero")):
        code, _, told = run(memory, "import", str(path))
        assert code == 1
        assert "It is not a file" in told


NO_ARGUMENTS = """
cases list --date 5 | unrecognized arguments: --date 5
signals list --scope x | unrecognized arguments: --scope x
cases export -k 1 | unrecognized arguments: -k 1
situations list --not-helpful | unrecognized arguments: --not-helpful
situations list more | unrecognized arguments: more
stats more | unrecognized arguments: more
signals add one two | unrecognized arguments: two
situations reembed | invalid choice: 'reembed'
cases add text | the following arguments are required: TEXT
cases | the following arguments are required: action
"""


@pytest.mark.parametrize(("command", "said"), case_rows(NO_ARGUMENTS))
def test_what_an_action_does_not_take_is_wrong_usage(
    run: Run, capsys: pytest.CaptureFixture[str], command: str, said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*command.split())
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_advice_is_listed_by_its_scope(run: Run) -> None:
    run("situations", "add", "inflation rises", "shorten duration", "--scope", "Valmora")
    assert "shorten duration" in output_of(run("situations", "list", "--scope", "valmora"))
    code, listed, told = run("situations", "list", "--scope", "elsewhere")
    assert code == 0
    assert listed == ""
    assert "No advice has been added for elsewhere." in told


TEACHES = """
cases | memory cases add
situations | memory situations add
signals | memory signals import
"""


@pytest.mark.parametrize(("memory", "teaches"), case_rows(TEACHES))
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_empty_memory_says_what_to_do_next_and_is_no_failure(
    run: Run, memory: str, teaches: str, form: list[str], tmp_path: Path
) -> None:
    for action in (["list"], ["search", "anything"]):
        code, output, errors = run(memory, *action, *form)
        assert code == 0
        assert output == ""
        assert errors.startswith("Note: ")
        assert teaches in errors
    code, output, errors = run(memory, "health", *form)
    assert code == 0
    assert output
    assert not errors
    code, output, errors = run(memory, "remove", "1", *form)
    assert code == 1
    assert not output
    assert errors.startswith("Error: ")


SWITCHED_OFF = "News signals are off. Turn them on: python -m chatbot memory signals on\n"


def test_switched_off_signals_say_how_to_switch_them_on(run: Run) -> None:
    assert run("signals", "off") == (0, f"off: {SWITCHED_OFF}", "")
    for action in ("list", "search anything", "reembed"):
        done = run("signals", *action.split())
        assert done == (0, "", f"Note: {SWITCHED_OFF}")
    code, output, _ = run("signals", "on")
    assert code == 0
    assert "No news has been imported" in output


def test_a_search_that_finds_nothing_says_what_there_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("cases", "add", "What is the deficit ceiling?", "3 per cent.")
    told = errors_of(run("cases", "search", "pumpkins"))
    assert "None of 1 rated answer answers a similar question" in told
    run("situations", "add", "inflation rises", "shorten duration", "--scope", "bonds")
    told = errors_of(run("situations", "search", "inflation rises"))
    assert told == "Note: No advice has been added without a subject. There is some for bonds: use --scope.\n"
    health = Health("normal", database="d", events=2, signals=2, read=2, unsure=2, confidence=0.6, hours=168)
    monkeypatch.setattr(Signals, "health", lambda self, options=None: health)
    monkeypatch.setattr(Signals, "find", lambda self, text, vector, n, as_of, options: [])
    recallable = "0 of 2 events with a signal can be recalled now: 2 are below confidence 0.60."
    code, output, errors = run("signals", "search", "pumpkins", "--json")
    assert code == 0
    assert output == ""
    assert f"{recallable} You can change this with MEMORY_MIN_CONFIDENCE" in errors
    code, output, _ = run("signals", "health")
    assert code == 0
    options = "You can change this with MEMORY_MIN_CONFIDENCE and MEMORY_LOOKBACK_HOURS."
    assert output == f"normal: 2 events, 2 signals, d. {recallable} {options}\n"
    assert line_of(run("signals", "health", "--json"))["recallable"] == 0


@pytest.mark.parametrize("number", ["x", "²"])
def test_what_is_no_number_of_news_is_said(run: Run, number: str) -> None:
    code, _, errors = run("signals", "remove", number)
    assert code == 2
    assert "is not an event number" in errors


def test_a_number_of_lines_that_is_none_is_wrong_usage(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for number in ("0", "-1", "x", "\u00b2", "9" * 5_000):
        with pytest.raises(SystemExit) as ended:
            run("cases", "list", f"-k={number}")
        assert ended.value.code == 2
        assert "ask for 1 or more" in capsys.readouterr().err


@pytest.mark.usefixtures("well")
def test_news_is_summed_up_by_asset_and_its_sources_by_their_ratings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = datetime(2026, 1, 1, tzinfo=UTC)
    row = AssetRow("BTC", 3, {"buy": 2, "sell": 0, "observe": 1}, 0.6, day)
    monkeypatch.setattr(Signals, "assets", lambda self: [row])
    assert output_of(run("signals", "assets")) == "BTC: 3 events, 2 buy, 1 observe, confidence 0.60\n"
    assert line_of(run("signals", "assets", "--json"))["latest"] == day.isoformat()
    rated = SourceRow("desk", 3, 1)
    monkeypatch.setattr(SourceRatings, "listed", lambda self: [rated])
    assert output_of(run("signals", "sources")) == "desk: helpful 3 of 4 times\n"
    assert line_of(run("signals", "sources", "--json"))["helpful_rate"] == 0.75
    assert output_of(run("signals", "clean")) == "Erased 0 events.\n"
